//! Commands and worlds: in which a static one runs, and with which a dynamic one ends.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![cfg(feature = "commands")]

use sc_console::{ConsoleExt, LineOutcome, Source, command, dynamic_command};
use sc_core::{Cx, Runtime, Tickable, WorldId, WorldKind};

#[derive(Default)]
struct Game {
    ran_in: Vec<Option<WorldId>>,
}

command! {
    /// Notes where it runs.
    My.Where () |cx: &mut Cx<'_, Game>, _out| {
        let world = cx.world();
        cx.host_mut().ran_in.push(world);
        Ok(())
    }
}

/// Runs a line, and registers a command, in its first tick.
struct Actor;

impl Tickable<Game> for Actor {
    fn tick(&mut self, cx: &mut Cx<'_, Game>) {
        cx.run_line("my.where", Source::Local);
        let local = dynamic_command! {
            /// Is the world's.
            My.Local () |_cx: &mut Cx<'_, Game>, _out| { Ok(()) }
        };
        // Taken from the second frame on.
        let _ = cx.register_command(local);
    }
}

#[test]
fn a_static_command_runs_in_its_callers_game_world_else_in_the_oldest() {
    let (mut rt, mut game) = (Runtime::new(), Game::default());
    let mut cx = rt.cx(&mut game);
    let editor = cx.create_world(WorldKind::Editor).unwrap();
    let old = cx.create_world(WorldKind::Game).unwrap();
    let young = cx.create_world(WorldKind::PlayInEditor).unwrap();
    // Nobody's: the oldest game world.
    assert_eq!(
        cx.run_line("my.where", Source::Local).outcome,
        LineOutcome::Done
    );
    let in_young = cx.spawn_in(young, Actor).unwrap();
    rt.tick_secs(&mut game, 0.1).unwrap();
    let mut cx = rt.cx(&mut game);
    in_young.shutdown(&mut cx).unwrap();
    let in_editor = cx.spawn_in(editor, Actor).unwrap();
    let ticks = cx.configure(&in_editor).unwrap().tick_in_editor(true);
    ticks.apply().unwrap();
    rt.tick_secs(&mut game, 0.1).unwrap();
    assert_eq!(game.ran_in, [Some(old), Some(young), Some(old)]);
    in_editor.shutdown(&mut rt.cx(&mut game)).unwrap();
}

#[test]
fn a_command_ends_with_the_world_whose_callback_registered_it() {
    let (mut rt, mut game) = (Runtime::new(), Game::default());
    let mut cx = rt.cx(&mut game);
    let old = cx.create_world(WorldKind::Game).unwrap();
    let young = cx.create_world(WorldKind::Game).unwrap();
    let actor = cx.spawn_in(young, Actor).unwrap();
    rt.tick_secs(&mut game, 0.1).unwrap();
    let mut cx = rt.cx(&mut game);
    assert_eq!(
        cx.run_line("my.local", Source::Local).outcome,
        LineOutcome::Done
    );
    actor.shutdown(&mut cx).unwrap();
    assert!(cx.destroy_world(young));
    assert_eq!(
        cx.run_line("my.local", Source::Local).outcome,
        LineOutcome::Failed
    );
    assert!(cx.is_world_alive(old));
}
