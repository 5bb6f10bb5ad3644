//! The values of a runtime's variables, in slots that keys find by an index.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use sc_core::AnyCx;

use super::declare::{AnyVariable, StaticVariable};
use super::definition::{Changed, Current, Ops};
use super::{SetBy, SetOutcome, VariableInfo};
use crate::arg::{ArgError, ConsoleArg};
use crate::error::VariableError;
use crate::info::EntryInfo;
use crate::redact::refusal;
use crate::registry::Binding;
use crate::slots::Slots;

/// One variable of a runtime.
pub(crate) struct VariableSlot {
    pub(crate) value: Box<dyn Any>,
    /// What its callbacks know, while they are to be told of a change.
    told: Option<Box<dyn Any>>,
    /// `current` is being asked.
    pub(crate) asking: bool,
    /// What `current` said last is not allowed, and that was reported.
    pub(crate) current_refused: bool,
    pub(crate) declared: Option<&'static StaticVariable>,
    /// What it lives as long as.
    pub(crate) binding: Binding,
    pub(crate) set_by: SetBy,
    /// The configuration file has an entry that was taken.
    pub(crate) in_file: bool,
    pub(crate) default: Box<dyn Any>,
    /// Told of each change before all others.
    pub(crate) changed: Option<Changed>,
    /// Asked for the value before it is used.
    pub(crate) current: Option<Current>,
    pub(crate) ops: Ops,
    pub(crate) info: Arc<EntryInfo>,
}

impl VariableSlot {
    /// Whether its value belongs into the configuration file. That of the command line is for one run.
    pub(crate) fn is_to_be_saved(&self) -> bool {
        let was_set = !matches!(self.set_by, SetBy::Constructor | SetBy::CommandLine);
        self.info.flags.archive && was_set
    }

    /// The value that a text means, if it is allowed.
    pub(crate) fn parse(&self, text: &str) -> Result<Box<dyn Any>, VariableError> {
        let value = (self.ops.parse)(text).map_err(|error| match self.info.params.first() {
            Some(param) => refusal(param, text, error),
            None => error,
        });
        let value = value.map_err(|error| self.refused(error))?;
        self.check(&*value)?;
        Ok(value)
    }

    pub(crate) fn check(&self, value: &dyn Any) -> Result<(), VariableError> {
        (self.ops.check)(value).map_err(|error| self.refused(error))
    }

    fn refused(&self, error: ArgError) -> VariableError {
        VariableError::Refused {
            name: self.info.name.clone(),
            error,
        }
    }

    #[inline]
    fn is_of(&self, declared: &'static StaticVariable) -> bool {
        self.declared.is_some_and(|by| std::ptr::eq(by, declared))
    }

    pub(crate) fn is_secret(&self) -> bool {
        self.info.params.first().is_some_and(|param| param.secret)
    }
}

/// What an archived variable has left: for the next one of its name, and for the configuration file.
pub(crate) struct Left {
    pub(crate) name: String,
    pub(crate) was: Was,
    pub(crate) in_file: bool,
}

/// What a variable was when it ended.
pub(crate) enum Was {
    /// Set: its value as text, by whom, and as it is saved.
    Set(String, SetBy, Box<toml_edit::Value>),
    /// Its default, while the file has another value.
    Reset,
    /// Set for one run.
    ForOneRun,
}

impl Was {
    fn set_by(&self) -> SetBy {
        match self {
            Was::Set(_, by, _) => *by,
            Was::Reset => SetBy::Constructor,
            Was::ForOneRun => SetBy::CommandLine,
        }
    }
}

/// The variables of a runtime. It knows no host type, so that a key reads it from anywhere.
#[derive(Default)]
pub(crate) struct Variables {
    slots: Slots<VariableSlot>,
    /// The mark of the runtime.
    pub(crate) runtime: u32,
    /// Asks for a value that another part has, for who does not know the host type.
    pub(crate) refresh: Option<fn(&mut dyn AnyCx, u32)>,
    /// Values that wait for their variable, by folded name.
    pub(crate) waiting: BTreeMap<String, (String, SetBy)>,
    /// What archived variables that are gone have left, by folded name.
    pub(crate) left: BTreeMap<String, Left>,
    /// Folded names that stand in the configuration file beside its table.
    pub(crate) beside: BTreeSet<String>,
    /// Variables whose callbacks are to be told.
    pub(crate) changed: VecDeque<u32>,
    /// Callbacks are being told.
    pub(crate) notifying: bool,
    /// Of this one.
    pub(crate) telling: Option<u32>,
}

impl Variables {
    pub(crate) fn get(&self, index: u32) -> Option<&VariableSlot> {
        self.slots.get(index)
    }

    pub(crate) fn generation(&self, index: u32) -> u32 {
        self.slots.generation(index)
    }

    pub(crate) fn get_mut(&mut self, index: u32) -> Option<&mut VariableSlot> {
        self.slots.get_mut(index)
    }

    /// A static variable, at the cost of an index.
    #[inline]
    pub(crate) fn get_static(&self, declared: &'static StaticVariable) -> Option<&VariableSlot> {
        let guess = self.get(declared.guess.load(Ordering::Relaxed));
        guess
            .filter(|slot| slot.is_of(declared))
            .or_else(|| self.get(self.search_static(declared)?))
    }

    /// Where the value of a static variable lies.
    pub(crate) fn find_static(&self, declared: &'static StaticVariable) -> Option<u32> {
        let guess = declared.guess.load(Ordering::Relaxed);
        match self.get(guess) {
            Some(slot) if slot.is_of(declared) => Some(guess),
            _ => self.search_static(declared),
        }
    }

    #[cold]
    fn search_static(&self, declared: &'static StaticVariable) -> Option<u32> {
        let at = self.slots.position(|slot| slot.is_of(declared))?;
        declared.guess.store(at, Ordering::Relaxed);
        Some(at)
    }

    /// Whether another part has the value of a variable.
    pub(crate) fn is_elsewhere(&self, index: u32) -> bool {
        self.get(index).is_some_and(|slot| slot.current.is_some())
    }

    #[inline]
    pub(crate) fn read<T: ConsoleArg>(&self, index: u32) -> Option<&T> {
        self.get(index)?.value.downcast_ref()
    }

    pub(crate) fn insert(
        &mut self,
        variable: AnyVariable,
        declared: Option<&'static StaticVariable>,
        info: Arc<EntryInfo>,
        binding: Binding,
    ) -> u32 {
        self.slots.insert(VariableSlot {
            value: (variable.ops.clone)(&*variable.default),
            told: None,
            asking: false,
            current_refused: false,
            declared,
            binding,
            set_by: SetBy::Constructor,
            in_file: false,
            default: variable.default,
            changed: variable.changed,
            current: variable.current,
            ops: variable.ops,
            info,
        })
    }

    pub(crate) fn remove(&mut self, index: u32) -> Option<VariableSlot> {
        let gone = self.slots.remove(index)?;
        self.changed.retain(|&changed| changed != index);
        Some(gone)
    }

    /// Parses, validates, stores. Telling is the caller's.
    pub(crate) fn set_text(
        &mut self,
        index: u32,
        text: &str,
        by: SetBy,
    ) -> Result<SetOutcome, VariableError> {
        let slot = self.get(index).ok_or(VariableError::Gone)?;
        let value = slot.parse(text)?;
        self.set(index, value, by)
    }

    /// Validates, stores. Telling is the caller's.
    pub(crate) fn set(
        &mut self,
        index: u32,
        value: Box<dyn Any>,
        by: SetBy,
    ) -> Result<SetOutcome, VariableError> {
        let slot = self.get_mut(index).ok_or(VariableError::Gone)?;
        slot.check(&*value)?;
        if by < slot.set_by {
            return Err(VariableError::LowerPriority {
                name: slot.info.name.clone(),
                by: slot.set_by,
                asked: by,
            });
        }
        slot.set_by = by;
        Ok(self.put(index, value))
    }

    /// Whether what another part says of the value may be older than the value.
    pub(crate) fn is_ahead(&self, index: u32) -> bool {
        let waits = |slot: &VariableSlot| slot.told.is_some() || slot.asking;
        self.telling == Some(index) || self.get(index).is_some_and(waits)
    }

    /// The value is another now, as another part says.
    pub(crate) fn is_now(&mut self, index: u32, value: Box<dyn Any>) -> SetOutcome {
        let outcome = self.put(index, value);
        if outcome == SetOutcome::Changed
            && let Some(slot) = self.get_mut(index)
        {
            slot.set_by = SetBy::Code;
        }
        outcome
    }

    /// Its default again, and anyone may set it.
    pub(crate) fn reset(&mut self, index: u32) -> Result<SetOutcome, VariableError> {
        let slot = self.get_mut(index).ok_or(VariableError::Gone)?;
        slot.set_by = SetBy::Constructor;
        let value = (slot.ops.clone)(&*slot.default);
        Ok(self.put(index, value))
    }

    fn put(&mut self, index: u32, value: Box<dyn Any>) -> SetOutcome {
        let Some(slot) = self.get_mut(index) else {
            return SetOutcome::Unchanged;
        };
        if (slot.ops.same)(&*slot.value, &*value) {
            return SetOutcome::Unchanged;
        }
        let before = std::mem::replace(&mut slot.value, value);
        if slot.told.is_none() {
            slot.told = Some(before);
            self.changed.push_back(index);
        }
        SetOutcome::Changed
    }

    /// Whether the callbacks of a variable, whose turn it is to be told, know its value already: it was set and
    /// set back.
    pub(crate) fn is_as_told(&mut self, index: u32) -> bool {
        let Some(slot) = self.get_mut(index) else {
            return true;
        };
        let told = slot.told.take();
        told.is_some_and(|told| (slot.ops.same)(&*told, &*slot.value))
    }

    /// Whether a value may wait for a variable that does not exist yet.
    pub(crate) fn may_wait(&self, name: &str, asked: SetBy) -> Result<SetOutcome, VariableError> {
        match self.waiting.get(&crate::name::fold(name)) {
            Some(&(_, by)) if by > asked => Err(VariableError::LowerPriority {
                name: name.to_owned(),
                by,
                asked,
            }),
            _ => Ok(SetOutcome::Waiting),
        }
    }

    /// Keeps a value for a variable that does not exist yet, unless a higher one waits already.
    pub(crate) fn wait(&mut self, folded: String, text: &str, by: SetBy) {
        let waiting = self.waiting.entry(folded);
        let waiting = waiting.or_insert_with(|| (String::new(), SetBy::Constructor));
        if waiting.1 <= by {
            *waiting = (text.to_owned(), by);
        }
    }

    /// What was left counts no more, once somebody who counts as much has set the name.
    pub(crate) fn supersede(&mut self, folded: &str, by: SetBy) {
        if self
            .left
            .get(folded)
            .is_some_and(|left| left.was.set_by() <= by)
        {
            self.left.remove(folded);
        }
    }

    /// Drops the value that waits by someone's word.
    pub(crate) fn wait_no_more(&mut self, folded: &str, by: SetBy) {
        let is_theirs = |waiting: &(String, SetBy)| waiting.1 == by;
        if self.waiting.get(folded).is_some_and(is_theirs) {
            self.waiting.remove(folded);
        }
    }

    pub(crate) fn info(&self, index: u32) -> Option<VariableInfo> {
        let slot = self.get(index)?;
        let param = slot.info.params.first()?;
        let shown = |value: &dyn Any| match param.secret {
            true => crate::redact::MASK.to_owned(),
            false => {
                let show = AssertUnwindSafe(|| (slot.ops.show)(value));
                catch_unwind(show).unwrap_or_else(|_| "(its type panicked)".to_owned())
            }
        };
        Some(VariableInfo {
            name: slot.info.name.clone(),
            about: slot.info.about.clone(),
            type_name: param.type_name.clone(),
            value: shown(&*slot.value),
            default: shown(&*slot.default),
            range: param.range.clone(),
            set_by: slot.set_by,
            flags: slot.info.flags,
        })
    }
}
