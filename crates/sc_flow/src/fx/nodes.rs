//! The nodes as awaitables, over the same cores as their builders.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use sc_core::{Clock, Cx, Life, Secs, TickId, TimeError, secs};

use super::FlowCx;
use super::gate::Gate;
use crate::error::FlowError;
use crate::executor::bonds::{Bond, Role};
use crate::finish::{Done, Step, Wait};
use crate::list::{Progress, WaitingFor};
use crate::node::Next;
use crate::node::duration::{DurationCore, Laps};
use crate::node::ease::Shape;
use crate::node::for_each::ForEachCore;
use crate::node::wait_until::{WaitCore, WaitTurn, is_gone};
use crate::span::span;

impl<H> FlowCx<H> {
    /// Notes for lists and warnings what the flow waits for in a node, and how far that has come.
    fn note(&self, note: Option<(WaitingFor, Progress)>) {
        let home = &*self.home;
        home.board.note(self.id, note, home.runtime_now.get());
    }

    /// Notes what a node's poll has come to.
    fn noted<R>(
        &self,
        outcome: &Poll<Result<R, FlowError>>,
        waiting: impl FnOnce() -> (WaitingFor, Progress),
    ) {
        match outcome {
            Poll::Ready(_) => {
                self.has_awaited();
                self.note(None);
            }
            Poll::Pending => self.note(Some(waiting())),
        }
    }

    /// Waits until a condition is true: see [`WaitUntil`](crate::WaitUntil). Awaiting it gives how the
    /// wait ended.
    ///
    /// ```
    /// # use sc_core::{Clock, Cx, Owner, Runtime, Tickable, WorldKind, secs};
    /// # use sc_flow::*;
    /// # let (mut rt, mut log) = (Runtime::<Vec<u32>>::new(), Vec::new());
    /// # let mut cx = rt.cx(&mut log);
    /// # let level = cx.create_world(WorldKind::Game)?;
    /// Flow::new("example").world(level).spawn(&mut cx, async |fx| {
    ///     let wait = fx.wait_until(|cx: &mut Cx<'_, Vec<u32>>, _attempt| !cx.host().is_empty()).timeout(secs(0.5));
    ///     assert_eq!(wait.await?, Wait::TimedOut);
    ///     fx.with(|cx| cx.host_mut().push(1))?;
    ///     Ok(())
    /// })?;
    /// for _ in 0..2 { rt.tick_secs(&mut log, 0.25)?; }
    /// assert_eq!(log, [1]);
    /// # Ok::<(), FlowError>(())
    /// ```
    pub fn wait_until<C>(&self, condition: C) -> WaitUntilFx<'_, H, C>
    where
        C: FnMut(&mut Cx<'_, H>, u64) -> bool + Unpin,
    {
        WaitUntilFx {
            gate: Gate::new(self),
            condition,
            belongs_to: None,
            bond: None,
            interval: secs(0),
            timeout: secs(0),
            immediately: false,
            core: None,
        }
    }

    /// Calls `update(cx, alpha, delta)` each frame for a duration: see
    /// [`DoForDuration`](crate::DoForDuration).
    ///
    /// ```
    /// # use sc_core::{Clock, Cx, Owner, Runtime, Tickable, WorldKind, secs};
    /// # use sc_flow::*;
    /// # let (mut rt, mut log) = (Runtime::<Vec<u32>>::new(), Vec::new());
    /// # let mut cx = rt.cx(&mut log);
    /// # let level = cx.create_world(WorldKind::Game)?;
    /// Flow::new("example").world(level).spawn(&mut cx, async |fx| {
    ///     fx.do_for_duration(secs(1), |cx: &mut Cx<'_, Vec<u32>>, alpha, _delta| {
    ///         cx.host_mut().push((alpha * 100.0) as u32);
    ///     })
    ///     .await?;
    ///     Ok(())
    /// })?;
    /// for _ in 0..5 { rt.tick_secs(&mut log, 0.25)?; }
    /// assert_eq!(log, [25, 50, 75, 100]);
    /// # Ok::<(), FlowError>(())
    /// ```
    pub fn do_for_duration<U>(
        &self,
        duration: impl Into<Secs>,
        update: U,
    ) -> DoForDurationFx<'_, H, U>
    where
        U: FnMut(&mut Cx<'_, H>, f32, Duration) + Unpin,
    {
        DoForDurationFx {
            gate: Gate::new(self),
            duration: span(duration.into()),
            update,
            shape: None,
            laps: Laps::ONE,
            core: None,
        }
    }

    /// Calls an async body for each index below `count`, with a delay between iterations: see
    /// [`ForEach`](crate::ForEach). The body parks the loop by awaiting.
    ///
    /// # Errors
    /// The body's, [`FlowError::BadTime`], [`FlowError::OutsideItsFlow`].
    ///
    /// ```
    /// # use sc_core::{Clock, Cx, Owner, Runtime, Tickable, WorldKind, secs};
    /// # use sc_flow::*;
    /// # let (mut rt, mut log) = (Runtime::<Vec<u32>>::new(), Vec::new());
    /// # let mut cx = rt.cx(&mut log);
    /// # let level = cx.create_world(WorldKind::Game)?;
    /// Flow::new("example").world(level).spawn(&mut cx, async |fx| {
    ///     fx.for_each_with_delay(3, secs(0.5), async |i| fx.with(|cx| cx.host_mut().push(i as u32))).await?;
    ///     Ok(())
    /// })?;
    /// for _ in 0..5 { rt.tick_secs(&mut log, 0.25)?; }
    /// assert_eq!(log, [0, 1, 2]);
    /// # Ok::<(), FlowError>(())
    /// ```
    pub async fn for_each_with_delay<A: LoopAnswer>(
        &self,
        count: i64,
        delay: impl Into<Secs>,
        body: impl AsyncFnMut(usize) -> A,
    ) -> Result<Done, FlowError> {
        let delay = span(delay.into())?;
        self.for_each(0..usize::try_from(count).unwrap_or(0), delay, 1, body)
            .await
    }

    /// Calls an async body for each item of an iterator, so many a tick: see
    /// [`ForEach`](crate::ForEach). Below 1 counts as 1.
    ///
    /// # Errors
    /// The body's, [`FlowError::OutsideItsFlow`].
    ///
    /// ```
    /// # use sc_core::{Clock, Cx, Owner, Runtime, Tickable, WorldKind, secs};
    /// # use sc_flow::*;
    /// # let (mut rt, mut log) = (Runtime::<Vec<u32>>::new(), Vec::new());
    /// # let mut cx = rt.cx(&mut log);
    /// # let level = cx.create_world(WorldKind::Game)?;
    /// Flow::new("example").world(level).spawn(&mut cx, async |fx| {
    ///     fx.for_each_per_tick([7, 8, 9], 2, async |item| fx.with(|cx| cx.host_mut().push(item))).await?;
    ///     Ok(())
    /// })?;
    /// for _ in 0..1 { rt.tick_secs(&mut log, 0.25)?; }
    /// assert_eq!(log, [7, 8]);
    /// # Ok::<(), FlowError>(())
    /// ```
    pub async fn for_each_per_tick<I: IntoIterator, A: LoopAnswer>(
        &self,
        items: I,
        items_per_tick: i64,
        body: impl AsyncFnMut(I::Item) -> A,
    ) -> Result<Done, FlowError> {
        self.for_each(items, 0, items_per_tick, body).await
    }

    async fn for_each<I: IntoIterator, A: LoopAnswer>(
        &self,
        items: I,
        delay: u64,
        items_per_tick: i64,
        mut body: impl AsyncFnMut(I::Item) -> A,
    ) -> Result<Done, FlowError> {
        let mut items = items.into_iter().peekable();
        let of = match items.size_hint() {
            (low, Some(high)) if low == high => u64::try_from(high).ok(),
            _ => None,
        };
        let mut done = 0;
        if items.peek().is_none() {
            return Ok(Done::Completed);
        }
        let mut gate = Gate::new(self);
        let mut core: Option<ForEachCore> = None;
        loop {
            // Waits for the batch.
            let now = std::future::poll_fn(|context| {
                let core = std::cell::RefCell::new(&mut core);
                gate.drive(
                    context,
                    &mut |start| {
                        **core.borrow_mut() =
                            Some(ForEachCore::new(delay, items_per_tick, false, start));
                        Ok(None)
                    },
                    &mut |now| {
                        let mut core = core.borrow_mut();
                        let Some(core) = core.as_mut() else {
                            return Err(FlowError::OutsideItsFlow);
                        };
                        Ok(if core.begins_batch(now) {
                            Ok(now)
                        } else {
                            Err(core.next())
                        })
                    },
                    &mut || {
                        core.borrow()
                            .as_ref()
                            .map_or(Next::Frame, ForEachCore::next)
                    },
                )
            })
            .await?;
            let Some(core) = &mut core else {
                return Err(FlowError::OutsideItsFlow);
            };
            core.park(now);
            let frame = self.home.frame.get();
            for _ in 0..core.items_per_tick {
                let Some(item) = items.next() else {
                    break;
                };
                done += 1;
                self.note(Some((
                    WaitingFor::Await,
                    Progress::Index { next: done, of },
                )));
                let step = body(item).await.into_step()?;
                let ended = match step {
                    Step::Break => Some(Done::Broken),
                    _ if items.peek().is_none() => Some(Done::Completed),
                    Step::Suspend => break,
                    Step::Continue => None,
                };
                if let Some(ended) = ended {
                    self.note(None);
                    self.has_awaited();
                    return Ok(ended);
                }
            }
            core.unpark(self.home.now(self.clock()));
            if delay == 0 && self.home.frame.get() != frame {
                // It was parked, and goes on with the next tick.
                gate.skip_frame();
            }
        }
    }
}

/// What an async body of a loop may answer: `()`, a [`Step`], or a `Result` with one of them. An
/// `Err` ends the loop and is the awaiter's `Err`; `Suspend` only ends the batch: an async body
/// parks by awaiting.
pub trait LoopAnswer {
    /// The step it means.
    ///
    /// # Errors
    /// The body's own.
    fn into_step(self) -> Result<Step, FlowError>;
}

impl LoopAnswer for () {
    fn into_step(self) -> Result<Step, FlowError> {
        Ok(Step::Continue)
    }
}

impl LoopAnswer for Step {
    fn into_step(self) -> Result<Step, FlowError> {
        Ok(self)
    }
}

impl<A: LoopAnswer, E: Into<FlowError>> LoopAnswer for Result<A, E> {
    fn into_step(self) -> Result<Step, FlowError> {
        self.map_err(Into::into)?.into_step()
    }
}

/// Made by [`FlowCx::wait_until`].
#[must_use = "awaitables do nothing until they are awaited"]
pub struct WaitUntilFx<'f, H: 'static, C> {
    gate: Gate<'f, H>,
    condition: C,
    belongs_to: Option<TickId>,
    /// The life it belongs to, and what ties the flow to that.
    bond: Option<(Life, Bond)>,
    interval: Secs,
    timeout: Secs,
    immediately: bool,
    core: Option<WaitCore>,
}

impl<H, C> WaitUntilFx<'_, H, C> {
    /// Time between polls; 0 or less = every tick, the default.
    pub fn every(mut self, interval: impl Into<Secs>) -> Self {
        self.interval = interval.into();
        self
    }

    /// How long it waits; 0 or less = no deadline, the default.
    pub fn timeout(mut self, timeout: impl Into<Secs>) -> Self {
        self.timeout = timeout.into();
        self
    }

    /// Polls once when it is first awaited.
    pub fn check_immediately(mut self) -> Self {
        self.immediately = true;
        self.gate.first_is_turn = true;
        self
    }

    /// Counts on another clock than the flow's.
    pub fn on(mut self, clock: Clock) -> Self {
        self.gate.on(clock);
        self
    }

    /// The object the condition belongs to: when it is gone, the wait ends timed out, with a
    /// report.
    pub fn condition_of(mut self, object: impl Into<TickId>) -> Self {
        self.belongs_to = Some(object.into());
        self
    }
}

impl<H, C: FnMut(&mut Cx<'_, H>, u64) -> bool + Unpin> Future for WaitUntilFx<'_, H, C> {
    type Output = Result<Wait, FlowError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let fx = this.gate.fx;
        let core = std::cell::RefCell::new(&mut this.core);
        let condition = std::cell::RefCell::new(&mut this.condition);
        let belongs_to = std::cell::Cell::new(this.bond);
        let polled = |attempt| fx.with(|cx| (condition.borrow_mut())(cx, attempt));
        let outcome = this.gate.drive(
            context,
            &mut |start| {
                let (interval, timeout) = (span(this.interval)?, span(this.timeout)?);
                let mut fresh = WaitCore::new(interval, timeout, start);
                if let Some(object) = this.belongs_to {
                    let life = fx.with(|cx| cx.life(object))??;
                    let bonds = &mut fx.home.board.table.borrow_mut().bonds;
                    belongs_to.set(Some((life, bonds.add(life, fx.id, Role::Condition))));
                }
                let satisfied = this.immediately && {
                    fresh.attempts = 1;
                    polled(0)?
                };
                **core.borrow_mut() = Some(fresh);
                Ok(satisfied.then_some(Wait::Satisfied))
            },
            &mut |now| {
                let mut core = core.borrow_mut();
                let Some(core) = core.as_mut() else {
                    return Err(FlowError::OutsideItsFlow);
                };
                let turn = core.turn(now);
                if turn == WaitTurn::TimedOut {
                    return Ok(Ok(Wait::TimedOut));
                }
                if let Some((life, _)) = belongs_to.get() {
                    let name = || fx.home.board.table.borrow().name(fx.id.index);
                    if fx.with(|cx| is_gone(cx, life, name))? {
                        return Ok(Ok(Wait::TimedOut));
                    }
                }
                match turn {
                    WaitTurn::TimedOut | WaitTurn::NotYet => Ok(Err(core.next())),
                    WaitTurn::Poll => {
                        let attempt = core.attempts;
                        core.attempts += 1;
                        let satisfied = polled(attempt)?;
                        Ok(if satisfied {
                            Ok(Wait::Satisfied)
                        } else {
                            Err(core.next())
                        })
                    }
                }
            },
            &mut || core.borrow().as_ref().map_or(Next::Frame, WaitCore::next),
        );
        this.bond = belongs_to.get();
        this.gate.fx.noted(&outcome, || {
            let core = this.core.as_ref();
            let has_deadline = core.is_some_and(WaitCore::has_deadline);
            let attempts = core.map_or(0, |core| core.attempts);
            let waiting_for = if has_deadline {
                WaitingFor::Time
            } else {
                WaitingFor::Condition
            };
            (waiting_for, Progress::Attempts(attempts))
        });
        outcome
    }
}

impl<H, C> Drop for WaitUntilFx<'_, H, C> {
    fn drop(&mut self) {
        if let Some((_, bond)) = self.bond.take() {
            self.gate
                .fx
                .home
                .board
                .table
                .borrow_mut()
                .bonds
                .remove(bond);
        }
    }
}

/// Made by [`FlowCx::do_for_duration`].
#[must_use = "awaitables do nothing until they are awaited"]
pub struct DoForDurationFx<'f, H: 'static, U> {
    gate: Gate<'f, H>,
    duration: Result<u64, TimeError>,
    update: U,
    shape: Option<Shape>,
    laps: Laps,
    core: Option<DurationCore>,
}

impl<H, U> DoForDurationFx<'_, H, U> {
    /// Shapes the progress: what goes in is from 0 to 1, what comes out is handed on as it is.
    pub fn shape(mut self, shape: impl Fn(f32) -> f32 + 'static) -> Self {
        self.shape = Some(Box::new(shape));
        self
    }

    /// Shapes the progress by a named curve.
    #[cfg(feature = "easing")]
    pub fn ease(self, ease: crate::Ease) -> Self {
        self.shape(move |progress| ease.at(progress))
    }

    /// Runs so many laps, each with a final update of its own; 0 counts as 1.
    pub fn laps(mut self, laps: u32) -> Self {
        self.laps.count = Some(laps.max(1));
        self
    }

    /// Every second lap runs backwards.
    pub fn ping_pong(mut self) -> Self {
        self.laps.ping_pong = true;
        self
    }

    /// Counts on another clock than the flow's.
    pub fn on(mut self, clock: Clock) -> Self {
        self.gate.on(clock);
        self
    }
}

impl<H, U> Future for DoForDurationFx<'_, H, U>
where
    U: FnMut(&mut Cx<'_, H>, f32, Duration) + Unpin,
{
    type Output = Result<(), FlowError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let fx = this.gate.fx;
        let core = std::cell::RefCell::new(&mut this.core);
        let outcome = this.gate.drive(
            context,
            &mut |start| {
                let fresh = DurationCore::new(this.duration?, this.laps, start)?;
                **core.borrow_mut() = Some(fresh);
                Ok(None)
            },
            &mut |now| {
                let mut core = core.borrow_mut();
                let Some(core) = core.as_mut() else {
                    return Err(FlowError::OutsideItsFlow);
                };
                let mut left = core.advance(now);
                loop {
                    let update = core.step(&mut left);
                    let shape = this.shape.as_ref();
                    let alpha = shape.map_or(update.raw, |shape| shape(update.raw));
                    let delta = Duration::from_nanos(update.delta);
                    fx.with(|cx| (this.update)(cx, alpha, delta))?;
                    if update.is_last {
                        return Ok(Ok(()));
                    }
                    if left == 0 {
                        return Ok(Err(Next::Frame));
                    }
                }
            },
            &mut || Next::Frame,
        );
        this.gate.fx.noted(&outcome, || {
            let alpha = this.core.as_ref().map_or(0.0, DurationCore::progress);
            (WaitingFor::NextFrame, Progress::Alpha(alpha))
        });
        outcome
    }
}
