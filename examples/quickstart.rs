//! A small game without an engine, to watch: six seconds of objects that tick every frame,
//! throttled, in pause only, and in another group after a prerequisite; a pause, slow motion, an
//! owner that forgets to shut its object down, and a world that is torn down from inside a tick
//! while another goes on.
//!
//! $ cargo run --example quickstart
//! $ cargo run --example quickstart -- --trace examples/data/quickstart.csv
//!
//! `--trace FILE` replays a capture of frame times (MangoHud, PresentMon, CapFrameX, or a column of
//! milliseconds) instead of the real clock, as fast as it goes. `--record FILE` writes one.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use stillcooking::prelude::*;
use stillcooking::{Error, RunReport, TickInfo};

/// The host: the game's own state, which every callback gets.
#[derive(Default)]
struct Game {
    level: Option<WorldId>,
    runner: Option<TickKey<Runner>>,
    menu: Option<TickKey<PauseMenu>>,
    /// The owner that will be forgotten.
    lantern: Option<Owner<Lantern>>,
    state: &'static str,
    radar_sweeps: u32,
    menu_frames: u32,
    runner_at: f64,
    camera_at: f64,
    arena_seconds: f64,
    live: bool,
}

impl Game {
    /// One line of the story.
    fn tell(&self, at: Duration, what: &str) {
        if self.live {
            println!("{:5.2} s  | {what}", at.as_secs_f64());
        }
    }
}

/// Ticks every frame.
struct Runner {
    at: f64,
}

impl Tickable<Game> for Runner {
    fn tick(&mut self, cx: &mut Cx<'_, Game>) {
        self.at += 8.0 * cx.delta_secs();
        cx.host_mut().runner_at = self.at;
    }
}

/// Ticks twice a second of game time, whatever the frame rate.
struct Radar;

impl Tickable<Game> for Radar {
    fn settings(&self) -> TickSettings {
        TickSettings::default().interval(secs(0.5))
    }
    fn tick(&mut self, cx: &mut Cx<'_, Game>) {
        cx.host_mut().radar_sweeps += 1;
    }
}

/// Ticks in another group, after the runner: so it never lags a frame behind.
struct Camera;

impl Tickable<Game> for Camera {
    fn settings(&self) -> TickSettings {
        TickSettings::default().group(TickGroup::PostUpdate)
    }
    fn tick(&mut self, cx: &mut Cx<'_, Game>) {
        let runner = cx.host().runner;
        if let Some(Ok(runner)) = runner.map(|key| cx.get(key)) {
            let at = runner.at;
            cx.host_mut().camera_at = at;
        }
    }
}

/// Ticks through a pause, and is enabled only in one.
struct PauseMenu;

impl Tickable<Game> for PauseMenu {
    fn settings(&self) -> TickSettings {
        TickSettings::default()
            .tick_when_paused(true)
            .start_ticking(false)
    }
    fn tick(&mut self, cx: &mut Cx<'_, Game>) {
        cx.host_mut().menu_frames += 1;
    }
}

/// Its owner forgets to shut it down.
struct Lantern;

impl Tickable<Game> for Lantern {}

/// Lives in the arena and tears the whole arena down from inside its own tick.
struct Bomb {
    fuse: f64,
}

impl Tickable<Game> for Bomb {
    fn tick(&mut self, cx: &mut Cx<'_, Game>) {
        self.fuse -= cx.delta_secs();
        cx.host_mut().arena_seconds += cx.delta_secs();
        if self.fuse <= 0.0
            && let Some(arena) = cx.world()
        {
            let now = cx.runtime_elapsed();
            cx.host()
                .tell(now, "the bomb destroys the arena from inside its own tick");
            cx.destroy_world(arena);
        }
    }
    fn shutdown(&mut self, cx: &mut Cx<'_, Game>) {
        let now = cx.runtime_elapsed();
        cx.host()
            .tell(now, "the bomb's tick has returned: now it is shut down");
    }
}

/// What happens when: (seconds of real time, name in the table, what is done).
type Scene = (
    f64,
    &'static str,
    fn(&mut Cx<'_, Game>) -> Result<(), Error>,
);

const SCRIPT: [Scene; 6] = [
    (1.5, "paused", |cx| {
        let (level, menu) = (cx.host().level, cx.host().menu);
        if let (Some(level), Some(menu)) = (level, menu) {
            cx.set_paused(level, true)?;
            cx.set_tick_enabled(menu, true)?;
        }
        Ok(())
    }),
    (2.5, "running", |cx| {
        let (level, menu) = (cx.host().level, cx.host().menu);
        if let (Some(level), Some(menu)) = (level, menu) {
            cx.set_paused(level, false)?;
            cx.set_tick_enabled(menu, false)?;
        }
        Ok(())
    }),
    (3.0, "slow motion x 0.25", |cx| match cx.host().level {
        Some(level) => Ok(cx.set_dilation(level, 0.25)?),
        None => Ok(()),
    }),
    (4.0, "running", |cx| match cx.host().level {
        Some(level) => Ok(cx.set_dilation(level, 1.0)?),
        None => Ok(()),
    }),
    (4.5, "running", |cx| {
        let now = cx.runtime_elapsed();
        cx.host()
            .tell(now, "the lantern's owner is dropped without a shutdown:");
        cx.host_mut().lantern = None;
        Ok(())
    }),
    (f64::INFINITY, "", |_| Ok(())),
];

/// Runs the script. It has no world, so no pause stops it: it goes by real time.
struct Director {
    next: usize,
    next_row: f64,
}

impl Tickable<Game> for Director {
    fn tick(&mut self, cx: &mut Cx<'_, Game>) {
        let now = cx.runtime_elapsed();
        while let Some(&(at, state, act)) = SCRIPT.get(self.next)
            && now.as_secs_f64() >= at
        {
            self.next += 1;
            if cx.host().state != state {
                cx.host().tell(now, &format!("---- {state} ----"));
                cx.host_mut().state = state;
            }
            if let Err(error) = act(cx) {
                cx.host().tell(now, &format!("the script failed: {error}"));
            }
        }
        if now.as_secs_f64() >= self.next_row {
            self.next_row += 0.5;
            let game = cx.host();
            let row = format!(
                "{:<19} runner {:5.2} m   camera lag {:.2} m   radar {:2}   menu {:3}   arena {:.2} s",
                game.state,
                game.runner_at,
                game.runner_at - game.camera_at,
                game.radar_sweeps,
                game.menu_frames,
                game.arena_seconds,
            );
            game.tell(now, &row);
        }
    }
}

/// Everything that must be kept, and shut down at the end.
struct Cast {
    runner: Owner<Runner>,
    radar: Owner<Radar>,
    camera: Owner<Camera>,
    menu: Owner<PauseMenu>,
    bomb: Owner<Bomb>,
    director: Owner<Director>,
}

fn build(cx: &mut Cx<'_, Game>) -> Result<Cast, Error> {
    let level = cx.create_world(WorldOptions::new(WorldKind::Game).name("level"))?;
    let arena = cx.create_world(WorldOptions::new(WorldKind::Game).name("arena"))?;
    let runner = cx.spawn_in(level, Runner { at: 0.0 })?;
    let radar = cx.spawn_in(level, Radar)?;
    let camera = cx.spawn_in(level, Camera)?;
    cx.configure(&camera)?.after(&runner).apply()?;
    let menu = cx.spawn_in(level, PauseMenu)?;
    let lantern = cx.spawn_in(level, Lantern)?;
    let bomb = cx.spawn_in(arena, Bomb { fuse: 5.0 })?;
    let director = cx.spawn_worldless(Director {
        next: 0,
        next_row: 0.0,
    });
    cx.initialize(&director, None)?;
    let game = cx.host_mut();
    game.level = Some(level);
    game.runner = Some(runner.key());
    game.menu = Some(menu.key());
    game.lantern = Some(lantern);
    game.state = "running";
    Ok(Cast {
        runner,
        radar,
        camera,
        menu,
        bomb,
        director,
    })
}

const LEGEND: &str = "\
runner: metres run; camera lag: metres behind the runner (it ticks after it); radar: ticks, twice a
second of game time; menu: ticks, in the pause only; arena: seconds of a second world, till it ends
";

fn play(arguments: &Arguments) -> Result<(), Error> {
    // Before anything is built: a bad file ends this with one error.
    let trace = arguments.trace.as_ref().map(FrameTrace::read).transpose()?;
    let mut game = Game {
        live: trace.is_none(),
        ..Game::default()
    };
    let mut rt = Runtime::new();
    let cast = build(&mut rt.cx(&mut game))?;

    let run = if let Some(trace) = &trace {
        if let Some((path, source)) = arguments.trace.as_ref().zip(trace.source()) {
            println!("{}: {source}", path.display());
        }
        let run = Driver::uncapped()
            .recording()
            .replay(trace, &mut rt, &mut game)?;
        let same =
            run.elapsed == trace.total() && rt.cx(&mut game).runtime_elapsed() == run.elapsed;
        println!(
            "elapsed {:?}, sum of the deltas {:?}: {}",
            run.elapsed,
            trace.total(),
            if same { "the same" } else { "NOT THE SAME" }
        );
        run
    } else {
        println!("{LEGEND}");
        Driver::at_fps(60)
            .recording()
            .run_for(secs(6), &mut rt, &mut game)?
    };
    let mut gone = Vec::new();
    if game.lantern.is_none() {
        gone.push(("Lantern", "its owner forgot to shut it down"));
    }
    if !rt.cx(&mut game).is_initialized(&cast.bomb) {
        gone.push(("Bomb", "its world, the arena, has ended"));
    }
    summary(&run, &rt.tick_list(), &gone);
    if let (Some(path), Some(trace)) = (&arguments.record, &run.trace) {
        trace.write(path)?;
        println!("{} frames written to {}", trace.len(), path.display());
    }

    // Each owner shuts its object down; the arena's are shut down already: Ok(false).
    let mut cx = rt.cx(&mut game);
    cast.camera.shutdown(&mut cx)?;
    cast.runner.shutdown(&mut cx)?;
    cast.radar.shutdown(&mut cx)?;
    cast.menu.shutdown(&mut cx)?;
    cast.bomb.shutdown(&mut cx)?;
    cast.director.shutdown(&mut cx)?;
    rt.shutdown(&mut game);
    Ok(())
}

fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

fn summary(run: &RunReport, objects: &[TickInfo], gone: &[(&str, &str)]) {
    println!("\nobject       group        interval   ticks");
    for object in objects {
        let group = object
            .group
            .map_or("worldless".into(), |g| format!("{g:?}"));
        println!(
            "{:<12} {:<12} {:>8} {:>7}",
            object.name,
            group,
            format!("{:?}", object.interval),
            object.ticks
        );
    }
    for (name, why) in gone {
        println!("{name:<12} gone: {why}");
    }
    let limit = Duration::from_millis(50);
    let trace = run.trace.clone().unwrap_or_default();
    let hitches: Vec<_> = trace.hitches(limit).collect();
    let worst = hitches.iter().map(|&(_, time)| time).max();
    println!(
        "\n{} in {:.3} s, {}, {}, {} over {limit:?}{}",
        counted(run.frames, "frame", "frames"),
        run.elapsed.as_secs_f64(),
        counted(run.ticks, "tick", "ticks"),
        counted(run.reports, "report", "reports"),
        counted(hitches.len() as u64, "hitch", "hitches"),
        worst.map_or(String::new(), |time| format!(", the worst {time:?}")),
    );
}

#[derive(Default)]
struct Arguments {
    trace: Option<PathBuf>,
    record: Option<PathBuf>,
}

fn arguments() -> Result<Arguments, String> {
    let mut found = Arguments::default();
    let mut given = std::env::args().skip(1);
    while let Some(name) = given.next() {
        let place = match name.as_str() {
            "--trace" => &mut found.trace,
            "--record" => &mut found.record,
            _ => return Err(format!("unknown argument `{name}`")),
        };
        *place = Some(given.next().ok_or(format!("`{name}` needs a file"))?.into());
    }
    Ok(found)
}

fn main() -> ExitCode {
    // Reports go to `tracing`, target `stillcooking`; this shows them.
    tracing_subscriber::fmt()
        .without_time()
        .with_ansi(std::io::stdout().is_terminal())
        .init();
    let arguments = match arguments() {
        Ok(arguments) => arguments,
        Err(problem) => {
            eprintln!("{problem}; usage: quickstart [--trace FILE] [--record FILE]");
            return ExitCode::from(2);
        }
    };
    match play(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
