//! `renown serve` for a bench or a test, with its own data directory.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::load::{fetch, get};
use crate::process::{Says, Server};
use crate::shell::{output, program};

/// The interval at which a starting server is asked whether it is ready.
const ASK_EVERY: Duration = Duration::from_millis(1);
const START_MAX: Duration = Duration::from_mins(1);

/// A server and its address. Stopped when dropped.
#[derive(Debug)]
pub(crate) struct Peer {
    pub(crate) server: Server,
    pub(crate) address: SocketAddr,
}

/// Returns an empty folder.
pub(crate) fn empty(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    Ok(())
}

/// Returns a free address.
pub(crate) fn free_address() -> Result<SocketAddr> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?)
}

/// The program with a database.
#[derive(Debug, Clone)]
pub(crate) struct Renown {
    pub(crate) program: PathBuf,
    pub(crate) data: PathBuf,
}

impl Renown {
    /// Creates a key. No server may run on the database at the same time.
    pub(crate) fn create_key(&self) -> Result<String> {
        let mut command = program(&self.program);
        command.args(["keys", "create", "--kind", "secret", "--format", "json", "--data"]).arg(&self.data);
        let created: Value = serde_json::from_str(&output(&mut command)?)?;
        Ok(created.get("key").and_then(Value::as_str).context("no key in the reply")?.to_owned())
    }

    /// Starts the server. Returns how long it took to become ready.
    pub(crate) fn serve(&self) -> Result<(Peer, Duration)> {
        self.serve_as(program(&self.program), "TERM")
    }

    /// Starts it as the end of another command. A signal ends it.
    pub(crate) fn serve_as(&self, mut command: Command, end: &'static str) -> Result<(Peer, Duration)> {
        let address = free_address()?;
        command.arg("serve").arg("--data").arg(&self.data).args(["--listen", &address.to_string()]);
        command.args(["--otlp-grpc", "off", "--otlp-http", "off"]);
        let start = Instant::now();
        let mut server = Server::start(&mut command, Says::Stderr(""), end)?;
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
