//! `/keys`: API keys. A new one is shown once.

use askama::Template;
use renown_core::time::Timestamp;

use crate::Shell;

/// What the page of keys shows.
#[derive(Debug)]
pub struct KeysPage<'a> {
    /// The keys, the newest first.
    pub keys: &'a [KeyRow],
    /// A key that was just made. It is shown this once.
    pub made: Option<&'a str>,
    /// What was wrong with a request.
    pub problem: Option<&'a str>,
}

/// A key in the list: never the key itself.
#[derive(Clone, Debug)]
pub struct KeyRow {
    /// Its id.
    pub id: String,
    /// `publishable` or `secret`.
    pub kind: &'static str,
    /// What its owner calls it.
    pub label: Option<String>,
    /// Its last four characters.
    pub last_four: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last used, to the minute.
    pub last_used_at: Option<Timestamp>,
    /// Since when it is worth nothing.
    pub revoked_at: Option<Timestamp>,
}

#[derive(Template)]
#[template(path = "keys.html")]
struct View<'a> {
    shell: &'a Shell<'a>,
    page: &'a KeysPage<'a>,
}

/// The page.
pub fn render(shell: &Shell<'_>, page: &KeysPage<'_>) -> askama::Result<String> {
    View { shell, page }.render()
}
