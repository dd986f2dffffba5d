//! The Python SDK as its users get it: a wheel, installed into its own environment, and tested there.
//!
//! The wheel is built in the debug profile below the target directory; nothing is left in the sources.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::python;
use crate::renown::empty;
use crate::shell::{cargo, program, run, target_dir};

/// Runs the tests of `sdk/python` against the wheel.
pub(crate) fn test() -> Result<()> {
    run(cargo().args(["build", "--locked", "--package", "renown"]))?;
    let target = target_dir()?;
    run(program(installed()?)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("RENOWN_PROGRAM", target.join("debug/renown"))
        .args(["-m", "pytest", "--quiet", "--no-header", "--config-file", "sdk/python/pyproject.toml"])
        .arg("--basetemp")
        .arg(target.join("xtask/pytest"))
        .arg("sdk/python/tests"))
}

/// Builds the wheel and installs it. Returns the Python of the environment.
pub(crate) fn installed() -> Result<PathBuf> {
    let target = target_dir()?;
    let environment = python::environment("python")?;
    let python = environment.join("bin/python");
    let wheels = target.join("xtask/wheels");
    empty(&wheels)?;
    run(program(environment.join("bin/maturin"))
        .args(["build", "--quiet", "--locked", "--manifest-path", "sdk/python/Cargo.toml"])
        // A wheel for other machines may link only to certain libraries. A release has to check that.
        .args(["--compatibility", "off", "--interpreter"])
        .arg(&python)
        .arg("--out")
        .arg(&wheels))?;
    let wheel = only_file(&wheels)?;
    run(program(&python)
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
        .args(["--no-deps", "--force-reinstall"])
        .arg(wheel))?;
    Ok(python)
}

fn only_file(folder: &Path) -> Result<PathBuf> {
    let entry = fs::read_dir(folder)?.next().context("maturin made no wheel")??;
    Ok(entry.path())
}
