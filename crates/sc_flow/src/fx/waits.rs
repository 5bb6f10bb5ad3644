//! Waiting for time and for frames.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use sc_core::{Clock, Secs, secs};

use super::FlowCx;
use crate::error::FlowError;
use crate::executor::home::{At, ForeignTick, Home, Registered};
use crate::span::span;

impl<H> FlowCx<H> {
    /// Waits for time on the flow's clock; 0 or less = until the next frame. Never ends early, and
    /// at most one frame late. In a loop it drifts by what it is late; [`pace`](Self::pace) does not.
    ///
    /// Awaiting it gives [`FlowError::BadTime`] for NaN or an infinity.
    ///
    /// ```
    /// # use sc_core::{Clock, Cx, Owner, Runtime, Tickable, WorldKind, secs};
    /// # use sc_flow::*;
    /// # let (mut rt, mut log) = (Runtime::<Vec<u32>>::new(), Vec::new());
    /// # let mut cx = rt.cx(&mut log);
    /// # let level = cx.create_world(WorldKind::Game)?;
    /// Flow::new("example").world(level).spawn(&mut cx, async |fx| {
    ///     fx.delay(secs(1)).await?;
    ///     fx.with(|cx| cx.host_mut().push(1))?;
    ///     Ok(())
    /// })?;
    /// for _ in 0..3 { rt.tick_secs(&mut log, 0.25)?; }
    /// assert!(log.is_empty());
    /// rt.tick_secs(&mut log, 0.25)?;
    /// assert_eq!(log, [1]);
    /// # Ok::<(), FlowError>(())
    /// ```
    pub fn delay(&self, seconds: impl Into<Secs>) -> Delay<'_, H> {
        let (seconds, clock) = (seconds.into(), self.clock());
        let until = match span(seconds) {
            Ok(0) => Until::Frame(self.home.frame.get().saturating_add(1)),
            Ok(wait) => Until::Reading(self.home.counts_from(clock).0.saturating_add(wait)),
            Err(_) => Until::Never(seconds.as_f64()),
        };
        Delay::new(self, until, clock)
    }

    /// Waits for the next frame.
    ///
    /// ```
    /// # use sc_core::{Clock, Cx, Owner, Runtime, Tickable, WorldKind, secs};
    /// # use sc_flow::*;
    /// # let (mut rt, mut log) = (Runtime::<Vec<u32>>::new(), Vec::new());
    /// # let mut cx = rt.cx(&mut log);
    /// # let level = cx.create_world(WorldKind::Game)?;
    /// Flow::new("example").world(level).spawn(&mut cx, async |fx| {
    ///     fx.next_tick().await?;
    ///     fx.with(|cx| cx.host_mut().push(1))?;
    ///     Ok(())
    /// })?;
    /// for _ in 0..1 { rt.tick_secs(&mut log, 0.25)?; }
    /// assert!(log.is_empty());
    /// rt.tick_secs(&mut log, 0.25)?;
    /// assert_eq!(log, [1]);
    /// # Ok::<(), FlowError>(())
    /// ```
    pub fn next_tick(&self) -> NextTick<'_, H> {
        NextTick {
            fx: self,
            until: self.home.frame.get() + 1,
        }
    }

    /// Waits for so many frames; 0 counts as 1. A paused world's frames do not count, unless the
    /// flow's clock runs through the pause.
    ///
    /// ```
    /// # use sc_core::{Clock, Cx, Owner, Runtime, Tickable, WorldKind, secs};
    /// # use sc_flow::*;
    /// # let (mut rt, mut log) = (Runtime::<Vec<u32>>::new(), Vec::new());
    /// # let mut cx = rt.cx(&mut log);
    /// # let level = cx.create_world(WorldKind::Game)?;
    /// Flow::new("example").world(level).spawn(&mut cx, async |fx| {
    ///     fx.ticks(3).await?;
    ///     fx.with(|cx| cx.host_mut().push(1))?;
    ///     Ok(())
    /// })?;
    /// for _ in 0..3 { rt.tick_secs(&mut log, 0.25)?; }
    /// assert!(log.is_empty());
    /// rt.tick_secs(&mut log, 0.25)?;
    /// assert_eq!(log, [1]);
    /// # Ok::<(), FlowError>(())
    /// ```
    pub fn ticks(&self, frames: u64) -> Ticks<'_, H> {
        Ticks {
            fx: self,
            until: self.home.frame.get().saturating_add(frames.max(1)),
            paused: self.home.paused_frames.get(),
            registered: None,
        }
    }

    /// A sequence of moments without drift: each [`next`](Pace::next) waits for the next multiple of
    /// the period, counted from here.
    ///
    /// # Errors
    /// [`FlowError::BadTime`] for a period that is no positive time.
    ///
    /// ```
    /// # use sc_core::{Clock, Cx, Owner, Runtime, Tickable, WorldKind, secs};
    /// # use sc_flow::*;
    /// # let (mut rt, mut log) = (Runtime::<Vec<u32>>::new(), Vec::new());
    /// # let mut cx = rt.cx(&mut log);
    /// # let level = cx.create_world(WorldKind::Game)?;
    /// Flow::new("example").world(level).spawn(&mut cx, async |fx| {
    ///     let mut pace = fx.pace(secs(0.3))?;
    ///     for _ in 0..10 {
    ///         pace.next().await?;
    ///         fx.with(|cx| cx.host_mut().push(1))?;
    ///     }
    ///     Ok(())
    /// })?;
    /// for _ in 0..12 { rt.tick_secs(&mut log, 0.25)?; }
    /// assert_eq!(log.len(), 10); // 3 seconds, though no step ends at a multiple of 0.25.
    /// # Ok::<(), FlowError>(())
    /// ```
    pub fn pace(&self, period: impl Into<Secs>) -> Result<Pace<'_, H>, FlowError> {
        let period = period.into();
        let nanos = span(period)?;
        if nanos == 0 {
            let seconds = period.as_f64();
            return Err(FlowError::NoPeriod { seconds });
        }
        Ok(Pace {
            fx: self,
            period: nanos,
            next: self.home.counts_from(self.clock()).0.saturating_add(nanos),
        })
    }
}

/// Made by [`FlowCx::delay`].
#[must_use = "awaitables do nothing until they are awaited"]
pub struct Delay<'f, H: 'static> {
    fx: &'f FlowCx<H>,
    until: Until,
    clock: Clock,
    /// Whether it is registered by the flow's own waker.
    by_own: bool,
    registered: Option<Registered>,
}

/// Counted from when it was made.
#[derive(Clone, Copy)]
enum Until {
    Reading(u64),
    Frame(u64),
    /// No time: the seconds that were given.
    Never(f64),
}

impl<'f, H> Delay<'f, H> {
    fn new(fx: &'f FlowCx<H>, until: Until, clock: Clock) -> Self {
        Delay {
            fx,
            until,
            clock,
            by_own: false,
            registered: None,
        }
    }

    /// Counts on another clock than the flow's.
    pub fn on(mut self, clock: Clock) -> Self {
        if let Until::Reading(until) = self.until {
            let home = &*self.fx.home;
            let wait = until.saturating_sub(home.counts_from(self.clock).0);
            self.until = Until::Reading(home.counts_from(clock).0.saturating_add(wait));
        }
        self.clock = clock;
        self
    }
}

impl<H> Future for Delay<'_, H> {
    type Output = Result<(), FlowError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        this.fx.check_turn()?;
        let home = &*this.fx.home;
        let (is_over, at) = match this.until {
            Until::Reading(deadline) => (
                home.now(this.clock) >= deadline,
                At::Reading(this.clock, deadline),
            ),
            Until::Frame(frame) => (
                home.frame.get() >= frame && !home.stands(this.clock),
                At::Frame(frame, this.clock),
            ),
            Until::Never(seconds) => {
                this.fx.has_awaited();
                return Poll::Ready(span(secs(seconds)).map(drop).map_err(Into::into));
            }
        };
        if is_over {
            this.fx.has_awaited();
            return Poll::Ready(Ok(()));
        }
        let is_own = home.is_own(context.waker());
        if is_own && matches!(at, At::Frame(..)) {
            home.want_frame(this.clock);
        } else if !(is_own && this.by_own) {
            // Registered by the flow's own waker it stays registered.
            this.by_own = is_own;
            release(home, &mut this.registered);
            this.registered = Some(home.register(this.fx.id, at, context.waker()));
        }
        Poll::Pending
    }
}

impl<H> Drop for Delay<'_, H> {
    fn drop(&mut self) {
        release(&self.fx.home, &mut self.registered);
    }
}

/// Takes back what is registered.
#[inline]
fn release<H>(home: &Home<H>, registered: &mut Option<Registered>) {
    if let Some(registered) = registered.take() {
        home.unregister(registered);
    }
}

/// Made by [`FlowCx::next_tick`].
#[must_use = "awaitables do nothing until they are awaited"]
pub struct NextTick<'f, H: 'static> {
    fx: &'f FlowCx<H>,
    /// The frame that ends it, if the flow's clock runs in that; with [`FOREIGN`], the number under which
    /// the home keeps that.
    until: u64,
}

/// A waker that is not the flow's own waits for the tick.
const FOREIGN: u64 = 1 << 63;

impl<H> Future for NextTick<'_, H> {
    type Output = Result<(), FlowError>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.fx.check_turn()?;
        if self.until & FOREIGN != 0 {
            self.take_back();
        }
        let home = &*self.fx.home;
        if home.frame.get() >= self.until && !home.stands(self.fx.clock()) {
            self.fx.has_awaited();
            return Poll::Ready(Ok(()));
        }
        if home.is_own(context.waker()) {
            home.want_frame(self.fx.clock());
        } else {
            self.keep(context.waker());
        }
        Poll::Pending
    }
}

impl<H> NextTick<'_, H> {
    /// Wakes a waker that is not the flow's own in the next frame.
    #[cold]
    #[inline(never)]
    fn keep(&mut self, waker: &Waker) {
        let home = &*self.fx.home;
        let at = At::Frame(home.frame.get() + 1, self.fx.clock());
        let registered = home.register(self.fx.id, at, waker);
        let until = self.until;
        self.until = FOREIGN | u64::from(home.keep_tick(ForeignTick { until, registered }));
    }

    #[cold]
    #[inline(never)]
    fn take_back(&mut self) {
        let home = &*self.fx.home;
        if let Some(tick) = home.take_tick(self.until as u32) {
            self.until = tick.until;
            home.unregister(tick.registered);
        }
    }
}

impl<H> Drop for NextTick<'_, H> {
    #[inline]
    fn drop(&mut self) {
        if self.until & FOREIGN != 0 {
            self.take_back();
        }
    }
}

/// Made by [`FlowCx::ticks`].
#[must_use = "awaitables do nothing until they are awaited"]
pub struct Ticks<'f, H: 'static> {
    fx: &'f FlowCx<H>,
    /// The frame that ends it.
    until: u64,
    /// The home's paused frames, as far as they are counted in that.
    paused: u64,
    registered: Option<Registered>,
}

impl<H> Future for Ticks<'_, H> {
    type Output = Result<(), FlowError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        this.fx.check_turn()?;
        let home = &*this.fx.home;
        let clock = this.fx.clock();
        let frame = home.frame.get();
        if clock.stops_while_paused() {
            // Frames of a paused world do not count.
            let paused = home.paused_frames.get();
            this.until = this.until.saturating_add(paused - this.paused);
            this.paused = paused;
        }
        if frame >= this.until && !home.stands(clock) {
            this.fx.has_awaited();
            return Poll::Ready(Ok(()));
        }
        if this.until <= frame.saturating_add(1) && home.is_own(context.waker()) {
            home.want_frame(clock);
        } else {
            release(home, &mut this.registered);
            let at = At::Frame(this.until, clock);
            this.registered = Some(home.register(this.fx.id, at, context.waker()));
        }
        Poll::Pending
    }
}

impl<H> Drop for Ticks<'_, H> {
    #[inline]
    fn drop(&mut self) {
        release(&self.fx.home, &mut self.registered);
    }
}

/// A sequence of moments without drift. Made by [`FlowCx::pace`].
pub struct Pace<'f, H: 'static> {
    fx: &'f FlowCx<H>,
    period: u64,
    /// The next moment, on the flow's clock.
    next: u64,
}

impl<H> Pace<'_, H> {
    /// Waits for the next moment. After a hitch over several, they come one after another.
    ///
    /// # Errors
    /// [`FlowError::OutsideItsFlow`].
    pub async fn next(&mut self) -> Result<(), FlowError> {
        self.fx.check_turn()?;
        let next = self.next;
        self.next = next.saturating_add(self.period);
        Delay::new(self.fx, Until::Reading(next), self.fx.clock()).await
    }
}
