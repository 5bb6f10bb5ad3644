//! Never silent: the two warnings with their thresholds, and the list of live flows.

use std::time::Duration;

use crate::probe::{C, Test, reports, start, story, thing};
use sc_core::{Clock, Extension, Severity, secs};
use sc_flow::{
    DoForDuration, Flow, FlowError, FlowExt, FlowId, FlowKind, ForEach, Progress, Step, WaitUntil,
    WaitingFor,
};

fn parked(t: &mut Test, delay: f64) -> FlowId {
    let w = t.world;
    ForEach::index(10)
        .delay(delay)
        .each(|_: &mut C<'_>, _| Step::Suspend)
        .name("open the doors")
        .world(w)
        .start(&mut t.cx())
        .unwrap()
}

fn endless(t: &mut Test) -> FlowId {
    let w = t.world;
    WaitUntil::new(|cx: &mut C<'_>, _| cx.host().open)
        .name("for the boss")
        .world(w)
        .start(&mut t.cx())
        .unwrap()
}

#[test]
fn a_loop_parked_for_longer_than_30_seconds_is_warned_of_once() {
    let mut t = start();
    parked(&mut t, 0.0);
    t.ticks(1, 30);
    assert_eq!(reports(&t), [""; 0]);
    t.ticks(1, 2);
    let made = t.reports.take();
    assert_eq!(made.len(), 1);
    let report = &made[0];
    assert_eq!(report.severity, Severity::Warning);
    assert_eq!(report.object.as_deref(), Some("open the doors"));
    assert_eq!(report.world.as_deref(), Some("game 1"));
    assert!(report.what.contains("index 1 of 10"), "{}", report.what);
    assert!(report.what.contains("30s") || report.what.contains("31s"));
    assert!(report.fix.contains("continue_loop"), "what would end it");
    assert!(report.fix.contains("set_suspended_loop_warning"));
    t.ticks(1, 100);
    assert_eq!(reports(&t), [""; 0]);
}

#[test]
fn a_wait_without_deadline_for_longer_than_30_seconds_is_warned_of_once() {
    let mut t = start();
    endless(&mut t);
    t.ticks(1, 29);
    assert_eq!(reports(&t), [""; 0]);
    t.ticks(1, 3);
    let made = t.reports.take();
    assert_eq!(made.len(), 1);
    let report = &made[0];
    assert_eq!(report.severity, Severity::Warning);
    assert_eq!(report.object.as_deref(), Some("for the boss"));
    assert_eq!(report.world.as_deref(), Some("game 1"));
    assert!(report.what.contains("attempts"), "{}", report.what);
    assert!(report.fix.contains("timeout"), "what would end it");
    assert!(report.fix.contains("set_wait_until_warning"));
    t.ticks(1, 100);
    assert_eq!(reports(&t), [""; 0]);
}

#[test]
fn a_wait_with_a_deadline_and_a_loop_that_only_sleeps_are_not_warned_of() {
    let mut t = start();
    let w = t.world;
    WaitUntil::new(|_: &mut C<'_>, _| false)
        .timeout(1000)
        .world(w)
        .start(&mut t.cx())
        .unwrap();
    ForEach::index(3)
        .delay(500)
        .each(|_: &mut C<'_>, _| ())
        .world(w)
        .start(&mut t.cx())
        .unwrap();
    story(&mut t, "sleeper", async |fx| fx.delay(1000).await);
    t.ticks(1, 200);
    assert_eq!(reports(&t), [""; 0]);
}

#[test]
fn an_awaited_wait_without_deadline_is_warned_of_too() {
    let mut t = start();
    story(&mut t, "boss intro", async |fx| {
        fx.wait_until(|_, _| false).await?;
        Ok(())
    });
    t.ticks(1, 60);
    let made = t.reports.take();
    assert_eq!(made.len(), 1);
    assert_eq!(made[0].object.as_deref(), Some("boss intro"));
}

#[test]
fn a_wait_that_polls_seldom_is_warned_of_in_time() {
    let mut t = start();
    let w = t.world;
    WaitUntil::new(|_: &mut C<'_>, _| false)
        .every(100)
        .world(w)
        .start(&mut t.cx())
        .unwrap();
    t.ticks(1, 35);
    assert_eq!(reports(&t), ["EndlessWait"]);
}

#[test]
fn the_warning_of_a_wait_comes_before_the_poll_of_its_tick() {
    let mut t = start();
    endless(&mut t);
    t.ticks(1, 20);
    t.host.open = true;
    t.tick(20);
    assert!(t.cx().flow_list().is_empty());
    assert_eq!(reports(&t), ["EndlessWait"]);
}

#[test]
fn a_loop_that_was_continued_is_not_parked_any_more() {
    let mut t = start();
    let flow = parked(&mut t, 100.0);
    t.ticks(1, 5);
    assert!(t.cx().continue_loop(flow));
    t.ticks(1, 60);
    assert_eq!(reports(&t), [""; 0], "it sleeps for its delay");
}

#[test]
fn each_parking_counts_by_itself() {
    let mut t = start();
    let flow = parked(&mut t, 0.0);
    for _ in 0..4 {
        t.ticks(1, 20);
        assert!(t.cx().continue_loop(flow));
    }
    assert_eq!(reports(&t), [""; 0]);
}

#[test]
fn a_flow_is_warned_of_once_however_often_it_is_parked() {
    let mut t = start();
    let w = t.world;
    let flow = ForEach::index(10)
        .each(|_: &mut C<'_>, i| {
            if i % 2 == 0 {
                Step::Suspend
            } else {
                Step::Continue
            }
        })
        .world(w)
        .start(&mut t.cx())
        .unwrap();
    for _ in 0..3 {
        t.ticks(1, 40);
        assert!(t.cx().continue_loop(flow));
    }
    assert_eq!(reports(&t), ["LoopParked"]);
}

#[test]
fn the_thresholds_can_be_set_and_0_or_less_is_off() {
    for off in [0.0, -1.0] {
        let mut t = start();
        let mut cx = t.cx();
        cx.set_suspended_loop_warning(secs(off)).unwrap();
        cx.set_wait_until_warning(secs(off)).unwrap();
        parked(&mut t, 0.0);
        endless(&mut t);
        t.ticks(10, 100);
        assert_eq!(reports(&t), [""; 0]);
        // Set later it holds for those that wait already.
        t.cx().set_suspended_loop_warning(secs(5)).unwrap();
        t.cx().set_wait_until_warning(secs(5)).unwrap();
        t.tick(1);
        let mut names = reports(&t);
        names.sort();
        assert_eq!(names, ["EndlessWait", "LoopParked"]);
    }
    let mut t = start();
    t.cx().set_wait_until_warning(secs(2)).unwrap();
    parked(&mut t, 0.0);
    endless(&mut t);
    t.ticks(1, 5);
    assert_eq!(reports(&t), ["EndlessWait"]);
}

#[test]
fn a_bad_threshold_is_refused_and_the_old_one_stays() {
    let mut t = start();
    for bad in [f64::NAN, f64::INFINITY] {
        let mut cx = t.cx();
        let refused = cx.set_suspended_loop_warning(secs(bad));
        assert!(matches!(refused, Err(FlowError::BadTime(_))));
        let refused = cx.set_wait_until_warning(secs(bad));
        assert!(matches!(refused, Err(FlowError::BadTime(_))));
    }
    parked(&mut t, 0.0);
    t.ticks(1, 35);
    assert_eq!(reports(&t), ["LoopParked"]);
}

#[test]
fn thresholds_are_real_time_whatever_the_world_does() {
    let mut t = start();
    let w = t.world;
    parked(&mut t, 0.0);
    endless(&mut t);
    t.tick(1);
    t.cx().set_dilation(w, 0.01).unwrap();
    t.cx().set_paused(w, true).unwrap();
    t.ticks(1, 40);
    let mut names = reports(&t);
    names.sort();
    assert_eq!(names, ["EndlessWait", "LoopParked"]);
}

#[test]
fn the_list_names_every_live_flow_in_order_of_start_with_all_about_it() {
    let mut t = start();
    let w = t.world;
    let owner = thing(&mut t);
    let life = t.cx().life(&owner).unwrap();
    let before = line!();
    let looped = parked(&mut t, 0.0);
    let drive = DoForDuration::new(8, |_: &mut C<'_>, _, _| ())
        .name("fade")
        .owner(&owner)
        .world(w)
        .start(&mut t.cx())
        .unwrap();
    let wait = endless(&mut t);
    let sleeping = WaitUntil::new(|_: &mut C<'_>, _| false)
        .every(5)
        .timeout(60)
        .world(w)
        .start(&mut t.cx())
        .unwrap();
    let above = line!();
    let flow = Flow::new("story").runtime().clock(Clock::Real);
    let story = flow
        .spawn(&mut t.cx(), async |fx| fx.delay(9).await)
        .unwrap();
    let below = line!();
    let list = t.cx().flow_list();
    let ids: Vec<_> = list.iter().map(|info| info.id).collect();
    assert_eq!(ids, [looped, drive, wait, sleeping, story]);
    for info in &list {
        assert_eq!(info.waiting_for, WaitingFor::Start);
    }
    t.ticks(1, 2);
    let list = t.cx().flow_list();
    let names: Vec<_> = list.iter().map(|info| info.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "open the doors",
            "fade",
            "for the boss",
            "wait until",
            "story"
        ]
    );
    let kinds: Vec<_> = list.iter().map(|info| info.kind).collect();
    assert_eq!(
        kinds,
        [
            FlowKind::ForEach,
            FlowKind::DoForDuration,
            FlowKind::WaitUntil,
            FlowKind::WaitUntil,
            FlowKind::Async
        ]
    );
    let worlds: Vec<_> = list.iter().map(|info| info.world).collect();
    assert_eq!(worlds, [Some(w), Some(w), Some(w), Some(w), None]);
    let owners: Vec<_> = list.iter().map(|info| info.owner).collect();
    assert_eq!(owners, [None, Some(life), None, None, None]);
    let progress: Vec<_> = list.iter().map(|info| info.progress).collect();
    assert_eq!(
        progress[..4],
        [
            Progress::Index {
                next: 1,
                of: Some(10)
            },
            Progress::Alpha(0.25),
            Progress::Attempts(2),
            Progress::Attempts(0),
        ]
    );
    assert_eq!(list[0].waiting_for, WaitingFor::Continue);
    assert_eq!(list[0].waiting, Duration::from_secs(1), "since frame 1");
    assert_eq!(list[1].waiting_for, WaitingFor::NextFrame);
    assert_eq!(list[2].waiting_for, WaitingFor::Condition);
    let at = list[4].started_at;
    assert!(at.file().ends_with("never_silent.rs"));
    assert!(above < at.line() && at.line() < below, "{at}");
    assert!(
        list[0].started_at.line() < before,
        "in the helper that starts it"
    );
    assert_eq!(t.cx().flow(drive).unwrap(), list[1]);
    let lines = t.rt.inspect("sc.flow").unwrap();
    assert_eq!(lines.len(), 5);
    assert!(lines[1].contains("fade") && lines[1].contains("never_silent.rs"));
}

#[test]
fn every_way_of_starting_knows_where_it_was_called() {
    let mut t = start();
    let w = t.world;
    let _script = crate::probe::on_tick(&mut t, |cx| {
        if cx.frame() == 1 {
            cx.spawn_flow("a", async |fx| fx.delay(9).await).unwrap();
            drop(cx.spawn_task("b", async |fx| fx.delay(9).await).unwrap());
        }
    });
    let mut cx = t.cx();
    let flow = Flow::new("c").world(w);
    let task = flow.spawn_task(&mut cx, async |fx| fx.delay(9).await);
    drop(task.unwrap());
    let drive = DoForDuration::new(9, |_: &mut C<'_>, _, _| ()).world(w);
    drive.start(&mut cx).unwrap();
    t.tick(1);
    let list = t.cx().flow_list();
    assert_eq!(list.len(), 4);
    for info in list {
        let file = info.started_at.file();
        assert!(file.ends_with("never_silent.rs"), "{}: {file}", info.name);
    }
}

#[test]
fn a_story_is_listed_with_what_it_waits_for_and_since_when() {
    let mut t = start();
    let flow = story(&mut t, "story", async |fx| {
        fx.delay(2).await?;
        fx.delay(10).await
    });
    t.ticks(1, 5);
    let info = t.cx().flow(flow).unwrap();
    assert_eq!(info.waiting, Duration::from_secs(3), "the second delay");
}

#[test]
fn a_story_that_has_begun_waits_for_what_it_awaits() {
    let mut t = start();
    let delay = story(&mut t, "delay", async |fx| fx.delay(99).await);
    let ticks = story(&mut t, "ticks", async |fx| {
        loop {
            fx.next_tick().await?;
        }
    });
    t.tick(1);
    for flow in [delay, ticks] {
        let info = t.cx().flow(flow).unwrap();
        assert_eq!(info.waiting_for, WaitingFor::Await, "{}", info.name);
    }
}

#[test]
fn a_story_is_listed_with_the_progress_of_the_node_it_awaits() {
    let mut t = start();
    let looped = story(&mut t, "loop", async |fx| {
        fx.for_each_with_delay(10, 5, async |_| ()).await?;
        Ok(())
    });
    let drive = story(&mut t, "drive", async |fx| {
        fx.do_for_duration(8, |_, _, _| ()).await
    });
    let wait = story(&mut t, "wait", async |fx| {
        fx.wait_until(|_, _| false).await?;
        Ok(())
    });
    t.ticks(1, 2);
    let mut progress = |flow| t.cx().flow(flow).unwrap().progress;
    assert_eq!(
        progress(looped),
        Progress::Index {
            next: 1,
            of: Some(10)
        }
    );
    assert_eq!(progress(drive), Progress::Alpha(0.25));
    assert_eq!(progress(wait), Progress::Attempts(2));
}

#[test]
fn thresholds_can_be_set_whatever_the_host_before_there_is_a_flow() {
    use sc_core::testing::TestWorld;
    use sc_core::{AnyCx, Cx};
    use sc_flow::AnyFlowExt;
    let mut t = TestWorld::new(());
    let world = t.world;
    let mut cx = t.cx();
    let any: &mut dyn AnyCx = &mut cx;
    assert!(any.set_wait_until_warning(secs(f64::NAN)).is_err());
    any.set_wait_until_warning(secs(5)).unwrap();
    any.set_suspended_loop_warning(secs(0)).unwrap();
    assert!(any.flow_names().is_empty());
    WaitUntil::new(|_: &mut Cx<'_, ()>, _| false)
        .name("waits")
        .world(world)
        .start(&mut cx)
        .unwrap();
    ForEach::index(3)
        .each(|_: &mut Cx<'_, ()>, _| Step::Suspend)
        .name("loops")
        .world(world)
        .start(&mut cx)
        .unwrap();
    t.ticks(1.0, 8);
    let reports = t.reports.take();
    assert_eq!(reports.len(), 1, "{reports:?}");
    assert_eq!(reports[0].object.as_deref(), Some("waits"));
    // With flows there, too.
    let mut cx = t.cx();
    let any: &mut dyn AnyCx = &mut cx;
    any.set_suspended_loop_warning(secs(2)).unwrap();
    assert_eq!(any.flow_names(), ["waits", "loops"]);
    t.ticks(1.0, 1);
    let reports = t.reports.take();
    assert_eq!(reports.len(), 1, "{reports:?}");
    assert_eq!(reports[0].object.as_deref(), Some("loops"));
    let mut cx = t.cx();
    let any: &mut dyn AnyCx = &mut cx;
    assert_eq!(any.cancel_flows_named("loops"), 1);
    assert_eq!(any.flow_names(), ["waits"]);
}

#[test]
fn an_extension_of_a_program_may_be_called_as_ours_is() {
    let mut t = start();
    assert!(t.cx().install(Extension::new("flow")));
    let flow = endless(&mut t);
    t.host.open = true;
    t.tick(0.1);
    assert!(matches!(t.cx().flow(flow), Err(FlowError::Gone)));
}
