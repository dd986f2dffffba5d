//! Days, counted again for every read.

use std::collections::BTreeMap;

use renown_core::identity::identity_of;
use renown_core::ids::{AgentId, OrgId};
use renown_core::reputation::ReputationSummary;
use renown_core::time::{Day, Timestamp};

use super::{Memory, State};
use crate::days::{self, DayInput, DayParts, DaySums, Days};
use crate::engines::{Reply, answer};
use crate::error::StoreError;
use crate::overview::{
    Activity, AgentDays, AgentEvidence, Direction, GATE_DAYS, GateFailures, OVERVIEW_DAYS, OrgOverview,
    ScoreChange, worst_gate,
};
use crate::runs::{Run, RunQuery};
use crate::sessions::{SessionQuery, StoredSession};

impl State {
    fn days(&self, org: &OrgId, agent: &AgentId) -> Days {
        let (mut days, mut before) = (Days::new(), ReputationSummary::new(0, 0));
        for event in self.evaluations_of(org, agent) {
            let input = DayInput {
                position: event.position,
                at: event.created_at,
                passed: event.passed,
                latency: event.latency,
                before,
                score: event.standing.score,
                tool: event.tool.as_ref().map(renown_core::ids::ToolName::as_str),
                gates: &event.gates,
            };
            days::count(&mut days, &input);
            before = event.standing;
        }
        days
    }

    fn agent_days(&self, org: &OrgId, agent: &AgentId, from: Day, to: Day) -> AgentDays {
        let (mut found, mut parts) = (BTreeMap::new(), DayParts::default());
        for (day, of_day) in self.days(org, agent) {
            if (from..=to).contains(&day) {
                found.insert(day, of_day.sums);
                parts.join(&of_day.parts);
            }
        }
        AgentDays { days: found, parts }
    }

    fn changes(&self, org: &OrgId, day: Day, direction: Direction) -> Vec<ScoreChange> {
        let change = |agent: &AgentId| {
            let of_day = self.agent_days(org, agent, day, day);
            let worst_gate = worst_gate(&of_day.parts.gates);
            let sums = of_day.days.into_values().next().filter(|sums| sums.change().is_some())?;
            Some(ScoreChange { agent: agent.clone(), sums, worst_gate })
        };
        let of_org = self.agents.iter().filter(|(o, ..)| o == org);
        let changes = of_org.filter_map(|(_, agent, _)| change(agent)).collect();
        direction.largest(changes, |change: &ScoreChange| (&change.agent, change.points()))
    }

    fn overview(&self, org: &OrgId, day: Day) -> OrgOverview {
        let agents: Vec<&AgentId> =
            self.agents.iter().filter(|(o, ..)| o == org).map(|(_, agent, _)| agent).collect();
        let mut counts = BTreeMap::new();
        let (mut gates, mut before) = (DayParts::default(), DayParts::default());
        for agent in &agents {
            let evaluations_of = self.agent_days(org, agent, day.back(OVERVIEW_DAYS - 1), day);
            for (day, sums) in &evaluations_of.days {
                counts.entry(*day).or_insert_with(days::DayCounts::default).add(&sums.counts);
            }
            gates.join(&self.agent_days(org, agent, day, day).parts);
            before.join(&self.agent_days(org, agent, day.back(GATE_DAYS), day.back(1)).parts);
        }
        OrgOverview {
            agents: agents.len() as u64,
            days: counts,
            activity: BTreeMap::new(),
            rises: self.changes(org, day, Direction::Rise),
            falls: self.changes(org, day, Direction::Fall),
            gates: GateFailures::of(gates.gates, &before.gates),
        }
    }
}

impl Memory {
    async fn activity(&self, org: &OrgId, from: Day, to: Day) -> Result<BTreeMap<Day, Activity>, StoreError> {
        let limit = i32::MAX as usize;
        let sessions = self.sessions(org, SessionQuery { limit, ..SessionQuery::default() }).await?.sessions;
        let runs = self.runs(org, RunQuery { limit, ..RunQuery::default() }).await?.runs;
        let session = |session: &StoredSession| (Day::of(session.began_at), Activity::of_session(session));
        let run = |run: &Run| (Day::of(run.accepted_at), Activity::RUN);
        let mut found: BTreeMap<Day, Activity> = BTreeMap::new();
        for (day, one) in sessions.iter().map(session).chain(runs.iter().map(run)) {
            if (from..=to).contains(&day) {
                found.entry(day).or_default().add(&one);
            }
        }
        Ok(found)
    }

    async fn evidence(
        &self,
        org: &OrgId,
        agent: AgentId,
        as_of: Timestamp,
    ) -> Result<AgentEvidence, StoreError> {
        if self.agent(org, &agent).await?.is_none() {
            return Ok(AgentEvidence::default());
        }
        let windows = self.identity_windows(org, identity_of(org, &agent), as_of).await?;
        let runs = RunQuery { agent: Some(agent.clone()), limit: i32::MAX as usize, ..RunQuery::default() };
        let runs = self.runs(org, runs).await?.runs;
        let sessions = SessionQuery { agent: Some(agent), limit: 1, ..SessionQuery::default() };
        Ok(AgentEvidence {
            session: self.sessions(org, sessions).await?.sessions.pop(),
            tier: runs.iter().find(|run| run.scored.is_some()).map(Run::tier),
            identity: Some(windows).filter(|windows| windows.breakdown().standing(as_of).total_events > 0),
        })
    }
}

impl Memory {
    pub(crate) fn agent_days<'a>(
        &'a self,
        org: &OrgId,
        agent: &AgentId,
        from: Day,
        to: Day,
    ) -> Reply<'a, AgentDays> {
        let state = self.state();
        answer(state.check_org(org).map(|()| state.agent_days(org, agent, from, to)))
    }

    pub(crate) fn days_of_agents<'a>(
        &'a self,
        org: &OrgId,
        agents: Vec<AgentId>,
        from: Day,
        to: Day,
    ) -> Reply<'a, Vec<BTreeMap<Day, DaySums>>> {
        let state = self.state();
        let days = |agent: &AgentId| state.agent_days(org, agent, from, to).days;
        answer(state.check_org(org).map(|()| agents.iter().map(days).collect()))
    }

    pub(crate) fn evidence_of_agents<'a>(
        &'a self,
        org: &OrgId,
        agents: Vec<AgentId>,
        as_of: Timestamp,
    ) -> Reply<'a, Vec<AgentEvidence>> {
        let org = org.clone();
        Box::pin(async move {
            let mut found = Vec::new();
            for agent in agents {
                found.push(self.evidence(&org, agent, as_of).await?);
            }
            Ok(found)
        })
    }

    pub(crate) fn overview<'a>(&'a self, org: &OrgId, day: Day) -> Reply<'a, OrgOverview> {
        let org = org.clone();
        Box::pin(async move {
            let activity = self.activity(&org, day.back(OVERVIEW_DAYS - 1), day).await?;
            Ok(OrgOverview { activity, ..self.state().overview(&org, day) })
        })
    }
}
