//! Secrets: `***` in history, echo, error lines and log, whatever the line looks like.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![cfg(feature = "commands")]

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sc_console::{ConsoleExt, LineOutcome, Source, VariableExt, command, variable};
use sc_core::Cx;
use sc_core::testing::TestWorld;
use tracing::field::{Field, Visit};

type Log = Vec<String>;

command! {
    /// Logs in.
    My.Login [anytime] (
        /// Who.
        name: String,
        /// The password.
        #[secret]
        password: String,
    ) |cx: &mut Cx<'_, Log>, out| {
        cx.host_mut().push(password);
        writeln!(out, "hello {name}")?;
        Ok(())
    }
}
command! {
    /// Takes a pin.
    My.Pin [anytime] (
        /// The pin.
        #[secret]
        #[range = 0..=9999]
        pin: u32 = 1234,
    ) |cx: &mut Cx<'_, Log>, _out| {
        cx.host_mut().push(pin.to_string());
        Ok(())
    }
}
variable! {
    /// The key.
    KEY = My.Key: String = "swordfish".to_owned(), secret, archive
}

const SECRET: &str = "swordfish";

/// One test at a time: an event whose place in the code another thread reaches for the first time, at
/// the moment in which a listener comes, may not be heard.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[test]
fn case_g20_a_secret_is_shown_nowhere() {
    let _alone = alone();
    let mut t = TestWorld::new(Log::new());
    let events = Events::default();
    let _guard = tracing::subscriber::set_default(events.clone());
    for line in [
        "my.login ada swordfish",
        "My.Login ada 'swordfish two'; help",
        "my.login ada swordfish extra",
        "my.login ada swordfish swordfish",
        "my.login ada swordfish; nonsense",
        "my.logni ada swordfish",
        "my.login ada \"swordfish",
        "my.pin swordfish",
        "my.pin 99999; my.pin swordfish",
        "my.key swordfish",
        "set my.key swordfish",
        "set my.kye swordfish",
        "my.key",
        "help my.key",
        "my.key a swordfish",
        "alias in 'my.login ada swordfish'",
        "alias in",
        "help in",
        "in swordfish",
        "alias on 'my.login ada'; on swordfish",
        "on swordfish",
        "alias",
        "history",
        "reset my.key",
        "find ada",
    ] {
        for source in [Source::Local, Source::Terminal, Source::Remote] {
            let run = t.cx().run_line(line, source);
            assert!(!run.text().contains(SECRET), "{line}: {}", run.text());
        }
        let snapshot = t.cx().console_snapshot(Source::Terminal);
        assert!(!snapshot.redact(line).contains(SECRET), "{line}");
        let info = format!("{:?}", snapshot.entries());
        assert!(!info.contains(SECRET), "{line}");
    }
    let history = t.cx().console_history().clone();
    let history: Vec<&str> = history.lines().collect();
    assert!(
        history.iter().all(|line| !line.contains(SECRET)),
        "{history:?}"
    );
    assert!(history.contains(&"my.login ada ***"), "{history:?}");
    assert!(history.contains(&"set my.key ***"), "{history:?}");
    let (shown, _) = t.cx().console_output(0);
    assert!(shown.iter().all(|line| !line.text.contains(SECRET)));
    let events = events.0.lock().unwrap();
    assert!(
        events.iter().all(|event| !event.contains(SECRET)),
        "{events:?}"
    );
    assert!(
        events
            .iter()
            .any(|event| event.contains("my.login ada ***")),
        "{events:?}"
    );
    assert!(
        t.reports
            .take()
            .iter()
            .all(|report| !report.to_string().contains(SECRET))
    );
    // The command got it.
    assert!(t.host.iter().any(|word| word == SECRET));
    assert_eq!(t.cx().var(KEY), SECRET);
}

#[test]
fn a_secret_that_is_refused_is_marked_without_it() {
    let _alone = alone();
    let mut t = TestWorld::new(Log::new());
    let run = t.cx().run_line("my.pin swordfish x", Source::Local);
    assert_eq!(run.outcome, LineOutcome::Failed);
    assert_eq!(
        run.text(),
        "my.pin *** ***\n       ^^^ pin: expected a whole number from 0 to 4294967295"
    );
    let run = t.cx().run_line("my.pin 123456; nonsense", Source::Local);
    assert_eq!(
        run.text(),
        "my.pin ***; nonsense\n       ^^^ pin: expected u32 from 0 up to 9999\nthe rest of the line was not run"
    );
    let run = t.cx().run_line("my.pin 12; nonsense", Source::Local);
    assert!(
        run.text()
            .starts_with("my.pin ***; nonsense\n            ^^^^^^^^ expected the name"),
        "{}",
        run.text()
    );
}

#[test]
fn help_of_a_secret_says_that_it_is_one_and_not_its_default() {
    let _alone = alone();
    let mut t = TestWorld::new(Log::new());
    let text = t.cx().run_line("help my.pin", Source::Local).text();
    assert!(
        text.contains("  pin: u32, from 0 up to 9999, may be left out, secret\n      The pin."),
        "{text}"
    );
    assert!(!text.contains("1234"), "{text}");
    let text = t.cx().run_line("my.key", Source::Local).text();
    assert!(
        text.starts_with("My.Key = *** (default ***, set by its constructor)"),
        "{text}"
    );
}

/// The texts of all events.
#[derive(Clone, Default)]
struct Events(Arc<Mutex<Vec<String>>>);

struct Text(String);
impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.0.push_str(&format!("{field}={value:?} "));
    }
}

impl tracing::Subscriber for Events {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }
    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
    fn event(&self, event: &tracing::Event<'_>) {
        let mut text = Text(String::new());
        event.record(&mut text);
        self.0.lock().unwrap().push(text.0);
    }
    fn enter(&self, _: &tracing::span::Id) {}
    fn exit(&self, _: &tracing::span::Id) {}
}
