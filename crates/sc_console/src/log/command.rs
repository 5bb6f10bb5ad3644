//! The command on the log's filter.

use sc_core::Cx;

use super::LogExt;
use crate::command::CommandDef;
use crate::{CommandError, Output, dynamic_command};

/// `SC.Log.Filter`.
pub(crate) fn all<H>() -> Vec<CommandDef<H>> {
    vec![dynamic_command! {
        /// Says which events the log catches, or sets it, until it is set again. Others that listen to
        /// the log keep their own filters.
        SC.Log.Filter (
            /// Levels (off, error, warn, info, debug, trace) for targets, and one for everything else, with
            /// commas between them: `warn,stillcooking=trace`. What nothing is said about is off. Without
            /// a filter, the present one is shown.
            #[suggest = filters::<H>]
            filter: Option<String>,
        ) |cx: &mut Cx<'_, H>, out| {
            set_or_show(cx, filter.as_deref(), out)
        }
    }]
}

/// What could follow what is typed: a level, or our own target with one.
fn filters<H>(_: &mut Cx<'_, H>, typed: &str) -> Vec<String> {
    let end = typed.rfind([',', '=']).map_or(0, |at| at + 1);
    let (before, rest) = typed.split_at(end);
    let levels = ["error", "warn", "info", "debug", "trace", "off"];
    let mut next: Vec<String> = levels.map(|level| format!("{before}{level}")).into();
    if !before.ends_with('=') && !rest.contains('=') {
        next.push(format!("{before}stillcooking="));
    }
    next
}

fn set_or_show<H>(
    cx: &mut Cx<'_, H>,
    filter: Option<&str>,
    out: &mut Output,
) -> Result<(), CommandError> {
    let ring = cx.attached_log().ok_or(
        "no log is attached to this runtime: the program does it with `cx.attach_log(&ring)`",
    )?;
    if let Some(filter) = filter {
        let set = ring.set_filter(filter);
        set.map_err(|error| CommandError::at("filter", error))?;
    }
    writeln!(out, "the log catches {}", ring.filter())?;
    Ok(())
}
