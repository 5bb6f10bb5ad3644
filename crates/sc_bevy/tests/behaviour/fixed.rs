//! Worlds that step: a frame of their own for each of Bevy's fixed timesteps, on clocks that are Bevy's.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use crate::common::{app, bare, listen, log, report_texts, reports, say, updates};
use bevy_app::{App, FixedMain, FixedPostUpdate, FixedUpdate, PluginGroup, PreUpdate, Update};
use bevy_ecs::prelude::*;
use bevy_ecs::schedule::ScheduleLabel;
use bevy_time::{Fixed, Time, TimeUpdateStrategy, Virtual};
use sc_bevy::{
    BevyCx, Cooking, FixedCooking, FixedStageSystems, FlowCommands, FlowState, Flows,
    StillCookingPlugin, StillCookingPlugins, WorldCx,
};
use sc_core::{
    Clock, Cx, PanicPolicy, Readings, Stage, Tickable, WorldId, WorldKind, WorldOptions, secs,
};
use sc_flow::{Flow, FlowCx, FlowError, FlowFinish, FlowId};

/// Bevy's default timestep.
const STEP: Duration = Duration::from_micros(15_625);

/// A world that steps.
fn stepping(app: &mut App) -> WorldId {
    let options = WorldOptions::new(WorldKind::Game).name("fixed").steps(true);
    let made = app.world_mut().with_cx(|cx| cx.create_world(options).ok());
    made.ok().flatten().unwrap_or_default()
}

fn readings(app: &mut App, world: WorldId) -> Option<Readings> {
    let readings = app.world_mut().with_cx(|cx| cx.readings(world).ok());
    readings.ok().flatten()
}

fn elapsed(app: &mut App, world: WorldId) -> [Duration; 4] {
    readings(app, world).map_or([Duration::MAX; 4], |readings| readings.elapsed)
}

fn steps(app: &mut App, world: WorldId) -> u64 {
    readings(app, world).map_or(u64::MAX, |readings| readings.frame)
}

fn update_takes(app: &mut App, time: Duration) {
    app.insert_resource(TimeUpdateStrategy::ManualDuration(time));
}

fn story<F>(app: &mut App, name: &'static str, world: Option<WorldId>, body: F) -> FlowId
where
    F: AsyncFnOnce(FlowCx<World>) -> Result<(), FlowError> + 'static,
{
    let started = app.world_mut().with_cx(|cx| {
        let world = world.or(cx.app_world()).unwrap_or_default();
        let flow = Flow::new(name).world(world);
        let flow = flow.on_finished(move |cx: &mut Cx<'_, World>, finish| {
            say(cx.host_mut(), format!("{name} {finish:?}"));
        });
        flow.spawn(cx, body).ok()
    });
    let Ok(Some(flow)) = started else {
        unreachable!("{name} was refused")
    };
    flow
}

#[test]
fn the_clocks_go_by_the_timestep_exactly_whatever_the_updates_take() {
    let mut app = app();
    let world = stepping(&mut app);
    // Odd ones, on both sides of the step, and one in which no time passes.
    let odd = [
        1, 16_666_667, 15_625_000, 0, 31_250_001, 7_777_777, 99_999_999,
    ];
    let mut total = Duration::ZERO;
    for _ in 0..300 {
        for nanos in odd {
            let time = Duration::from_nanos(nanos);
            total += time;
            update_takes(&mut app, time);
            app.update();
        }
    }
    let bevys = app.world().resource::<Time<Fixed>>().elapsed();
    assert_eq!(total, Duration::from_nanos(51_395_833_500));
    assert_eq!(bevys, STEP * 3289, "and 4.9 ms are left");
    assert_eq!(elapsed(&mut app, world), [bevys; 4]);
    assert_eq!(steps(&mut app, world), 3289);
}

#[test]
fn the_unscaled_clocks_are_what_a_step_took_in_real_time() {
    for (speed, took) in [
        (0.5, Duration::from_micros(31_250)),
        (2.0, Duration::from_nanos(7_812_500)),
    ] {
        let mut app = app();
        let world = stepping(&mut app);
        app.world_mut()
            .resource_mut::<Time<Virtual>>()
            .set_relative_speed_f64(speed);
        update_takes(&mut app, took);
        updates(&mut app, 64);
        let game = Duration::from_secs(1);
        let real = took * 64;
        assert_eq!(elapsed(&mut app, world), [game, real, game, real]);
    }
}

#[test]
fn what_a_step_took_adds_up_when_a_speed_does_not_divide() {
    let mut app = app();
    let world = stepping(&mut app);
    app.world_mut()
        .resource_mut::<Time<Virtual>>()
        .set_relative_speed_f64(3.0);
    update_takes(&mut app, Duration::from_secs(1) / 64);
    updates(&mut app, 1000);
    // 3000 steps at a third of 15.625 ms each: 5.208333.. ms.
    let (game, real) = (STEP * 3000, Duration::from_nanos(15_625_000_000));
    assert_eq!(elapsed(&mut app, world), [game, real, game, real]);
}

#[test]
fn a_hitch_is_several_steps_in_one_update_and_a_short_update_none() {
    let mut app = app();
    let world = stepping(&mut app);
    update_takes(&mut app, Duration::from_millis(100));
    app.update();
    assert_eq!(steps(&mut app, world), 6);
    update_takes(&mut app, Duration::from_micros(1));
    app.update();
    assert_eq!(steps(&mut app, world), 6);
    update_takes(&mut app, Duration::from_secs(10));
    app.update();
    // Bevy hands out 250 ms of them, after 6.251 ms that were left.
    assert_eq!(steps(&mut app, world), 22);
    assert_eq!(elapsed(&mut app, world), [STEP * 22; 4]);
}

#[test]
fn a_pause_has_no_steps_at_all_and_speed_zero_neither() {
    let mut app = app();
    let world = stepping(&mut app);
    app.world_mut().resource_mut::<Time<Virtual>>().pause();
    updates(&mut app, 4);
    assert_eq!(steps(&mut app, world), 0);
    let mut time = app.world_mut().resource_mut::<Time<Virtual>>();
    time.unpause();
    time.set_relative_speed(0.0);
    updates(&mut app, 4);
    assert_eq!(steps(&mut app, world), 0);
    app.world_mut()
        .resource_mut::<Time<Virtual>>()
        .set_relative_speed(1.0);
    update_takes(&mut app, STEP);
    app.update();
    assert_eq!(elapsed(&mut app, world), [STEP; 4]);
}

#[test]
fn steps_that_are_due_when_a_step_sets_the_pause_are_taken_and_count() {
    let mut app = app();
    let world = stepping(&mut app);
    app.add_systems(FixedUpdate, |mut time: ResMut<Time<Virtual>>| time.pause());
    update_takes(&mut app, STEP * 3);
    app.update();
    assert_eq!(elapsed(&mut app, world), [STEP * 3; 4]);
    updates(&mut app, 2);
    assert_eq!(elapsed(&mut app, world), [STEP * 3; 4]);
    assert_eq!(app.world().resource::<Time<Fixed>>().elapsed(), STEP * 3);
}

#[test]
fn a_speed_that_a_step_sets_counts_from_bevys_next_delta_on() {
    let mut app = app();
    let world = stepping(&mut app);
    app.add_systems(FixedUpdate, |mut time: ResMut<Time<Virtual>>| {
        time.set_relative_speed(0.5);
    });
    update_takes(&mut app, STEP * 2);
    app.update();
    assert_eq!(elapsed(&mut app, world), [STEP * 2; 4]);
    app.update();
    let (game, real) = (STEP * 3, STEP * 4);
    assert_eq!(elapsed(&mut app, world), [game, real, game, real]);
}

#[test]
fn a_worlds_own_pause_and_dilation_come_on_top() {
    let mut app = app();
    let world = stepping(&mut app);
    update_takes(&mut app, STEP);
    let set = app.world_mut().with_cx(|cx| cx.set_dilation(world, 0.5));
    assert_eq!(set, Ok(Ok(())));
    updates(&mut app, 4);
    let set = app.world_mut().with_cx(|cx| cx.set_paused(world, true));
    assert_eq!(set, Ok(Ok(())));
    updates(&mut app, 4);
    assert_eq!(
        elapsed(&mut app, world),
        [STEP * 2, STEP * 4, STEP * 4, STEP * 8]
    );
}

#[test]
fn a_changed_timestep_is_the_next_delta() {
    let mut app = app();
    let world = stepping(&mut app);
    let fifth = Duration::from_millis(50);
    app.world_mut()
        .resource_mut::<Time<Fixed>>()
        .set_timestep(fifth);
    app.update();
    assert_eq!(steps(&mut app, world), 5);
    assert_eq!(elapsed(&mut app, world), [fifth * 5; 4]);
}

#[test]
fn next_tick_counts_steps_in_a_world_that_steps_and_updates_elsewhere() {
    let mut app = app();
    let world = stepping(&mut app);
    for (name, world) in [("steps", Some(world)), ("updates", None)] {
        story(&mut app, name, world, async move |fx| {
            for n in 1..=3 {
                fx.with(|cx| say(cx.host_mut(), format!("{name} {n}")))?;
                fx.next_tick().await?;
            }
            Ok(())
        });
    }
    update_takes(&mut app, STEP * 2);
    app.update();
    assert_eq!(log(&mut app), ["steps 1", "steps 2", "updates 1"]);
    app.update();
    assert_eq!(log(&mut app), ["steps 3", "steps Completed", "updates 2"]);
}

#[test]
fn a_delay_ends_in_the_step_that_reaches_it() {
    let mut app = app();
    let world = stepping(&mut app);
    story(&mut app, "story", Some(world), async move |fx| {
        fx.delay(secs(0.0625)).await?;
        fx.with(|cx| {
            let elapsed = cx.elapsed(world, Clock::Game);
            let delta = cx.delta();
            say(cx.host_mut(), format!("{elapsed:?} {delta:?}"));
        })
    });
    update_takes(&mut app, Duration::from_millis(200));
    app.update();
    assert_eq!(
        log(&mut app),
        ["Ok(62.5ms) 15.625ms", "story Completed"],
        "of the 12 steps of that update the fourth"
    );
}

#[test]
fn flows_of_both_kinds_await_each_other() {
    let mut app = app();
    let world = stepping(&mut app);
    let in_step = story(&mut app, "step", Some(world), async |fx| {
        fx.ticks(3).await?;
        Ok(())
    });
    let in_frame = story(&mut app, "frame", None, async |fx| {
        fx.ticks(1).await?;
        Ok(())
    });
    story(&mut app, "awaits step", None, async move |fx| {
        fx.flow(in_step).await?;
        Ok(())
    });
    story(&mut app, "awaits frame", Some(world), async move |fx| {
        fx.flow(in_frame).await?;
        Ok(())
    });
    update_takes(&mut app, STEP * 4);
    app.update();
    assert_eq!(
        log(&mut app),
        ["step Completed", "awaits step Completed"],
        "what ends in the steps is known in the frame of the update"
    );
    app.update();
    assert_eq!(log(&mut app), ["frame Completed"]);
    app.update();
    assert_eq!(
        log(&mut app),
        ["awaits frame Completed"],
        "and the other way round in the next update that has a step"
    );
}

#[test]
fn what_is_asked_for_in_fixed_update_has_its_first_turn_in_that_step() {
    let mut app = app();
    let world = stepping(&mut app);
    app.add_systems(
        FixedUpdate,
        move |mut commands: Commands, time: Res<Time>, mut steps: Local<u32>| {
            *steps += 1;
            let (step, delta) = (*steps, time.delta());
            if step > 2 {
                return;
            }
            commands.with_cx(move |cx| {
                let flow = Flow::new("asked").world(world);
                let started = flow.spawn(cx, async move |fx| {
                    fx.with(|cx| {
                        let same = cx.delta() == delta;
                        let frame = cx.readings(world).map(|now| now.frame);
                        say(cx.host_mut(), format!("{step} {frame:?} {same}"));
                    })
                });
                assert!(started.is_ok());
            });
        },
    );
    update_takes(&mut app, STEP * 3);
    app.update();
    assert_eq!(log(&mut app), ["1 Ok(1) true", "2 Ok(2) true"]);
}

#[test]
fn a_system_that_a_flow_of_a_step_runs_asks_and_is_answered_in_the_next_stage() {
    fn ask(flows: Flows) {
        flows.start("asked", async |fx| fx.with(|cx| say(cx.host_mut(), "main")));
    }
    let mut app = app();
    let world = stepping(&mut app);
    story(&mut app, "story", Some(world), async |fx| {
        fx.with(|cx| cx.run_system(ask, ()).is_ok())?;
        Ok(())
    });
    update_takes(&mut app, STEP);
    app.update();
    assert_eq!(
        log(&mut app),
        ["story Completed", "main"],
        "the frame of that update had not begun"
    );
}

#[test]
fn two_worlds_step_stage_by_stage_in_order_of_creation() {
    struct Says(&'static str);
    impl Tickable<World> for Says {
        fn tick(&mut self, cx: &mut Cx<'_, World>) {
            say(cx.host_mut(), self.0);
        }
    }
    let mut app = app();
    let (a, b) = (stepping(&mut app), stepping(&mut app));
    for (world, tick, flow) in [(b, "tick b", "flow b"), (a, "tick a", "flow a")] {
        story(&mut app, flow, Some(world), async move |fx| {
            fx.with(|cx| say(cx.host_mut(), flow))
        });
        let spawned = app
            .world_mut()
            .with_cx(|cx| cx.spawn_world_owned(world, Says(tick)).is_ok());
        assert_eq!(spawned, Ok(true));
    }
    update_takes(&mut app, STEP);
    app.update();
    assert_eq!(
        log(&mut app),
        [
            "tick a",
            "tick b",
            "flow a",
            "flow a Completed",
            "flow b",
            "flow b Completed"
        ]
    );
    assert_eq!(elapsed(&mut app, a), elapsed(&mut app, b));
}

#[test]
fn the_end_of_a_world_that_steps_ends_what_is_in_it_and_the_steps_go_on() {
    let mut app = app();
    let (doomed, other) = (stepping(&mut app), stepping(&mut app));
    story(&mut app, "doomed", Some(doomed), async |fx| {
        fx.delay(secs(60)).await?;
        Ok(())
    });
    story(&mut app, "killer", Some(other), async move |fx| {
        fx.ticks(2).await?;
        fx.with(|cx| cx.destroy_world(doomed))?;
        Ok(())
    });
    update_takes(&mut app, STEP * 5);
    app.update();
    assert_eq!(log(&mut app), ["killer Completed", "doomed Aborted"]);
    assert_eq!(readings(&mut app, doomed), None);
    assert_eq!(steps(&mut app, other), 5);
    let gone = app.world_mut().with_cx(|cx| cx.destroy_world(other));
    assert_eq!(gone, Ok(true));
    updates(&mut app, 2);
    assert_eq!(reports(&app), [""; 0]);
}

#[test]
fn an_entity_ends_its_flows_in_a_world_that_steps_too() {
    let mut app = app();
    let world = stepping(&mut app);
    let bomb = app.world_mut().spawn_empty().id();
    let started = app.world_mut().with_cx(|cx| {
        let owner = cx.entity_owner(bomb).ok()?;
        let flow = Flow::new("fuse").world(world).owner(owner);
        let flow = flow.on_finished(|cx: &mut Cx<'_, World>, finish: FlowFinish| {
            say(cx.host_mut(), format!("{finish:?}"));
        });
        flow.spawn(cx, async |fx| {
            loop {
                fx.next_tick().await?;
                fx.with(|cx| say(cx.host_mut(), "tick"))?;
            }
        })
        .ok()
    });
    assert!(matches!(started, Ok(Some(_))));
    app.add_systems(
        FixedUpdate,
        move |mut commands: Commands, mut n: Local<u32>| {
            *n += 1;
            if *n == 3 {
                commands.entity(bomb).despawn();
            }
        },
    );
    update_takes(&mut app, STEP * 6);
    app.update();
    assert_eq!(log(&mut app), ["tick", "Aborted"], "before the third step");
}

#[test]
fn systems_are_ordered_against_the_stages_of_a_step_and_stages_can_be_placed() {
    let mut app = bare();
    let plugin = StillCookingPlugin::default()
        .place(Stage::Begin, PreUpdate)
        .place(Stage::Timers, PreUpdate)
        .place_fixed(Stage::PostUpdate, FixedPostUpdate)
        .place_fixed(Stage::Worldless, FixedPostUpdate)
        .place_fixed(Stage::Console, FixedPostUpdate)
        .place_fixed(Stage::End, FixedPostUpdate);
    app.add_plugins(StillCookingPlugins.set(plugin));
    listen(&mut app);
    app.update();
    let world = stepping(&mut app);
    app.add_systems(
        FixedCooking,
        (
            (|world: &mut World| say(world, "before")).before(FixedStageSystems(Stage::Flows)),
            (|world: &mut World| say(world, "after")).after(FixedStageSystems(Stage::Flows)),
        ),
    );
    app.add_systems(
        FixedPostUpdate,
        (|world: &mut World| say(world, "last")).after(FixedStageSystems(Stage::End)),
    );
    app.add_systems(Update, |world: &mut World| say(world, "update"));
    story(&mut app, "story", Some(world), async |fx| {
        fx.with(|cx| say(cx.host_mut(), "flow"))?;
        fx.next_tick().await?;
        Ok(())
    });
    update_takes(&mut app, STEP * 2);
    app.update();
    let first = ["before", "flow", "after", "last"];
    let second = ["before", "story Completed", "after", "last"];
    assert_eq!(
        log(&mut app),
        [first.as_slice(), &second, &["update"]].concat(),
        "inside the frame, which has begun in `PreUpdate`"
    );
    assert_eq!(steps(&mut app, world), 2);
    let frames = app.world_mut().with_cx(|cx| cx.frame());
    assert_eq!(frames, Ok(2));
}

#[test]
#[should_panic(expected = "stage End is placed in FixedFirst, which runs before stage Console")]
fn a_placement_that_breaks_the_order_of_a_step_is_an_error_when_the_app_is_built() {
    let mut app = bare();
    let plugin = StillCookingPlugin::default().place_fixed(Stage::End, bevy_app::FixedFirst);
    app.add_plugins(StillCookingPlugins.set(plugin));
    app.finish();
}

#[test]
#[should_panic(expected = "which is no schedule of the fixed main loop")]
fn a_placement_outside_the_fixed_loop_is_an_error_when_the_app_is_built() {
    let mut app = bare();
    let plugin = StillCookingPlugin::default().place_fixed(Stage::End, Update);
    app.add_plugins(StillCookingPlugins.set(plugin));
    app.finish();
}

#[test]
fn a_world_that_is_made_to_step_in_a_step_begins_with_the_next() {
    let mut app = app();
    let first = stepping(&mut app);
    let handle = app.world_mut().commands().flow("idle", async |_| Ok(()));
    app.update();
    assert_eq!(handle.state(), FlowState::Ended(FlowFinish::Completed));
    story(&mut app, "maker", Some(first), async |fx| {
        fx.with(|cx| {
            let options = WorldOptions::new(WorldKind::Game).name("late").steps(true);
            cx.create_world(options).is_ok()
        })?;
        Ok(())
    });
    update_takes(&mut app, STEP * 3);
    app.update();
    let frames = app.world_mut().with_cx(|cx| {
        let late = cx
            .runtime()
            .world_list()
            .into_iter()
            .find(|w| w.name == "late");
        late.and_then(|late| cx.readings(late.id).ok())
            .map(|now| now.frame)
    });
    assert_eq!(frames, Ok(Some(2)));
}

#[test]
fn an_isolated_panic_in_a_step_is_a_report_and_the_steps_go_on() {
    let mut app = app();
    let world = stepping(&mut app);
    let set = app
        .world_mut()
        .with_runtime(|runtime| runtime.set_panic_policy(PanicPolicy::Isolate));
    assert_eq!(set, Ok(()));
    story(&mut app, "faulty", Some(world), async |fx| {
        fx.next_tick().await?;
        panic!("oops")
    });
    update_takes(&mut app, STEP * 4);
    app.update();
    assert_eq!(log(&mut app), ["faulty Panicked"]);
    assert_eq!(reports(&app), ["Panicked"]);
    assert_eq!(steps(&mut app, world), 4);
}

#[test]
fn a_step_that_a_panic_left_open_is_given_up_when_the_frame_begins() {
    let mut app = app();
    let world = stepping(&mut app);
    story(&mut app, "faulty", Some(world), async |_| panic!("oops"));
    let step = AssertUnwindSafe(|| app.world_mut().run_schedule(FixedCooking));
    assert!(catch_unwind(step).is_err());
    let is_stepping = |app: &mut App| app.world_mut().with_runtime(|rt| rt.is_stepping());
    assert_eq!(is_stepping(&mut app), Ok(true));
    // Bevy has lost that schedule by the panic; the frame's own is still there.
    app.world_mut().run_schedule(Cooking);
    assert_eq!(is_stepping(&mut app), Ok(false));
    let frames = app.world_mut().with_cx(|cx| cx.frame());
    assert_eq!(frames, Ok(2));
}

#[test]
fn at_exit_the_worlds_that_step_end_too() {
    let mut app = app();
    let world = stepping(&mut app);
    story(&mut app, "long", Some(world), async |fx| {
        fx.delay(secs(60)).await
    });
    app.update();
    app.world_mut().write_message(bevy_app::AppExit::Success);
    app.update();
    assert_eq!(log(&mut app), ["long Aborted"]);
    updates(&mut app, 3);
    assert_eq!(readings(&mut app, world), None);
}

/// Runs a schedule in a flow.
fn run_in_a_flow(app: &mut App, schedule: impl ScheduleLabel) {
    app.world_mut().commands().flow("runs", async move |fx| {
        fx.with(|cx| cx.host_mut().run_schedule(schedule))
    });
    updates(app, 2);
}

#[test]
fn steps_that_a_flow_runs_itself_are_skipped_and_reported() {
    let mut app = app();
    app.add_systems(FixedUpdate, |world: &mut World| say(world, "fixed update"));
    updates(&mut app, 1);
    let usual = log(&mut app).len();
    run_in_a_flow(&mut app, FixedMain);
    assert_eq!(log(&mut app).len(), 2 * usual + 1, "the game's systems run");
    assert_eq!(
        report_texts(&app),
        [""; 0],
        "no world steps: nothing is missed"
    );
    let world = stepping(&mut app);
    run_in_a_flow(&mut app, FixedMain);
    let frames = readings(&mut app, world).map(|readings| readings.frame);
    assert_eq!(frames, Some(2 * 16), "without the one of the flow");
    let skipped = "a step: was skipped: its schedule was run by what the runtime itself was running; to fix: run the schedules of the main loop from a system or the app, not in a flow, a command or a tick";
    assert_eq!(report_texts(&app), [skipped]);
}

#[test]
fn a_frame_that_a_flow_begins_itself_is_skipped_and_reported() {
    let mut app = bare();
    let plugin = StillCookingPlugin::default().place(Stage::Begin, PreUpdate);
    app.add_plugins(StillCookingPlugins.set(plugin));
    listen(&mut app);
    app.update();
    run_in_a_flow(&mut app, PreUpdate);
    assert_eq!(app.world_mut().with_cx(|cx| cx.frame()), Ok(3));
    assert_eq!(reports(&app), ["FrameSkipped"]);
}
