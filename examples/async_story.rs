//! An evening in a kitchen, told by async flows: a task with a value, a race, a timeout, nested
//! scopes, a flow that is cancelled, one that is bound to an object and ends with it, one that
//! fails. Each line says when it happens. Simulated at 20 frames a second: the clock does not wait.
//!
//! $ cargo run --example async_story
//!
//! It prints one error on purpose: that of the flow that fails, which nobody awaits.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::cell::Cell;
use std::fmt::Display;
use std::io::IsTerminal;
use std::process::ExitCode;

use stillcooking::prelude::*;

type C<'a> = Cx<'a, Kitchen>;
type Fx = FlowCx<Kitchen>;

/// The host.
#[derive(Default)]
struct Kitchen {
    candle: Option<Owner<Candle>>,
    pots: u32,
}

/// One line of the story.
fn say(cx: &C<'_>, what: impl Display) {
    println!("{:5.2} s  | {what}", cx.runtime_elapsed().as_secs_f64());
}

fn tell(fx: &Fx, what: impl Display) -> Result<(), FlowError> {
    fx.with(|cx| say(cx, what))
}

/// Switches something off, however the flow that holds it ends.
struct SwitchOff<'f>(&'f Fx, &'static str);

impl Drop for SwitchOff<'_> {
    fn drop(&mut self) {
        let Self(fx, what) = self;
        // Fails only when the runtime itself is dropped: then there is no story any more.
        let _ = tell(fx, format!("    (guard: the {what} is switched off)"));
    }
}

/// An object that a flow is bound to.
struct Candle;

impl Tickable<Kitchen> for Candle {
    fn shutdown(&mut self, cx: &mut C<'_>) {
        say(cx, "    the candle is blown out");
    }
}

/// The evening: each scene awaits what it needs.
async fn evening(fx: &Fx) -> Result<(), FlowError> {
    tell(fx, "The cook comes in.")?;
    the_recipe(fx).await?;
    kettle_or_samovar(fx).await?;
    the_guest_is_late(fx).await?;
    the_busker(fx).await?;
    dinner(fx).await?;
    the_candle(fx).await?;
    the_cake(fx).await?;
    tell(fx, "The cook goes home.")
}

/// A task is a flow with a value.
async fn the_recipe(fx: &Fx) -> Result<(), FlowError> {
    tell(fx, "-- a task with a value")?;
    let task = fx.with(|cx| {
        cx.spawn_task("count the eggs", async |fx| {
            tell(&fx, "    the apprentice runs to the cellar")?;
            fx.delay(secs(0.5)).await?;
            Ok::<u32, FlowError>(12)
        })
    })??;
    // Ended how (the outer `?`), and with what (the inner one)?
    let eggs = task.join(fx).await??;
    tell(fx, format!("    .. and is back: there are {eggs} eggs"))
}

/// Of two in a race, the loser is dropped at once: its guards run, its code does not go on.
async fn kettle_or_samovar(fx: &Fx) -> Result<(), FlowError> {
    tell(fx, "-- a race")?;
    let kettle = async {
        let _guard = SwitchOff(fx, "kettle");
        fx.delay(secs(0.5)).await?;
        tell(fx, "    the kettle boils")
    };
    let samovar = async {
        let _guard = SwitchOff(fx, "samovar");
        fx.delay(secs(60)).await?;
        tell(fx, "    the samovar boils: this is never told")
    };
    match race(kettle, samovar).await {
        Either::First(boiled) => boiled.and_then(|()| tell(fx, "    tea from the kettle")),
        Either::Second(boiled) => boiled.and_then(|()| tell(fx, "    tea from the samovar")),
    }
}

/// Waits for anything, but no longer than so.
async fn the_guest_is_late(fx: &Fx) -> Result<(), FlowError> {
    tell(fx, "-- a timeout")?;
    tell(fx, "    the cook waits for the guest, for a second")?;
    let guest = async { fx.delay(secs(1.5)).await };
    match fx.timeout(secs(1), guest).await? {
        Some(came) => came.and_then(|()| tell(fx, "    here is the guest")),
        None => tell(fx, "    nobody: the cook begins without"),
    }
}

/// A flow of its own, cancelled from outside.
async fn the_busker(fx: &Fx) -> Result<(), FlowError> {
    tell(fx, "-- a cancelled flow")?;
    let busker = fx.with(|cx| {
        Flow::new("busker")
            .on_finished(|cx, finish| say(cx, format!("    the busker's flow ends: {finish:?}")))
            .spawn(cx, async |fx| {
                let _guard = SwitchOff(&fx, "amplifier");
                let mut beat = fx.pace(secs(0.3))?;
                loop {
                    beat.next().await?;
                    tell(&fx, "    in the street a busker sings: la la la")?;
                }
            })
    })??;
    fx.delay(secs(1)).await?;
    tell(fx, "    the cook shuts the window")?;
    let was_running = fx.with(|cx| cx.cancel(busker))?;
    tell(fx, format!("    silence (it was running: {was_running})"))
}

/// What a scope starts has ended when the scope has, however deep.
async fn dinner(fx: &Fx) -> Result<(), FlowError> {
    tell(fx, "-- nested scopes")?;
    // Children have no value: what they find out they leave in what the scope may borrow.
    let problem = Cell::new(None);
    let course = async |name: &str, seconds: f64| {
        let cooked = async {
            tell(fx, format!("    {name}: on the fire"))?;
            fx.delay(secs(seconds)).await?;
            fx.with(|cx| cx.host_mut().pots += 1)?;
            tell(fx, format!("    {name}: ready"))
        };
        if let Err(error) = cooked.await {
            problem.set(Some(error));
        }
    };
    fx.scope(async |dinner| {
        dinner.spawn(course("soup", 0.6));
        fx.scope(async |main_course| {
            main_course.spawn(course("roast", 1.0));
            main_course.spawn(course("dumplings", 0.3));
        })
        .await;
        dinner.spawn(course("coffee", 0.2));
        tell(fx, "    the main course is there: the inner scope ends")
    })
    .await?;
    problem.take().map_or(Ok(()), Err)?;
    let pots = fx.with(|cx| cx.host().pots)?;
    tell(fx, format!("    {pots} pots to wash: the outer scope ends"))
}

/// A flow that lives as long as an object.
async fn the_candle(fx: &Fx) -> Result<(), FlowError> {
    tell(fx, "-- a flow bound to an object")?;
    let flicker = fx.with(|cx| {
        let level = cx.world().ok_or(FlowError::Gone)?;
        let candle = cx.spawn_in(level, Candle)?;
        let flicker = Flow::new("flicker")
            .owner(&candle)
            .on_finished(|cx, finish| say(cx, format!("    the flicker's flow ends: {finish:?}")))
            .spawn(cx, async |fx| {
                tell(&fx, "    the candle begins to flicker, for an hour")?;
                fx.delay(secs(3600)).await?;
                tell(&fx, "    the candle is burnt down: this is never told")
            });
        cx.host_mut().candle = Some(candle);
        flicker
    })??;
    fx.delay(secs(0.5)).await?;
    fx.with(|cx| match cx.host_mut().candle.take() {
        Some(candle) => candle.shutdown(cx).map(|_| ()),
        None => Ok(()),
    })??;
    match fx.flow(flicker).await {
        Err(FlowError::Aborted) => {
            tell(fx, "    no candle, no flicker: awaiting it gives `Aborted`")
        }
        other => tell(fx, format!("    unexpected: {other:?}")),
    }
}

/// An error that nobody takes is reported; the rest goes on.
async fn the_cake(fx: &Fx) -> Result<(), FlowError> {
    tell(fx, "-- a flow that fails")?;
    fx.with(|cx| {
        cx.spawn_flow("cake", async |fx| {
            fx.delay(secs(0.25)).await?;
            tell(&fx, "    the cake is taken out ..")?;
            Err(FlowError::other("the cake is burnt"))
        })
    })??;
    fx.delay(secs(0.5)).await
}

fn play() -> Result<(), FlowError> {
    let (mut rt, mut kitchen) = (Runtime::new(), Kitchen::default());
    let mut cx = rt.cx(&mut kitchen);
    let level = cx.create_world(WorldOptions::new(WorldKind::Game).name("kitchen"))?;
    Flow::new("evening")
        .world(level)
        .on_finished(|cx, finish| say(cx, format!("The evening ends: {finish:?}.")))
        .spawn(&mut cx, async |fx| evening(&fx).await)?;

    let run = Driver::at_fps(20).clock(ManualClock::default()).run_while(
        |rt, kitchen| !rt.cx(kitchen).flow_list().is_empty() && rt.frame_number() < 1000,
        &mut rt,
        &mut kitchen,
    )?;
    let left = rt.cx(&mut kitchen).flow_list();
    println!("\n{} frames; flows that still run: {left:?}", run.frames);
    rt.shutdown(&mut kitchen);
    if left.is_empty() {
        Ok(())
    } else {
        Err(FlowError::other("the list of flows should be empty"))
    }
}

fn main() -> ExitCode {
    // Reports go to `tracing`, target `stillcooking`; this shows them.
    tracing_subscriber::fmt()
        .without_time()
        .with_ansi(std::io::stdout().is_terminal())
        .init();
    match play() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
