//! The editor on a real terminal: this test binary starts itself on a pseudo-terminal, types, and looks
//! at the screen. Nothing here waits for a time; it waits for what is to be seen.
#![cfg(all(unix, feature = "terminal", feature = "commands", feature = "print"))]
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "terminal_editor/child.rs"]
mod child;
#[path = "terminal_editor/pty.rs"]
mod pty;

use pty::{Pty, has_row};

/// Not a test: the program that the tests run.
#[test]
#[ignore = "the other tests start it"]
fn program() {
    child::run();
}

#[test]
fn smoke() {
    let mut pty = Pty::start("smoke");
    pty.wait_for("a prompt", |s| has_row(s, "> "));
    pty.type_in("hello");
    pty.wait_for("the line", |s| has_row(s, "> hello"));
}
