//! Aliases: where an error in a word that one passes on is marked, and how far one line may lead.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![cfg(feature = "commands")]

use sc_console::{
    ConsoleExt, LineOutcome, LineRun, Source, VariableDef, VariableExt, command, dynamic_command,
    variable,
};
use sc_core::Cx;
use sc_core::testing::TestWorld;

#[derive(Default)]
struct Game {
    sum: u64,
    runs: Vec<LineRun>,
}

command! {
    /// Adds two numbers.
    Add [anytime] (
        /// One.
        one: u32,
        /// The other.
        other: u32,
    ) |cx: &mut Cx<'_, Game>, _out| {
        cx.host_mut().sum += u64::from(one) + u64::from(other);
        Ok(())
    }
}
variable! {
    /// How fast.
    SPEED = Speed: u32 = 5, range 0..=9
}

fn game() -> TestWorld<Game> {
    TestWorld::new(Game::default())
}

fn failed(t: &mut TestWorld<Game>, line: &str) -> String {
    let run = t.cx().run_line(line, Source::Local);
    assert_eq!(run.outcome, LineOutcome::Failed, "{}", run.text());
    run.text()
}

fn done(t: &mut TestWorld<Game>, line: &str) {
    let run = t.cx().run_line(line, Source::Local);
    assert_eq!(run.outcome, LineOutcome::Done, "{}", run.text());
}

#[test]
fn the_list_of_aliases_says_how_many_there_are() {
    let mut t = game();
    let list = |t: &mut TestWorld<Game>| t.cx().run_line("alias", Source::Local).text();
    assert_eq!(list(&mut t), "0 in all");
    done(&mut t, "alias plus 'add 1'");
    assert_eq!(list(&mut t), "plus stands for: add 1\n1 in all");
}

#[test]
fn an_error_in_a_word_that_is_passed_on_is_marked_where_it_was_typed() {
    let mut t = game();
    done(&mut t, "alias plus 'add 1'; alias more 'plus'");
    assert_eq!(
        failed(&mut t, "add 1 1; plus x"),
        "add 1 1; plus x\n              ^ other: expected a whole number from 0 to 4294967295 (passed on by alias `plus`)"
    );
    assert_eq!(
        failed(&mut t, "more x"),
        "more x\n     ^ other: expected a whole number from 0 to 4294967295 (passed on by alias `more`, alias `plus`)"
    );
    assert_eq!(
        failed(&mut t, "plus 2 3"),
        "plus 2 3\n       ^ expected no further word; usage: Add <one> <other> (passed on by alias `plus`)"
    );
    done(&mut t, "alias two add");
    assert_eq!(
        failed(&mut t, "two 2"),
        "two 2\n     ^ expected other (u32); usage: Add <one> <other> (passed on by alias `two`)"
    );
}

#[test]
fn an_error_in_a_word_of_the_alias_is_marked_in_its_line() {
    let mut t = game();
    done(&mut t, "alias plus 'add x'; alias short 'add 1'");
    assert_eq!(
        failed(&mut t, "plus 2"),
        "alias `plus`:\nadd x\n    ^ one: expected a whole number from 0 to 4294967295"
    );
    assert_eq!(
        failed(&mut t, "short"),
        "alias `short`:\nadd 1\n     ^ expected other (u32); usage: Add <one> <other>"
    );
    done(&mut t, "alias typo 'ad 1'");
    assert_eq!(
        failed(&mut t, "typo 2"),
        // What is not known may take a secret one day.
        "alias `typo`:\nad ***\n^^ expected the name of a command or a variable; `ad` is none (did you mean `Add`?)"
    );
}

#[test]
fn values_of_variables_that_are_passed_on_are_marked_where_they_were_typed() {
    let mut t = game();
    done(&mut t, "alias s 'set speed'; alias any set; alias v speed");
    for (line, marked) in [
        ("s 10", "  ^^"),
        ("any speed 10", "          ^^"),
        ("v 10", "  ^^"),
    ] {
        let text = failed(&mut t, line);
        let expected = format!("{line}\n{marked} expected u32 from 0 up to 9 (passed on by ");
        assert!(text.starts_with(&expected), "{text}");
    }
    let text = failed(&mut t, "any spede 1");
    assert!(
        text.starts_with(
            "any spede ***\n    ^^^^^ expected the name of a variable; `spede` is none"
        ),
        "{text}"
    );
    let text = failed(&mut t, "v 1 2");
    assert!(
        text.starts_with("v 1 2\n    ^ expected one value"),
        "{text}"
    );
}

#[test]
fn a_line_leads_to_so_many_aliases_and_no_more() {
    let mut t = game();
    // Within the depth limit, and still 2 to the 30.
    for level in 0..30 {
        let next = level + 1;
        done(&mut t, &format!("alias a{level} 'a{next}; a{next}'"));
    }
    done(&mut t, "alias a30 'add 0 1'");
    let text = failed(&mut t, "a0; add 1 1");
    assert_eq!(
        text,
        "one line leads to more than 10000 aliases and scripts: a0 > a1 > a2 > a3 > a4 > a5 ..; `wait` spreads them over frames\nthe rest of the line was not run"
    );
    assert!(t.host.sum < 10_000);
    // The next line starts anew.
    done(&mut t, "a20");
}

#[test]
fn waiting_counts_neither_as_depth_nor_as_number() {
    let mut t = game();
    done(
        &mut t,
        "alias step 'add 0 1; wait; again'; alias again step",
    );
    let run = t.cx().run_line("step", Source::Local);
    assert_eq!(run.outcome, LineOutcome::Pending);
    // It leads to itself, a step deeper each frame: waiting does not make that right.
    t.ticks(0.1, 40);
    assert_eq!(t.host.sum, 16, "{}", t.host.sum);
    // One after the other is not deeper.
    t.host.sum = 0;
    done(&mut t, "alias one 'add 0 1; wait'");
    let line = vec!["one"; 50].join(";");
    t.cx()
        .queue_line(&line, Source::Local, |cx, run| cx.host_mut().runs.push(run));
    t.ticks(0.1, 51);
    assert_eq!(t.host.sum, 50);
    assert_eq!(t.host.runs.len(), 1);
    assert_eq!(t.host.runs[0].outcome, LineOutcome::Done);
}

#[test]
fn a_line_that_could_never_run_is_no_alias() {
    let mut t = game();
    for line in [";", "// nothing", " ;; // x"] {
        assert_eq!(
            failed(&mut t, &format!("alias nothing '{line}'")),
            format!(
                "alias nothing '{line}'\n              {} `nothing` cannot be an alias: there is no command in this",
                "^".repeat(line.len() + 2)
            )
        );
    }
    assert_eq!(
        failed(&mut t, r#"alias broken 'add 1 "x'"#),
        "alias broken 'add 1 \"x'\n             ^^^^^^^^^^ `broken` cannot be an alias: at byte 6 of this, this quote is not closed: expected another \" before the end of the line"
    );
    assert!(failed(&mut t, "nothing 1 2").contains("`nothing` is none"));
}

#[test]
fn what_another_machine_makes_does_no_more_than_that_machine_may() {
    let mut t = game();
    t.cx().console_settings().cheat_granters = vec![Source::Terminal];
    let remote = t
        .cx()
        .run_line("alias boil 'SC.Console.Cheats true'", Source::Remote);
    assert_eq!(remote.outcome, LineOutcome::Done);
    let run = t.cx().run_line("boil", Source::Terminal);
    assert!(
        run.text().contains("remote may not grant cheats"),
        "{}",
        run.text()
    );
    assert!(!t.cx().console_settings().cheats);
    // Nor does it change what was made here.
    t.cx().run_line("alias mine 'find x'", Source::Terminal);
    for line in ["alias mine 'add 1 1'", "alias mine ''"] {
        let run = t.cx().run_line(line, Source::Remote);
        assert!(
            run.text()
                .ends_with("`mine` was made by terminal: remote may not change it")
        );
    }
    // One of here may change what it has made.
    t.cx()
        .run_line("alias boil 'SC.Console.Cheats true'", Source::Terminal);
    assert_eq!(
        t.cx().run_line("boil", Source::Terminal).text(),
        "cheats are on"
    );
}

#[test]
fn an_alias_that_loses_its_name_is_reported_once() {
    let mut t = game();
    t.reports.take();
    done(
        &mut t,
        "alias my.volume \"wait 1\"; alias hi 'wait 2'; alias by 'wait 3'",
    );
    let volume = VariableDef::new("My.Volume", 0.5).runtime();
    t.cx().register_variable(volume).unwrap();
    let greets = || {
        dynamic_command! {
            Hi () |_cx: &mut Cx<'_, Game>, _out| { Ok(()) }
        }
    };
    t.cx().register_command(greets().runtime()).unwrap();
    t.cx().replace_command(greets().runtime()).unwrap();
    let reports = t.reports.take();
    let told: Vec<String> = reports.iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert_eq!(reports[0].kind.name(), "AliasLost");
    assert_eq!(reports[0].object.as_deref(), Some("my.volume"));
    let starts = "hi: an alias has lost its name to the command `Hi`, registered at ";
    let ends = "; it stands for: wait 2; to fix: give the line another name by `alias`, or take this one away by `alias` with an empty line";
    assert!(
        told[1].starts_with(&format!("{starts}{}:", file!())),
        "{}",
        told[1]
    );
    assert!(told[1].ends_with(ends), "{}", told[1]);
    // The command has the name; the fix works; what is left has its name again with the command's end.
    assert_eq!(
        t.cx().run_line("hi", Source::Local).outcome,
        LineOutcome::Done
    );
    assert!(t.cx().unregister_entry("Hi"));
    assert_eq!(
        t.cx().run_line("hi", Source::Local).outcome,
        LineOutcome::Pending
    );
    t.cx().register_command(greets().runtime()).unwrap();
    done(&mut t, "alias hi ''");
    assert!(t.reports.take().is_empty());
}
