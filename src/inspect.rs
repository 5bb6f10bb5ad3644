//! What the console says about the other parts: a command a list, and commands that must see two
//! crates.

use std::fmt;

use sc_console::{CommandError, ConsoleExt, Output, RegisterError, VariableDef, VariableExt};
use sc_core::{AnyCx, Cx, secs};
use sc_flow::FlowExt;

/// Commands that print a list: a line each. A part that lists what lives adds its own here.
macro_rules! lists {
    ($($(#[doc = $doc:literal])* SC.$group:ident.$name:ident = $lines:expr;)*) => { $(
        sc_console::command! {
            $(#[doc = $doc])*
            SC.$group.$name [anytime] () |cx: &mut dyn AnyCx, out| { print(out, $lines(cx)) }
        }
    )* };
}

lists! {
    /// Lists the worlds, oldest first.
    SC.World.List = worlds;
    /// Lists what ticks, by the order of its making.
    SC.Tick.List = ticks;
    /// Lists the flows that live, first started first.
    SC.Flow.List = |cx: &dyn AnyCx| cx.inspect("flow").unwrap_or_default();
}

/// Prints the lines of a list, and how many they are.
fn print(out: &mut Output, lines: Vec<String>) -> Result<(), CommandError> {
    for line in &lines {
        writeln!(out, "{line}")?;
    }
    writeln!(out, "{} in all", lines.len())?;
    Ok(())
}

fn worlds(cx: &dyn AnyCx) -> Vec<String> {
    let worlds = cx.world_list().into_iter();
    let line = |world: sc_core::WorldInfo| {
        let paused = match (world.paused, world.effectively_paused) {
            (true, _) => ", paused",
            (false, true) => ", paused by its parent or instance",
            (false, false) => "",
        };
        let dying = if cx.is_world_alive(world.id) {
            ""
        } else {
            ", ending"
        };
        format!(
            "{}: {:?}, {} objects, game time {:?}, dilation {}{paused}{dying}",
            world.name,
            world.kind,
            world.objects,
            world.elapsed[sc_core::Clock::Game as usize],
            world.dilation
        )
    };
    worlds.map(line).collect()
}

fn ticks(cx: &dyn AnyCx) -> Vec<String> {
    let ticks = cx.tick_list().into_iter();
    let line = |tick: sc_core::TickInfo| {
        let world = tick.world.and_then(|world| cx.world_info(world).ok());
        let world = world.map_or_else(|| "no world".to_owned(), |world| world.name);
        let enabled = if tick.enabled { "enabled" } else { "disabled" };
        let interval = match tick.interval {
            interval if interval.is_zero() => "every frame".to_owned(),
            interval => format!("every {interval:?}"),
        };
        let group = tick
            .group
            .map_or_else(String::new, |group| format!("{group:?}, "));
        format!("{} ({world}): {group}{interval}, {enabled}", tick.name)
    };
    ticks.map(line).collect()
}

/// What the console can do with flows, as a call on the [`Cx`].
pub trait InspectExt<H: 'static> {
    /// Adds what the console needs to know the host type for: the command `SC.Flow.Cancel`, and the variables
    /// `SC.Flow.SuspendedLoopWarningSeconds` and `SC.Flow.WaitUntilWarningSeconds`. The lists
    /// (`SC.Flow.List` and its like) are there without it. Again: nothing happens.
    ///
    /// ```
    /// use stillcooking::prelude::*;
    /// let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// let mut cx = rt.cx(&mut host);
    /// let level = cx.create_world(WorldKind::Game)?;
    /// cx.install_inspectors()?;
    /// Flow::new("intro").world(level).spawn(&mut cx, async |fx| Ok(fx.delay(secs(60)).await?))?;
    /// # #[cfg(feature = "commands")]
    /// assert_eq!(cx.run_line("SC.Flow.Cancel intro", Source::Local).text(), "1 cancelled");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`RegisterError::ShutDown`].
    fn install_inspectors(&mut self) -> Result<(), RegisterError>;
}

impl<H> InspectExt<H> for Cx<'_, H> {
    fn install_inspectors(&mut self) -> Result<(), RegisterError> {
        if self.var_info(SUSPENDED).is_ok() {
            return Ok(());
        }
        let about = "How long a loop may be parked before one warning.";
        threshold(self, SUSPENDED, about, |cx, seconds| {
            cx.set_suspended_loop_warning(secs(seconds))
        })?;
        let about = "How long a wait without deadline may wait before one warning.";
        threshold(self, ENDLESS, about, |cx, seconds| {
            cx.set_wait_until_warning(secs(seconds))
        })?;
        let cancel = sc_console::dynamic_command! {
            /// Cancels every flow of a name.
            SC.Flow.Cancel (
                /// The name, as `SC.Flow.List` shows it.
                #[suggest = flow_names::<H>]
                name: String,
            ) |cx: &mut Cx<'_, H>, out| {
                match cx.cancel_flows_named(&name) {
                    0 => Err(format!("there is no flow called `{name}`"))?,
                    ended => writeln!(out, "{ended} cancelled")?,
                }
                Ok(())
            }
        };
        self.register(cancel.runtime().ours())?;
        Ok(())
    }
}

const SUSPENDED: &str = "SC.Flow.SuspendedLoopWarningSeconds";
const ENDLESS: &str = "SC.Flow.WaitUntilWarningSeconds";

fn flow_names<H>(cx: &mut Cx<'_, H>, _typed: &str) -> Vec<String> {
    cx.flow_list().into_iter().map(|flow| flow.name).collect()
}

/// A threshold of the flows as a variable (s of real time).
fn threshold<H, E: fmt::Display + 'static>(
    cx: &mut Cx<'_, H>,
    name: &'static str,
    about: &str,
    apply: fn(&mut Cx<'_, H>, f64) -> Result<(), E>,
) -> Result<(), RegisterError> {
    let variable = VariableDef::new(name, 30.0)
        .about(&format!("{about} In seconds of real time."))
        .range(0.0..=1e9)
        .special(0.0, "never")
        .runtime()
        .ours();
    let key = cx.register_variable(variable)?;
    let tell = move |cx: &mut Cx<'_, H>, seconds: f64| {
        if let Err(error) = apply(cx, seconds) {
            tracing::error!(target: "stillcooking", "{name}: {error}");
        }
    };
    // A value may have waited for it.
    if let Ok(seconds) = cx.get_var(key) {
        tell(cx, seconds);
    }
    // Bound to no world, wherever this is called from.
    let bound = cx.callback(None, std::time::Duration::ZERO, |cx| {
        cx.on_var_change(key, move |cx, &seconds| tell(cx, seconds))
    });
    cx.attend();
    if let Ok(Ok(guard)) = bound {
        guard.detach();
    }
    Ok(())
}
