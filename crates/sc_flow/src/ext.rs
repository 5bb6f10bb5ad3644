//! What a `Cx` can do with flows.

use std::panic::Location;

use sc_core::{Clock, Cx, Secs, TickId, WorldId};

use crate::error::FlowError;
use crate::executor::board::Slot;
use crate::executor::{bits, board, end, known, reading};
use crate::finish::FlowFinish;
use crate::fx::{FlowCx, spawn};
use crate::id::FlowId;
use crate::list::FlowInfo;
use crate::node::Next;
use crate::reserve::PendingFlows;
use crate::span::nanos;
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
    /// [`FlowError::Gone`] when it has ended, in its finish callback too; [`FlowError::Pending`] when it has not
    /// [started](FlowId::reserve).
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

    /// The flows that have not started, to [tell](PendingFlows::add) the runtime of a reserved id, from anywhere.
    ///
    /// ```
    /// # use sc_core::Runtime;
    /// # use sc_flow::*;
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// let reservation = FlowId::reserve();
    /// cx.pending_flows().add(reservation.reserved());
    /// assert!(cx.cancel(reservation.id()));
    /// assert_eq!(reservation.reserved().state(), FlowState::Ended(FlowFinish::Cancelled));
    /// ```
    fn pending_flows(&mut self) -> PendingFlows;

    /// Every live flow, in order of start. One that has not [started](FlowId::reserve) is none.
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
    /// when its turn is over. One that has not [started](FlowId::reserve) never does. `false` when it has
    /// ended already.
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
    /// goes on; a turn that came meanwhile comes then. `false` when it has ended, or not started.
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

    /// Resumes a paused flow. `false` when it has ended, or not started.
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
        let flow = spawn::Flow::new(name).started_at(Location::caller());
        flow.spawn(self, body)
    }

    fn spawn_task<T, F>(&mut self, name: &'static str, body: F) -> Result<Task<T>, FlowError>
    where
        T: 'static,
        F: AsyncFnOnce(FlowCx<H>) -> T + 'static,
    {
        let flow = spawn::Flow::new(name).started_at(Location::caller());
        flow.spawn_task(self, body)
    }

    fn flow(&mut self, flow: FlowId) -> Result<FlowInfo, FlowError> {
        let now = nanos(self.runtime_elapsed());
        let board = known(self.runtime()).ok_or(FlowError::Gone)?;
        let info = board.info(board.resolve(flow), now);
        info.ok_or_else(|| match board.pending.has(flow) {
            true => FlowError::Pending,
            false => FlowError::Gone,
        })
    }

    fn pending_flows(&mut self) -> PendingFlows {
        board(self).pending.clone()
    }

    fn flow_list(&mut self) -> Vec<FlowInfo> {
        let now = nanos(self.runtime_elapsed());
        known(self.runtime()).map_or_else(Vec::new, |board| board.infos(now))
    }

    fn cancel(&mut self, flow: FlowId) -> bool {
        let board = board(self);
        let live = board.resolve(flow);
        board.pending.cancel(flow) || end::request(self, &board, live, FlowFinish::Cancelled)
    }

    fn cancel_flows_of(&mut self, owner: impl Into<TickId>) -> usize {
        let owner = owner.into();
        end::cancel_where(self, |table, row| {
            let bound_to = table.extra(row).and_then(|extra| extra.owner);
            bound_to.is_some_and(|(life, _)| life.object() == owner)
        })
    }

    fn cancel_flows_in(&mut self, world: Option<WorldId>) -> usize {
        end::cancel_where(self, |_, row| row.home.world == world)
    }

    fn cancel_flows_named(&mut self, name: &str) -> usize {
        end::cancel_where(self, |table, row| table.is_named(row, name))
    }

    fn continue_loop(&mut self, flow: FlowId) -> bool {
        let board = board(self);
        let flow = board.resolve(flow);
        if board.is_running(flow) {
            board.continued.set(true);
            return true;
        }
        let Some(home) = board.home(flow) else {
            return false;
        };
        let clock = board.slot(flow, Slot::clock);
        let now = reading(self, home.world, clock.unwrap_or(Clock::Game));
        // A core's `continue_loop` calls no user code, but may look at the next item.
        let next = board.in_place(flow, |body| body.continue_loop(now));
        let since = nanos(self.runtime_elapsed());
        match next {
            None => return false,
            Some(Next::End(finish)) => return end::request(self, &board, flow, finish),
            Some(Next::At(deadline)) => {
                let sleep = home.sleep(flow, clock.unwrap_or(Clock::Game), deadline);
                board.sleeps(flow, &home, Some(sleep));
            }
            Some(Next::Frame | Next::Parked) => {
                let frame = self.first_tick_frame(home.world);
                board.slot(flow, |slot| {
                    home.want(flow, slot, bits::wants(slot.clock()), frame)
                });
            }
        }
        board.slot(flow, |slot| board.begins_to_wait(flow, slot, since));
        true
    }

    fn pause_flow(&mut self, flow: FlowId) -> bool {
        let (board, now) = (board(self), nanos(self.runtime_elapsed()));
        let flow = board.resolve(flow);
        let paused = board.slot(flow, |slot| {
            if let Some(extra) = board.table.borrow_mut().extra_or_new(flow.index) {
                extra.paused.get_or_insert(now);
            }
            slot.set(bits::SLOW);
        });
        paused.is_some()
    }

    fn resume_flow(&mut self, flow: FlowId) -> bool {
        let board = board(self);
        let flow = board.resolve(flow);
        let Some(home) = board.home(flow) else {
            return false;
        };
        let frame = self.first_tick_frame(home.world);
        let (mut missed, mut is_slow) = (0, false);
        if let Some(extra) = board.table.borrow_mut().extra_of(flow.index) {
            extra.paused = None;
            missed = std::mem::take(&mut extra.missed);
            is_slow = extra.is_slow();
        }
        board.slot(flow, |slot| {
            if !is_slow {
                slot.clear(bits::SLOW);
            }
            if missed != 0 {
                home.want(flow, slot, missed, frame);
            }
        });
        true
    }

    fn set_suspended_loop_warning(&mut self, threshold: Secs) -> Result<(), FlowError> {
        watch::set_suspended(&board(self), threshold)
    }

    fn set_wait_until_warning(&mut self, threshold: Secs) -> Result<(), FlowError> {
        watch::set_waiting(&board(self), threshold)
    }
}
