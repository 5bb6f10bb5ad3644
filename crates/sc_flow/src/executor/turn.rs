//! One turn after another: futures in a hot loop, in which, as long as they only wait, nothing is
//! looked at but themselves; nodes each in a callback of its own.

use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use sc_core::{Clock, Culprit, Cx, Panic};

use super::Body;
use super::board::{Board, Slot, Slots, flag, wants};
use super::end;
use super::home::{Home, signal};
use crate::error::FlowError;
use crate::finish::FlowFinish;
use crate::id::FlowId;
use crate::node::Next;
use crate::reports;

type Polled = Poll<Result<(), FlowError>>;

/// What a turn has come to.
enum Outcome {
    GoesOn(Next),
    Ends(FlowFinish),
    /// It ends with an error.
    Fails(FlowError),
}

/// Whose turns come one after another.
pub(crate) trait Queue<H: 'static> {
    /// Whether what its flows have waited for is a clock that runs in this frame.
    const ON_TIME: bool;
    fn next(&mut self, slots: &mut Slots<H>) -> Option<FlowId>;
    /// The last one given has had its turn.
    fn passed(&mut self, _: &mut Slots<H>) {}
}

/// How a flow is run.
enum Way {
    Future,
    Node,
    /// With a look at what its turn depends on.
    Slow,
    /// Not at all: it has ended.
    Gone,
}

impl Way {
    #[inline]
    fn of<H>(home: &Home<H>, slot: Option<&Slot<H>>, on_time: bool, lives_ended: bool) -> Way {
        let Some(slot) = slot else {
            return Way::Gone;
        };
        let flags = slot.flags.get();
        if flags & flag::SLOW != 0
            || (flags & flag::OWNED != 0 && lives_ended)
            || (!on_time && home.stands(slot.clock.get()))
        {
            Way::Slow
        } else if flags & flag::NODE != 0 {
            Way::Node
        } else {
            Way::Future
        }
    }
}

/// Gives every flow of a queue its turn.
pub(crate) fn run<H, Q: Queue<H>>(cx: &mut Cx<'_, H>, home: &Home<H>, queue: &mut Q) {
    let mut slots = Slots::new(&home.board);
    let mut next = queue.next(&mut slots);
    while let Some(flow) = next {
        match Way::of(home, slots.get(flow), Q::ON_TIME, cx.lives_ended()) {
            Way::Future => {
                next = futures(cx, home, &mut slots, queue, flow);
                continue;
            }
            Way::Node => node(cx, home, &mut slots, flow),
            Way::Slow => slow(cx, home, &mut slots, flow, Q::ON_TIME),
            Way::Gone => {}
        }
        queue.passed(&mut slots);
        next = queue.next(&mut slots);
    }
}

/// Why the hot loop stopped.
enum Stopped {
    /// Nobody is left.
    End,
    /// The next one is not to be run in it.
    Next(FlowId),
    /// A flow has ended, and there is something to attend to.
    Attend,
    /// A flow's turn had more consequences than a wait.
    Turned(Polled, u8),
}

/// Polls futures, from `first` on, as long as the next one is one; gives the next that is not.
fn futures<H, Q: Queue<H>>(
    cx: &mut Cx<'_, H>,
    home: &Home<H>,
    slots: &mut Slots<H>,
    queue: &mut Q,
    first: FlowId,
) -> Option<FlowId> {
    let board = &*home.board;
    let shared = &*board.shared_waker;
    home.waker.set(board.first_waker.data().addr());
    let kept = Arc::strong_count(&board.shared_waker);
    let mut flow = first;
    let mut name = "";
    let delta = Duration::from_nanos(home.delta(Clock::Game));
    let stopped = cx.callback(home.world, delta, |cx| {
        cx.enter(|| {
            let context = &mut Context::from_waker(&board.first_waker);
            loop {
                let Some(slot) = slots.get(flow) else {
                    return Stopped::Attend;
                };
                let polled = poll(home, slot, flow, context);
                let said = home.signal.replace(0);
                let is_calm = said & signal::ASKED == 0
                    && !home.access.must_attend()
                    && !shared.is_woken()
                    && Arc::strong_count(&board.shared_waker) == kept
                    && !(slot.has(flag::OWNED) && home.access.lives_ended());
                if !is_calm {
                    return Stopped::Turned(polled, said);
                }
                if polled.is_pending() {
                    heed(home, slot, flow, said);
                } else {
                    match polled {
                        Poll::Ready(Ok(())) if board.is_bare(flow) => {
                            let removed = board.remove(flow);
                            name = removed.as_ref().map_or("", |removed| removed.row.name);
                            drop(removed);
                            if home.access.must_attend() {
                                return Stopped::Attend;
                            }
                        }
                        polled => return Stopped::Turned(polled, said),
                    }
                }
                queue.passed(slots);
                let Some(next) = queue.next(slots) else {
                    return Stopped::End;
                };
                let lives_ended = home.access.lives_ended();
                match Way::of(home, slots.get(next), Q::ON_TIME, lives_ended) {
                    Way::Future => flow = next,
                    _ => return Stopped::Next(next),
                }
            }
        })
    });
    home.current.set(None);
    home.signal.set(0);
    match stopped {
        Ok(Stopped::End) => return None,
        Ok(Stopped::Next(next)) => return Some(next),
        Ok(Stopped::Attend) => cx.attend(),
        Ok(Stopped::Turned(polled, said)) => {
            let has_kept = Arc::strong_count(&board.shared_waker) > kept;
            settle(cx, home, flow, polled, said, has_kept);
        }
        Err(panic) => panicked(cx, home, flow, name, panic),
    }
    queue.passed(slots);
    queue.next(slots)
}

/// Polls one future.
#[inline]
fn poll<H>(home: &Home<H>, slot: &Slot<H>, flow: FlowId, context: &mut Context<'_>) -> Polled {
    home.current.set(Some(flow));
    home.clock.set(slot.clock.get());
    home.is_first.set(slot.has(flag::FRESH));
    match slot.body.try_borrow_mut().as_deref_mut() {
        Ok(Body::Future(future)) => future.as_mut().poll(context),
        _ => Poll::Pending,
    }
}

/// Takes note of what a flow that goes on has said in its turn.
#[inline]
fn heed<H>(home: &Home<H>, slot: &Slot<H>, flow: FlowId, said: u8) {
    slot.clear(flag::FRESH);
    if said & signal::AWAITED != 0 {
        slot.since.set(home.runtime_now.get());
    }
    let wanted = said & signal::WANTS;
    if wanted == 0 {
        return;
    }
    if slot.has(flag::LISTED) {
        slot.wants.set(slot.wants.get() | wanted);
    } else {
        home.want(flow, slot, wanted, home.frame.get() + 1);
    }
}

/// What follows from a future's turn that was more than a wait.
fn settle<H>(
    cx: &mut Cx<'_, H>,
    home: &Home<H>,
    flow: FlowId,
    mut polled: Polled,
    mut said: u8,
    has_kept: bool,
) {
    let board = &*home.board;
    if board.shared_waker.take_woken() && polled.is_pending() {
        home.wake(flow);
    }
    if has_kept && polled.is_pending() {
        // Once more, with a waker of its own.
        let own = board.own_waker(flow);
        if let Some(extra) = board.table.borrow_mut().extra_or_new(flow.index) {
            extra.waker = Some(own.clone());
        }
        board.slot(flow, |slot| slot.set(flag::SLOW));
        match poll_with(cx, home, flow, &own, said) {
            Ok(outcome) => (polled, said) = outcome,
            Err(panic) => return panicked(cx, home, flow, "", panic),
        }
    }
    let outcome = match polled {
        Poll::Pending => Outcome::GoesOn(Next::Parked),
        Poll::Ready(Ok(())) => Outcome::Ends(FlowFinish::Completed),
        Poll::Ready(Err(error)) => Outcome::Fails(error),
    };
    after(cx, home, flow, outcome, said);
    cx.attend();
}

/// Polls one future outside the hot loop. What it said before in this turn stays said.
fn poll_with<H>(
    cx: &mut Cx<'_, H>,
    home: &Home<H>,
    flow: FlowId,
    waker: &Waker,
    said: u8,
) -> Result<(Polled, u8), Panic> {
    let mut slots = Slots::new(&home.board);
    let Some(slot) = slots.get(flow) else {
        return Ok((Poll::Pending, 0));
    };
    home.waker.set(waker.data().addr());
    home.signal.set(said);
    let delta = Duration::from_nanos(home.delta(Clock::Game));
    let outcome = cx.callback(home.world, delta, |cx| {
        cx.enter(|| poll(home, slot, flow, &mut Context::from_waker(waker)))
    });
    home.current.set(None);
    let said = home.signal.replace(0);
    Ok((outcome?, said))
}

/// A node's turn.
fn node<H>(cx: &mut Cx<'_, H>, home: &Home<H>, slots: &mut Slots<H>, flow: FlowId) {
    let board = &*home.board;
    let Some(slot) = slots.get(flow) else {
        return;
    };
    slot.clear(flag::FRESH);
    let clock = slot.clock.get();
    let (now, delta) = (home.now(clock), Duration::from_nanos(home.delta(clock)));
    let outer = board.running.replace(Some(flow));
    let outcome = match slot.body.try_borrow_mut().as_deref_mut() {
        Ok(Body::Node(node)) => cx.callback(home.world, delta, |cx| node.turn(cx, now)),
        _ => Ok(Next::Parked),
    };
    board.running.set(outer);
    let said = home.signal.replace(0);
    match outcome {
        Ok(Next::Frame)
            if said == 0
                && slot.has(flag::STEADY)
                && !cx.must_attend()
                && !(slot.has(flag::OWNED) && cx.lives_ended()) =>
        {
            heed(home, slot, flow, wants::by(clock));
        }
        Ok(Next::End(finish)) => {
            after(cx, home, flow, Outcome::Ends(finish), said);
            cx.attend();
        }
        Ok(next) => {
            after(cx, home, flow, Outcome::GoesOn(next), said);
            cx.attend();
        }
        Err(panic) => panicked(cx, home, flow, "", panic),
    }
}

/// A turn that depends on more than the flow.
fn slow<H>(cx: &mut Cx<'_, H>, home: &Home<H>, slots: &mut Slots<H>, flow: FlowId, on_time: bool) {
    let board = &*home.board;
    let Some(slot) = slots.get(flow) else {
        return;
    };
    let mut own = None;
    let mut table = board.table.borrow_mut();
    if let Some(extra) = table.extra_of(flow.index) {
        if extra.paused {
            extra.missed = true;
            return;
        }
        own = extra.waker.clone();
    }
    drop(table);
    if !on_time && home.stands(slot.clock.get()) {
        // Held until its clock runs.
        let bits = wants::by(slot.clock.get());
        home.want(flow, slot, bits, home.frame.get() + 1);
        return;
    }
    match end::is_bound(cx, board, flow) {
        Ok(true) => {}
        Ok(false) => return end::end(cx, board, flow, FlowFinish::Aborted),
        Err(panic) => return panicked(cx, home, flow, "", panic),
    }
    if slot.has(flag::NODE) {
        return node(cx, home, slots, flow);
    }
    let kept = Arc::strong_count(&board.shared_waker);
    let is_shared = own.is_none();
    let waker = own.unwrap_or_else(|| board.first_waker.clone());
    let before = kept + usize::from(is_shared);
    match poll_with(cx, home, flow, &waker, 0) {
        Ok((polled, said)) => {
            let has_kept = is_shared && Arc::strong_count(&board.shared_waker) > before;
            settle(cx, home, flow, polled, said, has_kept);
        }
        Err(panic) => panicked(cx, home, flow, "", panic),
    }
}

/// A flow has panicked. `name` is what it was called, if it has ended in the same turn.
pub(crate) fn panicked<H>(
    cx: &mut Cx<'_, H>,
    home: &Home<H>,
    flow: FlowId,
    name: &str,
    panic: Panic,
) {
    let board = &*home.board;
    let known = board.slot(flow, |_| ()).is_some();
    let name = if known {
        board.table.borrow().name(flow.index)
    } else {
        name.to_owned()
    };
    let mut culprit = Culprit::new(format!("flow `{name}`"), reports::PANIC_FIX);
    let world = home.world.and_then(|world| cx.runtime().world_name(world));
    if let Some(world) = world {
        culprit = culprit.world(world);
    }
    end::end(cx, board, flow, FlowFinish::Panicked);
    cx.settle_panic(&culprit, panic);
    cx.attend();
}

/// What follows from a turn.
fn after<H>(cx: &mut Cx<'_, H>, home: &Home<H>, flow: FlowId, outcome: Outcome, said: u8) {
    let board = &*home.board;
    // What was asked for before the turn was over wins over its answer.
    if said & signal::ASKED != 0 {
        let asked = board
            .table
            .borrow()
            .row(flow.index)
            .and_then(|row| row.asked);
        if let Some(finish) = asked {
            return end::end(cx, board, flow, finish);
        }
    }
    if home.world.is_some_and(|world| !cx.is_world_alive(world)) {
        // The world's teardown is about to end it, in its turn.
        return;
    }
    if end::is_unbound(cx, board, flow) {
        return end::end(cx, board, flow, FlowFinish::Aborted);
    }
    match outcome {
        Outcome::GoesOn(next) => goes_on(board, home, flow, next, said),
        Outcome::Ends(finish) => end::end(cx, board, flow, finish),
        Outcome::Fails(error) => {
            let failed = Some(error.to_string());
            end::end_with(cx, board, flow, FlowFinish::Completed, failed);
        }
    }
}

fn goes_on<H>(board: &Board<H>, home: &Home<H>, flow: FlowId, next: Next, said: u8) {
    let mut slots = Slots::new(&home.board);
    let Some(slot) = slots.get(flow) else {
        return;
    };
    let clock = slot.clock.get();
    let wanted = match next {
        Next::Frame => wants::by(clock),
        _ => 0,
    };
    heed(home, slot, flow, said | wanted);
    if !slot.has(flag::NODE) {
        return;
    }
    let sleep = match next {
        Next::At(deadline) => Some(home.sleep(flow, clock, deadline)),
        _ => None,
    };
    board.sleeps(flow, home, sleep);
    slot.clear(flag::STEADY);
    if next == Next::Frame {
        slot.set(flag::STEADY);
    }
    board.begins_to_wait(flow, slot, home.runtime_now.get());
}
