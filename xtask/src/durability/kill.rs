//! Kills a server under load at a random moment, again and again, on one data directory.
//!
//! After each round, every acknowledged evaluation, run and reputation event is stored exactly once, nothing is stored
//! twice, and every score equals a replay. What was in flight when the server died is sent again with the same id after
//! the restart, as a client would, and counts once whether it had arrived or not.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use anyhow::{Context, Result, anyhow, ensure};
use renown_store::sqlite::{Reader, system_clock};
use renown_store::{SCAN_MAX, Scan, scan_all};
use uuid::Uuid;

use crate::load::{fetch_one_of, post};
use crate::renown::{Renown, empty};
use crate::shell::program;

const ROUNDS: u64 = 50;
const CLIENTS: usize = 8;
const AGENTS: u64 = 5;

/// Maximum number of acknowledged writes per round.
const ROUND_MAX: u64 = 120;

/// Seed of the moments at which the server is killed.
const SEED: u64 = 0x5eed_2026;

/// The writes of one client.
#[derive(Default)]
struct Client {
    acknowledged: Vec<String>,
    /// Sent, but not known to have arrived.
    in_flight: Option<String>,
    sent: u64,
}

/// Kills the server [`ROUNDS`] times. Fails if an acknowledged write is lost or anything is counted twice.
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
        "killed {ROUNDS} times: {acknowledged} evaluations, runs and reputation events acknowledged, {retried} sent again, {kept} kept; lost 0, counted twice 0"
    );
    Ok(())
}

fn in_flight(client: &Mutex<Client>) -> bool {
    client.lock().is_ok_and(|client| client.in_flight.is_some())
}

/// Returns the number of acknowledgements after which a round ends: from 1 on, so that the first commit after a restart
/// is hit too.
fn moment(round: u64) -> u64 {
    let mixed = (SEED ^ round).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    1 + (mixed >> 32) % ROUND_MAX
}

/// The kinds of evidence that a client sends in turn.
#[derive(Clone, Copy)]
enum Kind {
    Evaluation,
    Run,
    ReputationEvent,
}

impl Kind {
    fn of(sent: u64) -> Self {
        match sent % 4 {
            0 | 1 => Self::Evaluation,
            2 => Self::Run,
            _ => Self::ReputationEvent,
        }
    }

    /// Returns the request, and the statuses that acknowledge it. A run that had arrived before gets another status
    /// than a new one.
    fn request(self, id: &str, sent: u64, key: &str) -> (Vec<u8>, &'static [u16]) {
        let agent = sent % AGENTS;
        match self {
            Self::Evaluation => {
                let output = if sent.is_multiple_of(7) { "mail bob@corp.io" } else { "all good" };
                let body =
                    format!(r#"{{"agent_id":"agent-{agent}","output":"{output}","evaluation_id":"{id}"}}"#);
                (post("/v1/evaluate", key, &body), &[200])
            }
            Self::Run => {
                let body = format!(
                    r#"{{"agent_id":"agent-{agent}","run_id":"{id}","outcome":"completed","wall_ms":{sent}}}"#
                );
                (post("/v1/runs", key, &body), &[200, 201])
            }
            Self::ReputationEvent => {
                let (event, at) = (
                    event_id(id),
                    (system_clock())().map_or_else(|error| error.to_string(), |at| at.to_string()),
                );
                let body = format!(
                    r#"{{"events":[{{"event_id":"{event}","timestamp":"{at}","agent_id":"agent-{agent}","category":"economic","event_type":"paid","score_delta":0.25}}]}}"#
                );
                (post("/v1/reputation-events", key, &body), &[202])
            }
        }
    }
}

/// Returns the UUID of a text.
fn event_id(text: &str) -> String {
    Uuid::new_v5(&Uuid::NAMESPACE_OID, text.as_bytes()).to_string()
}

/// Sends evidence until the server is gone. The client that gets the last acknowledgement of the round kills the
/// server.
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
        let kind = Kind::of(client.sent);
        let (request, statuses) = kind.request(&id, client.sent, key);
        if fetch_one_of(address, &request, statuses).is_err() {
            return;
        }
        let kept_as = if let Kind::ReputationEvent = kind { event_id(&id) } else { id };
        client.acknowledged.push(kept_as);
        client.in_flight = None;
        client.sent += 1;
        if left.fetch_sub(1, Ordering::Relaxed) == 1 {
            kill();
        }
    }
}

/// Checks that every acknowledged write is stored once, that nothing is stored twice, and that every score equals a
/// replay. Returns the number of acknowledged writes and the number of stored ones.
fn check(data: &Path, clients: &[Mutex<Client>]) -> Result<(usize, usize)> {
    let store = Reader::open(data)?;
    let verdict = store.verify(&mut |_, _| {})?;
    let verified = verdict.map_err(|difference| anyhow!("{difference}"))?;
    let org = renown_store::DEFAULT_ORG.parse()?;
    let mut kept: Vec<String> = Vec::new();
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    runtime.block_on(async {
        let part = |after| store.scan_evaluations(&org, after, SCAN_MAX);
        let mut keep = |id: String| {
            kept.push(id);
            true
        };
        scan_all(part, |evaluation| keep(evaluation.id.to_string())).await?;
        let part = |after| store.scan_runs(&org, after, SCAN_MAX);
        scan_all(part, |run| keep(run.id.to_string())).await?;
        let part = |after| store.scan_reputation_events(&org, after, SCAN_MAX);
        scan_all(part, |event| keep(event.event.event_id.to_string())).await
    })?;
    let replayed = verified.evaluations + verified.runs + verified.events;
    ensure!(replayed == kept.len() as u64, "the replay saw another number of them");
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for id in &kept {
        *counts.entry(id).or_default() += 1;
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
    Ok((acknowledged, kept.len()))
}
