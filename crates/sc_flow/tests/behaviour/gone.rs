//! What flows are bound to, and what happens when that is gone: worlds, owners, the runtime.

use std::cell::RefCell;
use std::rc::Rc;

use crate::probe::{
    Bell, C, Game, Test, caught, guard, log, on_tick, reports, say, start, story, tell, thing,
    told_story, world,
};
use sc_core::{AccessError, FrameError, Owner, PanicPolicy, Stage};
use sc_flow::{DoForDuration, Flow, FlowCx, FlowError, FlowExt, ForEach, Step, WaitUntil};

/// A flow asleep for an hour, bound to an object.
fn asleep(t: &mut Test, owner: &Owner<crate::probe::Thing>, name: &'static str) {
    let w = t.world;
    Flow::new(name)
        .world(w)
        .owner(owner)
        .on_finished(move |cx: &mut C<'_>, f| say(cx, format!("{name} {f:?}")))
        .spawn(&mut t.cx(), async |fx| fx.delay(3600).await)
        .unwrap();
}

#[test]
fn an_owner_shut_down_between_frames_ends_its_flow_in_the_next_begin_even_asleep_for_an_hour() {
    let mut t = start();
    let owner = thing(&mut t);
    asleep(&mut t, &owner, "bound");
    t.tick(0.1);
    owner.shutdown(&mut t.cx()).unwrap();
    t.rt.begin_frame(&mut t.host, 0.1).unwrap();
    assert_eq!(log(&t), ["2: bound Aborted"]);
    t.rt.run_through(&mut t.host, Stage::Console).unwrap();
    t.rt.end_frame(&mut t.host).unwrap();
    assert_eq!(log(&t), [""; 0]);
}

#[test]
fn an_owner_shut_down_in_a_tick_ends_its_flow_by_the_next_stage() {
    let mut t = start();
    let owner = thing(&mut t);
    asleep(&mut t, &owner, "bound");
    t.host.things.push(owner);
    let _script = on_tick(&mut t, |cx| {
        if cx.frame() == 2 {
            let id = cx.host().things[0].id();
            cx.shutdown(id).unwrap();
            say(cx, "shut down");
        }
    });
    t.rt.begin_frame(&mut t.host, 0.1).unwrap();
    t.rt.run_through(&mut t.host, Stage::Console).unwrap();
    t.rt.end_frame(&mut t.host).unwrap();
    t.rt.begin_frame(&mut t.host, 0.1).unwrap();
    t.rt.run_through(&mut t.host, Stage::Flows).unwrap();
    assert_eq!(log(&t), ["2: shut down", "2: bound Aborted"]);
    t.rt.run_through(&mut t.host, Stage::Console).unwrap();
    t.rt.end_frame(&mut t.host).unwrap();
}

#[test]
fn an_owner_that_is_dropped_ends_its_flow_even_asleep_for_an_hour() {
    let mut t = start();
    let owner = thing(&mut t);
    asleep(&mut t, &owner, "bound");
    t.tick(0.1);
    drop(owner);
    t.tick(0.1);
    assert_eq!(log(&t), ["2: bound Aborted"]);
    let owner = thing(&mut t);
    asleep(&mut t, &owner, "bound");
    t.tick(0.1);
    std::thread::spawn(move || drop(owner)).join().unwrap();
    t.tick(0.1);
    assert_eq!(log(&t), ["4: bound Aborted"]);
}

#[test]
fn an_owner_that_panicked_in_its_tick_ends_its_flow() {
    let mut t = start();
    t.rt.set_panic_policy(PanicPolicy::Isolate);
    let owner = on_tick(&mut t, |cx| assert!(cx.frame() < 2, "on purpose"));
    let w = t.world;
    Flow::new("bound")
        .world(w)
        .owner(&owner)
        .on_finished(move |cx: &mut C<'_>, f| say(cx, format!("{f:?}")))
        .spawn(&mut t.cx(), async |fx| fx.delay(3600).await)
        .unwrap();
    t.ticks(0.1, 2);
    assert_eq!(log(&t), ["2: Aborted"]);
}

#[test]
fn a_flow_is_bound_to_one_life_of_its_owner() {
    let mut t = start();
    let w = t.world;
    let owner = thing(&mut t);
    asleep(&mut t, &owner, "first life");
    let mut cx = t.cx();
    owner.shutdown(&mut cx).unwrap();
    cx.initialize(&owner, w).unwrap();
    asleep(&mut t, &owner, "second life");
    t.ticks(0.1, 2);
    assert_eq!(log(&t), ["1: first life Aborted"]);
    assert_eq!(t.cx().cancel_flows_of(&owner), 1);
    assert_eq!(log(&t), ["2: second life Cancelled"]);
}

#[test]
fn a_flow_whose_owner_goes_in_the_same_stage_before_its_turn_has_no_turn() {
    let mut t = start();
    let owner = thing(&mut t);
    let id = owner.id();
    story(&mut t, "killer", async move |fx| {
        fx.next_tick().await?;
        fx.with(|cx| cx.shutdown(id))??;
        Ok(())
    });
    let w = t.world;
    Flow::new("bound")
        .world(w)
        .owner(&owner)
        .on_finished(|cx: &mut C<'_>, f| say(cx, format!("{f:?}")))
        .spawn(&mut t.cx(), async |fx| {
            loop {
                tell(&fx, "turn");
                fx.next_tick().await?;
            }
        })
        .unwrap();
    t.ticks(0.1, 2);
    assert_eq!(log(&t), ["1: turn", "2: Aborted"]);
}

#[test]
fn a_body_that_ends_its_own_owner_gets_no_further_call() {
    let mut t = start();
    let w = t.world;
    for answer in [Step::Continue, Step::Break, Step::Suspend] {
        let owner = thing(&mut t);
        let id = owner.id();
        let before = t.rt.frame_number();
        ForEach::index(1)
            .each(move |cx: &mut C<'_>, _| {
                cx.shutdown(id).unwrap();
                answer
            })
            .completed(|cx, f| say(cx, format!("completed {f:?}")))
            .on_finished(|cx, f| say(cx, format!("finished {f:?}")))
            .world(w)
            .owner(&owner)
            .start(&mut t.cx())
            .unwrap();
        t.ticks(0.1, 2);
        let lines = log(&t);
        assert_eq!(lines.len(), 1, "{answer:?} after frame {before}: {lines:?}");
        assert!(lines[0].ends_with("finished Aborted"), "{lines:?}");
    }
}

#[test]
fn a_batch_ends_with_the_item_that_ended_its_owner() {
    let mut t = start();
    let w = t.world;
    let owner = thing(&mut t);
    let id = owner.id();
    ForEach::index(3)
        .items_per_tick(3)
        .each(move |cx: &mut C<'_>, i| {
            say(cx, i);
            cx.shutdown(id).unwrap();
        })
        .completed(|cx, f| say(cx, format!("completed {f:?}")))
        .world(w)
        .owner(&owner)
        .start(&mut t.cx())
        .unwrap();
    t.ticks(0.1, 2);
    assert_eq!(log(&t), ["1: 0"]);
}

#[test]
fn a_flow_whose_owner_is_gone_gets_no_gameplay_callback_from_a_cancel_or_a_continue() {
    let mut t = start();
    let w = t.world;
    for cancel in [true, false] {
        let owner = thing(&mut t);
        let flow = ForEach::index(1)
            .each(|_: &mut C<'_>, _| Step::Suspend)
            .completed(|cx, f| say(cx, format!("completed {f:?}")))
            .on_finished(|cx, f| {
                let line = format!("finished {f:?}");
                cx.host().log.add(line);
            })
            .world(w)
            .owner(&owner)
            .start(&mut t.cx())
            .unwrap();
        t.tick(0.1);
        let mut cx = t.cx();
        owner.shutdown(&mut cx).unwrap();
        if cancel {
            cx.cancel(flow);
        } else {
            cx.continue_loop(flow);
        }
        t.tick(0.1);
        assert_eq!(log(&t), ["finished Aborted"], "cancel: {cancel}");
    }
}

#[test]
fn every_flow_of_an_owner_ends_though_the_cleanup_of_one_panics() {
    let mut t = start();
    let w = t.world;
    let owner = thing(&mut t);
    for panics in [true, false] {
        Flow::new("bound")
            .world(w)
            .owner(&owner)
            .on_finished(move |cx: &mut C<'_>, f| {
                assert!(!panics, "on purpose");
                say(cx, format!("{f:?}"));
            })
            .spawn(&mut t.cx(), async |fx| fx.delay(3600).await)
            .unwrap();
    }
    t.tick(0.1);
    owner.shutdown(&mut t.cx()).unwrap();
    assert_eq!(caught(|| t.tick(0.1)).as_deref(), Some("on purpose"));
    t.tick(0.1);
    assert_eq!(log(&t).len(), 1);
    assert!(t.cx().flow_list().is_empty());
}

#[test]
fn a_body_that_destroys_its_own_world_gets_no_further_call_but_the_cleanup() {
    for answer in [Step::Continue, Step::Break, Step::Suspend] {
        let mut t = start();
        let w = t.world;
        ForEach::index(1)
            .each(move |cx: &mut C<'_>, _| {
                cx.destroy_world(w);
                answer
            })
            .completed(|cx, f| say(cx, format!("completed {f:?}")))
            .on_finished(|cx, f| say(cx, format!("finished {f:?}")))
            .world(w)
            .start(&mut t.cx())
            .unwrap();
        t.ticks(0.1, 2);
        assert_eq!(log(&t), ["1: finished Aborted"], "{answer:?}");
    }
}

#[test]
fn a_batch_ends_with_the_item_that_destroyed_its_world() {
    let mut t = start();
    let w = t.world;
    ForEach::index(3)
        .items_per_tick(3)
        .each(move |cx: &mut C<'_>, i| {
            say(cx, i);
            cx.destroy_world(w);
        })
        .world(w)
        .start(&mut t.cx())
        .unwrap();
    t.tick(0.1);
    assert_eq!(log(&t), ["1: 0"]);
    // The same for the laps of a drive.
    let mut t = start();
    let w = t.world;
    DoForDuration::new(0.1, move |cx: &mut C<'_>, _, _| {
        say(cx, "lap");
        cx.destroy_world(w);
    })
    .laps(3)
    .world(w)
    .start(&mut t.cx())
    .unwrap();
    t.tick(1);
    assert_eq!(log(&t), ["1: lap"]);
}

#[test]
fn a_condition_that_destroys_its_world_and_is_true_is_aborted() {
    let mut t = start();
    let w = t.world;
    WaitUntil::new(move |cx: &mut C<'_>, _| cx.destroy_world(w))
        .satisfied(|cx| say(cx, "satisfied"))
        .on_finished(|cx, f| say(cx, format!("{f:?}")))
        .world(w)
        .start(&mut t.cx())
        .unwrap();
    t.tick(0.1);
    assert_eq!(log(&t), ["1: Aborted"]);
}

#[test]
fn a_world_destroyed_in_a_flow_body_ends_all_its_flows_and_no_others() {
    let mut t = start();
    let (w, other) = (t.world, world(&mut t));
    story(&mut t, "destroyer", async move |fx| {
        fx.with(|cx| {
            cx.destroy_world(w);
            say(cx, "destroyed");
        })?;
        fx.next_tick().await?;
        tell(&fx, "never");
        Ok(())
    });
    told_story(&mut t, "neighbour", async |fx| {
        tell(&fx, "never");
        Ok(())
    });
    Flow::new("other")
        .world(other)
        .spawn(&mut t.cx(), async |fx| {
            tell(&fx, "other");
            Ok(())
        })
        .unwrap();
    t.ticks(0.1, 2);
    assert_eq!(
        log(&t),
        ["1: destroyed", "1: neighbour Aborted", "1: other"]
    );
}

#[test]
fn a_world_that_ends_ends_its_flows_newest_first_and_nothing_can_start_in_it() {
    let mut t = start();
    let w = t.world;
    for name in ["a", "b", "c"] {
        let held = guard(&t, name);
        Flow::new(name)
            .world(w)
            .on_finished(move |cx: &mut C<'_>, f| {
                say(cx, format!("{name} {f:?}"));
                let again = cx.spawn_flow("again", async |_| Ok(()));
                assert!(matches!(again, Err(FlowError::NoLiveWorld { .. })));
            })
            .spawn(&mut t.cx(), async move |fx| {
                let _held = held;
                fx.delay(9).await
            })
            .unwrap();
    }
    t.tick(0.1);
    t.cx().destroy_world(w);
    assert_eq!(
        log(&t),
        [
            "drop c",
            "1: c Aborted",
            "drop b",
            "1: b Aborted",
            "drop a",
            "1: a Aborted"
        ]
    );
    assert_eq!(reports(&t), ["FlowWithoutWorld"; 3]);
}

#[test]
fn flows_end_before_the_tickables_of_their_world() {
    struct Late;
    impl sc_core::Tickable<Game> for Late {
        fn shutdown(&mut self, cx: &mut C<'_>) {
            say(cx, "tickable");
        }
    }
    let mut t = start();
    let w = t.world;
    let _late = t.cx().spawn_in(w, Late).unwrap();
    told_story(&mut t, "flow", async |fx| fx.delay(9).await);
    t.cx().destroy_world(w);
    assert_eq!(log(&t), ["0: flow Aborted", "0: tickable"]);
}

#[test]
fn a_runtime_that_is_shut_down_aborts_every_flow_and_starts_no_more() {
    let mut t = start();
    told_story(&mut t, "in a world", async |fx| fx.delay(9).await);
    Flow::new("global")
        .runtime()
        .on_finished(|cx: &mut C<'_>, f| say(cx, format!("global {f:?}")))
        .spawn(&mut t.cx(), async |fx| fx.delay(9).await)
        .unwrap();
    t.tick(0.1);
    t.rt.shutdown(&mut t.host);
    assert_eq!(log(&t), ["1: in a world Aborted", "1: global Aborted"]);
    let after = Flow::new("after").runtime();
    assert!(after.spawn(&mut t.cx(), async |_| Ok(())).is_err());
    assert!(matches!(
        t.rt.tick_secs(&mut t.host, 0.1),
        Err(FrameError::ShutDown)
    ));
}

#[test]
fn a_runtime_that_is_merely_dropped_calls_nothing_and_drops_the_futures() {
    struct Late(FlowCx<Game>, crate::probe::Log);
    impl Drop for Late {
        fn drop(&mut self) {
            let access = self.0.with(|_| ());
            assert!(matches!(
                access,
                Err(FlowError::Access(AccessError::OutOfScope))
            ));
            self.1.add("guard");
        }
    }
    let mut t = start();
    let lines = t.host.log.clone();
    let bell = Bell::default();
    let theirs = bell.clone();
    let their_lines = lines.clone();
    let w = t.world;
    for flow in [Flow::new("a").world(w), Flow::new("b").runtime()] {
        let (bell, lines) = (theirs.clone(), their_lines.clone());
        flow.on_finished(|cx: &mut C<'_>, _| say(cx, "never"))
            .spawn(&mut t.cx(), async move |fx| {
                let late = Late(fx, lines);
                bell.wait().await;
                drop(late);
                Ok(())
            })
            .unwrap();
    }
    t.tick(0.1);
    let waker = bell.waker().unwrap();
    let Test { rt, .. } = t;
    drop(rt);
    assert_eq!(lines.take(), ["guard", "guard"]);
    waker.wake();
    bell.ring();
    assert_eq!(lines.take(), [""; 0]);
}

#[test]
fn guards_run_by_a_cancel_reach_host_and_runtime() {
    struct Closes(FlowCx<Game>, &'static str);
    impl Drop for Closes {
        fn drop(&mut self) {
            tell(&self.0, self.1);
        }
    }
    let mut t = start();
    let spawn = |t: &mut Test, name: &'static str| {
        told_story(t, name, async move |fx| {
            let closes = Closes(fx, "guard");
            closes.0.delay(9).await
        })
    };
    let flow = spawn(&mut t, "from outside");
    t.tick(0.1);
    t.cx().cancel(flow);
    assert_eq!(log(&t), ["1: guard", "1: from outside Cancelled"]);
    let flow = spawn(&mut t, "from a flow");
    t.tick(0.1);
    story(&mut t, "canceller", async move |fx| {
        fx.with(|cx| cx.cancel(flow))?;
        tell(&fx, "after");
        Ok(())
    });
    t.tick(0.1);
    assert_eq!(
        log(&t),
        ["3: guard", "3: from a flow Cancelled", "3: after"]
    );
    spawn(&mut t, "by teardown");
    t.tick(0.1);
    let w = t.world;
    t.cx().destroy_world(w);
    assert_eq!(log(&t), ["4: guard", "4: by teardown Aborted"]);
}

#[test]
fn a_guard_may_cancel_its_own_flow_and_others() {
    struct Ends(FlowCx<Game>, Rc<RefCell<Vec<sc_flow::FlowId>>>);
    impl Drop for Ends {
        fn drop(&mut self) {
            let ids = self.1.take();
            let ended = self
                .0
                .with(|cx| ids.iter().filter(|&&id| cx.cancel(id)).count());
            assert_eq!(ended.unwrap(), 1);
        }
    }
    let mut t = start();
    let ids = Rc::new(RefCell::new(Vec::new()));
    let theirs = Rc::clone(&ids);
    let me = told_story(&mut t, "me", async move |fx| {
        let ends = Ends(fx, theirs);
        ends.0.delay(9).await
    });
    let other = told_story(&mut t, "other", async |fx| fx.delay(9).await);
    ids.borrow_mut().extend([me, other]);
    t.tick(0.1);
    assert!(t.cx().cancel(me));
    assert_eq!(log(&t), ["1: other Cancelled", "1: me Cancelled"]);
    assert!(t.cx().flow_list().is_empty());
}
