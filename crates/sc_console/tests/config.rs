//! The configuration file: what is written, what is kept, what is refused.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::path::PathBuf;

use sc_console::{
    ConsoleExt, DynVariable, FileError, History, SetBy, VariableDef, VariableExt, console_enum,
    variable,
};
use sc_core::testing::TestWorld;

#[derive(Clone, Copy, PartialEq, Debug)]
enum Quality {
    Low,
    High,
}
console_enum!(Quality: Low, High);

variable! { VOLUME = My.Volume: f32 = 0.5, range 0.0..=1.0, archive }
variable! { NICK = My.Nick: String = String::new(), archive }
variable! { LIVES = My.Lives: u8 = 3, archive }
variable! { MUTED = My.Muted: bool = false, archive }
variable! { QUALITY = My.Quality: Quality = Quality::High, archive }
variable! { BIG = My.Big: u64 = 0, archive }
variable! { SESSION = My.Session: u32 = 0 }

/// A file of its own, removed in the end.
struct Temp(PathBuf);

impl Temp {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("sc-config-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        Temp(folder.join("config.toml"))
    }

    fn with(name: &str, text: &str) -> Self {
        let temp = Temp::new(name);
        fs::write(&temp.0, text).unwrap();
        temp
    }

    fn text(&self) -> String {
        fs::read_to_string(&self.0).unwrap()
    }
}

impl Drop for Temp {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(self.0.parent().unwrap());
    }
}

fn world() -> TestWorld<()> {
    TestWorld::new(())
}

#[test]
fn what_was_set_is_written_and_read_again() {
    let file = Temp::new("round");
    let mut t = world();
    t.cx().set_var(VOLUME, 0.1).unwrap();
    t.cx().set_var(LIVES, 9).unwrap();
    t.cx()
        .set_var_text("My.Muted", "on", SetBy::Console)
        .unwrap();
    t.cx().set_var(QUALITY, Quality::Low).unwrap();
    t.cx().set_var(BIG, u64::MAX).unwrap();
    t.cx().set_var(SESSION, 5).unwrap();
    t.cx().save_config(&file.0).unwrap();
    assert_eq!(
        file.text(),
        "[variables]\n\"My.Big\" = \"18446744073709551615\"\n\"My.Lives\" = 9\n\"My.Muted\" = true\n\"My.Quality\" = \"Low\"\n\"My.Volume\" = 0.1\n"
    );
    let mut later = world();
    let read = later.cx().load_config(&file.0).unwrap();
    assert_eq!(
        (read.set, read.waiting.len(), read.refused.len()),
        (5, 0, 0)
    );
    let mut cx = later.cx();
    assert_eq!(
        (cx.var(VOLUME), cx.var(LIVES), cx.var(MUTED)),
        (0.1, 9, true)
    );
    assert_eq!(
        (cx.var(QUALITY), cx.var(BIG), cx.var(SESSION)),
        (Quality::Low, u64::MAX, 0)
    );
    assert_eq!(cx.var_info("My.Lives").unwrap().set_by, SetBy::ConfigFile);
    // Again the same file.
    let before = file.text();
    cx.save_config(&file.0).unwrap();
    assert_eq!(file.text(), before);
}

#[test]
fn case_g21_quotes_line_breaks_and_unicode_round_trip() {
    let file = Temp::new("quotes");
    for text in [
        "\"quoted\" 'too'",
        "two\nlines\r\n\ttab",
        "héé 名 🎮 \\ # = [x]",
        " ",
        "'''\"\"\"",
        "\u{7f}\u{1}",
    ] {
        let mut t = world();
        t.cx().set_var(NICK, text.to_owned()).unwrap();
        t.cx().save_config(&file.0).unwrap();
        let mut later = world();
        later.cx().load_config(&file.0).unwrap();
        assert_eq!(later.cx().var(NICK), text);
    }
}

#[test]
fn what_is_not_ours_stays_as_it_is() {
    let text = "# Mine.\ntitle = \"x\"\n\n[variables]\n# Loud?\nmy.volume = 0.25 # not too loud\nUnknown.Thing = 7\n\"My.Lives\" = 4\n\n[window]\nwidth = 800\n";
    let file = Temp::with("others", text);
    let mut t = world();
    let read = t.cx().load_config(&file.0).unwrap();
    assert_eq!(
        (read.set, read.waiting.as_slice()),
        (2, &["Unknown.Thing".to_owned()][..])
    );
    t.cx().save_config(&file.0).unwrap();
    assert_eq!(file.text(), text, "nothing has changed");
    t.cx().set_var(VOLUME, 0.75).unwrap();
    t.cx().reset_var("My.Lives").unwrap();
    t.cx().set_var(MUTED, true).unwrap();
    t.cx().save_config(&file.0).unwrap();
    assert_eq!(
        file.text(),
        "# Mine.\ntitle = \"x\"\n\n[variables]\n# Loud?\nmy.volume = 0.75 # not too loud\nUnknown.Thing = 7\n\"My.Muted\" = true\n\n[window]\nwidth = 800\n"
    );
}

#[test]
fn values_of_the_command_line_are_for_one_run() {
    let file = Temp::with("run", "[variables]\n\"My.Lives\" = 4\n");
    let mut t = world();
    t.cx()
        .set_var_text("My.Lives", "99", SetBy::CommandLine)
        .unwrap();
    let read = t.cx().load_config(&file.0).unwrap();
    assert_eq!((read.set, read.refused.len()), (0, 0));
    assert_eq!(t.cx().var(LIVES), 99);
    t.cx().save_config(&file.0).unwrap();
    assert_eq!(file.text(), "[variables]\n\"My.Lives\" = 4\n");
    assert!(t.reports.take().is_empty());
}

#[test]
fn a_bad_value_is_reported_and_kept_and_the_rest_is_set() {
    let text = "[variables]\n\"My.Lives\" = 999\n\"My.Volume\" = nan\n\"My.Muted\" = [1]\n\"My.Nick\" = \"me\"\n";
    let file = Temp::with("bad", text);
    let mut t = world();
    let read = t.cx().load_config(&file.0).unwrap();
    assert_eq!(read.set, 1);
    let names: Vec<&str> = read.refused.iter().map(|r| r.0.as_str()).collect();
    assert_eq!(names, ["My.Lives", "My.Volume", "My.Muted"]);
    let kinds: Vec<_> = t.reports.take().iter().map(|r| r.kind.name()).collect();
    assert_eq!(kinds, ["ValueRefused"; 3]);
    assert_eq!((t.cx().var(LIVES), t.cx().var(NICK).as_str()), (3, "me"));
    t.cx().save_config(&file.0).unwrap();
    assert_eq!(
        file.text(),
        text,
        "a value that was refused is the user's to mend"
    );
}

#[test]
fn a_value_waits_for_its_variable_and_is_then_ours() {
    let file = Temp::with("late", "[variables]\nMod.Speed = 2.5\n");
    let mut t = world();
    t.cx().load_config(&file.0).unwrap();
    let speed = t
        .cx()
        .register_variable(VariableDef::new("mod.speed", 1.0).archive().runtime());
    let speed = speed.unwrap();
    assert_eq!(t.cx().get_var(speed), Ok(2.5));
    t.cx().reset_var("mod.speed").unwrap();
    t.cx().save_config(&file.0).unwrap();
    assert!(!file.text().contains("2.5"), "{}", file.text());
}

#[test]
fn what_is_no_config_file_is_an_error_and_stays() {
    let mut t = world();
    t.cx().set_var(LIVES, 9).unwrap();
    let file = Temp::with("broken", "[variables\nx = \n");
    let error = t.cx().load_config(&file.0).unwrap_err();
    assert!(matches!(error, FileError::NotToml { .. }));
    assert!(error.to_string().contains("line 1"), "{error}");
    assert!(matches!(
        t.cx().save_config(&file.0),
        Err(FileError::NotToml { .. })
    ));
    assert_eq!(file.text(), "[variables\nx = \n");
    let file = Temp::with("no-table", "variables = 3\n");
    let error = t.cx().load_config(&file.0).unwrap_err();
    assert!(matches!(error, FileError::BadConfig { .. }));
    let text = "config.toml: `variables` is no table: write `[variables]`, and the values under it";
    assert!(error.to_string().ends_with(text), "{error}");
    assert!(t.cx().save_config(&file.0).is_err());
    let folder = file.0.parent().unwrap().to_owned();
    assert!(matches!(
        t.cx().load_config(&folder),
        Err(FileError::NotAFile { .. })
    ));
    assert!(t.cx().save_config(&folder).is_err());
    assert!(
        t.cx()
            .save_config(folder.join("no/such/folder.toml"))
            .is_err()
    );
    fs::write(&file.0, b"\xff").unwrap();
    assert!(matches!(
        t.cx().load_config(&file.0),
        Err(FileError::NotText { .. })
    ));
    // None is read as an empty one.
    assert_eq!(t.cx().load_config(folder.join("none.toml")).unwrap().set, 0);
    // Nothing was left beside it.
    let names: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    assert_eq!(names, ["config.toml"]);
}

#[test]
fn nothing_to_write_writes_no_file() {
    let file = Temp::new("nothing");
    let mut t = world();
    t.cx().save_config(&file.0).unwrap();
    assert!(!file.0.exists());
}

#[cfg(unix)]
#[test]
fn a_link_to_the_file_stays_a_link() {
    let file = Temp::new("link");
    let real = file.0.with_file_name("real.toml");
    fs::write(&real, "# mine\n").unwrap();
    std::os::unix::fs::symlink(&real, &file.0).unwrap();
    let mut t = world();
    t.cx().set_var(LIVES, 9).unwrap();
    t.cx().save_config(&file.0).unwrap();
    assert!(fs::symlink_metadata(&file.0).unwrap().is_symlink());
    assert_eq!(
        fs::read_to_string(&real).unwrap(),
        "# mine\n\n[variables]\n\"My.Lives\" = 9\n"
    );
}

variable! { GROUP = My.Group: u32 = 1, archive }

#[test]
fn a_variable_beside_a_table_of_its_name_loses_nothing() {
    for text in [
        "[variables]\nMy.Volume = 0.25\n# Six of them.\nMy.Group.Other = 6 # six\n",
        "[variables]\n\"My.Group\".Other = 6 # six\n",
        "[variables.\"My.Group\"]\n# Six of them.\nOther = 6 # six\n",
        "[variables]\n\"My.Group\" = { Other = 6 }\n",
        "[variables.\"My.Group\".\"\"]\n# Six of them.\nOther = 6 # six\n",
    ] {
        let file = Temp::with("beside", text);
        let mut t = world();
        t.cx().load_config(&file.0).unwrap();
        t.cx().set_var(GROUP, 2).unwrap();
        t.cx().save_config(&file.0).unwrap();
        let saved = file.text();
        for part in text.lines().filter(|line| line.contains('#')) {
            assert!(saved.contains(part), "{text} became {saved}");
        }
        let mut later = world();
        let read = later.cx().load_config(&file.0).unwrap();
        assert_eq!(read.waiting, ["My.Group.Other"], "{text} became {saved}");
        assert_eq!(later.cx().var(GROUP), 2, "{text} became {saved}");
        // Updated where it stands now, and taken out again.
        later.cx().set_var(GROUP, 3).unwrap();
        later.cx().save_config(&file.0).unwrap();
        assert_eq!(file.text(), saved.replace("= 2", "= 3"));
        later.cx().reset_var("My.Group").unwrap();
        later.cx().save_config(&file.0).unwrap();
        let mut last = world();
        let read = last.cx().load_config(&file.0).unwrap();
        assert_eq!(read.waiting, ["My.Group.Other"]);
        assert_eq!(last.cx().var(GROUP), 1);
    }
}

#[test]
fn tables_in_a_row_under_the_name_of_a_variable_are_refused_and_stay() {
    let text = "[[variables.\"My.Group\"]]\nOther = 6\n";
    let file = Temp::with("rows", text);
    let mut t = world();
    t.cx().set_var(GROUP, 2).unwrap();
    let error = t.cx().save_config(&file.0).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("`My.Group` is a variable, and its entry an array of tables"),
        "{error}"
    );
    assert_eq!(file.text(), text);
}

#[cfg(unix)]
#[test]
fn the_mode_of_the_file_is_kept() {
    use std::os::unix::fs::PermissionsExt;
    let file = Temp::with("mode", "[variables]\n");
    fs::set_permissions(&file.0, fs::Permissions::from_mode(0o600)).unwrap();
    let mut t = world();
    t.cx().set_var(LIVES, 9).unwrap();
    t.cx().save_config(&file.0).unwrap();
    assert_eq!(file.text(), "[variables]\n\"My.Lives\" = 9\n");
    let mode = fs::metadata(&file.0).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn saves_at_once_leave_a_whole_file_and_nothing_beside_it() {
    let file = Temp::new("at-once");
    std::thread::scope(|scope| {
        for lives in 10..18 {
            let path = &file.0;
            scope.spawn(move || {
                let mut t = world();
                t.cx().set_var(LIVES, lives).unwrap();
                for _ in 0..20 {
                    t.cx().save_config(path).unwrap();
                }
            });
        }
    });
    let mut t = world();
    let read = t.cx().load_config(&file.0).unwrap();
    assert_eq!((read.set, read.refused.len()), (1, 0));
    assert!((10..18).contains(&t.cx().var(LIVES)));
    let beside = fs::read_dir(file.0.parent().unwrap()).unwrap();
    assert_eq!(beside.count(), 1);
}

#[test]
fn what_fails_midway_leaves_what_was_there() {
    let file = Temp::new("midway");
    // All is written beside it; only putting it in its place fails.
    fs::create_dir_all(file.0.join("inside")).unwrap();
    let error = History::default().save(&file.0).unwrap_err();
    assert!(error.to_string().starts_with("cannot write"), "{error}");
    assert!(file.0.join("inside").is_dir());
    let beside = fs::read_dir(file.0.parent().unwrap()).unwrap();
    assert_eq!(beside.count(), 1, "nothing is left of it");
}

#[test]
fn what_was_saved_is_what_the_next_variable_of_the_name_gets() {
    let file = Temp::with("levels", "[variables]\nMod.Speed = 2.5\nMod.Turn = 2.5\n");
    let mut t = world();
    t.cx().load_config(&file.0).unwrap();
    for level in 1..=2 {
        for name in ["Mod.Speed", "Mod.Turn", "Mod.New"] {
            let definition = VariableDef::new(name, 1.0).archive().runtime();
            t.cx().register_variable(definition).unwrap();
        }
        if level == 1 {
            for name in ["Mod.Speed", "Mod.New"] {
                t.cx().set_var_text(name, "9", SetBy::Console).unwrap();
            }
            t.cx().reset_var("Mod.Turn").unwrap();
        }
        let value = |name| t.cx().var_info(name).unwrap().value;
        assert_eq!(
            ["Mod.Speed", "Mod.Turn", "Mod.New"].map(value),
            ["9.0", "1.0", "9.0"]
        );
        t.cx().save_config(&file.0).unwrap();
        assert_eq!(
            file.text(),
            "[variables]\nMod.Speed = 9.0\n\"Mod.New\" = 9.0\n"
        );
        for name in ["Mod.Speed", "Mod.Turn", "Mod.New"] {
            assert!(t.cx().unregister_entry(name));
        }
    }
}

#[test]
fn what_was_saved_is_taken_out_when_it_is_reset() {
    let file = Temp::new("saved-reset");
    let mut t = world();
    t.cx().set_var(LIVES, 9).unwrap();
    t.cx().save_config(&file.0).unwrap();
    t.cx().reset_var("My.Lives").unwrap();
    t.cx().save_config(&file.0).unwrap();
    assert_eq!(file.text(), "[variables]\n");
}

#[test]
fn a_value_of_the_command_line_waits_on_when_another_is_saved() {
    let file = Temp::with("line-waits", "[variables]\nMod.Speed = 2.5\n");
    let mut t = world();
    t.cx()
        .set_var_text("Mod.Speed", "5", SetBy::CommandLine)
        .unwrap();
    t.cx().load_config(&file.0).unwrap();
    for level in 1..=3 {
        let definition = VariableDef::new("Mod.Speed", 1.0).archive().runtime();
        t.cx().register_variable(definition).unwrap();
        // The console counts more, until it is reset; then the command line does again.
        match level {
            1 => {
                _ = t
                    .cx()
                    .set_var_text("Mod.Speed", "9", SetBy::Console)
                    .unwrap()
            }
            2 => assert_eq!(t.cx().var_info("Mod.Speed").unwrap().value, "9.0"),
            _ => {
                assert_eq!(t.cx().var_info("Mod.Speed").unwrap().value, "5.0");
                break;
            }
        }
        t.cx().save_config(&file.0).unwrap();
        assert_eq!(file.text(), "[variables]\nMod.Speed = 9.0\n");
        if level == 2 {
            t.cx().reset_var("Mod.Speed").unwrap();
        }
        assert!(t.cx().unregister_entry("Mod.Speed"));
    }
}

fn door(t: &mut TestWorld<()>, default: f64) -> DynVariable<f64> {
    let definition = VariableDef::new("Door.Speed", default).archive().runtime();
    t.cx().register_variable(definition).unwrap()
}

#[test]
fn what_an_archived_variable_leaves_is_written_and_goes_to_the_next_of_its_name() {
    let file = Temp::with("left", "[variables]\n\"Door.Turn\" = 3\n");
    let mut t = world();
    t.cx().load_config(&file.0).unwrap();
    door(&mut t, 2.0);
    let turn = || VariableDef::new("Door.Turn", 1_u8).archive().runtime();
    t.cx().register_variable(turn()).unwrap();
    let lost = VariableDef::new("Door.Session", 1_u8).runtime();
    t.cx().register_variable(lost).unwrap();
    for name in ["Door.Speed", "Door.Session"] {
        t.cx().set_var_text(name, "7", SetBy::Console).unwrap();
    }
    t.cx().reset_var("Door.Turn").unwrap();
    for name in ["Door.Speed", "Door.Turn", "Door.Session"] {
        assert!(t.cx().unregister_entry(name));
    }
    // Between two levels: nobody has the name.
    t.cx().save_config(&file.0).unwrap();
    assert_eq!(file.text(), "[variables]\n\"Door.Speed\" = 7.0\n");
    // The next one has it, by the same word; what is no archive's is gone.
    let key = door(&mut t, 4.0);
    assert_eq!(t.cx().get_var(key), Ok(7.0));
    assert_eq!(
        t.cx().var_info("door.speed").unwrap().set_by,
        SetBy::Console
    );
    let again = VariableDef::new("Door.Session", 1_u8).runtime();
    let again = t.cx().register_variable(again).unwrap();
    assert_eq!(t.cx().get_var(again), Ok(1));
    // Reset, it leaves nothing, and the file loses its entry.
    t.cx().reset_var("Door.Speed").unwrap();
    assert!(t.cx().unregister_entry("Door.Speed"));
    t.cx().save_config(&file.0).unwrap();
    assert_eq!(file.text(), "[variables]\n");
    let key = door(&mut t, 4.0);
    assert_eq!(t.cx().get_var(key), Ok(4.0));
}

#[test]
fn a_value_of_a_run_is_not_left_and_one_that_code_set_is() {
    let file = Temp::new("left-by");
    let mut t = world();
    t.cx()
        .set_var_text("Door.Speed", "9", SetBy::CommandLine)
        .unwrap();
    door(&mut t, 2.0);
    assert!(t.cx().unregister_entry("Door.Speed"));
    t.cx().save_config(&file.0).unwrap();
    assert!(!file.0.exists(), "for one run");
    let key = door(&mut t, 2.0);
    t.cx().set_var(key, 5.0).unwrap();
    assert!(t.cx().unregister_entry("Door.Speed"));
    // The command line counts for each of the name, but code has said more.
    let key = door(&mut t, 2.0);
    assert_eq!(t.cx().get_var(key), Ok(5.0));
    assert_eq!(t.cx().var_info("Door.Speed").unwrap().set_by, SetBy::Code);
}

#[test]
fn a_cheat_is_not_set_by_the_file_while_cheats_are_off() {
    let text = "[variables]\n\"My.God\" = true\n\"My.Later\" = true\n";
    let file = Temp::with("cheat", text);
    let mut t = world();
    let cheat = |name: &'static str| VariableDef::new(name, false).cheat().archive().runtime();
    let god = t.cx().register_variable(cheat("My.God")).unwrap();
    let read = t.cx().load_config(&file.0).unwrap();
    let why = "`My.God` was not set: it is a cheat, and cheats are off";
    assert_eq!(read.refused, [("My.God".to_owned(), why.to_owned())]);
    assert_eq!(t.reports.take().len(), 1);
    assert!(
        t.cx()
            .set_var_text("My.God", "true", SetBy::CommandLine)
            .is_err()
    );
    let later = t.cx().register_variable(cheat("My.Later")).unwrap();
    assert_eq!(t.reports.take()[0].kind.name(), "ValueRefused");
    assert_eq!(
        (t.cx().get_var(god), t.cx().get_var(later)),
        (Ok(false), Ok(false))
    );
    // The entries are not ours to remove.
    t.cx().save_config(&file.0).unwrap();
    assert_eq!(file.text(), text);
    t.cx().console_settings().cheats = true;
    assert_eq!(t.cx().load_config(&file.0).unwrap().set, 2);
    assert_eq!(
        (t.cx().get_var(god), t.cx().get_var(later)),
        (Ok(true), Ok(true))
    );
    // Code is the program itself.
    t.cx().console_settings().cheats = false;
    t.cx().set_var(god, false).unwrap();
}

#[test]
fn what_stands_beside_the_table_is_not_lost_without_a_word() {
    let text = "\"My.Lives\" = 9\nMy.Volume = 0.25\n[window]\nwidth = 640\n[variables]\n\"My.Nick\" = \"Mia\"\n";
    let file = Temp::with("beside", text);
    let mut t = world();
    let read = t.cx().load_config(&file.0).unwrap();
    let outside = |name: &str| {
        let why =
            format!("`{name}` was not set: it stands outside of `[variables]`: move it there");
        (name.to_owned(), why)
    };
    assert_eq!(read.refused, [outside("My.Lives"), outside("My.Volume")]);
    assert_eq!((read.set, t.reports.take().len()), (1, 2));
    assert_eq!((t.cx().var(LIVES), t.cx().var(VOLUME)), (3, 0.5));
    assert_eq!(t.cx().var(NICK), "Mia");
}

#[test]
fn an_override_for_one_run_leaves_the_file_as_it_is() {
    let file = Temp::with("one-run", "[variables]\n\"Door.Speed\" = 0.5\n");
    let mut t = world();
    t.cx().load_config(&file.0).unwrap();
    door(&mut t, 2.0);
    t.cx()
        .set_var_text("Door.Speed", "0.9", SetBy::CommandLine)
        .unwrap();
    t.cx().unregister_entry("Door.Speed");
    t.cx().save_config(&file.0).unwrap();
    assert_eq!(file.text(), "[variables]\n\"Door.Speed\" = 0.5\n");
    let key = door(&mut t, 2.0);
    assert_eq!(t.cx().get_var(key), Ok(0.9));
}

#[test]
fn a_reset_goes_through_the_door_and_a_newer_file_counts() {
    let file = Temp::with("reset-door", "[variables]\n\"Door.Speed\" = 0.5\n");
    let mut t = world();
    t.cx().load_config(&file.0).unwrap();
    let key = door(&mut t, 2.0);
    assert_eq!(t.cx().get_var(key), Ok(0.5));
    t.cx().reset_var("Door.Speed").unwrap();
    t.cx().unregister_entry("Door.Speed");
    let key = door(&mut t, 2.0);
    assert_eq!(t.cx().get_var(key), Ok(2.0));
    t.cx().unregister_entry("Door.Speed");
    // Read anew, the file says something again: also of what was left by its own word.
    for value in ["0.5", "0.75"] {
        fs::write(&file.0, format!("[variables]\n\"Door.Speed\" = {value}\n")).unwrap();
        t.cx().load_config(&file.0).unwrap();
        t.cx().save_config(&file.0).unwrap();
        assert_eq!(
            file.text(),
            format!("[variables]\n\"Door.Speed\" = {value}\n")
        );
        let key = door(&mut t, 2.0);
        assert_eq!(t.cx().get_var(key), Ok(value.parse().unwrap()));
        t.cx().unregister_entry("Door.Speed");
    }
}

#[test]
fn what_the_next_of_the_name_refuses_is_not_lost() {
    let file = Temp::with("refused-left", "[variables]\n\"My.Mode\" = \"fast\"\n");
    let mut t = world();
    let text = || {
        VariableDef::new("My.Mode", String::new())
            .archive()
            .runtime()
    };
    let key = t.cx().register_variable(text()).unwrap();
    t.cx().load_config(&file.0).unwrap();
    assert_eq!(t.cx().get_var(key), Ok("fast".to_owned()));
    t.cx().unregister_entry("My.Mode");
    let number = VariableDef::new("My.Mode", 1_i32).archive().runtime();
    t.cx().register_variable(number).unwrap();
    assert_eq!(t.reports.take().len(), 1);
    t.cx().save_config(&file.0).unwrap();
    assert_eq!(file.text(), "[variables]\n\"My.Mode\" = \"fast\"\n");
    t.cx().unregister_entry("My.Mode");
    let key = t.cx().register_variable(text()).unwrap();
    assert_eq!(t.cx().get_var(key), Ok("fast".to_owned()));
    // One that is not archived has nothing to do with it.
    t.cx().set_var(key, "slow".to_owned()).unwrap();
    t.cx().unregister_entry("My.Mode");
    let passing = VariableDef::new("My.Mode", String::new()).runtime();
    let passing = t.cx().register_variable(passing).unwrap();
    assert_ne!(t.cx().get_var(passing), Ok("slow".to_owned()));
    t.cx().save_config(&file.0).unwrap();
    assert_eq!(file.text(), "[variables]\n\"My.Mode\" = \"slow\"\n");
}

#[test]
fn a_table_that_is_spelt_otherwise_is_an_error() {
    for table in ["Variables", "variabels", "VARIABLES"] {
        let text = format!("[{table}]\n\"My.Lives\" = 9\n");
        let file = Temp::with("mistyped", &text);
        let mut t = world();
        let error = t.cx().load_config(&file.0).unwrap_err().to_string();
        let end = format!(
            "config.toml: `[{table}]` is not `[variables]`: rename it, or add an empty `[variables]` if it is another's"
        );
        assert!(error.ends_with(&end), "{error}");
        // Nor is it overwritten.
        assert!(t.cx().save_config(&file.0).is_err());
        assert_eq!(file.text(), text);
        fs::write(&file.0, format!("[variables]\n{text}")).unwrap();
        t.cx().load_config(&file.0).unwrap();
    }
}

#[test]
fn what_stands_beside_the_table_is_said_when_its_variable_comes() {
    let file = Temp::with("beside-late", "\"Door.Speed\" = 9.0\n");
    let mut t = world();
    t.cx().load_config(&file.0).unwrap();
    assert!(t.reports.take().is_empty());
    door(&mut t, 2.0);
    let reports = t.reports.take();
    assert_eq!(reports.len(), 1);
    assert!(
        reports[0]
            .what
            .contains("it stands outside of `[variables]`")
    );
    t.cx().unregister_entry("Door.Speed");
    door(&mut t, 2.0);
    assert!(t.reports.take().is_empty(), "once");
    t.cx().unregister_entry("Door.Speed");
    // Nor when it was moved meanwhile.
    t.cx().load_config(&file.0).unwrap();
    fs::write(&file.0, "[variables]\n\"Door.Speed\" = 9.0\n").unwrap();
    t.cx().load_config(&file.0).unwrap();
    let key = door(&mut t, 2.0);
    assert_eq!(t.cx().get_var(key), Ok(9.0));
    assert!(t.reports.take().is_empty());
}

#[test]
fn line_ends_stay_what_they_are() {
    let file = Temp::with("crlf", "# mine\r\n[variables]\r\n\"My.Lives\" = 9\r\n");
    let mut t = world();
    t.cx().load_config(&file.0).unwrap();
    t.cx().set_var(LIVES, 8).unwrap();
    t.cx().save_config(&file.0).unwrap();
    assert_eq!(file.text(), "# mine\r\n[variables]\r\n\"My.Lives\" = 8\r\n");
}

#[test]
fn line_ends_of_the_file_change_no_text() {
    for (before, after) in [
        ("# m\r\n", "# m\r\n\r\n"),
        ("# m\n", "# m\n\n"),
        ("", ""),
        (
            "# m\r\nt = \"\"\"\na\n\"\"\"\n",
            "# m\nt = \"\"\"\na\n\"\"\"\n\n",
        ),
        (
            "t = \"\"\"\r\na\r\n\"\"\"\n",
            "t = \"\"\"\r\na\r\n\"\"\"\n\n",
        ),
        (
            "t = \"\"\"\r\na\r\n\"\"\"\r\n",
            "t = \"\"\"\r\na\r\n\"\"\"\r\n\r\n",
        ),
    ] {
        let file = Temp::with("crlf-text", before);
        let mut t = world();
        let text = "a\r\n\"b\"\n\\c\rd\u{1}é";
        t.cx().set_var(NICK, text.to_owned()).unwrap();
        t.cx().save_config(&file.0).unwrap();
        let end = if before.ends_with("\r\n") {
            "\r\n"
        } else {
            "\n"
        };
        let entry = r#""My.Nick" = "a\r\n\"b\"\n\\c\rd\u0001é""#;
        assert_eq!(file.text(), format!("{after}[variables]{end}{entry}{end}"));
        let mut later = world();
        later.cx().load_config(&file.0).unwrap();
        assert_eq!(later.cx().var(NICK), text);
    }
}

/// A type that cannot be trusted.
#[derive(Clone, PartialEq)]
struct Touchy(bool);

impl sc_console::ConsoleArg for Touchy {
    fn type_name() -> std::borrow::Cow<'static, str> {
        "touchy".into()
    }
    fn parse(word: &str) -> Result<Self, sc_console::ArgError> {
        assert!(word != "boom", "not that");
        Ok(Touchy(word == "on"))
    }
    fn show(&self) -> String {
        assert!(!self.0, "not now");
        "off".to_owned()
    }
}

#[test]
fn a_type_that_panics_costs_its_own_entry() {
    let text = "[variables]\n\"A.Touchy\" = \"boom\"\n\"My.Lives\" = 9\n";
    let file = Temp::with("touchy", text);
    let mut t = world();
    let touchy = || {
        VariableDef::new("A.Touchy", Touchy(false))
            .archive()
            .runtime()
    };
    let key = t.cx().register_variable(touchy()).unwrap();
    let read = t.cx().load_config(&file.0).unwrap();
    let why = "`A.Touchy` was not set: its type panicked: not that";
    assert_eq!(read.refused, [("A.Touchy".to_owned(), why.to_owned())]);
    assert_eq!(t.cx().var(LIVES), 9);
    // One that cannot be shown is not saved; the others are.
    t.cx().set_var(key, Touchy(true)).unwrap();
    t.cx().set_var(LIVES, 7).unwrap();
    t.reports.take();
    t.cx().save_config(&file.0).unwrap();
    assert_eq!(
        t.reports.take()[0].what,
        "it was not saved: its type panicked"
    );
    assert!(file.text().contains("\"My.Lives\" = 7"), "{}", file.text());
    assert!(
        t.cx()
            .variable_list()
            .iter()
            .any(|info| info.value == "(its type panicked)")
    );
    t.cx().unregister_entry("A.Touchy");
    // And registering one for which such a value waits goes on, too.
    t.cx()
        .set_var_text("A.Touchy", "boom", SetBy::Code)
        .unwrap();
    t.cx().register_variable(touchy()).unwrap();
}

#[test]
fn what_could_not_be_read_again_is_not_written_and_the_error_names_the_longest() {
    let file = Temp::new("long");
    let mut t = world();
    t.cx().set_var(LIVES, 5).unwrap();
    t.cx().save_config(&file.0).unwrap();
    let before = file.text();
    t.cx().set_var(NICK, "n".repeat(1 << 20)).unwrap();
    let error = t.cx().save_config(&file.0).unwrap_err();
    assert!(
        matches!(error, FileError::WouldBeTooLong { .. }),
        "{error:?}"
    );
    assert_eq!(
        error.to_string(),
        format!(
            "{} was not written: it would be longer than 1048576 bytes, and could not be read again; the longest value is that of `My.Nick`, 1048578 bytes: shorten it, or what else is in the file",
            file.0.display()
        )
    );
    assert_eq!(file.text(), before);
    // Nothing of it counts as written.
    t.cx().set_var(NICK, "n".repeat((1 << 20) - 100)).unwrap();
    t.cx().save_config(&file.0).unwrap();
    let mut later = world();
    assert_eq!(later.cx().load_config(&file.0).unwrap().set, 2);
    assert_eq!(later.cx().var(NICK).len(), (1 << 20) - 100);
}

#[test]
fn what_is_too_long_to_be_read_says_what_can_be_done() {
    let file = Temp::with("too-long", &"#".repeat((1 << 20) + 1));
    let name = file.0.display();
    let mut t = world();
    assert_eq!(
        t.cx().load_config(&file.0).unwrap_err().to_string(),
        format!(
            "{name} is longer than 1048576 bytes: take out what is not the game's, or move it away"
        )
    );
    fs::write(&file.0, "#".repeat((16 << 20) + 1)).unwrap();
    assert_eq!(
        History::default().load(&file.0).unwrap_err().to_string(),
        format!("{name} is longer than 16777216 bytes: delete lines of it, or move it away")
    );
}

#[test]
fn a_history_writes_the_newest_lines_that_can_be_read_again() {
    let file = Temp::new("long-history");
    let mut history = History::default();
    let mib = |c: &str| c.repeat((1 << 20) - 1) + "\n";
    // Older ones are read before newer ones.
    fs::write(&file.0, mib("a").replacen('a', "1", 1) + "last\n").unwrap();
    history.load(&file.0).unwrap();
    for n in ["b", "c"] {
        let lines: Vec<String> = ('a'..='h')
            .map(|c| mib(n).replacen(n, &c.to_string(), 1))
            .collect();
        fs::write(&file.0, lines.concat()).unwrap();
        history.load(&file.0).unwrap();
    }
    assert_eq!(history.lines().count(), 18);
    history.save(&file.0).unwrap();
    let mut again = History::default();
    again.load(&file.0).unwrap();
    let first = again.lines().next().unwrap();
    assert_eq!((&first[..2], again.lines().count()), ("cc", 16));
    assert_eq!(again.lines().next_back(), Some("last"));
    assert_eq!(history.lines().count(), 18, "in memory all of them stay");
}

#[test]
fn a_file_that_nobody_may_write_is_not_replaced() {
    let file = Temp::with("read-only", "[variables]\n");
    let mut rights = fs::metadata(&file.0).unwrap().permissions();
    rights.set_readonly(true);
    fs::set_permissions(&file.0, rights).unwrap();
    let mut t = world();
    t.cx().set_var(LIVES, 5).unwrap();
    let said = format!(
        "{} is marked read-only: make it writable, or name another file",
        file.0.display()
    );
    let error = t.cx().save_config(&file.0).unwrap_err();
    assert_eq!(error.to_string(), said);
    let error = History::default().save(&file.0).unwrap_err();
    assert_eq!(error.to_string(), said);
    assert_eq!(file.text(), "[variables]\n");
    assert!(fs::metadata(&file.0).unwrap().permissions().readonly());
    let beside = fs::read_dir(file.0.parent().unwrap()).unwrap();
    assert_eq!(beside.count(), 1);
}

#[test]
fn nobody_sets_a_variable_as_its_constructor() {
    let file = Temp::new("constructor");
    let mut t = world();
    t.cx()
        .set_var_text("My.Lives", "5", SetBy::ConfigFile)
        .unwrap();
    t.cx().save_config(&file.0).unwrap();
    for name in ["My.Lives", "My.Unknown"] {
        let error = t
            .cx()
            .set_var_text(name, "9", SetBy::Constructor)
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "`{name}` was not set: only its declaration is its constructor: say who sets it, or call `reset_var`"
            )
        );
    }
    assert_eq!(t.cx().var(LIVES), 5);
    t.cx().save_config(&file.0).unwrap();
    assert_eq!(file.text(), "[variables]\n\"My.Lives\" = 5\n");
}
