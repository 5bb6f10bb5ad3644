//! Wakes from outside: the one object of the executor that other threads share.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Wake;

use crate::id::FlowId;

/// Flows that were woken, in order of arrival.
#[derive(Default)]
pub(crate) struct WakeInbox {
    woken: Mutex<Vec<FlowId>>,
    any: AtomicBool,
}

impl WakeInbox {
    pub(crate) fn push(&self, id: FlowId) {
        let mut woken = self.woken.lock().unwrap_or_else(PoisonError::into_inner);
        woken.push(id);
        self.any.store(true, Ordering::Release);
    }

    /// Moves those woken to the end of `into`.
    pub(crate) fn take(&self, into: &mut Vec<FlowId>) {
        if self.any.load(Ordering::Acquire) {
            let mut woken = self.woken.lock().unwrap_or_else(PoisonError::into_inner);
            self.any.store(false, Ordering::Release);
            into.append(&mut woken);
        }
    }
}

/// A flow's own waker. Late wakes are inert: the id is stale, or the inbox is read no more.
pub(crate) struct FlowWaker {
    pub(crate) id: FlowId,
    pub(crate) inbox: Arc<WakeInbox>,
}

impl Wake for FlowWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.inbox.push(self.id);
    }
}

/// The waker every flow is polled with at first: most never keep it. When a poll has kept a
/// clone, the flow is polled again with a waker of its own.
///
/// A wake is a reference to itself, kept here: so that one look at the number of references tells
/// both who keeps a clone and who was woken.
#[derive(Default)]
pub(crate) struct SharedWaker {
    woken: Mutex<Vec<Arc<SharedWaker>>>,
    any: AtomicBool,
    closed: AtomicBool,
}

impl SharedWaker {
    /// Whether somebody has woken it since this was last asked.
    pub(crate) fn take_woken(&self) -> bool {
        if !self.any.load(Ordering::Acquire) {
            return false;
        }
        let mut woken = self.woken.lock().unwrap_or_else(PoisonError::into_inner);
        self.any.store(false, Ordering::Release);
        woken.pop().is_some()
    }

    /// Wakes are inert from now on.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Release);
        self.take_woken();
    }
}

impl Wake for SharedWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let mut woken = self.woken.lock().unwrap_or_else(PoisonError::into_inner);
        if woken.is_empty() && !self.closed.load(Ordering::Acquire) {
            woken.push(Arc::clone(self));
            self.any.store(true, Ordering::Release);
        }
    }
}
