//! Reports: their content, the handler, the default one; and the lists for inspection.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::probe::{Game, Probe, log, ms, spawn, spawn_in, spawn_worldless, start, world};
use sc_core::{
    ManualClock, Owner, Report, ReportKind, Runtime, Severity, TickGroup, Tickable, WorldKind,
};

const ALL_KINDS: [ReportKind; 7] = [
    ReportKind::AlreadyInitialized,
    ReportKind::NoLiveWorld,
    ReportKind::OwnerDropped,
    ReportKind::RuntimeDropped,
    ReportKind::Panicked,
    ReportKind::DeltaSaturated,
    ReportKind::ReservedExtension,
];

#[test]
fn a_report_has_severity_object_world_what_happened_and_what_to_do() {
    let mut t = start();
    let level = world(&mut t, "level");
    let a = spawn_in(&mut t, level, Probe::new("spinner"));
    drop(a);
    t.tick(0.1);
    let report = t.reports.take().remove(0);
    assert_eq!(report.severity, Severity::Error);
    assert_eq!(report.kind, ReportKind::OwnerDropped);
    assert_eq!(report.object.as_deref(), Some("spinner"));
    assert_eq!(report.world.as_deref(), Some("level"));
    assert!(report.what.starts_with("destroyed while still initialized"));
    assert!(report.fix.contains("shutdown"));
    let text = report.to_string();
    for part in ["spinner", "level", &*report.what, &*report.fix] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn every_kind_has_a_fix_and_errors_are_told_from_warnings() {
    for kind in ALL_KINDS {
        assert!(!kind.fix().is_empty());
        let report = Report::new(kind, "it happened");
        assert_eq!(report.fix, kind.fix());
        assert_eq!(report.severity, kind.severity());
    }
    let warnings: Vec<_> = ALL_KINDS
        .into_iter()
        .filter(|k| k.severity() == Severity::Warning)
        .collect();
    assert_eq!(
        warnings,
        [ReportKind::AlreadyInitialized, ReportKind::DeltaSaturated]
    );
    assert!(Severity::Error > Severity::Warning);
}

#[test]
fn a_report_names_what_it_has() {
    let plain = Report::new(ReportKind::Panicked, "boom");
    let fix = "fix the panic; the object is uninitialized and does not tick until it is \
               initialized again";
    assert_eq!(plain.to_string(), format!("boom; to fix: {fix}"));
    assert_eq!(
        plain.clone().object("a").to_string(),
        format!("a: boom; to fix: {fix}")
    );
    assert_eq!(
        plain.clone().world("w").to_string(),
        format!("world `w`: boom; to fix: {fix}")
    );
    assert_eq!(
        plain.object("a").world("w").to_string(),
        format!("a (world `w`): boom; to fix: {fix}")
    );
}

#[test]
fn what_starts_in_a_dying_world_is_told_with_that_worlds_name() {
    let mut t = start();
    let level = world(&mut t, "level");
    let _a = spawn_in(
        &mut t,
        level,
        Probe::new("a").on_tick(move |cx| {
            cx.destroy_world(level);
            assert!(cx.spawn_in(level, Probe::new("late")).is_err());
        }),
    );
    t.tick(0.1);
    let report = t.reports.take().remove(0);
    assert_eq!(report.object.as_deref(), Some("late"));
    assert_eq!(report.world.as_deref(), Some("level"));
}

#[test]
fn the_handler_is_replaceable_and_there_is_one_a_runtime() {
    let mut t = start();
    let mut u = start();
    let seen = t.host.log.clone();
    t.rt.set_report_handler({
        let seen = seen.clone();
        move |report| seen.add(report.object.clone().unwrap())
    });
    drop(spawn(&mut t, Probe::new("in t")));
    drop(spawn(&mut u, Probe::new("in u")));
    t.tick(0.1);
    u.tick(0.1);
    assert_eq!(seen.take(), ["in t"]);
    assert!(t.reports.take().is_empty(), "the old handler is out");
    assert_eq!(u.reports.take().len(), 1);
}

#[test]
fn user_code_may_send_a_report_of_its_own() {
    let mut t = start();
    let sent = Report::new(ReportKind::NoLiveWorld, "no level yet").object("door");
    t.cx().report(sent.clone());
    assert_eq!(t.reports.take(), [sent]);
    assert_eq!(t.tick(0.1).reports, 1);
}

/// Keeps every `tracing` event as a line: level, target, fields.
#[derive(Clone, Default)]
struct Events(Arc<Mutex<Vec<String>>>);

impl tracing::field::Visit for Line {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
        write!(self.0, " {field}={value:?}").unwrap();
    }
}

struct Line(String);

impl tracing::Subscriber for Events {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }
    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
    fn event(&self, event: &tracing::Event<'_>) {
        let of = event.metadata();
        let mut line = Line(format!("{} {}", of.level(), of.target()));
        event.record(&mut line);
        self.0.lock().unwrap().push(line.0);
    }
    fn enter(&self, _: &tracing::span::Id) {}
    fn exit(&self, _: &tracing::span::Id) {}
}

#[test]
fn the_default_handler_is_the_tracing_target_stillcooking() {
    struct Lamp;
    impl Tickable<()> for Lamp {}
    let events = Events::default();
    tracing::subscriber::with_default(events.clone(), || {
        let (mut rt, mut host) = (Runtime::<()>::new(), ());
        let mut cx = rt.cx(&mut host);
        let w = cx.create_world(WorldKind::Game).unwrap();
        let lamp = cx.spawn_in(w, Lamp).unwrap();
        assert!(cx.initialize(&lamp, w).is_err());
        drop(lamp);
        rt.tick_secs(&mut host, 0.1).unwrap();
    });
    let lines = events.0.lock().unwrap();
    assert_eq!(lines.len(), 2, "{lines:?}");
    for (line, level) in lines
        .iter()
        .zip(["WARN stillcooking", "ERROR stillcooking"])
    {
        assert!(line.starts_with(level), "{line}");
        for part in ["Lamp", "game 1", "to fix: "] {
            assert!(line.contains(part), "{line}");
        }
    }
    assert!(lines[1].contains("destroyed while still initialized"));
}

#[test]
fn the_list_shows_worlds_in_creation_order_then_worldless_by_group_and_order() {
    let mut t = start();
    let second = world(&mut t, "second");
    let _owners = [
        spawn_worldless(&mut t, Probe::new("m")),
        spawn_in(&mut t, second, Probe::new("s")),
        spawn(&mut t, Probe::new("late").group(TickGroup::PostUpdate)),
        spawn(&mut t, Probe::new("a")),
        spawn(&mut t, Probe::new("early").group(TickGroup::PrePhysics)),
        spawn(&mut t, Probe::new("b")),
    ];
    let uninitialized = t.cx().spawn(Probe::new("not listed"));
    let list = t.rt.tick_list();
    let shown: Vec<_> = list.iter().map(|i| (i.name.as_str(), i.group)).collect();
    assert_eq!(
        shown,
        [
            ("early", Some(TickGroup::PrePhysics)),
            ("a", Some(TickGroup::PostPhysics)),
            ("b", Some(TickGroup::PostPhysics)),
            ("late", Some(TickGroup::PostUpdate)),
            ("s", Some(TickGroup::PostPhysics)),
            ("m", None),
        ]
    );
    assert_eq!(list[0].world, Some(t.world));
    assert_eq!(list[4].world, Some(second));
    assert_eq!((list[5].world, list[5].worldless), (None, true));
    let info = t.cx().tick_info(&uninitialized).unwrap();
    assert_eq!(
        (info.initialized, info.world, info.worldless),
        (false, None, false)
    );
}

#[test]
fn the_list_shows_prerequisites_order() {
    let mut t = start();
    let a = spawn(&mut t, Probe::new("a"));
    let b = spawn(&mut t, Probe::new("b"));
    t.cx().configure(&a).unwrap().after(&b).apply().unwrap();
    let names: Vec<_> = t.rt.tick_list().into_iter().map(|i| i.name).collect();
    assert_eq!(names, ["b", "a"]);
}

#[test]
fn an_entry_shows_interval_intent_next_due_and_ticks_run() {
    let mut t = start();
    let a = spawn(&mut t, Probe::new("a").interval(1.0));
    let info = |t: &mut crate::probe::Test, a: &Owner<Probe>| t.cx().tick_info(a).unwrap();
    let first = info(&mut t, &a);
    assert_eq!(first.id, a.id());
    assert_eq!(first.name, "a");
    assert_eq!(first.interval, ms(1000));
    assert!(first.initialized && first.enabled);
    assert_eq!(first.next_due, Some(ms(1000)));
    assert_eq!((first.ticks, first.carry), (0, ms(0)));
    t.tick(0.75);
    let now = info(&mut t, &a);
    assert_eq!(
        (now.next_due, now.carry, now.ticks),
        (Some(ms(250)), ms(750), 0)
    );
    t.tick(0.75);
    let now = info(&mut t, &a);
    assert_eq!(
        (now.next_due, now.carry, now.ticks),
        (Some(ms(500)), ms(500), 1)
    );
    t.cx().set_tick_enabled(&a, false).unwrap();
    let now = info(&mut t, &a);
    assert_eq!((now.enabled, now.next_due, now.ticks), (false, None, 1));
    let plain = spawn(&mut t, Probe::new("b"));
    t.ticks(0.1, 3);
    let now = info(&mut t, &plain);
    assert_eq!(
        (now.next_due, now.interval, now.ticks),
        (None, Duration::ZERO, 3)
    );
}

#[test]
fn an_entry_shows_itself_while_it_runs() {
    let mut t = start();
    let _a = spawn(
        &mut t,
        Probe::new("a").on_tick(|cx| {
            let me = cx.current_object().unwrap();
            let info = cx.tick_info(me).unwrap();
            assert_eq!((info.ticks, info.initialized), (1, true));
        }),
    );
    t.tick(0.1);
    assert_eq!(log(&t), ["tick a"]);
}

/// The last and total time of an object whose ticks take 3, then 5 ms.
fn times(stopwatch: bool, profiling: bool, interval: f64) -> (Option<Duration>, Option<Duration>) {
    let mut t = start();
    let clock = ManualClock::default();
    if stopwatch {
        t.rt.set_stopwatch(clock.clone());
    }
    t.rt.set_profiling(profiling);
    assert_eq!(t.rt.has_stopwatch(), stopwatch);
    let a = spawn(
        &mut t,
        Probe::new("a").interval(interval).on_tick(move |cx| {
            clock.advance(ms(if cx.frame() == 1 { 3 } else { 5 }));
        }),
    );
    t.ticks(0.1, 2);
    let info = t.cx().tick_info(&a).unwrap();
    assert_eq!(info.ticks, 2);
    (info.last_time, info.total_time)
}

#[test]
fn last_and_total_time_are_there_stopwatch_permitting() {
    for interval in [0.0, 0.1] {
        let both = (Some(ms(5)), Some(ms(8)));
        assert_eq!(times(true, true, interval), both);
        assert_eq!(times(true, false, interval), (None, None));
        assert_eq!(times(false, true, interval), (None, None));
    }
}

#[test]
fn a_dead_owners_object_is_on_no_list() {
    let mut t = start();
    let a = spawn(&mut t, Probe::new("a"));
    let key = a.key();
    drop(a);
    assert!(t.rt.tick_list().is_empty());
    assert!(t.cx().tick_info(key).is_err());
    let _: &Game = &t.host;
}
