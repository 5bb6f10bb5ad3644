//! The core of StillCooking for Rust: a runtime for objects that tick and are neither entities
//! nor components, in worlds with exact clocks, driven by any loop.
//!
//! | I need .. | entry |
//! | --- | --- |
//! | something that runs the frame | [`Runtime`], [`Driver`] |
//! | an object that ticks, throttled, in order, through a pause | [`Tickable`], [`Owner`], [`Cx::configure`] |
//! | worlds, pause, slow motion | [`Cx::create_world`], [`Cx::set_paused`], [`Cx::set_dilation`], [`Clock`] |
//! | to do something from another thread | [`Poster`] |
//! | to hear what went wrong | [`Report`], [`Runtime::set_report_handler`] |
//! | to replay a player's hitch | [`FrameTrace`], [`Driver::replay`] |
//! | to add a kind of thing of my own | [`Extension`], [`DeadlineQueue`] |
//!
//! # Goals
//! Nothing fails silently: what goes wrong is a compile error, a typed error, a report that names
//! the object and the fix, or a state one can list. Time is exact. The order of callbacks is the
//! same on every run and platform. What waits costs nothing.
//!
//! # Not goals
//! Parallel ticking; an ECS; transforms and levels (those belong to the host).
//!
//! # Features
//! - `testing`: helpers for tests, in `sc_core::testing`.

mod access;
mod any_cx;
mod clock;
mod cx;
mod driver;
mod error;
mod extension;
mod frame;
mod frame_error;
mod frame_hooks;
mod frame_run;
mod inbox;
mod report;
mod runtime;
mod step;
mod stopwatch;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod tick;
mod trace;
mod world;

pub use access::{Access, AccessError};
pub use any_cx::AnyCx;
pub use clock::{Clock, DeadlineQueue, DeadlineToken, Secs, TimeError, secs};
pub use cx::{Culprit, Cx, Panic};
pub use driver::{Driver, DriverError, FrameClock, ManualClock, OsClock, RunReport};
pub use error::Error;
pub use extension::{Extension, InspectHook, LifeHook, StageHook, TeardownHook, TeardownPhase};
pub use frame::{FrameReport, Stage, WorldDelta};
pub use frame_error::FrameError;
pub use inbox::{Poster, RuntimeGone};
pub use report::{ExtensionReport, Report, ReportHandler, ReportKind, Severity};
pub use runtime::{PanicPolicy, Runtime};
pub use stopwatch::Stopwatch;
pub use tick::{
    Anchor, Configure, Life, Owner, TickError, TickGroup, TickId, TickInfo, TickKey, TickSettings,
    Tickable,
};
pub use trace::{
    FrameTrace, LineProblem, TraceError, TraceFormat, TraceProcess, TraceSource, TraceUnit,
};
pub use world::{InstanceId, Readings, WorldError, WorldId, WorldInfo, WorldKind, WorldOptions};
