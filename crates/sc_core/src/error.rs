//! The umbrella error: what `?` converts every error of this crate into.

use crate::driver::DriverError;
use crate::frame_error::FrameError;
use crate::{AccessError, RuntimeGone, TickError, TimeError, TraceError, WorldError};

/// Any error of `sc_core`. Calls return the small error named after them; a program that only
/// wants to pass them on takes this one.
///
/// ```
/// use sc_core::{Error, TimeError, secs};
/// fn half() -> Result<std::time::Duration, Error> {
///     Ok(secs(0.5).to_duration()?)
/// }
/// assert!(half().is_ok());
/// assert!(matches!(secs(-1).to_duration().map_err(Error::from), Err(Error::Time(TimeError::Negative { .. }))));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A number of seconds or a dilation.
    #[error(transparent)]
    Time(#[from] TimeError),
    /// A world or a game instance.
    #[error(transparent)]
    World(#[from] WorldError),
    /// A tickable object.
    #[error(transparent)]
    Tick(#[from] TickError),
    /// A frame or one of its pieces.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// A loop of the standalone driver.
    #[error(transparent)]
    Driver(#[from] DriverError),
    /// A frame trace.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// Host and runtime from a future.
    #[error(transparent)]
    Access(#[from] AccessError),
    /// A post to a runtime that is gone.
    #[error(transparent)]
    Post(#[from] RuntimeGone),
}
