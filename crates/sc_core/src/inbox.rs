//! The inbox: the one thing through which other threads reach a runtime.

use std::collections::HashSet;
use std::panic::Location;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::cx::Cx;
use crate::tick::{OnDrop, TickId};

type PostedFn<H> = dyn FnOnce(&mut Cx<'_, H>) + Send;

/// A closure on its way to the game thread.
pub(crate) struct Posted<H: 'static> {
    pub(crate) run: Box<PostedFn<H>>,
    pub(crate) from: &'static Location<'static>,
}

struct Queues<H: 'static> {
    /// Cleared when the runtime is gone; what arrives later is refused.
    open: bool,
    posted: Vec<Posted<H>>,
    dropped: Vec<(TickId, OnDrop)>,
    /// The same, to be asked for one of them.
    is_dropped: HashSet<TickId>,
}

pub(crate) struct Inbox<H: 'static> {
    queues: Mutex<Queues<H>>,
    /// Whether `dropped` holds anything: read before every callback, so that a dropped owner
    /// is honoured at once without taking the lock.
    any_dropped: AtomicBool,
}

/// What an owner needs of the inbox, whatever the host type.
pub(crate) trait OwnerSink: Send + Sync {
    fn owner_dropped(&self, id: TickId, then: OnDrop);
}

impl<H> Inbox<H> {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Inbox {
            queues: Mutex::new(Queues {
                open: true,
                posted: Vec::new(),
                dropped: Vec::new(),
                is_dropped: HashSet::new(),
            }),
            any_dropped: AtomicBool::new(false),
        })
    }

    /// Nothing in here runs user code while the lock is held, so a poisoned lock is still whole.
    fn lock(&self) -> MutexGuard<'_, Queues<H>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[inline]
    pub(crate) fn any_dropped(&self) -> bool {
        self.any_dropped.load(Ordering::Acquire)
    }

    /// Whether the owner of `id` was dropped and the runtime has not marked its object yet.
    pub(crate) fn is_dropped(&self, id: TickId) -> bool {
        self.any_dropped() && self.lock().is_dropped.contains(&id)
    }

    /// Moves the dropped owners to the end of `into`, in order of arrival.
    #[cold]
    pub(crate) fn take_dropped(&self, into: &mut Vec<(TickId, OnDrop)>) {
        let mut queues = self.lock();
        self.any_dropped.store(false, Ordering::Release);
        into.append(&mut queues.dropped);
        // What a burst has left is not to cost each later one.
        if queues.is_dropped.capacity() > 64 + 4 * queues.is_dropped.len() {
            queues.is_dropped = HashSet::new();
        } else {
            queues.is_dropped.clear();
        }
    }

    /// Moves the posted closures to the end of `into`, in order of arrival.
    pub(crate) fn take_posted(&self, into: &mut std::collections::VecDeque<Posted<H>>) {
        into.extend(self.lock().posted.drain(..));
    }

    /// The runtime is gone: what still lies here is dropped, what comes is refused.
    pub(crate) fn close(&self) {
        let left = {
            let mut queues = self.lock();
            queues.open = false;
            queues.dropped.clear();
            queues.is_dropped.clear();
            std::mem::take(&mut queues.posted)
        };
        // Outside the lock: a closure's captures may post, or drop owners, when dropped.
        drop(left);
    }
}

impl<H> OwnerSink for Inbox<H> {
    fn owner_dropped(&self, id: TickId, then: OnDrop) {
        let mut queues = self.lock();
        if queues.open {
            queues.dropped.push((id, then));
            queues.is_dropped.insert(id);
            self.any_dropped.store(true, Ordering::Release);
        }
    }
}

/// Posts closures to the game thread from any thread. Made by
/// [`Runtime::poster`](crate::Runtime::poster); cheap to clone.
///
/// Closures run in the next `Begin`, before the clocks advance, in order of arrival. What
/// arrives from other threads is outside the promise of determinism.
pub struct Poster<H: 'static> {
    inbox: Arc<Inbox<H>>,
}

/// The runtime a closure was posted to is gone; the closure was dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "the runtime is gone: stop the thread that posts, or keep the runtime alive until it has ended"
)]
pub struct RuntimeGone;

impl<H> Poster<H> {
    pub(crate) fn new(inbox: Arc<Inbox<H>>) -> Self {
        Poster { inbox }
    }

    /// Has `run` called on the game thread, in the next frame's `Begin`. Its `Cx` has no world
    /// and no delta.
    ///
    /// ```
    /// use sc_core::{Runtime, secs};
    /// let mut score = 0_u32;
    /// let mut rt = Runtime::<u32>::new();
    /// let poster = rt.poster();
    /// std::thread::spawn(move || poster.post(|cx| *cx.host_mut() += 5)).join().unwrap().unwrap();
    /// rt.tick_secs(&mut score, 0.016)?;
    /// assert_eq!(score, 5);
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`RuntimeGone`] when there is no runtime any more; the closure is dropped on this thread.
    #[track_caller]
    pub fn post(
        &self,
        run: impl FnOnce(&mut Cx<'_, H>) + Send + 'static,
    ) -> Result<(), RuntimeGone> {
        let posted = Posted {
            run: Box::new(run),
            from: Location::caller(),
        };
        let mut queues = self.inbox.lock();
        if !queues.open {
            drop(queues);
            return Err(RuntimeGone);
        }
        queues.posted.push(posted);
        Ok(())
    }
}

impl<H> Clone for Poster<H> {
    fn clone(&self) -> Self {
        Poster {
            inbox: Arc::clone(&self.inbox),
        }
    }
}
