//! The inbox: closures from other threads, in order, and what becomes of them when there is no
//! runtime any more.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use crate::probe::{Game, Probe, log, spawn, start};
use sc_core::{Clock, Poster, Runtime, RuntimeGone};

#[test]
fn a_poster_is_send_sync_and_clone_whatever_the_host() {
    fn check<T: Send + Sync + Clone>() {}
    check::<Poster<Game>>();
    check::<Poster<std::rc::Rc<()>>>();
}

#[test]
fn closures_run_on_the_game_thread_in_the_next_begin() {
    let mut t = start();
    let game_thread = thread::current().id();
    let poster = t.rt.poster();
    let sent = thread::spawn(move || {
        poster.post(move |cx| {
            assert_eq!(thread::current().id(), game_thread);
            cx.host().log.add("on the game thread");
        })
    });
    assert_eq!(sent.join().unwrap(), Ok(()));
    assert!(log(&t).is_empty());
    t.tick(0.1);
    assert_eq!(log(&t), ["on the game thread"]);
    t.tick(0.1);
    assert!(log(&t).is_empty(), "once");
}

#[test]
fn they_run_in_arrival_order_whoever_posted_them() {
    let mut t = start();
    let posters = [t.rt.poster(), t.rt.poster().clone()];
    for n in 0..4 {
        let poster = posters[n % 2].clone();
        thread::spawn(move || poster.post(move |cx| cx.host().log.add(n.to_string())))
            .join()
            .unwrap()
            .unwrap();
    }
    t.tick(0.1);
    assert_eq!(log(&t), ["0", "1", "2", "3"]);
}

#[test]
fn what_a_closure_or_a_tick_posts_runs_in_the_next_frame() {
    let mut t = start();
    let poster = t.rt.poster();
    let again = poster.clone();
    poster
        .post(move |cx| {
            cx.host().log.add("first");
            again.post(|cx| cx.host().log.add("posted by it")).unwrap();
        })
        .unwrap();
    let mut once = true;
    let _a = spawn(
        &mut t,
        Probe::new("a").on_tick(move |_| {
            if std::mem::take(&mut once) {
                poster.post(|cx| cx.host().log.add("by a")).unwrap();
            }
        }),
    );
    t.tick(0.1);
    assert_eq!(log(&t), ["first", "tick a"]);
    t.tick(0.1);
    assert_eq!(log(&t), ["posted by it", "by a", "tick a"]);
}

#[test]
fn a_closure_that_posts_itself_for_ever_does_not_hold_up_the_frame() {
    fn again(poster: Poster<Game>) {
        let next = poster.clone();
        poster
            .post(move |cx| {
                cx.host().log.add("again");
                again(next);
            })
            .unwrap();
    }
    let mut t = start();
    again(t.rt.poster());
    t.ticks(0.1, 3);
    assert_eq!(log(&t), ["again"; 3]);
}

#[test]
fn a_closure_reaches_worlds_by_name_and_is_bound_to_none() {
    let mut t = start();
    let w = t.world;
    t.tick(0.5);
    t.rt.poster()
        .post(move |cx| {
            assert_eq!(cx.world(), None);
            assert!(cx.delta().is_zero());
            assert_eq!(cx.elapsed(w, Clock::Game), Ok(crate::probe::ms(500)));
            cx.host().log.add("checked");
        })
        .unwrap();
    t.tick(0.5);
    assert_eq!(log(&t), ["checked"]);
}

/// Counts how often it is dropped.
struct Guard(Arc<AtomicU32>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn after_a_runtime_is_gone_a_post_is_an_error_and_the_closure_is_dropped() {
    for end in [
        |rt: Runtime<Game>| drop(rt),
        |mut rt: Runtime<Game>| rt.shutdown(&mut Game::default()),
    ] {
        let rt = Runtime::<Game>::new();
        let poster = rt.poster();
        let drops = Arc::new(AtomicU32::new(0));
        let (early, late) = (Guard(Arc::clone(&drops)), Guard(Arc::clone(&drops)));
        poster
            .post(move |_| {
                let _guard = early;
                panic!("it is not to run");
            })
            .unwrap();
        end(rt);
        assert_eq!(drops.load(Ordering::SeqCst), 1, "what lay there is dropped");
        assert_eq!(
            poster.post(move |_| drop(late)),
            Err(RuntimeGone),
            "what comes is refused"
        );
        assert_eq!(drops.load(Ordering::SeqCst), 2);
        assert!(RuntimeGone.to_string().contains("keep the runtime alive"));
    }
}

#[test]
fn a_closure_whose_captures_post_when_dropped_is_dropped_without_a_deadlock() {
    struct PostsOnDrop(Poster<Game>);
    impl Drop for PostsOnDrop {
        fn drop(&mut self) {
            assert_eq!(self.0.post(|_| {}), Err(RuntimeGone));
        }
    }
    let rt = Runtime::<Game>::new();
    let guard = PostsOnDrop(rt.poster());
    rt.poster().post(move |_| drop(guard)).unwrap();
    drop(rt);
}

#[test]
fn an_owner_dropped_in_a_posted_closure_has_no_tick_in_this_frame() {
    let mut t = start();
    let a = spawn(&mut t, Probe::new("a"));
    t.rt.poster().post(move |_| drop(a)).unwrap();
    assert_eq!(t.tick(0.1).ticks, 0);
    assert!(log(&t).is_empty());
}

#[test]
fn owners_dropped_on_many_threads_are_reported_once_each() {
    let mut t = start();
    let owners: Vec<_> = (0..8).map(|_| spawn(&mut t, Probe::new("a"))).collect();
    let threads: Vec<_> = owners
        .into_iter()
        .map(|owner| thread::spawn(move || drop(owner)))
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(t.tick(0.1).reports, 8);
    assert_eq!(t.tick(0.1).reports, 0);
}
