//! The reputation of an agent, and that of its identity.

use renown_core::decimal::Decimal;
use renown_core::identity::IdentityReputation;
use renown_core::ids::{AgentId, IdentityId};
use renown_core::reputation::{Lifecycle, ReputationRecord};
use renown_core::time::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

/// The reputation of an agent.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = RecordReply)]
pub struct ReputationView<'a> {
    /// Id of the agent.
    pub agent_id: &'a AgentId,
    /// Score from 0 to 1000.
    #[schema(maximum = 1000)]
    pub score: u32,
    /// How settled the score is.
    pub lifecycle: Lifecycle,
    /// The same as `lifecycle`.
    pub status: Lifecycle,
    /// Number of evaluations in the window.
    #[schema(maximum = 500)]
    pub eval_count: u64,
    /// The same as `eval_count`.
    #[schema(maximum = 500)]
    pub evaluations: u64,
    /// Maximum number of evaluations in the window.
    pub window_size: usize,
    /// Number of evaluations in the window that passed.
    pub passed: u64,
    /// Share of the evaluations that passed, from 0 to 1.
    pub pass_rate: Decimal<6>,
    /// Average latency of the evaluations in the window.
    pub avg_latency_ms: Decimal<3>,
    /// Number of passes since the last failure.
    pub streak: u64,
    /// Version of the formula.
    pub formula_version: &'static str,
}

impl<'a> ReputationView<'a> {
    /// Builds the reputation of an agent.
    pub fn of(agent_id: &'a AgentId, record: &ReputationRecord) -> Self {
        let ReputationRecord {
            score,
            eval_count,
            evaluations,
            window_size,
            passed,
            pass_rate,
            avg_latency_ms,
            ..
        } = *record;
        Self {
            agent_id,
            score,
            lifecycle: record.lifecycle,
            status: record.status,
            eval_count,
            evaluations,
            window_size,
            passed,
            pass_rate,
            avg_latency_ms,
            streak: record.streak,
            formula_version: record.formula_version,
        }
    }
}

/// The reputation of an identity as of a time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = IdentityReply)]
pub struct IdentityView {
    /// Id of the identity.
    pub identity_id: IdentityId,
    /// Time of the scores.
    pub as_of: Timestamp,
    /// Weighted mean of the categories over 90 days.
    pub overall_score: Decimal<6>,
    /// Mean of the events about work.
    pub task_quality_score: Decimal<6>,
    /// Mean of the events about payment.
    pub economic_score: Decimal<6>,
    /// Mean of the events about keys and sessions.
    pub identity_hygiene_score: Decimal<6>,
    /// Number of events in the window.
    pub total_events: u64,
    /// Number of events with a change above 0.
    pub positive_events: u64,
    /// Number of events with a change below 0.
    pub negative_events: u64,
    /// Confidence from 0 to 1, which grows with the number of events.
    pub confidence: Decimal<6>,
    /// Overall score 7 days before.
    pub score_7d_ago: Decimal<6>,
    /// Overall score 30 days before.
    pub score_30d_ago: Decimal<6>,
    /// Change of the overall score in 7 days; null if there were no events 7 days before.
    pub trend_7d: Option<Decimal<6>>,
    /// Change of the overall score in 30 days; null if there were no events 30 days before.
    pub trend_30d: Option<Decimal<6>>,
    /// Version of the formula.
    pub formula_version: &'static str,
}

impl IdentityView {
    /// Builds the reputation of an identity.
    pub fn of(identity_id: IdentityId, standing: &IdentityReputation) -> Self {
        Self {
            identity_id,
            as_of: standing.as_of,
            overall_score: standing.overall_score,
            task_quality_score: standing.task_quality_score,
            economic_score: standing.economic_score,
            identity_hygiene_score: standing.identity_hygiene_score,
            total_events: standing.total_events,
            positive_events: standing.positive_events,
            negative_events: standing.negative_events,
            confidence: standing.confidence,
            score_7d_ago: standing.score_7d_ago,
            score_30d_ago: standing.score_30d_ago,
            trend_7d: standing.trend_7d,
            trend_30d: standing.trend_30d,
            formula_version: standing.formula_version,
        }
    }
}
