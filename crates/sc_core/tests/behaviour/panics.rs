//! Panics in user code: both policies, for every kind of event.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use crate::probe::{
    Game, Log, Probe, Test, deltas, log, panic_of, spawn, spawn_in, spawn_worldless, start,
    tick_panics, world,
};
use sc_core::{
    Clock, Cx, Extension, Owner, PanicPolicy, Report, ReportKind, Severity, Stage, Stopwatch,
    TickError, TickGroup,
};

fn isolated() -> Test {
    let mut t = start();
    t.rt.set_panic_policy(PanicPolicy::Isolate);
    t
}

/// The one report there is: it tells of a panic and names the object.
#[track_caller]
fn one_report(t: &Test, object: &str, message: &str) -> Report {
    let mut reports = t.reports.take();
    assert_eq!(reports.len(), 1, "{reports:?}");
    let report = reports.remove(0);
    assert_eq!(report.kind, ReportKind::Panicked);
    assert_eq!(report.severity, Severity::Error);
    assert_eq!(report.object.as_deref(), Some(object));
    assert!(report.what.contains(message), "{report}");
    report
}

/// What must hold of a panicked object: uninitialized, its owner's drop silent.
#[track_caller]
fn is_out_silently(t: &mut Test, owner: Owner<Probe>) {
    assert!(!t.cx().is_initialized(&owner));
    assert!(t.cx().get(&owner).is_ok());
    log(t);
    drop(owner);
    t.tick(0.0);
    assert!(t.reports.take().is_empty());
    assert!(log(t).iter().all(|line| !line.starts_with("stop")));
}

#[test]
fn propagate_is_the_default() {
    assert_eq!(PanicPolicy::default(), PanicPolicy::Propagate);
    let mut t = start();
    let _a = spawn(&mut t, Probe::new("a").on_tick(|_| panic!("out")));
    assert_eq!(tick_panics(&mut t, 0.1), "out");
}

#[test]
fn tick_under_propagate() {
    let mut t = start();
    let other = world(&mut t, "other");
    let _a = spawn(&mut t, Probe::new("a"));
    let b = spawn(&mut t, Probe::new("b").on_tick(|_| panic!("in b")));
    let _c = spawn(&mut t, Probe::new("c"));
    let _o = spawn_in(&mut t, other, Probe::new("o"));
    let _m = spawn_worldless(&mut t, Probe::new("m"));
    assert_eq!(tick_panics(&mut t, 0.1), "in b");
    assert_eq!(
        log(&t),
        ["tick a", "tick b"],
        "the panic goes on out of tick"
    );
    assert!(t.reports.take().is_empty());
    let report = t.tick(0.1);
    assert_eq!(
        log(&t),
        ["tick a", "tick c", "tick o", "tick m"],
        "everything else is intact, the next frame works"
    );
    assert_eq!((report.frame, report.ticks), (2, 4));
    let w = t.world;
    assert_eq!(t.cx().elapsed(w, Clock::Game), Ok(crate::probe::ms(200)));
    is_out_silently(&mut t, b);
}

#[test]
fn tick_under_isolate() {
    let mut t = isolated();
    let _a = spawn(&mut t, Probe::new("a"));
    let b = spawn(&mut t, Probe::new("b").on_tick(|_| panic!("in b")));
    let _c = spawn(&mut t, Probe::new("c"));
    let report = t.tick(0.1);
    assert_eq!(log(&t), ["tick a", "tick b", "tick c"], "the frame goes on");
    assert_eq!(report.reports, 1);
    one_report(&t, "b", "in b");
    t.tick(0.1);
    assert_eq!(log(&t), ["tick a", "tick c"]);
    is_out_silently(&mut t, b);
}

#[test]
fn a_panicked_object_may_be_initialized_again() {
    let mut t = isolated();
    let w = t.world;
    let a = spawn(
        &mut t,
        Probe::new("a").on_tick(|cx| assert!(cx.frame() != 1, "not now")),
    );
    t.cx().set_tick_enabled(&a, true).unwrap();
    t.tick(0.1);
    t.cx().initialize(&a, w).unwrap();
    t.tick(0.1);
    assert_eq!(log(&t), ["tick a", "init a", "tick a"]);
}

#[test]
fn a_formatted_message_is_told_too() {
    let mut t = isolated();
    let number = std::hint::black_box(7);
    let _a = spawn(
        &mut t,
        Probe::new("a").on_tick(move |_| panic!("number {number}")),
    );
    t.tick(0.1);
    one_report(&t, "a", "number 7");
}

#[test]
fn a_worldless_tick_under_both() {
    let mut t = start();
    let a = spawn_worldless(&mut t, Probe::new("a").on_tick(|_| panic!("in a")));
    let _b = spawn_worldless(&mut t, Probe::new("b"));
    assert_eq!(tick_panics(&mut t, 0.1), "in a");
    t.tick(0.1);
    assert_eq!(log(&t), ["tick a", "tick b"]);
    is_out_silently(&mut t, a);
    t.rt.set_panic_policy(PanicPolicy::Isolate);
    let c = spawn_worldless(&mut t, Probe::new("c").on_tick(|_| panic!("in c")));
    let _d = spawn_worldless(&mut t, Probe::new("d"));
    t.tick(0.1);
    assert_eq!(log(&t), ["tick b", "tick c", "tick d"]);
    assert_eq!(one_report(&t, "c", "in c").world, None);
    is_out_silently(&mut t, c);
}

#[test]
fn a_throttled_tick_under_both() {
    let mut t = start();
    let a = spawn(
        &mut t,
        Probe::new("a").interval(0.5).on_tick(|_| panic!("in a")),
    );
    let b = spawn(&mut t, Probe::new("b").interval(0.5));
    t.tick(0.25);
    assert_eq!(tick_panics(&mut t, 0.25), "in a");
    assert_eq!(log(&t), ["tick a"]);
    t.tick(0.25);
    assert_eq!(log(&t), ["tick b"], "its turn is made up for");
    t.ticks(0.25, 2);
    let sum: u128 = deltas(&mut t, &b).iter().sum();
    assert_eq!(
        sum, 1000,
        "nothing is lost: by 1.25 s it has had two intervals"
    );
    is_out_silently(&mut t, a);
    t.rt.set_panic_policy(PanicPolicy::Isolate);
    let c = spawn(
        &mut t,
        Probe::new("c").interval(0.25).on_tick(|_| panic!("in c")),
    );
    let _d = spawn(&mut t, Probe::new("d").interval(0.25));
    t.tick(0.25);
    assert!(log(&t).ends_with(&["tick c".to_owned(), "tick d".to_owned()]));
    one_report(&t, "c", "in c");
    is_out_silently(&mut t, c);
}

#[test]
fn a_turn_that_a_panic_cut_off_does_not_come_in_a_pause() {
    let mut t = start();
    let w = t.world;
    let _a = spawn(
        &mut t,
        Probe::new("a").on_tick(|cx| assert!(cx.frame() != 1, "once")),
    );
    let b = spawn(&mut t, Probe::new("b").interval(0.5));
    assert_eq!(tick_panics(&mut t, 0.5), "once");
    t.cx().set_paused(w, true).unwrap();
    t.ticks(0.5, 2);
    assert_eq!(log(&t), ["tick a"], "its clock stands still");
    t.cx().set_paused(w, false).unwrap();
    t.tick(0.25);
    assert_eq!(deltas(&mut t, &b), [500]);
}

#[test]
fn initialize_under_propagate() {
    let mut t = start();
    let w = t.world;
    let a = t.cx().spawn(Probe::new("a").on_init(|_| panic!("in init")));
    assert_eq!(panic_of(|| t.cx().initialize(&a, w)), "in init");
    assert!(t.reports.take().is_empty());
    t.tick(0.1);
    assert_eq!(log(&t), ["init a"]);
    is_out_silently(&mut t, a);
    let bad = Probe::new("b").on_init(|_| panic!("in init"));
    assert_eq!(panic_of(|| t.cx().spawn_in(w, bad).map(drop)), "in init");
    t.tick(0.1);
    assert!(t.reports.take().is_empty());
}

#[test]
fn initialize_under_isolate() {
    let mut t = isolated();
    let w = t.world;
    let a = t.cx().spawn(Probe::new("a").on_init(|_| panic!("in init")));
    assert_eq!(
        t.cx().initialize(&a, w),
        Err(TickError::Panicked {
            object: "a".to_owned()
        })
    );
    one_report(&t, "a", "in init");
    t.tick(0.1);
    assert_eq!(log(&t), ["init a"]);
    is_out_silently(&mut t, a);
    let bad = Probe::new("b").on_init(|_| panic!("in init"));
    let owned = t.cx().spawn_world_owned(w, bad);
    assert!(matches!(owned, Err(TickError::Panicked { .. })));
    t.tick(0.1);
    one_report(&t, "b", "in init");
}

#[test]
fn initialize_within_a_tick_under_propagate_takes_the_caller_along_and_nobody_else() {
    let mut t = start();
    let w = t.world;
    let a = spawn(
        &mut t,
        Probe::new("a").on_tick(move |cx| {
            let bad = Probe::new("bad").on_init(|_| panic!("in init"));
            drop(cx.spawn_in(w, bad));
        }),
    );
    let _b = spawn(&mut t, Probe::new("b"));
    assert_eq!(tick_panics(&mut t, 0.1), "in init");
    t.tick(0.1);
    assert_eq!(log(&t), ["tick a", "init bad", "tick b"]);
    is_out_silently(&mut t, a);
}

#[test]
fn initialize_within_a_tick_under_isolate_is_an_error_for_the_caller() {
    let mut t = isolated();
    let w = t.world;
    let a = spawn(
        &mut t,
        Probe::new("a").on_tick(move |cx| {
            let bad = Probe::new("bad").on_init(|_| panic!("in init"));
            assert!(matches!(
                cx.spawn_in(w, bad),
                Err(TickError::Panicked { .. })
            ));
            cx.host().log.add("a goes on");
        }),
    );
    t.tick(0.1);
    assert_eq!(log(&t), ["tick a", "init bad", "a goes on"]);
    one_report(&t, "bad", "in init");
    assert!(t.cx().is_initialized(&a));
}

#[test]
fn shutdown_under_both() {
    let mut t = start();
    let a = spawn(&mut t, Probe::new("a").on_stop(|_| panic!("in stop")));
    assert_eq!(panic_of(|| a.shutdown(&mut t.cx())), "in stop");
    assert!(!t.cx().is_initialized(&a));
    assert_eq!(
        a.shutdown(&mut t.cx()),
        Ok(false),
        "it is over all the same"
    );
    assert_eq!(log(&t), ["stop a"]);
    is_out_silently(&mut t, a);
    t.rt.set_panic_policy(PanicPolicy::Isolate);
    let b = spawn(&mut t, Probe::new("b").on_stop(|_| panic!("in stop")));
    assert_eq!(
        b.shutdown(&mut t.cx()),
        Err(TickError::Panicked {
            object: "b".to_owned()
        })
    );
    one_report(&t, "b", "in stop");
    is_out_silently(&mut t, b);
}

fn stops_itself(name: &'static str) -> Probe {
    Probe::new(name)
        .on_tick(|cx| {
            let me = cx.current_object().unwrap();
            cx.shutdown(me).unwrap();
        })
        .on_stop(|_| panic!("in stop"))
}

#[test]
fn a_shutdown_event_after_the_own_tick_under_propagate() {
    let mut t = start();
    let a = spawn(&mut t, stops_itself("a"));
    let _b = spawn(&mut t, Probe::new("b"));
    assert_eq!(tick_panics(&mut t, 0.1), "in stop");
    t.tick(0.1);
    assert_eq!(log(&t), ["tick a", "stop a", "tick b"]);
    is_out_silently(&mut t, a);
}

#[test]
fn a_shutdown_event_after_the_own_tick_under_isolate() {
    let mut t = isolated();
    let a = spawn(&mut t, stops_itself("a"));
    let _b = spawn(&mut t, Probe::new("b"));
    t.tick(0.1);
    assert_eq!(log(&t), ["tick a", "stop a", "tick b"]);
    one_report(&t, "a", "in stop");
    is_out_silently(&mut t, a);
}

#[test]
fn an_object_that_asked_for_its_shutdown_and_panicked_then_has_no_shutdown_event() {
    let mut t = isolated();
    let a = spawn(
        &mut t,
        Probe::new("a").on_tick(|cx| {
            let me = cx.current_object().unwrap();
            cx.shutdown(me).unwrap();
            panic!("then")
        }),
    );
    t.tick(0.1);
    assert_eq!(log(&t), ["tick a"]);
    one_report(&t, "a", "then");
    is_out_silently(&mut t, a);
}

#[test]
fn a_world_owned_object_that_panicked_goes() {
    let mut t = isolated();
    let w = t.world;
    let lines = t.host.log.clone();
    let bad = Probe::new("a").logs_drop(&lines).on_tick(|_| panic!("no"));
    let key = t.cx().spawn_world_owned(w, bad).unwrap();
    t.tick(0.1);
    assert_eq!(log(&t), ["init a", "tick a", "drop a"]);
    assert_eq!(t.cx().get(key).err(), Some(TickError::Gone));
    one_report(&t, "a", "no");
}

#[test]
fn a_posted_closure_under_propagate() {
    let mut t = start();
    let _a = spawn(&mut t, Probe::new("a"));
    let poster = t.rt.poster();
    poster.post(|_| panic!("posted")).unwrap();
    poster.post(|cx| cx.host().log.add("after it")).unwrap();
    assert_eq!(tick_panics(&mut t, 0.1), "posted");
    assert!(log(&t).is_empty());
    t.tick(0.1);
    assert_eq!(
        log(&t),
        ["after it", "tick a"],
        "what was posted after it runs"
    );
}

#[test]
fn a_posted_closure_under_propagate_leaves_no_frame_open() {
    let mut t = start();
    t.rt.poster().post(|_| panic!("posted")).unwrap();
    let what = panic_of(|| t.rt.begin_frame(&mut t.host, 0.1));
    assert_eq!(what, "posted");
    assert_eq!(t.rt.begin_frame(&mut t.host, 0.1), Ok(()));
}

#[test]
fn a_posted_closure_under_isolate() {
    let mut t = isolated();
    let _a = spawn(&mut t, Probe::new("a"));
    let poster = t.rt.poster();
    poster.post(|_| panic!("posted")).unwrap();
    poster.post(|cx| cx.host().log.add("after it")).unwrap();
    t.tick(0.1);
    assert_eq!(log(&t), ["after it", "tick a"]);
    let reports = t.reports.take();
    assert_eq!(reports.len(), 1);
    assert_eq!(reports[0].kind, ReportKind::Panicked);
    let text = reports[0].to_string();
    assert!(text.contains("panics.rs"), "it names the place: {text}");
    assert!(text.contains("posted"), "{text}");
}

fn bad_hook(cx: &mut Cx<'_, Game>) {
    if cx.frame() == 1 {
        panic!("in the hook")
    }
    cx.host().log.add("hook");
}

#[test]
fn a_stage_hook_under_propagate() {
    for stage in [Stage::Begin, Stage::Timers, Stage::PostPhysics, Stage::End] {
        for of_world in [true, false] {
            let mut t = start();
            let e = Extension::new("bad hooks");
            t.cx().install(match of_world {
                true => e.on_world_stage(stage, bad_hook),
                false => e.on_runtime_stage(stage, bad_hook),
            });
            let _a = spawn(&mut t, Probe::new("a").group(TickGroup::PrePhysics));
            assert_eq!(tick_panics(&mut t, 0.1), "in the hook");
            log(&t);
            assert_eq!(t.tick(0.1).ticks, 1, "{stage:?}: the next frame works");
            let mut lines = log(&t);
            lines.sort();
            assert_eq!(lines, ["hook", "tick a"]);
        }
    }
}

#[test]
fn a_stage_hook_under_isolate() {
    for of_world in [true, false] {
        let mut t = isolated();
        let e = Extension::new("bad hooks");
        t.cx().install(match of_world {
            true => e.on_world_stage(Stage::Timers, bad_hook),
            false => e.on_runtime_stage(Stage::Timers, bad_hook),
        });
        let good = Extension::<Game>::new("good")
            .on_runtime_stage(Stage::Timers, |cx| cx.host().log.add("good"));
        t.cx().install(good);
        let _a = spawn(&mut t, Probe::new("a"));
        t.tick(0.1);
        assert_eq!(log(&t), ["good", "tick a"], "the frame goes on");
        let reports = t.reports.take();
        assert_eq!(reports.len(), 1);
        assert_eq!(reports[0].kind, ReportKind::Panicked);
        let text = reports[0].to_string();
        assert!(text.contains("in the hook"), "{text}");
    }
}

#[test]
fn the_report_of_a_hooks_panic_names_the_extension_and_the_world() {
    let mut t = isolated();
    let e = Extension::new("bad hooks").on_world_stage(Stage::Timers, bad_hook);
    t.cx().install(e);
    t.tick(0.1);
    let report = t.reports.take().remove(0);
    assert!(report.to_string().contains("bad hooks"), "{report}");
    assert_eq!(report.world.as_deref(), Some("game 1"));
}

#[test]
fn the_report_of_a_panic_names_the_world_whichever_the_event() {
    let bad = |_: &mut Cx<'_, Game>| panic!("no");
    let mut t = isolated();
    let w = t.world;
    drop(t.cx().spawn_in(w, Probe::new("init").on_init(bad)));
    let stop = spawn(&mut t, Probe::new("stop").on_stop(bad));
    assert!(stop.shutdown(&mut t.cx()).is_err());
    let _tick = spawn(&mut t, Probe::new("tick").on_tick(bad));
    t.tick(0.1);
    let end = spawn(&mut t, Probe::new("end").on_stop(bad));
    t.cx().destroy_world(w);
    let reports = t.reports.take().into_iter();
    let told: Vec<_> = reports.map(|r| (r.object.unwrap(), r.world)).collect();
    let here = || Some("game 1".to_owned());
    assert_eq!(
        told,
        ["init", "stop", "tick", "end"].map(|name| (name.to_owned(), here()))
    );
    drop(end);
}

#[test]
fn a_panic_between_the_pieces_leaves_the_frame_open_and_the_next_stage_can_run() {
    let mut t = start();
    let _a = spawn(
        &mut t,
        Probe::new("a")
            .group(TickGroup::PrePhysics)
            .on_tick(|_| panic!("early")),
    );
    let _b = spawn(&mut t, Probe::new("b"));
    t.rt.begin_frame(&mut t.host, 0.1).unwrap();
    let what = panic_of(|| t.rt.run_through(&mut t.host, Stage::PrePhysics));
    assert_eq!(what, "early");
    t.rt.run_through(&mut t.host, Stage::Console).unwrap();
    let report = t.rt.end_frame(&mut t.host).unwrap();
    assert_eq!(report.frame, 1);
    assert_eq!(log(&t), ["tick a", "tick b"]);
}

struct Bomb(Log);

impl sc_core::Tickable<Game> for Bomb {}

impl Drop for Bomb {
    fn drop(&mut self) {
        self.0.add("boom");
        panic!("in the destructor");
    }
}

#[test]
fn a_destructor_under_propagate_is_raised_when_the_frame_was_ended() {
    let mut t = start();
    let lines = t.host.log.clone();
    let bomb = t.cx().spawn(Bomb(lines.clone()));
    let b = spawn(&mut t, Probe::new("b").logs_drop(&lines));
    let _a = spawn(&mut t, Probe::new("a"));
    b.shutdown(&mut t.cx()).unwrap();
    log(&t);
    drop((bomb, b));
    assert_eq!(tick_panics(&mut t, 0.1), "in the destructor");
    assert_eq!(
        log(&t),
        ["tick a", "boom", "drop b"],
        "all others were dropped"
    );
    assert_eq!(t.tick(0.1).frame, 2);
    assert_eq!(log(&t), ["tick a"]);
}

#[test]
fn a_destructor_under_isolate_is_reported_with_the_name() {
    let mut t = isolated();
    let lines = t.host.log.clone();
    let bomb = t.cx().spawn(Bomb(lines.clone()));
    let b = t.cx().spawn(Probe::new("b").logs_drop(&lines));
    drop((bomb, b));
    t.tick(0.1);
    assert_eq!(log(&t), ["boom", "drop b"]);
    one_report(&t, "Bomb", "in the destructor");
}

#[test]
fn a_callback_that_catches_a_panic_goes_on_and_stays_initialized() {
    let mut t = start();
    let a = spawn(
        &mut t,
        Probe::new("a").on_tick(|cx| {
            let bad = cx.host().id("bad");
            assert_eq!(panic_of(|| cx.shutdown(bad)), "in stop");
            assert_eq!(cx.current_object(), Some(cx.host().id("a")));
            assert_eq!(cx.delta_secs(), 0.5);
            cx.host().log.add("caught");
        }),
    );
    let bad = spawn(&mut t, Probe::new("bad").on_stop(|_| panic!("in stop")));
    let _c = spawn(&mut t, Probe::new("c"));
    t.tick(0.5);
    assert_eq!(log(&t), ["tick a", "stop bad", "caught", "tick c"]);
    assert!(t.cx().is_initialized(&a));
    assert!(!t.cx().is_initialized(&bad));
}

/// Panics at a reading.
struct Broken(Rc<Cell<u32>>, u32);

impl Stopwatch for Broken {
    fn now(&self) -> Duration {
        self.0.set(self.0.get() + 1);
        assert!(self.0.get() != self.1, "no clock");
        Duration::ZERO
    }
}

#[test]
fn a_stopwatch_that_panics_costs_no_object() {
    for (policy, interval) in [
        (PanicPolicy::Isolate, 0.0),
        (PanicPolicy::Isolate, 0.1),
        (PanicPolicy::Propagate, 0.0),
    ] {
        // Before a tick, and after one.
        for reading in [1, 2] {
            let mut t = start();
            t.rt.set_panic_policy(policy);
            let readings = Rc::new(Cell::new(0));
            t.rt.set_stopwatch(Broken(Rc::clone(&readings), reading));
            t.rt.set_profiling(true);
            let a = Probe::new("a").interval(interval).logs_drop(&t.host.log);
            let a = spawn(&mut t, a);
            let _b = spawn(&mut t, Probe::new("b"));
            // Whatever the runtime itself has read.
            readings.set(0);
            if policy == PanicPolicy::Propagate {
                assert_eq!(tick_panics(&mut t, 0.1), "no clock");
            } else {
                t.tick(0.1);
                one_report(&t, "a", "no clock");
            }
            let lines = log(&t);
            assert!(
                !lines.iter().any(|line| line.starts_with("drop")),
                "{lines:?}"
            );
            assert!(t.cx().get(&a).is_ok(), "reading {reading}");
            let w = t.world;
            t.cx().initialize(&a, w).unwrap();
            t.tick(0.1);
            assert!(log(&t).contains(&"tick a".to_owned()));
        }
    }
}
