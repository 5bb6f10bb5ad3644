//! Bevy's clocks are the runtime's: taken as they are, compared exactly.

use std::time::Duration;

use crate::common::{app, flow, listen, log, report_texts, say, updates, with};
use bevy_app::{App, First, PluginGroup, Update};
use bevy_ecs::prelude::*;
use bevy_time::{Real, Time, TimePlugin, TimeUpdateStrategy, Virtual};
use sc_bevy::{BevyCx, FlowCommands, FlowState, StillCookingPlugin, StillCookingPlugins, WorldCx};
use sc_core::{Clock, Cx, Stage, secs};
use sc_flow::{DoForDuration, Flow};

fn elapsed(app: &mut bevy_app::App, clock: Clock) -> Duration {
    let elapsed = app.world_mut().with_cx(|cx| {
        let world = cx.app_world()?;
        cx.elapsed(world, clock).ok()
    });
    elapsed.ok().flatten().unwrap_or(Duration::MAX)
}

#[test]
fn the_game_clock_is_bevys_virtual_clock_exactly() {
    let mut app = app();
    // A step and a speed that do not divide.
    let step = Duration::from_nanos(16_666_667);
    app.insert_resource(TimeUpdateStrategy::ManualDuration(step));
    app.world_mut()
        .resource_mut::<Time<Virtual>>()
        .set_relative_speed_f64(0.3);
    for _ in 0..1000 {
        app.update();
    }
    let (game, real) = (
        app.world().resource::<Time<Virtual>>().elapsed(),
        app.world().resource::<Time<Real>>().elapsed(),
    );
    assert_eq!(elapsed(&mut app, Clock::Game), game);
    assert_eq!(elapsed(&mut app, Clock::GameThroughPause), game);
    assert_eq!(elapsed(&mut app, Clock::Unscaled), real);
    assert_eq!(elapsed(&mut app, Clock::Real), real);
    let own = app.world_mut().with_cx(|cx| cx.runtime_elapsed());
    assert_eq!(own, Ok(real));
}

#[test]
fn an_app_in_which_no_time_passes_is_reported_once() {
    let mut app = App::new();
    app.add_plugins(StillCookingPlugins)
        .init_resource::<crate::common::Log>();
    listen(&mut app);
    let nap = flow(&mut app, "nap", async |fx| fx.delay(secs(1)).await);
    app.finish();
    assert_eq!(report_texts(&app), [""; 0], "it may still get a clock");
    updates(&mut app, 3);
    assert_eq!(
        report_texts(&app),
        [
            "time: does not pass: the app has no `Time<Virtual>`; to fix: add `TimePlugin` to the app, or `MinimalPlugins` or `DefaultPlugins`"
        ]
    );
    assert_eq!(nap.state(), FlowState::Running);
    // A clock of the game's own is one.
    let mut app = App::new();
    app.add_plugins(StillCookingPlugins)
        .insert_resource(Time::<Virtual>::default());
    listen(&mut app);
    updates(&mut app, 3);
    assert_eq!(report_texts(&app), [""; 0]);
}

#[test]
fn begin_in_first_takes_this_updates_time_whichever_plugin_comes_first() {
    for ours_first in [false, true] {
        let ours =
            StillCookingPlugins.set(StillCookingPlugin::default().place(Stage::Begin, First));
        let mut app = App::new();
        match ours_first {
            true => app.add_plugins(ours).add_plugins(TimePlugin),
            false => app.add_plugins(TimePlugin).add_plugins(ours),
        };
        let step = Duration::from_millis(100);
        app.insert_resource(TimeUpdateStrategy::ManualDuration(step));
        updates(&mut app, 3);
        assert_eq!(
            elapsed(&mut app, Clock::Game),
            Duration::from_millis(200),
            "ours first: {ours_first}"
        );
        app.world_mut().resource_mut::<Time<Virtual>>().pause();
        updates(&mut app, 2);
        assert_eq!(
            elapsed(&mut app, Clock::GameThroughPause),
            Duration::from_millis(400)
        );
    }
}

#[test]
fn a_hitch_is_clamped_as_bevy_clamps_it() {
    let mut app = app();
    app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs(10)));
    app.update();
    assert_eq!(elapsed(&mut app, Clock::Game), Duration::from_millis(250));
    assert_eq!(elapsed(&mut app, Clock::Real), Duration::from_secs(10));
}

#[test]
fn bevys_pause_is_the_worlds_pause() {
    let mut app = app();
    app.world_mut().resource_mut::<Time<Virtual>>().pause();
    app.world_mut()
        .resource_mut::<Time<Virtual>>()
        .set_relative_speed(0.5);
    updates(&mut app, 4);
    assert_eq!(elapsed(&mut app, Clock::Game), Duration::ZERO);
    assert_eq!(elapsed(&mut app, Clock::Unscaled), Duration::ZERO);
    assert_eq!(
        elapsed(&mut app, Clock::GameThroughPause),
        Duration::from_millis(500)
    );
    assert_eq!(elapsed(&mut app, Clock::Real), Duration::from_secs(1));
    app.world_mut().resource_mut::<Time<Virtual>>().unpause();
    app.update();
    assert_eq!(elapsed(&mut app, Clock::Game), Duration::from_millis(125));
}

#[test]
fn speed_zero_is_dilation_zero_not_a_pause() {
    let mut app = app();
    app.world_mut()
        .resource_mut::<Time<Virtual>>()
        .set_relative_speed(0.0);
    updates(&mut app, 4);
    assert_eq!(elapsed(&mut app, Clock::Game), Duration::ZERO);
    assert_eq!(elapsed(&mut app, Clock::Unscaled), Duration::from_secs(1));
}

#[test]
fn a_worlds_own_dilation_and_pause_come_on_top() {
    let mut app = app();
    let set = app.world_mut().with_cx(|cx| {
        let world = cx.app_world()?;
        cx.set_dilation(world, 0.5).ok()
    });
    assert_eq!(set, Ok(Some(())));
    updates(&mut app, 4);
    assert_eq!(elapsed(&mut app, Clock::Game), Duration::from_millis(500));
    let set = app.world_mut().with_cx(|cx| {
        let world = cx.app_world()?;
        cx.set_paused(world, true).ok()
    });
    assert_eq!(set, Ok(Some(())));
    updates(&mut app, 4);
    assert_eq!(elapsed(&mut app, Clock::Game), Duration::from_millis(500));
}

#[test]
fn a_flow_of_a_system_of_this_update_counts_this_frame() {
    let mut app = app();
    app.add_systems(Update, |mut commands: Commands, mut update: Local<u32>| {
        *update += 1;
        if *update == 1 {
            commands.flow("one second", async |fx| {
                fx.delay(secs(1)).await?;
                fx.with(|cx| say(cx.host_mut(), "over"))
            });
        }
    });
    updates(&mut app, 3);
    assert_eq!(log(&mut app), [""; 0]);
    app.update();
    assert_eq!(log(&mut app), ["over"], "tick 4 of 0.25 s");
}

#[test]
fn a_wait_on_the_real_clock_goes_through_a_pause() {
    let mut app = app();
    app.world_mut().resource_mut::<Time<Virtual>>().pause();
    app.world_mut().commands().with_cx(|cx| {
        let menu = Flow::new("menu").clock(Clock::Real);
        let started = menu.spawn(cx, async |fx| {
            fx.delay(secs(0.5)).await?;
            fx.with(|cx| say(cx.host_mut(), "menu"))
        });
        assert!(started.is_ok());
        let game = Flow::new("game");
        let started = game.spawn(cx, async |fx| {
            fx.delay(secs(0.5)).await?;
            fx.with(|cx| say(cx.host_mut(), "game"))
        });
        assert!(started.is_ok());
    });
    updates(&mut app, 8);
    assert_eq!(log(&mut app), ["menu"]);
}

#[test]
fn a_worlds_dilation_is_right_to_the_nanosecond() {
    let mut app = app();
    let step = Duration::from_nanos(16_666_667);
    app.insert_resource(TimeUpdateStrategy::ManualDuration(step));
    let set = app.world_mut().with_cx(|cx| {
        let world = cx.app_world()?;
        cx.set_dilation(world, 0.25).ok()
    });
    assert_eq!(set, Ok(Some(())));
    updates(&mut app, 1000);
    let right = Duration::from_nanos(4_166_666_750);
    assert_eq!(elapsed(&mut app, Clock::Game), right);
    assert_eq!(elapsed(&mut app, Clock::GameThroughPause), right);
}

/// Sets `Time<Virtual>` in `Update` of the next update only, in the middle of its frame.
fn within_an_update(app: &mut bevy_app::App, set: fn(&mut Time<Virtual>)) {
    #[derive(Resource)]
    struct Set(Option<fn(&mut Time<Virtual>)>);
    app.insert_resource(Set(Some(set)));
    app.add_systems(
        Update,
        |mut set: ResMut<Set>, mut time: ResMut<Time<Virtual>>| {
            if let Some(set) = set.0.take() {
                set(&mut time);
            }
        },
    );
    app.update();
}

#[test]
fn an_unpause_within_an_update_loses_nothing() {
    let mut app = app();
    app.world_mut().resource_mut::<Time<Virtual>>().pause();
    updates(&mut app, 2);
    within_an_update(&mut app, Time::<Virtual>::unpause);
    assert_eq!(elapsed(&mut app, Clock::Game), Duration::ZERO, "Bevy's");
    assert_eq!(
        elapsed(&mut app, Clock::GameThroughPause),
        Duration::from_millis(750)
    );
    assert_eq!(
        elapsed(&mut app, Clock::Unscaled),
        Duration::from_millis(250),
        "the frame is not paused"
    );
    app.update();
    assert_eq!(elapsed(&mut app, Clock::Game), Duration::from_millis(250));
    assert_eq!(
        elapsed(&mut app, Clock::GameThroughPause),
        Duration::from_secs(1)
    );
}

#[test]
fn a_pause_within_an_update_pauses_that_frame() {
    let mut app = app();
    within_an_update(&mut app, |time| {
        time.pause();
        time.set_relative_speed(0.5);
    });
    assert_eq!(elapsed(&mut app, Clock::Game), Duration::ZERO);
    assert_eq!(
        app.world().resource::<Time<Virtual>>().elapsed(),
        Duration::from_millis(250),
        "Bevy has counted it"
    );
    assert_eq!(
        elapsed(&mut app, Clock::GameThroughPause),
        Duration::from_millis(250),
        "made at speed 1"
    );
    app.update();
    assert_eq!(
        elapsed(&mut app, Clock::GameThroughPause),
        Duration::from_millis(375)
    );
}

#[test]
fn a_speed_set_in_a_pause_within_an_update_counts_from_the_next_delta_on() {
    let mut app = app();
    app.world_mut().resource_mut::<Time<Virtual>>().pause();
    app.update();
    within_an_update(&mut app, |time| time.set_relative_speed(0.5));
    assert_eq!(
        elapsed(&mut app, Clock::GameThroughPause),
        Duration::from_millis(500)
    );
}

#[test]
fn a_wait_resumes_exactly_where_speed_zero_has_stopped_it() {
    let mut app = app();
    // The wait is over 42 ns into the 16th delta that counts.
    let step = Duration::from_nanos(6_666_667);
    app.insert_resource(TimeUpdateStrategy::ManualDuration(step));
    flow(&mut app, "wait", async |fx| {
        fx.delay(Duration::from_nanos(15 * 6_666_667 + 42)).await?;
        fx.with(|cx| {
            let frame = cx.frame().to_string();
            say(cx.host_mut(), frame);
        })
    });
    let speed = |app: &mut App, speed: f32| {
        let mut time = app.world_mut().resource_mut::<Time<Virtual>>();
        time.set_relative_speed(speed);
    };
    let began = with(&mut app, |cx| cx.frame());
    updates(&mut app, 7);
    speed(&mut app, 0.0);
    updates(&mut app, 1_000);
    assert_eq!(elapsed(&mut app, Clock::Game), 7 * step);
    assert_eq!(
        elapsed(&mut app, Clock::Game),
        app.world().resource::<Time<Virtual>>().elapsed()
    );
    speed(&mut app, 1.0);
    updates(&mut app, 8);
    assert_eq!(elapsed(&mut app, Clock::Game), 15 * step);
    assert_eq!(log(&mut app), [""; 0], "42 ns are left");
    app.update();
    assert_eq!(log(&mut app), [(began + 1016).to_string()]);
    assert_eq!(elapsed(&mut app, Clock::Game), 16 * step);
    assert_eq!(elapsed(&mut app, Clock::Unscaled), 1016 * step);
}

#[test]
fn a_drive_at_speed_zero_stands_at_its_place_and_goes_on_from_there() {
    let mut app = app();
    with(&mut app, |cx| {
        let drive = DoForDuration::new(secs(1), |cx: &mut Cx<'_, World>, alpha, delta| {
            say(cx.host_mut(), format!("{alpha} {delta:?}"));
        });
        assert!(drive.start(cx).is_ok());
    });
    let speeds = [1.0, 0.0, 0.0, 0.5, 0.0, 1.0, 1.0, 1.0];
    for speed in speeds {
        let mut time = app.world_mut().resource_mut::<Time<Virtual>>();
        time.set_relative_speed(speed);
        app.update();
    }
    assert_eq!(
        log(&mut app),
        [
            "0.25 250ms",
            "0.25 0ns",
            "0.25 0ns",
            "0.375 125ms",
            "0.375 0ns",
            "0.625 250ms",
            "0.875 250ms",
            "1 125ms"
        ]
    );
}
