//! Static commands and variables: collected, validated and sorted when the console starts.

use std::any::TypeId;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use sc_core::{Cx, Report, ReportKind};

use super::entries::{Binding, Entry, Role};
use super::{Body, Console, Handler, console};
use crate::command::{AnyBody, CommandEntry, HostBody, Param, Place, StaticCommand, param_fault};
use crate::error::RegisterError;
use crate::info::{EntryInfo, EntryKind, Origin, doc_text};
use crate::name::{self, fold};
use crate::reports;
use crate::variable::{StaticVariable, VariableEntry, Variables};

/// One thing that is declared.
#[derive(Clone, Copy)]
pub(crate) enum Declared {
    Command(&'static StaticCommand),
    Variable(&'static StaticVariable),
}

impl Declared {
    fn name(self) -> &'static str {
        match self {
            Declared::Command(command) => command.name,
            Declared::Variable(variable) => variable.name,
        }
    }

    fn place(self) -> Place {
        match self {
            Declared::Command(command) => command.place,
            Declared::Variable(variable) => variable.place,
        }
    }

    /// Whether it is the very same declaration.
    fn is(self, other: Declared) -> bool {
        match (self, other) {
            (Declared::Command(a), Declared::Command(b)) => std::ptr::eq(a, b),
            (Declared::Variable(a), Declared::Variable(b)) => std::ptr::eq(a, b),
            _ => false,
        }
    }
}

/// Takes over what the program declares; how many commands and variables are live.
pub(super) fn collect<H>(cx: &mut Cx<'_, H>) -> (usize, usize) {
    let commands = inventory::iter::<CommandEntry>.into_iter();
    let variables = inventory::iter::<VariableEntry>.into_iter();
    let commands: Vec<Declared> = commands.map(|entry| Declared::Command(entry.0)).collect();
    let variables = variables.map(|entry| Declared::Variable(entry.0));
    let besides = console(cx).declared.clone();
    let (mut live, mut of_values) = (0, 0);
    let declared = commands.into_iter().chain(variables).chain(besides);
    let declared = declared.collect();
    for (declared, added) in add(cx, declared) {
        match declared {
            Declared::Command(_) => live += usize::from(added.is_ok_and(|is_new| is_new)),
            Declared::Variable(_) => of_values += usize::from(added.is_ok_and(|is_new| is_new)),
        }
    }
    (live, of_values)
}

/// What the program has collected, of whatever host.
pub(crate) struct Collected {
    pub(crate) commands: usize,
    pub(crate) variables: usize,
    /// How many of both are the console's own.
    pub(crate) ours: usize,
}

pub(crate) fn collected() -> Collected {
    let commands = inventory::iter::<CommandEntry>.into_iter();
    let commands: Vec<&str> = commands.map(|entry| entry.0.name).collect();
    let variables = inventory::iter::<VariableEntry>.into_iter();
    let variables: Vec<&str> = variables.map(|entry| entry.0.name).collect();
    let names = commands.iter().chain(&variables);
    Collected {
        commands: commands.len(),
        variables: variables.len(),
        ours: names.filter(|name| name::is_reserved(&fold(name))).count(),
    }
}

/// Adds commands that were not collected; how many are new.
pub(crate) fn add_commands<H>(
    cx: &mut Cx<'_, H>,
    commands: &[&'static StaticCommand],
) -> Result<usize, RegisterError> {
    count(add(cx, declarations(commands, &[])))
}

/// Adds variables that were not collected; how many are new.
pub(crate) fn add_variables<H>(
    cx: &mut Cx<'_, H>,
    variables: &[&'static StaticVariable],
) -> Result<usize, RegisterError> {
    count(add(cx, declarations(&[], variables)))
}

/// Takes over declarations when the console starts, or now if it has. What is at fault has a report.
pub(crate) fn declare<H>(
    cx: &mut Cx<'_, H>,
    commands: &[&'static StaticCommand],
    variables: &[&'static StaticVariable],
) {
    let mut new = declarations(commands, variables);
    let console = cx.runtime_state::<Console<H>>();
    new.retain(|new| !console.declared.iter().any(|known| known.is(*new)));
    console.declared.extend(&new);
    if console.started {
        add(cx, new);
    }
}

fn declarations(
    commands: &[&'static StaticCommand],
    variables: &[&'static StaticVariable],
) -> Vec<Declared> {
    // What was stripped has no name.
    let commands = commands.iter().filter(|command| !command.name.is_empty());
    let commands = commands.map(|c| Declared::Command(c));
    let variables = variables.iter().map(|v| Declared::Variable(v));
    commands.chain(variables).collect()
}

type Added = (Declared, Result<bool, RegisterError>);

fn count(added: Vec<Added>) -> Result<usize, RegisterError> {
    let mut new = 0;
    let mut first = None;
    for (_, outcome) in added {
        match outcome {
            Ok(is_new) => new += usize::from(is_new),
            Err(error) => first = first.or(Some(error)),
        }
    }
    first.map_or(Ok(new), Err)
}

/// Adds declarations in order of folded name, then of file and line: of two with one name the first
/// is live.
fn add<H>(cx: &mut Cx<'_, H>, mut declared: Vec<Declared>) -> Vec<Added> {
    declared.sort_by_cached_key(|declared| (fold(declared.name()), declared.place()));
    let mut added = Vec::with_capacity(declared.len());
    let mut live: Vec<(String, Declared)> = Vec::new();
    for declared in declared {
        let folded = fold(declared.name());
        let earlier = live.last().filter(|(name, _)| *name == folded);
        let outcome = match earlier {
            Some((_, earlier)) if earlier.is(declared) => Ok(false),
            _ => guarded(cx, declared, &folded),
        };
        if let Ok(true) = outcome {
            live.push((folded, declared));
        }
        added.push((declared, outcome));
    }
    added
}

/// Adds one. Its types and defaults are the user's code: where that panics, it is at fault, and not live.
fn guarded<H>(cx: &mut Cx<'_, H>, declared: Declared, folded: &str) -> Result<bool, RegisterError> {
    let added = cx.callback(None, Duration::ZERO, |cx| add_one(cx, declared, folded));
    cx.attend();
    added.unwrap_or_else(|panic| {
        let (name, place) = (declared.name(), declared.place());
        let error = RegisterError::BadParameters {
            name: name.to_owned(),
            fault: format!("a type or a default of them panicked: {}", panic.message()),
        };
        Err(bad(cx, place, name, error))
    })
}

/// The declaration that the entry in a slot was made from.
fn declared_by<H>(cx: &mut Cx<'_, H>, slot: u32) -> Option<Declared> {
    let entry = console(cx).entries.get(slot)?;
    match entry.role {
        Role::Variable(index) => {
            let variable = cx.runtime_state::<Variables>().get(index)?;
            variable.declared.map(Declared::Variable)
        }
        _ => {
            let handler = entry.handler.as_ref()?;
            handler.declared.map(Declared::Command)
        }
    }
}

/// Whether it is live now; `false` when it was before, or belongs to another host.
fn add_one<H>(cx: &mut Cx<'_, H>, declared: Declared, folded: &str) -> Result<bool, RegisterError> {
    let (name, place) = (declared.name(), declared.place());
    let body = match declared {
        Declared::Command(command) => match body::<H>(command) {
            Ok(body) => Some((command, body)),
            Err(host) => {
                let elsewhere = &mut console(cx).elsewhere;
                elsewhere.insert(folded.to_owned(), (name, host));
                return Ok(false);
            }
        },
        Declared::Variable(_) => None,
    };
    if let Some(fault) = name::fault(name) {
        let error = RegisterError::IllFormedName {
            name: name.to_owned(),
            fault: fault.to_owned(),
        };
        return Err(bad(cx, place, name, error));
    }
    if name::is_reserved(folded) && !name::is_ours(place.module) {
        let error = RegisterError::ReservedName {
            name: name.to_owned(),
        };
        return Err(bad(cx, place, name, error));
    }
    super::sweep(cx);
    let entries = &console(cx).entries;
    let slot = entries.find(folded);
    let holder = slot.and_then(|slot| Some((slot, entries.get(slot)?)));
    if let Some((slot, holder)) = holder {
        let holder = Arc::clone(&holder.info);
        if declared_by(cx, slot).is_some_and(|by| by.is(declared)) {
            return Ok(false);
        }
        let by = format!("{} `{}`, {}", holder.kind, holder.name, holder.origin);
        let what = format!("declared at {place}, and so is {by}, which is live");
        let kind = ReportKind::Extension(&reports::DECLARED_TWICE);
        cx.report(Report::new(kind, what).object(name));
        return Err(RegisterError::NameTaken {
            name: name.to_owned(),
            by,
            fix: "take another name: what is live stays",
        });
    }
    match (declared, body) {
        (Declared::Command(_), Some((command, body))) => insert(cx, command, body, folded)?,
        (Declared::Variable(variable), _) => {
            let parts = (variable.make)();
            if let Err(error) = (parts.ops.check)(&*parts.default) {
                let error = RegisterError::BadParameters {
                    name: name.to_owned(),
                    fault: format!("its default is not allowed: {error}"),
                };
                return Err(bad(cx, place, name, error));
            }
            let origin = Origin::Static(place.to_string());
            let binding = Binding::default();
            crate::variable::install(cx, name, parts, Some(variable), origin, binding);
        }
        (Declared::Command(_), None) => {}
    }
    Ok(true)
}

fn bad<H>(cx: &mut Cx<'_, H>, place: Place, name: &str, error: RegisterError) -> RegisterError {
    let kind = ReportKind::Extension(&reports::BAD_DECLARATION);
    let what = format!("declared at {place}: {error}");
    cx.report(Report::new(kind, what).object(name));
    error
}

/// The body for runtimes of this host, or the name of the host it is for.
fn body<H: 'static>(command: &StaticCommand) -> Result<Body<H>, &'static str> {
    match (command.body)().0 {
        AnyBody::Host {
            host,
            host_name,
            body,
        } => match body.downcast_ref::<HostBody<H>>() {
            Some(body) if host == TypeId::of::<H>() => Ok(Body::Host(*body)),
            _ => Err(host_name),
        },
        AnyBody::Free(body) => Ok(Body::Free(body)),
        AnyBody::Registry => Ok(Body::Registry),
    }
}

fn insert<H>(
    cx: &mut Cx<'_, H>,
    command: &'static StaticCommand,
    body: Body<H>,
    folded: &str,
) -> Result<(), RegisterError> {
    let params: Rc<[Param]> = (command.params)()
        .into_iter()
        .map(|param| param.0)
        .collect();
    if let Some(fault) = param_fault(&params) {
        let error = RegisterError::BadParameters {
            name: command.name.to_owned(),
            fault,
        };
        return Err(bad(cx, command.place, command.name, error));
    }
    let info = EntryInfo {
        name: command.name.to_owned(),
        folded: folded.to_owned(),
        kind: EntryKind::Command,
        about: doc_text(command.docs),
        params: params.iter().map(|param| param.info.clone()).collect(),
        flags: command.flags,
        origin: Origin::Static(command.place.to_string()),
    };
    let handler = Handler {
        body,
        params,
        needs_game_world: !command.anytime,
        declared: Some(command),
    };
    let entry = Entry::new(info, Binding::default(), Role::Static, Some(handler));
    let (_, lost) = super::enter(cx, entry);
    super::say(cx, lost);
    Ok(())
}
