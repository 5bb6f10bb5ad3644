//! Without the feature `print` a print evaluates nothing; and with or without it, the same call
//! sites compile without a warning.
#![deny(warnings)]
#![allow(missing_docs)]

use sc_console::{Color, Print, PrintExt, PrintTo, print_string};
use sc_core::testing::TestWorld;

/// Called in prints only: is not dead code.
fn count(calls: &mut u32) -> u32 {
    *calls += 1;
    *calls
}

const ON: bool = cfg!(feature = "print");

#[test]
fn nothing_is_evaluated_when_it_is_off() {
    let mut calls = 0;
    let mut t = TestWorld::new(());
    let mut cx = t.cx();
    // Used in the prints only: neither unused nor needlessly mutable.
    let (key, color, text) = (String::from("k"), Color::RED, "x");
    print_string!(cx, "{text} {}", count(&mut calls); key = key, color = color);
    print_string!(cx, "{text} {}", count(&mut calls); duration = f64::from(count(&mut calls)));
    print_string!("{text} {}", count(&mut calls));
    print_string!("plain");
    if calls > 0 {
        print_string!(cx, "in a block"; to = PrintTo::Log)
    } else {
        print_string!(cx, "in the other")
    }
    // The log is not listened to, so what is printed to it alone is not evaluated either way.
    assert_eq!(calls, if ON { 3 } else { 0 });
    let shown = cx.screen().messages().len();
    assert_eq!(shown, if ON { 2 } else { 0 });
}

#[test]
fn the_call_beside_the_macro_does_nothing_when_it_is_off() {
    let mut t = TestWorld::new(());
    t.cx().print("a");
    t.cx().print(Print::template(&"{x}".into(), &[]));
    t.tick(0.1);
    assert_eq!(t.cx().screen().messages().len(), if ON { 2 } else { 0 });
    assert_eq!(t.reports.take().len(), usize::from(ON));
}
