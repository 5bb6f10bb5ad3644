//! For each: over indices or any iterator, with a delay between iterations or so many a tick.

use std::iter::Peekable;
use std::ops::Range;
use std::panic::Location;
use std::rc::Rc;
use std::time::Duration;

use sc_core::{Cx, Report, ReportKind, Secs, TimeError, secs};

use super::options::flow_options;
use super::{Next, Node};
use crate::error::FlowError;
use crate::executor::board;
use crate::executor::end::{is_ending, request};
use crate::executor::start::{Options, start_node};
use crate::finish::{FlowFinish, Step};
use crate::id::FlowId;
use crate::list::{FlowKind, Progress, WaitingFor};
use crate::reports;
use crate::span::span;

/// When the batches of a loop run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ForEachCore {
    /// Between batches, in nanoseconds; 0 = every tick.
    delay: u64,
    pub(crate) items_per_tick: u64,
    /// The reading at which the delay began to count, the carry of a hitch taken off.
    base: u64,
    /// Whether the next batch is the first one, which waits for no delay.
    at_once: bool,
    parked_at: Option<u64>,
}

impl ForEachCore {
    pub(crate) fn new(delay: u64, items_per_tick: i64, before_first: bool, start: u64) -> Self {
        ForEachCore {
            delay,
            items_per_tick: u64::try_from(items_per_tick).unwrap_or(0).max(1),
            base: start,
            at_once: !before_first,
            parked_at: None,
        }
    }

    /// Whether a batch runs now. One batch for a hitch over several delays; the part below one
    /// delay carries over.
    pub(crate) fn begins_batch(&mut self, now: u64) -> bool {
        if self.parked_at.is_some() {
            return false;
        }
        let gone = now.saturating_sub(self.base);
        if self.at_once {
            self.at_once = false;
            self.base = now;
            return true;
        }
        if gone < self.delay {
            return false;
        }
        self.base = now - gone.checked_rem(self.delay).unwrap_or(0);
        true
    }

    /// What the loop waits for.
    pub(crate) fn next(&self) -> Next {
        match self.parked_at {
            Some(_) => Next::Parked,
            None if self.delay == 0 || self.at_once => Next::Frame,
            None => Next::At(self.base.saturating_add(self.delay)),
        }
    }

    pub(crate) fn park(&mut self, now: u64) {
        self.parked_at = Some(now);
    }

    /// The delay goes on where it stood; `false` when the loop was not parked.
    pub(crate) fn unpark(&mut self, now: u64) -> bool {
        let Some(parked_at) = self.parked_at.take() else {
            return false;
        };
        self.base = self.base.saturating_add(now.saturating_sub(parked_at));
        true
    }
}

/// A loop that takes its time: a node with callbacks.
///
/// - The first index comes on the first tick, unless [`delay_before_first`](Self::delay_before_first).
/// - The delay counts between iterations; 0 or less means the next tick. A hitch over several delays
///   runs *one* batch, and the part below one delay carries over. There is no delay after the
///   last: completed follows at once.
/// - A body that says [`Step::Suspend`] parks the loop until
///   [`continue_loop`](crate::FlowExt::continue_loop), and ends the current batch; the delay stands still
///   meanwhile.
///
/// ```
/// use sc_core::{Runtime, WorldKind, secs};
/// use sc_flow::{FlowFinish, ForEach, Step};
/// #[derive(Default)]
/// struct Game { spawned: Vec<usize>, over: bool }
/// let (mut rt, mut game) = (Runtime::new(), Game::default());
/// let mut cx = rt.cx(&mut game);
/// let level = cx.create_world(WorldKind::Game)?;
/// ForEach::index(3)
///     .delay(secs(0.25))
///     .each(|cx: &mut sc_core::Cx<'_, Game>, i| { cx.host_mut().spawned.push(i); Step::Continue })
///     .completed(|cx, finish| cx.host_mut().over = finish == FlowFinish::Completed)
///     .world(level)
///     .start(&mut cx)?;
/// for _ in 0..3 { rt.tick_secs(&mut game, 0.25)?; }
/// assert_eq!((game.spawned, game.over), (vec![0, 1, 2], true));
/// # Ok::<(), sc_flow::FlowError>(())
/// ```
#[must_use = "nothing happens until it is started"]
pub struct ForEach<H: 'static, I: Iterator, F = ()> {
    items: I,
    delay: Secs,
    before_first: bool,
    items_per_tick: i64,
    budget: Option<Secs>,
    each: F,
    completed: Option<crate::executor::Finished<H>>,
    options: Options<H>,
}

impl<H> ForEach<H, Range<usize>> {
    /// Over the indices from 0 below `count`; zero or less completes during the start.
    pub fn index(count: i64) -> Self {
        Self::items(0..usize::try_from(count).unwrap_or(0))
    }
}

impl<H, I: Iterator> ForEach<H, I> {
    /// Over the items of any iterator.
    ///
    /// ```
    /// # use sc_core::{Clock, Cx, Owner, Runtime, Tickable, WorldKind, secs};
    /// # use sc_flow::*;
    /// # let (mut rt, mut log) = (Runtime::<Vec<u32>>::new(), Vec::new());
    /// # let mut cx = rt.cx(&mut log);
    /// # let level = cx.create_world(WorldKind::Game)?;
    /// ForEach::items([5, 6, 7, 8])
    ///     .items_per_tick(3)
    ///     .each(|cx: &mut Cx<'_, Vec<u32>>, item| cx.host_mut().push(item))
    ///     .world(level)
    ///     .start(&mut cx)?;
    /// for _ in 0..1 { rt.tick_secs(&mut log, 0.25)?; }
    /// assert_eq!(log, [5, 6, 7]);
    /// # Ok::<(), FlowError>(())
    /// ```
    pub fn items(items: impl IntoIterator<IntoIter = I>) -> Self {
        ForEach {
            items: items.into_iter(),
            delay: secs(0),
            before_first: false,
            items_per_tick: 1,
            budget: None,
            each: (),
            completed: None,
            options: Options::new("for each"),
        }
    }

    /// What is done with each item. `()` counts as [`Step::Continue`].
    pub fn each<R: Into<Step>, F: FnMut(&mut Cx<'_, H>, I::Item) -> R>(
        self,
        each: F,
    ) -> ForEach<H, I, F> {
        ForEach {
            items: self.items,
            delay: self.delay,
            before_first: self.before_first,
            items_per_tick: self.items_per_tick,
            budget: self.budget,
            each,
            completed: self.completed,
            options: self.options,
        }
    }
}

impl<H, I: Iterator, F> ForEach<H, I, F> {
    flow_options!();

    /// Time between iterations; 0 or less = every tick, the default.
    pub fn delay(mut self, delay: impl Into<Secs>) -> Self {
        self.delay = delay.into();
        self
    }

    /// Waits one delay before the first iteration too.
    pub fn delay_before_first(mut self, wait: bool) -> Self {
        self.before_first = wait;
        self
    }

    /// How many items a batch has; below 1 counts as 1, the default.
    pub fn items_per_tick(mut self, items: i64) -> Self {
        self.items_per_tick = items;
        self
    }

    /// Goes on with a batch for so long, by the runtime's stopwatch; at least one item runs. Without a
    /// stopwatch, one item a batch.
    pub fn budget(mut self, budget: impl Into<Secs>) -> Self {
        self.budget = Some(budget.into());
        self
    }

    /// The gameplay callback: told when the loop has ended, and why. Not told when it is aborted
    /// or has panicked.
    pub fn completed(mut self, tell: impl FnOnce(&mut Cx<'_, H>, FlowFinish) + 'static) -> Self {
        self.completed = Some(Box::new(tell));
        self
    }
}

impl<H, I, F, R> ForEach<H, I, F>
where
    I: Iterator + 'static,
    I::Item: 'static,
    F: FnMut(&mut Cx<'_, H>, I::Item) -> R + 'static,
    R: Into<Step>,
{
    /// Starts it: its first batch comes on the next frame's tick. A loop over nothing completes in
    /// this call, and its id is stale then.
    ///
    /// # Errors
    /// [`FlowError::BadTime`], [`FlowError::NoLiveWorld`] with a report, [`FlowError::NoOwner`].
    /// `on_finished` has heard `Aborted` then.
    #[track_caller]
    pub fn start(mut self, cx: &mut Cx<'_, H>) -> Result<FlowId, FlowError> {
        let location = Location::caller();
        let times = || -> Result<(u64, Option<u64>), TimeError> {
            let budget = self.budget.map(span).transpose()?;
            Ok((span(self.delay)?, budget))
        };
        let (delay, budget) = match times() {
            Ok(times) => times,
            Err(error) => return Err(self.options.refuse(cx, error.into())),
        };
        let binding = match self.options.bind(cx) {
            Ok(binding) => binding,
            Err(error) => return Err(self.options.refuse(cx, error)),
        };
        let of = match self.items.size_hint() {
            (low, Some(high)) if low == high => u64::try_from(high).ok(),
            _ => None,
        };
        let now = binding.now(cx, &self.options);
        let core = ForEachCore::new(delay, self.items_per_tick, self.before_first, now);
        let first = if self.before_first {
            core.next()
        } else {
            Next::Frame
        };
        let mut node = ForEachNode {
            core,
            items: self.items.peekable(),
            each: self.each,
            completed: self.completed,
            budget,
            budget_reported: false,
            name: self.options.name.clone().into_owned(),
            done: 0,
            of,
        };
        let is_empty = node.items.peek().is_none();
        let board = Rc::clone(&binding.home.board);
        let kind = FlowKind::ForEach;
        let id = start_node(cx, &mut self.options, binding, kind, location, first, node);
        if is_empty {
            request(cx, &board, id, FlowFinish::Completed);
        }
        Ok(id)
    }
}

struct ForEachNode<H: 'static, I: Iterator, F> {
    core: ForEachCore,
    items: Peekable<I>,
    each: F,
    completed: Option<crate::executor::Finished<H>>,
    budget: Option<u64>,
    budget_reported: bool,
    name: String,
    done: u64,
    of: Option<u64>,
}

impl<H, I, F, R> Node<H> for ForEachNode<H, I, F>
where
    I: Iterator,
    F: FnMut(&mut Cx<'_, H>, I::Item) -> R,
    R: Into<Step>,
{
    fn turn(&mut self, cx: &mut Cx<'_, H>, now: u64) -> Next {
        if !self.core.begins_batch(now) {
            return self.core.next();
        }
        let board = board(cx);
        let started = self.budget.map(|budget| (budget, cx.stopwatch()));
        let mut in_batch = 0;
        loop {
            let Some(item) = self.items.next() else {
                return Next::End(FlowFinish::Completed);
            };
            self.done += 1;
            in_batch += 1;
            board.continued.set(false);
            let step = (self.each)(cx, item).into();
            let continued = board.continued.take();
            let is_last = self.items.peek().is_none();
            match step {
                Step::Break => return Next::End(FlowFinish::Broken),
                Step::Suspend if !continued => {
                    self.core.park(now);
                    return Next::Parked;
                }
                _ if is_last => return Next::End(FlowFinish::Completed),
                Step::Suspend => return self.core.next(),
                Step::Continue => {}
            }
            let goes_on = match started {
                None => in_batch < self.core.items_per_tick,
                Some((budget, Some(started))) => {
                    let spent = cx.stopwatch().unwrap_or(Duration::MAX) - started;
                    spent.as_nanos() < u128::from(budget)
                }
                Some((_, None)) => {
                    if !self.budget_reported {
                        self.budget_reported = true;
                        let kind = ReportKind::Extension(&reports::BUDGET_WITHOUT_STOPWATCH);
                        let what =
                            "has a time budget, and the runtime no stopwatch: one item a batch";
                        cx.report(Report::new(kind, what).object(self.name.clone()));
                    }
                    false
                }
            };
            if !goes_on || is_ending(cx) {
                return self.core.next();
            }
        }
    }

    fn finished(&mut self, cx: &mut Cx<'_, H>, finish: FlowFinish) {
        if let Some(tell) = self.completed.take() {
            tell(cx, finish);
        }
    }

    fn continue_loop(&mut self, now: u64) -> Option<Next> {
        if !self.core.unpark(now) {
            return None;
        }
        Some(match self.items.peek() {
            Some(_) => self.core.next(),
            None => Next::End(FlowFinish::Completed),
        })
    }

    fn progress(&self) -> Progress {
        Progress::Index {
            next: self.done,
            of: self.of,
        }
    }

    fn waiting_for(&self) -> WaitingFor {
        match self.core.next() {
            Next::Parked => WaitingFor::Continue,
            Next::At(_) => WaitingFor::Time,
            _ => WaitingFor::NextFrame,
        }
    }
}
