//! The peers, each in a folder of its own on the same disk: Redis and plain axum.
//!
//! Redis syncs its log as `renown` does its evidence: a write is on disk before its reply. It does nothing else: no
//! snapshots, and no rewriting of the log, whose cost a short run would not show.

use std::env;
use std::path::Path;

use anyhow::Result;

use super::plain;
use crate::process::{Says, Server};
use crate::renown::{Peer, empty, free_address};
use crate::shell::{install, program, succeeds};

/// Installs the package of a program if it is missing.
pub(super) fn have(name: &str, package: &str) -> Result<()> {
    if succeeds(program(name).arg("--version")) { Ok(()) } else { install(&[package]) }
}

/// Starts Redis, durable.
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

/// Starts plain axum, in its own process.
pub(super) fn axum(body_bytes: usize) -> Result<Peer> {
    let address = free_address()?;
    let mut command = program(env::current_exe()?);
    command.args(["bench", "plain", &address.port().to_string(), &body_bytes.to_string()]);
    let server = Server::start_ready(&mut command, Says::Stdout(plain::READY), "TERM")?;
    Ok(Peer { server, address })
}
