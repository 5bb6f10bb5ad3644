//! Variables: typed values that the console can show and set, one set a runtime.

mod change;
mod config;
mod declare;
mod definition;
mod ext;
mod key;
mod macros;
mod place;
mod store;

use std::fmt;

pub use change::ChangeGuard;
pub(crate) use change::{Watchers, notify, store_result};
pub use config::ConfigRead;
pub use declare::{StaticVariable, VariableEntry};
pub use definition::VariableDef;
pub use ext::VariableExt;
pub use key::{DynVariable, Variable, VariableKey};
pub(crate) use place::{install, remove, value_info};
pub(crate) use store::{VariableSlot, Variables};

/// Who set a variable, least first: a lower one does not override a higher one; equal overrides.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum SetBy {
    /// Its declaration: it has its default.
    Constructor,
    /// The configuration file.
    ConfigFile,
    /// The command line of the program.
    CommandLine,
    /// Code of the program.
    Code,
    /// The console: a line that was typed, or is in a script.
    Console,
}

impl SetBy {
    /// Whether it is no part of the program that says so, but who runs it.
    pub(crate) fn is_from_outside(self) -> bool {
        matches!(self, SetBy::ConfigFile | SetBy::CommandLine)
    }
}

impl fmt::Display for SetBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SetBy::Constructor => "its constructor",
            SetBy::ConfigFile => "the config file",
            SetBy::CommandLine => "the command line",
            SetBy::Code => "code",
            SetBy::Console => "the console",
        })
    }
}

/// What a set came to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SetOutcome {
    /// It has another value now.
    Changed,
    /// It had that value already: nobody is told.
    Unchanged,
    /// There is no such variable yet: the value waits for it.
    Waiting,
}

/// A variable as it is now.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct VariableInfo {
    /// Its name.
    pub name: String,
    /// Its text.
    pub about: String,
    /// The name of its type.
    pub type_name: String,
    /// Its value; of a secret one, `***`.
    pub value: String,
    /// Its default; of a secret one, `***`.
    pub default: String,
    /// What is allowed, as text.
    pub range: Option<String>,
    /// Who set it.
    pub set_by: SetBy,
    /// Its flags.
    pub flags: crate::info::Flags,
}
