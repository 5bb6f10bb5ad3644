//! Flows in worlds that step: every world counts its own frames.

use crate::probe::{Game, Test, log, start, tell};
use sc_core::{Clock, WorldId, WorldKind, WorldOptions, secs};
use sc_flow::{Flow, FlowCx, FlowError, FlowExt, FlowId, ForEach, Step};

fn stepping(t: &mut Test) -> WorldId {
    let options = WorldOptions::new(WorldKind::Game).steps(true);
    t.cx().create_world(options).unwrap()
}

fn step(t: &mut Test, delta: f64) {
    t.rt.step(&mut t.host, delta).unwrap();
}

fn story_in<F>(t: &mut Test, world: WorldId, body: F) -> FlowId
where
    F: AsyncFnOnce(FlowCx<Game>) -> Result<(), FlowError> + 'static,
{
    let flow = Flow::new("story").world(world);
    flow.spawn(&mut t.cx(), body).unwrap()
}

#[test]
fn next_tick_and_ticks_count_the_frames_of_the_flows_own_world() {
    let mut t = start();
    let fixed = stepping(&mut t);
    // Frames of the runtime and of the world have come apart.
    t.ticks(0.1, 5);
    step(&mut t, 0.1);
    story_in(&mut t, fixed, async |fx| {
        tell(&fx, "first turn");
        fx.next_tick().await?;
        tell(&fx, "next tick");
        fx.ticks(3).await?;
        tell(&fx, "three ticks");
        fx.delay(secs(0)).await?;
        tell(&fx, "delay of 0");
        Ok(())
    });
    t.ticks(0.1, 3);
    assert_eq!(
        log(&t),
        [""; 0],
        "frames of the runtime are none of the world's"
    );
    step(&mut t, 0.1);
    assert_eq!(log(&t), ["8: first turn"]);
    step(&mut t, 0.1);
    assert_eq!(log(&t), ["8: next tick"]);
    step(&mut t, 0.1);
    step(&mut t, 0.1);
    assert_eq!(log(&t), [""; 0]);
    step(&mut t, 0.1);
    assert_eq!(log(&t), ["8: three ticks"]);
    step(&mut t, 0.1);
    assert_eq!(log(&t), ["8: delay of 0"]);
}

#[test]
fn steps_are_no_frames_for_the_flows_of_other_worlds() {
    let mut t = start();
    let _fixed = stepping(&mut t);
    let world = t.world;
    for name in ["world", "runtime"] {
        let flow = match name {
            "world" => Flow::new(name).world(world),
            _ => Flow::new(name).runtime(),
        };
        let started = flow.spawn(&mut t.cx(), async move |fx| {
            fx.ticks(2).await?;
            tell(&fx, name);
            Ok(())
        });
        assert!(started.is_ok());
    }
    t.tick(0.1);
    for _ in 0..5 {
        step(&mut t, 0.1);
    }
    t.tick(0.1);
    assert_eq!(log(&t), [""; 0]);
    t.tick(0.1);
    assert_eq!(log(&t), ["3: world", "3: runtime"]);
}

#[test]
fn delays_and_nodes_go_by_the_clock_of_the_world_that_steps() {
    let mut t = start();
    let fixed = stepping(&mut t);
    story_in(&mut t, fixed, async |fx| {
        fx.delay(secs(0.25)).await?;
        tell(&fx, "a quarter");
        Ok(())
    });
    let started = ForEach::index(3)
        .delay(0.1)
        .world(fixed)
        .each(|cx: &mut crate::probe::C<'_>, i| {
            crate::probe::say(cx, i);
            Step::Continue
        })
        .start(&mut t.cx());
    assert!(started.is_ok());
    step(&mut t, 0.1);
    assert_eq!(log(&t), ["0: 0"]);
    t.tick(7.0);
    step(&mut t, 0.1);
    assert_eq!(log(&t), ["1: 1"]);
    step(&mut t, 0.1);
    assert_eq!(log(&t), ["1: a quarter", "1: 2"]);
}

#[test]
fn a_flow_of_the_frame_and_one_of_the_steps_await_each_other() {
    let mut t = start();
    let fixed = stepping(&mut t);
    let world = t.world;
    let in_step = story_in(&mut t, fixed, async |fx| {
        fx.ticks(2).await?;
        tell(&fx, "step is over");
        Ok(())
    });
    story_in(&mut t, world, async move |fx| {
        fx.flow(in_step).await?;
        tell(&fx, "frame knows");
        Ok(())
    });
    let in_frame = story_in(&mut t, world, async |fx| {
        fx.ticks(2).await?;
        tell(&fx, "frame is over");
        Ok(())
    });
    story_in(&mut t, fixed, async move |fx| {
        fx.flow(in_frame).await?;
        tell(&fx, "step knows");
        Ok(())
    });
    t.tick(0.1);
    step(&mut t, 0.1);
    step(&mut t, 0.1);
    assert_eq!(log(&t), [""; 0]);
    step(&mut t, 0.1);
    assert_eq!(log(&t), ["1: step is over"]);
    t.tick(0.1);
    assert_eq!(log(&t), ["2: frame knows"]);
    t.tick(0.1);
    assert_eq!(log(&t), ["3: frame is over"]);
    step(&mut t, 0.1);
    assert_eq!(log(&t), ["3: step knows"]);
}

#[test]
fn what_is_resumed_or_continued_between_steps_goes_on_in_the_next() {
    let mut t = start();
    let fixed = stepping(&mut t);
    t.ticks(0.1, 4);
    let loops = ForEach::index(3)
        .world(fixed)
        .each(|cx: &mut crate::probe::C<'_>, i| {
            crate::probe::say(cx, i);
            Step::Suspend
        })
        .start(&mut t.cx())
        .unwrap();
    step(&mut t, 0.1);
    assert_eq!(log(&t), ["4: 0"]);
    assert!(t.cx().continue_loop(loops));
    step(&mut t, 0.1);
    assert_eq!(log(&t), ["4: 1"]);
    assert!(t.cx().continue_loop(loops));
    t.cx().pause_flow(loops);
    step(&mut t, 0.1);
    assert_eq!(log(&t), [""; 0]);
    t.cx().resume_flow(loops);
    step(&mut t, 0.1);
    assert_eq!(log(&t), ["4: 2"]);
}

#[test]
fn frames_of_a_paused_world_that_steps_do_not_count() {
    let mut t = start();
    let fixed = stepping(&mut t);
    story_in(&mut t, fixed, async |fx| {
        fx.ticks(2).await?;
        tell(&fx, "over");
        Ok(())
    });
    step(&mut t, 0.1);
    t.cx().set_paused(fixed, true).unwrap();
    for _ in 0..4 {
        step(&mut t, 0.1);
    }
    t.cx().set_paused(fixed, false).unwrap();
    step(&mut t, 0.1);
    assert_eq!(log(&t), [""; 0]);
    step(&mut t, 0.1);
    assert_eq!(log(&t), ["0: over"]);
    let elapsed = t.cx().elapsed(fixed, Clock::Game).unwrap();
    assert_eq!(elapsed.as_millis(), 300);
}

#[test]
fn the_end_of_a_world_that_steps_aborts_its_flows() {
    let mut t = start();
    let fixed = stepping(&mut t);
    let flow = Flow::new("f").world(fixed);
    let flow =
        flow.on_finished(|cx: &mut crate::probe::C<'_>, f| crate::probe::say(cx, format!("{f:?}")));
    let started = flow.spawn(&mut t.cx(), async |fx| fx.delay(secs(9)).await);
    assert!(started.is_ok());
    step(&mut t, 0.1);
    t.cx().destroy_world(fixed);
    assert_eq!(log(&t), ["0: Aborted"]);
    step(&mut t, 0.1);
    t.tick(0.1);
}
