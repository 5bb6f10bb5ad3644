//! The facade's plugin group: the adapter, and what must see flows and console.

#![forbid(unsafe_code)]

use std::time::Duration;

use bevy_app::{App, PluginGroup, PostUpdate};
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
        let started = app.world_mut().with_cx(|cx| cx.inspect("console"));
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
