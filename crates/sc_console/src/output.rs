//! What commands print: captured for each line that is run, bounded.

use std::collections::VecDeque;
use std::fmt;

use crate::source::Source;

/// What a line of output is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LineKind {
    /// The line that was run.
    Echo,
    /// What a command printed.
    Text,
    /// Something worked, perhaps not as meant.
    Warning,
    /// Something did not happen, and why.
    Error,
}

/// One line of output. Its text has no line break.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OutputLine {
    /// What it is.
    pub kind: LineKind,
    /// Its text.
    pub text: String,
}

/// How the running of a line stands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LineOutcome {
    /// Everything on it was done.
    Done,
    /// Something on it failed; the output says what, and the rest of it was not run.
    Failed,
    /// It waits for a latent command or for frames, and goes on in the stage `Console`.
    Pending,
    /// The runtime was shut down while it waited.
    Cancelled,
}

/// What the running of a line came to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LineRun {
    /// How it stands.
    pub outcome: LineOutcome,
    /// What was printed, the newest lines of it.
    pub output: Vec<OutputLine>,
    /// How many older lines did not fit.
    pub left_out: u64,
}

impl LineRun {
    /// The text of its output, a line each.
    #[must_use]
    pub fn text(&self) -> String {
        let lines = self.output.iter().map(|line| line.text.as_str());
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// Where a command prints.
#[derive(Debug)]
pub struct Output {
    source: Source,
    lines: VecDeque<OutputLine>,
}

impl Output {
    /// Who asks.
    #[must_use]
    pub fn source(&self) -> Source {
        self.source
    }

    /// What `write!` and `writeln!` call.
    ///
    /// # Errors
    /// That of what is printed, if its `Display` gives one.
    pub fn write_fmt(&mut self, args: fmt::Arguments<'_>) -> fmt::Result {
        self.lines.push_back(OutputLine {
            kind: LineKind::Text,
            text: args.to_string(),
        });
        Ok(())
    }
}
