//! Text without what a terminal would obey, and with what cannot be seen made visible.

/// A character as it is shown: one that a terminal would obey, that turns the text around it, or that
/// cannot be seen, is escaped.
pub(crate) fn show(c: char, into: &mut String) {
    if c.is_control() || turns_text(c) || is_unseen(c) {
        into.extend(c.escape_default());
    } else {
        into.push(c);
    }
}

/// A text of one line as it is shown. A tab and a line end between its words are blanks.
pub(crate) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\t' | '\n' => shown.push(' '),
            c => show(c, &mut shown),
        }
    }
    shown
}

/// Whether a character has a terminal show what is around it in another order, so that a line reads as
/// what it is not.
fn turns_text(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether a character has no form, or is a line end to some. (Joiners are left: words and signs of many
/// scripts need them.)
fn is_unseen(c: char) -> bool {
    matches!(
        c,
        '\u{200b}' | '\u{2028}' | '\u{2029}' | '\u{2060}' | '\u{feff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_escaped_and_nothing_else_is() {
        assert_eq!(visible("a\tb\u{1b}\u{200b}é"), "a b\\u{1b}\\u{200b}é");
        assert_eq!(
            visible("\u{2028}\u{2029}\u{feff}"),
            "\\u{2028}\\u{2029}\\u{feff}"
        );
        assert_eq!(
            visible("\u{202e}שלום \u{1f469}\u{200d}\u{1f680}"),
            "\\u{202e}שלום \u{1f469}\u{200d}\u{1f680}"
        );
    }
}
