//! Other threads: owners dropped there, closures posted from there, and the end of both.

use std::sync::mpsc::{Sender, channel};

use super::*;
use sc_core::{Poster, RuntimeGone};

/// A capture of a posted closure: says on which thread it went.
struct Capture(Sender<ThreadId>);

impl Drop for Capture {
    fn drop(&mut self) {
        self.0.send(thread::current().id()).unwrap();
    }
}

#[test]
fn an_owner_dropped_on_another_thread_lets_its_object_go_on_the_game_thread() {
    let (mut t, world) = lab();
    let happened = Rc::clone(&t.host.happened);
    let dropped_on = Rc::clone(&t.host.dropped_on);
    let owner = spawn(&mut t, world, "a");
    take(&happened);
    thread::spawn(move || drop(owner)).join().unwrap();
    assert_eq!(take(&happened), []);
    t.tick(0.1);
    assert_eq!(take(&happened), [("a", "drop")]);
    assert_eq!(*dropped_on.borrow(), [thread::current().id()]);
    assert_eq!(named(&t.reports, ReportKind::OwnerDropped), ["a"]);
}

#[test]
fn an_owner_dropped_on_another_thread_during_a_pass_holds_for_what_has_not_ticked_yet() {
    let (mut t, world) = lab();
    let happened = Rc::clone(&t.host.happened);
    let first = t.host.probe("first").on_tick(|cx| {
        let owners = std::mem::take(&mut cx.host_mut().owners);
        thread::spawn(move || drop(owners)).join().unwrap();
    });
    let first = t.cx().spawn_in(world, first).unwrap();
    let second = spawn(&mut t, world, "second");
    t.host.owners.push(second);
    take(&happened);
    t.tick(0.1);
    assert_eq!(
        take(&happened),
        [("first", "tick"), ("first", "ticked"), ("second", "drop")]
    );
    assert_eq!(named(&t.reports, ReportKind::OwnerDropped), ["second"]);
    drop(first);
}

#[test]
fn an_owner_dropped_on_another_thread_after_the_runtime_is_a_no_op() {
    let (mut rt, mut lab, world, reports) = bare();
    let happened = Rc::clone(&lab.happened);
    let probe = lab.probe("a");
    let owner = rt.cx(&mut lab).spawn_in(world, probe).unwrap();
    drop(rt);
    assert_eq!(named(&reports, ReportKind::RuntimeDropped), ["a"]);
    thread::spawn(move || drop(owner)).join().unwrap();
    assert_eq!(drops(&happened, &["a"]), [1]);
    assert_eq!(reports.take(), []);
}

#[test]
fn owners_dropped_on_many_threads_are_each_reported_once() {
    let (mut t, world) = lab();
    let happened = Rc::clone(&t.host.happened);
    let owners: Vec<_> = (0..64).map(|_| spawn(&mut t, world, "a")).collect();
    take(&happened);
    let dropping = owners.into_iter().map(|o| thread::spawn(move || drop(o)));
    let dropping: Vec<_> = dropping.collect();
    for thread in dropping {
        thread.join().unwrap();
    }
    assert_eq!(t.tick(0.1).reports, 64);
    assert_eq!(t.reports.take().len(), 64);
    assert_eq!(drops(&happened, &["a"]), [64]);
    assert_eq!(take(&happened).len(), 64, "nothing but drops");
}

#[test]
fn closures_posted_to_a_runtime_that_is_dropped_go_unrun_on_the_game_thread() {
    let (rt, _lab, _, reports) = bare();
    let (sender, dropped) = channel();
    let poster = rt.poster();
    let posting = thread::spawn(move || {
        let capture = Capture(sender);
        poster.post(move |_| panic!("never run: {:?}", capture.0))
    });
    assert_eq!(posting.join().unwrap(), Ok(()));
    assert!(dropped.try_recv().is_err(), "waits for the next frame");
    drop(rt);
    assert_eq!(dropped.try_recv(), Ok(thread::current().id()));
    assert!(dropped.try_recv().is_err(), "dropped once");
    assert_eq!(reports.take(), []);
}

#[test]
fn closures_posted_to_a_runtime_that_is_shut_down_go_unrun_on_the_game_thread() {
    let (mut rt, mut lab, _, _reports) = bare();
    let (sender, dropped) = channel();
    let poster = rt.poster();
    let capture = Capture(sender);
    let posted = poster.post(move |_| panic!("never run: {:?}", capture.0));
    assert_eq!(posted, Ok(()));
    rt.shutdown(&mut lab);
    assert_eq!(dropped.try_recv(), Ok(thread::current().id()));
    assert_eq!(poster.post(|_| ()), Err(RuntimeGone));
}

#[test]
fn a_poster_outlives_its_runtime_and_drops_what_it_is_given_where_it_is_called() {
    let (rt, _lab, _, _reports) = bare();
    let poster = rt.poster();
    let copy = poster.clone();
    drop(rt);
    assert_eq!(poster.post(|_| ()), Err(RuntimeGone));
    let (sender, dropped) = channel();
    let posting = thread::spawn(move || {
        let capture = Capture(sender);
        let posted = copy.post(move |_| panic!("never run: {:?}", capture.0));
        (posted, thread::current().id())
    });
    let (posted, on) = posting.join().unwrap();
    assert_eq!(posted, Err(RuntimeGone));
    assert_eq!(dropped.try_recv(), Ok(on));
}

#[test]
fn a_closure_that_ran_drops_its_captures_once_on_the_game_thread() {
    let (mut t, _world) = lab();
    let (sender, dropped) = channel();
    let poster = t.rt.poster();
    let posting = thread::spawn(move || {
        let capture = Capture(sender);
        poster.post(move |cx: &mut Cx<'_, Lab>| {
            let _capture = &capture;
            cx.host().happened.borrow_mut().push(("closure", "ran"));
        })
    });
    posting.join().unwrap().unwrap();
    t.tick(0.1);
    assert_eq!(take(&t.host.happened), [("closure", "ran")]);
    assert_eq!(dropped.try_recv(), Ok(thread::current().id()));
    assert!(dropped.try_recv().is_err(), "dropped once");
}

#[test]
fn a_posted_closure_may_hold_the_owner_of_an_object_of_its_runtime() {
    let (mut rt, mut lab, world, reports) = bare();
    let happened = Rc::clone(&lab.happened);
    let probe = lab.probe("a");
    let owner = rt.cx(&mut lab).spawn_in(world, probe).unwrap();
    let posted = rt.poster().post(move |cx| drop(owner.shutdown(cx)));
    assert_eq!(posted, Ok(()));
    // Never run: its owner goes with the runtime, which is a no-op by then.
    drop(rt);
    assert_eq!(named(&reports, ReportKind::RuntimeDropped), ["a"]);
    assert_eq!(drops(&happened, &["a"]), [1]);
}

/// Posts when it is dropped.
struct PostsWhenDropped(Poster<Lab>, Sender<Result<(), RuntimeGone>>);

impl Drop for PostsWhenDropped {
    fn drop(&mut self) {
        self.1.send(self.0.post(|_| ())).unwrap();
    }
}

#[test]
fn a_capture_that_posts_when_the_runtime_drops_it_is_refused() {
    let (rt, _lab, _, _reports) = bare();
    let (sender, posted) = channel();
    let capture = PostsWhenDropped(rt.poster(), sender);
    let poster = rt.poster();
    poster.post(move |_| drop(capture)).unwrap();
    drop(rt);
    assert_eq!(posted.try_recv(), Ok(Err(RuntimeGone)));
}
