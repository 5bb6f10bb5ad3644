//! The host, the objects, and what is known of each from its own callbacks and from the answers
//! to calls: enough to tell whether a callback may come.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::time::Duration;

use sc_core::{
    Clock, Cx, InstanceId, Owner, Poster, Secs, TickId, TickSettings, Tickable, WorldId,
};

use crate::act::act;
use crate::input::Input;

/// What the objects panic with. Thrown without the panic hook, which ends the process: a panic of
/// any other kind is a bug, of the library or of this target.
pub struct Scripted;

/// Throws what a case has asked for.
pub fn throw() -> ! {
    resume_unwind(Box::new(Scripted))
}

/// Callbacks within callbacks, at most.
const DEEPEST: u32 = 12;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    Out,
    In,
    Ending,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum How {
    Plain,
    In,
    Batched,
    WorldOwned,
    Worldless,
}

/// What is known of one object.
pub struct Facts {
    pub how: How,
    pub id: Option<TickId>,
    pub owner: Option<Owner<Probe>>,
    /// Its owner was dropped, or it is its world's and was shut down.
    pub dead: bool,
    pub freed: Rc<Cell<bool>>,
    pub phase: Phase,
    pub world: Option<WorldId>,
    /// Shut down, the event may be still to come.
    pub shut: bool,
    /// `None` = its default holds.
    pub intent: Option<bool>,
    pub settings: TickSettings,
    /// Frames it must not tick in: it was initialized or enabled in an open pass.
    pub not_in: u64,
    pub ticks: u64,
    pub last_tick: u64,
    /// Its place among all ticks.
    pub turn: u64,
    /// Since it was initialized nothing has changed its settings or its intent.
    pub simple: bool,
    pub initialized_in: u64,
    /// The reading of its clock when it was initialized.
    pub since: Duration,
    /// The sum of its deltas since.
    pub sum: Duration,
}

pub struct KnownWorld {
    pub id: WorldId,
    pub parent: Option<WorldId>,
    pub instance: Option<InstanceId>,
    pub gameplay: bool,
    pub destroyed: bool,
    pub paused_in_frame: bool,
}

/// A prerequisite.
pub struct Link {
    pub dependent: usize,
    pub prerequisite: usize,
    /// The frame it was declared in.
    pub frame: u64,
}

/// The host.
pub struct Lab {
    pub input: Input,
    pub objects: Vec<Facts>,
    pub worlds: Vec<KnownWorld>,
    pub instances: Vec<InstanceId>,
    pub links: Vec<Link>,
    pub poster: Option<Poster<Lab>>,
    /// The runtime was shut down: owners are no-ops.
    pub closed: bool,
    /// A frame is open and its passes may be.
    pub pass_open: bool,
    /// Posted closures on the stack.
    pub in_post: u32,
    pub depth: u32,
    /// Ticks since the frame began.
    pub ticks: u64,
    pub turns: u64,
    /// Whether something that bears on the pause of worlds changed since the frame began.
    pub pause_touched: bool,
    pub reports: Rc<Cell<u64>>,
    /// Print what happens.
    pub told: bool,
}

impl Lab {
    pub fn say(&self, what: fmt::Arguments<'_>) {
        if self.told {
            eprintln!("{:1$}{what}", "", self.depth as usize * 2);
        }
    }

    pub fn in_pass(&self) -> bool {
        self.pass_open && self.in_post == 0
    }

    pub fn known(&mut self, world: WorldId) -> Option<&mut KnownWorld> {
        self.worlds.iter_mut().find(|known| known.id == world)
    }

    pub fn is_destroyed(&self, world: WorldId) -> bool {
        let known = self.worlds.iter().find(|known| known.id == world);
        known.is_some_and(|known| known.destroyed)
    }

    pub fn object(&mut self) -> Option<usize> {
        let count = self.objects.len();
        let nth = self.input.number(256);
        (count > 0).then(|| nth % count)
    }

    pub fn world(&mut self) -> Option<WorldId> {
        let nth = self.input.number(256);
        let count = self.worlds.len();
        (count > 0).then(|| self.worlds[nth % count].id)
    }

    pub fn instance(&mut self) -> Option<InstanceId> {
        let nth = self.input.number(256);
        let count = self.instances.len();
        (count > 0).then(|| self.instances[nth % count])
    }

    /// What ended the initialized state of an object has happened.
    pub fn left(&mut self, number: usize) {
        let facts = &mut self.objects[number];
        facts.phase = Phase::Out;
        facts.intent = None;
        facts.shut = false;
        facts.world = None;
        facts.simple = false;
        if facts.how == How::WorldOwned {
            facts.dead = true;
        }
    }
}

pub fn clock_of(settings: &TickSettings) -> Clock {
    if settings.tick_when_paused {
        Clock::GameThroughPause
    } else {
        Clock::Game
    }
}

/// The reading of the clock that objects with these settings count on.
pub fn reading(cx: &Cx<'_, Lab>, world: Option<WorldId>, settings: &TickSettings) -> Duration {
    match world {
        Some(world) => cx.elapsed(world, clock_of(settings)).unwrap_or_default(),
        None => cx.runtime_elapsed(),
    }
}

pub fn is_throttled(interval: Secs) -> bool {
    interval.to_duration().is_ok_and(|d| d > Duration::ZERO)
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Event {
    Initialize,
    Tick,
    Shutdown,
}

pub struct Probe {
    pub number: usize,
    pub settings: TickSettings,
    /// Whether its callbacks do operations.
    pub acts: bool,
    pub panics: bool,
    pub panics_in_drop: bool,
    pub freed: Rc<Cell<bool>>,
}

impl Drop for Probe {
    fn drop(&mut self) {
        assert!(!self.freed.replace(true), "freed twice");
        if self.panics_in_drop && !std::thread::panicking() {
            throw();
        }
    }
}

impl Probe {
    fn called(&self, cx: &mut Cx<'_, Lab>, event: Event) {
        let number = self.number;
        self.check(cx, event);
        let outcome = catch_unwind(AssertUnwindSafe(|| self.do_something(cx)));
        let lab = cx.host_mut();
        if event == Event::Shutdown || outcome.is_err() {
            lab.left(number);
        }
        if let Err(payload) = outcome {
            resume_unwind(payload);
        }
    }

    fn do_something(&self, cx: &mut Cx<'_, Lab>) {
        if self.panics && cx.host_mut().input.number(8) == 7 {
            throw();
        }
        if !self.acts || cx.host().depth >= DEEPEST {
            return;
        }
        cx.host_mut().depth += 1;
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            for _ in 0..cx.host_mut().input.number(4) {
                act(cx);
            }
        }));
        cx.host_mut().depth -= 1;
        if let Err(payload) = outcome {
            resume_unwind(payload);
        }
    }

    /// Whether this callback may come now.
    fn check(&self, cx: &mut Cx<'_, Lab>, event: Event) {
        let (frame, delta, world) = (cx.frame(), cx.delta(), cx.world());
        let me = cx.current_object().expect("an object is being called");
        let facts = &cx.host().objects[self.number];
        // Its owner went after it had asked for the shutdown: the event is still owed.
        let owed = facts.dead && facts.shut && event == Event::Shutdown;
        if !owed {
            assert!(cx.is_initialized(me), "{event:?} of an uninitialized one");
            let info = cx.tick_info(me).expect("who is called is alive");
            assert_eq!(info.world, world, "the world of the callback");
        }
        let world_delta = match world {
            Some(world) => cx.world_delta(world, clock_of(&self.settings)),
            None => Ok(Duration::ZERO),
        };
        let since = reading(cx, world, &self.settings);

        let lab = cx.host_mut();
        lab.say(format_args!("{event:?} of {}, frame {frame}", self.number));
        let (in_pass, pass_open) = (lab.in_pass(), lab.pass_open);
        let destroyed = world.is_some_and(|world| lab.is_destroyed(world));
        let facts = &mut lab.objects[self.number];
        assert!(!facts.freed.get(), "called when it was freed");
        assert!(!facts.dead || owed, "{event:?} of a dead one");
        assert_eq!(*facts.id.get_or_insert(me), me, "the id of the callback");
        match event {
            Event::Initialize => {
                assert_eq!(facts.phase, Phase::Out, "initialized twice");
                assert!(!destroyed, "initialized in a dying world");
                assert_eq!(delta, Duration::ZERO);
                facts.phase = Phase::In;
                facts.world = world;
                let start = facts.settings.start_ticking;
                facts.intent = Some(facts.intent.unwrap_or(start));
                facts.not_in = if in_pass { frame } else { 0 };
                facts.initialized_in = frame;
                facts.simple = facts.settings == self.settings && facts.intent == Some(start);
                facts.since = since;
                facts.sum = Duration::ZERO;
            }
            Event::Tick => {
                assert_eq!(facts.phase, Phase::In, "ticked outside its life");
                assert!(pass_open, "ticked outside a frame");
                assert!(!destroyed, "ticked in a dying world");
                assert!(!facts.shut, "ticked though it was shut down");
                assert_eq!(facts.intent, Some(true), "ticked though it is disabled");
                assert_ne!(facts.last_tick, frame, "ticked twice in a frame");
                assert_ne!(facts.not_in, frame, "ticked before the next pass");
                let every_frame = !is_throttled(facts.settings.interval);
                if facts.simple && every_frame && world.is_some() {
                    assert_eq!(Ok(delta), world_delta, "the delta of the frame");
                }
                facts.last_tick = frame;
                facts.ticks += 1;
                facts.sum += delta;
                facts.turn = lab.turns;
                lab.turns += 1;
                lab.ticks += 1;
            }
            Event::Shutdown => {
                assert_eq!(facts.phase, Phase::In, "shut down outside its life");
                assert_eq!(delta, Duration::ZERO);
                facts.phase = Phase::Ending;
                facts.shut = true;
            }
        }
    }
}

impl Tickable<Lab> for Probe {
    fn initialize(&mut self, cx: &mut Cx<'_, Lab>) {
        self.called(cx, Event::Initialize);
    }
    fn tick(&mut self, cx: &mut Cx<'_, Lab>) {
        self.called(cx, Event::Tick);
    }
    fn shutdown(&mut self, cx: &mut Cx<'_, Lab>) {
        self.called(cx, Event::Shutdown);
    }
    fn name(&self) -> Cow<'static, str> {
        self.number.to_string().into()
    }
    fn settings(&self) -> TickSettings {
        self.settings
    }
}
