//! Flows: what sleeps costs nothing. How fast they wake and start is in `benches/flow.rs`.
#![allow(clippy::unwrap_used)]

use std::time::Duration;

use stillcooking::prelude::*;

use crate::body::{Host, Standard};
use crate::harness::Rows;

const DELTA: Duration = Duration::from_millis(16);

pub(crate) fn rows(rows: &mut Rows) {
    beside_sleepers(rows);
}

/// A frame of 1,000 tickables with a million flows asleep, against one without them.
fn beside_sleepers(rows: &mut Rows) {
    let name = "flow/1k_tickables_beside_1M_asleep_flows";
    if !rows.wants(name) {
        return;
    }
    let crowd = |asleep: usize| {
        let mut rt = Runtime::new();
        let mut host = Host;
        let mut cx = rt.cx(&mut host);
        let world = cx.create_world(WorldKind::Game).unwrap();
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
