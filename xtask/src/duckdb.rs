//! DuckDB from the Python index, in a virtual environment of its own: the independent check of `judge`, and its peer in the bench.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::shell::{install, program, root, run, succeeds, target_dir};

const REQUIREMENTS: &str = "xtask/duckdb/requirements.txt";

/// Runs one of the scripts of `xtask/duckdb` in the environment, which is made if it is not there yet.
pub(crate) fn script(name: &str) -> Result<Command> {
    let mut command = program(environment()?.join("bin/python"));
    command.env("PYTHONDONTWRITEBYTECODE", "1").arg(Path::new("xtask/duckdb").join(name));
    Ok(command)
}

/// The environment with just what the requirements say.
fn environment() -> Result<PathBuf> {
    let folder = target_dir()?.join("xtask/duckdb");
    let wanted = fs::read(root().join(REQUIREMENTS))?;
    // Written last, so that an installation that broke off is made anew.
    let stamp = folder.join("requirements.txt");
    if fs::read(&stamp).is_ok_and(|found| found == wanted) {
        return Ok(folder);
    }
    let make = || {
        let mut command = program("python3");
        command.args(["-m", "venv", "--clear"]).arg(&folder);
        command
    };
    if !succeeds(&mut make()) {
        install(&["python3", "python3-venv"])?;
        run(&mut make())?;
    }
    let pip =
        ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement", REQUIREMENTS];
    run(program(folder.join("bin/python")).args(pip))?;
    fs::write(stamp, wanted)?;
    Ok(folder)
}
