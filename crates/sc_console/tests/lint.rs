//! The lint: what it finds, and that it looks at all.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![cfg(feature = "commands")]

use sc_console::{ConsoleExt, Source, VariableDef, VariableExt, dynamic_command};
use sc_core::Cx;
use sc_core::testing::TestWorld;

fn lint(t: &mut TestWorld<()>) -> Vec<String> {
    let run = t.cx().run_line("SC.Console.Lint", Source::Local);
    let lines = run.output.into_iter();
    // Where in this file things are registered changes with it.
    lines
        .map(|line| line.text.split(" (registered").next().unwrap().to_owned())
        .collect()
}

#[test]
fn the_lint_names_all_that_has_no_text() {
    let mut t = TestWorld::new(());
    let before = lint(&mut t);
    let [looked] = &before[..] else {
        panic!("{before:?}")
    };
    let looked: usize = looked
        .strip_suffix(" looked at, 0 found")
        .unwrap()
        .parse()
        .unwrap();
    t.cx()
        .register_command(
            dynamic_command! {
                /// With a text.
                My.Good (
                    /// With one, too.
                    count: u32,
                ) |_cx: &mut Cx<'_, ()>, _out| { let _ = count; Ok(()) }
            }
            .runtime(),
        )
        .unwrap();
    t.cx()
        .register_command(
            dynamic_command! {
                My.Bad (count: u32, /// With one.
                    times: u32) |_cx: &mut Cx<'_, ()>, _out| { let _ = (count, times); Ok(()) }
            }
            .runtime(),
        )
        .unwrap();
    t.cx()
        .register_command(
            dynamic_command! {
                /// Its words are no parameters.
                My.Raw (raw words) |_cx: &mut Cx<'_, ()>, _out| { let _ = words; Ok(()) }
            }
            .runtime(),
        )
        .unwrap();
    t.cx()
        .register_variable(VariableDef::new("My.Speed", 1.0).runtime())
        .unwrap();
    t.cx().run_line("alias my.late help", Source::Local);
    t.cx()
        .register_variable(VariableDef::new("My.Late", 1.0).about("Late.").runtime())
        .unwrap();
    assert_eq!(
        lint(&mut t),
        [
            "command `My.Bad` has no text".to_owned(),
            "parameter `count` of `My.Bad` has no text".to_owned(),
            "variable `My.Speed` has no text".to_owned(),
            "alias `my.late` has lost its name to a command or variable".to_owned(),
            format!("{} looked at, 4 found", looked + 5),
        ]
    );
    t.cx()
        .register_variable(VariableDef::new("My.Secret", 1.0).hidden().runtime())
        .unwrap();
    let lines = lint(&mut t);
    assert_eq!(lines[5], "1 not looked at: local may not see them");
}
