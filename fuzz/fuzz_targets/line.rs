//! Fuzz target: arbitrary text as a console line. Parsing is total and stable, completion replaces whole
//! characters, running the line never panics, and what a command got as a secret is shown nowhere.
#![no_main]
#![forbid(unsafe_code)]

use libfuzzer_sys::fuzz_target;
use sc_console::{ConsoleExt, LineText, Source, VariableExt, command, parse_line, variable};
use sc_core::{Cx, Runtime, WorldKind};

command! {
    /// Takes words of every kind.
    Fuzz.Words [anytime] (
        /// A number.
        number: f64,
        /// A secret.
        #[secret]
        secret: String,
        /// The rest.
        rest: Vec<i8>,
    ) |cx: &mut Cx<'_, Vec<String>>, out| {
        writeln!(out, "{number} {} {}", secret.len(), rest.len())?;
        cx.host_mut().push(secret);
        Ok(())
    }
}

variable! {
    /// A value.
    VALUE = Fuzz.Value: i32 = 0, range -100..=100
}

fuzz_target!(|text: &str| check(text));

fn words(line: &LineText) -> Vec<Vec<&str>> {
    line.commands
        .iter()
        .map(|command| {
            let args = command.args.iter().map(|word| word.text.as_str());
            std::iter::once(command.name.text.as_str())
                .chain(args)
                .collect()
        })
        .collect()
}

fn check(text: &str) {
    let parsed = parse_line(text);
    let mut end = 0;
    for command in &parsed.commands {
        for word in std::iter::once(&command.name).chain(&command.args) {
            assert!(word.span.start >= end && word.span.start < word.span.end);
            assert!(text.get(word.span.clone()).is_some());
            end = word.span.end;
        }
    }
    for error in &parsed.errors {
        assert!(
            text.get(error.span.clone())
                .is_some_and(|bad| !bad.is_empty())
        );
        assert!(error.render(text).lines().count() == 2);
    }
    let again = parsed.to_string();
    let again = parse_line(&again);
    assert!(again.errors.is_empty());
    assert_eq!(words(&again), words(&parsed));

    let (mut rt, mut host) = (Runtime::<Vec<String>>::new(), Vec::new());
    rt.set_report_handler(|_| ());
    let mut cx = rt.cx(&mut host);
    cx.create_world(WorldKind::Game)
        .expect("a fresh runtime can create a world");
    let snapshot = cx.console_snapshot(Source::Local);
    for caret in (0..=text.len()).take(64) {
        let found = snapshot.complete(text, caret);
        assert!(text.get(found.span.clone()).is_some());
        for candidate in found.candidates.iter().take(8) {
            let mut line = text.to_owned();
            line.replace_range(found.span.clone(), &candidate.insert);
        }
    }
    let mut shown = vec![snapshot.redact(text)];

    let run = cx.run_line(text, Source::Local);
    assert!(run.output.iter().all(|line| !line.text.contains('\n')));
    assert!((-100..=100).contains(&cx.var(VALUE)));
    for _ in 0..3 {
        rt.tick_secs(&mut host, 0.1).expect("a frame");
    }
    let mut cx = rt.cx(&mut host);
    shown.extend(cx.console_output(0).0.into_iter().map(|line| line.text));
    shown.extend(cx.console_history().lines().map(str::to_owned));
    for secret in host.iter().filter(|secret| is_telling(text, secret)) {
        for shown in &shown {
            assert!(!shown.contains(secret.as_str()), "{secret:?} in {shown:?}");
        }
    }
}

/// Whether a secret is a word that stands nowhere else in the text, nor in what the console says of itself.
fn is_telling(text: &str, secret: &str) -> bool {
    secret.chars().count() >= 6
        && secret.chars().any(|c| c.is_ascii_digit())
        && text.matches(secret).count() == 1
}
