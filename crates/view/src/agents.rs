//! One row per agent, over all its evidence.

use renown_core::decimal::Decimal;
use renown_core::identity::{IdentityReputation, identity_of};
use renown_core::ids::{AgentId, IdentityId, OrgId, SessionId};
use renown_core::performance::Recommendation;
use renown_core::reputation::Lifecycle;
use renown_core::scorecard::Tier;
use renown_core::time::Timestamp;
use renown_store::{AgentEvidence, AgentSummary, StoredSession};
use serde::Serialize;
use utoipa::ToSchema;

use crate::days::DayPoint;
use crate::shared::{average_ms, share};

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
    pub agent_id: AgentId,
    /// Identity of the agent: a UUIDv5 of its organization and id.
    pub identity_id: IdentityId,
    /// Time when the agent was first named.
    pub first_seen: Timestamp,
    /// Time when evidence of the agent was last accepted.
    pub last_seen: Timestamp,
    /// Number of evaluations in the window.
    #[schema(maximum = 500)]
    pub eval_count: u64,
    /// Reputation score; 0 without an evaluation, and only indicative below 50 evaluations.
    #[schema(maximum = 1000)]
    pub score: u32,
    /// How settled the score is.
    pub lifecycle: Lifecycle,
    /// Share of the evaluations that passed.
    pub pass_rate: Option<Decimal<6>>,
    /// Average latency of the evaluations.
    pub avg_latency_ms: Option<Decimal<3>>,
    /// Number of passes since the last failure.
    pub streak: u64,
    /// Session that began last.
    pub latest_session: Option<SessionBrief>,
    /// Tier of the latest run with a score.
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
    pub session_id: SessionId,
    /// Start of the session.
    pub started_at: Timestamp,
    /// Whether the session may still receive records.
    pub open: bool,
    /// Performance from 0 to 10; null if there is nothing to score.
    pub performance: Option<Decimal<1>>,
    /// Recommendation for the masque of the session.
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
    pub overall_score: Decimal<6>,
    /// Confidence from 0 to 1, which grows with the number of events.
    pub confidence: Decimal<6>,
    /// Number of events in the last 90 days.
    pub total_events: u64,
    /// Change in the last 7 days; null if there were no events 7 days ago.
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
            lifecycle: standing.lifecycle,
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
