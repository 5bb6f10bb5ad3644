//! Those that run every frame: one list in order of start, and how flows come into it.

use super::bits;
use super::board::{Slot, Slots};
use super::home::{Home, Readings};
use super::turn::{Queue, Stopped, Turned};
use crate::id::FlowId;

/// An entry of the list.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Turn {
    start: u64,
    flow: FlowId,
}

/// One that is about to be listed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Joining {
    turn: Turn,
    /// The frame of its first turn.
    from: u64,
}

/// From when flows count that have their first turn in a frame.
pub(super) struct FirstFrame {
    frame: u64,
    /// The clocks' readings (ns) at their start.
    readings: Readings,
}

impl<H> Home<H> {
    /// A flow wants turns in the frames that `wanted` says, the first one in frame `from` at the
    /// earliest.
    pub(crate) fn want(&self, flow: FlowId, slot: &Slot<H>, wanted: u16, from: u64) {
        slot.set(wanted);
        if slot.has(bits::LISTED) {
            return;
        }
        let joining = &mut *self.joining.borrow_mut();
        if !slot.has(bits::JOINING) {
            slot.set(bits::JOINING);
            let table = self.board.table.borrow();
            let start = table.row(flow.index).map_or(0, |row| row.start);
            let turn = Turn { start, flow };
            joining.push(Joining { turn, from });
        } else if from <= self.frame.get()
            && let Some(known) = joining.iter_mut().find(|j| j.turn.flow == flow)
        {
            known.from = known.from.min(from);
        }
    }

    /// As [`want`](Self::want), for a flow that has just been started.
    pub(crate) fn join(
        &self,
        flow: FlowId,
        slot: &Slot<H>,
        start: u64,
        from: u64,
        readings: impl FnOnce() -> Readings,
    ) {
        let first_frames = &mut *self.first_frames.borrow_mut();
        if first_frames.last().is_none_or(|first| first.frame != from) {
            first_frames.push(FirstFrame {
                frame: from,
                readings: readings(),
            });
        }
        slot.set(bits::wants(slot.clock()) | bits::JOINING);
        let turn = Turn { start, flow };
        self.joining.borrow_mut().push(Joining { turn, from });
    }

    /// Takes out the list of those that run every frame, in order of start.
    pub(super) fn take_list<'h>(&'h self, slots: &mut Slots<H>) -> List<'h, H> {
        let mut every = self.every.take();
        let joining = &mut *self.joining.borrow_mut();
        if !joining.is_empty() {
            let frame = self.frame.get();
            let first_frames = &mut *self.first_frames.borrow_mut();
            let runnable = self.runnable();
            let mut arrived = self.arrived.take();
            joining.retain(|Joining { turn, from }| {
                let Some(slot) = slots.get(turn.flow) else {
                    return false;
                };
                if *from > frame {
                    return true;
                }
                slot.clear(bits::JOINING);
                slot.set(bits::LISTED);
                if *from < frame
                    && let Some(first) = first_frames.iter().find(|first| first.frame == *from)
                {
                    // The stage of its first frame did not come so far.
                    self.put_off_from(turn.flow, slot, first.readings);
                } else if !slot.has(runnable) {
                    self.put_off(turn.flow, slot);
                }
                arrived.push(*turn);
                false
            });
            first_frames.retain(|first| first.frame > frame);
            give_back(joining);
            merge(&mut every, &mut arrived);
            give_back(&mut arrived);
            self.arrived.set(arrived);
        }
        List {
            home: self,
            every,
            at: 0,
            gone_from: usize::MAX,
        }
    }
}

/// The list of those that run every frame, taken out while they run. Goes back when it is dropped,
/// without those that want no frame any more.
pub(super) struct List<'h, H: 'static> {
    home: &'h Home<H>,
    every: Vec<Turn>,
    /// The next one to look at.
    at: usize,
    /// The first that wants no frame any more, or has ended: before it, nobody is looked for.
    gone_from: usize,
}

impl<H> List<'_, H> {
    /// The one at `at` wants no frame any more, or has ended.
    #[inline(always)]
    fn note_gone(&mut self) {
        self.gone_from = self.gone_from.min(self.at);
    }
}

impl<H> Queue<H> for List<'_, H> {
    const ON_TIME: bool = true;

    fn next(&mut self, slots: &mut Slots<H>) -> Option<FlowId> {
        let runnable = self.home.runnable();
        loop {
            let flow = self.every.get(self.at)?.flow;
            match slots.get(flow) {
                Some(slot) if slot.has(runnable) => return Some(flow),
                Some(_) => {}
                None => self.note_gone(),
            }
            self.at += 1;
        }
    }

    fn take(&mut self, slots: &mut Slots<H>) {
        let runnable = self.home.runnable();
        if let Some(turn) = self.every.get(self.at)
            && let Some(slot) = slots.get(turn.flow)
        {
            slot.clear(runnable);
        }
    }

    /// It stays when it wants another turn.
    fn passed(&mut self, slots: &mut Slots<H>) {
        let Some(turn) = self.every.get(self.at) else {
            return;
        };
        match slots.get(turn.flow) {
            Some(slot) if slot.has(bits::WANTS) => {}
            gone => {
                self.note_gone();
                if let Some(slot) = gone {
                    slot.clear(bits::LISTED);
                }
            }
        }
        self.at += 1;
    }

    /// The same as `next`, `take` and `passed`, with one look at each slot.
    #[inline(always)]
    fn run(
        &mut self,
        slots: &mut Slots<H>,
        is_here: impl Fn(u16) -> bool,
        mut turn: impl FnMut(FlowId, &Slot<H>, u16) -> Turned,
    ) -> Stopped {
        let runnable = self.home.runnable();
        let (every, mut at) = (self.every.as_slice(), self.at);
        while let Some(listed) = every.get(at) {
            // Also when a turn panics.
            self.at = at;
            let flow = listed.flow;
            let Some(slot) = slots.get(flow) else {
                self.gone_from = self.gone_from.min(at);
                at += 1;
                continue;
            };
            let is_like = slot.bits.get();
            if is_like & runnable == 0 {
                at += 1;
                continue;
            }
            if !is_here(is_like) {
                return Stopped::NotHere;
            }
            let is_like = is_like & !runnable;
            slot.bits.set(is_like);
            match turn(flow, slot, is_like) {
                Turned::Stays => {}
                Turned::Goes => {
                    if !slot.has(bits::WANTS) {
                        slot.clear(bits::LISTED);
                        self.gone_from = self.gone_from.min(at);
                    }
                }
                Turned::Ended => self.gone_from = self.gone_from.min(at),
                Turned::More => return Stopped::More(flow),
            }
            at += 1;
        }
        self.at = at;
        Stopped::End
    }
}

/// Moves those that have arrived to their places in a list that is in order. Only what stands behind
/// the first of them is touched.
fn merge(every: &mut Vec<Turn>, arrived: &mut Vec<Turn>) {
    arrived.sort_unstable();
    if every.last() < arrived.first() {
        // They have all started later.
        return every.append(arrived);
    }
    let mut old = every.len();
    every.extend_from_slice(arrived);
    let mut place = every.len();
    while let Some(&last) = arrived.last() {
        place -= 1;
        if old > 0 && every[old - 1] > last {
            old -= 1;
            every[place] = every[old];
        } else {
            every[place] = last;
            arrived.pop();
        }
    }
}

/// Gives back most of the memory that a burst of flows has left in a list.
fn give_back<T>(list: &mut Vec<T>) {
    const KEPT: usize = 1024;
    if list.capacity() > KEPT.max(list.len().saturating_mul(4)) {
        list.shrink_to(KEPT.max(list.len() * 2));
    }
}

impl<H> Drop for List<'_, H> {
    fn drop(&mut self) {
        let mut every = std::mem::take(&mut self.every);
        if self.at < every.len() {
            // A panic goes on: no turn comes to the rest in this frame.
            let mut slots = Slots::new(&self.home.board);
            for turn in every.iter().skip(self.at) {
                if let Some(slot) = slots.get(turn.flow) {
                    self.home.put_off(turn.flow, slot);
                }
            }
        }
        if self.gone_from < every.len() {
            let mut slots = Slots::new(&self.home.board);
            let gone = every.extract_if(self.gone_from.., |turn| {
                let slot = slots.get(turn.flow);
                !slot.is_some_and(|slot| slot.has(bits::LISTED))
            });
            gone.for_each(drop);
            give_back(&mut every);
        }
        self.home.every.set(every);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turns(starts: &[u64]) -> Vec<Turn> {
        let turn = |&start: &u64| Turn {
            start,
            flow: FlowId::NOBODY,
        };
        starts.iter().map(turn).collect()
    }

    fn merged(every: &[u64], arrived: &[u64]) -> Vec<u64> {
        let (mut every, mut arrived) = (turns(every), turns(arrived));
        merge(&mut every, &mut arrived);
        assert!(arrived.is_empty());
        every.iter().map(|turn| turn.start).collect()
    }

    #[test]
    fn who_arrives_comes_to_its_place_by_start() {
        assert_eq!(merged(&[], &[]), [0; 0]);
        assert_eq!(merged(&[], &[3, 1, 2]), [1, 2, 3]);
        assert_eq!(merged(&[2, 5], &[]), [2, 5]);
        assert_eq!(merged(&[2, 5], &[7, 6]), [2, 5, 6, 7]);
        assert_eq!(merged(&[2, 5, 9], &[1]), [1, 2, 5, 9]);
        assert_eq!(merged(&[2, 5, 9], &[10, 3, 1, 7]), [1, 2, 3, 5, 7, 9, 10]);
    }
}
