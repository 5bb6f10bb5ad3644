//! Where the runtime lies in the `World`: taken out while it runs, put back afterwards, on unwinding too.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Duration;

use bevy_ecs::world::World;
use sc_core::{Culprit, Cx, Runtime, WorldId};

use crate::error::CxError;

/// The non-send resource that holds the runtime.
pub(crate) struct RuntimeSlot {
    /// `None` while it is out.
    runtime: Option<Box<Runtime<World>>>,
}

impl RuntimeSlot {
    pub(crate) fn new(runtime: Runtime<World>) -> Self {
        RuntimeSlot {
            runtime: Some(Box::new(runtime)),
        }
    }
}

/// The world of the runtime that lives as long as the app.
#[derive(Clone, Copy, Default)]
pub(crate) struct AppWorld(pub(crate) Option<WorldId>);

/// Takes the runtime out, calls `f`, puts it back.
pub(crate) fn with_runtime<R>(
    world: &mut World,
    f: impl FnOnce(&mut Runtime<World>, &mut World) -> R,
) -> Result<R, CxError> {
    let mut slot = world
        .get_non_send_mut::<RuntimeSlot>()
        .ok_or(CxError::NotInstalled)?;
    let mut runtime = slot.runtime.take().ok_or(CxError::Running)?;
    let outcome = catch_unwind(AssertUnwindSafe(|| f(&mut runtime, world)));
    // Somebody may have cleared the non-send resources meanwhile: then it ends here.
    if let Some(mut slot) = world.get_non_send_mut::<RuntimeSlot>() {
        slot.runtime = Some(runtime);
    }
    outcome.map_err(|payload| resume_unwind(payload))
}

/// Calls `f` as a callback in the app's world.
pub(crate) fn call<R>(
    cx: &mut Cx<'_, World>,
    what: &str,
    f: impl FnOnce(&mut Cx<'_, World>) -> R,
) -> Result<R, CxError> {
    let app = cx.runtime().state::<AppWorld>().and_then(|app| app.0);
    let app = app.filter(|&app| cx.is_world_alive(app));
    let outcome = cx.callback(app, Duration::ZERO, f);
    let outcome = outcome.map_err(|panic| {
        let fix = "fix the panic in the closure; the rest of it is not done";
        cx.settle_panic(&Culprit::new(what, fix), panic);
        CxError::Panicked
    });
    cx.attend();
    outcome
}

/// The runtime, from code that has the whole `World`.
pub trait WorldCx {
    /// Calls `f` with the runtime, as a callback in the app's world: `cx.host_mut()` is this
    /// `World` again.
    ///
    /// ```
    /// # use bevy_app::App;
    /// # use bevy_time::TimePlugin;
    /// use sc_bevy::{StillCookingPlugins, WorldCx};
    /// use sc_flow::FlowExt;
    /// let mut app = App::new();
    /// app.add_plugins((TimePlugin, StillCookingPlugins));
    /// let flows = app.world_mut().with_cx(|cx| cx.flow_list().len())?;
    /// assert_eq!(flows, 0);
    /// # Ok::<(), sc_bevy::CxError>(())
    /// ```
    ///
    /// # Errors
    /// [`CxError`]; `f` was not called, unless it panicked.
    ///
    /// # Panics
    /// If `f` does, and the policy is `Propagate`.
    fn with_cx<R>(&mut self, f: impl FnOnce(&mut Cx<'_, World>) -> R) -> Result<R, CxError>;

    /// Calls `f` with the runtime itself, for what only that can do: its settings. Frames are run by
    /// the plugin.
    ///
    /// ```
    /// # use bevy_app::App;
    /// # use bevy_time::TimePlugin;
    /// use sc_bevy::{StillCookingPlugins, WorldCx};
    /// use sc_core::PanicPolicy;
    /// let mut app = App::new();
    /// app.add_plugins((TimePlugin, StillCookingPlugins));
    /// app.world_mut().with_runtime(|runtime| {
    ///     runtime.set_panic_policy(PanicPolicy::Isolate);
    ///     runtime.set_report_handler(|report| eprintln!("{report}"));
    /// })?;
    /// # Ok::<(), sc_bevy::CxError>(())
    /// ```
    ///
    /// # Errors
    /// [`CxError`]; `f` was not called.
    fn with_runtime<R>(&mut self, f: impl FnOnce(&mut Runtime<World>) -> R) -> Result<R, CxError>;
}

impl WorldCx for World {
    fn with_cx<R>(&mut self, f: impl FnOnce(&mut Cx<'_, World>) -> R) -> Result<R, CxError> {
        with_runtime(self, |runtime, world| {
            call(&mut runtime.cx(world), "a closure given to `with_cx`", f)
        })?
    }

    fn with_runtime<R>(&mut self, f: impl FnOnce(&mut Runtime<World>) -> R) -> Result<R, CxError> {
        with_runtime(self, |runtime, _| f(runtime))
    }
}
