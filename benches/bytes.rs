//! Memory of what sleeps, a line a row as in the ratios: `ratio NAME ours_bytes peer_bytes RATIO bar BAR ok|short`.
//!
//! | row | peer | bar, and why |
//! | --- | --- | --- |
//! | `flow/bytes_asleep` | 256 bytes | 1: the quality bar of a flow asleep in `async { delay }` with a static name |
//! | `flow/bytes_asleep_vs_tokio` | tokio, a local task asleep in `sleep` | 1: no larger |
//!
//! A bench of its own, since an allocator that counts slows every other row down.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::time::Duration;

use allocation_counter::measure;
use stillcooking::prelude::*;
use tokio::task::LocalSet;

const SLEEPERS: u32 = 100_000;

fn main() {
    let ours = flows();
    row("flow/bytes_asleep", ours, 256.0);
    row("flow/bytes_asleep_vs_tokio", ours, tasks());
}

fn row(name: &str, ours: f64, peer: f64) {
    let ratio = ours / peer;
    let verdict = if ratio <= 1.0 { "ok" } else { "short" };
    println!("ratio {name} {ours:.2} {peer:.2} {ratio:.3} bar 1 {verdict}");
}

/// Bytes that stay allocated for each sleeper, what lists have grown for more included.
fn each(make: impl FnOnce()) -> f64 {
    measure(make).bytes_current as f64 / f64::from(SLEEPERS)
}

fn flows() -> f64 {
    let mut rt = Runtime::new();
    let world = rt.cx(&mut ()).create_world(WorldKind::Game).unwrap();
    each(|| {
        for _ in 0..SLEEPERS {
            let flow = Flow::new("asleep").world(world);
            let body = async |fx: FlowCx<()>| fx.delay(secs(3600)).await;
            flow.spawn(&mut rt.cx(&mut ()), body).unwrap();
        }
        rt.tick(&mut (), Duration::from_millis(16)).unwrap();
    })
}

fn tasks() -> f64 {
    let builder = &mut tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_time().start_paused(true).build().unwrap();
    let set = LocalSet::new();
    each(|| {
        for _ in 0..SLEEPERS {
            drop(set.spawn_local(async { tokio::time::sleep(Duration::from_secs(3600)).await }));
        }
        runtime.block_on(set.run_until(tokio::task::yield_now()));
    })
}
