//! The slots in which objects live. What a pass touches lies apart from what it does not.

use std::borrow::Cow;
use std::num::NonZeroU32;

use smallvec::SmallVec;

use super::batch::Typed;
use super::contract::Tickable;
use super::key::{OnDrop, TickId};
use super::life::Life;
use super::list::Label;
use super::order::Order;
use super::set::{Home, Place};
use super::{TickError, TickGroup, TickSettings};
use crate::clock::Clock;

/// Bits of [`Hot::flags`].
pub(crate) mod flag {
    /// Between initialize and shutdown.
    pub(crate) const INITIALIZED: u32 = 1;
    /// Ticks in the running pass: initialized, enabled, placed, alive.
    pub(crate) const TICKS: u32 = 1 << 1;
    /// Ticks while paused, in the running pass.
    pub(crate) const THROUGH_PAUSE: u32 = 1 << 2;
    /// The owner is gone; no callback runs any more.
    pub(crate) const DEAD: u32 = 1 << 3;
    /// Shutdown was asked for while the object was out; its event runs when it is back.
    pub(crate) const SHUTDOWN_PENDING: u32 = 1 << 4;
    /// Its shutdown event is running.
    pub(crate) const SHUTTING_DOWN: u32 = 1 << 5;
    /// In the dirty list: its place is settled between passes.
    pub(crate) const DIRTY: u32 = 1 << 6;
    /// The object of this slot is a typed batch.
    pub(crate) const BATCH: u32 = 1 << 7;
    /// The object of this slot lies in a typed batch.
    pub(crate) const BATCHED: u32 = 1 << 8;
    /// The slot holds an object (in place, out, or batched).
    pub(crate) const OCCUPIED: u32 = 1 << 9;
    /// Fixed when the object was made: it has no world, ever.
    pub(crate) const WORLDLESS: u32 = 1 << 10;
    /// The world owns it: it goes when it is shut down, at the latest with the world.
    pub(crate) const WORLD_OWNED: u32 = 1 << 11;
    /// An anchor: its end is never an omission, and it is in no list.
    pub(crate) const ANCHOR: u32 = 1 << 12;
}

/// What a pass touches of an object: 32 bytes.
pub(crate) struct Hot<H: 'static> {
    /// `None` while it runs, and while it lies in a batch.
    pub(crate) object: Option<Box<dyn Tickable<H>>>,
    pub(crate) ticks: u64,
    pub(crate) flags: u32,
    pub(crate) generation: NonZeroU32,
}

/// Prerequisites, both ways.
#[derive(Default)]
pub(crate) struct Links {
    pub(crate) prerequisites: SmallVec<[TickId; 2]>,
    pub(crate) dependents: SmallVec<[TickId; 2]>,
}

impl Links {
    pub(crate) fn is_empty(&self) -> bool {
        self.prerequisites.is_empty() && self.dependents.is_empty()
    }
}

/// What a pass does not touch.
pub(crate) struct Cold<H: 'static> {
    pub(crate) name: Cow<'static, str>,
    /// The world it is bound to; `None` while uninitialized, and for worldless objects.
    pub(crate) home: Home,
    pub(crate) settings: TickSettings,
    /// `settings.interval`, validated, in nanoseconds.
    pub(crate) interval: u64,
    /// An intent set by a call; outranks `settings.start_ticking` until the shutdown.
    pub(crate) intent: Option<bool>,
    pub(crate) place: Place,
    pub(crate) label: Label,
    /// The number of its initialization, for "newest first".
    pub(crate) initialization: u64,
    /// The reading from which time accumulates towards its interval.
    pub(crate) accumulates_from: u64,
    /// The clock of that reading: the one in force. Follows the settings when settled.
    pub(crate) accumulates_on: Clock,
    /// Time starts to accumulate anew when it is settled.
    pub(crate) restarts: bool,
    /// The interval by which it is asleep or due, in nanoseconds; 0 = takes all there is.
    pub(crate) interval_in_force: u64,
    /// `tick_at_start` asks for a tick at once while the object has ticked only so often.
    pub(crate) at_once_after: Option<u64>,
    /// Its index in the members of its tick set.
    pub(crate) member: usize,
    pub(crate) links: Option<Box<Links>>,
    /// The name of the world that ended while its dead object was still to be reported.
    pub(crate) last_world: Option<Cow<'static, str>>,
    pub(crate) typed: Option<Typed<H>>,
    pub(crate) last_nanos: u64,
    pub(crate) total_nanos: u64,
}

pub(crate) struct Slots<H: 'static> {
    /// The mark of this runtime's ids.
    runtime: u32,
    pub(crate) hot: Vec<Hot<H>>,
    pub(crate) cold: Vec<Cold<H>>,
    free: Vec<u32>,
    /// Slots whose place must be settled, in the order in which they changed.
    pub(crate) dirty: Vec<u32>,
    /// Dead objects, in the order in which their owners went.
    pub(crate) dead: Vec<u32>,
    /// Objects whose shutdown waits until they are back.
    pub(crate) pending_shutdown: Vec<u32>,
    pub(crate) order: Order,
    /// Lives that have ended and of which the extensions were not told yet.
    pub(crate) ended: Vec<Life>,
    /// Whether any extension wants to be told.
    pub(crate) tell_ended: bool,
    pub(crate) dropped_scratch: Vec<(TickId, OnDrop)>,
}

impl<H> Slots<H> {
    pub(crate) fn new(runtime: u32) -> Self {
        Slots {
            runtime,
            hot: Vec::new(),
            cold: Vec::new(),
            free: Vec::new(),
            dirty: Vec::new(),
            dead: Vec::new(),
            pending_shutdown: Vec::new(),
            order: Order::default(),
            ended: Vec::new(),
            tell_ended: false,
            dropped_scratch: Vec::new(),
        }
    }

    pub(crate) fn insert(&mut self, object: Box<dyn Tickable<H>>, flags: u32) -> TickId {
        let mut settings = object.settings();
        if flags & flag::WORLDLESS != 0 {
            // It has a stage of its own; a group would keep it out of that.
            settings.group = TickGroup::default();
        }
        let cold = Cold {
            name: object.name(),
            home: None,
            settings,
            // An unusable default interval is refused when the object is initialized.
            interval: settings.interval.to_nanos().unwrap_or(0),
            intent: None,
            place: Place::Nowhere,
            label: Label::default(),
            initialization: 0,
            accumulates_from: 0,
            accumulates_on: settings.clock(),
            restarts: false,
            interval_in_force: 0,
            at_once_after: None,
            member: 0,
            links: None,
            last_world: None,
            typed: None,
            last_nanos: 0,
            total_nanos: 0,
        };
        let flags = flags | flag::OCCUPIED;
        if let Some(index) = self.free.pop() {
            let hot = &mut self.hot[index as usize];
            hot.object = Some(object);
            hot.ticks = 0;
            hot.flags = flags;
            self.cold[index as usize] = cold;
            return self.id(index);
        }
        let index = u32::try_from(self.hot.len()).unwrap_or(u32::MAX);
        self.hot.push(Hot {
            object: Some(object),
            ticks: 0,
            flags,
            generation: NonZeroU32::MIN,
        });
        self.cold.push(cold);
        self.id(index)
    }

    /// Empties a slot, giving back what must be dropped with no borrow held.
    pub(crate) fn release(&mut self, index: u32) -> Option<Box<dyn Tickable<H>>> {
        let id = self.id(index);
        self.order.forget(id.index, self.cold[index as usize].label);
        if let Some(links) = self.cold[index as usize].links.take() {
            for other in links.prerequisites {
                self.unlink(other, |l| &mut l.dependents, id);
            }
            for other in links.dependents {
                self.unlink(other, |l| &mut l.prerequisites, id);
            }
        }
        let hot = &mut self.hot[index as usize];
        let object = hot.object.take();
        hot.flags = 0;
        // A slot whose generations are used up is retired: it never names anything again.
        if let Some(next) = hot.generation.checked_add(1) {
            hot.generation = next;
            self.free.push(index);
        }
        let cold = &mut self.cold[index as usize];
        cold.name = Cow::Borrowed("");
        cold.typed = None;
        object
    }

    fn unlink(
        &mut self,
        from: TickId,
        which: impl Fn(&mut Links) -> &mut SmallVec<[TickId; 2]>,
        gone: TickId,
    ) {
        if let Some(links) = &mut self.cold[from.index as usize].links {
            which(links).retain(|id| *id != gone);
            // It may go back to its batch.
            self.mark_dirty(from.index);
        }
    }

    pub(crate) fn mark(&self) -> u32 {
        self.runtime
    }

    pub(crate) fn id(&self, index: u32) -> TickId {
        TickId {
            index,
            generation: self.hot[index as usize].generation,
            runtime: self.runtime,
        }
    }

    /// The slot an id names, unless the object is dead or gone.
    pub(crate) fn live(&self, id: TickId) -> Result<u32, TickError> {
        match self.hot.get(id.index as usize) {
            _ if id.runtime != self.runtime => Err(TickError::WrongRuntime),
            Some(hot)
                if hot.generation == id.generation
                    && hot.flags & (flag::OCCUPIED | flag::DEAD) == flag::OCCUPIED =>
            {
                Ok(id.index)
            }
            _ => Err(TickError::Gone),
        }
    }

    pub(crate) fn flags(&self, index: u32) -> u32 {
        self.hot[index as usize].flags
    }

    pub(crate) fn has(&self, index: u32, bits: u32) -> bool {
        self.flags(index) & bits != 0
    }

    pub(crate) fn set(&mut self, index: u32, bits: u32) {
        self.hot[index as usize].flags |= bits;
    }

    pub(crate) fn clear(&mut self, index: u32, bits: u32) {
        self.hot[index as usize].flags &= !bits;
    }

    pub(crate) fn name(&self, index: u32) -> String {
        self.cold[index as usize].name.clone().into_owned()
    }

    /// The slot that holds the object, and its row's label if that is a batch's.
    pub(crate) fn holder(&self, index: u32) -> (u32, Option<Label>) {
        match self.cold[index as usize].place {
            Place::Batched { batch, label, .. } if self.has(index, flag::BATCHED) => {
                (batch, Some(label))
            }
            _ => (index, None),
        }
    }

    /// Whether the object is being called, or a sibling of its batch is.
    pub(crate) fn is_out(&self, index: u32) -> bool {
        let (holder, _) = self.holder(index);
        self.hot[holder as usize].object.is_none()
    }

    /// Arms or disarms the tick at once of an object that starts to tick.
    pub(crate) fn start_ticking(&mut self, index: u32) {
        let ticks = self.hot[index as usize].ticks;
        let cold = &mut self.cold[index as usize];
        cold.at_once_after = cold.settings.tick_at_start.then_some(ticks);
    }

    /// Whether the next tick is the one that `tick_at_start` asks for.
    pub(crate) fn ticks_at_once(&self, index: u32) -> bool {
        let ticks = self.hot[index as usize].ticks;
        self.cold[index as usize].at_once_after == Some(ticks)
    }

    /// Whether any prerequisite ties it to another object.
    pub(crate) fn is_linked(&self, index: u32) -> bool {
        let links = &self.cold[index as usize].links;
        links.as_ref().is_some_and(|links| !links.is_empty())
    }

    pub(crate) fn mark_dirty(&mut self, index: u32) {
        if !self.has(index, flag::DIRTY) {
            self.set(index, flag::DIRTY);
            self.dirty.push(index);
        }
    }

    /// Whether it is meant to tick while initialized.
    pub(crate) fn intends_to_tick(&self, index: u32) -> bool {
        let cold = &self.cold[index as usize];
        cold.intent.unwrap_or(cold.settings.start_ticking)
    }

    /// The interval of a sleeping object is over.
    pub(crate) fn wake(&mut self, slot: u32) {
        let place = &mut self.cold[slot as usize].place;
        if let Place::Asleep(spot, _) = *place {
            *place = Place::Due(spot);
        }
    }

    /// An object comes back from the rows of its batch; it is placed nowhere now.
    pub(crate) fn unbatch(&mut self, slot: u32, object: Box<dyn Tickable<H>>) {
        self.hot[slot as usize].object = Some(object);
        self.clear(slot, flag::BATCHED);
        let place = &mut self.cold[slot as usize].place;
        if matches!(place, Place::Batched { .. }) {
            *place = Place::Nowhere;
        }
    }

    /// Notes the end of an object's life, once a life.
    pub(crate) fn end_life(&mut self, index: u32) {
        let ending = flag::INITIALIZED | flag::DEAD;
        if self.tell_ended && self.flags(index) & ending == flag::INITIALIZED {
            let initialization = self.cold[index as usize].initialization;
            self.ended.push(Life::new(self.id(index), initialization));
        }
    }

    /// Whether lives have ended of which extensions were not told yet.
    pub(crate) fn any_life_ended(&self) -> bool {
        !self.ended.is_empty()
    }

    /// The owner is gone: no callback from now on.
    pub(crate) fn mark_dead(&mut self, index: u32) {
        self.end_life(index);
        self.set(index, flag::DEAD);
        // A shutdown that was asked for before is still owed: the owner did call it.
        self.clear(index, flag::TICKS);
        self.mark_dirty(index);
        self.dead.push(index);
    }
}
