//! The editor on a real terminal: this test binary starts itself on a pseudo-terminal, types, and looks
//! at the screen. Nothing here waits for a time; it waits for what is to be seen.
#![cfg(all(unix, feature = "terminal", feature = "commands", feature = "print"))]
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout
)]

#[path = "terminal_editor/child.rs"]
mod child;
#[path = "terminal_editor/pty.rs"]
mod pty;

use std::io::Write;
use std::process::{Command, ExitCode, Stdio};

use pty::{COLUMNS, Pty, cursor_row, has_row, rows};
use vt100::Screen;

const UP: &str = "\x1b[A";
const LEFT: &str = "\x1b[D";
const BACK_SPACE: &str = "\x7f";
const CTRL_C: &str = "\x03";
const CTRL_D: &str = "\x04";
const CTRL_R: &str = "\x12";

/// Not a test: the program that the tests run.
#[test]
#[ignore = "the other tests start it"]
fn program() -> ExitCode {
    child::run()
}

/// A prompt, and behind it nothing but what was typed.
fn at_prompt(screen: &Screen, typed: &str) -> bool {
    cursor_row(screen) == format!("> {typed}").trim_end()
}

/// Starts it and waits for its first prompt.
fn started(part: &str) -> Pty {
    let pty = Pty::start(part, &[]);
    pty.wait_for("the first prompt", |s| at_prompt(s, ""));
    pty
}

/// The terminal is as a shell expects it, and the program has ended so.
#[track_caller]
fn check_restored(pty: &mut Pty, status: &str) {
    pty.wait_for("the shell", |s| has_row(s, "done"));
    let (screen, written, is_clean) = pty.end();
    assert!(
        written.contains(&format!("ended with {status}\r\n")),
        "{screen}"
    );
    for setting in ["icanon", "echo", "isig", "opost", "icrnl"] {
        let has = |word: &str| {
            screen
                .split_whitespace()
                .any(|w| w.trim_end_matches(';') == word)
        };
        assert!(has(setting), "{setting} is off:\n{screen}");
        assert!(!has(&format!("-{setting}")), "{setting} is off:\n{screen}");
    }
    assert!(
        is_clean,
        "pasting is bracketed or the cursor is hidden:\n{screen}"
    );
}

/// The numbers of the lines that the thread has logged and that are on the screen, from above.
fn logged(screen: &Screen) -> Vec<u32> {
    let number = |row: &String| {
        let rest = row.split_once("INFO thread: line ")?.1;
        rest.strip_suffix('.')?.parse().ok()
    };
    rows(screen).iter().filter_map(number).collect()
}

#[test]
fn a_line_is_typed_and_run_and_the_prompt_comes_again() {
    let mut pty = started("");
    pty.type_in("play.say hello\r");
    pty.wait_for("the output and a prompt", |s| {
        has_row(s, "> play.say hello") && has_row(s, "you say hello") && at_prompt(s, "")
    });
    pty.type_in("play.sya 1\r");
    pty.wait_for("the error", |s| {
        rows(s).iter().any(|row| row.contains("Play.Say")) && at_prompt(s, "")
    });
    pty.type_in("quit\r");
    pty.wait_for("the end", |s| has_row(s, "the terminal has ended"));
    check_restored(&mut pty, "0");
    // What came at the very end was still shown.
    let (screen, written, _) = pty.end();
    assert!(written.contains("the last frame was run"), "{screen}");
    assert!(written.contains("good bye"), "{screen}");
}

#[test]
fn clear_clears_the_screen() {
    let mut pty = started("");
    pty.type_in("play.say before\r");
    pty.wait_for("the output and a prompt", |s| {
        has_row(s, "you say before") && at_prompt(s, "")
    });
    pty.type_in("clear; play.say after\r");
    pty.wait_for("what came after alone, from the top", |s| {
        rows(s)[..2] == ["you say after", ">"] && at_prompt(s, "") && !has_row(s, "you say before")
    });
    // While a line is being typed, when it is done.
    pty.type_in("wait 30; clear\r");
    pty.wait_for("a prompt", |s| at_prompt(s, ""));
    pty.type_in("play.say last");
    pty.wait_for("the line", |s| at_prompt(s, "play.say last"));
    pty.type_in("\r");
    pty.wait_for("the output", |s| {
        has_row(s, "you say last") && at_prompt(s, "")
    });
    pty.type_in(CTRL_D);
    check_restored(&mut pty, "0");
}

#[test]
fn tab_completes_with_a_menu_that_says_what_things_are() {
    let mut pty = started("");
    pty.type_in("pla\t");
    pty.wait_for("the group", |s| at_prompt(s, "Play."));
    pty.type_in("\t");
    pty.wait_for("the menu", |s| {
        let rows = rows(s);
        let has = |name: &str, text: &str| {
            rows.iter()
                .any(|row| row.contains(name) && row.contains(text))
        };
        has("Play.Say", "Writes a text.") && has("Play.Open", "Opens a door.")
    });
    // Typing on narrows it; a single one is taken over by the key.
    pty.type_in("op\t");
    pty.wait_for("the command", |s| cursor_row(s).starts_with("> Play.Open "));
    // Values come from the live game.
    pty.type_in("\t");
    pty.wait_for("the doors", |s| {
        rows(s)
            .iter()
            .any(|row| row.contains("red") && row.contains("blue"))
    });
    pty.type_in("b\t\r");
    pty.wait_for("the blue door", |s| {
        has_row(s, "the blue door is open") && at_prompt(s, "")
    });
    // Enter completes nothing by itself.
    pty.type_in("play.sa\r");
    pty.wait_for("an error", |s| has_row(s, "> play.sa") && at_prompt(s, ""));
    pty.type_in(CTRL_D);
    check_restored(&mut pty, "0");
}

#[test]
fn a_game_that_hangs_still_completes_names() {
    let mut pty = Pty::start("hanging", &[]);
    pty.wait_for("a prompt", |s| at_prompt(s, ""));
    pty.type_in("play.op\t");
    pty.wait_for("the command", |s| cursor_row(s).starts_with("> Play.Open "));
    // The values are asked of a game that does not answer: the line can be edited on.
    pty.type_in("\tred");
    pty.wait_for("the line", |s| cursor_row(s).starts_with("> Play.Open red"));
    pty.type_in("\r");
    pty.wait_for("another prompt", |s| at_prompt(s, ""));
    pty.type_in("x");
    pty.wait_for("the next line", |s| at_prompt(s, "x"));
    pty.poke("go");
    pty.wait_for("the output above the line", |s| {
        has_row(s, "the red door is open") && at_prompt(s, "x")
    });
    pty.type_in(CTRL_C);
    pty.wait_for("an empty line", |s| at_prompt(s, ""));
    pty.type_in(CTRL_C);
    check_restored(&mut pty, "0");
}

#[test]
fn the_arrow_goes_back_in_the_history_and_hints_show_what_comes() {
    let mut pty = started("");
    pty.type_in("play.say one\rplay.say two\r");
    pty.wait_for("both", |s| {
        has_row(s, "you say one") && has_row(s, "you say two") && at_prompt(s, "")
    });
    pty.type_in(UP);
    pty.wait_for("the last line", |s| at_prompt(s, "play.say two"));
    pty.type_in(UP);
    pty.wait_for("the one before", |s| at_prompt(s, "play.say one"));
    pty.type_in("!\r");
    pty.wait_for("it runs", |s| {
        has_row(s, "you say one!") && at_prompt(s, "")
    });
    // From the history, and of parameters.
    pty.type_in("play.say t");
    pty.wait_for("the rest of the line", |s| {
        cursor_row(s) == "> play.say two"
    });
    pty.type_in(CTRL_C);
    pty.wait_for("an empty line", |s| at_prompt(s, ""));
    pty.type_in("play.login ");
    pty.wait_for("the parameters", |s| {
        cursor_row(s) == "> play.login <name> <password>"
    });
    pty.type_in(&BACK_SPACE.repeat(11));
    pty.wait_for("an empty line", |s| at_prompt(s, ""));
    pty.type_in(CTRL_D);
    check_restored(&mut pty, "0");
}

#[test]
fn the_history_is_kept_in_a_file_without_secrets() {
    let folder = std::env::temp_dir().join(format!("sc_console_{}", std::process::id()));
    let file = folder.join("lines/history.txt");
    let file = file.to_str().unwrap();
    let env = [("SC_TERMINAL_HISTORY", file)];

    let mut pty = Pty::start("", &env);
    pty.wait_for("a prompt", |s| at_prompt(s, ""));
    for c in "play.login mia hunter2".chars() {
        pty.type_in(&c.to_string());
    }
    pty.wait_for("stars", |s| at_prompt(s, "play.login mia *******"));
    pty.type_in("\r");
    pty.wait_for("the login", |s| {
        has_row(s, "hello mia, your password has 7 letters") && at_prompt(s, "")
    });
    pty.type_in("play.say hi\r");
    pty.wait_for("the output", |s| {
        has_row(s, "you say hi") && at_prompt(s, "")
    });
    pty.type_in(UP);
    pty.type_in(UP);
    pty.wait_for("the login without its password", |s| {
        at_prompt(s, "play.login mia ***")
    });
    pty.type_in(CTRL_C);
    pty.wait_for("an empty line", |s| at_prompt(s, ""));
    pty.type_in(CTRL_D);
    check_restored(&mut pty, "0");
    let (_, written, _) = pty.end();
    assert!(!written.contains("hunter2"), "{written}");

    let kept = std::fs::read_to_string(file).unwrap();
    assert_eq!(kept, "play.login mia ***\nplay.say hi\n");
    // And it is there the next time.
    let mut pty = Pty::start("", &env);
    pty.wait_for("a prompt", |s| at_prompt(s, ""));
    pty.type_in(UP);
    pty.wait_for("the last line", |s| at_prompt(s, "play.say hi"));
    pty.type_in(CTRL_C);
    pty.wait_for("an empty line", |s| at_prompt(s, ""));
    pty.type_in("history\r");
    pty.wait_for("the lines of both times", |s| {
        let shown = ["play.login mia ***", "play.say hi", "history"];
        shown.iter().all(|line| has_row(s, line)) && at_prompt(s, "")
    });

    // A file that can be written no more is reported, once, and the lines run.
    std::fs::remove_dir_all(&folder).unwrap();
    std::fs::write(&folder, "in the way").unwrap();
    let warned = |s: &Screen| {
        let text = rows(s).concat();
        text.matches("history cannot be kept").count() == 1
    };
    for text in ["a", "b"] {
        pty.type_in(&format!("play.say {text}\r"));
        pty.wait_for("the output and one warning", |s| {
            has_row(s, &format!("you say {text}")) && warned(s) && at_prompt(s, "")
        });
    }
    pty.type_in(CTRL_D);
    check_restored(&mut pty, "0");
    std::fs::remove_file(folder).unwrap();
}

#[test]
fn case_g23_lines_of_another_thread_come_above_the_line_that_is_typed() {
    let mut pty = started("");
    pty.type_in("play.say half");
    pty.wait_for("half a line", |s| at_prompt(s, "play.say half"));
    pty.poke("log 3");
    pty.wait_for("three lines and the prompt", |s| {
        logged(s) == [1, 2, 3] && at_prompt(s, "play.say half")
    });
    // The line goes on where it was.
    pty.type_in("way\r");
    pty.wait_for("the output", |s| {
        has_row(s, "you say halfway") && at_prompt(s, "")
    });
    // Many at once, more than the screen has rows.
    pty.poke("log 100");
    pty.wait_for("the last of them", |s| {
        let shown = logged(s);
        shown.last() == Some(&103)
            && shown.windows(2).all(|pair| pair[1] == pair[0] + 1)
            && shown.len() == 23
            && at_prompt(s, "")
    });
    pty.type_in(CTRL_D);
    check_restored(&mut pty, "0");
}

/// Where the line is on the screen, row by row, from the prompt on.
fn prompt_rows(screen: &Screen) -> Vec<String> {
    let rows = rows(screen);
    let at = rows.iter().rposition(|row| row.starts_with("> "));
    let rows = at.map_or(&[][..], |at| &rows[at..]);
    let end = rows.iter().rposition(|row| !row.is_empty());
    rows[..end.map_or(0, |end| end + 1)].to_vec()
}

#[test]
fn case_g23_whatever_is_typed_and_wherever_the_caret_is_the_prompt_stays_whole() {
    let width = usize::from(COLUMNS);
    let wide = "日本".repeat(width / 4);
    let lines = [
        // Exactly a row with its prompt, one less, one more; and more rows.
        "x".repeat(width - 2),
        "x".repeat(width - 3),
        "x".repeat(width - 1),
        "0123456789".repeat(width / 10 * 3),
        // More bytes than columns, more columns than letters.
        "é".repeat(width / 2 + 5),
        wide,
    ];
    let mut pty = started("");
    let mut count = 0;
    for line in lines {
        for left in [0, 1, 10, line.chars().count()] {
            pty.type_in(&line);
            pty.type_in(&LEFT.repeat(left));
            let typed = |s: &Screen| {
                let shown: String = prompt_rows(s).concat();
                shown == format!("> {line}")
            };
            pty.wait_for("the line", typed);
            // Twice, so that the second finds what the first has left.
            for _ in 0..2 {
                pty.poke("log 2");
                count += 2;
                pty.wait_for("the log above the line", |s| {
                    let shown = logged(s);
                    let whole = shown.windows(2).all(|pair| pair[1] == pair[0] + 1);
                    whole && shown.last() == Some(&count) && typed(s)
                });
            }
            // The caret is where it was: what is typed comes there.
            pty.type_in("!");
            let before = line.chars().count() - left;
            let with: String = line
                .chars()
                .take(before)
                .chain(['!'])
                .chain(line.chars().skip(before))
                .collect();
            pty.wait_for("what is typed at the caret", |s| {
                prompt_rows(s).concat() == format!("> {with}")
            });
            pty.type_in(CTRL_C);
            pty.wait_for("an empty line", |s| at_prompt(s, ""));
        }
    }
    pty.type_in(CTRL_D);
    check_restored(&mut pty, "0");
}

#[test]
fn the_log_comes_above_a_search_in_the_history_too() {
    let mut pty = started("");
    pty.type_in("play.say found\r");
    pty.wait_for("the output", |s| {
        has_row(s, "you say found") && at_prompt(s, "")
    });
    // What was typed takes two rows, and is not to be seen meanwhile.
    pty.type_in(&"x".repeat(usize::from(COLUMNS) + 10));
    pty.wait_for("a long line", |s| prompt_rows(s).len() == 2);
    pty.type_in(CTRL_R);
    pty.type_in("fou");
    let searches = |s: &Screen| at_prompt(s, "(fou) play.say found");
    pty.wait_for("what is found", searches);
    pty.poke("log 2");
    pty.wait_for("the log, and what stood above it", |s| {
        logged(s) == [1, 2] && searches(s) && has_row(s, "you say found")
    });
    pty.type_in("\r");
    pty.wait_for("the line that was found", |s| {
        at_prompt(s, "play.say found")
    });
    pty.type_in(CTRL_C);
    pty.wait_for("an empty line", |s| at_prompt(s, ""));
    pty.type_in(CTRL_D);
    check_restored(&mut pty, "0");
}

#[test]
fn the_log_comes_above_an_open_menu_too() {
    let mut pty = started("");
    pty.type_in("Play.\t");
    let menu = |s: &Screen| rows(s).iter().any(|row| row.contains("Writes a text."));
    pty.wait_for("the menu", menu);
    pty.poke("log 2");
    pty.wait_for("the log, the line and the menu", |s| {
        logged(s) == [1, 2] && at_prompt(s, "Play.") && menu(s)
    });
    pty.type_in(CTRL_C);
    pty.wait_for("an empty line", |s| at_prompt(s, ""));
    pty.type_in(CTRL_D);
    check_restored(&mut pty, "0");
}

#[test]
fn several_lines_that_are_pasted_run_one_after_the_other() {
    let mut pty = started("");
    pty.type_in("\x1b[200~play.say a\nplay.say b\x1b[201~");
    pty.wait_for("two lines", |s| {
        let rows = prompt_rows(s);
        rows.first().is_some_and(|row| row == "> play.say a")
            && rows.get(1).is_some_and(|row| row == "play.say b")
    });
    pty.type_in("\r");
    pty.wait_for("both run", |s| {
        has_row(s, "you say a") && has_row(s, "you say b") && at_prompt(s, "")
    });
    pty.type_in(CTRL_D);
    check_restored(&mut pty, "0");
}

#[test]
fn case_g25_a_panic_of_the_game_leaves_the_terminal_as_it_was() {
    let mut pty = started("panics");
    pty.type_in("half a line");
    pty.wait_for("half a line", |s| at_prompt(s, "half a line"));
    pty.poke("go");
    // The handle is dropped on unwinding.
    check_restored(&mut pty, "101");
    let (_, written, _) = pty.end();
    assert!(written.contains("boom in the game\r\n"), "{written}");
}

#[test]
fn case_g25_also_when_nobody_drops_the_handle() {
    let mut pty = started("forgotten");
    pty.type_in("half a line");
    pty.wait_for("half a line", |s| at_prompt(s, "half a line"));
    pty.poke("go");
    pty.wait_for("the message", |s| {
        let message = |row: &String| row.starts_with("thread 'program' ");
        rows(s).iter().any(message) || has_row(s, "done")
    });
    check_restored(&mut pty, "101");
}

#[test]
fn case_g25_also_when_the_program_is_aborted() {
    let mut pty = started("abort");
    pty.poke("go");
    // By a signal: 128 and its number.
    check_restored(&mut pty, "134");
}

#[test]
fn case_g25_a_game_that_goes_on_has_its_prompt_back() {
    let mut pty = started("isolated");
    pty.type_in("play.boom\r");
    pty.wait_for("the message and a prompt", |s| {
        rows(s).iter().any(|row| row.contains("boom in a command")) && at_prompt(s, "")
    });
    // A panic on another thread, with half a line typed.
    pty.type_in("play.say sti");
    pty.wait_for("half a line", |s| at_prompt(s, "play.say sti"));
    pty.poke("boom");
    pty.wait_for("the message, and the line again", |s| {
        let message = |row: &String| row.starts_with("thread '<unnamed>' ");
        has_row(s, "boom on a thread")
            && rows(s).iter().any(message)
            && at_prompt(s, "play.say sti")
    });
    pty.type_in("ll_here\r");
    pty.wait_for("the output", |s| {
        has_row(s, "you say still_here") && at_prompt(s, "")
    });
    pty.type_in(CTRL_D);
    check_restored(&mut pty, "0");
}

#[test]
fn a_process_has_one_editor_at_a_time() {
    let mut pty = Pty::start("second", &[]);
    pty.wait_for("the third", |s| cursor_row(s) == "third>");
    pty.type_in("play.say there\r");
    pty.wait_for("the output", |s| {
        has_row(s, "you say there") && cursor_row(s) == "third>"
    });
    pty.type_in(CTRL_D);
    check_restored(&mut pty, "0");
}

#[test]
fn where_there_is_no_terminal_lines_are_plain() {
    let run = |term: &str| {
        let mut program = Command::new(std::env::current_exe().unwrap())
            .args(pty::ARGUMENTS)
            .env("SC_TERMINAL_PART", "")
            .env("TERM", term)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = program.stdin.take().unwrap();
        input.write_all(b"play.say one\nplay.say two\n").unwrap();
        drop(input);
        let output = program.wait_with_output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    let plain = run("xterm");
    assert!(
        plain.contains("plain\nyou say one\nyou say two\n"),
        "{plain}"
    );
    assert!(!plain.contains('\x1b'), "{plain}");
}

#[test]
fn on_a_dumb_terminal_lines_are_plain() {
    let mut pty = Pty::start("", &[("TERM", "dumb")]);
    pty.wait_for("the start", |s| has_row(s, "plain"));
    pty.type_in("play.say one\n");
    pty.wait_for("the output", |s| has_row(s, "you say one"));
    pty.type_in(CTRL_D);
    check_restored(&mut pty, "0");
    let (_, written, _) = pty.end();
    assert!(!written.contains('\x1b'), "{written}");
}

#[test]
fn lines_that_come_at_once_all_run_whatever_ends_them() {
    for end in ["\r", "\n"] {
        let mut pty = started("");
        let lines = ["play.say one", "play.say two", "play.say three", "play.s"];
        pty.type_in(&lines.join(end));
        pty.wait_for("all three in order, and the start of a fourth", |s| {
            let said = |row: &String| row.strip_prefix("you say ").map(str::to_owned);
            let said: Vec<_> = rows(s).iter().filter_map(said).collect();
            said == ["one", "two", "three"] && cursor_row(s).starts_with("> play.s")
        });
        pty.type_in(CTRL_C);
        pty.wait_for("an empty line", |s| at_prompt(s, ""));
        pty.type_in(CTRL_D);
        check_restored(&mut pty, "0");
    }
}

#[test]
fn a_line_that_is_typed_and_given_up_at_once_does_not_end_the_game() {
    let mut pty = started("");
    pty.type_in(&format!("play.say lost{CTRL_C}play.say kept\r"));
    pty.wait_for("the line behind it", |s| {
        has_row(s, "you say kept") && !has_row(s, "you say lost") && at_prompt(s, "")
    });
    pty.type_in(CTRL_C);
    check_restored(&mut pty, "0");
}

#[test]
fn a_line_that_is_higher_than_the_screen_is_edited_from_its_start() {
    let mut pty = started("");
    let text = "x".repeat(usize::from(COLUMNS) * 40);
    pty.type_in(&format!("play.say {text}"));
    pty.wait_for("the line", |s| rows(s).iter().all(|row| row.contains("xx")));
    pty.type_in("\x01");
    pty.wait_for("the caret at the start", |s| s.cursor_position().1 < 10);
    pty.type_in(CTRL_C);
    pty.type_in("play.say alive\r");
    pty.wait_for("the next line", |s| {
        has_row(s, "you say alive") && at_prompt(s, "")
    });
    pty.type_in(CTRL_D);
    check_restored(&mut pty, "0");
}

#[test]
fn what_is_typed_while_a_line_runs_is_shown_by_the_editor_only() {
    let mut pty = started("");
    pty.type_in("wait 30\r");
    pty.wait_for("the line", |s| {
        rows(s).iter().any(|row| row.starts_with("> wait 30"))
    });
    pty.type_in("play.login mia pass7");
    pty.wait_for("the secret, masked", |s| {
        at_prompt(s, "play.login mia *****")
    });
    pty.type_in(CTRL_C);
    pty.wait_for("an empty line", |s| at_prompt(s, ""));
    pty.type_in(CTRL_D);
    let (_, written, _) = pty.end();
    assert!(!written.contains("pass7"), "{written}");
}
