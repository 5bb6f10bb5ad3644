//! Live suggestions: functions over the game that say what an argument may be.

use std::rc::Rc;
use std::time::Duration;

use sc_core::{Cx, Report, ReportKind};

use super::console;
use crate::reports;
use crate::run::game_world;
use crate::source::Source;

/// Asks the function of a parameter on behalf of a source. It gets what is typed so far. A panic in it is reported.
pub(crate) fn suggest<H>(
    cx: &mut Cx<'_, H>,
    folded: &str,
    param: usize,
    typed: &str,
    source: Source,
) -> Vec<String> {
    let entries = &console(cx).entries;
    let Some(entry) = entries.find(folded).and_then(|slot| entries.get(slot)) else {
        return Vec::new();
    };
    let Some(handler) = &entry.handler else {
        return Vec::new();
    };
    let params = Rc::clone(&handler.params);
    let Some(suggest) = params.get(param).and_then(|param| param.suggest.as_ref()) else {
        return Vec::new();
    };
    let bound = entry.binding.world;
    // Where the command itself would run.
    let world = bound.or_else(|| game_world(cx));
    // One that asks for suggestions itself gets those that need no game.
    let suggesting = &mut super::console(cx).suggesting;
    if suggesting.is_some() {
        return Vec::new();
    }
    *suggesting = Some(source);
    let outcome = cx.callback(world, Duration::ZERO, |cx| suggest.ask(cx, typed));
    super::console(cx).suggesting = None;
    cx.attend();
    outcome.unwrap_or_else(|panic| {
        let kind = ReportKind::Extension(&reports::SUGGESTION_PANICKED);
        let what = format!("its suggestions panicked: {}", panic.message());
        cx.report(Report::new(kind, what).object(folded));
        Vec::new()
    })
}
