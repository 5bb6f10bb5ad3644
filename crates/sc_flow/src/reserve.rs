//! Ids that are given out before their flows start: a [`Reservation`], what others see of it, and the list of
//! those that a runtime knows.
//!
//! Nothing in here calls user code. A fate is locked before a list, never after.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::finish::FlowFinish;
use crate::id::FlowId;

/// How many were ever given out. It tells nothing of any of them.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// What has become of a flow whose id was [reserved](FlowId::reserve).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum FlowState {
    /// It may yet start.
    Pending,
    /// It lives.
    Running,
    /// It has ended: `Cancelled` perhaps before it started, `Panicked` perhaps in the call that was to start it, `Aborted`
    /// also when its runtime was dropped, which calls nothing.
    Ended(FlowFinish),
    /// It never starts: what it was to be bound to is not there, or its reservation was dropped.
    Refused,
}

/// The id of a flow that has not started: made by [`FlowId::reserve`], used by
/// [`Flow::reserved`](crate::Flow::reserved). Dropping it unused means that the flow never starts: who awaits
/// it gets [`FlowError::Aborted`](crate::FlowError::Aborted).
#[derive(Debug)]
#[must_use = "a dropped reservation is given back: no flow starts with its id"]
pub struct Reservation(Reserved);

/// What others have of a [`Reservation`]: `Send + Sync`, and cheap to clone.
#[derive(Clone, Debug)]
pub struct Reserved(Arc<Cell>);

/// The flows that a runtime knows and that have not started: from
/// [`FlowExt::pending_flows`](crate::FlowExt::pending_flows). `Send + Sync`, cheap to clone, and of no effect when
/// the runtime is gone.
///
/// ```
/// use sc_core::Runtime;
/// use sc_flow::{FlowError, FlowExt, FlowId};
/// let (mut rt, mut host) = (Runtime::<()>::new(), ());
/// let mut cx = rt.cx(&mut host);
/// let pending = cx.pending_flows();
/// let asked = std::thread::spawn(move || {
///     let reservation = FlowId::reserve();
///     pending.add(reservation.reserved());
///     reservation
/// });
/// let reservation = asked.join().unwrap();
/// assert!(matches!(cx.flow(reservation.id()), Err(FlowError::Pending)));
/// ```
#[derive(Clone, Debug)]
pub struct PendingFlows(Arc<List>);

#[derive(Debug)]
struct Cell {
    id: FlowId,
    fate: Mutex<Fate>,
}

#[derive(Debug)]
struct Fate {
    state: FlowState,
    /// Those that know it, as long as it is pending.
    known_in: SmallVec<[Weak<List>; 1]>,
}

#[derive(Default, Debug)]
struct List {
    pending: Mutex<FxHashMap<FlowId, Entry>>,
    unstarted: Mutex<Vec<(FlowId, FlowFinish)>>,
    any_unstarted: AtomicBool,
}

#[derive(Debug)]
struct Entry {
    of: Reserved,
    /// By a flow of the runtime.
    is_awaited: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl FlowId {
    /// Gives out the id of a flow that is to be started later: at once, on any thread, without a runtime.
    ///
    /// A runtime that [was told](PendingFlows::add) of it knows that the flow is *pending* until it starts:
    /// [`cx.flow(id)`](crate::FlowExt::flow) says so ([`FlowError::Pending`](crate::FlowError::Pending)),
    /// [`cx.cancel(id)`](crate::FlowExt::cancel) keeps it from starting, and
    /// [`fx.flow(id)`](crate::FlowCx::flow) waits for its start, and then for its end. Lists do not have it, and it
    /// cannot be paused. To any other runtime it is [`FlowError::Gone`](crate::FlowError::Gone), as an unknown
    /// one is.
    ///
    /// ```
    /// use sc_core::{Runtime, WorldKind};
    /// use sc_flow::{Flow, FlowError, FlowExt, FlowFinish, FlowId};
    /// let (mut rt, mut log) = (Runtime::<Vec<FlowFinish>>::new(), Vec::new());
    /// let mut cx = rt.cx(&mut log);
    /// let level = cx.create_world(WorldKind::Game)?;
    ///
    /// let reservation = std::thread::spawn(FlowId::reserve).join().unwrap();
    /// let id = reservation.id();
    /// assert!(matches!(cx.flow(id), Err(FlowError::Gone)));
    /// cx.pending_flows().add(reservation.reserved());
    /// assert!(matches!(cx.flow(id), Err(FlowError::Pending)));
    ///
    /// Flow::new("waiter").world(level).spawn(&mut cx, async move |fx| {
    ///     let finish = fx.flow(id).await?;
    ///     fx.with(|cx| cx.host_mut().push(finish))
    /// })?;
    /// rt.tick_secs(&mut log, 0.25)?;
    /// let mut cx = rt.cx(&mut log);
    /// let flow = Flow::new("later").world(level).reserved(reservation);
    /// assert_eq!(flow.spawn(&mut cx, async |_| Ok(()))?, id);
    /// rt.tick_secs(&mut log, 0.25)?;
    /// assert_eq!(log, [FlowFinish::Completed]);
    /// # Ok::<(), FlowError>(())
    /// ```
    pub fn reserve() -> Reservation {
        Reservation(Reserved(Arc::new(Cell {
            id: FlowId::of_number(NEXT.fetch_add(1, Ordering::Relaxed)),
            fate: Mutex::new(Fate {
                state: FlowState::Pending,
                known_in: SmallVec::new(),
            }),
        })))
    }
}

impl Reservation {
    /// The id that the flow will have.
    #[must_use]
    pub fn id(&self) -> FlowId {
        self.0.id()
    }

    /// What others may have of it.
    #[must_use]
    pub fn reserved(&self) -> &Reserved {
        &self.0
    }

    /// Its flow starts; who awaits it in another runtime will not hear of its end. `false` when it was cancelled.
    pub(crate) fn starts(&self) -> bool {
        self.0.leave(FlowState::Running, FlowFinish::Aborted)
    }

    /// Its flow is refused; who awaits it hears the finish.
    pub(crate) fn refuse(self, finish: FlowFinish) {
        let state = match finish {
            FlowFinish::Aborted => FlowState::Refused,
            finish => FlowState::Ended(finish),
        };
        self.0.leave(state, finish);
    }

    /// Its flow has ended.
    pub(crate) fn ends(&self, finish: FlowFinish) {
        lock(&self.0.0.fate).state = FlowState::Ended(finish);
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let Reserved(cell) = &self.0;
        let mut fate = lock(&cell.fate);
        match fate.state {
            FlowState::Pending => fate.leave(cell.id, FlowState::Refused, FlowFinish::Aborted),
            // Its runtime was dropped, and tells nobody.
            FlowState::Running => fate.state = FlowState::Ended(FlowFinish::Aborted),
            FlowState::Ended(_) | FlowState::Refused => {}
        }
    }
}

impl Reserved {
    /// The id that the flow will have.
    #[must_use]
    pub fn id(&self) -> FlowId {
        self.0.id
    }

    /// Cancels the flow before it starts: it never does, and who awaits it is told. `false` when it has started,
    /// was cancelled before, or never starts for another reason.
    ///
    /// ```
    /// # use sc_core::Runtime;
    /// # use sc_flow::*;
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// let reservation = FlowId::reserve();
    /// let reserved = reservation.reserved().clone();
    /// assert!(reserved.cancel());
    /// assert_eq!(reserved.state(), FlowState::Ended(FlowFinish::Cancelled));
    /// let flow = Flow::new("never").runtime().reserved(reservation);
    /// let started = flow.spawn(&mut cx, async |_| Ok(()));
    /// assert!(matches!(started, Err(FlowError::Cancelled)));
    /// assert!(!reserved.cancel());
    /// ```
    pub fn cancel(&self) -> bool {
        let cancelled = FlowState::Ended(FlowFinish::Cancelled);
        self.leave(cancelled, FlowFinish::Cancelled)
    }

    /// What has become of it. It has ended before its `on_finished` is called.
    ///
    /// ```
    /// # use sc_core::Runtime;
    /// # use sc_flow::*;
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// let reservation = FlowId::reserve();
    /// let reserved = reservation.reserved().clone();
    /// assert_eq!(reserved.state(), FlowState::Pending);
    /// let flow = Flow::new("later").runtime().reserved(reservation);
    /// flow.spawn(&mut rt.cx(&mut host), async |fx| fx.next_tick().await)?;
    /// assert_eq!(reserved.state(), FlowState::Running);
    /// for _ in 0..2 { rt.tick_secs(&mut host, 0.25)?; }
    /// assert_eq!(reserved.state(), FlowState::Ended(FlowFinish::Completed));
    /// # Ok::<(), FlowError>(())
    /// ```
    #[must_use]
    pub fn state(&self) -> FlowState {
        lock(&self.0.fate).state
    }

    /// It is pending no more: see [`Fate::leave`]. `false` when it was not.
    fn leave(&self, to: FlowState, finish: FlowFinish) -> bool {
        let mut fate = lock(&self.0.fate);
        let is_pending = fate.state == FlowState::Pending;
        if is_pending {
            fate.leave(self.0.id, to, finish);
        }
        is_pending
    }
}

impl Fate {
    /// The flow is pending no more: no list has it, and those who await it hear the finish.
    fn leave(&mut self, id: FlowId, to: FlowState, finish: FlowFinish) {
        self.state = to;
        for list in self.known_in.drain(..).filter_map(|list| list.upgrade()) {
            list.remove(id, finish);
        }
    }
}

impl PendingFlows {
    /// The list of a runtime.
    pub(crate) fn new() -> Self {
        PendingFlows(Arc::default())
    }

    /// The runtime knows of a flow from now on. Of no effect when that is pending no more.
    pub fn add(&self, flow: &Reserved) {
        let mut fate = lock(&flow.0.fate);
        if fate.state == FlowState::Pending {
            lock(&self.0.pending).entry(flow.id()).or_insert_with(|| {
                fate.known_in.push(Arc::downgrade(&self.0));
                Entry {
                    of: flow.clone(),
                    is_awaited: false,
                }
            });
        }
    }

    /// Whether a flow is pending.
    pub(crate) fn has(&self, id: FlowId) -> bool {
        id.is_reserved() && lock(&self.0.pending).contains_key(&id)
    }

    /// Cancels a pending flow: it has ended, and never starts. `false` when it is not pending.
    pub(crate) fn cancel(&self, id: FlowId) -> bool {
        if !id.is_reserved() {
            return false;
        }
        let found = lock(&self.0.pending).get(&id).map(|entry| entry.of.clone());
        found.is_some_and(|reserved| reserved.cancel())
    }

    /// A flow of the runtime awaits a pending one, and is to hear when that will never start. `false` when it is
    /// not pending.
    pub(crate) fn awaits(&self, id: FlowId) -> bool {
        if !id.is_reserved() {
            return false;
        }
        let mut pending = lock(&self.0.pending);
        let entry = pending.get_mut(&id);
        entry.map(|entry| entry.is_awaited = true).is_some()
    }

    /// Takes those that are awaited and will never start.
    pub(crate) fn take_unstarted(&self) -> Vec<(FlowId, FlowFinish)> {
        if !self.0.any_unstarted.load(Ordering::Acquire) {
            return Vec::new();
        }
        let mut unstarted = lock(&self.0.unstarted);
        self.0.any_unstarted.store(false, Ordering::Release);
        std::mem::take(&mut unstarted)
    }
}

impl List {
    /// A flow is pending no more; who awaits it is to hear the finish.
    fn remove(&self, id: FlowId, finish: FlowFinish) {
        let entry = lock(&self.pending).remove(&id);
        if entry.is_some_and(|entry| entry.is_awaited) {
            lock(&self.unstarted).push((id, finish));
            self.any_unstarted.store(true, Ordering::Release);
        }
    }
}
