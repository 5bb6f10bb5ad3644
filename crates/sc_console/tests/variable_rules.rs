//! What is said of a value that is refused; who counts more while a variable is not there; what is told of
//! a value that is set and set back; variables that are another part's setting.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![cfg(feature = "commands")]

use sc_console::{
    ConsoleExt, LineOutcome, SetBy, SetOutcome, Source, VariableDef, VariableError, VariableExt,
    command, variable,
};
use sc_core::testing::TestWorld;
use sc_core::{AnyCx, Cx, PanicPolicy};

variable! {
    /// Seconds between two saves.
    AUTOSAVE = My.Autosave: f64 = 60.0, range 1.0..=3600.0, special 0.0 => "never"
}
variable! {
    /// How many play.
    PLAYERS = My.Players: u32 = 2, range 1..=16
}
command! {
    /// Takes a small number.
    My.Pin [anytime] (
        /// Which.
        #[range = 0..=9999]
        pin: u32,
    ) |_cx: &mut Cx<'_, Vec<u32>>, _out| { let _ = pin; Ok(()) }
}

fn world() -> TestWorld<Vec<u32>> {
    TestWorld::new(Vec::new())
}

fn said(t: &mut TestWorld<Vec<u32>>, line: &str) -> String {
    let run = t.cx().run_line(line, Source::Local);
    assert_eq!(run.outcome, LineOutcome::Failed, "{}", run.text());
    let text = run.text();
    text.lines()
        .last()
        .unwrap()
        .trim_start_matches(['^', ' '])
        .to_owned()
}

#[test]
fn what_is_no_number_is_refused_with_the_range() {
    let mut t = world();
    let save = "expected f64 from 1.0 up to 3600.0, or 0.0 (never)";
    for word in ["nan", "NaN", "inf", "x", "4000", "-1", "1e999"] {
        assert_eq!(said(&mut t, &format!("my.autosave {word}")), save, "{word}");
    }
    for value in [f64::NAN, f64::INFINITY, -1.0, 0.5] {
        let error = t.cx().set_var(AUTOSAVE, value).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("`My.Autosave` was not set: {save}")
        );
    }
    for word in ["-1", "17", "2.5", "x", "99999999999"] {
        assert_eq!(
            said(&mut t, &format!("my.players {word}")),
            "expected u32 from 1 up to 16"
        );
        assert_eq!(
            said(&mut t, "my.pin -1"),
            "pin: expected u32 from 0 up to 9999"
        );
    }
    assert_eq!((t.cx().var(AUTOSAVE), t.cx().var(PLAYERS)), (60.0, 2));
}

#[test]
fn who_counts_less_is_told_so_while_a_value_waits() {
    let mut t = world();
    let set = |t: &mut TestWorld<Vec<u32>>, text, by| t.cx().set_var_text("Late.Value", text, by);
    assert_eq!(
        set(&mut t, "1", SetBy::CommandLine),
        Ok(SetOutcome::Waiting)
    );
    assert_eq!(
        set(&mut t, "2", SetBy::ConfigFile),
        Err(VariableError::LowerPriority {
            name: "Late.Value".into(),
            by: SetBy::CommandLine,
            asked: SetBy::ConfigFile,
        })
    );
    let key = t
        .cx()
        .register_variable(VariableDef::new("Late.Value", 9_u32).runtime())
        .unwrap();
    assert_eq!(t.cx().get_var(key), Ok(1));
}

#[test]
fn the_file_counts_for_the_next_of_the_name_though_this_one_was_set_by_hand() {
    let mut t = world();
    let door = || VariableDef::new("Door.Speed", 2_u32).runtime();
    t.cx().register_variable(door()).unwrap();
    t.cx()
        .set_var_text("Door.Speed", "9", SetBy::Console)
        .unwrap();
    let lower = t.cx().set_var_text("Door.Speed", "3", SetBy::ConfigFile);
    assert!(matches!(lower, Err(VariableError::LowerPriority { .. })));
    // Not what is no value at all.
    assert!(
        t.cx()
            .set_var_text("Door.Speed", "x", SetBy::CommandLine)
            .is_err()
    );
    assert_eq!(t.cx().var_info("Door.Speed").unwrap().value, "9");
    t.cx().unregister_entry("Door.Speed");
    let key = t.cx().register_variable(door()).unwrap();
    assert_eq!(t.cx().get_var(key), Ok(3));
}

#[test]
fn a_value_that_is_set_and_set_back_is_told_of_to_nobody() {
    let mut t = world();
    let key = t
        .cx()
        .register_variable(VariableDef::new("My.Back", 1_u32).runtime())
        .unwrap();
    let guard = t.cx().on_var_change(key, move |cx, now| {
        cx.host_mut().push(*now);
        cx.set_var(key, 100).unwrap();
        cx.set_var(key, *now).unwrap();
    });
    let _guard = guard.unwrap();
    t.cx().set_var(key, 5).unwrap();
    assert_eq!(t.host, [5]);
    assert!(t.reports.take().is_empty());
    // The next change is told of as ever.
    t.cx().set_var(key, 6).unwrap();
    assert_eq!(t.host, [5, 6]);
}

#[test]
fn a_callback_that_panics_fails_the_line_and_the_report_is_about_the_variable() {
    for policy in [PanicPolicy::Propagate, PanicPolicy::Isolate] {
        let mut t = world();
        t.rt.set_panic_policy(policy);
        let key = t
            .cx()
            .register_variable(VariableDef::new("My.Bad", 1_u32).runtime())
            .unwrap();
        let guard = t
            .cx()
            .on_var_change(key, |_, now| assert!(*now != 3, "three"));
        let _guard = guard.unwrap();
        let run = t.cx().run_line("my.bad 3", Source::Local);
        let reports = t.reports.take();
        let names: Vec<&str> = reports.iter().map(|report| report.kind.name()).collect();
        match policy {
            PanicPolicy::Isolate => assert_eq!(names, ["Panicked"], "{}", run.text()),
            _ => {
                assert_eq!(run.outcome, LineOutcome::Failed);
                assert_eq!(run.text(), "`My.Bad` panicked: three");
                assert_eq!(names.last(), Some(&"VariablePanicked"));
            }
        }
        // The value is stored, and the console goes on.
        assert_eq!(t.cx().get_var(key), Ok(3));
        assert_eq!(
            t.cx().run_line("my.bad 4", Source::Local).text(),
            "My.Bad = 4"
        );
    }
}

#[derive(Default)]
struct Mixer {
    volume: u32,
}

fn turn(cx: &mut dyn AnyCx, volume: &u32) {
    cx.runtime_state::<Mixer>().volume = *volume;
}

fn volume(cx: &mut dyn AnyCx) -> u32 {
    cx.runtime_state::<Mixer>().volume
}

#[test]
fn a_variable_that_is_another_parts_setting_says_what_that_is_now() {
    let mut t = world();
    let definition = VariableDef::new("Mixer.Volume", 0_u32)
        .range(0..=100)
        .changed(turn)
        .current(volume);
    let key = t.cx().register_variable(definition.runtime()).unwrap();
    let _guard = t
        .cx()
        .on_var_change(key, |cx, now| cx.host_mut().push(*now))
        .unwrap();
    assert_eq!(
        t.cx().run_line("mixer.volume 40", Source::Local).text(),
        "Mixer.Volume = 40"
    );
    assert_eq!(t.cx().runtime_state::<Mixer>().volume, 40);
    // Past the console.
    t.cx().runtime_state::<Mixer>().volume = 70;
    let info = t.cx().var_info("mixer.volume").unwrap();
    assert_eq!((info.value.as_str(), info.set_by), ("70", SetBy::Code));
    t.cx().runtime_state::<Mixer>().volume = 71;
    assert_eq!(t.cx().get_var(key), Ok(71));
    // The old value of the console is a change now.
    assert_eq!(
        t.cx().set_var_text("mixer.volume", "40", SetBy::Console),
        Ok(SetOutcome::Changed)
    );
    assert_eq!(t.cx().runtime_state::<Mixer>().volume, 40);
    t.cx().runtime_state::<Mixer>().volume = 5;
    assert_eq!(t.cx().reset_var("mixer.volume"), Ok(SetOutcome::Changed));
    assert_eq!(t.cx().runtime_state::<Mixer>().volume, 0);
    assert_eq!(t.host, [40, 70, 71, 40, 5, 0]);
}

fn mixer(t: &mut TestWorld<Vec<u32>>) -> sc_console::DynVariable<u32> {
    let definition = VariableDef::new("Mixer.Volume", 0_u32).range(0..=100);
    let definition = definition.changed(turn).current(volume).archive();
    t.cx().register_variable(definition.runtime()).unwrap()
}

#[test]
fn what_is_set_in_a_callback_is_not_taken_back_by_a_look() {
    let mut t = world();
    let key = mixer(&mut t);
    let preset = t
        .cx()
        .register_variable(VariableDef::new("My.Preset", 0_u32).runtime())
        .unwrap();
    let guard = t.cx().on_var_change(preset, move |cx, _| {
        assert_eq!(cx.set_var(key, 40), Ok(SetOutcome::Changed));
        assert_eq!(cx.get_var(key), Ok(40));
        assert_eq!(
            cx.run_line("mixer.volume 50", Source::Local).text(),
            "Mixer.Volume = 50"
        );
    });
    let _guard = guard.unwrap();
    t.cx().set_var(preset, 1).unwrap();
    assert_eq!(t.cx().runtime_state::<Mixer>().volume, 50);
    assert_eq!(t.cx().get_var(key), Ok(50));
}

#[test]
fn all_are_told_of_the_same_values_in_the_same_order() {
    let mut t = TestWorld::new(Vec::<(u32, u32)>::new());
    let key = t
        .cx()
        .register_variable(VariableDef::new("My.Value", 0_u32).runtime())
        .unwrap();
    let mut guards = Vec::new();
    for watcher in 1..=3 {
        let guard = t.cx().on_var_change(key, move |cx, now| {
            cx.host_mut().push((watcher, *now));
            if (watcher, *now) == (1, 1) {
                cx.set_var(key, 2).unwrap();
            }
        });
        guards.push(guard.unwrap());
    }
    t.cx().set_var(key, 1).unwrap();
    assert_eq!(t.host, [(1, 1), (2, 1), (3, 1), (1, 2), (2, 2), (3, 2)]);
}

#[test]
fn what_another_part_has_is_what_is_saved_left_and_begun_with() {
    let mut t = world();
    t.cx().runtime_state::<Mixer>().volume = 75;
    // A value that waits counts, though it is the default.
    t.cx()
        .set_var_text("Mixer.Volume", "0", SetBy::CommandLine)
        .unwrap();
    mixer(&mut t);
    assert_eq!(t.cx().runtime_state::<Mixer>().volume, 0);
    let info = t.cx().var_info("mixer.volume").unwrap();
    assert_eq!(
        (info.value.as_str(), info.set_by),
        ("0", SetBy::CommandLine)
    );
    // Turned by code, and never looked at before it ends.
    t.cx().runtime_state::<Mixer>().volume = 30;
    t.cx().unregister_entry("Mixer.Volume");
    let key = mixer(&mut t);
    assert_eq!(
        (t.cx().get_var(key), t.cx().runtime_state::<Mixer>().volume),
        (Ok(30), 30)
    );
}

#[test]
fn what_another_part_has_and_must_not_is_reported_once_and_not_taken() {
    let mut t = world();
    let key = mixer(&mut t);
    t.cx().runtime_state::<Mixer>().volume = 101;
    for _ in 0..3 {
        assert_eq!(t.cx().get_var(key), Ok(0));
    }
    let reports = t.reports.take();
    assert_eq!(reports.len(), 1);
    assert_eq!(
        reports[0].what,
        "what it is now is not allowed: `Mixer.Volume` was not set: expected u32 from 0 up to 100"
    );
    t.cx().runtime_state::<Mixer>().volume = 9;
    assert_eq!(t.cx().get_var(key), Ok(9));
}

fn asks_itself(cx: &mut dyn AnyCx) -> u32 {
    let mut cx = cx.typed::<Vec<u32>>().unwrap();
    cx.host_mut().push(1);
    let _ = cx.set_var_text("My.Self", "7", SetBy::Code);
    cx.var_info("My.Self")
        .map_or(0, |info| info.value.parse().unwrap())
}

fn ends_itself(cx: &mut dyn AnyCx) -> u32 {
    let mut cx = cx.typed::<Vec<u32>>().unwrap();
    if cx.unregister_entry("My.Swap") {
        let other = VariableDef::new("My.Other", "text".to_owned()).runtime();
        cx.register_variable(other).unwrap();
    }
    3
}

fn panics(_: &mut dyn AnyCx) -> u32 {
    panic!("nobody knows")
}

#[test]
fn whoever_is_asked_may_ask_end_and_panic() {
    let mut t = world();
    let own = VariableDef::new("My.Self", 1_u32)
        .current(asks_itself)
        .runtime();
    let own = t.cx().register_variable(own).unwrap();
    assert_eq!(t.cx().get_var(own), Ok(7));
    let swap = VariableDef::new("My.Swap", 1_u32)
        .current(ends_itself)
        .runtime();
    let swap = t.cx().register_variable(swap);
    assert_eq!(t.cx().get_var(swap.unwrap()), Err(VariableError::Gone));
    assert_eq!(t.cx().var_info("My.Other").unwrap().value, "text");
    t.reports.take();
    let bad = VariableDef::new("My.Bad", 1_u32).current(panics).runtime();
    let bad = t.cx().register_variable(bad).unwrap();
    assert_eq!(t.cx().get_var(bad), Ok(1));
    assert!(
        t.reports
            .take()
            .iter()
            .all(|report| report.kind.name() == "VariablePanicked")
    );
    assert_eq!(
        t.cx().run_line("help", Source::Local).outcome,
        LineOutcome::Done
    );
}

variable! {
    /// The same as a static one.
    STATIC = Mixer.Static: u32 = 0, range 0..=100, changed turn, current volume
}

#[test]
fn every_way_of_reading_asks_the_part_whose_setting_it_is() {
    let mut t = world();
    t.cx().start_console();
    let set = |t: &mut TestWorld<Vec<u32>>, now| t.cx().runtime_state::<Mixer>().volume = now;
    set(&mut t, 30);
    assert_eq!(t.cx().var(STATIC), 30);
    set(&mut t, 31);
    assert_eq!(STATIC.get(&mut t.cx()), 31);
    set(&mut t, 32);
    assert_eq!(t.cx().get_var(STATIC), Ok(32));
    set(&mut t, 101);
    assert_eq!(
        (t.cx().var(STATIC), STATIC.get(&mut t.cx())),
        (32, 32),
        "not allowed"
    );
    assert_eq!(t.reports.take().len(), 1);
    set(&mut t, 33);
    let _guard = t
        .cx()
        .on_var_change(STATIC, |cx, now| cx.host_mut().push(*now));
    set(&mut t, 34);
    assert_eq!((t.cx().var(STATIC), STATIC.get(&mut t.cx())), (34, 34));
    assert_eq!(t.host, [34]);
}

#[test]
fn nothing_waits_for_a_name_that_no_variable_can_have() {
    let mut t = world();
    for (name, why) in [
        ("", "that is no name: it is empty"),
        (
            "a b;",
            "that is no name: it has more in it than letters, digits, `_`, `-` and dots",
        ),
        ("help", "it is a command"),
    ] {
        let error = t
            .cx()
            .set_var_text(name, "1", SetBy::CommandLine)
            .unwrap_err();
        assert_eq!(error.to_string(), format!("`{name}` was not set: {why}"));
    }
}
