//! Who may see what: one filter for help, list, completion, find, lint and run, of commands and variables.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![cfg(feature = "commands")]

use sc_console::{
    CommandDef, ConsoleExt, LineOutcome, SetBy, Source, VariableDef, VariableExt, dynamic_command,
};
use sc_core::Cx;
use sc_core::testing::TestWorld;

fn nothing(name: &'static str) -> CommandDef<()> {
    dynamic_command! {
        {name} () |_cx: &mut Cx<'_, ()>, _out| { Ok(()) }
    }
    .runtime()
}

fn text(t: &mut TestWorld<()>, line: &str, source: Source) -> (LineOutcome, String) {
    let run = t.cx().run_line(line, source);
    (run.outcome, run.text())
}

/// Whether a source sees a name: the same everywhere.
#[track_caller]
fn sees(t: &mut TestWorld<()>, name: &str, source: Source) -> bool {
    let snapshot = t.cx().console_snapshot(source);
    let listed = snapshot.get(name).is_some();
    let completed = snapshot.complete(name, name.len());
    let completed = completed.candidates.iter().any(|c| c.insert == name);
    let helped = text(t, &format!("help {name}"), source).0 == LineOutcome::Done;
    let in_list = text(t, "help", source).1.contains(&format!("  {name}"));
    let found = text(t, &format!("find {name}"), source)
        .1
        .contains(&format!("  {name}"));
    let linted = text(t, "SC.Console.Lint", source)
        .1
        .contains(&format!("`{name}` has no text"));
    let ran = text(t, name, source).0 == LineOutcome::Done;
    assert_eq!(
        [listed, completed, helped, in_list, found, linted],
        [ran; 6],
        "{name} for {source}"
    );
    ran
}

#[test]
fn commands_and_variables_go_through_one_filter() {
    let mut t = TestWorld::new(());
    let mut cx = t.cx();
    cx.register_command(nothing("My.Plain")).unwrap();
    cx.register_command(nothing("My.Cheat").cheat()).unwrap();
    cx.register_command(nothing("My.Hidden").hidden()).unwrap();
    cx.register_command(nothing("My.Server").server_only())
        .unwrap();
    let variable = |name| VariableDef::new(name, 1_u32).runtime();
    cx.register_variable(variable("My.VarCheat").cheat())
        .unwrap();
    cx.register_variable(variable("My.VarHidden").hidden())
        .unwrap();
    cx.register_variable(variable("My.VarServer").server_only())
        .unwrap();
    let all = [
        "My.Plain",
        "My.Cheat",
        "My.Hidden",
        "My.Server",
        "My.VarCheat",
        "My.VarHidden",
        "My.VarServer",
    ];
    let seen = |t: &mut TestWorld<()>, source| all.map(|name| sees(t, name, source));
    let (no, yes) = (false, true);
    assert_eq!(seen(&mut t, Source::Local), [yes, no, no, yes, no, no, yes]);
    assert_eq!(
        seen(&mut t, Source::Script),
        [yes, no, yes, yes, no, yes, yes]
    );
    t.cx().console_settings().is_server = false;
    assert_eq!(seen(&mut t, Source::Remote), [yes, no, no, no, no, no, no]);
    t.cx().console_settings().cheats = true;
    assert_eq!(
        seen(&mut t, Source::Terminal),
        [yes, yes, no, no, yes, no, no]
    );
    t.cx().console_settings().show_hidden = true;
    assert_eq!(
        seen(&mut t, Source::Local),
        [yes, yes, yes, no, yes, yes, no]
    );
}

#[test]
fn what_may_not_be_seen_may_not_be_set_or_reset_and_why_is_said_where_it_was_typed() {
    let mut t = TestWorld::new(());
    let variable = |name| VariableDef::new(name, 1_u32).runtime();
    t.cx()
        .register_variable(variable("My.Hidden").hidden())
        .unwrap();
    t.cx()
        .register_variable(variable("My.Server").server_only())
        .unwrap();
    t.cx().console_settings().is_server = false;
    for (line, error) in [
        (
            "my.hidden 2",
            "my.hidden 2\n^^^^^^^^^ `My.Hidden` is hidden: only scripts run it",
        ),
        (
            "set my.hidden 2",
            "set my.hidden 2\n    ^^^^^^^^^ `My.Hidden` is hidden: only scripts run it",
        ),
        (
            "reset my.server",
            "reset my.server\n      ^^^^^^^^^ `My.Server` is for servers only, and this is none",
        ),
        (
            "help my.server",
            "help my.server\n     ^^^^^^^^^ `My.Server` is for servers only, and this is none",
        ),
    ] {
        assert_eq!(
            text(&mut t, line, Source::Local),
            (LineOutcome::Failed, error.to_owned())
        );
    }
    assert_eq!(
        text(&mut t, "my.hidden 2", Source::Script).1,
        "My.Hidden = 2"
    );
    // Code may, whoever sees it.
    t.cx().set_var_text("My.Server", "3", SetBy::Code).unwrap();
    assert_eq!(t.cx().var_info("My.Server").unwrap().value, "3");
}
