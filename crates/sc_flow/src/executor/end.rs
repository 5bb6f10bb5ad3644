//! How flows end: once, for one reason; and what ends many at once.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Duration;

use sc_core::{Culprit, Cx, Life, Report, ReportKind, WorldId};

use super::{Body, Flow, Request, flows};
use crate::finish::FlowFinish;
use crate::id::FlowId;
use crate::reports;

/// Whether what a flow is bound to is there no more: then it can only be aborted.
pub(crate) fn is_unbound<H>(cx: &mut Cx<'_, H>, id: FlowId) -> bool {
    let Some(flow) = flows(cx).get(id) else {
        return true;
    };
    let (world, owner) = (flow.home.world, flow.owner);
    world.is_some_and(|world| !cx.is_world_alive(world))
        || owner.is_some_and(|owner| !cx.is_living(owner))
}

/// Whether the running flow is about to end: its turn is over.
pub(crate) fn is_ending<H>(cx: &mut Cx<'_, H>) -> bool {
    let state = flows(cx);
    let Some(id) = state.running else {
        return false;
    };
    let asked = state.get(id).is_none_or(|f| f.request != Request::None);
    asked || is_unbound(cx, id)
}

/// Ends a flow; if it is running, when its turn is over. `false` when it has ended already, or
/// is about to.
pub(crate) fn request<H>(cx: &mut Cx<'_, H>, id: FlowId, finish: FlowFinish) -> bool {
    let finish = if is_unbound(cx, id) {
        FlowFinish::Aborted
    } else {
        finish
    };
    let is_running = flows(cx).is_running(id);
    let Some(flow) = flows(cx).get_mut(id) else {
        return false;
    };
    if is_running {
        flow.home.asked.set(true);
        let first = flow.request == Request::None;
        if first {
            flow.request = Request::End(finish);
        }
        return first;
    }
    end(cx, id, finish);
    cx.attend();
    true
}

/// Ends many flows; a panic in one does not stop the rest, and the first goes on at the end. How
/// many were ended.
pub(crate) fn request_all<H>(
    cx: &mut Cx<'_, H>,
    ids: impl IntoIterator<Item = FlowId>,
    finish: FlowFinish,
) -> usize {
    let (mut ended, mut first_panic) = (0, None);
    for id in ids {
        match catch_unwind(AssertUnwindSafe(|| request(cx, id, finish))) {
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

/// Ends a flow that is not running: it is finished first, and then everybody is told.
pub(crate) fn end<H>(cx: &mut Cx<'_, H>, id: FlowId, finish: FlowFinish) {
    let state = flows(cx);
    let Some(flow) = state.remove(id) else {
        return;
    };
    let body = state.bodies.take(id.index);
    let Flow {
        home,
        local,
        name,
        sleep,
        on_finished,
        awaited_by,
        waker,
        failed,
        finish: task,
        ..
    } = flow;
    home.leave(local);
    if let Some(sleep) = sleep {
        home.unregister(sleep);
    }
    if let Some(task) = task {
        task.set(Some(finish));
    }
    let world = home.world;
    // An error is the flow's own answer: one that was ended otherwise has given none.
    let failed = failed.filter(|_| finish == FlowFinish::Completed);
    let outcome = failed.map_or(Ok(finish), Err);
    let mut is_awaited = false;
    for awaiter in awaited_by {
        if !awaiter.ending.is_dropped.get() {
            is_awaited = true;
            awaiter.tell(outcome.clone());
        }
    }
    if let (Err(error), false) = (&outcome, is_awaited) {
        let kind = ReportKind::Extension(&reports::FLOW_FAILED);
        let what = format!("ended with an error: {error}");
        let mut report = Report::new(kind, what).object(name.clone());
        report.world = world.and_then(|world| Some(cx.world_info(world).ok()?.name));
        cx.report(report);
    }
    let mut first_panic = None;
    let told = cx.callback(world, Duration::ZERO, |cx| match body {
        // Guards in it run, with access to host and runtime; the body does not go on.
        Some(Body::Future(future)) => cx.enter(|| drop((future, waker))),
        Some(Body::Node(mut node)) => {
            if finish.reaches_gameplay() {
                node.finished(cx, finish);
            }
            cx.enter(|| drop(node));
        }
        None => {}
    });
    first_panic = first_panic.or(told.err());
    if let Some(tell) = on_finished {
        let told = cx.callback(world, Duration::ZERO, |cx| tell(cx, finish));
        first_panic = first_panic.or(told.err());
    }
    if let Some(panic) = first_panic {
        let fix = "fix the panic in the flow's finish callback or destructor; the flow has ended";
        cx.settle_panic(&Culprit::new(format!("flow `{name}`"), fix), panic);
    }
}

/// The teardown of a world: its flows end, newest first.
pub(crate) fn world_ends<H>(cx: &mut Cx<'_, H>, world: WorldId) {
    let ids = flows(cx).ids_where(|flow| flow.home.world == Some(world));
    request_all(cx, ids.into_iter().rev(), FlowFinish::Aborted);
}

/// The end of the runtime: what is left ends, newest first.
pub(crate) fn runtime_ends<H>(cx: &mut Cx<'_, H>) {
    let ids = flows(cx).ids_where(|_| true);
    request_all(cx, ids.into_iter().rev(), FlowFinish::Aborted);
}

/// Owners are gone: what was bound to them ends, however long it would have slept.
pub(crate) fn lives_ended<H>(cx: &mut Cx<'_, H>, lives: &[Life]) {
    let state = flows(cx);
    let bound = lives.iter().filter_map(|life| state.by_owner.remove(life));
    let bound: Vec<FlowId> = bound.flatten().collect();
    request_all(cx, bound, FlowFinish::Aborted);
}
