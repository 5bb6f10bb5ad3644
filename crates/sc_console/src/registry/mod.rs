//! The registry: what entries a runtime's console has, and the bodies behind them.

mod dynamic;
mod entries;
mod replace;
mod statics;
mod suggest;

use std::any::type_name;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sc_core::{Cx, Extension, Report, ReportKind, Stage, TeardownPhase, WorldId};

use crate::alias::Aliases;
use crate::command::{DynBody, FreeBody, HostBody, Param, StaticCommand};
use crate::history::History;
use crate::info::EntryInfo;
use crate::output::Ring;
use crate::reports;
use crate::run::Tasks;
use crate::settings::ConsoleSettings;
use crate::snapshot::ConsoleSnapshot;
use crate::source::Source;
use crate::variable::Watchers;

pub use dynamic::{CommandGuard, CommandId};
pub(crate) use dynamic::{
    bind, claim, place, refuse, register, register_guarded, unregister, unregister_entries_of,
    unregister_entry,
};
pub(crate) use entries::{Binding, Entries, Entry, Role};
pub use replace::{CommandRegistry, ForwardedCall, RegistriesCompete, RegistryEntry};
pub(crate) use replace::{Registry, forward, provide};
pub(crate) use statics::{Declared, add_commands, add_variables, collected, declare};
pub(crate) use suggest::suggest;

/// What runs a command.
pub(crate) enum Body<H: 'static> {
    Host(HostBody<H>),
    Free(FreeBody),
    Registry,
    /// Empty while it runs.
    Closure(Option<DynBody<H>>),
}

/// What runs a command: what its entry has besides its text.
pub(crate) struct Handler<H: 'static> {
    pub(crate) body: Body<H>,
    pub(crate) params: Rc<[Param]>,
    pub(crate) needs_game_world: bool,
    /// What it was declared by, if it was.
    pub(crate) declared: Option<&'static StaticCommand>,
}

/// The console of a runtime.
pub(crate) struct Console<H: 'static> {
    started: bool,
    /// What was declared besides what is collected.
    pub(crate) declared: Vec<Declared>,
    pub(crate) entries: Entries<H>,
    pub(crate) aliases: Aliases,
    /// Static commands of other hosts, by folded name: their name and host.
    pub(crate) elsewhere: BTreeMap<String, (&'static str, &'static str)>,
    pub(crate) registry: Registry<H>,
    pub(crate) settings: ConsoleSettings,
    pub(crate) history: History,
    pub(crate) shown: Ring,
    pub(crate) tasks: Tasks<H>,
    pub(crate) watchers: Watchers<H>,
    /// Set when a guard is dropped, wherever that is.
    pub(crate) guards: Arc<AtomicBool>,
    /// A suggestion function runs, for whom.
    pub(crate) suggesting: Option<Source>,
    snapshots: Vec<Cached>,
}

/// A snapshot, and what it depends on.
struct Cached {
    source: Source,
    revisions: (u64, u64),
    filter: (bool, bool, bool),
    snapshot: Arc<ConsoleSnapshot>,
}

impl<H> Default for Console<H> {
    fn default() -> Self {
        Console {
            started: false,
            declared: Vec::new(),
            entries: Entries::default(),
            aliases: Aliases::default(),
            elsewhere: BTreeMap::new(),
            registry: Registry::default(),
            settings: ConsoleSettings::default(),
            history: History::default(),
            shown: Ring::default(),
            tasks: Tasks::default(),
            watchers: Watchers::default(),
            guards: Arc::default(),
            suggesting: None,
            snapshots: Vec::new(),
        }
    }
}

/// The console of a runtime, started.
pub(crate) fn console<'c, H>(cx: &'c mut Cx<'_, H>) -> &'c mut Console<H> {
    if !cx.runtime_state::<Console<H>>().started {
        start(cx);
    }
    cx.runtime_state()
}

#[cold]
fn start<H>(cx: &mut Cx<'_, H>) {
    cx.runtime_state::<Console<H>>().started = true;
    cx.install(
        Extension::new("sc.console")
            .ours()
            .on_runtime_stage(Stage::Console, |cx| {
                drop_unguarded(cx);
                crate::run::stage(cx);
            })
            .on_lives_ended(|cx, _| sweep(cx))
            .on_teardown(TeardownPhase::Commands, leave_world)
            .on_runtime_teardown(end)
            .inspected_by(|rt| {
                rt.state::<Console<H>>()
                    .map_or_else(Vec::new, |console| console.entries.lines())
            }),
    );
    #[cfg(feature = "commands")]
    for definition in crate::builtin::all() {
        dynamic::register_built_in(cx, definition);
    }
    let (commands, variables) = statics::collect(cx);
    replace::provide_declared(cx);
    let registry = console(cx).registry.name();
    tracing::info!(
        target: "stillcooking",
        host = type_name::<H>(),
        "console: registry `{registry}` is live, with {commands} static commands and {variables} variables"
    );
}

/// Removes what has lost its owner, its world or its guard.
pub(crate) fn sweep<H>(cx: &mut Cx<'_, H>) {
    let Some(console) = cx.runtime().state::<Console<H>>() else {
        return;
    };
    let dead = console.entries.dead(cx);
    remove_all(cx, dead);
}

/// An entry that is alive.
pub(crate) struct Live {
    pub(crate) slot: u32,
    pub(crate) info: Arc<EntryInfo>,
    pub(crate) role: Role,
    /// The world it is bound to.
    pub(crate) world: Option<WorldId>,
    pub(crate) needs_game_world: bool,
}

/// The entry of a name, if it is alive.
pub(crate) fn live<H>(cx: &mut Cx<'_, H>, folded: &str) -> Option<Live> {
    let slot = console(cx).entries.find(folded)?;
    let entry = cx.runtime().state::<Console<H>>()?.entries.get(slot)?;
    if entry.binding.holds(cx) {
        let handler = entry.handler.as_ref();
        return Some(Live {
            slot,
            info: Arc::clone(&entry.info),
            role: entry.role,
            world: entry.binding.world,
            needs_game_world: handler.is_some_and(|handler| handler.needs_game_world),
        });
    }
    sweep(cx);
    None
}

/// Drops what has lost its guard since the last frame; that it is gone was seen at once.
fn drop_unguarded<H>(cx: &mut Cx<'_, H>) {
    if console(cx).guards.swap(false, Ordering::AcqRel) {
        sweep(cx);
        let callbacks = console(cx).watchers.take_dropped();
        cx.enter(|| drop(callbacks));
    }
}

/// Makes an entry. What there is to say of an alias that loses its name by that is given back, to be said when the entry
/// is whole: who hears it may panic.
pub(crate) fn enter<H>(cx: &mut Cx<'_, H>, entry: Entry<H>) -> (u32, Option<Report>) {
    let info = Arc::clone(&entry.info);
    let console = console(cx);
    let slot = console.entries.insert(entry);
    if !console.aliases.loses(&info.folded) {
        return (slot, None);
    }
    let lost = console.aliases.get(&info.folded).map(|alias| {
        let what = format!(
            "an alias has lost its name to the {} `{}`, {}; it stands for: {}",
            info.kind,
            info.name,
            info.origin,
            alias.shown(&*console)
        );
        let kind = ReportKind::Extension(&reports::ALIAS_LOST);
        Report::new(kind, what).object(alias.name.as_str())
    });
    (slot, lost)
}

/// Says what [`enter`] has given back.
pub(crate) fn say<H>(cx: &mut Cx<'_, H>, lost: Option<Report>) {
    if let Some(report) = lost {
        cx.report(report);
    }
}

/// Removes an entry, with what is behind it.
pub(crate) fn remove<H>(cx: &mut Cx<'_, H>, slot: u32) -> bool {
    let Some(entry) = console(cx).entries.remove(slot) else {
        return false;
    };
    if let Role::Variable(index) = entry.role {
        crate::variable::remove(cx, index);
    }
    bury(cx, entry.handler);
    true
}

/// Removes what is dynamic, by the numbers of registrations.
fn remove_all<H>(cx: &mut Cx<'_, H>, numbers: Vec<u64>) {
    for number in numbers {
        if let Some(slot) = console(cx).entries.slot_of(number) {
            remove(cx, slot);
        }
    }
}

/// What a closure holds may be the user's, and its destructor may reach the runtime.
fn bury<H>(cx: &mut Cx<'_, H>, handler: Option<Handler<H>>) {
    cx.enter(|| drop(handler));
}

/// The end of a world: what is bound to it goes.
fn leave_world<H>(cx: &mut Cx<'_, H>, world: WorldId) {
    let of_world = |entry: &Entry<H>| entry.binding.world == Some(world);
    let dynamic = console(cx).entries.dynamic(of_world);
    remove_all(cx, dynamic);
    let callbacks = console(cx).watchers.leave_world(world);
    cx.enter(|| drop(callbacks));
}

/// The end of the runtime: everything dynamic goes, and who waits hears it.
fn end<H>(cx: &mut Cx<'_, H>) {
    crate::run::cancel_all(cx);
    let dynamic = console(cx).entries.dynamic(|_| true);
    remove_all(cx, dynamic);
    replace::close(cx);
}

/// What a source can see: the same value as long as nothing has changed.
pub(crate) fn snapshot<H>(cx: &mut Cx<'_, H>, source: Source) -> Arc<ConsoleSnapshot> {
    sweep(cx);
    let console = console(cx);
    let revisions = (console.entries.revision(), console.aliases.revision());
    let filter = console.settings.filter_key();
    let fresh = |cached: &Cached| cached.source == source;
    let cached = console.snapshots.iter().position(fresh);
    let cached = cached.and_then(|at| console.snapshots.get(at));
    if let Some(cached) = cached
        && cached.revisions == revisions
        && cached.filter == filter
    {
        return Arc::clone(&cached.snapshot);
    }
    let aliases = console.aliases.sorted();
    let aliases: Vec<_> = aliases.map(|(_, alias)| alias.info(&*console)).collect();
    let settings = &console.settings;
    let visible = |flags| settings.barrier(flags, source).is_none();
    let entries = console.entries.sorted();
    let snapshot = Arc::new(ConsoleSnapshot::new(entries, aliases.iter(), visible));
    let made = Cached {
        source,
        revisions,
        filter,
        snapshot: Arc::clone(&snapshot),
    };
    console.snapshots.retain(|cached| cached.source != source);
    console.snapshots.push(made);
    snapshot
}
