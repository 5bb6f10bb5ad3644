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
