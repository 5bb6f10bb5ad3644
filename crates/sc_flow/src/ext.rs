//! What a `Cx` can do with flows.

use std::panic::Location;

use sc_core::{Cx, Secs, TickId, WorldId};

use crate::error::FlowError;
use crate::executor::home::Registered;
use crate::executor::{Body, end, flows};
use crate::finish::FlowFinish;
use crate::fx::{FlowCx, spawn};
use crate::id::FlowId;
use crate::list::{FlowInfo, WaitingFor};
use crate::node::Next;
use crate::task::Task;
use crate::watch;

/// Flows, as calls on the [`Cx`].
pub trait FlowExt<H: 'static> {
    /// Starts an async flow in the `Cx`'s world: a story. First polled on the next frame's tick.
    /// [`Flow`](crate::Flow) has more to say about it.
    ///
    /// # Errors
    /// [`FlowError::NoLiveWorld`], with a report.
    ///
    /// ```
    /// # use sc_core::{Clock, Cx, Owner, Runtime, Tickable, WorldKind, secs};
    /// # use sc_flow::*;
    /// # let (mut rt, mut log) = (Runtime::<Vec<u32>>::new(), Vec::new());
    /// # let mut cx = rt.cx(&mut log);
    /// # let level = cx.create_world(WorldKind::Game)?;
    /// struct Guide;
    /// impl Tickable<Vec<u32>> for Guide {
    ///     fn initialize(&mut self, cx: &mut Cx<'_, Vec<u32>>) {
    ///         let started = cx.spawn_flow("welcome", async |fx| {
    ///             fx.delay(secs(0.5)).await?;
    ///             fx.with(|cx| cx.host_mut().push(1))
    ///         });
    ///         assert!(started.is_ok());
    ///     }
    /// }
    /// let guide = cx.spawn_in(level, Guide)?;
    /// for _ in 0..2 { rt.tick_secs(&mut log, 0.25)?; }
    /// assert_eq!(log, [1]);
    /// # guide.shutdown(&mut rt.cx(&mut log))?;
    /// # Ok::<(), FlowError>(())
    /// ```
    #[track_caller]
    fn spawn_flow<F>(&mut self, name: &'static str, body: F) -> Result<FlowId, FlowError>
    where
        F: AsyncFnOnce(FlowCx<H>) -> Result<(), FlowError> + 'static;

    /// As [`spawn_flow`](Self::spawn_flow), for a body with a value: the [`Task`] can be awaited,
    /// asked, cancelled; dropping it detaches.
    ///
    /// # Errors
    /// [`FlowError::NoLiveWorld`], with a report.
    ///
    /// ```
    /// # use sc_core::{Clock, Cx, Owner, Runtime, Tickable, WorldKind, secs};
    /// # use sc_flow::*;
    /// # let (mut rt, mut log) = (Runtime::<Vec<u32>>::new(), Vec::new());
    /// # let mut cx = rt.cx(&mut log);
    /// # let level = cx.create_world(WorldKind::Game)?;
    /// struct Guide(Option<Task<u32>>);
    /// impl Tickable<Vec<u32>> for Guide {
    ///     fn initialize(&mut self, cx: &mut Cx<'_, Vec<u32>>) {
    ///         self.0 = cx.spawn_task("count", async |_| 42).ok();
    ///     }
    /// }
    /// let guide = cx.spawn_in(level, Guide(None))?;
    /// for _ in 0..1 { rt.tick_secs(&mut log, 0.25)?; }
    /// let cx = rt.cx(&mut log);
    /// assert_eq!(cx.get(&guide)?.0.as_ref().and_then(|task| task.take()), Some(42));
    /// # guide.shutdown(&mut rt.cx(&mut log))?;
    /// # Ok::<(), FlowError>(())
    /// ```
    #[track_caller]
    fn spawn_task<T, F>(&mut self, name: &'static str, body: F) -> Result<Task<T>, FlowError>
    where
        T: 'static,
        F: AsyncFnOnce(FlowCx<H>) -> T + 'static;

    /// One live flow, as the list shows it.
    ///
    /// # Errors
    /// [`FlowError::Gone`] when it has ended, in its finish callback too.
    ///
    /// ```
    /// # use sc_core::{Clock, Cx, Owner, Runtime, Tickable, WorldKind, secs};
    /// # use sc_flow::*;
    /// # let (mut rt, mut log) = (Runtime::<Vec<u32>>::new(), Vec::new());
    /// # let mut cx = rt.cx(&mut log);
    /// # let level = cx.create_world(WorldKind::Game)?;
    /// let id = ForEach::index(100).each(|cx: &mut Cx<'_, Vec<u32>>, _| cx.host_mut().push(1)).name("loop").world(level).start(&mut cx)?;
    /// for _ in 0..3 { rt.tick_secs(&mut log, 0.25)?; }
    /// let mut cx = rt.cx(&mut log);
    /// assert_eq!(cx.flow(id)?.progress, Progress::Index { next: 3, of: Some(100) });
    /// cx.cancel(id);
    /// assert!(matches!(cx.flow(id), Err(FlowError::Gone)));
    /// # Ok::<(), FlowError>(())
    /// ```
    fn flow(&mut self, flow: FlowId) -> Result<FlowInfo, FlowError>;

    /// Every live flow, in order of start.
    ///
    /// ```
    /// # use sc_core::{Clock, Cx, Owner, Runtime, Tickable, WorldKind, secs};
    /// # use sc_flow::*;
    /// # let (mut rt, mut log) = (Runtime::<Vec<u32>>::new(), Vec::new());
    /// # let mut cx = rt.cx(&mut log);
    /// # let level = cx.create_world(WorldKind::Game)?;
    /// ForEach::index(100).each(|cx: &mut Cx<'_, Vec<u32>>, _| cx.host_mut().push(1)).name("loop").world(level).start(&mut cx)?;
    /// let list = cx.flow_list();
    /// assert_eq!((list.len(), list[0].name.as_str(), list[0].waiting_for), (1, "loop", WaitingFor::Start));
    /// # Ok::<(), FlowError>(())
    /// ```
    fn flow_list(&mut self) -> Vec<FlowInfo>;

    /// Cancels a flow. Its finish callbacks have run when this returns; if it is running, they run
    /// when its turn is over. `false` when it has ended already.
    ///
    /// ```
    /// # use sc_core::{Clock, Cx, Owner, Runtime, Tickable, WorldKind, secs};
    /// # use sc_flow::*;
    /// # let (mut rt, mut log) = (Runtime::<Vec<u32>>::new(), Vec::new());
    /// # let mut cx = rt.cx(&mut log);
    /// # let level = cx.create_world(WorldKind::Game)?;
    /// let id = Flow::new("sleep").world(level)
    ///     .on_finished(|cx: &mut Cx<'_, Vec<u32>>, finish| cx.host_mut().push(u32::from(finish == FlowFinish::Cancelled)))
    ///     .spawn(&mut cx, async |fx: FlowCx<Vec<u32>>| Ok(fx.delay(secs(60)).await?))?;
    /// assert!(cx.cancel(id));
    /// assert_eq!(*cx.host(), [1]);
    /// assert!(!cx.cancel(id));
    /// # Ok::<(), FlowError>(())
    /// ```
    fn cancel(&mut self, flow: FlowId) -> bool;

    /// Cancels every flow bound to an object, in order of start; how many.
    ///
    /// ```
    /// # use sc_core::{Clock, Cx, Owner, Runtime, Tickable, WorldKind, secs};
    /// # use sc_flow::*;
    /// # let (mut rt, mut log) = (Runtime::<Vec<u32>>::new(), Vec::new());
    /// # let mut cx = rt.cx(&mut log);
    /// # let level = cx.create_world(WorldKind::Game)?;
    /// # struct Door;
    /// # impl Tickable<Vec<u32>> for Door {}
    /// let door = cx.spawn_in(level, Door)?;
    /// Flow::new("creak").world(level).owner(&door).spawn(&mut cx, async |fx| Ok(fx.delay(secs(60)).await?))?;
    /// assert_eq!(cx.cancel_flows_of(&door), 1);
    /// # door.shutdown(&mut cx)?;
    /// # Ok::<(), FlowError>(())
    /// ```
    fn cancel_flows_of(&mut self, owner: impl Into<TickId>) -> usize;

    /// Cancels every flow of a world (`None`: of the runtime), in order of start; how many.
    ///
    /// ```
    /// # use sc_core::{Clock, Cx, Owner, Runtime, Tickable, WorldKind, secs};
    /// # use sc_flow::*;
    /// # let (mut rt, mut log) = (Runtime::<Vec<u32>>::new(), Vec::new());
    /// # let mut cx = rt.cx(&mut log);
    /// # let level = cx.create_world(WorldKind::Game)?;
    /// ForEach::index(100).each(|cx: &mut Cx<'_, Vec<u32>>, _| cx.host_mut().push(1)).name("loop").world(level).start(&mut cx)?;
    /// assert_eq!(cx.cancel_flows_in(None), 0);
    /// assert_eq!(cx.cancel_flows_in(Some(level)), 1);
    /// # Ok::<(), FlowError>(())
    /// ```
    fn cancel_flows_in(&mut self, world: Option<WorldId>) -> usize;

    /// Cancels every flow of a name, in order of start; how many.
    ///
    /// ```
    /// # use sc_core::{Clock, Cx, Owner, Runtime, Tickable, WorldKind, secs};
    /// # use sc_flow::*;
    /// # let (mut rt, mut log) = (Runtime::<Vec<u32>>::new(), Vec::new());
    /// # let mut cx = rt.cx(&mut log);
    /// # let level = cx.create_world(WorldKind::Game)?;
    /// ForEach::index(100).each(|cx: &mut Cx<'_, Vec<u32>>, _| cx.host_mut().push(1)).name("loop").world(level).start(&mut cx)?;
    /// assert_eq!(cx.cancel_flows_named("loop"), 1);
    /// # Ok::<(), FlowError>(())
    /// ```
    fn cancel_flows_named(&mut self, name: &str) -> usize;

    /// Lets a parked loop go on: never in this call, but on the last index, where it ends. `false`
    /// when it was not parked: then nothing happens. Called from the loop's own body it counts
    /// for the `Suspend` that the body is about to say.
    ///
    /// ```
    /// # use sc_core::{Clock, Cx, Owner, Runtime, Tickable, WorldKind, secs};
    /// # use sc_flow::*;
    /// # let (mut rt, mut log) = (Runtime::<Vec<u32>>::new(), Vec::new());
    /// # let mut cx = rt.cx(&mut log);
    /// # let level = cx.create_world(WorldKind::Game)?;
    /// let id = ForEach::index(3)
    ///     .each(|cx: &mut Cx<'_, Vec<u32>>, _| { cx.host_mut().push(1); Step::Suspend })
    ///     .world(level)
    ///     .start(&mut cx)?;
    /// assert!(!cx.continue_loop(id)); // Not parked yet.
    /// for _ in 0..4 { rt.tick_secs(&mut log, 0.25)?; }
    /// assert_eq!(log.len(), 1);
    /// assert!(rt.cx(&mut log).continue_loop(id));
    /// rt.tick_secs(&mut log, 0.25)?;
    /// assert_eq!(log.len(), 2);
    /// # Ok::<(), FlowError>(())
    /// ```
    fn continue_loop(&mut self, flow: FlowId) -> bool;

    /// Pauses one flow: it has no turn until [`resume_flow`](Self::resume_flow). What it waits for
    /// goes on; a turn that came meanwhile comes then. `false` when it has ended.
    ///
    /// ```
    /// # use sc_core::{Clock, Cx, Owner, Runtime, Tickable, WorldKind, secs};
    /// # use sc_flow::*;
    /// # let (mut rt, mut log) = (Runtime::<Vec<u32>>::new(), Vec::new());
    /// # let mut cx = rt.cx(&mut log);
    /// # let level = cx.create_world(WorldKind::Game)?;
    /// let id = ForEach::index(100).each(|cx: &mut Cx<'_, Vec<u32>>, _| cx.host_mut().push(1)).name("loop").world(level).start(&mut cx)?;
    /// assert!(cx.pause_flow(id));
    /// for _ in 0..2 { rt.tick_secs(&mut log, 0.25)?; }
    /// assert!(log.is_empty());
    /// assert!(rt.cx(&mut log).resume_flow(id));
    /// rt.tick_secs(&mut log, 0.25)?;
    /// assert_eq!(log, [1]);
    /// # Ok::<(), FlowError>(())
    /// ```
    fn pause_flow(&mut self, flow: FlowId) -> bool;

    /// Resumes a paused flow. `false` when it has ended.
    ///
    /// ```
    /// # use sc_core::{Clock, Cx, Owner, Runtime, Tickable, WorldKind, secs};
    /// # use sc_flow::*;
    /// # let (mut rt, mut log) = (Runtime::<Vec<u32>>::new(), Vec::new());
    /// # let mut cx = rt.cx(&mut log);
    /// # let level = cx.create_world(WorldKind::Game)?;
    /// let id = ForEach::index(100).each(|cx: &mut Cx<'_, Vec<u32>>, _| cx.host_mut().push(1)).name("loop").world(level).start(&mut cx)?;
    /// cx.pause_flow(id);
    /// assert!(cx.resume_flow(id));
    /// cx.cancel(id);
    /// assert!(!cx.resume_flow(id));
    /// # Ok::<(), FlowError>(())
    /// ```
    fn resume_flow(&mut self, flow: FlowId) -> bool;

    /// How long a loop may be parked before one warning; 0 or less = for ever. Default: 30 s of
    /// real time.
    ///
    /// # Errors
    /// [`FlowError::BadTime`]; the old threshold stays.
    ///
    /// ```
    /// # use sc_core::{Clock, Cx, Owner, Runtime, Tickable, WorldKind, secs};
    /// # use sc_flow::*;
    /// # let (mut rt, mut log) = (Runtime::<Vec<u32>>::new(), Vec::new());
    /// # let mut cx = rt.cx(&mut log);
    /// # let level = cx.create_world(WorldKind::Game)?;
    /// cx.set_suspended_loop_warning(secs(5))?;
    /// cx.set_suspended_loop_warning(secs(0))?; // Never.
    /// assert!(cx.set_suspended_loop_warning(secs(f64::NAN)).is_err());
    /// # Ok::<(), FlowError>(())
    /// ```
    fn set_suspended_loop_warning(&mut self, threshold: Secs) -> Result<(), FlowError>;

    /// How long a wait without deadline may wait before one warning; 0 or less = for ever.
    /// Default: 30 s of real time.
    ///
    /// # Errors
    /// [`FlowError::BadTime`]; the old threshold stays.
    ///
    /// ```
    /// # use sc_core::{Clock, Cx, Owner, Runtime, Tickable, WorldKind, secs};
    /// # use sc_flow::*;
    /// # let (mut rt, mut log) = (Runtime::<Vec<u32>>::new(), Vec::new());
    /// # let mut cx = rt.cx(&mut log);
    /// # let level = cx.create_world(WorldKind::Game)?;
    /// cx.set_wait_until_warning(secs(5))?;
    /// cx.set_wait_until_warning(secs(0))?; // Never.
    /// assert!(cx.set_wait_until_warning(secs(f64::NAN)).is_err());
    /// # Ok::<(), FlowError>(())
    /// ```
    fn set_wait_until_warning(&mut self, threshold: Secs) -> Result<(), FlowError>;
}

impl<H> FlowExt<H> for Cx<'_, H> {
    fn spawn_flow<F>(&mut self, name: &'static str, body: F) -> Result<FlowId, FlowError>
    where
        F: AsyncFnOnce(FlowCx<H>) -> Result<(), FlowError> + 'static,
    {
        spawn::Flow::new(name).spawn_at(self, Location::caller(), body)
    }

    fn spawn_task<T, F>(&mut self, name: &'static str, body: F) -> Result<Task<T>, FlowError>
    where
        T: 'static,
        F: AsyncFnOnce(FlowCx<H>) -> T + 'static,
    {
        spawn::Flow::new(name).spawn_task_at(self, Location::caller(), body)
    }

    fn flow(&mut self, flow: FlowId) -> Result<FlowInfo, FlowError> {
        let now = u64::try_from(self.runtime_elapsed().as_nanos()).unwrap_or(u64::MAX);
        flows(self).info(flow, now).ok_or(FlowError::Gone)
    }

    fn flow_list(&mut self) -> Vec<FlowInfo> {
        let now = u64::try_from(self.runtime_elapsed().as_nanos()).unwrap_or(u64::MAX);
        let state = flows(self);
        let ids = state.ids_where(|_| true);
        ids.into_iter()
            .filter_map(|id| state.info(id, now))
            .collect()
    }

    fn cancel(&mut self, flow: FlowId) -> bool {
        end::request(self, flow, FlowFinish::Cancelled)
    }

    fn cancel_flows_of(&mut self, owner: impl Into<TickId>) -> usize {
        let owner = owner.into();
        let bound = flows(self).ids_where(|f| f.owner.is_some_and(|life| life.object() == owner));
        end::request_all(self, bound, FlowFinish::Cancelled)
    }

    fn cancel_flows_in(&mut self, world: Option<WorldId>) -> usize {
        let bound = flows(self).ids_where(|f| f.home.world == world);
        end::request_all(self, bound, FlowFinish::Cancelled)
    }

    fn cancel_flows_named(&mut self, name: &str) -> usize {
        let named = flows(self).ids_where(|f| f.name == name);
        end::request_all(self, named, FlowFinish::Cancelled)
    }

    fn continue_loop(&mut self, flow: FlowId) -> bool {
        if flows(self).is_running(flow) {
            flows(self).continued = true;
            return true;
        }
        let Some(found) = flows(self).get_mut(flow) else {
            return false;
        };
        let (home, local, clock) = (found.home.clone(), found.local, found.clock);
        let now = match home.world {
            Some(world) => self.elapsed(world, clock).unwrap_or_default(),
            None => self.runtime_elapsed(),
        };
        let now = u64::try_from(now.as_nanos()).unwrap_or(u64::MAX);
        // A core's `continue_loop` calls no user code, but may look at the next item.
        let bodies = flows(self).bodies.clone();
        let Some(mut body) = bodies.take(flow.index) else {
            return false;
        };
        let (next, waiting_for) = match &mut body {
            Body::Node(node) => (node.continue_loop(now), node.waiting_for()),
            Body::Future(_) => (None, WaitingFor::Await),
        };
        bodies.put(flow.index, body);
        let Some(next) = next else {
            return false;
        };
        let mut sleep: Option<Registered> = None;
        match next {
            Next::End(finish) => return end::request(self, flow, finish),
            Next::At(deadline) => sleep = Some(home.sleep(local, clock, deadline)),
            Next::Frame | Next::Parked => {
                let frame = self.first_tick_frame();
                home.want_frame(local, frame, clock);
            }
        }
        let since = u64::try_from(self.runtime_elapsed().as_nanos()).unwrap_or(u64::MAX);
        if let Some(found) = flows(self).get_mut(flow) {
            found.sleep = sleep;
            found.waiting_for = waiting_for;
            found.since = since;
        }
        true
    }

    fn pause_flow(&mut self, flow: FlowId) -> bool {
        let found = flows(self).get_mut(flow);
        found.is_some_and(|found| {
            found.paused = true;
            found.home.set_plain(found.local, false);
            true
        })
    }

    fn resume_flow(&mut self, flow: FlowId) -> bool {
        let frame = self.first_tick_frame();
        let Some(found) = flows(self).get_mut(flow) else {
            return false;
        };
        found.paused = false;
        if std::mem::take(&mut found.missed) {
            found.home.want_frame(found.local, frame, found.clock);
        }
        true
    }

    fn set_suspended_loop_warning(&mut self, threshold: Secs) -> Result<(), FlowError> {
        watch::set_suspended(self, threshold)
    }

    fn set_wait_until_warning(&mut self, threshold: Secs) -> Result<(), FlowError> {
        watch::set_waiting(self, threshold)
    }
}
