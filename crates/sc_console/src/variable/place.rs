//! Where variables meet the registry: each is an entry with a value behind it.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use sc_core::{Cx, Panic, Report, ReportKind};

use super::declare::{AnyVariable, StaticVariable};
use super::store::{Left, Was};
use super::{SetBy, SetOutcome, VariableInfo, VariableSlot, Variables, notify};
use crate::error::VariableError;
use crate::info::{EntryInfo, EntryKind, Origin};
use crate::name::{self, fold};
use crate::registry::{self, Binding, Entry, Role, console, live};
use crate::reports;
use crate::source::Source;

/// Makes a variable live: its entry, its value, and the value that was set before it was there. Where it lies, and
/// how often that place was used before.
pub(crate) fn install<H>(
    cx: &mut Cx<'_, H>,
    name: &str,
    variable: AnyVariable,
    declared: Option<&'static StaticVariable>,
    origin: Origin,
    binding: Binding,
) -> (u32, u32) {
    let info = EntryInfo {
        name: name.to_owned(),
        folded: fold(name),
        kind: EntryKind::Variable,
        about: variable.about.clone(),
        params: vec![variable.info.clone()],
        flags: variable.flags,
        origin,
    };
    let mut entry = Entry::new(info, binding.clone(), Role::Static, None);
    let runtime = cx.runtime().mark();
    let variables = cx.runtime_state::<Variables>();
    variables.runtime = runtime;
    variables.refresh = Some(|cx, index| {
        if let Some(mut cx) = cx.typed::<H>() {
            refresh(&mut cx, index);
        }
    });
    let info = Arc::clone(&entry.info);
    let index = variables.insert(variable, declared, Arc::clone(&info), binding);
    // What is told of its first value may end it.
    let generation = variables.generation(index);
    entry.role = Role::Variable(index);
    let (_, lost) = registry::enter(cx, entry);
    // Where another part has the value, it begins with that.
    if let Some(now) = ask(cx, index)
        && let Some(slot) = cx.runtime_state::<Variables>().get_mut(index)
    {
        slot.value = now;
    }
    begin(cx, index, &info);
    // Nobody has set it here; who has set it there counts as code.
    let variables = cx.runtime_state::<Variables>();
    if variables.generation(index) == generation
        && let Some(slot) = variables.get_mut(index)
        && slot.current.is_some()
        && slot.set_by == SetBy::Constructor
        && !(slot.ops.same)(&*slot.value, &*slot.default)
    {
        slot.set_by = SetBy::Code;
    }
    registry::say(cx, lost);
    (index, generation)
}

/// Gives a variable the value that has waited for it, or that the last one of its name has left.
fn begin<H>(cx: &mut Cx<'_, H>, index: u32, info: &EntryInfo) {
    let folded = &info.folded;
    let variables = cx.runtime_state::<Variables>();
    if variables.beside.remove(folded) {
        refused(
            cx,
            info,
            &format!("of the configuration file, {}", super::config::OUTSIDE),
        );
    }
    let variables = cx.runtime_state::<Variables>();
    let left = match info.flags.archive {
        true => variables.left.remove(folded),
        false => None,
    };
    if left
        .as_ref()
        .is_some_and(|left| matches!(left.was, Was::Reset))
    {
        // What it was reset from.
        variables.wait_no_more(folded, SetBy::ConfigFile);
    }
    // It stays for the next one of that name: the variable of the next level, perhaps.
    let mut first = variables.waiting.get(folded).cloned();
    let mut from_left = false;
    if let Some(Was::Set(text, by, _)) = left.as_ref().map(|left| &left.was)
        && first.as_ref().is_none_or(|first| first.1 <= *by)
    {
        first = Some((text.clone(), *by));
        from_left = true;
    }
    let outcome = first.as_ref().map(|(text, by)| take(cx, index, text, *by));
    let is_refused = matches!(outcome, Some(Err(_)));
    let variables = cx.runtime_state::<Variables>();
    if let Some(left) = left {
        if is_refused && from_left {
            // It is not this one's: the next may take it.
            variables.left.insert(folded.clone(), left);
        } else if let Some(slot) = variables.get_mut(index) {
            slot.in_file = left.in_file;
        }
    }
    match outcome {
        Some(Ok(outcome)) => {
            let by_file = first.is_some_and(|(_, by)| by == SetBy::ConfigFile);
            if let Some(slot) = variables.get_mut(index) {
                slot.in_file |= by_file;
            }
            if outcome == SetOutcome::Changed {
                notify(cx);
            }
        }
        Some(Err(error)) => refused(cx, info, &format!("a value had waited for it: {error}")),
        None => {}
    }
}

/// Reports that a value was not taken, or not kept.
fn refused<H>(cx: &mut Cx<'_, H>, info: &EntryInfo, what: &str) {
    let kind = ReportKind::Extension(&reports::VALUE_REFUSED);
    cx.report(Report::new(kind, what.to_owned()).object(info.name.as_str()));
}

/// Sets a variable to what a text means, if who says so may. Its type may panic; telling is the caller's.
pub(super) fn take<H>(
    cx: &mut Cx<'_, H>,
    index: u32,
    text: &str,
    by: SetBy,
) -> Result<SetOutcome, VariableError> {
    if by.is_from_outside() {
        may_be_set_from_outside(cx, index)?;
    }
    let value = parse(cx, index, text)?;
    cx.runtime_state::<Variables>().set(index, value, by)
}

/// The value that a text means to a variable, whose type may panic.
fn parse<H>(cx: &mut Cx<'_, H>, index: u32, text: &str) -> Result<Box<dyn Any>, VariableError> {
    let parsed = cx.callback(None, Duration::ZERO, |cx| {
        let variable = cx.runtime_state::<Variables>().get(index);
        variable.ok_or(VariableError::Gone)?.parse(text)
    });
    cx.attend();
    parsed.unwrap_or_else(|panic| {
        let variable = cx.runtime_state::<Variables>().get(index);
        let variable = variable.ok_or(VariableError::Gone)?;
        Err(VariableError::NotAllowed {
            name: variable.info.name.clone(),
            why: format!("its type panicked{}", said(variable, &panic)),
        })
    })
}

/// What a panic of a variable's type says, if that may be shown.
fn said(variable: &VariableSlot, panic: &Panic) -> String {
    match variable.is_secret() {
        true => String::new(),
        false => format!(": {}", panic.message()),
    }
}

/// Whether there may ever be a variable of a name.
pub(super) fn could_be_a_variable<H>(cx: &mut Cx<'_, H>, name: &str) -> Result<(), VariableError> {
    let why = match name::fault(name) {
        Some(fault) => format!("that is no name: {fault}"),
        None => match live(cx, &fold(name)) {
            Some(entry) => format!("it is a {}", entry.info.kind),
            None => return Ok(()),
        },
    };
    Err(VariableError::NotAllowed {
        name: name.to_owned(),
        why,
    })
}

/// Whether the configuration file and the command line may set a variable: they may no more than a script.
fn may_be_set_from_outside<H>(cx: &mut Cx<'_, H>, index: u32) -> Result<(), VariableError> {
    let variable = cx.runtime_state::<Variables>().get(index);
    let info = Arc::clone(&variable.ok_or(VariableError::Gone)?.info);
    match console(cx).settings.barrier(info.flags, Source::Script) {
        None => Ok(()),
        Some(barrier) => Err(VariableError::NotAllowed {
            name: info.name.clone(),
            why: format!("it {}", barrier.text()),
        }),
    }
}

/// The end of a variable: its callbacks go, and its value, unless it is archived and was set. Then it waits for
/// the next variable of the name, and to be saved.
pub(crate) fn remove<H>(cx: &mut Cx<'_, H>, index: u32) {
    if let Some(now) = ask(cx, index) {
        // The last that the other part says of it. Nobody is told: it ends.
        cx.runtime_state::<Variables>().is_now(index, now);
    }
    let gone = cx.runtime_state::<Variables>().remove(index);
    let callbacks = console(cx).watchers.leave_variable(index);
    if let Some(slot) = gone.as_ref().filter(|slot| slot.info.flags.archive) {
        leave(cx, slot);
    }
    // Values and closures may be the user's, and so their destructors.
    cx.enter(|| drop((gone, callbacks)));
}

/// Keeps what an archived variable leaves.
fn leave<H>(cx: &mut Cx<'_, H>, slot: &VariableSlot) {
    let was = match slot.set_by {
        _ if slot.is_to_be_saved() => {
            // How a value is shown may be the user's code.
            let shown = cx.callback(None, Duration::ZERO, |_| {
                let text = (slot.ops.show)(&*slot.value);
                let value = super::config::value(slot)?;
                Some(Was::Set(text, slot.set_by, Box::new(value)))
            });
            match shown {
                Ok(Some(was)) => was,
                Ok(None) => return,
                Err(panic) => {
                    let what = format!(
                        "its last value is lost: its type panicked{}",
                        said(slot, &panic)
                    );
                    return refused(cx, &slot.info, &what);
                }
            }
        }
        SetBy::CommandLine if slot.in_file => Was::ForOneRun,
        SetBy::Constructor if slot.in_file => Was::Reset,
        _ => return,
    };
    let left = Left {
        name: slot.info.name.clone(),
        was,
        in_file: slot.in_file,
    };
    let variables = cx.runtime_state::<Variables>();
    variables.left.insert(slot.info.folded.clone(), left);
}

/// A variable by name: its index, if there is one. Its value is what it is now.
pub(crate) fn find<H>(cx: &mut Cx<'_, H>, name: &str) -> Option<u32> {
    let Role::Variable(index) = live(cx, &fold(name))?.role else {
        return None;
    };
    refresh(cx, index).then_some(index)
}

/// Asks for the value of a variable, if another part has it. Whether the variable is still there: what is asked,
/// and what is told of it, may end it.
pub(super) fn refresh<H>(cx: &mut Cx<'_, H>, index: u32) -> bool {
    let generation = cx.runtime_state::<Variables>().generation(index);
    if let Some(now) = ask(cx, index)
        && cx.runtime_state::<Variables>().is_now(index, now) == SetOutcome::Changed
    {
        notify(cx);
    }
    cx.runtime_state::<Variables>().generation(index) == generation
}

/// What another part says of a variable's value: an allowed one, of a variable that is still the same. `None` too
/// while the other part is still to be told of a change, and when it is being asked already.
fn ask<H>(cx: &mut Cx<'_, H>, index: u32) -> Option<Box<dyn Any>> {
    let variables = cx.runtime_state::<Variables>();
    if variables.is_ahead(index) {
        return None;
    }
    let generation = variables.generation(index);
    let variable = variables.get_mut(index)?;
    let current = variable.current.clone()?;
    variable.asking = true;
    let now = cx.callback(None, Duration::ZERO, |cx| {
        let now = current(cx);
        let variables = cx.runtime_state::<Variables>();
        if variables.generation(index) != generation {
            return None;
        }
        let allowed = variables.get(index)?.check(&*now);
        Some(allowed.map(|()| now))
    });
    cx.attend();
    let variables = cx.runtime_state::<Variables>();
    if variables.generation(index) != generation {
        return None;
    }
    let variable = variables.get_mut(index)?;
    variable.asking = false;
    match now {
        Ok(Some(Ok(now))) => {
            variable.current_refused = false;
            return Some(now);
        }
        Ok(None) => {}
        Ok(Some(Err(error))) => {
            let info = Arc::clone(&variable.info);
            if !std::mem::replace(&mut variable.current_refused, true) {
                refused(
                    cx,
                    &info,
                    &format!("what it is now is not allowed: {error}"),
                );
            }
        }
        Err(panic) => {
            let (info, said) = (Arc::clone(&variable.info), said(variable, &panic));
            let kind = ReportKind::Extension(&reports::VARIABLE_PANICKED);
            let what = format!("panicked when it was asked what it is now{said}");
            cx.report(Report::new(kind, what).object(info.name.as_str()));
        }
    }
    None
}

/// A variable as it is now.
pub(crate) fn value_info<H>(cx: &mut Cx<'_, H>, name: &str) -> Option<VariableInfo> {
    let index = find(cx, name)?;
    cx.runtime_state::<Variables>().info(index)
}
