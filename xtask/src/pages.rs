//! The web pages in a real browser: Debian's Chromium, driven by Playwright, in front of `renown serve --demo`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, ensure};

use crate::node;
use crate::shell::{cargo, install, program, root, run, succeeds, target_dir};

/// How pictures are asked for.
pub(crate) const USAGE: &str = "screenshots [FOLDER [WIDTH,… [THEME,…]]]";

/// Where the pictures of the README are.
const README_PICTURES: &str = "docs/pictures";

/// The pages that the README shows, as pictures of 1440 pixels.
const README_PAGES: [&str; 2] = ["overview", "session"];

/// Runs every `*.test.mjs` of `xtask/pages`.
pub(crate) fn test() -> Result<()> {
    run(cargo().args(["build", "--locked", "--package", "renown"]))?;
    let folder = ready()?;
    run(with_demo(program("node").arg("--test").args(node::suites(&folder)?), &folder, "debug")?)
}

/// Takes pictures: those of the README, or all pages into a folder.
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

/// The folder with the scripts and their packages, and a browser.
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
