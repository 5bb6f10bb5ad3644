//! The executor: where flows live, and the calls that start, find, run and end them.

pub(crate) mod bits;
pub(crate) mod board;
pub(crate) mod body;
pub(crate) mod bonds;
pub(crate) mod end;
mod every;
pub(crate) mod home;
pub(crate) mod run;
pub(crate) mod start;
mod sweep;
pub(crate) mod table;
pub(crate) mod turn;
mod waits;
pub(crate) mod wake;

use std::rc::Rc;
use std::time::Duration;

use sc_core::{Cx, Extension, Runtime, Stage, TeardownPhase, WorldId};

use self::board::Board;
use self::home::Home;
use self::table::Extra;
use crate::any;
use crate::finish::FlowFinish;
use crate::id::FlowId;
use crate::list::{FlowInfo, Progress, WaitingFor};
use crate::span::nanos;

pub(crate) type Finished<H> = Box<dyn FnOnce(&mut Cx<'_, H>, FlowFinish)>;

/// The executor in a runtime's state.
struct Installed<H: 'static>(Option<Executor<H>>);

struct Executor<H: 'static> {
    board: Rc<Board<H>>,
    /// The home of flows bound to the runtime.
    home: Rc<Home<H>>,
}

impl<H> Default for Installed<H> {
    fn default() -> Self {
        Installed(None)
    }
}

impl<H> Drop for Installed<H> {
    fn drop(&mut self) {
        // Flows hold their home, which holds the board: only this lets go of them.
        if let Some(executor) = &self.0 {
            executor.board.clear();
        }
    }
}

/// The home of a world's flows, as state of the world.
struct WorldHome<H: 'static>(Option<Rc<Home<H>>>);

impl<H> Default for WorldHome<H> {
    fn default() -> Self {
        WorldHome(None)
    }
}

fn executor<H>(rt: &Runtime<H>) -> Option<&Executor<H>> {
    rt.state::<Installed<H>>()?.0.as_ref()
}

/// The flows of a runtime, if it has ever had one.
pub(crate) fn known<H>(rt: &Runtime<H>) -> Option<&Rc<Board<H>>> {
    executor(rt).map(|executor| &executor.board)
}

/// The flows of a runtime; the executor is installed on first use.
pub(crate) fn board<H>(cx: &mut Cx<'_, H>) -> Rc<Board<H>> {
    if let Some(board) = known(cx.runtime()) {
        return Rc::clone(board);
    }
    install(cx)
}

#[cold]
fn install<H>(cx: &mut Cx<'_, H>) -> Rc<Board<H>> {
    let extension = Extension::<H>::new("sc.flow")
        .ours()
        .on_world_stage(Stage::Flows, run::world_stage)
        .on_runtime_stage(Stage::Flows, run::runtime_stage)
        .on_teardown(TeardownPhase::Flows, end::world_ends)
        .on_lives_ended(end::lives_ended)
        .on_runtime_teardown(end::runtime_ends)
        .inspected_by(inspect);
    cx.install(extension);
    let board = Rc::new(Board::new());
    let home = Rc::new(Home::new(None, &board, cx.access().in_world(None)));
    cx.runtime_state::<Installed<H>>().0 = Some(Executor {
        board: Rc::clone(&board),
        home,
    });
    any::open(cx);
    board
}

/// The home of a world's flows, or of the runtime's.
#[inline]
pub(crate) fn home_of<H>(cx: &mut Cx<'_, H>, world: Option<WorldId>) -> Option<Rc<Home<H>>> {
    if let Some(world) = world
        && let Some(WorldHome(Some(home))) = cx.runtime().world_state::<WorldHome<H>>(world)
    {
        return Some(Rc::clone(home));
    }
    make_home(cx, world)
}

/// The home of the runtime's flows, or the first one of a world.
#[cold]
#[inline(never)]
fn make_home<H>(cx: &mut Cx<'_, H>, world: Option<WorldId>) -> Option<Rc<Home<H>>> {
    let Some(world) = world else {
        board(cx);
        return Some(Rc::clone(&executor(cx.runtime())?.home));
    };
    let board = board(cx);
    let access = cx.access().in_world(Some(world));
    let home = Rc::new(Home::new(Some(world), &board, access));
    cx.world_state::<WorldHome<H>>(world).ok()?.0 = Some(Rc::clone(&home));
    Some(home)
}

/// The reading of a flow's clock (ns), in its world or the runtime.
pub(crate) fn reading<H>(cx: &Cx<'_, H>, world: Option<WorldId>, clock: sc_core::Clock) -> u64 {
    nanos(match world {
        Some(world) => cx.elapsed(world, clock).unwrap_or_default(),
        None => cx.runtime_elapsed(),
    })
}

impl<H> Board<H> {
    /// One flow as the list shows it.
    pub(crate) fn info(&self, id: FlowId, now: u64) -> Option<FlowInfo> {
        let looked = self.slot(id, |slot| {
            let looked = slot.body.out().get().and_then(|body| body.look());
            (looked, slot.bits.get())
        });
        let (looked, is_like) = looked?;
        let table = self.table.borrow();
        let row = table.row(id.index)?;
        let since = row.since(is_like);
        let is_fresh = is_like & bits::FRESH != 0;
        let extra = table.extra(row);
        let noted = extra
            .and_then(Extra::note)
            .map(|note| (note.waiting_for, note.progress));
        let is_running = self.running.get() == Some(id);
        let told = is_running.then(|| (row.waiting_for, self.progress.get()));
        // A future that notes nothing awaits something that its code only knows.
        let (waiting_for, progress) = looked
            .or(told)
            .or(noted)
            .unwrap_or((WaitingFor::Await, Progress::Unknown));
        let (waiting_for, since) = match extra.and_then(|extra| extra.paused) {
            Some(paused) => (WaitingFor::Resume, paused),
            None if is_fresh => (WaitingFor::Start, since),
            None => (waiting_for, since),
        };
        Some(FlowInfo {
            id: extra.map_or(id, |extra| extra.id_outside(id)),
            name: table.name(id.index),
            kind: row.kind,
            world: row.home.world,
            owner: extra.and_then(|extra| Some(extra.owner?.0)),
            progress,
            waiting_for,
            waiting: Duration::from_nanos(now.saturating_sub(since)),
            started_at: row.location,
        })
    }

    /// Every live flow as the list shows it, in order of start.
    pub(crate) fn infos(&self, now: u64) -> Vec<FlowInfo> {
        let ids = self.ids_where(|_, _| true).into_iter();
        ids.filter_map(|id| self.info(id, now)).collect()
    }
}

fn inspect<H: 'static>(rt: &Runtime<H>) -> Vec<String> {
    let Some(executor) = executor(rt) else {
        return Vec::new();
    };
    let infos = executor.board.infos(executor.home.runtime_now.get());
    let line = |info: FlowInfo| {
        let bound = match (info.world, info.owner) {
            (world, Some(owner)) => {
                let owner = rt.object_name(owner.object());
                let world = world.and_then(|world| rt.world_name(world));
                let names = world.into_iter().chain(owner);
                names.collect::<Vec<_>>().join(", ")
            }
            (Some(world), None) => rt.world_name(world).unwrap_or_default(),
            (None, None) => "runtime".to_owned(),
        };
        info.line(&bound)
    };
    infos.into_iter().map(line).collect()
}
