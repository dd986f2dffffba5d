//! Reads the overview of an organization from the rows of days.

use std::collections::{BTreeMap, HashSet};

use renown_core::identity::identity_of;
use renown_core::ids::{AgentId, IdentityId, OrgId};
use renown_core::scorecard::Tier;
use renown_core::time::{Day, Timestamp};
use rusqlite::{Connection, params};

use super::agent_cache::Unsettled;
use super::days::{self, DaysOf};
use super::orgs::OrgKey;
use super::readers::Deadline;
use super::rows::text;
use super::{Sqlite, agents, answer, identities, runs, sessions};
use crate::days::{DayCounts, DaySums, Days};
use crate::engines::Reply;
use crate::error::StoreError;
use crate::overview::{
    Activity, AgentDays, AgentEvidence, CHANGES_SHOWN, Direction, GATE_DAYS, GateFailures, OVERVIEW_DAYS,
    OrgOverview, ScoreChange, worst_gate,
};
use crate::sessions::SessionQuery;

/// The days of agents that were not settled when the read transaction began, with the numbers of the agents.
pub(super) type UnsettledDays = Vec<(AgentId, Option<(i64, Days)>)>;

/// Returns the overview of an organization for a day.
pub(super) fn read(
    connection: &Connection,
    org: OrgKey,
    day: Day,
    unsettled: UnsettledDays,
    deadline: &Deadline,
) -> Result<OrgOverview, StoreError> {
    let mut behind = Vec::new();
    for (agent, days) in unsettled {
        deadline.check()?;
        if let Some(row) = agents::find(connection, org, &agent)? {
            let days = DaysOf::new(org, row, days);
            behind.push((agent, days));
        }
    }
    let of_day = |number: Day| behind.iter().filter_map(move |(_, days)| days.unsettled.get(&number));
    let mut gates = days::org_gates(connection, org, day, day)?;
    of_day(day).for_each(|part| add_gates(&mut gates, &part.parts.gates));
    let (first, last) = (day.back(GATE_DAYS), day.back(1));
    let mut before = days::org_gates(connection, org, first, last)?;
    for (_, days) in &behind {
        days.unsettled.range(first..=last).for_each(|(_, part)| add_gates(&mut before, &part.parts.gates));
    }
    let mut counts = days::org_counts(connection, org, day.back(OVERVIEW_DAYS - 1), day)?;
    for (_, days) in &behind {
        for (number, part) in days.unsettled.range(day.back(OVERVIEW_DAYS - 1)..=day) {
            counts.entry(*number).or_insert_with(DayCounts::default).add(&part.sums.counts);
        }
    }
    Ok(OrgOverview {
        agents: agents::count(connection, org)?,
        days: counts,
        activity: activity(connection, org, day.back(OVERVIEW_DAYS - 1), day)?,
        rises: changes(connection, org, day, &behind, Direction::Rise)?,
        falls: changes(connection, org, day, &behind, Direction::Fall)?,
        gates: GateFailures::of(gates, &before),
    })
}

/// Returns the sessions and runs of the days from one to another, both included.
fn activity(
    connection: &Connection,
    org: OrgKey,
    from: Day,
    to: Day,
) -> Result<BTreeMap<Day, Activity>, StoreError> {
    let mut select = connection.prepare_cached(
        "SELECT day, sessions, cost_nano, runs FROM org_activity \
         WHERE org = ?1 AND day BETWEEN ?2 AND ?3 AND (sessions <> 0 OR runs <> 0)",
    )?;
    let mut rows = select.query(params![org, from.number(), to.number()])?;
    let mut found = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let activity = Activity { sessions: row.get(1)?, cost_nano: row.get(2)?, runs: row.get(3)? };
        found.insert(days::day(row.get(0)?)?, activity);
    }
    Ok(found)
}

fn add_gates(to: &mut BTreeMap<Box<str>, u64>, from: &BTreeMap<Box<str>, u64>) {
    for (gate, failed) in from {
        *to.entry(gate.clone()).or_default() += failed;
    }
}

/// Returns the evidence of an agent other than evaluations.
pub(super) fn evidence(
    connection: &Connection,
    org: OrgKey,
    identity: IdentityId,
    agent: AgentId,
    as_of: Timestamp,
    deadline: &Deadline,
) -> Result<AgentEvidence, StoreError> {
    deadline.check()?;
    let windows = identities::windows(connection, org, identity, as_of)?;
    let Some(number) = agents::find(connection, org, &agent)?.map(|row| row.agent) else {
        return Ok(AgentEvidence::default());
    };
    let query = SessionQuery { agent: Some(agent), limit: 1, ..SessionQuery::default() };
    Ok(AgentEvidence {
        session: sessions::page(connection, org, &query, deadline)?.sessions.pop(),
        tier: runs::last_score(connection, number)?.map(Tier::of),
        identity: Some(windows).filter(|windows| windows.breakdown().standing(as_of).total_events > 0),
    })
}

/// Returns the largest changes of a day in one direction, from the rows and from the agents whose rows are behind.
fn changes(
    connection: &Connection,
    org: OrgKey,
    day: Day,
    behind: &[(AgentId, DaysOf)],
    direction: Direction,
) -> Result<Vec<ScoreChange>, StoreError> {
    let behind: Vec<&(AgentId, DaysOf)> =
        behind.iter().filter(|(_, days)| days.unsettled.contains_key(&day)).collect();
    let is_behind: HashSet<i64> = behind.iter().map(|(_, days)| days.agent).collect();
    let order = match direction {
        Direction::Rise => "d.change > 0 ORDER BY d.change DESC",
        Direction::Fall => "d.change < 0 ORDER BY d.change",
    };
    let mut select = connection.prepare_cached(&format!(
        "SELECT a.name, d.agent, d.change FROM agent_days d CROSS JOIN agents a ON a.agent = d.agent \
         WHERE d.org = ?1 AND d.day = ?2 AND d.score_before IS NOT NULL AND {order}"
    ))?;
    let mut rows = select.query(params![org, day.number()])?;
    let mut found: Vec<(AgentId, DaysOf, i64)> = Vec::new();
    let mut last = None;
    while let Some(row) = rows.next()? {
        let (agent, change): (i64, i64) = (row.get(1)?, row.get(2)?);
        // Equal changes are sorted by name, so all changes of the same size as the last one are needed.
        if found.len() >= CHANGES_SHOWN && last != Some(change) {
            break;
        }
        if !is_behind.contains(&agent) {
            last = Some(change);
            let days = DaysOf { org, agent, unsettled: Days::new() };
            found.push((text(row, 0, "an agent id")?, days, change));
        }
    }
    for (agent, days) in behind {
        let sums = days.sums(connection, day, day)?;
        if let Some(change) = sums.get(&day).and_then(DaySums::change) {
            found.push((agent.clone(), days.clone(), change));
        }
    }
    let largest = direction.largest(found, |(agent, _, change)| (agent, *change));
    let change = |(agent, days, _): (AgentId, DaysOf, i64)| {
        let parts = days.parts(connection, day, day, &Deadline::NONE)?;
        let sums = days.sums(connection, day, day)?.remove(&day);
        let worst_gate = worst_gate(&parts.gates);
        Ok(sums.map(|sums| ScoreChange { agent, sums, worst_gate }))
    };
    largest.into_iter().filter_map(|found| change(found).transpose()).collect()
}

impl Sqlite {
    pub(crate) fn agent_days<'a>(
        &'a self,
        org: &OrgId,
        agent: &AgentId,
        from: Day,
        to: Day,
    ) -> Reply<'a, AgentDays> {
        self.read_days(org, agent, move |connection, days, deadline| {
            days.read(connection, from, to, deadline)
        })
    }

    pub(crate) fn days_of_agents<'a>(
        &'a self,
        org: &OrgId,
        agents: Vec<AgentId>,
        from: Day,
        to: Day,
    ) -> Reply<'a, Vec<BTreeMap<Day, DaySums>>> {
        let org = match self.orgs.get(org) {
            Ok(org) => org,
            Err(error) => return answer(Err(error)),
        };
        // Get this before the read transaction begins: if an agent is settled in between, the file has it.
        let unsettled = |agent: AgentId| {
            let days = self.agent_cache.unsettled(&(org, agent.clone())).map(Unsettled::into_days);
            (agent, days)
        };
        let agents: UnsettledDays = agents.into_iter().map(unsettled).collect();
        self.readers.run(move |connection, deadline| {
            let sums = |(agent, days): (AgentId, Option<(i64, Days)>)| {
                deadline.check()?;
                let Some(row) = agents::find(connection, org, &agent)? else { return Ok(BTreeMap::new()) };
                DaysOf::new(org, row, days).sums(connection, from, to)
            };
            agents.into_iter().map(sums).collect()
        })
    }

    pub(crate) fn evidence_of_agents<'a>(
        &'a self,
        org: &OrgId,
        agents: Vec<AgentId>,
        as_of: Timestamp,
    ) -> Reply<'a, Vec<AgentEvidence>> {
        let key = match self.orgs.get(org) {
            Ok(key) => key,
            Err(error) => return answer(Err(error)),
        };
        let identified = |agent: AgentId| (identity_of(org, &agent), agent);
        let agents: Vec<(IdentityId, AgentId)> = agents.into_iter().map(identified).collect();
        self.readers.run(move |connection, deadline| {
            let agents = agents.into_iter();
            agents
                .map(|(identity, agent)| evidence(connection, key, identity, agent, as_of, deadline))
                .collect()
        })
    }

    pub(crate) fn overview<'a>(&'a self, org: &OrgId, day: Day) -> Reply<'a, OrgOverview> {
        let org = match self.orgs.get(org) {
            Ok(org) => org,
            Err(error) => return answer(Err(error)),
        };
        let behind = self.agent_cache.unsettled_of(org).into_iter();
        let unsettled = behind.map(|(agent, unsettled)| (agent, Some(unsettled.into_days()))).collect();
        self.readers.run(move |connection, deadline| read(connection, org, day, unsettled, deadline))
    }
}
