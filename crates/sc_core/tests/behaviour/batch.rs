//! Typed batches: the same life as any object's, and the rules among siblings.

use crate::probe::{
    Game, Probe, Test, deltas, log, ms, spawn, spawn_batched, start, tick_panics, world,
};
use sc_core::{Cx, ManualClock, Owner, PanicPolicy, ReportKind, TickError, TickGroup, Tickable};

fn batch<const N: usize>(t: &mut Test, names: [&'static str; N]) -> [Owner<Probe>; N] {
    names.map(|name| spawn_batched(t, Probe::new(name)))
}

fn running(name: &str) -> TickError {
    TickError::Running {
        object: name.to_owned(),
    }
}

#[test]
fn a_batch_ticks_in_order_of_initialization() {
    let mut t = start();
    let _owners = batch(&mut t, ["a", "b", "c"]);
    let report = t.tick(0.1);
    assert_eq!(log(&t), ["tick a", "tick b", "tick c"]);
    assert_eq!(report.ticks, 3, "each row is a tick, the batch itself none");
}

#[test]
fn a_batch_ticks_at_the_place_of_its_first_member() {
    let mut t = start();
    let _before = spawn(&mut t, Probe::new("before"));
    let _a = batch(&mut t, ["a"]);
    let _between = spawn(&mut t, Probe::new("between"));
    let _b = batch(&mut t, ["b"]);
    t.tick(0.1);
    assert_eq!(log(&t), ["tick before", "tick a", "tick b", "tick between"]);
}

#[test]
fn each_type_has_a_batch_of_its_own() {
    struct Other(&'static str);
    impl Tickable<Game> for Other {
        fn tick(&mut self, cx: &mut Cx<'_, Game>) {
            cx.host().log.add(format!("other {}", self.0));
        }
    }
    let mut t = start();
    let w = t.world;
    let _a = batch(&mut t, ["a"]);
    let _x = t.cx().spawn_batched(w, Other("x")).unwrap();
    let _b = batch(&mut t, ["b"]);
    let _y = t.cx().spawn_batched(w, Other("y")).unwrap();
    t.tick(0.1);
    assert_eq!(log(&t), ["tick a", "tick b", "other x", "other y"]);
}

#[test]
fn its_life_is_that_of_any_object() {
    let mut t = start();
    let w = t.world;
    let a = t.cx().spawn_batched(w, Probe::new("a")).unwrap();
    assert_eq!(log(&t), ["init a"]);
    assert!(matches!(
        t.cx().initialize(&a, w),
        Err(TickError::AlreadyInitialized { .. })
    ));
    t.tick(0.25);
    assert_eq!(deltas(&mut t, &a), [250]);
    t.cx().get_mut(&a).unwrap().deltas.clear();
    let name = t.cx().with(&a, |a, cx| {
        cx.host().log.add("with");
        a.name
    });
    assert_eq!(name, Ok("a"));
    t.cx().set_tick_enabled(&a, false).unwrap();
    t.tick(0.1);
    t.cx().set_tick_enabled(&a, true).unwrap();
    t.tick(0.1);
    assert_eq!(log(&t), ["tick a", "with", "tick a"]);
    assert_eq!(a.shutdown(&mut t.cx()), Ok(true));
    assert_eq!(a.shutdown(&mut t.cx()), Ok(false));
    t.cx().initialize(&a, w).unwrap();
    t.tick(0.1);
    assert_eq!(log(&t), ["stop a", "init a", "tick a"]);
    let key = a.key();
    drop(a);
    assert_eq!(t.cx().get(key).err(), Some(TickError::Gone));
    t.tick(0.1);
    assert!(log(&t).is_empty());
    assert_eq!(
        t.reports.kinds(),
        [ReportKind::AlreadyInitialized, ReportKind::OwnerDropped]
    );
}

#[test]
fn removal_never_reorders_the_rest_and_enabled_again_one_keeps_its_place() {
    let mut t = start();
    let [a, b, c, d] = batch(&mut t, ["a", "b", "c", "d"]);
    t.tick(0.1);
    log(&t);
    a.shutdown(&mut t.cx()).unwrap();
    drop(c);
    t.cx().set_tick_enabled(&b, false).unwrap();
    log(&t);
    t.tick(0.1);
    assert_eq!(log(&t), ["tick d"]);
    t.cx().set_tick_enabled(&b, true).unwrap();
    let [_e] = batch(&mut t, ["e"]);
    t.tick(0.1);
    assert_eq!(log(&t), ["tick b", "tick d", "tick e"]);
    d.shutdown(&mut t.cx()).unwrap();
    let w = t.world;
    t.cx().initialize(&d, w).unwrap();
    log(&t);
    t.tick(0.1);
    assert_eq!(log(&t), ["tick b", "tick e", "tick d"], "to the end");
}

#[test]
fn while_one_ticks_its_siblings_are_running_and_all_others_reachable() {
    let mut t = start();
    let a = spawn_batched(
        &mut t,
        Probe::new("a").on_tick(|cx| {
            for name in ["a", "b"] {
                let key = cx.host().owners[name].key();
                assert_eq!(cx.get(key).err(), Some(running(name)));
                assert_eq!(cx.get_mut(key).err(), Some(running(name)));
                assert_eq!(cx.with(key, |_, _| ()), Err(running(name)));
                assert!(cx.tick_info(key).is_ok(), "its state can be read");
            }
            for name in ["single", "throttled"] {
                let key = cx.host().owners[name].key();
                assert!(cx.get(key).is_ok(), "{name}");
            }
            cx.host().log.add("checked");
        }),
    );
    let b = spawn_batched(&mut t, Probe::new("b"));
    let single = spawn(&mut t, Probe::new("single"));
    let throttled = spawn_batched(&mut t, Probe::new("throttled").interval(5));
    t.host.owners.extend([
        ("a", a),
        ("b", b),
        ("single", single),
        ("throttled", throttled),
    ]);
    t.tick(0.1);
    assert_eq!(log(&t), ["tick a", "checked", "tick b", "tick single"]);
    let key = t.host.owners["b"].key();
    assert!(t.cx().get(key).is_ok(), "and back after the tick");
}

#[test]
fn shutting_a_sibling_down_takes_effect_at_once_and_its_event_runs_after_the_running_tick() {
    let mut t = start();
    let _a = batch(&mut t, ["a"]);
    let _b = spawn_batched(
        &mut t,
        Probe::new("b").on_tick(|cx| {
            if cx.frame() > 1 {
                return;
            }
            for name in ["a", "c", "b"] {
                let id = cx.host().id(name);
                assert_eq!(cx.shutdown(id), Ok(true));
                assert_eq!(cx.shutdown(id), Ok(false), "about to be");
            }
            cx.host().log.add("b goes on");
        }),
    );
    let _rest = batch(&mut t, ["c", "d"]);
    let _next = spawn(&mut t, Probe::new("next"));
    t.tick(0.1);
    assert_eq!(
        log(&t),
        [
            "tick a",
            "tick b",
            "b goes on",
            "stop a",
            "stop c",
            "stop b",
            "tick d",
            "tick next"
        ],
        "before the next object ticks"
    );
    t.tick(0.1);
    assert_eq!(log(&t), ["tick d", "tick next"]);
}

#[test]
fn a_sibling_about_to_be_shut_down_cannot_be_initialized_yet() {
    let mut t = start();
    let w = t.world;
    let _a = spawn_batched(
        &mut t,
        Probe::new("a").on_tick(move |cx| {
            let b = cx.host().id("b");
            cx.shutdown(b).unwrap();
            assert_eq!(cx.initialize(b, w), Err(running("b")));
        }),
    );
    let _b = batch(&mut t, ["b"]);
    t.tick(0.1);
    assert_eq!(log(&t), ["tick a", "stop b"]);
}

#[test]
fn disabling_or_dropping_a_sibling_that_was_next_skips_it() {
    let mut t = start();
    let _a = spawn_batched(
        &mut t,
        Probe::new("a").on_tick(|cx| {
            let b = cx.host().id("b");
            cx.set_tick_enabled(b, false).unwrap();
            drop(cx.host_mut().owners.remove("c"));
        }),
    );
    let [_b, c, _d] = batch(&mut t, ["b", "c", "d"]);
    t.host.owners.insert("c", c);
    t.ticks(0.1, 2);
    assert_eq!(log(&t), ["tick a", "tick d", "tick a", "tick d"]);
    assert_eq!(t.reports.kinds(), [ReportKind::OwnerDropped]);
}

#[test]
fn a_sibling_spawned_in_a_tick_joins_the_next_pass() {
    let mut t = start();
    let w = t.world;
    let _a = spawn_batched(
        &mut t,
        Probe::new("a").on_tick(move |cx| {
            if cx.frame() == 1 {
                let new = cx.spawn_batched(w, Probe::new("new")).unwrap();
                cx.host_mut().owners.insert("new", new);
            }
        }),
    );
    let _b = batch(&mut t, ["b"]);
    t.tick(0.1);
    assert_eq!(log(&t), ["tick a", "init new", "tick b"]);
    t.tick(0.1);
    assert_eq!(log(&t), ["tick a", "tick b", "tick new"]);
}

#[test]
fn a_member_with_an_interval_a_prerequisite_or_another_group_keeps_the_rules_of_those() {
    let mut t = start();
    let [a, b, c, d] = batch(&mut t, ["a", "b", "c", "d"]);
    let mut cx = t.rt.cx(&mut t.host);
    let change = cx.configure(&a).unwrap();
    change.after(&d).apply().unwrap();
    let change = cx.configure(&b).unwrap();
    change.interval(0.5).apply().unwrap();
    let change = cx.configure(&c).unwrap();
    change.group(TickGroup::PrePhysics).apply().unwrap();
    t.tick(0.25);
    let lines = log(&t);
    assert_eq!(lines[0], "tick c");
    assert_eq!(lines[1..], ["tick d", "tick a"]);
    t.tick(0.25);
    assert!(log(&t).contains(&"tick b".to_owned()));
    assert_eq!(deltas(&mut t, &b), [500]);
    let mut cx = t.rt.cx(&mut t.host);
    let change = cx.configure(&b).unwrap();
    change.interval(0).apply().unwrap();
    t.tick(0.25);
    assert_eq!(deltas(&mut t, &b), [500, 250]);
}

#[test]
fn a_paused_batch_stands_still_but_for_members_that_tick_when_paused() {
    let mut t = start();
    let w = t.world;
    let _a = batch(&mut t, ["a"]);
    let through = Probe::new("b").settings(|s| s.tick_when_paused(true));
    let b = spawn_batched(&mut t, through);
    t.cx().set_paused(w, true).unwrap();
    t.tick(0.25);
    assert_eq!(log(&t), ["tick b"]);
    t.cx().set_paused(w, false).unwrap();
    t.tick(0.25);
    let mut both = log(&t);
    both.sort();
    assert_eq!(both, ["tick a", "tick b"]);
    assert_eq!(deltas(&mut t, &b), [250, 250]);
}

#[test]
fn under_propagate_a_panic_in_a_row_leaves_its_siblings_intact() {
    let mut t = start();
    let lines = t.host.log.clone();
    let _a = batch(&mut t, ["a"]);
    let bad = Probe::new("b").on_tick(|_| panic!("in row b"));
    let b = spawn_batched(&mut t, bad.logs_drop(&lines));
    let _rest = batch(&mut t, ["c", "d"]);
    assert_eq!(tick_panics(&mut t, 0.1), "in row b");
    assert_eq!(log(&t), ["tick a", "tick b"], "no shutdown event");
    assert!(!t.cx().is_initialized(&b));
    t.tick(0.1);
    assert_eq!(log(&t), ["tick a", "tick c", "tick d"]);
    assert!(t.cx().get(&b).is_ok(), "the object is still its owner's");
    drop(b);
    t.tick(0.1);
    assert_eq!(log(&t), ["tick a", "tick c", "tick d", "drop b"]);
    assert!(t.reports.take().is_empty(), "its owner's drop is silent");
}

#[test]
fn under_isolate_a_panic_in_a_row_is_one_report_and_the_rows_behind_it_tick_in_this_frame() {
    let mut t = start();
    t.rt.set_panic_policy(PanicPolicy::Isolate);
    let _a = batch(&mut t, ["a"]);
    let _b = spawn_batched(&mut t, Probe::new("b").on_tick(|_| panic!("one")));
    let _c = spawn_batched(&mut t, Probe::new("c").on_tick(|_| panic!("two")));
    let _d = batch(&mut t, ["d"]);
    let _e = spawn_batched(&mut t, Probe::new("e").on_tick(|_| panic!("three")));
    let _next = spawn(&mut t, Probe::new("next"));
    t.tick(0.1);
    assert_eq!(
        log(&t),
        [
            "tick a",
            "tick b",
            "tick c",
            "tick d",
            "tick e",
            "tick next"
        ]
    );
    let names: Vec<_> = t.reports.take().into_iter().map(|r| r.object).collect();
    assert_eq!(names, ["b", "c", "e"].map(|n| Some(n.to_owned())));
    t.tick(0.1);
    assert_eq!(log(&t), ["tick a", "tick d", "tick next"]);
}

#[test]
fn a_panic_after_shutting_a_sibling_down_loses_no_shutdown_event() {
    for policy in [PanicPolicy::Isolate, PanicPolicy::Propagate] {
        let mut t = start();
        t.rt.set_panic_policy(policy);
        let _a = spawn_batched(
            &mut t,
            Probe::new("a").on_tick(|cx| {
                let b = cx.host().id("b");
                cx.shutdown(b).unwrap();
                panic!("after that")
            }),
        );
        let b = batch(&mut t, ["b"]);
        match policy {
            PanicPolicy::Isolate => drop(t.tick(0.1)),
            PanicPolicy::Propagate => drop(tick_panics(&mut t, 0.1)),
        }
        assert_eq!(log(&t), ["tick a", "stop b"], "{policy:?}");
        assert!(!t.cx().is_initialized(&b[0]));
    }
}

#[test]
fn a_member_may_move_to_another_world() {
    let mut t = start();
    let next = world(&mut t, "next");
    let [a, _b] = batch(&mut t, ["a", "b"]);
    t.tick(0.1);
    a.shutdown(&mut t.cx()).unwrap();
    t.cx().initialize(&a, next).unwrap();
    log(&t);
    t.tick(0.1);
    assert_eq!(log(&t), ["tick b", "tick a"]);
    let w = t.world;
    t.cx().destroy_world(w);
    assert_eq!(log(&t), ["stop b"]);
    t.tick(0.1);
    assert_eq!(log(&t), ["tick a"]);
}

#[test]
fn the_list_shows_members_singly_with_their_own_ticks_and_times() {
    let mut t = start();
    let clock = ManualClock::default();
    t.rt.set_stopwatch(clock.clone());
    t.rt.set_profiling(true);
    let _a = batch(&mut t, ["a"]);
    let slow = Probe::new("b").on_tick(move |_| clock.advance(ms(3)));
    let _b = spawn_batched(&mut t, slow);
    t.ticks(0.1, 2);
    let list = t.rt.tick_list();
    let shown: Vec<_> = list
        .iter()
        .map(|i| (i.name.as_str(), i.ticks, i.last_time, i.total_time))
        .collect();
    assert_eq!(
        shown,
        [
            ("a", 2, Some(ms(0)), Some(ms(0))),
            ("b", 2, Some(ms(3)), Some(ms(6))),
        ]
    );
}

#[test]
fn batched_objects_end_with_their_world_newest_first() {
    let mut t = start();
    let w = t.world;
    let [a, _b] = batch(&mut t, ["a", "b"]);
    let _single = spawn(&mut t, Probe::new("single"));
    let _c = batch(&mut t, ["c"]);
    t.tick(0.1);
    log(&t);
    t.cx().destroy_world(w);
    assert_eq!(log(&t), ["stop c", "stop single", "stop b", "stop a"]);
    assert!(t.cx().get(&a).is_ok(), "its owner still has it");
    let next = world(&mut t, "next");
    t.cx().initialize(&a, next).unwrap();
    t.tick(0.1);
    assert_eq!(log(&t), ["init a", "tick a"]);
}
