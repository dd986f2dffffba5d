//! Tools of the npm registry, each in a folder of its own.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::shell::{install, program, root, run, succeeds, target_dir};

/// Installs Node and npm if they are missing.
pub(crate) fn ready() -> Result<()> {
    if !(succeeds(program("node").arg("--version")) && succeeds(program("npm").arg("--version"))) {
        install(&["nodejs", "npm"])?;
    }
    Ok(())
}

/// Returns the test files of a folder, one by one: what a folder means to `node --test` depends on the version of Node.
pub(crate) fn suites(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.to_string_lossy().ends_with(".test.mjs") {
            files.push(path);
        }
    }
    files.sort();
    ensure!(!files.is_empty(), "{} has no tests", folder.display());
    Ok(files)
}

/// Returns a folder with exactly the packages of `xtask/NAME/package.json` and copies of the other files of
/// `xtask/NAME`: Node searches packages in the folder of the script.
pub(crate) fn folder(name: &str) -> Result<PathBuf> {
    let sources = root().join("xtask").join(name);
    let folder = target_dir()?.join("xtask").join(name);
    ready()?;
    let wanted = fs::read(sources.join("package.json"))?;
    // Written last, so that an interrupted installation is repeated.
    let stamp = folder.join("installed.json");
    if fs::read(&stamp).ok().as_ref() != Some(&wanted) {
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("package.json"), &wanted)?;
        let npm = ["install", "--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts", "--silent"];
        run(program("npm").args(npm).current_dir(&folder))?;
        fs::write(&stamp, wanted)?;
    }
    for entry in fs::read_dir(&sources).with_context(|| format!("no {}", sources.display()))? {
        let entry = entry?;
        fs::copy(entry.path(), folder.join(entry.file_name()))?;
    }
    Ok(folder)
}
