//! Extensions: hooks in the frame and in the teardown, state a runtime and a world, inspection.

use crate::probe::{Game, Log, Probe, log, spawn, start, world};
use sc_core::{Cx, Extension, Stage, TeardownPhase, WorldId};

#[derive(Default)]
struct Count(u32);

#[test]
fn a_stage_hook_gets_the_world_and_its_game_delta_after_the_stages_tickables() {
    fn hook(cx: &mut Cx<'_, Game>) {
        let name = cx.world_info(cx.world().unwrap()).unwrap().name;
        let line = format!("hook {name} {}", cx.delta_secs());
        cx.host().log.add(line);
    }
    let mut t = start();
    let second = world(&mut t, "second");
    t.cx().set_dilation(second, 0.5).unwrap();
    t.cx()
        .install(Extension::new("e").on_world_stage(Stage::PostPhysics, hook));
    let _a = spawn(&mut t, Probe::new("a"));
    t.tick(1.0);
    assert_eq!(log(&t), ["tick a", "hook game 1 1", "hook second 0.5"]);
}

#[test]
fn a_runtime_hook_gets_the_real_delta_after_the_stages_worlds() {
    let mut t = start();
    let w = t.world;
    t.cx().set_dilation(w, 0.5).unwrap();
    let e = Extension::<Game>::new("e")
        .on_runtime_stage(Stage::Flows, |cx| {
            assert_eq!(cx.world(), None);
            let line = format!("runtime {}", cx.delta_secs());
            cx.host().log.add(line);
        })
        .on_world_stage(Stage::Flows, |cx| cx.host().log.add("world"));
    t.cx().install(e);
    t.tick(1.0);
    assert_eq!(log(&t), ["world", "runtime 1"]);
}

#[test]
fn extensions_run_in_order_of_installation_world_by_world() {
    fn say(cx: &mut Cx<'_, Game>, who: &str) {
        let name = cx.world_info(cx.world().unwrap()).unwrap().name;
        cx.host().log.add(format!("{who} {name}"));
    }
    let mut t = start();
    world(&mut t, "second");
    let first = Extension::new("first").on_world_stage(Stage::Timers, |cx| say(cx, "first"));
    let next = Extension::new("next").on_world_stage(Stage::Timers, |cx| say(cx, "next"));
    t.cx().install(first);
    t.cx().install(next);
    t.tick(0.1);
    assert_eq!(
        log(&t),
        ["first game 1", "next game 1", "first second", "next second"]
    );
    assert_eq!(t.rt.extensions().collect::<Vec<_>>(), ["first", "next"]);
}

#[test]
fn of_two_extensions_of_one_name_the_first_stays() {
    let mut t = start();
    let e = |line: fn(&mut Cx<'_, Game>)| Extension::new("e").on_runtime_stage(Stage::Timers, line);
    assert!(t.cx().install(e(|cx| cx.host().log.add("first"))));
    assert!(!t.cx().install(e(|cx| cx.host().log.add("second"))));
    t.tick(0.1);
    assert_eq!(log(&t), ["first"]);
}

#[test]
fn a_reserved_name_is_refused_with_a_report() {
    let mut t = start();
    let e = Extension::new("sc.mine").on_runtime_stage(Stage::Timers, |cx: &mut Cx<'_, Game>| {
        cx.host().log.add("called");
    });
    assert!(!t.cx().install(e));
    let reports = t.reports.take();
    assert_eq!(reports.len(), 1);
    assert_eq!(
        reports[0].to_string(),
        "extension sc.mine: was not installed: its name is reserved; to fix: give it another name: \
         those that start with `sc.` are the library's own"
    );
    t.tick(0.1);
    assert_eq!(log(&t), [""; 0]);
    assert_eq!(t.rt.extensions().count(), 0);
    // Ours, and what only looks like it.
    assert!(t.cx().install(Extension::new("sc.mine").ours()));
    assert!(t.cx().install(Extension::new("scores")));
}

#[test]
fn no_hook_is_lost_when_one_extension_names_a_stage_or_a_phase_twice() {
    let mut t = start();
    let w = t.world;
    let e = Extension::<Game>::new("e")
        .on_world_stage(Stage::Timers, |cx| cx.host().log.add("world 1"))
        .on_world_stage(Stage::Timers, |cx| cx.host().log.add("world 2"))
        .on_runtime_stage(Stage::Timers, |cx| cx.host().log.add("runtime 1"))
        .on_runtime_stage(Stage::Timers, |cx| cx.host().log.add("runtime 2"))
        .on_teardown(TeardownPhase::Timers, |cx, _| cx.host().log.add("end 1"))
        .on_teardown(TeardownPhase::Timers, |cx, _| cx.host().log.add("end 2"));
    t.cx().install(e);
    t.tick(0.1);
    assert_eq!(log(&t), ["world 1", "world 2", "runtime 1", "runtime 2"]);
    t.cx().destroy_world(w);
    assert_eq!(log(&t), ["end 1", "end 2"]);
}

#[test]
fn a_paused_worlds_hooks_run_with_no_game_delta() {
    let mut t = start();
    let w = t.world;
    t.cx().set_paused(w, true).unwrap();
    let e = Extension::<Game>::new("e").on_world_stage(Stage::Timers, |cx| {
        assert!(cx.delta().is_zero());
        cx.host().log.add("hook");
    });
    t.cx().install(e);
    t.tick(1.0);
    assert_eq!(log(&t), ["hook"], "what waits on other clocks must go on");
}

#[test]
fn a_world_destroyed_in_a_hook_gets_no_further_hook() {
    let mut t = start();
    let e = Extension::<Game>::new("destroys").on_world_stage(Stage::Timers, |cx| {
        let w = cx.world().unwrap();
        cx.host().log.add("destroys");
        cx.destroy_world(w);
    });
    t.cx().install(e);
    let e = Extension::<Game>::new("next")
        .on_world_stage(Stage::Timers, |cx| cx.host().log.add("next"))
        .on_world_stage(Stage::End, |cx| cx.host().log.add("end"))
        .on_teardown(TeardownPhase::Flows, |cx, _| cx.host().log.add("teardown"));
    t.cx().install(e);
    t.tick(0.1);
    assert_eq!(log(&t), ["destroys", "teardown"]);
}

#[test]
fn runtime_state_is_one_value_a_type_made_on_first_use() {
    let mut t = start();
    assert!(t.rt.state::<Count>().is_none());
    t.cx().runtime_state::<Count>().0 += 1;
    t.cx().runtime_state::<Count>().0 += 1;
    *t.cx().runtime_state::<String>() = "other type".to_owned();
    assert_eq!(t.rt.state::<Count>().unwrap().0, 2);
    assert_eq!(t.rt.state::<String>().unwrap(), "other type");
    let u = start();
    assert!(u.rt.state::<Count>().is_none(), "each runtime has its own");
}

#[test]
fn world_state_is_one_value_a_type_and_world() {
    let mut t = start();
    let (w, second) = (t.world, world(&mut t, "second"));
    t.cx().world_state::<Count>(w).unwrap().0 = 5;
    assert_eq!(t.cx().world_state::<Count>(second).unwrap().0, 0);
    assert_eq!(t.rt.world_state::<Count>(w).unwrap().0, 5);
    assert!(t.rt.world_state::<String>(w).is_none());
}

#[test]
fn state_is_dropped_with_its_world_after_the_teardown_and_with_its_runtime() {
    #[derive(Default)]
    struct Noisy(Log, &'static str);
    impl Drop for Noisy {
        fn drop(&mut self) {
            self.0.add(format!("drop {}", self.1));
        }
    }
    let mut t = start();
    let w = t.world;
    let lines = t.host.log.clone();
    *t.cx().world_state::<Noisy>(w).unwrap() = Noisy(lines.clone(), "of the world");
    *t.cx().runtime_state::<Noisy>() = Noisy(lines.clone(), "of the runtime");
    let e = Extension::<Game>::new("e")
        .on_teardown(TeardownPhase::Subsystems, |cx, _| cx.host().log.add("last"));
    t.cx().install(e);
    t.cx().destroy_world(w);
    assert_eq!(lines.take(), ["last", "drop of the world"]);
    drop(t);
    assert_eq!(lines.take(), ["drop of the runtime"]);
}

#[test]
fn teardown_hooks_are_called_in_the_order_of_their_phases_and_then_of_installation() {
    fn hook(cx: &mut Cx<'_, Game>, who: &str, w: WorldId) {
        assert_eq!(cx.world(), Some(w));
        assert!(!cx.is_world_alive(w));
        cx.host().log.add(who);
    }
    let mut t = start();
    let w = t.world;
    let first = Extension::new("first")
        .on_teardown(TeardownPhase::Subsystems, |cx, w| hook(cx, "first late", w))
        .on_teardown(TeardownPhase::Flows, |cx, w| hook(cx, "first early", w));
    let next = Extension::new("next")
        .on_teardown(TeardownPhase::Subsystems, |cx, w| hook(cx, "next late", w))
        .on_teardown(TeardownPhase::Flows, |cx, w| hook(cx, "next early", w));
    t.cx().install(first);
    t.cx().install(next);
    t.cx().destroy_world(w);
    assert_eq!(
        log(&t),
        ["first early", "next early", "first late", "next late"]
    );
    use TeardownPhase::{Commands, Delegates, Flows, Subsystems, Tickables, Timers};
    assert_eq!(
        TeardownPhase::ALL,
        [Flows, Timers, Delegates, Commands, Tickables, Subsystems]
    );
}

#[test]
fn teardown_hooks_run_for_editor_worlds_too() {
    let mut t = start();
    let editor = t.cx().create_world(sc_core::WorldKind::Editor).unwrap();
    let e = Extension::<Game>::new("e")
        .on_teardown(TeardownPhase::Flows, |cx, _| cx.host().log.add("teardown"));
    t.cx().install(e);
    t.cx().destroy_world(editor);
    assert_eq!(log(&t), ["teardown"]);
}

#[test]
fn what_lives_of_a_kind_can_be_listed() {
    let mut t = start();
    let e = Extension::<Game>::new("counts").inspected_by(|rt| {
        let count = rt.state::<Count>().map_or(0, |c| c.0);
        vec![format!("{count} so far"), "second line".to_owned()]
    });
    t.cx().install(e);
    t.cx().install(Extension::new("silent"));
    t.cx().runtime_state::<Count>().0 = 3;
    assert_eq!(t.rt.inspect("counts").unwrap(), ["3 so far", "second line"]);
    assert_eq!(t.rt.inspect("silent"), Some(vec![]));
    assert_eq!(t.rt.inspect("unknown"), None);
}

#[test]
fn a_hook_reaches_objects_worlds_and_state() {
    let mut t = start();
    let e = Extension::<Game>::new("e").on_world_stage(Stage::Timers, |cx| {
        let w = cx.world().unwrap();
        cx.world_state::<Count>(w).unwrap().0 += 1;
        if cx.host().owners.is_empty() {
            let a = cx.spawn_in(w, Probe::new("a")).unwrap();
            cx.host_mut().owners.insert("a", a);
        } else {
            let a = cx.host().owners["a"].key();
            assert_eq!(cx.get(a).unwrap().name, "a");
        }
    });
    t.cx().install(e);
    t.tick(0.1);
    assert_eq!(
        log(&t),
        ["init a"],
        "the clocks had advanced: the next pass"
    );
    t.tick(0.1);
    assert_eq!(log(&t), ["tick a"]);
    assert_eq!(t.rt.world_state::<Count>(t.world).unwrap().0, 2);
}

#[test]
fn what_a_begin_hook_starts_ticks_in_this_frame() {
    let mut t = start();
    let e = Extension::<Game>::new("e").on_world_stage(Stage::Begin, |cx| {
        let w = cx.world().unwrap();
        if cx.frame() == 1 {
            let a = cx.spawn_in(w, Probe::new("a").interval(1.0)).unwrap();
            cx.host_mut().owners.insert("a", a);
        }
    });
    t.cx().install(e);
    t.tick(1.0);
    assert_eq!(log(&t), ["init a", "tick a"]);
}
