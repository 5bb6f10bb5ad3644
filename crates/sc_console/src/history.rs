//! The history of lines.

/// The lines that were run, oldest first, secrets as `***`.
#[derive(Clone, Debug, Default)]
pub struct History {
    lines: Vec<String>,
}

impl History {
    /// The lines, oldest first.
    pub fn lines(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.lines.iter().map(String::as_str)
    }
}
