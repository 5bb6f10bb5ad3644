//! Seconds as flows take them: zero or less means "next tick".

use std::time::Duration;

use sc_core::{Secs, TimeError};

/// Nanoseconds; of more than 584 years, the most there are.
pub(crate) fn nanos(of: Duration) -> u64 {
    u64::try_from(of.as_nanos()).unwrap_or(u64::MAX)
}

/// Nanoseconds; zero for zero or less.
///
/// # Errors
/// [`TimeError`] for NaN, an infinity, or a number beyond range.
pub(crate) fn span(seconds: Secs) -> Result<u64, TimeError> {
    let given = seconds.as_f64();
    if given.is_finite() && given <= 0.0 {
        return Ok(0);
    }
    let nanos = seconds.to_duration()?.as_nanos();
    u64::try_from(nanos).map_err(|_| TimeError::OutOfRange { seconds: given })
}
