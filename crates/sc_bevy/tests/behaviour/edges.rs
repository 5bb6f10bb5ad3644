//! Where the runtime is not at home: schedules run inside it, the end of the app, a runtime that was taken away.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::common::{app, flow, flows, log, reports, say, with};
use bevy_app::{AppExit, PostUpdate, Update};
use bevy_ecs::prelude::*;
use bevy_ecs::system::RunSystemOnce;
use sc_bevy::{
    AppConsole, Cooking, FlowCommands, FlowHandle, FlowState, Flows, LocalFlows, Var, WorldCx,
    console_variable,
};
use sc_console::{ConsoleExt, Source};
use sc_core::{PanicPolicy, secs};
use sc_flow::FlowFinish;

console_variable! {
    /// How fast.
    pub Speed = Test.Speed: u32 = 5, range 0..=20
}

#[test]
fn a_resource_that_is_changed_where_its_schedule_runs_inside_the_runtime_is_taken_over_in_its_turn()
{
    let mut app = app();
    app.add_console_variable::<Speed>();
    app.update();
    app.add_systems(Update, |world: &mut World| {
        if **world.resource::<Var<Speed>>() == 5 {
            **world.resource_mut::<Var<Speed>>() = 500;
            world
                .with_cx(|cx| cx.host_mut().run_schedule(Cooking))
                .unwrap();
        }
    });
    app.update();
    assert_eq!(**app.world().resource::<Var<Speed>>(), 5);
    assert!(reports(&app).contains(&"ResourceRefused"));
    assert!(
        with(&mut app, |cx| cx
            .run_line("Test.Speed", Source::Local)
            .text())
        .starts_with("Test.Speed = 5 ")
    );
}

#[test]
fn a_start_that_panics_is_reported_once_and_its_handle_says_so() {
    let mut app = app();
    app.world_mut()
        .with_runtime(|rt| rt.set_panic_policy(PanicPolicy::Isolate))
        .unwrap();
    // A plain closure is called to make its future.
    let table: Vec<u32> = Vec::new();
    let panics = app.world_mut().commands().flow("faulty", move |_| {
        let first = table[0];
        async move {
            assert_eq!(first, 1);
            Ok(())
        }
    });
    app.update();
    assert_eq!(reports(&app), ["Panicked"]);
    assert_eq!(panics.state(), FlowState::Ended(FlowFinish::Panicked));
}

#[derive(Resource, Default)]
struct Asked(Vec<FlowHandle>);

fn ask(flows: Flows, mut asked: ResMut<Asked>) {
    asked.0.push(flows.start("asked", async |_| Ok(())));
}

#[test]
fn nothing_waits_for_a_runtime_that_was_taken_away() {
    let mut app = app();
    app.init_resource::<Asked>().add_systems(Update, ask);
    app.world_mut().clear_non_send();
    for _ in 0..3 {
        app.update();
    }
    let states = app
        .world()
        .resource::<Asked>()
        .0
        .iter()
        .map(FlowHandle::state);
    assert_eq!(states.collect::<Vec<_>>(), [FlowState::Refused; 3]);
}

#[test]
fn what_panics_at_the_exit_leaves_nothing_waiting() {
    let mut app = app();
    app.init_resource::<Asked>();
    let exit = |flows: Flows, mut asked: ResMut<Asked>, mut exits: MessageWriter<AppExit>| {
        flows.with_cx(|_| panic!("at the exit"));
        asked.0.push(flows.start("behind it", async |_| Ok(())));
        exits.write(AppExit::Success);
    };
    app.add_systems(PostUpdate, exit);
    let ended = catch_unwind(AssertUnwindSafe(|| app.update()));
    assert!(ended.is_err(), "the default policy");
    let states = app
        .world()
        .resource::<Asked>()
        .0
        .iter()
        .map(FlowHandle::state);
    assert_eq!(states.collect::<Vec<_>>(), [FlowState::Refused]);
    assert_eq!(flows(&mut app), 0);
}

fn locally(mut flows: LocalFlows) {
    flows.start("local", async |fx| {
        fx.with(|cx| say(cx.host_mut(), "local"))
    });
}

#[test]
fn what_a_request_asks_waits_for_the_next_stage_by_either_parameter() {
    let mut app = app();
    app.add_systems(Update, |mut done: Local<bool>, queue: Flows| {
        if !std::mem::replace(&mut *done, true) {
            queue.with_cx(|cx| {
                let world = cx.host_mut();
                let system = world.register_system(locally);
                world.run_system(system).unwrap();
            });
        }
    });
    app.update();
    assert!(log(&mut app).is_empty(), "the next frame");
    app.update();
    assert_eq!(log(&mut app), ["local"]);
}

#[test]
fn a_flow_is_cancelled_by_the_local_parameter_too() {
    let mut app = app();
    let nap = flow(&mut app, "nap", async |fx| fx.delay(secs(60)).await);
    app.update();
    let cancel = move |mut flows: LocalFlows| flows.cancel(&nap);
    let handle = flow(&mut app, "nap too", async |fx| fx.delay(secs(60)).await);
    app.add_systems(Update, cancel);
    app.update();
    assert_eq!(flows(&mut app), 1);
    assert_eq!(handle.state(), FlowState::Running);
}

#[test]
fn what_was_asked_for_is_done_when_a_request_before_it_clears_the_resources() {
    let mut app = app();
    let done = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&done);
    let ask = move |flows: Flows| {
        let told = Arc::clone(&told);
        flows.with_cx(|cx| cx.host_mut().clear_resources());
        flows.with_cx(move |_| told.store(true, Ordering::Relaxed));
    };
    assert!(app.world_mut().run_system_once(ask).is_ok());
    // Bevy does not survive it: its schedules are resources.
    let update = catch_unwind(AssertUnwindSafe(|| app.update()));
    assert!(update.is_err());
    assert!(done.load(Ordering::Relaxed));
}
