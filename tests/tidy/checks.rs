//! The rules of the tidy test. Each takes text and gives back problems, one sentence each, so that
//! every rule can be shown bad input; the tests below do.

use super::source::{
    ErrorAttribute, before_tests, code_only, enum_variants, error_attributes, is_name,
    literals_in_brackets, read_literal,
};

/// One text file of the repository; the path is relative to its root, with `/`.
pub(crate) struct File {
    pub(crate) path: String,
    pub(crate) text: String,
}

/// The page that explains every message.
pub(crate) const DIAGNOSTICS: &str = "docs/diagnostics.md";

/// More lines than this, its tests not counted, and a source file is to be split.
const LONGEST: usize = 600;

/// The text of one file, if there is such a file.
pub(crate) fn find<'a>(files: &'a [File], path: &str) -> Option<&'a str> {
    files
        .iter()
        .find(|file| file.path == path)
        .map(|file| &*file.text)
}

/// Whether the path lies in `crates/*/src/`.
fn is_crate_source(path: &str) -> bool {
    let mut parts = path.split('/');
    parts.next() == Some("crates") && parts.next().is_some() && parts.next() == Some("src")
}

/// Whether the file is nothing but tests of a module beside it.
fn is_test_file(path: &str) -> bool {
    path.ends_with("/tests.rs") || path.contains("/tests/")
}

/// Every Rust file starts with `//!` and says what it is.
pub(crate) fn header(path: &str, text: &str) -> Vec<String> {
    let first = text.lines().next().unwrap_or_default();
    match first.strip_prefix("//!") {
        Some(words) if !words.trim().is_empty() => Vec::new(),
        _ => vec![format!(
            "{path}: does not start with a `//!` line that says what the file is"
        )],
    }
}

/// No source file of a crate is too long.
pub(crate) fn length(path: &str, text: &str) -> Vec<String> {
    let count = before_tests(text).lines().count();
    if is_crate_source(path) && !is_test_file(path) && count > LONGEST {
        vec![format!(
            "{path}: {count} lines before its tests, more than {LONGEST}; split it"
        )]
    } else {
        Vec::new()
    }
}

/// No macro that marks unfinished work.
pub(crate) fn unfinished(path: &str, text: &str) -> Vec<String> {
    ["dbg!", "todo!", "unimplemented!"]
        .iter()
        .flat_map(|word| {
            lines_with(text, word)
                .into_iter()
                .map(move |line| format!("{path}:{line}: `{word}` in code"))
        })
        .collect()
}

/// Only the driver reads the clock of the machine or sleeps; benches may.
pub(crate) fn wall_clock(path: &str, text: &str) -> Vec<String> {
    let allowed = path == "crates/sc_core/src/driver.rs"
        || path.starts_with("crates/sc_core/src/driver/")
        || path.split('/').any(|part| part == "benches");
    if allowed {
        return Vec::new();
    }
    ["Instant::now", "SystemTime::now", "thread::sleep"]
        .iter()
        .flat_map(|word| {
            lines_with(text, word)
                .into_iter()
                .map(move |line| format!("{path}:{line}: `{word}` outside the driver; take the time from a clock of the runtime"))
        })
        .collect()
}

/// The lines whose code, comments and literals left out, has the word not as part of a longer one.
fn lines_with(text: &str, word: &str) -> Vec<usize> {
    let whole = |line: &str| {
        line.match_indices(word).any(|(at, _)| {
            let before = line.get(..at).and_then(|head| head.chars().next_back());
            let after = line
                .get(at + word.len()..)
                .and_then(|tail| tail.chars().next());
            // `x != y` is not a macro call.
            !before.is_some_and(is_name) && !after.is_some_and(|c| is_name(c) || c == '=')
        })
    };
    code_only(text)
        .lines()
        .enumerate()
        .filter(|(_, line)| whole(line))
        .map(|(index, _)| index + 1)
        .collect()
}

/// What the document names in backticks and looks like a path, exists.
pub(crate) fn named_paths(document: &str, files: &[File]) -> Vec<String> {
    let Some(text) = find(files, document) else {
        return vec![format!("{document}: there is no such file")];
    };
    let mut problems = Vec::new();
    let mut fenced = false;
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            for name in line
                .split('`')
                .skip(1)
                .step_by(2)
                .filter(|name| looks_like_path(name))
            {
                let exists = files.iter().any(|file| {
                    if name.ends_with('/') {
                        file.path.starts_with(name)
                    } else {
                        file.path == name
                    }
                });
                if !exists {
                    problems.push(format!("{document}:{}: `{name}` does not exist", index + 1));
                }
            }
        }
    }
    problems
}

/// Every source file of the library is named in the document, in backticks, or lies in a folder that is; a crate's
/// `src/` is none, for it would name them all.
pub(crate) fn unnamed_sources(document: &str, files: &[File]) -> Vec<String> {
    let text = find(files, document).unwrap_or_default();
    let names: Vec<&str> = text.split('`').skip(1).step_by(2).collect();
    let is_named = |path: &str| {
        names.contains(&path)
            || path.match_indices('/').any(|(at, _)| {
                let folder = path.get(..=at).unwrap_or_default();
                !folder.ends_with("src/") && names.contains(&folder)
            })
    };
    files
        .iter()
        .filter(|file| file.path.ends_with(".rs") && is_library_source(&file.path))
        .filter(|file| !is_named(&file.path))
        .map(|file| format!("{document}: `{}` is not in it, nor its folder", file.path))
        .collect()
}

/// What the root of a crate exports by `pub use`, the facade exports too, from one of its files.
pub(crate) fn unexported(files: &[File]) -> Vec<String> {
    let facade: Vec<String> = ["src/lib.rs", "src/bevy.rs"]
        .iter()
        .flat_map(|path| exports(find(files, path).unwrap_or_default()))
        .collect();
    let mut problems = Vec::new();
    for file in files {
        if is_crate_source(&file.path) && file.path.ends_with("/src/lib.rs") {
            let missing = exports(&file.text).into_iter();
            for name in missing.filter(|name| !facade.contains(name)) {
                problems.push(format!(
                    "{}: the facade does not export `{name}`",
                    file.path
                ));
            }
        }
    }
    problems
}

/// The names that a file exports by `pub use` at its outermost level, and those of structs in it.
fn exports(text: &str) -> Vec<String> {
    let code = code_only(text);
    let mut names = Vec::new();
    for (at, start) in code.match_indices("\npub use ") {
        let rest = code.get(at + start.len()..).unwrap_or_default();
        let statement = rest.split(';').next().unwrap_or_default();
        let list = statement.split_once('{').map(|(_, list)| list);
        let list = list.or_else(|| statement.rsplit("::").next());
        let list = list.unwrap_or_default().split(|c: char| !is_name(c));
        names.extend(list.filter(|name| !name.is_empty()).map(str::to_owned));
    }
    for (at, start) in code.match_indices("\npub struct ") {
        let rest = code.get(at + start.len()..).unwrap_or_default();
        let name = rest.split(|c: char| !is_name(c)).next();
        names.extend(name.map(str::to_owned));
    }
    names
}

/// Whether the path lies in the `src/` of a package of the workspace.
fn is_library_source(path: &str) -> bool {
    is_crate_source(path) || path.starts_with("src/")
}

fn looks_like_path(name: &str) -> bool {
    name.contains('/')
        && [".rs", ".md", ".sh", ".toml", "/"]
            .iter()
            .any(|end| name.ends_with(end))
        && name.chars().all(|c| is_name(c) || "/.-".contains(c))
}

/// Every crate forbids unsafe code: its package takes the lints of a workspace that does, or each
/// crate root of the package says so itself.
pub(crate) fn unsafe_forbidden(files: &[File]) -> Vec<String> {
    let workspace_forbids = find(files, "Cargo.toml").is_some_and(|manifest| {
        toml_lines(manifest).iter().any(|(section, line)| {
            section == "workspace.lints.rust"
                && line.starts_with("unsafe_code=")
                && line.contains("\"forbid\"")
        })
    });
    let mut problems = Vec::new();
    for manifest in files {
        let Some(folder) = manifest
            .path
            .strip_suffix("Cargo.toml")
            .filter(|f| f.is_empty() || f.ends_with('/'))
        else {
            continue;
        };
        let lines = toml_lines(&manifest.text);
        let inherits = lines.iter().any(|(section, line)| {
            (section == "lints" && line == "workspace=true")
                || (section.is_empty() && line == "lints.workspace=true")
        });
        if workspace_forbids && inherits {
            continue;
        }
        let bare: Vec<&File> = files
            .iter()
            .filter(|file| file.path.strip_prefix(folder).is_some_and(is_crate_root))
            .filter(|file| !code_only(&file.text).contains("#![forbid(unsafe_code)]"))
            .collect();
        for root in bare {
            problems.push(format!(
                "{}: unsafe code is not forbidden; add `[lints] workspace = true` to {} or `#![forbid(unsafe_code)]` here",
                root.path, manifest.path
            ));
        }
    }
    problems
}

/// Whether the path, relative to its package, is the root of a crate by Cargo's conventions.
fn is_crate_root(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    match *parts.as_slice() {
        ["build.rs"] | ["src", "lib.rs" | "main.rs"] => true,
        ["tests" | "benches" | "examples" | "fuzz_targets", name] | ["src", "bin", name] => {
            name.ends_with(".rs")
        }
        ["tests" | "benches" | "examples", _, "main.rs"] | ["src", "bin", _, "main.rs"] => true,
        _ => false,
    }
}

/// The lines of a TOML text without blanks and comments, each with the section it stands in.
fn toml_lines(text: &str) -> Vec<(String, String)> {
    let mut section = String::new();
    let mut lines = Vec::new();
    for line in text.lines() {
        let line: String = line
            .split('#')
            .next()
            .unwrap_or_default()
            .split_whitespace()
            .collect();
        if let Some(name) = line
            .strip_prefix('[')
            .and_then(|line| line.strip_suffix(']'))
        {
            section = name.to_owned();
        } else if !line.is_empty() {
            lines.push((section.clone(), line));
        }
    }
    lines
}

/// Every message of an error type in a crate's source stands in the diagnostics page.
pub(crate) fn error_messages(path: &str, text: &str, page: Option<&str>) -> Vec<String> {
    if !is_crate_source(path) || is_test_file(path) {
        return Vec::new();
    }
    let page = page.map(one_spaced);
    let mut problems = Vec::new();
    for (line, attribute) in error_attributes(before_tests(text)) {
        match attribute {
            ErrorAttribute::Transparent => {}
            ErrorAttribute::Message(message) => {
                problems.extend(unexplained(path, line, &message, page.as_deref()));
            }
            ErrorAttribute::Other => {
                problems.push(format!("{path}:{line}: the message is not a literal, so it cannot be compared with {DIAGNOSTICS}"));
            }
        }
    }
    problems
}

/// Every text that the library logs as a warning or an error itself, or panics with, stands in the diagnostics page.
pub(crate) fn log_messages(path: &str, text: &str, page: Option<&str>) -> Vec<String> {
    if !is_library_source(path) || is_test_file(path) {
        return Vec::new();
    }
    let page = page.map(one_spaced);
    let text = before_tests(text);
    let code = code_only(text);
    let mut problems = Vec::new();
    for start in ["tracing::warn!(", "tracing::error!(", "panic!("] {
        for (at, _) in code.match_indices(start) {
            let literals = literals_in_brackets(text, at).into_iter();
            let said = literals.filter(|literal| says_something(&literal.value));
            problems.extend(
                said.filter_map(|said| unexplained(path, said.line, &said.value, page.as_deref())),
            );
        }
    }
    problems
}

/// Whether a text is more than a name and what is put in.
fn says_something(text: &str) -> bool {
    let outside = text.split('{').map(|part| part.split('}').next_back());
    let words: String = outside.flatten().collect();
    words.trim().contains(' ')
}

/// The problem that a text does not stand in the diagnostics page, if it does not.
fn unexplained(path: &str, line: usize, text: &str, page: Option<&str>) -> Option<String> {
    let text = one_spaced(text);
    let stands = page.is_some_and(|page| page.contains(&text));
    (!stands).then(|| format!("{path}:{line}: \"{text}\" is not in {DIAGNOSTICS}"))
}

fn one_spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Every variant of `ReportKind` has a heading of its own in the diagnostics page.
pub(crate) fn report_kinds(files: &[File]) -> Vec<String> {
    let declared = files
        .iter()
        .filter(|file| is_crate_source(&file.path) && file.path.ends_with(".rs"))
        .find_map(|file| Some((&file.path, enum_variants(&file.text, "ReportKind")?)));
    let Some((path, kinds)) = declared.filter(|(_, kinds)| !kinds.is_empty()) else {
        return vec![
            "no source of a crate declares the variants of `pub enum ReportKind`".to_owned(),
        ];
    };
    let page = find(files, DIAGNOSTICS).unwrap_or_default();
    kinds
        .iter()
        .filter(|kind| {
            !page
                .lines()
                .any(|line| line.trim_end() == format!("### `{kind}`"))
        })
        .map(|kind| {
            format!("{path}: `ReportKind::{kind}` has no heading \"### `{kind}`\" in {DIAGNOSTICS}")
        })
        .collect()
}

/// Every `static X: ExtensionReport` in a crate's source: the line and the name. A name that is no
/// literal is empty.
fn extension_reports(text: &str) -> Vec<(usize, String)> {
    let text = before_tests(text);
    let code = code_only(text);
    let mut found = Vec::new();
    for (at, _) in code.match_indices("ExtensionReport {") {
        // The type's own declaration, and its `impl`, are none.
        let head = code.get(..at).unwrap_or_default();
        if !head.trim_end().ends_with('=') {
            continue;
        }
        let end = code.get(at..).and_then(|rest| rest.find('}'));
        let body = code.get(at..end.map_or(code.len(), |end| at + end));
        let name = body.and_then(|body| body.find("name:"));
        let literal = name.and_then(|name| text.get(at + name + "name:".len()..));
        let literal = literal.and_then(|rest| read_literal(rest.trim_start()));
        let line = head.matches('\n').count() + 1;
        found.push((line, literal.map(|(name, _)| name).unwrap_or_default()));
    }
    found
}

/// Every kind of report that a crate defines as an extension's has a heading of its own in the
/// diagnostics page.
pub(crate) fn extension_report_kinds(path: &str, text: &str, page: Option<&str>) -> Vec<String> {
    if !is_crate_source(path) || is_test_file(path) {
        return Vec::new();
    }
    let page = page.unwrap_or_default();
    let has = |name: &str| {
        let heading = format!("### `{name}`");
        page.lines().any(|line| line.trim_end() == heading)
    };
    let reports = extension_reports(text).into_iter();
    reports
        .filter(|(_, name)| !has(name))
        .map(|(line, name)| {
            if name.is_empty() {
                format!("{path}:{line}: the name of an `ExtensionReport` is not a literal, so it cannot be compared with {DIAGNOSTICS}")
            } else {
                format!("{path}:{line}: the report `{name}` has no heading \"### `{name}`\" in {DIAGNOSTICS}")
            }
        })
        .collect()
}

/// Every literal text that says how to fix what a report tells of stands in the diagnostics page:
/// those that `ReportKind::fix` gives, those that a report gets instead (`fix = ".."`), those of an
/// `ExtensionReport` (`fix: ".."`), those of constants (`.._FIX`), and those of a `Culprit`.
pub(crate) fn report_fixes(files: &[File]) -> Vec<String> {
    let page = find(files, DIAGNOSTICS).map(one_spaced);
    let mut of_kinds = 0;
    let mut problems = Vec::new();
    for file in files {
        if !is_crate_source(&file.path) || is_test_file(&file.path) {
            continue;
        }
        let text = before_tests(&file.text);
        let code = code_only(text);
        let mut fixes = Vec::new();
        if enum_variants(text, "ReportKind").is_some()
            && let Some(at) = code.find("fn fix(")
            && let Some(body) = code.get(at..).and_then(|code| code.find('{'))
        {
            let given = literals_in_brackets(text, at + body);
            of_kinds += given.len();
            fixes.extend(given.into_iter().map(|fix| (fix.line, fix.value)));
        }
        for (at, name) in code.match_indices("fix = ") {
            let head = text.get(..at).unwrap_or_default();
            let literal = text.get(at + name.len()..).and_then(read_literal);
            if let Some((value, _)) = literal.filter(|_| !head.ends_with(is_name)) {
                fixes.push((head.matches('\n').count() + 1, value));
            }
        }
        for start in ["fix:", "_FIX: &str ="] {
            for (at, _) in code.match_indices(start) {
                let rest = text.get(at + start.len()..).map(str::trim_start);
                if let Some((value, _)) = rest.and_then(read_literal) {
                    let head = text.get(..at).unwrap_or_default();
                    fixes.push((head.matches('\n').count() + 1, value));
                }
            }
        }
        for (at, _) in code.match_indices("Culprit::new(") {
            let second = |l: &super::source::Literal| l.depth == 1 && l.after_comma;
            let given = literals_in_brackets(text, at).into_iter().filter(second);
            fixes.extend(given.map(|fix| (fix.line, fix.value)));
        }
        let unexplained =
            |(line, fix): (usize, String)| unexplained(&file.path, line, &fix, page.as_deref());
        problems.extend(fixes.into_iter().filter_map(unexplained));
    }
    if of_kinds == 0 {
        problems.push("no source of a crate has literals in `ReportKind::fix`".to_owned());
    }
    problems
}

/// No file holds a word that means nothing to its readers. The words are put together here, so that
/// this file passes too.
pub(crate) fn forbidden_words(path: &str, text: &str) -> Vec<String> {
    let words = [
        concat!("arti", "factory"),
        concat!("/wo", "rk/"),
        concat!("sub", "agent"),
    ];
    let mut problems = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.to_ascii_lowercase();
        for word in words {
            if line.contains(word) {
                problems.push(format!("{path}:{}: holds \"{word}\"", index + 1));
            }
        }
    }
    for word in words {
        if path.to_ascii_lowercase().contains(word) {
            problems.push(format!("{path}: its name holds \"{word}\""));
        }
    }
    problems
}

/// Planted bad input: each rule can fail.
#[cfg(test)]
mod tests {
    use super::*;

    fn files(list: &[(&str, &str)]) -> Vec<File> {
        list.iter()
            .map(|&(path, text)| File {
                path: path.to_owned(),
                text: text.to_owned(),
            })
            .collect()
    }

    #[test]
    fn an_extension_report_without_heading_is_found() {
        let path = "crates/a/src/reports.rs";
        let text = "pub struct ExtensionReport { pub name: &'static str }\n/// static X: ExtensionReport = ExtensionReport { name: \"Shown\" };\nstatic A: ExtensionReport = ExtensionReport {\n    name: \"Known\",\n};\nstatic B: ExtensionReport = ExtensionReport { fix: \"x\", name: \"Lost\" };\nconst C: ExtensionReport = ExtensionReport { name: D };\n";
        let page = "### `Known`\ntext `Lost`\n#### `Lost`\n";
        assert_eq!(
            extension_report_kinds(path, text, Some(page)),
            [
                "crates/a/src/reports.rs:6: the report `Lost` has no heading \"### `Lost`\" in docs/diagnostics.md",
                "crates/a/src/reports.rs:7: the name of an `ExtensionReport` is not a literal, so it cannot be compared with docs/diagnostics.md",
            ]
        );
        assert_eq!(extension_report_kinds(path, text, None).len(), 3);
        assert!(extension_report_kinds("tests/a.rs", text, Some(page)).is_empty());
        let known = "static A: ExtensionReport = ExtensionReport { name: \"Known\" };\n";
        assert!(extension_report_kinds(path, known, Some(page)).is_empty());
    }

    #[test]
    fn the_fix_of_an_extension_report_is_found() {
        let kinds = "pub enum ReportKind { A }\nimpl ReportKind { fn fix(self) { \"do a\" } }\n";
        let text = "static A: ExtensionReport = ExtensionReport {\n    fix: \"do b\",\n};\nconst A_FIX: &str =\n    \"do c\";\n";
        let tree = |page| {
            files(&[
                ("crates/a/src/report.rs", kinds),
                ("crates/b/src/reports.rs", text),
                (DIAGNOSTICS, page),
            ])
        };
        assert!(report_fixes(&tree("do a do b do c")).is_empty());
        assert_eq!(
            report_fixes(&tree("do a")),
            [
                "crates/b/src/reports.rs:2: \"do b\" is not in docs/diagnostics.md",
                "crates/b/src/reports.rs:4: \"do c\" is not in docs/diagnostics.md",
            ]
        );
    }

    #[test]
    fn a_file_without_header_is_found() {
        assert!(header("a.rs", "//! A room.\nfn a() {}\n").is_empty());
        for bad in [
            "",
            "//!\n",
            "fn a() {}\n",
            "\n//! Late.\n",
            "// Plain.\n",
            "/// Of an item.\n",
        ] {
            assert_eq!(
                header("a.rs", bad),
                ["a.rs: does not start with a `//!` line that says what the file is"]
            );
        }
    }

    #[test]
    fn a_long_file_is_found() {
        let long = "x\n".repeat(601);
        assert_eq!(
            length("crates/a/src/b.rs", &long),
            ["crates/a/src/b.rs: 601 lines before its tests, more than 600; split it"]
        );
        assert!(length("crates/a/src/b.rs", &"x\n".repeat(600)).is_empty());
        assert!(
            length(
                "crates/a/src/b.rs",
                &format!("x\n#[cfg(test)]\nmod tests {{\n{long}}}\n")
            )
            .is_empty()
        );
        assert_eq!(
            length(
                "crates/a/src/b.rs",
                &format!("#[cfg(test)]\nmod tests;\n{long}")
            )
            .len(),
            1
        );
        assert!(length("crates/a/src/b/tests.rs", &long).is_empty());
        assert!(length("tests/b.rs", &long).is_empty());
    }

    #[test]
    fn unfinished_code_is_found() {
        let bad = "fn a() {\n    todo!()\n}\nfn b() { dbg!(1); core::unimplemented!(\"x\") }\n";
        assert_eq!(
            unfinished("a.rs", bad),
            [
                "a.rs:4: `dbg!` in code",
                "a.rs:2: `todo!` in code",
                "a.rs:4: `unimplemented!` in code"
            ]
        );
        assert!(
            unfinished(
                "a.rs",
                "// todo!\nlet s = \"dbg!\"; my_dbg!(); let b = todo!=1;\n"
            )
            .is_empty()
        );
    }

    #[test]
    fn a_look_at_the_clock_is_found() {
        let bad =
            "let a = std::time::Instant::now();\nlet b = SystemTime::now();\nthread::sleep(c);\n";
        for path in [
            "crates/sc_core/src/world.rs",
            "examples/a.rs",
            "tests/a.rs",
            "crates/sc_core/src/driver_two.rs",
        ] {
            let lines: Vec<String> = wall_clock(path, bad);
            assert_eq!(lines.len(), 3, "{lines:?}");
            assert!(lines.iter().all(|line| line.starts_with(path)));
        }
        for path in [
            "crates/sc_core/src/driver.rs",
            "crates/sc_core/src/driver/loop.rs",
            "benches/a.rs",
            "crates/a/benches/b.rs",
        ] {
            assert!(wall_clock(path, bad).is_empty());
        }
        assert!(
            wall_clock(
                "a.rs",
                "//! Never `Instant::now`.\nGameInstant::now(); Instant::nowhere();\n"
            )
            .is_empty()
        );
    }

    #[test]
    fn a_source_that_is_not_named_is_found() {
        let files = files(&[
            ("A.md", "`src/a.rs`, `crates/c/src/d/`, `crates/c/src/`"),
            ("src/a.rs", ""),
            ("src/b.rs", ""),
            ("crates/c/src/d/e.rs", ""),
            ("crates/c/src/f.rs", ""),
            ("crates/c/tests/g.rs", ""),
        ]);
        assert_eq!(
            unnamed_sources("A.md", &files),
            [
                "A.md: `src/b.rs` is not in it, nor its folder",
                "A.md: `crates/c/src/f.rs` is not in it, nor its folder"
            ]
        );
    }

    #[test]
    fn an_export_that_the_facade_has_not_is_found() {
        let files = files(&[
            ("src/lib.rs", "\npub use c::{A,\n B};\n"),
            ("src/bevy.rs", "\npub struct D;"),
            (
                "crates/c/src/lib.rs",
                "\npub use x::y::A;\npub use z::{B, C, D};\n    pub use a::E;",
            ),
        ]);
        assert_eq!(
            unexported(&files),
            ["crates/c/src/lib.rs: the facade does not export `C`"]
        );
    }

    #[test]
    fn a_logged_text_without_explanation_is_found() {
        let source = "fn f() { tracing::warn!(target: \"stillcooking\", \"it is {gone}\"); panic!(\"{e}\"); }";
        let page = Some("| `it is {gone}` | gone |");
        assert!(log_messages("src/a.rs", source, page).is_empty());
        assert_eq!(
            log_messages("src/a.rs", source, None),
            ["src/a.rs:1: \"it is {gone}\" is not in docs/diagnostics.md"]
        );
        assert!(log_messages("tests/a.rs", source, None).is_empty());
    }

    #[test]
    fn a_path_that_is_not_there_is_found() {
        let text = "`src/lib.rs` `src/` `src/no.rs`\n`no/` and/or `a::b/` `https://x.y/` `no.rs`\n```\n`no/no.rs`\n```\n`ci/no.sh`\n";
        let tree = files(&[("ARCHITECTURE.md", text), ("src/lib.rs", "")]);
        assert_eq!(
            named_paths("ARCHITECTURE.md", &tree),
            [
                "ARCHITECTURE.md:1: `src/no.rs` does not exist",
                "ARCHITECTURE.md:2: `no/` does not exist",
                "ARCHITECTURE.md:6: `ci/no.sh` does not exist"
            ]
        );
        assert_eq!(
            named_paths("ARCHITECTURE.md", &[]),
            ["ARCHITECTURE.md: there is no such file"]
        );
    }

    #[test]
    fn a_crate_that_allows_unsafe_code_is_found() {
        let workspace = (
            "Cargo.toml",
            "[workspace.lints.rust]\nunsafe_code = \"forbid\"\n[lints]\nworkspace = true\n",
        );
        let bare = "[package]\nname = \"a\"\n";
        let ok = files(&[
            workspace,
            ("src/lib.rs", ""),
            ("crates/a/Cargo.toml", "[lints]\nworkspace = true # all\n"),
            ("crates/a/src/lib.rs", ""),
            ("crates/b/Cargo.toml", bare),
            ("crates/b/src/lib.rs", "//! B.\n#![forbid(unsafe_code)]\n"),
            ("crates/b/src/inner.rs", ""),
        ]);
        assert!(unsafe_forbidden(&ok).is_empty());

        let bad = files(&[
            workspace,
            ("crates/a/Cargo.toml", bare),
            ("crates/a/src/lib.rs", "//! #![forbid(unsafe_code)]\n"),
            ("crates/a/tests/t.rs", ""),
            ("crates/a/src/inner.rs", ""),
        ]);
        let problems = unsafe_forbidden(&bad);
        assert_eq!(problems.len(), 2, "{problems:?}");
        assert!(problems[0].starts_with("crates/a/src/lib.rs: unsafe code is not forbidden"));
        assert!(problems[1].starts_with("crates/a/tests/t.rs: unsafe code is not forbidden"));

        // Taking over the lints of a workspace that only warns is not enough.
        let weak = files(&[
            (
                "Cargo.toml",
                "[workspace.lints.rust]\nunsafe_code = \"warn\"\n[lints]\nworkspace = true\n",
            ),
            ("src/lib.rs", ""),
        ]);
        assert_eq!(unsafe_forbidden(&weak).len(), 1);
    }

    #[test]
    fn a_message_without_explanation_is_found() {
        let source = "//! E.\n#[error(\"world {0} is gone; \\\n          name another\")]\n#[error(\n  \"two\\nlines {name:?}\"\n)]\n\
                      #[error(transparent)]\n#[cfg(test)]\nmod tests {\n#[error(\"planted\")]\n}\n";
        let path = "crates/a/src/e.rs";
        let page = "# Page\n`world {0} is gone;\nname   another`, and `two lines {name:?}`\n";
        assert!(error_messages(path, source, Some(page)).is_empty());
        assert_eq!(
            error_messages(
                path,
                source,
                Some("world {1} is gone; name another. two lines {name:?}")
            ),
            [
                "crates/a/src/e.rs:2: \"world {0} is gone; name another\" is not in docs/diagnostics.md"
            ]
        );
        assert_eq!(error_messages(path, source, None).len(), 2);
        assert!(error_messages("tests/e.rs", source, None).is_empty());
        assert_eq!(
            error_messages(path, "#[error(fmt = words)]\n", Some(page)),
            [
                "crates/a/src/e.rs:1: the message is not a literal, so it cannot be compared with docs/diagnostics.md"
            ]
        );
    }

    #[test]
    fn a_report_kind_without_heading_is_found() {
        let source = (
            "crates/sc_core/src/report.rs",
            "pub enum ReportKind {\n    One,\n    Two { id: u8 },\n}\n",
        );
        assert!(
            report_kinds(&files(&[source, (DIAGNOSTICS, "### `One`\n\n### `Two`\n")])).is_empty()
        );
        assert_eq!(
            report_kinds(&files(&[
                source,
                (DIAGNOSTICS, "### `One`\n\n## `Two`\n### `TwoMore`\n")
            ])),
            [
                "crates/sc_core/src/report.rs: `ReportKind::Two` has no heading \"### `Two`\" in docs/diagnostics.md"
            ]
        );
        assert_eq!(report_kinds(&files(&[source])).len(), 2);
        assert_eq!(
            report_kinds(&[]),
            ["no source of a crate declares the variants of `pub enum ReportKind`"]
        );
    }

    #[test]
    fn a_fix_without_explanation_is_found() {
        let kinds = (
            "crates/a/src/report.rs",
            "pub enum ReportKind { One, Two }\nimpl ReportKind {\n    const fn fix(self) -> &'static str {\n        \
             match self {\n            One => \"do one\",\n            Two => {\n                \"do two\"\n            \
             }\n        }\n    }\n    fn after() { \"no fix\" }\n}\n",
        );
        let own = (
            "crates/a/src/b.rs",
            "report.fix = \"own\".into();\nlet prefix = \"no\";\nCulprit::new(format!(\"no {}\", \"no\"), \"mend it\");\n\
             Culprit::new(\"no\", fix);\n",
        );
        let page = (DIAGNOSTICS, "to fix: do one; to fix: do\ntwo; own, mend it");
        assert_eq!(
            report_fixes(&files(&[kinds, own, page])),
            Vec::<String>::new()
        );
        assert_eq!(
            report_fixes(&files(&[kinds, own, (DIAGNOSTICS, "do one")])),
            [
                "crates/a/src/report.rs:7: \"do two\" is not in docs/diagnostics.md",
                "crates/a/src/b.rs:1: \"own\" is not in docs/diagnostics.md",
                "crates/a/src/b.rs:3: \"mend it\" is not in docs/diagnostics.md"
            ]
        );
        assert_eq!(report_fixes(&files(&[kinds, own])).len(), 4);
        assert_eq!(
            report_fixes(&files(&[page])),
            ["no source of a crate has literals in `ReportKind::fix`"]
        );
    }

    #[test]
    fn a_forbidden_word_is_found() {
        let place = concat!("see /wo", "rk/x");
        assert_eq!(
            forbidden_words("a.md", &format!("fine\n{place}\n")),
            [format!("a.md:2: holds \"{}\"", concat!("/wo", "rk/"))]
        );
        assert_eq!(
            forbidden_words("a.md", concat!("Arti", "factory and Sub", "agents")).len(),
            2
        );
        assert_eq!(
            forbidden_words(concat!("docs/sub", "agent.md"), "").len(),
            1
        );
        assert!(forbidden_words("a.md", "work/ and homework, a factory of arts\n").is_empty());
    }
}
