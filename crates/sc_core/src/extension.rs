//! Extensions: how another crate adds a kind of thing to the runtime, with state of its own a
//! runtime and a world, hooks in the frame and in the teardown, and a list for inspection.
//!
//! Flows, the console and whatever a third crate brings use only this.

use std::any::{Any, TypeId};
use std::fmt;

use crate::cx::Cx;
use crate::frame::Stage;
use crate::report::{Report, ReportKind};
use crate::runtime::Runtime;
use crate::tick::Life;
use crate::world::{WorldError, WorldId};

/// The kinds in whose order a world's things end.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum TeardownPhase {
    /// Flows end `Aborted`.
    Flows,
    /// Timers are cleared.
    Timers,
    /// Delegate bindings go.
    Delegates,
    /// Console commands and variables go.
    Commands,
    /// Tickables are shut down.
    Tickables,
    /// Subsystems are deinitialized.
    Subsystems,
}

impl TeardownPhase {
    /// All of them, in order.
    pub const ALL: [TeardownPhase; 6] = [
        TeardownPhase::Flows,
        TeardownPhase::Timers,
        TeardownPhase::Delegates,
        TeardownPhase::Commands,
        TeardownPhase::Tickables,
        TeardownPhase::Subsystems,
    ];
}

/// Called in a stage.
pub type StageHook<H> = fn(&mut Cx<'_, H>);
/// Called in the teardown of a world.
pub type TeardownHook<H> = fn(&mut Cx<'_, H>, WorldId);
/// Called with the lives that have ended.
pub type LifeHook<H> = fn(&mut Cx<'_, H>, &[Life]);
/// Lists what lives, a line each.
pub type InspectHook<H> = fn(&Runtime<H>) -> Vec<String>;

/// What an extension hooks into. Hooks are plain functions: what they need lies in the
/// extension's state, which stays reachable for the user code they call.
///
/// ```
/// use sc_core::{Cx, Extension, Runtime, Stage, WorldKind};
/// #[derive(Default)]
/// struct Count(u32);
/// fn count(cx: &mut Cx<'_, ()>) {
///     let world = cx.world();
///     if let Some(state) = world.and_then(|w| cx.world_state::<Count>(w).ok()) { state.0 += 1; }
/// }
/// let (mut rt, mut host) = (Runtime::<()>::new(), ());
/// let mut cx = rt.cx(&mut host);
/// cx.install(Extension::new("count").on_world_stage(Stage::PostUpdate, count));
/// let world = cx.create_world(WorldKind::Game)?;
/// rt.tick_secs(&mut host, 0.1)?;
/// assert_eq!(rt.cx(&mut host).world_state::<Count>(world)?.0, 1);
/// # Ok::<(), sc_core::Error>(())
/// ```
///
/// All kinds of hooks, in the order in which they are called:
///
/// ```
/// # use sc_core::{Extension, Runtime, Stage, TeardownPhase, WorldKind};
/// let mut log = Vec::new();
/// let mut rt = Runtime::<Vec<&'static str>>::new();
/// let mut cx = rt.cx(&mut log);
/// cx.install(
///     Extension::<Vec<&'static str>>::new("log")
///         .on_runtime_stage(Stage::Timers, |cx| cx.host_mut().push("once"))
///         .on_world_stage(Stage::Timers, |cx| cx.host_mut().push("for the world"))
///         .on_teardown(TeardownPhase::Timers, |cx, _world| cx.host_mut().push("the world ends"))
///         .on_runtime_teardown(|cx| cx.host_mut().push("the runtime ends")),
/// );
/// cx.create_world(WorldKind::Game)?;
/// rt.tick_secs(&mut log, 0.1)?;
/// rt.shutdown(&mut log);
/// assert_eq!(log, ["for the world", "once", "the world ends", "the runtime ends"]);
/// # Ok::<(), sc_core::Error>(())
/// ```
pub struct Extension<H: 'static> {
    name: &'static str,
    /// It may be named as ours are.
    ours: bool,
    stages: Vec<StageEntry<H>>,
    teardown: Vec<TeardownEntry<H>>,
    lives: Option<LifeHook<H>>,
    runtime_teardown: Option<StageHook<H>>,
    inspect: Option<InspectHook<H>>,
}

/// One hook in the frame.
pub(crate) struct StageEntry<H: 'static> {
    pub(crate) extension: &'static str,
    pub(crate) stage: Stage,
    /// Called for every world, or once.
    pub(crate) of_world: bool,
    pub(crate) hook: StageHook<H>,
}

/// One hook in the teardown of worlds.
pub(crate) struct TeardownEntry<H: 'static> {
    pub(crate) extension: &'static str,
    pub(crate) phase: TeardownPhase,
    pub(crate) hook: TeardownHook<H>,
}

/// An extension that is installed; its hooks lie in the runtime's lists.
pub(crate) struct Installed<H: 'static> {
    pub(crate) name: &'static str,
    pub(crate) runtime_teardown: Option<StageHook<H>>,
    inspect: Option<InspectHook<H>>,
}

impl<H> Extension<H> {
    /// An extension without hooks. Its name tells it from others; names that start with `sc.` are those of
    /// this project's own extensions.
    #[must_use]
    pub fn new(name: &'static str) -> Self {
        Extension {
            name,
            ours: false,
            stages: Vec::new(),
            teardown: Vec::new(),
            lives: None,
            runtime_teardown: None,
            inspect: None,
        }
    }

    /// For the crates of this project: its name starts with `sc.`.
    #[doc(hidden)]
    #[must_use]
    pub fn ours(mut self) -> Self {
        self.ours = true;
        self
    }

    /// Calls `hook` in a stage for every world of the frame, in creation order, after the stage's
    /// tickables, paused or not. `cx.world()` is the world, `cx.delta()` its `Game` delta. Worlds
    /// that tick nothing gameplay-like are left out.
    ///
    /// A hook is part of the frame, not a callback: it calls its users' closures by
    /// [`Cx::callback`].
    #[must_use]
    pub fn on_world_stage(mut self, stage: Stage, hook: StageHook<H>) -> Self {
        self.stages.push(StageEntry {
            extension: self.name,
            stage,
            of_world: true,
            hook,
        });
        self
    }

    /// Calls `hook` in a stage once, after the stage's worlds. `cx.delta()` is the real delta.
    #[must_use]
    pub fn on_runtime_stage(mut self, stage: Stage, hook: StageHook<H>) -> Self {
        self.stages.push(StageEntry {
            extension: self.name,
            stage,
            of_world: false,
            hook,
        });
        self
    }

    /// Calls `hook` in the teardown of every world, in its phase.
    #[must_use]
    pub fn on_teardown(mut self, phase: TeardownPhase, hook: TeardownHook<H>) -> Self {
        self.teardown.push(TeardownEntry {
            extension: self.name,
            phase,
            hook,
        });
        self
    }

    /// Calls `hook` with the lives of objects that have ended (by shutdown, panic, or the death of
    /// their owner), before the next stage or, if none follows, in the next `Begin`.
    #[must_use]
    pub fn on_lives_ended(mut self, hook: LifeHook<H>) -> Self {
        self.lives = Some(hook);
        self
    }

    /// Calls `hook` when the runtime is shut down, after its worlds have ended.
    #[must_use]
    pub fn on_runtime_teardown(mut self, hook: StageHook<H>) -> Self {
        self.runtime_teardown = Some(hook);
        self
    }

    /// Lists what lives for [`Runtime::inspect`].
    #[must_use]
    pub fn inspected_by(mut self, hook: InspectHook<H>) -> Self {
        self.inspect = Some(hook);
        self
    }
}

impl<H> fmt::Debug for Extension<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Extension").field(&self.name).finish()
    }
}

/// One value a type.
#[derive(Default)]
pub(crate) struct StateMap(Vec<(TypeId, Box<dyn Any>)>);

impl StateMap {
    pub(crate) fn get_or_default<T: Default + 'static>(&mut self) -> &mut T {
        let of = TypeId::of::<T>();
        let at = match self.0.iter().position(|(id, _)| *id == of) {
            Some(at) => at,
            None => {
                self.0.push((of, Box::new(T::default())));
                self.0.len() - 1
            }
        };
        match self
            .0
            .get_mut(at)
            .and_then(|(_, value)| value.downcast_mut())
        {
            Some(value) => value,
            None => unreachable!("the map holds a value of the type it is filed under"),
        }
    }

    fn get<T: 'static>(&self) -> Option<&T> {
        let of = TypeId::of::<T>();
        let found = self.0.iter().find(|(id, _)| *id == of)?;
        found.1.downcast_ref()
    }
}

impl<H> Cx<'_, H> {
    /// Installs an extension. `false` when one of that name is installed already: the first
    /// stays. A name that starts with `sc.` is reserved: then it is `false`, and there is a report.
    ///
    /// ```
    /// # use sc_core::{Extension, Runtime};
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// assert!(cx.install(Extension::new("alarms")));
    /// assert!(!cx.install(Extension::new("alarms")), "the first stays");
    /// assert!(rt.extensions().eq(["alarms"]));
    /// ```
    pub fn install(&mut self, extension: Extension<H>) -> bool {
        if extension.name.starts_with("sc.") && !extension.ours {
            let what = "was not installed: its name is reserved";
            let name = format!("extension {}", extension.name);
            self.report(Report::new(ReportKind::ReservedExtension, what).object(name));
            return false;
        }
        let known = self.rt.extensions.iter().any(|e| e.name == extension.name);
        if !known {
            self.rt.stage_hooks.extend(extension.stages);
            self.rt.teardown_hooks.extend(extension.teardown);
            if let Some(hook) = extension.lives {
                self.rt.life_hooks.push((extension.name, hook));
                self.rt.slots.tell_ended = true;
            }
            self.rt.extensions.push(Installed {
                name: extension.name,
                runtime_teardown: extension.runtime_teardown,
                inspect: extension.inspect,
            });
        }
        !known
    }

    /// The runtime's value of a type, made by `Default` on first use. Dropped with the runtime.
    ///
    /// ```
    /// # use sc_core::Runtime;
    /// #[derive(Default)]
    /// struct Alarms(u32);
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// cx.runtime_state::<Alarms>().0 += 1;
    /// assert_eq!(cx.runtime_state::<Alarms>().0, 1);
    /// assert_eq!(rt.state::<Alarms>().map(|alarms| alarms.0), Some(1));
    /// ```
    pub fn runtime_state<T: Default + 'static>(&mut self) -> &mut T {
        self.rt.state.get_or_default()
    }

    /// A world's value of a type, made by `Default` on first use. Dropped with the world, after
    /// its teardown.
    ///
    /// ```
    /// # use sc_core::{Runtime, WorldKind};
    /// #[derive(Default)]
    /// struct Alarms(u32);
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// # let world = cx.create_world(WorldKind::Game)?;
    /// cx.world_state::<Alarms>(world)?.0 += 1;
    /// assert_eq!(cx.runtime().world_state::<Alarms>(world).map(|alarms| alarms.0), Some(1));
    /// cx.destroy_world(world);
    /// assert!(cx.world_state::<Alarms>(world).is_err());
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`WorldError::Gone`].
    pub fn world_state<T: Default + 'static>(
        &mut self,
        world: WorldId,
    ) -> Result<&mut T, WorldError> {
        let found = self.rt.worlds.get_mut(world);
        let state = found.map(|w| w.state.get_or_default());
        state.ok_or(WorldError::Gone)
    }
}

impl<H> Runtime<H> {
    /// The runtime's value of a type, if there is one by now.
    #[must_use]
    pub fn state<T: 'static>(&self) -> Option<&T> {
        self.state.get()
    }

    /// A world's value of a type, if there is one by now.
    #[must_use]
    pub fn world_state<T: 'static>(&self, world: WorldId) -> Option<&T> {
        self.worlds.get(world)?.state.get()
    }

    /// What lives of an extension's kind, a line each; `None` when no extension of that name is
    /// installed.
    ///
    /// ```
    /// # use sc_core::{Extension, Runtime};
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// cx.install(Extension::new("alarms").inspected_by(|_| vec!["door 7".to_owned()]));
    /// assert_eq!(rt.inspect("alarms"), Some(vec!["door 7".to_owned()]));
    /// assert_eq!(rt.inspect("timers"), None);
    /// ```
    #[must_use]
    pub fn inspect(&self, extension: &str) -> Option<Vec<String>> {
        let found = self.extensions.iter().find(|e| e.name == extension)?;
        Some(found.inspect.map_or_else(Vec::new, |hook| hook(self)))
    }

    /// The names of the installed extensions, in order of installation.
    pub fn extensions(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.extensions.iter().map(|e| e.name)
    }
}
