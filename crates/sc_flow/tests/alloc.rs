//! What flows allocate: nothing a frame in steady state, at most once a spawned flow.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use allocation_counter::measure;
use sc_core::testing::TestWorld;
use sc_core::{Cx, secs};
use sc_flow::{
    DoForDuration, DriveControl, Flow, FlowCx, FlowExt, FlowId, ForEach, Step, WaitUntil,
};

type C<'a> = Cx<'a, u64>;

/// Allocations of a hundred frames, after two hundred to warm up.
fn a_hundred_frames(t: &mut TestWorld<u64>) -> u64 {
    t.ticks(0.25, 200);
    measure(|| t.ticks(0.25, 100)).count_total
}

#[test]
fn a_frame_without_flows_allocates_nothing() {
    let mut t = TestWorld::new(0);
    assert!(t.cx().flow_list().is_empty());
    assert_eq!(a_hundred_frames(&mut t), 0);
}

#[test]
fn a_frame_with_sleepers_allocates_nothing() {
    let mut t = TestWorld::new(0);
    let w = t.world;
    for _ in 0..1000 {
        let flow = Flow::new("sleeper").world(w);
        flow.spawn(&mut t.cx(), async |fx| fx.delay(1e6).await)
            .unwrap();
    }
    assert_eq!(a_hundred_frames(&mut t), 0);
}

#[test]
fn flows_that_wake_every_frame_allocate_nothing() {
    let mut t = TestWorld::new(0);
    let w = t.world;
    for _ in 0..100 {
        let flow = Flow::new("busy").world(w);
        let body = async |fx: sc_flow::FlowCx<u64>| {
            loop {
                fx.with(|cx| *cx.host_mut() += 1)?;
                fx.next_tick().await?;
            }
        };
        flow.spawn(&mut t.cx(), body).unwrap();
    }
    assert_eq!(a_hundred_frames(&mut t), 0);
    assert_eq!(t.host, 30_000);
}

#[test]
fn flows_that_sleep_and_wake_allocate_nothing() {
    let mut t = TestWorld::new(0);
    let w = t.world;
    for i in 0..100_u32 {
        let wait = secs(0.1 + f64::from(i) * 0.01);
        Flow::new("delay")
            .world(w)
            .spawn(&mut t.cx(), async move |fx| {
                loop {
                    fx.with(|cx| *cx.host_mut() += 1)?;
                    fx.delay(wait).await?;
                }
            })
            .unwrap();
        Flow::new("pace")
            .world(w)
            .spawn(&mut t.cx(), async move |fx| {
                let mut pace = fx.pace(wait)?;
                loop {
                    pace.next().await?;
                }
            })
            .unwrap();
        Flow::new("ticks")
            .world(w)
            .spawn(&mut t.cx(), async move |fx| {
                loop {
                    fx.ticks(3).await?;
                }
            })
            .unwrap();
    }
    assert_eq!(a_hundred_frames(&mut t), 0);
    assert!(t.host > 10_000);
}

#[test]
fn nodes_that_run_every_frame_or_sleep_allocate_nothing() {
    let mut t = TestWorld::new(0);
    let w = t.world;
    for delay in [0.0, 0.6] {
        ForEach::index(i64::MAX)
            .delay(delay)
            .each(|cx: &mut C<'_>, _| *cx.host_mut() += 1)
            .world(w)
            .start(&mut t.cx())
            .unwrap();
        WaitUntil::new(|cx: &mut C<'_>, _| {
            *cx.host_mut() += 1;
            false
        })
        .every(delay)
        .world(w)
        .start(&mut t.cx())
        .unwrap();
    }
    DoForDuration::new(1, |cx: &mut C<'_>, _, _| *cx.host_mut() += 1)
        .forever()
        .world(w)
        .start(&mut t.cx())
        .unwrap();
    ForEach::index(5)
        .each(|_: &mut C<'_>, _| Step::Suspend)
        .world(w)
        .start(&mut t.cx())
        .unwrap();
    t.cx().set_wait_until_warning(secs(0)).unwrap();
    t.cx().set_suspended_loop_warning(secs(0)).unwrap();
    assert_eq!(a_hundred_frames(&mut t), 0);
    assert!(t.host > 900);
}

#[test]
fn awaited_nodes_that_run_every_frame_or_sleep_allocate_nothing() {
    let mut t = TestWorld::new(0);
    let w = t.world;
    t.cx().set_wait_until_warning(secs(0)).unwrap();
    for delay in [0.0, 0.6] {
        Flow::new("loop")
            .world(w)
            .spawn(&mut t.cx(), async move |fx| {
                let body = async |_| fx.with(|cx| *cx.host_mut() += 1);
                fx.for_each_with_delay(i64::MAX, delay, body).await?;
                Ok(())
            })
            .unwrap();
        Flow::new("wait")
            .world(w)
            .spawn(&mut t.cx(), async move |fx| {
                fx.wait_until(|_, _| false).every(delay).await?;
                Ok(())
            })
            .unwrap();
    }
    Flow::new("drive")
        .world(w)
        .spawn(&mut t.cx(), async |fx| {
            let control = DriveControl::new();
            control.set_speed(1.5)?;
            let drive = fx.do_for_duration(1, |_, _, _| ());
            drive.control(&control).forever().await
        })
        .unwrap();
    Flow::new("changed")
        .world(w)
        .spawn(&mut t.cx(), async |fx| {
            fx.changed(|_| 7).await?;
            Ok(())
        })
        .unwrap();
    Flow::new("batches")
        .world(w)
        .spawn(&mut t.cx(), async |fx| {
            let batches = fx.for_each(0..).delay(0.3).items_per_tick(3);
            batches.each(async |_| ()).await?;
            Ok(())
        })
        .unwrap();
    assert_eq!(a_hundred_frames(&mut t), 0);
    assert!(t.host > 300);
}

#[test]
fn a_wait_watched_by_its_warning_allocates_nothing_until_it_is_due() {
    let mut t = TestWorld::new(0);
    let w = t.world;
    t.cx().set_wait_until_warning(secs(1e6)).unwrap();
    WaitUntil::new(|_: &mut C<'_>, _| false)
        .world(w)
        .start(&mut t.cx())
        .unwrap();
    assert_eq!(a_hundred_frames(&mut t), 0);
}

#[test]
fn a_spawned_flow_is_one_allocation_after_warm_up() {
    let mut t = TestWorld::new(0_u64);
    let w = t.world;
    let spawn_a_hundred = |t: &mut TestWorld<u64>| {
        for _ in 0..100 {
            let flow = Flow::new("short").world(w);
            let body = async |fx: sc_flow::FlowCx<u64>| {
                fx.delay(0.6).await?;
                fx.with(|cx| *cx.host_mut() += 1)
            };
            flow.spawn(&mut t.cx(), body).unwrap();
        }
    };
    for _ in 0..20 {
        spawn_a_hundred(&mut t);
        t.ticks(0.25, 4);
    }
    let spawned = measure(|| spawn_a_hundred(&mut t)).count_total;
    let finished = measure(|| t.ticks(0.25, 4)).count_total;
    assert_eq!(t.host, 2100);
    assert!(spawned <= 100, "{spawned} for a hundred flows");
    assert_eq!(finished, 0, "to run and end a hundred flows");
}

#[test]
fn spawning_from_a_callback_is_one_allocation_too() {
    struct Spawner;
    impl sc_core::Tickable<u64> for Spawner {
        fn tick(&mut self, cx: &mut C<'_>) {
            cx.spawn_flow("short", async |fx| fx.next_tick().await)
                .unwrap();
        }
    }
    let mut t = TestWorld::new(0_u64);
    let w = t.world;
    let _spawner = t.cx().spawn_in(w, Spawner).unwrap();
    t.ticks(0.25, 200);
    let made = measure(|| t.ticks(0.25, 100)).count_total;
    assert!(made <= 100, "{made} for a hundred flows");
}

#[test]
fn a_sleeping_flow_has_256_bytes_at_most() {
    const FLOWS: u64 = 100_000;
    let mut t = TestWorld::new(0_u64);
    let w = t.world;
    let made = measure(|| {
        for _ in 0..FLOWS {
            let flow = Flow::new("asleep").world(w);
            flow.spawn(&mut t.cx(), async |fx| fx.delay(secs(3600)).await)
                .unwrap();
        }
        t.tick(0.25);
    });
    let each = made.bytes_current.unsigned_abs() / FLOWS;
    assert!(made.bytes_current > 0);
    assert!(each <= 256, "{each} bytes");
    assert_eq!(t.cx().flow_list().len(), 100_000);
}

#[test]
fn memory_is_flat_over_many_flows() {
    let mut t = TestWorld::new(0_u64);
    let w = t.world;
    let round = |t: &mut TestWorld<u64>| {
        for _ in 0..50 {
            let flow = Flow::new("short").world(w);
            flow.spawn(&mut t.cx(), async |fx| fx.delay(0.6).await)
                .unwrap();
            let wait = WaitUntil::new(|_: &mut C<'_>, _| false).timeout(0.4);
            wait.world(w).start(&mut t.cx()).unwrap();
        }
        t.ticks(0.25, 4);
    };
    (0..20).for_each(|_| round(&mut t));
    let info = measure(|| (0..100).for_each(|_| round(&mut t)));
    assert_eq!(info.count_current, 0, "as much was freed as allocated");
    assert_eq!(info.bytes_current, 0);
    assert!(t.cx().flow_list().is_empty());
}

#[test]
fn a_node_is_one_allocation_after_warm_up() {
    let mut t = TestWorld::new(0_u64);
    let w = t.world;
    let start = |t: &mut TestWorld<u64>| {
        let each = ForEach::index(2).each(|_: &mut C<'_>, _| ());
        each.world(w).start(&mut t.cx()).unwrap();
        let drive = DoForDuration::new(0.5, |_: &mut C<'_>, _, _| ());
        drive.world(w).start(&mut t.cx()).unwrap();
        let wait = WaitUntil::new(|_: &mut C<'_>, attempt| attempt == 1);
        wait.world(w).start(&mut t.cx()).unwrap();
    };
    for _ in 0..10 {
        start(&mut t);
        t.ticks(0.25, 4);
    }
    assert_eq!(measure(|| start(&mut t)).count_total, 3);
    assert_eq!(measure(|| t.ticks(0.25, 4)).count_total, 0);
    assert!(t.cx().flow_list().is_empty());
}

#[test]
fn reserved_ids_leak_nothing_and_each_is_one_allocation() {
    let mut t = TestWorld::new(0_u64);
    let w = t.world;
    let pending = t.cx().pending_flows();
    let reserve = || {
        let reservation = FlowId::reserve();
        pending.add(reservation.reserved());
        reservation
    };
    let start = |t: &mut TestWorld<u64>| {
        for _ in 0..100 {
            let flow = Flow::new("reserved").world(w).reserved(reserve());
            flow.spawn(&mut t.cx(), async |fx| fx.next_tick().await)
                .unwrap();
        }
    };
    for _ in 0..20 {
        start(&mut t);
        t.ticks(0.25, 2);
    }
    assert_eq!(measure(|| start(&mut t)).count_total, 200);
    assert_eq!(measure(|| t.ticks(0.25, 2)).count_total, 0);
    let dropped = measure(|| {
        for _ in 0..1_000_000 {
            drop(reserve());
        }
    });
    assert_eq!((dropped.count_total, dropped.count_current), (1_000_000, 0));
    let rounds = measure(|| {
        for _ in 0..100 {
            start(&mut t);
            t.ticks(0.25, 2);
        }
    });
    assert_eq!((rounds.count_current, rounds.bytes_current), (0, 0));
    assert!(t.cx().flow_list().is_empty());
    let cancelled = measure(|| {
        for _ in 0..1000 {
            let reservation = reserve();
            assert!(t.cx().cancel(reservation.id()));
        }
    });
    assert_eq!(cancelled.bytes_current, 0);
}

#[test]
fn neither_a_runtime_nor_a_reservation_keeps_what_is_left_of_the_other() {
    let life = |runtime_first: bool| {
        let mut t = TestWorld::new(0_u64);
        let w = t.world;
        let pending = t.cx().pending_flows();
        let reservation = FlowId::reserve();
        let (id, reserved) = (reservation.id(), reservation.reserved().clone());
        pending.add(&reserved);
        let flow = Flow::new("waiter").world(w);
        let waiter = async move |fx: FlowCx<u64>| fx.flow(id).await.map(drop);
        flow.spawn(&mut t.cx(), waiter).unwrap();
        t.ticks(0.25, 2);
        if runtime_first {
            drop(t);
            drop(reservation);
        } else {
            drop(reservation);
            drop(t);
        }
        drop((pending, reserved));
    };
    for runtime_first in [true, false] {
        life(runtime_first);
        assert_eq!(measure(|| life(runtime_first)).bytes_current, 0);
    }
}
