//! How flows end: once, for one reason; and what ends many at once.

use std::time::Duration;

use sc_core::{Culprit, Cx, Life, Report, ReportKind, WorldId};

use super::{Body, Flow, Request, flows};
use crate::error::FlowError;
use crate::finish::FlowFinish;
use crate::id::FlowId;
use crate::reports;

/// Ends a flow; if it is running, when its turn is over. `false` when it has ended already, or
/// is about to.
pub(crate) fn request<H>(cx: &mut Cx<'_, H>, id: FlowId, finish: FlowFinish) -> bool {
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
        ..
    } = flow;
    home.leave(local);
    if let Some(sleep) = sleep {
        home.unregister(sleep);
    }
    for awaiter in awaited_by {
        awaiter.tell(finish);
    }
    let world = home.world;
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

/// A flow's future has ended with an error: reported, unless somebody awaits the flow.
pub(crate) fn failed<H>(cx: &mut Cx<'_, H>, id: FlowId, error: &FlowError) {
    let Some(flow) = flows(cx).get(id) else {
        return;
    };
    if !flow.awaited_by.is_empty() {
        return;
    }
    let kind = ReportKind::Extension(&reports::FLOW_FAILED);
    let mut report = Report::new(kind, format!("ended with an error: {error}"));
    report.object = Some(flow.name.clone().into_owned());
    let world = flow.home.world;
    report.world = world.and_then(|world| Some(cx.world_info(world).ok()?.name));
    cx.report(report);
}

/// The teardown of a world: its flows end, newest first.
pub(crate) fn world_ends<H>(cx: &mut Cx<'_, H>, world: WorldId) {
    let ids = flows(cx).ids_where(|flow| flow.home.world == Some(world));
    for id in ids.into_iter().rev() {
        request(cx, id, FlowFinish::Aborted);
    }
}

/// The end of the runtime: what is left ends, newest first.
pub(crate) fn runtime_ends<H>(cx: &mut Cx<'_, H>) {
    let ids = flows(cx).ids_where(|_| true);
    for id in ids.into_iter().rev() {
        request(cx, id, FlowFinish::Aborted);
    }
}

/// Owners are gone: what was bound to them ends, however long it would have slept.
pub(crate) fn lives_ended<H>(cx: &mut Cx<'_, H>, lives: &[Life]) {
    for life in lives {
        let bound = flows(cx).by_owner.remove(life).unwrap_or_default();
        for id in bound {
            request(cx, id, FlowFinish::Aborted);
        }
    }
}
