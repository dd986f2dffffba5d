//! The one-time link to the pages, kept in the data directory for `renown open` while the server runs.
//!
//! Only the owner of the data directory can read it, who could as well read the database.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use renown_server::OnToken;

use crate::store_location;

/// The file in the data directory.
const FILE: &str = "login-url";

/// Where the link of a data directory is kept.
pub(crate) fn file(data: &Path) -> PathBuf {
    data.join(FILE)
}

/// The address that logs in with a token.
pub(crate) fn address(url: &str, token: &str) -> String {
    format!("{url}/login?token={token}")
}

/// Keeps the link while it lives.
pub(super) struct LoginLink {
    file: PathBuf,
    url: String,
}

impl LoginLink {
    pub(super) fn new(data: &Path, url: &str) -> Self {
        Self { file: file(data), url: url.to_owned() }
    }

    /// Keeps each new token. Where that fails `renown open` does not work, and the server does.
    pub(super) fn keeper(&self) -> OnToken {
        let (file, url) = (self.file.clone(), self.url.clone());
        Box::new(move |token| {
            if let Err(error) = write(&file, &address(&url, token)) {
                tracing::warn!(%error, "could not keep the link for `renown open`");
            }
        })
    }
}

impl Drop for LoginLink {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.file);
    }
}

/// Writes the file whole or not at all, for its owner only.
fn write(file: &Path, link: &str) -> io::Result<()> {
    let _private = store_location::keep_private();
    let new = file.with_extension("new");
    fs::write(&new, link)?;
    fs::rename(&new, file)
}
