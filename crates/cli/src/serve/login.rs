//! The one-time login link of the web pages. It is in the data directory while the server runs, for `renown open`.
//!
//! Only the owner of the data directory can read it, who can also read the database.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use renown_server::OnToken;

use crate::store_location;

/// The file in the data directory.
const FILE: &str = "login-url";

/// Returns the path of the file with the link.
pub(crate) fn file(data: &Path) -> PathBuf {
    data.join(FILE)
}

/// Returns the URL that logs in with a token.
pub(crate) fn address(url: &str, token: &str) -> String {
    format!("{url}/login?token={token}")
}

/// The file with the link. It is deleted on drop.
pub(super) struct LoginLink {
    file: PathBuf,
    url: String,
}

impl LoginLink {
    pub(super) fn new(data: &Path, url: &str) -> Self {
        Self { file: file(data), url: url.to_owned() }
    }

    /// Returns a function that saves each new token. If saving fails, only `renown open` does not work.
    pub(super) fn keeper(&self) -> OnToken {
        let (file, url) = (self.file.clone(), self.url.clone());
        Box::new(move |token| {
            if let Err(error) = write(&file, &address(&url, token)) {
                tracing::warn!(%error, "could not save the link for `renown open`");
            }
        })
    }
}

impl Drop for LoginLink {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.file);
    }
}

/// Writes the file atomically, readable by its owner only.
fn write(file: &Path, link: &str) -> io::Result<()> {
    let _private = store_location::keep_private();
    let new = file.with_extension("new");
    fs::write(&new, link)?;
    fs::rename(&new, file)
}
