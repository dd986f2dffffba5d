//! `renown proxy` between real peers: the official client and the official servers of the npm registry.

use std::env;
use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;

use anyhow::{Context, Result, ensure};

use crate::node;
use crate::renown::empty;
use crate::shell::{cargo, program, root, run, target_dir};

/// Runs every `*.test.mjs` of `xtask/proxy`.
pub(crate) fn test() -> Result<()> {
    run(cargo().args(["build", "--locked", "--package", "renown"]))?;
    let folder = node::folder("proxy")?;
    // Data directories of tests. They stay, so that a failure can be examined.
    empty(&folder.join("scratch"))?;
    quick_start(&folder)?;
    run(program("node")
        .arg("--test")
        .args(node::suites(&folder)?)
        .env("RENOWN_PROGRAM", target_dir()?.join("debug/renown"))
        .current_dir(&folder))
}

/// Runs the example of `docs/proxy.md` with the server that is already installed.
fn quick_start(folder: &Path) -> Result<()> {
    let document = fs::read_to_string(root().join("docs/proxy.md"))?;
    let mut blocks = document.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next());
    let block = blocks.find(|block| block.contains("renown proxy -- npx"));
    let block = block.context("docs/proxy.md has no example of the proxy")?;
    let bin = target_dir()?.join("debug");
    let path =
        env::join_paths([bin].into_iter().chain(env::split_paths(&env::var_os("PATH").unwrap_or_default())))?;
    let (data, hold) = (folder.join("scratch/readme"), folder.join("scratch/hold"));
    // The example closes its end at once. On a busy machine the server may need longer to start than the proxy waits
    // after that. So the end stays open until the answer has arrived.
    run(program("mkfifo").arg(&hold))?;
    let script = block.replacen(" |\n  renown proxy", " | cat - \"$HOLD\" |\n  renown proxy", 1);
    ensure!(script != block, "the example of the proxy is no pipe any more");
    let mut shell = program("sh");
    let shell = shell.args(["-c", &script]).env("PATH", path).env("RENOWN_DATA", data).env("HOLD", &hold);
    let mut shell = shell.current_dir(folder).stdout(Stdio::piped()).spawn()?;
    let mut hold = Some(OpenOptions::new().write(true).open(hold)?);
    let mut last = String::new();
    for line in BufReader::new(shell.stdout.take().context("no output")?).lines() {
        last = line?;
        hold = hold.filter(|_| !last.contains("\"id\":1"));
    }
    ensure!(shell.wait()?.success(), "the example failed, after {last}");
    let shown = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"blocked by renown, the tool did run: pii","#;
    ensure!(last.starts_with(shown), "the example gave {last}");
    Ok(())
}
