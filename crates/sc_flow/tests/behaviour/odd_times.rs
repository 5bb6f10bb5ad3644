//! Odd times: turns that were put off, waits that were made before they are awaited, the order of the stage
//! when a wait that is over wakes others.

use crate::probe::{Bell, C, caught, log, reports, say, start, story, tell};
use futures::future::FutureExt;
use sc_core::{Clock, ReportKind};
use sc_flow::{DoForDuration, Flow, FlowError, FlowExt, ForEach, Step, WaitingFor, race};

#[test]
fn those_woken_by_a_wait_that_is_over_come_behind_those_that_run_every_frame() {
    let (mut t, bell) = (start(), Bell::default());
    let ring = bell.clone();
    story(&mut t, "woken", async move |fx| {
        bell.wait().await;
        tell(&fx, "woken in this stage");
        Ok(())
    });
    story(&mut t, "every", async move |fx| {
        fx.next_tick().await?;
        tell(&fx, "every frame");
        Ok(())
    });
    story(&mut t, "due", async move |fx| {
        fx.delay(0.2).await?;
        tell(&fx, "wait over");
        ring.ring();
        Ok(())
    });
    t.ticks(0.1, 2);
    assert_eq!(
        log(&t),
        ["2: wait over", "2: every frame", "2: woken in this stage"]
    );
}

#[test]
fn a_turn_that_a_paused_flow_missed_comes_also_while_its_world_is_paused() {
    let mut t = start();
    let w = t.world;
    let id = story(&mut t, "story", async move |fx| {
        let drive = fx.do_for_duration(1, |cx: &mut C<'_>, alpha, _| say(cx, alpha));
        drive.on(Clock::Real).await
    });
    t.tick(0.25);
    t.cx().set_paused(w, true).unwrap();
    t.tick(0.25);
    assert_eq!(log(&t), ["1: 0.25", "2: 0.5"], "Real goes on in a pause");
    t.cx().pause_flow(id);
    t.tick(0.25);
    t.cx().resume_flow(id);
    t.tick(0.25);
    assert_eq!(log(&t), ["4: 1"]);
}

#[test]
fn a_wait_polled_outside_its_flow_changes_nothing_for_others() {
    let mut t = start();
    let w = t.world;
    let id = story(&mut t, "story", async move |fx| {
        let _polls = OnDrop(Some(|| {
            let polled = fx.wait_until(|_, _| true).now_or_never();
            assert!(matches!(polled, Some(Err(FlowError::OutsideItsFlow))));
        }));
        fx.delay(100).await
    });
    t.tick(0.25);
    t.cx().cancel(id);
    Flow::new("next")
        .world(w)
        .spawn(&mut t.cx(), async |fx| {
            fx.delay(1).await?;
            tell(&fx, "over");
            Ok(())
        })
        .unwrap();
    t.ticks(0.25, 6);
    assert_eq!(log(&t), ["5: over"]);
}

struct OnDrop<F: FnOnce()>(Option<F>);

impl<F: FnOnce()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        self.0.take().into_iter().for_each(|f| f());
    }
}

#[test]
fn pausing_a_sleeping_node_past_its_deadline_and_resuming_twice_gives_one_turn() {
    let mut t = start();
    let w = t.world;
    let id = ForEach::index(3)
        .delay(0.2)
        .each(|cx: &mut C<'_>, i| say(cx, i))
        .world(w)
        .start(&mut t.cx())
        .unwrap();
    t.tick(0.1);
    t.cx().pause_flow(id);
    t.ticks(0.1, 4);
    t.cx().resume_flow(id);
    t.cx().resume_flow(id);
    t.tick(0.1);
    assert_eq!(log(&t), ["1: 0", "6: 1"]);
}

#[test]
fn a_flow_woken_in_a_pause_keeps_its_place_among_the_woken() {
    let mut t = start();
    let (w, first, second) = (t.world, Bell::default(), Bell::default());
    let bell = first.clone();
    story(&mut t, "started first", async move |fx| {
        bell.wait().await;
        tell(&fx, "started first, woken second");
        Ok(())
    });
    let bell = second.clone();
    story(&mut t, "started second", async move |fx| {
        bell.wait().await;
        tell(&fx, "started second, woken first");
        Ok(())
    });
    t.tick(0.1);
    t.cx().set_paused(w, true).unwrap();
    second.ring();
    first.ring();
    t.tick(0.1);
    t.cx().set_paused(w, false).unwrap();
    t.tick(0.1);
    assert_eq!(
        log(&t),
        [
            "3: started second, woken first",
            "3: started first, woken second"
        ]
    );
}

#[test]
fn builder_and_async_agree_on_a_first_turn_that_was_put_off_by_a_pause_of_the_flow() {
    let mut t = start();
    let w = t.world;
    let builder = DoForDuration::new(4, |cx: &mut C<'_>, alpha, _| {
        say(cx, format!("builder {alpha}"))
    });
    let builder = builder.world(w).start(&mut t.cx()).unwrap();
    let story = story(&mut t, "async", async move |fx| {
        fx.do_for_duration(4, |cx: &mut C<'_>, alpha, _| {
            say(cx, format!("async {alpha}"))
        })
        .await
    });
    for flow in [builder, story] {
        t.cx().pause_flow(flow);
    }
    t.ticks(0.5, 3);
    for flow in [builder, story] {
        t.cx().resume_flow(flow);
    }
    t.tick(0.5);
    assert_eq!(log(&t), ["4: builder 0.5", "4: async 0.5"]);
}

#[test]
fn builder_and_async_agree_on_a_first_turn_that_was_put_off_by_a_panic() {
    let mut t = start();
    let w = t.world;
    story(&mut t, "bad", async |_| panic!("once"));
    let builder = DoForDuration::new(4, |cx: &mut C<'_>, alpha, _| {
        say(cx, format!("builder {alpha}"))
    });
    builder.world(w).start(&mut t.cx()).unwrap();
    story(&mut t, "async", async move |fx| {
        fx.do_for_duration(4, |cx: &mut C<'_>, alpha, _| {
            say(cx, format!("async {alpha}"))
        })
        .await
    });
    assert!(caught(|| t.tick(0.5)).is_some());
    t.tick(0.5);
    assert_eq!(log(&t), ["2: builder 0.25", "2: async 0.25"]);
}

#[test]
fn a_first_turn_that_was_put_off_by_a_paused_world_counts_from_the_start_on_every_clock() {
    let mut t = start();
    let w = t.world;
    t.cx().set_paused(w, true).unwrap();
    story(&mut t, "story", async move |fx| {
        let real = fx.delay(2).on(Clock::Real);
        let game = fx.delay(1);
        real.await?;
        tell(&fx, "two seconds since the start");
        game.await?;
        tell(&fx, "one second of the game");
        Ok(())
    });
    t.ticks(0.5, 3);
    t.cx().set_paused(w, false).unwrap();
    t.ticks(0.5, 4);
    assert_eq!(
        log(&t),
        [
            "4: two seconds since the start",
            "5: one second of the game"
        ]
    );
}

#[test]
fn a_first_turn_whose_stage_was_lost_to_a_panic_elsewhere_counts_from_the_start() {
    let mut t = start();
    let w = t.world;
    let mut frames = 0;
    let _bomb = crate::probe::on_tick(&mut t, move |cx| {
        frames += 1;
        if frames == 1 {
            // Its first turn is to come in the next frame.
            let flow = Flow::new("async").world(w);
            let started = flow.spawn(cx, async move |fx| {
                fx.do_for_duration(4, |cx: &mut C<'_>, alpha, _| {
                    say(cx, format!("async {alpha}"))
                })
                .await
            });
            assert!(started.is_ok());
            let builder = DoForDuration::new(4, |cx: &mut C<'_>, alpha, _| {
                say(cx, format!("builder {alpha}"))
            });
            assert!(builder.world(w).start(cx).is_ok());
        }
        assert_ne!(frames, 2, "once");
    });
    t.tick(0.5);
    assert!(caught(|| t.tick(0.5)).is_some());
    t.tick(0.5);
    assert_eq!(log(&t), ["3: async 0.25", "3: builder 0.25"]);
}

#[test]
fn what_was_held_by_a_pause_comes_before_what_is_woken_after_it() {
    let mut t = start();
    let (w, early, late) = (t.world, Bell::default(), Bell::default());
    let bell = late.clone();
    story(&mut t, "late", async move |fx| {
        bell.wait().await;
        tell(&fx, "woken after the pause");
        Ok(())
    });
    let bell = early.clone();
    story(&mut t, "early", async move |fx| {
        bell.wait().await;
        tell(&fx, "woken in the pause");
        Ok(())
    });
    t.tick(0.1);
    t.cx().set_paused(w, true).unwrap();
    early.ring();
    t.ticks(0.1, 2);
    early.ring();
    t.cx().set_paused(w, false).unwrap();
    late.ring();
    t.tick(0.1);
    assert_eq!(
        log(&t),
        ["4: woken in the pause", "4: woken after the pause"]
    );
}

#[test]
fn ticks_count_from_the_frame_that_makes_them_not_from_their_first_poll() {
    let mut t = start();
    story(&mut t, "story", async move |fx| {
        let two = fx.ticks(2);
        fx.next_tick().await?;
        two.await?;
        tell(&fx, "two frames after the one that made it");
        Ok(())
    });
    t.ticks(0.1, 5);
    assert_eq!(log(&t), ["3: two frames after the one that made it"]);
}

#[test]
fn a_timeout_counts_from_when_it_is_made() {
    let mut t = start();
    story(&mut t, "story", async move |fx| {
        let limit = fx.timeout(0.5, std::future::pending::<()>());
        fx.delay(0.3).await?;
        assert!(limit.await?.is_none());
        tell(&fx, "over");
        Ok(())
    });
    t.ticks(0.1, 9);
    assert_eq!(log(&t), ["5: over"]);
}

#[test]
fn a_wait_without_deadline_beside_another_node_of_its_flow_is_warned_of() {
    let mut t = start();
    story(&mut t, "story", async move |fx| {
        let open = fx.wait_until(|cx: &mut C<'_>, _| cx.host().open);
        let music = fx.do_for_duration(1000, |_, _, _| ());
        let _ = race(open, music).await;
        Ok(())
    });
    t.ticks(1, 40);
    assert_eq!(reports(&t), ["EndlessWait"]);
}

#[test]
fn a_parked_loop_that_is_paused_too_is_warned_of_as_a_parked_loop() {
    let mut t = start();
    let w = t.world;
    let id = ForEach::index(3)
        .each(|_: &mut C<'_>, _| Step::Suspend)
        .world(w)
        .start(&mut t.cx())
        .unwrap();
    t.tick(1);
    t.cx().pause_flow(id);
    t.ticks(1, 40);
    assert_eq!(reports(&t), ["LoopParked"]);
}

#[test]
fn a_wait_without_deadline_is_warned_of_though_a_sibling_wait_ends_each_frame() {
    let mut t = start();
    story(&mut t, "story", async move |fx| {
        let open = fx.wait_until(|cx: &mut C<'_>, _| cx.host().open);
        let others = async {
            loop {
                fx.wait_until(|_, _| true).await?;
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
    let is_endless = |kind| matches!(kind, ReportKind::Extension(of) if of.name == "EndlessWait");
    assert!(is_endless(made[0].kind));
    assert!(
        made[0].what.contains("without deadline for 30s"),
        "{}",
        made[0].what
    );
}

#[test]
fn the_list_shows_what_a_flow_does_that_is_paused_in_a_paused_world() {
    let mut t = start();
    let w = t.world;
    let id = story(&mut t, "story", async move |fx| fx.delay(3).await);
    t.ticks(1, 2);
    t.cx().set_paused(w, true).unwrap();
    t.cx().pause_flow(id);
    t.ticks(1, 5);
    let info = t.cx().flow(id).unwrap();
    assert_eq!(info.waiting_for, WaitingFor::Resume);
    t.cx().set_paused(w, false).unwrap();
    t.ticks(1, 3);
    assert!(t.cx().resume_flow(id));
    t.tick(1);
    assert!(t.cx().flow_list().is_empty());
}
