//! What erased agents left: it belongs to nobody, is seen by nobody, and is deleted a little at a time.
//!
//! An id of it may be sent again before it is gone, by whoever does not know of the erasure. Then the id is made free at once: the new
//! evidence is the first of a new life.

use renown_core::ids::{EvaluationId, RunId};
use rusqlite::{OptionalExtension, params};
use uuid::Uuid;

use super::Log;
use crate::error::StoreError;
use crate::evidence::Seq;
use crate::sqlite::orgs::OrgKey;
use crate::sqlite::seal::EVALUATION;
use crate::sqlite::{days, rows};

/// How many rows are deleted at a time; of runs fewer, since they may be large.
const AT_ONCE: usize = 500;
const RUNS_AT_ONCE: usize = 50;
const DAYS_AT_ONCE: usize = 50;

/// A tombstone whose agent is not gone yet.
pub(super) struct Grave {
    pub(super) tombstone: i64,
    pub(super) org: OrgKey,
    /// The hash of its id.
    pub(super) digest: [u8; 32],
    agent: Option<i64>,
    last_seq: Option<i64>,
    identity: Option<i64>,
}

impl Log<'_> {
    /// The oldest grave that is not empty yet.
    pub(super) fn open_grave(&self) -> Result<Option<Grave>, StoreError> {
        let mut select = self.connection.prepare_cached(
            "SELECT tombstone, org, agent, last_seq, identity, digest FROM tombstones WHERE done_at IS NULL ORDER BY tombstone LIMIT 1",
        )?;
        let grave = select.query_row([], |row| {
            let (tombstone, org, agent) = (row.get(0)?, row.get(1)?, row.get(2)?);
            let (last_seq, identity) = (row.get(3)?, row.get(4)?);
            Ok(Grave { tombstone, org, agent, last_seq, identity, digest: row.get(5)? })
        });
        Ok(grave.optional()?)
    }

    /// Deletes some of what an agent left, and closes its grave when there is nothing.
    pub(super) fn empty_grave(&mut self, grave: &Grave) -> Result<(), StoreError> {
        let evaluations = self.erase_evaluations(grave)?;
        let runs = self.delete(
            "DELETE FROM agent_run_scores WHERE run IN (SELECT run FROM agent_run_scores WHERE agent = ?1 LIMIT ?2)",
            grave.agent,
            RUNS_AT_ONCE,
        )?;
        let events = self.delete(
            "DELETE FROM reputation_events WHERE event IN (SELECT event FROM reputation_events WHERE identity = ?1 LIMIT ?2)",
            grave.identity,
            AT_ONCE,
        )?;
        let sums = self.delete(
            "DELETE FROM identity_sums WHERE (identity, level, start, category) IN \
             (SELECT identity, level, start, category FROM identity_sums WHERE identity = ?1 LIMIT ?2)",
            grave.identity,
            AT_ONCE,
        )?;
        let more_days = match grave.agent {
            Some(agent) => days::erase_some(self.connection, grave.org, agent, DAYS_AT_ONCE)?,
            None => false,
        };
        let (sessions, more_sessions) = self.erase_sessions(grave.agent)?;
        // Some of them may have been open.
        self.open_sessions = None;
        let is_named = self.take_name_out(grave)?;
        let evidence = evaluations + runs + events + sessions;
        let done_at =
            (evidence + sums == 0 && !more_days && !more_sessions && !is_named).then(|| self.latest.millis());
        let mut update = self.connection.prepare_cached(
            "UPDATE tombstones SET erased = erased + ?2, done_at = ?3 WHERE tombstone = ?1",
        )?;
        update.execute(params![grave.tombstone, evidence, done_at])?;
        if done_at.is_some() {
            self.cleaning.want();
        }
        Ok(())
    }

    /// Deletes some records of an agent's sessions, and the sessions that have none left. How much evidence that was, and whether
    /// there is more.
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
            // A key that only tells a repeat is no evidence of its own.
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

    /// Deletes the newest evaluations of an agent that is erased, along its chain.
    fn erase_evaluations(&self, grave: &Grave) -> Result<usize, StoreError> {
        let mut delete = self
            .connection
            .prepare_cached("DELETE FROM evaluations WHERE seq = ?1 AND agent = ?2 RETURNING previous")?;
        let (mut next, mut count) = (grave.last_seq, 0);
        while let Some(seq) = next.filter(|_| count < AT_ONCE) {
            let found: Option<Option<i64>> =
                delete.query_row(params![seq, grave.agent], |row| row.get(0)).optional()?;
            let Some(previous) = found else {
                // What retention has deleted, it has deleted with all before it. Anything else that is missing is damage.
                if seq > rows::pruned(self.connection, grave.org)? {
                    count += self.erase_scattered(grave)?;
                }
                next = None;
                break;
            };
            count += 1;
            next = previous;
        }
        let mut update =
            self.connection.prepare_cached("UPDATE tombstones SET last_seq = ?2 WHERE tombstone = ?1")?;
        update.execute(params![grave.tombstone, next])?;
        Ok(count)
    }

    /// Deletes the evaluations of an agent whose chain is broken: all of the organization's are looked at.
    fn erase_scattered(&self, grave: &Grave) -> Result<usize, StoreError> {
        let (Seq(first), Seq(end)) = grave.org.places();
        let mut delete = self
            .connection
            .prepare_cached("DELETE FROM evaluations WHERE seq >= ?1 AND seq < ?2 AND agent = ?3")?;
        Ok(delete.execute(params![first, end, grave.agent])?)
    }

    /// Whether there is anything in a grave.
    fn has_open_grave(&self) -> Result<bool, StoreError> {
        let mut select = self.connection.prepare_cached("SELECT 1 FROM tombstones WHERE done_at IS NULL")?;
        Ok(select.exists([])?)
    }

    /// Makes the id of an evaluation free that lies in a grave; whether one did. Its row stays, since the chain goes through it.
    pub(super) fn free_evaluation_id(&self, org: OrgKey, id: &EvaluationId) -> Result<bool, StoreError> {
        // No id of ours has a `#`.
        let sealed = EVALUATION.replace("evaluation_id", "'#' || seq");
        let mut update = self.connection.prepare_cached(&format!(
            "UPDATE evaluations SET evaluation_id = '#' || seq, seal = renown_seal({sealed}) \
             WHERE org = ?1 AND evaluation_id = ?2 AND agent NOT IN (SELECT agent FROM agents)",
        ))?;
        Ok(update.execute(params![org, id.as_str()])? > 0)
    }

    /// Deletes a run of this id that lies in a grave.
    pub(super) fn free_run_id(&mut self, org: OrgKey, id: &RunId) -> Result<(), StoreError> {
        if !self.has_open_grave()? {
            return Ok(());
        }
        self.overwriting(|log| {
            let mut delete = log.connection.prepare_cached(
                "DELETE FROM agent_run_scores WHERE org = ?1 AND run_id = ?2 AND agent NOT IN (SELECT agent FROM agents) \
                 RETURNING agent",
            )?;
            let agent: Option<i64> = delete.query_row(params![org, id.as_str()], |row| row.get(0)).optional()?;
            let mut count = log.connection.prepare_cached(
                "UPDATE tombstones SET erased = erased + 1 WHERE done_at IS NULL AND agent = ?1",
            )?;
            count.execute([agent])?;
            Ok(())
        })
    }

    /// Deletes a reputation event of this id that lies in a grave; whether one did.
    pub(super) fn free_event_id(&mut self, org: OrgKey, id: Uuid) -> Result<bool, StoreError> {
        if !self.has_open_grave()? {
            return Ok(false);
        }
        self.overwriting(|log| {
            let mut delete = log.connection.prepare_cached(
                "DELETE FROM reputation_events WHERE org = ?1 AND event_id = ?2 \
                 AND identity NOT IN (SELECT identity FROM identities) RETURNING identity",
            )?;
            let identity: Option<i64> =
                delete.query_row(params![org, id.as_bytes()], |row| row.get(0)).optional()?;
            let mut count = log.connection.prepare_cached(
                "UPDATE tombstones SET erased = erased + 1 WHERE done_at IS NULL AND identity = ?1",
            )?;
            count.execute([identity])?;
            Ok(identity.is_some())
        })
    }
}
