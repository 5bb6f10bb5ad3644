//! The runtime: what owns everything, and how it ends.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::time::Duration;

use slotmap::SlotMap;

use crate::clock::WorldClocks;
use crate::cx::{Cx, Payload, Scope};
use crate::extension::{Installed, LifeHook, StageEntry, StateMap, TeardownEntry};
use crate::frame_run::FrameState;
use crate::inbox::{Inbox, Posted, Poster};
use crate::report::{Report, ReportHandler, ReportKind, trace_report};
use crate::stopwatch::Stopwatch;
use crate::tick::slots::{Slots, flag};
use crate::tick::{Grave, SettleScratch, TickSet};
use crate::world::{Instance, InstanceId, World, WorldId};
use crate::{Secs, TimeError};

/// What happens when user code panics. In both cases the panicked object is uninitialized
/// without its shutdown event, and everything else stays intact.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PanicPolicy {
    /// The panic goes on, out of the call that ran the user code. A host that catches it can go
    /// on with the next frame. The default.
    #[default]
    Propagate,
    /// The panic is caught and reported, and the frame goes on.
    Isolate,
}

/// Owns worlds, objects and clocks, and runs the frame. Generic over the host: the game's own
/// state, which every callback gets.
///
/// It belongs to one thread; the compiler checks it:
///
/// ```compile_fail
/// let rt = sc_core::Runtime::<()>::new();
/// std::thread::spawn(move || drop(rt));
/// ```
///
/// Other threads reach it through a [`Poster`].
///
/// End it with [`shutdown`](Runtime::shutdown). Merely dropping it calls nothing: it makes one
/// report for each object still initialized. Owners dropped later are no-ops.
pub struct Runtime<H: 'static> {
    pub(crate) worlds: SlotMap<WorldId, World>,
    /// Every world, in creation order.
    pub(crate) world_order: Vec<WorldId>,
    pub(crate) worlds_made: u64,
    pub(crate) worlds_that_step: usize,
    pub(crate) instances: SlotMap<InstanceId, Instance>,
    pub(crate) slots: Slots<H>,
    pub(crate) worldless: TickSet,
    pub(crate) settle_scratch: SettleScratch,
    /// The runtime's own clock; only its `Real` reading counts.
    pub(crate) clocks: WorldClocks,
    pub(crate) frame: FrameState,
    /// Scratch: objects on their way out.
    graves: Vec<Grave<H>>,
    pub(crate) inbox: Arc<Inbox<H>>,
    /// Closures taken from the inbox that have not run yet.
    pub(crate) posted: VecDeque<Posted<H>>,
    pub(crate) extensions: Vec<Installed<H>>,
    /// The hooks of all extensions, in order of installation.
    pub(crate) stage_hooks: Vec<StageEntry<H>>,
    pub(crate) teardown_hooks: Vec<TeardownEntry<H>>,
    /// Who is told of ended lives.
    pub(crate) life_hooks: Vec<(&'static str, LifeHook<H>)>,
    pub(crate) state: StateMap,
    pub(crate) max_delta: Option<u64>,
    pub(crate) panic_policy: PanicPolicy,
    stopwatch: Option<Box<dyn Stopwatch>>,
    profile: bool,
    report_handler: ReportHandler,
    /// The first panic of the report handler since the last frame ended.
    pub(crate) handler_panic: Option<Payload>,
    /// In a frame or in the runtime's end: a panic of the handler waits until that is over.
    pub(crate) keep_handler_panics: bool,
    /// Callbacks on the stack.
    pub(crate) depth: u32,
    /// Something must happen before the next callback: see `Cx::after_callback`.
    pub(crate) attention: bool,
    /// Worlds to tear down, in order.
    pub(crate) dying: VecDeque<WorldId>,
    pub(crate) tearing_down: bool,
    /// Owed shutdowns are being run.
    pub(crate) finishing: bool,
    /// The first panic of the running teardown.
    pub(crate) teardown_panic: Option<Payload>,
    pub(crate) is_shut_down: bool,
    _not_send: PhantomData<*const ()>,
}

impl<H> Default for Runtime<H> {
    fn default() -> Self {
        Self::new()
    }
}

impl<H> Runtime<H> {
    /// An empty runtime: no world, no delta limit, panics propagate, reports go to `tracing`.
    ///
    /// ```
    /// use sc_core::Runtime;
    /// let rt = Runtime::<()>::new();
    /// assert_eq!((rt.frame_number(), rt.world_list().len()), (0, 0));
    /// ```
    #[must_use]
    pub fn new() -> Self {
        let inbox = Inbox::new();
        // Inboxes that live at the same time lie at different addresses, 16 bytes apart at least.
        let number = Arc::as_ptr(&inbox).addr() >> 4;
        Runtime {
            worlds: SlotMap::with_key(),
            world_order: Vec::new(),
            worlds_made: 0,
            worlds_that_step: 0,
            instances: SlotMap::with_key(),
            slots: Slots::new((number & 0xFFFF_FFFF) as u32),
            worldless: TickSet::default(),
            settle_scratch: SettleScratch::default(),
            clocks: WorldClocks::default(),
            frame: FrameState::default(),
            graves: Vec::new(),
            inbox,
            posted: VecDeque::new(),
            extensions: Vec::new(),
            stage_hooks: Vec::new(),
            teardown_hooks: Vec::new(),
            life_hooks: Vec::new(),
            state: StateMap::default(),
            max_delta: None,
            panic_policy: PanicPolicy::default(),
            stopwatch: None,
            profile: false,
            report_handler: Box::new(trace_report),
            handler_panic: None,
            keep_handler_panics: false,
            depth: 0,
            attention: false,
            dying: VecDeque::new(),
            tearing_down: false,
            finishing: false,
            teardown_panic: None,
            is_shut_down: false,
            _not_send: PhantomData,
        }
    }

    /// The way to everything, outside callbacks: no world, no delta.
    ///
    /// ```
    /// use sc_core::Runtime;
    /// let (mut rt, mut score) = (Runtime::new(), 0);
    /// let mut cx = rt.cx(&mut score);
    /// *cx.host_mut() += 1;
    /// assert_eq!((cx.world(), score), (None, 1));
    /// ```
    #[must_use]
    pub fn cx<'a>(&'a mut self, host: &'a mut H) -> Cx<'a, H> {
        Cx {
            host,
            rt: self,
            scope: Scope::OUTSIDE,
        }
    }

    /// Posts closures to this runtime from other threads.
    ///
    /// ```
    /// # use sc_core::Runtime;
    /// # let (mut rt, mut score) = (Runtime::new(), 0);
    /// let poster = rt.poster();
    /// poster.post(|cx| *cx.host_mut() += 5)?;
    /// assert_eq!(score, 0);
    /// rt.tick_secs(&mut score, 0.1)?;
    /// assert_eq!(score, 5);
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    #[must_use]
    pub fn poster(&self) -> Poster<H> {
        Poster::new(Arc::clone(&self.inbox))
    }

    /// Sets what happens when user code panics.
    ///
    /// ```
    /// # use sc_core::{Cx, PanicPolicy, Runtime, Tickable, WorldKind};
    /// struct Buggy;
    /// impl Tickable<()> for Buggy {
    ///     fn tick(&mut self, _: &mut Cx<'_, ()>) { panic!("oops") }
    /// }
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// rt.set_panic_policy(PanicPolicy::Isolate);
    /// let mut cx = rt.cx(&mut host);
    /// let world = cx.create_world(WorldKind::Game)?;
    /// let buggy = cx.spawn_in(world, Buggy)?;
    /// assert_eq!(rt.tick_secs(&mut host, 0.1)?.reports, 1);
    /// assert!(!rt.cx(&mut host).is_initialized(&buggy));
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    pub fn set_panic_policy(&mut self, policy: PanicPolicy) {
        self.panic_policy = policy;
    }

    /// Sets the longest real delta of a frame, for all clocks, and the longest dilated one. What is
    /// clamped off is in the frame's report. `None` = no limit, the default; a limit of zero stops
    /// every clock.
    ///
    /// ```
    /// # use sc_core::{Runtime, secs};
    /// # use std::time::Duration;
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// rt.set_max_delta(Some(secs(0.1)))?;
    /// let report = rt.tick_secs(&mut host, 0.75)?;
    /// assert_eq!(report.real_delta, Duration::from_millis(100));
    /// assert_eq!(report.clamped, Duration::from_millis(650));
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`TimeError`] for a limit that is no time; the old one stays.
    pub fn set_max_delta(&mut self, limit: Option<Secs>) -> Result<(), TimeError> {
        self.max_delta = limit.map(Secs::to_nanos).transpose()?;
        Ok(())
    }

    /// Sets who receives the reports. Default: a `tracing` event with target `stillcooking`. When
    /// the handler panics, the panic goes on at the end of the frame, whatever the policy; outside
    /// frames and callbacks, at the end of the call.
    ///
    /// ```
    /// use sc_core::Runtime;
    /// use std::{cell::RefCell, rc::Rc};
    /// let seen = Rc::new(RefCell::new(Vec::new()));
    /// let mut rt = Runtime::<()>::new();
    /// let sink = Rc::clone(&seen);
    /// rt.set_report_handler(move |report| sink.borrow_mut().push(report.to_string()));
    /// ```
    pub fn set_report_handler(&mut self, handler: impl FnMut(&Report) + 'static) {
        self.report_handler = Box::new(handler);
    }

    /// Sets the stopwatch for budgets and timings.
    ///
    /// ```
    /// # use sc_core::{ManualClock, Runtime};
    /// # let mut rt = Runtime::<()>::new();
    /// assert!(!rt.has_stopwatch());
    /// rt.set_stopwatch(ManualClock::default());
    /// assert!(rt.has_stopwatch());
    /// ```
    pub fn set_stopwatch(&mut self, stopwatch: impl Stopwatch) {
        self.set_boxed_stopwatch(Box::new(stopwatch));
    }

    pub(crate) fn set_boxed_stopwatch(&mut self, stopwatch: Box<dyn Stopwatch>) {
        self.stopwatch = Some(stopwatch);
    }

    /// Whether there is a stopwatch.
    #[must_use]
    pub fn has_stopwatch(&self) -> bool {
        self.stopwatch.is_some()
    }

    /// Times every tick by the stopwatch, for [`TickInfo`](crate::TickInfo). Off by default: two
    /// readings of a clock cost more than a small tick. Without a stopwatch, timings stay empty.
    ///
    /// ```
    /// # use sc_core::{Cx, ManualClock, Runtime, Tickable, WorldKind};
    /// # use std::time::Duration;
    /// /// Busy for 2 ms, by the clock it is given.
    /// struct Busy(ManualClock);
    /// impl Tickable<()> for Busy {
    ///     fn tick(&mut self, _: &mut Cx<'_, ()>) { self.0.advance(Duration::from_millis(2)); }
    /// }
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// let clock = ManualClock::default();
    /// rt.set_stopwatch(clock.clone());
    /// rt.set_profiling(true);
    /// let mut cx = rt.cx(&mut host);
    /// # let world = cx.create_world(WorldKind::Game)?;
    /// let busy = cx.spawn_in(world, Busy(clock))?;
    /// rt.tick_secs(&mut host, 0.1)?;
    /// assert_eq!(rt.tick_list()[0].last_time, Some(Duration::from_millis(2)));
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    pub fn set_profiling(&mut self, on: bool) {
        self.profile = on;
    }

    pub(crate) fn profiling(&self) -> bool {
        self.profile && self.stopwatch.is_some()
    }

    pub(crate) fn stopwatch(&self) -> Option<Duration> {
        self.stopwatch.as_ref().map(|s| s.now())
    }

    pub(crate) fn stopwatch_nanos(&self) -> u64 {
        let now = self.stopwatch().unwrap_or(Duration::ZERO);
        u64::try_from(now.as_nanos()).unwrap_or(u64::MAX)
    }

    /// Tells runtimes that live at the same time from each other: for the ids of extensions.
    #[doc(hidden)]
    #[must_use]
    pub fn mark(&self) -> u32 {
        self.slots.mark()
    }

    /// Whether it was shut down.
    #[must_use]
    pub fn is_shut_down(&self) -> bool {
        self.is_shut_down
    }

    /// The number of the current frame, or of the last one; the first is 1.
    ///
    /// ```
    /// # use sc_core::Runtime;
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// rt.tick_secs(&mut host, 0.1)?;
    /// assert_eq!(rt.frame_number(), 1);
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    #[must_use]
    pub fn frame_number(&self) -> u64 {
        self.frame.number
    }

    pub(crate) fn send_report(&mut self, report: Report) {
        self.frame.reports += 1;
        let handler = &mut self.report_handler;
        let handled = catch_unwind(AssertUnwindSafe(|| handler(&report)));
        if let Err(payload) = handled {
            // Raised when everything is in order again.
            self.handler_panic.get_or_insert(payload);
        }
    }

    /// Raises what the report handler threw, at the end of a call from outside callbacks and frames;
    /// in a frame, its end does.
    pub(crate) fn raise_handler_panic(&mut self) {
        if self.handler_panic.is_none()
            || self.keep_handler_panics
            || self.depth > 0
            || self.tearing_down
        {
            return;
        }
        if let Some(payload) = self.handler_panic.take() {
            resume_unwind(payload);
        }
    }

    /// Sends a report that names an object and its world.
    pub(crate) fn report_on(&mut self, slot: u32, mut report: Report) {
        let home = self.slots.cold[slot as usize].home;
        report.id = Some(self.slots.id(slot));
        report.object = Some(self.slots.name(slot));
        let world = home.and_then(|home| self.world_name(home));
        let last_world = self.slots.cold[slot as usize].last_world.take();
        report.world = report.world.or(world).or(last_world.map(Cow::into_owned));
        self.send_report(report);
    }

    /// Ends everything, inner before outer: worlds newest first, then worldless objects newest
    /// first. Nothing can be started afterwards; owners dropped later are no-ops, and their objects
    /// are dropped with the runtime. Idempotent.
    ///
    /// ```
    /// # use sc_core::{Runtime, WorldKind};
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// rt.cx(&mut host).create_world(WorldKind::Game)?;
    /// rt.shutdown(&mut host);
    /// assert!(rt.world_list().is_empty());
    /// assert!(rt.tick_secs(&mut host, 0.1).is_err());
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    ///
    /// # Panics
    /// When something panicked in it and the policy is `Propagate`: the first panic is raised
    /// again when everything has ended.
    pub fn shutdown(&mut self, host: &mut H) {
        if self.is_shut_down {
            return;
        }
        self.is_shut_down = true;
        self.keep_handler_panics = true;
        for world in self.world_order.clone().into_iter().rev() {
            self.mark_dying(world);
        }
        let mut cx = self.cx(host);
        let worlds = catch_unwind(AssertUnwindSafe(|| cx.after_callback()));
        cx.rt.tearing_down = true;
        cx.shut_down_all(None);
        for extension in 0..cx.rt.extensions.len() {
            let Some(installed) = cx.rt.extensions.get(extension) else {
                break;
            };
            let name = installed.name;
            if let Some(hook) = installed.runtime_teardown {
                cx.run_hook(name, Scope::OUTSIDE, hook);
            }
        }
        cx.finish_owed_shutdowns();
        cx.rt.tearing_down = false;
        // The step, and the frame around it.
        self.close_frame();
        self.close_frame();
        let dropped = self.drop_dead();
        self.inbox.close();
        self.posted.clear();
        let later = self.teardown_panic.take().or(dropped);
        let later = later.or(self.handler_panic.take());
        self.keep_handler_panics = false;
        if let Some(payload) = worlds.err().or(later) {
            resume_unwind(payload);
        }
    }

    /// Reports, frees and drops the dead. Gives back the first panic of a destructor, if the
    /// policy is to go on with it.
    pub(crate) fn drop_dead(&mut self) -> Option<Payload> {
        let mut graves = std::mem::take(&mut self.graves);
        self.bury_dead(&mut graves);
        let mut first = None;
        for Grave { name, object } in graves.drain(..) {
            let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(object))) else {
                continue;
            };
            match self.panic_policy {
                PanicPolicy::Propagate => {
                    first.get_or_insert(payload);
                }
                PanicPolicy::Isolate => {
                    let message = crate::cx::panic_message(&*payload);
                    let what = format!("panicked in its destructor: {message}");
                    let mut report = Report::new(ReportKind::Panicked, what);
                    report.fix = "fix the destructor; the object is gone all the same".into();
                    self.send_report(report.object(name));
                }
            }
        }
        self.graves = graves;
        first
    }
}

impl<H> Drop for Runtime<H> {
    fn drop(&mut self) {
        self.inbox.close();
        self.keep_handler_panics = true;
        let of_interest = flag::INITIALIZED | flag::ANCHOR;
        let all: Vec<u32> = (0..self.slots.hot.len())
            .filter_map(|index| u32::try_from(index).ok())
            .filter(|&slot| self.slots.flags(slot) & of_interest == flag::INITIALIZED)
            .collect();
        for slot in self.slots.newest_first(&all) {
            let what = "the runtime was dropped while it was still initialized";
            self.report_on(slot, Report::new(ReportKind::RuntimeDropped, what));
        }
        if let Some(payload) = self.handler_panic.take()
            && !std::thread::panicking()
        {
            resume_unwind(payload);
        }
    }
}
