//! Deletes what erased agents left, a little at a time, and frees their ids. No read sees it any more.
//! [`crate::fold::erasure`] says what goes and what stays.

use renown_core::ids::{EvaluationId, RunId};
use renown_core::time::Timestamp;
use rusqlite::{OptionalExtension, params};
use uuid::Uuid;

use super::Transaction;
use crate::error::StoreError;
use crate::fold::erasure::{ErasedName, ErasedPart};
use crate::sqlite::orgs::OrgKey;
use crate::sqlite::seal::EVALUATION;
use crate::sqlite::{days, rows};

/// Maximum numbers of rows that are deleted at a time. Fewer runs, since they may be large.
const AT_ONCE: usize = 500;
const RUNS_AT_ONCE: usize = 50;
const DAYS_AT_ONCE: usize = 50;

/// A tombstone whose agent is not fully deleted yet.
pub(super) struct PendingErasure {
    pub(super) tombstone: i64,
    pub(super) org: OrgKey,
    pub(super) name: ErasedName,
    agent: Option<i64>,
    last_position: Option<i64>,
    identity: Option<i64>,
}

impl Transaction<'_> {
    /// Returns the oldest erasure that is not finished.
    pub(super) fn next_erasure(&self) -> Result<Option<PendingErasure>, StoreError> {
        let mut select = self.connection.prepare_cached(
            "SELECT tombstone, org, agent, last_seq, identity, digest FROM tombstones WHERE done_at IS NULL ORDER BY tombstone LIMIT 1",
        )?;
        let erasure = select.query_row([], |row| {
            let (tombstone, org, agent) = (row.get(0)?, row.get(1)?, row.get(2)?);
            let (last_position, identity) = (row.get(3)?, row.get(4)?);
            Ok(PendingErasure {
                tombstone,
                org,
                agent,
                last_position,
                identity,
                name: ErasedName(row.get(5)?),
            })
        });
        Ok(erasure.optional()?)
    }

    /// Deletes some of what an agent left. Marks the tombstone as done if nothing was left.
    pub(super) fn erase_next(&mut self, erasure: &PendingErasure) -> Result<(), StoreError> {
        let evaluations = self.erase_evaluations(erasure)?;
        let runs = self.delete(
            "DELETE FROM agent_run_scores WHERE run IN (SELECT run FROM agent_run_scores WHERE agent = ?1 LIMIT ?2)",
            erasure.agent,
            RUNS_AT_ONCE,
        )?;
        let events = self.delete(
            "DELETE FROM reputation_events WHERE event IN (SELECT event FROM reputation_events WHERE identity = ?1 LIMIT ?2)",
            erasure.identity,
            AT_ONCE,
        )?;
        let sums = self.delete(
            "DELETE FROM identity_sums WHERE (identity, level, start, category) IN \
             (SELECT identity, level, start, category FROM identity_sums WHERE identity = ?1 LIMIT ?2)",
            erasure.identity,
            AT_ONCE,
        )?;
        let more_days = match erasure.agent {
            Some(agent) => days::erase_some(self.connection, erasure.org, agent, DAYS_AT_ONCE)?,
            None => false,
        };
        let (of_sessions, more_sessions) = self.erase_sessions(erasure.agent)?;
        // Some of the deleted sessions may have been open.
        self.open_sessions = None;
        let is_named = self.remove_name(erasure)?;
        let more_evals = self.erase_eval_runs(erasure.agent)?;
        let has_more = more_days || more_sessions || is_named || more_evals;
        let part = ErasedPart { evaluations, runs, events, of_sessions, derived: sums, has_more };
        let done_at = part.done_at(self.latest).map(Timestamp::millis);
        let mut update = self.connection.prepare_cached(
            "UPDATE tombstones SET erased = erased + ?2, done_at = ?3 WHERE tombstone = ?1",
        )?;
        update.execute(params![erasure.tombstone, part.evidence(), done_at])?;
        if done_at.is_some() {
            self.cleaning.request();
        }
        Ok(())
    }

    /// Deletes some records of an agent's sessions, and the sessions that have none left. Returns how many pieces
    /// of evidence it deleted, and whether there is more.
    pub(super) fn erase_sessions(&self, agent: Option<i64>) -> Result<(usize, bool), StoreError> {
        let mut select =
            self.connection.prepare_cached("SELECT session FROM sessions WHERE agent = ?1 LIMIT 1")?;
        let mut records = self.connection.prepare_cached(
            "DELETE FROM session_records WHERE session = ?1 AND (at_ns, key) IN \
             (SELECT at_ns, key FROM session_records WHERE session = ?1 LIMIT ?2) RETURNING record <> x''",
        )?;
        let (mut steps, mut evidence) = (0, 0);
        while steps < AT_ONCE {
            let found: Option<i64> = select.query_row([agent], |row| row.get(0)).optional()?;
            let Some(session) = found else { return Ok((evidence, false)) };
            // A row without a record, which only marks a repeat, is not counted as evidence.
            let gone = records.query_map(params![session, AT_ONCE], |row| row.get(0))?;
            let gone: Vec<bool> = gone.collect::<Result<_, _>>()?;
            let traces = self.delete(
                "DELETE FROM session_traces WHERE session = ?1 AND trace_id IN \
                 (SELECT trace_id FROM session_traces WHERE session = ?1 LIMIT ?2)",
                Some(session),
                AT_ONCE,
            )?;
            evidence += gone.iter().filter(|is_record| **is_record).count() + traces;
            steps += 1 + gone.len() + traces;
            if gone.len() + traces == 0 {
                for table in ["session_names", "sessions"] {
                    let sql = format!("DELETE FROM {table} WHERE session = ?1");
                    self.connection.prepare_cached(&sql)?.execute([session])?;
                }
            }
        }
        Ok((evidence, true))
    }

    fn delete(&self, sql: &str, owner: Option<i64>, at_once: usize) -> Result<usize, StoreError> {
        let Some(owner) = owner else { return Ok(0) };
        Ok(self.connection.prepare_cached(sql)?.execute(params![owner, at_once])?)
    }

    /// Deletes the newest evaluations of an erased agent, along its chain.
    fn erase_evaluations(&self, erasure: &PendingErasure) -> Result<usize, StoreError> {
        let mut delete = self
            .connection
            .prepare_cached("DELETE FROM evaluations WHERE seq = ?1 AND agent = ?2 RETURNING previous")?;
        let (mut next, mut count) = (erasure.last_position, 0);
        while let Some(position) = next.filter(|_| count < AT_ONCE) {
            let found: Option<Option<i64>> =
                delete.query_row(params![position, erasure.agent], |row| row.get(0)).optional()?;
            let Some(previous) = found else {
                // Retention deletes an evaluation only after all before it. Any other missing evaluation is damage.
                if position > rows::pruned(self.connection, erasure.org)? {
                    count += self.erase_scattered(erasure)?;
                }
                next = None;
                break;
            };
            count += 1;
            next = previous;
        }
        let mut update =
            self.connection.prepare_cached("UPDATE tombstones SET last_seq = ?2 WHERE tombstone = ?1")?;
        update.execute(params![erasure.tombstone, next])?;
        Ok(count)
    }

    /// Deletes the evaluations of an agent whose chain is broken: reads all evaluations of the organization.
    fn erase_scattered(&self, erasure: &PendingErasure) -> Result<usize, StoreError> {
        let (first, end) = erasure.org.numbers();
        let mut delete = self
            .connection
            .prepare_cached("DELETE FROM evaluations WHERE seq >= ?1 AND seq < ?2 AND agent = ?3")?;
        Ok(delete.execute(params![first, end, erasure.agent])?)
    }

    /// Returns whether any erasure is not finished.
    fn has_pending_erasure(&self) -> Result<bool, StoreError> {
        let mut select = self.connection.prepare_cached("SELECT 1 FROM tombstones WHERE done_at IS NULL")?;
        Ok(select.exists([])?)
    }

    /// Frees the id of an evaluation that belongs to an erased agent. Returns whether there was one. Its row stays,
    /// since the chain goes through it.
    pub(super) fn free_evaluation_id(&self, org: OrgKey, id: &EvaluationId) -> Result<bool, StoreError> {
        // No valid id contains a `#`.
        let sealed = EVALUATION.replace("evaluation_id", "'#' || seq");
        let mut update = self.connection.prepare_cached(&format!(
            "UPDATE evaluations SET evaluation_id = '#' || seq, seal = renown_seal({sealed}) \
             WHERE org = ?1 AND evaluation_id = ?2 AND agent NOT IN (SELECT agent FROM agents)",
        ))?;
        Ok(update.execute(params![org, id.as_str()])? > 0)
    }

    /// Deletes a run with this id that belongs to an erased agent.
    pub(super) fn free_run_id(&mut self, org: OrgKey, id: &RunId) -> Result<(), StoreError> {
        if !self.has_pending_erasure()? {
            return Ok(());
        }
        self.with_secure_delete(|transaction| {
            let mut delete = transaction.connection.prepare_cached(
                "DELETE FROM agent_run_scores WHERE org = ?1 AND run_id = ?2 AND agent NOT IN (SELECT agent FROM agents) \
                 RETURNING agent",
            )?;
            let agent: Option<i64> = delete.query_row(params![org, id.as_str()], |row| row.get(0)).optional()?;
            let mut count = transaction.connection.prepare_cached(
                "UPDATE tombstones SET erased = erased + 1 WHERE done_at IS NULL AND agent = ?1",
            )?;
            count.execute([agent])?;
            Ok(())
        })
    }

    /// Deletes a reputation event with this id that belongs to an erased identity. Returns whether there was one.
    pub(super) fn free_event_id(&mut self, org: OrgKey, id: Uuid) -> Result<bool, StoreError> {
        if !self.has_pending_erasure()? {
            return Ok(false);
        }
        self.with_secure_delete(|transaction| {
            let mut delete = transaction.connection.prepare_cached(
                "DELETE FROM reputation_events WHERE org = ?1 AND event_id = ?2 \
                 AND identity NOT IN (SELECT identity FROM identities) RETURNING identity",
            )?;
            let identity: Option<i64> =
                delete.query_row(params![org, id.as_bytes()], |row| row.get(0)).optional()?;
            let mut count = transaction.connection.prepare_cached(
                "UPDATE tombstones SET erased = erased + 1 WHERE done_at IS NULL AND identity = ?1",
            )?;
            count.execute([identity])?;
            Ok(identity.is_some())
        })
    }
}
