//! What a `Cx` can do with the console.

use std::sync::Arc;

use sc_core::Cx;

use crate::complete::Completions;
use crate::history::History;
use crate::output::{LineOutcome, LineRun, OutputLine};
use crate::snapshot::ConsoleSnapshot;
use crate::source::Source;

/// The console, as calls on the [`Cx`].
pub trait ConsoleExt<H: 'static> {
    /// Installs the console: validates what is declared, and says which registry is live. Done by
    /// every other call when it is not done yet.
    fn start_console(&mut self);

    /// Runs a line at once. What it cannot do at once goes on in the stage `Console`: then the
    /// outcome is `Pending`, and the output is what there is so far.
    fn run_line(&mut self, line: &str, source: Source) -> LineRun;

    /// Runs a line in the next stage `Console`, and calls `done` when all of it is done.
    fn queue_line(
        &mut self,
        line: &str,
        source: Source,
        done: impl FnOnce(&mut Cx<'_, H>, LineRun) + 'static,
    );

    /// What could stand at the caret, live suggestions included.
    fn complete_line(&mut self, line: &str, caret: usize, source: Source) -> Completions;

    /// What a source can see, for other threads. The same `Arc` as long as nothing has changed.
    fn console_snapshot(&mut self, source: Source) -> Arc<ConsoleSnapshot>;

    /// The history of lines.
    fn console_history(&mut self) -> &History;

    /// Everything that was shown since line number `since`, and the number to ask with next. A
    /// bounded ring: what is older than it holds is skipped.
    fn console_output(&mut self, since: u64) -> (Vec<OutputLine>, u64);
}

impl<H> ConsoleExt<H> for Cx<'_, H> {
    fn start_console(&mut self) {}

    fn run_line(&mut self, _line: &str, _source: Source) -> LineRun {
        LineRun {
            outcome: LineOutcome::Done,
            output: Vec::new(),
            left_out: 0,
        }
    }

    fn queue_line(
        &mut self,
        line: &str,
        source: Source,
        done: impl FnOnce(&mut Cx<'_, H>, LineRun) + 'static,
    ) {
        let run = self.run_line(line, source);
        done(self, run);
    }

    fn complete_line(&mut self, line: &str, caret: usize, source: Source) -> Completions {
        self.console_snapshot(source).complete(line, caret)
    }

    fn console_snapshot(&mut self, _source: Source) -> Arc<ConsoleSnapshot> {
        Arc::default()
    }

    fn console_history(&mut self) -> &History {
        self.runtime_state::<History>()
    }

    fn console_output(&mut self, since: u64) -> (Vec<OutputLine>, u64) {
        (Vec::new(), since)
    }
}
