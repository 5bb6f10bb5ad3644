//! Waiting for time and for frames.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use sc_core::{Clock, Secs, TimeError};

use super::FlowCx;
use crate::error::FlowError;
use crate::executor::home::{At, Registered};
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
        let wait = span(seconds.into());
        Delay {
            fx: self,
            wait,
            clock: self.clock,
            until: Until::of(self, wait.unwrap_or(0), self.clock),
            registered: None,
            by_own: false,
        }
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
    pub fn next_tick(&self) -> Ticks<'_, H> {
        self.ticks(1)
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
            frames: frames.max(1),
            until: None,
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
            next: self
                .home
                .counts_from(self.local, self.clock)
                .0
                .saturating_add(nanos),
        })
    }
}

/// Made by [`FlowCx::delay`].
#[must_use = "awaitables do nothing until they are awaited"]
pub struct Delay<'f, H: 'static> {
    fx: &'f FlowCx<H>,
    wait: Result<u64, TimeError>,
    clock: Clock,
    /// Counted from when it was made.
    until: Until,
    registered: Option<Registered>,
    /// Whether it is registered by the flow's own waker.
    by_own: bool,
}

#[derive(Clone, Copy)]
enum Until {
    Reading(u64),
    Frame(u64),
}

impl Until {
    fn of<H>(fx: &FlowCx<H>, wait: u64, clock: Clock) -> Self {
        match wait {
            0 => Until::Frame(fx.home.frame.get().saturating_add(1)),
            wait => {
                let (start, _) = fx.home.counts_from(fx.local, clock);
                Until::Reading(start.saturating_add(wait))
            }
        }
    }
}

impl<H> Delay<'_, H> {
    /// Counts on another clock than the flow's.
    pub fn on(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self.until = Until::of(self.fx, self.wait.unwrap_or(0), clock);
        self
    }
}

impl<H> Future for Delay<'_, H> {
    type Output = Result<(), FlowError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        this.fx.check_turn()?;
        this.wait?;
        let home = &this.fx.home;
        let times = home.times();
        let until = this.until;
        let is_over = match until {
            Until::Reading(deadline) => times.now[this.clock as usize] >= deadline,
            Until::Frame(frame) => {
                let stands = times.paused && this.clock.stops_while_paused();
                times.frame >= frame && !stands
            }
        };
        if is_over {
            this.fx.has_awaited();
            return Poll::Ready(Ok(()));
        }
        match until {
            Until::Frame(frame) if home.is_own(context.waker()) => {
                home.want_frame(this.fx.local, frame, this.clock);
            }
            // Registered by the flow's own waker it stays registered.
            _ if this.by_own && home.is_own(context.waker()) => {}
            _ => {
                this.by_own = home.is_own(context.waker());
                if let Some(registered) = this.registered.take() {
                    home.unregister(registered);
                }
                let at = match until {
                    Until::Reading(deadline) => At::Reading(this.clock, deadline),
                    Until::Frame(frame) => At::Frame(frame, this.clock),
                };
                this.registered = Some(home.register(this.fx.local, at, context.waker()));
            }
        }
        Poll::Pending
    }
}

impl<H> Drop for Delay<'_, H> {
    fn drop(&mut self) {
        if let Some(registered) = self.registered.take() {
            self.fx.home.unregister(registered);
        }
    }
}

/// Made by [`FlowCx::next_tick`] and [`FlowCx::ticks`].
#[must_use = "awaitables do nothing until they are awaited"]
pub struct Ticks<'f, H: 'static> {
    fx: &'f FlowCx<H>,
    frames: u64,
    /// The frame that ends it, and the paused frames counted for it so far.
    until: Option<(u64, u64)>,
    registered: Option<Registered>,
}

impl<H> Future for Ticks<'_, H> {
    type Output = Result<(), FlowError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        this.fx.check_turn()?;
        let home = &this.fx.home;
        let frame = home.frame.get();
        let clock = this.fx.clock;
        if this.frames == 1 {
            // The commonest wait: whichever frame is next that runs.
            let (until, _) = *this.until.get_or_insert((frame + 1, 0));
            if frame >= until && !(home.paused.get() && clock.stops_while_paused()) {
                this.fx.has_awaited();
                return Poll::Ready(Ok(()));
            }
            if home.is_own(context.waker()) {
                home.want_next_frame(this.fx.local, !clock.stops_while_paused());
                return Poll::Pending;
            }
        }
        let paused = if clock.stops_while_paused() {
            home.paused_frames()
        } else {
            0
        };
        let (until, paused_before) = this
            .until
            .get_or_insert((frame.saturating_add(this.frames), paused));
        // Frames of a paused world do not count.
        *until = until.saturating_add(paused - *paused_before);
        *paused_before = paused;
        let until = *until;
        if frame >= until && !(home.paused.get() && clock.stops_while_paused()) {
            this.fx.has_awaited();
            return Poll::Ready(Ok(()));
        }
        if until <= frame.saturating_add(1) && home.is_own(context.waker()) {
            home.want_frame(this.fx.local, until, clock);
        } else {
            if let Some(registered) = this.registered.take() {
                home.unregister(registered);
            }
            let at = At::Frame(until, clock);
            this.registered = Some(home.register(this.fx.local, at, context.waker()));
        }
        Poll::Pending
    }
}

impl<H> Drop for Ticks<'_, H> {
    fn drop(&mut self) {
        if let Some(registered) = self.registered.take() {
            self.fx.home.unregister(registered);
        }
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
        let clock = self.fx.clock;
        let next = self.next;
        self.next = next.saturating_add(self.period);
        let delay = Delay {
            fx: self.fx,
            wait: Ok(1),
            clock,
            until: Until::Reading(next),
            registered: None,
            by_own: false,
        };
        delay.await
    }
}
