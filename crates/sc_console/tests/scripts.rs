//! Script files: what is no script, and what of one is seen.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![cfg(all(unix, feature = "commands"))]

use std::fs;
use std::path::PathBuf;

use sc_console::{ConsoleExt, LineOutcome, Source};
use sc_core::testing::TestWorld;

/// A folder of scripts of its own.
struct Scripts(PathBuf);

impl Scripts {
    fn new(t: &mut TestWorld<()>, name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("sc-files-{}-{name}", std::process::id()));
        fs::create_dir_all(folder.join("root")).unwrap();
        t.cx().console_settings().script_root = Some(folder.join("root"));
        Scripts(folder)
    }
}

impl Drop for Scripts {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn refused(t: &mut TestWorld<()>, line: &str) -> String {
    let run = t.cx().run_line(line, Source::Local);
    assert_eq!(run.outcome, LineOutcome::Failed, "{}", run.text());
    run.text()
}

#[test]
fn case_g17_a_link_to_what_is_no_script_is_refused() {
    let mut t = TestWorld::new(());
    let scripts = Scripts::new(&mut t, "extension");
    let root = scripts.0.join("root");
    fs::write(root.join("passwords.toml"), "help").unwrap();
    std::os::unix::fs::symlink(root.join("passwords.toml"), root.join("x.cfg")).unwrap();
    let text = refused(&mut t, "exec x");
    assert!(text.contains("scripts end in `.cfg`"), "{text}");
    // A link to a script is one.
    fs::write(root.join("real.cfg"), "find ping").unwrap();
    std::os::unix::fs::symlink(root.join("real.cfg"), root.join("y.cfg")).unwrap();
    let run = t.cx().run_line("exec y", Source::Local);
    assert_eq!(run.outcome, LineOutcome::Done, "{}", run.text());
}

#[test]
fn case_g17_a_pipe_and_a_folder_are_refused_at_once() {
    let mut t = TestWorld::new(());
    let scripts = Scripts::new(&mut t, "pipe");
    let root = scripts.0.join("root");
    let made = std::process::Command::new("mkfifo")
        .arg(root.join("pipe.cfg"))
        .status();
    assert!(made.unwrap().success());
    fs::create_dir(root.join("folder.cfg")).unwrap();
    for name in ["pipe", "folder"] {
        let text = refused(&mut t, &format!("exec {name}"));
        assert!(text.contains("is no regular file"), "{text}");
    }
}

#[test]
fn case_g1_a_script_that_waits_before_it_runs_itself_is_an_error_all_the_same() {
    let mut t = TestWorld::new(());
    let scripts = Scripts::new(&mut t, "waits");
    fs::write(scripts.0.join("root/again.cfg"), "wait\nexec again\n").unwrap();
    let run = t.cx().run_line("exec again", Source::Local);
    assert_eq!(run.outcome, LineOutcome::Pending);
    t.ticks(0.1, 40);
    let (shown, _) = t.cx().console_output(0);
    let errors = shown
        .iter()
        .filter(|line| line.text.contains("deeper than 32"));
    assert_eq!(errors.count(), 1);
}

#[test]
fn exec_lists_and_completes_the_scripts_there_are() {
    let mut t = TestWorld::new(());
    let text = refused(&mut t, "exec");
    assert!(text.contains("there is no folder of scripts"), "{text}");
    assert_eq!(
        t.cx().complete_line("exec ", 5, Source::Local).candidates,
        []
    );
    let scripts = Scripts::new(&mut t, "list");
    let root = scripts.0.join("root");
    fs::create_dir_all(root.join("levels/deep")).unwrap();
    for file in [
        "start.cfg",
        "levels/one.cfg",
        "levels/deep/two.cfg",
        "notes.txt",
    ] {
        fs::write(root.join(file), "find ping").unwrap();
    }
    // A link out of the folder leads nowhere.
    std::os::unix::fs::symlink("/", root.join("out")).unwrap();
    let run = t.cx().run_line("exec", Source::Local);
    assert_eq!(
        run.text(),
        "  start\n  levels/one\n  levels/deep/two\n3 in all"
    );
    let completed = t
        .cx()
        .complete_line("exec lev", 8, Source::Local)
        .candidates;
    let completed: Vec<&str> = completed.iter().map(|c| c.insert.as_str()).collect();
    assert_eq!(completed, ["levels/one", "levels/deep/two"]);
    let run = t.cx().run_line("exec levels/deep/two", Source::Local);
    assert_eq!(run.outcome, LineOutcome::Done, "{}", run.text());
    assert_eq!(
        refused(&mut t, "exec strat"),
        "exec strat\n     ^^^^^ there is no script `strat` (did you mean `start`?): `exec` alone lists them"
    );
}

#[test]
fn what_exec_refuses_is_not_listed() {
    let mut t = TestWorld::new(());
    let scripts = Scripts::new(&mut t, "listed");
    let root = scripts.0.join("root");
    for file in [
        "good.cfg",
        "level.1.cfg",
        ".cfg",
        "back\\slash.cfg",
        "co:lon.cfg",
        "two\nlines.cfg",
    ] {
        fs::write(root.join(file), "find ping").unwrap();
    }
    fs::write(scripts.0.join("out.cfg"), "find ping").unwrap();
    std::os::unix::fs::symlink(scripts.0.join("out.cfg"), root.join("leads-out.cfg")).unwrap();
    std::os::unix::fs::symlink(root.join("nothing"), root.join("broken.cfg")).unwrap();
    std::os::unix::fs::symlink(root.join("good.cfg"), root.join("link.cfg")).unwrap();
    fs::create_dir(root.join("folder.cfg")).unwrap();
    let text = t.cx().run_line("exec", Source::Local).text();
    assert_eq!(text, "  good\n  level.1.cfg\n  link\n3 in all");
    for line in ["exec good", "exec level.1.cfg", "exec link"] {
        assert_eq!(
            t.cx().run_line(line, Source::Local).outcome,
            LineOutcome::Done,
            "{line}"
        );
    }
}

#[test]
fn of_a_folder_of_thousands_the_list_says_that_there_is_more() {
    let mut t = TestWorld::new(());
    let scripts = Scripts::new(&mut t, "thousands");
    let root = scripts.0.join("root");
    for n in 0..5_100 {
        fs::write(root.join(format!("s{n}.cfg")), "").unwrap();
    }
    let text = t.cx().run_line("exec", Source::Local).text();
    assert!(text.ends_with("5000 and more: there is too much to look at"));
}
