//! Rebuilds derived data: scores of runs that failed with an internal error, sums and days of agents, sums of
//! identities, states of sessions.
//!
//! It never changes evidence. A run that has a score keeps it, also if the formula has changed since.

use renown_core::identity::EventPart;
use renown_core::ids::OrgId;
use renown_telemetry::ledger::Session;
use rusqlite::params;

use super::Transaction;
use crate::error::StoreError;
use crate::evidence::Position;
use crate::fold::identities::SumChanges;
use crate::query::rank;
use crate::runs::RunScore;
use crate::sqlite::agents::AgentState;
use crate::sqlite::mark::{self, LostWrites};
use crate::sqlite::readers::Deadline;
use crate::sqlite::runs::{RUN, baseline_of, run};
use crate::sqlite::summaries::Fresh;
use crate::sqlite::{days, identities, rows, seal, verify};

/// What a repair rebuilt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repaired {
    /// Runs that had no score.
    pub runs: u64,
    /// Agents whose sums were wrong.
    pub agents: u64,
    /// Agents whose evaluations cannot be read. Their rows stay as they are.
    pub damaged: u64,
    /// Whether the days of agents were wrong.
    pub days: bool,
    /// Whether the sums of identities were wrong.
    pub identities: bool,
    /// Sessions whose state, summary or reputation event was wrong or missing.
    pub sessions: u64,
    /// Acknowledged writes that are missing, and that are accepted as lost from now on.
    pub lost: LostWrites,
}

impl Transaction<'_> {
    /// Rebuilds what can be rebuilt.
    pub(in crate::sqlite) fn repair(&mut self) -> Result<Repaired, StoreError> {
        let (runs, (agents, damaged)) = (self.repair_runs()?, self.repair_agents()?);
        let days = verify::days_differ(self.connection)?;
        if days {
            days::rebuild(self.connection)?;
        }
        let identities = verify::identities_differ(self.connection)?;
        if identities {
            self.repair_identities()?;
        }
        let sessions = self.repair_sessions()?;
        // After the sessions, because a trigger has subtracted the former cost of a repaired session from the sum.
        let activity = verify::activity_differs(self.connection)?;
        if activity {
            self.connection.execute_batch(days::COUNT_AGAIN)?;
        }
        let lost = self.accept_lost_writes()?;
        Ok(Repaired { runs, agents, damaged, days: days || activity, identities, sessions, lost })
    }

    /// Accepts that writes are missing: nothing can restore them. Writes that are found missing later are reported
    /// again.
    fn accept_lost_writes(&self) -> Result<LostWrites, StoreError> {
        let noted = |name| -> Result<u64, StoreError> {
            Ok(u64::try_from(seal::mark(self.connection, name)?.unwrap_or_default()).unwrap_or_default())
        };
        let lost = LostWrites { evaluations: noted("lost.evaluations")?, writes: noted("lost.writes")? };
        mark::note(self.connection, LostWrites::default())?;
        Ok(lost)
    }

    /// Scores the runs without a score, against the baseline of the time when they were accepted.
    fn repair_runs(&self) -> Result<u64, StoreError> {
        let mut select = self.connection.prepare(&format!("{RUN} WHERE r.score IS NULL"))?;
        let mut found = select.query([])?;
        let mut scored = Vec::new();
        while let Some(row) = found.next()? {
            let kept = run(row)?;
            if let Some(fresh) = RunScore::of(kept.report, baseline_of(row, 21)?) {
                scored.push((kept.position, fresh));
            }
        }
        let mut update = self.connection.prepare(
            "UPDATE agent_run_scores SET score = ?2, completion = ?3, error_rate = ?4, latency = ?5, \
             resource_efficiency = ?6, defaulted = ?7, formula_version = ?8 WHERE run = ?1",
        )?;
        for (position, RunScore { score, axes, defaulted, formula_version, .. }) in &scored {
            let defaulted = serde_json::to_string(defaulted).unwrap_or_default();
            update.execute(params![
                position.number(),
                score,
                axes.completion,
                axes.error_rate,
                axes.latency,
                axes.resource_efficiency,
                defaulted,
                formula_version
            ])?;
        }
        Ok(scored.len() as u64)
    }

    /// Rewrites the rows of agents whose sums differ from their windows. Returns how many, and how many agents have
    /// no readable window.
    fn repair_agents(&mut self) -> Result<(u64, u64), StoreError> {
        let mut select = self.connection.prepare(
            "SELECT agent, first_seen, last_seen, last_seq, evaluations, passed, streak, latency_us, score, rank FROM agents",
        )?;
        let mut found = select.query([])?;
        let (mut repaired, mut damaged) = (0, 0);
        while let Some(row) = found.next()? {
            let last_position: Option<i64> = row.get(3)?;
            let tally = match rows::window(self.connection, last_position) {
                Err(error) if error.is_damage() => {
                    damaged += 1;
                    continue;
                }
                window => window?.tally(),
            };
            let fresh = [
                tally.evaluations(),
                tally.passed(),
                tally.streak(),
                tally.latency_us(),
                tally.breakdown().score().into(),
                rank(tally).unsigned_abs(),
            ];
            let kept: [i64; 6] =
                [row.get(4)?, row.get(5)?, row.get(6)?, row.get(7)?, row.get(8)?, row.get(9)?];
            if kept.map(|sum| u64::try_from(sum).ok()) != fresh.map(Some) {
                let state = AgentState {
                    agent: row.get(0)?,
                    first_seen: rows::time(row.get(1)?)?,
                    last_seen: rows::time(row.get(2)?)?,
                    last_position,
                    tally,
                };
                self.write_row(&state)?;
                repaired += 1;
            }
        }
        Ok((repaired, damaged))
    }

    /// Adds up all reputation events again.
    fn repair_identities(&self) -> Result<(), StoreError> {
        self.connection.execute("DELETE FROM identity_sums", [])?;
        let mut select =
            self.connection.prepare("SELECT identity, at_ns, category, delta FROM reputation_events")?;
        let mut found = select.query([])?;
        let mut changes = SumChanges::default();
        while let Some(row) = found.next()? {
            let delta = identities::delta(row, 3)?;
            changes.add(row.get(0)?, row.get(1)?, identities::category(row, 2)?, EventPart::of(delta));
        }
        self.change_sums(&changes, 1)
    }

    /// Rebuilds the sessions that differ from their records, and the reputation events of the closed ones among
    /// them.
    fn repair_sessions(&mut self) -> Result<u64, StoreError> {
        let mut repaired = 0;
        let mut after = 0;
        while let Some((number, org)) = verify::session_that_differs(self.connection, after)? {
            self.repair_session(number, &org)?;
            (after, repaired) = (number, repaired + 1);
        }
        Ok(repaired)
    }

    fn repair_session(&mut self, number: i64, org: &OrgId) -> Result<(), StoreError> {
        let mut select =
            self.connection.prepare_cached("SELECT session_id FROM sessions WHERE session = ?1")?;
        let id: String = select.query_row([number], |row| row.get(0))?;
        let fresh = Fresh::read(self.connection, &id, Position::of(number), &Deadline::NONE)?;
        let state = fresh.ledger.as_ref().map(Session::to_bytes).unwrap_or_default();
        let mut update = self.connection.prepare_cached(
            "UPDATE sessions SET state = ?2, records = (SELECT count(*) FROM session_records r \
             WHERE r.session = ?1 AND record <> x'') WHERE session = ?1",
        )?;
        update.execute(params![number, state])?;
        fresh.write(self.connection, Position::of(number))?;
        let key = (self.orgs.get(org)?, id.parse().map_err(rows::damaged("a session id"))?);
        self.sessions.remove(&key);
        if let Some(mut cached) = self.load_session(&key)?
            && !cached.state.is_open
        {
            self.write_session_event(org, &mut cached)?;
        }
        Ok(())
    }
}
