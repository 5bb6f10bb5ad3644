//! What an async flow can await in an ECS `World`: messages, events, changes of components; and systems.

use std::sync::{Arc, Mutex, PoisonError};

use bevy_ecs::change_detection::DetectChanges;
use bevy_ecs::component::Component;
use bevy_ecs::entity::Entity;
use bevy_ecs::event::Event;
use bevy_ecs::message::{Message, MessageCursor, Messages};
use bevy_ecs::observer::On;
use bevy_ecs::system::{IntoSystem, SystemIn, SystemInput};
use bevy_ecs::world::World;
use sc_core::Clock;
use sc_flow::{FlowCx, FlowError};

use crate::cx::BevyCx;
use crate::error::EntityError;

/// Messages, events, components and systems, for async flows. What is awaited is looked at once a frame, in
/// the stage `Flows`, also in a pause.
#[allow(async_fn_in_trait)] // Flows live on one thread: no future of theirs is `Send`.
pub trait BevyFx {
    /// Waits for a message that is written from now on, and gives a copy.
    ///
    /// ```
    /// # use bevy_app::App;
    /// # use bevy_ecs::prelude::*;
    /// # use bevy_time::TimePlugin;
    /// # use sc_bevy::*;
    /// # let mut app = App::new();
    /// # app.add_plugins((TimePlugin, StillCookingPlugins));
    /// #[derive(Message, Clone)]
    /// struct Hit(u32);
    /// #[derive(Resource)]
    /// struct Health(u32);
    /// app.add_message::<Hit>().insert_resource(Health(10));
    /// app.world_mut().commands().flow("one hit", async |fx| {
    ///     let Hit(points) = fx.message::<Hit>().await?;
    ///     fx.with(|cx| cx.host_mut().resource_mut::<Health>().0 -= points)
    /// });
    /// app.update();
    /// app.world_mut().write_message(Hit(3));
    /// app.update();
    /// assert_eq!(app.world().resource::<Health>().0, 7);
    /// ```
    ///
    /// # Errors
    /// [`FlowError::Other`] when the app has no such messages: `add_message` is missing.
    async fn message<M: Message + Clone>(&self) -> Result<M, FlowError>;

    /// Waits for an event that is triggered from now on, and gives a copy: by an observer that lives
    /// as long as the wait.
    ///
    /// ```
    /// # use bevy_app::App;
    /// # use bevy_ecs::prelude::*;
    /// # use bevy_time::TimePlugin;
    /// # use sc_bevy::*;
    /// # let mut app = App::new();
    /// # app.add_plugins((TimePlugin, StillCookingPlugins));
    /// #[derive(Event, Clone)]
    /// struct DoorOpened(u32);
    /// #[derive(Resource, PartialEq, Debug)]
    /// struct Seen(u32);
    /// app.world_mut().commands().flow("which door", async |fx| {
    ///     let DoorOpened(door) = fx.event::<DoorOpened>().await?;
    ///     fx.with(|cx| cx.host_mut().insert_resource(Seen(door)))
    /// });
    /// app.update();
    /// app.world_mut().trigger(DoorOpened(7));
    /// app.update();
    /// assert_eq!(app.world().resource::<Seen>(), &Seen(7));
    /// ```
    ///
    /// # Errors
    /// Those of an await.
    async fn event<E>(&self) -> Result<E, FlowError>
    where
        E: Event + Clone,
        for<'t> E::Trigger<'t>: Send + Sync;

    /// Waits until a component of an entity has changed from now on, or was added.
    ///
    /// # Errors
    /// [`FlowError::Other`] with [`EntityError::Gone`] when the entity is gone.
    async fn component_changed<C: Component>(&self, entity: Entity) -> Result<(), FlowError>;

    /// Runs a system once, with its commands applied, and gives what it returns.
    ///
    /// ```
    /// # use bevy_ecs::prelude::*;
    /// # use sc_bevy::*;
    /// # #[derive(Component)] struct Enemy;
    /// fn count(enemies: Query<&Enemy>) -> usize { enemies.iter().count() }
    /// fn boss(mut commands: Commands) {
    ///     commands.flow("boss", async |fx| {
    ///         while fx.system(count, ())? > 0 { fx.next_tick().await?; }
    ///         Ok(())
    ///     });
    /// }
    /// # bevy_ecs::system::assert_is_system(boss);
    /// ```
    ///
    /// # Errors
    /// [`FlowError::Other`] with the reason why it did not run.
    fn system<S, I, Out, Marker>(
        &self,
        system: S,
        input: SystemIn<'_, S::System>,
    ) -> Result<Out, FlowError>
    where
        S: IntoSystem<I, Out, Marker>,
        I: SystemInput;
}

impl BevyFx for FlowCx<World> {
    async fn message<M: Message + Clone>(&self) -> Result<M, FlowError> {
        let mut cursor: MessageCursor<M> = self.with(|cx| {
            let messages = cx.host().get_resource::<Messages<M>>();
            messages.map(Messages::get_cursor_current).ok_or_else(|| {
                let name = std::any::type_name::<M>();
                FlowError::other(format!(
                    "the app has no messages of type {name}: add them by `add_message`"
                ))
            })
        })??;
        let mut found = None;
        self.wait_until(|cx, _| {
            let messages = cx.host().get_resource::<Messages<M>>();
            found = messages.and_then(|messages| cursor.read(messages).next().cloned());
            found.is_some()
        })
        .on(Clock::Real)
        .await?;
        found.ok_or(FlowError::Gone)
    }

    async fn event<E>(&self) -> Result<E, FlowError>
    where
        E: Event + Clone,
        for<'t> E::Trigger<'t>: Send + Sync,
    {
        let seen = Arc::new(Mutex::new(None));
        let theirs = Arc::clone(&seen);
        let observe = move |event: On<E>| {
            let mut seen = theirs.lock().unwrap_or_else(PoisonError::into_inner);
            // The first one counts.
            seen.get_or_insert_with(|| event.event().clone());
        };
        let observer = self.with(|cx| cx.host_mut().add_observer(observe).id())?;
        let _ends = EndsObserver { fx: self, observer };
        let take = || seen.lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut found = None;
        self.wait_until(|_, _| {
            found = take();
            found.is_some()
        })
        .on(Clock::Real)
        .await?;
        found.ok_or(FlowError::Gone)
    }

    async fn component_changed<C: Component>(&self, entity: Entity) -> Result<(), FlowError> {
        // What changes from now on has a later tick.
        let since = self.with(|cx| cx.host_mut().increment_change_tick())?;
        let mut is_gone = false;
        self.wait_until(|cx, _| {
            let now = cx.host_mut().change_tick();
            let Ok(found) = cx.host().get_entity(entity) else {
                is_gone = true;
                return true;
            };
            let component = found.get_ref::<C>();
            component.is_some_and(|c| c.last_changed().is_newer_than(since, now))
        })
        .on(Clock::Real)
        .await?;
        if is_gone {
            return Err(FlowError::other(EntityError::Gone { entity }));
        }
        Ok(())
    }

    fn system<S, I, Out, Marker>(
        &self,
        system: S,
        input: SystemIn<'_, S::System>,
    ) -> Result<Out, FlowError>
    where
        S: IntoSystem<I, Out, Marker>,
        I: SystemInput,
    {
        let outcome = self.with(|cx| cx.run_system(system, input))?;
        outcome.map_err(|error| FlowError::other(error.to_string()))
    }
}

/// Despawns an observer when the wait for it ends, however it does.
struct EndsObserver<'f> {
    fx: &'f FlowCx<World>,
    observer: Entity,
}

impl Drop for EndsObserver<'_> {
    fn drop(&mut self) {
        // Out of reach only when the runtime is dropped, and its `World` with it.
        let _ = self.fx.with(|cx| cx.host_mut().despawn(self.observer));
    }
}
