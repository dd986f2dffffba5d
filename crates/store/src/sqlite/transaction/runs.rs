//! Writes runs. They are scored in the transaction that accepts them, so that no other run is accepted between
//! reading the baseline and writing the score.

use renown_core::ids::{OrgId, Workspace};
use renown_core::scorecard::DEFAULT_WORKSPACE;
use renown_core::units::Whole;
use rusqlite::params;

use super::Transaction;
use crate::error::StoreError;
use crate::evidence::{Position, Salt};
use crate::request_keys::kept::Kept;
use crate::request_keys::{Accepted, RequestKey};
use crate::runs::{NewRun, Run, RunScore, Submitted};
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
        let submitted = match runs::find(self.connection, org, &new.id)? {
            Some(first) if first.digest == new.digest => Submitted::Repeated(Box::new(first)),
            Some(_) => Submitted::Conflict,
            None => Submitted::New(Box::new(self.score_run(org, new)?)),
        };
        if request_key.is_some()
            && let Some(kept) = Kept::run(&submitted)
        {
            self.keep(request_key, || kept)?;
        }
        Ok(Accepted::Fresh(submitted))
    }

    fn score_run(&mut self, org: OrgKey, new: NewRun) -> Result<Run, StoreError> {
        let default: Workspace = DEFAULT_WORKSPACE
            .parse()
            .map_err(|_| StoreError::Bug("the default workspace is not a valid name"))?;
        let mut run = Run::accepted(new, Position::of(i64::MAX), self.latest, default);
        let baseline = runs::baseline_at(self.connection, org, &run.workspace, run.finished_at)?;
        run.scored = RunScore::of(run.report, baseline);
        let key = (org, run.agent.clone());
        let agent = self.touch_agent(&key)?;
        self.free_run_id(org, &run.id)?;
        run.position = Position::of(self.insert_run(org, agent, &run, baseline)?);
        Ok(run)
    }

    /// Adds an agent if it is new, and saves when it was last seen. Returns its number.
    pub(super) fn touch_agent(&mut self, key: &AgentKey) -> Result<i64, StoreError> {
        self.load_agent(key, 0)?;
        if !self.agents.contains(key) {
            self.insert_agent(key)?;
        }
        let now = self.latest;
        let Some(agent) = self.agents.get_mut(key) else {
            return Err(StoreError::Bug("an agent is not cached"));
        };
        if !agent.touched {
            agent.touched = true;
            self.touched.push(key.clone());
        }
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
        run: &Run,
        baseline: renown_core::scorecard::Baseline,
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
