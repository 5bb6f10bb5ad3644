//! The lexer: from text to words and separators, with the bytes they lie at.

use std::ops::Range;

use super::line::{ParseError, ParseErrorKind, Word};

/// What the lexer finds.
pub(super) enum Lexeme {
    Word(Word),
    /// A `;` or the end of a text line.
    Separator,
}

/// Where the lexer is in its text. It gives one lexeme a call, and keeps the errors.
pub(super) struct Lexer<'t> {
    text: &'t str,
    at: usize,
    pub(super) errors: Vec<ParseError>,
}

impl<'t> Lexer<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Lexer {
            text,
            at: 0,
            errors: Vec::new(),
        }
    }

    /// The byte behind what was given so far.
    #[cfg(feature = "terminal")]
    pub(super) fn place(&self) -> usize {
        self.at
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn bump(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    /// What comes next of what has no meaning of its own, and is ASCII: the most of most words.
    fn plain(&mut self) -> &'t str {
        let plain = |b: &u8| b.is_ascii_graphic() && !matches!(b, b';' | b'"' | b'\'');
        let rest = self.rest();
        let run = rest.bytes().take_while(plain).count();
        self.at += run;
        rest.get(..run).unwrap_or_default()
    }

    fn error(&mut self, kind: ParseErrorKind, span: Range<usize>) {
        self.errors.push(ParseError { kind, span });
    }

    /// The rest of a word from its first character on.
    fn word(&mut self) -> Word {
        let start = self.at;
        let mut text = self.plain().to_owned();
        let mut quoted = false;
        while let Some(c) = self.peek() {
            if c.is_whitespace() || c == ';' {
                break;
            }
            let from = self.at;
            self.bump();
            if c == '"' || c == '\'' {
                quoted = true;
                self.quotation(c, from, &mut text);
            } else {
                text.push(c);
            }
            text.push_str(self.plain());
        }
        Word {
            text,
            span: start..self.at,
            quoted,
        }
    }

    /// From behind an opening quote to behind its closing one.
    fn quotation(&mut self, quote: char, opened: usize, text: &mut String) {
        loop {
            let from = self.at;
            match self.bump() {
                Some(c) if c == quote => return,
                Some('\\') => match self.bump() {
                    Some(c) => match unescape(c) {
                        Some(meant) => text.push(meant),
                        None => {
                            self.error(ParseErrorKind::UnknownEscape(c), from..self.at);
                            text.push(c);
                        }
                    },
                    None => break,
                },
                Some(c) => text.push(c),
                None => break,
            }
        }
        self.error(ParseErrorKind::UnclosedQuote(quote), opened..opened + 1);
    }
}

/// What a character behind a backslash means.
fn unescape(c: char) -> Option<char> {
    match c {
        '\\' | '"' | '\'' => Some(c),
        'n' => Some('\n'),
        'r' => Some('\r'),
        't' => Some('\t'),
        _ => None,
    }
}

impl Iterator for Lexer<'_> {
    type Item = Lexeme;

    fn next(&mut self) -> Option<Lexeme> {
        loop {
            let c = self.peek()?;
            if c == ';' || c == '\n' {
                self.bump();
                return Some(Lexeme::Separator);
            }
            if c.is_whitespace() {
                self.bump();
            } else if self.rest().starts_with("//") {
                let rest = self.rest();
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else {
                return Some(Lexeme::Word(self.word()));
            }
        }
    }
}
