//! Bevy 0.20: everything of the Bevy adapter, and a plugin group that adds what must see two crates.
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

use bevy_app::{App, Plugin, PluginGroup, PluginGroupBuilder};

#[cfg(feature = "bevy_asset")]
pub use sc_bevy::AssetFx;
pub use sc_bevy::{
    AppConsole, BevyCx, BevyFx, CommandReply, ConsoleCommand, ConsoleVariable, Cooking, CxError,
    EntityError, EntityFlowCommands, FixedCooking, FixedStageSystems, FlowCommands, FlowHandle,
    FlowState, Flows, LocalFlows, StageSystems, StillCookingPlugin, Var, WorldCx, console_command,
    console_variable,
};
#[cfg(feature = "bevy_state")]
pub use sc_bevy::{AppStateWorlds, StateCx, StateFlowCommands, StateFx};

use crate::InspectExt;

/// Everything in an app: the runtime ([`StillCookingPlugin`]) and the console's commands about flows
/// ([`InspectorPlugin`]). Adding it twice does nothing the second time.
///
/// ```
/// # use bevy_app::App;
/// # use bevy_time::TimePlugin;
/// App::new().add_plugins((TimePlugin, stillcooking::bevy::StillCookingPlugins)).update();
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct StillCookingPlugins;

impl PluginGroup for StillCookingPlugins {
    fn build(self) -> PluginGroupBuilder {
        PluginGroupBuilder::start::<Self>()
            .add_group(sc_bevy::StillCookingPlugins)
            .add(InspectorPlugin)
    }
}

/// Adds `SC.Flow.Cancel` and the thresholds of the flows' warnings: see
/// [`InspectExt::install_inspectors`].
#[derive(Clone, Copy, Debug, Default)]
pub struct InspectorPlugin;

impl Plugin for InspectorPlugin {
    fn build(&self, app: &mut App) {
        let installed = app.world_mut().with_cx(|cx| cx.install_inspectors());
        let error = match installed {
            Ok(Ok(())) => return,
            Ok(Err(error)) => error.to_string(),
            Err(error) => error.to_string(),
        };
        tracing::error!(target: "stillcooking", "the inspectors were not installed: {error}");
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
        StillCookingPlugins, Var, WorldCx, console_command, console_variable,
    };
    #[cfg(feature = "bevy_state")]
    pub use super::{AppStateWorlds, StateCx, StateFlowCommands, StateFx};
}
