//! Log capture: what the ring catches, its bound, its time, its filter.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fmt;
use std::sync::mpsc;
use std::thread;

use sc_console::{LogExt, LogRing};
use sc_core::testing::TestWorld;
use sc_core::{Cx, Extension, Runtime, Stage};
use tracing::subscriber::with_default;
use tracing::{Level, debug, error, info, trace, warn};
use tracing_subscriber::prelude::*;

fn messages(ring: &LogRing) -> Vec<String> {
    let records = ring.records();
    records.iter().map(|r| r.message.clone()).collect()
}

#[test]
fn an_event_has_level_target_message_and_fields() {
    let ring = LogRing::new();
    with_default(ring.subscriber(), || {
        let cause = std::io::Error::other("no space");
        warn!(target: "game::save", slot = 2, name = "auto", ratio = 0.5, done = false,
            list = ?[1, 2], cause = &cause as &dyn std::error::Error, "the disk is {}", "full");
        error!(alone = 1);
    });
    let records = ring.records();
    let first = &records[0];
    assert_eq!((first.level, first.target), (Level::WARN, "game::save"));
    assert_eq!(first.message, "the disk is full");
    let fields: Vec<String> = first
        .fields
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    assert_eq!(
        fields,
        [
            "slot=2",
            "name=auto",
            "ratio=0.5",
            "done=false",
            "list=[1, 2]",
            "cause=no space"
        ]
    );
    assert_eq!(records[1].to_string(), "ERROR log: alone=1");
    assert_eq!((first.number, records[1].number), (1, 2));
}

#[test]
fn its_time_is_that_of_the_runtime_in_whole_frames() {
    fn log(cx: &mut Cx<'_, ()>) {
        info!("in a frame");
        let _ = cx;
    }
    let ring = LogRing::new();
    with_default(ring.subscriber(), || {
        info!("before it is attached");
        let mut t = TestWorld::new(());
        t.tick(1.5);
        t.cx().attach_log(&ring);
        info!("between frames");
        t.cx()
            .install(Extension::new("x").on_runtime_stage(Stage::Flows, log));
        t.tick(0.25);
        let caught = ring.clone();
        assert!(
            t.cx()
                .attached_log()
                .is_some_and(|r| r.filter() == caught.filter())
        );
        thread::scope(|s| {
            let theirs = ring.subscriber();
            s.spawn(move || with_default(theirs, || info!("on a thread")));
        });
    });
    let times: Vec<(u128, u64)> = ring
        .records()
        .iter()
        .map(|r| (r.time.as_millis(), r.frame))
        .collect();
    assert_eq!(times, [(0, 0), (1500, 1), (1750, 2), (1750, 2)]);
}

#[test]
fn a_full_ring_drops_the_oldest_and_a_reader_sees_that_it_missed_some() {
    let ring = LogRing::with_capacity(3);
    with_default(ring.subscriber(), || {
        for n in 0..10 {
            info!("{n}");
        }
    });
    assert_eq!(messages(&ring), ["7", "8", "9"]);
    let numbers = |seen, at_most| -> Vec<u64> {
        let read = ring.records_after(seen, at_most);
        read.iter().map(|r| r.number).collect()
    };
    assert_eq!(numbers(0, 2), [8, 9]);
    assert_eq!(numbers(9, 2), [10]);
    assert_eq!(numbers(10, 2), []);
    assert_eq!(numbers(u64::MAX, 2), []);
    ring.clear();
    assert!(ring.records().is_empty());
    with_default(ring.subscriber(), || info!("11"));
    assert_eq!(numbers(0, 10), [11]);
    // Of none, it counts.
    let ring = LogRing::with_capacity(0);
    tracing::subscriber::with_default(ring.subscriber(), || {
        tracing::info!("one");
        tracing::info!("two");
    });
    assert_eq!(ring.records_after(0, 1).len(), 0);
}

#[test]
fn a_giant_message_is_cut_and_says_so() {
    let ring = LogRing::new();
    with_default(ring.subscriber(), || {
        info!(field = "é".repeat(10_000), "{}", "x".repeat(1_000_000))
    });
    let record = &ring.records()[0];
    assert!(record.message.ends_with("xxx.. (983616 bytes more)"));
    assert_eq!(
        record.message.len(),
        16 * 1024 + ".. (983616 bytes more)".len()
    );
    assert!(record.fields[0].1.ends_with("é.. (3616 bytes more)"));
}

#[test]
fn events_of_other_threads_are_caught() {
    let ring = LogRing::new();
    thread::scope(|s| {
        for n in 0..4 {
            let theirs = ring.subscriber();
            s.spawn(move || {
                with_default(theirs, || {
                    for m in 0..100 {
                        info!(n, m, "from a thread");
                    }
                });
            });
        }
    });
    let records = ring.records();
    assert_eq!(records.len(), 400);
    let numbers: Vec<u64> = records.iter().map(|r| r.number).collect();
    assert_eq!(numbers, (1..=400).collect::<Vec<_>>());
}

/// One place in the code that logs, so that it has one cache.
fn chatter(text: &str) {
    trace!(target: "stillcooking::probe", "{text}");
}

#[test]
fn case_g24_the_filter_takes_effect_everywhere_and_nothing_panics() {
    let ring = LogRing::new();
    let (go, wait) = mpsc::channel::<&str>();
    let (said, done) = mpsc::channel::<()>();
    let theirs = ring.subscriber();
    let thread = thread::spawn(move || {
        with_default(theirs, || {
            for text in wait {
                chatter(text);
                said.send(()).unwrap();
            }
        });
    });
    let on_the_thread = |text: &'static str| {
        go.send(text).unwrap();
        done.recv().unwrap();
    };
    with_default(ring.subscriber(), || {
        // Both places have noted that nobody listens.
        chatter("a");
        on_the_thread("b");
        ring.set_filter("stillcooking=trace").unwrap();
        chatter("c");
        on_the_thread("d");
        info!(target: "other", "off, since nothing is said about it");
        ring.set_filter("warn").unwrap();
        chatter("e");
        on_the_thread("f");
        // A bad one is an error, and the old one stays.
        for bad in [
            "",
            "stillcooking=trce",
            "trce",
            "=",
            "a=info,a=info",
            "info,,",
        ] {
            assert!(ring.set_filter(bad).is_err(), "{bad}");
        }
        assert_eq!(ring.filter(), "warn");
        chatter("g");
        warn!("h");
        ring.set_filter("off").unwrap();
        error!("i");
        ring.set_filter(" error , stillcooking::probe = TRACE ")
            .unwrap();
        assert_eq!(ring.filter(), "error,stillcooking::probe=trace");
        chatter("j");
        warn!("k");
        // Changed from another thread, and while an event is being made.
        struct Changes(LogRing);
        impl fmt::Debug for Changes {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.set_filter("off").unwrap();
                error!("not heard");
                f.write_str("changed")
            }
        }
        error!("{:?}", Changes(ring.clone()));
        error!("l");
    });
    drop(go);
    thread.join().unwrap();
    assert_eq!(messages(&ring), ["c", "d", "h", "j", "changed"]);
}

#[test]
fn the_filter_is_the_rings_own_and_others_still_get_everything() {
    let (quiet, loud) = (LogRing::new(), LogRing::new());
    let subscriber = tracing_subscriber::registry()
        .with(quiet.layer())
        .with(loud.layer());
    with_default(subscriber, || {
        quiet.set_filter("error").unwrap();
        loud.set_filter("trace").unwrap();
        for _ in 0..2 {
            debug!("details");
            error!("bad");
        }
        quiet.set_filter("off").unwrap();
        error!("worse");
    });
    assert_eq!(messages(&quiet), ["bad", "bad"]);
    assert_eq!(
        messages(&loud),
        ["details", "bad", "details", "bad", "worse"]
    );
}

#[test]
fn what_logs_while_it_is_logged_is_caught_too() {
    struct Logs;
    impl fmt::Debug for Logs {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            info!("inner");
            f.write_str("outer")
        }
    }
    let ring = LogRing::new();
    with_default(ring.subscriber(), || info!("{:?}", Logs));
    assert_eq!(
        messages(&ring),
        ["outer"],
        "tracing itself leaves events in events out"
    );
}

#[test]
fn reports_of_the_runtime_are_in_the_log() {
    let ring = LogRing::new();
    with_default(ring.subscriber(), || {
        let (mut rt, mut host) = (Runtime::<()>::new(), ());
        struct Lamp;
        impl sc_core::Tickable<()> for Lamp {}
        let mut cx = rt.cx(&mut host);
        cx.attach_log(&ring);
        let lamp = cx.spawn(Lamp);
        assert!(cx.initialize(&lamp, None).is_err());
    });
    let record = &ring.records()[0];
    assert_eq!(
        (record.level, record.target),
        (Level::ERROR, "stillcooking")
    );
    assert!(record.message.contains("to fix: "));
}

#[cfg(feature = "commands")]
#[test]
fn case_g24_the_command_sets_the_filter_and_shows_it() {
    use sc_console::{ConsoleExt, LineOutcome, Source};
    let mut t = TestWorld::new(());
    let run = |t: &mut TestWorld<()>, line: &str| {
        let run = t.cx().run_line(line, Source::Local);
        (run.outcome == LineOutcome::Done, run.text())
    };
    let (ok, text) = run(&mut t, "SC.Log.Filter");
    assert!(!ok && text.contains("no log is attached"), "{text}");
    let ring = LogRing::new();
    t.cx().attach_log(&ring);
    assert_eq!(
        run(&mut t, "sc.log.filter"),
        (true, "the log catches info".into())
    );
    let set = run(&mut t, "SC.Log.Filter stillcooking=trace");
    assert_eq!(set, (true, "the log catches stillcooking=trace".into()));
    assert_eq!(ring.filter(), "stillcooking=trace");
    let mut offered = |line: &str| -> Vec<String> {
        let found = t.cx().complete_line(line, line.len(), Source::Local);
        found.candidates.into_iter().map(|c| c.insert).collect()
    };
    assert_eq!(offered("SC.Log.Filter war"), ["warn"]);
    assert_eq!(offered("SC.Log.Filter warn,s"), ["warn,stillcooking="]);
    let levels = offered("SC.Log.Filter stillcooking=");
    assert_eq!((levels.len(), &*levels[4]), (6, "stillcooking=trace"));
    let (ok, text) = run(&mut t, "SC.Log.Filter stillcooking=trce");
    assert!(!ok && text.contains("`trce` is no log level"), "{text}");
    assert_eq!(ring.filter(), "stillcooking=trace");
}
