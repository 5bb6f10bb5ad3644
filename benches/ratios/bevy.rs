//! Flows of entities in a Bevy app against the plain way: a component with a `Timer`, and a system.
//!
//! | row | peer | bar, and why |
//! | --- | --- | --- |
//! | `bevy/empty_frame` | none: ns of all stages of a frame and of a step, with nothing in them | 5000: the quality bar |
//! | `bevy/waits_*` | a repeating `Timer` of 10 s on each entity, ticked by a system | 0.5: what sleeps is not touched, what is due costs a turn |
//! | `bevy/loops_*` | the same with 0.25 s | 2: a turn costs as much as 25 ticks of a timer, and comes every 16 frames; even at about half a second |
//! | `bevy/drives_*` | a system over a component, which adds up its own progress | 10: each of ours looks its entity up, the system walks a column |
//! | `bevy/delayed_1k` | `commands.delayed()`, 1000 at one time | 16: those are one queue on one entity; each of ours is a flow with a handle, to be listed and cancelled |
#![allow(clippy::unwrap_used)]

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
    let mut app = ours();
    rows.limit("bevy/empty_frame", 5_000.0, || {
        app.world_mut().run_schedule(FixedCooking);
        app.world_mut().run_schedule(Cooking);
    });
    for (n, size) in [(10_000, "10k"), (100_000, "100k")] {
        waits(rows, n, size);
        loops(rows, n, size);
        drives(rows, n, size);
    }
    delayed(rows);
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

/// A thousand calls a tenth of a second from now, until all of them are done.
fn delayed(rows: &mut Rows) {
    const CALLS: usize = 1_000;
    if !rows.wants("bevy/delayed_1k") {
        return;
    }
    let (mut flows, mut plain) = (ours(), bare());
    plain.update();
    let frames = 8;
    rows.row(
        "bevy/delayed_1k",
        16.0,
        CALLS,
        || {
            for _ in 0..CALLS {
                flows.world_mut().commands().flow("later", async |fx| {
                    fx.delay(secs(0.1)).await?;
                    fx.with(|cx| cx.host_mut().resource_mut::<Done>().0 += 1)
                });
            }
            for _ in 0..frames {
                flows.update();
            }
        },
        || {
            let ask = |mut commands: Commands| {
                let mut delayed = commands.delayed();
                for _ in 0..CALLS {
                    delayed.secs(0.1).queue(|world: &mut World| {
                        world.resource_mut::<Done>().0 += 1;
                    });
                }
            };
            plain.world_mut().run_system_once(ask).unwrap();
            for _ in 0..frames {
                plain.update();
            }
        },
    );
}
