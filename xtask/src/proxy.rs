//! `renown proxy` between real peers: the official client and the official servers of the npm registry.

use std::env;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::node;
use crate::renown::empty;
use crate::shell::{cargo, output, program, root, run, target_dir};

/// Runs every `*.test.mjs` of `xtask/proxy`.
pub(crate) fn test() -> Result<()> {
    run(cargo().args(["build", "--locked", "--package", "renown"]))?;
    let folder = node::folder("proxy")?;
    // Data directories of tests, which are left for whoever looks into a failure.
    empty(&folder.join("scratch"))?;
    quick_start(&folder)?;
    run(program("node")
        .arg("--test")
        .args(node::suites(&folder)?)
        .env("RENOWN_PROGRAM", target_dir()?.join("debug/renown"))
        .current_dir(&folder))
}

/// The example of the README, as it is pasted. The server is the one that is already installed.
fn quick_start(folder: &Path) -> Result<()> {
    let readme = fs::read_to_string(root().join("README.md"))?;
    let mut blocks = readme.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next());
    let block = blocks.find(|block| block.contains("renown proxy -- npx"));
    let block = block.context("the README has no example of the proxy")?;
    let bin = target_dir()?.join("debug");
    let path =
        env::join_paths([bin].into_iter().chain(env::split_paths(&env::var_os("PATH").unwrap_or_default())))?;
    let data = folder.join("scratch/readme");
    let mut shell = program("sh");
    let said =
        output(shell.args(["-c", block]).env("PATH", path).env("RENOWN_DATA", data).current_dir(folder))?;
    let shown = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"blocked by renown, the tool did run: pii","#;
    ensure!(said.lines().next_back().is_some_and(|last| last.starts_with(shown)), "the example gave {said}");
    Ok(())
}
