//! Ids that are given out before their flows start: what can be done with a pending one, and what who
//! awaits it gets.

use std::hint;
use std::sync::mpsc::channel;
use std::thread;

use crate::probe::{C, Test, caught, log, reports, say, start, story, tell, world};
use sc_core::{PanicPolicy, WorldId};
use sc_flow::{
    Flow, FlowCx, FlowError, FlowExt, FlowFinish, FlowId, FlowState, ForEach, PendingFlows,
    Reservation, Reserved, Step, WaitUntil, join, race,
};

const CANCELLED: FlowState = FlowState::Ended(FlowFinish::Cancelled);

fn works_anywhere<T: Send + Sync + 'static>() {}

/// Gives out an id, and tells the runtime.
fn reserve(t: &mut Test) -> Reservation {
    let reservation = FlowId::reserve();
    t.cx().pending_flows().add(reservation.reserved());
    reservation
}

/// Starts a flow with a reserved id.
fn begin<F>(t: &mut Test, reservation: Reservation, body: F) -> Result<FlowId, FlowError>
where
    F: AsyncFnOnce(FlowCx<crate::probe::Game>) -> Result<(), FlowError> + 'static,
{
    let world = t.world;
    let flow = Flow::new("later").world(world).reserved(reservation);
    let flow = flow.on_finished(|cx: &mut C<'_>, finish| say(cx, format!("later {finish:?}")));
    flow.spawn(&mut t.cx(), body)
}

/// A flow that awaits one that has not started, and logs what it gets.
fn waiter(t: &mut Test, id: FlowId) {
    waiter_in(t, t.world, id);
}

fn waiter_in(t: &mut Test, world: WorldId, id: FlowId) {
    let flow = Flow::new("waiter").world(world);
    let body = async move |fx: FlowCx<crate::probe::Game>| {
        let got = match fx.flow(id).await {
            Ok(finish) => format!("got {finish:?}"),
            Err(error) => format!("got error {error}"),
        };
        tell(&fx, got);
        Ok(())
    };
    flow.spawn(&mut t.cx(), body).unwrap();
}

#[test]
fn the_flow_has_the_id_that_was_reserved_on_any_thread() {
    works_anywhere::<Reservation>();
    works_anywhere::<Reserved>();
    works_anywhere::<PendingFlows>();
    let mut t = start();
    let reservation = thread::spawn(FlowId::reserve).join().unwrap();
    let id = reservation.id();
    let started = begin(&mut t, reservation, async |fx| fx.delay(60).await);
    assert_eq!(started.unwrap(), id);
    assert_eq!(t.cx().flow(id).unwrap().id, id);
    assert_eq!(t.cx().flow(id).unwrap().name, "later");
    assert_eq!(t.cx().flow_list()[0].id, id);
    assert!(t.cx().cancel(id));
    assert_eq!(log(&t), ["0: later Cancelled"]);
    assert!(!t.cx().cancel(id));
    assert!(matches!(t.cx().flow(id), Err(FlowError::Gone)));
}

#[test]
fn by_its_reserved_id_a_flow_is_paused_and_resumed() {
    let mut t = start();
    let reservation = reserve(&mut t);
    let id = reservation.id();
    let started = begin(&mut t, reservation, async |fx| {
        loop {
            tell(&fx, "turn");
            fx.next_tick().await?;
        }
    });
    assert!(started.is_ok());
    assert!(t.cx().pause_flow(id));
    t.tick(0.1);
    assert!(t.cx().resume_flow(id));
    t.tick(0.1);
    assert_eq!(log(&t), ["2: turn"]);
    assert!(!t.cx().continue_loop(id), "not a loop that is parked");
}

#[test]
fn a_task_can_have_a_reserved_id() {
    let mut t = start();
    let w = t.world;
    let reservation = reserve(&mut t);
    let id = reservation.id();
    let task = Flow::new("task").world(w).reserved(reservation);
    let task = task.spawn_task(&mut t.cx(), async |_| 42).unwrap();
    assert_eq!(task.id(), id);
    t.tick(0.1);
    assert_eq!(task.take(), Some(42));
}

#[test]
fn a_pending_flow_is_neither_live_nor_gone() {
    let mut t = start();
    let reservation = reserve(&mut t);
    let id = reservation.id();
    let is_pending = |t: &mut Test| {
        assert!(matches!(t.cx().flow(id), Err(FlowError::Pending)));
        assert!(t.cx().flow_list().is_empty());
    };
    is_pending(&mut t);
    assert!(!t.cx().pause_flow(id));
    assert!(!t.cx().resume_flow(id));
    assert!(!t.cx().continue_loop(id));
    assert_eq!(t.cx().cancel_flows_named("later"), 0);
    t.tick(0.1);
    is_pending(&mut t);
    drop(reservation);
    assert!(matches!(t.cx().flow(id), Err(FlowError::Gone)));
    assert!(!t.cx().cancel(id));
}

#[test]
fn an_id_that_the_runtime_was_not_told_of_is_unknown() {
    let mut t = start();
    let reservation = FlowId::reserve();
    let id = reservation.id();
    assert!(matches!(t.cx().flow(id), Err(FlowError::Gone)));
    assert!(!t.cx().cancel(id));
    assert_eq!(reservation.reserved().state(), FlowState::Pending);
    waiter(&mut t, id);
    WaitUntil::ended(id)
        .satisfied(|cx: &mut C<'_>| say(cx, "ended"))
        .world(t.world)
        .start(&mut t.cx())
        .unwrap();
    t.tick(0.1);
    let gone = "1: got error the flow has ended: its id is stale";
    assert_eq!(log(&t), [gone, "1: ended"]);
    t.cx().pending_flows().add(reservation.reserved());
    assert!(matches!(t.cx().flow(id), Err(FlowError::Pending)));
    waiter(&mut t, id);
    t.tick(0.1);
    begin(&mut t, reservation, async |_| Ok(())).unwrap();
    t.tick(0.1);
    assert_eq!(log(&t), ["3: later Completed", "3: got Completed"]);
}

#[test]
fn two_runtimes_do_not_meet() {
    let (mut here, mut there) = (start(), start());
    let reservation = reserve(&mut here);
    let id = reservation.id();
    assert!(matches!(here.cx().flow(id), Err(FlowError::Pending)));
    assert!(matches!(there.cx().flow(id), Err(FlowError::Gone)));
    assert!(!there.cx().cancel(id));
    waiter(&mut here, id);
    waiter(&mut there, id);
    here.tick(0.1);
    there.tick(0.1);
    assert_eq!(log(&here), [""; 0]);
    let gone = "1: got error the flow has ended: its id is stale";
    assert_eq!(log(&there), [gone]);
    drop(there);
    assert!(matches!(here.cx().flow(id), Err(FlowError::Pending)));
    assert!(here.cx().cancel(id));
    here.tick(0.1);
    let told = "2: got error what was awaited was cancelled";
    assert_eq!(log(&here), [told]);
    assert!(!reservation.reserved().cancel());
}

#[test]
fn a_cancel_on_another_thread_and_a_start_never_both_come_true() {
    let mut t = start();
    let w = t.world;
    let (ask, asked) = channel::<Reserved>();
    let (say, said) = channel();
    let canceller = thread::spawn(move || {
        for reserved in asked {
            say.send(reserved.cancel()).unwrap();
        }
    });
    for round in 0..20_000 {
        let reservation = reserve(&mut t);
        let id = reservation.id();
        let flow = Flow::new("later").world(w);
        ask.send(reservation.reserved().clone()).unwrap();
        // So that each comes first now and then.
        (0..round % 500).for_each(|_| hint::spin_loop());
        let flow = flow.reserved(reservation);
        let started = flow.spawn(&mut t.cx(), async |fx| fx.delay(60).await);
        assert_eq!(started.is_err(), said.recv().unwrap());
        assert_eq!(started.is_ok(), t.cx().cancel(id));
    }
    drop(ask);
    canceller.join().unwrap();
}

#[test]
fn a_runtime_is_told_of_what_is_pending_only() {
    let mut t = start();
    let pending = t.cx().pending_flows();
    let cancelled = FlowId::reserve();
    assert!(cancelled.reserved().cancel());
    let dropped = FlowId::reserve().reserved().clone();
    let started = FlowId::reserve();
    let known = started.reserved().clone();
    begin(&mut t, started, async |fx| fx.delay(60).await).unwrap();
    for reserved in [cancelled.reserved(), &dropped] {
        pending.add(reserved);
        assert!(matches!(t.cx().flow(reserved.id()), Err(FlowError::Gone)));
    }
    pending.add(&known);
    assert_eq!(t.cx().flow(known.id()).unwrap().name, "later");
    assert!(!known.cancel(), "it has started: by its id");
    assert_eq!(known.state(), FlowState::Running);
    assert!(t.cx().cancel(known.id()));
}

#[test]
fn who_awaits_is_told_of_a_cancel_without_a_runtime() {
    for told_first in [true, false] {
        let mut t = start();
        let reservation = reserve(&mut t);
        let reserved = reservation.reserved().clone();
        assert_eq!(reserved.state(), FlowState::Pending);
        waiter(&mut t, reserved.id());
        t.tick(0.1);
        if told_first {
            // Twice is as once.
            t.cx().pending_flows().add(&reserved);
        }
        let theirs = reserved.clone();
        assert!(thread::spawn(move || theirs.cancel()).join().unwrap());
        assert_eq!(reserved.state(), CANCELLED);
        assert!(matches!(t.cx().flow(reserved.id()), Err(FlowError::Gone)));
        t.tick(0.1);
        assert_eq!(log(&t), ["2: got error what was awaited was cancelled"]);
        let never = async |_| unreachable!("it was cancelled");
        let started = begin(&mut t, reservation, never);
        assert!(matches!(started, Err(FlowError::Cancelled)));
    }
}

#[test]
fn a_pending_flow_that_is_cancelled_never_starts() {
    let mut t = start();
    let reservation = reserve(&mut t);
    let id = reservation.id();
    assert!(t.cx().cancel(id));
    assert!(!t.cx().cancel(id), "it has ended");
    assert_eq!(reservation.reserved().state(), CANCELLED);
    assert!(matches!(t.cx().flow(id), Err(FlowError::Gone)));
    let started = begin(&mut t, reservation, async |_| {
        unreachable!("it was cancelled")
    });
    assert!(matches!(started, Err(FlowError::Cancelled)));
    assert_eq!(log(&t), ["0: later Cancelled"]);
    t.tick(0.1);
    assert_eq!(reports(&t), [""; 0]);
}

#[test]
fn who_awaits_a_pending_flow_hears_of_its_end() {
    let mut t = start();
    let reservation = reserve(&mut t);
    let id = reservation.id();
    waiter(&mut t, id);
    waiter(&mut t, id);
    t.ticks(0.1, 3);
    assert_eq!(log(&t), [""; 0]);
    assert_eq!(t.cx().flow_list().len(), 2);
    begin(&mut t, reservation, async |fx| fx.next_tick().await).unwrap();
    t.tick(0.1);
    assert_eq!(log(&t), [""; 0]);
    t.tick(0.1);
    let told = ["5: later Completed", "5: got Completed", "5: got Completed"];
    assert_eq!(log(&t), told);
    assert!(t.cx().flow_list().is_empty());
}

#[test]
fn an_end_between_the_start_and_the_turn_of_who_awaits_is_not_lost() {
    let mut t = start();
    let reservation = reserve(&mut t);
    let id = reservation.id();
    waiter(&mut t, id);
    t.tick(0.1);
    begin(&mut t, reservation, async |fx| fx.delay(60).await).unwrap();
    t.cx().cancel(id);
    t.tick(0.1);
    let told = [
        "1: later Cancelled",
        "2: got error what was awaited was cancelled",
    ];
    assert_eq!(log(&t), told);
}

#[test]
fn who_awaits_is_told_of_its_cancelling() {
    let mut t = start();
    let reservation = reserve(&mut t);
    let id = reservation.id();
    waiter(&mut t, id);
    t.tick(0.1);
    assert!(t.cx().cancel(id));
    t.tick(0.1);
    assert_eq!(log(&t), ["2: got error what was awaited was cancelled"]);
    waiter(&mut t, id);
    t.tick(0.1);
    assert_eq!(
        log(&t),
        ["3: got error the flow has ended: its id is stale"]
    );
    drop(reservation);
    t.tick(0.1);
    assert_eq!(log(&t), [""; 0]);
}

#[test]
fn cancelled_by_a_flow_it_is_told_in_the_same_stage() {
    let mut t = start();
    let reservation = reserve(&mut t);
    let id = reservation.id();
    waiter(&mut t, id);
    story(&mut t, "killer", async move |fx| {
        fx.next_tick().await?;
        fx.with(|cx| assert!(cx.cancel(id)))
    });
    t.ticks(0.1, 2);
    assert_eq!(log(&t), ["2: got error what was awaited was cancelled"]);
}

const ABORTED: &str = "got error what was awaited was aborted: its world or its owner is gone";

#[test]
fn who_awaits_is_told_of_a_reservation_that_is_dropped_on_any_thread() {
    for elsewhere in [true, false] {
        let mut t = start();
        let reservation = reserve(&mut t);
        waiter(&mut t, reservation.id());
        t.tick(0.1);
        if elsewhere {
            thread::spawn(move || drop(reservation)).join().unwrap();
        } else {
            drop(reservation);
        }
        t.tick(0.1);
        assert_eq!(log(&t), [format!("2: {ABORTED}")]);
    }
}

#[test]
fn dropped_by_a_flow_it_is_told_in_the_same_stage() {
    let mut t = start();
    let reservation = reserve(&mut t);
    waiter(&mut t, reservation.id());
    story(&mut t, "holder", async move |fx| {
        fx.next_tick().await?;
        drop(reservation);
        Ok(())
    });
    t.ticks(0.1, 2);
    assert_eq!(log(&t), [format!("2: {ABORTED}")]);
}

#[test]
fn who_awaits_is_told_of_a_start_that_is_refused() {
    let mut t = start();
    let reservation = reserve(&mut t);
    let id = reservation.id();
    waiter(&mut t, id);
    t.tick(0.1);
    let gone = world(&mut t);
    t.cx().destroy_world(gone);
    let flow = Flow::new("later").world(gone).reserved(reservation);
    let started = flow.spawn(&mut t.cx(), async |_| Ok(()));
    assert!(matches!(started, Err(FlowError::NoLiveWorld { .. })));
    assert!(matches!(t.cx().flow(id), Err(FlowError::Gone)));
    t.tick(0.1);
    assert_eq!(log(&t), [format!("2: {ABORTED}")]);
    assert_eq!(reports(&t), ["FlowWithoutWorld"]);
}

#[test]
fn who_awaits_is_told_of_a_start_that_panics() {
    let question = |flow: Flow<crate::probe::Game>| flow.bound_while(|_| panic!("on purpose"));
    let plain = |flow: Flow<crate::probe::Game>| flow;
    for (way, is_asked) in [(question as fn(_) -> _, true), (plain, false)] {
        let mut t = start();
        t.rt.set_panic_policy(PanicPolicy::Isolate);
        let reservation = reserve(&mut t);
        waiter(&mut t, reservation.id());
        t.tick(0.1);
        let w = t.world;
        let flow = way(Flow::new("later").world(w).reserved(reservation));
        let body = async move |_| {
            assert!(!is_asked);
            panic!("on purpose")
        };
        let started = flow.spawn(&mut t.cx(), body);
        assert_eq!(started.is_err(), is_asked);
        t.ticks(0.1, 2);
        assert_eq!(
            log(&t),
            ["2: got error what was awaited panicked: see the report"]
        );
        assert_eq!(reports(&t), ["Panicked"]);
    }
}

#[test]
fn the_error_of_a_flow_awaited_before_its_start_goes_to_who_awaits() {
    let mut t = start();
    let reservation = reserve(&mut t);
    waiter(&mut t, reservation.id());
    t.tick(0.1);
    let error = || Err(FlowError::other("no boss"));
    begin(&mut t, reservation, async move |_| error()).unwrap();
    t.tick(0.1);
    let lines = log(&t);
    assert_eq!(
        lines[1],
        "2: got error what was awaited ended with an error: no boss"
    );
    assert_eq!(reports(&t), [""; 0]);
}

#[test]
fn who_gives_up_is_forgotten() {
    let mut t = start();
    let reservation = reserve(&mut t);
    let id = reservation.id();
    story(&mut t, "impatient", async move |fx| {
        let ended = fx.timeout(0.15, fx.flow(id)).await?;
        tell(&fx, format!("{}", ended.is_none()));
        Ok(())
    });
    t.ticks(0.1, 3);
    assert_eq!(log(&t), ["2: true"]);
    let error = || Err(FlowError::other("no boss"));
    begin(&mut t, reservation, async move |_| error()).unwrap();
    t.tick(0.1);
    assert_eq!(log(&t), ["4: later Completed"]);
    assert_eq!(reports(&t), ["FlowFailed"], "nobody takes it");
}

#[test]
fn several_pending_ones_are_awaited_together() {
    let mut t = start();
    let (a, b) = (reserve(&mut t), reserve(&mut t));
    let (first, second) = (a.id(), b.id());
    story(&mut t, "both", async move |fx| {
        let (first, second) = join(fx.flow(first), fx.flow(second)).await;
        tell(&fx, format!("{first:?} {}", second.is_err()));
        Ok(())
    });
    story(&mut t, "either", async move |fx| {
        let first = race(fx.flow(first), fx.flow(second)).await;
        tell(&fx, format!("{first:?}"));
        Ok(())
    });
    t.tick(0.1);
    begin(&mut t, a, async |_| Ok(())).unwrap();
    t.tick(0.1);
    assert_eq!(log(&t), ["2: later Completed", "2: First(Ok(Completed))"]);
    drop(b);
    t.tick(0.1);
    assert_eq!(log(&t), ["3: Ok(Completed) true"]);
}

#[test]
fn who_awaits_in_another_world_is_told() {
    let mut t = start();
    let (before, after) = (t.world, world(&mut t));
    let reservation = reserve(&mut t);
    let id = reservation.id();
    waiter_in(&mut t, before, id);
    waiter_in(&mut t, after, id);
    t.tick(0.1);
    drop(reservation);
    t.tick(0.1);
    assert_eq!(log(&t), [format!("2: {ABORTED}"), format!("2: {ABORTED}")]);
}

#[test]
fn a_wait_for_the_end_of_a_pending_flow_goes_on_until_it_has_ended() {
    let mut t = start();
    let w = t.world;
    let reservation = reserve(&mut t);
    WaitUntil::ended(reservation.id())
        .satisfied(|cx: &mut C<'_>| say(cx, "ended"))
        .world(w)
        .start(&mut t.cx())
        .unwrap();
    t.ticks(0.1, 2);
    begin(&mut t, reservation, async |fx| fx.ticks(2).await).unwrap();
    t.ticks(0.1, 4);
    assert_eq!(log(&t), ["5: later Completed", "6: ended"]);
    let dropped = reserve(&mut t);
    WaitUntil::ended(dropped.id())
        .satisfied(|cx: &mut C<'_>| say(cx, "given back"))
        .world(w)
        .start(&mut t.cx())
        .unwrap();
    t.tick(0.1);
    drop(dropped);
    t.tick(0.1);
    assert_eq!(log(&t), ["8: given back"]);
}

#[test]
fn a_flow_that_awaits_its_own_reserved_id_is_told_so() {
    let mut t = start();
    let reservation = reserve(&mut t);
    let me = reservation.id();
    let body = async move |fx: FlowCx<crate::probe::Game>| {
        let end = fx.flow(me).await;
        assert!(matches!(end, Err(FlowError::AwaitsItself)), "{end:?}");
        tell(&fx, "told");
        Ok(())
    };
    begin(&mut t, reservation, body).unwrap();
    t.tick(0.1);
    assert_eq!(log(&t), ["1: told", "1: later Completed"]);
}

#[test]
fn a_circle_through_a_pending_flow_is_warned_of() {
    let mut t = start();
    let reservation = reserve(&mut t);
    let id = reservation.id();
    let first = story(&mut t, "first", async move |fx| fx.flow(id).await.map(drop));
    t.tick(0.1);
    assert_eq!(reports(&t), [""; 0]);
    let second = async move |fx: FlowCx<crate::probe::Game>| fx.flow(first).await.map(drop);
    begin(&mut t, reservation, second).unwrap();
    t.ticks(0.1, 2);
    assert_eq!(reports(&t), ["AwaitCircle"]);
    t.cx().cancel(id);
    t.tick(0.1);
    assert!(t.cx().flow_list().is_empty());
}

#[test]
fn a_long_circle_through_a_reserved_id_is_warned_of() {
    let mut t = start();
    let reservation = reserve(&mut t);
    let id = reservation.id();
    let first = story(&mut t, "first", async move |fx| fx.flow(id).await.map(drop));
    let last = story(&mut t, "last", async move |fx| {
        fx.ticks(2).await?;
        fx.flow(first).await.map(drop)
    });
    let third = story(&mut t, "third", async move |fx| {
        fx.flow(last).await.map(drop)
    });
    let second = async move |fx: FlowCx<crate::probe::Game>| fx.flow(third).await.map(drop);
    begin(&mut t, reservation, second).unwrap();
    t.ticks(0.1, 2);
    assert_eq!(reports(&t), [""; 0]);
    t.ticks(0.1, 2);
    assert_eq!(reports(&t), ["AwaitCircle"]);
}

#[test]
fn a_flow_reaches_itself_by_its_reserved_id_in_its_turn() {
    let mut t = start();
    let reservation = reserve(&mut t);
    let me = reservation.id();
    let body = async move |fx: FlowCx<crate::probe::Game>| {
        fx.with(|cx| assert_eq!(cx.flow(me).unwrap().id, me))?;
        fx.with(|cx| assert!(cx.cancel(me)))?;
        fx.delay(60).await
    };
    begin(&mut t, reservation, body).unwrap();
    t.tick(0.1);
    assert_eq!(log(&t), ["1: later Cancelled"]);
}

#[test]
fn a_stale_id_never_names_another_flow() {
    let mut t = start();
    let mut stale = Vec::new();
    for _ in 0..100 {
        let reservation = reserve(&mut t);
        stale.push(reservation.id());
        begin(&mut t, reservation, async |_| Ok(())).unwrap();
        t.tick(0.1);
        stale.push(reserve(&mut t).id());
    }
    let w = t.world;
    for _ in 0..100 {
        let flow = ForEach::index(2).each(|_: &mut C<'_>, _| Step::Suspend);
        flow.world(w).start(&mut t.cx()).unwrap();
    }
    for id in stale {
        assert!(!t.cx().cancel(id));
        assert!(matches!(t.cx().flow(id), Err(FlowError::Gone)));
    }
    assert_eq!(t.cx().flow_list().len(), 100);
}

#[test]
fn a_runtime_may_go_before_its_reservations_and_after() {
    for runtime_first in [true, false] {
        let mut t = start();
        let pending = t.cx().pending_flows();
        let reservation = reserve(&mut t);
        let reserved = reservation.reserved().clone();
        waiter(&mut t, reserved.id());
        t.tick(0.1);
        if runtime_first {
            drop(t);
            pending.add(&reserved);
            drop(reservation);
        } else {
            drop(reservation);
            drop(t);
        }
        assert!(!reserved.cancel());
        pending.add(&reserved);
        pending.add(FlowId::reserve().reserved());
    }
}

#[test]
fn after_a_shutdown_a_start_is_refused_and_the_reservation_given_back() {
    let mut t = start();
    let reservation = reserve(&mut t);
    let id = reservation.id();
    waiter(&mut t, id);
    t.tick(0.1);
    t.rt.shutdown(&mut t.host);
    let flow = Flow::new("late").runtime().reserved(reservation);
    let started = flow.spawn(&mut t.cx(), async |_| Ok(()));
    assert!(matches!(started, Err(FlowError::ShutDown)));
    assert!(matches!(t.cx().flow(id), Err(FlowError::Gone)));
    assert_eq!(log(&t), [""; 0]);
}

#[test]
fn what_starts_in_another_runtime_is_lost_for_who_awaits_it_here() {
    let (mut here, mut there) = (start(), start());
    let reservation = reserve(&mut here);
    let id = reservation.id();
    waiter(&mut here, id);
    here.tick(0.1);
    begin(&mut there, reservation, async |fx| fx.delay(60).await).unwrap();
    here.tick(0.1);
    assert_eq!(log(&here), [format!("2: {ABORTED}")]);
    assert!(matches!(here.cx().flow(id), Err(FlowError::Gone)));
    assert!(!here.cx().cancel(id));
    assert!(there.cx().cancel(id));
}

#[test]
fn a_waker_that_panics_keeps_nobody_from_hearing() {
    use std::future::Future;
    use std::pin::pin;
    use std::sync::Arc;
    use std::task::{Context, Wake, Waker};

    struct Angry;
    impl Wake for Angry {
        fn wake(self: Arc<Self>) {
            panic!("on purpose, in a waker");
        }
    }
    let mut t = start();
    let reservation = reserve(&mut t);
    let id = reservation.id();
    story(&mut t, "angry", async move |fx| {
        let mut end = pin!(fx.flow(id));
        let angry = Waker::from(Arc::new(Angry));
        assert!(
            end.as_mut()
                .poll(&mut Context::from_waker(&angry))
                .is_pending()
        );
        fx.delay(60).await
    });
    waiter(&mut t, id);
    t.tick(0.1);
    drop(reservation);
    assert_eq!(
        caught(|| t.tick(0.1)).as_deref(),
        Some("on purpose, in a waker")
    );
    t.rt.abandon_frame(&mut t.host);
    t.tick(0.1);
    assert_eq!(log(&t), [format!("3: {ABORTED}")]);
}

#[test]
fn once_it_has_started_it_is_awaited_like_any() {
    let mut t = start();
    let reservation = reserve(&mut t);
    let id = reservation.id();
    begin(&mut t, reservation, async |fx| fx.ticks(2).await).unwrap();
    t.tick(0.1);
    story(&mut t, "late", async move |fx| {
        assert_eq!(fx.flow(id).await?, FlowFinish::Completed);
        tell(&fx, "told");
        Ok(())
    });
    t.ticks(0.1, 2);
    assert_eq!(log(&t), ["3: later Completed", "3: told"]);
}

/// What a reservation comes to in `f`.
fn state_after(t: &mut Test, f: impl FnOnce(&mut Test, Reservation)) -> FlowState {
    let reservation = FlowId::reserve();
    let reserved = reservation.reserved().clone();
    f(t, reservation);
    reserved.state()
}

#[test]
fn its_state_is_known_on_any_thread_and_changes_before_anybody_is_told() {
    let mut t = start();
    let reservation = reserve(&mut t);
    let reserved = reservation.reserved().clone();
    let elsewhere = reserved.clone();
    let (w, told) = (t.world, reserved.clone());
    let flow = Flow::new("later").world(w).reserved(reservation);
    let flow = flow.on_finished(move |cx: &mut C<'_>, _| say(cx, format!("{:?}", told.state())));
    assert_eq!(reserved.state(), FlowState::Pending);
    flow.spawn(&mut t.cx(), async |fx| fx.next_tick().await)
        .unwrap();
    let seen = thread::spawn(move || elsewhere.state()).join().unwrap();
    assert_eq!(seen, FlowState::Running);
    t.ticks(0.1, 2);
    assert_eq!(log(&t), ["2: Ended(Completed)"]);
}

#[test]
fn a_flow_that_never_starts_was_refused_cancelled_or_has_panicked() {
    let mut t = start();
    t.rt.set_panic_policy(PanicPolicy::Isolate);
    let gone = world(&mut t);
    t.cx().destroy_world(gone);
    let given_back = state_after(&mut t, |_, reservation| drop(reservation));
    assert_eq!(given_back, FlowState::Refused);
    let refused = state_after(&mut t, |t, reservation| {
        let flow = Flow::new("later").world(gone).reserved(reservation);
        assert!(flow.spawn(&mut t.cx(), async |_| Ok(())).is_err());
    });
    assert_eq!(refused, FlowState::Refused);
    let panicked = state_after(&mut t, |t, reservation| {
        let w = t.world;
        let flow = Flow::new("later").world(w).reserved(reservation);
        let flow = flow.bound_while(|_| panic!("on purpose"));
        assert!(flow.spawn(&mut t.cx(), async |_| Ok(())).is_err());
    });
    assert_eq!(panicked, FlowState::Ended(FlowFinish::Panicked));
}

#[test]
fn a_flow_whose_runtime_is_dropped_was_aborted() {
    let mut t = start();
    let reservation = FlowId::reserve();
    let reserved = reservation.reserved().clone();
    begin(&mut t, reservation, async |fx| fx.delay(60).await).unwrap();
    t.tick(0.1);
    drop(t);
    assert_eq!(reserved.state(), FlowState::Ended(FlowFinish::Aborted));
}
