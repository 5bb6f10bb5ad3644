//! Waiting for other flows and for other threads.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use sc_core::{Report, ReportKind};

use super::FlowCx;
use crate::error::FlowError;
use crate::executor::end::report_failed;
use crate::finish::FlowFinish;
use crate::id::FlowId;
use crate::join::{Ending, WakeBy};
use crate::reports;

impl<H> FlowCx<H> {
    /// Waits for the end of a flow. Awaiting it gives how the flow ended.
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
        let shared = Arc::new(Mutex::new(Shared {
            result: None,
            waker: None,
        }));
        let theirs = Arc::clone(&shared);
        let started = std::thread::Builder::new().spawn(move || {
            let result = catch_unwind(AssertUnwindSafe(work));
            let waker = {
                let mut shared = theirs.lock().unwrap_or_else(PoisonError::into_inner);
                shared.result = Some(result.map_err(|payload| Failed::Panicked(text(&*payload))));
                shared.waker.take()
            };
            if let Some(waker) = waker {
                waker.wake();
            }
        });
        if let Err(error) = started {
            let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
            shared.result = Some(Err(Failed::NoThread(error.to_string())));
        }
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
        let by = this.fx.id;
        let ending = this.ending.get_or_insert_with(|| Rc::new(Ending::new(by)));
        if let Some(outcome) = ending.take() {
            this.fx.has_awaited();
            return Poll::Ready(outcome);
        }
        let home = &*this.fx.home;
        let board = &*home.board;
        let wake = if home.is_own(context.waker()) {
            WakeBy::Flow(Arc::clone(&board.inbox), this.fx.id)
        } else {
            WakeBy::Foreign(context.waker().clone())
        };
        if ending.wake_by(wake) {
            if !board.is_awaited_by(this.flow, ending) {
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
        let (fx, board) = (self.fx, &*self.fx.home.board);
        let table = &mut *board.table.borrow_mut();
        if !table.awaits(self.flow, fx.id) {
            return;
        }
        let (name, awaited) = (table.name(fx.id.index), table.name(self.flow.index));
        let Some(extra) = table.extra_of(fx.id.index) else {
            return;
        };
        if std::mem::replace(&mut extra.circle_reported, true) {
            return;
        }
        let kind = ReportKind::Extension(&reports::AWAIT_CIRCLE);
        let what = format!("awaits flow `{awaited}`, which awaits it in turn");
        let mut report = Report::new(kind, what).object(name);
        let _ = fx.with(|cx| {
            let world = fx.home.world;
            report.world = world.and_then(|world| cx.runtime().world_name(world));
            cx.report(report);
        });
    }
}

impl<H> Drop for FlowEnd<'_, H> {
    fn drop(&mut self) {
        let untaken = self.ending.take().and_then(|ending| ending.give_up());
        if let Some((name, error)) = untaken {
            // The flow was told that somebody takes its error.
            let world = self.fx.home.world;
            let _ = self.fx.with(|cx| report_failed(cx, world, &name, &error));
        }
    }
}

/// Why there is no result of work on a thread.
enum Failed {
    Panicked(String),
    NoThread(String),
}

fn text(payload: &(dyn std::any::Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(ToString::to_string);
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "(no message)".into())
}

struct Shared<T> {
    result: Option<Result<T, Failed>>,
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
            return Poll::Ready(result.map_err(|failed| {
                let message = match failed {
                    Failed::Panicked(message) => message,
                    Failed::NoThread(why) => return FlowError::NoThread { why },
                };
                let _ = self.fx.with(|cx| {
                    let kind = ReportKind::Extension(&reports::THREAD_PANICKED);
                    let what = format!("work on a thread panicked: {message}");
                    cx.report(Report::new(kind, what).object(self.fx.name()));
                });
                FlowError::Panicked
            }));
        }
        shared.waker = Some(context.waker().clone());
        Poll::Pending
    }
}
