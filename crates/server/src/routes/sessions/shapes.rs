//! What is sent of a session, and what is said of one.

use std::borrow::Cow;
use std::collections::BTreeMap;

use renown_core::decimal::Decimal;
use renown_core::ids::{AgentId, SessionId, TraceId};
use renown_core::session_metrics::{BriefMetric, Session, Source};
use renown_core::time::Timestamp;
use renown_core::units::Unit;
use renown_store::{SessionTrace, StoredSession};
use renown_telemetry::ledger::Session as Ledger;
use renown_telemetry::report::Report;
use serde::{Deserialize, Serialize};
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

/// A session.
#[derive(Serialize, ToSchema)]
#[schema(as = Session)]
pub(crate) struct SessionReply<'s> {
    #[schema(value_type = String)]
    session_id: &'s SessionId,
    #[schema(value_type = String)]
    agent_id: &'s AgentId,
    /// Whether something of it is still expected.
    open: bool,
    /// Its first event; null if none has a time.
    #[schema(value_type = Option<String>, format = DateTime)]
    started_at: Option<Timestamp>,
    /// Its last event.
    #[schema(value_type = Option<String>, format = DateTime)]
    ended_at: Option<Timestamp>,
    /// When something of it arrived last.
    #[schema(value_type = String, format = DateTime)]
    last_seen: Timestamp,
    /// Since when it is over.
    #[schema(value_type = Option<String>, format = DateTime)]
    closed_at: Option<Timestamp>,
    /// How well it went; null where only signals were sent.
    #[schema(value_type = Option<PerformanceReply>)]
    performance: Option<Report<'s>>,
    /// What its traces say, in short.
    metrics: MetricsSummary,
    /// How many traces it has.
    #[schema(value_type = usize)]
    trace_count: u64,
}

/// A session with its traces.
#[derive(Serialize, ToSchema)]
#[schema(as = SessionDetail)]
pub(crate) struct SessionDetail<'s> {
    #[serde(flatten)]
    session: SessionReply<'s>,
    traces: Vec<TraceReply<'s>>,
}

/// A trace of a session.
#[derive(Serialize, ToSchema)]
#[schema(as = SessionTrace)]
pub(crate) struct TraceReply<'s> {
    #[schema(value_type = String)]
    trace_id: &'s TraceId,
    #[schema(value_type = Option<String>, format = DateTime)]
    started_at: Option<Timestamp>,
    /// The signals that are known, by name.
    #[schema(value_type = BTreeMap<String, f64>)]
    signals: BTreeMap<&'static str, Unit>,
    /// Whether they were sent, or derived from telemetry.
    #[schema(value_type = Option<SourceName>)]
    source: Option<Source>,
}

/// Where signals come from: `sent`, `derived`, or some of each, `mixed`.
#[derive(Serialize, ToSchema)]
#[schema(as = SignalSource)]
#[serde(rename_all = "lowercase")]
#[expect(dead_code, reason = "only its shape is read, for the document")]
pub(crate) enum SourceName {
    Sent,
    Derived,
    Mixed,
}

/// Both metrics, without what they were made of.
#[derive(Serialize, ToSchema)]
pub(crate) struct MetricsSummary {
    agent_reliability: MetricSummary,
    agent_consistency: MetricSummary,
}

/// A metric, without what it was made of.
#[derive(Serialize, ToSchema)]
pub(crate) struct MetricSummary {
    /// 0 to 1, four places.
    #[schema(value_type = f64)]
    score: Decimal<4>,
    /// The result in one sentence.
    #[schema(value_type = String)]
    reason: Cow<'static, str>,
    /// The score from which it passes.
    #[schema(value_type = f64)]
    threshold: Unit,
    passed: bool,
    /// The name of the score's range.
    band: &'static str,
    /// Whether there was anything to evaluate; if not, the score is 1.
    evaluable: bool,
    formula_version: &'static str,
}

impl From<BriefMetric> for MetricSummary {
    fn from(metric: BriefMetric) -> Self {
        let BriefMetric { score, reason, threshold, passed, band, evaluable, formula_version } = metric;
        Self { score, reason, threshold, passed, band, evaluable, formula_version }
    }
}

impl<'s> SessionReply<'s> {
    pub(crate) fn of(session: &'s StoredSession) -> Self {
        let performance = report(session);
        let ledger = session.ledger.as_ref();
        Self {
            session_id: &session.id,
            agent_id: &session.agent,
            open: session.closed_at.is_none() && session.ledger.is_some(),
            started_at: ledger.and_then(Ledger::started_at),
            ended_at: ledger.and_then(Ledger::ended_at),
            last_seen: session.last_seen,
            closed_at: session.closed_at,
            performance,
            metrics: MetricsSummary::of_session(session),
            trace_count: session.summary.trace_count,
        }
    }

    /// Whether there was anything to score.
    pub(crate) fn is_scored(&self) -> bool {
        self.performance.is_some()
    }
}

impl MetricsSummary {
    pub(crate) fn of_session(session: &StoredSession) -> Self {
        let metrics = &session.summary.metrics;
        Self {
            agent_reliability: metrics.agent_reliability().into(),
            agent_consistency: metrics.agent_consistency().into(),
        }
    }
}

impl<'s> SessionDetail<'s> {
    pub(crate) fn of(session: &'s StoredSession) -> Self {
        Self {
            session: SessionReply::of(session),
            traces: session.traces.iter().map(TraceReply::of).collect(),
        }
    }
}

impl<'s> TraceReply<'s> {
    fn of(SessionTrace { trace, started_at }: &'s SessionTrace) -> Self {
        let signals = trace.signals;
        let named = [
            ("confidence", signals.confidence),
            ("loop_detection", signals.loop_detection),
            ("tool_correctness", signals.tool_correctness),
            ("coherence", signals.coherence),
        ];
        let signals = named.into_iter().filter_map(|(name, signal)| Some((name, signal?))).collect();
        Self { trace_id: &trace.trace_id, started_at: *started_at, signals, source: trace.source }
    }
}

/// How well a session went, and whose it was by all that is known of it. `None` if there is nothing to score.
pub(crate) fn report(session: &StoredSession) -> Option<Report<'_>> {
    let report = session.ledger.as_ref()?.report()?;
    Some(Report { agent_id: session.agent.as_str(), ..report })
}

/// The traces of a session as the metrics take them.
pub(crate) fn session_of(session: &StoredSession) -> Session {
    let traces = session.traces.iter().map(|trace| trace.trace.clone()).collect();
    // Each trace is there once: by its id in the store, and those that are derived are merged into it.
    Session::new(traces).unwrap_or_default()
}

/// How well a session went.
#[derive(ToSchema)]
#[schema(as = Performance)]
#[expect(dead_code, reason = "only its shape is read, for the document")]
pub(crate) struct PerformanceReply {
    /// The masque that the agent wore, or `unknown`.
    masque: String,
    /// Whole minutes.
    duration_min: u64,
    dimensions: DimensionsShape,
    /// 0 to 10, one decimal.
    #[schema(minimum = 0, maximum = 10)]
    composite: f64,
    recommendation: RecommendationName,
    stats: StatsShape,
    session_id: String,
    agent_id: String,
    /// The kind of agent, such as `claude-code`.
    agent: String,
    #[schema(format = DateTime)]
    started_at: Option<String>,
    #[schema(format = DateTime)]
    ended_at: Option<String>,
    formula_version: String,
    coverage: CoverageShape,
    signals: CountsShape,
}

/// What to do with the masque.
#[derive(Serialize, ToSchema)]
#[schema(as = Recommendation)]
#[serde(rename_all = "lowercase")]
#[expect(dead_code, reason = "only its shape is read, for the document")]
pub(crate) enum RecommendationName {
    Keep,
    Review,
    Doff,
}

/// 0 to 10 each, one decimal.
#[derive(ToSchema)]
#[schema(as = PerformanceDimensions)]
#[expect(dead_code, reason = "only its shape is read, for the document")]
pub(crate) struct DimensionsShape {
    quality: f64,
    autonomy: f64,
    productivity: f64,
    token_efficiency: f64,
    cost_efficiency: f64,
}

/// The sums that the dimensions were made of.
#[derive(ToSchema)]
#[schema(as = PerformanceStats)]
#[expect(dead_code, reason = "only its shape is read, for the document")]
pub(crate) struct StatsShape {
    /// Dollars, two decimals.
    total_cost: f64,
    total_tools: u64,
    tools_ok: u64,
    tool_success_pct: u64,
    prompts: u64,
    total_tokens: u64,
    cache_tokens: u64,
}

/// Which of `tools`, `prompts`, `cost` and `tokens` there is evidence of.
#[derive(ToSchema)]
#[schema(as = PerformanceCoverage)]
#[expect(dead_code, reason = "only its shape is read, for the document")]
pub(crate) struct CoverageShape {
    present: Vec<String>,
    missing: Vec<String>,
    /// Those of the present that only some of the calls have.
    partial: Vec<String>,
    /// `logs` or `spans`.
    signal: String,
    /// `reported`, `priced`, `mixed` or `none`.
    cost_source: String,
}

/// What else was counted.
#[derive(ToSchema)]
#[schema(as = PerformanceSignals)]
#[expect(dead_code, reason = "only its shape is read, for the document")]
pub(crate) struct CountsShape {
    api_errors: u64,
    accepts: u64,
    rejects: u64,
    rejects_by_user: u64,
    /// The latest: -1, 0 or 1.
    feedback: Option<i8>,
    compactions: u64,
    refusals: u64,
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
