//! What is declared wrongly: two of one name, reserved and ill-formed names, parameters at fault.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![cfg(feature = "commands")]

use sc_console::{
    ConsoleExt, LineOutcome, RegisterError, Source, VariableError, VariableExt, command, variable,
};
use sc_core::testing::ReportLog;
use sc_core::{AnyCx, Cx, Runtime};

struct Game;

command! {
    /// The first.
    pub FIRST = Twice.Declared [anytime] () |_cx: &mut Cx<'_, Game>, out| { Ok(writeln!(out, "first")?) }
}
command! {
    /// The second.
    pub SECOND = TWICE.declared [anytime] () |_cx: &mut Cx<'_, Game>, out| { Ok(writeln!(out, "second")?) }
}
command! {
    /// Of another host, so no third.
    Twice.Declared [anytime] () |_cx: &mut Cx<'_, u8>, out| { Ok(writeln!(out, "third")?) }
}
command! {
    /// Reserved.
    SC.Mine [anytime] () |_cx: &mut dyn AnyCx, _out| { Ok(()) }
}
command! {
    /// Built in already.
    help [anytime] () |_cx: &mut Cx<'_, Game>, _out| { Ok(()) }
}
command! {
    /// Its parameters do not go together.
    Bad.Parameters [anytime] (all: Vec<u32>, one: u32) |_cx: &mut Cx<'_, Game>, _out| {
        let _ = (all, one);
        Ok(())
    }
}
variable! {
    /// Its default is not in its range.
    BAD_DEFAULT = Bad.Default: u32 = 0, range 1..=3
}
variable! {
    /// A command has the name.
    CLASH = Twice.Declared: u32 = 5
}

#[test]
fn start_goes_on_and_each_fault_is_one_report() {
    let mut rt = Runtime::<Game>::new();
    let reports = ReportLog::of(&mut rt);
    let mut game = Game;
    let mut cx = rt.cx(&mut game);
    cx.start_console();
    // Of two the one with the lower file and line is live.
    assert_eq!(cx.run_line("twice.declared", Source::Local).text(), "first");
    assert_eq!(
        cx.run_line("sc.mine", Source::Local).outcome,
        LineOutcome::Failed
    );
    assert!(
        cx.run_line("help", Source::Local)
            .text()
            .starts_with("This program:")
    );
    assert_eq!(
        cx.run_line("bad.parameters", Source::Local).outcome,
        LineOutcome::Failed
    );
    assert_eq!(
        cx.run_line("bad.default", Source::Local).outcome,
        LineOutcome::Failed
    );
    assert_eq!(
        (cx.var(BAD_DEFAULT), cx.var(CLASH)),
        (0, 5),
        "what is not live has its default"
    );
    let error = cx.set_var(CLASH, 6).unwrap_err();
    assert_eq!(
        error,
        VariableError::NotLive {
            name: "Twice.Declared"
        }
    );
    let reports = reports.take();
    let made: Vec<(&str, &str)> = reports
        .iter()
        .map(|r| (r.kind.name(), r.object.as_deref().unwrap_or_default()))
        .collect();
    assert_eq!(
        made,
        [
            ("BadDeclaration", "Bad.Default"),
            ("BadDeclaration", "Bad.Parameters"),
            ("DeclaredTwice", "help"),
            ("BadDeclaration", "SC.Mine"),
            ("DeclaredTwice", "TWICE.declared"),
            ("DeclaredTwice", "Twice.Declared"),
        ]
    );
    let file = file!();
    let twice = &reports[4].what;
    assert!(
        twice.contains(file) && twice.contains("so is command `Twice.Declared`, declared at"),
        "{twice}"
    );
    assert_eq!(twice.matches(file).count(), 2, "both are named: {twice}");
}

#[test]
fn the_self_test_says_what_was_found() {
    let mut rt = Runtime::<u8>::new();
    let _reports = ReportLog::of(&mut rt);
    let mut host = 0;
    let text = rt
        .cx(&mut host)
        .run_line("SC.Console.SelfTest", Source::Local)
        .text();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[..3],
        [
            "host: u8",
            "registry: default",
            "collected: 7 commands, 2 variables; 2 of them the console's own"
        ]
    );
    assert!(
        lines[3].starts_with("live: 2 static commands, 0 static variables, "),
        "{text}"
    );
    assert_eq!(lines[4], "for another host: Bad.Parameters (statics::Game)");
}

#[test]
fn adding_what_is_there_already_is_no_error_and_what_is_not_live_says_why() {
    let mut rt = Runtime::<Game>::new();
    let reports = ReportLog::of(&mut rt);
    let mut game = Game;
    let mut cx = rt.cx(&mut game);
    cx.start_console();
    reports.take();
    assert_eq!(cx.add_commands(&[&FIRST, &FIRST]), Ok(0));
    assert!(reports.take().is_empty());
    assert!(matches!(
        cx.add_commands(&[&SECOND]),
        Err(RegisterError::NameTaken { .. })
    ));
    assert_eq!(reports.take().len(), 1);
    assert!(cx.add_variables(&[BAD_DEFAULT.declaration()]).is_err());
}
