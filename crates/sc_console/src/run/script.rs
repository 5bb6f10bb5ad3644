//! Script files: found in the folder of scripts and nowhere else, read whole before anything of them
//! runs.

use std::fs;
use std::path::{Component, Path, PathBuf};

use sc_core::{Cx, Report, ReportKind};

use super::{DoneFn, Frame, Lines};
use crate::error::FileError;
use crate::file;
use crate::output::LineOutcome;
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
    let io = |path: &Path| {
        let path = path.to_owned();
        move |error| FileError::Io {
            action: "read",
            path,
            error,
        }
    };
    let root = fs::canonicalize(root).map_err(io(root))?;
    let wanted = root.join(&relative);
    // Links are followed first, then asked where they have led.
    let found = fs::canonicalize(&wanted).map_err(io(&wanted))?;
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
    let text = text.ok_or_else(|| io(&wanted)(std::io::ErrorKind::NotFound.into()))?;
    Ok(Lines::script(
        &relative.to_string_lossy(),
        &text,
        keep_going,
    ))
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
