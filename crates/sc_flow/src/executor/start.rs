//! Starting a flow: what binds it, and what refuses it.

use std::borrow::Cow;
use std::panic::Location;
use std::rc::Rc;

use sc_core::{Clock, Cx, Life, Report, ReportKind, TickId, WorldId};

use super::{Body, Finished, Flow, Request, flows, home_of};
use crate::error::FlowError;
use crate::executor::home::{Home, Local};
use crate::finish::FlowFinish;
use crate::id::FlowId;
use crate::list::{FlowKind, WaitingFor};
use crate::node::Next;
use crate::reports;

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
    pub(crate) clock: Clock,
    pub(crate) on_finished: Option<Finished<H>>,
}

impl<H> Options<H> {
    pub(crate) fn new(name: &'static str) -> Self {
        Options {
            name: Cow::Borrowed(name),
            bound: Bound::Here,
            owner: None,
            clock: Clock::Game,
            on_finished: None,
        }
    }

    /// Refuses a start: `on_finished` hears `Aborted` before the call returns; there is no id.
    pub(crate) fn refuse(self, cx: &mut Cx<'_, H>, error: FlowError) -> FlowError {
        if let FlowError::NoLiveWorld { flow } = &error {
            let kind = ReportKind::Extension(&reports::FLOW_WITHOUT_WORLD);
            let what = "was to be started where there is no live world";
            cx.report(Report::new(kind, what).object(flow.clone()));
        }
        if let Some(tell) = self.on_finished {
            tell(cx, FlowFinish::Aborted);
        }
        error
    }

    /// What the flow is bound to, if all of that is there.
    pub(crate) fn bind(&self, cx: &mut Cx<'_, H>) -> Result<Binding, FlowError> {
        let world = match self.bound {
            Bound::Here => cx.world(),
            Bound::World(world) => Some(world),
            Bound::Runtime => None,
        };
        if world.is_none() && self.bound == Bound::Runtime && cx.runtime().is_shut_down() {
            return Err(FlowError::ShutDown);
        }
        let is_live = match world {
            Some(world) => cx.is_world_alive(world),
            None => self.bound == Bound::Runtime,
        };
        // Installed from here on: the end of an owner is noted also before the flow is there.
        flows(cx);
        let home = if is_live { home_of(cx, world) } else { None };
        let Some(home) = home else {
            return Err(FlowError::NoLiveWorld {
                flow: self.name.clone().into_owned(),
            });
        };
        let owner = self.owner.map(|owner| cx.life(owner)).transpose();
        let owner = owner.map_err(|why| FlowError::NoOwner {
            flow: self.name.clone().into_owned(),
            why,
        })?;
        if let Some(owner) = owner
            && !cx.is_living(owner)
        {
            return Err(FlowError::NoOwner {
                flow: self.name.clone().into_owned(),
                why: sc_core::TickError::Gone,
            });
        }
        let now = match world {
            Some(world) => cx.elapsed(world, self.clock).unwrap_or_default(),
            None => cx.runtime_elapsed(),
        };
        Ok(Binding {
            home,
            owner,
            now: u64::try_from(now.as_nanos()).unwrap_or(u64::MAX),
        })
    }
}

/// What a flow is bound to.
pub(crate) struct Binding {
    pub(crate) home: Rc<Home>,
    pub(crate) owner: Option<Life>,
    /// The reading of the flow's clock (ns).
    pub(crate) now: u64,
}

/// Starts a flow. Nothing of it runs in this call.
pub(crate) fn start<H>(
    cx: &mut Cx<'_, H>,
    options: Options<H>,
    binding: Binding,
    kind: FlowKind,
    location: &'static Location<'static>,
    first: Next,
    body: impl FnOnce(&mut Cx<'_, H>, &Rc<Home>, Local) -> Body<H>,
) -> FlowId {
    let first_frame = cx.first_tick_frame();
    let since = u64::try_from(cx.runtime_elapsed().as_nanos()).unwrap_or(u64::MAX);
    let Binding { home, owner, .. } = binding;
    let state = flows(cx);
    state.started += 1;
    let start = state.started;
    let local = home.enter(state.next_slot(), start, first_frame);
    let sleep = match first {
        Next::At(deadline) => Some(home.sleep(local, options.clock, deadline)),
        _ => {
            home.want_frame(local, first_frame, options.clock);
            None
        }
    };
    let body = body(cx, &home, local);
    let waiting_for = match (&body, first) {
        (Body::Node(node), Next::At(_)) => node.waiting_for(),
        _ => WaitingFor::Start,
    };
    let state = flows(cx);
    state.watch.begins_to_wait(waiting_for, since);
    let id = state.insert(Flow {
        request: Request::None,
        home,
        local,
        start,
        name: options.name,
        kind,
        clock: options.clock,
        owner,
        location,
        on_finished: options.on_finished,
        sleep,
        waker: None,
        paused: false,
        missed: false,
        since,
        waiting_for,
        warned: false,
        note: None,
        failed: None,
        finish: None,
        polls: 0,
        polls_ever: 0,
        polled_in: 0,
        cap_reported: false,
        awaited_by: Vec::new(),
    });
    state.bodies.put(id.index, body);
    if let Some(owner) = owner {
        state.by_owner.entry(owner).or_default().push(id);
    }
    id
}
