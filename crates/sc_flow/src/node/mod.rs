//! Flow nodes: one core each, which the builder with callbacks and the async form share, so that
//! they cannot differ.

pub(crate) mod control;
pub(crate) mod duration;
pub(crate) mod ease;
pub(crate) mod for_each;
pub(crate) mod options;
pub(crate) mod wait_until;

use std::cell::Cell;

use sc_core::Cx;

use crate::finish::FlowFinish;
use crate::list::{Progress, WaitingFor};

/// What a flow waits for after its turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Next {
    /// The next frame.
    Frame,
    /// A reading of its clock, in nanoseconds.
    At(u64),
    /// A call from outside.
    Parked,
    /// Nothing: it has ended.
    End(FlowFinish),
}

/// A node's body: driven by the executor with the `Cx` at hand.
pub(crate) trait Node<H: 'static> {
    /// One turn, with the node's clock at `now` (ns). Tells how far it has come before it calls the user's
    /// code, which may look it up.
    fn turn(&mut self, cx: &mut Cx<'_, H>, now: u64, told: &Cell<Progress>) -> Next;
    /// The gameplay callback. Not called when the node is aborted or panicked.
    fn finished(&mut self, cx: &mut Cx<'_, H>, finish: FlowFinish);
    /// `continue_loop`: what the node waits for now; `None` when it was not parked.
    fn continue_loop(&mut self, now: u64) -> Option<Next> {
        let _ = now;
        None
    }
    fn progress(&self) -> Progress;
    fn waiting_for(&self) -> WaitingFor;
}
