//! The syntax of a line: whitespace separates words, `"` and `'` quote, `\` escapes inside quotes,
//! `;` (or the end of a text line) separates commands, `//` at the start of a word comments.
//! Everything else is ordinary text. Parsing never fails as a whole: it gives what it understood, and
//! errors with the bytes they are about.

mod lexer;
mod line;
mod marker;
mod nearest;

#[cfg(feature = "terminal")]
pub(crate) use line::text_lines;
pub use line::{CommandText, LineText, ParseError, ParseErrorKind, Word, parse_line, quote};
pub(crate) use marker::{Shifts, mark};
pub(crate) use nearest::nearest;
