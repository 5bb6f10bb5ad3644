//! Why a frame trace could not be read or written, with the file, the line and the way out.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use super::columns::ACCEPTED;

/// Why frame times could not be read or written. Nothing half-done is handed out.
///
/// ```
/// use sc_core::{FrameTrace, TraceError};
/// let error = FrameTrace::parse("frametime\n16.6\n-1\n").unwrap_err();
/// assert!(matches!(error, TraceError::Line { line: 3, .. }));
/// assert_eq!(error.line(), Some(3));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// The system could not read or write the file.
    #[error("cannot {action} the frame trace {path:?}: {source}; check the path and its rights")]
    Io {
        /// `read` or `write`.
        action: &'static str,
        /// The path as given.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file was opened, but what it holds is no frame trace.
    #[error("in {path:?}: {error}")]
    InFile {
        /// The path as given.
        path: PathBuf,
        /// What is wrong in it.
        error: Box<TraceError>,
    },
    /// A line holds something that is no frame time.
    #[error("line {line}: {problem}")]
    Line {
        /// The line's number in the file, from 1.
        line: usize,
        /// What is wrong with it.
        problem: LineProblem,
    },
    /// None of the columns is known to hold frame times.
    #[error(
        "line {line} names no frame time column: found {}, accepted are {ACCEPTED}, in any case; \
         rename the column, or keep only it, one number of milliseconds a line",
        list(.found)
    )]
    NoColumn {
        /// The line taken for the header, from 1.
        line: usize,
        /// What it holds, field by field; long ones are shortened.
        found: Vec<String>,
    },
    /// There is nothing in the file but blank lines and comments.
    #[error("the frame trace is empty: capture again, or pass another file")]
    Empty,
    /// The header is there, but not one row with a frame time.
    #[error(
        "the frame trace has a header but no frame times (rows passed over as NA: {not_available}, \
         last line cut: {cut}): capture for longer, or pass another file"
    )]
    NoRows {
        /// Rows passed over because they say `NA`.
        not_available: usize,
        /// Whether a cut last line was passed over.
        cut: bool,
    },
    /// A JSON capture, such as CapFrameX saves.
    #[error("the frame trace is JSON, which is not read: export it as CSV (CapFrameX can)")]
    Json,
    /// A binary file.
    #[error(
        "the frame trace holds NUL bytes, so it is no text: pass a CSV in UTF-8, or in \
         UTF-16 with a byte order mark"
    )]
    NotText,
    /// The column `frametime` stands beside `fps`, and the two do not belong together.
    #[error(
        "fps times frametime is about {product:.2e} ({rows} rows can tell): about 1000 would mean \
         milliseconds and about 1000000 microseconds; name the column frametime_ms, frametime_us \
         or frametime_ns"
    )]
    UnitUnclear {
        /// The median of `fps` times `frametime`; 0 if no row could tell.
        product: f64,
        /// How many rows have both numbers above zero.
        rows: usize,
    },
    /// A trace without frames cannot be written, since it could not be read back.
    #[error("there are no frames to write: record at least one")]
    NothingToWrite,
    /// A frame too long to be read back.
    #[error(
        "frame {index} lasts {frame:?}, and a trace holds up to 1 hour a frame: drop or cut it"
    )]
    FrameTooLong {
        /// The frame's index, from 0.
        index: usize,
        /// How long it lasts.
        frame: Duration,
    },
}

impl TraceError {
    /// The line at fault, from 1, if there is one.
    ///
    /// ```
    /// use sc_core::FrameTrace;
    /// assert_eq!(FrameTrace::parse("").unwrap_err().line(), None);
    /// ```
    #[must_use]
    pub fn line(&self) -> Option<usize> {
        match self {
            TraceError::InFile { error, .. } => error.line(),
            TraceError::Line { line, .. } | TraceError::NoColumn { line, .. } => Some(*line),
            _ => None,
        }
    }
}

/// What is wrong with one line of a frame trace.
///
/// ```
/// use sc_core::{FrameTrace, LineProblem, TraceError};
/// let error = FrameTrace::parse("frametime\n16.6\ninf\n").unwrap_err();
/// let TraceError::Line { problem, .. } = error else { panic!("{error}") };
/// assert_eq!(problem, LineProblem::Infinite);
/// ```
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LineProblem {
    /// Text where a number belongs.
    #[error("the frame time {text:?} is not a number: correct or delete the line")]
    NotANumber {
        /// The text; shortened if long.
        text: String,
    },
    /// Nothing where a number belongs.
    #[error("the frame time is missing: write a number or NA, or delete the line")]
    Missing,
    /// NaN.
    #[error("the frame time is NaN: write NA to have the row passed over, or delete the line")]
    Nan,
    /// Positive or negative infinity.
    #[error("the frame time is infinite: write NA to have the row passed over, or delete the line")]
    Infinite,
    /// Below zero.
    #[error("the frame time {text:?} is negative: correct or delete the line")]
    Negative {
        /// The text; shortened if long.
        text: String,
    },
    /// More than an hour: a time stamp, perhaps, or another unit.
    #[error(
        "the frame time {text:?} is more than 1 hour in {unit}: check that the column holds \
         frame times in that unit"
    )]
    TooLong {
        /// The number.
        text: String,
        /// The unit it was read in.
        unit: super::TraceUnit,
    },
    /// A row as wide as the header is needed, or a field may be taken for its neighbour.
    #[error(
        "the row has {found} fields and the header {expected}: complete it, quote a field that \
         holds the separator, or delete the line"
    )]
    FieldCount {
        /// Fields of the row.
        found: usize,
        /// Fields of the header.
        expected: usize,
    },
    /// A field begins with a quote that never ends.
    #[error("a quoted field is not closed: close the quote or delete the line")]
    UnclosedQuote,
    /// `16,683` without a header: one number or two?
    #[error(
        "{text:?} may be one number or two: write a point, or name the column in a header line"
    )]
    DecimalComma {
        /// The text; shortened if long.
        text: String,
    },
}

/// Text of a user's file, short enough for a message.
pub(super) fn clip(text: &str) -> String {
    const MOST: usize = 40;
    match text.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}

fn list(found: &[String]) -> String {
    const MOST: usize = 40;
    let mut text = found
        .iter()
        .take(MOST)
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(", ");
    if found.len() > MOST {
        text.push_str(", …");
    }
    text
}
