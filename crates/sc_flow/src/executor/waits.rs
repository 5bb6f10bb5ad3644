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

/// log2 of a bucket of the deadline queue: frame numbers are spread over buckets.
const FRAME_SHIFT: u32 = 20;

#[derive(Default)]
pub(crate) struct Waits {
    clocks: [DeadlineQueue<Waiter>; 4],
    /// By frame number, one bucket a frame.
    frames: DeadlineQueue<Waiter>,
    foreign: Vec<Option<Waker>>,
    foreign_free: Vec<u32>,
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
            (Some(waker), _) => Waiter::Foreign(self.add_foreign(waker)),
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
            Some(Waiter::Foreign(index)) => self.take_foreign(index),
            _ => None,
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
