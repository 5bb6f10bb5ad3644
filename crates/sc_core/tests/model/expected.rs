//! The model: what the specification says a case does, in plain vectors and numbers, recomputed
//! each frame. Written from the specification; it shares nothing with the runtime but the names.

use crate::ops::{Answer, Event, How, Line, Script, Seen, SeenWorld, Start, State};
use crate::order::Order;
use sc_core::TickGroup;

#[path = "expected_calls.rs"]
mod calls;
#[path = "expected_frame.rs"]
mod frame;

pub(crate) const GAME: usize = 0;
pub(crate) const THROUGH: usize = 2;
pub(crate) const REAL: usize = 3;

/// What holds for an object in the running pass, whatever is asked for meanwhile.
#[derive(Clone, Copy, Debug, Default)]
struct Force {
    /// Cleared at once by disabling, shutting down, dying; set between passes only.
    ticks: bool,
    through_pause: bool,
    interval: u64,
    owing: bool,
    due: bool,
}

#[derive(Debug)]
struct Object {
    script: usize,
    seen: [u32; 3],
    /// Someone knows its id, its key; someone holds its owner.
    has_id: bool,
    has_key: bool,
    has_owner: bool,

    worldless: bool,
    world_owned: bool,
    /// Spawned as one of a batch.
    batched: bool,
    settings: Start,
    spawned: (How, Start),
    prerequisites: Vec<usize>,

    initialized: bool,
    /// The number of its initialization.
    initialization: u64,
    world: Option<usize>,
    /// Recorded by a call; outranks the default.
    intent: Option<bool>,
    /// While initialized: whether it is meant to tick.
    enabled: bool,
    /// Time that counts towards the interval.
    accumulated: u64,
    /// The accumulator starts anew when the pass is over.
    restarts: bool,
    /// From an interval to every frame: what has accumulated comes with the next tick.
    owing: bool,
    /// The first tick comes at once.
    at_once: bool,
    ticks: u64,

    /// Being called.
    out: bool,
    shutting_down: bool,
    /// The owner is gone.
    dead: bool,
    /// And the storage too.
    freed: bool,
    /// The batch in whose rows it lies.
    row_of: Option<usize>,
    force: Force,
}

#[derive(Debug)]
struct Batch {
    world: usize,
    group: TickGroup,
    through_pause: bool,
    out: bool,
    gone: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Life {
    Alive,
    Dying,
    Gone,
}

#[derive(Debug)]
struct World {
    life: Life,
    parent: Option<usize>,
    instance: Option<usize>,
    ticks_gameplay: bool,
    paused: bool,
    paused_this_frame: bool,
    /// Its frames are steps.
    steps: bool,
    /// In thousandths.
    dilation: u64,
    /// Game, Unscaled, GameThroughPause, Real.
    elapsed: [u64; 4],
    delta: [u64; 4],
    /// Thousandths of a nanosecond not handed out yet: of Game, of GameThroughPause.
    rest: [u64; 2],
}

#[derive(Debug)]
struct Instance {
    alive: bool,
    paused: bool,
}

pub struct Model {
    scripts: Vec<Script>,
    log: Vec<Line>,
    objects: Vec<Object>,
    order: Order,
    batches: Vec<Batch>,
    worlds: Vec<World>,
    instances: Vec<Instance>,
    initializations: u64,
    /// Callbacks on the stack.
    depth: u32,
    /// Shutdowns asked for while the object was out, in that order.
    pending: Vec<usize>,
    dying: Vec<usize>,
    tearing_down: bool,
    in_frame: bool,
    shut_down: bool,
    frame: u64,
    steps: u64,
    forgive: bool,
    posted: Vec<crate::ops::Op>,
    runtime_elapsed: u64,
    runtime_delta: u64,
    frame_ticks: u64,
    reports: u64,
}

/// User code panicked.
struct Panicked;

impl Model {
    pub fn new(scripts: &[Script]) -> Self {
        Model {
            scripts: scripts.to_vec(),
            log: Vec::new(),
            objects: Vec::new(),
            order: Order::default(),
            batches: Vec::new(),
            worlds: Vec::new(),
            instances: Vec::new(),
            initializations: 0,
            depth: 0,
            pending: Vec::new(),
            dying: Vec::new(),
            tearing_down: false,
            in_frame: false,
            shut_down: false,
            frame: 0,
            steps: 0,
            forgive: false,
            posted: Vec::new(),
            runtime_elapsed: 0,
            runtime_delta: 0,
            frame_ticks: 0,
            reports: 0,
        }
    }

    pub fn take_log(&mut self) -> Vec<Line> {
        std::mem::take(&mut self.log)
    }

    fn report(&mut self, kind: &'static str, object: Option<usize>) {
        self.reports += 1;
        self.log.push(Line::Reported(kind, object));
    }

    fn is_out(&self, n: usize) -> bool {
        match self.objects[n].row_of {
            Some(batch) => self.batches[batch].out,
            None => self.objects[n].out,
        }
    }

    fn set_out(&mut self, n: usize, out: bool) {
        match self.objects[n].row_of {
            Some(batch) => self.batches[batch].out = out,
            None => self.objects[n].out = out,
        }
    }

    /// Calls an object and then does what its script says. Everything but what must happen
    /// afterwards.
    fn call(&mut self, n: usize, event: Event, delta: u64) -> Result<(), Panicked> {
        self.set_out(n, true);
        self.depth += 1;
        let object = &mut self.objects[n];
        object.has_id = true;
        object.seen[event as usize] += 1;
        let (nth, script) = (object.seen[event as usize], object.script);
        self.log.push(Line::Called {
            object: n,
            event,
            delta,
            world: object.world,
            frame: self.frame,
        });
        let cues = self.scripts.get(script).cloned().unwrap_or_default();
        let mut outcome = Ok(());
        let now = cues.iter().filter(|c| c.event == event && c.nth == nth);
        for op in now.flat_map(|c| &c.ops) {
            if let crate::ops::Op::Panic = op {
                outcome = Err(Panicked);
                break;
            }
            self.act(op, Some((n, script)));
        }
        self.depth -= 1;
        self.set_out(n, false);
        outcome
    }

    /// Initialize or shutdown event.
    fn run_event(&mut self, n: usize, event: Event) -> Result<(), Panicked> {
        let outcome = self.call(n, event, 0);
        if event == Event::Shutdown || outcome.is_err() {
            self.uninitialize(n);
        }
        if outcome.is_err() {
            self.report("Panicked", Some(n));
        }
        self.after_callback();
        outcome
    }

    fn uninitialize(&mut self, n: usize) {
        let object = &mut self.objects[n];
        if !object.initialized {
            return;
        }
        object.initialized = false;
        object.shutting_down = false;
        object.force.ticks = false;
        object.world = None;
        object.intent = None;
        let dies = object.world_owned;
        self.pending.retain(|p| *p != n);
        if dies {
            self.die(n);
        }
    }

    /// The owner goes. A shutdown that was asked for before still comes: the owner did call it.
    fn die(&mut self, n: usize) {
        self.objects[n].dead = true;
        self.objects[n].force.ticks = false;
    }

    /// What must happen between two callbacks.
    fn after_callback(&mut self) {
        while let Some(at) = self.pending.iter().position(|n| !self.is_out(*n)) {
            let n = self.pending.remove(at);
            let _ = self.finish_shutdown(n);
        }
        if self.depth > 0 || self.tearing_down {
            return;
        }
        self.tearing_down = true;
        while !self.dying.is_empty() {
            let world = self.dying.remove(0);
            self.shut_down_all(Some(world));
            self.worlds[world].life = Life::Gone;
            for batch in &mut self.batches {
                batch.gone |= batch.world == world;
            }
            for object in &mut self.objects {
                if object.row_of.is_some_and(|b| self.batches[b].gone) {
                    object.row_of = None;
                }
            }
        }
        self.tearing_down = false;
    }

    fn finish_shutdown(&mut self, n: usize) -> Result<(), Panicked> {
        self.objects[n].force.ticks = false;
        self.objects[n].shutting_down = true;
        self.run_event(n, Event::Shutdown)
    }

    /// Newest first, what is initialized in a world (or worldless).
    fn shut_down_all(&mut self, world: Option<usize>) {
        let here = |o: &Object| o.initialized && o.world == world && !o.dead && !o.shutting_down;
        let mut all: Vec<usize> = (0..self.objects.len())
            .filter(|n| here(&self.objects[*n]))
            .collect();
        all.sort_by_key(|n| std::cmp::Reverse(self.objects[*n].initialization));
        for n in all {
            if here(&self.objects[n]) {
                let _ = self.finish_shutdown(n);
            }
        }
    }

    /// Children before parents, newest first.
    fn mark_dying(&mut self, world: usize) -> bool {
        if self.worlds[world].life != Life::Alive {
            return false;
        }
        let children = (0..self.worlds.len()).rev();
        let children: Vec<usize> = children
            .filter(|w| self.worlds[*w].parent == Some(world))
            .collect();
        // The mark itself is immediate; only the order of the teardowns is children first.
        for child in children {
            self.mark_dying(child);
        }
        self.worlds[world].life = Life::Dying;
        self.dying.push(world);
        true
    }

    fn is_paused(&self, world: usize) -> bool {
        let world = &self.worlds[world];
        let instance = world.instance.map(|i| &self.instances[i]);
        world.paused
            || instance.is_some_and(|i| i.alive && i.paused)
            || world.parent.is_some_and(|p| self.is_paused(p))
    }

    fn dependents(&self, of: usize) -> Vec<usize> {
        let all = 0..self.objects.len();
        all.filter(|n| self.prerequisites(*n).contains(&of))
            .collect()
    }

    /// Those that are not gone.
    fn prerequisites(&self, of: usize) -> Vec<usize> {
        let object = &self.objects[of];
        let mut all = object.prerequisites.clone();
        all.retain(|p| !object.dead && !self.objects[*p].dead);
        all
    }

    /// Both initialized in the same world and group: only then they have an order.
    fn ordered_together(&self, a: usize, b: usize) -> bool {
        let (a, b) = (&self.objects[a], &self.objects[b]);
        a.initialized
            && b.initialized
            && !a.dead
            && !b.dead
            && a.world == b.world
            && a.worldless == b.worldless
            && a.settings.group == b.settings.group
    }

    fn enforce_order(&mut self, n: usize) {
        if !self.objects[n].initialized {
            return;
        }
        let mut dependents = self.dependents(n);
        dependents.retain(|d| self.ordered_together(n, *d));
        let mut order = std::mem::take(&mut self.order);
        order.enforce(n, &dependents, &|of| {
            let mut all = self.prerequisites(of);
            all.retain(|p| self.ordered_together(of, *p));
            all
        });
        self.order = order;
    }

    pub fn state(&self) -> State {
        let seen = |object: &Object| {
            if object.dead || !object.has_id {
                return None;
            }
            let default = object.settings.start_ticking;
            let enabled = if object.initialized {
                object.enabled
            } else {
                object.intent.unwrap_or(default)
            };
            let interval = object.settings.interval;
            let throttled = object.initialized && enabled && interval > 0;
            let left = interval.saturating_sub(object.accumulated);
            Some(Seen {
                initialized: object.initialized,
                world: object.world,
                enabled,
                group: (!object.worldless).then_some(object.settings.group),
                interval,
                ticks: object.ticks,
                carry: if throttled { object.accumulated } else { 0 },
                next_due: throttled.then_some(if object.at_once { 0 } else { left }),
            })
        };
        let mut list: Vec<usize> = (0..self.objects.len())
            .filter(|n| self.objects[*n].initialized && !self.objects[*n].dead)
            .collect();
        list.sort_by_key(|n| {
            let object = &self.objects[*n];
            let world = object.world.unwrap_or(usize::MAX);
            (world, object.settings.group, self.order.place(*n))
        });
        let worlds = self.worlds.iter().enumerate();
        let worlds = worlds.filter(|(_, w)| w.life != Life::Gone);
        State {
            objects: self.objects.iter().map(seen).collect(),
            list,
            worlds: worlds
                .map(|(number, world)| SeenWorld {
                    number,
                    paused: self.is_paused(number),
                    elapsed: world.elapsed,
                })
                .collect(),
            runtime_elapsed: self.runtime_elapsed,
        }
    }

    fn answered(outcome: Result<(), &'static str>) -> Answer {
        match outcome {
            Ok(()) => Answer::Done,
            Err(kind) => Answer::Refused(kind),
        }
    }
}
