//! Bodies: what a flow runs, a future or a node, behind one pointer.

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use sc_core::Cx;

use crate::error::FlowError;
use crate::finish::FlowFinish;
use crate::list::{Progress, WaitingFor};
use crate::node::{Next, Node};

/// What a poll has come to, in as little room as it can have: most have come to nothing yet.
pub(crate) type Polled = Poll<Result<(), Box<FlowError>>>;

/// What a flow runs. A future is polled, a node has turns; what is asked of the wrong one does
/// nothing.
pub(crate) trait Body<H: 'static> {
    /// Polls a future.
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Polled {
        let _ = context;
        Poll::Pending
    }

    /// One turn of a node: see [`Node::turn`].
    fn turn(self: Pin<&mut Self>, cx: &mut Cx<'_, H>, now: u64, told: &Cell<Progress>) -> Next {
        let _ = (cx, now, told);
        Next::Parked
    }

    /// A node's gameplay callback: see [`Node::finished`].
    fn finished(self: Pin<&mut Self>, cx: &mut Cx<'_, H>, finish: FlowFinish) {
        let _ = (cx, finish);
    }

    /// See [`Node::continue_loop`].
    fn continue_loop(self: Pin<&mut Self>, now: u64) -> Option<Next> {
        let _ = now;
        None
    }

    /// What a node waits for, and how far it has come.
    fn look(&self) -> Option<(WaitingFor, Progress)> {
        None
    }
}

pub(crate) type BoxBody<H> = Pin<Box<dyn Body<H>>>;

impl<H: 'static, F: Future<Output = Result<(), FlowError>>> Body<H> for F {
    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Polled {
        reach_ahead(&*self);
        Future::poll(self, context).map_err(Box::new)
    }
}

/// How far ahead of a body memory is asked for (bytes): what a dozen or two turns of small flows go through.
const AHEAD: usize = 2048;

/// Asks for the memory of the bodies whose turns come soon. Flows that were started one after another
/// mostly lie so; elsewhere it costs an instruction and changes nothing.
#[inline(always)]
fn reach_ahead<B>(body: &B) {
    let bodies = AHEAD.div_ceil(size_of::<B>().max(1));
    prefetch_index::prefetch_index(std::slice::from_ref(body), bodies);
}

/// Where a body lies, but while its flow has its turn.
pub(crate) struct Place<H: 'static>(Cell<Option<BoxBody<H>>>);

impl<H> Place<H> {
    pub(crate) fn empty() -> Self {
        Place(Cell::new(None))
    }

    pub(crate) fn put(&self, body: BoxBody<H>) {
        self.0.set(Some(body));
    }

    /// Takes the body out, for good.
    pub(crate) fn take(&self) -> Option<BoxBody<H>> {
        self.0.take()
    }

    /// Takes the body out until what this gives goes, also by a panic.
    #[inline(always)]
    pub(crate) fn out(&self) -> Out<'_, H> {
        Out {
            body: self.0.take(),
            place: self,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.out().body.is_none()
    }
}

/// A body that is out of its place.
pub(crate) struct Out<'p, H: 'static> {
    body: Option<BoxBody<H>>,
    place: &'p Place<H>,
}

impl<H> Out<'_, H> {
    #[inline(always)]
    pub(crate) fn get(&mut self) -> Option<Pin<&mut (dyn Body<H> + 'static)>> {
        Some(self.body.as_mut()?.as_mut())
    }
}

impl<H> Drop for Out<'_, H> {
    #[inline(always)]
    fn drop(&mut self) {
        // Nothing but this puts a body there while it is out: there is none to drop.
        std::mem::forget(self.place.0.replace(self.body.take()));
    }
}

/// A node as a body.
pub(crate) struct NodeBody<N>(pub(crate) N);

// Nothing in it is ever pinned.
impl<N> Unpin for NodeBody<N> {}

impl<H: 'static, N: Node<H>> Body<H> for NodeBody<N> {
    fn turn(self: Pin<&mut Self>, cx: &mut Cx<'_, H>, now: u64, told: &Cell<Progress>) -> Next {
        reach_ahead(&*self);
        self.get_mut().0.turn(cx, now, told)
    }

    fn finished(self: Pin<&mut Self>, cx: &mut Cx<'_, H>, finish: FlowFinish) {
        self.get_mut().0.finished(cx, finish);
    }

    fn continue_loop(self: Pin<&mut Self>, now: u64) -> Option<Next> {
        self.get_mut().0.continue_loop(now)
    }

    fn look(&self) -> Option<(WaitingFor, Progress)> {
        Some((self.0.waiting_for(), self.0.progress()))
    }
}
