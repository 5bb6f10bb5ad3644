//! A flow that was asked for and has not started: its id is known, and does what the id of any flow does.

#![forbid(unsafe_code)]

mod common;

use bevy_app::{App, Update};
use bevy_ecs::prelude::*;
use bevy_ecs::world::CommandQueue;
use common::{app, bare, flows, log, reports, say, updates};
use sc_bevy::{
    BevyCx, EntityFlowCommands, FlowCommands, FlowHandle, FlowState, Flows, LocalFlows, WorldCx,
};
use sc_core::secs;
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
        let got = match fx.flow(id).await {
            Ok(finish) => format!("{finish:?}"),
            Err(error) => error.to_string(),
        };
        fx.with(|cx| say(cx.host_mut(), got))
    });
}

const PENDING: &str = "the flow has not started yet: await it, or ask again when it has";
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
fn it_is_known_on_another_thread() {
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
    assert_eq!(seen(&mut app, handle.id()), PENDING);
    queue.apply(app.world_mut());
    assert_eq!(seen(&mut app, handle.id()), "asked true");
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
    // Before the commands are applied, and while the request waits for a stage.
    for applied in [true, false] {
        let mut app = app();
        let mut queue = CommandQueue::default();
        let handle = match applied {
            false => Commands::new(&mut queue, app.world()).flow("asked", long),
            true => app
                .world_mut()
                .run_system_cached(by_flows)
                .unwrap_or_else(|error| unreachable!("{error}")),
        };
        let id = handle.id();
        assert_eq!(app.world_mut().with_cx(|cx| cx.cancel(id)), Ok(true));
        assert_eq!(handle.state(), CANCELLED);
        assert_eq!(app.world_mut().with_cx(|cx| cx.cancel(id)), Ok(false));
        queue.apply(app.world_mut());
        updates(&mut app, 2);
        assert_eq!(handle.state(), CANCELLED);
        assert_eq!(log(&mut app), [""; 0]);
        assert_eq!(reports(&app), [""; 0]);
    }
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

    // The waiter runs before what it awaits has been asked for at all.
    let mut queue = CommandQueue::default();
    let handle = Commands::new(&mut queue, app.world()).flow("late", async |_| Ok(()));
    await_it(&mut app, handle.id());
    updates(&mut app, 3);
    assert_eq!(log(&mut app), [""; 0]);
    queue.apply(app.world_mut());
    app.update();
    assert_eq!(log(&mut app), ["Completed"]);
}

#[test]
fn who_awaits_it_is_told_when_it_never_starts() {
    type End = fn(&mut App, CommandQueue, FlowHandle);
    let cancelled: End = |app, _still_there, handle| {
        app.world_mut().commands().cancel_flow(&handle);
        app.world_mut().flush();
    };
    let dropped: End = |_, queue, _| drop(queue);
    let refused: End = |app, mut queue, _| queue.apply(app.world_mut());
    for (end, told, state, report) in [
        (cancelled, WAS_CANCELLED, CANCELLED, 0),
        (dropped, WAS_ABORTED, FlowState::Refused, 0),
        (refused, WAS_ABORTED, FlowState::Refused, 1),
    ] {
        let mut app = app();
        let entity = app.world_mut().spawn_empty().id();
        let mut queue = CommandQueue::default();
        let mut commands = Commands::new(&mut queue, app.world());
        let mut commands = commands.entity(entity);
        let handle = commands.flow("asked", async |fx, _| long(fx).await);
        app.world_mut().despawn(entity);
        await_it(&mut app, handle.id());
        updates(&mut app, 2);
        assert_eq!(log(&mut app), [""; 0]);
        end(&mut app, queue, handle.clone());
        app.update();
        assert_eq!(log(&mut app), [told]);
        assert_eq!(handle.state(), state);
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
    await_it(&mut app, on_its_way.id());
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
    assert!(on_its_way.id().reserved().is_some());
    drop(queue);
    assert_eq!(on_its_way.state(), FlowState::Refused);
    assert_eq!(on_its_way.id().reserved(), None);
}

#[test]
fn without_a_runtime_it_is_refused() {
    let mut app = bare();
    let handle = app.world_mut().commands().flow("asked", long);
    assert_eq!(handle.state(), FlowState::Pending);
    app.update();
    assert_eq!(handle.state(), FlowState::Refused);
    assert_eq!(handle.id().reserved(), None);
}

#[test]
fn ids_of_two_apps_are_not_mistaken() {
    let (mut here, mut there) = (app(), app());
    let ours = here.world_mut().commands().flow("ours", long);
    let theirs = there.world_mut().commands().flow("theirs", long);
    assert_ne!(ours.id(), theirs.id());
    updates(&mut here, 1);
    updates(&mut there, 1);
    let id = theirs.id();
    assert_eq!(here.world_mut().with_cx(|cx| cx.cancel(id)), Ok(false));
    assert_eq!(theirs.state(), FlowState::Running);
    assert_eq!(seen(&mut here, ours.id()), "ours true");
}
