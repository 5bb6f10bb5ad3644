//! Tidiness of the repository: the rules of layout, and the promises documents make about code,
//! that no compiler checks. The rules are pure functions in `tidy/checks.rs`; this file reads the
//! repository and applies them.

#[path = "tidy/checks.rs"]
mod checks;
#[path = "tidy/source.rs"]
mod source;

use std::fs;
use std::io;
use std::path::Path;

use checks::{File, find};

/// Every text file of the repository, in order of path, without what git ignores.
fn repository() -> Vec<File> {
    let mut files = Vec::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = walk(root, "", &mut files);
    assert!(read.is_ok(), "cannot read the repository: {read:?}");
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

fn walk(directory: &Path, prefix: &str, files: &mut Vec<File>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        let kind = entry.file_type()?;
        if kind.is_dir() {
            let hidden = name.starts_with('.')
                && !matches!(&*name, ".cargo" | ".ci" | ".config" | ".github");
            let left_by_tools =
                matches!(&*path, "fuzz/corpus" | "fuzz/artifacts" | "fuzz/coverage");
            if !hidden && !left_by_tools && name != "target" {
                walk(&entry.path(), &format!("{path}/"), files)?;
            }
        } else if kind.is_file() && name != ".git" {
            // What is not UTF-8 is no text file, and no rule speaks of it.
            if let Ok(text) = String::from_utf8(fs::read(entry.path())?) {
                files.push(File { path, text });
            }
        }
    }
    Ok(())
}

/// Fails the test with every problem there is, one a line.
#[track_caller]
fn expect_none(problems: Vec<String>) {
    assert!(
        problems.is_empty(),
        "{} problem(s):\n{}",
        problems.len(),
        problems.join("\n")
    );
}

/// Applies a check of single files to all Rust files.
fn in_rust_files(check: impl Fn(&str, &str) -> Vec<String>) -> Vec<String> {
    let files = repository();
    files
        .iter()
        .filter(|file| file.path.ends_with(".rs"))
        .flat_map(|file| check(&file.path, &file.text))
        .collect()
}

#[test]
fn every_rust_file_says_what_it_is() {
    expect_none(in_rust_files(checks::header));
}

#[test]
fn no_source_file_is_too_long() {
    expect_none(in_rust_files(checks::length));
}

#[test]
fn no_code_is_left_unfinished() {
    expect_none(in_rust_files(checks::unfinished));
}

#[test]
fn only_the_driver_reads_the_clock_or_sleeps() {
    expect_none(in_rust_files(checks::wall_clock));
}

#[test]
fn paths_named_in_the_architecture_exist() {
    expect_none(checks::named_paths("ARCHITECTURE.md", &repository()));
}

#[test]
fn every_source_file_is_in_the_architecture() {
    expect_none(checks::unnamed_sources("ARCHITECTURE.md", &repository()));
}

#[test]
fn every_warning_the_library_logs_is_in_the_diagnostics() {
    let files = repository();
    let page = find(&files, checks::DIAGNOSTICS);
    expect_none(in_rust_files(|path, text| {
        checks::log_messages(path, text, page)
    }));
}

#[test]
fn the_facade_exports_what_its_crates_do() {
    expect_none(checks::unexported(&repository()));
}

#[test]
fn unsafe_code_is_forbidden_everywhere() {
    expect_none(checks::unsafe_forbidden(&repository()));
}

#[test]
fn every_error_message_is_in_the_diagnostics() {
    let files = repository();
    let page = find(&files, checks::DIAGNOSTICS);
    expect_none(in_rust_files(|path, text| {
        checks::error_messages(path, text, page)
    }));
}

#[test]
fn every_report_kind_is_in_the_diagnostics() {
    expect_none(checks::report_kinds(&repository()));
}

#[test]
fn every_report_kind_of_an_extension_is_in_the_diagnostics() {
    let files = repository();
    let page = find(&files, checks::DIAGNOSTICS);
    expect_none(in_rust_files(|path, text| {
        checks::extension_report_kinds(path, text, page)
    }));
}

#[test]
fn every_fix_of_a_report_is_in_the_diagnostics() {
    expect_none(checks::report_fixes(&repository()));
}

#[test]
fn no_file_holds_a_word_that_does_not_belong() {
    expect_none(
        repository()
            .iter()
            .flat_map(|file| checks::forbidden_words(&file.path, &file.text))
            .collect(),
    );
}
