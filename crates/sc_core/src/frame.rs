//! THE frame order: what runs when, for every host.
//!
//! A frame is stage-major: for each stage, every world of the frame in creation order.
//! [`Runtime::tick`] is exactly begin, all stages, end; hosts with their own physics call the
//! pieces. A frame goes over a list of worlds: those of the runtime's frame, or those that step
//! (`step.rs`). How it runs is in `frame_run.rs`.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Duration;

use crate::Secs;
use crate::frame_error::FrameError;
use crate::frame_run::DeltaSource;
use crate::runtime::Runtime;
use crate::tick::TickGroup;
use crate::world::WorldId;

/// The parts of a frame, in order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Stage {
    /// Before the pass opens: posted closures, owners dropped on other threads, and whatever was
    /// asked for between frames, all on the clocks' old readings. Then pause and dilation are
    /// sampled and the clocks advance.
    Begin,
    /// Next-tick work, queued broadcasts, due timers.
    Timers,
    /// Tickables of the group.
    PrePhysics,
    /// Tickables of the group.
    DuringPhysics,
    /// Tickables of the group; the default one.
    PostPhysics,
    /// Flows.
    Flows,
    /// Tickables of the group.
    PostUpdate,
    /// Objects that asked for no world.
    Worldless,
    /// Queued command lines and latent commands.
    Console,
    /// Reports on dead owners, frees, the frame's report.
    End,
}

impl Stage {
    /// All stages, in order.
    pub const ALL: [Stage; 10] = [
        Stage::Begin,
        Stage::Timers,
        Stage::PrePhysics,
        Stage::DuringPhysics,
        Stage::PostPhysics,
        Stage::Flows,
        Stage::PostUpdate,
        Stage::Worldless,
        Stage::Console,
        Stage::End,
    ];

    /// The stage after this one; after the last, the last.
    pub(crate) fn next(self) -> Stage {
        let after = Stage::ALL.iter().find(|&&stage| stage > self);
        after.copied().unwrap_or(Stage::End)
    }

    pub(crate) fn group(self) -> Option<TickGroup> {
        match self {
            Stage::PrePhysics => Some(TickGroup::PrePhysics),
            Stage::DuringPhysics => Some(TickGroup::DuringPhysics),
            Stage::PostPhysics => Some(TickGroup::PostPhysics),
            Stage::PostUpdate => Some(TickGroup::PostUpdate),
            _ => None,
        }
    }
}

/// What one frame did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct FrameReport {
    /// The number of the frame, or of the step; the first is 1.
    pub frame: u64,
    /// The real delta all clocks got: what was handed in, less what was forgiven and clamped.
    pub real_delta: Duration,
    /// What `max_delta` cut off the real delta.
    pub clamped: Duration,
    /// The most that was cut off any world's dilated delta, by `max_delta` or by the range of a
    /// clock.
    pub clamped_dilated: Duration,
    /// What [`Cx::forgive_elapsed`](crate::Cx::forgive_elapsed) dropped.
    pub forgiven: Duration,
    /// How many ticks of objects ran.
    pub ticks: u64,
    /// How many reports were made since the last frame or step ended.
    pub reports: u64,
}

/// A world's deltas of one frame, ready-made by a host that owns time. The world's own dilation and pause
/// come on top.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WorldDelta {
    /// What the `Game` clock advances by.
    pub dilated: Duration,
    /// What the `GameThroughPause` clock advances by: the same, unless the host has made the delta in a pause
    /// of its own.
    pub through_pause: Duration,
    /// What the real clocks advance by.
    pub real: Duration,
    /// Whether the host's own time is paused: as if the world were.
    pub paused: bool,
}

impl<H> Runtime<H> {
    /// Runs one frame: begin, all stages, end.
    ///
    /// # Errors
    /// [`FrameError::AlreadyTicking`] when a frame is open; [`FrameError::ShutDown`]. Nothing ran.
    ///
    /// # Panics
    /// When user code panics and the policy is `Propagate`, after the frame was ended: what had not
    /// run by then is left out. A panic in a posted closure comes before the clocks advance, so
    /// the whole frame is left out, its delta too.
    ///
    /// ```
    /// # use sc_core::Runtime;
    /// # use std::time::Duration;
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// assert_eq!(rt.tick(&mut host, Duration::from_millis(16))?.frame, 1);
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    pub fn tick(&mut self, host: &mut H, real_delta: Duration) -> Result<FrameReport, FrameError> {
        self.tick_secs(host, real_delta)
    }

    /// As [`tick`](Self::tick), with the real delta in seconds.
    ///
    /// ```
    /// # use sc_core::{FrameError, Runtime};
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// assert_eq!(rt.tick_secs(&mut host, 0.1)?.frame, 1);
    /// assert!(matches!(rt.tick_secs(&mut host, f64::NAN), Err(FrameError::BadDelta(_))));
    /// assert_eq!(rt.frame_number(), 1);
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`FrameError::BadDelta`] for a delta that is NaN, infinite, negative or beyond range, and
    /// those of [`tick`](Self::tick). Nothing ran.
    ///
    /// # Panics
    /// As [`tick`](Self::tick).
    pub fn tick_secs(
        &mut self,
        host: &mut H,
        real_delta: impl Into<Secs>,
    ) -> Result<FrameReport, FrameError> {
        let real_delta = self.check_begin(real_delta.into())?;
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            self.open_frame(host, real_delta, None);
            self.run_all_stages(host);
        }));
        self.raise_or_report(host, outcome)
    }

    /// The first piece of a frame: everything up to the advance of the clocks. Then call
    /// [`run_stage`](Self::run_stage) or [`run_through`](Self::run_through) in order, then
    /// [`end_frame`](Self::end_frame).
    ///
    /// ```
    /// # use sc_core::{Runtime, Stage};
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// rt.begin_frame(&mut host, 0.016)?;
    /// rt.run_through(&mut host, Stage::PrePhysics)?;
    /// // the host's physics starts here
    /// rt.run_stage(&mut host, Stage::DuringPhysics)?;
    /// // .. and is awaited here
    /// rt.run_through(&mut host, Stage::Console)?;
    /// assert_eq!(rt.end_frame(&mut host)?.frame, 1);
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`tick_secs`](Self::tick_secs). Nothing ran.
    ///
    /// # Panics
    /// When a posted closure panics and the policy is `Propagate`: no frame is open then, and
    /// what was posted after it runs in the next.
    pub fn begin_frame(
        &mut self,
        host: &mut H,
        real_delta: impl Into<Secs>,
    ) -> Result<(), FrameError> {
        self.begin(host, real_delta.into(), None)
    }

    /// As [`begin_frame`](Self::begin_frame), for a host that owns time: it hands in each world's
    /// deltas ready-made. They are neither clamped nor forgiven; the world's own dilation and pause come
    /// on top. The runtime's own clock takes `real_delta`. `None` for a world makes its deltas from
    /// `real_delta` as usual.
    ///
    /// ```
    /// # use {sc_core::{Clock, Runtime, WorldDelta, WorldKind}, std::time::Duration};
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// let level = rt.cx(&mut host).create_world(WorldKind::Game)?;
    /// let step = Duration::from_millis(20);
    /// rt.begin_frame_with(&mut host, 0.016, |_| {
    ///     Some(WorldDelta { dilated: step, through_pause: step, real: step, paused: false })
    /// })?;
    /// assert_eq!(rt.cx(&mut host).elapsed(level, Clock::Game)?, step);
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`begin_frame`](Self::begin_frame).
    ///
    /// # Panics
    /// As [`begin_frame`](Self::begin_frame).
    pub fn begin_frame_with(
        &mut self,
        host: &mut H,
        real_delta: impl Into<Secs>,
        mut deltas: impl FnMut(WorldId) -> Option<WorldDelta>,
    ) -> Result<(), FrameError> {
        self.begin(host, real_delta.into(), Some(&mut deltas))
    }

    fn begin(
        &mut self,
        host: &mut H,
        real_delta: Secs,
        deltas: Option<DeltaSource<'_>>,
    ) -> Result<(), FrameError> {
        let real_delta = self.check_begin(real_delta)?;
        self.open_or_raise(|rt| rt.open_frame(host, real_delta, deltas));
        Ok(())
    }

    /// Runs the stage that comes next. `Begin` and `End` have calls of their own.
    ///
    /// ```
    /// # use sc_core::{Runtime, Stage};
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// rt.begin_frame(&mut host, 0.016)?;
    /// rt.run_stage(&mut host, Stage::Timers)?;
    /// assert!(rt.run_stage(&mut host, Stage::DuringPhysics).is_err(), "one is left out");
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`FrameError::NoFrame`]; [`FrameError::StageOrder`] for any stage but the next: a stage
    /// cannot be left out.
    ///
    /// # Panics
    /// When user code panics and the policy is `Propagate`. The frame is still open and the next
    /// stage can be run.
    pub fn run_stage(&mut self, host: &mut H, stage: Stage) -> Result<(), FrameError> {
        let expected = self.frame.next().ok_or(FrameError::NoFrame)?;
        if stage != expected || stage == Stage::End {
            return Err(FrameError::StageOrder {
                expected,
                asked: stage,
            });
        }
        self.run_next_stage(host, stage);
        Ok(())
    }

    /// Runs every stage from the next one through `stage`.
    ///
    /// ```
    /// # use sc_core::{Runtime, Stage};
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// rt.begin_frame(&mut host, 0.016)?;
    /// rt.run_through(&mut host, Stage::Console)?;
    /// assert!(rt.run_through(&mut host, Stage::Flows).is_err(), "it has run");
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`FrameError::NoFrame`]; [`FrameError::StageOrder`] when `stage` was run already, or is
    /// `Begin` or `End`.
    ///
    /// # Panics
    /// As [`run_stage`](Self::run_stage).
    pub fn run_through(&mut self, host: &mut H, stage: Stage) -> Result<(), FrameError> {
        let expected = self.frame.next().ok_or(FrameError::NoFrame)?;
        if stage < expected || stage == Stage::End {
            return Err(FrameError::StageOrder {
                expected,
                asked: stage,
            });
        }
        while let Some(next) = self.frame.next().filter(|&next| next <= stage) {
            self.run_next_stage(host, next);
        }
        Ok(())
    }

    /// The last piece of a frame.
    ///
    /// ```
    /// # use sc_core::{Runtime, Stage};
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// rt.begin_frame(&mut host, 0.016)?;
    /// assert!(rt.end_frame(&mut host).is_err(), "stages are left");
    /// rt.run_through(&mut host, Stage::Console)?;
    /// assert_eq!(rt.end_frame(&mut host)?.frame, 1);
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`FrameError::NoFrame`]; [`FrameError::StageOrder`] when a stage was left out: the frame
    /// stays open.
    ///
    /// # Panics
    /// When a destructor or an extension's hook panics and the policy is `Propagate`, after the
    /// frame was ended.
    pub fn end_frame(&mut self, host: &mut H) -> Result<FrameReport, FrameError> {
        let expected = self.frame.next().ok_or(FrameError::NoFrame)?;
        if expected != Stage::End {
            return Err(FrameError::StageOrder {
                expected,
                asked: Stage::End,
            });
        }
        let (report, panicked) = self.finish_frame(host);
        if let Some(payload) = panicked {
            resume_unwind(payload);
        }
        Ok(report)
    }

    /// Ends a frame that a panic left open, as [`tick`](Self::tick) does: the stages that have not run are
    /// left out. `None` when no frame is open. A step that is open in a frame is abandoned first, and the
    /// frame by another call.
    ///
    /// ```
    /// # use sc_core::{Runtime, Stage};
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// rt.begin_frame(&mut host, 0.016)?;
    /// // .. a stage panics, and the host goes on ..
    /// assert_eq!(rt.abandon_frame(&mut host).map(|report| report.frame), Some(1));
    /// assert!(rt.abandon_frame(&mut host).is_none());
    /// rt.begin_frame(&mut host, 0.016)?;
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    ///
    /// # Panics
    /// As [`end_frame`](Self::end_frame).
    pub fn abandon_frame(&mut self, host: &mut H) -> Option<FrameReport> {
        self.frame.next()?;
        let (report, panicked) = self.finish_frame(host);
        if let Some(payload) = panicked {
            resume_unwind(payload);
        }
        Some(report)
    }

    /// Everything that can refuse a frame.
    fn check_begin(&self, real_delta: Secs) -> Result<u64, FrameError> {
        if self.is_shut_down {
            return Err(FrameError::ShutDown);
        }
        if self.frame.next().is_some() {
            return Err(FrameError::AlreadyTicking);
        }
        Ok(real_delta.to_nanos()?)
    }
}
