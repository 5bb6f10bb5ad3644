//! Failure cases of flows through Bevy: how they end, who is told, and what is left.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Poll, Waker};

use crate::common::{Says, app, flow, flows, log, reports, say, updates, with};
use bevy_app::{App, Update};
use bevy_ecs::prelude::*;
use bevy_ecs::system::RunSystemOnce;
use sc_bevy::{
    BevyCx, BevyFx, Cooking, EntityFlowCommands, FlowCommands, FlowHandle, FlowState, Flows,
    StageSystems,
};
use sc_core::{Cx, Stage, secs};
use sc_flow::{DoForDuration, Flow, FlowError, FlowExt, FlowFinish, FlowId, WaitUntil, race};

#[derive(Resource, Clone)]
struct Victim(Entity, FlowHandle);

/// What a system does to the victim once there is one, with its entity and its flow.
fn once(
    act: fn(&mut Commands<'_, '_>, Victim),
) -> impl FnMut(Commands<'_, '_>, Option<Res<Victim>>) {
    move |mut commands, victim| {
        if let Some(victim) = victim {
            commands.remove_resource::<Victim>();
            act(&mut commands, victim.clone());
        }
    }
}

/// A drive of a quarter of a second on a door, which ends with the next update.
fn drive(app: &mut App) -> Victim {
    let door = app.world_mut().spawn_empty().id();
    let mut commands = app.world_mut().commands();
    let flow = commands.entity(door).flow("open", async |fx, _| {
        let _guard = Says(&fx, "guard");
        fx.do_for_duration(secs(0.25), |cx, alpha, _| {
            say(cx.host_mut(), alpha.to_string());
        })
        .await?;
        fx.with(|cx| say(cx.host_mut(), "completed"))
    });
    let victim = Victim(door, flow);
    app.world_mut().flush();
    app.insert_resource(victim.clone());
    victim
}

fn cancel(commands: &mut Commands<'_, '_>, victim: Victim) {
    commands.cancel_flow(&victim.1);
}

fn cancel_then_despawn(commands: &mut Commands<'_, '_>, victim: Victim) {
    commands.cancel_flow(&victim.1);
    commands.entity(victim.0).despawn();
}

fn despawn_then_cancel(commands: &mut Commands<'_, '_>, victim: Victim) {
    commands.entity(victim.0).despawn();
    commands.cancel_flow(&victim.1);
}

#[test]
fn case_e9_completed_and_then_cancelled_in_the_same_update_it_is_completed() {
    for act in [cancel, cancel_then_despawn, despawn_then_cancel] {
        let mut app = app();
        let late = once(act)
            .after(StageSystems(Stage::Flows))
            .before(StageSystems(Stage::PostUpdate));
        app.add_systems(Cooking, late);
        let Victim(_, flow) = drive(&mut app);
        updates(&mut app, 2);
        assert_eq!(log(&mut app), ["1", "completed", "guard"]);
        assert_eq!(flow.state(), FlowState::Ended(FlowFinish::Completed));
        assert_eq!(reports(&app), [""; 0]);
    }
}

#[test]
fn case_e9_ended_before_its_last_turn_of_the_same_update_it_never_completes() {
    let ways = [
        (
            cancel as fn(&mut Commands<'_, '_>, Victim),
            FlowFinish::Cancelled,
        ),
        (cancel_then_despawn, FlowFinish::Cancelled),
        (despawn_then_cancel, FlowFinish::Aborted),
    ];
    for (act, finish) in ways {
        let mut app = app();
        app.add_systems(Update, once(act));
        let Victim(_, flow) = drive(&mut app);
        updates(&mut app, 2);
        assert_eq!(log(&mut app), [""; 0], "it had no turn, so no guard");
        assert_eq!(flow.state(), FlowState::Ended(finish));
        assert_eq!(reports(&app), [""; 0]);
    }
}

#[test]
fn case_e9_a_condition_that_despawns_its_own_entity_as_it_holds_ends_once_and_never_times_out() {
    let mut app = app();
    let boss = app.world_mut().spawn_empty().id();
    app.world_mut().commands().entity(boss).with_cx(|cx, boss| {
        let Ok(owner) = cx.entity_owner(boss) else {
            return;
        };
        let wait = WaitUntil::new(move |cx: &mut Cx<'_, World>, attempt| {
            if attempt == 0 {
                return false;
            }
            cx.host_mut().despawn(boss);
            true
        });
        let wait = wait
            .timeout(secs(0.75))
            .satisfied(|cx| say(cx.host_mut(), "completed"))
            .timed_out(|cx| say(cx.host_mut(), "timed out"))
            .cancelled(|cx| say(cx.host_mut(), "cancelled"))
            .on_finished(|cx, finish| say(cx.host_mut(), format!("{finish:?}")));
        assert!(wait.owner(owner).start(cx).is_ok());
    });
    updates(&mut app, 4);
    assert_eq!(log(&mut app), ["Aborted"]);
}

/// The ids that live.
fn ids(app: &mut App) -> Vec<FlowId> {
    with(app, |cx| {
        cx.flow_list().iter().map(|flow| flow.id).collect()
    })
}

/// A flow of an entity, whose end says what it sees of itself.
fn bound(cx: &mut Cx<'_, World>, entity: Entity, name: &'static str) {
    let Ok(owner) = cx.entity_owner(entity) else {
        return say(cx.host_mut(), "no owner");
    };
    let flow = Flow::new(name)
        .owner(owner)
        .on_finished(move |cx: &mut Cx<'_, World>, finish| {
            let listed = cx.flow_list().iter().any(|flow| flow.name == name);
            let there = cx.host().get_entity(entity).is_ok();
            say(
                cx.host_mut(),
                format!("{name} {finish:?}, listed {listed}, entity {there}"),
            );
        });
    let started = flow.spawn(cx, async |fx| fx.delay(secs(60)).await);
    assert!(started.is_ok());
}

#[test]
fn case_e10_flows_have_ended_before_anyone_is_told_and_only_those_of_the_entity() {
    let mut app = app();
    let [mine, yours] = [(); 2].map(|()| app.world_mut().spawn_empty().id());
    let mut commands = app.world_mut().commands();
    commands.entity(mine).with_cx(|cx, mine| {
        bound(cx, mine, "first of mine");
        bound(cx, mine, "second of mine");
    });
    commands
        .entity(yours)
        .with_cx(|cx, yours| bound(cx, yours, "yours"));
    commands.flow("unbound", async |fx| fx.delay(secs(60)).await);
    app.update();
    assert_eq!(ids(&mut app).len(), 4);
    // All of one entity, which stays.
    let mut commands = app.world_mut().commands();
    commands.entity(mine).with_cx(|cx, mine| {
        let ended = cx.entity_owner(mine).map(|owner| cx.cancel_flows_of(owner));
        say(cx.host_mut(), format!("{ended:?}"));
    });
    app.update();
    assert_eq!(
        log(&mut app),
        [
            "first of mine Cancelled, listed false, entity true",
            "second of mine Cancelled, listed false, entity true",
            "Ok(2)"
        ]
    );
    // With its entity.
    app.world_mut().commands().entity(yours).despawn();
    app.update();
    assert_eq!(log(&mut app), ["yours Aborted, listed false, entity false"]);
    assert_eq!(ids(&mut app).len(), 1);
}

#[test]
fn case_e10_an_id_comes_once_also_for_entities_whose_index_is_used_again() {
    let mut app = app();
    let mut seen = BTreeSet::new();
    for _ in 0..300 {
        let torch = app.world_mut().spawn_empty().id();
        app.world_mut()
            .commands()
            .entity(torch)
            .flow("flicker", async |fx, _| fx.delay(secs(60)).await);
        app.update();
        let [id] = ids(&mut app)[..] else {
            unreachable!("one lives");
        };
        assert!(seen.insert(id), "{id:?} came twice");
        app.world_mut().despawn(torch);
        app.update();
    }
}

#[derive(Event, Clone)]
struct NeverRung;

/// A race on an entity that the bell never wins.
fn races(app: &mut App) -> Victim {
    let porter = app.world_mut().spawn_empty().id();
    let mut commands = app.world_mut().commands();
    let flow = commands.entity(porter).flow("porter", async |fx, _| {
        let bell = async {
            let _guard = Says(&fx, "guard");
            fx.event::<NeverRung>().await
        };
        let _ = race(bell, fx.delay(secs(0.5))).await;
        fx.with(|cx| say(cx.host_mut(), "after the race"))
    });
    app.world_mut().flush();
    Victim(porter, flow)
}

#[test]
fn case_e25_the_loser_of_a_race_is_dropped_at_once_and_its_observer_with_it() {
    let mut app = app();
    let before = app.world().entities().count_spawned();
    races(&mut app);
    app.update();
    let during = app.world().entities().count_spawned();
    assert_eq!(during, before + 2, "the porter and the observer");
    app.update();
    assert_eq!(log(&mut app), ["guard", "after the race"]);
    assert_eq!(app.world().entities().count_spawned(), before + 1);
}

#[test]
fn case_e25_the_end_of_a_race_ends_all_that_race() {
    let ends: [fn(&mut App, Victim); 3] = [
        |app, victim| app.world_mut().commands().cancel_flow(&victim.1),
        |app, victim| {
            app.world_mut().despawn(victim.0);
        },
        |app, victim| {
            let cancel = move |flows: Flows| flows.cancel(&victim.1);
            assert!(app.world_mut().run_system_once(cancel).is_ok());
        },
    ];
    for end in ends {
        let mut app = app();
        let empty = app.world().entities().count_spawned();
        let victim = races(&mut app);
        app.update();
        let systems = app.world().entities().count_spawned();
        end(&mut app, victim.clone());
        let added = app
            .world()
            .entities()
            .count_spawned()
            .saturating_sub(systems);
        app.update();
        assert_eq!(log(&mut app), ["guard"]);
        assert!(matches!(victim.1.state(), FlowState::Ended(_)));
        app.world_mut().try_despawn(victim.0).ok();
        let left = app.world().entities().count_spawned();
        assert_eq!(left, empty + added, "no observer is left");
        assert_eq!(flows(&mut app), 0);
    }
}

/// Says that it was dropped, whoever drops it.
struct Flag(Arc<AtomicBool>);

impl Drop for Flag {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

type Kept = Arc<Mutex<Option<Waker>>>;

/// An app with a flow of an entity that waits for a waker.
fn waits_for_a_waker(app: &mut App, kept: &Kept, flag: Flag) -> FlowHandle {
    let theirs = Arc::clone(kept);
    let entity = app.world_mut().spawn_empty().id();
    let mut commands = app.world_mut().commands();
    let flow = commands.entity(entity).flow("waits", async move |_, _| {
        let _flag = flag;
        std::future::poll_fn(|context| {
            let mut kept = theirs.lock().unwrap_or_else(PoisonError::into_inner);
            *kept = Some(context.waker().clone());
            Poll::<()>::Pending
        })
        .await;
        Ok(())
    });
    app.update();
    flow
}

fn waker(kept: &Kept) -> Waker {
    let kept = kept.lock().unwrap_or_else(PoisonError::into_inner).take();
    kept.unwrap_or_else(|| unreachable!("the flow has had a turn"))
}

#[test]
fn case_e26_an_app_dropped_with_live_flows_is_clean_and_a_late_wake_does_nothing() {
    for early in [true, false] {
        let (kept, dropped) = (Kept::default(), Arc::<AtomicBool>::default());
        let mut app = app();
        let flow = waits_for_a_waker(&mut app, &kept, Flag(Arc::clone(&dropped)));
        let waker = waker(&kept);
        let wake = move || {
            waker.wake_by_ref();
            drop(waker);
        };
        let on_thread = if early {
            let joined = std::thread::spawn(wake).join();
            drop(app);
            joined
        } else {
            drop(app);
            std::thread::spawn(wake).join()
        };
        assert!(on_thread.is_ok());
        assert!(dropped.load(Ordering::Relaxed), "what the flow had");
        assert_eq!(flow.state(), FlowState::Ended(FlowFinish::Aborted));
    }
}

#[test]
fn case_e26_the_runtime_and_the_entities_dropped_in_any_order_are_clean() {
    for runtime_first in [true, false] {
        let (kept, dropped) = (Kept::default(), Arc::<AtomicBool>::default());
        let mut app = app();
        let flow = waits_for_a_waker(&mut app, &kept, Flag(Arc::clone(&dropped)));
        let waker = waker(&kept);
        if runtime_first {
            app.world_mut().clear_non_send();
            assert!(dropped.load(Ordering::Relaxed));
            app.world_mut().clear_entities();
        } else {
            app.world_mut().clear_entities();
            assert!(!dropped.load(Ordering::Relaxed), "by the next stage only");
            app.world_mut().clear_non_send();
        }
        assert!(dropped.load(Ordering::Relaxed));
        waker.wake();
        assert_eq!(flow.state(), FlowState::Ended(FlowFinish::Aborted));
        drop(app);
    }
}

#[test]
fn case_e26_a_flow_that_was_asked_for_of_an_app_that_is_dropped_is_refused() {
    let mut app = app();
    let by_commands = flow(&mut app, "by commands", async |_| Ok(()));
    let ask = |flows: Flows| flows.start("by flows", async |_| Ok::<(), FlowError>(()));
    let by_flows = app.world_mut().run_system_cached(ask);
    let Ok(by_flows) = by_flows else {
        unreachable!("the system has run");
    };
    // Applied, so that they are in the queue, or started.
    let never = app.world_mut().commands().flow("never", async |_| Ok(()));
    assert_eq!(by_flows.state(), FlowState::Pending);
    drop(app);
    assert!(!matches!(by_commands.state(), FlowState::Pending));
    assert_eq!(by_flows.state(), FlowState::Refused);
    assert_eq!(never.state(), FlowState::Refused);
}

#[test]
fn case_e9_a_drive_by_a_builder_ends_once_too() {
    let mut app = app();
    let door = app.world_mut().spawn_empty().id();
    with(&mut app, |cx| {
        let Ok(owner) = cx.entity_owner(door) else {
            unreachable!("the entity exists");
        };
        let started = DoForDuration::new(secs(0.25), move |cx: &mut Cx<'_, World>, alpha, _| {
            say(cx.host_mut(), alpha.to_string());
            cx.host_mut().despawn(door);
        })
        .completed(|cx, _| say(cx.host_mut(), "completed"))
        .on_finished(|cx, finish| say(cx.host_mut(), format!("{finish:?}")))
        .owner(owner)
        .start(cx);
        assert!(started.is_ok());
    });
    updates(&mut app, 2);
    assert_eq!(log(&mut app), ["1", "Aborted"]);
}
