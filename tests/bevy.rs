//! The facade's plugin group: the adapter, and what must see flows and console.

#![forbid(unsafe_code)]

use std::time::Duration;

use bevy_app::{App, PluginGroup, PostUpdate};
use bevy_ecs::prelude::*;
use bevy_time::{TimePlugin, TimeUpdateStrategy};
use stillcooking::bevy::StillCookingPlugin;
use stillcooking::bevy::prelude::*;
use stillcooking::prelude::*;

fn app() -> App {
    let mut app = App::new();
    app.add_plugins((TimePlugin, StillCookingPlugins))
        .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_millis(
            250,
        )));
    app.update();
    app
}

fn run(app: &mut App, line: &str) -> String {
    let run = app
        .world_mut()
        .with_cx(|cx| cx.run_line(line, Source::Local).text());
    run.unwrap_or_else(|error| error.to_string())
}

#[test]
fn the_group_added_twice_is_added_once() {
    let mut app = app();
    app.add_plugins(StillCookingPlugins);
    app.update();
    let threshold = run(&mut app, "SC.Flow.SuspendedLoopWarningSeconds");
    assert!(threshold.starts_with("SC.Flow.SuspendedLoopWarningSeconds = 30.0"));
}

#[test]
fn what_the_facade_declares_is_declared_in_the_app_also_by_a_group_that_is_set() {
    for placed in [false, true] {
        let mut app = App::new();
        app.add_plugins(TimePlugin);
        match placed {
            false => app.add_plugins(StillCookingPlugins),
            true => {
                let plugin = StillCookingPlugin::default().place(Stage::End, PostUpdate);
                app.add_plugins(StillCookingPlugins.set(plugin))
            }
        };
        app.add_plugins(StillCookingPlugins).update();
        let started = app.world_mut().with_cx(|cx| cx.inspect("sc.console"));
        assert_eq!(started, Ok(None), "a game that has no console stays so");
        let found = run(&mut app, "SC.Console.SelfTest");
        assert!(found.contains("\ndeclared besides: 4 commands, 2 variables\n"));
    }
}

#[test]
fn lists_show_what_lives_in_the_app_and_no_anchors() {
    let mut app = app();
    let door = app.world_mut().spawn_empty().id();
    app.world_mut()
        .commands()
        .entity(door)
        .flow("open", async |fx, _| Ok(fx.delay(secs(60)).await?));
    app.update();
    assert!(run(&mut app, "SC.World.List").starts_with("app: Game"));
    assert!(run(&mut app, "SC.Flow.List").contains("open"));
    assert_eq!(run(&mut app, "SC.Tick.List"), "0 in all");
    assert_eq!(run(&mut app, "SC.Flow.Cancel open"), "1 cancelled");
}

#[test]
fn a_latent_command_starts_a_flow_in_the_apps_world() {
    command! {
        /// Takes a second.
        Test.TakeASecond () |cx: &mut Cx<'_, bevy_ecs::world::World>, _out| {
            Ok(cx.latent("a second", async |fx| Ok(fx.delay(secs(1)).await?))?)
        }
    }
    let mut app = app();
    let started = app
        .world_mut()
        .with_cx(|cx| cx.run_line("Test.TakeASecond", Source::Local).outcome);
    assert_eq!(started, Ok(LineOutcome::Pending));
    assert!(run(&mut app, "SC.Flow.List").contains("a second"));
    for _ in 0..5 {
        app.update();
    }
    assert_eq!(run(&mut app, "SC.Flow.List"), "0 in all");
}

#[derive(EntityEvent)]
struct DoorOpened {
    entity: Entity,
}
#[derive(EntityEvent)]
struct DoorClosed {
    entity: Entity,
}
#[derive(Component, Default)]
struct Door {
    angle: f32,
}
#[derive(Resource, Default)]
struct Closed(Vec<Entity>);

fn open_all_doors(doors: Query<Entity, With<Door>>, mut commands: Commands) {
    for entity in &doors {
        commands.trigger(DoorOpened { entity });
    }
}

fn set_angle(world: &mut World, door: Entity, alpha: f32) {
    if let Some(mut door) = world.get_mut::<Door>(door) {
        door.angle = 90.0 * alpha;
    }
}

/// The program that the adapter is made for, run to its end.
#[test]
fn doors_open_by_a_command_and_close_by_their_flows_unless_they_are_gone() {
    let mut app = App::new();
    app.add_plugins((TimePlugin, StillCookingPlugins))
        .add_console_command(console_command! {
            /// Opens every door.
            MyGame.Debug.OpenDoors () => open_all_doors
        })
        .add_observer(|open: On<DoorOpened>, mut commands: Commands| {
            commands
                .entity(open.entity)
                .flow("open door", async |fx, door| {
                    fx.do_for_duration(secs(0.5), move |cx, alpha, _delta| {
                        set_angle(cx.host_mut(), door, alpha)
                    })
                    .await?;
                    fx.delay(secs(3)).await?;
                    fx.with(|cx| cx.host_mut().trigger(DoorClosed { entity: door }))?;
                    Ok(())
                });
        })
        .add_observer(|close: On<DoorClosed>, mut closed: ResMut<Closed>| {
            closed.0.push(close.entity)
        })
        .init_resource::<Closed>()
        .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_millis(
            250,
        )));
    app.update();
    let (stays, goes) = (
        app.world_mut().spawn(Door::default()).id(),
        app.world_mut().spawn(Door::default()).id(),
    );
    run(&mut app, "mygame.debug.opendoors");
    for _ in 0..2 {
        app.update();
    }
    for door in [stays, goes] {
        assert_eq!(
            app.world().get::<Door>(door).map(|door| door.angle),
            Some(90.0)
        );
    }
    app.world_mut().despawn(goes);
    for _ in 0..11 {
        app.update();
    }
    assert!(
        app.world().resource::<Closed>().0.is_empty(),
        "2.75 s of the three"
    );
    app.update();
    assert_eq!(app.world().resource::<Closed>().0, [stays]);
    assert_eq!(run(&mut app, "SC.Flow.List"), "0 in all");
}
