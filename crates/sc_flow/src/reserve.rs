//! Ids that are given out before their flows start. The whole process has one list of them: who reserves an
//! id need not know the runtime, which may be out of reach, or on another thread.
//!
//! Nothing in here calls user code, or locks anything else while the list is locked.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, DefaultHasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::executor::wake::WakeInbox;
use crate::finish::FlowFinish;
use crate::id::FlowId;

static LIST: Mutex<List> = Mutex::new(List {
    given: 0,
    reserved: HashMap::with_hasher(BuildHasherDefault::new()),
});

struct List {
    /// How many were ever given out.
    given: u64,
    /// Those whose reservations are there.
    reserved: HashMap<FlowId, Entry, BuildHasherDefault<DefaultHasher>>,
}

#[derive(Default)]
struct Entry {
    is_cancelled: bool,
    /// Of the runtimes in which flows await it.
    awaited_in: Vec<Arc<WakeInbox>>,
}

fn list() -> MutexGuard<'static, List> {
    LIST.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The id of a flow that has not started: made by [`FlowId::reserve`], used by
/// [`Flow::reserved`](crate::Flow::reserved). Dropping it unused means that the flow never starts: who awaits
/// it gets [`FlowError::Aborted`](crate::FlowError::Aborted).
#[derive(Debug)]
#[must_use = "a dropped reservation is given back: no flow starts with its id"]
pub struct Reservation(FlowId);

/// What is known of a flow whose reservation is there.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Reserved {
    /// It may start.
    Pending,
    /// It was cancelled, and will not.
    Cancelled,
}

impl FlowId {
    /// Gives out the id of a flow that is to be started later: at once, on any thread, without a runtime.
    ///
    /// Until then it is *pending*: [`cx.flow(id)`](crate::FlowExt::flow) says so
    /// ([`FlowError::Pending`](crate::FlowError::Pending)), [`cx.cancel(id)`](crate::FlowExt::cancel) keeps it
    /// from starting, and [`fx.flow(id)`](crate::FlowCx::flow) waits for its start, and then for its end.
    /// Lists do not have it, and it cannot be paused.
    ///
    /// ```
    /// use sc_core::{Runtime, WorldKind};
    /// use sc_flow::{Flow, FlowError, FlowExt, FlowFinish, FlowId};
    /// let reservation = std::thread::spawn(FlowId::reserve).join().unwrap();
    /// let id = reservation.id();
    ///
    /// let (mut rt, mut log) = (Runtime::<Vec<FlowFinish>>::new(), Vec::new());
    /// let mut cx = rt.cx(&mut log);
    /// let level = cx.create_world(WorldKind::Game)?;
    /// Flow::new("waiter").world(level).spawn(&mut cx, async move |fx| {
    ///     let finish = fx.flow(id).await?;
    ///     fx.with(|cx| cx.host_mut().push(finish))
    /// })?;
    /// rt.tick_secs(&mut log, 0.25)?;
    /// let mut cx = rt.cx(&mut log);
    /// assert!(matches!(cx.flow(id), Err(FlowError::Pending)));
    /// let flow = Flow::new("later").world(level).reserved(reservation);
    /// assert_eq!(flow.spawn(&mut cx, async |_| Ok(()))?, id);
    /// rt.tick_secs(&mut log, 0.25)?;
    /// assert_eq!(log, [FlowFinish::Completed]);
    /// # Ok::<(), FlowError>(())
    /// ```
    pub fn reserve() -> Reservation {
        let mut list = list();
        let id = FlowId::of_number(list.given);
        list.given += 1;
        list.reserved.insert(id, Entry::default());
        Reservation(id)
    }

    /// What is known of a flow that has not started, from anywhere. `None` when it has, when its reservation
    /// was dropped or its start refused, and of an id that never was reserved.
    ///
    /// ```
    /// use sc_core::Runtime;
    /// use sc_flow::{FlowExt, FlowId, Reserved};
    /// let reservation = FlowId::reserve();
    /// let id = reservation.id();
    /// assert_eq!(id.reserved(), Some(Reserved::Pending));
    /// let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// assert!(rt.cx(&mut host).cancel(id));
    /// assert_eq!(id.reserved(), Some(Reserved::Cancelled));
    /// drop(reservation);
    /// assert_eq!(id.reserved(), None);
    /// ```
    #[must_use]
    pub fn reserved(self) -> Option<Reserved> {
        if !self.is_reserved() {
            return None;
        }
        list().reserved.get(&self).map(|entry| {
            if entry.is_cancelled {
                Reserved::Cancelled
            } else {
                Reserved::Pending
            }
        })
    }
}

impl Reservation {
    /// The id that the flow will have.
    #[must_use]
    pub fn id(&self) -> FlowId {
        self.0
    }

    /// Its flow starts, in the runtime of an inbox. In another one nobody will hear of its end.
    pub(crate) fn start(self, here: &Arc<WakeInbox>) -> FlowId {
        self.leave(FlowFinish::Aborted, Some(here));
        self.0
    }

    /// Its flow is refused; who awaits it hears the finish.
    pub(crate) fn refuse(self, finish: FlowFinish) {
        self.leave(finish, None);
    }

    /// It is on the list no more: those who await it are told, but for those here.
    fn leave(&self, finish: FlowFinish, here: Option<&Arc<WakeInbox>>) {
        let entry = list().reserved.remove(&self.0).unwrap_or_default();
        for inbox in entry.awaited_in {
            if !here.is_some_and(|here| Arc::ptr_eq(here, &inbox)) {
                inbox.never_starts(self.0, finish);
            }
        }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.leave(FlowFinish::Aborted, None);
    }
}

/// Cancels a pending flow: it has ended, and never starts. `false` when it is not pending.
pub(crate) fn cancel(id: FlowId) -> bool {
    if !id.is_reserved() {
        return false;
    }
    let mut list = list();
    let pending = list.reserved.get_mut(&id);
    let Some(entry) = pending.filter(|entry| !entry.is_cancelled) else {
        return false;
    };
    entry.is_cancelled = true;
    let awaited_in = std::mem::take(&mut entry.awaited_in);
    drop(list);
    for inbox in awaited_in {
        inbox.never_starts(id, FlowFinish::Cancelled);
    }
    true
}

/// Tells an inbox when a pending flow will never start. `false` when it is not pending.
pub(crate) fn is_awaited_in(id: FlowId, inbox: &Arc<WakeInbox>) -> bool {
    if !id.is_reserved() {
        return false;
    }
    let mut list = list();
    let pending = list.reserved.get_mut(&id);
    let Some(entry) = pending.filter(|entry| !entry.is_cancelled) else {
        return false;
    };
    if !entry
        .awaited_in
        .iter()
        .any(|known| Arc::ptr_eq(known, inbox))
    {
        entry.awaited_in.push(Arc::clone(inbox));
    }
    true
}
