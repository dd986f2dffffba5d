//! Reads eval runs and their results.

use renown_core::ids::{AgentId, EvalRunId, OrgId, SessionId};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::Sqlite;
use super::orgs::OrgKey;
use super::readers::Deadline;
use super::rows::{damaged, nanos, text};
use crate::engines::Reply;
use crate::error::StoreError;
use crate::eval_runs::{
    EvalChange, EvalChanged, EvalCreated, EvalFilter, EvalOutcome, EvalResult, EvalResultQuery, EvalResults,
    EvalRun, EvalRunQuery, EvalRuns, EvalStep, NewEvalRun, SessionMark,
};
use crate::evidence::Position;
use crate::request_keys::{Accepted, RequestKey};

/// The columns of an [`EvalRun`], in the order in which [`run`] reads them. Runs that filter by an erased agent are not seen.
const RUN: &str = "SELECT e.eval_run, e.id, e.schedule_id, e.filtered, a.name, e.from_ns, e.to_ns, e.min_traces, e.state, e.org \
     FROM eval_runs e LEFT JOIN agents a ON a.agent = e.agent";

/// The condition of [`RUN`].
const IS_SEEN: &str = "(e.agent IS NULL OR a.agent IS NOT NULL)";

fn run(row: &Row<'_>) -> Result<EvalRun, StoreError> {
    let schedule: Option<String> = row.get(2)?;
    let is_filtered: bool = row.get(3)?;
    let state = row.get_ref(8)?.as_str().map_err(damaged("an eval run"))?;
    Ok(EvalRun {
        position: Position::of(row.get(0)?),
        id: text(row, 1, "the id of an eval run")?,
        schedule: schedule.map(|id| id.parse()).transpose().map_err(damaged("the id of a schedule"))?,
        filter: is_filtered.then(|| filter(row, 4)).transpose()?,
        state: serde_json::from_str(state).map_err(damaged("an eval run"))?,
    })
}

/// Decodes a filter: the name of the agent, both times and the number of traces.
pub(super) fn filter(row: &Row<'_>, column: usize) -> Result<EvalFilter, StoreError> {
    let agent: Option<String> = row.get(column)?;
    let time = |column| row.get::<_, Option<i64>>(column)?.map(nanos).transpose();
    Ok(EvalFilter {
        agent: agent.map(|agent| agent.parse()).transpose().map_err(damaged("an agent id"))?,
        from: time(column + 1)?,
        to: time(column + 2)?,
        min_traces: row.get(column + 3)?,
    })
}

/// Finds a run by its id.
pub(super) fn find(
    connection: &Connection,
    org: OrgKey,
    id: &EvalRunId,
) -> Result<Option<EvalRun>, StoreError> {
    let mut select =
        connection.prepare_cached(&format!("{RUN} WHERE e.org = ?1 AND e.id = ?2 AND {IS_SEEN}"))?;
    let mut rows = select.query(params![org, id.as_str()])?;
    rows.next()?.map(run).transpose()
}

/// Returns the run at a position.
pub(super) fn find_at(
    connection: &Connection,
    org: OrgKey,
    position: Position,
) -> Result<Option<EvalRun>, StoreError> {
    let mut select =
        connection.prepare_cached(&format!("{RUN} WHERE e.org = ?1 AND e.eval_run = ?2 AND {IS_SEEN}"))?;
    let mut rows = select.query(params![org, position.number()])?;
    rows.next()?.map(run).transpose()
}

pub(super) fn page(
    connection: &Connection,
    org: OrgKey,
    query: &EvalRunQuery,
    deadline: &Deadline,
) -> Result<EvalRuns, StoreError> {
    let before = query.before.map_or(i64::MAX, Position::number);
    let mut select = connection.prepare_cached(&format!(
        "{RUN} WHERE e.org = ?1 AND e.eval_run < ?2 AND {IS_SEEN} ORDER BY e.eval_run DESC"
    ))?;
    let mut rows = select.query(params![org, before])?;
    let mut runs = EvalRuns::default();
    while let Some(row) = rows.next()? {
        deadline.check()?;
        if !runs.add(run(row)?, query) {
            break;
        }
    }
    Ok(runs)
}

/// Returns the oldest run that is not finished, and its organization.
pub(super) fn next(connection: &Connection) -> Result<Option<(OrgId, EvalRun)>, StoreError> {
    let mut select = connection.prepare_cached(&format!(
        "{RUN} WHERE e.status IN ('pending', 'running') AND {IS_SEEN} ORDER BY e.eval_run LIMIT 1"
    ))?;
    let mut rows = select.query([])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let mut org = connection.prepare_cached("SELECT name FROM orgs WHERE org = ?1")?;
    let org: String = org.query_row([row.get::<_, OrgKey>(9)?], |row| row.get(0))?;
    Ok(Some((org.parse().map_err(damaged("an organization"))?, run(row)?)))
}

/// Returns a page of results. Those of erased agents are not seen.
pub(super) fn results(
    connection: &Connection,
    org: OrgKey,
    id: &EvalRunId,
    query: &EvalResultQuery,
) -> Result<Option<EvalResults>, StoreError> {
    let Some(run) = find(connection, org, id)? else { return Ok(None) };
    // The index of waiting results is used only if the statement says `pending` itself.
    let outcome = match query.state {
        Some("pending") => "r.outcome = 'pending' AND ?3 IS NOT NULL",
        _ => "(?3 IS NULL OR r.outcome = ?3)",
    };
    let mut select = connection.prepare_cached(&format!(
        "SELECT r.session_id, a.name, r.outcome, r.body FROM eval_results r LEFT JOIN agents a ON a.agent = r.agent \
         WHERE r.eval_run = ?1 AND r.session_id > ?2 AND {outcome} AND (r.agent IS NULL OR a.agent IS NOT NULL) \
         ORDER BY r.session_id LIMIT ?4"
    ))?;
    let after = query.after.as_ref().map_or("", SessionId::as_str);
    let mut rows =
        select.query(params![run.position.number(), after, query.state, query.limit.saturating_add(1)])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let agent: Option<String> = row.get(1)?;
        found.push(EvalResult {
            session: text(row, 0, "a session id")?,
            agent: agent.map(|agent| agent.parse()).transpose().map_err(damaged("an agent id"))?,
            outcome: outcome_of(row, 2)?,
        });
    }
    Ok(Some(EvalResults::page(found, query.limit)))
}

/// Decodes an outcome: its name and its text.
pub(super) fn outcome_of(row: &Row<'_>, column: usize) -> Result<EvalOutcome, StoreError> {
    let name: String = row.get(column)?;
    EvalOutcome::stored(&name, row.get(column + 1)?)
        .ok_or_else(|| StoreError::Damaged(format!("an outcome of an eval run: {name:?}")))
}

/// Returns the number of an agent, or `None` if it is unknown.
pub(super) fn agent_number(
    connection: &Connection,
    org: OrgKey,
    agent: &AgentId,
) -> Result<Option<i64>, StoreError> {
    let mut select = connection.prepare_cached("SELECT agent FROM agents WHERE org = ?1 AND name = ?2")?;
    Ok(select.query_row(params![org, agent.as_str()], |row| row.get(0)).optional()?)
}

pub(super) fn session_mark(
    connection: &Connection,
    org: OrgKey,
    filter: &EvalFilter,
) -> Result<SessionMark, StoreError> {
    let (narrow, agent) = match &filter.agent {
        Some(agent) => ("s.agent = (SELECT agent FROM agents WHERE org = ?1 AND name = ?2)", agent.as_str()),
        None => ("s.org = ?1 AND ?2 = ''", ""),
    };
    let mut select = connection.prepare_cached(&format!(
        "SELECT count(*), coalesce(max(s.last_seen), 0), coalesce(sum(s.records), 0), coalesce(sum(s.traces), 0) \
         FROM sessions s WHERE {narrow} AND s.session_id IS NOT NULL AND s.began_ns >= ?3 AND s.began_ns <= ?4"
    ))?;
    let from = filter.from.map_or(i64::MIN, renown_core::time::Timestamp::nanos);
    let to = filter.to.map_or(i64::MAX, renown_core::time::Timestamp::nanos);
    Ok(select.query_row(params![org, agent, from, to], |row| {
        Ok(SessionMark {
            sessions: row.get(0)?,
            newest_ms: row.get(1)?,
            records: row.get(2)?,
            traces: row.get(3)?,
        })
    })?)
}

impl Sqlite {
    pub(crate) fn create_eval_run<'a>(
        &'a self,
        org: &OrgId,
        run: NewEvalRun,
        request_key: Option<RequestKey>,
    ) -> Reply<'a, Accepted<EvalCreated>> {
        let org = org.clone();
        self.writer.send(1, move |transaction| transaction.create_eval_run(&org, &run, request_key))
    }

    pub(crate) fn eval_run<'a>(&'a self, org: &OrgId, id: &EvalRunId) -> Reply<'a, Option<EvalRun>> {
        let (org, id) = (self.orgs.get(org), id.clone());
        self.readers.run(move |connection, _| find(connection, org?, &id))
    }

    pub(crate) fn eval_run_at<'a>(&'a self, org: &OrgId, position: Position) -> Reply<'a, Option<EvalRun>> {
        let org = self.orgs.get(org);
        self.readers.run(move |connection, _| find_at(connection, org?, position))
    }

    pub(crate) fn eval_runs<'a>(&'a self, org: &OrgId, query: EvalRunQuery) -> Reply<'a, EvalRuns> {
        let org = self.orgs.get(org);
        self.readers.run(move |connection, deadline| page(connection, org?, &query, deadline))
    }

    pub(crate) fn eval_results<'a>(
        &'a self,
        org: &OrgId,
        id: &EvalRunId,
        query: EvalResultQuery,
    ) -> Reply<'a, Option<EvalResults>> {
        let (org, id) = (self.orgs.get(org), id.clone());
        self.readers.run(move |connection, _| results(connection, org?, &id, &query))
    }

    pub(crate) fn next_eval_run(&self) -> Reply<'_, Option<(OrgId, EvalRun)>> {
        self.readers.run(move |connection, _| next(connection))
    }

    pub(crate) fn advance_eval_run<'a>(
        &'a self,
        org: &OrgId,
        id: &EvalRunId,
        step: EvalStep,
    ) -> Reply<'a, Option<EvalRun>> {
        let (org, id) = (org.clone(), id.clone());
        let weight = step.results.len().max(1);
        self.writer.send(weight, move |transaction| transaction.advance_eval_run(&org, &id, step))
    }

    pub(crate) fn change_eval_run<'a>(
        &'a self,
        org: &OrgId,
        id: &EvalRunId,
        change: EvalChange,
        request_key: Option<RequestKey>,
    ) -> Reply<'a, Accepted<EvalChanged>> {
        let (org, id) = (org.clone(), id.clone());
        self.writer.send(1, move |transaction| transaction.change_eval_run(&org, &id, change, request_key))
    }

    pub(crate) fn session_mark<'a>(&'a self, org: &OrgId, filter: EvalFilter) -> Reply<'a, SessionMark> {
        let org = self.orgs.get(org);
        self.readers.run(move |connection, _| session_mark(connection, org?, &filter))
    }
}
