//! Loops with an async body: everything the builder can be told, and the same answer to it.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use crate::probe::{C, Game, Test, log, reports, say, start, story, tell};
use sc_core::{Clock, Stopwatch, secs};
use sc_flow::{
    Done, Flow, FlowCx, FlowError, FlowExt, ForEach, Progress, Step, WaitingFor, join, race,
};

/// What both forms are told.
#[derive(Clone, Copy)]
struct Setup {
    delay: f64,
    before_first: bool,
    items: i64,
    budget: Option<f64>,
    clock: Clock,
}

const PLAIN: Setup = Setup {
    delay: 0.0,
    before_first: false,
    items: 1,
    budget: None,
    clock: Clock::Game,
};

/// A loop over `items` letters in one of the forms; each item spends 4 ms of the stopwatch.
fn begin(t: &mut Test, is_async: bool, items: &'static str, s: Setup) {
    let w = t.world;
    let hand = Hand::default();
    t.rt.set_stopwatch(hand.clone());
    if is_async {
        let body = async move |fx: FlowCx<Game>| {
            let mut node = fx.for_each(items.chars()).delay(s.delay).on(s.clock);
            node = node
                .delay_before_first(s.before_first)
                .items_per_tick(s.items);
            if let Some(budget) = s.budget {
                node = node.budget(budget);
            }
            let done = node.each(async |letter| {
                hand.spend(4);
                tell(&fx, letter);
            });
            let done = done.await?;
            tell(&fx, format!("{done:?}"));
            Ok(())
        };
        // Runs through a pause, as does each clock it is told to count on.
        let flow = Flow::new("story").world(w).clock(Clock::Real);
        flow.spawn(&mut t.cx(), body).unwrap();
    } else {
        let mut node = ForEach::items(items.chars()).delay(s.delay).clock(s.clock);
        node = node
            .delay_before_first(s.before_first)
            .items_per_tick(s.items);
        if let Some(budget) = s.budget {
            node = node.budget(budget);
        }
        let node = node.each(move |cx: &mut C<'_>, letter| {
            hand.spend(4);
            say(cx, letter);
        });
        let node = node.completed(|cx, finish| say(cx, format!("{finish:?}")));
        node.world(w).start(&mut t.cx()).unwrap();
    }
}

/// Both forms give this log.
fn check(items: &'static str, s: Setup, deltas: &[f64], expected: &[&str]) {
    for is_async in [false, true] {
        let mut t = start();
        begin(&mut t, is_async, items, s);
        for &delta in deltas {
            t.tick(delta);
        }
        assert_eq!(log(&t), expected, "async: {is_async}");
        assert_eq!(reports(&t), [""; 0]);
    }
}

/// A stopwatch moved by hand.
#[derive(Clone, Default)]
struct Hand(Rc<Cell<Duration>>);

impl Hand {
    fn spend(&self, millis: u64) {
        self.0.set(self.0.get() + Duration::from_millis(millis));
    }
}

impl Stopwatch for Hand {
    fn now(&self) -> Duration {
        self.0.get()
    }
}

#[test]
fn delay_before_first_waits_one_delay_before_the_first_item() {
    let setup = Setup {
        delay: 0.5,
        before_first: true,
        ..PLAIN
    };
    let expected = ["2: a", "4: b", "4: Completed"];
    check("ab", setup, &[0.25; 6], &expected);
    let no_delay = Setup {
        before_first: true,
        ..PLAIN
    };
    check(
        "ab",
        no_delay,
        &[0.25; 3],
        &["1: a", "2: b", "2: Completed"],
    );
}

#[test]
fn items_per_tick_is_the_size_of_a_batch_of_a_loop_with_a_delay_too() {
    for (items, expected) in [
        (
            2,
            &["1: a", "1: b", "3: c", "3: d", "5: e", "5: Completed"][..],
        ),
        (9, &["1: a", "1: b", "1: c", "1: d", "1: e", "1: Completed"]),
        (0, &["1: a", "3: b", "5: c", "7: d", "9: e", "9: Completed"]),
        (
            -7,
            &["1: a", "3: b", "5: c", "7: d", "9: e", "9: Completed"],
        ),
    ] {
        let setup = Setup {
            delay: 0.2,
            items,
            ..PLAIN
        };
        check("abcde", setup, &[0.1; 10], expected);
    }
}

#[test]
fn a_hitch_runs_one_batch_and_the_part_below_one_delay_carries_over() {
    let setup = Setup {
        delay: 0.25,
        items: 2,
        ..PLAIN
    };
    let deltas = [0.1, 0.1, 1.0, 0.1, 0.1, 0.1];
    let expected = ["1: a", "1: b", "3: c", "3: d", "5: e", "5: f"];
    check("abcdefgh", setup, &deltas, &expected);
}

#[test]
fn a_time_budget_goes_on_until_it_is_spent_and_at_least_one_item_runs() {
    for (budget, expected) in [
        (0.010, &["1: a", "1: b", "1: c", "2: d", "2: e", "2: f"][..]),
        (0.004, &["1: a", "2: b"]),
        (0.0, &["1: a", "2: b"]),
    ] {
        let setup = Setup {
            budget: Some(budget),
            ..PLAIN
        };
        check("abcdefgh", setup, &[0.1; 2], expected);
    }
}

#[test]
fn a_budget_and_a_delay_go_together() {
    let setup = Setup {
        budget: Some(0.008),
        delay: 0.2,
        ..PLAIN
    };
    let expected = ["1: a", "1: b", "3: c", "3: d"];
    check("abcdefgh", setup, &[0.1; 4], &expected);
}

#[test]
fn it_counts_on_the_clock_asked_for() {
    for (clock, expected) in [
        (Clock::Game, &["1: a", "5: b", "5: Completed"][..]),
        (Clock::Real, &["1: a", "2: b", "2: Completed"]),
    ] {
        for is_async in [false, true] {
            let mut t = start();
            let w = t.world;
            let setup = Setup {
                delay: 0.25,
                clock,
                ..PLAIN
            };
            begin(&mut t, is_async, "ab", setup);
            t.tick(0.25);
            t.cx().set_paused(w, true).unwrap();
            t.ticks(0.25, 3);
            t.cx().set_paused(w, false).unwrap();
            t.tick(0.25);
            assert_eq!(log(&t), expected, "{clock:?}, async: {is_async}");
        }
    }
}

#[test]
fn a_loop_over_nothing_is_over_at_once_also_with_a_delay_before_the_first() {
    let mut t = start();
    story(&mut t, "story", async |fx: FlowCx<Game>| {
        let none = fx.for_each(0..0).delay(9).delay_before_first(true);
        let done = none.each(async |_| ()).await?;
        tell(&fx, format!("{done:?}"));
        Ok(())
    });
    t.tick(0.1);
    assert_eq!(log(&t), ["1: Completed"]);
}

#[test]
fn a_bad_delay_or_budget_is_refused_and_no_body_runs() {
    let mut t = start();
    story(&mut t, "story", async |fx: FlowCx<Game>| {
        let fx = &fx;
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300] {
            let body = async |_| tell(fx, "never");
            let delayed = fx.for_each(0..3).delay(bad).each(body).await;
            assert!(matches!(delayed, Err(FlowError::BadTime(_))), "{bad}");
            let budget = fx.for_each(0..3).budget(bad).each(body).await;
            assert!(matches!(budget, Err(FlowError::BadTime(_))), "{bad}");
            let short = fx.for_each_with_delay(3, bad, body).await;
            assert!(matches!(short, Err(FlowError::BadTime(_))), "{bad}");
        }
        tell(fx, "refused");
        Ok(())
    });
    t.tick(0.1);
    assert_eq!(log(&t), ["1: refused"]);
}

#[test]
fn without_a_stopwatch_a_budget_means_one_item_a_frame_with_one_report() {
    let mut t = start();
    story(&mut t, "loader", async |fx: FlowCx<Game>| {
        let body = async |i| tell(&fx, i);
        fx.for_each(0..100).budget(1).each(body).await?;
        Ok(())
    });
    t.ticks(0.1, 3);
    assert_eq!(log(&t), ["1: 0", "2: 1", "3: 2"]);
    let reported = t.reports.take();
    assert_eq!(reported.len(), 1);
    assert_eq!(reported[0].object.as_deref(), Some("loader"));
}

#[test]
fn a_body_that_parks_ends_its_batch_and_the_rest_is_not_made_up() {
    let mut t = start();
    story(&mut t, "story", async |fx: FlowCx<Game>| {
        let body = async |i| {
            tell(&fx, i);
            if i == 1 {
                fx.ticks(2).await?;
            }
            Ok::<(), FlowError>(())
        };
        fx.for_each(0..9).items_per_tick(3).each(body).await?;
        Ok(())
    });
    t.ticks(0.1, 5);
    // As the builder that is continued in frame 3: its next batch comes in frame 4.
    assert_eq!(
        log(&t),
        [
            "1: 0", "1: 1", "4: 2", "4: 3", "4: 4", "5: 5", "5: 6", "5: 7"
        ]
    );
}

#[test]
fn while_a_body_parks_the_delay_stands_still() {
    let mut t = start();
    story(&mut t, "story", async |fx: FlowCx<Game>| {
        let body = async |i: usize| {
            tell(&fx, i);
            fx.ticks(2).await
        };
        fx.for_each(0..3).delay(0.5).each(body).await?;
        Ok(())
    });
    t.ticks(0.25, 9);
    assert_eq!(log(&t), ["1: 0", "5: 1", "9: 2"]);
}

#[test]
fn a_step_of_suspend_ends_the_batch() {
    let mut t = start();
    story(&mut t, "story", async |fx: FlowCx<Game>| {
        let body = async |i| {
            tell(&fx, i);
            if i == 1 {
                Step::Suspend
            } else {
                Step::Continue
            }
        };
        let done = fx.for_each(0..5).items_per_tick(3).each(body).await?;
        assert_eq!(done, Done::Completed);
        Ok(())
    });
    t.ticks(0.1, 2);
    assert_eq!(log(&t), ["1: 0", "1: 1", "2: 2", "2: 3", "2: 4"]);
}

#[test]
fn a_body_that_ends_its_flow_has_no_further_item_in_its_batch() {
    let mut t = start();
    let ends = async |fx: FlowCx<Game>| {
        let body = async |i| {
            tell(&fx, i);
            fx.with(|cx| {
                let me = cx.host().flow.unwrap();
                cx.cancel(me);
            })
        };
        fx.for_each(0..9).items_per_tick(9).each(body).await?;
        tell(&fx, "never");
        Ok(())
    };
    let flow = story(&mut t, "story", ends);
    t.host.flow = Some(flow);
    t.ticks(0.1, 2);
    assert_eq!(log(&t), ["1: 0"]);
    assert!(t.cx().flow_list().is_empty());
}

#[test]
fn it_counts_from_when_it_is_made() {
    let mut t = start();
    story(&mut t, "story", async |fx: FlowCx<Game>| {
        fx.next_tick().await?;
        let node = fx.for_each(0..2).delay(0.5).delay_before_first(true);
        fx.delay(0.25).await?;
        node.each(async |i| tell(&fx, i)).await?;
        Ok(())
    });
    t.ticks(0.25, 8);
    // Made in frame 2: 0.5 s later is frame 4.
    assert_eq!(log(&t), ["4: 0", "6: 1"]);
}

#[test]
fn two_loops_run_side_by_side_in_one_flow() {
    let mut t = start();
    story(&mut t, "story", async |fx: FlowCx<Game>| {
        let fast = fx.for_each("abc".chars()).each(async |c| tell(&fx, c));
        let slow = fx.for_each(0..2).delay(0.2).each(async |i| tell(&fx, i));
        let (fast, slow) = join(fast, slow).await;
        fast.and(slow)?;
        Ok(())
    });
    t.ticks(0.1, 3);
    assert_eq!(log(&t), ["1: a", "1: 0", "2: b", "3: c", "3: 1"]);
}

#[test]
fn the_list_shows_the_next_index_and_what_the_loop_waits_for() {
    let mut t = start();
    story(&mut t, "story", async |fx: FlowCx<Game>| {
        let body = async |i: usize| match i {
            1 => fx.delay(0.2).await,
            _ => Ok(()),
        };
        fx.for_each(0..4).delay(0.2).each(body).await?;
        fx.delay(9).await
    });
    let info = |t: &mut Test| {
        let info = t.cx().flow_list().remove(0);
        (info.progress, info.waiting_for)
    };
    let of_four = |next| Progress::Index { next, of: Some(4) };
    t.tick(0.1);
    assert_eq!(info(&mut t), (of_four(1), WaitingFor::Time));
    t.ticks(0.1, 2);
    assert_eq!(info(&mut t), (of_four(2), WaitingFor::Await));
    t.ticks(0.1, 3);
    assert_eq!(info(&mut t), (of_four(2), WaitingFor::Time));
    t.ticks(0.1, 10);
    assert_eq!(info(&mut t), (Progress::Unknown, WaitingFor::Await));
}

#[test]
fn a_loop_that_is_given_up_is_forgotten_by_the_list_and_by_the_warnings() {
    let mut t = start();
    story(&mut t, "story", async |fx: FlowCx<Game>| {
        let endless = fx.for_each(0..).each(async |_| ());
        race(endless, fx.delay(0.1)).await;
        let endless = fx.wait_until(|_, _| false);
        race(endless, fx.delay(0.1)).await;
        let endless = fx.do_for_duration(9, |_, _, _| ());
        race(endless, fx.delay(0.1)).await;
        fx.delay(1_000).await
    });
    t.ticks(0.1, 5);
    let info = t.cx().flow_list().remove(0);
    assert_eq!(info.progress, Progress::Unknown);
    assert_eq!(info.waiting_for, WaitingFor::Await);
    t.ticks(1, 100);
    assert_eq!(reports(&t), [""; 0], "nothing waits without deadline");
}

#[test]
fn the_short_forms_are_the_same_loop() {
    let mut t = start();
    story(&mut t, "story", async |fx: FlowCx<Game>| {
        let body = async |i| tell(&fx, format!("short {i}"));
        let short = fx.for_each_with_delay(3, secs(0.2), body);
        let body = async |i| tell(&fx, format!("long {i}"));
        let long = fx.for_each(0..3).delay(secs(0.2)).each(body);
        let (short, long) = join(short, long).await;
        assert_eq!((short?, long?), (Done::Completed, Done::Completed));
        Ok(())
    });
    t.ticks(0.1, 5);
    let expected = [
        "1: short 0",
        "1: long 0",
        "3: short 1",
        "3: long 1",
        "5: short 2",
        "5: long 2",
    ];
    assert_eq!(log(&t), expected);
}
