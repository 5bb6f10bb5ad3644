//! Worlds: kinds, instances, parents, pause, what ticks in an editor, and the null-world trap.

use crate::probe::{Game, Probe, Test, log, spawn_in, spawn_worldless, start, world};
use sc_core::{
    Clock, Extension, InstanceId, ReportKind, Stage, TickError, TickSettings, WorldError, WorldId,
    WorldKind, WorldOptions,
};

fn make(t: &mut Test, options: WorldOptions) -> WorldId {
    t.cx().create_world(options).unwrap()
}

fn child_of(t: &mut Test, parent: WorldId) -> WorldId {
    make(t, WorldOptions::new(WorldKind::Game).parent(parent))
}

fn is_paused(t: &mut Test, world: WorldId) -> bool {
    t.cx().world_info(world).unwrap().effectively_paused
}

#[test]
fn a_world_has_a_kind_an_optional_instance_and_an_optional_parent() {
    let mut t = start();
    let session = t.cx().create_instance("session");
    assert_eq!(t.cx().instance_name(session), Ok("session"));
    let parent = t.world;
    let options = WorldOptions::new(WorldKind::PlayInEditor)
        .name("inset")
        .parent(parent)
        .instance(session);
    let inset = make(&mut t, options);
    let info = t.cx().world_info(inset).unwrap();
    assert_eq!(info.id, inset);
    assert_eq!(info.name, "inset");
    assert_eq!(info.kind, WorldKind::PlayInEditor);
    assert_eq!((info.parent, info.instance), (Some(parent), Some(session)));
    let info = t.cx().world_info(parent).unwrap();
    assert_eq!(info.kind, WorldKind::Game);
    assert_eq!((info.parent, info.instance), (None, None));
    assert_eq!(info.dilation, 1.0);
    assert!(!info.paused && !info.effectively_paused);
}

#[test]
fn several_worlds_live_at_once_and_are_listed_in_creation_order() {
    let mut t = start();
    make(&mut t, WorldOptions::new(WorldKind::Editor));
    make(&mut t, WorldOptions::new(WorldKind::Preview));
    make(&mut t, WorldOptions::new(WorldKind::PlayInEditor));
    let named = world(&mut t, "named");
    let _a = spawn_in(&mut t, named, Probe::new("a"));
    let list = t.rt.world_list();
    let names: Vec<_> = list.iter().map(|w| w.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "game 1",
            "editor 2",
            "preview 3",
            "play in editor 4",
            "named"
        ]
    );
    let objects: Vec<_> = list.iter().map(|w| w.objects).collect();
    assert_eq!(objects, [0, 0, 0, 0, 1]);
    let gameplay: Vec<_> = list.iter().map(|w| w.ticks_gameplay).collect();
    assert_eq!(gameplay, [true, false, false, true, true]);
}

#[test]
fn a_world_that_is_refused_changes_nothing() {
    let mut t = start();
    let dead = world(&mut t, "dead");
    assert!(t.cx().destroy_world(dead));
    let session = t.cx().create_instance("session");
    assert!(t.cx().destroy_instance(session));
    let orphan = WorldOptions::new(WorldKind::Game).name("orphan");
    assert_eq!(
        t.cx().create_world(orphan.clone().instance(session)),
        Err(WorldError::InstanceGone)
    );
    assert_eq!(
        t.cx()
            .create_world(orphan.clone().instance(InstanceId::default())),
        Err(WorldError::InstanceGone)
    );
    assert!(t.reports.take().is_empty());
    assert_eq!(
        t.cx().create_world(orphan.parent(dead)),
        Err(WorldError::NoLiveWorld)
    );
    let reports = t.reports.take();
    assert_eq!(reports.len(), 1);
    assert_eq!(reports[0].kind, ReportKind::NoLiveWorld);
    assert_eq!(reports[0].world.as_deref(), Some("orphan"));
    assert_eq!(t.rt.world_list().len(), 1);
    let next = make(&mut t, WorldOptions::new(WorldKind::Game));
    let name = t.cx().world_info(next).unwrap().name;
    assert_eq!(name, "game 3", "the third world there is");
}

#[test]
fn effective_pause_is_own_or_the_parents_effective() {
    let mut t = start();
    let top = t.world;
    let middle = child_of(&mut t, top);
    let leaf = child_of(&mut t, middle);
    let sibling = child_of(&mut t, top);
    let _leaf = spawn_in(&mut t, leaf, Probe::new("leaf"));
    let _mid = spawn_in(&mut t, middle, Probe::new("middle"));
    let _sib = spawn_in(&mut t, sibling, Probe::new("sibling"));
    let _top = spawn_in(&mut t, top, Probe::new("top"));

    t.cx().set_paused(middle, true).unwrap();
    t.tick(0.1);
    assert_eq!(log(&t), ["tick top", "tick sibling"]);
    assert!(is_paused(&mut t, leaf) && is_paused(&mut t, middle));
    assert!(!t.cx().world_info(leaf).unwrap().paused, "not its own");

    t.cx().set_paused(top, true).unwrap();
    t.tick(0.1);
    assert!(log(&t).is_empty());

    t.cx().set_paused(middle, false).unwrap();
    t.tick(0.1);
    assert!(log(&t).is_empty(), "the grandparent still is");

    t.cx().set_paused(top, false).unwrap();
    t.cx().set_paused(leaf, true).unwrap();
    t.tick(0.1);
    assert_eq!(log(&t), ["tick top", "tick middle", "tick sibling"]);
    assert!(!is_paused(&mut t, top), "a child's pause is its own");
}

#[test]
fn effective_pause_is_also_the_instances_and_that_of_the_ancestors_instances() {
    let mut t = start();
    let session = t.cx().create_instance("session");
    let other = t.cx().create_instance("other");
    let game = WorldOptions::new(WorldKind::Game);
    let outer = make(&mut t, game.clone().instance(session));
    let inner = make(&mut t, game.clone().parent(outer));
    let apart = make(&mut t, game.instance(other));
    let _o = spawn_in(&mut t, outer, Probe::new("outer"));
    let _i = spawn_in(&mut t, inner, Probe::new("inner"));
    let _a = spawn_in(&mut t, apart, Probe::new("apart"));
    t.cx().set_instance_paused(session, true).unwrap();
    t.tick(0.1);
    assert_eq!(log(&t), ["tick apart"]);
    assert!(is_paused(&mut t, inner));
    t.cx().set_instance_paused(session, false).unwrap();
    t.tick(0.1);
    assert_eq!(log(&t), ["tick outer", "tick inner", "tick apart"]);
    t.cx().destroy_instance(session);
    assert_eq!(
        t.cx().set_instance_paused(session, true),
        Err(WorldError::InstanceGone)
    );
    assert_eq!(t.cx().instance_name(session), Err(WorldError::InstanceGone));
}

#[test]
fn dilation_is_not_inherited() {
    let mut t = start();
    let parent = t.world;
    let child = child_of(&mut t, parent);
    t.cx().set_dilation(parent, 0.5).unwrap();
    t.tick(1.0);
    let game = |t: &mut Test, w| t.cx().elapsed(w, Clock::Game).unwrap().as_millis();
    assert_eq!(game(&mut t, parent), 500);
    assert_eq!(game(&mut t, child), 1000);
    assert_eq!(t.cx().world_info(child).unwrap().dilation, 1.0);
}

#[test]
fn destroying_a_parent_destroys_its_children_first() {
    let mut t = start();
    let parent = t.world;
    let c1 = child_of(&mut t, parent);
    let c2 = child_of(&mut t, parent);
    let grandchild = child_of(&mut t, c1);
    let apart = world(&mut t, "apart");
    let _owners = [
        (parent, "parent"),
        (c1, "first child"),
        (c2, "second child"),
        (grandchild, "grandchild"),
        (apart, "apart"),
    ]
    .map(|(w, name)| spawn_in(&mut t, w, Probe::new(name)));
    assert!(t.cx().destroy_world(parent));
    let lines = log(&t);
    assert_eq!(lines.len(), 4);
    let at = |name: &str| lines.iter().position(|l| l == &format!("stop {name}"));
    assert!(at("grandchild").unwrap() < at("first child").unwrap());
    assert!(at("first child").unwrap() < at("parent").unwrap());
    assert!(at("second child").unwrap() < at("parent").unwrap());
    assert_eq!(t.rt.world_list().len(), 1);
    assert!(t.cx().is_world_alive(apart));
}

#[test]
fn destroying_a_child_leaves_its_parent() {
    let mut t = start();
    let parent = t.world;
    let child = child_of(&mut t, parent);
    assert!(t.cx().destroy_world(child));
    assert!(t.cx().is_world_alive(parent));
    assert!(t.cx().destroy_world(parent), "with no child left");
    assert!(t.rt.world_list().is_empty());
}

#[test]
fn destroying_an_instance_destroys_its_worlds_newest_first() {
    let mut t = start();
    let session = t.cx().create_instance("session");
    let game = WorldOptions::new(WorldKind::Game);
    let w1 = make(&mut t, game.clone().instance(session));
    let w2 = make(&mut t, game.instance(session));
    let _a = spawn_in(&mut t, w1, Probe::new("a"));
    let _b = spawn_in(&mut t, w2, Probe::new("b"));
    assert!(t.cx().destroy_instance(session));
    assert_eq!(log(&t), ["stop b", "stop a"]);
    assert_eq!(t.rt.world_list().len(), 1, "the one without an instance");
    assert!(!t.cx().destroy_instance(session));
}

#[test]
fn editor_and_preview_worlds_tick_nothing_gameplay_like() {
    let mut t = start();
    for kind in [WorldKind::Editor, WorldKind::Preview] {
        let w = make(&mut t, WorldOptions::new(kind));
        let _plain = spawn_in(&mut t, w, Probe::new("plain"));
        let _throttled = spawn_in(&mut t, w, Probe::new("throttled").interval(0.1));
        let in_editor = Probe::new("in editor").settings(|s| s.tick_in_editor(true));
        let _in_editor = spawn_in(&mut t, w, in_editor);
        t.tick(0.25);
        assert_eq!(log(&t), ["tick in editor"], "{kind:?}");
        assert_eq!(
            t.cx().elapsed(w, Clock::Game),
            Ok(crate::probe::ms(250)),
            "its clocks run"
        );
        t.cx().destroy_world(w);
        log(&t);
    }
}

#[test]
fn a_world_created_with_ticks_gameplay_does_whatever_its_kind() {
    let mut t = start();
    let options = WorldOptions::new(WorldKind::Preview).ticks_gameplay(true);
    let preview = make(&mut t, options);
    let still = WorldOptions::new(WorldKind::Game).ticks_gameplay(false);
    let still = make(&mut t, still);
    let _a = spawn_in(&mut t, preview, Probe::new("a"));
    let _b = spawn_in(&mut t, still, Probe::new("b"));
    t.tick(0.1);
    assert_eq!(log(&t), ["tick a"]);
}

#[test]
fn extensions_gameplay_hooks_leave_out_worlds_that_tick_none() {
    let mut t = start();
    make(&mut t, WorldOptions::new(WorldKind::Editor));
    make(&mut t, WorldOptions::new(WorldKind::Preview));
    let on = WorldOptions::new(WorldKind::Preview).ticks_gameplay(true);
    make(&mut t, on);
    let e = Extension::<Game>::new("timers").on_world_stage(Stage::Timers, |cx| {
        let name = cx.world_info(cx.world().unwrap()).unwrap().name;
        cx.host().log.add(name);
    });
    t.cx().install(e);
    t.tick(0.1);
    assert_eq!(log(&t), ["game 1", "preview 4"]);
}

/// Whether an object with these settings ticks in a world of this kind, paused or not.
fn ticks(kind: WorldKind, paused: bool, settings: fn(TickSettings) -> TickSettings) -> bool {
    let mut t = start();
    let w = make(&mut t, WorldOptions::new(kind));
    t.cx().set_paused(w, paused).unwrap();
    let _a = spawn_in(&mut t, w, Probe::new("a").settings(settings));
    t.tick(0.1);
    !log(&t).is_empty()
}

#[test]
fn tick_when_paused_and_tick_in_editor_are_independent() {
    use WorldKind::{Editor, Game, PlayInEditor, Preview};
    let plain = |s| s;
    let paused = |s: TickSettings| s.tick_when_paused(true);
    let editor = |s: TickSettings| s.tick_in_editor(true);
    let both = |s: TickSettings| s.tick_when_paused(true).tick_in_editor(true);
    for kind in [Game, PlayInEditor] {
        assert!(ticks(kind, false, plain));
        assert!(!ticks(kind, true, plain));
        assert!(ticks(kind, true, paused));
        assert!(
            !ticks(kind, true, editor),
            "the editor flag does not get past a pause, in play-in-editor neither"
        );
        assert!(ticks(kind, true, both));
    }
    for kind in [Editor, Preview] {
        assert!(!ticks(kind, false, plain));
        assert!(!ticks(kind, false, paused));
        assert!(ticks(kind, false, editor));
        assert!(!ticks(kind, true, editor));
        assert!(ticks(kind, true, both));
    }
}

#[test]
fn a_worldly_object_needs_a_world_and_a_worldless_one_refuses_one() {
    let mut t = start();
    let w = t.world;
    let worldly = t.cx().spawn(Probe::new("worldly"));
    assert_eq!(
        t.cx().initialize(&worldly, None),
        Err(TickError::NoLiveWorld {
            object: "worldly".to_owned()
        })
    );
    assert_eq!(t.reports.kinds(), [ReportKind::NoLiveWorld]);
    let none = t.cx().spawn_worldless(Probe::new("none"));
    assert_eq!(
        t.cx().initialize(&none, w),
        Err(TickError::Worldless {
            object: "none".to_owned()
        })
    );
    assert!(log(&t).is_empty(), "no event ran");
    assert!(!t.cx().is_initialized(&none) && !t.cx().is_initialized(&worldly));
    t.tick(0.1);
    assert!(log(&t).is_empty());
}

#[test]
fn worldless_is_fixed_and_cannot_be_reached_by_losing_a_world() {
    let mut t = start();
    let (w, next) = (t.world, world(&mut t, "next"));
    let a = spawn_in(
        &mut t,
        w,
        Probe::new("a").settings(|s| s.tick_when_paused(true).tick_in_editor(true)),
    );
    let _music = spawn_worldless(&mut t, Probe::new("music"));
    t.cx().destroy_world(w);
    log(&t);
    t.tick(0.1);
    assert_eq!(
        log(&t),
        ["tick music"],
        "it did not move to the global pass"
    );
    let info = t.cx().tick_info(&a).unwrap();
    assert!(!info.worldless && !info.initialized);
    assert_eq!(info.world, None);
    assert!(matches!(
        t.cx().initialize(&a, None),
        Err(TickError::NoLiveWorld { .. })
    ));
    t.cx().set_tick_enabled(&a, true).unwrap();
    t.ticks(0.1, 3);
    assert_eq!(log(&t), ["tick music"; 3]);
    t.cx().initialize(&a, next).unwrap();
    t.tick(0.1);
    assert_eq!(log(&t), ["init a", "tick a", "tick music"]);
}

#[test]
fn a_worldless_object_outlives_every_world() {
    let mut t = start();
    let w = t.world;
    let _music = spawn_worldless(&mut t, Probe::new("music"));
    t.cx().destroy_world(w);
    t.ticks(0.1, 2);
    assert_eq!(log(&t), ["tick music", "tick music"]);
}

#[test]
fn every_call_on_a_world_that_is_gone_is_an_error() {
    let mut t = start();
    let (gone, never) = (t.world, WorldId::default());
    t.cx().destroy_world(gone);
    let mut cx = t.rt.cx(&mut t.host);
    for w in [gone, never] {
        assert_eq!(cx.set_paused(w, true), Err(WorldError::Gone));
        assert_eq!(cx.set_dilation(w, 0.5), Err(WorldError::Gone));
        assert_eq!(cx.elapsed(w, Clock::Game), Err(WorldError::Gone));
        assert_eq!(cx.world_delta(w, Clock::Game), Err(WorldError::Gone));
        assert_eq!(cx.world_info(w), Err(WorldError::Gone));
        assert_eq!(cx.world_state::<u32>(w).err(), Some(WorldError::Gone));
        assert!(!cx.is_world_alive(w));
        assert!(!cx.destroy_world(w), "ending what is gone is no error");
    }
}

#[test]
fn a_stale_world_id_never_names_the_world_in_its_slot() {
    let mut t = start();
    let old = t.world;
    t.cx().destroy_world(old);
    let new = world(&mut t, "new");
    assert_ne!(old, new);
    assert!(!t.cx().destroy_world(old));
    assert!(t.cx().is_world_alive(new));
}
