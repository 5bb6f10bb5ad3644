//! The executor: how flows start, what refuses them, the order of the stage, fairness.

use crate::probe::{Bell, C, Game, log, on_tick, reports, say, start, story, tell, thing, world};
use sc_core::{Clock, TickError, WorldKind, WorldOptions};
use sc_flow::{DoForDuration, Flow, FlowError, FlowExt, ForEach, WaitUntil};

#[test]
fn nothing_runs_inside_the_starting_call_and_the_first_turn_is_the_next_frames_tick() {
    let mut t = start();
    let w = t.world;
    let mut cx = t.cx();
    ForEach::index(1)
        .each(|cx: &mut C<'_>, _| say(cx, "loop"))
        .world(w)
        .start(&mut cx)
        .unwrap();
    DoForDuration::new(0, |cx: &mut C<'_>, _, _| say(cx, "drive"))
        .world(w)
        .start(&mut cx)
        .unwrap();
    WaitUntil::new(|cx: &mut C<'_>, _| {
        say(cx, "wait");
        true
    })
    .world(w)
    .start(&mut cx)
    .unwrap();
    story(&mut t, "story", async |fx| {
        tell(&fx, "story");
        Ok(())
    });
    assert_eq!(log(&t), [""; 0]);
    t.tick(0.1);
    assert_eq!(log(&t), ["1: loop", "1: drive", "1: wait", "1: story"]);
    t.tick(0.1);
    assert_eq!(log(&t), [""; 0]);
}

#[test]
fn started_in_a_frame_before_the_flows_stage_it_still_has_its_first_turn_in_the_next_frame() {
    let mut t = start();
    let _script = on_tick(&mut t, |cx| {
        if cx.frame() == 1 {
            cx.spawn_flow("late", async |fx| {
                tell(&fx, "first poll");
                Ok(())
            })
            .unwrap();
        }
    });
    t.tick(0.1);
    assert_eq!(log(&t), [""; 0]);
    t.tick(0.1);
    assert_eq!(log(&t), ["2: first poll"]);
}

#[test]
fn started_by_a_posted_closure_it_has_its_first_turn_in_the_frame_that_takes_the_post() {
    let mut t = start();
    let w = t.world;
    t.tick(0.25);
    t.rt.poster()
        .post(move |cx: &mut C<'_>| {
            DoForDuration::new(1, |cx: &mut C<'_>, alpha, _| say(cx, alpha))
                .world(w)
                .start(cx)
                .unwrap();
        })
        .unwrap();
    t.tick(0.25);
    assert_eq!(log(&t), ["2: 0.25"], "it counts from before the advance");
}

#[test]
fn without_a_live_world_every_start_is_refused_with_one_report_and_aborted_is_told_once() {
    let mut t = start();
    let dead = world(&mut t);
    t.cx().destroy_world(dead);
    for name in ["outside", "dead world"] {
        let mut cx = t.cx();
        let told = |cx: &mut C<'_>, finish| say(cx, format!("{finish:?}"));
        let gameplay = |cx: &mut C<'_>, _| say(cx, "gameplay");
        let mut looped = ForEach::index(3)
            .each(|_: &mut C<'_>, _| ())
            .name(name)
            .completed(gameplay)
            .on_finished(told);
        let mut drive = DoForDuration::new(1, |_: &mut C<'_>, _, _| ())
            .name(name)
            .completed(gameplay)
            .on_finished(told);
        let mut wait = WaitUntil::new(|cx: &mut C<'_>, _| {
            say(cx, "polled");
            true
        })
        .check_immediately()
        .name(name)
        .satisfied(|cx| say(cx, "gameplay"))
        .timed_out(|cx| say(cx, "gameplay"))
        .cancelled(|cx| say(cx, "gameplay"))
        .on_finished(told);
        let mut flow = Flow::new(name).on_finished(told);
        if name == "dead world" {
            looped = looped.world(dead);
            drive = drive.world(dead);
            wait = wait.world(dead);
            flow = flow.world(dead);
        }
        let errors = [
            looped.start(&mut cx).unwrap_err(),
            drive.start(&mut cx).unwrap_err(),
            wait.start(&mut cx).unwrap_err(),
            flow.spawn(&mut cx, async |_| Ok(())).unwrap_err(),
        ];
        for error in errors {
            let FlowError::NoLiveWorld { flow } = error else {
                panic!("{error:?}");
            };
            assert_eq!(flow, name);
        }
        assert_eq!(log(&t), ["0: Aborted"; 4]);
        let made = t.reports.take();
        assert_eq!(made.len(), 4);
        for report in made {
            assert_eq!(report.object.as_deref(), Some(name));
            assert!(report.fix.contains(".world("), "{}", report.fix);
        }
    }
    assert!(t.cx().flow_list().is_empty());
    t.tick(0.1);
    assert_eq!(log(&t), [""; 0]);
}

#[test]
fn spawn_flow_and_spawn_task_bind_to_the_world_of_the_cx() {
    let mut t = start();
    let error = t.cx().spawn_flow("lost", async |_| Ok(())).unwrap_err();
    assert!(matches!(error, FlowError::NoLiveWorld { .. }));
    assert!(t.cx().spawn_task("lost", async |_| 1).is_err());
    assert_eq!(reports(&t).len(), 2);
    let w = t.world;
    let _script = on_tick(&mut t, |cx| {
        cx.spawn_flow("found", async |fx| fx.delay(9).await)
            .unwrap();
    });
    t.tick(0.1);
    assert_eq!(t.cx().flow_list()[0].world, Some(w));
}

#[test]
fn a_flow_is_refused_an_owner_that_is_not_initialized() {
    let mut t = start();
    let w = t.world;
    let owner = thing(&mut t);
    owner.shutdown(&mut t.cx()).unwrap();
    let mut cx = t.cx();
    let error = Flow::new("orphan")
        .world(w)
        .owner(&owner)
        .on_finished(|cx: &mut C<'_>, finish| say(cx, format!("{finish:?}")))
        .spawn(&mut cx, async |_| Ok(()))
        .unwrap_err();
    assert!(matches!(
        error,
        FlowError::NoOwner {
            why: TickError::NotInitialized { .. },
            ..
        }
    ));
    assert_eq!(log(&t), ["0: Aborted"]);
}

#[test]
fn worlds_run_in_creation_order_and_then_flows_bound_to_the_runtime() {
    let mut t = start();
    let (first, second) = (t.world, world(&mut t));
    let every = |name: &'static str, flow: Flow<Game>, cx: &mut C<'_>| {
        flow.spawn(cx, async move |fx| {
            tell(&fx, name);
            Ok(())
        })
        .unwrap();
    };
    let mut cx = t.cx();
    every("runtime", Flow::new("r").runtime(), &mut cx);
    every("second", Flow::new("2").world(second), &mut cx);
    every("first", Flow::new("1").world(first), &mut cx);
    t.tick(0.1);
    assert_eq!(log(&t), ["1: first", "1: second", "1: runtime"]);
}

#[test]
fn in_a_world_first_waits_over_then_the_woken_then_every_frame_then_the_woken_now() {
    let mut t = start();
    let (early, late) = (Bell::default(), Bell::default());
    let bell = late.clone();
    story(&mut t, "late", async move |fx| {
        bell.wait().await;
        tell(&fx, "woken in this stage");
        Ok(())
    });
    story(&mut t, "every", async move |fx| {
        fx.next_tick().await?;
        late.ring();
        tell(&fx, "every frame");
        Ok(())
    });
    let bell = early.clone();
    story(&mut t, "early", async move |fx| {
        bell.wait().await;
        tell(&fx, "woken before the stage");
        Ok(())
    });
    story(&mut t, "due", async |fx| {
        fx.delay(1.5).await?;
        tell(&fx, "wait over");
        Ok(())
    });
    t.tick(1);
    assert_eq!(log(&t), [""; 0]);
    early.ring();
    t.tick(1);
    assert_eq!(
        log(&t),
        [
            "2: wait over",
            "2: woken before the stage",
            "2: every frame",
            "2: woken in this stage"
        ]
    );
}

#[test]
fn waits_over_are_served_by_clock_in_table_order_whatever_their_deadlines() {
    let mut t = start();
    let w = t.world;
    let clocks = [
        (Clock::Real, 1.1),
        (Clock::GameThroughPause, 1.2),
        (Clock::Unscaled, 1.3),
        (Clock::Game, 1.4),
    ];
    for (clock, wait) in clocks {
        Flow::new("sleeper")
            .world(w)
            .clock(clock)
            .spawn(&mut t.cx(), async move |fx| {
                fx.delay(wait).await?;
                tell(&fx, format!("{clock:?}"));
                Ok(())
            })
            .unwrap();
    }
    t.ticks(1, 2);
    assert_eq!(
        log(&t),
        ["2: Game", "2: Unscaled", "2: GameThroughPause", "2: Real"]
    );
}

#[test]
fn waits_of_one_clock_are_served_by_deadline_and_equal_ones_by_registration() {
    let mut t = start();
    for (name, wait) in [("c", 1.9), ("b", 1.5), ("b again", 1.5), ("a", 1.1)] {
        story(&mut t, "sleeper", async move |fx| {
            fx.delay(wait).await?;
            tell(&fx, name);
            Ok(())
        });
    }
    t.ticks(1, 2);
    assert_eq!(log(&t), ["2: a", "2: b", "2: b again", "2: c"]);
}

#[test]
fn nodes_that_sleep_are_served_among_the_waits_by_deadline() {
    let mut t = start();
    let w = t.world;
    WaitUntil::new(|cx: &mut C<'_>, _| {
        say(cx, "node");
        true
    })
    .every(1.5)
    .world(w)
    .start(&mut t.cx())
    .unwrap();
    for (name, wait) in [("later", 1.6), ("earlier", 1.4)] {
        story(&mut t, name, async move |fx| {
            fx.delay(wait).await?;
            tell(&fx, name);
            Ok(())
        });
    }
    t.ticks(1, 2);
    assert_eq!(log(&t), ["2: earlier", "2: node", "2: later"]);
}

#[test]
fn first_polls_and_flows_that_run_every_frame_are_one_list_in_start_order() {
    let mut t = start();
    let w = t.world;
    let every = |t: &mut crate::probe::Test, name: &'static str| {
        story(t, name, async move |fx| {
            loop {
                tell(&fx, name);
                fx.next_tick().await?;
            }
        });
    };
    every(&mut t, "a");
    WaitUntil::new(|cx: &mut C<'_>, _| {
        say(cx, "b");
        false
    })
    .world(w)
    .start(&mut t.cx())
    .unwrap();
    t.tick(0.1);
    every(&mut t, "c");
    assert_eq!(log(&t), ["1: a", "1: b"]);
    t.tick(0.1);
    assert_eq!(log(&t), ["2: a", "2: b", "2: c"]);
    // One that slept comes back to its place in the list.
    let mut t = start();
    story(&mut t, "sleeps first", async |fx| {
        fx.delay(0.1).await?;
        loop {
            tell(&fx, "old");
            fx.next_tick().await?;
        }
    });
    every(&mut t, "young");
    t.ticks(0.1, 2);
    log(&t);
    t.tick(0.1);
    assert_eq!(log(&t), ["3: old", "3: young"]);
}

#[test]
fn every_ready_flow_runs_each_frame_and_one_that_yields_never_twice() {
    let mut t = start();
    for _ in 0..500 {
        story(&mut t, "busy", async |fx| {
            loop {
                fx.with(|cx| cx.host().log.add("x"))?;
                fx.next_tick().await?;
            }
        });
    }
    for _ in 0..3 {
        t.tick(0.1);
        assert_eq!(log(&t).len(), 500);
    }
}

#[test]
fn a_flow_bound_to_the_runtime_outlives_worlds_and_counts_real_time() {
    let mut t = start();
    let w = t.world;
    t.cx().set_paused(w, true).unwrap();
    t.cx().set_dilation(w, 0.5).unwrap();
    Flow::new("global")
        .runtime()
        .spawn(&mut t.cx(), async |fx| {
            assert_eq!(fx.world(), None);
            fx.delay(1).await?;
            tell(&fx, "a second");
            Ok(())
        })
        .unwrap();
    t.tick(0.5);
    t.cx().destroy_world(w);
    t.tick(0.5);
    assert_eq!(log(&t), ["2: a second"]);
}

#[test]
fn flows_of_editor_and_preview_worlds_do_not_run_unless_those_tick_gameplay() {
    let mut t = start();
    for kind in [WorldKind::Editor, WorldKind::Preview] {
        for ticks in [false, true] {
            let options = WorldOptions::new(kind).ticks_gameplay(ticks);
            let w = t.cx().create_world(options).unwrap();
            Flow::new("editor")
                .world(w)
                .spawn(&mut t.cx(), async move |fx| {
                    tell(&fx, format!("{kind:?} {ticks}"));
                    Ok(())
                })
                .unwrap();
        }
    }
    t.ticks(0.1, 2);
    assert_eq!(log(&t), ["1: Editor true", "1: Preview true"]);
}

#[test]
fn a_flow_runs_with_the_cx_of_its_world_and_the_delta_of_its_clock() {
    let mut t = start();
    let w = t.world;
    t.cx().set_dilation(w, 0.5).unwrap();
    WaitUntil::new(move |cx: &mut C<'_>, _| {
        assert_eq!(cx.world(), Some(w));
        say(cx, format!("node {}", cx.delta_secs()));
        true
    })
    .world(w)
    .clock(Clock::Unscaled)
    .start(&mut t.cx())
    .unwrap();
    story(&mut t, "story", async move |fx| {
        assert_eq!(fx.world(), Some(w));
        fx.with(|cx| {
            assert_eq!(cx.world(), Some(w));
            say(cx, format!("story {}", cx.delta_secs()));
        })?;
        Ok(())
    });
    t.tick(0.5);
    assert_eq!(log(&t), ["1: node 0.5", "1: story 0.25"]);
}
