//! Wait until: a condition, polled, with a deadline or without.

use std::borrow::Cow;
use std::cell::Cell;
use std::panic::Location;
use std::rc::Rc;
use std::time::Duration;

use sc_core::{Cx, Life, Report, ReportKind, Secs, TickId, secs};

use super::options::flow_options;
use super::{Next, Node};
use crate::error::FlowError;
use crate::executor::start::{Options, bind_condition, start_node};
use crate::executor::{end, known};
use crate::finish::FlowFinish;
use crate::id::FlowId;
use crate::list::{FlowKind, Progress, WaitingFor};
use crate::reports;
use crate::span::span;
use crate::thread::Work;

/// When a wait polls, and when it has waited long enough.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WaitCore {
    /// Between polls, in nanoseconds; 0 = every tick.
    interval: u64,
    /// 0 = no deadline.
    timeout: u64,
    start: u64,
    /// The reading at which the interval began to count.
    base: u64,
    pub(crate) attempts: u64,
}

/// What a wait does at a reading of its clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum WaitTurn {
    TimedOut,
    Poll,
    NotYet,
}

impl WaitCore {
    pub(crate) fn new(interval: u64, timeout: u64, start: u64) -> Self {
        WaitCore {
            interval,
            timeout,
            start,
            base: start,
            attempts: 0,
        }
    }

    /// The deadline wins over a condition that is true on the same tick.
    pub(crate) fn turn(&mut self, now: u64) -> WaitTurn {
        if self.timeout > 0 && now.saturating_sub(self.start) >= self.timeout {
            return WaitTurn::TimedOut;
        }
        let gone = now.saturating_sub(self.base);
        if gone < self.interval {
            return WaitTurn::NotYet;
        }
        self.base = now - gone.checked_rem(self.interval).unwrap_or(0);
        WaitTurn::Poll
    }

    pub(crate) fn next(&self) -> Next {
        if self.interval == 0 {
            return Next::Frame;
        }
        let poll = self.base.saturating_add(self.interval);
        match self.timeout {
            0 => Next::At(poll),
            timeout => Next::At(poll.min(self.start.saturating_add(timeout))),
        }
    }

    pub(crate) fn has_deadline(&self) -> bool {
        self.timeout > 0
    }
}

/// Waits until a condition is true: a node with callbacks.
///
/// The condition gets the number of the attempt, from 0. On each tick, in this order: the flow's
/// owner (gone: `Aborted`), the deadline (it wins over a condition true on that frame), the poll.
/// With an interval of at least the timeout it is never polled on a tick.
///
/// ```
/// use sc_core::{Cx, Runtime, WorldKind, secs};
/// use sc_flow::{Wait, WaitUntil};
/// let (mut rt, mut boss) = (Runtime::new(), (false, None));
/// let mut cx = rt.cx(&mut boss);
/// let level = cx.create_world(WorldKind::Game)?;
/// WaitUntil::new(|cx: &mut Cx<'_, (bool, Option<Wait>)>, _attempt| cx.host().0)
///     .every(secs(0.5))
///     .timeout(secs(10))
///     .satisfied(|cx| cx.host_mut().1 = Some(Wait::Satisfied))
///     .timed_out(|cx| cx.host_mut().1 = Some(Wait::TimedOut))
///     .world(level)
///     .start(&mut cx)?;
/// rt.tick_secs(&mut boss, 0.5)?;
/// boss.0 = true;
/// rt.tick_secs(&mut boss, 0.5)?;
/// assert_eq!(boss.1, Some(Wait::Satisfied));
/// # Ok::<(), sc_flow::FlowError>(())
/// ```
#[must_use = "nothing happens until it is started"]
pub struct WaitUntil<H: 'static, C> {
    condition: C,
    belongs_to: Option<TickId>,
    interval: Secs,
    timeout: Secs,
    immediately: bool,
    satisfied: Option<Told<H>>,
    timed_out: Option<Told<H>>,
    cancelled: Option<Told<H>>,
    options: Options<H>,
}

type Told<H> = Box<dyn FnOnce(&mut Cx<'_, H>)>;

impl<H> WaitUntil<H, ()> {
    /// Waits until a value is another one than at the start: `read` is called during the start, and
    /// then each tick, or [`every`](WaitUntil::every) so often. A value that has changed back between
    /// two polls has not changed. The async form is [`FlowCx::changed`](crate::FlowCx::changed).
    ///
    /// Values are compared by `PartialEq`: a NaN is another value than itself.
    ///
    /// ```
    /// # use sc_core::{Clock, Cx, Owner, Runtime, Tickable, WorldKind, secs};
    /// # use sc_flow::*;
    /// # let (mut rt, mut log) = (Runtime::<Vec<u32>>::new(), Vec::new());
    /// # let mut cx = rt.cx(&mut log);
    /// # let level = cx.create_world(WorldKind::Game)?;
    /// WaitUntil::changed(|cx: &mut Cx<'_, Vec<u32>>| cx.host().len())
    ///     .satisfied(|cx| cx.host_mut().push(1))
    ///     .world(level)
    ///     .start(&mut cx)?;
    /// rt.tick_secs(&mut log, 0.25)?;
    /// log.push(7);
    /// rt.tick_secs(&mut log, 0.25)?;
    /// assert_eq!(log, [7, 1]);
    /// # Ok::<(), FlowError>(())
    /// ```
    pub fn changed<T: PartialEq + 'static>(
        mut read: impl FnMut(&mut Cx<'_, H>) -> T + 'static,
    ) -> WaitUntil<H, impl FnMut(&mut Cx<'_, H>, u64) -> bool + 'static> {
        let mut before = None;
        // The poll during the start reads what it was.
        WaitUntil::new(move |cx: &mut Cx<'_, H>, _attempt| {
            let now = read(cx);
            match &before {
                Some(before) => now != *before,
                None => {
                    before = Some(now);
                    false
                }
            }
        })
        .check_immediately()
    }

    /// Waits until a flow has ended, for whatever reason, also one that is yet to [start](FlowId::reserve): looked at each tick, or
    /// [`every`](WaitUntil::every) so often. The async form is [`FlowCx::flow`](crate::FlowCx::flow).
    ///
    /// ```
    /// # use sc_core::{Clock, Cx, Owner, Runtime, Tickable, WorldKind, secs};
    /// # use sc_flow::*;
    /// # let (mut rt, mut log) = (Runtime::<Vec<u32>>::new(), Vec::new());
    /// # let mut cx = rt.cx(&mut log);
    /// # let level = cx.create_world(WorldKind::Game)?;
    /// let fade = DoForDuration::new(secs(0.5), |cx: &mut Cx<'_, Vec<u32>>, _, _| cx.host_mut().push(1));
    /// let fade = fade.world(level).start(&mut cx)?;
    /// WaitUntil::ended(fade)
    ///     .satisfied(|cx: &mut Cx<'_, Vec<u32>>| cx.host_mut().push(2))
    ///     .world(level)
    ///     .start(&mut cx)?;
    /// for _ in 0..3 { rt.tick_secs(&mut log, 0.25)?; }
    /// assert_eq!(log, [1, 1, 2]);
    /// # Ok::<(), FlowError>(())
    /// ```
    pub fn ended(flow: FlowId) -> WaitUntil<H, impl FnMut(&mut Cx<'_, H>, u64) -> bool + 'static> {
        WaitUntil::new(move |cx: &mut Cx<'_, H>, _attempt| {
            known(cx.runtime()).is_none_or(|board| board.has_ended(flow))
        })
    }

    /// Runs `work` on a thread of its own, and waits for its result, which `take` gets on the game thread:
    /// [`FlowError::Panicked`] when `work` has panicked, with a report; [`FlowError::NoThread`] when the
    /// system starts no thread. The thread is started with the wait, and runs on when that ends otherwise;
    /// its result is dropped then. The async form is
    /// [`FlowCx::run_on_thread`](crate::FlowCx::run_on_thread).
    ///
    /// ```
    /// # use sc_core::{Clock, Cx, Owner, Runtime, Tickable, WorldKind, secs};
    /// # use sc_flow::*;
    /// # let (mut rt, mut log) = (Runtime::<Vec<u32>>::new(), Vec::new());
    /// # let mut cx = rt.cx(&mut log);
    /// # let level = cx.create_world(WorldKind::Game)?;
    /// WaitUntil::on_thread(|| (1..=10).sum::<u32>(), |cx: &mut Cx<'_, Vec<u32>>, sum| cx.host_mut().extend(sum))
    ///     .world(level)
    ///     .start(&mut cx)?;
    /// while log.is_empty() {
    ///     rt.tick_secs(&mut log, 0.01)?;
    ///     std::thread::yield_now();
    /// }
    /// assert_eq!(log, [55]);
    /// # Ok::<(), FlowError>(())
    /// ```
    pub fn on_thread<T: Send + 'static>(
        work: impl FnOnce() -> T + Send + 'static,
        take: impl FnOnce(&mut Cx<'_, H>, Result<T, FlowError>) + 'static,
    ) -> WaitUntil<H, impl FnMut(&mut Cx<'_, H>, u64) -> bool + 'static> {
        let (mut work, mut take, mut running) = (Some(work), Some(take), None);
        // The poll during the start starts the thread.
        WaitUntil::new(move |cx: &mut Cx<'_, H>, attempt| {
            if let Some(work) = work.take() {
                running = Some(Work::start(work));
            }
            let Some(result) = running.as_ref().and_then(Work::take) else {
                return false;
            };
            let result = result.map_err(|failed| {
                let (error, report) = failed.told(running_name(cx, attempt));
                report.into_iter().for_each(|report| cx.report(report));
                error
            });
            if let Some(take) = take.take() {
                take(cx, result);
            }
            true
        })
        .check_immediately()
    }
}

/// What reports call the wait that polls.
fn running_name<H>(cx: &Cx<'_, H>, attempt: u64) -> String {
    // The first poll is in the starting call: it is no flow yet.
    let board = known(cx.runtime()).filter(|_| attempt > 0);
    let name = board.and_then(|board| Some(board.table.borrow().name(board.running.get()?.index)));
    name.unwrap_or_else(|| "wait until".into())
}

impl<H, C: FnMut(&mut Cx<'_, H>, u64) -> bool + 'static> WaitUntil<H, C> {
    /// Waits for a condition.
    pub fn new(condition: C) -> Self {
        WaitUntil {
            condition,
            belongs_to: None,
            interval: secs(0),
            timeout: secs(0),
            immediately: false,
            satisfied: None,
            timed_out: None,
            cancelled: None,
            options: Options::new("wait until"),
        }
    }

    /// Waits for a condition that belongs to another object than the flow's owner. When that
    /// object is gone the condition can never answer again: the wait ends timed out, with a report.
    ///
    /// ```
    /// # use sc_core::{Clock, Cx, Owner, Runtime, Tickable, WorldKind, secs};
    /// # use sc_flow::*;
    /// # let (mut rt, mut log) = (Runtime::<Vec<u32>>::new(), Vec::new());
    /// # let mut cx = rt.cx(&mut log);
    /// # let level = cx.create_world(WorldKind::Game)?;
    /// # struct Door;
    /// # impl Tickable<Vec<u32>> for Door {}
    /// let door = cx.spawn_in(level, Door)?;
    /// WaitUntil::condition_of(&door, |_: &mut Cx<'_, Vec<u32>>, _| false)
    ///     .timed_out(|cx| cx.host_mut().push(1))
    ///     .world(level)
    ///     .start(&mut cx)?;
    /// door.shutdown(&mut cx)?;
    /// for _ in 0..1 { rt.tick_secs(&mut log, 0.25)?; }
    /// assert_eq!(log, [1]);
    /// # Ok::<(), FlowError>(())
    /// ```
    pub fn condition_of(object: impl Into<TickId>, condition: C) -> Self {
        WaitUntil {
            belongs_to: Some(object.into()),
            ..Self::new(condition)
        }
    }

    flow_options!();

    /// Time between polls; 0 or less = every tick, the default. The remainder carries.
    pub fn every(mut self, interval: impl Into<Secs>) -> Self {
        self.interval = interval.into();
        self
    }

    /// How long it waits; 0 or less = no deadline, the default.
    pub fn timeout(mut self, timeout: impl Into<Secs>) -> Self {
        self.timeout = timeout.into();
        self
    }

    /// Polls once during the start, and may be satisfied there.
    pub fn check_immediately(mut self) -> Self {
        self.immediately = true;
        self
    }

    /// Told when the condition was true.
    pub fn satisfied(mut self, tell: impl FnOnce(&mut Cx<'_, H>) + 'static) -> Self {
        self.satisfied = Some(Box::new(tell));
        self
    }

    /// Told when the deadline has passed.
    pub fn timed_out(mut self, tell: impl FnOnce(&mut Cx<'_, H>) + 'static) -> Self {
        self.timed_out = Some(Box::new(tell));
        self
    }

    /// Told when the wait was cancelled.
    pub fn cancelled(mut self, tell: impl FnOnce(&mut Cx<'_, H>) + 'static) -> Self {
        self.cancelled = Some(Box::new(tell));
        self
    }

    /// Starts it: it is polled first on the next frame's tick, or now with
    /// [`check_immediately`](Self::check_immediately). Satisfied in this call, its id is stale.
    ///
    /// # Errors
    /// [`FlowError::BadTime`], [`FlowError::NoLiveWorld`] with a report, [`FlowError::NoOwner`] for
    /// the owner or the object the condition belongs to, [`FlowError::ShutDown`]: `on_finished` has heard
    /// `Aborted` then. [`FlowError::Panicked`] when the condition or the question of
    /// [`bound_while`](Self::bound_while) panics in this call, and the policy does not raise that: it has
    /// heard `Panicked`.
    #[track_caller]
    pub fn start(mut self, cx: &mut Cx<'_, H>) -> Result<FlowId, FlowError> {
        let location = Location::caller();
        let (interval, timeout) = match (span(self.interval), span(self.timeout)) {
            (Ok(interval), Ok(timeout)) => (interval, timeout),
            (Err(error), _) | (_, Err(error)) => {
                return Err(self.options.refuse(cx, error));
            }
        };
        let binding = match self.options.bind(cx) {
            Ok(binding) => binding,
            Err(error) => return Err(self.options.refuse(cx, error)),
        };
        let belongs_to = self.belongs_to.map(|object| self.options.life(cx, object));
        let belongs_to = match belongs_to.transpose() {
            Ok(life) => life,
            Err(error) => return Err(self.options.refuse(cx, error)),
        };
        let now = binding.now(cx, &self.options);
        let mut core = WaitCore::new(interval, timeout, now);
        let mut satisfied = false;
        if self.immediately {
            core.attempts = 1;
            let (world, condition) = (binding.home.world, &mut self.condition);
            match cx.callback(world, Duration::ZERO, |cx| condition(cx, 0)) {
                Ok(answer) => satisfied = answer,
                Err(panic) => return Err(self.options.refuse(cx, panic)),
            }
        }
        if binding
            .home
            .world
            .is_some_and(|world| !cx.is_world_alive(world))
        {
            let error = self.options.no_world();
            return Err(self.options.refuse(cx, error));
        }
        let node = WaitNode {
            core,
            condition: self.condition,
            belongs_to,
            satisfied: self.satisfied,
            timed_out: self.timed_out,
            cancelled: self.cancelled,
            name: self.options.name.clone(),
        };
        let first = node.core.next();
        let board = Rc::clone(&binding.home.board);
        let kind = FlowKind::WaitUntil;
        let id = start_node(cx, &mut self.options, binding, kind, location, first, node)?;
        if let Some(life) = belongs_to {
            bind_condition(&board, id, life);
        }
        if satisfied {
            end::request(cx, &board, id, FlowFinish::Completed);
        } else {
            cx.attend();
        }
        Ok(id)
    }
}

struct WaitNode<H: 'static, C> {
    core: WaitCore,
    condition: C,
    belongs_to: Option<Life>,
    satisfied: Option<Told<H>>,
    timed_out: Option<Told<H>>,
    cancelled: Option<Told<H>>,
    name: Cow<'static, str>,
}

/// Whether the object a condition belongs to is gone; reports it if so.
pub(crate) fn is_gone<H>(
    cx: &mut Cx<'_, H>,
    belongs_to: Life,
    name: impl FnOnce() -> String,
) -> bool {
    let gone = !cx.is_living(belongs_to);
    if gone {
        let kind = ReportKind::Extension(&reports::CONDITION_GONE);
        let what = "the object its condition belongs to is gone: it ends timed out";
        cx.report(Report::new(kind, what).object(name()));
    }
    gone
}

impl<H, C: FnMut(&mut Cx<'_, H>, u64) -> bool> Node<H> for WaitNode<H, C> {
    fn turn(&mut self, cx: &mut Cx<'_, H>, now: u64, told: &Cell<Progress>) -> Next {
        let turn = self.core.turn(now);
        if turn != WaitTurn::TimedOut
            && let Some(life) = self.belongs_to
            && is_gone(cx, life, || self.name.clone().into_owned())
        {
            return Next::End(FlowFinish::TimedOut);
        }
        match turn {
            WaitTurn::TimedOut => Next::End(FlowFinish::TimedOut),
            WaitTurn::NotYet => self.core.next(),
            WaitTurn::Poll => {
                let attempt = self.core.attempts;
                self.core.attempts += 1;
                told.set(self.progress());
                if (self.condition)(cx, attempt) {
                    Next::End(FlowFinish::Completed)
                } else {
                    self.core.next()
                }
            }
        }
    }

    fn finished(&mut self, cx: &mut Cx<'_, H>, finish: FlowFinish) {
        let tell = match finish {
            FlowFinish::Completed | FlowFinish::Broken => &mut self.satisfied,
            FlowFinish::TimedOut => &mut self.timed_out,
            _ => &mut self.cancelled,
        };
        if let Some(tell) = tell.take() {
            tell(cx);
        }
    }

    fn progress(&self) -> Progress {
        Progress::Attempts(self.core.attempts)
    }

    fn waiting_for(&self) -> WaitingFor {
        if self.core.has_deadline() {
            WaitingFor::Time
        } else {
            WaitingFor::Condition
        }
    }
}
