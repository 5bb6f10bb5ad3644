//! The gate: how a node inside an async flow gets one turn a frame, and waits for the next.

use std::task::{Context, Poll, Waker};

use sc_core::Clock;

use super::FlowCx;
use crate::error::FlowError;
use crate::executor::home::{At, Registered};
use crate::executor::table::Note;
use crate::list::{Progress, WaitingFor};
use crate::node::Next;

/// When a node had its last turn, and what it has registered.
pub(crate) struct Gate<'f, H: 'static> {
    pub(crate) fx: &'f FlowCx<H>,
    pub(crate) clock: Clock,
    /// From when it counts, on its clock; whether that is the flow's start; and the frame in which it
    /// was made.
    start: u64,
    is_credited: bool,
    made_in: u64,
    /// The frame of its next turn at the earliest; `None` before its first poll.
    not_before: Option<u64>,
    registered: Option<Registered>,
    /// What it does on its first poll was its turn in that frame.
    pub(crate) first_is_turn: bool,
    /// Whose its notes are.
    number: u32,
}

/// What a poll of the gate is.
pub(crate) enum Opened {
    /// The first one; the node counts from `start`.
    First { start: u64 },
    /// A turn, with the clock at `now`.
    Turn { now: u64 },
    /// No turn in this frame, or not yet.
    NotYet,
}

impl<'f, H> Gate<'f, H> {
    pub(crate) fn new(fx: &'f FlowCx<H>) -> Self {
        let clock = fx.clock();
        let (start, is_credited) = fx.home.counts_from(clock);
        Gate {
            fx,
            clock,
            start,
            is_credited,
            made_in: fx.home.frame.get(),
            not_before: None,
            registered: None,
            first_is_turn: false,
            number: fx.home.number_node(),
        }
    }

    /// Counts on another clock than the flow's.
    pub(crate) fn on(&mut self, clock: Clock) {
        self.clock = clock;
        (self.start, self.is_credited) = self.fx.home.counts_from(clock);
    }

    /// Asks for a turn. After `First`, ask again.
    pub(crate) fn open(&mut self) -> Result<Opened, FlowError> {
        self.fx.check_turn()?;
        let home = &*self.fx.home;
        let frame = home.frame.get();
        let Some(not_before) = self.not_before else {
            let later = !self.is_credited || self.first_is_turn;
            self.not_before = Some(self.made_in + u64::from(later));
            return Ok(Opened::First { start: self.start });
        };
        if frame < not_before || home.stands(self.clock) {
            return Ok(Opened::NotYet);
        }
        self.not_before = Some(frame + 1);
        let now = home.now(self.clock);
        Ok(Opened::Turn { now })
    }

    /// No turn before the next frame.
    pub(crate) fn skip_frame(&mut self) {
        self.not_before = Some(self.fx.home.frame.get() + 1);
    }

    /// Waits for what comes next.
    pub(crate) fn wait(&mut self, next: Next, waker: &Waker) {
        self.release();
        let home = &self.fx.home;
        let frame = home.frame.get() + 1;
        match next {
            Next::At(deadline) => {
                let at = At::Reading(self.clock, deadline);
                self.registered = Some(home.register(self.fx.id, at, waker));
            }
            _ if home.is_own(waker) => home.want_frame(self.clock),
            _ => {
                let at = At::Frame(frame, self.clock);
                self.registered = Some(home.register(self.fx.id, at, waker));
            }
        }
    }

    /// One turn of a node: `turn` gets the clock's reading and says what is next, or the result.
    pub(crate) fn drive<R>(
        &mut self,
        context: &Context<'_>,
        begin: &mut dyn FnMut(u64) -> Result<Option<R>, FlowError>,
        turn: &mut dyn FnMut(u64) -> Result<Result<R, Next>, FlowError>,
        next: &mut dyn FnMut() -> Next,
    ) -> Poll<Result<R, FlowError>> {
        loop {
            let opened = match self.open() {
                Ok(opened) => opened,
                Err(error) => return Poll::Ready(Err(error)),
            };
            let outcome = match opened {
                Opened::First { start } => match begin(start) {
                    Ok(None) => continue,
                    Ok(Some(result)) => Ok(Ok(result)),
                    Err(error) => Err(error),
                },
                Opened::Turn { now } => turn(now),
                Opened::NotYet => Ok(Err(next())),
            };
            return match outcome {
                Ok(Ok(result)) => {
                    self.release();
                    Poll::Ready(Ok(result))
                }
                Ok(Err(next)) => {
                    self.wait(next, context.waker());
                    Poll::Pending
                }
                Err(error) => {
                    self.release();
                    Poll::Ready(Err(error))
                }
            };
        }
    }

    /// Notes for lists and warnings what the node waits for, and how far it has come.
    pub(crate) fn note(&self, waiting_for: WaitingFor, progress: Progress) {
        let by = self.number;
        self.says(Some(Note {
            by,
            waiting_for,
            progress,
        }));
    }

    /// The node waits no more.
    pub(crate) fn takes_back_note(&self) {
        self.says(None);
    }

    fn says(&self, note: Option<Note>) {
        let home = &*self.fx.home;
        let now = home.runtime_now.get();
        home.board.note(self.fx.id, self.number, note, now);
    }

    /// Notes what the node's poll has come to.
    pub(crate) fn noted<R>(
        &self,
        outcome: &Poll<Result<R, FlowError>>,
        waiting: impl FnOnce() -> (WaitingFor, Progress),
    ) {
        match outcome {
            // Not the flow's own await, nor its note.
            Poll::Ready(Err(FlowError::OutsideItsFlow)) => {}
            Poll::Ready(_) => {
                self.fx.has_awaited();
                self.takes_back_note();
            }
            Poll::Pending => {
                let (waiting_for, progress) = waiting();
                self.note(waiting_for, progress);
            }
        }
    }

    fn release(&mut self) {
        if let Some(registered) = self.registered.take() {
            self.fx.home.unregister(registered);
        }
    }
}

impl<H> Drop for Gate<'_, H> {
    fn drop(&mut self) {
        self.release();
    }
}
