//! `/settings`: the settings of an organization, and the configuration of the server.

use askama::Template;

use crate::Shell;

/// The content of the page.
#[derive(Debug)]
pub struct SettingsPage<'a> {
    /// Organization.
    pub org: &'a str,
    /// Whose latency counts: `gate` or `agent`.
    pub latency_source: &'a str,
    /// Whether the settings were just saved.
    pub saved: bool,
    /// Configuration of the server: a name as in `renown.toml`, and its value in words.
    pub server: &'a [(&'static str, String)],
}

#[derive(Template)]
#[template(path = "settings.html")]
struct View<'a> {
    shell: &'a Shell<'a>,
    page: &'a SettingsPage<'a>,
}

/// Renders the page.
pub fn render(shell: &Shell<'_>, page: &SettingsPage<'_>) -> askama::Result<String> {
    View { shell, page }.render()
}
