//! Sessions that were received, in short: what their records and their traces say.

use renown_core::session_metrics::{
    DEFAULT_THRESHOLD, Metrics, Session, SignalWeights, consistency, reliability,
};
use renown_store::{SessionTrace, StoredSession};
use renown_telemetry::ledger::Session as Ledger;
use serde_json::{Value, json};

use crate::failure::printable;
use crate::table::table;

/// What the traces of a session say at the default weights.
pub(crate) fn metrics(traces: &[SessionTrace]) -> Metrics {
    let traces = traces.iter().map(|known| known.trace.clone()).collect();
    // The store keeps each trace once.
    let traces = Session::new(traces).unwrap_or_default();
    let weights = SignalWeights::default();
    Metrics {
        agent_reliability: reliability(&traces, &weights, DEFAULT_THRESHOLD),
        agent_consistency: consistency(&traces, &weights, DEFAULT_THRESHOLD),
    }
}

/// A session as one row of a list.
pub(crate) fn summary(session: &StoredSession) -> Value {
    let performance = session.ledger.as_ref().and_then(Ledger::totals).map(|totals| totals.performance());
    let Metrics { agent_reliability, agent_consistency } = metrics(&session.traces);
    json!({
        "session_id": session.id,
        "began_at": session.began_at,
        "last_seen": session.last_seen,
        "closed_at": session.closed_at,
        "composite": performance.as_ref().map(|performance| performance.composite),
        "recommendation": performance.as_ref().map(|performance| performance.recommendation),
        "reliability": agent_reliability.evaluable.then_some(agent_reliability.score),
        "consistency": agent_consistency.evaluable.then_some(agent_consistency.score),
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
        let Metrics { agent_reliability: reliability, agent_consistency: consistency } =
            metrics(&session.traces);
        [
            printable(session.id.as_str()),
            began,
            score,
            if reliability.evaluable { reliability.score.to_string() } else { String::new() },
            if consistency.evaluable { consistency.score.to_string() } else { String::new() },
        ]
    };
    let rows: Vec<_> = sessions.iter().map(row).collect();
    table(["SESSION", "BEGAN (UTC)", "SCORE", "RELIABILITY", "CONSISTENCY"], &rows)
}
