//! The flow nodes, each recipe written twice: as a builder with callbacks, and as async code. Both
//! run in one world, and a timeline shows, side by side, that they do the same at the same time.
//! Nobody waits for it: the frames come one after another, each of 0.05 s.
//!
//! $ cargo run --example flow_nodes
//!
//! Nothing of a flow runs in the call that starts it: it begins in the next frame, at 0.05 s here.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::collections::VecDeque;
use std::io::IsTerminal;
use std::process::ExitCode;
use std::thread::JoinHandle;
use std::time::Duration;

use stillcooking::prelude::*;

/// Seconds of a frame.
const FRAME: f64 = 0.05;

type C<'a> = Cx<'a, Game>;

/// The host: what the recipes look at and change.
#[derive(Default)]
struct Game {
    level: Option<WorldId>,
    lines: Vec<Line>,
    slime_is_dead: bool,
    dragon_is_dead: bool,
    /// The builder's loop that loads, for the threads that let it go on.
    loader: Option<FlowId>,
    /// The builder's threads, joined between the frames.
    threads: Vec<JoinHandle<()>>,
    /// How many items are being loaded, of both forms.
    loading: u32,
    /// What hurries the doors, and which are open.
    controls: Vec<DriveControl>,
    doors: Vec<Form>,
}

/// Which way a recipe is written.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    Builder,
    Async,
}

use Form::{Async, Builder};

/// One line of a timeline.
#[derive(Clone, PartialEq)]
struct Line {
    form: Form,
    game_time: Duration,
    real_time: Duration,
    text: String,
}

/// Notes a line.
fn say(cx: &mut C<'_>, form: Form, text: impl Into<String>) {
    let level = cx.host().level;
    let game_time = level.and_then(|level| cx.elapsed(level, Clock::Game).ok());
    let line = Line {
        form,
        game_time: game_time.unwrap_or_default(),
        real_time: cx.runtime_elapsed(),
        text: text.into(),
    };
    cx.host_mut().lines.push(line);
}

// ---- Ten spawns, a quarter of a second apart ----

fn spawns(cx: &mut C<'_>, level: WorldId) -> Result<(), FlowError> {
    ForEach::index(10)
        .delay(secs(0.25))
        .each(|cx: &mut C<'_>, i| say(cx, Builder, format!("goblin {i}")))
        .completed(|cx, finish| say(cx, Builder, format!("{finish:?}")))
        .world(level)
        .start(cx)?;

    Flow::new("spawns").world(level).spawn(cx, async |fx| {
        let done = fx
            .for_each_with_delay(10, secs(0.25), async |i| {
                fx.with(|cx| say(cx, Async, format!("goblin {i}")))
            })
            .await?;
        fx.with(|cx| say(cx, Async, format!("{done:?}")))
    })?;
    Ok(())
}

// ---- A thousand items, fifty a frame ----

fn items(cx: &mut C<'_>, level: WorldId) -> Result<(), FlowError> {
    /// Every two hundredth item gets a line.
    fn handle(cx: &mut C<'_>, form: Form, item: u32) {
        if item.is_multiple_of(200) {
            say(cx, form, format!("{item} items handled"));
        }
    }

    ForEach::items(1..=1000)
        .items_per_tick(50)
        .each(|cx: &mut C<'_>, item| handle(cx, Builder, item))
        .completed(|cx, finish| say(cx, Builder, format!("{finish:?}")))
        .world(level)
        .start(cx)?;

    Flow::new("items").world(level).spawn(cx, async |fx| {
        let done = fx
            .for_each_per_tick(1..=1000, 50, async |item| {
                fx.with(|cx| handle(cx, Async, item))
            })
            .await?;
        fx.with(|cx| say(cx, Async, format!("{done:?}")))
    })?;
    Ok(())
}

// ---- A fade on an ease-out curve ----

fn fade(cx: &mut C<'_>, level: WorldId) -> Result<(), FlowError> {
    DoForDuration::new(secs(0.5), |cx: &mut C<'_>, alpha, _delta| {
        say(cx, Builder, bar("opacity", alpha));
    })
    .ease(Ease::OutCubic)
    .completed(|cx, _finish| say(cx, Builder, "all there"))
    .world(level)
    .start(cx)?;

    Flow::new("fade").world(level).spawn(cx, async |fx| {
        fx.do_for_duration(secs(0.5), |cx, alpha, _delta| {
            say(cx, Async, bar("opacity", alpha));
        })
        .ease(Ease::OutCubic)
        .await?;
        fx.with(|cx| say(cx, Async, "all there"))
    })?;
    Ok(())
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn bar(what: &str, alpha: f32) -> String {
    let full = (alpha * 10.0).round() as usize;
    format!("{what} {alpha:.2} {}", "#".repeat(full))
}

// ---- A pause menu slides in while the world is paused ----

/// Counts on the game's clock: a pause stops it.
fn walk(cx: &mut C<'_>, level: WorldId) -> Result<(), FlowError> {
    DoForDuration::new(secs(0.2), |cx: &mut C<'_>, alpha, _delta| {
        say(cx, Builder, bar("walk", alpha));
    })
    .world(level)
    .start(cx)?;

    Flow::new("walk").world(level).spawn(cx, async |fx| {
        fx.do_for_duration(secs(0.2), |cx, alpha, _delta| {
            say(cx, Async, bar("walk", alpha));
        })
        .await
    })?;
    Ok(())
}

/// Counts on the real clock: it runs through a pause.
fn menu(cx: &mut C<'_>, level: WorldId) -> Result<(), FlowError> {
    DoForDuration::new(secs(0.2), |cx: &mut C<'_>, alpha, _delta| {
        say(cx, Builder, bar("menu", alpha));
    })
    .clock(Clock::Real)
    .world(level)
    .start(cx)?;

    Flow::new("menu")
        .clock(Clock::Real)
        .world(level)
        .spawn(cx, async |fx| {
            fx.do_for_duration(secs(0.2), |cx, alpha, _delta| {
                say(cx, Async, bar("menu", alpha));
            })
            .await
        })?;
    Ok(())
}

// ---- Wait for the boss, but not forever ----

fn boss(cx: &mut C<'_>, level: WorldId) -> Result<(), FlowError> {
    type IsDead = fn(&mut C<'_>) -> bool;
    let bosses: [(&str, IsDead); 2] = [
        ("slime", |cx| cx.host().slime_is_dead),
        ("dragon", |cx| cx.host().dragon_is_dead),
    ];
    for (name, is_dead) in bosses {
        WaitUntil::new(move |cx: &mut C<'_>, attempt| {
            say(cx, Builder, format!("look {attempt} at the {name}"));
            is_dead(cx)
        })
        .every(secs(0.25))
        .timeout(secs(1))
        .satisfied(move |cx| say(cx, Builder, format!("the {name} is dead")))
        .timed_out(move |cx| say(cx, Builder, format!("the {name} lives on")))
        .world(level)
        .start(cx)?;

        Flow::new("boss").world(level).spawn(cx, async move |fx| {
            let wait = fx
                .wait_until(|cx, attempt| {
                    say(cx, Async, format!("look {attempt} at the {name}"));
                    is_dead(cx)
                })
                .every(secs(0.25))
                .timeout(secs(1))
                .await?;
            fx.with(|cx| match wait {
                Wait::Satisfied => say(cx, Async, format!("the {name} is dead")),
                Wait::TimedOut => say(cx, Async, format!("the {name} lives on")),
            })
        })?;
    }
    Ok(())
}

// ---- A body that takes its time: each item is loaded on a thread ----

const FILES: [&str; 3] = ["oven.mesh", "spoon.mesh", "sizzle.ogg"];

/// Stands for work that would hold up a frame.
fn load(file: &str) -> usize {
    file.len()
}

/// The body starts a thread and says `Suspend`; the thread posts the `continue_loop`.
fn loader_builder(cx: &mut C<'_>, level: WorldId) -> Result<(), FlowError> {
    let poster = cx.runtime().poster();
    let loader = ForEach::items(FILES)
        .delay(secs(0.25))
        .each(move |cx: &mut C<'_>, file| {
            say(cx, Builder, format!("load {file}"));
            let poster = poster.clone();
            let thread = std::thread::spawn(move || {
                let size = load(file);
                // It fails when the runtime is gone: then there is nobody to tell.
                let _ = poster.post(move |cx| {
                    say(cx, Builder, format!("{file}: {size} bytes"));
                    cx.host_mut().loading -= 1;
                    if let Some(loader) = cx.host().loader {
                        cx.continue_loop(loader);
                    }
                });
            });
            let game = cx.host_mut();
            game.loading += 1;
            game.threads.push(thread);
            Step::Suspend
        })
        .completed(|cx, finish| say(cx, Builder, format!("{finish:?}")))
        .world(level)
        .start(cx)?;
    cx.host_mut().loader = Some(loader);
    Ok(())
}

/// The body awaits the thread: it cannot forget to go on.
fn loader_async(cx: &mut C<'_>, level: WorldId) -> Result<(), FlowError> {
    Flow::new("loader").world(level).spawn(cx, async |fx| {
        let done = fx
            .for_each(FILES)
            .delay(secs(0.25))
            .each(async |file| {
                fx.with(|cx| {
                    say(cx, Async, format!("load {file}"));
                    cx.host_mut().loading += 1;
                })?;
                let size = fx.run_on_thread(move || load(file)).await?;
                fx.with(|cx| {
                    say(cx, Async, format!("{file}: {size} bytes"));
                    cx.host_mut().loading -= 1;
                })
            })
            .await?;
        fx.with(|cx| say(cx, Async, format!("{done:?}")))
    })?;
    Ok(())
}

// ---- A door that is hurried on its way, and waited for ----

/// Each form has a control of its own: it has one drive at a time.
fn door(cx: &mut C<'_>, level: WorldId) -> Result<(), FlowError> {
    let control = DriveControl::new();
    DoForDuration::new(secs(1), |cx: &mut C<'_>, alpha, _delta| {
        say(cx, Builder, bar("door", alpha));
    })
    .control(&control)
    .completed(|cx, _finish| cx.host_mut().doors.push(Builder))
    .world(level)
    .start(cx)?;
    cx.host_mut().controls.push(control);

    let control = DriveControl::new();
    let theirs = control.clone();
    Flow::new("door").world(level).spawn(cx, async move |fx| {
        fx.do_for_duration(secs(1), |cx, alpha, _delta| {
            say(cx, Async, bar("door", alpha));
        })
        .control(&theirs)
        .await?;
        fx.with(|cx| cx.host_mut().doors.push(Async))
    })?;
    cx.host_mut().controls.push(control);
    Ok(())
}

/// Waits for the first doors to be open, however long that takes, but no longer than five seconds.
fn draught(cx: &mut C<'_>, level: WorldId) -> Result<(), FlowError> {
    WaitUntil::changed(|cx: &mut C<'_>| cx.host().doors.is_empty())
        .timeout(secs(5))
        .satisfied(|cx| say(cx, Builder, "there is a draught"))
        .world(level)
        .start(cx)?;

    Flow::new("draught").world(level).spawn(cx, async |fx| {
        let open = fx.changed(|cx| cx.host().doors.is_empty());
        if open.timeout(secs(5)).await?.is_some() {
            fx.with(|cx| say(cx, Async, "there is a draught"))?;
        }
        Ok(())
    })?;
    Ok(())
}

// ---- The stage ----

/// A runtime, a level, and the frames for one recipe.
struct Stage {
    rt: Runtime<Game>,
    game: Game,
    level: WorldId,
}

impl Stage {
    fn new() -> Result<Self, FlowError> {
        let (mut rt, mut game) = (Runtime::new(), Game::default());
        let level = rt.cx(&mut game).create_world(WorldKind::Game)?;
        game.level = Some(level);
        Ok(Stage { rt, game, level })
    }

    /// Does something between two frames: starts a recipe, for one.
    fn act(
        &mut self,
        what: impl FnOnce(&mut C<'_>, WorldId) -> Result<(), FlowError>,
    ) -> Result<(), FlowError> {
        what(&mut self.rt.cx(&mut self.game), self.level)
    }

    fn frames(&mut self, count: u32) -> Result<(), FlowError> {
        for _ in 0..count {
            self.rt.tick_secs(&mut self.game, FRAME)?;
            // While something is being loaded the frames have no length: however long the threads
            // take, the timeline is the same.
            while self.game.loading > 0 {
                for thread in self.game.threads.drain(..) {
                    thread
                        .join()
                        .map_err(|_| FlowError::other("a thread panicked"))?;
                }
                std::thread::yield_now();
                self.rt.tick(&mut self.game, Duration::ZERO)?;
            }
        }
        Ok(())
    }

    /// Prints the timeline. Fails when the two forms are not the same, or something still runs.
    fn show(mut self, title: &str) -> Result<(), FlowError> {
        println!("\n{title}\n");
        println!("  {:>6}  {:>6}   {:<30} async", "game", "real", "builder");
        let (mut builder, mut awaited): (VecDeque<_>, VecDeque<_>) =
            std::mem::take(&mut self.game.lines)
                .into_iter()
                .partition(|line| line.form == Builder);
        let mut is_same = true;
        while let Some(time) = [builder.front(), awaited.front()]
            .into_iter()
            .flatten()
            .map(|line| (line.game_time, line.real_time))
            .min_by_key(|&(_, real)| real)
        {
            // What both did in the frame stands in one row.
            let next = |lines: &mut VecDeque<Line>| {
                let line = lines.pop_front_if(|line| (line.game_time, line.real_time) == time);
                line.map_or(String::from("-"), |line| line.text)
            };
            let (left, right) = (next(&mut builder), next(&mut awaited));
            let (game, real) = (time.0.as_secs_f64(), time.1.as_secs_f64());
            is_same &= left == right;
            println!("  {game:4.2} s  {real:4.2} s   {left:<30} {right}");
        }
        let left = self.rt.cx(&mut self.game).flow_list().len();
        self.rt.shutdown(&mut self.game);
        match (is_same, left) {
            (true, 0) => Ok(()),
            (false, _) => Err(FlowError::other("the two forms are NOT THE SAME")),
            (true, left) => Err(FlowError::other(format!("{left} flows still run"))),
        }
    }
}

fn play() -> Result<(), FlowError> {
    println!(
        "A frame is {FRAME} s. game: the level's clock; real: the runtime's; a row: what both forms did."
    );
    let mut stage = Stage::new()?;
    stage.act(spawns)?;
    stage.frames(50)?;
    stage.show("Ten spawns, a quarter of a second apart (ForEach, for_each_with_delay)")?;

    let mut stage = Stage::new()?;
    stage.act(items)?;
    stage.frames(20)?;
    stage.show("A thousand items, fifty a frame (ForEach, for_each_per_tick)")?;

    let mut stage = Stage::new()?;
    stage.act(fade)?;
    stage.frames(10)?;
    stage.show("A fade on an ease-out curve (DoForDuration, do_for_duration)")?;

    let mut stage = Stage::new()?;
    stage.act(walk)?;
    stage.frames(2)?;
    stage.act(|cx, level| Ok(cx.set_paused(level, true)?))?;
    stage.act(menu)?;
    stage.frames(5)?;
    stage.act(|cx, level| Ok(cx.set_paused(level, false)?))?;
    stage.frames(2)?;
    stage.show("Paused from 0.10 s: the walk stops, the menu counts on Clock::Real")?;

    let mut stage = Stage::new()?;
    stage.act(boss)?;
    stage.frames(12)?;
    stage.game.slime_is_dead = true; // Nobody slays the dragon.
    stage.frames(8)?;
    stage.show(
        "Wait for the boss, a second at most; the slime dies at 0.60 s (WaitUntil, wait_until)",
    )?;

    let mut stage = Stage::new()?;
    stage.act(loader_builder)?;
    stage.act(loader_async)?;
    stage.frames(15)?;
    stage.show("Each item is loaded on a thread (Suspend + continue_loop, run_on_thread)")?;

    let mut stage = Stage::new()?;
    stage.act(door)?;
    stage.act(draught)?;
    stage.frames(4)?;
    for control in &stage.game.controls {
        control.set_speed(4.0)?; // Somebody pushes.
    }
    stage.frames(2)?;
    for control in &stage.game.controls {
        control.seek(secs(0.9))?; // And it flies open.
        control.set_speed(1.0)?;
    }
    stage.frames(2)?;
    stage.show("A door is pushed at 0.20 s; a draught when it is open (DriveControl, changed)")?;

    println!("\nBuilder and async did the same at the same time, everywhere.");
    Ok(())
}

fn main() -> ExitCode {
    // Reports go to `tracing`, target `stillcooking`; this shows them. Here there should be none.
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
