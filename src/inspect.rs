//! What the console says about the other parts, and does with them: a command a list, and what must see
//! two crates.

use sc_console::{CommandError, ConsoleExt, Output, StaticCommand, StaticVariable};
use sc_core::{AnyCx, Cx, secs};
use sc_flow::AnyFlowExt;

/// What is declared here: a part that declares something adds it.
fn declared() -> ([&'static StaticCommand; 4], [&'static StaticVariable; 2]) {
    (
        [&WORLDS, &TICKS, &FLOWS, &CANCEL],
        [SUSPENDED_LOOP.declaration(), ENDLESS_WAIT.declaration()],
    )
}

/// Makes sure that the console of a runtime has what this crate declares (`SC.Flow.List` and its like), also on a target
/// where nothing is collected. The console is not started by that; what is there already stays. In Bevy the plugins
/// do it.
///
/// ```
/// use stillcooking::prelude::*;
/// let (mut rt, mut game) = (Runtime::<()>::new(), ());
/// let mut cx = rt.cx(&mut game);
/// stillcooking::declare_console(&mut cx);
/// # #[cfg(feature = "commands")]
/// assert_eq!(cx.run_line("SC.World.List", Source::Local).text(), "0 in all");
/// ```
pub fn declare_console<H: 'static>(cx: &mut Cx<'_, H>) {
    let (commands, variables) = declared();
    cx.declare(&commands, &variables);
}

/// Commands that print a list: a line each. A part that lists what lives adds its own here.
macro_rules! lists {
    ($($(#[doc = $doc:literal])* $KEY:ident = SC.$group:ident.$name:ident = $lines:expr;)*) => { $(
        sc_console::command! {
            $(#[doc = $doc])*
            $KEY = SC.$group.$name [anytime] () |cx: &mut dyn AnyCx, out| { print(out, $lines(cx)) }
        }
    )* };
}

lists! {
    /// Lists the worlds, oldest first.
    WORLDS = SC.World.List = worlds;
    /// Lists what ticks, by the order of its making.
    TICKS = SC.Tick.List = ticks;
    /// Lists the flows that live, first started first.
    FLOWS = SC.Flow.List = |cx: &dyn AnyCx| cx.inspect("sc.flow").unwrap_or_default();
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
    CANCEL = SC.Flow.Cancel [anytime] (
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
    cx.suspended_loop_warning().as_f64()
}

fn endless_wait(cx: &mut dyn AnyCx) -> f64 {
    cx.wait_until_warning().as_f64()
}

#[cfg(all(test, feature = "commands"))]
mod tests {
    use sc_console::__private::{CommandEntry, VariableEntry, inventory};

    /// What is declared in this crate and not listed would be missing where nothing is collected.
    #[test]
    fn all_that_this_crate_declares_is_listed() {
        let commands = inventory::iter::<CommandEntry>.into_iter();
        let variables = inventory::iter::<VariableEntry>.into_iter();
        let collected = commands.map(|entry| format!("{:?}", entry.0));
        let collected = collected.chain(variables.map(|entry| format!("{:?}", entry.0)));
        let mut ours: Vec<String> = collected.filter(|text| text.contains(" at src/")).collect();
        let (commands, variables) = super::declared();
        let commands = commands.map(|command| format!("{command:?}"));
        let variables = variables.map(|variable| format!("{variable:?}"));
        let mut listed: Vec<String> = commands.into_iter().chain(variables).collect();
        ours.sort();
        listed.sort();
        assert_eq!(ours, listed);
        assert_eq!(listed.len(), 6);
    }
}
