//! From when waits count, what a pause and a dilation do to them, and the pause of one flow.

use crate::probe::{C, Test, log, on_tick, say, start, story, tell, world};
use sc_core::{Clock, TimeError, secs};
use sc_flow::{
    DoForDuration, Flow, FlowError, FlowExt, ForEach, Step, WaitUntil, WaitingFor, join,
};

#[test]
fn a_delay_made_before_any_await_counts_from_the_spawn() {
    let mut t = start();
    story(&mut t, "story", async |fx| {
        fx.delay(1.0).await?;
        tell(&fx, "a second");
        Ok(())
    });
    t.ticks(0.25, 5);
    assert_eq!(log(&t), ["4: a second"]);
}

#[test]
fn a_second_delay_counts_from_the_frame_that_makes_it() {
    let mut t = start();
    story(&mut t, "story", async |fx| {
        for _ in 0..2 {
            fx.delay(0.2).await?;
            tell(&fx, "over");
        }
        Ok(())
    });
    t.ticks(0.25, 3);
    assert_eq!(log(&t), ["1: over", "2: over"]);
}

#[test]
fn frames_are_counted_never_credited() {
    let mut t = start();
    story(&mut t, "next tick", async |fx| {
        fx.next_tick().await?;
        tell(&fx, "next tick");
        fx.next_tick().await?;
        tell(&fx, "next tick");
        Ok(())
    });
    story(&mut t, "ticks", async |fx| {
        fx.ticks(3).await?;
        tell(&fx, "ticks(3)");
        Ok(())
    });
    story(&mut t, "delay", async |fx| {
        fx.delay(0).await?;
        tell(&fx, "delay(0)");
        fx.delay(-5).await?;
        tell(&fx, "delay(-5)");
        Ok(())
    });
    t.ticks(0.25, 5);
    assert_eq!(
        log(&t),
        [
            "2: next tick",
            "2: delay(0)",
            "3: next tick",
            "3: delay(-5)",
            "4: ticks(3)",
        ]
    );
}

#[test]
fn a_wait_beside_another_counts_from_the_spawn_too_as_long_as_none_has_completed() {
    let mut t = start();
    story(&mut t, "story", async |fx| {
        let fx = &fx;
        let wait = |seconds: f64| async move {
            fx.delay(seconds).await?;
            tell(fx, seconds);
            Ok::<(), FlowError>(())
        };
        let (a, b) = join(wait(0.5), wait(1.0)).await;
        a.and(b)
    });
    t.ticks(0.25, 5);
    assert_eq!(log(&t), ["2: 0.5", "4: 1"]);
}

#[test]
fn a_loop_that_has_only_begun_is_no_await_that_has_completed() {
    let mut t = start();
    story(&mut t, "story", async |fx| {
        let looped = fx.for_each_with_delay(2, 9, async |_| ());
        let waited = async {
            fx.delay(0.5).await?;
            tell(&fx, "half a second");
            Ok::<(), FlowError>(())
        };
        join(looped, waited).await.1
    });
    t.ticks(0.25, 4);
    assert_eq!(log(&t), ["2: half a second"]);
}

#[test]
fn a_node_made_first_has_its_first_update_in_the_first_frame_and_one_made_later_in_the_next() {
    let mut t = start();
    story(&mut t, "story", async |fx| {
        fx.do_for_duration(0.5, |cx, alpha, _| say(cx, format!("first {alpha}")))
            .await?;
        fx.do_for_duration(0.5, |cx, alpha, _| say(cx, format!("second {alpha}")))
            .await
    });
    t.ticks(0.25, 5);
    assert_eq!(
        log(&t),
        ["1: first 0.5", "2: first 1", "3: second 0.5", "4: second 1"]
    );
}

#[test]
fn spawned_in_the_middle_of_a_frame_it_counts_from_that_frames_reading() {
    let mut t = start();
    let _script = on_tick(&mut t, |cx| {
        if cx.frame() == 1 {
            cx.spawn_flow("story", async |fx| {
                fx.delay(0.5).await?;
                tell(&fx, "story");
                Ok(())
            })
            .unwrap();
            DoForDuration::new(0.5, |_: &mut C<'_>, _, _| ())
                .completed(|cx, _| say(cx, "drive"))
                .start(cx)
                .unwrap();
        }
    });
    t.ticks(0.25, 4);
    assert_eq!(log(&t), ["3: story", "3: drive"]);
}

/// A builder and a story that both need half a second on a clock.
fn half_a_second(t: &mut Test, clock: Clock) {
    let w = t.world;
    DoForDuration::new(0.5, |_: &mut C<'_>, _, _| ())
        .completed(|cx, _| say(cx, "builder"))
        .world(w)
        .clock(clock)
        .start(&mut t.cx())
        .unwrap();
    Flow::new("story")
        .world(w)
        .clock(clock)
        .spawn(&mut t.cx(), async |fx| {
            fx.do_for_duration(0.5, |_, _, _| ()).await?;
            tell(&fx, "story");
            Ok(())
        })
        .unwrap();
    Flow::new("delay")
        .world(w)
        .clock(clock)
        .spawn(&mut t.cx(), async |fx| {
            fx.delay(0.5).await?;
            tell(&fx, "delay");
            Ok(())
        })
        .unwrap();
}

#[test]
fn in_a_paused_world_waits_on_pausable_clocks_stand_still_and_others_go_on() {
    for clock in Clock::ALL {
        let mut t = start();
        let w = t.world;
        half_a_second(&mut t, clock);
        t.tick(0.25);
        t.cx().set_paused(w, true).unwrap();
        t.ticks(0.25, 3);
        t.cx().set_paused(w, false).unwrap();
        t.ticks(0.25, 2);
        let end = if clock.stops_while_paused() { 5 } else { 2 };
        let lines = log(&t);
        assert_eq!(lines.len(), 3, "{clock:?}");
        for line in lines {
            assert!(line.starts_with(&format!("{end}: ")), "{clock:?}: {line}");
        }
    }
}

#[test]
fn started_in_a_paused_world_a_flow_counts_from_its_spawn_all_the_same() {
    let mut t = start();
    let w = t.world;
    t.cx().set_paused(w, true).unwrap();
    half_a_second(&mut t, Clock::Game);
    t.ticks(0.25, 3);
    assert_eq!(log(&t), [""; 0], "a paused world runs none");
    t.cx().set_paused(w, false).unwrap();
    t.ticks(0.25, 3);
    let mut lines = log(&t);
    lines.sort();
    assert_eq!(
        lines,
        ["5: builder", "5: delay", "5: story"],
        "half a second, the first unpaused frame's delta credited"
    );
}

#[test]
fn the_frames_of_a_paused_world_do_not_count() {
    let mut t = start();
    let w = t.world;
    for n in [1, 3] {
        story(&mut t, "ticks", async move |fx| {
            fx.ticks(n).await?;
            tell(&fx, format!("ticks({n})"));
            Ok(())
        });
    }
    story(&mut t, "delay", async move |fx| {
        fx.delay(0).await?;
        tell(&fx, "delay(0)");
        Ok(())
    });
    t.tick(0.1);
    t.cx().set_paused(w, true).unwrap();
    t.ticks(0.1, 2);
    t.cx().set_paused(w, false).unwrap();
    t.ticks(0.1, 4);
    assert_eq!(log(&t), ["4: ticks(1)", "4: delay(0)", "6: ticks(3)"]);
}

#[test]
fn a_frame_count_on_a_pausable_clock_does_not_end_in_a_pause_though_the_flow_has_a_turn_in_it() {
    let mut t = start();
    let w = t.world;
    story(&mut t, "story", async move |fx| {
        let fx = &fx;
        let real = async {
            fx.delay(0.2).on(Clock::Real).await?;
            tell(fx, "real");
            Ok::<(), FlowError>(())
        };
        let next = async {
            fx.next_tick().await?;
            tell(fx, "next tick");
            Ok::<(), FlowError>(())
        };
        let zero = async {
            fx.delay(0).await?;
            tell(fx, "delay(0)");
            Ok::<(), FlowError>(())
        };
        let _ = join(real, join(next, zero)).await;
        Ok(())
    });
    t.tick(0.1);
    t.cx().set_paused(w, true).unwrap();
    t.ticks(0.1, 2);
    t.cx().set_paused(w, false).unwrap();
    t.ticks(0.1, 2);
    assert_eq!(log(&t), ["2: real", "4: next tick", "4: delay(0)"]);
}

#[test]
fn a_dilated_wait_counts_dilated_time_and_an_undilated_one_real_time() {
    for (clock, end) in [
        (Clock::Game, 4),
        (Clock::Unscaled, 2),
        (Clock::GameThroughPause, 4),
        (Clock::Real, 2),
    ] {
        let mut t = start();
        let w = t.world;
        t.cx().set_dilation(w, 0.5).unwrap();
        half_a_second(&mut t, clock);
        t.ticks(0.25, 4);
        let lines = log(&t);
        assert_eq!(lines.len(), 3);
        for line in lines {
            assert!(line.starts_with(&format!("{end}: ")), "{clock:?}: {line}");
        }
    }
}

#[test]
fn an_await_can_count_on_another_clock_than_its_flows() {
    let mut t = start();
    let w = t.world;
    t.cx().set_dilation(w, 0.5).unwrap();
    story(&mut t, "delay", async |fx| {
        fx.delay(0.5).on(Clock::Real).await?;
        tell(&fx, "delay");
        Ok(())
    });
    story(&mut t, "drive", async |fx| {
        fx.do_for_duration(0.5, |_, _, _| ())
            .on(Clock::Unscaled)
            .await?;
        tell(&fx, "drive");
        Ok(())
    });
    story(&mut t, "wait", async |fx| {
        fx.wait_until(|_, _| false)
            .timeout(0.5)
            .on(Clock::Real)
            .await?;
        tell(&fx, "wait");
        Ok(())
    });
    story(&mut t, "own", async |fx| {
        fx.delay(0.5).await?;
        tell(&fx, "own");
        Ok(())
    });
    t.ticks(0.25, 4);
    let mut lines = log(&t);
    lines.sort();
    assert_eq!(lines, ["2: delay", "2: drive", "2: wait", "4: own"]);
}

#[test]
fn pace_is_without_drift_over_a_thousand_steps_and_delay_in_a_loop_is_not() {
    let mut t = start();
    story(&mut t, "pace", async |fx| {
        let mut pace = fx.pace(0.25)?;
        for _ in 0..1000 {
            pace.next().await?;
        }
        tell(&fx, "pace");
        Ok(())
    });
    story(&mut t, "delay", async |fx| {
        for _ in 0..1000 {
            fx.delay(0.25).await?;
        }
        tell(&fx, "delay");
        Ok(())
    });
    t.ticks(0.1, 3000);
    assert_eq!(log(&t), ["2500: pace", "3000: delay"]);
}

#[test]
fn each_moment_of_a_pace_comes_in_the_first_frame_that_reaches_it() {
    let mut t = start();
    story(&mut t, "pace", async |fx| {
        let mut pace = fx.pace(0.25)?;
        loop {
            pace.next().await?;
            tell(&fx, "now");
        }
    });
    t.ticks(0.1, 10);
    assert_eq!(log(&t), ["3: now", "5: now", "8: now", "10: now"]);
}

#[test]
fn a_delay_never_ends_early_and_at_most_one_frame_late() {
    let mut t = start();
    story(&mut t, "story", async |fx| {
        fx.delay(0.3).await?;
        tell(&fx, "three frames to the nanosecond");
        fx.delay(0.300_000_001).await?;
        tell(&fx, "four");
        Ok(())
    });
    t.ticks(0.1, 8);
    assert_eq!(log(&t), ["3: three frames to the nanosecond", "7: four"]);
}

#[test]
fn waits_of_a_flow_started_from_another_worlds_callback_count_on_its_own_world() {
    let mut t = start();
    let slow = world(&mut t);
    t.cx().set_dilation(slow, 0.5).unwrap();
    let _script = on_tick(&mut t, move |cx| {
        if cx.frame() == 1 {
            Flow::new("slow")
                .world(slow)
                .spawn(cx, async |fx| {
                    fx.delay(0.5).await?;
                    tell(&fx, "slow");
                    Ok(())
                })
                .unwrap();
        }
    });
    t.ticks(0.25, 6);
    assert_eq!(log(&t), ["5: slow"]);
}

#[test]
fn a_paused_flow_has_no_turn_until_it_is_resumed() {
    let mut t = start();
    let w = t.world;
    let flow = story(&mut t, "every frame", async |fx| {
        loop {
            tell(&fx, "turn");
            fx.next_tick().await?;
        }
    });
    let wait = WaitUntil::new(|cx: &mut C<'_>, attempt| {
        say(cx, attempt);
        false
    })
    .every(0.1)
    .world(w)
    .start(&mut t.cx())
    .unwrap();
    t.tick(0.1);
    assert_eq!(log(&t), ["1: 0", "1: turn"]);
    assert!(t.cx().pause_flow(flow) && t.cx().pause_flow(wait));
    assert_eq!(t.cx().flow(flow).unwrap().waiting_for, WaitingFor::Resume);
    t.ticks(0.1, 5);
    assert_eq!(log(&t), [""; 0]);
    assert!(t.cx().resume_flow(flow) && t.cx().resume_flow(wait));
    assert_eq!(log(&t), [""; 0], "nothing runs inside the call");
    t.tick(0.1);
    let mut lines = log(&t);
    lines.sort();
    assert_eq!(lines, ["7: 1", "7: turn"]);
    t.tick(0.1);
    let mut lines = log(&t);
    lines.sort();
    assert_eq!(lines, ["8: 2", "8: turn"]);
}

#[test]
fn a_paused_flow_can_be_cancelled_and_can_be_paused_by_itself() {
    let mut t = start();
    let w = t.world;
    let flow = ForEach::index(9)
        .each(|cx: &mut C<'_>, i| {
            say(cx, i);
            let me = cx.host().flow.unwrap();
            cx.pause_flow(me);
            Step::Continue
        })
        .completed(|cx, f| say(cx, format!("{f:?}")))
        .world(w)
        .start(&mut t.cx())
        .unwrap();
    t.host.flow = Some(flow);
    t.ticks(0.1, 3);
    assert_eq!(log(&t), ["1: 0"]);
    t.cx().resume_flow(flow);
    t.ticks(0.1, 3);
    assert_eq!(log(&t), ["4: 1"]);
    t.cx().cancel(flow);
    assert_eq!(log(&t), ["6: Cancelled"]);
}

#[test]
fn a_pace_needs_a_positive_period() {
    let mut t = start();
    story(&mut t, "story", async |fx| {
        for bad in [0.0, -1.0] {
            let error = fx.pace(secs(bad)).err().unwrap();
            assert!(matches!(error, FlowError::NoPeriod { seconds } if seconds == bad));
        }
        let error = fx.pace(secs(f64::INFINITY)).err().unwrap();
        assert!(matches!(error, FlowError::BadTime(_)));
        let error = fx.pace(secs(f64::NAN)).err();
        assert!(matches!(
            error,
            Some(FlowError::BadTime(TimeError::NotANumber))
        ));
        tell(&fx, "all refused");
        Ok(())
    });
    t.tick(0.1);
    assert_eq!(log(&t), ["1: all refused"]);
}

#[test]
fn waits_count_from_when_they_are_made_also_when_another_one_of_a_join_completes_first() {
    let mut t = start();
    story(&mut t, "story", async |fx| {
        let (short, long) = sc_flow::join(fx.delay(secs(0.25)), fx.delay(secs(0.5))).await;
        short?;
        long?;
        tell(&fx, "both");
        Ok(())
    });
    t.ticks(0.25, 3);
    assert_eq!(log(&t), ["2: both"]);
}

#[test]
fn after_a_hitch_over_several_moments_of_a_pace_they_come_one_after_another() {
    let mut t = start();
    story(&mut t, "pace", async |fx| {
        let mut pace = fx.pace(0.25)?;
        for n in 1..=5 {
            pace.next().await?;
            tell(&fx, n);
        }
        Ok(())
    });
    t.tick(0.1);
    t.tick(0.8);
    t.ticks(0.1, 4);
    assert_eq!(log(&t), ["2: 1", "2: 2", "2: 3", "3: 4", "6: 5"]);
}

#[test]
fn no_frames_count_as_one() {
    let mut t = start();
    story(&mut t, "ticks", async |fx| {
        fx.ticks(0).await?;
        tell(&fx, "ticks(0)");
        Ok(())
    });
    t.ticks(0.25, 2);
    assert_eq!(log(&t), ["2: ticks(0)"]);
}
