//! Running the extensions' hooks of a stage, and telling them which lives have ended.

use std::time::Duration;

use crate::clock::Clock;
use crate::cx::{NOBODY, Scope};
use crate::extension::StageEntry;
use crate::frame::Stage;
use crate::runtime::Runtime;
use crate::world::WorldId;

impl<H> Runtime<H> {
    /// The hooks of `Begin` of the worlds that step, or of the others: in creation order, those of worlds
    /// made meanwhile included.
    pub(crate) fn run_begin_hooks(&mut self, host: &mut H, steps: bool) {
        let begins = |hook: &StageEntry<H>| hook.of_world && hook.stage == Stage::Begin;
        if !self.stage_hooks.iter().any(begins) {
            return;
        }
        let mut done = 0;
        loop {
            let number = |id: &WorldId| {
                let world = self.worlds.get(*id).filter(|world| world.steps == steps);
                world.map_or(0, |world| world.number)
            };
            let next = self.world_order.iter().find(|id| number(id) > done);
            let Some(&world) = next else {
                break;
            };
            done = number(&world);
            self.run_world_hooks(host, Stage::Begin, world);
        }
    }

    pub(crate) fn run_world_hooks(&mut self, host: &mut H, stage: Stage, id: WorldId) {
        for index in 0..self.stage_hooks.len() {
            let entry = &self.stage_hooks[index];
            if !entry.of_world || entry.stage != stage {
                continue;
            }
            let Some(world) = self.worlds.get(id) else {
                return;
            };
            if !world.is_alive() || !world.ticks_gameplay {
                return;
            }
            let scope = Scope {
                delta: Duration::from_nanos(world.clocks.frame().get(Clock::Game)),
                ..Scope::event(Some(id), NOBODY)
            };
            self.run_stage_hook(host, index, scope);
        }
    }

    pub(crate) fn run_hooks(&mut self, host: &mut H, stage: Stage) {
        for index in 0..self.stage_hooks.len() {
            let entry = &self.stage_hooks[index];
            if entry.of_world || entry.stage != stage {
                continue;
            }
            let scope = Scope {
                delta: Duration::from_nanos(self.clocks.frame().get(Clock::Real)),
                ..Scope::OUTSIDE
            };
            self.run_stage_hook(host, index, scope);
        }
    }

    /// Tells the extensions which objects' lives have ended since they were told last.
    pub(crate) fn announce_ended_lives(&mut self, host: &mut H) {
        self.mark_dropped();
        if self.slots.ended.is_empty() {
            return;
        }
        let mut ended = std::mem::take(&mut self.slots.ended);
        for index in 0..self.life_hooks.len() {
            let (extension, hook) = self.life_hooks[index];
            let mut cx = self.cx(host);
            cx.run_hook(extension, Scope::OUTSIDE, |cx| hook(cx, &ended));
        }
        // What ended meanwhile is told the next time; the list's memory is kept.
        ended.clear();
        ended.append(&mut self.slots.ended);
        self.slots.ended = ended;
    }

    fn run_stage_hook(&mut self, host: &mut H, index: usize, scope: Scope) {
        let entry = &self.stage_hooks[index];
        let (extension, hook) = (entry.extension, entry.hook);
        self.cx(host).run_hook(extension, scope, hook);
    }
}
