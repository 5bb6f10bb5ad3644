//! For each index with delay, and per tick: the builder and the async form side by side.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use crate::probe::{C, Test, log, reports, say, start, story, tell};
use sc_core::{Clock, Stopwatch};
use sc_flow::{Done, Flow, FlowError, FlowExt, FlowId, ForEach, Progress, Step, WaitingFor};

fn builder(t: &mut Test, count: i64, delay: f64, clock: Clock) -> FlowId {
    let w = t.world;
    ForEach::index(count)
        .delay(delay)
        .each(|cx: &mut C<'_>, i| say(cx, i))
        .completed(|cx, f| say(cx, format!("{f:?}")))
        .world(w)
        .clock(clock)
        .start(&mut t.cx())
        .unwrap()
}

fn awaited(t: &mut Test, count: i64, delay: f64, clock: Clock) {
    let w = t.world;
    Flow::new("story")
        .world(w)
        .clock(clock)
        .spawn(&mut t.cx(), async move |fx| {
            let done = fx
                .for_each_with_delay(count, delay, async |i| tell(&fx, i))
                .await?;
            tell(&fx, format!("{done:?}"));
            Ok(())
        })
        .unwrap();
}

/// Both forms over the same deltas give this log.
fn check(count: i64, delay: f64, deltas: &[f64], expected: &[&str]) {
    for is_async in [false, true] {
        let mut t = start();
        if is_async {
            awaited(&mut t, count, delay, Clock::Game);
        } else {
            builder(&mut t, count, delay, Clock::Game);
        }
        for &delta in deltas {
            t.tick(delta);
        }
        assert_eq!(log(&t), expected, "async: {is_async}");
    }
}

#[test]
fn index_0_comes_on_the_first_tick_and_the_delay_counts_between_iterations() {
    check(
        3,
        0.25,
        &[0.25; 5],
        &["1: 0", "2: 1", "3: 2", "3: Completed"],
    );
    check(
        3,
        0.5,
        &[0.25; 7],
        &["1: 0", "3: 1", "5: 2", "5: Completed"],
    );
}

#[test]
fn a_delay_of_zero_or_less_means_the_next_tick() {
    let expected = ["1: 0", "2: 1", "3: 2", "3: Completed"];
    check(3, 0.0, &[0.1; 5], &expected);
    check(3, -1.0, &[0.1; 5], &expected);
}

#[test]
fn a_hitch_over_several_delays_runs_one_batch_and_the_rest_below_one_delay_carries_over() {
    // Due at 0.35, 0.6, ..: the hitch from 0.2 to 1.2 covers the moments up to 1.1; then 1.35.
    check(
        4,
        0.25,
        &[0.1, 0.1, 1.0, 0.1, 0.1, 0.1],
        &["1: 0", "3: 1", "5: 2"],
    );
}

#[test]
fn without_hitch_there_is_no_drift() {
    // Index k at 0.1 + k * 0.25.
    check(
        5,
        0.25,
        &[0.1; 11],
        &["1: 0", "4: 1", "6: 2", "9: 3", "11: 4", "11: Completed"],
    );
}

#[test]
fn a_count_of_zero_or_less_completes_during_the_start() {
    for count in [0, -3, i64::MIN] {
        let mut t = start();
        let flow = builder(&mut t, count, 1.0, Clock::Game);
        assert_eq!(log(&t), ["0: Completed"]);
        assert!(matches!(t.cx().flow(flow), Err(FlowError::Gone)));
        t.tick(0.1);
        assert_eq!(log(&t), [""; 0]);
        awaited(&mut t, count, 1.0, Clock::Game);
        t.tick(0.1);
        assert_eq!(log(&t), ["2: Completed"]);
    }
}

#[test]
fn delay_before_first_waits_one_delay_before_index_0() {
    let mut t = start();
    let w = t.world;
    ForEach::index(2)
        .delay(0.5)
        .delay_before_first(true)
        .each(|cx: &mut C<'_>, i| say(cx, i))
        .completed(|cx, f| say(cx, format!("{f:?}")))
        .world(w)
        .start(&mut t.cx())
        .unwrap();
    t.ticks(0.25, 6);
    assert_eq!(log(&t), ["2: 0", "4: 1", "4: Completed"]);
}

#[test]
fn items_per_tick_is_the_size_of_a_batch_and_below_1_counts_as_1() {
    for (items, expected) in [
        (
            2,
            &["1: 0", "1: 1", "3: 2", "3: 3", "5: 4", "5: Completed"][..],
        ),
        (9, &["1: 0", "1: 1", "1: 2", "1: 3", "1: 4", "1: Completed"]),
        (0, &["1: 0", "3: 1", "5: 2", "7: 3", "9: 4", "9: Completed"]),
        (
            -7,
            &["1: 0", "3: 1", "5: 2", "7: 3", "9: 4", "9: Completed"],
        ),
    ] {
        let mut t = start();
        let w = t.world;
        ForEach::index(5)
            .delay(0.2)
            .items_per_tick(items)
            .each(|cx: &mut C<'_>, i| say(cx, i))
            .completed(|cx, f| say(cx, format!("{f:?}")))
            .world(w)
            .start(&mut t.cx())
            .unwrap();
        t.ticks(0.1, 10);
        assert_eq!(log(&t), expected, "{items} a tick");
    }
}

#[test]
fn per_tick_runs_so_many_a_frame_over_any_iterator_in_both_forms() {
    for (items, expected) in [
        (2, &["1: a", "1: b", "2: c", "2: Completed"][..]),
        (0, &["1: a", "2: b", "3: c", "3: Completed"]),
        (-1, &["1: a", "2: b", "3: c", "3: Completed"]),
        (i64::MAX, &["1: a", "1: b", "1: c", "1: Completed"]),
    ] {
        let mut t = start();
        let w = t.world;
        ForEach::items("abc".chars())
            .items_per_tick(items)
            .each(|cx: &mut C<'_>, letter| say(cx, letter))
            .completed(|cx, f| say(cx, format!("{f:?}")))
            .world(w)
            .start(&mut t.cx())
            .unwrap();
        t.ticks(0.1, 4);
        assert_eq!(log(&t), expected);
        let mut t = start();
        story(&mut t, "story", async move |fx| {
            let letters = "abc".chars();
            let done = fx
                .for_each_per_tick(letters, items, async |letter| tell(&fx, letter))
                .await?;
            tell(&fx, format!("{done:?}"));
            Ok(())
        });
        t.ticks(0.1, 4);
        assert_eq!(log(&t), expected);
    }
}

#[test]
fn suspend_parks_the_loop_until_it_is_continued_and_the_delay_stands_still_meanwhile() {
    let mut t = start();
    let w = t.world;
    let flow = ForEach::index(3)
        .delay(0.5)
        .each(|cx: &mut C<'_>, i| {
            say(cx, i);
            if i == 0 {
                Step::Suspend
            } else {
                Step::Continue
            }
        })
        .world(w)
        .start(&mut t.cx())
        .unwrap();
    t.ticks(0.25, 5);
    assert_eq!(log(&t), ["1: 0"]);
    let info = t.cx().flow(flow).unwrap();
    assert_eq!(info.waiting_for, WaitingFor::Continue);
    assert!(t.cx().continue_loop(flow));
    assert_eq!(log(&t), [""; 0], "never synchronously");
    assert!(!t.cx().continue_loop(flow), "it is not parked any more");
    t.ticks(0.25, 3);
    assert_eq!(log(&t), ["7: 1"], "half a second after it went on");
}

#[test]
fn continue_sent_while_not_parked_does_nothing() {
    let mut t = start();
    let w = t.world;
    let flow = ForEach::index(3)
        .delay(0.2)
        .each(|cx: &mut C<'_>, i| {
            say(cx, i);
            if i == 1 {
                Step::Suspend
            } else {
                Step::Continue
            }
        })
        .world(w)
        .start(&mut t.cx())
        .unwrap();
    assert!(!t.cx().continue_loop(flow));
    t.tick(0.1);
    assert!(!t.cx().continue_loop(flow));
    t.ticks(0.1, 5);
    assert_eq!(log(&t), ["1: 0", "3: 1"], "it is not saved up");
}

#[test]
fn continue_sent_from_inside_the_body_counts_once() {
    let mut t = start();
    let w = t.world;
    let flow = ForEach::index(5)
        .each(|cx: &mut C<'_>, i| {
            say(cx, i);
            let me = cx.host().flow.unwrap();
            if i == 0 {
                cx.continue_loop(me);
                cx.continue_loop(me);
            }
            Step::Suspend
        })
        .completed(|cx, f| say(cx, format!("{f:?}")))
        .world(w)
        .start(&mut t.cx())
        .unwrap();
    t.host.flow = Some(flow);
    t.ticks(0.1, 4);
    assert_eq!(log(&t), ["1: 0", "2: 1"]);
    let info = t.cx().flow(flow).unwrap();
    assert_eq!(info.waiting_for, WaitingFor::Continue);
}

#[test]
fn continue_from_inside_a_body_that_then_says_continue_is_not_kept_for_the_next_suspend() {
    let mut t = start();
    let w = t.world;
    let flow = ForEach::index(5)
        .each(|cx: &mut C<'_>, i| {
            say(cx, i);
            let me = cx.host().flow.unwrap();
            if i == 0 {
                cx.continue_loop(me);
                return Step::Continue;
            }
            Step::Suspend
        })
        .world(w)
        .start(&mut t.cx())
        .unwrap();
    t.host.flow = Some(flow);
    t.ticks(0.1, 4);
    assert_eq!(log(&t), ["1: 0", "2: 1"]);
}

#[test]
fn break_wins_over_continue() {
    let mut t = start();
    let w = t.world;
    let flow = ForEach::index(5)
        .each(|cx: &mut C<'_>, i| {
            say(cx, i);
            let me = cx.host().flow.unwrap();
            cx.continue_loop(me);
            Step::Break
        })
        .completed(|cx, f| say(cx, format!("{f:?}")))
        .world(w)
        .start(&mut t.cx())
        .unwrap();
    t.host.flow = Some(flow);
    t.ticks(0.1, 2);
    assert_eq!(log(&t), ["1: 0", "1: Broken"]);
}

#[test]
fn continue_on_the_last_index_ends_the_loop_inside_the_call() {
    let mut t = start();
    let w = t.world;
    for from_body in [false, true] {
        let flow = ForEach::index(1)
            .each(move |cx: &mut C<'_>, _| {
                if from_body {
                    let me = cx.host().flow.unwrap();
                    cx.continue_loop(me);
                }
                Step::Suspend
            })
            .completed(|cx, f| cx.host().log.add(format!("{f:?}")))
            .world(w)
            .start(&mut t.cx())
            .unwrap();
        t.host.flow = Some(flow);
        t.tick(0.1);
        if !from_body {
            assert_eq!(log(&t), [""; 0]);
            assert!(t.cx().continue_loop(flow));
        }
        assert_eq!(log(&t), ["Completed"]);
        assert!(matches!(t.cx().flow(flow), Err(FlowError::Gone)));
    }
}

#[test]
fn suspend_ends_the_batch_and_the_rest_of_it_is_skipped_not_made_up() {
    let mut t = start();
    let w = t.world;
    let flow = ForEach::index(8)
        .items_per_tick(3)
        .each(|cx: &mut C<'_>, i| {
            say(cx, i);
            if i == 1 {
                Step::Suspend
            } else {
                Step::Continue
            }
        })
        .world(w)
        .start(&mut t.cx())
        .unwrap();
    t.ticks(0.1, 2);
    assert_eq!(log(&t), ["1: 0", "1: 1"]);
    t.cx().continue_loop(flow);
    t.tick(0.1);
    assert_eq!(log(&t), ["3: 2", "3: 3", "3: 4"]);
}

#[test]
fn an_async_body_parks_the_loop_by_awaiting_and_the_delay_stands_still_meanwhile() {
    let mut t = start();
    story(&mut t, "story", async |fx| {
        let body = async |i: usize| {
            tell(&fx, format!("{i} begins"));
            fx.delay(0.5).await?;
            tell(&fx, format!("{i} ends"));
            Ok::<(), FlowError>(())
        };
        fx.for_each_with_delay(2, 0.5, body).await?;
        Ok(())
    });
    t.ticks(0.25, 9);
    // The first body's wait was made before any await had completed: it counts from the start.
    assert_eq!(
        log(&t),
        ["1: 0 begins", "2: 0 ends", "4: 1 begins", "6: 1 ends"]
    );
}

#[test]
fn parked_without_delay_the_next_iteration_comes_on_the_next_tick_in_both_forms() {
    let mut t = start();
    let w = t.world;
    let flow = ForEach::index(3)
        .each(|cx: &mut C<'_>, i| {
            say(cx, i);
            Step::Suspend
        })
        .world(w)
        .start(&mut t.cx())
        .unwrap();
    story(&mut t, "continuer", async move |fx| {
        loop {
            fx.ticks(1).await?;
            fx.with(|cx| cx.continue_loop(flow))?;
            fx.ticks(1).await?;
        }
    });
    t.ticks(0.1, 5);
    let by_builder = log(&t);
    assert_eq!(by_builder, ["1: 0", "3: 1", "5: 2"]);
    let mut t = start();
    story(&mut t, "story", async |fx| {
        let body = async |i: usize| {
            tell(&fx, i);
            fx.next_tick().await
        };
        fx.for_each_with_delay(3, 0, body).await?;
        Ok(())
    });
    t.ticks(0.1, 5);
    assert_eq!(log(&t), by_builder);
}

#[test]
fn async_bodies_return_nothing_a_step_or_a_result_of_one() {
    let mut t = start();
    story(&mut t, "story", async |fx| {
        let fx = &fx;
        let done = fx.for_each_per_tick(0..2, 9, async |_| ()).await?;
        assert_eq!(done, Done::Completed);
        let done = fx
            .for_each_per_tick(
                0..9,
                9,
                async |i| {
                    if i == 1 { Step::Break } else { Step::Continue }
                },
            )
            .await?;
        assert_eq!(done, Done::Broken);
        let done = fx
            .for_each_per_tick(0..9, 9, async |_| Ok::<_, FlowError>(Step::Break))
            .await?;
        assert_eq!(done, Done::Broken);
        let mut reached = 0;
        let failed = fx
            .for_each_per_tick(0..9, 9, async |i| {
                reached = i;
                if i == 2 {
                    Err(FlowError::other("no"))
                } else {
                    Ok(())
                }
            })
            .await;
        assert_eq!(failed.unwrap_err().to_string(), "no");
        assert_eq!(reached, 2, "an error ends the loop, and is the awaiter's");
        tell(fx, "all seen");
        Ok(())
    });
    t.ticks(0.1, 9);
    assert_eq!(log(&t).len(), 1);
    assert_eq!(reports(&t), [""; 0]);
}

#[test]
fn it_runs_on_any_clock_and_a_paused_world_runs_none_and_banks_none() {
    for (clock, expected) in [
        (Clock::Game, &["1: 0", "6: 1"][..]),
        (Clock::Unscaled, &["1: 0", "6: 1"]),
        (
            Clock::GameThroughPause,
            &["1: 0", "3: 1", "5: 2", "5: Completed"],
        ),
        (Clock::Real, &["1: 0", "3: 1", "5: 2", "5: Completed"]),
    ] {
        for is_async in [false, true] {
            let mut t = start();
            let w = t.world;
            if is_async {
                awaited(&mut t, 3, 0.5, clock);
            } else {
                builder(&mut t, 3, 0.5, clock);
            }
            t.tick(0.25);
            t.cx().set_paused(w, true).unwrap();
            t.ticks(0.25, 3);
            t.cx().set_paused(w, false).unwrap();
            t.ticks(0.25, 3);
            assert_eq!(log(&t), expected, "{clock:?}, async: {is_async}");
        }
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
fn a_time_budget_goes_on_until_it_is_spent_and_at_least_one_item_runs() {
    for (budget, expected) in [
        (0.010, &["1: 0", "1: 1", "1: 2", "2: 3", "2: 4", "2: 5"][..]),
        (0.004, &["1: 0", "2: 1"]),
        (0.0, &["1: 0", "2: 1"]),
    ] {
        let mut t = start();
        let w = t.world;
        let hand = Hand::default();
        t.rt.set_stopwatch(hand.clone());
        ForEach::items(0..100)
            .budget(budget)
            .each(move |cx: &mut C<'_>, i| {
                say(cx, i);
                hand.spend(4);
            })
            .world(w)
            .start(&mut t.cx())
            .unwrap();
        t.ticks(0.1, 2);
        assert_eq!(log(&t), expected, "{budget}");
    }
}

#[test]
fn without_a_stopwatch_a_budget_means_one_item_a_frame_with_one_report() {
    let mut t = start();
    let w = t.world;
    ForEach::items(0..100)
        .budget(1)
        .each(move |cx: &mut C<'_>, i| say(cx, i))
        .world(w)
        .start(&mut t.cx())
        .unwrap();
    t.ticks(0.1, 3);
    assert_eq!(log(&t), ["1: 0", "2: 1", "3: 2"]);
    assert_eq!(t.reports.take().len(), 1);
}

#[test]
fn its_progress_is_the_index_that_comes_next_of_how_many() {
    let mut t = start();
    let w = t.world;
    let indices = builder(&mut t, 4, 0.5, Clock::Game);
    let items = ForEach::items((0..9).filter(|i| i % 2 == 0))
        .each(|_: &mut C<'_>, _| Step::Suspend)
        .world(w)
        .start(&mut t.cx())
        .unwrap();
    let progress = |t: &mut Test, flow| t.cx().flow(flow).unwrap().progress;
    let of_four = |next| Progress::Index { next, of: Some(4) };
    assert_eq!(progress(&mut t, indices), of_four(0));
    t.ticks(0.25, 3);
    assert_eq!(progress(&mut t, indices), of_four(2));
    let unknown = Progress::Index { next: 1, of: None };
    assert_eq!(progress(&mut t, items), unknown);
}
