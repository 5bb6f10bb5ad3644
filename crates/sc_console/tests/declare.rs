//! Declarations that are not collected, handed in by a library that does not start the console.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![cfg(feature = "commands")]

use sc_console::{
    ConsoleExt, Source, StaticCommand, StaticVariable, VariableDef, VariableExt, command,
};
use sc_core::testing::ReportLog;
use sc_core::{AnyCx, Cx, Runtime};

// As the macros make them, but not handed to `inventory`.
static GREET: StaticCommand = sc_console::__static_command!(
    ["Greets."] [Test Greet] [anytime] () |_cx: &mut dyn AnyCx, out| { Ok(writeln!(out, "hello")?) }
);
static ROUNDS: StaticVariable =
    StaticVariable::new("Test.Rounds", (file!(), line!(), module_path!()), || {
        VariableDef::<u32>::new("", 3).erase()
    });

command! {
    /// This one is collected.
    COLLECTED = Test.Collected [anytime] () |_cx: &mut dyn AnyCx, _out| { Ok(()) }
}

fn text<H>(cx: &mut Cx<'_, H>, line: &str) -> String {
    cx.run_line(line, Source::Local).text()
}

#[test]
fn what_is_declared_is_live_when_the_console_starts_once_however_often() {
    let mut rt = Runtime::<()>::new();
    let reports = ReportLog::of(&mut rt);
    let mut host = ();
    let mut cx = rt.cx(&mut host);
    for _ in 0..2 {
        cx.declare(&[&GREET, &COLLECTED], &[&ROUNDS]);
    }
    assert_eq!(cx.inspect("sc.console"), None, "not started by that");
    assert_eq!(text(&mut cx, "test.greet"), "hello");
    assert!(text(&mut cx, "test.rounds").starts_with("Test.Rounds = 3"));
    cx.declare(&[&GREET, &COLLECTED], &[&ROUNDS]);
    let test = text(&mut cx, "SC.Console.SelfTest");
    // `SC.Debug.Ping` is collected too.
    let lines: Vec<&str> = test.lines().collect();
    assert_eq!(
        lines[2..4],
        [
            "collected: 2 commands, 0 variables; 1 of them the console's own",
            "declared besides: 2 commands, 1 variables"
        ]
    );
    assert!(lines[4].starts_with("live: 3 static commands, 1 static variables, "));
    assert!(reports.take().is_empty());
}

#[test]
fn what_is_declared_later_is_live_at_once() {
    let (mut rt, mut host) = (Runtime::<()>::new(), ());
    let mut cx = rt.cx(&mut host);
    cx.start_console();
    assert_ne!(text(&mut cx, "test.greet"), "hello");
    cx.declare(&[&GREET], &[&ROUNDS]);
    assert_eq!(text(&mut cx, "test.greet"), "hello");
    assert!(
        cx.set_var_text("test.rounds", "4", sc_console::SetBy::Code)
            .is_ok()
    );
}
