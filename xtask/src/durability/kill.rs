//! Kills a server under load at a random moment, again and again, on one data directory.
//!
//! Each client sends every kind of change in turn (`client`). After each round, what was acknowledged is in the file
//! exactly once, erased agents are gone, nothing is stored twice, and every score equals a replay (`check`). What
//! was in flight when the server died is sent again with the same id after the restart, as a client would, and counts
//! once whether it had arrived or not.

mod check;
mod client;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use anyhow::{Context, Result, anyhow};

use crate::load::fetch_one_of;
use crate::renown::{Renown, empty};
use crate::shell::program;
use client::{Client, Kind};

const ROUNDS: u64 = 50;
const CLIENTS: usize = 8;

/// Maximum number of acknowledged writes per round.
const ROUND_MAX: u64 = 120;

/// Seed of the moments at which the server is killed.
const SEED: u64 = 0x5eed_2026;

/// Kills the server [`ROUNDS`] times. Fails if an acknowledged write is lost or anything is counted twice.
pub(super) fn run(renown: &Path, data: &Path) -> Result<()> {
    empty(data)?;
    let renown = Renown { program: renown.to_owned(), data: data.to_owned() };
    let key = renown.create_key()?;
    let clients: Vec<Mutex<Client>> = (0..CLIENTS).map(|number| Mutex::new(Client::new(number))).collect();
    let mut retried = [0_usize; Kind::ALL.len()];
    for round in 0..ROUNDS {
        let about = || format!("round {round} (cargo xtask test durability)");
        let (peer, _) = renown.serve_as(program(&renown.program), "KILL")?;
        check::settings(peer.address, &key, &clients).with_context(about)?;
        for in_flight in clients.iter().filter_map(|client| client.lock().ok()?.in_flight) {
            for (_, count) in Kind::ALL.iter().zip(&mut retried).filter(|(kind, _)| **kind == in_flight) {
                *count += 1;
            }
        }
        let (left, address) = (AtomicU64::new(moment(round)), peer.address);
        let peer = Mutex::new(Some(peer));
        thread::scope(|scope| {
            for client in &clients {
                let (left, peer, key) = (&left, &peer, &key);
                scope.spawn(move || {
                    load(client, address, key, left, || {
                        drop(peer.lock().map(|mut peer| peer.take()));
                    });
                });
            }
        });
        check::evidence(data, &clients).with_context(about)?;
    }
    let (peer, _) = renown.serve_as(program(&renown.program), "TERM")?;
    check::settings(peer.address, &key, &clients)?;
    drop(peer);
    let kept = check::evidence(data, &clients)?;
    let mut acknowledged = 0;
    for client in &clients {
        acknowledged += client.lock().map_err(|_| anyhow!("a client panicked"))?.acknowledged;
    }
    let retried: Vec<String> =
        Kind::ALL.iter().zip(retried).map(|(kind, count)| format!("{count} {}", kind.name())).collect();
    println!(
        "killed {ROUNDS} times: {acknowledged} changes acknowledged, {kept} pieces of evidence kept; lost 0, counted twice 0\n\
         in flight and sent again: {}",
        retried.join(", ")
    );
    Ok(())
}

/// Returns the number of acknowledgements after which a round ends: from 1 on, so that the first commit after a restart
/// is hit too.
fn moment(round: u64) -> u64 {
    let mixed = (SEED ^ round).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    1 + (mixed >> 32) % ROUND_MAX
}

/// Sends changes until the server is gone. The client that gets the last acknowledgement of the round kills the server.
fn load(client: &Mutex<Client>, address: SocketAddr, key: &str, left: &AtomicU64, kill: impl Fn()) {
    let Ok(mut client) = client.lock() else { return };
    loop {
        let (request, statuses) = client.next(key);
        if fetch_one_of(address, &request, statuses).is_err() {
            return;
        }
        client.acknowledge();
        if left.fetch_sub(1, Ordering::Relaxed) == 1 {
            kill();
        }
    }
}
