//! Worlds that live as long as a state, and awaiting states.

use std::any::type_name;

use bevy_app::{App, Main, MainScheduleOrder};
use bevy_ecs::message::{MessageCursor, Messages};
use bevy_ecs::resource::Resource;
use bevy_ecs::schedule::common_conditions::run_once;
use bevy_ecs::schedule::{IntoScheduleConfigs, ScheduleLabel, SystemSet};
use bevy_ecs::system::Commands;
use bevy_ecs::world::{Mut, World};
use bevy_state::prelude::{State, StateTransition, StateTransitionEvent, States};
use bevy_state::state::{StateTransitionSystems, setup_state_transitions_in_world};
use sc_core::{Clock, Cx, Report, ReportKind, WorldId, WorldKind, WorldOptions};
use sc_flow::{FlowCx, FlowError};

use crate::commands::queue_start;
use crate::handle::{Bound, FlowHandle, request};
use crate::origin::{Origin, What};
use crate::params::{Flows, LocalFlows};
use crate::queue::ask;
use crate::reports;
use crate::slot::WorldCx;

/// The states of a type that have a world, and the worlds that live.
#[derive(Resource)]
struct StateWorlds<S: States> {
    /// With who asked for its worlds.
    tracked: Vec<(S, Origin)>,
    live: Vec<(S, WorldId)>,
    seen: MessageCursor<StateTransitionEvent<S>>,
    /// The state that is being entered.
    entered: Option<S>,
}

impl<S: States> StateWorlds<S> {
    /// Who asked for the worlds of a state, if somebody did.
    fn asked(&self, state: &S) -> Option<Origin> {
        let tracked = self.tracked.iter().find(|(tracked, _)| tracked == state);
        tracked.map(|&(_, origin)| origin)
    }
}

/// When worlds of states end and begin, by how deep the type depends on others: those of a sub-state or a computed
/// state end before, and begin after, those of what it comes from.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Turn {
    Leave(usize),
    Enter(usize),
}

/// Worlds of states, as calls on the [`App`].
pub trait AppStateWorlds {
    /// Gives a state a world of the runtime: made when the state is entered, before `OnEnter` runs, and torn
    /// down when it is left, after `OnExit` has run. A state that is active already has it at once. What is started in
    /// it by [`state_flow`](StateFlowCommands::state_flow) or [`StateCx::state_world`] ends with the state.
    ///
    /// ```
    /// # use bevy_app::App;
    /// # use bevy_state::{app::{AppExtStates, StatesPlugin}, prelude::*};
    /// # use bevy_time::TimePlugin;
    /// # use sc_bevy::*;
    /// #[derive(States, Clone, PartialEq, Eq, Hash, Debug, Default)]
    /// enum Screen { #[default] Menu, Game }
    /// let mut app = App::new();
    /// app.add_plugins((TimePlugin, StatesPlugin, StillCookingPlugins))
    ///     .init_state::<Screen>()
    ///     .add_state_world(Screen::Game);
    /// app.world_mut().resource_mut::<NextState<Screen>>().set(Screen::Game);
    /// app.update();
    /// assert!(app.world_mut().with_cx(|cx| cx.state_world(&Screen::Game))?.is_some());
    /// app.world_mut().resource_mut::<NextState<Screen>>().set(Screen::Menu);
    /// app.update();
    /// assert!(app.world_mut().with_cx(|cx| cx.state_world(&Screen::Game))?.is_none());
    /// # Ok::<(), CxError>(())
    /// ```
    #[track_caller]
    fn add_state_world<S: States>(&mut self, state: S) -> &mut Self;
}

impl AppStateWorlds for App {
    #[track_caller]
    fn add_state_world<S: States>(&mut self, state: S) -> &mut Self {
        let origin = Origin::here(What::StateWorld);
        if !self.world().contains_resource::<StateWorlds<S>>() {
            // It may come before `StatesPlugin`, which orders the schedule only if that is not there yet.
            setup_state_transitions_in_world(self.world_mut());
            let check = check_states::<S>.before(Main::run_main);
            self.add_systems(Main, check.run_if(run_once));
            self.insert_resource(StateWorlds::<S> {
                tracked: Vec::new(),
                live: Vec::new(),
                seen: unseen(self.world()),
                entered: None,
            });
            let leave = leave::<S>.in_set(Turn::Leave(S::DEPENDENCY_DEPTH));
            let enter = enter::<S>.in_set(Turn::Enter(S::DEPENDENCY_DEPTH));
            self.add_systems(StateTransition, (leave, enter));
            for depth in 0..=S::DEPENDENCY_DEPTH {
                let leave = Turn::Leave(depth)
                    .after(StateTransitionSystems::ExitSchedules)
                    .after(Turn::Leave(depth + 1));
                let enter = Turn::Enter(depth)
                    .after(Turn::Leave(0))
                    .before(Turn::Enter(depth + 1))
                    .before(StateTransitionSystems::TransitionSchedules);
                self.configure_sets(StateTransition, (leave, enter));
            }
        }
        let mut worlds = self.world_mut().resource_mut::<StateWorlds<S>>();
        if worlds.asked(&state).is_none() {
            worlds.tracked.push((state.clone(), origin));
        }
        let now = self.world().get_resource::<State<S>>();
        if now.is_some_and(|now| *now.get() == state) {
            // Where there is no runtime yet, the first transition is still to come.
            let _ = self.world_mut().with_cx(|cx| begin(cx, state));
        }
        self
    }
}

/// Reports states that nothing will ever enter. The order of the schedules is out of the `World` while the main loop
/// runs.
fn check_states<S: States>(world: &mut World) {
    let order = world.get_resource::<MainScheduleOrder>();
    let runs = order.is_some_and(|order| order.labels.contains(&StateTransition.intern()));
    if !runs || !has_states::<S>(world) {
        let _ = world.with_cx(|cx| {
            let kind = ReportKind::Extension(&reports::NO_STATES);
            let what = "were given worlds, and the app has no such states";
            let states = format!("states {}", type_name::<S>());
            cx.report(Report::new(kind, what).object(states));
        });
    }
}

/// Whether the type was added to the app, as any kind of states, whether one is active or not.
fn has_states<S: States>(world: &World) -> bool {
    world.contains_resource::<Messages<StateTransitionEvent<S>>>()
}

/// A reader of the transitions that are still to be done: only the one that a state begins with is written before its
/// time.
fn unseen<S: States>(world: &World) -> MessageCursor<StateTransitionEvent<S>> {
    let Some(messages) = world.get_resource::<Messages<StateTransitionEvent<S>>>() else {
        return MessageCursor::default();
    };
    let mut all = messages.get_cursor();
    match all.read(messages).all(|step| step.exited.is_none()) {
        true => messages.get_cursor(),
        false => messages.get_cursor_current(),
    }
}

/// Ends the worlds of all states but the one that is active now, and of that too if it was left before. Without a
/// transition it may be another one too: somebody has set or removed the resource by hand.
fn leave<S: States>(world: &mut World) {
    let ended = world.resource_scope(|world, mut worlds: Mut<StateWorlds<S>>| {
        let now = world.get_resource::<State<S>>().map(State::get);
        let messages = world.get_resource::<Messages<StateTransitionEvent<S>>>();
        let StateWorlds { seen, entered, .. } = &mut *worlds;
        let mut left = Vec::new();
        let steps = messages.map(|messages| seen.read(messages));
        for step in steps.into_iter().flatten() {
            if step.exited != step.entered || step.allow_same_state_transitions {
                left.extend(step.exited.clone());
                entered.clone_from(&step.entered);
            }
        }
        let over = worlds.live.iter().map(|(state, _)| state);
        let over = over.filter(|&state| Some(state) != now);
        // Where nobody has asked for a world, there is none to end.
        let origin = left
            .iter()
            .chain(over)
            .find_map(|state| worlds.asked(state))?;
        Some((origin, left, now.cloned()))
    });
    if let Some((origin, left, now)) = ended {
        ask(world, origin, move |cx| end(cx, &left, now.as_ref()));
    }
}

fn end<S: States>(cx: &mut Cx<'_, World>, left: &[S], now: Option<&S>) {
    let Some(mut worlds) = cx.host_mut().get_resource_mut::<StateWorlds<S>>() else {
        return;
    };
    let is_over = |(state, _): &mut (S, _)| Some(&*state) != now || left.contains(state);
    let ended: Vec<_> = worlds.live.extract_if(.., is_over).collect();
    for (_, ended) in ended {
        cx.destroy_world(ended);
    }
}

/// Makes the world of the state that is entered.
fn enter<S: States>(world: &mut World) {
    let worlds = world.get_resource_mut::<StateWorlds<S>>();
    let entered = worlds.and_then(|mut worlds| {
        let entered = worlds.entered.take()?;
        Some((worlds.asked(&entered)?, entered))
    });
    if let Some((origin, entered)) = entered {
        ask(world, origin, move |cx| begin(cx, entered));
    }
}

/// Makes the world of a state, unless it has one.
fn begin<S: States>(cx: &mut Cx<'_, World>, entered: S) {
    if cx.state_world(&entered).is_some() {
        return;
    }
    let options = WorldOptions::new(WorldKind::Game).name(format!("{entered:?}"));
    // Refused only after the end of the runtime.
    if let Ok(made) = cx.create_world(options)
        && let Some(mut worlds) = cx.host_mut().get_resource_mut::<StateWorlds<S>>()
    {
        worlds.live.retain(|(state, _)| *state != entered);
        worlds.live.push((entered, made));
    }
}

/// Worlds of states, as a call on the [`Cx`].
pub trait StateCx {
    /// The world of a state; `None` while the state is not active, or when it has no world.
    ///
    /// ```
    /// # use bevy_app::App;
    /// # use bevy_ecs::prelude::*;
    /// # use bevy_state::{app::{AppExtStates, StatesPlugin}, prelude::*};
    /// # use bevy_time::TimePlugin;
    /// # use sc_bevy::*;
    /// # use sc_core::{Clock, Cx};
    /// # use sc_flow::{ForEach, Step};
    /// #[derive(States, Clone, PartialEq, Eq, Hash, Debug, Default)]
    /// enum Screen { #[default] Menu, Game }
    /// #[derive(Component)]
    /// struct Enemy;
    /// # let mut app = App::new();
    /// # app.add_plugins((TimePlugin, StatesPlugin, StillCookingPlugins));
    /// app.init_state::<Screen>().add_state_world(Screen::Menu).add_state_world(Screen::Game);
    /// let started = app.world_mut().with_cx(|cx| {
    ///     assert_eq!(cx.state_world(&Screen::Game), None);
    ///     let menu = cx.state_world(&Screen::Menu)?;
    ///     let attack = ForEach::index(3).world(menu)
    ///         .each(|cx: &mut Cx<'_, World>, _| { cx.host_mut().spawn(Enemy); });
    ///     attack.start(cx).ok()
    /// })?;
    /// assert!(started.is_some());
    /// # Ok::<(), CxError>(())
    /// ```
    fn state_world<S: States>(&self, state: &S) -> Option<WorldId>;
}

impl StateCx for Cx<'_, World> {
    fn state_world<S: States>(&self, state: &S) -> Option<WorldId> {
        let worlds = self.host().get_resource::<StateWorlds<S>>()?;
        let found = worlds.live.iter().find(|(live, _)| live == state);
        let world = found.map(|&(_, world)| world);
        world.filter(|&world| self.is_world_alive(world))
    }
}

/// Flows of states, by [`Commands`].
pub trait StateFlowCommands {
    /// Starts an async flow in the world of a state: leaving the state ends it `Aborted`. Refused and
    /// reported when the state is not active, or has no world.
    ///
    /// ```
    /// # use bevy_ecs::prelude::*;
    /// # use bevy_state::prelude::*;
    /// # use sc_bevy::*;
    /// # use sc_core::secs;
    /// # #[derive(States, Clone, PartialEq, Eq, Hash, Debug, Default)]
    /// # enum Screen { #[default] Menu, Game }
    /// fn enter_game(mut commands: Commands) {
    ///     commands.state_flow(Screen::Game, "round", async |fx| {
    ///         fx.delay(secs(90)).await?;
    ///         fx.with(|cx| cx.host_mut().resource_mut::<NextState<Screen>>().set(Screen::Menu))
    ///     });
    /// }
    /// # bevy_ecs::system::assert_is_system(enter_game);
    /// ```
    #[track_caller]
    fn state_flow<S: States, F>(&mut self, state: S, name: &'static str, body: F) -> FlowHandle
    where
        F: AsyncFnOnce(FlowCx<World>) -> Result<(), FlowError> + Send + 'static;
}

impl StateFlowCommands for Commands<'_, '_> {
    #[track_caller]
    fn state_flow<S: States, F>(&mut self, state: S, name: &'static str, body: F) -> FlowHandle
    where
        F: AsyncFnOnce(FlowCx<World>) -> Result<(), FlowError> + Send + 'static,
    {
        let (handle, start) = request_in(state, name, body);
        queue_start(self, handle, start)
    }
}

/// A handle, and the request that starts its flow in the world of a state.
#[track_caller]
fn request_in<S: States, F>(
    state: S,
    name: &'static str,
    body: F,
) -> (FlowHandle, impl FnOnce(&mut Cx<'_, World>))
where
    F: AsyncFnOnce(FlowCx<World>) -> Result<(), FlowError> + 'static,
{
    let bound = move |cx: &mut Cx<'_, World>| match cx.state_world(&state) {
        Some(world) => Ok(Bound {
            world: Some(world),
            owner: None,
        }),
        None => Err(format!("state {state:?} is not active or has no world")),
    };
    request(name, bound, body)
}

impl Flows<'_> {
    /// As [`StateFlowCommands::state_flow`].
    ///
    /// ```
    /// # use bevy_ecs::prelude::*;
    /// # use bevy_state::prelude::*;
    /// # use sc_bevy::*;
    /// # #[derive(States, Clone, PartialEq, Eq, Hash, Debug, Default)]
    /// # enum Screen { #[default] Menu, Game }
    /// fn enter_game(flows: Flows) {
    ///     flows.start_in(Screen::Game, "round", async |fx| { fx.next_tick().await?; Ok(()) });
    /// }
    /// # bevy_ecs::system::assert_is_system(enter_game);
    /// ```
    #[track_caller]
    pub fn start_in<S: States, F>(&self, state: S, name: &'static str, body: F) -> FlowHandle
    where
        F: AsyncFnOnce(FlowCx<World>) -> Result<(), FlowError> + Send + 'static,
    {
        let (handle, start) = request_in(state, name, body);
        self.queue.push_start(&handle, Box::new(start));
        handle
    }
}

impl LocalFlows<'_> {
    /// As [`Flows::start_in`].
    #[track_caller]
    pub fn start_in<S: States, F>(&mut self, state: S, name: &'static str, body: F) -> FlowHandle
    where
        F: AsyncFnOnce(FlowCx<World>) -> Result<(), FlowError> + 'static,
    {
        let (handle, start) = request_in(state, name, body);
        self.queue.push_start(&handle, Box::new(start));
        handle
    }
}

/// States, for async flows.
#[allow(async_fn_in_trait)] // Flows live on one thread: no future of theirs is `Send`.
pub trait StateFx {
    /// Waits until a state is active. Looked at once a frame of the flow's world, also in a pause; of a world
    /// that steps, in each step.
    ///
    /// ```
    /// # use bevy_ecs::prelude::*;
    /// # use bevy_state::prelude::*;
    /// # use sc_bevy::*;
    /// # #[derive(States, Clone, PartialEq, Eq, Hash, Debug, Default)]
    /// # enum Screen { #[default] Menu, Game }
    /// fn music(mut commands: Commands) {
    ///     commands.flow("music", async |fx| fx.state(Screen::Game).await);
    /// }
    /// # bevy_ecs::system::assert_is_system(music);
    /// ```
    ///
    /// # Errors
    /// [`FlowError::Other`] when the app has no such states.
    async fn state<S: States>(&self, state: S) -> Result<(), FlowError>;
}

impl StateFx for FlowCx<World> {
    async fn state<S: States>(&self, state: S) -> Result<(), FlowError> {
        if !self.with(|cx| has_states::<S>(cx.host()))? {
            let (name, fix) = (type_name::<S>(), reports::NO_STATES.fix);
            let why = format!("the app has no states of type {name}: {fix}");
            return Err(FlowError::other(why));
        }
        self.wait_until(|cx, _| {
            let now = cx.host().get_resource::<State<S>>();
            now.is_some_and(|now| *now.get() == state)
        })
        .on(Clock::Real)
        .await?;
        Ok(())
    }
}
