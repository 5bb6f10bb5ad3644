//! Secrets: which parts of a line hold one, and the line without them.
//!
//! Judged when a line is shown, by what its names mean then: an alias by what it leads to, through the
//! whole chain. Where that cannot be known, words are masked: a name that an earlier command of the line
//! may yet make known may take secrets.

use std::ops::Range;

use crate::arg::ArgError;
use crate::info::{EntryInfo, EntryKind, Origin, ParamInfo, Suggest};
use crate::name::fold;
use crate::parse::{CommandText, LineText, Shifts, parse_line};

/// What stands for a secret.
pub(crate) const MASK: &str = "***";

/// So many commands of a line and of what it leads to are looked at. Of more, every word is masked.
const LOOKED_AT: u32 = 500;

/// How the names of a line are known.
pub(crate) trait Known {
    /// The command or variable of a folded name.
    fn entry(&self, folded: &str) -> Option<&EntryInfo>;
    /// The line that an alias of a folded name stands for.
    fn alias(&self, folded: &str) -> Option<&str>;
    /// The nearest to a mistyped folded name, among aliases and what may take secrets.
    fn nearest(&self, folded: &str) -> Option<&str>;
}

/// The line with every secret masked, and where its places are now.
pub(crate) fn redact(line: &str, known: &impl Known) -> (String, Shifts) {
    mask(line, secrets(&parse_line(line), known))
}

/// The bytes of a line that hold secrets.
pub(crate) fn secrets(line: &LineText, known: &impl Known) -> Vec<Range<usize>> {
    Judge::new(known).line(&line.commands)
}

/// A line with some of its bytes masked. They may overlap.
pub(crate) fn mask(line: &str, mut parts: Vec<Range<usize>>) -> (String, Shifts) {
    if parts.is_empty() {
        return (line.to_owned(), Shifts::default());
    }
    parts.sort_unstable_by_key(|part| (part.start, part.end));
    parts.dedup_by(|later, earlier| {
        let overlap = later.start < earlier.end;
        if overlap {
            earlier.end = earlier.end.max(later.end);
        }
        overlap
    });
    Shifts::replace(line, &parts, MASK)
}

/// Which words of a command hold a secret.
pub(crate) fn secret_words(command: &CommandText, known: &impl Known) -> Vec<bool> {
    Judge::new(known).words(&command.name.text, &texts(command))
}

/// The bytes of an alias's line that hold secrets: what it names and is not known yet may come to take
/// some.
pub(crate) fn secrets_of_alias(line: &LineText, known: &impl Known) -> Vec<Range<usize>> {
    let mut judge = Judge::new(known);
    judge.names_unsure = true;
    judge.line(&line.commands)
}

/// Whether words put at the end of a line may hold secrets.
pub(crate) fn takes_secrets(line: &str, known: &impl Known) -> bool {
    let mut judge = Judge::new(known);
    judge.through_alias(line, &["", "", "", ""]).contains(&true)
}

/// Whether a parameter's words have to be looked at.
pub(crate) fn is_delicate(param: &ParamInfo) -> bool {
    param.secret || matches!(param.suggest, Suggest::ValuesOfVariable | Suggest::Line)
}

/// Why a word was refused, without the word: its type may have quoted it.
pub(crate) fn refusal(param: &ParamInfo, word: &str, error: ArgError) -> ArgError {
    if !param.secret {
        return error;
    }
    let quoted = !word.is_empty() && error.expected.contains(word);
    ArgError::expected(match quoted {
        true => param.type_name.clone(),
        false => error.expected,
    })
}

fn texts(command: &CommandText) -> Vec<&str> {
    command.args.iter().map(|word| word.text.as_str()).collect()
}

/// What a name means.
enum Meant<'k> {
    Entry(&'k EntryInfo),
    Alias(String),
    Nothing,
}

/// Goes through a line and what it leads to, and notes what changes on the way.
struct Judge<'k, K> {
    known: &'k K,
    /// Aliases that earlier commands make, the last one last: folded name and line.
    made: Vec<(String, String)>,
    /// An earlier command may have made names that are not known.
    names_unsure: bool,
    /// An earlier command may have made other aliases.
    aliases_unsure: bool,
    left: u32,
}

impl<'k, K: Known> Judge<'k, K> {
    fn new(known: &'k K) -> Self {
        Judge {
            known,
            made: Vec::new(),
            names_unsure: false,
            aliases_unsure: false,
            left: LOOKED_AT,
        }
    }

    fn meant(&self, name: &str) -> Meant<'k> {
        let folded = fold(name);
        if let Some(entry) = self.known.entry(&folded) {
            return Meant::Entry(entry);
        }
        let made = self.made.iter().rev().find(|(name, _)| *name == folded);
        let made = made.map(|(_, line)| line.as_str());
        match made.or_else(|| self.known.alias(&folded)) {
            Some(line) if !line.trim().is_empty() => Meant::Alias(line.to_owned()),
            _ => Meant::Nothing,
        }
    }

    fn line(&mut self, commands: &[CommandText]) -> Vec<Range<usize>> {
        let mut parts: Vec<Range<usize>> = Vec::new();
        for command in commands {
            let mut flags = self.words(&command.name.text, &texts(command));
            // What stands right behind a secret and is no name may be the rest of it, cut off by a `;`.
            let is_cut_off = parts
                .last()
                .is_some_and(|part| part.end + 1 == command.name.span.start);
            if is_cut_off && matches!(self.meant(&command.name.text), Meant::Nothing) {
                parts.push(command.name.span.clone());
                flags.fill(true);
            }
            let masked = command.args.iter().zip(&flags).filter(|(_, flag)| **flag);
            parts.extend(masked.map(|(word, _)| word.span.clone()));
            self.after(&command.name.text, &texts(command));
        }
        parts
    }

    /// Which words of a command hold a secret.
    fn words(&mut self, name: &str, args: &[&str]) -> Vec<bool> {
        let Some(left) = self.left.checked_sub(1) else {
            return vec![true; args.len()];
        };
        self.left = left;
        match self.meant(name) {
            Meant::Entry(entry) => self.of_entry(entry, args),
            Meant::Alias(_) if self.aliases_unsure => vec![true; args.len()],
            Meant::Alias(line) => self.through_alias(&line, args),
            Meant::Nothing => self.of_unknown(name, args),
        }
    }

    /// Which words hold a secret when they are put at the end of a line.
    fn through_alias(&mut self, line: &str, args: &[&str]) -> Vec<bool> {
        let commands = parse_line(line).commands;
        let Some((last, before)) = commands.split_last() else {
            return vec![true; args.len()];
        };
        for command in before {
            self.after(&command.name.text, &texts(command));
        }
        let mut all = texts(last);
        all.extend(args);
        // What it leads to may not be known yet.
        let before = std::mem::replace(&mut self.names_unsure, true);
        let mut flags = self.words(&last.name.text, &all);
        self.names_unsure = before;
        flags.drain(..last.args.len().min(flags.len()));
        flags
    }

    fn of_entry(&mut self, entry: &EntryInfo, args: &[&str]) -> Vec<bool> {
        let mut flags = Vec::with_capacity(args.len());
        let last = entry.params.len().saturating_sub(1);
        let is_variadic = entry.params.last().is_some_and(|param| param.variadic);
        for (index, word) in args.iter().enumerate() {
            // A word too many belongs to the last parameter, as far as secrets go.
            let at = index.min(last);
            let flag = match entry.params.get(at) {
                Some(param) if param.secret => true,
                Some(param) if param.suggest == Suggest::ValuesOfVariable => {
                    let name = at.checked_sub(1).and_then(|at| args.get(at));
                    name.is_some_and(|name| self.is_secret_variable(name))
                }
                Some(param) if param.suggest == Suggest::Line => {
                    // Without quotes around it, the line is all that follows.
                    let line = args.get(at..).unwrap_or_default().join(" ");
                    let holds = self.holds_secrets(&line);
                    flags.resize(args.len(), holds);
                    return flags;
                }
                _ => self.quotes_secrets(word),
            };
            flags.push(flag);
        }
        // With words too many nobody knows where a secret begins or ends.
        if args.len() > entry.params.len() && !is_variadic {
            let from = flags.iter().position(|&flag| flag);
            let rest = from.and_then(|from| flags.get_mut(from..));
            rest.unwrap_or_default().fill(true);
        }
        if is_variadic {
            self.of_words(args, last, &mut flags);
        }
        flags
    }

    /// Words in a row, from one on, may be a command themselves.
    fn of_words(&mut self, args: &[&str], from: usize, flags: &mut [bool]) {
        for at in from..args.len() {
            let (Some(name), Some(rest)) = (args.get(at), args.get(at + 1..)) else {
                return;
            };
            let takes = match self.meant(name) {
                Meant::Entry(entry) => entry.params.iter().any(is_delicate),
                Meant::Alias(_) => true,
                Meant::Nothing => false,
            };
            if takes {
                let of_rest = self.words(name, rest);
                let places = flags.iter_mut().skip(at + 1);
                places.zip(of_rest).for_each(|(flag, found)| *flag |= found);
            }
        }
    }

    /// A mistyped name: if what was meant takes secrets, all its words may be one.
    fn of_unknown(&mut self, name: &str, args: &[&str]) -> Vec<bool> {
        let mut flags = vec![self.names_unsure; args.len()];
        if self.names_unsure || args.is_empty() {
            return flags;
        }
        if let Some(near) = self.known.nearest(&fold(name)) {
            let has_secret = |entry: &EntryInfo| entry.params.iter().any(|param| param.secret);
            let takes = self.known.entry(near).is_some_and(has_secret);
            if takes || self.words(near, args).contains(&true) {
                flags.fill(true);
            }
        }
        self.of_words(args, 0, &mut flags);
        flags
    }

    fn is_secret_variable(&self, name: &str) -> bool {
        let folded = fold(name);
        let known = self.known;
        let is_secret = |entry: &EntryInfo| entry.is_secret(0);
        match known.entry(&folded) {
            Some(entry) => is_secret(entry),
            None => {
                let near = known.nearest(&folded);
                let near = near.and_then(|near| known.entry(near));
                self.names_unsure || near.is_some_and(is_secret)
            }
        }
    }

    /// Whether a line that is kept for later holds secrets: what it names may be known by then.
    fn holds_secrets(&mut self, line: &str) -> bool {
        let before = (self.names_unsure, self.aliases_unsure, self.made.len());
        self.names_unsure = true;
        let parts = self.line(&parse_line(line).commands);
        (self.names_unsure, self.aliases_unsure) = (before.0, before.1);
        self.made.truncate(before.2);
        !parts.is_empty()
    }

    /// Whether a word with blanks in it is a line that holds secrets, as far as its names are known.
    fn quotes_secrets(&mut self, word: &str) -> bool {
        if !word.contains(|c: char| c.is_whitespace() || c == ';') {
            return false;
        }
        let before = self.names_unsure;
        self.names_unsure = false;
        let mut holds = false;
        for command in parse_line(word).commands {
            if !matches!(self.meant(&command.name.text), Meant::Nothing) {
                let flags = self.words(&command.name.text, &texts(&command));
                holds |= flags.contains(&true);
            }
        }
        self.names_unsure = before;
        holds
    }

    /// Notes what a command changes for those behind it.
    fn after(&mut self, name: &str, args: &[&str]) {
        let Some(left) = self.left.checked_sub(1) else {
            (self.names_unsure, self.aliases_unsure) = (true, true);
            return;
        };
        self.left = left;
        match self.meant(name) {
            Meant::Entry(entry) if entry.origin == Origin::BuiltIn => {
                let gives_name = entry.params.iter().any(|p| p.suggest == Suggest::Line);
                if let (true, [name, line, ..]) = (gives_name, args) {
                    self.made.push((fold(name), (*line).to_owned()));
                }
                match entry.folded.as_str() {
                    // Whatever runs meanwhile may make names.
                    "exec" | "wait" => (self.names_unsure, self.aliases_unsure) = (true, true),
                    // And so may callbacks of variables.
                    "set" | "reset" => self.names_unsure = true,
                    _ => {}
                }
            }
            Meant::Entry(entry) => {
                let shows = entry.kind == EntryKind::Variable && args.is_empty();
                self.names_unsure |= !shows;
            }
            Meant::Alias(line) => {
                let commands = parse_line(&line).commands;
                let Some((last, before)) = commands.split_last() else {
                    return;
                };
                for command in before {
                    self.after(&command.name.text, &texts(command));
                }
                let mut all = texts(last);
                all.extend(args);
                self.after(&last.name.text, &all);
            }
            Meant::Nothing => self.names_unsure = true,
        }
    }
}
