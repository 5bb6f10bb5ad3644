//! How flows are woken: first woken first, by themselves, by each other, by other threads.

use std::future::poll_fn;
use std::task::Poll;

use crate::probe::{Bell, C, log, reports, start, story, tell, told_story, world, yield_now};
use sc_flow::{Flow, FlowExt};

#[test]
fn the_woken_since_the_last_stage_run_first_woken_first() {
    let mut t = start();
    let bells: Vec<Bell> = (0..3).map(|_| Bell::default()).collect();
    for (i, bell) in bells.iter().cloned().enumerate() {
        story(&mut t, "waiter", async move |fx| {
            bell.wait().await;
            tell(&fx, i);
            Ok(())
        });
    }
    t.tick(0.1);
    for i in [2, 0, 1] {
        bells[i].ring();
    }
    t.tick(0.1);
    assert_eq!(log(&t), ["2: 2", "2: 0", "2: 1"]);
}

#[test]
fn first_woken_first_also_between_wakers_and_ends_of_awaited_flows() {
    let mut t = start();
    let bell = Bell::default();
    let leaf = story(&mut t, "leaf", async |fx| fx.delay(100).await);
    story(&mut t, "awaiter", async move |fx| {
        let _ = fx.flow(leaf).await;
        tell(&fx, "awaiter");
        Ok(())
    });
    let theirs = bell.clone();
    story(&mut t, "rung", async move |fx| {
        theirs.wait().await;
        tell(&fx, "rung");
        Ok(())
    });
    t.tick(0.1);
    bell.ring();
    t.cx().cancel(leaf);
    t.tick(0.1);
    assert_eq!(log(&t), ["2: rung", "2: awaiter"]);
}

#[test]
fn the_woken_in_this_stage_run_first_woken_first() {
    let mut t = start();
    let bells: Vec<Bell> = (0..3).map(|_| Bell::default()).collect();
    for (i, bell) in bells.iter().cloned().enumerate() {
        story(&mut t, "waiter", async move |fx| {
            bell.wait().await;
            tell(&fx, i);
            Ok(())
        });
    }
    story(&mut t, "ringer", async move |fx| {
        fx.next_tick().await?;
        for i in [1, 2, 0] {
            bells[i].ring();
        }
        tell(&fx, "rang");
        Ok(())
    });
    t.ticks(0.1, 2);
    assert_eq!(log(&t), ["2: rang", "2: 1", "2: 2", "2: 0"]);
}

#[test]
fn a_flow_that_gives_way_by_waking_itself_goes_on_in_the_same_frame() {
    let mut t = start();
    story(&mut t, "polite", async |fx| {
        tell(&fx, "before");
        yield_now().await;
        tell(&fx, "after");
        Ok(())
    });
    story(&mut t, "other", async |fx| {
        tell(&fx, "other");
        Ok(())
    });
    t.tick(0.1);
    assert_eq!(log(&t), ["1: before", "1: other", "1: after"]);
    assert!(t.cx().flow_list().is_empty());
}

#[test]
fn a_wake_that_comes_from_a_thread_while_the_flow_is_being_polled_is_not_lost() {
    let mut t = start();
    story(&mut t, "racer", async |fx| {
        let mut polled = false;
        poll_fn(|context| {
            if polled {
                return Poll::Ready(());
            }
            polled = true;
            let waker = context.waker().clone();
            std::thread::spawn(move || waker.wake()).join().unwrap();
            Poll::Pending
        })
        .await;
        tell(&fx, "woken");
        Ok(())
    });
    t.tick(0.1);
    assert_eq!(log(&t), ["1: woken"]);
}

#[test]
fn a_self_waking_flow_cannot_hang_the_frame_and_is_reported_once() {
    let mut t = start();
    story(&mut t, "spinner", async |fx| {
        loop {
            fx.with(|cx| cx.host().log.add("spin"))?;
            yield_now().await;
        }
    });
    story(&mut t, "other", async |fx| {
        loop {
            fx.with(|cx| cx.host().log.add("other"))?;
            fx.next_tick().await?;
        }
    });
    for frame in 0..3 {
        t.tick(0.1);
        let lines = log(&t);
        assert_eq!(lines.iter().filter(|l| *l == "other").count(), 1);
        let spins = lines.iter().filter(|l| *l == "spin").count();
        assert!(spins > 1, "frame {frame}: it ran {spins} times");
        let made = t.reports.take();
        assert_eq!(made.len(), usize::from(frame == 0));
        for report in made {
            assert_eq!(report.object.as_deref(), Some("spinner"));
        }
    }
    assert_eq!(t.cx().cancel_flows_named("spinner"), 1);
}

#[test]
fn two_flows_that_wake_each_other_for_ever_cannot_hang_the_frame() {
    let mut t = start();
    let (ping, pong) = (Bell::default(), Bell::default());
    for (mine, theirs) in [(ping.clone(), pong.clone()), (pong, ping)] {
        story(&mut t, "player", async move |_fx| {
            loop {
                theirs.ring();
                mine.wait().await;
            }
        });
    }
    t.ticks(0.1, 2);
    assert_eq!(t.cx().flow_list().len(), 2);
    let names = reports(&t);
    assert!((1..=2).contains(&names.len()), "one a flow: {names:?}");
}

#[test]
fn a_chain_of_awaits_finishes_in_the_frame_its_leaf_finishes() {
    for by_time in [true, false] {
        let mut t = start();
        let mut last = story(&mut t, "leaf", async move |fx| {
            if by_time {
                fx.delay(0.2).await
            } else {
                fx.ticks(1).await
            }
        });
        for _ in 0..10 {
            let inner = last;
            last = told_story(&mut t, "link", async move |fx| {
                fx.flow(inner).await?;
                Ok(())
            });
        }
        t.ticks(0.1, 2);
        assert_eq!(log(&t), ["2: link Completed"; 10]);
    }
}

#[test]
fn across_worlds_a_waiter_whose_turn_is_over_goes_on_in_the_next_frame() {
    let mut t = start();
    let (first, second) = (t.world, world(&mut t));
    let spawn = |cx: &mut C<'_>, leaf_in, waiter_in, name: &'static str| {
        let leaf = Flow::new("leaf")
            .world(leaf_in)
            .spawn(cx, async |fx| fx.delay(0.2).await)
            .unwrap();
        Flow::new("waiter")
            .world(waiter_in)
            .spawn(cx, async move |fx| {
                fx.flow(leaf).await?;
                tell(&fx, name);
                Ok(())
            })
            .unwrap();
    };
    let mut cx = t.cx();
    spawn(&mut cx, first, second, "leaf before");
    spawn(&mut cx, second, first, "leaf after");
    t.ticks(0.1, 3);
    assert_eq!(log(&t), ["2: leaf before", "3: leaf after"]);
}
