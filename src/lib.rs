//! StillCooking for Rust: the layer for Unreal-style latent logic, tickable objects and a
//! developer console, in a loop of your own. Nothing fails silently.
//!
//! This crate is the facade: it re-exports the parts, each of which is usable alone.
//!
//! ```
//! use stillcooking::prelude::*;
//!
//! struct Game { score: u32 }
//!
//! struct Spinner { angle: f64 }
//! impl Tickable<Game> for Spinner {
//!     fn tick(&mut self, cx: &mut Cx<'_, Game>) { self.angle += cx.delta_secs() * 90.0; }
//!     fn shutdown(&mut self, cx: &mut Cx<'_, Game>) { cx.host_mut().score += 1; }
//! }
//!
//! fn main() -> Result<(), stillcooking::Error> {
//!     let mut game = Game { score: 0 };
//!     let mut rt = Runtime::new();
//!
//!     let mut cx = rt.cx(&mut game);
//!     let level = cx.create_world(WorldKind::Game)?;
//!     let spinner = cx.spawn_in(level, Spinner { angle: 0.0 })?;
//!     cx.configure(&spinner)?.interval(secs(0.25)).tick_when_paused(true).apply()?;
//!
//!     Driver::at_fps(60).run_for(secs(3), &mut rt, &mut game)?;
//!
//!     spinner.shutdown(&mut rt.cx(&mut game))?;
//!     Ok(())
//! }
//! ```
//!
//! # Features
//! - `testing`: helpers for tests, in `stillcooking::testing`.

#[cfg(feature = "testing")]
pub use sc_core::testing;
pub use sc_core::{
    Clock, Configure, Cx, DeadlineQueue, DeadlineToken, Driver, DriverError, Error, Extension,
    FrameClock, FrameError, FrameReport, FrameTrace, InspectHook, InstanceId, LineProblem,
    ManualClock, OsClock, OsStopwatch, Owner, PanicPolicy, Poster, Report, ReportHandler,
    ReportKind, RunReport, Runtime, RuntimeGone, Secs, Severity, Stage, StageHook, Stopwatch,
    TeardownHook, TeardownPhase, TickError, TickGroup, TickId, TickInfo, TickKey, TickSettings,
    Tickable, TimeError, TraceError, TraceFormat, TraceProcess, TraceSource, TraceUnit, WorldDelta,
    WorldError, WorldId, WorldInfo, WorldKind, WorldOptions, secs,
};

/// What most programs need, in one `use`.
pub mod prelude {
    pub use sc_core::{
        Clock, Cx, Driver, FrameTrace, ManualClock, Owner, PanicPolicy, Poster, Report, Runtime,
        Stage, TickError, TickGroup, TickKey, TickSettings, Tickable, WorldId, WorldKind,
        WorldOptions, secs,
    };
}
