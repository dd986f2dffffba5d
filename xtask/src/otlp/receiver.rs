//! `renown serve` with all its telemetry ports.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::story;
use crate::load::{fetch, get};
use crate::process::{Says, Server};
use crate::shell::program;

/// The interval at which the output of a starting server is read, and the timeout.
const LOOK_EVERY: Duration = Duration::from_millis(10);
const START_MAX: Duration = Duration::from_secs(30);

/// A server that accepts telemetry. Stopped when dropped.
#[derive(Debug)]
pub(super) struct Receiver {
    _server: Server,
    pub(super) api: SocketAddr,
    pub(super) http: SocketAddr,
    pub(super) grpc: SocketAddr,
    pub(super) key: String,
}

impl Receiver {
    /// Starts a server on a new data directory. It prints the keys.
    pub(super) fn first(renown: &Path, data: &Path, end: &'static str) -> Result<Self> {
        Self::start(renown, data, None, end)
    }

    /// Starts a server again on the same data.
    pub(super) fn again(renown: &Path, data: &Path, key: String) -> Result<Self> {
        Self::start(renown, data, Some(key), "TERM")
    }

    fn start(renown: &Path, data: &Path, key: Option<String>, end: &'static str) -> Result<Self> {
        // Its standard output goes to a file, which has the ports and keys. Its log is shown if it does not start.
        let printed = data.with_extension("printed");
        // The file of an earlier start has other ports.
        if printed.exists() {
            fs::remove_file(&printed)?;
        }
        let mut command = program("sh");
        command.args(["-c", "exec \"$0\" \"$@\" >\"$PRINTED\""]).env("PRINTED", &printed).arg(renown);
        command.arg("serve").arg("--data").arg(data);
        // Any free port: the program prints which.
        command.args(["--listen", "127.0.0.1:0", "--otlp-http", "127.0.0.1:0", "--otlp-grpc", "127.0.0.1:0"]);
        let mut server = Server::start(&mut command, Says::Stderr(""), end)?;
        // Only the first start prints more than the addresses.
        let last = if key.is_some() { "(gRPC)" } else { "reference:" };
        let start = Instant::now();
        let printed = loop {
            let so_far = fs::read_to_string(&printed).unwrap_or_default();
            if so_far.contains(last) {
                break so_far;
            }
            server.still_runs()?;
            ensure!(start.elapsed() < START_MAX, "not ready after {START_MAX:?}: {so_far}");
            pause();
        };
        let between = |before: &str, after: &str| -> Result<String> {
            let rest = printed.split_once(before).map(|(_, rest)| rest);
            let found = rest.and_then(|rest| rest.split(after).next());
            Ok(found
                .with_context(|| format!("no {before:?} in what the server printed: {printed}"))?
                .to_owned())
        };
        let key = key.map_or_else(|| between("secret       ", "\n"), Ok)?;
        let api = between(" on http://", "\n")?.parse()?;
        let http = between("telemetry (OTLP) on ", " (HTTP)")?.parse()?;
        let grpc = between("(HTTP), ", " (gRPC)")?.parse()?;
        Ok(Self { _server: server, api, http, grpc, key })
    }

    /// Returns a reply of the API.
    pub(super) fn read(&self, path: &str) -> Result<Value> {
        let reply = fetch(self.api, &get(path, &self.key), 200).with_context(|| format!("GET {path}"))?;
        Ok(serde_json::from_slice(&reply)?)
    }

    /// Checks that the performance of a session is exactly this.
    pub(super) fn performs(&self, session: &str, expected: &Value) -> Result<()> {
        let path = format!("/v1/sessions/{session}/performance");
        equal(&format!("GET {path}"), &self.read(&path)?, expected)
    }

    /// Sends an object of OTLP JSON to the OTLP port, from this machine and without a key.
    pub(super) fn takes(&self, signal: &str, body: &str) -> Result<()> {
        let request = format!(
            "POST /v1/{signal} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        accepted(&fetch(self.http, request.as_bytes(), 200)?)
    }

    /// Returns what the script of an SDK needs to send records over a transport.
    pub(super) fn job(&self, signal: &str, transport: &str, gzip: bool, records: &[Value]) -> Value {
        let path = if signal == "spans" { "traces" } else { signal };
        let endpoint = match transport {
            "grpc" => format!("http://{}", self.grpc),
            _ => format!("http://{}/v1/{path}", self.http),
        };
        let resource = if signal == "spans" { story::span_resource() } else { story::resource() };
        json!({
            "signal": signal, "transport": transport, "gzip": gzip, "endpoint": endpoint, "resource": resource,
            "records": records,
        })
    }
}

/// Checks that a reply to OTLP JSON rejects nothing.
pub(super) fn accepted(reply: &[u8]) -> Result<()> {
    let reply: Value = serde_json::from_slice(reply)?;
    ensure!(reply.get("partialSuccess").is_none(), "some of it was refused: {reply}");
    Ok(())
}

/// Checks that two values are the same. The error names every field that differs.
pub(super) fn equal(what: &str, found: &Value, expected: &Value) -> Result<()> {
    let mut differences = Vec::new();
    compare("", found, expected, &mut differences);
    ensure!(differences.is_empty(), "{what}:\n  {}\nin {found}", differences.join("\n  "));
    Ok(())
}

fn compare(path: &str, found: &Value, expected: &Value, differences: &mut Vec<String>) {
    match (found, expected) {
        (Value::Object(left), Value::Object(right)) => {
            let more = right.keys().filter(|name| !left.contains_key(*name));
            for name in left.keys().chain(more) {
                let side =
                    |fields: &Value| fields.get(name).cloned().unwrap_or_else(|| json!("(no such field)"));
                compare(&format!("{path}/{name}"), &side(found), &side(expected), differences);
            }
        }
        (found, expected) if found == expected => {}
        (found, expected) => differences.push(format!("{path}: found {found}, expected {expected}")),
    }
}

#[expect(clippy::disallowed_methods, reason = "only looking tells what a server has printed")]
fn pause() {
    thread::sleep(LOOK_EVERY);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_difference_is_named() {
        let (found, expected) =
            (json!({"a": 1, "b": {"c": 2}, "d": 3}), json!({"a": 1, "b": {"c": 4, "e": 5}}));
        let said = equal("it", &found, &expected).unwrap_err().to_string();
        for part in ["/b/c: found 2, expected 4", "/b/e: found", "/d: found 3"] {
            assert!(said.contains(part), "{said}");
        }
        equal("it", &found, &found).unwrap();
    }
}
