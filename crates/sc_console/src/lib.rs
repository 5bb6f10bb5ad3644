//! A developer console that works with no UI at all: commands and variables, reached by calls, from
//! scripts, from a terminal or from an overlay.

mod complete;
mod ext;
mod history;
mod info;
mod log;
mod output;
mod print;
mod screen;
mod snapshot;
mod source;
#[cfg(feature = "terminal")]
mod terminal;

pub use complete::{Candidate, Completions};
pub use ext::ConsoleExt;
pub use history::History;
pub use info::{EntryInfo, EntryKind, Flags, ParamInfo, Suggest};
pub use log::{LogExt, LogFilterError, LogInstalledAlready, LogRecord, LogRing};
pub use output::{LineKind, LineOutcome, LineRun, Output, OutputLine};
pub use print::{PRINT_TARGET, Print, PrintExt, PrintKey, PrintTo};
pub use screen::color::Color;
pub use screen::template::{Filled, Template};
pub use screen::{Screen, ScreenMessage};
pub use snapshot::ConsoleSnapshot;
pub use source::Source;
#[cfg(feature = "terminal")]
pub use terminal::{Terminal, TerminalError, TerminalHandle};

/// What the macros use.
#[doc(hidden)]
pub mod __private {
    pub use tracing;
}
