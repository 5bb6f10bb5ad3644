//! The error of flows: what a start refuses, and what an await ends with.

use sc_core::{AccessError, TickError, TimeError};

/// Why a flow was refused, or why an await inside one ended without a value.
///
/// Every error of `fx` and of `sc_core` converts into it, so `?` just works in a flow's body;
/// anything else goes in by [`FlowError::other`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FlowError {
    /// A flow was to be started where there is no live world.
    #[error(
        "flow `{flow}` needs a live world: start it from a callback of one, name one with `.world(id)`, or bind it to the runtime"
    )]
    NoLiveWorld {
        /// The flow's name.
        flow: String,
    },
    /// The runtime was shut down.
    #[error("the runtime was shut down and starts no flow any more: make a new one")]
    ShutDown,
    /// An awaited flow ended with an error.
    #[error("what was awaited ended with an error: {0}")]
    Failed(String),
    /// The owner a flow was to be bound to is gone or not initialized.
    #[error("flow `{flow}` cannot be bound to its owner: {why}")]
    NoOwner {
        /// The flow's name.
        flow: String,
        /// What the owner answered.
        why: TickError,
    },
    /// A number of seconds that is no usable time.
    #[error("the flow's time was refused: {0}")]
    BadTime(TimeError),
    /// A sequence without a period would never get anywhere.
    #[error("a pace needs a positive period, not {seconds:?} s: pass at least 1e-9")]
    NoPeriod {
        /// The number given.
        seconds: f64,
    },
    /// A repeating drive of zero length would never end.
    #[error("a repeating drive needs a positive duration: with 0 it would never get anywhere")]
    ZeroLengthRepeat,
    /// A speed that a drive cannot have.
    #[error("a drive cannot run at speed {speed:?}: pass a finite number of at least 0")]
    BadSpeed {
        /// The number given.
        speed: f64,
    },
    /// A control was given to a second drive while the first runs.
    #[error("the control belongs to a drive that runs: give each drive a control of its own")]
    ControlTaken,
    /// A control was asked for a drive that has not started or has ended.
    #[error(
        "the control has no running drive: give it to one by `.control(&control)` and start that"
    )]
    NoDrive,
    /// The flow has ended.
    #[error("the flow has ended: its id is stale")]
    Gone,
    /// The flow has not started: its id was reserved.
    #[error("the flow has not started yet: await it, or ask again when it has")]
    Pending,
    /// A flow awaited its own end.
    #[error("a flow cannot await its own end: it would never come")]
    AwaitsItself,
    /// What was awaited, or was to be started, was cancelled.
    #[error("what was awaited was cancelled")]
    Cancelled,
    /// What was awaited lost its world or its owner.
    #[error("what was awaited was aborted: its world or its owner is gone")]
    Aborted,
    /// What was awaited panicked.
    #[error("what was awaited panicked: see the report")]
    Panicked,
    /// The system started no thread for work to run on.
    #[error("no thread could be started for the work: {why}")]
    NoThread {
        /// What the system says.
        why: String,
    },
    /// An awaitable was polled outside the flow it was made in.
    #[error("an awaitable was polled outside its flow: await it where `fx` belongs")]
    OutsideItsFlow,
    /// Host and runtime could not be reached.
    #[error(transparent)]
    Access(AccessError),
    /// A call of the core was refused.
    #[error(transparent)]
    Core(sc_core::Error),
    /// An error of the program's own.
    #[error(transparent)]
    Other(Box<dyn std::error::Error>),
}

impl FlowError {
    /// An error of the program's own.
    ///
    /// ```
    /// use sc_flow::FlowError;
    /// let error = FlowError::other("the boss is missing");
    /// assert_eq!(error.to_string(), "the boss is missing");
    /// ```
    pub fn other(error: impl Into<Box<dyn std::error::Error>>) -> Self {
        FlowError::Other(error.into())
    }
}

impl<E: Into<sc_core::Error>> From<E> for FlowError {
    fn from(error: E) -> Self {
        match error.into() {
            sc_core::Error::Time(error) => FlowError::BadTime(error),
            sc_core::Error::Access(error) => FlowError::Access(error),
            error => FlowError::Core(error),
        }
    }
}
