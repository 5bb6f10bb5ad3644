//! How a world is to be made.

use std::borrow::Cow;

use super::{InstanceId, WorldId, WorldKind};

/// How a world is to be made. A [`WorldKind`] alone converts into it.
///
/// ```
/// use sc_core::{Runtime, WorldKind, WorldOptions};
/// let (mut rt, mut host) = (Runtime::<()>::new(), ());
/// let mut cx = rt.cx(&mut host);
/// let session = cx.create_instance("session");
/// let level = cx.create_world(WorldOptions::new(WorldKind::Game).name("level").instance(session))?;
/// let inset = cx.create_world(WorldOptions::new(WorldKind::Preview).parent(level).ticks_gameplay(true))?;
/// cx.set_instance_paused(session, true)?;
/// let info = cx.world_info(inset)?;
/// assert_eq!((info.name.as_str(), info.parent, info.instance), ("preview 2", Some(level), None));
/// assert!(info.ticks_gameplay && info.effectively_paused, "paused with its parent");
/// # Ok::<(), sc_core::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WorldOptions {
    pub(super) kind: WorldKind,
    pub(super) name: Option<Cow<'static, str>>,
    pub(super) parent: Option<WorldId>,
    pub(super) instance: Option<InstanceId>,
    pub(super) ticks_gameplay: bool,
    pub(super) steps: bool,
}

impl WorldOptions {
    /// A world of a kind, without parent and instance.
    #[must_use]
    pub fn new(kind: WorldKind) -> Self {
        WorldOptions {
            kind,
            name: None,
            parent: None,
            instance: None,
            ticks_gameplay: kind.ticks_gameplay(),
            steps: false,
        }
    }

    /// What reports and lists call it. Default: its kind and number.
    #[must_use]
    pub fn name(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Its parent: paused with it, destroyed before it.
    #[must_use]
    pub fn parent(mut self, parent: WorldId) -> Self {
        self.parent = Some(parent);
        self
    }

    /// Its game instance: paused with it, destroyed with it.
    #[must_use]
    pub fn instance(mut self, instance: InstanceId) -> Self {
        self.instance = Some(instance);
        self
    }

    /// Whether tickables, timers and flows run in it. Default: what its kind says.
    #[must_use]
    pub fn ticks_gameplay(mut self, ticks: bool) -> Self {
        self.ticks_gameplay = ticks;
        self
    }

    /// Whether it has frames of its own: those of [`Runtime::step`](crate::Runtime::step) instead of the
    /// runtime's. For what runs at a fixed step. Default: no, also when its parent steps.
    ///
    /// ```
    /// # use {sc_core::{Clock, Runtime, WorldKind, WorldOptions}, std::time::Duration};
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// let physics = WorldOptions::new(WorldKind::Game).name("physics").steps(true);
    /// let physics = rt.cx(&mut host).create_world(physics)?;
    /// rt.tick(&mut host, Duration::from_millis(16))?;
    /// assert_eq!(rt.cx(&mut host).elapsed(physics, Clock::Game)?, Duration::ZERO);
    /// rt.step(&mut host, Duration::from_millis(10))?;
    /// assert_eq!(rt.cx(&mut host).elapsed(physics, Clock::Game)?, Duration::from_millis(10));
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    #[must_use]
    pub fn steps(mut self, steps: bool) -> Self {
        self.steps = steps;
        self
    }
}

impl From<WorldKind> for WorldOptions {
    fn from(kind: WorldKind) -> Self {
        WorldOptions::new(kind)
    }
}
