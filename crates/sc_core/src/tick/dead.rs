//! Objects whose owners went: dead at once, out of the registry at the end of the frame.

use std::borrow::Cow;

use super::key::{OnDrop, TickId};
use super::set::Place;
use super::slots::flag;
use super::{TickError, Tickable};
use crate::report::{Report, ReportKind};
use crate::runtime::Runtime;

/// An object that has left the registry and is about to be dropped.
pub(crate) struct Grave<H: 'static> {
    pub(crate) name: Cow<'static, str>,
    pub(crate) object: Box<dyn Tickable<H>>,
}

impl<H> Runtime<H> {
    /// The slot an id names, if its owner is still there.
    pub(crate) fn live(&mut self, id: TickId) -> Result<u32, TickError> {
        self.mark_dropped();
        self.slots.live(id)
    }

    /// As [`live`](Self::live), where nothing can be marked.
    pub(crate) fn live_now(&self, id: TickId) -> Result<u32, TickError> {
        let slot = self.slots.live(id)?;
        if self.inbox.is_dropped(id) {
            return Err(TickError::Gone);
        }
        Ok(slot)
    }

    /// Marks the objects dead whose owners were dropped, on whatever thread.
    #[inline]
    pub(crate) fn mark_dropped(&mut self) {
        if self.inbox.any_dropped() {
            self.mark_arrived();
        }
    }

    #[cold]
    fn mark_arrived(&mut self) {
        let mut dropped = std::mem::take(&mut self.slots.dropped_scratch);
        self.inbox.take_dropped(&mut dropped);
        for (id, then) in dropped.drain(..) {
            if let Ok(slot) = self.slots.live(id) {
                if then == OnDrop::ShutsDown {
                    self.owe_shutdown(slot);
                }
                self.slots.mark_dead(slot);
            }
        }
        self.slots.dropped_scratch = dropped;
    }

    /// Reports the dead that were still initialized and takes every dead object out of the
    /// registry. The objects are given back: dropping them is user code.
    pub(crate) fn bury_dead(&mut self, graves: &mut Vec<Grave<H>>) {
        self.mark_dropped();
        if self.slots.dead.is_empty() {
            return;
        }
        let mut dead = std::mem::take(&mut self.slots.dead);
        // One whose shutdown is still owed waits for it.
        let owed = flag::SHUTDOWN_PENDING | flag::SHUTTING_DOWN;
        for &slot in &dead {
            if self.slots.has(slot, flag::INITIALIZED) && !self.slots.has(slot, owed) {
                if !self.slots.has(slot, flag::ANCHOR) {
                    let what =
                        "destroyed while still initialized - the owner never called shutdown";
                    self.report_on(slot, Report::new(ReportKind::OwnerDropped, what));
                }
                self.uninitialize(slot);
            }
        }
        self.settle();
        dead.retain(|&slot| {
            let placed = self.slots.cold[slot as usize].place != Place::Nowhere;
            if placed
                || self.slots.has(slot, owed)
                || self.slots.has(slot, flag::BATCHED)
                || self.slots.is_out(slot)
            {
                return true;
            }
            let name = self.slots.cold[slot as usize].name.clone();
            let object = self.slots.release(slot);
            graves.extend(object.map(|object| Grave { name, object }));
            false
        });
        dead.append(&mut self.slots.dead);
        self.slots.dead = dead;
    }
}
