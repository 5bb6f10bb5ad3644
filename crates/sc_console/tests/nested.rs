//! Lines that commands run, and lines that something cuts off: nothing of them is lost.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![cfg(feature = "commands")]

use std::panic::{AssertUnwindSafe, catch_unwind};

use sc_console::{
    ConsoleExt, Latent, LatentEnd, LineOutcome, LineRun, Source, VariableDef, VariableExt, command,
    dynamic_command,
};
use sc_core::testing::TestWorld;
use sc_core::{Cx, PanicPolicy, Tickable};

#[derive(Default)]
struct Game {
    log: Vec<String>,
    runs: Vec<LineRun>,
    end: Option<LatentEnd>,
}

command! {
    /// Logs a text.
    Log [anytime] (
        /// The text.
        text: String,
    ) |cx: &mut Cx<'_, Game>, out| {
        writeln!(out, "logged {text}")?;
        cx.host_mut().log.push(text);
        Ok(())
    }
}

command! {
    /// Runs a line at once.
    Do [anytime] (
        /// The line.
        line: String,
    ) |cx: &mut Cx<'_, Game>, out| {
        writeln!(out, "before")?;
        cx.run_line(&line, out.source());
        writeln!(out, "after")?;
        Ok(())
    }
}

command! {
    /// Has a line run in the next frame.
    Later [anytime] (
        /// The line.
        line: String,
    ) |cx: &mut Cx<'_, Game>, out| {
        cx.queue_line(&line, out.source(), note);
        Ok(())
    }
}

command! {
    /// Ends the world.
    Kill [anytime] () |cx: &mut Cx<'_, Game>, out| {
        writeln!(out, "killing")?;
        let world = cx.runtime().live_worlds().next().map(|(world, _)| world);
        if let Some(world) = world {
            cx.destroy_world(world);
        }
        Ok(())
    }
}

/// An object that does not end well.
struct Bomb;

impl Tickable<Game> for Bomb {
    fn shutdown(&mut self, _: &mut Cx<'_, Game>) {
        panic!("boom");
    }
}

fn note(cx: &mut Cx<'_, Game>, run: LineRun) {
    cx.host_mut().runs.push(run);
}

fn game() -> TestWorld<Game> {
    TestWorld::new(Game::default())
}

/// A game whose world does not end well, and lets that through.
fn with_bomb() -> TestWorld<Game> {
    let mut t = game();
    t.rt.set_panic_policy(PanicPolicy::Propagate);
    let world = t.world;
    let bomb = t.cx().spawn_in(world, Bomb).unwrap();
    // Its world's end is to end it.
    std::mem::forget(bomb);
    t
}

/// A frame that panics with `boom`.
fn frame_that_panics(t: &mut TestWorld<Game>) {
    let frame = catch_unwind(AssertUnwindSafe(|| t.rt.tick_secs(&mut t.host, 0.1)));
    let payload = frame.expect_err("the world's end panics");
    assert_eq!(payload.downcast_ref::<&str>(), Some(&"boom"));
}

/// A folder of its own with one script.
struct Script(std::path::PathBuf);

impl Script {
    fn new(t: &mut TestWorld<Game>, name: &str, text: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("sc-nested-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(name), text).unwrap();
        t.cx().console_settings().script_root = Some(folder.clone());
        Script(folder)
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn shown(t: &mut TestWorld<Game>) -> Vec<String> {
    let (lines, _) = t.cx().console_output(0);
    lines.into_iter().map(|line| line.text).collect()
}

#[test]
fn nobody_has_typed_what_a_command_runs() {
    let mut t = game();
    t.cx().run_line("do 'log a'; later 'log b'", Source::Local);
    t.tick(0.1);
    assert_eq!(t.host.log, ["a", "b"]);
    let typed = "do 'log a'; later 'log b'";
    assert!(t.cx().console_history().lines().eq([typed]));
    assert_eq!(
        shown(&mut t),
        [
            "> do 'log a'; later 'log b'",
            "before",
            "logged a",
            "after",
            "logged b"
        ]
    );
}

#[test]
fn a_line_outlives_the_panic_of_what_it_ends() {
    let mut t = with_bomb();
    t.cx().queue_line("kill; log a", Source::Local, note);
    t.cx().queue_line("log b", Source::Local, note);
    frame_that_panics(&mut t);
    assert_eq!(shown(&mut t), ["> kill; log a"]);
    t.tick(0.1);
    assert_eq!(t.host.log, ["a", "b"]);
    let runs: Vec<_> = t
        .host
        .runs
        .iter()
        .map(|run| (run.outcome, run.text()))
        .collect();
    assert_eq!(
        runs,
        [
            (LineOutcome::Done, "killing\nlogged a".to_owned()),
            (LineOutcome::Done, "logged b".to_owned())
        ]
    );
}

#[test]
fn the_rest_of_a_line_that_was_run_at_once_runs_after_the_panic() {
    let mut t = with_bomb();
    let run = catch_unwind(AssertUnwindSafe(|| {
        t.rt.cx(&mut t.host).run_line("kill; log a", Source::Local)
    }));
    run.expect_err("the world's end panics");
    assert!(t.host.log.is_empty());
    t.tick(0.1);
    assert_eq!(t.host.log, ["a"]);
    assert_eq!(shown(&mut t), ["> kill; log a", "killing", "logged a"]);
}

/// Told of the end of a line, queues it again.
fn again(cx: &mut Cx<'_, Game>, run: LineRun) {
    cx.host_mut().runs.push(run);
    cx.queue_line("log again", Source::Local, again);
}

#[test]
fn who_always_queues_again_is_told_of_the_end_once() {
    let mut t = game();
    t.cx().queue_line("log a", Source::Local, again);
    t.tick(0.1);
    t.rt.shutdown(&mut t.host);
    let outcomes = t.host.runs.iter().map(|run| run.outcome);
    assert!(outcomes.eq([LineOutcome::Done, LineOutcome::Cancelled]));
    let reports = t.reports.take();
    let reports: Vec<String> = reports.iter().map(ToString::to_string).collect();
    assert_eq!(
        reports,
        [
            "log again: was queued by who was told that it will not run; to fix: queue no line when one ends as `LineOutcome::Cancelled` and `cx.runtime().is_shut_down()`; its `done` is not called"
        ]
    );
}

#[test]
fn one_who_panics_at_the_end_keeps_it_from_nobody() {
    let mut t = game();
    t.rt.set_panic_policy(PanicPolicy::Propagate);
    t.cx()
        .queue_line("log a", Source::Local, |_, _| panic!("boom"));
    t.cx().queue_line("log b", Source::Local, note);
    let ended = catch_unwind(AssertUnwindSafe(|| t.rt.shutdown(&mut t.host)));
    ended.expect_err("the first one panics");
    let outcomes = t.host.runs.iter().map(|run| run.outcome);
    assert!(outcomes.eq([LineOutcome::Cancelled]));
}

#[test]
fn a_startup_script_that_the_end_cuts_off_is_reported() {
    let mut t = game();
    let _script = Script::new(&mut t, "start.cfg", "wait 5\nlog a\n");
    t.cx().run_startup_script("start").unwrap();
    t.tick(0.1);
    t.rt.shutdown(&mut t.host);
    t.cx().run_startup_script("start").unwrap();
    let reports = t.reports.take();
    let reports: Vec<_> = reports
        .iter()
        .map(|r| (r.kind.name(), r.what.as_str()))
        .collect();
    let cut_off = ("StartupFailed", "was given up before all of it was done");
    assert_eq!(reports, [cut_off; 2]);
}

#[test]
fn a_variable_that_ends_while_it_is_set_says_so() {
    let mut t = game();
    let definition = VariableDef::new("My.Gone", 1_i32).runtime();
    let gone = t.cx().register_variable(definition).unwrap();
    let ends = |cx: &mut Cx<'_, Game>, _: &i32| _ = cx.unregister_entry("My.Gone");
    t.cx().on_var_change(gone, ends).unwrap().detach();
    let run = t.cx().run_line("my.gone 2", Source::Local);
    assert_eq!(
        (run.outcome, run.text().as_str()),
        (
            LineOutcome::Done,
            "`My.Gone` was set, and somebody who was told has unregistered it"
        )
    );
}

/// What a closure holds, and does not end well either.
struct Touchy;

impl Drop for Touchy {
    fn drop(&mut self) {
        assert!(std::thread::panicking(), "boom");
    }
}

/// An object without more.
struct Door;

impl Tickable<Game> for Door {}

#[test]
fn a_line_outlives_the_panic_of_what_the_console_lets_go_of_on_its_way() {
    let mut t = game();
    let world = t.world;
    let door = t.cx().spawn_in(world, Door).unwrap();
    let held = Touchy;
    let open = dynamic_command! {
        /// Opens it.
        Door.Open () move |_cx: &mut Cx<'_, Game>, _out| { let _ = &held; Ok(()) }
    };
    t.cx().register_command(open.owner(&door)).unwrap();
    let key = door.key();
    let end = dynamic_command! {
        /// Ends it.
        EndDoor () move |cx: &mut Cx<'_, Game>, out| { writeln!(out, "{:?}", cx.shutdown(key)?)?; Ok(()) }
    };
    t.cx().register_command(end.runtime()).unwrap();
    t.cx().queue_line("enddoor; door.open", Source::Local, note);
    t.cx().queue_line("log b", Source::Local, note);
    for _ in 0..3 {
        let _ = catch_unwind(AssertUnwindSafe(|| t.rt.tick_secs(&mut t.host, 0.1)));
    }
    let outcomes = t.host.runs.iter().map(|run| run.outcome);
    assert!(outcomes.eq([LineOutcome::Failed, LineOutcome::Done]));
    let text = t.host.runs.first().map(LineRun::text).unwrap();
    assert_eq!(text, "true\na panic, which goes on, has cut this off");
    assert_eq!(t.host.log, ["b"]);
}

#[test]
fn what_is_told_of_a_variable_runs_lines_as_a_command_does() {
    let mut t = game();
    let quality = t
        .cx()
        .register_variable(VariableDef::new("My.Quality", 1_i32).runtime())
        .unwrap();
    let follow = |cx: &mut Cx<'_, Game>, value: &i32| {
        cx.run_line(&format!("log {value}"), Source::Local);
    };
    t.cx().on_var_change(quality, follow).unwrap().detach();
    t.cx().run_line("my.quality 2", Source::Local);
    t.cx().run_line("set my.quality 3", Source::Local);
    assert_eq!(
        shown(&mut t),
        [
            "> my.quality 2",
            "logged 2",
            "My.Quality = 2",
            "> set my.quality 3",
            "logged 3",
            "My.Quality = 3"
        ]
    );
    let history = ["my.quality 2", "set my.quality 3"];
    assert!(t.cx().console_history().lines().eq(history));
}

#[test]
fn a_command_is_whole_before_it_is_reported() {
    let mut t = game();
    t.cx().run_line("alias ring 'log a'", Source::Local);
    t.rt.set_report_handler(|report| panic!("{report}"));
    let bell = dynamic_command! {
        /// Rings.
        Ring () |cx: &mut Cx<'_, Game>, _out| { cx.host_mut().log.push("ring".into()); Ok(()) }
    };
    let registered = catch_unwind(AssertUnwindSafe(|| {
        t.rt.cx(&mut t.host)
            .register_command(bell.runtime())
            .map(drop)
    }));
    registered.expect_err("the handler panics on `AliasLost`");
    let run = t.cx().run_line("ring", Source::Local);
    assert_eq!(
        (run.outcome, t.host.log),
        (LineOutcome::Done, vec!["ring".to_owned()])
    );
}

#[test]
fn who_is_told_of_the_end_names_what_will_not_run_and_ends_nothing() {
    let mut t = game();
    let slow = dynamic_command! {
        /// Takes its time.
        Slow () |cx: &mut Cx<'_, Game>, out| {
            writeln!(out, "begun")?;
            let (latent, end) = Latent::new();
            cx.host_mut().end = Some(end);
            Ok(latent)
        }
    };
    t.cx().register_command(slow.runtime()).unwrap();
    let _script = Script::new(&mut t, "save.cfg", "log a\n");
    t.cx().queue_line("slow", Source::Local, |cx, _| {
        let end = cx.host_mut().end.take();
        assert!(!end.unwrap().is_wanted());
        cx.run_startup_script("save").unwrap();
    });
    t.tick(0.1);
    t.rt.shutdown(&mut t.host);
    let reports = t.reports.take();
    let reports: Vec<_> = reports
        .iter()
        .map(|report| (report.kind.name(), report.object.as_deref()))
        .collect();
    assert_eq!(reports, [("LineAfterEnd", Some("save.cfg"))]);
}
