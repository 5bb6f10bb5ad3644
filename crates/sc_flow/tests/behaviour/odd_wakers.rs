//! Wakers in odd hands: left behind by flows that have ended, woken by others and by threads, kept by a
//! flow that is about to end.

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use crate::probe::{Bell, C, Test, log, say, start, story, tell, thing, told_story, yield_now};
use allocation_counter::measure;
use futures::stream::{FuturesUnordered, StreamExt};
use sc_core::{Clock, PanicPolicy};
use sc_flow::{Either, Flow, FlowExt, ForEach, race};

/// A story that waits for a bell and something that is there at once: its waker stays in the bell.
fn leaves_a_waker(t: &mut Test, bell: &Bell) {
    let bell = bell.clone();
    story(t, "leaver", async move |_| {
        let won = race(bell.wait(), async {}).await;
        assert!(matches!(won, Either::Second(())));
        Ok(())
    });
}

/// Pending once, and keeps a waker the first time.
fn keeps_a_waker_once(kept: &Rc<RefCell<Vec<Waker>>>) -> impl Future<Output = ()> + 'static {
    let kept = Rc::clone(kept);
    let mut has_kept = false;
    poll_fn(move |context| {
        if has_kept {
            return Poll::Ready(());
        }
        has_kept = true;
        kept.borrow_mut().push(context.waker().clone());
        Poll::Pending
    })
}

#[test]
fn a_flow_that_takes_the_place_of_a_waker_left_by_an_ended_one_is_woken() {
    let (mut t, bell) = (start(), Bell::default());
    leaves_a_waker(&mut t, &bell);
    let theirs = bell.clone();
    story(&mut t, "waits", async move |fx| {
        theirs.wait().await;
        tell(&fx, "rung");
        Ok(())
    });
    t.ticks(0.1, 2);
    bell.ring();
    t.ticks(0.1, 2);
    assert_eq!(log(&t), ["3: rung"]);
}

/// A flow that gives way once in frame 2, and then says that it went on.
fn gives_way(t: &mut Test) {
    story(t, "gives way", async |fx| {
        fx.next_tick().await?;
        yield_now().await;
        tell(&fx, "went on");
        Ok(())
    });
}

#[test]
fn a_flow_that_gives_way_goes_on_though_a_flow_rang_what_an_ended_one_waited_for() {
    let (mut t, bell) = (start(), Bell::default());
    leaves_a_waker(&mut t, &bell);
    story(&mut t, "rings", async move |fx| {
        fx.next_tick().await?;
        bell.ring();
        Ok(())
    });
    gives_way(&mut t);
    t.ticks(0.1, 4);
    assert_eq!(log(&t), ["2: went on"]);
}

#[test]
fn a_flow_that_gives_way_goes_on_though_a_node_rang_what_an_ended_one_waited_for() {
    let (mut t, bell) = (start(), Bell::default());
    leaves_a_waker(&mut t, &bell);
    let w = t.world;
    ForEach::index(5)
        .each(move |_: &mut C<'_>, i| {
            if i == 1 {
                bell.ring();
            }
        })
        .world(w)
        .start(&mut t.cx())
        .unwrap();
    gives_way(&mut t);
    t.ticks(0.1, 4);
    assert_eq!(log(&t), ["2: went on"]);
}

#[test]
fn a_flow_that_gives_way_and_drops_a_waker_left_by_an_ended_one_goes_on() {
    let (mut t, bell) = (start(), Bell::default());
    leaves_a_waker(&mut t, &bell);
    story(&mut t, "gives way", async move |fx| {
        fx.next_tick().await?;
        let mut bell = Some(bell);
        let mut yielded = false;
        poll_fn(move |context| {
            drop(bell.take());
            if std::mem::replace(&mut yielded, true) {
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
        tell(&fx, "went on");
        Ok(())
    });
    t.ticks(0.1, 4);
    assert_eq!(log(&t), ["2: went on"]);
}

#[test]
fn the_first_waker_a_flow_was_polled_with_wakes_it_also_from_another_flows_poll() {
    let mut t = start();
    let kept = Rc::<RefCell<Vec<Waker>>>::default();
    let theirs = Rc::clone(&kept);
    let mut polls = 0;
    let log_polls = t.host.log.clone();
    story(&mut t, "sleeper", async move |_| {
        poll_fn(move |context| {
            polls += 1;
            theirs.borrow_mut().push(context.waker().clone());
            log_polls.add(format!("poll {polls}"));
            Poll::<()>::Pending
        })
        .await;
        Ok(())
    });
    t.tick(0.1);
    let _ = log(&t);
    let theirs = Rc::clone(&kept);
    story(&mut t, "wakes", async move |fx| {
        theirs.borrow()[0].wake_by_ref();
        tell(&fx, "woke it");
        fx.next_tick().await
    });
    t.ticks(0.1, 3);
    let lines = log(&t);
    assert_eq!(lines.first().map(String::as_str), Some("2: woke it"));
    assert!(
        lines.iter().any(|line| line.starts_with("poll")),
        "{lines:?}"
    );
}

#[test]
fn the_body_of_a_flow_that_cancelled_itself_does_not_go_on_when_it_keeps_its_waker() {
    let mut t = start();
    let kept = Rc::<RefCell<Vec<Waker>>>::default();
    let id = told_story(&mut t, "story", async move |fx| {
        fx.with(|cx| {
            let me = cx.host().flow.unwrap();
            cx.cancel(me)
        })?;
        keeps_a_waker_once(&kept).await;
        tell(&fx, "went on");
        Ok(())
    });
    t.host.flow = Some(id);
    t.ticks(0.1, 3);
    assert_eq!(log(&t), ["1: story Cancelled"]);
}

#[test]
fn the_body_of_a_flow_that_destroyed_its_world_does_not_go_on_when_it_keeps_its_waker() {
    let mut t = start();
    let kept = Rc::<RefCell<Vec<Waker>>>::default();
    let w = t.world;
    let said = t.host.log.clone();
    told_story(&mut t, "story", async move |fx| {
        fx.with(|cx| cx.destroy_world(w))?;
        keeps_a_waker_once(&kept).await;
        said.add("went on");
        Ok(())
    });
    t.ticks(0.1, 3);
    assert_eq!(log(&t), ["1: story Aborted"]);
}

#[test]
fn the_body_of_a_flow_that_ended_its_owner_does_not_go_on_when_it_keeps_its_waker() {
    let mut t = start();
    let kept = Rc::<RefCell<Vec<Waker>>>::default();
    let (w, owner) = (t.world, thing(&mut t));
    let flow = Flow::new("story").world(w).owner(&owner);
    let flow = flow.on_finished(|cx: &mut C<'_>, f| say(cx, format!("{f:?}")));
    flow.spawn(&mut t.cx(), async move |fx| {
        fx.with(|cx| owner.shutdown(cx))??;
        keeps_a_waker_once(&kept).await;
        tell(&fx, "went on");
        Ok(())
    })
    .unwrap();
    t.ticks(0.1, 3);
    assert_eq!(log(&t), ["1: Aborted"]);
}

#[test]
fn a_wait_on_a_clock_that_runs_ends_in_a_paused_world_under_a_foreign_waker_too() {
    let mut t = start();
    let w = t.world;
    story(&mut t, "plain", async move |fx| {
        fx.delay(1).on(Clock::Real).await?;
        tell(&fx, "plain");
        Ok(())
    });
    story(&mut t, "foreign", async move |fx| {
        let waits = FuturesUnordered::new();
        waits.push(fx.delay(1).on(Clock::Real));
        let mut waits = waits;
        waits.next().await.unwrap()?;
        tell(&fx, "foreign");
        Ok(())
    });
    t.tick(0.25);
    t.cx().set_paused(w, true).unwrap();
    t.ticks(0.25, 4);
    assert_eq!(log(&t), ["4: plain", "4: foreign"]);
}

#[test]
fn late_wakes_leave_no_memory_behind() {
    let (mut t, bell) = (start(), Bell::default());
    let theirs = bell.clone();
    story(&mut t, "story", async move |_| {
        theirs.wait().await;
        Ok(())
    });
    t.tick(0.1);
    let waker = bell.waker().unwrap();
    drop(t);
    let info = measure(|| (0..100_000).for_each(|_| waker.wake_by_ref()));
    assert_eq!(info.bytes_current, 0);
}

/// A waker that panics.
struct Bad;

impl Wake for Bad {
    fn wake(self: Arc<Self>) {
        panic!("a waker");
    }
}

#[test]
fn a_foreign_waker_that_panics_takes_no_other_wake_along() {
    let mut t = start();
    t.rt.set_panic_policy(PanicPolicy::Isolate);
    story(&mut t, "bad", async move |fx| {
        let waker = Waker::from(Arc::new(Bad));
        let mut tick = pin!(fx.next_tick());
        let _ = tick.as_mut().poll(&mut Context::from_waker(&waker));
        fx.delay(100).await
    });
    story(&mut t, "good", async move |fx| {
        let mut waits = FuturesUnordered::new();
        waits.push(fx.next_tick());
        waits.next().await.unwrap()?;
        tell(&fx, "went on");
        Ok(())
    });
    t.ticks(0.1, 4);
    let lines = log(&t);
    assert_eq!(lines.len(), 1, "{lines:?}");
}

struct Silent;

impl Wake for Silent {
    fn wake(self: Arc<Self>) {}
}

#[test]
fn case_e29_the_end_of_a_flow_that_is_awaited_no_more_keeps_no_waker() {
    let mut t = start();
    let sleeper = story(&mut t, "sleeper", async |fx| fx.delay(100).await);
    let silent = Arc::new(Silent);
    let theirs = Arc::clone(&silent);
    story(&mut t, "story", async move |fx| {
        let waker = Waker::from(theirs);
        let mut end = Box::pin(fx.flow(sleeper));
        assert!(
            end.as_mut()
                .poll(&mut Context::from_waker(&waker))
                .is_pending()
        );
        drop(end);
        drop(waker);
        fx.delay(100).await
    });
    t.tick(0.1);
    assert_eq!(Arc::strong_count(&silent), 1);
}

#[test]
fn a_flow_that_gives_way_goes_on_though_a_thread_wakes_another_at_that_moment() {
    let mut t = start();
    let (send, receive) = std::sync::mpsc::channel::<Waker>();
    let (go, wait_for_go) = std::sync::mpsc::channel::<()>();
    let (done, wait_for_done) = std::sync::mpsc::channel::<()>();
    let thread = std::thread::spawn(move || {
        let waker = receive.recv().unwrap();
        wait_for_go.recv().unwrap();
        waker.wake();
        done.send(()).unwrap();
    });
    story(&mut t, "waits for the thread", async move |fx| {
        let mut polls = 0;
        // A waker goes to the thread when it is asked for one; later ones the thread has no use for.
        poll_fn(move |context| {
            polls += 1;
            if polls == 1 {
                send.send(context.waker().clone()).unwrap();
            }
            if polls < 2 {
                Poll::Pending
            } else {
                Poll::Ready(())
            }
        })
        .await;
        tell(&fx, "the thread came back");
        Ok(())
    });
    story(&mut t, "gives way", async move |fx| {
        let mut yielded = false;
        poll_fn(|context| {
            if std::mem::replace(&mut yielded, true) {
                return Poll::Ready(());
            }
            go.send(()).unwrap();
            wait_for_done.recv().unwrap();
            context.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
        tell(&fx, "gave way");
        Ok(())
    });
    t.ticks(0.1, 3);
    thread.join().unwrap();
    let mut lines = log(&t);
    lines.sort();
    assert_eq!(lines, ["1: gave way", "1: the thread came back"]);
}
