//! Flows of entities in a Bevy app against the plain way: a component with a `Timer`, and a system.
//!
//! | row | peer | bar, and why |
//! | --- | --- | --- |
//! | `bevy/empty_frame` | the same empty app without the plugin: ours is the difference of the medians, in ns an update with a step in it | 5000: the quality bar |
//! | `bevy/waits_*` | a repeating `Timer` of 10 s on each entity, ticked by a system | 0.5: what sleeps is not touched, what is due costs a turn |
//! | `bevy/loops_*` | the same with 0.25 s | 2: a turn costs as much as 25 ticks of a timer, and comes every 16 frames; even at about half a second |
//! | `bevy/drives_*` | a system over a component, which adds up its own progress | 10: each of ours looks its entity up, the system walks a column |
//! | `bevy/delayed_1k` | `commands.delayed()`, all at one time | 16: those are one queue on one entity; each of ours is a flow with a handle, to be listed and cancelled |
//! | `bevy/delayed_10k`, `_100k` | the same | 32: the eight updates of the peer weigh nothing any more. Neither side is quadratic: a call costs the same |
//! | `bevy/delayed_spread_*` | `commands.delayed()`, each at a time of its own | 4: those are a queue and an entity each, all of which are looked at in every frame |
#![allow(clippy::unwrap_used, clippy::cast_precision_loss)]

use std::time::Duration;

use bevy_app::{App, Update};
use bevy_ecs::prelude::*;
use bevy_ecs::system::RunSystemOnce;
use bevy_time::{DelayedCommandsExt, Time, TimePlugin, TimeUpdateStrategy, Timer, TimerMode};
use stillcooking::bevy::prelude::*;
use stillcooking::prelude::{Cx, DoForDuration, ForEach, secs};

use crate::harness::Rows;

const DELTA: Duration = Duration::from_millis(16);

pub(crate) fn rows(rows: &mut Rows) {
    let (mut with, mut without) = (ours(), bare());
    without.update();
    rows.difference(
        "bevy/empty_frame",
        5_000.0,
        || with.update(),
        || without.update(),
    );
    for (n, size) in [(10_000, "10k"), (100_000, "100k")] {
        waits(rows, n, size);
        loops(rows, n, size);
        drives(rows, n, size);
    }
    for (n, size) in [(1_000, "1k"), (10_000, "10k"), (100_000, "100k")] {
        delayed(rows, n, size);
        spread(rows, n, size);
    }
}

fn bare() -> App {
    let mut app = App::new();
    app.add_plugins(TimePlugin)
        .insert_resource(TimeUpdateStrategy::ManualDuration(DELTA))
        .init_resource::<Done>();
    app
}

fn ours() -> App {
    let mut app = bare();
    app.add_plugins(StillCookingPlugins);
    app.update();
    app
}

#[derive(Resource, Default)]
struct Done(u64);

#[derive(Component)]
struct Waits(Timer);

#[derive(Component)]
struct Value(f32);

/// The phase of an entity in a second: spread.
fn phase(index: usize) -> Duration {
    Duration::from_micros((index as u64 * 7919) % 1_000_000)
}

fn tick(mut waits: Query<&mut Waits>, time: Res<Time>, mut done: ResMut<Done>) {
    for mut waiting in &mut waits {
        done.0 += u64::from(waiting.0.tick(time.delta()).times_finished_this_tick());
    }
}

/// The plain way: an app with a timer on each of `n` entities.
fn timers(n: usize, period: f32) -> App {
    let mut app = bare();
    app.add_systems(Update, tick);
    for index in 0..n {
        let mut timer = Timer::from_seconds(period, TimerMode::Repeating);
        timer.set_elapsed(phase(index).mul_f32(period));
        app.world_mut().spawn(Waits(timer));
    }
    app
}

fn waits(rows: &mut Rows, n: usize, size: &str) {
    let name = format!("bevy/waits_{size}");
    if !rows.wants(&name) {
        return;
    }
    let mut flows = ours();
    for index in 0..n {
        let entity = flows.world_mut().spawn_empty().id();
        let mut commands = flows.world_mut().commands();
        commands.entity(entity).flow("wait", async move |fx, _| {
            fx.delay(phase(index) * 10).await?;
            loop {
                fx.with(|cx| cx.host_mut().resource_mut::<Done>().0 += 1)?;
                fx.delay(secs(10)).await?;
            }
        });
    }
    flows.update();
    let mut plain = timers(n, 10.0);
    rows.row(&name, 0.5, n, || flows.update(), || plain.update());
}

fn loops(rows: &mut Rows, n: usize, size: &str) {
    let name = format!("bevy/loops_{size}");
    if !rows.wants(&name) {
        return;
    }
    let mut flows = ours();
    for index in 0..n {
        let entity = flows.world_mut().spawn_empty().id();
        let started = flows.world_mut().with_cx(|cx| {
            let owner = cx.entity_owner(entity).unwrap();
            ForEach::index(i64::MAX)
                .delay(secs(0.25))
                .each(|cx: &mut Cx<'_, World>, _| cx.host_mut().resource_mut::<Done>().0 += 1)
                .owner(owner)
                .start(cx)
        });
        started.unwrap().unwrap();
        // Starts in many frames, so that not all are due in one.
        if index.is_multiple_of(n / 15) {
            flows.update();
        }
    }
    flows.update();
    let mut plain = timers(n, 0.25);
    rows.row(&name, 2.0, n, || flows.update(), || plain.update());
}

fn drive(mut values: Query<(&mut Value, &mut Waits)>, time: Res<Time>) {
    for (mut value, mut progress) in &mut values {
        progress.0.tick(time.delta());
        value.0 = progress.0.fraction();
    }
}

fn drives(rows: &mut Rows, n: usize, size: &str) {
    let name = format!("bevy/drives_{size}");
    if !rows.wants(&name) {
        return;
    }
    let mut flows = ours();
    for _ in 0..n {
        let entity = flows.world_mut().spawn(Value(0.0)).id();
        let started = flows.world_mut().with_cx(|cx| {
            let owner = cx.entity_owner(entity).unwrap();
            DoForDuration::new(secs(1), move |cx: &mut Cx<'_, World>, alpha, _| {
                if let Some(mut value) = cx.host_mut().get_mut::<Value>(entity) {
                    value.0 = alpha;
                }
            })
            .forever()
            .owner(owner)
            .start(cx)
        });
        started.unwrap().unwrap();
    }
    flows.update();
    let mut plain = bare();
    plain.add_systems(Update, drive);
    for _ in 0..n {
        let timer = Timer::from_seconds(1.0, TimerMode::Repeating);
        plain.world_mut().spawn((Value(0.0), Waits(timer)));
    }
    rows.row(&name, 10.0, n, || flows.update(), || plain.update());
}

/// Calls a tenth of a second from now, all at one time, until all of them are done.
fn delayed(rows: &mut Rows, n: usize, size: &str) {
    let bar = if n <= 1_000 { 16.0 } else { 32.0 };
    calls(rows, &format!("bevy/delayed_{size}"), bar, n, |_| 0.1);
}

/// Calls within the next tenth of a second, each at a time of its own, until all of them are done.
fn spread(rows: &mut Rows, n: usize, size: &str) {
    let at = move |index| 0.1 * index as f32 / n as f32;
    calls(rows, &format!("bevy/delayed_spread_{size}"), 4.0, n, at);
}

fn calls(
    rows: &mut Rows,
    name: &str,
    bar: f64,
    n: usize,
    at: impl Fn(usize) -> f32 + Copy + Send + Sync + 'static,
) {
    if !rows.wants(name) {
        return;
    }
    let (mut flows, mut plain) = (ours(), bare());
    plain.update();
    // A tenth of a second.
    let frames = 8;
    let done = |app: &App| app.world().resource::<Done>().0;
    rows.row(
        name,
        bar,
        n,
        || {
            let before = done(&flows);
            for index in 0..n {
                let at = at(index);
                flows.world_mut().commands().flow("later", async move |fx| {
                    fx.delay(secs(at)).await?;
                    fx.with(|cx| cx.host_mut().resource_mut::<Done>().0 += 1)
                });
            }
            for _ in 0..frames {
                flows.update();
            }
            assert_eq!(done(&flows) - before, n as u64);
        },
        || {
            let before = done(&plain);
            let ask = move |mut commands: Commands| {
                let mut delayed = commands.delayed();
                for index in 0..n {
                    delayed.secs(at(index)).queue(|world: &mut World| {
                        world.resource_mut::<Done>().0 += 1;
                    });
                }
            };
            plain.world_mut().run_system_once(ask).unwrap();
            for _ in 0..frames {
                plain.update();
            }
            assert_eq!(done(&plain) - before, n as u64);
        },
    );
}
