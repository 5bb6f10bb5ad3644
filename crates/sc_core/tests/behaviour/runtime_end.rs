//! How a runtime ends: shut down, inner before outer; or merely dropped.

use crate::probe::{
    Game, Probe, Test, log, panic_of, spawn, spawn_in, spawn_worldless, start, world,
};
use sc_core::{
    Extension, FrameError, PanicPolicy, ReportKind, RuntimeGone, TeardownPhase, TickError,
    WorldError, WorldKind, WorldOptions,
};

fn shutdown(t: &mut Test) {
    t.rt.shutdown(&mut t.host);
}

#[test]
fn shutdown_ends_everything_inner_before_outer() {
    let mut t = start();
    let first = t.world;
    let child = WorldOptions::new(WorldKind::Game).parent(first);
    let child = t.cx().create_world(child).unwrap();
    let e = Extension::<Game>::new("outermost")
        .on_teardown(TeardownPhase::Subsystems, |cx, _| {
            cx.host().log.add("subsystems of a world");
        })
        .on_runtime_teardown(|cx| cx.host().log.add("runtime"));
    t.cx().install(e);
    let _music = spawn_worldless(&mut t, Probe::new("music"));
    let _c = spawn_in(&mut t, child, Probe::new("c"));
    let _a = spawn(&mut t, Probe::new("a"));
    let _b = spawn(&mut t, Probe::new("b"));
    let _sound = spawn_worldless(&mut t, Probe::new("sound"));
    shutdown(&mut t);
    assert_eq!(
        log(&t),
        [
            "stop c",
            "subsystems of a world",
            "stop b",
            "stop a",
            "subsystems of a world",
            "stop sound",
            "stop music",
            "runtime",
        ]
    );
    assert!(t.rt.world_list().is_empty());
    assert!(t.rt.tick_list().is_empty());
    assert!(t.reports.take().is_empty(), "everything was shut down");
}

#[test]
fn after_a_shutdown_nothing_can_be_started() {
    let mut t = start();
    let a = spawn(&mut t, Probe::new("a"));
    let w = t.world;
    shutdown(&mut t);
    log(&t);
    shutdown(&mut t);
    assert!(log(&t).is_empty(), "a second shutdown does nothing");
    assert_eq!(t.rt.tick_secs(&mut t.host, 0.1), Err(FrameError::ShutDown));
    assert_eq!(
        t.rt.begin_frame(&mut t.host, 0.1),
        Err(FrameError::ShutDown)
    );
    let mut cx = t.rt.cx(&mut t.host);
    assert_eq!(
        cx.create_world(WorldKind::Game).err(),
        Some(WorldError::ShutDown)
    );
    let name = || "a".to_owned();
    assert_eq!(
        cx.initialize(&a, w),
        Err(TickError::NoLiveWorld { object: name() })
    );
    let none = cx.spawn_worldless(Probe::new("a"));
    assert_eq!(
        cx.initialize(&none, None),
        Err(TickError::ShutDown { object: name() })
    );
    assert_eq!(a.shutdown(&mut cx), Ok(false));
    assert_eq!(t.rt.poster().post(|_| {}), Err(RuntimeGone));
    assert!(log(&t).is_empty());
}

#[test]
fn nothing_can_be_started_from_the_shutdown_events_either() {
    let mut t = start();
    let _a = spawn_worldless(
        &mut t,
        Probe::new("a").on_stop(|cx| {
            assert_eq!(
                cx.create_world(WorldKind::Game).err(),
                Some(WorldError::ShutDown)
            );
            let more = cx.spawn_worldless(Probe::new("more"));
            assert!(cx.initialize(&more, None).is_err());
        }),
    );
    shutdown(&mut t);
    assert_eq!(log(&t), ["stop a"]);
}

#[test]
fn a_panic_in_a_shutdown_does_not_stop_the_rest_and_the_first_is_raised_at_the_end() {
    let mut t = start();
    let _m = spawn_worldless(&mut t, Probe::new("m"));
    let _n = spawn_worldless(&mut t, Probe::new("n").on_stop(|_| panic!("second")));
    let _a = spawn(&mut t, Probe::new("a"));
    let _b = spawn(&mut t, Probe::new("b").on_stop(|_| panic!("first")));
    let what = panic_of(|| shutdown(&mut t));
    assert_eq!(what, "first");
    assert_eq!(log(&t), ["stop b", "stop a", "stop n", "stop m"]);
}

#[test]
fn under_isolate_a_panic_in_a_shutdown_is_reported() {
    let mut t = start();
    t.rt.set_panic_policy(PanicPolicy::Isolate);
    let _m = spawn_worldless(&mut t, Probe::new("m").on_stop(|_| panic!("no")));
    let _a = spawn(&mut t, Probe::new("a").on_stop(|_| panic!("no")));
    shutdown(&mut t);
    assert_eq!(log(&t), ["stop a", "stop m"]);
    let names: Vec<_> = t.reports.take().into_iter().map(|r| r.object).collect();
    assert_eq!(names, [Some("a".to_owned()), Some("m".to_owned())]);
}

#[test]
fn a_dead_owners_object_gets_no_shutdown_event_in_a_shutdown() {
    let mut t = start();
    let a = spawn(&mut t, Probe::new("a"));
    let m = spawn_worldless(&mut t, Probe::new("m"));
    drop((a, m));
    shutdown(&mut t);
    assert!(log(&t).is_empty());
    assert_eq!(
        t.reports.kinds(),
        [ReportKind::OwnerDropped, ReportKind::OwnerDropped]
    );
}

#[test]
fn merely_dropping_a_runtime_runs_no_callbacks_and_reports_each_object_still_initialized() {
    let mut t = start();
    let e = Extension::<Game>::new("e")
        .on_teardown(TeardownPhase::Flows, |cx, _| cx.host().log.add("teardown"))
        .on_runtime_teardown(|cx| cx.host().log.add("runtime"));
    t.cx().install(e);
    let lines = t.host.log.clone();
    let reports = t.reports.clone();
    let a = spawn(&mut t, Probe::new("a").logs_drop(&lines));
    let b = spawn_worldless(&mut t, Probe::new("b").logs_drop(&lines));
    let c = t.cx().spawn(Probe::new("c").logs_drop(&lines));
    let d = spawn(&mut t, Probe::new("d").logs_drop(&lines));
    d.shutdown(&mut t.cx()).unwrap();
    let poster = t.rt.poster();
    poster.post(|cx| cx.host().log.add("posted")).unwrap();
    lines.take();
    drop(t);
    let mut events = lines.take();
    events.sort();
    assert_eq!(events, ["drop a", "drop b", "drop c", "drop d"]);
    let mut told: Vec<_> = reports
        .take()
        .into_iter()
        .map(|r| (r.kind, r.object.unwrap(), r.world))
        .collect();
    told.sort_by(|x, y| x.1.cmp(&y.1));
    assert_eq!(
        told,
        [
            (
                ReportKind::RuntimeDropped,
                "a".to_owned(),
                Some("game 1".to_owned())
            ),
            (ReportKind::RuntimeDropped, "b".to_owned(), None),
        ]
    );
    drop((a, b, c, d));
    assert!(lines.take().is_empty(), "owners dropped later are no-ops");
    assert!(reports.take().is_empty());
    assert_eq!(poster.post(|_| {}), Err(RuntimeGone));
}

#[test]
fn a_runtime_dropped_after_its_shutdown_reports_nothing() {
    let mut t = start();
    let _a = spawn(&mut t, Probe::new("a"));
    let _m = spawn_worldless(&mut t, Probe::new("m"));
    shutdown(&mut t);
    let reports = t.reports.clone();
    drop(t);
    assert!(reports.take().is_empty());
}

#[test]
fn each_object_still_initialized_is_reported_once_also_when_its_owner_went_first() {
    let mut t = start();
    let reports = t.reports.clone();
    let a = spawn(&mut t, Probe::new("a"));
    let second = world(&mut t, "second");
    let _b = spawn_in(&mut t, second, Probe::new("b"));
    drop(a);
    drop(t);
    assert_eq!(reports.take().len(), 2);
}

#[test]
fn batched_and_sleeping_objects_are_reported_by_a_dropped_runtime_like_any_other() {
    let mut t = start();
    let reports = t.reports.clone();
    let _a = crate::probe::spawn_batched(&mut t, Probe::new("row 1"));
    let _b = crate::probe::spawn_batched(&mut t, Probe::new("row 2"));
    let _c = spawn(&mut t, Probe::new("asleep").interval(60));
    t.tick(0.1);
    drop(t);
    let mut names: Vec<_> = reports
        .take()
        .into_iter()
        .map(|r| r.object.unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["asleep", "row 1", "row 2"]);
}

#[test]
fn a_shutdown_between_the_pieces_of_a_frame_ends_everything_and_the_frame() {
    let mut t = start();
    let _a = spawn(&mut t, Probe::new("a"));
    let _m = spawn_worldless(&mut t, Probe::new("m"));
    t.rt.begin_frame(&mut t.host, 0.1).unwrap();
    shutdown(&mut t);
    assert_eq!(log(&t), ["stop a", "stop m"]);
    assert_eq!(t.rt.end_frame(&mut t.host), Err(FrameError::NoFrame));
    assert_eq!(
        t.rt.begin_frame(&mut t.host, 0.1),
        Err(FrameError::ShutDown)
    );
}
