//! One row per agent, over all its evidence.

use renown_core::decimal::Decimal;
use renown_core::identity::{Standing, identity_of};
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
    /// The agents in the order that was asked for.
    pub agents: Vec<AgentRow>,
    /// Where the next page begins; null on the last one.
    pub next_cursor: Option<String>,
}

/// An agent in a list. What there is no evidence of is null.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = AgentRow)]
pub struct AgentRow {
    /// Its id.
    #[schema(value_type = String)]
    pub agent_id: AgentId,
    /// The identity of the agent, a UUIDv5 of its organization and id.
    #[schema(value_type = String, format = Uuid)]
    pub identity_id: IdentityId,
    /// When it was first named.
    #[schema(value_type = String, format = DateTime)]
    pub first_seen: Timestamp,
    /// When something of it was last accepted.
    #[schema(value_type = String, format = DateTime)]
    pub last_seen: Timestamp,
    /// Evaluations in the window.
    #[schema(maximum = 500)]
    pub eval_count: u64,
    /// Its reputation; 0 without an evaluation, and indicative only below 50.
    #[schema(maximum = 1000)]
    pub score: u32,
    /// How settled the score is.
    pub lifecycle: LifecycleView,
    /// The share of evaluations that passed.
    #[schema(value_type = Option<f64>)]
    pub pass_rate: Option<Decimal<6>>,
    /// The average latency of its evaluations.
    #[schema(value_type = Option<f64>)]
    pub avg_latency_ms: Option<Decimal<3>>,
    /// Passes counted back from the newest evaluation.
    pub streak: u64,
    /// The session that began last.
    pub latest_session: Option<SessionBrief>,
    /// The tier of the last run that has a score.
    #[schema(value_type = Option<TierName>)]
    pub tier: Option<Tier>,
    /// The long-term reputation of its identity.
    pub identity_reputation: Option<IdentityBrief>,
    /// Its last days, if they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub days: Option<Vec<DayPoint>>,
}

/// A session in few words.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct SessionBrief {
    /// Its id.
    #[schema(value_type = String)]
    pub session_id: SessionId,
    /// When it began.
    #[schema(value_type = String, format = DateTime)]
    pub started_at: Timestamp,
    /// Whether something of it is still expected.
    pub open: bool,
    /// How well it went, 0 to 10; null without anything to score.
    #[schema(value_type = Option<f64>)]
    pub performance: Option<Decimal<1>>,
    /// What to do with its masque.
    #[schema(value_type = Option<RecommendationName>)]
    pub recommendation: Option<Recommendation>,
}

impl SessionBrief {
    fn of(session: StoredSession) -> Self {
        let report = session.ledger.as_ref().and_then(renown_telemetry::ledger::Session::report);
        let performance = report.as_ref().map(|report| &report.performance.0);
        Self {
            started_at: session.began_at,
            open: session.closed_at.is_none() && session.ledger.is_some(),
            performance: performance.map(|performance| performance.composite),
            recommendation: performance.map(|performance| performance.recommendation),
            session_id: session.id,
        }
    }
}

/// The reputation of an identity in few words.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct IdentityBrief {
    /// The weighted mean of its categories.
    #[schema(value_type = f64)]
    pub overall_score: Decimal<6>,
    /// How much there is to go by, 0 to 1.
    #[schema(value_type = f64)]
    pub confidence: Decimal<6>,
    /// Events of the last 90 days.
    pub total_events: u64,
    /// The change in a week; null if there were no events then.
    #[schema(value_type = Option<f64>)]
    pub trend_7d: Option<Decimal<6>>,
}

impl From<Standing> for IdentityBrief {
    fn from(standing: Standing) -> Self {
        let Standing { overall_score, confidence, total_events, trend_7d, .. } = standing;
        Self { overall_score, confidence, total_events, trend_7d }
    }
}

impl AgentRow {
    /// The row of an agent as of a time.
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
