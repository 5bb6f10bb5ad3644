//! Awaiting the end of a flow.

use std::cell::Cell;
use std::rc::Rc;
use std::task::Waker;

use crate::executor::home::{Home, Local};
use crate::finish::FlowFinish;

/// Who awaits the end of a flow.
pub(crate) struct Awaiter {
    pub(crate) finish: Rc<Cell<Option<FlowFinish>>>,
    pub(crate) wake: WakeBy,
}

/// How an awaiter is woken.
pub(crate) enum WakeBy {
    /// A flow, in its turn.
    Flow(Rc<Home>, Local),
    /// A waker that is not the flow's own.
    Foreign(Waker),
}

impl Awaiter {
    pub(crate) fn tell(self, finish: FlowFinish) {
        self.finish.set(Some(finish));
        match self.wake {
            WakeBy::Flow(home, local) => home.wake(local),
            WakeBy::Foreign(waker) => waker.wake(),
        }
    }
}
