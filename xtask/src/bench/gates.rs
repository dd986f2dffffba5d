//! `cargo xtask bench gates`: the cost of the gates on one core, see `crates/core/benches/gates/main.rs`.

use anyhow::Result;

use crate::shell::{cargo, run};

/// Runs the bench, which prints its figures and their targets.
pub(crate) fn gates() -> Result<()> {
    run(cargo().args(["bench", "--locked", "--package", "renown-core", "--bench", "gates"]))
}
