//! The typed path: many objects of one type in one dense row, ticked in a loop that knows the
//! type.
//!
//! A batch is itself the object of an ordinary slot, in the order of its group, at the place of
//! its first member. Members are ordinary objects too: only while they tick every frame do they
//! lie in the batch's rows. Disabled, throttled or linked by prerequisites, they are kept singly.

use std::any::{Any, TypeId};
use std::borrow::Cow;
use std::sync::Arc;

use super::contract::Tickable;
use super::list::{Entry, Label};
use super::slots::flag;
use crate::cx::Cx;

/// What the registry must know of a type to batch it.
pub(crate) struct Typed<H: 'static> {
    pub(crate) of: TypeId,
    pub(crate) new_batch: fn() -> Box<dyn Tickable<H>>,
    pub(crate) as_batch: fn(&mut dyn Tickable<H>) -> Option<&mut dyn AnyBatch<H>>,
}

impl<H> Clone for Typed<H> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<H> Copy for Typed<H> {}

impl<H: 'static> Typed<H> {
    pub(crate) fn of<T: Tickable<H>>() -> Self {
        Typed {
            of: TypeId::of::<T>(),
            new_batch: || Box::new(Batch::<T>::default()),
            as_batch: |object| {
                let any: &mut dyn Any = object;
                any.downcast_mut::<Batch<T>>()
                    .map(|batch| batch as &mut dyn AnyBatch<H>)
            },
        }
    }
}

/// A batch, whatever the type of its rows.
pub(crate) trait AnyBatch<H: 'static> {
    /// Takes an object in, at the end; gives it back if it is of another type. Then restore the
    /// order.
    fn insert(
        &mut self,
        object: Box<dyn Tickable<H>>,
        entry: Entry,
    ) -> Option<Box<dyn Tickable<H>>>;
    /// The object of a row.
    fn row(&mut self, label: Label) -> Option<&mut dyn Tickable<H>>;
    /// Removes rows in bulk: `out` is called with each whose label is listed (sorted).
    fn remove_all(&mut self, labels: &[Label], out: &mut dyn FnMut(u32, Box<dyn Tickable<H>>));
    /// Sorts the rows after insertions; the label of the first one.
    fn restore_order(&mut self) -> Option<Label>;
    /// The labels of all rows, in order.
    fn labels(&self) -> Vec<Label>;
    /// Whether the running pass has rows left to tick.
    fn is_unfinished(&self) -> bool;
}

pub(crate) struct Batch<T> {
    entries: Vec<Entry>,
    rows: Vec<T>,
    /// The row that ticks next, in the frame of this stamp.
    cursor: usize,
    frame: u64,
}

impl<T> Default for Batch<T> {
    fn default() -> Self {
        Batch {
            entries: Vec::new(),
            rows: Vec::new(),
            cursor: 0,
            frame: 0,
        }
    }
}

impl<T> Batch<T> {
    fn at(&self, label: Label) -> Option<usize> {
        self.entries.binary_search_by_key(&label, Entry::label).ok()
    }

    /// The hot loop.
    fn tick_rows<const PROFILE: bool, H: 'static>(&mut self, cx: &mut Cx<'_, H>)
    where
        T: Tickable<H>,
    {
        let inbox = Arc::clone(&cx.rt.inbox);
        let cursor = &mut self.cursor;
        let entries = self.entries.get(*cursor..).unwrap_or_default();
        let rows = self.rows.get_mut(*cursor..).unwrap_or_default();
        for (entry, row) in entries.iter().zip(rows) {
            *cursor += 1;
            if inbox.any_dropped() {
                cx.rt.mark_dropped();
            }
            let hot = &mut cx.rt.slots.hot[entry.slot as usize];
            if hot.flags & flag::TICKS == 0 {
                continue;
            }
            hot.ticks += 1;
            cx.rt.frame.ticks += 1;
            cx.scope.object = entry.slot;
            let started = if PROFILE { cx.rt.stopwatch_nanos() } else { 0 };
            row.tick(cx);
            if PROFILE {
                cx.rt.record_time(entry.slot, started);
            }
            if cx.rt.attention {
                break;
            }
        }
    }

    pub(crate) fn get(&self, label: Label) -> Option<&T> {
        self.at(label).and_then(|at| self.rows.get(at))
    }

    pub(crate) fn get_mut(&mut self, label: Label) -> Option<&mut T> {
        let at = self.at(label)?;
        self.rows.get_mut(at)
    }
}

impl<T: Tickable<H>, H: 'static> AnyBatch<H> for Batch<T> {
    fn insert(
        &mut self,
        object: Box<dyn Tickable<H>>,
        entry: Entry,
    ) -> Option<Box<dyn Tickable<H>>> {
        let any: Box<dyn Any> = object;
        // The registry puts an object only into the batch of its own type.
        let row = any.downcast::<T>().ok()?;
        self.entries.push(entry);
        self.rows.push(*row);
        None
    }

    fn row(&mut self, label: Label) -> Option<&mut dyn Tickable<H>> {
        self.get_mut(label).map(|row| row as &mut dyn Tickable<H>)
    }

    fn remove_all(&mut self, labels: &[Label], out: &mut dyn FnMut(u32, Box<dyn Tickable<H>>)) {
        let entries = &self.entries;
        let mut at = 0;
        let taken = self.rows.extract_if(.., |_| {
            at += 1;
            labels.binary_search(&entries[at - 1].label()).is_ok()
        });
        let taken: Vec<T> = taken.collect();
        let slots = self
            .entries
            .extract_if(.., |e| labels.binary_search(&e.label()).is_ok());
        for (entry, row) in slots.zip(taken) {
            out(entry.slot, Box::new(row));
        }
    }

    fn restore_order(&mut self) -> Option<Label> {
        if !self.entries.is_sorted() {
            let rows = self.entries.drain(..).zip(self.rows.drain(..));
            let mut rows: Vec<(Entry, T)> = rows.collect();
            rows.sort_by_key(|(entry, _)| *entry);
            (self.entries, self.rows) = rows.into_iter().unzip();
        }
        self.entries.first().map(Entry::label)
    }

    fn labels(&self) -> Vec<Label> {
        self.entries.iter().map(Entry::label).collect()
    }

    fn is_unfinished(&self) -> bool {
        self.cursor < self.rows.len()
    }
}

impl<T: Tickable<H>, H: 'static> Tickable<H> for Batch<T> {
    /// Ticks the rows that are left in this frame; returns early when something else must
    /// happen before the next object ticks.
    fn tick(&mut self, cx: &mut Cx<'_, H>) {
        let frame = cx.rt.frame.stamp();
        if self.frame != frame {
            self.frame = frame;
            self.cursor = 0;
        }
        let scope = cx.scope;
        if cx.rt.profiling() {
            self.tick_rows::<true, H>(cx);
        } else {
            self.tick_rows::<false, H>(cx);
        }
        cx.scope = scope;
    }

    fn name(&self) -> Cow<'static, str> {
        Cow::Borrowed("batch")
    }
}
