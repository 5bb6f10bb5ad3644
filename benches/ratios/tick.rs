//! Tick passes against bare loops; and what sleeps beside them.
#![allow(clippy::unwrap_used)]

use std::hint::black_box;
use std::time::Duration;

use stillcooking::prelude::*;

use crate::body::{Bare, Body, Empty, Host, Standard};
use crate::harness::Rows;

const DELTA: Duration = Duration::from_millis(16);
const SIZES: [(usize, &str); 3] = [(1_000, "1k"), (100_000, "100k"), (1_000_000, "1M")];

pub(crate) fn rows(rows: &mut Rows) {
    for (n, size) in SIZES {
        pass::<Standard>(rows, n, size, 1.3);
        pass::<Empty>(rows, n, size, 3.0);
        typed::<Standard>(rows, n, size, 1.3);
        typed::<Empty>(rows, n, size, 4.0);
    }
    beside(rows, "tick/1k_beside_1M_disabled", |cx, world| {
        let owner = cx.spawn_in(world, Standard::new(7)).unwrap();
        cx.set_tick_enabled(&owner, false).unwrap();
        owner
    });
    beside(rows, "tick/1k_beside_1M_asleep", |cx, world| {
        let owner = cx.spawn_in(world, Standard::new(7)).unwrap();
        let change = cx.configure(&owner).unwrap();
        change.interval(secs(3600)).apply().unwrap();
        owner
    });
}

/// A runtime with `n` bodies, spawned by `spawn`.
struct Game<B> {
    rt: Runtime<Host>,
    world: WorldId,
    owners: Vec<Owner<B>>,
}

impl<B: Body> Game<B> {
    fn new(
        n: usize,
        spawn: impl Fn(&mut Cx<'_, Host>, WorldId, B) -> Result<Owner<B>, TickError>,
    ) -> Self {
        let mut rt = Runtime::new();
        let mut host = Host;
        let mut cx = rt.cx(&mut host);
        let world = cx.create_world(WorldKind::Game).unwrap();
        let owners = (0..n).map(|i| spawn(&mut cx, world, B::make(i)).unwrap());
        let owners = owners.collect();
        Game { rt, world, owners }
    }

    fn frame(&mut self) {
        self.rt.tick(&mut Host, DELTA).unwrap();
    }

    fn end(mut self) {
        self.rt.cx(&mut Host).destroy_world(self.world);
        drop(self.owners);
    }
}

type BareFn = Box<dyn FnMut(&mut Bare)>;

/// A tick pass against a loop over boxed closures with the same bodies.
fn pass<B: Body>(rows: &mut Rows, n: usize, size: &str, bar: f64) {
    let name = format!("tick/{}_{size}", B::NAME);
    if !rows.wants(&name) {
        return;
    }
    let mut game = Game::<B>::new(n, |cx, world, body| cx.spawn_in(world, body));
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
        || game.frame(),
        || {
            for f in &mut bare {
                f(black_box(&mut cx));
            }
        },
    );
    game.end();
}

/// A typed batch against a loop over a plain vector.
fn typed<B: Body>(rows: &mut Rows, n: usize, size: &str, bar: f64) {
    let name = format!("typed/{}_{size}", B::NAME);
    if !rows.wants(&name) {
        return;
    }
    let mut game = Game::<B>::new(n, |cx, world, body| cx.spawn_batched(world, body));
    let mut bare: Vec<B> = (0..n).map(B::make).collect();
    let mut cx = Bare { delta: 16_000_000 };
    rows.row(
        &name,
        bar,
        n,
        || game.frame(),
        || {
            for body in &mut bare {
                body.call(black_box(&mut cx).delta);
            }
        },
    );
    game.end();
}

/// A frame with 1,000 enabled objects and a million idle ones, against one without the million.
fn beside(
    rows: &mut Rows,
    name: &str,
    idle: impl Fn(&mut Cx<'_, Host>, WorldId) -> Owner<Standard>,
) {
    if !rows.wants(name) {
        return;
    }
    let mut crowded = Game::<Standard>::new(1_000, |cx, world, body| cx.spawn_in(world, body));
    let mut host = Host;
    let mut cx = crowded.rt.cx(&mut host);
    let owners: Vec<_> = (0..1_000_000)
        .map(|_| idle(&mut cx, crowded.world))
        .collect();
    crowded.owners.extend(owners);
    crowded.frame();
    let mut alone = Game::<Standard>::new(1_000, |cx, world, body| cx.spawn_in(world, body));
    rows.row(name, 1.1, 1_000, || crowded.frame(), || alone.frame());
    alone.end();
    crowded.end();
}
