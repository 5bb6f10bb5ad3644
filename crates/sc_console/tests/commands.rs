//! Static commands: parameters of every form, help, flags, game worlds, other hosts.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![cfg(feature = "commands")]

use sc_console::{CommandError, ConsoleExt, LineKind, LineOutcome, Source, command, console_enum};
use sc_core::PanicPolicy;
use sc_core::testing::TestWorld;
use sc_core::{AnyCx, Cx, Runtime, WorldKind};

#[derive(Default)]
struct Game {
    log: Vec<String>,
    friends: Vec<String>,
}

struct OtherGame;

#[derive(Clone, Copy, PartialEq, Debug)]
enum Item {
    Sword,
    Shield,
    HealthPotion,
}
console_enum!(Item: Sword, Shield, HealthPotion = "potion");

impl std::fmt::Display for Item {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self:?}")
    }
}

command! {
    /// Gives an item to the player.
    MyGame.Debug.GiveItem [cheat] (
        /// Which item.
        item: Item,
        /// How many. 0 empties the slot.
        count: u32 = 1,
    ) |cx: &mut Cx<'_, Game>, out| {
        cx.host_mut().log.push(format!("{count} {item}"));
        writeln!(out, "gave {count} x {item}")?;
        Ok(())
    }
}

command! {
    /// Waits for a while.
    ///
    /// Not a real one.
    MyGame.Pause (
        /// How long, in seconds.
        #[range = 1.0..=60.0]
        #[special(0.0 => "no deadline", -1.0 => "for ever")]
        seconds: f64,
        /// Who says so.
        #[suggest = friends]
        who: Option<String>,
        /// Why.
        words: Vec<String>,
    ) |cx: &mut Cx<'_, Game>, out| {
        cx.host_mut().log.push(format!("{seconds} {who:?} {words:?}"));
        writeln!(out, "{seconds:?}")?;
        Ok(())
    }
}

fn friends(cx: &mut Cx<'_, Game>, typed: &str) -> Vec<String> {
    assert_ne!(typed, "boom", "boom");
    cx.host().friends.clone()
}

command! {
    /// Takes its words as they are.
    MyGame.Raw (raw words) |cx: &mut Cx<'_, Game>, out| {
        let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
        cx.host_mut().log.push(texts.join("|"));
        writeln!(out, "{}", words.len())?;
        Ok(())
    }
}

command! {
    /// Numbers.
    MyGame.Numbers [anytime] (
        /// Whole.
        whole: i32,
        /// With a fraction.
        fraction: f32 = 0.5,
        /// Small.
        small: u8 = 0,
        /// Yes or no.
        truth: bool = false,
    ) |_cx: &mut Cx<'_, Game>, out| {
        writeln!(out, "{whole} {fraction:?} {small} {truth}")?;
        Ok(())
    }
}

command! {
    /// Fails.
    MyGame.Fail [anytime] () |_cx: &mut Cx<'_, Game>, _out| {
        let _: u32 = "x".parse()?;
        Ok(())
    }
}

command! {
    /// Works with any host.
    MyGame.Free [anytime] () |cx: &mut dyn AnyCx, out| {
        writeln!(out, "host {}", cx.host_name())?;
        Ok(())
    }
}

command! {
    /// Of another host.
    OtherGame.Only () |_cx: &mut Cx<'_, OtherGame>, _out| {
        Ok(())
    }
}

command! {
    /// Only scripts run it.
    MyGame.Hidden [hidden] () |_cx: &mut Cx<'_, Game>, out| { Ok(writeln!(out, "seen")?) }
}

command! {
    /// Only servers run it.
    MyGame.Kick [server_only, anytime] () |_cx: &mut Cx<'_, Game>, out| { Ok(writeln!(out, "kicked")?) }
}

fn game() -> TestWorld<Game> {
    let mut t = TestWorld::new(Game::default());
    t.cx().console_settings().cheats = true;
    t
}

/// The outcome and the text of a line.
fn run(t: &mut TestWorld<Game>, line: &str) -> (LineOutcome, String) {
    let run = t.cx().run_line(line, Source::Local);
    (run.outcome, run.text())
}

#[track_caller]
fn done(t: &mut TestWorld<Game>, line: &str) -> String {
    let (outcome, text) = run(t, line);
    assert_eq!(outcome, LineOutcome::Done, "{text}");
    text
}

#[track_caller]
fn failed(t: &mut TestWorld<Game>, line: &str) -> String {
    let (outcome, text) = run(t, line);
    assert_eq!(outcome, LineOutcome::Failed, "{text}");
    text
}

#[test]
fn a_command_is_there_from_program_start() {
    let mut t = game();
    assert_eq!(
        done(&mut t, "MyGame.Debug.GiveItem sword 3"),
        "gave 3 x Sword"
    );
    assert_eq!(t.host.log, ["3 Sword"]);
}

#[test]
fn a_default_stands_in_for_what_is_left_out() {
    let mut t = game();
    assert_eq!(
        done(&mut t, "MyGame.Debug.GiveItem POTION"),
        "gave 1 x HealthPotion"
    );
}

#[test]
fn a_wrong_argument_is_marked_and_nothing_runs() {
    let mut t = game();
    assert_eq!(
        failed(&mut t, "MyGame.Debug.GiveItem swort"),
        "MyGame.Debug.GiveItem swort\n\
         \x20                     ^^^^^ item: expected one of Sword, Shield, potion; did you mean `Sword`?"
    );
    assert_eq!(
        failed(&mut t, "MyGame.Debug.GiveItem sword many"),
        "MyGame.Debug.GiveItem sword many\n\
         \x20                           ^^^^ count: expected a whole number from 0 to 4294967295"
    );
    assert_eq!(
        failed(&mut t, "MyGame.Debug.GiveItem"),
        "MyGame.Debug.GiveItem\n\
         \x20                    ^ expected item (Item); usage: MyGame.Debug.GiveItem <item> [count]"
    );
    assert_eq!(
        failed(&mut t, "MyGame.Debug.GiveItem sword 1 2"),
        "MyGame.Debug.GiveItem sword 1 2\n\
         \x20                             ^ expected no further word; usage: MyGame.Debug.GiveItem <item> [count]"
    );
    assert!(t.host.log.is_empty());
}

#[test]
fn ranges_refuse_and_special_values_are_allowed() {
    let mut t = game();
    assert_eq!(done(&mut t, "MyGame.Pause 60"), "60.0");
    assert_eq!(done(&mut t, "MyGame.Pause 0"), "0.0");
    assert_eq!(done(&mut t, "MyGame.Pause -1"), "-1.0");
    assert_eq!(
        failed(&mut t, "MyGame.Pause 61"),
        "MyGame.Pause 61\n\
         \x20            ^^ seconds: expected f64 from 1.0 up to 60.0, or 0.0 (no deadline), or -1.0 (for ever)"
    );
    for word in ["nan", "inf", "1e999", "x"] {
        let text = failed(&mut t, &format!("MyGame.Pause {word}"));
        assert!(
            text.contains("seconds: expected f64 from 1.0 up to 60.0, or"),
            "{text}"
        );
    }
    assert!(failed(&mut t, "MyGame.Numbers 1 nan").contains("expected a number such as"));
    assert!(failed(&mut t, "MyGame.Numbers 1 1e999").contains("in the range of f32"));
}

#[test]
fn optional_and_variadic_parameters() {
    let mut t = game();
    done(&mut t, "MyGame.Pause 1");
    done(&mut t, "MyGame.Pause 2 me 'because of' it");
    assert_eq!(
        t.host.log,
        ["1 None []", "2 Some(\"me\") [\"because of\", \"it\"]"]
    );
}

#[test]
fn raw_words_come_as_they_are() {
    let mut t = game();
    assert_eq!(done(&mut t, "MyGame.Raw a 'b c' -1"), "3");
    assert_eq!(t.host.log, ["a|b c|-1"]);
}

#[test]
fn case_g10_negative_numbers_are_numbers() {
    let mut t = game();
    assert_eq!(
        done(&mut t, "MyGame.Numbers -1 -1.5e3 +2 on"),
        "-1 -1500.0 2 true"
    );
    assert_eq!(done(&mut t, "MyGame.Numbers +2"), "2 0.5 0 false");
    assert_eq!(done(&mut t, "MyGame.Numbers -0 -0.0"), "0 0.0 0 false");
    assert!(failed(&mut t, "MyGame.Numbers 1 2,5").contains("a number such as 2, -1.5 or 1.5e3"));
    assert!(failed(&mut t, "MyGame.Numbers 1 1 256").contains("from 0 to 255"));
    assert!(failed(&mut t, "MyGame.Numbers 1 1 1 maybe").contains("true or false"));
}

#[test]
fn a_body_that_fails_says_so() {
    let mut t = game();
    assert_eq!(
        failed(&mut t, "MyGame.Fail"),
        "`MyGame.Fail` failed: invalid digit found in string"
    );
}

#[test]
fn a_host_free_command_is_in_every_runtime() {
    let mut t = game();
    assert!(done(&mut t, "MyGame.Free").ends_with("::Game"));
    let (mut rt, mut host) = (Runtime::<u8>::new(), 0);
    assert_eq!(
        rt.cx(&mut host)
            .run_line("MyGame.Free", Source::Local)
            .text(),
        "host u8"
    );
}

#[test]
fn a_command_of_another_host_says_that_it_is_one() {
    let mut t = game();
    let text = failed(&mut t, "othergame.only");
    assert!(
        text.contains("`OtherGame.Only` is declared for runtimes whose host is"),
        "{text}"
    );
    assert!(text.contains("::OtherGame`; the host here is"), "{text}");
    let snapshot = t.cx().console_snapshot(Source::Local);
    assert!(snapshot.get("OtherGame.Only").is_none());
    assert!(done(&mut t, "SC.Console.SelfTest").contains("for another host: OtherGame.Only ("));
}

#[test]
fn without_a_game_world_a_static_command_is_a_warning() {
    let (mut rt, mut game) = (Runtime::<Game>::new(), Game::default());
    let reports = sc_core::testing::ReportLog::of(&mut rt);
    let mut cx = rt.cx(&mut game);
    cx.create_world(WorldKind::Editor).unwrap();
    let run = cx.run_line("MyGame.Raw x", Source::Local);
    assert_eq!(run.outcome, LineOutcome::Failed);
    assert_eq!(run.output[0].kind, LineKind::Warning);
    assert_eq!(
        run.output[0].text,
        "`MyGame.Raw` was not run: it needs a game world (game or play-in-editor), and there is none"
    );
    // What is declared `anytime` runs.
    assert_eq!(
        cx.run_line("MyGame.Free", Source::Local).outcome,
        LineOutcome::Done
    );
    // Play-in-editor counts.
    let play = cx.create_world(WorldKind::PlayInEditor).unwrap();
    assert_eq!(
        cx.run_line("MyGame.Raw x", Source::Local).outcome,
        LineOutcome::Done
    );
    cx.destroy_world(play);
    assert_eq!(
        cx.run_line("MyGame.Raw x", Source::Local).outcome,
        LineOutcome::Failed
    );
    let names: Vec<_> = reports
        .take()
        .into_iter()
        .map(|r| (r.kind.name(), r.object))
        .collect();
    let raw = Some("MyGame.Raw".to_owned());
    assert_eq!(names, [("NoGameWorld", raw.clone()), ("NoGameWorld", raw)]);
}

#[test]
fn a_cheat_is_refused_before_anything_runs() {
    let mut t = game();
    t.cx().console_settings().cheats = false;
    let text = failed(&mut t, "MyGame.Debug.GiveItem what");
    assert!(
        text.contains("`MyGame.Debug.GiveItem` is a cheat, and cheats are off"),
        "{text}"
    );
    // Help answers as running it does.
    assert_eq!(
        failed(&mut t, "help mygame.debug.giveitem"),
        "help mygame.debug.giveitem\n     ^^^^^^^^^^^^^^^^^^^^^ `MyGame.Debug.GiveItem` is a cheat, and cheats are off"
    );
    assert!(failed(&mut t, "SC.Console.Cheats on").contains("local may not grant cheats"));
    t.cx().console_settings().cheat_granters = vec![Source::Terminal];
    failed(&mut t, "SC.Console.Cheats on");
    let run = t.cx().run_line("SC.Console.Cheats on", Source::Terminal);
    assert_eq!(run.text(), "cheats are on");
    assert_eq!(
        done(&mut t, "MyGame.Debug.GiveItem sword"),
        "gave 1 x Sword"
    );
}

#[test]
fn one_filter_for_help_list_completion_and_run() {
    let mut t = game();
    let sees = |t: &mut TestWorld<Game>, name: &str, source| {
        let mut cx = t.cx();
        let snapshot = cx.console_snapshot(source);
        let listed = snapshot.get(name).is_some();
        let completed = snapshot.complete(name, name.len());
        let completed = completed.candidates.iter().any(|c| c.insert == name);
        let help = cx.run_line(&format!("help {name}"), source).outcome == LineOutcome::Done;
        let found = cx.run_line(&format!("find {name}"), source).text();
        let found = found.contains(&format!("  {name}"));
        let run = cx.run_line(name, source).outcome == LineOutcome::Done;
        assert_eq!(
            [listed, completed, help, found],
            [run; 4],
            "{name} for {source}"
        );
        run
    };
    assert!(!sees(&mut t, "MyGame.Hidden", Source::Local));
    assert!(!sees(&mut t, "MyGame.Hidden", Source::Remote));
    assert!(sees(&mut t, "MyGame.Hidden", Source::Script));
    t.cx().console_settings().show_hidden = true;
    assert!(sees(&mut t, "MyGame.Hidden", Source::Local));
    assert!(sees(&mut t, "MyGame.Kick", Source::Remote));
    t.cx().console_settings().is_server = false;
    assert!(!sees(&mut t, "MyGame.Kick", Source::Remote));
    assert!(failed(&mut t, "MyGame.Kick").contains("is for servers only, and this is none"));
}

#[test]
fn help_hides_nothing_that_a_parameter_says() {
    let mut t = game();
    let text = done(&mut t, "help mygame.pause");
    let line = text.lines().last().unwrap();
    assert!(
        line.starts_with("  command, declared at ") && line.contains("commands.rs:"),
        "{line}"
    );
    let text: Vec<&str> = text.lines().collect();
    assert_eq!(
        text[..text.len() - 1],
        [
            "MyGame.Pause <seconds> [who] [words ..]",
            "  Waits for a while.",
            "  Not a real one.",
            "  seconds: f64, from 1.0 up to 60.0",
            "      How long, in seconds.",
            "      0.0 = no deadline",
            "      -1.0 = for ever",
            "  who: text, may be left out",
            "      Who says so.",
            "  words: text, any number",
            "      Why.",
        ]
    );
    let text = done(&mut t, "help MyGame.Debug.GiveItem");
    assert!(
        text.contains("  item: Item, one of Sword, Shield, potion\n      Which item."),
        "{text}"
    );
    assert!(
        text.contains("  count: u32, default 1\n      How many. 0 empties the slot."),
        "{text}"
    );
    assert!(text.contains("  cheat; command, declared at"), "{text}");
}

#[test]
fn help_alone_lists_everything_with_its_summary() {
    let mut t = game();
    let text = done(&mut t, "help");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "This program:");
    assert!(
        lines.contains(&"  MyGame.Debug.GiveItem <item> [count]  Gives an item to the player.")
    );
    let ours = lines
        .iter()
        .position(|&line| line == "The console:")
        .unwrap();
    assert!(lines[ours..].contains(
        &"  wait [frames]  Goes on with the rest of the line, or of the script, some frames later."
    ));
    assert!(
        lines[ours..]
            .iter()
            .any(|line| line.starts_with("  SC.Debug.Ping "))
    );
    // How a line is written is part of it.
    let how = lines
        .iter()
        .position(|&line| line == "How to write a line:");
    assert_eq!(
        lines[how.unwrap()..],
        [
            "How to write a line:",
            "  name word ..  Runs a command. The name of a variable shows it; with a value, sets it.",
            "  one; two  Runs one after the other. What fails ends the line.",
            "  \"two words\" or 'two words'  Is one word. In quotes \\\" \\' \\\\ \\n \\r \\t mean what they do elsewhere.",
            "  // text  Is a comment.",
            "More: help <name> about one of them; exec alone lists the scripts, alias alone the aliases",
        ]
    );
    // A group.
    let text = done(&mut t, "help MyGame.Debug");
    assert_eq!(
        text,
        "  MyGame.Debug.GiveItem <item> [count]  Gives an item to the player."
    );
    assert!(
        failed(&mut t, "help hepl")
            .contains("there is nothing called `hepl` (did you mean `help`?)")
    );
}

#[test]
fn find_looks_into_names_and_texts() {
    let mut t = game();
    assert_eq!(
        done(&mut t, "find EMPTIES"),
        "  MyGame.Debug.GiveItem <item> [count]  Gives an item to the player.\n1 found"
    );
    assert_eq!(done(&mut t, "find nothing-like-it"), "0 found");
}

#[test]
fn an_unknown_name_says_what_may_have_been_meant() {
    let mut t = game();
    assert_eq!(
        failed(&mut t, "MyGame.Debug.GiveItme sword"),
        "MyGame.Debug.GiveItme sword\n\
         ^^^^^^^^^^^^^^^^^^^^^ expected the name of a command or a variable; `MyGame.Debug.GiveItme` is none (did you mean `MyGame.Debug.GiveItem`?)"
    );
    assert!(failed(&mut t, "giveitem").contains("did you mean `MyGame.Debug.GiveItem`"));
    assert!(!failed(&mut t, "xyzzyxyzzy").contains("did you mean"));
}

#[test]
fn ping_is_the_worked_example() {
    let mut t = game();
    assert_eq!(done(&mut t, "sc.debug.ping"), "pong from game 1 in frame 0");
    assert_eq!(
        done(&mut t, "SC.Debug.Ping hello"),
        "hello from game 1 in frame 0"
    );
}

#[test]
fn our_own_have_texts() {
    let mut t = game();
    t.cx().console_settings().show_hidden = true;
    let text = done(&mut t, "SC.Console.Lint");
    // Everything in this file has texts too.
    assert!(text.ends_with(" looked at, 0 found"), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
}

#[test]
fn live_suggestions_ask_the_game() {
    let mut t = game();
    t.host.friends = vec![
        "Ada Lovelace".to_owned(),
        "Alan".to_owned(),
        "Bo".to_owned(),
    ];
    let found = t.cx().complete_line("MyGame.Pause 1 a", 16, Source::Local);
    let inserts: Vec<&str> = found.candidates.iter().map(|c| c.insert.as_str()).collect();
    assert_eq!(inserts, ["\"Ada Lovelace\"", "Alan"]);
    assert_eq!(found.span, 15..16);
    let pure = t
        .cx()
        .console_snapshot(Source::Local)
        .complete("MyGame.Pause 1 a", 16);
    assert!(pure.live && pure.candidates.is_empty());
}

#[test]
fn suggestions_that_panic_are_reported() {
    let mut t = game();
    let found = t
        .cx()
        .complete_line("MyGame.Pause 1 boom", 19, Source::Local);
    assert!(found.candidates.is_empty());
    let reports = t.reports.take();
    assert_eq!(
        (reports.len(), reports[0].kind.name()),
        (1, "SuggestionPanicked")
    );
}

command! {
    /// Takes a value.
    MyGame.Value [anytime] (
        /// The value.
        value: Option<u32>,
    ) |_cx: &mut Cx<'_, Game>, _out| { let _ = value; Ok(()) }
}

#[test]
fn a_parameter_called_value_is_one_like_others() {
    let text = done(&mut game(), "help MyGame.Value");
    assert!(
        text.contains("  value: u32, may be left out\n      The value."),
        "{text}"
    );
}

#[test]
fn a_word_without_letters_is_no_name() {
    assert_eq!(
        failed(&mut game(), "'' x"),
        "'' x\n^^ expected the name of a command or a variable, and this word is empty"
    );
}

/// An error that cannot even be shown.
#[derive(Debug)]
struct Unspeakable;

impl std::fmt::Display for Unspeakable {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        panic!("no words for it")
    }
}
impl std::error::Error for Unspeakable {}

command! {
    /// Fails beyond words.
    MyGame.Unspeakable [anytime] (
        /// Whether a word is at fault.
        word: bool,
    ) |_cx: &mut Cx<'_, Game>, _out| {
        if word { Err(sc_console::CommandError::at("word", Unspeakable))?; }
        Err(Unspeakable)?;
        Ok(())
    }
}

#[test]
fn an_error_that_panics_when_it_is_shown_is_a_panic_of_its_command() {
    for policy in [PanicPolicy::Propagate, PanicPolicy::Isolate] {
        for line in ["mygame.unspeakable no", "mygame.unspeakable yes"] {
            let mut t = game();
            t.rt.set_panic_policy(policy);
            assert_eq!(
                failed(&mut t, line),
                "`MyGame.Unspeakable` panicked: no words for it"
            );
            assert_eq!(t.reports.take()[0].kind.name(), "CommandPanicked");
            assert_eq!(done(&mut t, "MyGame.Numbers 1"), "1 0.5 0 false");
        }
    }
}

command! {
    /// Has special values in two places, and a parameter called by a word of Rust.
    MyGame.Specials [anytime] (
        /// How many.
        #[range = 1..=9]
        #[special(0 => "none")]
        #[special(-1 => "all", 99 => "many")]
        count: i32,
        /// Of which type.
        r#type: String = "any".to_owned(),
    ) |_cx: &mut Cx<'_, Game>, out| {
        match r#type.as_str() {
            "bad" => Err(CommandError::at("type", "no such type"))?,
            "worse" => Err(CommandError::at("typ", "no such type"))?,
            _ => {}
        }
        writeln!(out, "{count} {type}", type = r#type)?;
        Ok(())
    }
}

#[test]
fn special_values_may_stand_in_several_attributes() {
    let mut t = game();
    for count in ["0", "-1", "99", "9"] {
        let line = format!("MyGame.Specials {count}");
        assert_eq!(done(&mut t, &line), format!("{count} any"));
    }
    let text = failed(&mut t, "MyGame.Specials 10");
    assert!(
        text.ends_with(
            "count: expected i32 from 1 up to 9, or 0 (none), or -1 (all), or 99 (many)"
        ),
        "{text}"
    );
}

#[test]
fn a_parameter_called_by_a_word_of_rust_is_shown_as_that_word() {
    let mut t = game();
    let help = done(&mut t, "help MyGame.Specials");
    assert!(
        help.starts_with("MyGame.Specials <count> [type]\n"),
        "{help}"
    );
    assert!(help.contains("\n  type: text, default any\n"), "{help}");
    assert_eq!(
        failed(&mut t, "MyGame.Specials 1 bad"),
        "MyGame.Specials 1 bad\n                  ^^^ no such type"
    );
}

#[test]
fn an_error_about_a_parameter_that_there_is_not_is_shown_with_its_line() {
    assert_eq!(
        failed(&mut game(), "MyGame.Specials 1 worse"),
        "MyGame.Specials 1 worse\n^^^^^^^^^^^^^^^ no such type (said of the parameter `typ`, and `MyGame.Specials` has none of that name)"
    );
}
