//! Frame traces: the frame times of a game as players record them, read and written.
//!
//! What is read, in UTF-8 (with or without a byte order mark) or UTF-16 with one:
//!
//! | file | column | unit |
//! | --- | --- | --- |
//! | MangoHud log, plain or versioned | `frametime` beside `fps` | ms or µs: the median of `fps` × `frametime` over all rows tells |
//! | PresentMon 1 and 2, OCAT | `MsBetweenPresents`, else `FrameTime`, else `MsBetweenAppStart` | ms |
//! | CapFrameX CSV (not its JSON) | as PresentMon, after a block of `//` lines | ms |
//! | any table | `frametime_ms`, `frametime_us`, `frametime_ns` | by name |
//! | one number a line, with or without a header | the only one | ms, or as the header tells |
//!
//! Names count in any case, quoted or not; blanks and punctuation in them do not. Fields are
//! separated by commas, semicolons or tabs. A comma is a decimal comma wherever it does not
//! separate. Blank lines and comment lines (`#`, `//`) are passed over.
//!
//! **The end of a file.** A last line with too few fields, or, with no line end after it, an
//! open quote or half a number (`16.`), is taken for cut and passed over. If the frame time is
//! a line's last field and no line end follows, a cut number cannot always be told from a whole
//! one: `16.68` may lack a digit. It is passed over if all rows before (three or more) have the
//! same three or more digits after the point and it has fewer, as in files written here; else
//! it is taken, and [`TraceSource::open_last_line`] says so.
//!
//! **Several processes.** Of the process with the most frames, the swap chain with the most is
//! taken; [`TraceSource::taken`] and [`TraceSource::dropped`] say which and how many.
//!
//! Any other line that is no row refuses the file, with its number. Whatever is passed over is
//! counted in [`TraceSource`].

mod columns;
mod error;
mod fields;
mod read;
mod source;
mod write;

use std::path::Path;
use std::time::Duration;

pub use error::{LineProblem, TraceError};
pub use source::{TraceFormat, TraceProcess, TraceSource, TraceUnit};

/// Frame times in the order they happened, to replay a game's frames or to judge them.
///
/// ```
/// use sc_core::FrameTrace;
/// use std::time::Duration;
/// let trace = FrameTrace::parse("fps,frametime\n60,16.683\n59,16.7\n")?;
/// assert_eq!(trace.frames(), [Duration::from_micros(16_683), Duration::from_micros(16_700)]);
/// assert_eq!(trace.total(), Duration::from_micros(33_383));
/// # Ok::<(), sc_core::TraceError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FrameTrace {
    frames: Vec<Duration>,
    source: Option<TraceSource>,
}

impl FrameTrace {
    /// A trace of these frames, each as long as given. Any length is kept; one of more than an
    /// hour cannot be written.
    ///
    /// ```
    /// use sc_core::FrameTrace;
    /// use std::time::Duration;
    /// let trace = FrameTrace::from_frames([Duration::from_millis(16); 3]);
    /// assert_eq!(trace.len(), 3);
    /// ```
    #[must_use]
    pub fn from_frames(frames: impl IntoIterator<Item = Duration>) -> Self {
        FrameTrace {
            frames: frames.into_iter().collect(),
            source: None,
        }
    }

    fn from_source(frames: Vec<Duration>, source: TraceSource) -> Self {
        FrameTrace {
            frames,
            source: Some(source),
        }
    }

    /// Reads a capture from a file, all of it into memory. Numbers are taken as the decimals
    /// they are, to the nearest nanosecond, a half up.
    ///
    /// # Errors
    /// [`TraceError::Io`] if the file cannot be read, else [`TraceError::InFile`] with the path
    /// and what [`FrameTrace::parse_bytes`] says.
    ///
    /// ```
    /// use sc_core::{FrameTrace, TraceError};
    /// let error = FrameTrace::read("no/such/file.csv").unwrap_err();
    /// assert!(matches!(error, TraceError::Io { .. }));
    /// ```
    pub fn read(path: impl AsRef<Path>) -> Result<Self, TraceError> {
        let path = path.as_ref();
        let bytes = std::fs::read(path).map_err(|source| TraceError::Io {
            action: "read",
            path: path.to_owned(),
            source,
        })?;
        Self::parse_bytes(&bytes).map_err(|error| TraceError::InFile {
            path: path.to_owned(),
            error: Box::new(error),
        })
    }

    /// Reads a capture from text.
    ///
    /// # Errors
    /// [`TraceError`] if no frame time column is found, its unit cannot be told, there is no
    /// row, or a line is no row: text, NaN, an infinity, a negative number, more than an hour,
    /// or a number of fields other than the header's.
    ///
    /// ```
    /// use sc_core::FrameTrace;
    /// let error = FrameTrace::parse("fps,frametime\n60,16.6\n60,oops\n").unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "line 3: the frame time \"oops\" is not a number: correct or delete the line",
    /// );
    /// ```
    pub fn parse(text: &str) -> Result<Self, TraceError> {
        read::parse_text(text, false)
    }

    /// Reads a capture from bytes: UTF-8, or UTF-16 with a byte order mark. What cannot be
    /// decoded is replaced (a name in another code page does no harm), and
    /// [`TraceSource::replaced_bytes`] says so.
    ///
    /// # Errors
    /// As [`FrameTrace::parse`].
    ///
    /// ```
    /// use sc_core::FrameTrace;
    /// let trace = FrameTrace::parse_bytes(b"Application,FrameTime\njeu\xE9.exe,16.6\n")?;
    /// assert_eq!(trace.len(), 1);
    /// assert!(trace.source().is_some_and(|s| s.replaced_bytes));
    /// # Ok::<(), sc_core::TraceError>(())
    /// ```
    pub fn parse_bytes(bytes: &[u8]) -> Result<Self, TraceError> {
        read::parse_bytes(bytes)
    }

    /// What was found in the file, and what was passed over; `None` for a trace that was not
    /// read. [`FrameTrace::push`] does not change it.
    ///
    /// ```
    /// use sc_core::FrameTrace;
    /// let trace = FrameTrace::parse("16.6\n16.7\n")?;
    /// let source = trace.source().map(ToString::to_string);
    /// assert_eq!(source.as_deref(), Some("one-column file, no header, in milliseconds; 2 frames"));
    /// # Ok::<(), sc_core::TraceError>(())
    /// ```
    #[must_use]
    pub fn source(&self) -> Option<&TraceSource> {
        self.source.as_ref()
    }

    /// The frame times, the first frame first.
    ///
    /// ```
    /// use sc_core::FrameTrace;
    /// use std::time::Duration;
    /// let trace = FrameTrace::parse("16.6833335")?;
    /// assert_eq!(trace.frames(), [Duration::from_nanos(16_683_334)]);
    /// # Ok::<(), sc_core::TraceError>(())
    /// ```
    #[must_use]
    pub fn frames(&self) -> &[Duration] {
        &self.frames
    }

    /// How many frames there are.
    ///
    /// ```
    /// assert_eq!(sc_core::FrameTrace::default().len(), 0);
    /// ```
    #[must_use]
    pub fn len(&self) -> usize {
        self.frames.len()
    }

    /// Whether there are no frames. A trace that was read has at least one.
    ///
    /// ```
    /// assert!(sc_core::FrameTrace::default().is_empty());
    /// ```
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// The sum of all frame times; [`Duration::MAX`] if it is beyond that.
    ///
    /// ```
    /// use sc_core::FrameTrace;
    /// use std::time::Duration;
    /// let trace = FrameTrace::from_frames([Duration::from_millis(20); 50]);
    /// assert_eq!(trace.total(), Duration::from_secs(1));
    /// ```
    #[must_use]
    pub fn total(&self) -> Duration {
        let add = |sum: Duration, &frame| sum.saturating_add(frame);
        self.frames.iter().fold(Duration::ZERO, add)
    }

    /// Appends a frame. Any length is kept, as in [`FrameTrace::from_frames`].
    ///
    /// ```
    /// use sc_core::FrameTrace;
    /// use std::time::Duration;
    /// let mut trace = FrameTrace::default();
    /// trace.push(Duration::from_millis(16));
    /// assert_eq!(trace.total(), Duration::from_millis(16));
    /// ```
    pub fn push(&mut self, frame: Duration) {
        self.frames.push(frame);
    }

    /// The frames that are hitches, with their index from 0: those that took *longer* than
    /// `threshold`. A frame of exactly that long is none.
    ///
    /// What is felt as one depends on the game: for 60 frames a second, 50 ms is three frames
    /// late.
    ///
    /// ```
    /// use sc_core::FrameTrace;
    /// use std::time::Duration;
    /// let trace = FrameTrace::parse("16.7\n120\n16.7\n50\n")?;
    /// let hitches: Vec<_> = trace.hitches(Duration::from_millis(50)).collect();
    /// assert_eq!(hitches, [(1, Duration::from_millis(120))]);
    /// # Ok::<(), sc_core::TraceError>(())
    /// ```
    pub fn hitches(&self, threshold: Duration) -> impl Iterator<Item = (usize, Duration)> + '_ {
        let frames = self.frames.iter().copied().enumerate();
        frames.filter(move |&(_, frame)| frame > threshold)
    }

    /// The trace as CSV: the header `frametime_ms`, then a line a frame, milliseconds with six
    /// digits after the point. Reading it gives the same frames to the nanosecond.
    ///
    /// # Errors
    /// [`TraceError::NothingToWrite`] without frames, [`TraceError::FrameTooLong`] for a frame
    /// of more than an hour: neither could be read back.
    ///
    /// ```
    /// use sc_core::FrameTrace;
    /// use std::time::Duration;
    /// let trace = FrameTrace::from_frames([Duration::from_nanos(16_683_001)]);
    /// assert_eq!(trace.to_csv()?, "frametime_ms\n16.683001\n");
    /// # Ok::<(), sc_core::TraceError>(())
    /// ```
    pub fn to_csv(&self) -> Result<String, TraceError> {
        write::csv(&self.frames)
    }

    /// Writes [`FrameTrace::to_csv`] to a file. One that exists is replaced, though not
    /// atomically: if the system fails in the middle, what it wrote so far stays.
    ///
    /// # Errors
    /// As [`FrameTrace::to_csv`], and then the file is untouched; [`TraceError::Io`] with the
    /// path if the system cannot write it.
    ///
    /// ```
    /// use sc_core::{FrameTrace, TraceError};
    /// let error = FrameTrace::default().write("never-made.csv").unwrap_err();
    /// assert!(matches!(error, TraceError::NothingToWrite));
    /// ```
    pub fn write(&self, path: impl AsRef<Path>) -> Result<(), TraceError> {
        write::file(self, path.as_ref())
    }
}
