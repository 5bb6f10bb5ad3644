//! The kinds of report that a terminal makes.

use sc_core::{ExtensionReport, Severity};

/// A terminal could not read.
pub(super) static TERMINAL_INPUT_FAILED: ExtensionReport = ExtensionReport {
    name: "TerminalInputFailed",
    severity: Severity::Error,
    fix: "look at what the terminal reads from; it has ended, start another one to go on",
};

/// A terminal could not write.
pub(super) static TERMINAL_OUTPUT_FAILED: ExtensionReport = ExtensionReport {
    name: "TerminalOutputFailed",
    severity: Severity::Error,
    fix: "look at what the terminal writes to; it has ended, start another one to go on",
};

/// The history could not be kept.
pub(super) static TERMINAL_HISTORY_FAILED: ExtensionReport = ExtensionReport {
    name: "TerminalHistoryFailed",
    severity: Severity::Warning,
    fix: "make the history file writable; the terminal goes on without keeping lines in it",
};

/// The editor of a terminal panicked.
pub(super) static TERMINAL_PANICKED: ExtensionReport = ExtensionReport {
    name: "TerminalPanicked",
    severity: Severity::Error,
    fix: "fix the panic, if it is in code of yours that the terminal calls; it has ended, start another one to go on",
};
