//! Replays evaluations, and compares what agents have.

use std::collections::HashMap;

use renown_core::ids::{AgentId, OrgId, ToolName};
use renown_core::reputation::{ReputationSummary, WINDOW_SIZE, Window};
use renown_core::time::{Day, Timestamp};

use super::totals::Totals;
use super::{Compared, Difference, Found, Group, Verified, differs};
use crate::admin::LatencySource;
use crate::days::{self, DayInput, DayParts, Days};
use crate::error::ReadError;
use crate::evidence::{Position, StoredEvaluation};
use crate::query::{AgentQuery, AgentSort, AgentSummary};
use crate::traits::{ReadOnlyStore, SCAN_MAX, scan_all};

/// Number of agents per read.
const PAGE: usize = 500;

/// An agent after some of its evaluations.
#[derive(Default)]
struct Replayed {
    window: Window,
    first: Option<Position>,
    /// Whether its first evaluations were deleted.
    is_cut: bool,
    before: Option<ReputationSummary>,
    days: Days,
}

impl Replayed {
    /// Counts one evaluation. Returns what is stored wrong with it.
    fn add(&mut self, evaluation: &StoredEvaluation) -> Option<Found> {
        let StoredEvaluation { latency, gate_latency, agent_latency, standing, .. } = evaluation;
        let possible = [LatencySource::Gate, LatencySource::Agent].map(|source| match source {
            LatencySource::Gate => *gate_latency,
            LatencySource::Agent => agent_latency.unwrap_or(*gate_latency),
        });
        if !possible.contains(latency) {
            return Some(("the latency that counts", format!("{latency:?}"), format!("one of {possible:?}")));
        }
        if self.first.is_none() {
            self.first = Some(evaluation.position);
            self.is_cut = standing.eval_count > 1;
        }
        self.window.push(evaluation.sample());
        let tally = self.window.tally();
        let fresh = tally.standing();
        self.count_day(evaluation);
        if self.is_cut && tally.evaluations() < WINDOW_SIZE as u64 {
            return None;
        }
        let counts = ("the number of evaluations after it", &standing.eval_count, &fresh.eval_count);
        differs("the score after it", &standing.score, &fresh.score)
            .or_else(|| differs(counts.0, counts.1, counts.2))
    }

    fn count_day(&mut self, evaluation: &StoredEvaluation) {
        let before = self.before.replace(evaluation.standing);
        let input = DayInput {
            position: evaluation.position,
            at: evaluation.created_at,
            passed: evaluation.passed,
            latency: evaluation.latency,
            before: before.unwrap_or_else(|| ReputationSummary::new(0, 0)),
            score: evaluation.standing.score,
            tool: evaluation.tool.as_ref().map(ToolName::as_str),
            gates: &evaluation.gates,
        };
        days::count(&mut self.days, &input);
    }
}

/// Compares all agents of an organization.
pub(super) async fn compare(
    store: &dyn ReadOnlyStore,
    org: &OrgId,
    verified: &mut Verified,
    totals: &mut Totals,
    report: &mut dyn FnMut(u64),
) -> Compared {
    let agents = count(store, org).await?;
    for group in Group::all(agents) {
        let mut replayed = match replay(store, org, group, verified, report).await? {
            Ok(replayed) => replayed,
            Err(found) => return Ok(Err(found)),
        };
        let mut query = AgentQuery { sort: AgentSort::Name, limit: PAGE, ..AgentQuery::default() };
        loop {
            let page = store.agents(org, query.clone()).await?;
            let agents: Vec<AgentSummary> =
                page.agents.into_iter().filter(|agent| group.contains(&agent.agent)).collect();
            if let Err(found) = compare_page(store, org, agents, &mut replayed, verified, totals).await? {
                return Ok(Err(found));
            }
            query.after = page.next;
            if query.after.is_none() {
                break;
            }
        }
        if let Some(orphan) = replayed.into_keys().min() {
            let found = ("the agent", "missing".to_owned(), "present".to_owned());
            return Ok(Err(Difference::of_agent(org, &orphan, found)));
        }
    }
    Ok(Ok(()))
}

/// Counts the agents of an organization.
async fn count(store: &dyn ReadOnlyStore, org: &OrgId) -> Result<u64, ReadError> {
    Ok(store.overview(org, Day::of(Timestamp::MAX)).await?.agents)
}

/// Replays the evaluations of the agents of a group. Returns the agents, or the first difference.
async fn replay(
    store: &dyn ReadOnlyStore,
    org: &OrgId,
    group: Group,
    verified: &mut Verified,
    report: &mut dyn FnMut(u64),
) -> Result<Result<HashMap<AgentId, Replayed>, Box<Difference>>, ReadError> {
    let mut replayed: HashMap<AgentId, Replayed> = HashMap::new();
    let mut difference = None;
    let part = |after| store.scan_evaluations(org, after, SCAN_MAX);
    scan_all(part, |evaluation: StoredEvaluation| {
        if !group.contains(&evaluation.agent) {
            return true;
        }
        verified.evaluations += 1;
        if verified.evaluations.is_multiple_of(10_000) {
            report(verified.evaluations);
        }
        let agent = match replayed.get_mut(&evaluation.agent) {
            Some(agent) => agent,
            None => replayed.entry(evaluation.agent.clone()).or_default(),
        };
        if let Some(found) = agent.add(&evaluation) {
            let evaluation_id = Some(evaluation.id.to_string());
            let of_agent = *Difference::of_agent(org, &evaluation.agent, found);
            difference = Some(Box::new(Difference { evaluation: evaluation_id, ..of_agent }));
        }
        difference.is_none()
    })
    .await?;
    Ok(difference.map_or(Ok(replayed), Err))
}

/// Compares a page of agents with their replays.
async fn compare_page(
    store: &dyn ReadOnlyStore,
    org: &OrgId,
    agents: Vec<AgentSummary>,
    replayed: &mut HashMap<AgentId, Replayed>,
    verified: &mut Verified,
    totals: &mut Totals,
) -> Compared {
    let (from, to) = (Day::of(Timestamp::MIN), Day::of(Timestamp::MAX));
    let names = agents.iter().map(|agent| agent.agent.clone()).collect();
    let days = store.days_of_agents(org, names, from, to).await?;
    for (agent, kept_days) in agents.into_iter().zip(days) {
        let fresh = replayed.remove(&agent.agent).unwrap_or_default();
        let mut found = differs("the sums of the window", &agent.tally, &fresh.window.tally());
        // A day that contains the first evaluation that is left may contain deleted ones.
        let is_whole = |first: Position| !fresh.is_cut || fresh.first.is_none_or(|cut| first > cut);
        for (day, sums) in &kept_days {
            totals.add_day(*day, &sums.counts);
            let fresh = fresh.days.get(day).map(|day| day.sums);
            if found.is_none() && is_whole(sums.first_position) {
                found = differs("the sums of a day", &Some(*sums), &fresh);
            }
        }
        if !fresh.is_cut && found.is_none() {
            let mut parts = DayParts::default();
            fresh.days.values().for_each(|day| parts.join(&day.parts));
            let kept = store.agent_days(org, &agent.agent, from, to).await?;
            let missing = fresh.days.keys().find(|day| !kept_days.contains_key(*day));
            found = missing
                .map(|day| ("the sums of a day", format!("no row for day {day:?}"), "one".to_owned()))
                .or_else(|| differs("the failures of a gate on a day", &kept.parts.gates, &parts.gates))
                .or_else(|| differs("the counts of a tool on a day", &kept.parts.tools, &parts.tools));
        }
        if let Some(found) = found {
            return Ok(Err(Difference::of_agent(org, &agent.agent, found)));
        }
        verified.agents += 1;
    }
    Ok(Ok(()))
}
