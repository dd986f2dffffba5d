//! Is what was acknowledged durable, counted once, and scored as a replay would?
//!
//! | test | shows |
//! |---|---|
//! | `kill` | the process can die at any moment, in every kind of change: 50 rounds of load, each ended by SIGKILL |
//! | `trace` | the machine could die at any moment: no reply leaves before an fsync that began after its rows were written |
//! | `flips` | what a disk may do to a file: none of 500 flipped bits changes an export without being noticed |
//!
//! A SIGKILL alone does not test `fsync`, because the page cache outlives the process.

mod flips;
mod kill;
mod trace;

use anyhow::Result;

use crate::shell::{cargo, run as run_command, target_dir};

/// Runs them on a build with debug assertions.
pub(crate) fn run() -> Result<()> {
    run_command(cargo().args(["build", "--locked", "--package", "renown"]))?;
    let program = target_dir()?.join("debug/renown");
    let folder = target_dir()?.join("xtask/durability");
    kill::run(&program, &folder.join("kill"))?;
    flips::run(&program, &folder.join("kill"), &folder.join("flips"))?;
    trace::run(&program, &folder.join("trace"))?;
    std::fs::remove_dir_all(folder)?;
    Ok(())
}
