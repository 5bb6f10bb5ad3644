//! Where nothing is collected: declarations that `inventory` does not know are added by hand.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![cfg(feature = "commands")]

use sc_console::{
    ConsoleExt, LineOutcome, RegisterError, Source, StaticCommand, StaticVariable, VariableDef,
    VariableExt,
};
use sc_core::Cx;
use sc_core::testing::TestWorld;

/// What `command!` makes of a declaration, without handing it to `inventory`.
macro_rules! not_collected {
    ($key:ident = $head:ident . $tail:ident, $host:ty) => {
        static $key: StaticCommand = sc_console::__static_command!(
            [" Is not collected."] [$head $tail] [anytime] ()
            |_cx: &mut Cx<'_, $host>, out| { writeln!(out, "here")?; Ok(()) }
        );
    };
}

not_collected!(ONE = Mine.One, ());
not_collected!(TWO = Mine.Two, ());
not_collected!(OTHER = Mine.Other, u8);

static SPEED: StaticVariable =
    StaticVariable::new("Mine.Speed", (file!(), line!(), module_path!()), || {
        VariableDef::<u32>::new("", 3).docs(&[" How fast."]).erase()
    });

#[test]
fn what_is_added_by_hand_is_live() {
    let mut t = TestWorld::new(());
    let run = |t: &mut TestWorld<()>, line: &str| t.cx().run_line(line, Source::Local);
    assert_eq!(run(&mut t, "mine.one").outcome, LineOutcome::Failed);
    let text = run(&mut t, "SC.Console.SelfTest").text();
    assert!(
        text.contains("nothing of the program's own was collected"),
        "{text}"
    );

    assert_eq!(t.cx().add_commands(&[&ONE, &OTHER]), Ok(1));
    assert_eq!(
        t.cx().add_commands(&[&ONE, &TWO, &TWO]),
        Ok(1),
        "one was there"
    );
    assert_eq!(t.cx().add_variables(&[&SPEED]), Ok(1));
    assert_eq!(t.cx().add_variables(&[&SPEED]), Ok(0));
    assert_eq!(run(&mut t, "mine.one").text(), "here");
    assert_eq!(run(&mut t, "mine.two").text(), "here");
    let text = run(&mut t, "SC.Console.SelfTest").text();
    assert!(!text.contains("nothing of"), "{text}");
    assert_eq!(run(&mut t, "mine.speed 4").text(), "Mine.Speed = 4");
    let other = run(&mut t, "mine.other").text();
    assert!(
        other.contains("is declared for runtimes whose host is `u8`"),
        "{other}"
    );
    assert!(t.reports.take().is_empty());
}

#[test]
fn a_name_that_is_taken_is_refused_and_the_others_are_added() {
    let mut t = TestWorld::new(());
    t.cx()
        .register_variable(VariableDef::new("Mine.One", 1_u32).runtime())
        .unwrap();
    let refused = t.cx().add_commands(&[&ONE, &TWO]);
    assert!(matches!(refused, Err(RegisterError::NameTaken { .. })));
    assert_eq!(t.cx().run_line("mine.two", Source::Local).text(), "here");
    assert_eq!(t.reports.take().len(), 1);
}

#[test]
fn an_alias_that_loses_its_name_to_what_is_added_is_reported() {
    let mut t = TestWorld::new(());
    for alias in ["alias mine.one 'find one'", "alias mine.speed 'find speed'"] {
        t.cx().run_line(alias, Source::Local);
    }
    t.cx().add_commands(&[&ONE, &TWO]).unwrap();
    t.cx().declare(&[], &[&SPEED]);
    t.cx().add_commands(&[&ONE]).unwrap();
    let reports = t.reports.take();
    let told: Vec<_> = reports
        .iter()
        .map(|report| (report.kind.name(), report.object.as_deref()))
        .collect();
    assert_eq!(
        told,
        [
            ("AliasLost", Some("mine.one")),
            ("AliasLost", Some("mine.speed"))
        ]
    );
    assert!(
        reports[1]
            .what
            .contains("to the variable `Mine.Speed`, declared at")
    );
    assert_eq!(t.cx().run_line("mine.one", Source::Local).text(), "here");
}
