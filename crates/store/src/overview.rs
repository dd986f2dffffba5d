//! What the pages of an organization and of an agent show, from days ([`crate::days`]) and never from single evaluations.
//!
//! The change of a score counts from the score before the day's first evaluation, and only if that score was shown. Its cause
//! is the gate that failed most on that day, else the number of failures, else the latency.
//!
//! Totals of an organization are always the sums of its agents' rows, so an erased agent leaves them as its days are deleted,
//! within a minute.

use std::collections::BTreeMap;

use renown_core::identity::Windows;
use renown_core::ids::{AgentId, OrgId};
use renown_core::scorecard::Tier;
use renown_core::time::{Day, Timestamp};

use crate::Reply;
use crate::days::{DayCounts, DayParts, DaySums};
use crate::sessions::StoredSession;

/// How many rises and falls of a day are shown.
pub const CHANGES_SHOWN: usize = 5;

/// How many days an overview goes back, its own day included.
pub const OVERVIEW_DAYS: u32 = 30;

/// How many days before its own an overview looks at to say which failing gates are new.
pub const GATE_DAYS: u32 = 7;

/// What an agent's evaluations add up to over some days.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentDays {
    /// The sums of each day that has any.
    pub days: BTreeMap<Day, DaySums>,
    /// What failed on those days.
    pub parts: DayParts,
}

impl AgentDays {
    /// The counts of all days.
    pub fn counts(&self) -> DayCounts {
        let mut counts = DayCounts::default();
        self.days.values().for_each(|day| counts.add(&day.counts));
        counts
    }
}

/// How the score of an agent changed on a day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Whose score.
    pub agent: AgentId,
    /// The day's sums, which have the scores before and after.
    pub sums: DaySums,
    /// The gate that failed most on that day, and how often.
    pub worst_gate: Option<(Box<str>, u64)>,
}

impl Change {
    /// By how many points; 0 if the score before is not known.
    pub fn points(&self) -> i64 {
        self.sums.change().unwrap_or_default()
    }
}

/// The gate that failed most often; of equals the first by name.
pub(crate) fn worst_gate(gates: &BTreeMap<Box<str>, u64>) -> Option<(Box<str>, u64)> {
    let worst = gates.iter().min_by_key(|(gate, failed)| (std::cmp::Reverse(**failed), *gate));
    worst.map(|(gate, failed)| (gate.clone(), *failed))
}

/// Which of the changes of a day are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Rise,
    Fall,
}

impl Direction {
    /// The largest changes in this direction, the largest first and equal ones by name.
    pub(crate) fn largest<T>(self, mut changes: Vec<T>, of: impl Fn(&T) -> (&AgentId, i64)) -> Vec<T> {
        let size = |change: &T| match self {
            Self::Rise => of(change).1,
            Self::Fall => -of(change).1,
        };
        changes.retain(|change| size(change) > 0);
        changes.sort_by(|a, b| (size(b), of(a).0).cmp(&(size(a), of(b).0)));
        changes.truncate(CHANGES_SHOWN);
        changes
    }
}

/// A gate and the evaluations that it failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateFailures {
    /// The gate.
    pub gate: Box<str>,
    /// On the day.
    pub failed: u64,
    /// On the [`GATE_DAYS`] days before.
    pub failed_before: u64,
}

impl GateFailures {
    /// The failures of a day beside those of the days before it, the most first and equal ones by name.
    pub(crate) fn of(day: BTreeMap<Box<str>, u64>, before: &BTreeMap<Box<str>, u64>) -> Vec<Self> {
        let failures = |(gate, failed): (Box<str>, u64)| {
            let failed_before = before.get(&gate).copied().unwrap_or_default();
            Self { gate, failed, failed_before }
        };
        let mut gates: Vec<Self> = day.into_iter().map(failures).collect();
        gates.sort_by(|a, b| (b.failed, &a.gate).cmp(&(a.failed, &b.gate)));
        gates
    }
}

/// The most that one session adds to the cost of a day, in nano-dollars: 10 000 dollars. No cost that was made up can overflow a sum.
pub(crate) const SESSION_COST_NANO_MAX: u64 = 10_000_000_000_000;

/// Sessions and runs of a day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    /// Sessions that began on the day.
    pub sessions: u64,
    /// What they cost in nano-dollars, each at most 10 000 dollars.
    pub cost_nano: u64,
    /// Runs that were accepted on the day.
    pub runs: u64,
}

impl Activity {
    /// Adds that of another day.
    pub fn add(&mut self, other: &Self) {
        self.sessions += other.sessions;
        self.cost_nano += other.cost_nano;
        self.runs += other.runs;
    }
}

/// What an organization's first page shows beside the list of its agents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OrgOverview {
    /// How many agents there are.
    pub agents: u64,
    /// The counts of each day that has any, of the last [`OVERVIEW_DAYS`].
    pub days: BTreeMap<Day, DayCounts>,
    /// Sessions and runs of each day that has any, of the same days.
    pub activity: BTreeMap<Day, Activity>,
    /// The largest rises of the day.
    pub rises: Vec<Change>,
    /// The largest falls of the day.
    pub falls: Vec<Change>,
    /// The gates that failed on the day.
    pub gates: Vec<GateFailures>,
}

/// What is known of an agent beside its evaluations, as a list shows it.
#[derive(Clone, Debug, Default)]
pub struct AgentEvidence {
    /// The session that began last, without its traces.
    pub session: Option<StoredSession>,
    /// The tier of the last run that has a score.
    pub tier: Option<Tier>,
    /// What the events of its identity add up to; `None` without an event.
    pub identity: Option<Windows>,
}

/// What lists and pages show, prepared by writes.
pub trait PageStore: Send + Sync + 'static {
    /// The days of an agent from one to another, both included, and what failed on them. Nothing of an agent that was never seen.
    fn agent_days<'a>(&'a self, org: &OrgId, agent: &AgentId, from: Day, to: Day) -> Reply<'a, AgentDays>;

    /// The sums of the days of several agents, in the order in which they are named.
    fn days_of_agents<'a>(
        &'a self,
        org: &OrgId,
        agents: Vec<AgentId>,
        from: Day,
        to: Day,
    ) -> Reply<'a, Vec<BTreeMap<Day, DaySums>>>;

    /// What is known of several agents beside their evaluations, in the order in which they are named.
    fn evidence_of_agents<'a>(
        &'a self,
        org: &OrgId,
        agents: Vec<AgentId>,
        as_of: Timestamp,
    ) -> Reply<'a, Vec<AgentEvidence>>;

    /// The overview of an organization on a day.
    fn overview<'a>(&'a self, org: &OrgId, day: Day) -> Reply<'a, OrgOverview>;
}
