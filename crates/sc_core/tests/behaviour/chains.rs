//! Shutdowns that lead to others, and many at once: each runs its event, none is reported as forgotten, and no
//! number of them is too large for the stack.

use std::panic::{AssertUnwindSafe, catch_unwind};

use sc_core::testing::{ReportLog, TestWorld};
use sc_core::{Cx, Extension, Owner, PanicPolicy, Runtime, Stage, Tickable};

/// The host: what was shut down, and what hooks drop.
#[derive(Default)]
struct Game {
    ended: Vec<u32>,
    held: Vec<Owner<Link>>,
    /// Its objects do more than end.
    busy: bool,
}

/// Holds the next one, and lets go of it when it is shut down.
struct Link {
    number: u32,
    next: Option<Owner<Link>>,
}

impl Tickable<Game> for Link {
    fn shutdown(&mut self, cx: &mut Cx<'_, Game>) {
        cx.host_mut().ended.push(self.number);
        self.next = None;
        if cx.host().busy {
            // A callback in this one, between whose end and the next others are shut down.
            let other = cx.spawn_worldless(Other);
            cx.initialize(&other, None).unwrap();
            cx.shutdown(&other).unwrap();
        }
    }
}

struct Other;

impl Tickable<Game> for Other {}

/// A chain, the first of which is given back.
fn chain(t: &mut TestWorld<Game>, links: u32) -> Owner<Link> {
    let world = t.world;
    let mut next = None;
    for number in (0..links).rev() {
        let link = Link { number, next };
        let owner = t.cx().spawn_in(world, link).unwrap().shutdown_on_drop();
        next = Some(owner);
    }
    next.unwrap()
}

fn game() -> TestWorld<Game> {
    TestWorld::new(Game::default())
}

fn let_go(cx: &mut Cx<'_, Game>) {
    let held = std::mem::take(&mut cx.host_mut().held);
    drop(held);
}

#[test]
fn a_chain_that_begins_in_any_stage_runs_to_its_end() {
    for stage in Stage::ALL {
        let mut t = game();
        t.cx()
            .install(Extension::new("lets go").on_runtime_stage(stage, let_go));
        let first = chain(&mut t, 25);
        t.host.held.push(first);
        t.tick(0.1);
        t.tick(0.1);
        assert_eq!(t.host.ended, (0..25).collect::<Vec<_>>(), "{stage:?}");
        assert!(t.reports.take().is_empty(), "{stage:?}");
    }
}

#[test]
fn a_chain_that_begins_with_its_world_s_end_runs_to_its_end() {
    let mut t = game();
    let first = chain(&mut t, 3);
    // The newest object of the world goes first, and takes the others along.
    let world = t.world;
    let holder = Link {
        number: 99,
        next: Some(first),
    };
    let _holder = t.cx().spawn_in(world, holder).unwrap();
    t.cx().destroy_world(world);
    t.tick(0.1);
    assert_eq!(t.host.ended, [99, 0, 1, 2]);
    assert!(t.reports.take().is_empty());
}

#[test]
fn a_chain_that_begins_with_the_runtime_s_end_runs_to_its_end() {
    let (mut rt, mut host) = (Runtime::<Game>::new(), Game::default());
    let reports = ReportLog::of(&mut rt);
    let mut cx = rt.cx(&mut host);
    let mut next = None;
    for number in (0..3).rev() {
        let owner = cx.spawn_worldless(Link { number, next }).shutdown_on_drop();
        cx.initialize(&owner, None).unwrap();
        next = Some(owner);
    }
    let holder = cx.spawn_worldless(Link { number: 99, next });
    cx.initialize(&holder, None).unwrap();
    rt.shutdown(&mut host);
    assert_eq!(host.ended, [99, 0, 1, 2]);
    assert!(reports.take().is_empty());
}

#[test]
fn however_many_go_at_once_the_stack_holds() {
    let mut t = game();
    let world = t.world;
    for number in 0..50_000 {
        let link = Link { number, next: None };
        let owner = t.cx().spawn_in(world, link).unwrap().shutdown_on_drop();
        t.host.held.push(owner);
    }
    t.host.held.clear();
    t.tick(0.1);
    assert_eq!(t.host.ended.len(), 50_000);
    assert!(
        t.host.ended.is_sorted(),
        "in the order in which the owners went"
    );
    assert!(t.reports.take().is_empty());
}

#[test]
fn however_long_a_chain_is_the_stack_holds() {
    let mut t = game();
    for busy in [false, true] {
        t.host.busy = busy;
        let first = chain(&mut t, 50_000);
        drop(first);
        t.tick(0.1);
        assert_eq!(std::mem::take(&mut t.host.ended).len(), 50_000);
        assert!(t.reports.take().is_empty());
    }
}

/// One that panics when it is shut down.
struct Bomb;

impl Tickable<Game> for Bomb {
    fn shutdown(&mut self, _: &mut Cx<'_, Game>) {
        panic!("boom");
    }
}

#[test]
fn one_that_panics_keeps_it_from_no_other() {
    let mut t = game();
    t.rt.set_panic_policy(PanicPolicy::Propagate);
    let world = t.world;
    let first = chain(&mut t, 2);
    let bomb = t.cx().spawn_in(world, Bomb).unwrap().shutdown_on_drop();
    let other = chain(&mut t, 1);
    drop((first, bomb, other));
    let frame = catch_unwind(AssertUnwindSafe(|| t.rt.tick_secs(&mut t.host, 0.1)));
    let payload = frame.expect_err("the panic is the host's to see");
    assert_eq!(payload.downcast_ref::<&str>(), Some(&"boom"));
    assert_eq!(t.host.ended, [0, 0, 1]);
    t.tick(0.1);
    assert!(t.reports.take().is_empty());
}
