//! StillCooking for Rust inside Bevy: one plugin, and flows, tickables and the console follow Bevy's time,
//! states and entities.
//!
//! The host is the ECS [`World`](bevy_ecs::world::World): every callback gets
//! `&mut Cx<'_, World>`, and a system is at hand by [`BevyCx::run_system`].
//!
//! | I need .. | entry |
//! | --- | --- |
//! | the runtime in an app | [`StillCookingPlugins`] |
//! | a flow, from a system or an observer | [`FlowCommands`], [`Flows`], [`LocalFlows`] |
//! | a flow that ends with an entity | [`EntityFlowCommands::flow`], [`BevyCx::entity_owner`] |
//! | a flow that ends with a state | `state_flow` of `StateFlowCommands`, feature `state` |
//! | a tickable that ends with an entity | [`BevyCx::spawn_for`] |
//! | to await messages, events, components, states | [`BevyFx`] |
//! | all messages or events of a type, in a loop | [`BevyFx::messages`], [`BevyFx::events`] |
//! | to await assets | `fx.asset` of `AssetFx`, feature `asset` |
//! | everything else, from a system with `&mut World` | [`WorldCx::with_cx`] |
//! | a command that runs a system | [`console_command!`], [`AppConsole::add_console_command`] |
//! | a console variable as a resource | [`Var`], [`console_variable!`], [`AppConsole::add_console_variable`] |
//! | what goes by the fixed timestep | a world made with `WorldOptions::steps(true)`, [`FixedCooking`] |
//! | to order systems against ours | [`StageSystems`], [`Cooking`] |
//!
//! ```
//! use bevy_app::{App, Update};
//! use bevy_ecs::prelude::*;
//! use bevy_time::{TimePlugin, TimeUpdateStrategy};
//! use sc_bevy::{EntityFlowCommands, StillCookingPlugins};
//! use sc_core::secs;
//! use std::time::Duration;
//!
//! #[derive(Component)]
//! struct Door { angle: f32 }
//!
//! fn open(doors: Query<Entity, Added<Door>>, mut commands: Commands) {
//!     for door in &doors {
//!         commands.entity(door).flow("open", async |fx, door| {
//!             fx.do_for_duration(secs(0.5), move |cx, alpha, _delta| {
//!                 if let Some(mut door) = cx.host_mut().get_mut::<Door>(door) { door.angle = 90.0 * alpha; }
//!             }).await?;
//!             Ok(())
//!         }); // Despawning the door ends it.
//!     }
//! }
//!
//! let mut app = App::new();
//! app.add_plugins((TimePlugin, StillCookingPlugins)).add_systems(Update, open);
//! app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_millis(250)));
//! let door = app.world_mut().spawn(Door { angle: 0.0 }).id();
//! for _ in 0..3 { app.update(); } // No time passes in the first update.
//! assert_eq!(app.world().get::<Door>(door).map(|door| door.angle), Some(90.0));
//! ```
//!
//! # The frame
//! One frame of the runtime an update of the app, in the schedule [`Cooking`] between `Update` and
//! `PostUpdate`; each stage is a system in a set of its own. A stage can be placed elsewhere by
//! [`StillCookingPlugin::place`].
//!
//! A world made with `WorldOptions::steps(true)` has its frames in [`FixedCooking`] instead, between
//! `FixedUpdate` and `FixedPostUpdate`: one for each timestep.
//!
//! # Latency
//! - What a system starts by `Commands` is started when the commands are applied; before the frame
//!   begins, that is before `Cooking` by default, its first turn is in the same update.
//! - While a stage runs, the runtime is out of the `World`. What is asked for meanwhile by `Commands` or
//!   [`Flows`] (in a system that a flow runs) is done at the start of the next stage.
//! - The id of a flow that is asked for is known at once ([`FlowHandle::id`]), and can be awaited and cancelled before
//!   the flow starts: from the call on, or, by `Commands`, from when they are applied.
//! - [`Flows`] and [`LocalFlows`] always wait for the start of the next stage.
//! - What is bound to an entity is not called any more from its despawn on; its flows have ended by the
//!   next stage.
//!
//! # Features
//! - `state` (default): worlds that live as long as a state, and awaiting states.
//! - `asset`: awaiting assets.
//! - `commands` (default): console commands; without it `add_console_command` checks types, and nothing of
//!   a command is in the binary.

#[cfg(feature = "asset")]
mod asset;
mod clock;
mod commands;
mod console;
mod cx;
mod entity;
mod error;
mod fx;
mod handle;
mod origin;
mod params;
mod places;
mod plugin;
mod queue;
mod reports;
mod slot;
#[cfg(feature = "state")]
mod state;
mod stream;

#[cfg(feature = "asset")]
pub use asset::AssetFx;
pub use commands::{EntityFlowCommands, FlowCommands};
pub use console::{
    AppConsole, CommandReply, ConsoleCommand, ConsoleVariable, DeclaredCommand, Var,
};
pub use cx::BevyCx;
pub use error::{CxError, EntityError};
pub use fx::BevyFx;
pub use handle::FlowHandle;
pub use params::{Flows, LocalFlows};
pub use plugin::{
    Cooking, FixedCooking, FixedStageSystems, StageSystems, StillCookingPlugin, StillCookingPlugins,
};
pub use sc_flow::FlowState;
pub use slot::WorldCx;
#[cfg(feature = "state")]
pub use state::{AppStateWorlds, StateCx, StateFlowCommands, StateFx};
pub use stream::{EventStream, MessageStream};

#[doc(hidden)]
pub mod __private {
    //! What our macros name.
    pub use bevy_ecs;
    pub use sc_console;
    pub use sc_core::Cx;

    pub use crate::console::{CommandSystem, command, declared};
}
