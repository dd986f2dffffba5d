//! The Node SDK as its users get it: a package, installed into its own project, and tested there.
//!
//! Everything is built in a copy below the target directory; nothing is left in the sources.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::node;
use crate::renown::empty;
use crate::shell::{cargo, output, program, root, run, target_dir};

/// Folders that are not copied: build output of developers.
const MADE: [&str; 4] = ["cjs", "esm", "node_modules", "prebuilt"];

/// The licenses of the repository. A package must contain them.
const LICENSES: [&str; 2] = ["LICENSE-APACHE", "LICENSE-MIT"];

/// A package in its own folder, and a project in which it is installed.
pub(crate) struct Installed {
    package: PathBuf,
    pub(crate) project: PathBuf,
}

/// Runs the tests of `sdk/node` against the package.
pub(crate) fn test() -> Result<()> {
    run(cargo().args(["build", "--locked", "--package", "renown"]))?;
    let Installed { package, project } = installed()?;
    run(program("node")
        .env("RENOWN_ROOT", root())
        .env("RENOWN_PROGRAM", target_dir()?.join("debug/renown"))
        .env("RENOWN_PROJECT", &project)
        .current_dir(&package)
        .arg("--test")
        .args(node::suites(&package.join("test"))?))
}

/// Builds the package and installs it into a project.
pub(crate) fn installed() -> Result<Installed> {
    node::ready()?;
    let addon = addon()?;
    let target = target_dir()?;
    let (package, project) = (target.join("xtask/node/package"), target.join("xtask/node/project"));
    copy_sources(&package)?;
    install_compiler(&package)?;
    run(program("node").arg("build.mjs").arg("--addon").arg(addon).current_dir(&package))?;
    let pack = |command: &mut Command| {
        command.args(["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel", "error"]);
    };
    let mut packing = program("npm");
    pack(packing.current_dir(&package).args(["pack", "--pack-destination", ".."]));
    let packed = output(&mut packing)?;
    let packed = target.join("xtask/node").join(packed.lines().last().context("npm packed nothing")?);
    empty(&project)?;
    fs::write(project.join("package.json"), "{ \"private\": true }\n")?;
    let mut installing = program("npm");
    pack(installing.current_dir(&project).args(["install", "--offline", "--no-save"]).arg(packed));
    run(&mut installing)?;
    Ok(Installed { package, project })
}

/// Builds the addon. Returns the path that cargo reports.
fn addon() -> Result<PathBuf> {
    let arguments =
        ["build", "--locked", "--package", "renown-node", "--message-format=json-render-diagnostics"];
    let messages = output(cargo().args(arguments))?;
    let artifact =
        messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()).find_map(|message| {
            let is_addon = message.pointer("/target/name")? == "renown_node"
                && message.get("reason")? == "compiler-artifact";
            Some(message.pointer("/filenames/0")?.as_str()?.to_owned()).filter(|_| is_addon)
        });
    Ok(artifact.context("cargo built no addon")?.into())
}

/// Installs the compiler, in the versions of the lock file. It is kept between runs.
fn install_compiler(package: &Path) -> Result<()> {
    let (lock, stamp) = (package.join("package-lock.json"), package.join("node_modules/installed.json"));
    if fs::read(&stamp).ok() == Some(fs::read(&lock)?) {
        return Ok(());
    }
    run(program("npm")
        .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel", "error"])
        .current_dir(package))?;
    // Written last, so that an interrupted installation is repeated.
    fs::copy(lock, stamp)?;
    Ok(())
}

/// Returns the files that git tracks or would track, except deleted ones.
fn copy_sources(package: &Path) -> Result<()> {
    for entry in fs::read_dir(package).into_iter().flatten() {
        let path = entry?.path();
        if path.is_dir() && !path.ends_with("node_modules") {
            fs::remove_dir_all(path)?;
        }
    }
    let listed = ["ls-files", "--cached", "--others", "--exclude-standard", "sdk/node"];
    let listed = output(program("git").args(listed))?;
    for name in listed.lines() {
        let below = Path::new(name).strip_prefix("sdk/node")?;
        ensure!(!MADE.iter().any(|made| below.starts_with(made)), "{name} is made and must not be in git");
        let (from, to) = (root().join(name), package.join(below));
        if from.exists() {
            fs::create_dir_all(to.parent().context("a file has a folder")?)?;
            fs::copy(from, to)?;
        }
    }
    for license in LICENSES {
        fs::copy(root().join(license), package.join(license))?;
    }
    Ok(())
}
