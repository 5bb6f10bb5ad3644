//! Declarations that are at fault: user code that panics in one, and two of one name on one line.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![cfg(feature = "commands")]

use std::borrow::Cow;

use sc_console::{
    ArgError, ConsoleArg, ConsoleExt, LineOutcome, Source, VariableExt, command, variable,
};
use sc_core::Cx;
use sc_core::testing::TestWorld;

/// A type that panics when it is shown or read.
#[derive(Clone, PartialEq, Debug)]
struct Cursed;
impl ConsoleArg for Cursed {
    fn type_name() -> Cow<'static, str> {
        "cursed".into()
    }
    fn parse(_: &str) -> Result<Self, ArgError> {
        panic!("cursed to read")
    }
    fn show(&self) -> String {
        panic!("cursed to show")
    }
}

/// A type that panics when a word is read.
#[derive(Clone, PartialEq, Debug)]
struct Touchy;
impl ConsoleArg for Touchy {
    fn type_name() -> Cow<'static, str> {
        "touchy".into()
    }
    fn parse(_: &str) -> Result<Self, ArgError> {
        panic!("do not touch")
    }
    fn show(&self) -> String {
        "touchy".to_owned()
    }
}

command! {
    /// Its default cannot be shown.
    Bad.Command [anytime] (
        /// A word.
        word: Cursed = Cursed,
    ) |_cx: &mut Cx<'_, ()>, _out| { let _ = word; Ok(()) }
}
variable! {
    /// Its default cannot be shown.
    BAD = Bad.Variable: Cursed = Cursed
}
variable! {
    /// Its default cannot be made.
    WORSE = Bad.Worse: u32 = worse()
}
fn worse() -> u32 {
    panic!("cursed to make")
}
variable! {
    /// It cannot be set by text.
    TOUCHY = Touchy.Variable: Touchy = Touchy
}

macro_rules! twice {
    ($name:ident) => {
        command! {
            /// The first.
            $name.Command [anytime] () |_cx: &mut Cx<'_, ()>, out| { writeln!(out, "first")?; Ok(()) }
        }
        command! {
            /// The second.
            $name.Command [anytime] () |_cx: &mut Cx<'_, ()>, out| { writeln!(out, "second")?; Ok(()) }
        }
        variable! {
            /// The first.
            ONE = $name.Variable: u32 = 1
        }
        variable! {
            /// The second.
            TWO = $name.Variable: u32 = 2
        }
    };
}
twice!(Twice);

command! {
    /// Works.
    Good.Command [anytime] () |_cx: &mut Cx<'_, ()>, out| { writeln!(out, "fine")?; Ok(()) }
}

#[test]
fn each_fault_is_one_report_and_the_console_starts() {
    let mut t = TestWorld::new(());
    t.cx().start_console();
    let reports = t.reports.take();
    let of = |kind: &str| {
        let of_kind = reports.iter().filter(|report| report.kind.name() == kind);
        of_kind
            .filter_map(|report| report.object.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        of("BadDeclaration"),
        ["Bad.Command", "Bad.Variable", "Bad.Worse"]
    );
    assert_eq!(of("DeclaredTwice"), ["Twice.Command", "Twice.Variable"]);
    let panicked = reports
        .iter()
        .find(|r| r.object.as_deref() == Some("Bad.Variable"));
    let text = panicked.unwrap().to_string();
    assert!(
        text.contains("a type or a default of them panicked: cursed to show"),
        "{text}"
    );
    assert_eq!(
        t.cx().run_line("good.command", Source::Local).text(),
        "fine"
    );
    assert_eq!(
        t.cx().run_line("bad.command x", Source::Local).outcome,
        LineOutcome::Failed
    );
    assert!(matches!(
        t.cx()
            .run_line("twice.command", Source::Local)
            .text()
            .as_str(),
        "first" | "second"
    ));
    assert!([1, 2].contains(&t.cx().get_var(ONE).or(t.cx().get_var(TWO)).unwrap()));
    assert!(t.cx().get_var(BAD).is_err() && t.cx().get_var(WORSE).is_err());
    // Nothing is reported a second time.
    t.reports.take();
    t.cx().add_variables(&[TOUCHY.declaration()]).unwrap();
    assert!(t.reports.take().is_empty());
}

#[test]
fn a_type_that_panics_when_a_variable_is_typed_fails_the_line() {
    let mut t = TestWorld::new(());
    t.cx().start_console();
    t.reports.take();
    for line in ["touchy.variable x; good.command", "set touchy.variable x"] {
        let run = t.cx().run_line(line, Source::Local);
        assert_eq!(run.outcome, LineOutcome::Failed);
        assert!(
            run.text()
                .starts_with("`Touchy.Variable` panicked: do not touch"),
            "{}",
            run.text()
        );
        let reports = t.reports.take();
        assert_eq!(reports.len(), 1);
        assert_eq!(reports[0].kind.name(), "VariablePanicked");
    }
    assert_eq!(
        t.cx().run_line("good.command", Source::Local).text(),
        "fine"
    );
    assert_eq!(t.cx().get_var(TOUCHY), Ok(Touchy));
}
