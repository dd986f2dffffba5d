//! `/login`: for somebody who has a key instead of a link.

use askama::Template;

use crate::Shell;

/// The page to log in.
#[derive(Clone, Copy, Debug)]
pub struct LoginPage<'a> {
    /// Where to go afterwards.
    pub next: &'a str,
    /// What went wrong before.
    pub problem: Option<Problem>,
}

/// Why somebody is not logged in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    /// The one-time link was used already, or a newer one took its place.
    UsedLink,
    /// There is no such key, or it was revoked.
    WrongKey,
}

#[derive(Template)]
#[template(path = "login.html")]
struct View<'a> {
    shell: &'a Shell<'a>,
    page: &'a LoginPage<'a>,
}

/// The page.
pub fn render(shell: &Shell<'_>, page: &LoginPage<'_>) -> askama::Result<String> {
    View { shell, page }.render()
}
