//! The frame: its stages in order, its pieces and what they refuse, and what runs in `Begin`.

use std::time::Duration;

use crate::probe::{
    Game, Log, Probe, Test, log, ms, spawn, spawn_in, spawn_worldless, start, world,
};
use sc_core::{
    Clock, Cx, Extension, FrameError, Stage, TickError, TickGroup, TickSettings, TimeError,
    WorldDelta, secs,
};

/// Logs every stage, as one line a runtime.
fn log_stages(t: &mut Test) {
    let e = Extension::<Game>::new("log stages")
        .on_runtime_stage(Stage::Begin, |cx| cx.host().log.add("Begin"))
        .on_runtime_stage(Stage::Timers, |cx| cx.host().log.add("Timers"))
        .on_runtime_stage(Stage::PrePhysics, |cx| cx.host().log.add("PrePhysics"))
        .on_runtime_stage(Stage::DuringPhysics, |cx| {
            cx.host().log.add("DuringPhysics");
        })
        .on_runtime_stage(Stage::PostPhysics, |cx| cx.host().log.add("PostPhysics"))
        .on_runtime_stage(Stage::Flows, |cx| cx.host().log.add("Flows"))
        .on_runtime_stage(Stage::PostUpdate, |cx| cx.host().log.add("PostUpdate"))
        .on_runtime_stage(Stage::Worldless, |cx| cx.host().log.add("Worldless"))
        .on_runtime_stage(Stage::Console, |cx| cx.host().log.add("Console"))
        .on_runtime_stage(Stage::End, |cx| cx.host().log.add("End"));
    assert!(t.cx().install(e));
}

/// One object in every group, the last group first, and a worldless one.
fn one_in_every_group(t: &mut Test) -> Vec<sc_core::Owner<Probe>> {
    let mut owners = vec![spawn_worldless(t, Probe::new("worldless"))];
    for (name, group) in [
        ("update", TickGroup::PostUpdate),
        ("post", TickGroup::PostPhysics),
        ("during", TickGroup::DuringPhysics),
        ("pre", TickGroup::PrePhysics),
    ] {
        owners.push(spawn(t, Probe::new(name).group(group)));
    }
    owners
}

const WHOLE_FRAME: [&str; 15] = [
    "Begin",
    "Timers",
    "tick pre",
    "PrePhysics",
    "tick during",
    "DuringPhysics",
    "tick post",
    "PostPhysics",
    "Flows",
    "tick update",
    "PostUpdate",
    "tick worldless",
    "Worldless",
    "Console",
    "End",
];

#[test]
fn the_stages_run_in_order_with_the_tickables_of_their_group() {
    let mut t = start();
    log_stages(&mut t);
    let _owners = one_in_every_group(&mut t);
    t.tick(0.1);
    assert_eq!(log(&t), WHOLE_FRAME);
}

#[test]
fn the_default_group_is_post_physics() {
    assert_eq!(TickSettings::default().group, TickGroup::PostPhysics);
    assert_eq!(TickGroup::default(), TickGroup::PostPhysics);
}

#[test]
fn tick_is_exactly_begin_all_stages_end() {
    let mut t = start();
    log_stages(&mut t);
    let _owners = one_in_every_group(&mut t);
    t.rt.begin_frame(&mut t.host, 0.1).unwrap();
    for stage in &Stage::ALL[1..9] {
        t.rt.run_stage(&mut t.host, *stage).unwrap();
    }
    let report = t.rt.end_frame(&mut t.host).unwrap();
    assert_eq!(log(&t), WHOLE_FRAME);
    assert_eq!((report.frame, report.ticks), (1, 5));
    let report = t.tick(0.1);
    assert_eq!(log(&t), WHOLE_FRAME);
    assert_eq!((report.frame, report.ticks), (2, 5));
}

#[test]
fn run_through_runs_every_stage_up_to_one() {
    let mut t = start();
    log_stages(&mut t);
    t.rt.begin_frame(&mut t.host, 0.1).unwrap();
    assert_eq!(log(&t), ["Begin"]);
    t.rt.run_through(&mut t.host, Stage::PrePhysics).unwrap();
    assert_eq!(log(&t), ["Timers", "PrePhysics"]);
    t.rt.run_stage(&mut t.host, Stage::DuringPhysics).unwrap();
    t.rt.run_through(&mut t.host, Stage::Console).unwrap();
    t.rt.end_frame(&mut t.host).unwrap();
}

#[test]
fn a_frame_is_stage_major_with_worlds_in_creation_order() {
    fn say(cx: &mut Cx<'_, Game>, stage: &str) {
        let name = cx.world_info(cx.world().unwrap()).unwrap().name;
        cx.host().log.add(format!("{stage} {name}"));
    }
    let mut t = start();
    let e = Extension::<Game>::new("worlds")
        .on_world_stage(Stage::Begin, |cx| say(cx, "Begin"))
        .on_world_stage(Stage::Timers, |cx| say(cx, "Timers"))
        .on_world_stage(Stage::PostPhysics, |cx| say(cx, "PostPhysics"))
        .on_world_stage(Stage::End, |cx| say(cx, "End"));
    t.cx().install(e);
    let second = world(&mut t, "second");
    let _b = spawn_in(&mut t, second, Probe::new("b"));
    let _a = spawn(&mut t, Probe::new("a"));
    t.tick(0.1);
    assert_eq!(
        log(&t),
        [
            "Begin game 1",
            "Begin second",
            "Timers game 1",
            "Timers second",
            "tick a",
            "PostPhysics game 1",
            "tick b",
            "PostPhysics second",
            "End game 1",
            "End second",
        ]
    );
}

#[test]
fn a_piece_out_of_order_is_refused_and_runs_nothing() {
    let mut t = start();
    log_stages(&mut t);
    let none = FrameError::NoFrame;
    assert_eq!(
        t.rt.run_stage(&mut t.host, Stage::Timers),
        Err(none.clone())
    );
    assert_eq!(
        t.rt.run_through(&mut t.host, Stage::Flows),
        Err(none.clone())
    );
    assert_eq!(t.rt.end_frame(&mut t.host), Err(none));

    t.rt.begin_frame(&mut t.host, 0.1).unwrap();
    log(&t);
    let order = |expected, asked| FrameError::StageOrder { expected, asked };
    for asked in [Stage::Begin, Stage::PrePhysics, Stage::End] {
        assert_eq!(
            t.rt.run_stage(&mut t.host, asked),
            Err(order(Stage::Timers, asked))
        );
    }
    for asked in [Stage::Begin, Stage::End] {
        assert_eq!(
            t.rt.run_through(&mut t.host, asked),
            Err(order(Stage::Timers, asked))
        );
    }
    assert_eq!(
        t.rt.end_frame(&mut t.host),
        Err(order(Stage::Timers, Stage::End))
    );
    t.rt.run_through(&mut t.host, Stage::Flows).unwrap();
    assert_eq!(
        t.rt.run_stage(&mut t.host, Stage::Timers),
        Err(order(Stage::PostUpdate, Stage::Timers)),
        "a stage runs once a frame"
    );
    assert_eq!(
        t.rt.run_through(&mut t.host, Stage::Flows),
        Err(order(Stage::PostUpdate, Stage::Flows))
    );
    log(&t);
    t.rt.run_through(&mut t.host, Stage::Console).unwrap();
    assert_eq!(
        t.rt.run_stage(&mut t.host, Stage::End),
        Err(order(Stage::End, Stage::End)),
        "the end has a call of its own"
    );
    t.rt.end_frame(&mut t.host).unwrap();
    assert_eq!(
        log(&t),
        ["PostUpdate", "Worldless", "Console", "End"],
        "nothing ran twice, nothing was left out"
    );
}

#[test]
fn a_frame_cannot_begin_while_one_is_open() {
    let mut t = start();
    let a = spawn(&mut t, Probe::new("a"));
    t.rt.begin_frame(&mut t.host, 0.1).unwrap();
    let open = FrameError::AlreadyTicking;
    assert_eq!(t.rt.tick(&mut t.host, ms(100)), Err(open.clone()));
    assert_eq!(t.rt.tick_secs(&mut t.host, 0.1), Err(open.clone()));
    assert_eq!(t.rt.begin_frame(&mut t.host, 0.1), Err(open.clone()));
    assert_eq!(t.rt.begin_frame_with(&mut t.host, 0.1, |_| None), Err(open));
    let w = t.world;
    assert_eq!(t.cx().elapsed(w, Clock::Real), Ok(ms(100)));
    t.rt.run_through(&mut t.host, Stage::Console).unwrap();
    t.rt.end_frame(&mut t.host).unwrap();
    assert_eq!(t.rt.frame_number(), 1);
    assert_eq!(crate::probe::deltas(&mut t, &a), [100]);
}

#[test]
fn a_delta_that_is_no_time_is_refused_and_nothing_ran_nothing_changed() {
    let mut t = start();
    log_stages(&mut t);
    let _a = spawn(&mut t, Probe::new("a"));
    t.tick(0.25);
    log(&t);
    t.rt.poster()
        .post(|cx| cx.host().log.add("posted"))
        .unwrap();
    t.cx().forgive_elapsed();
    for (bad, why) in [
        (
            f64::INFINITY,
            TimeError::Infinite {
                seconds: f64::INFINITY,
            },
        ),
        (
            f64::NEG_INFINITY,
            TimeError::Infinite {
                seconds: f64::NEG_INFINITY,
            },
        ),
        (-0.001, TimeError::Negative { seconds: -0.001 }),
        (2e10, TimeError::OutOfRange { seconds: 2e10 }),
        (f64::MAX, TimeError::OutOfRange { seconds: f64::MAX }),
        (f64::NAN, TimeError::NotANumber),
    ] {
        let refused = FrameError::BadDelta(why);
        assert_eq!(t.rt.tick_secs(&mut t.host, bad), Err(refused.clone()));
        assert_eq!(t.rt.begin_frame(&mut t.host, bad), Err(refused.clone()));
        assert_eq!(
            t.rt.begin_frame_with(&mut t.host, bad, |_| None),
            Err(refused)
        );
    }
    assert!(matches!(
        t.rt.tick(&mut t.host, Duration::MAX),
        Err(FrameError::BadDelta(TimeError::OutOfRange { .. }))
    ));
    assert!(log(&t).is_empty(), "nothing ran");
    assert_eq!(t.rt.frame_number(), 1);
    let w = t.world;
    assert_eq!(t.cx().elapsed(w, Clock::Game), Ok(ms(250)));
    assert_eq!(t.cx().runtime_elapsed(), ms(250));
    assert_eq!(
        t.rt.run_stage(&mut t.host, Stage::Timers),
        Err(FrameError::NoFrame),
        "no frame was left open"
    );
    let report = t.tick(0.5);
    assert_eq!((report.frame, report.forgiven), (2, ms(500)));
    assert_eq!(log(&t)[..2], ["posted", "Begin"], "what waited still came");
}

#[test]
fn zero_is_a_delta() {
    let mut t = start();
    let a = spawn(&mut t, Probe::new("a"));
    assert_eq!(t.tick(0.0).ticks, 1);
    assert_eq!(t.tick(-0.0).ticks, 1);
    assert_eq!(crate::probe::deltas(&mut t, &a), [0, 0]);
}

#[test]
fn outside_callbacks_a_cx_has_no_world_and_no_delta() {
    let mut t = start();
    t.tick(0.1);
    let mut cx = t.cx();
    assert_eq!(cx.world(), None);
    assert_eq!(cx.delta(), Duration::ZERO);
    assert_eq!(cx.delta_secs(), 0.0);
    assert_eq!(cx.current_object(), None);
    let a = cx.spawn(Probe::new("a"));
    assert_eq!(
        cx.initialize(&a, cx.world()),
        Err(TickError::NoLiveWorld {
            object: "a".to_owned()
        })
    );
}

#[test]
fn inside_a_tick_the_cx_has_the_world_the_delta_and_the_object() {
    let mut t = start();
    let other = world(&mut t, "other");
    let _a = spawn_in(
        &mut t,
        other,
        Probe::new("a").on_tick(move |cx| {
            assert_eq!(cx.world(), Some(other));
            assert_eq!(cx.delta_secs(), 0.5);
            assert_eq!(cx.current_object(), Some(cx.host().id("a")));
            assert_eq!(cx.frame(), 1);
            cx.host().log.add("checked");
        }),
    );
    t.tick(0.5);
    assert_eq!(log(&t), ["tick a", "checked"]);
}

#[test]
fn events_have_a_world_and_no_delta() {
    let mut t = start();
    let here = t.world;
    let check = move |cx: &mut Cx<'_, Game>| {
        assert_eq!(cx.world(), Some(here));
        assert_eq!(cx.delta(), Duration::ZERO);
    };
    let a = spawn(&mut t, Probe::new("a").on_init(check).on_stop(check));
    t.tick(0.5);
    a.shutdown(&mut t.cx()).unwrap();
    assert_eq!(log(&t), ["tick a", "stop a"]);
}

#[test]
fn a_delta_is_there_during_the_frame_and_zero_between_frames() {
    let mut t = start();
    let here = t.world;
    t.cx().set_dilation(here, 2.0).unwrap();
    t.rt.begin_frame(&mut t.host, 0.1).unwrap();
    let during = Clock::ALL.map(|c| t.cx().world_delta(here, c).unwrap());
    assert_eq!(during, [ms(200), ms(100), ms(200), ms(100)]);
    t.rt.run_through(&mut t.host, Stage::Console).unwrap();
    t.rt.end_frame(&mut t.host).unwrap();
    let between = Clock::ALL.map(|c| t.cx().world_delta(here, c).unwrap());
    assert_eq!(between, [Duration::ZERO; 4]);
}

#[test]
fn worldless_objects_go_by_the_runtimes_own_real_clock() {
    let mut t = start();
    let w = t.world;
    let a = spawn_worldless(&mut t, Probe::new("a"));
    let slow = spawn_worldless(&mut t, Probe::new("slow").interval(secs(0.5)));
    t.cx().set_paused(w, true).unwrap();
    t.cx().set_dilation(w, 0.0).unwrap();
    t.ticks(0.25, 3);
    assert_eq!(crate::probe::deltas(&mut t, &a), [250, 250, 250]);
    assert_eq!(crate::probe::deltas(&mut t, &slow), [500]);
    assert_eq!(t.cx().runtime_elapsed(), ms(750));
    t.rt.set_max_delta(Some(secs(0.1))).unwrap();
    t.tick(0.25);
    assert_eq!(t.cx().runtime_elapsed(), ms(850));
}

#[test]
fn a_worldless_objects_pass_is_the_whole_frame() {
    let mut t = start();
    let log_ = t.host.log.clone();
    let _early = spawn(
        &mut t,
        Probe::new("early")
            .group(TickGroup::PrePhysics)
            .on_tick(|cx| {
                if !cx.host().owners.contains_key("new") {
                    let new = cx.spawn_worldless(Probe::new("new"));
                    cx.initialize(&new, None).unwrap();
                    cx.host_mut().owners.insert("new", new);
                }
            }),
    );
    t.tick(0.1);
    assert_eq!(log_.take(), ["tick early", "init new"]);
    t.tick(0.1);
    assert_eq!(log_.take(), ["tick early", "tick new"]);
}

#[test]
fn a_host_that_owns_time_hands_in_ready_made_deltas_a_world() {
    let mut t = start();
    let (here, other) = (t.world, world(&mut t, "other"));
    let third = world(&mut t, "third");
    let a = spawn(&mut t, Probe::new("a"));
    t.rt.set_max_delta(Some(secs(0.1))).unwrap();
    t.cx().set_dilation(here, 4.0).unwrap();
    t.cx().set_dilation(third, 0.5).unwrap();
    t.cx().forgive_elapsed();
    let frame = |t: &mut Test| {
        t.rt.begin_frame_with(&mut t.host, 0.25, |w| {
            let ready = |dilated, real, paused| {
                Some(WorldDelta {
                    dilated: ms(dilated),
                    through_pause: ms(dilated + 1),
                    real: ms(real),
                    paused,
                })
            };
            match w {
                _ if w == here => ready(700, 300, false),
                _ if w == other => ready(700, 300, true),
                _ => None,
            }
        })
        .unwrap();
        t.rt.run_through(&mut t.host, Stage::Console).unwrap();
        t.rt.end_frame(&mut t.host).unwrap()
    };
    let report = frame(&mut t);
    assert_eq!(report.forgiven, ms(250), "of the deltas made here only");
    let readings = |t: &mut Test, w| Clock::ALL.map(|c| t.cx().elapsed(w, c).unwrap().as_millis());
    assert_eq!(readings(&mut t, here), [2800, 300, 2804, 300]);
    assert_eq!(readings(&mut t, other), [0, 0, 701, 300]);
    assert_eq!(readings(&mut t, third), [0, 0, 0, 0]);
    let report = frame(&mut t);
    assert_eq!((report.real_delta, report.clamped), (ms(100), ms(150)));
    assert_eq!(readings(&mut t, here), [5600, 600, 5608, 600]);
    assert_eq!(readings(&mut t, third), [50, 100, 50, 100]);
    assert_eq!(t.cx().runtime_elapsed(), ms(100));
    assert_eq!(crate::probe::deltas(&mut t, &a), [2800, 2800]);
}

#[test]
fn the_worlds_own_pause_counts_beside_the_hosts() {
    let mut t = start();
    let here = t.world;
    t.cx().set_paused(here, true).unwrap();
    let step = WorldDelta {
        dilated: ms(20),
        through_pause: ms(20),
        real: ms(20),
        paused: false,
    };
    t.rt.begin_frame_with(&mut t.host, 0.02, |_| Some(step))
        .unwrap();
    let readings = Clock::ALL.map(|c| t.cx().elapsed(here, c).unwrap().as_millis());
    assert_eq!(readings, [0, 0, 20, 20]);
}

#[test]
fn the_frame_report_counts_ticks_and_reports() {
    let mut t = start();
    let a = spawn(&mut t, Probe::new("a"));
    let b = spawn(&mut t, Probe::new("b"));
    let w = t.world;
    assert!(t.cx().initialize(&a, w).is_err());
    drop(b);
    let report = t.tick(0.1);
    assert_eq!((report.frame, report.ticks, report.reports), (1, 1, 2));
    let report = t.tick(0.1);
    assert_eq!((report.frame, report.ticks, report.reports), (2, 1, 0));
    assert_eq!(report.real_delta, ms(100));
    let log: Log = t.host.log.clone();
    assert_eq!(log.take(), ["tick a", "tick a"]);
}

#[test]
fn a_frame_is_open_from_begin_to_end() {
    fn note(cx: &mut Cx<'_, Vec<(bool, u64)>>) {
        let seen = (cx.in_frame(), cx.frame());
        cx.host_mut().push(seen);
    }
    let mut t = sc_core::testing::TestWorld::new(Vec::new());
    note(&mut t.cx());
    assert!(t.rt.poster().post(note).is_ok());
    let hooks = Extension::new("note")
        .on_runtime_stage(Stage::Begin, note)
        .on_runtime_stage(Stage::End, note);
    t.cx().install(hooks);
    t.tick(0.1);
    note(&mut t.cx());
    let inside = (true, 1);
    assert_eq!(t.host, [(false, 0), inside, inside, inside, (false, 1)]);
}
