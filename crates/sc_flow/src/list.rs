//! The list of live flows.

use std::panic::Location;
use std::time::Duration;

use sc_core::{Life, WorldId};

use crate::id::FlowId;

/// What kind of flow it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum FlowKind {
    /// An async flow or task.
    Async,
    /// For each index, with delay or per tick.
    ForEach,
    /// Do for duration.
    DoForDuration,
    /// Wait until.
    WaitUntil,
}

/// How far a flow has come.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub enum Progress {
    /// An async flow: only its code knows.
    Unknown,
    /// A loop: the next index, and how many there are.
    Index {
        /// The index that comes next.
        next: u64,
        /// How many there are; of an iterator without a known end, `None`.
        of: Option<u64>,
    },
    /// A drive: the raw alpha, from 0 to 1.
    Alpha(f32),
    /// A wait: polls so far.
    Attempts(u64),
}

/// What a flow waits for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum WaitingFor {
    /// Its first frame.
    Start,
    /// The next frame.
    NextFrame,
    /// Time on its clock.
    Time,
    /// `continue_loop`.
    Continue,
    /// Its condition.
    Condition,
    /// Something its code awaits.
    Await,
    /// `resume_flow`: it is paused.
    Resume,
}

/// One flow as the list shows it.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct FlowInfo {
    /// Its id.
    pub id: FlowId,
    /// Its name.
    pub name: String,
    /// What kind of flow it is.
    pub kind: FlowKind,
    /// Its world; `None` for one bound to the runtime.
    pub world: Option<WorldId>,
    /// The life of an object that it is bound to.
    pub owner: Option<Life>,
    /// How far it has come.
    pub progress: Progress,
    /// What it waits for.
    pub waiting_for: WaitingFor,
    /// Since when it waits for that, in real time.
    pub waiting: Duration,
    /// Where it was started: file, line and column.
    pub started_at: &'static Location<'static>,
}

impl FlowInfo {
    /// A line of a list: what it is bound to, what it is, how far it has come, what it waits for.
    pub(crate) fn line(&self, bound: &str) -> String {
        let kind = match self.kind {
            FlowKind::Async => "async",
            FlowKind::ForEach => "for each",
            FlowKind::DoForDuration => "do for duration",
            FlowKind::WaitUntil => "wait until",
        };
        let progress = match self.progress {
            Progress::Unknown => String::new(),
            Progress::Index { next, of: Some(of) } => format!(", next is {next} of {of}"),
            Progress::Index { next, of: None } => format!(", next is {next}"),
            Progress::Alpha(alpha) => format!(", at {alpha}"),
            Progress::Attempts(attempts) => format!(", asked {attempts} times"),
        };
        let waiting_for = match self.waiting_for {
            WaitingFor::Start => "its first frame",
            WaitingFor::NextFrame => "the next frame",
            WaitingFor::Time => "time to pass",
            WaitingFor::Continue => "`continue_loop`",
            WaitingFor::Condition => "its condition",
            WaitingFor::Await => "what its code awaits",
            WaitingFor::Resume => "`resume_flow`: it is paused",
        };
        let (name, waiting, from) = (&self.name, self.waiting, self.started_at);
        format!(
            "{name} ({bound}): {kind}{progress}; for {waiting:?} it has waited for {waiting_for}; started at {from}"
        )
    }
}
