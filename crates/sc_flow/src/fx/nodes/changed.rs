//! Waiting for a value to change.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};

use sc_core::{Clock, Cx, Secs};

use super::Waiting;
use crate::error::FlowError;
use crate::fx::FlowCx;

impl<H> FlowCx<H> {
    /// Waits until a value is another one than it is now: `read` is called in this call, and then each
    /// tick, or [`every`](ChangedFx::every) so often. Awaiting it gives the new value. A value that
    /// has changed back between two polls has not changed. The builder's form is
    /// [`WaitUntil::changed`](crate::WaitUntil::changed).
    ///
    /// Values are compared by `PartialEq`: a NaN is another value than itself.
    ///
    /// ```
    /// # use sc_core::{Clock, Cx, Owner, Runtime, Tickable, WorldKind, secs};
    /// # use sc_flow::*;
    /// # let (mut rt, mut log) = (Runtime::<Vec<u32>>::new(), Vec::new());
    /// # let mut cx = rt.cx(&mut log);
    /// # let level = cx.create_world(WorldKind::Game)?;
    /// Flow::new("example").world(level).spawn(&mut cx, async |fx| {
    ///     let length = fx.changed(|cx| cx.host().len()).await?;
    ///     fx.with(|cx| cx.host_mut().push(length as u32))?;
    ///     let more = fx.changed(|cx| cx.host().len()).timeout(secs(0.5)).await?;
    ///     fx.with(|cx| cx.host_mut().push(u32::from(more.is_some())))
    /// })?;
    /// rt.tick_secs(&mut log, 0.25)?;
    /// log.push(7);
    /// for _ in 0..3 { rt.tick_secs(&mut log, 0.25)?; }
    /// assert_eq!(log, [7, 1, 0]);
    /// # Ok::<(), FlowError>(())
    /// ```
    pub fn changed<T: PartialEq, R: FnMut(&mut Cx<'_, H>) -> T>(
        &self,
        mut read: R,
    ) -> ChangedFx<'_, H, R, T> {
        ChangedFx {
            waiting: Waiting::new(self),
            before: self.with(&mut read),
            read,
        }
    }
}

/// Made by [`FlowCx::changed`].
#[must_use = "awaitables do nothing until they are awaited"]
pub struct ChangedFx<'f, H: 'static, R, T> {
    waiting: Waiting<'f, H>,
    read: R,
    /// As it was read when this was made.
    before: Result<T, FlowError>,
}

impl<H, R, T> ChangedFx<'_, H, R, T> {
    /// Time between polls; 0 or less = every tick, the default.
    pub fn every(mut self, interval: impl Into<Secs>) -> Self {
        self.waiting.interval = interval.into();
        self
    }

    /// Counts on another clock than the flow's.
    pub fn on(mut self, clock: Clock) -> Self {
        self.waiting.gate.on(clock);
        self
    }
}

impl<H, R: FnMut(&mut Cx<'_, H>) -> T, T: PartialEq> ChangedFx<'_, H, R, T> {
    /// Waits no longer than so many seconds (0 or less = no deadline): `None` when they are over first,
    /// also when the value has changed on that frame. The last thing to say about it.
    ///
    /// # Errors
    /// [`FlowError::BadTime`], [`FlowError::OutsideItsFlow`].
    pub async fn timeout(mut self, timeout: impl Into<Secs>) -> Result<Option<T>, FlowError> {
        self.waiting.timeout = timeout.into();
        poll_fn(|context| self.poll_value(context)).await
    }

    fn poll_value(&mut self, context: &Context<'_>) -> Poll<Result<Option<T>, FlowError>> {
        let before = match &self.before {
            Ok(before) => before,
            Err(_) => {
                let error = std::mem::replace(&mut self.before, Err(FlowError::OutsideItsFlow));
                return Poll::Ready(error.map(Some));
            }
        };
        let read = &mut self.read;
        self.waiting.poll(context, |cx, _attempt| {
            let now = read(cx);
            (now != *before).then_some(now)
        })
    }
}

/// Nothing in it is pinned.
impl<H, R, T> Unpin for ChangedFx<'_, H, R, T> {}

impl<H, R: FnMut(&mut Cx<'_, H>) -> T, T: PartialEq> Future for ChangedFx<'_, H, R, T> {
    type Output = Result<T, FlowError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        // Without deadline there is no other end than a value.
        self.poll_value(context)
            .map(|value| value?.ok_or(FlowError::OutsideItsFlow))
    }
}
