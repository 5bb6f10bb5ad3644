//! What ticks: the list of live entries.

use std::time::Duration;

use super::slots::flag;
use super::{TickError, TickGroup, TickId};
use crate::cx::Cx;
use crate::runtime::Runtime;
use crate::world::WorldId;

/// One object as the inspection list shows it.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct TickInfo {
    /// Its id.
    pub id: TickId,
    /// Its name.
    pub name: String,
    /// Whether it is between initialize and shutdown.
    pub initialized: bool,
    /// The world it is bound to; `None` while uninitialized, and for worldless objects.
    pub world: Option<WorldId>,
    /// Whether it was made to have no world.
    pub worldless: bool,
    /// Its tick group; of a worldless object, `None`.
    pub group: Option<TickGroup>,
    /// Time between ticks; zero = every frame.
    pub interval: Duration,
    /// The intent: whether it is meant to tick while initialized.
    pub enabled: bool,
    /// For an object with an interval: time on its clock until the next tick.
    pub next_due: Option<Duration>,
    /// For an object with an interval: the time accumulated below one interval.
    pub carry: Duration,
    /// Ticks run since it was spawned.
    pub ticks: u64,
    /// Time of the last tick by the stopwatch; `None` unless profiling is on.
    pub last_time: Option<Duration>,
    /// Time of all profiled ticks; `None` unless profiling is on.
    pub total_time: Option<Duration>,
}

impl<H> Runtime<H> {
    /// Every initialized object: worlds in creation order, then worldless ones; within a world
    /// by group and order.
    ///
    /// ```
    /// # use sc_core::{Runtime, Tickable, WorldKind};
    /// # struct Lamp;
    /// # impl Tickable<()> for Lamp {}
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// # let world = cx.create_world(WorldKind::Game)?;
    /// # let lamp = cx.spawn_in(world, Lamp)?;
    /// let list = rt.tick_list();
    /// assert_eq!((list[0].name.as_str(), list[0].ticks), ("Lamp", 0));
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    #[must_use]
    pub fn tick_list(&self) -> Vec<TickInfo> {
        let homes = self.world_order.iter().map(|&id| Some(id));
        let mut list = Vec::new();
        for home in homes.chain([None]) {
            let Some(set) = self.tick_set(home) else {
                continue;
            };
            let mut members = set.members.clone();
            members.sort_unstable_by_key(|&slot| {
                let cold = &self.slots.cold[slot as usize];
                (cold.settings.group, cold.label)
            });
            let alive = members
                .into_iter()
                .filter(|&slot| !self.inbox.is_dropped(self.slots.id(slot)))
                .filter(|&slot| !self.slots.has(slot, flag::DEAD | flag::ANCHOR));
            list.extend(alive.map(|slot| self.tick_info(slot)));
        }
        list
    }

    /// The name of an object, or of what an anchor stands for: for the lists of extensions.
    #[doc(hidden)]
    #[must_use]
    pub fn object_name(&self, object: TickId) -> Option<String> {
        let slot = self.live_now(object).ok()?;
        Some(self.slots.name(slot))
    }

    fn tick_info(&self, slot: u32) -> TickInfo {
        let hot = &self.slots.hot[slot as usize];
        let cold = &self.slots.cold[slot as usize];
        let initialized = hot.flags & flag::INITIALIZED != 0;
        let worldless = hot.flags & flag::WORLDLESS != 0;
        let enabled = self.slots.intends_to_tick(slot);
        let throttled = initialized && enabled && cold.interval > 0;
        let accumulated = if throttled && !cold.restarts {
            self.accumulated(slot)
        } else {
            0
        };
        let time = |nanos| self.profiling().then(|| Duration::from_nanos(nanos));
        TickInfo {
            id: self.slots.id(slot),
            name: self.slots.name(slot),
            initialized,
            world: cold.home,
            worldless,
            group: (!worldless).then_some(cold.settings.group),
            interval: Duration::from_nanos(cold.interval),
            enabled,
            next_due: throttled.then(|| Duration::from_nanos(self.until_due(slot))),
            carry: Duration::from_nanos(accumulated),
            ticks: hot.ticks,
            last_time: time(cold.last_nanos),
            total_time: time(cold.total_nanos),
        }
    }
}

impl<H> Cx<'_, H> {
    /// One object as the inspection list shows it, initialized or not, running or not.
    ///
    /// ```
    /// # use sc_core::{Runtime, Tickable, WorldKind, secs};
    /// # struct Lamp;
    /// # impl Tickable<()> for Lamp {}
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// # let world = cx.create_world(WorldKind::Game)?;
    /// let lamp = cx.spawn_in(world, Lamp)?;
    /// cx.configure(&lamp)?.interval(secs(0.5)).apply()?;
    /// rt.tick_secs(&mut host, 0.75)?;
    /// let info = rt.cx(&mut host).tick_info(&lamp)?;
    /// assert_eq!((info.ticks, info.carry.as_millis()), (1, 250));
    /// assert_eq!(info.next_due.map(|left| left.as_millis()), Some(250));
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`TickError::Gone`]; [`TickError::WrongRuntime`].
    pub fn tick_info(&self, object: impl Into<TickId>) -> Result<TickInfo, TickError> {
        let slot = self.rt.live_now(object.into())?;
        Ok(self.rt.tick_info(slot))
    }
}
