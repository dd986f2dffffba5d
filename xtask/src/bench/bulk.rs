//! Large stores, written straight through the store in large batches: faster than over HTTP, and the same rows.

use std::ops::Range;
use std::path::Path;

use anyhow::Result;
use renown_core::ids::OrgId;
use renown_store::sqlite::Sqlite;
use renown_store::{Clock, NewEvaluation, NewRun, RunStore, Store};
use tokio::runtime::Runtime;

/// How many evaluations the store is given at a time.
const BATCH: u64 = 4000;

/// Replaced by the number of an agent in a request, as [`agent`] writes it.
pub(super) const AGENT_MARK: &str = "#######";

/// The name of an agent.
pub(super) fn agent(number: u64) -> String {
    format!("a-{number:07}")
}

/// The numbers from 0 on, cut into batches.
pub(super) fn batches(total: u64) -> impl Iterator<Item = Range<u64>> {
    (0..total.div_ceil(BATCH)).map(move |batch| batch * BATCH..total.min((batch + 1) * BATCH))
}

/// A store that is filled.
pub(super) struct Bulk {
    pub(super) store: Sqlite,
    pub(super) runtime: Runtime,
    pub(super) org: OrgId,
}

impl Bulk {
    pub(super) fn open(data: &Path, purpose: &str, clock: Clock) -> Result<Self> {
        Ok(Self {
            store: Sqlite::open(data, purpose, clock)?,
            runtime: tokio::runtime::Builder::new_current_thread().build()?,
            org: renown_store::DEFAULT_ORG.parse()?,
        })
    }

    /// Counts a batch of evaluations.
    pub(super) fn append(&self, batch: Vec<NewEvaluation>) -> Result<()> {
        self.runtime.block_on(self.store.append(&self.org, batch, None))?;
        Ok(())
    }
}

/// A run of an agent that completed.
pub(super) fn run(number: u64, agent: &str) -> Result<NewRun> {
    let text = format!(
        r#"{{"agent_id":"{agent}","outcome":"completed","wall_ms":{},"stages":[{{"name":"test","passed":true}}]}}"#,
        1000 + number % 997,
    );
    let submission = renown_core::json::parse(text.as_bytes())?;
    Ok(NewRun { id: format!("run-{number}").parse()?, submission, digest: [0; 32] })
}

/// Scores runs. They wait together, so that one transaction takes many.
pub(super) async fn add_runs(store: &Sqlite, org: &OrgId, runs: Vec<NewRun>) -> Result<()> {
    let batch: Vec<_> = runs.into_iter().map(|run| store.add_run(org, run, None)).collect();
    for submitted in batch {
        submitted.await?;
    }
    Ok(())
}
