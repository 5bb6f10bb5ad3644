//! Steps: frames of worlds that have frames of their own, beside and inside those of the runtime.

use crate::probe::{Game, Probe, Test, deltas, log, ms, panic_of, spawn, spawn_in, start};
use sc_core::{
    Clock, Extension, FrameError, Stage, TickGroup, WorldDelta, WorldId, WorldKind, WorldOptions,
};

/// A world that steps.
fn stepping(t: &mut Test, name: &'static str) -> WorldId {
    let options = WorldOptions::new(WorldKind::Game).name(name).steps(true);
    t.cx().create_world(options).unwrap()
}

fn step(t: &mut Test, delta: f64) {
    t.rt.step(&mut t.host, delta).unwrap();
}

#[test]
fn a_world_that_steps_has_no_part_in_the_frame_and_the_frame_none_in_a_step() {
    let mut t = start();
    let physics = stepping(&mut t, "physics");
    let _usual = spawn(&mut t, Probe::new("usual"));
    let _fixed = spawn_in(&mut t, physics, Probe::new("fixed"));
    t.tick(0.1);
    assert_eq!(log(&t), ["tick usual"]);
    step(&mut t, 0.03);
    step(&mut t, 0.03);
    assert_eq!(log(&t), ["tick fixed", "tick fixed"]);
    let world = t.world;
    let cx = t.cx();
    assert_eq!(cx.elapsed(world, Clock::Game), Ok(ms(100)));
    assert_eq!(cx.runtime_elapsed(), ms(100));
    assert_eq!(cx.elapsed(physics, Clock::Game), Ok(ms(60)));
    assert_eq!(cx.elapsed(physics, Clock::Real), Ok(ms(60)));
    let (usual, fixed) = (cx.readings(world).unwrap(), cx.readings(physics).unwrap());
    assert_eq!((cx.frame(), usual.frame, fixed.frame), (1, 1, 2));
    assert!(cx.world_info(physics).unwrap().steps && !cx.world_info(world).unwrap().steps);
}

#[test]
fn a_step_has_every_stage_for_each_of_its_worlds_and_the_runtime_has_no_part_in_it() {
    let mut t = start();
    let stages = Extension::<Game>::new("log stages")
        .on_world_stage(Stage::Begin, |cx| cx.host().log.add("world begins"))
        .on_runtime_stage(Stage::Begin, |cx| cx.host().log.add("runtime begins"))
        .on_world_stage(Stage::Flows, |cx| cx.host().log.add("world flows"))
        .on_runtime_stage(Stage::Flows, |cx| cx.host().log.add("runtime flows"))
        .on_world_stage(Stage::End, |cx| cx.host().log.add("world ends"))
        .on_runtime_stage(Stage::End, |cx| cx.host().log.add("runtime ends"));
    assert!(t.cx().install(stages));
    let (a, b) = (stepping(&mut t, "a"), stepping(&mut t, "b"));
    let mut owners = Vec::new();
    for (world, name) in [(a, "post a"), (b, "post b")] {
        owners.push(spawn_in(&mut t, world, Probe::new(name)));
    }
    for (world, name) in [(a, "pre a"), (b, "pre b")] {
        let probe = Probe::new(name).group(TickGroup::PrePhysics);
        owners.push(spawn_in(&mut t, world, probe));
    }
    owners.push(crate::probe::spawn_worldless(
        &mut t,
        Probe::new("worldless"),
    ));
    let posted = t.rt.poster().post(|cx| cx.host().log.add("posted"));
    assert!(posted.is_ok());
    step(&mut t, 0.1);
    let expected = [
        "world begins",
        "world begins",
        "tick pre a",
        "tick pre b",
        "tick post a",
        "tick post b",
        "world flows",
        "world flows",
        "world ends",
        "world ends",
    ];
    assert_eq!(log(&t), expected);
    t.tick(0.1);
    let expected = [
        "posted",
        "world begins",
        "runtime begins",
        "world flows",
        "runtime flows",
        "tick worldless",
        "world ends",
        "runtime ends",
    ];
    assert_eq!(log(&t), expected);
}

#[test]
fn steps_lie_between_two_stages_of_an_open_frame() {
    let mut t = start();
    let physics = stepping(&mut t, "physics");
    let _pre = spawn(&mut t, Probe::new("pre").group(TickGroup::PrePhysics));
    let _post = spawn(&mut t, Probe::new("post"));
    let fixed = spawn_in(&mut t, physics, Probe::new("fixed"));
    t.rt.begin_frame(&mut t.host, 0.1).unwrap();
    t.rt.run_through(&mut t.host, Stage::PrePhysics).unwrap();
    for _ in 0..3 {
        let report = t.rt.step(&mut t.host, 0.02).unwrap();
        assert_eq!((report.ticks, report.real_delta), (1, ms(20)));
    }
    t.rt.run_through(&mut t.host, Stage::Console).unwrap();
    let report = t.rt.end_frame(&mut t.host).unwrap();
    assert_eq!(
        (report.frame, report.ticks, report.real_delta),
        (1, 2, ms(100))
    );
    assert_eq!(
        log(&t),
        [
            "tick pre",
            "tick fixed",
            "tick fixed",
            "tick fixed",
            "tick post"
        ]
    );
    assert_eq!(deltas(&mut t, &fixed), [20, 20, 20]);
}

#[test]
fn what_ends_in_a_step_leaves_its_place_when_the_frame_around_it_ends() {
    let mut t = start();
    let _physics = stepping(&mut t, "physics");
    let old = spawn(&mut t, Probe::new("old"));
    t.tick(0.1);
    log(&t);
    t.rt.begin_frame(&mut t.host, 0.1).unwrap();
    drop(old);
    step(&mut t, 0.02);
    // In the slot of the old one, if it were free, where the open pass still has an entry.
    let _new = spawn(&mut t, Probe::new("new"));
    t.rt.run_through(&mut t.host, Stage::Console).unwrap();
    assert_eq!(log(&t), [""; 0], "its first tick is in the next frame");
    t.rt.end_frame(&mut t.host).unwrap();
    t.tick(0.1);
    assert_eq!(log(&t), ["tick new"]);
}

#[test]
fn pieces_go_to_the_step_while_it_is_open_and_nothing_else_begins() {
    let mut t = start();
    t.rt.begin_step(&mut t.host, 0.1).unwrap();
    assert!(t.rt.is_stepping());
    let again = t.rt.begin_step(&mut t.host, 0.1);
    assert_eq!(again, Err(FrameError::AlreadyTicking));
    let frame = t.rt.tick_secs(&mut t.host, 0.1);
    assert_eq!(frame, Err(FrameError::AlreadyTicking));
    let bad = t.rt.step(&mut t.host, f64::NAN);
    assert_eq!(bad, Err(FrameError::AlreadyTicking));
    t.rt.run_stage(&mut t.host, Stage::Timers).unwrap();
    assert_eq!(t.rt.abandon_frame(&mut t.host).map(|r| r.frame), Some(1));
    assert!(!t.rt.is_stepping());
    let bad = t.rt.step(&mut t.host, -1.0);
    assert!(matches!(bad, Err(FrameError::BadDelta(_))));
    assert_eq!(t.rt.step(&mut t.host, 0.1).map(|r| r.frame), Ok(2));
    t.rt.shutdown(&mut t.host);
    let late = t.rt.step(&mut t.host, 0.1);
    assert_eq!(late, Err(FrameError::ShutDown));
}

#[test]
fn an_abandoned_frame_gives_its_step_up_first() {
    let mut t = start();
    t.rt.begin_frame(&mut t.host, 0.1).unwrap();
    t.rt.begin_step(&mut t.host, 0.1).unwrap();
    assert!(t.rt.abandon_frame(&mut t.host).is_some() && !t.rt.is_stepping());
    assert!(t.rt.abandon_frame(&mut t.host).is_some());
    assert!(t.rt.abandon_frame(&mut t.host).is_none());
    t.tick(0.1);
}

#[test]
fn a_runtime_ends_with_a_step_open_in_a_frame() {
    let mut t = start();
    let physics = stepping(&mut t, "physics");
    let _fixed = spawn_in(&mut t, physics, Probe::new("fixed"));
    t.rt.begin_frame(&mut t.host, 0.1).unwrap();
    t.rt.begin_step(&mut t.host, 0.1).unwrap();
    t.rt.shutdown(&mut t.host);
    assert_eq!(log(&t), ["stop fixed"]);
    assert!(t.rt.abandon_frame(&mut t.host).is_none());
}

#[test]
fn what_is_asked_for_in_a_step_takes_effect_in_the_next() {
    let mut t = start();
    let physics = stepping(&mut t, "physics");
    let spawner = Probe::new("spawner").on_tick(move |cx| {
        if !cx.host().owners.contains_key("late") {
            let late = cx.spawn_in(physics, Probe::new("late")).unwrap();
            cx.host_mut().owners.insert("late", late);
        }
    });
    let _spawner = spawn_in(&mut t, physics, spawner);
    step(&mut t, 0.1);
    assert_eq!(log(&t), ["tick spawner", "init late"]);
    step(&mut t, 0.1);
    assert_eq!(log(&t), ["tick spawner", "tick late"]);
}

#[test]
fn intervals_and_batches_go_by_steps() {
    let mut t = start();
    let physics = stepping(&mut t, "physics");
    let slow = spawn_in(&mut t, physics, Probe::new("slow").interval(0.05));
    let rows: Vec<_> = ["row 1", "row 2"]
        .into_iter()
        .map(|name| t.cx().spawn_batched(physics, Probe::new(name)).unwrap())
        .collect();
    log(&t);
    for _ in 0..3 {
        step(&mut t, 0.02);
    }
    t.tick(10.0);
    let rows_tick = ["tick row 1", "tick row 2"];
    let expected = [rows_tick, rows_tick].concat();
    let expected = [expected.as_slice(), &["tick slow"], &rows_tick].concat();
    assert_eq!(log(&t), expected, "all rows in each step");
    assert_eq!(deltas(&mut t, &slow), [50]);
    drop(rows);
}

#[test]
fn a_world_that_steps_has_pause_dilation_parents_and_limits_as_any() {
    let mut t = start();
    let world = t.world;
    let options = WorldOptions::new(WorldKind::Game).parent(world).steps(true);
    let physics = t.cx().create_world(options).unwrap();
    t.cx().set_dilation(physics, 0.5).unwrap();
    step(&mut t, 0.1);
    t.cx().set_paused(world, true).unwrap();
    step(&mut t, 0.1);
    let readings = t.cx().readings(physics).unwrap();
    assert_eq!(readings.elapsed, [ms(50), ms(100), ms(100), ms(200)]);
    t.cx().set_paused(world, false).unwrap();
    t.rt.set_max_delta(Some(0.03.into())).unwrap();
    let report = t.rt.step(&mut t.host, 0.1).unwrap();
    assert_eq!(report.clamped, ms(70));
    t.cx().forgive_elapsed();
    step(&mut t, 0.01);
    let elapsed = t.cx().elapsed(physics, Clock::Real);
    assert_eq!(elapsed, Ok(ms(240)), "what was forgiven is the frame's");
    let report = t.rt.tick_secs(&mut t.host, 8.0).unwrap();
    assert_eq!(report.forgiven.as_secs(), 8);
    t.cx().destroy_world(world);
    assert!(!t.cx().is_world_alive(physics));
}

#[test]
fn ready_made_deltas_of_a_step_are_taken_as_they_are() {
    let mut t = start();
    let physics = stepping(&mut t, "physics");
    let world = t.world;
    let mut asked = Vec::new();
    let made = WorldDelta {
        dilated: ms(10),
        through_pause: ms(10),
        real: ms(40),
        paused: false,
    };
    t.rt.begin_step_with(&mut t.host, 0.01, |id| {
        asked.push(id);
        Some(made)
    })
    .unwrap();
    t.rt.run_through(&mut t.host, Stage::Console).unwrap();
    t.rt.end_frame(&mut t.host).unwrap();
    assert_eq!(asked, [physics]);
    assert!(!asked.contains(&world));
    let readings = t.cx().readings(physics).unwrap();
    assert_eq!(readings.elapsed, [ms(10), ms(40), ms(10), ms(40)]);
}

#[test]
fn a_panic_in_a_step_ends_the_step_only() {
    let mut t = start();
    let physics = stepping(&mut t, "physics");
    let _usual = spawn(&mut t, Probe::new("usual"));
    let _bad = spawn_in(
        &mut t,
        physics,
        Probe::new("bad").on_tick(|_| panic!("boom")),
    );
    let _good = spawn_in(&mut t, physics, Probe::new("good"));
    t.rt.begin_frame(&mut t.host, 0.1).unwrap();
    let panicked = panic_of(|| t.rt.step(&mut t.host, 0.1));
    assert_eq!(panicked, "boom");
    assert!(!t.rt.is_stepping());
    t.rt.run_through(&mut t.host, Stage::Console).unwrap();
    t.rt.end_frame(&mut t.host).unwrap();
    step(&mut t, 0.1);
    assert_eq!(log(&t), ["tick bad", "tick usual", "tick good"]);
}

#[test]
fn a_world_destroyed_in_its_step_ends_there_and_the_others_go_on() {
    let mut t = start();
    let (a, b) = (stepping(&mut t, "a"), stepping(&mut t, "b"));
    let killer = Probe::new("killer").on_tick(move |cx| {
        cx.destroy_world(a);
    });
    let _killer = spawn_in(&mut t, a, killer);
    let _victim = spawn_in(&mut t, a, Probe::new("victim"));
    let _other = spawn_in(&mut t, b, Probe::new("other"));
    step(&mut t, 0.1);
    assert_eq!(
        log(&t),
        ["tick killer", "stop victim", "stop killer", "tick other"]
    );
    step(&mut t, 0.1);
    assert_eq!(log(&t), ["tick other"]);
}
