//! Teardown of worlds: from anywhere, in which order, and what still runs afterwards.

use crate::probe::{
    Game, Probe, Test, log, spawn, spawn_all, spawn_batched, spawn_in, spawn_worldless, start,
    world,
};
use sc_core::{
    Cx, Extension, ReportKind, Stage, TeardownPhase, TickError, TickGroup, WorldError, WorldId,
    WorldKind, WorldOptions,
};

fn destroys(world: WorldId) -> impl FnMut(&mut Cx<'_, Game>) {
    move |cx| {
        let marked = cx.destroy_world(world);
        cx.host().log.add(format!("destroyed: {marked}"));
    }
}

#[test]
fn from_an_own_tick_it_begins_when_the_running_callback_has_returned() {
    let mut t = start();
    let here = t.world;
    let other = world(&mut t, "other");
    let _a = spawn(&mut t, Probe::new("a"));
    let _b = spawn(
        &mut t,
        Probe::new("b").on_tick(move |cx| {
            assert!(cx.destroy_world(here));
            assert!(!cx.is_world_alive(here), "from that moment");
            cx.host().log.add("b goes on");
            assert!(!cx.destroy_world(here), "it is dying already");
        }),
    );
    let _c = spawn(&mut t, Probe::new("c"));
    let _late = spawn(&mut t, Probe::new("late").group(TickGroup::PostUpdate));
    let _o = spawn_in(&mut t, other, Probe::new("o"));
    t.tick(0.1);
    assert_eq!(
        log(&t),
        [
            "tick a",
            "tick b",
            "b goes on",
            "stop late",
            "stop c",
            "stop b",
            "stop a",
            "tick o",
        ],
        "nothing else of the world runs; the other world goes on in the same frame"
    );
    t.tick(0.1);
    assert_eq!(log(&t), ["tick o"]);
}

#[test]
fn from_another_worlds_tick_that_comes_earlier_in_the_frame() {
    let mut t = start();
    let other = world(&mut t, "other");
    let _a = spawn(&mut t, Probe::new("a").on_tick(destroys(other)));
    let _b = spawn(&mut t, Probe::new("b"));
    let _o = spawn_in(&mut t, other, Probe::new("o"));
    t.tick(0.1);
    assert_eq!(
        log(&t),
        ["tick a", "destroyed: true", "stop o", "tick b"],
        "ended before the next object ticks"
    );
}

#[test]
fn from_another_worlds_tick_that_comes_later_in_the_frame() {
    let mut t = start();
    let here = t.world;
    let other = world(&mut t, "other");
    let _a = spawn(&mut t, Probe::new("a"));
    let _late = spawn(&mut t, Probe::new("late").group(TickGroup::PostUpdate));
    let _o = spawn_in(&mut t, other, Probe::new("o").on_tick(destroys(here)));
    t.tick(0.1);
    assert_eq!(
        log(&t),
        ["tick a", "tick o", "destroyed: true", "stop late", "stop a"]
    );
    t.tick(0.1);
    assert_eq!(log(&t), ["tick o", "destroyed: false"]);
}

#[test]
fn from_a_worldless_tick() {
    let mut t = start();
    let here = t.world;
    let _a = spawn(&mut t, Probe::new("a"));
    let _m = spawn_worldless(&mut t, Probe::new("m").on_tick(destroys(here)));
    let _n = spawn_worldless(&mut t, Probe::new("n"));
    t.tick(0.1);
    assert_eq!(
        log(&t),
        ["tick a", "tick m", "destroyed: true", "stop a", "tick n"]
    );
}

#[test]
fn from_an_initialize_event_outside_a_frame() {
    let mut t = start();
    let here = t.world;
    let _a = spawn(&mut t, Probe::new("a"));
    let b = t
        .cx()
        .spawn_in(here, Probe::new("b").on_init(destroys(here)))
        .unwrap();
    assert_eq!(
        log(&t),
        ["init b", "destroyed: true", "stop b", "stop a"],
        "the new object was initialized, so it is shut down"
    );
    assert!(!t.cx().is_initialized(&b));
}

#[test]
fn from_an_initialize_event_within_a_tick() {
    let mut t = start();
    let here = t.world;
    let other = world(&mut t, "other");
    let _a = spawn(
        &mut t,
        Probe::new("a").on_tick(move |cx| {
            let new = Probe::new("new").on_init(destroys(here));
            let owner = cx.spawn_in(other, new).unwrap();
            cx.host_mut().owners.insert("new", owner);
            cx.host().log.add("a goes on");
        }),
    );
    t.tick(0.1);
    assert_eq!(
        log(&t),
        [
            "tick a",
            "init new",
            "destroyed: true",
            "a goes on",
            "stop a"
        ]
    );
}

#[test]
fn from_a_shutdown_event() {
    let mut t = start();
    let here = t.world;
    let [_a] = spawn_all(&mut t, ["a"]);
    let b = spawn(&mut t, Probe::new("b").on_stop(destroys(here)));
    let [_c] = spawn_all(&mut t, ["c"]);
    assert_eq!(b.shutdown(&mut t.cx()), Ok(true));
    assert_eq!(
        log(&t),
        ["stop b", "destroyed: true", "stop c", "stop a"],
        "b's own event ran once"
    );
}

#[test]
fn from_a_shutdown_event_of_another_worlds_teardown() {
    let mut t = start();
    let here = t.world;
    let other = world(&mut t, "other");
    let _a = spawn(&mut t, Probe::new("a"));
    let _b = spawn(&mut t, Probe::new("b").on_stop(destroys(other)));
    let _o = spawn_in(&mut t, other, Probe::new("o"));
    t.cx().destroy_world(here);
    assert_eq!(
        log(&t),
        ["stop b", "destroyed: true", "stop a", "stop o"],
        "a teardown that began is finished first"
    );
    assert!(t.rt.world_list().is_empty());
}

#[test]
fn from_a_posted_closure() {
    let mut t = start();
    let here = t.world;
    let other = world(&mut t, "other");
    let _a = spawn(&mut t, Probe::new("a"));
    let _o = spawn_in(&mut t, other, Probe::new("o"));
    let poster = t.rt.poster();
    poster.post(move |cx| destroys(here)(cx)).unwrap();
    poster.post(|cx| cx.host().log.add("next one")).unwrap();
    t.tick(0.1);
    assert_eq!(log(&t), ["destroyed: true", "stop a", "next one", "tick o"]);
}

#[test]
fn from_a_with_closure() {
    let mut t = start();
    let here = t.world;
    let a = spawn(&mut t, Probe::new("a"));
    t.cx()
        .with(&a, |_, cx| {
            destroys(here)(cx);
            cx.host().log.add("still out");
        })
        .unwrap();
    assert_eq!(log(&t), ["destroyed: true", "still out", "stop a"]);
}

#[test]
fn from_a_row_of_a_batch() {
    let mut t = start();
    let here = t.world;
    let _owners = [
        spawn_batched(&mut t, Probe::new("a")),
        spawn_batched(&mut t, Probe::new("b").on_tick(destroys(here))),
        spawn_batched(&mut t, Probe::new("c")),
    ];
    t.tick(0.1);
    assert_eq!(
        log(&t),
        [
            "tick a",
            "tick b",
            "destroyed: true",
            "stop c",
            "stop b",
            "stop a"
        ]
    );
    t.tick(0.1);
    assert!(log(&t).is_empty());
}

/// An extension whose hooks destroy the world they run for.
fn destroys_own(cx: &mut Cx<'_, Game>) {
    let world = cx.world().unwrap();
    destroys(world)(cx);
}

#[test]
fn from_a_world_hook_of_an_extension() {
    for (stage, before) in [
        (Stage::Begin, vec![]),
        (Stage::Timers, vec![]),
        (Stage::PostPhysics, vec!["tick a"]),
        (Stage::End, vec!["tick a"]),
    ] {
        let mut t = start();
        let e = Extension::new("e").on_world_stage(stage, destroys_own);
        t.cx().install(e);
        let _a = spawn(&mut t, Probe::new("a"));
        t.tick(0.1);
        // A hook is part of the frame, not a callback: nothing is running, so the end is at once.
        let expected = [before, vec!["stop a", "destroyed: true"]].concat();
        assert_eq!(log(&t), expected, "{stage:?}");
        t.tick(0.1);
        assert!(log(&t).is_empty());
    }
}

#[test]
fn a_world_that_ends_in_a_begin_hook_takes_no_other_worlds_hook_with_it() {
    let mut t = start();
    let e = Extension::<Game>::new("e").on_world_stage(Stage::Begin, |cx| {
        let world = cx.world().unwrap();
        let name = cx.world_info(world).unwrap().name;
        cx.host().log.add(format!("begin {name}"));
        if name == "game 1" {
            cx.destroy_world(world);
        }
    });
    t.cx().install(e);
    world(&mut t, "second");
    world(&mut t, "third");
    t.tick(0.1);
    assert_eq!(log(&t), ["begin game 1", "begin second", "begin third"]);
}

#[test]
fn from_a_runtime_hook_of_an_extension() {
    let mut t = start();
    let e = Extension::<Game>::new("e").on_runtime_stage(Stage::PrePhysics, |cx| {
        for world in cx.host().worlds.clone() {
            destroys(world)(cx);
        }
    });
    t.cx().install(e);
    let _a = spawn(&mut t, Probe::new("a").group(TickGroup::PrePhysics));
    let _b = spawn(&mut t, Probe::new("b"));
    t.host.worlds.push(t.world);
    t.tick(0.1);
    assert_eq!(log(&t), ["tick a", "stop b", "stop a", "destroyed: true"]);
}

#[test]
fn from_a_teardown_hook_of_another_world() {
    fn hook(cx: &mut Cx<'_, Game>, world: WorldId) {
        let name = cx.world_info(world).unwrap().name;
        cx.host().log.add(format!("flows of {name} end"));
        for other in cx.host().worlds.clone() {
            destroys(other)(cx);
        }
    }
    let mut t = start();
    let e = Extension::new("e").on_teardown(TeardownPhase::Flows, hook);
    t.cx().install(e);
    let here = t.world;
    let other = world(&mut t, "other");
    t.host.worlds.push(other);
    let _a = spawn(&mut t, Probe::new("a"));
    let _o = spawn_in(&mut t, other, Probe::new("o"));
    t.cx().destroy_world(here);
    assert_eq!(
        log(&t),
        [
            "flows of game 1 end",
            "destroyed: true",
            "stop a",
            "flows of other end",
            "destroyed: false",
            "stop o"
        ]
    );
}

#[test]
fn outside_callbacks_it_is_over_when_the_call_returns() {
    let mut t = start();
    let here = t.world;
    let _owners = spawn_all(&mut t, ["a", "b", "c"]);
    assert!(t.cx().destroy_world(here));
    assert_eq!(log(&t), ["stop c", "stop b", "stop a"], "newest first");
    assert_eq!(t.cx().world_info(here), Err(WorldError::Gone));
}

#[test]
fn between_the_pieces_of_a_frame_it_is_over_when_the_call_returns() {
    let mut t = start();
    let here = t.world;
    let other = world(&mut t, "other");
    let _a = spawn(&mut t, Probe::new("a"));
    let _o = spawn_in(&mut t, other, Probe::new("o"));
    t.rt.begin_frame(&mut t.host, 0.1).unwrap();
    t.rt.run_through(&mut t.host, Stage::PrePhysics).unwrap();
    t.cx().destroy_world(here);
    assert_eq!(log(&t), ["stop a"]);
    t.rt.run_through(&mut t.host, Stage::Console).unwrap();
    t.rt.end_frame(&mut t.host).unwrap();
    assert_eq!(log(&t), ["tick o"]);
}

#[test]
fn newest_means_the_latest_initialized() {
    let mut t = start();
    let here = t.world;
    let [a, _b] = spawn_all(&mut t, ["a", "b"]);
    a.shutdown(&mut t.cx()).unwrap();
    t.cx().initialize(&a, here).unwrap();
    let [_c] = spawn_all(&mut t, ["c"]);
    log(&t);
    t.cx().destroy_world(here);
    assert_eq!(log(&t), ["stop c", "stop a", "stop b"]);
}

#[test]
fn disabled_and_sleeping_objects_are_shut_down_as_well() {
    let mut t = start();
    let here = t.world;
    let off = Probe::new("off").settings(|s| s.start_ticking(false));
    let _off = spawn(&mut t, off);
    let _asleep = spawn(&mut t, Probe::new("asleep").interval(60));
    let _plain = t.cx().spawn(Probe::new("never initialized"));
    t.tick(0.1);
    t.cx().destroy_world(here);
    assert_eq!(log(&t), ["stop asleep", "stop off"]);
}

#[test]
fn kinds_end_in_order_and_of_each_kind_the_objects_hook() {
    fn line(phase: &'static str) -> impl Fn(&mut Cx<'_, Game>) {
        move |cx| cx.host().log.add(phase)
    }
    let mut t = start();
    let e = Extension::<Game>::new("kinds")
        .on_teardown(TeardownPhase::Subsystems, |cx, _| line("subsystems")(cx))
        .on_teardown(TeardownPhase::Tickables, |cx, _| line("tickables")(cx))
        .on_teardown(TeardownPhase::Commands, |cx, _| line("commands")(cx))
        .on_teardown(TeardownPhase::Delegates, |cx, _| line("delegates")(cx))
        .on_teardown(TeardownPhase::Timers, |cx, _| line("timers")(cx))
        .on_teardown(TeardownPhase::Flows, |cx, _| line("flows")(cx));
    t.cx().install(e);
    let here = t.world;
    let _a = spawn(&mut t, Probe::new("a"));
    t.cx().destroy_world(here);
    let lines = log(&t);
    let kinds: Vec<_> = lines.iter().filter(|l| *l != "tickables").collect();
    assert_eq!(
        kinds,
        [
            "flows",
            "timers",
            "delegates",
            "commands",
            "stop a",
            "subsystems"
        ]
    );
    assert_eq!(lines.len(), 7);
}

#[test]
fn starting_anything_in_a_dying_world_is_an_error_and_one_report() {
    let mut t = start();
    let here = t.world;
    let parked = t.cx().spawn(Probe::new("parked"));
    let parked_id = parked.id();
    let _a = spawn(
        &mut t,
        Probe::new("a").on_tick(move |cx| {
            cx.destroy_world(here);
            let no_world = |object: &str| TickError::NoLiveWorld {
                object: object.to_owned(),
            };
            assert_eq!(cx.initialize(parked_id, here), Err(no_world("parked")));
            assert_eq!(
                cx.spawn_in(here, Probe::new("x")).err(),
                Some(no_world("x"))
            );
            assert_eq!(
                cx.spawn_batched(here, Probe::new("y")).err(),
                Some(no_world("y"))
            );
            assert_eq!(
                cx.spawn_world_owned(here, Probe::new("z")).err(),
                Some(no_world("z"))
            );
            let child = WorldOptions::new(WorldKind::Game).parent(here);
            assert_eq!(cx.create_world(child).err(), Some(WorldError::NoLiveWorld));
        }),
    );
    t.tick(0.1);
    assert_eq!(log(&t), ["tick a", "stop a"]);
    assert_eq!(t.reports.kinds(), [ReportKind::NoLiveWorld; 5]);
    assert!(t.cx().initialize(&parked, here).is_err(), "dead by now");
    assert_eq!(t.reports.kinds(), [ReportKind::NoLiveWorld]);
    t.tick(0.1);
    assert!(log(&t).is_empty());
    assert!(t.reports.take().is_empty(), "nothing half started is left");
}

#[test]
fn starting_anything_from_a_teardown_event_of_the_world_is_refused_too() {
    let mut t = start();
    let here = t.world;
    let _a = spawn(
        &mut t,
        Probe::new("a").on_stop(move |cx| {
            assert!(cx.spawn_in(here, Probe::new("x")).is_err());
        }),
    );
    t.cx().destroy_world(here);
    assert_eq!(log(&t), ["stop a"]);
    assert_eq!(t.reports.kinds(), [ReportKind::NoLiveWorld]);
}

#[test]
fn a_teardown_event_may_start_things_in_another_world() {
    let mut t = start();
    let here = t.world;
    let other = world(&mut t, "other");
    let _a = spawn(
        &mut t,
        Probe::new("a").on_stop(move |cx| {
            let heir = cx.spawn_in(other, Probe::new("heir")).unwrap();
            cx.host_mut().owners.insert("heir", heir);
        }),
    );
    t.cx().destroy_world(here);
    t.tick(0.1);
    assert_eq!(log(&t), ["stop a", "init heir", "tick heir"]);
}

#[test]
fn an_object_shut_down_by_its_worlds_end_may_live_again_in_another() {
    let mut t = start();
    let here = t.world;
    let a = spawn(&mut t, Probe::new("a"));
    t.cx().destroy_world(here);
    let next = world(&mut t, "next");
    t.cx().initialize(&a, next).unwrap();
    t.tick(0.1);
    assert_eq!(log(&t), ["stop a", "init a", "tick a"]);
}

#[test]
fn an_object_whose_owner_is_dropped_in_a_teardown_gets_no_event() {
    let mut t = start();
    let here = t.world;
    let a = spawn(&mut t, Probe::new("a"));
    t.host.owners.insert("a", a);
    let drops = Probe::new("b").on_stop(|cx| drop(cx.host_mut().owners.remove("a")));
    let _b = spawn(&mut t, drops);
    t.cx().destroy_world(here);
    assert_eq!(log(&t), ["stop b"]);
    t.tick(0.1);
    assert_eq!(t.reports.kinds(), [ReportKind::OwnerDropped]);
}

#[test]
fn an_object_that_a_neighbours_teardown_event_shuts_down_is_shut_down_once() {
    let mut t = start();
    let here = t.world;
    let _a = spawn(&mut t, Probe::new("a"));
    let stops = Probe::new("b").on_stop(|cx| {
        let a = cx.host().id("a");
        assert_eq!(cx.shutdown(a), Ok(true));
        assert_eq!(cx.shutdown(a), Ok(false));
    });
    let _b = spawn(&mut t, stops);
    t.cx().destroy_world(here);
    assert_eq!(log(&t), ["stop b", "stop a"]);
}

#[test]
fn two_worlds_destroyed_by_one_callback_end_in_the_order_of_the_calls() {
    let mut t = start();
    let here = t.world;
    let (x, y) = (world(&mut t, "x"), world(&mut t, "y"));
    let _x = spawn_in(&mut t, x, Probe::new("in x"));
    let _y = spawn_in(&mut t, y, Probe::new("in y"));
    let _a = spawn(
        &mut t,
        Probe::new("a").on_tick(move |cx| {
            destroys(y)(cx);
            destroys(x)(cx);
        }),
    );
    t.tick(0.1);
    assert_eq!(
        log(&t),
        [
            "tick a",
            "destroyed: true",
            "destroyed: true",
            "stop in y",
            "stop in x"
        ]
    );
    assert!(t.cx().is_world_alive(here));
}

#[test]
fn the_state_of_a_world_is_there_in_its_teardown_and_gone_after_it() {
    let mut t: Test = start();
    let here = t.world;
    *t.cx().world_state::<u32>(here).unwrap() = 7;
    let _a = spawn(
        &mut t,
        Probe::new("a").on_stop(move |cx| assert_eq!(cx.world_state::<u32>(here), Ok(&mut 7))),
    );
    t.cx().destroy_world(here);
    assert_eq!(log(&t), ["stop a"]);
    assert_eq!(t.rt.world_state::<u32>(here), None);
}

#[test]
fn a_row_of_a_batch_that_destroys_another_world_does_not_hold_up_its_siblings() {
    let mut t = start();
    let other = world(&mut t, "other");
    let _o = spawn_in(&mut t, other, Probe::new("o"));
    let _owners = [
        spawn_batched(&mut t, Probe::new("a").on_tick(destroys(other))),
        spawn_batched(&mut t, Probe::new("b")),
    ];
    t.tick(0.1);
    assert_eq!(
        log(&t),
        ["tick a", "destroyed: true", "stop o", "tick b"],
        "ended before the next object ticks"
    );
}
