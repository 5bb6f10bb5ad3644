//! The terminal over plain lines: what it reads, runs, shows, and how it ends.
#![cfg(all(feature = "terminal", feature = "commands", feature = "print"))]
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::io::{self, BufRead, BufReader, Cursor, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sc_console::{
    ConsoleExt, LogExt, LogRing, PrintExt, Source, Terminal, TerminalHandle, command, print_string,
};
use sc_core::testing::TestWorld;
use sc_core::{Cx, Extension, TickGroup, TickSettings, Tickable};
use tracing_subscriber::layer::SubscriberExt as _;

type Test = TestWorld<Vec<String>>;

command! {
    /// Notes a text.
    Test.Note (
        /// The text.
        text: String,
    ) |cx: &mut Cx<'_, Vec<String>>, out| {
        let frame = cx.frame();
        cx.host_mut().push(format!("note {text} in frame {frame}"));
        writeln!(out, "noted {text}")?;
        Ok(())
    }
}

command! {
    /// Fails.
    Test.Fail () |_cx: &mut Cx<'_, Vec<String>>, _out| {
        Err(String::from("no luck"))?;
        Ok(())
    }
}

command! {
    /// Logs and prints.
    Test.Tell () |cx: &mut Cx<'_, Vec<String>>, out| {
        writeln!(out, "output")?;
        tracing::warn!(target: "game", lives = 3, "log");
        print_string!(cx, "message");
        print_string!(cx, "only to the log"; to = sc_console::PrintTo::Log);
        for n in 0..5 {
            print_string!(cx, "fps {n}"; key = "fps", to = sc_console::PrintTo::Screen);
        }
        Ok(())
    }
}

command! {
    /// Keeps a secret.
    Test.Login (
        /// Who.
        name: String,
        /// The password.
        #[secret]
        password: String,
    ) |cx: &mut Cx<'_, Vec<String>>, out| {
        cx.host_mut().push(password);
        writeln!(out, "hello {name}")?;
        Ok(())
    }
}

/// What a terminal has written.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Written {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }

    fn lines(&self) -> Vec<String> {
        self.text().lines().map(str::to_owned).collect()
    }
}

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Input that comes when the test says so, and ends when the test drops the other end.
struct Typed(Receiver<String>);

impl Typed {
    fn new() -> (Sender<String>, BufReader<Self>) {
        let (sender, receiver) = channel();
        (sender, BufReader::new(Typed(receiver)))
    }
}

impl Read for Typed {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let text = self.0.recv().unwrap_or_default();
        into[..text.len()].copy_from_slice(text.as_bytes());
        Ok(text.len())
    }
}

fn start(t: &mut Test, input: &'static str) -> (TerminalHandle, Written) {
    start_reading(t, Cursor::new(input))
}

fn start_reading(t: &mut Test, input: impl BufRead + Send + 'static) -> (TerminalHandle, Written) {
    let written = Written::default();
    let terminal = Terminal::new().start_on(&mut t.cx(), input, written.clone());
    (terminal.unwrap(), written)
}

/// Plays a script frame by frame, as many frames as it needs.
fn play(t: &mut Test, input: &'static str) -> Vec<String> {
    let (terminal, written) = start(t, input);
    while terminal.is_open() {
        terminal.wait_for_line();
        t.tick(0.1);
    }
    drop(terminal);
    written.lines()
}

#[test]
fn plain_lines_in_plain_lines_out() {
    let mut t = Test::new(Vec::new());
    let shown = play(
        &mut t,
        "test.note a\r\n\n   \nTest.Note \"b c\"; test.note d\ntest.note e",
    );
    assert_eq!(shown, ["noted a", "noted b c", "noted d", "noted e"]);
}

#[test]
fn lines_run_in_the_console_stage_one_after_the_other() {
    struct Late;
    impl Tickable<Vec<String>> for Late {
        fn settings(&self) -> TickSettings {
            TickSettings::default().group(TickGroup::PostUpdate)
        }
        fn tick(&mut self, cx: &mut Cx<'_, Vec<String>>) {
            let frame = cx.frame();
            cx.host_mut().push(format!("tick {frame}"));
        }
    }
    let mut t = Test::new(Vec::new());
    let world = t.world;
    let late = t.cx().spawn_in(world, Late).unwrap();
    play(&mut t, "test.note a\ntest.note b\n");
    assert_eq!(
        t.host[..4],
        ["tick 1", "note a in frame 1", "tick 2", "note b in frame 2"]
    );
    late.shutdown(&mut t.cx()).unwrap();
}

#[test]
fn a_line_that_waits_holds_the_next_one() {
    let mut t = Test::new(Vec::new());
    play(&mut t, "test.note a; wait 3; test.note b\ntest.note c\n");
    assert_eq!(
        t.host,
        [
            "note a in frame 1",
            "note b in frame 4",
            "note c in frame 5"
        ]
    );
}

#[test]
fn what_a_line_prints_is_shown_as_it_comes() {
    let mut t = Test::new(Vec::new());
    let (typing, input) = Typed::new();
    let (terminal, written) = start_reading(&mut t, input);
    typing
        .send("test.note a; wait 1000; test.note b\n".into())
        .unwrap();
    terminal.wait_for_line();
    t.tick(0.1);
    while written.text() != "noted a\n" {
        std::thread::yield_now();
    }
    drop(typing);
    drop(terminal);
}

command! {
    /// Has a line run, at once or later.
    Test.Do (
        /// Later.
        later: bool,
        /// The line.
        line: String,
    ) |cx: &mut Cx<'_, Vec<String>>, out| {
        writeln!(out, "before")?;
        if later {
            cx.queue_line(&line, out.source(), |_, _| ());
        } else {
            cx.run_line(&line, out.source());
        }
        writeln!(out, "after")?;
        Ok(())
    }
}

#[test]
fn what_a_command_runs_is_shown_where_the_command_was_typed() {
    let mut t = Test::new(Vec::new());
    let shown = play(
        &mut t,
        "test.do no 'test.note a; nope'\ntest.do no 'wait 2; test.note b'\ntest.do yes 'test.note c'\nwait 2\n",
    );
    assert_eq!(
        shown,
        [
            "before",
            "noted a",
            "test.note a; nope",
            "             ^^^^ expected the name of a command or a variable; `nope` is none (did you mean `Test.Note`?)",
            "after",
            "before",
            "after",
            "before",
            "after",
            "noted b",
            "noted c"
        ]
    );
}

#[test]
fn a_script_takes_the_same_frames_every_time() {
    let frames = || {
        let mut t = Test::new(Vec::new());
        play(&mut t, "test.note a\nwait 7\ntest.fail\ntest.note b\n");
        t.host
    };
    let first = frames();
    assert_eq!(first.len(), 2);
    for _ in 0..20 {
        assert_eq!(frames(), first);
    }
}

#[test]
fn what_fails_is_shown_and_counted_and_the_rest_goes_on() {
    let mut t = Test::new(Vec::new());
    let (terminal, written) = start(&mut t, "test.fail\ntest.nope\ntest.note \"a\ntest.note b\n");
    while terminal.is_open() {
        terminal.wait_for_line();
        t.tick(0.1);
    }
    assert_eq!(terminal.failed_lines(), 3);
    drop(terminal);
    let text = written.text();
    assert!(text.contains("no luck"), "{text}");
    assert!(text.contains("test.nope"), "{text}");
    assert!(text.ends_with("noted b\n"), "{text}");
    assert_eq!(t.host, ["note b in frame 4"]);
}

#[test]
fn what_is_no_line_is_passed_over_and_says_so() {
    let mut t = Test::new(Vec::new());
    let mut input = b"test.note \xff\n".to_vec();
    input.extend_from_slice("x".repeat(70_000).as_bytes());
    input.extend_from_slice(b"\ntest.note after\n");
    let written = Written::default();
    let terminal = Terminal::new()
        .start_on(&mut t.cx(), Cursor::new(input), written.clone())
        .unwrap();
    while terminal.is_open() {
        terminal.wait_for_line();
        t.tick(0.1);
    }
    assert_eq!(terminal.failed_lines(), 2);
    drop(terminal);
    assert_eq!(
        written.lines(),
        [
            "(line 1 is not UTF-8 and was not run)",
            "(line 2 is longer than 65536 bytes and was not run)",
            "noted after"
        ]
    );
}

#[test]
fn it_shows_output_log_and_messages_once_each() {
    let ring = LogRing::new();
    let mut t = Test::new(Vec::new());
    t.cx().attach_log(&ring);
    let shown = tracing::subscriber::with_default(ring.subscriber(), || {
        // Other tests print at the same time. A place in the code that logs may note that nobody
        // listens, just when this begins to: so it has been there once, and is asked again.
        play(&mut Test::new(Vec::new()), "test.tell\n");
        ring.set_filter("info").unwrap();
        play(&mut t, "test.tell\ntest.tell\n")
    });
    // A message that replaces another by its key is not shown again.
    let once = [
        " WARN game: log lives=3",
        "message",
        " INFO stillcooking::print: only to the log",
    ];
    let first = once.into_iter().chain(["fps 0", "output"]);
    let expected: Vec<&str> = first.chain(once).chain(["output"]).collect();
    assert_eq!(shown, expected);
}

#[test]
fn a_log_that_is_attached_later_or_changed_is_shown_once() {
    let (first, second) = (LogRing::new(), LogRing::new());
    let mut t = Test::new(Vec::new());
    let (typing, input) = Typed::new();
    let (terminal, written) = start_reading(&mut t, input);
    let log = |ring: &LogRing, text: &str| {
        tracing::subscriber::with_default(ring.subscriber(), || tracing::info!("{text}"));
    };
    log(&first, "not attached");
    t.cx().attach_log(&first);
    t.cx().attach_log(&first);
    log(&first, "one");
    t.cx().attach_log(&second);
    log(&first, "let go");
    log(&second, "two");
    drop(typing);
    drop(terminal);
    assert_eq!(
        written.lines(),
        [" INFO terminal: one", " INFO terminal: two"]
    );
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_first_line() {
    let mut t = Test::new(Vec::new());
    let shown = play(&mut t, "\u{feff}test.note a\ntest.note \u{feff}b\n");
    assert_eq!(shown, ["noted a", "noted \\u{feff}b"]);
    assert_eq!(t.host[0], "note a in frame 1");
}

#[test]
fn errors_show_what_cannot_be_seen_and_the_marker_stands_under_it() {
    let mut t = Test::new(Vec::new());
    let shown = play(&mut t, "test.note a;\u{200b}x\u{1b}y\u{2028}\n");
    assert_eq!(
        shown,
        [
            "noted a",
            "test.note a;\\u{200b}x\\u{1b}y\\u{2028}",
            "            ^^^^^^^^^^^^^^^^ expected the name of a command or a variable; `\\u{200b}x\\u{1b}y` is none: `help` lists them",
        ]
    );
    assert_eq!(t.host.len(), 1);
}

#[test]
fn what_a_terminal_obeys_cannot_be_sent_through_it() {
    let mut t = Test::new(Vec::new());
    let shown = play(&mut t, "test.note \"a\u{1b}[2Jb\"\n");
    assert_eq!(shown, ["noted a\\u{1b}[2Jb"]);
}

#[test]
fn the_end_of_the_input_ends_it_and_what_is_left_is_written_when_the_handle_goes() {
    let mut t = Test::new(Vec::new());
    let (terminal, written) = start(&mut t, "");
    terminal.wait_for_line();
    assert!(!terminal.is_open() && !terminal.is_editor());
    print_string!(t.cx(), "after the end");
    drop(terminal);
    assert_eq!(written.lines(), ["after the end"]);
    print_string!(t.cx(), "nobody shows it");
    assert_eq!(written.lines(), ["after the end"]);
}

#[test]
fn a_handle_can_go_while_the_input_is_waited_for() {
    let mut t = Test::new(Vec::new());
    let (typing, input) = Typed::new();
    let (terminal, written) = start_reading(&mut t, input);
    typing.send("test.note a\n".into()).unwrap();
    terminal.wait_for_line();
    t.tick(0.1);
    drop(terminal);
    assert_eq!(written.lines(), ["noted a"]);
    // What is typed later is not run.
    typing.send("test.note b\n".into()).unwrap();
    drop(typing);
    t.ticks(0.1, 3);
    assert_eq!(t.host, ["note a in frame 1"]);
}

#[test]
fn the_end_of_the_runtime_ends_it_while_its_input_is_waited_for() {
    for by_shutdown in [true, false] {
        let mut t = Test::new(Vec::new());
        // Nothing is ever typed, and the other end stays.
        let (typing, input) = Typed::new();
        let (terminal, written) = start_reading(&mut t, input);
        let (told, ended) = channel();
        let waiting = std::thread::spawn(move || {
            terminal.wait_for_line();
            told.send(terminal.is_open()).unwrap();
        });
        if by_shutdown {
            print_string!(t.cx(), "the last words");
            t.rt.shutdown(&mut t.host);
        } else {
            drop(t);
        }
        assert_eq!(ended.recv_timeout(Duration::from_secs(20)), Ok(false));
        waiting.join().unwrap();
        assert_eq!(written.lines().len(), usize::from(by_shutdown));
        drop(typing);
    }
}

#[test]
fn a_terminal_to_a_runtime_that_has_ended_is_closed() {
    let mut t = Test::new(Vec::new());
    t.rt.shutdown(&mut t.host);
    let (_typing, input) = Typed::new();
    let (terminal, _) = start_reading(&mut t, input);
    assert!(!terminal.is_open());
    terminal.wait_for_line();
}

#[test]
fn the_end_of_the_runtime_ends_it() {
    for by_shutdown in [true, false] {
        let mut t = Test::new(Vec::new());
        let (typing, input) = Typed::new();
        let terminal = Terminal::new()
            .start_on(&mut t.cx(), input, Written::default())
            .unwrap();
        typing.send("wait 1000\n".into()).unwrap();
        terminal.wait_for_line();
        t.tick(0.1);
        if by_shutdown {
            t.rt.shutdown(&mut t.host);
        } else {
            drop(t);
        }
        // The line that was under way is gone, or cancelled; the next one finds nobody, if it is read.
        let _ = typing.send("test.note a\n".into());
        while terminal.is_open() {
            std::thread::yield_now();
        }
        terminal.wait_for_line();
    }
}

/// An output that takes nothing until it is let.
struct Blocked(Receiver<()>, Written);

impl Write for Blocked {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Broken is let, too.
        let _ = self.0.recv();
        self.1.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn an_output_that_blocks_does_not_block_the_game() {
    let ring = LogRing::new();
    let mut t = Test::new(Vec::new());
    t.cx().attach_log(&ring);
    let (typing, input) = Typed::new();
    let (let_it, blocked) = channel();
    let written = Written::default();
    let terminal = Terminal::new()
        .start_on(&mut t.cx(), input, Blocked(blocked, written.clone()))
        .unwrap();
    tracing::subscriber::with_default(ring.subscriber(), || {
        for n in 0..30_000 {
            tracing::info!(target: "flood", "{n}");
        }
    });
    t.ticks(0.1, 10);
    drop(let_it);
    drop(typing);
    drop(terminal);
    let lines = written.lines();
    // The newest are there, and how many are not.
    assert_eq!(lines.last().unwrap(), " INFO flood: 29999");
    let lost = lines
        .iter()
        .find(|l| l.contains("lines were not shown"))
        .unwrap();
    let lost: usize = lost[1..lost.find(' ').unwrap()].parse().unwrap();
    assert_eq!(lines.len() - 1 + lost, 30_000);
}

#[test]
fn an_output_that_fails_is_reported_and_ends_it() {
    struct Broken;
    impl Write for Broken {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::Error::other("the pipe is broken"))
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut t = Test::new(Vec::new());
    let input = Cursor::new("test.note a\ntest.note b\n");
    let terminal = Terminal::new()
        .start_on(&mut t.cx(), input, Broken)
        .unwrap();
    while terminal.is_open() {
        terminal.wait_for_line();
        t.tick(0.1);
    }
    drop(terminal);
    t.tick(0.1);
    let reports: Vec<String> = t.reports.take().iter().map(ToString::to_string).collect();
    assert_eq!(reports.len(), 1);
    assert!(reports[0].starts_with("the terminal cannot write: the pipe is broken; to fix: "));
    assert_eq!(t.host.len(), 1, "the second line is not run");
}

#[test]
fn an_input_that_fails_is_reported_and_ends_it() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("no signal"))
        }
    }
    let mut t = Test::new(Vec::new());
    let terminal = Terminal::new()
        .start_on(&mut t.cx(), BufReader::new(Broken), Written::default())
        .unwrap();
    while terminal.is_open() {
        terminal.wait_for_line();
    }
    drop(terminal);
    t.tick(0.1);
    let reports: Vec<String> = t.reports.take().iter().map(ToString::to_string).collect();
    assert!(reports[0].starts_with("the terminal cannot read: no signal; to fix: "));
}

#[test]
fn lines_run_in_the_name_of_their_source() {
    let mut t = Test::new(Vec::new());
    t.cx().console_settings().cheat_granters = vec![Source::Terminal];
    let mut may_cheat = |source: Option<Source>| {
        let mut terminal = Terminal::new();
        if let Some(source) = source {
            terminal = terminal.source(source);
        }
        let input = Cursor::new("SC.Console.Cheats true\n");
        let terminal = terminal.start_on(&mut t.cx(), input, Written::default());
        let terminal = terminal.unwrap();
        while terminal.is_open() {
            terminal.wait_for_line();
            t.tick(0.1);
        }
        terminal.failed_lines() == 0
    };
    assert!(!may_cheat(Some(Source::Remote)));
    assert!(may_cheat(None), "a terminal, if nothing else is said");
}

#[test]
fn two_terminals_of_two_runtimes_do_not_meet() {
    let (mut a, mut b) = (Test::new(Vec::new()), Test::new(Vec::new()));
    let (first, to_first) = start(&mut a, "");
    let (second, to_second) = start(&mut b, "");
    print_string!(a.cx(), "a");
    print_string!(b.cx(), "b");
    drop((first, second));
    assert_eq!(
        (to_first.text(), to_second.text()),
        ("a\n".into(), "b\n".into())
    );
}

#[test]
fn two_terminals_of_one_runtime_show_what_concerns_both() {
    let mut t = Test::new(Vec::new());
    let (first, to_first) = start(&mut t, "test.note a\n");
    let (second, to_second) = start(&mut t, "");
    while first.is_open() {
        first.wait_for_line();
        t.tick(0.1);
    }
    print_string!(t.cx(), "both");
    drop((first, second));
    // What a line prints goes to the terminal it came from.
    assert_eq!(to_first.text(), "noted a\nboth\n");
    assert_eq!(to_second.text(), "both\n");
}

#[test]
fn a_secret_is_nowhere_but_where_it_belongs() {
    let mut t = Test::new(Vec::new());
    let shown = play(
        &mut t,
        "test.login mia hunter2\ntest.login mia hunter2 hunter2\n",
    );
    assert_eq!(t.host, ["hunter2"]);
    let text = shown.join("\n");
    assert!(text.starts_with("hello mia\n"), "{text}");
    assert!(!text.contains("hunter2"), "{text}");
}

#[test]
fn what_the_startup_script_prints_is_seen_at_every_terminal() {
    let folder = std::env::temp_dir().join(format!("sc-startup-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(
        folder.join("autoexec.cfg"),
        "test.note a\nwait\ntest.note b\ntest.fail",
    )
    .unwrap();
    let mut t = Test::new(Vec::new());
    t.cx().console_settings().script_root = Some(folder.clone());
    t.cx().run_startup_script("autoexec").unwrap();
    let shown = play(&mut t, "test.note c\nwait 3");
    std::fs::remove_dir_all(&folder).unwrap();
    let error = "autoexec.cfg, line 4: `Test.Fail` failed: no luck";
    assert_eq!(shown, ["noted a", "noted c", "noted b", error]);
    assert_eq!(t.reports.take().len(), 1);
}

#[test]
fn extensions_of_a_program_may_have_the_names_of_our_parts() {
    let ring = LogRing::new();
    let mut t = Test::new(Vec::new());
    for name in ["console", "screen", "log", "terminal"] {
        assert!(t.cx().install(Extension::new(name)));
    }
    t.cx().attach_log(&ring);
    print_string!(t.cx(), "soon gone"; duration = 0.05);
    t.cx()
        .queue_line("wait 2; test.note a", Source::Local, |_, _| ());
    t.ticks(0.1, 3);
    assert_eq!(t.host, ["note a in frame 3"]);
    assert_eq!(t.cx().screen().messages().len(), 0);
    tracing::subscriber::with_default(ring.subscriber(), || tracing::info!("now"));
    assert!(ring.records().last().unwrap().frame >= 3);
    // A terminal that is started ends with the runtime.
    let (_typing, input) = Typed::new();
    let (terminal, _) = start_reading(&mut t, input);
    t.rt.shutdown(&mut t.host);
    assert!(!terminal.is_open());
}

/// Panics at every event of the log, while it is armed.
struct Panics(Arc<AtomicBool>);
impl<S: tracing::Subscriber> tracing_subscriber::Layer<S> for Panics {
    fn on_event(&self, _: &tracing::Event<'_>, _: tracing_subscriber::layer::Context<'_, S>) {
        assert!(!self.0.load(Ordering::Relaxed), "the log is full");
    }
}

#[test]
fn a_log_that_panics_in_a_print_hides_nothing_later() {
    let (ring, armed) = (LogRing::new(), Arc::new(AtomicBool::new(true)));
    let mut t = Test::new(Vec::new());
    t.cx().attach_log(&ring);
    let (typing, input) = Typed::new();
    let (terminal, written) = start_reading(&mut t, input);
    let subscriber = tracing_subscriber::registry()
        .with(ring.layer())
        .with(Panics(Arc::clone(&armed)));
    tracing::subscriber::with_default(subscriber, || {
        ring.set_filter("info").unwrap();
        let print = AssertUnwindSafe(|| print_string!(t.cx(), "never seen"));
        assert!(catch_unwind(print).is_err());
        armed.store(false, Ordering::Relaxed);
        tracing::info!("seen");
    });
    drop(typing);
    drop(terminal);
    assert_eq!(written.lines(), [" INFO terminal: seen"]);
}
