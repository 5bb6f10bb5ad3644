//! Combinators: join, race, timeout, scope.

use std::cell::RefCell;

use crate::probe::{Guard, guard, log, reports, start, story, tell, told_story};
use sc_core::Clock;
use sc_flow::{Either, FlowCx, FlowError, FlowExt, join, join_all, race};

async fn after(fx: &FlowCx<crate::probe::Game>, seconds: f64, name: &'static str) -> &'static str {
    fx.delay(seconds).await.unwrap();
    tell(fx, name);
    name
}

#[test]
fn join_gives_both_values_when_the_later_one_has_come() {
    let mut t = start();
    story(&mut t, "story", async |fx| {
        let both = join(after(&fx, 0.3, "a"), after(&fx, 0.1, "b")).await;
        tell(&fx, format!("{both:?}"));
        Ok(())
    });
    t.ticks(0.1, 4);
    assert_eq!(log(&t), ["1: b", "3: a", r#"3: ("a", "b")"#]);
}

#[test]
fn join_may_borrow_locals() {
    let mut t = start();
    story(&mut t, "story", async |fx| {
        let seen = RefCell::new(Vec::new());
        let push = |wait: f64, name: &'static str| {
            let (seen, fx) = (&seen, &fx);
            async move {
                fx.delay(wait).await.unwrap();
                seen.borrow_mut().push(name);
            }
        };
        join(push(0.2, "late"), push(0.1, "early")).await;
        assert_eq!(*seen.borrow(), ["early", "late"]);
        tell(&fx, "joined");
        Ok(())
    });
    t.ticks(0.1, 3);
    assert_eq!(log(&t), ["2: joined"]);
}

#[test]
fn join_all_gives_every_value_in_the_order_of_the_futures() {
    let mut t = start();
    story(&mut t, "story", async |fx| {
        let waits = [(0.4, "a"), (0.2, "b"), (0.3, "c")];
        let all = join_all(waits.map(|(wait, name)| after(&fx, wait, name))).await;
        tell(&fx, format!("{all:?}"));
        let none: [std::future::Ready<u32>; 0] = [];
        assert!(join_all(none).await.is_empty());
        tell(&fx, "none at once");
        Ok(())
    });
    t.ticks(0.1, 5);
    assert_eq!(
        log(&t),
        [
            "2: b",
            "3: c",
            "4: a",
            r#"4: ["a", "b", "c"]"#,
            "4: none at once"
        ]
    );
}

#[test]
fn race_gives_the_first_and_drops_the_loser_at_once() {
    let mut t = start();
    let (fast, slow) = (guard(&t, "fast"), guard(&t, "slow"));
    story(&mut t, "story", async move |fx| {
        let held = |wait: f64, held: Guard| {
            let fx = &fx;
            async move {
                let _held = held;
                fx.delay(wait).await.unwrap();
                wait
            }
        };
        let won = race(held(9.0, slow), held(0.2, fast)).await;
        assert_eq!(won, Either::Second(0.2));
        tell(&fx, "won");
        fx.delay(9).await
    });
    t.tick(0.1);
    assert_eq!(log(&t), [""; 0]);
    t.tick(0.1);
    assert_eq!(log(&t), ["drop fast", "drop slow", "2: won"]);
    assert_eq!(reports(&t), [""; 0]);
}

#[test]
fn of_a_race_that_both_win_the_first_wins() {
    let mut t = start();
    story(&mut t, "story", async move |fx| {
        let won = race(fx.delay(0.2), fx.delay(0.2)).await;
        assert!(matches!(won, Either::First(Ok(()))));
        tell(&fx, "first");
        Ok(())
    });
    t.ticks(0.1, 2);
    assert_eq!(log(&t), ["2: first"]);
}

#[test]
fn cancelling_a_race_drops_all_who_run() {
    let mut t = start();
    let (a, b) = (guard(&t, "a"), guard(&t, "b"));
    let flow = told_story(&mut t, "story", async move |fx| {
        let held = |held: Guard| {
            let fx = &fx;
            async move {
                let _held = held;
                fx.delay(9).await
            }
        };
        race(held(a), held(b)).await;
        Ok(())
    });
    t.tick(0.1);
    t.cx().cancel(flow);
    let mut lines = log(&t);
    assert_eq!(lines.pop().unwrap(), "1: story Cancelled");
    lines.sort();
    assert_eq!(lines, ["drop a", "drop b"]);
}

#[test]
fn timeout_gives_the_value_in_time_and_none_and_drops_the_future_otherwise() {
    let mut t = start();
    let held = guard(&t, "late");
    story(&mut t, "story", async move |fx| {
        let value = fx.timeout(0.5, after(&fx, 0.2, "in time")).await?;
        assert_eq!(value, Some("in time"));
        let late = async {
            let _held = held;
            fx.delay(9).await
        };
        assert!(fx.timeout(0.2, late).await?.is_none());
        tell(&fx, "too late");
        Ok(())
    });
    t.ticks(0.1, 5);
    assert_eq!(log(&t), ["2: in time", "drop late", "4: too late"]);
}

#[test]
fn a_timeout_wins_over_a_value_of_the_same_tick_and_refuses_bad_times() {
    let mut t = start();
    story(&mut t, "story", async move |fx| {
        assert!(fx.timeout(0.2, fx.delay(0.2)).await?.is_none());
        for bad in [f64::NAN, f64::INFINITY] {
            let refused = fx.timeout(bad, fx.delay(1)).await;
            assert!(matches!(refused, Err(FlowError::BadTime(_))));
        }
        tell(&fx, "none");
        Ok(())
    });
    t.ticks(0.1, 3);
    assert_eq!(log(&t), ["2: none"]);
}

#[test]
fn the_children_of_a_scope_end_before_it_does() {
    let mut t = start();
    story(&mut t, "story", async |fx| {
        let value = fx
            .scope(async |scope| {
                scope.spawn(async {
                    after(&fx, 0.3, "slow child").await;
                });
                scope.spawn(async {
                    after(&fx, 0.1, "fast child").await;
                });
                tell(&fx, "body");
                7
            })
            .await;
        tell(&fx, format!("scope gave {value}"));
        Ok(())
    });
    t.ticks(0.1, 4);
    assert_eq!(
        log(&t),
        [
            "1: body",
            "1: fast child",
            "3: slow child",
            "3: scope gave 7"
        ]
    );
}

#[test]
fn children_may_borrow_what_outlives_the_scope_and_start_children() {
    let mut t = start();
    story(&mut t, "story", async |fx| {
        let seen = RefCell::new(Vec::new());
        fx.scope(async |scope| {
            for i in 0..3 {
                let (seen, fx) = (&seen, &fx);
                scope.spawn(async move {
                    fx.ticks(3 - i).await.unwrap();
                    seen.borrow_mut().push(i);
                });
            }
            fx.next_tick().await.unwrap();
            scope.spawn(async { seen.borrow_mut().push(9) });
        })
        .await;
        assert_eq!(
            *seen.borrow(),
            [2, 9, 1, 0],
            "the new one after those that run"
        );
        tell(&fx, "over");
        Ok(())
    });
    t.ticks(0.1, 5);
    assert_eq!(log(&t), ["4: over"]);
}

#[test]
fn cancelling_a_parent_cancels_its_children_first() {
    let mut t = start();
    let (parent, body) = (guard(&t, "parent"), guard(&t, "body"));
    let children = [guard(&t, "child"), guard(&t, "child")];
    let flow = told_story(&mut t, "story", async move |fx| {
        let _parent = parent;
        fx.scope(async |scope| {
            let _body = body;
            for held in children {
                let fx = &fx;
                scope.spawn(async move {
                    let _held = held;
                    let _ = fx.delay(9).await;
                    tell(fx, "never");
                });
            }
            fx.delay(9).await
        })
        .await
    });
    t.tick(0.1);
    t.cx().cancel(flow);
    assert_eq!(
        log(&t),
        [
            "drop child",
            "drop child",
            "drop body",
            "drop parent",
            "1: story Cancelled"
        ]
    );
    t.tick(0.1);
    assert_eq!(log(&t), [""; 0]);
}

#[test]
fn a_scope_that_loses_a_race_ends_with_its_children() {
    let mut t = start();
    let held = guard(&t, "child");
    story(&mut t, "story", async move |fx| {
        let scope = fx.scope(async |scope| {
            let fx = &fx;
            scope.spawn(async move {
                let _held = held;
                let _ = fx.delay(9).await;
            });
        });
        assert!(fx.timeout(0.2, scope).await?.is_none());
        tell(&fx, "after");
        Ok(())
    });
    t.ticks(0.1, 2);
    assert_eq!(log(&t), ["drop child", "2: after"]);
}

#[test]
fn combinators_wait_on_several_clocks_at_once() {
    let mut t = start();
    let w = t.world;
    t.cx().set_dilation(w, 0.5).unwrap();
    story(&mut t, "story", async move |fx| {
        let won = race(fx.delay(0.3), fx.delay(0.4).on(Clock::Real)).await;
        assert!(matches!(won, Either::Second(Ok(()))));
        tell(&fx, "real time was first");
        Ok(())
    });
    t.ticks(0.1, 7);
    assert_eq!(log(&t), ["4: real time was first"]);
}

#[test]
fn a_child_may_end_with_the_error_of_flows_and_question_marks_just_work() {
    let mut t = start();
    story(&mut t, "story", async |fx| {
        let fx = &fx;
        fx.scope(async |scope| {
            scope.spawn(async move {
                fx.delay(0.2).await?;
                tell(fx, "child");
                Ok(())
            });
            scope.spawn(async move { tell(fx, "with nothing") });
        })
        .await;
        tell(fx, "scope over");
        Ok(())
    });
    t.ticks(0.1, 3);
    assert_eq!(log(&t), ["1: with nothing", "2: child", "2: scope over"]);
    assert_eq!(reports(&t), [""; 0]);
}

#[test]
fn the_error_of_a_child_is_reported_once_and_the_others_and_the_scope_go_on() {
    let mut t = start();
    story(&mut t, "story", async |fx| {
        let fx = &fx;
        let value = fx
            .scope(async |scope| {
                scope.spawn(async move {
                    fx.delay(0.1).await?;
                    Err(FlowError::other("the bridge is out"))
                });
                scope.spawn(async move {
                    fx.delay(0.2).await?;
                    tell(fx, "the other child");
                    Ok(())
                });
                7
            })
            .await;
        tell(fx, value);
        Ok(())
    });
    t.tick(0.1);
    let reported = t.reports.take();
    assert_eq!(reported.len(), 1, "when the child ends");
    assert_eq!(reported[0].object.as_deref(), Some("story"));
    let text = reported[0].to_string();
    assert!(text.contains("the bridge is out"), "{text}");
    t.ticks(0.1, 3);
    assert_eq!(log(&t), ["3: the other child", "3: 7"]);
    assert_eq!(reports(&t), [""; 0]);
}

#[test]
fn a_childs_value_goes_into_what_it_borrows() {
    let mut t = start();
    story(&mut t, "story", async |fx| {
        let (fx, sum) = (&fx, std::cell::Cell::new(0));
        let add = |n: u64| {
            let sum = &sum;
            async move {
                fx.ticks(n).await?;
                sum.set(sum.get() + n);
                Ok(())
            }
        };
        fx.scope(async |scope| (1..=3).for_each(|n| scope.spawn(add(n))))
            .await;
        tell(fx, sum.get());
        Ok(())
    });
    t.ticks(0.1, 5);
    assert_eq!(log(&t), ["4: 6"]);
}

#[test]
fn race_and_timeout_may_borrow_locals() {
    let mut t = start();
    story(&mut t, "story", async |fx| {
        let mut count = 0;
        let counts = async {
            loop {
                fx.next_tick().await?;
                count += 1;
            }
            #[allow(unreachable_code)]
            Ok::<(), FlowError>(())
        };
        race(counts, fx.delay(0.35)).await;
        let counts = async {
            fx.next_tick().await?;
            count += 1;
            Ok::<(), FlowError>(())
        };
        assert!(fx.timeout(9, counts).await?.is_some());
        tell(&fx, count);
        Ok(())
    });
    t.ticks(0.1, 6);
    assert_eq!(log(&t), ["5: 4"]);
}
