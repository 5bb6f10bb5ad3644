//! The `Begin` stage: what runs before the clocks advance, and what is sampled there.

use std::time::Duration;

use crate::probe::{Game, Probe, log, ms, spawn, spawn_in, start, world};
use sc_core::{Clock, Cx, Extension, Stage, TickGroup, WorldKind, secs};

#[test]
fn begin_runs_posted_closures_in_arrival_order_before_the_clocks_advance() {
    let mut t = start();
    let e = Extension::<Game>::new("log")
        .on_runtime_stage(Stage::Begin, |cx| cx.host().log.add("Begin"));
    t.cx().install(e);
    let here = t.world;
    t.tick(0.25);
    log(&t);
    let poster = t.rt.poster();
    for line in ["first", "second", "third"] {
        poster
            .post(move |cx| {
                assert_eq!(cx.elapsed(here, Clock::Real), Ok(ms(250)));
                assert_eq!((cx.world(), cx.delta()), (None, Duration::ZERO));
                cx.host().log.add(line);
            })
            .unwrap();
    }
    assert!(log(&t).is_empty(), "posting runs nothing");
    t.tick(0.25);
    assert_eq!(log(&t)[..4], ["first", "second", "third", "Begin"]);
}

#[test]
fn what_begin_starts_counts_from_the_reading_before_the_advance_and_ticks_in_this_frame() {
    let mut t = start();
    let here = t.world;
    t.tick(0.25);
    let poster = t.rt.poster();
    poster
        .post(move |cx| {
            let plain = cx.spawn_in(here, Probe::new("plain")).unwrap();
            let throttled = cx
                .spawn_in(here, Probe::new("throttled").interval(secs(1)))
                .unwrap();
            cx.host_mut().owners.insert("plain", plain);
            cx.host_mut().owners.insert("throttled", throttled);
        })
        .unwrap();
    t.tick(1.0);
    assert_eq!(
        log(&t),
        [
            "init plain",
            "init throttled",
            "tick plain",
            "tick throttled"
        ]
    );
}

#[test]
fn what_begin_enables_ticks_in_this_frame() {
    let mut t = start();
    let off = Probe::new("a").settings(|s| s.start_ticking(false));
    let a = spawn(&mut t, off);
    let id = a.id();
    t.tick(0.1);
    t.rt.poster()
        .post(move |cx| cx.set_tick_enabled(id, true).unwrap())
        .unwrap();
    t.tick(0.1);
    assert_eq!(log(&t), ["tick a"]);
}

#[test]
fn a_world_made_in_begin_is_in_this_frame_and_one_made_later_in_the_next() {
    let mut t = start();
    fn make(cx: &mut Cx<'_, Game>, name: &'static str) {
        let w = cx.create_world(WorldKind::Game).unwrap();
        let owner = cx.spawn_in(w, Probe::new(name)).unwrap();
        cx.host_mut().owners.insert(name, owner);
    }
    t.rt.poster().post(|cx| make(cx, "early")).unwrap();
    let mut once = true;
    let _a = spawn(
        &mut t,
        Probe::new("a")
            .group(TickGroup::PrePhysics)
            .on_tick(move |cx| {
                if std::mem::take(&mut once) {
                    make(cx, "late");
                }
            }),
    );
    t.tick(0.1);
    assert_eq!(log(&t), ["init early", "tick a", "init late", "tick early"]);
    t.tick(0.1);
    assert_eq!(log(&t), ["tick a", "tick early", "tick late"]);
}

#[test]
fn pause_and_dilation_are_sampled_in_begin_and_hold_for_the_whole_frame() {
    let mut t = start();
    let here = t.world;
    let mut frame = 0;
    let _a = spawn(
        &mut t,
        Probe::new("a")
            .group(TickGroup::PrePhysics)
            .settings(|s| s.tick_when_paused(true))
            .on_tick(move |cx| {
                frame += 1;
                cx.set_paused(here, frame == 1).unwrap();
                cx.set_dilation(here, if frame == 1 { 0.5 } else { 1.0 })
                    .unwrap();
            }),
    );
    let b = spawn(&mut t, Probe::new("b"));
    t.tick(0.1);
    assert_eq!(log(&t), ["tick a", "tick b"], "not paused in this frame");
    t.tick(0.1);
    assert_eq!(log(&t), ["tick a"], "paused, though resumed in this frame");
    t.tick(0.1);
    assert_eq!(log(&t), ["tick a", "tick b"]);
    assert_eq!(crate::probe::deltas(&mut t, &b), [100, 100]);
    let readings =
        [Clock::Game, Clock::GameThroughPause].map(|clock| t.cx().elapsed(here, clock).unwrap());
    assert_eq!(readings, [ms(200), ms(250)]);
}

#[test]
fn what_a_posted_closure_pauses_and_dilates_holds_in_this_frame() {
    let mut t = start();
    let (here, other) = (t.world, world(&mut t, "other"));
    let _a = spawn(&mut t, Probe::new("a"));
    let b = spawn_in(&mut t, other, Probe::new("b"));
    t.rt.poster()
        .post(move |cx| {
            cx.set_paused(here, true).unwrap();
            cx.set_dilation(other, 3.0).unwrap();
        })
        .unwrap();
    t.tick(0.1);
    assert_eq!(log(&t), ["tick b"]);
    assert_eq!(crate::probe::deltas(&mut t, &b), [300]);
}
