//! What is sent of a session, and the shapes of its metrics.

use serde::Deserialize;
use utoipa::ToSchema;

use crate::routes::shapes::{AgentName, Moment};

/// A session, as its agent names it: 1 to 256 bytes.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only its shape is read, for the document")]
#[schema(min_length = 1, max_length = 256, format = "session-id")]
pub(crate) struct SessionName(String);

/// Signals of the traces of a session.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only its shape is read, for the document")]
pub(crate) struct SignalsRequest {
    /// Whose session it is, where its telemetry names nobody.
    agent_id: Option<AgentName>,
    /// Each trace once.
    #[schema(min_items = 1)]
    traces: Vec<TraceRequest>,
}

/// A trace.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only its shape is read, for the document")]
pub(crate) struct TraceRequest {
    /// 1 to 512 bytes.
    #[schema(min_length = 1, max_length = 512, format = "trace-id")]
    trace_id: String,
    /// When it began, which is its place among the others.
    started_at: Option<Moment>,
    /// Absent is the same as empty: the trace counts, and the metrics skip it.
    #[schema(required = false)]
    signals: SignalsShape,
}

/// Signals of a trace, each from 0 to 1, where 1 is good. One that is absent is unknown.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = TraceSignals)]
#[expect(dead_code, reason = "only its shape is read, for the document")]
pub(crate) struct SignalsShape {
    /// How sure the agent was.
    #[schema(minimum = 0, maximum = 1)]
    confidence: Option<f64>,
    /// How free of loops the trace was.
    #[schema(minimum = 0, maximum = 1)]
    loop_detection: Option<f64>,
    /// How right its choice and use of tools was.
    #[schema(minimum = 0, maximum = 1)]
    tool_correctness: Option<f64>,
    /// How coherent its steps were.
    #[schema(minimum = 0, maximum = 1)]
    coherence: Option<f64>,
}

/// Both metrics of a session.
#[derive(ToSchema)]
#[schema(as = SessionMetrics)]
#[expect(dead_code, reason = "only its shape is read, for the document")]
pub(crate) struct MetricsReply {
    agent_reliability: MetricReply,
    agent_consistency: MetricReply,
}

/// A metric of a session.
#[derive(ToSchema)]
#[schema(as = SessionMetric)]
#[expect(dead_code, reason = "only its shape is read, for the document")]
pub(crate) struct MetricReply {
    name: String,
    /// 0 to 1, four places.
    #[schema(minimum = 0, maximum = 1)]
    score: f64,
    reason: String,
    threshold: f64,
    passed: bool,
    band: String,
    evaluable: bool,
    formula_version: String,
    /// What the score was made of: how many traces there are and were evaluated, and if any were, the weights, the risks of
    /// each trace with the `source` of its signals, and how they were put together.
    metadata: serde_json::Map<String, serde_json::Value>,
}

/// A metric that there is.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only its shape is read, for the document")]
pub(crate) struct MetricDefinition {
    name: String,
    description: String,
    method: String,
    threshold: f64,
    formula_version: String,
    bands: Vec<BandShape>,
}

/// A range of scores.
#[derive(ToSchema)]
#[schema(as = MetricBand)]
#[expect(dead_code, reason = "only its shape is read, for the document")]
pub(crate) struct BandShape {
    band: String,
    /// The score from which it reaches up to the next better one.
    from: f64,
    meaning: String,
}
