//! Requests that wait for the runtime: made while it is out of the `World`, or by systems that do not have
//! the `World`.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bevy_ecs::resource::Resource;
use bevy_ecs::world::World;
use sc_core::{Cx, Runtime};

use crate::error::CxError;
use crate::slot::{call, with_runtime};

/// What is to be done with the runtime.
pub(crate) type Request = Box<dyn FnOnce(&mut Cx<'_, World>) + Send>;
/// The same, from where the runtime's own thread is.
pub(crate) type LocalRequest = Box<dyn FnOnce(&mut Cx<'_, World>)>;

const ASKED: &str = "a closure given to `Commands` or `Flows`";

/// The requests that systems have made, in order.
#[derive(Resource, Clone, Default)]
pub(crate) struct Queue(Arc<Mutex<VecDeque<Request>>>);

impl Queue {
    /// Nothing in here runs user code while the lock is held, so a poisoned lock is still whole.
    fn lock(&self) -> MutexGuard<'_, VecDeque<Request>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn push(&self, request: Request) {
        self.lock().push_back(request);
    }

    fn pop(&self) -> Option<Request> {
        self.lock().pop_front()
    }
}

/// The requests that cannot leave their thread. A non-send resource.
#[derive(Default)]
pub(crate) struct LocalQueue(pub(crate) VecDeque<LocalRequest>);

/// Does a request now, or at the start of the next stage if the runtime is out. `false` when
/// there is no runtime at all: then it is dropped, and the log says so.
pub(crate) fn ask(
    world: &mut World,
    request: impl FnOnce(&mut Cx<'_, World>) + Send + 'static,
) -> bool {
    let mut request = Some(request);
    let done = with_runtime(world, |runtime, world| {
        if let Some(request) = request.take() {
            // A panic that is not to go on has been reported.
            let _ = call(&mut runtime.cx(world), ASKED, request);
        }
    });
    let Err(error) = done else {
        return true;
    };
    if error == CxError::Running
        && let (Some(request), Some(queue)) = (request, world.get_resource::<Queue>())
    {
        queue.push(Box::new(request));
        return true;
    }
    tracing::error!(target: "stillcooking", "a command for the runtime was dropped: {error}");
    false
}

/// Does what has been asked for by now. What is asked for meanwhile waits for the next stage, and so does
/// what comes after a request that panics.
pub(crate) fn answer(runtime: &mut Runtime<World>, world: &mut World) {
    if let Some(queue) = world.get_resource::<Queue>().cloned() {
        let count = queue.lock().len();
        for _ in 0..count {
            let Some(request) = queue.pop() else { break };
            let _ = call(&mut runtime.cx(world), ASKED, request);
        }
    }
    let count = world.get_non_send::<LocalQueue>().map_or(0, |q| q.0.len());
    for _ in 0..count {
        let queue = world.get_non_send_mut::<LocalQueue>();
        let Some(request) = queue.and_then(|mut queue| queue.0.pop_front()) else {
            break;
        };
        let _ = call(&mut runtime.cx(world), ASKED, request);
    }
}
