//! Secrets: which parts of a line hold one, and the line without them.

use std::ops::Range;

use crate::info::{EntryInfo, Suggest};
use crate::name::fold;
use crate::parse::{CommandText, LineText, Shifts, Word, parse_line};

/// What stands for a secret.
pub(crate) const MASK: &str = "***";

/// How the entries of a line are known: by folded name, and the nearest one to a mistyped name.
pub(crate) trait Known {
    fn entry(&self, folded: &str) -> Option<&EntryInfo>;
    fn nearest(&self, folded: &str) -> Option<&EntryInfo>;
}

/// The line with every secret masked, and where its places are now.
pub(crate) fn redact(line: &str, known: &impl Known) -> (String, Shifts) {
    redact_parsed(line, &parse_line(line), known)
}

/// As [`redact`], of a line that was parsed already.
pub(crate) fn redact_parsed(line: &str, parsed: &LineText, known: &impl Known) -> (String, Shifts) {
    let parts = secrets(parsed, known);
    if parts.is_empty() {
        return (line.to_owned(), Shifts::default());
    }
    Shifts::replace(line, &parts, MASK)
}

/// Whether a line holds a secret, or would if it were given more words.
pub(crate) fn takes_secrets(line: &str, known: &impl Known) -> bool {
    let of = |command: &CommandText| match known.entry(&fold(&command.name.text)) {
        Some(entry) => {
            entry.params.iter().any(|param| param.secret) || !args(command, entry, known).is_empty()
        }
        None => !args_of_unknown(command, known).is_empty(),
    };
    parse_line(line).commands.iter().any(of)
}

fn secrets(line: &LineText, known: &impl Known) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    for command in &line.commands {
        match known.entry(&fold(&command.name.text)) {
            Some(entry) => parts.extend(args(command, entry, known)),
            None => parts.extend(args_of_unknown(command, known)),
        }
    }
    parts
}

fn args(command: &CommandText, entry: &EntryInfo, known: &impl Known) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    for (index, word) in command.args.iter().enumerate() {
        // A word too many belongs to the last parameter, as far as secrets go.
        let param = entry.param(index).or(entry.params.last());
        let secret = match param {
            Some(param) if param.secret => true,
            Some(param) if param.suggest == Suggest::ValuesOfVariable => {
                let earlier = index.checked_sub(1).and_then(|at| command.args.get(at));
                earlier.is_some_and(|name| is_secret_variable(name, known))
            }
            Some(param) if param.suggest == Suggest::Line => takes_secrets(&word.text, known),
            _ => false,
        };
        if secret {
            parts.push(word.span.clone());
        }
    }
    parts
}

fn is_secret_variable(name: &Word, known: &impl Known) -> bool {
    let folded = fold(&name.text);
    let entry = known.entry(&folded).or_else(|| known.nearest(&folded));
    entry.is_some_and(|entry| entry.is_secret(0))
}

/// A mistyped name: if what was meant takes secrets, all its words may be one.
fn args_of_unknown(command: &CommandText, known: &impl Known) -> Vec<Range<usize>> {
    let meant = known.nearest(&fold(&command.name.text));
    let secret = meant.is_some_and(|entry| entry.params.iter().any(|param| param.secret));
    let words = command.args.iter().filter(|_| secret);
    words.map(|word| word.span.clone()).collect()
}
