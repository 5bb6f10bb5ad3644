//! Failure cases of flows through Bevy: delays of nothing, drives without length, and loops without end, whoever
//! starts them.

use crate::common::{app, flow, log, reports, say, updates, with};
use bevy_app::{First, Last, PostUpdate, Update};
use bevy_ecs::prelude::*;
use sc_bevy::{
    BevyCx, BevyFx, EntityFlowCommands, FlowCommands, FlowState, Flows, LocalFlows, WorldCx,
};
use sc_core::{Cx, Tickable, secs};
use sc_flow::{DoForDuration, Flow, FlowCx, FlowError, FlowExt, FlowFinish};

fn frame(fx: &FlowCx<World>) -> Result<u64, FlowError> {
    fx.with(|cx| cx.frame())
}

/// Says how many frames a delay of 0 takes.
async fn zero(fx: FlowCx<World>, by: &'static str) -> Result<(), FlowError> {
    let first = frame(&fx)?;
    fx.delay(0).await?;
    let frames = frame(&fx)? - first;
    fx.with(|cx| say(cx.host_mut(), format!("{by}: {frames}")))
}

#[derive(EntityEvent)]
struct Rung {
    entity: Entity,
}

struct Guide;

impl Tickable<World> for Guide {
    fn tick(&mut self, cx: &mut Cx<'_, World>) {
        if cx.frame() == 2 {
            let started = cx.spawn_flow("of a tick", async |fx| zero(fx, "a tick").await);
            assert!(started.is_ok());
        }
    }
}

#[test]
fn case_e12_a_delay_of_0_takes_a_frame_whoever_asks() {
    let mut app = app();
    let entity = app.world_mut().spawn_empty().id();
    fn once(frames: Local<u32>) -> bool {
        let mut frames = frames;
        *frames += 1;
        *frames == 1
    }
    app.add_systems(
        First,
        (|flows: Flows| {
            flows.start("f", async |fx| zero(fx, "flows").await);
        })
        .run_if(once),
    );
    app.add_systems(
        Update,
        (|mut commands: Commands| {
            commands.flow("c", async |fx| zero(fx, "commands").await);
        })
        .run_if(once),
    );
    app.add_systems(
        PostUpdate,
        (|mut flows: LocalFlows| {
            flows.start("l", async |fx| zero(fx, "local flows").await);
        })
        .run_if(once),
    );
    app.add_systems(
        Last,
        (|world: &mut World| {
            let started = world.with_cx(|cx| {
                let flow = Flow::new("w");
                flow.spawn(cx, async |fx| zero(fx, "the world").await)
                    .is_ok()
            });
            assert_eq!(started, Ok(true));
        })
        .run_if(once),
    );
    app.add_observer(|rung: On<Rung>, mut commands: Commands| {
        let mut commands = commands.entity(rung.entity);
        commands.flow("o", async |fx, _| zero(fx, "an observer").await);
    });
    app.world_mut().trigger(Rung { entity });
    let spawned = with(&mut app, |cx| cx.spawn_for(entity, Guide).is_ok());
    assert!(spawned);
    flow(&mut app, "outer", async |fx| {
        let by_a_system = |mut commands: Commands| {
            commands.flow("s", async |fx| zero(fx, "a flow's system").await);
        };
        fx.run_system(by_a_system, ())?;
        fx.with(|cx| {
            cx.spawn_flow("n", async |fx| zero(fx, "a flow").await)
                .is_ok()
        })?;
        Ok(())
    });
    updates(&mut app, 6);
    let mut said = log(&mut app);
    said.sort();
    assert_eq!(
        said,
        [
            "a flow's system: 1",
            "a flow: 1",
            "a tick: 1",
            "an observer: 1",
            "commands: 1",
            "flows: 1",
            "local flows: 1",
            "the world: 1"
        ]
    );
}

#[cfg(feature = "commands")]
#[test]
fn case_e12_a_delay_of_0_takes_a_frame_for_a_command_too() {
    use sc_bevy::{AppConsole, console_command};
    use sc_console::{ConsoleExt, Source};
    let mut app = app();
    app.add_console_command(console_command! {
        /// Starts one.
        Test.Zero () => |flows: Flows| { flows.start("z", async |fx| zero(fx, "a command").await); }
    });
    with(&mut app, |cx| {
        cx.queue_line("Test.Zero; Test.Zero", Source::Local, |_, _| ());
    });
    updates(&mut app, 4);
    assert_eq!(log(&mut app), ["a command: 1"; 2]);
}

#[derive(Component)]
struct Door(f32);

#[test]
fn case_e17_a_drive_of_no_length_sets_its_end_once_and_a_repeating_one_is_refused() {
    let mut app = app();
    let door = app.world_mut().spawn(Door(0.0)).id();
    let mut commands = app.world_mut().commands();
    let snap = commands.entity(door).flow("snap", async |fx, door| {
        fx.do_for_duration(0, move |cx, alpha, _| {
            if let Some(mut door) = cx.host_mut().get_mut::<Door>(door) {
                door.0 += 90.0 * alpha;
            }
        })
        .await?;
        fx.with(|cx| say(cx.host_mut(), "open"))
    });
    let spin = commands.entity(door).flow("spin", async |fx, _| {
        let spin = fx.do_for_duration(0, |cx, _, _| say(cx.host_mut(), "never"));
        spin.forever().await?;
        Ok(())
    });
    commands.entity(door).with_cx(|cx, door| {
        let Ok(owner) = cx.entity_owner(door) else {
            return;
        };
        let drive = || {
            DoForDuration::new(0, |cx: &mut Cx<'_, World>, _, _| {
                say(cx.host_mut(), "never")
            })
            .owner(owner)
        };
        for repeating in [
            drive().laps(3),
            drive().forever(),
            drive().forever().ping_pong(),
        ] {
            let refused = repeating.start(cx);
            assert!(matches!(refused, Err(FlowError::ZeroLengthRepeat)));
        }
    });
    updates(&mut app, 3);
    assert_eq!(log(&mut app), ["open"]);
    assert_eq!(app.world().get::<Door>(door).map(|door| door.0), Some(90.0));
    assert_eq!(snap.state(), FlowState::Ended(FlowFinish::Completed));
    assert!(matches!(spin.state(), FlowState::Ended(_)));
    // An async flow that ends with an error is reported.
    assert_eq!(reports(&app), ["FlowFailed"]);
}

#[test]
fn case_e21_flows_without_end_leave_bevy_its_updates_and_the_self_waking_one_is_reported() {
    let mut app = app();
    app.add_systems(PostUpdate, |world: &mut World| say(world, "post update"));
    let entity = app.world_mut().spawn_empty().id();
    let mut commands = app.world_mut().commands();
    let spinner = commands.entity(entity).flow("spinner", async |_, _| {
        loop {
            let mut woken = false;
            std::future::poll_fn(|context| {
                if std::mem::replace(&mut woken, true) {
                    return std::task::Poll::Ready(());
                }
                context.waker().wake_by_ref();
                std::task::Poll::Pending
            })
            .await;
        }
    });
    for delay in [0.1, 0.0] {
        commands.flow("loop", async move |fx| {
            loop {
                fx.delay(secs(delay)).await?;
                fx.with(|cx| say(cx.host_mut(), delay.to_string()))?;
            }
        });
    }
    updates(&mut app, 3);
    let expected = [
        "0.1",
        "post update",
        "0.1",
        "0",
        "post update",
        "0.1",
        "0",
        "post update",
    ];
    assert_eq!(log(&mut app), expected, "the first delay is credited");
    let made = app
        .world()
        .non_send::<crate::common::Reports>()
        .kept()
        .take();
    let of: Vec<_> = made.iter().map(|report| report.object.as_deref()).collect();
    assert_eq!(of, [Some("spinner")], "{made:?}");
    // Bevy's own way to end it works all the same.
    app.world_mut().despawn(entity);
    updates(&mut app, 2);
    assert_eq!(spinner.state(), FlowState::Ended(FlowFinish::Aborted));
    assert_eq!(reports(&app), [""; 0]);
}
