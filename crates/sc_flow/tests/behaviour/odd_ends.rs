//! Odd ends: destructors and questions that panic, slots that are used again at once, errors that nobody
//! hears, memory that ended flows have left.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll};

use crate::probe::{
    Bell, C, Game, Test, caught, log, reports, say, start, story, tell, thing, told_story, world,
    yield_now,
};
use allocation_counter::measure;
use sc_core::{PanicPolicy, WorldId};
use sc_flow::{Either, Flow, FlowCx, FlowError, FlowExt, ForEach, Step, WaitUntil, race};

/// A body that is ready at once, with a destructor of its own.
struct Ready<F: FnMut() + Unpin>(F);

impl<F: FnMut() + Unpin> Future for Ready<F> {
    type Output = Result<(), FlowError>;
    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        Poll::Ready(Ok(()))
    }
}

impl<F: FnMut() + Unpin> Drop for Ready<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

#[test]
fn a_panic_in_the_destructor_of_a_body_that_is_ready_names_its_flow() {
    let mut t = start();
    t.rt.set_panic_policy(PanicPolicy::Isolate);
    story(&mut t, "innocent", async |_| Ok(()));
    let w = t.world;
    Flow::new("culprit")
        .world(w)
        .spawn(&mut t.cx(), |_| Ready(|| panic!("in the destructor")))
        .unwrap();
    told_story(&mut t, "next", async |_| Ok(()));
    t.tick(0.1);
    let objects: Vec<_> = t.reports.take().into_iter().map(|r| r.object).collect();
    assert_eq!(objects, [Some("flow `culprit`".to_owned())]);
    assert_eq!(log(&t), ["1: next Completed"]);
}

#[test]
fn a_destructor_in_the_hot_loop_may_cancel_start_and_destroy() {
    let mut t = start();
    let (w, w2) = (t.world, world(&mut t));
    let victim = Rc::new(Cell::new(None));
    let (v, l) = (Rc::clone(&victim), t.host.log.clone());
    Flow::new("bare")
        .world(w)
        .spawn(&mut t.cx(), move |fx: FlowCx<Game>| {
            Ready(move || {
                fx.with(|cx| {
                    cx.cancel(v.get().unwrap());
                    let flow = Flow::new("new").world(w);
                    flow.spawn(cx, async |fx: FlowCx<Game>| {
                        tell(&fx, "new runs");
                        Ok(())
                    })
                    .unwrap();
                    cx.destroy_world(w2);
                })
                .unwrap();
                l.add("dropped");
            })
        })
        .unwrap();
    let id = told_story(&mut t, "victim", async |fx| {
        tell(&fx, "never");
        Ok(())
    });
    victim.set(Some(id));
    told_story(&mut t, "after", async |_| Ok(()));
    let flow = Flow::new("other world").world(w2);
    let flow = flow.on_finished(|cx: &mut C<'_>, f| say(cx, format!("other {f:?}")));
    flow.spawn(&mut t.cx(), async |fx| {
        tell(&fx, "never either");
        Ok(())
    })
    .unwrap();
    t.ticks(0.1, 2);
    assert_eq!(
        log(&t),
        [
            "1: victim Cancelled",
            "dropped",
            "1: other Aborted",
            "1: after Completed",
            "2: new runs"
        ]
    );
    assert!(t.cx().flow_list().is_empty());
}

#[test]
fn a_question_that_panics_while_its_flow_cancels_itself_is_not_lost() {
    let mut t = start();
    t.rt.set_panic_policy(PanicPolicy::Isolate);
    let bad = Rc::new(Cell::new(false));
    let (w, theirs) = (t.world, Rc::clone(&bad));
    let id = Flow::new("story")
        .world(w)
        .bound_while(move |_: &C<'_>| {
            assert!(!theirs.replace(false), "the question");
            true
        })
        .on_finished(|cx: &mut C<'_>, f| say(cx, format!("{f:?}")))
        .spawn(&mut t.cx(), async move |fx| {
            bad.set(true);
            fx.with(|cx| {
                let me = cx.host().flow.unwrap();
                cx.cancel(me)
            })?;
            fx.next_tick().await
        })
        .unwrap();
    t.host.flow = Some(id);
    t.ticks(0.1, 2);
    assert_eq!(log(&t), ["1: Panicked"]);
    assert_eq!(reports(&t), ["Panicked"]);
}

#[test]
fn the_report_of_a_self_waking_flow_that_was_cancelled_since_does_not_name_the_next_in_its_slot() {
    let (mut t, bell) = (start(), Bell::default());
    let ring = bell.clone();
    let id = story(&mut t, "self-waking", async move |_| {
        let mut polls = 0;
        poll_fn(move |context| {
            polls += 1;
            if polls == 50 {
                ring.ring();
            }
            context.waker().wake_by_ref();
            Poll::<()>::Pending
        })
        .await;
        Ok(())
    });
    let w = t.world;
    story(&mut t, "canceller", async move |fx| {
        bell.wait().await;
        for _ in 0..70 {
            yield_now().await;
        }
        fx.with(|cx| {
            assert!(cx.cancel(id));
            let flow = Flow::new("innocent").world(w);
            flow.spawn(cx, async |fx: FlowCx<Game>| fx.delay(10).await)
                .unwrap();
        })
    });
    t.tick(0.1);
    let names: Vec<_> = t.reports.take().into_iter().map(|r| r.object).collect();
    assert!(!names.contains(&Some("innocent".to_owned())), "{names:?}");
    assert_eq!(t.cx().flow_list().len(), 1, "it was cancelled in time");
}

#[test]
fn a_wait_given_up_by_a_cancel_says_nothing_about_the_next_flow_in_its_slot() {
    let mut t = start();
    let w = t.world;
    let id = story(&mut t, "story", async move |fx| {
        let mut wait = pin!(fx.wait_until(|_, _| false));
        // Dropped before the wait, when the flow is gone already.
        let _starts = Starts(&fx, w);
        wait.as_mut().await?;
        Ok(())
    });
    t.tick(0.1);
    t.cx().cancel(id);
    let _ = reports(&t);
    t.ticks(1, 40);
    assert_eq!(reports(&t), ["EndlessWait"]);
}

struct Starts<'f>(&'f FlowCx<Game>, WorldId);

impl Drop for Starts<'_> {
    fn drop(&mut self) {
        self.0
            .with(|cx| {
                let wait = WaitUntil::new(|_: &mut C<'_>, _| false).every(100);
                wait.world(self.1).start(cx).unwrap();
            })
            .unwrap();
    }
}

#[test]
fn a_world_destroyed_in_a_with_that_panics_has_no_further_turn_though_the_flow_goes_on() {
    let mut t = start();
    let w = t.world;
    story(&mut t, "story", async move |fx| {
        let caught = catch_unwind(AssertUnwindSafe(|| {
            fx.with(|cx| {
                cx.destroy_world(w);
                panic!("after it");
            })
        }));
        assert!(caught.is_err());
        fx.next_tick().await
    });
    let said = t.host.log.clone();
    story(&mut t, "next", async move |_| {
        said.add("a turn in a world that has ended");
        Ok(())
    });
    t.tick(0.1);
    assert_eq!(log(&t), [""; 0]);
}

#[test]
fn the_first_panic_is_the_one_that_goes_on() {
    let mut t = start();
    let w = t.world;
    let flow = Flow::new("story").world(w);
    flow.on_finished(|_: &mut C<'_>, _| panic!("second"))
        .spawn(&mut t.cx(), async |_| panic!("first"))
        .unwrap();
    assert_eq!(caught(|| t.tick(0.1)).as_deref(), Some("first"));
}

#[test]
fn the_panics_of_a_body_and_its_cleanup_are_both_reported() {
    let mut t = start();
    t.rt.set_panic_policy(PanicPolicy::Isolate);
    let w = t.world;
    ForEach::index(1)
        .each(|_: &mut C<'_>, _| Step::Break)
        .completed(|_, _| panic!("completed"))
        .on_finished(|_, _| panic!("finished"))
        .world(w)
        .start(&mut t.cx())
        .unwrap();
    t.tick(0.1);
    assert_eq!(reports(&t), ["Panicked", "Panicked"]);
}

#[test]
fn flows_that_are_cancelled_before_their_first_turn_leave_no_memory_behind() {
    let mut t = start();
    let round = |t: &mut Test| {
        for _ in 0..100 {
            let id = story(t, "short", async |_| Ok(()));
            t.cx().cancel(id);
        }
        t.tick(0.1);
    };
    (0..50).for_each(|_| round(&mut t));
    let info = measure(|| (0..500).for_each(|_| round(&mut t)));
    assert_eq!(info.bytes_current, 0);
}

#[test]
fn flows_that_are_bound_by_a_question_and_end_leave_no_memory_behind() {
    let mut t = start();
    let round = |t: &mut Test| {
        for _ in 0..200 {
            let flow = Flow::new("short").world(t.world);
            let flow = flow.bound_while(|_: &C<'_>| true);
            flow.spawn(&mut t.cx(), async |_| Ok(())).unwrap();
        }
        t.tick(0.1);
    };
    (0..50).for_each(|_| round(&mut t));
    let info = measure(|| (0..500).for_each(|_| round(&mut t)));
    assert_eq!(info.bytes_current, 0);
}

#[test]
fn a_closure_that_panics_as_a_body_leaves_no_flow_and_its_slot_serves_the_next() {
    let mut t = start();
    let (w, owner) = (t.world, thing(&mut t));
    let told = t.host.log.clone();
    let text = caught(|| {
        let flow = Flow::new("unborn").world(w).owner(&owner);
        let flow = flow.on_finished(move |_: &mut C<'_>, f| told.add(format!("{f:?}")));
        let body = |_| -> std::future::Ready<Result<(), FlowError>> { panic!("no body") };
        flow.spawn(&mut t.cx(), body)
    });
    assert_eq!(text.as_deref(), Some("no body"));
    assert!(t.cx().flow_list().is_empty());
    told_story(&mut t, "next", async |fx| fx.next_tick().await);
    t.ticks(0.1, 2);
    assert_eq!(log(&t), ["Panicked", "2: next Completed"]);
    assert_eq!(t.cx().cancel_flows_of(&owner), 0);
    t.tick(0.1);
    owner.shutdown(&mut t.cx()).unwrap();
    t.tick(0.1);
}

#[test]
fn a_flow_may_run_another_runtime_in_its_turn() {
    let mut t = start();
    let inner = Rc::new(RefCell::new(start()));
    let theirs = Rc::clone(&inner);
    story(&mut t, "outer", async move |fx| {
        for _ in 0..3 {
            theirs.borrow_mut().tick(0.1);
            tell(&fx, "outer");
            fx.next_tick().await?;
        }
        Ok(())
    });
    story(&mut t, "behind", async move |fx| {
        fx.next_tick().await?;
        tell(&fx, "behind");
        Ok(())
    });
    {
        let inner = &mut *inner.borrow_mut();
        let w = inner.world;
        story(inner, "inner", async move |fx| {
            fx.next_tick().await?;
            tell(&fx, "inner");
            fx.with(|cx| cx.destroy_world(w))?;
            fx.next_tick().await
        });
    }
    t.ticks(0.1, 4);
    assert_eq!(log(&inner.borrow()), ["2: inner"]);
    assert_eq!(log(&t), ["1: outer", "2: outer", "2: behind", "3: outer"]);
}

#[test]
fn hundred_thousand_flows_started_and_ended_in_odd_orders_all_end_once() {
    let mut t = start();
    let (w, ended, turns) = (
        t.world,
        Rc::new(Cell::new(0_u32)),
        Rc::new(Cell::new(0_u32)),
    );
    let mut random = 12345_u64;
    let mut next = move |below: u64| {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (random >> 33) % below
    };
    let mut ids = Vec::new();
    let mut started = 0_u32;
    for _ in 0..200 {
        for _ in 0..500 {
            let (count, theirs) = (Rc::clone(&ended), Rc::clone(&turns));
            let flow = Flow::new("flow").world(w);
            let flow = flow.on_finished(move |_: &mut C<'_>, _| count.set(count.get() + 1));
            let kind = next(4);
            let id = flow.spawn(&mut t.cx(), async move |fx| {
                theirs.set(theirs.get() + 1);
                match kind {
                    0 => fx.delay(0.35).await,
                    1 => fx.ticks(3).await,
                    2 => {
                        yield_now().await;
                        fx.next_tick().await
                    }
                    _ => fx.delay(1000).await,
                }
            });
            ids.push(id.unwrap());
            started += 1;
        }
        for _ in 0..200 {
            let at = usize::try_from(next(ids.len() as u64)).unwrap();
            let id = ids.swap_remove(at);
            match next(3) {
                0 => drop(t.cx().cancel(id)),
                1 => drop(t.cx().pause_flow(id)),
                _ => drop(t.cx().resume_flow(id)),
            }
        }
        t.tick(0.1);
    }
    assert_eq!(started, 100_000);
    let live = u32::try_from(t.cx().flow_list().len()).unwrap();
    assert_eq!(ended.get() + live, 100_000);
    let live_now = usize::try_from(live).unwrap();
    assert_eq!(t.cx().cancel_flows_in(Some(w)), live_now);
    assert_eq!(ended.get(), 100_000);
    assert!(turns.get() <= 100_000);
    t.ticks(0.1, 3);
    assert!(t.cx().flow_list().is_empty());
}

#[test]
fn a_flow_bound_to_the_runtime_may_destroy_every_world_and_goes_on() {
    let mut t = start();
    let (w, w2) = (t.world, world(&mut t));
    for of in [w, w2] {
        let flow = Flow::new("in a world").world(of);
        let flow = flow.on_finished(|cx: &mut C<'_>, f| say(cx, format!("{f:?}")));
        flow.spawn(&mut t.cx(), async |fx| fx.delay(9).await)
            .unwrap();
    }
    Flow::new("above")
        .runtime()
        .spawn(&mut t.cx(), async move |fx| {
            fx.with(|cx| {
                cx.destroy_world(w);
                cx.destroy_world(w2);
                say(cx, "both marked");
            })?;
            fx.next_tick().await?;
            tell(&fx, "goes on");
            Ok(())
        })
        .unwrap();
    t.ticks(0.1, 3);
    assert_eq!(
        log(&t),
        ["1: both marked", "1: Aborted", "1: Aborted", "2: goes on"]
    );
}

#[test]
fn an_owner_that_ended_in_a_with_that_panics_ends_its_other_flows_before_their_turn() {
    let mut t = start();
    let (w, owner) = (t.world, thing(&mut t));
    let id = owner.id();
    story(&mut t, "story", async move |fx| {
        let caught = catch_unwind(AssertUnwindSafe(|| {
            fx.with(|cx| {
                cx.shutdown(id).unwrap();
                panic!("after it");
            })
        }));
        assert!(caught.is_err());
        fx.next_tick().await
    });
    Flow::new("owned")
        .world(w)
        .owner(&owner)
        .spawn(&mut t.cx(), async |fx| {
            tell(&fx, "a turn without its owner");
            Ok(())
        })
        .unwrap();
    t.tick(0.1);
    assert_eq!(log(&t), [""; 0]);
}

#[test]
fn a_panic_in_the_question_that_a_callback_asks_is_not_lost() {
    let mut t = start();
    t.rt.set_panic_policy(PanicPolicy::Isolate);
    let (w, bad) = (t.world, Rc::new(Cell::new(false)));
    let theirs = Rc::clone(&bad);
    ForEach::index(4)
        .items_per_tick(2)
        .each(move |_: &mut C<'_>, i| bad.set(i == 0))
        .bound_while(move |_: &C<'_>| {
            assert!(!theirs.replace(false), "the question");
            true
        })
        .world(w)
        .start(&mut t.cx())
        .unwrap();
    t.ticks(0.1, 3);
    assert_eq!(reports(&t), ["Panicked"]);
}

#[test]
fn a_closure_that_panics_as_a_body_has_its_cleanup_told() {
    let mut t = start();
    let (w, told) = (t.world, t.host.log.clone());
    let text = caught(|| {
        let flow = Flow::new("unborn").world(w);
        let flow = flow.on_finished(move |_: &mut C<'_>, f| told.add(format!("{f:?}")));
        let body = |_| -> std::future::Ready<Result<(), FlowError>> { panic!("no body") };
        flow.spawn(&mut t.cx(), body)
    });
    assert!(text.is_some());
    assert_eq!(log(&t), ["Panicked"]);
}

#[test]
fn what_panics_in_the_starting_call_is_isolated_by_the_policy_and_the_call_says_so() {
    let mut t = start();
    t.rt.set_panic_policy(PanicPolicy::Isolate);
    let w = t.world;
    let body = |_| -> std::future::Ready<Result<(), FlowError>> { panic!("no body") };
    let started = Flow::new("unborn").world(w).spawn(&mut t.cx(), body);
    assert!(matches!(started, Err(FlowError::Panicked)));
    let items = std::iter::from_fn(|| -> Option<u32> { panic!("no item") });
    let started = ForEach::items(items).each(|_: &mut C<'_>, _| ()).world(w);
    assert!(matches!(
        started.start(&mut t.cx()),
        Err(FlowError::Panicked)
    ));
    assert_eq!(reports(&t), ["Panicked", "Panicked"]);
    assert!(t.cx().flow_list().is_empty());
    t.tick(0.1);
}

#[test]
fn a_question_that_panics_at_the_start_has_the_cleanup_told() {
    let mut t = start();
    let (w, told) = (t.world, t.host.log.clone());
    let text = caught(|| {
        let flow = Flow::new("asked").world(w);
        let flow = flow.bound_while(|_: &C<'_>| panic!("the question"));
        let flow = flow.on_finished(move |_: &mut C<'_>, f| told.add(format!("{f:?}")));
        flow.spawn(&mut t.cx(), async |_| Ok(()))
    });
    assert_eq!(text.as_deref(), Some("the question"));
    assert_eq!(log(&t), ["Panicked"]);
}

#[test]
fn two_flows_that_await_each_other_are_warned_of_once() {
    let mut t = start();
    let other: Rc<Cell<Option<sc_flow::FlowId>>> = Rc::default();
    let of_b = Rc::clone(&other);
    let a = story(&mut t, "a", async move |fx| {
        fx.next_tick().await?;
        loop {
            let b = fx.flow(of_b.get().unwrap());
            let _ = race(b, fx.delay(1)).await;
        }
    });
    let between = story(&mut t, "between", async move |fx| {
        fx.flow(a).await.map(drop)
    });
    let b = story(&mut t, "b", async move |fx| {
        fx.flow(between).await.map(drop)
    });
    other.set(Some(b));
    t.ticks(0.5, 10);
    assert_eq!(reports(&t), ["AwaitCircle"]);
    let text = t.reports.take();
    assert!(text.is_empty());
}

#[test]
fn flows_that_await_one_another_in_a_row_are_no_circle() {
    let mut t = start();
    let a = story(&mut t, "a", async |fx| fx.delay(1).await);
    let b = story(&mut t, "b", async move |fx| fx.flow(a).await.map(drop));
    story(&mut t, "c", async move |fx| fx.flow(b).await.map(drop));
    told_story(&mut t, "d", async move |fx| {
        let (a, b) = sc_flow::join(fx.flow(a), fx.flow(b)).await;
        a.and(b).map(drop)
    });
    t.ticks(0.5, 4);
    assert_eq!(reports(&t), [""; 0]);
    assert_eq!(log(&t), ["2: d Completed"]);
}

#[test]
fn a_panic_of_a_refused_starts_cleanup_is_dealt_with_by_the_policy() {
    let mut t = start();
    t.rt.set_panic_policy(PanicPolicy::Isolate);
    let text = caught(|| {
        let flow = Flow::new("worldless");
        let flow = flow.on_finished(|_: &mut C<'_>, _| panic!("the cleanup"));
        flow.spawn(&mut t.cx(), async |_| Ok(())).is_err()
    });
    assert_eq!(text, None);
    assert_eq!(reports(&t), ["FlowWithoutWorld", "Panicked"]);
}

#[test]
fn an_item_that_panics_at_the_start_has_the_cleanup_told() {
    let mut t = start();
    let (w, told) = (t.world, t.host.log.clone());
    let text = caught(|| {
        let items = std::iter::from_fn(|| -> Option<u32> { panic!("no item") });
        ForEach::items(items)
            .each(|_: &mut C<'_>, _| ())
            .on_finished(move |_, f| told.add(format!("{f:?}")))
            .world(w)
            .start(&mut t.cx())
    });
    assert_eq!(text.as_deref(), Some("no item"));
    assert_eq!(log(&t), ["Panicked"]);
}

#[test]
fn an_error_told_to_an_awaiter_that_ends_before_its_turn_is_reported() {
    let mut t = start();
    let failing = story(&mut t, "failing", async |fx| {
        fx.next_tick().await?;
        Err(FlowError::other("no key"))
    });
    let waits = story(&mut t, "waits", async move |fx| {
        drop(fx.flow(failing).await);
        Ok(())
    });
    story(&mut t, "cancels", async move |fx| {
        fx.next_tick().await?;
        fx.with(|cx| assert!(cx.cancel(waits)))
    });
    t.ticks(0.1, 3);
    assert_eq!(reports(&t), ["FlowFailed"]);
}

#[test]
fn an_error_told_to_an_await_that_loses_its_race_is_reported() {
    let mut t = start();
    let failing = story(&mut t, "failing", async |fx| {
        fx.next_tick().await?;
        Err(FlowError::other("no key"))
    });
    story(&mut t, "races", async move |fx| {
        let won = race(fx.next_tick(), fx.flow(failing)).await;
        assert!(matches!(won, Either::First(Ok(()))));
        Ok(())
    });
    t.ticks(0.1, 3);
    assert_eq!(reports(&t), ["FlowFailed"]);
}

#[test]
fn the_report_of_work_that_panics_on_a_thread_names_its_flow() {
    let mut t = start();
    story(&mut t, "loads", async |fx| {
        let loaded = fx.run_on_thread(|| panic!("no file")).await;
        tell(&fx, matches!(loaded, Err(FlowError::Panicked)));
        Ok(())
    });
    while t.cx().flow_list().len() == 1 {
        t.tick(0.1);
        std::thread::yield_now();
    }
    let objects: Vec<_> = t.reports.take().into_iter().map(|r| r.object).collect();
    assert_eq!(objects, [Some("loads".to_owned())]);
}
