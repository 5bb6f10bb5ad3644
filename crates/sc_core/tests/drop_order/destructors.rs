//! Destructors that drop other owners, and destructors that panic.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::*;
use sc_core::PanicPolicy;

/// `a` holds the owner of `b`, which holds the owner of `c`; the owner of `a` is returned.
fn chain(t: &mut TestWorld<Lab>, world: WorldId) -> Owner<Probe> {
    let c = spawn(t, world, "c");
    let b = t.host.probe("b").holding(c);
    let b = t.cx().spawn_in(world, b).unwrap();
    let a = t.host.probe("a").holding(b);
    t.cx().spawn_in(world, a).unwrap()
}

#[test]
fn a_destructor_that_drops_another_owner_leaves_that_one_to_the_next_end() {
    let (mut t, world) = lab();
    let happened = Rc::clone(&t.host.happened);
    let a = chain(&mut t, world);
    take(&happened);
    drop(a);
    t.tick(0.1);
    assert_eq!(named(&t.reports, ReportKind::OwnerDropped), ["a"]);
    let dropped = |h: Vec<(&'static str, &'static str)>| h.last().copied();
    assert_eq!(dropped(take(&happened)), Some(("a", "drop")));
    t.tick(0.1);
    assert_eq!(named(&t.reports, ReportKind::OwnerDropped), ["b"]);
    // Its owner went in the last `End`: it does not tick any more, though `c` still does.
    assert_eq!(
        take(&happened),
        [("c", "tick"), ("c", "ticked"), ("b", "drop")]
    );
    t.tick(0.1);
    assert_eq!(named(&t.reports, ReportKind::OwnerDropped), ["c"]);
    assert_eq!(take(&happened), [("c", "drop")]);
    t.tick(0.1);
    assert_eq!(take(&happened), []);
    assert_eq!(t.reports.take(), []);
}

#[test]
fn a_dropped_runtime_drops_a_chain_of_owners_once_and_reports_each_once() {
    let (mut t, world) = lab();
    let happened = Rc::clone(&t.host.happened);
    let a = chain(&mut t, world);
    drop(t.rt);
    let mut reported = named(&t.reports, ReportKind::RuntimeDropped);
    reported.sort();
    assert_eq!(reported, ["a", "b", "c"]);
    drop(a);
    assert_eq!(drops(&happened, &["a", "b", "c"]), [1, 1, 1]);
    assert_eq!(t.reports.take(), []);
}

#[test]
fn a_shut_down_runtime_drops_a_chain_of_owners_once_and_reports_none() {
    let (mut t, world) = lab();
    let happened = Rc::clone(&t.host.happened);
    let a = chain(&mut t, world);
    take(&happened);
    t.rt.shutdown(&mut t.host);
    let newest_first = [("a", "shutdown"), ("b", "shutdown"), ("c", "shutdown")];
    assert_eq!(take(&happened), newest_first);
    drop(a);
    drop(t.rt);
    assert_eq!(drops(&happened, &["a", "b", "c"]), [1, 1, 1]);
    assert_eq!(t.reports.take(), []);
}

#[test]
fn an_object_that_holds_its_own_owner_goes_with_the_runtime() {
    let (mut t, world) = lab();
    let happened = Rc::clone(&t.host.happened);
    let owner = spawn(&mut t, world, "a");
    let key = owner.key();
    t.cx().get_mut(key).unwrap().holds.push(owner);
    t.tick(0.1);
    drop(t.rt);
    assert_eq!(named(&t.reports, ReportKind::RuntimeDropped), ["a"]);
    assert_eq!(drops(&happened, &["a"]), [1]);
}

#[test]
fn a_destructor_that_drops_an_owner_in_a_callback_is_as_any_owner_dropped_there() {
    let (mut t, world) = lab();
    let happened = Rc::clone(&t.host.happened);
    let victim = spawn(&mut t, world, "victim");
    let holder = t.host.probe("holder").holding(victim);
    let mut holder = Some(holder);
    let probe = t.host.probe("a").on_tick(move |_| drop(holder.take()));
    let a = t.cx().spawn_in(world, probe).unwrap();
    take(&happened);
    t.tick(0.1);
    assert_eq!(
        take(&happened),
        [
            ("victim", "tick"),
            ("victim", "ticked"),
            ("a", "tick"),
            ("holder", "drop"),
            ("a", "ticked"),
            ("victim", "drop")
        ]
    );
    assert_eq!(named(&t.reports, ReportKind::OwnerDropped), ["victim"]);
    drop(a);
}

#[test]
fn a_destructor_that_panics_stops_no_other_and_the_next_frame_works() {
    for policy in [PanicPolicy::Propagate, PanicPolicy::Isolate] {
        let (mut t, world) = lab();
        t.rt.set_panic_policy(policy);
        let happened = Rc::clone(&t.host.happened);
        let stays = spawn(&mut t, world, "stays");
        let bomb = t.host.probe("bomb").panicking_when_dropped();
        let bomb = t.cx().spawn(bomb);
        let probe = t.host.probe("after");
        let after = t.cx().spawn(probe);
        take(&happened);
        drop((bomb, after));
        let frame = catch_unwind(AssertUnwindSafe(|| t.tick(0.1)));
        let mut events = take(&happened);
        events.retain(|e| e.1 == "drop");
        events.sort_unstable();
        assert_eq!(events, [("after", "drop"), ("bomb", "drop")]);
        if policy == PanicPolicy::Propagate {
            assert!(frame.is_err());
            assert_eq!(t.reports.take(), []);
        } else {
            assert!(frame.is_ok());
            assert_eq!(named(&t.reports, ReportKind::Panicked), ["bomb"]);
        }
        t.tick(0.1);
        assert_eq!(take(&happened), [("stays", "tick"), ("stays", "ticked")]);
        assert_eq!(stays.shutdown(&mut t.cx()), Ok(true));
    }
}

#[test]
fn an_object_refused_by_a_dead_world_is_dropped_once() {
    let (mut t, world) = lab();
    let happened = Rc::clone(&t.host.happened);
    t.cx().destroy_world(world);
    let probes = ["a", "b", "c"].map(|name| t.host.probe(name));
    let [a, b, c] = probes;
    let mut cx = t.cx();
    assert!(cx.spawn_in(world, a).is_err());
    assert!(cx.spawn_batched(world, b).is_err());
    assert!(cx.spawn_world_owned(world, c).is_err());
    let mut reported = named(&t.reports, ReportKind::NoLiveWorld);
    reported.sort();
    assert_eq!(reported, ["a", "b", "c"]);
    t.tick(0.1);
    assert_eq!(drops(&happened, &["a", "b", "c"]), [1, 1, 1]);
    drop(t.rt);
    assert_eq!(drops(&happened, &["a", "b", "c"]), [1, 1, 1]);
    assert_eq!(t.reports.take(), []);
}
