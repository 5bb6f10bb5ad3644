//! A gate in a small siege, in a Bevy app without a window: states, flows of entities, a console that reads
//! standard input. It ends by itself after twelve seconds of the game, which pass in about one.
//!
//! $ printf 'Siege.Rams 2; SC.Flow.List\nSiege.Speed 3\n' | cargo run --example bevy_headless --features bevy_state

#![allow(clippy::print_stdout)]

use std::io::BufRead;
use std::time::Duration;

use bevy_app::{App, AppExit, ScheduleRunnerPlugin, Update};
use bevy_ecs::prelude::*;
use bevy_state::app::{AppExtStates, StatesPlugin};
use bevy_state::prelude::*;
use bevy_time::{TimePlugin, TimeUpdateStrategy};
use stillcooking::bevy::prelude::*;
use stillcooking::prelude::*;

#[derive(States, Clone, PartialEq, Eq, Hash, Debug, Default)]
enum Phase {
    #[default]
    Truce,
    Siege,
}

#[derive(Component)]
struct Gate {
    angle: f32,
}

#[derive(Component)]
struct Ram {
    blows: u32,
}

fn ram() -> impl Bundle {
    (Ram { blows: 0 }, DespawnOnExit(Phase::Siege))
}

/// A ram has hit the gate.
#[derive(EntityEvent, Clone)]
struct Hit {
    entity: Entity,
}

console_variable! {
    /// Blows a second of one ram.
    pub Speed = Siege.Speed: f64 = 1.0, range 0.1..=10.0
}

fn main() -> AppExit {
    tracing_subscriber::fmt().without_time().init();
    let mut app = App::new();
    app.add_plugins((
        TimePlugin,
        StatesPlugin,
        ScheduleRunnerPlugin::run_loop(Duration::from_millis(5)),
        StillCookingPlugins,
    ))
    // So that the example always shows the same; a game leaves this out.
    .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_millis(
        50,
    )))
    .init_state::<Phase>()
    .add_state_world(Phase::Siege)
    .add_console_variable::<Speed>()
    .add_console_command(console_command! {
        /// Brings up more rams.
        Siege.Rams (
            /// How many.
            count: u32 = 1,
        ) => bring_rams
    })
    .add_systems(bevy_app::Startup, (story, read_console))
    .add_systems(OnEnter(Phase::Siege), begin_siege)
    .add_systems(Update, announce_rams)
    .add_observer(shake);
    app.run()
}

/// The story of the evening, as one flow that outlives the states.
fn story(mut commands: Commands) {
    let gate = commands.spawn(Gate { angle: 0.0 }).id();
    commands.flow("story", async move |fx| {
        fx.delay(secs(2)).await?;
        println!("The truce is over.");
        fx.with(|cx| {
            cx.host_mut()
                .resource_mut::<NextState<Phase>>()
                .set(Phase::Siege)
        })?;
        fx.state(Phase::Siege).await?;

        // The gate holds for eight seconds, or until it has taken twelve blows.
        let mut hits = fx.events::<Hit>()?;
        let mut blows = 0;
        let broken = fx
            .timeout(secs(8), async {
                while blows < 12 {
                    hits.next().await?;
                    blows += 1;
                }
                Ok::<(), FlowError>(())
            })
            .await?
            .is_some();
        println!(
            "{} after {blows} blows.",
            if broken {
                "The gate is broken"
            } else {
                "The gate holds"
            }
        );

        // Leaving the state despawns the rams, and that ends their flows, whatever they were doing.
        fx.with(|cx| {
            cx.host_mut()
                .resource_mut::<NextState<Phase>>()
                .set(Phase::Truce)
        })?;
        fx.delay(secs(1)).await?;
        let angle = fx.with(|cx| cx.host().get::<Gate>(gate).map_or(0.0, |gate| gate.angle))?;
        println!("The gate hangs at {angle:.0} degrees. Good night.");
        fx.with(|cx| cx.host_mut().write_message(AppExit::Success))?;
        Ok(())
    });
}

fn begin_siege(mut commands: Commands) {
    commands.state_flow(Phase::Siege, "reinforcements", async |fx| {
        fx.for_each_with_delay(3, secs(2), async |_| {
            fx.with(|cx| cx.host_mut().spawn(ram()).id()).map(drop)
        })
        .await?;
        Ok(())
    });
}

/// The system of the command `Siege.Rams`: its parameter is its input.
fn bring_rams(
    In(count): In<u32>,
    phase: Res<State<Phase>>,
    mut commands: Commands,
) -> Result<String, CommandError> {
    if *phase.get() == Phase::Truce {
        Err("there is a truce")?;
    }
    for _ in 0..count {
        commands.spawn(ram());
    }
    Ok(format!("{count} rams come up the hill"))
}

/// Each ram has a flow of its own; despawning the ram ends it.
fn announce_rams(
    rams: Query<Entity, Added<Ram>>,
    gate: Query<Entity, With<Gate>>,
    mut commands: Commands,
) {
    let Ok(gate) = gate.single() else {
        return;
    };
    for ram in &rams {
        commands.entity(ram).flow("ram", async move |fx, ram| {
            loop {
                let speed = fx.with(|cx| **cx.host().resource::<Var<Speed>>())?;
                fx.delay(secs(1.0 / speed)).await?;
                fx.with(|cx| {
                    let world = cx.host_mut();
                    let worn = world.get_mut::<Ram>(ram).is_some_and(|mut ram| {
                        ram.blows += 1;
                        ram.blows >= 5
                    });
                    world.trigger(Hit { entity: gate });
                    if worn {
                        println!("A ram breaks.");
                        world.despawn(ram);
                    }
                })?;
            }
        });
    }
}

/// An observer that starts a flow of the gate.
fn shake(hit: On<Hit>, mut commands: Commands) {
    commands.entity(hit.entity).flow("shake", async |fx, gate| {
        let swing = fx.do_for_duration(secs(0.3), move |cx, alpha, _delta| {
            if let Some(mut gate) = cx.host_mut().get_mut::<Gate>(gate) {
                gate.angle = 5.0 * alpha;
            }
        });
        swing.ease(Ease::OutCubic).await?;
        Ok(())
    });
}

/// Lines of standard input are lines of the console, from the siege on. A thread waits for each, the
/// game does not.
fn read_console(mut commands: Commands) {
    commands.flow("console", async |fx| {
        fx.state(Phase::Siege).await?;
        let read = || std::io::stdin().lock().lines().next();
        while let Some(Ok(line)) = fx.run_on_thread(read).await? {
            fx.with(|cx| {
                cx.queue_line(&line, Source::Terminal, |_, run| println!("{}", run.text()));
            })?;
        }
        Ok(())
    });
}
