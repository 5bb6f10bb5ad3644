//! What a call on a world or a game instance can refuse.

use crate::TimeError;

/// Why a call on a world or a game instance was refused. Nothing has changed.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorldError {
    /// The world is gone.
    #[error("the world is gone: it was destroyed; drop the id too")]
    Gone,
    /// The parent named for a world is dead or dying.
    #[error(
        "a world needs a live parent: name one that exists and is not being destroyed, or none"
    )]
    NoLiveWorld,
    /// The game instance is gone.
    #[error("the game instance is gone: create one with `create_instance`, or name none")]
    InstanceGone,
    /// The runtime was shut down.
    #[error("the runtime was shut down: make a new one")]
    ShutDown,
    /// A dilation that is not finite or negative.
    #[error(transparent)]
    BadDilation(#[from] TimeError),
}
