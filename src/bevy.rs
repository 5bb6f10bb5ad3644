//! Bevy 0.20: everything of the Bevy adapter, and its plugins with what this crate adds to the console.
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
    DeclaredCommand, EntityError, EntityFlowCommands, EventStream, FixedCooking, FixedStageSystems,
    FlowCommands, FlowHandle, FlowState, Flows, LocalFlows, MessageStream, StageSystems,
    StillCookingPlugin, Var, WorldCx, console_command, console_variable,
};
#[cfg(feature = "bevy_state")]
pub use sc_bevy::{AppStateWorlds, StateCx, StateFlowCommands, StateFx};

use bevy_app::{App, Plugin, PluginGroup, PluginGroupBuilder};

/// Everything of StillCooking for Rust in an app: [`StillCookingPlugin`], and what this crate adds to the console. Adding
/// it twice does nothing the second time.
///
/// It needs Bevy's `TimePlugin` (part of `MinimalPlugins` and `DefaultPlugins`) for time to pass.
///
/// ```
/// use bevy_app::{App, PluginGroup, PostUpdate};
/// use bevy_time::TimePlugin;
/// use stillcooking::{Stage, bevy::{StillCookingPlugin, StillCookingPlugins}};
/// let plugin = StillCookingPlugin::default().place(Stage::End, PostUpdate);
/// App::new().add_plugins((TimePlugin, StillCookingPlugins.set(plugin))).update();
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct StillCookingPlugins;

impl PluginGroup for StillCookingPlugins {
    fn build(self) -> PluginGroupBuilder {
        PluginGroupBuilder::start::<Self>()
            .add_group(sc_bevy::StillCookingPlugins)
            .add(Declarations)
    }
}

/// What this crate declares, in the console of the app whether it was collected or not.
#[derive(Debug)]
struct Declarations;

impl Plugin for Declarations {
    fn build(&self, app: &mut App) {
        // Without the runtime's plugin there is no console.
        let _ = app.world_mut().with_cx(crate::declare_console);
    }

    fn is_unique(&self) -> bool {
        false
    }
}

/// What most apps need, in one `use`; beside [`stillcooking::prelude`](crate::prelude).
pub mod prelude {
    #[cfg(feature = "bevy_asset")]
    pub use super::AssetFx;
    pub use super::{
        AppConsole, BevyCx, BevyFx, Cooking, CxError, EntityFlowCommands, FixedCooking,
        FixedStageSystems, FlowCommands, FlowHandle, FlowState, Flows, LocalFlows, StageSystems,
        StillCookingPlugin, StillCookingPlugins, Var, WorldCx, console_command, console_variable,
    };
    #[cfg(feature = "bevy_state")]
    pub use super::{AppStateWorlds, StateCx, StateFlowCommands, StateFx};
}
