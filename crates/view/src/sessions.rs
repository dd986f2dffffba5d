//! Sessions: how well they went, and what their traces say.

use std::borrow::Cow;
use std::collections::BTreeMap;

use renown_core::decimal::Decimal;
use renown_core::ids::{AgentId, SessionId, TraceId};
use renown_core::session_metrics::{BriefMetric, Session, Source};
use renown_core::time::Timestamp;
use renown_core::units::Unit;
use renown_store::{SessionTrace, StoredSession};
pub use renown_telemetry::dialect::Agent;
pub use renown_telemetry::facts::Signal;
use renown_telemetry::ledger::Session as Ledger;
pub use renown_telemetry::report::{
    CostSource, Coverage, OtherCounts, Scored, SessionReport, UNKNOWN_MASQUE,
};
use serde::Serialize;
use utoipa::ToSchema;

/// A page of sessions.
#[derive(Serialize, ToSchema)]
#[schema(as = SessionsReply)]
pub struct SessionsPage<'s> {
    /// The last to begin first.
    pub data: Vec<SessionView<'s>>,
    /// Where the next page begins; null on the last one.
    pub next_cursor: Option<String>,
}

/// A session.
#[derive(Serialize, ToSchema)]
#[schema(as = Session)]
pub struct SessionView<'s> {
    /// Its id.
    #[schema(value_type = String)]
    pub session_id: &'s SessionId,
    /// Whose it is.
    #[schema(value_type = String)]
    pub agent_id: &'s AgentId,
    /// Whether something of it is still expected.
    pub open: bool,
    /// Its first event; null if none has a time.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub started_at: Option<Timestamp>,
    /// Its last event.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub ended_at: Option<Timestamp>,
    /// When something of it arrived last.
    #[schema(value_type = String, format = DateTime)]
    pub last_seen: Timestamp,
    /// Since when it is over.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub closed_at: Option<Timestamp>,
    /// How well it went; null where only signals were sent.
    #[schema(value_type = Option<PerformanceShape>)]
    pub performance: Option<SessionReport<'s>>,
    /// What its traces say, in short.
    pub metrics: MetricsSummary,
    /// How many traces it has.
    pub trace_count: u64,
}

/// A session with its traces.
#[derive(Serialize, ToSchema)]
#[schema(as = SessionDetail)]
pub struct SessionDetail<'s> {
    /// The session.
    #[serde(flatten)]
    pub session: SessionView<'s>,
    /// Its traces.
    pub traces: Vec<TraceView<'s>>,
}

/// A trace of a session.
#[derive(Serialize, ToSchema)]
#[schema(as = SessionTrace)]
pub struct TraceView<'s> {
    /// Its id.
    #[schema(value_type = String)]
    pub trace_id: &'s TraceId,
    /// When it began.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub started_at: Option<Timestamp>,
    /// The signals that are known, by name.
    #[schema(value_type = BTreeMap<String, f64>)]
    pub signals: BTreeMap<&'static str, Unit>,
    /// Whether they were sent, or derived from telemetry.
    #[schema(value_type = Option<SourceName>)]
    pub source: Option<Source>,
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
pub struct MetricsSummary {
    /// How reliable the agent was.
    pub agent_reliability: MetricSummary,
    /// How consistent its traces were.
    pub agent_consistency: MetricSummary,
}

/// A metric, without what it was made of.
#[derive(Serialize, ToSchema)]
pub struct MetricSummary {
    /// 0 to 1, four places.
    #[schema(value_type = f64)]
    pub score: Decimal<4>,
    /// The result in one sentence.
    #[schema(value_type = String)]
    pub reason: Cow<'static, str>,
    /// The score from which it passes.
    #[schema(value_type = f64)]
    pub threshold: Unit,
    /// Whether the score reaches the threshold.
    pub passed: bool,
    /// The name of the score's range.
    pub band: &'static str,
    /// Whether there was anything to evaluate; if not, the score is 1.
    pub evaluable: bool,
    /// The version of the formula.
    pub formula_version: &'static str,
}

impl From<BriefMetric> for MetricSummary {
    fn from(metric: BriefMetric) -> Self {
        let BriefMetric { score, reason, threshold, passed, band, evaluable, formula_version } = metric;
        Self { score, reason, threshold, passed, band, evaluable, formula_version }
    }
}

impl<'s> SessionView<'s> {
    /// The view of a session.
    pub fn of(session: &'s StoredSession) -> Self {
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
    pub fn is_scored(&self) -> bool {
        self.performance.is_some()
    }
}

impl MetricsSummary {
    /// Those of a session, at the default weights and thresholds.
    pub fn of_session(session: &StoredSession) -> Self {
        let metrics = &session.summary.metrics;
        Self {
            agent_reliability: metrics.agent_reliability().into(),
            agent_consistency: metrics.agent_consistency().into(),
        }
    }
}

impl<'s> SessionDetail<'s> {
    /// The view of a session that was read with its traces.
    pub fn of(session: &'s StoredSession) -> Self {
        Self { session: SessionView::of(session), traces: session.traces.iter().map(TraceView::of).collect() }
    }
}

impl<'s> TraceView<'s> {
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
pub fn report(session: &StoredSession) -> Option<SessionReport<'_>> {
    let report = session.ledger.as_ref()?.report()?;
    Some(SessionReport { agent_id: session.agent.as_str(), ..report })
}

/// The name of a kind of agent, for people.
pub fn kind_name(agent: Agent) -> &'static str {
    match agent {
        Agent::ClaudeCode => "Claude Code",
        Agent::Codex => "Codex",
        Agent::GeminiCli => "Gemini CLI",
        Agent::QwenCode => "Qwen Code",
        Agent::OpenCode => "OpenCode",
        Agent::Copilot => "GitHub Copilot",
        Agent::GenAi => "GenAI conventions",
        Agent::Unknown => "unknown kind",
    }
}

/// The traces of a session as the metrics take them.
pub fn session_of(session: &StoredSession) -> Session {
    let traces = session.traces.iter().map(|trace| trace.trace.clone()).collect();
    // Each trace is there once: by its id in the store, and those that are derived are merged into it.
    Session::new(traces).unwrap_or_default()
}

/// How well a session went.
#[derive(ToSchema)]
#[schema(as = Performance)]
#[expect(dead_code, reason = "only its shape is read, for the document")]
pub struct PerformanceShape {
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
