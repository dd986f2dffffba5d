//! `cargo xtask bench evidence`: the cost of a run as its workspace grows, and the cost of an identity's reputation as
//! its events grow. Both should not depend on the amount.
//!
//! The small and the large store are open side by side and are asked in turns, so that other load on the machine
//! affects both. The peer of the reputation is the same answer, computed by SQL from the events in the same file.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use renown_core::identity::{Category, Event, Reference, ScoreDelta};
use renown_core::ids::{IdentityId, OrgId};
use renown_core::time::Timestamp;
use renown_core::units::Unit;
use renown_store::sqlite::{FILE, Sqlite, system_clock};
use renown_store::{Evidence, NewReputationEvent, NewRun, Reads};
use rusqlite::Connection;
use tokio::runtime::Runtime;
use uuid::Uuid;

use super::bulk;
use crate::shell::{self, cargo, target_dir};

const FEW: i64 = 1000;
const MANY_RUNS: i64 = 1_000_000;
const MANY_EVENTS: i64 = 10_000_000;
/// Number of items per write while a store is filled.
const BATCH: i64 = 2000;
const SAMPLES: usize = 400;
const PEER_SAMPLES: usize = 1;
const DAYS_90_NS: i64 = 90 * 86_400 * 1_000_000_000;

/// Starts the bench as a release build.
pub(crate) fn evidence() -> Result<()> {
    let release = ["run", "--release", "--locked", "--package", "xtask", "--", "bench", "evidence-here"];
    shell::run(cargo().args(release))
}

/// Fills both stores and prints both costs.
pub(crate) fn evidence_here() -> Result<()> {
    let folder = target_dir()?.join("xtask/bench-evidence");
    let _ = fs::remove_dir_all(&folder);
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let result =
        runs(&runtime, &folder.join("runs")).and_then(|()| identities(&runtime, &folder.join("identities")));
    fs::remove_dir_all(&folder)?;
    result
}

fn org() -> Result<OrgId> {
    Ok(renown_store::DEFAULT_ORG.parse()?)
}

fn open(dir: &Path) -> Result<Sqlite> {
    fs::create_dir_all(dir)?;
    Ok(Sqlite::open(dir, "cargo xtask bench evidence", system_clock())?)
}

/// Returns the medians of measurements in microseconds. Both sides are measured in turns.
fn medians(samples: usize, mut measure: impl FnMut(usize, usize) -> Result<()>) -> Result<[f64; 2]> {
    let mut taken = [Vec::new(), Vec::new()];
    for sample in 0..samples {
        for (which, taken) in taken.iter_mut().enumerate() {
            let started = Instant::now();
            measure(which, sample)?;
            taken.push(started.elapsed().as_secs_f64() * 1e6);
        }
    }
    let median = |mut taken: Vec<f64>| -> Result<f64> {
        taken.sort_by(f64::total_cmp);
        taken.get(taken.len() / 2).copied().context("no samples")
    };
    let [few, many] = taken;
    Ok([median(few)?, median(many)?])
}

fn run(number: i64) -> Result<NewRun> {
    bulk::run(u64::try_from(number)?, &format!("agent-{}", number % 50))
}

fn runs(runtime: &Runtime, dir: &Path) -> Result<()> {
    let stores = [open(&dir.join("few"))?, open(&dir.join("many"))?];
    for (store, count) in stores.iter().zip([FEW, MANY_RUNS]) {
        let started = Instant::now();
        for first in (0..count).step_by(usize::try_from(BATCH)?) {
            let batch = (first..count.min(first + BATCH)).map(run);
            runtime.block_on(bulk::add_runs(store, &org()?, batch.collect::<Result<_>>()?))?;
        }
        println!("scored {count} runs in {:.0} s", started.elapsed().as_secs_f64());
    }
    let [few, many] = medians(SAMPLES, |which, sample| {
        let store = stores.get(which).context("a store")?;
        let new = run(MANY_RUNS + i64::try_from(sample)?)?;
        runtime.block_on(store.add_run(&org()?, new, None))?;
        Ok(())
    })?;
    println!(
        "a run, durable: {few:.0} µs with {FEW} in its workspace, {many:.0} µs with {MANY_RUNS}, {:.2} times",
        many / few
    );
    Ok(())
}

/// Returns an event of an identity within the last 90 days.
fn event(number: i64, count: i64, now: Timestamp) -> Result<NewReputationEvent> {
    // Spread evenly, and sent in the order in which they happened.
    let back = (DAYS_90_NS / count).saturating_mul(count - number);
    let categories = Category::ALL;
    let category = categories.get(usize::try_from(number)? % categories.len()).context("a category")?;
    let event = Event {
        event_id: Uuid::from_u128(u128::try_from(number)?),
        timestamp: Timestamp::from_nanos(now.nanos() - back)?,
        identity_id: None,
        agent_id: None,
        category: *category,
        event_type: "task_completed".parse()?,
        score_delta: ScoreDelta::from_millionths(number % 2_000_001 - 1_000_000).context("a delta")?,
        confidence: Unit::ONE,
        reference_type: Reference::default(),
        reference_id: None,
        attributes: BTreeMap::new(),
    };
    Ok(NewReputationEvent { identity: identity(), agent: None, event })
}

fn identity() -> IdentityId {
    Uuid::from_u128(1).into()
}

fn identities(runtime: &Runtime, dir: &Path) -> Result<()> {
    let (stores, now) = ([open(&dir.join("few"))?, open(&dir.join("many"))?], (system_clock())()?);
    for (store, count) in stores.iter().zip([FEW, MANY_EVENTS]) {
        let started = Instant::now();
        for first in (0..count).step_by(usize::try_from(BATCH)?) {
            let batch = (first..count.min(first + BATCH)).map(|number| event(number, count, now));
            runtime.block_on(store.add_reputation_events(&org()?, batch.collect::<Result<_>>()?, None))?;
        }
        println!("counted {count} events in {:.0} s", started.elapsed().as_secs_f64());
    }
    let windows = |which: usize, as_of: Timestamp| -> Result<u64> {
        let store = stores.get(which).context("a store")?;
        let windows = runtime.block_on(store.identity_windows(&org()?, identity(), as_of))?;
        Ok(windows.breakdown().standing(as_of).total_events)
    };
    ensure!(windows(1, now)? > windows(0, now)?, "nothing was counted");
    let [few, many] = medians(SAMPLES, |which, sample| {
        // Each request is about another time, as in practice.
        let as_of = Timestamp::from_nanos(now.nanos() - 1_234_567_891 * i64::try_from(sample)?)?;
        windows(which, as_of).map(drop)
    })?;
    println!(
        "a reputation with its trends: {few:.0} µs of {FEW} events, {many:.0} µs of {MANY_EVENTS}, {:.2} times",
        many / few
    );
    let files = [dir.join("few"), dir.join("many")].map(|dir| Connection::open(dir.join(FILE)));
    let [few_summed, many_summed] = medians(PEER_SAMPLES, |which, _| {
        let connection =
            files.get(which).context("a file")?.as_ref().map_err(|error| anyhow::anyhow!("{error}"))?;
        for days in [0, 7, 30] {
            let to = now.nanos() - days * 86_400 * 1_000_000_000;
            let mut select = connection.prepare(
                "SELECT category, count(*), sum(delta > 0), sum(delta < 0), avg(delta) FROM reputation_events \
                 WHERE identity = 1 AND at_ns > ?1 AND at_ns <= ?2 GROUP BY category",
            )?;
            let mut rows = select.query([to - DAYS_90_NS, to])?;
            while rows.next()?.is_some() {}
        }
        Ok(())
    })?;
    println!(
        "summing the events: {few_summed:.0} µs of {FEW} ({:.1} times ours), {many_summed:.0} µs of {MANY_EVENTS} ({:.0} times ours)",
        few_summed / few,
        many_summed / many
    );
    Ok(())
}
