//! What the cases of the model tests reach: a test that saw nothing would agree with anything.

use std::collections::BTreeMap;

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{RngSeed, TestRunner};

use crate::ops::{self, Form, Reach, What};
use crate::{config, play};

#[test]
fn the_cases_reach_every_kind_of_callback_often() {
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    for form in [Form::Builder, Form::Async] {
        let config = proptest::test_runner::Config {
            rng_seed: RngSeed::Fixed(1),
            ..config(1)
        };
        let mut runner = TestRunner::new(config);
        let cases = ops::case(Reach::Alone(form));
        for _ in 0..200 {
            let case = cases.new_tree(&mut runner).unwrap().current();
            for line in play(&case, form) {
                let what = match line.what {
                    What::Body(_) => "body".to_owned(),
                    What::Update(..) => "update".to_owned(),
                    What::Poll(_, answer) => format!("poll {answer}"),
                    other => format!("{other:?}"),
                };
                *seen.entry(format!("{form:?}: {what}")).or_default() += 1;
            }
        }
    }
    let kinds = [
        "body",
        "update",
        "poll true",
        "poll false",
        "Answered(Completed)",
        "Answered(Broken)",
        "Answered(TimedOut)",
        "Finished(Itself)",
        "Finished(Cancelled)",
        "Finished(Aborted)",
        "Started(true)",
        "Started(false)",
        "Cancel(true)",
        "Cancel(false)",
    ];
    for form in ["Builder", "Async"] {
        for kind in kinds {
            let key = format!("{form}: {kind}");
            let count = seen.get(&key).copied().unwrap_or(0);
            assert!(count >= 20, "{key} only {count} times, of {seen:#?}");
        }
    }
    for key in ["Builder: Continue(true)", "Builder: ToldOfCancel"] {
        let count = seen.get(key).copied().unwrap_or(0);
        assert!(count >= 10, "{key} only {count} times, of {seen:#?}");
    }
}
