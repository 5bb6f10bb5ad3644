//! What flows wait for in a home: readings of its clocks, and frames by number.

use std::task::Waker;

use sc_core::{Clock, DeadlineQueue, DeadlineToken};

use super::bits;
use crate::id::FlowId;

/// Who is to be told that a wait is over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Waiter {
    /// A flow: it has its turn.
    Flow(FlowId),
    /// A flow that waits for a frame, and which ones it then wants.
    Frame(FlowId, u16),
    /// A waker that is not the flow's own: `select!` and its like.
    Foreign(u32),
    /// The same, for a frame, and in which ones its clock runs.
    ForeignFrame(u32, u16),
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

/// What `next_tick` keeps of a wait by a foreign waker: too rare for room in each of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ForeignTick {
    /// The frame that ends it.
    pub(crate) until: u64,
    pub(crate) registered: Registered,
}

/// Numbered places, used again.
struct Slab<T> {
    places: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Slab {
            places: Vec::new(),
            free: Vec::new(),
        }
    }
}

impl<T> Slab<T> {
    fn add(&mut self, value: T) -> u32 {
        let number = self.free.pop();
        let place = number.and_then(|number| self.places.get_mut(number as usize));
        match (number, place) {
            (Some(number), Some(place)) => {
                *place = Some(value);
                number
            }
            _ => {
                self.places.push(Some(value));
                u32::try_from(self.places.len() - 1).unwrap_or(u32::MAX)
            }
        }
    }

    fn take(&mut self, number: u32) -> Option<T> {
        let value = self.places.get_mut(number as usize)?.take()?;
        self.free.push(number);
        Some(value)
    }
}

/// log2 of a bucket of the deadline queue: frame numbers are spread over buckets.
const FRAME_SHIFT: u32 = 20;

#[derive(Default)]
pub(crate) struct Waits {
    clocks: [DeadlineQueue<Waiter>; 4],
    /// By frame number, one bucket a frame.
    frames: DeadlineQueue<Waiter>,
    foreign: Slab<Waker>,
    ticks: Slab<ForeignTick>,
    sequence: u64,
}

impl Waits {
    pub(crate) fn register(&mut self, at: At, waiter: Waiter) -> Registered {
        self.sequence += 1;
        match at {
            At::Reading(clock, deadline) => Registered {
                clock: Some(clock),
                token: self.clocks[clock as usize].insert(deadline, self.sequence, waiter),
            },
            At::Frame(frame, _) => Registered {
                clock: None,
                token: self.frames.insert(
                    frame.saturating_mul(1 << FRAME_SHIFT),
                    self.sequence,
                    waiter,
                ),
            },
        }
    }

    /// Registers a flow, or the waker that is to be woken for it.
    pub(crate) fn register_for(
        &mut self,
        flow: FlowId,
        at: At,
        foreign: Option<Waker>,
    ) -> Registered {
        let waiter = match (foreign, at) {
            (Some(waker), At::Reading(..)) => Waiter::Foreign(self.foreign.add(waker)),
            (Some(waker), At::Frame(_, clock)) => {
                Waiter::ForeignFrame(self.foreign.add(waker), bits::wants(clock))
            }
            (None, At::Reading(..)) => Waiter::Flow(flow),
            (None, At::Frame(_, clock)) => Waiter::Frame(flow, bits::wants(clock)),
        };
        self.register(at, waiter)
    }

    /// Takes a wait back; gives the waker that was kept for it.
    pub(crate) fn unregister(&mut self, registered: Registered) -> Option<Waker> {
        let queue = match registered.clock {
            Some(clock) => &mut self.clocks[clock as usize],
            None => &mut self.frames,
        };
        match queue.remove(registered.token) {
            Some(Waiter::Foreign(index) | Waiter::ForeignFrame(index, _)) => {
                self.take_foreign(index)
            }
            _ => None,
        }
    }

    pub(crate) fn take_foreign(&mut self, index: u32) -> Option<Waker> {
        self.foreign.take(index)
    }

    /// Keeps a tick that a foreign waker waits for; its number.
    pub(crate) fn keep_tick(&mut self, tick: ForeignTick) -> u32 {
        self.ticks.add(tick)
    }

    pub(crate) fn take_tick(&mut self, number: u32) -> Option<ForeignTick> {
        self.ticks.take(number)
    }

    /// Moves the waits on a clock that are over to `due`, by (deadline, sequence).
    pub(crate) fn take_due(&mut self, clock: Clock, now: u64, due: &mut Vec<Waiter>) {
        self.clocks[clock as usize].take_due(now, due);
    }

    /// Moves the waits for frames that are over to `due`.
    pub(crate) fn take_frame_due(&mut self, frame: u64, due: &mut Vec<Waiter>) {
        let at = frame.saturating_mul(1 << FRAME_SHIFT);
        self.frames.take_due(at, due);
    }
}
