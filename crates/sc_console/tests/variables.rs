//! Variables: setting and reading, priorities, ranges, changes, waiting values.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::cell::Cell;
use std::rc::Rc;

use sc_console::{
    ConsoleExt, LineOutcome, RegisterError, SetBy, SetOutcome, Source, VariableDef, VariableError,
    VariableExt, console_enum, variable,
};
use sc_core::testing::TestWorld;
use sc_core::{Cx, Runtime, Tickable, WorldKind};

type Log = Vec<String>;

#[derive(Clone, Copy, PartialEq, Debug)]
enum Quality {
    Low,
    High,
}
console_enum!(Quality: Low, High);

variable! {
    /// Seconds between two saves.
    pub AUTOSAVE = MyGame.AutosaveSeconds: f64 = 60.0, range 1.0..=3600.0, special 0.0 => "never", archive
}
variable! {
    /// How many players there may be.
    PLAYERS = MyGame.Players: u32 = 4, range 1..=16
}
variable! {
    /// How good it looks.
    QUALITY = MyGame.Quality: Quality = Quality::High
}
variable! {
    /// What the server is called.
    NAME = MyGame.Name: String = "home".to_owned()
}
variable! {
    /// Nobody sets it from the console.
    BUILD = MyGame.Build: u32 = 7, read_only
}
variable! {
    /// Whether nothing hurts.
    GOD = MyGame.God: bool = false, cheat
}
variable! {
    /// A float without a range.
    FREE = MyGame.Free: f32 = 0.1
}

fn world() -> TestWorld<Log> {
    TestWorld::new(Log::new())
}

fn run(t: &mut TestWorld<Log>, line: &str) -> (LineOutcome, String) {
    let run = t.cx().run_line(line, Source::Local);
    (run.outcome, run.text())
}

#[test]
fn a_variable_has_its_default_in_every_runtime_of_its_own() {
    let (mut a, mut b) = (world(), world());
    assert_eq!(a.cx().var(AUTOSAVE), 60.0);
    a.cx().set_var(AUTOSAVE, 5.0).unwrap();
    assert_eq!((a.cx().var(AUTOSAVE), b.cx().var(AUTOSAVE)), (5.0, 60.0));
    b.cx().start_console();
    assert_eq!(b.cx().var(AUTOSAVE), 60.0);
    assert_eq!(b.cx().var(NAME), "home");
}

#[test]
fn runtimes_with_other_variables_find_theirs_by_the_same_key() {
    let (mut a, mut b) = (world(), world());
    a.cx()
        .register_variable(VariableDef::new("Extra", 1).runtime())
        .unwrap();
    for t in [&mut a, &mut b] {
        t.cx().set_var(PLAYERS, 2).unwrap();
    }
    b.cx().set_var(PLAYERS, 3).unwrap();
    for _ in 0..3 {
        assert_eq!((a.cx().var(PLAYERS), b.cx().var(PLAYERS)), (2, 3));
    }
}

#[test]
fn name_and_value_and_set_are_the_same_path() {
    let mut t = world();
    assert_eq!(
        run(&mut t, "mygame.players 8"),
        (LineOutcome::Done, "MyGame.Players = 8".into())
    );
    assert_eq!(t.cx().var(PLAYERS), 8);
    let (outcome, text) = run(&mut t, "MyGame.Players 17");
    assert_eq!(outcome, LineOutcome::Failed);
    assert_eq!(
        text,
        "MyGame.Players 17\n               ^^ expected u32 from 1 up to 16"
    );
    let (_, text) = run(&mut t, "MyGame.Players 1 2");
    assert!(text.contains("expected one value"), "{text}");
    assert_eq!(t.cx().var(PLAYERS), 8);
}

#[cfg(feature = "commands")]
#[test]
fn set_and_reset_by_command() {
    let mut t = world();
    assert_eq!(
        run(&mut t, "set mygame.players 8"),
        (LineOutcome::Done, "MyGame.Players = 8".into())
    );
    let (outcome, text) = run(&mut t, "set MyGame.Players 17");
    assert_eq!(outcome, LineOutcome::Failed);
    assert_eq!(
        text,
        "set MyGame.Players 17\n                   ^^ expected u32 from 1 up to 16"
    );
    assert_eq!(
        run(&mut t, "reset mygame.players"),
        (LineOutcome::Done, "MyGame.Players = 4".into())
    );
    assert_eq!(
        t.cx().var_info("MyGame.Players").unwrap().set_by,
        SetBy::Constructor
    );
    let (_, text) = run(&mut t, "set MyGame.Playres 1");
    assert!(
        text.contains("`MyGame.Playres` is none (did you mean `MyGame.Players`?)"),
        "{text}"
    );
    let (_, text) = run(&mut t, "reset help");
    assert!(
        text.contains("expected the name of a variable; `help` is a command"),
        "{text}"
    );
    assert!(run(&mut t, "set help 1").1.contains("`help` is a command"));
    assert!(run(&mut t, "reset MyGame.Build").1.contains("is read-only"));
    assert_eq!(
        run(&mut t, "set MyGame.Build").1,
        run(&mut t, "MyGame.Build").1
    );
}

#[test]
fn a_name_alone_shows_value_default_who_set_it_and_help() {
    let mut t = world();
    run(&mut t, "MyGame.AutosaveSeconds 30");
    let (_, text) = run(&mut t, "mygame.autosaveseconds");
    let text: Vec<&str> = text.lines().collect();
    assert_eq!(
        text[..4],
        [
            "MyGame.AutosaveSeconds = 30.0 (default 60.0, set by the console)",
            "  Seconds between two saves.",
            "  f64, from 1.0 up to 3600.0",
            "      0.0 = never"
        ]
    );
    assert!(
        text[4].starts_with("  archive; variable, declared at "),
        "{}",
        text[4]
    );
}

#[test]
fn enums_texts_and_truths() {
    let mut t = world();
    run(&mut t, "MyGame.Quality low; MyGame.Name 'two words'");
    assert_eq!(
        (t.cx().var(QUALITY), t.cx().var(NAME).as_str()),
        (Quality::Low, "two words")
    );
    let (_, text) = run(&mut t, "MyGame.Quality mid");
    assert!(text.contains("expected one of Low, High"), "{text}");
}

#[test]
fn case_g6_a_value_out_of_range_is_never_visible() {
    let mut t = world();
    let seen = t
        .cx()
        .on_var_change(PLAYERS, |cx, now| cx.host_mut().push(now.to_string()));
    let seen = seen.unwrap();
    for value in [0, 17] {
        assert!(matches!(
            t.cx().set_var(PLAYERS, value),
            Err(VariableError::Refused { .. })
        ));
        assert_eq!(t.cx().var(PLAYERS), 4);
    }
    assert!(t.host.is_empty());
    t.cx().set_var(PLAYERS, 16).unwrap();
    assert_eq!(t.host, ["16"]);
    drop(seen);
}

#[test]
fn nan_and_infinity_are_refused_even_without_a_range() {
    let mut t = world();
    for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        assert!(matches!(
            t.cx().set_var(FREE, value),
            Err(VariableError::Refused { .. })
        ));
    }
    assert!(matches!(
        t.cx().set_var(AUTOSAVE, f64::NAN),
        Err(VariableError::Refused { .. })
    ));
    for text in ["nan", "NaN", "inf", "1e400", ""] {
        assert!(
            t.cx()
                .set_var_text("MyGame.Free", text, SetBy::Console)
                .is_err(),
            "{text}"
        );
    }
    let (_, text) = run(&mut t, "MyGame.AutosaveSeconds 0.5");
    assert!(
        text.contains("expected f64 from 1.0 up to 3600.0, or 0.0 (never)"),
        "{text}"
    );
    t.cx().set_var(AUTOSAVE, 0.0).unwrap();
    assert_eq!(t.cx().var(FREE), 0.1);
}

#[test]
fn a_lower_priority_does_not_override_and_says_so() {
    let mut t = world();
    let set =
        |t: &mut TestWorld<Log>, text: &str, by| t.cx().set_var_text("MyGame.Players", text, by);
    assert_eq!(set(&mut t, "2", SetBy::ConfigFile), Ok(SetOutcome::Changed));
    assert_eq!(
        set(&mut t, "3", SetBy::CommandLine),
        Ok(SetOutcome::Changed)
    );
    let error = set(&mut t, "4", SetBy::ConfigFile).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`MyGame.Players` was not set: it was set by the command line, and the config file does not override that; `reset MyGame.Players` clears it"
    );
    assert_eq!(
        set(&mut t, "5", SetBy::CommandLine),
        Ok(SetOutcome::Changed),
        "equal overrides"
    );
    assert_eq!(t.cx().set_var(PLAYERS, 6), Ok(SetOutcome::Changed));
    assert_eq!(set(&mut t, "7", SetBy::Console), Ok(SetOutcome::Changed));
    assert!(matches!(
        t.cx().set_var(PLAYERS, 8),
        Err(VariableError::LowerPriority { .. })
    ));
    assert_eq!(t.cx().var(PLAYERS), 7);
    assert_eq!(t.cx().reset_var("mygame.players"), Ok(SetOutcome::Changed));
    assert_eq!(t.cx().var(PLAYERS), 4);
    assert_eq!(
        set(&mut t, "9", SetBy::ConfigFile),
        Ok(SetOutcome::Changed),
        "cleared"
    );
}

#[test]
fn an_unchanged_value_is_not_told_but_its_priority_counts() {
    let mut t = world();
    t.cx()
        .on_var_change(PLAYERS, |cx, now| cx.host_mut().push(now.to_string()))
        .unwrap()
        .detach();
    assert_eq!(t.cx().set_var(PLAYERS, 4), Ok(SetOutcome::Unchanged));
    assert_eq!(
        t.cx().var_info("MyGame.Players").unwrap().set_by,
        SetBy::Code
    );
    assert!(t.host.is_empty());
    assert_eq!(
        t.cx().reset_var("MyGame.Players"),
        Ok(SetOutcome::Unchanged)
    );
    assert!(t.host.is_empty());
}

#[cfg(feature = "commands")]
#[test]
fn set_and_reset_suggest_what_they_can_set() {
    let mut t = world();
    for (name, near) in [
        ("hlep", ""),
        ("MyGame.Buidl", ""),
        ("MyGame.Gdo", ""),
        ("MyGame.Naem", " (did you mean `MyGame.Name`?)"),
    ] {
        for line in [format!("set {name} 1"), format!("reset {name}")] {
            let (_, text) = run(&mut t, &line);
            let expected = format!("expected the name of a variable; `{name}` is none{near}");
            assert!(text.ends_with(&expected), "{line}: {text}");
        }
    }
}

#[test]
fn read_only_and_cheat_hold_for_the_console() {
    let mut t = world();
    assert!(
        run(&mut t, "MyGame.Build 8")
            .1
            .contains("`MyGame.Build` is read-only")
    );
    t.cx().set_var(BUILD, 8).unwrap();
    assert!(
        run(&mut t, "MyGame.God on")
            .1
            .contains("`MyGame.God` is a cheat, and cheats are off")
    );
    t.cx().console_settings().cheats = true;
    run(&mut t, "MyGame.God on");
    assert!(t.cx().var(GOD));
}

#[test]
fn callbacks_are_told_in_order_and_end_with_guard_and_world() {
    let mut t = world();
    let say = |text: &'static str| {
        move |cx: &mut Cx<'_, Log>, now: &u32| cx.host_mut().push(format!("{text}{now}"))
    };
    let first = t.cx().on_var_change(PLAYERS, say("first ")).unwrap();
    t.cx()
        .on_var_change(PLAYERS, say("second "))
        .unwrap()
        .detach();
    let other = t.cx().create_world(WorldKind::Game).unwrap();
    struct Watcher;
    impl Tickable<Log> for Watcher {
        fn initialize(&mut self, cx: &mut Cx<'_, Log>) {
            let callback = |cx: &mut Cx<'_, Log>, now: &u32| {
                let world = cx.world().is_some();
                cx.host_mut().push(format!("{now} {world}"));
            };
            cx.on_var_change(PLAYERS, callback).unwrap().detach();
        }
    }
    let watcher = t.cx().spawn_in(other, Watcher).unwrap();
    t.cx().set_var(PLAYERS, 5).unwrap();
    assert_eq!(t.host, ["first 5", "second 5", "5 true"]);
    t.host.clear();
    std::thread::spawn(move || drop(first)).join().unwrap();
    watcher.shutdown(&mut t.cx()).unwrap();
    t.cx().destroy_world(other);
    t.cx().set_var(PLAYERS, 6).unwrap();
    assert_eq!(t.host, ["second 6"]);
}

#[test]
fn a_set_from_its_own_callback_is_coalesced() {
    let mut t = world();
    t.cx()
        .on_var_change(PLAYERS, |cx, &now| {
            cx.host_mut().push(format!("begin {now}"));
            if now < 8 {
                // Several sets are told of once, after this.
                for more in 1..=2 {
                    cx.set_var(PLAYERS, now + more).unwrap();
                }
            }
            cx.host_mut().push("end".to_owned());
        })
        .unwrap()
        .detach();
    t.cx().set_var(PLAYERS, 6).unwrap();
    assert_eq!(t.host, ["begin 6", "end", "begin 8", "end"]);
    assert!(t.reports.take().is_empty());
}

#[test]
fn a_set_of_another_variable_in_a_callback_is_told_after_it() {
    let mut t = world();
    t.cx()
        .on_var_change(PLAYERS, |cx, _| {
            cx.set_var(BUILD, 9).unwrap();
            assert_eq!(cx.var(BUILD), 9, "stored at once");
            cx.host_mut().push("players".to_owned());
        })
        .unwrap()
        .detach();
    t.cx()
        .on_var_change(BUILD, |cx, _| cx.host_mut().push("build".to_owned()))
        .unwrap()
        .detach();
    t.cx().set_var(PLAYERS, 6).unwrap();
    assert_eq!(t.host, ["players", "build"]);
}

#[test]
fn callbacks_that_keep_setting_each_other_are_capped_and_reported() {
    let mut t = world();
    t.cx()
        .on_var_change(PLAYERS, |cx, now| {
            cx.host_mut().push("x".to_owned());
            cx.set_var(BUILD, now % 7 + 10).unwrap();
        })
        .unwrap()
        .detach();
    t.cx()
        .on_var_change(BUILD, |cx, now| {
            cx.set_var(PLAYERS, (now + 1) % 16 + 1).unwrap();
        })
        .unwrap()
        .detach();
    t.cx().set_var(PLAYERS, 6).unwrap();
    assert_eq!(t.host.len(), 16);
    let reports = t.reports.take();
    assert_eq!(
        (reports.len(), reports[0].kind.name()),
        (1, "VariablesChase")
    );
    assert_eq!(
        reports[0].object.as_deref(),
        Some("MyGame.Build, MyGame.Players")
    );
    // Nothing is stuck.
    t.host.clear();
    t.cx().set_var(PLAYERS, 1).unwrap();
    assert_eq!(t.host.len(), 16);
}

#[test]
fn a_callback_that_panics_leaves_everything_in_order() {
    let mut t = world();
    t.rt.set_panic_policy(sc_core::PanicPolicy::Isolate);
    t.cx()
        .on_var_change(PLAYERS, |_, now| assert_ne!(*now, 5, "five"))
        .unwrap()
        .detach();
    t.cx()
        .on_var_change(PLAYERS, |cx, _| cx.host_mut().push("told".to_owned()))
        .unwrap()
        .detach();
    assert_eq!(t.cx().set_var(PLAYERS, 5), Ok(SetOutcome::Changed));
    t.cx().set_var(PLAYERS, 6).unwrap();
    assert_eq!(t.host, ["told", "told"]);
    let reports = t.reports.take();
    assert_eq!((reports.len(), reports[0].kind.name()), (1, "Panicked"));
    assert_eq!(
        reports[0].object.as_deref(),
        Some("callback of MyGame.Players")
    );
}

#[test]
fn a_value_waits_for_its_variable() {
    let mut t = world();
    let set = |t: &mut TestWorld<Log>, text: &str, by| t.cx().set_var_text("Late.Value", text, by);
    assert_eq!(
        set(&mut t, "1", SetBy::CommandLine),
        Ok(SetOutcome::Waiting)
    );
    assert!(matches!(
        set(&mut t, "2", SetBy::ConfigFile),
        Err(VariableError::LowerPriority { .. })
    ));
    assert!(matches!(
        set(&mut t, "3", SetBy::Console),
        Err(VariableError::Unknown { .. })
    ));
    let late = t
        .cx()
        .register_variable(VariableDef::new("LATE.value", 0_u32).runtime())
        .unwrap();
    assert_eq!(t.cx().get_var(late), Ok(1));
    assert_eq!(
        t.cx().var_info("late.value").unwrap().set_by,
        SetBy::CommandLine
    );
    // One that is refused is reported, and the variable has its default.
    t.cx()
        .set_var_text("Late.Other", "many", SetBy::ConfigFile)
        .unwrap();
    let other = t
        .cx()
        .register_variable(VariableDef::new("Late.Other", 7_u32).runtime())
        .unwrap();
    assert_eq!(t.cx().get_var(other), Ok(7));
    let reports = t.reports.take();
    assert_eq!((reports.len(), reports[0].kind.name()), (1, "ValueRefused"));
}

#[test]
fn a_dynamic_variable_ends_with_its_owner_or_world() {
    struct Lamp;
    impl Tickable<Log> for Lamp {}
    let mut t = world();
    let world = t.world;
    let lamp = t.cx().spawn_in(world, Lamp).unwrap();
    let light = t
        .cx()
        .register_variable(VariableDef::new("Lamp.Light", 1.0).owner(&lamp))
        .unwrap();
    let other = t.cx().create_world(WorldKind::Game).unwrap();
    let wind = t
        .cx()
        .register_variable(VariableDef::new("Wind", 1.0).world(other))
        .unwrap();
    assert_eq!(t.cx().set_var(light, 0.5), Ok(SetOutcome::Changed));
    assert_eq!(run(&mut t, "wind 2").0, LineOutcome::Done);
    lamp.shutdown(&mut t.cx()).unwrap();
    t.cx().destroy_world(other);
    assert_eq!(run(&mut t, "lamp.light").0, LineOutcome::Failed);
    for gone in [light, wind] {
        assert_eq!(t.cx().get_var(gone), Err(VariableError::Gone));
        assert_eq!(t.cx().set_var(gone, 0.0), Err(VariableError::Gone));
        assert!(t.cx().on_var_change(gone, |_, _| ()).is_err());
    }
    // The slot is used again: the old key does not reach what is in it.
    t.cx()
        .register_variable(VariableDef::new("Other", 3.0).runtime())
        .unwrap();
    assert_eq!(t.cx().get_var(light), Err(VariableError::Gone));
}

#[test]
fn a_key_is_stale_as_soon_as_its_owner_or_world_has_ended() {
    struct Thing;
    impl Tickable<Log> for Thing {}
    let mut t = world();
    let level = t.world;
    let inset = t.cx().create_world(WorldKind::Game).unwrap();
    let owner = t.cx().spawn_in(level, Thing).unwrap();
    let definition = VariableDef::new("My.Owned", 1_u32).owner(&owner);
    let owned = t.cx().register_variable(definition).unwrap();
    let definition = VariableDef::new("My.Level", 1_u32).world(inset);
    let of_level = t.cx().register_variable(definition).unwrap();
    drop(owner);
    t.cx().destroy_world(inset);
    for key in [owned, of_level] {
        assert_eq!(t.cx().get_var(key), Err(VariableError::Gone));
        assert_eq!(t.cx().set_var(key, 2), Err(VariableError::Gone));
        assert!(t.cx().on_var_change(key, |_, _| ()).is_err());
    }
}

#[test]
fn what_refuses_a_variable() {
    let mut t = world();
    let taken = t
        .cx()
        .register_variable(VariableDef::new("mygame.PLAYERS", 1).runtime());
    assert!(matches!(
        taken.unwrap_err(),
        RegisterError::NameTaken { .. }
    ));
    let ours = t
        .cx()
        .register_variable(VariableDef::new("SC.x", 1).runtime());
    assert!(matches!(
        ours.unwrap_err(),
        RegisterError::ReservedName { .. }
    ));
    let out = t
        .cx()
        .register_variable(VariableDef::new("X", 9).range(0..=3).runtime());
    assert!(matches!(
        out.unwrap_err(),
        RegisterError::BadParameters { .. }
    ));
    let nowhere = t.cx().register_variable(VariableDef::new("X", 9));
    assert!(matches!(
        nowhere.unwrap_err(),
        RegisterError::NoLiveWorld { .. }
    ));
    let names: Vec<_> = t.reports.take().iter().map(|r| r.kind.name()).collect();
    assert_eq!(names, ["NotRegistered"; 4]);
}

#[test]
fn a_list_of_all_and_an_unknown_one() {
    let mut t = world();
    let names: Vec<String> = t.cx().variable_list().into_iter().map(|v| v.name).collect();
    assert!(names.is_sorted() && names.contains(&"MyGame.Players".to_owned()));
    let error = t.cx().var_info("MyGame.Player").unwrap_err();
    assert_eq!(
        error.to_string(),
        "there is no variable `MyGame.Player` (did you mean `MyGame.Players`?): register it first"
    );
    assert!(t.cx().reset_var("nothing").is_err());
}

#[test]
fn callbacks_go_with_their_variable() {
    let mut t = world();
    let held = Rc::new(Cell::new(0));
    let volume = t
        .cx()
        .register_variable(VariableDef::new("Volume", 1).runtime())
        .unwrap();
    let seen = Rc::clone(&held);
    t.cx()
        .on_var_change(volume, move |_, now| seen.set(*now))
        .unwrap()
        .detach();
    t.cx().set_var(volume, 5).unwrap();
    assert_eq!((held.get(), Rc::strong_count(&held)), (5, 2));
    assert!(t.cx().unregister_entry("volume"));
    assert_eq!(Rc::strong_count(&held), 1);
}

#[test]
fn reading_needs_no_console_and_no_world() {
    let mut rt = Runtime::<()>::new();
    let mut host = ();
    let mut cx = rt.cx(&mut host);
    assert_eq!(cx.var(PLAYERS), 4);
}

#[test]
fn a_value_from_outside_counts_for_each_variable_of_the_name() {
    let mut t = world();
    t.cx()
        .set_var_text("Door.Speed", "3", SetBy::ConfigFile)
        .unwrap();
    for _level in 0..2 {
        let level = t.cx().create_world(WorldKind::Game).unwrap();
        let definition = VariableDef::new("Door.Speed", 1_u32).world(level);
        let speed = t.cx().register_variable(definition).unwrap();
        assert_eq!(t.cx().get_var(speed), Ok(3));
        // What the console has set goes with its variable.
        t.cx().run_line("door.speed 9", Source::Local);
        assert_eq!(t.cx().get_var(speed), Ok(9));
        t.cx().destroy_world(level);
    }
    // So does what is read while the variable is there.
    let level = t.cx().create_world(WorldKind::Game).unwrap();
    t.cx()
        .register_variable(VariableDef::new("Door.Speed", 1_u32).world(level))
        .unwrap();
    t.cx()
        .set_var_text("Door.Speed", "4", SetBy::ConfigFile)
        .unwrap();
    t.cx().destroy_world(level);
    let speed = t
        .cx()
        .register_variable(VariableDef::new("Door.Speed", 1_u32).runtime())
        .unwrap();
    assert_eq!(t.cx().get_var(speed), Ok(4));
}

#[test]
fn a_chase_leaves_the_changes_of_others_alone() {
    let mut t = world();
    t.cx()
        .on_var_change(PLAYERS, |cx, now| {
            cx.set_var(PLAYERS, now % 16 + 1).unwrap();
            // In the last round before the chase is given up.
            if *now == 4 {
                cx.set_var(NAME, "changed".to_owned()).unwrap();
            }
        })
        .unwrap()
        .detach();
    // Told behind the chase: at its end, the change is still there.
    t.cx()
        .on_var_change(NAME, |cx, name| {
            cx.host_mut().push(name.clone());
            if cx.host().len() < 40 {
                let next = format!("{name}!");
                cx.set_var(FREE, cx.host().len() as f32).unwrap();
                if cx.host().len() < 3 {
                    cx.set_var(NAME, next).unwrap();
                }
            }
        })
        .unwrap()
        .detach();
    t.cx()
        .on_var_change(FREE, |cx, free| cx.host_mut().push(free.to_string()))
        .unwrap()
        .detach();
    t.cx().set_var(PLAYERS, 5).unwrap();
    let reports = t.reports.take();
    assert_eq!(reports.len(), 1);
    assert_eq!(reports[0].object.as_deref(), Some("MyGame.Players"));
    assert_eq!(t.host, ["changed", "1", "changed!", "3"]);
}
