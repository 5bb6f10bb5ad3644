//! The history of lines: a ring that drops the oldest and skips what repeats the line before.

use std::collections::VecDeque;
use std::path::Path;

use crate::error::FileError;
use crate::file::{self, Limit};
use crate::parse::parse_line;

/// The lines that people have typed ([`Source::Local`](crate::Source::Local),
/// [`Terminal`](crate::Source::Terminal)), oldest first, secrets as `***`. What a command runs is not among them.
///
/// ```
/// use sc_console::{ConsoleExt, Source};
/// # use sc_core::Runtime;
/// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
/// # let mut cx = rt.cx(&mut host);
/// cx.run_line("help", Source::Local);
/// cx.run_line("help", Source::Local);
/// assert!(cx.console_history().lines().eq(["help"]));
/// ```
#[derive(Clone, Debug)]
pub struct History {
    lines: VecDeque<String>,
    capacity: usize,
}

/// A longer history file is refused.
const LIMIT: Limit = Limit {
    bytes: 16 << 20,
    fix: "delete lines of it, or move it away",
};

impl Default for History {
    fn default() -> Self {
        History {
            lines: VecDeque::new(),
            capacity: 1000,
        }
    }
}

impl History {
    /// The lines, oldest first.
    pub fn lines(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.lines.iter().map(String::as_str)
    }

    /// So many lines are kept; the oldest go. Default: 1000. With 0, none is kept.
    ///
    /// ```
    /// # use sc_console::{ConsoleExt, Source};
    /// # let (mut rt, mut host) = (sc_core::Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// cx.console_history().set_capacity(2);
    /// for line in ["help", "history", "alias"] {
    ///     cx.run_line(line, Source::Local);
    /// }
    /// assert!(cx.console_history().lines().eq(["history", "alias"]));
    /// ```
    pub fn set_capacity(&mut self, lines: usize) {
        self.capacity = lines;
        self.drop_oldest();
    }

    /// Forgets every line.
    ///
    /// ```
    /// # use sc_console::{ConsoleExt, Source};
    /// # let (mut rt, mut host) = (sc_core::Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// cx.run_line("help", Source::Local);
    /// cx.console_history().clear();
    /// assert_eq!(cx.console_history().lines().count(), 0);
    /// ```
    pub fn clear(&mut self) {
        self.lines.clear();
    }

    /// Reads the lines of a file, before those that are there. A file that does not exist is read
    /// as an empty one.
    ///
    /// ```
    /// use sc_console::History;
    /// # let path = std::env::temp_dir().join(format!("stillcooking-history-{}", std::process::id()));
    /// std::fs::write(&path, "help\nalias\n")?;
    /// let mut history = History::default();
    /// history.load(&path)?;
    /// assert!(history.lines().eq(["help", "alias"]));
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`FileError`]; nothing has changed.
    pub fn load(&mut self, path: impl AsRef<Path>) -> Result<(), FileError> {
        let text = file::read(path.as_ref(), LIMIT)?.unwrap_or_default();
        self.put_before(text.lines().map(str::to_owned));
        Ok(())
    }

    /// Puts older lines before those that are there.
    pub(crate) fn put_before(&mut self, older: impl IntoIterator<Item = String>) {
        let newer = std::mem::take(&mut self.lines);
        for line in older.into_iter().chain(newer) {
            self.push(line);
        }
    }

    /// Writes the lines to a file, atomically: the newest that [`load`](Self::load) takes, which is 16 MiB.
    ///
    /// ```
    /// # use sc_console::{ConsoleExt, Source};
    /// # let (mut rt, mut host) = (sc_core::Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// # let path = std::env::temp_dir().join(format!("stillcooking-saved-{}", std::process::id()));
    /// cx.run_line("help", Source::Local);
    /// cx.console_history().save(&path)?;
    /// assert_eq!(std::fs::read_to_string(&path)?, "help\n");
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`FileError`]; the file is as it was.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), FileError> {
        let mut left = LIMIT.bytes;
        let mut fits = |line: &str| {
            let rest = left.checked_sub(line.len() as u64 + 1);
            left = rest.unwrap_or(left);
            rest.is_some()
        };
        // One that is longer than all that is not in the way of the others.
        let lines = self.lines().rev();
        let lines = lines.filter(|line| (line.len() as u64) < LIMIT.bytes);
        let mut newest: Vec<&str> = lines.take_while(|line| fits(line)).collect();
        newest.reverse();
        let mut text = String::new();
        for line in newest {
            text.push_str(line);
            text.push('\n');
        }
        file::write(path.as_ref(), &text)
    }

    /// Keeps a line that is no secret any more.
    pub(crate) fn push(&mut self, mut line: String) {
        let text = line.trim();
        // One line of text each, that means the same: line breaks separate commands, but in quotes.
        if text.contains(['\n', '\r']) {
            let parsed = parse_line(text);
            line = match parsed.errors.is_empty() {
                true => parsed.to_string(),
                false => text.replace("\r\n", "\n").replace(['\n', '\r'], "; "),
            };
        } else if text.len() < line.len() {
            line = text.to_owned();
        }
        if line.is_empty() || self.lines.back() == Some(&line) {
            return;
        }
        self.lines.push_back(line);
        self.drop_oldest();
    }

    fn drop_oldest(&mut self) {
        while self.lines.len() > self.capacity {
            self.lines.pop_front();
        }
    }
}
