//! Clocks: the four of a world, how seconds become nanoseconds, and the queue of what waits.
//!
//! | | integrates the dilated delta | integrates the real delta |
//! | --- | --- | --- |
//! | stops while paused (default) | [`Clock::Game`] | [`Clock::Unscaled`] |
//! | runs while paused | [`Clock::GameThroughPause`] | [`Clock::Real`] |
//!
//! Every wait and every timer of this project counts on one of these four; a page that
//! speaks of time points here.

mod deadline_queue;
pub(crate) mod decimal;
mod dilation;
mod secs;
mod world_clocks;

pub use deadline_queue::{DeadlineQueue, DeadlineToken};
pub use secs::{Secs, TimeError, secs};

pub(crate) use dilation::Dilation;
pub(crate) use world_clocks::{FrameDeltas, WorldClocks};

/// Which clock something counts on: a choice of two independent questions, does it stop while
/// the world is paused, and does it follow the world's time dilation?
///
/// ```
/// use sc_core::Clock;
/// assert_eq!(Clock::default(), Clock::Game);
/// assert!(Clock::Unscaled.stops_while_paused());
/// assert!(!Clock::Unscaled.follows_dilation());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Clock {
    /// Dilated, stops while paused. The default.
    #[default]
    Game,
    /// Real time, stops while paused.
    Unscaled,
    /// Dilated, runs while paused.
    GameThroughPause,
    /// Real time, runs while paused.
    Real,
}

impl Clock {
    /// All four, in the order in which their queues are served.
    pub const ALL: [Clock; 4] = [
        Clock::Game,
        Clock::Unscaled,
        Clock::GameThroughPause,
        Clock::Real,
    ];

    /// Whether a pause stops this clock.
    #[must_use]
    pub const fn stops_while_paused(self) -> bool {
        matches!(self, Clock::Game | Clock::Unscaled)
    }

    /// Whether this clock integrates the dilated delta.
    #[must_use]
    pub const fn follows_dilation(self) -> bool {
        matches!(self, Clock::Game | Clock::GameThroughPause)
    }
}
