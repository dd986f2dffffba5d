//! The tables of `renown.toml` that concern gates. The others are the server's.

use std::path::Path;

use renown_core::gates::{Place, Settings};

/// The settings in a text, or the line and what is wrong with it.
pub(crate) fn read(text: &str) -> Result<Settings, String> {
    toml::from_str(text).map_err(|error| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        format!("line {line}: {}", error.message().replace('\n', " "))
    })
}

/// Paths among the options begin at a directory, which for a file of settings is its own.
pub(crate) fn make_absolute(settings: &mut Settings, dir: &Path) -> Result<(), String> {
    for path in settings.relative_paths() {
        let full = std::path::absolute(dir.join(&*path)).map_err(|error| format!("{path}: {error}"))?;
        *path = full.to_string_lossy().into_owned();
    }
    Ok(())
}

/// The place of that name.
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
    fn what_is_wrong_is_named_with_its_line() {
        assert!(read("[gates]\nbudget_ms = 20\n[serve]\nlisten = \"x\"\n").is_ok());
        let error = read("[gates]\n\nbudget_ms = = 20\n").unwrap_err();
        assert!(error.starts_with("line 3: "), "{error}");
        assert_eq!(
            place("server").unwrap_err(),
            "place: \"server\", expected \"evaluate\", \"cli\" or \"proxy\""
        );
    }

    #[test]
    fn paths_begin_at_the_directory_of_the_file() {
        let mut settings = read("gate.filesystem.roots = [\"src\", \"/srv\"]").unwrap();
        make_absolute(&mut settings, Path::new("/repo")).unwrap();
        let roots = settings.gate.get("filesystem").and_then(|table| table.get("roots")).unwrap();
        assert_eq!(roots.to_string(), r#"["/repo/src","/srv"]"#);
    }
}
