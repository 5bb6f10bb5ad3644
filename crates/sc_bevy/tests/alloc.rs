//! A steady update allocates nothing of ours: as much as an app without the plugin does.

#![forbid(unsafe_code)]

#[path = "behaviour/common.rs"]
mod common;

use std::time::Duration;

use allocation_counter::measure;
use bevy_app::App;
use bevy_ecs::prelude::*;
use bevy_ecs::schedule::SingleThreadedExecutor;
use bevy_time::{TimePlugin, TimeUpdateStrategy};
use sc_bevy::{BevyCx, BevyFx, EntityFlowCommands, FlowCommands, StillCookingPlugins, WorldCx};
use sc_core::{Cx, TickSettings, Tickable, WorldKind, WorldOptions, secs};
use sc_flow::{DoForDuration, Flow, ForEach};

#[derive(Component)]
struct Value(f32);

#[derive(Message, Clone)]
struct Never;

#[derive(Event, Clone)]
struct Nor;

#[derive(Resource, Default)]
struct Count(u64);

fn count(cx: &mut Cx<'_, World>) {
    cx.host_mut().resource_mut::<Count>().0 += 1;
}

struct Ticks(Option<f64>);

impl Tickable<World> for Ticks {
    fn tick(&mut self, cx: &mut Cx<'_, World>) {
        count(cx);
    }
    fn settings(&self) -> TickSettings {
        let settings = TickSettings::default();
        match self.0 {
            Some(interval) => settings.interval(interval),
            None => settings,
        }
    }
}

/// An app whose updates take 50 ms: 3.2 timesteps.
fn plain() -> App {
    let mut app = App::new();
    app.add_plugins(TimePlugin)
        .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_millis(
            50,
        )))
        .init_resource::<Count>()
        .add_message::<Never>();
    // What other threads allocate is not counted.
    for (_, schedule) in app.world_mut().resource_mut::<Schedules>().iter_mut() {
        schedule.set_executor(SingleThreadedExecutor::new());
    }
    app
}

fn ours() -> App {
    let mut app = plain();
    app.add_plugins(StillCookingPlugins);
    app.update();
    app
}

/// Allocations of a hundred updates, after two hundred to warm up.
fn a_hundred_updates(app: &mut App) -> u64 {
    common::updates(app, 200);
    measure(|| common::updates(app, 100)).count_total
}

fn is_as_plain(mut app: App, counted: u64) {
    assert_eq!(a_hundred_updates(&mut app), a_hundred_updates(&mut plain()));
    assert_eq!(app.world().resource::<Count>().0, counted);
}

#[test]
fn an_empty_app_allocates_nothing_more() {
    is_as_plain(ours(), 0);
}

#[test]
fn flows_of_entities_allocate_nothing() {
    let mut app = ours();
    for _ in 0..50 {
        let entity = app.world_mut().spawn(Value(0.0)).id();
        let mut commands = app.world_mut().commands();
        let mut commands = commands.entity(entity);
        commands.flow("every frame", async |fx, _| {
            loop {
                fx.with(count)?;
                fx.next_tick().await?;
            }
        });
        commands.flow("now and then", async |fx, _| {
            loop {
                fx.delay(secs(0.13)).await?;
            }
        });
        commands.flow("asleep", async |fx, _| fx.delay(secs(1e6)).await);
    }
    is_as_plain(app, 50 * 300);
}

#[test]
fn builders_of_entities_allocate_nothing() {
    let mut app = ours();
    for _ in 0..50 {
        let entity = app.world_mut().spawn(Value(0.0)).id();
        let started = app.world_mut().with_cx(|cx| {
            let owner = cx.entity_owner(entity).ok()?;
            let drive = DoForDuration::new(secs(1), move |cx: &mut Cx<'_, World>, alpha, _| {
                if let Some(mut value) = cx.host_mut().get_mut::<Value>(entity) {
                    value.0 = alpha;
                }
            });
            drive.forever().owner(owner).start(cx).ok()?;
            ForEach::index(i64::MAX)
                .delay(secs(0.1))
                .each(|cx: &mut Cx<'_, World>, _| count(cx))
                .owner(owner)
                .start(cx)
                .ok()
        });
        assert!(matches!(started, Ok(Some(_))));
    }
    // At 0.05 s, and then every second update.
    is_as_plain(app, 50 * 150);
}

#[test]
fn tickables_of_entities_allocate_nothing() {
    let mut app = ours();
    for _ in 0..50 {
        let entity = app.world_mut().spawn_empty().id();
        let spawned = app.world_mut().with_cx(|cx| {
            cx.spawn_for(entity, Ticks(None)).ok()?;
            cx.spawn_for(entity, Ticks(Some(0.1))).ok()
        });
        assert!(matches!(spawned, Ok(Some(_))));
    }
    is_as_plain(app, 50 * (300 + 150));
}

#[test]
fn waits_for_the_world_allocate_nothing() {
    let mut app = ours();
    for _ in 0..50 {
        let entity = app.world_mut().spawn(Value(0.0)).id();
        let mut commands = app.world_mut().commands();
        commands.flow("message", async |fx| fx.message::<Never>().await.map(drop));
        commands.flow("event", async |fx| fx.event::<Nor>().await.map(drop));
        commands.flow("component", async move |fx| {
            fx.component_changed::<Value>(entity).await
        });
        commands.flow("condition", async |fx| {
            fx.wait_until(|cx, _| {
                count(cx);
                false
            })
            .await
            .map(drop)
        });
    }
    is_as_plain(app, 50 * 300);
}

#[test]
fn worlds_that_step_and_worlds_with_a_dilation_allocate_nothing() {
    let mut app = ours();
    for steps in [true, false] {
        let made = app.world_mut().with_cx(|cx| {
            let options = WorldOptions::new(WorldKind::Game).steps(steps);
            let world = cx.create_world(options).ok()?;
            cx.set_dilation(world, 0.5).ok()?;
            cx.spawn_world_owned(world, Ticks(None)).ok()?;
            let flow = Flow::new("every frame").world(world);
            flow.spawn(cx, async |fx| {
                loop {
                    fx.next_tick().await?;
                }
            })
            .ok()
        });
        assert!(matches!(made, Ok(Some(_))));
    }
    // 300 updates, and 3.2 steps in each.
    is_as_plain(app, 300 + 960);
}
