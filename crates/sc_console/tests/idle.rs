//! A frame in which nothing happens allocates nothing, whatever is on the screen and listens.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use allocation_counter::measure;
use sc_console::{ConsoleExt, LogExt, LogRing, Print, PrintExt};
use sc_core::testing::TestWorld;

/// Allocations of a hundred frames, after some to warm up.
fn a_hundred_frames(t: &mut TestWorld<()>) -> u64 {
    t.ticks(0.25, 20);
    measure(|| t.ticks(0.25, 100)).count_total
}

#[test]
fn with_messages_on_the_screen_and_a_log() {
    let ring = LogRing::new();
    let mut t = TestWorld::new(());
    t.cx().start_console();
    t.cx().attach_log(&ring);
    for n in 0..50 {
        t.cx().print(Print::new("stays").key(n).duration(1e6));
    }
    assert_eq!(a_hundred_frames(&mut t), 0);
}

#[cfg(feature = "terminal")]
#[test]
fn with_terminals_that_wait_for_input() {
    use std::io::{BufReader, Read};
    use std::sync::mpsc::{Receiver, channel};

    use sc_console::{Source, Terminal};

    /// Gives nothing, and ends when the other end is dropped.
    struct Waits(Receiver<()>);
    impl Read for Waits {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            let _ = self.0.recv();
            Ok(0)
        }
    }
    let mut t = TestWorld::new(());
    let mut terminals = Vec::new();
    for source in [Source::Terminal, Source::Remote] {
        let (typing, waits) = channel();
        let input = BufReader::new(Waits(waits));
        let terminal = Terminal::new().source(source);
        let terminal = terminal.start_on(&mut t.cx(), input, Vec::new()).unwrap();
        terminals.push((typing, terminal));
    }
    assert_eq!(a_hundred_frames(&mut t), 0);
}
