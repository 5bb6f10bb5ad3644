//! The table: what is known of each flow, beside what a turn touches. Nothing in here calls user
//! code.

use std::cell::Cell;
use std::collections::HashSet;
use std::panic::Location;
use std::rc::Rc;
use std::task::Waker;

use rustc_hash::FxHashMap;
use sc_core::{Cx, Life, Report, WorldId};
use smallvec::SmallVec;

use super::Finished;
use super::bits;
use super::board::Board;
use super::bonds::{Bond, Bonds};
use super::home::{Home, Readings, Registered};
use crate::finish::FlowFinish;
use crate::id::FlowId;
use crate::join::{self, Awaiters, Ending};
use crate::list::{FlowKind, Progress, WaitingFor};
use crate::reserve::Reservation;
use crate::watch::{Watch, Watched};

/// What every flow has.
pub(crate) struct Row<H: 'static> {
    /// The number of its start.
    pub(crate) start: u64,
    /// Its name, when it is a static one.
    pub(crate) name: &'static str,
    pub(crate) location: &'static Location<'static>,
    /// Since when it waits for what it waits for, on the runtime's clock (ns); see
    /// [`since`](Self::since).
    pub(crate) since: u64,
    pub(crate) home: Rc<Home<H>>,
    /// Where its [`Extra`] lies; `NONE` when it has none.
    extra: u32,
    pub(crate) kind: FlowKind,
    pub(crate) waiting_for: WaitingFor,
    pub(crate) watched: Watched,
    /// How it was asked to end while it had its turn.
    pub(crate) asked: Option<FlowFinish>,
}

impl<H> Row<H> {
    /// Since when the flow waits for what it waits for, on the runtime's clock (ns).
    pub(crate) fn since(&self, is_like: u16) -> u64 {
        let steps = is_like & (bits::NODE | bits::STEADY) == bits::STEADY;
        if steps && self.waiting_for != WaitingFor::Condition {
            self.home.stepped(is_like)
        } else {
            self.since
        }
    }
}

/// What only some flows have.
pub(crate) struct Extra<H: 'static> {
    /// Its name, when it was made for it.
    pub(crate) name: Option<String>,
    pub(crate) owner: Option<(Life, Bond)>,
    /// The life its condition belongs to.
    pub(crate) condition: Option<Bond>,
    /// Whether what it is bound to besides is still there.
    pub(crate) is_there: Option<IsThere<H>>,
    pub(crate) on_finished: Option<Finished<H>>,
    /// A node's sleep.
    pub(crate) sleep: Option<Registered>,
    /// Its own waker, once a poll has kept a clone of the shared one.
    pub(crate) waker: Option<Waker>,
    /// Paused by itself, since when on the runtime's clock (ns).
    pub(crate) paused: Option<u64>,
    /// What it then wants, of the turns that came while it was paused.
    pub(crate) missed: u16,
    /// From when it counts, if its first turn comes later than it was to.
    pub(crate) starts_from: Option<Readings>,
    /// It was reported for waking itself.
    pub(crate) cap_reported: bool,
    /// It was reported for awaiting what awaits it.
    pub(crate) circle_reported: bool,
    /// What the nodes that it awaits say.
    pub(crate) notes: SmallVec<[Note; 1]>,
    /// Whose ends it awaits, by their ids outside.
    pub(crate) awaits: SmallVec<[FlowId; 1]>,
    /// Where a task keeps how it ended.
    pub(crate) finish: Option<Rc<Cell<Option<FlowFinish>>>>,
    /// Who awaits its end.
    pub(crate) awaited_by: Awaiters,
    /// Its id outside, when that was reserved.
    pub(crate) reserved: Option<Reservation>,
}

/// What a node that a flow awaits waits for, and how far that has come.
#[derive(Clone, Copy)]
pub(crate) struct Note {
    /// The number of the node.
    pub(crate) by: u32,
    pub(crate) waiting_for: WaitingFor,
    pub(crate) progress: Progress,
    /// Since when it waits for that, on the runtime's clock (ns).
    pub(crate) since: u64,
}

pub(crate) type IsThere<H> = Rc<dyn Fn(&Cx<'_, H>) -> bool>;

impl<H> Extra<H> {
    /// Whether a turn has to look at it.
    pub(crate) fn is_slow(&self) -> bool {
        self.paused.is_some()
            || self.waker.is_some()
            || self.is_there.is_some()
            || self.starts_from.is_some()
    }

    /// Whether the end of a future that has it calls nobody, and drops nothing of the user's.
    fn is_quiet(&self) -> bool {
        self.on_finished.is_none()
            && self.awaited_by.is_empty()
            && self.is_there.is_none()
            && self.waker.is_none()
            && self.name.is_none()
    }

    /// The flow has ended: for those who look.
    pub(crate) fn note_end(&mut self, finish: FlowFinish) {
        if let Some(task) = self.finish.take() {
            task.set(Some(finish));
        }
        if let Some(reservation) = self.reserved.take() {
            reservation.ends(finish);
        }
    }

    /// What the flow `id` is called outside.
    pub(crate) fn id_outside(&self, id: FlowId) -> FlowId {
        self.reserved.as_ref().map_or(id, Reservation::id)
    }

    /// What lists show of what it awaits: a condition that may never be true, or the latest news.
    pub(crate) fn note(&self) -> Option<Note> {
        let is_open = |note: &&Note| note.waiting_for == WaitingFor::Condition;
        let open = self.notes.iter().find(is_open);
        open.or(self.notes.last()).copied()
    }

    /// Takes note of what the node `by` says; `None`: it waits no more.
    pub(crate) fn takes_note(&mut self, by: u32, note: Option<Note>) {
        let known = self.notes.iter().position(|known| known.by == by);
        match (known.and_then(|at| self.notes.get_mut(at)), note) {
            (Some(known), Some(note)) => {
                let goes_on = known.waiting_for == note.waiting_for;
                let since = if goes_on { known.since } else { note.since };
                *known = Note { since, ..note };
            }
            (Some(_), None) => self.notes.retain(|known| known.by != by),
            (None, Some(note)) => self.notes.push(note),
            (None, None) => {}
        }
    }
}

impl<H> Default for Extra<H> {
    fn default() -> Self {
        Extra {
            name: None,
            owner: None,
            condition: None,
            is_there: None,
            on_finished: None,
            sleep: None,
            waker: None,
            paused: None,
            missed: 0,
            starts_from: None,
            cap_reported: false,
            circle_reported: false,
            notes: SmallVec::new(),
            awaits: SmallVec::new(),
            finish: None,
            awaited_by: Vec::new(),
            reserved: None,
        }
    }
}

/// Flows that are looked at one after another, each once.
struct Walk {
    seen: HashSet<FlowId>,
    /// Those of them whose turn is still to come.
    left: Vec<FlowId>,
}

impl Walk {
    fn new(from: FlowId) -> Self {
        Walk {
            seen: HashSet::from([from]),
            left: vec![from],
        }
    }

    fn next(&mut self) -> Option<FlowId> {
        self.left.pop()
    }

    fn add(&mut self, flow: FlowId) {
        if self.seen.insert(flow) {
            self.left.push(flow);
        }
    }

    fn has(&self, flow: FlowId) -> bool {
        self.seen.contains(&flow)
    }

    fn is_over(&self) -> bool {
        self.left.is_empty()
    }
}

const NONE: u32 = u32::MAX;

pub(crate) struct Table<H: 'static> {
    rows: Vec<Option<Row<H>>>,
    free: Vec<u32>,
    extras: Vec<Extra<H>>,
    free_extras: Vec<u32>,
    started: u64,
    /// Live flows by their reserved ids.
    reserved: FxHashMap<FlowId, FlowId>,
    /// Who awaits flows that have not started, by their reserved ids.
    awaiting: FxHashMap<FlowId, Awaiters>,
    /// Reports of flows that could not make them themselves, with the world they are about.
    later: Vec<(Option<WorldId>, Report)>,
    pub(crate) bonds: Bonds,
    pub(crate) watch: Watch,
    /// Flows bound to something that has to be asked, and which of them is asked next.
    pub(crate) asked_in_turn: Vec<FlowId>,
    pub(crate) ask_next: usize,
    /// How many of them have ended.
    pub(crate) asked_ended: usize,
}

impl<H> Default for Table<H> {
    fn default() -> Self {
        Table {
            rows: Vec::new(),
            free: Vec::new(),
            extras: Vec::new(),
            free_extras: Vec::new(),
            started: 0,
            reserved: FxHashMap::default(),
            awaiting: FxHashMap::default(),
            later: Vec::new(),
            bonds: Bonds::default(),
            watch: Watch::default(),
            asked_in_turn: Vec::new(),
            ask_next: 0,
            asked_ended: 0,
        }
    }
}

impl<H> Table<H> {
    /// Takes a flow in; gives its slot and the number of its start.
    #[inline(always)]
    pub(crate) fn insert(
        &mut self,
        name: &'static str,
        location: &'static Location<'static>,
        home: Rc<Home<H>>,
        kind: FlowKind,
        waiting_for: WaitingFor,
        since: u64,
    ) -> (u32, u64) {
        self.started += 1;
        let index = match self.free.pop() {
            Some(index) => index,
            None => {
                self.rows.push(None);
                u32::try_from(self.rows.len() - 1).unwrap_or(NONE)
            }
        };
        if let Some(place) = self.rows.get_mut(index as usize) {
            *place = Some(Row {
                start: self.started,
                name,
                location,
                since,
                home,
                extra: NONE,
                kind,
                waiting_for,
                watched: Watched::No,
                asked: None,
            });
        }
        (index, self.started)
    }

    /// Takes a flow out, with what it had besides.
    pub(crate) fn remove(&mut self, index: u32) -> Option<(Row<H>, Option<Extra<H>>)> {
        let row = self.rows.get_mut(index as usize)?.take()?;
        self.watch.ends(row.watched);
        self.release(index);
        let extra = self.take_extra(row.extra);
        Some((row, extra))
    }

    /// Takes out a flow that has completed, if nobody has to be told of it; its slot is to be
    /// [released](Self::release). Its name.
    #[inline(always)]
    pub(crate) fn take_quiet(&mut self, index: u32) -> Option<&'static str> {
        let place = self.rows.get_mut(index as usize)?;
        let row = place.as_ref()?;
        let extra = row.extra;
        if extra != NONE && !self.extras.get(extra as usize)?.is_quiet() {
            return None;
        }
        row.home.leave();
        self.watch.ends(row.watched);
        let name = row.name;
        *place = None;
        if extra != NONE
            && let Some(mut extra) = self.take_extra(extra)
        {
            extra.note_end(FlowFinish::Completed);
        }
        Some(name)
    }

    /// Makes a report where a `Cx` is at hand: see [`make_reports`](super::end::make_reports).
    pub(crate) fn report_later(&mut self, world: Option<WorldId>, report: Report) {
        self.later.push((world, report));
    }

    /// The reports that are to be made.
    pub(crate) fn take_reports(&mut self) -> Vec<(Option<WorldId>, Report)> {
        std::mem::take(&mut self.later)
    }

    /// A slot is free.
    pub(crate) fn release(&mut self, index: u32) {
        self.free.push(index);
    }

    /// Asks a flow in turn from now on. Those that have ended are cleared away when they are most.
    pub(crate) fn ask_in_turn(&mut self, board: &Board<H>, flow: FlowId) {
        if self.asked_ended > 64.max(self.asked_in_turn.len() / 2) {
            self.asked_in_turn.retain(|&flow| board.is_live(flow));
            (self.ask_next, self.asked_ended) = (0, 0);
        }
        self.asked_in_turn.push(flow);
    }

    /// The home of a live flow.
    pub(crate) fn home(&self, board: &Board<H>, id: FlowId) -> Option<Rc<Home<H>>> {
        let row = self.row(id.index).filter(|_| board.is_live(id))?;
        Some(Rc::clone(&row.home))
    }

    pub(crate) fn row(&self, index: u32) -> Option<&Row<H>> {
        self.rows.get(index as usize)?.as_ref()
    }

    pub(crate) fn row_mut(&mut self, index: u32) -> Option<&mut Row<H>> {
        self.rows.get_mut(index as usize)?.as_mut()
    }

    /// What a flow has besides, if anything.
    pub(crate) fn extra(&self, row: &Row<H>) -> Option<&Extra<H>> {
        self.extras.get(row.extra as usize)
    }

    pub(crate) fn extra_of(&mut self, index: u32) -> Option<&mut Extra<H>> {
        let extra = self.row(index)?.extra;
        self.extras.get_mut(extra as usize)
    }

    /// What a flow has besides; it has it from now on.
    pub(crate) fn extra_or_new(&mut self, index: u32) -> Option<&mut Extra<H>> {
        let row = self.rows.get_mut(index as usize)?.as_mut()?;
        if row.extra == NONE {
            row.extra = match self.free_extras.pop() {
                Some(extra) => extra,
                None => {
                    self.extras.push(Extra::default());
                    u32::try_from(self.extras.len() - 1).unwrap_or(NONE)
                }
            };
        }
        self.extras.get_mut(row.extra as usize)
    }

    /// The id of a live flow in its slot, by its id outside. One that is none, unchanged, names no slot's flow.
    #[inline]
    pub(crate) fn resolve(&self, id: FlowId) -> FlowId {
        if id.is_reserved() {
            self.reserved.get(&id).copied().unwrap_or(id)
        } else {
            id
        }
    }

    /// A flow starts with a reserved id; gives who awaits it.
    pub(crate) fn starts_reserved(&mut self, reserved: FlowId, flow: FlowId) -> Awaiters {
        self.reserved.insert(reserved, flow);
        self.take_awaiting(reserved)
    }

    /// A flow that has not started is awaited.
    pub(crate) fn awaits_start(&mut self, reserved: FlowId, ending: &Rc<Ending>) {
        join::add(self.awaiting.entry(reserved).or_default(), ending);
    }

    /// Who awaits a flow that has not started.
    pub(crate) fn take_awaiting(&mut self, reserved: FlowId) -> Awaiters {
        self.awaiting.remove(&reserved).unwrap_or_default()
    }

    /// Takes out what a flow had besides, and lets go of what it was bound to.
    fn take_extra(&mut self, index: u32) -> Option<Extra<H>> {
        let extra = std::mem::take(self.extras.get_mut(index as usize)?);
        self.free_extras.push(index);
        self.asked_ended += usize::from(extra.is_there.is_some());
        if let Some(reservation) = &extra.reserved {
            self.reserved.remove(&reservation.id());
        }
        let bonds = extra.owner.map(|(_, bond)| bond);
        for bond in bonds.into_iter().chain(extra.condition) {
            self.bonds.remove(bond);
        }
        Some(extra)
    }

    /// A flow waits for something from now on, if it did not before.
    pub(crate) fn waits_for(&mut self, flow: FlowId, waiting_for: WaitingFor, now: u64) {
        let before = self.row(flow.index).map(|row| row.waiting_for);
        if before != Some(waiting_for) {
            self.waits_for_since(flow, waiting_for, now);
        }
    }

    /// A flow waits for something since a moment.
    pub(crate) fn waits_for_since(&mut self, flow: FlowId, waiting_for: WaitingFor, since: u64) {
        if let Some(row) = self.row_mut(flow.index)
            && (row.waiting_for, row.since) != (waiting_for, since)
        {
            row.waiting_for = waiting_for;
            row.since = since;
            self.watch(flow, waiting_for, since);
        }
    }

    /// Watches a flow, if what it waits for is watched.
    pub(crate) fn watch(&mut self, flow: FlowId, waiting_for: WaitingFor, since: u64) {
        if let Some(Some(row)) = self.rows.get_mut(flow.index as usize) {
            let (start, watched) = (row.start, &mut row.watched);
            self.watch
                .begins_to_wait(flow, start, watched, waiting_for, since);
            let rows = &self.rows;
            self.watch.forget_ended(|flow, start| {
                let row = rows.get(flow.index as usize).and_then(Option::as_ref);
                row.is_some_and(|row| row.start == start)
            });
        }
    }

    /// Whether a flow awaits the end of another, itself or by way of what it awaits. Looks from both ends
    /// by turns, until one of them leads no further.
    pub(crate) fn awaits(&self, flow: FlowId, other: FlowId) -> bool {
        let flow = self.resolve(flow);
        let extra = |one: FlowId| self.extra(self.row(one.index)?);
        // Mostly one of the two leads nowhere at once.
        if extra(flow).is_none_or(|extra| extra.awaits.is_empty())
            || extra(other).is_none_or(|extra| extra.awaited_by.is_empty())
        {
            return false;
        }
        let (mut down, mut up) = (Walk::new(flow), Walk::new(other));
        loop {
            let Some(one) = down.next() else {
                return false;
            };
            let awaits = extra(one).into_iter().flat_map(|extra| &extra.awaits);
            awaits.for_each(|&awaited| down.add(self.resolve(awaited)));
            if down.has(other) {
                return true;
            }
            if down.is_over() {
                return false;
            }
            let Some(one) = up.next() else {
                return false;
            };
            let awaited_by = extra(one).into_iter().flat_map(|extra| &extra.awaited_by);
            let awaiters = awaited_by.filter(|ending| ending.is_awaited());
            awaiters.for_each(|ending| up.add(ending.by));
            if up.has(flow) {
                return true;
            }
        }
    }

    pub(crate) fn set_watched(&mut self, index: u32, watched: Watched) {
        if let Some(row) = self.row_mut(index) {
            row.watched = watched;
        }
    }

    /// Whether a flow has a name.
    pub(crate) fn is_named(&self, row: &Row<H>, name: &str) -> bool {
        let made = self.extra(row).and_then(|extra| extra.name.as_deref());
        made.unwrap_or(row.name) == name
    }

    pub(crate) fn name(&self, index: u32) -> String {
        let Some(row) = self.row(index) else {
            return String::new();
        };
        let made = self.extra(row).and_then(|extra| extra.name.clone());
        made.unwrap_or_else(|| row.name.to_owned())
    }

    /// The slots of every flow that satisfies a condition, in order of start.
    pub(crate) fn slots_where(&self, is: impl Fn(&Row<H>) -> bool) -> Vec<u32> {
        let rows = (0..).zip(&self.rows);
        let live = rows.filter_map(|(index, row)| Some((index, row.as_ref()?)));
        let mut found: Vec<(u64, u32)> = live
            .filter(|(_, row)| is(row))
            .map(|(index, row)| (row.start, index))
            .collect();
        found.sort_unstable();
        found.into_iter().map(|(_, index)| index).collect()
    }
}
