//! Secrets: `***` in history, echo, error lines and log, whatever the line looks like.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![cfg(feature = "commands")]

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sc_console::{
    ArgError, ConsoleArg, ConsoleExt, LineOutcome, Source, VariableDef, VariableExt, command,
    dynamic_command, variable,
};
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
command! {
    /// Logs in, the password first.
    My.First [anytime] (
        /// The password.
        #[secret]
        password: String,
        /// Who.
        name: String,
    ) |cx: &mut Cx<'_, Log>, _out| {
        cx.host_mut().push(password + &name);
        Ok(())
    }
}
command! {
    /// Takes words.
    My.Echo [anytime] (raw words) |cx: &mut Cx<'_, Log>, _out| {
        cx.host_mut().push(words.len().to_string());
        Ok(())
    }
}
command! {
    /// Registers a command that takes a secret.
    My.RegisterLate [anytime] () |cx: &mut Cx<'_, Log>, _out| {
        cx.unregister_entry("My.Late");
        cx.register_command(dynamic_command! {
            /// Logs in late.
            My.Late (
                /// Who.
                name: String,
                /// The password.
                #[secret]
                password: String,
            ) |cx: &mut Cx<'_, Log>, _out| { cx.host_mut().push(name + &password); Ok(()) }
        }.runtime())?;
        Ok(())
    }
}
command! {
    /// Registers a command that takes a secret once.
    My.RegisterOnce [anytime] () |cx: &mut Cx<'_, Log>, _out| {
        cx.register_command(dynamic_command! {
            /// Takes a secret, and is gone.
            My.Once (
                /// The secret.
                #[secret]
                secret: String,
            ) |cx: &mut Cx<'_, Log>, _out| {
                cx.unregister_entry("My.Once");
                cx.host_mut().push(secret);
                Ok(())
            }
        }.runtime())?;
        Ok(())
    }
}

/// A type whose errors quote what was typed.
#[derive(Clone, PartialEq, Debug)]
struct Code;
impl ConsoleArg for Code {
    fn type_name() -> std::borrow::Cow<'static, str> {
        "code".into()
    }
    fn parse(word: &str) -> Result<Self, ArgError> {
        Err(ArgError::expected(format!("a code, not {word}")))
    }
    fn show(&self) -> String {
        "code".to_owned()
    }
}
command! {
    /// Takes a code.
    My.Code [anytime] (
        /// The code.
        #[secret]
        code: Code,
    ) |_cx: &mut Cx<'_, Log>, _out| { let _ = code; Ok(()) }
}
variable! {
    /// The pass.
    PASS = My.Pass: Code = Code, secret
}
variable! {
    /// The key.
    KEY = My.Key: String = "swordfish".to_owned(), secret, archive
}

const SECRET: &str = "swordfish";

/// A type whose check quotes the value, as it is and as it is written in code.
#[derive(Clone, PartialEq, Debug)]
struct Strict(String);
impl ConsoleArg for Strict {
    fn type_name() -> std::borrow::Cow<'static, str> {
        "strict".into()
    }
    fn parse(word: &str) -> Result<Self, ArgError> {
        Ok(Strict(word.to_owned()))
    }
    fn show(&self) -> String {
        self.0.clone()
    }
    fn check(&self) -> Result<(), ArgError> {
        match self.0.as_str() {
            "" => Ok(()),
            text if text.contains('"') => Err(ArgError::expected(format!("other than {text:?}"))),
            text => Err(ArgError::expected(format!("other than {text}"))),
        }
    }
}
variable! {
    /// The strict one.
    STRICT = My.Strict: Strict = Strict(String::new()), secret, archive
}

#[test]
fn a_check_that_quotes_a_secret_does_not_show_it() {
    keeps_the_secret(&[
        "my.strict swordfish",
        "set my.strict swordfish",
        r#"my.strict 'sword"fish'"#,
        "alias k 'set my.strict'; k swordfish",
    ]);
    let _alone = alone();
    let mut t = TestWorld::new(Log::new());
    let run = t.cx().run_line("my.strict swordfish", Source::Local);
    assert_eq!(run.text(), "my.strict ***\n          ^^^ expected strict");
    let folder = std::env::temp_dir().join(format!("sc-strict-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("config.toml");
    std::fs::write(
        &path,
        "[variables]\nmy.strict = 'swordfish'\nmy.pass = 'swordfish'\nlate = 'swordfish'\n",
    )
    .unwrap();
    let read = t.cx().load_config(&path).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(read.refused.len(), 2);
    let late = || {
        VariableDef::new("Late", Strict(String::new()))
            .secret()
            .runtime()
    };
    t.cx().register_variable(late()).unwrap();
    let bad = VariableDef::new("Bad", Strict(SECRET.to_owned()));
    let refused = t
        .cx()
        .register_variable(bad.secret().runtime())
        .unwrap_err();
    let set = t
        .cx()
        .set_var(STRICT, Strict(SECRET.to_owned()))
        .unwrap_err();
    let reports = t.reports.take();
    assert_eq!(reports.len(), 4, "{reports:?}");
    for text in [
        format!("{read:?}"),
        format!("{refused:?} {refused}"),
        format!("{set:?} {set}"),
        format!("{reports:?}"),
    ] {
        assert!(!text.contains("fish"), "{text}");
    }
}

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
    assert_eq!(t.cx().var(PASS), Code);
}

#[test]
fn a_secret_that_is_refused_is_marked_without_it() {
    let _alone = alone();
    let mut t = TestWorld::new(Log::new());
    let run = t.cx().run_line("my.pin swordfish x", Source::Local);
    assert_eq!(run.outcome, LineOutcome::Failed);
    assert_eq!(
        run.text(),
        "my.pin *** ***\n       ^^^ pin: expected u32 from 0 up to 9999"
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

/// Everything that may be seen of the lines that have run: history, output, events, entries, reports.
fn seen(t: &mut TestWorld<Log>, events: &Events) -> Vec<String> {
    let history = t.cx().console_history().clone();
    let mut seen: Vec<String> = history
        .lines()
        .map(|line| format!("history: {line}"))
        .collect();
    let (shown, _) = t.cx().console_output(0);
    seen.extend(
        shown
            .into_iter()
            .map(|line| format!("shown: {}", line.text)),
    );
    let events = events.0.lock().unwrap();
    seen.extend(events.iter().map(|event| format!("event: {event}")));
    let snapshot = t.cx().console_snapshot(Source::Terminal);
    let entries = snapshot.entries().iter();
    seen.extend(entries.map(|entry| format!("entry: {entry:?}")));
    seen.extend(t.reports.take().iter().map(ToString::to_string));
    seen
}

/// Runs some lines, as different sources; nothing of the secret is to be seen after each.
fn keeps_the_secret(lines: &[&str]) {
    let _alone = alone();
    for source in [Source::Local, Source::Terminal, Source::Remote] {
        let mut t = TestWorld::new(Log::new());
        let events = Events::default();
        let _guard = tracing::subscriber::set_default(events.clone());
        for (at, line) in lines.iter().enumerate() {
            // Every other line waits for its turn.
            if at % 2 == 0 {
                let run = t.cx().run_line(line, source);
                assert!(!run.text().contains("fish"), "{line}: {}", run.text());
            } else {
                t.cx().queue_line(line, source, |_, _| ());
                t.tick(0.1);
            }
            let leaks = seen(&mut t, &events);
            let leaks: Vec<_> = leaks.iter().filter(|text| text.contains("fish")).collect();
            assert!(leaks.is_empty(), "{line} ({source}): {leaks:#?}");
            let snapshot = t.cx().console_snapshot(source);
            let redacted = snapshot.redact(line);
            assert!(!redacted.contains("fish"), "{line}: {redacted}");
        }
    }
}

#[test]
fn words_too_many_are_part_of_a_secret() {
    keeps_the_secret(&[
        "set my.key sword fish",
        "set my.key sword fish again",
        "my.key sword fish",
        "my.first sword fish ada",
        "my.first sword fish ada 'and more'",
        "alias in my.login ada swordfish",
        "alias in 'my.login ada' swordfish",
        "alias in set my.key swordfish",
        "my.login ada sword;fish",
        "my.login ada sword;fish more;fish",
    ]);
}

#[test]
fn a_mistyped_command_may_take_secrets() {
    keeps_the_secret(&[
        "ste my.key swordfish",
        "nonsense my.key swordfish",
        "nonsense my.login ada swordfish",
        "alais in 'my.login ada swordfish'",
        "set my.kye swordfish",
        "alias in 'my.logni ada swordfish'",
        "my.echo my.login ada swordfish",
        "my.echo 'my.login ada swordfish'",
        "my.echo \"a; my.key swordfish\"",
    ]);
}

#[test]
fn an_alias_is_judged_through_the_whole_chain() {
    keeps_the_secret(&[
        "alias k 'set my.key'",
        "k swordfish",
        "alias kk k",
        "kk swordfish",
        "KK swordfish extra",
        "alias s set",
        "s my.key swordfish",
        "alias both 'help; kk'",
        "both swordfish",
        "alias mk 'alias'",
        "mk in 'my.login ada swordfish'",
        "alias kept 'k swordfish'",
        "kept",
        "alias",
        "help kept",
        "history",
    ]);
}

#[test]
fn an_alias_is_judged_when_it_is_used_and_not_when_it_is_set() {
    keeps_the_secret(&[
        "alias in later",
        "alias out 'later swordfish'",
        "alias later 'my.login ada'",
        "in swordfish",
        "out",
        "alias",
        "help out",
        "alias late 'my.late ada'",
        "alias lately 'my.late ada swordfish'",
        "my.registerlate",
        "late swordfish",
        "lately",
        "alias",
    ]);
}

#[test]
fn an_alias_of_the_same_line_is_judged() {
    keeps_the_secret(&[
        "alias in 'my.login ada'; in swordfish",
        "alias other 'in'; other swordfish",
        "alias in help; alias in 'my.login ada'; in swordfish",
        "alias mk \"alias new 'my.login ada'\"; mk; new swordfish",
        "my.registerlate; my.late ada swordfish",
        "wait 0; in swordfish",
        "exec nothing; in swordfish",
        "alias loop loop2; alias loop2 loop; loop swordfish",
        "alias a 'b;b'; alias b 'c;c'; alias c 'a;a'; a swordfish",
    ]);
}

#[test]
fn lines_that_come_together_are_judged_in_their_turn() {
    let _alone = alone();
    let mut t = TestWorld::new(Log::new());
    for line in ["alias in 'my.login ada'", "in swordfish", "nonsense"] {
        t.cx().queue_line(line, Source::Terminal, |_, _| ());
    }
    t.tick(0.1);
    let history = t.cx().console_history().clone();
    let history: Vec<&str> = history.lines().collect();
    assert_eq!(history, ["alias in 'my.login ada'", "in ***", "nonsense"]);
    assert_eq!(t.host, [SECRET]);
}

#[test]
fn a_secret_stays_one_when_its_command_is_gone() {
    let _alone = alone();
    let mut t = TestWorld::new(Log::new());
    t.cx().run_line("my.registeronce", Source::Local);
    let run = t
        .cx()
        .run_line("my.once swordfish; nonsense", Source::Local);
    assert!(
        run.text()
            .starts_with("my.once ***; nonsense\n             ^^^^^^^^ expected"),
        "{}",
        run.text()
    );
    let events = Events::default();
    let seen = seen(&mut t, &events);
    assert!(seen.iter().all(|text| !text.contains(SECRET)), "{seen:?}");
    assert_eq!(t.host, [SECRET]);
}

#[test]
fn a_type_that_quotes_a_secret_does_not_show_it() {
    keeps_the_secret(&[
        "my.code swordfish",
        "my.pass swordfish",
        "set my.pass swordfish",
    ]);
    let _alone = alone();
    let mut t = TestWorld::new(Log::new());
    let run = t.cx().run_line("my.code swordfish", Source::Local);
    assert_eq!(run.text(), "my.code ***\n        ^^^ code: expected code");
    t.cx()
        .set_var_text("My.Pass", SECRET, sc_console::SetBy::ConfigFile)
        .map_err(|error| assert!(!error.to_string().contains(SECRET)))
        .unwrap_err();
}

command! {
    /// Quotes its secret.
    My.Quotes [anytime] (
        /// The secret.
        #[secret]
        secret: String,
        /// How.
        how: String = "error".to_owned(),
    ) |cx: &mut Cx<'_, Log>, _out| {
        match how.as_str() {
            "panic" => panic!("not {secret}"),
            "later" => {
                let (latent, end) = sc_console::Latent::new();
                cx.host_mut().push("later".to_owned());
                end.finish(Err(format!("not {secret}")));
                Ok(latent)
            }
            _ => Err(format!("not {secret}"))?,
        }
    }
}

#[test]
fn an_error_that_quotes_a_secret_does_not_show_it() {
    keeps_the_secret(&[
        "my.quotes swordfish",
        "my.quotes swordfish panic",
        "my.quotes swordfish later; help",
        "help",
        "alias q my.quotes",
        "q swordfish",
        "q swordfish panic",
        "alias 'my.login ada swordfish' x",
        "help 'my.login ada swordfish'",
        "exec 'my.login ada swordfish'",
        "set 'my.login ada swordfish' x",
    ]);
    let _alone = alone();
    let mut t = TestWorld::new(Log::new());
    let run = t.cx().run_line("my.quotes swordfish", Source::Local);
    assert_eq!(run.text(), "`My.Quotes` failed: not ***");
}

command! {
    /// Quotes two secrets.
    My.Two [anytime] (
        /// One.
        #[secret]
        one: String,
        /// The other.
        #[secret]
        other: String,
    ) |_cx: &mut Cx<'_, Log>, _out| { Err(format!("{one}{other}"))?; Ok(()) }
}

#[test]
fn only_what_user_code_says_is_searched_for_secrets() {
    let _alone = alone();
    let mut t = TestWorld::new(Log::new());
    let folder = std::env::temp_dir().join(format!("sc-secrets-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("s1.cfg"), "my.quotes 1\n").unwrap();
    t.cx().console_settings().script_root = Some(folder.clone());
    let text = t.cx().run_line("exec s1", Source::Local).text();
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(text, "s1.cfg, line 1: `My.Quotes` failed: ***");
    for (line, text) in [
        ("my.quotes Quotes", "`My.Quotes` failed: not ***"),
        ("my.quotes panic panic", "`My.Quotes` panicked: not ***"),
    ] {
        assert_eq!(t.cx().run_line(line, Source::Local).text(), text);
    }
    t.cx().run_line("my.quotes Quotes later", Source::Local);
    t.tick(0.1);
    let (shown, _) = t.cx().console_output(0);
    assert_eq!(shown.last().unwrap().text, "`My.Quotes` failed: not ***");
}

#[test]
fn secrets_that_overlap_are_masked_whole() {
    let _alone = alone();
    let mut t = TestWorld::new(Log::new());
    for (line, text) in [
        // Where one letter is masked, the word around it would tell it.
        ("my.two a swordfash", "`My.Two` failed: ***"),
        ("my.two swordfash a", "`My.Two` failed: ***"),
        ("my.two swordf fash", "`My.Two` failed: ******"),
        ("my.two * swordfash", "`My.Two` failed: ***"),
        ("my.two aba baab", "`My.Two` failed: ***"),
    ] {
        assert_eq!(t.cx().run_line(line, Source::Local).text(), text, "{line}");
    }
}

#[test]
fn quotes_in_the_wrong_place_show_no_secret() {
    keeps_the_secret(&[
        "\"my.login ada swordfish\"",
        "\"my.login ada swordfish",
        "'my.key swordfish'",
        "\"my.logni ada swordfish\"",
        "help; \"my.key swordfish",
        "\"my.login ada\" swordfish",
        "'my.registerlate'; 'my.late ada swordfish'",
        "'set my.kye swordfish'",
        "my.login 'ada swordfish'",
        "my.login 'ada swordfish",
        "my.login \"ada sword fish\"",
        "set 'my.key swordfish'",
        "set 'my.kye swordfish",
        "alias 'in my.login ada swordfish'",
        "alias s 'my.login'; alias k 'set my.key'",
        "\"k swordfish\"",
        "\"s ada swordfish",
        "s 'ada swordfish",
        "my.login 'ada' \"sword\nfish\"",
        "my.login ada \"sword\nfish",
    ]);
}

#[test]
fn a_secret_that_begins_as_another_command_or_a_comment_is_not_shown() {
    keeps_the_secret(&[
        "my.key ;swordfish",
        "my.login ada ;swordfish",
        "my.login ada ;;sword;fish more fish",
        "my.key //swordfish",
        "my.login ada // swordfish",
        "my.login ada sword //fish",
        "my.key ;//swordfish",
        "my.login ada //swordfish\nhelp",
        "set my.key ;swordfish",
        "set my.key //swordfish",
        "alias k 'set my.key'",
        "k ;swordfish",
        "k //swordfish",
        "alias p 'my.key //swordfish'",
        "alias p my.key //swordfish",
        "alias p",
        "p",
    ]);
}

#[test]
fn a_masked_comment_stays_a_comment() {
    let _alone = alone();
    let mut t = TestWorld::new(Log::new());
    let snapshot = t.cx().console_snapshot(Source::Local);
    for (line, shown) in [
        ("my.login ada // swordfish ", "my.login ada // *** "),
        ("my.key //sword fish\nhelp", "my.key //***\nhelp"),
        ("my.key //", "my.key //"),
        // Were the mask a word, `a` would look like a command with a word of its own.
        ("alias k a // b", "alias k a // ***"),
    ] {
        assert_eq!(snapshot.redact(line), shown);
        assert_eq!(snapshot.redact(shown), shown);
    }
}

#[test]
fn surplus_words_of_what_takes_none_may_be_a_secret() {
    keeps_the_secret(&[
        "reset my.key swordfish",
        "help my.key swordfish",
        "help my.login ada swordfish",
        "reset my.kye swordfish",
        "history my.key swordfish",
        "clear my.login ada swordfish",
        "exec my.login ada swordfish",
        "find my.key swordfish",
        "wait my.key swordfish",
        "alias k 'set my.key'",
        "help k swordfish",
        "alias r reset",
        "r my.key swordfish",
    ]);
}

#[test]
fn a_long_line_is_judged_to_its_end() {
    let _alone = alone();
    let mut t = TestWorld::new(Log::new());
    for alias in ["alias y 'help'", "alias z 'my.login ada'"] {
        t.cx().run_line(alias, Source::Local);
    }
    for word in ["y ", "z ", "my.login ", "help ", "'a b' "] {
        for name in ["nonsense ", "my.echo ", "help ", "y "] {
            let line = format!("{name}{}", word.repeat(20_000));
            let redacted = t.cx().console_snapshot(Source::Local).redact(&line);
            assert!(redacted.starts_with(name), "{name}{word}");
        }
    }
}

#[test]
fn a_long_chain_of_aliases_is_judged_to_its_end() {
    let _alone = alone();
    let mut t = TestWorld::new(Log::new());
    for at in 0..200 {
        let line = format!("alias a{at} a{}", at + 1);
        t.cx().run_line(&line, Source::Local);
    }
    t.cx().run_line("alias a200 my.key", Source::Local);
    for _ in 0..10 {
        t.cx().run_line("alias b help", Source::Local);
        for source in [Source::Local, Source::Terminal, Source::Remote] {
            t.cx().console_snapshot(source);
        }
    }
    for name in ["a0", "a150", "a180", "a199"] {
        let run = t.cx().run_line(&format!("{name} swordfish"), Source::Local);
        assert!(!run.text().contains(SECRET), "{}", run.text());
        let history = t.cx().console_history().clone();
        assert_eq!(history.lines().next_back(), Some(&*format!("{name} ***")));
    }
}

#[test]
fn what_holds_no_secret_is_shown() {
    let _alone = alone();
    let mut t = TestWorld::new(Log::new());
    for line in [
        "alias on 'my.login ada'",
        "alias on",
        "help; hepl 'me please'",
        "my.echo my.login",
        "my.logni",
        "set my.key",
        "find 'my key'",
        "my.key; nonsense",
        "my.key ; help // nothing of it",
        "reset my.echo; find a; help my.key",
        "'find my key'",
    ] {
        t.cx().run_line(line, Source::Local);
        let history = t.cx().console_history().clone();
        assert_eq!(history.lines().next_back(), Some(line));
    }
    let run = t.cx().run_line("alias on", Source::Local);
    assert_eq!(run.text(), "on stands for: my.login ada");
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig {
        failure_persistence: None,
        ..proptest::prelude::ProptestConfig::default()
    })]

    /// Whatever chain of aliases leads to a secret, it is nowhere to be seen.
    #[test]
    fn no_chain_of_aliases_shows_a_secret(
        lines in proptest::collection::vec(chain_line(), 1..10),
    ) {
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        keeps_the_secret(&lines);
    }
}

/// A line that sets aliases, or uses one with the secret.
fn chain_line() -> impl proptest::strategy::Strategy<Value = String> {
    use proptest::prelude::*;
    let name = || prop::sample::select(vec!["a", "b", "c", "d"]);
    let target = || {
        prop::sample::select(vec![
            "a",
            "b",
            "c",
            "d",
            "my.login ada",
            "my.login",
            "set my.key",
            "my.key",
            "my.late ada",
            "my.first",
            "alias e",
            "help; a",
            "my.once",
        ])
    };
    // A secret is where a secret is due: behind what asks for one.
    let asks = || {
        prop::sample::select(vec![
            "my.login ada",
            "set my.key",
            "my.key",
            "my.late ada",
            "my.first",
        ])
    };
    let one = prop_oneof![
        4 => (name(), target()).prop_map(|(name, target)| format!("alias {name} '{target}'")),
        2 => (name(), asks()).prop_map(|(name, asks)| format!("alias {name} '{asks}'; {name} swordfish")),
        1 => (name(), asks()).prop_map(|(name, asks)| format!("alias {name} '{asks} swordfish'; {name}")),
        1 => (name(), asks()).prop_map(|(name, asks)| format!("alias {name} {asks} swordfish")),
        1 => (name(), name(), asks()).prop_map(|(a, b, asks)| {
            format!("alias {a} {b}; alias {b} '{asks}'; {a} swordfish extra")
        }),
        1 => Just("my.registerlate".to_owned()),
        1 => Just("alias; history; help a; find e".to_owned()),
        1 => name().prop_map(|name| format!("alias {name} \"\"")),
        // What is not there yet has no secret parameter.
        1 => prop::sample::select(vec!["my.login ada", "set my.key", "my.first"])
            .prop_map(|asks| format!("{asks} swordfish; nonsense")),
        // Quotes, comments and separators where none belong.
        2 => (name(), asks(), wrongly()).prop_map(|(name, asks, wrong)| {
            let alias = format!("alias {name} '{asks}'");
            format!("{alias}; {}", wrong.replace('?', name))
        }),
        2 => (prop::sample::select(vec!["my.login ada", "set my.key", "my.first"]), wrongly())
            .prop_map(|(asks, wrong)| wrong.replace('?', asks)),
    ];
    prop::collection::vec(one, 1..3).prop_map(|parts| parts.join("; "))
}

/// How what asks for a secret (`?`) is written by mistake.
fn wrongly() -> impl proptest::strategy::Strategy<Value = &'static str> {
    proptest::sample::select(vec![
        "'? swordfish'",
        "\"? swordfish\"",
        "? ;swordfish",
        "? //swordfish",
        "reset ? swordfish",
        "help ? swordfish",
        "help; '? swordfish'",
    ])
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

#[test]
fn a_secret_behind_a_line_break_or_glued_to_its_name_is_masked() {
    let _alone = alone();
    let mut t = TestWorld::new(Log::new());
    for (line, kept) in [
        ("my.pin\nswordfish", "my.pin; ***"),
        ("my.login ada ; swordfish", "my.login ada ; ***"),
        ("my.key=swordfish", "my.key=***"),
        ("MY.KEY:swordfish too", "MY.KEY:*** ***"),
        ("my.pin(swordfish)", "my.pin(***"),
        ("my.pin,swordfish", "my.pin,***"),
    ] {
        let run = t.cx().run_line(line, Source::Local);
        assert_eq!(run.outcome, LineOutcome::Failed, "{line}");
        assert!(!run.text().contains("swordfish"), "{}", run.text());
        assert_eq!(t.cx().console_history().lines().last(), Some(kept));
        let (shown, _) = t.cx().console_output(0);
        assert!(shown.iter().all(|line| !line.text.contains("swordfish")));
    }
    // What takes none is shown as it is.
    t.cx().run_line("help=x", Source::Local);
    assert_eq!(t.cx().console_history().lines().last(), Some("help=x"));
}

#[test]
fn the_mask_of_a_line_from_the_history_is_no_secret() {
    let _alone = alone();
    let mut t = TestWorld::new(Log::new());
    t.cx().run_line("my.key swordfish", Source::Local);
    let line = t.cx().console_history().lines().last().unwrap().to_owned();
    assert_eq!(line, "my.key ***");
    let run = t.cx().run_line(&line, Source::Local);
    assert_eq!(
        run.text(),
        "my.key ***\n       ^^^ *** stands for a secret that is kept nowhere: type it anew"
    );
    assert_eq!(t.cx().var(KEY), "swordfish");
}
