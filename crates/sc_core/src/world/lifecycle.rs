//! Making worlds, pausing and dilating them, reading their clocks.

use std::time::Duration;

use super::{InstanceId, Life, World, WorldError, WorldId, WorldKind, WorldOptions};
use crate::clock::{Clock, WorldClocks};
use crate::cx::Cx;
use crate::extension::StateMap;
use crate::report::{Report, ReportKind};
use crate::runtime::Runtime;
use crate::tick::{Home, TickSet};

/// One world as the inspection list shows it.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct WorldInfo {
    /// Its id.
    pub id: WorldId,
    /// Its name.
    pub name: String,
    /// What it is for.
    pub kind: WorldKind,
    /// Its parent.
    pub parent: Option<WorldId>,
    /// Its game instance.
    pub instance: Option<InstanceId>,
    /// Whether tickables, timers and flows run in it.
    pub ticks_gameplay: bool,
    /// Whether its frames are steps.
    pub steps: bool,
    /// Its own pause.
    pub paused: bool,
    /// Its own pause, or its parent's effective one, or its instance's.
    pub effectively_paused: bool,
    /// Its time dilation.
    pub dilation: f64,
    /// The readings of its clocks, in the order of [`Clock::ALL`].
    pub elapsed: [Duration; 4],
    /// How many objects are initialized in it.
    pub objects: usize,
}

/// All four clocks of a world, in the order of [`Clock::ALL`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Readings {
    /// Each clock's reading.
    pub elapsed: [Duration; 4],
    /// How far each moved in the current frame; zero between frames.
    pub delta: [Duration; 4],
    /// Whether the world was effectively paused when the frame began.
    pub paused: bool,
    /// How many frames the world has had: the number of its current frame, or of its last one.
    pub frame: u64,
}

impl<H> Cx<'_, H> {
    /// Creates a world. One created during a frame has its first pass in the next.
    ///
    /// ```
    /// # use sc_core::{Runtime, WorldKind};
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// let level = rt.cx(&mut host).create_world(WorldKind::Game)?;
    /// assert_eq!(rt.world_list()[0].name, "game 1");
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`WorldError::NoLiveWorld`] with a report when the parent is dead or dying;
    /// [`WorldError::InstanceGone`]; [`WorldError::ShutDown`].
    pub fn create_world(
        &mut self,
        options: impl Into<WorldOptions>,
    ) -> Result<WorldId, WorldError> {
        let options = options.into();
        if self.rt.is_shut_down {
            return Err(WorldError::ShutDown);
        }
        if let Some(instance) = options.instance
            && !self.rt.instances.contains_key(instance)
        {
            return Err(WorldError::InstanceGone);
        }
        let number = self.rt.worlds_made + 1;
        let name = options.name.unwrap_or_else(|| {
            let kind = match options.kind {
                WorldKind::Game => "game",
                WorldKind::PlayInEditor => "play in editor",
                WorldKind::Editor => "editor",
                WorldKind::Preview => "preview",
            };
            format!("{kind} {number}").into()
        });
        if let Some(parent) = options.parent
            && !self.is_world_alive(parent)
        {
            let what = "was to be created under a parent that is dead or dying";
            let mut report = Report::new(ReportKind::NoLiveWorld, what).world(name);
            report.fix = "name a parent that exists and is not being destroyed, or none".into();
            self.report(report);
            return Err(WorldError::NoLiveWorld);
        }
        self.rt.worlds_made = number;
        let id = self.rt.worlds.insert(World {
            name,
            kind: options.kind,
            number,
            parent: options.parent,
            children: Vec::new(),
            instance: options.instance,
            ticks_gameplay: options.ticks_gameplay,
            steps: options.steps,
            frames: 0,
            paused: false,
            paused_this_frame: false,
            clocks: WorldClocks::default(),
            life: Life::Alive,
            ticks: TickSet::default(),
            state: StateMap::default(),
            saturation_reported: false,
        });
        if let Some(parent) = options.parent.and_then(|p| self.rt.worlds.get_mut(p)) {
            parent.children.push(id);
        }
        self.rt.world_order.push(id);
        self.rt.worlds_that_step += usize::from(options.steps);
        Ok(id)
    }

    /// Whether a world exists and is not being destroyed.
    ///
    /// ```
    /// # use sc_core::{Runtime, WorldId, WorldKind};
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// # let world = cx.create_world(WorldKind::Game)?;
    /// assert!(cx.is_world_alive(world));
    /// cx.destroy_world(world);
    /// assert!(!cx.is_world_alive(world) && !cx.is_world_alive(WorldId::default()));
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    #[must_use]
    pub fn is_world_alive(&self, world: WorldId) -> bool {
        self.rt.worlds.get(world).is_some_and(World::is_alive)
    }

    /// Pauses or resumes a world. Sampled when a frame begins and in force for the whole frame.
    ///
    /// ```
    /// # use sc_core::{Clock, Runtime, WorldKind};
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// # let world = cx.create_world(WorldKind::Game)?;
    /// cx.set_paused(world, true)?;
    /// rt.tick_secs(&mut host, 1)?;
    /// let cx = rt.cx(&mut host);
    /// assert_eq!(cx.elapsed(world, Clock::Game)?.as_secs(), 0);
    /// assert_eq!(cx.elapsed(world, Clock::Real)?.as_secs(), 1);
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`WorldError::Gone`].
    pub fn set_paused(&mut self, world: WorldId, paused: bool) -> Result<(), WorldError> {
        self.world_mut(world)?.paused = paused;
        Ok(())
    }

    /// Sets how fast a world's dilated clocks run: 1 as real time, 0 they stand still. Sampled
    /// when a frame begins. Not inherited by children.
    ///
    /// The factor counts as the decimal its author wrote (0.3 is three tenths), to 18 decimals;
    /// the part of a nanosecond not handed out yet is kept.
    ///
    /// ```
    /// # use sc_core::{Clock, Runtime, WorldKind};
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// # let world = cx.create_world(WorldKind::Game)?;
    /// cx.set_dilation(world, 0.25)?;
    /// assert!(cx.set_dilation(world, -1.0).is_err());
    /// rt.tick_secs(&mut host, 1)?;
    /// assert_eq!(rt.cx(&mut host).elapsed(world, Clock::Game)?.as_millis(), 250);
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`WorldError::Gone`]; [`WorldError::BadDilation`] for NaN, an infinity, a negative number,
    /// or a positive one below 1e-18: the old value stays.
    pub fn set_dilation(&mut self, world: WorldId, factor: f64) -> Result<(), WorldError> {
        let world = self.world_mut(world)?;
        world.clocks.set_dilation(factor)?;
        world.saturation_reported = false;
        Ok(())
    }

    /// How fast a world's dilated clocks run.
    ///
    /// ```
    /// # use sc_core::{Runtime, WorldKind};
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// # let world = cx.create_world(WorldKind::Game)?;
    /// cx.set_dilation(world, 0.25)?;
    /// assert_eq!(cx.dilation(world)?, 0.25);
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`WorldError::Gone`].
    pub fn dilation(&self, world: WorldId) -> Result<f64, WorldError> {
        let found = self.rt.worlds.get(world).ok_or(WorldError::Gone)?;
        Ok(found.clocks.dilation())
    }

    /// The reading of a world's clock: the sum of the deltas it has handed out.
    ///
    /// ```
    /// # use sc_core::{Clock, Runtime, WorldKind};
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// # let world = cx.create_world(WorldKind::Game)?;
    /// for _ in 0..10 {
    ///     rt.tick_secs(&mut host, 0.1)?;
    /// }
    /// assert_eq!(rt.cx(&mut host).elapsed(world, Clock::Game)?.as_secs_f64(), 1.0);
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`WorldError::Gone`].
    pub fn elapsed(&self, world: WorldId, clock: Clock) -> Result<Duration, WorldError> {
        let found = self.rt.worlds.get(world).ok_or(WorldError::Gone)?;
        Ok(Duration::from_nanos(found.clocks.elapsed(clock)))
    }

    /// How far a world's clock moved in the current frame; zero between frames.
    ///
    /// ```
    /// # use sc_core::{Clock, Runtime, Stage, WorldKind};
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// # let world = cx.create_world(WorldKind::Game)?;
    /// cx.set_dilation(world, 0.5)?;
    /// rt.begin_frame(&mut host, 0.1)?;
    /// let cx = rt.cx(&mut host);
    /// assert_eq!(cx.world_delta(world, Clock::Game)?.as_millis(), 50);
    /// assert_eq!(cx.world_delta(world, Clock::Real)?.as_millis(), 100);
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`WorldError::Gone`].
    pub fn world_delta(&self, world: WorldId, clock: Clock) -> Result<Duration, WorldError> {
        let found = self.rt.worlds.get(world).ok_or(WorldError::Gone)?;
        Ok(Duration::from_nanos(found.clocks.frame().get(clock)))
    }

    /// All four clocks of a world, and whether this frame is paused for it.
    ///
    /// # Errors
    /// [`WorldError::Gone`].
    pub fn readings(&self, world: WorldId) -> Result<Readings, WorldError> {
        let found = self.rt.worlds.get(world).ok_or(WorldError::Gone)?;
        let frame = found.clocks.frame();
        Ok(Readings {
            elapsed: Clock::ALL.map(|c| Duration::from_nanos(found.clocks.elapsed(c))),
            delta: Clock::ALL.map(|c| Duration::from_nanos(frame.get(c))),
            paused: found.paused_this_frame,
            frame: found.frames,
        })
    }

    /// One world as the inspection list shows it.
    ///
    /// ```
    /// # use sc_core::{Runtime, WorldKind};
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// # let world = cx.create_world(WorldKind::Game)?;
    /// cx.set_dilation(world, 0.5)?;
    /// let info = cx.world_info(world)?;
    /// assert_eq!((info.name.as_str(), info.dilation, info.objects), ("game 1", 0.5, 0));
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`WorldError::Gone`].
    pub fn world_info(&self, world: WorldId) -> Result<WorldInfo, WorldError> {
        self.rt.world_info(world).ok_or(WorldError::Gone)
    }

    fn world_mut(&mut self, world: WorldId) -> Result<&mut World, WorldError> {
        self.rt.worlds.get_mut(world).ok_or(WorldError::Gone)
    }
}

impl<H> Runtime<H> {
    /// The worlds that are alive, in creation order, and what each is for. Allocates nothing.
    ///
    /// ```
    /// # use sc_core::{Runtime, WorldKind};
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// let preview = rt.cx(&mut host).create_world(WorldKind::Preview)?;
    /// assert!(rt.live_worlds().eq([(preview, WorldKind::Preview)]));
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    pub fn live_worlds(&self) -> impl Iterator<Item = (WorldId, WorldKind)> + '_ {
        let worlds = self.world_order.iter();
        let alive = worlds.filter_map(|&id| Some((id, self.worlds.get(id)?)));
        alive
            .filter(|(_, world)| world.is_alive())
            .map(|(id, world)| (id, world.kind))
    }

    /// Every world, in creation order.
    ///
    /// ```
    /// # use sc_core::{Runtime, WorldKind, WorldOptions};
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// cx.create_world(WorldOptions::new(WorldKind::Game).name("level"))?;
    /// cx.create_world(WorldKind::Preview)?;
    /// let names: Vec<String> = rt.world_list().into_iter().map(|world| world.name).collect();
    /// assert_eq!(names, ["level", "preview 2"]);
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    #[must_use]
    pub fn world_list(&self) -> Vec<WorldInfo> {
        let order = self.world_order.iter();
        order.filter_map(|&id| self.world_info(id)).collect()
    }

    fn world_info(&self, id: WorldId) -> Option<WorldInfo> {
        let world = self.worlds.get(id)?;
        Some(WorldInfo {
            id,
            name: world.name.clone().into_owned(),
            kind: world.kind,
            parent: world.parent,
            instance: world.instance,
            ticks_gameplay: world.ticks_gameplay,
            steps: world.steps,
            paused: world.paused,
            effectively_paused: self.is_effectively_paused(id),
            dilation: world.clocks.dilation(),
            elapsed: Clock::ALL.map(|c| Duration::from_nanos(world.clocks.elapsed(c))),
            objects: world.ticks.members.len(),
        })
    }

    /// Own pause, or the parent's effective one, or the instance's.
    pub(crate) fn is_effectively_paused(&self, id: WorldId) -> bool {
        let mut next = Some(id);
        while let Some(world) = next.and_then(|id| self.worlds.get(id)) {
            let instance = world.instance.and_then(|i| self.instances.get(i));
            if world.paused || instance.is_some_and(|i| i.paused) {
                return true;
            }
            next = world.parent;
        }
        false
    }

    /// A tick set; `None` when its world is gone.
    pub(crate) fn tick_set(&self, home: Home) -> Option<&TickSet> {
        match home {
            Some(world) => self.worlds.get(world).map(|w| &w.ticks),
            None => Some(&self.worldless),
        }
    }

    pub(crate) fn tick_set_mut(&mut self, home: Home) -> Option<&mut TickSet> {
        match home {
            Some(world) => self.worlds.get_mut(world).map(|w| &mut w.ticks),
            None => Some(&mut self.worldless),
        }
    }

    /// The reading in nanoseconds of a world's clock, or of the runtime's own (which is real,
    /// whatever is asked for). Of a world that is gone, zero.
    pub(crate) fn now(&self, home: Home, clock: Clock) -> u64 {
        match home {
            Some(world) => self
                .worlds
                .get(world)
                .map_or(0, |w| w.clocks.elapsed(clock)),
            None => self.clocks.elapsed(Clock::Real),
        }
    }
}
