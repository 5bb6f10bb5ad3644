//! THE frame order: what runs when, for every host.
//!
//! A frame is stage-major: for each stage, every world of the frame in creation order.
//! [`Runtime::tick`] is exactly begin, all stages, end; hosts with their own physics call the
//! pieces.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Duration;

use crate::Secs;
use crate::clock::Clock;
use crate::cx::{Culprit, Payload};
use crate::frame_error::FrameError;
use crate::report::{Report, ReportKind};
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
    fn next(self) -> Stage {
        let after = Stage::ALL.iter().find(|&&stage| stage > self);
        after.copied().unwrap_or(Stage::End)
    }

    fn group(self) -> Option<TickGroup> {
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
    /// The number of the frame; the first is 1.
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
    /// How many reports were made since the last frame ended.
    pub reports: u64,
}

/// A world's deltas of one frame, ready-made by a host that owns time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WorldDelta {
    /// What the dilated clocks advance by.
    pub dilated: Duration,
    /// What the real clocks advance by.
    pub real: Duration,
    /// Whether the host's own time is paused: as if the world were.
    pub paused: bool,
}

#[derive(Debug, Default)]
pub(crate) struct FrameState {
    pub(crate) number: u64,
    /// The stage that comes next, while a frame is open.
    open: Option<Stage>,
    /// The worlds of the frame, in creation order.
    worlds: Vec<WorldId>,
    /// Scratch: the deltas a host has made for them.
    ready_made: Vec<Option<WorldDelta>>,
    pub(crate) forgive: bool,
    real_delta: u64,
    clamped: u64,
    clamped_dilated: u64,
    forgiven: u64,
    pub(crate) ticks: u64,
    pub(crate) reports: u64,
}

impl FrameState {
    /// Whether a frame is under way.
    pub(crate) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// The frame in which what is started now has its first tick.
    pub(crate) fn first_tick(&self) -> u64 {
        match self.open {
            Some(Stage::Begin) => self.number,
            _ => self.number + 1,
        }
    }
}

/// A host's way to make a world's deltas.
type DeltaSource<'s> = &'s mut dyn FnMut(WorldId) -> Option<WorldDelta>;

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
            while let Some(stage) = self.frame.open.filter(|&s| s != Stage::End) {
                self.run_next_stage(host, stage);
            }
        }));
        let (report, panicked) = self.finish_frame(host);
        if let Some(payload) = outcome.err().or(panicked) {
            resume_unwind(payload);
        }
        Ok(report)
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
    /// deltas ready-made. They are taken as they are: not dilated, not clamped, not forgiven. The
    /// runtime's own clock takes `real_delta`. `None` for a world makes its deltas from
    /// `real_delta` as usual.
    ///
    /// ```
    /// # use {sc_core::{Clock, Runtime, WorldDelta, WorldKind}, std::time::Duration};
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// let level = rt.cx(&mut host).create_world(WorldKind::Game)?;
    /// let step = Duration::from_millis(20);
    /// rt.begin_frame_with(&mut host, 0.016, |_| {
    ///     Some(WorldDelta { dilated: step, real: step, paused: false })
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
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            self.open_frame(host, real_delta, deltas);
        }));
        if let Err(payload) = outcome {
            self.close_frame();
            self.keep_handler_panics = false;
            resume_unwind(payload);
        }
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
        let expected = self.frame.open.ok_or(FrameError::NoFrame)?;
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
        let expected = self.frame.open.ok_or(FrameError::NoFrame)?;
        if stage < expected || stage == Stage::End {
            return Err(FrameError::StageOrder {
                expected,
                asked: stage,
            });
        }
        while let Some(next) = self.frame.open.filter(|&next| next <= stage) {
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
        let expected = self.frame.open.ok_or(FrameError::NoFrame)?;
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
    /// left out. `None` when no frame is open.
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
        self.frame.open?;
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
        if self.frame.open.is_some() {
            return Err(FrameError::AlreadyTicking);
        }
        Ok(real_delta.to_nanos()?)
    }

    fn open_frame(&mut self, host: &mut H, handed_in: u64, deltas: Option<DeltaSource<'_>>) {
        self.keep_handler_panics = true;
        let frame = &mut self.frame;
        frame.number += 1;
        frame.open = Some(Stage::Begin);
        frame.worlds.clear();
        frame.real_delta = 0;
        frame.clamped = 0;
        frame.clamped_dilated = 0;
        frame.forgiven = 0;
        frame.ticks = 0;

        // On the old readings: what came from outside, and what was asked for between frames.
        self.announce_ended_lives(host);
        self.cx(host).after_callback();
        self.run_posted(host);
        if self.inbox.any_dropped() {
            self.mark_dropped();
        }
        self.run_begin_hooks(host);
        self.run_hooks(host, Stage::Begin);
        self.settle();

        let frame = &mut self.frame;
        let forgive = std::mem::take(&mut frame.forgive);
        frame.forgiven = if forgive { handed_in } else { 0 };
        let real = handed_in - frame.forgiven;
        frame.real_delta = real.min(self.max_delta.unwrap_or(u64::MAX));
        frame.clamped = real - frame.real_delta;
        frame.worlds.extend_from_slice(&self.world_order);
        self.advance_clocks(deltas);
        self.open_passes();
        self.frame.open = Some(Stage::Begin.next());
    }

    fn run_posted(&mut self, host: &mut H) {
        self.inbox.take_posted(&mut self.posted);
        // Only what is here by now: a closure that posts another must not hold the frame up.
        for _ in 0..self.posted.len() {
            let Some(posted) = self.posted.pop_front() else {
                break;
            };
            let mut cx = self.cx(host);
            let from = posted.from;
            let outcome = cx.callback(None, Duration::ZERO, |cx| (posted.run)(cx));
            if let Err(panic) = outcome {
                let fix = "fix the panic in the posted closure; the rest of it is not done";
                let culprit = Culprit::new(format!("closure posted from {from}"), fix);
                cx.settle_panic(&culprit, panic);
            }
            cx.attend();
        }
    }

    fn advance_clocks(&mut self, mut deltas: Option<DeltaSource<'_>>) {
        let real = self.frame.real_delta;
        // All of them before any clock moves: the host's code may panic.
        let mut ready_made = std::mem::take(&mut self.frame.ready_made);
        ready_made.clear();
        if let Some(make) = &mut deltas {
            ready_made.extend(self.frame.worlds.iter().map(|&id| make(id)));
        }
        self.clocks.advance(real, false, None);
        for index in 0..self.frame.worlds.len() {
            let id = self.frame.worlds[index];
            let ready = ready_made.get(index).copied().flatten();
            let own_pause = self.is_effectively_paused(id);
            let max_delta = self.max_delta;
            let Some(world) = self.worlds.get_mut(id) else {
                continue;
            };
            let nanos = |d: Duration| u64::try_from(d.as_nanos()).unwrap_or(u64::MAX);
            let (paused, clamped) = match ready {
                Some(ready) => {
                    let paused = own_pause || ready.paused;
                    let (dilated, real) = (nanos(ready.dilated), nanos(ready.real));
                    (paused, world.clocks.advance_ready(dilated, real, paused))
                }
                None => (own_pause, world.clocks.advance(real, own_pause, max_delta)),
            };
            world.paused_this_frame = paused;
            let cut = &mut self.frame.clamped_dilated;
            *cut = (*cut).max(clamped.nanos);
            if clamped.saturated && !world.saturation_reported {
                world.saturation_reported = true;
                let what = "its delta was beyond the range of a clock and was cut off";
                let name = world.name.clone();
                self.send_report(Report::new(ReportKind::DeltaSaturated, what).world(name));
            }
        }
        self.frame.ready_made = ready_made;
    }

    fn open_passes(&mut self) {
        let slots = &mut self.slots;
        let real = self.clocks.elapsed(Clock::Real);
        self.worldless.pass_open = true;
        self.worldless
            .wake(|_| real, false, |slot| slots.wake(slot));
        for &id in &self.frame.worlds {
            let Some(world) = self.worlds.get_mut(id) else {
                continue;
            };
            world.ticks.pass_open = true;
            let clocks = &world.clocks;
            let now = |clock| clocks.elapsed(clock);
            let paused = world.paused_this_frame;
            world.ticks.wake(now, paused, |slot| slots.wake(slot));
        }
    }

    fn run_next_stage(&mut self, host: &mut H, stage: Stage) {
        self.frame.open = Some(stage.next());
        self.announce_ended_lives(host);
        self.cx(host).after_callback();
        if stage == Stage::Worldless {
            let deltas = self.clocks.frame();
            let mut cx = self.cx(host);
            cx.run_group(None, TickGroup::default(), false, deltas);
        }
        for index in 0..self.frame.worlds.len() {
            let id = self.frame.worlds[index];
            if let Some(group) = stage.group()
                && let Some(world) = self.worlds.get(id).filter(|w| w.is_alive())
            {
                let (paused, deltas) = (world.paused_this_frame, world.clocks.frame());
                self.cx(host).run_group(Some(id), group, paused, deltas);
            }
            self.run_world_hooks(host, stage, id);
        }
        self.run_hooks(host, stage);
    }

    fn finish_frame(&mut self, host: &mut H) -> (FrameReport, Option<Payload>) {
        let hooks = catch_unwind(AssertUnwindSafe(|| {
            for index in 0..self.frame.worlds.len() {
                self.run_world_hooks(host, Stage::End, self.frame.worlds[index]);
            }
            self.run_hooks(host, Stage::End);
            if self.inbox.any_dropped() {
                self.mark_dropped();
            }
            self.cx(host).after_callback();
        }));
        self.close_frame();
        self.settle();
        let dropped = self.drop_dead();
        let frame = &mut self.frame;
        let report = FrameReport {
            frame: frame.number,
            real_delta: Duration::from_nanos(frame.real_delta),
            clamped: Duration::from_nanos(frame.clamped),
            clamped_dilated: Duration::from_nanos(frame.clamped_dilated),
            forgiven: Duration::from_nanos(frame.forgiven),
            ticks: frame.ticks,
            reports: std::mem::take(&mut frame.reports),
        };
        let panicked = hooks.err().or(dropped);
        self.keep_handler_panics = false;
        (report, panicked.or(self.handler_panic.take()))
    }

    /// Closes every pass: what was asked for in it can take effect.
    pub(crate) fn close_frame(&mut self) {
        self.frame.open = None;
        self.worldless.pass_open = false;
        self.clocks.end_frame();
        for world in self.worlds.values_mut() {
            world.ticks.pass_open = false;
            world.clocks.end_frame();
        }
    }
}
