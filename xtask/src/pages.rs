//! The web pages in a real browser: Debian's Chromium, driven by Playwright, in front of `renown serve --demo`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, ensure};

use crate::node;
use crate::shell::{cargo, install, program, root, run, succeeds, target_dir};

/// The options for pictures.
pub(crate) const USAGE: &str = "screenshots [FOLDER [WIDTH,… [THEME,…]]]";

/// The folder of the pictures in the README.
const README_PICTURES: &str = "docs/pictures";

/// The pages in the README, as pictures of 1440 pixels.
const README_PAGES: [&str; 2] = ["overview", "session"];

/// Runs every `*.test.mjs` of `xtask/pages`.
pub(crate) fn test() -> Result<()> {
    run(cargo().args(["build", "--locked", "--package", "renown"]))?;
    let folder = ready()?;
    run(with_demo(program("node").arg("--test").args(node::suites(&folder)?), &folder, "debug")?)
}

/// Takes pictures: those of the README, or of all pages into a folder.
pub(crate) fn screenshots(args: &[&str]) -> Result<()> {
    run(cargo().args(["build", "--locked", "--release", "--package", "renown"]))?;
    let folder = ready()?;
    let take = |to: &Path, rest: &[&str]| {
        let mut node = program("node");
        node.arg("screenshots.mjs").arg(to).args(rest);
        run(with_demo(&mut node, &folder, "release")?)
    };
    if let [to, rest @ ..] = args {
        return take(&std::path::absolute(to)?, rest);
    }
    let all = folder.join("pictures");
    take(&all, &[])?;
    let pictures = root().join(README_PICTURES);
    fs::create_dir_all(&pictures)?;
    for page in README_PAGES {
        fs::copy(all.join(format!("{page}-light-1440.png")), pictures.join(format!("{page}.png")))?;
    }
    println!("wrote {README_PICTURES}");
    Ok(())
}

/// Returns the folder with the scripts and their packages, and installs a browser.
fn ready() -> Result<PathBuf> {
    if !succeeds(program("chromium").arg("--version")) {
        install(&["chromium"])?;
    }
    ensure!(succeeds(program("chromium").arg("--version")), "no chromium, expected Debian's package");
    node::folder("pages")
}

fn with_demo<'c>(command: &'c mut Command, folder: &Path, profile: &str) -> Result<&'c mut Command> {
    let renown = target_dir()?.join(profile).join("renown");
    Ok(command.env("RENOWN_PROGRAM", renown).current_dir(folder))
}
