//! Completion: what could stand where the caret is.

use std::ops::Range;

use crate::snapshot::ConsoleSnapshot;

/// One thing that could stand there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Candidate {
    /// What replaces the span, quoted if need be.
    pub insert: String,
    /// What a menu shows.
    pub label: String,
    /// The first line of its text.
    pub about: String,
}

/// What could stand where the caret is.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Completions {
    /// The bytes of the line that a candidate replaces.
    pub span: Range<usize>,
    /// The candidates, in the order to show.
    pub candidates: Vec<Candidate>,
    /// A function over the live game has more: `ConsoleExt::complete_line` asks it.
    pub live: bool,
}

impl ConsoleSnapshot {
    /// What could stand at the caret, a byte offset into the line. Pure.
    #[must_use]
    pub fn complete(&self, line: &str, caret: usize) -> Completions {
        let _ = (line, caret);
        Completions::default()
    }
}
