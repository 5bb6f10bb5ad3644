//! Bodies: what a flow runs, a future or a node, behind one pointer.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use sc_core::Cx;

use crate::error::FlowError;
use crate::finish::FlowFinish;
use crate::list::{Progress, WaitingFor};
use crate::node::{Next, Node};

pub(crate) type Polled = Poll<Result<(), FlowError>>;

/// What a flow runs. A future is polled, a node has turns; what is asked of the wrong one does
/// nothing.
pub(crate) trait Body<H: 'static> {
    /// Polls a future.
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Polled {
        let _ = context;
        Poll::Pending
    }

    /// One turn of a node: see [`Node::turn`].
    fn turn(self: Pin<&mut Self>, cx: &mut Cx<'_, H>, now: u64) -> Next {
        let _ = (cx, now);
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
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Polled {
        Future::poll(self, context)
    }
}

/// A node as a body.
pub(crate) struct NodeBody<N>(pub(crate) N);

// Nothing in it is ever pinned.
impl<N> Unpin for NodeBody<N> {}

impl<H: 'static, N: Node<H>> Body<H> for NodeBody<N> {
    fn turn(self: Pin<&mut Self>, cx: &mut Cx<'_, H>, now: u64) -> Next {
        self.get_mut().0.turn(cx, now)
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
