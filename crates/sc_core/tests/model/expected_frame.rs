//! The model's frame: between passes, clocks, stages, end.

use super::{Batch, Force, GAME, Life, Model, REAL, THROUGH};
use crate::ops::{Answer, Event, Line};
use sc_core::TickGroup;

/// What a stage visits.
enum Visit {
    One(usize),
    Rows(usize, Vec<usize>),
}

impl Model {
    pub fn bad_frame(&mut self) {
        self.log.push(Line::Answered(Answer::Refused("BadDelta")));
    }

    pub fn frame(&mut self, handed_in: u64) {
        self.frame += 1;
        for op in std::mem::take(&mut self.posted) {
            self.depth += 1;
            self.act(&op, None);
            self.depth -= 1;
            self.after_callback();
        }
        self.run(handed_in, false);
    }

    /// A frame of the worlds that step, in which the runtime has no part.
    pub fn step(&mut self, handed_in: u64) {
        self.steps += 1;
        self.run(handed_in, true);
    }

    fn run(&mut self, handed_in: u64, steps: bool) {
        self.frame_ticks = 0;
        self.settle();

        let forgive = !steps && std::mem::take(&mut self.forgive);
        let real = if forgive { 0 } else { handed_in };
        let worlds: Vec<usize> = (0..self.worlds.len())
            .filter(|w| self.worlds[*w].life != Life::Gone && self.worlds[*w].steps == steps)
            .collect();
        self.advance(real, if steps { 0 } else { real }, &worlds);
        self.open_passes();
        self.in_frame = true;
        let mut visits = Vec::new();
        for group in TickGroup::ALL {
            for &world in &worlds {
                visits.push((Some(world), self.visits(Some(world), group)));
            }
        }
        // Groups mean nothing to worldless objects.
        if !steps {
            visits.push((None, self.visits(None, TickGroup::PostPhysics)));
        }
        for (world, of_world) in visits {
            if let Some(world) = world
                && self.worlds[world].life != Life::Alive
            {
                continue;
            }
            for visit in of_world {
                match visit {
                    Visit::One(n) => self.tick(n),
                    Visit::Rows(batch, rows) => {
                        for n in rows {
                            if !self.batches[batch].gone {
                                self.tick(n);
                            }
                        }
                    }
                }
            }
        }
        self.in_frame = false;
        for object in &mut self.objects {
            if std::mem::take(&mut object.restarts) {
                object.accumulated = 0;
            }
        }
        for world in &mut self.worlds {
            world.delta = [0; 4];
        }
        self.end();
        let reports = std::mem::take(&mut self.reports);
        self.log.push(Line::Framed {
            frame: if steps { self.steps } else { self.frame },
            real_delta: real,
            forgiven: handed_in - real,
            ticks: self.frame_ticks,
            reports,
        });
    }

    /// Between passes: who lies in which batch.
    fn settle(&mut self) {
        for object in &mut self.objects {
            if object.accumulated == 0 || object.settings.interval > 0 {
                object.owing = false;
            }
        }
        for n in self.order.objects().to_vec() {
            let object = &self.objects[n];
            let batched = object.batched
                && self.wants_to_tick(n)
                && object.settings.interval == 0
                && !object.owing
                && !self.is_linked(n);
            let object = &self.objects[n];
            let (Some(world), true) = (object.world, batched) else {
                self.objects[n].row_of = None;
                continue;
            };
            let (group, through_pause) = (object.settings.group, object.settings.when_paused);
            let fits = |b: &Batch| {
                !b.gone && b.world == world && b.group == group && b.through_pause == through_pause
            };
            let found = self.batches.iter().position(fits);
            let batch = found.unwrap_or_else(|| self.new_batch(n));
            self.objects[n].row_of = Some(batch);
        }
    }

    /// Has prerequisites or is one. Of those that are gone until they are freed.
    fn is_linked(&self, n: usize) -> bool {
        let freed = |o: &usize| self.objects[*o].freed;
        let own = |o: &usize| self.objects[*o].prerequisites.contains(&n);
        self.objects[n].prerequisites.iter().any(|p| !freed(p))
            || (0..self.objects.len()).any(|o| own(&o) && !freed(&o))
    }

    fn new_batch(&mut self, first: usize) -> usize {
        let object = &self.objects[first];
        let batch = Batch {
            world: object.world.unwrap(),
            group: object.settings.group,
            through_pause: object.settings.when_paused,
            out: false,
            gone: false,
        };
        self.batches.push(batch);
        self.batches.len() - 1
    }

    fn wants_to_tick(&self, n: usize) -> bool {
        let object = &self.objects[n];
        let world = object.world.map(|w| &self.worlds[w]);
        object.initialized
            && !object.dead
            && object.enabled
            && world.is_none_or(|w| {
                w.life == Life::Alive && (w.ticks_gameplay || object.settings.in_editor)
            })
    }

    /// Pause and dilation are sampled here.
    fn advance(&mut self, real: u64, of_runtime: u64, worlds: &[usize]) {
        self.runtime_delta = of_runtime;
        self.runtime_elapsed += of_runtime;
        for &w in worlds {
            let paused = self.is_paused(w);
            let world = &mut self.worlds[w];
            world.paused_this_frame = paused;
            let mut dilate = |which: usize| {
                let exact = real * world.dilation + world.rest[which];
                world.rest[which] = exact % 1000;
                exact / 1000
            };
            let through = dilate(1);
            let game = if paused { 0 } else { dilate(0) };
            let unscaled = if paused { 0 } else { real };
            world.delta = [game, unscaled, through, real];
            for clock in 0..4 {
                world.elapsed[clock] += world.delta[clock];
            }
        }
        for object in &mut self.objects {
            let counts = object.settings.interval > 0 || object.owing;
            if object.initialized && object.enabled && counts {
                let clock = if object.settings.when_paused {
                    THROUGH
                } else {
                    GAME
                };
                object.accumulated += match object.world {
                    Some(world) => self.worlds[world].delta[clock],
                    None => of_runtime,
                };
            }
        }
    }

    /// What holds for this pass.
    fn open_passes(&mut self) {
        for n in 0..self.objects.len() {
            let ticks = self.wants_to_tick(n);
            let object = &mut self.objects[n];
            let interval = object.settings.interval;
            let paused = object
                .world
                .is_some_and(|w| self.worlds[w].paused_this_frame);
            object.force = Force {
                ticks,
                through_pause: object.settings.when_paused,
                interval,
                owing: object.owing,
                due: (interval == 0 || object.at_once || object.accumulated >= interval)
                    && (!paused || object.settings.when_paused),
            };
        }
    }

    fn visits(&self, world: Option<usize>, group: TickGroup) -> Vec<Visit> {
        let mut visits = Vec::new();
        let here = |n: usize| {
            let object = &self.objects[n];
            let in_group = object.worldless || object.settings.group == group;
            object.force.ticks && object.world == world && in_group
        };
        let mut seen = Vec::new();
        for &n in self.order.objects() {
            let Some(batch) = self.objects[n].row_of else {
                if here(n) {
                    visits.push(Visit::One(n));
                }
                continue;
            };
            // All rows of a batch at the place of the first one.
            let its = &self.batches[batch];
            if Some(its.world) == world && its.group == group && !seen.contains(&batch) {
                seen.push(batch);
                let rows = self.order.objects().iter().copied();
                let rows = rows.filter(|o| self.objects[*o].row_of == Some(batch) && here(*o));
                visits.push(Visit::Rows(batch, rows.collect()));
            }
        }
        visits
    }

    fn tick(&mut self, n: usize) {
        let object = &mut self.objects[n];
        if !object.force.ticks || !object.force.due {
            return;
        }
        let clock = if object.force.through_pause {
            THROUGH
        } else {
            GAME
        };
        let interval = object.force.interval;
        let delta = if interval > 0 {
            object.accumulated - object.accumulated % interval
        } else if object.force.owing {
            object.accumulated
        } else {
            match object.world {
                Some(world) => self.worlds[world].delta[clock],
                None => self.runtime_delta,
            }
        };
        if interval > 0 || object.force.owing {
            object.accumulated -= delta;
        }
        object.at_once = false;
        object.ticks += 1;
        self.frame_ticks += 1;
        if self.call(n, Event::Tick, delta).is_err() {
            self.uninitialize(n);
            self.report("Panicked", Some(n));
        }
        self.after_callback();
    }

    /// The dead that were initialized are reported, all of them freed.
    fn end(&mut self) {
        for n in 0..self.objects.len() {
            if self.objects[n].dead && self.objects[n].initialized {
                self.report("OwnerDropped", Some(n));
                self.uninitialize(n);
            }
        }
        self.settle();
        for n in 0..self.objects.len() {
            if self.objects[n].dead && !std::mem::replace(&mut self.objects[n].freed, true) {
                self.log.push(Line::Dropped(n));
            }
        }
    }

    /// `Runtime::shutdown`: worlds newest first, then worldless objects newest first.
    pub fn shut_runtime_down(&mut self) {
        self.shut_down = true;
        for world in (0..self.worlds.len()).rev() {
            self.mark_dying(world);
        }
        self.after_callback();
        self.tearing_down = true;
        self.shut_down_all(None);
        self.tearing_down = false;
        self.end();
        self.posted.clear();
    }
}

const _: usize = REAL;
