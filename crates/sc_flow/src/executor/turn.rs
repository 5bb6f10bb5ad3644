//! One turn after another, in hot loops, one for futures and one for nodes: as long as they only wait,
//! nothing is looked at but themselves.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use sc_core::{Clock, Cx, Panic};

use super::bits::{self, said};
use super::board::{Board, Slot, Slots};
use super::body::Polled;
use super::end;
use super::home::{Home, Readings};
use super::wake::SharedWaker;
use crate::error::FlowError;
use crate::finish::FlowFinish;
use crate::id::FlowId;
use crate::node::Next;
use crate::reports;

/// What a turn has come to.
enum Outcome {
    GoesOn(Next),
    Ends(FlowFinish),
    /// It ends with an error.
    Fails(Box<FlowError>),
}

impl From<Next> for Outcome {
    fn from(next: Next) -> Self {
        match next {
            Next::End(finish) => Outcome::Ends(finish),
            next => Outcome::GoesOn(next),
        }
    }
}

/// Whose turns come one after another.
pub(crate) trait Queue<H: 'static> {
    /// Whether what its flows have waited for is a clock that runs in this frame.
    const ON_TIME: bool;

    /// The next flow: the same one until it is taken.
    fn next(&mut self, slots: &mut Slots<H>) -> Option<FlowId>;

    /// The next flow has its turn now.
    fn take(&mut self, slots: &mut Slots<H>);

    /// The one that was taken has had its turn.
    fn passed(&mut self, _: &mut Slots<H>) {}

    /// Gives every flow its turn, until one is not for this loop, or its turn is more than a turn.
    #[inline(always)]
    fn run(
        &mut self,
        slots: &mut Slots<H>,
        is_here: impl Fn(u16) -> bool,
        mut turn: impl FnMut(FlowId, &Slot<H>, u16) -> Turned,
    ) -> Stopped {
        while let Some(flow) = self.next(slots) {
            if !slots.get(flow).is_none_or(|slot| is_here(slot.bits.get())) {
                return Stopped::NotHere;
            }
            self.take(slots);
            let turned = slots
                .get(flow)
                .map(|slot| turn(flow, slot, slot.bits.get()));
            if let Some(Turned::More) = turned {
                return Stopped::More(flow);
            }
            self.passed(slots);
        }
        Stopped::End
    }
}

/// What a turn in a hot loop was.
pub(crate) enum Turned {
    /// The flow has its next turn where it had this one.
    Stays,
    /// The flow goes on.
    Goes,
    /// It has ended, and there is nothing else to it.
    Ended,
    /// More than a turn: it is to be settled outside the loop.
    More,
}

/// Why a hot loop stopped.
pub(crate) enum Stopped {
    /// Nobody is left.
    End,
    /// The next one is not for this loop.
    NotHere,
    /// A flow's turn was more than a turn.
    More(FlowId),
}

/// How a flow is run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    Future,
    Node,
    /// With a look at what its turn depends on.
    Slow,
}

impl Way {
    #[inline(always)]
    fn of<H>(home: &Home<H>, is_like: u16, on_time: bool, lives_ended: impl Fn() -> bool) -> Way {
        if is_like & (bits::SLOW | bits::OWNED | bits::NODE) == 0 && on_time {
            return Way::Future;
        }
        if is_like & bits::SLOW != 0
            || (is_like & bits::OWNED != 0 && lives_ended())
            || (!on_time && is_like & bits::ON_TIME == 0 && home.stands(bits::clock(is_like)))
        {
            Way::Slow
        } else if is_like & bits::NODE != 0 {
            Way::Node
        } else {
            Way::Future
        }
    }
}

/// Gives every flow of a queue its turn.
pub(crate) fn run<H, Q: Queue<H>>(cx: &mut Cx<'_, H>, home: &Home<H>, queue: &mut Q) {
    let mut slots = Slots::new(&home.board);
    while let Some(flow) = queue.next(&mut slots) {
        let is_like = slots.get(flow).map(|slot| slot.bits.get());
        let way = is_like.map(|bits| Way::of(home, bits, Q::ON_TIME, || cx.lives_ended()));
        match way {
            Some(Way::Future) => futures(cx, home, &mut slots, queue),
            Some(Way::Node) => {
                let clock = bits::clock(is_like.unwrap_or(0));
                nodes(cx, home, &mut slots, queue, clock);
            }
            Some(Way::Slow) => {
                queue.take(&mut slots);
                slow(cx, home, flow, Q::ON_TIME);
                queue.passed(&mut slots);
            }
            None => {
                queue.take(&mut slots);
                queue.passed(&mut slots);
            }
        }
    }
}

/// Polls futures, as long as the next flow is one.
fn futures<H, Q: Queue<H>>(
    cx: &mut Cx<'_, H>,
    home: &Home<H>,
    slots: &mut Slots<H>,
    queue: &mut Q,
) {
    let board = &*home.board;
    let shared = board.shared_waker();
    home.waker.set(shared.waker.data().addr());
    let (mut more, mut name) = (None, "");
    let delta = Duration::from_nanos(home.delta(Clock::Game));
    let stopped = cx.callback(home.world, delta, |cx| {
        cx.enter(|| {
            let context = &mut Context::from_waker(&shared.waker);
            let is_here = |is_like| {
                let lives_ended = || home.access.lives_ended();
                Way::of(home, is_like, Q::ON_TIME, lives_ended) == Way::Future
            };
            queue.run(slots, is_here, |flow, slot, is_like| {
                let polled = poll(home, slot, flow, is_like, context);
                let said = home.take_said();
                let is_calm = said & said::ASKED == 0
                    && !home.access.must_attend()
                    && shared.is_untouched()
                    && !(is_like & bits::OWNED != 0 && home.access.lives_ended());
                match polled {
                    Poll::Pending if is_calm => heed(home, slot, flow, said),
                    polled => {
                        // Its turn is over: what its destructor polls is no await of anybody.
                        home.current.set(FlowId::NOBODY.word());
                        if is_calm
                            && let Poll::Ready(Ok(())) = polled
                            && board.end_quietly(flow, slot, &mut name)
                        {
                            if home.access.must_attend() {
                                return Turned::More;
                            }
                            return Turned::Ended;
                        }
                        more = Some((polled, said));
                        Turned::More
                    }
                }
            })
        })
    });
    let running = home.current.replace(FlowId::NOBODY.word());
    home.take_said();
    let flow = match stopped {
        Ok(Stopped::End | Stopped::NotHere) => return,
        Ok(Stopped::More(flow)) => flow,
        Err(panic) => {
            let flow = FlowId::of_word(running);
            settle_waker(home, flow, &shared, false);
            if flow == FlowId::NOBODY {
                // Of a destructor: its flow has ended.
                end::settle(cx, name, Some(panic));
                cx.attend();
            } else {
                panicked(cx, home, flow, panic);
            }
            return queue.passed(slots);
        }
    };
    match more {
        Some((polled, said)) => {
            settle_waker(home, flow, &shared, polled.is_pending());
            settle(cx, home, flow, polled, said);
        }
        None => cx.attend(),
    }
    queue.passed(slots);
}

/// Polls one future.
#[inline(always)]
fn poll<H>(
    home: &Home<H>,
    slot: &Slot<H>,
    flow: FlowId,
    is_like: u16,
    context: &mut Context<'_>,
) -> Polled {
    home.current.set(flow.word());
    home.turn.set(is_like);
    match slot.body.out().get() {
        Some(body) => body.poll(context),
        None => Poll::Pending,
    }
}

/// Takes note of what a flow that goes on has said in its turn.
#[inline(always)]
fn heed<H>(home: &Home<H>, slot: &Slot<H>, flow: FlowId, said: u8) -> Turned {
    let is_like = slot.bits.get() & !(bits::FRESH | bits::ON_TIME);
    // It has awaited, and wants a frame.
    if said & (said::AWAITED | said::WANTS) > said::AWAITED && is_like & bits::LISTED != 0 {
        // From frame to frame: noted in the slot alone.
        let wanted = u16::from(said & said::WANTS);
        slot.bits.set(is_like | wanted | bits::STEADY);
        return Turned::Stays;
    }
    slot.bits.set(is_like);
    heed_more(home, slot, flow, said);
    Turned::Goes
}

fn heed_more<H>(home: &Home<H>, slot: &Slot<H>, flow: FlowId, said: u8) {
    if !slot.has(bits::NODE) {
        if said & said::AWAITED != 0 {
            home.board.waits_since(flow, home.runtime_now.get());
        } else if slot.has(bits::STEADY) {
            home.board
                .waits_since(flow, home.stepped_before(slot.bits.get()));
        }
        slot.clear(bits::STEADY);
    }
    let wanted = u16::from(said & said::WANTS);
    if wanted == 0 {
        return;
    }
    if slot.has(bits::LISTED) {
        slot.set(wanted);
    } else {
        home.want(flow, slot, wanted, home.frame.get() + 1);
    }
}

/// What follows from what a poll has done with the shared waker.
fn settle_waker<H>(home: &Home<H>, flow: FlowId, shared: &SharedWaker, goes_on: bool) {
    if shared.is_kept() {
        home.board.give_waker(flow, shared);
    } else if shared.take_woken() && goes_on {
        home.wake(flow);
    }
}

/// What follows from a future's turn that was more than a wait.
fn settle<H>(cx: &mut Cx<'_, H>, home: &Home<H>, flow: FlowId, polled: Polled, said: u8) {
    let outcome = match polled {
        Poll::Pending => Outcome::GoesOn(Next::Parked),
        Poll::Ready(Ok(())) => Outcome::Ends(FlowFinish::Completed),
        Poll::Ready(Err(error)) => Outcome::Fails(error),
    };
    after(cx, home, flow, outcome, said);
    cx.attend();
}

/// Runs nodes, as long as the next flow is one that counts on the clock.
fn nodes<H, Q: Queue<H>>(
    cx: &mut Cx<'_, H>,
    home: &Home<H>,
    slots: &mut Slots<H>,
    queue: &mut Q,
    clock: Clock,
) {
    let board = &*home.board;
    let (now, delta) = (home.now(clock), Duration::from_nanos(home.delta(clock)));
    let wanted = bits::wants(clock);
    let outer = board.running.get();
    let lives_ended = Cell::new(cx.lives_ended());
    let mut more = None;
    let stopped = cx.callback(home.world, delta, |cx| {
        let is_here = |is_like| {
            let way = Way::of(home, is_like, Q::ON_TIME, || lives_ended.get());
            way == Way::Node && bits::clock(is_like) == clock
        };
        queue.run(slots, is_here, |flow, slot, is_like| {
            slot.clear(bits::FRESH | bits::ON_TIME);
            board.running.set(Some(flow));
            let next = match slot.body.out().get() {
                Some(body) => body.turn(cx, now, &board.progress),
                None => Next::Parked,
            };
            let said = home.take_said();
            lives_ended.set(cx.lives_ended());
            let is_calm = said == 0
                && !cx.must_attend()
                && !(is_like & bits::OWNED != 0 && lives_ended.get());
            if is_calm {
                match next {
                    Next::End(_) => {}
                    Next::Frame if slot.has(bits::STEADY) && slot.has(bits::LISTED) => {
                        slot.set(wanted);
                        return Turned::Stays;
                    }
                    next => {
                        goes_on(board, home, slot, flow, next, said);
                        return Turned::Goes;
                    }
                }
            }
            more = Some((next, said));
            Turned::More
        })
    });
    let running = board.running.replace(outer);
    match (stopped, more) {
        (Ok(Stopped::More(flow)), Some((next, said))) => {
            after(cx, home, flow, next.into(), said);
            cx.attend();
        }
        (Ok(_), _) => return,
        (Err(panic), _) => {
            home.take_said();
            panicked(cx, home, running.unwrap_or(FlowId::NOBODY), panic);
        }
    }
    queue.passed(slots);
}

/// A turn that depends on more than the flow.
fn slow<H>(cx: &mut Cx<'_, H>, home: &Home<H>, flow: FlowId, on_time: bool) {
    let board = &*home.board;
    let mut slots = Slots::new(&home.board);
    let Some(slot) = slots.get(flow) else {
        return;
    };
    let on_time = on_time || slot.has(bits::ON_TIME);
    slot.clear(bits::ON_TIME);
    let mut own = None;
    let mut table = board.table.borrow_mut();
    if let Some(extra) = table.extra_of(flow.index) {
        if extra.paused.is_some() {
            // What it has waited for may be a clock that runs through the pause.
            extra.missed |= if on_time && home.paused.get() {
                bits::WANTS_ANY
            } else {
                bits::wants(slot.clock())
            };
            drop(table);
            home.put_off(flow, slot);
            return;
        }
        own = extra.waker.clone();
    }
    drop(table);
    if !on_time && home.stands(slot.clock()) {
        home.hold(flow, slot);
        return;
    }
    match end::is_bound(cx, board, flow) {
        Ok(true) => {}
        Ok(false) => return end::end(cx, board, flow, FlowFinish::Aborted),
        Err(panic) => return panicked(cx, home, flow, panic),
    }
    let outcome = if slot.has(bits::NODE) {
        turn_of_node(cx, home, slot, flow)
    } else {
        let starts_from = take_start(board, slot, flow);
        home.credit_from(starts_from, || turn_of_future(cx, home, slot, flow, own))
    };
    if let Err(panic) = outcome {
        panicked(cx, home, flow, panic);
    }
}

/// From when a flow counts whose first turn, which comes now, was put off.
fn take_start<H>(board: &Board<H>, slot: &Slot<H>, flow: FlowId) -> Option<Readings> {
    let table = &mut *board.table.borrow_mut();
    let extra = table.extra_of(flow.index)?;
    let starts_from = extra.starts_from.take()?;
    if !extra.is_slow() {
        slot.clear(bits::SLOW);
    }
    Some(starts_from)
}

/// One node's turn by itself.
fn turn_of_node<H>(
    cx: &mut Cx<'_, H>,
    home: &Home<H>,
    slot: &Slot<H>,
    flow: FlowId,
) -> Result<(), Panic> {
    slot.clear(bits::FRESH | bits::ON_TIME);
    let clock = slot.clock();
    let (now, delta) = (home.now(clock), Duration::from_nanos(home.delta(clock)));
    let outer = home.board.running.replace(Some(flow));
    let next = match slot.body.out().get() {
        Some(body) => cx.callback(home.world, delta, |cx| {
            body.turn(cx, now, &home.board.progress)
        }),
        None => Ok(Next::Parked),
    };
    home.board.running.set(outer);
    let said = home.take_said();
    after(cx, home, flow, next?.into(), said);
    cx.attend();
    Ok(())
}

/// One future's turn by itself, perhaps with a waker of its own.
fn turn_of_future<H>(
    cx: &mut Cx<'_, H>,
    home: &Home<H>,
    slot: &Slot<H>,
    flow: FlowId,
    own: Option<Waker>,
) -> Result<(), Panic> {
    let shared = home.board.shared_waker();
    let waker = own.as_ref().unwrap_or(&shared.waker);
    home.waker.set(waker.data().addr());
    let delta = Duration::from_nanos(home.delta(Clock::Game));
    let polled = cx.callback(home.world, delta, |cx| {
        cx.enter(|| {
            let context = &mut Context::from_waker(waker);
            poll(home, slot, flow, slot.bits.get(), context)
        })
    });
    home.current.set(FlowId::NOBODY.word());
    let said = home.take_said();
    if own.is_none() {
        let goes_on = matches!(polled, Ok(Poll::Pending));
        settle_waker(home, flow, &shared, goes_on);
    }
    settle(cx, home, flow, polled?, said);
    Ok(())
}

/// A flow has panicked.
pub(crate) fn panicked<H>(cx: &mut Cx<'_, H>, home: &Home<H>, flow: FlowId, panic: Panic) {
    let board = &*home.board;
    // It may have ended in what has panicked.
    let name = if board.is_live(flow) {
        board.table.borrow().name(flow.index)
    } else {
        String::new()
    };
    let mut culprit = reports::culprit(&name);
    let world = home.world.and_then(|world| cx.runtime().world_name(world));
    if let Some(world) = world {
        culprit = culprit.world(world);
    }
    // The first panic is the one to raise: not what its end throws.
    let ended = catch_unwind(AssertUnwindSafe(|| {
        end::end(cx, board, flow, FlowFinish::Panicked);
    }));
    drop(ended);
    cx.settle_panic(&culprit, panic);
    cx.attend();
}

/// What follows from a turn.
fn after<H>(cx: &mut Cx<'_, H>, home: &Home<H>, flow: FlowId, outcome: Outcome, said: u8) {
    let board = &*home.board;
    // What was asked for before the turn was over wins over its answer.
    if said & said::ASKED != 0 {
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
    match end::is_bound(cx, board, flow) {
        Ok(true) => {}
        Ok(false) => return end::end(cx, board, flow, FlowFinish::Aborted),
        Err(panic) => return panicked(cx, home, flow, panic),
    }
    match outcome {
        Outcome::GoesOn(next) => {
            let mut slots = Slots::new(&home.board);
            if let Some(slot) = slots.get(flow) {
                goes_on(board, home, slot, flow, next, said);
            }
        }
        Outcome::Ends(finish) => end::end(cx, board, flow, finish),
        Outcome::Fails(error) => {
            let failed = Some(error.to_string());
            end::end_with(cx, board, flow, FlowFinish::Completed, failed);
        }
    }
}

fn goes_on<H>(
    board: &Board<H>,
    home: &Home<H>,
    slot: &Slot<H>,
    flow: FlowId,
    next: Next,
    said: u8,
) {
    let clock = slot.clock();
    let wanted = match next {
        Next::Frame => said::wants(clock),
        _ => 0,
    };
    heed(home, slot, flow, said | wanted);
    if !slot.has(bits::NODE) {
        return;
    }
    let sleep = match next {
        Next::At(deadline) => Some(home.sleep(flow, clock, deadline)),
        _ => None,
    };
    board.sleeps(flow, home, sleep);
    slot.clear(bits::STEADY);
    if next == Next::Frame {
        slot.set(bits::STEADY);
    }
    board.begins_to_wait(flow, slot, home.runtime_now.get());
}
