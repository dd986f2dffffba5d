//! One agent over four interfaces: the HTTP API, the proxy, and the SDKs of Python and Node. Each of them judges an
//! output that passes and one that fails. All verdicts must be in one window, under one score.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::load::{fetch, get, post};
use crate::renown::{Peer, Renown, empty};
use crate::shell::{cargo, program, root, run, target_dir};
use crate::{package, wheel};

const AGENT: &str = "portable";

/// An output that passes every gate, and one that does not.
const OUTPUTS: [&str; 2] = ["all is well", "ask bob@corp.io"];

/// Sends both outputs through every interface.
pub(crate) fn test() -> Result<()> {
    run(cargo().args(["build", "--locked", "--package", "renown"]))?;
    let target = target_dir()?;
    let renown = Renown { program: target.join("debug/renown"), data: target.join("xtask/portability") };
    empty(&renown.data)?;
    let key = renown.create_key()?;
    let (peer, _) = renown.serve()?;
    let server = format!("http://{}", peer.address);
    rest(&peer, &key)?;
    proxy(&renown, &server, &key)?;
    let folder = root().join("xtask/portability");
    run(program(wheel::installed()?)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("RENOWN_KEY", &key)
        .arg(folder.join("evaluate.py"))
        .args([&server, AGENT])
        .args(OUTPUTS))?;
    // Node searches packages in the folder of the script.
    let project = package::installed()?.project;
    let script = project.join("evaluate.mjs");
    fs::copy(folder.join("evaluate.mjs"), &script)?;
    run(program("node").env("RENOWN_KEY", &key).arg(script).args([&server, AGENT]).args(OUTPUTS))?;
    one_window(&peer, &key)
}

fn rest(peer: &Peer, key: &str) -> Result<()> {
    for output in OUTPUTS {
        let body = json!({"agent_id": AGENT, "output": output, "tool": "rest"}).to_string();
        fetch(peer.address, &post("/v1/evaluate", key, &body), 200)?;
    }
    Ok(())
}

/// Calls a tool through the proxy, as an MCP client.
fn proxy(renown: &Renown, server: &str, key: &str) -> Result<()> {
    let mut command = program(&renown.program);
    command.args(["proxy", "--agent", AGENT, "--server", server, "--data"]).arg(renown.data.join("laptop"));
    command.args(["--", "python3"]).arg(root().join("xtask/portability/echo.py"));
    let mut child = command.env("RENOWN_KEY", key).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut input = child.stdin.take().context("a pipe was asked for")?;
    writeln!(input, "{}", json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {}}))?;
    for (id, text) in OUTPUTS.iter().enumerate() {
        let params = json!({"name": "proxy", "arguments": {"text": text}});
        writeln!(
            input,
            "{}",
            json!({"jsonrpc": "2.0", "id": id + 1, "method": "tools/call", "params": params})
        )?;
    }
    drop(input);
    let output = child.wait_with_output()?;
    ensure!(output.status.success(), "the proxy ended with {}", output.status);
    let replies = String::from_utf8(output.stdout)?;
    let blocked = replies.lines().filter(|line| line.contains("-32000")).count();
    ensure!(replies.lines().count() == 3 && blocked == 1, "the client got {replies}");
    Ok(())
}

/// Checks that the server has one agent with all verdicts.
fn one_window(peer: &Peer, key: &str) -> Result<()> {
    let read = |path: &str| -> Result<Value> {
        Ok(serde_json::from_slice(&fetch(peer.address, &get(path, key), 200)?)?)
    };
    let reputation = read(&format!("/v1/reputation/{AGENT}"))?;
    let count = reputation.get("eval_count").and_then(Value::as_u64);
    ensure!(count == Some(8), "eight evaluations make one window: {reputation}");
    let events = read(&format!("/v1/events?agent_id={AGENT}"))?;
    let mut doors: BTreeMap<String, Vec<bool>> = BTreeMap::new();
    for event in events.get("events").and_then(Value::as_array).into_iter().flatten() {
        let tool = event.get("tool_name").and_then(Value::as_str).unwrap_or_default();
        let passed = event.get("passed").and_then(Value::as_bool).unwrap_or_default();
        doors.entry(tool.to_owned()).or_default().push(passed);
    }
    // Newest first: the failing output was sent last.
    let each = || vec![false, true];
    let expected = ["node", "proxy", "python", "rest"].map(|door| (door.to_owned(), each()));
    ensure!(doors == BTreeMap::from(expected), "each door has two verdicts: {doors:?}");
    let score = reputation.get("score").cloned().unwrap_or_default();
    println!("REST, proxy, Python and Node: one window of 8 evaluations, score {score}");
    Ok(())
}
