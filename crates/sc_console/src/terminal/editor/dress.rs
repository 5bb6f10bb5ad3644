//! How the line and its prompt look.

use std::borrow::Cow;
use std::sync::Arc;

use nu_ansi_term::Style;
use reedline::{
    Color, Highlighter, Prompt, PromptEditMode, PromptHistorySearch, PromptHistorySearchStatus,
    StyledText,
};

use super::lines::Canvas;
use crate::terminal::link::Shared;

/// The prompt: a text, always the same.
pub(super) struct TerminalPrompt {
    pub(super) text: String,
    pub(super) canvas: Canvas,
}

impl TerminalPrompt {
    /// The text but its last character, and that. `reedline` counts on an indicator: without one, a menu that needs the
    /// whole screen and a line that is higher than it panic where the caret is at the start.
    pub(super) fn parts(&self) -> (&str, &str) {
        match self.text.char_indices().next_back() {
            Some((last, _)) => self.text.split_at(last),
            // Nothing that is seen.
            None => ("", "\u{200b}"),
        }
    }
}

impl Prompt for TerminalPrompt {
    fn render_prompt_left(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.parts().0)
    }

    fn render_prompt_right(&self) -> Cow<'_, str> {
        Cow::Borrowed("")
    }

    fn render_prompt_indicator(&self, _: PromptEditMode) -> Cow<'_, str> {
        Cow::Borrowed(self.parts().1)
    }

    fn render_prompt_multiline_indicator(&self) -> Cow<'_, str> {
        Cow::Borrowed("")
    }

    fn render_prompt_history_search_indicator(&self, search: PromptHistorySearch) -> Cow<'_, str> {
        let found = match search.status {
            PromptHistorySearchStatus::Passing => "",
            PromptHistorySearchStatus::Failing => "not found: ",
        };
        let shown = format!("({found}{}) ", search.term);
        self.canvas.note_search(&shown);
        Cow::Owned([self.parts().1, &shown].concat())
    }

    fn get_prompt_color(&self) -> Color {
        Color::Green
    }

    fn get_indicator_color(&self) -> Color {
        Color::Green
    }
}

/// Draws the line with its secrets hidden.
pub(super) struct Masked {
    shared: Arc<Shared>,
    canvas: Canvas,
}

impl Masked {
    pub(super) fn new(shared: &Arc<Shared>, canvas: &Canvas) -> Self {
        Masked {
            shared: Arc::clone(shared),
            canvas: canvas.clone(),
        }
    }
}

impl Highlighter for Masked {
    fn highlight(&self, line: &str, caret: usize) -> StyledText {
        let redacted = self.shared.snapshot().redact(line);
        let shown = hide(line, &redacted);
        self.canvas.note(&shown, caret);
        let mut text = StyledText::new();
        text.push((Style::new(), shown));
        text
    }
}

/// A line with a star for each byte of what is different in its redacted form: the caret is counted in
/// bytes. With several secrets, what stands between them is hidden too.
fn hide(line: &str, redacted: &str) -> String {
    if line == redacted {
        return line.to_owned();
    }
    let same = |a: char, b: char| a == b;
    let from_start = line.chars().zip(redacted.chars());
    let before: usize = from_start
        .take_while(|&(a, b)| same(a, b))
        .map(|(a, _)| a.len_utf8())
        .sum();
    let (rest, hidden) = (&line[before..], &redacted[before..]);
    let from_end = rest.chars().rev().zip(hidden.chars().rev());
    let after: usize = from_end
        .take_while(|&(a, b)| same(a, b))
        .map(|(a, _)| a.len_utf8())
        .sum();
    let (start, end) = (before, line.len() - after);
    let stars = "*".repeat(end - start);
    format!("{}{stars}{}", &line[..start], &line[end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_stars_and_the_caret_stays_where_it_is() {
        assert_eq!(hide("help", "help"), "help");
        assert_eq!(hide("login mia pass7", "login mia ***"), "login mia *****");
        assert_eq!(
            hide("login p\u{e9}; help", "login ***; help"),
            "login ***; help"
        );
        assert_eq!(hide("a x b y c", "a *** b *** c"), "a ***** c");
        assert_eq!(hide("login *x*", "login ***"), "login *\u{2a}*");
        assert_eq!(hide("login p", "login ***"), "login *");
    }
}
