//! Clocks: the table of the four, dilation, exactness, limits, forgiven time.

use std::time::Duration;

use crate::probe::{Probe, Test, log, ms, spawn, start, world};
use sc_core::{Clock, ReportKind, Severity, TimeError, WorldError, WorldId, secs};

/// The readings of a world's clocks, in the order of the table, in nanoseconds.
fn readings(t: &mut Test, w: WorldId) -> [u128; 4] {
    Clock::ALL.map(|c| t.cx().elapsed(w, c).unwrap().as_nanos())
}

fn millis(t: &mut Test) -> [u128; 4] {
    let w = t.world;
    readings(t, w).map(|ns| ns / 1_000_000)
}

fn pause(t: &mut Test, paused: bool) {
    let w = t.world;
    t.cx().set_paused(w, paused).unwrap();
}

fn dilate(t: &mut Test, factor: f64) {
    let w = t.world;
    t.cx().set_dilation(w, factor).unwrap();
}

#[test]
fn two_independent_questions_make_four_clocks() {
    let mut t = start();
    dilate(&mut t, 0.5);
    t.tick(1.0);
    assert_eq!(millis(&mut t), [500, 1000, 500, 1000]);
    pause(&mut t, true);
    t.tick(1.0);
    assert_eq!(millis(&mut t), [500, 1000, 1000, 2000]);
    pause(&mut t, false);
    t.tick(1.0);
    assert_eq!(millis(&mut t), [1000, 2000, 1500, 3000]);
}

#[test]
fn the_table_says_which_clock_is_which() {
    assert_eq!(Clock::default(), Clock::Game);
    let table = Clock::ALL.map(|c| (c, c.stops_while_paused(), c.follows_dilation()));
    assert_eq!(
        table,
        [
            (Clock::Game, true, true),
            (Clock::Unscaled, true, false),
            (Clock::GameThroughPause, false, true),
            (Clock::Real, false, false),
        ]
    );
}

#[test]
fn a_paused_world_banks_no_time_on_pausable_clocks() {
    let mut t = start();
    let a = spawn(&mut t, Probe::new("a"));
    t.tick(0.1);
    pause(&mut t, true);
    t.ticks(10.0, 5);
    pause(&mut t, false);
    t.tick(0.1);
    assert_eq!(crate::probe::deltas(&mut t, &a), [100, 100]);
    assert_eq!(millis(&mut t), [200, 200, 50_200, 50_200]);
}

#[test]
fn an_object_that_ticks_when_paused_gets_the_dilated_delta() {
    let mut t = start();
    let a = spawn(
        &mut t,
        Probe::new("a").settings(|s| s.tick_when_paused(true)),
    );
    dilate(&mut t, 0.5);
    pause(&mut t, true);
    t.tick(1.0);
    pause(&mut t, false);
    t.tick(1.0);
    assert_eq!(crate::probe::deltas(&mut t, &a), [500, 500]);
}

#[test]
fn at_dilation_zero_the_dilated_clocks_stand_still_and_resume_exactly() {
    let mut t = start();
    let a = spawn(&mut t, Probe::new("a"));
    dilate(&mut t, 0.3);
    // 3 ns a frame of 10 ns, and 0.3 ns of a frame of 1 ns.
    t.tick(Duration::from_nanos(11));
    dilate(&mut t, 0.0);
    t.ticks(1.0, 3);
    let w = t.world;
    assert_eq!(readings(&mut t, w), [3, 3_000_000_011, 3, 3_000_000_011]);
    dilate(&mut t, 0.3);
    t.tick(Duration::from_nanos(9));
    assert_eq!(
        readings(&mut t, w),
        [6, 3_000_000_020, 6, 3_000_000_020],
        "three tenths of 20 ns: the carried part was not lost"
    );
    assert_eq!(log(&t).len(), 5, "standing still is no pause: it ticks on");
    let deltas: Vec<_> = t.cx().get(&a).unwrap().deltas.clone();
    assert_eq!(
        deltas.iter().map(Duration::as_nanos).collect::<Vec<_>>(),
        [3, 0, 0, 0, 3]
    );
}

#[test]
fn a_dilation_that_is_none_is_refused_and_the_old_one_stays() {
    let mut t = start();
    let w = t.world;
    dilate(&mut t, 0.5);
    for bad in [
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        -0.5,
        -1e-300,
        1e-19,
    ] {
        let refused = t.cx().set_dilation(w, bad).unwrap_err();
        let WorldError::BadDilation(TimeError::BadDilation { dilation }) = refused else {
            panic!("{bad}: {refused:?}");
        };
        assert_eq!(dilation.to_bits(), bad.to_bits());
        assert_eq!(t.cx().world_info(w).unwrap().dilation, 0.5);
    }
    t.tick(1.0);
    assert_eq!(millis(&mut t), [500, 1000, 500, 1000]);
    for good in [0.0, -0.0, 1e-18, 1e300, f64::MAX] {
        assert_eq!(t.cx().set_dilation(w, good), Ok(()), "{good}");
    }
}

#[test]
fn elapsed_is_the_sum_of_the_deltas_handed_out() {
    let mut t = start();
    dilate(&mut t, 0.3);
    let a = spawn(&mut t, Probe::new("a"));
    for nanos in 1..=1000 {
        t.tick(Duration::from_nanos(nanos));
    }
    let sum: Duration = t.cx().get(&a).unwrap().deltas.iter().sum();
    // 500,500 ns in all, three tenths of it.
    assert_eq!(sum, Duration::from_nanos(150_150));
    let w = t.world;
    assert_eq!(readings(&mut t, w), [150_150, 500_500, 150_150, 500_500]);
}

/// Three worlds, dilated 0.1, 0.3 and 1.7.
fn dilated_worlds(t: &mut Test) -> [WorldId; 3] {
    [("a tenth", 0.1), ("three tenths", 0.3), ("1.7", 1.7)].map(|(name, factor)| {
        let w = world(t, name);
        t.cx().set_dilation(w, factor).unwrap();
        w
    })
}

/// A second at 60 Hz, as nearly as nanoseconds go: 20 times 16.666667 + 16.666667 + 16.666666 ms.
fn second_at_60_hz(t: &mut Test) {
    for nanos in [16_666_667, 16_666_667, 16_666_666].repeat(20) {
        t.tick(Duration::from_nanos(nanos));
    }
}

#[test]
fn an_hour_at_60_hz_frame_by_frame_is_right_to_the_nanosecond_dilated_or_not() {
    let mut t = start();
    let worlds = dilated_worlds(&mut t);
    for _ in 0..3600 {
        second_at_60_hz(&mut t);
    }
    assert_eq!(t.rt.frame_number(), 216_000);
    let w = t.world;
    assert_eq!(readings(&mut t, w), [3_600_000_000_000; 4]);
    let game = worlds.map(|w| readings(&mut t, w)[0]);
    assert_eq!(
        game,
        [360_000_000_000, 1_080_000_000_000, 6_120_000_000_000]
    );
    let real = worlds.map(|w| readings(&mut t, w)[3]);
    assert_eq!(real, [3_600_000_000_000; 3]);
}

#[test]
fn a_year_of_deltas_that_no_dilation_divides_is_right_to_the_nanosecond() {
    // 365 days in 315,360 frames of 100 s, each 3 ns too long: 946,080 ns more than a year.
    let mut t = start();
    let worlds = dilated_worlds(&mut t);
    for _ in 0..315_360 {
        t.tick(Duration::from_nanos(100_000_000_003));
    }
    let w = t.world;
    assert_eq!(readings(&mut t, w), [31_536_000_000_946_080; 4]);
    let game = worlds.map(|w| readings(&mut t, w)[0]);
    assert_eq!(
        game,
        [
            3_153_600_000_094_608,
            9_460_800_000_283_824,
            53_611_200_001_608_336,
        ]
    );
}

/// 1,892,160,000 frames: to be run in a release build, `cargo test --release -- --ignored`.
#[test]
#[ignore = "takes half an hour in a release build, hours in a debug build"]
fn a_simulated_year_at_60_hz_frame_by_frame_is_right_to_the_nanosecond() {
    let mut t = start();
    let worlds = dilated_worlds(&mut t);
    for _ in 0..31_536_000 {
        second_at_60_hz(&mut t);
    }
    let w = t.world;
    assert_eq!(readings(&mut t, w), [31_536_000_000_000_000; 4]);
    let game = worlds.map(|w| readings(&mut t, w)[0]);
    assert_eq!(
        game,
        [
            3_153_600_000_000_000,
            9_460_800_000_000_000,
            53_611_200_000_000_000,
        ]
    );
}

#[test]
fn the_carried_part_of_a_nanosecond_survives_pauses_of_one_clock() {
    let mut t = start();
    dilate(&mut t, 0.1);
    for n in 0..100 {
        pause(&mut t, n % 2 == 0);
        t.tick(Duration::from_nanos(7));
    }
    let w = t.world;
    // 50 frames of 7 ns unpaused, 100 in all, a tenth of each.
    assert_eq!(readings(&mut t, w), [35, 350, 70, 700]);
}

#[test]
fn max_delta_clamps_the_real_delta_for_all_clocks_and_the_dilated_one_again() {
    let mut t = start();
    t.rt.set_max_delta(Some(secs(0.25))).unwrap();
    dilate(&mut t, 2.0);
    let report = t.tick(1.0);
    assert_eq!(millis(&mut t), [250, 250, 250, 250]);
    assert_eq!(t.cx().runtime_elapsed(), ms(250));
    assert_eq!(report.real_delta, ms(250));
    assert_eq!(report.clamped, ms(750));
    assert_eq!(report.clamped_dilated, ms(250), "of 0.5 s");
    let report = t.tick(0.125);
    assert_eq!(millis(&mut t), [500, 375, 500, 375]);
    assert_eq!((report.clamped, report.clamped_dilated), (ms(0), ms(0)));
    dilate(&mut t, 0.5);
    let report = t.tick(1.0);
    assert_eq!(millis(&mut t), [625, 625, 625, 625]);
    assert_eq!((report.clamped, report.clamped_dilated), (ms(750), ms(0)));
    t.rt.set_max_delta(None).unwrap();
    assert_eq!(t.tick(1.0).clamped, ms(0));
    assert!(
        t.reports.take().is_empty(),
        "a clamp by the limit is no fault"
    );
}

#[test]
fn the_most_that_was_clamped_off_any_world_is_in_the_report() {
    let mut t = start();
    t.rt.set_max_delta(Some(secs(1))).unwrap();
    for (name, factor) in [("twice", 2.0), ("four times", 4.0), ("three times", 3.0)] {
        let w = world(&mut t, name);
        t.cx().set_dilation(w, factor).unwrap();
    }
    assert_eq!(t.tick(1.0).clamped_dilated, ms(3000));
}

#[test]
fn a_limit_that_is_no_time_is_refused_and_the_old_one_stays() {
    let mut t = start();
    t.rt.set_max_delta(Some(secs(0.1))).unwrap();
    for (bad, why) in [
        (
            f64::INFINITY,
            TimeError::Infinite {
                seconds: f64::INFINITY,
            },
        ),
        (-1.0, TimeError::Negative { seconds: -1.0 }),
        (1e11, TimeError::OutOfRange { seconds: 1e11 }),
        (f64::NAN, TimeError::NotANumber),
    ] {
        assert_eq!(t.rt.set_max_delta(Some(secs(bad))), Err(why));
    }
    assert_eq!(t.tick(1.0).real_delta, ms(100));
}

#[test]
fn a_delta_times_dilation_beyond_range_saturates_and_is_counted_as_clamped() {
    let mut t = start();
    // 3e19 ns; the range of a clock ends at 18,446,744,073,709,551,615 ns.
    dilate(&mut t, 3e10);
    let report = t.tick(1.0);
    let w = t.world;
    let end = 18_446_744_073_709_551_615;
    assert_eq!(
        readings(&mut t, w),
        [end, 1_000_000_000, end, 1_000_000_000]
    );
    assert_eq!(
        report.clamped_dilated,
        Duration::from_nanos(11_553_255_926_290_448_385)
    );
}

#[test]
fn saturation_makes_one_report_until_the_dilation_changes() {
    let mut t = start();
    dilate(&mut t, 1e300);
    t.tick(0.1);
    let reports = t.reports.take();
    assert_eq!(reports.len(), 1);
    assert_eq!(reports[0].kind, ReportKind::DeltaSaturated);
    assert_eq!(reports[0].severity, Severity::Warning);
    assert_eq!(reports[0].world.as_deref(), Some("game 1"));
    t.ticks(0.1, 3);
    assert!(t.reports.take().is_empty(), "one report, not one a frame");
    dilate(&mut t, 1e299);
    t.tick(0.1);
    assert_eq!(t.reports.kinds(), [ReportKind::DeltaSaturated]);
}

#[test]
fn saturation_of_one_world_leaves_the_others_alone() {
    let mut t = start();
    let other = world(&mut t, "other");
    dilate(&mut t, f64::MAX);
    t.tick(0.5);
    t.tick(0.5);
    assert_eq!(readings(&mut t, other), [1_000_000_000; 4]);
    assert_eq!(t.cx().runtime_elapsed(), ms(1000));
}

#[test]
fn with_a_limit_nothing_saturates_the_clock() {
    let mut t = start();
    t.rt.set_max_delta(Some(secs(0.1))).unwrap();
    dilate(&mut t, 1e300);
    t.ticks(1.0, 3);
    assert_eq!(millis(&mut t), [300, 300, 300, 300]);
}

#[test]
fn a_clock_at_its_end_stops_there() {
    let mut t = start();
    let all = Duration::from_nanos(u64::MAX);
    t.tick(all);
    t.tick(1.0);
    let w = t.world;
    assert_eq!(readings(&mut t, w), [18_446_744_073_709_551_615; 4]);
    assert_eq!(t.cx().runtime_elapsed(), all);
}

#[test]
fn forgive_elapsed_drops_the_time_spent_loading_from_the_next_delta() {
    let mut t = start();
    let a = spawn(&mut t, Probe::new("a"));
    t.tick(0.1);
    t.cx().forgive_elapsed();
    let report = t.tick(30.0);
    assert_eq!((report.forgiven, report.real_delta), (ms(30_000), ms(0)));
    assert_eq!(report.clamped, ms(0));
    let report = t.tick(0.1);
    assert_eq!(report.forgiven, ms(0), "only the next one");
    assert_eq!(millis(&mut t), [200, 200, 200, 200]);
    assert_eq!(t.cx().runtime_elapsed(), ms(200));
    assert_eq!(crate::probe::deltas(&mut t, &a), [100, 0, 100]);
}

#[test]
fn forgive_elapsed_from_a_callback_means_the_next_frame() {
    let mut t = start();
    let mut once = true;
    let a = spawn(
        &mut t,
        Probe::new("a").on_tick(move |cx| {
            if std::mem::take(&mut once) {
                cx.forgive_elapsed();
            }
        }),
    );
    t.tick(0.1);
    t.tick(5.0);
    t.tick(0.1);
    assert_eq!(crate::probe::deltas(&mut t, &a), [100, 0, 100]);
}

#[test]
fn what_is_forgiven_does_not_count_as_clamped() {
    let mut t = start();
    t.rt.set_max_delta(Some(secs(0.1))).unwrap();
    t.cx().forgive_elapsed();
    let report = t.tick(30.0);
    assert_eq!((report.forgiven, report.clamped), (ms(30_000), ms(0)));
}

#[test]
fn an_f32_counts_by_its_shortest_decimal() {
    let mut t = start();
    t.tick(0.1_f32);
    assert_eq!(millis(&mut t), [100; 4]);
    let w = t.world;
    assert_eq!(readings(&mut t, w), [100_000_000; 4]);
}
