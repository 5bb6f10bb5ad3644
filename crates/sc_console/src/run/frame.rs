//! Frames of a task: a line, an alias, a script.

use std::collections::VecDeque;
use std::ops::Range;
use std::vec;

use crate::parse::{CommandText, LineText, ParseError, Word, parse_line};
use crate::source::Source;

/// Lines that a command wants run in its place.
#[derive(Debug)]
pub struct Lines {
    pub(crate) kind: FrameKind,
    pub(crate) lines: VecDeque<(usize, String)>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum FrameKind {
    Line,
    Alias(String),
    Script { name: String, keep_going: bool },
}

impl Lines {
    /// The lines of a script.
    pub(crate) fn script(name: &str, text: &str, keep_going: bool) -> Self {
        let lines = text.lines().map(str::to_owned);
        Lines {
            kind: FrameKind::Script {
                name: name.to_owned(),
                keep_going,
            },
            lines: lines.enumerate().map(|(i, line)| (i + 1, line)).collect(),
        }
    }
}

/// One frame: the lines that are left, and the commands left on the present one.
pub(crate) struct Frame {
    kind: FrameKind,
    source: Source,
    lines: VecDeque<(usize, String)>,
    /// The present line and its number.
    line: String,
    number: usize,
    commands: vec::IntoIter<CommandText>,
    /// What is wrong with the present line, until it is said.
    error: Option<ParseError>,
    /// Put at the end of its last command.
    extra: Vec<Passed>,
    /// Of the present command's last words, in which frame's line each stands.
    passed: Vec<usize>,
    /// Where in the present line secrets were found when they were used.
    secrets: Vec<Range<usize>>,
}

/// A word that is passed on by an alias.
pub(crate) struct Passed {
    pub(crate) word: Word,
    /// The frame in whose line it stands, from the bottom.
    pub(crate) frame: usize,
}

impl Frame {
    pub(crate) fn line(line: &str, source: Source) -> Self {
        let mut frame = Frame::of(FrameKind::Line, source);
        frame.read(1, line.to_owned());
        frame
    }

    pub(crate) fn alias(name: &str, line: &str, extra: Vec<Passed>, source: Source) -> Self {
        let mut frame = Frame::of(FrameKind::Alias(name.to_owned()), source);
        frame.read(1, line.to_owned());
        frame.extra = extra;
        frame
    }

    /// Lines asked for by a source: those of a script run as a script, unless another machine asks.
    pub(crate) fn new(lines: Lines, source: Source) -> Self {
        let is_script = matches!(lines.kind, FrameKind::Script { .. });
        let source = match source {
            Source::Local | Source::Terminal if is_script => Source::Script,
            source => source,
        };
        let mut frame = Frame::of(lines.kind, source);
        frame.lines = lines.lines;
        frame
    }

    fn of(kind: FrameKind, source: Source) -> Self {
        Frame {
            source,
            kind,
            lines: VecDeque::new(),
            line: String::new(),
            number: 0,
            commands: vec::IntoIter::default(),
            error: None,
            extra: Vec::new(),
            passed: Vec::new(),
            secrets: Vec::new(),
        }
    }

    pub(crate) fn source(&self) -> Source {
        self.source
    }

    /// Makes a line the present one.
    fn read(&mut self, number: usize, line: String) {
        let LineText { commands, errors } = parse_line(&line);
        self.commands = commands.into_iter();
        self.error = errors.into_iter().next();
        self.line = line;
        self.number = number;
        self.secrets.clear();
    }

    /// The present line.
    pub(crate) fn text(&self) -> &str {
        &self.line
    }

    /// What is left of the present line.
    pub(crate) fn commands(&self) -> &[CommandText] {
        self.commands.as_slice()
    }

    /// Whether there is nothing on the present line, not even something wrong.
    pub(crate) fn is_blank(&self) -> bool {
        self.commands().is_empty() && self.error.is_none()
    }

    /// In which frame's line an argument of the present command stands, if in another one's.
    pub(crate) fn passed_from(&self, index: usize, arguments: usize) -> Option<usize> {
        let own = arguments.saturating_sub(self.passed.len());
        self.passed.get(index.checked_sub(own)?).copied()
    }

    /// Notes a secret of the present line.
    pub(crate) fn keep_secret(&mut self, span: Range<usize>) {
        self.secrets.push(span);
    }

    pub(crate) fn secrets(&self) -> &[Range<usize>] {
        &self.secrets
    }

    /// What it is called, unless it is the line itself.
    pub(crate) fn name(&self) -> Option<&str> {
        match &self.kind {
            FrameKind::Line => None,
            FrameKind::Alias(name) | FrameKind::Script { name, .. } => Some(name),
        }
    }

    pub(crate) fn is_alias(&self) -> bool {
        matches!(self.kind, FrameKind::Alias(_))
    }

    /// Where the present command is, for messages.
    pub(crate) fn place(&self) -> Option<String> {
        match &self.kind {
            FrameKind::Line => None,
            FrameKind::Alias(name) => Some(format!("alias `{name}`")),
            FrameKind::Script { name, .. } => Some(format!("{name}, line {}", self.number)),
        }
    }

    pub(crate) fn keeps_going(&self) -> bool {
        matches!(
            self.kind,
            FrameKind::Script {
                keep_going: true,
                ..
            }
        )
    }

    /// The next command, or what is wrong with the next line.
    pub(crate) fn next(&mut self) -> Option<Result<CommandText, ParseError>> {
        loop {
            if let Some(error) = self.error.take() {
                self.give_up_line();
                return Some(Err(error));
            }
            if let Some(mut command) = self.commands.next() {
                if self.commands().is_empty() {
                    for passed in self.extra.drain(..) {
                        command.args.push(passed.word);
                        self.passed.push(passed.frame);
                    }
                }
                return Some(Ok(command));
            }
            let (number, line) = self.lines.pop_front()?;
            self.read(number, line);
        }
    }

    /// Leaves out what is left of the present line; how many commands that was.
    pub(crate) fn give_up_line(&mut self) -> usize {
        std::mem::take(&mut self.commands).len()
    }

    /// What to say about the rest that is not run, if there is any.
    pub(crate) fn not_run(&self, commands: usize) -> Option<String> {
        match &self.kind {
            FrameKind::Script { name, .. } if commands > 0 || !self.lines.is_empty() => {
                Some(format!(
                    "{name}: stopped at line {}; the rest was not run",
                    self.number
                ))
            }
            _ if commands > 0 => Some("the rest of the line was not run".to_owned()),
            _ => None,
        }
    }
}
