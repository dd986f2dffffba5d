//! Everything known about an agent, on one page.

use renown_core::identity::{Windows, identity_of};
use renown_core::ids::{AgentId, IdentityId, OrgId, Slug};
use renown_core::reputation::{Tally, Window};
use renown_core::scorecard::Tier;
use renown_core::time::{Day, Timestamp};
use renown_store::{AgentDays, AgentSummary, Publication, Run, StoredEvaluation, StoredSession};
use serde::Serialize;
use utoipa::ToSchema;

use crate::breakdown::AgentBreakdown;
use crate::evaluations::EvaluationView;
use crate::reputation::{IdentityView, ReputationView};
use crate::runs::RunView;
use crate::sessions::{MetricsSummary, SessionView};

/// Number of an agent's latest runs in its standing.
pub const RUNS_SHOWN: usize = 10;
/// Number of an agent's latest sessions in its standing.
pub const SESSIONS_SHOWN: usize = 10;

/// What a store knows about an agent: the input of [`AgentStanding`].
#[derive(Debug)]
pub struct AgentFacts {
    /// Organization of the agent.
    pub org: OrgId,
    /// Id of the agent.
    pub agent: AgentId,
    /// Time of the identity's reputation.
    pub as_of: Timestamp,
    /// Row of the agent; `None` if the agent is unknown.
    pub known: Option<AgentSummary>,
    /// Whether the agent is public, and under which name.
    pub publication: Publication,
    /// Sums of the agent's window.
    pub tally: Tally,
    /// Latest runs, at most [`RUNS_SHOWN`].
    pub runs: Vec<Run>,
    /// Latest sessions, at most [`SESSIONS_SHOWN`].
    pub sessions: Vec<StoredSession>,
    /// Sums of the identity's events.
    pub identity: Windows,
}

impl AgentFacts {
    /// Builds the standing of the agent.
    pub fn standing(&self) -> AgentStanding<'_> {
        let identity_id = identity_of(&self.org, &self.agent);
        let scored = self.runs.iter().find(|run| run.scored.is_some());
        AgentStanding {
            agent_id: &self.agent,
            identity_id,
            first_seen: self.known.as_ref().map(|known| known.first_seen),
            last_seen: self.known.as_ref().map(|known| known.last_seen),
            public: self.publication.public,
            slug: self.publication.slug.clone(),
            reputation: ReputationView::of(&self.agent, &self.tally.record()),
            identity_reputation: IdentityView::of(
                identity_id,
                &self.identity.breakdown().standing(self.as_of),
            ),
            tier: scored.map_or(Tier::Unranked, Run::tier),
            runs: self.runs.iter().map(RunView::of).collect(),
            metrics: self.sessions.first().map(MetricsSummary::of_session),
            sessions: self.sessions.iter().map(SessionView::of).collect(),
        }
    }
}

/// Number of days in [`AgentHistory::month`].
pub const MONTH_DAYS: u32 = 30;
/// Number of days in [`AgentHistory::week`].
pub const WEEK_DAYS: u32 = 7;

/// The parts of an agent's page that are not in its standing: its window and its days.
#[derive(Debug)]
pub struct AgentHistory {
    /// Window of the agent.
    pub window: Window,
    /// Evaluations of the window, latest first.
    pub latest: Vec<EvaluationView>,
    /// The last [`MONTH_DAYS`] days.
    pub month: AgentBreakdown,
    /// The last [`WEEK_DAYS`] days.
    pub week: AgentBreakdown,
}

impl AgentHistory {
    /// Returns the first days of the month and of the week that end today.
    pub fn first_days(today: Day) -> [Day; 2] {
        [today.back(MONTH_DAYS - 1), today.back(WEEK_DAYS - 1)]
    }

    /// Builds the history of an agent from its latest evaluations (at most 500, latest first) and from the days since
    /// [`Self::first_days`].
    pub fn of(
        agent: &AgentId,
        today: Day,
        latest: &[StoredEvaluation],
        month: AgentDays,
        week: AgentDays,
    ) -> Self {
        let [month_from, week_from] = Self::first_days(today);
        Self {
            window: latest.iter().rev().map(StoredEvaluation::sample).collect(),
            latest: latest.iter().map(EvaluationView::of).collect(),
            month: AgentBreakdown::of(agent.clone(), month_from, today, month),
            week: AgentBreakdown::of(agent.clone(), week_from, today, week),
        }
    }
}

/// Everything known about an agent.
#[derive(Serialize, ToSchema)]
#[schema(as = AgentStanding)]
pub struct AgentStanding<'s> {
    /// Id of the agent.
    pub agent_id: &'s AgentId,
    /// Identity of the agent: a UUIDv5 of its organization and id.
    pub identity_id: IdentityId,
    /// Time when the agent was first named; null if the agent is unknown.
    pub first_seen: Option<Timestamp>,
    /// Time when evidence of the agent was last accepted; null if the agent is unknown.
    pub last_seen: Option<Timestamp>,
    /// Whether the agent has a public page.
    pub public: bool,
    /// Name in the address of the public page.
    pub slug: Option<Slug>,
    /// Reputation of the agent.
    pub reputation: ReputationView<'s>,
    /// Long-term reputation of the agent's identity.
    pub identity_reputation: IdentityView,
    /// Tier of the latest run with a score.
    pub tier: Tier,
    /// Latest runs.
    pub runs: Vec<RunView<'s>>,
    /// Latest sessions.
    pub sessions: Vec<SessionView<'s>>,
    /// Metrics of the latest session, in short; null without a session.
    pub metrics: Option<MetricsSummary>,
}
