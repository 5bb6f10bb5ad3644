//! Bevy's time as the deltas of the runtime's worlds.

use std::time::Duration;

use bevy_ecs::world::World;
use bevy_time::{Real, Time, Virtual};
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
        let usual = WorldDelta {
            dilated,
            real,
            paused,
        };
        let mut others = Vec::new();
        let cx = runtime.cx(world);
        for (id, _) in cx.runtime().live_worlds() {
            let dilation = cx.dilation(id).unwrap_or(1.0);
            #[allow(clippy::float_cmp)]
            if dilation != 1.0 {
                let dilated = scaled(dilated, dilation);
                others.push((id, WorldDelta { dilated, ..usual }));
            }
        }
        Deltas { usual, others }
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
