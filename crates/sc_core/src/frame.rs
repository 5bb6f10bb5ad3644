//! THE frame order: what runs when, for every host.
//!
//! A frame is stage-major: for each stage, every world of the frame in creation order.
//! [`Runtime::tick`] is exactly begin, all stages, end; hosts with their own physics call the
//! pieces. A frame goes over a list of worlds: those of the runtime's frame, or those that step
//! (`step.rs`).

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
    /// How many frames of the runtime have begun.
    pub(crate) number: u64,
    /// How many steps have begun.
    steps: u64,
    /// The runtime's frame, and that of the worlds that step. A step may lie between two stages of
    /// the runtime's frame; never the other way round.
    whole: Pieces,
    step: Pieces,
    pub(crate) forgive: bool,
    /// In the innermost open frame.
    pub(crate) ticks: u64,
    /// Since the last frame or step ended.
    pub(crate) reports: u64,
}

/// One frame, from its begin to its end.
#[derive(Debug, Default)]
struct Pieces {
    /// The stage that comes next, while it is open.
    next: Option<Stage>,
    /// Its worlds, in creation order.
    worlds: Vec<WorldId>,
    /// Scratch: the deltas a host has made for them.
    ready_made: Vec<Option<WorldDelta>>,
    real_delta: u64,
    clamped: u64,
    clamped_dilated: u64,
    forgiven: u64,
    /// The ticks of the frame around it.
    ticks_around: u64,
}

impl FrameState {
    /// Whether a frame of the runtime is under way.
    pub(crate) fn is_open(&self) -> bool {
        self.whole.next.is_some()
    }

    /// Whether a step is under way.
    pub(crate) fn is_stepping(&self) -> bool {
        self.step.next.is_some()
    }

    /// Tells each frame and each step from all others.
    pub(crate) fn stamp(&self) -> u64 {
        self.number + self.steps
    }

    /// The frame of the runtime in which what is started now has its first tick.
    pub(crate) fn first_tick(&self) -> u64 {
        match self.whole.next {
            Some(Stage::Begin) => self.number,
            _ => self.number + 1,
        }
    }

    /// The innermost open frame.
    fn pieces(&self) -> &Pieces {
        match self.is_stepping() {
            true => &self.step,
            false => &self.whole,
        }
    }

    fn pieces_mut(&mut self) -> &mut Pieces {
        match self.is_stepping() {
            true => &mut self.step,
            false => &mut self.whole,
        }
    }

    /// The stage that comes next.
    fn next(&self) -> Option<Stage> {
        self.pieces().next
    }
}

/// A host's way to make a world's deltas.
pub(crate) type DeltaSource<'s> = &'s mut dyn FnMut(WorldId) -> Option<WorldDelta>;

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

    fn open_frame(&mut self, host: &mut H, handed_in: u64, deltas: Option<DeltaSource<'_>>) {
        self.keep_handler_panics = true;
        self.frame.number += 1;
        self.frame.whole.begin(&mut self.frame.ticks);

        // On the old readings: what came from outside, and what was asked for between frames.
        self.announce_ended_lives(host);
        self.cx(host).after_callback();
        self.run_posted(host);
        self.finish_begin(host, handed_in, deltas);
    }

    pub(crate) fn open_step(
        &mut self,
        host: &mut H,
        handed_in: u64,
        deltas: Option<DeltaSource<'_>>,
    ) {
        self.keep_handler_panics = true;
        self.frame.steps += 1;
        self.frame.step.begin(&mut self.frame.ticks);
        self.announce_ended_lives(host);
        self.cx(host).after_callback();
        self.finish_begin(host, handed_in, deltas);
    }

    fn finish_begin(&mut self, host: &mut H, handed_in: u64, deltas: Option<DeltaSource<'_>>) {
        let steps = self.frame.is_stepping();
        if self.inbox.any_dropped() {
            self.mark_dropped();
        }
        self.run_begin_hooks(host, steps);
        if !steps {
            self.run_hooks(host, Stage::Begin);
        }
        self.settle();

        let forgive = !steps && std::mem::take(&mut self.frame.forgive);
        let max_delta = self.max_delta.unwrap_or(u64::MAX);
        let mut worlds = std::mem::take(&mut self.frame.pieces_mut().worlds);
        let here = |id: &&WorldId| self.worlds.get(**id).is_some_and(|w| w.steps == steps);
        worlds.extend(self.world_order.iter().filter(here));
        let frame = self.frame.pieces_mut();
        frame.worlds = worlds;
        frame.forgiven = if forgive { handed_in } else { 0 };
        let real = handed_in - frame.forgiven;
        frame.real_delta = real.min(max_delta);
        frame.clamped = real - frame.real_delta;
        self.advance_clocks(deltas);
        self.open_passes();
        self.frame.pieces_mut().next = Some(Stage::Begin.next());
    }

    /// Opens a frame. When that panics, there is none.
    pub(crate) fn open_or_raise(&mut self, open: impl FnOnce(&mut Self)) {
        let outcome = catch_unwind(AssertUnwindSafe(|| open(self)));
        if let Err(payload) = outcome {
            self.close_frame();
            self.keep_handler_panics = self.frame.is_open();
            resume_unwind(payload);
        }
    }

    pub(crate) fn run_all_stages(&mut self, host: &mut H) {
        while let Some(stage) = self.frame.next().filter(|&s| s != Stage::End) {
            self.run_next_stage(host, stage);
        }
    }

    /// Ends a frame that has run as a whole.
    pub(crate) fn raise_or_report(
        &mut self,
        host: &mut H,
        outcome: Result<(), Payload>,
    ) -> Result<FrameReport, FrameError> {
        let (report, panicked) = self.finish_frame(host);
        if let Some(payload) = outcome.err().or(panicked) {
            resume_unwind(payload);
        }
        Ok(report)
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
        let real = self.frame.pieces().real_delta;
        // All of them before any clock moves: the host's code may panic.
        let mut ready_made = std::mem::take(&mut self.frame.pieces_mut().ready_made);
        ready_made.clear();
        if let Some(make) = &mut deltas {
            ready_made.extend(self.frame.pieces().worlds.iter().map(|&id| make(id)));
        }
        if !self.frame.is_stepping() {
            self.clocks.advance(real, false, None);
        }
        for index in 0..self.frame.pieces().worlds.len() {
            let id = self.frame.pieces().worlds[index];
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
            world.frames += 1;
            world.paused_this_frame = paused;
            let cut = &mut self.frame.pieces_mut().clamped_dilated;
            *cut = (*cut).max(clamped.nanos);
            if clamped.saturated && !world.saturation_reported {
                world.saturation_reported = true;
                let what = "its delta was beyond the range of a clock and was cut off";
                let name = world.name.clone();
                self.send_report(Report::new(ReportKind::DeltaSaturated, what).world(name));
            }
        }
        self.frame.pieces_mut().ready_made = ready_made;
    }

    fn open_passes(&mut self) {
        let slots = &mut self.slots;
        if !self.frame.is_stepping() {
            let real = self.clocks.elapsed(Clock::Real);
            self.worldless.pass_open = true;
            self.worldless
                .wake(|_| real, false, |slot| slots.wake(slot));
        }
        for &id in &self.frame.pieces().worlds {
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
        let is_step = self.frame.is_stepping();
        self.frame.pieces_mut().next = Some(stage.next());
        self.announce_ended_lives(host);
        self.cx(host).after_callback();
        if stage == Stage::Worldless && !is_step {
            let deltas = self.clocks.frame();
            let mut cx = self.cx(host);
            cx.run_group(None, TickGroup::default(), false, deltas);
        }
        for index in 0..self.frame.pieces().worlds.len() {
            let id = self.frame.pieces().worlds[index];
            if let Some(group) = stage.group()
                && let Some(world) = self.worlds.get(id).filter(|w| w.is_alive())
            {
                let (paused, deltas) = (world.paused_this_frame, world.clocks.frame());
                self.cx(host).run_group(Some(id), group, paused, deltas);
            }
            self.run_world_hooks(host, stage, id);
        }
        if !is_step {
            self.run_hooks(host, stage);
        }
    }

    fn finish_frame(&mut self, host: &mut H) -> (FrameReport, Option<Payload>) {
        let is_step = self.frame.is_stepping();
        let hooks = catch_unwind(AssertUnwindSafe(|| {
            for index in 0..self.frame.pieces().worlds.len() {
                let id = self.frame.pieces().worlds[index];
                self.run_world_hooks(host, Stage::End, id);
            }
            if !is_step {
                self.run_hooks(host, Stage::End);
            }
            if self.inbox.any_dropped() {
                self.mark_dropped();
            }
            self.cx(host).after_callback();
        }));
        let mut report = self.frame.report();
        self.close_frame();
        self.settle();
        // In a frame that is still open there may be entries of the dead.
        let is_outermost = !self.frame.is_open();
        let dropped = if is_outermost { self.drop_dead() } else { None };
        report.reports = std::mem::take(&mut self.frame.reports);
        self.keep_handler_panics = !is_outermost;
        let panicked = hooks.err().or(dropped);
        (report, panicked.or(self.handler_panic.take()))
    }

    /// Closes the passes of the innermost open frame: what was asked for in them can take effect.
    pub(crate) fn close_frame(&mut self) {
        if !self.frame.is_stepping() {
            self.worldless.pass_open = false;
            self.clocks.end_frame();
        }
        let FrameState {
            whole, step, ticks, ..
        } = &mut self.frame;
        let frame = if step.next.is_some() { step } else { whole };
        frame.next = None;
        *ticks = frame.ticks_around;
        for id in frame.worlds.drain(..) {
            if let Some(world) = self.worlds.get_mut(id) {
                world.ticks.pass_open = false;
                world.clocks.end_frame();
            }
        }
    }
}

impl Pieces {
    fn begin(&mut self, ticks: &mut u64) {
        *self = Pieces {
            next: Some(Stage::Begin),
            worlds: std::mem::take(&mut self.worlds),
            ready_made: std::mem::take(&mut self.ready_made),
            ticks_around: std::mem::take(ticks),
            ..Pieces::default()
        };
        self.worlds.clear();
    }
}

impl FrameState {
    /// What the innermost open frame has done.
    fn report(&self) -> FrameReport {
        let frame = self.pieces();
        FrameReport {
            frame: match self.is_stepping() {
                true => self.steps,
                false => self.number,
            },
            real_delta: Duration::from_nanos(frame.real_delta),
            clamped: Duration::from_nanos(frame.clamped),
            clamped_dilated: Duration::from_nanos(frame.clamped_dilated),
            forgiven: Duration::from_nanos(frame.forgiven),
            ticks: self.ticks,
            reports: self.reports,
        }
    }
}
