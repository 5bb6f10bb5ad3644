//! Owners dropped in callbacks, and on unwinding out of them.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::*;
use sc_core::{PanicPolicy, TickError};

/// Drops every owner the host holds.
fn drop_owners(cx: &mut Cx<'_, Lab>) {
    drop(std::mem::take(&mut cx.host_mut().owners));
}

#[test]
fn an_owner_dropped_in_the_own_tick_lets_the_call_finish_and_goes_in_the_end() {
    let (mut t, world) = lab();
    let happened = Rc::clone(&t.host.happened);
    let probe = t.host.probe("a").on_tick(|cx| {
        let me = cx.current_object().unwrap();
        drop_owners(cx);
        assert_eq!(cx.initialize(me, cx.world()), Err(TickError::Gone));
        assert_eq!(cx.shutdown(me), Ok(false));
    });
    let owner = t.cx().spawn_in(world, probe).unwrap();
    t.host.owners.push(owner);
    take(&happened);
    t.tick(0.1);
    assert_eq!(
        take(&happened),
        [("a", "tick"), ("a", "ticked"), ("a", "drop")]
    );
    assert_eq!(named(&t.reports, ReportKind::OwnerDropped), ["a"]);
    t.tick(0.1);
    assert_eq!(take(&happened), []);
    assert_eq!(t.reports.take(), []);
}

#[test]
fn an_owner_dropped_in_the_tick_of_another_lets_its_object_tick_no_more() {
    for batched in [false, true] {
        let (mut t, world) = lab();
        let happened = Rc::clone(&t.host.happened);
        let first = t.host.probe("first").on_tick(drop_owners);
        let second = t.host.probe("second");
        let mut cx = t.cx();
        let (first, second) = if batched {
            (
                cx.spawn_batched(world, first).unwrap(),
                cx.spawn_batched(world, second).unwrap(),
            )
        } else {
            (
                cx.spawn_in(world, first).unwrap(),
                cx.spawn_in(world, second).unwrap(),
            )
        };
        t.host.owners.push(second);
        take(&happened);
        t.tick(0.1);
        assert_eq!(
            take(&happened),
            [("first", "tick"), ("first", "ticked"), ("second", "drop")],
            "batched: {batched}"
        );
        assert_eq!(named(&t.reports, ReportKind::OwnerDropped), ["second"]);
        assert_eq!(first.shutdown(&mut t.cx()), Ok(true));
    }
}

#[test]
fn an_owner_dropped_in_a_later_tick_than_its_objects_own_is_reported_in_the_same_frame() {
    let (mut t, world) = lab();
    let happened = Rc::clone(&t.host.happened);
    let first = spawn(&mut t, world, "first");
    t.host.owners.push(first);
    let second = t.host.probe("second").on_tick(drop_owners);
    let second = t.cx().spawn_in(world, second).unwrap();
    take(&happened);
    t.tick(0.1);
    assert_eq!(
        take(&happened),
        [
            ("first", "tick"),
            ("first", "ticked"),
            ("second", "tick"),
            ("second", "ticked"),
            ("first", "drop")
        ]
    );
    assert_eq!(named(&t.reports, ReportKind::OwnerDropped), ["first"]);
    drop(second);
}

#[test]
fn an_owner_dropped_in_the_own_initialize_event_goes_in_the_next_end() {
    let (mut t, world) = lab();
    let happened = Rc::clone(&t.host.happened);
    let probe = t.host.probe("a").on_initialize(drop_owners);
    let owner = t.cx().spawn(probe);
    let key = owner.key();
    t.host.owners.push(owner);
    // The event ran; it is nobody's fault but the owner's that the object is gone.
    assert_eq!(t.cx().initialize(key, world), Ok(()));
    assert!(!t.cx().is_initialized(key));
    t.tick(0.1);
    assert_eq!(take(&happened), [("a", "initialize"), ("a", "drop")]);
    assert_eq!(named(&t.reports, ReportKind::OwnerDropped), ["a"]);
}

#[test]
fn an_owner_dropped_in_the_initialize_event_of_another_goes_in_the_next_end() {
    let (mut t, world) = lab();
    let happened = Rc::clone(&t.host.happened);
    let first = spawn(&mut t, world, "first");
    t.host.owners.push(first);
    let second = t.host.probe("second").on_initialize(drop_owners);
    let second = t.cx().spawn_in(world, second).unwrap();
    take(&happened);
    t.tick(0.1);
    assert_eq!(
        take(&happened),
        [("second", "tick"), ("second", "ticked"), ("first", "drop")]
    );
    assert_eq!(named(&t.reports, ReportKind::OwnerDropped), ["first"]);
    drop(second);
}

#[test]
fn an_owner_dropped_in_the_own_shutdown_event_is_not_reported() {
    let (mut t, world) = lab();
    let happened = Rc::clone(&t.host.happened);
    let probe = t.host.probe("a").on_shutdown(drop_owners);
    let owner = t.cx().spawn_in(world, probe).unwrap();
    let key = owner.key();
    t.host.owners.push(owner);
    take(&happened);
    assert_eq!(t.cx().shutdown(key), Ok(true));
    assert_eq!(take(&happened), [("a", "shutdown")]);
    t.tick(0.1);
    assert_eq!(take(&happened), [("a", "drop")]);
    assert_eq!(t.reports.take(), []);
}

#[test]
fn an_owner_dropped_in_the_shutdown_event_of_another_gets_no_shutdown_event() {
    let (mut t, world) = lab();
    let happened = Rc::clone(&t.host.happened);
    let first = spawn(&mut t, world, "first");
    t.host.owners.push(first);
    let second = t.host.probe("second").on_shutdown(drop_owners);
    let second = t.cx().spawn_in(world, second).unwrap();
    take(&happened);
    // Newest first: `second` is shut down before its neighbour, which dies of it.
    assert!(t.cx().destroy_world(world));
    assert_eq!(take(&happened), [("second", "shutdown")]);
    t.tick(0.1);
    assert_eq!(take(&happened), [("first", "drop")]);
    assert_eq!(named(&t.reports, ReportKind::OwnerDropped), ["first"]);
    drop(second);
}

#[test]
fn an_object_spawned_and_dropped_in_one_callback_is_initialized_and_goes_in_this_end() {
    let (mut t, world) = lab();
    let happened = Rc::clone(&t.host.happened);
    let probe = t.host.probe("a").on_tick(move |cx| {
        let short = cx.host().probe("short");
        drop(cx.spawn_in(world, short).unwrap());
    });
    let owner = t.cx().spawn_in(world, probe).unwrap();
    take(&happened);
    t.tick(0.1);
    assert_eq!(
        take(&happened),
        [
            ("a", "tick"),
            ("short", "initialize"),
            ("a", "ticked"),
            ("short", "drop")
        ]
    );
    assert_eq!(named(&t.reports, ReportKind::OwnerDropped), ["short"]);
    drop(owner);
}

#[test]
fn an_owner_dropped_by_a_panic_in_a_callback_is_reported_once() {
    for policy in [PanicPolicy::Propagate, PanicPolicy::Isolate] {
        let (mut t, world) = lab();
        t.rt.set_panic_policy(policy);
        let happened = Rc::clone(&t.host.happened);
        let probe = t.host.probe("bomb").on_tick(move |cx| {
            let local = cx.host().probe("local");
            let _local = cx.spawn_in(world, local).unwrap();
            resume_unwind(Box::new("scripted"));
        });
        let bomb = t.cx().spawn_in(world, probe).unwrap();
        take(&happened);
        let frame = catch_unwind(AssertUnwindSafe(|| t.tick(0.1)));
        assert_eq!(frame.is_err(), policy == PanicPolicy::Propagate);
        assert_eq!(
            take(&happened),
            [("bomb", "tick"), ("local", "initialize"), ("local", "drop")]
        );
        let dropped = t.reports.take();
        let of_kind = |kind| dropped.iter().filter(|r| r.kind == kind).count();
        assert_eq!(of_kind(ReportKind::OwnerDropped), 1, "{dropped:?}");
        let caught = usize::from(policy == PanicPolicy::Isolate);
        assert_eq!(of_kind(ReportKind::Panicked), caught, "{dropped:?}");

        // The one that panicked is uninitialized: its owner's drop is silent.
        assert!(!t.cx().is_initialized(&bomb));
        drop(bomb);
        t.tick(0.1);
        assert_eq!(take(&happened), [("bomb", "drop")]);
        assert_eq!(t.reports.take(), []);
    }
}

#[test]
fn an_owner_dropped_while_the_host_unwinds_is_reported_in_the_next_end() {
    let (mut t, world) = lab();
    let happened = Rc::clone(&t.host.happened);
    let owner = spawn(&mut t, world, "a");
    take(&happened);
    let unwound = catch_unwind(AssertUnwindSafe(move || {
        let _owner = owner;
        resume_unwind(Box::new("the game has a bug"));
    }));
    assert!(unwound.is_err());
    t.tick(0.1);
    assert_eq!(take(&happened), [("a", "drop")]);
    assert_eq!(named(&t.reports, ReportKind::OwnerDropped), ["a"]);
}

#[test]
fn an_object_taken_out_by_with_outlives_its_owner_until_the_call_returns() {
    let (mut t, world) = lab();
    let happened = Rc::clone(&t.host.happened);
    let owner = spawn(&mut t, world, "a");
    let key = owner.key();
    t.host.owners.push(owner);
    take(&happened);
    let reached = t.cx().with(key, |probe, cx| {
        drop_owners(cx);
        assert_eq!(cx.get(key).err(), Some(TickError::Gone));
        probe.says("still here");
    });
    assert_eq!(reached, Ok(()));
    t.tick(0.1);
    assert_eq!(take(&happened), [("a", "still here"), ("a", "drop")]);
    assert_eq!(named(&t.reports, ReportKind::OwnerDropped), ["a"]);
}
