//! The stopwatch: wall-clock readings for budgets and timings, replaceable.

use std::time::Duration;

/// Reads a clock that only measures: budgets and the timings in inspection lists. Nothing the
/// game sees depends on it.
///
/// The standalone driver brings one over the OS clock; tests bring a manual one; without one,
/// timings stay empty.
///
/// ```
/// use sc_core::{Runtime, Stopwatch};
/// use std::time::Duration;
/// struct Frozen;
/// impl Stopwatch for Frozen {
///     fn now(&self) -> Duration { Duration::ZERO }
/// }
/// let mut rt = Runtime::<()>::new();
/// rt.set_stopwatch(Frozen);
/// ```
pub trait Stopwatch: 'static {
    /// Time since any fixed moment. Must not go backwards.
    fn now(&self) -> Duration;
}
