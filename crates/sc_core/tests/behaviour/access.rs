//! Access: owners, keys, `get`, `get_mut`, `with`, what `Running` and `Gone` mean, and objects
//! that the world owns.

use crate::probe::{
    Game, Probe, log, panic_of, spawn, spawn_all, spawn_in, spawn_worldless, start, world,
};
use sc_core::testing::TestWorld;
use sc_core::{Cx, Owner, ReportKind, TickError, TickId, TickKey, Tickable, WorldId, secs};

fn running(name: &str) -> TickError {
    TickError::Running {
        object: name.to_owned(),
    }
}

#[test]
fn owners_keys_and_ids_are_send_and_sync_whatever_the_type() {
    fn is_send_and_sync<T: Send + Sync>() {}
    // An `Rc` inside makes the object itself neither.
    is_send_and_sync::<Owner<std::rc::Rc<()>>>();
    is_send_and_sync::<TickKey<std::rc::Rc<()>>>();
    is_send_and_sync::<TickId>();
    is_send_and_sync::<WorldId>();
}

#[test]
fn a_copyable_typed_key_gives_get_get_mut_and_with() {
    let mut t = start();
    let a = spawn(&mut t, Probe::new("a"));
    let key = a.key();
    let copy = key;
    assert_eq!(key, copy);
    assert_eq!(key.id(), a.id());
    let mut cx = t.rt.cx(&mut t.host);
    cx.get_mut(key)
        .unwrap()
        .deltas
        .push(secs(1).to_duration().unwrap());
    assert_eq!(cx.get(copy).unwrap().deltas.len(), 1);
    assert_eq!(
        cx.get(&a).unwrap().deltas.len(),
        1,
        "an owner will do as well"
    );
    let seen = cx.with(key, |a, cx| {
        a.deltas.clear();
        cx.host().log.add("with the host");
        7
    });
    assert_eq!(seen, Ok(7));
    assert!(cx.get(key).unwrap().deltas.is_empty());
    assert_eq!(log(&t), ["with the host"]);
}

#[test]
fn an_uninitialized_object_is_reachable_as_well() {
    let mut t = start();
    let a = t.cx().spawn(Probe::new("a"));
    let m = t.cx().spawn_worldless(Probe::new("m"));
    assert!(t.cx().get(&a).is_ok() && t.cx().get_mut(&m).is_ok());
    assert_eq!(t.cx().with(&a, |a, _| a.name), Ok("a"));
}

#[test]
fn a_running_object_is_out_of_its_own_reach_and_all_others_stay_reachable() {
    let mut t = start();
    let check = |cx: &mut Cx<'_, Game>| {
        let a = cx.host().owners["a"].key();
        let (b, m) = (cx.host().owners["b"].key(), cx.host().owners["m"].key());
        assert_eq!(cx.get(a).err(), Some(running("a")));
        assert_eq!(cx.get_mut(a).err(), Some(running("a")));
        assert_eq!(cx.with(a, |_, _| ()), Err(running("a")));
        assert!(cx.get(b).is_ok());
        cx.get_mut(b).unwrap().deltas.clear();
        assert_eq!(
            cx.with(m, |m, cx| (m.name, cx.get(a).is_err())),
            Ok(("m", true))
        );
        cx.host().log.add("checked");
    };
    let a = spawn(&mut t, Probe::new("a").on_tick(check).on_stop(check));
    let b = spawn(&mut t, Probe::new("b"));
    let m = spawn_worldless(&mut t, Probe::new("m"));
    t.host.owners.extend([("a", a), ("b", b), ("m", m)]);
    t.tick(0.1);
    let id = t.host.id("a");
    t.cx().shutdown(id).unwrap();
    assert_eq!(
        log(&t),
        ["tick a", "checked", "tick b", "tick m", "stop a", "checked"]
    );
}

#[test]
fn with_nests_and_each_object_in_it_is_running() {
    let mut t = start();
    let [a, b] = spawn_all(&mut t, ["a", "b"]);
    let (ka, kb) = (a.key(), b.key());
    let inner = t.cx().with(ka, |_, cx| {
        cx.with(kb, |_, cx| (cx.get(ka).err(), cx.get(kb).err()))
    });
    assert_eq!(inner, Ok(Ok((Some(running("a")), Some(running("b"))))));
    assert!(t.cx().get(ka).is_ok() && t.cx().get(kb).is_ok());
}

#[test]
fn an_object_out_in_with_is_not_initialized_from_there() {
    let mut t = start();
    let w = t.world;
    let a = t.cx().spawn(Probe::new("a"));
    let id = a.id();
    let again = t.cx().with(&a, |_, cx| cx.initialize(id, w));
    assert_eq!(again, Ok(Err(running("a"))));
    assert!(log(&t).is_empty());
}

#[test]
fn a_shutdown_asked_for_in_with_runs_when_the_object_is_back() {
    let mut t = start();
    let [a] = spawn_all(&mut t, ["a"]);
    let id = a.id();
    t.cx()
        .with(&a, |_, cx| {
            assert_eq!(cx.shutdown(id), Ok(true));
            cx.host().log.add("still out");
        })
        .unwrap();
    assert_eq!(log(&t), ["still out", "stop a"]);
}

#[test]
fn with_keeps_the_world_and_the_delta_of_the_caller() {
    let mut t = start();
    let w = t.world;
    let other = world(&mut t, "other");
    let o = spawn_in(&mut t, other, Probe::new("o"));
    let key = o.key();
    let _a = spawn(
        &mut t,
        Probe::new("a").on_tick(move |cx| {
            let inside = cx.with(key, |_, cx| (cx.world(), cx.delta_secs()));
            assert_eq!(inside, Ok((Some(w), 0.5)));
        }),
    );
    t.tick(0.5);
    assert_eq!(log(&t), ["tick a", "tick o"]);
}

#[test]
fn a_panic_in_with_goes_on_to_the_caller_and_the_object_is_back_as_it_was() {
    for policy in [
        sc_core::PanicPolicy::Propagate,
        sc_core::PanicPolicy::Isolate,
    ] {
        let mut t = start();
        t.rt.set_panic_policy(policy);
        let [a] = spawn_all(&mut t, ["a"]);
        let what = panic_of(|| t.cx().with(&a, |_, _| panic!("in with")));
        assert_eq!(what, "in with");
        assert!(t.cx().get(&a).is_ok());
        t.tick(0.1);
        assert_eq!(log(&t), ["tick a"], "it is initialized as before");
    }
}

#[test]
fn through_a_stale_key_reading_is_gone_and_ending_is_false() {
    let mut t = start();
    let w = t.world;
    let [a] = spawn_all(&mut t, ["a"]);
    let key = a.key();
    drop(a);
    for frames in [0, 1] {
        t.ticks(0.1, frames);
        let mut cx = t.rt.cx(&mut t.host);
        assert_eq!(cx.get(key).err(), Some(TickError::Gone));
        assert_eq!(cx.get_mut(key).err(), Some(TickError::Gone));
        assert_eq!(cx.with(key, |_, _| ()), Err(TickError::Gone));
        assert_eq!(cx.tick_info(key).err(), Some(TickError::Gone));
        assert_eq!(cx.initialize(key, w), Err(TickError::Gone));
        assert_eq!(cx.set_tick_enabled(key, true), Err(TickError::Gone));
        assert_eq!(cx.configure(key).err(), Some(TickError::Gone));
        assert_eq!(cx.shutdown(key), Ok(false));
        assert!(!cx.is_initialized(key));
    }
    assert!(log(&t).is_empty());
}

#[test]
fn a_stale_key_never_reaches_the_object_in_its_slot() {
    let mut t = start();
    let mut stale = Vec::new();
    for _ in 0..100 {
        let a = spawn(&mut t, Probe::new("a"));
        a.shutdown(&mut t.cx()).unwrap();
        stale.push(a.key());
        drop(a);
        t.tick(0.1);
    }
    let b = spawn(&mut t, Probe::new("b"));
    log(&t);
    for key in stale {
        assert_ne!(key, b.key());
        assert_eq!(t.cx().get(key).err(), Some(TickError::Gone));
        assert_eq!(t.cx().shutdown(key), Ok(false));
    }
    t.tick(0.1);
    assert_eq!(log(&t), ["tick b"]);
}

#[test]
fn an_owner_refuses_the_cx_of_another_runtime() {
    let mut t = start();
    let mut u = start();
    let [a] = spawn_all(&mut t, ["a"]);
    let [_b] = spawn_all(&mut u, ["b"]);
    assert_eq!(a.shutdown(&mut u.cx()), Err(TickError::WrongRuntime));
    assert!(log(&u).is_empty());
    assert_eq!(a.shutdown(&mut t.cx()), Ok(true));
}

#[test]
fn a_key_of_another_type_is_refused() {
    struct Lamp;
    impl Tickable<Game> for Lamp {}
    let mut t = start();
    let a = t.cx().spawn(Probe::new("a"));
    let as_lamp = a.id().of_type::<Lamp>();
    let wrong = TickError::WrongType {
        object: "a".to_owned(),
    };
    let mut cx = t.cx();
    assert_eq!(cx.get(as_lamp).err(), Some(wrong.clone()));
    assert_eq!(cx.get_mut(as_lamp).err(), Some(wrong.clone()));
    assert_eq!(cx.with(as_lamp, |_, _| ()), Err(wrong));
    assert!(cx.get(&a).is_ok(), "and the object is back");
}

#[test]
fn a_handle_of_another_runtime_is_refused_whatever_the_call() {
    let mut t = start();
    let mut u = start();
    let foreign = t.cx().spawn(Probe::new("foreign"));
    let own = u.cx().spawn(Probe::new("own"));
    assert_ne!(foreign.id(), own.id());
    let world = u.world;
    let mut cx = u.rt.cx(&mut u.host);
    let wrong = TickError::WrongRuntime;
    assert_eq!(cx.get(&foreign).err(), Some(wrong.clone()));
    assert_eq!(cx.with(&foreign, |_, _| ()), Err(wrong.clone()));
    assert_eq!(cx.initialize(&foreign, world), Err(wrong.clone()));
    assert_eq!(cx.set_tick_enabled(&foreign, false), Err(wrong.clone()));
    assert_eq!(cx.configure(&foreign).map(drop), Err(wrong.clone()));
    assert_eq!(cx.shutdown(&foreign), Err(wrong.clone()));
    assert_eq!(foreign.shutdown(&mut cx), Err(wrong.clone()));
    assert_eq!(cx.tick_info(&foreign).err(), Some(wrong));
    assert!(
        !cx.is_initialized(&own),
        "the object in the same slot is untouched"
    );
}

#[test]
fn dropping_an_owner_of_another_runtime_touches_only_its_own() {
    let mut t = start();
    let mut u = start();
    let [a] = spawn_all(&mut t, ["a"]);
    let [_b] = spawn_all(&mut u, ["b"]);
    drop(a);
    u.tick(0.1);
    t.tick(0.1);
    assert_eq!(log(&u), ["tick b"]);
    assert!(u.reports.take().is_empty());
    assert_eq!(t.reports.kinds(), [ReportKind::OwnerDropped]);
}

#[test]
fn an_object_owned_by_its_world_lives_exactly_as_long() {
    let mut t = start();
    let w = t.world;
    let lines = t.host.log.clone();
    let mut cx = t.rt.cx(&mut t.host);
    let key = cx
        .spawn_world_owned(w, Probe::new("a").logs_drop(&lines))
        .unwrap();
    t.ticks(0.1, 2);
    assert_eq!(log(&t), ["init a", "tick a", "tick a"]);
    assert!(t.cx().get(key).is_ok());
    t.cx().destroy_world(w);
    assert_eq!(log(&t), ["stop a"]);
    assert_eq!(t.cx().get(key).err(), Some(TickError::Gone));
    t.tick(0.1);
    assert_eq!(log(&t), ["drop a"]);
    assert!(t.reports.take().is_empty(), "nobody forgot anything");
}

#[test]
fn an_object_owned_by_its_world_may_be_shut_down_before_and_goes_then() {
    let mut t = start();
    let w = t.world;
    let lines = t.host.log.clone();
    let probe = Probe::new("a").logs_drop(&lines).on_tick(|cx| {
        let me = cx.current_object().unwrap();
        cx.shutdown(me).unwrap();
    });
    let key = t.cx().spawn_world_owned(w, probe).unwrap();
    t.tick(0.1);
    assert_eq!(log(&t), ["init a", "tick a", "stop a", "drop a"]);
    assert_eq!(t.cx().initialize(key, w), Err(TickError::Gone));
    assert!(t.reports.take().is_empty());
}

#[test]
fn a_world_that_is_dead_takes_no_object_over() {
    let mut t = start();
    let w = t.world;
    t.cx().destroy_world(w);
    let lines = t.host.log.clone();
    let probe = Probe::new("a").logs_drop(&lines);
    assert_eq!(
        t.cx().spawn_world_owned(w, probe).err(),
        Some(TickError::NoLiveWorld {
            object: "a".to_owned()
        })
    );
    t.tick(0.1);
    assert_eq!(log(&t), ["drop a"]);
    assert_eq!(t.reports.kinds(), [ReportKind::NoLiveWorld]);
}

#[test]
fn user_code_may_do_anything_to_the_runtime_while_it_runs() {
    let mut t = start();
    let w = t.world;
    let _a = spawn(
        &mut t,
        Probe::new("a").on_tick(move |cx| {
            // Spawn, shut the neighbour down, shut itself down, make and destroy worlds.
            let new = cx.spawn_in(w, Probe::new("new")).unwrap();
            cx.host_mut().owners.insert("new", new);
            let (b, me) = (cx.host().id("b"), cx.current_object().unwrap());
            cx.shutdown(b).unwrap();
            cx.shutdown(me).unwrap();
            let inner = cx.create_world(sc_core::WorldKind::Game).unwrap();
            assert!(cx.destroy_world(inner));
            cx.host().log.add("a is still here");
        }),
    );
    let _b = spawn(&mut t, Probe::new("b"));
    t.tick(0.1);
    assert_eq!(
        log(&t),
        ["tick a", "init new", "stop b", "a is still here", "stop a"]
    );
    t.tick(0.1);
    assert_eq!(log(&t), ["tick new"]);
}

#[test]
fn a_slot_freed_and_used_again_within_a_pass_reaches_nobody_old() {
    let mut t: TestWorld<Game> = start();
    let w = t.world;
    let _a = spawn(
        &mut t,
        Probe::new("a").on_tick(move |cx| {
            if cx.frame() == 1 {
                for name in ["x", "y", "z"] {
                    let owner = cx.spawn_in(w, Probe::new(name)).unwrap();
                    let key = owner.key();
                    owner.shutdown(cx).unwrap();
                    drop(owner);
                    assert_eq!(cx.get(key).err(), Some(TickError::Gone));
                }
            }
        }),
    );
    t.tick(0.1);
    assert_eq!(
        log(&t),
        [
            "tick a", "init x", "stop x", "init y", "stop y", "init z", "stop z"
        ]
    );
    t.tick(0.1);
    assert_eq!(log(&t), ["tick a"]);
}
