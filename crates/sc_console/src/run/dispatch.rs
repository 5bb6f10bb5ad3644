//! From a command's text to what runs it: a command, a variable, an alias; or why nothing does.

use std::ops::Range;
use std::sync::Arc;

use sc_core::Cx;

use super::{Frame, Step, Task, invoke};
use crate::command::OnVariable;
use crate::error::VariableError;
use crate::info::{EntryInfo, EntryKind};
use crate::name::fold;
use crate::parse::{CommandText, mark, nearest};
use crate::redact::{Known, redact};
use crate::registry::{Console, Role, console, live};
use crate::source::Source;
use crate::variable::{self, SetBy, SetOutcome, VariableExt};

impl<H> Known for Console<H> {
    fn entry(&self, folded: &str) -> Option<&EntryInfo> {
        let slot = self.entries.find(folded);
        let entry = slot.and_then(|slot| self.entries.get(slot));
        let entry = entry.map(|entry| &*entry.info);
        entry.or_else(|| self.aliases.get(folded).map(|alias| &*alias.info))
    }

    fn nearest(&self, folded: &str) -> Option<&EntryInfo> {
        let entries = self.entries.sorted().chain(self.aliases.sorted());
        let secretive = entries.filter(|e| e.params.iter().any(|param| param.secret));
        let names = secretive.map(|entry| entry.folded.as_str());
        self.entry(nearest(folded, names)?)
    }
}

/// Prints what is wrong with a part of the present line: the line, a marker, what was expected.
pub(super) fn complain<H>(
    cx: &mut Cx<'_, H>,
    task: &mut Task<H>,
    span: &Range<usize>,
    text: &str,
) -> Step {
    let Some(frame) = task.frames.last() else {
        return Step::Failed;
    };
    let (line, shifts) = redact(frame.text(), &*console(cx));
    let mut message = match frame.place() {
        Some(place) => format!("{place}:\n"),
        None => String::new(),
    };
    message.push_str(&mark(&line, &shifts.map(span), text));
    task.output.error(&message);
    Step::Failed
}

pub(super) fn dispatch<H>(cx: &mut Cx<'_, H>, task: &mut Task<H>, command: CommandText) -> Step {
    let Some(frame) = task.frames.last() else {
        return Step::Failed;
    };
    let source = frame.source();
    let folded = fold(&command.name.text);
    task.output.begin(source, &command.name.text);
    let Some(slot) = live(cx, &folded) else {
        return otherwise(cx, task, &command, &folded, source);
    };
    let Some(entry) = console(cx).entries.get(slot) else {
        return Step::Failed;
    };
    let (info, role) = (Arc::clone(&entry.info), entry.role);
    if let Some(refused) = barred(cx, task, &info, source, &command.name.span) {
        return refused;
    }
    task.output.begin(source, &info.name);
    match role {
        Role::Variable(_) => variable(cx, task, &command, &info),
        _ => invoke::invoke(cx, task, &command, &info, slot),
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
    if let Some(alias) = console(cx).aliases.get(folded) {
        let frame = Frame::alias(&alias.info.name, &alias.line, command.args.clone(), source);
        return Step::Enter(frame);
    }
    let text = match console(cx).elsewhere.get(folded) {
        Some((name, host)) => format!(
            "`{name}` is declared for runtimes whose host is `{host}`; the host here is `{}`",
            std::any::type_name::<H>()
        ),
        None => {
            let near = nearest_visible(cx, folded, source);
            let meant = crate::error::did_you_mean(near.as_deref());
            format!("expected the name of a command or a variable; `{name}` is none{meant}")
        }
    };
    let text: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    complain(cx, task, &command.name.span, &text)
}

/// The nearest name that a source can see.
pub(crate) fn nearest_visible<H>(
    cx: &mut Cx<'_, H>,
    folded: &str,
    source: Source,
) -> Option<String> {
    let snapshot = crate::registry::snapshot(cx, source);
    let names = snapshot.entries().iter().map(|entry| entry.folded.as_str());
    let near = nearest(folded, names)?;
    Some(snapshot.get(near)?.name.clone())
}

/// `name` shows a variable, `name value` sets it.
fn variable<H>(
    cx: &mut Cx<'_, H>,
    task: &mut Task<H>,
    command: &CommandText,
    info: &EntryInfo,
) -> Step {
    match command.args.as_slice() {
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
            Err(text) => complain(cx, task, &value.span, &text),
        },
        [_, extra, ..] => {
            let text = "expected one value; one with spaces stands in quotes";
            complain(cx, task, &extra.span, text)
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
    let Some((name, values)) = command.args.split_first() else {
        return Step::Failed;
    };
    let source = task.output.source();
    let folded = fold(&name.text);
    let Some(slot) = live(cx, &folded) else {
        let near = nearest_visible(cx, &folded, source);
        let meant = crate::error::did_you_mean(near.as_deref());
        let text = format!(
            "expected the name of a variable; `{}` is none{meant}",
            name.text
        );
        return complain(cx, task, &name.span, &text);
    };
    let Some(entry) = console(cx).entries.get(slot) else {
        return Step::Failed;
    };
    let info = Arc::clone(&entry.info);
    if info.kind != EntryKind::Variable {
        let text = format!(
            "expected the name of a variable; `{}` is a {}",
            info.name, info.kind
        );
        return complain(cx, task, &name.span, &text);
    }
    if let Some(refused) = barred(cx, task, &info, source, &name.span) {
        return refused;
    }
    match what {
        OnVariable::Set => {
            let command = CommandText {
                name: name.clone(),
                args: values.to_vec(),
            };
            variable(cx, task, &command, &info)
        }
        OnVariable::Reset => match change(cx, &info, |cx| cx.reset_var(&info.name)) {
            Ok(line) => {
                // The output has nothing that fails.
                let _ = writeln!(task.output, "{line}");
                Step::Done
            }
            Err(text) => complain(cx, task, &name.span, &text),
        },
    }
}

/// Says why a source may not use an entry, if it may not.
fn barred<H>(
    cx: &mut Cx<'_, H>,
    task: &mut Task<H>,
    info: &EntryInfo,
    source: Source,
    span: &Range<usize>,
) -> Option<Step> {
    let barrier = console(cx).settings.barrier(info.flags, source)?;
    let text = format!("`{}` {}", info.name, barrier.text());
    Some(complain(cx, task, span, &text))
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
        Ok(_) => {
            let now = variable::value_info(cx, &info.name).map(|now| now.value);
            Ok(format!("{} = {}", info.name, now.unwrap_or_default()))
        }
        Err(VariableError::Refused { error, .. }) => Err(error.to_string()),
        Err(error) => Err(error.to_string()),
    }
}
