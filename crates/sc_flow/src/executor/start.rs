//! Starting a flow: what binds it, and what refuses it.

use std::borrow::Cow;
use std::panic::Location;
use std::rc::Rc;
use std::time::Duration;

use sc_core::{Clock, Cx, Life, Panic, Report, ReportKind, TickError, TickId, TimeError, WorldId};

use super::bits;
use super::board::Board;
use super::body::{BoxBody, NodeBody};
use super::bonds::Role;
use super::home::Home;
use super::table::{IsThere, Table};
use super::turn::panicked;
use super::{Finished, home_of, reading};
use crate::error::FlowError;
use crate::finish::FlowFinish;
use crate::fx::FlowCx;
use crate::id::FlowId;
use crate::list::{FlowKind, WaitingFor};
use crate::node::{Next, Node};
use crate::reports;
use crate::reserve::Reservation;

/// To which world a flow is bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Bound {
    /// That of the `Cx` it is started with.
    Here,
    World(WorldId),
    Runtime,
}

/// What every flow can be told before it starts.
pub(crate) struct Options<H: 'static> {
    pub(crate) name: Cow<'static, str>,
    pub(crate) bound: Bound,
    pub(crate) owner: Option<TickId>,
    pub(crate) is_there: Option<IsThere<H>>,
    pub(crate) clock: Clock,
    pub(crate) on_finished: Option<Finished<H>>,
    pub(crate) reserved: Option<Reservation>,
}

impl<H> Options<H> {
    pub(crate) fn new(name: &'static str) -> Self {
        Options {
            name: Cow::Borrowed(name),
            bound: Bound::Here,
            owner: None,
            is_there: None,
            clock: Clock::Game,
            on_finished: None,
            reserved: None,
        }
    }

    /// Refuses a start: `on_finished` hears why before the call returns; there is no id.
    pub(crate) fn refuse(self, cx: &mut Cx<'_, H>, refusal: impl Into<Refusal>) -> FlowError {
        let (finish, error, panic) = match refusal.into() {
            Refusal::Error(error @ FlowError::Cancelled) => (FlowFinish::Cancelled, error, None),
            Refusal::Error(error) => (FlowFinish::Aborted, error, None),
            Refusal::Panic(panic) => (FlowFinish::Panicked, FlowError::Panicked, Some(panic)),
        };
        if let Some(reservation) = self.reserved {
            reservation.refuse(finish);
        }
        if let FlowError::NoLiveWorld { flow } = &error {
            let kind = ReportKind::Extension(&reports::FLOW_WITHOUT_WORLD);
            let what = "was to be started where there is no live world";
            cx.report(Report::new(kind, what).object(flow.clone()));
        }
        let told = self
            .on_finished
            .map(|tell| cx.callback(cx.world(), Duration::ZERO, |cx| tell(cx, finish)));
        // The first panic is the one to raise.
        for panic in panic.into_iter().chain(told.and_then(Result::err)) {
            cx.settle_panic(&reports::culprit(&self.name), panic);
        }
        cx.attend();
        error
    }

    /// Whether it asks for what only some flows have.
    fn has_extra(&self) -> bool {
        self.is_there.is_some()
            || self.on_finished.is_some()
            || self.reserved.is_some()
            || matches!(self.name, Cow::Owned(_))
    }

    /// The error of a flow whose owner, or whose condition's, is not there.
    pub(crate) fn no_owner(&self, why: TickError) -> FlowError {
        FlowError::NoOwner {
            flow: self.name.clone().into_owned(),
            why,
        }
    }

    /// The error of a flow that has no live world.
    pub(crate) fn no_world(&self) -> FlowError {
        FlowError::NoLiveWorld {
            flow: self.name.clone().into_owned(),
        }
    }

    /// What the flow is bound to, if all of that is there.
    #[inline(always)]
    pub(crate) fn bind(&self, cx: &mut Cx<'_, H>) -> Result<Binding<H>, Refusal> {
        let world = match self.bound {
            Bound::Here => cx.world(),
            Bound::World(world) => Some(world),
            Bound::Runtime => None,
        };
        if world.is_none() && self.bound == Bound::Runtime && cx.runtime().is_shut_down() {
            return Err(FlowError::ShutDown.into());
        }
        let is_live = match world {
            Some(world) => cx.is_world_alive(world),
            None => self.bound == Bound::Runtime,
        };
        // Installed from here on: the end of an owner is noted also before the flow is there.
        let home = if is_live { home_of(cx, world) } else { None };
        let home = home.ok_or_else(|| self.no_world())?;
        let owner = self.owner.map(|owner| self.life(cx, owner)).transpose()?;
        if let Some(is_there) = &self.is_there {
            self.ask(cx, world, is_there)?;
        }
        // Last of all: those who await it here are with the flow before any code of the user's runs.
        if let Some(reservation) = &self.reserved
            && !reservation.starts()
        {
            return Err(FlowError::Cancelled.into());
        }
        Ok(Binding { home, owner })
    }

    /// Asks what can only be asked whether it is there.
    #[cold]
    fn ask(
        &self,
        cx: &mut Cx<'_, H>,
        world: Option<WorldId>,
        is_there: &IsThere<H>,
    ) -> Result<(), Refusal> {
        if cx.callback(world, Duration::ZERO, |cx| is_there(cx))? {
            Ok(())
        } else {
            Err(self.no_owner(TickError::Gone).into())
        }
    }

    /// The life of an object that the flow has to do with.
    pub(crate) fn life(&self, cx: &Cx<'_, H>, object: TickId) -> Result<Life, FlowError> {
        let life = cx.life(object).map_err(|why| self.no_owner(why))?;
        if !cx.is_living(life) {
            return Err(self.no_owner(TickError::Gone));
        }
        Ok(life)
    }
}

/// Why a flow is not started: what is wrong, or what code of the user's threw in the starting call.
pub(crate) enum Refusal {
    Error(FlowError),
    Panic(Panic),
}

impl From<FlowError> for Refusal {
    fn from(error: FlowError) -> Self {
        Refusal::Error(error)
    }
}

impl From<TimeError> for Refusal {
    fn from(error: TimeError) -> Self {
        Refusal::Error(error.into())
    }
}

impl From<Panic> for Refusal {
    fn from(panic: Panic) -> Self {
        Refusal::Panic(panic)
    }
}

/// What a flow is bound to.
pub(crate) struct Binding<H: 'static> {
    pub(crate) home: Rc<Home<H>>,
    owner: Option<Life>,
}

impl<H> Binding<H> {
    /// The reading of the flow's clock (ns).
    pub(crate) fn now(&self, cx: &Cx<'_, H>, options: &Options<H>) -> u64 {
        reading(cx, self.home.world, options.clock)
    }
}

/// Starts a node. Nothing of it runs in this call.
pub(crate) fn start_node<H, N: Node<H> + 'static>(
    cx: &mut Cx<'_, H>,
    options: &mut Options<H>,
    binding: Binding<H>,
    kind: FlowKind,
    location: &'static Location<'static>,
    first: Next,
    node: N,
) -> Result<FlowId, FlowError> {
    let waiting_for = match first {
        Next::At(_) => node.waiting_for(),
        _ => WaitingFor::Start,
    };
    let how = How {
        kind,
        location,
        first,
        waiting_for,
    };
    let body = |_: &Rc<Home<H>>, _| -> BoxBody<H> { Box::pin(NodeBody(node)) };
    start(cx, options, binding, how, bits::NODE, body)
}

/// Starts an async flow. Nothing of it runs in this call.
pub(crate) fn start_future<H, F>(
    cx: &mut Cx<'_, H>,
    options: &mut Options<H>,
    binding: Binding<H>,
    location: &'static Location<'static>,
    body: F,
) -> Result<FlowId, FlowError>
where
    F: AsyncFnOnce(FlowCx<H>) -> Result<(), FlowError> + 'static,
{
    let how = How {
        kind: FlowKind::Async,
        location,
        first: Next::Frame,
        waiting_for: WaitingFor::Start,
    };
    start(cx, options, binding, how, 0, |home, id| {
        let fx = FlowCx {
            home: Rc::clone(home),
            id,
        };
        Box::pin(body(fx))
    })
}

/// How a flow starts.
struct How {
    kind: FlowKind,
    location: &'static Location<'static>,
    first: Next,
    waiting_for: WaitingFor,
}

fn start<H>(
    cx: &mut Cx<'_, H>,
    options: &mut Options<H>,
    binding: Binding<H>,
    how: How,
    is_like: u16,
    body: impl FnOnce(&Rc<Home<H>>, FlowId) -> BoxBody<H>,
) -> Result<FlowId, FlowError> {
    let Binding { home, owner } = binding;
    let board = &*home.board;
    let name = match options.name {
        Cow::Borrowed(name) => name,
        Cow::Owned(_) => "",
    };
    let since = cx.runtime_nanos();
    let first_frame = cx.first_tick_frame(home.world);
    let mut table = board.table.borrow_mut();
    let (index, start) = table.insert(
        name,
        how.location,
        Rc::clone(&home),
        how.kind,
        how.waiting_for,
        since,
    );
    let id = board.make(index);
    // What it is called outside.
    let mut outside = id;
    let mut is_like = is_like | bits::FRESH | bits::of_clock(options.clock);
    if how.waiting_for != WaitingFor::Start {
        table.watch(id, how.waiting_for, since);
    }
    if owner.is_some() || options.has_extra() {
        let (like, reserved) = extra(board, &mut table, id, options, owner);
        is_like |= like;
        outside = reserved.unwrap_or(id);
    }
    drop(table);
    home.enter();
    board.slot(id, |slot| {
        slot.bits.set(is_like);
        slot.reruns.set(0);
        if let Next::At(deadline) = how.first {
            let sleep = home.sleep(id, options.clock, deadline);
            board.sleeps(id, &home, Some(sleep));
        } else {
            home.join(id, slot, start, first_frame, || {
                Clock::ALL.map(|clock| reading(cx, home.world, clock))
            });
        }
    });
    // A closure that returns a future is called here.
    match cx.callback(home.world, Duration::ZERO, |_| body(&home, id)) {
        Ok(body) => {
            board.slot(id, |slot| slot.body.put(body));
            Ok(outside)
        }
        Err(panic) => {
            panicked(cx, &home, id, panic);
            Err(FlowError::Panicked)
        }
    }
}

/// Takes in what only some flows have; gives what such a flow is like, and its id outside if that is another.
fn extra<H>(
    board: &Board<H>,
    table: &mut Table<H>,
    id: FlowId,
    options: &mut Options<H>,
    owner: Option<Life>,
) -> (u16, Option<FlowId>) {
    let mut is_like = 0;
    if owner.is_some() {
        is_like |= bits::OWNED;
    }
    if options.is_there.is_some() {
        is_like |= bits::SLOW;
        table.ask_in_turn(board, id);
    }
    let owner = owner.map(|life| (life, table.bonds.add(life, id, Role::Owner)));
    let reserved = options.reserved.take();
    let outside = reserved.as_ref().map(Reservation::id);
    let awaited_by = outside.map(|outside| table.starts_reserved(outside, id));
    if let Some(extra) = table.extra_or_new(id.index) {
        if let Cow::Owned(name) = &mut options.name {
            extra.name = Some(std::mem::take(name));
        }
        extra.owner = owner;
        extra.is_there = options.is_there.take();
        extra.on_finished = options.on_finished.take();
        extra.awaited_by = awaited_by.unwrap_or_default();
        extra.reserved = reserved;
    }
    (is_like, outside)
}

/// Binds a flow to the life its condition belongs to.
pub(crate) fn bind_condition<H>(board: &Board<H>, id: FlowId, life: Life) {
    let table = &mut *board.table.borrow_mut();
    let bond = table.bonds.add(life, id, Role::Condition);
    if let Some(extra) = table.extra_or_new(id.index) {
        extra.condition = Some(bond);
    }
}
