//! What must hold between two steps and after frames.

use std::collections::BTreeSet;
use std::time::Duration;

use sc_core::{Clock, Runtime, TickError, TickId};

use crate::act::ticks_every_frame;
use crate::lab::{Facts, Lab, Phase, is_throttled, reading};

/// What is listed, what is initialized, and what the callbacks told, are the same objects.
pub fn between_steps(rt: &mut Runtime<Lab>, lab: &mut Lab) {
    let listed: Vec<TickId> = rt.tick_list().iter().map(|info| info.id).collect();
    let unique: BTreeSet<TickId> = listed.iter().copied().collect();
    assert_eq!(unique.len(), listed.len(), "listed twice");
    let known: BTreeSet<TickId> = lab
        .objects
        .iter()
        .filter(|facts| facts.phase == Phase::In && !facts.dead)
        .filter_map(|facts| facts.id)
        .collect();
    assert_eq!(unique, known, "what is listed, and what was called");

    let cx = rt.cx(lab);
    for facts in &cx.host().objects {
        assert_ne!(facts.phase, Phase::Ending, "its shutdown event is over");
        let Some(id) = facts.id else { continue };
        let initialized = facts.phase == Phase::In && !facts.dead;
        assert_eq!(cx.is_initialized(id), initialized);
        match cx.tick_info(id) {
            Ok(info) => {
                assert!(!facts.dead, "it is dead");
                assert_eq!(info.initialized, initialized);
                assert_eq!(info.ticks, facts.ticks, "ticks of object {}", info.name);
                assert_eq!(info.world, facts.world);
                let intent = facts.intent.unwrap_or(facts.settings.start_ticking);
                assert_eq!(info.enabled, intent, "intent of object {}", info.name);
                let throttled = is_throttled(info.interval.into());
                assert_eq!(info.next_due.is_some(), initialized && intent && throttled);
            }
            Err(error) => {
                assert_eq!(error, TickError::Gone);
                assert!(facts.dead, "it is alive");
            }
        }
    }
    for known in &cx.host().worlds {
        assert_eq!(cx.is_world_alive(known.id), !known.destroyed);
        assert_eq!(cx.world_info(known.id).is_err(), known.destroyed);
    }
}

/// After a frame, panics or not.
pub fn after_frame(rt: &mut Runtime<Lab>, lab: &mut Lab) {
    for (number, facts) in lab.objects.iter().enumerate() {
        if facts.id.is_some() {
            assert_eq!(facts.dead, facts.freed.get(), "storage of object {number}");
        }
    }
    let cx = rt.cx(lab);
    for known in &cx.host().worlds {
        if let Ok(info) = cx.world_info(known.id) {
            let inside = |facts: &&Facts| facts.phase == Phase::In && facts.world == Some(known.id);
            let inside = cx
                .host()
                .objects
                .iter()
                .filter(inside)
                .filter(|facts| !facts.dead);
            assert_eq!(info.objects, inside.count(), "objects of a world");
            for clock in Clock::ALL {
                assert_eq!(cx.world_delta(known.id, clock), Ok(Duration::ZERO));
            }
        }
    }
    for facts in &cx.host().objects {
        let alive = facts.phase == Phase::In && !facts.dead;
        if !alive || !facts.simple || facts.intent != Some(true) {
            continue;
        }
        let Some(info) = facts.id.and_then(|id| cx.tick_info(id).ok()) else {
            continue;
        };
        if is_throttled(facts.settings.interval) {
            let passed = reading(&cx, facts.world, &facts.settings) - facts.since;
            assert_eq!(
                facts.sum + info.carry,
                passed,
                "time of object {}",
                info.name
            );
        }
    }
}

/// After a frame that no panic has cut short.
pub fn after_whole_frame(rt: &mut Runtime<Lab>, lab: &mut Lab, panicked: bool) {
    let cx = rt.cx(lab);
    let (frame, lab) = (cx.frame(), cx.host());
    for link in &lab.links {
        let (dependent, first) = (
            &lab.objects[link.dependent],
            &lab.objects[link.prerequisite],
        );
        let both = dependent.last_tick == frame && first.last_tick == frame;
        if link.frame < frame && both && !first.dead && !dependent.dead {
            assert!(first.turn < dependent.turn, "the order of a prerequisite");
        }
    }
    if panicked {
        return;
    }
    for (number, facts) in lab.objects.iter().enumerate() {
        let known = lab
            .worlds
            .iter()
            .find(|known| Some(known.id) == facts.world);
        let (gameplay, paused) = known.map_or((true, false), |k| (k.gameplay, k.paused_in_frame));
        let runs = facts.phase == Phase::In
            && !facts.dead
            && facts.initialized_in < frame
            && (known.is_none() || !lab.pause_touched)
            && (facts.settings.tick_when_paused || !paused)
            && (facts.settings.tick_in_editor || gameplay);
        if !runs {
            continue;
        }
        if ticks_every_frame(facts) {
            assert_eq!(facts.last_tick, frame, "object {number} was passed over");
        }
        if facts.simple && facts.settings.start_ticking && is_throttled(facts.settings.interval) {
            let carry = facts
                .id
                .and_then(|id| cx.tick_info(id).ok())
                .map(|info| info.carry);
            let interval = facts.settings.interval.to_duration().ok();
            assert!(carry < interval, "object {number} should have ticked");
        }
    }
}

/// After the runtime was shut down.
pub fn after_shutdown(rt: &mut Runtime<Lab>, lab: &mut Lab) {
    assert!(rt.world_list().is_empty());
    assert!(rt.tick_list().is_empty());
    between_steps(rt, lab);
}
