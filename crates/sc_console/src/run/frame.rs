//! Frames of a task: a line, an alias, a script.

use std::collections::VecDeque;

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
    commands: VecDeque<CommandText>,
    /// Put at the end of its last command.
    extra: Vec<Word>,
}

impl Frame {
    pub(crate) fn line(line: &str, source: Source) -> Self {
        Frame::new(
            Lines {
                kind: FrameKind::Line,
                lines: [(1, line.to_owned())].into(),
            },
            source,
        )
    }

    pub(crate) fn alias(name: &str, line: &str, extra: Vec<Word>, source: Source) -> Self {
        let lines = [(1, line.to_owned())].into();
        let kind = FrameKind::Alias(name.to_owned());
        let mut frame = Frame::new(Lines { kind, lines }, source);
        frame.extra = extra;
        frame
    }

    /// Lines asked for by a source: those of a script run as a script, unless another machine asks.
    pub(crate) fn new(lines: Lines, source: Source) -> Self {
        let is_script = matches!(lines.kind, FrameKind::Script { .. });
        Frame {
            source: match source {
                Source::Local | Source::Terminal if is_script => Source::Script,
                source => source,
            },
            kind: lines.kind,
            lines: lines.lines,
            line: String::new(),
            number: 0,
            commands: VecDeque::new(),
            extra: Vec::new(),
        }
    }

    pub(crate) fn source(&self) -> Source {
        self.source
    }

    /// The line that the present command is on.
    pub(crate) fn text(&self) -> &str {
        &self.line
    }

    /// What it is called, unless it is the line itself.
    pub(crate) fn name(&self) -> Option<&str> {
        match &self.kind {
            FrameKind::Line => None,
            FrameKind::Alias(name) | FrameKind::Script { name, .. } => Some(name),
        }
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
            if let Some(command) = self.commands.pop_front() {
                return Some(Ok(command));
            }
            let (number, line) = self.lines.pop_front()?;
            let LineText { commands, errors } = parse_line(&line);
            self.line = line;
            self.number = number;
            if let Some(error) = errors.into_iter().next() {
                return Some(Err(error));
            }
            self.commands = commands.into();
            if let Some(last) = self.commands.back_mut() {
                last.args.append(&mut self.extra);
            }
        }
    }

    /// Leaves out what is left of the present line; how many commands that was.
    pub(crate) fn give_up_line(&mut self) -> usize {
        let left = self.commands.len();
        self.commands.clear();
        left
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
