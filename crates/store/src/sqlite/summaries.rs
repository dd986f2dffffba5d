//! What is stored in the row of a session, so that a list reads neither its records nor its traces.
//!
//! | column | contents |
//! |---|---|
//! | `folded` | the traces that follow from its records ([`FoldedTraces`]); empty without records |
//! | `trace_count`, `reliability`, `reliability_traces`, `flagged_traces`, `consistency`, `consistency_traces` | the [`SessionSummary`]; scores in ten-thousandths, null if there is nothing to evaluate |
//! | `cost_nano`, `performance` | the cost in nano-dollars, null if unknown; the composite in tenths, null if not scored. The recommendation follows from the composite |
//!
//! **All null** means that the summary is not stored: the traces of the session are stale, or there are too many to
//! read with every write. Readers then compute it from the records; `transaction/summaries.rs` says when the writer
//! computes it again. What is stored is exact: it is written in the transaction that writes the evidence, and
//! `verify` computes all of it again.

use renown_core::decimal::Decimal;
use renown_core::session_metrics::{ConsistencySummary, ReliabilitySummary, Summary};
use renown_telemetry::derived::{FoldedTraces, TraceRebuilder};
use renown_telemetry::ledger::{Session, SessionBuilder, TimeRange};
use rusqlite::{Connection, Row, params};

use super::readers::Deadline;
use super::sessions::{each_record, sent};
use crate::error::StoreError;
use crate::evidence::Position;
use crate::sessions::{SessionSummary, SessionTrace, traces};

/// Maximum cost of a summary that is updated with every write. The cost is the number of its traces, or of its
/// records if the traces that follow from them are stale. Without sent traces nothing has to be merged, and a trace
/// costs an eighth.
pub(super) const COST_MAX: i64 = 2048;

/// The columns of a [`SummaryRow`], in a query where sessions are called `s`.
pub(super) const SUMMARY: &str = "s.trace_count, s.reliability, s.reliability_traces, s.flagged_traces, \
     s.consistency, s.consistency_traces";

/// The names of these columns in the texts of `verify`.
pub(super) const NAMES: [&str; 6] = [
    "the number of its traces",
    "its reliability",
    "the number of its traces with a signal",
    "the number of its traces with an elevated risk",
    "its consistency",
    "the number of its traces with a confidence",
];

/// A summary as it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SummaryRow(pub(super) [Option<i64>; 6]);

impl SummaryRow {
    /// The row of a session whose summary is not stored.
    pub(super) const STALE: Self = Self([None; 6]);

    pub(super) fn of(summary: Option<&SessionSummary>) -> Self {
        let Some(SessionSummary { trace_count, metrics }) = summary else { return Self::STALE };
        let count = |count: u64| Some(i64::try_from(count).unwrap_or(i64::MAX));
        let score = |score: Decimal<4>| i64::try_from(score.units()).ok();
        let Summary { reliability, consistency } = metrics;
        Self([
            count(*trace_count),
            reliability.and_then(|found| score(found.score)),
            count(reliability.map_or(0, |found| found.evaluated)),
            count(reliability.map_or(0, |found| found.flagged)),
            consistency.and_then(|found| score(found.score)),
            count(consistency.map_or(0, |found| found.evaluated)),
        ])
    }

    /// Reads the columns, beginning with `first`.
    pub(super) fn read(row: &Row<'_>, first: usize) -> Result<Self, StoreError> {
        let mut columns = [None; 6];
        for (index, column) in columns.iter_mut().enumerate() {
            *column = row.get(first + index)?;
        }
        Ok(Self(columns))
    }

    /// Returns the summary, if it is stored and valid.
    pub(super) fn summary(self) -> Option<SessionSummary> {
        let Self([trace_count, reliability, with_signal, flagged, consistency, with_confidence]) = self;
        let count = |count: Option<i64>| count.and_then(|count| u64::try_from(count).ok());
        let score = |score: i64| Decimal::from_units(score.into());
        let (evaluated, flagged) = (count(with_signal)?, count(flagged)?);
        let confident = count(with_confidence)?;
        let reliability =
            reliability.map(|units| ReliabilitySummary { score: score(units), evaluated, flagged });
        let consistency =
            consistency.map(|units| ConsistencySummary { score: score(units), evaluated: confident });
        Some(SessionSummary {
            trace_count: count(trace_count)?,
            metrics: Summary { reliability, consistency },
        })
    }
}

/// Returns the values of `cost_nano` and `performance`.
pub(super) fn scores(session: Option<&Session>) -> [Option<i64>; 2] {
    let cost = session.and_then(Session::cost).map(|cost| i64::try_from(cost.nano()).unwrap_or(i64::MAX));
    let composite = session.and_then(Session::totals).map(|totals| totals.performance().composite);
    [cost, composite.and_then(|composite| i64::try_from(composite.units()).ok())]
}

/// Decodes the column `folded` of a session with this many records.
pub(super) fn folded(records: i64, bytes: &[u8]) -> FoldedTraces {
    if records == 0 {
        return FoldedTraces::default();
    }
    FoldedTraces::from_bytes(bytes).unwrap_or_else(FoldedTraces::stale)
}

/// Returns the cost of computing the summary of a session.
pub(super) fn cost(session: Option<&Session>, records: i64, sent: i64, folded: &FoldedTraces) -> i64 {
    let derived = session.map_or(0, |session| match session.signal() {
        signal if folded.is_stale(signal) => records,
        signal => {
            let traces = i64::try_from(folded.traces_max(signal)).unwrap_or(i64::MAX);
            if sent == 0 { traces / 8 } else { traces }
        }
    });
    derived.saturating_add(sent)
}

/// Everything that follows from the records of a session and from its sent traces.
pub(super) struct Fresh {
    pub(super) ledger: Option<Session>,
    pub(super) folded: FoldedTraces,
    pub(super) traces: Vec<SessionTrace>,
}

impl Fresh {
    /// Reads every record.
    pub(super) fn read(
        connection: &Connection,
        id: &str,
        position: Position,
        deadline: &Deadline,
    ) -> Result<Self, StoreError> {
        let (mut folding, mut refold) =
            (SessionBuilder::new(id, TimeRange::default()), TraceRebuilder::default());
        let count = each_record(connection, id, position, deadline, |record| {
            folding.add(record);
            refold.add(record);
        })?;
        let ledger = folding.session;
        let (folded, derived) = refold.finish(ledger.signal(), id);
        let traces = traces(sent(connection, position)?, derived);
        Ok(Self { ledger: (count > 0).then_some(ledger), folded, traces })
    }

    pub(super) fn summary(&self) -> SessionSummary {
        SessionSummary::of(&self.traces)
    }

    /// Returns the value of the column `folded`.
    pub(super) fn folded_bytes(&self) -> Vec<u8> {
        self.ledger.as_ref().map(|_| self.folded.to_bytes()).unwrap_or_default()
    }

    /// Writes all columns that are described in this module.
    pub(super) fn write(&self, connection: &Connection, position: Position) -> Result<(), StoreError> {
        let session = position.number();
        write(connection, session, &self.folded_bytes(), Some(&self.summary()))?;
        let mut update = connection
            .prepare_cached("UPDATE sessions SET cost_nano = ?2, performance = ?3 WHERE session = ?1")?;
        let [cost, performance] = scores(self.ledger.as_ref());
        update.execute(params![session, cost, performance])?;
        Ok(())
    }
}

/// Writes the folded traces of a session and its summary.
pub(super) fn write(
    connection: &Connection,
    session: i64,
    folded: &[u8],
    summary: Option<&SessionSummary>,
) -> Result<(), StoreError> {
    let mut update = connection.prepare_cached(
        "UPDATE sessions SET folded = ?2, trace_count = ?3, reliability = ?4, reliability_traces = ?5, \
         flagged_traces = ?6, consistency = ?7, consistency_traces = ?8 WHERE session = ?1",
    )?;
    let SummaryRow([count, reliability, signals, flagged, consistency, confidences]) =
        SummaryRow::of(summary);
    update.execute(params![
        session,
        folded,
        count,
        reliability,
        signals,
        flagged,
        consistency,
        confidences
    ])?;
    Ok(())
}

/// Fills the columns of every visible session. For an upgrade, in its transaction. A session whose evidence cannot
/// be read stays without a summary; `verify` reports it.
pub(super) fn fill(connection: &Connection) -> Result<(), StoreError> {
    let mut select = connection.prepare(
        "SELECT s.session, s.session_id FROM sessions s JOIN agents a ON a.agent = s.agent \
         WHERE s.session > ?1 AND s.session_id IS NOT NULL ORDER BY s.session LIMIT 1",
    )?;
    let mut after = 0;
    loop {
        let mut rows = select.query([after])?;
        let Some(row) = rows.next()? else { return Ok(()) };
        let (session, id): (i64, String) = (row.get(0)?, row.get(1)?);
        match Fresh::read(connection, &id, Position::of(session), &Deadline::NONE) {
            Err(error) if error.is_damage() => {}
            fresh => fresh?.write(connection, Position::of(session))?,
        }
        after = session;
    }
}
