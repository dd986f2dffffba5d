//! A server under load is killed at a random moment, again and again, on one data directory.
//!
//! After each round: every acknowledged evaluation is there exactly once, no other is there twice, and every score equals a
//! replay. What was in flight when the server died is sent again with the same id after the restart, as a client would, and
//! counts once whether it had arrived or not.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use anyhow::{Context, Result, anyhow, ensure};
use renown_store::EventQuery;
use renown_store::sqlite::Reader;

use crate::load::{fetch, post};
use crate::renown::{Renown, empty};
use crate::shell::program;

const ROUNDS: u64 = 50;
const CLIENTS: usize = 8;
const AGENTS: u64 = 5;

/// A round ends when so many evaluations were acknowledged, at most.
const ROUND_MAX: u64 = 120;

/// Where the moments come from.
const SEED: u64 = 0x5eed_2026;

/// What one client knows.
#[derive(Default)]
struct Client {
    acknowledged: Vec<String>,
    /// Sent, and not known to have arrived.
    in_flight: Option<String>,
    sent: u64,
}

/// Kills the server so many times, and says what was lost or counted twice: nothing.
pub(super) fn run(renown: &Path, data: &Path) -> Result<()> {
    empty(data)?;
    let renown = Renown { program: renown.to_owned(), data: data.to_owned() };
    let key = renown.create_key()?;
    let clients: Vec<Mutex<Client>> = (0..CLIENTS).map(|_| Mutex::default()).collect();
    let mut retried = 0_u64;
    for round in 0..ROUNDS {
        let (peer, _) = renown.serve_as(program(&renown.program), "KILL")?;
        retried += clients.iter().filter(|client| in_flight(client)).count() as u64;
        let (left, address) = (AtomicU64::new(moment(round)), peer.address);
        let peer = Mutex::new(Some(peer));
        thread::scope(|scope| {
            for (number, client) in clients.iter().enumerate() {
                let (left, peer, key) = (&left, &peer, &key);
                scope.spawn(move || {
                    load(number, client, address, key, left, || {
                        drop(peer.lock().map(|mut peer| peer.take()));
                    });
                });
            }
        });
        check(data, &clients).with_context(|| format!("round {round} (cargo xtask test durability)"))?;
    }
    let (acknowledged, kept) = check(data, &clients)?;
    println!(
        "killed {ROUNDS} times: {acknowledged} evaluations acknowledged, {retried} sent again, {kept} kept; lost 0, counted twice 0"
    );
    Ok(())
}

fn in_flight(client: &Mutex<Client>) -> bool {
    client.lock().is_ok_and(|client| client.in_flight.is_some())
}

/// After how many acknowledgements a round ends: from 1 on, so that the first commit after a restart is hit too.
fn moment(round: u64) -> u64 {
    let mixed = (SEED ^ round).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    1 + (mixed >> 32) % ROUND_MAX
}

/// Sends evaluations until the server is gone. Whoever gets the last acknowledgement of the round kills it.
fn load(
    number: usize,
    client: &Mutex<Client>,
    address: SocketAddr,
    key: &str,
    left: &AtomicU64,
    kill: impl Fn(),
) {
    let Ok(mut client) = client.lock() else { return };
    loop {
        let id = client.in_flight.clone().unwrap_or_else(|| format!("client-{number}-{}", client.sent));
        client.in_flight = Some(id.clone());
        let agent = client.sent % AGENTS;
        let output = if client.sent.is_multiple_of(7) { "mail bob@corp.io" } else { "all good" };
        let body = format!(r#"{{"agent_id":"agent-{agent}","output":"{output}","evaluation_id":"{id}"}}"#);
        if fetch(address, &post("/v1/evaluate", key, &body), 200).is_err() {
            return;
        }
        client.acknowledged.push(id);
        client.in_flight = None;
        client.sent += 1;
        if left.fetch_sub(1, Ordering::Relaxed) == 1 {
            kill();
        }
    }
}

/// Every acknowledged evaluation once, none twice, every score as in a replay. How many were acknowledged and are there.
fn check(data: &Path, clients: &[Mutex<Client>]) -> Result<(usize, usize)> {
    let store = Reader::open(data)?;
    let verdict = store.verify(&mut |_, _| {})?;
    let verified = verdict.map_err(|difference| anyhow!("{difference}"))?;
    let all = EventQuery { limit: usize::MAX, ..EventQuery::default() };
    let events = store.events(&renown_store::DEFAULT_ORG.parse()?, all)?.events;
    ensure!(verified.evaluations == events.len() as u64, "the replay saw another number of evaluations");
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for event in &events {
        *counts.entry(event.id.as_str()).or_default() += 1;
    }
    let twice: Vec<_> = counts.iter().filter(|(_, count)| **count > 1).collect();
    ensure!(twice.is_empty(), "counted twice: {twice:?}");
    let mut acknowledged = 0;
    for client in clients {
        let client = client.lock().map_err(|_| anyhow!("a client panicked"))?;
        let lost: Vec<_> =
            client.acknowledged.iter().filter(|id| !counts.contains_key(id.as_str())).collect();
        ensure!(lost.is_empty(), "acknowledged and lost: {lost:?}");
        acknowledged += client.acknowledged.len();
    }
    Ok((acknowledged, events.len()))
}
