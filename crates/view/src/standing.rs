//! Everything that is known of an agent, on one page.

use renown_core::ids::{AgentId, IdentityId, Slug};
use renown_core::scorecard::Tier;
use renown_core::time::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use crate::reputation::{IdentityView, ReputationView};
use crate::runs::{RunView, TierName};
use crate::sessions::{MetricsSummary, SessionView};

/// Everything that is known of an agent.
#[derive(Serialize, ToSchema)]
#[schema(as = AgentStanding)]
pub struct AgentStanding<'s> {
    /// Its id.
    #[schema(value_type = String)]
    pub agent_id: &'s AgentId,
    /// The identity of the agent, a UUIDv5 of its organization and id.
    #[schema(value_type = String, format = Uuid)]
    pub identity_id: IdentityId,
    /// Null if it was never seen.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub first_seen: Option<Timestamp>,
    /// Null if it was never seen.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub last_seen: Option<Timestamp>,
    /// Whether it is shown to everybody.
    pub public: bool,
    /// The name under which it is.
    #[schema(value_type = Option<String>)]
    pub slug: Option<Slug>,
    /// Its reputation.
    pub reputation: ReputationView<'s>,
    /// The long-term reputation of its identity.
    pub identity_reputation: IdentityView,
    /// That of its latest run with a score.
    #[schema(value_type = TierName)]
    pub tier: Tier,
    /// Its latest runs.
    pub runs: Vec<RunView<'s>>,
    /// Its latest sessions.
    pub sessions: Vec<SessionView<'s>>,
    /// What the traces of its latest session say, in short; null without one.
    pub metrics: Option<MetricsSummary>,
}
