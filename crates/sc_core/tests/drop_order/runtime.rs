//! The runtime before its owners, and the owners before the runtime.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use super::*;
use sc_core::TickError;

#[test]
fn a_dropped_runtime_reports_each_object_still_initialized_once_and_calls_nothing() {
    let (mut rt, mut lab, world, reports) = bare();
    let happened = Rc::clone(&lab.happened);
    let [a, b, c, d] = ["a", "b", "c", "d"].map(|name| lab.probe(name));
    let mut cx = rt.cx(&mut lab);
    let running = cx.spawn_in(world, a).unwrap();
    let never_initialized = cx.spawn(b);
    let shut_down = cx.spawn_in(world, c).unwrap();
    let worldless = cx.spawn_worldless(d);
    cx.initialize(&worldless, None).unwrap();
    cx.shutdown(&shut_down).unwrap();
    take(&happened);

    drop(rt);
    let mut reported = named(&reports, ReportKind::RuntimeDropped);
    reported.sort();
    assert_eq!(reported, ["a", "d"]);
    let events = take(&happened);
    assert!(events.iter().all(|e| e.1 == "drop"), "{events:?}");
    assert_eq!(events.len(), 4);

    // Owners dropped later are no-ops.
    drop((running, never_initialized, shut_down, worldless));
    assert_eq!(take(&happened), []);
    assert_eq!(reports.take(), []);
}

#[test]
fn objects_in_a_batch_are_reported_and_dropped_once_by_a_dropped_runtime() {
    let (mut rt, mut lab, world, reports) = bare();
    let happened = Rc::clone(&lab.happened);
    let probes = ["a", "b", "c"].map(|name| lab.probe(name));
    let mut cx = rt.cx(&mut lab);
    let owners = probes.map(|probe| cx.spawn_batched(world, probe).unwrap());
    rt.tick(&mut lab, Duration::from_millis(1)).unwrap();
    drop(rt);
    let mut reported = named(&reports, ReportKind::RuntimeDropped);
    reported.sort();
    assert_eq!(reported, ["a", "b", "c"]);
    assert_eq!(drops(&happened, &["a", "b", "c"]), [1, 1, 1]);
    drop(owners);
    assert_eq!(drops(&happened, &["a", "b", "c"]), [1, 1, 1]);
}

#[test]
fn owners_dropped_before_the_runtime_are_reported_once_if_initialized() {
    let (mut rt, mut lab, world, reports) = bare();
    let happened = Rc::clone(&lab.happened);
    let [a, b, c] = ["a", "b", "c"].map(|name| lab.probe(name));
    let mut cx = rt.cx(&mut lab);
    let running = cx.spawn_in(world, a).unwrap();
    let never_initialized = cx.spawn(b);
    let shut_down = cx.spawn_in(world, c).unwrap();
    cx.shutdown(&shut_down).unwrap();
    take(&happened);
    drop((running, never_initialized, shut_down));
    drop(rt);
    let reported: Vec<_> = reports.take().into_iter().map(|r| r.object).collect();
    assert_eq!(reported, [Some("a".to_owned())]);
    let mut events = take(&happened);
    events.sort_unstable();
    assert_eq!(events, [("a", "drop"), ("b", "drop"), ("c", "drop")]);
}

#[test]
fn owners_dropped_before_a_frame_are_reported_in_its_end_and_freed() {
    let (mut t, world) = lab();
    let happened = Rc::clone(&t.host.happened);
    let running = spawn(&mut t, world, "a");
    let probe = t.host.probe("b");
    let never_initialized = t.cx().spawn(probe);
    let shut_down = spawn(&mut t, world, "c");
    shut_down.shutdown(&mut t.cx()).unwrap();
    take(&happened);
    drop((running, never_initialized, shut_down));
    assert_eq!(take(&happened), [], "not before the next `End`");
    assert_eq!(t.tick(0.1).reports, 1);
    assert_eq!(named(&t.reports, ReportKind::OwnerDropped), ["a"]);
    let mut events = take(&happened);
    events.sort_unstable();
    assert_eq!(events, [("a", "drop"), ("b", "drop"), ("c", "drop")]);
    t.tick(0.1);
    drop(t.rt);
    assert_eq!(take(&happened), []);
    assert_eq!(t.reports.take(), []);
}

#[test]
fn an_owner_dropped_before_the_runtime_is_shut_down_gets_no_shutdown_event() {
    let (mut t, world) = lab();
    let happened = Rc::clone(&t.host.happened);
    let kept = spawn(&mut t, world, "kept");
    let gone = spawn(&mut t, world, "gone");
    take(&happened);
    drop(gone);
    t.rt.shutdown(&mut t.host);
    assert_eq!(take(&happened), [("kept", "shutdown"), ("gone", "drop")]);
    assert_eq!(named(&t.reports, ReportKind::OwnerDropped), ["gone"]);
    // What was shut down is the owner's to drop; afterwards an owner is a no-op.
    drop(kept);
    drop(t.rt);
    assert_eq!(take(&happened), [("kept", "drop")]);
    assert_eq!(t.reports.take(), []);
}

#[test]
fn the_key_and_owner_of_a_dropped_runtime_mean_nothing_to_another() {
    let (mut rt, mut lab, world, _reports) = bare();
    let probe = lab.probe("a");
    let owner = rt.cx(&mut lab).spawn_in(world, probe).unwrap();
    drop(rt);
    let (mut other, mut other_lab, _, other_reports) = bare();
    let mut cx = other.cx(&mut other_lab);
    assert_eq!(owner.shutdown(&mut cx), Err(TickError::WrongRuntime));
    assert!(cx.get(&owner).is_err());
    drop(owner);
    other.tick(&mut other_lab, Duration::ZERO).unwrap();
    assert_eq!(other_reports.take(), []);
}

#[test]
fn an_owner_of_a_dropped_runtime_leaves_the_same_slot_of_another_alone() {
    let (mut rt, mut lab, world, _reports) = bare();
    let probe = lab.probe("a");
    let owner = rt.cx(&mut lab).spawn_in(world, probe).unwrap();
    let (mut other, mut other_lab, other_world, other_reports) = bare();
    let probe = other_lab.probe("b");
    let mut cx = other.cx(&mut other_lab);
    let stays = cx.spawn_in(other_world, probe).unwrap();
    drop(rt);
    drop(owner);
    other.tick(&mut other_lab, Duration::ZERO).unwrap();
    assert_eq!(other_reports.take(), []);
    assert!(other.cx(&mut other_lab).is_initialized(&stays));
}

#[test]
fn a_host_that_holds_owners_may_go_before_or_after_the_runtime() {
    for host_first in [false, true] {
        let (mut rt, mut lab, world, reports) = bare();
        let happened = Rc::clone(&lab.happened);
        let probe = lab.probe("a");
        let owner = rt.cx(&mut lab).spawn_in(world, probe).unwrap();
        lab.owners.push(owner);
        if host_first {
            drop(lab);
            drop(rt);
        } else {
            drop(rt);
            drop(lab);
        }
        assert_eq!(reports.take().len(), 1, "host first: {host_first}");
        assert_eq!(drops(&happened, &["a"]), [1]);
    }
}

#[test]
fn a_runtime_dropped_while_unwinding_still_reports_and_drops_once() {
    let (mut rt, mut lab, world, reports) = bare();
    let happened = Rc::clone(&lab.happened);
    let probe = lab.probe("a");
    let owner = rt.cx(&mut lab).spawn_in(world, probe).unwrap();
    let unwound = catch_unwind(AssertUnwindSafe(move || {
        // Dropped in reverse: first the owner, then the runtime.
        let _rt = rt;
        let _owner = owner;
        std::panic::resume_unwind(Box::new("the game has a bug"));
    }));
    assert!(unwound.is_err());
    assert_eq!(reports.take().len(), 1);
    assert_eq!(drops(&happened, &["a"]), [1]);
}

#[test]
fn what_a_world_owns_is_dropped_once_in_the_end_after_the_world_has_gone() {
    let (mut t, world) = lab();
    let happened = Rc::clone(&t.host.happened);
    let probes = ["a", "b"].map(|name| t.host.probe(name));
    let mut cx = t.cx();
    let [a, b] = probes.map(|probe| cx.spawn_world_owned(world, probe).unwrap());
    assert_eq!(cx.shutdown(a), Ok(true));
    assert!(cx.get(a).is_err());
    assert!(cx.destroy_world(world));
    assert!(cx.get(b).is_err());
    take(&happened);
    t.tick(0.1);
    let mut events = take(&happened);
    events.sort_unstable();
    assert_eq!(events, [("a", "drop"), ("b", "drop")]);
    t.tick(0.1);
    drop(t.rt);
    assert_eq!(take(&happened), []);
    assert_eq!(t.reports.take(), []);
}

#[test]
fn what_a_world_owns_is_reported_and_dropped_with_a_dropped_runtime() {
    let (mut rt, mut lab, world, reports) = bare();
    let happened = Rc::clone(&lab.happened);
    let probe = lab.probe("a");
    rt.cx(&mut lab).spawn_world_owned(world, probe).unwrap();
    drop(rt);
    assert_eq!(named(&reports, ReportKind::RuntimeDropped), ["a"]);
    assert_eq!(take(&happened), [("a", "initialize"), ("a", "drop")]);
}
