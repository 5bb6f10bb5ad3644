//! Messages and events one after the other, for loops of async flows.

use std::any::type_name;
use std::collections::VecDeque;
use std::mem::take;
use std::panic::Location;
use std::sync::{Arc, Mutex, PoisonError};

use bevy_ecs::entity::Entity;
use bevy_ecs::event::Event;
use bevy_ecs::message::{Message, MessageCursor, Messages};
use bevy_ecs::observer::On;
use bevy_ecs::world::World;
use sc_core::{Clock, Cx, Report, ReportKind};
use sc_flow::{FlowCx, FlowError};

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
        let cursor = fx.with(|cx| {
            let messages = cx.host().get_resource::<Messages<M>>();
            messages.map(Messages::get_cursor_current).ok_or_else(|| {
                let name = type_name::<M>();
                FlowError::other(format!(
                    "the app has no messages of type {name}: add them by `add_message`"
                ))
            })
        })??;
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
    /// Those of an await.
    pub async fn next(&mut self) -> Result<M, FlowError> {
        let (cursor, location) = (&mut self.cursor, self.location);
        let world = self.found.fx.world();
        let look = |cx: &mut Cx<'_, World>, waiting: &mut VecDeque<M>| {
            let Some(messages) = cx.host().get_resource::<Messages<M>>() else {
                return;
            };
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
        };
        self.found.next(look).await
    }
}

/// All events of a type from one point on, each once: made by [`BevyFx::events`](crate::BevyFx::events). Its
/// observer lives as long as it does, and keeps what the flow has not come to yet.
pub struct EventStream<'f, E> {
    seen: Arc<Mutex<VecDeque<E>>>,
    observer: Entity,
    found: Found<'f, E>,
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
        let observer = fx.with(|cx| cx.host_mut().add_observer(observe).id())?;
        Ok(EventStream {
            seen,
            observer,
            found,
        })
    }

    /// Waits for the next event, and gives a copy. None is lost, however late the flow comes to it.
    ///
    /// # Errors
    /// Those of an await.
    pub async fn next(&mut self) -> Result<E, FlowError> {
        let seen = &self.seen;
        let look = |_: &mut Cx<'_, World>, waiting: &mut VecDeque<E>| {
            let seen = take(&mut *seen.lock().unwrap_or_else(PoisonError::into_inner));
            waiting.extend(seen);
        };
        self.found.next(look).await
    }
}

impl<E> Drop for EventStream<'_, E> {
    fn drop(&mut self) {
        let (fx, observer) = (self.found.fx, self.observer);
        // Out of reach only when the runtime is dropped, and its `World` with it.
        let _ = fx.with(|cx| cx.host_mut().despawn(observer));
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
        mut look: impl FnMut(&mut Cx<'_, World>, &mut VecDeque<T>),
    ) -> Result<T, FlowError> {
        let Found {
            fx,
            waiting,
            looked,
        } = self;
        if waiting.is_empty() {
            fx.with(|cx| {
                if cx.frame() != *looked {
                    *looked = cx.frame();
                    look(cx, waiting);
                }
            })?;
        }
        if waiting.is_empty() {
            fx.wait_until(|cx, _| {
                *looked = cx.frame();
                look(cx, waiting);
                !waiting.is_empty()
            })
            .on(Clock::Real)
            .await?;
        }
        waiting.pop_front().ok_or(FlowError::Gone)
    }
}
