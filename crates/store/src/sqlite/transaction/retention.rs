//! Deletes a little at a time: first what erased agents left, then what is too old.
//!
//! Deleted rows are overwritten with zeros (`secure_delete`). This clears the rows themselves but not copies of
//! their bytes that were left elsewhere before. For an erased agent, `cleaning` clears those too.
//!
//! [`crate::fold::retention`] decides what is too old and what is kept all the same. A ranking covers the runs that
//! are stored.

use std::collections::HashMap;

use renown_core::reputation::WINDOW_SIZE;
use renown_core::scorecard::BASELINE_RUNS;
use renown_core::time::Timestamp;
use rusqlite::{OptionalExtension, params};

use super::Transaction;
use super::sessions::NO_AGENT;
use crate::admin::Retention;
use crate::error::StoreError;
use crate::fold::identities::SumChanges;
use crate::fold::retention::{
    Limits, NextCheck, RunUse, Unchecked, day, deletes_evaluation, deletes_run, deletes_session,
};
use crate::sqlite::identities;
use crate::sqlite::orgs::OrgKey;

/// Maximum number of rows that are deleted, or checked, at a time.
const AT_ONCE: usize = 500;

/// Maximum number of steps along chains of evaluations at a time.
const STEPS_AT_ONCE: usize = 20_000;

/// How far the search for old evidence is. It begins once a day.
#[derive(Default)]
pub(super) struct RetentionProgress {
    day: i64,
    /// The run that was checked last; `None` when all were.
    run: Option<i64>,
    /// The session that was checked last; `None` when all were.
    session: Option<i64>,
    /// Organizations whose evaluations are still to be checked, each with the last position that was checked.
    orgs: Vec<(OrgKey, i64)>,
    /// The position of the oldest evaluation of an agent's window, by the agent's number.
    window_starts: HashMap<i64, Option<i64>>,
}

impl Transaction<'_> {
    /// Deletes a little. Returns whether there is more.
    pub(in crate::sqlite) fn delete_some(&mut self, retention: Retention) -> Result<bool, StoreError> {
        self.delete_old_request_keys()?;
        self.with_secure_delete(|transaction| match transaction.next_erasure()? {
            Some(erasure) => transaction.erase_next(&erasure).map(|()| true),
            None => transaction.delete_old(retention),
        })
    }

    /// Deletes some of what is too old. Returns whether there is more.
    fn delete_old(&mut self, retention: Retention) -> Result<bool, StoreError> {
        let (limits, today) = (Limits::at(retention, self.latest), day(self.latest));
        if let Some(before) = limits.events
            && self.delete_old_events(before)?
        {
            return Ok(true);
        }
        if self.retention_progress.day != today {
            let orgs = self.all_orgs()?.into_iter().map(|org| (org, org.numbers().0 - 1)).collect();
            self.retention_progress = RetentionProgress {
                day: today,
                run: Some(0),
                session: Some(0),
                orgs,
                window_starts: HashMap::new(),
            };
        }
        if self.erase_sessions(Some(NO_AGENT))?.1 {
            return Ok(true);
        }
        if let Some(before) = limits.eval_runs_ms()
            && self.delete_old_eval_runs(before)?
        {
            return Ok(true);
        }
        let RetentionProgress { run, session, orgs, .. } = &self.retention_progress;
        let unchecked =
            Unchecked { sessions: session.is_some(), runs: run.is_some(), evaluations: !orgs.is_empty() };
        match limits.next(unchecked) {
            NextCheck::Sessions(before_ms) => self.delete_old_sessions(before_ms)?,
            NextCheck::Runs(before_ms) => self.delete_old_runs(before_ms)?,
            NextCheck::Evaluations(before_ms) => self.delete_old_evaluations(before_ms)?,
            NextCheck::Nothing => return Ok(false),
        }
        Ok(true)
    }

    fn all_orgs(&self) -> Result<Vec<OrgKey>, StoreError> {
        let mut select = self.connection.prepare_cached("SELECT org FROM orgs")?;
        Ok(select.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?)
    }

    /// Deletes reputation events from before a day, month by month.
    fn delete_old_events(&self, before: Timestamp) -> Result<bool, StoreError> {
        let mut select = self.connection.prepare_cached(&format!(
            "{} WHERE e.event IN (SELECT event FROM reputation_events WHERE (month, at_ns) < (?1, ?2) ORDER BY month, at_ns LIMIT ?3)",
            identities::EVENT
        ))?;
        let mut rows = select.query(params![before.month(), before.nanos(), AT_ONCE])?;
        let (mut changes, mut old) = (SumChanges::default(), Vec::new());
        while let Some(row) = rows.next()? {
            let found = identities::event(row)?;
            let number: i64 = row.get("identity")?;
            changes.add_event(number, &found.event);
            old.push(found.position.number());
        }
        let mut delete = self.connection.prepare_cached("DELETE FROM reputation_events WHERE event = ?1")?;
        for event in &old {
            delete.execute([event])?;
        }
        self.change_sums(&changes, -1)?;
        Ok(!old.is_empty())
    }

    /// Checks some runs. Deletes the old ones, unless a later run is compared with them or they are the last of
    /// their agent.
    fn delete_old_runs(&mut self, before_ms: i64) -> Result<(), StoreError> {
        let mut select = self.connection.prepare_cached(
            "SELECT run, accepted_at FROM agent_run_scores WHERE run > ?1 ORDER BY run LIMIT ?2",
        )?;
        let found = select
            .query_map(params![self.retention_progress.run, AT_ONCE], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let found: Vec<(i64, i64)> = found.collect::<Result<_, _>>()?;
        let old: Vec<i64> = found.iter().map_while(|(run, at)| (*at < before_ms).then_some(*run)).collect();
        let mut needed = self.connection.prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM agent_run_scores l WHERE l.agent = r.agent AND l.run > r.run AND l.score IS NOT NULL), \
             outcome = 'completed' AND wall_ms IS NOT NULL, (SELECT count(*) FROM (SELECT 1 FROM agent_run_scores l \
             WHERE l.org = r.org AND l.workspace = r.workspace AND l.outcome = 'completed' AND l.wall_ms IS NOT NULL \
             AND (l.finished_ns, l.run) > (r.finished_ns, r.run) AND l.finished_ns <= ?2 LIMIT ?3)) \
             FROM agent_run_scores r WHERE run = ?1",
        )?;
        let mut delete = self.connection.prepare_cached("DELETE FROM agent_run_scores WHERE run = ?1")?;
        for run in &old {
            let needed = needed.query_row(params![run, self.latest.nanos(), BASELINE_RUNS], |row| {
                let (has_later_score, counts) = (row.get(0)?, row.get(1)?);
                Ok(RunUse { has_later_score, counts, later_that_count: row.get(2)? })
            })?;
            if deletes_run(needed) {
                delete.execute([run])?;
            }
        }
        // Runs are accepted in the order of their numbers, so the first run that is not old ends the search.
        self.retention_progress.run = old.last().copied().filter(|_| old.len() == AT_ONCE);
        Ok(())
    }

    /// Checks some sessions. Hides the closed ones that received nothing for long enough; their rows are deleted
    /// next.
    fn delete_old_sessions(&mut self, before_ms: i64) -> Result<(), StoreError> {
        let mut select = self.connection.prepare_cached(
            "SELECT session, org, session_id, check_at IS NOT NULL, last_seen FROM sessions \
             WHERE session > ?1 ORDER BY session LIMIT ?2",
        )?;
        let found = select.query_map(params![self.retention_progress.session, AT_ONCE], |row| {
            let is_deleted = deletes_session(row.get(3)?, row.get(4)?, before_ms);
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, is_deleted))
        })?;
        let found: Vec<(i64, OrgKey, Option<String>, bool)> = found.collect::<Result<_, _>>()?;
        drop(select);
        self.retention_progress.session =
            found.last().map(|(session, ..)| *session).filter(|_| found.len() == AT_ONCE);
        let mut forget = self.connection.prepare_cached(
            "UPDATE sessions SET agent = ?2, session_id = NULL, signal_agent = NULL, state = x'', event = NULL, event_id = NULL, \
             folded = x'', trace_count = NULL, reliability = NULL, reliability_traces = NULL, flagged_traces = NULL, \
             consistency = NULL, consistency_traces = NULL, cost_nano = NULL, performance = NULL WHERE session = ?1",
        )?;
        for (session, org, id, _) in found.into_iter().filter(|(.., is_deleted)| *is_deleted) {
            forget.execute(params![session, NO_AGENT])?;
            if let Some(id) = id.and_then(|id| id.parse().ok()) {
                self.sessions.remove(&(org, id));
            }
        }
        Ok(())
    }

    /// Checks some evaluations of an organization. Deletes the old ones that are in no window.
    fn delete_old_evaluations(&mut self, before_ms: i64) -> Result<(), StoreError> {
        let Some(&(org, reached)) = self.retention_progress.orgs.last() else { return Ok(()) };
        let (_, end) = org.numbers();
        let mut select = self.connection.prepare_cached(
            "SELECT seq, agent, accepted_at FROM evaluations WHERE seq > ?1 AND seq < ?2 ORDER BY seq LIMIT ?3",
        )?;
        let found: Vec<(i64, i64, i64)> = select
            .query_map(params![reached, end, AT_ONCE], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
            .collect::<Result<_, _>>()?;
        let old = found.iter().take_while(|(.., accepted_at)| *accepted_at < before_ms);
        let (mut pruned, mut last, mut checked, mut steps) = (None, None, 0, 0);
        for (position, agent, _) in old {
            if deletes_evaluation(*position, self.window_start(*agent, &mut steps)?) {
                self.connection
                    .prepare_cached("DELETE FROM evaluations WHERE seq = ?1")?
                    .execute([position])?;
                pruned = Some(*position);
            }
            (last, checked) = (Some(*position), checked + 1);
            if steps >= STEPS_AT_ONCE {
                break;
            }
        }
        if let Some(pruned) = pruned {
            let mut update =
                self.connection.prepare_cached("UPDATE orgs SET pruned = max(pruned, ?2) WHERE org = ?1")?;
            update.execute(params![org, pruned])?;
        }
        self.retention_progress.orgs.pop();
        if let Some(last) = last.filter(|_| checked == AT_ONCE || steps >= STEPS_AT_ONCE) {
            self.retention_progress.orgs.push((org, last));
        } else {
            self.retention_progress.window_starts.clear();
        }
        Ok(())
    }

    /// Returns the position of the oldest evaluation in the window of an agent's row. No evaluation before it is
    /// needed. Returns `None` if the window is not full.
    fn window_start(&mut self, agent: i64, steps: &mut usize) -> Result<Option<i64>, StoreError> {
        if let Some(window_start) = self.retention_progress.window_starts.get(&agent) {
            return Ok(*window_start);
        }
        let mut last = self.connection.prepare_cached("SELECT last_seq FROM agents WHERE agent = ?1")?;
        let mut next: Option<i64> = last.query_row([agent], |row| row.get(0)).optional()?.flatten();
        let mut previous =
            self.connection.prepare_cached("SELECT previous FROM evaluations WHERE seq = ?1")?;
        for _ in 1..WINDOW_SIZE {
            let Some(position) = next else { break };
            *steps += 1;
            next = previous.query_row([position], |row| row.get(0)).optional()?.flatten();
        }
        // Limited, since there may be many agents.
        if self.retention_progress.window_starts.len() >= 10_000 {
            self.retention_progress.window_starts.clear();
        }
        self.retention_progress.window_starts.insert(agent, next);
        Ok(next)
    }
}
