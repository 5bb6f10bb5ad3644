//! Flows by `Commands` and `EntityCommands`.

use bevy_ecs::entity::Entity;
use bevy_ecs::system::{Commands, EntityCommands};
use bevy_ecs::world::World;
use sc_core::Cx;
use sc_flow::{FlowCx, FlowError};

use crate::handle::{FlowHandle, request_for, request_in_app};
use crate::origin::{Origin, What};
use crate::queue::{ask, ask_start};

/// Flows by [`Commands`]. What is asked for is done when the commands are applied; if the runtime
/// is running then, at the start of its next stage.
pub trait FlowCommands {
    /// Starts an async flow in the app's world. A refusal is reported, and the handle says
    /// [`Refused`](crate::FlowState::Refused).
    ///
    /// ```
    /// # use bevy_ecs::prelude::*;
    /// # use sc_bevy::*;
    /// # use sc_core::secs;
    /// #[derive(Resource)]
    /// struct Lights(bool);
    /// fn blink(mut commands: Commands) {
    ///     commands.flow("blink", async |fx| {
    ///         fx.delay(secs(0.5)).await?;
    ///         fx.with(|cx| cx.host_mut().insert_resource(Lights(true)))
    ///     });
    /// }
    /// # bevy_ecs::system::assert_is_system(blink);
    /// ```
    ///
    /// Its body must be `Send`, as everything that goes through [`Commands`];
    /// [`LocalFlows`](crate::LocalFlows) takes any:
    ///
    /// ```compile_fail
    /// # use bevy_ecs::prelude::*;
    /// # use sc_bevy::*;
    /// fn count(mut commands: Commands) {
    ///     let count = std::rc::Rc::new(1);
    ///     commands.flow("count", async move |_| { drop(count); Ok(()) });
    /// }
    /// ```
    #[track_caller]
    fn flow<F>(&mut self, name: &'static str, body: F) -> FlowHandle
    where
        F: AsyncFnOnce(FlowCx<World>) -> Result<(), FlowError> + Send + 'static;

    /// Cancels a flow; one that has not started yet never does.
    ///
    /// ```
    /// # use bevy_ecs::prelude::*;
    /// # use sc_bevy::*;
    /// #[derive(Resource)]
    /// struct Alarm(FlowHandle);
    /// fn all_clear(alarm: Res<Alarm>, mut commands: Commands) { commands.cancel_flow(&alarm.0); }
    /// # bevy_ecs::system::assert_is_system(all_clear);
    /// ```
    #[track_caller]
    fn cancel_flow(&mut self, flow: &FlowHandle);

    /// Calls `f` with the runtime, as a callback in the app's world: for everything that a
    /// [`Cx`] can do.
    ///
    /// ```
    /// # use bevy_ecs::prelude::*;
    /// # use sc_bevy::*;
    /// # use sc_core::Cx;
    /// # use sc_flow::{ForEach, Step};
    /// # #[derive(Component)] struct Enemy;
    /// fn wave(mut commands: Commands) {
    ///     commands.with_cx(|cx| {
    ///         let started = ForEach::index(10).delay(0.25)
    ///             .each(|cx: &mut Cx<'_, World>, _| { cx.host_mut().spawn(Enemy); Step::Continue })
    ///             .start(cx);
    ///         debug_assert!(started.is_ok());
    ///     });
    /// }
    /// # bevy_ecs::system::assert_is_system(wave);
    /// ```
    #[track_caller]
    fn with_cx(&mut self, f: impl FnOnce(&mut Cx<'_, World>) + Send + 'static);
}

impl FlowCommands for Commands<'_, '_> {
    #[track_caller]
    fn flow<F>(&mut self, name: &'static str, body: F) -> FlowHandle
    where
        F: AsyncFnOnce(FlowCx<World>) -> Result<(), FlowError> + Send + 'static,
    {
        let (handle, start) = request_in_app(name, body);
        queue_start(self, handle, start)
    }

    #[track_caller]
    fn cancel_flow(&mut self, flow: &FlowHandle) {
        let (origin, flow) = (flow.cancel_of(), flow.clone());
        self.queue(move |world: &mut World| {
            ask(world, origin, move |cx| flow.cancel(cx));
        });
    }

    #[track_caller]
    fn with_cx(&mut self, f: impl FnOnce(&mut Cx<'_, World>) + Send + 'static) {
        let origin = Origin::here(What::Closure);
        self.queue(move |world: &mut World| {
            ask(world, origin, f);
        });
    }
}

/// Flows of an entity, by [`EntityCommands`].
pub trait EntityFlowCommands {
    /// Starts an async flow in the app's world, bound to the entity: despawning it ends the flow
    /// `Aborted`, wherever that happens. Of an entity that does not exist when the commands are
    /// applied, it is refused and reported.
    ///
    /// ```
    /// # use bevy_ecs::prelude::*;
    /// # use sc_bevy::*;
    /// # use sc_core::secs;
    /// fn fuse(bomb: Entity, mut commands: Commands) {
    ///     commands.entity(bomb).flow("fuse", async |fx, bomb| {
    ///         fx.delay(secs(3)).await?;
    ///         fx.with(|cx| cx.host_mut().despawn(bomb))?;
    ///         Ok(())
    ///     });
    /// }
    /// ```
    #[track_caller]
    fn flow<F>(&mut self, name: &'static str, body: F) -> FlowHandle
    where
        F: AsyncFnOnce(FlowCx<World>, Entity) -> Result<(), FlowError> + Send + 'static;

    /// Calls `f` with the runtime and the entity, whether it still exists or not:
    /// [`BevyCx::entity_owner`](crate::BevyCx::entity_owner) tells, and binds.
    ///
    /// ```
    /// # use bevy_ecs::prelude::*;
    /// # use sc_bevy::*;
    /// # use sc_core::Cx;
    /// # use sc_flow::ForEach;
    /// # #[derive(Component)] struct Arrow;
    /// fn shoot(archer: Entity, mut commands: Commands) {
    ///     commands.entity(archer).with_cx(|cx, archer| {
    ///         let Ok(owner) = cx.entity_owner(archer) else { return };
    ///         let started = ForEach::index(3).delay(0.5)
    ///             .each(|cx: &mut Cx<'_, World>, _| { cx.host_mut().spawn(Arrow); })
    ///             .owner(owner)
    ///             .start(cx);
    ///         debug_assert!(started.is_ok());
    ///     });
    /// }
    /// ```
    #[track_caller]
    fn with_cx(&mut self, f: impl FnOnce(&mut Cx<'_, World>, Entity) + Send + 'static)
    -> &mut Self;
}

impl EntityFlowCommands for EntityCommands<'_> {
    #[track_caller]
    fn flow<F>(&mut self, name: &'static str, body: F) -> FlowHandle
    where
        F: AsyncFnOnce(FlowCx<World>, Entity) -> Result<(), FlowError> + Send + 'static,
    {
        let (handle, start) = request_for(self.id(), name, body);
        queue_start(&mut self.commands(), handle, start)
    }

    #[track_caller]
    fn with_cx(
        &mut self,
        f: impl FnOnce(&mut Cx<'_, World>, Entity) + Send + 'static,
    ) -> &mut Self {
        let (origin, entity) = (Origin::here(What::Closure), self.id());
        self.commands().queue(move |world: &mut World| {
            ask(world, origin, move |cx| f(cx, entity));
        });
        self
    }
}

/// Starts a flow as soon as the runtime is there.
pub(crate) fn queue_start(
    commands: &mut Commands<'_, '_>,
    handle: FlowHandle,
    start: impl FnOnce(&mut Cx<'_, World>) + Send + 'static,
) -> FlowHandle {
    let theirs = handle.clone();
    commands.queue(move |world: &mut World| ask_start(world, &theirs, start));
    handle
}
