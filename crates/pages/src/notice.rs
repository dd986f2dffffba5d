//! The page that is shown instead of another one, with the reason.

use askama::Template;

use crate::Shell;

/// The reason why a page cannot be shown.
#[derive(Clone, Copy, Debug)]
pub struct NoticePage<'a> {
    /// HTTP status.
    pub status: u16,
    /// Error text: what was found, and what is expected.
    pub text: &'a str,
}

#[derive(Template)]
#[template(path = "notice.html")]
struct View<'a> {
    shell: &'a Shell<'a>,
    notice: &'a NoticePage<'a>,
}

impl View<'_> {
    fn headline(&self) -> &'static str {
        match self.notice.status {
            404 => "There is nothing here.",
            403 => "That is not allowed.",
            503 => "Not available right now.",
            400..500 => "That did not work.",
            _ => "Something went wrong.",
        }
    }
}

/// Renders the page.
pub fn render(shell: &Shell<'_>, notice: &NoticePage<'_>) -> askama::Result<String> {
    View { shell, notice }.render()
}
