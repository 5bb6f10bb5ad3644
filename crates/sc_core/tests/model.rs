//! Model tests: random operations, from outside and from inside callbacks, against a simple
//! model of what the specification says (`model/expected.rs`).
//!
//! Every run plays the same cases. To play others, and more of them:
//! `PROPTEST_CASES=20000 cargo test -p sc_core --release --test model`.
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
#[path = "model/order.rs"]
mod order;
#[path = "model/real.rs"]
mod real;
#[path = "model/regressions.rs"]
mod regressions;

use std::time::Duration;

use expected::Model;
use ops::{Case, Line, Reach, Step};
use proptest::test_runner::{Config, RngSeed};
use real::Real;

/// In which order the dead of one `End` are reported and freed is not promised.
fn sorted(log: Vec<Line>) -> Vec<Line> {
    let key = |line: &Line| match line {
        Line::Reported("OwnerDropped", object) => Some((0, object.unwrap_or(usize::MAX))),
        Line::Dropped(object) => Some((1, *object)),
        _ => None,
    };
    let mut log = log;
    for run in log.chunk_by_mut(|a, b| key(a).is_some() && key(b).is_some()) {
        run.sort_by_key(key);
    }
    log
}

/// Plays a case on both sides and compares after every step.
fn play(case: &Case) {
    let (mut real, mut model) = (Real::new(&case.scripts), Model::new(&case.scripts));
    for (number, step) in case.steps.iter().enumerate() {
        match step {
            Step::Do(op) => {
                real.act(op);
                model.act(op, None);
            }
            Step::Frame(delta) => {
                real.frame(Duration::from_nanos(*delta));
                model.frame(*delta);
            }
            Step::Fixed(delta) => {
                real.step(Duration::from_nanos(*delta));
                model.step(*delta);
            }
            Step::BadFrame => {
                real.frame(f64::NAN);
                model.bad_frame();
            }
        }
        let (is, should_be) = (sorted(real.take_log()), sorted(model.take_log()));
        assert_eq!(is, should_be, "log after step {number}: {step:?}");
        assert_eq!(real.state(), model.state(), "after step {number}: {step:?}");
    }
    real.end();
    model.shut_runtime_down();
    let (is, should_be) = (sorted(real.take_log()), sorted(model.take_log()));
    assert_eq!(is, should_be, "log of the end");
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
    fn operations_from_outside_do_what_the_model_says(case in ops::case(Reach::Outside)) {
        play(&case);
    }

    #[test]
    fn the_order_is_the_list_that_is_moved_by_hand(case in ops::case_of_order()) {
        play(&case);
    }

    #[test]
    fn intervals_clocks_and_pauses_add_up_as_the_model_says(case in ops::case_of_time()) {
        play(&case);
    }

    #[test]
    fn the_rows_of_a_batch_are_objects_as_any(case in ops::case_of_batches()) {
        play(&case);
    }

    #[test]
    fn operations_from_inside_callbacks_do_what_the_model_says(case in ops::case(Reach::Inside)) {
        play(&case);
    }

    #[test]
    fn batches_posts_panics_and_access_do_what_the_model_says(case in ops::case(Reach::Everything)) {
        play(&case);
    }
}
