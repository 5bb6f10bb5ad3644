//! Secrets: which parts of a line hold one, and the line without them.
//!
//! Judged when a line is shown, by what its names mean then: an alias by what it leads to, through the
//! whole chain. Where that cannot be known, words are masked: a name that an earlier command of the line
//! may yet make known may take secrets.

use std::ops::Range;

use crate::arg::{ArgError, TakeError};
use crate::command::param_refusal;
use crate::info::{EntryInfo, EntryKind, Origin, ParamInfo, Suggest};
use crate::name::fold;
use crate::parse::{CommandText, Shifts, Word, parse_line};
use crate::run::DEEPEST;
use crate::snapshot::may_take_secrets;

/// What stands for a secret.
pub(crate) const MASK: &str = "***";

/// So many commands of a line and of what it leads to are looked at, those of many words counted as
/// several. Of more, every word is masked.
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
    mask(line, secrets(line, &parse_line(line).commands, known))
}

/// As [`redact`], of a line before which others may make names and aliases.
#[cfg(feature = "terminal")]
pub(crate) fn redact_unsure(line: &str, known: &impl Known) -> String {
    let mut judge = Judge::new(known);
    (judge.names_unsure, judge.aliases_unsure) = (true, true);
    mask(line, judge.line(line, &parse_line(line).commands)).0
}

/// The bytes of a line that hold secrets.
pub(crate) fn secrets(
    text: &str,
    commands: &[CommandText],
    known: &impl Known,
) -> Vec<Range<usize>> {
    Judge::new(known).line(text, commands)
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
pub(crate) fn secrets_of_alias(text: &str, known: &impl Known) -> Vec<Range<usize>> {
    let mut judge = Judge::new(known);
    judge.names_unsure = true;
    judge.line(text, &parse_line(text).commands)
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

/// Why a word was refused: with what is allowed, if that is a range; and of a secret without the word, which its
/// type may have quoted.
pub(crate) fn refusal(param: &ParamInfo, word: &str, error: ArgError) -> ArgError {
    if param.range.is_some() {
        return param_refusal(param, TakeError::OutOfRange);
    }
    if !param.secret {
        return error;
    }
    let holds = |word: &str| error.expected.contains(word);
    let quoted = !word.is_empty() && (holds(word) || holds(&word.escape_debug().to_string()));
    ArgError::expected(match quoted {
        true => param.type_name.clone(),
        false => error.expected,
    })
}

fn texts(command: &CommandText) -> Vec<&str> {
    command.args.iter().map(|word| word.text.as_str()).collect()
}

/// What looking at a command takes of what may be looked at.
fn cost(args: &[&str]) -> u32 {
    u32::try_from(1 + args.len() / 100).unwrap_or(u32::MAX)
}

fn is_blank(c: char) -> bool {
    c.is_whitespace() || c == ';'
}

fn has_blanks(word: &str) -> bool {
    word.contains(is_blank)
}

/// What the first comment between two commands says, if it is on the line of the one before. Masked without its
/// `//`, it stays a comment: as a word, the mask would be one more for that command.
fn comment(text: &str, between: Range<usize>) -> Option<Range<usize>> {
    let rest = text.get(between.clone())?.lines().next()?;
    let (before, says) = rest.split_once("//")?;
    let said = says.trim();
    let at = between.start + before.len() + 2 + says.find(said)?;
    (!said.is_empty()).then(|| at..at + said.len())
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
    /// How many aliases have led here.
    depth: usize,
}

impl<'k, K: Known> Judge<'k, K> {
    fn new(known: &'k K) -> Self {
        Judge {
            known,
            made: Vec::new(),
            names_unsure: false,
            aliases_unsure: false,
            left: LOOKED_AT,
            depth: 0,
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

    fn line(&mut self, text: &str, commands: &[CommandText]) -> Vec<Range<usize>> {
        let mut parts: Vec<Range<usize>> = Vec::new();
        for (at, command) in commands.iter().enumerate() {
            let (name, args) = (&command.name, texts(command));
            let mut flags = self.words(&name.text, &args);
            // What stands right behind a secret and is no name may be the rest of it, cut off by a `;`;
            // and behind what a secret is missing from, all of it.
            let is_cut_off = parts.last().is_some_and(|p| p.end + 1 == name.span.start)
                && matches!(self.meant(&name.text), Meant::Nothing);
            let before = at.checked_sub(1).and_then(|at| commands.get(at));
            if is_cut_off || before.is_some_and(|before| self.is_missing(text, before, name)) {
                parts.push(name.span.clone());
                flags.fill(true);
            } else if name.quoted && has_blanks(&name.text) && self.is_line_with_secrets(&name.text)
            {
                parts.push(name.span.clone());
            } else if let Some(glued) = self.glued(name) {
                parts.push(glued);
                flags.fill(true);
            }
            let masked = command.args.iter().zip(&flags).filter(|(_, flag)| **flag);
            parts.extend(masked.map(|(word, _)| word.span.clone()));
            // A comment there may be one, too.
            let next = commands
                .get(at + 1)
                .map_or(text.len(), |c| c.name.span.start);
            let end = command.args.last().unwrap_or(name).span.end;
            if let Some(comment) = comment(text, end..next)
                && (flags.last() == Some(&true) || self.asks_for_more(command))
            {
                parts.push(comment);
            }
            if at + 1 < commands.len() {
                self.after(&name.text, &args);
            }
        }
        parts
    }

    /// Whether a name that is none stands where the secret of the command before it is missing: only a line break,
    /// or a `;` right before it, makes it one; or that command cannot do without it.
    fn is_missing(&mut self, text: &str, before: &CommandText, name: &Word) -> bool {
        if !matches!(self.meant(&name.text), Meant::Nothing) {
            return false;
        }
        let end = before.args.last().unwrap_or(&before.name).span.end;
        let between = text.get(end..name.span.start).unwrap_or_default();
        let is_near = between.ends_with(';') || between.contains('\n');
        let needs = match self.meant(&before.name.text) {
            Meant::Entry(entry) => {
                let mut missing = entry.params.iter().skip(before.args.len());
                missing.any(|param| is_delicate(param) && !param.optional)
            }
            _ => false,
        };
        needs || is_near && self.asks_for_more(before)
    }

    /// What is glued to the name of something that takes secrets, as one writes it elsewhere: `Safe.Key=word`.
    fn glued(&self, name: &Word) -> Option<Range<usize>> {
        let glue = |byte: u8| matches!(byte, b'=' | b':' | b'(' | b',');
        let at = name.text.bytes().position(glue)?;
        if !matches!(self.meant(&name.text), Meant::Nothing) {
            return None;
        }
        let takes_secrets = match self.meant(name.text.get(..at)?) {
            Meant::Entry(entry) => may_take_secrets(entry),
            Meant::Alias(_) => true,
            Meant::Nothing => false,
        };
        // With quotes in it, where in the line that is, is not known.
        let from = if name.quoted { 0 } else { at + 1 };
        takes_secrets.then_some(name.span.start + from..name.span.end)
    }

    /// Whether a word more would be a secret.
    fn asks_for_more(&mut self, command: &CommandText) -> bool {
        let mut args = texts(command);
        args.push("?");
        self.words(&command.name.text, &args).last() == Some(&true)
    }

    /// Whether a name with blanks in it is a line that holds secrets: quotes stand around all of it.
    fn is_line_with_secrets(&mut self, line: &str) -> bool {
        let (unsure, made) = ((self.names_unsure, self.aliases_unsure), self.made.len());
        let parts = self.line(line, &parse_line(line).commands);
        (self.names_unsure, self.aliases_unsure) = unsure;
        self.made.truncate(made);
        !parts.is_empty()
    }

    /// Which words of a command hold a secret.
    fn words(&mut self, name: &str, args: &[&str]) -> Vec<bool> {
        if args.is_empty() {
            return Vec::new();
        }
        let Some(left) = self.left.checked_sub(cost(args)) else {
            self.left = 0;
            return vec![true; args.len()];
        };
        self.left = left;
        match self.meant(name) {
            Meant::Entry(entry) => self.of_entry(entry, args),
            Meant::Alias(_) if self.aliases_unsure => vec![true; args.len()],
            Meant::Alias(line) => self.through_alias(&line, args),
            // A line, in quotes.
            Meant::Nothing if has_blanks(name) => self.through_alias(name, args),
            Meant::Nothing => self.of_unknown(name, args),
        }
    }

    /// Which words hold a secret when they are put at the end of a line.
    fn through_alias(&mut self, line: &str, args: &[&str]) -> Vec<bool> {
        let commands = parse_line(line).commands;
        let last = commands.split_last();
        let Some((last, before)) = last.filter(|_| self.depth < DEEPEST) else {
            return vec![true; args.len()];
        };
        self.depth += 1;
        for command in before {
            self.after(&command.name.text, &texts(command));
        }
        let mut all = texts(last);
        all.extend(args);
        // What it leads to may not be known yet.
        let before = std::mem::replace(&mut self.names_unsure, true);
        let mut flags = self.words(&last.name.text, &all);
        self.names_unsure = before;
        self.depth -= 1;
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
        self.of_quoted(entry, args, &mut flags);
        // With words too many nobody knows where a secret begins or ends. They may be a command, too.
        if args.len() > entry.params.len() && !is_variadic {
            if let Some((name, rest)) = args.split_first() {
                // As far as names are known.
                let before = std::mem::replace(&mut self.names_unsure, false);
                let of_rest = self.words(name, rest);
                self.names_unsure = before;
                let places = flags.iter_mut().skip(1);
                places.zip(of_rest).for_each(|(flag, found)| *flag |= found);
            }
            let from = flags.iter().position(|&flag| flag);
            let rest = from.and_then(|from| flags.get_mut(from..));
            rest.unwrap_or_default().fill(true);
        }
        if is_variadic {
            self.of_words(args, last, &mut flags);
        }
        flags
    }

    /// Where a secret is missing, a word with blanks in it may hold it: the quotes are in the wrong place.
    fn of_quoted(&mut self, entry: &EntryInfo, args: &[&str], flags: &mut [bool]) {
        if !entry.params.iter().skip(args.len()).any(is_delicate) {
            return;
        }
        for (at, flag) in flags.iter_mut().enumerate() {
            let (before, word) = (args.get(..at), args.get(at));
            if let (Some(before), Some(word)) = (before, word)
                && !*flag
                && has_blanks(word)
            {
                let pieces = word.split(is_blank).filter(|piece| !piece.is_empty());
                let apart: Vec<&str> = before.iter().copied().chain(pieces).collect();
                let found = self.words(&entry.folded, &apart);
                *flag = found.get(at..).unwrap_or_default().contains(&true);
            }
        }
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
                if self.left == 0 {
                    // All that follows is masked.
                    return;
                }
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
        let parts = self.line(line, &parse_line(line).commands);
        (self.names_unsure, self.aliases_unsure) = (before.0, before.1);
        self.made.truncate(before.2);
        !parts.is_empty()
    }

    /// Whether a word with blanks in it is a line that holds secrets, as far as its names are known.
    fn quotes_secrets(&mut self, word: &str) -> bool {
        if !has_blanks(word) {
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
        let Some(left) = self.left.checked_sub(cost(args)) else {
            (self.names_unsure, self.aliases_unsure) = (true, true);
            self.left = 0;
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
                if self.depth >= DEEPEST {
                    (self.names_unsure, self.aliases_unsure) = (true, true);
                    return;
                }
                self.depth += 1;
                for command in before {
                    self.after(&command.name.text, &texts(command));
                }
                let mut all = texts(last);
                all.extend(args);
                self.after(&last.name.text, &all);
                self.depth -= 1;
            }
            Meant::Nothing => self.names_unsure = true,
        }
    }
}
