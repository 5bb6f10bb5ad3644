//! The `Cx`: what every callback gets, and everything a program does, it does through it.

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
    /// The host: the game's own state.
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
    #[must_use]
    pub fn frame(&self) -> u64 {
        self.rt.frame.number
    }

    /// The reading of the runtime's own clock: real time, whatever the worlds do. The sum of the
    /// real deltas.
    #[must_use]
    pub fn runtime_elapsed(&self) -> Duration {
        Duration::from_nanos(self.rt.clocks.elapsed(Clock::Real))
    }

    /// Drops the time that passed up to now from the next frame: for the end of loading. Its
    /// real delta is zero for all clocks, and what was dropped is in its [`FrameReport`].
    ///
    /// Deltas that the host makes for its worlds itself are not touched.
    ///
    /// [`FrameReport`]: crate::FrameReport
    pub fn forgive_elapsed(&mut self) {
        self.rt.frame.forgive = true;
    }

    /// Sends a report through the runtime's handler.
    pub fn report(&mut self, report: Report) {
        self.rt.send_report(report);
    }

    pub(crate) fn report_on(&mut self, slot: u32, report: Report) {
        self.rt.report_on(slot, report);
    }

    /// Calls user code in a scope, catching what it throws.
    pub(crate) fn guarded<R>(
        &mut self,
        scope: Scope,
        f: impl FnOnce(&mut Self) -> R,
    ) -> Result<R, Payload> {
        let outside = std::mem::replace(&mut self.scope, scope);
        let depth = self.rt.depth;
        self.rt.depth = depth + 1;
        let outcome = catch_unwind(AssertUnwindSafe(|| f(self)));
        self.rt.depth = depth;
        self.scope = outside;
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
    pub(crate) fn keep_or_report(&mut self, slot: u32, payload: Payload) -> Option<Payload> {
        if self.rt.panic_policy == PanicPolicy::Propagate {
            return Some(payload);
        }
        let what = format!("panicked: {}", panic_message(&*payload));
        let report = Report::new(ReportKind::Panicked, what);
        if slot == NOBODY {
            self.rt.send_report(report);
        } else {
            self.report_on(slot, report);
        }
        None
    }

    /// As [`keep_or_report`](Self::keep_or_report), raising it on the spot: after what must happen
    /// between two callbacks.
    pub(crate) fn settle_panic(&mut self, slot: u32, payload: Payload) {
        if self.rt.tearing_down {
            // Collected, so that one panic does not stop the rest of the teardown.
            if let Some(payload) = self.keep_or_report(slot, payload) {
                self.rt.teardown_panic.get_or_insert(payload);
            }
        } else if let Some(payload) = self.keep_or_report(slot, payload) {
            let attended = catch_unwind(AssertUnwindSafe(|| self.after_callback()));
            // The first panic is the one to raise.
            drop(attended);
            resume_unwind(payload);
        }
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
