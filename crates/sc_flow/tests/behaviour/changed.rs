//! Waiting for a value to change, in both forms.

use std::cell::Cell;
use std::rc::Rc;

use crate::probe::{C, Game, Test, log, reports, say, start, story, tell};
use sc_core::{Clock, PanicPolicy};
use sc_flow::{Flow, FlowCx, FlowError, FlowExt, FlowKind, Progress, WaitUntil, WaitingFor};

const FORMS: [bool; 2] = [false, true];

/// Waits for a number that the test sets, with an interval and a timeout (0 = none).
fn begin(t: &mut Test, is_async: bool, every: f64, timeout: f64) -> Rc<Cell<i32>> {
    let w = t.world;
    let number = Rc::new(Cell::new(7));
    let theirs = Rc::clone(&number);
    let read = move |cx: &mut C<'_>| {
        say(cx, format!("read {}", theirs.get()));
        theirs.get()
    };
    if is_async {
        let body = async move |fx: FlowCx<Game>| {
            let node = fx.changed(read).every(every);
            match node.timeout(timeout).await? {
                Some(number) => tell(&fx, format!("now {number}")),
                None => tell(&fx, "timed out"),
            }
            Ok(())
        };
        Flow::new("story")
            .world(w)
            .spawn(&mut t.cx(), body)
            .unwrap();
    } else {
        let seen = Rc::clone(&number);
        WaitUntil::changed(read)
            .every(every)
            .timeout(timeout)
            .satisfied(move |cx| say(cx, format!("now {}", seen.get())))
            .timed_out(|cx| say(cx, "timed out"))
            .world(w)
            .start(&mut t.cx())
            .unwrap();
    }
    number
}

#[test]
fn it_ends_when_the_value_is_another_one_than_when_the_wait_was_made() {
    for (is_async, first) in [(false, "0: read 7"), (true, "1: read 7")] {
        let mut t = start();
        let number = begin(&mut t, is_async, 0.0, 0.0);
        t.ticks(0.1, 2);
        number.set(8);
        t.ticks(0.1, 2);
        let expected = [first, "1: read 7", "2: read 7", "3: read 8", "3: now 8"];
        assert_eq!(log(&t), expected);
        assert!(t.cx().flow_list().is_empty());
    }
}

#[test]
fn a_change_between_the_start_and_the_first_tick_counts() {
    let mut t = start();
    let number = begin(&mut t, false, 0.0, 0.0);
    number.set(8);
    t.tick(0.1);
    assert_eq!(log(&t), ["0: read 7", "1: read 8", "1: now 8"]);
}

#[test]
fn in_a_flow_a_change_between_making_and_awaiting_counts() {
    let mut t = start();
    story(&mut t, "story", async |fx: FlowCx<Game>| {
        let opened = fx.changed(|cx| cx.host().open);
        fx.with(|cx| cx.host_mut().open = true)?;
        let now = opened.await?;
        tell(&fx, now);
        Ok(())
    });
    t.tick(0.1);
    assert_eq!(log(&t), ["1: true"]);
}

#[test]
fn it_reads_at_the_interval_asked_for_and_a_change_back_between_two_polls_is_none() {
    for is_async in FORMS {
        let mut t = start();
        let number = begin(&mut t, is_async, 0.5, 0.0);
        t.tick(0.25);
        number.set(8);
        log(&t);
        t.tick(0.25);
        assert_eq!(log(&t), ["2: read 8", "2: now 8"], "async: {is_async}");

        let mut t = start();
        let number = begin(&mut t, is_async, 0.5, 0.0);
        t.tick(0.25);
        log(&t);
        number.set(8);
        number.set(7);
        t.ticks(0.25, 2);
        assert_eq!(log(&t), ["2: read 7"], "async: {is_async}");
    }
}

#[test]
fn with_a_timeout_the_deadline_wins_over_a_change_on_the_same_frame() {
    for is_async in FORMS {
        let mut t = start();
        let number = begin(&mut t, is_async, 0.0, 0.5);
        t.tick(0.25);
        log(&t);
        number.set(8);
        t.tick(0.25);
        assert_eq!(log(&t), ["2: timed out"], "async: {is_async}");

        let mut t = start();
        let number = begin(&mut t, is_async, 0.0, 0.75);
        t.tick(0.25);
        log(&t);
        number.set(8);
        t.tick(0.25);
        assert_eq!(log(&t), ["2: read 8", "2: now 8"], "async: {is_async}");
    }
}

#[test]
fn a_bad_time_is_refused() {
    let mut t = start();
    let w = t.world;
    for bad in [f64::NAN, f64::INFINITY] {
        let wait = WaitUntil::changed(|cx: &mut C<'_>| cx.host().open).every(bad);
        let refused = wait.world(w).start(&mut t.cx());
        assert!(matches!(refused, Err(FlowError::BadTime(_))));
        story(&mut t, "story", async move |fx| {
            let wait = fx.changed(|cx| cx.host().open).every(bad);
            assert!(matches!(wait.await, Err(FlowError::BadTime(_))));
            let wait = fx.changed(|cx| cx.host().open).timeout(bad);
            assert!(matches!(wait.await, Err(FlowError::BadTime(_))));
            tell(&fx, "refused");
            Ok(())
        });
        t.tick(0.1);
        assert_eq!(log(&t).len(), 1);
    }
}

#[test]
fn a_value_that_is_not_equal_to_itself_has_changed_at_once() {
    let mut t = start();
    let w = t.world;
    WaitUntil::changed(|_: &mut C<'_>| f64::NAN)
        .satisfied(|cx| say(cx, "changed"))
        .world(w)
        .start(&mut t.cx())
        .unwrap();
    story(&mut t, "story", async |fx: FlowCx<Game>| {
        let now = fx.changed(|_| f64::NAN).await?;
        tell(&fx, now);
        Ok(())
    });
    t.tick(0.1);
    assert_eq!(log(&t), ["1: changed", "1: NaN"]);
}

#[test]
fn the_new_value_is_any_type_that_can_be_compared() {
    let mut t = start();
    story(&mut t, "story", async |fx: FlowCx<Game>| {
        let names = fx.changed(|cx| vec![cx.host().open.to_string()]).await?;
        tell(&fx, format!("{names:?}"));
        Ok(())
    });
    t.tick(0.1);
    t.host.open = true;
    t.tick(0.1);
    assert_eq!(log(&t), [r#"2: ["true"]"#]);
}

#[test]
fn it_counts_on_the_clock_asked_for() {
    let mut t = start();
    let w = t.world;
    let body = async |fx: FlowCx<Game>| {
        let wait = fx.changed(|cx| cx.host().open).on(Clock::Game);
        let waited = wait.timeout(0.5).await?;
        tell(&fx, format!("{waited:?}"));
        Ok(())
    };
    let flow = Flow::new("story").world(w).clock(Clock::Real);
    flow.spawn(&mut t.cx(), body).unwrap();
    t.tick(0.25);
    t.cx().set_paused(w, true).unwrap();
    t.ticks(0.25, 3);
    t.cx().set_paused(w, false).unwrap();
    t.tick(0.25);
    assert_eq!(log(&t), ["5: None"]);
}

#[test]
fn a_wait_without_deadline_is_listed_as_a_condition_and_warns_as_any_other() {
    for is_async in FORMS {
        let mut t = start();
        begin(&mut t, is_async, 0.0, 0.0);
        t.tick(0.1);
        let info = t.cx().flow_list().remove(0);
        let kinds = [FlowKind::WaitUntil, FlowKind::Async];
        assert_eq!(info.kind, kinds[usize::from(is_async)]);
        assert_eq!(info.waiting_for, WaitingFor::Condition);
        assert!(matches!(info.progress, Progress::Attempts(_)));
        t.ticks(1, 40);
        assert_eq!(reports(&t), ["EndlessWait"], "async: {is_async}");
    }
}

#[test]
fn a_reader_that_panics_during_the_start_ends_the_wait_panicked() {
    let mut t = start();
    t.rt.set_panic_policy(PanicPolicy::Isolate);
    let w = t.world;
    let wait = WaitUntil::changed(|_: &mut C<'_>| -> u32 { panic!("no") })
        .on_finished(|cx, finish| say(cx, format!("{finish:?}")));
    let refused = wait.world(w).start(&mut t.cx());
    assert!(matches!(refused, Err(FlowError::Panicked)));
    assert_eq!(log(&t), ["0: Panicked"]);
    assert_eq!(reports(&t).len(), 1);
}

#[test]
fn its_owner_gone_ends_it_aborted_and_it_reads_no_more() {
    let mut t = start();
    let w = t.world;
    let owner = crate::probe::thing(&mut t);
    WaitUntil::changed(|cx: &mut C<'_>| say(cx, "read"))
        .owner(&owner)
        .on_finished(|cx, finish| say(cx, format!("{finish:?}")))
        .world(w)
        .start(&mut t.cx())
        .unwrap();
    owner.shutdown(&mut t.cx()).unwrap();
    t.tick(0.1);
    assert_eq!(log(&t), ["0: read", "1: Aborted"]);
}
