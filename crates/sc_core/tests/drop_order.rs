//! Drop order: who may go before whom, where destructors run, and that each runs once.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    unreachable_pub
)]

#[path = "drop_order/callbacks.rs"]
mod callbacks;
#[path = "drop_order/destructors.rs"]
mod destructors;
#[path = "drop_order/inbox.rs"]
mod inbox;
#[path = "drop_order/runtime.rs"]
mod runtime;

use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;
use std::thread::{self, ThreadId};

use sc_core::testing::{ReportLog, TestWorld};
use sc_core::{Cx, Owner, Report, ReportKind, Runtime, Tickable, WorldId, WorldKind};

/// What happened to a probe: `tick`, `drop` and so on, with its name.
type Happened = Rc<RefCell<Vec<(&'static str, &'static str)>>>;

/// The host: owners to drop from anywhere, and a log that outlives everything.
#[derive(Default)]
struct Lab {
    owners: Vec<Owner<Probe>>,
    happened: Happened,
    /// On which threads objects were dropped.
    dropped_on: Rc<RefCell<Vec<ThreadId>>>,
}

type Callback = Box<dyn FnMut(&mut Cx<'_, Lab>)>;

/// Not `Send`, and says when it goes.
struct Probe {
    name: &'static str,
    happened: Happened,
    dropped_on: Rc<RefCell<Vec<ThreadId>>>,
    on_initialize: Option<Callback>,
    on_tick: Option<Callback>,
    on_shutdown: Option<Callback>,
    /// Owners it holds, which go with it.
    holds: Vec<Owner<Probe>>,
    panics_when_dropped: bool,
}

impl Lab {
    fn probe(&self, name: &'static str) -> Probe {
        Probe {
            name,
            happened: Rc::clone(&self.happened),
            dropped_on: Rc::clone(&self.dropped_on),
            on_initialize: None,
            on_tick: None,
            on_shutdown: None,
            holds: Vec::new(),
            panics_when_dropped: false,
        }
    }
}

impl Probe {
    fn on_initialize(mut self, f: impl FnMut(&mut Cx<'_, Lab>) + 'static) -> Self {
        self.on_initialize = Some(Box::new(f));
        self
    }

    fn on_tick(mut self, f: impl FnMut(&mut Cx<'_, Lab>) + 'static) -> Self {
        self.on_tick = Some(Box::new(f));
        self
    }

    fn on_shutdown(mut self, f: impl FnMut(&mut Cx<'_, Lab>) + 'static) -> Self {
        self.on_shutdown = Some(Box::new(f));
        self
    }

    fn holding(mut self, owner: Owner<Probe>) -> Self {
        self.holds.push(owner);
        self
    }

    fn panicking_when_dropped(mut self) -> Self {
        self.panics_when_dropped = true;
        self
    }

    fn says(&self, what: &'static str) {
        self.happened.borrow_mut().push((self.name, what));
    }
}

impl Tickable<Lab> for Probe {
    fn initialize(&mut self, cx: &mut Cx<'_, Lab>) {
        self.says("initialize");
        if let Some(f) = &mut self.on_initialize {
            f(cx);
        }
    }
    fn tick(&mut self, cx: &mut Cx<'_, Lab>) {
        self.says("tick");
        if let Some(f) = &mut self.on_tick {
            f(cx);
        }
        // Storage lives until the call has returned.
        self.says("ticked");
    }
    fn shutdown(&mut self, cx: &mut Cx<'_, Lab>) {
        self.says("shutdown");
        if let Some(f) = &mut self.on_shutdown {
            f(cx);
        }
    }
    fn name(&self) -> Cow<'static, str> {
        self.name.into()
    }
}

impl Drop for Probe {
    fn drop(&mut self) {
        self.says("drop");
        self.dropped_on.borrow_mut().push(thread::current().id());
        if self.panics_when_dropped {
            // Without the message of the panic hook.
            std::panic::resume_unwind(Box::new("in a destructor"));
        }
    }
}

fn lab() -> (TestWorld<Lab>, WorldId) {
    let t = TestWorld::new(Lab::default());
    let world = t.world;
    (t, world)
}

fn spawn(t: &mut TestWorld<Lab>, world: WorldId, name: &'static str) -> Owner<Probe> {
    let probe = t.host.probe(name);
    t.cx().spawn_in(world, probe).unwrap()
}

/// What happened since the last call.
fn take(happened: &Happened) -> Vec<(&'static str, &'static str)> {
    happened.take()
}

/// The names in the reports since the last call, all of which are of one kind.
#[track_caller]
fn named(reports: &ReportLog, kind: ReportKind) -> Vec<String> {
    let named = |report: Report| {
        assert_eq!(report.kind, kind, "{report}");
        report.object.unwrap()
    };
    reports.take().into_iter().map(named).collect()
}

/// How often each of these was dropped, over all that happened.
fn drops(happened: &Happened, names: &[&str]) -> Vec<usize> {
    let happened = happened.borrow();
    let count = |name: &&str| happened.iter().filter(|h| h == &&(*name, "drop")).count();
    names.iter().map(count).collect()
}

/// The default world of a runtime that is made by hand, so that it can be dropped at will.
fn bare() -> (Runtime<Lab>, Lab, WorldId, ReportLog) {
    let (mut rt, mut lab) = (Runtime::new(), Lab::default());
    let reports = ReportLog::of(&mut rt);
    let world = rt.cx(&mut lab).create_world(WorldKind::Game).unwrap();
    (rt, lab, world, reports)
}
