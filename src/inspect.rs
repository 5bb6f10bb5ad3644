//! What the console says about the other parts, and does with them: a command a list, and what must see
//! two crates.

use sc_console::{CommandError, Output};
use sc_core::{AnyCx, secs};
use sc_flow::AnyFlowExt;

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

sc_console::command! {
    /// Cancels every flow of a name.
    SC.Flow.Cancel [anytime] (
        /// The name, as `SC.Flow.List` shows it.
        #[suggest = flow_names]
        name: String,
    ) |cx: &mut dyn AnyCx, out| {
        match cx.cancel_flows_named(&name) {
            0 => {
                let text = format!("there is no flow called `{name}`");
                Err(CommandError::at("name", text))?;
            }
            ended => writeln!(out, "{ended} cancelled")?,
        }
        Ok(())
    }
}

fn flow_names(cx: &mut dyn AnyCx, _typed: &str) -> Vec<String> {
    cx.flow_names()
}

sc_console::variable! {
    /// How long a loop may be parked before one warning, in seconds of real time.
    SUSPENDED_LOOP = SC.Flow.SuspendedLoopWarningSeconds: f64 = 30.0,
        range 0.0..=1e9, special 0.0 => "never", changed set_suspended_loop, current suspended_loop
}

sc_console::variable! {
    /// How long a wait without deadline may wait before one warning, in seconds of real time.
    ENDLESS_WAIT = SC.Flow.WaitUntilWarningSeconds: f64 = 30.0,
        range 0.0..=1e9, special 0.0 => "never", changed set_endless_wait, current endless_wait
}

fn set_suspended_loop(cx: &mut dyn AnyCx, seconds: &f64) {
    // The range leaves nothing to refuse.
    let _ = cx.set_suspended_loop_warning(secs(*seconds));
}

fn set_endless_wait(cx: &mut dyn AnyCx, seconds: &f64) {
    let _ = cx.set_wait_until_warning(secs(*seconds));
}

fn suspended_loop(cx: &mut dyn AnyCx) -> f64 {
    cx.suspended_loop_warning().as_secs_f64()
}

fn endless_wait(cx: &mut dyn AnyCx) -> f64 {
    cx.wait_until_warning().as_secs_f64()
}
