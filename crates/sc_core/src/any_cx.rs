//! A `Cx` whatever the host: for code that must not name the host type, such as entries that are
//! declared once for every program.

use std::any::{Any, type_name};
use std::time::Duration;

use crate::cx::{Cx, Scope};
use crate::extension::StateMap;
use crate::report::Report;
use crate::runtime::Runtime;
use crate::tick::TickInfo;
use crate::world::{WorldError, WorldId, WorldInfo};

/// A [`Cx`] whatever the host type. Only `Cx` is one.
///
/// ```
/// use sc_core::{AnyCx, Runtime, WorldKind};
/// fn count_worlds(cx: &mut dyn AnyCx) -> usize { cx.world_list().len() }
///
/// let (mut rt, mut score) = (Runtime::<u32>::new(), 7);
/// let mut cx = rt.cx(&mut score);
/// cx.create_world(WorldKind::Game)?;
/// assert_eq!(count_worlds(&mut cx), 1);
/// # Ok::<(), sc_core::Error>(())
/// ```
pub trait AnyCx: parts::Parts {
    /// The name of the host type.
    fn host_name(&self) -> &'static str;
    /// As [`Cx::host`].
    fn host_any(&self) -> &dyn Any;
    /// As [`Cx::host_mut`].
    fn host_any_mut(&mut self) -> &mut dyn Any;
    /// As [`Cx::world`].
    fn world(&self) -> Option<WorldId>;
    /// As [`Cx::delta`].
    fn delta(&self) -> Duration;
    /// As [`Cx::frame`].
    fn frame(&self) -> u64;
    /// As [`Cx::runtime_elapsed`].
    fn runtime_elapsed(&self) -> Duration;
    /// As [`Cx::report`].
    fn report(&mut self, report: Report);
    /// As [`Cx::is_world_alive`].
    fn is_world_alive(&self, world: WorldId) -> bool;
    /// As [`Cx::world_info`].
    ///
    /// # Errors
    /// [`WorldError::Gone`].
    fn world_info(&self, world: WorldId) -> Result<WorldInfo, WorldError>;
    /// As [`Runtime::world_list`].
    fn world_list(&self) -> Vec<WorldInfo>;
    /// As [`Runtime::tick_list`].
    fn tick_list(&self) -> Vec<TickInfo>;
    /// As [`Runtime::extensions`].
    fn extensions(&self) -> Vec<&'static str>;
    /// As [`Runtime::inspect`].
    fn inspect(&self, extension: &str) -> Option<Vec<String>>;
}

/// What a `Cx` is made of. Out of reach for other crates, so that none can replace a runtime.
mod parts {
    use super::{Any, Scope, StateMap};

    pub trait Parts {
        #[allow(private_interfaces)]
        fn parts(&mut self) -> (&mut dyn Any, &mut dyn Any, Scope);
        #[allow(private_interfaces)]
        fn state(&mut self) -> &mut StateMap;
    }
}

impl<H> parts::Parts for Cx<'_, H> {
    #[allow(private_interfaces)]
    fn parts(&mut self) -> (&mut dyn Any, &mut dyn Any, Scope) {
        (self.host, self.rt, self.scope)
    }

    #[allow(private_interfaces)]
    fn state(&mut self) -> &mut StateMap {
        &mut self.rt.state
    }
}

impl<H> AnyCx for Cx<'_, H> {
    fn host_name(&self) -> &'static str {
        type_name::<H>()
    }

    fn host_any(&self) -> &dyn Any {
        self.host
    }

    fn host_any_mut(&mut self) -> &mut dyn Any {
        self.host
    }

    fn world(&self) -> Option<WorldId> {
        Cx::world(self)
    }

    fn delta(&self) -> Duration {
        Cx::delta(self)
    }

    fn frame(&self) -> u64 {
        Cx::frame(self)
    }

    fn runtime_elapsed(&self) -> Duration {
        Cx::runtime_elapsed(self)
    }

    fn report(&mut self, report: Report) {
        Cx::report(self, report);
    }

    fn is_world_alive(&self, world: WorldId) -> bool {
        Cx::is_world_alive(self, world)
    }

    fn world_info(&self, world: WorldId) -> Result<WorldInfo, WorldError> {
        Cx::world_info(self, world)
    }

    fn world_list(&self) -> Vec<WorldInfo> {
        self.rt.world_list()
    }

    fn tick_list(&self) -> Vec<TickInfo> {
        self.rt.tick_list()
    }

    fn extensions(&self) -> Vec<&'static str> {
        self.rt.extensions().collect()
    }

    fn inspect(&self, extension: &str) -> Option<Vec<String>> {
        self.rt.inspect(extension)
    }
}

impl dyn AnyCx + '_ {
    /// The `Cx` with its host type, if that is `H`.
    ///
    /// ```
    /// use sc_core::{AnyCx, Runtime};
    /// fn raise(cx: &mut dyn AnyCx) -> bool {
    ///     let Some(mut cx) = cx.typed::<u32>() else { return false };
    ///     *cx.host_mut() += 1;
    ///     true
    /// }
    /// let (mut rt, mut score) = (Runtime::<u32>::new(), 7);
    /// assert!(raise(&mut rt.cx(&mut score)));
    /// assert_eq!(score, 8);
    /// assert!(!raise(&mut Runtime::<()>::new().cx(&mut ())));
    /// ```
    pub fn typed<H: 'static>(&mut self) -> Option<Cx<'_, H>> {
        let (host, rt, scope) = self.parts();
        Some(Cx {
            host: host.downcast_mut::<H>()?,
            rt: rt.downcast_mut::<Runtime<H>>()?,
            scope,
        })
    }

    /// As [`Cx::runtime_state`].
    ///
    /// ```
    /// use sc_core::{AnyCx, Runtime};
    /// #[derive(Default)]
    /// struct Alarms(u32);
    /// let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// let cx: &mut dyn AnyCx = &mut rt.cx(&mut host);
    /// cx.runtime_state::<Alarms>().0 += 1;
    /// assert_eq!(rt.state::<Alarms>().map(|alarms| alarms.0), Some(1));
    /// ```
    pub fn runtime_state<T: Default + 'static>(&mut self) -> &mut T {
        self.state().get_or_default()
    }
}
