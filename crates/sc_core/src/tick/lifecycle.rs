//! The life of an object: spawn, initialize, enable and disable, shut down, end.

use std::sync::Arc;

use super::batch::Typed;
use super::key::{Owner, TickId, TickKey};
use super::slots::{Slots, flag};
use super::{Home, TickError, Tickable};
use crate::cx::{Cx, Payload, Scope};
use crate::inbox::OwnerSink;
use crate::report::{Report, ReportKind};
use crate::runtime::Runtime;
use crate::world::WorldId;

#[derive(Clone, Copy)]
enum Event {
    Initialize,
    Shutdown,
}

impl<H> Cx<'_, H> {
    /// Takes an object in, uninitialized, to live in a world later. Registers nothing that
    /// ticks.
    ///
    /// ```
    /// # use sc_core::{Runtime, Tickable, WorldKind};
    /// # struct Lamp;
    /// # impl Tickable<()> for Lamp {}
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// # let world = cx.create_world(WorldKind::Game)?;
    /// let lamp = cx.spawn(Lamp);
    /// cx.configure(&lamp)?.start_ticking(false).apply()?;
    /// cx.initialize(&lamp, world)?;
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    pub fn spawn<T: Tickable<H>>(&mut self, object: T) -> Owner<T> {
        self.insert(object, 0)
    }

    /// Takes an object in that has no world, ever: it ticks in the `Worldless` stage, on the
    /// runtime's own real clock, and outlives every world. Initialize it with `None`.
    ///
    /// ```
    /// # use sc_core::{Runtime, Tickable};
    /// # struct Music;
    /// # impl Tickable<()> for Music {}
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// let music = cx.spawn_worldless(Music);
    /// cx.initialize(&music, None)?;
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    pub fn spawn_worldless<T: Tickable<H>>(&mut self, object: T) -> Owner<T> {
        self.insert(object, flag::WORLDLESS)
    }

    /// [`spawn`](Self::spawn) and [`initialize`](Self::initialize) in one.
    ///
    /// ```
    /// # use sc_core::{Runtime, Tickable, WorldKind};
    /// # struct Lamp;
    /// # impl Tickable<()> for Lamp {}
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// # let world = cx.create_world(WorldKind::Game)?;
    /// let lamp = cx.spawn_in(world, Lamp)?;
    /// assert!(cx.is_initialized(&lamp));
    /// cx.destroy_world(world);
    /// assert!(cx.spawn_in(world, Lamp).is_err());
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`initialize`](Self::initialize); the object is dropped.
    pub fn spawn_in<T: Tickable<H>>(
        &mut self,
        world: WorldId,
        object: T,
    ) -> Result<Owner<T>, TickError> {
        let owner = self.spawn(object);
        self.initialize(&owner, world)?;
        Ok(owner)
    }

    /// As [`spawn_in`](Self::spawn_in), for one of many objects of a type: those that tick every
    /// frame lie side by side and tick in one loop, at the place in the order of the first of
    /// them, in order of initialization.
    ///
    /// Everything else is as for any object, but for one thing: while one of a batch is running,
    /// so are its siblings (`Err(Running)`), and shutting one of them down takes effect at
    /// once while its event runs after the running tick.
    ///
    /// ```
    /// # use sc_core::{Cx, Runtime, Tickable, WorldKind};
    /// struct Bullet { y: f64 }
    /// impl Tickable<()> for Bullet {
    ///     fn tick(&mut self, cx: &mut Cx<'_, ()>) { self.y += cx.delta_secs(); }
    /// }
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// # let world = cx.create_world(WorldKind::Game)?;
    /// let bullets = (0..100)
    ///     .map(|_| cx.spawn_batched(world, Bullet { y: 0.0 }))
    ///     .collect::<Result<Vec<_>, _>>()?;
    /// rt.tick_secs(&mut host, 0.5)?;
    /// assert_eq!(rt.cx(&mut host).get(bullets[99].key())?.y, 0.5);
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`initialize`](Self::initialize); the object is dropped.
    pub fn spawn_batched<T: Tickable<H>>(
        &mut self,
        world: WorldId,
        object: T,
    ) -> Result<Owner<T>, TickError> {
        let owner = self.spawn(object);
        self.rt.slots.cold[owner.id().index as usize].typed = Some(Typed::of::<T>());
        self.initialize(&owner, world)?;
        Ok(owner)
    }

    /// As [`spawn_in`](Self::spawn_in), and hands the object to the world: it lives exactly as
    /// long, or until it is [shut down](Self::shutdown).
    ///
    /// ```
    /// # use sc_core::{Runtime, Tickable, WorldKind};
    /// # struct Smoke;
    /// # impl Tickable<()> for Smoke {}
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// # let world = cx.create_world(WorldKind::Game)?;
    /// let smoke = cx.spawn_world_owned(world, Smoke)?;
    /// cx.destroy_world(world);
    /// assert!(cx.get(smoke).is_err());
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`initialize`](Self::initialize); the object is dropped.
    pub fn spawn_world_owned<T: Tickable<H>>(
        &mut self,
        world: WorldId,
        object: T,
    ) -> Result<TickKey<T>, TickError> {
        let id = self.rt.slots.insert(Box::new(object), flag::WORLD_OWNED);
        if let Err(error) = self.initialize(id, world) {
            if self.rt.slots.live(id).is_ok() {
                self.rt.slots.mark_dead(id.index);
            }
            return Err(error);
        }
        Ok(TickKey::new(id))
    }

    pub(super) fn insert<T: Tickable<H>>(&mut self, object: T, flags: u32) -> Owner<T> {
        let id = self.rt.slots.insert(Box::new(object), flags);
        let sink: Arc<dyn OwnerSink> = self.rt.inbox.clone();
        Owner::new(TickKey::new(id), sink)
    }

    /// Binds an object to a world and runs its initialize event in this call. Its first tick
    /// comes in the next pass, never in this one.
    ///
    /// A worldless object is initialized with `None`; for any other, `None` is no world.
    ///
    /// ```
    /// # use sc_core::{Cx, Runtime, TickError, Tickable, WorldKind};
    /// struct Lamp { lit: bool }
    /// impl Tickable<()> for Lamp {
    ///     fn initialize(&mut self, _: &mut Cx<'_, ()>) { self.lit = true; }
    /// }
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// # let world = cx.create_world(WorldKind::Game)?;
    /// let lamp = cx.spawn(Lamp { lit: false });
    /// assert!(matches!(cx.initialize(&lamp, None), Err(TickError::NoLiveWorld { .. })));
    /// cx.initialize(&lamp, world)?;
    /// assert!(cx.get(&lamp)?.lit);
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// Nothing has changed on any of these:
    /// - [`TickError::Gone`], [`TickError::WrongRuntime`], [`TickError::Running`]
    /// - [`TickError::AlreadyInitialized`], with a report
    /// - [`TickError::NoLiveWorld`] when the world is dead or dying or there is none, with a report
    /// - [`TickError::Worldless`] for a worldless object and a world; [`TickError::ShutDown`] for
    ///   one whose runtime was shut down
    /// - [`TickError::BadInterval`] or [`TickError::IntervalTooShort`] of its own settings
    /// - [`TickError::PrerequisiteElsewhere`] when one of its prerequisites, or one that waits
    ///   for it, is initialized in another world
    ///
    /// [`TickError::Panicked`] when the event panicked under `PanicPolicy::Isolate`: the object is
    /// uninitialized.
    pub fn initialize(
        &mut self,
        object: impl Into<TickId>,
        world: impl Into<Option<WorldId>>,
    ) -> Result<(), TickError> {
        let result = self.initialize_in(object.into(), world.into());
        self.rt.raise_handler_panic();
        result
    }

    fn initialize_in(&mut self, object: TickId, world: Home) -> Result<(), TickError> {
        let slot = self.rt.live(object)?;
        self.check_initialize(slot, world)?;
        let slots = &mut self.rt.slots;
        slots.set(slot, flag::INITIALIZED);
        slots.order_last(slot);
        let cold = &mut slots.cold[slot as usize];
        cold.home = world;
        // From here on the default has no say, until the shutdown.
        cold.intent = Some(cold.intent.unwrap_or(cold.settings.start_ticking));
        cold.interval_in_force = 0;
        slots.start_ticking(slot);
        self.rt.accumulate_from_now(slot);
        self.rt.slots.enforce_order(slot);
        self.rt.join_members(slot);
        self.rt.slots.mark_dirty(slot);
        self.run_event(slot, Event::Initialize)
    }

    fn check_initialize(&mut self, slot: u32, world: Home) -> Result<(), TickError> {
        let slots = &self.rt.slots;
        if slots.has(slot, flag::SHUTDOWN_PENDING | flag::SHUTTING_DOWN) {
            let object = slots.name(slot);
            return Err(TickError::Running { object });
        }
        if slots.has(slot, flag::INITIALIZED) {
            let report = Report::new(ReportKind::AlreadyInitialized, "initialized a second time");
            self.report_on(slot, report);
            let object = self.rt.slots.name(slot);
            return Err(TickError::AlreadyInitialized { object });
        }
        if slots.is_out(slot) {
            let object = slots.name(slot);
            return Err(TickError::Running { object });
        }
        let worldless = slots.has(slot, flag::WORLDLESS);
        match world {
            Some(_) if worldless => {
                let object = slots.name(slot);
                return Err(TickError::Worldless { object });
            }
            None if worldless && self.rt.is_shut_down => {
                let object = slots.name(slot);
                return Err(TickError::ShutDown { object });
            }
            None if worldless => {}
            Some(world) if self.is_world_alive(world) => {}
            _ => {
                let mut report = Report::new(
                    ReportKind::NoLiveWorld,
                    "was to be initialized without a live world and stays uninitialized",
                );
                report.world = world.and_then(|world| self.rt.world_name(world));
                self.report_on(slot, report);
                let object = self.rt.slots.name(slot);
                return Err(TickError::NoLiveWorld { object });
            }
        }
        let slots = &self.rt.slots;
        super::configure::interval_nanos(slots.cold[slot as usize].settings.interval)?;
        if let Some(links) = &slots.cold[slot as usize].links {
            let elsewhere = |other: &&TickId| {
                slots.flags(other.index) & (flag::INITIALIZED | flag::DEAD) == flag::INITIALIZED
                    && slots.cold[other.index as usize].home != world
            };
            if let Some(other) = links.prerequisites.iter().find(elsewhere) {
                return Err(TickError::PrerequisiteElsewhere {
                    object: slots.name(slot),
                    prerequisite: slots.name(other.index),
                });
            }
            if let Some(other) = links.dependents.iter().find(elsewhere) {
                return Err(TickError::PrerequisiteElsewhere {
                    object: slots.name(other.index),
                    prerequisite: slots.name(slot),
                });
            }
        }
        Ok(())
    }

    /// Shuts an object down: it stops ticking at once, its shutdown event runs in this call,
    /// and its tick intent is back at its default. If the object is running (or a sibling of
    /// its batch is), the event runs as soon as that has returned, before the next object ticks.
    ///
    /// `Ok(false)` when there was nothing to do: it is gone, uninitialized, or about to be shut
    /// down already.
    ///
    /// # Errors
    /// [`TickError::WrongRuntime`]. [`TickError::Panicked`] when the event panicked under
    /// `PanicPolicy::Isolate`; the object is uninitialized all the same.
    ///
    /// ```
    /// # use sc_core::{Cx, Runtime, Tickable, WorldKind};
    /// struct Lamp;
    /// impl Tickable<u32> for Lamp {
    ///     fn shutdown(&mut self, cx: &mut Cx<'_, u32>) { *cx.host_mut() += 1; }
    /// }
    /// # let (mut rt, mut host) = (Runtime::<u32>::new(), 0);
    /// # let mut cx = rt.cx(&mut host);
    /// # let world = cx.create_world(WorldKind::Game)?;
    /// let lamp = cx.spawn_in(world, Lamp)?;
    /// assert_eq!((cx.shutdown(&lamp)?, cx.shutdown(&lamp)?), (true, false));
    /// assert_eq!(*cx.host(), 1);
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    pub fn shutdown(&mut self, object: impl Into<TickId>) -> Result<bool, TickError> {
        let slot = match self.rt.live(object.into()) {
            Ok(slot) => slot,
            Err(TickError::Gone) => return Ok(false),
            Err(error) => return Err(error),
        };
        let slots = &mut self.rt.slots;
        if !slots.has(slot, flag::INITIALIZED)
            || slots.has(slot, flag::SHUTDOWN_PENDING | flag::SHUTTING_DOWN)
        {
            return Ok(false);
        }
        slots.clear(slot, flag::TICKS);
        if slots.is_out(slot) {
            slots.set(slot, flag::SHUTDOWN_PENDING);
            slots.pending_shutdown.push(slot);
            self.rt.attention = true;
            return Ok(true);
        }
        let result = self.finish_shutdown(slot).map(|()| true);
        self.rt.raise_handler_panic();
        result
    }

    pub(crate) fn finish_shutdown(&mut self, slot: u32) -> Result<(), TickError> {
        self.begin_shutdown(slot);
        self.run_event(slot, Event::Shutdown)
    }

    fn begin_shutdown(&mut self, slot: u32) {
        let slots = &mut self.rt.slots;
        slots.clear(slot, flag::TICKS | flag::SHUTDOWN_PENDING);
        slots.set(slot, flag::SHUTTING_DOWN);
    }

    /// Runs the events of objects that were out when they were shut down and are back now. One after the other: what
    /// such an event shuts down comes to its turn when that is done, however many they are. Whether there were any.
    pub(crate) fn finish_pending_shutdowns(&mut self) -> bool {
        if std::mem::replace(&mut self.rt.finishing, true) {
            return false;
        }
        let (mut any, mut first) = (false, None);
        loop {
            let (mut out, mut is_done) = (Vec::new(), true);
            for slot in std::mem::take(&mut self.rt.slots.pending_shutdown) {
                if !self.rt.slots.has(slot, flag::SHUTDOWN_PENDING) {
                    continue;
                }
                if self.rt.slots.is_out(slot) {
                    out.push(slot);
                    continue;
                }
                (any, is_done) = (true, false);
                self.begin_shutdown(slot);
                // Under Isolate the panic is reported already; there is nobody to tell.
                if let Err(Some(payload)) = self.run_event_alone(slot, Event::Shutdown) {
                    first.get_or_insert(payload);
                }
            }
            out.append(&mut self.rt.slots.pending_shutdown);
            self.rt.slots.pending_shutdown = out;
            if is_done {
                break;
            }
        }
        self.rt.finishing = false;
        if let Some(payload) = first {
            self.raise_or_collect(payload);
        }
        any
    }

    /// Enables or disables an object's tick: its *intent*. Before initialize it is recorded, and
    /// outranks the default of its settings. Afterwards, disabling holds at once, enabling from
    /// the next pass. A disabled object costs nothing, and keeps its place in the order.
    ///
    /// ```
    /// # use sc_core::{Runtime, Tickable, WorldKind};
    /// # struct Lamp;
    /// # impl Tickable<()> for Lamp {}
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// # let world = cx.create_world(WorldKind::Game)?;
    /// let lamp = cx.spawn_in(world, Lamp)?;
    /// cx.set_tick_enabled(&lamp, false)?;
    /// assert!(!cx.tick_info(&lamp)?.enabled);
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`TickError::Gone`]; [`TickError::WrongRuntime`].
    pub fn set_tick_enabled(
        &mut self,
        object: impl Into<TickId>,
        enabled: bool,
    ) -> Result<(), TickError> {
        let slot = self.rt.live(object.into())?;
        let was = self.rt.slots.intends_to_tick(slot);
        self.rt.slots.cold[slot as usize].intent = Some(enabled);
        if was != enabled && self.rt.slots.has(slot, flag::INITIALIZED) {
            if enabled {
                self.rt.accumulate_from_now(slot);
                self.rt.slots.start_ticking(slot);
            } else {
                self.rt.slots.clear(slot, flag::TICKS);
            }
            self.rt.slots.mark_dirty(slot);
        }
        Ok(())
    }

    fn run_event(&mut self, slot: u32, event: Event) -> Result<(), TickError> {
        let outcome = self.run_event_alone(slot, event);
        let is_fine = outcome.is_ok();
        if let Err(Some(payload)) = outcome {
            self.raise_or_collect(payload);
        }
        self.after_callback();
        if is_fine {
            return Ok(());
        }
        Err(TickError::Panicked {
            object: self.rt.slots.name(slot),
        })
    }

    /// As [`run_event`](Self::run_event), without what comes between two callbacks. Gives back what is to be raised.
    fn run_event_alone(&mut self, slot: u32, event: Event) -> Result<(), Option<Payload>> {
        let outcome = self.call_object(slot, |object, cx| match event {
            Event::Initialize => object.initialize(cx),
            Event::Shutdown => object.shutdown(cx),
        });
        // Reported, if it is, while the object still has its world.
        let outcome = outcome.map_err(|payload| {
            let culprit = self.rt.culprit(slot);
            self.keep_or_report(&culprit, payload)
        });
        if outcome.is_err() || matches!(event, Event::Shutdown) {
            self.rt.uninitialize(slot);
        }
        outcome
    }

    /// Calls `f` with an object that is in its place, moved out meanwhile. An object that is out
    /// already is not called: the callers have asked.
    fn call_object(
        &mut self,
        slot: u32,
        f: impl FnOnce(&mut dyn Tickable<H>, &mut Self),
    ) -> Result<(), Payload> {
        let (holder, label) = self.rt.slots.holder(slot);
        let Some(mut object) = self.rt.slots.hot[holder as usize].object.take() else {
            return Ok(());
        };
        let scope = Scope::event(self.rt.slots.cold[slot as usize].home, slot);
        let typed = self.rt.slots.cold[holder as usize].typed;
        let outcome = self.guarded(scope, |cx| match (label, typed) {
            (Some(label), Some(typed)) => {
                if let Some(row) = (typed.as_batch)(&mut *object).and_then(|b| b.row(label)) {
                    f(row, cx);
                }
            }
            _ => f(&mut *object, cx),
        });
        self.rt.slots.hot[holder as usize].object = Some(object);
        outcome
    }
}

impl<H> Runtime<H> {
    /// Time accumulates towards the object's interval from now on, on the clock of its settings.
    fn accumulate_from_now(&mut self, slot: u32) {
        let cold = &mut self.slots.cold[slot as usize];
        cold.accumulates_on = cold.settings.clock();
        cold.restarts = false;
        self.slots.cold[slot as usize].accumulates_from = self.object_clock(slot);
    }

    fn join_members(&mut self, slot: u32) {
        let home = self.slots.cold[slot as usize].home;
        if let Some(set) = self.tick_set_mut(home) {
            let index = set.members.len();
            set.members.push(slot);
            self.slots.cold[slot as usize].member = index;
        }
    }

    fn leave_members(&mut self, slot: u32) {
        let cold = &self.slots.cold[slot as usize];
        let (home, index) = (cold.home, cold.member);
        let Some(set) = self.tick_set_mut(home) else {
            return;
        };
        if set.members.get(index) == Some(&slot) {
            set.members.swap_remove(index);
            if let Some(&moved) = set.members.get(index) {
                self.slots.cold[moved as usize].member = index;
            }
        }
    }

    /// Ends the initialized state, whatever ended it; the intent is back at its default.
    pub(crate) fn uninitialize(&mut self, slot: u32) {
        if !self.slots.has(slot, flag::INITIALIZED) {
            return;
        }
        self.leave_members(slot);
        let slots = &mut self.slots;
        slots.end_life(slot);
        slots.clear(
            slot,
            flag::INITIALIZED | flag::TICKS | flag::SHUTTING_DOWN | flag::SHUTDOWN_PENDING,
        );
        let cold = &mut slots.cold[slot as usize];
        cold.home = None;
        cold.intent = None;
        slots.mark_dirty(slot);
        if slots.has(slot, flag::WORLD_OWNED) && !slots.has(slot, flag::DEAD) {
            slots.mark_dead(slot);
        }
    }
}

impl<H> Slots<H> {
    /// Every initialized object of `members`, newest first.
    pub(crate) fn newest_first(&self, members: &[u32]) -> Vec<u32> {
        let mut newest: Vec<u32> = members.to_vec();
        newest.sort_unstable_by_key(|&slot| {
            std::cmp::Reverse(self.cold[slot as usize].initialization)
        });
        newest
    }
}
