//! Do for duration: an update each frame with a progress from 0 to 1, the last one exactly at 1.

use std::cell::Cell;
use std::panic::Location;
use std::time::Duration;

use sc_core::{Cx, Secs};

use super::control::{DriveControl, Held};
use super::ease::Shape;
use super::options::{drive_options, flow_options};
use super::{Next, Node};
use crate::error::FlowError;
use crate::executor::end::is_running_node_ending;
use crate::executor::start::{Options, start_node};
use crate::finish::FlowFinish;
use crate::id::FlowId;
use crate::list::{FlowKind, Progress, WaitingFor};
use crate::span::span;

/// How a drive goes on when it has reached its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Laps {
    /// How many laps there are; `None` = without end.
    pub(crate) count: Option<u32>,
    /// Every second lap runs backwards.
    pub(crate) ping_pong: bool,
}

impl Laps {
    pub(crate) const ONE: Laps = Laps {
        count: Some(1),
        ping_pong: false,
    };
}

/// Where a drive is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Track {
    /// Of one lap, in nanoseconds.
    duration: u64,
    laps: Laps,
    lap: u64,
    /// In the present lap.
    elapsed: u64,
}

impl Track {
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation)]
    fn progress(&self) -> f32 {
        if self.elapsed == self.duration {
            return 1.0;
        }
        (self.elapsed as f64 / self.duration as f64) as f32
    }

    /// Goes to a time (ns) of the whole drive, or to its end.
    pub(crate) fn seek(&mut self, to: u64) {
        let (lap, elapsed) = match to.checked_div(self.duration) {
            Some(lap) => (lap, to % self.duration),
            None => (u64::MAX, 0),
        };
        (self.lap, self.elapsed) = match self.laps.count {
            Some(count) if lap >= u64::from(count) => (u64::from(count) - 1, self.duration),
            _ => (lap, elapsed),
        };
    }

    /// How much of the whole drive lies behind.
    pub(crate) fn elapsed(&self) -> Duration {
        nanos(self.elapsed_nanos())
    }

    /// How much lies ahead; `None` without end.
    pub(crate) fn remaining(&self) -> Option<Duration> {
        let whole = u128::from(self.laps.count?) * u128::from(self.duration);
        Some(nanos(whole.saturating_sub(self.elapsed_nanos())))
    }

    fn elapsed_nanos(&self) -> u128 {
        u128::from(self.lap) * u128::from(self.duration) + u128::from(self.elapsed)
    }
}

#[allow(clippy::cast_possible_truncation)]
fn nanos(nanos: u128) -> Duration {
    const SECOND: u128 = 1_000_000_000;
    u64::try_from(nanos / SECOND).map_or(Duration::MAX, |seconds| {
        Duration::new(seconds, (nanos % SECOND) as u32)
    })
}

/// How far a drive has come, and what is due.
pub(crate) struct DurationCore {
    track: Track,
    /// The reading of the clock at the last update.
    last: u64,
    control: Option<Held>,
}

/// One update that is due.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Update {
    /// Raw progress, from 0 to 1.
    raw: f32,
    /// The time it stands for, in nanoseconds.
    delta: u64,
    /// It was the last one.
    is_last: bool,
}

impl DurationCore {
    pub(crate) fn new(
        duration: u64,
        laps: Laps,
        control: Option<&DriveControl>,
        start: u64,
    ) -> Result<Self, FlowError> {
        if duration == 0 && laps.count != Some(1) {
            return Err(FlowError::ZeroLengthRepeat);
        }
        let track = Track {
            duration,
            laps,
            lap: 0,
            elapsed: 0,
        };
        Ok(DurationCore {
            track,
            last: start,
            control: control.map(|c| Held::take(c, track)).transpose()?,
        })
    }

    /// One turn, with the clock at `now` (ns): every update that is due is handed to `update`, which
    /// says, if more are due (its last argument), whether the flow is about to end. Whether the drive
    /// has reached its end.
    pub(crate) fn turn(
        &mut self,
        now: u64,
        shape: Option<&Shape>,
        mut update: impl FnMut(f32, f32, Duration, bool) -> Result<bool, FlowError>,
    ) -> Result<bool, FlowError> {
        let mut left = now.saturating_sub(self.last);
        self.last = now;
        if let Some(control) = &mut self.control {
            left = control.scaled(left);
            self.track = control.take_sought().unwrap_or(self.track);
        }
        loop {
            let due = self.step(&mut left);
            let alpha = shape.map_or(due.raw, |shape| shape(due.raw));
            let has_more = left != 0 && !due.is_last;
            let delta = Duration::from_nanos(due.delta);
            let is_ending = update(due.raw, alpha, delta, has_more)?;
            if due.is_last {
                return Ok(true);
            }
            let is_sought = self.control.as_ref().is_some_and(Held::is_sought);
            if left == 0 || is_ending || is_sought {
                return Ok(false);
            }
        }
    }

    /// One update, of at most what is left of the lap: each lap has its final update.
    fn step(&mut self, left: &mut u64) -> Update {
        let track = &mut self.track;
        let delta = (*left).min(track.duration - track.elapsed);
        *left -= delta;
        track.elapsed += delta;
        let lap_over = track.elapsed == track.duration;
        let backwards = track.laps.ping_pong && track.lap % 2 == 1;
        let progress = track.progress();
        let raw = if backwards { 1.0 - progress } else { progress };
        let mut is_last = false;
        if lap_over {
            let done = track.lap.saturating_add(1);
            is_last = track
                .laps
                .count
                .is_some_and(|count| done >= u64::from(count));
            if !is_last {
                (track.lap, track.elapsed) = (done, 0);
            }
        }
        if let Some(control) = &self.control {
            control.put(*track);
        }
        Update {
            raw,
            delta,
            is_last,
        }
    }

    pub(crate) fn progress(&self) -> f32 {
        self.track.progress()
    }

    /// Gives the control back: the drive has ended.
    pub(crate) fn release(&mut self) {
        self.control = None;
    }
}

/// Does something for a duration: a node with callbacks.
///
/// The first update comes one delta in, then one each frame. The final one is at raw progress
/// exactly 1, also when the frame overshoots, *before* completed; its delta is cut at the end. A
/// duration of 0 or less gets one update at 1 on the first tick.
///
/// ```
/// use sc_core::{Cx, Runtime, WorldKind, secs};
/// use sc_flow::DoForDuration;
/// let (mut rt, mut alphas) = (Runtime::new(), Vec::new());
/// let mut cx = rt.cx(&mut alphas);
/// let level = cx.create_world(WorldKind::Game)?;
/// DoForDuration::new(secs(1), |cx: &mut Cx<'_, Vec<f32>>, alpha, _delta| cx.host_mut().push(alpha))
///     .world(level)
///     .start(&mut cx)?;
/// for _ in 0..4 { rt.tick_secs(&mut alphas, 0.3)?; }
/// assert_eq!(alphas, [0.3, 0.6, 0.9, 1.0]);
/// # Ok::<(), sc_flow::FlowError>(())
/// ```
#[must_use = "nothing happens until it is started"]
pub struct DoForDuration<H: 'static, U> {
    duration: Secs,
    update: U,
    shape: Option<Shape>,
    laps: Laps,
    control: Option<DriveControl>,
    completed: Option<crate::executor::Finished<H>>,
    options: Options<H>,
}

impl<H, U: FnMut(&mut Cx<'_, H>, f32, Duration) + 'static> DoForDuration<H, U> {
    /// Calls `update(cx, alpha, delta)` each frame for a duration.
    pub fn new(duration: impl Into<Secs>, update: U) -> Self {
        DoForDuration {
            duration: duration.into(),
            update,
            shape: None,
            laps: Laps::ONE,
            control: None,
            completed: None,
            options: Options::new("do for duration"),
        }
    }

    flow_options!();

    drive_options!();

    /// Lets a control set its speed and its place: see the example at [`DriveControl`].
    pub fn control(mut self, control: &DriveControl) -> Self {
        self.control = Some(control.clone());
        self
    }

    /// The gameplay callback: told when the drive has ended, and why. Not told when it is aborted
    /// or has panicked.
    pub fn completed(mut self, tell: impl FnOnce(&mut Cx<'_, H>, FlowFinish) + 'static) -> Self {
        self.completed = Some(Box::new(tell));
        self
    }

    /// Starts it: its first update comes on the next frame's tick.
    ///
    /// # Errors
    /// [`FlowError::BadTime`], [`FlowError::ZeroLengthRepeat`], [`FlowError::ControlTaken`],
    /// [`FlowError::NoLiveWorld`] with a report, [`FlowError::ShutDown`], [`FlowError::NoOwner`]:
    /// `on_finished` has heard `Aborted` then. [`FlowError::Panicked`] when the question of
    /// [`bound_while`](Self::bound_while) panics, and the policy does not raise that: it has heard `Panicked`.
    #[track_caller]
    pub fn start(mut self, cx: &mut Cx<'_, H>) -> Result<FlowId, FlowError> {
        let location = Location::caller();
        let duration = match span(self.duration) {
            Ok(duration) => duration,
            Err(error) => return Err(self.options.refuse(cx, error)),
        };
        let binding = match self.options.bind(cx) {
            Ok(binding) => binding,
            Err(error) => return Err(self.options.refuse(cx, error)),
        };
        let (now, control) = (binding.now(cx, &self.options), self.control.as_ref());
        let core = match DurationCore::new(duration, self.laps, control, now) {
            Ok(core) => core,
            Err(error) => return Err(self.options.refuse(cx, error)),
        };
        let node = DurationNode {
            core,
            update: self.update,
            shape: self.shape,
            completed: self.completed,
        };
        let kind = FlowKind::DoForDuration;
        let first = Next::Frame;
        start_node(cx, &mut self.options, binding, kind, location, first, node)
    }
}

struct DurationNode<H: 'static, U> {
    core: DurationCore,
    update: U,
    shape: Option<Shape>,
    completed: Option<crate::executor::Finished<H>>,
}

impl<H, U: FnMut(&mut Cx<'_, H>, f32, Duration)> Node<H> for DurationNode<H, U> {
    fn turn(&mut self, cx: &mut Cx<'_, H>, now: u64, told: &Cell<Progress>) -> Next {
        let update = &mut self.update;
        let ended = self
            .core
            .turn(now, self.shape.as_ref(), |raw, alpha, delta, has_more| {
                told.set(Progress::Alpha(raw));
                update(cx, alpha, delta);
                Ok(has_more && is_running_node_ending(cx))
            });
        match ended {
            Ok(true) => Next::End(FlowFinish::Completed),
            _ => Next::Frame,
        }
    }

    fn finished(&mut self, cx: &mut Cx<'_, H>, finish: FlowFinish) {
        self.core.release();
        if let Some(tell) = self.completed.take() {
            tell(cx, finish);
        }
    }

    fn progress(&self) -> Progress {
        Progress::Alpha(self.core.progress())
    }

    fn waiting_for(&self) -> WaitingFor {
        WaitingFor::NextFrame
    }
}
