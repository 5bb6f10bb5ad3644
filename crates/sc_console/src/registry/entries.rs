//! Entries: names and what is known of them, in slots.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sc_core::{Cx, Life, WorldId};

use super::Handler;
use crate::info::EntryInfo;
use crate::slots::Slots;

/// What an entry is in the registry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    BuiltIn,
    Static,
    Dynamic,
    /// With the index of its value.
    Variable(u32),
}

/// What an entry lives as long as.
#[derive(Clone, Debug, Default)]
pub(crate) struct Binding {
    pub(crate) owner: Option<Life>,
    pub(crate) world: Option<WorldId>,
    /// Set when the guard is dropped.
    pub(crate) guard: Option<Arc<AtomicBool>>,
    /// It was registered at run time, so it can be unregistered.
    pub(crate) dynamic: bool,
}

impl Binding {
    pub(crate) fn holds<H>(&self, cx: &Cx<'_, H>) -> bool {
        self.owner.is_none_or(|life| cx.is_living(life))
            && self.world.is_none_or(|world| cx.is_world_alive(world))
            && self
                .guard
                .as_ref()
                .is_none_or(|dropped| !dropped.load(Ordering::Acquire))
    }
}

pub(crate) struct Entry<H: 'static> {
    /// The number of its registration.
    number: u64,
    pub(crate) info: Arc<EntryInfo>,
    pub(crate) binding: Binding,
    pub(crate) role: Role,
    /// What runs it, if it is a command.
    pub(crate) handler: Option<Handler<H>>,
}

impl<H> Entry<H> {
    pub(crate) fn new(
        info: EntryInfo,
        binding: Binding,
        role: Role,
        handler: Option<Handler<H>>,
    ) -> Self {
        Entry {
            number: 0,
            info: Arc::new(info),
            binding,
            role,
            handler,
        }
    }
}

/// The entries of a console.
pub(crate) struct Entries<H: 'static> {
    slots: Slots<Entry<H>>,
    /// By folded name. Every line looks some up, and a tree compares many long names that start the same.
    names: HashMap<String, u32>,
    /// The same, in order.
    in_order: BTreeMap<String, u32>,
    /// Slots of what is dynamic, by the number of its registration.
    bound: BTreeMap<u64, u32>,
    registered: u64,
    /// The bindings of what can end before the runtime does, side by side, by that number. `None`: it has ended.
    mortal: Vec<(u64, Option<Binding>)>,
    ended: usize,
    revision: u64,
}

impl<H> Default for Entries<H> {
    fn default() -> Self {
        Entries {
            slots: Slots::default(),
            names: HashMap::new(),
            in_order: BTreeMap::new(),
            bound: BTreeMap::new(),
            registered: 0,
            mortal: Vec::new(),
            ended: 0,
            revision: 0,
        }
    }
}

impl<H> Entries<H> {
    pub(crate) fn get(&self, slot: u32) -> Option<&Entry<H>> {
        self.slots.get(slot)
    }

    /// What runs the command in a slot.
    pub(crate) fn handler_mut(&mut self, slot: u32) -> Option<&mut Handler<H>> {
        self.slots.get_mut(slot)?.handler.as_mut()
    }

    pub(crate) fn generation(&self, slot: u32) -> u32 {
        self.slots.generation(slot)
    }

    /// The slot of a folded name.
    pub(crate) fn find(&self, folded: &str) -> Option<u32> {
        self.names.get(folded).copied()
    }

    pub(crate) fn insert(&mut self, mut entry: Entry<H>) -> u32 {
        self.registered += 1;
        entry.number = self.registered;
        let (number, folded) = (entry.number, entry.info.folded.clone());
        let binding = entry.binding.clone();
        let slot = self.slots.insert(entry);
        self.names.insert(folded.clone(), slot);
        self.in_order.insert(folded, slot);
        if binding.dynamic {
            self.bound.insert(number, slot);
            if binding.owner.is_some() || binding.world.is_some() || binding.guard.is_some() {
                self.mortal.push((number, Some(binding)));
            }
        }
        self.revision += 1;
        slot
    }

    pub(crate) fn remove(&mut self, slot: u32) -> Option<Entry<H>> {
        let entry = self.slots.remove(slot)?;
        self.names.remove(&entry.info.folded);
        self.in_order.remove(&entry.info.folded);
        self.bound.remove(&entry.number);
        self.forget(entry.number);
        self.revision += 1;
        Some(entry)
    }

    /// The numbers of what is dynamic and fits, in order of registration. The end of one may run code that ends
    /// others, and has more take their slots: [`slot_of`](Self::slot_of) tells when the turn comes to it.
    pub(crate) fn dynamic(&self, fits: impl Fn(&Entry<H>) -> bool) -> Vec<u64> {
        let bound = self.bound.iter();
        let fitting = bound.filter(|&(_, &slot)| self.get(slot).is_some_and(&fits));
        fitting.map(|(&number, _)| number).collect()
    }

    /// The slot of what is dynamic, by the number of its registration.
    pub(crate) fn slot_of(&self, number: u64) -> Option<u32> {
        self.bound.get(&number).copied()
    }

    fn forget(&mut self, number: u64) {
        let at = self.mortal.binary_search_by_key(&number, |mortal| mortal.0);
        let Some(mortal) = at.ok().and_then(|at| self.mortal.get_mut(at)) else {
            return;
        };
        mortal.1 = None;
        self.ended += 1;
        if self.ended * 2 > self.mortal.len() {
            self.mortal.retain(|mortal| mortal.1.is_some());
            self.ended = 0;
        }
    }

    /// The numbers of what has ended without being told, in order of registration.
    pub(crate) fn dead(&self, cx: &Cx<'_, H>) -> Vec<u64> {
        let ends = |binding: &Binding| !binding.holds(cx);
        let mortal = self.mortal.iter();
        let dead = mortal.filter(|(_, binding)| binding.as_ref().is_some_and(ends));
        dead.map(|&(number, _)| number).collect()
    }

    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }

    /// The entries, sorted by folded name.
    pub(crate) fn sorted(&self) -> impl Iterator<Item = &Arc<EntryInfo>> {
        let slots = self.in_order.values();
        slots.filter_map(|&slot| Some(&self.get(slot)?.info))
    }

    /// A line each.
    pub(crate) fn lines(&self) -> Vec<String> {
        let line = |info: &Arc<EntryInfo>| format!("{} {}: {}", info.kind, info.name, info.origin);
        self.sorted().map(line).collect()
    }
}
