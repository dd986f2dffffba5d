//! The tables of `renown.toml` that concern gates. The others are the server's.

use std::path::Path;

use renown_core::gates::Settings;

/// The settings in a text, or the line and what is wrong with it.
pub(super) fn read(text: &str) -> Result<Settings, String> {
    toml::from_str(text).map_err(|error| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        format!("line {line}: {}", error.message().replace('\n', " "))
    })
}

/// Paths among the options begin at a directory, which for a file of settings is its own.
pub(super) fn make_absolute(settings: &mut Settings, dir: &Path) -> Result<(), String> {
    for path in settings.relative_paths() {
        let full = std::path::absolute(dir.join(&*path)).map_err(|error| format!("{path}: {error}"))?;
        *path = full.to_string_lossy().into_owned();
    }
    Ok(())
}
