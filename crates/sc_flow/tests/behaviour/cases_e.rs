//! The failure cases of area E, flows, and the flow part of A22: a test for each.

use std::collections::BTreeSet;

use crate::probe::{
    Bell, C, Test, guard, log, on_tick, reports, say, start, story, tell, thing, told_story, world,
    yield_now,
};
use sc_core::PanicPolicy;
use sc_flow::{DoForDuration, Flow, FlowError, FlowExt, FlowFinish, ForEach, WaitUntil, race};

#[test]
fn case_a22_a_world_is_destroyed_inside_a_flow_body() {
    let mut t = start();
    let (w, other) = (t.world, world(&mut t));
    ForEach::index(9)
        .each(move |cx: &mut C<'_>, i| {
            say(cx, format!("body {i}"));
            cx.destroy_world(w);
        })
        .completed(|cx, _| say(cx, "never"))
        .on_finished(|cx, f| say(cx, format!("loop {f:?}")))
        .world(w)
        .start(&mut t.cx())
        .unwrap();
    told_story(&mut t, "neighbour", async |fx| {
        tell(&fx, "never");
        Ok(())
    });
    let flow = Flow::new("other").world(other);
    flow.spawn(&mut t.cx(), async |fx| {
        tell(&fx, "another world");
        Ok(())
    })
    .unwrap();
    t.ticks(0.1, 2);
    assert_eq!(
        log(&t),
        [
            "1: body 0",
            "1: neighbour Aborted",
            "1: loop Aborted",
            "1: another world"
        ]
    );
}

#[test]
fn case_e2_an_owner_that_is_shut_down_but_still_there_ends_its_flows() {
    let mut t = start();
    let w = t.world;
    let owner = thing(&mut t);
    ForEach::index(9)
        .each(|cx: &mut C<'_>, i| say(cx, i))
        .on_finished(|cx, f| say(cx, format!("{f:?}")))
        .world(w)
        .owner(&owner)
        .start(&mut t.cx())
        .unwrap();
    t.tick(0.1);
    owner.shutdown(&mut t.cx()).unwrap();
    t.ticks(0.1, 2);
    assert_eq!(log(&t), ["1: 0", "2: Aborted"]);
    assert!(t.cx().get(owner.key()).is_ok(), "its memory is there");
}

#[test]
fn case_e3_at_the_exit_futures_are_dropped_guards_run_and_no_body_goes_on() {
    let mut t = start();
    let held = guard(&t, "guard");
    told_story(&mut t, "story", async move |fx| {
        let _held = held;
        fx.next_tick().await?;
        tell(&fx, "never");
        Ok(())
    });
    t.tick(0.1);
    t.rt.shutdown(&mut t.host);
    assert_eq!(log(&t), ["drop guard", "1: story Aborted"]);
}

#[test]
fn case_e4_a_wait_that_never_completes_is_aborted_with_its_owner() {
    let mut t = start();
    let w = t.world;
    let owner = thing(&mut t);
    let held = guard(&t, "condition");
    WaitUntil::new(move |_: &mut C<'_>, _| {
        let _held = &held;
        false
    })
    .satisfied(|cx| say(cx, "never"))
    .timed_out(|cx| say(cx, "never"))
    .cancelled(|cx| say(cx, "never"))
    .on_finished(|cx, f| say(cx, format!("{f:?}")))
    .every(3600)
    .world(w)
    .owner(&owner)
    .start(&mut t.cx())
    .unwrap();
    t.tick(0.1);
    drop(owner);
    t.tick(0.1);
    assert_eq!(log(&t), ["drop condition", "2: Aborted"]);
    assert!(t.cx().flow_list().is_empty());
}

#[test]
fn case_e5_a_cancelled_parent_takes_its_children_along_first() {
    let mut t = start();
    let (parent, child) = (guard(&t, "parent"), guard(&t, "child"));
    let flow = told_story(&mut t, "story", async move |fx| {
        let _parent = parent;
        fx.scope(async |scope| {
            let fx = &fx;
            scope.spawn(async move {
                let _child = child;
                loop {
                    tell(fx, "child");
                    let _ = fx.next_tick().await;
                }
            });
        })
        .await;
        Ok(())
    });
    t.tick(0.1);
    t.cx().cancel(flow);
    t.tick(0.1);
    assert_eq!(
        log(&t),
        [
            "1: child",
            "drop child",
            "drop parent",
            "1: story Cancelled"
        ]
    );
}

#[test]
fn case_e7_a_completion_after_the_session_ended_is_discarded() {
    let mut t = start();
    let (w, bell) = (t.world, Bell::default());
    let theirs = bell.clone();
    told_story(&mut t, "story", async move |fx| {
        theirs.wait().await;
        tell(&fx, "never");
        Ok(())
    });
    t.tick(0.1);
    let waker = bell.waker().unwrap();
    t.cx().destroy_world(w);
    bell.ring();
    waker.wake();
    t.ticks(0.1, 2);
    assert_eq!(log(&t), ["1: story Aborted"]);
    assert_eq!(reports(&t), [""; 0]);
}

#[test]
fn case_e8_the_waiter_of_a_cancelled_flow_gets_one_outcome() {
    let mut t = start();
    let flow = story(&mut t, "flow", async |fx| fx.delay(9).await);
    story(&mut t, "waiter", async move |fx| {
        let end = fx.flow(flow).await;
        tell(&fx, format!("{end:?}"));
        Ok(())
    });
    t.tick(0.1);
    t.cx().cancel(flow);
    t.ticks(0.1, 100);
    assert_eq!(log(&t), ["2: Err(Cancelled)"]);
}

#[test]
fn case_e9_the_first_terminal_transition_wins() {
    let mut t = start();
    let w = t.world;
    let told = |cx: &mut C<'_>, f: FlowFinish| say(cx, format!("{f:?}"));
    let drive = |t: &mut Test| {
        let drive = DoForDuration::new(0.1, |_: &mut C<'_>, _, _| ());
        drive.on_finished(told).world(w).start(&mut t.cx()).unwrap()
    };
    // Completed, then cancelled in the same frame.
    let flow = drive(&mut t);
    story(&mut t, "late", async move |fx| {
        let cancelled = fx.with(|cx| cx.cancel(flow))?;
        tell(&fx, cancelled);
        Ok(())
    });
    t.tick(0.1);
    assert_eq!(log(&t), ["1: Completed", "1: false"]);
    // Cancelled, and it would have completed in the same frame.
    t.host.flow = None;
    story(&mut t, "early", async move |fx| {
        let flow = fx.with(|cx| cx.host().flow)?;
        let cancelled = fx.with(|cx| cx.cancel(flow.unwrap()))?;
        tell(&fx, cancelled);
        Ok(())
    });
    t.host.flow = Some(drive(&mut t));
    t.tick(0.1);
    assert_eq!(log(&t), ["2: Cancelled", "2: true"]);
    // The timeout is cancelled on the way to success.
    let wait = WaitUntil::new(|cx: &mut C<'_>, _| {
        let me = cx.host().flow.unwrap();
        cx.cancel(me);
        true
    });
    let wait = wait.timeout(0.1).every(0.05).on_finished(told).world(w);
    t.host.flow = Some(wait.start(&mut t.cx()).unwrap());
    t.ticks(0.06, 3);
    assert_eq!(log(&t), ["3: Cancelled"]);
}

#[test]
fn case_e10_finished_first_then_told_the_filter_honoured_and_ids_unique() {
    let mut t = start();
    let w = t.world;
    let (mine, yours) = (thing(&mut t), thing(&mut t));
    let bound = |t: &mut Test, owner, name: &'static str| {
        let flow = Flow::new(name).world(w).owner(owner);
        let flow = flow.on_finished(move |cx: &mut C<'_>, _| {
            let me = cx.host().flow.unwrap();
            assert!(matches!(cx.flow(me), Err(FlowError::Gone)));
            say(cx, name);
        });
        flow.spawn(&mut t.cx(), async |fx| fx.delay(9).await)
            .unwrap()
    };
    let flow = bound(&mut t, &mine, "mine");
    let other = bound(&mut t, &yours, "yours");
    let unbound = story(&mut t, "unbound", async |fx| fx.delay(9).await);
    t.host.flow = Some(flow);
    assert_eq!(t.cx().cancel_flows_of(&mine), 1);
    assert_eq!(log(&t), ["0: mine"]);
    assert!(t.cx().flow(other).is_ok() && t.cx().flow(unbound).is_ok());
    let mut ids = BTreeSet::from([flow, other, unbound]);
    for _ in 0..1000 {
        let flow = story(&mut t, "short", async |_| Ok(()));
        assert!(ids.insert(flow), "an id comes once");
        t.tick(0.001);
    }
}

#[test]
fn case_e12_a_delay_of_0_is_never_before_the_next_tick_whoever_calls() {
    let mut t = start();
    let w = t.world;
    let zero = async |fx: sc_flow::FlowCx<crate::probe::Game>| {
        fx.delay(0).await?;
        tell(&fx, "zero");
        Ok(())
    };
    let flow = Flow::new("outside").world(w);
    flow.spawn(&mut t.cx(), zero).unwrap();
    let _script = on_tick(&mut t, move |cx| {
        if cx.frame() == 1 {
            cx.spawn_flow("tick", zero).unwrap();
        }
    });
    story(&mut t, "flow", async move |fx| {
        fx.with(|cx| cx.spawn_flow("flow", zero).map(drop))?
    });
    t.tick(0.1);
    assert_eq!(log(&t), [""; 0]);
    t.ticks(0.1, 3);
    assert_eq!(log(&t), ["2: zero", "3: zero", "3: zero"]);
}

#[test]
fn case_e14_the_last_update_is_exactly_1() {
    let mut t = start();
    let w = t.world;
    DoForDuration::new(1.0, |cx: &mut C<'_>, alpha, _| say(cx, alpha))
        .completed(|cx, f| say(cx, format!("{f:?}")))
        .world(w)
        .start(&mut t.cx())
        .unwrap();
    t.ticks(0.3, 4);
    assert_eq!(
        log(&t),
        ["1: 0.3", "2: 0.6", "3: 0.9", "4: 1", "4: Completed"]
    );
}

#[test]
fn case_e15_completed_comes_after_the_last_update_and_nothing_after_it() {
    let mut t = start();
    let w = t.world;
    DoForDuration::new(0.5, |cx: &mut C<'_>, alpha, _| say(cx, alpha))
        .completed(|cx, f| say(cx, format!("{f:?}")))
        .world(w)
        .start(&mut t.cx())
        .unwrap();
    t.ticks(10, 3);
    assert_eq!(log(&t), ["1: 1", "1: Completed"]);
}

#[test]
fn case_e17_a_drive_of_no_length_ends_at_once_and_a_repeating_one_is_refused() {
    let mut t = start();
    let w = t.world;
    let drive = || DoForDuration::new(0, |cx: &mut C<'_>, alpha, _| say(cx, alpha)).world(w);
    let told = drive().completed(|cx, f| say(cx, format!("{f:?}")));
    told.start(&mut t.cx()).unwrap();
    t.ticks(0.1, 2);
    assert_eq!(log(&t), ["1: 1", "1: Completed"]);
    for repeating in [
        drive().laps(3),
        drive().forever(),
        drive().forever().ping_pong(),
    ] {
        let error = repeating.start(&mut t.cx()).unwrap_err();
        assert!(matches!(error, FlowError::ZeroLengthRepeat));
    }
}

#[test]
fn case_e18_equal_delays_complete_in_the_order_in_which_they_were_created() {
    let mut t = start();
    for i in 0..3 {
        story(&mut t, "story", async move |fx| {
            fx.delay(0.35).await?;
            tell(&fx, i);
            Ok(())
        });
    }
    t.ticks(0.1, 4);
    assert_eq!(log(&t), ["4: 0", "4: 1", "4: 2"]);
}

#[test]
fn case_e19_a_chain_in_one_world_finishes_in_the_frame_of_its_leaf() {
    let mut t = start();
    let mut last = story(&mut t, "leaf", async |fx| fx.delay(0.3).await);
    for _ in 0..50 {
        let inner = last;
        last = story(&mut t, "link", async move |fx| {
            fx.flow(inner).await?;
            Ok(())
        });
    }
    t.ticks(0.1, 2);
    assert_eq!(t.cx().flow_list().len(), 51);
    t.tick(0.1);
    assert!(t.cx().flow_list().is_empty());
}

#[test]
fn case_e20_however_many_are_ready_all_run() {
    let mut t = start();
    for _ in 0..200 {
        story(&mut t, "story", async |fx| {
            fx.delay(0.2).await?;
            tell(&fx, "ran");
            Ok(())
        });
    }
    t.ticks(0.1, 2);
    assert_eq!(log(&t), vec!["2: ran"; 200]);
}

#[test]
fn case_e21_flows_that_never_stop_run_once_a_frame_and_the_self_waking_one_is_reported() {
    let mut t = start();
    story(&mut t, "spinner", async |_| {
        loop {
            yield_now().await;
        }
    });
    for wait in [0.1, 0.0] {
        story(&mut t, "loop", async move |fx| {
            loop {
                fx.delay(wait).await?;
                tell(&fx, wait);
            }
        });
    }
    t.ticks(0.25, 3);
    assert_eq!(
        log(&t),
        ["1: 0.1", "2: 0.1", "2: 0", "3: 0.1", "3: 0"],
        "the first delay is credited"
    );
    let made = t.reports.take();
    assert_eq!(made.len(), 1);
    assert_eq!(made[0].object.as_deref(), Some("spinner"));
}

#[test]
fn case_e22_a_delay_of_1_at_a_quarter_a_frame_is_over_on_tick_4() {
    let mut t = start();
    story(&mut t, "story", async |fx| {
        fx.delay(1.0).await?;
        tell(&fx, "over");
        Ok(())
    });
    t.ticks(0.25, 6);
    assert_eq!(log(&t), ["4: over"]);
}

#[test]
fn case_e23_after_its_timeout_a_predicate_is_never_called() {
    let mut t = start();
    let w = t.world;
    WaitUntil::new(|cx: &mut C<'_>, attempt| {
        say(cx, attempt);
        false
    })
    .timeout(0.3)
    .world(w)
    .start(&mut t.cx())
    .unwrap();
    t.ticks(0.1, 10);
    assert_eq!(log(&t), ["1: 0", "2: 1"]);
}

#[test]
fn case_e24_the_predicate_of_a_destroyed_object_is_not_called() {
    let mut t = start();
    let w = t.world;
    let object = thing(&mut t);
    let touch = |cx: &mut C<'_>, _| {
        say(cx, "touched");
        false
    };
    WaitUntil::new(touch)
        .on_finished(|cx, f| say(cx, format!("owner: {f:?}")))
        .world(w)
        .owner(&object)
        .start(&mut t.cx())
        .unwrap();
    WaitUntil::condition_of(&object, touch)
        .on_finished(|cx, f| say(cx, format!("condition of: {f:?}")))
        .world(w)
        .start(&mut t.cx())
        .unwrap();
    drop(object);
    t.ticks(0.1, 2);
    assert_eq!(log(&t), ["1: owner: Aborted", "1: condition of: TimedOut"]);
    let names = reports(&t);
    assert!(names.contains(&"ConditionGone".to_owned()), "{names:?}");
}

#[test]
fn case_e25_the_loser_of_a_race_is_dropped_at_once_and_a_cancel_takes_all() {
    let mut t = start();
    let spawn = |t: &mut Test| {
        let held = guard(t, "loser");
        told_story(t, "story", async move |fx| {
            let never = async {
                let _held = held;
                Bell::default().wait().await;
            };
            race(never, fx.delay(0.2)).await;
            tell(&fx, "won");
            Ok(())
        })
    };
    spawn(&mut t);
    t.ticks(0.1, 2);
    assert_eq!(log(&t), ["drop loser", "2: won", "2: story Completed"]);
    let flow = spawn(&mut t);
    t.tick(0.1);
    t.cx().cancel(flow);
    t.ticks(0.1, 3);
    assert_eq!(log(&t), ["drop loser", "3: story Cancelled"]);
}

#[test]
fn case_e26_a_runtime_dropped_with_live_flows_is_clean_in_any_order() {
    for waker_first in [false, true] {
        let mut t = start();
        let lines = t.host.log.clone();
        let bell = Bell::default();
        let owner = thing(&mut t);
        let (theirs, held) = (bell.clone(), guard(&t, "guard"));
        let w = t.world;
        let flow = Flow::new("story").world(w).owner(&owner);
        flow.on_finished(|cx: &mut C<'_>, _| say(cx, "never"))
            .spawn(&mut t.cx(), async move |_| {
                let _held = held;
                theirs.wait().await;
                Ok(())
            })
            .unwrap();
        t.tick(0.1);
        let waker = bell.waker().unwrap();
        let Test { rt, host, .. } = t;
        if waker_first {
            waker.wake();
            drop((owner, host, rt));
        } else {
            drop((rt, host, owner));
            waker.wake();
        }
        bell.ring();
        assert_eq!(lines.take(), ["drop guard"]);
    }
}

#[test]
fn case_e27_the_last_waker_dropped_on_another_thread_drops_no_future() {
    let mut t = start();
    let bell = Bell::default();
    let (theirs, held) = (bell.clone(), guard(&t, "guard"));
    let flow = story(&mut t, "story", async move |_| {
        let _held = held;
        theirs.wait().await;
        Ok(())
    });
    t.tick(0.1);
    let waker = bell.waker().unwrap();
    drop(bell);
    std::thread::spawn(move || drop(waker)).join().unwrap();
    t.ticks(0.1, 2);
    assert_eq!(log(&t), [""; 0]);
    assert_eq!(t.cx().flow_list()[0].id, flow, "alive and listed");
    t.cx().cancel(flow);
    assert_eq!(log(&t), ["drop guard"]);
}

#[test]
fn case_e28_a_panic_under_isolate_or_an_error_that_nobody_takes_is_reported_once() {
    let mut t = start();
    t.rt.set_panic_policy(PanicPolicy::Isolate);
    story(&mut t, "panics", async |_| panic!("on purpose"));
    story(&mut t, "fails", async |_| {
        Err(FlowError::other("on purpose"))
    });
    story(&mut t, "goes on", async |fx| {
        fx.next_tick().await?;
        tell(&fx, "went on");
        Ok(())
    });
    t.ticks(0.1, 4);
    assert_eq!(reports(&t), ["Panicked", "FlowFailed"]);
    assert_eq!(log(&t), ["2: went on"]);
}

#[test]
fn case_e29_a_dropped_awaitable_leaves_no_registration_and_a_dropped_task_detaches() {
    let mut t = start();
    let w = t.world;
    story(&mut t, "story", async |fx| {
        {
            let _ = race(fx.delay(0.5), fx.next_tick()).await;
        }
        let mut polls = 0;
        std::future::poll_fn::<(), _>(|_| {
            polls += 1;
            tell(&fx, format!("poll {polls}"));
            std::task::Poll::Pending
        })
        .await;
        Ok(())
    });
    let task = Flow::new("task").world(w);
    let task = task.spawn_task(&mut t.cx(), async |fx| {
        let _ = fx.delay(0.75).await;
        tell(&fx, "task");
    });
    drop(task);
    t.ticks(0.1, 10);
    assert_eq!(log(&t), ["2: poll 1", "8: task"]);
    assert_eq!(reports(&t), [""; 0]);
}

#[test]
fn case_e30_a_time_scale_changed_in_mid_wait_holds_for_the_rest() {
    let mut t = start();
    let w = t.world;
    story(&mut t, "story", async |fx| {
        fx.delay(1.0).await?;
        tell(&fx, "delay");
        Ok(())
    });
    WaitUntil::new(|_: &mut C<'_>, _| false)
        .timeout(1.0)
        .timed_out(|cx| say(cx, "timeout"))
        .world(w)
        .start(&mut t.cx())
        .unwrap();
    t.ticks(0.25, 2);
    t.cx().set_dilation(w, 0.25).unwrap();
    t.ticks(0.25, 9);
    assert_eq!(log(&t), ["10: delay", "10: timeout"]);
}

#[test]
fn case_e31_waits_of_a_flow_bound_to_another_world_count_on_that_worlds_clock() {
    let mut t = start();
    let slow = world(&mut t);
    t.cx().set_dilation(slow, 0.5).unwrap();
    story(&mut t, "starter", async move |fx| {
        fx.with(|cx| {
            let flow = Flow::new("slow").world(slow);
            flow.spawn(cx, async |fx| {
                fx.delay(0.2).await?;
                tell(&fx, "slow");
                Ok(())
            })
            .map(drop)
        })?
    });
    t.ticks(0.1, 8);
    assert_eq!(log(&t), ["5: slow"]);
}

#[test]
fn case_e32_a_negative_delay_is_the_next_tick_and_nan_or_infinity_an_error() {
    let mut t = start();
    story(&mut t, "story", async |fx| {
        fx.delay(-1).await?;
        tell(&fx, "next tick");
        for bad in [f64::NAN, f64::INFINITY] {
            assert!(matches!(fx.delay(bad).await, Err(FlowError::BadTime(_))));
        }
        tell(&fx, "refused");
        Ok(())
    });
    t.ticks(0.1, 3);
    assert_eq!(log(&t), ["2: next tick", "2: refused"]);
}
