//! Notices when files of the store are deleted, moved or replaced while it is open.
//!
//! On Unix an open file lives on without its name. A server whose `renown.db` was deleted would acknowledge writes
//! that are gone when it ends. If `renown.lock` was deleted, a second server could open the same directory. So
//! before every transaction, and once per second while nothing is written, each path is compared with the open
//! file. From the first difference on, no write is accepted. Putting a file back does not undo that: only a new
//! process can check that what it opens is complete.
//!
//! On other systems an open file cannot be deleted, so only its absence is checked.

use std::fs::Metadata;
use std::path::{Path, PathBuf};

use super::lock::DirectoryLock;
use super::scrub::DatabaseFile;
use crate::error::StoreError;

/// The identity of a file, whatever its name.
type FileId = (u64, u64);

#[cfg(unix)]
fn id(metadata: &Metadata) -> FileId {
    use std::os::unix::fs::MetadataExt;

    (metadata.dev(), metadata.ino())
}

#[cfg(not(unix))]
fn id(_: &Metadata) -> FileId {
    (0, 0)
}

struct Watched {
    path: PathBuf,
    id: FileId,
}

/// The files of an open store.
pub(super) struct Guard {
    watched: Vec<Watched>,
    found: Option<String>,
}

impl Guard {
    /// Watches the lock, the database, its log and the index of the log. Connections have to be open, so that all
    /// files exist. On a file system without write-ahead logs, only the first two exist.
    pub(super) fn new(lock: &DirectoryLock, file: &DatabaseFile, path: &Path) -> Result<Self, StoreError> {
        let mut watched = Vec::new();
        for (path, metadata) in [(lock.path(), lock.handle().metadata()), (path, file.handle().metadata())] {
            let metadata = metadata.map_err(StoreError::io(path.display().to_string()))?;
            watched.push(Watched { path: path.to_owned(), id: id(&metadata) });
        }
        for suffix in ["-wal", "-shm"] {
            let mut beside = path.as_os_str().to_owned();
            beside.push(suffix);
            let beside = PathBuf::from(beside);
            if let Ok(metadata) = beside.metadata() {
                watched.push(Watched { path: beside, id: id(&metadata) });
            }
        }
        Ok(Self { watched, found: None })
    }

    /// Compares each path with the open file. Fails from the first difference on.
    pub(super) fn check(&mut self) -> Result<(), StoreError> {
        if self.found.is_none() {
            self.found = self.watched.iter().find_map(Watched::difference);
        }
        self.found.clone().map_or(Ok(()), |found| Err(StoreError::Vanished(found)))
    }

    /// Returns whether no difference was found so far.
    pub(super) fn is_quiet(&self) -> bool {
        self.found.is_none()
    }
}

impl Watched {
    fn difference(&self) -> Option<String> {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        match self.path.metadata() {
            Ok(metadata) if id(&metadata) == self.id => None,
            Ok(_) => Some(format!("{name} was replaced")),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Some(format!("{name} was deleted or moved"))
            }
            // A file that cannot be examined now shows nothing about the open one.
            Err(_) => None,
        }
    }
}
