//! Helpers for tests: a world on a manual clock, and a log of reports.

use std::cell::RefCell;
use std::rc::Rc;

use crate::{Cx, FrameReport, Report, ReportKind, Runtime, Secs, WorldId, WorldKind};

/// The reports a runtime has made, kept for a test to look at.
///
/// ```
/// use sc_core::{Runtime, ReportKind, Tickable, testing::ReportLog};
/// # struct Lamp;
/// # impl Tickable<()> for Lamp {}
/// let (mut rt, mut host) = (Runtime::<()>::new(), ());
/// let reports = ReportLog::of(&mut rt);
/// let mut cx = rt.cx(&mut host);
/// let lamp = cx.spawn(Lamp);
/// assert!(cx.initialize(&lamp, None).is_err());
/// assert_eq!(reports.kinds(), [ReportKind::NoLiveWorld]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct ReportLog(Rc<RefCell<Vec<Report>>>);

impl ReportLog {
    /// Takes over the runtime's report handler.
    pub fn of<H>(rt: &mut Runtime<H>) -> Self {
        let log = ReportLog::default();
        let sink = Rc::clone(&log.0);
        rt.set_report_handler(move |report| sink.borrow_mut().push(report.clone()));
        log
    }

    /// The reports so far, leaving none.
    pub fn take(&self) -> Vec<Report> {
        self.0.take()
    }

    /// The kinds of the reports so far, leaving none.
    pub fn kinds(&self) -> Vec<ReportKind> {
        self.take().into_iter().map(|r| r.kind).collect()
    }
}

/// A runtime with one game world, a host, and a log of reports, moved by hand.
///
/// ```
/// use sc_core::{Cx, Tickable, testing::TestWorld};
/// struct Clicker;
/// impl Tickable<u32> for Clicker {
///     fn tick(&mut self, cx: &mut Cx<'_, u32>) { *cx.host_mut() += 1; }
/// }
/// let mut t = TestWorld::new(0_u32);
/// let world = t.world;
/// let clicker = t.cx().spawn_in(world, Clicker)?;
/// t.tick(0.1);
/// t.ticks(0.1, 2);
/// assert_eq!(t.host, 3);
/// # clicker.shutdown(&mut t.cx())?;
/// # Ok::<(), sc_core::Error>(())
/// ```
pub struct TestWorld<H: 'static> {
    /// The runtime.
    pub rt: Runtime<H>,
    /// The host.
    pub host: H,
    /// The game world.
    pub world: WorldId,
    /// The reports so far.
    pub reports: ReportLog,
}

impl<H> TestWorld<H> {
    /// A runtime with one game world.
    ///
    /// # Panics
    /// Never: a fresh runtime can create a world.
    #[allow(clippy::expect_used)]
    pub fn new(mut host: H) -> Self {
        let mut rt = Runtime::new();
        let reports = ReportLog::of(&mut rt);
        let world = rt.cx(&mut host).create_world(WorldKind::Game);
        TestWorld {
            world: world.expect("a fresh runtime can create a world"),
            rt,
            host,
            reports,
        }
    }

    /// The way to everything, outside callbacks.
    #[must_use]
    pub fn cx(&mut self) -> Cx<'_, H> {
        self.rt.cx(&mut self.host)
    }

    /// One frame.
    ///
    /// # Panics
    /// When the delta is no usable time, and when user code panics.
    #[allow(clippy::expect_used)]
    pub fn tick(&mut self, delta: impl Into<Secs>) -> FrameReport {
        let report = self.rt.tick_secs(&mut self.host, delta);
        report.expect("a test passes deltas that are usable, between frames")
    }

    /// Some frames of the same delta.
    ///
    /// # Panics
    /// As [`tick`](Self::tick).
    pub fn ticks(&mut self, delta: impl Into<Secs>, frames: u32) {
        let delta = delta.into();
        for _ in 0..frames {
            self.tick(delta);
        }
    }
}
