//! Wakes from outside: the one object of the executor that other threads share.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Wake, Waker};

use crate::id::FlowId;

/// Flows that were woken, in order of arrival.
#[derive(Default)]
pub(crate) struct WakeInbox {
    woken: Mutex<Vec<FlowId>>,
    any: AtomicBool,
    /// Nobody reads it any more.
    closed: AtomicBool,
}

impl WakeInbox {
    pub(crate) fn push(&self, id: FlowId) {
        let mut woken = self.woken.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.closed.load(Ordering::Acquire) {
            woken.push(id);
            self.any.store(true, Ordering::Release);
        }
    }

    /// Moves those woken to the end of `into`.
    pub(crate) fn take(&self, into: &mut Vec<FlowId>) {
        if self.any.load(Ordering::Acquire) {
            let mut woken = self.woken.lock().unwrap_or_else(PoisonError::into_inner);
            self.any.store(false, Ordering::Release);
            into.append(&mut woken);
        }
    }

    /// Wakes are inert from now on.
    pub(crate) fn close(&self) {
        let mut woken = self.woken.lock().unwrap_or_else(PoisonError::into_inner);
        self.closed.store(true, Ordering::Release);
        woken.clear();
    }
}

/// A waker. It is nobody's as long as polls leave no clone of it: most never keep one. The first flow
/// that does gets it as its own, with whoever has it, and the others a fresh one.
///
/// Late wakes are inert: the id is stale, or the inbox is closed.
struct FlowWaker {
    /// The [word](FlowId::word) of the flow whose it is; nobody's at first.
    of: AtomicU64,
    /// It was woken while it was nobody's.
    woken: AtomicBool,
    inbox: Arc<WakeInbox>,
}

impl Wake for FlowWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // In this order, and in the other one where it gets its flow: no wake falls between.
        self.woken.store(true, Ordering::SeqCst);
        let of = self.of.load(Ordering::SeqCst);
        if of != FlowId::NOBODY.word() {
            self.inbox.push(FlowId::of_word(of));
        }
    }
}

/// The waker that flows are polled with, until one keeps it.
pub(crate) struct SharedWaker {
    arc: Arc<FlowWaker>,
    pub(crate) waker: Waker,
}

/// Those in a [`SharedWaker`].
const REFERENCES: usize = 2;

impl SharedWaker {
    pub(crate) fn new(inbox: &Arc<WakeInbox>) -> Self {
        let arc = Arc::new(FlowWaker {
            of: AtomicU64::new(FlowId::NOBODY.word()),
            woken: AtomicBool::new(false),
            inbox: Arc::clone(inbox),
        });
        let waker = Waker::from(Arc::clone(&arc));
        SharedWaker { arc, waker }
    }

    /// Whether the last poll has neither kept it nor woken it.
    #[inline]
    pub(crate) fn is_untouched(&self) -> bool {
        !self.is_kept() && !self.arc.woken.load(Ordering::Relaxed)
    }

    /// Whether somebody keeps a clone of it.
    #[inline]
    pub(crate) fn is_kept(&self) -> bool {
        Arc::strong_count(&self.arc) != REFERENCES
    }

    /// Whether it was woken since this was last asked.
    pub(crate) fn take_woken(&self) -> bool {
        self.arc.woken.swap(false, Ordering::SeqCst)
    }

    /// It is a flow's own from now on. A wake that came before reaches the flow.
    pub(crate) fn give_to(&self, flow: FlowId) {
        self.arc.of.store(flow.word(), Ordering::SeqCst);
        if self.take_woken() {
            self.arc.inbox.push(flow);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLOW: FlowId = FlowId {
        index: 7,
        generation: 3,
    };

    fn woken(inbox: &WakeInbox) -> Vec<FlowId> {
        let mut woken = Vec::new();
        inbox.take(&mut woken);
        woken
    }

    #[test]
    fn a_clone_and_a_wake_touch_it() {
        let shared = SharedWaker::new(&Arc::default());
        assert!(shared.is_untouched());
        let clone = shared.waker.clone();
        assert!(shared.is_kept());
        clone.wake();
        assert!(!shared.is_kept() && !shared.is_untouched());
        assert!(shared.take_woken());
        assert!(shared.is_untouched());
    }

    #[test]
    fn a_wake_before_it_has_a_flow_reaches_the_flow() {
        let inbox = Arc::default();
        let shared = SharedWaker::new(&inbox);
        let clone = shared.waker.clone();
        clone.wake_by_ref();
        assert!(woken(&inbox).is_empty());
        shared.give_to(FLOW);
        assert_eq!(woken(&inbox), [FLOW]);
        clone.wake();
        assert_eq!(woken(&inbox), [FLOW]);
    }

    #[test]
    fn a_wake_after_the_end_is_inert() {
        let inbox = Arc::default();
        let shared = SharedWaker::new(&inbox);
        shared.give_to(FLOW);
        inbox.close();
        shared.waker.wake_by_ref();
        assert!(woken(&inbox).is_empty());
    }
}
