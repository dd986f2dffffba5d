//! What has to be in the store after a kill.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Mutex, MutexGuard};

use anyhow::{Context, Result, anyhow, ensure};
use renown_core::ids::OrgId;
use renown_store::sqlite::Reader;
use renown_store::{ReadError, Reads, SCAN_MAX, Scan, scan_all};
use serde_json::Value;

use super::client::{BATCH, Client, Doomed, Kind, RECORDS, Replaced};
use crate::load::{fetch, get};

/// Waits for the answer of a store.
fn ask<T>(answer: impl Future<Output = Result<T, ReadError>>) -> Result<T> {
    Ok(tokio::runtime::Builder::new_current_thread().build()?.block_on(answer)?)
}

fn lock(client: &Mutex<Client>) -> Result<MutexGuard<'_, Client>> {
    client.lock().map_err(|_| anyhow!("a client panicked"))
}

/// Asks a server that has just started for what was replaced: the settings and the publications.
pub(super) fn settings(address: SocketAddr, key: &str, clients: &[Mutex<Client>]) -> Result<()> {
    for client in clients {
        let client = lock(client)?;
        let publication = format!("/v1/agents/{}", client.agent());
        for (path, field, expected) in
            [("/v1/settings", "latency_source", &client.latency_source), (&publication, "slug", &client.slug)]
        {
            let Replaced { acknowledged: Some(acknowledged), in_flight } = expected else { continue };
            let shown: Value = serde_json::from_slice(&fetch(address, &get(path, key), 200)?)?;
            let found = shown.get(field).and_then(Value::as_str);
            let is_expected =
                found == Some(acknowledged) || (found.is_some() && found == in_flight.as_deref());
            ensure!(is_expected, "{path}: {field} is {found:?}, expected {acknowledged:?} or {in_flight:?}");
        }
    }
    Ok(())
}

/// Checks that every acknowledged write is in the file once, that no erased agent is, that nothing is stored twice, and
/// that every score equals a replay. Returns the number of evaluations, runs and reputation events.
pub(super) fn evidence(data: &Path, clients: &[Mutex<Client>]) -> Result<usize> {
    let store = Reader::open(data)?;
    let verified = store.verify(&mut |_, _| {})?.map_err(|difference| anyhow!("{difference}"))?;
    let org: OrgId = renown_store::DEFAULT_ORG.parse()?;
    let mut kept: Vec<(String, String)> = Vec::new();
    ask(async {
        let part = |after| store.scan_evaluations(&org, after, SCAN_MAX);
        let mut keep = |id: String, agent: String| {
            kept.push((id, agent));
            true
        };
        scan_all(part, |evaluation| keep(evaluation.id.to_string(), evaluation.agent.to_string())).await?;
        let part = |after| store.scan_runs(&org, after, SCAN_MAX);
        scan_all(part, |run| keep(run.id.to_string(), run.agent.to_string())).await?;
        let part = |after| store.scan_reputation_events(&org, after, SCAN_MAX);
        scan_all(part, |event| keep(event.event.event_id.to_string(), String::new())).await
    })?;
    // The replay also sees what erased agents left: one evaluation each, until it is deleted.
    let replayed = verified.evaluations + verified.runs + verified.events;
    let erasures: usize = clients.iter().map(|client| Ok(lock(client)?.erasures())).sum::<Result<_>>()?;
    let is_expected = (kept.len()..=kept.len() + erasures).contains(&usize::try_from(replayed)?);
    ensure!(is_expected, "the replay saw {replayed} of {}, after {erasures} erasures", kept.len());
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for (id, _) in &kept {
        *counts.entry(id).or_default() += 1;
    }
    let twice: Vec<_> = counts.iter().filter(|(_, count)| **count > 1).collect();
    ensure!(twice.is_empty(), "counted twice: {twice:?}");
    let keys = ask(store.keys())?;
    for client in clients {
        let client = lock(client)?;
        check_ids(&client, &counts)?;
        check_sessions(&store, &org, &client)?;
        for label in &client.key_labels {
            let count = keys.iter().filter(|key| key.key.label.as_ref() == Some(label)).count();
            ensure!(count == 1, "{count} keys with the label {label}");
        }
        for agent in &client.erased {
            let is_known = ask(store.agent(&org, &agent.parse()?))?.is_some();
            let has_evidence = kept.iter().any(|(_, of)| of == agent);
            ensure!(!is_known && !has_evidence, "{agent} is erased and not gone");
        }
    }
    Ok(kept.len())
}

fn check_ids(client: &Client, counts: &HashMap<&str, usize>) -> Result<()> {
    let doomed = client.doomed.ids.iter().filter(|_| !client.is_erasing());
    let lost: Vec<_> =
        client.ids.iter().chain(doomed).filter(|id| !counts.contains_key(id.as_str())).collect();
    ensure!(lost.is_empty(), "acknowledged and lost: {lost:?}");
    if client.in_flight == Some(Kind::Batch) {
        let arrived = client.batch().filter(|id| counts.contains_key(id.as_str())).count();
        ensure!(
            arrived == 0 || arrived == BATCH,
            "{arrived} of the {BATCH} evaluations of a batch are there"
        );
    }
    Ok(())
}

fn check_sessions(store: &Reader, org: &OrgId, client: &Client) -> Result<()> {
    for (session, has_signals) in &client.sessions {
        let id = session.parse()?;
        let found = ask(store.session(org, &id, true))?.with_context(|| format!("{session} is lost"))?;
        let records = ask(store.session_records(org, &id, None, 100))?.unwrap_or_default().records.len();
        ensure!(records == RECORDS, "{session} has {records} records");
        let has_trace = found.traces.iter().any(|known| known.trace.trace_id.as_str() == "sent");
        ensure!(has_trace || !has_signals, "the signals of {session} are lost");
    }
    if let Doomed { session: Some(session), .. } = &client.doomed
        && !client.is_erasing()
    {
        let found = ask(store.session(org, &session.parse()?, false))?;
        ensure!(found.is_some(), "{session} is lost");
    }
    Ok(())
}
