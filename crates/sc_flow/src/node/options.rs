//! What every node's builder can be told.

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

pub(crate) use flow_options;
