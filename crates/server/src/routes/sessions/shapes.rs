//! Request and reply bodies of sessions and their metrics, for the OpenAPI document.

use serde::Deserialize;
use utoipa::ToSchema;

use crate::routes::shapes::{AgentName, Moment};

/// Id of a session, as its agent reports it: 1 to 256 bytes.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only its shape is read, for the document")]
#[schema(min_length = 1, max_length = 256, format = "session-id")]
pub(crate) struct SessionName(String);

/// Signals of the traces of a session.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only its shape is read, for the document")]
pub(crate) struct SignalsRequest {
    /// Agent of the session. Used only if its telemetry names no agent.
    agent_id: Option<AgentName>,
    /// Traces with their signals. Each trace may appear only once.
    #[schema(min_items = 1)]
    traces: Vec<TraceRequest>,
}

/// A trace.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only its shape is read, for the document")]
pub(crate) struct TraceRequest {
    /// Id of the trace: 1 to 512 bytes.
    #[schema(min_length = 1, max_length = 512, format = "trace-id")]
    trace_id: String,
    /// Start of the trace. It determines the order of the traces.
    started_at: Option<Moment>,
    /// Signals of the trace. Without signals, the trace is stored but the metrics skip it.
    #[schema(required = false)]
    signals: SignalsShape,
}

/// Signals of a trace, each from 0 (bad) to 1 (good). An absent signal is unknown.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = TraceSignals)]
#[expect(dead_code, reason = "only its shape is read, for the document")]
pub(crate) struct SignalsShape {
    /// How confident the agent was.
    #[schema(minimum = 0, maximum = 1)]
    confidence: Option<f64>,
    /// How free of loops the trace was.
    #[schema(minimum = 0, maximum = 1)]
    loop_detection: Option<f64>,
    /// How correctly the agent chose and used tools.
    #[schema(minimum = 0, maximum = 1)]
    tool_correctness: Option<f64>,
    /// How coherent the steps were.
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
    /// Score from 0 to 1, with four decimals.
    #[schema(minimum = 0, maximum = 1)]
    score: f64,
    reason: String,
    threshold: f64,
    passed: bool,
    band: String,
    evaluable: bool,
    formula_version: String,
    /// Details of the computation: the number of traces and of evaluated traces, and, if any were evaluated, the weights, the risks of each
    /// trace with the `source` of its signals, and how the risks were combined.
    metadata: serde_json::Map<String, serde_json::Value>,
}

/// The definition of a metric.
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
    /// Lowest score of the range. The range ends where the next better one begins.
    from: f64,
    meaning: String,
}
