//! The values of a runtime's variables, in slots that keys find by an index.

use std::any::Any;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::declare::{AnyVariable, StaticVariable};
use super::definition::{Changed, Ops};
use super::{SetBy, SetOutcome, VariableInfo};
use crate::arg::ConsoleArg;
use crate::error::VariableError;
use crate::info::EntryInfo;
use crate::redact::refusal;
use crate::slots::Slots;

/// One variable of a runtime.
pub(crate) struct VariableSlot {
    pub(crate) value: Box<dyn Any>,
    pub(crate) declared: Option<&'static StaticVariable>,
    pub(crate) set_by: SetBy,
    /// The configuration file has an entry that was taken.
    pub(crate) in_file: bool,
    pub(crate) default: Box<dyn Any>,
    /// Told of each change before all others.
    pub(crate) changed: Option<Changed>,
    pub(crate) ops: Ops,
    pub(crate) info: Arc<EntryInfo>,
}

/// The variables of a runtime. It knows no host type, so that a key reads it from anywhere.
#[derive(Default)]
pub(crate) struct Variables {
    slots: Slots<VariableSlot>,
    /// Values that wait for their variable, by folded name.
    pub(crate) waiting: BTreeMap<String, (String, SetBy)>,
    /// Variables whose callbacks are to be told.
    pub(crate) changed: VecDeque<u32>,
    /// Callbacks are being told.
    pub(crate) notifying: bool,
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

    /// Where the value of a static variable lies.
    #[inline]
    pub(crate) fn find_static(&self, declared: &'static StaticVariable) -> Option<u32> {
        let guess = declared.guess.load(Ordering::Relaxed);
        let is_it = |slot: &VariableSlot| slot.declared.is_some_and(|d| std::ptr::eq(d, declared));
        if self.get(guess).is_some_and(is_it) {
            return Some(guess);
        }
        self.search_static(declared)
    }

    #[cold]
    fn search_static(&self, declared: &'static StaticVariable) -> Option<u32> {
        let is_it = |slot: &VariableSlot| slot.declared.is_some_and(|d| std::ptr::eq(d, declared));
        let at = self.slots.position(is_it)?;
        declared.guess.store(at, Ordering::Relaxed);
        Some(at)
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
    ) -> u32 {
        self.slots.insert(VariableSlot {
            value: (variable.ops.clone)(&*variable.default),
            declared,
            set_by: SetBy::Constructor,
            in_file: false,
            default: variable.default,
            changed: variable.changed,
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
        let value = (slot.ops.parse)(text).map_err(|error| VariableError::Refused {
            name: slot.info.name.clone(),
            error: match slot.info.params.first() {
                Some(param) => refusal(param, text, error),
                None => error,
            },
        })?;
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
        (slot.ops.check)(&*value).map_err(|error| VariableError::Refused {
            name: slot.info.name.clone(),
            error,
        })?;
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
        slot.value = value;
        if !self.changed.contains(&index) {
            self.changed.push_back(index);
        }
        SetOutcome::Changed
    }

    /// Keeps a value for a variable that does not exist yet, unless a higher one waits already.
    pub(crate) fn wait(&mut self, folded: String, text: &str, by: SetBy) {
        let waiting = self.waiting.entry(folded);
        let waiting = waiting.or_insert_with(|| (String::new(), SetBy::Constructor));
        if waiting.1 <= by {
            *waiting = (text.to_owned(), by);
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
            false => (slot.ops.show)(value),
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
