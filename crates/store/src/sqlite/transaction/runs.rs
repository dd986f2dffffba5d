//! Writes runs. They are scored in the transaction that accepts them, so that no other run is accepted between
//! reading the baseline and writing the score.

use renown_core::ids::OrgId;
use renown_core::units::Whole;
use rusqlite::params;

use super::Transaction;
use crate::error::StoreError;
use crate::evidence::{Position, Salt};
use crate::fold::agents::{Mention, named};
use crate::fold::runs::{self as fold, RunChange, RunRow, UnscoredRun};
use crate::request_keys::kept::Kept;
use crate::request_keys::{Accepted, RequestKey};
use crate::runs::{NewRun, Run, Submitted};
use crate::sqlite::agent_cache::AgentKey;
use crate::sqlite::orgs::OrgKey;
use crate::sqlite::runs;
use crate::sqlite::schema::MINUTE_MS;

impl Transaction<'_> {
    /// Scores a run and writes it, unless its id exists.
    pub(in crate::sqlite) fn add_run(
        &mut self,
        org: &OrgId,
        new: NewRun,
        request_key: Option<RequestKey>,
    ) -> Result<Accepted<Submitted>, StoreError> {
        let org = self.orgs.get(org)?;
        if let Some(known) = self.known(request_key.as_ref())? {
            return Ok(known.into());
        }
        let known = runs::find(self.connection, org, &new.id)?;
        let submitted = match fold::submit(known, new, self.latest)? {
            RunChange::New(unscored) => Submitted::New(Box::new(self.score_run(org, *unscored)?)),
            RunChange::Known(known) => known,
        };
        if let Some(kept) = Kept::run(&submitted).filter(|_| request_key.is_some()) {
            self.keep(request_key, || kept)?;
        }
        Ok(Accepted::Fresh(submitted))
    }

    fn score_run(&mut self, org: OrgKey, unscored: UnscoredRun) -> Result<Run, StoreError> {
        let walls = runs::baseline_walls(self.connection, org, &unscored.baseline_query())?;
        let mut row = unscored.score(walls);
        let agent = self.touch_agent(&(org, row.run.agent.clone()))?;
        self.free_run_id(org, &row.run.id)?;
        row.run.position = Position::of(self.insert_run(org, agent, &row)?);
        Ok(row.run)
    }

    /// Adds an agent whose work arrived if it is new, and saves when it was last seen. Returns its number.
    pub(super) fn touch_agent(&mut self, key: &AgentKey) -> Result<i64, StoreError> {
        self.load_agent(key, 0)?;
        let now = self.latest;
        let agent = self.touch(key, named(self.agents.contains(key), Mention::Work))?;
        agent.state.last_seen = now;
        let number = agent.state.agent;
        // Written at once: after a crash, only evaluations show when their agent was last seen.
        let mut update = self
            .connection
            .prepare_cached("UPDATE agents SET last_seen = ?2, seen_minute = ?3 WHERE agent = ?1")?;
        update.execute(params![number, now.millis(), now.millis() / MINUTE_MS])?;
        Ok(number)
    }

    fn insert_run(
        &mut self,
        org: OrgKey,
        agent: i64,
        RunRow { run, baseline }: &RunRow,
    ) -> Result<i64, StoreError> {
        let salt: Salt = self.salts.draw()?;
        let whole = |number: Option<Whole>| number.map(Whole::get);
        let (report, resources) = (&run.report, run.report.resources);
        let [low, high] = baseline.middle_ms().map(Whole::get);
        let scored = run.scored.as_ref();
        let axis = |axis: fn(&renown_core::scorecard::Axes) -> u8| scored.map(|scored| axis(&scored.axes));
        let mut insert = self.connection.prepare_cached(
            "INSERT INTO agent_run_scores (org, agent, run_id, workspace, spec_id, outcome, stages, wall_ms, \
             memory_peak_bytes, memory_limit_bytes, cpu_periods, cpu_throttled_periods, cpu_throttled_ms, started_ns, \
             finished_ns, branch, pull_request, attributes, warnings, accepted_at, digest, salt, baseline_runs, \
             baseline_low_ms, baseline_high_ms, score, completion, error_rate, latency, resource_efficiency, defaulted, \
             formula_version) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, \
             ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32)",
        )?;
        insert.execute(params![
            org,
            agent,
            run.id.as_str(),
            run.workspace.as_str(),
            run.spec.as_ref().map(renown_core::ids::SpecId::as_str),
            report.outcome.name(),
            run.stages,
            whole(report.wall_ms),
            whole(resources.memory_peak_bytes),
            whole(resources.memory_limit_bytes),
            whole(resources.cpu_periods),
            whole(resources.cpu_throttled_periods),
            whole(resources.cpu_throttled_ms),
            run.started_at.map(renown_core::time::Timestamp::nanos),
            run.finished_at.nanos(),
            run.branch,
            run.pull_request,
            run.attributes,
            json(&run.warnings),
            run.accepted_at.millis(),
            run.digest,
            salt,
            baseline.runs(),
            low,
            high,
            scored.map(|scored| scored.score),
            axis(|axes| axes.completion),
            axis(|axes| axes.error_rate),
            axis(|axes| axes.latency),
            axis(|axes| axes.resource_efficiency),
            scored.map(|scored| json(&scored.defaulted)),
            scored.map(|scored| scored.formula_version.as_str()),
        ])?;
        Ok(self.connection.last_insert_rowid())
    }
}

/// Encodes a list of texts as JSON, because they may contain any character.
fn json(texts: &[String]) -> String {
    serde_json::to_string(texts).unwrap_or_default()
}
