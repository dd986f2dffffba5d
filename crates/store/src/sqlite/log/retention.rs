//! Deletes what is to be forgotten, a little at a time: first what erased agents left, then what has grown too old.
//!
//! What is deleted is overwritten with zeros (`secure_delete`). That reaches the rows themselves and not the bytes that they left elsewhere
//! before; for an erased agent `cleaning` clears those too.
//!
//! Retention keeps what scores need: the newest 500 evaluations of an agent, the last 20 completed runs of a workspace, and
//! the last run of every agent. A ranking covers the runs that are stored.

use std::collections::HashMap;

use renown_core::identity::Part;
use renown_core::reputation::WINDOW_SIZE;
use renown_core::scorecard::BASELINE_RUNS;
use renown_core::time::Timestamp;
use rusqlite::{OptionalExtension, params};

use super::Log;
use super::identities::Changes;
use super::sessions::NOBODY;
use crate::admin::Retention;
use crate::error::StoreError;
use crate::evidence::Seq;
use crate::sqlite::identities;
use crate::sqlite::orgs::OrgKey;

/// How many rows are deleted, or looked at, at a time.
const AT_ONCE: usize = 500;

/// How many steps back along chains are taken at a time.
const STEPS_AT_ONCE: usize = 20_000;

const DAY_MS: i64 = 86_400_000;

/// How far the look for old evidence has come. It is done once a day, from the beginning.
#[derive(Default)]
pub(super) struct Sweep {
    day: i64,
    /// The run that was looked at last; none when all were.
    run: Option<i64>,
    /// The session that was looked at last; none when all were.
    session: Option<i64>,
    /// The organizations whose evaluations are still to be looked at, the first with the place reached.
    orgs: Vec<(OrgKey, i64)>,
    /// The oldest evaluation of an agent's window, by its number.
    floors: HashMap<i64, Option<i64>>,
}

impl Log<'_> {
    /// Deletes a little; whether there is more.
    pub(in crate::sqlite) fn tend(&mut self, retention: Retention) -> Result<bool, StoreError> {
        self.forget_replies()?;
        self.overwriting(|log| match log.open_grave()? {
            Some(grave) => log.empty_grave(&grave).map(|()| true),
            None => log.forget_old(retention),
        })
    }

    /// Deletes some of what is too old; whether there is more.
    fn forget_old(&mut self, retention: Retention) -> Result<bool, StoreError> {
        let now = self.latest.millis();
        let limit = |days: Option<u32>| days.map(|days| now - i64::from(days) * DAY_MS);
        if let Some(before) = limit(retention.events_days)
            && self.forget_events(before)?
        {
            return Ok(true);
        }
        if self.sweep.day != now / DAY_MS {
            let orgs = self.all_orgs()?.into_iter().map(|org| (org, org.places().0.0 - 1)).collect();
            self.sweep =
                Sweep { day: now / DAY_MS, run: Some(0), session: Some(0), orgs, floors: HashMap::new() };
        }
        if self.erase_sessions(Some(NOBODY))?.1 {
            return Ok(true);
        }
        if let Some(before) = limit(retention.sessions_days)
            && self.sweep.session.is_some()
        {
            return self.forget_sessions(before).map(|()| true);
        }
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

    /// Looks at some runs and deletes the old ones that no later run is compared with and that are not the last of their agent.
    fn forget_runs(&mut self, before_ms: i64) -> Result<(), StoreError> {
        let mut select = self.connection.prepare_cached(
            "SELECT run, accepted_at FROM agent_run_scores WHERE run > ?1 ORDER BY run LIMIT ?2",
        )?;
        let found =
            select.query_map(params![self.sweep.run, AT_ONCE], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let found: Vec<(i64, i64)> = found.collect::<Result<_, _>>()?;
        let old: Vec<i64> = found.iter().map_while(|(run, at)| (*at < before_ms).then_some(*run)).collect();
        let mut delete = self.connection.prepare_cached(
            "DELETE FROM agent_run_scores AS r WHERE run = ?1 \
             AND EXISTS (SELECT 1 FROM agent_run_scores l WHERE l.agent = r.agent AND l.run > r.run AND l.score IS NOT NULL) \
             AND (outcome <> 'completed' OR wall_ms IS NULL OR (SELECT count(*) FROM (SELECT 1 FROM agent_run_scores l \
             WHERE l.org = r.org AND l.workspace = r.workspace AND l.outcome = 'completed' AND l.wall_ms IS NOT NULL \
             AND (l.finished_ns, l.run) > (r.finished_ns, r.run) AND l.finished_ns <= ?2 LIMIT ?3)) = ?3)",
        )?;
        for run in &old {
            delete.execute(params![run, self.latest.nanos(), BASELINE_RUNS])?;
        }
        // Runs are accepted in the order of their numbers: the first that is not old is the last that is looked at.
        self.sweep.run = old.last().copied().filter(|_| old.len() == AT_ONCE);
        Ok(())
    }

    /// Looks at some sessions and forgets those that are over and of which nothing arrived since. What is left of them is deleted next.
    fn forget_sessions(&mut self, before_ms: i64) -> Result<(), StoreError> {
        let mut select = self.connection.prepare_cached(
            "SELECT session, org, session_id, due_at IS NULL AND last_seen < ?3 FROM sessions \
             WHERE session > ?1 ORDER BY session LIMIT ?2",
        )?;
        let found = select.query_map(params![self.sweep.session, AT_ONCE, before_ms], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
        })?;
        let found: Vec<(i64, OrgKey, Option<String>, bool)> = found.collect::<Result<_, _>>()?;
        drop(select);
        self.sweep.session = found.last().map(|(session, ..)| *session).filter(|_| found.len() == AT_ONCE);
        let mut forget = self.connection.prepare_cached(
            "UPDATE sessions SET agent = ?2, session_id = NULL, told = NULL, state = x'', event = NULL, event_id = NULL, \
             folded = x'', trace_count = NULL, reliability = NULL, reliability_traces = NULL, flagged_traces = NULL, \
             consistency = NULL, consistency_traces = NULL, cost_nano = NULL, performance = NULL WHERE session = ?1",
        )?;
        for (session, org, id, _) in found.into_iter().filter(|(.., is_old)| *is_old) {
            forget.execute(params![session, NOBODY])?;
            if let Some(id) = id.and_then(|id| id.parse().ok()) {
                self.sessions.forget(&(org, id));
            }
        }
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
        let (mut pruned, mut last, mut looked_at, mut steps) = (None, None, 0, 0);
        for (seq, agent, _) in old {
            if self.floor(*agent, &mut steps)?.is_some_and(|floor| *seq < floor) {
                self.connection.prepare_cached("DELETE FROM evaluations WHERE seq = ?1")?.execute([seq])?;
                pruned = Some(*seq);
            }
            (last, looked_at) = (Some(*seq), looked_at + 1);
            if steps >= STEPS_AT_ONCE {
                break;
            }
        }
        if let Some(pruned) = pruned {
            let mut update =
                self.connection.prepare_cached("UPDATE orgs SET pruned = max(pruned, ?2) WHERE org = ?1")?;
            update.execute(params![org, pruned])?;
        }
        self.sweep.orgs.pop();
        if let Some(last) = last.filter(|_| looked_at == AT_ONCE || steps >= STEPS_AT_ONCE) {
            self.sweep.orgs.push((org, last));
        } else {
            self.sweep.floors.clear();
        }
        Ok(())
    }

    /// The oldest evaluation of an agent's window by its row, before which nothing is needed; none if the window is not full.
    fn floor(&mut self, agent: i64, steps: &mut usize) -> Result<Option<i64>, StoreError> {
        if let Some(floor) = self.sweep.floors.get(&agent) {
            return Ok(*floor);
        }
        let mut last = self.connection.prepare_cached("SELECT last_seq FROM agents WHERE agent = ?1")?;
        let mut next: Option<i64> = last.query_row([agent], |row| row.get(0)).optional()?.flatten();
        let mut previous =
            self.connection.prepare_cached("SELECT previous FROM evaluations WHERE seq = ?1")?;
        for _ in 1..WINDOW_SIZE {
            let Some(seq) = next else { break };
            *steps += 1;
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
