//! Flows against bare closures and against other executors; and what sleeps costs nothing.
//!
//! | row | peer | bar, and why |
//! | --- | --- | --- |
//! | `wake_standard_*`, `wake_empty_*` | a loop over boxed closures | 2 and 10: the quality bar of a flow that wakes every frame |
//! | `wake_vs_local_executor_*` | `async-executor`, tasks that wait for a frame | 0.25: the quality bar |
//! | `wake_vs_local_executor_yield` | `async-executor`, tasks that yield: a loop that runs until nobody is ready would never end | 0.5: no frame to wait for, no waker to keep |
//! | `wake_vs_local_pool` | `futures` `LocalPool`, tasks that wait for a frame | 0.5: it wakes each by its waker, we by none |
//! | `wake_vs_cosync` | `cosync`, the coroutines for games: no clocks, no cancel, no panics by policy | 1: no slower |
//! | `spawn_finish_vs_local_executor` | `async-executor` | 1: the quality bar |
//! | `asleep_100k_vs_poll_everything` | polling every sleeper every frame | 0.01: nothing is looked at but the head of a queue |
//! | `sleepers_100k_vs_tokio` | tokio, current thread, paused clock | 2: both have a wheel; sleeps of 1 to 10 s, over and over; ours keep their order to the nanosecond |
//! | `cancel_10k_vs_local_executor` | `async-executor`, dropped tasks | 3: start, first turn and cancel of ten thousand; ours have a deadline to take back, and run guards where host and runtime are in reach |
//! | `teardown_10k_vs_local_executor` | `async-executor`, dropped whole | 3: start, first turn, and the world goes with all of them, each as if cancelled, newest first |
//! | `drive_10k_vs_bare` | boxed closures that add up their own progress | 6: a flow with an empty body may take 10 calls, and this is one with an empty update: besides the sum it looks at its lap, its control and its end, and says how far it is |
//! | `wait_until_10k_vs_bare` | boxed conditions, all asked every frame | 3: as an empty tick |
//! | `wait_every_second_10k_vs_bare` | the same | 0.25: asked once a second, they sleep the other 62 frames |
//! | `1k_tickables_beside_1M_asleep_flows` | the same frame without them | 1.1: the quality bar |
#![allow(clippy::unwrap_used)]

use std::cell::Cell;
use std::future::{Future, pending, poll_fn};
use std::hint::black_box;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use async_executor::LocalExecutor;
use futures::executor::LocalPool;
use futures::task::LocalSpawnExt;
use stillcooking::prelude::*;

use crate::body::{Bare, Body, Empty, Host, Standard};
use crate::harness::Rows;
use crate::peers::{Frames, yield_now};

const DELTA: Duration = Duration::from_millis(16);
const NANOS: u64 = 16_000_000;
/// Flows of the rows that name no number.
const FLOWS: usize = 10_000;
const STARTS: usize = 1_000;

type BareFn = Box<dyn FnMut(&mut Bare)>;
/// Says whether it has ended.
type BareUntil = Box<dyn FnMut(&mut Bare) -> bool>;

pub(crate) fn rows(rows: &mut Rows) {
    for (n, size) in [(1_000, "1k"), (100_000, "100k"), (1_000_000, "1M")] {
        wake::<Standard>(rows, n, size, 2.0);
        wake::<Empty>(rows, n, size, 10.0);
    }
    wake_vs_executors(rows);
    spawn_finish(rows);
    asleep(rows);
    sleepers(rows);
    cancel(rows);
    teardown(rows);
    drives(rows);
    waits(rows, "flow/wait_until_10k_vs_bare", 3.0, 0.0);
    waits(rows, "flow/wait_every_second_10k_vs_bare", 0.25, 1.0);
    beside_sleepers(rows);
}

/// A runtime with one world.
struct Game {
    rt: Runtime<Host>,
    world: WorldId,
}

impl Game {
    fn new() -> Self {
        let mut rt = Runtime::new();
        let mut host = Host;
        let world = rt.cx(&mut host).create_world(WorldKind::Game).unwrap();
        Game { rt, world }
    }

    fn frame(&mut self) {
        self.rt.tick(&mut Host, DELTA).unwrap();
    }

    fn spawn<F>(&mut self, body: F)
    where
        F: AsyncFnOnce(FlowCx<Host>) -> Result<(), FlowError> + 'static,
    {
        let flow = Flow::new("flow").world(self.world);
        flow.spawn(&mut self.rt.cx(&mut Host), body).unwrap();
    }

    /// `n` flows that call a body every frame; they have had their first turn.
    fn waking<B: Body + 'static>(n: usize) -> Self {
        let mut game = Game::new();
        for i in 0..n {
            let mut body = B::make(i);
            game.spawn(async move |fx| {
                loop {
                    body.call(black_box(NANOS));
                    fx.next_tick().await?;
                }
            });
        }
        game.frame();
        game
    }
}

/// Flows that wake every frame against a loop over boxed closures with the same bodies.
fn wake<B: Body + 'static>(rows: &mut Rows, n: usize, size: &str, bar: f64) {
    let name = format!("flow/wake_{}_{size}", B::NAME);
    if !rows.wants(&name) {
        return;
    }
    let mut game = Game::waking::<B>(n);
    let mut bare: Vec<BareFn> = Vec::new();
    for i in 0..n {
        let mut body = B::make(i);
        bare.push(Box::new(move |cx| body.call(cx.delta)));
    }
    let mut cx = Bare { delta: NANOS };
    let peer = || {
        for f in &mut bare {
            f(black_box(&mut cx));
        }
    };
    rows.row(&name, bar, n, || game.frame(), peer);
}

/// Flows that wake every frame against the same in other executors.
fn wake_vs_executors(rows: &mut Rows) {
    for (n, size) in [(1_000, "1k"), (100_000, "100k"), (1_000_000, "1M")] {
        local_executor(rows, &format!("flow/wake_vs_local_executor_{size}"), n);
    }
    let name = "flow/wake_vs_local_executor_yield";
    if rows.wants(name) {
        let mut game = Game::waking::<Empty>(FLOWS);
        let executor = LocalExecutor::new();
        for i in 0..FLOWS {
            let mut body = Empty::make(i);
            let task = executor.spawn(async move {
                loop {
                    body.call(black_box(NANOS));
                    yield_now().await;
                }
            });
            task.detach();
        }
        let peer = || {
            for _ in 0..FLOWS {
                executor.try_tick();
            }
        };
        rows.row(name, 0.5, FLOWS, || game.frame(), peer);
    }
    let name = "flow/wake_vs_local_pool";
    if rows.wants(name) {
        let mut game = Game::waking::<Empty>(FLOWS);
        let (mut pool, frames) = (LocalPool::new(), Frames::default());
        for i in 0..FLOWS {
            let (mut body, frames) = (Empty::make(i), frames.clone());
            let task = async move {
                loop {
                    body.call(black_box(NANOS));
                    frames.next().await;
                }
            };
            pool.spawner().spawn_local(task).unwrap();
        }
        pool.run_until_stalled();
        let peer = || {
            frames.begin();
            pool.run_until_stalled();
        };
        rows.row(name, 0.5, FLOWS, || game.frame(), peer);
    }
    let name = "flow/wake_vs_cosync";
    if rows.wants(name) {
        let mut game = Game::waking::<Empty>(FLOWS);
        let mut cosync = cosync::Cosync::<u64>::new();
        for i in 0..FLOWS {
            let mut body = Empty::make(i);
            cosync.queue(move |_| async move {
                loop {
                    body.call(black_box(NANOS));
                    cosync::sleep_ticks(1).await;
                }
            });
        }
        let mut parameter = 0;
        let peer = || cosync.run(&mut parameter);
        rows.row(name, 1.0, FLOWS, || game.frame(), peer);
    }
}

/// Flows that wake every frame against tasks that do: they wait for a frame, and the executor runs
/// until nobody is ready.
fn local_executor(rows: &mut Rows, name: &str, n: usize) {
    if !rows.wants(name) {
        return;
    }
    let mut game = Game::waking::<Empty>(n);
    let (executor, frames) = (LocalExecutor::new(), Frames::default());
    for i in 0..n {
        let (mut body, frames) = (Empty::make(i), frames.clone());
        let task = executor.spawn(async move {
            loop {
                body.call(black_box(NANOS));
                frames.next().await;
            }
        });
        task.detach();
    }
    let peer = || {
        frames.begin();
        while executor.try_tick() {}
    };
    peer();
    rows.row(name, 0.25, n, || game.frame(), peer);
}

/// Flows that start, have one turn and end.
fn spawn_finish(rows: &mut Rows) {
    let name = "flow/spawn_finish_vs_local_executor";
    if !rows.wants(name) {
        return;
    }
    let mut game = Game::new();
    let ours = || {
        for i in 0..STARTS {
            game.spawn(async move |_| {
                black_box(i);
                Ok(())
            });
        }
        game.frame();
    };
    let executor = LocalExecutor::new();
    let peer = || {
        for i in 0..STARTS {
            let task = executor.spawn(async move {
                black_box(i);
            });
            task.detach();
        }
        while executor.try_tick() {}
    };
    rows.row(name, 1.0, STARTS, ours, peer);
}

/// A frame over flows that are all asleep, against asking each whether its time has come.
fn asleep(rows: &mut Rows) {
    const ASLEEP: usize = 100_000;
    let name = "flow/asleep_100k_vs_poll_everything";
    if !rows.wants(name) {
        return;
    }
    let mut game = Game::new();
    for _ in 0..ASLEEP {
        game.spawn(async |fx| fx.delay(secs(3_600)).await);
    }
    game.frame();
    let clock = Rc::new(Cell::new(0_u64));
    let sleeper = |_| {
        let clock = Rc::clone(&clock);
        let until = u64::MAX / 2;
        let sleep = async move {
            poll_fn(|_| match clock.get() < until {
                true => Poll::Pending,
                false => Poll::Ready(()),
            })
            .await;
        };
        Box::pin(sleep) as Pin<Box<dyn Future<Output = ()>>>
    };
    let mut all: Vec<_> = (0..ASLEEP).map(sleeper).collect();
    let peer = || {
        clock.set(clock.get() + NANOS);
        let context = &mut Context::from_waker(Waker::noop());
        for sleeper in &mut all {
            assert!(sleeper.as_mut().poll(context).is_pending());
        }
    };
    rows.row(name, 0.01, 1, || game.frame(), peer);
}

/// Flows that sleep from one to ten seconds, over and over: some three hundred wake in a frame.
fn sleepers(rows: &mut Rows) {
    const SLEEPERS: u64 = 100_000;
    /// Tasks that tokio runs before it looks at the one that drives it again.
    const EVENT_INTERVAL: u64 = 61;
    let name = "flow/sleepers_100k_vs_tokio";
    if !rows.wants(name) {
        return;
    }
    // Spread by a fixed seed.
    let millis = |i: u64| 1_000 + i.wrapping_mul(0x9E37_79B9_7F4A_7C15) % 9_000;
    let mut game = Game::new();
    for i in 0..SLEEPERS {
        let period = Duration::from_millis(millis(i));
        game.spawn(async move |fx| {
            loop {
                fx.delay(period).await?;
            }
        });
    }
    game.frame();
    let tokio = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    for i in 0..SLEEPERS {
        let period = Duration::from_millis(millis(i));
        tokio.spawn(async move {
            loop {
                tokio::time::sleep(period).await;
            }
        });
    }
    let frame = |turns: u64| {
        tokio.block_on(async move {
            tokio::time::advance(DELTA).await;
            for _ in 0..turns {
                tokio::task::yield_now().await;
            }
        });
    };
    frame(SLEEPERS / EVENT_INTERVAL + 1);
    rows.row(name, 2.0, 1, || game.frame(), || frame(8));
}

/// Ten thousand flows that sleep are started, and cancelled by their name.
fn cancel(rows: &mut Rows) {
    let name = "flow/cancel_10k_vs_local_executor";
    if !rows.wants(name) {
        return;
    }
    let mut game = Game::new();
    let ours = || {
        for _ in 0..FLOWS {
            game.spawn(async |fx| fx.delay(secs(3_600)).await);
        }
        game.frame();
        let mut host = Host;
        let mut cx = game.rt.cx(&mut host);
        assert_eq!(cx.cancel_flows_named("flow"), FLOWS);
    };
    let executor = LocalExecutor::new();
    let peer = || {
        let tasks: Vec<_> = (0..FLOWS)
            .map(|_| executor.spawn(pending::<()>()))
            .collect();
        while executor.try_tick() {}
        drop(tasks);
        while executor.try_tick() {}
    };
    rows.row(name, 3.0, FLOWS, ours, peer);
}

/// Ten thousand flows that sleep are started, and their world is destroyed.
fn teardown(rows: &mut Rows) {
    let name = "flow/teardown_10k_vs_local_executor";
    if !rows.wants(name) {
        return;
    }
    let mut rt = Some(Game::new().rt);
    let ours = || {
        let mut own = rt.take().unwrap();
        let world = own.cx(&mut Host).create_world(WorldKind::Game).unwrap();
        let mut game = Game { rt: own, world };
        for _ in 0..FLOWS {
            game.spawn(async |fx| fx.delay(secs(3_600)).await);
        }
        game.frame();
        let mut host = Host;
        let mut cx = game.rt.cx(&mut host);
        cx.destroy_world(world);
        assert!(cx.flow_list().is_empty());
        rt = Some(game.rt);
    };
    let peer = || {
        let executor = LocalExecutor::new();
        for _ in 0..FLOWS {
            executor.spawn(pending::<()>()).detach();
        }
        while executor.try_tick() {}
    };
    rows.row(name, 3.0, FLOWS, ours, peer);
}

/// Drives with an empty update against closures that keep their own progress.
fn drives(rows: &mut Rows) {
    const LENGTH: u64 = 1_000_000_000_000_000;
    let name = "flow/drive_10k_vs_bare";
    if !rows.wants(name) {
        return;
    }
    let mut game = Game::new();
    let mut host = Host;
    let mut cx = game.rt.cx(&mut host);
    for i in 0..FLOWS {
        let mut body = Empty::make(i);
        let duration = Duration::from_nanos(LENGTH);
        DoForDuration::new(duration, move |_: &mut Cx<'_, Host>, alpha, delta| {
            black_box(alpha);
            body.call(u64::from(delta.subsec_nanos()));
        })
        .world(game.world)
        .start(&mut cx)
        .unwrap();
    }
    let mut bare: Vec<BareUntil> = Vec::new();
    for i in 0..FLOWS {
        let (mut body, mut elapsed) = (Empty::make(i), 0_u64);
        bare.push(Box::new(move |cx| {
            elapsed = (elapsed + cx.delta).min(LENGTH);
            black_box((elapsed as f64 / LENGTH as f64) as f32);
            body.call(cx.delta);
            elapsed == LENGTH
        }));
    }
    let mut cx = Bare { delta: NANOS };
    let peer = || bare.retain_mut(|f| !f(black_box(&mut cx)));
    rows.row(name, 6.0, FLOWS, || game.frame(), peer);
}

/// Waits for a condition that stays false, polled every so many seconds, against asking every frame.
fn waits(rows: &mut Rows, name: &str, bar: f64, every: f64) {
    if !rows.wants(name) {
        return;
    }
    let mut game = Game::new();
    let mut host = Host;
    let mut cx = game.rt.cx(&mut host);
    cx.set_wait_until_warning(secs(0)).unwrap();
    for i in 0..FLOWS {
        let mut body = Empty::make(i);
        WaitUntil::new(move |_: &mut Cx<'_, Host>, _| {
            body.call(NANOS);
            black_box(false)
        })
        .every(secs(every))
        .world(game.world)
        .start(&mut cx)
        .unwrap();
    }
    let mut bare: Vec<BareUntil> = Vec::new();
    for i in 0..FLOWS {
        let mut body = Empty::make(i);
        bare.push(Box::new(move |cx| {
            body.call(cx.delta);
            black_box(false)
        }));
    }
    let mut cx = Bare { delta: NANOS };
    let peer = || bare.retain_mut(|f| !f(black_box(&mut cx)));
    rows.row(name, bar, FLOWS, || game.frame(), peer);
}

/// A frame of 1,000 tickables with a million flows asleep, against one without them.
fn beside_sleepers(rows: &mut Rows) {
    let name = "flow/1k_tickables_beside_1M_asleep_flows";
    if !rows.wants(name) {
        return;
    }
    let crowd = |asleep: usize| {
        let mut game = Game::new();
        for i in 0..1_000 {
            let mut host = Host;
            let mut cx = game.rt.cx(&mut host);
            cx.spawn_world_owned(game.world, Standard::new(i)).unwrap();
        }
        for _ in 0..asleep {
            game.spawn(async |fx| fx.delay(secs(3_600)).await);
        }
        game.frame();
        game
    };
    let (mut crowded, mut alone) = (crowd(1_000_000), crowd(0));
    rows.row(name, 1.1, 1_000, || crowded.frame(), || alone.frame());
}
