//! The model's side of every operation.

use super::{Force, Instance, Life, Model, Object, World};
use crate::ops::{
    Answer, Change, Event, How, Line, MOST_OBJECTS, Op, PLAIN, Start, Who, is_promised, script_for,
};

impl Model {
    pub fn act(&mut self, op: &Op, me: Option<(usize, usize)>) {
        let answer = self.answer(op, me).unwrap_or(Answer::NoTarget);
        self.log.push(Line::Answered(answer));
    }

    fn find_world(&self, nth: u8) -> Option<usize> {
        let count = self.worlds.len();
        (count > 0).then(|| usize::from(nth) % count)
    }

    fn find_instance(&self, nth: u8) -> Option<usize> {
        let count = self.instances.len();
        (count > 0).then(|| usize::from(nth) % count)
    }

    fn find_object(&self, who: Who, me: Option<usize>) -> Option<usize> {
        let count = self.objects.len();
        match (who, me) {
            _ if count == 0 => None,
            (Who::Me, Some(me)) => Some(me),
            (Who::Me, None) => Some(count - 1),
            (Who::Nth(nth), _) => Some(usize::from(nth) % count),
        }
    }

    fn answer(&mut self, op: &Op, me: Option<(usize, usize)>) -> Option<Answer> {
        let number = me.map(|m| m.0);
        let id = |model: &Model, who: &Who| {
            let found = model.find_object(*who, number)?;
            model.objects[found].has_id.then_some(found)
        };
        Some(match op {
            Op::Spawn {
                how,
                world,
                start,
                script,
            } => {
                if self.objects.len() >= MOST_OBJECTS {
                    return None;
                }
                let world = self.find_world(*world)?;
                let script = script_for(me.map(|m| m.1), *script, self.scripts.len());
                Self::answered(self.spawn(*how, world, *start, script))
            }
            Op::Initialize(who, world) => {
                let world = match world {
                    Some(nth) => Some(self.find_world(*nth)?),
                    None => None,
                };
                let n = id(self, who)?;
                Self::answered(self.initialize(n, world))
            }
            Op::Shutdown(who) => {
                let n = id(self, who)?;
                self.shutdown(n)
            }
            Op::Enable(who, on) => {
                let n = id(self, who)?;
                Self::answered(self.enable(n, *on))
            }
            Op::DropOwner(who) => {
                let n = self.find_object(*who, number)?;
                if !std::mem::take(&mut self.objects[n].has_owner) {
                    return None;
                }
                self.die(n);
                Answer::Done
            }
            Op::Configure(who, change) => {
                let n = id(self, who)?;
                let (how, start) = self.objects[n].spawned;
                if !is_promised(how, start, change) {
                    return None;
                }
                let others = match change {
                    Change::After(a) | Change::NotAfter(a) => vec![id(self, a)?],
                    Change::Many(_, a, b) => vec![id(self, a)?, id(self, b)?],
                    _ => Vec::new(),
                };
                Self::answered(self.configure(n, change, &others))
            }
            Op::Get(who) => {
                let n = self.find_object(*who, number)?;
                if !self.objects[n].has_key {
                    return None;
                }
                Self::answered(self.reach(n))
            }
            Op::With(who, op) => {
                let n = self.find_object(*who, number)?;
                if !self.objects[n].has_key {
                    return None;
                }
                let reached = self.reach(n);
                if reached.is_ok() {
                    self.set_out(n, true);
                    self.depth += 1;
                    self.act(op, me);
                    self.depth -= 1;
                    self.set_out(n, false);
                    self.after_callback();
                }
                Self::answered(reached)
            }
            Op::CreateWorld {
                editor,
                steps,
                parent,
                instance,
            } => {
                let parent = match parent {
                    Some(nth) => Some(self.find_world(*nth)?),
                    None => None,
                };
                let instance = instance.and_then(|nth| self.find_instance(nth));
                Self::answered(self.create_world(*editor, *steps, parent, instance))
            }
            Op::DestroyWorld(nth) => {
                let world = self.find_world(*nth)?;
                let was = self.mark_dying(world);
                self.after_callback();
                Answer::Was(was)
            }
            Op::PauseWorld(nth, on) => {
                let world = self.find_world(*nth)?;
                Self::answered(self.change_world(world, |w| w.paused = *on))
            }
            Op::Dilate(nth, factor) => {
                let world = self.find_world(*nth)?;
                Self::answered(self.change_world(world, |w| w.dilation = u64::from(*factor)))
            }
            Op::BadDilation(nth) => {
                let world = self.find_world(*nth)?;
                let found = self.change_world(world, |_| ());
                Self::answered(found.and(Err("BadDilation")))
            }
            Op::CreateInstance => {
                self.instances.push(Instance {
                    alive: true,
                    paused: false,
                });
                Answer::Done
            }
            Op::PauseInstance(nth, on) => {
                let instance = self.find_instance(*nth)?;
                let instance = &mut self.instances[instance];
                if !instance.alive {
                    return Some(Answer::Refused("InstanceGone"));
                }
                instance.paused = *on;
                Answer::Done
            }
            Op::DestroyInstance(nth) => {
                let instance = self.find_instance(*nth)?;
                if !std::mem::take(&mut self.instances[instance].alive) {
                    return Some(Answer::Was(false));
                }
                for world in (0..self.worlds.len()).rev() {
                    if self.worlds[world].instance == Some(instance) {
                        self.mark_dying(world);
                    }
                }
                self.after_callback();
                Answer::Was(true)
            }
            Op::Forgive => {
                self.forgive = true;
                Answer::Done
            }
            Op::Post(op) => {
                self.posted.push((**op).clone());
                Answer::Done
            }
            Op::Panic => return None,
        })
    }

    fn change_world(
        &mut self,
        world: usize,
        change: impl FnOnce(&mut World),
    ) -> Result<(), &'static str> {
        let world = &mut self.worlds[world];
        if world.life == Life::Gone {
            return Err("Gone");
        }
        change(world);
        Ok(())
    }

    fn create_world(
        &mut self,
        editor: bool,
        steps: bool,
        parent: Option<usize>,
        instance: Option<usize>,
    ) -> Result<(), &'static str> {
        if self.shut_down {
            return Err("ShutDown");
        }
        if instance.is_some_and(|i| !self.instances[i].alive) {
            return Err("InstanceGone");
        }
        if parent.is_some_and(|p| self.worlds[p].life != Life::Alive) {
            self.report("NoLiveWorld", None);
            return Err("NoLiveWorld");
        }
        self.worlds.push(World {
            life: Life::Alive,
            parent,
            instance,
            ticks_gameplay: !editor,
            steps,
            paused: false,
            paused_this_frame: false,
            dilation: 1000,
            elapsed: [0; 4],
            delta: [0; 4],
            rest: [0; 2],
        });
        Ok(())
    }

    fn spawn(
        &mut self,
        how: How,
        world: usize,
        start: Start,
        script: usize,
    ) -> Result<(), &'static str> {
        let n = self.objects.len();
        let alone = matches!(how, How::Plain | How::Worldless);
        self.objects.push(Object {
            script,
            seen: [0; 3],
            has_id: alone,
            has_key: alone,
            has_owner: alone,
            worldless: how == How::Worldless,
            world_owned: how == How::WorldOwned,
            batched: how == How::Batched,
            settings: Start {
                // Groups mean nothing to worldless objects.
                group: if how == How::Worldless {
                    PLAIN.group
                } else {
                    start.group
                },
                ..start
            },
            spawned: (how, start),
            prerequisites: Vec::new(),
            initialized: false,
            initialization: 0,
            world: None,
            intent: None,
            enabled: false,
            accumulated: 0,
            restarts: false,
            owing: false,
            at_once: false,
            ticks: 0,
            out: false,
            shutting_down: false,
            dead: false,
            freed: false,
            row_of: None,
            force: Force::default(),
        });
        if alone {
            return Ok(());
        }
        if let Err(refused) = self.initialize(n, Some(world)) {
            // The object is dropped.
            self.die(n);
            return Err(refused);
        }
        let object = &mut self.objects[n];
        object.has_id = true;
        object.has_key = true;
        object.has_owner = how != How::WorldOwned;
        Ok(())
    }

    fn initialize(&mut self, n: usize, world: Option<usize>) -> Result<(), &'static str> {
        let object = &self.objects[n];
        if object.dead {
            return Err("Gone");
        }
        if self.pending.contains(&n) || object.shutting_down {
            return Err("Running");
        }
        if object.initialized {
            self.report("AlreadyInitialized", Some(n));
            return Err("AlreadyInitialized");
        }
        if self.is_out(n) {
            return Err("Running");
        }
        match world {
            Some(_) if object.worldless => return Err("Worldless"),
            None if object.worldless && self.shut_down => return Err("ShutDown"),
            None if object.worldless => {}
            Some(world) if self.worlds[world].life == Life::Alive => {}
            _ => {
                self.report("NoLiveWorld", Some(n));
                return Err("NoLiveWorld");
            }
        }
        let mut linked = self.prerequisites(n);
        linked.extend(self.dependents(n));
        let elsewhere = |o: &Object| o.initialized && o.world != world;
        if linked.iter().any(|other| elsewhere(&self.objects[*other])) {
            return Err("Elsewhere");
        }
        self.initializations += 1;
        let initialization = self.initializations;
        let object = &mut self.objects[n];
        object.initialized = true;
        object.initialization = initialization;
        object.world = world;
        object.enabled = object.intent.unwrap_or(object.settings.start_ticking);
        object.accumulated = 0;
        object.restarts = false;
        object.owing = false;
        object.at_once = object.settings.at_start;
        self.order.put_last(n);
        self.enforce_order(n);
        self.run_event(n, Event::Initialize).map_err(|_| "Panicked")
    }

    fn shutdown(&mut self, n: usize) -> Answer {
        let object = &mut self.objects[n];
        if object.dead || !object.initialized || object.shutting_down || self.pending.contains(&n) {
            return Answer::Was(false);
        }
        object.force.ticks = false;
        if self.is_out(n) {
            self.pending.push(n);
            return Answer::Was(true);
        }
        match self.finish_shutdown(n) {
            Ok(()) => Answer::Was(true),
            Err(_) => Answer::Refused("Panicked"),
        }
    }

    fn enable(&mut self, n: usize, on: bool) -> Result<(), &'static str> {
        let object = &mut self.objects[n];
        if object.dead {
            return Err("Gone");
        }
        object.intent = Some(on);
        if object.initialized && object.enabled != on {
            object.enabled = on;
            // Disabling drops the accumulator; time counts anew from enabling.
            object.accumulated = 0;
            object.restarts = false;
            object.owing = false;
            if on {
                object.at_once = object.settings.at_start;
            } else {
                object.force.ticks = false;
            }
        }
        Ok(())
    }

    fn reach(&self, n: usize) -> Result<(), &'static str> {
        if self.objects[n].dead {
            Err("Gone")
        } else if self.is_out(n) {
            Err("Running")
        } else {
            Ok(())
        }
    }

    fn configure(
        &mut self,
        n: usize,
        change: &Change,
        others: &[usize],
    ) -> Result<(), &'static str> {
        if self.objects[n].dead {
            return Err("Gone");
        }
        let mut settings = self.objects[n].settings;
        let mut prerequisites = self.objects[n].prerequisites.clone();
        match change {
            Change::Interval(interval) => settings.interval = *interval,
            Change::BadInterval => return Err("BadInterval"),
            Change::Group(group) | Change::Many(group, _, _) => settings.group = *group,
            Change::WhenPaused(on) => settings.when_paused = *on,
            Change::AtStart(on) => settings.at_start = *on,
            Change::StartTicking(on) => settings.start_ticking = *on,
            Change::After(_) => {}
            Change::NotAfter(_) => prerequisites.retain(|p| *p != others[0]),
        }
        if self.objects[n].worldless && settings.group != self.objects[n].settings.group {
            return Err("Worldless");
        }
        if matches!(change, Change::After(_) | Change::Many(..)) {
            if others.iter().any(|other| self.objects[*other].dead) {
                return Err("Gone");
            }
            for &other in others {
                let (a, b) = (&self.objects[n], &self.objects[other]);
                let both = a.initialized && b.initialized;
                if a.worldless != b.worldless || (both && a.world != b.world) {
                    return Err("Elsewhere");
                }
                if self.leads_to(other, n) {
                    return Err("Cycle");
                }
                if !prerequisites.contains(&other) {
                    prerequisites.push(other);
                }
            }
        }
        let group = |other: &usize| self.objects[*other].settings.group;
        let counts = |p: &&usize| !self.objects[**p].dead;
        let mut counted = prerequisites.iter().filter(counts);
        let later = counted.any(|p| group(p) > settings.group);
        let earlier = self.dependents(n).iter().any(|d| group(d) < settings.group);
        if later || earlier {
            return Err("Later");
        }

        let in_frame = self.in_frame;
        let object = &mut self.objects[n];
        let was = object.settings.interval;
        object.settings = settings;
        object.prerequisites = prerequisites;
        if was == 0 && settings.interval > 0 {
            object.owing = false;
            if in_frame {
                object.restarts = true;
            } else {
                object.accumulated = 0;
            }
        }
        if was > 0 && settings.interval == 0 {
            object.owing = true;
        }
        self.enforce_order(n);
        Ok(())
    }

    /// Whether `from` is `to`, or waits for it by any chain of prerequisites.
    fn leads_to(&self, from: usize, to: usize) -> bool {
        from == to
            || self
                .prerequisites(from)
                .iter()
                .any(|p| self.leads_to(*p, to))
    }
}
