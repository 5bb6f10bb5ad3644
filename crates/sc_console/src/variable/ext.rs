//! What a `Cx` can do with variables.

use std::any::Any;
use std::path::Path;
use std::sync::Arc;

use sc_core::Cx;

use super::config::{self, ConfigRead};
use super::key::{DynVariable, Variable, VariableKey};
use super::place::{find, refresh};
use super::{
    ChangeGuard, SetBy, SetOutcome, StaticVariable, VariableDef, VariableInfo, Variables,
    store_result,
};
use crate::arg::ConsoleArg;
use crate::error::{FileError, RegisterError, VariableError};
use crate::info::Origin;
use crate::name::fold;
use crate::parse::nearest;
use crate::registry;

/// Variables, as calls on the [`Cx`].
pub trait VariableExt<H: 'static> {
    /// The value of a static variable, at the cost of an index; of what is another part's setting, what that
    /// says. Its default before the console has
    /// started, and when it is not live because its declaration is at fault (which was reported).
    ///
    /// ```
    /// # use sc_console::*;
    /// # use sc_core::Runtime;
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// variable! {
    ///     /// How many rounds.
    ///     ROUNDS = MyGame.Rounds: u32 = 3
    /// }
    /// assert_eq!(cx.var(ROUNDS), 3);
    /// ```
    fn var<T: ConsoleArg + PartialEq>(&mut self, key: Variable<T>) -> T;

    /// The value of a variable, static or not.
    ///
    /// ```
    /// # use sc_console::*;
    /// # use sc_core::Runtime;
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// let width = cx.register_variable(VariableDef::new("Door.Width", 90_u32).runtime())?;
    /// assert_eq!(cx.get_var(width), Ok(90));
    /// cx.unregister_entry("Door.Width");
    /// assert_eq!(cx.get_var(width), Err(VariableError::Gone));
    /// # Ok::<(), RegisterError>(())
    /// ```
    ///
    /// # Errors
    /// [`VariableError::Gone`], [`VariableError::NotLive`].
    fn get_var<K: VariableKey>(&mut self, key: K) -> Result<K::Value, VariableError>;

    /// Sets a variable from code: validates, stores, tells.
    ///
    /// ```
    /// # use sc_console::*;
    /// # use sc_core::Runtime;
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// # variable! { ROUNDS = MyGame.RoundsSet: u32 = 3, range 1..=9 }
    /// assert_eq!(cx.set_var(ROUNDS, 5)?, SetOutcome::Changed);
    /// let error = cx.set_var(ROUNDS, 10).unwrap_err();
    /// assert_eq!(error.to_string(), "`MyGame.RoundsSet` was not set: expected u32 from 1 up to 9");
    /// # Ok::<(), VariableError>(())
    /// ```
    ///
    /// # Errors
    /// [`VariableError::Refused`], [`VariableError::LowerPriority`], [`VariableError::Gone`],
    /// [`VariableError::NotLive`]; the
    /// old value stays.
    fn set_var<K: VariableKey>(
        &mut self,
        key: K,
        value: K::Value,
    ) -> Result<SetOutcome, VariableError>;

    /// Sets a variable by name and text. If there is none yet, the value waits for it, and for each that is
    /// registered by that name from then on: the variable of an object of the next level, too. The
    /// console itself does not wait.
    ///
    /// ```
    /// # use sc_console::*;
    /// # use sc_core::Runtime;
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// assert_eq!(cx.set_var_text("MyGame.Gravity", "1.6", SetBy::CommandLine)?, SetOutcome::Waiting);
    /// let gravity = cx.register_variable(VariableDef::new("MyGame.Gravity", 9.81).runtime())?;
    /// assert_eq!(cx.get_var(gravity)?, 1.6);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`VariableError::Refused`], [`VariableError::LowerPriority`], [`VariableError::Gone`] if it ends meanwhile,
    /// [`VariableError::Unknown`] for the console, and [`VariableError::NotAllowed`]: for what no variable can be
    /// called, for what the file and the command line may not set, and for [`SetBy::Constructor`]. The old value
    /// stays.
    fn set_var_text(
        &mut self,
        name: &str,
        text: &str,
        by: SetBy,
    ) -> Result<SetOutcome, VariableError>;

    /// Restores a variable's default, and lets anyone set it again.
    ///
    /// ```
    /// # use sc_console::*;
    /// # use sc_core::Runtime;
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// # variable! { ROUNDS = MyGame.RoundsReset: u32 = 3 }
    /// cx.set_var_text("MyGame.RoundsReset", "7", SetBy::Console)?;
    /// assert!(cx.set_var(ROUNDS, 5).is_err(), "the console counts more than code");
    /// cx.reset_var("MyGame.RoundsReset")?;
    /// assert_eq!(cx.var(ROUNDS), 3);
    /// assert_eq!(cx.set_var(ROUNDS, 5), Ok(SetOutcome::Changed));
    /// # Ok::<(), VariableError>(())
    /// ```
    ///
    /// # Errors
    /// [`VariableError::Unknown`], [`VariableError::Gone`] if it ends meanwhile.
    fn reset_var(&mut self, name: &str) -> Result<SetOutcome, VariableError>;

    /// A variable as it is now: its value, who set it.
    ///
    /// ```
    /// # use sc_console::*;
    /// # use sc_core::Runtime;
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// # variable! { ROUNDS = MyGame.RoundsInfo: u32 = 3 }
    /// cx.set_var_text("MyGame.RoundsInfo", "4", SetBy::ConfigFile)?;
    /// let info = cx.var_info("mygame.roundsinfo")?;
    /// assert_eq!((info.value.as_str(), info.set_by), ("4", SetBy::ConfigFile));
    /// # Ok::<(), VariableError>(())
    /// ```
    ///
    /// # Errors
    /// [`VariableError::Unknown`].
    fn var_info(&mut self, name: &str) -> Result<VariableInfo, VariableError>;

    /// Every variable, sorted by name.
    ///
    /// ```
    /// # use sc_console::*;
    /// # use sc_core::Runtime;
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// cx.register_variable(VariableDef::new("Volume", 0.5).runtime())?;
    /// let list = cx.variable_list();
    /// assert!(list.iter().any(|variable| variable.name == "Volume" && variable.value == "0.5"));
    /// # Ok::<(), RegisterError>(())
    /// ```
    fn variable_list(&mut self) -> Vec<VariableInfo>;

    /// Registers a variable at run time. It ends with its owner, its world, or when it is unregistered.
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
    /// let speed = cx.register_variable(VariableDef::new("Door.Speed", 1.5).owner(&door))?;
    /// cx.run_line("door.speed 3", Source::Local);
    /// assert_eq!(cx.get_var(speed), Ok(3.0));
    /// door.shutdown(&mut cx)?;
    /// assert_eq!(cx.get_var(speed), Err(VariableError::Gone));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`RegisterError`], with a warning that says the same; nothing has changed.
    fn register_variable<T: ConsoleArg + PartialEq>(
        &mut self,
        definition: VariableDef<T>,
    ) -> Result<DynVariable<T>, RegisterError>;

    /// Adds static variables, on a target where nothing is collected; how many are new.
    ///
    /// ```
    /// # use sc_console::*;
    /// # use sc_core::Runtime;
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// # variable! { ROUNDS = MyGame.RoundsAdd: u32 = 3 }
    /// assert_eq!(cx.add_variables(&[ROUNDS.declaration()])?, 0, "it was collected");
    /// # Ok::<(), RegisterError>(())
    /// ```
    ///
    /// # Errors
    /// The first [`RegisterError`]; the others are added all the same.
    fn add_variables(
        &mut self,
        variables: &[&'static StaticVariable],
    ) -> Result<usize, RegisterError>;

    /// Calls a closure after each change of a variable, with its new value, while the `Cx`'s world
    /// lives (without a world, while the runtime does). Several changes within callbacks are told of
    /// once.
    ///
    /// ```
    /// # use sc_console::*;
    /// # use sc_core::Runtime;
    /// # let (mut rt, mut host) = (Runtime::<Vec<u32>>::new(), Vec::new());
    /// # let mut cx = rt.cx(&mut host);
    /// # variable! { ROUNDS = MyGame.RoundsTold: u32 = 3 }
    /// let guard = cx.on_var_change(ROUNDS, |cx, rounds| cx.host_mut().push(*rounds))?;
    /// cx.set_var(ROUNDS, 5)?;
    /// cx.set_var(ROUNDS, 5)?; // Unchanged: nobody is told.
    /// assert_eq!(*cx.host(), [5]);
    /// drop(guard);
    /// # Ok::<(), VariableError>(())
    /// ```
    ///
    /// # Errors
    /// [`VariableError::Gone`], [`VariableError::NotLive`].
    fn on_var_change<K: VariableKey>(
        &mut self,
        key: K,
        callback: impl FnMut(&mut Cx<'_, H>, &K::Value) + 'static,
    ) -> Result<ChangeGuard, VariableError>;

    /// Reads a configuration file: sets what it holds under `[variables]`, as by the config file. A
    /// value without a variable waits for it; one that is refused is reported, and the rest is set.
    /// A file that does not exist is read as an empty one.
    ///
    /// ```
    /// # use sc_console::*;
    /// # use sc_core::Runtime;
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// # variable! { ROUNDS = MyGame.RoundsLoaded: u32 = 3, range 1..=9 }
    /// # let path = std::env::temp_dir().join(format!("stillcooking-load-{}.toml", std::process::id()));
    /// std::fs::write(&path, "[variables]\nMyGame.RoundsLoaded = 5\nMyGame.Later = 1\n")?;
    /// let read = cx.load_config(&path)?;
    /// assert_eq!((read.set, read.waiting), (1, vec!["MyGame.Later".to_owned()]));
    /// assert_eq!(cx.var(ROUNDS), 5);
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`FileError`]; nothing was set.
    fn load_config(&mut self, path: impl AsRef<Path>) -> Result<ConfigRead, FileError>;

    /// Writes the archived variables that were set into a configuration file, atomically. What is
    /// not theirs in it stays as it is. Values of the command line are for one run and not written. As a
    /// value that was read, one that was written counts for the next variable of its name, too. An archived
    /// variable that ends with its owner or world leaves its value: it is written, and the next
    /// variable of its name has it, set by who set it.
    ///
    /// ```
    /// # use sc_console::*;
    /// # use sc_core::Runtime;
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// # variable! { NICK = MyGame.Nick: String = String::new(), archive }
    /// # let path = std::env::temp_dir().join(format!("stillcooking-{}.toml", std::process::id()));
    /// cx.set_var(NICK, "the \"best\"\n名".to_owned())?;
    /// cx.save_config(&path)?;
    /// cx.reset_var("MyGame.Nick")?;
    /// cx.load_config(&path)?;
    /// assert_eq!(cx.var(NICK), "the \"best\"\n名");
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`FileError`]; the file is as it was.
    fn save_config(&mut self, path: impl AsRef<Path>) -> Result<(), FileError>;
}

fn unknown<H>(cx: &mut Cx<'_, H>, name: &str) -> VariableError {
    let folded = fold(name);
    let entries = &registry::console(cx).entries;
    let names = entries.sorted();
    let variables = names.filter(|info| info.kind == crate::info::EntryKind::Variable);
    let names: Vec<_> = variables.collect();
    let near = nearest(&folded, names.iter().map(|info| info.folded.as_str()));
    let near = near.and_then(|near| names.iter().find(|info| info.folded == near));
    VariableError::Unknown {
        name: name.to_owned(),
        nearest: near.map(|info| info.name.clone()),
    }
}

impl<H> VariableExt<H> for Cx<'_, H> {
    #[inline]
    fn var<T: ConsoleArg + PartialEq>(&mut self, key: Variable<T>) -> T {
        let variables = self.runtime().state::<Variables>();
        let slot = variables.and_then(|v| v.get_static(key.declared));
        let value = match slot {
            Some(slot) if slot.current.is_some() => self.get_var(key).ok(),
            Some(slot) => slot.value.downcast_ref().cloned(),
            None => None,
        };
        value.unwrap_or_else(key.default)
    }

    fn get_var<K: VariableKey>(&mut self, key: K) -> Result<K::Value, VariableError> {
        let index = index(self, key)?;
        let variables = self.runtime_state::<Variables>();
        let value = variables.read::<K::Value>(index);
        value.cloned().ok_or(VariableError::Gone)
    }

    fn set_var<K: VariableKey>(
        &mut self,
        key: K,
        value: K::Value,
    ) -> Result<SetOutcome, VariableError> {
        let index = index(self, key)?;
        let variables = self.runtime_state::<Variables>();
        let outcome = variables.set(index, Box::new(value), SetBy::Code);
        store_result(self, outcome)
    }

    fn set_var_text(
        &mut self,
        name: &str,
        text: &str,
        by: SetBy,
    ) -> Result<SetOutcome, VariableError> {
        if by == SetBy::Constructor {
            return Err(VariableError::NotAllowed {
                name: name.to_owned(),
                why:
                    "only its declaration is its constructor: say who sets it, or call `reset_var`"
                        .to_owned(),
            });
        }
        let found = find(self, name);
        if found.is_none() && by == SetBy::Console {
            return Err(unknown(self, name));
        }
        let outcome = match found {
            // What is in a file is not to take down the rest of it.
            Some(index) if by.is_from_outside() => super::place::take(self, index, text, by),
            Some(index) => self.runtime_state::<Variables>().set_text(index, text, by),
            None => {
                super::place::could_be_a_variable(self, name)?;
                self.runtime_state::<Variables>().may_wait(name, by)
            }
        };
        // What comes from outside counts for each variable of the name, whenever it is registered.
        let counts = match &outcome {
            Ok(_) => found.is_none() || by.is_from_outside(),
            // Of this one; the next of the name is another.
            Err(VariableError::LowerPriority { .. }) => found.is_some() && by.is_from_outside(),
            Err(_) => false,
        };
        if counts {
            let (folded, variables) = (fold(name), self.runtime_state::<Variables>());
            if found.is_none() {
                variables.supersede(&folded, by);
            }
            variables.wait(folded, text, by);
        }
        store_result(self, outcome)
    }

    fn reset_var(&mut self, name: &str) -> Result<SetOutcome, VariableError> {
        let Some(index) = find(self, name) else {
            return Err(unknown(self, name));
        };
        let outcome = self.runtime_state::<Variables>().reset(index);
        store_result(self, outcome)
    }

    fn var_info(&mut self, name: &str) -> Result<VariableInfo, VariableError> {
        super::value_info(self, name).ok_or_else(|| unknown(self, name))
    }

    fn variable_list(&mut self) -> Vec<VariableInfo> {
        registry::sweep(self);
        let names: Vec<String> = registry::console(self)
            .entries
            .sorted()
            .filter(|info| info.kind == crate::info::EntryKind::Variable)
            .map(|info| info.name.clone())
            .collect();
        let infos = names
            .iter()
            .filter_map(|name| super::value_info(self, name));
        infos.collect()
    }

    fn register_variable<T: ConsoleArg + PartialEq>(
        &mut self,
        definition: VariableDef<T>,
    ) -> Result<DynVariable<T>, RegisterError> {
        let (name, location) = (definition.name.clone(), definition.location);
        let registered = register(self, definition);
        registered.map_err(|error| registry::refuse(self, &name, location, error))
    }

    fn add_variables(
        &mut self,
        variables: &[&'static StaticVariable],
    ) -> Result<usize, RegisterError> {
        registry::add_variables(self, variables)
    }

    fn on_var_change<K: VariableKey>(
        &mut self,
        key: K,
        mut callback: impl FnMut(&mut Cx<'_, H>, &K::Value) + 'static,
    ) -> Result<ChangeGuard, VariableError> {
        let index = index(self, key)?;
        let world = self.world();
        let callback = Box::new(move |cx: &mut Cx<'_, H>, value: &dyn Any| {
            if let Some(value) = value.downcast_ref::<K::Value>() {
                callback(cx, value);
            }
        });
        let console = registry::console(self);
        let any = Arc::clone(&console.guards);
        Ok(console.watchers.bind(any, index, world, callback))
    }

    fn load_config(&mut self, path: impl AsRef<Path>) -> Result<ConfigRead, FileError> {
        config::load(self, path.as_ref())
    }

    fn save_config(&mut self, path: impl AsRef<Path>) -> Result<(), FileError> {
        config::save(self, path.as_ref())
    }
}

/// Where the value of a key lies, with the console started.
fn index<H, K: VariableKey>(cx: &mut Cx<'_, H>, key: K) -> Result<u32, VariableError> {
    registry::console(cx);
    let found = key.find(cx.runtime_state::<Variables>());
    let found = found.ok_or_else(|| key.missing())?;
    let variables = cx.runtime().state::<Variables>();
    let slot = variables.and_then(|variables| variables.get(found));
    if slot.is_some_and(|slot| !slot.binding.holds(cx)) {
        registry::sweep(cx);
        return Err(key.missing());
    }
    match refresh(cx, found) {
        true => Ok(found),
        false => Err(key.missing()),
    }
}

fn register<H, T: ConsoleArg + PartialEq>(
    cx: &mut Cx<'_, H>,
    definition: VariableDef<T>,
) -> Result<DynVariable<T>, RegisterError> {
    let name = definition.name.clone();
    registry::claim(cx, &name, definition.ours, false)?;
    let binding = registry::bind(cx, &name, definition.owner, definition.bound)?;
    let origin = Origin::Dynamic(registry::place(definition.location));
    let variable = definition.erase();
    if let Err(error) = (variable.ops.check)(&*variable.default) {
        return Err(RegisterError::BadParameters {
            name: name.into_owned(),
            fault: format!("its default is not allowed: {error}"),
        });
    }
    let (index, generation) = super::install(cx, &name, variable, None, origin, binding);
    Ok(DynVariable {
        index,
        generation,
        runtime: cx.runtime().mark(),
        of: std::marker::PhantomData,
    })
}
