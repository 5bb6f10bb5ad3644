//! The operations: everything a program can do through a `Cx`, from outside and from inside
//! callbacks alike, and what their answers tell.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::time::Duration;

use sc_core::{
    Culprit, Cx, Report, ReportKind, TickError, TickId, TickKey, TickSettings, WorldId, WorldKind,
    WorldOptions,
};

use crate::lab::{Facts, How, KnownWorld, Lab, Link, Phase, Probe, is_throttled, throw};

const MOST_OBJECTS: usize = 48;
const MOST_WORLDS: usize = 12;

/// Does the next operation, if there is one. The letters are those of the seeds.
pub fn act(cx: &mut Cx<'_, Lab>) -> Option<()> {
    let op = cx.host_mut().input.op()?;
    do_op(cx, op)
}

pub fn do_op(cx: &mut Cx<'_, Lab>, op: u8) -> Option<()> {
    cx.host().say(format_args!("{}", char::from(op)));
    match op {
        b'p' => spawn(cx, How::Plain),
        b's' => spawn(cx, How::In),
        b'b' => spawn(cx, How::Batched),
        b'o' => spawn(cx, How::WorldOwned),
        b'l' => spawn(cx, How::Worldless),
        b'i' => initialize(cx),
        b'x' => shutdown(cx),
        b'e' => enable(cx),
        b'd' => drop_owner(cx),
        b'c' => configure(cx),
        b'a' => prerequisite(cx),
        b'g' => reach(cx),
        b'w' => create_world(cx),
        b'k' => destroy_world(cx),
        b'u' => pause_world(cx),
        b't' => {
            let world = cx.host_mut().world()?;
            let factor = cx.host_mut().input.dilation();
            let answer = cx.set_dilation(world, factor);
            let fine = factor == 0.0 || (factor.is_finite() && factor >= 1e-18);
            assert!(fine || answer.is_err());
            Some(())
        }
        b'n' => instance(cx),
        b'v' => {
            cx.forgive_elapsed();
            Some(())
        }
        b'q' => {
            let poster = cx.host().poster.clone()?;
            let _ = poster.post(|cx| {
                cx.host_mut().in_post += 1;
                let outcome = catch_unwind(AssertUnwindSafe(|| act(cx)));
                cx.host_mut().in_post -= 1;
                if let Err(payload) = outcome {
                    resume_unwind(payload);
                }
            });
            Some(())
        }
        b'r' => {
            cx.report(Report::new(ReportKind::NoLiveWorld, "asked for"));
            Some(())
        }
        b'h' => {
            // A callback of somebody else's, as an extension makes them.
            let world = cx.host_mut().world();
            let panics = cx.host_mut().input.flag();
            let outcome = cx.callback(world, Duration::ZERO, |cx| {
                act(cx);
                if panics {
                    throw();
                }
            });
            if let Err(panic) = outcome {
                cx.settle_panic(&Culprit::new("somebody", "none"), panic);
            }
            cx.attend();
            Some(())
        }
        b'm' => {
            let access = cx.access();
            cx.enter(|| access.with(act)).expect("it is entered")
        }
        _ => None,
    }
}

fn spawn(cx: &mut Cx<'_, Lab>, how: How) -> Option<()> {
    let lab = cx.host_mut();
    if lab.objects.len() >= MOST_OBJECTS {
        return None;
    }
    let needs_world = matches!(how, How::In | How::Batched | How::WorldOwned);
    let world = if needs_world {
        Some(lab.world()?)
    } else {
        None
    };
    let number = lab.objects.len();
    let mood = lab.input.number(16);
    let rare = lab.input.number(16);
    let settings = TickSettings::default()
        .start_ticking(rare & 1 == 0)
        .tick_when_paused(rare & 2 != 0)
        .tick_in_editor(rare & 4 != 0)
        .tick_at_start(rare & 8 != 0)
        .interval(lab.input.interval())
        .group(lab.input.group());
    let freed = Rc::new(Cell::new(false));
    let probe = Probe {
        number,
        settings,
        acts: mood & 3 != 0,
        panics: mood & 3 == 3,
        panics_in_drop: mood & 12 == 12,
        freed: Rc::clone(&freed),
    };
    lab.objects.push(Facts {
        how,
        id: None,
        owner: None,
        dead: false,
        freed,
        phase: Phase::Out,
        world: None,
        shut: false,
        intent: None,
        settings,
        not_in: 0,
        ticks: 0,
        last_tick: 0,
        turn: 0,
        simple: false,
        initialized_in: 0,
        since: Duration::ZERO,
        sum: Duration::ZERO,
    });
    let home = world.unwrap_or_default();
    // A panic of the initialize event goes through here, and the owner with it.
    let made = catch_unwind(AssertUnwindSafe(|| match how {
        How::Plain => Ok(Some(cx.spawn(probe))),
        How::Worldless => Ok(Some(cx.spawn_worldless(probe))),
        How::In => cx.spawn_in(home, probe).map(Some),
        How::Batched => cx.spawn_batched(home, probe).map(Some),
        How::WorldOwned => cx.spawn_world_owned(home, probe).map(|key| {
            cx.host_mut().objects[number].id.get_or_insert(key.id());
            None
        }),
    }));
    let facts = &mut cx.host_mut().objects[number];
    match made {
        Ok(Ok(owner)) => {
            if let Some(owner) = owner {
                assert_eq!(*facts.id.get_or_insert(owner.id()), owner.id());
                facts.owner = Some(owner);
            }
        }
        Ok(Err(_)) => facts.dead = true,
        Err(payload) => {
            facts.dead = true;
            resume_unwind(payload);
        }
    }
    Some(())
}

/// An object that can be named: one whose spawn has returned, or that was called.
fn target(cx: &mut Cx<'_, Lab>) -> Option<(usize, TickId)> {
    let number = cx.host_mut().object()?;
    cx.host().say(format_args!("  of {number}"));
    Some((number, cx.host().objects[number].id?))
}

fn is_gone(cx: &Cx<'_, Lab>, number: usize) -> bool {
    let facts = &cx.host().objects[number];
    facts.dead || facts.freed.get()
}

fn initialize(cx: &mut Cx<'_, Lab>) -> Option<()> {
    let (number, id) = target(cx)?;
    let world = cx.host_mut().world();
    let worldless = cx.host().objects[number].how == How::Worldless;
    let world = world.filter(|_| !worldless || cx.host_mut().input.flag());
    let (gone, phase) = (is_gone(cx, number), cx.host().objects[number].phase);
    let dying = world.is_some_and(|world| cx.host().is_destroyed(world));
    let answer = cx.initialize(id, world);
    if gone {
        assert_eq!(answer, Err(TickError::Gone));
    } else if phase != Phase::Out || dying || (world.is_none() != worldless) {
        assert!(answer.is_err(), "initialized all the same");
    }
    Some(())
}

fn shutdown(cx: &mut Cx<'_, Lab>) -> Option<()> {
    let (number, id) = target(cx)?;
    let facts = &mut cx.host_mut().objects[number];
    let expected = facts.phase == Phase::In && !facts.shut && !facts.dead;
    // From the call on it does not tick, whatever its event does.
    facts.shut |= expected;
    match cx.shutdown(id) {
        Ok(was) => assert_eq!(was, expected, "whether there was something to shut down"),
        Err(TickError::Panicked { .. }) => assert!(expected),
        Err(error) => panic!("{error:?}"),
    }
    Some(())
}

fn enable(cx: &mut Cx<'_, Lab>) -> Option<()> {
    let (number, id) = target(cx)?;
    let on = cx.host_mut().input.flag();
    let gone = is_gone(cx, number);
    let answer = cx.set_tick_enabled(id, on);
    assert_eq!(answer.is_err(), gone, "{answer:?}");
    if gone {
        return None;
    }
    let frame = cx.frame();
    let lab = cx.host_mut();
    let in_pass = lab.in_pass();
    let facts = &mut lab.objects[number];
    let was = facts.intent.unwrap_or(facts.settings.start_ticking);
    facts.intent = Some(on);
    if was != on {
        facts.simple = false;
        if on && in_pass && facts.phase != Phase::Out {
            facts.not_in = frame;
        }
    }
    Some(())
}

fn drop_owner(cx: &mut Cx<'_, Lab>) -> Option<()> {
    let number = cx.host_mut().object()?;
    let closed = cx.host().closed;
    cx.host().say(format_args!("  of {number}"));
    let facts = &mut cx.host_mut().objects[number];
    let owner = facts.owner.take()?;
    facts.dead |= !closed;
    drop(owner);
    if closed {
        return None;
    }
    let id = facts.id?;
    assert!(!cx.is_initialized(id), "dead at once");
    assert_eq!(cx.tick_info(id).err(), Some(TickError::Gone));
    Some(())
}

fn configure(cx: &mut Cx<'_, Lab>) -> Option<()> {
    let (number, id) = target(cx)?;
    let gone = is_gone(cx, number);
    let lab = cx.host_mut();
    let mut settings = lab.objects[number].settings;
    let before = settings;
    match lab.input.number(7) {
        0 | 1 => settings.interval = lab.input.interval(),
        2 => settings.group = lab.input.group(),
        3 => settings.tick_when_paused = lab.input.flag(),
        4 => settings.tick_in_editor = lab.input.flag(),
        5 => settings.tick_at_start = lab.input.flag(),
        _ => settings.start_ticking = lab.input.flag(),
    }
    let Ok(change) = cx.configure(id) else {
        assert!(gone, "it is alive");
        return None;
    };
    assert!(!gone, "it is gone");
    let answer = change
        .interval(settings.interval)
        .group(settings.group)
        .tick_when_paused(settings.tick_when_paused)
        .tick_in_editor(settings.tick_in_editor)
        .tick_at_start(settings.tick_at_start)
        .start_ticking(settings.start_ticking)
        .apply();
    if answer.is_ok() {
        assert!(settings.interval.to_duration().is_ok(), "a bad interval");
        let facts = &mut cx.host_mut().objects[number];
        facts.settings = settings;
        facts.simple &= settings == before;
    }
    Some(())
}

fn prerequisite(cx: &mut Cx<'_, Lab>) -> Option<()> {
    let (dependent, id) = target(cx)?;
    let (prerequisite, other) = target(cx)?;
    let add = cx.host_mut().input.number(4) != 3;
    let frame = cx.frame();
    let change = cx.configure(id).ok()?;
    let answer = if add {
        change.after(other).apply()
    } else {
        change.not_after(other).apply()
    };
    let lab = cx.host_mut();
    let same = |link: &Link| link.dependent == dependent && link.prerequisite == prerequisite;
    if answer.is_ok() && !add {
        lab.links.retain(|link| !same(link));
    } else if answer.is_ok() && !lab.links.iter().any(same) {
        assert_ne!(dependent, prerequisite, "a circle of one");
        lab.links.push(Link {
            dependent,
            prerequisite,
            frame,
        });
    }
    Some(())
}

fn reach(cx: &mut Cx<'_, Lab>) -> Option<()> {
    let (number, id) = target(cx)?;
    let key: TickKey<Probe> = id.of_type();
    let gone = is_gone(cx, number);
    match cx.get(key) {
        Ok(probe) => assert_eq!(probe.number, number),
        Err(TickError::Gone) => assert!(gone),
        Err(TickError::Running { .. }) => assert!(cx.host().depth > 0 || cx.host().in_post > 0),
        Err(error) => panic!("{error:?}"),
    }
    assert_eq!(cx.get_mut(key).is_ok(), cx.get(key).is_ok());
    let within = cx.host_mut().input.flag();
    let _ = cx.with(key, |probe, cx| {
        assert_eq!(probe.number, number);
        assert!(matches!(cx.get(key), Err(TickError::Running { .. })));
        if within && cx.host().depth < 12 {
            cx.host_mut().depth += 1;
            let outcome = catch_unwind(AssertUnwindSafe(|| act(cx)));
            cx.host_mut().depth -= 1;
            if let Err(payload) = outcome {
                resume_unwind(payload);
            }
        }
    });
    Some(())
}

fn create_world(cx: &mut Cx<'_, Lab>) -> Option<()> {
    let lab = cx.host_mut();
    if lab.worlds.len() >= MOST_WORLDS {
        return None;
    }
    let shape = lab.input.number(8);
    let gameplay = shape & 4 == 0;
    let mut options = WorldOptions::new(if gameplay {
        WorldKind::Game
    } else {
        WorldKind::Editor
    });
    let parent = if shape & 1 != 0 { lab.world() } else { None };
    let instance = if shape & 2 != 0 { lab.instance() } else { None };
    if let Some(parent) = parent {
        options = options.parent(parent);
    }
    if let Some(instance) = instance {
        options = options.instance(instance);
    }
    let dying = parent.is_some_and(|parent| lab.is_destroyed(parent));
    let made = make_world(cx, options);
    assert!(!dying || made.is_none(), "a child of a dying world");
    let known = cx.host_mut().known(made?)?;
    (known.parent, known.instance, known.gameplay) = (parent, instance, gameplay);
    Some(())
}

pub fn make_world(cx: &mut Cx<'_, Lab>, options: WorldOptions) -> Option<WorldId> {
    let id = cx.create_world(options).ok()?;
    cx.host_mut().worlds.push(KnownWorld {
        id,
        parent: None,
        instance: None,
        gameplay: true,
        destroyed: false,
        paused_in_frame: false,
    });
    Some(id)
}

/// The world and all under it will be destroyed.
fn doom(lab: &mut Lab, world: WorldId) -> bool {
    let Some(known) = lab.known(world) else {
        return false;
    };
    let first = !std::mem::replace(&mut known.destroyed, true);
    let under: Vec<WorldId> = lab
        .worlds
        .iter()
        .filter(|known| known.parent == Some(world) && !known.destroyed)
        .map(|known| known.id)
        .collect();
    for child in under {
        doom(lab, child);
    }
    first
}

fn destroy_world(cx: &mut Cx<'_, Lab>) -> Option<()> {
    let world = cx.host_mut().world()?;
    let first = doom(cx.host_mut(), world);
    assert_eq!(cx.destroy_world(world), first);
    assert!(!cx.is_world_alive(world));
    Some(())
}

fn pause_world(cx: &mut Cx<'_, Lab>) -> Option<()> {
    let world = cx.host_mut().world()?;
    let on = cx.host_mut().input.flag();
    cx.host_mut().pause_touched = true;
    if cx.set_paused(world, on).is_ok() {
        assert!(
            !on || cx
                .world_info(world)
                .is_ok_and(|info| info.effectively_paused)
        );
    } else {
        assert!(cx.host().is_destroyed(world));
    }
    Some(())
}

fn instance(cx: &mut Cx<'_, Lab>) -> Option<()> {
    let lab = cx.host_mut();
    lab.pause_touched = true;
    match lab.input.number(4) {
        0 if lab.instances.len() < 4 => {
            let instance = cx.create_instance("session");
            cx.host_mut().instances.push(instance);
        }
        3 => {
            let instance = lab.instance()?;
            let worlds: Vec<WorldId> = lab
                .worlds
                .iter()
                .filter(|known| known.instance == Some(instance))
                .map(|known| known.id)
                .collect();
            for world in worlds {
                doom(lab, world);
            }
            cx.destroy_instance(instance);
        }
        how => {
            let instance = lab.instance()?;
            let _ = cx.set_instance_paused(instance, how == 1);
        }
    }
    Some(())
}

/// Whether an object that nothing has changed ticks in every frame.
pub fn ticks_every_frame(facts: &Facts) -> bool {
    facts.simple && facts.settings.start_ticking && !is_throttled(facts.settings.interval)
}
