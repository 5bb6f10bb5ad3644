//! Worlds that live as long as a state.

use crate::common::{Log, app, bare, flows, listen, log, report_texts, reports, say, updates};
use bevy_app::App;
use bevy_ecs::prelude::*;
use bevy_ecs::system::RunSystemOnce;
use bevy_state::app::{AppExtStates, StatesPlugin};
use bevy_state::prelude::*;
use bevy_state::state::StateTransitionSystems;
use sc_bevy::{
    AppStateWorlds, FlowCommands, FlowHandle, FlowState, Flows, LocalFlows, StateCx,
    StateFlowCommands, StateFx, WorldCx,
};
use sc_core::{AnyCx, secs};
use sc_flow::{FlowExt, FlowFinish};

#[derive(States, Clone, PartialEq, Eq, Hash, Debug, Default)]
enum Screen {
    #[default]
    Menu,
    Game,
}

fn with_states() -> App {
    let mut app = app();
    app.add_plugins(StatesPlugin)
        .init_state::<Screen>()
        .add_state_world(Screen::Menu)
        .add_state_world(Screen::Game);
    app.update();
    app
}

fn go(app: &mut App, screen: Screen) {
    app.world_mut()
        .resource_mut::<NextState<Screen>>()
        .set(screen);
}

fn has_world(app: &mut App, screen: &Screen) -> bool {
    let world = app.world_mut().with_cx(|cx| cx.state_world(screen));
    world.is_ok_and(|world| world.is_some())
}

#[test]
fn a_state_has_its_world_from_enter_to_exit() {
    let mut app = with_states();
    assert!(has_world(&mut app, &Screen::Menu), "the first state too");
    app.add_systems(OnExit(Screen::Menu), |world: &mut World| {
        let there = world.with_cx(|cx| cx.state_world(&Screen::Menu).is_some());
        say(world, format!("exit: {there:?}"));
    });
    app.add_systems(OnEnter(Screen::Game), |world: &mut World| {
        let there = world.with_cx(|cx| cx.state_world(&Screen::Game).is_some());
        say(world, format!("enter: {there:?}"));
    });
    go(&mut app, Screen::Game);
    app.update();
    assert_eq!(log(&mut app), ["exit: Ok(true)", "enter: Ok(true)"]);
    assert!(!has_world(&mut app, &Screen::Menu));
    assert!(has_world(&mut app, &Screen::Game));
}

#[test]
fn leaving_a_state_ends_its_flows() {
    let mut app = with_states();
    let handle = app
        .world_mut()
        .commands()
        .state_flow(Screen::Menu, "menu", async |fx| {
            loop {
                fx.with(|cx| say(cx.host_mut(), "menu"))?;
                fx.next_tick().await?;
            }
        });
    app.update();
    assert_eq!(log(&mut app), ["menu"]);
    go(&mut app, Screen::Game);
    app.update();
    assert_eq!(log(&mut app), [""; 0]);
    assert_eq!(handle.state(), FlowState::Ended(FlowFinish::Aborted));
    let late = app
        .world_mut()
        .commands()
        .state_flow(Screen::Menu, "late", async |_| Ok(()));
    app.update();
    assert_eq!(late.state(), FlowState::Refused);
    assert_eq!(reports(&app), ["RequestRefused"]);
}

#[test]
fn case_b8_a_second_session_starts_clean() {
    let mut app = with_states();
    app.add_systems(OnEnter(Screen::Game), |mut commands: Commands| {
        commands.state_flow(Screen::Game, "session", async |fx| {
            fx.delay(secs(0.5)).await?;
            fx.with(|cx| say(cx.host_mut(), "half a second of a session"))
        });
    });
    for screen in [Screen::Game, Screen::Menu, Screen::Game] {
        go(&mut app, screen);
        app.update();
    }
    assert_eq!(flows(&mut app), 1);
    updates(&mut app, 4);
    assert_eq!(log(&mut app).len(), 1);
}

#[test]
fn a_state_change_in_a_flow() {
    let mut app = with_states();
    app.world_mut()
        .commands()
        .state_flow(Screen::Menu, "start", async |fx| {
            fx.with(|cx| {
                cx.host_mut()
                    .resource_mut::<NextState<Screen>>()
                    .set(Screen::Game);
            })?;
            fx.next_tick().await?;
            fx.with(|cx| say(cx.host_mut(), "never"))
        });
    let waiter = app.world_mut().commands().flow("waiter", async |fx| {
        fx.state(Screen::Game).await?;
        fx.with(|cx| say(cx.host_mut(), "game"))
    });
    updates(&mut app, 3);
    assert_eq!(log(&mut app), ["game"]);
    assert_eq!(waiter.state(), FlowState::Ended(FlowFinish::Completed));
}

#[test]
fn a_transition_run_inside_a_flow_is_done_by_the_next_stage() {
    let mut app = with_states();
    app.world_mut()
        .commands()
        .state_flow(Screen::Menu, "at once", async |fx| {
            fx.with(|cx| {
                let world = cx.host_mut();
                world.resource_mut::<NextState<Screen>>().set(Screen::Game);
                world.run_schedule(StateTransition);
            })?;
            fx.next_tick().await?;
            fx.with(|cx| say(cx.host_mut(), "never"))
        });
    updates(&mut app, 3);
    assert!(!has_world(&mut app, &Screen::Menu) && has_world(&mut app, &Screen::Game));
    assert_eq!(log(&mut app), [""; 0]);
}

#[test]
fn entering_the_same_state_again_is_a_new_world() {
    let mut app = with_states();
    let before = app.world_mut().with_cx(|cx| cx.state_world(&Screen::Menu));
    go(&mut app, Screen::Menu);
    app.update();
    let after = app.world_mut().with_cx(|cx| cx.state_world(&Screen::Menu));
    assert!(before.is_ok_and(|w| w.is_some()) && after.is_ok_and(|w| w.is_some()));
    assert_ne!(before, after);
}

fn ask_in(flows: Flows, mut local: LocalFlows) -> Vec<FlowHandle> {
    let here = std::rc::Rc::new("local");
    let mut asked = Vec::new();
    for screen in [Screen::Menu, Screen::Game] {
        let here = here.clone();
        asked.push(flows.start_in(screen.clone(), "sent", async |fx| {
            fx.with(|cx| say(cx.host_mut(), "sent"))?;
            fx.delay(secs(60)).await
        }));
        asked.push(local.start_in(screen, "local", async move |fx| {
            fx.with(|cx| say(cx.host_mut(), *here))?;
            fx.delay(secs(60)).await
        }));
    }
    asked
}

#[test]
fn flows_of_a_state_are_asked_for_by_parameters_too() {
    const LINE: u32 = line!() - 14;
    let mut app = with_states();
    let asked = app.world_mut().run_system_once(ask_in).unwrap_or_default();
    app.update();
    let now = || asked.iter().map(FlowHandle::state).collect::<Vec<_>>();
    let (running, refused) = (FlowState::Running, FlowState::Refused);
    assert_eq!(now(), [running, running, refused, refused]);
    assert_eq!(log(&mut app), ["sent", "local"]);
    assert_eq!(reports(&app), ["RequestRefused"; 2]);
    let listed = app
        .world_mut()
        .with_cx(|cx| cx.flow_list())
        .unwrap_or_default();
    let lines: Vec<u32> = listed
        .iter()
        .map(|flow| flow.started_at.line() - LINE)
        .collect();
    assert_eq!(lines, [0, 4]);
    go(&mut app, Screen::Game);
    app.update();
    let aborted = FlowState::Ended(FlowFinish::Aborted);
    assert_eq!(now(), [aborted, aborted, refused, refused]);
}

#[test]
fn a_state_that_is_active_when_it_is_given_a_world_has_it_at_once() {
    // Before the first update and after it; after a change; long after.
    for (updated, gone) in [(0, false), (1, false), (1, true), (5, true)] {
        let mut app = app();
        app.add_plugins(StatesPlugin).init_state::<Screen>();
        let mut state = Screen::Menu;
        if gone {
            go(&mut app, Screen::Game);
            state = Screen::Game;
        }
        updates(&mut app, updated);
        app.add_state_world(Screen::Menu)
            .add_state_world(Screen::Game)
            .add_state_world(state.clone());
        let at = format!("after {updated} updates, in {state:?}");
        let made = app.world_mut().with_cx(|cx| cx.state_world(&state));
        assert!(made.is_ok_and(|made| made.is_some()), "{at}");
        let mut commands = app.world_mut().commands();
        let flow = commands.state_flow(state.clone(), "stays", async |fx| fx.delay(secs(60)).await);
        updates(&mut app, 4);
        let now = app.world_mut().with_cx(|cx| cx.state_world(&state));
        assert_eq!(now, made, "one world, {at}");
        assert_eq!(worlds(&mut app), 2, "the app's and the state's, {at}");
        assert_eq!(flow.state(), FlowState::Running, "{at}");
        go(&mut app, if gone { Screen::Menu } else { Screen::Game });
        app.update();
        assert_eq!(flow.state(), FlowState::Ended(FlowFinish::Aborted), "{at}");
        assert!(!has_world(&mut app, &state), "{at}");
        assert_eq!(worlds(&mut app), 2, "{at}");
    }
}

#[test]
fn the_world_of_a_state_that_is_inserted_anew_stays_and_others_end() {
    for updated in [0, 1] {
        let mut app = app();
        app.add_plugins(StatesPlugin)
            .init_state::<Screen>()
            .add_state_world(Screen::Menu)
            .add_state_world(Screen::Game);
        updates(&mut app, updated);
        let menu = app.world_mut().with_cx(|cx| cx.state_world(&Screen::Menu));
        app.insert_state(Screen::Menu);
        app.update();
        let again = app.world_mut().with_cx(|cx| cx.state_world(&Screen::Menu));
        assert_eq!(menu, again);
        app.insert_state(Screen::Game);
        app.update();
        assert!(!has_world(&mut app, &Screen::Menu));
        assert!(has_world(&mut app, &Screen::Game));
        assert_eq!(worlds(&mut app), 2);
    }
}

#[test]
fn a_state_is_given_a_world_before_the_plugin_is_there_too() {
    let mut app = bare();
    app.add_plugins(StatesPlugin)
        .init_state::<Screen>()
        .add_state_world(Screen::Menu)
        .add_plugins(sc_bevy::StillCookingPlugins);
    listen(&mut app);
    app.update();
    assert!(has_world(&mut app, &Screen::Menu));
    assert_eq!(reports(&app), [""; 0]);
}

#[test]
fn the_world_of_a_state_whose_resource_was_removed_ends() {
    let mut app = with_states();
    app.world_mut().remove_resource::<State<Screen>>();
    app.update();
    assert!(!has_world(&mut app, &Screen::Menu));
    assert_eq!(worlds(&mut app), 1);
    app.insert_resource(State::new(Screen::Game));
    go(&mut app, Screen::Menu);
    app.update();
    assert!(has_world(&mut app, &Screen::Menu));
    assert_eq!(worlds(&mut app), 2);
}

#[test]
fn a_state_is_given_a_world_before_states_are_added_too() {
    let mut app = app();
    let entering = |now: Res<State<Screen>>, mut log: ResMut<Log>| {
        if now.is_changed() {
            log.0.push(format!("entering {:?}", now.get()));
        }
    };
    app.add_state_world(Screen::Menu)
        .add_systems(
            StateTransition,
            entering.in_set(StateTransitionSystems::EnterSchedules),
        )
        .add_plugins(StatesPlugin)
        .init_state::<Screen>()
        .add_state_world(Screen::Game);
    for (on, screen) in [("exit", Screen::Menu), ("exit", Screen::Game)] {
        app.add_systems(OnExit(screen.clone()), move |world: &mut World| {
            let there = world.with_cx(|cx| cx.state_world(&screen).is_some());
            say(world, format!("{on} {screen:?}: {there:?}"));
        });
    }
    app.update();
    assert!(has_world(&mut app, &Screen::Menu));
    go(&mut app, Screen::Game);
    app.update();
    assert!(has_world(&mut app, &Screen::Game) && !has_world(&mut app, &Screen::Menu));
    go(&mut app, Screen::Menu);
    app.update();
    assert_eq!(
        log(&mut app),
        [
            "entering Menu",
            "exit Menu: Ok(true)",
            "entering Game",
            "exit Game: Ok(true)",
            "entering Menu"
        ]
    );
    assert_eq!(reports(&app), [""; 0]);
}

#[test]
fn states_that_the_app_does_not_have_are_said_so() {
    let name = std::any::type_name::<Screen>();
    let fix = "add `StatesPlugin` to the app, and the state by `init_state`, `insert_state`, `add_sub_state` or `add_computed_state`";
    for with_plugin in [true, false] {
        let mut app = app();
        if with_plugin {
            app.add_plugins(StatesPlugin);
        }
        app.add_state_world(Screen::Menu)
            .add_state_world(Screen::Game);
        let waits = app
            .world_mut()
            .commands()
            .flow("waits", async |fx| fx.state(Screen::Game).await);
        updates(&mut app, 3);
        assert_eq!(
            report_texts(&app),
            [
                format!(
                    "states {name}: were given worlds, and the app has no such states; to fix: {fix}"
                ),
                format!(
                    "waits (world `app`): ended with an error: the app has no states of type {name}: {fix}; to fix: handle the error in the flow's body, or await the flow"
                ),
            ]
        );
        assert!(matches!(waits.state(), FlowState::Ended(_)));
    }
}

/// How many worlds the runtime has.
fn worlds(app: &mut App) -> usize {
    app.world_mut()
        .with_cx(|cx| cx.world_list().len())
        .unwrap_or_default()
}

#[test]
fn the_list_of_flows_names_who_asked_for_a_states() {
    let mut app = with_states();
    let line = line!() + 2;
    let mut commands = app.world_mut().commands();
    commands.state_flow(Screen::Menu, "menu", async |fx| fx.delay(secs(9)).await);
    app.update();
    let started = app.world_mut().with_cx(|cx| {
        let list = sc_flow::FlowExt::flow_list(cx);
        list.first()
            .map(|flow| (flow.started_at.file(), flow.started_at.line()))
    });
    assert_eq!(started, Ok(Some((file!(), line))));
}

#[derive(SubStates, Clone, PartialEq, Eq, Hash, Debug, Default)]
#[source(Screen = Screen::Game)]
enum Phase {
    #[default]
    Build,
    Siege,
}

/// Whether one is in a game, whatever else.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Playing;

impl ComputedStates for Playing {
    type SourceStates = Screen;

    fn compute(screen: Screen) -> Option<Self> {
        (screen == Screen::Game).then_some(Playing)
    }
}

/// An app in the menu, whose game has phases. Their worlds are asked for first, in the wrong order.
fn with_phases() -> App {
    let mut app = app();
    app.add_plugins(StatesPlugin)
        .init_state::<Screen>()
        .add_sub_state::<Phase>()
        .add_computed_state::<Playing>()
        .add_state_world(Phase::Build)
        .add_state_world(Phase::Siege)
        .add_state_world(Playing)
        .add_state_world(Screen::Game);
    app.update();
    app
}

/// A flow that says its name each frame, and when it is dropped.
fn chant<S: States>(app: &mut App, state: S, name: &'static str) -> sc_bevy::FlowHandle {
    let mut commands = app.world_mut().commands();
    commands.state_flow(state, name, async move |fx| {
        let _guard = crate::common::Says(&fx, name);
        fx.delay(secs(60)).await
    })
}

fn names(app: &mut App) -> Vec<String> {
    let worlds = app.world_mut().with_cx(|cx| cx.world_list());
    let worlds = worlds.unwrap_or_default();
    worlds.into_iter().map(|world| world.name).collect()
}

#[test]
fn worlds_of_sub_states_and_computed_states_begin_after_and_end_before_their_parents() {
    let mut app = with_phases();
    assert_eq!(names(&mut app), ["app"]);
    go(&mut app, Screen::Game);
    app.update();
    let mut of_states = names(&mut app);
    assert_eq!(of_states[..2], ["app", "Game"], "the parent's is older");
    of_states[2..].sort();
    assert_eq!(of_states[2..], ["Build", "Playing"]);
    let handles = [
        chant(&mut app, Screen::Game, "game"),
        chant(&mut app, Playing, "playing"),
        chant(&mut app, Phase::Build, "build"),
    ];
    app.update();
    assert_eq!(flows(&mut app), 3);
    go(&mut app, Screen::Menu);
    app.update();
    for handle in handles {
        assert_eq!(handle.state(), FlowState::Ended(FlowFinish::Aborted));
    }
    let ended = log(&mut app);
    assert_eq!(ended.len(), 3);
    assert_eq!(ended[2], "game", "the parent's ends last");
    assert_eq!(names(&mut app), ["app"]);
    assert_eq!(reports(&app), [""; 0]);
}

#[test]
fn a_change_of_a_sub_state_leaves_its_parents_world_alone() {
    let mut app = with_phases();
    go(&mut app, Screen::Game);
    app.update();
    let game = chant(&mut app, Screen::Game, "game");
    let build = chant(&mut app, Phase::Build, "build");
    app.update();
    app.world_mut()
        .resource_mut::<NextState<Phase>>()
        .set(Phase::Siege);
    app.update();
    assert_eq!(log(&mut app), ["build"]);
    assert_eq!(build.state(), FlowState::Ended(FlowFinish::Aborted));
    assert!(matches!(game.state(), FlowState::Running));
    let worlds = app.world_mut().with_cx(|cx| {
        let build = cx.state_world(&Phase::Build);
        (build.is_some(), cx.state_world(&Phase::Siege).is_some())
    });
    assert_eq!(worlds, Ok((false, true)));
    // Out of the game while in the second phase, and in again: in the first one, with a new world.
    for screen in [Screen::Menu, Screen::Game] {
        go(&mut app, screen);
        app.update();
    }
    assert_eq!(log(&mut app), ["game"]);
    let mut of_states = names(&mut app);
    of_states.sort();
    assert_eq!(of_states, ["Build", "Game", "Playing", "app"]);
}

#[test]
fn a_flow_of_a_sub_state_sees_the_exit_of_its_parent_before_its_end() {
    let mut app = with_phases();
    go(&mut app, Screen::Game);
    app.update();
    app.add_systems(OnExit(Screen::Game), |world: &mut World| {
        let there = world.with_cx(|cx| {
            let phase = cx.state_world(&Phase::Build).is_some();
            (phase, cx.state_world(&Screen::Game).is_some())
        });
        say(world, format!("exit: {there:?}"));
    });
    let waiter = chant(&mut app, Phase::Build, "build");
    app.update();
    go(&mut app, Screen::Menu);
    app.update();
    assert_eq!(log(&mut app), ["exit: Ok((true, true))", "build"]);
    assert_eq!(waiter.state(), FlowState::Ended(FlowFinish::Aborted));
    // Asked for in a phase that is not there: refused, with a report.
    let late = chant(&mut app, Phase::Build, "late");
    app.update();
    assert_eq!(late.state(), FlowState::Refused);
    assert_eq!(reports(&app), ["RequestRefused"]);
}
