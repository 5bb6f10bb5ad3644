//! The life of an object: every row of the table of operations, and the settings.

use crate::probe::{
    Game, Probe, Test, log, spawn, spawn_all, spawn_in, spawn_worldless, start, world,
};
use sc_core::{
    Cx, ReportKind, Severity, TickError, TickGroup, TickSettings, Tickable, TimeError, secs,
};

fn enable(t: &mut Test, object: &sc_core::Owner<Probe>, on: bool) {
    t.cx().set_tick_enabled(object, on).unwrap();
}

#[test]
fn constructing_registers_nothing() {
    let mut t = start();
    let prototype = Probe::new("prototype");
    let _spawned = t.cx().spawn(Probe::new("spawned"));
    t.ticks(0.1, 2);
    assert!(log(&t).is_empty());
    assert!(t.rt.tick_list().is_empty());
    assert!(prototype.deltas.is_empty());
    assert!(t.reports.take().is_empty());
}

#[test]
fn a_trait_with_default_methods() {
    struct Lamp;
    impl Tickable<Game> for Lamp {}
    let mut t = start();
    let w = t.world;
    let lamp = t.cx().spawn_in(w, Lamp).unwrap();
    assert_eq!(t.tick(0.1).ticks, 1);
    let info = t.cx().tick_info(&lamp).unwrap();
    assert_eq!(info.name, "Lamp");
    assert_eq!(Lamp.settings(), TickSettings::default());
    assert_eq!(lamp.shutdown(&mut t.cx()), Ok(true));
}

#[test]
fn the_settings_have_the_defaults_of_the_spec() {
    let s = TickSettings::default();
    assert!(s.start_ticking);
    assert!(!s.tick_when_paused && !s.tick_in_editor && !s.tick_at_start);
    assert_eq!(s.interval, secs(0));
    assert_eq!(s.group, TickGroup::PostPhysics);
}

#[test]
fn initialize_runs_the_event_in_the_call_and_the_first_tick_comes_in_the_next_pass() {
    let mut t = start();
    let w = t.world;
    let a = t.cx().spawn(Probe::new("a").on_init(|cx| {
        let me = cx.current_object().unwrap();
        assert!(cx.is_initialized(me), "marked before the event");
    }));
    assert!(!t.cx().is_initialized(&a));
    assert_eq!(t.cx().initialize(&a, w), Ok(()));
    assert_eq!(log(&t), ["init a"]);
    assert!(t.cx().is_initialized(&a));
    assert_eq!(t.cx().tick_info(&a).unwrap().world, Some(w));
    t.tick(0.1);
    assert_eq!(log(&t), ["tick a"]);
}

/// Initializes an object of each group from a tick in `group`, and gives back what ran then.
fn initialized_from(group: TickGroup) -> Vec<String> {
    let mut t = start();
    let w = t.world;
    let _starter = spawn(
        &mut t,
        Probe::new("starter").group(group).on_tick(move |cx| {
            if cx.frame() == 1 {
                for (name, group) in [
                    ("pre", TickGroup::PrePhysics),
                    ("during", TickGroup::DuringPhysics),
                    ("post", TickGroup::PostPhysics),
                    ("update", TickGroup::PostUpdate),
                ] {
                    let owner = cx.spawn_in(w, Probe::new(name).group(group)).unwrap();
                    cx.host_mut().owners.insert(name, owner);
                }
            }
        }),
    );
    t.tick(0.1);
    let mut first = log(&t);
    first.retain(|line| !line.starts_with("init"));
    assert_eq!(first, ["tick starter"], "{group:?}");
    t.tick(0.1);
    let mut second = log(&t);
    second.retain(|line| line != "tick starter");
    second
}

#[test]
fn the_first_tick_is_never_in_the_running_pass_whatever_the_group() {
    for group in TickGroup::ALL {
        assert_eq!(
            initialized_from(group),
            ["tick pre", "tick during", "tick post", "tick update"]
        );
    }
}

#[test]
fn an_object_initialized_in_another_worlds_turn_of_the_frame_waits_as_well() {
    let mut t = start();
    let later = world(&mut t, "later");
    let _starter = spawn(
        &mut t,
        Probe::new("starter")
            .group(TickGroup::PrePhysics)
            .on_tick(move |cx| {
                if cx.frame() == 1 {
                    let owner = cx.spawn_in(later, Probe::new("new")).unwrap();
                    cx.host_mut().owners.insert("new", owner);
                }
            }),
    );
    t.tick(0.1);
    assert_eq!(log(&t), ["tick starter", "init new"]);
    t.tick(0.1);
    assert_eq!(log(&t), ["tick starter", "tick new"]);
}

#[test]
fn initialize_between_the_pieces_of_a_frame_waits_for_the_next_pass() {
    let mut t = start();
    t.rt.begin_frame(&mut t.host, 0.1).unwrap();
    let _a = spawn(&mut t, Probe::new("a"));
    t.rt.run_through(&mut t.host, sc_core::Stage::Console)
        .unwrap();
    t.rt.end_frame(&mut t.host).unwrap();
    assert!(log(&t).is_empty());
    t.tick(0.1);
    assert_eq!(log(&t), ["tick a"]);
}

#[test]
fn initializing_twice_is_an_error_and_a_report_that_names_the_object_and_nothing_else() {
    let mut t = start();
    let (w, other) = (t.world, world(&mut t, "other"));
    let [a, _b] = spawn_all(&mut t, ["a", "b"]);
    for again in [w, other] {
        assert_eq!(
            t.cx().initialize(&a, again),
            Err(TickError::AlreadyInitialized {
                object: "a".to_owned()
            })
        );
        let reports = t.reports.take();
        assert_eq!(reports.len(), 1);
        assert_eq!(reports[0].kind, ReportKind::AlreadyInitialized);
        assert_eq!(reports[0].object.as_deref(), Some("a"));
        assert_eq!(reports[0].world.as_deref(), Some("game 1"));
    }
    assert!(log(&t).is_empty(), "no event");
    t.tick(0.1);
    assert_eq!(log(&t), ["tick a", "tick b"], "it kept world and place");
}

#[test]
fn initializing_twice_from_its_own_events_is_the_same_error() {
    let mut t = start();
    let w = t.world;
    let again = move |cx: &mut Cx<'_, Game>| {
        let me = cx.current_object().unwrap();
        assert!(matches!(
            cx.initialize(me, w),
            Err(TickError::AlreadyInitialized { .. })
        ));
    };
    let _a = spawn(&mut t, Probe::new("a").on_init(again).on_tick(again));
    t.tick(0.1);
    assert_eq!(t.reports.kinds(), [ReportKind::AlreadyInitialized; 2]);
}

#[test]
fn initializing_without_a_live_world_is_an_error_report_and_it_stays_uninitialized() {
    let mut t = start();
    let (w, dead) = (t.world, world(&mut t, "dead"));
    t.cx().destroy_world(dead);
    let a = t.cx().spawn(Probe::new("a"));
    for none in [None, Some(dead), Some(sc_core::WorldId::default())] {
        assert_eq!(
            t.cx().initialize(&a, none),
            Err(TickError::NoLiveWorld {
                object: "a".to_owned()
            })
        );
        let reports = t.reports.take();
        assert_eq!(reports.len(), 1);
        assert_eq!(reports[0].kind, ReportKind::NoLiveWorld);
        assert_eq!(reports[0].severity, Severity::Error);
        assert_eq!(reports[0].object.as_deref(), Some("a"));
        assert!(!t.cx().is_initialized(&a));
    }
    t.tick(0.1);
    assert!(log(&t).is_empty());
    t.cx().initialize(&a, w).unwrap();
    t.tick(0.1);
    assert_eq!(log(&t), ["init a", "tick a"], "it can still be");
}

#[test]
fn spawn_in_a_dead_world_drops_the_object_without_a_word_more() {
    let mut t = start();
    let w = t.world;
    t.cx().destroy_world(w);
    let lines = t.host.log.clone();
    let a = t.cx().spawn_in(w, Probe::new("a").logs_drop(&lines));
    assert!(matches!(a, Err(TickError::NoLiveWorld { .. })));
    t.tick(0.1);
    assert_eq!(lines.take(), ["drop a"]);
    assert_eq!(t.reports.kinds(), [ReportKind::NoLiveWorld]);
}

#[test]
fn a_worldless_object_is_initialized_without_a_world_and_naming_one_is_an_error() {
    let mut t = start();
    let w = t.world;
    let a = t.cx().spawn_worldless(Probe::new("a"));
    assert_eq!(
        t.cx().initialize(&a, w),
        Err(TickError::Worldless {
            object: "a".to_owned()
        })
    );
    assert!(!t.cx().is_initialized(&a));
    assert!(log(&t).is_empty());
    assert_eq!(t.cx().initialize(&a, None), Ok(()));
    t.tick(0.1);
    assert_eq!(log(&t), ["init a", "tick a"]);
}

#[test]
fn an_intent_before_initialize_is_recorded_only_and_outranks_the_default() {
    let mut t = start();
    let w = t.world;
    let off = t.cx().spawn(Probe::new("off"));
    enable(&mut t, &off, false);
    let on = Probe::new("on").settings(|s| s.start_ticking(false));
    let on = t.cx().spawn(on);
    enable(&mut t, &on, true);
    t.tick(0.1);
    assert!(log(&t).is_empty(), "recorded only");
    t.cx().initialize(&off, w).unwrap();
    t.cx().initialize(&on, w).unwrap();
    log(&t);
    t.tick(0.1);
    assert_eq!(log(&t), ["tick on"]);
    assert!(!t.cx().tick_info(&off).unwrap().enabled);
    assert!(t.cx().tick_info(&on).unwrap().enabled);
}

#[test]
fn start_ticking_off_means_no_tick_until_enabled() {
    let mut t = start();
    let off = Probe::new("a").settings(|s| s.start_ticking(false));
    let a = spawn(&mut t, off);
    assert_eq!(t.tick(0.1).ticks, 0);
    enable(&mut t, &a, true);
    assert_eq!(t.tick(0.1).ticks, 1);
}

#[test]
fn start_ticking_is_the_default_for_initialize_and_leaves_an_initialized_object_alone() {
    let mut t = start();
    let w = t.world;
    let [a] = spawn_all(&mut t, ["a"]);
    let off = Probe::new("b").settings(|s| s.start_ticking(false));
    let b = spawn(&mut t, off);
    for (object, on) in [(&a, false), (&b, true)] {
        let mut cx = t.rt.cx(&mut t.host);
        cx.configure(object)
            .unwrap()
            .start_ticking(on)
            .apply()
            .unwrap();
    }
    t.tick(0.1);
    assert_eq!(log(&t), ["tick a"], "it is applied on initialize");
    for object in [&a, &b] {
        object.shutdown(&mut t.cx()).unwrap();
        t.cx().initialize(object, w).unwrap();
    }
    log(&t);
    t.tick(0.1);
    assert_eq!(log(&t), ["tick b"]);
}

#[test]
fn disable_holds_at_once_and_enable_from_the_next_pass() {
    let mut t = start();
    let _a = spawn(
        &mut t,
        Probe::new("a").on_tick(|cx| {
            let (b, c) = (cx.host().id("b"), cx.host().id("c"));
            cx.set_tick_enabled(b, cx.frame() != 1).unwrap();
            cx.set_tick_enabled(c, cx.frame() == 1).unwrap();
        }),
    );
    let _b = spawn(&mut t, Probe::new("b"));
    let off = Probe::new("c").settings(|s| s.start_ticking(false));
    let _c = spawn(&mut t, off);
    t.tick(0.1);
    assert_eq!(log(&t), ["tick a"]);
    t.tick(0.1);
    assert_eq!(log(&t), ["tick a"], "c is off again at once, b not yet on");
    t.tick(0.1);
    assert_eq!(log(&t), ["tick a", "tick b"]);
}

#[test]
fn disabled_and_enabled_again_in_one_pass_means_the_next_pass() {
    let mut t = start();
    let _a = spawn(
        &mut t,
        Probe::new("a").on_tick(|cx| {
            let b = cx.host().id("b");
            cx.set_tick_enabled(b, false).unwrap();
            cx.set_tick_enabled(b, true).unwrap();
        }),
    );
    let b = spawn(&mut t, Probe::new("b"));
    t.tick(0.1);
    assert_eq!(log(&t), ["tick a"]);
    assert!(t.cx().tick_info(&b).unwrap().enabled);
}

#[test]
fn an_object_that_disables_itself_finishes_its_tick_and_stays_initialized() {
    let mut t = start();
    let a = spawn(
        &mut t,
        Probe::new("a").on_tick(|cx| {
            let me = cx.current_object().unwrap();
            cx.set_tick_enabled(me, false).unwrap();
            cx.host().log.add("goes on");
        }),
    );
    t.ticks(0.1, 2);
    assert_eq!(log(&t), ["tick a", "goes on"]);
    assert!(t.cx().is_initialized(&a));
}

#[test]
fn enabled_again_it_keeps_its_place() {
    let mut t = start();
    let [a, _b] = spawn_all(&mut t, ["a", "b"]);
    enable(&mut t, &a, false);
    t.tick(0.1);
    assert_eq!(log(&t), ["tick b"]);
    let [_c] = spawn_all(&mut t, ["c"]);
    enable(&mut t, &a, true);
    t.tick(0.1);
    assert_eq!(log(&t), ["tick a", "tick b", "tick c"]);
}

#[test]
fn enabling_what_is_enabled_changes_nothing() {
    let mut t = start();
    let a = spawn(&mut t, Probe::new("a").interval(secs(1)));
    t.tick(0.75);
    enable(&mut t, &a, true);
    t.tick(0.25);
    assert_eq!(log(&t), ["tick a"], "the accumulated time is still there");
}

#[test]
fn shutdown_stops_ticking_runs_the_event_clears_initialized() {
    let mut t = start();
    let a = spawn(&mut t, Probe::new("a"));
    t.tick(0.1);
    log(&t);
    assert_eq!(a.shutdown(&mut t.cx()), Ok(true));
    assert_eq!(log(&t), ["stop a"]);
    assert!(!t.cx().is_initialized(&a));
    assert_eq!(t.cx().tick_info(&a).unwrap().world, None);
    t.tick(0.1);
    assert!(log(&t).is_empty());
    assert!(t.cx().get(&a).is_ok(), "the object itself lives on");
}

#[test]
fn shutdown_is_idempotent_and_nothing_happens_to_an_uninitialized_object() {
    let mut t = start();
    let [a] = spawn_all(&mut t, ["a"]);
    assert_eq!(a.shutdown(&mut t.cx()), Ok(true));
    assert_eq!(a.shutdown(&mut t.cx()), Ok(false));
    let b = t.cx().spawn(Probe::new("b"));
    enable(&mut t, &b, false);
    assert_eq!(b.shutdown(&mut t.cx()), Ok(false));
    assert!(!t.cx().tick_info(&b).unwrap().enabled, "the intent stays");
    assert_eq!(log(&t), ["stop a"]);
    assert!(t.reports.take().is_empty());
}

#[test]
fn shutdown_restores_the_intent_to_its_default() {
    let mut t = start();
    let w = t.world;
    let [a] = spawn_all(&mut t, ["a"]);
    enable(&mut t, &a, false);
    a.shutdown(&mut t.cx()).unwrap();
    assert!(t.cx().tick_info(&a).unwrap().enabled);
    t.cx().initialize(&a, w).unwrap();
    log(&t);
    t.tick(0.1);
    assert_eq!(log(&t), ["tick a"]);

    let off = Probe::new("b").settings(|s| s.start_ticking(false));
    let b = spawn(&mut t, off);
    enable(&mut t, &b, true);
    b.shutdown(&mut t.cx()).unwrap();
    t.cx().initialize(&b, w).unwrap();
    log(&t);
    t.tick(0.1);
    assert_eq!(log(&t), ["tick a"]);
}

#[test]
fn shutdown_from_its_own_tick_the_event_runs_before_the_next_object_ticks() {
    let mut t = start();
    let a = spawn(
        &mut t,
        Probe::new("a").on_tick(|cx| {
            let me = cx.current_object().unwrap();
            assert_eq!(cx.shutdown(me), Ok(true));
            assert_eq!(cx.shutdown(me), Ok(false), "it is about to be");
            cx.host().log.add("the tick finishes");
        }),
    );
    let _b = spawn(&mut t, Probe::new("b"));
    t.tick(0.1);
    assert_eq!(log(&t), ["tick a", "the tick finishes", "stop a", "tick b"]);
    assert!(!t.cx().is_initialized(&a));
    t.tick(0.1);
    assert_eq!(log(&t), ["tick b"]);
}

#[test]
fn a_worldless_object_shuts_itself_down_in_the_same_way() {
    let mut t = start();
    let _a = spawn_worldless(
        &mut t,
        Probe::new("a").on_tick(|cx| {
            let me = cx.current_object().unwrap();
            cx.shutdown(me).unwrap();
        }),
    );
    let _b = spawn_worldless(&mut t, Probe::new("b"));
    t.tick(0.1);
    assert_eq!(log(&t), ["tick a", "stop a", "tick b"]);
}

#[test]
fn shutdown_from_its_own_initialize_event_runs_after_it_within_the_call() {
    let mut t = start();
    let w = t.world;
    let a = t.cx().spawn(Probe::new("a").on_init(|cx| {
        let me = cx.current_object().unwrap();
        cx.shutdown(me).unwrap();
        cx.host().log.add("init goes on");
    }));
    assert_eq!(t.cx().initialize(&a, w), Ok(()));
    assert_eq!(log(&t), ["init a", "init goes on", "stop a"]);
    assert!(!t.cx().is_initialized(&a));
    t.tick(0.1);
    assert!(log(&t).is_empty());
}

#[test]
fn shutdown_from_its_own_shutdown_event_does_nothing() {
    let mut t = start();
    let w = t.world;
    let a = spawn(
        &mut t,
        Probe::new("a").on_stop(move |cx| {
            let me = cx.current_object().unwrap();
            assert_eq!(cx.shutdown(me), Ok(false));
            assert!(matches!(
                cx.initialize(me, w),
                Err(TickError::Running { .. })
            ));
        }),
    );
    assert_eq!(a.shutdown(&mut t.cx()), Ok(true));
    assert_eq!(log(&t), ["stop a"]);
}

#[test]
fn initialize_shutdown_initialize_is_the_same_every_time_and_goes_to_the_end_of_the_order() {
    let mut t = start();
    let w = t.world;
    let [a, _b] = spawn_all(&mut t, ["a", "b"]);
    for _ in 0..3 {
        assert_eq!(a.shutdown(&mut t.cx()), Ok(true));
        assert_eq!(t.cx().initialize(&a, w), Ok(()));
        assert_eq!(log(&t), ["stop a", "init a"]);
        t.tick(0.1);
        assert_eq!(log(&t), ["tick b", "tick a"]);
    }
}

#[test]
fn shut_down_and_initialized_again_within_a_pass_it_ticks_from_the_next() {
    let mut t = start();
    let w = t.world;
    let _a = spawn(
        &mut t,
        Probe::new("a").on_tick(move |cx| {
            if cx.frame() == 1 {
                let b = cx.host().id("b");
                cx.shutdown(b).unwrap();
                cx.initialize(b, w).unwrap();
            }
        }),
    );
    let _b = spawn(&mut t, Probe::new("b"));
    let _c = spawn(&mut t, Probe::new("c"));
    t.tick(0.1);
    assert_eq!(log(&t), ["tick a", "stop b", "init b", "tick c"]);
    t.tick(0.1);
    assert_eq!(log(&t), ["tick a", "tick c", "tick b"]);
}

#[test]
fn moved_to_another_world_within_a_pass_it_ticks_there_from_the_next() {
    let mut t = start();
    let later = world(&mut t, "later");
    let _a = spawn(
        &mut t,
        Probe::new("a").on_tick(move |cx| {
            if cx.frame() == 1 {
                let b = cx.host().id("b");
                cx.shutdown(b).unwrap();
                cx.initialize(b, later).unwrap();
            }
        }),
    );
    let _b = spawn(&mut t, Probe::new("b"));
    let _o = spawn_in(&mut t, later, Probe::new("o"));
    t.tick(0.1);
    assert_eq!(log(&t), ["tick a", "stop b", "init b", "tick o"]);
    t.tick(0.1);
    assert_eq!(log(&t), ["tick a", "tick o", "tick b"]);
}

#[test]
fn an_object_whose_own_settings_are_bad_is_refused_at_initialize_and_nothing_changed() {
    let mut t = start();
    let w = t.world;
    for (interval, why) in [
        (
            -1.0,
            TickError::BadInterval(TimeError::Negative { seconds: -1.0 }),
        ),
        (f64::NAN, TickError::BadInterval(TimeError::NotANumber)),
        (1e-10, TickError::IntervalTooShort { seconds: 1e-10 }),
    ] {
        let a = t.cx().spawn(Probe::new("a").interval(interval));
        assert_eq!(t.cx().initialize(&a, w), Err(why));
        assert!(!t.cx().is_initialized(&a));
        assert!(log(&t).is_empty());
        t.cx()
            .configure(&a)
            .unwrap()
            .interval(secs(0))
            .apply()
            .unwrap();
        t.cx().initialize(&a, w).unwrap();
        t.tick(0.1);
        assert_eq!(log(&t), ["init a", "tick a"]);
        a.shutdown(&mut t.cx()).unwrap();
        log(&t);
    }
}
