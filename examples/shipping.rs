//! A game with a console, built with and without it: without the feature `commands` the names, the help and
//! the bodies of its commands are not in the program, and its code is the same.
//!
//! $ cargo run --example shipping
//! $ cargo run --example shipping --no-default-features

#![allow(clippy::print_stdout)]

use stillcooking::prelude::*;

struct Game {
    gold: u32,
}

command! {
    /// Fills the purse (HELP-OF-THE-STATIC-COMMAND).
    pub FILL_PURSE = Shipping.NameOfTheStaticCommand [anytime] (
        /// How much (HELP-OF-THE-PARAMETER).
        amount: u32 = 10,
    ) |cx: &mut Cx<'_, Game>, out| {
        cx.host_mut().gold += amount;
        writeln!(out, "BODY-OF-THE-STATIC-COMMAND: {amount}")?;
        Ok(())
    }
}

command! {
    /// Prays for gold; the project's own registry runs it.
    Shipping.NameOfTheForwardedCommand [anytime] () => registry
}

#[derive(Default)]
struct Scripted;

impl CommandRegistry<Game> for Scripted {
    fn on_static_command(
        &mut self,
        cx: &mut Cx<'_, Game>,
        call: ForwardedCall<'_>,
        out: &mut Output,
    ) -> Result<(), CommandError> {
        match call.id {
            "Shipping.NameOfTheForwardedCommand" => cx.host_mut().gold += 1,
            id => Err(format!("no script for {id}"))?,
        }
        writeln!(out, "BODY-OF-THE-REGISTRY")?;
        Ok(())
    }
}

command_registry!(Game: Scripted);

variable! {
    /// How much gold there is at the start.
    pub START_GOLD = Shipping.StartGold: u32 = 5
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mut rt, mut game) = (Runtime::new(), Game { gold: 0 });
    let mut cx = rt.cx(&mut game);
    cx.host_mut().gold = cx.var(START_GOLD);

    // Whether or not there are commands, this compiles and works.
    let taken = cx.register_command(
        dynamic_command! {
            /// Empties the purse (HELP-OF-THE-DYNAMIC-COMMAND).
            Shipping.NameOfTheDynamicCommand () |cx: &mut Cx<'_, Game>, out| {
                cx.host_mut().gold = 0;
                writeln!(out, "BODY-OF-THE-DYNAMIC-COMMAND")?;
                Ok(())
            }
        }
        .runtime(),
    )?;
    for size in ["small", "big"] {
        cx.register_command(
            dynamic_command! {
                /// Buys a purse (HELP-OF-THE-MADE-COMMAND).
                {format!("Shipping.NameMadeAtRunTime.{size}")} (
                    /// For how much (HELP-OF-THE-MADE-PARAMETER).
                    price: u32 = 1,
                ) |cx: &mut Cx<'_, Game>, out| {
                    cx.host_mut().gold -= price;
                    writeln!(out, "BODY-OF-THE-MADE-COMMAND")?;
                    Ok(())
                }
            }
            .runtime(),
        )?;
    }
    cx.add_commands(&[&FILL_PURSE])?;

    // A line that sets a variable works in every build.
    cx.run_line("Shipping.StartGold 7", Source::Local);
    println!("commands: {}", !taken.is_stripped());
    let at_start = cx.var(START_GOLD);
    println!("gold: {}, at the start: {at_start}", cx.host().gold);
    Ok(())
}
