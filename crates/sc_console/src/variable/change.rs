//! Telling of changes: who is told, in what order, and how a chase of callbacks ends.

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sc_core::{Culprit, Cx, Report, ReportKind, WorldId};

use super::{SetOutcome, Variables};
use crate::error::VariableError;
use crate::registry::console;
use crate::reports;

/// So often one variable is told of before it must come to rest.
const ROUNDS: u32 = 16;

type Callback<H> = Box<dyn FnMut(&mut Cx<'_, H>, &dyn Any)>;

struct Watcher<H: 'static> {
    number: u64,
    variable: u32,
    world: Option<WorldId>,
    dropped: Arc<AtomicBool>,
    /// Empty while it runs.
    callback: Option<Callback<H>>,
}

/// The callbacks of a runtime's variables, in the order in which they were bound.
pub(crate) struct Watchers<H: 'static> {
    list: Vec<Watcher<H>>,
    bound: u64,
}

impl<H> Default for Watchers<H> {
    fn default() -> Self {
        Watchers {
            list: Vec::new(),
            bound: 0,
        }
    }
}

/// Ends its callback when it is dropped. [`on_var_change`](crate::VariableExt::on_var_change) gives it.
///
/// ```
/// # use sc_console::{ChangeGuard, VariableExt, variable};
/// # use sc_core::Cx;
/// # variable! { ROUNDS = MyGame.RoundsGuarded: u32 = 3 }
/// struct Scoreboard { _rounds: Option<ChangeGuard> }
/// fn open(cx: &mut Cx<'_, Vec<u32>>) -> Scoreboard {
///     let guard = cx.on_var_change(ROUNDS, |cx, rounds| cx.host_mut().push(*rounds));
///     Scoreboard { _rounds: guard.ok() }
/// }
/// # let (mut rt, mut told) = (sc_core::Runtime::<Vec<u32>>::new(), Vec::new());
/// # let mut cx = rt.cx(&mut told);
/// let scoreboard = open(&mut cx);
/// drop(scoreboard);
/// cx.set_var(ROUNDS, 5)?;
/// assert!(told.is_empty());
/// # Ok::<(), sc_console::VariableError>(())
/// ```
#[derive(Debug)]
#[must_use = "dropping the guard ends the callback"]
pub struct ChangeGuard {
    dropped: Option<Arc<AtomicBool>>,
    /// Tells the console that some guard was dropped.
    any: Arc<AtomicBool>,
}

impl ChangeGuard {
    /// Lets the callback live as long as its variable and its world.
    ///
    /// ```
    /// # use sc_console::{VariableExt, variable};
    /// # let (mut rt, mut told) = (sc_core::Runtime::<Vec<u32>>::new(), Vec::new());
    /// # let mut cx = rt.cx(&mut told);
    /// # variable! { ROUNDS = MyGame.RoundsDetached: u32 = 3 }
    /// cx.on_var_change(ROUNDS, |cx, rounds| cx.host_mut().push(*rounds))?.detach();
    /// cx.set_var(ROUNDS, 5)?;
    /// assert_eq!(told, [5]);
    /// # Ok::<(), sc_console::VariableError>(())
    /// ```
    pub fn detach(mut self) {
        self.dropped = None;
    }
}

impl Drop for ChangeGuard {
    fn drop(&mut self) {
        if let Some(dropped) = &self.dropped {
            dropped.store(true, Ordering::Release);
            self.any.store(true, Ordering::Release);
        }
    }
}

impl<H> Watchers<H> {
    pub(super) fn bind(
        &mut self,
        any: Arc<AtomicBool>,
        variable: u32,
        world: Option<WorldId>,
        callback: Callback<H>,
    ) -> ChangeGuard {
        let dropped = Arc::<AtomicBool>::default();
        self.bound += 1;
        self.list.push(Watcher {
            number: self.bound,
            variable,
            world,
            dropped: Arc::clone(&dropped),
            callback: Some(callback),
        });
        ChangeGuard {
            dropped: Some(dropped),
            any,
        }
    }

    /// The first callback of a variable after a number that was bound up to another one.
    fn next(&self, variable: u32, after: u64, last: u64) -> Option<&Watcher<H>> {
        let range = |watcher: &&Watcher<H>| watcher.number > after && watcher.number <= last;
        let mut list = self.list.iter().filter(range);
        list.find(|watcher| watcher.variable == variable)
    }

    fn get_mut(&mut self, number: u64) -> Option<&mut Watcher<H>> {
        let at = self.list.binary_search_by_key(&number, |w| w.number).ok()?;
        self.list.get_mut(at)
    }

    fn take_where(&mut self, gone: impl Fn(&Watcher<H>) -> bool) -> Vec<Option<Callback<H>>> {
        let (ended, kept) = self.list.drain(..).partition(gone);
        self.list = kept;
        let ended: Vec<Watcher<H>> = ended;
        ended.into_iter().map(|watcher| watcher.callback).collect()
    }

    pub(crate) fn leave_world(&mut self, world: WorldId) -> impl Sized + use<H> {
        self.take_where(|watcher| watcher.world == Some(world))
    }

    pub(crate) fn leave_variable(&mut self, variable: u32) -> impl Sized + use<H> {
        self.take_where(|watcher| watcher.variable == variable)
    }

    pub(crate) fn take_dropped(&mut self) -> Vec<Option<Callback<H>>> {
        if self.list.iter().any(|w| w.dropped.load(Ordering::Acquire)) {
            self.take_where(|watcher| watcher.dropped.load(Ordering::Acquire))
        } else {
            Vec::new()
        }
    }
}

/// Tells of what a set has changed, and hands its outcome on.
pub(crate) fn store_result<H>(
    cx: &mut Cx<'_, H>,
    outcome: Result<SetOutcome, VariableError>,
) -> Result<SetOutcome, VariableError> {
    if let Ok(SetOutcome::Changed) = outcome {
        notify(cx);
    }
    outcome
}

/// Tells of every change, first changed first. What callbacks change meanwhile is told after them,
/// each variable once for all that happened to it; a variable that does not come to rest is reported
/// and left alone.
pub(crate) fn notify<H>(cx: &mut Cx<'_, H>) {
    let variables = cx.runtime_state::<Variables>();
    if variables.notifying {
        return;
    }
    variables.notifying = true;
    let mut panics = Vec::new();
    // What unwinds here comes from the end of a world that a callback has destroyed.
    let told = catch_unwind(AssertUnwindSafe(|| tell_all(cx, &mut panics)));
    let variables = cx.runtime_state::<Variables>();
    (variables.notifying, variables.telling) = (false, None);
    if let Err(payload) = told {
        resume_unwind(payload);
    }
    for (culprit, panic) in panics {
        cx.settle_panic(&culprit, panic);
    }
}

fn tell_all<H>(cx: &mut Cx<'_, H>, panics: &mut Vec<(Culprit, sc_core::Panic)>) {
    let mut rounds = BTreeMap::<u32, u32>::new();
    while let Some(variable) = cx.runtime_state::<Variables>().changed.pop_front() {
        if cx.runtime_state::<Variables>().is_as_told(variable) {
            continue;
        }
        let round = rounds.entry(variable).or_default();
        *round += 1;
        // Those who chase each other are left alone; all others are told.
        if *round <= ROUNDS {
            cx.runtime_state::<Variables>().telling = Some(variable);
            tell(cx, variable, panics);
            cx.runtime_state::<Variables>().telling = None;
        }
    }
    if rounds.values().any(|&rounds| rounds > ROUNDS) {
        give_up(cx, &rounds);
    }
}

fn give_up<H>(cx: &mut Cx<'_, H>, rounds: &BTreeMap<u32, u32>) {
    let variables = cx.runtime_state::<Variables>();
    let chasing = rounds.iter().filter(|&(_, &rounds)| rounds >= ROUNDS);
    let names = chasing.filter_map(|(&index, _)| Some(variables.get(index)?.info.name.clone()));
    let names: Vec<String> = names.collect();
    let kind = ReportKind::Extension(&reports::VARIABLES_CHASE);
    let what = format!("its callbacks set it {ROUNDS} times over, and were not told of the last");
    cx.report(Report::new(kind, what).object(names.join(", ")));
}

/// Calls the callbacks of one variable with its value.
fn tell<H>(cx: &mut Cx<'_, H>, variable: u32, panics: &mut Vec<(Culprit, sc_core::Panic)>) {
    // Those that are bound meanwhile are told of the next change.
    let last = console(cx).watchers.bound;
    let Some(slot) = cx.runtime_state::<Variables>().get(variable) else {
        return;
    };
    // All are told of one value; what one of them sets is told to all after that.
    let value = (slot.ops.clone)(&*slot.value);
    tell_declared(cx, variable, &*value, panics);
    let mut after = 0;
    loop {
        let dropped = console(cx).watchers.take_dropped();
        cx.enter(|| drop(dropped));
        let Some(watcher) = console(cx).watchers.next(variable, after, last) else {
            return;
        };
        let (number, world) = (watcher.number, watcher.world);
        after = number;
        if world.is_some_and(|world| !cx.is_world_alive(world)) {
            continue;
        }
        let Some(slot) = cx.runtime_state::<Variables>().get(variable) else {
            return;
        };
        let name = slot.info.name.clone();
        let watcher = console(cx).watchers.get_mut(number);
        let Some(mut callback) = watcher.and_then(|watcher| watcher.callback.take()) else {
            continue;
        };
        let outcome = cx.callback(world, Duration::ZERO, |cx| callback(cx, &*value));
        match console(cx).watchers.get_mut(number) {
            Some(watcher) => watcher.callback = Some(callback),
            None => cx.enter(|| drop(callback)),
        }
        cx.attend();
        panics.extend(outcome.err().map(|panic| (culprit(&name), panic)));
    }
}

/// Calls the function that the declaration of a variable names.
fn tell_declared<H>(
    cx: &mut Cx<'_, H>,
    variable: u32,
    value: &dyn Any,
    panics: &mut Vec<(Culprit, sc_core::Panic)>,
) {
    let Some(slot) = cx.runtime_state::<Variables>().get(variable) else {
        return;
    };
    let Some(changed) = slot.changed.clone() else {
        return;
    };
    let name = slot.info.name.clone();
    let outcome = cx.callback(None, Duration::ZERO, |cx| changed(cx, value));
    cx.attend();
    panics.extend(outcome.err().map(|panic| (culprit(&name), panic)));
}

fn culprit(variable: &str) -> Culprit {
    Culprit::new(format!("callback of {variable}"), reports::CHANGE_FIX)
}
