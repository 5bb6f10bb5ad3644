//! One event of the log, and how it is read off a `tracing` event.

use std::fmt::{self, Write as _};
use std::time::Duration;

use tracing::field::{Field, Visit};
use tracing::{Event, Level};

/// More bytes than this, and a message or a field's value is cut, with a note of how much is gone.
const LONGEST: usize = 16 * 1024;

/// One event of the log.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct LogRecord {
    /// Its number, counted from 1 over all that the ring has caught.
    pub number: u64,
    /// Its level.
    pub level: Level,
    /// Its target: by default the module that it was made in.
    pub target: &'static str,
    /// Its message.
    pub message: String,
    /// Its fields besides the message, in the order in which they were given.
    pub fields: Vec<(&'static str, String)>,
    /// When it was made: the reading of the real clock of the runtime that the ring is attached to.
    /// It moves once a frame. Zero if there is none.
    pub time: Duration,
    /// In which frame of that runtime, or after which one.
    pub frame: u64,
}

impl LogRecord {
    pub(super) fn of(event: &Event<'_>) -> Self {
        let mut read = Read::default();
        event.record(&mut read);
        LogRecord {
            number: 0,
            level: *event.metadata().level(),
            target: event.metadata().target(),
            message: read.message,
            fields: read.fields,
            time: Duration::ZERO,
            frame: 0,
        }
    }

    /// How long its texts are.
    #[cfg(feature = "terminal")]
    pub(crate) fn bytes(&self) -> usize {
        let fields = self.fields.iter().map(|(_, value)| value.len());
        self.message.len() + fields.sum::<usize>()
    }
}

/// On as many lines as the message has: level, target, message, fields that are not empty; not the
/// time.
///
/// ```
/// use sc_console::LogRing;
/// let ring = LogRing::new();
/// tracing::subscriber::with_default(ring.subscriber(), || {
///     tracing::warn!(target: "game::save", slot = 2, "the disk is full");
/// });
/// let record = &ring.records()[0];
/// assert_eq!(record.to_string(), " WARN game::save: the disk is full slot=2");
/// ```
impl fmt::Display for LogRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>5} {}:", self.level.as_str(), self.target)?;
        if !self.message.is_empty() {
            write!(f, " {}", self.message)?;
        }
        for (name, value) in self.fields.iter().filter(|(_, value)| !value.is_empty()) {
            write!(f, " {name}={value}")?;
        }
        Ok(())
    }
}

#[derive(Default)]
struct Read {
    message: String,
    fields: Vec<(&'static str, String)>,
}

impl Read {
    fn add(&mut self, field: &Field, value: fmt::Arguments<'_>) {
        let mut cut = Cut::default();
        // A value that cannot be written is as far as it came.
        let _ = cut.write_fmt(value);
        let text = cut.into_text();
        if field.name() == "message" {
            self.message = text;
        } else {
            self.fields.push((field.name(), text));
        }
    }
}

impl Visit for Read {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.add(field, format_args!("{value}"));
    }

    fn record_error(&mut self, field: &Field, value: &(dyn std::error::Error + 'static)) {
        self.add(field, format_args!("{value}"));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.add(field, format_args!("{value:?}"));
    }
}

/// A text that keeps its first bytes, and counts the others.
#[derive(Default)]
struct Cut {
    text: String,
    left_out: usize,
}

impl Cut {
    fn into_text(mut self) -> String {
        if self.left_out > 0 {
            let note = format!(".. ({} bytes more)", self.left_out);
            self.text.push_str(&note);
        }
        self.text
    }
}

impl fmt::Write for Cut {
    fn write_str(&mut self, s: &str) -> fmt::Result {
        let room = LONGEST.saturating_sub(self.text.len());
        let fits = if self.left_out > 0 {
            0
        } else {
            s.floor_char_boundary(room)
        };
        self.text.push_str(s.get(..fits).unwrap_or_default());
        self.left_out += s.len() - fits;
        Ok(())
    }
}
