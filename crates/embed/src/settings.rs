//! The tables of `renown.toml` that configure gates. The other tables belong to the server.

use std::path::Path;

use renown_core::gates::{GateSettings, Place};

/// Parses settings. The error names the line and the problem.
pub(crate) fn read(text: &str) -> Result<GateSettings, String> {
    toml::from_str(text).map_err(|error| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        format!("line {line}: {}", error.message().replace('\n', " "))
    })
}

/// Resolves relative paths in the options against `dir`: the directory of the settings file.
pub(crate) fn make_absolute(settings: &mut GateSettings, dir: &Path) -> Result<(), String> {
    for path in settings.relative_paths() {
        let full = std::path::absolute(dir.join(&*path)).map_err(|error| format!("{path}: {error}"))?;
        *path = full.to_string_lossy().into_owned();
    }
    Ok(())
}

/// Returns the place with this name.
pub(crate) fn place(name: &str) -> Result<Place, String> {
    match name {
        "evaluate" => Ok(Place::Evaluate),
        "cli" => Ok(Place::Cli),
        "proxy" => Ok(Place::Proxy),
        other => Err(format!("place: {other:?}, expected \"evaluate\", \"cli\" or \"proxy\"")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_line() {
        assert!(read("[gates]\nbudget_ms = 20\n[serve]\nlisten = \"x\"\n").is_ok());
        let error = read("[gates]\n\nbudget_ms = = 20\n").unwrap_err();
        assert!(error.starts_with("line 3: "), "{error}");
        assert_eq!(
            place("server").unwrap_err(),
            "place: \"server\", expected \"evaluate\", \"cli\" or \"proxy\""
        );
    }

    #[test]
    fn paths_are_relative_to_the_settings_file() {
        let mut settings = read("gate.filesystem.roots = [\"src\", \"/srv\"]").unwrap();
        make_absolute(&mut settings, Path::new("/repo")).unwrap();
        let roots = settings.gate.get("filesystem").and_then(|table| table.get("roots")).unwrap();
        assert_eq!(roots.to_string(), r#"["/repo/src","/srv"]"#);
    }
}
