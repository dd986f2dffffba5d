//! Sessions that were received, in short: what their records and their traces say.

use renown_store::StoredSession;
use renown_telemetry::ledger::Session as Ledger;
use serde_json::{Value, json};

use crate::failure::printable;
use crate::table::table;

/// A session as one row of a list.
pub(crate) fn summary(session: &StoredSession) -> Value {
    let performance = session.ledger.as_ref().and_then(Ledger::totals).map(|totals| totals.performance());
    let metrics = &session.summary.metrics;
    json!({
        "session_id": session.id,
        "began_at": session.began_at,
        "last_seen": session.last_seen,
        "closed_at": session.closed_at,
        "composite": performance.as_ref().map(|performance| performance.composite),
        "recommendation": performance.as_ref().map(|performance| performance.recommendation),
        "reliability": metrics.reliability.map(|found| found.score),
        "consistency": metrics.consistency.map(|found| found.score),
    })
}

/// Sessions in columns. What there is no evidence for is empty.
pub(crate) fn listed(sessions: &[StoredSession]) -> String {
    let row = |session: &StoredSession| {
        let began: String = session.began_at.to_string().replace('T', " ").chars().take(16).collect();
        let performance = session.ledger.as_ref().and_then(Ledger::totals).map(|totals| totals.performance());
        let score = performance.map_or_else(String::new, |performance| {
            format!("{} {}", performance.composite, performance.recommendation)
        });
        let metrics = &session.summary.metrics;
        [
            printable(session.id.as_str()),
            began,
            score,
            metrics.reliability.map_or_else(String::new, |found| found.score.to_string()),
            metrics.consistency.map_or_else(String::new, |found| found.score.to_string()),
        ]
    };
    let rows: Vec<_> = sessions.iter().map(row).collect();
    table(["SESSION", "BEGAN (UTC)", "SCORE", "RELIABILITY", "CONSISTENCY"], &rows)
}
