//! Starting async flows.

use std::cell::Cell;
use std::panic::Location;
use std::rc::Rc;

use sc_core::Cx;

use super::FlowCx;
use crate::error::FlowError;
use crate::executor::board;
use crate::executor::start::{Options, start_future};
use crate::id::FlowId;
use crate::node::options::flow_options;
use crate::reserve::Reservation;
use crate::task::Task;

/// How an async flow is to be started; [`spawn_flow`](crate::FlowExt::spawn_flow) is short for one
/// in the `Cx`'s world. See the example at [`FlowCx`].
///
/// ```
/// # use sc_core::{Clock, Cx, Owner, Runtime, Tickable, WorldKind, secs};
/// # use sc_flow::*;
/// # let (mut rt, mut log) = (Runtime::<Vec<u32>>::new(), Vec::new());
/// # let mut cx = rt.cx(&mut log);
/// # let level = cx.create_world(WorldKind::Game)?;
/// let flow = Flow::new("tour").world(level).clock(Clock::Real);
/// flow.spawn(&mut cx, async |fx| {
///     fx.delay(secs(0.5)).await?;
///     fx.with(|cx| cx.host_mut().push(1))
/// })?;
/// cx.set_paused(level, true)?;
/// for _ in 0..2 { rt.tick_secs(&mut log, 0.25)?; }
/// assert_eq!(log, [1]);
/// # Ok::<(), FlowError>(())
/// ```
#[must_use = "nothing happens until it is spawned"]
pub struct Flow<H: 'static> {
    options: Options<H>,
    started_at: Option<&'static Location<'static>>,
}

impl<H> Flow<H> {
    /// A flow of a name.
    pub fn new(name: &'static str) -> Self {
        Flow {
            options: Options::new(name),
            started_at: None,
        }
    }

    flow_options!();

    /// Where lists say that it was started; default: where [`spawn`](Self::spawn) is called. For code that
    /// starts flows on behalf of other code.
    ///
    /// ```
    /// # use sc_core::{Cx, Runtime};
    /// # use sc_flow::*;
    /// use std::panic::Location;
    /// #[track_caller]
    /// fn later(cx: &mut Cx<'_, ()>) -> Result<FlowId, FlowError> {
    ///     let flow = Flow::new("later").runtime().started_at(Location::caller());
    ///     flow.spawn(cx, async |fx| fx.next_tick().await)
    /// }
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// later(&mut cx)?;
    /// assert_eq!(cx.flow_list()[0].started_at.line(), line!() - 1);
    /// # Ok::<(), FlowError>(())
    /// ```
    pub fn started_at(mut self, location: &'static Location<'static>) -> Self {
        self.started_at = Some(location);
        self
    }

    /// Starts it with an id that was [reserved](FlowId::reserve).
    ///
    /// ```
    /// # use sc_core::Runtime;
    /// # use sc_flow::*;
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// let reservation = FlowId::reserve();
    /// let id = reservation.id();
    /// let flow = Flow::new("later").runtime().reserved(reservation);
    /// assert_eq!(flow.spawn(&mut cx, async |fx| fx.next_tick().await)?, id);
    /// assert_eq!(cx.flow(id)?.id, id);
    /// # Ok::<(), FlowError>(())
    /// ```
    pub fn reserved(mut self, reservation: Reservation) -> Self {
        self.options.reserved = Some(reservation);
        self
    }

    /// Starts it: it is polled first on the next frame's tick. Its error, if it ends with one that
    /// nobody awaits, is reported.
    ///
    /// # Errors
    /// [`FlowError::NoLiveWorld`] with a report, [`FlowError::ShutDown`], [`FlowError::NoOwner`]:
    /// `on_finished` has heard `Aborted` then. [`FlowError::Panicked`] when a plain closure that is to give
    /// the future, or the question of [`bound_while`](Self::bound_while), panics, and the policy does not
    /// raise that: it has heard `Panicked`. [`FlowError::Cancelled`] when its [reserved](Self::reserved) id was
    /// cancelled: it has heard `Cancelled`.
    #[track_caller]
    pub fn spawn<F>(mut self, cx: &mut Cx<'_, H>, body: F) -> Result<FlowId, FlowError>
    where
        F: AsyncFnOnce(FlowCx<H>) -> Result<(), FlowError> + 'static,
    {
        let location = self.started_at.unwrap_or(Location::caller());
        let binding = match self.options.bind(cx) {
            Ok(binding) => binding,
            Err(error) => return Err(self.options.refuse(cx, error)),
        };
        start_future(cx, &mut self.options, binding, location, body)
    }

    /// As [`spawn`](Self::spawn), for a body with a value.
    ///
    /// # Errors
    /// As [`spawn`](Self::spawn).
    #[track_caller]
    pub fn spawn_task<T, F>(self, cx: &mut Cx<'_, H>, body: F) -> Result<Task<T>, FlowError>
    where
        T: 'static,
        F: AsyncFnOnce(FlowCx<H>) -> T + 'static,
    {
        let result = Rc::new(Cell::new(None));
        let theirs = Rc::clone(&result);
        let id = self.spawn(cx, async move |fx| {
            let value = body(fx).await;
            theirs.set(Some(value));
            Ok(())
        })?;
        let finish = Rc::new(Cell::new(None));
        let board = board(cx);
        let flow = board.resolve(id);
        if let Some(extra) = board.table.borrow_mut().extra_or_new(flow.index) {
            extra.finish = Some(Rc::clone(&finish));
        }
        Ok(Task { id, result, finish })
    }
}
