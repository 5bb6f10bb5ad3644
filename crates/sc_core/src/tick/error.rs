//! What a call on a tickable object can refuse.

use crate::TimeError;

/// Why a call on a tickable object was refused. Nothing has changed.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TickError {
    /// The key is stale: the object was destroyed.
    #[error("the object is gone: its owner was dropped or its world ended; drop the key too")]
    Gone,
    /// The object is being called right now (or a sibling of its typed batch is).
    #[error(
        "{object} is running: use its `&mut self` where you are in it, or act after its call has returned"
    )]
    Running {
        /// Its name.
        object: String,
    },
    /// The object holds another type than the key says.
    #[error(
        "{object} is not of the type the key asks for: use keys with the type and the runtime they came from"
    )]
    WrongType {
        /// Its name.
        object: String,
    },
    /// The object belongs to another runtime than the `Cx`.
    #[error("the object belongs to another runtime: use the `Cx` of the runtime that made it")]
    WrongRuntime,
    /// It is not initialized.
    #[error("{object} is not initialized: initialize it first")]
    NotInitialized {
        /// Its name.
        object: String,
    },
    /// It is initialized already.
    #[error("{object} is already initialized: shut it down before initializing it again")]
    AlreadyInitialized {
        /// Its name.
        object: String,
    },
    /// No world was named, or the world is dead or dying.
    #[error(
        "{object} needs a live world: name one that exists and is not being destroyed, or make the object with `spawn_worldless`"
    )]
    NoLiveWorld {
        /// Its name.
        object: String,
    },
    /// The runtime was shut down.
    #[error("{object} cannot be initialized: the runtime was shut down; make a new one")]
    ShutDown {
        /// Its name.
        object: String,
    },
    /// It was made without a world.
    #[error(
        "{object} is worldless: initialize it with `None`; it has no tick group (make it with `spawn` to give it a world)"
    )]
    Worldless {
        /// Its name.
        object: String,
    },
    /// The interval is no usable time.
    #[error("the interval was refused: {0}")]
    BadInterval(#[from] TimeError),
    /// A positive interval below half a nanosecond.
    #[error("the interval {seconds:?} s rounds to 0 ns: pass 0 for every frame, or at least 1e-9")]
    IntervalTooShort {
        /// The number given.
        seconds: f64,
    },
    /// The prerequisites would form a circle.
    #[error("the prerequisites form a circle: {path}; remove one of them")]
    PrerequisiteCycle {
        /// `A -> B -> A`: each ticks after the next.
        path: String,
    },
    /// A prerequisite ticks in a later group.
    #[error(
        "{object} cannot tick after {prerequisite}, which is in a later group: move one of them"
    )]
    PrerequisiteLater {
        /// The dependent object's name.
        object: String,
        /// The prerequisite's name.
        prerequisite: String,
    },
    /// A prerequisite lives in another world.
    #[error(
        "{object} cannot tick after {prerequisite}, which is in another world: worlds have no common order of objects"
    )]
    PrerequisiteElsewhere {
        /// The dependent object's name.
        object: String,
        /// The prerequisite's name.
        prerequisite: String,
    },
    /// Its event panicked, and the policy is to go on.
    #[error("{object} panicked in its event and is uninitialized: see the report")]
    Panicked {
        /// Its name.
        object: String,
    },
}
