//! Reads and replaces settings files: always atomically, always with a backup.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// Maximum number of links to follow.
const LINKS_MAX: usize = 16;

/// Reads a file. Returns `None` if it does not exist.
pub(crate) fn read(path: &Path) -> Result<Option<String>, Failure> {
    let failed = |problem: &dyn std::fmt::Display| Failure::new(format!("{}: {problem}", path.display()));
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(&error)),
    };
    if metadata.is_dir() {
        return Err(failed(&"is a directory, expected a file"));
    }
    if !metadata.is_file() {
        return Err(failed(&"not a regular file"));
    }
    let bytes = fs::read(path).map_err(|error| failed(&error))?;
    String::from_utf8(bytes).map(Some).map_err(|_| failed(&"not UTF-8, expected text"))
}

/// Replaces the text of a file. Returns the path of the backup.
pub(crate) fn replace(path: &Path, before: Option<&str>, after: &str) -> Result<Option<PathBuf>, Failure> {
    // The agent may have changed the file while the user was reading.
    if read(path)?.as_deref() != before {
        return Err(Failure::new(format!("{}: changed in the meantime", path.display()))
            .hint("nothing was written; run the command again"));
    }
    let failed = |error: io::Error| {
        Failure::new(format!("{}: {error}", path.display()))
            .hint("nothing was written; `--print` prints the settings to paste")
    };
    let target = target(path).map_err(failed)?;
    if let Some(folder) = target.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    let permissions = match before {
        Some(_) => Some(fs::metadata(&target).map_err(failed)?.permissions()),
        None => None,
    };
    if permissions.as_ref().is_some_and(fs::Permissions::readonly) {
        return Err(failed(io::Error::new(io::ErrorKind::PermissionDenied, "is read-only")));
    }
    let backup = match before {
        Some(text) => Some(back_up(path, text, permissions.as_ref()).map_err(failed)?),
        None => None,
    };
    swap(&target, after, permissions.as_ref()).map_err(failed)?;
    Ok(backup)
}

/// Resolves links, so that a link to the file stays a link.
fn target(path: &Path) -> io::Result<PathBuf> {
    let mut target = path.to_owned();
    for _ in 0..LINKS_MAX {
        match fs::read_link(&target) {
            Ok(next) => target = target.parent().unwrap_or_else(|| Path::new("")).join(next),
            // It is not a link, or does not exist yet.
            Err(_) => return Ok(target),
        }
    }
    Err(io::Error::other("too many links"))
}

/// Writes the old text to a new file next to it, with the first unused name.
fn back_up(path: &Path, text: &str, permissions: Option<&fs::Permissions>) -> io::Result<PathBuf> {
    let mut number = 0_u32;
    loop {
        let mut name = path.as_os_str().to_owned();
        name.push(".renown-backup");
        if number > 0 {
            name.push(format!(".{number}"));
        }
        let backup = PathBuf::from(name);
        match create(&backup, text, permissions) {
            Ok(()) => return Ok(backup),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(error),
        }
    }
}

/// Writes a new file next to the target, then renames it to the target.
fn swap(target: &Path, text: &str, permissions: Option<&fs::Permissions>) -> io::Result<()> {
    let mut name = target.as_os_str().to_owned();
    name.push(format!(".renown-{}", std::process::id()));
    let new = PathBuf::from(name);
    create(&new, text, permissions)?;
    fs::rename(&new, target).inspect_err(|_| {
        let _ = fs::remove_file(&new);
    })
}

/// Creates a file that must not exist yet. Sets its permissions before its text.
fn create(path: &Path, text: &str, permissions: Option<&fs::Permissions>) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    let written = permissions
        .map_or(Ok(()), |permissions| file.set_permissions(permissions.clone()))
        .and_then(|()| file.write_all(text.as_bytes()))
        .and_then(|()| file.sync_all());
    // Delete a partly written file.
    written.inspect_err(|_| {
        let _ = fs::remove_file(path);
    })
}
