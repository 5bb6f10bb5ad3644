//! Lines: the commands on one, and how they are written again.

use std::fmt;
use std::ops::Range;

use super::lexer::{Lexeme, Lexer};
use super::marker::mark;

/// A word of a line.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Word {
    /// What it means: without quotes, escapes resolved.
    pub text: String,
    /// The bytes of the line it was written in.
    pub span: Range<usize>,
    /// Whether any of it was quoted.
    pub quoted: bool,
}

/// One command of a line: a name and its arguments.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct CommandText {
    /// The first word.
    pub name: Word,
    /// The others.
    pub args: Vec<Word>,
}

/// A line as it was understood.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct LineText {
    /// Its commands. Blank ones are left out.
    pub commands: Vec<CommandText>,
    /// What was not understood. A line with an error is not run.
    pub errors: Vec<ParseError>,
}

/// What a part of a line that was not understood looks like.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum ParseErrorKind {
    /// A quote that is not closed.
    UnclosedQuote(char),
    /// A backslash in quotes before something that it does not escape.
    UnknownEscape(char),
}

/// A part of a line that was not understood.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ParseError {
    /// What it looks like.
    pub kind: ParseErrorKind,
    /// Its bytes in the line.
    pub span: Range<usize>,
}

impl ParseError {
    /// The line with a marker under the bytes that were not understood, and what was expected.
    ///
    /// ```
    /// use sc_console::parse_line;
    /// let line = r#"say "hello"#;
    /// let parsed = parse_line(line);
    /// assert_eq!(
    ///     parsed.errors[0].render(line),
    ///     "say \"hello\n    ^ this quote is not closed: expected another \" before the end of the line",
    /// );
    /// ```
    #[must_use]
    pub fn render(&self, line: &str) -> String {
        mark(line, &self.span, &self.to_string())
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            ParseErrorKind::UnclosedQuote(quote) => write!(
                f,
                "this quote is not closed: expected another {quote} before the end of the line"
            ),
            ParseErrorKind::UnknownEscape(c) => write!(
                f,
                "`\\{}` is no escape: expected one of \\\\ \\\" \\' \\n \\r \\t; a backslash in quotes is written \\\\",
                c.escape_debug()
            ),
        }
    }
}

/// Parses a line. Total: it gives what it understood, and errors with the bytes they are about.
///
/// ```
/// use sc_console::parse_line;
/// let line = parse_line("give 'iron sword' -1; say é // done");
/// assert!(line.errors.is_empty());
/// assert_eq!(line.commands.len(), 2);
/// assert_eq!(line.commands[0].args[0].text, "iron sword");
/// assert_eq!(line.commands[0].args[0].span, 5..17);
/// assert_eq!(line.to_string(), r#"give "iron sword" -1; say é"#);
/// assert!(parse_line(" \t;;").commands.is_empty());
/// ```
#[must_use]
pub fn parse_line(text: &str) -> LineText {
    let mut commands: Vec<CommandText> = Vec::new();
    let mut open = false;
    let mut lexer = Lexer::new(text);
    for lexeme in lexer.by_ref() {
        match (lexeme, commands.last_mut()) {
            (Lexeme::Separator, _) => open = false,
            (Lexeme::Word(word), Some(command)) if open => command.args.push(word),
            (Lexeme::Word(name), _) => {
                commands.push(CommandText {
                    name,
                    args: Vec::new(),
                });
                open = true;
            }
        }
    }
    LineText {
        commands,
        errors: lexer.errors,
    }
}

/// The lines of a text. What a quote goes over is one line.
#[cfg(feature = "terminal")]
pub(crate) fn text_lines(text: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut start = 0;
    let mut lexer = Lexer::new(text);
    while let Some(lexeme) = lexer.next() {
        let end = lexer.place();
        let line = text.get(start..end).unwrap_or_default();
        if matches!(lexeme, Lexeme::Separator) && line.ends_with('\n') {
            lines.push(line.trim_end());
            start = end;
        }
    }
    lines.push(text.get(start..).unwrap_or_default().trim_end());
    lines.retain(|line| !line.is_empty());
    lines
}

/// Writes a word so that a line reads it as that word again: in quotes if need be.
///
/// ```
/// use sc_console::quote;
/// assert_eq!(quote("sword"), "sword");
/// assert_eq!(quote("iron sword"), r#""iron sword""#);
/// assert_eq!(quote(""), r#""""#);
/// ```
#[must_use]
pub fn quote(text: &str) -> String {
    let plain = |c: char| !(c.is_whitespace() || matches!(c, '"' | '\'' | ';'));
    if !text.is_empty() && text.chars().all(plain) && !text.starts_with("//") {
        return text.to_owned();
    }
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '\\' | '"' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

impl fmt::Display for CommandText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&quote(&self.name.text))?;
        for arg in &self.args {
            write!(f, " {}", quote(&arg.text))?;
        }
        Ok(())
    }
}

/// The line written again, so that it parses to the same commands.
impl fmt::Display for LineText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, command) in self.commands.iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(f, "{separator}{command}")?;
        }
        Ok(())
    }
}

#[cfg(all(test, feature = "terminal"))]
mod tests {
    use super::text_lines;

    #[test]
    fn a_text_is_split_at_the_ends_of_its_lines_but_not_in_quotes() {
        for (text, lines) in [
            ("", &[][..]),
            ("a b", &["a b"]),
            ("a;b\r\n\n c // don't\nd\n", &["a;b", " c // don't", "d"]),
            (
                "my.login ada \"sword\nfish\"\nb",
                &["my.login ada \"sword\nfish\"", "b"],
            ),
            (
                "my.login ada 'sword\nfish\n",
                &["my.login ada 'sword\nfish"],
            ),
        ] {
            assert_eq!(text_lines(text), lines, "{text}");
        }
    }
}
