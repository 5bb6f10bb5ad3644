//! What an async flow can await in an ECS `World`: messages, events, changes of components; and systems.

use std::panic::Location;

use bevy_ecs::change_detection::DetectChanges;
use bevy_ecs::component::Component;
use bevy_ecs::entity::Entity;
use bevy_ecs::event::Event;
use bevy_ecs::message::Message;
use bevy_ecs::system::{IntoSystem, SystemIn, SystemInput};
use bevy_ecs::world::World;
use sc_core::Clock;
use sc_flow::{FlowCx, FlowError};

use crate::cx::BevyCx;
use crate::error::EntityError;
use crate::stream::{EventStream, MessageStream};

/// Messages, events, components and systems, for async flows. What is awaited is looked at once a frame
/// of the flow's world, in the stage `Flows`, also in a pause; of a world that steps, in each step, and in none
/// while Bevy takes none.
#[allow(async_fn_in_trait)] // Flows live on one thread: no future of theirs is `Send`.
pub trait BevyFx {
    /// Waits for a message that is written from now on, and gives a copy. It is one: those that come with it are
    /// nobody's. A loop takes [`messages`](Self::messages).
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
    #[track_caller]
    fn message<M: Message + Clone>(&self) -> impl Future<Output = Result<M, FlowError>>;

    /// The messages that are written from now on, one after the other.
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
    /// app.world_mut().commands().flow("hits", async |fx| {
    ///     let mut hits = fx.messages::<Hit>()?;
    ///     loop {
    ///         let Hit(points) = hits.next().await?;
    ///         fx.with(|cx| cx.host_mut().resource_mut::<Health>().0 -= points)?;
    ///     }
    /// });
    /// app.update();
    /// app.world_mut().write_message(Hit(3));
    /// app.world_mut().write_message(Hit(2));
    /// app.update();
    /// assert_eq!(app.world().resource::<Health>().0, 5);
    /// ```
    ///
    /// # Errors
    /// As [`message`](Self::message).
    #[track_caller]
    fn messages<M: Message + Clone>(&self) -> Result<MessageStream<'_, M>, FlowError>;

    /// Waits for an event that is triggered from now on, and gives a copy: by an observer that lives
    /// as long as the wait. It is one: a loop takes [`events`](Self::events).
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

    /// The events that are triggered from now on, one after the other: by an observer that lives as long as
    /// the stream.
    ///
    /// ```
    /// # use bevy_ecs::prelude::*;
    /// # use sc_bevy::*;
    /// #[derive(Event, Clone)]
    /// struct DoorOpened(u32);
    /// fn porter(mut commands: Commands) {
    ///     commands.flow("the first three doors", async |fx| {
    ///         let mut doors = fx.events::<DoorOpened>()?;
    ///         for _ in 0..3 {
    ///             let DoorOpened(door) = doors.next().await?;
    ///             println!("door {door}");
    ///         }
    ///         Ok(())
    ///     });
    /// }
    /// # bevy_ecs::system::assert_is_system(porter);
    /// ```
    ///
    /// # Errors
    /// Those of [`FlowCx::with`].
    fn events<E>(&self) -> Result<EventStream<'_, E>, FlowError>
    where
        E: Event + Clone,
        for<'t> E::Trigger<'t>: Send + Sync;

    /// Waits until a component of an entity has changed from now on, or was added.
    ///
    /// ```
    /// # use bevy_app::App;
    /// # use bevy_ecs::prelude::*;
    /// # use bevy_time::TimePlugin;
    /// # use sc_bevy::*;
    /// # let mut app = App::new();
    /// # app.add_plugins((TimePlugin, StillCookingPlugins));
    /// #[derive(Component)]
    /// struct Health(u32);
    /// #[derive(Component)]
    /// struct Hurt;
    /// let player = app.world_mut().spawn(Health(10)).id();
    /// app.world_mut().commands().entity(player).flow("ouch", async |fx, player| {
    ///     fx.component_changed::<Health>(player).await?;
    ///     fx.with(|cx| { cx.host_mut().entity_mut(player).insert(Hurt); })
    /// });
    /// app.update();
    /// assert!(!app.world().entity(player).contains::<Hurt>());
    /// if let Some(mut health) = app.world_mut().get_mut::<Health>(player) { health.0 -= 3; }
    /// app.update();
    /// assert!(app.world().entity(player).contains::<Hurt>());
    /// ```
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
    ///         while fx.run_system(count, ())? > 0 { fx.next_tick().await?; }
    ///         Ok(())
    ///     });
    /// }
    /// # bevy_ecs::system::assert_is_system(boss);
    /// ```
    ///
    /// # Errors
    /// [`FlowError::Other`] with the reason why it did not run.
    fn run_system<S, I, Out, Marker>(
        &self,
        system: S,
        input: SystemIn<'_, S::System>,
    ) -> Result<Out, FlowError>
    where
        S: IntoSystem<I, Out, Marker>,
        I: SystemInput;
}

impl BevyFx for FlowCx<World> {
    #[track_caller]
    fn message<M: Message + Clone>(&self) -> impl Future<Output = Result<M, FlowError>> {
        let location = Location::caller();
        async move { MessageStream::new(self, location)?.next().await }
    }

    #[track_caller]
    fn messages<M: Message + Clone>(&self) -> Result<MessageStream<'_, M>, FlowError> {
        MessageStream::new(self, Location::caller())
    }

    async fn event<E>(&self) -> Result<E, FlowError>
    where
        E: Event + Clone,
        for<'t> E::Trigger<'t>: Send + Sync,
    {
        self.events::<E>()?.next().await
    }

    fn events<E>(&self) -> Result<EventStream<'_, E>, FlowError>
    where
        E: Event + Clone,
        for<'t> E::Trigger<'t>: Send + Sync,
    {
        EventStream::new(self)
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

    fn run_system<S, I, Out, Marker>(
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
