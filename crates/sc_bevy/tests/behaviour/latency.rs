//! When what is asked for is done: the table of the page about Bevy, row by row.

use crate::common::{app, log, say, updates};
use bevy_app::{First, Last, PostUpdate, PreUpdate, Update};
use bevy_ecs::prelude::*;
use bevy_ecs::schedule::ScheduleLabel;
use sc_bevy::{
    BevyCx, Cooking, EntityFlowCommands, FlowCommands, FlowHandle, FlowState, Flows, LocalFlows,
    StageSystems, WorldCx,
};
use sc_core::Stage;
use sc_flow::{Flow, FlowCx, FlowError, FlowFinish};

async fn turn(fx: FlowCx<World>) -> Result<(), FlowError> {
    fx.with(|cx| say(cx.host_mut(), "turn"))
}

#[derive(Resource)]
struct Asked(FlowHandle);

fn by_commands(mut commands: Commands, asked: Option<Res<Asked>>) {
    if asked.is_none() {
        let flow = commands.flow("asked", turn);
        assert_eq!(flow.state(), FlowState::Pending);
        commands.insert_resource(Asked(flow));
    }
}

fn by_entity_commands(mut commands: Commands, asked: Option<Res<Asked>>) {
    if asked.is_none() {
        let entity = commands.spawn_empty().id();
        let mut entity = commands.entity(entity);
        let flow = entity.flow("asked", async |fx, _| turn(fx).await);
        commands.insert_resource(Asked(flow));
    }
}

fn by_flows(flows: Flows, mut commands: Commands, asked: Option<Res<Asked>>) {
    if asked.is_none() {
        let flow = flows.start("asked", turn);
        assert_eq!(flow.state(), FlowState::Pending);
        commands.insert_resource(Asked(flow));
    }
}

fn by_local_flows(mut flows: LocalFlows, mut commands: Commands, asked: Option<Res<Asked>>) {
    if asked.is_none() {
        commands.insert_resource(Asked(flows.start("asked", turn)));
    }
}

fn by_the_world(world: &mut World, mut asked: Local<bool>) {
    if std::mem::replace(&mut *asked, true) {
        return;
    }
    let started = world.with_cx(|cx| Flow::new("asked").spawn(cx, turn).is_ok());
    assert_eq!(started, Ok(true), "in the call");
}

/// In which update from now the flow of a system in a schedule has its first turn.
fn first_turn<M>(
    schedule: impl ScheduleLabel,
    system: impl IntoScheduleConfigs<bevy_ecs::system::ScheduleSystem, M>,
) -> u32 {
    let mut app = app();
    app.add_systems(schedule, system);
    (1..5)
        .find(|_| {
            app.update();
            !log(&mut app).is_empty()
        })
        .unwrap_or(u32::MAX)
}

#[test]
fn before_cooking_the_first_turn_is_in_the_same_update() {
    assert_eq!(first_turn(First, by_commands), 1);
    assert_eq!(first_turn(Update, by_commands), 1);
    assert_eq!(first_turn(Update, by_entity_commands), 1);
    assert_eq!(first_turn(PreUpdate, by_flows), 1);
    assert_eq!(first_turn(Update, by_flows), 1);
    assert_eq!(first_turn(Update, by_local_flows), 1);
    assert_eq!(first_turn(Update, by_the_world), 1);
}

#[test]
fn after_cooking_it_is_in_the_next() {
    assert_eq!(first_turn(PostUpdate, by_commands), 2);
    assert_eq!(first_turn(Last, by_entity_commands), 2);
    assert_eq!(first_turn(Last, by_flows), 2);
    assert_eq!(first_turn(PostUpdate, by_local_flows), 2);
    assert_eq!(first_turn(Last, by_the_world), 2);
}

#[test]
fn between_two_stages_the_frame_has_begun_so_it_is_in_the_next() {
    let (timers, flows) = (
        || StageSystems(Stage::Timers),
        || StageSystems(Stage::Flows),
    );
    assert_eq!(
        first_turn(Cooking, by_commands.after(timers()).before(flows())),
        2
    );
    assert_eq!(
        first_turn(Cooking, by_flows.after(timers()).before(flows())),
        2
    );
    assert_eq!(
        first_turn(Cooking, by_the_world.after(timers()).before(flows())),
        2
    );
    let begin = StageSystems(Stage::Begin);
    assert_eq!(first_turn(Cooking, by_flows.before(begin)), 1);
}

/// Says what has become of the flow that was asked for.
fn say_state(place: &'static str) -> impl Fn(&mut World) {
    move |world| {
        let state = world.get_resource::<Asked>().map(|asked| asked.0.state());
        let state = match state {
            Some(FlowState::Running) => "running".to_owned(),
            other => format!("{other:?}"),
        };
        say(world, format!("{place}: {state}"));
    }
}

#[test]
fn in_a_system_that_a_flow_runs_it_is_started_at_the_next_stage_for_the_next_frame() {
    for ways in [true, false] {
        let mut app = app();
        app.world_mut().commands().flow("outer", async move |fx| {
            fx.with(|cx| {
                let ran = match ways {
                    true => cx.run_system(by_commands, ()).is_ok(),
                    false => cx.run_system(by_flows, ()).is_ok(),
                };
                assert!(ran);
                say_state("in the flow")(cx.host_mut());
            })
        });
        let flows = || StageSystems(Stage::Flows);
        let post_update = || StageSystems(Stage::PostUpdate);
        app.add_systems(
            Cooking,
            (
                say_state("after the stage")
                    .after(flows())
                    .before(post_update()),
                say_state("after the next")
                    .after(post_update())
                    .before(StageSystems(Stage::Worldless)),
            ),
        );
        app.update();
        assert_eq!(
            log(&mut app),
            [
                "in the flow: Some(Pending)",
                "after the stage: Some(Pending)",
                "after the next: running"
            ]
        );
        app.update();
        assert_eq!(log(&mut app)[0], "turn");
    }
}

#[test]
fn a_cancel_before_the_frame_keeps_the_flow_from_its_turn() {
    let mut app = app();
    app.add_systems(Update, by_commands);
    app.add_systems(
        Update,
        (|asked: Res<Asked>, mut commands: Commands| commands.cancel_flow(&asked.0))
            .after(by_commands),
    );
    updates(&mut app, 3);
    assert_eq!(log(&mut app), [""; 0]);
    say_state("then")(app.world_mut());
    assert_eq!(log(&mut app), ["then: Some(Ended(Cancelled))"]);
}

#[test]
fn a_cancel_in_a_system_that_a_flow_runs_takes_effect_at_the_next_stage() {
    fn cancel(asked: Res<Asked>, flows: Flows) {
        flows.cancel(&asked.0);
    }
    let mut app = app();
    let victim = app.world_mut().commands().flow("victim", async |fx| {
        loop {
            fx.next_tick().await?;
        }
    });
    app.insert_resource(Asked(victim.clone()));
    app.update();
    app.world_mut().commands().flow("killer", async |fx| {
        fx.with(|cx| {
            assert!(cx.run_system(cancel, ()).is_ok());
            say_state("in the flow")(cx.host_mut());
        })
    });
    let after = say_state("after the next");
    app.add_systems(
        Cooking,
        after
            .after(StageSystems(Stage::PostUpdate))
            .before(StageSystems(Stage::Worldless)),
    );
    app.update();
    assert_eq!(
        log(&mut app),
        [
            "in the flow: running",
            "after the next: Some(Ended(Cancelled))"
        ]
    );
    assert_eq!(victim.state(), FlowState::Ended(FlowFinish::Cancelled));
}

/// Asks for a flow and cancels it in one system.
fn asked_and_cancelled(flows: Flows, mut commands: Commands) {
    let flow = flows.start("asked", turn);
    flows.cancel(&flow);
    commands.insert_resource(Asked(flow));
}

#[test]
fn a_cancel_is_done_when_commands_are_applied_or_at_the_start_of_the_next_stage() {
    for by_commands in [true, false] {
        let mut app = app();
        let victim = app.world_mut().commands().flow("victim", async |fx| {
            loop {
                fx.next_tick().await?;
            }
        });
        app.insert_resource(Asked(victim));
        app.update();
        app.add_systems(
            Update,
            (
                move |asked: Res<Asked>, flows: Flows, mut commands: Commands| match by_commands {
                    true => commands.cancel_flow(&asked.0),
                    false => flows.cancel(&asked.0),
                },
                ApplyDeferred,
                say_state("before the frame"),
            )
                .chain(),
        );
        let begin = || StageSystems(Stage::Begin);
        let in_frame = say_state("in it").after(begin());
        app.add_systems(Cooking, in_frame.before(StageSystems(Stage::Timers)));
        app.update();
        let before = match by_commands {
            true => "before the frame: Some(Ended(Cancelled))",
            false => "before the frame: running",
        };
        assert_eq!(log(&mut app), [before, "in it: Some(Ended(Cancelled))"]);
    }
}

#[test]
fn what_is_asked_for_and_cancelled_before_a_stage_never_has_a_turn() {
    let mut app = app();
    let systems = (asked_and_cancelled, say_state("before the stage"));
    app.add_systems(Update, systems.chain());
    updates(&mut app, 1);
    say_state("then")(app.world_mut());
    assert_eq!(
        log(&mut app),
        [
            "before the stage: Some(Pending)",
            "then: Some(Ended(Cancelled))"
        ]
    );
}
