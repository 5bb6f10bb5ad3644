//! The ends of flows that nobody hears: what the destructor of a body may do then, and what the flow has come to.

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use crate::probe::{C, Game, Test, caught, log, start, story, tell, thing, world};
use sc_core::{PanicPolicy, secs};
use sc_flow::{Flow, FlowCx, FlowError, FlowExt, FlowFinish, FlowId, FlowState};

const COMPLETED: FlowState = FlowState::Ended(FlowFinish::Completed);
const CANCELLED: FlowState = FlowState::Ended(FlowFinish::Cancelled);
const ABORTED: FlowState = FlowState::Ended(FlowFinish::Aborted);

type Act = Box<dyn FnOnce(&FlowCx<Game>)>;

/// A body that is done at once, with a destructor.
struct Done {
    fx: FlowCx<Game>,
    act: Option<Act>,
}

impl Future for Done {
    type Output = Result<(), FlowError>;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        Poll::Ready(Ok(()))
    }
}

impl Drop for Done {
    fn drop(&mut self) {
        if let Some(act) = self.act.take() {
            act(&self.fx);
        }
    }
}

/// Starts a flow that is done in its first turn, and does something in the destructor of its body.
fn done(t: &mut Test, flow: Flow<Game>, act: impl FnOnce(&FlowCx<Game>) + 'static) {
    let act: Act = Box::new(act);
    let act = Some(act);
    flow.spawn(&mut t.cx(), move |fx| Done { fx, act }).unwrap();
}

fn poll_once<F: Future>(future: F) -> Poll<F::Output> {
    pin!(future).poll(&mut Context::from_waker(Waker::noop()))
}

/// A flow that nobody hears, without anything and with a reserved id; and one whose end is heard.
fn of_each_kind(mut f: impl FnMut(&mut Test, Flow<Game>, &str)) {
    for kind in ["heard", "bare", "reserved"] {
        let mut t = start();
        let flow = Flow::new("done").world(t.world);
        let flow = match kind {
            "bare" => flow,
            "reserved" => flow.reserved(FlowId::reserve()),
            _ => flow.on_finished(|_: &mut C<'_>, _| ()),
        };
        f(&mut t, flow, kind);
    }
}

#[test]
fn the_destructor_of_a_body_is_no_turn_of_its_flow() {
    of_each_kind(|t, flow, kind| {
        done(t, flow, |fx| {
            let polled = poll_once(fx.next_tick());
            assert!(matches!(
                polled,
                Poll::Ready(Err(FlowError::OutsideItsFlow))
            ));
        });
        assert_eq!(caught(|| t.tick(0.1)), None, "{kind}");
    });
}

#[test]
fn what_a_destructor_awaits_is_not_taken_for_an_await_of_the_next_flow() {
    of_each_kind(|t, flow, kind| {
        done(t, flow, |fx| {
            let _ = poll_once(fx.delay(f64::NAN));
        });
        story(t, "next", async |fx| {
            fx.delay(secs(0.1)).await?;
            tell(&fx, "next");
            Ok(())
        });
        t.ticks(0.1, 2);
        assert_eq!(log(t), ["1: next"], "{kind}: it counts from its start");
    });
}

#[test]
fn the_report_of_a_destructor_that_panics_says_that_and_not_that_the_flow_has_panicked() {
    of_each_kind(|t, flow, kind| {
        t.rt.set_panic_policy(PanicPolicy::Isolate);
        done(t, flow, |_| panic!("on purpose"));
        t.tick(0.1);
        let report = t.reports.take().remove(0).to_string();
        let fix = "fix the panic in the flow's finish callback or destructor; the flow has ended";
        assert!(report.ends_with(fix), "{kind}: {report}");
    });
}

#[test]
fn a_destructor_that_panics_changes_nothing_of_how_its_flow_has_ended() {
    let mut t = start();
    t.rt.set_panic_policy(PanicPolicy::Isolate);
    let reservation = FlowId::reserve();
    let reserved = reservation.reserved().clone();
    let flow = Flow::new("done").world(t.world).reserved(reservation);
    done(&mut t, flow, |_| panic!("on purpose"));
    story(&mut t, "next", async |fx| {
        tell(&fx, "next");
        Ok(())
    });
    t.tick(0.1);
    assert_eq!(reserved.state(), COMPLETED);
    assert_eq!(log(&t), ["1: next"]);
}

#[test]
fn a_destructor_sees_that_its_flow_has_ended_and_may_start_and_cancel_others() {
    let mut t = start();
    let other = story(&mut t, "other", async |fx| fx.delay(60).await);
    let reservation = FlowId::reserve();
    let (reserved, id) = (reservation.reserved().clone(), reservation.id());
    let flow = Flow::new("done").world(t.world).reserved(reservation);
    done(&mut t, flow, move |fx| {
        assert_eq!(reserved.state(), COMPLETED);
        let did = fx.with(|cx| {
            assert!(matches!(cx.flow(id), Err(FlowError::Gone)));
            assert!(!cx.cancel(id));
            assert!(cx.cancel(other));
            cx.spawn_flow("next", async |fx| {
                tell(&fx, "next");
                Ok(())
            })
        });
        assert!(did.is_ok_and(|started| started.is_ok()));
    });
    t.ticks(0.1, 2);
    assert_eq!(log(&t), ["2: next"]);
    assert_eq!(t.cx().flow_list().len(), 0);
}

/// What becomes of a flow that is bound to the first of the host's things, and does something in its only turn.
fn after_a_last_turn(act: impl FnOnce(&mut C<'_>, FlowId) + 'static) -> FlowState {
    let mut t = start();
    let owner = thing(&mut t);
    let reservation = FlowId::reserve();
    let (reserved, id) = (reservation.reserved().clone(), reservation.id());
    let flow = Flow::new("last").world(t.world).owner(&owner);
    let flow = flow.reserved(reservation);
    t.host.things.push(owner);
    let body = async move |fx: FlowCx<Game>| fx.with(|cx| act(cx, id));
    flow.spawn(&mut t.cx(), body).unwrap();
    t.ticks(0.1, 2);
    assert_eq!(t.cx().flow_list().len(), 0);
    reserved.state()
}

#[test]
fn what_happens_in_the_last_turn_wins_over_its_answer_also_when_nobody_hears_it() {
    let state = after_a_last_turn(|_, _| ());
    assert_eq!(state, COMPLETED);
    let state = after_a_last_turn(|cx, id| assert!(cx.cancel(id)));
    assert_eq!(state, CANCELLED);
    let state = after_a_last_turn(|cx, id| assert!(cx.pause_flow(id)));
    assert_eq!(state, COMPLETED, "it has come to its end");
    let state = after_a_last_turn(|cx, _| cx.host_mut().things.clear());
    assert_eq!(state, ABORTED, "its owner was dropped");
    let state = after_a_last_turn(|cx, _| {
        let things = std::mem::take(&mut cx.host_mut().things);
        assert_eq!(cx.shutdown(&things[0]), Ok(true));
        cx.host_mut().things = things;
    });
    assert_eq!(state, ABORTED, "its owner was shut down");
    let state = after_a_last_turn(|cx, _| {
        let world = cx.world().unwrap();
        cx.destroy_world(world);
    });
    assert_eq!(state, ABORTED, "its world ends");
}

#[test]
fn who_ends_before_the_first_turn_has_ended_for_that_reason() {
    for (how, state) in [
        ("cancel", CANCELLED),
        ("world", ABORTED),
        ("owner", ABORTED),
        ("shutdown", ABORTED),
    ] {
        let mut t = start();
        let level = world(&mut t);
        let owner = thing(&mut t);
        let reservation = FlowId::reserve();
        let (reserved, id) = (reservation.reserved().clone(), reservation.id());
        let flow = Flow::new("never").world(level).owner(&owner);
        let flow = flow.reserved(reservation);
        flow.spawn(&mut t.cx(), async |_| unreachable!("it has no turn"))
            .unwrap();
        assert_eq!(reserved.state(), FlowState::Running);
        assert!(!reserved.cancel(), "it has started");
        match how {
            "cancel" => assert!(t.cx().cancel(id)),
            "world" => assert!(t.cx().destroy_world(level)),
            "owner" => drop(owner),
            _ => t.rt.shutdown(&mut t.host),
        }
        if how == "owner" {
            t.tick(0.1);
        }
        assert_eq!(reserved.state(), state, "{how}");
    }
}
