//! `/settings`: what an organization has chosen, and what the server was told at its start.

use askama::Template;

use crate::Shell;

/// What the page of settings shows.
#[derive(Debug)]
pub struct SettingsPage<'a> {
    /// The organization.
    pub org: &'a str,
    /// Whose latency counts: `gate` or `agent`.
    pub latency_source: &'a str,
    /// Whether they were just changed.
    pub saved: bool,
    /// What the server was told: a name as in `renown.toml`, and its value in words.
    pub server: &'a [(&'static str, String)],
}

#[derive(Template)]
#[template(path = "settings.html")]
struct View<'a> {
    shell: &'a Shell<'a>,
    page: &'a SettingsPage<'a>,
}

/// The page.
pub fn render(shell: &Shell<'_>, page: &SettingsPage<'_>) -> askama::Result<String> {
    View { shell, page }.render()
}
