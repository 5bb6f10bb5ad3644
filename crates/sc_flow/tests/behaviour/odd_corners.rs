//! Odd corners: foreign wakers, pauses of clocks that others run through, what several waits of one flow say
//! of it, and what ended flows leave behind.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use crate::probe::{
    Bell, C, Game, Test, caught, log, reports, say, start, story, tell, thing, told_story,
};
use allocation_counter::measure;
use futures::future::FutureExt;
use futures::stream::{FuturesUnordered, StreamExt};
use sc_core::{Clock, PanicPolicy, Tickable, secs};
use sc_flow::{DoForDuration, Flow, FlowError, FlowExt, ForEach, WaitUntil, WaitingFor, race};

/// A waker that panics.
struct Bad;

impl Wake for Bad {
    fn wake(self: Arc<Self>) {
        panic!("the waker");
    }
}

/// A waker that does nothing.
struct Silent;

impl Wake for Silent {
    fn wake(self: Arc<Self>) {}
}

/// Rounds that leave nothing behind leave nothing behind however many there are.
fn leaves_nothing(t: &mut Test, mut round: impl FnMut(&mut Test)) {
    (0..50).for_each(|_| round(t));
    let info = measure(|| (0..500).for_each(|_| round(t)));
    assert_eq!(info.bytes_current, 0);
}

#[test]
fn flows_that_are_cancelled_while_they_run_every_frame_leave_no_memory_behind() {
    let mut t = start();
    leaves_nothing(&mut t, |t| {
        let busy = |t: &mut Test| {
            story(t, "busy", async |fx| {
                loop {
                    fx.next_tick().await?;
                }
            })
        };
        let ids: Vec<_> = (0..100).map(|_| busy(t)).collect();
        t.ticks(0.1, 2);
        for id in ids {
            t.cx().cancel(id);
        }
        t.tick(0.1);
    });
}

#[test]
fn two_foreign_wakers_that_panic_in_one_frame_abort_nothing() {
    let mut t = start();
    t.rt.set_panic_policy(PanicPolicy::Isolate);
    for _ in 0..2 {
        story(&mut t, "bad", async move |fx| {
            let waker = Waker::from(Arc::new(Bad));
            let mut wait = pin!(fx.delay(0.2));
            let polled = wait.as_mut().poll(&mut Context::from_waker(&waker));
            assert!(polled.is_pending());
            fx.delay(100).await
        });
    }
    story(&mut t, "good", async move |fx| {
        fx.delay(0.2).await?;
        tell(&fx, "went on");
        Ok(())
    });
    t.ticks(0.1, 4);
    assert_eq!(log(&t).len(), 1);
}

#[test]
fn a_waker_that_panics_at_a_flows_end_keeps_nobody_from_the_cleanup() {
    let mut t = start();
    t.rt.set_panic_policy(PanicPolicy::Isolate);
    let ends = told_story(&mut t, "ends", async |fx| fx.next_tick().await);
    story(&mut t, "bad", async move |fx| {
        let waker = Waker::from(Arc::new(Bad));
        let mut end = pin!(fx.flow(ends));
        let polled = end.as_mut().poll(&mut Context::from_waker(&waker));
        assert!(polled.is_pending());
        fx.delay(100).await
    });
    t.ticks(0.1, 3);
    assert_eq!(log(&t), ["2: ends Completed"]);
    assert_eq!(reports(&t), ["Panicked"]);
}

#[test]
fn frames_of_a_clock_that_runs_go_on_in_a_paused_world_under_a_foreign_waker_too() {
    let mut t = start();
    let w = t.world;
    story(&mut t, "foreign", async move |fx| {
        let mut waits = FuturesUnordered::new();
        let drive = fx.do_for_duration(0.5, |cx: &mut C<'_>, alpha, _| say(cx, alpha));
        waits.push(drive.on(Clock::Real));
        waits.next().await.unwrap()
    });
    t.tick(0.25);
    t.cx().set_paused(w, true).unwrap();
    t.tick(0.25);
    assert_eq!(log(&t), ["1: 0.5", "2: 1"]);
}

#[test]
fn a_foreign_wait_that_is_over_runs_though_its_flow_is_held_by_the_pause() {
    let (mut t, bell) = (start(), Bell::default());
    let (w, theirs) = (t.world, bell.clone());
    story(&mut t, "story", async move |fx| {
        let mut waits = FuturesUnordered::new();
        waits.push(fx.delay(0.75).on(Clock::Real));
        let real = async {
            waits.next().await.unwrap().unwrap();
            tell(&fx, "real");
        };
        sc_flow::join(theirs.wait(), real).await;
        Ok(())
    });
    t.tick(0.25);
    t.cx().set_paused(w, true).unwrap();
    bell.ring();
    t.ticks(0.25, 2);
    assert_eq!(log(&t), ["3: real"]);
}

#[test]
fn a_foreign_wait_that_is_over_comes_before_the_woken_though_its_flow_was_woken_too() {
    let (mut t, x, y) = (start(), Bell::default(), Bell::default());
    let bell = x.clone();
    story(&mut t, "x", async move |fx| {
        let mut waits = FuturesUnordered::new();
        waits.push(fx.delay(0.5));
        let over = async {
            waits.next().await.unwrap().unwrap();
            tell(&fx, "wait over");
        };
        sc_flow::join(bell.wait(), over).await;
        Ok(())
    });
    let bell = y.clone();
    story(&mut t, "y", async move |fx| {
        bell.wait().await;
        tell(&fx, "woken");
        Ok(())
    });
    t.tick(0.25);
    y.ring();
    x.ring();
    t.tick(0.25);
    assert_eq!(log(&t), ["2: wait over", "2: woken"]);
}

#[test]
fn a_wait_on_a_clock_that_runs_is_not_held_by_a_pause_after_a_panic_before_its_turn() {
    let mut t = start();
    let w = t.world;
    story(&mut t, "bad", async move |fx| {
        fx.delay(0.5).on(Clock::Real).await?;
        panic!("once")
    });
    story(&mut t, "good", async move |fx| {
        fx.delay(0.5).on(Clock::Real).await?;
        tell(&fx, "real");
        Ok(())
    });
    t.tick(0.25);
    t.cx().set_paused(w, true).unwrap();
    assert!(caught(|| t.tick(0.25)).is_some());
    t.tick(0.25);
    assert_eq!(log(&t), ["3: real"]);
}

#[test]
fn a_wait_that_polls_seldom_is_warned_of_though_a_sibling_ends_often() {
    let mut t = start();
    story(&mut t, "story", async move |fx| {
        let open = fx.wait_until(|_, _| false).every(5);
        let others = async {
            loop {
                fx.delay(2).await?;
            }
            #[allow(unreachable_code)]
            Ok::<(), FlowError>(())
        };
        let _ = race(open, others).await;
        Ok(())
    });
    t.ticks(1, 40);
    let made = t.reports.take();
    assert_eq!(made.len(), 1);
    assert!(
        made[0].what.contains("without deadline for 30s"),
        "{}",
        made[0].what
    );
}

#[test]
fn of_two_waits_the_one_that_is_left_is_listed_and_warned_of() {
    let mut t = start();
    let id = story(&mut t, "story", async move |fx| {
        let fx = &fx;
        let late = async {
            fx.delay(2).await?;
            fx.wait_until(|_, _| false).every(3600).await.map(drop)
        };
        let early = async {
            fx.wait_until(|cx: &mut C<'_>, _| cx.host().open)
                .await
                .map(drop)
        };
        let (a, b) = sc_flow::join(late, early).await;
        a.and(b)
    });
    t.ticks(1, 10);
    t.host.open = true;
    t.ticks(1, 2);
    assert_eq!(t.cx().flow(id).unwrap().waiting_for, WaitingFor::Condition);
    t.ticks(1, 33);
    assert_eq!(reports(&t), ["EndlessWait"]);
}

#[test]
fn an_awaited_condition_whose_clock_stands_hears_after_the_pause_that_its_object_is_gone() {
    let mut t = start();
    let (w, object) = (t.world, thing(&mut t));
    let id = object.id();
    let flow = Flow::new("story").world(w).clock(Clock::Real);
    let started = flow.spawn(&mut t.cx(), async move |fx| {
        let wait = fx.wait_until(|_, _| false).every(3600).on(Clock::Game);
        let end = wait.condition_of(id).await?;
        tell(&fx, format!("{end:?}"));
        Ok(())
    });
    started.unwrap();
    t.tick(0.1);
    t.cx().set_paused(w, true).unwrap();
    object.shutdown(&mut t.cx()).unwrap();
    t.tick(0.1);
    t.cx().set_paused(w, false).unwrap();
    t.ticks(0.1, 2);
    assert_eq!(log(&t), ["3: TimedOut"]);
}

#[test]
fn a_condition_asleep_for_an_hour_hears_in_the_next_frame_that_its_object_is_gone() {
    let mut t = start();
    let (w, object) = (t.world, thing(&mut t));
    let id = object.id();
    WaitUntil::condition_of(&object, |_: &mut C<'_>, _| false)
        .every(3600)
        .timed_out(|cx| say(cx, "builder"))
        .world(w)
        .start(&mut t.cx())
        .unwrap();
    story(&mut t, "story", async move |fx| {
        let wait = fx.wait_until(|_, _| false).every(3600);
        wait.condition_of(id).await?;
        tell(&fx, "async");
        Ok(())
    });
    t.tick(0.1);
    object.shutdown(&mut t.cx()).unwrap();
    t.tick(0.1);
    assert_eq!(log(&t), ["2: builder", "2: async"]);
}

/// An object whose shutdown panics.
struct PanicsAtTheEnd;

impl Tickable<Game> for PanicsAtTheEnd {
    fn shutdown(&mut self, _: &mut C<'_>) {
        panic!("its shutdown");
    }
}

#[test]
fn a_teardown_that_panics_in_an_immediate_poll_still_has_the_cleanup_told() {
    let mut t = start();
    let (w, told) = (t.world, t.host.log.clone());
    t.cx().spawn_world_owned(w, PanicsAtTheEnd).unwrap();
    let text = caught(|| {
        WaitUntil::new(move |cx: &mut C<'_>, _| cx.destroy_world(w))
            .check_immediately()
            .on_finished(move |_, f| told.add(format!("{f:?}")))
            .world(w)
            .start(&mut t.cx())
    });
    assert_eq!(text.as_deref(), Some("its shutdown"));
    assert_eq!(log(&t), ["Aborted"]);
}

#[test]
fn an_immediate_poll_that_panics_leaves_no_bond_behind() {
    let mut t = start();
    t.rt.set_panic_policy(PanicPolicy::Isolate);
    let object = thing(&mut t);
    let id = object.id();
    leaves_nothing(&mut t, |t| {
        for _ in 0..100 {
            story(t, "bad", async move |fx| {
                let wait = fx.wait_until(|_, _| std::panic::resume_unwind(Box::new(())));
                wait.condition_of(id).check_immediately().await.map(drop)
            });
        }
        t.tick(0.1);
        drop(t.reports.take());
    });
}

#[test]
fn waits_that_have_ended_leave_nothing_with_the_watch() {
    let mut t = start();
    t.cx().set_wait_until_warning(secs(1e6)).unwrap();
    leaves_nothing(&mut t, |t| {
        for _ in 0..100 {
            let wait = WaitUntil::new(|_: &mut C<'_>, attempt| attempt == 1).world(t.world);
            wait.start(&mut t.cx()).unwrap();
        }
        t.ticks(0.1, 2);
    });
}

#[test]
fn an_error_told_to_an_await_that_is_dropped_in_a_with_is_reported() {
    let mut t = start();
    let failing = story(&mut t, "failing", async |fx| {
        fx.next_tick().await?;
        Err(FlowError::other("no key"))
    });
    story(&mut t, "story", async move |fx| {
        let mut end = Box::pin(fx.flow(failing));
        assert!(end.as_mut().now_or_never().is_none());
        fx.ticks(2).await?;
        fx.with(|_| drop(end))
    });
    t.ticks(0.1, 4);
    assert_eq!(reports(&t), ["FlowFailed"]);
}

#[test]
fn case_e29_a_next_tick_that_is_dropped_keeps_no_waker() {
    let mut t = start();
    let silent = Arc::new(Silent);
    let theirs = Arc::clone(&silent);
    story(&mut t, "story", async move |fx| {
        let waker = Waker::from(theirs);
        let mut tick = Box::pin(fx.next_tick());
        let polled = tick.as_mut().poll(&mut Context::from_waker(&waker));
        assert!(polled.is_pending());
        drop((tick, waker));
        fx.delay(100).await
    });
    t.tick(0.1);
    assert_eq!(Arc::strong_count(&silent), 1);
}

#[test]
fn a_next_tick_under_a_foreign_waker_ends_in_the_next_frame_also_if_polled_before() {
    let mut t = start();
    story(&mut t, "story", async move |fx| {
        let waker = Waker::from(Arc::new(Silent));
        let mut tick = pin!(fx.next_tick());
        for _ in 0..3 {
            let polled = tick.as_mut().poll(&mut Context::from_waker(&waker));
            assert!(polled.is_pending());
        }
        tick.await?;
        tell(&fx, "over");
        Ok(())
    });
    t.ticks(0.1, 3);
    assert_eq!(log(&t), ["2: over"]);
}

#[test]
fn a_wait_after_a_loop_over_nothing_counts_from_the_frame_that_makes_it() {
    let mut t = start();
    story(&mut t, "story", async |fx| {
        fx.for_each_with_delay(0, 1, async |_| ()).await?;
        fx.delay(0.25).await?;
        tell(&fx, "over");
        Ok(())
    });
    t.ticks(0.25, 3);
    assert_eq!(log(&t), ["2: over"]);
}

#[test]
fn a_wait_after_the_join_of_an_ended_task_counts_from_the_frame_that_makes_it() {
    let mut t = start();
    let w = t.world;
    let flow = Flow::new("sum").world(w);
    let task = flow.spawn_task(&mut t.cx(), async |_| 1).unwrap();
    t.tick(0.25);
    story(&mut t, "story", async move |fx| {
        task.join(&fx).await?;
        fx.delay(0.25).await?;
        tell(&fx, "over");
        Ok(())
    });
    t.ticks(0.25, 3);
    assert_eq!(log(&t), ["3: over"]);
}

#[test]
fn a_wait_whose_binding_is_gone_is_aborted_and_not_warned_of() {
    let mut t = start();
    let w = t.world;
    WaitUntil::new(|_: &mut C<'_>, _| false)
        .bound_while(|cx: &C<'_>| !cx.host().open)
        .on_finished(|cx, f| say(cx, format!("{f:?}")))
        .world(w)
        .start(&mut t.cx())
        .unwrap();
    t.ticks(1, 30);
    t.host.open = true;
    t.tick(1);
    assert_eq!(log(&t), ["31: Aborted"]);
    assert_eq!(reports(&t), [""; 0]);
}

#[test]
fn a_paused_flow_waits_for_its_resume_since_it_was_paused() {
    let mut t = start();
    let id = story(&mut t, "story", async |fx| fx.delay(100).await);
    t.ticks(1, 10);
    t.cx().pause_flow(id);
    t.ticks(1, 2);
    let info = t.cx().flow(id).unwrap();
    assert_eq!(
        (info.waiting_for, info.waiting),
        (WaitingFor::Resume, Duration::from_secs(2))
    );
}

#[test]
fn long_rows_of_flows_that_await_one_another_are_started_quickly_either_way_round() {
    let mut t = start();
    // Each awaits the one before: were they walked whole each time, this would not end.
    let mut before = story(&mut t, "first", async |fx| fx.delay(1).await);
    for _ in 0..20_000 {
        before = story(&mut t, "next", async move |fx| {
            fx.flow(before).await.map(drop)
        });
    }
    let gate = before;
    for _ in 0..20_000 {
        story(&mut t, "awaits the last", async move |fx| {
            fx.flow(gate).await.map(drop)
        });
    }
    t.ticks(0.5, 4);
    assert_eq!(reports(&t), [""; 0]);
    assert!(t.cx().flow_list().is_empty());
}

#[test]
fn a_drive_in_a_paused_world_on_its_own_clock_is_a_drive() {
    // The builder's form of a foreign wait on a clock that runs.
    let mut t = start();
    let w = t.world;
    let drive = DoForDuration::new(0.5, |cx: &mut C<'_>, alpha, _| say(cx, alpha));
    let drive = drive.clock(Clock::Real).world(w);
    drive.start(&mut t.cx()).unwrap();
    t.tick(0.25);
    t.cx().set_paused(w, true).unwrap();
    t.tick(0.25);
    assert_eq!(log(&t), ["1: 0.5", "2: 1"]);
}

#[test]
fn a_builder_waits_for_the_end_of_a_flow_for_whatever_reason() {
    let mut t = start();
    let w = t.world;
    let sleeps = story(&mut t, "sleeps", async |fx| fx.delay(100).await);
    WaitUntil::ended(sleeps)
        .satisfied(|cx: &mut C<'_>| say(cx, "it has ended"))
        .world(w)
        .start(&mut t.cx())
        .unwrap();
    t.ticks(0.1, 2);
    t.cx().cancel(sleeps);
    t.tick(0.1);
    assert_eq!(log(&t), ["3: it has ended"]);
    WaitUntil::ended(sleeps)
        .check_immediately()
        .satisfied(|cx: &mut C<'_>| say(cx, "long since"))
        .world(w)
        .start(&mut t.cx())
        .unwrap();
    assert_eq!(log(&t), ["3: long since"]);
}

#[test]
fn a_builder_takes_what_a_thread_has_made_and_hears_of_its_panic() {
    let mut t = start();
    let w = t.world;
    let works = WaitUntil::on_thread(
        || std::thread::current().id(),
        |cx: &mut C<'_>, id| {
            let is_another = id.is_ok_and(|id| id != std::thread::current().id());
            cx.host_mut().open = is_another;
        },
    );
    let works = works.satisfied(|cx| cx.host().log.add("satisfied"));
    works.world(w).start(&mut t.cx()).unwrap();
    let panics = WaitUntil::on_thread(
        || panic!("the work"),
        |cx: &mut C<'_>, result: Result<(), FlowError>| {
            assert!(matches!(result, Err(FlowError::Panicked)));
            cx.host().log.add("no result");
        },
    );
    let panics = panics.name("works");
    panics.world(w).start(&mut t.cx()).unwrap();
    while !t.cx().flow_list().is_empty() {
        // However long the threads take, no wait is long in the game.
        t.tick(1e-9);
        std::thread::yield_now();
    }
    let mut told = log(&t);
    told.sort();
    assert_eq!(told, ["no result", "satisfied"]);
    assert!(t.host.open);
    let made = t.reports.take();
    assert_eq!(made.len(), 1);
    assert_eq!(made[0].what, "work on a thread panicked: the work");
}

#[test]
fn a_node_knows_in_its_own_callback_how_far_it_has_come() {
    let mut t = start();
    let w = t.world;
    let progress = |cx: &mut C<'_>| {
        let me = cx.host().flow.unwrap();
        let progress = cx.flow(me).unwrap().progress;
        say(cx, format!("{progress:?}"));
    };
    let id = ForEach::index(3).each(move |cx: &mut C<'_>, _| progress(cx));
    t.host.flow = Some(id.world(w).start(&mut t.cx()).unwrap());
    t.tick(0.1);
    let drive = DoForDuration::new(0.4, move |cx: &mut C<'_>, _, _| progress(cx));
    t.host.flow = Some(drive.shape(|_| 7.0).world(w).start(&mut t.cx()).unwrap());
    t.cx().cancel_flows_named("for each");
    t.tick(0.1);
    t.cx().cancel_flows_named("do for duration");
    let wait = WaitUntil::new(move |cx: &mut C<'_>, _| {
        progress(cx);
        true
    });
    t.host.flow = Some(wait.world(w).start(&mut t.cx()).unwrap());
    t.tick(0.1);
    assert_eq!(
        log(&t),
        [
            "1: Index { next: 1, of: Some(3) }",
            "2: Alpha(0.25)",
            "3: Attempts(1)"
        ]
    );
}
