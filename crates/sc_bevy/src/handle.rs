//! The handle of a flow that was asked for: known at once, whatever becomes of it.

use std::fmt;
use std::panic::Location;

use bevy_ecs::entity::Entity;
use bevy_ecs::world::World;
use sc_core::{Cx, Report, ReportKind, TickId, WorldId};
use sc_flow::{
    Flow, FlowCx, FlowError, FlowExt, FlowId, FlowState, PendingFlows, Reservation, Reserved,
};

use crate::cx::BevyCx;
use crate::origin::{Origin, What};
use crate::reports;

/// A flow that was asked for by `Commands`, [`Flows`](crate::Flows) or [`LocalFlows`](crate::LocalFlows).
/// `Send + Sync`, cheap to clone, and right wherever the runtime is, also while that is running.
///
/// ```
/// # use bevy_app::App;
/// # use bevy_time::TimePlugin;
/// # use sc_bevy::*;
/// # use sc_core::secs;
/// # let mut app = App::new();
/// # app.add_plugins((TimePlugin, StillCookingPlugins));
/// let mut commands = app.world_mut().commands();
/// let nap = commands.flow("nap", async |fx| { fx.delay(secs(60)).await?; Ok(()) });
/// assert_eq!(nap.state(), FlowState::Pending);
/// app.update();
/// assert_eq!(nap.state(), FlowState::Running);
/// ```
#[derive(Clone, Debug)]
pub struct FlowHandle {
    reserved: Reserved,
    name: &'static str,
    location: &'static Location<'static>,
}

impl FlowHandle {
    /// What has become of it. [`Refused`](FlowState::Refused): it could not be started, and a report says why, or the
    /// log where there is no runtime to report by; or its request was dropped with the queue or the app.
    #[must_use]
    pub fn state(&self) -> FlowState {
        self.reserved.state()
    }

    /// Its id, for [`FlowExt`](sc_flow::FlowExt) and `fx.flow(id)`: known from the first, see
    /// [`FlowId::reserve`]. The runtime knows it from the call on, or, by `Commands`, from when these are applied; before,
    /// it is [`FlowError::Gone`] there.
    ///
    /// ```
    /// # use bevy_ecs::prelude::*;
    /// # use sc_bevy::*;
    /// # use sc_core::secs;
    /// fn count_down(mut commands: Commands) {
    ///     let fuse = commands.flow("fuse", async |fx| fx.delay(secs(3)).await).id();
    ///     commands.flow("bang", async move |fx| fx.flow(fuse).await.map(drop));
    /// }
    /// # bevy_ecs::system::assert_is_system(count_down);
    /// ```
    #[must_use]
    pub fn id(&self) -> FlowId {
        self.reserved.id()
    }

    /// Cancels the flow; one that has not started yet never does.
    pub(crate) fn cancel(&self, cx: &mut Cx<'_, World>) {
        if !self.reserved.cancel() {
            cx.cancel(self.id());
        }
    }

    /// Its request, for messages.
    pub(crate) fn start_of(&self) -> Origin {
        Origin {
            what: What::Flow(self.name),
            location: self.location,
        }
    }

    /// Its cancel, for messages: asked for where the caller of this is called.
    #[track_caller]
    pub(crate) fn cancel_of(&self) -> Origin {
        Origin::here(What::Cancel(self.name))
    }

    /// A runtime knows of it from now on.
    pub(crate) fn is_pending_in(&self, flows: &PendingFlows) {
        flows.add(&self.reserved);
    }
}

/// A flow that is to be started. Dropped, it is refused: whoever drops it, nobody will start the flow.
struct Asked {
    reservation: Reservation,
    name: &'static str,
    location: &'static Location<'static>,
}

impl Asked {
    /// Starts the flow, unless it was cancelled before.
    fn start<F>(self, cx: &mut Cx<'_, World>, bound: Result<Bound, String>, body: F)
    where
        F: AsyncFnOnce(FlowCx<World>) -> Result<(), FlowError> + 'static,
    {
        if self.reservation.reserved().state() != FlowState::Pending {
            return;
        }
        let bound = match bound {
            Ok(bound) => bound,
            Err(why) => {
                drop(self.reservation);
                return report_refused(cx, self.name, &why);
            }
        };
        let mut flow = Flow::new(self.name)
            .started_at(self.location)
            .reserved(self.reservation);
        if let Some(world) = bound.world {
            flow = flow.world(world);
        }
        if let Some(owner) = bound.owner {
            flow = flow.owner(owner);
        }
        match flow.spawn(cx, body) {
            // The last has a report already.
            Ok(_)
            | Err(FlowError::Cancelled | FlowError::Panicked | FlowError::NoLiveWorld { .. }) => {}
            Err(error) => report_refused(cx, self.name, &error),
        }
    }
}

fn report_refused(cx: &mut Cx<'_, World>, name: &str, why: &impl fmt::Display) {
    let kind = ReportKind::Extension(&reports::REQUEST_REFUSED);
    let what = format!("was to be started, but {why}");
    cx.report(Report::new(kind, what).object(format!("flow `{name}`")));
}

/// A handle, and the request that starts its flow, as if where the caller of all of these is called. The request
/// can be sent if the body can.
#[track_caller]
pub(crate) fn request<F>(
    name: &'static str,
    bound: impl FnOnce(&mut Cx<'_, World>) -> Result<Bound, String>,
    body: F,
) -> (FlowHandle, impl FnOnce(&mut Cx<'_, World>))
where
    F: AsyncFnOnce(FlowCx<World>) -> Result<(), FlowError> + 'static,
{
    let reservation = FlowId::reserve();
    let handle = FlowHandle {
        reserved: reservation.reserved().clone(),
        name,
        location: Location::caller(),
    };
    let asked = Asked {
        reservation,
        name,
        location: handle.location,
    };
    let start = move |cx: &mut Cx<'_, World>| {
        let bound = bound(cx);
        asked.start(cx, bound, body);
    };
    (handle, start)
}

/// As [`request`], for a flow in the app's world.
#[track_caller]
pub(crate) fn request_in_app<F>(
    name: &'static str,
    body: F,
) -> (FlowHandle, impl FnOnce(&mut Cx<'_, World>))
where
    F: AsyncFnOnce(FlowCx<World>) -> Result<(), FlowError> + 'static,
{
    request(name, |_| Ok(Bound::default()), body)
}

/// As [`request`], for a flow that is bound to an entity.
#[track_caller]
pub(crate) fn request_for<F>(
    entity: Entity,
    name: &'static str,
    body: F,
) -> (FlowHandle, impl FnOnce(&mut Cx<'_, World>))
where
    F: AsyncFnOnce(FlowCx<World>, Entity) -> Result<(), FlowError> + 'static,
{
    let bound = move |cx: &mut Cx<'_, World>| match cx.entity_owner(entity) {
        Ok(owner) => Ok(Bound {
            owner: Some(owner),
            world: None,
        }),
        Err(error) => Err(error.to_string()),
    };
    request(name, bound, async move |fx| body(fx, entity).await)
}

/// What a flow is bound to: the app's world, unless it says another.
#[derive(Clone, Copy, Default)]
pub(crate) struct Bound {
    pub(crate) world: Option<WorldId>,
    pub(crate) owner: Option<TickId>,
}
