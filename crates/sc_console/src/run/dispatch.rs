//! From a command's text to what runs it: a command, a variable, an alias; or why nothing does.

use std::ops::Range;

use sc_core::Cx;

use super::frame::Passed;
use super::{DEEPEST, Frame, Step, Task, invoke};
use crate::command::OnVariable;
use crate::error::VariableError;
use crate::info::{EntryInfo, EntryKind, ParamInfo};
use crate::name::fold;
use crate::parse::{CommandText, Word, mark, nearest, parse_line};
use crate::redact::{Known, MASK, is_delicate, mask, secret_words, secrets, secrets_of_alias};
use crate::registry::{Console, Live, Role, console, live};
use crate::snapshot::may_take_secrets;
use crate::source::Source;
use crate::variable::{self, SetBy, SetOutcome, VariableExt};
use crate::visible::visible;

impl<H> Known for Console<H> {
    fn entry(&self, folded: &str) -> Option<&EntryInfo> {
        let entry = self.entries.get(self.entries.find(folded)?)?;
        Some(&entry.info)
    }

    fn alias(&self, folded: &str) -> Option<&str> {
        Some(&self.aliases.get(folded)?.line)
    }

    fn nearest(&self, folded: &str) -> Option<&str> {
        let entries = self.entries.sorted();
        let entries = entries.filter(|entry| may_take_secrets(entry));
        let entries = entries.map(|entry| entry.folded.as_str());
        nearest(
            folded,
            entries.chain(self.aliases.sorted().map(|(name, _)| name)),
        )
    }
}

/// A place in one of the lines that have led to a command.
pub(super) struct Spot {
    /// Whose line it is, from the bottom.
    frame: usize,
    span: Range<usize>,
}

impl Spot {
    /// A place in the line of the top frame.
    pub(super) fn here<H>(task: &Task<H>, span: Range<usize>) -> Self {
        Spot {
            frame: task.frames.len().saturating_sub(1),
            span,
        }
    }

    pub(super) fn of_name<H>(task: &Task<H>, command: &CommandText) -> Self {
        Spot::here(task, command.name.span.clone())
    }

    /// An argument, in the line in which it was written; one that is missing, behind the last word.
    pub(super) fn of_arg<H>(task: &Task<H>, command: &CommandText, index: usize) -> Self {
        let count = command.args.len();
        let Some(word) = command.args.get(index) else {
            let mut spot = match count.checked_sub(1) {
                Some(last) => Spot::of_arg(task, command, last),
                None => Spot::of_name(task, command),
            };
            spot.span.start = spot.span.end;
            return spot;
        };
        let mut spot = Spot::here(task, word.span.clone());
        let passed = task
            .frames
            .last()
            .and_then(|top| top.passed_from(index, count));
        spot.frame = passed.unwrap_or(spot.frame);
        spot
    }
}

/// The bytes of a frame's present line that hold secrets: by what its names mean now, and by what was
/// found when they were used.
fn secrets_of<H>(console: &Console<H>, frame: &Frame) -> Vec<Range<usize>> {
    let text = frame.text();
    let mut parts = match frame.is_alias() {
        true => secrets_of_alias(text, console),
        false => secrets(text, &parse_line(text).commands, console),
    };
    parts.extend_from_slice(frame.secrets());
    parts
}

/// A frame's present line as it may be shown.
pub(super) fn shown<H>(console: &Console<H>, frame: &Frame) -> String {
    mask(frame.text(), secrets_of(console, frame)).0
}

/// Prints what is wrong at a place: its line, a marker, what was expected.
pub(super) fn complain<H>(cx: &mut Cx<'_, H>, task: &mut Task<H>, spot: &Spot, text: &str) -> Step {
    let Some(frame) = task.frames.get(spot.frame) else {
        return Step::Failed;
    };
    let (line, shifts) = mask(frame.text(), secrets_of(console(cx), frame));
    let mut message = match frame.place() {
        Some(place) => format!("{place}:\n"),
        None => String::new(),
    };
    message.push_str(&mark(&line, &shifts.map(&spot.span), text));
    let through = task.frames.iter().skip(spot.frame + 1);
    let through: Vec<String> = through.filter_map(Frame::place).collect();
    if !through.is_empty() {
        message.push_str(&format!(" (passed on by {})", through.join(", ")));
    }
    task.output.error(&message);
    Step::Failed
}

/// Notes which words of a command are secrets, in the lines in which they stand: by the time something
/// is wrong, what takes them may be gone.
fn keep_secrets<H>(cx: &mut Cx<'_, H>, task: &mut Task<H>, command: &CommandText) {
    let flags = secret_words(command, &*console(cx));
    for index in (0..flags.len()).filter(|&index| flags.get(index) == Some(&true)) {
        let spot = Spot::of_arg(task, command, index);
        if let Some(frame) = task.frames.get_mut(spot.frame) {
            frame.keep_secret(spot.span);
        }
        let word = command.args.get(index);
        task.hidden.extend(word.map(|word| word.text.clone()));
    }
}

/// Which word of a command is the mask of a secret, in the secret's place: a line from the history.
fn masked_word<H>(cx: &mut Cx<'_, H>, command: &CommandText) -> Option<usize> {
    if command.args.iter().all(|word| word.text != MASK) {
        return None;
    }
    let flags = secret_words(command, &*console(cx));
    let is_masked = |(word, is_secret): (&Word, bool)| is_secret && word.text == MASK;
    command.args.iter().zip(flags).position(is_masked)
}

/// Whether words of a command may be secrets.
fn may_be_secret(command: &CommandText, info: &EntryInfo) -> bool {
    let is_more = |param: &ParamInfo| is_delicate(param) || param.variadic;
    info.params.iter().any(is_more) || command.args.iter().any(|word| word.quoted)
}

pub(super) fn dispatch<H>(cx: &mut Cx<'_, H>, task: &mut Task<H>, command: CommandText) -> Step {
    let Some(frame) = task.frames.last() else {
        return Step::Failed;
    };
    let source = frame.source();
    let folded = fold(&command.name.text);
    task.hidden.clear();
    let Some(live) = live(cx, &folded) else {
        return otherwise(cx, task, &command, &folded, source);
    };
    let info = &live.info;
    if may_be_secret(&command, info) {
        keep_secrets(cx, task, &command);
    }
    if let Some(at) = masked_word(cx, &command) {
        let text = "*** stands for a secret that is kept nowhere: type it anew";
        return complain(cx, task, &Spot::of_arg(task, &command, at), text);
    }
    let name = Spot::of_name(task, &command);
    if let Some(refused) = barred(cx, task, info, source, &name) {
        return refused;
    }
    task.output.begin(source, info);
    if task.nested >= DEEPEST {
        let text = format!(
            "lines that commands run go deeper than {DEEPEST}, as when one of them leads to itself"
        );
        return complain(cx, task, &name, &text);
    }
    match live.role {
        Role::Variable(_) => guarded(cx, task, info, |cx, task| {
            variable(cx, task, &command, 0, info)
        }),
        _ => invoke::invoke(cx, task, &command, &live),
    }
}

/// A name that no entry has: an alias, or an error that says what may have been meant.
fn otherwise<H>(
    cx: &mut Cx<'_, H>,
    task: &mut Task<H>,
    command: &CommandText,
    folded: &str,
    source: Source,
) -> Step {
    let name = &command.name.text;
    if console(cx).aliases.get(folded).is_some() {
        keep_secrets(cx, task, command);
    }
    if let Some(alias) = console(cx).aliases.get(folded) {
        let words = command.args.iter().enumerate().map(|(index, word)| Passed {
            word: word.clone(),
            frame: Spot::of_arg(task, command, index).frame,
        });
        let source = alias.source_for(source);
        let frame = Frame::alias(&alias.name, &alias.line, words.collect(), source);
        return Step::Enter(Box::new(frame));
    }
    let spot = Spot::of_name(task, command);
    let text = match console(cx).elsewhere.get(folded) {
        Some((name, host)) => format!(
            "`{name}` is declared for runtimes whose host is `{host}`; the host here is `{}`",
            std::any::type_name::<H>()
        ),
        None => {
            let top = task.frames.last();
            let parts = top.map_or_else(Vec::new, |top| secrets_of(console(cx), top));
            let span = &spot.span;
            let is_in = |part: &Range<usize>| part.start < span.end && span.start < part.end;
            if parts.iter().any(is_in) {
                "expected the name of a command or a variable".to_owned()
            } else if name.is_empty() {
                "expected the name of a command or a variable, and this word is empty".to_owned()
            } else {
                let near = nearest_visible(cx, folded, source, |_| true);
                let meant = match near {
                    Some(_) => crate::error::did_you_mean(near.as_deref()),
                    None => ": `help` lists them".to_owned(),
                };
                format!("expected the name of a command or a variable; `{name}` is none{meant}")
            }
        }
    };
    complain(cx, task, &spot, &visible(&text))
}

/// The nearest name that a source can see, of those that fit.
pub(crate) fn nearest_visible<H>(
    cx: &mut Cx<'_, H>,
    folded: &str,
    source: Source,
    fits: impl Fn(&EntryInfo) -> bool,
) -> Option<String> {
    let snapshot = crate::registry::snapshot(cx, source);
    let entries = snapshot.entries().iter().filter(|entry| fits(entry));
    let near = nearest(folded, entries.map(|entry| entry.folded.as_str()))?;
    Some(snapshot.get(near)?.name.clone())
}

/// `name` shows a variable, `name value` sets it. The value is the argument `at`.
fn variable<H>(
    cx: &mut Cx<'_, H>,
    task: &mut Task<H>,
    command: &CommandText,
    at: usize,
    info: &EntryInfo,
) -> Step {
    match command.args.get(at..).unwrap_or_default() {
        [] => {
            if let Some(value) = variable::value_info(cx, &info.name) {
                for line in crate::help::variable(info, &value) {
                    // The output has nothing that fails.
                    let _ = writeln!(task.output, "{line}");
                }
            }
            Step::Done
        }
        [value] => match change(cx, info, |cx| {
            cx.set_var_text(&info.name, &value.text, SetBy::Console)
        }) {
            Ok(line) => {
                let _ = writeln!(task.output, "{line}");
                Step::Done
            }
            Err(text) => complain(cx, task, &Spot::of_arg(task, command, at), &text),
        },
        [_, _, ..] => {
            let text = "expected one value; one with spaces stands in quotes";
            complain(cx, task, &Spot::of_arg(task, command, at + 1), text)
        }
    }
}

/// `set name value` and `reset name`: what the first argument names must be a variable.
pub(super) fn on_variable<H>(
    cx: &mut Cx<'_, H>,
    task: &mut Task<H>,
    command: &CommandText,
    what: OnVariable,
) -> Step {
    let Some(name) = command.args.first() else {
        return Step::Failed;
    };
    let spot = Spot::of_arg(task, command, 0);
    let source = task.output.source();
    let folded = fold(&name.text);
    let Some(Live { info, .. }) = live(cx, &folded) else {
        let can_be_set =
            |info: &EntryInfo| info.kind == EntryKind::Variable && !info.flags.read_only;
        let near = nearest_visible(cx, &folded, source, can_be_set);
        let meant = crate::error::did_you_mean(near.as_deref());
        let text = format!(
            "expected the name of a variable; `{}` is none{meant}",
            task.without_secrets(&name.text)
        );
        return complain(cx, task, &spot, &text);
    };
    if info.kind != EntryKind::Variable {
        let text = format!(
            "expected the name of a variable; `{}` is a {}",
            info.name, info.kind
        );
        return complain(cx, task, &spot, &text);
    }
    if let Some(refused) = barred(cx, task, &info, source, &spot) {
        return refused;
    }
    guarded(cx, task, &info, |cx, task| match what {
        OnVariable::Set => variable(cx, task, command, 1, &info),
        OnVariable::Reset => match change(cx, &info, |cx| cx.reset_var(&info.name)) {
            Ok(line) => {
                // The output has nothing that fails.
                let _ = writeln!(task.output, "{line}");
                Step::Done
            }
            Err(text) => complain(cx, task, &spot, &text),
        },
    })
}

/// Uses a variable. Its type and its callbacks are the user's code: what they throw fails the line.
fn guarded<H>(
    cx: &mut Cx<'_, H>,
    task: &mut Task<H>,
    info: &EntryInfo,
    step: impl FnOnce(&mut Cx<'_, H>, &mut Task<H>) -> Step,
) -> Step {
    let outcome = invoke::calling(cx, task, cx.world(), step);
    outcome.unwrap_or_else(|panic| invoke::panicked(cx, task, info, &panic))
}

/// Says why a source may not use an entry, if it may not.
fn barred<H>(
    cx: &mut Cx<'_, H>,
    task: &mut Task<H>,
    info: &EntryInfo,
    source: Source,
    spot: &Spot,
) -> Option<Step> {
    let barrier = console(cx).settings.barrier(info.flags, source)?;
    let text = format!("`{}` {}", info.name, barrier.text());
    Some(complain(cx, task, spot, &text))
}

/// Changes a variable as the console does; what to say about it. The visibility was asked before.
fn change<H>(
    cx: &mut Cx<'_, H>,
    info: &EntryInfo,
    change: impl FnOnce(&mut Cx<'_, H>) -> Result<SetOutcome, VariableError>,
) -> Result<String, String> {
    if info.flags.read_only {
        return Err(format!("`{}` is read-only", info.name));
    }
    match change(cx) {
        Ok(_) => Ok(match variable::value_info(cx, &info.name) {
            Some(now) => format!("{} = {}", info.name, now.value),
            None => format!(
                "`{}` was set, and somebody who was told has unregistered it",
                info.name
            ),
        }),
        Err(VariableError::Refused { error, .. }) => Err(error.to_string()),
        Err(error) => Err(error.to_string()),
    }
}
