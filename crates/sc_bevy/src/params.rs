//! Flows by system parameters: for systems without `Commands`, and for what cannot be sent.

use bevy_ecs::entity::Entity;
use bevy_ecs::system::{NonSendMut, Res, SystemParam};
use bevy_ecs::world::World;
use sc_core::Cx;
use sc_flow::{FlowCx, FlowError};

use crate::error::NO_RUNTIME;
use crate::handle::{FlowHandle, request_for, request_in_app};
use crate::origin::{Origin, What};
use crate::queue::{LocalQueue, Queue};

/// Starts and cancels flows from any system, in parallel with others, also from one that a flow or a
/// command runs. What is asked for is done at the start of the next stage.
///
/// ```
/// # use bevy_ecs::prelude::*;
/// # use sc_bevy::*;
/// # use sc_core::secs;
/// fn tick_tock(flows: Flows) {
///     flows.start("tick tock", async |fx| { fx.delay(secs(1)).await?; Ok(()) });
/// }
/// # bevy_ecs::system::assert_is_system(tick_tock);
/// ```
#[derive(SystemParam)]
pub struct Flows<'w> {
    #[system_param(validation_message = NO_RUNTIME)]
    pub(crate) queue: Res<'w, Queue>,
}

impl Flows<'_> {
    /// As [`FlowCommands::flow`](crate::FlowCommands::flow).
    #[track_caller]
    pub fn start<F>(&self, name: &'static str, body: F) -> FlowHandle
    where
        F: AsyncFnOnce(FlowCx<World>) -> Result<(), FlowError> + Send + 'static,
    {
        let (handle, start) = request_in_app(name, body);
        self.queue.push_start(&handle, Box::new(start));
        handle
    }

    /// As [`EntityFlowCommands::flow`](crate::EntityFlowCommands::flow).
    ///
    /// ```
    /// # use bevy_ecs::prelude::*;
    /// # use sc_bevy::*;
    /// # #[derive(Component)] struct Torch;
    /// fn flicker(torches: Query<Entity, Added<Torch>>, flows: Flows) {
    ///     for torch in &torches {
    ///         flows.start_for(torch, "flicker", async |fx, _torch| { fx.next_tick().await?; Ok(()) });
    ///     }
    /// }
    /// # bevy_ecs::system::assert_is_system(flicker);
    /// ```
    #[track_caller]
    pub fn start_for<F>(&self, entity: Entity, name: &'static str, body: F) -> FlowHandle
    where
        F: AsyncFnOnce(FlowCx<World>, Entity) -> Result<(), FlowError> + Send + 'static,
    {
        let (handle, start) = request_for(entity, name, body);
        self.queue.push_start(&handle, Box::new(start));
        handle
    }

    /// As [`FlowCommands::cancel_flow`](crate::FlowCommands::cancel_flow).
    ///
    /// ```
    /// # use bevy_app::{App, Update};
    /// # use bevy_ecs::prelude::*;
    /// # use bevy_time::TimePlugin;
    /// # use sc_bevy::*;
    /// # use sc_core::secs;
    /// # use sc_flow::FlowFinish;
    /// #[derive(Resource)]
    /// struct Fuse(FlowHandle);
    /// fn defuse(flows: Flows, fuse: Res<Fuse>) { flows.cancel(&fuse.0); }
    ///
    /// let mut app = App::new();
    /// app.add_plugins((TimePlugin, StillCookingPlugins));
    /// let fuse = app.world_mut().commands().flow("fuse", async |fx| fx.delay(secs(3)).await);
    /// app.insert_resource(Fuse(fuse.clone()));
    /// app.update();
    /// app.add_systems(Update, defuse).update();
    /// assert_eq!(fuse.state(), FlowState::Ended(FlowFinish::Cancelled));
    /// ```
    #[track_caller]
    pub fn cancel(&self, flow: &FlowHandle) {
        let (origin, flow) = (flow.cancel_of(), flow.clone());
        self.queue.push(origin, Box::new(move |cx| flow.cancel(cx)));
    }

    /// As [`FlowCommands::with_cx`](crate::FlowCommands::with_cx).
    #[track_caller]
    pub fn with_cx(&self, f: impl FnOnce(&mut Cx<'_, World>) + Send + 'static) {
        self.queue.push(Origin::here(What::Closure), Box::new(f));
    }
}

/// As [`Flows`], for bodies that are not `Send`. A system with it runs on the main thread.
///
/// ```
/// # use bevy_ecs::prelude::*;
/// # use sc_bevy::*;
/// # use std::{cell::Cell, rc::Rc};
/// fn count(mut flows: LocalFlows) {
///     let count = Rc::new(Cell::new(0));
///     flows.start("count", async move |fx| {
///         loop { fx.next_tick().await?; count.set(count.get() + 1); }
///     });
/// }
/// # bevy_ecs::system::assert_is_system(count);
/// ```
#[derive(SystemParam)]
pub struct LocalFlows<'w> {
    #[system_param(validation_message = NO_RUNTIME)]
    pub(crate) queue: NonSendMut<'w, LocalQueue>,
}

impl LocalFlows<'_> {
    /// As [`Flows::start`].
    #[track_caller]
    pub fn start<F>(&mut self, name: &'static str, body: F) -> FlowHandle
    where
        F: AsyncFnOnce(FlowCx<World>) -> Result<(), FlowError> + 'static,
    {
        let (handle, start) = request_in_app(name, body);
        self.queue.push_start(&handle, Box::new(start));
        handle
    }

    /// As [`Flows::start_for`].
    #[track_caller]
    pub fn start_for<F>(&mut self, entity: Entity, name: &'static str, body: F) -> FlowHandle
    where
        F: AsyncFnOnce(FlowCx<World>, Entity) -> Result<(), FlowError> + 'static,
    {
        let (handle, start) = request_for(entity, name, body);
        self.queue.push_start(&handle, Box::new(start));
        handle
    }

    /// As [`Flows::cancel`].
    #[track_caller]
    pub fn cancel(&mut self, flow: &FlowHandle) {
        let (origin, flow) = (flow.cancel_of(), flow.clone());
        self.queue.push(origin, Box::new(move |cx| flow.cancel(cx)));
    }

    /// As [`Flows::with_cx`].
    #[track_caller]
    pub fn with_cx(&mut self, f: impl FnOnce(&mut Cx<'_, World>) + 'static) {
        self.queue.push(Origin::here(What::Closure), Box::new(f));
    }
}
