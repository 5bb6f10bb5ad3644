//! Waiting for other flows and for other threads.

use std::cell::RefMut;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use sc_core::{Report, ReportKind};

use super::FlowCx;
use crate::error::FlowError;
use crate::finish::FlowFinish;
use crate::id::FlowId;
use crate::join::{Awaiter, Ending, WakeBy};
use crate::reports;

impl<H> FlowCx<H> {
    /// Waits for the end of a flow. Awaiting it gives how the flow ended.
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
    /// Awaiting it gives [`FlowError::Panicked`] when `work` panics.
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
        let shared = Arc::new(Mutex::new(Shared {
            result: None,
            waker: None,
        }));
        let theirs = Arc::clone(&shared);
        std::thread::spawn(move || {
            let result = catch_unwind(AssertUnwindSafe(work));
            let waker = {
                let mut shared = theirs.lock().unwrap_or_else(PoisonError::into_inner);
                shared.result = Some(result.map_err(|payload| FlowErrorOnThread(text(&*payload))));
                shared.waker.take()
            };
            if let Some(waker) = waker {
                waker.wake();
            }
        });
        ThreadResult { fx: self, shared }
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
        if this.flow == this.fx.id {
            return Poll::Ready(Err(FlowError::AwaitsItself));
        }
        let ending = this.ending.get_or_insert_with(Rc::default);
        if let Some(outcome) = ending.take() {
            this.fx.has_awaited();
            return Poll::Ready(outcome);
        }
        // Registered anew each time: the waker may be another one. The old entry is replaced.
        let home = &*this.fx.home;
        let board = &*home.board;
        let wake = if home.is_own(context.waker()) {
            WakeBy::Flow(Arc::clone(&board.inbox), this.fx.id)
        } else {
            WakeBy::Foreign(context.waker().clone())
        };
        let ending = Rc::clone(ending);
        let awaiters = || -> Option<RefMut<'_, Vec<Awaiter>>> {
            board.slot(this.flow, |_| ())?;
            let table = board.table.borrow_mut();
            RefMut::filter_map(table, |table| {
                let extra = table.extra_or_new(this.flow.index)?;
                Some(&mut extra.awaited_by)
            })
            .ok()
        };
        // Wakers are dropped outside the borrow: their destructors may be user code.
        let known = awaiters().map(|mut awaiters| std::mem::take(&mut *awaiters));
        let Some(mut known) = known else {
            return Poll::Ready(Err(FlowError::Gone));
        };
        known.retain(|a| !a.ending.is_dropped.get() && !Rc::ptr_eq(&a.ending, &ending));
        known.push(Awaiter { ending, wake });
        if let Some(mut awaiters) = awaiters() {
            *awaiters = known;
        }
        Poll::Pending
    }
}

impl<H> Drop for FlowEnd<'_, H> {
    fn drop(&mut self) {
        if let Some(ending) = &self.ending {
            ending.is_dropped.set(true);
        }
    }
}

struct FlowErrorOnThread(String);

fn text(payload: &(dyn std::any::Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(ToString::to_string);
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "(no message)".into())
}

struct Shared<T> {
    result: Option<Result<T, FlowErrorOnThread>>,
    waker: Option<Waker>,
}

/// Made by [`FlowCx::run_on_thread`].
#[must_use = "awaitables do nothing until they are awaited"]
pub struct ThreadResult<'f, H: 'static, T> {
    fx: &'f FlowCx<H>,
    shared: Arc<Mutex<Shared<T>>>,
}

impl<H, T> Future for ThreadResult<'_, H, T> {
    type Output = Result<T, FlowError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.fx.check_turn()?;
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(result) = shared.result.take() {
            drop(shared);
            self.fx.has_awaited();
            return Poll::Ready(result.map_err(|FlowErrorOnThread(message)| {
                let _ = self.fx.with(|cx| {
                    let kind = ReportKind::Extension(&reports::THREAD_PANICKED);
                    let what = format!("work on a thread panicked: {message}");
                    cx.report(Report::new(kind, what));
                });
                FlowError::Panicked
            }));
        }
        shared.waker = Some(context.waker().clone());
        Poll::Pending
    }
}
