//! What the peers of flows need around their executors: a way to give up the turn, and a frame to
//! wait for.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

/// Gives up the turn once.
pub(crate) async fn yield_now() {
    let mut has_yielded = false;
    poll_fn(|context| {
        if has_yielded {
            return Poll::Ready(());
        }
        has_yielded = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Frames to wait for, for executors that run until all is stalled.
#[derive(Clone, Default)]
pub(crate) struct Frames(Rc<Inner>);

#[derive(Default)]
struct Inner {
    frame: Cell<u64>,
    waiting: RefCell<Vec<Waker>>,
}

impl Frames {
    /// A frame begins: who waits for it is woken.
    pub(crate) fn begin(&self) {
        self.0.frame.set(self.0.frame.get() + 1);
        let mut waiting = self.0.waiting.take();
        waiting.drain(..).for_each(Waker::wake);
        // Its memory is kept.
        self.0.waiting.replace(waiting);
    }

    /// Waits for the next frame.
    pub(crate) async fn next(&self) {
        let now = self.0.frame.get();
        poll_fn(|context| {
            if self.0.frame.get() > now {
                return Poll::Ready(());
            }
            self.0.waiting.borrow_mut().push(context.waker().clone());
            Poll::Pending
        })
        .await;
    }
}
