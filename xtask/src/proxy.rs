//! `renown proxy` between real peers: the official client and the official servers of the npm registry.

use anyhow::Result;

use crate::node;
use crate::renown::empty;
use crate::shell::{cargo, program, run, target_dir};

/// Runs every `*.test.mjs` of `xtask/proxy`.
pub(crate) fn test() -> Result<()> {
    run(cargo().args(["build", "--locked", "--package", "renown"]))?;
    let folder = node::folder("proxy")?;
    // Data directories of tests, which are left for whoever looks into a failure.
    empty(&folder.join("scratch"))?;
    run(program("node")
        .arg("--test")
        .args(node::suites(&folder)?)
        .env("RENOWN_PROGRAM", target_dir()?.join("debug/renown"))
        .current_dir(&folder))
}
