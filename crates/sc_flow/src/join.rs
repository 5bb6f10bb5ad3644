//! Awaiting the end of a flow.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::task::Waker;

use crate::error::FlowError;
use crate::executor::wake::WakeInbox;
use crate::finish::FlowFinish;
use crate::id::FlowId;

/// How a flow has ended: with an error, its name and the error's text.
pub(crate) type Outcome = Result<FlowFinish, (String, String)>;

/// What an awaiter and the flow it awaits share.
pub(crate) struct Ending {
    /// The flow that awaits.
    pub(crate) by: FlowId,
    outcome: RefCell<Option<Outcome>>,
    /// Who is woken then; nobody when the awaiter has given up.
    wake: RefCell<Option<WakeBy>>,
    /// The flow knows of it.
    is_known: Cell<bool>,
}

impl Ending {
    pub(crate) fn new(by: FlowId) -> Self {
        Ending {
            by,
            outcome: RefCell::default(),
            wake: RefCell::default(),
            is_known: Cell::new(false),
        }
    }

    /// The outcome as the awaiter gets it.
    pub(crate) fn take(&self) -> Option<Result<FlowFinish, FlowError>> {
        let outcome = self.outcome.borrow_mut().take()?;
        Some(match outcome {
            Ok(finish) => finish.for_awaiter(),
            Err((_, text)) => Err(FlowError::Failed(text)),
        })
    }

    /// Wakes somebody else from now on. Whether the flow has yet to be told of the awaiter.
    pub(crate) fn wake_by(&self, wake: WakeBy) -> bool {
        // A waker's destructor may be user code: outside the borrow.
        let before = self.wake.replace(Some(wake));
        drop(before);
        !self.is_known.replace(true)
    }

    /// The awaiter has given up. The error it was told of and has not taken, with the flow's name.
    pub(crate) fn give_up(&self) -> Option<(String, String)> {
        let wake = self.wake.take();
        drop(wake);
        self.outcome.take()?.err()
    }

    pub(crate) fn is_awaited(&self) -> bool {
        self.wake.borrow().is_some()
    }

    /// The flow has ended. The waker that is still to be woken: code of the user's.
    pub(crate) fn tell(&self, outcome: Outcome) -> Option<Waker> {
        self.outcome.replace(Some(outcome));
        match self.wake.take()? {
            WakeBy::Flow(inbox, id) => {
                inbox.push(id);
                None
            }
            WakeBy::Foreign(waker) => Some(waker),
        }
    }
}

/// Those who await a flow.
pub(crate) type Awaiters = Vec<Rc<Ending>>;

/// Adds one; those that have given up go before the list grows.
pub(crate) fn add(awaiters: &mut Awaiters, ending: &Rc<Ending>) {
    if awaiters.len() == awaiters.capacity() {
        awaiters.retain(|ending| ending.is_awaited());
    }
    awaiters.push(Rc::clone(ending));
}

/// How an awaiter is woken: through the inbox, so that the first woken is the first.
pub(crate) enum WakeBy {
    /// A flow, in its turn.
    Flow(Arc<WakeInbox>, FlowId),
    /// A waker that is not the flow's own.
    Foreign(Waker),
}
