//! Where variables meet the registry: each is an entry with a value behind it.

use std::sync::Arc;
use std::time::Duration;

use sc_core::{Cx, Report, ReportKind};

use super::change::culprit;
use super::declare::{AnyVariable, StaticVariable};
use super::store::Left;
use super::{SetBy, SetOutcome, VariableInfo, VariableSlot, Variables, notify};
use crate::error::VariableError;
use crate::info::{EntryInfo, EntryKind, Origin};
use crate::name::fold;
use crate::registry::{Binding, Entry, Role, console, live};
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
    let folded = info.folded.clone();
    let mut entry = Entry::new(info, binding, Role::Static);
    let runtime = cx.runtime().mark();
    let variables = cx.runtime_state::<Variables>();
    variables.runtime = runtime;
    let info = Arc::clone(&entry.info);
    let index = variables.insert(variable, declared, Arc::clone(&info));
    // What is told of its first value may end it.
    let generation = variables.generation(index);
    // It stays for the next one of that name: the variable of the next level, perhaps.
    let mut waiting = variables.waiting.get(&folded).cloned();
    // What the last one of its name has left is its own from now on.
    if let Some(left) = variables.left.remove(&folded) {
        if let Some((text, by, _)) = left.value
            && waiting.as_ref().is_none_or(|waiting| waiting.1 < by)
        {
            waiting = Some((text, by));
        }
        if let Some(slot) = variables.get_mut(index) {
            slot.in_file = left.in_file;
        }
    }
    entry.role = Role::Variable(index);
    console(cx).entries.insert(entry);
    if let Some((text, by)) = waiting {
        let may_be = match by {
            SetBy::ConfigFile | SetBy::CommandLine => may_be_set_from_outside(cx, &info),
            _ => Ok(()),
        };
        let variables = cx.runtime_state::<Variables>();
        match may_be.and_then(|()| variables.set_text(index, &text, by)) {
            Ok(outcome) => {
                if let Some(slot) = variables.get_mut(index) {
                    slot.in_file |= by == SetBy::ConfigFile;
                }
                if outcome == SetOutcome::Changed {
                    notify(cx);
                }
            }
            Err(error) => {
                let kind = ReportKind::Extension(&reports::VALUE_REFUSED);
                let what = format!("a value had waited for it: {error}");
                cx.report(Report::new(kind, what).object(folded));
            }
        }
    }
    (index, generation)
}

/// Whether the configuration file and the command line may set a variable: they may no more than a script.
pub(super) fn may_be_set_from_outside<H>(
    cx: &mut Cx<'_, H>,
    info: &EntryInfo,
) -> Result<(), VariableError> {
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
    let mut left = Left {
        name: slot.info.name.clone(),
        value: None,
        in_file: slot.in_file,
    };
    if slot.is_to_be_saved() {
        // How a value is shown may be the user's code.
        let shown = cx.callback(None, Duration::ZERO, |_| {
            let text = (slot.ops.show)(&*slot.value);
            (text, slot.set_by, super::config::value(slot))
        });
        match shown {
            Ok(value) => left.value = Some(value),
            Err(panic) => {
                let kind = ReportKind::Extension(&reports::VALUE_REFUSED);
                let what = format!(
                    "its last value is lost: showing it panicked: {}",
                    panic.message()
                );
                cx.report(Report::new(kind, what).object(left.name));
                return;
            }
        }
    }
    if left.value.is_some() || left.in_file {
        let variables = cx.runtime_state::<Variables>();
        variables.left.insert(slot.info.folded.clone(), left);
    }
}

/// A variable by name: its index, if there is one. Its value is what it is now.
pub(crate) fn find<H>(cx: &mut Cx<'_, H>, name: &str) -> Option<u32> {
    let slot = live(cx, &fold(name))?;
    let Role::Variable(index) = console(cx).entries.get(slot)?.role else {
        return None;
    };
    refresh(cx, index);
    Some(index)
}

/// Asks for the value of a variable, if another part has it.
pub(super) fn refresh<H>(cx: &mut Cx<'_, H>, index: u32) {
    let variable = cx.runtime_state::<Variables>().get(index);
    let Some(current) = variable.and_then(|variable| variable.current.clone()) else {
        return;
    };
    let now = cx.callback(None, Duration::ZERO, |cx| current(cx));
    let now = match now {
        Ok(now) => now,
        Err(panic) => {
            let variable = cx.runtime_state::<Variables>().get(index);
            let name = variable.map_or_else(String::new, |v| v.info.name.clone());
            return cx.settle_panic(&culprit(&name), panic);
        }
    };
    if cx.runtime_state::<Variables>().is_now(index, now) == SetOutcome::Changed {
        notify(cx);
    }
}

/// A variable as it is now.
pub(crate) fn value_info<H>(cx: &mut Cx<'_, H>, name: &str) -> Option<VariableInfo> {
    let index = find(cx, name)?;
    cx.runtime_state::<Variables>().info(index)
}
