//! The `Cx`: what every callback gets, and everything a program does, it does through it.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Duration;

use crate::clock::Clock;
use crate::report::{Report, ReportKind};
use crate::runtime::{PanicPolicy, Runtime};
use crate::tick::{Home, TickId};
use crate::world::WorldId;

/// What a panic carries.
pub(crate) type Payload = Box<dyn std::any::Any + Send>;

/// No object: the slot number that none has.
pub(crate) const NOBODY: u32 = u32::MAX;

/// In whose name a callback runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope {
    pub(crate) world: Home,
    pub(crate) delta: Duration,
    /// The slot of the object being called, or `NOBODY`.
    pub(crate) object: u32,
}

impl Scope {
    pub(crate) const OUTSIDE: Scope = Scope {
        world: None,
        delta: Duration::ZERO,
        object: NOBODY,
    };

    /// An event of an object: it has a world, and no delta.
    pub(crate) fn event(world: Home, object: u32) -> Self {
        Scope {
            world,
            delta: Duration::ZERO,
            object,
        }
    }
}

/// The host, the runtime, the world a callback runs in, and its delta.
///
/// Inside callbacks it is an argument; outside, [`Runtime::cx`] makes one, which has no world and
/// no delta. A callback cannot get at the runtime itself, so it cannot tick it or replace it:
///
/// ```compile_fail
/// # use sc_core::{Cx, Tickable};
/// struct Greedy;
/// impl Tickable<()> for Greedy {
///     fn tick(&mut self, cx: &mut Cx<'_, ()>) { cx.rt.tick_secs(&mut (), 0.1).unwrap(); }
/// }
/// ```
pub struct Cx<'a, H: 'static> {
    pub(crate) host: &'a mut H,
    pub(crate) rt: &'a mut Runtime<H>,
    pub(crate) scope: Scope,
}

impl<H> Cx<'_, H> {
    /// The runtime, to read: its lists, its extensions' state, a poster.
    ///
    /// ```
    /// # use sc_core::{Runtime, WorldKind};
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// cx.create_world(WorldKind::Game)?;
    /// assert_eq!(cx.runtime().world_list().len(), 1);
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    #[must_use]
    pub fn runtime(&self) -> &Runtime<H> {
        self.rt
    }

    /// The host: the game's own state.
    ///
    /// ```
    /// # use sc_core::Runtime;
    /// # let (mut rt, mut score) = (Runtime::new(), 7);
    /// let mut cx = rt.cx(&mut score);
    /// *cx.host_mut() += 1;
    /// assert_eq!(*cx.host(), 8);
    /// ```
    #[must_use]
    pub fn host(&self) -> &H {
        self.host
    }

    /// The host, to change it.
    #[must_use]
    pub fn host_mut(&mut self) -> &mut H {
        self.host
    }

    /// The world this callback runs in; `None` outside callbacks and for worldless objects.
    ///
    /// ```
    /// # use sc_core::{Cx, Runtime, Tickable, WorldId, WorldKind};
    /// # use std::time::Duration;
    /// #[derive(Default)]
    /// struct Seen { world: Option<WorldId>, delta: Duration }
    /// impl Tickable<()> for Seen {
    ///     fn tick(&mut self, cx: &mut Cx<'_, ()>) {
    ///         (self.world, self.delta) = (cx.world(), cx.delta());
    ///         assert_eq!(cx.delta_secs(), 0.25);
    ///     }
    /// }
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// let level = cx.create_world(WorldKind::Game)?;
    /// let seen = cx.spawn_in(level, Seen::default())?;
    /// rt.tick_secs(&mut host, 0.25)?;
    /// let cx = rt.cx(&mut host);
    /// assert_eq!((cx.world(), cx.delta()), (None, Duration::ZERO));
    /// let seen = cx.get(&seen)?;
    /// assert_eq!((seen.world, seen.delta), (Some(level), Duration::from_millis(250)));
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    #[must_use]
    pub fn world(&self) -> Option<WorldId> {
        self.scope.world
    }

    /// The time this callback stands for: in a tick, the time since the object's last one; zero
    /// in everything else.
    #[must_use]
    pub fn delta(&self) -> Duration {
        self.scope.delta
    }

    /// [`delta`](Self::delta) in seconds.
    #[must_use]
    pub fn delta_secs(&self) -> f64 {
        self.scope.delta.as_secs_f64()
    }

    /// The object being called, if one is.
    ///
    /// ```
    /// # use sc_core::{Cx, Runtime, Tickable, WorldKind};
    /// struct Once;
    /// impl Tickable<()> for Once {
    ///     fn tick(&mut self, cx: &mut Cx<'_, ()>) {
    ///         if let Some(me) = cx.current_object() { let _ = cx.shutdown(me); }
    ///     }
    /// }
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// # let world = cx.create_world(WorldKind::Game)?;
    /// let once = cx.spawn_in(world, Once)?;
    /// rt.tick_secs(&mut host, 0.1)?;
    /// assert!(!rt.cx(&mut host).is_initialized(&once));
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    #[must_use]
    pub fn current_object(&self) -> Option<TickId> {
        (self.scope.object != NOBODY).then(|| self.rt.slots.id(self.scope.object))
    }

    /// The number of the current frame, or of the last one; the first is 1.
    ///
    /// ```
    /// # use sc_core::Runtime;
    /// # use std::time::Duration;
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// for _ in 0..3 {
    ///     rt.tick_secs(&mut host, 0.5)?;
    /// }
    /// let cx = rt.cx(&mut host);
    /// assert_eq!((cx.frame(), cx.runtime_elapsed()), (3, Duration::from_millis(1500)));
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    #[must_use]
    pub fn frame(&self) -> u64 {
        self.rt.frame.number
    }

    /// Whether a frame is under way, of which [`frame`](Self::frame) is the number: from its `Begin`
    /// to its `End`. Between frames, `frame` is the number of the last one.
    ///
    /// ```
    /// # use sc_core::{Cx, Runtime, Tickable, WorldKind};
    /// struct Asks;
    /// impl Tickable<bool> for Asks {
    ///     fn tick(&mut self, cx: &mut Cx<'_, bool>) { *cx.host_mut() = cx.in_frame(); }
    /// }
    /// # let (mut rt, mut seen) = (Runtime::new(), false);
    /// let mut cx = rt.cx(&mut seen);
    /// assert!(!cx.in_frame());
    /// # let world = cx.create_world(WorldKind::Game)?;
    /// cx.spawn_world_owned(world, Asks)?;
    /// rt.tick_secs(&mut seen, 0.1)?;
    /// assert!(seen);
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    #[must_use]
    pub fn in_frame(&self) -> bool {
        self.rt.frame.is_open()
    }

    /// The number of the frame in which what is started now in a world has its first tick, counted as
    /// [`Readings::frame`] counts; `None`: of the runtime, as [`frame`](Self::frame). That is the next
    /// frame, or the current one while it begins and its clocks have not advanced.
    ///
    /// [`Readings::frame`]: crate::Readings::frame
    #[must_use]
    pub fn first_tick_frame(&self, world: Option<WorldId>) -> u64 {
        match world {
            Some(world) => self.rt.worlds.get(world).map_or(0, |w| w.frames) + 1,
            None => self.rt.frame.first_tick(),
        }
    }

    /// The reading of the runtime's own clock: real time, whatever the worlds do. The sum of the
    /// real deltas.
    #[must_use]
    pub fn runtime_elapsed(&self) -> Duration {
        Duration::from_nanos(self.rt.clocks.elapsed(Clock::Real))
    }

    /// As [`runtime_elapsed`](Self::runtime_elapsed), in nanoseconds: for extensions that ask often.
    #[doc(hidden)]
    #[must_use]
    #[inline]
    pub fn runtime_nanos(&self) -> u64 {
        self.rt.clocks.elapsed(Clock::Real)
    }

    /// A reading of the runtime's stopwatch, for budgets; `None` when there is none.
    #[must_use]
    pub fn stopwatch(&self) -> Option<Duration> {
        self.rt.stopwatch()
    }

    /// Drops the time that passed up to now from the next frame: for the end of loading. Its
    /// real delta is zero for all clocks, and what was dropped is in its [`FrameReport`].
    ///
    /// Deltas that the host makes for its worlds itself are not touched.
    ///
    /// [`FrameReport`]: crate::FrameReport
    ///
    /// ```
    /// # use sc_core::Runtime;
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// // .. eight seconds of loading ..
    /// rt.cx(&mut host).forgive_elapsed();
    /// let report = rt.tick_secs(&mut host, 8)?;
    /// assert_eq!((report.forgiven.as_secs(), report.real_delta.as_secs()), (8, 0));
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    pub fn forgive_elapsed(&mut self) {
        self.rt.frame.forgive = true;
    }

    /// Sends a report through the runtime's handler.
    ///
    /// ```
    /// # use sc_core::{Report, ReportKind, Runtime};
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// let what = "was to be opened in a world that has ended";
    /// rt.cx(&mut host).report(Report::new(ReportKind::NoLiveWorld, what).object("Door"));
    /// assert_eq!(rt.tick_secs(&mut host, 0.1)?.reports, 1);
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    pub fn report(&mut self, report: Report) {
        self.rt.send_report(report);
        self.rt.raise_handler_panic();
    }

    pub(crate) fn report_on(&mut self, slot: u32, report: Report) {
        self.rt.report_on(slot, report);
    }

    /// Calls user code as a callback of `world`, with a delta: what an extension runs its users'
    /// closures by. When your own state is in order again, call [`attend`](Self::attend).
    ///
    /// ```
    /// # use sc_core::{Runtime, WorldKind};
    /// # use std::time::Duration;
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// let level = cx.create_world(WorldKind::Game)?;
    /// let alive = cx.callback(Some(level), Duration::ZERO, |cx| {
    ///     cx.destroy_world(level);
    ///     cx.world_info(level).is_ok()
    /// });
    /// assert!(alive.unwrap_or(false), "its teardown waits for the callback to return");
    /// cx.attend();
    /// assert!(cx.world_info(level).is_err());
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// What the callback threw. Put your own state in order, then hand it to
    /// [`settle_panic`](Self::settle_panic).
    pub fn callback<R>(
        &mut self,
        world: Option<WorldId>,
        delta: Duration,
        f: impl FnOnce(&mut Self) -> R,
    ) -> Result<R, Panic> {
        let scope = Scope {
            delta,
            ..Scope::event(world, NOBODY)
        };
        self.guarded(scope, f).map_err(Panic)
    }

    /// Does what must happen after a [`callback`](Self::callback) and before the next: shutdowns of
    /// objects that were running, and the end of worlds that were destroyed in it. Inside another
    /// callback, the end of worlds waits for that one.
    ///
    /// # Panics
    /// When something panics in it and the policy is `Propagate`.
    pub fn attend(&mut self) {
        self.after_callback();
    }

    /// Whether there is something to [`attend`](Self::attend) to.
    #[must_use]
    pub fn must_attend(&self) -> bool {
        self.rt.attention
    }

    /// Whether lives have ended of which extensions were not told yet: see [`Access::lives_ended`].
    ///
    /// [`Access::lives_ended`]: crate::Access::lives_ended
    #[must_use]
    pub fn lives_ended(&self) -> bool {
        self.rt.slots.any_life_ended() || self.rt.inbox.any_dropped()
    }

    /// Deals with what a [`callback`](Self::callback) threw, by the panic policy: raises it again,
    /// or makes a report that names the culprit and goes on.
    ///
    /// ```
    /// # use sc_core::{Culprit, PanicPolicy, Runtime};
    /// # use std::time::Duration;
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// rt.set_panic_policy(PanicPolicy::Isolate);
    /// let mut cx = rt.cx(&mut host);
    /// let outcome = cx.callback(None, Duration::ZERO, |_| panic!("no key"));
    /// if let Err(panic) = outcome {
    ///     assert_eq!(panic.message(), "no key");
    ///     let culprit = Culprit::new("alarm of door 7", "fix the panic in the alarm").world("level");
    ///     cx.settle_panic(&culprit, panic);
    /// }
    /// assert_eq!(rt.tick_secs(&mut host, 0.1)?.reports, 1);
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    ///
    /// # Panics
    /// With the same panic, when the policy is `Propagate`; in a teardown, when everything has
    /// ended.
    pub fn settle_panic(&mut self, culprit: &Culprit, panic: Panic) {
        if let Some(payload) = self.keep_or_report(culprit, panic.0) {
            self.raise_or_collect(payload);
        }
    }

    /// Runs an extension's hook outside the frame's stages.
    pub(crate) fn run_hook(
        &mut self,
        extension: &'static str,
        scope: Scope,
        hook: impl FnOnce(&mut Self),
    ) {
        if let Err(payload) = self.guarded_at(self.rt.depth, scope, hook) {
            let mut culprit = Culprit::new(
                format!("extension {extension}"),
                "fix the panic in the extension's hook; the rest of what it does here is not done",
            );
            culprit.world = scope.world.and_then(|world| self.rt.world_name(world));
            self.settle_panic(&culprit, Panic(payload));
        }
        self.after_callback();
    }

    /// Calls user code in a scope, catching what it throws.
    pub(crate) fn guarded<R>(
        &mut self,
        scope: Scope,
        f: impl FnOnce(&mut Self) -> R,
    ) -> Result<R, Payload> {
        let depth = self.rt.depth;
        self.guarded_at(depth + 1, scope, f)
    }

    /// As [`guarded`](Self::guarded), with so many callbacks on the stack.
    pub(crate) fn guarded_at<R>(
        &mut self,
        depth: u32,
        scope: Scope,
        f: impl FnOnce(&mut Self) -> R,
    ) -> Result<R, Payload> {
        let outside = (self.scope, self.rt.depth);
        self.scope = scope;
        self.rt.depth = depth;
        let outcome = catch_unwind(AssertUnwindSafe(|| f(self)));
        (self.scope, self.rt.depth) = outside;
        outcome
    }

    /// What must happen between two callbacks: shutdowns of objects that were out, and, when no
    /// callback is on the stack any more, the end of worlds.
    pub(crate) fn after_callback(&mut self) {
        if !self.rt.attention {
            return;
        }
        self.finish_pending_shutdowns();
        if self.rt.depth == 0 {
            self.tear_down_dying_worlds();
        }
        self.rt.attention = !self.rt.slots.pending_shutdown.is_empty() || !self.rt.dying.is_empty();
    }

    /// Deals with a panic by the policy: reports it and gives nothing back, or gives it back to be
    /// raised again when everything is in order.
    pub(crate) fn keep_or_report(
        &mut self,
        culprit: &Culprit,
        payload: Payload,
    ) -> Option<Payload> {
        if self.rt.panic_policy == PanicPolicy::Propagate {
            return Some(payload);
        }
        let what = format!("panicked: {}", panic_message(&*payload));
        let mut report = Report::new(ReportKind::Panicked, what).object(&*culprit.name);
        report.id = culprit.id;
        report.world = culprit.world.clone();
        report.fix = culprit.fix.into();
        self.rt.send_report(report);
        None
    }

    /// Raises a panic on the spot, after what must happen between two callbacks; in a teardown,
    /// keeps the first one for its end, so that it does not stop the rest.
    pub(crate) fn raise_or_collect(&mut self, payload: Payload) {
        if self.rt.tearing_down {
            self.rt.teardown_panic.get_or_insert(payload);
            return;
        }
        let attended = catch_unwind(AssertUnwindSafe(|| self.after_callback()));
        // The first panic is the one to raise.
        drop(attended);
        resume_unwind(payload);
    }
}

/// What a callback threw.
pub struct Panic(pub(crate) Payload);

impl Panic {
    /// The text of the panic, as far as it has one.
    #[must_use]
    pub fn message(&self) -> &str {
        panic_message(&*self.0)
    }
}

impl fmt::Debug for Panic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Panic").field(&self.message()).finish()
    }
}

/// Who threw a panic, for the report.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Culprit {
    id: Option<TickId>,
    name: String,
    world: Option<String>,
    fix: &'static str,
}

impl Culprit {
    /// A culprit by name, and what to do about its panics.
    #[must_use]
    pub fn new(name: impl Into<String>, fix: &'static str) -> Self {
        Culprit {
            id: None,
            name: name.into(),
            world: None,
            fix,
        }
    }

    /// The same, naming its world.
    #[must_use]
    pub fn world(mut self, name: impl Into<String>) -> Self {
        self.world = Some(name.into());
        self
    }
}

impl<H> Runtime<H> {
    /// An object as a culprit, while it still has its world.
    pub(crate) fn culprit(&self, slot: u32) -> Culprit {
        let home = self.slots.cold[slot as usize].home;
        Culprit {
            id: Some(self.slots.id(slot)),
            name: self.slots.name(slot),
            world: home.and_then(|home| self.world_name(home)),
            fix: ReportKind::Panicked.fix(),
        }
    }

    /// A world's name, for reports; `None` when it is gone.
    ///
    /// ```
    /// # use sc_core::{Runtime, WorldKind};
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// let world = rt.cx(&mut host).create_world(WorldKind::Game)?;
    /// assert_eq!(rt.world_name(world).as_deref(), Some("game 1"));
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    #[must_use]
    pub fn world_name(&self, world: WorldId) -> Option<String> {
        self.worlds.get(world).map(|w| w.name.clone().into_owned())
    }
}

/// The text of a panic, as far as it has one.
pub(crate) fn panic_message(payload: &(dyn std::any::Any + Send)) -> &str {
    payload
        .downcast_ref::<&'static str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("(no message)")
}
