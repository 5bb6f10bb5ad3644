//! The nodes as awaitables, over the same cores as their builders.

mod changed;
mod for_each;

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use sc_core::{Clock, Cx, Life, Secs, TickId, TimeError, secs};

use super::FlowCx;
use super::gate::Gate;
use crate::error::FlowError;
use crate::executor::bonds::{Bond, Role};
use crate::executor::end::is_ending;
use crate::finish::Wait;
use crate::list::{Progress, WaitingFor};
use crate::node::Next;
use crate::node::control::DriveControl;
use crate::node::duration::{DurationCore, Laps};
use crate::node::ease::Shape;
use crate::node::options::drive_options;
use crate::node::wait_until::{WaitCore, WaitTurn, is_gone};
use crate::span::span;

pub use changed::ChangedFx;
pub use for_each::{ForEachFx, LoopAnswer};

impl<H> FlowCx<H> {
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
            waiting: Waiting::new(self),
            condition,
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
            control: None,
            core: None,
        }
    }
}

impl<H> FlowCx<H> {
    /// What lists and reports call the flow.
    pub(crate) fn name(&self) -> String {
        self.home.board.table.borrow().name(self.id.index)
    }

    /// Whether the flow is about to end: a node in it has called its callback for the last time, and
    /// yields.
    fn is_ending(&self, cx: &mut Cx<'_, H>) -> bool {
        is_ending(cx, &self.home.board, self.id)
    }
}

/// What every wait in an async flow is made of: when it asks, and when it has waited long enough.
struct Waiting<'f, H: 'static> {
    gate: Gate<'f, H>,
    belongs_to: Option<TickId>,
    /// The life it belongs to, and what ties the flow to that.
    bond: Cell<Option<(Life, Bond)>>,
    interval: Secs,
    timeout: Secs,
    immediately: bool,
    core: Option<WaitCore>,
}

impl<'f, H> Waiting<'f, H> {
    fn new(fx: &'f FlowCx<H>) -> Self {
        Waiting {
            gate: Gate::new(fx),
            belongs_to: None,
            bond: Cell::new(None),
            interval: secs(0),
            timeout: secs(0),
            immediately: false,
            core: None,
        }
    }

    /// Asks when it is time: `ask` gets the number of the attempt, and what it answers is the result.
    /// `None`: the deadline came first.
    fn poll<R>(
        &mut self,
        context: &Context<'_>,
        ask: impl FnMut(&mut Cx<'_, H>, u64) -> Option<R>,
    ) -> Poll<Result<Option<R>, FlowError>> {
        let fx = self.gate.fx;
        let core = RefCell::new(&mut self.core);
        let ask = RefCell::new(ask);
        let bond = &self.bond;
        let asked = |attempt| fx.with(|cx| (ask.borrow_mut())(cx, attempt));
        let outcome = self.gate.drive(
            context,
            &mut |start| {
                let (interval, timeout) = (span(self.interval)?, span(self.timeout)?);
                let mut fresh = WaitCore::new(interval, timeout, start);
                if let Some(object) = self.belongs_to {
                    let life = fx.with(|cx| cx.life(object))??;
                    let bonds = &mut fx.home.board.table.borrow_mut().bonds;
                    bond.set(Some((life, bonds.add(life, fx.id, Role::Condition))));
                }
                let answer = if self.immediately {
                    fresh.attempts = 1;
                    asked(0)?
                } else {
                    None
                };
                **core.borrow_mut() = Some(fresh);
                Ok(answer.map(Some))
            },
            &mut |now| {
                let mut core = core.borrow_mut();
                let Some(core) = core.as_mut() else {
                    return Err(FlowError::OutsideItsFlow);
                };
                let turn = core.turn(now);
                if turn == WaitTurn::TimedOut {
                    return Ok(Ok(None));
                }
                if let Some((life, _)) = bond.get()
                    && fx.with(|cx| is_gone(cx, life, || fx.name()))?
                {
                    return Ok(Ok(None));
                }
                match turn {
                    WaitTurn::TimedOut | WaitTurn::NotYet => Ok(Err(core.next())),
                    WaitTurn::Poll => {
                        let attempt = core.attempts;
                        core.attempts += 1;
                        Ok(asked(attempt)?.map(Some).ok_or(core.next()))
                    }
                }
            },
            &mut || {
                let ended = |(life, _)| !fx.with(|cx| cx.is_living(life)).unwrap_or(true);
                match core.borrow().as_ref() {
                    // It was woken for this, but its clock stands.
                    Some(_) if bond.get().is_some_and(ended) => Next::Frame,
                    Some(core) => core.next(),
                    None => Next::Frame,
                }
            },
        );
        self.gate.noted(&outcome, || {
            let core = self.core.as_ref();
            let has_deadline = core.is_some_and(WaitCore::has_deadline);
            let attempts = core.map_or(0, |core| core.attempts);
            let waiting_for = if has_deadline {
                WaitingFor::Time
            } else {
                WaitingFor::Condition
            };
            (waiting_for, Progress::Attempts(attempts))
        });
        if outcome.is_ready() {
            self.core = None;
        }
        outcome
    }
}

impl<H> Drop for Waiting<'_, H> {
    fn drop(&mut self) {
        // Given up in mid-wait, as by a race that was lost.
        let fx = self.gate.fx;
        if self.core.is_some() {
            self.gate.takes_back_note();
        }
        if let Some((_, bond)) = self.bond.take() {
            fx.home.board.table.borrow_mut().bonds.remove(bond);
        }
    }
}

/// Made by [`FlowCx::wait_until`].
#[must_use = "awaitables do nothing until they are awaited"]
pub struct WaitUntilFx<'f, H: 'static, C> {
    waiting: Waiting<'f, H>,
    condition: C,
}

impl<H, C> WaitUntilFx<'_, H, C> {
    /// Time between polls; 0 or less = every tick, the default.
    pub fn every(mut self, interval: impl Into<Secs>) -> Self {
        self.waiting.interval = interval.into();
        self
    }

    /// How long it waits; 0 or less = no deadline, the default.
    pub fn timeout(mut self, timeout: impl Into<Secs>) -> Self {
        self.waiting.timeout = timeout.into();
        self
    }

    /// Polls once when it is first awaited.
    pub fn check_immediately(mut self) -> Self {
        self.waiting.immediately = true;
        self.waiting.gate.first_is_turn = true;
        self
    }

    /// Counts on another clock than the flow's.
    pub fn on(mut self, clock: Clock) -> Self {
        self.waiting.gate.on(clock);
        self
    }

    /// The object the condition belongs to: when it is gone, the wait ends timed out, with a
    /// report.
    pub fn condition_of(mut self, object: impl Into<TickId>) -> Self {
        self.waiting.belongs_to = Some(object.into());
        self
    }
}

impl<H, C: FnMut(&mut Cx<'_, H>, u64) -> bool + Unpin> Future for WaitUntilFx<'_, H, C> {
    type Output = Result<Wait, FlowError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let condition = &mut this.condition;
        let asked = this
            .waiting
            .poll(context, |cx, attempt| condition(cx, attempt).then_some(()));
        asked.map_ok(|answer| match answer {
            Some(()) => Wait::Satisfied,
            None => Wait::TimedOut,
        })
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
    control: Option<DriveControl>,
    core: Option<DurationCore>,
}

impl<H, U> DoForDurationFx<'_, H, U> {
    drive_options!();

    /// Lets a control set its speed and its place, from its first poll on; until then it has no
    /// drive. A control that has another drive then is refused: awaiting gives
    /// [`FlowError::ControlTaken`].
    ///
    /// ```
    /// # use sc_core::{Clock, Cx, Owner, Runtime, Tickable, WorldKind, secs};
    /// # use sc_flow::*;
    /// # let (mut rt, mut log) = (Runtime::<Vec<u32>>::new(), Vec::new());
    /// # let mut cx = rt.cx(&mut log);
    /// # let level = cx.create_world(WorldKind::Game)?;
    /// let control = DriveControl::new();
    /// let theirs = control.clone();
    /// Flow::new("example").world(level).spawn(&mut cx, async move |fx| {
    ///     let update = |cx: &mut Cx<'_, Vec<u32>>, alpha, _| cx.host_mut().push((alpha * 100.0) as u32);
    ///     fx.do_for_duration(secs(1), update).control(&theirs).await
    /// })?;
    /// rt.tick_secs(&mut log, 0.25)?;
    /// control.set_speed(2.0)?;
    /// rt.tick_secs(&mut log, 0.25)?;
    /// control.seek(secs(0.5))?;
    /// rt.tick_secs(&mut log, 0.125)?;
    /// assert_eq!(log, [25, 75, 75]);
    /// # Ok::<(), FlowError>(())
    /// ```
    pub fn control(mut self, control: &DriveControl) -> Self {
        self.control = Some(control.clone());
        self
    }

    /// Counts on another clock than the flow's.
    pub fn on(mut self, clock: Clock) -> Self {
        self.gate.on(clock);
        self
    }
}

impl<H, U> Drop for DoForDurationFx<'_, H, U> {
    fn drop(&mut self) {
        // Given up in mid-drive.
        if self.core.is_some() {
            self.gate.takes_back_note();
        }
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
        let core = RefCell::new(&mut this.core);
        let outcome = this.gate.drive(
            context,
            &mut |start| {
                let (duration, control) = (this.duration?, this.control.as_ref());
                let fresh = DurationCore::new(duration, this.laps, control, start)?;
                **core.borrow_mut() = Some(fresh);
                Ok(None)
            },
            &mut |now| {
                let mut core = core.borrow_mut();
                let Some(core) = core.as_mut() else {
                    return Err(FlowError::OutsideItsFlow);
                };
                let update = &mut this.update;
                let shape = this.shape.as_ref();
                let ended = core.turn(now, shape, |_, alpha, delta, has_more| {
                    fx.with(|cx| {
                        update(cx, alpha, delta);
                        has_more && fx.is_ending(cx)
                    })
                })?;
                Ok(if ended { Ok(()) } else { Err(Next::Frame) })
            },
            &mut || Next::Frame,
        );
        this.gate.noted(&outcome, || {
            let alpha = this.core.as_ref().map_or(0.0, DurationCore::progress);
            (WaitingFor::NextFrame, Progress::Alpha(alpha))
        });
        if outcome.is_ready() {
            // The future may be kept, as `join` does: its control is given back all the same.
            this.core = None;
        }
        outcome
    }
}
