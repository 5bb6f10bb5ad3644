//! Lines above the prompt while a line is being edited.
//!
//! `reedline` prints messages above its prompt, but finds the top of the prompt by the number of bytes
//! of the line, as if the caret stood at its end. Where that is wrong (a line that wraps, a caret in
//! the middle, letters of several bytes or columns) it would print into the prompt, or over what
//! stands above it. So before it prints, this clears the prompt, and puts the cursor to where its
//! count leads to the top of it.

use std::io::{self, Write as _};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

use crate::terminal::Item;
use crate::terminal::link::Shared;
use crate::terminal::style::Look;

/// So many items are printed at once; the rest a moment later, so that keys are not kept waiting.
pub(super) const AT_ONCE: usize = 256;

/// The line as it was drawn last, and the caret in it.
#[derive(Debug, Default)]
struct Drawn {
    line: String,
    caret: usize,
    /// Something was typed since.
    typed: bool,
    /// While the history is searched, what stands behind the prompt instead of the line.
    search: Option<String>,
    /// What the editor was given to print, until it draws again, which it does when it has printed it.
    handed: Option<String>,
    /// It was called away before it has printed that. It will, when it is called again.
    left: bool,
    /// The screen is to be cleared when the line is done: the editor counts rows on it.
    to_be_cleared: bool,
}

impl Drawn {
    /// The editor draws, so it has printed what it was given.
    fn has_drawn(&mut self) {
        if !self.left {
            self.handed = None;
        }
    }
}

/// What is drawn: the prompt, and behind it the line.
#[derive(Clone, Debug)]
pub(super) struct Canvas {
    prompt: Arc<str>,
    drawn: Arc<Mutex<Drawn>>,
}

impl Canvas {
    pub(super) fn new(prompt: &str) -> Self {
        Canvas {
            prompt: prompt.into(),
            drawn: Arc::default(),
        }
    }

    fn drawn(&self) -> MutexGuard<'_, Drawn> {
        self.drawn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether nothing was typed.
    pub(super) fn is_blank(&self) -> bool {
        let drawn = self.drawn();
        drawn.line.is_empty() && !drawn.typed
    }

    /// Something is typed that is not drawn yet.
    pub(super) fn note_typed(&self) {
        self.drawn().typed = true;
    }

    /// Whether the screen was to be cleared while a line was being typed. Once.
    pub(super) fn is_to_be_cleared(&self) -> bool {
        std::mem::take(&mut self.drawn().to_be_cleared)
    }

    /// Notes what is about to be drawn.
    pub(super) fn note(&self, line: &str, caret: usize) {
        let mut drawn = self.drawn();
        drawn.line.clear();
        drawn.line.push_str(line);
        drawn.caret = caret;
        drawn.typed = false;
        drawn.search = None;
        drawn.has_drawn();
    }

    /// Notes that the search of the history is about to be drawn. The line itself stays, unseen.
    pub(super) fn note_search(&self, search: &str) {
        let mut drawn = self.drawn();
        drawn.search = Some(search.to_owned());
        drawn.has_drawn();
    }

    fn place(&self, drawn: &Drawn) -> Place {
        let width = match crossterm::terminal::size() {
            Ok((width, _)) if width > 0 => width,
            // As `reedline` takes it.
            _ => 80,
        };
        Place::of(&self.prompt, drawn, width)
    }

    /// The editor was called away: clears the prompt and the line from the screen; the cursor is where
    /// the prompt began.
    pub(super) fn clear(&self) {
        let mut drawn = self.drawn();
        let mut place = self.place(&drawn);
        if drawn.handed.is_some() && !drawn.left {
            // All is prepared for lines that were not printed.
            drawn.left = true;
            place.caret = place.assumed;
        }
        place.assumed = 0;
        draw(&preparation(place));
    }

    /// What the editor was given to print and has not, when it is not called again.
    pub(super) fn take_unprinted(&self) -> Option<String> {
        self.drawn().handed.take()
    }
}

/// Writes to where the editor draws.
fn draw(text: &str) {
    let mut out = io::stderr();
    // A terminal that does not take this does not take what the editor draws either, and that is an
    // error of the editor's.
    let _ = out.write_all(text.as_bytes());
    let _ = out.flush();
}

/// Where the prompt is on the screen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Place {
    /// Rows from its top to the caret.
    caret: u16,
    /// Rows from its top to where `reedline` takes the caret to be.
    assumed: u16,
}

impl Place {
    fn of(prompt: &str, drawn: &Drawn, width: u16) -> Self {
        let before = match &drawn.search {
            Some(search) => search,
            None => drawn.line.get(..drawn.caret).unwrap_or(&drawn.line),
        };
        Place {
            caret: rows_to_end(&[prompt, before], width),
            assumed: assumed_rows(&drawn.line, width),
        }
    }
}

/// Rows from the start of a text to where the cursor stands behind it, as `reedline` lays it out.
fn rows_to_end(pieces: &[&str], width: u16) -> u16 {
    let width = usize::from(width.max(1));
    let (mut row, mut column) = (0_u16, 0_usize);
    for grapheme in pieces.iter().flat_map(|piece| piece.graphemes(true)) {
        if matches!(grapheme, "\n" | "\r\n") {
            (row, column) = (row.saturating_add(1), 0);
            continue;
        }
        let wide = grapheme.width();
        if column >= width || (column > 0 && column + wide > width) {
            (row, column) = (row.saturating_add(1), 0);
        }
        column += wide;
    }
    // A full row: the cursor is on the next one.
    if column >= width {
        row = row.saturating_add(1);
    }
    row
}

/// What `reedline` counts: `Painter::print_external_message`, for an empty right prompt.
fn assumed_rows(line: &str, width: u16) -> u16 {
    let width = usize::from(width.max(1));
    let rows = line.lines().enumerate().map(|(index, line)| {
        let length = if index == 0 {
            line.len() + 3
        } else {
            line.len()
        };
        length / width + 1
    });
    u16::try_from(rows.sum::<usize>().saturating_sub(1)).unwrap_or(u16::MAX)
}

/// What moves the cursor from the caret to where `reedline` finds the top of the prompt from, and
/// clears the prompt.
fn preparation(place: Place) -> String {
    let up = match place.caret {
        0 => String::new(),
        rows => format!("\x1b[{rows}A"),
    };
    // Rows below the top may not be there yet: line ends make them.
    let down = "\r\n".repeat(usize::from(place.assumed));
    format!("{up}\r\x1b[J{down}")
}

/// Gives the editor what is to be shown above the prompt. Called while it waits for keys.
pub(super) struct Above {
    pub(super) shared: Arc<Shared>,
    pub(super) canvas: Canvas,
    pub(super) look: Look,
    pub(super) sender: SyncSender<String>,
}

impl Above {
    pub(super) fn show(&self) {
        let mut drawn = self.canvas.drawn();
        // What it was given before it was called away comes first.
        if !std::mem::take(&mut drawn.left) {
            let items = self.shared.feed.take(AT_ONCE);
            drawn.to_be_cleared |= items.iter().any(|item| matches!(item, Item::Clear));
            let mut lines = String::new();
            for line in items.iter().flat_map(|item| self.look.lines(item)) {
                lines.push_str(&line);
                lines.push('\n');
            }
            if lines.is_empty() {
                return;
            }
            drawn.handed = Some(lines.clone());
            // There is room: it has printed what it was given before, or was just called away.
            let _ = self.sender.try_send(lines);
        }
        draw(&preparation(self.canvas.place(&drawn)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows from the prompt's top to a caret, which is the `|` in the line.
    fn caret_row(line: &str, width: u16) -> u16 {
        let before = line.split('|').next().unwrap_or_default();
        rows_to_end(&["> ", before], width)
    }

    #[test]
    fn the_caret_is_found_in_lines_that_wrap() {
        assert_eq!(caret_row("|", 10), 0);
        assert_eq!(caret_row("1234567|", 10), 0);
        // A full row: the caret is at the start of the next.
        assert_eq!(caret_row("12345678|", 10), 1);
        assert_eq!(caret_row("123456789|", 10), 1);
        assert_eq!(caret_row("123|456789012345", 10), 0);
        assert_eq!(caret_row("éééééééé|", 10), 1);
        // Two columns each: the fifth does not fit behind four and the prompt.
        assert_eq!(caret_row("日本日|", 9), 0);
        assert_eq!(caret_row("日本日本|", 9), 1);
        assert_eq!(caret_row("a\nb\n|", 10), 2);
        assert_eq!(caret_row("x|", 0), 3);
    }

    #[test]
    fn the_cursor_is_put_to_where_the_editor_counts_from() {
        let place = |line: &str, caret, width| {
            let drawn = Drawn {
                line: line.to_owned(),
                caret,
                ..Drawn::default()
            };
            Place::of("> ", &drawn, width)
        };
        // A short line: nothing to do but to clear it.
        assert_eq!(preparation(place("help", 4, 80)), "\r\x1b[J");
        assert_eq!(preparation(place("", 0, 80)), "\r\x1b[J");
        // The caret is in the second row, and the editor thinks so.
        assert_eq!(
            preparation(place("123456789", 9, 10)),
            "\x1b[1A\r\x1b[J\r\n"
        );
        // The caret is in the first row of two.
        assert_eq!(preparation(place("123456789", 2, 10)), "\r\x1b[J\r\n");
        // It counts bytes: four letters of two bytes are one row, and it thinks two.
        assert_eq!(preparation(place("éééé", 8, 10)), "\r\x1b[J\r\n");
        // A caret that is not in the line, as while the history is searched.
        assert_eq!(preparation(place("ab", 7, 10)), "\r\x1b[J");
    }

    #[test]
    fn what_the_editor_was_called_away_from_comes_first_and_is_not_lost() {
        use std::sync::mpsc::sync_channel;

        use crate::source::Source;
        use crate::terminal::Item;

        let shared = Shared::new(Source::Terminal);
        let (sender, printer) = sync_channel(1);
        let above = Above {
            shared: Arc::clone(&shared),
            canvas: Canvas::new("> "),
            look: Look::PLAIN,
            sender,
        };
        let say = |text: &str| shared.feed.push(Item::Notice(text.into()));
        say("a");
        above.show();
        // Called away before it prints that, and called again: it draws, and asks again.
        above.canvas.clear();
        say("b");
        above.canvas.note("", 0);
        above.show();
        assert_eq!(printer.try_recv(), Ok("(a)\n".to_owned()));
        assert!(printer.try_recv().is_err(), "one thing at a time");
        above.canvas.note("", 0);
        above.show();
        assert_eq!(printer.try_recv(), Ok("(b)\n".to_owned()));
        above.canvas.note("", 0);
        assert_eq!(above.canvas.take_unprinted(), None);
        // Called away for good.
        say("c");
        above.show();
        above.canvas.clear();
        assert_eq!(above.canvas.take_unprinted(), Some("(c)\n".to_owned()));
    }
}
