//! The pass: ticking one group of one tick set, in order.
//!
//! User code is moved out of its slot while it runs, so it may do anything; whether the next
//! object ticks is asked at its turn, never before. One `catch_unwind` holds a whole run of objects.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::time::Duration;

use super::TickGroup;
use super::contract::Tickable;
use super::list::Entry;
use super::set::{Home, Place};
use super::settle::spot_clock;
use super::slots::flag;
use crate::clock::{Clock, FrameDeltas};
use crate::cx::{Cx, NOBODY, Payload};
use crate::runtime::Runtime;

/// The object that was being called when a panic came.
type Out<H> = Option<Outcast<H>>;

struct Outcast<H: 'static> {
    slot: u32,
    /// How many entries of the list had been passed with it.
    passed: usize,
    object: Box<dyn Tickable<H>>,
}

/// How far a run has come: survives a panic in the middle of it.
struct Progress<H: 'static> {
    list_at: usize,
    due_at: usize,
    /// Entries of the list that were passed and were no tick of an object.
    not_counted: usize,
    out: Out<H>,
}

impl<H> Cx<'_, H> {
    /// Ticks an object, and puts it back. A panic leaves it in `out`.
    #[inline(always)]
    fn tick_out<const PROFILE: bool>(
        &mut self,
        slot: u32,
        passed: usize,
        object: Box<dyn Tickable<H>>,
        out: &mut Out<H>,
    ) {
        std::mem::forget(out.replace(Outcast {
            slot,
            passed,
            object,
        }));
        // The stopwatch is user code, too.
        let started = if PROFILE {
            self.rt.stopwatch_nanos()
        } else {
            0
        };
        if let Some(outcast) = out {
            outcast.object.tick(self);
        }
        if PROFILE {
            self.rt.record_time(slot, started);
        }
        let home = &mut self.rt.slots.hot[slot as usize].object;
        let object = out.take().map(|outcast| outcast.object);
        // The home is empty: nothing but this puts an object there while it is out. Forgetting
        // what it held spares the loop the code that would drop it.
        std::mem::forget(std::mem::replace(home, object));
    }
}

/// What a run walks.
#[derive(Clone, Copy)]
struct Walk<'l> {
    home: Home,
    list: &'l [Entry],
    due: &'l [Entry],
    /// The frame's delta of objects that stop while paused, and of those that do not.
    deltas: [Duration; 2],
    paused: bool,
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
        let deltas = deltas.map(Duration::from_nanos);
        let walk = Walk {
            home,
            list: &list,
            due: &due,
            deltas,
            paused,
            profile: self.rt.profiling(),
        };
        let mut progress = Progress {
            list_at: 0,
            due_at: 0,
            not_counted: 0,
            out: None,
        };
        let panicked = self.run_to_end(walk, &mut progress);
        self.rt.frame.ticks += (progress.list_at - progress.not_counted) as u64;
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
            let Some(outcast) = progress.out.take() else {
                // Raised between two objects, by something that has accounted for it already.
                break Some(payload);
            };
            let (holder, object) = (outcast.slot, outcast.object);
            progress.list_at = outcast.passed;
            self.rt.slots.hot[holder as usize].object = Some(object);
            if self.rt.batch_is_unfinished(holder) {
                // Its entry is walked again and goes on behind the row that panicked.
                progress.list_at -= 1;
                progress.not_counted -= 1;
            }
            let payload = self.keep_or_report(&self.rt.culprit(culprit), payload);
            self.rt.uninitialize(culprit);
            if payload.is_some() {
                // What the tick asked for before it panicked happens all the same; a panic in
                // that is not the first.
                let attended = catch_unwind(AssertUnwindSafe(|| self.attend_in(walk.home)));
                drop(attended);
                break payload;
            }
            if self.rt.attention && self.attend_in(walk.home).is_err() {
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
            let rest = walk.list.get(progress.list_at..).unwrap_or_default();
            let segment = match next_due {
                None => rest,
                Some(due) => &rest[..rest.partition_point(|e| e.label() < due.label())],
            };
            let outcome = if walk.profile {
                self.run_segment::<true>(walk, segment, progress)
            } else {
                self.run_segment::<false>(walk, segment, progress)
            };
            if outcome.is_err() {
                return;
            }
            let Some(due) = next_due else {
                return;
            };
            progress.due_at += 1;
            self.tick_due(walk, due, progress);
            if self.rt.attention && self.attend_in(walk.home).is_err() {
                return;
            }
        }
    }

    /// Ticks a run of objects that tick every frame: the hot loop.
    fn run_segment<const PROFILE: bool>(
        &mut self,
        walk: Walk<'_>,
        segment: &[Entry],
        progress: &mut Progress<H>,
    ) -> Result<(), WorldGone> {
        let inbox = Arc::clone(&self.rt.inbox);
        // What the flags of an object are that ticks with the delta now set. One comparison
        // tells it from one that does not tick, has another delta, or is a batch.
        let mut usual = flag::TICKS;
        self.scope.delta = walk.deltas[0];
        let before = progress.list_at;
        progress.list_at += segment.len();
        self.rt.mark_dropped();
        for (index, entry) in segment.iter().enumerate() {
            let slot = entry.slot;
            let hot = &mut self.rt.slots.hot[slot as usize];
            let flags = hot.flags & (flag::TICKS | flag::THROUGH_PAUSE | flag::BATCH);
            if flags != usual {
                progress.not_counted += usize::from(flags & flag::TICKS == 0);
                progress.not_counted += usize::from(flags & flag::BATCH != 0);
                if flags & flag::TICKS == 0 {
                    continue;
                }
                usual = flags & !flag::BATCH;
                self.scope.delta = walk.deltas[usize::from(flags & flag::THROUGH_PAUSE != 0)];
            }
            let Some(object) = hot.object.take() else {
                progress.not_counted += 1;
                continue;
            };
            hot.ticks += 1;
            self.scope.object = slot;
            let passed = before + index + 1;
            self.tick_out::<PROFILE>(slot, passed, object, &mut progress.out);
            // Both in one branch.
            if self.rt.attention | inbox.any_dropped() {
                self.rt.mark_dropped();
                if !self.rt.attention {
                    continue;
                }
                // Right also when this ends the walk.
                progress.list_at = passed;
                self.attend_in(walk.home)?;
                self.finish_batch(walk, slot, progress)?;
                progress.list_at = before + segment.len();
                self.scope.delta = walk.deltas[usize::from(usual & flag::THROUGH_PAUSE != 0)];
            }
        }
        Ok(())
    }

    /// Ticks the rest of a batch that stopped since something else had to happen first.
    #[cold]
    fn finish_batch(
        &mut self,
        walk: Walk<'_>,
        slot: u32,
        progress: &mut Progress<H>,
    ) -> Result<(), WorldGone> {
        while self.rt.batch_is_unfinished(slot) {
            let through_pause = self.rt.slots.has(slot, flag::THROUGH_PAUSE);
            self.tick_one(slot, walk.deltas[usize::from(through_pause)], progress);
            if self.rt.attention {
                self.attend_in(walk.home)?;
            }
        }
        Ok(())
    }

    /// Ticks one object if it still should.
    fn tick_one(&mut self, slot: u32, delta: Duration, progress: &mut Progress<H>) {
        self.rt.mark_dropped();
        if !self.rt.slots.has(slot, flag::TICKS) {
            return;
        }
        let hot = &mut self.rt.slots.hot[slot as usize];
        let Some(object) = hot.object.take() else {
            return;
        };
        hot.ticks += 1;
        self.rt.frame.ticks += u64::from(hot.flags & flag::BATCH == 0);
        self.scope.object = slot;
        self.scope.delta = delta;
        let passed = progress.list_at;
        if self.rt.profiling() {
            self.tick_out::<true>(slot, passed, object, &mut progress.out);
        } else {
            self.tick_out::<false>(slot, passed, object, &mut progress.out);
        }
    }

    /// Ticks an object whose interval is over, and puts it to sleep again.
    fn tick_due(&mut self, walk: Walk<'_>, entry: Entry, progress: &mut Progress<H>) {
        let slot = entry.slot;
        let cold = &self.rt.slots.cold[slot as usize];
        let Place::Due(spot) = cold.place else {
            return;
        };
        if spot.label != entry.label() || !self.rt.slots.has(slot, flag::TICKS) {
            return;
        }
        let interval = cold.interval_in_force;
        let now = self.rt.now(walk.home, spot_clock(spot));
        if walk.paused && !spot.through_pause {
            // Left over from a frame that a panic ended; its turn comes when its clock runs.
            self.rt.sleep_until(slot, spot, now, 0);
            return;
        }
        let cold = &mut self.rt.slots.cold[slot as usize];
        let accumulated = now.wrapping_sub(cold.accumulates_from);
        // One tick for all whole intervals; the part below one stays. 0 = all there is.
        let delta = accumulated - accumulated.checked_rem(interval).unwrap_or(0);
        cold.accumulates_from = cold.accumulates_from.wrapping_add(delta);
        cold.place = Place::Nowhere;
        self.tick_one(slot, Duration::from_nanos(delta), progress);
        let ticks = self.rt.slots.has(slot, flag::TICKS);
        if ticks && self.rt.slots.cold[slot as usize].place == Place::Nowhere {
            if interval == 0 {
                self.rt.slots.cold[slot as usize].interval_in_force = 0;
                self.rt.slots.mark_dirty(slot);
            } else {
                // By the interval in force: a new one takes effect when the pass is over.
                let ahead = interval - (accumulated - delta);
                self.rt.sleep_until(slot, spot, now, ahead);
            }
        }
    }

    /// Does what must happen before the next object ticks. `Err` when that ended the world.
    #[cold]
    fn attend_in(&mut self, home: Home) -> Result<(), WorldGone> {
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
