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
use super::{Body, Request, WorldHome, end, flows};
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
    look(cx);
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
    look(cx);
    run_home(cx, &home, times);
}

/// Warns of what seems stuck, before it has its turn.
fn look<H>(cx: &mut Cx<'_, H>) {
    let now = nanos(cx.runtime_elapsed());
    flows(cx).watch.now = now;
    watch::look(cx, now);
}

fn run_home<H>(cx: &mut Cx<'_, H>, home: &Rc<Home>, mut times: Times) {
    {
        let inner = &mut *home.inner.borrow_mut();
        times.paused_frames = inner.times.paused_frames + u64::from(times.paused);
        inner.times = times;
        home.frame.set(times.frame);
        home.paused.set(times.paused);
        if inner.is_empty() {
            return;
        }
    }
    let mut left = Left {
        home,
        scratch: std::mem::take(&mut flows(cx).scratch),
    };
    // (1)
    home.inner.borrow_mut().take_due(&mut left.scratch.due);
    left.scratch.due.reverse();
    while let Some(waiter) = left.scratch.due.pop() {
        match waiter {
            Waiter::Flow(local) | Waiter::Frame(local, _) => run_local(cx, home, local, true),
            Waiter::Foreign(index) => {
                let waker = home.inner.borrow_mut().take_foreign(index);
                waker.into_iter().for_each(Waker::wake);
            }
        }
    }
    // (2)
    left.take_woken(cx);
    while let Some(local) = left.scratch.woken.pop() {
        run_local(cx, home, local, false);
    }
    // (3)
    let length = {
        let inner = &mut *home.inner.borrow_mut();
        let scratch = &mut left.scratch;
        inner.take_frame_due(&mut scratch.due, &mut scratch.wakers);
        inner.list_frame()
    };
    left.scratch.wakers.drain(..).for_each(Waker::wake);
    run_list(cx, home, length);
    home.inner.borrow_mut().unlist_idle();
    // (4)
    loop {
        left.take_woken(cx);
        let mut ran = false;
        while let Some(local) = left.scratch.woken.pop() {
            ran |= run_woken(cx, home, local);
        }
        if !ran {
            break;
        }
    }
    flows(cx).scratch = std::mem::take(&mut left.scratch);
}

/// Those whose turn in the stage is still to come. After a panic that goes on they are woken for
/// the next one.
struct Left<'h> {
    home: &'h Home,
    scratch: super::Scratch,
}

impl Left<'_> {
    /// Takes those woken so far, the last one first.
    fn take_woken<H>(&mut self, cx: &mut Cx<'_, H>) {
        distribute(cx, &mut self.scratch.ids);
        let mut inner = self.home.inner.borrow_mut();
        inner.take_woken(&mut self.scratch.woken);
        self.scratch.woken.reverse();
    }
}

impl Drop for Left<'_> {
    fn drop(&mut self) {
        for waiter in self.scratch.due.drain(..).rev() {
            match waiter {
                Waiter::Flow(local) | Waiter::Frame(local, _) => self.home.wake(local),
                Waiter::Foreign(index) => {
                    let waker = self.home.inner.borrow_mut().take_foreign(index);
                    waker.into_iter().for_each(Waker::wake);
                }
            }
        }
        for local in self.scratch.woken.drain(..).rev() {
            self.home.wake(local);
        }
    }
}

/// What stopped the hot loop.
enum Stopped {
    /// The list is at its end.
    End,
    /// A flow whose turn needs more than a poll; it has not run.
    NotPlain(Local),
    /// A flow whose poll has more consequences than a wait.
    Polled(u32, Poll<Result<(), FlowError>>),
}

/// Runs those of the list whose frame has come, in order. The plain ones in a hot loop: as long as
/// they do nothing but wait for the next frame, nothing is looked at but their futures.
fn run_list<H>(cx: &mut Cx<'_, H>, home: &Rc<Home>, length: usize) {
    let bodies = Rc::clone(&flows(cx).bodies);
    let shared_waker = Arc::clone(&flows(cx).shared_waker);
    let waker = flows(cx).first_waker.clone();
    let delta = Duration::from_nanos(times_delta(home));
    let mut at = 0;
    let mut out = None;
    loop {
        let outer = (home.current.get(), home.waker.replace(waker.data().addr()));
        let kept = Arc::strong_count(&shared_waker);
        home.asked.set(false);
        let stopped = cx.callback(home.world, delta, |cx| {
            cx.enter(|| {
                let _ = sc_core::take_was_reached();
                let context = &mut Context::from_waker(&waker);
                loop {
                    let turn = home.inner.borrow_mut().next_turn(&mut at, length);
                    let Some(turn) = turn else {
                        return Stopped::End;
                    };
                    if !turn.plain {
                        return Stopped::NotPlain(turn.local);
                    }
                    let Some(Body::Future(future)) = bodies.take(turn.slot) else {
                        return Stopped::NotPlain(turn.local);
                    };
                    home.current.set(Some(turn.local));
                    let mut rescue = Rescue {
                        slot: turn.slot,
                        future: Some(future),
                        out: &mut out,
                    };
                    let polled = rescue.poll(context);
                    bodies.put(turn.slot, Body::Future(rescue.into_future()));
                    if polled.is_ready()
                        || sc_core::take_was_reached()
                        || shared_waker.is_woken()
                        || home.asked.get()
                        || Arc::strong_count(&shared_waker) != kept
                    {
                        return Stopped::Polled(turn.slot, polled);
                    }
                }
            })
        });
        home.current.set(outer.0);
        home.waker.set(outer.1);
        match stopped {
            Ok(Stopped::End) => return,
            Ok(Stopped::NotPlain(local)) => run_local(cx, home, local, true),
            Ok(Stopped::Polled(slot, polled)) => {
                let kept_waker = Arc::strong_count(&shared_waker) > kept;
                polled_plain(cx, home, slot, polled, kept_waker);
            }
            Err(panic) => {
                let Some((slot, future)) = out.take() else {
                    return cx.settle_panic(&Culprit::new("flows", reports::PANIC_FIX), panic);
                };
                bodies.put(slot, Body::Future(future));
                if let Some(id) = flows(cx).id(slot) {
                    panicked(cx, home, id, panic);
                }
                cx.attend();
            }
        }
    }
}

/// What follows from a plain flow's poll that was more than a wait.
fn polled_plain<H>(
    cx: &mut Cx<'_, H>,
    home: &Rc<Home>,
    slot: u32,
    polled: Poll<Result<(), FlowError>>,
    kept_waker: bool,
) {
    let Some(id) = flows(cx).id(slot) else {
        return;
    };
    let times = home.times();
    if polled.is_pending()
        && flows(cx).shared_waker.take_woken()
        && let Some(flow) = flows(cx).get(id)
    {
        home.wake(flow.local);
    }
    if kept_waker && polled.is_pending() {
        // Once more, with a waker of its own.
        if let Some(flow) = flows(cx).get(id) {
            home.set_plain(flow.local, false);
        }
        let own = flows(cx).own_waker(id);
        if let Some(flow) = flows(cx).get_mut(id) {
            flow.waker = Some(own);
        }
        run(cx, home, id, times);
        return;
    }
    let next = ended(cx, id, polled);
    after(cx, home, id, next, times);
    cx.attend();
}

/// A future that is being polled in the hot loop; on unwinding it is handed to the loop's end.
struct Rescue<'o> {
    slot: u32,
    future: Option<super::BoxFuture>,
    out: &'o mut Option<(u32, super::BoxFuture)>,
}

impl Rescue<'_> {
    #[inline(always)]
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<(), FlowError>> {
        match &mut self.future {
            Some(future) => future.as_mut().poll(context),
            None => Poll::Pending,
        }
    }

    #[inline(always)]
    fn into_future(mut self) -> super::BoxFuture {
        match self.future.take() {
            Some(future) => {
                std::mem::forget(self);
                future
            }
            None => Box::pin(std::future::pending()),
        }
    }
}

impl Drop for Rescue<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        *self.out = self.future.take().map(|future| (self.slot, future));
    }
}

/// Hands wakes from outside to the homes of those who were woken.
fn distribute<H>(cx: &mut Cx<'_, H>, ids: &mut Vec<FlowId>) {
    let state = flows(cx);
    if state.shared_waker.take_woken() {
        // A clone of the shared waker, kept beyond its poll: whose it was is not known, but those
        // who have kept one have wakers of their own since.
        for slot in &state.slots {
            if let Some(flow) = slot.flow.as_ref().filter(|flow| flow.waker.is_some()) {
                flow.home.wake(flow.local);
            }
        }
    }
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
    if flow.polled_in != times.frame {
        flow.polled_in = times.frame;
        flow.polls = 0;
    }
    flow.polls += 1;
    flow.sleep = None;
    if flow.polls_ever == 0 {
        home.first_turn(flow.local);
    }
    flow.polls_ever += 1;
    let (local, clock) = (flow.local, flow.clock);
    let own_waker = flow.waker.clone();
    let state = flows(cx);
    let outer = state.running.replace(id);
    let bodies = Rc::clone(&state.bodies);
    let Some(mut body) = bodies.take(id.index) else {
        state.running = outer;
        return;
    };
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
    bodies.put(id.index, body);
    match outcome {
        Err(panic) => panicked(cx, home, id, panic),
        Ok(next) => after(cx, home, id, next, times),
    }
    cx.attend();
}

fn panicked<H>(cx: &mut Cx<'_, H>, home: &Rc<Home>, id: FlowId, panic: sc_core::Panic) {
    let Some(flow) = flows(cx).get(id) else {
        return;
    };
    let mut culprit = Culprit::new(format!("flow `{}`", flow.name), reports::PANIC_FIX);
    let info = home.world.and_then(|world| cx.world_info(world).ok());
    if let Some(info) = info {
        culprit = culprit.world(info.name);
    }
    end::end(cx, id, FlowFinish::Panicked);
    cx.settle_panic(&culprit, panic);
}

/// What follows from a turn.
fn after<H>(cx: &mut Cx<'_, H>, home: &Rc<Home>, id: FlowId, next: Next, times: Times) {
    let now = nanos(cx.runtime_elapsed());
    let state = flows(cx);
    let bodies = Rc::clone(&state.bodies);
    let Some(flow) = state.get_mut(id) else {
        return;
    };
    // What was asked for before the turn was over wins over its answer.
    if let Request::End(finish) = flow.request {
        end::end(cx, id, finish);
        return;
    }
    if home.world.is_some_and(|world| !cx.is_world_alive(world)) {
        // The world's teardown is about to end it, in its turn.
        return;
    }
    if end::is_unbound(cx, id) {
        end::end(cx, id, FlowFinish::Aborted);
        return;
    }
    let state = flows(cx);
    let Some(flow) = state.get_mut(id) else {
        return;
    };
    match next {
        Next::End(finish) => {
            end::end(cx, id, finish);
            return;
        }
        Next::Frame => home.want_frame(flow.local, times.frame + 1, flow.clock),
        Next::At(deadline) => flow.sleep = Some(home.sleep(flow.local, flow.clock, deadline)),
        Next::Parked => {}
    }
    let looked = bodies.look(id.index, |body| match body {
        Body::Node(node) => Some(node.waiting_for()),
        Body::Future(_) => None,
    });
    let waiting_for = looked.flatten();
    let plain =
        waiting_for.is_none() && flow.owner.is_none() && flow.waker.is_none() && !flow.paused;
    home.set_plain(flow.local, plain);
    let noted = flow.note.map_or(WaitingFor::Await, |(what, _)| what);
    let waiting_for = waiting_for.unwrap_or(noted);
    if flow.waiting_for != waiting_for {
        flow.waiting_for = waiting_for;
        flow.since = now;
        state.watch.begins_to_wait(waiting_for, now);
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
    if shared.is_some_and(|shared| shared.take_woken()) && matches!(outcome, Ok(Poll::Pending)) {
        home.wake(local);
    }
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
    Ok(ended(cx, id, outcome?))
}

/// What a future's answer means.
fn ended<H>(cx: &mut Cx<'_, H>, id: FlowId, polled: Poll<Result<(), FlowError>>) -> Next {
    match polled {
        Poll::Pending => Next::Parked,
        Poll::Ready(Ok(())) => Next::End(FlowFinish::Completed),
        Poll::Ready(Err(error)) => {
            if let Some(flow) = flows(cx).get_mut(id) {
                flow.failed = Some(error.to_string());
            }
            Next::End(FlowFinish::Completed)
        }
    }
}

fn times_delta(home: &Home) -> u64 {
    home.times().delta[Clock::Game as usize]
}
