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
use super::board::{Board, Slot, Slots};
use super::turn::{Queue, Stopped, Turned};
use super::waits::Waits;
pub(crate) use super::waits::{At, Registered, Waiter};
use crate::id::FlowId;

/// An entry of the list of those that run every frame, in order of start.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Turn {
    start: u64,
    flow: FlowId,
}

/// One that is about to be listed.
#[derive(Clone, Copy, Debug)]
struct Joining {
    turn: Turn,
    /// The frame of its first turn.
    from: u64,
}

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
    every: Cell<Vec<Turn>>,
    joining: RefCell<Vec<Joining>>,
    /// Memory of [`take_list`](Self::take_list).
    arrived: Cell<Vec<Turn>>,
    woken: RefCell<Vec<FlowId>>,
    live: Cell<u32>,
}

impl<H> Home<H> {
    pub(crate) fn new(world: Option<WorldId>, board: &Rc<Board<H>>, access: Access<H>) -> Self {
        Home {
            world,
            board: Rc::clone(board),
            access,
            now: Default::default(),
            delta: Default::default(),
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
            live: Cell::new(0),
        }
    }

    /// A stage begins.
    pub(crate) fn begin(&self, times: &Times) {
        for clock in Clock::ALL {
            self.now[clock as usize].set(times.now[clock as usize]);
            self.delta[clock as usize].set(times.delta[clock as usize]);
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
            (now - self.delta(clock), true)
        } else {
            (now, false)
        }
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

    /// A flow wants turns in the frames that `wanted` says, the first one in frame `from` at the
    /// earliest.
    pub(crate) fn want(&self, flow: FlowId, slot: &Slot<H>, wanted: u16, from: u64) {
        slot.set(wanted);
        if slot.has(bits::LISTED) {
            return;
        }
        let joining = &mut *self.joining.borrow_mut();
        if !slot.has(bits::JOINING) {
            slot.set(bits::JOINING);
            let table = self.board.table.borrow();
            let start = table.row(flow.index).map_or(0, |row| row.start);
            let turn = Turn { start, flow };
            joining.push(Joining { turn, from });
        } else if from <= self.frame.get()
            && let Some(known) = joining.iter_mut().find(|j| j.turn.flow == flow)
        {
            known.from = known.from.min(from);
        }
    }

    /// As [`want`](Self::want), for a flow that has just been started.
    pub(crate) fn join(&self, flow: FlowId, slot: &Slot<H>, start: u64, from: u64) {
        slot.set(bits::wants(slot.clock()) | bits::JOINING);
        let turn = Turn { start, flow };
        self.joining.borrow_mut().push(Joining { turn, from });
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
    }

    /// Takes out the list of those that run every frame, in order of start.
    pub(crate) fn take_list<'h>(&'h self, slots: &mut Slots<H>) -> List<'h, H> {
        let mut every = self.every.take();
        let joining = &mut *self.joining.borrow_mut();
        if !joining.is_empty() {
            let frame = self.frame.get();
            let mut arrived = self.arrived.take();
            joining.retain(|Joining { turn, from }| {
                let Some(slot) = slots.get(turn.flow) else {
                    return false;
                };
                if *from > frame {
                    return true;
                }
                slot.clear(bits::JOINING);
                slot.set(bits::LISTED);
                arrived.push(*turn);
                false
            });
            give_back(joining);
            merge(&mut every, &mut arrived);
            give_back(&mut arrived);
            self.arrived.set(arrived);
        }
        List {
            home: self,
            every,
            at: 0,
            is_thinner: false,
        }
    }
}

/// The list of those that run every frame, taken out while they run. Goes back when it is dropped,
/// without those that want no frame any more.
pub(crate) struct List<'h, H: 'static> {
    home: &'h Home<H>,
    every: Vec<Turn>,
    /// The next one to look at.
    at: usize,
    /// Some want no frame any more.
    is_thinner: bool,
}

impl<H> Queue<H> for List<'_, H> {
    const ON_TIME: bool = true;

    fn next(&mut self, slots: &mut Slots<H>) -> Option<FlowId> {
        let runnable = self.home.runnable();
        loop {
            let flow = self.every.get(self.at)?.flow;
            if slots.get(flow).is_some_and(|slot| slot.has(runnable)) {
                return Some(flow);
            }
            self.at += 1;
        }
    }

    fn take(&mut self, slots: &mut Slots<H>) {
        let runnable = self.home.runnable();
        if let Some(turn) = self.every.get(self.at)
            && let Some(slot) = slots.get(turn.flow)
        {
            slot.clear(runnable);
        }
    }

    /// It stays when it wants another turn.
    fn passed(&mut self, slots: &mut Slots<H>) {
        let Some(turn) = self.every.get(self.at) else {
            return;
        };
        match slots.get(turn.flow) {
            Some(slot) if slot.has(bits::WANTS) => {}
            gone => {
                self.is_thinner = true;
                if let Some(slot) = gone {
                    slot.clear(bits::LISTED);
                }
            }
        }
        self.at += 1;
    }

    /// The same as `next`, `take` and `passed`, with one look at each slot.
    #[inline(always)]
    fn run(
        &mut self,
        slots: &mut Slots<H>,
        is_here: impl Fn(u16) -> bool,
        mut turn: impl FnMut(FlowId, &Slot<H>, u16) -> Turned,
    ) -> Stopped {
        let runnable = self.home.runnable();
        while let Some(listed) = self.every.get(self.at) {
            let flow = listed.flow;
            let Some(slot) = slots.get(flow) else {
                self.at += 1;
                continue;
            };
            let is_like = slot.bits.get();
            if is_like & runnable == 0 {
                self.at += 1;
                continue;
            }
            if !is_here(is_like) {
                return Stopped::NotHere;
            }
            let is_like = is_like & !runnable;
            slot.bits.set(is_like);
            match turn(flow, slot, is_like) {
                Turned::Goes => {
                    if !slot.has(bits::WANTS) {
                        slot.clear(bits::LISTED);
                        self.is_thinner = true;
                    }
                }
                Turned::Ended => self.is_thinner = true,
                Turned::More => return Stopped::More(flow),
            }
            self.at += 1;
        }
        Stopped::End
    }
}

/// Moves those that have arrived to their places in a list that is in order. Only what stands behind
/// the first of them is touched.
fn merge(every: &mut Vec<Turn>, arrived: &mut Vec<Turn>) {
    arrived.sort_unstable();
    let mut old = every.len();
    every.extend_from_slice(arrived);
    let mut place = every.len();
    while let Some(&last) = arrived.last() {
        place -= 1;
        if old > 0 && every[old - 1] > last {
            old -= 1;
            every[place] = every[old];
        } else {
            every[place] = last;
            arrived.pop();
        }
    }
}

/// Gives back most of the memory that a burst of flows has left in a list.
fn give_back<T>(list: &mut Vec<T>) {
    const KEPT: usize = 1024;
    if list.capacity() > KEPT.max(list.len().saturating_mul(4)) {
        list.shrink_to(KEPT.max(list.len() * 2));
    }
}

impl<H> Drop for List<'_, H> {
    fn drop(&mut self) {
        let mut every = std::mem::take(&mut self.every);
        if self.is_thinner {
            let mut slots = Slots::new(&self.home.board);
            every.retain(|turn| {
                let slot = slots.get(turn.flow);
                slot.is_some_and(|slot| slot.has(bits::LISTED))
            });
            give_back(&mut every);
        }
        self.home.every.set(every);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turns(starts: &[u64]) -> Vec<Turn> {
        let turn = |&start: &u64| Turn {
            start,
            flow: FlowId::NOBODY,
        };
        starts.iter().map(turn).collect()
    }

    fn merged(every: &[u64], arrived: &[u64]) -> Vec<u64> {
        let (mut every, mut arrived) = (turns(every), turns(arrived));
        merge(&mut every, &mut arrived);
        assert!(arrived.is_empty());
        every.iter().map(|turn| turn.start).collect()
    }

    #[test]
    fn who_arrives_comes_to_its_place_by_start() {
        assert_eq!(merged(&[], &[]), [0; 0]);
        assert_eq!(merged(&[], &[3, 1, 2]), [1, 2, 3]);
        assert_eq!(merged(&[2, 5], &[]), [2, 5]);
        assert_eq!(merged(&[2, 5], &[7, 6]), [2, 5, 6, 7]);
        assert_eq!(merged(&[2, 5, 9], &[1]), [1, 2, 5, 9]);
        assert_eq!(merged(&[2, 5, 9], &[10, 3, 1, 7]), [1, 2, 3, 5, 7, 9, 10]);
    }
}
