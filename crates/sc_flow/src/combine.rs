//! Combinators: several awaits at once.

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use sc_core::{Report, ReportKind, Secs};

use crate::error::FlowError;
use crate::finish::Wait;
use crate::fx::FlowCx;
use crate::reports;

/// Awaits two futures; gives both values.
///
/// The two run in one flow and may borrow what is around them.
///
/// ```
/// # use sc_core::{Clock, Cx, Owner, Runtime, Tickable, WorldKind, secs};
/// # use sc_flow::*;
/// # let (mut rt, mut log) = (Runtime::<Vec<u32>>::new(), Vec::new());
/// # let mut cx = rt.cx(&mut log);
/// # let level = cx.create_world(WorldKind::Game)?;
/// Flow::new("example").world(level).spawn(&mut cx, async |fx| {
///     let (first, second) = join(fx.delay(secs(0.5)), fx.delay(secs(1))).await;
///     first.and(second)?;
///     fx.with(|cx| cx.host_mut().push(1))?;
///     Ok(())
/// })?;
/// for _ in 0..4 { rt.tick_secs(&mut log, 0.25)?; }
/// assert_eq!(log, [1]);
/// # Ok::<(), FlowError>(())
/// ```
pub async fn join<A: Future, B: Future>(a: A, b: B) -> (A::Output, B::Output) {
    let (mut a, mut b) = (pin!(a), pin!(b));
    let (mut first, mut second) = (None, None);
    poll_fn(move |context| {
        poll_into(&mut first, a.as_mut(), context);
        poll_into(&mut second, b.as_mut(), context);
        match (first.take(), second.take()) {
            (Some(first), Some(second)) => Poll::Ready((first, second)),
            (x, y) => {
                (first, second) = (x, y);
                Poll::Pending
            }
        }
    })
    .await
}

fn poll_into<F: Future>(
    into: &mut Option<F::Output>,
    future: Pin<&mut F>,
    context: &mut Context<'_>,
) {
    if into.is_none()
        && let Poll::Ready(value) = future.poll(context)
    {
        *into = Some(value);
    }
}

/// Awaits any number of futures of one type; gives their values in order.
///
/// ```
/// # use sc_core::{Clock, Cx, Owner, Runtime, Tickable, WorldKind, secs};
/// # use sc_flow::*;
/// # let (mut rt, mut log) = (Runtime::<Vec<u32>>::new(), Vec::new());
/// # let mut cx = rt.cx(&mut log);
/// # let level = cx.create_world(WorldKind::Game)?;
/// Flow::new("example").world(level).spawn(&mut cx, async |fx| {
///     let all = join_all((1..=3).map(|n| fx.ticks(n))).await;
///     assert_eq!(all.len(), 3);
///     fx.with(|cx| cx.host_mut().push(1))?;
///     Ok(())
/// })?;
/// for _ in 0..4 { rt.tick_secs(&mut log, 0.25)?; }
/// assert_eq!(log, [1]);
/// # Ok::<(), FlowError>(())
/// ```
pub async fn join_all<F: Future>(futures: impl IntoIterator<Item = F>) -> Vec<F::Output> {
    let mut running: Vec<_> = futures
        .into_iter()
        .map(|future| (Box::pin(future), None))
        .collect();
    poll_fn(move |context| {
        for (future, value) in &mut running {
            poll_into(value, future.as_mut(), context);
        }
        if running.iter().any(|(_, value)| value.is_none()) {
            return Poll::Pending;
        }
        let values = running.drain(..).filter_map(|(_, value)| value);
        Poll::Ready(values.collect())
    })
    .await
}

/// Which of two won a race.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Either<A, B> {
    /// The first, with its value.
    First(A),
    /// The second, with its value.
    Second(B),
}

/// Awaits whichever of two futures is ready first; the other one is dropped at once, its guards run.
/// If both are ready, the first wins.
///
/// ```
/// # use sc_core::{Clock, Cx, Owner, Runtime, Tickable, WorldKind, secs};
/// # use sc_flow::*;
/// # let (mut rt, mut log) = (Runtime::<Vec<u32>>::new(), Vec::new());
/// # let mut cx = rt.cx(&mut log);
/// # let level = cx.create_world(WorldKind::Game)?;
/// Flow::new("example").world(level).spawn(&mut cx, async |fx| {
///     let won = race(fx.delay(secs(60)), fx.delay(secs(0.25))).await;
///     assert!(matches!(won, Either::Second(Ok(()))));
///     fx.with(|cx| cx.host_mut().push(1))?;
///     Ok(())
/// })?;
/// for _ in 0..1 { rt.tick_secs(&mut log, 0.25)?; }
/// assert_eq!(log, [1]);
/// # Ok::<(), FlowError>(())
/// ```
pub async fn race<A: Future, B: Future>(a: A, b: B) -> Either<A::Output, B::Output> {
    let (mut a, mut b) = (pin!(a), pin!(b));
    poll_fn(|context| {
        if let Poll::Ready(value) = a.as_mut().poll(context) {
            return Poll::Ready(Either::First(value));
        }
        b.as_mut().poll(context).map(Either::Second)
    })
    .await
}

impl<H> FlowCx<H> {
    /// Awaits a future, but no longer than so many seconds on the flow's clock: `Ok(None)` when
    /// they are over first (also when both are over); the future is dropped then.
    ///
    /// # Errors
    /// [`FlowError::BadTime`].
    ///
    /// ```
    /// # use sc_core::{Clock, Cx, Owner, Runtime, Tickable, WorldKind, secs};
    /// # use sc_flow::*;
    /// # let (mut rt, mut log) = (Runtime::<Vec<u32>>::new(), Vec::new());
    /// # let mut cx = rt.cx(&mut log);
    /// # let level = cx.create_world(WorldKind::Game)?;
    /// Flow::new("example").world(level).spawn(&mut cx, async |fx| {
    ///     assert!(fx.timeout(secs(0.5), fx.delay(secs(60))).await?.is_none());
    ///     fx.with(|cx| cx.host_mut().push(1))?;
    ///     Ok(())
    /// })?;
    /// for _ in 0..2 { rt.tick_secs(&mut log, 0.25)?; }
    /// assert_eq!(log, [1]);
    /// # Ok::<(), FlowError>(())
    /// ```
    pub fn timeout<F: Future>(
        &self,
        seconds: impl Into<Secs>,
        future: F,
    ) -> impl Future<Output = Result<Option<F::Output>, FlowError>> {
        // Like every wait it counts from here, not from when it is awaited.
        let delay = self.delay(seconds.into());
        async move {
            match race(delay, future).await {
                Either::First(waited) => waited.map(|()| None),
                Either::Second(value) => Ok(Some(value)),
            }
        }
    }

    /// Runs a body that may start children: they run beside it in this flow, may borrow what
    /// outlives the scope, and end before the scope does. Dropping the scope (a cancel) drops the
    /// children first.
    ///
    /// A child's value goes into what it borrows (a `Cell`); for values alone there are [`join`] and
    /// [`join_all`]. A child's error ends that child only, and is reported: see [`Scope::spawn`].
    ///
    /// ```
    /// # use sc_core::{Clock, Cx, Owner, Runtime, Tickable, WorldKind, secs};
    /// # use sc_flow::*;
    /// # let (mut rt, mut log) = (Runtime::<Vec<u32>>::new(), Vec::new());
    /// # let mut cx = rt.cx(&mut log);
    /// # let level = cx.create_world(WorldKind::Game)?;
    /// Flow::new("example").world(level).spawn(&mut cx, async |fx| {
    ///     let fx = &fx;
    ///     fx.scope(async |scope| {
    ///         for n in 1..=2 {
    ///             scope.spawn(async move {
    ///                 fx.ticks(n).await?;
    ///                 fx.with(|cx| cx.host_mut().push(n as u32))
    ///             });
    ///         }
    ///     })
    ///     .await;
    ///     fx.with(|cx| cx.host_mut().push(3))?;
    ///     Ok(())
    /// })?;
    /// for _ in 0..4 { rt.tick_secs(&mut log, 0.25)?; }
    /// assert_eq!(log, [1, 2, 3]);
    /// # Ok::<(), FlowError>(())
    /// ```
    pub async fn scope<'s, R>(&self, body: impl AsyncFnOnce(&Scope<'s>) -> R) -> R {
        let scope = Scope {
            children: RefCell::default(),
            failed: RefCell::default(),
        };
        let mut value = None;
        let mut body = pin!(body(&scope));
        // Dropped first: children before the body.
        let _children_first = ChildrenFirst(&scope);
        poll_fn(|context| {
            poll_into(&mut value, body.as_mut(), context);
            let all_ended = scope.poll(context);
            for error in scope.failed.take() {
                self.report_child(&error);
            }
            if !all_ended {
                return Poll::Pending;
            }
            match value.take() {
                Some(value) => Poll::Ready(value),
                None => Poll::Pending,
            }
        })
        .await
    }
}

impl<H> FlowCx<H> {
    /// Nobody else takes the error of a child.
    fn report_child(&self, error: &FlowError) {
        let _ = self.with(|cx| {
            let kind = ReportKind::Extension(&reports::FLOW_FAILED);
            let what = format!("a child of its scope ended with an error: {error}");
            let mut report = Report::new(kind, what).object(self.name());
            let world = self.world();
            report.world = world.and_then(|world| Some(cx.world_info(world).ok()?.name));
            cx.report(report);
        });
    }
}

/// What a child of a [`Scope`] may end with: `()`, a `Result` with the error of flows, or never.
pub trait ChildAnswer {
    /// Its error, if it has one.
    ///
    /// # Errors
    /// The child's own.
    fn into_result(self) -> Result<(), FlowError>;
}

impl ChildAnswer for () {
    fn into_result(self) -> Result<(), FlowError> {
        Ok(())
    }
}

impl ChildAnswer for Result<(), FlowError> {
    fn into_result(self) -> Result<(), FlowError> {
        self
    }
}

/// The type `!`, which can be named only as what a function returns.
type Never = <fn() -> ! as Returns>::Output;

#[doc(hidden)]
pub trait Returns {
    type Output;
}

impl<R> Returns for fn() -> R {
    type Output = R;
}

/// A child that never ends by itself: `loop { .. }`.
impl ChildAnswer for Never {
    fn into_result(self) -> Result<(), FlowError> {
        self
    }
}

type Child<'s> = Pin<Box<dyn Future<Output = Result<(), FlowError>> + 's>>;

/// Where children are started. Made by [`FlowCx::scope`].
pub struct Scope<'s> {
    children: RefCell<Vec<Child<'s>>>,
    /// The errors of children that have ended in the present poll.
    failed: RefCell<Vec<FlowError>>,
}

impl<'s> Scope<'s> {
    /// Starts a child; it is polled first in the parent's present turn, after the body.
    ///
    /// An `Err` of it ends neither the other children nor the scope. As that of a flow which nobody
    /// awaits, it is reported once, when the child ends; what has to end the story goes through
    /// what the child borrows, or through [`race`] and [`join`].
    pub fn spawn<A: ChildAnswer>(&self, child: impl Future<Output = A> + 's) {
        let child = Box::pin(async move { child.await.into_result() });
        self.children.borrow_mut().push(child);
    }

    /// Polls the children, those they start too; whether all have ended.
    fn poll(&self, context: &mut Context<'_>) -> bool {
        let mut running = std::mem::take(&mut *self.children.borrow_mut());
        let mut at = 0;
        while at < running.len() {
            let Some(child) = running.get_mut(at) else {
                break;
            };
            match child.as_mut().poll(context) {
                Poll::Pending => at += 1,
                Poll::Ready(answer) => {
                    drop(running.remove(at));
                    self.failed.borrow_mut().extend(answer.err());
                }
            }
            running.append(&mut self.children.borrow_mut());
        }
        let is_empty = running.is_empty();
        *self.children.borrow_mut() = running;
        is_empty
    }
}

struct ChildrenFirst<'a, 's>(&'a Scope<'s>);

impl Drop for ChildrenFirst<'_, '_> {
    fn drop(&mut self) {
        let children = std::mem::take(&mut *self.0.children.borrow_mut());
        drop(children);
    }
}

impl From<Wait> for bool {
    /// Whether the condition was true.
    fn from(wait: Wait) -> bool {
        wait == Wait::Satisfied
    }
}
