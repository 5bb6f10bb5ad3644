//! Completion: `$0` marks the caret; what may stand there, in order, and which bytes it replaces.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![cfg(feature = "commands")]

use sc_console::{
    Completions, ConsoleExt, LineOutcome, Source, VariableDef, VariableExt, command, console_enum,
    dynamic_command, variable,
};
use sc_core::Cx;
use sc_core::testing::TestWorld;

#[derive(Clone, Copy, PartialEq)]
enum Item {
    IronSword,
    IronShield,
    Potion,
}
console_enum!(Item: IronSword = "iron sword", IronShield = "iron shield", Potion);

command! {
    /// Gives an item.
    ///
    /// More about it.
    Game.Debug.Give [anytime] (
        /// Which.
        item: Item,
        /// How many.
        #[special(0 => "empties the slot")]
        count: u32 = 1,
        /// To whom, all of them.
        to: Vec<Item>,
    ) |_cx: &mut Cx<'_, ()>, _out| { let _ = (item as u32, count, to.len()); Ok(()) }
}
command! {
    /// Goes.
    Game.Debug.Go [anytime] () |_cx: &mut Cx<'_, ()>, _out| { Ok(()) }
}
command! {
    /// Quits.
    Game.Quit [anytime] () |_cx: &mut Cx<'_, ()>, _out| { Ok(()) }
}
command! {
    /// Says something.
    Größe.Ändern [anytime] () |_cx: &mut Cx<'_, ()>, _out| { Ok(()) }
}
command! {
    /// Logs in.
    Login [anytime] (
        /// The word.
        #[secret]
        word: Item = Item::Potion,
    ) |_cx: &mut Cx<'_, ()>, _out| { let _ = word; Ok(()) }
}
variable! {
    /// Which item is in hand.
    HAND = Game.Hand: Item = Item::Potion
}

fn complete(line: &str) -> (String, Completions) {
    let caret = line.find("$0").expect("a caret");
    let line = line.replace("$0", "");
    let mut t = TestWorld::new(());
    t.cx().run_line("alias greet 'game.quit'", Source::Script);
    let completions = t
        .cx()
        .console_snapshot(Source::Local)
        .complete(&line, caret);
    assert_eq!(
        t.cx().complete_line(&line, caret, Source::Local),
        completions
    );
    (line, completions)
}

/// What may stand at the caret, and what it replaces.
#[track_caller]
fn check(line: &str, replaced: &str, expected: &[&str]) {
    let (text, completions) = complete(line);
    let inserts: Vec<&str> = completions
        .candidates
        .iter()
        .map(|c| c.insert.as_str())
        .collect();
    assert_eq!(inserts, expected, "{line}");
    assert_eq!(text.get(completions.span.clone()), Some(replaced), "{line}");
}

#[test]
fn names_are_completed_group_by_group() {
    check("ga$0", "ga", &["Game."]);
    check(
        "GAME.$0",
        "GAME.",
        &["Game.Debug.", "Game.Hand", "Game.Quit"],
    );
    check("Game.d$0", "Game.d", &["Game.Debug."]);
    check(
        "Game.Debug.$0",
        "Game.Debug.",
        &["Game.Debug.Give", "Game.Debug.Go"],
    );
    check("Game.Debug.gi$0", "Game.Debug.gi", &["Game.Debug.Give"]);
    // A group with one name in it is that name.
    check("SC.D$0", "SC.D", &["SC.Debug.Ping"]);
}

#[test]
fn nothing_typed_is_everything() {
    let (_, completions) = complete("$0");
    let inserts: Vec<&str> = completions
        .candidates
        .iter()
        .map(|c| c.insert.as_str())
        .collect();
    assert_eq!(
        inserts,
        [
            "alias",
            "clear",
            "exec",
            "find",
            "Game.",
            "greet",
            "Größe.Ändern",
            "help",
            "history",
            "Login",
            "reset",
            "SC.",
            "set",
            "Tie.",
            "wait"
        ]
    );
}

#[test]
fn what_starts_nowhere_is_searched_for() {
    check("gdgi$0", "gdgi", &["Game.Debug.Give"]);
    check("gößänd$0", "gößänd", &["Größe.Ändern"]);
    check("GÖßÄN$0", "GÖßÄN", &["Größe.Ändern"]);
    check("quit$0", "quit", &["Game.Quit"]);
    check("zzz$0", "zzz", &[]);
}

#[test]
fn case_g18_only_the_span_of_the_word_is_replaced() {
    check("greet; Ga$0 x é", "Ga", &["Game."]);
    check("é Ga$0 x", "Ga", &[]);
    check("größe.ä$0n x", "größe.än", &["Größe.Ändern"]);
    check("game.debug.give é; game.q$0; é", "game.q", &["Game.Quit"]);
    check(
        "game.debug.give ir$0on; x",
        "iron",
        &["\"iron sword\"", "\"iron shield\""],
    );
    check(
        "game.debug.give \"iron s$0h\" 1",
        "\"iron sh\"",
        &["\"iron sword\"", "\"iron shield\""],
    );
    check(
        "game.debug.give \"iron s$0",
        "\"iron s",
        &["\"iron sword\"", "\"iron shield\""],
    );
    // A caret inside a letter, or beyond the line, is put where one can be.
    let mut t = TestWorld::new(());
    let snapshot = t.cx().console_snapshot(Source::Local);
    assert_eq!(snapshot.complete("é", 1).span, 0..2);
    assert_eq!(snapshot.complete("gam", 99).span, 0..3);
}

#[test]
fn arguments_are_completed_from_their_type() {
    check(
        "Game.Debug.Give $0",
        "",
        &["\"iron sword\"", "\"iron shield\"", "Potion"],
    );
    check("Game.Debug.Give po$0", "po", &["Potion"]);
    // If none starts so, those that hold it.
    check("Game.Debug.Give SHI$0", "SHI", &["\"iron shield\""]);
    check("Game.Debug.Give Potion $0", "", &["0", "1"]);
    check(
        "Game.Debug.Give Potion 1 Potion ir$0",
        "ir",
        &["\"iron sword\"", "\"iron shield\""],
    );
    check("Game.Debug.Go $0", "", &[]);
    check("unknown $0", "", &[]);
}

#[test]
fn built_in_commands_complete_what_they_are_about() {
    check("help game.q$0", "game.q", &["Game.Quit"]);
    check("set game.$0", "game.", &["Game.Hand"]);
    check("set game.hand po$0", "po", &["Potion"]);
    check(
        "game.hand $0",
        "",
        &["\"iron sword\"", "\"iron shield\"", "Potion"],
    );
    check("reset h$0", "h", &["Game.Hand"]);
    check("alias g$0", "g", &["greet"]);
    check("exec x tr$0", "tr", &["true"]);
}

#[test]
fn a_secret_is_not_completed() {
    check("login $0", "", &[]);
}

fn words(_: &mut Cx<'_, ()>, _typed: &str) -> Vec<String> {
    vec!["sesame".to_owned()]
}

#[test]
fn a_secret_is_not_suggested_by_a_function_either() {
    let mut t = TestWorld::new(());
    let command = dynamic_command! {
        /// Opens.
        Open.Sesame (
            /// The word.
            #[secret]
            #[suggest = words]
            word: String,
            /// A name.
            #[secret]
            #[suggest_from = Names]
            name: Option<String>,
        ) |_cx: &mut Cx<'_, ()>, _out| { let _ = (word, name); Ok(()) }
    };
    t.cx().register_command(command.runtime()).unwrap();
    for line in ["open.sesame ", "open.sesame x game.qui"] {
        let found = t.cx().complete_line(line, line.len(), Source::Local);
        assert!(!found.live && found.candidates.is_empty(), "{line}");
    }
}

#[test]
fn nothing_in_a_comment() {
    check("// ga$0", "", &[]);
    let (_, completions) = complete("help // ga$0");
    assert!(completions.candidates.is_empty());
}

#[test]
fn candidates_say_what_they_are() {
    let (_, completions) = complete("Game.$0");
    let shown: Vec<(&str, &str, bool)> = completions
        .candidates
        .iter()
        .map(|c| (c.label.as_str(), c.about.as_str(), c.group))
        .collect();
    assert_eq!(
        shown,
        [
            ("Game.Debug.", "", true),
            ("Game.Hand", "Which item is in hand.", false),
            ("Game.Quit", "Quits.", false)
        ]
    );
    let (_, completions) = complete("Game.Debug.Give Potion $0");
    assert_eq!(completions.candidates[0].about, "empties the slot");
    assert_eq!(completions.candidates[1].about, "default");
}

#[test]
fn a_line_is_run_as_it_is_typed_however_near_a_name_is() {
    let mut t = TestWorld::new(());
    let mut run = |line| t.cx().run_line(line, Source::Local);
    assert_eq!(run("game.quit").outcome, LineOutcome::Done);
    // One candidate alone, for the name and for an argument.
    check("game.qui$0", "game.qui", &["Game.Quit"]);
    let name = run("game.qui");
    assert_eq!(name.outcome, LineOutcome::Failed);
    assert_eq!(
        name.text(),
        "game.qui\n^^^^^^^^ expected the name of a command or a variable; `game.qui` is none (did you mean `Game.Quit`?)"
    );
    check("game.debug.give po$0", "po", &["Potion"]);
    assert_eq!(run("game.debug.give potion").outcome, LineOutcome::Done);
    let argument = run("game.debug.give po");
    assert_eq!(argument.outcome, LineOutcome::Failed);
    assert!(
        argument.text().contains("                ^^ "),
        "{}",
        argument.text()
    );
}

command! {
    /// One of two that are as good.
    Tie.Beta [anytime] () |_cx: &mut Cx<'_, ()>, _out| { Ok(()) }
}
command! {
    /// The other.
    Tie.Bets [anytime] () |_cx: &mut Cx<'_, ()>, _out| { Ok(()) }
}

#[test]
fn what_is_searched_for_and_as_good_is_in_order_of_names() {
    for _ in 0..3 {
        check("tebe$0", "tebe", &["Tie.Beta", "Tie.Bets"]);
    }
}

#[test]
fn of_more_than_fifty_names_that_are_like_it_the_best_are_shown() {
    let mut t = TestWorld::new(());
    for n in 0..200 {
        let name = format!("Far.B{n:03}oxoyozoooonoooe");
        t.cx()
            .register_variable(VariableDef::new(name, 0_u32).runtime())
            .unwrap();
    }
    // The best one comes last by name.
    t.cx()
        .register_variable(VariableDef::new("Zz.Bone", 0_u32).runtime())
        .unwrap();
    let found = t.cx().complete_line("bone", 4, Source::Local).candidates;
    assert_eq!(found.len(), 50);
    assert_eq!(found[0].insert, "Zz.Bone");
    assert_eq!(found[1].insert, "Far.B000oxoyozoooonoooe");
}

fn asks_again(cx: &mut Cx<'_, ()>, _typed: &str) -> Vec<String> {
    let again = cx.complete_line("ask.again ", 10, Source::Local);
    vec![format!("{} inside", again.candidates.len())]
}

#[test]
fn a_function_that_asks_for_its_own_suggestions_gets_none() {
    let mut t = TestWorld::new(());
    let command = dynamic_command! {
        /// Asks for its own suggestions.
        Ask.Again (
            /// Anything.
            #[suggest = asks_again]
            what: String,
        ) |_cx: &mut Cx<'_, ()>, _out| { let _ = what; Ok(()) }
    };
    t.cx().register_command(command.runtime()).unwrap();
    for _ in 0..2 {
        let found = t
            .cx()
            .complete_line("ask.again ", 10, Source::Local)
            .candidates;
        assert_eq!(found[0].insert, "\"0 inside\"");
    }
}
