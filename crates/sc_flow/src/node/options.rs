//! What nodes can be told: setters that stand in more than one form, written once.

/// The setters that all builders share; the builder has a field `options: Options<H>`.
macro_rules! flow_options {
    () => {
        /// What lists and reports call it.
        pub fn name(mut self, name: impl Into<std::borrow::Cow<'static, str>>) -> Self {
            self.options.name = name.into();
            self
        }

        /// Binds it to a world; default: that of the `Cx` it is started with.
        pub fn world(mut self, world: sc_core::WorldId) -> Self {
            self.options.bound = crate::executor::start::Bound::World(world);
            self
        }

        /// Binds it to the runtime: it outlives worlds, and counts on the runtime's real clock.
        pub fn runtime(mut self) -> Self {
            self.options.bound = crate::executor::start::Bound::Runtime;
            self
        }

        /// Binds it to an object's present life too: when that ends, the flow ends `Aborted`.
        pub fn owner(mut self, owner: impl Into<sc_core::TickId>) -> Self {
            self.options.owner = Some(owner.into());
            self
        }

        /// Binds it to anything else that can say whether it is still there: when it is not, the flow
        /// ends `Aborted`. Asked before each turn; while the flow sleeps, in a sweep over all such
        /// flows of 64 a frame.
        ///
        /// For objects, [`owner`](Self::owner) is better: it costs nothing, and is noticed at once.
        pub fn bound_while(
            mut self,
            is_there: impl Fn(&sc_core::Cx<'_, H>) -> bool + 'static,
        ) -> Self {
            self.options.is_there = Some(std::rc::Rc::new(is_there));
            self
        }

        /// The clock it counts on; default `Game`. See the table at [`sc_core::Clock`].
        pub fn clock(mut self, clock: sc_core::Clock) -> Self {
            self.options.clock = clock;
            self
        }

        /// Called when it has ended, for whatever reason, for cleanup.
        pub fn on_finished(
            mut self,
            tell: impl FnOnce(&mut sc_core::Cx<'_, H>, crate::finish::FlowFinish) + 'static,
        ) -> Self {
            self.options.on_finished = Some(Box::new(tell));
            self
        }
    };
}

/// The setters of a loop, in both forms; it has a field `plan: Plan`.
macro_rules! loop_options {
    () => {
        /// Time between iterations; 0 or less = every tick, the default.
        pub fn delay(mut self, delay: impl Into<sc_core::Secs>) -> Self {
            self.plan.delay = delay.into();
            self
        }

        /// Waits one delay before the first iteration too.
        pub fn delay_before_first(mut self, wait: bool) -> Self {
            self.plan.before_first = wait;
            self
        }

        /// How many items a batch has; below 1 counts as 1, the default. A body that parks ends its
        /// batch.
        pub fn items_per_tick(mut self, items: i64) -> Self {
            self.plan.items_per_tick = items;
            self
        }

        /// Goes on with a batch for so long, by the runtime's stopwatch, instead of a number of items; at
        /// least one item runs. Without a stopwatch, one item a batch, with one report.
        pub fn budget(mut self, budget: impl Into<sc_core::Secs>) -> Self {
            self.plan.budget = Some(budget.into());
            self
        }
    };
}

/// The setters of a drive, in both forms; it has fields `shape: Option<Shape>` and `laps: Laps`.
macro_rules! drive_options {
    () => {
        /// Shapes the progress: what goes in is from 0 to 1, what comes out is handed on as it is.
        pub fn shape(mut self, shape: impl Fn(f32) -> f32 + 'static) -> Self {
            self.shape = Some(Box::new(shape));
            self
        }

        /// Shapes the progress by a named curve.
        #[cfg(feature = "easing")]
        pub fn ease(self, ease: crate::Ease) -> Self {
            self.shape(move |progress| ease.at(progress))
        }

        /// Runs so many laps, each with a final update of its own; 0 counts as 1.
        ///
        /// ```
        /// # use sc_core::{Clock, Cx, Owner, Runtime, Tickable, WorldKind, secs};
        /// # use sc_flow::*;
        /// # let (mut rt, mut log) = (Runtime::<Vec<u32>>::new(), Vec::new());
        /// # let mut cx = rt.cx(&mut log);
        /// # let level = cx.create_world(WorldKind::Game)?;
        /// DoForDuration::new(secs(0.5), |cx: &mut Cx<'_, Vec<u32>>, alpha, _| cx.host_mut().push((alpha * 100.0) as u32))
        ///     .laps(2)
        ///     .ping_pong()
        ///     .world(level)
        ///     .start(&mut cx)?;
        /// for _ in 0..4 { rt.tick_secs(&mut log, 0.25)?; }
        /// assert_eq!(log, [50, 100, 50, 0]);
        /// # Ok::<(), FlowError>(())
        /// ```
        pub fn laps(mut self, laps: u32) -> Self {
            self.laps.count = Some(laps.max(1));
            self
        }

        /// Runs laps without end: until it is cancelled or dropped, or what it is bound to goes.
        pub fn forever(mut self) -> Self {
            self.laps.count = None;
            self
        }

        /// Every second lap runs backwards.
        pub fn ping_pong(mut self) -> Self {
            self.laps.ping_pong = true;
            self
        }
    };
}

pub(crate) use {drive_options, flow_options, loop_options};
