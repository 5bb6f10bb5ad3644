//! Do for duration: an update each frame with a progress from 0 to 1, the last one exactly at 1.

use std::panic::Location;
use std::time::Duration;

use sc_core::{Cx, Secs};

use super::ease::Shape;
use super::options::flow_options;
use super::{Next, Node};
use crate::error::FlowError;
use crate::executor::end::is_ending;
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

/// How far a drive has come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DurationCore {
    /// Of one lap, in nanoseconds.
    duration: u64,
    laps: Laps,
    lap: u32,
    /// In the present lap.
    elapsed: u64,
    /// The reading of the clock at the last update.
    last: u64,
}

/// One update that is due.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Update {
    /// Raw progress, from 0 to 1.
    pub(crate) raw: f32,
    /// The time it stands for, in nanoseconds.
    pub(crate) delta: u64,
    /// It was the last one.
    pub(crate) is_last: bool,
}

impl DurationCore {
    pub(crate) fn new(duration: u64, laps: Laps, start: u64) -> Result<Self, FlowError> {
        if duration == 0 && laps.count != Some(1) {
            return Err(FlowError::ZeroLengthRepeat);
        }
        Ok(DurationCore {
            duration,
            laps,
            lap: 0,
            elapsed: 0,
            last: start,
        })
    }

    /// The time that has passed and was not handed out yet. Call `step` until it is used up.
    pub(crate) fn advance(&mut self, now: u64) -> u64 {
        let passed = now.saturating_sub(self.last);
        self.last = now;
        passed
    }

    /// One update, of at most what is left of the lap: each lap has its final update.
    pub(crate) fn step(&mut self, left: &mut u64) -> Update {
        let delta = (*left).min(self.duration - self.elapsed);
        *left -= delta;
        self.elapsed += delta;
        let lap_over = self.elapsed == self.duration;
        let backwards = self.laps.ping_pong && self.lap % 2 == 1;
        let progress = self.progress();
        let raw = if backwards { 1.0 - progress } else { progress };
        let mut is_last = false;
        if lap_over {
            self.lap = self.lap.saturating_add(1);
            is_last = self.laps.count.is_some_and(|count| self.lap >= count);
            if !is_last {
                self.elapsed = 0;
            }
        }
        Update {
            raw,
            delta,
            is_last,
        }
    }

    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation)]
    pub(crate) fn progress(&self) -> f32 {
        if self.elapsed == self.duration {
            return 1.0;
        }
        (self.elapsed as f64 / self.duration as f64) as f32
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
            completed: None,
            options: Options::new("do for duration"),
        }
    }

    flow_options!();

    /// Shapes the progress: what goes in is from 0 to 1, what comes out is handed on as it is.
    pub fn shape(mut self, shape: impl Fn(f32) -> f32 + 'static) -> Self {
        self.shape = Some(Box::new(shape));
        self
    }

    /// Shapes the progress by a named curve.
    #[cfg(feature = "easing")]
    pub fn ease(self, ease: super::ease::Ease) -> Self {
        self.shape(move |progress| ease.at(progress))
    }

    /// Runs so many laps, each with a final update of its own; 0 counts as 1.
    ///
    /// ```
    /// # use sc_core::{Clock, Cx, Owner, Runtime, Tickable, WorldKind, secs};
    /// # use sc_flow::*;
    /// # let (mut rt, mut log) = (Runtime::<Vec<u32>>::new(), Vec::new());
    /// # let mut cx = rt.cx(&mut log);
    /// # let level = cx.create_world(WorldKind::Game)?;
    /// DoForDuration::new(secs(0.5), |cx: &mut Cx<'_, Vec<u32>>, alpha, _| cx.host_mut().push((alpha * 100.0) as u32))
    ///     .laps(2)
    ///     .ping_pong()
    ///     .world(level)
    ///     .start(&mut cx)?;
    /// for _ in 0..4 { rt.tick_secs(&mut log, 0.25)?; }
    /// assert_eq!(log, [50, 100, 50, 0]);
    /// # Ok::<(), FlowError>(())
    /// ```
    pub fn laps(mut self, laps: u32) -> Self {
        self.laps.count = Some(laps.max(1));
        self
    }

    /// Runs laps without end, until it is cancelled or what it is bound to goes.
    pub fn forever(mut self) -> Self {
        self.laps.count = None;
        self
    }

    /// Every second lap runs backwards.
    pub fn ping_pong(mut self) -> Self {
        self.laps.ping_pong = true;
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
    /// [`FlowError::BadTime`], [`FlowError::ZeroLengthRepeat`], [`FlowError::NoLiveWorld`] with a
    /// report, [`FlowError::NoOwner`]. `on_finished` has heard `Aborted` then.
    #[track_caller]
    pub fn start(mut self, cx: &mut Cx<'_, H>) -> Result<FlowId, FlowError> {
        let location = Location::caller();
        let duration = match span(self.duration) {
            Ok(duration) => duration,
            Err(error) => return Err(self.options.refuse(cx, error.into())),
        };
        let binding = match self.options.bind(cx) {
            Ok(binding) => binding,
            Err(error) => return Err(self.options.refuse(cx, error)),
        };
        let now = binding.now(cx, &self.options);
        let core = match DurationCore::new(duration, self.laps, now) {
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
        Ok(start_node(
            cx,
            &mut self.options,
            binding,
            kind,
            location,
            first,
            node,
        ))
    }
}

struct DurationNode<H: 'static, U> {
    core: DurationCore,
    update: U,
    shape: Option<Shape>,
    completed: Option<crate::executor::Finished<H>>,
}

impl<H, U: FnMut(&mut Cx<'_, H>, f32, Duration)> Node<H> for DurationNode<H, U> {
    fn turn(&mut self, cx: &mut Cx<'_, H>, now: u64) -> Next {
        let mut left = self.core.advance(now);
        loop {
            let update = self.core.step(&mut left);
            let alpha = self
                .shape
                .as_ref()
                .map_or(update.raw, |shape| shape(update.raw));
            (self.update)(cx, alpha, Duration::from_nanos(update.delta));
            if update.is_last {
                return Next::End(FlowFinish::Completed);
            }
            if left == 0 || is_ending(cx) {
                return Next::Frame;
            }
        }
    }

    fn finished(&mut self, cx: &mut Cx<'_, H>, finish: FlowFinish) {
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
