//! Tools of the Python index, each in its own virtual environment.

use std::fs;
use std::path::PathBuf;

use anyhow::Result;

use crate::shell::{install, program, root, run, succeeds, target_dir};

/// Returns the environment with exactly the packages of `xtask/NAME/requirements.txt`. Creates it if it does not exist.
pub(crate) fn environment(name: &str) -> Result<PathBuf> {
    let folder = target_dir()?.join("xtask").join(name);
    let requirements = format!("xtask/{name}/requirements.txt");
    let wanted = fs::read(root().join(&requirements))?;
    // Written last, so that an interrupted installation is repeated.
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
        ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement", &requirements];
    run(program(folder.join("bin/python")).args(pip))?;
    fs::write(stamp, wanted)?;
    Ok(folder)
}
