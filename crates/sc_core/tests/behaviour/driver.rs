//! The standalone driver on a manual clock: pacing, fixed steps, catch-up, replay, recording.

use std::time::Duration;

use crate::probe::{Game, Probe, Test, deltas, log, ms, spawn, start};
use sc_core::{
    Clock, Driver, DriverError, FrameClock, FrameError, FrameTrace, ManualClock, Stopwatch,
    TimeError, secs,
};

/// A test world, and a clock that one object moves in its ticks: in frame n by the nth number
/// of milliseconds.
fn slow(work: &'static [u64]) -> (Test, ManualClock, sc_core::Owner<Probe>) {
    let mut t = start();
    let clock = ManualClock::default();
    let moves = clock.clone();
    let a = spawn(
        &mut t,
        Probe::new("a").on_tick(move |cx| {
            let n = usize::try_from(cx.frame()).unwrap() - 1;
            moves.advance(ms(work.get(n).copied().unwrap_or(0)));
        }),
    );
    (t, clock, a)
}

#[test]
fn at_fps_frames_lie_on_a_grid_without_drift() {
    let mut t = start();
    let run = Driver::at_fps(60)
        .clock(ManualClock::default())
        .recording()
        .run_for(secs(10), &mut t.rt, &mut t.host)
        .unwrap();
    assert_eq!(run.frames, 600);
    assert_eq!(run.elapsed, ms(10_000));
    assert_eq!(t.rt.frame_number(), 600);
    let trace = run.trace.unwrap();
    let nanos: Vec<_> = trace.frames()[..3].iter().map(Duration::as_nanos).collect();
    assert_eq!(nanos, [16_666_667, 16_666_666, 16_666_667]);
}

#[test]
fn a_late_frame_gets_the_time_that_really_passed_and_the_next_is_on_the_grid_again() {
    let (mut t, clock, a) = slow(&[250]);
    let run = Driver::at_fps(10)
        .clock(clock)
        .run_for(secs(0.5), &mut t.rt, &mut t.host)
        .unwrap();
    assert_eq!(deltas(&mut t, &a), [100, 250, 50, 100]);
    assert_eq!((run.frames, run.elapsed), (4, ms(500)));
    assert_eq!(run.dropped, ms(0));
}

#[test]
fn work_within_a_frame_does_not_delay_the_grid() {
    let (mut t, clock, a) = slow(&[30, 70, 99]);
    Driver::at_fps(10)
        .clock(clock)
        .run_for(secs(0.4), &mut t.rt, &mut t.host)
        .unwrap();
    assert_eq!(deltas(&mut t, &a), [100, 100, 100, 100]);
}

#[test]
fn uncapped_frames_get_the_time_that_really_passed() {
    let (mut t, clock, a) = slow(&[5, 7, 11]);
    let run = Driver::uncapped()
        .clock(clock)
        .run_while(|rt, _| rt.frame_number() < 4, &mut t.rt, &mut t.host)
        .unwrap();
    assert_eq!(deltas(&mut t, &a), [0, 5, 7, 11]);
    assert_eq!((run.frames, run.elapsed, run.ticks), (4, ms(23), 4));
}

#[test]
fn fixed_frames_all_have_one_step() {
    let (mut t, clock, a) = slow(&[7, 13, 19]);
    let run = Driver::fixed(secs(0.02))
        .clock(clock)
        .run_for(secs(0.1), &mut t.rt, &mut t.host)
        .unwrap();
    assert_eq!(deltas(&mut t, &a), [20; 5]);
    assert_eq!((run.frames, run.dropped), (5, ms(0)));
}

#[test]
fn fixed_steps_catch_up_after_a_hitch() {
    let (mut t, clock, a) = slow(&[75]);
    let run = Driver::fixed(secs(0.02))
        .clock(clock.clone())
        .run_for(secs(0.1), &mut t.rt, &mut t.host)
        .unwrap();
    assert_eq!(deltas(&mut t, &a), [20; 5]);
    assert_eq!(run.dropped, ms(0));
    assert_eq!(
        clock.now(),
        ms(100),
        "one at 20 ms, three at 95, one at 100"
    );
}

#[test]
fn at_most_eight_fixed_steps_follow_each_other_and_the_rest_is_dropped_and_counted() {
    let (mut t, clock, _a) = slow(&[1005]);
    let run = Driver::fixed(secs(0.02))
        .clock(clock.clone())
        .run_for(secs(0.2), &mut t.rt, &mut t.host)
        .unwrap();
    // One at 20 ms; at 1025 ms 50 steps behind and 5 ms: 8 run, 42 are dropped; one at 1040.
    assert_eq!((run.frames, run.elapsed), (10, ms(200)));
    assert_eq!(run.dropped, ms(840));
    assert_eq!(clock.now(), ms(1040), "still on the grid");
}

#[test]
fn exactly_eight_steps_behind_drops_nothing() {
    let (mut t, clock, _a) = slow(&[160]);
    let run = Driver::fixed(secs(0.02))
        .clock(clock)
        .run_for(secs(0.2), &mut t.rt, &mut t.host)
        .unwrap();
    assert_eq!((run.frames, run.dropped), (10, ms(0)));
}

#[test]
fn a_run_ends_in_the_middle_of_a_catch_up() {
    let (mut t, clock, _a) = slow(&[1000]);
    let run = Driver::fixed(secs(0.02))
        .clock(clock)
        .run_for(secs(0.06), &mut t.rt, &mut t.host)
        .unwrap();
    assert_eq!((run.frames, run.dropped), (3, ms(0)));
}

#[test]
fn a_run_of_no_time_runs_nothing() {
    let mut t = start();
    let _a = spawn(&mut t, Probe::new("a"));
    for driver in [
        Driver::at_fps(60),
        Driver::fixed(secs(1)),
        Driver::uncapped(),
    ] {
        let run = driver
            .clock(ManualClock::default())
            .run_for(secs(0), &mut t.rt, &mut t.host)
            .unwrap();
        assert_eq!((run.frames, run.elapsed), (0, ms(0)));
    }
    assert!(log(&t).is_empty());
}

#[test]
fn bad_rates_steps_and_times_are_refused_before_the_first_frame() {
    let mut t = start();
    let _a = spawn(&mut t, Probe::new("a"));
    let mut run = |driver: Driver, time: f64| {
        let driver = driver.clock(ManualClock::default());
        driver
            .run_for(secs(time), &mut t.rt, &mut t.host)
            .unwrap_err()
    };
    for fps in [0.0, -0.0, -60.0, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(run(Driver::at_fps(fps), 1.0), DriverError::BadRate { fps });
    }
    assert!(matches!(
        run(Driver::at_fps(f64::NAN), 1.0),
        DriverError::BadRate { fps } if fps.is_nan()
    ));
    assert_eq!(run(Driver::fixed(secs(0)), 1.0), DriverError::ZeroStep);
    assert_eq!(run(Driver::fixed(secs(1e-12)), 1.0), DriverError::ZeroStep);
    for (bad, why) in [
        (-1.0, TimeError::Negative { seconds: -1.0 }),
        (f64::NAN, TimeError::NotANumber),
        (
            f64::INFINITY,
            TimeError::Infinite {
                seconds: f64::INFINITY,
            },
        ),
        (1e11, TimeError::OutOfRange { seconds: 1e11 }),
    ] {
        assert_eq!(
            run(Driver::fixed(secs(bad)), 1.0),
            DriverError::BadTime(why)
        );
        assert_eq!(run(Driver::at_fps(60), bad), DriverError::BadTime(why));
    }
    assert!(log(&t).is_empty());
    assert_eq!(t.rt.frame_number(), 0);
}

#[test]
fn a_bad_rate_is_refused_by_run_while_too() {
    let mut t = start();
    let mut asked = 0;
    let run = Driver::at_fps(0).clock(ManualClock::default()).run_while(
        |_, _| {
            asked += 1;
            asked < 5
        },
        &mut t.rt,
        &mut t.host,
    );
    assert_eq!(run.unwrap_err(), DriverError::BadRate { fps: 0.0 });
    assert_eq!(asked, 0);
}

#[test]
fn a_frame_that_is_refused_ends_the_run_with_its_error() {
    let mut t = start();
    t.rt.begin_frame(&mut t.host, 0.1).unwrap();
    let driver = || Driver::at_fps(60).clock(ManualClock::default());
    let run = driver().run_for(secs(1), &mut t.rt, &mut t.host);
    assert_eq!(
        run.unwrap_err(),
        DriverError::Frame(FrameError::AlreadyTicking)
    );
    t.rt.shutdown(&mut t.host);
    let run = driver().run_for(secs(1), &mut t.rt, &mut t.host);
    assert_eq!(run.unwrap_err(), DriverError::Frame(FrameError::ShutDown));
}

#[test]
fn a_replay_runs_one_frame_for_each_of_the_trace_with_its_delta() {
    let mut t = start();
    let a = spawn(&mut t, Probe::new("a").interval(secs(0.1)));
    let trace = FrameTrace::parse("frametime_ms\n16.5\n250.0\n16.5\n33.25\n").unwrap();
    let run = Driver::at_fps(0)
        .replay(&trace, &mut t.rt, &mut t.host)
        .unwrap();
    assert_eq!(run.frames, 4);
    assert_eq!(run.elapsed, Duration::from_micros(316_250));
    assert!(run.trace.is_none());
    let w = t.world;
    assert_eq!(
        t.cx().elapsed(w, Clock::Game),
        Ok(Duration::from_micros(316_250))
    );
    assert_eq!(deltas(&mut t, &a), [200, 100], "the hitch, as it was");
}

#[test]
fn a_recording_replays_to_the_same() {
    let (mut t, clock, a) = slow(&[3, 250, 14]);
    let run = Driver::at_fps(30)
        .clock(clock)
        .recording()
        .run_for(secs(1), &mut t.rt, &mut t.host)
        .unwrap();
    let trace = run.trace.unwrap();
    assert_eq!(trace.total(), run.elapsed);
    assert_eq!(trace.frames().len() as u64, run.frames);
    let first = t.cx().get(&a).unwrap().deltas.clone();

    let (mut u, _, b) = slow(&[]);
    let again = Driver::uncapped()
        .recording()
        .replay(&trace, &mut u.rt, &mut u.host)
        .unwrap();
    assert_eq!(u.cx().get(&b).unwrap().deltas, first);
    assert_eq!(again.trace.unwrap().frames(), trace.frames());
}

#[test]
fn without_recording_there_is_no_trace() {
    let mut t = start();
    let run = Driver::fixed(secs(0.5))
        .clock(ManualClock::default())
        .run_for(secs(1), &mut t.rt, &mut t.host)
        .unwrap();
    assert!(run.trace.is_none());
}

#[test]
fn the_run_report_sums_what_the_frames_reports_say() {
    let mut t = start();
    t.rt.set_max_delta(Some(secs(0.25))).unwrap();
    drop(spawn(&mut t, Probe::new("dead")));
    let _a = spawn(
        &mut t,
        Probe::new("a").on_tick(|cx| {
            if cx.frame() == 2 {
                cx.forgive_elapsed();
            }
        }),
    );
    let run = Driver::fixed(secs(0.5))
        .clock(ManualClock::default())
        .run_for(secs(2), &mut t.rt, &mut t.host)
        .unwrap();
    assert_eq!((run.frames, run.elapsed), (4, ms(2000)));
    assert_eq!(run.clamped, ms(750), "in three frames");
    assert_eq!(run.forgiven, ms(500), "in the third");
    assert_eq!((run.ticks, run.reports), (4, 1));
}

#[test]
fn run_while_is_asked_before_each_frame_and_has_runtime_and_host() {
    let mut t = start();
    let _a = spawn(&mut t, Probe::new("a"));
    let run = Driver::fixed(secs(0.1))
        .clock(ManualClock::default())
        .run_while(
            |rt, game: &mut Game| {
                game.log.add(format!("asked {}", rt.frame_number()));
                rt.frame_number() < 2
            },
            &mut t.rt,
            &mut t.host,
        )
        .unwrap();
    assert_eq!(run.frames, 2);
    assert_eq!(
        log(&t),
        ["asked 0", "tick a", "asked 1", "tick a", "asked 2"]
    );
}

#[test]
fn a_clock_brings_a_stopwatch_for_a_runtime_that_has_none() {
    let never = |_: &mut _, _: &mut Game| false;
    let mut t = start();
    Driver::uncapped()
        .clock(ManualClock::default())
        .run_while(never, &mut t.rt, &mut t.host)
        .unwrap();
    assert!(t.rt.has_stopwatch(), "the manual one too");
    let mut t = start();
    assert!(!t.rt.has_stopwatch());
    Driver::uncapped()
        .run_while(never, &mut t.rt, &mut t.host)
        .unwrap();
    assert!(t.rt.has_stopwatch());
}

#[test]
fn a_manual_clock_moves_by_hand_and_to_what_is_waited_for_and_serves_as_a_stopwatch() {
    let mut clock = ManualClock::default();
    let shared = clock.clone();
    assert_eq!(clock.now(), Duration::ZERO);
    shared.advance(ms(5));
    clock.wait_until(ms(20));
    assert_eq!(shared.now(), ms(20));
    clock.wait_until(ms(10));
    assert_eq!(clock.now(), ms(20), "never backwards");
    shared.advance(Duration::MAX);
    assert_eq!(clock.now(), Duration::MAX);
}
