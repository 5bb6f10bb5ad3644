//! The recipes of `flow_nodes` as one writes them in Bevy: flows of entities, systems that flows run, waiting
//! for components, despawns that end what is bound. Frames of 0.05 s; one recipe after the other.
//!
//! $ cargo run --example bevy_flow_nodes --features bevy
#![allow(clippy::print_stdout)]

use std::fmt::Display;
use std::time::Duration;

use bevy_app::{App, AppExit, ScheduleRunnerPlugin};
use bevy_ecs::prelude::*;
use bevy_time::{Real, Time, TimePlugin, TimeUpdateStrategy, Virtual};
use stillcooking::bevy::prelude::*;
use stillcooking::prelude::*;

type Fx = FlowCx<World>;

const FRAME: Duration = Duration::from_millis(50);

/// One line of the timeline: the game's time, the real one, and what happens.
fn say(world: &World, what: impl Display) {
    let game = world.resource::<Time<Virtual>>().elapsed_secs_f64();
    let real = world.resource::<Time<Real>>().elapsed_secs_f64();
    println!("  {game:5.2} s  {real:5.2} s   {what}");
}

fn tell(fx: &Fx, what: impl Display) -> Result<(), FlowError> {
    fx.with(|cx| say(cx.host(), what))
}

/// Waits for the end of a flow that a system has asked for.
async fn over(fx: &Fx, flow: FlowHandle) -> Result<(), FlowError> {
    let is_over =
        |_: &mut Cx<'_, World>, _| !matches!(flow.state(), FlowState::Pending | FlowState::Running);
    fx.wait_until(is_over).on(Clock::Real).await.map(drop)
}

// ---- Ten spawns, a quarter of a second apart ----

#[derive(Component)]
struct Cave;
#[derive(Component)]
struct Goblin;

/// A system that a flow runs: it has queries and commands like any other.
fn spawns(cave: Single<Entity, With<Cave>>, mut commands: Commands) -> FlowHandle {
    commands.entity(*cave).flow("goblins", async |fx, _cave| {
        fx.for_each_with_delay(10, secs(0.25), async |i| {
            fx.with(|cx| {
                cx.host_mut().spawn(Goblin);
                say(cx.host(), format!("goblin {i}"));
            })
        })
        .await?;
        Ok(())
    })
}

/// The same as a builder with callbacks. The cave falls in at the fourth goblin: with it ends the loop.
fn spawns_of_a_builder(cave: Single<Entity, With<Cave>>, mut commands: Commands) {
    commands.entity(*cave).with_cx(|cx, cave| {
        let Ok(owner) = cx.entity_owner(cave) else {
            return;
        };
        let started = ForEach::index(10)
            .delay(secs(0.25))
            .each(move |cx: &mut Cx<'_, World>, i| {
                cx.host_mut().spawn(Goblin);
                say(cx.host(), format!("goblin {i}"));
                if i == 3 {
                    cx.host_mut().despawn(cave);
                }
            })
            .on_finished(|cx, finish| say(cx.host(), format!("the cave falls in: {finish:?}")))
            .owner(owner)
            .start(cx);
        debug_assert!(started.is_ok());
    });
}

fn count_goblins(goblins: Query<(), With<Goblin>>) -> usize {
    goblins.iter().count()
}

async fn ten_spawns(fx: &Fx) -> Result<(), FlowError> {
    fx.with(|cx| cx.host_mut().spawn(Cave).id())?;
    let goblins = fx.run_system(spawns, ())?;
    over(fx, goblins).await?;
    fx.run_system(spawns_of_a_builder, ())?;
    fx.delay(secs(1)).await?;
    let count = fx.run_system(count_goblins, ())?;
    tell(fx, format!("{count} goblins"))
}

// ---- A thousand items, fifty a frame ----

#[derive(Component)]
struct Tile(u32);

fn tiles(tiles: Query<Entity, With<Tile>>) -> Vec<Entity> {
    tiles.iter().collect()
}

async fn a_thousand_items(fx: &Fx) -> Result<(), FlowError> {
    fx.with(|cx| {
        let tiles = (0..1000).map(|_| Tile(0));
        cx.host_mut().spawn_batch(tiles).for_each(drop);
    })?;
    let mut painted = 0;
    let all = fx.run_system(tiles, ())?;
    fx.for_each_per_tick(all, 50, async |tile| {
        painted += 1;
        fx.with(|cx| {
            // It may have been despawned since.
            if let Some(mut tile) = cx.host_mut().get_mut::<Tile>(tile) {
                tile.0 = painted;
            }
            if painted % 200 == 0 {
                say(cx.host(), format!("{painted} tiles painted"));
            }
        })
    })
    .await?;
    Ok(())
}

// ---- A fade on an ease-out curve, and somebody who sees it begin ----

#[derive(Component)]
struct Opacity(f32);

async fn a_fade(fx: &Fx) -> Result<(), FlowError> {
    let ghost = fx.with(|cx| cx.host_mut().spawn(Opacity(0.0)).id())?;
    let fade = fx
        .do_for_duration(secs(0.5), move |cx, alpha, _delta| {
            if let Some(mut opacity) = cx.host_mut().get_mut::<Opacity>(ghost) {
                opacity.0 = alpha;
            }
            say(cx.host(), format!("opacity {alpha:.2}"));
        })
        .ease(Ease::OutCubic);
    let seen = async {
        fx.component_changed::<Opacity>(ghost).await?;
        tell(fx, "the cat looks up")
    };
    let (faded, seen) = join(fade, seen).await;
    faded.map(drop).and(seen)
}

// ---- A pause menu slides in while the game is paused ----

async fn a_pause(fx: &Fx) -> Result<(), FlowError> {
    let walk = async {
        let step = |cx: &mut Cx<'_, World>, alpha, _| say(cx.host(), format!("walk {alpha:.2}"));
        fx.do_for_duration(secs(0.2), step).await.map(drop)
    };
    let menu = async {
        fx.next_tick().await?;
        fx.with(|cx| cx.host_mut().resource_mut::<Time<Virtual>>().pause())?;
        let slide = |cx: &mut Cx<'_, World>, alpha, _| say(cx.host(), format!("menu {alpha:.2}"));
        fx.do_for_duration(secs(0.2), slide).on(Clock::Real).await?;
        fx.with(|cx| cx.host_mut().resource_mut::<Time<Virtual>>().unpause())
    };
    let (walked, shown) = join(walk, menu).await;
    walked.and(shown)
}

// ---- Wait for the boss, but not forever ----

#[derive(Component)]
struct Boss;

async fn two_bosses(fx: &Fx) -> Result<(), FlowError> {
    let [slime, dragon] = fx.with(|cx| [(); 2].map(|()| cx.host_mut().spawn(Boss).id()))?;
    // Nobody slays the dragon.
    let hero = async {
        fx.delay(secs(0.6)).await?;
        fx.with(|cx| cx.host_mut().despawn(slime)).map(drop)
    };
    let outcome = async |name: &str, boss| {
        let is_dead = |cx: &mut Cx<'_, World>, _| cx.host().get_entity(boss).is_err();
        let wait = fx.wait_until(is_dead).every(secs(0.25)).timeout(secs(1));
        match wait.await? {
            Wait::Satisfied => tell(fx, format!("the {name} is dead")),
            Wait::TimedOut => tell(fx, format!("the {name} lives on")),
        }
    };
    let bosses = join(outcome("slime", slime), outcome("dragon", dragon));
    let (hero, (slime, dragon)) = join(hero, bosses).await;
    hero.and(slime).and(dragon)
}

// ---- Each file is loaded on a thread ----

/// While it is there, no time passes, so that the timeline is the same however long the threads take.
#[derive(Resource)]
struct Loading;

fn keep_time(loading: Option<Res<Loading>>, mut commands: Commands) {
    let frame = if loading.is_some() {
        Duration::ZERO
    } else {
        FRAME
    };
    commands.insert_resource(TimeUpdateStrategy::ManualDuration(frame));
}

async fn a_loader(fx: &Fx) -> Result<(), FlowError> {
    let files = ["oven.mesh", "spoon.mesh", "sizzle.ogg"];
    let load = async |file: &'static str| {
        fx.with(|cx| cx.host_mut().insert_resource(Loading))?;
        let size = fx.run_on_thread(move || file.len()).await?;
        fx.with(|cx| {
            cx.host_mut().remove_resource::<Loading>();
            say(cx.host(), format!("{file}: {size} bytes"));
        })
    };
    let loader = fx.for_each(files).delay(secs(0.25)).each(load);
    loader.await.map(drop)
}

// ---- A door that is hurried on its way, and waited for ----

#[derive(Component)]
struct Door(f32);
#[derive(Component)]
struct Open;

async fn a_door(fx: &Fx) -> Result<(), FlowError> {
    let door = fx.with(|cx| cx.host_mut().spawn(Door(0.0)).id())?;
    let control = DriveControl::new();
    let swing = async {
        fx.do_for_duration(secs(1), move |cx, alpha, _delta| {
            if let Some(mut door) = cx.host_mut().get_mut::<Door>(door) {
                door.0 = 90.0 * alpha;
            }
            say(cx.host(), format!("door {alpha:.2}"));
        })
        .control(&control)
        .await?;
        fx.with(|cx| {
            cx.host_mut().entity_mut(door).insert(Open);
        })
    };
    let push = async {
        fx.delay(secs(0.2)).await?;
        control.set_speed(4.0)?;
        fx.delay(secs(0.1)).await?;
        control.seek(secs(0.9))?;
        control.set_speed(1.0)?;
        Ok::<(), FlowError>(())
    };
    let draught = async {
        let is_open = fx.changed(|cx| cx.host().get::<Open>(door).is_some());
        match is_open.timeout(secs(5)).await? {
            Some(_) => tell(fx, "there is a draught"),
            None => tell(fx, "the door sticks"),
        }
    };
    let (swing, (push, draught)) = join(swing, join(push, draught)).await;
    swing.and(push).and(draught)
}

// ---- The evening ----

async fn all(fx: &Fx) -> Result<(), FlowError> {
    println!("   game     real");
    println!("Ten spawns, a quarter of a second apart; the second cave falls in");
    ten_spawns(fx).await?;
    println!("A thousand items, fifty a frame");
    a_thousand_items(fx).await?;
    println!("A fade on an ease-out curve");
    a_fade(fx).await?;
    println!("A pause: the walk stops, the menu counts on Clock::Real");
    a_pause(fx).await?;
    println!("Wait for the boss, a second at most");
    two_bosses(fx).await?;
    println!("Each file is loaded on a thread");
    a_loader(fx).await?;
    println!("A door is pushed, and waited for");
    a_door(fx).await
}

fn begin(mut commands: Commands) {
    commands.flow("recipes", async |fx| {
        let outcome = all(&fx).await;
        fx.with(|cx| {
            let left = cx.flow_list().len() - 1; // But for this one.
            println!("Flows that still run: {left}; the recipes: {outcome:?}.");
            cx.host_mut().write_message(match (left, &outcome) {
                (0, Ok(())) => AppExit::Success,
                _ => AppExit::error(),
            });
        })?;
        outcome
    });
}

fn main() -> AppExit {
    tracing_subscriber::fmt().without_time().init();
    App::new()
        .add_plugins((
            TimePlugin,
            ScheduleRunnerPlugin::run_loop(Duration::ZERO),
            StillCookingPlugins,
        ))
        .insert_resource(TimeUpdateStrategy::ManualDuration(FRAME))
        .add_systems(bevy_app::Startup, begin)
        .add_systems(bevy_app::Last, keep_time)
        .run()
}
