//! The `Flows` stage: whose turn it is, and one turn.
//!
//! In each home: (1) waits that are over, clocks in table order, each by (deadline, sequence);
//! (2) those woken since the last stage; (3) first polls and those that run every frame, one list
//! in order of start; (4) those woken in this stage. First woken, first run.

use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use sc_core::{Clock, Culprit, Cx, Report, ReportKind};

use super::home::{Home, Local, Times, Waiter};
use super::{Body, Flow, Request, WorldHome, end, flows};
use crate::error::FlowError;
use crate::finish::FlowFinish;
use crate::id::FlowId;
use crate::list::WaitingFor;
use crate::node::Next;
use crate::reports;
use crate::watch;

/// How often a flow may run in one stage before it has to wait for the next frame.
pub(crate) const POLL_CAP: u32 = 100;

fn nanos(of: Duration) -> u64 {
    u64::try_from(of.as_nanos()).unwrap_or(u64::MAX)
}

pub(crate) fn world_stage<H>(cx: &mut Cx<'_, H>) {
    let Some(world) = cx.world() else {
        return;
    };
    let Ok(WorldHome(Some(home))) = cx.world_state::<WorldHome>(world) else {
        return;
    };
    let home = Rc::clone(home);
    let Ok(readings) = cx.readings(world) else {
        return;
    };
    let times = Times {
        now: readings.elapsed.map(nanos),
        delta: readings.delta.map(nanos),
        frame: cx.frame(),
        paused: readings.paused,
        paused_frames: 0,
    };
    run_home(cx, &home, times);
}

pub(crate) fn runtime_stage<H>(cx: &mut Cx<'_, H>) {
    let (now, delta) = (nanos(cx.runtime_elapsed()), nanos(cx.delta()));
    let home = Rc::clone(&flows(cx).home);
    let times = Times {
        now: [now; 4],
        delta: [delta; 4],
        frame: cx.frame(),
        paused: false,
        paused_frames: 0,
    };
    run_home(cx, &home, times);
    flows(cx).watch.now = now;
    watch::look(cx, now);
}

fn run_home<H>(cx: &mut Cx<'_, H>, home: &Rc<Home>, mut times: Times) {
    {
        let inner = &mut *home.inner.borrow_mut();
        times.paused_frames = inner.times.paused_frames + u64::from(times.paused);
        inner.times = times;
        if inner.is_empty() {
            return;
        }
    }
    let mut scratch = std::mem::take(&mut flows(cx).scratch);
    // (1)
    home.inner.borrow_mut().take_due(&mut scratch.due);
    for waiter in scratch.due.drain(..) {
        match waiter {
            Waiter::Flow(local) | Waiter::Frame(local, _) => run_local(cx, home, local, true),
            Waiter::Foreign(index) => {
                let waker = home.inner.borrow_mut().take_foreign(index);
                waker.into_iter().for_each(Waker::wake);
            }
        }
    }
    // (2)
    distribute(cx, &mut scratch.ids);
    home.inner.borrow_mut().take_woken(&mut scratch.woken);
    for local in scratch.woken.drain(..) {
        run_local(cx, home, local, false);
    }
    // (3)
    let length = {
        let inner = &mut *home.inner.borrow_mut();
        inner.take_frame_due(&mut scratch.due, &mut scratch.wakers);
        inner.list_frame()
    };
    scratch.wakers.drain(..).for_each(Waker::wake);
    for at in 0..length {
        let turn = home.inner.borrow_mut().frame_turn(at);
        if let Some(local) = turn {
            run_local(cx, home, local, true);
        }
    }
    home.inner.borrow_mut().unlist_idle();
    // (4)
    loop {
        distribute(cx, &mut scratch.ids);
        home.inner.borrow_mut().take_woken(&mut scratch.woken);
        if scratch.woken.is_empty() {
            break;
        }
        let mut ran = false;
        for local in scratch.woken.drain(..) {
            ran |= run_woken(cx, home, local);
        }
        if !ran {
            break;
        }
    }
    flows(cx).scratch = scratch;
}

/// Hands wakes from outside to the homes of those who were woken.
fn distribute<H>(cx: &mut Cx<'_, H>, ids: &mut Vec<FlowId>) {
    let state = flows(cx);
    state.inbox.take(ids);
    for id in ids.drain(..) {
        if let Some(flow) = state.get(id) {
            flow.home.wake(flow.local);
        }
    }
}

/// Runs a flow that was woken in this stage, unless it has run too often; then it goes on next
/// frame. Whether it ran.
fn run_woken<H>(cx: &mut Cx<'_, H>, home: &Rc<Home>, local: Local) -> bool {
    let Some(slot) = home.inner.borrow().slot(local) else {
        return false;
    };
    let state = flows(cx);
    let Some(id) = state.id(slot) else {
        return false;
    };
    let Some(flow) = state.get_mut(id) else {
        return false;
    };
    if flow.polled_in == home.times().frame && flow.polls >= POLL_CAP {
        home.want_frame(local, home.times().frame + 1, flow.clock);
        if !flow.cap_reported {
            flow.cap_reported = true;
            let name = flow.name.clone();
            let what = format!("woke itself more than {POLL_CAP} times in one frame");
            let kind = ReportKind::Extension(&reports::SELF_WAKING);
            cx.report(Report::new(kind, what).object(name));
        }
        return false;
    }
    run_local(cx, home, local, false);
    true
}

/// Runs a flow if it still should. `on_time`: what it runs for is a clock that is running.
fn run_local<H>(cx: &mut Cx<'_, H>, home: &Rc<Home>, local: Local, on_time: bool) {
    let Some(slot) = home.inner.borrow().slot(local) else {
        return;
    };
    let state = flows(cx);
    let Some(id) = state.id(slot) else {
        return;
    };
    let Some(flow) = state.get_mut(id) else {
        return;
    };
    let times = home.times();
    if flow.paused {
        flow.missed = true;
        return;
    }
    if times.paused && flow.clock.stops_while_paused() && !on_time {
        // Held until its clock runs; it keeps its place.
        home.want_frame(local, times.frame + 1, flow.clock);
        return;
    }
    if let Some(owner) = flow.owner
        && !cx.is_living(owner)
    {
        end::end(cx, id, FlowFinish::Aborted);
        return;
    }
    run(cx, home, id, times);
}

/// One turn of a flow.
fn run<H>(cx: &mut Cx<'_, H>, home: &Rc<Home>, id: FlowId, times: Times) {
    let Some(flow) = flows(cx).get_mut(id) else {
        return;
    };
    let Some(mut body) = flow.body.take() else {
        return;
    };
    if flow.polled_in != times.frame {
        flow.polled_in = times.frame;
        flow.polls = 0;
    }
    flow.polls += 1;
    flow.sleep = None;
    let (local, clock) = (flow.local, flow.clock);
    let own_waker = flow.waker.clone();
    let outer = flows(cx).running.replace(id);
    let outcome = match &mut body {
        Body::Node(node) => {
            let now = times.now[node.clock() as usize];
            let delta = Duration::from_nanos(times.delta[clock as usize]);
            cx.callback(home.world, delta, |cx| node.turn(cx, now))
        }
        Body::Future(future) => poll(cx, home, local, id, own_waker, &mut |context| {
            future.as_mut().poll(context)
        }),
    };
    flows(cx).running = outer;
    let Some(flow) = flows(cx).get_mut(id) else {
        return;
    };
    flow.body = Some(body);
    match outcome {
        Err(panic) => {
            let mut culprit = Culprit::new(format!("flow `{}`", flow.name), reports::PANIC_FIX);
            if let Some(world) = home.world
                && let Ok(info) = cx.world_info(world)
            {
                culprit = culprit.world(info.name);
            }
            end::end(cx, id, FlowFinish::Panicked);
            cx.settle_panic(&culprit, panic);
        }
        Ok(next) => after(cx, home, id, next, times),
    }
    cx.attend();
}

/// What follows from a turn.
fn after<H>(cx: &mut Cx<'_, H>, home: &Rc<Home>, id: FlowId, next: Next, times: Times) {
    let now = nanos(cx.runtime_elapsed());
    let state = flows(cx);
    let Some(flow) = state.get_mut(id) else {
        return;
    };
    // What was asked for before the turn was over wins over its answer.
    if let Request::End(finish) = flow.request {
        end::end(cx, id, finish);
        return;
    }
    match next {
        Next::End(finish) => {
            end::end(cx, id, finish);
            return;
        }
        Next::Frame => home.want_frame(flow.local, times.frame + 1, flow.clock),
        Next::At(deadline) => flow.sleep = Some(home.sleep(flow.local, flow.clock, deadline)),
        Next::Parked => {}
    }
    let waiting_for = match &flow.body {
        Some(Body::Node(node)) => node.waiting_for(),
        _ => WaitingFor::Await,
    };
    if flow.waiting_for != waiting_for {
        flow.waiting_for = waiting_for;
        flow.since = now;
        flow.warned = false;
        let threshold = match waiting_for {
            WaitingFor::Continue => state.watch.suspended,
            WaitingFor::Condition => state.watch.waiting,
            _ => None,
        };
        state.watch.begins(now, threshold);
    }
}

type PollFn<'f> = &'f mut dyn FnMut(&mut Context<'_>) -> Poll<Result<(), FlowError>>;

/// Polls a future. At first with the waker that all share; if the poll has kept a clone of that,
/// once more with a waker of the flow's own.
fn poll<H>(
    cx: &mut Cx<'_, H>,
    home: &Rc<Home>,
    local: Local,
    id: FlowId,
    own: Option<Waker>,
    future: PollFn<'_>,
) -> Result<Next, sc_core::Panic> {
    let delta = Duration::from_nanos(times_delta(home));
    let state = flows(cx);
    let (waker, shared) = match own {
        Some(own) => (own, None),
        None => (
            state.first_waker.clone(),
            Some(Arc::clone(&state.shared_waker)),
        ),
    };
    let kept_before = shared.as_ref().map_or(0, Arc::strong_count);
    let outer = home.current.replace(Some(local));
    let outer_waker = home.waker.replace(waker.data().addr());
    let mut outcome = cx.callback(home.world, delta, |cx| {
        cx.enter(|| future(&mut Context::from_waker(&waker)))
    });
    let kept_after = shared.as_ref().map_or(0, Arc::strong_count);
    if kept_after > kept_before && matches!(outcome, Ok(Poll::Pending)) {
        let own = flows(cx).own_waker(id);
        if let Some(flow) = flows(cx).get_mut(id) {
            flow.waker = Some(own.clone());
        }
        home.waker.set(own.data().addr());
        outcome = cx.callback(home.world, delta, |cx| {
            cx.enter(|| future(&mut Context::from_waker(&own)))
        });
    }
    home.current.set(outer);
    home.waker.set(outer_waker);
    match outcome? {
        Poll::Pending => Ok(Next::Parked),
        Poll::Ready(Ok(())) => Ok(Next::End(FlowFinish::Completed)),
        Poll::Ready(Err(error)) => {
            end::failed(cx, id, &error);
            Ok(Next::End(FlowFinish::Completed))
        }
    }
}

fn times_delta(home: &Home) -> u64 {
    home.times().delta[Clock::Game as usize]
}

impl<H> Flow<H> {
    pub(crate) fn is_running(&self) -> bool {
        self.body.is_none()
    }
}
