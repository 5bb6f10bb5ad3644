//! The console among ten thousand commands: running a line, and completing names. The bar is a time.
#![allow(clippy::unwrap_used, clippy::panic)]

use stillcooking::prelude::*;

use crate::harness::Rows;

const COMMANDS: u32 = 10_000;

/// Running a line takes less (ns).
const DISPATCH: f64 = 2_000.0;
/// A completion takes less (ns).
const COMPLETION: f64 = 1_000_000.0;

pub(crate) fn rows(rows: &mut Rows) {
    let names = [
        "console/dispatch_10k",
        "console/complete_10k_groups",
        "console/complete_10k_fuzzy",
    ];
    if !names.iter().any(|name| rows.wants(name)) {
        return;
    }
    let (mut rt, mut host) = (Runtime::<u64>::new(), 0);
    let mut cx = rt.cx(&mut host);
    cx.create_world(WorldKind::Game).unwrap();
    for number in 0..COMMANDS {
        let (group, command) = (number / 100, number % 100);
        let definition = dynamic_command! {
            /// Adds a number.
            {format!("Game.Group{group}.Sub.Command{command}")} (
                /// The number.
                number: u32 = 1,
            ) |cx: &mut Cx<'_, u64>, _out| {
                *cx.host_mut() += u64::from(number);
                Ok(())
            }
        };
        cx.register(definition.runtime()).unwrap();
    }
    let [dispatch, groups, fuzzy] = names;
    rows.limit(dispatch, DISPATCH, || {
        let run = cx.run_line("Game.Group57.Sub.Command33 5", Source::Script);
        assert_eq!(run.outcome, LineOutcome::Done);
    });
    rows.limit(groups, COMPLETION, || {
        assert_eq!(
            cx.complete_line("game.", 5, Source::Local).candidates.len(),
            100
        );
    });
    rows.limit(fuzzy, COMPLETION, || {
        assert_eq!(
            cx.complete_line("comand", 6, Source::Local)
                .candidates
                .len(),
            50
        );
    });
}
