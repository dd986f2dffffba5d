//! Large stores, written directly through the store in large batches. This is faster than HTTP and gives the same rows.

use std::ops::Range;
use std::path::Path;

use anyhow::Result;
use renown_core::ids::OrgId;
use renown_store::sqlite::Sqlite;
use renown_store::{Clock, Evidence, NewEvaluation, NewRun};
use tokio::runtime::Runtime;

/// Number of evaluations per call of the store.
const BATCH: u64 = 4000;

/// Replaced by the number of an agent in a request, in the form that [`agent`] writes.
pub(super) const AGENT_MARK: &str = "#######";

/// Returns the name of an agent.
pub(super) fn agent(number: u64) -> String {
    format!("a-{number:07}")
}

/// Returns the numbers from 0, in batches.
pub(super) fn batches(total: u64) -> impl Iterator<Item = Range<u64>> {
    (0..total.div_ceil(BATCH)).map(move |batch| batch * BATCH..total.min((batch + 1) * BATCH))
}

/// A store that is being filled.
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

/// Returns a completed run of an agent.
pub(super) fn run(number: u64, agent: &str) -> Result<NewRun> {
    let text = format!(
        r#"{{"agent_id":"{agent}","outcome":"completed","wall_ms":{},"stages":[{{"name":"test","passed":true}}]}}"#,
        1000 + number % 997,
    );
    let submission = renown_core::json::parse(text.as_bytes())?;
    Ok(NewRun { id: format!("run-{number}").parse()?, submission, digest: [0; 32] })
}

/// Scores runs. They are sent at the same time, so that one transaction takes many of them.
pub(super) async fn add_runs(store: &Sqlite, org: &OrgId, runs: Vec<NewRun>) -> Result<()> {
    let batch: Vec<_> = runs.into_iter().map(|run| store.add_run(org, run, None)).collect();
    for submitted in batch {
        submitted.await?;
    }
    Ok(())
}
