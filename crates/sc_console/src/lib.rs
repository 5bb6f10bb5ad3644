//! A developer console that works with no UI at all: commands and variables, reached by calls, from
//! scripts or from a terminal; and what an overlay of your own draws (output, completion, messages).
//!
//! | I need .. | entry |
//! | --- | --- |
//! | a command, there from program start | [`command!`] |
//! | a command of an object, as long as it lives | [`dynamic_command!`], [`ConsoleExt::register_command`] |
//! | a value to tune, read at the cost of an index | [`variable!`], [`VariableExt::var`] |
//! | to run a line, and have its output | [`ConsoleExt::run_line`], [`ConsoleExt::queue_line`] |
//! | to complete what is typed | [`ConsoleExt::complete_line`], [`ConsoleSnapshot::complete`] |
//! | values kept in a file | [`VariableExt::save_config`], [`VariableExt::load_config`] |
//! | an enum as an argument | [`console_enum!`] |
//! | a command that takes its time | [`Latent`] |
//! | to say who may cheat, where scripts are | [`ConsoleSettings`] |
//! | a text on the screen and in the log | [`print_string!`], [`Template`] for text from data |
//! | what is on the screen, to draw it | [`PrintExt::screen`] |
//! | the log, to show it | [`LogRing`] |
//! | a terminal (feature `terminal`) | `Terminal` |
//! | bodies in a script language | [`CommandRegistry`], [`command_registry!`] |
//!
//! The three shortest programs there are. A command that is there from the program's start:
//!
//! ```
//! use sc_console::{ConsoleExt, Source, command};
//! use sc_core::{Cx, Runtime, WorldKind};
//!
//! command! {
//!     /// Gives gold to the player.
//!     MyGame.GiveGold (
//!         /// How much.
//!         amount: u32 = 10,
//!     ) |cx: &mut Cx<'_, u32>, out| {
//!         *cx.host_mut() += amount;
//!         writeln!(out, "{amount} gold")?;
//!         Ok(())
//!     }
//! }
//!
//! fn main() -> Result<(), sc_core::Error> {
//!     let (mut rt, mut gold) = (Runtime::new(), 0_u32);
//!     let mut cx = rt.cx(&mut gold);
//!     cx.create_world(WorldKind::Game)?;
//! #   #[cfg(feature = "commands")]
//!     assert_eq!(cx.run_line("mygame.givegold 25", Source::Local).text(), "25 gold");
//!     Ok(())
//! }
//! ```
//!
//! A command of an object, which ends with it:
//!
//! ```
//! use sc_console::{ConsoleExt, LineOutcome, RegisterError, Source, dynamic_command};
//! use sc_core::{Cx, Runtime, Tickable, WorldKind};
//!
//! struct Door;
//! impl Tickable<bool> for Door {
//!     fn initialize(&mut self, cx: &mut Cx<'_, bool>) {
//!         let Some(me) = cx.current_object() else { return };
//!         // What is refused is reported.
//!         let _ = cx.register_command(dynamic_command! {
//!             /// Opens the door.
//!             Door.Open () |cx: &mut Cx<'_, bool>, _out| { *cx.host_mut() = true; Ok(()) }
//!         }.owner(me));
//!     }
//! }
//!
//! fn main() -> Result<(), sc_core::Error> {
//!     let (mut rt, mut is_open) = (Runtime::new(), false);
//!     let mut cx = rt.cx(&mut is_open);
//!     let level = cx.create_world(WorldKind::Game)?;
//!     let door = cx.spawn_in(level, Door)?;
//!     cx.run_line("door.open", Source::Local);
//! #   #[cfg(feature = "commands")]
//!     assert!(*cx.host());
//!     door.shutdown(&mut cx)?;
//!     assert_eq!(cx.run_line("door.open", Source::Local).outcome, LineOutcome::Failed);
//!     Ok(())
//! }
//! ```
//!
//! A variable:
//!
//! ```
//! use sc_console::{ConsoleExt, Source, VariableExt, variable};
//! use sc_core::Runtime;
//!
//! variable! {
//!     /// How fast the player is, in metres a second.
//!     pub SPEED = MyGame.Speed: f64 = 5.0, range 0.0..=20.0
//! }
//!
//! fn main() {
//!     let (mut rt, mut host) = (Runtime::<()>::new(), ());
//!     let mut cx = rt.cx(&mut host);
//!     assert_eq!(cx.run_line("MyGame.Speed 7.5", Source::Local).text(), "MyGame.Speed = 7.5");
//!     assert_eq!(cx.var(SPEED), 7.5);
//! }
//! ```
//!
//! And help says all of it:
//!
//! ```text
//! > help MyGame.GiveGold
//! MyGame.GiveGold [amount]
//!   Gives gold to the player.
//!   amount: u32, default 10
//!       How much.
//!   command, declared at src/main.rs:7
//! ```
//!
//! Everything belongs to a runtime: two in one process do not meet. Names are the same whatever
//! their case. Lines run at once ([`ConsoleExt::run_line`]) or in the frame's stage `Console`.
//!
//! # Features
//! - `commands` (default): commands. Without it, their macros check types and leave nothing in the binary;
//!   registering returns an inert id. Variables stay.
//! - `print` (default): printing to screen and log.
//! - `terminal`: the terminal front end.

// Without commands, what only they use is left for the compiler to drop.
#![cfg_attr(not(feature = "commands"), allow(dead_code, unused_imports))]

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
mod alias;
mod arg;
#[cfg(feature = "commands")]
mod builtin;
mod command;
mod complete;
mod debug;
mod error;
mod ext;
mod file;
mod help;
mod history;
mod info;
mod log;
mod name;
mod output;
mod parse;
mod print;
mod redact;
mod registry;
mod reports;
mod run;
mod screen;
mod settings;
mod slots;
mod snapshot;
mod source;
#[cfg(feature = "terminal")]
mod terminal;
mod variable;
mod visible;

pub use arg::{ArgError, ConsoleArg, Parameter};
pub use command::{CommandDef, CommandError, IntoEnded, Latent, LatentEnd, StaticCommand};
pub use complete::{Candidate, Completions};
pub use error::{FileError, RegisterError, VariableError};
pub use ext::ConsoleExt;
pub use history::History;
pub use info::{EntryInfo, EntryKind, Flags, Origin, ParamInfo, Suggest};
pub use log::{LogExt, LogFilterError, LogInstalledAlready, LogRecord, LogRing};
pub use output::{LineKind, LineOutcome, LineRun, Output, OutputLine};
pub use parse::{CommandText, LineText, ParseError, ParseErrorKind, Word, parse_line, quote};
pub use print::{PRINT_TARGET, Print, PrintExt, PrintKey, PrintTo};
pub use registry::{CommandGuard, CommandId, CommandRegistry, ForwardedCall, RegistriesCompete};
pub use screen::color::Color;
pub use screen::template::{Filled, Template};
pub use screen::{Screen, ScreenMessage};
pub use settings::ConsoleSettings;
pub use snapshot::ConsoleSnapshot;
pub use source::Source;
#[cfg(feature = "terminal")]
pub use terminal::{Terminal, TerminalError, TerminalHandle};
pub use variable::{
    ChangeGuard, ConfigRead, DynVariable, SetBy, SetOutcome, StaticVariable, Variable, VariableDef,
    VariableExt, VariableInfo, VariableKey,
};
