//! The history of lines in the editor, and in its file: what is secret is never in it.

use std::path::Path;
use std::sync::Arc;

use reedline::{
    FileBackedHistory, History, HistoryItem, HistoryItemId, HistorySessionId, Result,
    SearchDirection, SearchQuery,
};

use crate::terminal::TerminalError;
use crate::terminal::link::Shared;

/// How many lines are kept; one more pushes the oldest out.
const CAPACITY: usize = 1000;

/// Lines in memory, and in a file if there is one.
pub(in crate::terminal) struct KeptHistory {
    shared: Arc<Shared>,
    lines: FileBackedHistory,
}

impl KeptHistory {
    pub(in crate::terminal) fn open(
        path: Option<&Path>,
        shared: &Arc<Shared>,
    ) -> std::result::Result<Self, TerminalError> {
        let lines = match path {
            None => FileBackedHistory::new(CAPACITY),
            Some(path) => FileBackedHistory::with_file(CAPACITY, path.to_owned()),
        };
        let refused = |error: reedline::ReedlineError| TerminalError::History {
            path: path.map(Path::to_owned).unwrap_or_default(),
            reason: error.to_string(),
        };
        Ok(KeptHistory {
            shared: Arc::clone(shared),
            lines: lines.map_err(refused)?,
        })
    }

    /// The lines there are, oldest first.
    pub(in crate::terminal) fn lines(&self) -> Vec<String> {
        let all = SearchQuery::everything(SearchDirection::Forward, None);
        // One that cannot be read now says so when it is used.
        let found = self.lines.search(all).unwrap_or_default();
        found.into_iter().map(|item| item.command_line).collect()
    }
}

impl History for KeptHistory {
    fn save(&mut self, mut item: HistoryItem) -> Result<HistoryItem> {
        let snapshot = self.shared.snapshot();
        item.command_line = match self.shared.is_under_way() {
            // Names that a line makes before this one has its turn are not in the snapshot.
            true => snapshot.redact_unsure(&item.command_line),
            false => snapshot.redact(&item.command_line),
        };
        let saved = self.lines.save(item)?;
        // At once: what ends the program may not ask.
        self.lines.sync()?;
        Ok(saved)
    }

    fn load(&self, id: HistoryItemId) -> Result<HistoryItem> {
        self.lines.load(id)
    }

    fn count(&self, query: SearchQuery) -> Result<i64> {
        self.lines.count(query)
    }

    fn search(&self, query: SearchQuery) -> Result<Vec<HistoryItem>> {
        self.lines.search(query)
    }

    fn update(
        &mut self,
        id: HistoryItemId,
        updater: &dyn Fn(HistoryItem) -> HistoryItem,
    ) -> Result<()> {
        self.lines.update(id, updater)
    }

    fn clear(&mut self) -> Result<()> {
        self.lines.clear()
    }

    fn delete(&mut self, id: HistoryItemId) -> Result<()> {
        self.lines.delete(id)
    }

    fn sync(&mut self) -> std::io::Result<()> {
        self.lines.sync()
    }

    fn session(&self) -> Option<HistorySessionId> {
        self.lines.session()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Source;

    #[test]
    fn the_oldest_goes_and_repeats_are_skipped() {
        let mut history = KeptHistory::open(None, &Shared::new(Source::Terminal)).unwrap();
        for n in 0..CAPACITY + 2 {
            for _ in 0..2 {
                let item = HistoryItem::from_command_line(n.to_string());
                history.save(item).unwrap();
            }
        }
        let kept = history.lines();
        assert_eq!((kept.len(), &*kept[0], &*kept[999]), (1000, "2", "1001"));
    }

    #[test]
    fn while_a_line_is_under_way_what_is_not_known_may_take_secrets() {
        let shared = Shared::new(Source::Terminal);
        let mut history = KeptHistory::open(None, &shared).unwrap();
        for (line, under_way) in [("in word", 0), ("in swordfish", 1), ("in another", 0)] {
            shared.count(under_way);
            history.save(HistoryItem::from_command_line(line)).unwrap();
            shared.count(-under_way);
        }
        assert_eq!(history.lines(), ["in word", "in ***", "in another"]);
    }

    #[test]
    fn a_file_that_cannot_be_used_says_so() {
        let folder = std::env::temp_dir();
        let refused = KeptHistory::open(Some(&folder), &Shared::new(Source::Terminal));
        let text = refused.err().map(|error| error.to_string());
        assert!(text.is_some_and(|text| text.starts_with("the history file ")));
    }
}
