//! What random cases have found, shrunk and made explicit, with the right values as literals.

use std::borrow::Cow;
use std::time::Duration;

use sc_core::testing::TestWorld;
use sc_core::{
    Cx, PanicPolicy, ReportKind, TickError, TickGroup, TickSettings, Tickable, WorldId, WorldKind,
};

/// Every callback: name, event, delta in nanoseconds.
type Calls = Vec<(&'static str, &'static str, u64)>;

/// What an object does in its n-th tick.
type Script = Box<dyn FnMut(&mut Cx<'_, Calls>, u32)>;

struct Probe {
    name: &'static str,
    settings: TickSettings,
    ticks: u32,
    script: Script,
}

impl Probe {
    fn new(name: &'static str) -> Self {
        Probe {
            name,
            settings: TickSettings::default(),
            ticks: 0,
            script: Box::new(|_, _| ()),
        }
    }

    fn interval(mut self, nanos: u64) -> Self {
        self.settings = self.settings.interval(Duration::from_nanos(nanos));
        self
    }

    fn on_tick(mut self, script: impl FnMut(&mut Cx<'_, Calls>, u32) + 'static) -> Self {
        self.script = Box::new(script);
        self
    }

    fn log(&self, cx: &mut Cx<'_, Calls>, event: &'static str) {
        let delta = u64::try_from(cx.delta().as_nanos()).unwrap();
        cx.host_mut().push((self.name, event, delta));
    }
}

impl Tickable<Calls> for Probe {
    fn tick(&mut self, cx: &mut Cx<'_, Calls>) {
        self.log(cx, "tick");
        self.ticks += 1;
        (self.script)(cx, self.ticks);
    }
    fn shutdown(&mut self, cx: &mut Cx<'_, Calls>) {
        self.log(cx, "shutdown");
    }
    fn name(&self) -> Cow<'static, str> {
        self.name.into()
    }
    fn settings(&self) -> TickSettings {
        self.settings
    }
}

/// A world, and the calls of one frame.
struct Lab {
    t: TestWorld<Calls>,
    world: WorldId,
}

impl Lab {
    fn new() -> Self {
        let t = TestWorld::new(Calls::new());
        Lab { world: t.world, t }
    }

    fn cx(&mut self) -> Cx<'_, Calls> {
        self.t.cx()
    }

    fn frame(&mut self, nanos: u64) -> Calls {
        self.t.tick(Duration::from_nanos(nanos));
        std::mem::take(&mut self.t.host)
    }

    fn names(&mut self, nanos: u64) -> Vec<&'static str> {
        self.frame(nanos).into_iter().map(|call| call.0).collect()
    }
}

#[test]
fn changing_the_start_default_does_not_stop_a_running_object() {
    let mut lab = Lab::new();
    let world = lab.world;
    let lamp = lab.cx().spawn_in(world, Probe::new("lamp")).unwrap();
    let mut cx = lab.cx();
    let configure = cx.configure(&lamp).unwrap();
    configure.start_ticking(false).apply().unwrap();
    assert!(cx.tick_info(&lamp).unwrap().enabled);
    assert_eq!(lab.frame(5), [("lamp", "tick", 5)]);
    // It is the default: the next initialize does not enable it.
    let mut cx = lab.cx();
    cx.shutdown(&lamp).unwrap();
    cx.initialize(&lamp, world).unwrap();
    assert_eq!(lab.frame(5), [("lamp", "shutdown", 0)]);
}

#[test]
fn changing_the_start_default_does_not_start_a_disabled_object() {
    let mut lab = Lab::new();
    let world = lab.world;
    let mut lamp = Probe::new("lamp");
    lamp.settings.start_ticking = false;
    let lamp = lab.cx().spawn_in(world, lamp).unwrap();
    let mut cx = lab.cx();
    let configure = cx.configure(&lamp).unwrap();
    configure.start_ticking(true).apply().unwrap();
    assert_eq!(lab.frame(5), []);
}

#[test]
fn tick_at_start_is_over_once_the_object_has_ticked() {
    let mut lab = Lab::new();
    let world = lab.world;
    let mut lamp = Probe::new("lamp");
    lamp.settings.tick_at_start = true;
    let lamp = lab.cx().spawn_in(world, lamp).unwrap();
    assert_eq!(lab.frame(5), [("lamp", "tick", 5)]);
    let ten = Duration::from_nanos(10);
    let mut cx = lab.cx();
    cx.configure(&lamp).unwrap().interval(ten).apply().unwrap();
    // It has had its first tick: now one full interval passes.
    assert_eq!(lab.frame(6), []);
    assert_eq!(lab.frame(6), [("lamp", "tick", 10)]);
}

#[test]
fn a_worldless_object_ticks_whatever_group_its_settings_name() {
    let mut lab = Lab::new();
    let mut music = Probe::new("music");
    music.settings.group = TickGroup::PrePhysics;
    let music = lab.cx().spawn_worldless(music);
    lab.cx().initialize(&music, None).unwrap();
    assert_eq!(lab.frame(5), [("music", "tick", 5)]);
}

#[test]
fn a_worldless_object_with_an_interval_ticks_whatever_group_its_settings_name() {
    let mut lab = Lab::new();
    let mut music = Probe::new("music").interval(4);
    music.settings.group = TickGroup::PostUpdate;
    let music = lab.cx().spawn_worldless(music);
    lab.cx().initialize(&music, None).unwrap();
    assert_eq!(lab.frame(5), [("music", "tick", 4)]);
}

#[test]
fn an_owner_dropped_after_its_own_tick_asked_for_the_shutdown_is_no_dropped_owner() {
    // Whether anything asks for the object in between makes no difference.
    for asked_for in [false, true] {
        let mut lab = Lab::new();
        let world = lab.world;
        let owner = std::rc::Rc::new(std::cell::Cell::new(None));
        let own = std::rc::Rc::clone(&owner);
        let probe = Probe::new("bomb").on_tick(move |cx, _| {
            let me = cx.current_object().unwrap();
            assert_eq!(cx.shutdown(me), Ok(true));
            drop(own.take());
            if asked_for {
                assert_eq!(cx.shutdown(me), Ok(false));
            }
        });
        owner.set(Some(lab.cx().spawn_in(world, probe).unwrap()));
        // Shutdown was called before the owner went: its event runs, and nothing is reported.
        assert_eq!(lab.frame(5), [("bomb", "tick", 5), ("bomb", "shutdown", 0)]);
        assert_eq!(lab.t.reports.kinds(), []);
    }
}

#[test]
fn what_has_accumulated_survives_any_other_change_before_it_is_handed_out() {
    let mut lab = Lab::new();
    let world = lab.world;
    let probe = Probe::new("lamp").interval(4);
    let lamp = lab.cx().spawn_in(world, probe).unwrap();
    let other = lab.cx().spawn_in(world, Probe::new("other")).unwrap();
    lab.cx().set_tick_enabled(&other, false).unwrap();
    assert_eq!(lab.frame(7), [("lamp", "tick", 4)]);
    // Three nanoseconds are left over. To every frame, asked for and settled while paused ..
    let mut cx = lab.cx();
    cx.set_paused(world, true).unwrap();
    let zero = Duration::ZERO;
    cx.configure(&lamp).unwrap().interval(zero).apply().unwrap();
    assert_eq!(lab.frame(100), []);
    // .. and something that has nothing to do with it.
    let mut cx = lab.cx();
    cx.configure(&lamp).unwrap().after(&other).apply().unwrap();
    assert_eq!(lab.frame(100), []);
    lab.cx().set_paused(world, false).unwrap();
    assert_eq!(lab.frame(2), [("lamp", "tick", 5)]);
    assert_eq!(lab.frame(2), [("lamp", "tick", 2)]);
}

#[test]
fn an_interval_restarted_in_the_pass_leaves_the_tick_of_this_pass_alone() {
    let mut lab = Lab::new();
    let world = lab.world;
    let key = std::rc::Rc::new(std::cell::Cell::new(None));
    let lamp = std::rc::Rc::clone(&key);
    let switch = Probe::new("switch").on_tick(move |cx, nth| {
        if nth == 2 {
            let lamp: sc_core::TickKey<Probe> = lamp.get().unwrap();
            for nanos in [0, 6] {
                let interval = Duration::from_nanos(nanos);
                let configure = cx.configure(lamp).unwrap();
                configure.interval(interval).apply().unwrap();
            }
        }
    });
    let _switch = lab.cx().spawn_in(world, switch).unwrap();
    let lamp = lab.cx().spawn_in(world, Probe::new("lamp").interval(4));
    let lamp = lamp.unwrap();
    key.set(Some(lamp.key()));
    assert_eq!(lab.frame(3), [("switch", "tick", 3)]);
    // Six have accumulated; the interval of 4 is in force until the pass is over.
    assert_eq!(lab.frame(3), [("switch", "tick", 3), ("lamp", "tick", 4)]);
    // From 0 to 6: time accumulates anew.
    assert_eq!(lab.frame(5), [("switch", "tick", 5)]);
    assert_eq!(lab.frame(1), [("switch", "tick", 1), ("lamp", "tick", 6)]);
}

#[test]
fn a_change_of_clock_in_the_pass_leaves_the_tick_of_this_pass_alone() {
    let mut lab = Lab::new();
    let world = lab.world;
    let key = std::rc::Rc::new(std::cell::Cell::new(None));
    let lamp = std::rc::Rc::clone(&key);
    let switch = Probe::new("switch").on_tick(move |cx, nth| {
        if nth == 2 {
            let lamp: sc_core::TickKey<Probe> = lamp.get().unwrap();
            let configure = cx.configure(lamp).unwrap();
            configure.tick_when_paused(true).apply().unwrap();
        }
    });
    let _switch = lab.cx().spawn_in(world, switch).unwrap();
    let lamp = lab.cx().spawn_in(world, Probe::new("lamp").interval(10));
    let lamp = lamp.unwrap();
    key.set(Some(lamp.key()));
    assert_eq!(lab.frame(7), [("switch", "tick", 7)]);
    // The clocks come apart.
    lab.cx().set_paused(world, true).unwrap();
    assert_eq!(lab.frame(1000), []);
    lab.cx().set_paused(world, false).unwrap();
    // Fourteen on the clock that is in force: one tick of ten, four carry over.
    assert_eq!(lab.frame(7), [("switch", "tick", 7), ("lamp", "tick", 10)]);
    assert_eq!(lab.cx().tick_info(&lamp).unwrap().carry.as_nanos(), 4);
    lab.cx().set_paused(world, true).unwrap();
    assert_eq!(lab.frame(5), []);
    assert_eq!(lab.frame(1), [("lamp", "tick", 10)]);
}

#[test]
fn the_list_of_live_entries_knows_when_an_object_is_next_due_before_the_next_frame() {
    let mut lab = Lab::new();
    let world = lab.world;
    let mut probe = Probe::new("lamp").interval(10);
    probe.settings.tick_at_start = true;
    let lamp = lab.cx().spawn_in(world, probe).unwrap();
    let due = |lab: &mut Lab| {
        let info = lab.cx().tick_info(&lamp).unwrap();
        info.next_due.map(|d| d.as_nanos())
    };
    // It ticks in the very next pass.
    assert_eq!(due(&mut lab), Some(0));
    assert_eq!(lab.frame(3), [("lamp", "tick", 0)]);
    assert_eq!(due(&mut lab), Some(7));
    let mut cx = lab.cx();
    let configure = cx.configure(&lamp).unwrap();
    configure
        .interval(Duration::from_nanos(30))
        .apply()
        .unwrap();
    assert_eq!(due(&mut lab), Some(27));
}

#[test]
fn a_prerequisite_whose_owner_is_gone_counts_for_nothing() {
    let mut lab = Lab::new();
    let world = lab.world;
    let elsewhere = lab.cx().create_world(WorldKind::Game).unwrap();
    let mut cx = lab.cx();
    let gone = cx.spawn_in(elsewhere, Probe::new("gone")).unwrap();
    let lamp = cx.spawn(Probe::new("lamp"));
    cx.configure(&lamp).unwrap().after(&gone).apply().unwrap();
    drop(gone);
    assert_eq!(lab.cx().initialize(&lamp, world), Ok(()));
    assert_eq!(lab.frame(5), [("lamp", "tick", 5)]);
}

#[test]
fn a_dependent_whose_owner_is_gone_pulls_nobody_forward() {
    let mut lab = Lab::new();
    let world = lab.world;
    let mut cx = lab.cx();
    let gone = cx.spawn_in(world, Probe::new("gone")).unwrap();
    let a = cx.spawn_in(world, Probe::new("a")).unwrap();
    let b = cx.spawn(Probe::new("b"));
    cx.configure(&gone).unwrap().after(&b).apply().unwrap();
    drop(gone);
    cx.initialize(&b, world).unwrap();
    assert_eq!(lab.names(5), ["a", "b"]);
    assert_eq!(lab.names(5), ["a", "b"]);
    drop((a, b));
}

#[test]
fn a_tick_that_panics_counts_as_a_tick_in_a_batch_too() {
    for batched in [false, true] {
        let mut lab = Lab::new();
        let world = lab.world;
        lab.t.rt.set_panic_policy(PanicPolicy::Isolate);
        // Without the message of the panic hook.
        let bomb =
            || Probe::new("bomb").on_tick(|_, _| std::panic::resume_unwind(Box::new("scripted")));
        let mut cx = lab.cx();
        let (a, b) = if batched {
            (
                cx.spawn_batched(world, bomb()),
                cx.spawn_batched(world, bomb()),
            )
        } else {
            (cx.spawn_in(world, bomb()), cx.spawn_in(world, bomb()))
        };
        assert_eq!(lab.t.tick(Duration::from_nanos(1)).ticks, 2, "{batched}");
        let panics = [ReportKind::Panicked, ReportKind::Panicked];
        assert_eq!(lab.t.reports.kinds(), panics);
        drop((a, b));
    }
}

/// A batch of `one` and `two` with `single` between them in the order, and a single `late`.
fn batch_of_two() -> (Lab, [sc_core::Owner<Probe>; 4]) {
    let mut lab = Lab::new();
    let world = lab.world;
    let mut cx = lab.cx();
    let one = cx.spawn_batched(world, Probe::new("one")).unwrap();
    let single = cx.spawn_in(world, Probe::new("single")).unwrap();
    let two = cx.spawn_batched(world, Probe::new("two")).unwrap();
    let mut late = Probe::new("late");
    late.settings.group = TickGroup::PostUpdate;
    let late = cx.spawn_in(world, late).unwrap();
    // At the place in the order of the first of them.
    assert_eq!(lab.names(1), ["one", "two", "single", "late"]);
    (lab, [one, single, two, late])
}

#[test]
fn a_refused_prerequisite_changes_nothing_in_a_batch() {
    let (mut lab, [_one, _single, two, late]) = batch_of_two();
    let mut cx = lab.cx();
    let refused = cx.configure(&two).unwrap().after(&late).apply();
    assert!(matches!(refused, Err(TickError::PrerequisiteLater { .. })));
    assert_eq!(lab.names(1), ["one", "two", "single", "late"]);
    // Nor later, when it is disabled for a while.
    lab.cx().set_tick_enabled(&two, false).unwrap();
    assert_eq!(lab.names(1), ["one", "single", "late"]);
    lab.cx().set_tick_enabled(&two, true).unwrap();
    assert_eq!(lab.names(1), ["one", "two", "single", "late"]);
}

#[test]
fn a_prerequisite_taken_back_leaves_a_batch_as_it_was() {
    let (mut lab, [_one, single, two, _late]) = batch_of_two();
    let mut cx = lab.cx();
    cx.configure(&two).unwrap().after(&single).apply().unwrap();
    assert_eq!(lab.names(1), ["one", "single", "two", "late"]);
    let mut cx = lab.cx();
    let configure = cx.configure(&two).unwrap();
    configure.not_after(&single).apply().unwrap();
    assert_eq!(lab.names(1), ["one", "two", "single", "late"]);
}

#[test]
fn an_object_in_a_batch_that_becomes_a_prerequisite_ticks_before_its_dependent() {
    let mut lab = Lab::new();
    let world = lab.world;
    let mut cx = lab.cx();
    let early = cx.spawn_batched(world, Probe::new("early")).unwrap();
    cx.set_tick_enabled(&early, false).unwrap();
    let single = cx.spawn_in(world, Probe::new("single")).unwrap();
    let first = cx.spawn_batched(world, Probe::new("first")).unwrap();
    // The batch is at the place of its first row, `first`, behind `single`.
    assert_eq!(lab.names(1), ["single", "first"]);
    lab.cx().set_tick_enabled(&early, true).unwrap();
    // Re-enabled, `early` keeps its place, and takes the batch there.
    assert_eq!(lab.names(1), ["early", "first", "single"]);
    let mut cx = lab.cx();
    cx.configure(&single)
        .unwrap()
        .after(&early)
        .apply()
        .unwrap();
    assert_eq!(lab.names(1), ["early", "single", "first"]);
    assert_eq!(lab.names(1), ["early", "single", "first"]);
    drop(first);
}

#[test]
fn no_batch_comes_to_be_at_the_place_of_an_object_whose_owner_is_gone() {
    let mut lab = Lab::new();
    let world = lab.world;
    let owners = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
    let own = std::rc::Rc::clone(&owners);
    let mut first = Probe::new("first").on_tick(move |cx, _| {
        let me = cx.current_object().unwrap();
        let configure = cx.configure(me).unwrap();
        configure.group(TickGroup::PostPhysics).apply().unwrap();
        let second = cx.spawn_batched(world, Probe::new("second")).unwrap();
        // The owner of the running one goes, the new one comes.
        *own.borrow_mut() = vec![second];
    });
    first.settings.group = TickGroup::PostUpdate;
    let first = lab.cx().spawn_batched(world, first).unwrap();
    owners.borrow_mut().push(first);
    let single = lab.cx().spawn_in(world, Probe::new("single")).unwrap();
    assert_eq!(lab.names(1), ["single", "first"]);
    assert_eq!(lab.names(1), ["single", "second"]);
    drop(single);
}

#[test]
fn a_batch_comes_to_be_at_the_place_its_first_member_was_pulled_to() {
    let mut lab = Lab::new();
    let world = lab.world;
    let mut cx = lab.cx();
    let single = cx.spawn_in(world, Probe::new("single")).unwrap();
    let first = cx.spawn_batched(world, Probe::new("first")).unwrap();
    // Pulled before its dependent it stays there, needed or not.
    let configure = cx.configure(&single).unwrap();
    configure.after(&first).apply().unwrap();
    let configure = cx.configure(&single).unwrap();
    configure.not_after(&first).apply().unwrap();
    let second = cx.spawn_batched(world, Probe::new("second")).unwrap();
    assert_eq!(lab.names(1), ["first", "second", "single"]);
    drop(second);
}
