//! `renown proxy` between real peers: the official client and the official servers of the npm registry.

use std::fs;

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
    let mut suites = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let name = entry?.file_name();
        if name.to_string_lossy().ends_with(".test.mjs") {
            suites.push(name);
        }
    }
    suites.sort();
    run(program("node")
        .arg("--test")
        .args(suites)
        .env("RENOWN_PROGRAM", target_dir()?.join("debug/renown"))
        .current_dir(&folder))
}
