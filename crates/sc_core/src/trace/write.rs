//! From frame times to a file the reader takes back, exact to the nanosecond.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use super::FrameTrace;
use super::error::TraceError;
use super::read::LONGEST;

/// The header of written files. It tells the unit, so that the reader need not guess.
const HEADER: &str = "frametime_ms\n";

/// The bytes of one line, with frame times below ten seconds.
const LINE: usize = 12;

pub(super) fn csv(frames: &[Duration]) -> Result<String, TraceError> {
    if frames.is_empty() {
        return Err(TraceError::NothingToWrite);
    }
    let mut text = String::with_capacity(HEADER.len() + frames.len() * LINE);
    text.push_str(HEADER);
    for (index, &frame) in frames.iter().enumerate() {
        if frame > Duration::from_nanos(LONGEST) {
            return Err(TraceError::FrameTooLong { index, frame });
        }
        let nanos = frame.as_nanos();
        // Writing into a string cannot fail.
        let _ = writeln!(text, "{}.{:06}", nanos / 1_000_000, nanos % 1_000_000);
    }
    Ok(text)
}

pub(super) fn file(trace: &FrameTrace, path: &Path) -> Result<(), TraceError> {
    let text = csv(trace.frames())?;
    std::fs::write(path, text).map_err(|source| TraceError::Io {
        action: "write",
        path: path.to_owned(),
        source,
    })
}
