//! Why a flow ended, and what a body says.

use crate::error::FlowError;

/// Why a flow ended: exactly one reason, once.
///
/// | | when | gameplay callback | an awaiter gets |
/// | --- | --- | --- | --- |
/// | `Completed` | count reached, duration elapsed, condition true, future done | completed, satisfied | `Ok` |
/// | `Broken` | the body said break | completed, with the reason | `Ok` |
/// | `Cancelled` | cancelled from outside, or by itself | completed, cancelled, with the reason | `Err(Cancelled)` |
/// | `TimedOut` | a wait's deadline, or the object its condition belongs to is gone | timed out | `Ok` |
/// | `Aborted` | its world or its owner is gone, or the runtime was shut down | none | `Err(Aborted)` |
/// | `Panicked` | a body panicked | none | `Err(Panicked)` |
///
/// `on_finished` sees every reason.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FlowFinish {
    /// It ran to its end.
    Completed,
    /// Its body said break.
    Broken,
    /// It was cancelled.
    Cancelled,
    /// Its deadline passed.
    TimedOut,
    /// What it was bound to is gone.
    Aborted,
    /// Its body panicked.
    Panicked,
}

impl FlowFinish {
    /// What an awaiter gets.
    ///
    /// # Errors
    /// [`FlowError::Cancelled`], [`FlowError::Aborted`], [`FlowError::Panicked`].
    pub(crate) fn for_awaiter(self) -> Result<FlowFinish, FlowError> {
        match self {
            FlowFinish::Cancelled => Err(FlowError::Cancelled),
            FlowFinish::Aborted => Err(FlowError::Aborted),
            FlowFinish::Panicked => Err(FlowError::Panicked),
            finish => Ok(finish),
        }
    }

    /// Whether the gameplay callback is told.
    pub(crate) fn reaches_gameplay(self) -> bool {
        !matches!(self, FlowFinish::Aborted | FlowFinish::Panicked)
    }
}

/// What the body of a loop says.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Step {
    /// On to the next index.
    Continue,
    /// Park until [`continue_loop`](crate::FlowExt::continue_loop).
    Suspend,
    /// End the loop.
    Break,
}

impl From<()> for Step {
    fn from((): ()) -> Self {
        Step::Continue
    }
}

/// How a wait ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Wait {
    /// The condition was true.
    Satisfied,
    /// The deadline passed first.
    TimedOut,
}

/// How a loop or a drive ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Done {
    /// It ran to its end.
    Completed,
    /// Its body said break.
    Broken,
}
