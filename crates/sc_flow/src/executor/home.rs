//! A home: where the flows of one world (or of the runtime) wait, and whose turn it is.
//!
//! Shared by the executor and by the flows themselves, which say here what they wait for while
//! they have their turn. Nothing in here calls user code while it is borrowed, but for wakers,
//! which are taken out first.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::Waker;

use sc_core::{Access, Clock, WorldId};

use super::bits::{self, said};
use super::board::{Board, Slot};
use super::every::{FirstFrame, Joining, Turn};
use super::waits::Waits;
pub(crate) use super::waits::{At, Registered, Waiter};
use crate::id::FlowId;

/// One frame's readings, in nanoseconds, in the order of [`Clock::ALL`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    pub(crate) now: [u64; 4],
    pub(crate) delta: [u64; 4],
    pub(crate) frame: u64,
    pub(crate) paused: bool,
    /// The runtime's clock.
    pub(crate) runtime_now: u64,
}

pub(crate) struct Home<H: 'static> {
    /// `None`: the runtime's.
    pub(crate) world: Option<WorldId>,
    pub(crate) board: Rc<Board<H>>,
    pub(crate) access: Access<H>,
    now: [Cell<u64>; 4],
    delta: [Cell<u64>; 4],
    /// From when first turns count that come in this frame.
    credited: [Cell<u64>; 4],
    /// From when they count whose first frame is still to come, by that frame.
    pub(super) first_frames: RefCell<Vec<FirstFrame>>,
    /// The frame of the running stage, or of the last one.
    pub(crate) frame: Cell<u64>,
    /// Whether that frame is a paused one.
    pub(crate) paused: Cell<bool>,
    /// How many of the frames so far were.
    pub(crate) paused_frames: Cell<u64>,
    /// The runtime's clock (ns), as of that stage.
    pub(crate) runtime_now: Cell<u64>,
    /// The same as of the stage before, of the last one in which `Game` ran, and of the one before
    /// that.
    before: Cell<u64>,
    ran: Cell<u64>,
    ran_before: Cell<u64>,
    /// The [word](FlowId::word) of the flow that is having its turn, if it is a future; else nobody's.
    pub(crate) current: Cell<u64>,
    /// What it was like when its turn began.
    pub(crate) turn: Cell<u16>,
    /// The address of the waker it is polled with.
    pub(crate) waker: Cell<usize>,
    /// What it has said.
    pub(crate) said: Cell<u8>,
    /// An await of it has completed: [`said::AWAITED`], in a word of its own, or what it says next
    /// would have to wait for this.
    awaited: Cell<u32>,
    waits: RefCell<Waits>,
    pub(super) every: Cell<Vec<Turn>>,
    pub(super) joining: RefCell<Vec<Joining>>,
    /// Memory of [`take_list`](Self::take_list).
    pub(super) arrived: Cell<Vec<Turn>>,
    woken: RefCell<Vec<FlowId>>,
    /// Those woken whose clocks stand still: they come first when the clocks run.
    held: RefCell<Vec<FlowId>>,
    live: Cell<u32>,
    /// How many nodes of async flows there were.
    nodes: Cell<u32>,
}

/// A reading (ns) a clock, in the order of [`Clock::ALL`].
pub(crate) type Readings = [u64; 4];

impl<H> Home<H> {
    pub(crate) fn new(world: Option<WorldId>, board: &Rc<Board<H>>, access: Access<H>) -> Self {
        Home {
            world,
            board: Rc::clone(board),
            access,
            now: Default::default(),
            delta: Default::default(),
            credited: Default::default(),
            first_frames: RefCell::default(),
            frame: Cell::new(0),
            paused: Cell::new(false),
            paused_frames: Cell::new(0),
            runtime_now: Cell::new(0),
            before: Cell::new(0),
            ran: Cell::new(0),
            ran_before: Cell::new(0),
            current: Cell::new(FlowId::NOBODY.word()),
            turn: Cell::new(0),
            waker: Cell::new(0),
            said: Cell::new(0),
            awaited: Cell::new(0),
            waits: RefCell::default(),
            every: Cell::default(),
            joining: RefCell::default(),
            arrived: Cell::default(),
            woken: RefCell::default(),
            held: RefCell::default(),
            live: Cell::new(0),
            nodes: Cell::new(0),
        }
    }

    /// A stage begins.
    pub(crate) fn begin(&self, times: &Times) {
        for clock in Clock::ALL {
            self.now[clock as usize].set(times.now[clock as usize]);
            self.delta[clock as usize].set(times.delta[clock as usize]);
            let before = times.now[clock as usize] - times.delta[clock as usize];
            self.credited[clock as usize].set(before);
        }
        self.frame.set(times.frame);
        self.paused.set(times.paused);
        let paused_frames = self.paused_frames.get() + u64::from(times.paused);
        self.paused_frames.set(paused_frames);
        self.before.set(self.runtime_now.replace(times.runtime_now));
        if !times.paused {
            self.ran_before.set(self.ran.replace(times.runtime_now));
        }
    }

    /// When a flow that steps from frame to frame last did so, on the runtime's clock (ns).
    pub(crate) fn stepped(&self, is_like: u16) -> u64 {
        if is_like & bits::WANTS_ANY != 0 {
            self.runtime_now.get()
        } else {
            self.ran.get()
        }
    }

    /// The same, as of before this stage.
    pub(crate) fn stepped_before(&self, is_like: u16) -> u64 {
        if is_like & bits::WANTS_ANY != 0 {
            self.before.get()
        } else {
            self.ran_before.get()
        }
    }

    /// A clock's reading in the stage (ns).
    #[inline]
    pub(crate) fn now(&self, clock: Clock) -> u64 {
        self.now[clock as usize].get()
    }

    /// How far a clock moved in the frame (ns).
    pub(crate) fn delta(&self, clock: Clock) -> u64 {
        self.delta[clock as usize].get()
    }

    /// Whether a clock stands still in this frame.
    #[inline]
    pub(crate) fn stands(&self, clock: Clock) -> bool {
        self.paused.get() && clock.stops_while_paused()
    }

    /// What a flow has to want for a turn in this frame.
    pub(crate) fn runnable(&self) -> u16 {
        if self.paused.get() {
            bits::WANTS_ANY
        } else {
            bits::WANTS
        }
    }

    /// The clock that the running flow counts on.
    #[inline]
    pub(crate) fn clock(&self) -> Clock {
        bits::clock(self.turn.get())
    }

    /// From when a wait that the running flow makes now counts on a clock, and whether that is the
    /// flow's start: it is in its first turn, as long as nothing it awaited has completed.
    pub(crate) fn counts_from(&self, clock: Clock) -> (u64, bool) {
        let now = self.now(clock);
        let is_first = self.turn.get() & bits::FRESH != 0;
        if is_first && self.awaited.get() == 0 {
            (self.credited[clock as usize].get(), true)
        } else {
            (now, false)
        }
    }

    /// Runs the first turn of a flow that comes later than it was to: it counts from its start.
    pub(crate) fn credit_from<R>(&self, readings: Option<Readings>, turn: impl FnOnce() -> R) -> R {
        let Some(readings) = readings else {
            return turn();
        };
        let of_others = self.credited.each_ref().map(Cell::get);
        self.set_credited(readings);
        let _restored = Restored(self, of_others);
        turn()
    }

    fn set_credited(&self, readings: Readings) {
        for (credited, reading) in self.credited.iter().zip(readings) {
            credited.set(reading);
        }
    }

    /// The first turn of a flow was to come in this frame, and does not.
    pub(crate) fn put_off(&self, flow: FlowId, slot: &Slot<H>) {
        let readings = self.credited.each_ref().map(Cell::get);
        self.put_off_from(flow, slot, readings);
    }

    pub(super) fn put_off_from(&self, flow: FlowId, slot: &Slot<H>, readings: Readings) {
        if slot.has(bits::FRESH) && !slot.has(bits::NODE) {
            slot.set(bits::SLOW);
            let table = &mut *self.board.table.borrow_mut();
            if let Some(extra) = table.extra_or_new(flow.index) {
                extra.starts_from.get_or_insert(readings);
            }
        }
    }

    /// The number of a node that an async flow makes.
    pub(crate) fn number_node(&self) -> u32 {
        self.nodes.set(self.nodes.get().wrapping_add(1));
        self.nodes.get()
    }

    #[inline]
    fn say(&self, bits: u8) {
        self.said.set(self.said.get() | bits);
    }

    /// The running flow is to have its next turn in the next frame in which a clock runs.
    #[inline]
    pub(crate) fn want_frame(&self, clock: Clock) {
        self.say(said::wants(clock));
    }

    /// An await of the running flow has completed.
    #[inline]
    pub(crate) fn has_awaited(&self) {
        self.awaited.set(said::AWAITED.into());
    }

    /// Everything that the running flow has said; nothing is said any more.
    #[inline]
    pub(crate) fn take_said(&self) -> u8 {
        self.said.replace(0) | self.awaited.replace(0) as u8
    }

    /// The running flow was asked to end.
    pub(crate) fn ask(&self) {
        self.say(said::ASKED);
    }

    /// Whether a waker is the one the flow is polled with: then no waker need be kept.
    #[inline]
    pub(crate) fn is_own(&self, waker: &Waker) -> bool {
        waker.data().addr() == self.waker.get()
    }

    /// A flow has come.
    pub(crate) fn enter(&self) {
        self.live.set(self.live.get() + 1);
    }

    /// A flow has gone.
    pub(crate) fn leave(&self) {
        self.live.set(self.live.get() - 1);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.live.get() == 0
    }

    /// A node sleeps until a clock has reached `deadline`.
    pub(crate) fn sleep(&self, flow: FlowId, clock: Clock, deadline: u64) -> Registered {
        let at = At::Reading(clock, deadline);
        self.waits.borrow_mut().register(at, Waiter::Flow(flow))
    }

    /// Registers what an awaitable of a flow waits for.
    pub(crate) fn register(&self, flow: FlowId, at: At, waker: &Waker) -> Registered {
        let foreign = (!self.is_own(waker)).then(|| waker.clone());
        self.waits.borrow_mut().register_for(flow, at, foreign)
    }

    pub(crate) fn unregister(&self, registered: Registered) {
        let waker = self.waits.borrow_mut().unregister(registered);
        // A waker's destructor may be user code: outside the borrow.
        drop(waker);
    }

    pub(crate) fn take_foreign(&self, index: u32) -> Option<Waker> {
        self.waits.borrow_mut().take_foreign(index)
    }

    /// Moves the waits that are over to `due`: clocks in table order, each by (deadline,
    /// sequence).
    pub(crate) fn take_due(&self, due: &mut Vec<Waiter>) {
        let waits = &mut *self.waits.borrow_mut();
        for clock in Clock::ALL {
            if !self.stands(clock) {
                waits.take_due(clock, self.now(clock), due);
            }
        }
    }

    /// The flow is polled in the stage, behind what was woken before.
    pub(crate) fn wake(&self, flow: FlowId) {
        let fresh = self.board.slot(flow, |slot| {
            let fresh = !slot.has(bits::WOKEN);
            slot.set(bits::WOKEN);
            fresh
        });
        if fresh == Some(true) {
            self.woken.borrow_mut().push(flow);
        }
    }

    /// Keeps the turn of a woken flow until its clock runs.
    pub(crate) fn hold(&self, flow: FlowId, slot: &Slot<H>) {
        slot.set(bits::WOKEN);
        self.held.borrow_mut().push(flow);
    }

    /// Those that were held are woken, before all others, when their clocks run.
    pub(crate) fn release_held(&self) {
        let held = &mut *self.held.borrow_mut();
        if !self.paused.get() && !held.is_empty() {
            let woken = &mut *self.woken.borrow_mut();
            held.append(woken);
            std::mem::swap(held, woken);
        }
    }

    /// Moves those woken so far to `into`, the last one first.
    pub(crate) fn take_woken(&self, into: &mut Vec<FlowId>) {
        into.append(&mut self.woken.borrow_mut());
        into.reverse();
    }

    /// How many are woken by now.
    pub(crate) fn woken_so_far(&self) -> usize {
        self.woken.borrow().len()
    }

    /// Moves those woken after the first `from` to the end of `into`, the last one first.
    pub(crate) fn take_woken_from(&self, from: usize, into: &mut Vec<FlowId>) {
        into.extend(self.woken.borrow_mut().drain(from..).rev());
    }

    /// Lists those whose frame has come, and takes the foreign wakers whose frame has.
    pub(crate) fn take_frame_due(&self, scratch: &mut Vec<Waiter>, wakers: &mut Vec<Waker>) {
        let frame = self.frame.get();
        self.waits.borrow_mut().take_frame_due(frame, scratch);
        for waiter in scratch.drain(..) {
            match waiter {
                Waiter::Flow(flow) => self.want_now(flow, bits::WANTS_GAME),
                Waiter::Frame(flow, wanted) => self.want_now(flow, wanted),
                Waiter::Foreign(index) => wakers.extend(self.take_foreign(index)),
            }
        }
    }

    fn want_now(&self, flow: FlowId, wanted: u16) {
        let frame = self.frame.get();
        self.board
            .slot(flow, |slot| self.want(flow, slot, wanted, frame));
    }

    /// Nobody is here: what was about to be listed has ended.
    pub(crate) fn forget_joining(&self) {
        self.joining.borrow_mut().clear();
        self.first_frames.borrow_mut().clear();
        self.held.borrow_mut().clear();
    }
}

/// Puts back from when first turns count.
struct Restored<'h, H: 'static>(&'h Home<H>, Readings);

impl<H> Drop for Restored<'_, H> {
    fn drop(&mut self) {
        self.0.set_credited(self.1);
    }
}
