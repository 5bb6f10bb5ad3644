//! The failure cases of area A, tickables, worlds and clocks: a test for each.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use crate::probe::{
    Game, Probe, Test, deltas, log, ms, spawn, spawn_all, spawn_in, spawn_worldless, start, world,
};
use sc_core::{
    Clock, Cx, Extension, FrameError, ReportKind, Stage, TeardownPhase, TickError, TickGroup,
    Tickable, TimeError, WorldError, WorldKind, WorldOptions, secs,
};

#[test]
fn case_a1_the_running_one_shuts_its_neighbour_down() {
    let mut t = start();
    let _a = spawn(
        &mut t,
        Probe::new("a").on_tick(|cx| {
            let b = cx.host().id("b");
            if cx.shutdown(b).unwrap() {
                cx.host().log.add("b is shut down");
            }
        }),
    );
    let [_b, _c] = spawn_all(&mut t, ["b", "c"]);
    t.tick(0.1);
    assert_eq!(log(&t), ["tick a", "stop b", "b is shut down", "tick c"]);
    t.tick(0.1);
    assert_eq!(log(&t), ["tick a", "tick c"]);
}

#[test]
fn case_a2_registered_shut_down_freed_and_the_slot_used_again_in_one_pass() {
    let mut t = start();
    let w = t.world;
    let stale = Rc::new(RefCell::new(None));
    let keep = Rc::clone(&stale);
    let _a = spawn(
        &mut t,
        Probe::new("a").on_tick(move |cx| {
            if cx.frame() == 1 {
                let x = cx.spawn_in(w, Probe::new("x")).unwrap();
                *keep.borrow_mut() = Some(x.key());
                x.shutdown(cx).unwrap();
                drop(x);
                let y = cx.spawn_in(w, Probe::new("y")).unwrap();
                assert_ne!(y.key(), keep.borrow().unwrap());
                cx.host_mut().owners.insert("y", y);
            }
        }),
    );
    t.tick(0.1);
    assert_eq!(
        log(&t),
        ["tick a", "init x", "stop x", "init y"],
        "y is new: not in this pass"
    );
    let x = stale.borrow().unwrap();
    assert_eq!(t.cx().get(x).err(), Some(TickError::Gone));
    assert_eq!(t.cx().shutdown(x), Ok(false));
    t.tick(0.1);
    assert_eq!(log(&t), ["tick a", "tick y"]);
    // And with the slot free for certain.
    let z = spawn(&mut t, Probe::new("z"));
    assert_eq!(t.cx().get(x).err(), Some(TickError::Gone));
    assert_ne!(x, z.key());
    assert!(t.reports.take().is_empty());
}

#[test]
fn case_a3_an_object_destroys_itself_in_its_tick_and_touches_its_container_after() {
    struct Holder {
        items: Vec<u32>,
        lines: crate::probe::Log,
    }
    impl Tickable<Vec<sc_core::Owner<Holder>>> for Holder {
        fn tick(&mut self, cx: &mut Cx<'_, Vec<sc_core::Owner<Holder>>>) {
            cx.host_mut().clear();
            self.items.push(4);
            self.lines.add(format!("{:?}", self.items));
        }
    }
    impl Drop for Holder {
        fn drop(&mut self) {
            self.lines.add("drop");
        }
    }
    let lines = crate::probe::Log::default();
    let mut t = sc_core::testing::TestWorld::new(Vec::new());
    let w = t.world;
    let holder = Holder {
        items: vec![1, 2, 3],
        lines: lines.clone(),
    };
    let owner = t.cx().spawn_in(w, holder).unwrap();
    let key = owner.key();
    t.host.push(owner);
    t.tick(0.1);
    assert_eq!(
        lines.take(),
        ["[1, 2, 3, 4]", "drop"],
        "the call finished before its storage went"
    );
    assert_eq!(t.cx().get(key).err(), Some(TickError::Gone));
    assert_eq!(t.tick(0.1).ticks, 0);
}

#[test]
fn case_a5_the_running_one_moves_another_to_another_group_and_prerequisite() {
    let mut t = start();
    let _a = spawn(
        &mut t,
        Probe::new("a").group(TickGroup::PrePhysics).on_tick(|cx| {
            if cx.frame() == 1 {
                let (b, c) = (cx.host().id("b"), cx.host().id("c"));
                let change = cx.configure(b).unwrap().group(TickGroup::PostUpdate);
                change.after(c).apply().unwrap();
            }
        }),
    );
    let _b = spawn(&mut t, Probe::new("b"));
    let _d = spawn(&mut t, Probe::new("d"));
    let _c = spawn(&mut t, Probe::new("c").group(TickGroup::PostUpdate));
    t.tick(0.1);
    assert_eq!(
        log(&t),
        ["tick a", "tick b", "tick d", "tick c"],
        "not in this pass, and not half: b ticks once"
    );
    t.tick(0.1);
    assert_eq!(log(&t), ["tick a", "tick d", "tick c", "tick b"]);
}

#[test]
fn case_a7_a_prototype_never_ticks() {
    let mut t = start();
    let prototype = Probe::new("prototype");
    let parked = t.cx().spawn(Probe::new("parked"));
    t.cx().set_tick_enabled(&parked, true).unwrap();
    t.ticks(0.1, 3);
    assert!(log(&t).is_empty());
    assert!(prototype.deltas.is_empty());
    assert!(t.rt.tick_list().is_empty());
}

/// The part about what is created belongs to subsystems; this is the part about ticking.
#[test]
fn case_a8_a_preview_world_opens_and_nothing_gameplay_like_ticks_in_it() {
    let mut t = start();
    let e = Extension::<Game>::new("timers")
        .on_world_stage(Stage::Timers, |cx| cx.host().log.add("timers"));
    t.cx().install(e);
    for (kind, told, ticks) in [
        (WorldKind::Preview, None, false),
        (WorldKind::Editor, None, false),
        (WorldKind::Preview, Some(true), true),
    ] {
        let here = t.world;
        t.cx().destroy_world(here);
        let mut options = WorldOptions::new(kind);
        if let Some(told) = told {
            options = options.ticks_gameplay(told);
        }
        t.world = t.cx().create_world(options).unwrap();
        let _plain = spawn(&mut t, Probe::new("plain"));
        let _slow = spawn(&mut t, Probe::new("slow").interval(0.1));
        t.tick(0.1);
        let expected: &[&str] = match ticks {
            true => &["timers", "tick plain", "tick slow"],
            false => &[],
        };
        assert_eq!(log(&t), expected, "{kind:?}");
        drop(t.reports.take());
    }
}

#[test]
fn case_a9_shutdown_of_what_was_never_initialized() {
    let mut t = start();
    let w = t.world;
    let a = t.cx().spawn(Probe::new("a"));
    t.cx().set_tick_enabled(&a, false).unwrap();
    assert_eq!(a.shutdown(&mut t.cx()), Ok(false));
    assert!(log(&t).is_empty());
    t.cx().initialize(&a, w).unwrap();
    t.tick(0.1);
    assert_eq!(log(&t), ["init a"], "the recorded intent stayed");
    assert!(t.reports.take().is_empty());
}

#[test]
fn case_a11_the_parent_or_the_instance_is_paused_and_the_world_itself_not() {
    let mut t = start();
    let top = t.world;
    let session = t.cx().create_instance("session");
    let game = WorldOptions::new(WorldKind::Game);
    let middle = t.cx().create_world(game.clone().parent(top)).unwrap();
    let leaf = game.parent(middle).instance(session);
    let leaf = t.cx().create_world(leaf).unwrap();
    let _a = spawn_in(&mut t, leaf, Probe::new("a"));
    let ticks = |t: &mut Test| t.tick(0.1).ticks;
    assert_eq!(ticks(&mut t), 1);
    t.cx().set_paused(top, true).unwrap();
    assert_eq!(ticks(&mut t), 0, "an ancestor's");
    t.cx().set_instance_paused(session, true).unwrap();
    t.cx().set_paused(top, false).unwrap();
    assert_eq!(ticks(&mut t), 0, "the instance's");
    t.cx().set_instance_paused(session, false).unwrap();
    assert_eq!(ticks(&mut t), 1);
    assert!(!t.cx().world_info(leaf).unwrap().paused);
    assert_eq!(t.cx().elapsed(leaf, Clock::Game), Ok(ms(200)));
}

#[test]
fn case_a12_a_debug_tool_runs_in_pause_and_its_flag_is_read_each_pass() {
    let mut t = start();
    let w = t.world;
    let tool = spawn(
        &mut t,
        Probe::new("tool").settings(|s| s.tick_when_paused(true)),
    );
    let _game = spawn(&mut t, Probe::new("game"));
    t.cx().set_paused(w, true).unwrap();
    t.tick(0.1);
    assert_eq!(log(&t), ["tick tool"]);
    for on in [false, true] {
        let mut cx = t.rt.cx(&mut t.host);
        let change = cx.configure(&tool).unwrap();
        change.tick_when_paused(on).apply().unwrap();
        t.tick(0.1);
        assert_eq!(log(&t).len(), usize::from(on));
    }
}

#[test]
fn case_a13_an_interval_and_a_long_pause() {
    let mut t = start();
    let w = t.world;
    let a = spawn(&mut t, Probe::new("a").interval(20));
    t.ticks(1, 19);
    t.cx().set_paused(w, true).unwrap();
    t.ticks(1, 25);
    t.cx().set_paused(w, false).unwrap();
    assert!(log(&t).is_empty());
    t.tick(0.5);
    assert!(log(&t).is_empty(), "not on resume");
    t.tick(0.5);
    assert_eq!(deltas(&mut t, &a), [20_000]);
}

#[test]
fn case_a15_an_object_at_5_hz_under_60_fps() {
    let mut t = start();
    let w = t.world;
    let a = spawn(&mut t, Probe::new("a").interval(secs(0.2)));
    t.tick(0.05);
    a.shutdown(&mut t.cx()).unwrap();
    t.cx().initialize(&a, w).unwrap();
    // 100 frames of 16.666667 ms: 1.6666667 s.
    for _ in 0..100 {
        t.tick(Duration::from_nanos(16_666_667));
    }
    let ticks = deltas(&mut t, &a);
    assert_eq!(ticks, [200; 8], "none is a frame's delta");
    let carry = t.cx().tick_info(&a).unwrap().carry;
    assert_eq!(ms(1600) + carry, Duration::from_nanos(1_666_666_700));
}

#[test]
fn case_a16_interval_1_and_one_delta_of_3_and_a_half() {
    let mut t = start();
    let a = spawn(&mut t, Probe::new("a").interval(1.0));
    t.tick(3.5);
    assert_eq!(deltas(&mut t, &a), [3000]);
    assert_eq!(t.cx().tick_info(&a).unwrap().carry, ms(500));
    t.tick(0.5);
    assert_eq!(deltas(&mut t, &a), [3000, 1000]);
}

#[test]
fn case_a18_a_negative_delta_is_refused_and_nothing_rewinds() {
    let mut t = start();
    let w = t.world;
    let _a = spawn(&mut t, Probe::new("a"));
    t.tick(1.0);
    log(&t);
    for seconds in [-0.5, -1e-9, -1e300] {
        assert_eq!(
            t.rt.tick_secs(&mut t.host, seconds),
            Err(FrameError::BadDelta(TimeError::Negative { seconds }))
        );
    }
    assert!(log(&t).is_empty());
    for clock in Clock::ALL {
        assert_eq!(t.cx().elapsed(w, clock), Ok(ms(1000)));
    }
    assert_eq!(t.rt.frame_number(), 1);
}

#[test]
fn case_a19a_a_delta_that_is_no_number_or_beyond_range() {
    let mut t = start();
    let _a = spawn(&mut t, Probe::new("a"));
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1.9e10, f64::MAX] {
        assert!(matches!(
            t.rt.tick_secs(&mut t.host, bad),
            Err(FrameError::BadDelta(_))
        ));
    }
    assert!(log(&t).is_empty());
    assert_eq!(t.rt.frame_number(), 0);
    assert!(t.reports.take().is_empty());
}

#[test]
fn case_a19b_a_bad_dilation_is_refused_at_the_setter_and_the_old_value_stays() {
    let mut t = start();
    let w = t.world;
    t.cx().set_dilation(w, 2.0).unwrap();
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0] {
        assert!(matches!(
            t.cx().set_dilation(w, bad),
            Err(WorldError::BadDilation(_))
        ));
    }
    t.tick(1.0);
    assert_eq!(t.cx().elapsed(w, Clock::Game), Ok(ms(2000)));
}

#[test]
fn case_a19c_delta_times_dilation_beyond_range() {
    let mut t = start();
    let w = t.world;
    let _a = spawn(&mut t, Probe::new("a"));
    t.cx().set_dilation(w, f64::MAX).unwrap();
    let report = t.tick(1.0);
    assert_eq!(
        t.cx().elapsed(w, Clock::Game),
        Ok(Duration::from_nanos(u64::MAX)),
        "it saturates"
    );
    assert_eq!(t.reports.kinds(), [ReportKind::DeltaSaturated]);
    t.tick(1.0);
    assert!(t.reports.take().is_empty(), "one report");
    assert_eq!(log(&t), ["tick a", "tick a"]);
    assert!(
        report.clamped_dilated > Duration::ZERO,
        "counted as clamped"
    );
}

#[test]
fn case_a21_a_30_hz_server_up_for_ten_days() {
    let mut t = start();
    let w = t.world;
    let read = |t: &mut Test| t.cx().elapsed(w, Clock::Game).unwrap();
    for day in 0..10_u64 {
        // 86,400 s less the 30 s that follow at 30 Hz.
        t.tick(Duration::from_secs(86_370));
        for second in 0..30 {
            let before = read(&mut t);
            assert_eq!(before.as_secs(), day * 86_400 + 86_370 + second);
            let mut last = before;
            for nanos in [33_333_333, 33_333_333, 33_333_334].repeat(10) {
                t.tick(Duration::from_nanos(nanos));
                let now = read(&mut t);
                assert_eq!(now - last, Duration::from_nanos(nanos));
                last = now;
            }
            assert_eq!(last - before, Duration::from_secs(1));
        }
    }
    assert_eq!(read(&mut t), Duration::from_secs(864_000));
}

/// Timers, delegates and flows have tests of their own: this is what there is so far.
#[test]
fn case_a22_a_world_destroyed_inside_a_tick_a_hook_or_a_posted_closure() {
    fn hook(cx: &mut Cx<'_, Game>) {
        let w = cx.world().unwrap();
        let name = cx.world_info(w).unwrap().name;
        if cx.host().owners.contains_key("by hook") && name == "game 1" {
            cx.destroy_world(w);
        }
    }
    for by in ["by tick", "by hook", "by closure"] {
        let mut t = start();
        let w = t.world;
        let other = world(&mut t, "other");
        let e = Extension::new("e")
            .on_world_stage(Stage::Timers, hook)
            .on_teardown(TeardownPhase::Flows, |cx, _| cx.host().log.add("teardown"));
        t.cx().install(e);
        let first = spawn(
            &mut t,
            Probe::new("a").on_tick(move |cx| {
                if cx.host().owners.contains_key("by tick") {
                    cx.destroy_world(w);
                }
            }),
        );
        let [_b] = spawn_all(&mut t, ["b"]);
        let _o = spawn_in(&mut t, other, Probe::new("o"));
        t.host.owners.insert(by, first);
        if by == "by closure" {
            t.rt.poster()
                .post(move |cx| assert!(cx.destroy_world(w)))
                .unwrap();
        }
        t.tick(0.1);
        let mut expected = vec!["teardown", "stop b", "stop a", "tick o"];
        if by == "by tick" {
            expected.insert(0, "tick a");
        }
        assert_eq!(log(&t), expected, "{by}");
        t.tick(0.1);
        assert_eq!(log(&t), ["tick o"]);
    }
}

#[test]
fn case_a23_the_scene_changed_and_everything_ends_with_its_world_unless_asked_otherwise() {
    let mut t = start();
    let old = t.world;
    let owned = spawn(&mut t, Probe::new("owned"));
    let kept = t
        .cx()
        .spawn_world_owned(old, Probe::new("ownerless"))
        .unwrap();
    let _music = spawn_worldless(&mut t, Probe::new("music"));
    let _new = world(&mut t, "new scene");
    log(&t);
    t.cx().destroy_world(old);
    assert_eq!(log(&t), ["stop ownerless", "stop owned"]);
    t.ticks(0.1, 2);
    assert_eq!(
        log(&t),
        ["tick music", "tick music"],
        "it asked for no world, and goes on"
    );
    assert!(t.cx().get(kept).is_err());
    assert!(!t.cx().is_initialized(&owned));
    assert!(t.reports.take().is_empty());
}
