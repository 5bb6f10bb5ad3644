//! A gate in a small siege, in a Bevy app without a window: states, flows of entities, a console that reads
//! standard input. It ends by itself after twelve seconds of the game, which pass in about one.
//!
//! A ram has its flow from the frame after it was brought up on; the `wait` is for that.
//!
//! $ printf 'Siege.Rams 2; wait; SC.Flow.List\nSiege.Speed 3\n' | cargo run --example bevy_headless --features bevy_state

#![allow(clippy::print_stderr)]

use std::io::{BufRead, ErrorKind, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
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
    tracing_subscriber::fmt()
        .without_time()
        .with_writer(std::io::stderr)
        .init();
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
            #[range = 1..=20]
            count: u32 = 1,
        ) => bring_rams
    })
    .add_systems(bevy_app::Startup, (greet, story, read_console))
    .add_systems(OnEnter(Phase::Siege), begin_siege)
    .add_systems(Update, announce_rams)
    .add_observer(shake);
    let exit = app.run();
    let left = LEFT.load(Ordering::Relaxed);
    if left > 0 {
        eprintln!("lines from stdin that were read and not run: {left}");
    }
    exit
}

/// Prints, and ends the game when nobody can read it.
fn say(world: &mut World, text: &str) {
    let mut out = std::io::stdout().lock();
    let Err(error) = writeln!(out, "{text}").and_then(|()| out.flush()) else {
        return;
    };
    world.write_message(if error.kind() == ErrorKind::BrokenPipe {
        AppExit::Success
    } else {
        eprintln!("stdout cannot be written: {error}");
        AppExit::error()
    });
}

/// A text without what a terminal would obey: a name from the net must not move the cursor.
fn harmless(text: &str) -> String {
    let mut shown = String::new();
    for c in text.chars() {
        match c {
            '\n' | '\t' => shown.push(c),
            c if c.is_control() => shown.extend(c.escape_default()),
            c => shown.push(c),
        }
    }
    shown
}

fn greet(world: &mut World) {
    say(
        world,
        "Lines from stdin run as console commands, from the siege on; try `help`.",
    );
}

/// The story of the evening, as one flow that outlives the states.
fn story(mut commands: Commands) {
    let gate = commands.spawn(Gate { angle: 0.0 }).id();
    commands.flow("story", async move |fx| {
        fx.delay(secs(2)).await?;
        fx.with(|cx| {
            say(cx.host_mut(), "The truce is over.");
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
        let gate_is = if broken {
            "The gate is broken"
        } else {
            "The gate holds"
        };

        // Leaving the state despawns the rams, and that ends their flows, whatever they were doing.
        fx.with(|cx| {
            say(cx.host_mut(), &format!("{gate_is} after {blows} blows."));
            cx.host_mut()
                .resource_mut::<NextState<Phase>>()
                .set(Phase::Truce)
        })?;
        fx.delay(secs(1)).await?;
        let angle = fx.with(|cx| cx.host().get::<Gate>(gate).map_or(0.0, |gate| gate.angle))?;
        fx.with(|cx| {
            let world = cx.host_mut();
            let text = format!("The gate hangs at {angle:.0} degrees. Good night.");
            say(world, &text);
            world.write_message(AppExit::Success);
        })?;
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
                        say(world, "A ram breaks.");
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

/// So many lines are read ahead.
const AHEAD: usize = 1000;

/// So many lines are handed to the console in one frame.
const AT_ONCE: usize = 100;

/// The lines that were read and have not run.
static LEFT: AtomicUsize = AtomicUsize::new(0);

/// Reads standard input to its end: lines, and what is to be said of those that are none.
fn read_lines(lines: &SyncSender<Result<String, String>>) {
    let mut stdin = std::io::stdin().lock();
    loop {
        let mut bytes = Vec::new();
        let line = match stdin.read_until(b'\n', &mut bytes) {
            Ok(0) => return,
            Ok(_) => String::from_utf8(bytes)
                .map(|line| line.trim_end_matches(['\n', '\r']).to_owned())
                .map_err(|_| "a line of stdin is not UTF-8 and was not run".to_owned()),
            Err(error) => {
                let _ = lines.send(Err(format!("stdin cannot be read: {error}")));
                return;
            }
        };
        if line.is_ok() {
            LEFT.fetch_add(1, Ordering::Relaxed);
        }
        if lines.send(line).is_err() {
            return;
        }
    }
}

/// Lines of standard input are lines of the console, from the siege on. A thread waits for them, the
/// game does not.
fn read_console(mut commands: Commands) {
    let (sender, lines) = sync_channel(AHEAD);
    let reader = std::thread::Builder::new().spawn(move || read_lines(&sender));
    if let Err(error) = reader {
        eprintln!("stdin is not read: {error}");
        return;
    }
    commands.flow("console", async move |fx| {
        fx.state(Phase::Siege).await?;
        loop {
            for line in lines.try_iter().take(AT_ONCE) {
                fx.with(|cx| match line {
                    Ok(line) => cx.queue_line(&line, Source::Terminal, |cx, run| {
                        if run.outcome != LineOutcome::Cancelled {
                            LEFT.fetch_sub(1, Ordering::Relaxed);
                        }
                        if !run.output.is_empty() {
                            say(cx.host_mut(), &harmless(&run.text()));
                        }
                    }),
                    Err(notice) => eprintln!("{notice}"),
                })?;
            }
            fx.next_tick().await?;
        }
    });
}
