//! The worst one can pass: a typed error, nothing half done, no panic.

use crate::probe::{C, Test, log, say, start, story, tell, thing};
use sc_core::{TimeError, secs};
use sc_flow::{DoForDuration, Flow, FlowError, FlowExt, ForEach, WaitUntil};

const BAD: [f64; 4] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300];

fn is_bad_time<T>(result: Result<T, FlowError>) -> bool {
    matches!(result, Err(FlowError::BadTime(_)))
}

#[test]
fn every_time_of_a_builder_is_checked_by_the_start() {
    let mut t = start();
    let w = t.world;
    let each = || ForEach::index(3).each(|_: &mut C<'_>, _| ()).world(w);
    let wait = || WaitUntil::new(|_: &mut C<'_>, _| true).world(w);
    for bad in BAD {
        let mut cx = t.cx();
        assert!(is_bad_time(each().delay(bad).start(&mut cx)), "{bad}");
        assert!(is_bad_time(each().budget(bad).start(&mut cx)), "{bad}");
        let drive = DoForDuration::new(bad, |_: &mut C<'_>, _, _| ()).world(w);
        assert!(is_bad_time(drive.start(&mut cx)), "{bad}");
        assert!(is_bad_time(wait().every(bad).start(&mut cx)), "{bad}");
        assert!(is_bad_time(wait().timeout(bad).start(&mut cx)), "{bad}");
        let immediately = wait().check_immediately().timeout(bad);
        assert!(is_bad_time(immediately.start(&mut cx)), "{bad}");
    }
    assert!(t.cx().flow_list().is_empty());
    t.tick(1);
    assert!(t.reports.take().is_empty());
}

#[test]
fn every_time_of_an_await_is_checked_by_it() {
    let mut t = start();
    story(&mut t, "story", async |fx| {
        for bad in BAD {
            assert!(is_bad_time(fx.delay(bad).await), "{bad}");
            assert!(is_bad_time(fx.pace(bad)), "{bad}");
            assert!(is_bad_time(fx.timeout(bad, fx.delay(1)).await), "{bad}");
            let each = fx.for_each_with_delay(3, bad, async |_| ());
            assert!(is_bad_time(each.await), "{bad}");
            let drive = fx.do_for_duration(bad, |_, _, _| ());
            assert!(is_bad_time(drive.await), "{bad}");
            let wait = fx.wait_until(|_, _| true);
            assert!(is_bad_time(wait.every(bad).await), "{bad}");
            let wait = fx.wait_until(|_, _| true);
            assert!(is_bad_time(wait.timeout(bad).await), "{bad}");
        }
        tell(&fx, "all refused");
        Ok(())
    });
    t.tick(1);
    assert_eq!(log(&t), ["1: all refused"]);
}

#[test]
fn a_refused_time_says_which_and_what_to_do() {
    let mut t = start();
    let w = t.world;
    let drive = DoForDuration::new(secs(f64::NAN), |_: &mut C<'_>, _, _| ()).world(w);
    let error = drive.start(&mut t.cx()).unwrap_err();
    assert!(matches!(error, FlowError::BadTime(TimeError::NotANumber)));
    assert!(error.to_string().contains("NaN"), "{error}");
    let drive = DoForDuration::new(0, |_: &mut C<'_>, _, _| ()).world(w);
    let error = drive.forever().start(&mut t.cx()).unwrap_err();
    assert!(error.to_string().contains("positive duration"), "{error}");
}

#[test]
fn the_longest_time_there_is_does_not_overflow() {
    let mut t = start();
    let w = t.world;
    t.tick(10);
    // 2^64 ns are 584 years.
    let ages = 1.8e10;
    ForEach::index(3)
        .delay(ages)
        .delay_before_first(true)
        .each(|cx: &mut C<'_>, _| say(cx, "never"))
        .world(w)
        .start(&mut t.cx())
        .unwrap();
    WaitUntil::new(|_: &mut C<'_>, _| false)
        .every(ages)
        .timeout(ages)
        .timed_out(|cx| say(cx, "never"))
        .world(w)
        .start(&mut t.cx())
        .unwrap();
    story(&mut t, "delay", async move |fx| {
        fx.delay(ages).await?;
        tell(&fx, "never");
        Ok(())
    });
    story(&mut t, "ticks", async move |fx| {
        fx.ticks(u64::MAX).await?;
        tell(&fx, "never");
        Ok(())
    });
    story(&mut t, "pace", async move |fx| {
        fx.pace(ages)?.next().await?;
        tell(&fx, "never");
        Ok(())
    });
    t.ticks(1e6, 3);
    assert_eq!(log(&t), [""; 0]);
    assert_eq!(t.cx().flow_list().len(), 5);
}

#[test]
fn any_name_is_a_name() {
    let mut t = start();
    let w = t.world;
    for name in ["", "two\nlines", "{}", "emoji \u{1f980}", "\0"] {
        let flow = Flow::new(name).world(w);
        let flow = flow.spawn(&mut t.cx(), async |fx| fx.delay(9).await);
        let flow = flow.unwrap();
        assert_eq!(t.cx().flow(flow).unwrap().name, name);
        assert_eq!(t.cx().cancel_flows_named(name), 1);
    }
    let owned = format!("door {}", 7);
    let wait = WaitUntil::new(|_: &mut C<'_>, _| false).name(owned);
    let wait = wait.world(w).start(&mut t.cx()).unwrap();
    assert_eq!(t.cx().flow(wait).unwrap().name, "door 7");
}

#[test]
fn an_id_of_another_runtime_reaches_nothing_it_should_not() {
    let mut t = start();
    let mut other = start();
    let flow = story(&mut t, "story", async |fx| fx.delay(9).await);
    let mut cx = other.cx();
    assert!(matches!(cx.flow(flow), Err(FlowError::Gone)));
    assert!(!cx.cancel(flow) && !cx.continue_loop(flow));
    assert!(t.cx().flow(flow).is_ok());
}

#[test]
fn an_owner_that_is_gone_is_refused_and_so_is_the_object_of_a_condition() {
    let mut t = start();
    let w = t.world;
    let owner = thing(&mut t);
    let id = owner.id();
    drop(owner);
    t.tick(1);
    let mut cx = t.cx();
    let flow = Flow::new("orphan").world(w).owner(id);
    let error = flow.spawn(&mut cx, async |_| Ok(())).unwrap_err();
    assert!(matches!(error, FlowError::NoOwner { .. }));
    assert!(error.to_string().contains("orphan"), "{error}");
    let wait = WaitUntil::condition_of(id, |_: &mut C<'_>, _| true);
    let error = wait.world(w).start(&mut cx).unwrap_err();
    assert!(matches!(error, FlowError::NoOwner { .. }));
    assert!(t.cx().flow_list().is_empty());
}

#[test]
fn calls_for_other_kinds_of_flow_do_nothing() {
    let mut t: Test = start();
    let w = t.world;
    let flow = story(&mut t, "story", async |fx| fx.delay(9).await);
    let drive = DoForDuration::new(9, |_: &mut C<'_>, _, _| ()).world(w);
    let drive = drive.start(&mut t.cx()).unwrap();
    t.tick(1);
    assert!(!t.cx().continue_loop(flow));
    assert!(!t.cx().continue_loop(drive));
    assert_eq!(t.cx().flow_list().len(), 2);
    assert_eq!(t.cx().cancel_flows_in(None), 0);
}
