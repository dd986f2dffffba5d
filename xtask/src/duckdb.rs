//! DuckDB from the Python index, in a virtual environment of its own: the independent check of `judge`, and its peer in the bench.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::python;
use crate::shell::program;

/// Runs one of the scripts of `xtask/duckdb` in the environment, which is made if it is not there yet.
pub(crate) fn script(name: &str) -> Result<Command> {
    let mut command = program(python::environment("duckdb")?.join("bin/python"));
    command.env("PYTHONDONTWRITEBYTECODE", "1").arg(Path::new("xtask/duckdb").join(name));
    Ok(command)
}
