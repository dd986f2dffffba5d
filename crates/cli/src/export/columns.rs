//! The columns of each kind of evidence. New columns are added at the end, so that readers by position keep working.

use renown_core::time::Timestamp;
use renown_core::units::Whole;
use renown_store::{ReputationEvent, Run, StoredEvaluation};
use serde_json::Value;

/// The type of a column. Every column may be empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    /// JSON text. In JSON Lines it is embedded as JSON.
    Json,
    Integer,
    Float,
    Flag,
    Time,
}

/// The name and type of a column.
pub(super) type Column = (&'static str, Kind);

/// One value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cell {
    Empty,
    Text(String),
    Json(String),
    Integer(i64),
    Float(f64),
    Flag(bool),
    Time(Timestamp),
}

/// The values of a row, in the order of its columns.
pub(super) type Row = Vec<Cell>;

impl Cell {
    pub(super) fn text(text: Option<impl ToString>) -> Self {
        text.map_or(Self::Empty, |text| Self::Text(text.to_string()))
    }

    fn json(text: Option<String>) -> Self {
        text.map_or(Self::Empty, Self::Json)
    }

    pub(super) fn number(number: Option<impl Into<u64>>) -> Self {
        let number = number.and_then(|number| i64::try_from(number.into()).ok());
        number.map_or(Self::Empty, Self::Integer)
    }

    fn whole(number: Option<Whole>) -> Self {
        Self::number(number.map(Whole::get))
    }

    pub(super) fn time(time: Option<Timestamp>) -> Self {
        time.map_or(Self::Empty, Self::Time)
    }
}

fn list(texts: &[String]) -> Cell {
    Cell::Json(Value::from(texts).to_string())
}

pub(super) const EVALUATIONS: &[Column] = &[
    ("evaluation_id", Kind::Text),
    ("agent_id", Kind::Text),
    ("tool", Kind::Text),
    ("passed", Kind::Flag),
    ("gates", Kind::Json),
    ("gate_latency_us", Kind::Integer),
    ("agent_latency_us", Kind::Integer),
    ("latency_us", Kind::Integer),
    ("reputation_score", Kind::Integer),
    ("eval_count", Kind::Integer),
    ("created_at", Kind::Time),
    ("accepted_at", Kind::Time),
];

pub(super) fn evaluation(event: StoredEvaluation) -> Row {
    vec![
        Cell::Text(event.id.to_string()),
        Cell::Text(event.agent.to_string()),
        Cell::text(event.tool),
        Cell::Flag(event.passed),
        Cell::Json(event.gates),
        Cell::number(Some(event.gate_latency.us())),
        Cell::number(event.agent_latency.map(renown_core::units::Micros::us)),
        Cell::number(Some(event.latency.us())),
        Cell::number(Some(event.standing.score)),
        Cell::number(Some(event.standing.eval_count)),
        Cell::Time(event.created_at),
        Cell::Time(event.accepted_at),
    ]
}

pub(super) const EVENTS: &[Column] = &[
    ("event_id", Kind::Text),
    ("identity_id", Kind::Text),
    ("timestamp", Kind::Time),
    ("category", Kind::Text),
    ("event_type", Kind::Text),
    ("score_delta", Kind::Float),
    ("confidence", Kind::Float),
    ("reference_type", Kind::Text),
    ("reference_id", Kind::Text),
    ("attributes", Kind::Json),
    ("accepted_at", Kind::Time),
    ("timestamp_ns", Kind::Integer),
];

pub(super) fn event(stored: ReputationEvent) -> Row {
    let event = stored.event;
    let delta = renown_core::decimal::Decimal::<6>::from_units(i128::from(event.score_delta.millionths()));
    let reference = Some(event.reference_type.name()).filter(|name| !name.is_empty());
    vec![
        Cell::Text(event.event_id.to_string()),
        Cell::Text(stored.identity.to_string()),
        Cell::Time(event.timestamp),
        Cell::Text(event.category.name().to_owned()),
        Cell::Text(event.event_type.to_string()),
        Cell::Float(delta.to_f64()),
        Cell::Float(event.confidence.get()),
        Cell::text(reference),
        Cell::text(event.reference_id),
        Cell::Json(serde_json::to_string(&event.attributes).unwrap_or_default()),
        Cell::Time(stored.accepted_at),
        Cell::Integer(event.timestamp.nanos()),
    ]
}

pub(super) const RUNS: &[Column] = &[
    ("run_id", Kind::Text),
    ("agent_id", Kind::Text),
    ("workspace", Kind::Text),
    ("spec_id", Kind::Text),
    ("outcome", Kind::Text),
    ("score", Kind::Integer),
    ("tier", Kind::Text),
    ("completion", Kind::Integer),
    ("error_rate", Kind::Integer),
    ("latency", Kind::Integer),
    ("resource_efficiency", Kind::Integer),
    ("defaulted", Kind::Json),
    ("warnings", Kind::Json),
    ("formula_version", Kind::Text),
    ("baseline_p50_ms", Kind::Float),
    ("baseline_runs", Kind::Integer),
    ("wall_ms", Kind::Integer),
    ("memory_peak_bytes", Kind::Integer),
    ("memory_limit_bytes", Kind::Integer),
    ("cpu_periods", Kind::Integer),
    ("cpu_throttled_periods", Kind::Integer),
    ("cpu_throttled_ms", Kind::Integer),
    ("stages", Kind::Json),
    ("started_at", Kind::Time),
    ("finished_at", Kind::Time),
    ("branch", Kind::Text),
    ("pull_request", Kind::Text),
    ("attributes", Kind::Json),
    ("accepted_at", Kind::Time),
    ("finished_at_ns", Kind::Integer),
];

pub(super) fn run(run: Run) -> Row {
    let (tier, resources) = (run.tier(), run.report.resources);
    let scored = run.scored.as_ref();
    let axis =
        |axis: fn(&renown_core::scorecard::Axes) -> u8| Cell::number(scored.map(|scored| axis(&scored.axes)));
    let baseline = scored.map(|scored| scored.baseline.shown());
    let p50 = baseline.and_then(|baseline| baseline.p50_ms);
    vec![
        Cell::Text(run.id.to_string()),
        Cell::Text(run.agent.to_string()),
        Cell::Text(run.workspace.to_string()),
        Cell::text(run.spec),
        Cell::Text(run.report.outcome.name().to_owned()),
        Cell::number(scored.map(|scored| scored.score)),
        Cell::Text(tier.name().to_owned()),
        axis(|axes| axes.completion),
        axis(|axes| axes.error_rate),
        axis(|axes| axes.latency),
        axis(|axes| axes.resource_efficiency),
        scored.map_or(Cell::Empty, |scored| list(&scored.defaulted)),
        list(&run.warnings),
        Cell::text(scored.map(|scored| &scored.formula_version)),
        p50.map_or(Cell::Empty, |p50| Cell::Float(p50.to_f64())),
        Cell::number(baseline.map(|baseline| baseline.runs as u64)),
        Cell::whole(run.report.wall_ms),
        Cell::whole(resources.memory_peak_bytes),
        Cell::whole(resources.memory_limit_bytes),
        Cell::whole(resources.cpu_periods),
        Cell::whole(resources.cpu_throttled_periods),
        Cell::whole(resources.cpu_throttled_ms),
        Cell::json(run.stages),
        Cell::time(run.started_at),
        Cell::Time(run.finished_at),
        Cell::text(run.branch),
        Cell::text(run.pull_request),
        Cell::json(run.attributes),
        Cell::Time(run.accepted_at),
        Cell::Integer(run.finished_at.nanos()),
    ]
}
