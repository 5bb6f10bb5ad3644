//! Settling: between passes, every object whose state changed gets the place it now asks for.
//!
//! Calls only change what is wanted (intent, settings, world, label) and mark the slot dirty;
//! this is the one place where that becomes lists, sleepers and batches. So nothing that is
//! asked for during a pass is lost, and nothing takes effect half.

use super::list::{Entry, Label};
use super::set::{BatchRef, Home, Place, Spot};
use super::slots::flag;
use crate::clock::Clock;
use crate::runtime::Runtime;

/// A place that an object asks for.
enum Wanted {
    Nowhere,
    Listed(Spot),
    Asleep(Spot),
    Batched(Spot),
}

impl<H> Runtime<H> {
    /// Gives every dirty slot its place, but for those whose pass is open.
    pub(crate) fn settle(&mut self) {
        self.mark_dropped();
        if self.slots.dirty.is_empty() {
            return;
        }
        let mut dirty = std::mem::take(&mut self.slots.dirty);
        let mut leaving = std::mem::take(&mut self.settle_scratch.leaving);
        let mut entering = std::mem::take(&mut self.settle_scratch.entering);
        let mut kept = 0;
        for index in 0..dirty.len() {
            let slot = dirty[index];
            if !self.slots.has(slot, flag::OCCUPIED) {
                self.slots.clear(slot, flag::DIRTY);
                continue;
            }
            if self.pass_is_open(slot) {
                dirty[kept] = slot;
                kept += 1;
                continue;
            }
            self.slots.clear(slot, flag::DIRTY);
            self.settle_one(slot, &mut leaving, &mut entering);
        }
        dirty.truncate(kept);
        // Nothing became dirty meanwhile: settling calls no user code.
        self.slots.dirty = dirty;
        let mut changed = std::mem::take(&mut self.settle_scratch.changed);
        self.leave_batches(&mut leaving, &mut changed);
        self.enter_batches(&mut entering, &mut changed);
        for batch in changed.drain(..) {
            self.place_batch(batch);
        }
        self.settle_scratch.changed = changed;
        self.settle_scratch.leaving = leaving;
        self.settle_scratch.entering = entering;
        self.worldless.apply_changes();
        for world in self.worlds.values_mut() {
            world.ticks.apply_changes();
        }
    }

    fn pass_is_open(&self, slot: u32) -> bool {
        let cold = &self.slots.cold[slot as usize];
        let open = |home: Home| self.tick_set(home).is_some_and(|set| set.pass_open);
        let here = self.slots.has(slot, flag::INITIALIZED | flag::BATCH) && open(cold.home);
        here || cold.place.home().is_some_and(open)
    }

    fn settle_one(
        &mut self,
        slot: u32,
        leaving: &mut Vec<(u32, Label)>,
        entering: &mut Vec<(Spot, u32)>,
    ) {
        self.settle_accumulation(slot);
        let wanted = self.wanted(slot);
        let place = self.slots.cold[slot as usize].place;
        match (&wanted, place) {
            (Wanted::Listed(want), Place::Listed(have)) if *want == have => {}
            (Wanted::Batched(want), Place::Batched { home, batch, label })
                if want.home == home
                    && want.label == label
                    && self.batch_spot(batch) == Some((want.group, want.through_pause)) => {}
            _ => {
                self.leave(slot, place, leaving);
                self.enter(slot, wanted, entering);
                return;
            }
        }
        self.slots.set(slot, flag::TICKS);
    }

    /// What was asked of the accumulation of time takes effect: a restart, another clock.
    fn settle_accumulation(&mut self, slot: u32) {
        let accumulated = self.accumulated(slot);
        let cold = &mut self.slots.cold[slot as usize];
        let restarts = std::mem::take(&mut cold.restarts);
        cold.accumulates_on = cold.settings.clock();
        let kept = if restarts { 0 } else { accumulated };
        // Of a clock that has come less far than what is kept, the reading is before its start.
        let from = self.object_clock(slot).wrapping_sub(kept);
        self.slots.cold[slot as usize].accumulates_from = from;
    }

    fn batch_spot(&self, batch: u32) -> Option<(super::TickGroup, bool)> {
        let set = self.tick_set(self.slots.cold[batch as usize].home)?;
        let found = set.batches.iter().find(|b| b.slot == batch)?;
        Some((found.group, found.through_pause))
    }

    fn wanted(&self, slot: u32) -> Wanted {
        let cold = &self.slots.cold[slot as usize];
        let flags = self.slots.flags(slot);
        let active = flags & (flag::INITIALIZED | flag::DEAD) == flag::INITIALIZED;
        if !active || !self.slots.intends_to_tick(slot) {
            return Wanted::Nowhere;
        }
        let settings = cold.settings;
        if let Some(world) = cold.home {
            match self.worlds.get(world) {
                Some(world) if world.is_alive() => {
                    if !world.ticks_gameplay && !settings.tick_in_editor {
                        return Wanted::Nowhere;
                    }
                }
                _ => return Wanted::Nowhere,
            }
        }
        let spot = Spot {
            home: cold.home,
            group: settings.group,
            through_pause: settings.tick_when_paused,
            label: cold.label,
        };
        if cold.interval > 0 {
            Wanted::Asleep(spot)
        } else if self.accumulated(slot) > 0
            && (cold.interval_in_force > 0
                || matches!(cold.place, Place::Asleep(..) | Place::Due(_)))
        {
            // From an interval to every frame: the first tick brings what has accumulated.
            Wanted::Asleep(spot)
        } else if cold.typed.is_some() && !self.slots.is_linked(slot) {
            Wanted::Batched(spot)
        } else {
            Wanted::Listed(spot)
        }
    }

    fn leave(&mut self, slot: u32, place: Place, leaving: &mut Vec<(u32, Label)>) {
        match place {
            Place::Nowhere => {}
            Place::Batched { batch, label, .. } => {
                leaving.push((batch, label));
            }
            Place::Listed(spot) => {
                if let Some(set) = self.tick_set_mut(spot.home) {
                    set.unlist(spot, slot);
                }
            }
            Place::Asleep(spot, token) => {
                if let Some(set) = self.tick_set_mut(spot.home) {
                    set.wake_early(spot, token);
                }
            }
            Place::Due(spot) => {
                if let Some(set) = self.tick_set_mut(spot.home) {
                    set.drop_due(spot, slot);
                }
            }
        }
        self.slots.cold[slot as usize].place = Place::Nowhere;
        self.slots.clear(slot, flag::TICKS | flag::THROUGH_PAUSE);
    }

    fn enter(&mut self, slot: u32, wanted: Wanted, entering: &mut Vec<(Spot, u32)>) {
        let (spot, asleep) = match wanted {
            Wanted::Nowhere => return,
            Wanted::Batched(spot) => {
                entering.push((spot, slot));
                return;
            }
            Wanted::Listed(spot) => (spot, false),
            Wanted::Asleep(spot) => (spot, true),
        };
        self.slots.set(slot, flag::TICKS | spot.flags());
        if asleep {
            self.sleep_until_interval(slot, spot);
            return;
        }
        if let Some(set) = self.tick_set_mut(spot.home) {
            set.list(spot, slot);
        }
        let cold = &mut self.slots.cold[slot as usize];
        cold.place = Place::Listed(spot);
        cold.interval_in_force = 0;
    }

    /// Puts an object to sleep until its interval is over.
    fn sleep_until_interval(&mut self, slot: u32, spot: Spot) {
        let now = self.now(spot.home, spot_clock(spot));
        let ahead = self.until_due(slot);
        let cold = &mut self.slots.cold[slot as usize];
        cold.interval_in_force = cold.interval;
        self.sleep_until(slot, spot, now, ahead);
    }

    /// Puts an object to sleep for `ahead` nanoseconds of its clock.
    pub(crate) fn sleep_until(&mut self, slot: u32, spot: Spot, now: u64, ahead: u64) {
        // Beyond the end of its clock it sleeps for ever: in no queue.
        let deadline = now.checked_add(ahead);
        if let (Some(set), Some(deadline)) = (self.tick_set_mut(spot.home), deadline) {
            let token = set.put_to_sleep(spot, slot, deadline);
            self.slots.cold[slot as usize].place = Place::Asleep(spot, token);
        }
    }

    /// Time on its clock until an object with an interval is due, in nanoseconds.
    pub(crate) fn until_due(&self, slot: u32) -> u64 {
        let cold = &self.slots.cold[slot as usize];
        if self.slots.ticks_at_once(slot) {
            return 0;
        }
        let accumulated = if cold.restarts {
            0
        } else {
            self.accumulated(slot)
        };
        cold.interval.saturating_sub(accumulated)
    }

    /// The time accumulated towards an object's interval, in nanoseconds.
    pub(crate) fn accumulated(&self, slot: u32) -> u64 {
        let cold = &self.slots.cold[slot as usize];
        self.object_clock(slot).wrapping_sub(cold.accumulates_from)
    }

    /// The reading of the clock on which an object's time accumulates.
    pub(crate) fn object_clock(&self, slot: u32) -> u64 {
        let cold = &self.slots.cold[slot as usize];
        self.now(cold.home, cold.accumulates_on)
    }

    fn leave_batches(&mut self, leaving: &mut Vec<(u32, Label)>, changed: &mut Vec<u32>) {
        leaving.sort_unstable();
        let mut rest = leaving.as_slice();
        while let Some(&(batch, _)) = rest.first() {
            let many = rest.partition_point(|&(b, _)| b == batch);
            let (of_this, others) = rest.split_at(many);
            rest = others;
            let labels: Vec<Label> = of_this.iter().map(|&(_, label)| label).collect();
            self.with_batch(batch, |slots, rows| {
                rows.remove_all(&labels, &mut |slot, object| slots.unbatch(slot, object));
            });
            changed.push(batch);
        }
        leaving.clear();
    }

    fn enter_batches(&mut self, entering: &mut Vec<(Spot, u32)>, changed: &mut Vec<u32>) {
        entering.sort_unstable_by_key(|(spot, _)| spot.label);
        for (spot, slot) in entering.drain(..) {
            let Some(typed) = self.slots.cold[slot as usize].typed else {
                continue;
            };
            let Some(batch) = self.batch_of(spot, typed) else {
                continue;
            };
            let Some(object) = self.slots.hot[slot as usize].object.take() else {
                continue;
            };
            let entry = Entry::new(spot.label, slot);
            let mut object = Some(object);
            self.with_batch(batch, |_, rows| {
                object = object.take().and_then(|o| rows.insert(o, entry));
            });
            if changed.last() != Some(&batch) {
                changed.push(batch);
            }
            self.slots.hot[slot as usize].object = object;
            self.slots.set(slot, flag::TICKS | flag::BATCHED);
            let cold = &mut self.slots.cold[slot as usize];
            cold.interval_in_force = 0;
            cold.place = Place::Batched {
                home: spot.home,
                batch,
                label: spot.label,
            };
        }
    }

    /// The batch for a type at a spot, made on first use at the place of its first member.
    fn batch_of(&mut self, spot: Spot, typed: super::batch::Typed<H>) -> Option<u32> {
        let set = self.tick_set(spot.home)?;
        let found = set.batches.iter().find(|b| {
            b.of == typed.of && b.group == spot.group && b.through_pause == spot.through_pause
        });
        if let Some(found) = found {
            return Some(found.slot);
        }
        let flags = flag::BATCH | flag::TICKS | spot.flags();
        let id = self.slots.insert((typed.new_batch)(), flags);
        let cold = &mut self.slots.cold[id.index as usize];
        cold.home = spot.home;
        cold.typed = Some(typed);
        cold.place = Place::Nowhere;
        let set = self.tick_set_mut(spot.home)?;
        set.batches.push(BatchRef {
            of: typed.of,
            group: spot.group,
            through_pause: spot.through_pause,
            slot: id.index,
        });
        Some(id.index)
    }

    /// Puts a batch whose rows have changed at the place of its first row.
    fn place_batch(&mut self, batch: u32) {
        let mut first = None;
        self.with_batch(batch, |_, rows| first = rows.restore_order());
        let cold = &self.slots.cold[batch as usize];
        let (home, place) = (cold.home, cold.place);
        let Some((group, through_pause)) = self.batch_spot(batch) else {
            return;
        };
        let wanted = first.map_or(Place::Nowhere, |label| {
            Place::Listed(Spot {
                home,
                group,
                through_pause,
                label,
            })
        });
        if place == wanted {
            return;
        }
        let Some(set) = self.tick_set_mut(home) else {
            return;
        };
        if let Place::Listed(spot) = place {
            set.unlist(spot, batch);
        }
        if let Place::Listed(spot) = wanted {
            set.list(spot, batch);
        }
        self.slots.cold[batch as usize].place = wanted;
    }

    /// Gives every object of a batch back to its own slot, placed nowhere, and frees the batch.
    pub(crate) fn empty_batch(&mut self, batch: u32) {
        self.with_batch(batch, |slots, rows| {
            let labels = rows.labels();
            rows.remove_all(&labels, &mut |slot, object| slots.unbatch(slot, object));
        });
        self.slots.release(batch);
    }

    /// Calls `f` with a batch's rows, taken out of their slot meanwhile.
    pub(crate) fn with_batch(
        &mut self,
        batch: u32,
        f: impl FnOnce(&mut super::slots::Slots<H>, &mut dyn super::batch::AnyBatch<H>),
    ) {
        let Some(typed) = self.slots.cold[batch as usize].typed else {
            return;
        };
        let Some(mut object) = self.slots.hot[batch as usize].object.take() else {
            return;
        };
        if let Some(rows) = (typed.as_batch)(&mut *object) {
            f(&mut self.slots, rows);
        }
        self.slots.hot[batch as usize].object = Some(object);
    }
}

pub(crate) fn spot_clock(spot: Spot) -> Clock {
    match (spot.home, spot.through_pause) {
        (None, _) => Clock::Real,
        (Some(_), true) => Clock::GameThroughPause,
        (Some(_), false) => Clock::Game,
    }
}
