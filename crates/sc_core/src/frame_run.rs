//! How a frame runs, from its begin to its end: a frame of the runtime, or a step.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Duration;

use crate::clock::Clock;
use crate::cx::{Culprit, Payload};
use crate::frame::{FrameReport, Stage, WorldDelta};
use crate::frame_error::FrameError;
use crate::report::{Report, ReportKind};
use crate::runtime::Runtime;
use crate::tick::TickGroup;
use crate::world::WorldId;

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
    pub(crate) fn next(&self) -> Option<Stage> {
        self.pieces().next
    }
}

/// A host's way to make a world's deltas.
pub(crate) type DeltaSource<'s> = &'s mut dyn FnMut(WorldId) -> Option<WorldDelta>;

impl<H> Runtime<H> {
    pub(crate) fn open_frame(
        &mut self,
        host: &mut H,
        handed_in: u64,
        deltas: Option<DeltaSource<'_>>,
    ) {
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
        self.mark_dropped();
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
                    let dilated = (nanos(ready.dilated), nanos(ready.through_pause));
                    let real = nanos(ready.real);
                    let clocks = &mut world.clocks;
                    (paused, clocks.advance_ready(dilated, real, paused, None))
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

    pub(crate) fn run_next_stage(&mut self, host: &mut H, stage: Stage) {
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

    pub(crate) fn finish_frame(&mut self, host: &mut H) -> (FrameReport, Option<Payload>) {
        let is_step = self.frame.is_stepping();
        let hooks = catch_unwind(AssertUnwindSafe(|| {
            for index in 0..self.frame.pieces().worlds.len() {
                let id = self.frame.pieces().worlds[index];
                self.run_world_hooks(host, Stage::End, id);
            }
            if !is_step {
                self.run_hooks(host, Stage::End);
            }
            let mut cx = self.cx(host);
            cx.finish_owed_shutdowns();
            cx.after_callback();
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
