//! For each: over indices or any iterator, with a delay between iterations or so many a tick.

use std::borrow::Cow;
use std::cell::Cell;
use std::iter::Peekable;
use std::ops::Range;
use std::panic::Location;
use std::rc::Rc;
use std::time::Duration;

use sc_core::{Cx, Report, ReportKind, Secs, TimeError, secs};

use super::options::{flow_options, loop_options};
use super::{Next, Node};
use crate::error::FlowError;
use crate::executor::board;
use crate::executor::end::{is_running_node_ending, request};
use crate::executor::start::{Options, start_node};
use crate::finish::{FlowFinish, Step};
use crate::id::FlowId;
use crate::list::{FlowKind, Progress, WaitingFor};
use crate::reports;
use crate::span::span;

/// How much of a loop one batch runs.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Portion {
    /// So many items.
    Items(u64),
    /// For so long (ns) by the stopwatch.
    Time(u64),
}

/// When a loop runs, and how much at a time: what both forms can be told.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) delay: Secs,
    pub(crate) before_first: bool,
    pub(crate) items_per_tick: i64,
    pub(crate) budget: Option<Secs>,
}

impl Plan {
    /// One item every tick.
    pub(crate) fn new() -> Self {
        Plan {
            delay: secs(0),
            before_first: false,
            items_per_tick: 1,
            budget: None,
        }
    }
}

/// When the batches of a loop run, and how far each goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ForEachCore {
    /// Between batches, in nanoseconds; 0 = every tick.
    delay: u64,
    portion: Portion,
    /// The reading at which the delay began to count, the carry of a hitch taken off.
    base: u64,
    /// Whether the next batch is the first one, which waits for no delay.
    at_once: bool,
    parked_at: Option<u64>,
    /// Of the present batch: items so far, and the stopwatch when it began.
    in_batch: u64,
    batch_began: Option<Duration>,
    budget_reported: bool,
}

impl ForEachCore {
    /// # Errors
    /// [`TimeError`] for a delay or a budget that is no usable time.
    pub(crate) fn new(plan: &Plan) -> Result<Self, TimeError> {
        let items = u64::try_from(plan.items_per_tick).unwrap_or(0).max(1);
        let budget = plan.budget.map(span).transpose()?;
        Ok(ForEachCore {
            delay: span(plan.delay)?,
            portion: budget.map_or(Portion::Items(items), Portion::Time),
            base: 0,
            at_once: !plan.before_first,
            parked_at: None,
            in_batch: 0,
            batch_began: None,
            budget_reported: false,
        })
    }

    /// The loop starts at a reading of its clock.
    pub(crate) fn starts(&mut self, now: u64) {
        self.base = now;
    }

    /// A batch begins now.
    pub(crate) fn begin<H>(&mut self, cx: &Cx<'_, H>) {
        self.in_batch = 0;
        if let Portion::Time(_) = self.portion {
            self.batch_began = cx.stopwatch();
        }
    }

    /// Whether the batch goes on after one more item. `name`: of the flow, for the report.
    pub(crate) fn goes_on<H>(&mut self, cx: &mut Cx<'_, H>, name: impl FnOnce() -> String) -> bool {
        self.in_batch += 1;
        let budget = match self.portion {
            Portion::Items(items) => return self.in_batch < items,
            Portion::Time(budget) => budget,
        };
        if let (Some(began), Some(now)) = (self.batch_began, cx.stopwatch()) {
            return now.saturating_sub(began).as_nanos() < u128::from(budget);
        }
        if !self.budget_reported {
            self.budget_reported = true;
            let name = name();
            let kind = ReportKind::Extension(&reports::BUDGET_WITHOUT_STOPWATCH);
            let what = "has a time budget, and the runtime no stopwatch: one item a batch";
            cx.report(Report::new(kind, what).object(name));
        }
        false
    }

    pub(crate) fn waits_every_tick(&self) -> bool {
        self.delay == 0
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

    pub(crate) fn waiting_for(&self) -> WaitingFor {
        match self.next() {
            Next::Parked => WaitingFor::Continue,
            Next::At(_) => WaitingFor::Time,
            _ => WaitingFor::NextFrame,
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
    plan: Plan,
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
            plan: Plan::new(),
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
            plan: self.plan,
            each,
            completed: self.completed,
            options: self.options,
        }
    }
}

impl<H, I: Iterator, F> ForEach<H, I, F> {
    flow_options!();

    loop_options!();

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
    /// [`FlowError::BadTime`], [`FlowError::NoLiveWorld`] with a report, [`FlowError::ShutDown`],
    /// [`FlowError::NoOwner`]: `on_finished` has heard `Aborted` then. [`FlowError::Panicked`] when the first
    /// item or the question of [`bound_while`](Self::bound_while) panics in this call, and the policy does
    /// not raise that: it has heard `Panicked`.
    #[track_caller]
    pub fn start(mut self, cx: &mut Cx<'_, H>) -> Result<FlowId, FlowError> {
        let location = Location::caller();
        let mut core = match ForEachCore::new(&self.plan) {
            Ok(core) => core,
            Err(error) => return Err(self.options.refuse(cx, error)),
        };
        let binding = match self.options.bind(cx) {
            Ok(binding) => binding,
            Err(error) => return Err(self.options.refuse(cx, error)),
        };
        let mut items = self.items.peekable();
        let looked = cx.callback(binding.home.world, Duration::ZERO, |_| {
            (length(&items), items.peek().is_none())
        });
        let (of, is_empty) = match looked {
            Ok(looked) => looked,
            Err(panic) => return Err(self.options.refuse(cx, panic)),
        };
        core.starts(binding.now(cx, &self.options));
        let first = core.next();
        let node = ForEachNode {
            core,
            items,
            each: self.each,
            completed: self.completed,
            name: self.options.name.clone(),
            done: 0,
            of,
        };
        let board = Rc::clone(&binding.home.board);
        let kind = FlowKind::ForEach;
        let id = start_node(cx, &mut self.options, binding, kind, location, first, node)?;
        if is_empty {
            request(cx, &board, id, FlowFinish::Completed);
        }
        Ok(id)
    }
}

/// How many items there are, if that is known.
pub(crate) fn length(items: &impl Iterator) -> Option<u64> {
    match items.size_hint() {
        (low, Some(high)) if low == high => u64::try_from(high).ok(),
        _ => None,
    }
}

struct ForEachNode<H: 'static, I: Iterator, F> {
    core: ForEachCore,
    items: Peekable<I>,
    each: F,
    completed: Option<crate::executor::Finished<H>>,
    name: Cow<'static, str>,
    done: u64,
    of: Option<u64>,
}

impl<H, I, F, R> Node<H> for ForEachNode<H, I, F>
where
    I: Iterator,
    F: FnMut(&mut Cx<'_, H>, I::Item) -> R,
    R: Into<Step>,
{
    fn turn(&mut self, cx: &mut Cx<'_, H>, now: u64, told: &Cell<Progress>) -> Next {
        if !self.core.begins_batch(now) {
            return self.core.next();
        }
        let board = board(cx);
        self.core.begin(cx);
        loop {
            let Some(item) = self.items.next() else {
                return Next::End(FlowFinish::Completed);
            };
            self.done += 1;
            told.set(self.progress());
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
            let name = &self.name;
            if !self.core.goes_on(cx, || name.clone().into_owned()) || is_running_node_ending(cx) {
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
        self.core.waiting_for()
    }
}
