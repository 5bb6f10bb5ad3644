//! How flows end: the finish table, callbacks, cancels from outside and inside, stale ids.

use crate::probe::{
    Bell, C, Game, Guard, Test, caught, guard, log, reports, say, start, story, tell, told_story,
};
use sc_core::PanicPolicy;
use sc_flow::{
    DoForDuration, Flow, FlowError, FlowExt, FlowFinish, FlowId, ForEach, Step, WaitUntil,
};

/// A loop that tells how it ends.
fn told_loop(t: &mut Test, body: impl FnMut(&mut C<'_>, usize) -> Step + 'static) -> FlowId {
    let w = t.world;
    ForEach::index(3)
        .each(body)
        .completed(|cx: &mut C<'_>, f| say(cx, format!("completed {f:?}")))
        .on_finished(|cx: &mut C<'_>, f| say(cx, format!("finished {f:?}")))
        .world(w)
        .start(&mut t.cx())
        .unwrap()
}

/// A wait that tells how it ends.
fn told_wait(t: &mut Test, timeout: f64) -> FlowId {
    let w = t.world;
    WaitUntil::new(|cx: &mut C<'_>, _| cx.host().open)
        .timeout(timeout)
        .satisfied(|cx| say(cx, "satisfied"))
        .timed_out(|cx| say(cx, "timed out"))
        .cancelled(|cx| say(cx, "cancelled"))
        .on_finished(|cx: &mut C<'_>, f| say(cx, format!("finished {f:?}")))
        .world(w)
        .start(&mut t.cx())
        .unwrap()
}

#[test]
fn completed_reaches_completed_and_finished_once() {
    let mut t = start();
    told_loop(&mut t, |_, _| Step::Continue);
    t.ticks(0.1, 4);
    assert_eq!(log(&t), ["3: completed Completed", "3: finished Completed"]);
    t.host.open = true;
    told_wait(&mut t, 0.0);
    t.ticks(0.1, 2);
    assert_eq!(log(&t), ["5: satisfied", "5: finished Completed"]);
}

#[test]
fn broken_reaches_completed_with_the_reason() {
    let mut t = start();
    told_loop(&mut t, |cx, i| {
        say(cx, i);
        if i == 1 { Step::Break } else { Step::Continue }
    });
    t.ticks(0.1, 4);
    assert_eq!(
        log(&t),
        ["1: 0", "2: 1", "2: completed Broken", "2: finished Broken"]
    );
}

#[test]
fn cancelled_from_outside_has_run_its_callbacks_when_the_call_returns() {
    let mut t = start();
    let flow = told_loop(&mut t, |_, _| Step::Continue);
    t.tick(0.1);
    assert!(t.cx().cancel(flow));
    assert_eq!(log(&t), ["1: completed Cancelled", "1: finished Cancelled"]);
    let flow = told_wait(&mut t, 0.0);
    assert!(t.cx().cancel(flow));
    assert_eq!(log(&t), ["1: cancelled", "1: finished Cancelled"]);
    t.ticks(0.1, 3);
    assert_eq!(log(&t), [""; 0]);
}

#[test]
fn timed_out_reaches_timed_out() {
    let mut t = start();
    told_wait(&mut t, 0.2);
    t.ticks(0.1, 3);
    assert_eq!(log(&t), ["2: timed out", "2: finished TimedOut"]);
}

#[test]
fn aborted_reaches_no_gameplay_callback() {
    let mut t = start();
    told_loop(&mut t, |_, _| Step::Continue);
    told_wait(&mut t, 0.0);
    t.tick(0.1);
    let w = t.world;
    t.cx().destroy_world(w);
    assert_eq!(
        log(&t),
        ["1: finished Aborted"; 2],
        "and only the cleanup of each"
    );
    t.tick(0.1);
    assert_eq!(log(&t), [""; 0]);
}

#[test]
fn panicked_reaches_no_gameplay_callback_and_is_reported_once() {
    let mut t = start();
    t.rt.set_panic_policy(PanicPolicy::Isolate);
    told_loop(&mut t, |_, _| panic!("in the body"));
    told_story(&mut t, "story", async |_| panic!("in the story"));
    t.ticks(0.1, 2);
    assert_eq!(log(&t), ["1: finished Panicked", "1: story Panicked"]);
    let made = t.reports.take();
    let objects: Vec<_> = made.iter().filter_map(|r| r.object.as_deref()).collect();
    assert_eq!(objects, ["flow `for each`", "flow `story`"]);
    assert!(made.iter().all(|r| r.world.as_deref() == Some("game 1")));
}

#[test]
fn a_panic_goes_on_out_of_the_tick_and_everything_else_stays_intact() {
    let mut t = start();
    let sleeper = |t: &mut Test, name: &'static str, panics: bool| {
        told_story(t, name, async move |fx| {
            fx.delay(0.2).await?;
            assert!(!panics, "on purpose");
            Ok(())
        });
    };
    sleeper(&mut t, "a", false);
    sleeper(&mut t, "b", true);
    sleeper(&mut t, "c", false);
    sleeper(&mut t, "d", false);
    t.tick(0.1);
    assert_eq!(caught(|| t.tick(0.1)).as_deref(), Some("on purpose"));
    assert_eq!(log(&t), ["2: a Completed", "2: b Panicked"]);
    t.tick(0.1);
    assert_eq!(
        log(&t),
        ["3: c Completed", "3: d Completed"],
        "their waits were over in the frame that was cut short"
    );
}

#[test]
fn a_panic_loses_neither_the_woken_nor_those_that_run_every_frame() {
    let mut t = start();
    let bells = [Bell::default(), Bell::default()];
    for (i, bell) in bells.iter().cloned().enumerate() {
        story(&mut t, "woken", async move |fx| {
            bell.wait().await;
            assert!(i == 1, "on purpose");
            tell(&fx, "woken");
            Ok(())
        });
    }
    story(&mut t, "every", async |fx| {
        loop {
            tell(&fx, "every");
            fx.next_tick().await?;
        }
    });
    t.tick(0.1);
    bells.iter().for_each(Bell::ring);
    assert_eq!(caught(|| t.tick(0.1)).as_deref(), Some("on purpose"));
    log(&t);
    t.ticks(0.1, 2);
    assert_eq!(log(&t), ["3: woken", "3: every", "4: every"]);
}

#[test]
fn a_finish_callback_that_panics_is_still_followed_by_the_cleanup() {
    let mut t = start();
    let w = t.world;
    t.rt.set_panic_policy(PanicPolicy::Isolate);
    ForEach::index(1)
        .each(|_: &mut C<'_>, _| ())
        .completed(|_, _| panic!("in completed"))
        .on_finished(|cx: &mut C<'_>, f| say(cx, format!("finished {f:?}")))
        .world(w)
        .start(&mut t.cx())
        .unwrap();
    t.tick(0.1);
    assert_eq!(log(&t), ["1: finished Completed"]);
    assert_eq!(reports(&t), ["Panicked"]);
    assert!(t.cx().flow_list().is_empty());
}

#[test]
fn cancelled_from_its_own_body_it_ends_when_that_returns_and_the_cancel_wins() {
    let mut t = start();
    for answer in [Step::Continue, Step::Break, Step::Suspend] {
        let flow = told_loop(&mut t, move |cx, i| {
            let me = cx.host().flow.unwrap();
            assert!(cx.cancel(me));
            assert!(!cx.cancel(me), "the second is a quiet no-op");
            say(cx, format!("body {i}"));
            answer
        });
        t.host.flow = Some(flow);
        t.ticks(0.1, 2);
        let lines = log(&t);
        let lines: Vec<_> = lines.iter().map(|l| &l[3..]).collect();
        assert_eq!(
            lines,
            ["body 0", "completed Cancelled", "finished Cancelled"]
        );
    }
    assert!(t.reports.take().is_empty());
}

#[test]
fn cancelled_from_its_own_condition_update_or_poll_the_cancel_wins_over_the_answer() {
    let mut t = start();
    let w = t.world;
    let finished = |cx: &mut C<'_>, f| say(cx, format!("{f:?}"));
    let end_me = |cx: &mut C<'_>| {
        let me = cx.host().flow.unwrap();
        cx.cancel(me);
    };
    let wait = WaitUntil::new(move |cx: &mut C<'_>, _| {
        end_me(cx);
        true
    });
    let wait = wait.satisfied(|cx| say(cx, "satisfied"));
    let wait = wait.on_finished(finished).world(w);
    t.host.flow = Some(wait.start(&mut t.cx()).unwrap());
    t.tick(0.1);
    let drive = DoForDuration::new(0, move |cx: &mut C<'_>, _, _| end_me(cx));
    let drive = drive.on_finished(finished).world(w);
    t.host.flow = Some(drive.start(&mut t.cx()).unwrap());
    t.tick(0.1);
    let flow = Flow::new("poll").on_finished(finished).world(w);
    let flow = flow.spawn(&mut t.cx(), async move |fx| {
        fx.with(end_me)?;
        Ok(())
    });
    t.host.flow = Some(flow.unwrap());
    t.tick(0.1);
    assert_eq!(log(&t), ["1: Cancelled", "2: Cancelled", "3: Cancelled"]);
}

#[test]
fn a_batch_ends_with_the_item_that_cancelled_it() {
    let mut t = start();
    let w = t.world;
    let flow = ForEach::index(5)
        .items_per_tick(5)
        .each(|cx: &mut C<'_>, i| {
            say(cx, i);
            if i == 1 {
                let me = cx.host().flow.unwrap();
                cx.cancel(me);
            }
        })
        .world(w)
        .start(&mut t.cx())
        .unwrap();
    t.host.flow = Some(flow);
    t.ticks(0.1, 2);
    assert_eq!(log(&t), ["1: 0", "1: 1"]);
}

#[test]
fn cancelled_in_its_own_poll_the_future_goes_on_until_it_yields_and_is_dropped_then() {
    let mut t = start();
    let held = guard(&t, "guard");
    let flow = told_story(&mut t, "story", async move |fx| {
        let _held = held;
        fx.with(|cx| {
            let me = cx.host().flow.unwrap();
            assert!(cx.cancel(me));
            say(cx, "cancelled");
        })?;
        tell(&fx, "still here");
        fx.next_tick().await?;
        tell(&fx, "never");
        Ok(())
    });
    t.host.flow = Some(flow);
    t.ticks(0.1, 2);
    assert_eq!(
        log(&t),
        [
            "1: cancelled",
            "1: still here",
            "drop guard",
            "1: story Cancelled"
        ]
    );
}

#[test]
fn cancelled_from_outside_the_future_is_dropped_at_once_and_its_body_does_not_go_on() {
    let mut t = start();
    let held = guard(&t, "guard");
    let flow = told_story(&mut t, "story", async move |fx| {
        let _held = held;
        fx.next_tick().await?;
        tell(&fx, "never");
        Ok(())
    });
    t.tick(0.1);
    assert!(t.cx().cancel(flow));
    assert_eq!(log(&t), ["drop guard", "1: story Cancelled"]);
    t.tick(0.1);
    assert_eq!(log(&t), [""; 0]);
}

#[test]
fn cancelled_before_its_first_turn_it_never_runs() {
    let mut t = start();
    let flow = told_story(&mut t, "story", async |fx| {
        tell(&fx, "never");
        Ok(())
    });
    assert!(t.cx().cancel(flow));
    t.tick(0.1);
    assert_eq!(log(&t), ["0: story Cancelled"]);
}

#[test]
fn a_flow_that_another_one_cancels_earlier_in_the_stage_has_no_turn() {
    let mut t = start();
    story(&mut t, "first", async |fx| {
        fx.with(|cx| {
            let other = cx.host().flow.unwrap();
            cx.cancel(other);
        })?;
        tell(&fx, "first");
        Ok(())
    });
    let other = told_story(&mut t, "other", async |fx| {
        tell(&fx, "never");
        Ok(())
    });
    t.host.flow = Some(other);
    t.tick(0.1);
    assert_eq!(log(&t), ["1: other Cancelled", "1: first"]);
}

#[test]
fn in_its_finish_callbacks_a_flow_reads_as_finished() {
    let mut t = start();
    let w = t.world;
    let look = |cx: &mut C<'_>| {
        let me = cx.host().flow.unwrap();
        assert!(matches!(cx.flow(me), Err(FlowError::Gone)));
        assert!(!cx.cancel(me) && !cx.continue_loop(me) && !cx.pause_flow(me));
        assert!(!cx.resume_flow(me));
        assert!(cx.flow_list().is_empty());
        say(cx, "finished");
    };
    let flow = ForEach::index(1)
        .each(|_: &mut C<'_>, _| ())
        .completed(move |cx, _| look(cx))
        .on_finished(move |cx, _| look(cx))
        .world(w)
        .start(&mut t.cx())
        .unwrap();
    t.host.flow = Some(flow);
    t.tick(0.1);
    assert_eq!(log(&t), ["1: finished", "1: finished"]);
}

#[test]
fn a_stale_id_is_inert_also_when_its_slot_is_used_again() {
    let mut t = start();
    let old = told_loop(&mut t, |_, _| Step::Suspend);
    t.tick(0.1);
    t.cx().cancel(old);
    log(&t);
    let new = told_loop(&mut t, |_, _| Step::Suspend);
    assert_ne!(old, new);
    t.tick(0.1);
    let mut cx = t.cx();
    assert!(!cx.cancel(old) && !cx.continue_loop(old));
    assert!(!cx.pause_flow(old) && !cx.resume_flow(old));
    assert!(matches!(cx.flow(old), Err(FlowError::Gone)));
    assert!(cx.flow(new).is_ok());
    assert_eq!(log(&t), [""; 0]);
    assert!(t.reports.take().is_empty());
}

#[test]
fn flows_are_cancelled_by_world_and_by_name_in_order_of_start() {
    let mut t = start();
    let (w, other) = (t.world, crate::probe::world(&mut t));
    let spawn = |t: &mut Test, name: &'static str, number: u32, flow: Flow<Game>| {
        let flow =
            flow.on_finished(move |cx: &mut C<'_>, f| say(cx, format!("{name}{number} {f:?}")));
        flow.spawn(&mut t.cx(), async |fx| fx.delay(9).await)
            .unwrap();
    };
    spawn(&mut t, "a", 1, Flow::new("a").world(w));
    spawn(&mut t, "b", 2, Flow::new("b").world(w));
    spawn(&mut t, "a", 3, Flow::new("a").world(other));
    spawn(&mut t, "b", 4, Flow::new("b").runtime());
    spawn(&mut t, "c", 5, Flow::new("c").world(w));
    t.tick(0.1);
    assert_eq!(t.cx().cancel_flows_named("a"), 2);
    assert_eq!(log(&t), ["1: a1 Cancelled", "1: a3 Cancelled"]);
    assert_eq!(t.cx().cancel_flows_named("nobody"), 0);
    assert_eq!(t.cx().cancel_flows_in(Some(w)), 2);
    assert_eq!(log(&t), ["1: b2 Cancelled", "1: c5 Cancelled"]);
    assert_eq!(t.cx().cancel_flows_in(None), 1);
    assert_eq!(log(&t), ["1: b4 Cancelled"]);
}

#[test]
fn an_error_nobody_takes_is_reported_once() {
    let mut t = start();
    story(&mut t, "fails", async |fx| {
        fx.next_tick().await?;
        Err(FlowError::other("the door is missing"))
    });
    t.ticks(0.1, 3);
    let made = t.reports.take();
    assert_eq!(made.len(), 1);
    assert_eq!(made[0].object.as_deref(), Some("fails"));
    assert!(made[0].what.contains("the door is missing"));
}

#[test]
fn an_error_of_an_awaited_flow_is_the_awaiters_or_is_reported_but_never_lost() {
    let mut t = start();
    let inner = story(&mut t, "fails", async |fx| {
        fx.next_tick().await?;
        Err(FlowError::other("the door is missing"))
    });
    story(&mut t, "awaiter", async move |fx| {
        if fx.flow(inner).await.is_err() {
            tell(&fx, "told");
        }
        Ok(())
    });
    t.ticks(0.1, 3);
    let (told, reported) = (log(&t).len(), reports(&t).len());
    assert_eq!(told + reported, 1, "told {told}, reported {reported}");
}

#[test]
fn an_error_is_reported_when_its_awaiter_has_given_up() {
    let mut t = start();
    let inner = story(&mut t, "fails", async |fx| {
        fx.delay(0.4).await?;
        Err(FlowError::other("the door is missing"))
    });
    story(&mut t, "impatient", async move |fx| {
        assert!(fx.timeout(0.2, fx.flow(inner)).await?.is_none());
        fx.delay(9).await
    });
    t.ticks(0.1, 5);
    assert_eq!(reports(&t), ["FlowFailed"]);
}

#[test]
fn an_error_of_a_flow_that_was_cancelled_in_the_same_turn_is_not_reported() {
    let mut t = start();
    let flow = told_story(&mut t, "story", async |fx| {
        fx.with(|cx| {
            let me = cx.host().flow.unwrap();
            cx.cancel(me);
        })?;
        Err(FlowError::other("too late"))
    });
    t.host.flow = Some(flow);
    t.tick(0.1);
    assert_eq!(log(&t), ["1: story Cancelled"]);
    assert_eq!(reports(&t), [""; 0], "the cancel wins over the answer");
}

#[test]
fn an_awaiter_gets_what_the_finish_table_says() {
    let mut t = start();
    t.rt.set_panic_policy(PanicPolicy::Isolate);
    let w = t.world;
    let doomed = crate::probe::world(&mut t);
    let in_world = |t: &mut Test, world| {
        let flow = Flow::new("sleeper").world(world);
        flow.spawn(&mut t.cx(), async |fx| fx.delay(9).await)
            .unwrap()
    };
    let done = story(&mut t, "done", async |fx| fx.delay(0.2).await);
    let broken = ForEach::index(5)
        .delay(0.1)
        .each(|_: &mut C<'_>, i| if i == 1 { Step::Break } else { Step::Continue })
        .world(w)
        .start(&mut t.cx())
        .unwrap();
    let timed_out = WaitUntil::new(|_: &mut C<'_>, _| false)
        .timeout(0.2)
        .world(w)
        .start(&mut t.cx())
        .unwrap();
    let cancelled = in_world(&mut t, w);
    let aborted = in_world(&mut t, doomed);
    let panicked = story(&mut t, "panics", async |fx| {
        fx.next_tick().await?;
        panic!("on purpose")
    });
    for (name, flow) in [
        ("done", done),
        ("broken", broken),
        ("timed out", timed_out),
        ("cancelled", cancelled),
        ("aborted", aborted),
        ("panicked", panicked),
    ] {
        story(&mut t, "awaiter", async move |fx| {
            let end = match fx.flow(flow).await {
                Ok(FlowFinish::Completed) => "Ok(Completed)",
                Ok(FlowFinish::Broken) => "Ok(Broken)",
                Ok(FlowFinish::TimedOut) => "Ok(TimedOut)",
                Err(FlowError::Cancelled) => "Err(Cancelled)",
                Err(FlowError::Aborted) => "Err(Aborted)",
                Err(FlowError::Panicked) => "Err(Panicked)",
                _ => "something else",
            };
            fx.with(|cx| cx.host().log.add(format!("{name}: {end}")))?;
            Ok(())
        });
    }
    t.tick(0.1);
    t.cx().cancel(cancelled);
    t.cx().destroy_world(doomed);
    t.ticks(0.1, 2);
    let mut lines = log(&t);
    lines.sort();
    assert_eq!(
        lines,
        [
            "aborted: Err(Aborted)",
            "broken: Ok(Broken)",
            "cancelled: Err(Cancelled)",
            "done: Ok(Completed)",
            "panicked: Err(Panicked)",
            "timed out: Ok(TimedOut)",
        ]
    );
}

#[test]
fn a_flow_can_start_cancel_and_tear_down_anything_in_its_callbacks() {
    let mut t = start();
    let w = t.world;
    let held: Guard = guard(&t, "guard");
    ForEach::index(2)
        .each(move |cx: &mut C<'_>, i| {
            let _held = &held;
            let body = async |fx: sc_flow::FlowCx<Game>| {
                tell(&fx, "child");
                Ok(())
            };
            cx.spawn_flow("child", body).unwrap();
            say(cx, i);
        })
        .completed(|cx, _| {
            let w = cx.world().unwrap();
            cx.destroy_world(w);
            say(cx, "completed");
        })
        .on_finished(|cx, f| say(cx, format!("finished {f:?}")))
        .world(w)
        .start(&mut t.cx())
        .unwrap();
    t.ticks(0.1, 3);
    assert_eq!(
        log(&t),
        [
            "1: 0",
            "2: 1",
            "2: completed",
            "drop guard",
            "2: finished Completed"
        ],
        "the first child was next and has no turn in the dying world"
    );
    assert!(t.cx().flow_list().is_empty());
    assert!(!t.cx().is_world_alive(w));
}
