//! A flow that was asked for and has not started: its id is known, and does what the id of any flow does.

use crate::common::{app, bare, flows, log, reports, say, updates};
use bevy_app::{App, Update};
use bevy_ecs::prelude::*;
use bevy_ecs::world::CommandQueue;
use sc_bevy::{
    BevyCx, BevyFx, Cooking, EntityFlowCommands, FlowCommands, FlowHandle, FlowState, Flows,
    LocalFlows, StageSystems, WorldCx,
};
use sc_core::{Stage, secs};
use sc_flow::{FlowCx, FlowError, FlowExt, FlowFinish, FlowId};

const CANCELLED: FlowState = FlowState::Ended(FlowFinish::Cancelled);

async fn long(fx: FlowCx<World>) -> Result<(), FlowError> {
    fx.with(|cx| say(cx.host_mut(), "started"))?;
    fx.delay(secs(60)).await
}

#[derive(Resource)]
struct Asked(FlowHandle);

fn by_commands(mut commands: Commands) -> FlowHandle {
    commands.flow("asked", long)
}

fn by_entity_commands(mut commands: Commands) -> FlowHandle {
    let mut entity = commands.spawn_empty();
    entity.flow("asked", async |fx, _| long(fx).await)
}

fn by_flows(flows: Flows) -> FlowHandle {
    flows.start("asked", long)
}

fn by_local_flows(mut flows: LocalFlows) -> FlowHandle {
    flows.start("asked", long)
}

/// What a flow is to who has the `World`.
fn seen(app: &mut App, id: FlowId) -> String {
    let seen = app.world_mut().with_cx(|cx| match cx.flow(id) {
        Ok(info) => format!("{} {}", info.name, info.id == id),
        Err(error) => error.to_string(),
    });
    seen.unwrap_or_default()
}

/// Starts a flow that awaits another, and logs what it gets.
fn await_it(app: &mut App, id: FlowId) {
    app.world_mut().commands().flow("waiter", async move |fx| {
        let got = got(&fx, id).await;
        fx.with(|cx| say(cx.host_mut(), got))
    });
}

/// What a flow gets that awaits another.
async fn got(fx: &FlowCx<World>, id: FlowId) -> String {
    match fx.flow(id).await {
        Ok(finish) => format!("{finish:?}"),
        Err(error) => error.to_string(),
    }
}

const PENDING: &str = "the flow has not started yet: await it, or ask again when it has";
const GONE: &str = "the flow has ended: its id is stale";
const WAS_CANCELLED: &str = "what was awaited was cancelled";
const WAS_ABORTED: &str = "what was awaited was aborted: its world or its owner is gone";

#[test]
fn the_id_is_known_at_once_and_is_the_flows() {
    fn asked<M>(system: impl IntoSystem<(), FlowHandle, M> + 'static, waits: bool) {
        let mut app = app();
        let handle = app.world_mut().run_system_once(system);
        let Ok(handle) = handle else {
            unreachable!("it has run");
        };
        let id = handle.id();
        if waits {
            assert_eq!(handle.state(), FlowState::Pending);
            assert_eq!(seen(&mut app, id), PENDING);
            app.update();
        }
        assert_eq!(handle.state(), FlowState::Running);
        assert_eq!(seen(&mut app, id), "asked true");
        assert_eq!(handle.id(), id);
        app.world_mut().commands().with_cx(move |cx| {
            assert!(cx.cancel(id));
        });
        app.update();
        assert_eq!(handle.state(), CANCELLED);
        assert_eq!(handle.id(), id);
    }
    use bevy_ecs::system::RunSystemOnce;
    // The commands of a system that is run so are applied with it.
    asked(by_commands, false);
    asked(by_entity_commands, false);
    asked(by_flows, true);
    asked(by_local_flows, true);
}

#[test]
fn it_is_known_on_another_thread_and_to_the_runtime_when_commands_are_applied() {
    let mut app = app();
    let mut queue = CommandQueue::default();
    let world = app.world();
    let handle = std::thread::scope(|threads| {
        let ask = || Commands::new(&mut queue, world).flow("asked", long);
        threads.spawn(ask).join()
    });
    let Ok(handle) = handle else {
        unreachable!("it has run");
    };
    assert_eq!(handle.state(), FlowState::Pending);
    assert_eq!(seen(&mut app, handle.id()), GONE);
    let id = handle.id();
    assert_eq!(app.world_mut().with_cx(|cx| cx.cancel(id)), Ok(false));
    await_it(&mut app, id);
    app.update();
    assert_eq!(log(&mut app), [GONE]);
    assert_eq!(handle.state(), FlowState::Pending);
    queue.apply(app.world_mut());
    assert_eq!(handle.state(), FlowState::Running);
    assert_eq!(seen(&mut app, id), "asked true");
}

#[test]
fn by_commands_in_a_system_that_a_flow_runs_it_is_pending_once_they_are_applied() {
    let mut app = app();
    app.world_mut().commands().flow("outer", async |fx| {
        let handle = fx.run_system(by_commands, ())?;
        fx.with(|cx| {
            assert_eq!(handle.state(), FlowState::Pending);
            assert!(matches!(cx.flow(handle.id()), Err(FlowError::Pending)));
        })?;
        fx.next_tick().await?;
        fx.with(|cx| assert!(cx.flow(handle.id()).is_ok_and(|info| info.name == "asked")))
    });
    updates(&mut app, 2);
    assert_eq!(log(&mut app), ["started"]);
    assert_eq!(flows(&mut app), 1);
}

#[test]
fn in_a_system_that_a_flow_runs_it_is_known_and_cancels_what_has_not_started() {
    let mut app = app();
    app.world_mut().commands().flow("outer", async |fx| {
        fx.with(|cx| {
            for cancels in [true, false] {
                let Ok(handle) = cx.run_system(by_flows, ()) else {
                    unreachable!("it has run");
                };
                assert!(matches!(cx.flow(handle.id()), Err(FlowError::Pending)));
                if cancels {
                    assert!(cx.cancel(handle.id()));
                    assert!(!cx.cancel(handle.id()));
                    assert!(matches!(cx.flow(handle.id()), Err(FlowError::Gone)));
                    assert_eq!(handle.state(), CANCELLED);
                }
                cx.host_mut().insert_resource(Asked(handle));
            }
        })
    });
    updates(&mut app, 2);
    assert_eq!(log(&mut app), ["started"], "one of the two");
    assert_eq!(flows(&mut app), 1);
    let handle = app.world().resource::<Asked>().0.clone();
    assert_eq!(seen(&mut app, handle.id()), "asked true");
}

#[test]
fn a_cancel_by_id_before_the_start_means_that_it_never_starts() {
    let mut app = app();
    let handle = app
        .world_mut()
        .run_system_cached(by_flows)
        .unwrap_or_else(|error| unreachable!("{error}"));
    let id = handle.id();
    assert_eq!(app.world_mut().with_cx(|cx| cx.cancel(id)), Ok(true));
    assert_eq!(handle.state(), CANCELLED);
    assert_eq!(app.world_mut().with_cx(|cx| cx.cancel(id)), Ok(false));
    updates(&mut app, 2);
    assert_eq!(handle.state(), CANCELLED);
    assert_eq!(log(&mut app), [""; 0]);
    assert_eq!(reports(&app), [""; 0]);
}

#[test]
fn a_cancel_by_its_handle_before_the_commands_are_applied_means_that_it_never_starts() {
    let mut app = app();
    let mut queue = CommandQueue::default();
    let handle = Commands::new(&mut queue, app.world()).flow("asked", long);
    app.world_mut().commands().cancel_flow(&handle);
    app.world_mut().flush();
    assert_eq!(handle.state(), CANCELLED);
    queue.apply(app.world_mut());
    updates(&mut app, 2);
    assert_eq!(handle.state(), CANCELLED);
    assert_eq!(log(&mut app), [""; 0]);
    assert_eq!(reports(&app), [""; 0]);
}

#[test]
fn awaiting_a_pending_flow_waits_for_its_start_and_its_end() {
    let mut app = app();
    app.add_systems(
        Update,
        (|flows: Flows, mut asked: Local<bool>| {
            if std::mem::replace(&mut *asked, true) {
                return;
            }
            let handle = flows.start("short", async |fx| {
                fx.with(|cx| say(cx.host_mut(), "short"))?;
                fx.next_tick().await
            });
            let id = handle.id();
            flows.start("waiter", async move |fx| {
                let finish = fx.flow(id).await?;
                fx.with(|cx| say(cx.host_mut(), format!("{finish:?}")))
            });
        },),
    );
    updates(&mut app, 2);
    assert_eq!(log(&mut app), ["short", "Completed"]);

    // The waiter is waiting already when what it awaits starts.
    app.world_mut().commands().flow("outer", async |fx| {
        let short = |flows: Flows| flows.start("late", async |_| Ok(()));
        let got = got(&fx, fx.run_system(short, ())?.id()).await;
        fx.with(|cx| {
            let frame = cx.frame();
            say(cx.host_mut(), format!("{got} {frame}"));
        })
    });
    let frame = app.world_mut().with_cx(|cx| cx.frame()).unwrap_or_default();
    updates(&mut app, 2);
    assert_eq!(log(&mut app), [format!("Completed {}", frame + 2)]);
}

/// Cancels what was asked for.
fn cancel_it(asked: Option<Res<Asked>>, mut commands: Commands) {
    if let Some(asked) = asked {
        commands.cancel_flow(&asked.0);
    }
}

#[derive(Component)]
struct Door;

/// Despawns what it is bound to.
fn despawn_it(doors: Query<Entity, With<Door>>, mut commands: Commands) {
    for door in &doors {
        commands.entity(door).despawn();
    }
}

#[test]
fn who_awaits_it_is_told_when_it_never_starts() {
    for (cancels, told, state, report) in [
        (true, WAS_CANCELLED, CANCELLED, 0),
        (false, WAS_ABORTED, FlowState::Refused, 1),
    ] {
        let mut app = app();
        // Between the stage in which it is asked for and awaited, and the next.
        let between = StageSystems(Stage::PostUpdate);
        if cancels {
            app.add_systems(
                Cooking,
                cancel_it.after(StageSystems(Stage::Flows)).before(between),
            );
        } else {
            app.add_systems(
                Cooking,
                despawn_it.after(StageSystems(Stage::Flows)).before(between),
            );
        }
        app.world_mut().commands().flow("outer", async |fx| {
            let asked = |flows: Flows, mut commands: Commands| {
                let door = commands.spawn(Door).id();
                let flow = flows.start_for(door, "asked", async |fx, _| long(fx).await);
                commands.insert_resource(Asked(flow.clone()));
                flow
            };
            let id = fx.run_system(asked, ())?.id();
            let got = got(&fx, id).await;
            fx.with(|cx| say(cx.host_mut(), got))
        });
        updates(&mut app, 2);
        assert_eq!(log(&mut app), [told]);
        assert_eq!(app.world().resource::<Asked>().0.state(), state);
        assert_eq!(reports(&app), vec!["RequestRefused"; report]);
    }
}

#[test]
fn an_app_that_is_dropped_takes_what_was_asked_for_with_it() {
    let mut app = app();
    let mut queue = CommandQueue::default();
    let on_its_way = Commands::new(&mut queue, app.world()).flow("asked", long);
    let waiting = app.world_mut().run_system_cached(by_flows);
    let local = app.world_mut().run_system_cached(by_local_flows);
    drop(app);
    assert_eq!(
        waiting.map(|handle| handle.state()).ok(),
        Some(FlowState::Refused)
    );
    assert_eq!(
        local.map(|handle| handle.state()).ok(),
        Some(FlowState::Refused)
    );
    assert_eq!(on_its_way.state(), FlowState::Pending);
    drop(queue);
    assert_eq!(on_its_way.state(), FlowState::Refused);
}

#[test]
fn without_a_runtime_it_is_refused() {
    let mut app = bare();
    let handle = app.world_mut().commands().flow("asked", long);
    assert_eq!(handle.state(), FlowState::Pending);
    app.update();
    assert_eq!(handle.state(), FlowState::Refused);
}

#[test]
fn ids_of_two_apps_are_not_mistaken() {
    let (mut here, mut there) = (app(), app());
    let ask = |app: &mut App| match app.world_mut().run_system_cached(by_flows) {
        Ok(handle) => handle,
        Err(error) => unreachable!("{error}"),
    };
    let (ours, theirs) = (ask(&mut here), ask(&mut there));
    assert_ne!(ours.id(), theirs.id());
    assert_eq!(seen(&mut here, ours.id()), PENDING);
    assert_eq!(seen(&mut here, theirs.id()), GONE);
    assert_eq!(seen(&mut there, theirs.id()), PENDING);
    let id = theirs.id();
    assert_eq!(here.world_mut().with_cx(|cx| cx.cancel(id)), Ok(false));
    assert_eq!(theirs.state(), FlowState::Pending);
    updates(&mut here, 1);
    updates(&mut there, 1);
    assert_eq!(here.world_mut().with_cx(|cx| cx.cancel(id)), Ok(false));
    assert_eq!(theirs.state(), FlowState::Running);
    assert_eq!(seen(&mut here, ours.id()), "asked true");
}
