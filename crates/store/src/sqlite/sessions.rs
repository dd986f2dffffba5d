//! Reads rows of sessions, and passes new ones to the writer.

use renown_core::ids::{OrgId, SessionId};
use renown_core::session_metrics::{Signals, Trace};
use renown_core::units::Unit;
use renown_telemetry::account::Account;
use renown_telemetry::facts::Batch;
use renown_telemetry::ledger::{Session, SessionBuilder, TimeRange};
use renown_telemetry::stored;
use renown_telemetry::stored::StoredRecord;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::Sqlite;
use super::orgs::OrgKey;
use super::readers::Deadline;
use super::rows::{damaged, nanos, text, time};
use super::summaries::{Fresh, SUMMARY, SummaryRow, folded};
use crate::engines::Reply;
use crate::error::StoreError;
use crate::evidence::Position;
use crate::request_keys::{Accepted, RequestKey};
use crate::sessions::{
    Closed, NewSignals, NewTrace, RecordCursor, SessionQuery, SessionRecord, SessionRecords, SessionSummary,
    SessionTrace, Sessions, StoredSession, traces,
};

/// The query of a [`StoredSession`], with the columns in the order in which [`session`] reads them. Sessions of
/// erased agents are not seen.
pub(super) fn select() -> String {
    format!(
        "SELECT s.session, s.session_id, a.name, s.began_ns, s.last_seen, \
         CASE WHEN s.check_at IS NULL THEN s.closed_at END, s.state, {SUMMARY} \
         FROM sessions s JOIN agents a ON a.agent = s.agent"
    )
}

/// Decodes a session without its traces. Reads the traces only if its summary is not stored.
pub(super) fn session(
    connection: &Connection,
    row: &Row<'_>,
    deadline: &Deadline,
) -> Result<StoredSession, StoreError> {
    let closed_at: Option<i64> = row.get(5)?;
    let (position, id): (_, SessionId) = (Position::of(row.get(0)?), text(row, 1, "a session id")?);
    let state = row.get_ref(6)?.as_blob().map_err(damaged("a state"))?;
    let ledger = ledger(connection, id.as_str(), position, state)?;
    let summary = match SummaryRow::read(row, 7)?.summary() {
        Some(summary) => summary,
        None => SessionSummary::of(&traces_of(connection, id.as_str(), position, ledger.as_ref(), deadline)?),
    };
    Ok(StoredSession {
        position,
        agent: text(row, 2, "an agent id")?,
        began_at: nanos(row.get(3)?)?,
        last_seen: time(row.get(4)?)?,
        closed_at: closed_at.map(time).transpose()?,
        ledger,
        summary,
        id,
        traces: Vec::new(),
    })
}

/// Returns the fold of a session's records: from its state, or from the records if the state cannot be read.
/// Returns `None` without records.
pub(super) fn ledger(
    connection: &Connection,
    id: &str,
    position: Position,
    state: &[u8],
) -> Result<Option<Session>, StoreError> {
    if state.is_empty() {
        return Ok(None);
    }
    Session::from_bytes(id, state).map_or_else(
        || refold(connection, id, position, TimeRange::default(), &Deadline::NONE),
        |session| Ok(Some(session)),
    )
}

/// Finds a session, with its traces if `with_traces`.
pub(super) fn find(
    connection: &Connection,
    org: OrgKey,
    id: &SessionId,
    with_traces: bool,
    deadline: &Deadline,
) -> Result<Option<StoredSession>, StoreError> {
    let mut select =
        connection.prepare_cached(&format!("{} WHERE s.org = ?1 AND s.session_id = ?2", select()))?;
    let mut rows = select.query(params![org, id.as_str()])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let mut found = session(connection, row, deadline)?;
    if with_traces {
        found.traces = traces_of(connection, id.as_str(), found.position, found.ledger.as_ref(), deadline)?;
    }
    Ok(Some(found))
}

/// Returns the position of a session.
fn position_of(connection: &Connection, org: OrgKey, id: &SessionId) -> Result<Option<Position>, StoreError> {
    let mut select = connection.prepare_cached(
        "SELECT s.session FROM sessions s JOIN agents a ON a.agent = s.agent WHERE s.org = ?1 AND s.session_id = ?2",
    )?;
    Ok(select.query_row(params![org, id.as_str()], |row| row.get(0).map(Position::of)).optional()?)
}

/// Folds the records of a session within a time range. Returns `None` if it is unknown or has no records.
pub(super) fn within(
    connection: &Connection,
    org: OrgKey,
    id: &SessionId,
    range: TimeRange,
    deadline: &Deadline,
) -> Result<Option<Session>, StoreError> {
    let Some(position) = position_of(connection, org, id)? else { return Ok(None) };
    refold(connection, id.as_str(), position, range, deadline)
}

/// Returns a page of a session's records.
pub(super) fn records(
    connection: &Connection,
    org: OrgKey,
    id: &SessionId,
    after: Option<RecordCursor>,
    limit: usize,
) -> Result<Option<SessionRecords>, StoreError> {
    let Some(session) = position_of(connection, org, id)?.map(Position::number) else { return Ok(None) };
    let mut select = connection.prepare_cached(
        "SELECT at_ns, key, record FROM session_records WHERE session = ?1 AND (at_ns, key) > (?2, ?3) \
         AND record <> x'' ORDER BY at_ns, key LIMIT ?4",
    )?;
    // No record has the least key of the least time: times begin long after it.
    let RecordCursor { at_ns, key } = after.unwrap_or(RecordCursor { at_ns: i64::MIN, key: i64::MIN });
    let mut rows = select.query(params![session, at_ns, key, limit.saturating_add(1)])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let cursor = RecordCursor { at_ns: row.get(0)?, key: row.get(1)? };
        found.push((cursor, SessionRecord::from(record(id.as_str(), row, 2)?)));
    }
    Ok(Some(SessionRecords::page(found, limit)))
}

/// Decodes a record in a column.
fn record<'r>(id: &'r str, row: &'r Row<'_>, column: usize) -> Result<StoredRecord<'r>, StoreError> {
    let bytes = row.get_ref(column)?.as_blob().map_err(damaged("a record"))?;
    stored::decode(id, None, bytes).ok_or_else(|| StoreError::Damaged("a record of a session".to_owned()))
}

/// Returns a page of sessions.
pub(super) fn page(
    connection: &Connection,
    org: OrgKey,
    query: &SessionQuery,
    deadline: &Deadline,
) -> Result<Sessions, StoreError> {
    let (narrow, value) = match &query.agent {
        Some(agent) => ("s.agent = (SELECT agent FROM agents WHERE org = ?1 AND name = ?2)", agent.as_str()),
        None => ("s.org = ?1 AND ?2 = ''", ""),
    };
    let mut select = connection.prepare_cached(&format!(
        "{} WHERE {narrow} AND s.session_id IS NOT NULL AND s.began_ns >= ?3 AND s.began_ns <= ?4 \
         AND (s.began_ns, s.session) < (?5, ?6) ORDER BY s.began_ns DESC, s.session DESC LIMIT ?7",
        select()
    ))?;
    let from = query.from.map_or(i64::MIN, renown_core::time::Timestamp::nanos);
    let to = query.to.map_or(i64::MAX, renown_core::time::Timestamp::nanos);
    let (began_ns, before) =
        query.after.map_or((i64::MAX, i64::MAX), |after| (after.at.nanos(), after.position.number()));
    let mut rows =
        select.query(params![org, value, from, to.min(began_ns), began_ns, before, query.limit + 1])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(session(connection, row, deadline)?);
    }
    Ok(Sessions::page(found, query.limit))
}

/// Returns the traces of a session: from its fold, or from its records if the fold is stale.
fn traces_of(
    connection: &Connection,
    id: &str,
    position: Position,
    ledger: Option<&Session>,
    deadline: &Deadline,
) -> Result<Vec<SessionTrace>, StoreError> {
    let Some(ledger) = ledger else { return Ok(traces(sent(connection, position)?, [])) };
    let mut select = connection.prepare_cached("SELECT records, folded FROM sessions WHERE session = ?1")?;
    let folded = select.query_row([position.number()], |row| {
        Ok(folded(row.get(0)?, row.get_ref(1)?.as_blob().unwrap_or_default()))
    })?;
    match folded.traces(ledger.signal(), id) {
        Some(derived) => Ok(traces(sent(connection, position)?, derived)),
        None => Ok(Fresh::read(connection, id, position, deadline)?.traces),
    }
}

/// Returns the sent traces of a session, in the order of their arrival.
pub(super) fn sent(connection: &Connection, position: Position) -> Result<Vec<NewTrace>, StoreError> {
    let mut select = connection.prepare_cached(
        "SELECT trace_id, started_ns, confidence, loop_detection, tool_correctness, coherence FROM session_traces \
         WHERE session = ?1 ORDER BY position",
    )?;
    let mut rows = select.query([position.number()])?;
    let mut sent = Vec::new();
    while let Some(row) = rows.next()? {
        let signal = |column| -> Result<Option<Unit>, StoreError> {
            let signal: Option<f64> = row.get(column)?;
            signal.map(Unit::new).transpose().map_err(damaged("a signal"))
        };
        let signals = Signals {
            confidence: signal(2)?,
            loop_detection: signal(3)?,
            tool_correctness: signal(4)?,
            coherence: signal(5)?,
        };
        let started_ns: Option<i64> = row.get(1)?;
        let trace = Trace { trace_id: text(row, 0, "a trace id")?, signals, source: None };
        sent.push(NewTrace { trace, started_at: started_ns.map(nanos).transpose()? });
    }
    Ok(sent)
}

/// Passes the records of a session to `each`, in an order without meaning. Returns how many there are.
pub(super) fn each_record(
    connection: &Connection,
    id: &str,
    position: Position,
    deadline: &Deadline,
    mut each: impl FnMut(&StoredRecord<'_>),
) -> Result<u64, StoreError> {
    let mut select = connection.prepare_cached(
        "SELECT record FROM session_records WHERE session = ?1 AND record <> x'' ORDER BY at_ns, key",
    )?;
    let mut rows = select.query([position.number()])?;
    let mut count = 0_u64;
    while let Some(row) = rows.next()? {
        if count.is_multiple_of(1024) {
            deadline.check()?;
        }
        each(&record(id, row, 0)?);
        count += 1;
    }
    Ok(count)
}

/// Folds the records of a session within a time range. Returns `None` without records.
fn refold(
    connection: &Connection,
    id: &str,
    position: Position,
    range: TimeRange,
    deadline: &Deadline,
) -> Result<Option<Session>, StoreError> {
    let mut folding = SessionBuilder::new(id, range);
    let count = each_record(connection, id, position, deadline, |record| folding.add(record))?;
    Ok((count > 0).then_some(folding.session))
}

impl Sqlite {
    pub(crate) fn add_records<'a>(
        &'a self,
        org: &OrgId,
        batch: Batch,
        request_key: Option<RequestKey>,
    ) -> Reply<'a, Accepted<Account>> {
        let org = org.clone();
        let written = self.writer.send(batch.len().max(1), move |transaction| {
            transaction.add_records(&org, &batch, request_key).map(|accepted| (accepted, batch))
        });
        // The batch comes back and is freed by the thread that allocated it.
        Box::pin(async { written.await.map(|(accepted, _)| accepted) })
    }

    pub(crate) fn add_signals<'a>(
        &'a self,
        org: &OrgId,
        session: &SessionId,
        signals: NewSignals,
        request_key: Option<RequestKey>,
    ) -> Reply<'a, Accepted<()>> {
        let (org, session) = (org.clone(), session.clone());
        self.writer.send(signals.traces.len().max(1), move |transaction| {
            transaction.add_signals(&org, session, &signals, request_key)
        })
    }

    pub(crate) fn session<'a>(
        &'a self,
        org: &OrgId,
        session: &SessionId,
        with_traces: bool,
    ) -> Reply<'a, Option<StoredSession>> {
        let (org, session) = (self.orgs.get(org), session.clone());
        self.readers.run(move |connection, deadline| find(connection, org?, &session, with_traces, deadline))
    }

    pub(crate) fn session_records<'a>(
        &'a self,
        org: &OrgId,
        session: &SessionId,
        after: Option<RecordCursor>,
        limit: usize,
    ) -> Reply<'a, Option<SessionRecords>> {
        let (org, session) = (self.orgs.get(org), session.clone());
        self.readers.run(move |connection, _| records(connection, org?, &session, after, limit))
    }

    pub(crate) fn sessions<'a>(&'a self, org: &OrgId, query: SessionQuery) -> Reply<'a, Sessions> {
        let org = self.orgs.get(org);
        self.readers.run(move |connection, deadline| page(connection, org?, &query, deadline))
    }

    pub(crate) fn session_within<'a>(
        &'a self,
        org: &OrgId,
        session: &SessionId,
        range: TimeRange,
    ) -> Reply<'a, Option<Session>> {
        let (org, session) = (self.orgs.get(org), session.clone());
        self.readers.run(move |connection, deadline| within(connection, org?, &session, range, deadline))
    }

    pub(crate) fn close_sessions(&self) -> Reply<'_, Vec<Closed>> {
        #[expect(
            clippy::redundant_closure_for_method_calls,
            reason = "its path is not general enough in lifetimes"
        )]
        self.writer.send(1, |transaction| transaction.close_sessions())
    }
}
