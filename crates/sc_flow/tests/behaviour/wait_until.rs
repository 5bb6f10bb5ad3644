//! Wait until: the builder and the async form side by side.

use crate::probe::{C, Test, log, reports, say, start, story, tell, thing};
use sc_core::{Clock, PanicPolicy, Secs, secs};
use sc_flow::{Flow, FlowError, FlowExt, Wait, WaitUntil};

/// How a wait is set up.
#[derive(Clone, Copy)]
struct Setup {
    every: Secs,
    timeout: Secs,
    immediately: bool,
    clock: Clock,
    /// The attempt that is answered by true.
    true_at: u64,
}

impl Default for Setup {
    fn default() -> Self {
        Setup {
            every: secs(0),
            timeout: secs(0),
            immediately: false,
            clock: Clock::Game,
            true_at: u64::MAX,
        }
    }
}

/// Starts the wait as a builder, logging polls and end.
fn builder(t: &mut Test, s: Setup) -> Result<sc_flow::FlowId, FlowError> {
    let w = t.world;
    let mut wait = WaitUntil::new(move |cx: &mut C<'_>, attempt| {
        say(cx, format!("poll {attempt}"));
        attempt == s.true_at
    })
    .every(s.every)
    .timeout(s.timeout)
    .satisfied(|cx| say(cx, "satisfied"))
    .timed_out(|cx| say(cx, "timed out"))
    .world(w)
    .clock(s.clock);
    if s.immediately {
        wait = wait.check_immediately();
    }
    wait.start(&mut t.cx())
}

/// Starts the wait as a story, with the same log.
fn awaited(t: &mut Test, s: Setup) {
    let w = t.world;
    Flow::new("story")
        .world(w)
        .clock(s.clock)
        .spawn(&mut t.cx(), async move |fx| {
            let mut wait = fx
                .wait_until(move |cx, attempt| {
                    say(cx, format!("poll {attempt}"));
                    attempt == s.true_at
                })
                .every(s.every)
                .timeout(s.timeout);
            if s.immediately {
                wait = wait.check_immediately();
            }
            match wait.await? {
                Wait::Satisfied => tell(&fx, "satisfied"),
                Wait::TimedOut => tell(&fx, "timed out"),
            }
            Ok(())
        })
        .unwrap();
}

/// The logs of both forms over the same deltas.
fn both(s: Setup, deltas: &[f64]) -> [Vec<String>; 2] {
    let run = |start_it: &dyn Fn(&mut Test)| {
        let mut t = start();
        start_it(&mut t);
        for &delta in deltas {
            t.tick(delta);
        }
        assert!(t.cx().flow_list().len() <= 1);
        log(&t)
    };
    [
        run(&|t| assert!(builder(t, s).is_ok())),
        run(&|t| awaited(t, s)),
    ]
}

fn check(s: Setup, deltas: &[f64], expected: &[&str]) {
    let [builder, awaited] = both(s, deltas);
    assert_eq!(builder, expected, "builder");
    assert_eq!(awaited, expected, "async");
}

#[test]
fn attempts_count_from_zero_each_tick_until_the_condition_is_true() {
    let s = Setup {
        true_at: 2,
        ..Setup::default()
    };
    let expected = ["1: poll 0", "2: poll 1", "3: poll 2", "3: satisfied"];
    check(s, &[0.1; 5], &expected);
    let negative = Setup {
        every: secs(-1),
        ..s
    };
    check(negative, &[0.1; 5], &expected);
}

#[test]
fn with_an_interval_it_polls_in_the_tick_that_reaches_it_and_the_remainder_carries() {
    let s = Setup {
        every: secs(0.25),
        ..Setup::default()
    };
    check(
        s,
        &[0.1; 10],
        &["3: poll 0", "5: poll 1", "8: poll 2", "10: poll 3"],
    );
}

#[test]
fn at_most_one_poll_a_tick() {
    let s = Setup {
        every: secs(0.25),
        ..Setup::default()
    };
    check(s, &[1.1, 0.1, 0.1, 0.1], &["1: poll 0", "3: poll 1"]);
}

#[test]
fn the_deadline_wins_over_a_condition_true_on_that_tick() {
    let s = Setup {
        timeout: secs(0.3),
        true_at: 2,
        ..Setup::default()
    };
    check(s, &[0.1; 5], &["1: poll 0", "2: poll 1", "3: timed out"]);
}

#[test]
fn a_deadline_between_two_polls_is_met_in_its_own_tick() {
    let s = Setup {
        every: secs(0.5),
        timeout: secs(0.7),
        ..Setup::default()
    };
    check(s, &[0.1; 10], &["5: poll 0", "7: timed out"]);
}

#[test]
fn with_an_interval_of_at_least_the_timeout_it_is_never_polled_on_a_tick() {
    for every in [0.3, 0.4, 100.0] {
        let s = Setup {
            every: secs(every),
            timeout: secs(0.3),
            true_at: 0,
            ..Setup::default()
        };
        check(s, &[0.1; 5], &["3: timed out"]);
        check(s, &[5.0], &["1: timed out"]);
    }
}

#[test]
fn a_timeout_of_zero_or_less_is_no_deadline() {
    for timeout in [0.0, -1.0] {
        let s = Setup {
            timeout: secs(timeout),
            every: secs(50),
            true_at: 1,
            ..Setup::default()
        };
        check(s, &[25.0; 5], &["2: poll 0", "4: poll 1", "4: satisfied"]);
    }
}

#[test]
fn it_counts_on_the_clock_asked_for() {
    for (clock, expected) in [(Clock::Game, "4: timed out"), (Clock::Real, "2: timed out")] {
        let s = Setup {
            timeout: secs(0.5),
            every: secs(9),
            clock,
            ..Setup::default()
        };
        for start_it in [|t: &mut Test, s| assert!(builder(t, s).is_ok()), awaited] {
            let mut t = start();
            let w = t.world;
            t.cx().set_dilation(w, 0.5).unwrap();
            start_it(&mut t, s);
            t.ticks(0.25, 5);
            assert_eq!(log(&t), [expected], "{clock:?}");
        }
    }
}

#[test]
fn checked_immediately_it_polls_once_during_the_start_and_can_complete_there() {
    let s = Setup {
        immediately: true,
        true_at: 0,
        ..Setup::default()
    };
    let mut t = start();
    let flow = builder(&mut t, s).unwrap();
    assert_eq!(log(&t), ["0: poll 0", "0: satisfied"]);
    assert!(matches!(t.cx().flow(flow), Err(FlowError::Gone)));
    t.tick(0.1);
    assert_eq!(log(&t), [""; 0], "never polled again");
    // In a story the start is the await.
    awaited(&mut t, s);
    assert_eq!(log(&t), [""; 0]);
    t.tick(0.1);
    assert_eq!(log(&t), ["2: poll 0", "2: satisfied"]);
}

#[test]
fn checked_immediately_and_false_it_goes_on_with_the_next_attempt() {
    let s = Setup {
        immediately: true,
        true_at: 1,
        every: secs(0.3),
        ..Setup::default()
    };
    let mut t = start();
    builder(&mut t, s).unwrap();
    assert_eq!(log(&t), ["0: poll 0"]);
    t.ticks(0.1, 4);
    assert_eq!(log(&t), ["3: poll 1", "3: satisfied"]);
    let mut t = start();
    awaited(&mut t, s);
    t.ticks(0.1, 4);
    assert_eq!(log(&t), ["1: poll 0", "3: poll 1", "3: satisfied"]);
}

#[test]
fn checked_immediately_a_story_still_polls_at_most_once_a_tick() {
    let s = Setup {
        immediately: true,
        true_at: 1,
        ..Setup::default()
    };
    let mut t = start();
    awaited(&mut t, s);
    t.ticks(0.1, 3);
    assert_eq!(log(&t), ["1: poll 0", "2: poll 1", "2: satisfied"]);
}

#[test]
fn the_immediate_poll_runs_with_the_cx_of_the_flows_world() {
    let mut t = start();
    let w = t.world;
    WaitUntil::new(move |cx: &mut C<'_>, _| {
        let world = cx.world();
        say(cx, world == Some(w));
        true
    })
    .check_immediately()
    .world(w)
    .start(&mut t.cx())
    .unwrap();
    assert_eq!(log(&t), ["0: true"]);
}

#[test]
fn a_panic_in_the_immediate_poll_is_dealt_with_by_the_policy() {
    let mut t = start();
    let w = t.world;
    t.rt.set_panic_policy(PanicPolicy::Isolate);
    let wait = WaitUntil::new(|_: &mut C<'_>, _| panic!("on purpose"))
        .check_immediately()
        .satisfied(|cx| say(cx, "satisfied"))
        .on_finished(|cx, f| say(cx, format!("{f:?}")))
        .world(w);
    assert_eq!(
        crate::probe::caught(|| wait.start(&mut t.cx()).is_ok()),
        None
    );
    assert_eq!(log(&t), ["0: Panicked"]);
    assert_eq!(reports(&t), ["Panicked"]);
}

#[test]
fn an_immediate_poll_that_destroys_the_world_starts_nothing() {
    let mut t = start();
    let w = t.world;
    let error = WaitUntil::new(move |cx: &mut C<'_>, _| cx.destroy_world(w))
        .check_immediately()
        .satisfied(|cx| say(cx, "satisfied"))
        .on_finished(|cx, f| say(cx, format!("{f:?}")))
        .world(w)
        .start(&mut t.cx())
        .unwrap_err();
    assert!(matches!(error, FlowError::NoLiveWorld { .. }));
    assert_eq!(log(&t), ["0: Aborted"]);
    assert_eq!(reports(&t), ["FlowWithoutWorld"]);
}

#[test]
fn bad_times_are_refused_at_the_start_or_by_the_await() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for s in [
            Setup {
                every: secs(bad),
                ..Setup::default()
            },
            Setup {
                timeout: secs(bad),
                ..Setup::default()
            },
        ] {
            let mut t = start();
            let error = builder(&mut t, s).unwrap_err();
            assert!(matches!(error, FlowError::BadTime(_)));
            story(&mut t, "story", async move |fx| {
                let wait = fx.wait_until(|_, _| true).every(s.every).timeout(s.timeout);
                assert!(matches!(wait.await, Err(FlowError::BadTime(_))));
                tell(&fx, "refused");
                Ok(())
            });
            t.tick(0.1);
            assert_eq!(log(&t), ["1: refused"]);
        }
    }
}

#[test]
fn the_flows_owner_comes_before_the_deadline_and_the_poll() {
    let mut t = start();
    let w = t.world;
    let owner = thing(&mut t);
    let id = owner.id();
    story(&mut t, "killer", async move |fx| {
        fx.with(|cx| cx.shutdown(id))??;
        Ok(())
    });
    WaitUntil::new(|cx: &mut C<'_>, _| {
        say(cx, "polled");
        true
    })
    .timeout(0.1)
    .timed_out(|cx| say(cx, "timed out"))
    .on_finished(|cx, f| say(cx, format!("{f:?}")))
    .world(w)
    .owner(&owner)
    .start(&mut t.cx())
    .unwrap();
    t.tick(0.1);
    assert_eq!(log(&t), ["1: Aborted"]);
}

#[test]
fn a_condition_of_an_object_that_is_gone_ends_timed_out_with_a_report() {
    let mut t = start();
    let w = t.world;
    let object = thing(&mut t);
    WaitUntil::condition_of(&object, |cx: &mut C<'_>, _| {
        say(cx, "poll");
        false
    })
    .name("for the door")
    .satisfied(|cx| say(cx, "satisfied"))
    .timed_out(|cx| say(cx, "timed out"))
    .on_finished(|cx, f| say(cx, format!("{f:?}")))
    .world(w)
    .start(&mut t.cx())
    .unwrap();
    t.tick(0.1);
    object.shutdown(&mut t.cx()).unwrap();
    t.ticks(0.1, 2);
    assert_eq!(log(&t), ["1: poll", "2: timed out", "2: TimedOut"]);
    let made = t.reports.take();
    assert_eq!(made.len(), 1);
    assert_eq!(made[0].severity, sc_core::Severity::Error);
    assert_eq!(made[0].object.as_deref(), Some("for the door"));
    assert!(made[0].what.contains("gone"));
}

#[test]
fn an_awaited_condition_of_an_object_that_is_gone_ends_timed_out_with_a_report_that_names_the_flow()
{
    let mut t = start();
    let object = thing(&mut t);
    let id = object.id();
    story(&mut t, "for the door", async move |fx| {
        let wait = fx.wait_until(|cx: &mut C<'_>, _| {
            say(cx, "poll");
            false
        });
        let end = wait.condition_of(id).await?;
        tell(&fx, format!("{end:?}"));
        Ok(())
    });
    t.tick(0.1);
    object.shutdown(&mut t.cx()).unwrap();
    t.ticks(0.1, 2);
    assert_eq!(log(&t), ["1: poll", "2: TimedOut"]);
    let made = t.reports.take();
    assert_eq!(made.len(), 1);
    assert!(made[0].what.contains("gone"));
    assert_eq!(made[0].object.as_deref(), Some("for the door"));
}

#[test]
fn cancelling_tells_cancelled_and_it_is_never_polled_again() {
    let mut t = start();
    let w = t.world;
    let flow = WaitUntil::new(|cx: &mut C<'_>, _| {
        say(cx, "poll");
        cx.host().open
    })
    .cancelled(|cx| say(cx, "cancelled"))
    .satisfied(|cx| say(cx, "satisfied"))
    .world(w)
    .start(&mut t.cx())
    .unwrap();
    t.tick(0.1);
    t.host.open = true;
    t.cx().cancel(flow);
    t.ticks(0.1, 2);
    assert_eq!(log(&t), ["1: poll", "1: cancelled"]);
}

#[test]
fn a_cancelled_wait_is_an_error_to_who_awaits_its_flow() {
    let mut t = start();
    let w = t.world;
    let wait = WaitUntil::new(|_: &mut C<'_>, _| false).world(w);
    let wait = wait.start(&mut t.cx()).unwrap();
    story(&mut t, "awaiter", async move |fx| {
        assert!(matches!(fx.flow(wait).await, Err(FlowError::Cancelled)));
        tell(&fx, "told");
        Ok(())
    });
    t.tick(0.1);
    t.cx().cancel(wait);
    t.tick(0.1);
    assert_eq!(log(&t), ["2: told"]);
}
