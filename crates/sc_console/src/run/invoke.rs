//! Calling the body of a command: out of its slot while it runs, what it throws caught.

use std::rc::Rc;
use std::time::Duration;

use sc_core::{Cx, Panic, Report, ReportKind, WorldId, WorldKind};

use super::dispatch::{Spot, complain};
use super::{Frame, Step, Task, Waiting};
use crate::arg::TakeError;
use crate::command::{Call, CallError, CallResult, Ended, param_refusal};
use crate::info::{EntryInfo, EntryKind};
use crate::output::Output;
use crate::parse::{CommandText, Word};
use crate::redact::refusal;
use crate::registry::{self, Body, ForwardedCall, Live, console};
use crate::reports;

pub(super) fn invoke<H>(
    cx: &mut Cx<'_, H>,
    task: &mut Task<H>,
    command: &CommandText,
    live: &Live,
) -> Step {
    let info = &live.info;
    let world = live.world.or_else(|| game_world(cx));
    if live.needs_game_world && world.is_none() {
        let text = format!(
            "`{}` was not run: it needs a game world (game or play-in-editor), and there is none",
            info.name
        );
        task.output.warn(&text);
        let kind = ReportKind::Extension(&reports::NO_GAME_WORLD);
        let what = "was not run: there is no game world";
        cx.report(Report::new(kind, what).object(info.name.as_str()));
        return Step::Failed;
    }
    let outcome = calling(cx, task, world, |cx, task| {
        let ended = call(cx, live.slot, info, &command.args, &mut task.output);
        // An error is the user's, and so is how it is shown.
        let said = match &ended {
            Err(CallError::Failed(error)) => error.to_string(),
            _ => String::new(),
        };
        (ended, said)
    });
    task.output.end_line();
    match outcome {
        Ok((ended, said)) => settle(cx, task, command, info, ended, &said),
        Err(panic) => panicked(cx, task, info, &panic),
    }
}

/// Calls what a command or a variable has of the user: lines that it runs are nested in this one.
pub(super) fn calling<H, R>(
    cx: &mut Cx<'_, H>,
    task: &mut Task<H>,
    world: Option<WorldId>,
    f: impl FnOnce(&mut Cx<'_, H>, &mut Task<H>) -> R,
) -> Result<R, Panic> {
    let tasks = &mut console(cx).tasks;
    let outer = std::mem::replace(&mut tasks.nested, task.nested + task.frames.len());
    tasks.printing.push(Rc::clone(task.output.printed()));
    let outcome = cx.callback(world, Duration::ZERO, |cx| f(cx, task));
    let tasks = &mut console(cx).tasks;
    tasks.nested = outer;
    tasks.printing.pop();
    outcome
}

/// Says that a command or a variable has panicked; the registry stays usable.
pub(super) fn panicked<H>(
    cx: &mut Cx<'_, H>,
    task: &mut Task<H>,
    info: &EntryInfo,
    panic: &Panic,
) -> Step {
    let what = format!("panicked: {}", task.without_secrets(panic.message()));
    task.output.error(&format!("`{}` {what}", info.name));
    let kind = ReportKind::Extension(match info.kind {
        EntryKind::Variable => &reports::VARIABLE_PANICKED,
        _ => &reports::COMMAND_PANICKED,
    });
    cx.report(Report::new(kind, what).object(info.name.as_str()));
    Step::Failed
}

/// The world that a command runs in: that of its caller if it is a game world, else the oldest game
/// world.
pub(crate) fn game_world<H>(cx: &Cx<'_, H>) -> Option<WorldId> {
    let is_game = |kind| matches!(kind, WorldKind::Game | WorldKind::PlayInEditor);
    let worlds = cx.runtime().live_worlds();
    let mut oldest = None;
    for (world, _) in worlds.filter(|&(_, kind)| is_game(kind)) {
        if cx.world() == Some(world) {
            return Some(world);
        }
        oldest = oldest.or(Some(world));
    }
    oldest
}

fn call<H>(
    cx: &mut Cx<'_, H>,
    slot: u32,
    info: &EntryInfo,
    words: &[Word],
    output: &mut Output,
) -> CallResult {
    let count = info.params.len();
    let entries = &mut console(cx).entries;
    let generation = entries.generation(slot);
    let Some(handler) = entries.handler_mut(slot) else {
        return Err(CallError::Failed("it is gone".into()));
    };
    match &mut handler.body {
        Body::Host(body) => {
            let body = *body;
            body(cx, &mut Call::new(words, count, output))
        }
        Body::Free(body) => {
            let body = *body;
            body(cx, &mut Call::new(words, count, output))
        }
        Body::Registry => {
            let params = Rc::clone(&handler.params);
            let args = checked(&params, words)?;
            let call = ForwardedCall {
                id: &info.name,
                args: &args,
            };
            registry::forward(cx, call, output)
                .map(|()| Ended::Now)
                .map_err(CallError::Failed)
        }
        Body::Closure(closure) => {
            let Some(mut body) = closure.take() else {
                let text = "it is running: it cannot be run from within itself";
                return Err(CallError::Failed(text.into()));
            };
            let run =
                std::panic::AssertUnwindSafe(|| body(cx, &mut Call::new(words, count, output)));
            let outcome = std::panic::catch_unwind(run);
            put_back(cx, slot, generation, body);
            outcome.unwrap_or_else(|payload| std::panic::resume_unwind(payload))
        }
    }
}

/// Puts a closure back, if its command is still the same one.
fn put_back<H>(cx: &mut Cx<'_, H>, slot: u32, generation: u32, body: crate::command::DynBody<H>) {
    let entries = &mut console(cx).entries;
    if entries.generation(slot) == generation
        && let Some(handler) = entries.handler_mut(slot)
        && let Body::Closure(place) = &mut handler.body
    {
        *place = Some(body);
    } else {
        // It has unregistered or replaced itself.
        cx.enter(|| drop(body));
    }
}

/// The arguments for the registry: checked, with defaults for what was left out.
fn checked(params: &[crate::command::Param], words: &[Word]) -> Result<Vec<String>, CallError> {
    let mut args = Vec::with_capacity(words.len().max(params.len()));
    for (index, word) in words.iter().enumerate() {
        let last = params.last().filter(|last| last.info.variadic);
        let Some(param) = params.get(index).or(last) else {
            return Err(CallError::TooMany { index });
        };
        (param.check)(&word.text).map_err(|error| match error {
            TakeError::Word(error) => CallError::Word { index, error },
            TakeError::OutOfRange => CallError::OutOfRange { index },
            TakeError::Missing => CallError::Missing { index },
        })?;
        args.push(word.text.clone());
    }
    for (index, param) in params.iter().enumerate().skip(words.len()) {
        match param.default.as_slice() {
            // Its place would be another one's.
            [] if param.info.optional => break,
            [] => return Err(CallError::Missing { index }),
            default => args.extend_from_slice(default),
        }
    }
    Ok(args)
}

/// What follows from how a body ended.
fn settle<H>(
    cx: &mut Cx<'_, H>,
    task: &mut Task<H>,
    command: &CommandText,
    info: &EntryInfo,
    ended: CallResult,
    said: &str,
) -> Step {
    let error = match ended {
        Ok(Ended::Now) => return Step::Done,
        Ok(Ended::Later(latent)) => return Step::Wait(Waiting::Latent(latent)),
        Ok(Ended::Frames(frames)) => {
            return Step::Wait(Waiting::Frame(cx.frame().saturating_add(frames)));
        }
        Ok(Ended::Lines(lines)) => {
            let source = task.output.source();
            return Step::Enter(Box::new(Frame::new(lines, source)));
        }
        Ok(Ended::OnVariable(what)) => {
            return super::dispatch::on_variable(cx, task, command, what);
        }
        Err(error) => error,
    };
    match error {
        CallError::Failed(error) => {
            let named = |name| info.params.iter().position(|param| param.name == name);
            if let Some(index) = error.parameter().and_then(named) {
                let text = task.without_secrets(said);
                let spot = Spot::of_arg(task, command, index);
                return complain(cx, task, &spot, &text);
            }
            if let Some(name) = error.parameter() {
                let text = task.without_secrets(said);
                let text = format!(
                    "{text} (said of the parameter `{name}`, and `{}` has none of that name)",
                    info.name
                );
                return complain(cx, task, &Spot::of_name(task, command), &text);
            }
            let place = task.frames.last().and_then(Frame::place);
            let place = place.map_or_else(String::new, |place| format!("{place}: "));
            let ours = format!("{place}`{}` failed: ", info.name);
            task.error(&ours, said);
            Step::Failed
        }
        CallError::Missing { index } => {
            let param = info.param(index);
            let text = param.map_or_else(String::new, |param| {
                param_refusal(param, TakeError::Missing).to_string()
            });
            let text = format!("{text}; usage: {}", info.usage());
            // Behind the last word, where it is missing.
            let end = Spot::of_arg(task, command, command.args.len());
            complain(cx, task, &end, &text)
        }
        CallError::Word { index, error } => {
            let word = command
                .args
                .get(index)
                .map_or("", |word| word.text.as_str());
            let text = match info.param(index) {
                Some(param) => format!("{}: {}", param.name, refusal(param, word, error)),
                None => error.to_string(),
            };
            complain(cx, task, &Spot::of_arg(task, command, index), &text)
        }
        CallError::OutOfRange { index } => {
            let Some(param) = info.param(index) else {
                return complain(cx, task, &Spot::of_name(task, command), "it is not allowed");
            };
            let error = param_refusal(param, TakeError::OutOfRange);
            let text = format!("{}: {error}", param.name);
            complain(cx, task, &Spot::of_arg(task, command, index), &text)
        }
        CallError::TooMany { index } => {
            let text = format!("expected no further word; usage: {}", info.usage());
            complain(cx, task, &Spot::of_arg(task, command, index), &text)
        }
    }
}
