//! The tick set: everything that ticks in one world (or worldless), by group.

use std::any::TypeId;

use super::TickGroup;
use super::list::{Entry, Label, OrderedList};
use super::slots::flag;
use crate::clock::{Clock, DeadlineQueue, DeadlineToken};
use crate::world::WorldId;

/// Which tick set: a world's, or that of the worldless objects.
pub(crate) type Home = Option<WorldId>;

/// Where a ticking object is kept. In force for the running pass; settled between passes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Place {
    /// Nowhere: it does not tick, or its turn of this pass has come.
    Nowhere,
    /// Ticks every frame.
    Listed(Spot),
    /// Waits for its interval.
    Asleep(Spot, DeadlineToken),
    /// Its interval is over; ticks in its turn.
    Due(Spot),
    /// In the rows of a typed batch, named by the batch's slot.
    Batched {
        home: Home,
        batch: u32,
        label: Label,
    },
}

/// A place in the order of one tick set.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Spot {
    pub(crate) home: Home,
    pub(crate) group: TickGroup,
    pub(crate) through_pause: bool,
    pub(crate) label: Label,
}

impl Spot {
    /// The flags of an object at this spot.
    pub(crate) fn flags(self) -> u32 {
        if self.through_pause {
            flag::THROUGH_PAUSE
        } else {
            0
        }
    }
}

impl Place {
    pub(crate) fn home(&self) -> Option<Home> {
        match *self {
            Place::Nowhere => None,
            Place::Listed(spot) | Place::Asleep(spot, _) | Place::Due(spot) => Some(spot.home),
            Place::Batched { home, .. } => Some(home),
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Group {
    /// Everything that ticks every frame.
    pub(crate) all: OrderedList,
    /// Those of `all` that tick while the world is paused.
    pub(crate) through_pause: OrderedList,
    /// Those whose interval is over, sorted by label while a pass is open.
    pub(crate) due: Vec<Entry>,
}

/// A typed batch of a set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BatchRef {
    pub(crate) of: TypeId,
    pub(crate) group: TickGroup,
    pub(crate) through_pause: bool,
    pub(crate) slot: u32,
}

#[derive(Debug, Default)]
pub(crate) struct TickSet {
    pub(crate) groups: [Group; 4],
    /// Sleepers by clock: dilated time that stops while paused, and that runs through.
    asleep: [DeadlineQueue<(u32, TickGroup, Label)>; 2],
    pub(crate) batches: Vec<BatchRef>,
    /// Slots of every initialized object, in no order; each knows its index.
    pub(crate) members: Vec<u32>,
    /// Between the advance of the clocks and the end of the frame.
    pub(crate) pass_open: bool,
    /// Scratch of `wake`.
    woken: Vec<(u32, TickGroup, Label)>,
}

impl TickSet {
    pub(crate) fn group_mut(&mut self, group: TickGroup) -> &mut Group {
        &mut self.groups[group as usize]
    }

    pub(crate) fn list(&mut self, spot: Spot, slot: u32) {
        let entry = Entry::new(spot.label, slot);
        let group = self.group_mut(spot.group);
        group.all.add(entry);
        if spot.through_pause {
            group.through_pause.add(entry);
        }
    }

    pub(crate) fn unlist(&mut self, spot: Spot, slot: u32) {
        let entry = Entry::new(spot.label, slot);
        let group = self.group_mut(spot.group);
        group.all.remove(entry);
        if spot.through_pause {
            group.through_pause.remove(entry);
        }
    }

    pub(crate) fn put_to_sleep(&mut self, spot: Spot, slot: u32, deadline: u64) -> DeadlineToken {
        let queue = &mut self.asleep[usize::from(spot.through_pause)];
        queue.insert(deadline, spot.label.major, (slot, spot.group, spot.label))
    }

    pub(crate) fn wake_early(&mut self, spot: Spot, token: DeadlineToken) {
        self.asleep[usize::from(spot.through_pause)].remove(token);
    }

    pub(crate) fn drop_due(&mut self, spot: Spot, slot: u32) {
        let due = &mut self.group_mut(spot.group).due;
        due.retain(|entry| entry.slot != slot);
    }

    /// Moves the sleepers whose interval is over to the `due` lists, and calls back for each.
    pub(crate) fn wake(
        &mut self,
        now: impl Fn(Clock) -> u64,
        paused: bool,
        mut woken: impl FnMut(u32),
    ) {
        let mut scratch = std::mem::take(&mut self.woken);
        if !paused {
            self.asleep[0].take_due(now(Clock::Game), &mut scratch);
        }
        self.asleep[1].take_due(now(Clock::GameThroughPause), &mut scratch);
        for &(slot, group, label) in &scratch {
            self.group_mut(group).due.push(Entry::new(label, slot));
            woken(slot);
        }
        if !scratch.is_empty() {
            for group in &mut self.groups {
                group.due.sort_unstable();
            }
        }
        scratch.clear();
        self.woken = scratch;
    }

    pub(crate) fn apply_changes(&mut self) {
        for group in &mut self.groups {
            group.all.apply();
            group.through_pause.apply();
        }
    }
}
