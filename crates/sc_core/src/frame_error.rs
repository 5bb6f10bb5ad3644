//! What a frame or one of its pieces can refuse.

use crate::TimeError;
use crate::frame::Stage;

/// Why a frame, or a piece of one, was refused. Nothing ran and nothing has changed.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// A frame is open already. A step may begin in a frame, but nothing in a step.
    #[error("a frame is open already: end it with `end_frame` before the next one begins")]
    AlreadyTicking,
    /// The delta is no usable time.
    #[error("the frame's delta was refused: {0}")]
    BadDelta(#[from] TimeError),
    /// No frame is open.
    #[error("no frame is open: call `begin_frame` first")]
    NoFrame,
    /// The stages were called out of order.
    #[error("stage {asked:?} is out of order: {expected:?} comes next in this frame")]
    StageOrder {
        /// The stage that comes next.
        expected: Stage,
        /// The stage that was asked for.
        asked: Stage,
    },
    /// The runtime was shut down.
    #[error("the runtime was shut down and does not tick any more: make a new one")]
    ShutDown,
}
