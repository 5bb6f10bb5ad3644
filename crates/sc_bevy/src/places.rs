//! In which schedules the stages of a frame run, and each of them as a system.

use std::collections::HashSet;

use bevy_app::App;
use bevy_ecs::schedule::{
    InternedScheduleLabel, IntoScheduleConfigs, ScheduleLabel, SingleThreadedExecutor, SystemSet,
};
use bevy_ecs::world::World;
use sc_core::Stage;

#[derive(Clone, Debug)]
pub(crate) struct Places {
    /// Where they run unless they are placed elsewhere.
    usual: InternedScheduleLabel,
    placed: Vec<(Stage, InternedScheduleLabel)>,
}

impl Places {
    pub(crate) fn new(usual: impl ScheduleLabel) -> Self {
        Places {
            usual: usual.intern(),
            placed: Vec::new(),
        }
    }

    pub(crate) fn place(&mut self, stage: Stage, schedule: impl ScheduleLabel) {
        self.placed.retain(|(placed, _)| *placed != stage);
        self.placed.push((stage, schedule.intern()));
    }

    pub(crate) fn schedule_of(&self, stage: Stage) -> InternedScheduleLabel {
        let placed = self.placed.iter().find(|(placed, _)| *placed == stage);
        placed.map_or(self.usual, |(_, schedule)| *schedule)
    }

    /// Every schedule in which there is a stage, once.
    pub(crate) fn schedules(&self) -> HashSet<InternedScheduleLabel> {
        let schedules = Stage::ALL.into_iter().map(|stage| self.schedule_of(stage));
        schedules.collect()
    }

    /// What is placed here, and is elsewhere in others.
    pub(crate) fn elsewhere(
        &self,
        than: &Places,
    ) -> impl Iterator<Item = (Stage, InternedScheduleLabel)> {
        let placed = self.placed.iter().copied();
        placed.filter(|&(stage, schedule)| than.schedule_of(stage) != schedule)
    }

    /// What is wrong with the places, if something is. `of` is the loop whose schedules these are, and the
    /// resource with their order.
    pub(crate) fn misplaced(
        &self,
        order: &[InternedScheduleLabel],
        of: (&str, &str),
    ) -> Option<String> {
        let mut latest = (Stage::Begin, 0);
        for stage in Stage::ALL {
            let schedule = self.schedule_of(stage);
            let Some(at) = order.iter().position(|&label| label == schedule) else {
                let (of, resource) = of;
                return Some(format!(
                    "stage {stage:?} is placed in {schedule:?}, which is no schedule of the {of}: place it in one of `{resource}`"
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

    /// Adds the usual schedule, and each stage as a system in a set of its own; all but `Begin` also in one that they
    /// share.
    pub(crate) fn add_to<S: SystemSet>(
        &self,
        app: &mut App,
        set: fn(Stage) -> S,
        after_begin: impl SystemSet + Copy,
        run: fn(&mut World, Stage),
    ) {
        // It may hold systems of the game already.
        app.edit_schedule(self.usual, |usual| {
            usual.set_executor(SingleThreadedExecutor::new());
        });
        for stage in Stage::ALL {
            let run = move |world: &mut World| run(world, stage);
            let run = run.in_set(set(stage));
            let run = match stage {
                Stage::Begin => run,
                _ => run.in_set(after_begin),
            };
            app.add_systems(self.schedule_of(stage), run);
        }
        for (before, after) in Stage::ALL.iter().zip(Stage::ALL.iter().skip(1)) {
            let schedule = self.schedule_of(*before);
            if schedule == self.schedule_of(*after) {
                app.configure_sets(schedule, set(*before).before(set(*after)));
            }
        }
    }
}
