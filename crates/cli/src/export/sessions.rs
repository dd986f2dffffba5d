//! The columns of sessions. Columns that need records are empty if only signals were sent. The score and its parts are empty if
//! there is nothing to score.

use renown_core::time::Timestamp;
use renown_store::StoredSession;
use renown_telemetry::ledger::Session;
use renown_telemetry::report::SessionReport;
use serde::Serialize;
use serde_json::Value;

use super::columns::{Cell, Column, Kind, Row};

pub(super) const SESSIONS: &[Column] = &[
    ("session_id", Kind::Text),
    ("agent_id", Kind::Text),
    ("agent", Kind::Text),
    ("masque", Kind::Text),
    ("started_at", Kind::Time),
    ("ended_at", Kind::Time),
    ("last_seen", Kind::Time),
    ("closed_at", Kind::Time),
    ("duration_min", Kind::Integer),
    ("quality", Kind::Float),
    ("autonomy", Kind::Float),
    ("productivity", Kind::Float),
    ("token_efficiency", Kind::Float),
    ("cost_efficiency", Kind::Float),
    ("composite", Kind::Float),
    ("recommendation", Kind::Text),
    ("total_cost", Kind::Float),
    ("total_tools", Kind::Integer),
    ("tools_ok", Kind::Integer),
    ("tool_success_pct", Kind::Integer),
    ("prompts", Kind::Integer),
    ("total_tokens", Kind::Integer),
    ("cache_tokens", Kind::Integer),
    ("missing", Kind::Json),
    ("signal", Kind::Text),
    ("cost_source", Kind::Text),
    ("api_errors", Kind::Integer),
    ("accepts", Kind::Integer),
    ("rejects", Kind::Integer),
    ("rejects_by_user", Kind::Integer),
    ("feedback", Kind::Integer),
    ("compactions", Kind::Integer),
    ("refusals", Kind::Integer),
    ("formula_version", Kind::Text),
    ("traces", Kind::Integer),
    ("reliability", Kind::Float),
    ("reliability_evaluable", Kind::Flag),
    ("consistency", Kind::Float),
    ("consistency_evaluable", Kind::Flag),
    ("started_at_ns", Kind::Integer),
    ("ended_at_ns", Kind::Integer),
];

/// Number of columns that `scored` fills.
const SCORED: usize = 26;

pub(super) fn session(session: &StoredSession) -> Row {
    let ledger = session.ledger.as_ref();
    let report = ledger.and_then(Session::report);
    let report = report.as_ref();
    let (started_at, ended_at) = (ledger.and_then(Session::started_at), ledger.and_then(Session::ended_at));
    let nanos = |time: Option<Timestamp>| time.map_or(Cell::Empty, |time| Cell::Integer(time.nanos()));
    let mut row = vec![
        Cell::Text(session.id.to_string()),
        Cell::Text(session.agent.to_string()),
        ledger.map_or(Cell::Empty, |ledger| word(ledger.agent())),
        Cell::text(report.map(|report| &report.masque)),
        Cell::time(started_at),
        Cell::time(ended_at),
        Cell::Time(session.last_seen),
        Cell::time(session.closed_at),
    ];
    row.extend(report.map_or_else(|| vec![Cell::Empty; SCORED], scored));
    row.extend(metrics(session));
    row.extend([nanos(started_at), nanos(ended_at)]);
    row
}

/// Returns the score, its parts, and the other counts.
fn scored(report: &SessionReport<'_>) -> Row {
    let performance = &report.performance;
    let (d, s) = (&performance.dimensions, &performance.stats);
    let (coverage, signals) = (&report.coverage, &report.signals);
    let missing = Value::from(coverage.missing.as_slice());
    vec![
        Cell::number(Some(performance.duration_min)),
        Cell::Float(d.quality.to_f64()),
        Cell::Float(d.autonomy.to_f64()),
        Cell::Float(d.productivity.to_f64()),
        Cell::Float(d.token_efficiency.to_f64()),
        Cell::Float(d.cost_efficiency.to_f64()),
        Cell::Float(performance.composite.to_f64()),
        Cell::Text(performance.recommendation.to_string()),
        Cell::Float(s.total_cost.to_f64()),
        Cell::number(Some(s.total_tools)),
        Cell::number(Some(s.tools_ok)),
        Cell::number(Some(s.tool_success_pct)),
        Cell::number(Some(s.prompts)),
        Cell::number(Some(s.total_tokens)),
        Cell::number(Some(s.cache_tokens)),
        Cell::Json(missing.to_string()),
        word(coverage.signal),
        word(coverage.cost_source),
        Cell::number(Some(signals.api_errors)),
        Cell::number(Some(signals.accepts)),
        Cell::number(Some(signals.rejects)),
        Cell::number(Some(signals.rejects_by_user)),
        signals.feedback.map_or(Cell::Empty, |feedback| Cell::Integer(feedback.into())),
        Cell::number(Some(signals.compactions)),
        Cell::number(Some(signals.refusals)),
        Cell::Text(report.formula_version.to_owned()),
    ]
}

/// Returns the number of traces, and their metrics with the default weights.
fn metrics(session: &StoredSession) -> Row {
    let summary = &session.summary;
    let (agent_reliability, agent_consistency) =
        (summary.metrics.agent_reliability(), summary.metrics.agent_consistency());
    vec![
        Cell::number(Some(summary.trace_count)),
        Cell::Float(agent_reliability.score.to_f64()),
        Cell::Flag(agent_reliability.evaluable),
        Cell::Float(agent_consistency.score.to_f64()),
        Cell::Flag(agent_consistency.evaluable),
    ]
}

/// Returns a cell with the name of an enum value.
fn word(word: impl Serialize) -> Cell {
    let word = serde_json::to_value(word).unwrap_or_default();
    Cell::text(word.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    use renown_store::{Position, SessionSummary, SessionTrace};
    use renown_telemetry::facts::Batch;
    use renown_telemetry::ledger::{Ledger, TimeRange};

    const LINE: &str = r#"{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":"1790000000000000001","eventName":
        "claude_code.tool_result","attributes":[{"key":"session.id","value":{"stringValue":"s"}},{"key":"tool_name","value":
        {"stringValue":"Edit"}},{"key":"success","value":{"stringValue":"true"}}]}]}]}]}"#;

    fn stored(has_records: bool) -> StoredSession {
        let mut batch = Batch::default();
        let prices = renown_telemetry::prices::Prices::default();
        renown_telemetry::json::read(LINE.as_bytes(), 1, &prices, &mut batch).unwrap();
        let mut ledger = Ledger::new(TimeRange::default());
        ledger.fold(&batch).unwrap();
        let time = Timestamp::from_millis(1_790_000_000_000).unwrap();
        let input = r#"{"trace_id":"t","signals":{"tool_correctness":0.5}}"#;
        let traces = vec![SessionTrace { trace: serde_json::from_str(input).unwrap(), started_at: None }];
        StoredSession {
            position: Position::default(),
            id: "s".parse().unwrap(),
            agent: "a".parse().unwrap(),
            ledger: ledger.find("s").filter(|_| has_records).cloned(),
            began_at: time,
            last_seen: time,
            closed_at: None,
            summary: SessionSummary::of(&traces),
            traces,
        }
    }

    fn cell(row: &Row, name: &str) -> Cell {
        let index = SESSIONS.iter().position(|(column, _)| *column == name).unwrap();
        row[index].clone()
    }

    #[test]
    fn every_session_has_every_column() {
        for (has_records, expected) in [
            (
                true,
                [
                    ("agent", Cell::Text("claude-code".to_owned())),
                    ("quality", Cell::Float(10.0)),
                    ("tools_ok", Cell::Integer(1)),
                    ("missing", Cell::Json(r#"["prompts","cost","tokens"]"#.to_owned())),
                    ("signal", Cell::Text("logs".to_owned())),
                    ("feedback", Cell::Empty),
                    ("formula_version", Cell::Text("1".to_owned())),
                    ("reliability", Cell::Float(0.6)),
                    ("ended_at_ns", Cell::Integer(1_790_000_000_000_000_001)),
                ],
            ),
            (
                false,
                [
                    ("agent", Cell::Empty),
                    ("agent_id", Cell::Text("a".to_owned())),
                    ("quality", Cell::Empty),
                    ("formula_version", Cell::Empty),
                    ("traces", Cell::Integer(1)),
                    ("reliability", Cell::Float(0.6)),
                    ("reliability_evaluable", Cell::Flag(true)),
                    ("consistency_evaluable", Cell::Flag(false)),
                    ("ended_at_ns", Cell::Empty),
                ],
            ),
        ] {
            let row = session(&stored(has_records));
            assert_eq!(row.len(), SESSIONS.len());
            for (name, expected) in expected {
                assert_eq!(cell(&row, name), expected, "{name}");
            }
        }
    }
}
