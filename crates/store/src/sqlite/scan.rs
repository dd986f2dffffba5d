//! Reads all evidence of one kind, part by part, in order of position.
//!
//! Each statement walks its table by position. The plus before `org` prevents the use of an index of organizations, whose rows
//! would have to be sorted for every part.

use renown_core::ids::OrgId;
use renown_core::time::Timestamp;
use rusqlite::{Connection, Params, Row, params};

use super::orgs::OrgKey;
use super::readers::Deadline;
use super::{Sqlite, identities, rows, runs, sessions};
use crate::engines::{Reply, answer};
use crate::error::StoreError;
use crate::evidence::{Position, StoredEvaluation};
use crate::identities::ReputationEvent;
use crate::runs::Run;
use crate::sessions::StoredSession;
use crate::traits::{EvidenceKind, SCAN_MAX};

/// Where a part begins, and how many rows it has at most.
#[derive(Clone, Copy)]
pub(super) struct Part {
    pub(super) org: OrgKey,
    pub(super) after: Option<Position>,
    pub(super) limit: usize,
}

impl Part {
    /// Returns the number after which the part begins.
    fn after(self) -> i64 {
        self.after.map_or(-1, Position::number)
    }

    fn limit(self) -> usize {
        self.limit.min(SCAN_MAX)
    }
}

/// Counts the evidence of one kind.
pub(super) fn count(connection: &Connection, org: OrgKey, kind: EvidenceKind) -> Result<u64, StoreError> {
    let (first, end) = org.numbers();
    Ok(match kind {
        EvidenceKind::Evaluations => connection.query_row(
            "SELECT count(*) FROM evaluations WHERE seq >= ?1 AND seq < ?2",
            [first, end],
            |row| row.get(0),
        )?,
        EvidenceKind::Runs => {
            connection
                .query_row("SELECT count(*) FROM agent_run_scores WHERE org = ?1", [org], |row| row.get(0))?
        }
        EvidenceKind::ReputationEvents => {
            connection
                .query_row("SELECT count(*) FROM reputation_events WHERE org = ?1", [org], |row| row.get(0))?
        }
        EvidenceKind::Sessions => connection.query_row(
            "SELECT count(*) FROM sessions WHERE org = ?1 AND session_id IS NOT NULL",
            [org],
            |row| row.get(0),
        )?,
    })
}

fn part<T>(
    connection: &Connection,
    sql: &str,
    params: impl Params,
    read: impl Fn(&Row<'_>) -> Result<T, StoreError>,
) -> Result<Vec<T>, StoreError> {
    let mut select = connection.prepare_cached(sql)?;
    let mut rows = select.query(params)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(read(row)?);
    }
    Ok(found)
}

/// Returns a part of the evaluations.
pub(super) fn evaluations(connection: &Connection, of: Part) -> Result<Vec<StoredEvaluation>, StoreError> {
    let (first, end) = of.org.numbers();
    let sql = format!("{} WHERE e.seq > ?1 AND e.seq < ?2 ORDER BY e.seq LIMIT ?3", rows::EVALUATION);
    part(connection, &sql, params![of.after().max(first - 1), end, of.limit()], rows::evaluation)
}

/// Returns a part of the runs.
pub(super) fn runs(connection: &Connection, of: Part) -> Result<Vec<Run>, StoreError> {
    let sql = format!("{} WHERE +r.org = ?1 AND r.run > ?2 ORDER BY r.run LIMIT ?3", runs::RUN);
    part(connection, &sql, params![of.org, of.after(), of.limit()], runs::run)
}

/// Returns a part of the reputation events.
pub(super) fn reputation_events(
    connection: &Connection,
    of: Part,
) -> Result<Vec<ReputationEvent>, StoreError> {
    let sql = format!("{} WHERE +e.org = ?1 AND e.event > ?2 ORDER BY e.event LIMIT ?3", identities::EVENT);
    part(connection, &sql, params![of.org, of.after(), of.limit()], identities::event)
}

/// Returns a part of the sessions, without their traces.
pub(super) fn sessions(
    connection: &Connection,
    of: Part,
    deadline: &Deadline,
) -> Result<Vec<StoredSession>, StoreError> {
    let sql = format!(
        "{} WHERE +s.org = ?1 AND s.session > ?2 AND s.session_id IS NOT NULL ORDER BY s.session LIMIT ?3",
        sessions::select()
    );
    let read = |row: &Row<'_>| sessions::session(connection, row, deadline);
    part(connection, &sql, params![of.org, of.after(), of.limit()], read)
}

impl Sqlite {
    pub(crate) fn organizations(&self) -> Reply<'_, Vec<OrgId>> {
        answer(Ok(self.orgs.names()))
    }

    pub(crate) fn latest_acceptance(&self) -> Reply<'_, Option<Timestamp>> {
        self.readers.run(|connection, _| rows::latest_acceptance(connection))
    }

    pub(crate) fn count<'a>(&'a self, org: &OrgId, kind: EvidenceKind) -> Reply<'a, u64> {
        let org = self.orgs.get(org);
        self.readers.run(move |connection, _| count(connection, org?, kind))
    }

    pub(crate) fn scan_evaluations<'a>(
        &'a self,
        org: &OrgId,
        after: Option<Position>,
        limit: usize,
    ) -> Reply<'a, Vec<StoredEvaluation>> {
        let org = self.orgs.get(org);
        self.readers.run(move |connection, _| evaluations(connection, Part { org: org?, after, limit }))
    }

    pub(crate) fn scan_runs<'a>(
        &'a self,
        org: &OrgId,
        after: Option<Position>,
        limit: usize,
    ) -> Reply<'a, Vec<Run>> {
        let org = self.orgs.get(org);
        self.readers.run(move |connection, _| runs(connection, Part { org: org?, after, limit }))
    }

    pub(crate) fn scan_reputation_events<'a>(
        &'a self,
        org: &OrgId,
        after: Option<Position>,
        limit: usize,
    ) -> Reply<'a, Vec<ReputationEvent>> {
        let org = self.orgs.get(org);
        self.readers.run(move |connection, _| reputation_events(connection, Part { org: org?, after, limit }))
    }

    pub(crate) fn scan_sessions<'a>(
        &'a self,
        org: &OrgId,
        after: Option<Position>,
        limit: usize,
    ) -> Reply<'a, Vec<StoredSession>> {
        let org = self.orgs.get(org);
        self.readers
            .run(move |connection, deadline| sessions(connection, Part { org: org?, after, limit }, deadline))
    }
}
