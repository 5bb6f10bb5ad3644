//! Registering and unregistering at run time.

use std::hash::{Hash, Hasher};
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sc_core::{Cx, Report, ReportKind, TickId, WorldId};

use super::entries::{Binding, Entry, Role};
use super::{Body, Handler, bury, console, enter, remove, say, sweep};
use crate::command::{Bound, CommandDef, Parts, param_fault};
use crate::error::RegisterError;
use crate::info::{EntryInfo, EntryKind, Origin};
use crate::name;
use crate::reports;

/// Names a command that was registered at run time. Copyable, and inert once the command is gone; in another
/// runtime that lives at the same time, too.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CommandId {
    slot: u32,
    generation: u32,
    /// Tells runtimes from each other; no part of the hash, since it differs from run to run.
    runtime: u32,
}

impl Hash for CommandId {
    fn hash<S: Hasher>(&self, state: &mut S) {
        (self.slot, self.generation).hash(state);
    }
}

impl CommandId {
    const STRIPPED: CommandId = CommandId {
        slot: u32::MAX,
        generation: u32::MAX,
        runtime: 0,
    };

    /// Whether there is nothing behind it, because the program is built without the feature
    /// `commands`.
    #[must_use]
    pub fn is_stripped(self) -> bool {
        self == CommandId::STRIPPED
    }
}

/// Unregisters its command when it is dropped, wherever that is.
/// [`register_command_guarded`](crate::ConsoleExt::register_command_guarded) gives it.
///
/// ```
/// # use sc_console::{CommandGuard, ConsoleExt, LineOutcome, Source, dynamic_command};
/// # use sc_core::{Cx, Runtime};
/// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
/// # let mut cx = rt.cx(&mut host);
/// struct Minigame { _command: CommandGuard }
/// let command = dynamic_command! {
///     /// Casts the line.
///     Fishing.Cast () |_cx: &mut Cx<'_, ()>, _out| { Ok(()) }
/// };
/// let game = Minigame { _command: cx.register_command_guarded(command.runtime())? };
/// // It may end on another thread.
/// # let send = std::thread::spawn(move || drop(game)).join();
/// # assert!(send.is_ok());
/// assert_eq!(cx.run_line("fishing.cast", Source::Local).outcome, LineOutcome::Failed);
/// # Ok::<(), sc_console::RegisterError>(())
/// ```
#[derive(Debug)]
#[must_use = "dropping the guard unregisters the command"]
pub struct CommandGuard {
    id: CommandId,
    dropped: Arc<AtomicBool>,
    /// Tells the console that some guard was dropped.
    any: Arc<AtomicBool>,
}

impl CommandGuard {
    /// The command's id.
    #[must_use]
    pub fn id(&self) -> CommandId {
        self.id
    }

    /// Whether there is nothing behind it, because the program is built without the feature
    /// `commands`.
    #[must_use]
    pub fn is_stripped(&self) -> bool {
        self.id.is_stripped()
    }
}

impl Drop for CommandGuard {
    fn drop(&mut self) {
        self.dropped.store(true, Ordering::Release);
        self.any.store(true, Ordering::Release);
    }
}

/// Says why something is not registered, and where that was wanted: one warning, and the error to return.
pub(crate) fn refuse<H>(
    cx: &mut Cx<'_, H>,
    name: &str,
    location: &Location<'_>,
    error: RegisterError,
) -> RegisterError {
    let kind = ReportKind::Extension(&reports::NOT_REGISTERED);
    let what = format!("{error} (at {})", place(location));
    cx.report(Report::new(kind, what).object(name));
    error
}

/// What something registered at run time is bound to.
pub(crate) fn bind<H>(
    cx: &mut Cx<'_, H>,
    name: &str,
    owner: Option<TickId>,
    bound: Bound,
) -> Result<Binding, RegisterError> {
    if cx.runtime().is_shut_down() {
        return Err(RegisterError::ShutDown);
    }
    let world: Option<WorldId> = match bound {
        Bound::Here => cx.world().or_else(|| {
            // Outside of callbacks, that of the owner.
            let owner = cx.tick_info(owner?).ok()?;
            owner.world
        }),
        Bound::World(world) => Some(world),
        Bound::Runtime => None,
    };
    // An owner is enough to end with.
    let needs_world = bound != Bound::Runtime && (owner.is_none() || world.is_some());
    if needs_world && !world.is_some_and(|world| cx.is_world_alive(world)) {
        return Err(RegisterError::NoLiveWorld {
            name: name.to_owned(),
        });
    }
    let owner = owner.map(|owner| cx.life(owner)).transpose();
    let owner = owner.map_err(|why| RegisterError::NoOwner {
        name: name.to_owned(),
        why,
    })?;
    if let Some(owner) = owner
        && !cx.is_living(owner)
    {
        return Err(RegisterError::NoOwner {
            name: name.to_owned(),
            why: sc_core::TickError::Gone,
        });
    }
    Ok(Binding {
        owner,
        world,
        guard: None,
        dynamic: true,
    })
}

/// Whether a name can be taken; the slot of who has it, if `replace`.
pub(crate) fn claim<H>(
    cx: &mut Cx<'_, H>,
    name: &str,
    ours: bool,
    replace: bool,
) -> Result<Option<u32>, RegisterError> {
    if name.is_empty() {
        return Err(RegisterError::EmptyName);
    }
    if let Some(fault) = name::fault(name) {
        return Err(RegisterError::IllFormedName {
            name: name.to_owned(),
            fault: fault.to_owned(),
        });
    }
    let folded = name::fold(name);
    if name::is_reserved(&folded) && !ours {
        return Err(RegisterError::ReservedName {
            name: name.to_owned(),
        });
    }
    // A dead owner never blocks a name.
    sweep(cx);
    let entries = &console(cx).entries;
    let Some(slot) = entries.find(&folded) else {
        return Ok(None);
    };
    let Some(entry) = entries.get(slot) else {
        return Ok(None);
    };
    if replace && entry.role == Role::Dynamic {
        return Ok(Some(slot));
    }
    let (kind, origin) = (entry.info.kind, &entry.info.origin);
    Err(RegisterError::NameTaken {
        name: name.to_owned(),
        by: format!("{kind} `{}`, {origin}", entry.info.name),
        fix: match entry.role {
            Role::Dynamic => "unregister that first, or call `replace_command`",
            Role::Variable(_) if entry.binding.dynamic => "unregister that first",
            _ => "take another name: what is declared or built in stays",
        },
    })
}

/// Registers a command, perhaps in place of another dynamic one.
pub(crate) fn register<H>(
    cx: &mut Cx<'_, H>,
    definition: CommandDef<H>,
    replace: bool,
) -> Result<CommandId, RegisterError> {
    register_with(cx, definition, replace, None)
}

fn register_with<H>(
    cx: &mut Cx<'_, H>,
    definition: CommandDef<H>,
    replace: bool,
    guard: Option<Arc<AtomicBool>>,
) -> Result<CommandId, RegisterError> {
    let Some(parts) = definition.0 else {
        return Ok(CommandId::STRIPPED);
    };
    let (name, location) = (parts.name.clone(), parts.location);
    try_register(cx, parts, replace, guard).map_err(|error| refuse(cx, &name, location, error))
}

/// As [`register`], with a guard.
pub(crate) fn register_guarded<H>(
    cx: &mut Cx<'_, H>,
    definition: CommandDef<H>,
) -> Result<CommandGuard, RegisterError> {
    let dropped = Arc::<AtomicBool>::default();
    let id = register_with(cx, definition, false, Some(Arc::clone(&dropped)))?;
    let any = Arc::clone(&console(cx).guards);
    Ok(CommandGuard { id, dropped, any })
}

fn try_register<H>(
    cx: &mut Cx<'_, H>,
    parts: Parts<H>,
    replace: bool,
    guard: Option<Arc<AtomicBool>>,
) -> Result<CommandId, RegisterError> {
    let old = claim(cx, &parts.name, parts.ours, replace)?;
    if let Some(fault) = param_fault(&parts.params) {
        return Err(RegisterError::BadParameters {
            name: parts.name.into_owned(),
            fault,
        });
    }
    let mut binding = bind(cx, &parts.name, parts.owner, parts.bound)?;
    binding.guard = guard;
    let old = old.and_then(|old| console(cx).entries.remove(old));
    let id = insert(cx, parts, binding, Role::Dynamic);
    bury(cx, old.and_then(|old| old.handler));
    Ok(id)
}

fn insert<H>(cx: &mut Cx<'_, H>, parts: Parts<H>, binding: Binding, role: Role) -> CommandId {
    let params = parts.params.iter().map(|param| param.info.clone());
    let info = EntryInfo {
        folded: name::fold(&parts.name),
        name: parts.name.into_owned(),
        kind: EntryKind::Command,
        about: parts.about,
        params: params.collect(),
        flags: parts.flags,
        origin: match role {
            Role::BuiltIn => Origin::BuiltIn,
            _ => Origin::Dynamic(place(parts.location)),
        },
    };
    let runtime = cx.runtime().mark();
    let handler = Handler {
        body: Body::Closure(Some(parts.body)),
        params: parts.params.into(),
        needs_game_world: false,
        declared: None,
    };
    let (slot, lost) = enter(cx, Entry::new(info, binding, role, Some(handler)));
    let id = CommandId {
        slot,
        generation: console(cx).entries.generation(slot),
        runtime,
    };
    say(cx, lost);
    id
}

/// A place in the program, as text.
pub(crate) fn place(location: &Location<'_>) -> String {
    format!("{}:{}", location.file(), location.line())
}

/// Registers a command of the console's own.
pub(crate) fn register_built_in<H>(cx: &mut Cx<'_, H>, definition: CommandDef<H>) {
    if let Some(parts) = definition.0 {
        insert(cx, parts, Binding::default(), Role::BuiltIn);
    }
}

/// Ends an entry; whether it was alive. One that has lost what it was bound to ends as well.
fn end<H>(cx: &mut Cx<'_, H>, slot: u32) -> bool {
    let entry = console(cx).entries.get(slot);
    let binding = entry.map(|entry| entry.binding.clone());
    let lived = binding.is_some_and(|binding| binding.holds(cx));
    remove(cx, slot) && lived
}

/// Ends a command by id; whether there was one.
pub(crate) fn unregister<H>(cx: &mut Cx<'_, H>, id: CommandId) -> bool {
    id.runtime == cx.runtime().mark()
        && console(cx).entries.generation(id.slot) == id.generation
        && end(cx, id.slot)
}

/// Ends a dynamic command by name; whether there was one.
pub(crate) fn unregister_entry<H>(cx: &mut Cx<'_, H>, name: &str) -> bool {
    let entries = &console(cx).entries;
    let Some(slot) = entries.find(&name::fold(name)) else {
        return false;
    };
    let is_dynamic = |entry: &Entry<H>| entry.binding.dynamic;
    entries.get(slot).is_some_and(is_dynamic) && end(cx, slot)
}

/// Ends every dynamic command and variable of an owner; how many.
pub(crate) fn unregister_entries_of<H>(cx: &mut Cx<'_, H>, owner: TickId) -> usize {
    let of_owner = |entry: &Entry<H>| {
        let life = entry.binding.owner;
        life.is_some_and(|life| life.object() == owner)
    };
    let numbers = console(cx).entries.dynamic(of_owner).into_iter();
    let ended = numbers.filter(|&number| {
        let slot = console(cx).entries.slot_of(number);
        slot.is_some_and(|slot| end(cx, slot))
    });
    ended.count()
}
