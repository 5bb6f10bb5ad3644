//! Do for duration: the builder and the async form side by side.

use std::time::Duration;

use crate::probe::{C, Test, log, say, start, story, tell};
use sc_core::{Clock, secs};
use sc_flow::{DoForDuration, Ease, Flow, FlowError, FlowExt, FlowId, Progress};

type Update = Box<dyn FnMut(&mut C<'_>, f32, Duration)>;
type Drive = DoForDuration<crate::probe::Game, Update>;
type Setup<'s> = &'s dyn Fn(Drive) -> Drive;

fn update() -> Update {
    Box::new(|cx, alpha, delta| say(cx, format!("{alpha} {delta:?}")))
}

fn builder(t: &mut Test, duration: f64, setup: Setup<'_>) -> Result<FlowId, FlowError> {
    let w = t.world;
    let drive = setup(DoForDuration::new(duration, update()));
    drive
        .completed(|cx, f| say(cx, format!("{f:?}")))
        .world(w)
        .start(&mut t.cx())
}

/// The plain drive, in both forms over the same deltas, gives this log.
fn check(duration: f64, deltas: &[f64], expected: &[&str]) {
    let mut t = start();
    builder(&mut t, duration, &|drive| drive).unwrap();
    for &delta in deltas {
        t.tick(delta);
    }
    assert_eq!(log(&t), expected, "builder");
    let mut t = start();
    story(&mut t, "story", async move |fx| {
        fx.do_for_duration(duration, update()).await?;
        tell(&fx, "Completed");
        Ok(())
    });
    for &delta in deltas {
        t.tick(delta);
    }
    assert_eq!(log(&t), expected, "async");
}

#[test]
fn the_first_update_is_one_delta_in_and_the_last_at_exactly_1_before_completed() {
    check(
        1.0,
        &[0.25; 6],
        &[
            "1: 0.25 250ms",
            "2: 0.5 250ms",
            "3: 0.75 250ms",
            "4: 1 250ms",
            "4: Completed",
        ],
    );
}

#[test]
fn overshooting_the_last_update_is_at_1_and_its_delta_is_cut_at_the_end() {
    check(
        1.0,
        &[0.3; 6],
        &[
            "1: 0.3 300ms",
            "2: 0.6 300ms",
            "3: 0.9 300ms",
            "4: 1 100ms",
            "4: Completed",
        ],
    );
    check(1.0, &[7.5], &["1: 1 1s", "1: Completed"]);
}

#[test]
fn a_duration_of_zero_or_less_has_one_update_at_1_on_the_first_tick_with_delta_0() {
    for duration in [0.0, -2.0] {
        check(duration, &[0.3; 3], &["1: 1 0ns", "1: Completed"]);
    }
}

#[test]
fn a_nan_or_infinite_duration_is_refused() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut t = start();
        let error = builder(&mut t, bad, &|drive| drive).unwrap_err();
        assert!(matches!(error, FlowError::BadTime(_)));
        story(&mut t, "story", async move |fx| {
            let drive = fx.do_for_duration(bad, update());
            assert!(matches!(drive.await, Err(FlowError::BadTime(_))));
            tell(&fx, "refused");
            Ok(())
        });
        t.tick(0.1);
        assert_eq!(log(&t), ["1: refused"]);
    }
}

#[test]
fn a_repeating_drive_of_zero_length_is_refused() {
    let mut t = start();
    for setup in [
        (&|drive: DoForDuration<_, _>| drive.forever()) as Setup<'_>,
        &|drive| drive.laps(2),
    ] {
        for duration in [0.0, -1.0] {
            let error = builder(&mut t, duration, setup).unwrap_err();
            assert!(matches!(error, FlowError::ZeroLengthRepeat));
        }
    }
    story(&mut t, "story", async move |fx| {
        let drive = fx.do_for_duration(0, update()).laps(2);
        assert!(matches!(drive.await, Err(FlowError::ZeroLengthRepeat)));
        tell(&fx, "refused");
        Ok(())
    });
    t.tick(0.1);
    assert_eq!(log(&t), ["1: refused"]);
}

#[test]
fn a_shaper_gets_progress_from_0_to_1_and_its_answer_is_handed_on_as_it_is() {
    let shape = |x: f32| {
        assert!((0.0..=1.0).contains(&x));
        3.0 - x * 4.0
    };
    let expected = ["1: 1 500ms", "2: -1 500ms"];
    let mut t = start();
    builder(&mut t, 1.0, &|drive| drive.shape(shape)).unwrap();
    t.tick(0.5);
    t.tick(1);
    let lines = log(&t);
    assert_eq!(lines[..2], expected);
    assert_eq!(lines[2..], ["2: Completed"]);
    let mut t = start();
    story(&mut t, "story", async move |fx| {
        fx.do_for_duration(1, update()).shape(shape).await
    });
    t.tick(0.5);
    t.tick(1);
    assert_eq!(log(&t), expected);
}

#[test]
fn a_shaped_drive_of_no_length_ends_at_shape_of_1() {
    let mut t = start();
    builder(&mut t, 0.0, &|drive| drive.shape(|x| x + 4.0)).unwrap();
    t.tick(0.5);
    assert_eq!(log(&t), ["1: 5 0ns", "1: Completed"]);
}

#[test]
fn named_curves_start_at_0_end_at_1_and_shape_what_is_between() {
    let mut t = start();
    builder(&mut t, 1.0, &|drive| drive.ease(Ease::InQuad)).unwrap();
    t.ticks(0.5, 2);
    assert_eq!(log(&t), ["1: 0.25 500ms", "2: 1 500ms", "2: Completed"]);
    let mut t = start();
    story(&mut t, "story", async move |fx| {
        fx.do_for_duration(1, update()).ease(Ease::InCubic).await
    });
    t.ticks(0.5, 2);
    assert_eq!(log(&t), ["1: 0.125 500ms", "2: 1 500ms"]);
}

#[test]
fn each_lap_has_its_final_update() {
    let expected = [
        "1: 0.6 600ms",
        "2: 1 400ms",
        "2: 0.2 200ms",
        "3: 0.8 600ms",
        "4: 1 200ms",
    ];
    let mut t = start();
    builder(&mut t, 1.0, &|drive| drive.laps(2)).unwrap();
    t.ticks(0.6, 5);
    let lines = log(&t);
    assert_eq!(lines[..5], expected);
    assert_eq!(lines[5..], ["4: Completed"]);
    let mut t = start();
    story(&mut t, "story", async move |fx| {
        fx.do_for_duration(1, update()).laps(2).await
    });
    t.ticks(0.6, 5);
    assert_eq!(log(&t), expected);
}

#[test]
fn a_hitch_over_several_laps_runs_the_final_update_of_each() {
    let mut t = start();
    builder(&mut t, 1.0, &|drive| drive.laps(3)).unwrap();
    t.tick(2.5);
    assert_eq!(log(&t), ["1: 1 1s", "1: 1 1s", "1: 0.5 500ms"]);
    t.tick(2.5);
    assert_eq!(log(&t), ["2: 1 500ms", "2: Completed"]);
}

#[test]
fn ping_pong_runs_every_second_lap_backwards() {
    let expected = ["1: 0.5 500ms", "2: 1 500ms", "3: 0.5 500ms", "4: 0 500ms"];
    let mut t = start();
    builder(&mut t, 1.0, &|drive| drive.laps(2).ping_pong()).unwrap();
    t.ticks(0.5, 5);
    let lines = log(&t);
    assert_eq!(lines[..4], expected);
    assert_eq!(lines[4..], ["4: Completed"]);
    let mut t = start();
    story(&mut t, "story", async move |fx| {
        fx.do_for_duration(1, update()).laps(2).ping_pong().await
    });
    t.ticks(0.5, 5);
    assert_eq!(log(&t), expected);
}

#[test]
fn forever_runs_until_it_is_cancelled() {
    let mut t = start();
    let flow = builder(&mut t, 1.0, &|drive| drive.forever()).unwrap();
    t.ticks(0.5, 100);
    assert_eq!(log(&t).len(), 100);
    t.cx().cancel(flow);
    assert_eq!(log(&t), ["100: Cancelled"]);
}

#[test]
fn the_sum_of_the_deltas_passed_is_the_duration() {
    let mut t = start();
    let w = t.world;
    let flow = DoForDuration::new(secs(1), {
        let mut sum = Duration::ZERO;
        move |cx: &mut C<'_>, alpha, delta| {
            sum += delta;
            if alpha >= 1.0 {
                say(cx, format!("{sum:?}"));
            }
        }
    });
    flow.world(w).start(&mut t.cx()).unwrap();
    t.ticks(0.016_667, 70);
    assert_eq!(log(&t), ["60: 1s"]);
}

#[test]
fn it_runs_on_the_clock_asked_for() {
    for (clock, expected) in [
        (Clock::Game, &["1: 0.5 125ms", "5: 1 125ms"][..]),
        (Clock::Unscaled, &["1: 1 250ms"]),
        (Clock::GameThroughPause, &["1: 0.5 125ms", "2: 1 125ms"]),
        (Clock::Real, &["1: 1 250ms"]),
    ] {
        for is_async in [false, true] {
            let mut t = start();
            let w = t.world;
            t.cx().set_dilation(w, 0.5).unwrap();
            if is_async {
                Flow::new("story")
                    .world(w)
                    .clock(clock)
                    .spawn(&mut t.cx(), async |fx| {
                        fx.do_for_duration(0.25, update()).await
                    })
                    .unwrap();
            } else {
                DoForDuration::new(0.25, update())
                    .world(w)
                    .clock(clock)
                    .start(&mut t.cx())
                    .unwrap();
            }
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
fn its_progress_is_the_raw_alpha() {
    let mut t = start();
    let flow = builder(&mut t, 1.0, &|drive| drive.shape(|_| 9.0)).unwrap();
    let progress = |t: &mut Test| t.cx().flow(flow).unwrap().progress;
    assert_eq!(progress(&mut t), Progress::Alpha(0.0));
    t.tick(0.25);
    assert_eq!(progress(&mut t), Progress::Alpha(0.25));
}

#[test]
fn after_completed_there_is_no_update() {
    let mut t = start();
    let flow = builder(&mut t, 0.2, &|drive| drive).unwrap();
    t.ticks(0.1, 2);
    assert!(matches!(t.cx().flow(flow), Err(FlowError::Gone)));
    log(&t);
    t.ticks(0.1, 5);
    assert_eq!(log(&t), [""; 0]);
}
