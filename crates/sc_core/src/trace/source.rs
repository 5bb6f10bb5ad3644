//! What a reader found in a file: which column, which unit, what it took and what it left.

use std::fmt;

/// The kind of file frame times came from.
///
/// ```
/// use sc_core::{FrameTrace, TraceFormat};
/// let trace = FrameTrace::parse("16.6\n16.7\n")?;
/// assert_eq!(trace.source().map(|s| s.format), Some(TraceFormat::Plain));
/// # Ok::<(), sc_core::TraceError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum TraceFormat {
    /// A MangoHud log: columns `fps` and `frametime`.
    MangoHud,
    /// A PresentMon CSV, or one with its columns (OCAT, FrameView).
    PresentMon,
    /// A CapFrameX CSV: an info block of `//` lines, then PresentMon's columns.
    CapFrameX,
    /// One number a line.
    Plain,
    /// Another table with a frame time column.
    Table,
}

impl fmt::Display for TraceFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TraceFormat::MangoHud => "MangoHud log",
            TraceFormat::PresentMon => "PresentMon CSV",
            TraceFormat::CapFrameX => "CapFrameX CSV",
            TraceFormat::Plain => "one-column file",
            TraceFormat::Table => "table",
        })
    }
}

/// The unit the frame times of a file are in.
///
/// ```
/// use sc_core::{FrameTrace, TraceUnit};
/// let trace = FrameTrace::parse("fps,frametime\n60,16667\n")?;
/// assert_eq!(trace.source().map(|s| s.unit), Some(TraceUnit::Microseconds));
/// # Ok::<(), sc_core::TraceError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum TraceUnit {
    /// Thousandths of a second.
    Milliseconds,
    /// Millionths of a second.
    Microseconds,
    /// Billionths of a second.
    Nanoseconds,
}

impl TraceUnit {
    /// The power of ten that turns it into nanoseconds.
    pub(super) fn scale(self) -> i32 {
        match self {
            TraceUnit::Milliseconds => 6,
            TraceUnit::Microseconds => 3,
            TraceUnit::Nanoseconds => 0,
        }
    }
}

impl fmt::Display for TraceUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TraceUnit::Milliseconds => "milliseconds",
            TraceUnit::Microseconds => "microseconds",
            TraceUnit::Nanoseconds => "nanoseconds",
        })
    }
}

/// One process, and one of its swap chains, in a capture of several.
///
/// ```
/// use sc_core::FrameTrace;
/// let trace = FrameTrace::parse(
///     "Application,ProcessID,MsBetweenPresents\n\
///      game.exe,42,16.6\ngame.exe,42,16.7\ndwm.exe,7,6.9\n",
/// )?;
/// let taken = trace.source().and_then(|s| s.taken.as_ref());
/// assert_eq!(taken.map(|p| (p.application.as_str(), p.frames)), Some(("game.exe", 2)));
/// # Ok::<(), sc_core::TraceError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct TraceProcess {
    /// The column `Application`; empty if there is none.
    pub application: String,
    /// The column `ProcessID`, as text; empty if there is none.
    pub process_id: String,
    /// The column `SwapChainAddress`, as text; empty if there is none.
    pub swap_chain: String,
    /// How many rows with a frame time it has.
    pub frames: usize,
}

impl fmt::Display for TraceProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.application.as_str() {
            "" => "a process",
            name => name,
        };
        write!(f, "{name}")?;
        if !self.process_id.is_empty() {
            write!(f, " (process {})", self.process_id)?;
        }
        if !self.swap_chain.is_empty() {
            write!(f, " swap chain {}", self.swap_chain)?;
        }
        write!(f, " with {}", plural(self.frames, "frame"))
    }
}

/// What was found in a file, what was taken, and what was passed over. Its text ([`Display`])
/// says all of it in one line, for a log.
///
/// [`Display`]: std::fmt::Display
///
/// ```
/// use sc_core::FrameTrace;
/// let trace = FrameTrace::parse("fps,frametime\n60,16.6\n60,NA\n60,16.7\n")?;
/// assert_eq!(
///     trace.source().map(ToString::to_string).as_deref(),
///     Some("MangoHud log, column frametime in milliseconds; 2 frames; 1 row passed over as NA"),
/// );
/// # Ok::<(), sc_core::TraceError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct TraceSource {
    /// The kind of file.
    pub format: TraceFormat,
    /// The column's name as the file spells it; `None` if the file has no header.
    pub column: Option<String>,
    /// The unit the numbers were read in.
    pub unit: TraceUnit,
    /// How many frames were taken.
    pub frames: usize,
    /// The process and swap chain taken, if the file names processes: of the process with the
    /// most frames, the swap chain with the most; on a tie the one seen first.
    pub taken: Option<TraceProcess>,
    /// The processes and swap chains left out, in the order the file has them.
    pub dropped: Vec<TraceProcess>,
    /// Rows of the whole file passed over because their frame time is `NA`.
    pub not_available: usize,
    /// Comment lines (`#` or `//`) passed over.
    pub comments: usize,
    /// Lines before the header passed over: MangoHud's system data.
    pub preamble: usize,
    /// The last line was cut off, and passed over.
    pub cut_last_line: bool,
    /// The last frame time stands at the end of the file with no line end after it, and was
    /// taken: if the file is cut there, a digit may be missing.
    pub open_last_line: bool,
    /// Bytes that are not UTF-8 were replaced (names in another code page).
    pub replaced_bytes: bool,
    /// A MangoHud log whose `elapsed` runs ahead of its frame times by half or more: it was
    /// logged at an interval, so that frames between the rows are missing.
    pub sampled: bool,
    /// Nothing tells the unit, and the median frame is above one second: microseconds, perhaps.
    pub unit_doubtful: bool,
}

impl fmt::Display for TraceSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.format)?;
        match &self.column {
            Some(name) => write!(f, ", column {name} in {}", self.unit)?,
            None => write!(f, ", no header, in {}", self.unit)?,
        }
        write!(f, "; {}", plural(self.frames, "frame"))?;
        if let Some(taken) = &self.taken {
            write!(f, "; took {taken}")?;
        }
        for (index, left) in self.dropped.iter().enumerate() {
            f.write_str(if index == 0 { "; left out " } else { ", " })?;
            write!(f, "{left}")?;
        }
        let mut counted = |count: usize, what: &str, why: &str| match count {
            0 => Ok(()),
            _ => write!(f, "; {} passed over{why}", plural(count, what)),
        };
        counted(self.not_available, "row", " as NA")?;
        counted(self.comments, "comment line", "")?;
        counted(self.preamble, "line", " before the header")?;
        let told = [
            (
                self.cut_last_line,
                "the last line is cut and was passed over",
            ),
            (
                self.open_last_line,
                "the last line has no line end, its number may be cut",
            ),
            (
                self.replaced_bytes,
                "bytes that are not UTF-8 were replaced",
            ),
            (
                self.sampled,
                "logged at an interval, so frames between the rows are missing",
            ),
            (
                self.unit_doubtful,
                "the median frame is above 1 s: if these are microseconds, name the column \
                 frametime_us",
            ),
        ];
        for (_, text) in told.iter().filter(|(holds, _)| *holds) {
            write!(f, "; {text}")?;
        }
        Ok(())
    }
}

fn plural(count: usize, what: &str) -> String {
    let end = if count == 1 { "" } else { "s" };
    format!("{count} {what}{end}")
}
