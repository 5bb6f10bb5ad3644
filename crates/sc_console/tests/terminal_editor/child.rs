//! The program on the terminal: a small game, in parts.

use sc_console::{LogExt, LogRing, Terminal};
use sc_core::{Driver, Runtime};

pub(crate) fn run() {
    // Not started by a test.
    let Ok(_part) = std::env::var("SC_TERMINAL_PART") else {
        return;
    };
    let ring = LogRing::new();
    ring.install().unwrap();
    let (mut rt, mut game) = (Runtime::<()>::new(), ());
    let mut cx = rt.cx(&mut game);
    cx.attach_log(&ring);
    let terminal = Terminal::new().start(&mut cx).unwrap();
    Driver::at_fps(60)
        .run_while(|_, _| terminal.is_open(), &mut rt, &mut game)
        .unwrap();
    drop(terminal);
}
