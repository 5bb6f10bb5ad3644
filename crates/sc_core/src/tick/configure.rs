//! Changing an object's settings: gathered, then validated and applied as one.

use super::slots::flag;
use super::{TickError, TickGroup, TickId, TickSettings};
use crate::Secs;
use crate::cx::Cx;

/// Gathers changes to one object's settings; [`apply`](Configure::apply) makes them, all or
/// none. Made by [`Cx::configure`].
///
/// ```
/// # use sc_core::{Runtime, TickGroup, Tickable, WorldKind, secs};
/// # struct Lamp;
/// # impl Tickable<()> for Lamp {}
/// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
/// # let mut cx = rt.cx(&mut host);
/// # let world = cx.create_world(WorldKind::Game)?;
/// let lamp = cx.spawn(Lamp);
/// cx.configure(&lamp)?
///     .start_ticking(false)
///     .tick_when_paused(true)
///     .tick_in_editor(true)
///     .interval(secs(0.5))
///     .tick_at_start(true)
///     .group(TickGroup::PostUpdate)
///     .apply()?;
/// cx.initialize(&lamp, world)?;
/// let info = cx.tick_info(&lamp)?;
/// assert_eq!((info.enabled, info.group), (false, Some(TickGroup::PostUpdate)));
/// # Ok::<(), sc_core::Error>(())
/// ```
#[must_use = "nothing changes until `apply` is called"]
pub struct Configure<'c, 'a, H: 'static> {
    cx: &'c mut Cx<'a, H>,
    slot: u32,
    settings: TickSettings,
    after: Vec<TickId>,
    not_after: Vec<TickId>,
}

/// A validated interval in nanoseconds.
pub(super) fn interval_nanos(interval: Secs) -> Result<u64, TickError> {
    let nanos = interval.to_nanos()?;
    if nanos == 0 && interval.as_f64() > 0.0 {
        return Err(TickError::IntervalTooShort {
            seconds: interval.as_f64(),
        });
    }
    Ok(nanos)
}

impl<'a, H> Cx<'a, H> {
    /// Starts a change of an object's settings. What is asked for during a pass takes effect
    /// after it; nothing is lost.
    ///
    /// ```
    /// # use sc_core::{Runtime, Tickable, TickGroup, WorldKind, secs};
    /// # struct Lamp;
    /// # impl Tickable<()> for Lamp {}
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// # let world = cx.create_world(WorldKind::Game)?;
    /// # let (lamp, switch) = (cx.spawn_in(world, Lamp)?, cx.spawn_in(world, Lamp)?);
    /// cx.configure(&lamp)?
    ///     .interval(secs(0.25))
    ///     .group(TickGroup::PostPhysics)
    ///     .after(&switch)
    ///     .apply()?;
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`TickError::Gone`]; [`TickError::WrongRuntime`].
    pub fn configure(
        &mut self,
        object: impl Into<TickId>,
    ) -> Result<Configure<'_, 'a, H>, TickError> {
        let slot = self.rt.live(object.into())?;
        let settings = self.rt.slots.cold[slot as usize].settings;
        Ok(Configure {
            cx: self,
            slot,
            settings,
            after: Vec::new(),
            not_after: Vec::new(),
        })
    }
}

macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident: $type:ty;)*) => {$(
        $(#[$doc])*
        pub fn $name(mut self, $name: $type) -> Self {
            self.settings.$name = $name;
            self
        }
    )*};
}

impl<H> Configure<'_, '_, H> {
    setters! {
        /// Whether initializing enables the tick. Changes the default, not a running object.
        start_ticking: bool;
        /// Whether it ticks while its world is paused.
        tick_when_paused: bool;
        /// Whether it ticks in worlds that tick nothing gameplay-like.
        tick_in_editor: bool;
        /// Whether the first tick with an interval comes at once when it is next initialized or
        /// enabled.
        tick_at_start: bool;
        /// In which part of the frame it ticks.
        group: TickGroup;
    }

    /// Time between two ticks on the object's clock; 0 = every frame. From 0 to a positive one,
    /// time starts to accumulate anew; from one positive to another, what has accumulated is
    /// kept; to 0, it is handed out with the next tick.
    pub fn interval(mut self, interval: impl Into<Secs>) -> Self {
        self.settings.interval = interval.into();
        self
    }

    /// Makes the object tick after another one whenever both tick in the same frame: a
    /// prerequisite. It has to be in the same world and in the same group or an earlier one.
    pub fn after(mut self, prerequisite: impl Into<TickId>) -> Self {
        self.after.push(prerequisite.into());
        self
    }

    /// Takes a prerequisite back; one that was never declared, or is gone, is no error.
    ///
    /// ```
    /// # use sc_core::{Runtime, TickError, Tickable, WorldKind};
    /// # struct Lamp;
    /// # impl Tickable<()> for Lamp {}
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// # let world = cx.create_world(WorldKind::Game)?;
    /// let (a, b) = (cx.spawn_in(world, Lamp)?, cx.spawn_in(world, Lamp)?);
    /// cx.configure(&a)?.after(&b).apply()?;
    /// let circle = cx.configure(&b)?.after(&a).apply();
    /// assert!(matches!(circle, Err(TickError::PrerequisiteCycle { .. })));
    /// cx.configure(&a)?.not_after(&b).apply()?;
    /// cx.configure(&b)?.after(&a).apply()?;
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    pub fn not_after(mut self, prerequisite: impl Into<TickId>) -> Self {
        self.not_after.push(prerequisite.into());
        self
    }

    /// Validates all of it, then applies all of it.
    ///
    /// ```
    /// # use sc_core::{Runtime, TickError, Tickable, WorldKind, secs};
    /// # use std::time::Duration;
    /// # struct Lamp;
    /// # impl Tickable<()> for Lamp {}
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// # let world = cx.create_world(WorldKind::Game)?;
    /// let lamp = cx.spawn_in(world, Lamp)?;
    /// let refused = cx.configure(&lamp)?.tick_when_paused(true).interval(secs(-1)).apply();
    /// assert!(matches!(refused, Err(TickError::BadInterval(_))));
    /// cx.configure(&lamp)?.interval(secs(0.5)).apply()?;
    /// assert_eq!(cx.tick_info(&lamp)?.interval, Duration::from_millis(500));
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// Nothing has changed on any of these:
    /// - [`TickError::BadInterval`] for a NaN, infinite, negative or too large number of seconds,
    ///   [`TickError::IntervalTooShort`] for a positive one that rounds to 0 ns
    /// - [`TickError::Gone`] or [`TickError::WrongRuntime`] for a prerequisite
    /// - [`TickError::PrerequisiteCycle`] with the path, [`TickError::PrerequisiteLater`],
    ///   [`TickError::PrerequisiteElsewhere`]
    /// - [`TickError::Worldless`] for the tick group of a worldless object
    pub fn apply(self) -> Result<(), TickError> {
        let Configure {
            cx,
            slot,
            settings,
            after,
            not_after,
        } = self;
        let interval = interval_nanos(settings.interval)?;
        let rt = &mut *cx.rt;
        let old = rt.slots.cold[slot as usize].settings;
        if rt.slots.has(slot, flag::WORLDLESS) && settings.group != old.group {
            return Err(TickError::Worldless {
                object: rt.slots.name(slot),
            });
        }
        let mut prerequisites = Vec::with_capacity(after.len());
        for id in after {
            prerequisites.push(rt.live(id)?);
        }
        let removed: Vec<u32> = not_after
            .into_iter()
            .filter_map(|id| rt.live(id).ok())
            .collect();
        rt.slots
            .check_links(slot, settings.group, &prerequisites, &removed)?;

        // From here on nothing fails.
        let cold = &mut rt.slots.cold[slot as usize];
        cold.restarts |= cold.interval == 0 && interval > 0;
        cold.settings = settings;
        cold.interval = interval;
        rt.slots.enforce_order(slot);
        rt.slots.mark_dirty(slot);
        Ok(())
    }
}

impl<H> super::slots::Slots<H> {
    /// Makes the changes to an object's prerequisites if all of them, and its new group, are
    /// possible; else none.
    fn check_links(
        &mut self,
        slot: u32,
        group: TickGroup,
        added: &[u32],
        removed: &[u32],
    ) -> Result<(), TickError> {
        let before = self.prerequisites(slot);
        for &prerequisite in removed {
            self.unlink_pair(slot, prerequisite);
        }
        let mut outcome = Ok(());
        for &prerequisite in added {
            outcome = self.check_prerequisite(slot, prerequisite);
            if outcome.is_err() {
                break;
            }
            self.link(slot, prerequisite);
        }
        outcome = outcome.and_then(|()| self.check_groups(slot, group));
        if outcome.is_err() {
            for prerequisite in self.prerequisites(slot) {
                self.unlink_pair(slot, prerequisite);
            }
            for prerequisite in before {
                self.link(slot, prerequisite);
            }
        }
        outcome
    }

    fn prerequisites(&self, slot: u32) -> Vec<u32> {
        let links = self.cold[slot as usize].links.as_deref();
        links.map_or_else(Vec::new, |l| {
            l.prerequisites.iter().map(|id| id.index).collect()
        })
    }
}
