//! Reads rows of runs, and passes new ones to the writer.

use renown_core::ids::{OrgId, RunId, SpecId};
use renown_core::scorecard::{
    Axes, BASELINE_RUNS, Baseline, CommonBaseline, Report, Resources, RunOutcome, Stages,
};
use renown_core::units::Whole;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::Sqlite;
use super::orgs::OrgKey;
use super::readers::Deadline;
use super::rows::{damaged, nanos, text, time};
use crate::engines::Reply;
use crate::error::StoreError;
use crate::evidence::Position;
use crate::fold::runs::BaselineQuery;
use crate::request_keys::{Accepted, RequestKey};
use crate::runs::{NewRun, Run, RunQuery, RunScore, Runs, SpecRanking, SpecSums, Specs, Submitted, baseline};

/// The columns of a [`Run`], in the order in which [`run`] reads them. Runs of erased agents are not seen.
pub(super) const RUN: &str = "SELECT r.run, r.run_id, a.name, r.workspace, r.spec_id, r.outcome, r.stages, r.wall_ms, \
     r.memory_peak_bytes, r.memory_limit_bytes, r.cpu_periods, r.cpu_throttled_periods, r.cpu_throttled_ms, \
     r.started_ns, r.finished_ns, r.branch, r.pull_request, r.attributes, r.warnings, r.accepted_at, r.digest, \
     r.baseline_runs, r.baseline_low_ms, r.baseline_high_ms, r.score, r.completion, r.error_rate, r.latency, \
     r.resource_efficiency, r.defaulted, r.formula_version \
     FROM agent_run_scores r JOIN agents a ON a.agent = r.agent";

pub(super) fn run(row: &Row<'_>) -> Result<Run, StoreError> {
    let maybe_text = |column: usize| row.get::<_, Option<String>>(column);
    let whole = |column: usize| -> Result<Option<Whole>, StoreError> {
        row.get::<_, Option<u64>>(column)?.map(whole_of).transpose()
    };
    let stages = maybe_text(6)?;
    let counted = stages.as_deref().map(Stages::of_json).transpose().map_err(damaged("stages"))?;
    let resources = Resources {
        memory_peak_bytes: whole(8)?,
        memory_limit_bytes: whole(9)?,
        cpu_periods: whole(10)?,
        cpu_throttled_periods: whole(11)?,
        cpu_throttled_ms: whole(12)?,
    };
    let outcome: String = row.get(5)?;
    let known = RunOutcome::ALL.into_iter().find(|known| known.name() == outcome);
    let outcome = known.ok_or_else(|| StoreError::Damaged(format!("an outcome: {outcome:?}")))?;
    let report = Report { outcome, stages: counted, wall_ms: whole(7)?, resources };
    let warnings: String = row.get(18)?;
    Ok(Run {
        position: Position::of(row.get(0)?),
        id: text(row, 1, "a run id")?,
        agent: text(row, 2, "an agent id")?,
        workspace: text(row, 3, "a workspace")?,
        spec: maybe_text(4)?.map(|spec| spec.parse()).transpose().map_err(damaged("a spec"))?,
        report,
        stages,
        started_at: row.get::<_, Option<i64>>(13)?.map(nanos).transpose()?,
        finished_at: nanos(row.get(14)?)?,
        branch: maybe_text(15)?,
        pull_request: maybe_text(16)?,
        attributes: maybe_text(17)?,
        warnings: serde_json::from_str(&warnings).map_err(damaged("warnings"))?,
        accepted_at: time(row.get(19)?)?,
        digest: row.get(20)?,
        scored: scored(row)?,
    })
}

/// Returns the score of an agent's last run that has one.
pub(super) fn last_score(connection: &Connection, agent: i64) -> Result<Option<u8>, StoreError> {
    let mut select = connection.prepare_cached(
        "SELECT score FROM agent_run_scores WHERE agent = ?1 AND score IS NOT NULL ORDER BY run DESC LIMIT 1",
    )?;
    Ok(select.query_row([agent], |row| row.get(0)).optional()?)
}

pub(super) fn whole_of(number: u64) -> Result<Whole, StoreError> {
    Whole::new(number).ok_or_else(|| StoreError::Damaged(format!("the number {number}")))
}

/// Decodes the baseline of a row.
pub(super) fn baseline_of(row: &Row<'_>, column: usize) -> Result<Baseline, StoreError> {
    let middle = [whole_of(row.get(column + 1)?)?, whole_of(row.get(column + 2)?)?];
    Ok(Baseline::from_middle(row.get(column)?, middle))
}

fn scored(row: &Row<'_>) -> Result<Option<RunScore>, StoreError> {
    let Some(score) = row.get(24)? else { return Ok(None) };
    let defaulted: String = row.get(29)?;
    Ok(Some(RunScore {
        score,
        axes: Axes {
            completion: row.get(25)?,
            error_rate: row.get(26)?,
            latency: row.get(27)?,
            resource_efficiency: row.get(28)?,
        },
        defaulted: serde_json::from_str(&defaulted).map_err(damaged("what was defaulted"))?,
        formula_version: row.get(30)?,
        baseline: baseline_of(row, 21)?,
    }))
}

/// Finds a run by its id.
pub(super) fn find(connection: &Connection, org: OrgKey, id: &RunId) -> Result<Option<Run>, StoreError> {
    let mut select = connection.prepare_cached(&format!("{RUN} WHERE r.org = ?1 AND r.run_id = ?2"))?;
    let mut rows = select.query(params![org, id.as_str()])?;
    rows.next()?.map(run).transpose()
}

/// Returns the run at a position, unless it was deleted or its agent is erased.
pub(super) fn run_at(connection: &Connection, position: Position) -> Result<Option<Run>, StoreError> {
    let mut select = connection.prepare_cached(&format!("{RUN} WHERE r.run = ?1"))?;
    let mut rows = select.query([position.number()])?;
    rows.next()?.map(run).transpose()
}

/// Returns a page of runs.
pub(super) fn page(
    connection: &Connection,
    org: OrgKey,
    query: &RunQuery,
    deadline: &Deadline,
) -> Result<Runs, StoreError> {
    let before = query.before.map_or(i64::MAX, Position::number);
    // Use the narrowest index.
    let (narrow, value) = match (&query.agent, &query.spec) {
        (Some(agent), _) => {
            ("r.agent = (SELECT agent FROM agents WHERE org = ?1 AND name = ?3)", agent.as_str())
        }
        (None, Some(spec)) => ("r.org = ?1 AND r.spec_id = ?3", spec.as_str()),
        (None, None) => ("r.org = ?1 AND ?3 = ''", ""),
    };
    let mut select =
        connection.prepare_cached(&format!("{RUN} WHERE {narrow} AND r.run < ?2 ORDER BY r.run DESC"))?;
    let mut rows = select.query(params![org, before, value])?;
    let mut runs = Runs::default();
    while let Some(row) = rows.next()? {
        deadline.check()?;
        if !runs.add(run(row)?, query) {
            break;
        }
    }
    Ok(runs)
}

/// Collects the attempts at a spec.
fn attempts(
    connection: &Connection,
    org: OrgKey,
    spec: &SpecId,
    deadline: &Deadline,
) -> Result<SpecSums, StoreError> {
    let mut select = connection.prepare_cached(&format!("{RUN} WHERE r.org = ?1 AND r.spec_id = ?2"))?;
    let mut rows = select.query(params![org, spec.as_str()])?;
    let mut sums = SpecSums::new(common_baseline(connection, org, spec)?);
    while let Some(row) = rows.next()? {
        deadline.check()?;
        sums.add(run(row)?);
    }
    Ok(sums)
}

/// Returns the baseline that all attempts at a spec are compared with.
fn common_baseline(
    connection: &Connection,
    org: OrgKey,
    spec: &SpecId,
) -> Result<CommonBaseline, StoreError> {
    let mut first = connection.prepare_cached(
        "SELECT r.workspace, r.finished_ns, r.run FROM agent_run_scores r JOIN agents a ON a.agent = r.agent \
         WHERE r.org = ?1 AND r.spec_id = ?2 ORDER BY r.finished_ns, r.run LIMIT 1",
    )?;
    let mut rows = first.query(params![org, spec.as_str()])?;
    let workspace = match rows.next()? {
        None => Baseline::default(),
        Some(row) => {
            let workspace = text(row, 0, "a workspace")?;
            let (finished_at, before) = (nanos(row.get(1)?)?, Position::of(row.get(2)?));
            let query = BaselineQuery { workspace: &workspace, finished_at, before };
            baseline(baseline_walls(connection, org, &query)?)
        }
    };
    let mut shortest = connection.prepare_cached(
        "SELECT min(r.wall_ms) FROM agent_run_scores r JOIN agents a ON a.agent = r.agent \
         WHERE r.org = ?1 AND r.spec_id = ?2 AND r.outcome = 'completed' AND r.wall_ms IS NOT NULL GROUP BY r.agent",
    )?;
    let mut rows = shortest.query(params![org, spec.as_str()])?;
    let mut shortest_ms = Vec::new();
    while let Some(row) = rows.next()? {
        shortest_ms.push(whole_of(row.get(0)?)?);
    }
    Ok(CommonBaseline::new(workspace, shortest_ms))
}

/// Returns the best attempt of each agent at a spec, the best first.
pub(super) fn competition(
    connection: &Connection,
    org: OrgKey,
    spec: &SpecId,
    deadline: &Deadline,
) -> Result<SpecRanking, StoreError> {
    Ok(attempts(connection, org, spec, deadline)?.ranked())
}

/// Returns a page of specs. Their ids come from an index, in one step each, however many runs they have.
pub(super) fn specs(
    connection: &Connection,
    org: OrgKey,
    after: Option<SpecId>,
    limit: usize,
    deadline: &Deadline,
) -> Result<Specs, StoreError> {
    let mut select = connection.prepare_cached(
        "SELECT min(spec_id) FROM agent_run_scores WHERE org = ?1 AND spec_id IS NOT NULL AND spec_id > ?2",
    )?;
    let mut found = Specs::default();
    let mut last = after.map(|after| after.as_str().to_owned()).unwrap_or_default();
    loop {
        let Some(next) = select.query_row(params![org, last], |row| row.get::<_, Option<String>>(0))? else {
            return Ok(found);
        };
        let spec: SpecId = next.parse().map_err(damaged("a spec"))?;
        // Attempts of erased agents are left out. There may be no others.
        if let Some(summary) = attempts(connection, org, &spec, deadline)?.summary(spec) {
            if found.specs.len() == limit {
                found.next = found.specs.last().map(|last| last.spec.clone());
                return Ok(found);
            }
            found.specs.push(summary);
        }
        last = next;
    }
}

/// Returns the wall times of the latest runs that a run is compared with, the latest finished first. Runs of erased agents do
/// not count, whether they are deleted yet or not.
pub(super) fn baseline_walls(
    connection: &Connection,
    org: OrgKey,
    query: &BaselineQuery<'_>,
) -> Result<Vec<Whole>, StoreError> {
    let mut select = connection.prepare_cached(
        "SELECT r.wall_ms FROM agent_run_scores r JOIN agents a ON a.agent = r.agent \
         WHERE r.org = ?1 AND r.workspace = ?2 AND r.outcome = 'completed' AND r.wall_ms IS NOT NULL \
         AND r.finished_ns <= ?3 AND (r.finished_ns < ?3 OR r.run < ?4) \
         ORDER BY r.finished_ns DESC, r.run DESC LIMIT ?5",
    )?;
    let BaselineQuery { workspace, finished_at, before } = query;
    let workspace = workspace.as_str();
    let mut rows =
        select.query(params![org, workspace, finished_at.nanos(), before.number(), BASELINE_RUNS])?;
    let mut latest_first = Vec::new();
    while let Some(row) = rows.next()? {
        latest_first.push(whole_of(row.get(0)?)?);
    }
    Ok(latest_first)
}

impl Sqlite {
    pub(crate) fn add_run<'a>(
        &'a self,
        org: &OrgId,
        run: NewRun,
        request_key: Option<RequestKey>,
    ) -> Reply<'a, Accepted<Submitted>> {
        let org = org.clone();
        self.writer.send(1, move |transaction| transaction.add_run(&org, run, request_key))
    }

    pub(crate) fn run<'a>(&'a self, org: &OrgId, id: &RunId) -> Reply<'a, Option<Run>> {
        let (org, id) = (self.orgs.get(org), id.clone());
        self.readers.run(move |connection, _| find(connection, org?, &id))
    }

    pub(crate) fn runs<'a>(&'a self, org: &OrgId, query: RunQuery) -> Reply<'a, Runs> {
        let org = self.orgs.get(org);
        self.readers.run(move |connection, deadline| page(connection, org?, &query, deadline))
    }

    pub(crate) fn competition<'a>(&'a self, org: &OrgId, spec: &SpecId) -> Reply<'a, SpecRanking> {
        let (org, spec) = (self.orgs.get(org), spec.clone());
        self.readers.run(move |connection, deadline| competition(connection, org?, &spec, deadline))
    }

    pub(crate) fn specs<'a>(&'a self, org: &OrgId, after: Option<SpecId>, limit: usize) -> Reply<'a, Specs> {
        let org = self.orgs.get(org);
        self.readers.run(move |connection, deadline| specs(connection, org?, after, limit, deadline))
    }
}
