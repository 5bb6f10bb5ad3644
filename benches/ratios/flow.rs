//! Flows against boxed closures and against `async-executor`.
#![allow(clippy::unwrap_used)]

use std::future::poll_fn;
use std::hint::black_box;
use std::task::Poll;
use std::time::Duration;

use async_executor::LocalExecutor;
use stillcooking::prelude::*;

use crate::body::{Bare, Body, Empty, Host, Standard};
use crate::harness::Rows;

const DELTA: Duration = Duration::from_millis(16);

type BareFn = Box<dyn FnMut(&mut Bare)>;

pub(crate) fn rows(rows: &mut Rows) {
    wake_each_frame::<Standard>(rows, 2.0);
    wake_each_frame::<Empty>(rows, 10.0);
    against_executor(rows);
    spawn_and_finish(rows);
    beside_sleepers(rows);
}

fn game() -> (Runtime<Host>, WorldId) {
    let mut rt = Runtime::new();
    let mut host = Host;
    let world = rt.cx(&mut host).create_world(WorldKind::Game).unwrap();
    (rt, world)
}

fn spawn_waking<B: Body>(rt: &mut Runtime<Host>, world: WorldId, n: usize) {
    let mut host = Host;
    let mut cx = rt.cx(&mut host);
    for i in 0..n {
        let flow = Flow::new("wakes each frame").world(world);
        let spawned = flow.spawn(&mut cx, async move |fx| {
            let mut body = B::make(i);
            loop {
                body.call(black_box(16_000_000));
                fx.next_tick().await?;
            }
        });
        spawned.unwrap();
    }
}

/// A flow that wakes every frame against a call of a boxed closure with the same body.
fn wake_each_frame<B: Body>(rows: &mut Rows, bar: f64) {
    let name = format!("flow/wakes_each_frame_{}_10k", B::NAME);
    if !rows.wants(&name) {
        return;
    }
    let n = 10_000;
    let (mut rt, world) = game();
    spawn_waking::<B>(&mut rt, world, n);
    let mut bare: Vec<BareFn> = Vec::new();
    for i in 0..n {
        let mut body = B::make(i);
        bare.push(Box::new(move |cx| body.call(cx.delta)));
    }
    let mut cx = Bare { delta: 16_000_000 };
    rows.row(
        &name,
        bar,
        n,
        || {
            rt.tick(&mut Host, DELTA).unwrap();
        },
        || {
            for f in &mut bare {
                f(black_box(&mut cx));
            }
        },
    );
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

fn against_executor(rows: &mut Rows) {
    let name = "flow/wakes_each_frame_against_local_executor";
    if !rows.wants(name) {
        return;
    }
    let n = 10_000;
    let (mut rt, world) = game();
    spawn_waking::<Empty>(&mut rt, world, n);
    let executor = LocalExecutor::new();
    for i in 0..n {
        let task = executor.spawn(async move {
            let mut body = Empty::make(i);
            loop {
                body.call(black_box(16_000_000));
                yield_now().await;
            }
        });
        task.detach();
    }
    rows.row(
        name,
        0.25,
        n,
        || {
            rt.tick(&mut Host, DELTA).unwrap();
        },
        || {
            for _ in 0..n {
                executor.try_tick();
            }
        },
    );
}

fn spawn_and_finish(rows: &mut Rows) {
    let name = "flow/spawn_and_finish_1k";
    if !rows.wants(name) {
        return;
    }
    let n = 1_000;
    let (mut rt, world) = game();
    let executor = LocalExecutor::new();
    rows.row(
        name,
        1.0,
        n,
        || {
            let mut host = Host;
            let mut cx = rt.cx(&mut host);
            for _ in 0..n {
                let flow = Flow::new("ends at once").world(world);
                flow.spawn(&mut cx, async |_| Ok(())).unwrap();
            }
            rt.tick(&mut Host, DELTA).unwrap();
        },
        || {
            for _ in 0..n {
                executor.spawn(async { Ok::<(), FlowError>(()) }).detach();
            }
            while executor.try_tick() {}
        },
    );
}

fn beside_sleepers(rows: &mut Rows) {
    let name = "flow/1k_tickables_beside_1M_asleep_flows";
    if !rows.wants(name) {
        return;
    }
    let crowd = |asleep: usize| {
        let (mut rt, world) = game();
        let mut host = Host;
        let mut cx = rt.cx(&mut host);
        for i in 0..1_000 {
            cx.spawn_world_owned(world, Standard::new(i)).unwrap();
        }
        for _ in 0..asleep {
            let flow = Flow::new("asleep").world(world);
            let spawned = flow.spawn(&mut cx, async |fx| fx.delay(secs(3_600)).await);
            spawned.unwrap();
        }
        rt.tick(&mut Host, DELTA).unwrap();
        rt
    };
    let (mut crowded, mut alone) = (crowd(1_000_000), crowd(0));
    rows.row(
        name,
        1.1,
        1_000,
        || {
            crowded.tick(&mut Host, DELTA).unwrap();
        },
        || {
            alone.tick(&mut Host, DELTA).unwrap();
        },
    );
}
