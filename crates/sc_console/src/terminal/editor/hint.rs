//! Hints behind the caret: the rest of a line from the history, or the parameters of a command.

use std::sync::Arc;

use nu_ansi_term::Style;
use reedline::{DefaultHinter, Hinter, History};

use crate::info::EntryKind;
use crate::terminal::link::Shared;

pub(super) struct GameHinter {
    shared: Arc<Shared>,
    from_history: DefaultHinter,
}

impl GameHinter {
    pub(super) fn new(shared: &Arc<Shared>) -> Self {
        GameHinter {
            shared: Arc::clone(shared),
            from_history: DefaultHinter::default().with_style(Style::new().dimmed()),
        }
    }

    /// The parameters of the command that stands before the caret, with a blank behind it.
    fn parameters(&self, line: &str) -> Option<String> {
        let name = line.strip_suffix(' ')?.trim_start();
        if name.contains(char::is_whitespace) {
            return None;
        }
        let snapshot = self.shared.snapshot();
        let entry = snapshot.get(name)?;
        let usage = (entry.kind == EntryKind::Command).then(|| entry.usage())?;
        let parameters = usage.strip_prefix(entry.name.as_str())?;
        Some(parameters.trim_start().to_owned())
    }
}

impl Hinter for GameHinter {
    fn handle(
        &mut self,
        line: &str,
        caret: usize,
        history: &dyn History,
        colors: bool,
        directory: &str,
    ) -> String {
        let rest = self
            .from_history
            .handle(line, caret, history, colors, directory);
        if !rest.is_empty() || caret < line.len() {
            return rest;
        }
        let parameters = self.parameters(line).unwrap_or_default();
        if !colors || parameters.is_empty() {
            return parameters;
        }
        Style::new().dimmed().paint(parameters).to_string()
    }

    // What can be taken over with a key is what the history has, not the parameters.
    fn complete_hint(&self) -> String {
        self.from_history.complete_hint()
    }

    fn next_hint_token(&self) -> String {
        self.from_history.next_hint_token()
    }
}
