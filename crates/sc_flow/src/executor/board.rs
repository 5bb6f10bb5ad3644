//! The board: the flows of a runtime, in slots. What a turn touches lies together; the rest lies in
//! the [`Table`].
//!
//! Slots lie in chunks that never move, so that a turn holds on to its slot while its code starts
//! and ends other flows.

use std::cell::{Cell, RefCell};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

use sc_core::Clock;

use super::bits;
use super::body::{Body, BoxBody, Place};
use super::home::{Home, Registered};
use super::run::Scratch;
use super::table::{Extra, Note, Row, Table};
use super::wake::{SharedWaker, WakeInbox};
use crate::finish::FlowFinish;
use crate::id::FlowId;
use crate::join::{self, Ending};
use crate::list::{Progress, WaitingFor};
use crate::reserve::PendingFlows;

/// A flow, as far as a turn touches it.
pub(crate) struct Slot<H: 'static> {
    /// Out while the flow has its turn.
    pub(crate) body: Place<H>,
    pub(crate) generation: Cell<u32>,
    /// What the flow is like: see [`bits`](super::bits).
    pub(crate) bits: Cell<u16>,
    /// How often it ran in this stage because it was woken in it.
    pub(crate) reruns: Cell<u8>,
}

impl<H> Slot<H> {
    #[inline]
    pub(crate) fn has(&self, bits: u16) -> bool {
        self.bits.get() & bits != 0
    }

    pub(crate) fn set(&self, bits: u16) {
        self.bits.set(self.bits.get() | bits);
    }

    pub(crate) fn clear(&self, bits: u16) {
        self.bits.set(self.bits.get() & !bits);
    }

    /// The clock it counts on.
    pub(crate) fn clock(&self) -> Clock {
        bits::clock(self.bits.get())
    }

    /// Whether it is having its turn.
    pub(crate) fn is_running(&self) -> bool {
        self.body.is_empty()
    }
}

/// log2 of the slots of a chunk.
const CHUNK_BITS: u32 = 6;
const CHUNK: usize = 1 << CHUNK_BITS;

pub(crate) type Chunk<H> = Rc<[Slot<H>; CHUNK]>;

pub(crate) struct Board<H: 'static> {
    chunks: RefCell<Vec<Chunk<H>>>,
    pub(crate) table: RefCell<Table<H>>,
    /// The node that is having its turn.
    pub(crate) running: Cell<Option<FlowId>>,
    /// How far it has come.
    pub(crate) progress: Cell<Progress>,
    /// `continue_loop` was called for it from its own body.
    pub(crate) continued: Cell<bool>,
    pub(crate) inbox: Arc<WakeInbox>,
    /// The flows that have not started, by their ids outside.
    pub(crate) pending: PendingFlows,
    /// What flows are polled with that have no waker of their own.
    shared: RefCell<Rc<SharedWaker>>,
    pub(crate) scratch: Cell<Scratch>,
}

impl<H> Board<H> {
    pub(crate) fn new() -> Self {
        let inbox = Arc::default();
        Board {
            chunks: RefCell::default(),
            table: RefCell::default(),
            running: Cell::new(None),
            progress: Cell::new(Progress::Unknown),
            continued: Cell::new(false),
            shared: RefCell::new(Rc::new(SharedWaker::new(&inbox))),
            inbox,
            pending: PendingFlows::new(),
            scratch: Cell::default(),
        }
    }

    fn chunk(&self, number: u32) -> Option<Chunk<H>> {
        self.chunks.borrow().get(number as usize).cloned()
    }

    /// Calls `f` with a slot whose flow is still the one that is meant.
    #[inline]
    pub(crate) fn slot<R>(&self, id: FlowId, f: impl FnOnce(&Slot<H>) -> R) -> Option<R> {
        let chunks = self.chunks.borrow();
        let slot = &chunks.get((id.index >> CHUNK_BITS) as usize)?[id.index as usize % CHUNK];
        (slot.generation.get() == id.generation).then(|| f(slot))
    }

    /// Whether an id names a flow that has not ended.
    pub(crate) fn is_live(&self, id: FlowId) -> bool {
        self.slot(id, |_| ()).is_some()
    }

    /// The id of the next flow in a slot; the slot is made, if there is none of that number.
    #[inline(always)]
    pub(crate) fn make(&self, index: u32) -> FlowId {
        if self.chunks.borrow().len() <= (index >> CHUNK_BITS) as usize {
            self.grow(index);
        }
        self.id(index)
    }

    #[cold]
    #[inline(never)]
    fn grow(&self, index: u32) {
        let chunks = &mut *self.chunks.borrow_mut();
        while chunks.len() <= (index >> CHUNK_BITS) as usize {
            chunks.push(new_chunk());
        }
    }

    /// The id of the flow in a slot.
    #[inline]
    pub(crate) fn id(&self, index: u32) -> FlowId {
        id_in(&self.chunks.borrow(), index)
    }

    /// Calls `f` with a body that is not having its turn. `f` must not call user code.
    pub(crate) fn in_place<R>(
        &self,
        id: FlowId,
        f: impl FnOnce(Pin<&mut dyn Body<H>>) -> Option<R>,
    ) -> Option<R> {
        self.slot(id, |slot| f(slot.body.out().get()?))?
    }

    /// Takes a flow out that is not having its turn: its id is stale from now on.
    pub(crate) fn remove(&self, id: FlowId) -> Option<Removed<H>> {
        let body = self.slot(id, |slot| {
            slot.generation.set(id.generation.wrapping_add(1));
            slot.body.take()
        });
        let body = body?;
        let table = &mut *self.table.borrow_mut();
        let (row, extra) = table.remove(id.index)?;
        row.home.leave();
        Some(Removed { row, extra, body })
    }

    /// Whether a flow is having its turn.
    pub(crate) fn is_running(&self, id: FlowId) -> bool {
        self.slot(id, Slot::is_running).unwrap_or(false)
    }

    /// Asks the flow that is having its turn to end after it. Whether this was the first to ask.
    pub(crate) fn ask(&self, id: FlowId, finish: FlowFinish) -> bool {
        let table = &mut *self.table.borrow_mut();
        let Some(row) = table.row_mut(id.index) else {
            return false;
        };
        row.home.ask();
        let is_first = row.asked.is_none();
        row.asked.get_or_insert(finish);
        is_first
    }

    /// Takes out a flow that has completed and drops its body, if nobody has to be told of it; its id is
    /// stale from the first. Whether it did; `name` is what it was called, also when its destructor panics.
    #[inline]
    pub(crate) fn end_quietly(&self, id: FlowId, slot: &Slot<H>, name: &mut &'static str) -> bool {
        let Some(called) = self.table.borrow_mut().take_quiet(id.index) else {
            return false;
        };
        *name = called;
        slot.generation.set(id.generation.wrapping_add(1));
        // Not before the body is gone, and also when its destructor panics.
        let _released = Release(self, id.index);
        drop(slot.body.take());
        true
    }

    /// The home of a live flow.
    pub(crate) fn home(&self, id: FlowId) -> Option<Rc<Home<H>>> {
        self.table.borrow().home(self, id)
    }

    /// See [`Table::resolve`].
    #[inline]
    pub(crate) fn resolve(&self, id: FlowId) -> FlowId {
        self.table.borrow().resolve(id)
    }

    /// Whether a flow, by its id outside, has ended: it is neither live nor pending.
    pub(crate) fn has_ended(&self, id: FlowId) -> bool {
        !self.is_live(self.resolve(id)) && !self.pending.has(id)
    }

    /// A flow is awaited, by its id outside; whether it is there, or pending.
    pub(crate) fn is_awaited_by(&self, id: FlowId, ending: &Rc<Ending>) -> bool {
        let flow = self.resolve(id);
        if self.is_live(flow) {
            let table = &mut *self.table.borrow_mut();
            let extra = table.extra_or_new(flow.index);
            return extra
                .map(|extra| join::add(&mut extra.awaited_by, ending))
                .is_some();
        }
        let is_pending = self.pending.awaits(id);
        if is_pending {
            self.table.borrow_mut().awaits_start(id, ending);
        }
        is_pending
    }

    /// A node sleeps, or no more.
    pub(crate) fn sleeps(&self, id: FlowId, home: &Home<H>, sleep: Option<Registered>) {
        let table = &mut *self.table.borrow_mut();
        let extra = match sleep {
            Some(_) => table.extra_or_new(id.index),
            None => table.extra_of(id.index),
        };
        let before = extra.and_then(|extra| std::mem::replace(&mut extra.sleep, sleep));
        if let Some(before) = before {
            home.unregister(before);
        }
    }

    /// The flows that satisfy a condition, in order of start.
    pub(crate) fn ids_where(&self, is: impl Fn(&Table<H>, &Row<H>) -> bool) -> Vec<FlowId> {
        let table = self.table.borrow();
        let slots = table.slots_where(|row| is(&table, row));
        slots.into_iter().map(|index| self.id(index)).collect()
    }

    /// Notes what the node `by` that a flow awaits says; `None`: it waits no more.
    pub(crate) fn note(&self, id: FlowId, by: u32, note: Option<Note>, now: u64) {
        if !self.is_live(id) {
            return;
        }
        let table = &mut *self.table.borrow_mut();
        let Some(extra) = table.extra_or_new(id.index) else {
            return;
        };
        extra.takes_note(by, note);
        match extra.note() {
            Some(note) if note.waiting_for == WaitingFor::Condition => {
                table.waits_for_since(id, note.waiting_for, note.since);
            }
            Some(note) => table.waits_for(id, note.waiting_for, now),
            None => table.waits_for(id, WaitingFor::Await, now),
        }
    }

    /// A flow waits for what it waits for since a reading of the runtime's clock (ns); for a condition it
    /// waits on, whatever else it awaits meanwhile.
    pub(crate) fn waits_since(&self, id: FlowId, since: u64) {
        if let Some(row) = self.table.borrow_mut().row_mut(id.index)
            && row.waiting_for != WaitingFor::Condition
        {
            row.since = since;
        }
    }

    /// A node has begun to wait for what it says.
    pub(crate) fn begins_to_wait(&self, id: FlowId, slot: &Slot<H>, now: u64) {
        let looked = slot.body.out().get().and_then(|body| body.look());
        if let Some((waiting_for, _)) = looked {
            self.table.borrow_mut().waits_for(id, waiting_for, now);
        }
    }

    /// The waker for flows that have none of their own.
    pub(crate) fn shared_waker(&self) -> Rc<SharedWaker> {
        Rc::clone(&self.shared.borrow())
    }

    /// Gives the shared waker, which a flow has kept, to that flow; the others get a fresh one.
    pub(crate) fn give_waker(&self, flow: FlowId, shared: &SharedWaker) {
        if self.slot(flow, |slot| slot.set(bits::SLOW)).is_some()
            && let Some(extra) = self.table.borrow_mut().extra_or_new(flow.index)
        {
            extra.waker = Some(shared.waker.clone());
        }
        shared.give_to(flow);
        self.shared.replace(Rc::new(SharedWaker::new(&self.inbox)));
    }

    /// Drops every flow: the runtime was dropped without a shutdown, and calls nothing.
    pub(crate) fn clear(&self) {
        self.inbox.close();
        let chunks = self.chunks.take();
        let table = self.table.take();
        for slot in chunks.iter().flat_map(|chunk| chunk.iter()) {
            drop(slot.body.take());
        }
        drop(table);
    }
}

fn new_chunk<H>() -> Chunk<H> {
    Rc::new(std::array::from_fn(|_| Slot {
        body: Place::empty(),
        generation: Cell::new(0),
        bits: Cell::new(0),
        reruns: Cell::new(0),
    }))
}

#[inline]
fn id_in<H>(chunks: &[Chunk<H>], index: u32) -> FlowId {
    let chunk = chunks.get((index >> CHUNK_BITS) as usize);
    let generation = chunk.map_or(0, |chunk| chunk[index as usize % CHUNK].generation.get());
    FlowId { index, generation }
}

/// Frees a slot when it goes.
struct Release<'b, H: 'static>(&'b Board<H>, u32);

impl<H> Drop for Release<'_, H> {
    #[inline]
    fn drop(&mut self) {
        self.0.table.borrow_mut().release(self.1);
    }
}

/// A flow that was taken out.
pub(crate) struct Removed<H: 'static> {
    pub(crate) row: Row<H>,
    pub(crate) extra: Option<Extra<H>>,
    pub(crate) body: Option<BoxBody<H>>,
}

/// Finds slots, one after another, at the cost of an index.
pub(crate) struct Slots<H: 'static> {
    board: Rc<Board<H>>,
    number: u32,
    chunk: Chunk<H>,
}

impl<H> Slots<H> {
    pub(crate) fn new(board: &Rc<Board<H>>) -> Self {
        Slots {
            board: Rc::clone(board),
            number: 0,
            chunk: board.chunk(0).unwrap_or_else(new_chunk),
        }
    }

    /// The slot of a flow, if it is still that flow's.
    #[inline(always)]
    pub(crate) fn get(&mut self, id: FlowId) -> Option<&Slot<H>> {
        let number = id.index >> CHUNK_BITS;
        if number != self.number {
            self.turn_to(number)?;
        }
        let slot = &self.chunk[id.index as usize % CHUNK];
        (slot.generation.get() == id.generation).then_some(slot)
    }

    #[cold]
    #[inline(never)]
    fn turn_to(&mut self, number: u32) -> Option<()> {
        self.chunk = self.board.chunk(number)?;
        self.number = number;
        Some(())
    }
}
