//! The pass: ticking one group of one tick set, in order.
//!
//! User code is moved out of its slot while it runs, so it may do anything; whether the next
//! object ticks is asked at its turn, never before. One `catch_unwind` holds a whole run of objects.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::TickGroup;
use super::contract::Tickable;
use super::list::Entry;
use super::set::{Home, Place};
use super::slots::flag;
use crate::clock::{Clock, FrameDeltas};
use crate::cx::{Cx, NOBODY, Payload};
use crate::runtime::Runtime;

/// How far a run has come: survives a panic in the middle of it.
struct Progress<H: 'static> {
    list_at: usize,
    due_at: usize,
    /// The object being called and its slot.
    out: Option<(u32, Box<dyn Tickable<H>>)>,
}

/// What a run walks.
#[derive(Clone, Copy)]
struct Walk<'l> {
    home: Home,
    list: &'l [Entry],
    due: &'l [Entry],
    /// The frame's delta of objects that stop while paused, and of those that do not.
    deltas: [u64; 2],
    profile: bool,
}

impl<H> Cx<'_, H> {
    /// Ticks one group of a tick set. `paused` leaves out what does not tick while paused.
    pub(crate) fn run_group(
        &mut self,
        home: Home,
        group: TickGroup,
        paused: bool,
        deltas: FrameDeltas,
    ) {
        let Some(set) = self.rt.tick_set_mut(home) else {
            return;
        };
        let of = set.group_mut(group);
        let listed = if paused {
            &mut of.through_pause
        } else {
            &mut of.all
        };
        if listed.is_empty() && of.due.is_empty() {
            return;
        }
        let list = listed.take();
        let due = std::mem::take(&mut of.due);
        let deltas = match home {
            Some(_) => [deltas.get(Clock::Game), deltas.get(Clock::GameThroughPause)],
            None => [deltas.get(Clock::Real); 2],
        };
        let walk = Walk {
            home,
            list: &list,
            due: &due,
            deltas,
            profile: self.rt.profiling(),
        };
        let mut progress = Progress {
            list_at: 0,
            due_at: 0,
            out: None,
        };
        let panicked = self.run_to_end(walk, &mut progress);
        let due_left = progress.due_at;
        if let Some(set) = self.rt.tick_set_mut(home) {
            let of = set.group_mut(group);
            let listed = if paused {
                &mut of.through_pause
            } else {
                &mut of.all
            };
            listed.restore(list);
            of.due = due;
            // Only after a panic that goes on something is left: it stays due.
            of.due.drain(..due_left);
        }
        if let Some(payload) = panicked {
            resume_unwind(payload);
        }
    }

    fn run_to_end(&mut self, walk: Walk<'_>, progress: &mut Progress<H>) -> Option<Payload> {
        let (scope, depth) = (self.scope, self.rt.depth);
        self.rt.depth = depth + 1;
        self.scope.world = walk.home;
        let inside = self.scope;
        let panicked = loop {
            let outcome = catch_unwind(AssertUnwindSafe(|| self.run_entries(walk, progress)));
            let Err(payload) = outcome else {
                break None;
            };
            let culprit = self.scope.object;
            self.scope = inside;
            self.rt.depth = depth + 1;
            let Some((holder, object)) = progress.out.take() else {
                // Raised between two objects, by something that has accounted for it already.
                break Some(payload);
            };
            self.rt.slots.hot[holder as usize].object = Some(object);
            if culprit != NOBODY {
                self.rt.uninitialize(culprit);
            }
            if self.rt.batch_is_unfinished(holder) {
                progress.list_at -= 1;
            }
            if let Some(payload) = self.keep_or_report(culprit, payload) {
                break Some(payload);
            }
            if self.rt.attention && self.attend(walk.home).is_err() {
                break None;
            }
        };
        self.scope = scope;
        self.rt.depth = depth;
        panicked
    }

    fn run_entries(&mut self, walk: Walk<'_>, progress: &mut Progress<H>) {
        loop {
            // What ticks every frame, up to the place of the next one that is due.
            let next_due = walk.due.get(progress.due_at).copied();
            let rest = &walk.list[progress.list_at..];
            let until = match next_due {
                None => walk.list.len(),
                Some(due) => progress.list_at + rest.partition_point(|e| e.label < due.label),
            };
            while progress.list_at < until {
                let slot = walk.list[progress.list_at].slot;
                progress.list_at += 1;
                if self.tick_one(walk, slot, None, progress).is_err() {
                    return;
                }
            }
            let Some(due) = next_due else {
                return;
            };
            progress.due_at += 1;
            if self.tick_due(walk, due, progress).is_err() {
                return;
            }
        }
    }

    /// Ticks an object if it still should. `Err` when the walk is over: its world is gone.
    #[inline]
    fn tick_one(
        &mut self,
        walk: Walk<'_>,
        slot: u32,
        delta: Option<u64>,
        progress: &mut Progress<H>,
    ) -> Result<(), WorldGone> {
        if self.rt.inbox.any_dropped() {
            self.rt.mark_dropped();
        }
        let hot = &mut self.rt.slots.hot[slot as usize];
        let flags = hot.flags;
        if flags & flag::TICKS == 0 {
            return Ok(());
        }
        let Some(object) = hot.object.take() else {
            return Ok(());
        };
        hot.ticks += 1;
        self.rt.frame.ticks += u64::from(flags & flag::BATCH == 0);
        self.scope.object = slot;
        self.scope.delta = match delta {
            Some(delta) => delta,
            None => walk.deltas[usize::from(flags & flag::THROUGH_PAUSE != 0)],
        };
        let (_, object) = progress.out.insert((slot, object));
        if walk.profile {
            let started = self.rt.stopwatch_nanos();
            object.tick(self);
            self.rt.record_time(slot, started);
        } else {
            object.tick(self);
        }
        if let Some((_, object)) = progress.out.take() {
            self.rt.slots.hot[slot as usize].object = Some(object);
        }
        if self.rt.attention {
            self.attend(walk.home)?;
            if self.rt.batch_is_unfinished(slot) {
                progress.list_at -= 1;
            }
        }
        Ok(())
    }

    /// Ticks an object whose interval is over, and puts it to sleep again.
    fn tick_due(
        &mut self,
        walk: Walk<'_>,
        entry: Entry,
        progress: &mut Progress<H>,
    ) -> Result<(), WorldGone> {
        let slot = entry.slot;
        let cold = &self.rt.slots.cold[slot as usize];
        let Place::Due(spot) = cold.place else {
            return Ok(());
        };
        if spot.label != entry.label || !self.rt.slots.has(slot, flag::TICKS) {
            return Ok(());
        }
        let interval = cold.interval_in_force;
        let now = self.rt.now(spot.home, super::settle::spot_clock(spot));
        let cold = &mut self.rt.slots.cold[slot as usize];
        let accumulated = now.wrapping_sub(cold.accumulates_from);
        // One tick for all whole intervals; the part below one stays. 0 = all there is.
        let delta = accumulated - accumulated.checked_rem(interval).unwrap_or(0);
        cold.accumulates_from = cold.accumulates_from.wrapping_add(delta);
        cold.first_tick_at_once = false;
        cold.place = Place::Nowhere;
        let outcome = self.tick_one(walk, slot, Some(delta), progress);
        let ticks = self.rt.slots.has(slot, flag::TICKS);
        if outcome.is_ok() && ticks && self.rt.slots.cold[slot as usize].place == Place::Nowhere {
            if interval == 0 {
                self.rt.slots.cold[slot as usize].interval_in_force = 0;
                self.rt.slots.mark_dirty(slot);
            } else {
                // By the interval in force: a new one takes effect when the pass is over.
                self.rt
                    .sleep_until(slot, spot, now, interval - (accumulated - delta));
            }
        }
        outcome
    }

    /// Does what must happen before the next object ticks. `Err` when that ended the world.
    #[cold]
    fn attend(&mut self, home: Home) -> Result<(), WorldGone> {
        let depth = std::mem::replace(&mut self.rt.depth, 0);
        let scope = self.scope;
        self.scope.object = NOBODY;
        self.after_callback();
        self.scope = scope;
        self.rt.depth = depth;
        match self.rt.tick_set(home) {
            Some(_) => Ok(()),
            None => Err(WorldGone),
        }
    }
}

/// The world whose objects are being ticked was destroyed.
struct WorldGone;

impl<H> Runtime<H> {
    fn batch_is_unfinished(&mut self, slot: u32) -> bool {
        let mut unfinished = false;
        if self.slots.has(slot, flag::BATCH) {
            self.with_batch(slot, |_, rows| unfinished = rows.is_unfinished());
        }
        unfinished
    }

    pub(crate) fn record_time(&mut self, slot: u32, started: u64) {
        let spent = self.stopwatch_nanos().saturating_sub(started);
        let cold = &mut self.slots.cold[slot as usize];
        cold.last_nanos = spent;
        cold.total_nanos = cold.total_nanos.saturating_add(spent);
    }
}
