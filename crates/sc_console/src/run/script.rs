//! Script files: found in the folder of scripts and nowhere else, read whole before anything of them
//! runs.

use std::collections::VecDeque;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use sc_core::{Cx, Report, ReportKind};

use super::{DoneFn, Frame, Lines};
use crate::error::FileError;
use crate::file::{self, Limit};
use crate::name::fold;
use crate::output::{LineKind, LineOutcome};
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
    let root = root_of(settings)?;
    if path.is_empty() {
        return Err(FileError::NoScriptName);
    }
    // A backslash is a separator on some machines, so it is one here; a colon names a drive there.
    let plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    if path.contains(['\\', ':', '\0']) || !Path::new(path).components().all(plain) {
        return Err(FileError::OutsideRoot {
            path: path.to_owned(),
        });
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
    let wanted = root.join(&relative);
    // Links are followed first, then asked where they have led.
    let found = fs::canonicalize(&wanted).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => no_script(settings, path),
        _ => cannot_read(&wanted, error),
    })?;
    if !found.starts_with(&root) {
        return Err(FileError::LinkLeadsOut {
            path: path.to_owned(),
        });
    }
    if found
        .extension()
        .is_none_or(|extension| extension != EXTENSION)
    {
        return Err(FileError::WrongExtension {
            path: path.to_owned(),
        });
    }
    let limit = Limit {
        bytes: settings.script_limit,
        fix: "split it, or raise `console_settings().script_limit`",
    };
    let text = file::read(&found, limit)?;
    let text = text.ok_or_else(|| no_script(settings, path))?;
    Ok(Lines::script(
        &relative.to_string_lossy(),
        &text,
        keep_going,
    ))
}

/// The folder of scripts, links followed.
fn root_of(settings: &ConsoleSettings) -> Result<PathBuf, FileError> {
    let root = settings.script_root.as_deref();
    let root = root.ok_or(FileError::NoScriptRoot)?;
    fs::canonicalize(root).map_err(|error| cannot_read(root, error))
}

fn cannot_read(path: &Path, error: io::Error) -> FileError {
    FileError::Io {
        action: "read",
        path: path.to_owned(),
        error,
    }
}

/// The error for a script that is not there.
fn no_script(settings: &ConsoleSettings, path: &str) -> FileError {
    let there = scripts(settings).map_or_else(|_| Vec::new(), |scripts| scripts.names);
    let folded: Vec<String> = there.iter().map(|script| fold(script)).collect();
    let meant = path.strip_suffix(".cfg").unwrap_or(path);
    let near = nearest(&fold(meant), folded.iter().map(String::as_str));
    let near = near.and_then(|near| folded.iter().position(|script| script == near));
    FileError::NoScript {
        path: path.to_owned(),
        nearest: near.and_then(|at| there.get(at)).cloned(),
    }
}

/// So many files and folders are looked at, so that a frame takes no longer for a folder of thousands.
const LOOKED_AT: usize = 5_000;

/// The scripts there are, as `exec` takes them: those of a folder before those of the folders in it, each sorted.
pub(crate) struct Scripts {
    pub(crate) names: Vec<String>,
    /// There is more than was looked at.
    pub(crate) more: bool,
}

/// Lists the scripts. Links to folders are not followed; what `exec` refuses is left out.
pub(crate) fn scripts(settings: &ConsoleSettings) -> Result<Scripts, FileError> {
    let root = root_of(settings)?;
    let mut scripts = Scripts {
        names: Vec::new(),
        more: false,
    };
    let mut folders = VecDeque::from([(root.clone(), String::new())]);
    let mut left = LOOKED_AT;
    while let Some((folder, prefix)) = folders.pop_front() {
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if prefix.is_empty() => return Err(cannot_read(&folder, error)),
            // It hides what is in it, and nothing else.
            Err(_) => continue,
        };
        let (mut names, mut inside) = (Vec::new(), Vec::new());
        for entry in entries.flatten() {
            let Some(rest) = left.checked_sub(1) else {
                scripts.more = true;
                break;
            };
            left = rest;
            let (name, Ok(kind)) = (entry.file_name(), entry.file_type()) else {
                continue;
            };
            let Some(name) = name.to_str().filter(|name| can_be_typed(name)) else {
                continue;
            };
            if kind.is_dir() {
                inside.push((entry.path(), format!("{prefix}{name}/")));
            } else if is_script(&root, &entry.path(), kind.is_symlink())
                && let Some(stem) = name.strip_suffix(".cfg").filter(|stem| !stem.is_empty())
            {
                // Behind a dot of its own the extension must be written.
                let typed = if stem.contains('.') { name } else { stem };
                names.push(format!("{prefix}{typed}"));
            }
        }
        names.sort_unstable();
        inside.sort_unstable();
        scripts.names.extend(names);
        folders.extend(inside);
    }
    Ok(scripts)
}

fn can_be_typed(name: &str) -> bool {
    !name.contains(['\\', ':']) && !name.contains(char::is_control)
}

/// Whether a file in the folder of scripts is a regular one, and in there.
fn is_script(root: &Path, path: &Path, is_link: bool) -> bool {
    let has_extension = |path: &Path| path.extension().is_some_and(|e| e == EXTENSION);
    if !has_extension(path) {
        return false;
    }
    if !is_link {
        return path.is_file();
    }
    let led = fs::canonicalize(path);
    led.is_ok_and(|led| led.starts_with(root) && has_extension(&led) && led.is_file())
}

/// Runs a script in the next stage, and reports if it does not run to its end.
pub(crate) fn startup<H>(cx: &mut Cx<'_, H>, path: &str) -> Result<(), FileError> {
    let lines = read_script(&console(cx).settings, path, false)?;
    let name = path.to_owned();
    let done: DoneFn<H> = Box::new(move |cx, run| {
        let what = match run.outcome {
            LineOutcome::Failed => {
                let errors = run.output.iter();
                let errors = errors.filter(|line| line.kind == LineKind::Error);
                let texts: Vec<&str> = errors.map(|line| line.text.as_str()).collect();
                texts.join("; ")
            }
            LineOutcome::Cancelled => "was given up before all of it was done".to_owned(),
            LineOutcome::Done | LineOutcome::Pending => return,
        };
        let kind = ReportKind::Extension(&reports::STARTUP_FAILED);
        cx.report(Report::new(kind, what).object(name));
    });
    let mut task = super::Task::new("", Source::Script, 0, Some(done));
    task.frames = vec![Frame::new(lines, Source::Script)];
    task.is_startup = true;
    super::arrive(cx, task);
    Ok(())
}
