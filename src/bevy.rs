//! Bevy 0.20: everything of the Bevy adapter.
//!
//! ```
//! use bevy_app::App;
//! use bevy_time::TimePlugin;
//! use stillcooking::bevy::prelude::*;
//!
//! let mut app = App::new();
//! app.add_plugins((TimePlugin, StillCookingPlugins));
//! app.world_mut().commands().flow("hello", async |fx| { fx.next_tick().await?; Ok(()) });
//! app.update();
//! # #[cfg(feature = "commands")] {
//! use stillcooking::prelude::*;
//! let run = app.world_mut().with_cx(|cx| cx.run_line("SC.Flow.Cancel hello", Source::Local))?;
//! assert_eq!(run.text(), "1 cancelled");
//! # }
//! # Ok::<(), CxError>(())
//! ```

#[cfg(feature = "bevy_asset")]
pub use sc_bevy::AssetFx;
pub use sc_bevy::{
    AppConsole, BevyCx, BevyFx, CommandReply, ConsoleCommand, ConsoleVariable, Cooking, CxError,
    EntityError, EntityFlowCommands, EventStream, FixedCooking, FixedStageSystems, FlowCommands,
    FlowHandle, FlowState, Flows, LocalFlows, MessageStream, StageSystems, StillCookingPlugin,
    StillCookingPlugins, Var, WorldCx, console_command, console_variable,
};
#[cfg(feature = "bevy_state")]
pub use sc_bevy::{AppStateWorlds, StateCx, StateFlowCommands, StateFx};

/// What most apps need, in one `use`; beside [`stillcooking::prelude`](crate::prelude).
pub mod prelude {
    #[cfg(feature = "bevy_asset")]
    pub use super::AssetFx;
    pub use super::{
        AppConsole, BevyCx, BevyFx, Cooking, CxError, EntityFlowCommands, FixedCooking,
        FixedStageSystems, FlowCommands, FlowHandle, FlowState, Flows, LocalFlows, StageSystems,
        StillCookingPlugins, Var, WorldCx, console_command, console_variable,
    };
    #[cfg(feature = "bevy_state")]
    pub use super::{AppStateWorlds, StateCx, StateFlowCommands, StateFx};
}
