//! Model test of a drive under its control: random speeds, seeks and frames, in both forms.

use std::time::Duration;

use crate::probe::{C, log, say, start, story, tell};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use sc_core::secs;
use sc_flow::{DoForDuration, DriveControl};

#[derive(Clone, Copy, Debug)]
enum Op {
    /// In eighths: so that the reference can count whole numbers.
    Speed(u64),
    /// To a time (ns); below 0 too.
    Seek(i64),
    Frame(u64),
}

#[derive(Clone, Copy, Debug)]
struct Setup {
    duration: u64,
    /// 0 = without end.
    laps: u32,
    ping_pong: bool,
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        1 => (0u64..40).prop_map(Op::Speed),
        1 => (-5i64..200).prop_map(Op::Seek),
        4 => (0u64..60).prop_map(Op::Frame),
    ]
}

fn setup() -> impl Strategy<Value = Setup> {
    (0u64..50, 0u32..4, any::<bool>()).prop_map(|(duration, laps, ping_pong)| Setup {
        duration,
        laps: if duration == 0 { 1 } else { laps },
        ping_pong,
    })
}

/// What a drive should do.
struct Expected {
    setup: Setup,
    lap: u64,
    elapsed: u64,
    speed: u64,
    carry: u64,
    over: bool,
    log: Vec<String>,
}

impl Expected {
    fn new(setup: Setup) -> Self {
        Expected {
            setup,
            lap: 0,
            elapsed: 0,
            speed: 8,
            carry: 0,
            over: false,
            log: Vec::new(),
        }
    }

    fn passed(&self) -> u64 {
        self.lap * self.setup.duration + self.elapsed
    }

    fn left(&self) -> Option<u64> {
        let laps = u64::from(self.setup.laps);
        (laps > 0).then(|| laps * self.setup.duration - self.passed())
    }

    fn seek(&mut self, to: i64) {
        let Setup { duration, laps, .. } = self.setup;
        let to = u64::try_from(to).unwrap_or(0);
        let laps = u64::from(laps);
        (self.lap, self.elapsed) = if laps > 0 && to >= laps * duration {
            (laps - 1, duration)
        } else {
            (to / duration, to % duration)
        };
    }

    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation)]
    fn frame(&mut self, number: usize, delta: u64) {
        let mut left = delta;
        if self.speed != 8 {
            let eighths = delta * self.speed + self.carry;
            (left, self.carry) = (eighths / 8, eighths % 8);
        }
        loop {
            let step = left.min(self.setup.duration - self.elapsed);
            left -= step;
            self.elapsed += step;
            let at_end = self.elapsed == self.setup.duration;
            let forth = if at_end {
                1.0
            } else {
                (self.elapsed as f64 / self.setup.duration as f64) as f32
            };
            let back = self.setup.ping_pong && self.lap % 2 == 1;
            let alpha = if back { 1.0 - forth } else { forth };
            let delta = Duration::from_nanos(step);
            self.log.push(format!("{number}: {alpha} {delta:?}"));
            if at_end && self.lap + 1 == u64::from(self.setup.laps) {
                self.over = true;
                self.log.push(format!("{number}: over"));
                return;
            }
            if at_end {
                (self.lap, self.elapsed) = (self.lap + 1, 0);
            }
            if left == 0 {
                return;
            }
        }
    }
}

fn play(setup: Setup, ops: &[Op], is_async: bool) {
    let mut t = start();
    let control = DriveControl::new();
    let (w, theirs) = (t.world, control.clone());
    let update = |cx: &mut C<'_>, alpha: f32, delta: Duration| {
        say(cx, format!("{alpha} {delta:?}"));
    };
    let duration = Duration::from_nanos(setup.duration);
    let mut expected = Expected::new(setup);
    if is_async {
        story(&mut t, "drive", async move |fx| {
            let mut drive = fx.do_for_duration(duration, update).control(&theirs);
            drive = match setup.laps {
                0 => drive.forever(),
                laps => drive.laps(laps),
            };
            if setup.ping_pong {
                drive = drive.ping_pong();
            }
            drive.await?;
            tell(&fx, "over");
            Ok(())
        });
    } else {
        let mut drive = DoForDuration::new(duration, update).control(&theirs);
        drive = match setup.laps {
            0 => drive.forever(),
            laps => drive.laps(laps),
        };
        if setup.ping_pong {
            drive = drive.ping_pong();
        }
        let drive = drive.completed(|cx, _| say(cx, "over")).world(w);
        drive.start(&mut t.cx()).unwrap();
    }
    // The first frame takes no time: from here on both forms have a drive.
    t.tick(0);
    expected.frame(1, 0);
    let mut frames = 1;
    for &op in ops {
        match op {
            Op::Speed(eighths) => {
                #[allow(clippy::cast_precision_loss)]
                control.set_speed(eighths as f64 / 8.0).unwrap();
                expected.speed = eighths;
            }
            Op::Seek(to) => {
                #[allow(clippy::cast_precision_loss)]
                let sought = control.seek(secs(to as f64 * 1e-9));
                assert_eq!(sought.is_ok(), !expected.over);
                if !expected.over {
                    expected.seek(to);
                }
            }
            Op::Frame(delta) => {
                frames += 1;
                t.tick(Duration::from_nanos(delta));
                if !expected.over {
                    expected.frame(frames, delta);
                }
            }
        }
        let (elapsed, remaining) = (control.elapsed().ok(), control.remaining().ok());
        let passed = Duration::from_nanos(expected.passed());
        let left = expected.left().map(Duration::from_nanos);
        assert_eq!(elapsed, (!expected.over).then_some(passed));
        assert_eq!(remaining, (!expected.over).then_some(left));
    }
    assert_eq!(log(&t), expected.log, "async: {is_async}");
}

fn config() -> Config {
    let config = Config {
        failure_persistence: None,
        ..Config::default()
    };
    if std::env::var_os("PROPTEST_CASES").is_some() {
        return config;
    }
    Config {
        cases: 1_000,
        rng_seed: RngSeed::Fixed(1),
        ..config
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_drive_does_what_the_reference_says(
        setup in setup(),
        ops in prop::collection::vec(op(), 0..40),
    ) {
        play(setup, &ops, false);
        play(setup, &ops, true);
    }
}
