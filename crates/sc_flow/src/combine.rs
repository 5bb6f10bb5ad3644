//! Combinators: several awaits at once.

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use sc_core::Secs;

use crate::error::FlowError;
use crate::finish::Wait;
use crate::fx::FlowCx;

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
    pub async fn timeout<F: Future>(
        &self,
        seconds: impl Into<Secs>,
        future: F,
    ) -> Result<Option<F::Output>, FlowError> {
        match race(self.delay(seconds), future).await {
            Either::First(waited) => waited.map(|()| None),
            Either::Second(value) => Ok(Some(value)),
        }
    }

    /// Runs a body that may start children: they run beside it in this flow, may borrow what
    /// outlives the scope, and end before the scope does. Dropping the scope (a cancel) drops the
    /// children first.
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
    ///                 if fx.ticks(n).await.is_ok() {
    ///                     let _ = fx.with(|cx| cx.host_mut().push(n as u32));
    ///                 }
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
        };
        let mut value = None;
        let mut body = pin!(body(&scope));
        // Dropped first: children before the body.
        let _children_first = ChildrenFirst(&scope);
        poll_fn(|context| {
            poll_into(&mut value, body.as_mut(), context);
            if !scope.poll(context) {
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

type Child<'s> = Pin<Box<dyn Future<Output = ()> + 's>>;

/// Where children are started. Made by [`FlowCx::scope`].
pub struct Scope<'s> {
    children: RefCell<Vec<Child<'s>>>,
}

impl<'s> Scope<'s> {
    /// Starts a child; it is polled first in the parent's present turn, after the body.
    pub fn spawn(&self, child: impl Future<Output = ()> + 's) {
        self.children.borrow_mut().push(Box::pin(child));
    }

    /// Polls the children, those they start too; whether all have ended.
    fn poll(&self, context: &mut Context<'_>) -> bool {
        let mut running = std::mem::take(&mut *self.children.borrow_mut());
        let mut at = 0;
        while at < running.len() {
            let ended = running
                .get_mut(at)
                .is_some_and(|child| child.as_mut().poll(context).is_ready());
            if ended {
                drop(running.remove(at));
            } else {
                at += 1;
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
