//! `/keys`: API keys. A new key is shown once.

use askama::Template;
use renown_core::time::Timestamp;

use crate::Shell;

/// The content of the page.
#[derive(Debug)]
pub struct KeysPage<'a> {
    /// Keys, the newest first.
    pub keys: &'a [KeyRow],
    /// Key that was just created. It is shown only once.
    pub made: Option<&'a str>,
    /// Error of the last request.
    pub problem: Option<&'a str>,
}

/// A row of the list. It never contains the key itself.
#[derive(Clone, Debug)]
pub struct KeyRow {
    /// Id of the key.
    pub id: String,
    /// `publishable` or `secret`.
    pub kind: &'static str,
    /// Label chosen by the owner.
    pub label: Option<String>,
    /// Last four characters of the key.
    pub last_four: String,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last use, to the minute.
    pub last_used_at: Option<Timestamp>,
    /// Time of revocation.
    pub revoked_at: Option<Timestamp>,
}

#[derive(Template)]
#[template(path = "keys.html")]
struct View<'a> {
    shell: &'a Shell<'a>,
    page: &'a KeysPage<'a>,
}

/// Renders the page.
pub fn render(shell: &Shell<'_>, page: &KeysPage<'_>) -> askama::Result<String> {
    View { shell, page }.render()
}
