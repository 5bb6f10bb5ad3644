//! How flows end: once, for one reason; and what ends many at once.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Duration;

use sc_core::{Culprit, Cx, Life, Panic, Report, ReportKind, WorldId};

use super::board;
use super::board::{Board, Removed, Slot};
use super::body::BoxBody;
use super::bonds::Role;
use super::table::{Row, Table};
use super::turn::panicked;
use crate::finish::FlowFinish;
use crate::id::FlowId;
use crate::join::{Awaiters, Outcome};
use crate::reports;

/// Whether everything that a flow is bound to is still there; else it can only be aborted.
///
/// # Errors
/// What the user's answer threw.
pub(crate) fn is_bound<H>(cx: &mut Cx<'_, H>, board: &Board<H>, id: FlowId) -> Result<bool, Panic> {
    let table = board.table.borrow();
    let Some(row) = table.row(id.index) else {
        return Ok(false);
    };
    let world = row.home.world;
    if world.is_some_and(|world| !cx.is_world_alive(world)) {
        return Ok(false);
    }
    let Some(extra) = table.extra(row) else {
        return Ok(true);
    };
    if extra.owner.is_some_and(|(owner, _)| !cx.is_living(owner)) {
        return Ok(false);
    }
    let Some(is_there) = extra.is_there.clone() else {
        return Ok(true);
    };
    drop(table);
    cx.callback(world, Duration::ZERO, |cx| is_there(cx))
}

/// How a flow ends that was asked to end so: as it was asked, unless what it is bound to is gone.
/// Of a panic, the flow's end is the one that follows it.
fn finish_of<H>(
    cx: &mut Cx<'_, H>,
    board: &Board<H>,
    id: FlowId,
    asked: FlowFinish,
) -> (FlowFinish, Option<Panic>) {
    match is_bound(cx, board, id) {
        Ok(true) => (asked, None),
        Ok(false) => (FlowFinish::Aborted, None),
        Err(panic) => (FlowFinish::Panicked, Some(panic)),
    }
}

/// Whether the running node is about to end: its turn is over.
pub(crate) fn is_running_node_ending<H>(cx: &mut Cx<'_, H>) -> bool {
    let board = board(cx);
    board
        .running
        .get()
        .is_some_and(|id| is_ending(cx, &board, id))
}

/// Whether a flow that has its turn was asked to end, or has lost what it is bound to: its callbacks
/// are not called any more.
pub(crate) fn is_ending<H>(cx: &mut Cx<'_, H>, board: &Board<H>, id: FlowId) -> bool {
    let table = board.table.borrow();
    let is_asked = table.row(id.index).is_none_or(|row| row.asked.is_some());
    drop(table);
    if is_asked {
        return true;
    }
    match is_bound(cx, board, id) {
        Ok(is_bound) => !is_bound,
        Err(panic) => {
            board.ask(id, FlowFinish::Panicked);
            settle_question(cx, board, id, panic);
            true
        }
    }
}

/// Deals with what a running flow's question whether something is there has thrown.
fn settle_question<H>(cx: &mut Cx<'_, H>, board: &Board<H>, id: FlowId, panic: Panic) {
    let name = board.table.borrow().name(id.index);
    cx.settle_panic(&reports::culprit(&name), panic);
}

/// Ends a flow; if it is running, when its turn is over. `false` when it has ended already, or
/// is about to.
pub(crate) fn request<H>(
    cx: &mut Cx<'_, H>,
    board: &Board<H>,
    id: FlowId,
    finish: FlowFinish,
) -> bool {
    let Some(is_running) = board.slot(id, Slot::is_running) else {
        return false;
    };
    let (finish, panic) = finish_of(cx, board, id, finish);
    if is_running {
        let is_first = board.ask(id, finish);
        if let Some(panic) = panic {
            settle_question(cx, board, id, panic);
        }
        return is_first;
    }
    match (panic, board.home(id)) {
        (Some(panic), Some(home)) => panicked(cx, &home, id, panic),
        _ => end(cx, board, id, finish),
    }
    make_reports(cx, board);
    cx.attend();
    true
}

/// Ends many flows; a panic in one does not stop the rest, and the first goes on at the end. How
/// many were ended.
pub(crate) fn request_all<H>(
    cx: &mut Cx<'_, H>,
    board: &Board<H>,
    ids: impl IntoIterator<Item = FlowId>,
    finish: FlowFinish,
) -> usize {
    let (mut ended, mut first_panic) = (0, None);
    for id in ids {
        match catch_unwind(AssertUnwindSafe(|| request(cx, board, id, finish))) {
            Ok(did) => ended += usize::from(did),
            Err(payload) => {
                ended += 1;
                first_panic.get_or_insert(payload);
            }
        }
    }
    if let Some(payload) = first_panic {
        resume_unwind(payload);
    }
    ended
}

/// Ends every flow that satisfies a condition, in order of start; how many.
pub(crate) fn cancel_where<H>(
    cx: &mut Cx<'_, H>,
    is: impl Fn(&Table<H>, &Row<H>) -> bool,
) -> usize {
    let board = board(cx);
    let ids = board.ids_where(is);
    request_all(cx, &board, ids, FlowFinish::Cancelled)
}

/// Ends a flow that is not running.
pub(crate) fn end<H>(cx: &mut Cx<'_, H>, board: &Board<H>, id: FlowId, finish: FlowFinish) {
    end_with(cx, board, id, finish, None);
}

/// Ends a flow, perhaps with the text of an error: it is finished first, and then everybody is told.
pub(crate) fn end_with<H>(
    cx: &mut Cx<'_, H>,
    board: &Board<H>,
    id: FlowId,
    finish: FlowFinish,
    failed: Option<String>,
) {
    let Some(Removed { row, extra, body }) = board.remove(id) else {
        return;
    };
    let world = row.home.world;
    let Some(mut extra) = extra else {
        if let Some(error) = failed {
            report_in(cx, world, failed_with(row.name, &error));
        }
        let panic = let_go(cx, world, body, finish, ());
        return settle(cx, row.name, panic);
    };
    if let Some(sleep) = extra.sleep.take() {
        row.home.unregister(sleep);
    }
    extra.note_end(finish);
    let made = extra.name.take();
    let name = made.as_deref().unwrap_or(row.name);
    let awaiting = std::mem::take(&mut extra.awaited_by);
    let (is_awaited, of_wakers) = tell_awaiting(cx, world, awaiting, || match &failed {
        Some(error) => Err((name.to_owned(), error.clone())),
        None => Ok(finish),
    });
    if let (Some(error), false) = (&failed, is_awaited) {
        report_in(cx, world, failed_with(name, error));
    }
    let bound_by = (extra.waker.take(), extra.is_there.take());
    let of_body = let_go(cx, world, body, finish, bound_by);
    let told = match extra.on_finished.take() {
        Some(tell) => cx.callback(world, Duration::ZERO, |cx| tell(cx, finish)),
        None => Ok(()),
    };
    settle(cx, name, of_wakers);
    settle(cx, name, of_body);
    settle(cx, name, told.err());
}

/// Tells those who still await a flow of its outcome: whether there was one, and the first panic of their wakers.
fn tell_awaiting<H>(
    cx: &mut Cx<'_, H>,
    world: Option<WorldId>,
    awaiting: Awaiters,
    outcome: impl Fn() -> Outcome,
) -> (bool, Option<Panic>) {
    let (mut is_awaited, mut of_wakers) = (false, None);
    for ending in awaiting {
        // Asked in its turn: a waker may have let go of it.
        if ending.is_awaited() {
            is_awaited = true;
            if let Some(waker) = ending.tell(outcome()) {
                let woken = cx.callback(world, Duration::ZERO, |_| waker.wake());
                of_wakers = of_wakers.or(woken.err());
            }
        }
    }
    (is_awaited, of_wakers)
}

/// Tells those who await a flow that will never start.
pub(crate) fn tell_of_unstarted<H>(cx: &mut Cx<'_, H>, board: &Board<H>) {
    let mut of_wakers = None;
    for (id, finish) in board.pending.take_unstarted() {
        let awaiting = board.table.borrow_mut().take_awaiting(id);
        let world = cx.world();
        let (_, woken) = tell_awaiting(cx, world, awaiting, || Ok(finish));
        of_wakers = of_wakers.or(woken);
    }
    settle(cx, "that has not started", of_wakers);
}

/// An error that nobody takes.
pub(crate) fn failed_with(name: &str, error: &str) -> Report {
    let kind = ReportKind::Extension(&reports::FLOW_FAILED);
    Report::new(kind, format!("ended with an error: {error}")).object(name)
}

fn report_in<H>(cx: &mut Cx<'_, H>, world: Option<WorldId>, mut report: Report) {
    report.world = world.and_then(|world| cx.runtime().world_name(world));
    cx.report(report);
}

/// Makes the reports of flows that could not make them themselves.
pub(crate) fn make_reports<H>(cx: &mut Cx<'_, H>, board: &Board<H>) {
    let reports = board.table.borrow_mut().take_reports();
    for (world, report) in reports {
        report_in(cx, world, report);
    }
}

/// Tells a node's gameplay, and drops a body and what goes with it; gives what that threw.
fn let_go<H>(
    cx: &mut Cx<'_, H>,
    world: Option<WorldId>,
    body: Option<BoxBody<H>>,
    finish: FlowFinish,
    with_it: impl Sized,
) -> Option<Panic> {
    let told = cx.callback(world, Duration::ZERO, |cx| {
        let mut body = body;
        if let Some(body) = &mut body
            && finish.reaches_gameplay()
        {
            body.as_mut().finished(cx, finish);
        }
        // Guards in it run, with access to host and runtime; the body does not go on.
        cx.enter(|| drop((body, with_it)));
    });
    told.err()
}

/// Deals with what the end of a flow has thrown.
pub(crate) fn settle<H>(cx: &mut Cx<'_, H>, name: &str, panic: Option<Panic>) {
    if let Some(panic) = panic {
        let fix = "fix the panic in the flow's finish callback or destructor; the flow has ended";
        let culprit = Culprit::new(format!("flow `{name}`"), fix);
        cx.settle_panic(&culprit, panic);
    }
}

/// The teardown of a world: its flows end, newest first.
pub(crate) fn world_ends<H>(cx: &mut Cx<'_, H>, world: WorldId) {
    let board = board(cx);
    let ids = board.ids_where(|_, row| row.home.world == Some(world));
    request_all(cx, &board, ids.into_iter().rev(), FlowFinish::Aborted);
}

/// The end of the runtime: what is left ends, newest first.
pub(crate) fn runtime_ends<H>(cx: &mut Cx<'_, H>) {
    let board = board(cx);
    let ids = board.ids_where(|_, _| true);
    request_all(cx, &board, ids.into_iter().rev(), FlowFinish::Aborted);
}

/// Lives have ended: what was bound to them ends, however long it would have slept, and what waits
/// for a condition of theirs is told.
pub(crate) fn lives_ended<H>(cx: &mut Cx<'_, H>, lives: &[Life]) {
    let board = board(cx);
    let table = board.table.borrow();
    let bound: Vec<(FlowId, Role)> = lives
        .iter()
        .flat_map(|&life| table.bonds.of(life))
        .collect();
    drop(table);
    let (owned, waiting): (Vec<_>, Vec<_>) = bound
        .into_iter()
        .partition(|&(_, role)| role == Role::Owner);
    for (flow, _) in waiting {
        // In its next turn, which comes now, it finds the life ended.
        if let Some(home) = board.home(flow) {
            home.wake(flow);
        }
    }
    let owned = owned.into_iter().map(|(flow, _)| flow);
    request_all(cx, &board, owned, FlowFinish::Aborted);
}
