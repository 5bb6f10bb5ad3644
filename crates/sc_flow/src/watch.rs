//! Never silent: the two warnings about flows that seem stuck.

use std::time::Duration;

use sc_core::{Cx, Report, ReportKind, Secs};

use crate::error::FlowError;
use crate::executor::{Flow, flows};
use crate::list::{Progress, WaitingFor};
use crate::reports;

/// The thresholds, and when to look next.
#[derive(Clone, Copy)]
pub(crate) struct Watch {
    /// The runtime's clock (ns), as of the last stage.
    pub(crate) now: u64,
    /// How long a loop may be parked; `None` = for ever.
    pub(crate) suspended: Option<u64>,
    /// How long a wait without deadline may wait; `None` = for ever.
    pub(crate) waiting: Option<u64>,
    /// The earliest moment at which a flow may be over its threshold.
    pub(crate) look_at: u64,
}

/// Both thresholds, until they are set.
pub(crate) const DEFAULT: Duration = Duration::from_secs(30);

impl Default for Watch {
    fn default() -> Self {
        let nanos = u64::try_from(DEFAULT.as_nanos()).ok();
        Watch {
            now: 0,
            suspended: nanos,
            waiting: nanos,
            look_at: u64::MAX,
        }
    }
}

impl Watch {
    /// The threshold for what a flow waits for.
    pub(crate) fn threshold(&self, waiting_for: WaitingFor) -> Option<u64> {
        match waiting_for {
            WaitingFor::Continue => self.suspended,
            WaitingFor::Condition => self.waiting,
            _ => None,
        }
    }

    /// A flow has begun to wait for something.
    pub(crate) fn begins_to_wait(&mut self, waiting_for: WaitingFor, since: u64) {
        self.begins(since, self.threshold(waiting_for));
    }

    fn begins(&mut self, since: u64, threshold: Option<u64>) {
        if let Some(threshold) = threshold {
            self.look_at = self.look_at.min(since.saturating_add(threshold));
        }
    }
}

/// Warns of flows that are over their threshold, once a flow.
pub(crate) fn look<H>(cx: &mut Cx<'_, H>, now: u64) {
    if now < flows(cx).watch.look_at {
        return;
    }
    let state = flows(cx);
    state.watch.look_at = u64::MAX;
    let thresholds = Watch {
        now,
        look_at: now,
        ..state.watch
    };
    let threshold = |flow: &Flow<H>| thresholds.threshold(flow.waiting_for);
    for id in state.ids_where(|flow| !flow.warned && threshold(flow).is_some()) {
        let state = flows(cx);
        let Some(flow) = state.get_mut(id) else {
            continue;
        };
        let limit = threshold(flow).unwrap_or(u64::MAX);
        if now.saturating_sub(flow.since) < limit {
            let (waiting_for, since) = (flow.waiting_for, flow.since);
            state.watch.begins_to_wait(waiting_for, since);
            continue;
        }
        flow.warned = true;
        let parked = flow.waiting_for == WaitingFor::Continue;
        let Some(info) = state.info(id, now) else {
            continue;
        };
        let (kind, what) = if parked {
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
        let waited = info.waiting;
        let from = info.started_at;
        let what = format!("{what} for {waited:?}{at}; it was started at {from}");
        let mut report = Report::new(ReportKind::Extension(kind), what).object(info.name);
        report.world = info
            .world
            .and_then(|world| Some(cx.world_info(world).ok()?.name));
        cx.report(report);
    }
}

/// The threshold of a number of seconds: 0 or less = off.
fn threshold(seconds: Secs) -> Result<Option<u64>, FlowError> {
    if seconds.as_f64() <= 0.0 {
        return Ok(None);
    }
    let nanos = seconds.to_duration()?.as_nanos();
    Ok(u64::try_from(nanos).ok())
}

/// Sets the threshold of parked loops.
pub(crate) fn set_suspended<H>(cx: &mut Cx<'_, H>, seconds: Secs) -> Result<(), FlowError> {
    flows(cx).watch.suspended = threshold(seconds)?;
    flows(cx).watch.look_at = 0;
    Ok(())
}

/// Sets the threshold of waits without deadline.
pub(crate) fn set_waiting<H>(cx: &mut Cx<'_, H>, seconds: Secs) -> Result<(), FlowError> {
    flows(cx).watch.waiting = threshold(seconds)?;
    flows(cx).watch.look_at = 0;
    Ok(())
}
