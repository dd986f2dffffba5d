//! DuckDB from the Python index, in its own virtual environment: the independent check of `judge`, and its peer in the
//! bench.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::python;
use crate::shell::program;

/// Runs a script of `xtask/duckdb` in the environment. Creates the environment if it does not exist.
pub(crate) fn script(name: &str) -> Result<Command> {
    let mut command = program(python::environment("duckdb")?.join("bin/python"));
    command.env("PYTHONDONTWRITEBYTECODE", "1").arg(Path::new("xtask/duckdb").join(name));
    Ok(command)
}
