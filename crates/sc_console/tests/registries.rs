//! Replacing the registry: who is live, what is forwarded, and what two of them come to.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![cfg(feature = "commands")]

use sc_console::{
    CommandError, CommandRegistry, ConsoleExt, ForwardedCall, LineOutcome, Output, Source, command,
    command_registry,
};
use sc_core::testing::{ReportLog, TestWorld};
use sc_core::{Cx, Runtime};

type Log = Vec<String>;

command! {
    /// Goes to the registry.
    My.Heal [anytime] (
        /// By how much.
        #[range = 1..=100]
        amount: u32 = 10,
        /// Whom.
        who: Option<String>,
    ) => registry
}

struct Scripted;
impl CommandRegistry<Log> for Scripted {
    fn start(&mut self, cx: &mut Cx<'_, Log>) {
        cx.host_mut().push("start".to_owned());
    }
    fn on_static_command(
        &mut self,
        cx: &mut Cx<'_, Log>,
        call: ForwardedCall<'_>,
        out: &mut Output,
    ) -> Result<(), CommandError> {
        assert_ne!(call.args, ["66"], "order");
        if call.args == ["7"] {
            let inner = cx.run_line("my.heal 8", Source::Local);
            writeln!(out, "{}", inner.text())?;
        }
        cx.host_mut().push(format!("{} {:?}", call.id, call.args));
        Ok(())
    }
    fn end(&mut self, cx: &mut Cx<'_, Log>) {
        cx.host_mut().push("end".to_owned());
    }
}

struct Other;
impl CommandRegistry<Log> for Other {
    fn on_static_command(
        &mut self,
        _: &mut Cx<'_, Log>,
        _: ForwardedCall<'_>,
        _: &mut Output,
    ) -> Result<(), CommandError> {
        Err("other")?;
        Ok(())
    }
}

#[test]
fn without_one_a_forwarded_command_says_so() {
    let mut t = TestWorld::new(Log::new());
    let run = t.cx().run_line("my.heal", Source::Local);
    assert_eq!(run.outcome, LineOutcome::Failed);
    assert_eq!(
        run.text(),
        "`My.Heal` failed: `My.Heal` goes to the project's registry, and there is none: call `provide_registry`"
    );
}

#[test]
fn a_projects_registry_runs_what_is_forwarded() {
    let mut t = TestWorld::new(Log::new());
    t.cx().provide_registry(Scripted).unwrap();
    for line in ["my.heal", "my.heal 5 'me too'"] {
        assert_eq!(
            t.cx().run_line(line, Source::Local).outcome,
            LineOutcome::Done
        );
    }
    let text = t.cx().run_line("my.heal 101", Source::Local).text();
    assert_eq!(
        text,
        "my.heal 101\n        ^^^ amount: expected u32 from 1 up to 100"
    );
    assert!(
        t.cx()
            .run_line("my.heal x", Source::Local)
            .text()
            .contains("amount: expected u32 from 1 up to 100")
    );
    assert!(
        t.cx()
            .run_line("my.heal 1 2 3", Source::Local)
            .text()
            .contains("no further word")
    );
    let text = t.cx().run_line("SC.Console.SelfTest", Source::Local).text();
    assert!(text.contains("registry: registries::Scripted"), "{text}");
    t.rt.shutdown(&mut t.host);
    assert_eq!(
        t.host,
        [
            "start",
            "My.Heal [\"10\"]",
            "My.Heal [\"5\", \"me too\"]",
            "end"
        ]
    );
}

#[test]
fn a_registry_that_panics_or_calls_itself_stays() {
    let mut t = TestWorld::new(Log::new());
    t.cx().provide_registry(Scripted).unwrap();
    let run = t.cx().run_line("my.heal 66", Source::Local);
    assert_eq!(run.outcome, LineOutcome::Failed);
    assert_eq!(t.reports.take()[0].kind.name(), "CommandPanicked");
    let run = t.cx().run_line("my.heal 7", Source::Local);
    assert!(
        run.text().contains("the registry is running"),
        "{}",
        run.text()
    );
    assert_eq!(
        t.cx().run_line("my.heal 8", Source::Local).outcome,
        LineOutcome::Done
    );
}

#[test]
fn two_that_compete_are_an_error_naming_both_and_the_default_is_live() {
    let mut t = TestWorld::new(Log::new());
    t.cx().provide_registry(Scripted).unwrap();
    t.cx().provide_registry(Scripted).unwrap();
    assert_eq!(t.host, ["start"], "the same type again is nothing new");
    let error = t.cx().provide_registry(Other).unwrap_err();
    assert_eq!(
        (error.first, error.second),
        ("registries::Scripted", "registries::Other")
    );
    assert_eq!(t.host, ["start", "end"]);
    let reports = t.reports.take();
    assert_eq!(
        (reports.len(), reports[0].kind.name()),
        (1, "RegistriesCompete")
    );
    assert!(
        reports[0].what.contains("registries::Scripted")
            && reports[0].what.contains("registries::Other")
    );
    let text = t.cx().run_line("SC.Console.SelfTest", Source::Local).text();
    assert!(text.contains("registry: default"), "{text}");
    assert_eq!(
        t.cx().run_line("my.heal", Source::Local).outcome,
        LineOutcome::Failed
    );
}

struct Declaring(Log);

#[derive(Default)]
struct Declared;
impl CommandRegistry<Declaring> for Declared {
    fn on_static_command(
        &mut self,
        cx: &mut Cx<'_, Declaring>,
        call: ForwardedCall<'_>,
        _: &mut Output,
    ) -> Result<(), CommandError> {
        cx.host_mut().0.push(call.args.join(" "));
        Ok(())
    }
}
command_registry!(Declaring: Declared);

#[test]
fn a_declared_registry_is_live_from_the_start() {
    let mut rt = Runtime::<Declaring>::new();
    let reports = ReportLog::of(&mut rt);
    let mut host = Declaring(Log::new());
    rt.cx(&mut host).run_line("my.heal 3", Source::Local);
    assert_eq!(host.0, ["3"]);
    assert!(reports.take().is_empty());
}

struct Falls;
impl CommandRegistry<Log> for Falls {
    fn start(&mut self, _: &mut Cx<'_, Log>) {
        panic!("no script");
    }
    fn on_static_command(
        &mut self,
        cx: &mut Cx<'_, Log>,
        _: ForwardedCall<'_>,
        _: &mut Output,
    ) -> Result<(), CommandError> {
        cx.host_mut().push("ran".to_owned());
        Ok(())
    }
}

#[test]
fn a_registry_that_panics_in_its_start_is_live_all_the_same() {
    let mut t = TestWorld::new(Log::new());
    t.rt.set_panic_policy(sc_core::PanicPolicy::Isolate);
    t.cx().provide_registry(Falls).unwrap();
    let reports = t.reports.take();
    assert_eq!(
        reports[0].object.as_deref(),
        Some("registry registries::Falls")
    );
    t.cx().run_line("my.heal", Source::Local);
    // And when the panic goes on.
    let mut t = TestWorld::new(Log::new());
    let provide = || t.cx().provide_registry(Falls);
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(provide)).is_err());
    assert_eq!(
        t.cx().run_line("my.heal", Source::Local).outcome,
        LineOutcome::Done
    );
    assert_eq!(t.host, ["ran"]);
}

command! {
    /// Goes to the registry.
    My.Optional [anytime] (
        /// None unless given.
        who: Option<String> = None,
        /// A default that looks like none.
        how: Option<String> = Some("none".to_owned()),
    ) => registry
}

#[test]
fn a_default_of_none_is_left_out_and_the_word_none_is_a_word() {
    let mut t = TestWorld::new(Log::new());
    t.cx().provide_registry(Scripted).unwrap();
    t.host.clear();
    t.cx().run_line("my.optional", Source::Local);
    t.cx().run_line("my.optional ada", Source::Local);
    t.cx().run_line("my.optional ada well", Source::Local);
    assert_eq!(
        t.host,
        [
            "My.Optional []",
            "My.Optional [\"ada\", \"none\"]",
            "My.Optional [\"ada\", \"well\"]"
        ]
    );
    let help = t.cx().run_line("help my.optional", Source::Local).text();
    assert!(help.contains("  who: text, may be left out\n"), "{help}");
    assert!(help.contains("  how: text, default none\n"), "{help}");
}

/// Provides another registry, from its start or from its command, and notes its end.
struct Yields {
    from_start: bool,
}

impl Yields {
    fn yields(cx: &mut Cx<'_, Log>) {
        let error = cx.provide_registry(Other).unwrap_err();
        cx.host_mut().push(error.to_string());
    }
}

impl CommandRegistry<Log> for Yields {
    fn start(&mut self, cx: &mut Cx<'_, Log>) {
        if self.from_start {
            Self::yields(cx);
        }
    }
    fn on_static_command(
        &mut self,
        cx: &mut Cx<'_, Log>,
        call: ForwardedCall<'_>,
        out: &mut Output,
    ) -> Result<(), CommandError> {
        Self::yields(cx);
        assert_ne!(call.args, ["66"], "order");
        Ok(writeln!(out, "done")?)
    }
    fn end(&mut self, cx: &mut Cx<'_, Log>) {
        cx.host_mut().push("end".to_owned());
    }
}

const COMPETE: &str = "both `registries::Yields` and `registries::Other` want to be the registry: the default one is live; provide one of them";

#[test]
fn a_registry_that_provides_another_from_its_start_ends_and_the_call_says_so() {
    let mut t = TestWorld::new(Log::new());
    let error = t.cx().provide_registry(Yields { from_start: true });
    assert_eq!(error.unwrap_err().to_string(), COMPETE);
    assert_eq!(t.host, [COMPETE, "end"]);
    assert_eq!(t.reports.take().len(), 1);
    t.rt.shutdown(&mut t.host);
    assert_eq!(t.host.len(), 2, "it ends once");
}

#[test]
fn a_registry_that_provides_another_from_its_command_ends_after_it() {
    for (line, outcome) in [
        ("my.heal 1", LineOutcome::Done),
        ("my.heal 66", LineOutcome::Failed),
    ] {
        let mut t = TestWorld::new(Log::new());
        t.cx()
            .provide_registry(Yields { from_start: false })
            .unwrap();
        let run = t.cx().run_line(line, Source::Local);
        assert_eq!(run.outcome, outcome, "{}", run.text());
        assert_eq!(t.host, [COMPETE, "end"]);
        let text = t.cx().run_line("my.heal", Source::Local).text();
        assert!(
            text.contains("there is none: call `provide_registry`"),
            "{text}"
        );
        t.rt.shutdown(&mut t.host);
        assert_eq!(t.host.len(), 2, "it ends once");
    }
}

command! {
    /// Goes to the registry.
    My.All [anytime] (
        /// Whom.
        who: String = "me".to_owned(),
        /// How often.
        #[range = 1..=9]
        times: Vec<u32> = vec![1, 2],
    ) => registry
}

#[test]
fn a_default_of_several_words_is_handed_over() {
    let mut t = TestWorld::new(Log::new());
    t.cx().provide_registry(Scripted).unwrap();
    t.host.clear();
    for line in ["my.all", "my.all you", "my.all you 3"] {
        t.cx().run_line(line, Source::Local);
    }
    assert_eq!(
        t.host,
        [
            "My.All [\"me\", \"1\", \"2\"]",
            "My.All [\"you\", \"1\", \"2\"]",
            "My.All [\"you\", \"3\"]"
        ]
    );
}
