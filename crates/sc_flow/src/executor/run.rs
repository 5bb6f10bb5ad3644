//! The `Flows` stage: whose turn it is.
//!
//! In each home: (1) waits that are over, clocks in table order, each by (deadline, sequence);
//! (2) those woken since the last stage; (3) first polls and those that run every frame, one list
//! in order of start; (4) those woken in this stage. First woken, first run.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Waker;

use sc_core::{Cx, Report, ReportKind};

use super::bits;
use super::board::{Board, Slots};
use super::home::{Home, Times, Waiter};
use super::turn::{Queue, run};
use super::{WorldHome, end, executor, sweep};
use crate::id::FlowId;
use crate::reports;
use crate::span::nanos;
use crate::watch;

/// How often a flow may run in one stage because it is woken in it, before it has to wait for
/// the next frame.
const RERUN_CAP: u8 = 99;

/// Memory of the stage, kept between frames.
#[derive(Default)]
pub(crate) struct Scratch {
    due: Vec<Waiter>,
    /// Those whose foreign wakers were due: the first one first, and then the last one.
    telling: Vec<FlowId>,
    told: Vec<FlowId>,
    woken: Vec<FlowId>,
    /// Those that ran because they were woken in the stage, and those that did so too often.
    rerun: Vec<FlowId>,
    capped: Vec<FlowId>,
    ids: Vec<FlowId>,
    /// With whether the clocks of their waits run in the frame.
    wakers: Vec<(Waker, bool)>,
}

pub(crate) fn world_stage<H>(cx: &mut Cx<'_, H>) {
    let Some(world) = cx.world() else {
        return;
    };
    let Some(WorldHome(Some(home))) = cx.runtime().world_state::<WorldHome<H>>(world) else {
        return;
    };
    let home = home.clone();
    let Ok(readings) = cx.readings(world) else {
        return;
    };
    let times = Times {
        now: readings.elapsed.map(nanos),
        delta: readings.delta.map(nanos),
        frame: readings.frame,
        paused: readings.paused,
        runtime_now: cx.runtime_nanos(),
    };
    stage(cx, &home, &times);
}

pub(crate) fn runtime_stage<H>(cx: &mut Cx<'_, H>) {
    let Some(executor) = executor(cx.runtime()) else {
        return;
    };
    let home = executor.home.clone();
    let (now, delta) = (cx.runtime_nanos(), nanos(cx.delta()));
    let times = Times {
        now: [now; 4],
        delta: [delta; 4],
        frame: cx.frame(),
        paused: false,
        runtime_now: now,
    };
    end::make_reports(cx, &home.board);
    sweep::sweep(cx, &home.board);
    stage(cx, &home, &times);
}

fn stage<H>(cx: &mut Cx<'_, H>, home: &Home<H>, times: &Times) {
    home.begin(times);
    watch::look(cx, &home.board, times.runtime_now);
    if home.is_empty() {
        home.forget_joining();
        return;
    }
    let mut left = Left {
        home,
        scratch: home.board.scratch.take(),
    };
    home.release_held();
    end::tell_of_unstarted(cx, &home.board);
    left.take_woken();
    // (1)
    home.take_due(&mut left.scratch.due);
    left.scratch.due.reverse();
    run(cx, home, &mut Due(&mut left));
    // Those whose foreign wakers were due.
    left.scratch.telling.reverse();
    left.scratch.told.append(&mut left.scratch.telling);
    run(cx, home, &mut Told(&mut left));
    // (2)
    run(cx, home, &mut Woken(&mut left));
    // (3)
    let scratch = &mut left.scratch;
    home.take_frame_due(&mut scratch.due, &mut scratch.wakers);
    scratch.wakers.reverse();
    distribute(&home.board, &mut scratch.ids, Home::wake);
    while let Some((waker, runs)) = scratch.wakers.pop() {
        waker.wake();
        let wake = if runs { Home::wake_on_time } else { Home::wake };
        distribute(&home.board, &mut scratch.ids, wake);
    }
    let mut slots = Slots::new(&home.board);
    let mut list = home.take_list(&mut slots);
    run(cx, home, &mut list);
    drop(list);
    end::tell_of_unstarted(cx, &home.board);
    // (4)
    while left.take_woken() {
        run(cx, home, &mut Rewoken(&mut left));
        end::tell_of_unstarted(cx, &home.board);
    }
    for flow in left.scratch.rerun.drain(..) {
        home.board.slot(flow, |slot| slot.reruns.set(0));
    }
    while let Some(flow) = left.scratch.capped.pop() {
        report_capped(cx, &home.board, flow);
    }
    home.board.scratch.set(std::mem::take(&mut left.scratch));
    end::make_reports(cx, &home.board);
}

/// Those whose turn in the stage is still to come. After a panic that goes on they are woken for
/// the next one.
struct Left<'h, H: 'static> {
    home: &'h Home<H>,
    scratch: Scratch,
}

impl<H> Left<'_, H> {
    /// Takes those woken so far, the last one first; whether there are any.
    fn take_woken(&mut self) -> bool {
        distribute(&self.home.board, &mut self.scratch.ids, Home::wake);
        self.home.take_woken(&mut self.scratch.woken);
        !self.scratch.woken.is_empty()
    }

    /// Wakes a waker that is due, and notes whose it was.
    fn tell(&mut self, index: u32) {
        let home = self.home;
        distribute(&home.board, &mut self.scratch.ids, Home::wake);
        let waker = home.take_foreign(index);
        waker.into_iter().for_each(Waker::wake);
        let telling = &mut self.scratch.telling;
        // Those woken before, too: they run now, and not once more.
        distribute(&home.board, &mut self.scratch.ids, |of, flow| {
            let is_here = std::ptr::eq(of, home);
            if is_here
                && home
                    .board
                    .slot(flow, |slot| slot.set(bits::WOKEN))
                    .is_some()
            {
                telling.push(flow);
            } else {
                of.wake_on_time(flow);
            }
        });
    }
}

impl<H> Drop for Left<'_, H> {
    fn drop(&mut self) {
        let scratch = &mut self.scratch;
        for waiter in scratch.due.drain(..).rev() {
            match waiter {
                Waiter::Flow(flow) | Waiter::Frame(flow, _) => self.home.wake_on_time(flow),
                Waiter::Foreign(index) | Waiter::ForeignFrame(index, _) => {
                    let waker = self.home.take_foreign(index);
                    scratch.wakers.extend(waker.map(|waker| (waker, true)));
                }
            }
        }
        for flow in scratch
            .telling
            .drain(..)
            .chain(scratch.told.drain(..).rev())
        {
            self.home.board.slot(flow, |slot| slot.clear(bits::WOKEN));
            self.home.wake_on_time(flow);
        }
        for flow in scratch.woken.drain(..).rev() {
            self.home.board.slot(flow, |slot| slot.clear(bits::WOKEN));
            self.home.wake(flow);
        }
        for flow in scratch.rerun.drain(..) {
            self.home.board.slot(flow, |slot| slot.reruns.set(0));
        }
        for (waker, _) in scratch.wakers.drain(..) {
            // One that panics is not to keep the others from theirs.
            let _ = catch_unwind(AssertUnwindSafe(|| waker.wake()));
        }
    }
}

/// The next of the woken, who lie with the last one first.
fn next_of<H>(woken: &mut Vec<FlowId>, slots: &mut Slots<H>) -> Option<FlowId> {
    loop {
        let flow = *woken.last()?;
        // One that has run meanwhile is not woken any more.
        if slots.get(flow).is_some_and(|slot| slot.has(bits::WOKEN)) {
            return Some(flow);
        }
        woken.pop();
    }
}

/// Takes the next of the woken; it may be woken again from now on.
fn take_of<H>(woken: &mut Vec<FlowId>, slots: &mut Slots<H>) -> Option<FlowId> {
    let flow = woken.pop()?;
    slots.get(flow)?.clear(bits::WOKEN);
    Some(flow)
}

/// (1) Those whose wait is over.
struct Due<'l, 'h, H: 'static>(&'l mut Left<'h, H>);

impl<H> Queue<H> for Due<'_, '_, H> {
    const ON_TIME: bool = true;

    fn next(&mut self, _: &mut Slots<H>) -> Option<FlowId> {
        loop {
            match *self.0.scratch.due.last()? {
                Waiter::Flow(flow) | Waiter::Frame(flow, _) => return Some(flow),
                Waiter::Foreign(index) | Waiter::ForeignFrame(index, _) => {
                    self.0.scratch.due.pop();
                    self.0.tell(index);
                }
            }
        }
    }

    fn take(&mut self, _: &mut Slots<H>) {
        self.0.scratch.due.pop();
    }
}

/// Still (1): those whose wait was over by a waker that is not their own.
struct Told<'l, 'h, H: 'static>(&'l mut Left<'h, H>);

impl<H> Queue<H> for Told<'_, '_, H> {
    const ON_TIME: bool = true;

    fn next(&mut self, slots: &mut Slots<H>) -> Option<FlowId> {
        next_of(&mut self.0.scratch.told, slots)
    }

    fn take(&mut self, slots: &mut Slots<H>) {
        take_of(&mut self.0.scratch.told, slots);
    }
}

/// (2) Those woken since the last stage.
struct Woken<'l, 'h, H: 'static>(&'l mut Left<'h, H>);

impl<H> Queue<H> for Woken<'_, '_, H> {
    const ON_TIME: bool = false;

    fn next(&mut self, slots: &mut Slots<H>) -> Option<FlowId> {
        next_of(&mut self.0.scratch.woken, slots)
    }

    fn take(&mut self, slots: &mut Slots<H>) {
        take_of(&mut self.0.scratch.woken, slots);
    }
}

/// (4) Those woken in this stage. One that has run too often goes on next frame.
struct Rewoken<'l, 'h, H: 'static>(&'l mut Left<'h, H>);

impl<H> Queue<H> for Rewoken<'_, '_, H> {
    const ON_TIME: bool = false;

    fn next(&mut self, slots: &mut Slots<H>) -> Option<FlowId> {
        loop {
            let flow = next_of(&mut self.0.scratch.woken, slots)?;
            let Some(slot) = slots.get(flow) else {
                continue;
            };
            if slot.reruns.get() < RERUN_CAP {
                return Some(flow);
            }
            let home = self.0.home;
            let wanted = bits::wants(slot.clock());
            home.want(flow, slot, wanted, home.frame.get() + 1);
            take_of(&mut self.0.scratch.woken, slots);
            self.0.scratch.capped.push(flow);
        }
    }

    fn take(&mut self, slots: &mut Slots<H>) {
        let Some(flow) = take_of(&mut self.0.scratch.woken, slots) else {
            return;
        };
        if let Some(slot) = slots.get(flow) {
            let reruns = slot.reruns.get();
            if reruns == 0 {
                self.0.scratch.rerun.push(flow);
            }
            slot.reruns.set(reruns + 1);
        }
    }
}

/// Hands wakes from outside to the homes of those who were woken.
fn distribute<H>(board: &Board<H>, ids: &mut Vec<FlowId>, mut wake: impl FnMut(&Home<H>, FlowId)) {
    board.inbox.take(ids);
    for id in ids.drain(..) {
        if let Some(home) = board.home(id) {
            wake(&home, id);
        }
    }
}

/// Reports a flow that woke itself too often, once.
fn report_capped<H>(cx: &mut Cx<'_, H>, board: &Board<H>, flow: FlowId) {
    if !board.is_live(flow) {
        return;
    }
    let mut table = board.table.borrow_mut();
    let Some(extra) = table.extra_or_new(flow.index) else {
        return;
    };
    if std::mem::replace(&mut extra.cap_reported, true) {
        return;
    }
    let name = table.name(flow.index);
    drop(table);
    let times = u32::from(RERUN_CAP) + 1;
    let what = format!("woke itself more than {times} times in one frame");
    let kind = ReportKind::Extension(&reports::SELF_WAKING);
    cx.report(Report::new(kind, what).object(name));
}
