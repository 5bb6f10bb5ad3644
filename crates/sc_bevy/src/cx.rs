//! What a `Cx` can do when its host is an ECS `World`.

use bevy_ecs::entity::Entity;
use bevy_ecs::name::Name;
use bevy_ecs::system::{IntoSystem, RunSystemError, RunSystemOnce, SystemIn, SystemInput};
use bevy_ecs::world::World;
use sc_core::{Cx, Owner, TickId, TickKey, Tickable, WorldId, WorldKind, WorldOptions};

use crate::entity::{Bound, EndsWorld, EntityLife};
use crate::error::EntityError;
use crate::slot::AppWorld;

/// Entities and systems, as calls on the [`Cx`].
pub trait BevyCx {
    /// The runtime's world that lives as long as the app; `None` when it was destroyed.
    ///
    /// ```
    /// # use bevy_app::App;
    /// # use bevy_time::TimePlugin;
    /// # use sc_bevy::*;
    /// # let mut app = App::new();
    /// # app.add_plugins((TimePlugin, StillCookingPlugins));
    /// let slow = app.world_mut().with_cx(|cx| {
    ///     let world = cx.app_world()?;
    ///     cx.set_dilation(world, 0.5).ok()
    /// })?;
    /// assert!(slow.is_some());
    /// # Ok::<(), CxError>(())
    /// ```
    fn app_world(&self) -> Option<WorldId>;

    /// What stands for an entity, to bind flows, commands and variables to by `.owner(..)`: its life
    /// is the entity's. From the despawn on, wherever it happens, nothing that is bound to it is
    /// called; flows have ended `Aborted` by the next stage.
    ///
    /// ```
    /// # use bevy_app::App;
    /// # use bevy_time::TimePlugin;
    /// # use sc_bevy::*;
    /// # use sc_core::secs;
    /// # use sc_flow::{FlowExt, WaitUntil};
    /// # let mut app = App::new();
    /// # app.add_plugins((TimePlugin, StillCookingPlugins));
    /// let door = app.world_mut().spawn_empty().id();
    /// app.world_mut().with_cx(|cx| {
    ///     let owner = cx.entity_owner(door)?;
    ///     WaitUntil::new(|_cx, _attempt| false).owner(owner).start(cx)?;
    ///     cx.host_mut().despawn(door);
    ///     Ok::<(), Box<dyn std::error::Error>>(())
    /// })??;
    /// app.update();
    /// assert_eq!(app.world_mut().with_cx(|cx| cx.flow_list().len())?, 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`EntityError`].
    fn entity_owner(&mut self, entity: Entity) -> Result<TickId, EntityError>;

    /// Makes a tickable that belongs to an entity, in the `Cx`'s world: despawning the entity shuts it
    /// down. Its shutdown event runs by the next stage, and nothing is reported. One that was shut down before, or that has
    /// lost its world, is not to be initialized again: it is freed when the entity gets others, or goes.
    ///
    /// ```
    /// # use bevy_app::App;
    /// # use bevy_ecs::world::World;
    /// # use bevy_time::TimePlugin;
    /// # use sc_bevy::*;
    /// # use sc_core::{Cx, Tickable};
    /// # let mut app = App::new();
    /// # app.add_plugins((TimePlugin, StillCookingPlugins));
    /// struct Brain { thoughts: u32 }
    /// impl Tickable<World> for Brain {
    ///     fn tick(&mut self, _: &mut Cx<'_, World>) { self.thoughts += 1; }
    /// }
    /// let enemy = app.world_mut().spawn_empty().id();
    /// let brain = app.world_mut().with_cx(|cx| cx.spawn_for(enemy, Brain { thoughts: 0 }))??;
    /// app.update();
    /// assert_eq!(app.world_mut().with_cx(|cx| cx.get(brain).map(|brain| brain.thoughts))??, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`EntityError`].
    fn spawn_for<T: Tickable<World>>(
        &mut self,
        entity: Entity,
        object: T,
    ) -> Result<TickKey<T>, EntityError>;

    /// The world of the runtime that lives as long as an entity; made when it is first asked for, and
    /// anew when it has been destroyed meanwhile. The despawn tears it down by the next stage.
    ///
    /// ```
    /// # use bevy_app::App;
    /// # use bevy_time::TimePlugin;
    /// # use sc_bevy::*;
    /// # let mut app = App::new();
    /// # app.add_plugins((TimePlugin, StillCookingPlugins));
    /// let level = app.world_mut().spawn_empty().id();
    /// let world = app.world_mut().with_cx(|cx| cx.entity_world(level))??;
    /// app.world_mut().despawn(level);
    /// app.update();
    /// assert!(!app.world_mut().with_cx(|cx| cx.is_world_alive(world))?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`EntityError`].
    fn entity_world(&mut self, entity: Entity) -> Result<WorldId, EntityError>;

    /// Runs a system once, with its commands applied: short for
    /// [`run_system_once_with`](RunSystemOnce::run_system_once_with).
    ///
    /// ```
    /// # use bevy_app::App;
    /// # use bevy_ecs::prelude::*;
    /// # use bevy_time::TimePlugin;
    /// # use sc_bevy::*;
    /// # let mut app = App::new();
    /// # app.add_plugins((TimePlugin, StillCookingPlugins));
    /// fn add(In(n): In<usize>, entities: Query<Entity>) -> usize { entities.iter().count().min(0) + n }
    /// let n = app.world_mut().with_cx(|cx| cx.run_system(add, 7))?.ok();
    /// assert_eq!(n, Some(7));
    /// # Ok::<(), CxError>(())
    /// ```
    ///
    /// # Errors
    /// Those of the system's parameters.
    fn run_system<S, I, Out, Marker>(
        &mut self,
        system: S,
        input: SystemIn<'_, S::System>,
    ) -> Result<Out, RunSystemError>
    where
        S: IntoSystem<I, Out, Marker>,
        I: SystemInput;
}

impl BevyCx for Cx<'_, World> {
    fn app_world(&self) -> Option<WorldId> {
        let app = self.runtime().state::<AppWorld>()?.0;
        app.filter(|&app| self.is_world_alive(app))
    }

    fn entity_owner(&mut self, entity: Entity) -> Result<TickId, EntityError> {
        if let Some(life) = self.host().get::<EntityLife>(entity) {
            return Ok(life.anchor.id());
        }
        let gone = EntityError::Gone { entity };
        if self.host().get_entity(entity).is_err() {
            return Err(gone);
        }
        let name = name_of(self.host(), entity);
        let anchor = self.spawn_anchor(name)?;
        let id = anchor.id();
        let life = EntityLife::new(anchor);
        match self.host_mut().get_entity_mut(entity) {
            Ok(mut entity) => entity.insert(life),
            Err(_) => return Err(gone),
        };
        // The user's hooks have run: it may be gone again.
        match self.host().get::<EntityLife>(entity) {
            Some(_) => Ok(id),
            None => Err(gone),
        }
    }

    fn spawn_for<T: Tickable<World>>(
        &mut self,
        entity: Entity,
        object: T,
    ) -> Result<TickKey<T>, EntityError> {
        self.entity_owner(entity)?;
        let owner = self.spawn(object).shutdown_on_drop();
        let key = owner.key();
        let world = self.world().or(self.app_world());
        self.initialize(&owner, world)?;
        keep(self, entity, owner)?;
        Ok(key)
    }

    fn entity_world(&mut self, entity: Entity) -> Result<WorldId, EntityError> {
        self.entity_owner(entity)?;
        let known = self.host().get::<EntityLife>(entity);
        let known = known.and_then(|life| life.world);
        if let Some(world) = known.filter(|&world| self.is_world_alive(world)) {
            return Ok(world);
        }
        let name = name_of(self.host(), entity);
        let world = self.create_world(WorldOptions::new(WorldKind::Game).name(name))?;
        let owner = self.spawn_worldless(EndsWorld(world)).shutdown_on_drop();
        self.initialize(&owner, None)?;
        if let Some(mut life) = self.host_mut().get_mut::<EntityLife>(entity) {
            // What was to end the world that is gone.
            life.objects
                .retain(|object| !object.owner.is::<Owner<EndsWorld>>());
            life.world = Some(world);
        }
        keep(self, entity, owner)?;
        Ok(world)
    }

    fn run_system<S, I, Out, Marker>(
        &mut self,
        system: S,
        input: SystemIn<'_, S::System>,
    ) -> Result<Out, RunSystemError>
    where
        S: IntoSystem<I, Out, Marker>,
        I: SystemInput,
    {
        self.host_mut().run_system_once_with(system, input)
    }
}

/// What reports and lists call an entity: by its `Name` too, if it has one.
fn name_of(world: &World, entity: Entity) -> String {
    match world.get::<Name>(entity) {
        Some(name) => format!("{name} (entity {entity})"),
        None => format!("entity {entity}"),
    }
}

/// Lets an owner live as long as an entity. Its object's initialize event may have despawned it: then
/// the owner goes at once, and with it the object.
fn keep<T: 'static>(
    cx: &mut Cx<'_, World>,
    entity: Entity,
    owner: Owner<T>,
) -> Result<(), EntityError> {
    let (id, owner) = (owner.id(), Box::new(owner));
    let Some(mut life) = cx.host_mut().get_mut::<EntityLife>(entity) else {
        return Err(EntityError::Gone { entity });
    };
    life.objects.push(Bound { id, owner });
    if life.objects.len() >= life.crowd {
        free_what_was_shut_down(cx, entity);
    }
    Ok(())
}

/// Those of its objects that were shut down go: nobody else has an owner of theirs. Seldom enough that each binding pays a
/// little of it.
fn free_what_was_shut_down(cx: &mut Cx<'_, World>, entity: Entity) {
    let Some(life) = cx.host().get::<EntityLife>(entity) else {
        return;
    };
    let live = life
        .objects
        .iter()
        .map(|object| cx.is_initialized(object.id));
    let mut live = live.collect::<Vec<_>>().into_iter();
    if let Some(mut life) = cx.host_mut().get_mut::<EntityLife>(entity) {
        life.objects.retain(|_| live.next().unwrap_or(true));
        life.crowd = (2 * life.objects.len()).max(8);
    }
}
