//! Requests that wait for the runtime: made while it is out of the `World`, or by systems that do not have
//! the `World`.

use std::collections::VecDeque;
use std::mem::take;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bevy_ecs::resource::Resource;
use bevy_ecs::world::World;
use sc_core::{Cx, Runtime};
use sc_flow::PendingFlows;

use crate::error::{CxError, NO_RUNTIME};
use crate::handle::FlowHandle;
use crate::origin::{Origin, What};
use crate::slot::{call, with_runtime};

/// What is to be done with the runtime.
type Request = dyn FnOnce(&mut Cx<'_, World>) + Send;
/// The same, from where the runtime's own thread is.
type LocalRequest = dyn FnOnce(&mut Cx<'_, World>);

const ASKED: &str = "a closure given to `Commands` or `Flows`";

/// Why nobody answers any more.
const SHUT_DOWN: &str = "the runtime has shut down with the app";

/// Requests in order.
struct Waiting<R: ?Sized> {
    requests: VecDeque<(Origin, Box<R>)>,
    /// Why nobody will do what comes, if nobody will: then it is given back.
    closed: Option<&'static str>,
}

impl<R: ?Sized> Default for Waiting<R> {
    fn default() -> Self {
        Waiting {
            requests: VecDeque::new(),
            closed: None,
        }
    }
}

/// Requests that nobody will do, and why.
type Refused<R> = (VecDeque<(Origin, Box<R>)>, &'static str);

impl<R: ?Sized> Waiting<R> {
    fn push(&mut self, request: (Origin, Box<R>)) -> Option<Refused<R>> {
        if let Some(why) = self.closed {
            return Some(([request].into(), why));
        }
        self.requests.push_back(request);
        None
    }

    fn close(&mut self, why: &'static str) -> Refused<R> {
        let why = *self.closed.get_or_insert(why);
        (take(&mut self.requests), why)
    }
}

/// Drops what nobody will do, and says so. The handle of a flow says `Refused` by its own drop.
fn refuse<R: ?Sized>(refused: Option<Refused<R>>) {
    let Some((requests, why)) = refused else {
        return;
    };
    for (origin, request) in requests {
        drop(request);
        if !matches!(origin.what, What::Own) {
            tell_dropped(origin, why);
        }
    }
}

fn tell_dropped(origin: Origin, why: impl std::fmt::Display) {
    tracing::error!(target: "stillcooking", "{origin} was dropped: {why}");
}

/// The requests that systems have made.
#[derive(Resource, Clone)]
pub(crate) struct Queue {
    waiting: Arc<Mutex<Waiting<Request>>>,
    pending: PendingFlows,
}

impl Queue {
    pub(crate) fn new(pending: PendingFlows) -> Self {
        Queue {
            waiting: Arc::default(),
            pending,
        }
    }

    /// Nothing in here runs user code while the lock is held, so a poisoned lock is still whole.
    fn lock(&self) -> MutexGuard<'_, Waiting<Request>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn push(&self, origin: Origin, request: Box<Request>) {
        let back = self.lock().push((origin, request));
        refuse(back);
    }

    /// The start of a flow, which the runtime knows of from now on.
    pub(crate) fn push_start(&self, flow: &FlowHandle, start: Box<Request>) {
        flow.is_pending_in(&self.pending);
        self.push(flow.start_of(), start);
    }

    fn pop(&self) -> Option<Box<Request>> {
        let next = self.lock().requests.pop_front();
        next.map(|(_, request)| request)
    }
}

/// The requests that cannot leave their thread. A non-send resource.
pub(crate) struct LocalQueue {
    waiting: Waiting<LocalRequest>,
    pending: PendingFlows,
}

impl LocalQueue {
    pub(crate) fn new(pending: PendingFlows) -> Self {
        LocalQueue {
            waiting: Waiting::default(),
            pending,
        }
    }

    pub(crate) fn push(&mut self, origin: Origin, request: Box<LocalRequest>) {
        refuse(self.waiting.push((origin, request)));
    }

    /// As [`Queue::push_start`].
    pub(crate) fn push_start(&mut self, flow: &FlowHandle, start: Box<LocalRequest>) {
        flow.is_pending_in(&self.pending);
        self.push(flow.start_of(), start);
    }
}

/// The runtime has shut down: from now on nobody answers.
pub(crate) fn close(world: &mut World) {
    close_because(world, SHUT_DOWN);
}

/// Somebody has taken the runtime away: the same.
pub(crate) fn orphaned(world: &mut World) {
    let queue = world.get_resource::<Queue>();
    if queue.is_some_and(|queue| queue.lock().closed.is_none()) {
        tracing::error!(target: "stillcooking", "the runtime was taken out of the `World`, and everything in it has ended without a call: leave non-send data that is not yours alone");
        close_because(world, NO_RUNTIME);
    }
}

fn close_because(world: &mut World, why: &'static str) {
    if let Some(queue) = world.get_resource::<Queue>().cloned() {
        let left = queue.lock().close(why);
        refuse(Some(left));
    }
    let left = world.get_non_send_mut::<LocalQueue>();
    refuse(left.map(|mut queue| queue.waiting.close(why)));
}

/// Starts a flow now, or at the start of the next stage; see [`ask`]. The runtime knows of it from now on.
pub(crate) fn ask_start(
    world: &mut World,
    flow: &FlowHandle,
    start: impl FnOnce(&mut Cx<'_, World>) + Send + 'static,
) {
    if let Some((queue, start)) = ask_now(world, flow.start_of(), start) {
        queue.push_start(flow, Box::new(start));
    }
}

/// Does a request now, or at the start of the next stage if the runtime is out. Where there is no runtime at
/// all, or one that has shut down, it is dropped, and the log says so: the handle of a flow says `Refused` by that.
pub(crate) fn ask(
    world: &mut World,
    origin: Origin,
    request: impl FnOnce(&mut Cx<'_, World>) + Send + 'static,
) {
    if let Some((queue, request)) = ask_now(world, origin, request) {
        queue.push(origin, Box::new(request));
    }
}

/// Does a request now. Gives it back, if the runtime is out, with the queue that it is for.
fn ask_now<R: FnOnce(&mut Cx<'_, World>)>(
    world: &mut World,
    origin: Origin,
    request: R,
) -> Option<(&Queue, R)> {
    let mut request = Some(request);
    let done = with_runtime(world, |runtime, world| {
        if runtime.is_shut_down() {
            return;
        }
        if let Some(request) = request.take() {
            // A panic that is not to go on has been reported.
            let _ = call(&mut runtime.cx(world), ASKED, request);
        }
    });
    let request = request?;
    match (done, world.get_resource::<Queue>()) {
        (Err(CxError::Running), Some(queue)) => return Some((queue, request)),
        (Err(error), _) => tell_dropped(origin, error),
        (Ok(()), _) => tell_dropped(origin, SHUT_DOWN),
    }
    None
}

/// Does what has been asked for by now. What is asked for meanwhile waits for the next stage, and so does
/// what comes after a request that panics.
pub(crate) fn answer(runtime: &mut Runtime<World>, world: &mut World) {
    // Before any of it is done.
    let queue = world.get_resource::<Queue>();
    let shared = queue.map_or(0, |queue| queue.lock().requests.len());
    // A request may clear the resources.
    let queue = queue.filter(|_| shared > 0).cloned();
    let local = world
        .get_non_send::<LocalQueue>()
        .map_or(0, |queue| queue.waiting.requests.len());
    for _ in 0..shared {
        let Some(request) = queue.as_ref().and_then(Queue::pop) else {
            break;
        };
        let _ = call(&mut runtime.cx(world), ASKED, request);
    }
    for _ in 0..local {
        let queue = world.get_non_send_mut::<LocalQueue>();
        let next = queue.and_then(|mut queue| queue.waiting.requests.pop_front());
        let Some((_, request)) = next else { break };
        let _ = call(&mut runtime.cx(world), ASKED, request);
    }
}
