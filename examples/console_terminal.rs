//! A kitchen that runs while you type: pots that heat up and boil over, orders that come in, alarms.
//! Everything in it is reached through a console in your terminal. `help` lists what there is.
//!
//! On a terminal: completion with Tab, hints, history, the kitchen's log above the line you type. It
//! ends with `quit`, Ctrl-C on an empty line or Ctrl-D.
//!
//!   cargo run --features terminal --example console_terminal
//!
//! From a pipe it plays a script, with a clock of its own: as many frames as the lines ask for, the same
//! ones each time. So what it prints can be compared:
//!
//! $ cargo run --features terminal --example console_terminal < examples/data/kitchen.in | sed -E 's/rs:[0-9:]+/rs/' | diff - examples/data/kitchen.out
//!
//! (Where something is declared changes with every line of this file, so `sed` takes it out.) A program
//! whose script must not fail looks at `TerminalHandle::failed_lines`; in this one some lines fail on
//! purpose.
//!
//! It reads `kitchen.toml` (variables) and `opening.cfg` (a script) in `examples/data/`; `exec rush` runs
//! another script.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::error::Error;
use std::process::ExitCode;

use stillcooking::prelude::*;

type C<'a> = Cx<'a, Kitchen>;

/// Where the example's files are.
const FILES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data");

/// Frames of a second.
const FPS: u32 = 60;

/// The host.
#[derive(Default)]
struct Kitchen {
    level: Option<WorldId>,
    pots: Vec<Owner<Pot>>,
    /// Orders that wait: their numbers, and what of.
    orders: Vec<(u32, Dish)>,
    ordered: u32,
    served: u32,
    closed: bool,
}

/// What can be ordered, in the order in which it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Dish {
    Soup,
    Stew,
    Tea,
}

console_enum!(Dish: Soup, Stew, Tea);

impl Dish {
    const ALL: [Dish; 3] = [Dish::Soup, Dish::Stew, Dish::Tea];
}

variable! {
    /// How strong the gas is: degrees a second for each step of a pot's heat.
    GAS = Kitchen.Gas: f64 = 1.0, range 0.0..=10.0, archive
}

variable! {
    /// Seconds between two orders.
    ORDER_EVERY = Kitchen.OrderEvery: f64 = 20.0, range 1.0..=600.0, special 0.0 => "nobody orders", archive
}

/// A pot on the stove. Its commands are its own, and go with it.
struct Pot {
    name: String,
    heat: u32,
    degrees: f64,
    boils: bool,
    /// It stands there, with all its commands.
    is_on: bool,
}

impl Tickable<Kitchen> for Pot {
    fn name(&self) -> std::borrow::Cow<'static, str> {
        self.name.clone().into()
    }

    fn tick(&mut self, cx: &mut C<'_>) {
        let gas = cx.var(GAS);
        let warmer = f64::from(self.heat) * gas - (self.degrees - 20.0) / 50.0;
        self.degrees = (self.degrees + warmer * cx.delta_secs()).min(100.0);
        let boils = self.degrees >= 99.5;
        if boils && !self.boils {
            let name = &self.name;
            tracing::warn!(target: "kitchen", heat = self.heat, "{name} boils");
            print_string!(cx, "{name} boils!"; key = name.clone(), color = Color::ORANGE, duration = 5);
        }
        self.boils = boils;
    }

    fn shutdown(&mut self, _: &mut C<'_>) {
        if self.is_on {
            tracing::info!(target: "kitchen", "{} is off the stove", self.name);
        }
    }
}

/// Puts a pot on the stove, and gives it its commands.
fn put_on(cx: &mut C<'_>, name: &str) -> Result<(), Box<dyn Error>> {
    let level = cx.host().level.ok_or("there is no kitchen")?;
    if find_pot(cx, name).is_some() {
        Err(format!(
            "{name} is on the stove already: `Kitchen.TakeOff {name}` takes it off"
        ))?;
    }
    let pot = Pot {
        name: name.to_owned(),
        heat: 0,
        degrees: 20.0,
        boils: false,
        is_on: false,
    };
    let pot = cx.spawn_in(level, pot)?;
    let key = pot.key();
    let registered = cx.register_command(
        dynamic_command! {
            /// Sets how much this pot is heated.
            {format!("{name}.Heat")} (
                /// The step.
                #[range = 0..=9]
                #[special(0 => "off")]
                heat: u32,
            ) |cx: &mut C<'_>, out| {
                let pot = cx.get_mut(key)?;
                pot.heat = heat;
                writeln!(out, "{} is heated by {heat}", pot.name)?;
                Ok(())
            }
        }
        .owner(&pot),
    );
    let registered = registered.and_then(|_| {
        cx.register_command(
            dynamic_command! {
                /// Says how hot this pot is.
                {format!("{name}.Look")} () |cx: &mut C<'_>, out| {
                    let pot = cx.get(key)?;
                    writeln!(out, "{}: {:.0} degrees, heated by {}", pot.name, pot.degrees, pot.heat)?;
                    Ok(())
                }
            }
            .owner(&pot),
        )
    });
    if let Err(refused) = registered {
        pot.shutdown(cx)?;
        return Err(refused.into());
    }
    cx.get_mut(key)?.is_on = true;
    cx.host_mut().pots.push(pot);
    Ok(())
}

/// Where in the list a pot is. As in the console, case does not matter.
fn find_pot(cx: &C<'_>, name: &str) -> Option<usize> {
    let name = name.to_lowercase();
    let mut pots = cx.host().pots.iter();
    pots.position(|pot| cx.get(pot).is_ok_and(|pot| pot.name.to_lowercase() == name))
}

command! {
    /// A short tour: what to try first.
    Kitchen.Guide () |_cx: &mut Cx<'_, Kitchen>, out| {
        for line in GUIDE.lines() {
            writeln!(out, "{line}")?;
        }
        Ok(())
    }
}

const GUIDE: &str = "\
Soup.Heat 9                    heat the soup; Soup.Look says how hot it is
Kitchen.PutOn Stew             a new pot, with commands of its own: Stew.Heat, Stew.Look
Kitchen.Gas 10                 change a variable; its name alone shows it, `reset Kitchen.Gas` undoes it
Kitchen.Alarm 3 tea; help quit the rest of a line waits for what takes its time
Kitchen.Serve                  then Tab: the orders that wait, asked of the running kitchen
alias hot 'Soup.Heat 9'        a name for a line; `exec rush` runs a file of lines, `exec` alone lists them
Kitchen.OpenSafe 4711          a secret: the code is neither in `history` nor anywhere else
SC.Log.Filter kitchen=trace    what the log shows
SC.Flow.List                   what runs: the orders, the alarms; SC.Line.List: the lines that wait
SC.Console.Cheats true         then `help` has one command more";

command! {
    /// Puts a pot on the stove. It brings commands of its own: NAME.Heat and NAME.Look.
    Kitchen.PutOn (
        /// What to call it: letters, digits, `_` and `-`.
        name: String,
    ) |cx: &mut Cx<'_, Kitchen>, out| {
        put_on(cx, &name)?;
        writeln!(out, "{name} is on the stove: try {name}.Heat 5")?;
        Ok(())
    }
}

/// The names of the pots, for completion.
fn pots(cx: &mut C<'_>, _typed: &str) -> Vec<String> {
    let list = cx.runtime().tick_list();
    let pots = &cx.host().pots;
    let on = list
        .into_iter()
        .filter(|t| pots.iter().any(|pot| pot.id() == t.id));
    on.map(|tick| tick.name).collect()
}

command! {
    /// Takes a pot off the stove. Its commands go with it.
    Kitchen.TakeOff (
        /// Which one.
        #[suggest = pots]
        name: String,
    ) |cx: &mut Cx<'_, Kitchen>, _out| {
        let at = find_pot(cx, &name);
        let none = || CommandError::at("name", format!("there is no pot {name} on the stove"));
        let at = at.ok_or_else(none)?;
        let pot = cx.host_mut().pots.remove(at);
        pot.shutdown(cx)?;
        Ok(())
    }
}

command! {
    /// Lists the orders that wait.
    Kitchen.Orders () |cx: &mut Cx<'_, Kitchen>, out| {
        for (number, dish) in &cx.host().orders {
            writeln!(out, "{number}: {dish:?}")?;
        }
        let (waiting, served) = (cx.host().orders.len(), cx.host().served);
        writeln!(out, "{waiting} waiting, {served} served")?;
        Ok(())
    }
}

command! {
    /// Orders something.
    Kitchen.Order (
        /// What.
        dish: Dish,
        /// How many.
        #[range = 1..=9]
        count: u32 = 1,
    ) |cx: &mut Cx<'_, Kitchen>, _out| {
        for _ in 0..count {
            order(cx, dish);
        }
        Ok(())
    }
}

fn order(cx: &mut C<'_>, dish: Dish) {
    let kitchen = cx.host_mut();
    kitchen.ordered += 1;
    kitchen.orders.push((kitchen.ordered, dish));
    tracing::info!(target: "kitchen", number = kitchen.ordered, "an order: {dish:?}");
}

/// The numbers of the orders that wait, for completion.
fn waiting(cx: &mut C<'_>, _typed: &str) -> Vec<String> {
    let orders = cx.host().orders.iter();
    orders.map(|(number, _)| number.to_string()).collect()
}

command! {
    /// Serves an order.
    Kitchen.Serve (
        /// Its number.
        #[suggest = waiting]
        number: u32,
    ) |cx: &mut Cx<'_, Kitchen>, out| {
        let mut orders = cx.host().orders.iter();
        let at = orders.position(|(other, _)| *other == number);
        let none = || CommandError::at("number", format!("no order has number {number}: see Kitchen.Orders"));
        let at = at.ok_or_else(none)?;
        let (_, dish) = cx.host_mut().orders.remove(at);
        cx.host_mut().served += 1;
        writeln!(out, "{dish:?} for order {number}")?;
        Ok(())
    }
}

command! {
    /// Goes off after some seconds. The rest of the line waits for it: `Kitchen.Alarm 3 tea; Kitchen.Orders`.
    Kitchen.Alarm (
        /// After how many seconds of the kitchen's time.
        #[range = 0.0..=3600.0]
        seconds: f64,
        /// What it says.
        text: String = "time is up".to_owned(),
    ) |cx: &mut Cx<'_, Kitchen>, _out| {
        Ok(cx.latent("alarm", async move |fx| {
            fx.delay(secs(seconds)).await?;
            fx.with(|cx| print_string!(cx, "ALARM: {text}"; color = Color::RED))
        })?)
    }
}

command! {
    /// Opens the safe.
    Kitchen.OpenSafe (
        /// The code. It is shown nowhere: look at `history`.
        #[secret]
        code: u32,
    ) |_cx: &mut Cx<'_, Kitchen>, out| {
        if code != 4711 { Err("that is not the code".to_owned())?; }
        writeln!(out, "there is saffron in it")?;
        Ok(())
    }
}

command! {
    /// Has all pots boil at once. Cheats must be on: SC.Console.Cheats true.
    Kitchen.BoilAll [cheat] () |cx: &mut Cx<'_, Kitchen>, _out| {
        let keys: Vec<_> = cx.host().pots.iter().map(Owner::key).collect();
        for key in keys {
            cx.get_mut(key)?.degrees = 100.0;
        }
        Ok(())
    }
}

/// Opens the kitchen.
fn open(cx: &mut C<'_>) -> Result<(), Box<dyn Error>> {
    let level = cx.create_world(WorldOptions::new(WorldKind::Game).name("kitchen"))?;
    cx.host_mut().level = Some(level);
    let settings = cx.console_settings();
    settings.script_root = Some(FILES.into());
    settings.cheat_granters = vec![Source::Terminal];
    cx.register_command(
        dynamic_command! {
            /// Closes the kitchen and ends the program.
            quit () |cx: &mut C<'_>, _out| {
                cx.host_mut().closed = true;
                Ok(())
            }
        }
        .runtime(),
    )?;
    let read = cx.load_config(format!("{FILES}/kitchen.toml"))?;
    for (name, why) in &read.refused {
        eprintln!("kitchen.toml: {name}: {why}");
    }
    for name in &read.waiting {
        eprintln!("kitchen.toml: there is no variable {name} yet");
    }
    cx.run_startup_script("opening")?;

    // Orders come in, as often as the variable says at the time.
    let orders = Flow::new("orders").world(level);
    orders.spawn(cx, async |fx| {
        let mut next = Dish::ALL.into_iter().cycle();
        loop {
            let every = fx.with(|cx| cx.var(ORDER_EVERY))?;
            fx.delay(secs(every.max(1.0))).await?;
            if every > 0.0
                && let Some(dish) = next.next()
            {
                fx.with(|cx| order(cx, dish))?;
            }
        }
    })?;
    Ok(())
}

fn run() -> Result<(), Box<dyn Error>> {
    let log = LogRing::new();
    log.install()?;

    let mut kitchen = Kitchen::default();
    let mut rt = Runtime::new();
    rt.cx(&mut kitchen).attach_log(&log);
    open(&mut rt.cx(&mut kitchen))?;

    let terminal = Terminal::new()
        .prompt("kitchen> ")
        .start(&mut rt.cx(&mut kitchen))?;
    if terminal.is_editor() {
        println!(
            "The kitchen is open. `help` lists what you can do, Tab completes, `quit`, Ctrl-C or Ctrl-D ends."
        );
        let goes_on = |_: &mut _, kitchen: &mut Kitchen| terminal.is_open() && !kitchen.closed;
        Driver::at_fps(FPS).run_while(goes_on, &mut rt, &mut kitchen)?;
    } else {
        while terminal.is_open() && !kitchen.closed {
            terminal.wait_for_line();
            rt.tick_secs(&mut kitchen, 1.0 / f64::from(FPS))?;
        }
    }
    // With everything in it: what it says at its end is shown, too.
    rt.shutdown(&mut kitchen);
    let (is_editor, failed) = (terminal.is_editor(), terminal.failed_lines());
    // Returns when all of it is written.
    drop(terminal);
    if !is_editor {
        eprintln!("{failed} lines failed");
    }
    Ok(())
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
