//! A report handler that panics: the panic goes on when everything is in order, and nothing is lost.
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use sc_core::testing::TestWorld;
use sc_core::{Cx, PanicPolicy, Runtime, Tickable, WorldKind};

struct Lamp(Rc<Cell<u32>>);

impl Tickable<u32> for Lamp {
    fn tick(&mut self, cx: &mut Cx<'_, u32>) {
        *cx.host_mut() += 1;
    }
}

impl Drop for Lamp {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
    }
}

struct Bomb;

impl Tickable<u32> for Bomb {
    fn tick(&mut self, _: &mut Cx<'_, u32>) {
        panic!("bomb");
    }
}

fn frame(t: &mut TestWorld<u32>) {
    t.tick(0.1);
}

fn message(outcome: std::thread::Result<()>) -> String {
    let payload = outcome.unwrap_err();
    payload.downcast_ref::<String>().unwrap().clone()
}

#[test]
fn the_dead_are_buried_all_the_same() {
    let mut t = TestWorld::new(0);
    let (world, dropped) = (t.world, Rc::new(Cell::new(0)));
    let lamps: Vec<_> = (0..2)
        .map(|_| t.cx().spawn_in(world, Lamp(Rc::clone(&dropped))).unwrap())
        .collect();
    t.rt.set_report_handler(|report| panic!("{}", report.kind.fix()));
    drop(lamps);
    let outcome = catch_unwind(AssertUnwindSafe(|| frame(&mut t)));
    assert_eq!(
        message(outcome),
        "call `owner.shutdown(cx)` before the owner goes"
    );
    assert_eq!(dropped.get(), 2);
    t.rt.set_report_handler(|_| {});
    t.tick(0.1);
    assert_eq!(t.rt.world_list()[0].objects, 0);
}

#[test]
fn the_rest_of_the_group_goes_on_ticking() {
    let mut t = TestWorld::new(0);
    let (world, dropped) = (t.world, Rc::new(Cell::new(0)));
    t.rt.set_panic_policy(PanicPolicy::Isolate);
    let _bomb = t.cx().spawn_in(world, Bomb).unwrap();
    let _lamp = t.cx().spawn_in(world, Lamp(dropped)).unwrap();
    t.rt.set_report_handler(|report| panic!("{report}"));
    let outcome = catch_unwind(AssertUnwindSafe(|| frame(&mut t)));
    assert!(message(outcome).starts_with("Bomb (world `game 1`): panicked: bomb"));
    assert_eq!(t.host, 1, "the frame went on");
    t.rt.set_report_handler(|_| {});
    t.tick(0.1);
    assert_eq!(t.host, 2);
}

#[test]
fn outside_frames_it_goes_on_at_once() {
    let (mut rt, mut host) = (Runtime::<u32>::new(), 0);
    rt.set_report_handler(|report| panic!("{}", report.what));
    let mut cx = rt.cx(&mut host);
    let world = cx.create_world(WorldKind::Game).unwrap();
    let bomb = cx.spawn_in(world, Bomb).unwrap();
    let outcome = catch_unwind(AssertUnwindSafe(|| drop(cx.initialize(&bomb, world))));
    assert_eq!(message(outcome), "initialized a second time");
    bomb.shutdown(&mut cx).unwrap();
}

#[test]
fn a_dropped_runtime_makes_all_its_reports() {
    let reports = Rc::new(Cell::new(0));
    let sink = Rc::clone(&reports);
    let mut t = TestWorld::new(0);
    let world = t.world;
    let _bombs: Vec<_> = (0..2)
        .map(|_| t.cx().spawn_in(world, Bomb).unwrap())
        .collect();
    t.rt.set_report_handler(move |report| {
        sink.set(sink.get() + 1);
        panic!("{}", report.what);
    });
    let outcome = catch_unwind(AssertUnwindSafe(|| drop(t)));
    assert_eq!(
        message(outcome),
        "the runtime was dropped while it was still initialized"
    );
    assert_eq!(reports.get(), 2);
}

#[test]
fn an_event_that_panics_outside_frames_leaves_its_object_uninitialized() {
    let mut t = TestWorld::new(0);
    let world = t.world;
    t.rt.set_panic_policy(PanicPolicy::Isolate);
    t.rt.set_report_handler(|report| panic!("{}", report.what));
    let early = t.cx().spawn(Early);
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let _ = t.cx().initialize(&early, world);
    }));
    assert_eq!(message(outcome), "panicked: early");
    assert!(!t.cx().is_initialized(&early));
    t.rt.set_report_handler(|_| {});
    assert!(t.cx().initialize(&early, world).is_err(), "it panics again");
}

struct Early;

impl Tickable<u32> for Early {
    fn initialize(&mut self, _: &mut Cx<'_, u32>) {
        panic!("early");
    }
}

#[test]
fn a_world_destroyed_inside_enter_has_ended_when_that_returns() {
    let mut t = TestWorld::new(0);
    let world = t.world;
    let mut cx = t.cx();
    let access = cx.access();
    let destroyed = cx.enter(|| access.with(|cx| cx.destroy_world(world)));
    assert_eq!(destroyed, Ok(true));
    assert!(cx.world_info(world).is_err());
}
