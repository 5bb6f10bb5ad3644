//! Bevy's time as the deltas of the runtime's worlds.

use std::time::Duration;

use bevy_ecs::world::World;
use bevy_time::{Fixed, Real, Time, Virtual};
use sc_core::{Runtime, WorldDelta, WorldId};

/// The deltas of one frame.
pub(crate) struct Deltas {
    /// What all worlds get whose dilation is 1.
    usual: WorldDelta,
    /// What the others get. Empty in most programs.
    others: Vec<(WorldId, WorldDelta)>,
}

impl Deltas {
    /// Takes the readings of Bevy's clocks.
    pub(crate) fn sample(runtime: &mut Runtime<World>, world: &mut World) -> Self {
        let real = world
            .get_resource::<Time<Real>>()
            .map_or(Duration::ZERO, Time::delta);
        let game = world.get_resource::<Time<Virtual>>();
        let paused = game.is_some_and(Time::<Virtual>::is_paused);
        let dilated = match game {
            None => real,
            // What it would have been without the pause, for the clock that goes through it.
            Some(game) if paused => scaled(real, game.relative_speed_f64()).min(game.max_delta()),
            Some(game) => game.delta(),
        };
        Self::of_all(
            runtime,
            world,
            WorldDelta {
                dilated,
                real,
                paused,
            },
        )
    }

    /// The deltas of a step: the timestep, and what it took in real time.
    pub(crate) fn sample_step(runtime: &mut Runtime<World>, world: &mut World) -> Self {
        let step = world
            .get_resource::<Time<Fixed>>()
            .map_or(Duration::ZERO, Time::delta);
        let speed = world.get_resource::<Time<Virtual>>().map_or(1.0, speed);
        let mut cx = runtime.cx(world);
        let left = &mut cx.runtime_state::<RealLeft>().0;
        let usual = WorldDelta {
            dilated: step,
            real: took(step, speed, left),
            // Bevy takes no step in a pause; one that it takes all the same counts.
            paused: false,
        };
        Self::of_all(runtime, world, usual)
    }

    /// The deltas of all worlds, of what one gets whose dilation is 1.
    fn of_all(runtime: &mut Runtime<World>, world: &mut World, usual: WorldDelta) -> Self {
        let mut cx = runtime.cx(world);
        let mut others = std::mem::take(&mut cx.runtime_state::<Others>().0);
        others.clear();
        for (id, _) in cx.runtime().live_worlds() {
            let dilation = cx.dilation(id).unwrap_or(1.0);
            #[allow(clippy::float_cmp)]
            if dilation != 1.0 {
                let dilated = scaled(usual.dilated, dilation);
                others.push((id, WorldDelta { dilated, ..usual }));
            }
        }
        Deltas { usual, others }
    }

    /// Keeps the memory for the next frame.
    pub(crate) fn keep(self, runtime: &mut Runtime<World>, world: &mut World) {
        runtime.cx(world).runtime_state::<Others>().0 = self.others;
    }

    /// What the runtime's own clock gets.
    pub(crate) fn real(&self) -> Duration {
        self.usual.real
    }

    /// What a world gets.
    pub(crate) fn of(&self, world: WorldId) -> WorldDelta {
        let found = self.others.iter().find(|(id, _)| *id == world);
        found.map_or(self.usual, |(_, delta)| *delta)
    }
}

/// So many times a time; what is beyond range is the most there is.
fn scaled(time: Duration, by: f64) -> Duration {
    Duration::try_from_secs_f64(time.as_secs_f64() * by).unwrap_or(Duration::MAX)
}

/// Memory of [`Deltas`].
#[derive(Default)]
struct Others(Vec<(WorldId, WorldDelta)>);

/// The part of a nanosecond that steps have not handed out yet, or too early, of the time they took.
#[derive(Default)]
struct RealLeft(f64);

/// How fast virtual time runs. At speed 0 no steps come but those that were due before: they are taken as
/// at the usual speed.
fn speed(time: &Time<Virtual>) -> f64 {
    let speed = time.relative_speed_f64();
    if speed > 0.0 { speed } else { 1.0 }
}

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
