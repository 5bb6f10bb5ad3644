//! A developer console that works with no UI at all: commands and variables, reached by calls, from
//! scripts, from a terminal or from an overlay.

mod complete;
mod ext;
mod history;
mod info;
mod output;
mod snapshot;
mod source;

pub use complete::{Candidate, Completions};
pub use ext::ConsoleExt;
pub use history::History;
pub use info::{EntryInfo, EntryKind, Flags, ParamInfo, Suggest};
pub use output::{LineKind, LineOutcome, LineRun, Output, OutputLine};
pub use snapshot::ConsoleSnapshot;
pub use source::Source;
