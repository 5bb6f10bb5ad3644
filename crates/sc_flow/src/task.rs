//! A task: an async flow with a value.

use std::cell::Cell;
use std::rc::Rc;

use sc_core::Cx;

use crate::error::FlowError;
use crate::ext::FlowExt;
use crate::finish::FlowFinish;
use crate::fx::FlowCx;
use crate::id::FlowId;

/// An async flow with a value. Dropping it detaches: the flow goes on, its value is dropped, also when
/// that is an `Err`.
///
/// ```
/// use sc_core::{Runtime, WorldKind};
/// let (mut rt, mut host) = (Runtime::<()>::new(), ());
/// let mut cx = rt.cx(&mut host);
/// let level = cx.create_world(WorldKind::Game)?;
/// let task = sc_flow::Flow::new("sum").world(level).spawn_task(&mut cx, async |fx| {
///     fx.next_tick().await?;
///     Ok::<u32, sc_flow::FlowError>(20 + 22)
/// })?;
/// for _ in 0..2 { rt.tick_secs(&mut host, 0.1)?; }
/// assert!(matches!(task.take(), Some(Ok(42))));
/// # Ok::<(), sc_flow::FlowError>(())
/// ```
#[must_use = "a dropped task goes on detached, and its value is lost, an error too: start what has none by `spawn_flow`"]
pub struct Task<T> {
    pub(crate) id: FlowId,
    pub(crate) result: Rc<Cell<Option<T>>>,
    pub(crate) finish: Rc<Cell<Option<FlowFinish>>>,
}

impl<T> Task<T> {
    /// Its flow.
    #[must_use]
    pub fn id(&self) -> FlowId {
        self.id
    }

    /// Its value, if it has come; once. A task that was cancelled or aborted has none, also when
    /// that was in the very turn in which it came to its end.
    #[must_use]
    pub fn take(&self) -> Option<T> {
        let is_completed = self.finish.get() == Some(FlowFinish::Completed);
        is_completed.then(|| self.result.take()).flatten()
    }

    /// Cancels it. `false` when it has ended already.
    ///
    /// ```
    /// # use sc_core::{Clock, Cx, Owner, Runtime, Tickable, WorldKind, secs};
    /// # use sc_flow::*;
    /// # let (mut rt, mut log) = (Runtime::<Vec<u32>>::new(), Vec::new());
    /// # let mut cx = rt.cx(&mut log);
    /// # let level = cx.create_world(WorldKind::Game)?;
    /// let task = Flow::new("sleep").world(level).spawn_task(&mut cx, async |fx| fx.delay(secs(60)).await.is_ok())?;
    /// assert!(task.cancel(&mut cx));
    /// assert_eq!(task.take(), None);
    /// # Ok::<(), FlowError>(())
    /// ```
    pub fn cancel<H>(&self, cx: &mut Cx<'_, H>) -> bool {
        cx.cancel(self.id)
    }

    /// Waits for its value.
    ///
    /// # Errors
    /// [`FlowError::Cancelled`], [`FlowError::Aborted`], [`FlowError::Panicked`] when its flow ended
    /// so; [`FlowError::Gone`] when the value was taken.
    ///
    /// ```
    /// # use sc_core::{Clock, Cx, Owner, Runtime, Tickable, WorldKind, secs};
    /// # use sc_flow::*;
    /// # let (mut rt, mut log) = (Runtime::<Vec<u32>>::new(), Vec::new());
    /// # let mut cx = rt.cx(&mut log);
    /// # let level = cx.create_world(WorldKind::Game)?;
    /// Flow::new("example").world(level).spawn(&mut cx, async |fx| {
    ///     let task = fx.with(|cx| cx.spawn_task("sum", async |_| 40 + 2))??;
    ///     let sum = task.join(&fx).await?;
    ///     fx.with(|cx| cx.host_mut().push(sum))?;
    ///     Ok(())
    /// })?;
    /// for _ in 0..3 { rt.tick_secs(&mut log, 0.25)?; }
    /// assert_eq!(log, [42]);
    /// # Ok::<(), FlowError>(())
    /// ```
    pub async fn join<H>(&self, fx: &FlowCx<H>) -> Result<T, FlowError> {
        if let Some(value) = self.take() {
            return Ok(value);
        }
        if self.finish.get().is_none() {
            fx.flow(self.id).await?;
        }
        if let Some(finish) = self.finish.get() {
            finish.for_awaiter()?;
        }
        self.take().ok_or(FlowError::Gone)
    }
}
