//! One row per agent, over all its evidence.

use renown_core::decimal::Decimal;
use renown_core::identity::{IdentityReputation, identity_of};
use renown_core::ids::{AgentId, IdentityId, OrgId, SessionId};
use renown_core::performance::Recommendation;
use renown_core::scorecard::Tier;
use renown_core::time::Timestamp;
use renown_store::{AgentEvidence, AgentSummary, StoredSession};
use serde::Serialize;
use utoipa::ToSchema;

use crate::days::DayPoint;
use crate::runs::TierName;
use crate::sessions::RecommendationName;
use crate::shared::{LifecycleView, average_ms, share};

/// A page of agents.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Agents)]
pub struct AgentsPage {
    /// Agents in the requested order.
    pub agents: Vec<AgentRow>,
    /// Cursor of the next page; null on the last page.
    pub next_cursor: Option<String>,
}

/// An agent in a list. Values without evidence are null.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = AgentRow)]
pub struct AgentRow {
    /// Id of the agent.
    #[schema(value_type = String)]
    pub agent_id: AgentId,
    /// Identity of the agent: a UUIDv5 of its organization and id.
    #[schema(value_type = String, format = Uuid)]
    pub identity_id: IdentityId,
    /// Time when the agent was first named.
    #[schema(value_type = String, format = DateTime)]
    pub first_seen: Timestamp,
    /// Time when evidence of the agent was last accepted.
    #[schema(value_type = String, format = DateTime)]
    pub last_seen: Timestamp,
    /// Number of evaluations in the window.
    #[schema(maximum = 500)]
    pub eval_count: u64,
    /// Reputation score; 0 without an evaluation, and only indicative below 50 evaluations.
    #[schema(maximum = 1000)]
    pub score: u32,
    /// How settled the score is.
    pub lifecycle: LifecycleView,
    /// Share of the evaluations that passed.
    #[schema(value_type = Option<f64>)]
    pub pass_rate: Option<Decimal<6>>,
    /// Average latency of the evaluations.
    #[schema(value_type = Option<f64>)]
    pub avg_latency_ms: Option<Decimal<3>>,
    /// Number of passes since the last failure.
    pub streak: u64,
    /// Session that began last.
    pub latest_session: Option<SessionBrief>,
    /// Tier of the latest run with a score.
    #[schema(value_type = Option<TierName>)]
    pub tier: Option<Tier>,
    /// Long-term reputation of the agent's identity.
    pub identity_reputation: Option<IdentityBrief>,
    /// Latest days, if they were requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub days: Option<Vec<DayPoint>>,
}

/// A session in short.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct SessionBrief {
    /// Id of the session.
    #[schema(value_type = String)]
    pub session_id: SessionId,
    /// Start of the session.
    #[schema(value_type = String, format = DateTime)]
    pub started_at: Timestamp,
    /// Whether the session may still receive records.
    pub open: bool,
    /// Performance from 0 to 10; null if there is nothing to score.
    #[schema(value_type = Option<f64>)]
    pub performance: Option<Decimal<1>>,
    /// Recommendation for the masque of the session.
    #[schema(value_type = Option<RecommendationName>)]
    pub recommendation: Option<Recommendation>,
}

impl SessionBrief {
    fn of(session: StoredSession) -> Self {
        let report = session.ledger.as_ref().and_then(renown_telemetry::ledger::Session::report);
        let performance = report.as_ref().map(|report| &report.performance);
        Self {
            started_at: session.began_at,
            open: session.closed_at.is_none() && session.ledger.is_some(),
            performance: performance.map(|performance| performance.composite),
            recommendation: performance.map(|performance| performance.recommendation),
            session_id: session.id,
        }
    }
}

/// The reputation of an identity in short.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct IdentityBrief {
    /// Weighted mean of the categories.
    #[schema(value_type = f64)]
    pub overall_score: Decimal<6>,
    /// Confidence from 0 to 1, which grows with the number of events.
    #[schema(value_type = f64)]
    pub confidence: Decimal<6>,
    /// Number of events in the last 90 days.
    pub total_events: u64,
    /// Change in the last 7 days; null if there were no events 7 days ago.
    #[schema(value_type = Option<f64>)]
    pub trend_7d: Option<Decimal<6>>,
}

impl From<IdentityReputation> for IdentityBrief {
    fn from(standing: IdentityReputation) -> Self {
        let IdentityReputation { overall_score, confidence, total_events, trend_7d, .. } = standing;
        Self { overall_score, confidence, total_events, trend_7d }
    }
}

impl AgentRow {
    /// Builds the row of an agent as of a time.
    pub fn of(org: &OrgId, agent: AgentSummary, evidence: AgentEvidence, as_of: Timestamp) -> Self {
        let (tally, standing) = (agent.tally, agent.tally.standing());
        let AgentEvidence { session, tier, identity } = evidence;
        Self {
            identity_id: identity_of(org, &agent.agent),
            agent_id: agent.agent,
            first_seen: agent.first_seen,
            last_seen: agent.last_seen,
            eval_count: standing.eval_count,
            score: standing.score,
            lifecycle: standing.lifecycle.into(),
            pass_rate: share(tally.passed(), tally.evaluations()),
            avg_latency_ms: average_ms(tally.latency_us(), tally.evaluations()),
            streak: tally.streak(),
            latest_session: session.map(SessionBrief::of),
            tier,
            identity_reputation: identity.map(|windows| windows.breakdown().standing(as_of).into()),
            days: None,
        }
    }
}
