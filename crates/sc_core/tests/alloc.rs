//! Steady state: a frame allocates nothing, whatever ticks in it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    unreachable_pub
)]

use std::borrow::Cow;
use std::time::Duration;

use sc_core::testing::TestWorld;
use sc_core::{
    Cx, Extension, Owner, Stage, TickGroup, TickId, TickKey, TickSettings, Tickable, WorldId,
    WorldKind,
};

/// The host counts ticks.
type Count = u64;

struct Plain(TickSettings);

impl Plain {
    fn every_frame() -> Self {
        Plain(TickSettings::default())
    }
}

impl Tickable<Count> for Plain {
    fn tick(&mut self, cx: &mut Cx<'_, Count>) {
        *cx.host_mut() += 1;
    }
    fn settings(&self) -> TickSettings {
        self.0
    }
    fn name(&self) -> Cow<'static, str> {
        Cow::Borrowed("plain")
    }
}

/// Disables another object in one frame and enables it in the next.
struct Toggler {
    other: TickId,
    enabled: bool,
}

impl Toggler {
    fn of(other: &Owner<Plain>) -> Self {
        Toggler {
            other: other.id(),
            enabled: true,
        }
    }
}

impl Tickable<Count> for Toggler {
    fn tick(&mut self, cx: &mut Cx<'_, Count>) {
        self.enabled = !self.enabled;
        cx.set_tick_enabled(self.other, self.enabled).unwrap();
    }
    fn settings(&self) -> TickSettings {
        TickSettings::default().group(TickGroup::PostUpdate)
    }
}

/// Reaches another object in every way there is.
struct Reacher(TickKey<Plain>);

impl Tickable<Count> for Reacher {
    fn tick(&mut self, cx: &mut Cx<'_, Count>) {
        assert!(cx.is_initialized(self.0));
        assert!(cx.get(self.0).is_ok());
        cx.get_mut(self.0).unwrap().0.tick_in_editor = true;
        let seen = cx.with(self.0, |plain, cx| (plain.0.tick_in_editor, cx.delta()));
        assert_eq!(seen, Ok((true, sixtieth())));
        assert!(cx.current_object().is_some());
        assert!(cx.world().is_some_and(|world| cx.is_world_alive(world)));
    }
}

fn sixtieth() -> Duration {
    Duration::from_nanos(16_666_667)
}

/// The number of allocations in some frames.
fn allocations(t: &mut TestWorld<Count>, frames: u32) -> u64 {
    let measured = allocation_counter::measure(|| t.ticks(sixtieth(), frames));
    measured.count_total
}

fn thousand(t: &mut TestWorld<Count>, world: WorldId) -> Vec<Owner<Plain>> {
    let mut spawn = || t.cx().spawn_in(world, Plain::every_frame()).unwrap();
    (0..1_000).map(|_| spawn()).collect()
}

#[test]
fn a_frame_of_a_thousand_objects_allocates_nothing() {
    let mut t = TestWorld::new(0);
    let world = t.world;
    let _owners = thousand(&mut t, world);
    t.ticks(sixtieth(), 2);
    assert_eq!(allocations(&mut t, 100), 0);
    assert_eq!(t.host, 102_000);
}

#[test]
fn a_frame_of_a_thousand_intervals_allocates_nothing() {
    let mut t = TestWorld::new(0);
    let world = t.world;
    // From 5 ms to about 9 minutes, so that every level of a wheel comes into play.
    let interval = |n: u64| Duration::from_micros(5_000 + n * 37 + n.pow(4) / 1_900);
    let spawn = |n: u64| {
        let settings = TickSettings::default().interval(interval(n));
        let group = TickGroup::ALL[usize::try_from(n % 4).unwrap()];
        let through = n.is_multiple_of(3);
        Plain(settings.group(group).tick_when_paused(through))
    };
    let owners = (0..1_000).map(|n| t.cx().spawn_in(world, spawn(n)).unwrap());
    let owners: Vec<_> = owners.collect();
    assert_eq!(owners.len(), 1_000);
    // Warm-up: one frame in which everything is due, and twice the longest interval.
    t.tick(600);
    assert_eq!(t.host, 1_000);
    t.ticks(0.1, 12_000);
    let measured = allocation_counter::measure(|| t.ticks(0.1, 12_000));
    assert_eq!(measured.count_total, 0);
    let measured = allocation_counter::measure(|| t.ticks(sixtieth(), 3_000));
    assert_eq!(measured.count_total, 0);
    let fired = t.host;
    let measured = allocation_counter::measure(|| {
        t.tick(600);
    });
    assert_eq!(measured.count_total, 0);
    assert_eq!(t.host, fired + 1_000);
}

#[test]
fn a_frame_of_a_typed_batch_of_a_thousand_allocates_nothing() {
    let mut t = TestWorld::new(0);
    let world = t.world;
    let owners: Vec<_> = (0..1_000)
        .map(|_| t.cx().spawn_batched(world, Plain::every_frame()).unwrap())
        .collect();
    assert_eq!(owners.len(), 1_000);
    t.ticks(sixtieth(), 2);
    assert_eq!(allocations(&mut t, 100), 0);
    assert_eq!(t.host, 102_000);
}

#[test]
fn an_object_toggled_each_frame_allocates_nothing() {
    let mut t = TestWorld::new(0);
    let world = t.world;
    let owners = thousand(&mut t, world);
    let toggler = Toggler::of(&owners[500]);
    let _toggler = t.cx().spawn_in(world, toggler).unwrap();
    t.ticks(sixtieth(), 4);
    let before = t.host;
    assert_eq!(allocations(&mut t, 100), 0);
    // It ticks in every other frame.
    assert_eq!(t.host - before, 99_950);
}

#[test]
fn an_object_with_an_interval_toggled_each_frame_allocates_nothing() {
    let mut t = TestWorld::new(0);
    let world = t.world;
    let settings = TickSettings::default().interval(Duration::from_millis(1));
    let throttled = t.cx().spawn_in(world, Plain(settings)).unwrap();
    let toggler = Toggler::of(&throttled);
    let _toggler = t.cx().spawn_in(world, toggler).unwrap();
    t.ticks(sixtieth(), 200);
    assert_eq!(allocations(&mut t, 100), 0);
}

#[test]
fn frames_of_two_worlds_paused_and_dilated_in_turn_allocate_nothing() {
    let mut t = TestWorld::new(0);
    let (one, two) = (t.world, t.cx().create_world(WorldKind::Game).unwrap());
    let _of_one = thousand(&mut t, one);
    let _of_two = thousand(&mut t, two);
    let worldless = t.cx().spawn_worldless(Plain::every_frame());
    t.cx().initialize(&worldless, None).unwrap();
    t.ticks(sixtieth(), 2);
    let before = t.host;
    let measured = allocation_counter::measure(|| {
        for frame in 0..100 {
            let paused = frame % 2 == 0;
            t.cx().set_paused(two, paused).unwrap();
            t.cx().set_dilation(one, f64::from(frame)).unwrap();
            t.tick(sixtieth());
        }
    });
    assert_eq!(measured.count_total, 0);
    assert_eq!(t.host - before, 150_100);
}

#[test]
fn a_frame_with_hooks_of_an_extension_allocates_nothing() {
    #[derive(Default)]
    struct Seen(u64);
    fn of_world(cx: &mut Cx<'_, Count>) {
        let world = cx.world().unwrap();
        cx.world_state::<Seen>(world).unwrap().0 += 1;
    }
    fn of_runtime(cx: &mut Cx<'_, Count>) {
        cx.runtime_state::<Seen>().0 += 1;
    }
    let mut t = TestWorld::new(0);
    let world = t.world;
    let mut extension = Extension::new("counting");
    for stage in Stage::ALL {
        extension = extension.on_world_stage(stage, of_world);
        extension = extension.on_runtime_stage(stage, of_runtime);
    }
    assert!(t.cx().install(extension));
    let _owners = thousand(&mut t, world);
    t.ticks(sixtieth(), 2);
    assert_eq!(allocations(&mut t, 100), 0);
    // Ten stages in 102 frames.
    assert_eq!(t.rt.state::<Seen>().unwrap().0, 1_020);
    assert_eq!(t.rt.world_state::<Seen>(world).unwrap().0, 1_020);
}

#[test]
fn a_frame_beside_a_thousand_disabled_objects_allocates_nothing() {
    let mut t = TestWorld::new(0);
    let world = t.world;
    let owners = thousand(&mut t, world);
    for owner in &owners[1..] {
        t.cx().set_tick_enabled(owner, false).unwrap();
    }
    t.ticks(sixtieth(), 2);
    assert_eq!(allocations(&mut t, 100), 0);
    assert_eq!(t.host, 102);
}

#[test]
fn an_object_that_reaches_another_each_frame_allocates_nothing() {
    for batched in [false, true] {
        let mut t = TestWorld::new(0);
        let world = t.world;
        let mut cx = t.cx();
        let plain = Plain::every_frame();
        let other = if batched {
            cx.spawn_batched(world, plain)
        } else {
            cx.spawn_in(world, plain)
        };
        let other = other.unwrap();
        let _reacher = cx.spawn_in(world, Reacher(other.key())).unwrap();
        t.ticks(sixtieth(), 2);
        assert_eq!(allocations(&mut t, 100), 0, "batched: {batched}");
    }
}

/// The one allocation is the object's own storage.
#[test]
fn an_object_spawned_shut_down_and_dropped_allocates_once() {
    let mut t = TestWorld::new(0);
    let world = t.world;
    let _others = thousand(&mut t, world);
    let life = |t: &mut TestWorld<Count>| {
        let plain = Plain::every_frame();
        let owner = t.cx().spawn_in(world, plain).unwrap();
        t.tick(sixtieth());
        assert_eq!(owner.shutdown(&mut t.cx()), Ok(true));
        drop(owner);
        t.tick(sixtieth());
    };
    for _ in 0..10 {
        life(&mut t);
    }
    let measured = allocation_counter::measure(|| (0..100).for_each(|_| life(&mut t)));
    assert_eq!(measured.count_total, 100);
    assert_eq!(measured.count_current, 0);
}
