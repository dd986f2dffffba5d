//! What the pages of an organization and of an agent show. It is read from days ([`crate::days`]), never from
//! single evaluations.
//!
//! The change of a score on a day counts from the score before the first evaluation of that day, and only if that
//! score was shown. Its cause is the gate that failed most on that day, else the number of failures, else the
//! latency.
//!
//! The totals of an organization are always the sums of its agents' rows. So an erased agent leaves them when its
//! days are deleted, within a minute.

use std::collections::BTreeMap;

use renown_core::identity::Windows;
use renown_core::ids::AgentId;
use renown_core::scorecard::Tier;
use renown_core::time::Day;
use renown_core::units::NanoUsd;
use renown_telemetry::ledger::Session;

use crate::days::{DayCounts, DayParts, DaySums};
use crate::sessions::StoredSession;

/// Maximum number of rises, and of falls, that an overview shows.
pub const CHANGES_SHOWN: usize = 5;

/// Number of days of an overview, including its own day.
pub const OVERVIEW_DAYS: u32 = 30;

/// Number of days before its own day in which an overview looks for failures of a gate, to show which failing gates
/// are new.
pub const GATE_DAYS: u32 = 7;

/// The sums of an agent's evaluations over some days.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentDays {
    /// The sums of each day that has evaluations.
    pub days: BTreeMap<Day, DaySums>,
    /// What failed on those days.
    pub parts: DayParts,
}

impl AgentDays {
    /// Returns the counts of all days together.
    pub fn counts(&self) -> DayCounts {
        let mut counts = DayCounts::default();
        self.days.values().for_each(|day| counts.add(&day.counts));
        counts
    }
}

/// The change of an agent's score on a day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScoreChange {
    /// The agent.
    pub agent: AgentId,
    /// The sums of the day, which contain the scores before and after it.
    pub sums: DaySums,
    /// The gate that failed most on that day, and how often.
    pub worst_gate: Option<(Box<str>, u64)>,
}

impl ScoreChange {
    /// Returns the change in points; 0 if the score before is not known.
    pub fn points(&self) -> i64 {
        self.sums.change().unwrap_or_default()
    }
}

/// Returns the gate that failed most often; of equal ones, the first by name.
pub(crate) fn worst_gate(gates: &BTreeMap<Box<str>, u64>) -> Option<(Box<str>, u64)> {
    let worst = gates.iter().min_by_key(|(gate, failed)| (std::cmp::Reverse(**failed), *gate));
    worst.map(|(gate, failed)| (gate.clone(), *failed))
}

/// The direction of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Rise,
    Fall,
}

impl Direction {
    /// Returns the largest changes in this direction, the largest first and equal ones by name.
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

/// A gate, and how many evaluations it failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateFailures {
    /// The gate.
    pub gate: Box<str>,
    /// Failures on the day.
    pub failed: u64,
    /// Failures on the [`GATE_DAYS`] days before.
    pub failed_before: u64,
}

impl GateFailures {
    /// Joins the failures of a day with those of the days before it, the most first and equal ones by name.
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

/// The most that one session adds to the cost of a day, in nano-dollars: 10 000 dollars. So no invented cost can
/// overflow a sum.
pub(crate) const SESSION_COST_NANO_MAX: u64 = 10_000_000_000_000;

/// Sessions and runs of a day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    /// Sessions that began on the day.
    pub sessions: u64,
    /// Their cost in nano-dollars, at most 10 000 dollars per session.
    pub cost_nano: u64,
    /// Runs that were accepted on the day.
    pub runs: u64,
}

impl Activity {
    /// One run.
    pub(crate) const RUN: Self = Self { sessions: 0, cost_nano: 0, runs: 1 };

    /// Returns the activity of one session.
    pub(crate) fn of_session(session: &StoredSession) -> Self {
        let cost = session.ledger.as_ref().and_then(Session::cost).map(NanoUsd::nano).unwrap_or_default();
        let cost_nano = u64::try_from(cost).unwrap_or(u64::MAX).min(SESSION_COST_NANO_MAX);
        Self { sessions: 1, cost_nano, runs: 0 }
    }

    /// Adds the activity of another day.
    pub fn add(&mut self, other: &Self) {
        self.sessions += other.sessions;
        self.cost_nano += other.cost_nano;
        self.runs += other.runs;
    }
}

/// What the first page of an organization shows besides its list of agents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OrgOverview {
    /// Number of agents.
    pub agents: u64,
    /// The counts of each of the last [`OVERVIEW_DAYS`] days that has evaluations.
    pub days: BTreeMap<Day, DayCounts>,
    /// Sessions and runs of each of these days that has any.
    pub activity: BTreeMap<Day, Activity>,
    /// The largest rises of the day.
    pub rises: Vec<ScoreChange>,
    /// The largest falls of the day.
    pub falls: Vec<ScoreChange>,
    /// The gates that failed on the day.
    pub gates: Vec<GateFailures>,
}

/// The evidence of an agent other than evaluations, as a list shows it.
#[derive(Clone, Debug, Default)]
pub struct AgentEvidence {
    /// The session that began last, without its traces.
    pub session: Option<StoredSession>,
    /// The tier of its last run that has a score.
    pub tier: Option<Tier>,
    /// The sums of its identity's events; `None` without an event.
    pub identity: Option<Windows>,
}
