//! Panics in the teardown of a world, and teardowns asked for by callbacks that panic.

use crate::probe::{Game, Probe, log, panic_of, spawn, spawn_in, start, tick_panics, world};
use sc_core::{Cx, Extension, PanicPolicy, ReportKind, TeardownPhase, WorldId};

fn destroys(world: WorldId) -> impl FnMut(&mut Cx<'_, Game>) {
    move |cx| {
        let marked = cx.destroy_world(world);
        cx.host().log.add(format!("destroyed: {marked}"));
    }
}

#[test]
fn a_panic_in_one_shutdown_event_does_not_stop_the_rest_and_the_first_is_raised_at_the_end() {
    let mut t = start();
    let here = t.world;
    let _a = spawn(&mut t, Probe::new("a").on_stop(|_| panic!("second")));
    let _b = spawn(&mut t, Probe::new("b"));
    let _c = spawn(&mut t, Probe::new("c").on_stop(|_| panic!("first")));
    let what = panic_of(|| t.cx().destroy_world(here));
    assert_eq!(what, "first");
    assert_eq!(log(&t), ["stop c", "stop b", "stop a"]);
    assert!(t.rt.world_list().is_empty(), "it ended all the same");
    t.tick(0.1);
    assert!(log(&t).is_empty());
}

#[test]
fn a_panic_in_a_teardown_within_a_frame_comes_out_of_tick_when_all_has_ended() {
    let mut t = start();
    let here = t.world;
    let other = world(&mut t, "other");
    let _a = spawn(&mut t, Probe::new("a"));
    let _b = spawn(
        &mut t,
        Probe::new("b")
            .on_tick(destroys(here))
            .on_stop(|_| panic!("in b's teardown")),
    );
    let _o = spawn_in(&mut t, other, Probe::new("o"));
    assert_eq!(tick_panics(&mut t, 0.1), "in b's teardown");
    assert_eq!(
        log(&t),
        ["tick a", "tick b", "destroyed: true", "stop b", "stop a"]
    );
    t.tick(0.1);
    assert_eq!(log(&t), ["tick o"], "the next frame works");
}

#[test]
fn a_panic_in_a_teardown_hook_does_not_stop_the_rest() {
    let mut t = start();
    let here = t.world;
    let e = Extension::<Game>::new("bad").on_teardown(TeardownPhase::Flows, |_, _| panic!("hook"));
    t.cx().install(e);
    let e = Extension::<Game>::new("good")
        .on_teardown(TeardownPhase::Flows, |cx, _| cx.host().log.add("good"));
    t.cx().install(e);
    let _a = spawn(&mut t, Probe::new("a"));
    assert_eq!(panic_of(|| t.cx().destroy_world(here)), "hook");
    assert_eq!(log(&t), ["good", "stop a"]);
}

#[test]
fn under_isolate_a_panic_in_a_teardown_is_reported_and_the_frame_goes_on() {
    let mut t = start();
    t.rt.set_panic_policy(PanicPolicy::Isolate);
    let here = t.world;
    let other = world(&mut t, "other");
    let _a = spawn(&mut t, Probe::new("a").on_stop(|_| panic!("no")));
    let _b = spawn(&mut t, Probe::new("b").on_tick(destroys(here)));
    let _o = spawn_in(&mut t, other, Probe::new("o"));
    t.tick(0.1);
    assert_eq!(
        log(&t),
        [
            "tick a",
            "tick b",
            "destroyed: true",
            "stop b",
            "stop a",
            "tick o"
        ]
    );
    let reports = t.reports.take();
    assert_eq!(reports.len(), 1);
    assert_eq!(reports[0].kind, ReportKind::Panicked);
    assert_eq!(reports[0].object.as_deref(), Some("a"));
}

/// Under `Propagate`: the world a tick destroyed has ended when that tick's panic comes out.
#[test]
fn a_world_destroyed_by_a_tick_that_panics_then_ends_before_the_panic_goes_on() {
    let mut t = start();
    let here = t.world;
    let _a = spawn(&mut t, Probe::new("a"));
    let _b = spawn(
        &mut t,
        Probe::new("b").on_tick(move |cx| {
            cx.destroy_world(here);
            panic!("after destroying")
        }),
    );
    assert_eq!(tick_panics(&mut t, 0.1), "after destroying");
    assert_eq!(
        log(&t),
        ["tick a", "tick b", "stop a"],
        "b panicked: it is uninitialized without its shutdown event"
    );
    assert!(t.rt.world_list().is_empty());
}

/// A value of a world whose destructor panics.
#[derive(Default)]
struct BadState(bool);

impl Drop for BadState {
    fn drop(&mut self) {
        assert!(!self.0, "in the state's destructor");
    }
}

#[test]
fn a_panic_in_the_destructor_of_a_worlds_state_does_not_keep_other_worlds_from_ending() {
    for policy in [PanicPolicy::Propagate, PanicPolicy::Isolate] {
        let mut t = start();
        t.rt.set_panic_policy(policy);
        let here = t.world;
        let other = world(&mut t, "other");
        t.cx().world_state::<BadState>(here).unwrap().0 = true;
        let _a = spawn(&mut t, Probe::new("a"));
        let _o = spawn_in(&mut t, other, Probe::new("o"));
        match policy {
            PanicPolicy::Propagate => {
                let what = panic_of(|| t.cx().destroy_world(here));
                assert_eq!(what, "in the state's destructor");
            }
            PanicPolicy::Isolate => {
                assert!(t.cx().destroy_world(here));
                assert_eq!(t.reports.kinds(), [ReportKind::Panicked]);
            }
        }
        assert_eq!(log(&t), ["stop a"]);
        t.tick(0.1);
        assert_eq!(log(&t), ["tick o"], "{policy:?}: the next frame works");
        t.cx().destroy_world(other);
        assert_eq!(log(&t), ["stop o"]);
        assert!(t.rt.world_list().is_empty());
    }
}
