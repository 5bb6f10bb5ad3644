//! The control of a drive: speed, place and what remains, in both forms.

use std::time::Duration;

use crate::probe::{C, Game, Test, log, say, start, story, tell};
use sc_core::{Clock, secs};
use sc_flow::{DoForDuration, DriveControl, Flow, FlowCx, FlowError, FlowExt, Progress, join};

const FORMS: [bool; 2] = [false, true];

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn update(cx: &mut C<'_>, alpha: f32, delta: Duration) {
    say(cx, format!("{alpha} {delta:?}"));
}

/// How a drive is set up: seconds of a lap, laps (0 = without end), ping-pong.
#[derive(Clone, Copy)]
struct Drive(f64, u32, bool);

const PLAIN: Drive = Drive(1.0, 1, false);

/// Starts a drive with a control, in one of the forms; its end is logged.
fn begin(t: &mut Test, is_async: bool, Drive(lap, laps, ping_pong): Drive) -> DriveControl {
    let control = DriveControl::new();
    let (w, theirs) = (t.world, control.clone());
    if is_async {
        story(t, "drive", async move |fx| {
            let mut drive = fx.do_for_duration(lap, update).control(&theirs);
            drive = match laps {
                0 => drive.forever(),
                laps => drive.laps(laps),
            };
            if ping_pong {
                drive = drive.ping_pong();
            }
            drive.await?;
            tell(&fx, "Completed");
            Ok(())
        });
        // A frame that takes no time: from here on both forms have a drive.
        t.tick(0);
    } else {
        let mut drive = DoForDuration::new(lap, update).control(&theirs);
        drive = match laps {
            0 => drive.forever(),
            laps => drive.laps(laps),
        };
        if ping_pong {
            drive = drive.ping_pong();
        }
        let drive = drive.completed(|cx, finish| say(cx, format!("{finish:?}")));
        drive.world(w).start(&mut t.cx()).unwrap();
        t.tick(0);
    }
    log(t);
    control
}

#[test]
fn the_speed_multiplies_what_passes_on_the_drives_clock() {
    for is_async in FORMS {
        let mut t = start();
        let control = begin(&mut t, is_async, PLAIN);
        t.tick(0.25);
        control.set_speed(2.0).unwrap();
        t.tick(0.125);
        control.set_speed(0.5).unwrap();
        t.tick(0.25);
        control.set_speed(1.0).unwrap();
        t.ticks(0.3, 2);
        let expected = [
            "2: 0.25 250ms",
            "3: 0.5 250ms",
            "4: 0.625 125ms",
            "5: 0.925 300ms",
            "6: 1 75ms",
            "6: Completed",
        ];
        assert_eq!(log(&t), expected, "async: {is_async}");
    }
}

#[test]
fn at_speed_0_the_drive_stands_still_and_its_updates_go_on() {
    for is_async in FORMS {
        let mut t = start();
        let control = begin(&mut t, is_async, PLAIN);
        t.tick(0.5);
        control.set_speed(0.0).unwrap();
        t.ticks(0.5, 2);
        assert_eq!(control.remaining().unwrap(), Some(ms(500)));
        control.set_speed(1.0).unwrap();
        t.tick(0.5);
        let expected = [
            "2: 0.5 500ms",
            "3: 0.5 0ns",
            "4: 0.5 0ns",
            "5: 1 500ms",
            "5: Completed",
        ];
        assert_eq!(log(&t), expected, "async: {is_async}");
    }
}

#[test]
fn a_bad_speed_is_refused_and_the_old_one_stays() {
    let control = DriveControl::new();
    control.set_speed(3.0).unwrap();
    for bad in [-1.0, -0.001, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let error = control.set_speed(bad).unwrap_err();
        assert!(matches!(error, FlowError::BadSpeed { .. }), "{bad}");
        assert!(error.to_string().contains(&format!("{bad:?}")), "{error}");
    }
    assert!((control.speed() - 3.0).abs() < f64::EPSILON);
}

#[test]
fn a_speed_set_before_the_start_counts_from_the_first_update() {
    for is_async in FORMS {
        let mut t = start();
        let control = DriveControl::new();
        control.set_speed(4.0).unwrap();
        let (w, theirs) = (t.world, control.clone());
        if is_async {
            story(&mut t, "drive", async move |fx| {
                fx.do_for_duration(1, update).control(&theirs).await
            });
        } else {
            let drive = DoForDuration::new(1, update).control(&control);
            drive.world(w).start(&mut t.cx()).unwrap();
        }
        t.tick(0.125);
        assert_eq!(log(&t), ["1: 0.5 500ms"], "async: {is_async}");
    }
}

#[test]
fn a_speed_that_is_no_round_number_loses_no_time() {
    for is_async in FORMS {
        let mut t = start();
        let control = begin(&mut t, is_async, Drive(1.0, 0, false));
        control.set_speed(1.0 / 3.0).unwrap();
        // A third of 100,000,001 ns is no whole number: what is left over is carried.
        for _ in 0..3_000 {
            t.tick(Duration::from_nanos(100_000_001));
        }
        let exact = Duration::from_nanos(100_000_001_000);
        let off = control.elapsed().unwrap().abs_diff(exact);
        assert!(off <= Duration::from_nanos(1), "off by {off:?}");
    }
}

#[test]
fn speed_1_is_exact_to_the_nanosecond() {
    let mut t = start();
    let control = begin(&mut t, false, Drive(1e6, 1, false));
    for _ in 0..1_000 {
        t.tick(Duration::from_nanos(16_666_667));
    }
    let expected = Duration::from_nanos(16_666_667_000);
    assert_eq!(control.elapsed().unwrap(), expected);
}

#[test]
fn an_enormous_speed_saturates_and_ends_the_drive_with_its_final_update() {
    for is_async in FORMS {
        let mut t = start();
        let control = begin(&mut t, is_async, PLAIN);
        control.set_speed(f64::MAX).unwrap();
        t.ticks(0.25, 2);
        assert_eq!(log(&t), ["2: 1 1s", "2: Completed"], "async: {is_async}");
    }
}

#[test]
fn after_a_seek_the_drive_goes_on_from_there_with_the_next_frame() {
    for is_async in FORMS {
        let mut t = start();
        let control = begin(&mut t, is_async, PLAIN);
        t.tick(0.125);
        control.seek(0.5).unwrap();
        assert_eq!(control.elapsed().unwrap(), ms(500), "at once");
        t.tick(0.125);
        control.seek(secs(0.25)).unwrap();
        t.ticks(0.5, 2);
        let expected = [
            "2: 0.125 125ms",
            "3: 0.625 125ms",
            "4: 0.75 500ms",
            "5: 1 250ms",
            "5: Completed",
        ];
        assert_eq!(log(&t), expected, "async: {is_async}");
    }
}

#[test]
fn a_seek_before_the_start_or_beyond_the_end_goes_to_the_start_or_the_end() {
    for is_async in FORMS {
        for end in [1.0, 1.5, 1e9] {
            let mut t = start();
            let control = begin(&mut t, is_async, PLAIN);
            t.tick(0.25);
            control.seek(-3.0).unwrap();
            assert_eq!(control.elapsed().unwrap(), Duration::ZERO);
            t.tick(0.25);
            control.seek(end).unwrap();
            assert_eq!(control.remaining().unwrap(), Some(Duration::ZERO));
            t.ticks(0.25, 2);
            let expected = ["2: 0.25 250ms", "3: 0.25 250ms", "4: 1 0ns", "4: Completed"];
            assert_eq!(log(&t), expected, "{end}, async: {is_async}");
        }
    }
}

#[test]
fn a_seek_to_no_time_is_refused_and_changes_nothing() {
    let mut t = start();
    let control = begin(&mut t, false, PLAIN);
    t.tick(0.25);
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300] {
        let error = control.seek(bad).unwrap_err();
        assert!(matches!(error, FlowError::BadTime(_)), "{bad}");
    }
    t.tick(0.25);
    assert_eq!(log(&t), ["2: 0.25 250ms", "3: 0.5 250ms"]);
}

#[test]
fn a_seek_goes_over_all_laps_and_calls_no_update_for_what_it_skips() {
    for is_async in FORMS {
        let mut t = start();
        let control = begin(&mut t, is_async, Drive(1.0, 3, true));
        assert_eq!(control.remaining().unwrap(), Some(ms(3_000)));
        control.seek(1.25).unwrap();
        t.tick(0.25);
        control.seek(3.0).unwrap();
        t.tick(0.25);
        let expected = ["2: 0.5 250ms", "3: 1 0ns", "3: Completed"];
        assert_eq!(log(&t), expected, "async: {is_async}");
        let mut t = start();
        let control = begin(&mut t, is_async, Drive(1.0, 2, true));
        control.seek(2.0).unwrap();
        t.tick(0.25);
        let expected = ["2: 0 0ns", "2: Completed"];
        assert_eq!(
            log(&t),
            expected,
            "the last lap runs backwards: it ends at 0"
        );
    }
}

#[test]
fn a_seek_to_the_end_of_a_lap_is_the_start_of_the_next() {
    for is_async in FORMS {
        let mut t = start();
        let control = begin(&mut t, is_async, Drive(1.0, 2, false));
        t.tick(0.5);
        control.seek(1.0).unwrap();
        t.tick(0.25);
        assert_eq!(log(&t), ["2: 0.5 500ms", "3: 0.25 250ms"]);
        assert_eq!(control.remaining().unwrap(), Some(ms(750)));
    }
}

#[test]
fn a_drive_without_end_can_be_sought_too_and_has_no_remaining_time() {
    for is_async in FORMS {
        let mut t = start();
        let control = begin(&mut t, is_async, Drive(1.0, 0, true));
        control.seek(1e9 + 0.25).unwrap();
        assert_eq!(control.remaining().unwrap(), None);
        t.tick(0.25);
        control.seek(1e9 + 1.25).unwrap();
        t.tick(0.25);
        assert_eq!(log(&t), ["2: 0.5 250ms", "3: 0.5 250ms"]);
        control.seek(1e10).unwrap();
        assert_eq!(
            control.elapsed().unwrap(),
            Duration::from_secs(10_000_000_000)
        );
    }
}

#[test]
fn what_lies_behind_and_ahead_adds_up_to_the_whole_at_any_speed() {
    for is_async in FORMS {
        let mut t = start();
        let control = begin(&mut t, is_async, Drive(1.5, 2, false));
        for speed in [1.0, 0.25, 2.0, 0.0] {
            control.set_speed(speed).unwrap();
            t.tick(0.5);
            let ahead = control.remaining().unwrap().unwrap();
            assert_eq!(control.elapsed().unwrap() + ahead, ms(3_000));
        }
        assert_eq!(control.remaining().unwrap(), Some(ms(1_375)));
    }
}

#[test]
fn a_control_without_a_running_drive_says_so() {
    let none = |control: &DriveControl| {
        assert!(matches!(control.seek(0.5), Err(FlowError::NoDrive)));
        assert!(matches!(control.elapsed(), Err(FlowError::NoDrive)));
        assert!(matches!(control.remaining(), Err(FlowError::NoDrive)));
    };
    none(&DriveControl::new());
    for is_async in FORMS {
        let mut t = start();
        let control = begin(&mut t, is_async, PLAIN);
        t.tick(1.0);
        none(&control);
        let control = begin(&mut t, is_async, PLAIN);
        let flow = t.cx().flow_list()[0].id;
        t.cx().cancel(flow);
        none(&control);
        let control = begin(&mut t, is_async, PLAIN);
        let w = t.world;
        t.cx().destroy_world(w);
        none(&control);
    }
}

#[test]
fn in_the_finish_callback_the_control_is_free_already() {
    let mut t = start();
    let w = t.world;
    let control = DriveControl::new();
    let (at_end, next) = (control.clone(), control.clone());
    DoForDuration::new(0.25, update)
        .control(&control)
        .completed(move |cx, _| {
            say(cx, format!("free: {}", at_end.elapsed().is_err()));
            let again = DoForDuration::new(0.5, update).control(&next);
            again.start(cx).unwrap();
        })
        .world(w)
        .start(&mut t.cx())
        .unwrap();
    t.tick(0.25);
    assert_eq!(log(&t), ["1: 1 250ms", "1: free: true"]);
    assert_eq!(control.remaining().unwrap(), Some(ms(500)));
}

#[test]
fn an_awaited_drive_that_has_ended_frees_its_control_also_while_its_future_is_kept() {
    let mut t = start();
    story(&mut t, "both", async |fx: FlowCx<Game>| {
        let control = DriveControl::new();
        let drive = fx.do_for_duration(0.25, update).control(&control);
        let wait = fx.delay(0.5);
        let later = async {
            wait.await?;
            tell(&fx, format!("free: {}", control.elapsed().is_err()));
            Ok::<(), FlowError>(())
        };
        let (first, second) = join(drive, later).await;
        first.and(second)
    });
    t.ticks(0.25, 2);
    assert_eq!(log(&t), ["1: 1 250ms", "2: free: true"]);
}

#[test]
fn a_second_drive_of_the_same_control_is_refused_while_the_first_runs() {
    let mut t = start();
    let w = t.world;
    let control = begin(&mut t, false, PLAIN);
    let second = DoForDuration::new(9, update)
        .control(&control)
        .on_finished(|cx, finish| say(cx, format!("{finish:?}")))
        .world(w)
        .start(&mut t.cx());
    assert!(matches!(second, Err(FlowError::ControlTaken)));
    assert_eq!(log(&t), ["1: Aborted"]);
    let theirs = control.clone();
    story(&mut t, "second", async move |fx| {
        let drive = fx.do_for_duration(9, update).control(&theirs);
        assert!(matches!(drive.await, Err(FlowError::ControlTaken)));
        tell(&fx, "refused");
        Ok(())
    });
    t.tick(0.25);
    assert_eq!(log(&t), ["2: 0.25 250ms", "2: refused"]);
    assert_eq!(control.remaining().unwrap(), Some(ms(750)), "the first's");
}

#[test]
fn a_seek_from_the_update_drops_the_rest_of_the_frame() {
    for is_async in FORMS {
        let mut t = start();
        let control = DriveControl::new();
        let (w, mine, theirs) = (t.world, control.clone(), control.clone());
        // Goes back to the start of the second lap at each end of a lap: for ever, once a frame.
        let seeking = move |cx: &mut C<'_>, alpha, delta| {
            update(cx, alpha, delta);
            if alpha >= 1.0 {
                mine.seek(1.0).unwrap();
            }
        };
        if is_async {
            story(&mut t, "drive", async move |fx| {
                fx.do_for_duration(1, seeking)
                    .control(&theirs)
                    .laps(9)
                    .await
            });
        } else {
            let drive = DoForDuration::new(1, seeking).control(&theirs).laps(9);
            drive.world(w).start(&mut t.cx()).unwrap();
        }
        t.ticks(5, 2);
        assert_eq!(log(&t), ["1: 1 1s", "2: 1 1s"], "async: {is_async}");
        assert_eq!(control.elapsed().unwrap(), ms(1_000));
    }
}

#[test]
fn a_seek_in_the_final_update_is_too_late() {
    for is_async in FORMS {
        let mut t = start();
        let control = DriveControl::new();
        let (w, mine) = (t.world, control.clone());
        let seeking = move |cx: &mut C<'_>, alpha, delta| {
            update(cx, alpha, delta);
            mine.seek(0).unwrap();
        };
        if is_async {
            story(&mut t, "drive", async move |fx| {
                fx.do_for_duration(0, seeking).control(&control).await?;
                tell(&fx, "Completed");
                Ok(())
            });
        } else {
            let drive = DoForDuration::new(0, seeking).control(&control);
            let drive = drive.completed(|cx, finish| say(cx, format!("{finish:?}")));
            drive.world(w).start(&mut t.cx()).unwrap();
        }
        t.ticks(0.25, 2);
        assert_eq!(log(&t), ["1: 1 0ns", "1: Completed"], "async: {is_async}");
    }
}

#[test]
fn the_list_shows_the_alpha_of_the_last_update() {
    for is_async in FORMS {
        let mut t = start();
        let control = begin(&mut t, is_async, PLAIN);
        let progress = |t: &mut Test| t.cx().flow_list()[0].progress;
        control.set_speed(2.0).unwrap();
        t.tick(0.25);
        assert_eq!(progress(&mut t), Progress::Alpha(0.5));
        control.seek(0.125).unwrap();
        assert_eq!(progress(&mut t), Progress::Alpha(0.5));
        t.tick(0.0625);
        assert_eq!(progress(&mut t), Progress::Alpha(0.25));
    }
}

#[test]
fn the_speed_is_over_the_drives_clock_dilation_and_pause_included() {
    for is_async in FORMS {
        let mut t = start();
        let w = t.world;
        let control = DriveControl::new();
        let theirs = control.clone();
        control.set_speed(3.0).unwrap();
        t.cx().set_dilation(w, 0.5).unwrap();
        if is_async {
            let flow = Flow::new("drive").world(w).clock(Clock::GameThroughPause);
            let drive =
                async move |fx: FlowCx<Game>| fx.do_for_duration(3, update).control(&theirs).await;
            flow.spawn(&mut t.cx(), drive).unwrap();
        } else {
            let drive = DoForDuration::new(3, update).control(&theirs);
            let drive = drive.clock(Clock::GameThroughPause).world(w);
            drive.start(&mut t.cx()).unwrap();
        }
        t.tick(0.5);
        t.cx().set_paused(w, true).unwrap();
        t.tick(0.5);
        assert_eq!(log(&t), ["1: 0.25 750ms", "2: 0.5 750ms"]);
    }
}

#[test]
fn an_awaited_drive_without_end_ends_when_its_future_is_dropped() {
    let mut t = start();
    story(&mut t, "drive", async |fx: FlowCx<Game>| {
        let drive = fx.do_for_duration(1, update).forever();
        let given_up = fx.timeout(2.0, drive).await?;
        tell(&fx, format!("{}", given_up.is_none()));
        Ok(())
    });
    t.ticks(0.5, 5);
    assert_eq!(
        log(&t),
        ["1: 0.5 500ms", "2: 1 500ms", "3: 0.5 500ms", "4: true"]
    );
}

#[test]
fn an_awaited_drive_whose_update_ends_the_flow_has_no_further_update() {
    for is_async in FORMS {
        let mut t = start();
        let w = t.world;
        let ends = |cx: &mut C<'_>, alpha, delta| {
            update(cx, alpha, delta);
            let me = cx.host().flow.unwrap();
            cx.cancel(me);
        };
        let flow = if is_async {
            story(&mut t, "drive", async move |fx| {
                fx.do_for_duration(1, ends).laps(9).await
            })
        } else {
            let drive = DoForDuration::new(1, ends).laps(9).world(w);
            drive.start(&mut t.cx()).unwrap()
        };
        t.host.flow = Some(flow);
        t.tick(5);
        assert_eq!(log(&t), ["1: 1 1s"], "async: {is_async}");
        assert!(t.cx().flow_list().is_empty());
    }
}
