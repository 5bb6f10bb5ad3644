//! Replacing the registry: a project's own type, which bodies of the form `=> registry` go to.

use std::any::{Any, TypeId, type_name};
use std::fmt;

use sc_core::{Culprit, Cx, Panic, Report, ReportKind};

use super::console;
use crate::command::CommandError;
use crate::output::Output;
use crate::reports;

/// A project's own registry. It hears of the start and the end, and runs the static commands that
/// are declared with `=> registry`, perhaps from a script of its own.
///
/// ```
/// use sc_console::{CommandError, CommandRegistry, ConsoleExt, ForwardedCall, Output, Source, command};
/// use sc_core::{Cx, Runtime, WorldKind};
///
/// command! {
///     /// Heals the player.
///     MyGame.Heal (
///         /// By how much.
///         amount: u32 = 10,
///     ) => registry
/// }
///
/// struct Scripted;
/// impl CommandRegistry<u32> for Scripted {
///     fn on_static_command(
///         &mut self, cx: &mut Cx<'_, u32>, call: ForwardedCall<'_>, out: &mut Output,
///     ) -> Result<(), CommandError> {
///         match (call.id, call.args) {
///             ("MyGame.Heal", [amount]) => *cx.host_mut() += amount.parse::<u32>()?,
///             (id, _) => Err(format!("no script for {id}"))?,
///         }
///         Ok(writeln!(out, "healed")?)
///     }
/// }
///
/// let (mut rt, mut health) = (Runtime::<u32>::new(), 1);
/// let mut cx = rt.cx(&mut health);
/// cx.create_world(WorldKind::Game)?;
/// cx.provide_registry(Scripted)?;
/// # #[cfg(feature = "commands")] {
/// assert_eq!(cx.run_line("MyGame.Heal 5", Source::Local).text(), "healed");
/// assert_eq!(health, 6);
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait CommandRegistry<H: 'static>: 'static {
    /// It is the live one from now on.
    fn start(&mut self, _cx: &mut Cx<'_, H>) {}

    /// Runs a static command that is declared with `=> registry`. Its arguments were checked
    /// against its parameters, and defaults stand in for those that were left out. They end before the
    /// first one that was left out and has no default.
    ///
    /// # Errors
    /// What the command says.
    fn on_static_command(
        &mut self,
        cx: &mut Cx<'_, H>,
        call: ForwardedCall<'_>,
        out: &mut Output,
    ) -> Result<(), CommandError>;

    /// The runtime ends, or a competing registry was provided: if that was from within a call of this one, when
    /// the call is done.
    fn end(&mut self, _cx: &mut Cx<'_, H>) {}
}

/// A call that the registry is to run.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ForwardedCall<'c> {
    /// The name of the command, as it was declared.
    pub id: &'c str,
    /// Its arguments.
    pub args: &'c [String],
}

type Boxed<H> = Box<dyn CommandRegistry<H>>;

/// Which registry is live.
pub(crate) struct Registry<H: 'static> {
    name: &'static str,
    /// The project's own; empty while it runs, and with the default one.
    own: Option<Boxed<H>>,
    type_id: Option<TypeId>,
    /// Those that compete, if there are some: then the default one is live.
    competing: Option<RegistriesCompete>,
}

impl<H> Default for Registry<H> {
    fn default() -> Self {
        Registry {
            name: DEFAULT,
            own: None,
            type_id: None,
            competing: None,
        }
    }
}

const DEFAULT: &str = "default";

impl<H> Registry<H> {
    pub(crate) fn name(&self) -> &'static str {
        self.name
    }
}

/// Two project types want to be the registry.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "both `{first}` and `{second}` want to be the registry: the default one is live; provide one of them"
)]
pub struct RegistriesCompete {
    /// The type that was there first.
    pub first: &'static str,
    /// The other type.
    pub second: &'static str,
}

/// Makes a project's type the registry.
pub(crate) fn provide<H>(
    cx: &mut Cx<'_, H>,
    name: &'static str,
    type_id: TypeId,
    registry: Boxed<H>,
) -> Result<(), RegistriesCompete> {
    let live = &mut console(cx).registry;
    if live.type_id == Some(type_id) && live.competing.is_none() {
        tracing::debug!(target: "stillcooking", "console: registry `{name}` was provided again: it is live already");
        return Ok(());
    }
    if live.type_id.is_some() {
        let first = live.name;
        let compete = RegistriesCompete {
            first,
            second: name,
        };
        // One that runs ends when it is done.
        let old = live.own.take();
        live.competing.get_or_insert_with(|| compete.clone());
        live.name = DEFAULT;
        let kind = ReportKind::Extension(&reports::REGISTRIES_COMPETE);
        let report = Report::new(kind, compete.to_string()).object(name);
        if let Some(old) = old {
            end(cx, first, old);
        }
        cx.report(report);
        return Err(compete);
    }
    live.name = name;
    live.type_id = Some(type_id);
    let mut own = registry;
    let outcome = call(cx, |cx| own.start(cx));
    let competing = put_back(cx, own);
    settle(cx, name, outcome);
    competing.map_or(Ok(()), Err)
}

/// Puts a registry back that has run; those that compete, if another one was provided meanwhile: then it ends.
fn put_back<H>(cx: &mut Cx<'_, H>, own: Boxed<H>) -> Option<RegistriesCompete> {
    let live = &mut console(cx).registry;
    let competing = live.competing.clone();
    match &competing {
        Some(compete) => end(cx, compete.first, own),
        None => live.own = Some(own),
    }
    competing
}

/// The end of a registry.
fn end<H>(cx: &mut Cx<'_, H>, name: &'static str, mut own: Boxed<H>) {
    let outcome = call(cx, |cx| own.end(cx));
    cx.enter(|| drop(own));
    settle(cx, name, outcome);
}

/// Calls into a project's registry.
fn call<H>(cx: &mut Cx<'_, H>, f: impl FnOnce(&mut Cx<'_, H>)) -> Result<(), Panic> {
    let world = cx.world();
    cx.callback(world, std::time::Duration::ZERO, f)
}

/// What follows from such a call, when everything is in its place again.
fn settle<H>(cx: &mut Cx<'_, H>, name: &str, outcome: Result<(), Panic>) {
    match outcome {
        Ok(()) => cx.attend(),
        Err(panic) => {
            let culprit = Culprit::new(format!("registry {name}"), reports::REGISTRY_FIX);
            cx.settle_panic(&culprit, panic);
        }
    }
}

/// Has the live registry run a command. To be called inside the guard of a command.
pub(crate) fn forward<H>(
    cx: &mut Cx<'_, H>,
    call: ForwardedCall<'_>,
    out: &mut Output,
) -> Result<(), CommandError> {
    let registry = &mut console(cx).registry;
    let Some(mut own) = registry.own.take() else {
        return Err(match registry.type_id {
            Some(_) if registry.competing.is_none() => {
                "the registry is running: it cannot be called from its own command".into()
            }
            _ => format!(
                "`{}` goes to the project's registry, and there is none: call `provide_registry`",
                call.id
            )
            .into(),
        });
    };
    // Put back on unwinding too: the command is reported, the registry stays.
    let run = std::panic::AssertUnwindSafe(|| own.on_static_command(cx, call, out));
    let outcome = std::panic::catch_unwind(run);
    put_back(cx, own);
    match outcome {
        Ok(outcome) => outcome,
        Err(payload) => std::panic::resume_unwind(payload),
    }
}

/// A registry that the program declares.
#[doc(hidden)]
pub struct RegistryEntry {
    pub type_name: fn() -> &'static str,
    pub type_id: fn() -> TypeId,
    pub place: (&'static str, u32),
    /// Makes a box of a boxed registry of its host type.
    pub make: fn() -> Box<dyn Any>,
}

inventory::collect!(RegistryEntry);

impl RegistryEntry {
    /// One of a type.
    #[must_use]
    pub const fn new<H: 'static, R: CommandRegistry<H> + Default>(
        place: (&'static str, u32),
    ) -> Self {
        RegistryEntry {
            type_name: type_name::<R>,
            type_id: TypeId::of::<R>,
            place,
            make: || {
                let boxed: Boxed<H> = Box::<R>::default();
                Box::new(Some(boxed))
            },
        }
    }
}

impl fmt::Debug for RegistryEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str((self.type_name)())
    }
}

/// Provides the registries that the program declares for this host.
pub(super) fn provide_declared<H>(cx: &mut Cx<'_, H>) {
    let mut declared: Vec<&RegistryEntry> = inventory::iter::<RegistryEntry>.into_iter().collect();
    declared.sort_by_key(|entry| entry.place);
    for entry in declared {
        let mut made = (entry.make)();
        if let Some(registry) = made
            .downcast_mut::<Option<Boxed<H>>>()
            .and_then(Option::take)
        {
            // Who competes is reported.
            let _ = provide(cx, (entry.type_name)(), (entry.type_id)(), registry);
        }
    }
}

/// The end of the runtime.
pub(super) fn close<H>(cx: &mut Cx<'_, H>) {
    let registry = &mut console(cx).registry;
    let name = registry.name;
    if let Some(own) = registry.own.take() {
        end(cx, name, own);
    }
}

/// Declares a project's own registry: it is live from the start of every runtime of its host. Its
/// type needs a `Default`. [`ConsoleExt::provide_registry`](crate::ConsoleExt::provide_registry)
/// does it at run time.
///
/// ```
/// use sc_console::{CommandError, CommandRegistry, ForwardedCall, Output, command_registry};
/// use sc_core::Cx;
/// struct Game;
/// #[derive(Default)]
/// struct Scripted;
/// impl CommandRegistry<Game> for Scripted {
///     fn on_static_command(
///         &mut self, _cx: &mut Cx<'_, Game>, call: ForwardedCall<'_>, out: &mut Output,
///     ) -> Result<(), CommandError> {
///         Ok(writeln!(out, "{} {:?}", call.id, call.args)?)
///     }
/// }
/// command_registry!(Game: Scripted);
/// ```
#[cfg(feature = "commands")]
#[macro_export]
macro_rules! command_registry {
    ($host:ty : $registry:ty) => {
        $crate::__private::inventory::submit! {
            $crate::__private::RegistryEntry::new::<$host, $registry>((::core::file!(), ::core::line!()))
        }
    };
}

/// As with the feature `commands`, but only the types are checked: nothing of it is in the binary.
#[cfg(not(feature = "commands"))]
#[macro_export]
macro_rules! command_registry {
    ($host:ty : $registry:ty) => {
        const _: fn() -> $registry = || {
            fn check<H: 'static, R: $crate::CommandRegistry<H> + ::core::default::Default>() -> R {
                R::default()
            }
            check::<$host, $registry>()
        };
    };
}
