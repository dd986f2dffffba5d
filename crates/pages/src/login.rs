//! `/login`: log in with a key instead of a link.

use askama::Template;

use crate::Shell;

/// The content of the login page.
#[derive(Clone, Copy, Debug)]
pub struct LoginPage<'a> {
    /// Path to open after the login.
    pub next: &'a str,
    /// Reason why the last attempt failed.
    pub problem: Option<Problem>,
}

/// The reason why a login failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    /// The one-time link was used already, or a newer link has replaced it.
    UsedLink,
    /// The key does not exist or was revoked.
    WrongKey,
}

#[derive(Template)]
#[template(path = "login.html")]
struct View<'a> {
    shell: &'a Shell<'a>,
    page: &'a LoginPage<'a>,
}

/// Renders the page.
pub fn render(shell: &Shell<'_>, page: &LoginPage<'_>) -> askama::Result<String> {
    View { shell, page }.render()
}
