//! Everything that is known of an agent, on one page.

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
use crate::runs::{RunView, TierName};
use crate::sessions::{MetricsSummary, SessionView};

/// How many of an agent's runs, and of its sessions, are shown with it.
pub const RUNS_SHOWN: usize = 10;
/// How many of an agent's sessions are shown with it.
pub const SESSIONS_SHOWN: usize = 10;

/// What a store says of an agent, as a standing needs it.
#[derive(Debug)]
pub struct AgentFacts {
    /// Whose agent it is.
    pub org: OrgId,
    /// The agent.
    pub agent: AgentId,
    /// The time that the identity's reputation is of.
    pub as_of: Timestamp,
    /// The agent in a list; `None` if it was never seen.
    pub known: Option<AgentSummary>,
    /// Who may see it.
    pub publication: Publication,
    /// The sums of its window.
    pub tally: Tally,
    /// Its latest runs, at most [`RUNS_SHOWN`].
    pub runs: Vec<Run>,
    /// Its latest sessions, at most [`SESSIONS_SHOWN`].
    pub sessions: Vec<StoredSession>,
    /// What the events of its identity add up to.
    pub identity: Windows,
}

impl AgentFacts {
    /// Everything that is known of the agent, as it is shown.
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

/// Days of the chart of an agent's score, and of a week.
pub const MONTH_DAYS: u32 = 30;
/// Days of a week.
pub const WEEK_DAYS: u32 = 7;

/// What a page about an agent shows beside its standing: its window and its days.
#[derive(Debug)]
pub struct AgentHistory {
    /// Its window.
    pub window: Window,
    /// The evaluations of its window, the latest first.
    pub latest: Vec<EvaluationView>,
    /// Its last [`MONTH_DAYS`].
    pub month: AgentBreakdown,
    /// Its last [`WEEK_DAYS`].
    pub week: AgentBreakdown,
}

impl AgentHistory {
    /// The first days of the month and of the week that end with a day.
    pub fn first_days(today: Day) -> [Day; 2] {
        [today.back(MONTH_DAYS - 1), today.back(WEEK_DAYS - 1)]
    }

    /// The history of an agent, of its latest evaluations (at most 500, the latest first) and of the days from
    /// [`Self::first_days`] on.
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
