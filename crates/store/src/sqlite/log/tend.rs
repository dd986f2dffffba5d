//! Deletes what is to be forgotten, a little at a time: first what erased agents left, then what has grown too old.
//!
//! What is deleted is overwritten with zeros (`secure_delete`), and when an agent is gone the write-ahead log begins anew, so that
//! nothing of it is left in either file.

use std::collections::HashMap;
use std::time::Duration;

use renown_core::identity::Part;
use renown_core::reputation::WINDOW_SIZE;
use renown_core::scorecard::BASELINE_RUNS;
use renown_core::time::Timestamp;
use rusqlite::{OptionalExtension, params};

use super::Log;
use super::identities::Changes;
use crate::admin::Retention;
use crate::error::StoreError;
use crate::evidence::Seq;
use crate::sqlite::identities;
use crate::sqlite::orgs::OrgKey;
use crate::sqlite::writer::BUSY_TIME_MAX;

/// How many rows are deleted, or looked at, at a time.
const AT_ONCE: usize = 500;

const DAY_MS: i64 = 86_400_000;

/// How far the look for old evidence has come. It is done once a day, from the beginning.
#[derive(Default)]
pub(super) struct Sweep {
    day: i64,
    /// The run that was looked at last; none when all were.
    run: Option<i64>,
    /// The organizations whose evaluations are still to be looked at, the first with the place reached.
    orgs: Vec<(OrgKey, i64)>,
    /// The oldest evaluation of an agent's window, by its number.
    floors: HashMap<i64, Option<i64>>,
}

/// A tombstone whose agent is not gone yet.
struct Grave {
    tombstone: i64,
    agent: Option<i64>,
    last_seq: Option<i64>,
    identity: Option<i64>,
}

impl Log<'_> {
    /// Whether the write-ahead log has to begin anew.
    pub(in crate::sqlite) fn is_to_begin_anew(&self) -> bool {
        self.holds_erased_pages
    }

    /// Moves all of the write-ahead log into the database and empties its file, unless somebody reads it just now. Not inside
    /// a transaction.
    pub(in crate::sqlite) fn begin_new_log(&mut self) {
        let _ = self.connection.busy_timeout(Duration::ZERO);
        let is_busy =
            self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, bool>(0));
        self.holds_erased_pages = is_busy.unwrap_or(true);
        let _ = self.connection.busy_timeout(BUSY_TIME_MAX);
    }

    /// Deletes a little; whether there is more.
    pub(in crate::sqlite) fn tend(&mut self, retention: Retention) -> Result<bool, StoreError> {
        self.connection.pragma_update(None, "secure_delete", true)?;
        let more = match self.open_grave()? {
            Some(grave) => self.empty_grave(&grave).map(|()| true),
            None => self.forget_old(retention),
        };
        self.connection.pragma_update(None, "secure_delete", false)?;
        more
    }

    fn open_grave(&self) -> Result<Option<Grave>, StoreError> {
        let mut select = self.connection.prepare_cached(
            "SELECT tombstone, agent, last_seq, identity FROM tombstones WHERE done_at IS NULL ORDER BY tombstone LIMIT 1",
        )?;
        let grave = select.query_row([], |row| {
            let (tombstone, agent) = (row.get(0)?, row.get(1)?);
            Ok(Grave { tombstone, agent, last_seq: row.get(2)?, identity: row.get(3)? })
        });
        Ok(grave.optional()?)
    }

    /// Deletes some of what an agent left, and closes its grave when there is nothing.
    fn empty_grave(&mut self, grave: &Grave) -> Result<(), StoreError> {
        let evaluations = self.erase_evaluations(grave)?;
        let runs = self.delete(
            "DELETE FROM agent_run_scores WHERE run IN (SELECT run FROM agent_run_scores WHERE agent = ?1 LIMIT ?2)",
            grave.agent,
        )?;
        let events = self.delete(
            "DELETE FROM reputation_events WHERE event IN (SELECT event FROM reputation_events WHERE identity = ?1 LIMIT ?2)",
            grave.identity,
        )?;
        let sums = self.delete(
            "DELETE FROM identity_sums WHERE (identity, level, start, category) IN \
             (SELECT identity, level, start, category FROM identity_sums WHERE identity = ?1 LIMIT ?2)",
            grave.identity,
        )?;
        let evidence = evaluations + runs + events;
        let done_at = (evidence + sums == 0).then(|| self.latest.millis());
        let mut update = self.connection.prepare_cached(
            "UPDATE tombstones SET erased = erased + ?2, done_at = ?3 WHERE tombstone = ?1",
        )?;
        update.execute(params![grave.tombstone, evidence, done_at])?;
        self.holds_erased_pages |= done_at.is_some();
        Ok(())
    }

    fn delete(&self, sql: &str, owner: Option<i64>) -> Result<usize, StoreError> {
        let Some(owner) = owner else { return Ok(0) };
        Ok(self.connection.prepare_cached(sql)?.execute(params![owner, AT_ONCE])?)
    }

    /// Deletes the newest evaluations of an agent that is erased, along its chain.
    fn erase_evaluations(&self, grave: &Grave) -> Result<usize, StoreError> {
        let mut delete = self
            .connection
            .prepare_cached("DELETE FROM evaluations WHERE seq = ?1 AND agent = ?2 RETURNING previous")?;
        let (mut next, mut count) = (grave.last_seq, 0);
        while let Some(seq) = next.filter(|_| count < AT_ONCE) {
            // One that is missing was pruned, and so was all before it.
            let previous: Option<Option<i64>> =
                delete.query_row(params![seq, grave.agent], |row| row.get(0)).optional()?;
            count += usize::from(previous.is_some());
            next = previous.flatten();
        }
        let mut update =
            self.connection.prepare_cached("UPDATE tombstones SET last_seq = ?2 WHERE tombstone = ?1")?;
        update.execute(params![grave.tombstone, next])?;
        Ok(count)
    }

    /// Deletes some of what is too old; whether there is more.
    fn forget_old(&mut self, retention: Retention) -> Result<bool, StoreError> {
        let now = self.latest.millis();
        if self.forget_events(now - i64::from(retention.events_days) * DAY_MS)? {
            return Ok(true);
        }
        if self.sweep.day != now / DAY_MS {
            let orgs = self.all_orgs()?.into_iter().map(|org| (org, org.places().0.0 - 1)).collect();
            self.sweep = Sweep { day: now / DAY_MS, run: Some(0), orgs, floors: HashMap::new() };
        }
        let limit = |days: Option<u32>| days.map(|days| now - i64::from(days) * DAY_MS);
        match (limit(retention.runs_days), limit(retention.evaluations_days)) {
            (Some(before), _) if self.sweep.run.is_some() => self.forget_runs(before).map(|()| true),
            (_, Some(before)) if !self.sweep.orgs.is_empty() => {
                self.forget_evaluations(before).map(|()| true)
            }
            _ => Ok(false),
        }
    }

    fn all_orgs(&self) -> Result<Vec<OrgKey>, StoreError> {
        let mut select = self.connection.prepare_cached("SELECT org FROM orgs")?;
        Ok(select.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?)
    }

    /// Deletes reputation events from before a day, month by month.
    fn forget_events(&self, before_ms: i64) -> Result<bool, StoreError> {
        let Ok(before) = Timestamp::from_millis(before_ms / DAY_MS * DAY_MS) else { return Ok(false) };
        let mut select = self.connection.prepare_cached(&format!(
            "{} WHERE e.event IN (SELECT event FROM reputation_events WHERE (month, at_ns) < (?1, ?2) ORDER BY month, at_ns LIMIT ?3)",
            identities::EVENT
        ))?;
        let mut rows = select.query(params![before.month(), before.nanos(), AT_ONCE])?;
        let (mut changes, mut old) = (Changes::default(), Vec::new());
        while let Some(row) = rows.next()? {
            let found = identities::event(row)?;
            let number: i64 = row.get("identity")?;
            changes.add(
                number,
                found.event.timestamp.nanos(),
                found.event.category,
                Part::of(found.event.score_delta),
            );
            old.push(found.seq.0);
        }
        let mut delete = self.connection.prepare_cached("DELETE FROM reputation_events WHERE event = ?1")?;
        for event in &old {
            delete.execute([event])?;
        }
        self.change_sums(&changes, -1)?;
        Ok(!old.is_empty())
    }

    /// Looks at some runs and deletes the old ones that no later run is compared with.
    fn forget_runs(&mut self, before_ms: i64) -> Result<(), StoreError> {
        let mut select = self.connection.prepare_cached(
            "SELECT run, (outcome <> 'completed' OR wall_ms IS NULL OR (SELECT count(*) FROM (SELECT 1 FROM agent_run_scores l \
             WHERE l.org = r.org AND l.workspace = r.workspace AND l.outcome = 'completed' AND l.wall_ms IS NOT NULL \
             AND (l.finished_ns, l.run) > (r.finished_ns, r.run) LIMIT ?3)) = ?3) \
             FROM agent_run_scores r WHERE run > ?1 AND accepted_at < ?2 ORDER BY run LIMIT ?4",
        )?;
        let mut rows = select.query(params![self.sweep.run, before_ms, BASELINE_RUNS, AT_ONCE])?;
        let (mut seen, mut old) = (Vec::new(), Vec::new());
        while let Some(row) = rows.next()? {
            let run: i64 = row.get(0)?;
            seen.push(run);
            if row.get(1)? {
                old.push(run);
            }
        }
        let mut delete = self.connection.prepare_cached("DELETE FROM agent_run_scores WHERE run = ?1")?;
        for run in old {
            delete.execute([run])?;
        }
        self.sweep.run = seen.last().copied();
        Ok(())
    }

    /// Looks at some evaluations of an organization and deletes the old ones that are in no window.
    fn forget_evaluations(&mut self, before_ms: i64) -> Result<(), StoreError> {
        let Some(&(org, reached)) = self.sweep.orgs.last() else { return Ok(()) };
        let (_, Seq(end)) = org.places();
        let mut select = self.connection.prepare_cached(
            "SELECT seq, agent, accepted_at FROM evaluations WHERE seq > ?1 AND seq < ?2 ORDER BY seq LIMIT ?3",
        )?;
        let found: Vec<(i64, i64, i64)> = select
            .query_map(params![reached, end, AT_ONCE], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
            .collect::<Result<_, _>>()?;
        let old = found.iter().take_while(|(.., accepted_at)| *accepted_at < before_ms);
        let mut pruned = None;
        for (seq, agent, _) in old.clone() {
            if self.floor(*agent)?.is_some_and(|floor| *seq < floor) {
                self.connection.prepare_cached("DELETE FROM evaluations WHERE seq = ?1")?.execute([seq])?;
                pruned = Some(*seq);
            }
        }
        if let Some(pruned) = pruned {
            let mut update =
                self.connection.prepare_cached("UPDATE orgs SET pruned = max(pruned, ?2) WHERE org = ?1")?;
            update.execute(params![org, pruned])?;
        }
        let last = old.clone().last().map(|(seq, ..)| *seq);
        self.sweep.orgs.pop();
        if let Some(last) = last.filter(|_| old.count() == AT_ONCE) {
            self.sweep.orgs.push((org, last));
        } else {
            self.sweep.floors.clear();
        }
        Ok(())
    }

    /// The oldest evaluation of an agent's window by its row, before which nothing is needed; none if the window is not full.
    fn floor(&mut self, agent: i64) -> Result<Option<i64>, StoreError> {
        if let Some(floor) = self.sweep.floors.get(&agent) {
            return Ok(*floor);
        }
        let mut last = self.connection.prepare_cached("SELECT last_seq FROM agents WHERE agent = ?1")?;
        let mut next: Option<i64> = last.query_row([agent], |row| row.get(0)).optional()?.flatten();
        let mut previous =
            self.connection.prepare_cached("SELECT previous FROM evaluations WHERE seq = ?1")?;
        for _ in 1..WINDOW_SIZE {
            let Some(seq) = next else { break };
            next = previous.query_row([seq], |row| row.get(0)).optional()?.flatten();
        }
        // Bounded, since agents are many.
        if self.sweep.floors.len() >= 10_000 {
            self.sweep.floors.clear();
        }
        self.sweep.floors.insert(agent, next);
        Ok(next)
    }
}
