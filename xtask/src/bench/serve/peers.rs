//! The servers that take part, each in a folder of its own on the same disk: `renown`, Redis and plain axum.
//!
//! Redis keeps its log as `renown` keeps its evidence: a write is on disk before its reply. It has nothing else to do:
//! no snapshots, and no rewriting of the log, which would be work that a short run does not show.

use std::env;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::plain;
use crate::load::{fetch, get};
use crate::process::{Says, Server};
use crate::shell::{install, output, program, succeeds};

/// How often a starting server is asked whether it is ready.
const ASK_EVERY: Duration = Duration::from_millis(1);
const START_MAX: Duration = Duration::from_mins(1);

/// A server and where it listens. Stopped when dropped.
#[derive(Debug)]
pub(super) struct Peer {
    pub(super) server: Server,
    pub(super) address: SocketAddr,
}

/// Installs the package of a program if it is missing.
pub(super) fn have(name: &str, package: &str) -> Result<()> {
    if succeeds(program(name).arg("--version")) { Ok(()) } else { install(&[package]) }
}

/// An empty folder.
pub(super) fn empty(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    Ok(())
}

/// An address at which nobody listens.
pub(super) fn free_address() -> Result<SocketAddr> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?)
}

/// Redis, durable.
pub(super) fn redis(folder: &Path) -> Result<Peer> {
    have("redis-server", "redis-server")?;
    empty(folder)?;
    let address = free_address()?;
    let mut command = program("redis-server");
    command.args(["--bind", &address.ip().to_string(), "--port", &address.port().to_string()]);
    command.arg("--dir").arg(folder).args(["--save", ""]);
    command.args(["--appendonly", "yes", "--appendfsync", "always", "--auto-aof-rewrite-percentage", "0"]);
    let server = Server::start_ready(&mut command, Says::Stdout("Ready to accept connections"), "TERM")?;
    Ok(Peer { server, address })
}

/// Plain axum, in a process of its own.
pub(super) fn axum(body_bytes: usize) -> Result<Peer> {
    let address = free_address()?;
    let mut command = program(env::current_exe()?);
    command.args(["bench", "plain", &address.port().to_string(), &body_bytes.to_string()]);
    let server = Server::start_ready(&mut command, Says::Stdout(plain::READY), "TERM")?;
    Ok(Peer { server, address })
}

/// The program that is measured, with a database.
#[derive(Debug, Clone)]
pub(super) struct Renown {
    pub(super) program: PathBuf,
    pub(super) data: PathBuf,
}

impl Renown {
    /// A new key. No server may run on the database meanwhile.
    pub(super) fn create_key(&self) -> Result<String> {
        let mut command = program(&self.program);
        command.args(["keys", "create", "--kind", "secret", "--format", "json", "--data"]).arg(&self.data);
        let created: Value = serde_json::from_str(&output(&mut command)?)?;
        Ok(created.get("key").and_then(Value::as_str).context("no key in the reply")?.to_owned())
    }

    /// Starts it, and says how long that took until it was ready.
    pub(super) fn serve(&self) -> Result<(Peer, Duration)> {
        let address = free_address()?;
        let mut command = program(&self.program);
        command.arg("serve").arg("--data").arg(&self.data).args(["--listen", &address.to_string()]);
        let start = Instant::now();
        let mut server = Server::start(&mut command, Says::Stderr(""), "TERM")?;
        while fetch(address, &get("/ready", "none"), 200).is_err() {
            server.still_runs()?;
            ensure!(start.elapsed() < START_MAX, "not ready after {START_MAX:?}");
            pause();
        }
        Ok((Peer { server, address }, start.elapsed()))
    }
}

#[expect(clippy::disallowed_methods, reason = "only asking tells when a server is ready")]
fn pause() {
    thread::sleep(ASK_EVERY);
}
