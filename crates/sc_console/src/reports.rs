//! The kinds of report that the console makes.

use sc_core::{ExtensionReport, Severity};

/// A command or variable was not registered.
pub(crate) static NOT_REGISTERED: ExtensionReport = ExtensionReport {
    name: "NotRegistered",
    severity: Severity::Warning,
    fix: "do what the text says",
};

/// Two static declarations have one name.
pub(crate) static DECLARED_TWICE: ExtensionReport = ExtensionReport {
    name: "DeclaredTwice",
    severity: Severity::Error,
    fix: "rename one of the two; until then the first, by file and line, is live",
};

/// A static declaration is at fault and not live.
pub(crate) static BAD_DECLARATION: ExtensionReport = ExtensionReport {
    name: "BadDeclaration",
    severity: Severity::Error,
    fix: "correct the declaration; until then it is not live",
};

/// An alias has lost its name.
pub(crate) static ALIAS_LOST: ExtensionReport = ExtensionReport {
    name: "AliasLost",
    severity: Severity::Warning,
    fix: "give the line another name by `alias`, or take this one away by `alias` with an empty line",
};

/// A static command was run while there was no game world.
pub(crate) static NO_GAME_WORLD: ExtensionReport = ExtensionReport {
    name: "NoGameWorld",
    severity: Severity::Warning,
    fix: "run it while a game world exists, or declare it `[anytime]`",
};

/// The body of a command panicked.
pub(crate) static COMMAND_PANICKED: ExtensionReport = ExtensionReport {
    name: "CommandPanicked",
    severity: Severity::Error,
    fix: "fix the panic in the command's body; the command stays registered",
};

/// A variable panicked while the console used it.
pub(crate) static VARIABLE_PANICKED: ExtensionReport = ExtensionReport {
    name: "VariablePanicked",
    severity: Severity::Error,
    fix: "fix the panic in the variable's type or in what is told of its changes; the variable stays registered",
};

/// A function that suggests arguments panicked.
pub(crate) static SUGGESTION_PANICKED: ExtensionReport = ExtensionReport {
    name: "SuggestionPanicked",
    severity: Severity::Error,
    fix: "fix the panic in the function given to `#[suggest = ..]`; there are no suggestions",
};

/// Two projects' registries want to be the registry.
pub(crate) static REGISTRIES_COMPETE: ExtensionReport = ExtensionReport {
    name: "RegistriesCompete",
    severity: Severity::Error,
    fix: "provide one registry type; until then the default one is live",
};

/// Callbacks of variables keep setting each other.
pub(crate) static VARIABLES_CHASE: ExtensionReport = ExtensionReport {
    name: "VariablesChase",
    severity: Severity::Error,
    fix: "let the callbacks come to rest: set a variable to what it is already, or not at all",
};

/// A value that waited for its variable, or lay in a file, was refused.
pub(crate) static VALUE_REFUSED: ExtensionReport = ExtensionReport {
    name: "ValueRefused",
    severity: Severity::Warning,
    fix: "correct the value where it comes from; the variable stays as it is",
};

/// The startup script did not run to its end.
pub(crate) static STARTUP_FAILED: ExtensionReport = ExtensionReport {
    name: "StartupFailed",
    severity: Severity::Error,
    fix: "correct the script, or do not call `run_startup_script`",
};

/// A line was queued in a runtime that has ended, by who was told so.
pub(crate) static LINE_AFTER_END: ExtensionReport = ExtensionReport {
    name: "LineAfterEnd",
    severity: Severity::Warning,
    fix: "queue no line when one ends as `LineOutcome::Cancelled` and `cx.runtime().is_shut_down()`; its `done` is not called",
};

/// What to do about a callback of a variable that panicked.
pub(crate) const CHANGE_FIX: &str =
    "fix the panic in the callback of the variable; the variable is set all the same";

/// What to do about a registry that panicked.
pub(crate) const REGISTRY_FIX: &str = "fix the panic in the registry's own code";

/// What to do about a caller of a line that panicked when it was told of the end.
pub(crate) const DONE_FIX: &str = "fix the panic in the closure given to `queue_line`";
