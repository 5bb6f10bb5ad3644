//! The errors of the console: why something was not registered, not set, not read.

use std::path::PathBuf;

use sc_core::TickError;

use crate::arg::ArgError;
use crate::variable::SetBy;

/// Why a command or a variable was not registered. Nothing has changed; one warning says the same.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// The name has no text.
    #[error("a command or variable needs a name: give one such as `MyGame.Open`")]
    EmptyName,
    /// The name has not the form of one.
    #[error(
        "`{name}` is no name: {fault}; a name is made of letters, digits, `_` and `-`, in parts with dots between"
    )]
    IllFormedName {
        /// The name.
        name: String,
        /// What is wrong with it.
        fault: String,
    },
    /// The name lies in the group `SC.`.
    #[error(
        "`{name}` is reserved: names that start with `SC.` are the console's own; take a group of your own"
    )]
    ReservedName {
        /// The name.
        name: String,
    },
    /// Something else has the name.
    #[error("`{name}` is taken: {by}; {fix}")]
    NameTaken {
        /// The name.
        name: String,
        /// Who has it.
        by: String,
        /// What can be done.
        fix: &'static str,
    },
    /// The parameters do not go together, or a default is not allowed.
    #[error("the parameters of `{name}` are at fault: {fault}")]
    BadParameters {
        /// The name.
        name: String,
        /// What is wrong with them.
        fault: String,
    },
    /// There is no live world to bind it to.
    #[error(
        "`{name}` needs a live world: register it from a callback of one, name one with `.world(id)`, or bind it to the runtime with `.runtime()`"
    )]
    NoLiveWorld {
        /// The name.
        name: String,
    },
    /// The owner it was to be bound to is gone or not initialized.
    #[error("`{name}` cannot be bound to its owner: {why}")]
    NoOwner {
        /// The name.
        name: String,
        /// What the owner answered.
        why: TickError,
    },
    /// The runtime was shut down.
    #[error("the runtime was shut down and registers nothing any more: make a new one")]
    ShutDown,
}

/// Why a variable was not set, or not read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VariableError {
    /// There is no variable of the name.
    #[error("there is no variable `{name}`{}: register it first", crate::error::did_you_mean(.nearest.as_deref()))]
    Unknown {
        /// The name.
        name: String,
        /// What may have been meant.
        nearest: Option<String>,
    },
    /// The variable is gone with its owner or world.
    #[error("the variable is gone: its key is stale")]
    Gone,
    /// A static variable whose declaration is at fault, or that was not collected here.
    #[error(
        "`{name}` is not live: see the report made when the console started, or add it by `add_variables`"
    )]
    NotLive {
        /// The name.
        name: &'static str,
    },
    /// The text is no value of its type, or not a number, or out of range.
    #[error("`{name}` was not set: {error}")]
    Refused {
        /// The name.
        name: String,
        /// What was expected.
        error: ArgError,
    },
    /// Someone of a higher priority has set it.
    #[error(
        "`{name}` was not set: it was set by {by}, and {asked} does not override that; `reset {name}` clears it"
    )]
    LowerPriority {
        /// The name.
        name: String,
        /// Who set it.
        by: SetBy,
        /// Who wanted to.
        asked: SetBy,
    },
    /// It may not be set so: by a file or the command line, or by a value that is none.
    #[error("`{name}` was not set: {why}")]
    NotAllowed {
        /// The name.
        name: String,
        /// Why.
        why: String,
    },
}

/// Why a file was not read or not written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The system refused.
    #[error("cannot {action} {}: {error}", .path.display())]
    Io {
        /// What was to be done.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
    /// It is not TOML.
    #[error("{} is no TOML: {message}; mend it, or move it away", .path.display())]
    NotToml {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// It is TOML, and what it holds cannot be used.
    #[error("{}: {fault}", .path.display())]
    BadConfig {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, and how to mend it.
        fault: String,
    },
    /// It is not UTF-8.
    #[error("{} is not UTF-8 text: save it as such", .path.display())]
    NotText {
        /// The file.
        path: PathBuf,
    },
    /// It is no regular file.
    #[error("{} is no regular file: name a file, not a folder, a pipe or a device", .path.display())]
    NotAFile {
        /// The file.
        path: PathBuf,
    },
    /// It is marked so that nobody writes it.
    #[error("{} is marked read-only: make it writable, or name another file", .path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// It is too long.
    #[error("{} is longer than {limit} bytes: {fix}", .path.display())]
    TooLong {
        /// The file.
        path: PathBuf,
        /// The limit.
        limit: u64,
        /// What can be done.
        fix: &'static str,
    },
    /// It would be too long to be read again.
    #[error("{} was not written: it would be longer than {limit} bytes, and could not be read again; the longest value is that of `{name}`, {bytes} bytes: shorten it, or what else is in the file", .path.display())]
    WouldBeTooLong {
        /// The file.
        path: PathBuf,
        /// The limit.
        limit: u64,
        /// The variable whose value is the longest.
        name: String,
        /// How long that is in the file.
        bytes: usize,
    },
    /// There is no folder of scripts.
    #[error("there is no folder of scripts: set `console_settings().script_root`")]
    NoScriptRoot,
    /// There is no such script.
    #[error("there is no script `{path}`{}: `exec` alone lists them", crate::error::did_you_mean(.nearest.as_deref()))]
    NoScript {
        /// The path as it was given.
        path: String,
        /// What may have been meant.
        nearest: Option<String>,
    },
    /// The path of the script is empty.
    #[error("a script needs a name: `exec` alone lists the scripts there are")]
    NoScriptName,
    /// A link leads out of the folder of scripts.
    #[error(
        "`{path}` leads out of the folder of scripts, by a link: put the file itself in the folder"
    )]
    LinkLeadsOut {
        /// The path as it was given.
        path: String,
    },
    /// The path is none in the folder of scripts.
    #[error("`{path}` is not in the folder of scripts: name a file in it, without `..`")]
    OutsideRoot {
        /// The path as it was given.
        path: String,
    },
    /// It has not the extension of scripts.
    #[error("`{path}` is no script: scripts end in `.cfg`")]
    WrongExtension {
        /// The path as it was given.
        path: String,
    },
}

/// The end of a message that names the nearest name.
pub(crate) fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"))
}
