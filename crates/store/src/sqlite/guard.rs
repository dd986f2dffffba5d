//! Notices when files of the store are deleted, moved or replaced while it is open.
//!
//! On Unix an open file lives on without its name. A server whose `renown.db` was deleted would go on to acknowledge writes that
//! are gone when it ends; one whose `renown.lock` was deleted can be joined by a second one. So before every transaction, and once a second
//! while nothing is written, what each path leads to is compared with what is open. From the first difference on no write is accepted.
//! That is not undone by putting a file back: only a new process knows that what it opens is whole.
//!
//! On other systems an open file cannot be deleted, and only its absence is looked for.

use std::fs::Metadata;
use std::path::{Path, PathBuf};

use super::lock::DirectoryLock;
use super::scrub::DatabaseFile;
use crate::error::StoreError;

/// What a file is, whatever its name.
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
    /// Watches the lock, the database, its log and the index of that. Connections have to be open, so that all are there; where the system
    /// of files allows no write-ahead log there is none to watch.
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

    /// Fails from the first time on that a path does not lead to what is open.
    pub(super) fn check(&mut self) -> Result<(), StoreError> {
        if self.found.is_none() {
            self.found = self.watched.iter().find_map(Watched::difference);
        }
        self.found.clone().map_or(Ok(()), |found| Err(StoreError::Vanished(found)))
    }

    /// Whether nothing was found so far.
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
            // A file that cannot be looked at now says nothing about what is open.
            Err(_) => None,
        }
    }
}
