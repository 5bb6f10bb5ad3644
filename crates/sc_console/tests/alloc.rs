//! A steady frame with a console allocates nothing, whatever waits in it; reading a variable neither.

#![cfg(feature = "commands")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use sc_console::{
    ConsoleExt, Latent, LatentEnd, LineOutcome, Source, VariableExt, command, dynamic_command,
    variable,
};
use sc_core::Cx;
use sc_core::testing::TestWorld;

command! {
    /// Takes its time.
    Slow () |cx: &mut Cx<'_, Vec<LatentEnd>>, _out| {
        let (latent, end) = Latent::new();
        cx.host_mut().push(end);
        Ok(latent)
    }
}

variable! {
    /// How fast.
    SPEED = My.Speed: f64 = 5.0
}

#[test]
fn a_steady_frame_allocates_nothing() {
    let mut t = TestWorld::new(Vec::new());
    let world = t.world;
    for number in 0..100 {
        let definition = dynamic_command! {
            {format!("Command{number}")} () |_cx: &mut Cx<'_, Vec<LatentEnd>>, _out| { Ok(()) }
        };
        t.cx().register_command(definition.world(world)).unwrap();
    }
    for line in ["slow", "wait 1000", "slow; slow"] {
        assert_eq!(
            t.cx().run_line(line, Source::Local).outcome,
            LineOutcome::Pending
        );
    }
    t.ticks(0.1, 3);
    let counted = allocation_counter::measure(|| t.ticks(0.1, 100));
    assert_eq!(counted.count_total, 0);
    assert_eq!(t.host.len(), 2);
}

#[test]
fn reading_a_variable_allocates_nothing_and_setting_it_does_not_pile_up() {
    let mut t = TestWorld::new(());
    t.cx().set_var(SPEED, 1.0).unwrap();
    let mut sum = 0.0;
    let counted = allocation_counter::measure(|| {
        for _ in 0..100 {
            sum += t.cx().var(SPEED);
        }
    });
    assert_eq!((sum, counted.count_total), (100.0, 0));
    let counted = allocation_counter::measure(|| {
        for speed in 0..100 {
            t.cx().set_var(SPEED, f64::from(speed)).unwrap();
        }
    });
    assert_eq!(counted.bytes_current, 0);
}

#[test]
fn a_typed_line_allocates_for_its_words_what_is_kept_of_it_and_little_else() {
    let mut t = TestWorld::new(Vec::new());
    let world = t.world;
    let definition = dynamic_command! {
        Adds (number: u32) |_cx: &mut Cx<'_, Vec<LatentEnd>>, _out| { let _ = number; Ok(()) }
    };
    t.cx().register_command(definition.world(world)).unwrap();
    let mut cx = t.cx();
    cx.console_history().set_capacity(10);
    let mut run = || {
        for _ in 0..100 {
            for line in ["Adds 5", "Adds 6"] {
                assert_eq!(cx.run_line(line, Source::Local).outcome, LineOutcome::Done);
            }
        }
    };
    run();
    // Its text, its two words and the lists they are in; echo and history; where it prints; its name, folded, and which of
    // its words are secrets.
    let counted = allocation_counter::measure(run);
    assert!(counted.count_total < 200 * 14, "{}", counted.count_total);
}
