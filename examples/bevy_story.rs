//! The scenes of `async_story` and `quickstart` as one writes them in Bevy: a story of flows beside objects that
//! tick, which belong to entities; a world in `FixedUpdate`; a pause and slow motion by Bevy's own time; an arena that is
//! despawned. Simulated at 20 updates a second: the clock does not wait.
//!
//! $ cargo run --example bevy_story --features bevy
//!
//! It prints one error on purpose: that of the flow that fails, which nobody awaits.
#![allow(clippy::print_stdout)]

use std::fmt::Display;
use std::time::Duration;

use bevy_app::{App, AppExit, ScheduleRunnerPlugin, Startup};
use bevy_ecs::prelude::*;
use bevy_time::{Real, Time, TimePlugin, TimeUpdateStrategy, Virtual};
use stillcooking::bevy::prelude::*;
use stillcooking::prelude::*;

type Fx = FlowCx<World>;

/// One line of the story.
fn say(world: &World, what: impl Display) {
    let now = world.resource::<Time<Real>>().elapsed_secs_f64();
    println!("{now:5.2} s  | {what}");
}

fn tell(fx: &Fx, what: impl Display) -> Result<(), FlowError> {
    fx.with(|cx| say(cx.host(), what))
}

// ---- Objects that tick ----

/// Where something is, in metres. A component: systems and objects both see it.
#[derive(Component)]
struct At(f64);

/// Runs, every frame. Bound to its entity: no shutdown is to be remembered.
struct Runner(Entity);

impl Tickable<World> for Runner {
    fn tick(&mut self, cx: &mut Cx<'_, World>) {
        let step = 8.0 * cx.delta_secs();
        if let Some(mut at) = cx.host_mut().get_mut::<At>(self.0) {
            at.0 += step;
        }
    }
    fn shutdown(&mut self, cx: &mut Cx<'_, World>) {
        say(cx.host(), "    the runner's object is shut down");
    }
}

/// How often the radar has swept, and how often the menu was drawn.
#[derive(Resource, Default)]
struct Seen {
    sweeps: u32,
    menu: u32,
}

/// Ticks twice a second of the game.
struct Radar;

impl Tickable<World> for Radar {
    fn settings(&self) -> TickSettings {
        TickSettings::default().interval(secs(0.5))
    }
    fn tick(&mut self, cx: &mut Cx<'_, World>) {
        cx.host_mut().resource_mut::<Seen>().sweeps += 1;
    }
}

/// Ticks through a pause too, and counts the frames of one.
struct PauseMenu;

impl Tickable<World> for PauseMenu {
    fn settings(&self) -> TickSettings {
        TickSettings::default().tick_when_paused(true)
    }
    fn tick(&mut self, cx: &mut Cx<'_, World>) {
        if cx.host().resource::<Time<Virtual>>().is_paused() {
            cx.host_mut().resource_mut::<Seen>().menu += 1;
        }
    }
}

/// Falls, in steps of 1/64 s, however long an update takes.
struct Ball {
    entity: Entity,
    speed: f64,
}

impl Tickable<World> for Ball {
    fn tick(&mut self, cx: &mut Cx<'_, World>) {
        let step = cx.delta_secs();
        self.speed += 9.81 * step;
        let fallen = self.speed * step;
        if let Some(mut at) = cx.host_mut().get_mut::<At>(self.entity) {
            at.0 -= fallen;
        }
    }
}

async fn objects_that_tick(fx: &Fx) -> Result<(), FlowError> {
    tell(fx, "-- objects of entities")?;
    let (runner, radar) = fx.with(|cx| {
        let [runner, radar] = [(); 2].map(|()| cx.host_mut().spawn(At(0.0)).id());
        cx.spawn_for(runner, Runner(runner))
            .map_err(FlowError::other)?;
        cx.spawn_for(radar, Radar).map_err(FlowError::other)?;
        cx.spawn_for(radar, PauseMenu).map_err(FlowError::other)?;
        Ok::<_, FlowError>((runner, radar))
    })??;
    let row = |text: &str| {
        fx.with(|cx| {
            let at = cx.host().get::<At>(runner).map_or(0.0, |at| at.0);
            let seen = cx.host().resource::<Seen>();
            let (sweeps, menu) = (seen.sweeps, seen.menu);
            let row = format!("{text:<14} runner {at:5.2} m   radar {sweeps}   menu {menu}");
            say(cx.host(), format!("    {row}"));
        })
    };
    let time = |change: fn(&mut Time<Virtual>)| {
        fx.with(|cx| change(&mut cx.host_mut().resource_mut::<Time<Virtual>>()))
    };
    let second = || async {
        fx.wait_until(|_, _| false)
            .timeout(secs(1))
            .on(Clock::Real)
            .await
    };
    second().await?;
    row("running")?;
    time(|time| time.pause())?;
    second().await?;
    row("paused")?;
    time(|time| time.unpause())?;
    time(|time| time.set_relative_speed(0.25))?;
    second().await?;
    row("slow motion")?;
    time(|time| time.set_relative_speed(1.0))?;
    fx.with(|cx| [runner, radar].map(|entity| cx.host_mut().despawn(entity)))?;
    // A despawn is heard before the next callback of ours.
    fx.next_tick().await?;
    tell(fx, "    both entities are despawned")
}

/// A world of its own, in `FixedUpdate`.
async fn a_fall(fx: &Fx) -> Result<(), FlowError> {
    tell(fx, "-- a world that steps")?;
    let (physics, ball) = fx.with(|cx| {
        let options = WorldOptions::new(WorldKind::Game).name("physics");
        let physics = cx.create_world(options.steps(true))?;
        let entity = cx.host_mut().spawn(At(20.0)).id();
        cx.spawn_world_owned(physics, Ball { entity, speed: 0.0 })?;
        Ok::<_, FlowError>((physics, entity))
    })??;
    let watch = fx.with(|cx| {
        Flow::new("watch")
            .world(physics)
            .spawn(cx, async move |fx| {
                let fallen = |cx: &mut Cx<'_, World>, _| {
                    cx.host().get::<At>(ball).is_none_or(|at| at.0 <= 0.0)
                };
                fx.wait_until(fallen).await?;
                fx.with(|cx| {
                    let took = cx.elapsed(physics, Clock::Game).unwrap_or_default();
                    say(
                        cx.host(),
                        format!("    20 m take the ball {took:?}, in steps of 1/64 s"),
                    );
                })
            })
    })??;
    fx.flow(watch).await?;
    fx.with(|cx| cx.destroy_world(physics)).map(drop)
}

/// An arena whose world is an entity's.
async fn an_arena(fx: &Fx) -> Result<(), FlowError> {
    tell(fx, "-- an arena, despawned from inside")?;
    let ended = |cx: &mut Cx<'_, World>, finish| {
        say(cx.host(), format!("    the bomb's flow ends: {finish:?}"))
    };
    let bomb = fx.with(|cx| {
        let arena = cx.host_mut().spawn_empty().id();
        let world = cx.entity_world(arena).map_err(FlowError::other)?;
        let bomb = Flow::new("bomb").world(world).on_finished(ended);
        bomb.spawn(cx, async move |fx| {
            fx.delay(secs(0.5)).await?;
            tell(&fx, "    the bomb takes the whole arena with it")?;
            fx.with(|cx| cx.host_mut().despawn(arena))?;
            fx.next_tick().await?;
            tell(&fx, "    this is never told")
        })
    })??;
    match fx.flow(bomb).await {
        Err(FlowError::Aborted) => Ok(()),
        other => tell(fx, format!("    unexpected: {other:?}")),
    }
}

// ---- Flows ----

async fn a_task_a_race_a_timeout(fx: &Fx) -> Result<(), FlowError> {
    tell(fx, "-- a task, a race, a timeout")?;
    let task = fx.with(|cx| {
        cx.spawn_task("count the eggs", async |fx| {
            fx.delay(secs(0.5)).await?;
            Ok::<u32, FlowError>(12)
        })
    })??;
    let eggs = task.join(fx).await??;
    tell(fx, format!("    there are {eggs} eggs"))?;
    let kettle = async { fx.delay(secs(0.5)).await };
    let samovar = async { fx.delay(secs(60)).await };
    let tea = match race(kettle, samovar).await {
        Either::First(boiled) => boiled.map(|()| "kettle"),
        Either::Second(boiled) => boiled.map(|()| "samovar"),
    }?;
    tell(fx, format!("    tea from the {tea}"))?;
    match fx.timeout(secs(1), fx.message::<GuestComes>()).await? {
        Some(guest) => tell(fx, format!("    here is {}", guest?.0)),
        None => tell(fx, "    no guest: the cook begins without"),
    }
}

/// Somebody is at the door. Nobody sends it.
#[derive(Message, Clone)]
struct GuestComes(String);

/// The flow of the busker, for whoever shuts the window.
#[derive(Resource)]
struct Busker(FlowHandle);

fn sing(mut commands: Commands) {
    let busker = commands.flow("busker", async |fx| {
        let mut beat = fx.pace(secs(0.3))?;
        loop {
            beat.next().await?;
            tell(&fx, "    in the street a busker sings: la la la")?;
        }
    });
    commands.insert_resource(Busker(busker));
}

fn shut_window(busker: Res<Busker>, mut commands: Commands) {
    commands.cancel_flow(&busker.0);
}

async fn a_busker(fx: &Fx) -> Result<(), FlowError> {
    tell(fx, "-- a flow that systems start and cancel")?;
    fx.run_system(sing, ())?;
    fx.delay(secs(1)).await?;
    fx.run_system(shut_window, ())?;
    let state = || fx.with(|cx| cx.host().resource::<Busker>().0.state());
    tell(
        fx,
        format!(
            "    the window is shut: {}",
            matches!(state()?, FlowState::Running)
        ),
    )?;
    fx.next_tick().await?;
    tell(fx, format!("    {:?}", state()?))
}

#[derive(Component)]
struct Candle;

fn light(mut commands: Commands) -> Entity {
    let mut candle = commands.spawn(Candle);
    candle.flow("flicker", async |fx, _candle| {
        tell(&fx, "    the candle begins to flicker, for an hour")?;
        fx.delay(secs(3600)).await?;
        tell(&fx, "    the candle is burnt down: this is never told")
    });
    candle.id()
}

/// A flow that fails: nobody awaits it, so its error is reported.
fn bake(mut commands: Commands) {
    commands.flow("cake", async |fx| {
        fx.delay(secs(0.25)).await?;
        Err(FlowError::other("the cake is burnt"))
    });
}

async fn a_candle_and_a_cake(fx: &Fx) -> Result<(), FlowError> {
    tell(fx, "-- a flow of an entity, and one that fails")?;
    let candle = fx.run_system(light, ())?;
    fx.delay(secs(0.5)).await?;
    fx.with(|cx| cx.host_mut().despawn(candle))?;
    fx.run_system(bake, ())?;
    fx.delay(secs(0.5)).await?;
    let left = fx.with(|cx| cx.flow_list().len())?;
    tell(
        fx,
        format!("    no candle, no flicker; flows that run: {left}, this one"),
    )
}

async fn evening(fx: &Fx) -> Result<(), FlowError> {
    objects_that_tick(fx).await?;
    a_fall(fx).await?;
    an_arena(fx).await?;
    a_task_a_race_a_timeout(fx).await?;
    a_busker(fx).await?;
    a_candle_and_a_cake(fx).await
}

fn begin(mut commands: Commands) {
    commands.flow("evening", async |fx| {
        let outcome = evening(&fx).await;
        fx.with(|cx| {
            say(cx.host(), format!("The evening ends: {outcome:?}."));
            let exit = match (cx.flow_list().len(), &outcome) {
                (1, Ok(())) => AppExit::Success,
                _ => AppExit::error(),
            };
            cx.host_mut().write_message(exit);
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
        .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_millis(
            50,
        )))
        .init_resource::<Seen>()
        .add_message::<GuestComes>()
        .add_systems(Startup, begin)
        .run()
}
