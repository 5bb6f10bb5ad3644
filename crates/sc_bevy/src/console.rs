//! The console in an app: commands that run systems, variables as resources.

use std::any::type_name;
use std::ops::{Deref, DerefMut};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use bevy_app::App;
use bevy_ecs::change_detection::{DetectChanges, Tick};
use bevy_ecs::resource::Resource;
use bevy_ecs::schedule::IntoScheduleConfigs;
use bevy_ecs::system::{BoxedSystem, IntoSystem, Local, SystemInput};
use bevy_ecs::world::World;
use sc_console::{
    CommandDef, CommandError, ConsoleArg, ConsoleExt, Output, Variable, VariableError, VariableExt,
};
use sc_core::{Cx, Report, ReportKind, Stage};

use crate::plugin::{InForce, StageSystems};
use crate::reports;
use crate::slot::{WorldCx, with_runtime};

/// A command that runs a system; made by [`console_command!`](crate::console_command).
pub struct ConsoleCommand(CommandDef<World>);

/// What the macro makes.
#[must_use]
pub fn command(definition: CommandDef<World>) -> ConsoleCommand {
    ConsoleCommand(definition)
}

/// A command that runs a system, to be added by its name: declared by
/// [`console_command!`](crate::console_command) with `pub NAME =`.
#[derive(Clone, Copy, Debug)]
pub struct DeclaredCommand(fn() -> ConsoleCommand);

/// What the macro declares.
#[must_use]
pub const fn declared(command: fn() -> ConsoleCommand) -> DeclaredCommand {
    DeclaredCommand(command)
}

impl From<DeclaredCommand> for ConsoleCommand {
    fn from(DeclaredCommand(command): DeclaredCommand) -> Self {
        command()
    }
}

/// What a system of a command may return: nothing, a text to show, or a `Result` of one of these.
pub trait CommandReply {
    #[doc(hidden)]
    fn reply(self, out: &mut Output) -> Result<(), CommandError>;
}

impl CommandReply for () {
    fn reply(self, _out: &mut Output) -> Result<(), CommandError> {
        Ok(())
    }
}

impl CommandReply for String {
    fn reply(self, out: &mut Output) -> Result<(), CommandError> {
        Ok(writeln!(out, "{self}")?)
    }
}

impl CommandReply for &'static str {
    fn reply(self, out: &mut Output) -> Result<(), CommandError> {
        Ok(writeln!(out, "{self}")?)
    }
}

impl<T: CommandReply, E: Into<CommandError>> CommandReply for Result<T, E> {
    fn reply(self, out: &mut Output) -> Result<(), CommandError> {
        self.map_err(Into::into)?.reply(out)
    }
}

/// The system of a command. It stays here, not in the `World`'s registry, which loses a system that panics.
#[doc(hidden)]
pub struct CommandSystem<I: SystemInput + 'static, O: 'static> {
    system: BoxedSystem<I, O>,
    is_initialized: bool,
}

impl<I: SystemInput + 'static, O: CommandReply + 'static> CommandSystem<I, O> {
    #[must_use]
    pub fn new<M>(system: impl IntoSystem<I, O, M> + 'static) -> Self {
        CommandSystem {
            system: Box::new(IntoSystem::into_system(system)),
            is_initialized: false,
        }
    }

    /// Runs it, and what it asks for by `Commands`, also when it panics.
    ///
    /// # Errors
    /// The system's own, and that it could not run.
    pub fn run(
        &mut self,
        cx: &mut Cx<'_, World>,
        input: I::Inner<'_>,
        out: &mut Output,
    ) -> Result<(), CommandError> {
        let (world, system) = (cx.host_mut(), &mut self.system);
        if !self.is_initialized {
            system.initialize(world);
            self.is_initialized = true;
        }
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            system.run_without_applying_deferred(input, world)
        }));
        system.apply_deferred(world);
        world.flush();
        let outcome = outcome.unwrap_or_else(|payload| resume_unwind(payload));
        outcome.map_err(|error| error.to_string())?.reply(out)
    }
}

/// A console command that runs a system: the syntax of `sc_console::command!`, with `=> system` for a
/// body. The parameters arrive as the system's input: none as `()`, one as itself, several as a tuple;
/// of `(raw words)` the words, as `InRef<[Word]>`.
///
/// The system may return nothing, a text to show, or a `Result` of one of these.
///
/// ```
/// # use bevy_app::App;
/// # use bevy_ecs::prelude::*;
/// # use bevy_time::TimePlugin;
/// # use sc_bevy::*;
/// # use sc_console::{ConsoleExt, Source};
/// #[derive(Resource)]
/// struct Gold(u32);
///
/// fn give(In((amount, to)): In<(u32, String)>, mut gold: ResMut<Gold>) -> String {
///     gold.0 += amount;
///     format!("{amount} gold to {to}")
/// }
///
/// let mut app = App::new();
/// app.add_plugins((TimePlugin, StillCookingPlugins))
///     .insert_resource(Gold(0))
///     .add_console_command(console_command! {
///         /// Gives gold to someone.
///         MyGame.GiveGold (
///             /// How much.
///             amount: u32,
///             /// To whom.
///             to: String = "the player".to_owned(),
///         ) => give
///     });
/// # #[cfg(feature = "commands")] {
/// let run = app.world_mut().with_cx(|cx| cx.run_line("mygame.givegold 7", Source::Local))?;
/// assert_eq!(run.text(), "7 gold to the player");
/// assert_eq!(app.world().resource::<Gold>().0, 7);
/// # }
/// # Ok::<(), CxError>(())
/// ```
///
/// With `pub NAME =` before the name it stands among the items of a module, and is added by that:
///
/// ```
/// # use bevy_app::App;
/// # use bevy_ecs::prelude::*;
/// # use bevy_time::TimePlugin;
/// # use sc_bevy::*;
/// # use sc_console::{ConsoleExt, Source, Word};
/// mod chat {
///     # use bevy_ecs::prelude::*;
///     # use sc_bevy::*;
///     # use sc_console::Word;
///     fn say(InRef(words): InRef<[Word]>) -> String {
///         let words: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
///         words.join(" ")
///     }
///
///     console_command! {
///         /// Says something.
///         pub SAY = MyGame.Say (raw words) => say
///     }
/// }
///
/// # let mut app = App::new();
/// # app.add_plugins((TimePlugin, StillCookingPlugins));
/// app.add_console_command(chat::SAY);
/// # #[cfg(feature = "commands")] {
/// let run = app.world_mut().with_cx(|cx| cx.run_line("MyGame.Say good   'morning, all'", Source::Local))?;
/// assert_eq!(run.text(), "good morning, all");
/// # }
/// # Ok::<(), CxError>(())
/// ```
#[macro_export]
macro_rules! console_command {
    ($(#[doc = $doc:literal])* $vis:vis $KEY:ident = $($command:tt)+) => {
        $(#[doc = $doc])*
        $vis const $KEY: $crate::DeclaredCommand = $crate::__private::declared(|| {
            $crate::console_command! { $(#[doc = $doc])* $($command)+ }
        });
    };
    ($(#[doc = $doc:literal])* $head:ident $(. $tail:ident)* $([$($flag:ident),* $(,)?])?
        (raw $words:ident $(,)?) => $system:expr
    ) => {{
        #[allow(unused_mut)]
        let mut system = $crate::__private::CommandSystem::new($system);
        $crate::__private::command($crate::__private::sc_console::dynamic_command! {
            $(#[doc = $doc])*
            $head $(. $tail)* $([$($flag),*])? (raw $words)
            |cx: &mut $crate::__private::Cx<'_, $crate::__private::bevy_ecs::world::World>, out| {
                system.run(cx, $words, out)
            }
        })
    }};
    ($(#[doc = $doc:literal])* $head:ident $(. $tail:ident)* $([$($flag:ident),* $(,)?])?
        ($($(#[$($attr:tt)+])* $param:ident : $type:ty $(= $default:expr)?),* $(,)?) => $system:expr
    ) => {{
        #[allow(unused_mut)]
        let mut system = $crate::__private::CommandSystem::new($system);
        $crate::__private::command($crate::__private::sc_console::dynamic_command! {
            $(#[doc = $doc])*
            $head $(. $tail)* $([$($flag),*])? ($($(#[$($attr)+])* $param : $type $(= $default)?),*)
            |cx: &mut $crate::__private::Cx<'_, $crate::__private::bevy_ecs::world::World>, out| {
                #[allow(unused_parens)]
                system.run(cx, ($($param),*), out)
            }
        })
    }};
}

/// A console variable that has a resource; declared by [`console_variable!`](crate::console_variable).
pub trait ConsoleVariable: Send + Sync + 'static {
    /// The type of its values.
    type Value: ConsoleArg + PartialEq + Send + Sync;

    /// The variable's key, for `cx.var(..)`.
    fn key() -> Variable<Self::Value>;
}

/// The value of a console variable, as a resource.
#[derive(Resource)]
pub struct Var<V: ConsoleVariable>(V::Value);

impl<V: ConsoleVariable> Deref for Var<V> {
    type Target = V::Value;

    fn deref(&self) -> &V::Value {
        &self.0
    }
}

impl<V: ConsoleVariable> DerefMut for Var<V> {
    fn deref_mut(&mut self) -> &mut V::Value {
        &mut self.0
    }
}

/// Declares a console variable that has a resource: the syntax of `sc_console::variable!`, with the
/// name of a type for a key. [`AppConsole::add_console_variable`] adds the resource, [`Var`] reads it.
///
/// ```
/// # use bevy_app::App;
/// # use bevy_ecs::prelude::*;
/// # use bevy_time::TimePlugin;
/// # use sc_bevy::*;
/// # use sc_console::{SetBy, VariableExt};
/// console_variable! {
///     /// How fast the player is, in metres a second.
///     pub Speed = MyGame.PlayerSpeed: f64 = 5.0, range 0.0..=20.0
/// }
/// fn walk(speed: Res<Var<Speed>>) { let _metres: f64 = **speed; }
///
/// let mut app = App::new();
/// app.add_plugins((TimePlugin, StillCookingPlugins)).add_console_variable::<Speed>();
/// app.world_mut().with_cx(|cx| cx.set_var_text("MyGame.PlayerSpeed", "7.5", SetBy::Console))??;
/// assert_eq!(**app.world().resource::<Var<Speed>>(), 7.5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[macro_export]
macro_rules! console_variable {
    ($(#[doc = $doc:literal])* $vis:vis $Name:ident = $head:ident $(. $tail:ident)* : $type:ty
        = $default:expr $(, $($option:tt)*)?
    ) => {
        $(#[doc = $doc])*
        $vis enum $Name {}

        impl $crate::ConsoleVariable for $Name {
            type Value = $type;

            fn key() -> $crate::__private::sc_console::Variable<$type> {
                $crate::__private::sc_console::variable! {
                    $(#[doc = $doc])*
                    KEY = $head $(. $tail)* : $type = $default $(, $($option)*)?
                }
                KEY
            }
        }
    };
}

/// The console, as calls on the [`App`].
pub trait AppConsole {
    /// Adds a command that runs a system, made or declared by [`console_command!`](crate::console_command). One that
    /// is refused is reported; the app goes on without it.
    ///
    /// ```
    /// # use bevy_app::App;
    /// # use bevy_ecs::prelude::*;
    /// # use bevy_time::TimePlugin;
    /// # use sc_bevy::*;
    /// # use sc_console::{ConsoleExt, Source};
    /// fn count(entities: Query<Entity>) -> String { format!("{} entities", entities.iter().len()) }
    ///
    /// # let mut app = App::new();
    /// # app.add_plugins((TimePlugin, StillCookingPlugins));
    /// app.add_console_command(console_command! {
    ///     /// How many entities there are.
    ///     MyGame.Count () => count
    /// });
    /// # #[cfg(feature = "commands")] {
    /// let run = app.world_mut().with_cx(|cx| cx.run_line("MyGame.Count", Source::Local))?;
    /// assert!(run.text().ends_with(" entities"));
    /// # }
    /// # Ok::<(), CxError>(())
    /// ```
    ///
    /// # Panics
    /// When the app has no [`StillCookingPlugins`](crate::StillCookingPlugins) yet.
    fn add_console_command(&mut self, command: impl Into<ConsoleCommand>) -> &mut Self;

    /// Adds the resource that stands for a console variable, with the variable's value. A change by the
    /// console is in the resource at once. A change of the resource is validated right before the stage
    /// `Console`, as set by code; one that is refused is reported, and the resource has its old value
    /// again, which is a change. A variable that is refused is reported; the app goes on without its resource.
    ///
    /// ```
    /// # use bevy_app::{App, Startup};
    /// # use bevy_ecs::prelude::*;
    /// # use bevy_time::TimePlugin;
    /// # use sc_bevy::*;
    /// # use sc_console::VariableExt;
    /// console_variable! {
    ///     /// How loud it is, in percent.
    ///     pub Volume = MyGame.Volume: u32 = 50, range 0..=100
    /// }
    /// fn hush(mut volume: ResMut<Var<Volume>>) { **volume = 10; }
    ///
    /// # let mut app = App::new();
    /// # app.add_plugins((TimePlugin, StillCookingPlugins));
    /// app.add_console_variable::<Volume>().add_systems(Startup, hush);
    /// app.update();
    /// assert_eq!(app.world_mut().with_cx(|cx| cx.var(Volume::key()))?, 10);
    /// # Ok::<(), CxError>(())
    /// ```
    ///
    /// # Panics
    /// When the app has no [`StillCookingPlugins`](crate::StillCookingPlugins) yet.
    fn add_console_variable<V: ConsoleVariable>(&mut self) -> &mut Self;
}

impl AppConsole for App {
    fn add_console_command(&mut self, command: impl Into<ConsoleCommand>) -> &mut Self {
        let ConsoleCommand(command) = command.into();
        // A refusal has been reported by the call.
        installed(self, |cx| {
            cx.register_command(command.runtime()).map(drop).ok()
        });
        self
    }

    fn add_console_variable<V: ConsoleVariable>(&mut self) -> &mut Self {
        let added = installed(self, |cx| {
            let added = add_resource::<V>(cx);
            if let Err(error) = &added {
                let kind = ReportKind::Extension(&reports::VARIABLE_REFUSED);
                let what = format!("was not added: {error}");
                let name = format!("resource Var<{}>", type_name::<V>());
                cx.report(Report::new(kind, what).object(name));
            }
            added.is_ok()
        });
        if !added {
            return self;
        }
        let Some(plugin) = self.world().get_resource::<InForce>() else {
            return self;
        };
        let schedule = plugin.schedule_of(Stage::Console);
        self.add_systems(
            schedule,
            follow::<V>
                .after(StageSystems(Stage::Worldless))
                .before(StageSystems(Stage::Console)),
        )
    }
}

/// Calls the runtime of an app that must have one, in no world of its: what is made lives as long as the runtime.
fn installed<R>(app: &mut App, f: impl FnOnce(&mut Cx<'_, World>) -> R) -> R {
    match with_runtime(app.world_mut(), |runtime, world| f(&mut runtime.cx(world))) {
        Ok(value) => value,
        #[allow(clippy::panic)] // As Bevy does when an app is built wrongly.
        Err(error) => panic!("{error}"),
    }
}

/// Makes the resource of a variable, and lets it follow the console's changes.
fn add_resource<V: ConsoleVariable>(cx: &mut Cx<'_, World>) -> Result<(), VariableError> {
    let value = cx.get_var(V::key())?;
    cx.host_mut().insert_resource(Var::<V>(value));
    let told = |cx: &mut Cx<'_, World>, value: &V::Value| show::<V>(cx, value);
    cx.on_var_change(V::key(), told)?.detach();
    Ok(())
}

/// Puts a value of the variable into its resource.
fn show<V: ConsoleVariable>(cx: &mut Cx<'_, World>, value: &V::Value) {
    match cx.host_mut().get_resource_mut::<Var<V>>() {
        Some(mut resource) => {
            if **resource != *value {
                *resource = Var::<V>(value.clone());
            }
        }
        None => cx.host_mut().insert_resource(Var::<V>(value.clone())),
    }
}

/// Takes over what a system has set the resource to.
fn follow<V: ConsoleVariable>(world: &mut World, mut seen: Local<Option<Tick>>) {
    let Some(resource) = world.get_resource_ref::<Var<V>>() else {
        return;
    };
    let changed = resource.last_changed();
    if *seen == Some(changed) {
        return;
    }
    let value = (**resource).clone();
    let looked = world.with_cx(|cx| {
        // The console's own change, come here: it stays the console's.
        if cx.get_var(V::key()).is_ok_and(|now| now == value) {
            return;
        }
        let Err(error) = cx.set_var(V::key(), value) else {
            return;
        };
        let kind = ReportKind::Extension(&reports::RESOURCE_REFUSED);
        let what = format!("was set to what is refused: {error}");
        let name = format!("resource Var<{}>", type_name::<V>());
        cx.report(Report::new(kind, what).object(name));
        let Ok(old) = cx.get_var(V::key()) else {
            return;
        };
        if let Some(mut resource) = cx.host_mut().get_resource_mut::<Var<V>>() {
            // A change for those who have heard of the other value.
            *resource = Var::<V>(old);
        }
    });
    // Where the runtime itself runs this schedule it is out: then its own turn takes the change over.
    if looked.is_ok() {
        *seen = Some(changed);
    }
}
