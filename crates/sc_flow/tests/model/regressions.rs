//! Cases the model tests have found, by hand.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use sc_core::testing::TestWorld;
use sc_core::{Clock, secs};
use sc_flow::Flow;

use crate::ops::{Act, Case, Form, Kind, Spec, Step};
use crate::play;

fn wait_through_pause() -> Spec {
    Spec {
        kind: Kind::Wait {
            interval: 1,
            timeout: 0,
            immediately: true,
        },
        world: Some(1),
        clock: 2,
        owner: None,
        breaks_at: None,
        suspends_at: None,
        true_from: None,
        cues: vec![(0, Act::Start(0))],
        at_end: None,
    }
}

/// After its turn in a paused frame the flow still counts as one that wants the next frame that is
/// not paused; the turn it then gets registers its wait anew, behind its equals.
#[test]
fn equal_deadlines_keep_their_order_when_a_pause_ends() {
    let case = Case {
        specs: vec![wait_through_pause()],
        steps: vec![
            Step::InTick(Act::Start(0)),
            Step::Pause(1, true),
            Step::Frame(0),
            Step::Frame(0),
            Step::Frame(2),
            Step::Pause(1, false),
            Step::Frame(2),
            Step::Frame(2),
        ],
    };
    play(&case, Form::Async);
}

#[test]
fn a_sleeper_is_not_polled_when_a_pause_ends() {
    let mut t = TestWorld::new(());
    let world = t.world;
    let polls = Rc::new(Cell::new(0));
    let count = Rc::clone(&polls);
    let flow = Flow::new("sleeper").world(world).clock(Clock::Real);
    let mut cx = t.cx();
    cx.set_paused(world, true).unwrap();
    flow.spawn(&mut cx, async move |fx| {
        let mut delay = pin!(fx.delay(secs(100)));
        poll_fn(|context| {
            count.set(count.get() + 1);
            delay.as_mut().poll(context)
        })
        .await?;
        Ok(())
    })
    .unwrap();
    let frame = Duration::from_nanos(10);
    t.tick(frame);
    assert_eq!(polls.get(), 1, "its first poll, in the pause");
    t.cx().set_paused(world, false).unwrap();
    t.tick(frame);
    assert_eq!(polls.get(), 1, "it sleeps");
}

/// What is bound to an owner ends by the next stage, also when the owner went in the poll of the
/// start.
#[test]
fn an_owner_that_goes_in_the_immediate_poll_ends_the_wait() {
    let wait = Spec {
        world: Some(0),
        clock: 0,
        owner: Some(0),
        cues: vec![(0, Act::Shutdown(0))],
        ..wait_through_pause()
    };
    let case = Case {
        specs: vec![wait],
        steps: vec![Step::InTick(Act::Start(0)), Step::Frame(0)],
    };
    play(&case, Form::Builder);
}
