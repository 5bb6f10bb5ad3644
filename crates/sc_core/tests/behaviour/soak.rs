//! The soak: a day of game time at 60 Hz, exact to the nanosecond at its end, in flat memory.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    unreachable_pub
)]

use std::time::Duration;

use sc_core::testing::TestWorld;
use sc_core::{Clock, Cx, Owner, TickSettings, Tickable, WorldId, WorldKind};

/// 24 h at 60 Hz.
const FRAMES: u64 = 5_184_000;
const DAY: Duration = Duration::from_secs(86_400);

/// Adds its deltas up.
struct Sum {
    settings: TickSettings,
    ticks: u64,
    total: Duration,
}

impl Tickable<()> for Sum {
    fn tick(&mut self, cx: &mut Cx<'_, ()>) {
        self.ticks += 1;
        self.total += cx.delta();
    }
    fn settings(&self) -> TickSettings {
        self.settings
    }
}

fn spawn(t: &mut TestWorld<()>, world: WorldId, interval: Duration) -> Owner<Sum> {
    let sum = Sum {
        settings: TickSettings::default().interval(interval),
        ticks: 0,
        total: Duration::ZERO,
    };
    t.cx().spawn_in(world, sum).unwrap()
}

/// A sixtieth of a second, so that sixty frames are exactly one: two of three are a nanosecond
/// longer than the third.
fn delta_of(frame: u64) -> Duration {
    Duration::from_nanos((frame + 1) * 1_000_000_000 / 60 - frame * 1_000_000_000 / 60)
}

fn run(t: &mut TestWorld<()>, frames: std::ops::Range<u64>) {
    for frame in frames {
        t.rt.tick(&mut t.host, delta_of(frame)).unwrap();
    }
}

#[test]
fn after_a_day_at_60_hz_time_is_exact_and_memory_flat() {
    let mut t = TestWorld::new(());
    let world = t.world;
    let slow = t.cx().create_world(WorldKind::Game).unwrap();
    t.cx().set_dilation(slow, 0.3).unwrap();
    let millis = Duration::from_millis;
    let every_frame = spawn(&mut t, world, Duration::ZERO);
    let quarter = spawn(&mut t, world, millis(250));
    let second = spawn(&mut t, world, millis(1_000));
    let seven = spawn(&mut t, world, millis(7_000));
    let hour = spawn(&mut t, world, millis(3_600_000));
    let slow_second = spawn(&mut t, slow, millis(1_000));

    run(&mut t, 0..FRAMES / 2);
    let second_half = allocation_counter::measure(|| run(&mut t, FRAMES / 2..FRAMES));
    assert_eq!(second_half.count_total, 0);
    assert_eq!(second_half.bytes_current, 0);

    assert_eq!(t.rt.frame_number(), 5_184_000);
    let cx = t.cx();
    assert_eq!(cx.runtime_elapsed(), DAY);
    for clock in Clock::ALL {
        assert_eq!(cx.elapsed(world, clock), Ok(DAY), "{clock:?}");
    }
    let dilated = Duration::from_secs(25_920);
    for (clock, expected) in [
        (Clock::Game, dilated),
        (Clock::Unscaled, DAY),
        (Clock::GameThroughPause, dilated),
        (Clock::Real, DAY),
    ] {
        assert_eq!(cx.elapsed(slow, clock), Ok(expected), "{clock:?}");
    }

    // Ticks, and the seconds they were told; what is missing to the day carries over.
    for (owner, ticks, seconds, carry) in [
        (&every_frame, 5_184_000, 86_400, 0),
        (&quarter, 345_600, 86_400, 0),
        (&second, 86_400, 86_400, 0),
        (&seven, 12_342, 86_394, 6),
        (&hour, 24, 86_400, 0),
        (&slow_second, 25_920, 25_920, 0),
    ] {
        let sum = cx.get(owner).unwrap();
        assert_eq!(sum.ticks, ticks);
        assert_eq!(sum.total, Duration::from_secs(seconds));
        let info = cx.tick_info(owner).unwrap();
        assert_eq!(
            (info.ticks, info.carry),
            (ticks, Duration::from_secs(carry))
        );
    }
    assert_eq!(t.reports.kinds(), []);
}
