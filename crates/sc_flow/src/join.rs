//! Awaiting the end of a flow.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::task::Waker;

use crate::error::FlowError;
use crate::executor::wake::WakeInbox;
use crate::finish::FlowFinish;
use crate::id::FlowId;

/// What an awaiter and the flow it awaits share.
#[derive(Default)]
pub(crate) struct Ending {
    /// How the flow ended; with an error, its text.
    pub(crate) outcome: RefCell<Option<Result<FlowFinish, String>>>,
    /// The awaiter has given up.
    pub(crate) is_dropped: Cell<bool>,
}

impl Ending {
    /// The outcome as the awaiter gets it.
    pub(crate) fn take(&self) -> Option<Result<FlowFinish, FlowError>> {
        let outcome = self.outcome.borrow_mut().take()?;
        Some(match outcome {
            Ok(finish) => finish.for_awaiter(),
            Err(text) => Err(FlowError::Failed(text)),
        })
    }
}

/// Who awaits the end of a flow.
pub(crate) struct Awaiter {
    pub(crate) ending: Rc<Ending>,
    pub(crate) wake: WakeBy,
}

/// How an awaiter is woken: through the inbox, so that the first woken is the first.
pub(crate) enum WakeBy {
    /// A flow, in its turn.
    Flow(Arc<WakeInbox>, FlowId),
    /// A waker that is not the flow's own.
    Foreign(Waker),
}

impl Awaiter {
    pub(crate) fn tell(self, outcome: Result<FlowFinish, String>) {
        *self.ending.outcome.borrow_mut() = Some(outcome);
        match self.wake {
            WakeBy::Flow(inbox, id) => inbox.push(id),
            WakeBy::Foreign(waker) => waker.wake(),
        }
    }
}
