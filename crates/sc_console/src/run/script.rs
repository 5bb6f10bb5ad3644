//! Script files: found in the folder of scripts and nowhere else, read whole before anything of them
//! runs.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use sc_core::{Cx, Report, ReportKind};

use super::{DoneFn, Frame, Lines};
use crate::error::FileError;
use crate::file;
use crate::name::fold;
use crate::output::LineOutcome;
use crate::parse::nearest;
use crate::registry::console;
use crate::reports;
use crate::settings::ConsoleSettings;
use crate::source::Source;

/// What scripts end in.
const EXTENSION: &str = "cfg";

/// Reads a script by its path in the folder of scripts, with or without its extension.
pub(crate) fn read_script(
    settings: &ConsoleSettings,
    path: &str,
    keep_going: bool,
) -> Result<Lines, FileError> {
    let root = settings.script_root.as_deref();
    let root = root.ok_or(FileError::NoScriptRoot)?;
    let outside = || FileError::OutsideRoot {
        path: path.to_owned(),
    };
    // A backslash is a separator on some machines, so it is one here; a colon names a drive there.
    let plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    if path.is_empty()
        || path.contains(['\\', ':', '\0'])
        || !Path::new(path).components().all(plain)
    {
        return Err(outside());
    }
    let mut relative = PathBuf::from(path);
    match relative.extension() {
        None => _ = relative.set_extension(EXTENSION),
        Some(extension) if extension == EXTENSION => {}
        Some(_) => {
            return Err(FileError::WrongExtension {
                path: path.to_owned(),
            });
        }
    }
    let cannot_read = |path: &Path| {
        let path = path.to_owned();
        move |error| FileError::Io {
            action: "read",
            path,
            error,
        }
    };
    let root = fs::canonicalize(root).map_err(cannot_read(root))?;
    let wanted = root.join(&relative);
    // Links are followed first, then asked where they have led.
    let found = fs::canonicalize(&wanted).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => no_script(settings, path),
        _ => cannot_read(&wanted)(error),
    })?;
    if !found.starts_with(&root) {
        return Err(outside());
    }
    if found
        .extension()
        .is_none_or(|extension| extension != EXTENSION)
    {
        return Err(FileError::WrongExtension {
            path: path.to_owned(),
        });
    }
    let text = file::read(&found, settings.script_limit)?;
    let text = text.ok_or_else(|| no_script(settings, path))?;
    Ok(Lines::script(
        &relative.to_string_lossy(),
        &text,
        keep_going,
    ))
}

/// The error for a script that is not there.
fn no_script(settings: &ConsoleSettings, path: &str) -> FileError {
    let there = scripts(settings).unwrap_or_default();
    let folded: Vec<String> = there.iter().map(|script| fold(script)).collect();
    let meant = path.strip_suffix(".cfg").unwrap_or(path);
    let near = nearest(&fold(meant), folded.iter().map(String::as_str));
    let near = near.and_then(|near| folded.iter().position(|script| script == near));
    FileError::NoScript {
        path: path.to_owned(),
        nearest: near.and_then(|at| there.get(at)).cloned(),
    }
}

/// So many scripts are listed, and folders looked into so deep.
const LISTED: usize = 1000;
const DEPTH: usize = 8;

/// The scripts there are, as `exec` takes them, sorted. Links to folders are not followed, and what has no
/// name that can be typed is left out.
pub(crate) fn scripts(settings: &ConsoleSettings) -> Result<Vec<String>, FileError> {
    let root = settings.script_root.as_deref();
    let root = root.ok_or(FileError::NoScriptRoot)?;
    let mut found = Vec::new();
    list(root, "", DEPTH, &mut found).map_err(|error| FileError::Io {
        action: "read",
        path: root.to_owned(),
        error,
    })?;
    found.sort_unstable();
    found.truncate(LISTED);
    Ok(found)
}

fn list(folder: &Path, prefix: &str, depth: usize, into: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (kind, name) = (entry.file_type()?, entry.file_name());
        let Some(name) = name.to_str() else { continue };
        if kind.is_dir() {
            if depth > 0 && into.len() <= LISTED {
                // A folder of others that cannot be read hides what is in it, and nothing else.
                let _ = list(&entry.path(), &format!("{prefix}{name}/"), depth - 1, into);
            }
        } else if let Some(script) = name.strip_suffix(".cfg") {
            into.push(format!("{prefix}{script}"));
        }
    }
    Ok(())
}

/// Runs a script in the next stage, and reports if it does not run to its end.
pub(crate) fn startup<H>(cx: &mut Cx<'_, H>, path: &str) -> Result<(), FileError> {
    let lines = read_script(&console(cx).settings, path, false)?;
    let name = path.to_owned();
    let done: DoneFn<H> = Box::new(move |cx, run| {
        if run.outcome == LineOutcome::Failed {
            let errors = run.output.iter();
            let errors = errors.filter(|line| line.kind == crate::output::LineKind::Error);
            let texts: Vec<&str> = errors.map(|line| line.text.as_str()).collect();
            let kind = ReportKind::Extension(&reports::STARTUP_FAILED);
            cx.report(Report::new(kind, texts.join("; ")).object(name));
        }
    });
    let mut task = super::Task::new("", Source::Script, 0, Some(done));
    task.frames = vec![Frame::new(lines, Source::Script)];
    task.is_startup = true;
    super::keep(cx, task);
    Ok(())
}
