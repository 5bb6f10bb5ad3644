//! The awaitables under the wakers of the `futures` crate: `join!`, `select!`, `FuturesUnordered`.

use std::time::Duration;

use crate::probe::{Game, log, reports, start, story, tell};
use futures::channel::{mpsc, oneshot};
use futures::future::{FutureExt, LocalBoxFuture, Shared, join_all, select};
use futures::stream::{FuturesUnordered, StreamExt};
use futures::{pin_mut, select_biased};
use sc_flow::{FlowCx, FlowError, FlowExt};

#[test]
fn join_macro() {
    let mut t = start();
    story(&mut t, "story", async |fx: FlowCx<Game>| {
        let waits = futures::join!(fx.delay(0.3), fx.delay(0.1), fx.ticks(2));
        waits.0.and(waits.1).and(waits.2)?;
        tell(&fx, "joined");
        let (three, ()) = futures::try_join!(
            async {
                fx.delay(0.2).await?;
                Ok::<_, FlowError>(3)
            },
            fx.next_tick(),
        )?;
        tell(&fx, three);
        Ok(())
    });
    t.ticks(0.1, 6);
    assert_eq!(log(&t), ["3: joined", "5: 3"]);
}

#[test]
fn two_delays_in_a_futures_unordered_come_in_order_of_their_deadlines() {
    let mut t = start();
    story(&mut t, "story", async |fx: FlowCx<Game>| {
        let wait = |seconds: f64, name: &'static str| {
            let delay = fx.delay(seconds);
            async move { delay.await.map(|()| name) }
        };
        let mut waits = FuturesUnordered::new();
        waits.push(wait(0.4, "late"));
        waits.push(wait(0.2, "early"));
        while let Some(name) = waits.next().await {
            tell(&fx, name?);
        }
        tell(&fx, "all");
        Ok(())
    });
    t.ticks(0.1, 5);
    assert_eq!(log(&t), ["2: early", "4: late", "4: all"]);
}

#[test]
fn every_awaitable_wakes_a_futures_unordered() {
    let mut t = start();
    story(&mut t, "story", async |fx: FlowCx<Game>| {
        let fx = &fx;
        let mut pace = fx.pace(0.3)?;
        let other = fx.with(|cx| cx.spawn_flow("other", async |fx| fx.ticks(4).await))??;
        let mut all: FuturesUnordered<LocalBoxFuture<'_, Result<&str, FlowError>>> =
            FuturesUnordered::new();
        all.push(async { fx.ticks(2).await.map(|()| "ticks") }.boxed_local());
        all.push(async { fx.delay(0).await.map(|()| "delay of 0") }.boxed_local());
        all.push(async { pace.next().await.map(|()| "pace") }.boxed_local());
        // Started in this stage, it has its first turn in the next frame.
        all.push(async { fx.flow(other).await.map(|_| "other flow") }.boxed_local());
        let drive = fx.do_for_duration(0.4, |_, _, _| ());
        all.push(async { drive.await.map(|()| "drive") }.boxed_local());
        let wait = fx.wait_until(|cx, _| cx.host().open);
        all.push(async { wait.await.map(|_| "condition") }.boxed_local());
        let rarely = fx.wait_until(|_, _| false).every(0.7).timeout(0.6);
        all.push(async { rarely.await.map(|_| "deadline") }.boxed_local());
        let changed = fx.changed(|cx| cx.host().open);
        all.push(async { changed.await.map(|_| "changed") }.boxed_local());
        let looped = fx.for_each(0..3).delay(0.3).each(async |_| ());
        all.push(async { looped.await.map(|_| "loop") }.boxed_local());
        while let Some(name) = all.next().await {
            tell(fx, name?);
        }
        Ok(())
    });
    for frame in 1..=9 {
        t.host.open = frame >= 8;
        t.tick(0.1);
    }
    let mut seen = log(&t);
    // Within a frame the order is that of `FuturesUnordered`.
    seen.sort();
    assert_eq!(
        seen,
        [
            "2: delay of 0",
            "3: pace",
            "3: ticks",
            "4: drive",
            "6: deadline",
            "6: other flow",
            "7: loop",
            "8: changed",
            "8: condition",
        ]
    );
    assert_eq!(reports(&t), [""; 0]);
}

#[test]
fn select_in_a_loop_loses_no_wake_and_drops_no_wait() {
    let mut t = start();
    story(&mut t, "story", async |fx: FlowCx<Game>| {
        let (mut slow, mut quick) = (0, 0);
        let deadline = fx.delay(1.0).fuse();
        pin_mut!(deadline);
        loop {
            let step = fx.delay(0.2).fuse();
            let frame = fx.ticks(3).fuse();
            pin_mut!(step, frame);
            select_biased! {
                ended = deadline => {
                    ended?;
                    break;
                }
                waited = step => {
                    waited?;
                    quick += 1;
                }
                counted = frame => {
                    counted?;
                    slow += 1;
                }
            }
        }
        tell(&fx, format!("{quick} and {slow}"));
        Ok(())
    });
    t.ticks(0.1, 10);
    // At 0.2, 0.4, 0.6, 0.8; at 1.0 the deadline comes first.
    assert_eq!(log(&t), ["10: 4 and 0"]);
}

#[test]
fn the_fair_select_macro_finds_the_one_that_is_ready() {
    let mut t = start();
    story(&mut t, "story", async |fx: FlowCx<Game>| {
        for round in 0..20 {
            let (near, far) = (fx.delay(0.1).fuse(), fx.delay(60).fuse());
            pin_mut!(near, far);
            futures::select! {
                waited = far => waited?,
                waited = near => {
                    waited?;
                    tell(&fx, round);
                }
            }
        }
        Ok(())
    });
    t.ticks(0.1, 20);
    let expected: Vec<String> = (0..20).map(|n| format!("{}: {n}", n + 1)).collect();
    assert_eq!(log(&t), expected);
}

#[test]
fn select_gives_the_loser_back_and_it_can_be_awaited_on() {
    let mut t = start();
    story(&mut t, "story", async |fx: FlowCx<Game>| {
        let (near, far) = (fx.delay(0.2), fx.delay(0.5));
        let left = match select(near, far).await {
            futures::future::Either::Left((waited, far)) => {
                waited?;
                far
            }
            futures::future::Either::Right(_) => return Err(FlowError::other("the far one")),
        };
        tell(&fx, "near");
        left.await?;
        tell(&fx, "far");
        Ok(())
    });
    t.ticks(0.1, 5);
    assert_eq!(log(&t), ["2: near", "5: far"]);
}

#[test]
fn a_channel_fed_from_outside_and_from_another_thread_wakes_the_flow() {
    let mut t = start();
    let (sender, mut receiver) = mpsc::unbounded();
    let (answer, question) = oneshot::channel();
    story(&mut t, "story", async move |fx: FlowCx<Game>| {
        while let Some(line) = receiver.next().await {
            tell(&fx, line);
        }
        let answer: u32 = question.await.map_err(FlowError::other)?;
        tell(&fx, answer);
        Ok(())
    });
    t.tick(0.1);
    sender.unbounded_send("a").unwrap();
    sender.unbounded_send("b").unwrap();
    t.tick(0.1);
    assert_eq!(log(&t), ["2: a", "2: b"]);
    t.tick(0.1);
    let thread = std::thread::spawn(move || {
        sender.unbounded_send("from a thread").unwrap();
        drop(sender);
        answer.send(42).unwrap();
    });
    thread.join().unwrap();
    t.tick(0.1);
    assert_eq!(log(&t), ["4: from a thread", "4: 42"]);
}

#[test]
fn a_shared_future_wakes_every_flow_that_awaits_it() {
    let mut t = start();
    let (open, gate) = oneshot::channel::<()>();
    let gate: Shared<_> = gate.shared();
    for _ in 0..3 {
        let gate = gate.clone();
        story(&mut t, "story", async move |fx: FlowCx<Game>| {
            gate.await.map_err(FlowError::other)?;
            tell(&fx, "through");
            Ok(())
        });
    }
    t.tick(0.1);
    open.send(()).unwrap();
    t.tick(0.1);
    assert_eq!(log(&t), ["2: through"; 3]);
}

#[test]
fn many_delays_in_one_futures_unordered_all_come_each_in_its_frame() {
    let mut t = start();
    story(&mut t, "story", async |fx: FlowCx<Game>| {
        let delays = (1..=200).map(|n: u64| {
            let millis = (n * 37) % 1_000 + 1;
            let delay = fx.delay(Duration::from_millis(millis));
            async move { delay.await.map(|()| millis) }
        });
        let mut delays: FuturesUnordered<_> = delays.collect();
        while let Some(millis) = delays.next().await {
            let frame = fx.with(|cx| cx.frame())?;
            assert_eq!(frame, millis?.div_ceil(10));
        }
        let joined = join_all((1..=5).map(|n| fx.ticks(n))).await;
        assert!(joined.iter().all(Result::is_ok));
        tell(&fx, "all");
        Ok(())
    });
    t.ticks(0.01, 120);
    assert_eq!(log(&t).len(), 1);
    assert_eq!(reports(&t), [""; 0]);
}

#[test]
fn a_wake_between_two_polls_in_one_frame_is_not_lost() {
    let mut t = start();
    let (sender, mut receiver) = mpsc::channel::<u32>(0);
    story(&mut t, "receiver", async move |fx: FlowCx<Game>| {
        while let Some(n) = receiver.next().await {
            tell(&fx, n);
        }
        Ok(())
    });
    story(&mut t, "sender", async move |_| {
        use futures::SinkExt;
        let mut sender = sender;
        // A channel without room: each side has to wake the other.
        for n in 0..5 {
            sender.send(n).await.map_err(FlowError::other)?;
        }
        Ok(())
    });
    t.ticks(0.1, 2);
    let values: Vec<String> = log(&t).iter().map(|line| line[3..].to_owned()).collect();
    assert_eq!(values, ["0", "1", "2", "3", "4"]);
    assert!(t.cx().flow_list().is_empty());
}
