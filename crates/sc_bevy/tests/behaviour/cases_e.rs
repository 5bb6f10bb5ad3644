//! The failure cases of flows, again through Bevy.

use std::time::Duration;

use crate::common::{Says, app, flow, flows, log, reports, say, updates, with};
use bevy_ecs::prelude::*;
use bevy_time::{Time, TimeUpdateStrategy, Virtual};
use sc_bevy::{BevyCx, EntityFlowCommands, FlowCommands, FlowState, WorldCx};
use sc_core::{Cx, PanicPolicy, WorldKind, secs};
use sc_flow::{DoForDuration, Flow, FlowCx, FlowError, FlowFinish, ForEach, Wait, WaitUntil};

type Host<'a> = Cx<'a, World>;

#[test]
fn case_e3_case_e7_user_code_does_not_go_on_at_exit() {
    let mut app = app();
    flow(&mut app, "long", async |fx| {
        fx.delay(secs(1)).await?;
        fx.with(|cx| say(cx.host_mut(), "never"))
    });
    with(&mut app, |cx| {
        let started = DoForDuration::new(secs(1), |_: &mut Host<'_>, _, _| ())
            .completed(|cx, _| say(cx.host_mut(), "completed"))
            .on_finished(|cx, finish| say(cx.host_mut(), format!("{finish:?}")))
            .start(cx);
        assert!(started.is_ok());
    });
    updates(&mut app, 2);
    app.world_mut().write_message(bevy_app::AppExit::Success);
    updates(&mut app, 10);
    assert_eq!(log(&mut app), ["Aborted"]);
}

#[test]
fn case_e4_a_wait_whose_entity_dies_is_aborted_without_a_callback() {
    let mut app = app();
    let entity = app.world_mut().spawn_empty().id();
    with(&mut app, |cx| {
        let owner = cx.entity_owner(entity)?;
        WaitUntil::new(|cx: &mut Host<'_>, _| {
            say(cx.host_mut(), "poll");
            false
        })
        .timed_out(|cx| say(cx.host_mut(), "timed out"))
        .cancelled(|cx| say(cx.host_mut(), "cancelled"))
        .on_finished(|cx, finish| say(cx.host_mut(), format!("{finish:?}")))
        .owner(owner)
        .start(cx)?;
        Ok::<(), Box<dyn std::error::Error>>(())
    })
    .unwrap_or_else(|error| unreachable!("{error}"));
    app.update();
    app.world_mut().despawn(entity);
    updates(&mut app, 2);
    assert_eq!(log(&mut app), ["poll", "Aborted"]);
    assert_eq!(flows(&mut app), 0);
}

#[test]
fn case_e8_a_waiter_of_a_cancelled_flow_is_told() {
    let mut app = app();
    let first = flow(&mut app, "first", async |fx| Ok(fx.delay(secs(60)).await?));
    app.update();
    let id = first.id();
    flow(&mut app, "waiter", async move |fx| {
        let ended = fx.flow(id).await;
        let said = matches!(ended, Err(FlowError::Cancelled));
        fx.with(|cx| say(cx.host_mut(), format!("cancelled: {said}")))
    });
    app.update();
    app.world_mut().commands().cancel_flow(&first);
    updates(&mut app, 2);
    assert_eq!(log(&mut app), ["cancelled: true"]);
    assert_eq!(first.state(), FlowState::Ended(FlowFinish::Cancelled));
}

#[test]
fn case_e18_equal_delays_end_in_order_on_the_same_tick() {
    let mut app = app();
    for name in ["a", "b", "c"] {
        flow(&mut app, name, async move |fx| {
            fx.next_tick().await?;
            fx.delay(secs(0.5)).await?;
            fx.with(|cx| say(cx.host_mut(), name))
        });
    }
    updates(&mut app, 3);
    assert_eq!(log(&mut app), [""; 0]);
    app.update();
    assert_eq!(log(&mut app), ["a", "b", "c"]);
}

#[test]
fn case_e14_case_e15_a_drive_ends_at_one_exactly_then_completes() {
    let mut app = app();
    app.world_mut()
        .resource_mut::<Time<Virtual>>()
        .set_max_delta(Duration::from_secs(1));
    app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_millis(
        300,
    )));
    with(&mut app, |cx| {
        let started = DoForDuration::new(secs(1), |cx: &mut Host<'_>, alpha, _| {
            say(cx.host_mut(), alpha.to_string());
        })
        .completed(|cx, finish| say(cx.host_mut(), format!("{finish:?}")))
        .start(cx);
        assert!(started.is_ok());
    });
    updates(&mut app, 6);
    assert_eq!(log(&mut app), ["0.3", "0.6", "0.9", "1", "Completed"]);
}

#[test]
fn case_e32_bad_times_are_refused() {
    let mut app = app();
    with(&mut app, |cx| {
        let update = |_: &mut Host<'_>, _, _| ();
        assert!(
            DoForDuration::new(secs(f64::NAN), update)
                .start(cx)
                .is_err()
        );
    });
    flow(&mut app, "delays", async |fx| {
        assert!(fx.delay(secs(f64::NAN)).await.is_err());
        assert!(fx.delay(secs(f64::INFINITY)).await.is_err());
        fx.delay(secs(-1)).await?;
        fx.with(|cx| say(cx.host_mut(), "next tick"))
    });
    app.update();
    assert_eq!(log(&mut app), [""; 0]);
    app.update();
    assert_eq!(log(&mut app), ["next tick"]);
}

#[test]
fn case_e19_a_chain_of_awaits_ends_in_its_leafs_frame() {
    async fn chain(fx: &FlowCx<World>, depth: u32) -> Result<(), FlowError> {
        if depth == 0 {
            return fx.delay(secs(0.25)).await;
        }
        Box::pin(chain(fx, depth - 1)).await
    }
    let mut app = app();
    flow(&mut app, "chain", async |fx| {
        chain(&fx, 50).await?;
        fx.with(|cx| say(cx.host_mut(), "done"))
    });
    app.update();
    assert_eq!(log(&mut app), ["done"]);
}

#[test]
fn case_e20_all_ready_flows_run_in_a_frame() {
    let mut app = app();
    for _ in 0..200 {
        flow(&mut app, "ready", async |fx| {
            fx.with(|cx| say(cx.host_mut(), "x"))
        });
    }
    app.update();
    assert_eq!(log(&mut app).len(), 200);
}

#[test]
fn case_e22_a_second_at_a_quarter_is_four_ticks() {
    let mut app = app();
    flow(&mut app, "second", async |fx| {
        fx.delay(secs(1)).await?;
        fx.with(|cx| say(cx.host_mut(), "over"))
    });
    updates(&mut app, 3);
    assert_eq!(log(&mut app), [""; 0]);
    app.update();
    assert_eq!(log(&mut app), ["over"]);
}

#[test]
fn case_e23_no_poll_after_the_timeout() {
    let mut app = app();
    flow(&mut app, "wait", async |fx| {
        let mut polls = 0;
        let wait = fx
            .wait_until(|_, _| {
                polls += 1;
                false
            })
            .timeout(secs(0.5))
            .await?;
        fx.delay(secs(1)).await?;
        fx.with(|cx| say(cx.host_mut(), format!("{} {polls}", wait == Wait::TimedOut)))
    });
    updates(&mut app, 8);
    assert_eq!(log(&mut app), ["true 1"]);
}

#[test]
fn case_e24_a_condition_of_a_dead_entity_times_out_and_is_reported() {
    let mut app = app();
    let boss = app.world_mut().spawn_empty().id();
    let owner = with(&mut app, |cx| cx.entity_owner(boss));
    let Ok(owner) = owner else {
        unreachable!("the entity exists");
    };
    flow(&mut app, "boss", async move |fx| {
        let wait = fx.wait_until(|_, _| false).condition_of(owner).await?;
        fx.with(|cx| say(cx.host_mut(), format!("{wait:?}")))
    });
    app.update();
    app.world_mut().despawn(boss);
    app.update();
    assert_eq!(log(&mut app), ["TimedOut"]);
    assert_eq!(reports(&app), ["ConditionGone"]);
}

#[test]
fn case_e28_errors_and_panics_are_reported_once() {
    let mut app = app();
    let set = app
        .world_mut()
        .with_runtime(|runtime| runtime.set_panic_policy(PanicPolicy::Isolate));
    assert_eq!(set, Ok(()));
    let panicked = flow(&mut app, "panics", async |_| panic!("oops"));
    flow(&mut app, "fails", async |_| {
        Err(FlowError::other("no boss"))
    });
    updates(&mut app, 3);
    assert_eq!(reports(&app), ["Panicked", "FlowFailed"]);
    assert_eq!(panicked.state(), FlowState::Ended(FlowFinish::Panicked));
}

#[test]
fn case_e30_the_rest_of_a_wait_runs_at_the_new_speed() {
    let mut app = app();
    flow(&mut app, "second", async |fx| {
        fx.delay(secs(1)).await?;
        fx.with(|cx| say(cx.host_mut(), "over"))
    });
    updates(&mut app, 2);
    app.world_mut()
        .resource_mut::<Time<Virtual>>()
        .set_relative_speed(0.5);
    updates(&mut app, 3);
    assert_eq!(log(&mut app), [""; 0]);
    app.update();
    assert_eq!(log(&mut app), ["over"]);
}

#[test]
fn case_e31_a_flow_counts_on_the_clock_of_its_own_world() {
    let mut app = app();
    let slow = with(&mut app, |cx| {
        let slow = cx.create_world(WorldKind::Game)?;
        cx.set_dilation(slow, 0.5)?;
        Ok::<_, sc_core::WorldError>(slow)
    });
    let Ok(slow) = slow else {
        unreachable!("a world can be made");
    };
    // Started from a callback of the app's world.
    flow(&mut app, "starter", async move |fx| {
        fx.with(|cx| {
            Flow::new("slow").world(slow).spawn(cx, async |fx| {
                fx.delay(secs(0.5)).await?;
                fx.with(|cx| say(cx.host_mut(), "over"))
            })
        })??;
        Ok(())
    });
    updates(&mut app, 4);
    assert_eq!(log(&mut app), [""; 0]);
    app.update();
    assert_eq!(log(&mut app), ["over"]);
}

#[test]
fn a_loop_over_a_hitch_runs_one_batch() {
    let mut app = app();
    with(&mut app, |cx| {
        let started = ForEach::index(10)
            .delay(secs(0.1))
            .each(|cx: &mut Host<'_>, i| say(cx.host_mut(), i.to_string()))
            .start(cx);
        assert!(started.is_ok());
    });
    updates(&mut app, 2);
    assert_eq!(log(&mut app), ["0", "1"]);
}

#[test]
fn case_e2_an_object_of_an_entity_that_is_shut_down_ends_its_flows_though_the_entity_lives() {
    struct Thing;
    impl sc_core::Tickable<World> for Thing {}
    let mut app = app();
    let entity = app.world_mut().spawn_empty().id();
    with(&mut app, |cx| {
        let thing = cx.spawn_for(entity, Thing);
        let Ok(thing) = thing else { return };
        let started = ForEach::index(9)
            .each(|cx: &mut Host<'_>, i| say(cx.host_mut(), i.to_string()))
            .on_finished(|cx, finish| say(cx.host_mut(), format!("{finish:?}")))
            .owner(thing)
            .start(cx);
        assert!(started.is_ok());
        cx.host_mut().insert_resource(Of(thing.into()));
    });
    app.update();
    with(&mut app, |cx| {
        let id = cx.host().resource::<Of>().0;
        assert_eq!(cx.shutdown(id), Ok(true));
    });
    updates(&mut app, 2);
    assert_eq!(log(&mut app), ["0", "Aborted"]);
    assert!(app.world().get_entity(entity).is_ok());
}

#[derive(Resource)]
struct Of(sc_core::TickId);

#[test]
fn case_e5_a_despawn_of_the_parents_entity_ends_its_children_first() {
    let mut app = app();
    let entity = app.world_mut().spawn_empty().id();
    let mut commands = app.world_mut().commands();
    commands.entity(entity).flow("parent", async |fx, _| {
        let _parent = Says(&fx, "parent");
        fx.scope(async |scope| {
            let fx = &fx;
            scope.spawn(async move {
                let _child = Says(fx, "child");
                let _ = fx.delay(secs(60)).await;
            });
        })
        .await;
        Ok(())
    });
    app.update();
    app.world_mut().despawn(entity);
    app.update();
    assert_eq!(log(&mut app), ["child", "parent"]);
}

#[test]
fn case_e27_the_last_waker_dropped_on_another_thread_drops_no_future() {
    use std::sync::{Arc, Mutex};
    use std::task::{Poll, Waker};
    let mut app = app();
    let kept: Arc<Mutex<Option<Waker>>> = Arc::default();
    let theirs = Arc::clone(&kept);
    let handle = flow(&mut app, "waits", async move |fx| {
        let _guard = Says(&fx, "guard");
        std::future::poll_fn(|context| {
            if let Ok(mut kept) = theirs.lock() {
                *kept = Some(context.waker().clone());
            }
            Poll::<()>::Pending
        })
        .await;
        Ok(())
    });
    app.update();
    let on_thread = std::thread::spawn(move || drop(kept));
    assert!(on_thread.join().is_ok());
    updates(&mut app, 2);
    assert_eq!((flows(&mut app), log(&mut app).len()), (1, 0));
    app.world_mut().commands().cancel_flow(&handle);
    app.update();
    assert_eq!(log(&mut app), ["guard"]);
}

#[test]
fn case_e29_a_dropped_wait_leaves_nothing_and_a_dropped_task_detaches() {
    #[derive(Event, Clone)]
    struct Never;
    let mut app = app();
    app.update();
    let entities = app.world().entities().count_spawned();
    flow(&mut app, "drops", async |fx| {
        let event = sc_bevy::BevyFx::event::<Never>(&fx);
        let _ = sc_flow::race(event, fx.next_tick()).await;
        fx.with(|cx| say(cx.host_mut(), "dropped"))?;
        fx.delay(secs(60)).await
    });
    with(&mut app, |cx| {
        let task = Flow::new("task").spawn_task(cx, async |fx| {
            let _ = fx.delay(secs(0.5)).await;
            let _ = fx.with(|cx| say(cx.host_mut(), "task"));
        });
        drop(task);
    });
    updates(&mut app, 4);
    assert_eq!(log(&mut app), ["task", "dropped"]);
    assert_eq!(
        app.world().entities().count_spawned(),
        entities,
        "no observer is left"
    );
    assert_eq!(reports(&app), [""; 0]);
}
