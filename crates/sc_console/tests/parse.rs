//! The syntax of a line: what is understood, where errors lie, and that writing a line again changes
//! nothing.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use proptest::prelude::*;
use sc_console::{ParseErrorKind, parse_line, quote};

/// The words of each command.
fn words(line: &str) -> Vec<Vec<String>> {
    let parsed = parse_line(line);
    assert_eq!(parsed.errors, [], "{line}");
    let of = |command: &sc_console::CommandText| {
        let args = command.args.iter().map(|word| word.text.clone());
        std::iter::once(command.name.text.clone())
            .chain(args)
            .collect()
    };
    parsed.commands.iter().map(of).collect()
}

#[test]
fn whitespace_separates_words() {
    assert_eq!(words("give sword 2"), [["give", "sword", "2"]]);
    assert_eq!(
        words("\t give\u{a0}sword\u{3000}2  "),
        [["give", "sword", "2"]]
    );
}

#[test]
fn quotes_hold_words_together() {
    assert_eq!(words(r#"say "two words""#), [["say", "two words"]]);
    assert_eq!(words("say 'two words'"), [["say", "two words"]]);
    assert_eq!(
        words(r#"say "it's" 'a "word"'"#),
        [["say", "it's", "a \"word\""]]
    );
    assert_eq!(words(r#"say """#), [["say", ""]]);
    assert_eq!(
        words(r#"set name="two words"!"#),
        [["set", "name=two words!"]]
    );
    assert_eq!(words("say 'a; b // c'"), [["say", "a; b // c"]]);
}

#[test]
fn backslashes_escape_inside_quotes_only() {
    assert_eq!(
        words(r#"say "a\"b\\c\n\t\r\'""#),
        [["say", "a\"b\\c\n\t\r'"]]
    );
    assert_eq!(words(r"open C:\games\new"), [["open", r"C:\games\new"]]);
}

#[test]
fn an_unknown_escape_is_an_error_at_it() {
    let parsed = parse_line(r#"open "C:\games""#);
    assert_eq!(parsed.errors.len(), 1);
    assert_eq!(parsed.errors[0].kind, ParseErrorKind::UnknownEscape('g'));
    assert_eq!(parsed.errors[0].span, 8..10);
}

#[test]
fn semicolons_and_line_ends_separate_commands() {
    assert_eq!(
        words("a 1; b 2;c"),
        [vec!["a", "1"], vec!["b", "2"], vec!["c"]]
    );
    assert_eq!(words("a\r\nb"), [["a"], ["b"]]);
}

#[test]
fn a_comment_begins_at_the_start_of_a_word() {
    assert_eq!(words("a b // c; d"), [["a", "b"]]);
    assert_eq!(words("// nothing"), Vec::<Vec<String>>::new());
    assert_eq!(words("open http://x"), [["open", "http://x"]]);
    assert_eq!(words("a // one\nb"), [["a"], ["b"]]);
}

#[test]
fn case_g8_blank_lines_are_nothing() {
    for line in ["", " ", "\t", ";", ";;; ;", "\n", "  // only a comment"] {
        let parsed = parse_line(line);
        assert_eq!(
            (parsed.commands.len(), parsed.errors.len()),
            (0, 0),
            "{line:?}"
        );
    }
}

#[test]
fn case_g9_an_unclosed_quote_is_an_error_at_that_quote() {
    let parsed = parse_line("say é \"hello");
    assert_eq!(parsed.errors.len(), 1);
    assert_eq!(parsed.errors[0].kind, ParseErrorKind::UnclosedQuote('"'));
    // `say `, two bytes of é, a space: the quote is byte 7.
    assert_eq!(parsed.errors[0].span, 7..8);
    assert_eq!(parse_line("don't").errors[0].span, 3..4);
    assert_eq!(parse_line("x \"\\").errors[0].span, 2..3);
}

#[test]
fn case_g11_everything_else_is_ordinary_text() {
    for word in [
        "<", "@", "é", "🎮", "http://x", "#", "$x", "a=b", "{}", "%", "日本", "-", "a//b",
    ] {
        assert_eq!(words(&format!("say {word}")), [["say", word]]);
    }
}

#[test]
fn spans_are_the_bytes_of_words_with_their_quotes() {
    let parsed = parse_line("é 'x y' z");
    let command = &parsed.commands[0];
    assert_eq!(command.name.span, 0..2);
    assert_eq!(command.args[0].span, 3..8);
    assert!(command.args[0].quoted && !command.args[1].quoted);
    assert_eq!(command.args[1].span, 9..10);
}

#[test]
fn the_marker_stands_under_the_bad_bytes() {
    let line = "日本 'x";
    let shown = parse_line(line).errors[0].render(line);
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines[0], line);
    // Each of the two letters is two columns wide.
    assert!(lines[1].starts_with("     ^ this quote"), "{}", lines[1]);
}

proptest! {
    #[test]
    fn any_text_is_parsed_and_spans_are_in_order(text in "\\PC{0,60}|[a \"'\\\\;/\n\té🎮]{0,40}") {
        let parsed = parse_line(&text);
        let mut end = 0;
        for command in &parsed.commands {
            for word in std::iter::once(&command.name).chain(&command.args) {
                prop_assert!(word.span.start >= end && word.span.start < word.span.end);
                prop_assert!(text.get(word.span.clone()).is_some());
                end = word.span.end;
            }
        }
        for error in &parsed.errors {
            prop_assert!(text.get(error.span.clone()).is_some_and(|bad| !bad.is_empty()));
            let _ = error.render(&text);
        }
    }

    #[test]
    fn a_line_written_again_means_the_same(text in "\\PC{0,60}|[a \"'\\\\;/\n\té🎮]{0,40}") {
        let parsed = parse_line(&text);
        let again = parse_line(&parsed.to_string());
        prop_assert_eq!(&again.errors, &[]);
        let meant = |line: &sc_console::LineText| -> Vec<Vec<String>> {
            line.commands
                .iter()
                .map(|c| std::iter::once(&c.name).chain(&c.args).map(|w| w.text.clone()).collect())
                .collect()
        };
        prop_assert_eq!(meant(&again), meant(&parsed));
        prop_assert_eq!(again.to_string(), parsed.to_string());
    }

    #[test]
    fn a_quoted_word_is_read_as_that_word(word in any::<String>()) {
        let parsed = parse_line(&quote(&word));
        prop_assert_eq!(&parsed.errors, &[]);
        prop_assert_eq!(parsed.commands.len(), 1);
        prop_assert_eq!(&parsed.commands[0].name.text, &word);
        prop_assert!(parsed.commands[0].args.is_empty());
    }
}
