//! Writes eval runs, their results, and schedules.

use std::collections::{HashMap, HashSet};

use renown_core::ids::{AgentId, EvalRunId, OrgId, ScheduleId, SessionId};
use renown_core::time::Timestamp;
use rusqlite::types::Value;
use rusqlite::{OptionalExtension, params};

use super::Transaction;
use crate::error::StoreError;
use crate::eval_runs::{
    EvalChange, EvalChanged, EvalCreated, EvalFilter, EvalOutcome, EvalResult, EvalRun, EvalState, EvalStep,
    EvalTargets, NewEvalRun,
};
use crate::evidence::Position;
use crate::request_keys::kept::Kept;
use crate::request_keys::{Accepted, RequestKey};
use crate::schedules::{Fire, Fired, NewSchedule, Schedule, ScheduleChange, ScheduleChanged, TickUse};
use crate::sqlite::orgs::OrgKey;
use crate::sqlite::{eval_runs, schedules};

/// Number of results that an erasure deletes at a time.
const RESULTS_AT_ONCE: usize = 200;

impl Transaction<'_> {
    /// Creates a run, unless the agent of its filter is unknown.
    pub(in crate::sqlite) fn create_eval_run(
        &mut self,
        org: &OrgId,
        new: &NewEvalRun,
        request_key: Option<RequestKey>,
    ) -> Result<Accepted<EvalCreated>, StoreError> {
        let org = self.orgs.get(org)?;
        if let Some(known) = self.known(request_key.as_ref())? {
            return Ok(known.into());
        }
        let Some(run) = self.insert_eval_run(org, new, None)? else {
            return Ok(Accepted::Fresh(EvalCreated::NoAgent));
        };
        self.keep(request_key, || Kept::eval_run(run.position, run.filter.as_ref()))?;
        Ok(Accepted::Fresh(EvalCreated::Created(Box::new(run))))
    }

    /// Inserts a run and the results that wait. Returns `None` if the agent of its filter is unknown.
    fn insert_eval_run(
        &self,
        org: OrgKey,
        new: &NewEvalRun,
        schedule: Option<ScheduleId>,
    ) -> Result<Option<EvalRun>, StoreError> {
        let mut run = EvalRun::created(new, schedule, Position::of(0), self.latest);
        let filter = run.filter.clone().unwrap_or_default();
        let Some(agent) = self.filter_agent(org, &filter)? else { return Ok(None) };
        let results = match &new.targets {
            EvalTargets::Filter(_) => Vec::new(),
            EvalTargets::Sessions(sessions) => {
                let mut agents = HashMap::new();
                for session in sessions {
                    if let Some(agent) = self.agent_of_session(org, session)? {
                        agents.insert(session, agent);
                    }
                }
                run.first_results(sessions, |session| agents.get(session).cloned())
            }
        };
        let mut insert = self.connection.prepare_cached(
            "INSERT INTO eval_runs (org, id, schedule_id, status, filtered, agent, from_ns, to_ns, min_traces, created_at, state) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
        )?;
        insert.execute(params![
            org,
            run.id.as_str(),
            run.schedule.as_ref().map(ScheduleId::as_str),
            run.state.status.name(),
            run.filter.is_some(),
            agent,
            filter.from.map(Timestamp::nanos),
            filter.to.map(Timestamp::nanos),
            filter.min_traces,
            self.latest.millis(),
            json(&run.state)?,
        ])?;
        run.position = Position::of(self.connection.last_insert_rowid());
        self.put_results(org, run.position, &results)?;
        Ok(Some(run))
    }

    /// Returns the number of the agent of a filter, as a value of a column. Returns `None` if the agent is unknown.
    fn filter_agent(&self, org: OrgKey, filter: &EvalFilter) -> Result<Option<Value>, StoreError> {
        match &filter.agent {
            None => Ok(Some(Value::Null)),
            Some(agent) => Ok(eval_runs::agent_number(self.connection, org, agent)?.map(Value::Integer)),
        }
    }

    fn agent_of_session(&self, org: OrgKey, session: &SessionId) -> Result<Option<AgentId>, StoreError> {
        let mut select = self.connection.prepare_cached(
            "SELECT a.name FROM sessions s JOIN agents a ON a.agent = s.agent WHERE s.org = ?1 AND s.session_id = ?2",
        )?;
        let name: Option<String> =
            select.query_row(params![org, session.as_str()], |row| row.get(0)).optional()?;
        name.map(|name| name.parse())
            .transpose()
            .map_err(|error| StoreError::Damaged(format!("an agent id: {error}")))
    }

    /// Writes results. A session that already has one gets the new one.
    fn put_results(&self, org: OrgKey, run: Position, results: &[EvalResult]) -> Result<(), StoreError> {
        let mut put = self.connection.prepare_cached(
            "INSERT INTO eval_results (eval_run, session_id, agent, outcome, body) \
             VALUES (?1, ?2, (SELECT agent FROM agents WHERE org = ?3 AND name = ?4), ?5, ?6) \
             ON CONFLICT (eval_run, session_id) DO UPDATE SET agent = excluded.agent, outcome = excluded.outcome, body = excluded.body",
        )?;
        for EvalResult { session, agent, outcome } in results {
            let (name, body) = outcome.parts();
            put.execute(params![
                run.number(),
                session.as_str(),
                org,
                agent.as_ref().map(AgentId::as_str),
                name,
                body
            ])?;
        }
        Ok(())
    }

    /// Writes the state of a run.
    fn update_eval_run(&self, run: &EvalRun) -> Result<(), StoreError> {
        let mut update = self
            .connection
            .prepare_cached("UPDATE eval_runs SET status = ?2, state = ?3 WHERE eval_run = ?1")?;
        update.execute(params![run.position.number(), run.state.status.name(), json(&run.state)?])?;
        Ok(())
    }

    /// Writes a step of a run, unless the run is no longer where the step began.
    pub(in crate::sqlite) fn advance_eval_run(
        &mut self,
        org: &OrgId,
        id: &EvalRunId,
        step: EvalStep,
    ) -> Result<Option<EvalRun>, StoreError> {
        let org = self.orgs.get(org)?;
        let Some(mut run) = eval_runs::find(self.connection, org, id)? else { return Ok(None) };
        let mut scored = HashSet::new();
        let mut select = self.connection.prepare_cached(
            "SELECT 1 FROM eval_results WHERE eval_run = ?1 AND session_id = ?2 AND outcome <> 'pending'",
        )?;
        for result in &step.results {
            if select.exists(params![run.position.number(), result.session.as_str()])? {
                scored.insert(result.session.clone());
            }
        }
        let Some(results) = run.apply(step, |session| scored.contains(session), self.latest) else {
            return Ok(None);
        };
        self.put_results(org, run.position, &results)?;
        self.update_eval_run(&run)?;
        Ok(Some(run))
    }

    /// Cancels a run, or lets its failed targets wait again.
    pub(in crate::sqlite) fn change_eval_run(
        &mut self,
        org: &OrgId,
        id: &EvalRunId,
        change: EvalChange,
        request_key: Option<RequestKey>,
    ) -> Result<Accepted<EvalChanged>, StoreError> {
        let org = self.orgs.get(org)?;
        if let Some(known) = self.known(request_key.as_ref())? {
            return Ok(known.into());
        }
        let Some(mut run) = eval_runs::find(self.connection, org, id)? else {
            return Ok(Accepted::Fresh(EvalChanged::Unknown));
        };
        match run.change(change, self.latest) {
            Err(status) => return Ok(Accepted::Fresh(EvalChanged::Refused(status))),
            Ok(false) => {}
            Ok(true) => {
                let mut update = self.connection.prepare_cached(
                    "UPDATE eval_results SET outcome = 'pending', body = '' WHERE eval_run = ?1 AND outcome = 'failed'",
                )?;
                update.execute([run.position.number()])?;
            }
        }
        self.update_eval_run(&run)?;
        self.keep(request_key, || Kept::eval_run(run.position, run.filter.as_ref()))?;
        Ok(Accepted::Fresh(EvalChanged::Changed(Box::new(run))))
    }

    /// Deletes some results of an erased agent, and the runs and schedules that filter by it. Returns whether there is more.
    pub(super) fn erase_eval_runs(&self, agent: Option<i64>) -> Result<bool, StoreError> {
        let Some(agent) = agent else { return Ok(false) };
        let mut select = self.connection.prepare_cached(
            "SELECT eval_run, session_id, outcome, body FROM eval_results WHERE agent = ?1 LIMIT ?2",
        )?;
        let mut rows = select.query(params![agent, RESULTS_AT_ONCE])?;
        let mut count = 0;
        while let Some(row) = rows.next()? {
            let (run, session): (i64, String) = (row.get(0)?, row.get(1)?);
            let outcome = eval_runs::outcome_of(row, 2)?;
            self.forget_result(run, &session, &outcome)?;
            count += 1;
        }
        drop(rows);
        count +=
            self.connection.prepare_cached("DELETE FROM schedules WHERE agent = ?1")?.execute([agent])?;
        let more = self.delete_eval_runs("agent = ?1", agent)?;
        Ok(count > 0 || more)
    }

    /// Deletes a result, and removes it from the sums of its run.
    fn forget_result(&self, run: i64, session: &str, outcome: &EvalOutcome) -> Result<(), StoreError> {
        let mut delete = self
            .connection
            .prepare_cached("DELETE FROM eval_results WHERE eval_run = ?1 AND session_id = ?2")?;
        delete.execute(params![run, session])?;
        let mut state = self.connection.prepare_cached("SELECT state FROM eval_runs WHERE eval_run = ?1")?;
        let state: String = state.query_row([run], |row| row.get(0))?;
        let mut state: EvalState = serde_json::from_str(&state)
            .map_err(|error| StoreError::Damaged(format!("an eval run: {error}")))?;
        state.forget(outcome);
        let mut update =
            self.connection.prepare_cached("UPDATE eval_runs SET state = ?2 WHERE eval_run = ?1")?;
        update.execute(params![run, json(&state)?])?;
        Ok(())
    }

    /// Deletes the results of some runs, and the runs that have none left. Returns whether there is more.
    fn delete_eval_runs(&self, which: &str, value: i64) -> Result<bool, StoreError> {
        let mut select = self
            .connection
            .prepare_cached(&format!("SELECT eval_run FROM eval_runs WHERE {which} LIMIT 1"))?;
        let run: Option<i64> = select.query_row([value], |row| row.get(0)).optional()?;
        let Some(run) = run else { return Ok(false) };
        let mut delete = self.connection.prepare_cached(
            "DELETE FROM eval_results WHERE eval_run = ?1 AND session_id IN \
             (SELECT session_id FROM eval_results WHERE eval_run = ?1 LIMIT ?2)",
        )?;
        if delete.execute(params![run, RESULTS_AT_ONCE])? == 0 {
            self.connection.prepare_cached("DELETE FROM eval_runs WHERE eval_run = ?1")?.execute([run])?;
        }
        Ok(true)
    }

    /// Deletes some eval runs that were created before a time and have ended. Returns whether there is more.
    pub(super) fn delete_old_eval_runs(&self, before_ms: i64) -> Result<bool, StoreError> {
        self.delete_eval_runs("created_at < ?1 AND status NOT IN ('pending', 'running')", before_ms)
    }

    /// Creates a schedule, unless the agent of its filter is unknown.
    pub(in crate::sqlite) fn create_schedule(
        &mut self,
        org: &OrgId,
        new: &NewSchedule,
        request_key: Option<RequestKey>,
    ) -> Result<Accepted<ScheduleChanged>, StoreError> {
        let org = self.orgs.get(org)?;
        if let Some(known) = self.known(request_key.as_ref())? {
            return Ok(known.into());
        }
        let mut schedule = Schedule::created(new, Position::of(0), self.latest);
        let Some(agent) = self.filter_agent(org, &schedule.filter)? else {
            return Ok(Accepted::Fresh(ScheduleChanged::NoAgent));
        };
        let mut insert = self.connection.prepare_cached(
            "INSERT INTO schedules (org, id, cadence, agent, from_ns, to_ns, min_traces, next_ns, state) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        )?;
        insert.execute(params![
            org,
            schedule.id.as_str(),
            schedule.cadence.to_string(),
            agent,
            schedule.filter.from.map(Timestamp::nanos),
            schedule.filter.to.map(Timestamp::nanos),
            schedule.filter.min_traces,
            schedule.next_tick().map(Timestamp::nanos),
            json(&schedule.state)?,
        ])?;
        schedule.position = Position::of(self.connection.last_insert_rowid());
        self.keep(request_key, || Kept::schedule(schedule.position, &schedule.filter))?;
        Ok(Accepted::Fresh(ScheduleChanged::Changed(Box::new(schedule))))
    }

    /// Changes a schedule.
    pub(in crate::sqlite) fn change_schedule(
        &mut self,
        org: &OrgId,
        id: &ScheduleId,
        change: ScheduleChange,
        request_key: Option<RequestKey>,
    ) -> Result<Accepted<ScheduleChanged>, StoreError> {
        let org = self.orgs.get(org)?;
        if let Some(known) = self.known(request_key.as_ref())? {
            return Ok(known.into());
        }
        let Some(mut schedule) = schedules::find(self.connection, org, id)? else {
            return Ok(Accepted::Fresh(ScheduleChanged::Unknown));
        };
        schedule.change(change, self.latest);
        let Some(agent) = self.filter_agent(org, &schedule.filter)? else {
            return Ok(Accepted::Fresh(ScheduleChanged::NoAgent));
        };
        self.update_schedule(&schedule, &agent)?;
        self.keep(request_key, || Kept::schedule(schedule.position, &schedule.filter))?;
        Ok(Accepted::Fresh(ScheduleChanged::Changed(Box::new(schedule))))
    }

    fn update_schedule(&self, schedule: &Schedule, agent: &Value) -> Result<(), StoreError> {
        let mut update = self.connection.prepare_cached(
            "UPDATE schedules SET cadence = ?2, agent = ?3, from_ns = ?4, to_ns = ?5, min_traces = ?6, next_ns = ?7, state = ?8 \
             WHERE schedule = ?1",
        )?;
        update.execute(params![
            schedule.position.number(),
            schedule.cadence.to_string(),
            agent,
            schedule.filter.from.map(Timestamp::nanos),
            schedule.filter.to.map(Timestamp::nanos),
            schedule.filter.min_traces,
            schedule.next_tick().map(Timestamp::nanos),
            json(&schedule.state)?,
        ])?;
        Ok(())
    }

    /// Deletes a schedule.
    pub(in crate::sqlite) fn delete_schedule(
        &mut self,
        org: &OrgId,
        id: &ScheduleId,
    ) -> Result<bool, StoreError> {
        let org = self.orgs.get(org)?;
        let Some(schedule) = schedules::find(self.connection, org, id)? else { return Ok(false) };
        let mut delete = self.connection.prepare_cached("DELETE FROM schedules WHERE schedule = ?1")?;
        Ok(delete.execute([schedule.position.number()])? > 0)
    }

    /// Uses up a tick, and creates its run.
    pub(in crate::sqlite) fn fire_schedule(
        &mut self,
        org: &OrgId,
        id: &ScheduleId,
        fire: &Fire,
        request_key: Option<RequestKey>,
    ) -> Result<Accepted<Fired>, StoreError> {
        let org = self.orgs.get(org)?;
        if let Some(known) = self.known(request_key.as_ref())? {
            return Ok(known.into());
        }
        let moved = Ok(Accepted::Fresh(Fired::Moved));
        let Some(mut schedule) = schedules::find(self.connection, org, id)? else { return moved };
        let fired = match schedule.fire(fire) {
            TickUse::Moved => return moved,
            TickUse::Unchanged => Fired::Unchanged,
            TickUse::Start(run) => match self.insert_eval_run(org, &run, Some(schedule.id.clone()))? {
                Some(run) => Fired::Started(Box::new(run)),
                None => return moved,
            },
        };
        let Some(agent) = self.filter_agent(org, &schedule.filter)? else { return moved };
        self.update_schedule(&schedule, &agent)?;
        if let Fired::Started(run) = &fired {
            self.keep(request_key, || Kept::eval_run(run.position, run.filter.as_ref()))?;
        }
        Ok(Accepted::Fresh(fired))
    }
}

fn json(state: &impl serde::Serialize) -> Result<String, StoreError> {
    serde_json::to_string(state).map_err(|_| StoreError::Bug("a state cannot be written as JSON"))
}
