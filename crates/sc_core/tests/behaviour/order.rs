//! The order within a group: initialization, prerequisites, and what a pass holds still.

use crate::probe::{
    Game, Probe, Test, log, spawn, spawn_all, spawn_in, spawn_worldless, start, world,
};
use sc_core::{Cx, TickError, TickGroup, TickId};

fn after(cx: &mut Cx<'_, Game>, object: impl Into<TickId>, first: impl Into<TickId>) {
    cx.configure(object).unwrap().after(first).apply().unwrap();
}

fn try_after(
    t: &mut Test,
    object: impl Into<TickId>,
    first: impl Into<TickId>,
) -> Result<(), TickError> {
    t.cx().configure(object).unwrap().after(first).apply()
}

fn move_to(
    cx: &mut Cx<'_, Game>,
    object: impl Into<TickId>,
    group: TickGroup,
) -> Result<(), TickError> {
    cx.configure(object).unwrap().group(group).apply()
}

/// The names in the order of one frame's ticks.
fn order(t: &mut Test) -> Vec<String> {
    log(t);
    t.tick(0.1);
    let ticks = log(t).into_iter();
    ticks
        .filter_map(|line| line.strip_prefix("tick ").map(str::to_owned))
        .collect()
}

#[test]
fn within_a_group_objects_tick_in_order_of_initialization() {
    let mut t = start();
    let w = t.world;
    let owners = ["a", "b", "c"].map(|name| t.cx().spawn(Probe::new(name)));
    for at in [2, 0, 1] {
        t.cx().initialize(&owners[at], w).unwrap();
    }
    assert_eq!(order(&mut t), ["c", "a", "b"]);
}

#[test]
fn worldless_objects_tick_in_order_of_initialization() {
    let mut t = start();
    let _owners = ["b", "a", "c"].map(|name| spawn_worldless(&mut t, Probe::new(name)));
    assert_eq!(order(&mut t), ["b", "a", "c"]);
}

#[test]
fn removal_never_reorders_the_rest() {
    let mut t = start();
    let [a, _b, c, _d, e, _f] = spawn_all(&mut t, ["a", "b", "c", "d", "e", "f"]);
    a.shutdown(&mut t.cx()).unwrap();
    assert_eq!(order(&mut t), ["b", "c", "d", "e", "f"]);
    drop(c);
    t.cx().set_tick_enabled(&e, false).unwrap();
    assert_eq!(order(&mut t), ["b", "d", "f"]);
}

#[test]
fn a_prerequisite_ticks_first() {
    let mut t = start();
    let [a, b, c] = spawn_all(&mut t, ["a", "b", "c"]);
    after(&mut t.cx(), &a, &c);
    let now = order(&mut t);
    let at = |name: &str| now.iter().position(|n| n == name).unwrap();
    assert!(at("c") < at("a") && at("a") < at("b"), "{now:?}");
    after(&mut t.cx(), &c, &b);
    assert_eq!(order(&mut t), ["b", "c", "a"]);
}

#[test]
fn a_chain_of_prerequisites_declared_in_any_order() {
    for declared in [[0, 1, 2], [2, 1, 0], [1, 0, 2]] {
        let mut t = start();
        let owners = spawn_all(&mut t, ["a", "b", "c", "d"]);
        for n in declared {
            after(&mut t.cx(), &owners[n], &owners[n + 1]);
        }
        assert_eq!(order(&mut t), ["d", "c", "b", "a"], "{declared:?}");
    }
}

#[test]
fn a_prerequisite_declared_before_either_is_initialized() {
    let mut t = start();
    let w = t.world;
    let a = t.cx().spawn(Probe::new("a"));
    let b = t.cx().spawn(Probe::new("b"));
    after(&mut t.cx(), &a, &b);
    t.cx().initialize(&a, w).unwrap();
    assert_eq!(order(&mut t), ["a"]);
    t.cx().initialize(&b, w).unwrap();
    assert_eq!(order(&mut t), ["b", "a"]);
}

#[test]
fn prerequisites_hold_among_those_with_an_interval() {
    let mut t = start();
    let a = spawn(&mut t, Probe::new("a").interval(0.25));
    let b = spawn(&mut t, Probe::new("b").interval(0.5));
    let c = spawn(&mut t, Probe::new("c"));
    after(&mut t.cx(), &a, &b);
    after(&mut t.cx(), &b, &c);
    t.tick(0.25);
    assert_eq!(log(&t), ["tick c", "tick a"]);
    t.tick(0.25);
    assert_eq!(log(&t), ["tick c", "tick b", "tick a"]);
}

#[test]
fn worldless_objects_have_prerequisites_among_themselves() {
    let mut t = start();
    let a = spawn_worldless(&mut t, Probe::new("a"));
    let b = spawn_worldless(&mut t, Probe::new("b"));
    after(&mut t.cx(), &a, &b);
    assert_eq!(order(&mut t), ["b", "a"]);
}

#[test]
fn a_prerequisite_taken_back_no_longer_counts() {
    let mut t = start();
    let [a, b] = spawn_all(&mut t, ["a", "b"]);
    after(&mut t.cx(), &a, &b);
    let mut cx = t.rt.cx(&mut t.host);
    cx.configure(&a).unwrap().not_after(&b).apply().unwrap();
    assert_eq!(try_after(&mut t, &b, &a), Ok(()), "no cycle any more");
    assert_eq!(order(&mut t), ["a", "b"]);
    let mut cx = t.rt.cx(&mut t.host);
    let change = cx.configure(&a).unwrap();
    assert_eq!(
        change.not_after(&b).apply(),
        Ok(()),
        "never declared: no error"
    );
}

#[test]
fn a_cycle_is_refused_with_the_path() {
    let mut t = start();
    let [a, b, c] = spawn_all(&mut t, ["a", "b", "c"]);
    after(&mut t.cx(), &a, &b);
    after(&mut t.cx(), &b, &c);
    assert_eq!(
        try_after(&mut t, &c, &a),
        Err(TickError::PrerequisiteCycle {
            path: "c -> a -> b -> c".to_owned()
        })
    );
    assert_eq!(
        try_after(&mut t, &a, &a),
        Err(TickError::PrerequisiteCycle {
            path: "a -> a".to_owned()
        })
    );
    assert_eq!(order(&mut t), ["c", "b", "a"], "nothing changed");
    assert_eq!(try_after(&mut t, &a, &c), Ok(()), "said twice is no cycle");
}

#[test]
fn a_cycle_is_refused_whether_its_members_are_active_or_not() {
    let mut t = start();
    let a = t.cx().spawn(Probe::new("a"));
    let b = t.cx().spawn(Probe::new("b"));
    assert_eq!(try_after(&mut t, &a, &b), Ok(()));
    assert!(matches!(
        try_after(&mut t, &b, &a),
        Err(TickError::PrerequisiteCycle { .. })
    ));
}

#[test]
fn a_change_that_is_refused_changes_none_of_what_it_would() {
    let mut t = start();
    let [a, b, c] = spawn_all(&mut t, ["a", "b", "c"]);
    after(&mut t.cx(), &c, &b);
    let change = |t: &mut Test| {
        let mut cx = t.rt.cx(&mut t.host);
        cx.configure(&b)
            .unwrap()
            .interval(5.0)
            .after(&a)
            .after(&c)
            .apply()
    };
    assert!(matches!(
        change(&mut t),
        Err(TickError::PrerequisiteCycle { .. })
    ));
    let info = t.cx().tick_info(&b).unwrap();
    assert!(info.interval.is_zero());
    assert_eq!(try_after(&mut t, &a, &b), Ok(()), "b is not after a");
    let group = t
        .cx()
        .configure(&b)
        .unwrap()
        .not_after(&c)
        .group(TickGroup::PostUpdate)
        .apply();
    assert!(matches!(group, Err(TickError::PrerequisiteLater { .. })));
    assert_eq!(
        t.cx().tick_info(&b).unwrap().group,
        Some(TickGroup::PostPhysics)
    );
}

#[test]
fn a_prerequisite_in_a_later_group_is_an_error_and_one_in_an_earlier_group_is_none() {
    let mut t = start();
    let early = spawn(&mut t, Probe::new("early").group(TickGroup::PrePhysics));
    let late = spawn(&mut t, Probe::new("late").group(TickGroup::PostUpdate));
    assert_eq!(
        try_after(&mut t, &early, &late),
        Err(TickError::PrerequisiteLater {
            object: "early".to_owned(),
            prerequisite: "late".to_owned()
        })
    );
    assert_eq!(try_after(&mut t, &late, &early), Ok(()));
    assert_eq!(
        move_to(&mut t.cx(), &late, TickGroup::PrePhysics),
        Ok(()),
        "the same group is fine"
    );
    assert_eq!(
        move_to(&mut t.cx(), &early, TickGroup::PostPhysics),
        Err(TickError::PrerequisiteLater {
            object: "late".to_owned(),
            prerequisite: "early".to_owned()
        }),
        "neither may the prerequisite move behind"
    );
    assert_eq!(order(&mut t), ["early", "late"]);
}

#[test]
fn group_and_prerequisite_may_change_in_one_go() {
    let mut t = start();
    let [a] = spawn_all(&mut t, ["a"]);
    let late = spawn(&mut t, Probe::new("late").group(TickGroup::PostUpdate));
    let change = t
        .cx()
        .configure(&a)
        .unwrap()
        .after(&late)
        .group(TickGroup::PostUpdate)
        .apply();
    assert_eq!(change, Ok(()));
    assert_eq!(order(&mut t), ["late", "a"]);
}

#[test]
fn a_prerequisite_in_another_world_is_an_error() {
    let mut t = start();
    let other = world(&mut t, "other");
    let [a] = spawn_all(&mut t, ["a"]);
    let o = spawn_in(&mut t, other, Probe::new("o"));
    let m = spawn_worldless(&mut t, Probe::new("m"));
    let elsewhere = |object: &str, prerequisite: &str| TickError::PrerequisiteElsewhere {
        object: object.to_owned(),
        prerequisite: prerequisite.to_owned(),
    };
    assert_eq!(try_after(&mut t, &a, &o), Err(elsewhere("a", "o")));
    assert_eq!(try_after(&mut t, &a, &m), Err(elsewhere("a", "m")));
    assert_eq!(try_after(&mut t, &m, &a), Err(elsewhere("m", "a")));
}

#[test]
fn initializing_in_another_world_than_a_linked_object_is_refused() {
    let mut t = start();
    let (w, other) = (t.world, world(&mut t, "other"));
    let [a] = spawn_all(&mut t, ["a"]);
    let b = t.cx().spawn(Probe::new("b"));
    let c = t.cx().spawn(Probe::new("c"));
    after(&mut t.cx(), &a, &b);
    after(&mut t.cx(), &c, &a);
    assert_eq!(
        t.cx().initialize(&b, other),
        Err(TickError::PrerequisiteElsewhere {
            object: "a".to_owned(),
            prerequisite: "b".to_owned()
        })
    );
    assert_eq!(
        t.cx().initialize(&c, other),
        Err(TickError::PrerequisiteElsewhere {
            object: "c".to_owned(),
            prerequisite: "a".to_owned()
        })
    );
    assert!(log(&t).is_empty(), "no event ran");
    t.cx().initialize(&b, w).unwrap();
    t.cx().initialize(&c, w).unwrap();
    assert_eq!(order(&mut t), ["b", "a", "c"]);
}

#[test]
fn an_inactive_prerequisite_does_not_count_and_counts_again_when_active() {
    let mut t = start();
    let w = t.world;
    let [a, b] = spawn_all(&mut t, ["a", "b"]);
    after(&mut t.cx(), &a, &b);
    t.cx().set_tick_enabled(&b, false).unwrap();
    assert_eq!(order(&mut t), ["a"], "nobody waits for it");
    t.cx().set_tick_enabled(&b, true).unwrap();
    assert_eq!(order(&mut t), ["b", "a"]);
    b.shutdown(&mut t.cx()).unwrap();
    assert_eq!(order(&mut t), ["a"]);
    t.cx().initialize(&b, w).unwrap();
    assert_eq!(order(&mut t), ["b", "a"]);
}

#[test]
fn both_ends_of_a_prerequisite_may_move_to_another_world() {
    let mut t = start();
    let other = world(&mut t, "other");
    let [a, b] = spawn_all(&mut t, ["a", "b"]);
    after(&mut t.cx(), &a, &b);
    for owner in [&a, &b] {
        owner.shutdown(&mut t.cx()).unwrap();
    }
    for owner in [&a, &b] {
        t.cx().initialize(owner, other).unwrap();
    }
    assert_eq!(order(&mut t), ["b", "a"], "both moved: it counts there");
}

#[test]
fn a_prerequisite_that_is_gone_is_an_error_and_one_that_goes_is_forgotten() {
    let mut t = start();
    let [a, b, _c] = spawn_all(&mut t, ["a", "b", "c"]);
    let key = b.key();
    after(&mut t.cx(), &a, &b);
    b.shutdown(&mut t.cx()).unwrap();
    drop(b);
    assert_eq!(order(&mut t), ["a", "c"]);
    assert_eq!(try_after(&mut t, &a, key), Err(TickError::Gone));
    let mut cx = t.rt.cx(&mut t.host);
    assert_eq!(cx.configure(&a).unwrap().not_after(key).apply(), Ok(()));
    let [_d] = spawn_all(&mut t, ["d"]);
    assert_eq!(
        order(&mut t),
        ["a", "c", "d"],
        "the slot's next object is free of it"
    );
}

#[test]
fn a_worldless_object_has_no_tick_group_to_change() {
    let mut t = start();
    let m = spawn_worldless(&mut t, Probe::new("m"));
    assert_eq!(
        move_to(&mut t.cx(), &m, TickGroup::PrePhysics),
        Err(TickError::Worldless {
            object: "m".to_owned()
        })
    );
    assert_eq!(t.cx().tick_info(&m).unwrap().group, None);
}

#[test]
fn removed_ones_are_not_called_again_also_when_they_were_next() {
    let mut t = start();
    let _a = spawn(
        &mut t,
        Probe::new("a").on_tick(|cx| {
            let (b, d) = (cx.host().id("b"), cx.host().id("d"));
            cx.shutdown(b).unwrap();
            cx.set_tick_enabled(d, false).unwrap();
            drop(cx.host_mut().owners.remove("c"));
        }),
    );
    let [_b, c, _d, _e] = spawn_all(&mut t, ["b", "c", "d", "e"]);
    t.host.owners.insert("c", c);
    assert_eq!(order(&mut t), ["a", "e"]);
    assert_eq!(order(&mut t), ["a", "e"]);
}

#[test]
fn those_already_called_may_be_removed_without_anyone_being_skipped() {
    let mut t = start();
    let [_a, _b] = spawn_all(&mut t, ["a", "b"]);
    let _c = spawn(
        &mut t,
        Probe::new("c").on_tick(|cx| {
            for name in ["a", "b"] {
                let id = cx.host().id(name);
                let _ = cx.shutdown(id);
            }
        }),
    );
    let [_d, _e] = spawn_all(&mut t, ["d", "e"]);
    assert_eq!(order(&mut t), ["a", "b", "c", "d", "e"]);
    assert_eq!(order(&mut t), ["c", "d", "e"]);
}

#[test]
fn a_due_sleeper_that_was_next_is_not_called_when_it_is_removed() {
    let mut t = start();
    let _a = spawn(
        &mut t,
        Probe::new("a").on_tick(|cx| {
            let (b, c) = (cx.host().id("b"), cx.host().id("c"));
            cx.shutdown(b).unwrap();
            cx.set_tick_enabled(c, false).unwrap();
        }),
    );
    let _b = spawn(&mut t, Probe::new("b").interval(0.1));
    let _c = spawn(&mut t, Probe::new("c").interval(0.1));
    assert_eq!(order(&mut t), ["a"]);
    assert_eq!(order(&mut t), ["a"]);
}

/// Moves B from one group to another from a tick in `PrePhysics` or `PostUpdate`.
fn moved(by: TickGroup, from: TickGroup, to: TickGroup) -> usize {
    let mut t = start();
    let _a = spawn(
        &mut t,
        Probe::new("a").group(by).on_tick(move |cx| {
            if cx.frame() == 1 {
                let b = cx.host().id("b");
                move_to(cx, b, to).unwrap();
                move_to(cx, b, to).unwrap();
            }
        }),
    );
    let b = spawn(&mut t, Probe::new("b").group(from));
    t.tick(0.1);
    let first = log(&t).iter().filter(|l| *l == "tick b").count();
    assert_eq!(t.cx().tick_info(&b).unwrap().group, Some(to), "not lost");
    let mut marks = Vec::new();
    t.rt.begin_frame(&mut t.host, 0.1).unwrap();
    for stage in &sc_core::Stage::ALL[1..9] {
        t.rt.run_stage(&mut t.host, *stage).unwrap();
        if log(&t).contains(&"tick b".to_owned()) {
            marks.push(format!("{stage:?}"));
        }
    }
    t.rt.end_frame(&mut t.host).unwrap();
    assert_eq!(marks, [format!("{to:?}")], "after the pass it is there");
    first
}

#[test]
fn a_change_of_group_within_a_pass_takes_effect_after_it() {
    use TickGroup::{PostPhysics, PostUpdate, PrePhysics};
    for by in [PrePhysics, PostUpdate] {
        for (from, to) in [
            (PostPhysics, PrePhysics),
            (PostPhysics, PostUpdate),
            (PrePhysics, PostUpdate),
            (PostUpdate, PrePhysics),
        ] {
            assert_eq!(moved(by, from, to), 1, "{by:?}: {from:?} to {to:?}");
        }
    }
}

#[test]
fn a_change_of_order_within_a_pass_takes_effect_after_it() {
    let mut t = start();
    let _a = spawn(
        &mut t,
        Probe::new("a").on_tick(|cx| {
            if cx.frame() == 1 {
                let (b, d) = (cx.host().id("b"), cx.host().id("d"));
                after(cx, b, d);
            }
        }),
    );
    let [_b, _c, _d] = spawn_all(&mut t, ["b", "c", "d"]);
    assert_eq!(order(&mut t), ["a", "b", "c", "d"]);
    assert_eq!(order(&mut t), ["a", "d", "b", "c"]);
}

#[test]
fn a_change_of_the_pause_flag_is_read_each_pass() {
    let mut t = start();
    let w = t.world;
    t.cx().set_paused(w, true).unwrap();
    let [a] = spawn_all(&mut t, ["a"]);
    for on in [true, false, true] {
        let mut cx = t.rt.cx(&mut t.host);
        let change = cx.configure(&a).unwrap();
        change.tick_when_paused(on).apply().unwrap();
        assert_eq!(order(&mut t).len(), usize::from(on));
    }
}

#[test]
fn a_change_of_the_editor_flag_is_read_each_pass() {
    let mut t = start();
    let w = t.cx().create_world(sc_core::WorldKind::Editor).unwrap();
    let a = spawn_in(&mut t, w, Probe::new("a"));
    for on in [true, false, true] {
        let mut cx = t.rt.cx(&mut t.host);
        let change = cx.configure(&a).unwrap();
        change.tick_in_editor(on).apply().unwrap();
        assert_eq!(order(&mut t).len(), usize::from(on));
    }
}

#[test]
fn a_prerequisite_that_moves_into_its_dependents_group_ticks_first_there() {
    let mut t = start();
    let [b] = spawn_all(&mut t, ["b"]);
    let early = spawn(&mut t, Probe::new("early").group(TickGroup::PrePhysics));
    after(&mut t.cx(), &b, &early);
    assert_eq!(order(&mut t), ["early", "b"]);
    move_to(&mut t.cx(), &early, TickGroup::PostPhysics).unwrap();
    assert_eq!(order(&mut t), ["early", "b"], "though initialized later");
}
