//! Messages and events one after the other, for loops of async flows.

use std::any::type_name;
use std::collections::VecDeque;
use std::mem::take;
use std::panic::Location;
use std::sync::{Arc, Mutex, PoisonError};

use bevy_ecs::entity::Entity;
use bevy_ecs::event::Event;
use bevy_ecs::message::{Message, MessageCursor, Messages};
use bevy_ecs::observer::{Observer, On};
use bevy_ecs::world::World;
use sc_core::{Clock, Cx, Report, ReportKind};
use sc_flow::{FlowCx, FlowError};

use crate::origin::{Origin, What};
use crate::queue::Queue;
use crate::reports;

/// All messages of a type from one point on, each once: made by [`BevyFx::messages`](crate::BevyFx::messages).
pub struct MessageStream<'f, M: Message> {
    cursor: MessageCursor<M>,
    found: Found<'f, M>,
    /// Where it was made.
    location: &'static Location<'static>,
}

impl<'f, M: Message + Clone> MessageStream<'f, M> {
    pub(crate) fn new(
        fx: &'f FlowCx<World>,
        location: &'static Location<'static>,
    ) -> Result<Self, FlowError> {
        let cursor = fx.with(|cx| messages::<M>(cx.host()).map(Messages::get_cursor_current))??;
        let found = Found::new(fx)?;
        Ok(MessageStream {
            cursor,
            found,
            location,
        })
    }

    /// Waits for the next message, and gives a copy. None is lost when the wait is given up.
    ///
    /// Bevy keeps a message for two updates: one that is written while the flow does something else for longer
    /// than that is missed, and reported.
    ///
    /// # Errors
    /// Those of an await; [`FlowError::Other`] when the app has no such messages any more.
    pub async fn next(&mut self) -> Result<M, FlowError> {
        let (cursor, location) = (&mut self.cursor, self.location);
        let world = self.found.fx.world();
        let look = |cx: &mut Cx<'_, World>, waiting: &mut VecDeque<M>| {
            let messages = messages::<M>(cx.host())?;
            let missed = cursor.missed_messages(messages);
            waiting.extend(cursor.read(messages).cloned());
            if missed > 0 {
                let kind = ReportKind::Extension(&reports::MESSAGES_MISSED);
                let (file, line) = (location.file(), location.line());
                let what = format!(
                    "{missed} gone before the flow that reads them at {file}:{line} came to them"
                );
                let mut report =
                    Report::new(kind, what).object(format!("messages of {}", type_name::<M>()));
                report.world = world.and_then(|world| cx.runtime().world_name(world));
                cx.report(report);
            }
            Ok(())
        };
        self.found.next(look).await
    }
}

/// Bevy's buffer of a type.
fn messages<M: Message>(world: &World) -> Result<&Messages<M>, FlowError> {
    world.get_resource::<Messages<M>>().ok_or_else(|| {
        let name = type_name::<M>();
        FlowError::other(format!(
            "the app has no messages of type {name}: add them by `add_message`"
        ))
    })
}

/// All events of a type from one point on, each once: made by [`BevyFx::events`](crate::BevyFx::events). Its
/// observer lives as long as it does, and keeps what the flow has not come to yet.
pub struct EventStream<'f, E> {
    seen: Arc<Mutex<VecDeque<E>>>,
    observer: Entity,
    found: Found<'f, E>,
    /// For the end of the observer, where the `World` is in use.
    queue: Option<Queue>,
}

impl<'f, E: Event + Clone> EventStream<'f, E>
where
    for<'t> E::Trigger<'t>: Send + Sync,
{
    pub(crate) fn new(fx: &'f FlowCx<World>) -> Result<Self, FlowError> {
        let found = Found::new(fx)?;
        let seen = Arc::new(Mutex::new(VecDeque::new()));
        let theirs = Arc::clone(&seen);
        let observe = move |event: On<E>| {
            let event = event.event().clone();
            let mut seen = theirs.lock().unwrap_or_else(PoisonError::into_inner);
            seen.push_back(event);
        };
        let (observer, queue) = fx.with(|cx| {
            let world = cx.host_mut();
            let queue = world.get_resource::<Queue>().cloned();
            (world.add_observer(observe).id(), queue)
        })?;
        Ok(EventStream {
            seen,
            observer,
            found,
            queue,
        })
    }

    /// Waits for the next event, and gives a copy. None is lost, however late the flow comes to it.
    ///
    /// # Errors
    /// Those of an await; [`FlowError::Other`] when somebody has despawned the observer, once those that it had seen are
    /// given.
    pub async fn next(&mut self) -> Result<E, FlowError> {
        let (seen, observer) = (&self.seen, self.observer);
        let look = |cx: &mut Cx<'_, World>, waiting: &mut VecDeque<E>| {
            let seen = take(&mut *seen.lock().unwrap_or_else(PoisonError::into_inner));
            waiting.extend(seen);
            match waiting.is_empty() && cx.host().get::<Observer>(observer).is_none() {
                true => {
                    let name = type_name::<E>();
                    Err(FlowError::other(format!(
                        "the observer of events of type {name} was despawned: leave observers that are not yours alone, or await the event anew"
                    )))
                }
                false => Ok(()),
            }
        };
        self.found.next(look).await
    }
}

impl<E> Drop for EventStream<'_, E> {
    fn drop(&mut self) {
        let observer = self.observer;
        let end = move |cx: &mut Cx<'_, World>| {
            // Somebody may have despawned it.
            if let Ok(observer) = cx.host_mut().get_entity_mut(observer) {
                observer.despawn();
            }
        };
        // Out of reach inside a `with`, and where the runtime is dropped: there the queue is, too.
        if self.found.fx.with(end).is_err()
            && let Some(queue) = &self.queue
        {
            queue.push(Origin::here(What::Own), Box::new(end));
        }
    }
}

/// What was found and not given yet. It is looked for once a frame: a flow that answers each by another of the
/// same kind goes on with that in the next frame, not for ever in this one.
struct Found<'f, T> {
    fx: &'f FlowCx<World>,
    waiting: VecDeque<T>,
    /// The frame in which it was last looked for.
    looked: u64,
}

impl<'f, T> Found<'f, T> {
    fn new(fx: &'f FlowCx<World>) -> Result<Self, FlowError> {
        Ok(Found {
            fx,
            waiting: VecDeque::new(),
            looked: fx.with(|cx| cx.frame())?,
        })
    }

    async fn next(
        &mut self,
        mut look: impl FnMut(&mut Cx<'_, World>, &mut VecDeque<T>) -> Result<(), FlowError>,
    ) -> Result<T, FlowError> {
        let Found {
            fx,
            waiting,
            looked,
        } = self;
        // Also while some wait to be given: Bevy keeps the next ones no longer for that.
        let outcome = fx.with(|cx| {
            if cx.frame() == *looked {
                return Ok(());
            }
            *looked = cx.frame();
            look(cx, waiting)
        })?;
        if waiting.is_empty() {
            outcome?;
        }
        if waiting.is_empty() {
            let mut outcome = Ok(());
            fx.wait_until(|cx, _| {
                *looked = cx.frame();
                outcome = look(cx, waiting);
                outcome.is_err() || !waiting.is_empty()
            })
            .on(Clock::Real)
            .await?;
            outcome?;
        }
        waiting.pop_front().ok_or(FlowError::Gone)
    }
}
