//! The kinds of report that the Bevy adapter makes.

use sc_core::{ExtensionReport, Severity};

/// What was asked for by `Commands` or a parameter could not be done.
pub(crate) static REQUEST_REFUSED: ExtensionReport = ExtensionReport {
    name: "RequestRefused",
    severity: Severity::Error,
    fix: "ask while what it needs is there; `FlowHandle::state` says that it was refused",
};

/// A resource that stands for a console variable was set to a value that is not allowed.
pub(crate) static RESOURCE_REFUSED: ExtensionReport = ExtensionReport {
    name: "ResourceRefused",
    severity: Severity::Error,
    fix: "set the resource to a value that the variable allows; it has its old value again",
};

/// A console variable was to have a resource, and is not there.
pub(crate) static VARIABLE_REFUSED: ExtensionReport = ExtensionReport {
    name: "VariableRefused",
    severity: Severity::Error,
    fix: "see why the variable is not live; the app has no such resource",
};

/// Bevy's schedules were run inside a callback of the runtime.
pub(crate) static FRAME_SKIPPED: ExtensionReport = ExtensionReport {
    name: "FrameSkipped",
    severity: Severity::Error,
    fix: "run the schedules of the main loop from a system or the app, not in a flow, a command or a tick",
};

/// Messages have left Bevy's buffer before the flow that reads them came to them.
pub(crate) static MESSAGES_MISSED: ExtensionReport = ExtensionReport {
    name: "MessagesMissed",
    severity: Severity::Error,
    fix: "come to a stream once in two updates; let a flow of its own read and keep what a slower one needs",
};

/// A plugin was added with places of its own after the one that is in force.
pub(crate) static PLACES_IGNORED: ExtensionReport = ExtensionReport {
    name: "PlacesIgnored",
    severity: Severity::Error,
    fix: "place stages in the plugin that is added first; its places are in force",
};

/// No time passes in the app.
pub(crate) static NO_TIME: ExtensionReport = ExtensionReport {
    name: "NoTime",
    severity: Severity::Warning,
    fix: "add `TimePlugin` to the app, or `MinimalPlugins` or `DefaultPlugins`",
};

/// States were given worlds, and nothing ever enters them.
#[cfg(feature = "state")]
pub(crate) static NO_STATES: ExtensionReport = ExtensionReport {
    name: "NoStates",
    severity: Severity::Error,
    fix: "add `StatesPlugin` to the app, and the state by `init_state`, `insert_state`, `add_sub_state` or `add_computed_state`",
};
