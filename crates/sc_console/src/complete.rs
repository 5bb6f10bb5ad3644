//! Completion: what could stand where the caret is. Pure: a function of a snapshot, a line and a
//! caret.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::Arc;

use nucleo_matcher::{Config, Matcher, Utf32Str};

use crate::info::{EntryInfo, EntryKind, ParamInfo, Suggest};
use crate::name::fold;
use crate::parse::{CommandText, Word, parse_line, quote};
use crate::snapshot::ConsoleSnapshot;

/// One thing that could stand there.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Candidate {
    /// What replaces the span, quoted if need be.
    pub insert: String,
    /// What a menu shows.
    pub label: String,
    /// The first line of its text.
    pub about: String,
    /// It is a group of names: there is more to complete behind it.
    pub group: bool,
}

/// What could stand where the caret is.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Completions {
    /// The bytes of the line that a candidate replaces: the word at the caret, and nothing else.
    pub span: Range<usize>,
    /// The candidates, in the order to show.
    pub candidates: Vec<Candidate>,
    /// A function over the live game has more:
    /// [`ConsoleExt::complete_line`](crate::ConsoleExt::complete_line) asks it.
    pub live: bool,
}

/// So many fuzzy matches are shown.
const FUZZY: usize = 50;

/// The word at the caret.
pub(crate) struct Place<'l> {
    /// Its command, if it is no command's name itself.
    command: Option<&'l CommandText>,
    /// Which argument it is.
    pub(crate) argument: usize,
    /// What is typed of it, up to the caret.
    pub(crate) typed: String,
    pub(crate) span: Range<usize>,
}

impl Place<'_> {
    fn of<'l>(commands: &'l [CommandText], line: &str, caret: usize) -> Option<Place<'l>> {
        let caret = line.floor_char_boundary(caret.min(line.len()));
        let before = line.get(..caret).unwrap_or(line);
        // What stands before the caret says what is being typed: parsed by itself, so that a
        // separator or a comment before it counts, and a quote may be open.
        let head = parse_line(&format!("{before}\u{1}"));
        let at = head.commands.len().checked_sub(1)?;
        let last = head.commands.get(at)?;
        let word = last.args.last().unwrap_or(&last.name);
        let typed = word.text.strip_suffix('\u{1}')?.to_owned();
        let start = word.span.start;
        // The word may go on behind the caret.
        let whole = |word: &&Word| word.span.start == start;
        let words = commands
            .iter()
            .flat_map(|c| std::iter::once(&c.name).chain(&c.args));
        let end = words
            .into_iter()
            .find(whole)
            .map_or(caret, |word| word.span.end.max(caret));
        let is_name = last.args.is_empty();
        Some(Place {
            command: if is_name { None } else { commands.get(at) },
            argument: last.args.len().saturating_sub(1),
            typed,
            span: start..end,
        })
    }
}

impl ConsoleSnapshot {
    /// What could stand at the caret, a byte offset into the line: names (their groups step by step,
    /// then whatever is like what is typed), values of arguments, variables and aliases. A caret
    /// beyond the line is at its end.
    ///
    /// ```
    /// use sc_console::{ConsoleExt, Source};
    /// # use sc_core::Runtime;
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// let snapshot = cx.console_snapshot(Source::Local);
    /// # #[cfg(feature = "commands")] {
    /// let completions = snapshot.complete("help; sc.", 9);
    /// assert_eq!(completions.span, 6..9);
    /// assert_eq!(completions.candidates[0].insert, "SC.Console.");
    /// # }
    /// ```
    #[must_use]
    pub fn complete(&self, line: &str, caret: usize) -> Completions {
        let parsed = parse_line(line);
        let Some(place) = Place::of(&parsed.commands, line, caret) else {
            return Completions::default();
        };
        let mut live = false;
        let candidates = match place.command {
            None => self.names(&place.typed, |_| true),
            Some(command) => match self.param_at(command, place.argument) {
                Some(param) => {
                    live = is_live(param);
                    self.argument(command, param, &place)
                }
                None => Vec::new(),
            },
        };
        Completions {
            span: place.span,
            candidates,
            live,
        }
    }

    fn param_at(&self, command: &CommandText, argument: usize) -> Option<&ParamInfo> {
        self.get(&command.name.text)?.param(argument)
    }

    /// Which live suggestions to ask for: of which command, for which parameter, with what typed.
    pub(crate) fn live_at(&self, line: &str, caret: usize) -> Option<(&EntryInfo, usize, String)> {
        let parsed = parse_line(line);
        let place = Place::of(&parsed.commands, line, caret)?;
        let entry = self.get(&place.command?.name.text)?;
        let last = entry.params.len().checked_sub(1)?;
        let at = place.argument.min(last);
        is_live(entry.param(place.argument)?).then_some((entry, at, place.typed))
    }

    fn argument(
        &self,
        command: &CommandText,
        param: &ParamInfo,
        place: &Place<'_>,
    ) -> Vec<Candidate> {
        match param.suggest {
            _ if param.secret => Vec::new(),
            Suggest::Values | Suggest::Live => values_of(param, &place.typed),
            Suggest::Names => self.names(&place.typed, |_| true),
            Suggest::Variables => {
                self.names(&place.typed, |entry| entry.kind == EntryKind::Variable)
            }
            Suggest::Aliases => self.names(&place.typed, |entry| entry.kind == EntryKind::Alias),
            Suggest::Line => Vec::new(),
            Suggest::ValuesOfVariable => {
                let name = place.argument.checked_sub(1);
                let name = name.and_then(|at| command.args.get(at));
                let variable = name.and_then(|name| self.get(&name.text));
                let value = variable.filter(|entry| entry.kind == EntryKind::Variable);
                let value = value.and_then(|entry| entry.param(0));
                value.map_or_else(Vec::new, |value| values_of(value, &place.typed))
            }
        }
    }

    /// Names that start with what is typed, one part further; else names that are like it.
    fn names(&self, typed: &str, wanted: impl Fn(&EntryInfo) -> bool) -> Vec<Candidate> {
        let typed = fold(typed);
        let mut candidates: Vec<Candidate> = Vec::new();
        let mut at = self.entries().partition_point(|entry| entry.folded < typed);
        while let Some(entry) = self.entries().get(at) {
            let Some(rest) = entry.folded.strip_prefix(&typed) else {
                break;
            };
            let Some(dot) = rest.find('.') else {
                candidates.extend(wanted(entry).then(|| name_of(entry)));
                at += 1;
                continue;
            };
            // A group: everything that starts as this one does, up to that dot.
            let group = entry
                .folded
                .get(..typed.len() + dot + 1)
                .unwrap_or_default();
            let in_group = |entry: &Arc<EntryInfo>| entry.folded.starts_with(group);
            let end = at
                + self
                    .entries()
                    .get(at..)
                    .map_or(1, |tail| tail.partition_point(in_group));
            let inside = self.entries().get(at..end).unwrap_or_default();
            let mut inside = inside.iter().filter(|entry| wanted(entry));
            match (inside.next(), inside.next()) {
                // A group with one name in it is no step.
                (Some(only), None) => candidates.push(name_of(only)),
                (Some(first), Some(_)) => {
                    // Folding may change the length of a name: parts are counted, not bytes.
                    candidates.push(group_of(first, group.matches('.').count()));
                }
                _ => {}
            }
            at = end;
        }
        if candidates.is_empty() && !typed.is_empty() {
            return self.fuzzy(&typed, wanted);
        }
        candidates
    }

    fn fuzzy(&self, typed: &str, wanted: impl Fn(&EntryInfo) -> bool) -> Vec<Candidate> {
        let mut matcher = matcher();
        let (mut of_name, mut of_typed) = (Vec::new(), Vec::new());
        let needle = Utf32Str::new(typed, &mut of_typed);
        let mut scored: Vec<(Reverse<u16>, usize)> = Vec::new();
        // The score of the name before, and where its match ends: one that starts the same up to there is matched there,
        // too, as the first match counts.
        let (mut matched, mut places) = (None, Vec::new());
        for (at, name, shared) in self.names.with_letters(typed) {
            if matched.is_none_or(|(_, end)| shared < end) {
                places.clear();
                let name = Utf32Str::new(name, &mut of_name);
                let score = matcher.fuzzy_indices_greedy(name, needle, &mut places);
                // In what is not ASCII, places are not bytes.
                let end = places.last().filter(|_| name.is_ascii());
                let end = end.map_or(usize::MAX, |&last| last as usize + 1);
                matched = score.map(|score| (score, end));
            }
            if let Some((score, _)) = matched
                && self.entries().get(at).is_some_and(|entry| wanted(entry))
            {
                scored.push((Reverse(score), at));
            }
        }
        // Best first; those that are as good, by name.
        if scored.len() > FUZZY {
            scored.select_nth_unstable(FUZZY);
            scored.truncate(FUZZY);
        }
        scored.sort_unstable();
        let best = scored.into_iter();
        let best = best.filter_map(|(_, at)| self.entries().get(at));
        best.map(|entry| name_of(entry)).collect()
    }
}

/// Names and what is typed are folded by the one rule there is, and by no other.
fn matcher() -> Matcher {
    let mut config = Config::DEFAULT;
    config.ignore_case = false;
    config.normalize = false;
    Matcher::new(config)
}

/// Whether a function over the live game is asked. What is offered for a secret is shown.
fn is_live(param: &ParamInfo) -> bool {
    param.suggest == Suggest::Live && !param.secret
}

fn name_of(entry: &EntryInfo) -> Candidate {
    Candidate {
        insert: entry.name.clone(),
        label: entry.name.clone(),
        about: entry.summary().to_owned(),
        group: false,
    }
}

/// The first parts of an entry's name, as a group.
fn group_of(entry: &EntryInfo, parts: usize) -> Candidate {
    let ends = entry.name.match_indices('.').nth(parts.saturating_sub(1));
    let end = ends.map_or(entry.name.len(), |(at, _)| at + 1);
    let name = entry.name.get(..end).unwrap_or(&entry.name);
    Candidate {
        insert: name.to_owned(),
        label: name.to_owned(),
        about: String::new(),
        group: true,
    }
}

/// The values of a parameter that fit what is typed.
fn values_of(param: &ParamInfo, typed: &str) -> Vec<Candidate> {
    if param.secret {
        return Vec::new();
    }
    let specials = param.specials.iter();
    let specials = specials.map(|(value, meaning)| (value.as_str(), meaning.as_str()));
    let values = param.values.iter().map(|value| (value.as_str(), ""));
    let default = param.default.as_deref().filter(|_| param.values.is_empty());
    let default = default.map(|default| (default, "default"));
    let all: Vec<(String, String)> = values
        .chain(specials)
        .chain(default)
        .map(|(value, about)| (value.to_owned(), about.to_owned()))
        .collect();
    fitting(all, typed)
}

/// Those of some values, with a text each, that fit what is typed: that start with it, or else hold
/// it; in their order, none twice.
pub(crate) fn fitting(values: Vec<(String, String)>, typed: &str) -> Vec<Candidate> {
    let typed = fold(typed);
    let folded: Vec<String> = values.iter().map(|(value, _)| fold(value)).collect();
    let starts = folded.iter().any(|value| value.starts_with(&typed));
    let mut seen = std::collections::BTreeSet::new();
    let mut candidates = Vec::new();
    for ((value, about), folded) in values.into_iter().zip(folded) {
        let fits = if starts {
            folded.starts_with(&typed)
        } else {
            folded.contains(&typed)
        };
        if fits && seen.insert(value.clone()) {
            candidates.push(Candidate {
                insert: quote(&value),
                label: value,
                about,
                group: false,
            });
        }
    }
    candidates
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::info::{Flags, Origin};

    fn snapshot(names: &[String]) -> ConsoleSnapshot {
        let entry = |name: &String| {
            Arc::new(EntryInfo {
                name: name.clone(),
                folded: fold(name),
                kind: EntryKind::Command,
                about: String::new(),
                params: Vec::new(),
                flags: Flags::NONE,
                origin: Origin::BuiltIn,
            })
        };
        let entries: Vec<_> = names.iter().map(entry).collect();
        ConsoleSnapshot::new(entries.iter(), [].iter(), |_| true)
    }

    /// Each name matched by itself.
    fn one_by_one(snapshot: &ConsoleSnapshot, typed: &str) -> Vec<String> {
        let mut matcher = matcher();
        let mut best = Vec::new();
        for (at, entry) in snapshot.entries().iter().enumerate() {
            let (mut of_name, mut of_typed) = (Vec::new(), Vec::new());
            let name = Utf32Str::new(&entry.folded, &mut of_name);
            let typed = Utf32Str::new(typed, &mut of_typed);
            if let Some(score) = matcher.fuzzy_match_greedy(name, typed) {
                best.push((Reverse(score), at, entry.name.clone()));
            }
        }
        best.sort();
        let best = best.into_iter().take(FUZZY);
        best.map(|(_, _, name)| name).collect()
    }

    proptest! {
        #[test]
        fn names_that_start_the_same_are_as_like_what_is_typed_as_each_by_itself(
            names in prop::collection::vec("[abAé.]{0,5}(ab|b.a|aé)?[ab.-]{0,3}", 1..80),
            typed in "[abé.]{1,4}",
        ) {
            let snapshot = snapshot(&names);
            let found = snapshot.fuzzy(&typed, |_| true);
            let found: Vec<String> = found.into_iter().map(|found| found.insert).collect();
            prop_assert_eq!(found, one_by_one(&snapshot, &typed));
        }
    }
}
