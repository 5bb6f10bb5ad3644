//! Files: reading within limits, and writing so that a file is the old one or the new one, never half.

use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use crate::error::FileError;

fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> FileError {
    let path = path.to_owned();
    move |error| FileError::Io {
        action,
        path,
        error,
    }
}

/// How long a file may be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    pub(crate) bytes: u64,
    /// What can be done about a longer one.
    pub(crate) fix: &'static str,
}

/// The text of a regular file up to a limit; `None` when there is no such file.
pub(crate) fn read(path: &Path, limit: Limit) -> Result<Option<String>, FileError> {
    // Asked before it is opened: opening a pipe may block.
    let kind = match fs::metadata(path) {
        Ok(kind) => kind,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io("read", path)(error)),
    };
    let not_a_file = || FileError::NotAFile {
        path: path.to_owned(),
    };
    let too_long = || FileError::TooLong {
        path: path.to_owned(),
        limit: limit.bytes,
        fix: limit.fix,
    };
    if !kind.is_file() {
        return Err(not_a_file());
    }
    if kind.len() > limit.bytes {
        return Err(too_long());
    }
    let file = File::open(path).map_err(io("read", path))?;
    if !file.metadata().map_err(io("read", path))?.is_file() {
        return Err(not_a_file());
    }
    // A byte more than allowed: it may have grown.
    let mut bytes = Vec::new();
    let mut file = file.take(limit.bytes.saturating_add(1));
    file.read_to_end(&mut bytes).map_err(io("read", path))?;
    if bytes.len() as u64 > limit.bytes {
        return Err(too_long());
    }
    let text = String::from_utf8(bytes).map_err(|_| FileError::NotText {
        path: path.to_owned(),
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned();
    Ok(Some(text))
}

/// Writes a file whole or not at all: beside it first, then in its place. It keeps its mode. Of those who
/// write it at once, one is the last.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), FileError> {
    // Through a link, what it leads to is replaced, not the link.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    // To put another one in its place would not ask it.
    if fs::metadata(&target).is_ok_and(|old| old.permissions().readonly()) {
        return Err(FileError::ReadOnly {
            path: path.to_owned(),
        });
    }
    let (mut file, beside) = create_beside(&target).map_err(io("write", path))?;
    let written = keep_mode(&target, &file)
        .and_then(|()| file.write_all(text.as_bytes()))
        .and_then(|()| file.sync_all())
        .and_then(|()| fs::rename(&beside, &target));
    written.map_err(|error| {
        // What is left of it is of no use; that it could not be written is what counts.
        let _ = fs::remove_file(&beside);
        io("write", path)(error)
    })
}

/// So many writers at once, and what others have left behind when they were killed.
const BESIDE: u32 = 1000;

/// A new file of its own beside another one.
fn create_beside(target: &Path) -> std::io::Result<(File, PathBuf)> {
    let mut number = 0;
    loop {
        let mut beside = target.to_owned().into_os_string();
        beside.push(format!(".{}-{number}.new", std::process::id()));
        match File::create_new(&beside) {
            Ok(file) => return Ok((file, beside.into())),
            Err(error) if error.kind() == ErrorKind::AlreadyExists && number < BESIDE => {
                number += 1
            }
            Err(error) => return Err(error),
        }
    }
}

/// Gives a new file the mode of the one it is to replace, if there is one.
fn keep_mode(old: &Path, new: &File) -> std::io::Result<()> {
    match fs::metadata(old) {
        Ok(old) => new.set_permissions(old.permissions()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}
