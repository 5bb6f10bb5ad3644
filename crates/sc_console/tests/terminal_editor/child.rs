//! The program on the terminal: a small game. Its part says what is special; a line that comes on the
//! socket has one of its threads do something, whatever is being typed.

use std::io::{BufRead, BufReader};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use sc_console::{LogExt, LogRing, Terminal, TerminalError, TerminalHandle, command, print_string};
use sc_core::{Cx, Driver, PanicPolicy, Runtime, WorldKind};

#[derive(Default)]
pub(crate) struct Game {
    over: bool,
}

command! {
    /// Writes a text.
    Play.Say (
        /// The text.
        text: String,
    ) |_cx: &mut Cx<'_, Game>, out| {
        writeln!(out, "you say {text}")?;
        Ok(())
    }
}

fn doors(_: &mut Cx<'_, Game>, _: &str) -> Vec<String> {
    vec!["red".into(), "blue".into()]
}

command! {
    /// Opens a door.
    Play.Open (
        /// Which door.
        #[suggest = doors]
        door: String,
    ) |_cx: &mut Cx<'_, Game>, out| {
        writeln!(out, "the {door} door is open")?;
        Ok(())
    }
}

command! {
    /// Lets somebody in.
    Play.Login (
        /// Who.
        name: String,
        /// The password.
        #[secret]
        password: String,
    ) |_cx: &mut Cx<'_, Game>, out| {
        writeln!(out, "hello {name}, your password has {} letters", password.len())?;
        Ok(())
    }
}

command! {
    /// Panics.
    Play.Boom () |cx: &mut Cx<'_, Game>, _out| {
        assert!(cx.host().over, "boom in a command");
        Ok(())
    }
}

command! {
    /// Ends the game.
    quit [anytime] () |cx: &mut Cx<'_, Game>, out| {
        cx.host_mut().over = true;
        writeln!(out, "good bye")?;
        Ok(())
    }
}

pub(crate) fn run() -> ExitCode {
    // Not started by a test.
    let Ok(part) = std::env::var("SC_TERMINAL_PART") else {
        return ExitCode::SUCCESS;
    };
    // Behind what the test harness has written on this row.
    println!();
    let (go, went) = channel();
    if let Ok(socket) = std::env::var("SC_TERMINAL_SOCKET") {
        let socket = BufReader::new(UnixStream::connect(socket).unwrap());
        thread::spawn(move || obey(socket, &go));
    }
    let ring = LogRing::new();
    ring.install().unwrap();
    let (mut rt, mut game) = (Runtime::new(), Game::default());
    let mut cx = rt.cx(&mut game);
    cx.attach_log(&ring);
    cx.create_world(WorldKind::Game).unwrap();
    let mut terminal = Terminal::new();
    if let Ok(file) = std::env::var("SC_TERMINAL_HISTORY") {
        terminal = terminal.history_file(file);
    }
    let terminal = terminal.start(&mut cx).unwrap();
    if !terminal.is_editor() {
        println!("plain");
    }
    play(&part, terminal, &went, &mut rt, &mut game)
}

fn play(
    part: &str,
    terminal: TerminalHandle,
    went: &Receiver<()>,
    rt: &mut Runtime<Game>,
    game: &mut Game,
) -> ExitCode {
    match part {
        "isolated" => rt.set_panic_policy(PanicPolicy::Isolate),
        "hanging" => went.recv().unwrap(),
        "second" => {
            let second = Terminal::new().start(&mut rt.cx(game));
            assert!(matches!(second, Err(TerminalError::Taken)));
            // One after the other is fine.
            drop(terminal);
            let third = Terminal::new().prompt("third> ").start(&mut rt.cx(game));
            return play("", third.unwrap(), went, rt, game);
        }
        "panics" => {
            went.recv().unwrap();
            panic!("boom in the game");
        }
        "forgotten" => {
            std::mem::forget(terminal);
            went.recv().unwrap();
            panic!("boom, and nobody drops the handle");
        }
        "abort" => {
            struct AlsoPanics;
            impl Drop for AlsoPanics {
                fn drop(&mut self) {
                    panic!("boom again");
                }
            }
            let _also = AlsoPanics;
            went.recv().unwrap();
            panic!("boom, and once more on the way");
        }
        _ => {}
    }
    let goes_on = |_: &mut Runtime<Game>, game: &mut Game| terminal.is_open() && !game.over;
    Driver::at_fps(60).run_while(goes_on, rt, game).unwrap();
    print_string!(rt.cx(game), "the last frame was run");
    drop(terminal);
    println!("the terminal has ended");
    ExitCode::SUCCESS
}

/// Does what comes on the socket.
fn obey(socket: BufReader<UnixStream>, go: &Sender<()>) {
    let mut logged = 0;
    for line in socket.lines() {
        let line = line.unwrap();
        match line.split_once(' ') {
            Some(("log", count)) => {
                for _ in 0..count.parse::<u32>().unwrap() {
                    logged += 1;
                    tracing::info!(target: "thread", "line {logged}.");
                }
            }
            _ if line == "boom" => {
                let panicked = thread::spawn(|| panic!("boom on a thread")).join();
                assert!(panicked.is_err());
            }
            _ if line == "go" => go.send(()).unwrap(),
            _ => panic!("what is {line}?"),
        }
    }
}
