//! What a `Cx` can do with the console.

use std::any::{TypeId, type_name};
use std::sync::Arc;

use sc_core::{Cx, TickId};

use crate::command::{CommandDef, StaticCommand};
use crate::complete::{Completions, fitting};
use crate::error::{FileError, RegisterError};
use crate::history::History;
use crate::output::{LineRun, OutputLine};
use crate::registry::{self, CommandGuard, CommandId, CommandRegistry, RegistriesCompete, console};
use crate::run;
use crate::settings::ConsoleSettings;
use crate::snapshot::ConsoleSnapshot;
use crate::source::Source;
use crate::variable::StaticVariable;

/// The console, as calls on the [`Cx`].
pub trait ConsoleExt<H: 'static> {
    /// Starts the console: validates what is declared, and logs which registry is live. Every other
    /// call does it when it is not done yet; a program that wants the reports early calls it first.
    ///
    /// ```
    /// # use sc_console::*;
    /// # use sc_core::Runtime;
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// rt.cx(&mut host).start_console();
    /// assert!(rt.extensions().eq(["sc.console"]));
    /// ```
    fn start_console(&mut self);

    /// Runs a line at once. What it cannot do at once goes on in the stage `Console`: then the
    /// outcome is `Pending`, and the output is what there is so far. What is wrong is in the output,
    /// and the outcome is `Failed`. What a command runs is shown where that command was typed.
    ///
    /// ```
    /// # use sc_console::*;
    /// # use sc_core::Runtime;
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// let run = cx.run_line("hepl", Source::Local);
    /// assert_eq!(run.outcome, LineOutcome::Failed);
    /// # #[cfg(feature = "commands")]
    /// assert_eq!(
    ///     run.text(),
    ///     "hepl\n^^^^ expected the name of a command or a variable; `hepl` is none (did you mean `help`?)",
    /// );
    /// ```
    fn run_line(&mut self, line: &str, source: Source) -> LineRun;

    /// Runs a line in the next stage `Console`, and calls `done` when all of it is done, or it is given up
    /// (`Cancelled`). In a runtime that has ended, `done` is called at once; but what is queued by who is
    /// being told so is only reported. What a command queues is shown where that command was typed.
    ///
    /// ```
    /// # use sc_console::*;
    /// # use sc_core::Runtime;
    /// let (mut rt, mut ended) = (Runtime::<Vec<LineOutcome>>::new(), Vec::new());
    /// rt.cx(&mut ended).queue_line("", Source::Local, |cx, run| cx.host_mut().push(run.outcome));
    /// assert!(ended.is_empty());
    /// rt.tick_secs(&mut ended, 0.1)?;
    /// assert_eq!(ended, [LineOutcome::Done]);
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    fn queue_line(
        &mut self,
        line: &str,
        source: Source,
        done: impl FnOnce(&mut Cx<'_, H>, LineRun) + 'static,
    );

    /// Runs a script in the next stage `Console`, as the program's start-up. It is read at once; a line
    /// of it that fails stops it and is reported, and so is a runtime that ends before.
    ///
    /// ```
    /// # use sc_console::*;
    /// # use sc_core::Runtime;
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// assert!(matches!(cx.run_startup_script("autoexec"), Err(FileError::NoScriptRoot)));
    /// ```
    ///
    /// # Errors
    /// [`FileError`]; nothing of it runs.
    fn run_startup_script(&mut self, path: &str) -> Result<(), FileError>;

    /// Registers a command at run time. It ends with its owner, its world, or when it is
    /// unregistered.
    ///
    /// ```
    /// # use sc_console::*;
    /// # use sc_core::{Cx, Runtime, Tickable, WorldKind};
    /// # struct Door;
    /// # impl Tickable<bool> for Door {}
    /// # let (mut rt, mut is_open) = (Runtime::<bool>::new(), false);
    /// # let mut cx = rt.cx(&mut is_open);
    /// # let level = cx.create_world(WorldKind::Game)?;
    /// let door = cx.spawn_in(level, Door)?;
    /// cx.register_command(dynamic_command! {
    ///     /// Opens the door.
    ///     Door.Open () |cx: &mut Cx<'_, bool>, _out| { *cx.host_mut() = true; Ok(()) }
    /// }.owner(&door).world(level))?;
    /// # #[cfg(feature = "commands")] {
    /// assert_eq!(cx.run_line("door.open", Source::Local).outcome, LineOutcome::Done);
    /// door.shutdown(&mut cx)?;
    /// assert_eq!(cx.run_line("door.open", Source::Local).outcome, LineOutcome::Failed);
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`RegisterError`], with one warning that says the same; nothing has changed.
    fn register_command(&mut self, definition: CommandDef<H>) -> Result<CommandId, RegisterError>;

    /// As [`register_command`](Self::register_command); the command also ends when the guard is dropped, on
    /// whatever thread.
    ///
    /// ```
    /// # use sc_console::*;
    /// # use sc_core::{Cx, Runtime};
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// let guard = cx.register_command_guarded(dynamic_command! {
    ///     /// Casts the line.
    ///     Fishing.Cast () |_cx: &mut Cx<'_, ()>, out| { writeln!(out, "splash")?; Ok(()) }
    /// }.runtime())?;
    /// # #[cfg(feature = "commands")]
    /// assert_eq!(cx.run_line("fishing.cast", Source::Local).text(), "splash");
    /// drop(guard);
    /// assert_eq!(cx.run_line("fishing.cast", Source::Local).outcome, LineOutcome::Failed);
    /// # Ok::<(), RegisterError>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`register_command`](Self::register_command).
    fn register_command_guarded(
        &mut self,
        definition: CommandDef<H>,
    ) -> Result<CommandGuard, RegisterError>;

    /// As [`register_command`](Self::register_command), in place of the dynamic command that has the name. What is
    /// declared or built in cannot be replaced.
    ///
    /// ```
    /// # use sc_console::*;
    /// # use sc_core::{Cx, Runtime};
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// let greet = |text: &'static str| dynamic_command! {
    ///     /// Greets.
    ///     Greet () |_cx: &mut Cx<'_, ()>, out| { writeln!(out, "{text}")?; Ok(()) }
    /// }.runtime();
    /// cx.register_command(greet("hello"))?;
    /// # #[cfg(feature = "commands")] {
    /// assert!(matches!(cx.register_command(greet("hi")), Err(RegisterError::NameTaken { .. })));
    /// cx.replace_command(greet("hi"))?;
    /// assert_eq!(cx.run_line("greet", Source::Local).text(), "hi");
    /// # }
    /// # Ok::<(), RegisterError>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`register_command`](Self::register_command); the old command stays.
    fn replace_command(&mut self, definition: CommandDef<H>) -> Result<CommandId, RegisterError>;

    /// Ends a command that was registered at run time; `false` when it is gone already. Inside its own
    /// body the running call goes on to its end.
    ///
    /// ```
    /// # use sc_console::*;
    /// # use sc_core::{Cx, Runtime};
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// let hello = cx.register_command(dynamic_command! {
    ///     /// Greets.
    ///     Hello () |_cx: &mut Cx<'_, ()>, out| { writeln!(out, "hello")?; Ok(()) }
    /// }.runtime())?;
    /// # #[cfg(feature = "commands")] {
    /// assert!(cx.unregister_command(hello));
    /// assert!(!cx.unregister_command(hello));
    /// # }
    /// # Ok::<(), RegisterError>(())
    /// ```
    fn unregister_command(&mut self, command: CommandId) -> bool;

    /// Ends a command or variable that was registered at run time, by name; `false` when there is
    /// none.
    ///
    /// ```
    /// # use sc_console::*;
    /// # use sc_core::Runtime;
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// cx.register_variable(VariableDef::new("Volume", 0.5).runtime())?;
    /// assert!(cx.unregister_entry("VOLUME"));
    /// assert!(!cx.unregister_entry("volume"));
    /// assert!(!cx.unregister_entry("help"), "what is built in stays");
    /// # Ok::<(), RegisterError>(())
    /// ```
    fn unregister_entry(&mut self, name: &str) -> bool;

    /// Ends every command and variable bound to an object; how many. An object that has none ends
    /// nothing.
    ///
    /// ```
    /// # use sc_console::*;
    /// # use sc_core::{Runtime, Tickable, WorldKind};
    /// # struct Door;
    /// # impl Tickable<()> for Door {}
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// # let level = cx.create_world(WorldKind::Game)?;
    /// let door = cx.spawn_in(level, Door)?;
    /// cx.register_variable(VariableDef::new("Door.Width", 90_u32).owner(&door))?;
    /// cx.register_variable(VariableDef::new("Door.Speed", 1.5).owner(&door))?;
    /// assert_eq!(cx.unregister_entries_of(&door), 2);
    /// assert_eq!(cx.unregister_entries_of(&door), 0);
    /// # door.shutdown(&mut cx)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn unregister_entries_of(&mut self, owner: impl Into<TickId>) -> usize;

    /// Adds static commands, on a target where nothing is collected; how many are new. Those that
    /// are live already, or belong to another host, are no error.
    ///
    /// ```
    /// # use sc_console::*;
    /// # use sc_core::{Cx, Runtime};
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// command! {
    ///     /// Greets.
    ///     GREET = MyGame.Greet () |_cx: &mut Cx<'_, ()>, out| { writeln!(out, "hello")?; Ok(()) }
    /// }
    /// assert_eq!(cx.add_commands(&[&GREET])?, 0, "it was collected");
    /// # Ok::<(), RegisterError>(())
    /// ```
    ///
    /// # Errors
    /// The first [`RegisterError`]; the others are added all the same.
    fn add_commands(&mut self, commands: &[&'static StaticCommand])
    -> Result<usize, RegisterError>;

    /// Declares static commands and variables whether they are collected or not: the console takes over those that
    /// were not when it starts, or now if it has. For a library, which does not want to start the console of a
    /// game. What is at fault is reported.
    ///
    /// ```
    /// # use sc_console::*;
    /// # use sc_core::{AnyCx, Runtime};
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// command! {
    ///     /// Says which library this is.
    ///     ABOUT = MyLibrary.About [anytime] () |_cx: &mut dyn AnyCx, out| { writeln!(out, "mine")?; Ok(()) }
    /// }
    /// variable! { VERBOSE = MyLibrary.Verbose: bool = false }
    /// cx.declare(&[&ABOUT], &[VERBOSE.declaration()]);
    /// assert_eq!(cx.var(VERBOSE), false);
    /// ```
    fn declare(
        &mut self,
        commands: &[&'static StaticCommand],
        variables: &[&'static StaticVariable],
    );

    /// Makes a project's own type the registry. Again the same type: nothing happens. Without the feature
    /// `commands` it is dropped, and nothing of it is in the binary.
    ///
    /// ```
    /// # use sc_console::*;
    /// # use sc_core::{Cx, Runtime};
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// struct Scripted;
    /// impl CommandRegistry<()> for Scripted {
    ///     fn on_static_command(
    ///         &mut self, _cx: &mut Cx<'_, ()>, call: ForwardedCall<'_>, out: &mut Output,
    ///     ) -> Result<(), CommandError> {
    ///         Ok(writeln!(out, "{} is run by a script", call.id)?)
    ///     }
    /// }
    /// command! {
    ///     /// Says who runs it.
    ///     MyGame.Who [anytime] () => registry
    /// }
    /// cx.provide_registry(Scripted)?;
    /// # #[cfg(feature = "commands")]
    /// assert_eq!(cx.run_line("mygame.who", Source::Local).text(), "MyGame.Who is run by a script");
    /// # Ok::<(), RegistriesCompete>(())
    /// ```
    ///
    /// # Errors
    /// [`RegistriesCompete`] when another type was provided before: then the default one is live, and
    /// one report names both.
    fn provide_registry<R: CommandRegistry<H>>(
        &mut self,
        registry: R,
    ) -> Result<(), RegistriesCompete>;

    /// What the host decides about its console.
    ///
    /// ```
    /// # use sc_console::*;
    /// # use sc_core::{Cx, Runtime};
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// cx.console_settings().cheats = true;
    /// # #[cfg(feature = "commands")] {
    /// cx.console_settings().cheat_granters = vec![Source::Local];
    /// assert_eq!(cx.run_line("SC.Console.Cheats no", Source::Local).text(), "cheats are off");
    /// assert!(!cx.console_settings().cheats);
    /// # }
    /// ```
    fn console_settings(&mut self) -> &mut ConsoleSettings;

    /// What could stand at the caret, live suggestions included; see
    /// [`ConsoleSnapshot::complete`].
    ///
    /// ```
    /// # use sc_console::*;
    /// # use sc_core::{Cx, Runtime};
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// fn maps(_cx: &mut Cx<'_, ()>, _typed: &str) -> Vec<String> { vec!["old mill".to_owned()] }
    /// command! {
    ///     /// Travels.
    ///     MyGame.Travel (
    ///         /// Where to.
    ///         #[suggest = maps]
    ///         map: String,
    ///     ) |_cx: &mut Cx<'_, ()>, out| { writeln!(out, "off to {map}")?; Ok(()) }
    /// }
    /// # #[cfg(feature = "commands")] {
    /// let found = cx.complete_line("mygame.travel o", 15, Source::Local);
    /// assert_eq!((found.span, found.candidates[0].insert.as_str()), (14..15, "\"old mill\""));
    /// # }
    /// ```
    fn complete_line(&mut self, line: &str, caret: usize, source: Source) -> Completions;

    /// Inside a function that suggests arguments, for whom: it should suggest no more than that source may see.
    ///
    /// ```
    /// # use sc_console::*;
    /// # use sc_core::{Cx, Runtime};
    /// fn saves(cx: &mut Cx<'_, ()>, _typed: &str) -> Vec<String> {
    ///     match cx.suggesting_for() {
    ///         Some(Source::Remote) => Vec::new(),
    ///         _ => vec!["monday".to_owned()],
    ///     }
    /// }
    /// command! {
    ///     /// Loads a game.
    ///     MyGame.Load (
    ///         /// Its name.
    ///         #[suggest = saves]
    ///         save: String,
    ///     ) |_cx: &mut Cx<'_, ()>, out| { writeln!(out, "loading {save}")?; Ok(()) }
    /// }
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// # #[cfg(feature = "commands")] {
    /// assert_eq!(cx.complete_line("MyGame.Load ", 12, Source::Terminal).candidates.len(), 1);
    /// assert_eq!(cx.complete_line("MyGame.Load ", 12, Source::Remote).candidates.len(), 0);
    /// # }
    /// assert_eq!(cx.suggesting_for(), None);
    /// ```
    fn suggesting_for(&mut self) -> Option<Source>;

    /// What a source can see: for lists, and for other threads. The same `Arc` as long as nothing
    /// has changed.
    fn console_snapshot(&mut self, source: Source) -> Arc<ConsoleSnapshot>;

    /// The history of lines that people have typed.
    ///
    /// ```
    /// # use sc_console::*;
    /// # use sc_core::{Cx, Runtime};
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// cx.run_line("help", Source::Terminal);
    /// assert_eq!(cx.console_history().lines().next_back(), Some("help"));
    /// ```
    fn console_history(&mut self) -> &mut History;

    /// Everything that was shown since line number `since`, and the number to ask with next. A
    /// bounded ring: what is older than it holds is skipped.
    ///
    /// ```
    /// # use sc_console::*;
    /// # use sc_core::Runtime;
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// # #[cfg(feature = "commands")] {
    /// cx.run_line("alias hi 'find hi'; alias", Source::Local);
    /// let (lines, next) = cx.console_output(0);
    /// assert_eq!(lines[0].kind, LineKind::Echo);
    /// assert_eq!(lines[1].text, "hi stands for: find hi");
    /// assert_eq!(cx.console_output(next).0, []);
    /// # }
    /// ```
    fn console_output(&mut self, since: u64) -> (Vec<OutputLine>, u64);
}

impl<H> ConsoleExt<H> for Cx<'_, H> {
    fn start_console(&mut self) {
        console(self);
    }

    fn run_line(&mut self, line: &str, source: Source) -> LineRun {
        run::run_line(self, line, source)
    }

    fn queue_line(
        &mut self,
        line: &str,
        source: Source,
        done: impl FnOnce(&mut Cx<'_, H>, LineRun) + 'static,
    ) {
        run::queue_line(self, line, source, Some(Box::new(done)));
    }

    fn run_startup_script(&mut self, path: &str) -> Result<(), FileError> {
        run::startup(self, path)
    }

    fn register_command(&mut self, definition: CommandDef<H>) -> Result<CommandId, RegisterError> {
        registry::register(self, definition, false)
    }

    fn register_command_guarded(
        &mut self,
        definition: CommandDef<H>,
    ) -> Result<CommandGuard, RegisterError> {
        registry::register_guarded(self, definition)
    }

    fn replace_command(&mut self, definition: CommandDef<H>) -> Result<CommandId, RegisterError> {
        registry::register(self, definition, true)
    }

    fn unregister_command(&mut self, command: CommandId) -> bool {
        registry::unregister(self, command)
    }

    fn unregister_entry(&mut self, name: &str) -> bool {
        registry::unregister_entry(self, name)
    }

    fn unregister_entries_of(&mut self, owner: impl Into<TickId>) -> usize {
        registry::unregister_entries_of(self, owner.into())
    }

    fn add_commands(
        &mut self,
        commands: &[&'static StaticCommand],
    ) -> Result<usize, RegisterError> {
        registry::add_commands(self, commands)
    }

    fn declare(
        &mut self,
        commands: &[&'static StaticCommand],
        variables: &[&'static StaticVariable],
    ) {
        registry::declare(self, commands, variables);
    }

    fn provide_registry<R: CommandRegistry<H>>(
        &mut self,
        registry: R,
    ) -> Result<(), RegistriesCompete> {
        if cfg!(not(feature = "commands")) {
            self.enter(|| drop(registry));
            return Ok(());
        }
        let provided = registry::provide(
            self,
            type_name::<R>(),
            TypeId::of::<R>(),
            Box::new(registry),
        );
        let live = console(self).registry.name();
        tracing::info!(target: "stillcooking", "console: registry `{live}` is live");
        provided
    }

    fn console_settings(&mut self) -> &mut ConsoleSettings {
        &mut console(self).settings
    }

    fn complete_line(&mut self, line: &str, caret: usize, source: Source) -> Completions {
        let snapshot = self.console_snapshot(source);
        let mut completions = snapshot.complete(line, caret);
        if let Some((entry, param, typed)) = snapshot.live_at(line, caret) {
            let suggested = registry::suggest(self, &entry.folded, param, &typed, source);
            let suggested = suggested.into_iter().map(|value| (value, String::new()));
            let mut live = fitting(suggested.collect(), &typed);
            live.retain(|candidate| !completions.candidates.contains(candidate));
            completions.candidates.splice(0..0, live);
        }
        completions
    }

    fn suggesting_for(&mut self) -> Option<Source> {
        console(self).suggesting
    }

    fn console_snapshot(&mut self, source: Source) -> Arc<ConsoleSnapshot> {
        registry::snapshot(self, source)
    }

    fn console_history(&mut self) -> &mut History {
        &mut console(self).history
    }

    fn console_output(&mut self, since: u64) -> (Vec<OutputLine>, u64) {
        let shown = &console(self).shown;
        (shown.since(since).cloned().collect(), shown.end())
    }
}
