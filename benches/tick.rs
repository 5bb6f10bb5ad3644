//! Benches for digging into tickables: `cargo bench --bench tick`. The bars are in `ratios`.
#![allow(missing_docs, clippy::unwrap_used)]

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use stillcooking::DeadlineQueue;
use stillcooking::prelude::*;

const DELTA: Duration = Duration::from_millis(16);

struct Counter(u64);

impl Tickable<()> for Counter {
    fn tick(&mut self, cx: &mut Cx<'_, ()>) {
        self.0 += u64::from(black_box(cx.delta()).subsec_nanos());
    }
}

fn game() -> (Runtime<()>, WorldId) {
    let mut rt = Runtime::new();
    let mut host = ();
    let world = rt.cx(&mut host).create_world(WorldKind::Game).unwrap();
    (rt, world)
}

fn spawn(rt: &mut Runtime<()>, world: WorldId, n: u64) -> Vec<Owner<Counter>> {
    let mut host = ();
    let mut cx = rt.cx(&mut host);
    (0..n)
        .map(|i| cx.spawn_in(world, Counter(i)).unwrap())
        .collect()
}

fn frames(c: &mut Criterion) {
    let (mut rt, _) = game();
    c.bench_function("frame of one empty world", |b| {
        b.iter(|| rt.tick(&mut (), DELTA).unwrap());
    });

    let (mut rt, world) = game();
    let owners = spawn(&mut rt, world, 10_000);
    for (i, owner) in (0..).zip(&owners) {
        let mut host = ();
        let mut cx = rt.cx(&mut host);
        let period = Duration::from_millis(100 + i % 900);
        let change = cx.configure(owner).unwrap();
        change.interval(period).apply().unwrap();
    }
    c.bench_function("frame of 10k with intervals of 0.1 to 1 s", |b| {
        b.iter(|| rt.tick(&mut (), DELTA).unwrap());
    });

    let (mut rt, world) = game();
    let owners = spawn(&mut rt, world, 10_000);
    let mut on = false;
    c.bench_function("frame of 10k, one of them toggled", |b| {
        b.iter(|| {
            on = !on;
            let mut host = ();
            rt.cx(&mut host)
                .set_tick_enabled(&owners[5_000], on)
                .unwrap();
            rt.tick(&mut host, DELTA).unwrap()
        });
    });
}

fn lifecycle(c: &mut Criterion) {
    let (mut rt, world) = game();
    c.bench_function("spawn, shut down, drop and bury one object", |b| {
        b.iter(|| {
            let mut host = ();
            let mut cx = rt.cx(&mut host);
            let owner = cx.spawn_in(world, Counter(0)).unwrap();
            owner.shutdown(&mut cx).unwrap();
            drop(owner);
            rt.tick(&mut host, DELTA).unwrap()
        });
    });

    let (mut rt, world) = game();
    let owners = spawn(&mut rt, world, 1_000);
    c.bench_function("get one of 1k objects by its key", |b| {
        let mut host = ();
        let cx = rt.cx(&mut host);
        b.iter(|| cx.get(black_box(owners[500].key())).unwrap().0);
    });
}

fn queue(c: &mut Criterion) {
    let mut queue = DeadlineQueue::new();
    for i in 0..100_000_u64 {
        queue.insert(i * 10_007, i, i);
    }
    let mut at = 0_u64;
    c.bench_function("insert and remove among 100k deadlines", |b| {
        b.iter(|| {
            at = (at + 7_919_000_003) % 1_000_000_000;
            let token = queue.insert(at, 0, at);
            queue.remove(token)
        });
    });
}

criterion_group!(benches, frames, lifecycle, queue);
criterion_main!(benches);
