//! The interval of an object: when it ticks, with which delta, and what becomes of the rest.

use std::time::Duration;

use crate::probe::{Game, Probe, Test, deltas, log, ms, spawn, spawn_worldless, start};
use sc_core::{Clock, Cx, Owner, TickError, TickId, TimeError, secs};

fn set_interval(cx: &mut Cx<'_, Game>, object: impl Into<TickId>, seconds: f64) {
    cx.configure(object)
        .unwrap()
        .interval(seconds)
        .apply()
        .unwrap();
}

fn every(t: &mut Test, seconds: f64) -> Owner<Probe> {
    spawn(t, Probe::new("a").interval(seconds))
}

fn carry(t: &mut Test, a: &Owner<Probe>) -> Duration {
    t.cx().tick_info(a).unwrap().carry
}

#[test]
fn the_first_tick_comes_after_one_full_interval() {
    let mut t = start();
    let a = every(&mut t, 1.0);
    t.ticks(0.25, 3);
    assert!(log(&t).is_empty());
    t.tick(0.25);
    assert_eq!(log(&t), ["tick a"]);
    assert_eq!(deltas(&mut t, &a), [1000]);
}

#[test]
fn an_interval_of_zero_is_every_frame() {
    let mut t = start();
    let a = every(&mut t, 0.0);
    t.ticks(0.25, 3);
    assert_eq!(deltas(&mut t, &a), [250, 250, 250]);
}

#[test]
fn time_accumulates_from_initialize() {
    let mut t = start();
    let w = t.world;
    let a = t.cx().spawn(Probe::new("a").interval(1.0));
    t.tick(0.75);
    t.cx().initialize(&a, w).unwrap();
    t.tick(0.75);
    assert_eq!(log(&t), ["init a"]);
    t.tick(0.25);
    assert_eq!(deltas(&mut t, &a), [1000]);
}

#[test]
fn time_accumulates_from_an_initialize_in_the_middle_of_a_frame() {
    let mut t = start();
    let w = t.world;
    let _starter = spawn(
        &mut t,
        Probe::new("starter").on_tick(move |cx| {
            if cx.frame() == 1 {
                let a = cx.spawn_in(w, Probe::new("a").interval(1.0)).unwrap();
                cx.host_mut().owners.insert("a", a);
            }
        }),
    );
    t.tick(0.75);
    t.tick(0.75);
    assert_eq!(log(&t), ["tick starter", "init a", "tick starter"]);
    t.tick(0.25);
    assert_eq!(log(&t), ["tick starter", "tick a"]);
}

#[test]
fn time_accumulates_from_enable() {
    let mut t = start();
    let off = Probe::new("a").interval(1.0);
    let a = spawn(&mut t, off.settings(|s| s.start_ticking(false)));
    t.tick(0.75);
    t.cx().set_tick_enabled(&a, true).unwrap();
    t.tick(0.75);
    assert!(log(&t).is_empty());
    t.tick(0.25);
    assert_eq!(deltas(&mut t, &a), [1000]);
}

#[test]
fn the_delta_is_the_accumulated_time_less_the_part_below_one_interval_which_carries_over() {
    let mut t = start();
    let a = every(&mut t, 1.0);
    for _ in 0..5 {
        t.tick(0.75);
    }
    // At 0.75, 1.5, 2.25, 3.0, 3.75.
    assert_eq!(deltas(&mut t, &a), [1000, 1000, 1000]);
    assert_eq!(carry(&mut t, &a), ms(750));
    assert_eq!(log(&t).len(), 3);
    t.tick(0.75);
    assert_eq!(deltas(&mut t, &a), [1000, 1000, 1000, 1000]);
    assert_eq!(carry(&mut t, &a), ms(500));
}

#[test]
fn a_hitch_over_several_intervals_gives_one_tick_that_covers_all() {
    let mut t = start();
    let a = every(&mut t, 1.0);
    t.tick(3.5);
    assert_eq!(deltas(&mut t, &a), [3000]);
    assert_eq!(carry(&mut t, &a), ms(500));
    t.tick(0.5);
    assert_eq!(deltas(&mut t, &a), [3000, 1000]);
    t.tick(0.5);
    assert_eq!(deltas(&mut t, &a).len(), 2, "no catch-up");
}

#[test]
fn the_sum_of_deltas_and_carry_is_the_time_on_its_clock() {
    let mut t = start();
    let w = t.world;
    t.cx().set_dilation(w, 0.7).unwrap();
    let a = spawn(&mut t, Probe::new("a").interval(secs(0.2)));
    // 16.666667 ms, 1000 times: 16.666667 s, seven tenths of it 11.6666669 s.
    for _ in 0..1000 {
        t.tick(Duration::from_nanos(16_666_667));
    }
    let sum: Duration = t.cx().get(&a).unwrap().deltas.iter().sum();
    let carry = carry(&mut t, &a);
    assert_eq!(sum + carry, Duration::from_nanos(11_666_666_900));
    assert_eq!(sum, ms(11_600), "58 whole intervals");
    assert_eq!(t.cx().elapsed(w, Clock::Game), Ok(sum + carry));
}

#[test]
fn it_counts_on_the_objects_clock_which_a_pause_stops() {
    let mut t = start();
    let w = t.world;
    let a = every(&mut t, 1.0);
    let through = Probe::new("b").interval(1.0);
    let b = spawn(&mut t, through.settings(|s| s.tick_when_paused(true)));
    t.tick(0.5);
    t.cx().set_paused(w, true).unwrap();
    t.ticks(0.25, 8);
    assert_eq!(deltas(&mut t, &a), []);
    assert_eq!(deltas(&mut t, &b), [1000, 1000]);
    t.cx().set_paused(w, false).unwrap();
    t.tick(0.25);
    assert_eq!(deltas(&mut t, &a), []);
    t.tick(0.25);
    assert_eq!(deltas(&mut t, &a), [1000]);
    assert_eq!(deltas(&mut t, &b), [1000, 1000, 1000]);
}

#[test]
fn it_counts_dilated_time() {
    let mut t = start();
    let w = t.world;
    let a = every(&mut t, 1.0);
    t.cx().set_dilation(w, 0.5).unwrap();
    t.tick(1.0);
    t.cx().set_dilation(w, 0.0).unwrap();
    t.ticks(10.0, 3);
    assert!(log(&t).is_empty());
    t.cx().set_dilation(w, 2.0).unwrap();
    t.tick(0.25);
    assert_eq!(deltas(&mut t, &a), [1000]);
}

#[test]
fn a_worldless_object_counts_real_time() {
    let mut t = start();
    let a = spawn_worldless(&mut t, Probe::new("a").interval(1.0));
    t.ticks(0.5, 5);
    assert_eq!(deltas(&mut t, &a), [1000, 1000]);
}

#[test]
fn tick_at_start_makes_the_first_tick_come_at_once() {
    let mut t = start();
    let w = t.world;
    let at_start = Probe::new("a").interval(1.0);
    let a = spawn(&mut t, at_start.settings(|s| s.tick_at_start(true)));
    t.tick(0.25);
    assert_eq!(log(&t), ["tick a"]);
    t.ticks(0.25, 2);
    assert!(log(&t).is_empty());
    t.tick(0.25);
    assert_eq!(log(&t), ["tick a"], "one interval after its start");
    let sum: Duration = t.cx().get(&a).unwrap().deltas.iter().sum();
    assert_eq!(sum + carry(&mut t, &a), ms(1000));

    t.cx().set_tick_enabled(&a, false).unwrap();
    t.tick(0.25);
    t.cx().set_tick_enabled(&a, true).unwrap();
    t.tick(0.25);
    assert_eq!(log(&t), ["tick a"], "of an enable too");
    a.shutdown(&mut t.cx()).unwrap();
    t.cx().initialize(&a, w).unwrap();
    t.tick(0.25);
    assert_eq!(log(&t), ["stop a", "init a", "tick a"]);
}

#[test]
fn tick_at_start_shows_in_the_list_as_due_now() {
    let mut t = start();
    let at_start = Probe::new("a").interval(1.0);
    let a = spawn(&mut t, at_start.settings(|s| s.tick_at_start(true)));
    assert_eq!(t.cx().tick_info(&a).unwrap().next_due, Some(ms(0)));
}

#[test]
fn going_from_zero_to_positive_restarts_the_accumulator() {
    let mut t = start();
    let a = every(&mut t, 0.0);
    t.ticks(0.75, 2);
    set_interval(&mut t.cx(), &a, 1.0);
    t.tick(0.75);
    assert_eq!(deltas(&mut t, &a), [750, 750]);
    t.tick(0.25);
    assert_eq!(deltas(&mut t, &a), [750, 750, 1000]);
}

#[test]
fn going_from_positive_to_positive_keeps_what_has_accumulated() {
    let mut t = start();
    let a = every(&mut t, 1.0);
    t.tick(0.75);
    set_interval(&mut t.cx(), &a, 2.0);
    t.tick(0.75);
    assert!(log(&t).is_empty());
    t.tick(0.5);
    assert_eq!(deltas(&mut t, &a), [2000]);
    t.tick(0.75);
    set_interval(&mut t.cx(), &a, 0.5);
    t.tick(0.0);
    assert_eq!(
        deltas(&mut t, &a),
        [2000, 500],
        "a shorter one is over already"
    );
    assert_eq!(carry(&mut t, &a), ms(250));
}

#[test]
fn going_from_positive_to_zero_loses_nothing() {
    let mut t = start();
    let a = every(&mut t, 1.0);
    t.tick(0.75);
    set_interval(&mut t.cx(), &a, 0.0);
    t.ticks(0.25, 2);
    assert_eq!(deltas(&mut t, &a), [1000, 250]);
    assert_eq!(carry(&mut t, &a), ms(0));
}

#[test]
fn going_to_zero_loses_nothing_also_when_a_pause_and_another_change_come_between() {
    let mut t = start();
    let w = t.world;
    let a = every(&mut t, 1.0);
    t.tick(0.75);
    t.cx().set_paused(w, true).unwrap();
    set_interval(&mut t.cx(), &a, 0.0);
    t.tick(0.25);
    t.cx()
        .configure(&a)
        .unwrap()
        .group(sc_core::TickGroup::PrePhysics)
        .apply()
        .unwrap();
    t.tick(0.25);
    t.cx().set_paused(w, false).unwrap();
    t.tick(0.25);
    assert_eq!(deltas(&mut t, &a), [1000], "0.75 and 0.25 s unpaused");
}

#[test]
fn disabling_drops_what_has_accumulated() {
    let mut t = start();
    let a = every(&mut t, 1.0);
    t.tick(0.75);
    t.cx().set_tick_enabled(&a, false).unwrap();
    assert_eq!(t.cx().tick_info(&a).unwrap().next_due, None);
    t.tick(5.0);
    t.cx().set_tick_enabled(&a, true).unwrap();
    t.tick(0.75);
    assert!(log(&t).is_empty());
    t.tick(0.25);
    assert_eq!(deltas(&mut t, &a), [1000]);
}

#[test]
fn shutting_down_drops_it_as_well() {
    let mut t = start();
    let w = t.world;
    let a = every(&mut t, 1.0);
    t.tick(0.75);
    a.shutdown(&mut t.cx()).unwrap();
    t.cx().initialize(&a, w).unwrap();
    t.tick(0.75);
    assert_eq!(log(&t), ["stop a", "init a"]);
}

#[test]
fn an_interval_that_is_none_is_an_error_and_nothing_changed() {
    let mut t = start();
    let a = every(&mut t, 1.0);
    t.tick(0.75);
    for (bad, why) in [
        (
            -0.5,
            TickError::BadInterval(TimeError::Negative { seconds: -0.5 }),
        ),
        (f64::NAN, TickError::BadInterval(TimeError::NotANumber)),
        (
            f64::INFINITY,
            TickError::BadInterval(TimeError::Infinite {
                seconds: f64::INFINITY,
            }),
        ),
        (
            1e11,
            TickError::BadInterval(TimeError::OutOfRange { seconds: 1e11 }),
        ),
        (1e-10, TickError::IntervalTooShort { seconds: 1e-10 }),
    ] {
        let mut cx = t.rt.cx(&mut t.host);
        let change = cx.configure(&a).unwrap().interval(bad);
        assert_eq!(change.tick_when_paused(true).apply(), Err(why));
        assert_eq!(cx.tick_info(&a).unwrap().interval, ms(1000));
    }
    let w = t.world;
    t.cx().set_paused(w, true).unwrap();
    t.tick(1.0);
    assert!(log(&t).is_empty(), "no part of the change was made");
    t.cx().set_paused(w, false).unwrap();
    t.tick(0.25);
    assert_eq!(deltas(&mut t, &a), [1000]);
}

#[test]
fn asleep_between_intervals_it_is_not_visited() {
    let mut t = start();
    let _sleepers: Vec<_> = (0..100).map(|_| every(&mut t, 1.0)).collect();
    let _awake = spawn(&mut t, Probe::new("b"));
    for _ in 0..3 {
        assert_eq!(t.tick(0.25).ticks, 1);
    }
    assert_eq!(t.tick(0.25).ticks, 101);
}

#[test]
fn those_that_are_due_tick_in_their_place_among_the_others() {
    let mut t = start();
    let _owners = [
        spawn(&mut t, Probe::new("a")),
        spawn(&mut t, Probe::new("b").interval(0.5)),
        spawn(&mut t, Probe::new("c")),
        spawn(&mut t, Probe::new("d").interval(0.25)),
        spawn(&mut t, Probe::new("e").interval(0.5)),
    ];
    t.tick(0.25);
    assert_eq!(log(&t), ["tick a", "tick c", "tick d"]);
    t.tick(0.25);
    assert_eq!(log(&t), ["tick a", "tick b", "tick c", "tick d", "tick e"]);
}

#[test]
fn a_change_of_interval_within_a_pass_takes_effect_after_it() {
    let mut t = start();
    let _a = spawn(
        &mut t,
        Probe::new("first").on_tick(|cx| {
            if cx.frame() == 1 {
                let (to_slow, to_fast) = (cx.host().id("to slow"), cx.host().id("to fast"));
                set_interval(cx, to_slow, 1.0);
                set_interval(cx, to_fast, 0.0);
            }
        }),
    );
    let slow = spawn(&mut t, Probe::new("to slow"));
    let fast = spawn(&mut t, Probe::new("to fast").interval(0.5));
    t.tick(0.75);
    assert_eq!(log(&t), ["tick first", "tick to slow", "tick to fast"]);
    assert_eq!(deltas(&mut t, &fast), [500], "by the interval in force");
    t.tick(0.75);
    assert_eq!(deltas(&mut t, &slow), [750]);
    assert_eq!(deltas(&mut t, &fast), [500, 1000], "with what was carried");
    t.tick(0.75);
    assert_eq!(deltas(&mut t, &slow), [750, 1000]);
    assert_eq!(deltas(&mut t, &fast), [500, 1000, 750]);
}

#[test]
fn an_object_changes_its_own_interval_in_its_tick() {
    let mut t = start();
    let a = spawn(
        &mut t,
        Probe::new("a").interval(1.0).on_tick(|cx| {
            let me = cx.current_object().unwrap();
            set_interval(cx, me, 2.0);
        }),
    );
    t.ticks(0.5, 7);
    assert_eq!(deltas(&mut t, &a), [1000, 2000], "at 1.0 and at 3.0");
}

#[test]
fn a_change_of_the_pause_flag_keeps_what_has_accumulated() {
    let mut t = start();
    let w = t.world;
    let a = every(&mut t, 1.0);
    t.cx().set_paused(w, true).unwrap();
    t.tick(5.0);
    t.cx().set_paused(w, false).unwrap();
    t.tick(0.75);
    let mut cx = t.rt.cx(&mut t.host);
    let change = cx.configure(&a).unwrap();
    change.tick_when_paused(true).apply().unwrap();
    assert_eq!(
        carry(&mut t, &a),
        ms(750),
        "though the clocks differ by 5 s"
    );
    t.tick(0.25);
    assert_eq!(deltas(&mut t, &a), [1000]);
}

#[test]
fn at_the_end_of_its_clock_it_sleeps_for_ever() {
    let mut t = start();
    let w = t.world;
    let a = every(&mut t, 1.0);
    t.cx().set_dilation(w, 1e300).unwrap();
    t.tick(1.0);
    assert_eq!(log(&t), ["tick a"]);
    t.ticks(1.0, 3);
    assert!(
        log(&t).is_empty(),
        "its clock stands still: no interval passes"
    );
    assert_eq!(t.cx().get(&a).unwrap().deltas.len(), 1);
}
