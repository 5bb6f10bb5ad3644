//! What commands print: captured for each line that is run, and shown. Both are bounded and keep the
//! newest.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt::{self, Write};
use std::rc::Rc;
use std::sync::Arc;

use crate::info::EntryInfo;
use crate::source::Source;

/// What a line of output is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LineKind {
    /// The line that was run. Shown, but no part of what is captured.
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
    /// Something on it failed; the output says what, and what was not run for it.
    Failed,
    /// It waits for a latent command or for frames, and goes on in the stage `Console`.
    Pending,
    /// It was given up before all of it was done: by `SC.Line.Cancel`, or because the runtime ended.
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

/// So many lines are kept, of one run and of what is shown.
const LINES: usize = 10_000;
/// So many bytes are kept.
const BYTES: usize = 4 << 20;
/// A longer line is cut.
const LONGEST: usize = 64 << 10;

/// The newest lines of a stream, which are numbered.
#[derive(Debug, Default)]
pub(crate) struct Ring {
    lines: VecDeque<OutputLine>,
    bytes: usize,
    /// The number of the first line that is kept.
    first: u64,
}

impl Ring {
    pub(crate) fn push(&mut self, line: OutputLine) {
        self.bytes += line.text.len();
        self.lines.push_back(line);
        while self.lines.len() > LINES || self.bytes > BYTES {
            let Some(oldest) = self.lines.pop_front() else {
                break;
            };
            self.bytes -= oldest.text.len();
            self.first += 1;
        }
    }

    /// The number that the next line will have.
    pub(crate) fn end(&self) -> u64 {
        self.first + self.lines.len() as u64
    }

    /// The lines from a number on, as far as they are kept.
    pub(crate) fn since(&self, number: u64) -> impl Iterator<Item = &OutputLine> {
        let skip = usize::try_from(number.saturating_sub(self.first)).unwrap_or(usize::MAX);
        self.lines.iter().skip(skip)
    }

    pub(crate) fn clear(&mut self) {
        self.first = self.end();
        self.lines.clear();
        self.bytes = 0;
    }
}

/// Told of each line that is printed, when it is shown. Never user code.
pub(crate) type Heard = Rc<dyn Fn(&OutputLine)>;

/// What was printed for one line that runs. The console sees it while the command that prints holds its
/// [`Output`]: what a command has printed is shown before what a line prints that it runs.
#[derive(Default)]
pub(crate) struct Printed {
    ring: Ring,
    /// The line that is not ended yet.
    open: String,
    cut: bool,
    /// How many lines were shown.
    shown: u64,
    /// Who has asked for the line, if they want what it prints as it comes.
    pub(crate) heard: Option<Heard>,
}

impl fmt::Debug for Printed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.ring.fmt(f)
    }
}

impl Printed {
    /// Shows what was printed since the last time.
    pub(crate) fn show(&mut self, shown: &mut Ring) {
        for line in self.ring.since(self.shown) {
            shown.push(line.clone());
            if let Some(heard) = &self.heard {
                heard(line);
            }
        }
        self.shown = self.ring.end();
    }

    fn lines(&mut self, kind: LineKind, text: &str) {
        self.end_line();
        for line in text.lines() {
            let mut text = line.to_owned();
            if text.len() > LONGEST {
                text.truncate(text.floor_char_boundary(LONGEST));
                text.push('…');
            }
            self.ring.push(OutputLine { kind, text });
        }
    }

    fn end_line(&mut self) {
        if !self.open.is_empty() {
            self.break_line();
        }
    }

    fn break_line(&mut self) {
        let text = std::mem::take(&mut self.open);
        self.cut = false;
        self.ring.push(OutputLine {
            kind: LineKind::Text,
            text,
        });
    }

    fn append(&mut self, part: &str) {
        if self.cut {
            return;
        }
        if self.open.len() + part.len() > LONGEST {
            let room = LONGEST.saturating_sub(self.open.len());
            let end = part.floor_char_boundary(room);
            self.open.push_str(part.get(..end).unwrap_or_default());
            self.open.push('…');
            self.cut = true;
        } else {
            self.open.push_str(part);
        }
    }
}

/// Where a command prints, by `write!` and `writeln!`, and what it can ask about its call.
///
/// What is printed is captured for the caller of the line, and shown. Both keep the newest 10,000
/// lines (4 MiB); a longer line than 64 KiB is cut.
#[derive(Debug)]
pub struct Output {
    source: Source,
    /// What runs.
    entry: Option<Arc<EntryInfo>>,
    // Borrowed for one piece of text at a time, never across user code.
    printed: Rc<RefCell<Printed>>,
}

impl Output {
    pub(crate) fn new(source: Source) -> Self {
        Output {
            source,
            entry: None,
            printed: Rc::default(),
        }
    }

    /// Who asks.
    ///
    /// ```
    /// # use sc_console::{ConsoleExt, Source, dynamic_command};
    /// # use sc_core::{Cx, Runtime};
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// let command = dynamic_command! {
    ///     /// Answers who sits here.
    ///     Ask () |_cx: &mut Cx<'_, ()>, out| {
    ///         if out.source() == Source::Remote { Err("not from another machine")?; }
    ///         Ok(())
    ///     }
    /// };
    /// cx.register_command(command.runtime())?;
    /// # #[cfg(feature = "commands")]
    /// assert_eq!(cx.run_line("ask", Source::Remote).text(), "`Ask` failed: not from another machine");
    /// # Ok::<(), sc_console::RegisterError>(())
    /// ```
    #[must_use]
    pub fn source(&self) -> Source {
        self.source
    }

    /// The name of the command that runs, as it was registered.
    ///
    /// ```
    /// # use sc_console::{ConsoleExt, Source, dynamic_command};
    /// # use sc_core::{Cx, Runtime};
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// let command = dynamic_command! {
    ///     /// Says its name.
    ///     Ask () |_cx: &mut Cx<'_, ()>, out| {
    ///         let name = out.command().to_owned();
    ///         writeln!(out, "this is {name}")?;
    ///         Ok(())
    ///     }
    /// };
    /// cx.register_command(command.runtime())?;
    /// # #[cfg(feature = "commands")]
    /// assert_eq!(cx.run_line("ASK", Source::Local).text(), "this is Ask");
    /// # Ok::<(), sc_console::RegisterError>(())
    /// ```
    #[must_use]
    pub fn command(&self) -> &str {
        self.entry.as_ref().map_or("", |entry| &entry.name)
    }

    /// Prints a warning: the command works, perhaps not as meant.
    ///
    /// ```
    /// # use sc_console::{ConsoleExt, Source, dynamic_command};
    /// # use sc_core::{Cx, Runtime};
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// let command = dynamic_command! {
    ///     /// Asks.
    ///     Ask () |_cx: &mut Cx<'_, ()>, out| {
    ///         out.warn("nobody listens");
    ///         Ok(())
    ///     }
    /// };
    /// cx.register_command(command.runtime())?;
    /// # #[cfg(feature = "commands")]
    /// assert_eq!(cx.run_line("ask", Source::Local).output[0].kind, sc_console::LineKind::Warning);
    /// # Ok::<(), sc_console::RegisterError>(())
    /// ```
    pub fn warn(&mut self, text: impl fmt::Display) {
        let text = text.to_string();
        self.printed.borrow_mut().lines(LineKind::Warning, &text);
    }

    /// What `write!` and `writeln!` call.
    ///
    /// # Errors
    /// That of what is printed, if its `Display` gives one.
    pub fn write_fmt(&mut self, args: fmt::Arguments<'_>) -> fmt::Result {
        Open(self).write_fmt(args)
    }

    /// A command or variable is about to run, asked for by a source.
    pub(crate) fn begin(&mut self, source: Source, entry: &Arc<EntryInfo>) {
        self.source = source;
        self.entry = Some(Arc::clone(entry));
    }

    pub(crate) fn error(&mut self, text: &str) {
        self.printed.borrow_mut().lines(LineKind::Error, text);
    }

    /// Ends a line that was begun.
    pub(crate) fn end_line(&mut self) {
        self.printed.borrow_mut().end_line();
    }

    /// What was printed, to be seen while it is being printed.
    pub(crate) fn printed(&self) -> &Rc<RefCell<Printed>> {
        &self.printed
    }

    pub(crate) fn into_run(mut self, outcome: LineOutcome) -> LineRun {
        self.end_line();
        let ring = std::mem::take(&mut self.printed.borrow_mut().ring);
        LineRun {
            outcome,
            left_out: ring.first,
            output: ring.lines.into(),
        }
    }

    pub(crate) fn run_so_far(&self, outcome: LineOutcome) -> LineRun {
        let ring = &self.printed.borrow().ring;
        LineRun {
            outcome,
            left_out: ring.first,
            output: ring.lines.iter().cloned().collect(),
        }
    }
}

/// The line that an output has open, as what `write!` writes to.
struct Open<'o>(&'o mut Output);

impl Write for Open<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut printed = self.0.printed.borrow_mut();
        let mut rest = text;
        while let Some((line, after)) = rest.split_once('\n') {
            printed.append(line.strip_suffix('\r').unwrap_or(line));
            printed.break_line();
            rest = after;
        }
        printed.append(rest);
        Ok(())
    }
}
