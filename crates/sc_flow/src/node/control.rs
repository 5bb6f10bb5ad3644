//! The control of a drive: its speed and its place, from outside or from its own update.

use std::cell::Cell;
use std::fmt;
use std::rc::Rc;
use std::time::Duration;

use sc_core::Secs;

use super::duration::Track;
use crate::error::FlowError;
use crate::span::span;

/// Controls a drive while it runs: speed, place, what remains.
///
/// Give it to a drive by [`DoForDuration::control`](crate::DoForDuration::control) or
/// [`DoForDurationFx::control`](crate::DoForDurationFx::control). It is cheap to clone, and all clones
/// control the same drive. One drive at a time: a second one is refused while the first runs. When
/// the drive has ended, the control may go to the next one and keeps its speed.
///
/// All times are the drive's own: of its whole length with all laps, at speed 1.
///
/// ```
/// use sc_core::{Cx, Runtime, WorldKind, secs};
/// use sc_flow::{DoForDuration, DriveControl};
/// let (mut rt, mut alphas) = (Runtime::new(), Vec::new());
/// let mut cx = rt.cx(&mut alphas);
/// let level = cx.create_world(WorldKind::Game)?;
/// let control = DriveControl::new();
/// DoForDuration::new(secs(2), |cx: &mut Cx<'_, Vec<f32>>, alpha, _delta| cx.host_mut().push(alpha))
///     .control(&control)
///     .world(level)
///     .start(&mut cx)?;
/// rt.tick_secs(&mut alphas, 0.5)?;
/// control.set_speed(2.0)?;
/// rt.tick_secs(&mut alphas, 0.25)?;
/// control.seek(secs(1.75))?;
/// assert_eq!(control.remaining()?, Some(std::time::Duration::from_millis(250)));
/// rt.tick_secs(&mut alphas, 0.25)?;
/// assert_eq!(alphas, [0.25, 0.5, 1.0]);
/// assert!(control.remaining().is_err()); // It has ended.
/// # Ok::<(), sc_flow::FlowError>(())
/// ```
///
/// It stays on the game thread:
///
/// ```compile_fail,E0277
/// fn needs_send<T: Send>(_: T) {}
/// needs_send(sc_flow::DriveControl::new());
/// ```
#[derive(Clone, Default)]
pub struct DriveControl {
    shared: Rc<Shared>,
}

struct Shared {
    speed: Cell<f64>,
    /// Where the drive is; `None` while there is none.
    track: Cell<Option<Track>>,
    /// The track was changed by a seek since the drive looked last.
    sought: Cell<bool>,
}

impl Default for Shared {
    fn default() -> Self {
        Shared {
            speed: Cell::new(1.0),
            track: Cell::default(),
            sought: Cell::default(),
        }
    }
}

impl DriveControl {
    /// A control without a drive, at speed 1.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the speed: it multiplies what passes on the drive's clock, from the drive's next update
    /// on. At 0 the drive stands still: its updates go on, with a delta of 0. Set before the start
    /// it counts from the first update.
    ///
    /// # Errors
    /// [`FlowError::BadSpeed`] for a negative number, NaN or an infinity; the old speed stays.
    ///
    /// ```
    /// use sc_flow::DriveControl;
    /// let control = DriveControl::new();
    /// control.set_speed(0.5)?;
    /// assert!(control.set_speed(f64::NAN).is_err());
    /// assert_eq!(control.speed(), 0.5);
    /// # Ok::<(), sc_flow::FlowError>(())
    /// ```
    pub fn set_speed(&self, speed: f64) -> Result<(), FlowError> {
        if !speed.is_finite() || speed < 0.0 {
            return Err(FlowError::BadSpeed { speed });
        }
        self.shared.speed.set(speed);
        Ok(())
    }

    /// The speed.
    #[must_use]
    pub fn speed(&self) -> f64 {
        self.shared.speed.get()
    }

    /// Goes to a time of the whole drive: below 0 is its start, beyond its end is its end. There is no
    /// update for what is skipped. The next frame goes on from there: its update is one delta
    /// later, and at the end it is the final one. Called from the drive's own update, the rest of that
    /// frame's time is dropped; in the final update it is too late.
    ///
    /// # Errors
    /// [`FlowError::BadTime`] for NaN or an infinity, [`FlowError::NoDrive`] when no drive runs.
    ///
    /// ```
    /// use sc_core::secs;
    /// use sc_flow::{DriveControl, FlowError};
    /// let control = DriveControl::new();
    /// assert!(matches!(control.seek(secs(1)), Err(FlowError::NoDrive)));
    /// ```
    pub fn seek(&self, to: impl Into<Secs>) -> Result<(), FlowError> {
        let to = span(to.into())?;
        let mut track = self.track()?;
        track.seek(to);
        self.shared.track.set(Some(track));
        self.shared.sought.set(true);
        Ok(())
    }

    /// How much of the whole drive lies behind.
    ///
    /// # Errors
    /// [`FlowError::NoDrive`] when no drive runs.
    ///
    /// ```
    /// # use sc_core::{Clock, Cx, Owner, Runtime, Tickable, WorldKind, secs};
    /// # use sc_flow::*;
    /// # let (mut rt, mut log) = (Runtime::<Vec<u32>>::new(), Vec::new());
    /// # let mut cx = rt.cx(&mut log);
    /// # let level = cx.create_world(WorldKind::Game)?;
    /// let control = DriveControl::new();
    /// DoForDuration::new(secs(2), |_: &mut Cx<'_, Vec<u32>>, _, _| ()).control(&control).world(level).start(&mut cx)?;
    /// rt.tick_secs(&mut log, 0.5)?;
    /// let half_a_second_on = control.elapsed()?.as_secs_f64() + 0.5;
    /// control.seek(secs(half_a_second_on))?;
    /// assert_eq!(control.elapsed()?.as_secs_f64(), 1.0);
    /// assert_eq!(control.remaining()?.map(|left| left.as_secs_f64()), Some(1.0));
    /// # Ok::<(), FlowError>(())
    /// ```
    pub fn elapsed(&self) -> Result<Duration, FlowError> {
        Ok(self.track()?.elapsed())
    }

    /// How much of the whole drive lies ahead, at speed 1 whatever the present speed: so it adds
    /// up to the whole with [`elapsed`](Self::elapsed), also while the drive stands still. `None`
    /// for a drive without end.
    ///
    /// # Errors
    /// [`FlowError::NoDrive`] when no drive runs.
    pub fn remaining(&self) -> Result<Option<Duration>, FlowError> {
        Ok(self.track()?.remaining())
    }

    fn track(&self) -> Result<Track, FlowError> {
        self.shared.track.get().ok_or(FlowError::NoDrive)
    }
}

impl fmt::Debug for DriveControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DriveControl")
            .field("speed", &self.speed())
            .field("elapsed", &self.elapsed().ok())
            .finish_non_exhaustive()
    }
}

/// A control in the hands of the drive it controls; given back when that is dropped.
pub(crate) struct Held {
    shared: Rc<Shared>,
    /// The part of a nanosecond that the speed has left over.
    carry: f64,
}

impl Held {
    /// Takes a control for a drive.
    ///
    /// # Errors
    /// [`FlowError::ControlTaken`].
    pub(crate) fn take(control: &DriveControl, track: Track) -> Result<Self, FlowError> {
        let shared = Rc::clone(&control.shared);
        if shared.track.get().is_some() {
            return Err(FlowError::ControlTaken);
        }
        shared.track.set(Some(track));
        shared.sought.set(false);
        Ok(Held { shared, carry: 0.0 })
    }

    /// What a time (ns) of the clock is for the drive.
    #[allow(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::float_cmp
    )]
    pub(crate) fn scaled(&mut self, passed: u64) -> u64 {
        let speed = self.shared.speed.get();
        if speed == 1.0 {
            return passed;
        }
        let exact = (passed as f64 * speed + self.carry).min(u64::MAX as f64);
        let whole = exact.floor();
        self.carry = exact - whole;
        whole as u64
    }

    /// Where a seek has gone since this was asked last.
    pub(crate) fn take_sought(&self) -> Option<Track> {
        let sought = self.shared.sought.take();
        sought.then(|| self.shared.track.get()).flatten()
    }

    pub(crate) fn is_sought(&self) -> bool {
        self.shared.sought.get()
    }

    pub(crate) fn put(&self, track: Track) {
        self.shared.track.set(Some(track));
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.shared.track.set(None);
        self.shared.sought.set(false);
    }
}
