//! The console beside the other parts: lists, flows from commands, thresholds as variables.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![cfg(feature = "commands")]

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use stillcooking::prelude::*;
use stillcooking::{AnyFlowExt, FlowFinish, LineKind, ReportKind};

type Log = Vec<String>;

struct Lamp;
impl Tickable<Log> for Lamp {
    fn name(&self) -> std::borrow::Cow<'static, str> {
        "Lamp".into()
    }
}

command! {
    /// Takes a second.
    My.Slow (
        /// How it ends.
        how: String = "well".to_owned(),
    ) |cx: &mut Cx<'_, Log>, out| {
        writeln!(out, "begun")?;
        Ok(cx.latent("slow", async move |fx| {
            fx.delay(secs(1)).await?;
            fx.with(|cx| cx.host_mut().push("slow".to_owned()))?;
            match how.as_str() {
                "badly" => Err(FlowError::other("no more ink")),
                "panic" => panic!("as asked"),
                _ => Ok(()),
            }
        })?)
    }
}

command! {
    /// Without a world.
    My.Anywhere [anytime] () |cx: &mut Cx<'_, Log>, _out| {
        Ok(cx.latent("anywhere", async |fx| Ok(fx.next_tick().await?))?)
    }
}

command! {
    /// Logs a text.
    My.Log [anytime] (
        /// The text.
        text: String,
    ) |cx: &mut Cx<'_, Log>, _out| { cx.host_mut().push(text); Ok(()) }
}

/// What queued lines came to.
fn told(cx: &mut Cx<'_, Log>, run: LineRun) {
    let text = format!("{:?}: {}", run.outcome, run.text().replace('\n', " | "));
    cx.host_mut().push(text);
}

fn game() -> (Runtime<Log>, Log, WorldId) {
    let (mut rt, mut log) = (Runtime::<Log>::new(), Log::new());
    rt.set_report_handler(|_| ());
    rt.set_panic_policy(PanicPolicy::Isolate);
    let level = WorldOptions::new(WorldKind::Game).name("level");
    let level = rt.cx(&mut log).create_world(level).expect("a world");
    (rt, log, level)
}

#[test]
fn a_latent_command_holds_its_line_until_its_flow_is_done() {
    let (mut rt, mut log, _) = game();
    rt.cx(&mut log)
        .queue_line("my.slow; my.log after", Source::Local, told);
    for _ in 0..3 {
        rt.tick_secs(&mut log, 0.5).unwrap();
    }
    // Begun in the first frame, so the second is over in the third.
    assert_eq!(log, ["slow", "after", "Done: begun"]);
}

#[test]
fn a_flow_that_does_not_complete_fails_its_command() {
    for (line, how) in [
        ("my.slow badly", "no more ink"),
        ("my.slow panic", "its flow panicked: see the report"),
    ] {
        let (mut rt, mut log, _) = game();
        rt.cx(&mut log).queue_line(line, Source::Local, told);
        for _ in 0..4 {
            rt.tick_secs(&mut log, 1).unwrap();
        }
        assert_eq!(
            log,
            [
                "slow".to_owned(),
                format!("Failed: begun | `My.Slow` failed: {how}")
            ]
        );
    }
    let (mut rt, mut log, level) = game();
    for end in 0..2 {
        rt.cx(&mut log)
            .queue_line("my.slow; my.log never", Source::Local, told);
        rt.tick_secs(&mut log, 0.1).unwrap();
        match end {
            0 => assert_eq!(rt.cx(&mut log).cancel_flows_named("slow"), 1),
            _ => assert!(rt.cx(&mut log).destroy_world(level)),
        }
        rt.tick_secs(&mut log, 0.1).unwrap();
    }
    let rest = "the rest of the line was not run";
    assert_eq!(
        log,
        [
            format!("Failed: begun | `My.Slow` failed: its flow was cancelled | {rest}"),
            format!(
                "Failed: begun | `My.Slow` failed: its flow was aborted: its world is gone | {rest}"
            )
        ]
    );
}

#[test]
fn an_error_of_the_flow_is_told_once() {
    let (mut rt, mut log, _) = game();
    let reports = std::rc::Rc::new(std::cell::Cell::new(0));
    let seen = std::rc::Rc::clone(&reports);
    rt.set_report_handler(move |_| seen.set(seen.get() + 1));
    rt.cx(&mut log)
        .queue_line("my.slow badly", Source::Local, told);
    for _ in 0..4 {
        rt.tick_secs(&mut log, 1).unwrap();
    }
    assert!(log[1].contains("no more ink"));
    assert_eq!(reports.get(), 0);
}

#[test]
fn an_error_of_the_flow_that_no_line_waits_for_is_reported() {
    let (mut rt, mut log, _) = game();
    let reports = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
    let seen = std::rc::Rc::clone(&reports);
    rt.set_report_handler(move |report| seen.borrow_mut().push(report.to_string()));
    rt.cx(&mut log)
        .queue_line("my.slow badly", Source::Local, told);
    rt.tick_secs(&mut log, 0.1).unwrap();
    let cancelled = rt.cx(&mut log).run_line("sc.line.cancel 1", Source::Local);
    assert_eq!(cancelled.outcome, LineOutcome::Done, "{}", cancelled.text());
    for _ in 0..4 {
        rt.tick_secs(&mut log, 1).unwrap();
    }
    assert_eq!(log, ["Cancelled: begun", "slow"]);
    let reports = reports.take();
    assert_eq!(reports.len(), 1);
    assert!(reports[0].contains("no more ink"), "{}", reports[0]);
}

#[test]
fn without_a_world_a_latent_command_is_bound_to_the_runtime() {
    let (mut rt, mut log) = (Runtime::<Log>::new(), Log::new());
    rt.cx(&mut log)
        .queue_line("my.anywhere; my.log after", Source::Local, told);
    for _ in 0..3 {
        rt.tick_secs(&mut log, 0.1).unwrap();
    }
    assert_eq!(log, ["after", "Done: "]);
}

#[test]
fn lists_of_what_lives() {
    let (mut rt, mut log, level) = game();
    let mut cx = rt.cx(&mut log);
    let lamp = cx.spawn_in(level, Lamp).unwrap();
    cx.configure(&lamp)
        .unwrap()
        .interval(secs(0.5))
        .apply()
        .unwrap();
    Flow::new("story")
        .world(level)
        .spawn(&mut cx, async |fx| Ok(fx.delay(secs(60)).await?))
        .unwrap();
    rt.tick_secs(&mut log, 0.25).unwrap();
    rt.cx(&mut log).set_paused(level, true).unwrap();
    let list = |rt: &mut Runtime<Log>, log: &mut Log, line: &str| {
        let run = rt.cx(log).run_line(line, Source::Local);
        assert_eq!(run.outcome, LineOutcome::Done, "{}", run.text());
        run.text()
    };
    assert_eq!(
        list(&mut rt, &mut log, "sc.world.list"),
        "level: Game, 1 objects, game time 250ms, dilation 1, paused\n1 in all"
    );
    assert_eq!(
        list(&mut rt, &mut log, "SC.Tick.List"),
        "Lamp (level): PostPhysics, every 500ms, enabled\n1 in all"
    );
    let flows = list(&mut rt, &mut log, "SC.Flow.List");
    assert!(
        flows.starts_with("story ") && flows.ends_with("\n1 in all"),
        "{flows}"
    );
    lamp.shutdown(&mut rt.cx(&mut log)).unwrap();
}

#[test]
fn flows_are_cancelled_by_name_and_names_are_suggested() {
    let (mut rt, mut log, level) = game();
    let mut cx = rt.cx(&mut log);
    let finished =
        |cx: &mut Cx<'_, Log>, finish: FlowFinish| cx.host_mut().push(format!("{finish:?}"));
    for _ in 0..2 {
        Flow::new("big story")
            .world(level)
            .on_finished(finished)
            .spawn(&mut cx, async |fx| Ok(fx.delay(secs(60)).await?))
            .unwrap();
    }
    let line = "SC.Flow.Cancel b";
    let found = cx.complete_line(line, line.len(), Source::Local);
    assert_eq!(found.candidates.len(), 1);
    assert_eq!(found.candidates[0].insert, "\"big story\"");
    let run = cx.run_line("SC.Flow.Cancel 'big story'", Source::Local);
    assert_eq!(run.text(), "2 cancelled");
    let run = cx.run_line("SC.Flow.Cancel 'big story'", Source::Local);
    assert_eq!(
        run.text(),
        "SC.Flow.Cancel 'big story'\n               ^^^^^^^^^^^ there is no flow called `big story`"
    );
    assert_eq!(log, ["Cancelled", "Cancelled"]);
}

#[test]
fn thresholds_of_warnings_are_variables() {
    let (mut rt, mut log, level) = game();
    let warned = Rc::new(Cell::new(0));
    let seen = Rc::clone(&warned);
    rt.set_report_handler(move |report| {
        if let ReportKind::Extension(kind) = report.kind
            && kind.name == "EndlessWait"
        {
            seen.set(seen.get() + 1);
        }
    });
    let mut cx = rt.cx(&mut log);
    let name = "SC.Flow.WaitUntilWarningSeconds";
    // A value of the config file waits for it.
    cx.set_var_text(name, "0", SetBy::ConfigFile).unwrap();
    WaitUntil::new(|_: &mut Cx<'_, Log>, _| false)
        .world(level)
        .start(&mut cx)
        .unwrap();
    for _ in 0..100 {
        rt.tick(&mut log, Duration::from_secs(1)).unwrap();
    }
    assert_eq!(warned.get(), 0, "never");
    let run = rt
        .cx(&mut log)
        .run_line(&format!("{name} 5"), Source::Local);
    assert_eq!(run.text(), format!("{name} = 5.0"));
    for _ in 0..3 {
        rt.tick(&mut log, Duration::from_secs(1)).unwrap();
    }
    assert_eq!(warned.get(), 1);
    let run = rt
        .cx(&mut log)
        .run_line(&format!("{name} -1"), Source::Local);
    assert!(
        run.text()
            .contains("expected f64 from 0.0 up to 1000000000.0, or 0.0 (never)"),
        "{}",
        run.text()
    );
}

#[test]
fn the_thresholds_are_one_whoever_sets_them() {
    let (mut rt, mut log, level) = game();
    let warned = Rc::new(Cell::new(0));
    let seen = Rc::clone(&warned);
    rt.set_report_handler(move |report| {
        if let ReportKind::Extension(kind) = report.kind
            && kind.name == "LoopParked"
        {
            seen.set(seen.get() + 1);
        }
    });
    let names = [
        "SC.Flow.SuspendedLoopWarningSeconds",
        "SC.Flow.WaitUntilWarningSeconds",
    ];
    let mut cx = rt.cx(&mut log);
    let says = |cx: &mut Cx<'_, Log>, name: &str| {
        let info = cx.var_info(name).unwrap();
        (info.value, info.set_by)
    };
    // Before there is a flow, and after.
    for seconds in [5.0, 7.5] {
        cx.set_suspended_loop_warning(secs(seconds)).unwrap();
        cx.set_wait_until_warning(secs(seconds * 2.0)).unwrap();
        assert_eq!(
            says(&mut cx, names[0]),
            (format!("{seconds:?}"), SetBy::Code)
        );
        assert_eq!(
            says(&mut cx, names[1]),
            (format!("{:?}", seconds * 2.0), SetBy::Code)
        );
        let parked = ForEach::index(3).each(|_: &mut Cx<'_, Log>, _| Step::Suspend);
        parked.world(level).start(&mut cx).unwrap();
    }
    // The value that the console had counts as a change.
    let run = cx.run_line(&format!("{} 30; {} 30", names[0], names[1]), Source::Local);
    assert_eq!(
        run.text(),
        format!("{} = 30.0\n{} = 30.0", names[0], names[1])
    );
    let any: &mut dyn AnyCx = &mut cx;
    assert_eq!(any.suspended_loop_warning(), secs(30));
    assert_eq!(any.wait_until_warning(), secs(30));
    // To the digit.
    cx.run_line(&format!("{} 0.12345678912", names[0]), Source::Local);
    let exact = ("0.12345678912".to_owned(), SetBy::Console);
    assert_eq!(says(&mut cx, names[0]), exact);
    cx.run_line(
        &format!("reset {}; {} 2", names[1], names[0]),
        Source::Local,
    );
    for _ in 0..4 {
        rt.tick(&mut log, Duration::from_secs(1)).unwrap();
    }
    assert_eq!(warned.get(), 2, "both loops, after 2 s");
}

#[test]
fn everything_of_ours_has_a_text() {
    let (mut rt, mut log, _) = game();
    let mut cx = rt.cx(&mut log);
    let run = cx.run_line("SC.Console.Lint", Source::Local);
    assert!(
        run.text().ends_with(" looked at, 0 found"),
        "{}",
        run.text()
    );
    assert!(run.output.iter().all(|line| line.kind == LineKind::Text));
}
