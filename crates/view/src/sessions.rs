//! Sessions: their performance, and the metrics of their traces.

use std::borrow::Cow;
use std::collections::BTreeMap;

use renown_core::decimal::Decimal;
use renown_core::ids::{AgentId, SessionId, TraceId};
use renown_core::session_metrics::{BriefMetric, SessionTraces, Source};
use renown_core::time::Timestamp;
use renown_core::units::Unit;
use renown_store::{SessionTrace, StoredSession};
pub use renown_telemetry::dialect::Agent;
pub use renown_telemetry::facts::Signal;
use renown_telemetry::ledger::Session as Ledger;
pub use renown_telemetry::report::{CostSource, Coverage, OtherCounts, SessionReport, UNKNOWN_MASQUE};
use serde::Serialize;
use utoipa::ToSchema;

/// A page of sessions.
#[derive(Serialize, ToSchema)]
#[schema(as = SessionsReply)]
pub struct SessionsPage<'s> {
    /// Sessions, the one that began last first.
    pub data: Vec<SessionView<'s>>,
    /// Cursor of the next page; null on the last page.
    pub next_cursor: Option<String>,
}

/// A session.
#[derive(Serialize, ToSchema)]
#[schema(as = Session)]
pub struct SessionView<'s> {
    /// Id of the session.
    pub session_id: &'s SessionId,
    /// Id of the agent.
    pub agent_id: &'s AgentId,
    /// Whether the session may still receive records.
    pub open: bool,
    /// Time of the first event; null if no event has a time.
    pub started_at: Option<Timestamp>,
    /// Time of the last event; null if no event has a time.
    pub ended_at: Option<Timestamp>,
    /// Time when data of the session last arrived.
    pub last_seen: Timestamp,
    /// Time when the session was closed; null while it is open.
    pub closed_at: Option<Timestamp>,
    /// Performance of the session; null if there is nothing to score, for example if only signals were sent.
    pub performance: Option<SessionReport<'s>>,
    /// Metrics of the traces, in short.
    pub metrics: MetricsSummary,
    /// Number of traces.
    pub trace_count: u64,
}

/// A session with its traces.
#[derive(Serialize, ToSchema)]
#[schema(as = SessionDetail)]
pub struct SessionDetail<'s> {
    /// The session.
    #[serde(flatten)]
    pub session: SessionView<'s>,
    /// Traces of the session.
    pub traces: Vec<TraceView<'s>>,
}

/// A trace of a session.
#[derive(Serialize, ToSchema)]
#[schema(as = SessionTrace)]
pub struct TraceView<'s> {
    /// Id of the trace.
    pub trace_id: &'s TraceId,
    /// Start of the trace.
    pub started_at: Option<Timestamp>,
    /// Known signals by name.
    pub signals: BTreeMap<&'static str, Unit>,
    /// Whether the signals were sent, or derived from telemetry.
    pub source: Option<Source>,
}

/// Both metrics, without the details of their computation.
#[derive(Serialize, ToSchema)]
pub struct MetricsSummary {
    /// Reliability of the agent.
    pub agent_reliability: MetricSummary,
    /// Consistency of the agent's traces.
    pub agent_consistency: MetricSummary,
}

/// A metric, without the details of its computation.
#[derive(Serialize, ToSchema)]
pub struct MetricSummary {
    /// Score from 0 to 1, with four decimals.
    pub score: Decimal<4>,
    /// The result in one sentence.
    pub reason: Cow<'static, str>,
    /// Lowest score that passes.
    pub threshold: Unit,
    /// Whether the score reaches the threshold.
    pub passed: bool,
    /// Name of the score's range.
    pub band: &'static str,
    /// Whether any trace could be evaluated; if not, the score is 1.
    pub evaluable: bool,
    /// Version of the formula.
    pub formula_version: &'static str,
}

impl From<BriefMetric> for MetricSummary {
    fn from(metric: BriefMetric) -> Self {
        let BriefMetric { score, reason, threshold, passed, band, evaluable, formula_version } = metric;
        Self { score, reason, threshold, passed, band, evaluable, formula_version }
    }
}

impl<'s> SessionView<'s> {
    /// Builds the view of a session.
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

    /// Returns whether the session has a performance.
    pub fn is_scored(&self) -> bool {
        self.performance.is_some()
    }
}

impl MetricsSummary {
    /// Builds the metrics of a session with the default weights and thresholds.
    pub fn of_session(session: &StoredSession) -> Self {
        let metrics = &session.summary.metrics;
        Self {
            agent_reliability: metrics.agent_reliability().into(),
            agent_consistency: metrics.agent_consistency().into(),
        }
    }
}

impl<'s> SessionDetail<'s> {
    /// Builds the view of a session that was read with its traces.
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

/// Returns the performance of a session, with the agent id that the store determined. `None` if there is nothing to score.
pub fn report(session: &StoredSession) -> Option<SessionReport<'_>> {
    let report = session.ledger.as_ref()?.report()?;
    Some(SessionReport { agent_id: session.agent.as_str(), ..report })
}

/// Returns the display name of a kind of agent.
pub fn kind_name(agent: Agent) -> &'static str {
    match agent {
        Agent::ClaudeCode => "Claude Code",
        Agent::Codex => "Codex",
        Agent::GeminiCli => "Gemini CLI",
        Agent::QwenCode => "Qwen Code",
        Agent::OpenCode => "OpenCode",
        Agent::Pi => "pi",
        Agent::Copilot => "GitHub Copilot",
        Agent::GenAi => "GenAI conventions",
        Agent::Unknown => "unknown kind",
    }
}

/// Converts the traces of a session to the input of the metrics.
pub fn session_of(session: &StoredSession) -> SessionTraces {
    let traces = session.traces.iter().map(|trace| trace.trace.clone()).collect();
    // Trace ids are unique in the store, and derived traces are merged with sent ones, so this cannot fail.
    SessionTraces::new(traces).unwrap_or_default()
}
