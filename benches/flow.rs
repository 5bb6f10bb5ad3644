//! Benches for digging into flows: `cargo bench --bench flow`. Ten thousand flows, or a thousand
//! starts, an iteration; beside them `async-executor`.
#![allow(missing_docs, clippy::unwrap_used)]

use std::future::poll_fn;
use std::hint::black_box;
use std::task::Poll;
use std::time::Duration;

use async_executor::LocalExecutor;
use criterion::{Criterion, criterion_group, criterion_main};
use stillcooking::prelude::*;

const DELTA: Duration = Duration::from_millis(16);
const FLOWS: u64 = 10_000;
const STARTS: u64 = 1_000;

fn game() -> (Runtime<()>, WorldId) {
    let mut rt = Runtime::new();
    let mut host = ();
    let world = rt.cx(&mut host).create_world(WorldKind::Game).unwrap();
    (rt, world)
}

/// Gives up the turn once.
async fn yield_now() {
    let mut yielded = false;
    poll_fn(|context| {
        if yielded {
            return Poll::Ready(());
        }
        yielded = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

fn waking(c: &mut Criterion) {
    let (mut rt, world) = game();
    let mut host = ();
    let mut cx = rt.cx(&mut host);
    for i in 0..FLOWS {
        let flow = Flow::new("wakes each frame").world(world);
        let spawned = flow.spawn(&mut cx, async move |fx| {
            let mut n = i;
            loop {
                n = black_box(n + 1);
                fx.next_tick().await?;
            }
        });
        spawned.unwrap();
    }
    c.bench_function("10k flows that wake each frame", |b| {
        b.iter(|| rt.tick(&mut host, DELTA).unwrap());
    });

    let executor = LocalExecutor::new();
    for i in 0..FLOWS {
        let task = executor.spawn(async move {
            let mut n = i;
            loop {
                n = black_box(n + 1);
                yield_now().await;
            }
        });
        task.detach();
    }
    c.bench_function("10k tasks of a LocalExecutor that yield", |b| {
        b.iter(|| {
            for _ in 0..FLOWS {
                executor.try_tick();
            }
        });
    });

    let (mut rt, world) = game();
    let mut cx = rt.cx(&mut host);
    for _ in 0..FLOWS {
        let drive = DoForDuration::new(secs(1_000_000), |_: &mut Cx<'_, ()>, alpha, _| {
            black_box(alpha);
        });
        drive.world(world).start(&mut cx).unwrap();
    }
    c.bench_function("10k drives", |b| {
        b.iter(|| rt.tick(&mut host, DELTA).unwrap());
    });
}

fn starting(c: &mut Criterion) {
    let (mut rt, world) = game();
    let mut host = ();
    c.bench_function("start and finish 1k flows", |b| {
        b.iter(|| {
            let mut cx = rt.cx(&mut host);
            for _ in 0..STARTS {
                let flow = Flow::new("ends at once").world(world);
                flow.spawn(&mut cx, async |_| Ok(())).unwrap();
            }
            rt.tick(&mut host, DELTA).unwrap()
        });
    });

    let executor = LocalExecutor::new();
    c.bench_function("start and finish 1k tasks of a LocalExecutor", |b| {
        b.iter(|| {
            for _ in 0..STARTS {
                executor.spawn(async {}).detach();
            }
            while executor.try_tick() {}
        });
    });
}

criterion_group!(benches, waking, starting);
criterion_main!(benches);
