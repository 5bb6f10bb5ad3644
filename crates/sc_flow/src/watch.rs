//! Never silent: the two warnings about flows that seem stuck.

use std::time::Duration;

use sc_core::{Cx, Report, ReportKind, Secs};

use crate::error::FlowError;
use crate::executor::board::Board;
use crate::executor::end::is_bound;
use crate::executor::turn::panicked;
use crate::id::FlowId;
use crate::list::{Progress, WaitingFor};
use crate::reports;
use crate::span::nanos;

/// The thresholds, who may pass one, and when to look next.
pub(crate) struct Watch {
    /// How long a loop may be parked.
    suspended: Threshold,
    /// How long a wait without deadline may wait.
    waiting: Threshold,
    /// The earliest moment at which a flow may be over its threshold, on the runtime's clock (ns).
    look_at: u64,
    /// With the numbers of their starts.
    watched: Vec<(u64, FlowId)>,
    /// How many of them have ended.
    ended: usize,
}

/// How long a flow may wait before it is warned of.
struct Threshold {
    /// `None` = for ever.
    nanos: Option<u64>,
    /// As it was set.
    set: Secs,
}

impl Default for Threshold {
    fn default() -> Self {
        Threshold {
            nanos: Some(nanos(DEFAULT)),
            set: default(),
        }
    }
}

/// How far a flow is watched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Watched {
    No,
    Yes,
    /// It was warned of, once and for all.
    Warned,
}

/// Both thresholds, until they are set.
const DEFAULT: Duration = Duration::from_secs(30);

impl Default for Watch {
    fn default() -> Self {
        Watch {
            suspended: Threshold::default(),
            waiting: Threshold::default(),
            look_at: u64::MAX,
            watched: Vec::new(),
            ended: 0,
        }
    }
}

impl Watch {
    /// The threshold for what a flow waits for.
    fn threshold(&self, waiting_for: WaitingFor) -> Option<u64> {
        match waiting_for {
            WaitingFor::Continue => self.suspended.nanos,
            WaitingFor::Condition => self.waiting.nanos,
            _ => None,
        }
    }

    /// A flow has begun to wait for something.
    pub(crate) fn begins_to_wait(
        &mut self,
        flow: FlowId,
        start: u64,
        watched: &mut Watched,
        waiting_for: WaitingFor,
        since: u64,
    ) {
        let Some(threshold) = self.threshold(waiting_for) else {
            return;
        };
        self.look_at = self.look_at.min(since.saturating_add(threshold));
        if *watched == Watched::No {
            *watched = Watched::Yes;
            self.watched.push((start, flow));
        }
    }

    /// A flow has ended.
    pub(crate) fn ends(&mut self, watched: Watched) {
        self.ended += usize::from(watched == Watched::Yes);
    }

    /// Forgets those that have ended, when they are most.
    pub(crate) fn forget_ended(&mut self, is_live: impl Fn(FlowId, u64) -> bool) {
        if self.ended > 64.max(self.watched.len() / 2) {
            self.watched.retain(|&(start, flow)| is_live(flow, start));
            self.ended = 0;
        }
    }
}

/// Warns of flows that are over their threshold, once a flow, in order of start.
pub(crate) fn look<H>(cx: &mut Cx<'_, H>, board: &Board<H>, now: u64) {
    let mut table = board.table.borrow_mut();
    if now < table.watch.look_at {
        return;
    }
    table.watch.look_at = u64::MAX;
    let mut over = Vec::new();
    let mut watched = std::mem::take(&mut table.watch.watched);
    table.watch.ended = 0;
    watched.retain(|&(start, flow)| {
        let row = table.row(flow.index).filter(|row| row.start == start);
        let Some(row) = row else {
            return false;
        };
        let (waiting_for, since) = (row.waiting_for, row.since);
        let Some(threshold) = table.watch.threshold(waiting_for) else {
            table.set_watched(flow.index, Watched::No);
            return false;
        };
        let at = since.saturating_add(threshold);
        if at > now {
            table.watch.look_at = table.watch.look_at.min(at);
            return true;
        }
        table.set_watched(flow.index, Watched::Warned);
        over.push((start, flow));
        false
    });
    table.watch.watched = watched;
    drop(table);
    over.sort_unstable();
    for (_, flow) in over {
        // One that is about to be aborted waits for nothing.
        match (is_bound(cx, board, flow), board.home(flow)) {
            (Ok(true), _) => warn(cx, board, flow, now),
            (Err(panic), Some(home)) => panicked(cx, &home, flow, panic),
            _ => {}
        }
    }
}

fn warn<H>(cx: &mut Cx<'_, H>, board: &Board<H>, flow: FlowId, now: u64) {
    let Some(info) = board.info(flow, now) else {
        return;
    };
    // A flow that is paused says that it waits for that.
    let table = board.table.borrow();
    let waiting_for = table.row(flow.index).map(|row| row.waiting_for);
    drop(table);
    let (kind, what) = if waiting_for == Some(WaitingFor::Continue) {
        (&reports::LOOP_PARKED, "has been parked")
    } else {
        (&reports::ENDLESS_WAIT, "has waited without deadline")
    };
    let at = match info.progress {
        Progress::Index { next, of: Some(of) } => format!(" before index {next} of {of}"),
        Progress::Index { next, of: None } => format!(" before index {next}"),
        Progress::Attempts(n) => format!(" after {n} attempts"),
        _ => String::new(),
    };
    let (waited, from) = (info.waiting, info.started_at);
    let what = format!("{what} for {waited:?}{at}; it was started at {from}");
    let mut report = Report::new(ReportKind::Extension(kind), what).object(info.name);
    report.world = info.world.and_then(|world| cx.runtime().world_name(world));
    cx.report(report);
}

/// The threshold of a number of seconds: 0 or less = off.
pub(crate) fn threshold(seconds: Secs) -> Result<Option<u64>, FlowError> {
    if seconds.as_f64() <= 0.0 {
        return Ok(None);
    }
    Ok(Some(nanos(seconds.to_duration()?)))
}

/// Both thresholds, until they are set.
pub(crate) fn default() -> Secs {
    Secs::from(DEFAULT)
}

/// Both thresholds as they were set: of parked loops, and of waits without deadline.
pub(crate) fn thresholds<H>(board: &Board<H>) -> [Secs; 2] {
    let watch = &board.table.borrow().watch;
    [watch.suspended.set, watch.waiting.set]
}

/// Sets the threshold of parked loops.
pub(crate) fn set_suspended<H>(board: &Board<H>, seconds: Secs) -> Result<(), FlowError> {
    set(board, WaitingFor::Continue, seconds, |watch| {
        &mut watch.suspended
    })
}

/// Sets the threshold of waits without deadline.
pub(crate) fn set_waiting<H>(board: &Board<H>, seconds: Secs) -> Result<(), FlowError> {
    set(board, WaitingFor::Condition, seconds, |watch| {
        &mut watch.waiting
    })
}

fn set<H>(
    board: &Board<H>,
    waiting_for: WaitingFor,
    seconds: Secs,
    which: fn(&mut Watch) -> &mut Threshold,
) -> Result<(), FlowError> {
    let threshold = Threshold {
        nanos: threshold(seconds)?,
        set: seconds,
    };
    *which(&mut board.table.borrow_mut().watch) = threshold;
    watch_all(board, waiting_for);
    Ok(())
}

/// Watches what waits already; it is looked at in the next stage.
fn watch_all<H>(board: &Board<H>, waiting_for: WaitingFor) {
    for flow in board.ids_where(|_, row| row.waiting_for == waiting_for) {
        let table = &mut *board.table.borrow_mut();
        let since = table.row(flow.index).map_or(0, |row| row.since);
        table.watch(flow, waiting_for, since);
    }
    board.table.borrow_mut().watch.look_at = 0;
}
