//! The records of a session, for a timeline.

use renown_core::decimal::{Decimal, ratio};
use renown_core::time::Timestamp;
use renown_core::units::NanoUsd;
use renown_store::{SessionRecord, SessionRecords};
use renown_telemetry::dialect::Agent;
use renown_telemetry::facts::{ApiRequest, Cost, Decider, Fact, Signal};
use serde::Serialize;
use utoipa::ToSchema;

/// A page of records.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct RecordsPage {
    /// Records: first spans and records without a time, then log records by time.
    pub data: Vec<RecordView>,
    /// Cursor of the next page; null on the last page.
    pub next_cursor: Option<String>,
}

impl RecordsPage {
    /// Builds the view of a page.
    pub fn of(page: SessionRecords, next_cursor: Option<String>) -> Self {
        Self { data: page.records.into_iter().map(RecordView::of).collect(), next_cursor }
    }
}

/// A record of a session.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = SessionRecord)]
pub struct RecordView {
    /// Time of the record. For a span: its start.
    pub at: Option<Timestamp>,
    /// End of a span.
    pub until: Option<Timestamp>,
    /// `logs` or `spans`.
    pub signal: Signal,
    /// Kind of the agent that sent the record, such as `claude-code`.
    pub agent: Agent,
    /// Facts of the record.
    pub facts: Vec<FactView>,
}

impl RecordView {
    /// Builds the view of a record.
    pub fn of(SessionRecord { at, until, signal, agent, facts }: SessionRecord) -> Self {
        Self { at, until, signal, agent, facts: facts.into_iter().map(FactView::of).collect() }
    }
}

/// The kind of a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum FactKind {
    /// A tool was called.
    ToolResult,
    /// The user sent a prompt.
    Prompt,
    /// A model was called.
    ApiRequest,
    /// A call of a model failed.
    ApiError,
    /// A call of a tool was allowed or denied.
    ToolDecision,
    /// The user rated the session.
    Feedback,
    /// The context was compacted.
    Compaction,
    /// The model refused.
    Refusal,
}

/// One fact of a record. A field is absent if facts of this kind do not have it, or if its value is unknown.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = SessionFact)]
pub struct FactView {
    /// Kind of the fact.
    pub kind: FactKind,
    /// Name of the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Whether the call succeeded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ok: Option<bool>,
    /// Duration of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<Decimal<3>>,
    /// Type of the error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_type: Option<String>,
    /// HTTP status of a failed call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u64>,
    /// Name of the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Number of input tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Number of output tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// Number of tokens that were read from the cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_read_tokens: Option<u64>,
    /// Number of tokens that were written to the cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_creation_tokens: Option<u64>,
    /// Whether tokens and cost are sums over several calls. Sums count only if no single call reports its usage.
    #[serde(skip)]
    #[schema(ignore)]
    pub is_sum: bool,
    /// Cost in dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<Decimal<9>>,
    /// Whether the call of the tool was allowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted: Option<bool>,
    /// Who allowed or denied the call: `user`, `policy`, `hook` or `unknown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<&'static str>,
    /// Rating by the user: -1, 0 or 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rating: Option<i8>,
    /// Number of tokens in the context before the compaction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_before: Option<u64>,
    /// Number of tokens in the context after the compaction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_after: Option<u64>,
}

impl FactView {
    /// Creates a fact without further fields.
    pub fn bare(kind: FactKind) -> Self {
        Self {
            kind,
            tool: None,
            ok: None,
            duration_ms: None,
            error_type: None,
            status: None,
            model: None,
            input_tokens: None,
            output_tokens: None,
            cache_read_tokens: None,
            cache_creation_tokens: None,
            is_sum: false,
            cost_usd: None,
            accepted: None,
            decided_by: None,
            rating: None,
            tokens_before: None,
            tokens_after: None,
        }
    }

    fn of(fact: Fact<String>) -> Self {
        match fact {
            Fact::ToolResult { tool, ok, duration_us, error_type } => {
                let duration_ms = duration_us.map(millis);
                Self { tool, ok, duration_ms, error_type, ..Self::bare(FactKind::ToolResult) }
            }
            Fact::Prompt { .. } => Self::bare(FactKind::Prompt),
            Fact::ApiRequest(request) => Self::request(request),
            Fact::ApiError { status, error_type } => {
                Self { error_type, status, ..Self::bare(FactKind::ApiError) }
            }
            Fact::ToolDecision { tool, accepted, by } => {
                let (accepted, decided_by) = (Some(accepted), Some(decider(by)));
                Self { tool, accepted, decided_by, ..Self::bare(FactKind::ToolDecision) }
            }
            Fact::Feedback { rating } => Self { rating: Some(rating), ..Self::bare(FactKind::Feedback) },
            Fact::Compaction { before, after } => {
                Self { tokens_before: before, tokens_after: after, ..Self::bare(FactKind::Compaction) }
            }
            Fact::Refusal => Self::bare(FactKind::Refusal),
        }
    }

    fn request(request: ApiRequest<String>) -> Self {
        let ApiRequest { model, tokens, cost, duration_us, is_sum } = request;
        let cost = cost.map(|cost| match cost {
            Cost::Reported(cost) | Cost::Priced(cost) => cost,
        });
        Self {
            model,
            input_tokens: tokens.map(|tokens| tokens.input),
            output_tokens: tokens.map(|tokens| tokens.output),
            cache_read_tokens: tokens.map(|tokens| tokens.cache_read),
            cache_creation_tokens: tokens.map(|tokens| tokens.cache_creation),
            is_sum,
            cost_usd: cost.map(dollars),
            duration_ms: duration_us.map(millis),
            ..Self::bare(FactKind::ApiRequest)
        }
    }
}

fn millis(us: u64) -> Decimal<3> {
    Decimal::from_units(i128::from(us))
}

/// Converts a cost to dollars. A cost that is too large for the decimal becomes the largest value.
fn dollars(cost: NanoUsd) -> Decimal<9> {
    ratio(cost.nano().min(u128::from(u64::MAX)), 1_000_000_000)
}

fn decider(by: Decider) -> &'static str {
    match by {
        Decider::User => "user",
        Decider::Policy => "policy",
        Decider::Hook => "hook",
        Decider::Unknown => "unknown",
    }
}

#[cfg(test)]
mod tests {
    use renown_telemetry::facts::Tokens;

    use super::*;

    #[test]
    fn facts_contain_only_known_values() {
        let tokens = Tokens { input: 10, output: 2, cache_read: 3, cache_creation: 0 };
        let request = ApiRequest {
            model: Some("m".to_owned()),
            tokens: Some(tokens),
            cost: Some(Cost::Priced(NanoUsd::from_nano(1_250_000))),
            duration_us: Some(1_500),
            is_sum: false,
        };
        let call = FactView::of(Fact::ApiRequest(request));
        assert_eq!(
            (call.input_tokens, call.cost_usd.unwrap().to_string()),
            (Some(10), "0.001250000".to_owned())
        );
        assert_eq!(call.duration_ms.unwrap().to_string(), "1.500");
        let decision =
            Fact::ToolDecision { tool: Some("Bash".to_owned()), accepted: false, by: Decider::Hook };
        let decision = FactView::of(decision);
        assert_eq!((decision.accepted, decision.decided_by, decision.ok), (Some(false), Some("hook"), None));
        let huge = FactView::of(Fact::ApiRequest(ApiRequest {
            model: None,
            tokens: None,
            cost: Some(Cost::Reported(NanoUsd::from_nano(u128::MAX))),
            duration_us: None,
            is_sum: true,
        }));
        assert!(huge.cost_usd.is_some());
    }
}
