//! Bevy's time as the deltas of the runtime's worlds.

use std::time::Duration;

use bevy_ecs::change_detection::{Res, ResMut};
use bevy_ecs::resource::Resource;
use bevy_ecs::world::World;
use bevy_time::{Fixed, Real, Time, Virtual};
use sc_core::{Runtime, WorldDelta};

/// How `Time<Virtual>` was set when it made its delta: systems of the same update may have set it otherwise
/// since.
#[derive(Clone, Copy)]
struct MadeWith {
    paused: bool,
    speed: f64,
}

/// The same, where it lies. `None` before Bevy's first update.
#[derive(Resource, Default)]
pub(crate) struct Made(Option<MadeWith>);

impl MadeWith {
    fn now(time: &Time<Virtual>) -> Self {
        MadeWith {
            paused: time.is_paused(),
            speed: time.relative_speed_f64(),
        }
    }
}

/// The system that runs right after Bevy's clocks have moved.
pub(crate) fn remember(time: Option<Res<Time<Virtual>>>, mut made: ResMut<Made>) {
    made.0 = time.map(|time| MadeWith::now(&time));
}

fn made_with(world: &World, time: &Time<Virtual>) -> MadeWith {
    let made = world.get_resource::<Made>().and_then(|made| made.0);
    made.unwrap_or_else(|| MadeWith::now(time))
}

/// Whether time can pass at all.
pub(crate) fn is_there(world: &World) -> bool {
    world.contains_resource::<Time<Virtual>>() || world.contains_resource::<Time<Real>>()
}

/// What a frame's worlds get: the readings of Bevy's clocks.
pub(crate) fn of_frame(world: &World) -> WorldDelta {
    let real = world
        .get_resource::<Time<Real>>()
        .map_or(Duration::ZERO, Time::delta);
    let Some(time) = world.get_resource::<Time<Virtual>>() else {
        return WorldDelta {
            dilated: real,
            through_pause: real,
            real,
            paused: false,
        };
    };
    let made = made_with(world, time);
    let through_pause = if made.paused {
        // What it would have been without the pause.
        scaled(real, made.speed).min(time.max_delta())
    } else {
        time.delta()
    };
    WorldDelta {
        dilated: time.delta(),
        through_pause,
        real,
        paused: time.is_paused(),
    }
}

/// What a step's worlds get: the timestep, and what it took in real time.
pub(crate) fn of_step(runtime: &mut Runtime<World>, world: &mut World) -> WorldDelta {
    let step = world
        .get_resource::<Time<Fixed>>()
        .map_or(Duration::ZERO, Time::delta);
    let time = world.get_resource::<Time<Virtual>>();
    // At speed 0 no steps come but those that were due before: they are taken as at the usual speed.
    let speed = time.map_or(1.0, |time| made_with(world, time).speed);
    let speed = if speed > 0.0 { speed } else { 1.0 };
    let mut cx = runtime.cx(world);
    let left = &mut cx.runtime_state::<RealLeft>().0;
    WorldDelta {
        dilated: step,
        through_pause: step,
        real: took(step, speed, left),
        // Bevy takes no step in a pause; one that it takes all the same counts.
        paused: false,
    }
}

/// So many times a time; what is beyond range is the most there is.
fn scaled(time: Duration, by: f64) -> Duration {
    Duration::try_from_secs_f64(time.as_secs_f64() * by).unwrap_or(Duration::MAX)
}

/// The part of a nanosecond that steps have not handed out yet, or too early, of the time they took.
#[derive(Default)]
struct RealLeft(f64);

/// What a step took in real time.
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]
fn took(step: Duration, speed: f64, left: &mut f64) -> Duration {
    let exact = step.as_nanos() as f64 / speed + *left;
    let whole = exact.round();
    *left = if exact.is_finite() {
        exact - whole
    } else {
        0.0
    };
    Duration::from_nanos(whole as u64) // What is beyond range is the most there is.
}
