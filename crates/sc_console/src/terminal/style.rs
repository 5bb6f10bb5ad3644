//! How a terminal shows things: as lines of text, with colours or without.

use std::fmt::Write as _;

use nu_ansi_term::{Color as Ansi, Style};
use tracing::Level;

use super::feed::Item;
use crate::output::LineKind;
use crate::visible::show;

/// How to show.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    /// With colours.
    pub(super) colors: bool,
    /// With the time of an event of the log.
    pub(super) times: bool,
}

impl Look {
    /// Nothing but the text: the same on every run.
    pub(super) const PLAIN: Look = Look {
        colors: false,
        times: false,
    };

    /// The lines that an item is shown as, each without a line end.
    pub(super) fn lines(self, item: &Item) -> Vec<String> {
        match item {
            Item::Output(line) => {
                let style = match line.kind {
                    LineKind::Echo => return Vec::new(),
                    LineKind::Text => Style::new(),
                    LineKind::Warning => Ansi::Yellow.normal(),
                    LineKind::Error => Ansi::Red.normal(),
                };
                self.paint(&line.text, style)
            }
            Item::Log(record) => {
                let style = match record.level {
                    Level::ERROR => Ansi::Red.normal(),
                    Level::WARN => Ansi::Yellow.normal(),
                    Level::INFO => Style::new(),
                    _ => Style::new().dimmed(),
                };
                let mut text = String::new();
                if self.times {
                    // Writing to a `String` does not fail.
                    let _ = write!(text, "{:9.3} s ", record.time.as_secs_f64());
                }
                let _ = write!(text, "{record}");
                self.paint(&text, style)
            }
            Item::Message(text, color) => {
                let style = Ansi::Rgb(color.red, color.green, color.blue).normal();
                let plain = *color == crate::screen::color::Color::WHITE;
                self.paint(text, if plain { Style::new() } else { style })
            }
            // There is no line to that.
            Item::Clear => Vec::new(),
            Item::Notice(text) => self.paint(&format!("({text})"), Style::new().dimmed()),
        }
    }

    fn paint(self, text: &str, style: Style) -> Vec<String> {
        // A blank line is a line.
        let text = if text.is_empty() { "\n" } else { text };
        let lines = text.lines().map(one_line);
        if !self.colors || style == Style::new() {
            return lines.collect();
        }
        lines.map(|line| style.paint(line).to_string()).collect()
    }
}

/// A text without anything that a terminal would obey: a name from the net must not move the cursor.
pub(super) fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\t' => line.push_str("    "),
            c => show(c, &mut line),
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::OutputLine;
    use crate::screen::color::Color;

    const COLORS: Look = Look {
        colors: true,
        times: true,
    };

    fn output(kind: LineKind, text: &str) -> Item {
        let text = text.to_owned();
        Item::Output(OutputLine { kind, text })
    }

    #[test]
    fn what_a_terminal_would_obey_is_escaped() {
        let item = output(LineKind::Text, "a\tb\u{1b}[2Jc\r\u{7}é\u{9b}1m");
        assert_eq!(
            Look::PLAIN.lines(&item),
            ["a    b\\u{1b}[2Jc\\r\\u{7}é\\u{9b}1m"]
        );
        let item = output(LineKind::Text, "gave \u{202e}010\u{2069} gold to שלום");
        assert_eq!(
            Look::PLAIN.lines(&item),
            ["gave \\u{202e}010\\u{2069} gold to שלום"]
        );
    }

    #[test]
    fn several_lines_are_several_lines() {
        let item = Item::Message("one\ntwo\n".into(), Color::RED);
        assert_eq!(Look::PLAIN.lines(&item), ["one", "two"]);
        assert_eq!(Look::PLAIN.lines(&output(LineKind::Text, "")), [""]);
        let red = COLORS.lines(&item);
        assert_eq!(red[1], "\u{1b}[38;2;255;0;0mtwo\u{1b}[0m");
    }

    #[test]
    fn errors_are_red_and_echoes_are_on_screen_already() {
        let error = output(LineKind::Error, "no");
        assert_eq!(COLORS.lines(&error), ["\u{1b}[31mno\u{1b}[0m"]);
        assert_eq!(Look::PLAIN.lines(&error), ["no"]);
        assert!(COLORS.lines(&output(LineKind::Echo, "help")).is_empty());
        assert_eq!(COLORS.lines(&output(LineKind::Text, "x")), ["x"]);
    }

    #[test]
    fn a_notice_stands_in_brackets() {
        let notice = Item::Notice("3 lines were not shown".into());
        assert_eq!(Look::PLAIN.lines(&notice), ["(3 lines were not shown)"]);
    }
}
