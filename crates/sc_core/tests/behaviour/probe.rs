//! What the behaviour tests share: a scripted object, the game it runs in, and a log of callbacks.

#![allow(
    dead_code,
    missing_docs,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic
)]

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::time::Duration;

use sc_core::testing::TestWorld;
use sc_core::{Cx, Owner, TickGroup, TickId, TickKey, TickSettings, Tickable, WorldId, WorldKind};
use sc_core::{Secs, WorldOptions};

/// What happened, in order, a line a callback.
#[derive(Clone, Debug, Default)]
pub struct Log(Rc<RefCell<Vec<String>>>);

impl Log {
    pub fn add(&self, line: impl Into<String>) {
        self.0.borrow_mut().push(line.into());
    }

    /// The lines so far, leaving none.
    pub fn take(&self) -> Vec<String> {
        self.0.take()
    }
}

/// The host of these tests.
#[derive(Default)]
pub struct Game {
    pub log: Log,
    pub ids: BTreeMap<&'static str, TickId>,
    /// Owners that callbacks can drop.
    pub owners: BTreeMap<&'static str, Owner<Probe>>,
    /// Worlds that hooks can reach: those are plain functions and capture none.
    pub worlds: Vec<WorldId>,
}

impl Game {
    pub fn id(&self, name: &str) -> TickId {
        self.ids[name]
    }
}

type Act = Box<dyn FnMut(&mut Cx<'_, Game>)>;

/// An object that logs its events and runs a script in them.
pub struct Probe {
    pub name: &'static str,
    pub settings: TickSettings,
    pub deltas: Vec<Duration>,
    pub on_init: Option<Act>,
    pub on_tick: Option<Act>,
    pub on_stop: Option<Act>,
    pub drops_into: Option<Log>,
}

impl Probe {
    pub fn new(name: &'static str) -> Self {
        Probe {
            name,
            settings: TickSettings::default(),
            deltas: Vec::new(),
            on_init: None,
            on_tick: None,
            on_stop: None,
            drops_into: None,
        }
    }

    pub fn settings(mut self, change: impl FnOnce(TickSettings) -> TickSettings) -> Self {
        self.settings = change(self.settings);
        self
    }

    pub fn group(self, group: TickGroup) -> Self {
        self.settings(|s| s.group(group))
    }

    pub fn interval(self, interval: impl Into<Secs>) -> Self {
        self.settings(|s| s.interval(interval))
    }

    pub fn on_init(mut self, act: impl FnMut(&mut Cx<'_, Game>) + 'static) -> Self {
        self.on_init = Some(Box::new(act));
        self
    }

    pub fn on_tick(mut self, act: impl FnMut(&mut Cx<'_, Game>) + 'static) -> Self {
        self.on_tick = Some(Box::new(act));
        self
    }

    pub fn on_stop(mut self, act: impl FnMut(&mut Cx<'_, Game>) + 'static) -> Self {
        self.on_stop = Some(Box::new(act));
        self
    }

    pub fn logs_drop(mut self, log: &Log) -> Self {
        self.drops_into = Some(log.clone());
        self
    }
}

fn act(on: &mut Option<Act>, cx: &mut Cx<'_, Game>) {
    if let Some(act) = on {
        act(cx);
    }
}

impl Tickable<Game> for Probe {
    fn initialize(&mut self, cx: &mut Cx<'_, Game>) {
        cx.host().log.add(format!("init {}", self.name));
        act(&mut self.on_init, cx);
    }

    fn tick(&mut self, cx: &mut Cx<'_, Game>) {
        cx.host().log.add(format!("tick {}", self.name));
        self.deltas.push(cx.delta());
        act(&mut self.on_tick, cx);
    }

    fn shutdown(&mut self, cx: &mut Cx<'_, Game>) {
        cx.host().log.add(format!("stop {}", self.name));
        act(&mut self.on_stop, cx);
    }

    fn name(&self) -> Cow<'static, str> {
        Cow::Borrowed(self.name)
    }

    fn settings(&self) -> TickSettings {
        self.settings
    }
}

impl Drop for Probe {
    fn drop(&mut self) {
        if let Some(log) = &self.drops_into {
            log.add(format!("drop {}", self.name));
        }
    }
}

pub type Test = TestWorld<Game>;

pub fn start() -> Test {
    TestWorld::new(Game::default())
}

/// What was logged since the last call.
pub fn log(t: &Test) -> Vec<String> {
    t.host.log.take()
}

/// Spawns into the test's world and forgets the logged initialize event.
pub fn spawn(t: &mut Test, probe: Probe) -> Owner<Probe> {
    spawn_in(t, t.world, probe)
}

pub fn spawn_in(t: &mut Test, world: WorldId, probe: Probe) -> Owner<Probe> {
    let name = probe.name;
    let owner = t.cx().spawn_in(world, probe).unwrap();
    t.host.ids.insert(name, owner.id());
    log(t);
    owner
}

pub fn spawn_worldless(t: &mut Test, probe: Probe) -> Owner<Probe> {
    let name = probe.name;
    let owner = t.cx().spawn_worldless(probe);
    t.cx().initialize(&owner, None).unwrap();
    t.host.ids.insert(name, owner.id());
    log(t);
    owner
}

pub fn spawn_batched(t: &mut Test, probe: Probe) -> Owner<Probe> {
    let name = probe.name;
    let world = t.world;
    let owner = t.cx().spawn_batched(world, probe).unwrap();
    t.host.ids.insert(name, owner.id());
    log(t);
    owner
}

/// Plain objects of these names, in the test's world, in this order.
pub fn spawn_all<const N: usize>(t: &mut Test, names: [&'static str; N]) -> [Owner<Probe>; N] {
    names.map(|name| spawn(t, Probe::new(name)))
}

/// Another game world.
pub fn world(t: &mut Test, name: &'static str) -> WorldId {
    let options = WorldOptions::new(WorldKind::Game).name(name);
    t.cx().create_world(options).unwrap()
}

/// The deltas of an object's ticks so far, in milliseconds.
pub fn deltas(t: &mut Test, key: impl Into<TickKey<Probe>>) -> Vec<u128> {
    let cx = t.cx();
    let probe = cx.get(key).unwrap();
    probe.deltas.iter().map(Duration::as_millis).collect()
}

pub fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// The message of the panic that `f` ends with.
pub fn panic_of<R>(f: impl FnOnce() -> R) -> String {
    let Err(payload) = catch_unwind(AssertUnwindSafe(f)) else {
        panic!("it was to panic, and did not");
    };
    match payload.downcast::<&'static str>() {
        Ok(text) => (*text).to_owned(),
        Err(payload) => *payload.downcast::<String>().unwrap(),
    }
}

/// A frame that ends with a panic, and its message.
pub fn tick_panics(t: &mut Test, delta: f64) -> String {
    panic_of(|| t.rt.tick_secs(&mut t.host, delta))
}
