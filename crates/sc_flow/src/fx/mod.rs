//! `fx`: the handle an async flow has on itself, the game, and time.

mod gate;
mod nodes;
mod outside;
pub(crate) mod spawn;
mod waits;

use std::rc::Rc;

use sc_core::{Clock, Cx, WorldId};

use crate::error::FlowError;
use crate::executor::home::Home;
use crate::id::FlowId;

pub use nodes::{ChangedFx, DoForDurationFx, ForEachFx, LoopAnswer, WaitUntilFx};
pub use outside::{FlowEnd, ThreadResult};
pub use spawn::Flow;
pub use waits::{Delay, NextTick, Pace, Ticks};

/// An async flow's handle: the first argument of its body.
///
/// ```
/// use sc_core::{Runtime, WorldKind, secs};
/// use sc_flow::FlowExt;
/// let (mut rt, mut log) = (Runtime::<Vec<&str>>::new(), Vec::new());
/// let mut cx = rt.cx(&mut log);
/// let level = cx.create_world(WorldKind::Game)?;
/// sc_flow::Flow::new("greeting").world(level).spawn(&mut cx, async |fx| {
///     fx.with(|cx| cx.host_mut().push("hello"))?;
///     fx.delay(secs(1)).await?;
///     fx.with(|cx| cx.host_mut().push("goodbye"))?;
///     Ok(())
/// })?;
/// for _ in 0..4 { rt.tick_secs(&mut log, 0.25)?; }
/// assert_eq!(log, ["hello", "goodbye"]);
/// # Ok::<(), sc_flow::FlowError>(())
/// ```
pub struct FlowCx<H: 'static> {
    pub(crate) home: Rc<Home<H>>,
    pub(crate) id: FlowId,
}

impl<H> FlowCx<H> {
    /// Calls `f` with host and runtime, now. `f` may borrow what is around it. Works in destructors
    /// too, while the runtime drops the flow.
    ///
    /// # Errors
    /// [`FlowError::Access`]: inside another `with`, outside the flow's turn, in another runtime.
    pub fn with<R>(&self, f: impl FnOnce(&mut Cx<'_, H>) -> R) -> Result<R, FlowError> {
        Ok(self.home.access.with(f)?)
    }

    /// The flow's world; `None` when it is bound to the runtime.
    ///
    /// ```
    /// # use sc_core::{Clock, Cx, Owner, Runtime, Tickable, WorldKind, secs};
    /// # use sc_flow::*;
    /// # let (mut rt, mut log) = (Runtime::<Vec<u32>>::new(), Vec::new());
    /// # let mut cx = rt.cx(&mut log);
    /// # let level = cx.create_world(WorldKind::Game)?;
    /// Flow::new("example").world(level).spawn(&mut cx, async move |fx| {
    ///     assert_eq!(fx.world(), Some(level));
    ///     fx.with(|cx| cx.host_mut().push(1))?;
    ///     Ok(())
    /// })?;
    /// for _ in 0..1 { rt.tick_secs(&mut log, 0.25)?; }
    /// assert_eq!(log, [1]);
    /// # Ok::<(), FlowError>(())
    /// ```
    #[must_use]
    pub fn world(&self) -> Option<WorldId> {
        self.home.world
    }

    /// Whether the flow is having its turn: awaitables are polled in it only.
    #[inline]
    pub(crate) fn check_turn(&self) -> Result<(), FlowError> {
        if self.home.current.get() == self.id.word() {
            Ok(())
        } else {
            Err(FlowError::OutsideItsFlow)
        }
    }

    /// The clock the flow counts on, while it has its turn.
    #[inline]
    pub(crate) fn clock(&self) -> Clock {
        self.home.clock()
    }

    /// An await of the flow has completed: later waits count from now.
    #[inline]
    pub(crate) fn has_awaited(&self) {
        self.home.has_awaited();
    }
}
