//! Running lines: sequences, aliases, scripts, waiting, latent commands, output, history.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![cfg(feature = "commands")]

use std::fs;
use std::path::PathBuf;

use sc_console::{ConsoleExt, Latent, LatentEnd, LineKind, LineOutcome, LineRun, Source, command};
use sc_core::Cx;
use sc_core::testing::TestWorld;

#[derive(Default)]
struct Game {
    log: Vec<String>,
    ends: Vec<LatentEnd>,
    runs: Vec<LineRun>,
}

command! {
    /// Logs a text.
    Log [anytime] (
        /// The text.
        text: String,
    ) |cx: &mut Cx<'_, Game>, out| {
        cx.host_mut().log.push(text);
        writeln!(out, "{}", out.source())?;
        Ok(())
    }
}

command! {
    /// Fails.
    Fail [anytime] () |_cx: &mut Cx<'_, Game>, _out| { Err("as it should")?; Ok(()) }
}

command! {
    /// Takes its time.
    Slow [anytime] () |cx: &mut Cx<'_, Game>, out| {
        writeln!(out, "begun")?;
        let (latent, end) = Latent::new();
        cx.host_mut().ends.push(end);
        Ok(latent)
    }
}

command! {
    /// Prints many lines.
    Many [anytime] (
        /// How many.
        lines: u32,
    ) |_cx: &mut Cx<'_, Game>, out| {
        for line in 0..lines { writeln!(out, "{line}")?; }
        Ok(())
    }
}

command! {
    /// Prints in pieces.
    Pieces [anytime] () |_cx: &mut Cx<'_, Game>, out| {
        write!(out, "a")?;
        write!(out, "b\nc")?;
        out.warn("w1\nw2");
        write!(out, "d")?;
        Ok(())
    }
}

fn game() -> TestWorld<Game> {
    TestWorld::new(Game::default())
}

fn run(t: &mut TestWorld<Game>, line: &str) -> (LineOutcome, String) {
    let run = t.cx().run_line(line, Source::Local);
    (run.outcome, run.text())
}

/// A folder of scripts of its own.
struct Scripts(PathBuf);

impl Scripts {
    fn new(t: &mut TestWorld<Game>, name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("sc-scripts-{}-{name}", std::process::id()));
        fs::create_dir_all(folder.join("root/sub")).unwrap();
        t.cx().console_settings().script_root = Some(folder.join("root"));
        Scripts(folder)
    }

    fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        fs::write(self.0.join("root").join(path), text).unwrap();
    }
}

impl Drop for Scripts {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn commands_of_a_line_run_in_order() {
    let mut t = game();
    assert_eq!(run(&mut t, "log a; log b;log c").0, LineOutcome::Done);
    assert_eq!(t.host.log, ["a", "b", "c"]);
}

#[test]
fn what_fails_ends_its_line_and_says_so() {
    let mut t = game();
    let (outcome, text) = run(&mut t, "log a; fail; log b");
    assert_eq!(outcome, LineOutcome::Failed);
    assert_eq!(
        text,
        "local\n`Fail` failed: as it should\nthe rest of the line was not run"
    );
    assert_eq!(t.host.log, ["a"]);
    let (_, text) = run(&mut t, "fail");
    assert_eq!(text, "`Fail` failed: as it should");
}

#[test]
fn case_g8_a_blank_line_does_nothing() {
    let mut t = game();
    for line in ["", " ", "\t", ";", " ; ;; ", "// words"] {
        let run = t.cx().run_line(line, Source::Local);
        assert_eq!(
            (run.outcome, run.output.len()),
            (LineOutcome::Done, 0),
            "{line:?}"
        );
    }
    assert_eq!(t.cx().console_history().lines().count(), 0);
    assert_eq!(t.cx().console_output(0).1, 0);
}

#[test]
fn case_g9_nothing_runs_on_a_line_with_an_unclosed_quote() {
    let mut t = game();
    let (outcome, text) = run(&mut t, "log a; log \"b");
    assert_eq!(outcome, LineOutcome::Failed);
    assert_eq!(
        text,
        "log a; log \"b\n           ^ this quote is not closed: expected another \" before the end of the line"
    );
    assert!(t.host.log.is_empty());
}

#[test]
fn an_alias_stands_for_a_line() {
    let mut t = game();
    assert_eq!(run(&mut t, "alias hi 'log a; log'").0, LineOutcome::Done);
    assert_eq!(run(&mut t, "HI 'b c'; log d").0, LineOutcome::Done);
    assert_eq!(t.host.log, ["a", "b c", "d"]);
    assert_eq!(
        run(&mut t, "alias").1,
        "hi stands for: log a; log\n1 in all"
    );
    assert_eq!(
        run(&mut t, "help hi").1,
        "hi stands for: log a; log\n  words: words, any number\n      Put at the end of the line it stands for.\n  an alias"
    );
    assert!(
        run(&mut t, "help alias")
            .1
            .contains("Words behind the name, when it is used, are put at the end of the line.\n")
    );
    assert_eq!(run(&mut t, "alias hi \"\"").0, LineOutcome::Done);
    assert_eq!(run(&mut t, "hi").0, LineOutcome::Failed);
    assert!(run(&mut t, "alias hi").1.contains("there is no alias `hi`"));
}

#[test]
fn an_alias_takes_no_name_that_is_taken() {
    let mut t = game();
    for (line, why) in [
        ("alias log 'fail'", "it is a command"),
        ("alias HELP 'fail'", "it is a command"),
        ("alias SC.x fail", "`SC.` is the console's own"),
        ("alias 'a b' fail", "it has more in it than letters"),
    ] {
        let (outcome, text) = run(&mut t, line);
        assert_eq!(outcome, LineOutcome::Failed);
        assert!(text.contains(why), "{text}");
    }
}

#[test]
fn case_g1_an_alias_that_leads_to_itself_is_an_error() {
    let mut t = game();
    for line in [
        "alias a 'log x; a'",
        "alias b 'c'; alias c 'b'",
        "alias d 'd; d'",
    ] {
        assert_eq!(run(&mut t, line).0, LineOutcome::Done);
    }
    for name in ["a", "b", "d"] {
        let (outcome, text) = run(&mut t, &format!("{name}; log after"));
        assert_eq!(outcome, LineOutcome::Failed);
        assert!(
            text.contains("aliases and scripts go deeper than 32"),
            "{text}"
        );
        assert_eq!(text.matches("deeper").count(), 1, "{text}");
    }
    assert!(
        run(&mut t, "b").1.contains("b > c > b"),
        "the chain is named"
    );
    assert_eq!(t.host.log.len(), 31);
}

#[test]
fn case_g1_a_script_that_runs_itself_is_an_error() {
    let mut t = game();
    let scripts = Scripts::new(&mut t, "itself");
    scripts.write("loop.cfg", "exec loop\nlog never\n");
    let (outcome, text) = run(&mut t, "exec loop");
    assert_eq!(outcome, LineOutcome::Failed);
    assert!(
        text.contains("deeper than 32: loop.cfg > loop.cfg"),
        "{text}"
    );
    // Alias and script share the limit.
    run(&mut t, "alias go 'exec back'");
    scripts.write("back.cfg", "go");
    assert!(run(&mut t, "go").1.contains("go > back.cfg > go"));
    assert!(t.host.log.is_empty());
}

#[test]
fn what_leads_to_itself_is_a_failure_as_any_other() {
    let mut t = game();
    let scripts = Scripts::new(&mut t, "itself-keep");
    scripts.write("keep.cfg", "alias r r\nr\nlog on\n");
    let deep = "aliases and scripts go deeper than 32: keep.cfg > r > r > r > r > r ..; one of them leads to itself";
    let (outcome, text) = run(&mut t, "exec keep true; log after");
    assert_eq!(outcome, LineOutcome::Failed);
    assert_eq!(text, format!("{deep}\nscript\nlocal"));
    assert_eq!(t.host.log, ["on", "after"]);
    t.host.log.clear();
    let (_, text) = run(&mut t, "exec keep; log after");
    assert_eq!(
        text,
        format!(
            "{deep}\nkeep.cfg: stopped at line 2; the rest was not run\nthe rest of the line was not run"
        )
    );
    // Once, however many have a rest.
    run(&mut t, "alias a 'a; a'");
    let (_, text) = run(&mut t, "a; log after");
    assert_eq!(
        text,
        "aliases and scripts go deeper than 32: a > a > a > a > a > a ..; one of them leads to itself\nthe rest of the line was not run"
    );
    assert!(t.host.log.is_empty());
}

#[test]
fn a_script_that_runs_itself_twice_and_keeps_going_comes_to_an_end() {
    let mut t = game();
    let scripts = Scripts::new(&mut t, "twice-keep");
    scripts.write("twice.cfg", "exec twice true\nexec twice true\n");
    let (outcome, text) = run(&mut t, "exec twice true; log after");
    assert_eq!(outcome, LineOutcome::Failed);
    assert!(text.contains("more than 10000"), "{text}");
    assert_eq!(t.host.log, ["after"]);
}

#[test]
fn a_chain_that_is_too_long_is_not_said_to_lead_to_itself() {
    let mut t = game();
    for at in 0..40 {
        run(&mut t, &format!("alias a{at} a{}", at + 1));
    }
    run(&mut t, "alias a40 'log never'");
    let (outcome, text) = run(&mut t, "a0");
    assert_eq!(outcome, LineOutcome::Failed);
    assert_eq!(
        text,
        "aliases and scripts go deeper than 32: a0 > a1 > a2 > a3 > a4 > a5 .."
    );
}

#[test]
fn a_script_runs_line_by_line_as_a_script() {
    let mut t = game();
    let scripts = Scripts::new(&mut t, "lines");
    scripts.write(
        "sub/two.cfg",
        "\u{feff}log a // one\r\n\r\n// nothing\r\nlog 'b'; log c",
    );
    let (outcome, text) = run(&mut t, "exec sub/two.cfg; log d");
    assert_eq!(
        (outcome, text.as_str()),
        (LineOutcome::Done, "script\nscript\nscript\nlocal")
    );
    assert_eq!(t.host.log, ["a", "b", "c", "d"]);
    let run = t.cx().run_line("exec sub/two", Source::Remote);
    assert_eq!(
        run.text(),
        "remote\nremote\nremote",
        "a script grants nothing"
    );
}

#[test]
fn a_failing_line_stops_its_script_unless_told_otherwise() {
    let mut t = game();
    let scripts = Scripts::new(&mut t, "fails");
    scripts.write("fails.cfg", "log a\nlog b; fail; log c\nlog d\n");
    let (outcome, text) = run(&mut t, "exec fails; log after");
    assert_eq!(outcome, LineOutcome::Failed);
    assert_eq!(
        text,
        "script\nscript\nfails.cfg, line 2: `Fail` failed: as it should\n\
         fails.cfg: stopped at line 2; the rest was not run\nthe rest of the line was not run"
    );
    assert_eq!(t.host.log, ["a", "b"]);
    t.host.log.clear();
    let (outcome, _) = run(&mut t, "exec fails true; log after");
    assert_eq!(outcome, LineOutcome::Failed);
    assert_eq!(t.host.log, ["a", "b", "d", "after"]);
}

#[test]
fn errors_in_a_script_name_file_and_line() {
    let mut t = game();
    let scripts = Scripts::new(&mut t, "names");
    scripts.write("wrong.cfg", "log a\nlgo b\n");
    let (_, text) = run(&mut t, "exec wrong");
    assert_eq!(
        text,
        "script\nwrong.cfg, line 2:\nlgo b\n^^^ expected the name of a command or a variable; `lgo` is none (did you mean `Log`?)"
    );
}

#[test]
fn case_g17_scripts_stay_in_their_folder() {
    let mut t = game();
    let text = run(&mut t, "exec autoexec").1;
    assert!(text.contains("there is no folder of scripts"), "{text}");
    let scripts = Scripts::new(&mut t, "root");
    fs::write(scripts.0.join("secret.cfg"), "log secret").unwrap();
    let absolute = scripts.0.join("secret.cfg");
    for path in [
        "../secret.cfg",
        "sub/../../secret",
        "..",
        absolute.to_str().unwrap(),
        "..\\\\secret",
        "C:secret",
    ] {
        let (outcome, text) = run(&mut t, &format!("exec \"{path}\""));
        assert_eq!(outcome, LineOutcome::Failed);
        assert!(
            text.contains("is not in the folder of scripts"),
            "{path}: {text}"
        );
    }
    assert_eq!(
        run(&mut t, "exec \"\"").1,
        "exec \"\"\n     ^^ a script needs a name: `exec` alone lists the scripts there are"
    );
    assert!(
        run(&mut t, "exec missing")
            .1
            .contains("there is no script `missing`")
    );
    assert!(
        run(&mut t, "exec notes.txt")
            .1
            .contains("scripts end in `.cfg`")
    );
    assert!(t.host.log.is_empty());
}

#[cfg(unix)]
#[test]
fn case_g17_links_and_endless_files_are_refused() {
    let mut t = game();
    let scripts = Scripts::new(&mut t, "links");
    fs::write(scripts.0.join("secret.cfg"), "log secret").unwrap();
    let root = scripts.0.join("root");
    std::os::unix::fs::symlink(scripts.0.join("secret.cfg"), root.join("link.cfg")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", root.join("zero.cfg")).unwrap();
    fs::create_dir(root.join("folder.cfg")).unwrap();
    for name in ["link", "zero"] {
        let (outcome, text) = run(&mut t, &format!("exec {name}"));
        assert_eq!(outcome, LineOutcome::Failed);
        assert_eq!(
            text,
            format!(
                "exec {name}\n     ^^^^ `{name}` leads out of the folder of scripts, by a link: put the file itself in the folder"
            )
        );
    }
    assert!(run(&mut t, "exec folder").1.contains("is no regular file"));
    assert!(t.host.log.is_empty());
}

#[test]
fn case_g17_over_the_limit_nothing_runs() {
    let mut t = game();
    let scripts = Scripts::new(&mut t, "limit");
    let mut text = "log a\n".to_owned();
    text.push_str(&"// words\n".repeat(200_000));
    scripts.write("long.cfg", &text);
    assert!(
        run(&mut t, "exec long")
            .1
            .contains("is longer than 1048576 bytes")
    );
    scripts.write("bad.cfg", b"log a\n\xff");
    assert!(run(&mut t, "exec bad").1.contains("is not UTF-8"));
    assert!(t.host.log.is_empty());
    t.cx().console_settings().script_limit = 1 << 30;
    assert_eq!(run(&mut t, "exec long").0, LineOutcome::Done);
    assert_eq!(t.host.log, ["a"]);
}

#[test]
fn wait_goes_on_some_frames_later() {
    let mut t = game();
    assert_eq!(
        run(&mut t, "log a; wait 2; log b; wait; log c").0,
        LineOutcome::Pending
    );
    let mut seen = Vec::new();
    for _ in 0..4 {
        seen.push(t.host.log.len());
        t.tick(0.1);
    }
    assert_eq!(seen, [1, 1, 2, 3]);
    assert_eq!(run(&mut t, "wait 0; log d").0, LineOutcome::Done);
    // Nobody waits for ever.
    let (outcome, text) = run(&mut t, "wait 1000001; log never");
    assert_eq!(outcome, LineOutcome::Failed);
    assert!(text.contains("from 0 up to 1000000"), "{text}");
}

#[test]
fn a_queued_line_runs_in_the_stage_and_is_told_of() {
    let mut t = game();
    let done = |cx: &mut Cx<'_, Game>, run: LineRun| cx.host_mut().runs.push(run);
    t.cx()
        .queue_line("log a; wait; log b", Source::Terminal, done);
    t.cx().queue_line("log c", Source::Terminal, done);
    assert!(t.host.log.is_empty());
    t.tick(0.1);
    assert_eq!(t.host.log, ["a", "c"]);
    assert_eq!(t.host.runs.len(), 1);
    t.tick(0.1);
    assert_eq!(t.host.log, ["a", "c", "b"]);
    assert_eq!(t.host.runs[1].outcome, LineOutcome::Done);
    assert_eq!(t.host.runs[1].text(), "terminal\nterminal");
}

#[test]
fn lines_that_are_queued_by_lines_run_in_the_next_frame() {
    let mut t = game();
    t.cx().queue_line("log a", Source::Local, |cx, _| {
        cx.queue_line("log b", Source::Local, |_, _| ());
    });
    t.tick(0.1);
    assert_eq!(t.host.log, ["a"]);
    t.tick(0.1);
    assert_eq!(t.host.log, ["a", "b"]);
}

#[test]
fn a_latent_command_holds_its_line_until_it_is_done() {
    let mut t = game();
    let first = t.cx().run_line("slow; log after", Source::Local);
    assert_eq!(
        (first.outcome, first.text().as_str()),
        (LineOutcome::Pending, "begun")
    );
    t.ticks(0.1, 3);
    assert!(t.host.log.is_empty());
    let end = t.host.ends.pop().unwrap();
    assert!(end.is_wanted());
    end.print("halfway");
    t.tick(0.1);
    let (shown, _) = t.cx().console_output(0);
    assert_eq!(shown.last().unwrap().text, "halfway");
    std::thread::spawn(move || end.finish(Ok(())))
        .join()
        .unwrap();
    t.tick(0.1);
    assert_eq!(t.host.log, ["after"]);
}

#[test]
fn a_latent_command_may_fail_or_be_given_up() {
    let mut t = game();
    let done = |cx: &mut Cx<'_, Game>, run: LineRun| cx.host_mut().runs.push(run);
    t.cx().queue_line("slow; log a", Source::Local, done);
    t.cx().queue_line("slow; log b", Source::Local, done);
    t.tick(0.1);
    let given_up = t.host.ends.pop();
    t.host
        .ends
        .pop()
        .unwrap()
        .finish(Err("no answer".to_owned()));
    drop(given_up);
    t.tick(0.1);
    let texts: Vec<String> = t.host.runs.iter().map(LineRun::text).collect();
    assert_eq!(
        texts,
        [
            "begun\n`Slow` failed: no answer\nthe rest of the line was not run",
            "begun\n`Slow` failed: it was given up before it was done\nthe rest of the line was not run"
        ]
    );
    assert!(
        t.host
            .runs
            .iter()
            .all(|run| run.outcome == LineOutcome::Failed)
    );
    assert!(t.host.log.is_empty());
}

#[test]
fn who_waits_hears_of_the_end_of_the_runtime() {
    let mut t = game();
    let done = |cx: &mut Cx<'_, Game>, run: LineRun| cx.host_mut().runs.push(run);
    t.cx().queue_line("slow", Source::Local, done);
    t.tick(0.1);
    t.cx().queue_line("log never", Source::Local, done);
    t.rt.shutdown(&mut t.host);
    let outcomes: Vec<LineOutcome> = t.host.runs.iter().map(|run| run.outcome).collect();
    assert_eq!(outcomes, [LineOutcome::Cancelled; 2]);
    assert!(!t.host.ends[0].is_wanted());
    t.cx().queue_line("log never", Source::Local, done);
    assert_eq!(t.host.runs.len(), 3);
    assert_eq!(run(&mut t, "wait; log never").0, LineOutcome::Cancelled);
    assert!(t.host.log.is_empty());
}

#[test]
fn a_startup_script_runs_in_the_next_stage_and_is_reported_when_it_fails() {
    let mut t = game();
    let scripts = Scripts::new(&mut t, "startup");
    scripts.write("good.cfg", "log a\nwait 1\nlog b\n");
    scripts.write("bad.cfg", "log c\nfail\nlog d\n");
    t.cx().run_startup_script("good").unwrap();
    t.cx().run_startup_script("bad").unwrap();
    assert!(t.cx().run_startup_script("missing").is_err());
    assert!(t.host.log.is_empty());
    t.tick(0.1);
    t.tick(0.1);
    assert_eq!(t.host.log, ["a", "c", "b"]);
    let reports = t.reports.take();
    assert_eq!(
        (reports.len(), reports[0].kind.name()),
        (1, "StartupFailed")
    );
    assert!(
        reports[0]
            .what
            .starts_with("bad.cfg, line 2: `Fail` failed"),
        "{}",
        reports[0].what
    );
}

#[test]
fn output_is_captured_for_its_line_and_shown() {
    let mut t = game();
    let run = t.cx().run_line("pieces", Source::Local);
    let lines: Vec<(LineKind, &str)> = run
        .output
        .iter()
        .map(|l| (l.kind, l.text.as_str()))
        .collect();
    assert_eq!(
        lines,
        [
            (LineKind::Text, "ab"),
            (LineKind::Text, "c"),
            (LineKind::Warning, "w1"),
            (LineKind::Warning, "w2"),
            (LineKind::Text, "d")
        ]
    );
    let (shown, next) = t.cx().console_output(0);
    assert_eq!(
        (shown[0].kind, shown[0].text.as_str()),
        (LineKind::Echo, "> pieces")
    );
    assert_eq!(shown[1..], run.output);
    assert_eq!(next, 6);
    t.cx().run_line("log x", Source::Script);
    let (shown, _) = t.cx().console_output(next);
    assert_eq!(shown.len(), 1, "what a program runs is not echoed");
    t.cx().run_line("clear", Source::Script);
    assert_eq!(t.cx().console_output(0).0, []);
}

#[test]
fn case_g22_output_is_bounded_and_keeps_the_newest() {
    let mut t = game();
    let run = t.cx().run_line("many 100000", Source::Local);
    assert_eq!(
        (run.outcome, run.output.len(), run.left_out),
        (LineOutcome::Done, 10_000, 90_000)
    );
    assert_eq!(run.output.last().unwrap().text, "99999");
    let (shown, next) = t.cx().console_output(0);
    assert_eq!(
        (shown.len(), shown.last().unwrap().text.as_str()),
        (10_000, "99999")
    );
    t.cx().run_line("log x", Source::Local);
    assert_eq!(t.cx().console_output(next).0.len(), 2);
}

#[test]
fn case_g19_a_full_history_drops_the_oldest() {
    let mut t = game();
    t.cx().console_history().set_capacity(3);
    for line in [
        "log 1", "log 2", "log 2", " log 2 ", "log 3", "log 4", "", ";",
    ] {
        t.cx().run_line(line, Source::Local);
    }
    assert!(
        t.cx()
            .console_history()
            .lines()
            .eq(["log 2", "log 3", "log 4"])
    );
    t.cx().run_line("log 5", Source::Script);
    t.cx().run_line("log 6", Source::Remote);
    assert!(
        t.cx()
            .console_history()
            .lines()
            .eq(["log 2", "log 3", "log 4"]),
        "nobody typed these"
    );
    assert_eq!(run(&mut t, "history").1, "log 3\nlog 4\nhistory");
    t.cx().console_history().set_capacity(0);
    t.cx().run_line("log 7", Source::Local);
    assert_eq!(t.cx().console_history().lines().count(), 0);
}

#[test]
fn history_is_kept_in_a_file() {
    let mut t = game();
    let path = std::env::temp_dir().join(format!("sc-history-{}", std::process::id()));
    t.cx().run_line("log 'é\n;'", Source::Local);
    t.cx().run_line("log 1\nlog 2", Source::Local);
    t.cx().console_history().save(&path).unwrap();
    let mut later = game();
    later.cx().run_line("log new", Source::Local);
    later.cx().console_history().load(&path).unwrap();
    let lines: Vec<String> = later
        .cx()
        .console_history()
        .lines()
        .map(str::to_owned)
        .collect();
    assert_eq!(lines[1..], ["log 1; log 2", "log new"]);
    assert_eq!(lines.len(), 3);
    later
        .cx()
        .console_history()
        .load(std::env::temp_dir().join("sc-no-such-history"))
        .unwrap();
    assert!(
        later
            .cx()
            .console_history()
            .load(std::env::temp_dir())
            .is_err()
    );
    assert_eq!(later.cx().console_history().lines().count(), 3);
    fs::remove_file(&path).unwrap();
}

#[test]
fn a_line_in_the_history_means_what_was_typed() {
    let mut t = game();
    for (typed, kept) in [
        ("log 'two\nlines'", "log \"two\\nlines\""),
        ("log a\nlog b", "log a; log b"),
        ("log c // why\nlog d", "log c; log d"),
        (
            "log \"a\r\nb\"\r\nlog 'x;y'",
            "log \"a\\r\\nb\"; log \"x;y\"",
        ),
    ] {
        t.host.log.clear();
        run(&mut t, typed);
        let first = std::mem::take(&mut t.host.log);
        let history = t.cx().console_history().clone();
        assert_eq!(history.lines().next_back(), Some(kept));
        run(&mut t, kept);
        assert_eq!(t.host.log, first);
    }
}

command! {
    /// Runs another line between two of its own.
    Between [anytime] () |cx: &mut Cx<'_, Game>, out| {
        write!(out, "before\nunfinished ")?;
        cx.run_line("pieces", Source::Script);
        writeln!(out, "after")?;
        Ok(())
    }
}

#[test]
fn what_a_command_has_printed_is_shown_before_what_its_line_prints() {
    let mut t = game();
    let run = t.cx().run_line("between", Source::Script);
    assert_eq!(run.text(), "before\nunfinished after");
    let (shown, _) = t.cx().console_output(0);
    let shown: Vec<&str> = shown.iter().map(|line| line.text.as_str()).collect();
    assert_eq!(
        shown,
        ["before", "ab", "c", "w1", "w2", "d", "unfinished after"]
    );
}

#[test]
fn lines_that_wait_are_listed_and_given_up() {
    let mut t = game();
    t.cx()
        .run_line("alias later 'wait 5; log b'", Source::Local);
    let done = |cx: &mut Cx<'_, Game>, run| cx.host_mut().runs.push(run);
    t.cx()
        .queue_line("log a; wait 3; log never", Source::Terminal, done);
    t.cx().queue_line("slow; log c", Source::Remote, |_, _| {});
    t.tick(0.1);
    run(&mut t, "later; log d");
    t.cx().queue_line("log e", Source::Script, |_, _| {});
    let list = run(&mut t, "SC.Line.List").1;
    assert_eq!(
        list,
        "1 (terminal) waits 3 frames: log a; wait 3; log never\n\
         2 (remote) waits for `Slow`: slow; log c\n\
         3 (local) waits 5 frames: later; log d\n\
         4 (script) waits for its turn: log e\n4 in all"
    );
    // Another machine sees and ends its own alone.
    let remote = t
        .cx()
        .run_line("SC.Line.List; SC.Line.Cancel 1", Source::Remote);
    assert_eq!(
        remote.text(),
        "2 (remote) waits for `Slow`: slow; log c\n1 in all\n\
         SC.Line.List; SC.Line.Cancel 1\n                             ^ no line has number 1: see `SC.Line.List`"
    );
    let mut suggested = |source| {
        let found = t.cx().complete_line("SC.Line.Cancel ", 15, source);
        let labels = found.candidates.into_iter().map(|c| c.label);
        labels.collect::<Vec<_>>()
    };
    assert_eq!(suggested(Source::Remote), ["2"]);
    assert_eq!(suggested(Source::Terminal), ["1", "2", "3", "4"]);
    assert_eq!(run(&mut t, "SC.Line.Cancel 1").0, LineOutcome::Done);
    assert_eq!(t.host.runs.len(), 1);
    assert_eq!(t.host.runs[0].outcome, LineOutcome::Cancelled);
    let ends = std::mem::take(&mut t.host.ends);
    ends.into_iter().for_each(|end| end.finish(Ok(())));
    t.ticks(0.1, 6);
    assert_eq!(t.host.log, ["a", "c", "e", "b", "d"]);
    assert_eq!(run(&mut t, "SC.Line.List").1, "0 in all");
}
