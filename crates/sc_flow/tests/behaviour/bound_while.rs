//! Flows bound to what can only be asked whether it is still there.

use std::cell::Cell;
use std::rc::Rc;

use crate::probe::{C, Game, Test, log, reports, say, start, tell};
use sc_core::PanicPolicy;
use sc_flow::{DoForDuration, Flow, FlowCx, FlowExt, ForEach, WaitUntil};

/// Something that is there until it is taken away.
#[derive(Clone)]
struct There(Rc<Cell<bool>>);

impl There {
    fn new() -> Self {
        There(Rc::new(Cell::new(true)))
    }

    fn take_away(&self) {
        self.0.set(false);
    }

    fn asked(&self) -> impl Fn(&C<'_>) -> bool + 'static {
        let there = self.clone();
        move |_| there.0.get()
    }
}

fn finished(cx: &mut C<'_>, finish: sc_flow::FlowFinish) {
    say(cx, format!("{finish:?}"));
}

fn asleep(t: &mut Test, there: &There) {
    let flow = Flow::new("asleep").world(t.world);
    let flow = flow.bound_while(there.asked()).on_finished(finished);
    flow.spawn(&mut t.cx(), async |fx| fx.delay(3600).await)
        .unwrap();
}

#[test]
fn what_is_gone_ends_the_flow_aborted_before_its_turn() {
    let mut t = start();
    let (w, there) = (t.world, There::new());
    ForEach::index(9)
        .each(|cx: &mut C<'_>, i| say(cx, i))
        .completed(|cx, _| say(cx, "never"))
        .bound_while(there.asked())
        .on_finished(finished)
        .world(w)
        .start(&mut t.cx())
        .unwrap();
    let every = async |fx: FlowCx<Game>| {
        loop {
            tell(&fx, "turn");
            fx.next_tick().await?;
        }
    };
    let flow = Flow::new("every").world(w).bound_while(there.asked());
    let flow = flow.on_finished(finished);
    flow.spawn(&mut t.cx(), every).unwrap();
    t.tick(0.1);
    assert_eq!(log(&t), ["1: 0", "1: turn"]);
    there.take_away();
    t.tick(0.1);
    assert_eq!(log(&t), ["2: Aborted", "2: Aborted"]);
    assert!(t.cx().flow_list().is_empty());
}

#[test]
fn what_is_gone_before_the_first_turn_gets_none() {
    let mut t = start();
    let there = There::new();
    asleep(&mut t, &there);
    there.take_away();
    t.tick(0.1);
    assert_eq!(log(&t), ["1: Aborted"]);
}

#[test]
fn those_asleep_are_asked_in_a_sweep_of_64_a_frame() {
    let mut t = start();
    let there = There::new();
    for _ in 0..200 {
        asleep(&mut t, &there);
    }
    t.ticks(0.1, 5);
    there.take_away();
    // 200 in four frames, and one in which the round may have ended.
    t.ticks(0.1, 5);
    assert_eq!(log(&t).len(), 200);
    assert!(t.cx().flow_list().is_empty());
}

#[test]
fn the_sweep_reaches_everybody_though_some_end_and_others_stay() {
    let mut t = start();
    let (goes, stays) = (There::new(), There::new());
    for i in 0..300 {
        asleep(&mut t, if i % 3 == 0 { &goes } else { &stays });
    }
    t.ticks(0.1, 3);
    goes.take_away();
    t.ticks(0.1, 11);
    assert_eq!(log(&t).len(), 100);
    assert_eq!(t.cx().flow_list().len(), 200);
    stays.take_away();
    t.ticks(0.1, 10);
    assert_eq!(log(&t).len(), 200);
}

#[test]
fn a_question_that_panics_ends_the_flow_panicked_with_one_report() {
    let mut t = start();
    t.rt.set_panic_policy(PanicPolicy::Isolate);
    let flow = Flow::new("asleep").world(t.world).on_finished(finished);
    let flow = flow.bound_while(|cx: &C<'_>| {
        assert!(cx.frame() < 3, "on purpose");
        true
    });
    flow.spawn(&mut t.cx(), async |fx| fx.delay(3600).await)
        .unwrap();
    t.ticks(0.1, 9);
    assert_eq!(log(&t).len(), 1);
    assert_eq!(reports(&t), ["Panicked"]);
}

#[test]
fn a_cancel_of_what_is_gone_aborts_and_reaches_no_gameplay_callback() {
    let mut t = start();
    let (w, there) = (t.world, There::new());
    let flow = DoForDuration::new(9, |_: &mut C<'_>, _, _| ())
        .completed(|cx, _| say(cx, "never"))
        .bound_while(there.asked())
        .on_finished(finished)
        .world(w)
        .start(&mut t.cx())
        .unwrap();
    t.tick(0.1);
    there.take_away();
    t.cx().cancel(flow);
    assert_eq!(log(&t), ["1: Aborted"]);
}

#[test]
fn a_batch_ends_with_the_item_after_which_it_is_gone() {
    let mut t = start();
    let (w, there) = (t.world, There::new());
    let theirs = there.clone();
    ForEach::index(9)
        .items_per_tick(9)
        .each(move |cx: &mut C<'_>, i| {
            say(cx, i);
            theirs.take_away();
        })
        .completed(|cx, _| say(cx, "never"))
        .bound_while(there.asked())
        .on_finished(finished)
        .world(w)
        .start(&mut t.cx())
        .unwrap();
    t.ticks(0.1, 2);
    assert_eq!(log(&t), ["1: 0", "1: Aborted"]);
}

#[test]
fn a_condition_is_not_polled_for_what_is_gone_already_also_not_during_the_start() {
    let mut t = start();
    let (w, there) = (t.world, There::new());
    there.take_away();
    let wait = WaitUntil::new(|cx: &mut C<'_>, _| {
        say(cx, "polled");
        true
    })
    .check_immediately()
    .satisfied(|cx| say(cx, "never"))
    .bound_while(there.asked())
    .on_finished(finished)
    .world(w)
    .start(&mut t.cx());
    t.tick(0.1);
    let lines = log(&t);
    assert!(
        lines.len() == 1 && lines[0].ends_with("Aborted"),
        "{lines:?}, {wait:?}"
    );
}
