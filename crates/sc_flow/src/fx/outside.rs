//! Waiting for other flows and for other threads.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};

use sc_core::{Report, ReportKind};

use super::FlowCx;
use crate::error::FlowError;
use crate::executor::end::failed_with;
use crate::finish::FlowFinish;
use crate::id::FlowId;
use crate::join::{Ending, WakeBy};
use crate::reports;
use crate::thread::Work;

impl<H> FlowCx<H> {
    /// Waits for the end of a flow; of one that has not [started](FlowId::reserve), first for its start.
    /// Awaiting it gives how the flow ended.
    ///
    /// Two flows that await each other, also by way of others, are warned of once: neither ends, if
    /// nothing else ends one of them.
    ///
    /// It gives [`FlowError::Gone`] when the flow has ended already, [`FlowError::AwaitsItself`] for the
    /// flow it is made in; [`FlowError::Cancelled`],
    /// [`FlowError::Aborted`] or [`FlowError::Panicked`] when it ends so.
    ///
    /// ```
    /// # use sc_core::{Clock, Cx, Owner, Runtime, Tickable, WorldKind, secs};
    /// # use sc_flow::*;
    /// # let (mut rt, mut log) = (Runtime::<Vec<u32>>::new(), Vec::new());
    /// # let mut cx = rt.cx(&mut log);
    /// # let level = cx.create_world(WorldKind::Game)?;
    /// Flow::new("example").world(level).spawn(&mut cx, async |fx| {
    ///     let other = fx.with(|cx| cx.spawn_flow("other", async |fx| Ok(fx.delay(secs(0.5)).await?)))??;
    ///     assert_eq!(fx.flow(other).await?, FlowFinish::Completed);
    ///     fx.with(|cx| cx.host_mut().push(1))?;
    ///     Ok(())
    /// })?;
    /// for _ in 0..4 { rt.tick_secs(&mut log, 0.25)?; }
    /// assert_eq!(log, [1]);
    /// # Ok::<(), FlowError>(())
    /// ```
    pub fn flow(&self, flow: FlowId) -> FlowEnd<'_, H> {
        FlowEnd {
            fx: self,
            flow,
            ending: None,
        }
    }

    /// Runs `work` on a thread of its own and comes back to the game thread with its result.
    /// Dropping the future lets the thread run on; its result is dropped.
    ///
    /// Awaiting it gives [`FlowError::Panicked`] when `work` panics, [`FlowError::NoThread`] when the
    /// system starts no thread.
    ///
    /// ```
    /// # use sc_core::{Clock, Cx, Owner, Runtime, Tickable, WorldKind, secs};
    /// # use sc_flow::*;
    /// # let (mut rt, mut log) = (Runtime::<Vec<u32>>::new(), Vec::new());
    /// # let mut cx = rt.cx(&mut log);
    /// # let level = cx.create_world(WorldKind::Game)?;
    /// Flow::new("example").world(level).spawn(&mut cx, async |fx| {
    ///     let sum = fx.run_on_thread(|| (1..=10).sum()).await?;
    ///     fx.with(|cx| cx.host_mut().push(sum))?;
    ///     Ok(())
    /// })?;
    /// while log.is_empty() {
    ///     rt.tick_secs(&mut log, 0.01)?;
    ///     std::thread::yield_now();
    /// }
    /// assert_eq!(log, [55]);
    /// # Ok::<(), FlowError>(())
    /// ```
    pub fn run_on_thread<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> ThreadResult<'_, H, T> {
        let work = Work::start(work);
        ThreadResult { fx: self, work }
    }
}

/// Made by [`FlowCx::flow`].
#[must_use = "awaitables do nothing until they are awaited"]
pub struct FlowEnd<'f, H: 'static> {
    fx: &'f FlowCx<H>,
    flow: FlowId,
    ending: Option<Rc<Ending>>,
}

impl<H> Future for FlowEnd<'_, H> {
    type Output = Result<FlowFinish, FlowError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        this.fx.check_turn()?;
        let home = &*this.fx.home;
        let board = &*home.board;
        if board.resolve(this.flow) == this.fx.id {
            this.fx.has_awaited();
            return Poll::Ready(Err(FlowError::AwaitsItself));
        }
        let by = this.fx.id;
        let ending = this.ending.get_or_insert_with(|| Rc::new(Ending::new(by)));
        if let Some(outcome) = ending.take() {
            this.fx.has_awaited();
            this.awaits_no_more();
            return Poll::Ready(outcome);
        }
        let wake = if home.is_own(context.waker()) {
            WakeBy::Flow(Arc::clone(&board.inbox), this.fx.id)
        } else {
            WakeBy::Foreign(context.waker().clone())
        };
        if ending.wake_by(wake) {
            if !board.is_awaited_by(this.flow, ending) {
                this.fx.has_awaited();
                return Poll::Ready(Err(FlowError::Gone));
            }
            this.warn_of_circle();
        }
        Poll::Pending
    }
}

impl<H> FlowEnd<'_, H> {
    /// Warns, once a flow, when what it awaits awaits it in turn.
    fn warn_of_circle(&self) {
        let fx = self.fx;
        let table = &mut *fx.home.board.table.borrow_mut();
        let is_circle = table.awaits(self.flow, fx.id);
        let Some(extra) = table.extra_or_new(fx.id.index) else {
            return;
        };
        extra.awaits.push(self.flow);
        if is_circle && !std::mem::replace(&mut extra.circle_reported, true) {
            let awaited = table.resolve(self.flow);
            let (name, awaited) = (table.name(fx.id.index), table.name(awaited.index));
            let kind = ReportKind::Extension(&reports::AWAIT_CIRCLE);
            let what = format!("awaits flow `{awaited}`, which awaits it in turn");
            table.report_later(fx.home.world, Report::new(kind, what).object(name));
        }
    }

    fn awaits_no_more(&self) {
        let (board, id) = (&*self.fx.home.board, self.fx.id);
        if board.is_live(id)
            && let Some(extra) = board.table.borrow_mut().extra_of(id.index)
            && let Some(at) = extra.awaits.iter().position(|&flow| flow == self.flow)
        {
            extra.awaits.swap_remove(at);
        }
    }
}

impl<H> Drop for FlowEnd<'_, H> {
    fn drop(&mut self) {
        let Some(ending) = self.ending.take() else {
            return;
        };
        self.awaits_no_more();
        if let Some((name, error)) = ending.give_up() {
            // The flow was told that somebody takes its error.
            let home = &*self.fx.home;
            let table = &mut *home.board.table.borrow_mut();
            table.report_later(home.world, failed_with(&name, &error));
        }
    }
}

/// Made by [`FlowCx::run_on_thread`].
#[must_use = "awaitables do nothing until they are awaited"]
pub struct ThreadResult<'f, H: 'static, T> {
    fx: &'f FlowCx<H>,
    work: Work<T>,
}

impl<H, T> Future for ThreadResult<'_, H, T> {
    type Output = Result<T, FlowError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.fx.check_turn()?;
        let Some(result) = self.work.take_or_wake(context.waker()) else {
            return Poll::Pending;
        };
        self.fx.has_awaited();
        Poll::Ready(result.map_err(|failed| {
            let (error, report) = failed.told(self.fx.name());
            let home = &*self.fx.home;
            let table = &mut *home.board.table.borrow_mut();
            report
                .into_iter()
                .for_each(|report| table.report_later(home.world, report));
            error
        }))
    }
}
