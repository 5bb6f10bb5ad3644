//! The plugin: the runtime in the `World`, and each stage of the frame as a system in its schedule.

use bevy_app::{
    App, AppExit, Last, MainScheduleOrder, OnAppExitSystems, Plugin, PluginGroup,
    PluginGroupBuilder, Update,
};
use bevy_ecs::message::Messages;
use bevy_ecs::schedule::{
    InternedScheduleLabel, IntoScheduleConfigs, Schedule, ScheduleLabel, SingleThreadedExecutor,
    SystemSet,
};
use bevy_ecs::world::World;
use sc_core::{FrameError, OsClock, Runtime, Stage, WorldKind, WorldOptions};

use crate::clock::Deltas;
use crate::queue::{LocalQueue, Queue, answer};
use crate::slot::{AppWorld, RuntimeSlot, with_runtime};

/// The schedule in which the frame's stages run, between `Update` and what follows it.
#[derive(ScheduleLabel, Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Cooking;

/// The system that runs a stage of the frame: to order systems against it.
///
/// ```
/// # use bevy_app::App;
/// # use bevy_ecs::prelude::*;
/// # use bevy_time::TimePlugin;
/// # use sc_bevy::*;
/// use sc_core::Stage;
/// # let mut app = App::new();
/// # app.add_plugins((TimePlugin, StillCookingPlugins));
/// fn see_what_flows_did() {}
/// app.add_systems(Cooking, see_what_flows_did.after(StageSystems(Stage::Flows)));
/// ```
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StageSystems(pub Stage);

/// Everything of StillCooking for Rust in an app. Adding it twice does nothing the second time.
///
/// It needs Bevy's `TimePlugin` (part of `MinimalPlugins` and `DefaultPlugins`) for time to pass.
///
/// ```
/// # use bevy_app::App;
/// # use bevy_time::TimePlugin;
/// # use sc_bevy::StillCookingPlugins;
/// App::new().add_plugins((TimePlugin, StillCookingPlugins)).update();
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct StillCookingPlugins;

impl PluginGroup for StillCookingPlugins {
    fn build(self) -> PluginGroupBuilder {
        PluginGroupBuilder::start::<Self>().add(StillCookingPlugin::default())
    }
}

/// The runtime in an app, part of [`StillCookingPlugins`]. Added a second time, it does nothing: the first
/// stays.
#[derive(Clone, Debug, Default)]
pub struct StillCookingPlugin {
    /// The stages that do not run in [`Cooking`].
    placed: Vec<(Stage, InternedScheduleLabel)>,
}

impl StillCookingPlugin {
    /// Runs a stage in another schedule of the main loop. Stages run in the order of
    /// [`Stage::ALL`], so those before and after it may have to be placed too.
    ///
    /// ```
    /// # use bevy_app::{App, PluginGroup, PostUpdate, PreUpdate};
    /// # use bevy_time::TimePlugin;
    /// # use sc_bevy::*;
    /// use sc_core::Stage;
    /// let plugin = StillCookingPlugin::default()
    ///     .place(Stage::Begin, PreUpdate)
    ///     .place(Stage::Timers, PreUpdate)
    ///     .place(Stage::PrePhysics, PreUpdate);
    /// App::new().add_plugins((TimePlugin, StillCookingPlugins.set(plugin))).update();
    /// ```
    ///
    /// # Panics
    /// The app does, when it is built: when the order of the schedules is not the order of the
    /// stages, or a schedule is none of the main loop's.
    #[must_use]
    pub fn place(mut self, stage: Stage, schedule: impl ScheduleLabel) -> Self {
        self.placed.retain(|(placed, _)| *placed != stage);
        self.placed.push((stage, schedule.intern()));
        self
    }

    fn schedule_of(&self, stage: Stage) -> InternedScheduleLabel {
        let placed = self.placed.iter().find(|(placed, _)| *placed == stage);
        placed.map_or_else(|| Cooking.intern(), |(_, schedule)| *schedule)
    }

    /// What is wrong with the places, if something is.
    fn misplaced(&self, order: &MainScheduleOrder) -> Option<String> {
        let mut latest = (Stage::Begin, 0);
        for stage in Stage::ALL {
            let schedule = self.schedule_of(stage);
            let Some(at) = order.labels.iter().position(|&label| label == schedule) else {
                return Some(format!(
                    "stage {stage:?} is placed in {schedule:?}, which is no schedule of the main loop: place it in one of `MainScheduleOrder`"
                ));
            };
            if at < latest.1 {
                let before = latest.0;
                return Some(format!(
                    "stage {stage:?} is placed in {schedule:?}, which runs before stage {before:?}: place the stages in the order of `Stage::ALL`"
                ));
            }
            latest = (stage, at);
        }
        None
    }
}

impl Plugin for StillCookingPlugin {
    fn build(&self, app: &mut App) {
        if app.world().contains_non_send::<RuntimeSlot>() {
            return;
        }
        let world = app.world_mut();
        let mut runtime = Runtime::new();
        runtime.set_stopwatch(OsClock::default());
        let mut cx = runtime.cx(world);
        let options = WorldOptions::new(WorldKind::Game).name("app");
        cx.runtime_state::<AppWorld>().0 = cx.create_world(options).ok();
        world.insert_non_send(RuntimeSlot::new(runtime));
        world.insert_non_send(LocalQueue::default());
        world.init_resource::<Queue>();

        let mut cooking = Schedule::new(Cooking);
        cooking.set_executor(SingleThreadedExecutor::new());
        app.add_schedule(cooking);
        let mut order = app.world_mut().resource_mut::<MainScheduleOrder>();
        order.insert_after(Update, Cooking);

        for stage in Stage::ALL {
            let run = move |world: &mut World| run(world, stage);
            app.add_systems(self.schedule_of(stage), run.in_set(StageSystems(stage)));
        }
        for (before, after) in Stage::ALL.iter().zip(Stage::ALL.iter().skip(1)) {
            let schedule = self.schedule_of(*before);
            if schedule == self.schedule_of(*after) {
                app.configure_sets(schedule, StageSystems(*before).before(StageSystems(*after)));
            }
        }
        let is_ending = |exits: Option<bevy_ecs::system::Res<Messages<AppExit>>>| {
            exits.is_some_and(|exits| !exits.is_empty())
        };
        app.add_systems(Last, shut_down.in_set(OnAppExitSystems).run_if(is_ending));
        app.world_mut().insert_resource(Places(self.clone()));
    }

    fn finish(&self, app: &mut App) {
        let world = app.world();
        let (Some(places), Some(order)) = (
            world.get_resource::<Places>(),
            world.get_resource::<MainScheduleOrder>(),
        ) else {
            return;
        };
        if let Some(problem) = places.0.misplaced(order) {
            #[allow(clippy::panic)] // As Bevy does when an app is built wrongly.
            {
                panic!("StillCookingPlugin: {problem}");
            }
        }
    }

    fn is_unique(&self) -> bool {
        false
    }
}

/// The plugin that is in force: one that was added later has no say.
#[derive(bevy_ecs::resource::Resource)]
struct Places(StillCookingPlugin);

/// Runs one stage, with what was asked for done before it.
fn run(world: &mut World, stage: Stage) {
    // Without a runtime (somebody has removed it), or inside itself, there is nothing to run.
    let _ = with_runtime(world, |runtime, world| {
        if runtime.is_shut_down() {
            if stage == Stage::Begin {
                // Refused, and said so.
                answer(runtime, world);
            }
            return;
        }
        let outcome = match stage {
            Stage::Begin => begin(runtime, world),
            Stage::End => {
                answer(runtime, world);
                runtime.end_frame(world).map(drop)
            }
            stage => {
                answer(runtime, world);
                runtime.run_stage(world, stage)
            }
        };
        if let Err(error) = outcome {
            tracing::error!(target: "stillcooking", "stage {stage:?} did not run: {error}");
        }
    });
}

fn begin(runtime: &mut Runtime<World>, world: &mut World) -> Result<(), FrameError> {
    runtime.abandon_frame(world);
    answer(runtime, world);
    let deltas = Deltas::sample(runtime, world);
    runtime.begin_frame_with(world, deltas.real(), |id| Some(deltas.of(id)))
}

/// The app ends, and everything in the runtime with it.
fn shut_down(world: &mut World) {
    let _ = with_runtime(world, |runtime, world| {
        runtime.abandon_frame(world);
        runtime.shutdown(world);
    });
}
