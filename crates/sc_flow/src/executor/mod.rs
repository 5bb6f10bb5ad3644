//! The executor: slots in which flows live, and the calls that start, find and end them.

pub(crate) mod bodies;
pub(crate) mod end;
pub(crate) mod home;
pub(crate) mod run;
pub(crate) mod start;
pub(crate) mod wake;

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Waker;

use sc_core::{Clock, Cx, Extension, Life, Stage, TeardownPhase, WorldId};

use self::bodies::Bodies;
use self::home::{Home, Local, Registered, Waiter};
use self::wake::{FlowWaker, SharedWaker, WakeInbox};
use crate::error::FlowError;
use crate::finish::FlowFinish;
use crate::id::FlowId;
use crate::list::{FlowInfo, FlowKind, Progress, WaitingFor};
use crate::node::Node;
use crate::watch::Watch;

pub(crate) type BoxFuture = Pin<Box<dyn Future<Output = Result<(), FlowError>>>>;

/// What a flow is made of.
pub(crate) enum Body<H: 'static> {
    Node(Box<dyn Node<H>>),
    Future(BoxFuture),
}

/// What was asked of a flow while it was running.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Request {
    None,
    End(FlowFinish),
}

pub(crate) type Finished<H> = Box<dyn FnOnce(&mut Cx<'_, H>, FlowFinish)>;

/// A flow.
pub(crate) struct Flow<H: 'static> {
    pub(crate) request: Request,
    pub(crate) home: Rc<Home>,
    pub(crate) local: Local,
    /// The number of its start.
    pub(crate) start: u64,
    pub(crate) name: Cow<'static, str>,
    pub(crate) kind: FlowKind,
    /// The clock by which it runs every frame: it is not run while that stands still.
    pub(crate) clock: Clock,
    pub(crate) owner: Option<Life>,
    pub(crate) location: &'static Location<'static>,
    pub(crate) on_finished: Option<Finished<H>>,
    /// A node's sleep.
    pub(crate) sleep: Option<Registered>,
    /// Its own waker, once a poll has kept a clone of the shared one.
    pub(crate) waker: Option<Waker>,
    /// Paused by itself.
    pub(crate) paused: bool,
    /// Its turn came while it was paused.
    pub(crate) missed: bool,
    /// Since when it waits for what it waits for, on the runtime's clock (ns).
    pub(crate) since: u64,
    pub(crate) waiting_for: WaitingFor,
    pub(crate) warned: bool,
    /// What a node that it awaits waits for, and how far that has come.
    pub(crate) note: Option<(WaitingFor, Progress)>,
    /// The error its future has ended with.
    pub(crate) failed: Option<String>,
    /// Where a task keeps how it ended.
    pub(crate) finish: Option<Rc<Cell<Option<FlowFinish>>>>,
    /// Polls in the present stage, and which stage that was.
    pub(crate) polls: u32,
    pub(crate) polls_ever: u64,
    pub(crate) polled_in: u64,
    pub(crate) cap_reported: bool,
    /// Who awaits its end.
    pub(crate) awaited_by: Vec<crate::join::Awaiter>,
}

pub(crate) struct Slot<H: 'static> {
    pub(crate) generation: u32,
    pub(crate) flow: Option<Flow<H>>,
}

/// The executor's state in a runtime.
pub(crate) struct Flows<H: 'static> {
    pub(crate) bodies: Rc<Bodies<H>>,
    pub(crate) slots: Vec<Slot<H>>,
    pub(crate) free: Vec<u32>,
    pub(crate) started: u64,
    /// The flow that is having its turn.
    pub(crate) running: Option<FlowId>,
    /// `continue_loop` was called for it from its own body.
    pub(crate) continued: bool,
    /// The home of flows bound to the runtime.
    pub(crate) home: Rc<Home>,
    pub(crate) by_owner: BTreeMap<Life, Vec<FlowId>>,
    pub(crate) inbox: Arc<WakeInbox>,
    pub(crate) shared_waker: Arc<SharedWaker>,
    pub(crate) first_waker: Waker,
    pub(crate) watch: Watch,
    pub(crate) scratch: Scratch,
}

/// Memory of the stage, kept between frames.
#[derive(Default)]
pub(crate) struct Scratch {
    pub(crate) due: Vec<Waiter>,
    pub(crate) woken: Vec<Local>,
    pub(crate) ids: Vec<FlowId>,
    pub(crate) wakers: Vec<Waker>,
}

/// The home of a world's flows, as state of the world.
#[derive(Default)]
pub(crate) struct WorldHome(pub(crate) Option<Rc<Home>>);

impl<H> Default for Flows<H> {
    fn default() -> Self {
        let shared_waker = Arc::new(SharedWaker::default());
        Flows {
            bodies: Rc::default(),
            slots: Vec::new(),
            free: Vec::new(),
            started: 0,
            running: None,
            continued: false,
            home: Rc::new(Home::new(None)),
            by_owner: BTreeMap::new(),
            inbox: Arc::default(),
            first_waker: Waker::from(Arc::clone(&shared_waker)),
            shared_waker,
            watch: Watch::default(),
            scratch: Scratch::default(),
        }
    }
}

impl<H> Flows<H> {
    pub(crate) fn get(&self, id: FlowId) -> Option<&Flow<H>> {
        let slot = self.slots.get(id.index as usize)?;
        (slot.generation == id.generation).then_some(slot.flow.as_ref()?)
    }

    pub(crate) fn get_mut(&mut self, id: FlowId) -> Option<&mut Flow<H>> {
        let slot = self.slots.get_mut(id.index as usize)?;
        (slot.generation == id.generation).then_some(slot.flow.as_mut()?)
    }

    pub(crate) fn id(&self, slot: u32) -> Option<FlowId> {
        let generation = self.slots.get(slot as usize)?.generation;
        Some(FlowId {
            index: slot,
            generation,
        })
    }

    pub(crate) fn insert(&mut self, flow: Flow<H>) -> FlowId {
        let index = match self.free.pop() {
            Some(index) => {
                self.slots[index as usize].flow = Some(flow);
                index
            }
            None => {
                self.slots.push(Slot {
                    generation: 0,
                    flow: Some(flow),
                });
                u32::try_from(self.slots.len() - 1).unwrap_or(u32::MAX)
            }
        };
        FlowId {
            index,
            generation: self.slots[index as usize].generation,
        }
    }

    /// The slot that `insert` will use next.
    pub(crate) fn next_slot(&self) -> u32 {
        let fresh = u32::try_from(self.slots.len()).unwrap_or(u32::MAX);
        self.free.last().copied().unwrap_or(fresh)
    }

    pub(crate) fn remove(&mut self, id: FlowId) -> Option<Flow<H>> {
        self.get(id)?;
        let slot = self.slots.get_mut(id.index as usize)?;
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push(id.index);
        let flow = slot.flow.take()?;
        if let Some(owner) = flow.owner
            && let Some(bound) = self.by_owner.get_mut(&owner)
        {
            bound.retain(|&other| other != id);
            if bound.is_empty() {
                self.by_owner.remove(&owner);
            }
        }
        Some(flow)
    }

    /// Every flow that satisfies a condition, in order of start.
    pub(crate) fn ids_where(&self, is: impl Fn(&Flow<H>) -> bool) -> Vec<FlowId> {
        let mut found: Vec<(u64, FlowId)> = (0..)
            .zip(&self.slots)
            .filter_map(|(index, slot)| {
                let flow = slot.flow.as_ref().filter(|flow| is(flow))?;
                let generation = slot.generation;
                Some((flow.start, FlowId { index, generation }))
            })
            .collect();
        found.sort_unstable();
        found.into_iter().map(|(_, id)| id).collect()
    }

    pub(crate) fn info(&self, id: FlowId, now: u64) -> Option<FlowInfo> {
        let flow = self.get(id)?;
        let looked = self.bodies.look(id.index, |body| match body {
            Body::Node(node) => Some((node.progress(), node.waiting_for())),
            Body::Future(_) => None,
        });
        let noted = flow
            .note
            .map_or((Progress::Unknown, flow.waiting_for), |(w, p)| (p, w));
        let looked = looked.flatten();
        let waiting = match looked {
            Some(_) => now.saturating_sub(flow.since),
            None => flow.home.waiting(flow.local),
        };
        let (progress, waiting_for) = looked.unwrap_or(noted);
        let waiting_for = match waiting_for {
            _ if flow.paused => WaitingFor::Resume,
            _ if flow.polls_ever == 0 => WaitingFor::Start,
            other => other,
        };
        Some(FlowInfo {
            id,
            name: flow.name.clone().into_owned(),
            kind: flow.kind,
            world: flow.home.world,
            owner: flow.owner,
            progress,
            waiting_for,
            waiting: std::time::Duration::from_nanos(waiting),
            started_at: flow.location,
        })
    }

    /// Whether a flow is having its turn.
    pub(crate) fn is_running(&self, id: FlowId) -> bool {
        self.get(id).is_some() && self.bodies.is_out(id.index)
    }

    /// A waker of a flow's own.
    pub(crate) fn own_waker(&self, id: FlowId) -> Waker {
        Waker::from(Arc::new(FlowWaker {
            id,
            inbox: Arc::clone(&self.inbox),
        }))
    }
}

/// The executor of a runtime, installed on first use.
pub(crate) fn flows<'c, H>(cx: &'c mut Cx<'_, H>) -> &'c mut Flows<H> {
    if cx.runtime().state::<Flows<H>>().is_none() {
        let extension = Extension::<H>::new("flow")
            .on_world_stage(Stage::Flows, run::world_stage)
            .on_runtime_stage(Stage::Flows, run::runtime_stage)
            .on_teardown(TeardownPhase::Flows, end::world_ends)
            .on_lives_ended(end::lives_ended)
            .on_runtime_teardown(end::runtime_ends)
            .inspected_by(inspect);
        cx.install(extension);
    }
    cx.runtime_state()
}

fn inspect<H: 'static>(rt: &sc_core::Runtime<H>) -> Vec<String> {
    let Some(flows) = rt.state::<Flows<H>>() else {
        return Vec::new();
    };
    let ids = flows.ids_where(|_| true);
    let infos = ids
        .into_iter()
        .filter_map(|id| flows.info(id, flows.watch.now));
    infos
        .map(|f| {
            format!(
                "{} {:?} {:?} waiting for {:?} since {:?}, started at {}",
                f.name, f.kind, f.progress, f.waiting_for, f.waiting, f.started_at
            )
        })
        .collect()
}

/// The home of a world's flows, or of the runtime's.
pub(crate) fn home_of<H>(cx: &mut Cx<'_, H>, world: Option<WorldId>) -> Option<Rc<Home>> {
    let Some(world) = world else {
        return Some(Rc::clone(&flows(cx).home));
    };
    let home = cx.world_state::<WorldHome>(world).ok()?;
    let home = home
        .0
        .get_or_insert_with(|| Rc::new(Home::new(Some(world))));
    Some(Rc::clone(home))
}
