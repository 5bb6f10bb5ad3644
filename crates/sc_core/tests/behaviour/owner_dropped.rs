//! An owner dropped without shutdown: the dead mark, the one report, and who drops the object.

use std::cell::Cell;
use std::rc::Rc;

use crate::probe::{Game, Log, Probe, log, spawn, start};
use sc_core::{Cx, ReportKind, Severity, TickError, TickGroup, Tickable};

#[test]
fn an_owner_dropped_without_shutdown_is_a_dead_mark_one_report_and_no_shutdown_event() {
    let mut t = start();
    let lines = t.host.log.clone();
    let a = spawn(&mut t, Probe::new("a").logs_drop(&lines));
    let key = a.key();
    t.tick(0.1);
    lines.take();
    drop(a);
    assert!(lines.take().is_empty(), "it is dropped in the next End");
    let mut cx = t.rt.cx(&mut t.host);
    assert_eq!(cx.get(key).err(), Some(TickError::Gone));
    assert_eq!(
        cx.shutdown(key),
        Ok(false),
        "no later callback, from any place"
    );
    assert!(t.rt.tick_list().is_empty());
    assert!(t.reports.take().is_empty());
    assert_eq!(t.tick(0.1).ticks, 0);
    assert_eq!(lines.take(), ["drop a"]);
    let reports = t.reports.take();
    assert_eq!(reports.len(), 1);
    assert_eq!(reports[0].kind, ReportKind::OwnerDropped);
    assert_eq!(reports[0].severity, Severity::Error);
    assert_eq!(reports[0].object.as_deref(), Some("a"));
    assert_eq!(reports[0].world.as_deref(), Some("game 1"));
    assert_eq!(
        reports[0].what,
        "destroyed while still initialized - the owner never called shutdown"
    );
    t.tick(0.1);
    assert!(t.reports.take().is_empty(), "one report, once");
}

#[test]
fn the_report_is_per_instance_and_not_per_call_site() {
    let mut t = start();
    for name in ["a", "b", "c"] {
        drop(spawn(&mut t, Probe::new(name)));
    }
    t.tick(0.1);
    let names: Vec<_> = t.reports.take().into_iter().map(|r| r.object).collect();
    assert_eq!(
        names,
        ["a", "b", "c"].map(|name| Some(name.to_owned())),
        "in the order in which the owners went"
    );
}

#[test]
fn an_owner_dropped_in_a_pass_stops_its_object_at_once_and_lives_to_the_end() {
    let mut t = start();
    let lines: Log = t.host.log.clone();
    let _a = spawn(
        &mut t,
        Probe::new("a").on_tick(|cx| drop(cx.host_mut().owners.remove("b"))),
    );
    let b = spawn(&mut t, Probe::new("b").logs_drop(&lines));
    t.host.owners.insert("b", b);
    let _c = spawn(&mut t, Probe::new("c").group(TickGroup::PostUpdate));
    t.tick(0.1);
    assert_eq!(log(&t), ["tick a", "tick c", "drop b"]);
    assert_eq!(t.reports.kinds(), [ReportKind::OwnerDropped]);
}

#[test]
fn an_object_whose_owner_goes_in_its_own_tick_finishes_it_and_is_dropped_in_the_end() {
    let mut t = start();
    let lines = t.host.log.clone();
    let a = spawn(
        &mut t,
        Probe::new("a").logs_drop(&lines).on_tick(|cx| {
            drop(cx.host_mut().owners.remove("a"));
            cx.host().log.add("goes on");
            let me = cx.host().id("a");
            assert_eq!(cx.shutdown(me), Ok(false));
        }),
    );
    t.host.owners.insert("a", a);
    let _b = spawn(&mut t, Probe::new("b"));
    t.tick(0.1);
    assert_eq!(log(&t), ["tick a", "goes on", "tick b", "drop a"]);
    assert_eq!(t.reports.kinds(), [ReportKind::OwnerDropped]);
}

/// An object that shuts itself down in its tick and whose owner goes there too; `then` follows.
fn shut_down_then_dropped(then: fn(&mut Cx<'_, Game>)) -> (Vec<String>, Vec<ReportKind>) {
    let mut t = start();
    let a = spawn(
        &mut t,
        Probe::new("a").on_tick(move |cx| {
            let me = cx.current_object().unwrap();
            assert_eq!(cx.shutdown(me), Ok(true));
            drop(cx.host_mut().owners.remove("a"));
            then(cx);
        }),
    );
    t.host.owners.insert("a", a);
    let _b = spawn(&mut t, Probe::new("b"));
    t.tick(0.1);
    (log(&t), t.reports.kinds())
}

#[test]
fn a_shutdown_asked_for_before_the_owner_goes_is_no_drop_without_shutdown() {
    let ran = ["tick a", "stop a", "tick b"].map(str::to_owned).to_vec();
    assert_eq!(shut_down_then_dropped(|_| {}), (ran.clone(), vec![]));
    let looked_up = shut_down_then_dropped(|cx| {
        let b = cx.host().id("b");
        cx.set_tick_enabled(b, true).unwrap();
    });
    assert_eq!(looked_up, (ran, vec![]), "whatever is called in between");
}

#[test]
fn an_owner_dropped_on_another_thread_counts_at_the_next_turn_and_drops_on_the_game_thread() {
    struct Where(Rc<Cell<Option<std::thread::ThreadId>>>);
    impl Tickable<Game> for Where {
        fn tick(&mut self, cx: &mut Cx<'_, Game>) {
            cx.host().log.add("tick");
        }
    }
    impl Drop for Where {
        fn drop(&mut self) {
            self.0.set(Some(std::thread::current().id()));
        }
    }
    let mut t = start();
    let w = t.world;
    let dropped_on = Rc::new(Cell::new(None));
    let a = t.cx().spawn_in(w, Where(Rc::clone(&dropped_on))).unwrap();
    std::thread::spawn(move || drop(a)).join().unwrap();
    assert_eq!(dropped_on.get(), None);
    t.tick(0.1);
    assert!(log(&t).is_empty());
    assert_eq!(dropped_on.get(), Some(std::thread::current().id()));
    assert_eq!(t.reports.kinds(), [ReportKind::OwnerDropped]);
}

#[test]
fn an_owner_dropped_after_its_shutdown_or_before_its_initialize_makes_no_report() {
    let mut t = start();
    let lines = t.host.log.clone();
    let a = spawn(&mut t, Probe::new("a").logs_drop(&lines));
    a.shutdown(&mut t.cx()).unwrap();
    let b = t.cx().spawn(Probe::new("b").logs_drop(&lines));
    lines.take();
    drop((a, b));
    t.tick(0.1);
    assert_eq!(lines.take(), ["drop a", "drop b"]);
    assert!(t.reports.take().is_empty());
}

#[test]
fn the_name_is_read_once_when_it_is_spawned_and_never_after_its_owner_went() {
    struct Named(Rc<Cell<u32>>);
    impl Tickable<Game> for Named {
        fn name(&self) -> std::borrow::Cow<'static, str> {
            self.0.set(self.0.get() + 1);
            "named".into()
        }
    }
    let mut t = start();
    let w = t.world;
    let reads = Rc::new(Cell::new(0));
    let a = t.cx().spawn_in(w, Named(Rc::clone(&reads))).unwrap();
    t.tick(0.1);
    assert_eq!(reads.get(), 1);
    drop(a);
    t.tick(0.1);
    assert_eq!(reads.get(), 1, "no later callback, from any place");
    let reports = t.reports.take();
    assert_eq!(reports[0].object.as_deref(), Some("named"));
}

#[test]
fn an_object_that_owns_another_takes_it_along() {
    struct Parent(#[allow(dead_code)] sc_core::Owner<Probe>);
    impl Tickable<Game> for Parent {}
    let mut t = start();
    let w = t.world;
    let lines = t.host.log.clone();
    let child = spawn(&mut t, Probe::new("child").logs_drop(&lines));
    let parent = t.cx().spawn_in(w, Parent(child)).unwrap();
    t.tick(0.1);
    drop(parent);
    assert_eq!(t.tick(0.1).ticks, 1, "the child's owner still lives");
    assert_eq!(t.tick(0.1).ticks, 0);
    assert_eq!(log(&t), ["tick child", "tick child", "drop child"]);
    let names: Vec<_> = t.reports.take().into_iter().map(|r| r.object).collect();
    assert_eq!(names, ["Parent", "child"].map(|n| Some(n.to_owned())));
}
