//! What is bound to an entity ends with it, wherever the despawn happens.

use crate::common::{app, flows, log, reports, say, updates, with};
use bevy_app::Update;
use bevy_ecs::lifecycle::HookContext;
use bevy_ecs::prelude::*;
use bevy_ecs::world::DeferredWorld;
use sc_bevy::{
    BevyCx, Cooking, EntityError, EntityFlowCommands, FlowCommands, FlowState, StageSystems,
    WorldCx,
};
use sc_core::{AnyCx, Cx, Stage, TickGroup, TickSettings, Tickable, secs};
use sc_flow::{FlowFinish, ForEach};

/// Starts a flow that logs each frame, bound to a new entity.
fn victim(app: &mut bevy_app::App) -> (Entity, sc_bevy::FlowHandle) {
    let entity = app.world_mut().spawn_empty().id();
    let mut commands = app.world_mut().commands();
    let handle = commands.entity(entity).flow("victim", async |fx, entity| {
        loop {
            fx.with(|cx| {
                assert!(cx.host().get_entity(entity).is_ok());
                say(cx.host_mut(), "turn");
            })?;
            fx.next_tick().await?;
        }
    });
    app.world_mut().flush();
    (entity, handle)
}

fn aborted(handle: &sc_bevy::FlowHandle) -> bool {
    handle.state() == FlowState::Ended(FlowFinish::Aborted)
}

#[test]
fn outside_systems() {
    let mut app = app();
    let (entity, handle) = victim(&mut app);
    app.update();
    assert_eq!(log(&mut app), ["turn"]);
    app.world_mut().despawn(entity);
    app.update();
    assert_eq!(log(&mut app), [""; 0]);
    assert!(aborted(&handle));
    assert_eq!(reports(&app), [""; 0]);
}

#[test]
fn in_the_system_that_started_it() {
    let mut app = app();
    app.add_systems(Update, |mut commands: Commands, mut done: Local<bool>| {
        if std::mem::replace(&mut *done, true) {
            return;
        }
        let entity = commands.spawn_empty().id();
        commands.entity(entity).flow("victim", async |fx, _| {
            fx.with(|cx| say(cx.host_mut(), "turn"))
        });
        commands.entity(entity).despawn();
    });
    updates(&mut app, 2);
    assert_eq!((log(&mut app).len(), flows(&mut app)), (0, 0));
    assert_eq!(reports(&app), [""; 0]);
}

#[test]
fn before_its_start_is_applied_it_is_refused_and_reported() {
    let mut app = app();
    let entity = app.world_mut().spawn_empty().id();
    let mut commands = app.world_mut().commands();
    commands.entity(entity).despawn();
    let handle = commands.entity(entity).flow("late", async |_, _| Ok(()));
    app.update();
    assert_eq!(handle.state(), FlowState::Refused);
    assert_eq!(reports(&app), ["RequestRefused"]);
}

#[derive(Event)]
struct Kill(Entity);

#[test]
fn in_an_observer() {
    let mut app = app();
    app.add_observer(|kill: On<Kill>, mut commands: Commands| {
        commands.entity(kill.0).despawn();
    });
    let (entity, handle) = victim(&mut app);
    app.update();
    app.world_mut().trigger(Kill(entity));
    app.update();
    assert_eq!(log(&mut app), ["turn"]);
    assert!(aborted(&handle));
}

#[derive(Component)]
#[component(on_remove = kill_partner)]
struct Partner(Entity);

fn kill_partner(mut world: DeferredWorld, context: HookContext) {
    let partner = world
        .get::<Partner>(context.entity)
        .map(|partner| partner.0);
    if let Some(partner) = partner {
        world.commands().entity(partner).despawn();
    }
}

#[test]
fn in_a_hook() {
    let mut app = app();
    let (entity, handle) = victim(&mut app);
    let other = app.world_mut().spawn(Partner(entity)).id();
    app.update();
    app.world_mut().despawn(other);
    app.update();
    assert_eq!(log(&mut app), ["turn"]);
    assert!(aborted(&handle));
}

#[test]
fn in_a_hierarchy() {
    let mut app = app();
    let (entity, handle) = victim(&mut app);
    let parent = app.world_mut().spawn_empty().add_child(entity).id();
    app.update();
    app.world_mut().despawn(parent);
    app.update();
    assert_eq!(log(&mut app), ["turn"]);
    assert!(aborted(&handle));
}

#[test]
fn in_another_flow_of_the_same_stage() {
    let mut app = app();
    let killer = app.world_mut().commands().flow("killer", async |fx| {
        fx.next_tick().await?;
        let target = fx.with(|cx| cx.host().resource::<Target>().0)?;
        fx.with(|cx| cx.host_mut().despawn(target))?;
        Ok(())
    });
    app.world_mut().flush();
    let (entity, handle) = victim(&mut app);
    app.world_mut().insert_resource(Target(entity));
    updates(&mut app, 1);
    assert_eq!(log(&mut app), ["turn"]);
    app.update();
    assert_eq!(log(&mut app), [""; 0], "the killer has its turn first");
    assert_eq!(killer.state(), FlowState::Ended(FlowFinish::Completed));
    assert!(aborted(&handle));
}

#[derive(Resource)]
struct Target(Entity);

#[test]
fn in_its_own_body() {
    let mut app = app();
    let entity = app.world_mut().spawn_empty().id();
    let mut commands = app.world_mut().commands();
    let handle = commands.entity(entity).flow("own end", async |fx, entity| {
        fx.with(|cx| {
            cx.host_mut().despawn(entity);
            say(cx.host_mut(), "despawned");
        })?;
        fx.next_tick().await?;
        fx.with(|cx| say(cx.host_mut(), "never"))
    });
    updates(&mut app, 3);
    assert_eq!(log(&mut app), ["despawned"]);
    assert!(aborted(&handle));
}

#[test]
fn in_a_system_before_and_after_our_sets() {
    for before in [true, false] {
        let mut app = app();
        let (entity, handle) = victim(&mut app);
        app.insert_resource(Target(entity));
        let kill = |target: Res<Target>, mut commands: Commands| {
            commands.entity(target.0).try_despawn();
        };
        if before {
            app.add_systems(Cooking, kill.before(StageSystems(Stage::Flows)));
        } else {
            app.add_systems(
                Cooking,
                kill.after(StageSystems(Stage::Flows))
                    .before(StageSystems(Stage::PostUpdate)),
            );
        }
        app.update();
        let turns = if before { 0 } else { 1 };
        assert_eq!(log(&mut app).len(), turns, "before: {before}");
        assert!(aborted(&handle), "by the next stage");
        app.update();
        assert_eq!(log(&mut app).len(), 0);
    }
}

#[test]
fn one_that_sleeps_for_an_hour_ends_too_and_its_guards_run() {
    struct Guard(std::sync::Arc<std::sync::atomic::AtomicBool>);
    impl Drop for Guard {
        fn drop(&mut self) {
            self.0.store(true, std::sync::atomic::Ordering::Relaxed);
        }
    }
    let mut app = app();
    let dropped = std::sync::Arc::default();
    let guard = Guard(std::sync::Arc::clone(&dropped));
    let entity = app.world_mut().spawn_empty().id();
    let mut commands = app.world_mut().commands();
    commands.entity(entity).flow("sleeper", async move |fx, _| {
        let _guard = guard;
        fx.delay(secs(3600)).await?;
        Ok(())
    });
    updates(&mut app, 2);
    assert_eq!(flows(&mut app), 1);
    app.world_mut().despawn(entity);
    app.update();
    assert_eq!(flows(&mut app), 0);
    assert!(dropped.load(std::sync::atomic::Ordering::Relaxed));
}

#[test]
fn builders_are_bound_by_the_entitys_owner() {
    let mut app = app();
    let entity = app.world_mut().spawn_empty().id();
    let mut commands = app.world_mut().commands();
    commands.entity(entity).with_cx(|cx, entity| {
        let Ok(owner) = cx.entity_owner(entity) else {
            return say(cx.host_mut(), "no owner");
        };
        let started = ForEach::index(100)
            .each(|cx: &mut Cx<'_, World>, i| say(cx.host_mut(), format!("{i}")))
            .completed(|cx, _| say(cx.host_mut(), "completed"))
            .on_finished(|cx, finish| say(cx.host_mut(), format!("{finish:?}")))
            .owner(owner)
            .start(cx);
        assert!(started.is_ok());
    });
    updates(&mut app, 2);
    app.world_mut().despawn(entity);
    app.update();
    assert_eq!(log(&mut app), ["0", "1", "Aborted"]);
}

#[test]
fn a_reused_entity_index_is_another_entity() {
    let mut app = app();
    let (entity, handle) = victim(&mut app);
    app.update();
    let next = app.world_mut().despawn_no_free(entity);
    let reused = next.and_then(|next| app.world_mut().spawn_empty_at(next).ok().map(|e| e.id()));
    assert_eq!(reused.map(|reused| reused.index()), Some(entity.index()));
    app.update();
    assert!(aborted(&handle));
    assert_eq!(log(&mut app), ["turn"]);
}

#[test]
fn a_copy_of_an_entity_is_bound_to_nothing() {
    let mut app = app();
    let (entity, handle) = victim(&mut app);
    app.update();
    let copy = app.world_mut().entity_mut(entity).clone_and_spawn();
    app.world_mut().despawn(copy);
    app.update();
    assert!(matches!(handle.state(), FlowState::Running));
    assert_eq!(log(&mut app), ["turn", "turn"]);
}

struct Brain;
impl Tickable<World> for Brain {
    fn tick(&mut self, cx: &mut Cx<'_, World>) {
        say(cx.host_mut(), "think");
    }
    fn shutdown(&mut self, cx: &mut Cx<'_, World>) {
        say(cx.host_mut(), "sleep");
    }
}

#[test]
fn a_tickable_of_an_entity_is_shut_down_without_a_report() {
    let mut app = app();
    let entity = app.world_mut().spawn_empty().id();
    let brain = app.world_mut().with_cx(|cx| cx.spawn_for(entity, Brain));
    assert!(matches!(brain, Ok(Ok(_))));
    app.update();
    app.world_mut().despawn(entity);
    updates(&mut app, 2);
    assert_eq!(log(&mut app), ["think", "sleep"]);
    assert_eq!(reports(&app), [""; 0]);
}

#[test]
fn tickables_of_an_entity_that_were_shut_down_are_freed_though_it_lives() {
    let mut app = app();
    let entity = app.world_mut().spawn_empty().id();
    let made = app.world_mut().with_cx(|cx| {
        let stays = cx.spawn_for(entity, Brain)?;
        let mut gone = Vec::new();
        for _ in 0..1000 {
            let key = cx.spawn_for(entity, Brain)?;
            let shut = cx.shutdown(key);
            assert_eq!(shut, Ok(true));
            gone.push(key);
        }
        Ok::<_, sc_bevy::EntityError>((stays, gone))
    });
    let Ok(Ok((stays, gone))) = made else {
        unreachable!("{:?}", made.err());
    };
    app.update();
    let kept = with(&mut app, |cx| {
        let kept = gone.iter().filter(|&&key| cx.get(key).is_ok()).count();
        (cx.is_initialized(stays), kept)
    });
    assert!(kept.0);
    assert!(kept.1 < 16, "{} are still there", kept.1);
    app.world_mut().despawn(entity);
    app.update();
    assert!(with(&mut app, |cx| cx.get(stays).is_err()));
    assert_eq!(reports(&app), [""; 0]);
}

struct Assassin(Entity);
impl Tickable<World> for Assassin {
    fn tick(&mut self, cx: &mut Cx<'_, World>) {
        cx.host_mut().despawn(self.0);
    }
    fn settings(&self) -> TickSettings {
        TickSettings::default().group(TickGroup::PostPhysics)
    }
}

#[test]
fn a_despawn_in_a_tick_stops_a_bound_tickable_of_the_same_pass() {
    let mut app = app();
    let entity = app.world_mut().spawn_empty().id();
    let other = app.world_mut().spawn_empty().id();
    let made = app.world_mut().with_cx(|cx| {
        cx.spawn_for(other, Assassin(entity))?;
        cx.spawn_for(entity, Brain)
    });
    assert!(matches!(made, Ok(Ok(_))));
    updates(&mut app, 2);
    assert_eq!(log(&mut app), ["sleep"]);
}

#[test]
fn what_is_bound_last_is_shut_down_first() {
    struct Part(&'static str);
    impl Tickable<World> for Part {
        fn shutdown(&mut self, cx: &mut Cx<'_, World>) {
            say(cx.host_mut(), self.0);
        }
    }
    let mut app = app();
    let entity = app.world_mut().spawn_empty().id();
    let made = app.world_mut().with_cx(|cx| {
        cx.spawn_for(entity, Part("first"))?;
        cx.spawn_for(entity, Part("second"))
    });
    assert!(matches!(made, Ok(Ok(_))));
    app.world_mut().despawn(entity);
    app.update();
    assert_eq!(log(&mut app), ["second", "first"]);
}

#[test]
fn the_world_of_an_entity_ends_with_it() {
    let mut app = app();
    let entity = app.world_mut().spawn_empty().id();
    let world = app.world_mut().with_cx(|cx| {
        let world = cx.entity_world(entity)?;
        let started = sc_flow::Flow::new("inside")
            .world(world)
            .spawn(cx, async |fx| {
                fx.delay(secs(60)).await?;
                Ok(())
            });
        assert!(started.is_ok());
        assert_eq!(cx.entity_world(entity)?, world, "one world an entity");
        Ok::<_, sc_bevy::EntityError>(world)
    });
    let Ok(Ok(world)) = world else {
        unreachable!("the entity exists");
    };
    app.update();
    assert_eq!(flows(&mut app), 1);
    app.world_mut().despawn(entity);
    app.update();
    assert_eq!(flows(&mut app), 0);
    let alive = app.world_mut().with_cx(|cx| cx.is_world_alive(world));
    assert_eq!(alive, Ok(false));
}

/// The spawn in a removal hook is applied after the removal.
#[derive(Component)]
#[component(on_remove = leave_a_flow)]
struct Ghost;

fn leave_a_flow(mut world: DeferredWorld, _: HookContext) {
    let mut commands = world.commands();
    let heir = commands.spawn_empty().id();
    commands.entity(heir).flow("heir", async |fx, _| {
        fx.with(|cx| say(cx.host_mut(), "heir"))
    });
}

#[test]
fn case_c20_a_spawn_in_a_removal_hook_is_applied_after_the_removal() {
    let mut app = app();
    let ghost = app.world_mut().spawn(Ghost).id();
    app.world_mut().despawn(ghost);
    app.update();
    assert_eq!(log(&mut app), ["heir"]);
}

#[test]
fn nothing_is_reported_when_an_app_is_dropped_with_entities() {
    let mut app = app();
    let (_, handle) = victim(&mut app);
    app.update();
    let sink = app.world().non_send::<crate::common::Reports>().kept();
    drop(app);
    assert_eq!(sink.borrow().len(), 0);
    assert_eq!(handle.state(), FlowState::Ended(FlowFinish::Aborted));
}

#[test]
fn in_an_observer_that_a_flow_triggers() {
    let mut app = app();
    app.add_observer(|kill: On<Kill>, mut commands: Commands| {
        commands.entity(kill.0).despawn();
    });
    let (entity, handle) = victim(&mut app);
    app.update();
    app.world_mut().commands().flow("killer", async move |fx| {
        fx.with(|cx| {
            cx.host_mut().trigger(Kill(entity));
            cx.host_mut().flush();
        })?;
        fx.next_tick().await?;
        Ok(())
    });
    app.update();
    // The victim has its turn first.
    assert_eq!(log(&mut app), ["turn", "turn"]);
    assert!(aborted(&handle), "when the killer's turn was over");
}

#[test]
fn of_many_in_one_command_queue_each_ends_its_own() {
    let mut app = app();
    let victims: Vec<_> = (0..10).map(|_| victim(&mut app)).collect();
    app.update();
    log(&mut app);
    let mut commands = app.world_mut().commands();
    for (entity, _) in victims.iter().step_by(2) {
        commands.entity(*entity).despawn();
    }
    app.update();
    assert_eq!(log(&mut app).len(), 5);
    for (index, (_, handle)) in victims.iter().enumerate() {
        assert_eq!(aborted(handle), index % 2 == 0);
    }
}

#[test]
fn what_a_component_owns_follows_the_rule_of_dropped_owners() {
    struct Thing;
    impl Tickable<World> for Thing {
        fn shutdown(&mut self, cx: &mut Cx<'_, World>) {
            say(cx.host_mut(), "shutdown");
        }
    }
    #[derive(Component)]
    struct Owns(#[allow(dead_code)] sc_core::Owner<Thing>);
    let mut app = app();
    let owned = app.world_mut().with_cx(|cx| {
        let world = cx.app_world()?;
        cx.spawn_in(world, Thing).ok()
    });
    let Ok(Some(owner)) = owned else {
        unreachable!("it was refused")
    };
    let entity = app.world_mut().spawn(Owns(owner)).id();
    app.update();
    app.world_mut().despawn(entity);
    app.update();
    assert_eq!(log(&mut app), [""; 0], "no event");
    assert_eq!(reports(&app), ["OwnerDropped"]);
}

#[test]
fn an_entitys_world_that_was_destroyed_is_made_anew() {
    let mut app = app();
    let level = app.world_mut().spawn_empty().id();
    let worlds = app.world_mut().with_cx(|cx| {
        let first = cx.entity_world(level)?;
        let again = cx.entity_world(level)?;
        cx.destroy_world(first);
        let second = cx.entity_world(level)?;
        Ok::<_, EntityError>((first, again, second, cx.is_world_alive(second)))
    });
    let Ok(Ok((first, again, second, is_alive))) = worlds else {
        unreachable!("{worlds:?}");
    };
    assert_eq!(first, again);
    assert_ne!(first, second);
    assert!(is_alive);
    app.update();
    let ticks = app.world_mut().with_cx(|cx| cx.tick_list().len());
    assert_eq!(ticks, Ok(1), "what was to end the first one is gone too");
    app.world_mut().despawn(level);
    app.update();
    let is_alive = app.world_mut().with_cx(|cx| cx.is_world_alive(second));
    assert_eq!(is_alive, Ok(false));
    assert_eq!(reports(&app), [""; 0]);
}

#[test]
fn what_stands_for_an_entity_is_called_by_it() {
    let mut app = app();
    let plain = app.world_mut().spawn_empty().id();
    let named = app.world_mut().spawn(Name::new("boss")).id();
    let right = [
        (plain, format!("entity {plain}")),
        (named, format!("boss (entity {named})")),
    ];
    for (entity, name) in right {
        let called = app.world_mut().with_cx(|cx| {
            let world = cx.entity_world(entity)?;
            let world = cx.world_info(world).map(|world| world.name);
            let owner = cx.entity_owner(entity)?;
            let listed = cx.tick_info(owner).map(|owner| owner.name);
            cx.shutdown(owner)?;
            let error = cx.life(owner).map_err(|error| error.to_string());
            Ok::<_, EntityError>((world, listed, error.err()))
        });
        let error = format!("{name} is not initialized: initialize it first");
        let right = (Ok(name.clone()), Ok(name), Some(error));
        assert_eq!(called, Ok(Ok(right)));
    }
}
