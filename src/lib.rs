//! StillCooking for Rust: the layer for Unreal-style latent logic, tickable objects and a
//! developer console, in a loop of your own. Nothing fails silently.
//!
//! This crate is the facade: it re-exports the parts, each of which is usable alone.
//!
//! ```
//! use stillcooking::prelude::*;
//!
//! struct Counter;
//! impl Tickable<u32> for Counter {
//!     fn tick(&mut self, cx: &mut Cx<'_, u32>) { *cx.host_mut() += 1; }
//! }
//!
//! let (mut rt, mut ticks) = (Runtime::new(), 0);
//! let mut cx = rt.cx(&mut ticks);
//! let level = cx.create_world(WorldKind::Game)?;
//! let counter = cx.spawn_in(level, Counter)?;
//! rt.tick_secs(&mut ticks, 0.016)?;
//! counter.shutdown(&mut rt.cx(&mut ticks))?;
//! assert_eq!(ticks, 1);
//! # Ok::<(), stillcooking::Error>(())
//! ```
//!
//! # Features
//! - `commands` (default): console commands. Without it their names, help and bodies are not in the
//!   binary; call sites compile unchanged, and variables stay.
//! - `print` (default): printing to screen and log.
//! - `terminal`: the terminal front end of the console.
//! - `easing` (default): the named curves of `Ease`.
//! - `testing`: helpers for tests, in `stillcooking::testing`.
//! - `bevy`: Bevy 0.20, in `stillcooking::bevy`; `bevy_state`: the same, with worlds of states;
//!   `bevy_asset`: the same, awaiting assets.

#[cfg(feature = "bevy")]
pub mod bevy;
mod inspect;
mod latent;

pub use inspect::declare_console;
pub use latent::LatentExt;

pub use sc_console::{
    ArgError, Candidate, ChangeGuard, CommandDef, CommandError, CommandGuard, CommandId,
    CommandRegistry, CommandText, Completions, ConfigRead, ConsoleArg, ConsoleExt, ConsoleSettings,
    ConsoleSnapshot, DynVariable, EntryInfo, EntryKind, FileError, Flags, ForwardedCall, History,
    IntoEnded, Latent, LatentEnd, LineKind, LineOutcome, LineRun, LineText, Origin, Output,
    OutputLine, ParamInfo, Parameter, ParseError, ParseErrorKind, RegisterError, RegistriesCompete,
    SetBy, SetOutcome, Source, StaticCommand, StaticVariable, Suggest, Variable, VariableDef,
    VariableError, VariableExt, VariableInfo, VariableKey, Word, command, command_registry,
    console_enum, dynamic_command, parse_line, quote, variable,
};

pub use sc_console::{
    Color, Filled, LogExt, LogFilterError, LogInstalledAlready, LogRecord, LogRing, PRINT_TARGET,
    Print, PrintExt, PrintKey, PrintTo, Screen, ScreenMessage, Template, print_string,
};
#[cfg(feature = "terminal")]
pub use sc_console::{Terminal, TerminalError, TerminalHandle};

#[cfg(feature = "testing")]
pub use sc_core::testing;
pub use sc_core::{
    Access, AccessError, Anchor, AnyCx, Clock, Configure, Culprit, Cx, DeadlineQueue,
    DeadlineToken, Driver, DriverError, Error, Extension, ExtensionReport, FrameClock, FrameError,
    FrameReport, FrameTrace, InspectHook, InstanceId, Life, LifeHook, LineProblem, ManualClock,
    OsClock, Owner, Panic, PanicPolicy, Poster, Readings, Report, ReportHandler, ReportKind,
    RunReport, Runtime, RuntimeGone, Secs, Severity, Stage, StageHook, Stopwatch, TeardownHook,
    TeardownPhase, TickError, TickGroup, TickId, TickInfo, TickKey, TickSettings, Tickable,
    TimeError, TraceError, TraceFormat, TraceProcess, TraceSource, TraceUnit, WorldDelta,
    WorldError, WorldId, WorldInfo, WorldKind, WorldOptions, secs,
};

#[cfg(feature = "easing")]
pub use sc_flow::Ease;
pub use sc_flow::{
    AnyFlowExt, ChangedFx, ChildAnswer, Delay, DoForDuration, DoForDurationFx, Done, DriveControl,
    Either, Flow, FlowCx, FlowEnd, FlowError, FlowExt, FlowFinish, FlowId, FlowInfo, FlowKind,
    FlowState, ForEach, ForEachFx, LoopAnswer, NextTick, Pace, PendingFlows, Progress, Reservation,
    Reserved, Scope, Step, Task, ThreadResult, Ticks, Wait, WaitUntil, WaitUntilFx, WaitingFor,
    join, join_all, race,
};

/// What most programs need, in one `use`.
pub mod prelude {
    pub use crate::LatentExt;
    pub use sc_console::{
        Color, LogExt, LogRing, Print, PrintExt, PrintTo, Template, print_string,
    };
    pub use sc_console::{
        CommandError, CommandRegistry, ConsoleExt, ForwardedCall, Latent, LineOutcome, LineRun,
        Output, SetBy, Source, VariableDef, VariableExt, command, command_registry, console_enum,
        dynamic_command, variable,
    };
    #[cfg(feature = "terminal")]
    pub use sc_console::{Terminal, TerminalHandle};
    pub use sc_core::{
        AnyCx, Clock, Cx, Driver, FrameTrace, ManualClock, Owner, PanicPolicy, Poster, Report,
        Runtime, Stage, TickError, TickGroup, TickKey, TickSettings, Tickable, WorldId, WorldKind,
        WorldOptions, secs,
    };
    #[cfg(feature = "easing")]
    pub use sc_flow::Ease;
    pub use sc_flow::{
        DoForDuration, DriveControl, Either, Flow, FlowCx, FlowError, FlowExt, FlowFinish, FlowId,
        ForEach, Step, Task, Wait, WaitUntil, join, join_all, race,
    };
}

/// The code in the documents compiles and runs.
#[cfg(doctest)]
mod documents {
    #[cfg(feature = "bevy")]
    #[doc = include_str!("../README.md")]
    struct Readme;
    #[doc = include_str!("../docs/recipes.md")]
    struct Recipes;
    #[cfg(all(feature = "bevy_state", feature = "commands", feature = "easing"))]
    #[doc = include_str!("../docs/bevy.md")]
    struct Bevy;
}
