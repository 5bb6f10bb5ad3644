//! Systems that run at the same time, as Bevy's executor does by default, and ask in every way.

use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::ThreadId;
use std::time::Duration;

use crate::common::{app, log, reports, say, updates, with};
use bevy_app::Update;
use bevy_ecs::prelude::*;
use sc_bevy::{EntityFlowCommands, FlowCommands, FlowHandle, FlowState, Flows, LocalFlows};
use sc_flow::{FlowCx, FlowError, FlowExt, FlowFinish};

/// How long a system waits for one that is to run beside it, before the test fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// Two systems that only get on together.
struct Meet(Sender<ThreadId>, Mutex<Receiver<ThreadId>>);

impl Meet {
    fn pair() -> [Self; 2] {
        let (one, theirs) = channel();
        let (other, mine) = channel();
        [Meet(one, Mutex::new(mine)), Meet(other, Mutex::new(theirs))]
    }

    /// The thread of the other system, which is running now.
    fn other(&self) -> Option<ThreadId> {
        self.0.send(std::thread::current().id()).ok()?;
        let from = self.1.lock().ok()?;
        from.recv_timeout(PATIENCE).ok()
    }
}

async fn turn(fx: FlowCx<World>, by: &'static str, at: u32) -> Result<(), FlowError> {
    fx.with(|cx| say(cx.host_mut(), format!("{by} {at}")))
}

#[test]
fn systems_at_the_same_time_ask_in_every_way_and_each_flow_runs_once() {
    const EACH: u32 = 100;
    let [one, other] = Meet::pair();
    let mut app = app();
    // These two run at the same time, or never end.
    app.add_systems(
        Update,
        (
            move |flows: Flows, mut done: Local<bool>| {
                if std::mem::replace(&mut *done, true) {
                    return;
                }
                assert_ne!(one.other(), Some(std::thread::current().id()));
                for at in 0..EACH {
                    flows.start("flows", async move |fx| turn(fx, "flows", at).await);
                }
            },
            move |flows: Flows, mut commands: Commands, mut done: Local<bool>| {
                if std::mem::replace(&mut *done, true) {
                    return;
                }
                assert!(other.other().is_some());
                for at in 0..EACH {
                    flows.start("both", async move |fx| turn(fx, "both", at).await);
                    commands.flow("commands", async move |fx| turn(fx, "commands", at).await);
                }
            },
            |mut flows: LocalFlows, mut done: Local<bool>| {
                if std::mem::replace(&mut *done, true) {
                    return;
                }
                for at in 0..EACH {
                    let at = std::rc::Rc::new(at);
                    flows.start("local", async move |fx| turn(fx, "local", *at).await);
                }
            },
            |mut commands: Commands, mut done: Local<bool>| {
                if std::mem::replace(&mut *done, true) {
                    return;
                }
                for at in 0..EACH {
                    let mut entity = commands.spawn_empty();
                    entity.flow("entity", async move |fx, _| turn(fx, "entity", at).await);
                }
            },
        ),
    );
    app.update();
    let said = log(&mut app);
    assert_eq!(said.len(), 500);
    // Of one system by one way, in its order; between systems there is none.
    for by in ["flows", "both", "commands", "local", "entity"] {
        let of = said.iter().filter_map(|line| line.strip_prefix(by));
        let of: Vec<&str> = of.collect();
        let right: Vec<String> = (0..EACH).map(|at| format!(" {at}")).collect();
        assert_eq!(of, right, "{by}");
    }
    updates(&mut app, 2);
    assert_eq!(log(&mut app), [""; 0]);
    assert_eq!(reports(&app), [""; 0]);
}

#[derive(Resource)]
struct Sleeper(FlowHandle);

#[test]
fn systems_at_the_same_time_cancel_despawn_and_look_at_one_flow() {
    let [one, other] = Meet::pair();
    let mut app = app();
    let entity = app.world_mut().spawn_empty().id();
    let mut commands = app.world_mut().commands();
    let sleeper = commands
        .entity(entity)
        .flow("sleeper", async |fx, _| fx.delay(60).await);
    app.insert_resource(Sleeper(sleeper));
    app.update();
    let mut first = true;
    let mut second = true;
    app.add_systems(
        Update,
        (
            move |sleeper: Res<Sleeper>, flows: Flows| {
                if std::mem::take(&mut first) {
                    assert!(one.other().is_some());
                    flows.cancel(&sleeper.0);
                }
            },
            move |sleeper: Res<Sleeper>, mut commands: Commands| {
                if std::mem::take(&mut second) {
                    assert!(other.other().is_some());
                    assert!(matches!(sleeper.0.state(), FlowState::Running));
                    commands.entity(entity).despawn();
                    commands.cancel_flow(&sleeper.0);
                }
            },
        ),
    );
    app.update();
    let state = app.world().resource::<Sleeper>().0.state();
    let ends = [FlowFinish::Aborted, FlowFinish::Cancelled];
    assert!(matches!(state, FlowState::Ended(finish) if ends.contains(&finish)));
    assert_eq!(with(&mut app, |cx| cx.flow_list().len()), 0);
    assert_eq!(reports(&app), [""; 0]);
}
