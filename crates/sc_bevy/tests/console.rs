//! Commands that run systems, variables as resources.

#![forbid(unsafe_code)]
#![cfg(feature = "commands")]

#[path = "behaviour/common.rs"]
mod common;

use bevy_app::{App, PluginGroup, PostUpdate, Update};
use bevy_ecs::prelude::*;
use common::{Log, app, bare, flows, listen, log, reports, say, updates};
use sc_bevy::{
    AppConsole, BevyCx, Cooking, EntityFlowCommands, FlowCommands, FlowState, Flows, StageSystems,
    StillCookingPlugin, StillCookingPlugins, Var, WorldCx, console_command, console_variable,
};
use sc_console::{
    CommandError, ConsoleExt, LineOutcome, SetBy, Source, VariableExt, Word, dynamic_command,
};
use sc_core::{Stage, secs};
use sc_flow::FlowFinish;

fn run(app: &mut App, line: &str) -> (LineOutcome, String) {
    let run = app
        .world_mut()
        .with_cx(|cx| cx.run_line(line, Source::Local));
    match run {
        Ok(run) => (run.outcome, run.text()),
        Err(error) => unreachable!("{error}"),
    }
}

fn no_input(world: &mut World) {
    say(world, "no input");
}

fn one_input(In(count): In<u32>, mut calls: Local<u32>) -> String {
    *calls += 1;
    format!("{count} of call {}", *calls)
}

fn two_inputs(In((count, name)): In<(u32, String)>) -> Result<String, CommandError> {
    if count == 0 {
        Err("none is too few")?;
    }
    Ok(format!("{count} {name}"))
}

fn with_commands() -> App {
    let mut app = app();
    app.add_console_command(console_command! {
        /// Says so.
        Test.None () => no_input
    })
    .add_console_command(console_command! {
        /// Counts its calls.
        Test.One [cheat] (
            /// How many.
            #[range = 0..=9]
            count: u32 = 1,
        ) => one_input
    })
    .add_console_command(console_command! {
        /// Repeats its input.
        Test.Two (count: u32, name: String = "apples".to_owned()) => two_inputs
    });
    app
}

#[test]
fn parameters_arrive_as_the_systems_input() {
    let mut app = with_commands();
    assert_eq!(run(&mut app, "test.none").0, LineOutcome::Done);
    assert_eq!(log(&mut app), ["no input"]);
    let set = app.world_mut().with_cx(|cx| {
        cx.console_settings().cheats = true;
    });
    assert_eq!(set, Ok(()));
    assert_eq!(run(&mut app, "Test.One").1, "1 of call 1");
    assert_eq!(
        run(&mut app, "Test.One 7").1,
        "7 of call 2",
        "its `Local` stays"
    );
    assert_eq!(run(&mut app, "Test.Two 3").1, "3 apples");
    assert_eq!(run(&mut app, "Test.Two 3 'ripe pears'").1, "3 ripe pears");
}

console_command! {
    /// Repeats its words.
    pub(crate) WORDS = Test.Words [anytime] (raw words) => |InRef(words): InRef<[Word]>| {
        let words: Vec<String> = words.iter().map(|word| format!("<{}>", word.text)).collect();
        words.concat()
    }
}

console_command! {
    /// Counts.
    COUNT = Test.Count (
        /// How many.
        #[range = 0..=9]
        count: u32 = 1,
    ) => one_input
}

#[test]
fn declared_commands_are_added_by_their_names_in_every_app_and_take_raw_words() {
    for _ in 0..2 {
        let mut app = app();
        app.add_console_command(WORDS)
            .add_console_command(COUNT)
            .add_console_command(console_command! {
                /// Says how many words there are.
                Test.HowMany (raw all,) => |InRef(all): InRef<[Word]>| format!("{}", all.len())
            });
        let words = run(&mut app, "Test.Words give  'two words' --x=1").1;
        assert_eq!(words, "<give><two words><--x=1>");
        assert_eq!(run(&mut app, "Test.HowMany").1, "0");
        assert_eq!(run(&mut app, "Test.HowMany a b").1, "2");
        assert_eq!(run(&mut app, "Test.Count").1, "1 of call 1");
        assert_eq!(run(&mut app, "Test.Count 10").0, LineOutcome::Failed);
        let help = run(&mut app, "help Test.Words").1;
        assert!(help.contains("Repeats its words."), "{help}");
    }
}

#[test]
fn what_is_wrong_fails_the_line() {
    let mut app = with_commands();
    for line in ["Test.Two", "Test.Two x", "Test.Two 0", "Test.None 1"] {
        assert_eq!(run(&mut app, line).0, LineOutcome::Failed, "{line}");
    }
    assert!(run(&mut app, "Test.Two 0").1.contains("none is too few"));
    assert!(
        run(&mut app, "help Test.Two")
            .1
            .contains("Repeats its input.")
    );
}

#[test]
fn a_refusal_is_reported_and_the_app_goes_on() {
    let mut app = with_commands();
    let before = reports(&app).len();
    app.add_console_command(console_command! {
        /// Again.
        Test.None () => no_input
    });
    assert_eq!((before, reports(&app).len()), (0, 1));
    assert_eq!(run(&mut app, "test.none").0, LineOutcome::Done);
}

#[derive(Resource)]
struct Missing;

#[test]
fn a_system_that_cannot_run_fails_the_line() {
    let mut app = app();
    app.add_console_command(console_command! {
        /// Needs what is not there.
        Test.Missing () => |_missing: Res<Missing>| ()
    });
    assert_eq!(run(&mut app, "Test.Missing").0, LineOutcome::Failed);
    app.insert_resource(Missing);
    assert_eq!(run(&mut app, "Test.Missing").0, LineOutcome::Done);
}

#[test]
fn a_command_starts_flows_by_our_params() {
    let mut app = app();
    app.add_console_command(console_command! {
        /// Starts a flow.
        Test.Start () => |flows: Flows| {
            flows.start("by a command", async |fx| { fx.delay(secs(60)).await?; Ok(()) });
        }
    });
    assert_eq!(run(&mut app, "Test.Start").0, LineOutcome::Done);
    assert_eq!(flows(&mut app), 0, "by the next stage");
    app.update();
    assert_eq!(flows(&mut app), 1);
}

console_variable! {
    /// How fast, in metres a second.
    pub Speed = Test.Speed: f64 = 5.0, range 0.0..=20.0
}

fn speed(app: &App) -> f64 {
    **app.world().resource::<Var<Speed>>()
}

#[test]
fn a_variable_is_a_resource_at_once() {
    let mut app = app();
    app.add_console_variable::<Speed>();
    assert_eq!(speed(&app), 5.0);
    assert_eq!(run(&mut app, "Test.Speed 7.5").0, LineOutcome::Done);
    assert_eq!(speed(&app), 7.5);
    assert_eq!(run(&mut app, "Test.Speed 99").0, LineOutcome::Failed);
    assert_eq!(speed(&app), 7.5);
    updates(&mut app, 2);
    let info = app.world_mut().with_cx(|cx| cx.var_info("Test.Speed"));
    assert!(
        matches!(&info, Ok(Ok(info)) if info.set_by == SetBy::Console),
        "what the console set is not set again by code: {info:?}"
    );
    assert_eq!(reports(&app), [""; 0]);
}

#[derive(Resource)]
struct Wish(f64);

fn set(wish: Option<Res<Wish>>, mut speed: ResMut<Var<Speed>>) {
    if let Some(wish) = wish {
        **speed = wish.0;
    }
}

#[test]
fn a_changed_resource_is_the_variables_value() {
    let mut app = app();
    app.add_console_variable::<Speed>()
        .insert_resource(Wish(9.0))
        .add_systems(Update, set);
    app.update();
    let var = app.world_mut().with_cx(|cx| {
        use sc_bevy::ConsoleVariable;
        cx.var(Speed::key())
    });
    assert_eq!(var, Ok(9.0));
    assert_eq!(reports(&app), [""; 0]);
}

#[test]
fn case_g6_a_refused_resource_has_its_old_value_again() {
    let mut app = app();
    app.add_console_variable::<Speed>()
        .insert_resource(Wish(99.0))
        .add_systems(Update, set);
    app.update();
    assert_eq!(speed(&app), 5.0);
    assert_eq!(reports(&app), ["ResourceRefused"]);
}

#[test]
fn what_reads_a_resource_when_it_has_changed_hears_of_the_old_value_again() {
    let mut app = app();
    fn apply(speed: Res<Var<Speed>>, mut log: ResMut<Log>) {
        if speed.is_changed() {
            log.0.push(format!("{}", **speed));
        }
    }
    app.add_console_variable::<Speed>()
        .add_systems(Update, (set, apply).chain());
    updates(&mut app, 2);
    assert_eq!(log(&mut app), ["5"]);
    app.insert_resource(Wish(99.0));
    app.update();
    app.world_mut().remove_resource::<Wish>();
    updates(&mut app, 3);
    assert_eq!(log(&mut app), ["99", "5"], "once each");
    assert_eq!(reports(&app), ["ResourceRefused"]);
}

#[test]
fn a_variable_stays_a_resource_when_the_apps_world_is_destroyed() {
    let mut app = app();
    app.add_console_variable::<Speed>()
        .add_console_command(console_command! {
            /// Says so.
            Test.None () => no_input
        });
    let destroyed = app
        .world_mut()
        .with_cx(|cx| cx.app_world().map(|world| cx.destroy_world(world)));
    assert!(matches!(destroyed, Ok(Some(_))), "{destroyed:?}");
    app.update();
    app.insert_resource(Wish(9.0)).add_systems(Update, set);
    app.update();
    assert!(run(&mut app, "Test.Speed").1.starts_with("Test.Speed = 9"));
    app.world_mut().remove_resource::<Wish>();
    assert_eq!(run(&mut app, "Test.Speed 7.5").0, LineOutcome::Done);
    assert_eq!(speed(&app), 7.5);
    assert_eq!(run(&mut app, "Test.None").0, LineOutcome::Done);
}

fn set_by_flow(app: &mut App) {
    app.world_mut().commands().flow("too fast", async |fx| {
        fx.with(|cx| **cx.host_mut().resource_mut::<Var<Speed>>() = 99.0)
    });
}

#[test]
fn what_a_flow_sets_the_resource_to_is_validated_in_the_same_frame() {
    let mut app = app();
    app.add_console_variable::<Speed>();
    set_by_flow(&mut app);
    app.update();
    assert_eq!(speed(&app), 5.0);
    assert_eq!(reports(&app), ["ResourceRefused"]);
}

#[test]
fn a_resource_is_validated_where_the_stage_console_was_placed() {
    let mut app = bare();
    let plugin = StillCookingPlugin::default()
        .place(Stage::Console, PostUpdate)
        .place(Stage::End, PostUpdate);
    app.add_plugins(StillCookingPlugins.set(plugin));
    listen(&mut app);
    app.add_console_variable::<Speed>().add_systems(
        Cooking,
        (|mut speed: ResMut<Var<Speed>>| **speed = 99.0).after(StageSystems(Stage::Worldless)),
    );
    app.update();
    assert_eq!(speed(&app), 5.0);
    assert_eq!(reports(&app), ["ResourceRefused"]);
    set_by_flow(&mut app);
    app.update();
    assert_eq!(speed(&app), 5.0);
}

fn boom(In(n): In<u32>, mut calls: Local<u32>, mut commands: Commands) -> String {
    *calls += 1;
    commands.queue(|world: &mut World| say(world, "asked"));
    assert!(n > 0, "oops");
    format!("call {}", *calls)
}

#[test]
fn a_command_whose_system_has_panicked_can_be_run_again() {
    let mut app = app();
    app.add_console_command(console_command! {
        /// May panic.
        Test.Boom (n: u32) => boom
    });
    assert_eq!(run(&mut app, "Test.Boom 0").0, LineOutcome::Failed);
    assert_eq!(log(&mut app), ["asked"], "before the panic");
    let done = (LineOutcome::Done, "call 2".to_owned());
    assert_eq!(run(&mut app, "Test.Boom 1"), done);
    assert_eq!(log(&mut app), ["asked"]);
}

#[derive(Component)]
struct Gate;

#[test]
fn a_command_that_despawns_an_entity_ends_what_is_bound_to_it() {
    let mut app = app();
    let gate = app.world_mut().spawn(Gate).id();
    let mut commands = app.world_mut().commands();
    let handle = commands.entity(gate).flow("creak", async |fx, _| {
        loop {
            fx.next_tick().await?;
        }
    });
    fn raze(gates: Query<Entity, With<Gate>>, mut commands: Commands) {
        for gate in &gates {
            commands.entity(gate).despawn();
        }
    }
    app.add_console_command(console_command! {
        /// Razes all gates.
        My.Raze () => raze
    });
    app.update();
    let (outcome, _) = run(&mut app, "My.Raze");
    assert_eq!(outcome, LineOutcome::Done);
    app.update();
    assert_eq!(handle.state(), FlowState::Ended(FlowFinish::Aborted));
}

#[test]
fn a_command_bound_to_an_entity_goes_with_it() {
    let mut app = app();
    let gate = app.world_mut().spawn(Gate).id();
    let registered = app.world_mut().with_cx(|cx| {
        let owner = cx.entity_owner(gate).ok()?;
        let command = dynamic_command! {
            /// Opens this gate.
            My.OpenThis () |_: &mut sc_core::Cx<'_, World>, out| { writeln!(out, "open")?; Ok(()) }
        };
        cx.register_command(command.owner(owner)).ok()
    });
    assert!(matches!(registered, Ok(Some(_))));
    let done = (LineOutcome::Done, "open".to_owned());
    assert_eq!(run(&mut app, "My.OpenThis"), done);
    app.world_mut().despawn(gate);
    let (outcome, _) = run(&mut app, "My.OpenThis");
    assert_eq!(outcome, LineOutcome::Failed, "at once");
}
