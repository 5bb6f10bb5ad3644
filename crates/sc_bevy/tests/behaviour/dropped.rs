//! What is asked of a runtime that is not there, or has shut down: every way says so, and whose it was.

use crate::common::{Heard, app, bare, log, reports, say};
use bevy_app::{App, AppExit, Last, OnAppExitSystems};
use bevy_ecs::prelude::*;
use bevy_ecs::system::{RunSystemOnce, SystemParam};
use sc_bevy::{
    AppConsole, CxError, EntityFlowCommands, FlowCommands, FlowState, Flows, LocalFlows, WorldCx,
    console_command, console_variable,
};
use sc_core::secs;
use sc_flow::FlowFinish;

const MISSING: &str = "there is no runtime in this `World`: add `StillCookingPlugins` to the app";

#[test]
fn what_is_asked_in_the_last_update_after_the_end_of_the_runtime_is_refused_at_once() {
    const BEFORE: u32 = line!() + 4;
    fn ask(flows: Flows, mut local: LocalFlows, mut commands: Commands) {
        // One line each, in this order.
        #[rustfmt::skip]
        let asked = [
            flows.start("flows", async |_| Ok(())),
            local.start("local", async |_| Ok(())),
        ];
        flows.with_cx(|cx| say(cx.host_mut(), "never"));
        local.with_cx(|cx| say(cx.host_mut(), "never"));
        flows.cancel(&asked[0]);
        local.cancel(&asked[1]);
        let states = asked.map(|flow| format!("{:?}", flow.state()));
        commands.queue(move |world: &mut World| say(world, states.join(" ")));
    }
    let heard = Heard::default();
    tracing::subscriber::with_default(heard.clone(), || {
        let mut app = app();
        app.add_systems(Last, ask.after(OnAppExitSystems));
        app.world_mut().write_message(AppExit::Success);
        app.update();
        assert_eq!(log(&mut app), ["Refused Refused"]);
    });
    let dropped = [
        ("flow `flows`", 1),
        ("flow `local`", 2),
        ("a closure", 4),
        ("a closure", 5),
        ("the cancel of flow `flows`", 6),
        ("the cancel of flow `local`", 7),
    ];
    let why = "the runtime has shut down with the app";
    assert_eq!(heard.texts(), texts(BEFORE, &dropped, why));
}

#[test]
fn what_commands_ask_after_the_end_of_the_runtime_is_refused_at_once_too() {
    const BEFORE: u32 = line!() + 1;
    fn ask(mut commands: Commands, mut asked: ResMut<Asked>) {
        asked.0.extend([commands.flow("late", async |_| Ok(()))]);
        commands.cancel_flow(&asked.0[0]);
        commands.with_cx(|cx| say(cx.host_mut(), "never"));
        let entity = commands.spawn_empty().id();
        let mut entity = commands.entity(entity);
        asked
            .0
            .extend([entity.flow("of an entity", async |_, _| Ok(()))]);
    }
    #[derive(Resource, Default)]
    struct Asked(Vec<sc_bevy::FlowHandle>);
    let heard = Heard::default();
    tracing::subscriber::with_default(heard.clone(), || {
        let mut app = app();
        app.init_resource::<Asked>()
            .add_systems(Last, ask.after(OnAppExitSystems));
        app.world_mut().write_message(AppExit::Success);
        app.update();
        let asked = &app.world().resource::<Asked>().0;
        let states: Vec<_> = asked.iter().map(|flow| flow.state()).collect();
        assert_eq!(states, [FlowState::Refused; 2]);
        assert_eq!(log(&mut app), [""; 0]);
        assert_eq!(reports(&app), [""; 0]);
    });
    let dropped = [
        ("flow `late`", 1),
        ("the cancel of flow `late`", 2),
        ("a closure", 3),
        ("flow `of an entity`", 8),
    ];
    let why = "the runtime has shut down with the app";
    assert_eq!(heard.texts(), texts(BEFORE, &dropped, why));
}

#[test]
fn a_runtime_that_is_taken_away_is_said_once() {
    let heard = Heard::default();
    tracing::subscriber::with_default(heard.clone(), || {
        let mut app = app();
        let nap = app
            .world_mut()
            .commands()
            .flow("nap", async |fx| fx.delay(secs(60)).await);
        app.update();
        app.world_mut().clear_non_send();
        let asked = app
            .world_mut()
            .run_system_once(|flows: Flows| flows.start("asked", async |_| Ok(())));
        app.update();
        app.update();
        assert!(asked.is_ok_and(|asked| asked.state() == FlowState::Refused));
        assert_eq!(
            nap.state(),
            FlowState::Ended(FlowFinish::Aborted),
            "as of an app that is dropped"
        );
    });
    let heard = heard.texts();
    assert_eq!(
        heard.first().map(String::as_str),
        Some(
            "the runtime was taken out of the `World`, and everything in it has ended without a call: leave non-send data that is not yours alone"
        )
    );
    assert!(
        heard[1].starts_with("flow `asked`, asked for at "),
        "{heard:?}"
    );
    assert!(heard[1].ends_with(", was dropped: there is no runtime in this `World`: add `StillCookingPlugins` to the app"), "{heard:?}");
    assert_eq!(heard.len(), 2, "{heard:?}");
}

/// What the log says of what was asked for in this file.
fn texts(before: u32, dropped: &[(&str, u32)], why: &str) -> Vec<String> {
    let text = |&(what, line)| {
        let (file, line) = (file!(), before + line);
        format!("{what}, asked for at {file}:{line}, was dropped: {why}")
    };
    dropped.iter().map(text).collect()
}

#[test]
fn without_the_plugin_what_commands_ask_is_dropped_and_says_what_is_missing() {
    const BEFORE: u32 = line!() + 2;
    fn ask(mut commands: Commands) {
        let entity = commands.spawn_empty().id();
        let flow = commands.flow("commands", async |_| Ok(()));
        commands.cancel_flow(&flow);
        commands.with_cx(|_| ());
        let mut commands = commands.entity(entity);
        let of_entity = commands.flow("entity", async |_, _| Ok(()));
        commands.with_cx(|_, _| ());
        commands.insert(Asked([flow, of_entity]));
    }
    #[derive(Component)]
    struct Asked([sc_bevy::FlowHandle; 2]);
    let heard = Heard::default();
    tracing::subscriber::with_default(heard.clone(), || {
        let mut app = bare();
        assert!(app.world_mut().run_system_once(ask).is_ok());
        app.update();
        let mut asked = app.world_mut().query::<&Asked>();
        for Asked(flows) in asked.iter(app.world()) {
            for flow in flows {
                assert_eq!(flow.state(), FlowState::Refused);
            }
        }
    });
    let dropped = [
        ("flow `commands`", 1),
        ("the cancel of flow `commands`", 2),
        ("a closure", 3),
        ("flow `entity`", 5),
        ("a closure", 6),
    ];
    assert_eq!(heard.texts(), texts(BEFORE, &dropped, MISSING));
}

#[cfg(feature = "state")]
#[test]
fn without_the_plugin_what_states_ask_is_dropped_too() {
    use bevy_state::prelude::*;
    use sc_bevy::{AppStateWorlds, StateFlowCommands};
    #[derive(States, Clone, PartialEq, Eq, Hash, Debug, Default)]
    enum Screen {
        #[default]
        Menu,
    }
    const WORLD: u32 = line!() + 6;
    let heard = Heard::default();
    tracing::subscriber::with_default(heard.clone(), || {
        let mut app = bare();
        app.add_plugins(bevy_state::app::StatesPlugin)
            .init_state::<Screen>()
            .add_state_world(Screen::Menu);
        app.update();
        let mut commands = app.world_mut().commands();
        commands.state_flow(Screen::Menu, "menu", async |_| Ok(()));
        app.update();
    });
    let dropped = [("the world of a state", 0), ("flow `menu`", 3)];
    assert_eq!(heard.texts(), texts(WORLD, &dropped, MISSING));
}

/// Why a system with the parameter does not run.
fn fault<P: SystemParam + 'static>(app: &mut App) -> String {
    let ran = app
        .world_mut()
        .run_system_once(|_: bevy_ecs::system::StaticSystemParam<P>| ());
    ran.map_err(|error| error.to_string())
        .err()
        .unwrap_or_default()
}

#[test]
fn without_the_plugin_parameters_say_what_is_missing() {
    let mut app = bare();
    for fault in [
        fault::<Flows<'static>>(&mut app),
        fault::<LocalFlows<'static>>(&mut app),
    ] {
        assert!(fault.contains(MISSING), "{fault}");
        assert!(!fault.contains("Resource does not exist"), "{fault}");
    }
}

#[test]
fn without_the_plugin_the_world_says_what_is_missing() {
    let mut app = bare();
    let world = app.world_mut();
    assert_eq!(world.with_cx(|_| ()), Err(CxError::NotInstalled));
    assert_eq!(world.with_runtime(|_| ()), Err(CxError::NotInstalled));
    assert_eq!(CxError::NotInstalled.to_string(), MISSING);
}

console_variable! {
    /// How fast.
    pub Speed = Test.SpeedOfNone: u32 = 5
}

#[test]
#[should_panic(
    expected = "there is no runtime in this `World`: add `StillCookingPlugins` to the app"
)]
fn without_the_plugin_a_command_says_what_is_missing() {
    bare().add_console_command(console_command! {
        /// Does nothing.
        Test.None () => || ()
    });
}

#[test]
#[should_panic(
    expected = "there is no runtime in this `World`: add `StillCookingPlugins` to the app"
)]
fn without_the_plugin_a_variable_says_what_is_missing() {
    bare().add_console_variable::<Speed>();
}
