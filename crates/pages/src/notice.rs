//! A page that says why there is no other.

use askama::Template;

use crate::Shell;

/// Why there is no page.
#[derive(Clone, Copy, Debug)]
pub struct Notice<'a> {
    /// The HTTP status.
    pub status: u16,
    /// What was found, and what is allowed.
    pub text: &'a str,
}

#[derive(Template)]
#[template(path = "notice.html")]
struct View<'a> {
    shell: &'a Shell<'a>,
    notice: &'a Notice<'a>,
}

impl View<'_> {
    fn headline(&self) -> &'static str {
        match self.notice.status {
            404 => "There is nothing here.",
            403 => "That is not allowed.",
            503 => "Not now.",
            400..500 => "That did not work.",
            _ => "Something went wrong.",
        }
    }
}

/// The page.
pub fn render(shell: &Shell<'_>, notice: &Notice<'_>) -> askama::Result<String> {
    View { shell, notice }.render()
}
