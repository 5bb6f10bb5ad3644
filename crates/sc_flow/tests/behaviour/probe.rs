//! What the behaviour tests share: the game they run in, its log, and futures to wake by hand.

#![allow(
    dead_code,
    missing_docs,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic
)]

use std::cell::RefCell;
use std::fmt::Display;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::task::{Poll, Waker};

use sc_core::testing::TestWorld;
use sc_core::{Cx, Owner, ReportKind, Tickable, WorldId, WorldKind};
use sc_flow::{Flow, FlowCx, FlowError, FlowId};

/// What happened, in order, a line each.
#[derive(Clone, Debug, Default)]
pub struct Log(Rc<RefCell<Vec<String>>>);

impl Log {
    pub fn add(&self, line: impl Into<String>) {
        self.0.borrow_mut().push(line.into());
    }

    /// The lines so far, leaving none.
    pub fn take(&self) -> Vec<String> {
        self.0.take()
    }
}

/// The host of these tests.
#[derive(Default)]
pub struct Game {
    pub log: Log,
    pub open: bool,
    pub flow: Option<FlowId>,
    pub things: Vec<Owner<Thing>>,
}

pub type C<'a> = Cx<'a, Game>;
pub type Test = TestWorld<Game>;

pub fn start() -> Test {
    TestWorld::new(Game::default())
}

pub fn world(t: &mut Test) -> WorldId {
    t.cx().create_world(WorldKind::Game).unwrap()
}

pub fn log(t: &Test) -> Vec<String> {
    t.host.log.take()
}

/// Logs a line with the number of the frame before it.
pub fn say(cx: &mut C<'_>, text: impl Display) {
    let line = format!("{}: {text}", cx.frame());
    cx.host().log.add(line);
}

/// Logs a line from inside a flow.
pub fn tell(fx: &FlowCx<Game>, text: impl Display) {
    fx.with(|cx| say(cx, text)).unwrap();
}

/// The names of the reports so far, leaving none.
pub fn reports(t: &Test) -> Vec<String> {
    let names = t.reports.take().into_iter().map(|r| match r.kind {
        ReportKind::Extension(kind) => kind.name.to_owned(),
        other => format!("{other:?}"),
    });
    names.collect()
}

/// Spawns an async flow in the test's world.
pub fn story<F>(t: &mut Test, name: &'static str, body: F) -> FlowId
where
    F: AsyncFnOnce(FlowCx<Game>) -> Result<(), FlowError> + 'static,
{
    let world = t.world;
    let flow = Flow::new(name).world(world);
    flow.spawn(&mut t.cx(), body).unwrap()
}

/// As [`story`], logging how it ends.
pub fn told_story<F>(t: &mut Test, name: &'static str, body: F) -> FlowId
where
    F: AsyncFnOnce(FlowCx<Game>) -> Result<(), FlowError> + 'static,
{
    let world = t.world;
    let flow = Flow::new(name).world(world);
    let flow = flow.on_finished(move |cx: &mut C<'_>, f| say(cx, format!("{name} {f:?}")));
    flow.spawn(&mut t.cx(), body).unwrap()
}

/// An object to bind flows to.
pub struct Thing;
impl Tickable<Game> for Thing {}

pub fn thing(t: &mut Test) -> Owner<Thing> {
    let world = t.world;
    t.cx().spawn_in(world, Thing).unwrap()
}

/// An object with a script for its tick.
pub struct Script(Box<dyn FnMut(&mut C<'_>)>);
impl Tickable<Game> for Script {
    fn tick(&mut self, cx: &mut C<'_>) {
        (self.0)(cx);
    }
}

pub fn on_tick(t: &mut Test, act: impl FnMut(&mut C<'_>) + 'static) -> Owner<Script> {
    let world = t.world;
    t.cx().spawn_in(world, Script(Box::new(act))).unwrap()
}

/// Logs that it is dropped.
pub struct Guard(pub Log, pub &'static str);
impl Drop for Guard {
    fn drop(&mut self) {
        self.0.add(format!("drop {}", self.1));
    }
}

pub fn guard(t: &Test, name: &'static str) -> Guard {
    Guard(t.host.log.clone(), name)
}

/// Something to wait for that is rung by hand, and tells the waker it was last polled with.
#[derive(Clone, Default)]
pub struct Bell(Rc<RefCell<(bool, Option<Waker>)>>);

impl Bell {
    pub fn ring(&self) {
        let waker = {
            let mut bell = self.0.borrow_mut();
            bell.0 = true;
            bell.1.take()
        };
        waker.into_iter().for_each(Waker::wake);
    }

    /// The waker that was left here.
    pub fn waker(&self) -> Option<Waker> {
        self.0.borrow().1.clone()
    }

    pub fn wait(&self) -> impl Future<Output = ()> + 'static {
        let bell = self.clone();
        poll_fn(move |context| {
            let mut bell = bell.0.borrow_mut();
            if std::mem::take(&mut bell.0) {
                return Poll::Ready(());
            }
            bell.1 = Some(context.waker().clone());
            Poll::Pending
        })
    }
}

/// Gives way once: wakes its flow and is pending.
pub fn yield_now() -> impl Future<Output = ()> {
    let mut has_yielded = false;
    poll_fn(move |context| {
        if has_yielded {
            return Poll::Ready(());
        }
        has_yielded = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
}

/// Runs something that panics, as a host that goes on would.
pub fn caught<R>(f: impl FnOnce() -> R) -> Option<String> {
    let payload = catch_unwind(AssertUnwindSafe(f)).err()?;
    let text = payload.downcast_ref::<&'static str>().copied();
    Some(text.unwrap_or("(no text)").to_owned())
}
