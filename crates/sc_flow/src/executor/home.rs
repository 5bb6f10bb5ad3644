//! A home: where the flows of one world (or of the runtime) wait, and whose turn it is.
//!
//! Shared by the executor and by the flows themselves, which register here what they wait for
//! while they are polled. Nothing in here calls user code while it is borrowed, but for wakers,
//! which are taken out first.

use std::cell::{Cell, RefCell};
use std::task::Waker;

use sc_core::{Clock, DeadlineQueue, DeadlineToken, WorldId};

/// Who is to be told that a wait is over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Waiter {
    /// A flow: it is polled in its turn.
    Flow(Local),
    /// A flow that waits for a frame: also one of a paused world, if so.
    Frame(Local, bool),
    /// A waker that is not the flow's own: `select!` and its like.
    Foreign(u32),
}

/// A flow as its home knows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Local {
    pub(crate) index: u32,
    pub(crate) generation: u32,
}

/// A flow's row in its home.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    /// Its slot in the executor.
    pub(crate) slot: u32,
    generation: u32,
    /// The number of its start: the order of those that run every frame.
    start: u64,
    /// The frame from which it wants to run; `NEVER` when it waits for something else.
    wants: u64,
    /// The same, also while the world is paused.
    wants_in_pause: u64,
    /// The frame of its first turn, as far as is known.
    first_frame: u64,
    /// When it began to await what it awaits, on the home's real clock (ns).
    since: u64,
    /// Nothing about it needs looking at before a turn but its future: no owner, no pause, no waker
    /// of its own, and its first turn is over.
    plain: bool,
    /// It is in `every` or `joining`.
    listed: bool,
    /// It is in `woken`.
    woken: bool,
    /// Whether an await of it has completed: waits made before count from its start.
    has_awaited: bool,
}

const NEVER: u64 = u64::MAX;

/// An entry of the list of those that run every frame.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Turn {
    start: u64,
    index: u32,
    generation: u32,
}

/// Whose turn it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TurnOf {
    pub(crate) local: Local,
    pub(crate) slot: u32,
    pub(crate) plain: bool,
}

/// One frame's readings, in nanoseconds, in the order of [`Clock::ALL`].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Times {
    pub(crate) now: [u64; 4],
    pub(crate) delta: [u64; 4],
    pub(crate) frame: u64,
    pub(crate) paused: bool,
    /// How many of the frames so far were paused.
    pub(crate) paused_frames: u64,
}

#[derive(Default)]
pub(crate) struct Inner {
    pub(crate) times: Times,
    queues: [DeadlineQueue<Waiter>; 4],
    /// By frame number, one bucket a frame.
    by_frame: DeadlineQueue<Waiter>,
    rows: Vec<Row>,
    free: Vec<u32>,
    every: Vec<Turn>,
    joining: Vec<Turn>,
    woken: Vec<Local>,
    foreign: Vec<Option<Waker>>,
    foreign_free: Vec<u32>,
    sequence: u64,
    live: u32,
    /// How many of those in `every` want a frame: all, as a rule.
    wanting: usize,
}

/// log2 of a bucket of the deadline queue: frame numbers are spread over buckets.
const FRAME_SHIFT: u32 = 20;

pub(crate) struct Home {
    /// `None`: the runtime's.
    pub(crate) world: Option<WorldId>,
    pub(crate) inner: RefCell<Inner>,
    /// The flow being polled.
    pub(crate) current: Cell<Option<Local>>,
    /// The address of the waker it is polled with.
    pub(crate) waker: Cell<usize>,
    /// The frame of the running stage, or of the last one.
    pub(crate) frame: Cell<u64>,
    /// Whether that frame is a paused one.
    pub(crate) paused: Cell<bool>,
    /// A running flow was asked to end.
    pub(crate) asked: Cell<bool>,
}

/// A wait that is registered; to be taken back when its future is dropped.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Registered {
    /// Whose queue it lies in; `None`: that of the frames.
    clock: Option<Clock>,
    token: DeadlineToken,
}

/// What an awaitable waits for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum At {
    /// A reading (ns) of a clock.
    Reading(Clock, u64),
    /// A frame by number, or the first one after in which a clock runs.
    Frame(u64, Clock),
}

impl Home {
    pub(crate) fn new(world: Option<WorldId>) -> Self {
        Home {
            world,
            inner: RefCell::default(),
            current: Cell::new(None),
            waker: Cell::new(0),
            frame: Cell::new(0),
            paused: Cell::new(false),
            asked: Cell::new(false),
        }
    }

    /// Takes a flow in, to be polled first in `first_frame`.
    pub(crate) fn enter(&self, slot: u32, start: u64, first_frame: u64) -> Local {
        let inner = &mut *self.inner.borrow_mut();
        inner.live += 1;
        let mut row = Row {
            slot,
            generation: 0,
            start,
            wants: NEVER,
            wants_in_pause: NEVER,
            first_frame,
            since: inner.times.now[Clock::Real as usize],
            plain: false,
            listed: false,
            woken: false,
            has_awaited: false,
        };
        let index = match inner.free.pop() {
            Some(index) => {
                row.generation = inner.rows[index as usize].generation;
                inner.rows[index as usize] = row;
                index
            }
            None => {
                inner.rows.push(row);
                u32::try_from(inner.rows.len() - 1).unwrap_or(u32::MAX)
            }
        };
        Local {
            index,
            generation: row.generation,
        }
    }

    pub(crate) fn leave(&self, local: Local) {
        let inner = &mut *self.inner.borrow_mut();
        if let Some(row) = inner.row(local) {
            row.generation = row.generation.wrapping_add(1);
            let wanted = row.wants.min(row.wants_in_pause) != NEVER;
            row.wants = NEVER;
            row.wants_in_pause = NEVER;
            inner.wanting -= usize::from(wanted);
            inner.free.push(local.index);
            inner.live -= 1;
        }
    }

    /// The flow runs in `frame`, or in the first one after in which `clock` runs.
    pub(crate) fn want_frame(&self, local: Local, frame: u64, clock: Clock) {
        let in_pause = !clock.stops_while_paused();
        self.inner.borrow_mut().want_frame(local, frame, in_pause);
    }

    /// The flow runs when `clock` has reached `deadline`.
    pub(crate) fn sleep(&self, local: Local, clock: Clock, deadline: u64) -> Registered {
        self.inner
            .borrow_mut()
            .register(At::Reading(clock, deadline), Waiter::Flow(local))
    }

    /// Registers what an awaitable waits for.
    pub(crate) fn register(&self, local: Local, at: At, waker: &Waker) -> Registered {
        let inner = &mut *self.inner.borrow_mut();
        let waiter = match at {
            _ if !self.is_own(waker) => Waiter::Foreign(inner.add_foreign(waker.clone())),
            At::Reading(..) => Waiter::Flow(local),
            At::Frame(_, clock) => Waiter::Frame(local, !clock.stops_while_paused()),
        };
        inner.register(at, waiter)
    }

    /// Whether a waker is the one the flow is polled with: then no waker need be kept.
    pub(crate) fn is_own(&self, waker: &Waker) -> bool {
        waker.data().addr() == self.waker.get()
    }

    pub(crate) fn unregister(&self, registered: Registered) {
        let inner = &mut *self.inner.borrow_mut();
        let queue = match registered.clock {
            Some(clock) => &mut inner.queues[clock as usize],
            None => &mut inner.by_frame,
        };
        let waker = match queue.remove(registered.token) {
            Some(Waiter::Foreign(index)) => inner.take_foreign(index),
            _ => None,
        };
        // A waker's destructor may be user code: outside the borrow.
        let _ = inner;
        drop(waker);
    }

    /// The flow is polled in the stage, behind what was woken before.
    pub(crate) fn wake(&self, local: Local) {
        let inner = &mut *self.inner.borrow_mut();
        if let Some(row) = inner.row(local)
            && !row.woken
        {
            row.woken = true;
            inner.woken.push(local);
        }
    }

    pub(crate) fn set_plain(&self, local: Local, plain: bool) {
        if let Some(row) = self.inner.borrow_mut().row(local) {
            row.plain = plain;
        }
    }

    /// The flow runs in the next frame in which its clock runs: the commonest wait.
    #[inline]
    pub(crate) fn want_next_frame(&self, local: Local, in_pause: bool) {
        let frame = self.frame.get() + 1;
        let inner = &mut *self.inner.borrow_mut();
        match inner.rows.get_mut(local.index as usize) {
            Some(row) if row.generation == local.generation && row.listed && !in_pause => {
                inner.wanting += usize::from(row.wants.min(row.wants_in_pause) == NEVER);
                row.wants = row.wants.min(frame);
            }
            _ => inner.want_frame(local, frame, in_pause),
        }
    }

    /// How many frames of the home were paused so far.
    pub(crate) fn paused_frames(&self) -> u64 {
        self.inner.borrow().times.paused_frames
    }

    pub(crate) fn times(&self) -> Times {
        self.inner.borrow().times
    }

    /// From when a wait that is made now counts on a clock, and whether that is the flow's start:
    /// it is, as long as nothing it awaited has completed.
    pub(crate) fn counts_from(&self, local: Local, clock: Clock) -> (u64, bool) {
        let inner = &mut *self.inner.borrow_mut();
        let times = inner.times;
        let now = times.now[clock as usize];
        match inner.row(local) {
            Some(row) if !row.has_awaited && row.first_frame == times.frame => {
                (now - times.delta[clock as usize], true)
            }
            _ => (now, false),
        }
    }

    pub(crate) fn has_awaited(&self, local: Local) {
        let inner = &mut *self.inner.borrow_mut();
        let now = inner.times.now[Clock::Real as usize];
        if let Some(row) = inner.row(local) {
            row.has_awaited = true;
            row.since = now;
        }
    }

    /// The flow has its first turn: in this frame, however long it was held.
    pub(crate) fn first_turn(&self, local: Local) {
        let inner = &mut *self.inner.borrow_mut();
        let frame = inner.times.frame;
        if let Some(row) = inner.row(local) {
            row.first_frame = frame;
        }
    }

    /// How long the flow has awaited what it awaits, in nanoseconds.
    pub(crate) fn waiting(&self, local: Local) -> u64 {
        let inner = &mut *self.inner.borrow_mut();
        let now = inner.times.now[Clock::Real as usize];
        inner
            .row(local)
            .map_or(0, |row| now.saturating_sub(row.since))
    }
}

impl Inner {
    fn row(&mut self, local: Local) -> Option<&mut Row> {
        let row = self.rows.get_mut(local.index as usize)?;
        (row.generation == local.generation).then_some(row)
    }

    pub(crate) fn slot(&self, local: Local) -> Option<u32> {
        let row = self.rows.get(local.index as usize)?;
        (row.generation == local.generation).then_some(row.slot)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.live == 0
    }

    fn want_frame(&mut self, local: Local, frame: u64, in_pause: bool) {
        let Some(row) = self.rows.get_mut(local.index as usize) else {
            return;
        };
        if row.generation != local.generation {
            return;
        }
        self.wanting += usize::from(row.wants.min(row.wants_in_pause) == NEVER);
        if in_pause {
            row.wants_in_pause = row.wants_in_pause.min(frame);
        } else {
            row.wants = row.wants.min(frame);
        }
        if !row.listed {
            row.listed = true;
            let turn = Turn {
                start: row.start,
                index: local.index,
                generation: local.generation,
            };
            self.joining.push(turn);
        }
    }

    fn register(&mut self, at: At, waiter: Waiter) -> Registered {
        self.sequence += 1;
        match at {
            At::Reading(clock, deadline) => Registered {
                clock: Some(clock),
                token: self.queues[clock as usize].insert(deadline, self.sequence, waiter),
            },
            At::Frame(frame, _) => Registered {
                clock: None,
                token: self.by_frame.insert(
                    frame.saturating_mul(1 << FRAME_SHIFT),
                    self.sequence,
                    waiter,
                ),
            },
        }
    }

    fn add_foreign(&mut self, waker: Waker) -> u32 {
        match self.foreign_free.pop() {
            Some(index) => {
                self.foreign[index as usize] = Some(waker);
                index
            }
            None => {
                self.foreign.push(Some(waker));
                u32::try_from(self.foreign.len() - 1).unwrap_or(u32::MAX)
            }
        }
    }

    pub(crate) fn take_foreign(&mut self, index: u32) -> Option<Waker> {
        self.foreign_free.push(index);
        self.foreign.get_mut(index as usize)?.take()
    }

    /// Moves the waits that are over to `due`: clocks in table order, each by (deadline,
    /// sequence).
    pub(crate) fn take_due(&mut self, due: &mut Vec<Waiter>) {
        for clock in Clock::ALL {
            if !(self.times.paused && clock.stops_while_paused()) {
                self.queues[clock as usize].take_due(self.times.now[clock as usize], due);
            }
        }
    }

    /// Moves the foreign wakers whose frame has come to `wakers`; flows are listed for it.
    pub(crate) fn take_frame_due(&mut self, scratch: &mut Vec<Waiter>, wakers: &mut Vec<Waker>) {
        let frame = self.times.frame;
        let at = frame.saturating_mul(1 << FRAME_SHIFT);
        self.by_frame.take_due(at, scratch);
        for waiter in scratch.drain(..) {
            match waiter {
                Waiter::Flow(local) => self.want_frame(local, frame, false),
                Waiter::Frame(local, in_pause) => self.want_frame(local, frame, in_pause),
                Waiter::Foreign(index) => wakers.extend(self.take_foreign(index)),
            }
        }
    }

    /// Moves those woken so far to `into`, first woken first.
    pub(crate) fn take_woken(&mut self, into: &mut Vec<Local>) {
        for local in self.woken.drain(..) {
            if let Some(row) = self.rows.get_mut(local.index as usize)
                && row.generation == local.generation
            {
                row.woken = false;
                into.push(local);
            }
        }
    }

    /// Brings the list of those that run every frame in order; gives its length.
    pub(crate) fn list_frame(&mut self) -> usize {
        if !self.joining.is_empty() {
            self.every.append(&mut self.joining);
            if !self.every.is_sorted() {
                self.every.sort_unstable();
            }
        }
        self.every.len()
    }

    /// The next flow of the list from `at` on whose frame has come; it then wants none any more,
    /// until it says so again. Its slot, and whether it is plain.
    pub(crate) fn next_turn(&mut self, at: &mut usize, length: usize) -> Option<TurnOf> {
        while *at < length {
            let found = self.frame_turn(*at);
            *at += 1;
            if found.is_some() {
                return found;
            }
        }
        None
    }

    fn frame_turn(&mut self, at: usize) -> Option<TurnOf> {
        let turn = *self.every.get(at)?;
        let (frame, paused) = (self.times.frame, self.times.paused);
        let local = Local {
            index: turn.index,
            generation: turn.generation,
        };
        let row = self.rows.get_mut(local.index as usize)?;
        if row.generation != local.generation {
            return None;
        }
        let wants = if paused {
            row.wants_in_pause
        } else {
            row.wants.min(row.wants_in_pause)
        };
        if wants > frame {
            return None;
        }
        row.wants_in_pause = NEVER;
        if !paused {
            row.wants = NEVER;
        }
        self.wanting -= usize::from(row.wants == NEVER);
        Some(TurnOf {
            local,
            slot: row.slot,
            plain: row.plain,
        })
    }

    /// Takes those out of the list that want no frame any more.
    pub(crate) fn unlist_idle(&mut self) {
        if self.wanting == self.every.len() + self.joining.len() {
            return;
        }
        let rows = &mut self.rows;
        self.every.retain(|turn| {
            let Some(row) = rows.get_mut(turn.index as usize) else {
                return false;
            };
            if row.generation != turn.generation {
                return false;
            }
            row.listed = row.wants.min(row.wants_in_pause) != NEVER;
            row.listed
        });
    }
}
