//! Model tests: the four nodes on random scripts, as builders, as async flows, and in a simple
//! reference that looks at every flow in every frame (`model/expected.rs`). The same callbacks are
//! demanded in the same order.
//!
//! Every run plays the same cases. To play others, and more of them:
//! `PROPTEST_CASES=20000 cargo test -p sc_flow --release --test model`.
//!
//! What the two forms do differently on purpose is played in each of them alone, against the
//! reference:
//! - A loop over nothing ends during the builder's start, and at the async form's first poll; *check
//!   immediately* polls at the same places.
//! - A flow that ends itself, or what it is bound to, from its own callback: a builder's node stops
//!   when the callback returns, an async flow goes on until it yields.
//! - The gameplay callback is told of a cancel; nobody awaits a cancelled async flow.
//! - A builder's wait with an interval is registered when it is started, an async one at its first
//!   poll: where there are any, the forms agree flow by flow, not in the order between flows.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    unreachable_pub
)]

#[path = "model/expected.rs"]
mod expected;
#[path = "model/ops.rs"]
mod ops;
#[path = "model/real.rs"]
mod real;
#[path = "model/regressions.rs"]
mod regressions;
#[path = "model/seen.rs"]
mod seen;

use expected::Model;
use ops::{Case, Form, Kind, Line, Reach, Step, What};
use proptest::test_runner::{Config, RngSeed};
use real::Real;

/// Plays a case in a form and in the reference, and compares after every step. What was seen.
fn play(case: &Case, form: Form) -> Vec<Line> {
    let (mut real, mut model) = (Real::new(form, &case.specs), Model::new(form, &case.specs));
    let mut all = Vec::new();
    for (number, step) in case.steps.iter().enumerate() {
        match step {
            Step::Do(what) => {
                real.act(what);
                model.act(what);
            }
            Step::Post(what) => {
                real.post(what);
                model.post(what);
            }
            Step::InTick(what) => {
                real.in_tick(what);
                model.in_tick(what);
            }
            Step::Pause(world, paused) => {
                real.pause(*world, *paused);
                model.pause(*world, *paused);
            }
            Step::Dilate(world, halves) => {
                real.dilate(*world, *halves);
                model.dilate(*world, *halves);
            }
            Step::Frame(delta) => {
                real.frame(*delta);
                model.frame(*delta);
            }
        }
        let (is, should_be) = (real.take_log(), model.take_log());
        assert_eq!(is, should_be, "{form:?}: log after step {number}: {step:?}");
        all.extend(is);
    }
    real.end();
    model.end_all();
    let (is, should_be) = (real.take_log(), model.take_log());
    assert_eq!(is, should_be, "{form:?}: log of the end");
    all.extend(is);
    all
}

/// Plays a case in both forms, and compares them.
fn play_both(case: &Case) {
    let seen = |form| {
        let mut lines = play(case, form);
        lines.retain(|line| line.what != What::ToldOfCancel);
        lines
    };
    let (mut built, mut spawned) = (seen(Form::Builder), seen(Form::Async));
    // A builder registers its first sleep at its start, an async flow at its first poll.
    let sleeps = |kind| match kind {
        Kind::Wait { interval, .. } => interval > 0,
        Kind::Delay {
            delay,
            before_first,
            ..
        } => before_first && delay > 0,
        _ => false,
    };
    if case.specs.iter().any(|spec| sleeps(spec.kind)) {
        built.sort_by_key(|line| line.flow);
        spawned.sort_by_key(|line| line.flow);
    }
    assert_eq!(built, spawned, "the builder's form, and the async one");
}

fn config(cases: u32) -> Config {
    let config = Config {
        failure_persistence: None,
        ..Config::default()
    };
    if std::env::var_os("PROPTEST_CASES").is_some() {
        return config;
    }
    Config {
        cases,
        rng_seed: RngSeed::Fixed(1),
        ..config
    }
}

proptest::proptest! {
    #![proptest_config(config(1_000))]

    #[test]
    fn builder_async_and_reference_agree(case in ops::case(Reach::Both)) {
        play_both(&case);
    }

    #[test]
    fn builders_with_acts_inside_callbacks_do_what_the_reference_says(
        case in ops::case(Reach::Alone(Form::Builder))
    ) {
        play(&case, Form::Builder);
    }

    #[test]
    fn async_flows_with_acts_inside_callbacks_do_what_the_reference_says(
        case in ops::case(Reach::Alone(Form::Async))
    ) {
        play(&case, Form::Async);
    }
}
