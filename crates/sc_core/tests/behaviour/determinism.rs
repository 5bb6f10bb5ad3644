//! Determinism: the same calls and deltas give the same callbacks, in the same order, with the
//! same deltas.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    unreachable_pub
)]

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashMap;
use std::time::Duration;

use sc_core::{
    Cx, Extension, Owner, Runtime, Stage, Stopwatch, TickGroup, TickId, TickSettings, Tickable,
    WorldId, WorldKind, WorldOptions,
};

/// A stopwatch by which everything takes some time.
#[derive(Default)]
struct Counting(Cell<u64>);

impl Stopwatch for Counting {
    fn now(&self) -> Duration {
        self.0.set(self.0.get() + 1_000);
        Duration::from_nanos(self.0.get())
    }
}

/// Random numbers of a seed (an LCG, its upper bits).
#[derive(Clone)]
struct Random(u64);

impl Random {
    fn next(&mut self, below: u64) -> u64 {
        let step = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = step.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.next(n) == 0
    }

    fn nth(&mut self, count: usize) -> usize {
        usize::try_from(self.next(u64::try_from(count).unwrap())).unwrap()
    }
}

/// FNV-1a over everything that happened.
struct Hash {
    value: u64,
    lines: u64,
}

impl Hash {
    fn add(&mut self, words: &[u64]) {
        self.lines += 1;
        for byte in words.iter().flat_map(|word| word.to_le_bytes()) {
            self.value = (self.value ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

struct Busy {
    random: Random,
    hash: Hash,
    made: u64,
    owners: Vec<(TickId, Owner<Agent>)>,
    /// Looked up only: its order, another on every run, must reach nothing.
    numbers: HashMap<WorldId, u64>,
    worlds: Vec<WorldId>,
}

struct Agent {
    number: u64,
    settings: TickSettings,
}

impl Agent {
    fn log(&self, cx: &mut Cx<'_, Busy>, event: u64) {
        let delta = u64::try_from(cx.delta().as_nanos()).unwrap();
        let (world, frame) = (cx.world(), cx.frame());
        let busy = cx.host_mut();
        let world = world.map_or(0, |world| busy.numbers[&world]);
        busy.hash.add(&[self.number, event, delta, world, frame]);
    }
}

impl Tickable<Busy> for Agent {
    fn initialize(&mut self, cx: &mut Cx<'_, Busy>) {
        self.log(cx, 1);
        if cx.host_mut().random.one_in(10) {
            act(cx);
        }
    }
    fn tick(&mut self, cx: &mut Cx<'_, Busy>) {
        self.log(cx, 2);
        if cx.host_mut().random.one_in(10) {
            act(cx);
        }
    }
    fn shutdown(&mut self, cx: &mut Cx<'_, Busy>) {
        self.log(cx, 3);
        if cx.host_mut().random.one_in(10) {
            act(cx);
        }
    }
    fn name(&self) -> Cow<'static, str> {
        self.number.to_string().into()
    }
    fn settings(&self) -> TickSettings {
        self.settings
    }
}

fn create_world(cx: &mut Cx<'_, Busy>) {
    let busy = cx.host_mut();
    let parent = busy.random.one_in(3) && !busy.worlds.is_empty();
    let of = busy.random.nth(busy.worlds.len().max(1));
    let mut options = WorldOptions::new(WorldKind::Game);
    if parent {
        options = options.parent(busy.worlds[of]);
    }
    if let Ok(world) = cx.create_world(options) {
        let busy = cx.host_mut();
        busy.worlds.push(world);
        let number = u64::try_from(busy.worlds.len()).unwrap();
        busy.numbers.insert(world, number);
    }
}

fn spawn(cx: &mut Cx<'_, Busy>) {
    let busy = cx.host_mut();
    if busy.owners.len() >= 80 {
        return;
    }
    busy.made += 1;
    let random = &mut busy.random;
    let interval = random.next(4) * random.next(50_000_000);
    let group = TickGroup::ALL[random.nth(4)];
    let settings = TickSettings::default()
        .interval(Duration::from_nanos(interval))
        .group(group)
        .tick_when_paused(random.one_in(4))
        .tick_at_start(random.one_in(4));
    let agent = Agent {
        number: busy.made,
        settings,
    };
    let world = busy.worlds[busy.random.nth(busy.worlds.len())];
    let owner = match busy.random.next(3) {
        0 => cx.spawn_batched(world, agent),
        _ => cx.spawn_in(world, agent),
    };
    if let Ok(owner) = owner {
        cx.host_mut().owners.push((owner.id(), owner));
    }
}

fn any(cx: &mut Cx<'_, Busy>) -> Option<TickId> {
    let busy = cx.host_mut();
    let count = busy.owners.len();
    (count > 0).then(|| busy.owners[busy.random.nth(count)].0)
}

/// Does something at random, and logs whether it was possible.
fn act(cx: &mut Cx<'_, Busy>) {
    let what = cx.host_mut().random.next(20);
    let (Some(a), Some(b)) = (any(cx), any(cx)) else {
        return spawn(cx);
    };
    let worlds = cx.host().worlds.clone();
    let world = worlds[cx.host_mut().random.nth(worlds.len())];
    let on = cx.host_mut().random.one_in(2);
    let done = match what {
        0..6 => {
            spawn(cx);
            true
        }
        6 | 7 => cx.shutdown(a).is_ok_and(|was| was),
        8 => cx.initialize(a, world).is_ok(),
        9 | 10 => cx.set_tick_enabled(a, on).is_ok(),
        11 | 12 => cx.configure(a).and_then(|c| c.after(b).apply()).is_ok(),
        13 => {
            let interval = Duration::from_nanos(cx.host_mut().random.next(40_000_000));
            let configure = cx.configure(a);
            configure.and_then(|c| c.interval(interval).apply()).is_ok()
        }
        14 => {
            let group = TickGroup::ALL[cx.host_mut().random.nth(4)];
            let configure = cx.configure(a);
            configure.and_then(|c| c.group(group).apply()).is_ok()
        }
        15 => {
            let busy = cx.host_mut();
            let dropped = busy.random.nth(busy.owners.len());
            drop(busy.owners.remove(dropped));
            true
        }
        16 => cx.set_paused(world, on).is_ok(),
        17 => {
            let factor = [0.0, 0.3, 1.0, 2.5][cx.host_mut().random.nth(4)];
            cx.set_dilation(world, factor).is_ok()
        }
        18 => {
            create_world(cx);
            true
        }
        _ => {
            // Rarely, and never the first.
            let destroyed = world != worlds[0] && cx.host_mut().random.one_in(3);
            destroyed && cx.destroy_world(world)
        }
    };
    cx.host_mut().hash.add(&[what, u64::from(done)]);
}

fn hook(cx: &mut Cx<'_, Busy>) {
    let world = cx.world().unwrap();
    let busy = cx.host_mut();
    busy.hash.add(&[busy.numbers[&world]]);
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Frames {
    Whole,
    InPieces,
    Profiled,
}

/// A busy scenario; gives back the hash and the length of its log.
fn play(seed: u64, frames: Frames) -> (u64, u64) {
    let mut rt = Runtime::<Busy>::new();
    let reports = sc_core::testing::ReportLog::of(&mut rt);
    let mut busy = Busy {
        random: Random(seed),
        hash: Hash {
            value: 0xcbf2_9ce4_8422_2325,
            lines: 0,
        },
        made: 0,
        owners: Vec::new(),
        numbers: HashMap::new(),
        worlds: Vec::new(),
    };
    if frames == Frames::Profiled {
        rt.set_stopwatch(Counting::default());
        rt.set_profiling(true);
    }
    let mut cx = rt.cx(&mut busy);
    cx.install(Extension::new("log").on_world_stage(Stage::Timers, hook));
    create_world(&mut cx);
    create_world(&mut cx);
    for _ in 0..400 {
        for _ in 0..3 {
            act(&mut rt.cx(&mut busy));
        }
        let delta = Duration::from_nanos(busy.random.next(40_000_000));
        if frames == Frames::InPieces {
            rt.begin_frame(&mut busy, delta).unwrap();
            rt.run_through(&mut busy, Stage::PrePhysics).unwrap();
            rt.run_stage(&mut busy, Stage::DuringPhysics).unwrap();
            rt.run_through(&mut busy, Stage::Console).unwrap();
            rt.end_frame(&mut busy).unwrap();
        } else {
            rt.tick(&mut busy, delta).unwrap();
        }
        for report in reports.take() {
            let text = report.to_string();
            let words = text.bytes().map(u64::from);
            busy.hash.add(&words.collect::<Vec<_>>());
        }
    }
    rt.shutdown(&mut busy);
    (busy.hash.value, busy.hash.lines)
}

#[test]
fn the_same_calls_and_deltas_give_the_same_callbacks_on_every_run() {
    for seed in 0..5 {
        let first = play(seed, Frames::Whole);
        assert!(first.1 > 5_000, "a busy scenario: {first:?}");
        assert_eq!(play(seed, Frames::Whole), first, "seed {seed}");
    }
    // The hash tells scenarios apart.
    assert_ne!(play(1, Frames::Whole), play(2, Frames::Whole));
}

#[test]
fn a_frame_in_pieces_calls_what_a_whole_frame_calls() {
    for seed in 0..5 {
        assert_eq!(play(seed, Frames::InPieces), play(seed, Frames::Whole));
    }
}

#[test]
fn timing_the_ticks_changes_no_callback() {
    for seed in 0..5 {
        assert_eq!(play(seed, Frames::Profiled), play(seed, Frames::Whole));
    }
}
