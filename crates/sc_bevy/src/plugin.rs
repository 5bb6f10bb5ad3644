//! The plugin: the runtime in the `World`, and each stage of a frame and of a step as a system.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use bevy_app::{
    App, AppExit, First, FixedMainScheduleOrder, FixedUpdate, Last, Main, MainScheduleOrder,
    OnAppExitSystems, Plugin, PluginGroup, PluginGroupBuilder, Update,
};
use bevy_ecs::message::Messages;
use bevy_ecs::resource::Resource;
use bevy_ecs::schedule::common_conditions::run_once;
use bevy_ecs::schedule::{InternedScheduleLabel, IntoScheduleConfigs, ScheduleLabel, SystemSet};
use bevy_ecs::system::Res;
use bevy_ecs::world::World;
use bevy_time::TimeSystems;
use sc_core::{
    Cx, FrameError, OsClock, Report, ReportKind, Runtime, Stage, WorldKind, WorldOptions,
};
use sc_flow::FlowExt;

use crate::clock::{self, Made, remember};
use crate::error::CxError;
use crate::origin::{Origin, What};
use crate::places::Places;
use crate::queue::{LocalQueue, Queue, answer, close, orphaned};
use crate::reports;
use crate::slot::{AppWorld, RuntimeSlot, WorldCx, with_runtime};

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

/// The schedule in which the stages of a step run, between `FixedUpdate` and what follows it: the frame of
/// the worlds that step, once for each timestep. See [`WorldOptions::steps`].
#[derive(ScheduleLabel, Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct FixedCooking;

/// The system that runs a stage of a step: as [`StageSystems`], in [`FixedCooking`].
///
/// ```
/// # use bevy_app::{App, FixedUpdate};
/// # use bevy_ecs::prelude::*;
/// # use bevy_time::{TimePlugin, TimeUpdateStrategy};
/// # use sc_bevy::*;
/// # use sc_core::{Clock, Stage, WorldKind, WorldOptions};
/// # let mut app = App::new();
/// # app.add_plugins((TimePlugin, StillCookingPlugins));
/// fn integrate() {}
/// app.add_systems(FixedCooking, integrate.in_set(FixedStageSystems(Stage::DuringPhysics)));
/// let options = WorldOptions::new(WorldKind::Game).name("physics").steps(true);
/// let physics = app.world_mut().with_cx(|cx| cx.create_world(options))?;
/// # let physics = physics.unwrap_or_default();
/// # app.insert_resource(TimeUpdateStrategy::ManualDuration(std::time::Duration::from_millis(40)));
/// # for _ in 0..2 { app.update(); }
/// let steps = app.world_mut().with_cx(|cx| cx.readings(physics).map(|now| now.frame))?;
/// assert_eq!(steps, Ok(2), "two of 1/64 s are in the 40 ms");
/// # Ok::<(), CxError>(())
/// ```
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FixedStageSystems(pub Stage);

/// The systems that run the stages after `Begin`.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum AfterBegin {
    Frame,
    Step,
}

/// Whether the last `Begin` of a step has begun one.
#[derive(Resource, Default)]
struct StepIsOpen(bool);

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
#[derive(Clone, Debug)]
pub struct StillCookingPlugin {
    frame: Places,
    step: Places,
}

impl Default for StillCookingPlugin {
    fn default() -> Self {
        StillCookingPlugin {
            frame: Places::new(Cooking),
            step: Places::new(FixedCooking),
        }
    }
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
        self.frame.place(stage, schedule);
        self
    }

    /// As [`place`](Self::place), for a stage of the steps, in another schedule of the fixed main loop.
    ///
    /// ```
    /// # use bevy_app::{App, FixedPostUpdate, FixedUpdate, PluginGroup};
    /// # use bevy_time::TimePlugin;
    /// # use sc_bevy::*;
    /// use sc_core::Stage;
    /// // The physics of a game runs in `FixedPostUpdate`.
    /// let plugin = StillCookingPlugin::default()
    ///     .place_fixed(Stage::PostUpdate, FixedPostUpdate)
    ///     .place_fixed(Stage::Worldless, FixedPostUpdate)
    ///     .place_fixed(Stage::Console, FixedPostUpdate)
    ///     .place_fixed(Stage::End, FixedPostUpdate);
    /// App::new().add_plugins((TimePlugin, StillCookingPlugins.set(plugin))).update();
    /// ```
    ///
    /// # Panics
    /// As [`place`](Self::place).
    #[must_use]
    pub fn place_fixed(mut self, stage: Stage, schedule: impl ScheduleLabel) -> Self {
        self.step.place(stage, schedule);
        self
    }
}

impl StillCookingPlugin {
    /// Another one is in force: what this one places elsewhere is reported.
    fn tell_ignored(&self, world: &mut World) {
        let Some(InForce(first)) = world.get_resource::<InForce>() else {
            return;
        };
        let frame = self.frame.elsewhere(&first.frame);
        let frame = frame.map(|(stage, schedule)| format!("{stage:?} in {schedule:?}"));
        let step = self.step.elsewhere(&first.step);
        let step = step.map(|(stage, schedule)| format!("{stage:?} of a step in {schedule:?}"));
        let elsewhere: Vec<String> = frame.chain(step).collect();
        if elsewhere.is_empty() {
            return;
        }
        // Without a runtime that is at hand, nobody is there to hear it.
        let _ = world.with_cx(|cx| {
            let kind = ReportKind::Extension(&reports::PLACES_IGNORED);
            let what = format!(
                "was added after another one, and places {}",
                elsewhere.join(", ")
            );
            cx.report(Report::new(kind, what).object("StillCookingPlugin"));
        });
    }
}

impl Plugin for StillCookingPlugin {
    fn build(&self, app: &mut App) {
        if app.world().contains_non_send::<RuntimeSlot>() {
            return self.tell_ignored(app.world_mut());
        }
        let world = app.world_mut();
        let mut runtime = Runtime::new();
        runtime.set_stopwatch(OsClock::default());
        let mut cx = runtime.cx(world);
        let options = WorldOptions::new(WorldKind::Game).name("app");
        cx.runtime_state::<AppWorld>().0 = cx.create_world(options).ok();
        let pending = cx.pending_flows();
        world.insert_non_send(RuntimeSlot::new(runtime));
        world.insert_non_send(LocalQueue::new(pending.clone()));
        world.insert_resource(Queue::new(pending));
        world.init_resource::<Made>();
        world.init_resource::<StepIsOpen>();

        let mut order = app.world_mut().resource_mut::<MainScheduleOrder>();
        order.insert_after(Update, Cooking);
        let mut order = app.world_mut().resource_mut::<FixedMainScheduleOrder>();
        order.insert_after(FixedUpdate, FixedCooking);
        self.frame.add_to(app, StageSystems, AfterBegin::Frame, run);
        let after_begin = AfterBegin::Step;
        self.step
            .add_to(app, FixedStageSystems, after_begin, run_of_step);
        for schedule in self.step.schedules() {
            // One look a step, where no world steps.
            let is_open = |open: Option<Res<StepIsOpen>>| open.is_none_or(|open| open.0);
            app.configure_sets(schedule, after_begin.run_if(is_open));
        }

        // The order of the schedules is out of the `World` while the main loop runs.
        let checks = (check_places, check_time).before(Main::run_main);
        app.add_systems(Main, checks.run_if(run_once));
        // Wherever it is placed, `Begin` takes the time of its update.
        let begin = StageSystems(Stage::Begin);
        app.add_systems(First, remember.after(TimeSystems).before(begin));
        let is_ending =
            |exits: Option<Res<Messages<AppExit>>>| exits.is_some_and(|exits| !exits.is_empty());
        app.add_systems(Last, shut_down.in_set(OnAppExitSystems).run_if(is_ending));
        app.world_mut().insert_resource(InForce(self.clone()));
    }

    fn finish(&self, app: &mut App) {
        check_places(app.world_mut());
    }

    fn is_unique(&self) -> bool {
        false
    }
}

/// Panics when the places of the stages are not in order: when the app is finished, and before its first update, since
/// an app that is only updated is never finished.
fn check_places(world: &mut World) {
    let (Some(InForce(plugin)), Some(order), Some(fixed)) = (
        world.get_resource::<InForce>(),
        world.get_resource::<MainScheduleOrder>(),
        world.get_resource::<FixedMainScheduleOrder>(),
    ) else {
        return;
    };
    let main = ("main loop", "MainScheduleOrder");
    let problem = plugin.frame.misplaced(&order.labels, main);
    let main = ("fixed main loop", "FixedMainScheduleOrder");
    if let Some(problem) = problem.or_else(|| plugin.step.misplaced(&fixed.labels, main)) {
        #[allow(clippy::panic)] // As Bevy does when an app is built wrongly.
        {
            panic!("StillCookingPlugin: {problem}");
        }
    }
}

/// Reports an app in which no time passes.
fn check_time(world: &mut World) {
    if !clock::is_there(world) {
        let _ = world.with_cx(|cx| {
            let kind = ReportKind::Extension(&reports::NO_TIME);
            let what = "does not pass: the app has no `Time<Virtual>`";
            cx.report(Report::new(kind, what).object("time"));
        });
    }
}

/// The plugin that is in force: one that was added later has no say.
#[derive(Resource)]
pub(crate) struct InForce(StillCookingPlugin);

impl InForce {
    /// Where a stage of the frame runs.
    pub(crate) fn schedule_of(&self, stage: Stage) -> InternedScheduleLabel {
        self.0.frame.schedule_of(stage)
    }
}

/// Runs one stage of the frame, with what was asked for done before it.
fn run(world: &mut World, stage: Stage) {
    let ran = with_runtime(world, |runtime, world| {
        if runtime.is_shut_down() {
            return;
        }
        abandon_step(runtime, world);
        if stage == Stage::Begin {
            runtime.abandon_frame(world);
            answer(runtime, world);
            let delta = clock::of_frame(world);
            let begun = runtime.begin_frame_with(world, delta.real, |_| Some(delta));
            return told(stage, begun);
        }
        answer(runtime, world);
        run_or_end(runtime, world, stage);
    });
    if stage == Stage::Begin {
        if ran == Err(CxError::NotInstalled) {
            orphaned(world);
        }
        skipped(world, ran, "a frame", |_| true);
    }
}

/// Runs one stage of a step, if there are worlds that step.
fn run_of_step(world: &mut World, stage: Stage) {
    let ran = with_runtime(world, |runtime, world| {
        if stage == Stage::Begin && !runtime.is_shut_down() {
            abandon_step(runtime, world);
            answer(runtime, world);
            if runtime.has_steps() {
                let delta = clock::of_step(runtime, world);
                let begun = runtime.begin_step_with(world, delta.real, |_| Some(delta));
                told(stage, begun);
            }
            if let Some(mut open) = world.get_resource_mut::<StepIsOpen>() {
                open.0 = runtime.is_stepping();
            }
        } else if runtime.is_stepping() {
            answer(runtime, world);
            run_or_end(runtime, world, stage);
        }
    });
    if stage == Stage::Begin {
        skipped(world, ran, "a step", Runtime::has_steps);
    }
}

/// Reports a frame or a step that was asked for inside the runtime, by a flow that runs Bevy's schedules itself.
/// Without a runtime (somebody has removed it) there is nothing to run.
fn skipped(
    world: &World,
    ran: Result<(), CxError>,
    what: &'static str,
    is_missed: fn(&Runtime<World>) -> bool,
) {
    if ran != Err(CxError::Running) {
        return;
    }
    let Some(queue) = world.get_resource::<Queue>() else {
        return;
    };
    let report = move |cx: &mut Cx<'_, World>| {
        if is_missed(cx.runtime()) {
            let kind = ReportKind::Extension(&reports::FRAME_SKIPPED);
            let why = "was skipped: its schedule was run by what the runtime itself was running";
            cx.report(Report::new(kind, why).object(what));
        }
    };
    queue.push(Origin::here(What::Own), Box::new(report));
}

fn run_or_end(runtime: &mut Runtime<World>, world: &mut World, stage: Stage) {
    let outcome = match stage {
        Stage::End => runtime.end_frame(world).map(drop),
        stage => runtime.run_stage(world, stage),
    };
    told(stage, outcome);
}

fn told(stage: Stage, outcome: Result<(), FrameError>) {
    if let Err(error) = outcome {
        tracing::error!(target: "stillcooking", "stage {stage:?} did not run: {error}");
    }
}

/// Ends a step that a panic has left open.
fn abandon_step(runtime: &mut Runtime<World>, world: &mut World) {
    if runtime.is_stepping() {
        runtime.abandon_frame(world);
    }
}

/// The app ends, and everything in the runtime with it.
fn shut_down(world: &mut World) {
    let ended = catch_unwind(AssertUnwindSafe(|| {
        let _ = with_runtime(world, |runtime, world| {
            abandon_step(runtime, world);
            runtime.abandon_frame(world);
            runtime.shutdown(world);
            // What nobody has come to yet is refused, and said so.
            answer(runtime, world);
        });
    }));
    // Whatever has panicked, nothing stays that waits.
    close(world);
    if let Err(payload) = ended {
        resume_unwind(payload);
    }
}
