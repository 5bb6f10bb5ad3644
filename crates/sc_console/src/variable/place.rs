//! Where variables meet the registry: each is an entry with a value behind it.

use std::sync::Arc;

use sc_core::{Cx, Report, ReportKind};

use super::declare::{AnyVariable, StaticVariable};
use super::{SetOutcome, VariableInfo, Variables, notify};
use crate::info::{EntryInfo, EntryKind, Origin};
use crate::name::fold;
use crate::registry::{Binding, Entry, Role, console, live};
use crate::reports;

/// Makes a variable live: its entry, its value, and the value that was set before it was there.
pub(crate) fn install<H>(
    cx: &mut Cx<'_, H>,
    name: &str,
    variable: AnyVariable,
    declared: Option<&'static StaticVariable>,
    origin: Origin,
    binding: Binding,
) -> u32 {
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
    let variables = cx.runtime_state::<Variables>();
    let index = variables.insert(variable, declared, Arc::clone(&entry.info));
    // It stays for the next one of that name: the variable of the next level, perhaps.
    let waiting = variables.waiting.get(&folded).cloned();
    entry.role = Role::Variable(index);
    console(cx).entries.insert(entry);
    if let Some((text, by)) = waiting {
        let variables = cx.runtime_state::<Variables>();
        match variables.set_text(index, &text, by) {
            Ok(outcome) => {
                if let Some(slot) = variables.get_mut(index) {
                    slot.in_file |= by == super::SetBy::ConfigFile;
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
    index
}

/// The end of a variable: its value and its callbacks go.
pub(crate) fn remove<H>(cx: &mut Cx<'_, H>, index: u32) {
    let gone = cx.runtime_state::<Variables>().remove(index);
    let callbacks = console(cx).watchers.leave_variable(index);
    // Values and closures may be the user's, and so their destructors.
    cx.enter(|| drop((gone, callbacks)));
}

/// A variable by name: its index, if there is one.
pub(crate) fn find<H>(cx: &mut Cx<'_, H>, name: &str) -> Option<u32> {
    let slot = live(cx, &fold(name))?;
    match console(cx).entries.get(slot)?.role {
        Role::Variable(index) => Some(index),
        _ => None,
    }
}

/// A variable as it is now.
pub(crate) fn value_info<H>(cx: &mut Cx<'_, H>, name: &str) -> Option<VariableInfo> {
    let index = find(cx, name)?;
    cx.runtime_state::<Variables>().info(index)
}
