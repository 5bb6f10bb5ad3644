//! Lines that wait: listed, and given up.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use sc_core::{Cx, Report, ReportKind};

use super::{Task, Waiting, begin_unseen, dispatch, show, tell};
use crate::output::LineOutcome;
use crate::registry::{Console, console};
use crate::reports;
use crate::source::Source;

/// A line that waits, for lists.
pub(crate) struct WaitingLine {
    pub(crate) number: u64,
    source: Source,
    waits: String,
    line: String,
}

impl fmt::Display for WaitingLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let WaitingLine {
            number,
            source,
            waits,
            line,
        } = self;
        write!(f, "{number} ({source}) waits {waits}: {line}")
    }
}

/// The lines that wait, in order of arrival, as far as a source may see them: another machine sees its own.
pub(crate) fn waiting_lines<H>(cx: &mut Cx<'_, H>, asks: Source) -> Vec<WaitingLine> {
    let now = cx.frame();
    let console = &*console(cx);
    let seen = console
        .tasks
        .waiting
        .iter()
        .filter(|(_, task)| task.may_be_seen_by(asks));
    let line = |(&number, task): (&u64, &Task<H>)| WaitingLine {
        number,
        source: task.source(),
        waits: match &task.waiting {
            Waiting::No => "for its turn".to_owned(),
            Waiting::Frame(frame) => format!("{} frames", frame.saturating_sub(now)),
            Waiting::Latent(_) => format!("for `{}`", task.output.command()),
        },
        line: shown_whole(console, task),
    };
    seen.map(line).collect()
}

/// A line that waits, as it may be shown; a script by its name, until it runs.
fn shown_whole<H>(console: &Console<H>, task: &Task<H>) -> String {
    let Some(frame) = task.frames.first() else {
        return String::new();
    };
    match (frame.text(), frame.name()) {
        ("", Some(name)) => name.to_owned(),
        _ => dispatch::shown(console, frame),
    }
}

/// Gives up a line that waits; whether there was one that the source may see.
pub(crate) fn cancel_line<H>(cx: &mut Cx<'_, H>, number: u64, asks: Source) -> bool {
    let waiting = &mut console(cx).tasks.waiting;
    let may = waiting
        .get(&number)
        .is_some_and(|task| task.may_be_seen_by(asks));
    let Some(task) = may.then(|| waiting.remove(&number)).flatten() else {
        return false;
    };
    cancel(cx, task);
    true
}

/// The runtime ends: who waits hears it, each whatever the others do.
pub(crate) fn cancel_all<H>(cx: &mut Cx<'_, H>) {
    let mut first = None;
    while let Some((_, task)) = console(cx).tasks.waiting.pop_first() {
        let told = catch_unwind(AssertUnwindSafe(|| cancel_at_end(cx, task)));
        first = first.or(told.err());
    }
    if let Some(panic) = first {
        resume_unwind(panic);
    }
}

/// The runtime has ended: a line will not run. One that is queued by who is told that is only reported: they would
/// be told for ever.
pub(super) fn cancel_at_end<H>(cx: &mut Cx<'_, H>, task: Task<H>) {
    if console(cx).tasks.telling_end {
        let line = shown_whole(console(cx), &task);
        let kind = ReportKind::Extension(&reports::LINE_AFTER_END);
        cx.report(
            Report::new(kind, "was queued by who was told that it will not run").object(line),
        );
        return cx.enter(|| drop(task));
    }
    console(cx).tasks.telling_end = true;
    let told = catch_unwind(AssertUnwindSafe(|| cancel(cx, task)));
    console(cx).tasks.telling_end = false;
    if let Err(panic) = told {
        resume_unwind(panic);
    }
}

fn cancel<H>(cx: &mut Cx<'_, H>, mut task: Task<H>) {
    begin_unseen(cx, &mut task);
    show(&mut console(cx).shown, &mut task);
    // Who would end it sees that it is not wanted any more.
    task.waiting = Waiting::No;
    tell(cx, task.done, task.output.into_run(LineOutcome::Cancelled));
}
