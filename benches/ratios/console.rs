//! The console among many commands: against times, and against Brigadier's Rust port and clap.
//!
//! | row | peer | bar, and why |
//! | --- | --- | --- |
//! | `dispatch_10k`, `complete_10k_*` | a time | the quality bars: 2 us, 1 ms |
//! | `dispatch_10k_typed` | a time | 2 us as well: what a person types is echoed, kept in the history and searched for secrets, too |
//! | `dispatch_*_vs_brigadier` | `azalea-brigadier` running the same line | 3: ours keeps what is printed, who asked and a place for panics, too |
//! | `dispatch_*_vs_clap` | `clap`, its commands built for the call, as a console on it would | 1 |
//! | `complete_*_vs_brigadier` | the same prefix, eleven candidates | 1 |
//! | `complete_*_vs_clap` | its commands built for the call, and those that start so picked from its list: it completes none at run time | 1 |
//! | `parse_*_vs_brigadier` | its parse, which finds the command among so many | 1: ours reads words, and knows no command |
//! | `parse_*_vs_clap` | its parse, its commands built for the call | 1 |
//! | `output_100k_vs_1k` | 100,000 lines printed by one command, against as many by a hundred | 1.5: what is kept is bounded, so a line costs what it costs |
//! | `variable_read_vs_static` | a static atomic | 25: a check, an index and a type, where the static is one load of 0.3 ns |
#![allow(clippy::unwrap_used, clippy::panic)]

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};

use azalea_brigadier::command_dispatcher::CommandDispatcher;
use azalea_brigadier::context::CommandContext;
use azalea_brigadier::prelude::{argument, get_integer, integer, literal};
use stillcooking::parse_line;
use stillcooking::prelude::*;

use crate::harness::Rows;

const SIZES: [(u32, &str); 3] = [(10, "10"), (1_000, "1k"), (10_000, "10k")];

/// Running a line takes less (ns).
const DISPATCH: f64 = 2_000.0;
/// A completion takes less (ns).
const COMPLETION: f64 = 1_000_000.0;

variable! {
    /// How fast the player is, in metres a second.
    SPEED = Bench.Speed: f64 = 5.0, range 0.0..=20.0
}

pub(crate) fn rows(rows: &mut Rows) {
    limits(rows);
    for (count, size) in SIZES {
        peers(rows, count, size);
    }
    output(rows);
    variable(rows);
}

fn output(rows: &mut Rows) {
    let name = "console/output_100k_vs_1k";
    if !rows.wants(name) {
        return;
    }
    let console = || {
        let (mut rt, mut host) = (Runtime::<u64>::new(), 0);
        let definition = dynamic_command! {
            /// Prints lines.
            Bench.Print (
                /// How many.
                lines: u32,
            ) |_cx: &mut Cx<'_, u64>, out| {
                for line in 0..lines {
                    writeln!(out, "line {line} of {lines}")?;
                }
                Ok(())
            }
        };
        rt.cx(&mut host)
            .register_command(definition.runtime())
            .unwrap();
        rt
    };
    let (mut one, mut many, mut host) = (console(), console(), 0);
    let print = |rt: &mut Runtime<u64>, host: &mut u64, line: &str, kept: usize| {
        let run = rt.cx(host).run_line(line, Source::Script);
        assert_eq!(run.output.len(), kept);
    };
    let mut host_of_many = 0;
    rows.row(
        name,
        1.5,
        100_000,
        || print(&mut one, &mut host, "bench.print 100000", 10_000),
        || {
            for _ in 0..100 {
                print(&mut many, &mut host_of_many, "bench.print 1000", 1_000);
            }
        },
    );
}

/// The name of a command: a hundred lie in a group.
fn name(number: u32) -> String {
    let (group, command) = (number / 100, number % 100);
    format!("Game.Group{group}.Sub.Command{command}")
}

/// A runtime with so many commands; the host is what they add to.
fn console(count: u32) -> Runtime<u64> {
    let mut rt = Runtime::<u64>::new();
    let mut host = 0;
    let mut cx = rt.cx(&mut host);
    cx.create_world(WorldKind::Game).unwrap();
    for number in 0..count {
        let definition = dynamic_command! {
            /// Adds a number.
            {name(number)} (
                /// The number.
                number: u32 = 1,
            ) |cx: &mut Cx<'_, u64>, _out| {
                *cx.host_mut() += u64::from(number);
                Ok(())
            }
        };
        cx.register_command(definition.runtime()).unwrap();
    }
    rt
}

fn limits(rows: &mut Rows) {
    let names = [
        "console/dispatch_10k",
        "console/dispatch_10k_typed",
        "console/complete_10k_groups",
        "console/complete_10k_fuzzy",
    ];
    if !names.iter().any(|name| rows.wants(name)) {
        return;
    }
    let (mut rt, mut host) = (console(10_000), 0);
    let mut cx = rt.cx(&mut host);
    let [dispatch, typed, groups, fuzzy] = names;
    rows.limit(dispatch, DISPATCH, || {
        let run = cx.run_line("Game.Group57.Sub.Command33 5", Source::Script);
        assert_eq!(run.outcome, LineOutcome::Done);
    });
    // Two lines in turn: the history skips one that repeats the line before.
    let lines = [
        "Game.Group57.Sub.Command33 5",
        "Game.Group57.Sub.Command34 5",
    ];
    let mut turn = lines.iter().cycle();
    rows.limit(typed, DISPATCH, || {
        let line = turn.next().unwrap();
        let run = cx.run_line(line, Source::Local);
        assert_eq!(run.outcome, LineOutcome::Done);
    });
    rows.limit(groups, COMPLETION, || {
        let groups = cx.complete_line("game.", 5, Source::Local);
        assert_eq!(groups.candidates.len(), 100);
    });
    rows.limit(fuzzy, COMPLETION, || {
        let found = cx.complete_line("comand", 6, Source::Local);
        assert_eq!(found.candidates.len(), 50);
    });
}

fn brigadier(count: u32) -> CommandDispatcher<()> {
    let mut dispatcher = CommandDispatcher::new();
    for number in 0..count {
        let argument = argument("number", integer())
            .executes(|cx: &CommandContext<()>| get_integer(cx, "number").unwrap());
        dispatcher.register(literal(&name(number)).then(argument));
    }
    dispatcher
}

fn clap(count: u32) -> clap::Command {
    let number = clap::Arg::new("number").value_parser(clap::value_parser!(u32));
    let commands = (0..count).map(|n| clap::Command::new(name(n)).arg(number.clone()));
    clap::Command::new("console")
        .no_binary_name(true)
        .subcommands(commands)
}

fn peers(rows: &mut Rows, count: u32, size: &str) {
    let dispatch = format!("console/dispatch_{size}_vs_brigadier");
    let built = format!("console/dispatch_{size}_vs_clap");
    let complete = format!("console/complete_{size}_vs_brigadier");
    let picked = format!("console/complete_{size}_vs_clap");
    let parse = format!("console/parse_{size}_vs_brigadier");
    let parse_built = format!("console/parse_{size}_vs_clap");
    if ![&dispatch, &built, &complete, &picked, &parse, &parse_built]
        .iter()
        .any(|name| rows.wants(name))
    {
        return;
    }
    let (mut rt, mut host) = (console(count), 0);
    let mut cx = rt.cx(&mut host);
    let dispatcher = brigadier(count);
    let last = name(count - 1);
    let line = format!("{last} 5");
    if rows.wants(&dispatch) {
        let ours = || {
            let run = cx.run_line(&line, Source::Script);
            assert_eq!(run.outcome, LineOutcome::Done);
        };
        let peer = || assert_eq!(dispatcher.execute(line.as_str(), ()).unwrap(), 5);
        rows.row(&dispatch, 3.0, 1, ours, peer);
    }
    if rows.wants(&built) {
        let ours = || {
            let run = cx.run_line(&line, Source::Script);
            assert_eq!(run.outcome, LineOutcome::Done);
        };
        let peer = || {
            let matches = clap(count).try_get_matches_from(line.split(' ')).unwrap();
            let (_, of_command) = matches.subcommand().unwrap();
            assert_eq!(of_command.get_one::<u32>("number"), Some(&5));
        };
        rows.row(&built, 1.0, 1, ours, peer);
    }
    // The last but one digit and what follows.
    let prefix = last.strip_suffix('9').unwrap();
    if rows.wants(&complete) {
        let ours = || {
            let found = cx.complete_line(prefix, prefix.len(), Source::Local);
            black_box(found.candidates.len());
        };
        let peer = || {
            let parsed = dispatcher.parse(prefix.into(), ());
            let found = CommandDispatcher::get_completion_suggestions(parsed);
            black_box(found.list().len());
        };
        rows.row(&complete, 1.0, 1, ours, peer);
    }
    if rows.wants(&picked) {
        let ours = || {
            let found = cx.complete_line(prefix, prefix.len(), Source::Local);
            assert_eq!(found.candidates.len(), 11.min(count as usize));
        };
        let peer = || {
            let commands = clap(count);
            let names = commands.get_subcommands().map(clap::Command::get_name);
            let mut found: Vec<&str> = names.filter(|name| name.starts_with(prefix)).collect();
            found.sort_unstable();
            black_box(found.len());
        };
        rows.row(&picked, 1.0, 1, ours, peer);
    }
    let ours = || {
        black_box(parse_line(black_box(&line)));
    };
    if rows.wants(&parse) {
        let peer = || {
            black_box(dispatcher.parse(black_box(line.as_str()).into(), ()));
        };
        rows.row(&parse, 1.0, 1, ours, peer);
    }
    if rows.wants(&parse_built) {
        let peer = || {
            let words = black_box(&line).split(' ');
            black_box(clap(count).try_get_matches_from(words).unwrap());
        };
        rows.row(&parse_built, 1.0, 1, ours, peer);
    }
}

fn variable(rows: &mut Rows) {
    const READS: usize = 1_000;
    static STATIC: AtomicU64 = AtomicU64::new(0);
    let row = "console/variable_read_vs_static";
    if !rows.wants(row) {
        return;
    }
    let (mut rt, mut host) = (console(10), 0);
    let mut cx = rt.cx(&mut host);
    let ours = || {
        for _ in 0..READS {
            black_box(cx.var(SPEED));
        }
    };
    let peer = || {
        for _ in 0..READS {
            black_box(f64::from_bits(STATIC.load(Ordering::Relaxed)));
        }
    };
    rows.row(row, 25.0, READS, ours, peer);
}
