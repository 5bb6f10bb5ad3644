//! The kinds of report that flows make.

use sc_core::{Culprit, ExtensionReport, Severity};

/// A flow was to be started where there is no live world.
pub(crate) static FLOW_WITHOUT_WORLD: ExtensionReport = ExtensionReport {
    name: "FlowWithoutWorld",
    severity: Severity::Error,
    fix: "start it from a callback of a world, name one with `.world(id)`, or bind it to the runtime",
};

/// A loop has been parked for longer than the threshold.
pub(crate) static LOOP_PARKED: ExtensionReport = ExtensionReport {
    name: "LoopParked",
    severity: Severity::Warning,
    fix: "call `continue_loop`, or cancel it; `set_suspended_loop_warning` sets the threshold (0 = off)",
};

/// A wait without deadline has waited for longer than the threshold.
pub(crate) static ENDLESS_WAIT: ExtensionReport = ExtensionReport {
    name: "EndlessWait",
    severity: Severity::Warning,
    fix: "make its condition true, give it a `.timeout(..)`, or cancel it; `set_wait_until_warning` sets the threshold (0 = off)",
};

/// The object a condition belongs to is gone.
pub(crate) static CONDITION_GONE: ExtensionReport = ExtensionReport {
    name: "ConditionGone",
    severity: Severity::Error,
    fix: "cancel the wait before the object goes, or bind the flow to it by `.owner(..)`",
};

/// A flow woke itself more often in one stage than the cap allows.
pub(crate) static SELF_WAKING: ExtensionReport = ExtensionReport {
    name: "SelfWaking",
    severity: Severity::Warning,
    fix: "await `next_tick` instead of waking the flow at once; it goes on next frame",
};

/// A loop has a time budget where there is nothing to measure it by.
pub(crate) static BUDGET_WITHOUT_STOPWATCH: ExtensionReport = ExtensionReport {
    name: "BudgetWithoutStopwatch",
    severity: Severity::Warning,
    fix: "give the runtime a stopwatch by `set_stopwatch`, or use `items_per_tick`",
};

/// What a flow had run on a thread panicked.
pub(crate) static THREAD_PANICKED: ExtensionReport = ExtensionReport {
    name: "ThreadPanicked",
    severity: Severity::Error,
    fix: "fix the panic in the closure given to `run_on_thread`; the await gives `Panicked`",
};

/// A flow awaits another that awaits it.
pub(crate) static AWAIT_CIRCLE: ExtensionReport = ExtensionReport {
    name: "AwaitCircle",
    severity: Severity::Warning,
    fix: "let one of them not await the other, or race the await against a delay: as it is, neither ends",
};

/// A flow ended with an error that nobody takes.
pub(crate) static FLOW_FAILED: ExtensionReport = ExtensionReport {
    name: "FlowFailed",
    severity: Severity::Error,
    fix: "handle the error in the flow's body, or await the flow",
};

/// A flow that panicked, for the report.
pub(crate) fn culprit(name: &str) -> Culprit {
    Culprit::new(format!("flow `{name}`"), PANIC_FIX)
}

/// What to do about a flow that panicked.
const PANIC_FIX: &str = "fix the panic in the flow's body; the flow has ended `Panicked`";
