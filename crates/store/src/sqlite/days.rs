//! Reads, writes and deletes the rows of days. Their meaning is in [`crate::days`].

mod rebuild;

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use renown_core::time::{Day, Timestamp};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row, params, params_from_iter};

use super::agents::AgentState;
use super::orgs::OrgKey;
use super::readers::Deadline;
use super::rows::{time, walk};
use crate::days::{
    AgentDay, DayCounts, DayParts, DaySums, Days, LATENCY_BUCKETS, Last, Latencies, ToolCount,
};
use crate::error::StoreError;
use crate::evidence::Position;
use crate::history::{HistorySteps, Point, PointBuilder};
use crate::overview::AgentDays;

pub(super) use rebuild::{COUNT_AGAIN, fold, rebuild, unsettled};

/// The columns of [`DayCounts`], in the order in which [`counts`] reads them.
pub(super) const COUNTS: &str = "evaluations, passed, latency_us, took0, took1, took2, took3, took4, took5, took6, took7, took8, took9, \
     took10, took11";

/// The columns of [`DaySums`] after the counts, in the order in which [`sums`] reads them.
const SCORES: &str =
    "first_at, last_at, last_seq, score_last, score_min, score_max, first_seq, top_seq, score_before";

/// Number of columns in [`COUNTS`].
const COUNTS_LEN: usize = 3 + LATENCY_BUCKETS;

/// Finds one day of an agent.
static FIND_DAY: LazyLock<String> = LazyLock::new(|| {
    format!("SELECT {COUNTS}, {SCORES} FROM agent_days WHERE org = ?1 AND day = ?2 AND agent = ?3")
});

/// Writes one day of an agent over the row that exists.
static WRITE_DAY: LazyLock<String> = LazyLock::new(|| {
    upsert("agent_days", "org, day, agent", &format!("{COUNTS}, {SCORES}"), |name| format!("excluded.{name}"))
});

/// Adds to one day of an organization.
static ADD_ORG_DAY: LazyLock<String> =
    LazyLock::new(|| upsert("org_days", "org, day", COUNTS, |name| format!("{name} + excluded.{name}")));

fn upsert(table: &str, key: &str, columns: &str, value: impl Fn(&str) -> String) -> String {
    let marks = vec!["?"; key.split(", ").count() + columns.split(", ").count()].join(", ");
    let set: Vec<String> = columns.split(", ").map(|name| format!("{name} = {}", value(name))).collect();
    let set = set.join(", ");
    format!("INSERT INTO {table} ({key}, {columns}) VALUES ({marks}) ON CONFLICT DO UPDATE SET {set}")
}

fn counts(row: &Row<'_>, column: usize) -> Result<DayCounts, StoreError> {
    let mut latencies = Latencies::default();
    for (index, count) in latencies.iter_mut().enumerate() {
        *count = row.get(column + 3 + index)?;
    }
    Ok(DayCounts {
        evaluations: row.get(column)?,
        passed: row.get(column + 1)?,
        latency_us: row.get(column + 2)?,
        latencies,
    })
}

fn sums(row: &Row<'_>, column: usize) -> Result<DaySums, StoreError> {
    let scores = column + COUNTS_LEN;
    Ok(DaySums {
        counts: counts(row, column)?,
        first_at: time(row.get(scores)?)?,
        last: Last {
            at: time(row.get(scores + 1)?)?,
            position: Position::of(row.get(scores + 2)?),
            score: row.get(scores + 3)?,
        },
        score_min: row.get(scores + 4)?,
        score_max: row.get(scores + 5)?,
        first_position: Position::of(row.get(scores + 6)?),
        top_position: Position::of(row.get(scores + 7)?),
        score_before: row.get(scores + 8)?,
    })
}

pub(super) fn day(number: i64) -> Result<Day, StoreError> {
    Day::from_number(number).ok_or_else(|| StoreError::Damaged(format!("a day with the number {number}")))
}

fn whole(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Returns the counts as values of a statement, to add (`sign` 1) or to subtract (-1).
fn count_values(counts: &DayCounts, sign: i64) -> impl Iterator<Item = Value> {
    let DayCounts { evaluations, passed, latency_us, latencies } = *counts;
    [evaluations, passed, latency_us]
        .into_iter()
        .chain(latencies)
        .map(move |count| Value::Integer(sign * whole(count)))
}

/// The changes of an organization's days that follow from those of its agents.
#[derive(Default)]
pub(super) struct Totals(HashMap<(OrgKey, Day), OrgDay>);

#[derive(Default)]
struct OrgDay {
    counts: DayCounts,
    gates: BTreeMap<Box<str>, u64>,
}

impl Totals {
    fn add(&mut self, org: OrgKey, day: Day, counts: &DayCounts, gates: &BTreeMap<Box<str>, u64>) {
        let total = self.0.entry((org, day)).or_default();
        total.counts.add(counts);
        for (gate, failed) in gates {
            *total.gates.entry(gate.clone()).or_default() += failed;
        }
    }

    /// Adds them to the rows of the organizations (`sign` 1) or subtracts them (-1). Deletes rows that become zero.
    pub(super) fn write(&self, connection: &Connection, sign: i64) -> Result<(), StoreError> {
        let mut upsert = connection.prepare_cached(&ADD_ORG_DAY)?;
        let mut gate_upsert = connection.prepare_cached(
            "INSERT INTO org_gate_days (org, day, gate, failed) VALUES (?1, ?2, ?3, ?4) \
             ON CONFLICT DO UPDATE SET failed = failed + excluded.failed",
        )?;
        for ((org, day), OrgDay { counts, gates }) in &self.0 {
            let key = [org.value(), Value::Integer(day.number())];
            upsert.execute(params_from_iter(key.into_iter().chain(count_values(counts, sign))))?;
            for (gate, failed) in gates {
                gate_upsert.execute(params![org, day.number(), gate, sign * whole(*failed)])?;
            }
            if sign < 0 {
                for table in ["org_days WHERE evaluations", "org_gate_days WHERE failed"] {
                    let sql = format!("DELETE FROM {table} = 0 AND org = ?1 AND day = ?2");
                    connection.prepare_cached(&sql)?.execute(params![org, day.number()])?;
                }
            }
        }
        Ok(())
    }
}

/// Joins parts of days to the rows of an agent. The caller writes the totals.
pub(super) fn write(
    connection: &Connection,
    org: OrgKey,
    agent: i64,
    days: &Days,
    totals: &mut Totals,
) -> Result<(), StoreError> {
    for (day, AgentDay { sums, parts }) in days {
        write_sums(connection, org, agent, *day, sums)?;
        write_parts(connection, org, agent, *day, parts)?;
        totals.add(org, *day, &sums.counts, &parts.gates);
    }
    Ok(())
}

fn write_sums(
    connection: &Connection,
    org: OrgKey,
    agent: i64,
    day: Day,
    part: &DaySums,
) -> Result<(), StoreError> {
    let mut select = connection.prepare_cached(&FIND_DAY)?;
    let mut known = select.query(params![org, day.number(), agent])?;
    let mut joined = *part;
    if let Some(row) = known.next()? {
        joined.join(&sums(row, 0)?);
    }
    drop(known);
    let mut upsert = connection.prepare_cached(&WRITE_DAY)?;
    let DaySums { counts, first_at, last, score_min, score_max, first_position, top_position, score_before } =
        joined;
    let key = [org.value(), Value::Integer(day.number()), Value::Integer(agent)];
    let scores = [
        first_at.millis().into(),
        last.at.millis().into(),
        last.position.number().into(),
        last.score.into(),
        score_min.into(),
        score_max.into(),
        first_position.number().into(),
        top_position.number().into(),
        score_before.map_or(Value::Null, Value::from),
    ];
    upsert.execute(params_from_iter(key.into_iter().chain(count_values(&counts, 1)).chain(scores)))?;
    Ok(())
}

fn write_parts(
    connection: &Connection,
    org: OrgKey,
    agent: i64,
    day: Day,
    parts: &DayParts,
) -> Result<(), StoreError> {
    let mut gates = connection.prepare_cached(
        "INSERT INTO agent_gate_days (org, day, agent, gate, failed) VALUES (?1, ?2, ?3, ?4, ?5) \
         ON CONFLICT DO UPDATE SET failed = failed + excluded.failed",
    )?;
    for (gate, failed) in &parts.gates {
        gates.execute(params![org, day.number(), agent, gate, whole(*failed)])?;
    }
    let mut tools = connection.prepare_cached(
        "INSERT INTO agent_tool_days (org, day, agent, tool, evaluations, failed) VALUES (?1, ?2, ?3, ?4, ?5, ?6) \
         ON CONFLICT DO UPDATE SET evaluations = evaluations + excluded.evaluations, failed = failed + excluded.failed",
    )?;
    for (tool, ToolCount { evaluations, failed }) in &parts.tools {
        tools.execute(params![org, day.number(), agent, tool, whole(*evaluations), whole(*failed)])?;
    }
    Ok(())
}

/// An agent, and the parts of its days that are not in their rows yet.
#[derive(Clone)]
pub(super) struct DaysOf {
    pub(super) org: OrgKey,
    pub(super) agent: i64,
    pub(super) unsettled: Days,
}

impl DaysOf {
    /// Joins the row of an agent with the days that were not settled before the row was read. If the row contains
    /// one evaluation of these days by now, it contains all of them. The number distinguishes two agents that had
    /// the same name one after the other.
    pub(super) fn new(org: OrgKey, row: AgentState, unsettled: Option<(i64, Days)>) -> Self {
        let is_unsettled = |days: &Days| {
            let first = days.values().map(|day| day.sums.first_position.number()).min();
            first.is_some_and(|first| row.last_position.is_none_or(|settled| settled < first))
        };
        let unsettled = unsettled.filter(|(agent, days)| *agent == row.agent && is_unsettled(days));
        Self { org, agent: row.agent, unsettled: unsettled.map(|(_, days)| days).unwrap_or_default() }
    }

    /// Returns the sums of its days from one day to another, both included.
    pub(super) fn sums(
        &self,
        connection: &Connection,
        from: Day,
        to: Day,
    ) -> Result<BTreeMap<Day, DaySums>, StoreError> {
        let mut select = connection.prepare_cached(&format!(
            "SELECT d.day, {} FROM org_days o CROSS JOIN agent_days d ON d.org = o.org AND d.day = o.day AND d.agent = ?2 \
             WHERE o.org = ?1 AND o.day BETWEEN ?3 AND ?4 ORDER BY o.day",
            qualified("d")
        ))?;
        let mut rows = select.query(params![self.org, self.agent, from.number(), to.number()])?;
        let mut found = BTreeMap::new();
        while let Some(row) = rows.next()? {
            found.insert(day(row.get(0)?)?, sums(row, 1)?);
        }
        for (day, part) in self.unsettled_in(from, to) {
            found.entry(*day).and_modify(|sums: &mut DaySums| sums.join(&part.sums)).or_insert(part.sums);
        }
        Ok(found)
    }

    /// Returns what failed from one day to another, both included.
    pub(super) fn parts(
        &self,
        connection: &Connection,
        from: Day,
        to: Day,
        deadline: &Deadline,
    ) -> Result<DayParts, StoreError> {
        let mut parts = DayParts::default();
        let span = params![self.org, self.agent, from.number(), to.number()];
        let mut gates = connection.prepare_cached(
            "SELECT d.gate, sum(d.failed) FROM org_days o CROSS JOIN agent_gate_days d \
             ON d.org = o.org AND d.day = o.day AND d.agent = ?2 WHERE o.org = ?1 AND o.day BETWEEN ?3 AND ?4 GROUP BY d.gate",
        )?;
        let mut rows = gates.query(span)?;
        while let Some(row) = rows.next()? {
            parts.gates.insert(row.get(0)?, row.get(1)?);
        }
        deadline.check()?;
        let mut tools = connection.prepare_cached(
            "SELECT d.tool, sum(d.evaluations), sum(d.failed) FROM org_days o CROSS JOIN agent_tool_days d \
             ON d.org = o.org AND d.day = o.day AND d.agent = ?2 WHERE o.org = ?1 AND o.day BETWEEN ?3 AND ?4 GROUP BY d.tool",
        )?;
        let mut rows = tools.query(span)?;
        while let Some(row) = rows.next()? {
            parts.tools.insert(row.get(0)?, ToolCount { evaluations: row.get(1)?, failed: row.get(2)? });
        }
        self.unsettled_in(from, to).for_each(|(_, day)| parts.join(&day.parts));
        Ok(parts)
    }

    /// Returns the parts of days that are not settled, from one day to another; none if the last is before the
    /// first.
    fn unsettled_in(&self, from: Day, to: Day) -> impl Iterator<Item = (&Day, &AgentDay)> {
        self.unsettled.iter().filter(move |(day, _)| (from..=to).contains(day))
    }

    /// Returns its days from one to another, both included.
    pub(super) fn read(
        &self,
        connection: &Connection,
        from: Day,
        to: Day,
        deadline: &Deadline,
    ) -> Result<AgentDays, StoreError> {
        Ok(AgentDays {
            days: self.sums(connection, from, to)?,
            parts: self.parts(connection, from, to, deadline)?,
        })
    }

    /// Returns when the earliest of its evaluations happened.
    pub(super) fn first_at(&self, connection: &Connection) -> Result<Option<Timestamp>, StoreError> {
        let mut select = connection.prepare_cached(
            "SELECT d.first_at FROM org_days o CROSS JOIN agent_days d ON d.org = o.org AND d.day = o.day AND d.agent = ?2 \
             WHERE o.org = ?1 ORDER BY o.day LIMIT 1",
        )?;
        let settled: Option<i64> =
            select.query_row(params![self.org, self.agent], |row| row.get(0)).optional()?;
        let settled = settled.map(time).transpose()?;
        let unsettled = self.unsettled.values().next().map(|day| day.sums.first_at);
        Ok(settled.into_iter().chain(unsettled).min())
    }

    /// Returns how its score changed.
    pub(super) fn history(
        &self,
        connection: &Connection,
        steps: HistorySteps,
        deadline: &Deadline,
    ) -> Result<Vec<Point>, StoreError> {
        let mut points = PointBuilder::new(steps);
        let (from, to) = steps.days();
        let mut exists = connection.prepare_cached("SELECT 1 FROM evaluations WHERE seq = ?1")?;
        let mut select = connection
            .prepare_cached("SELECT previous, created_at, score FROM evaluations WHERE seq = ?1")?;
        for (day, sums) in self.sums(connection, from, to)? {
            if points.add_day_if_whole(&sums) {
                continue;
            }
            // Retention deletes an agent's oldest evaluations first: if the first one of a day exists, so do the
            // others.
            let first = sums.first_position.number();
            if !exists.exists([first])? {
                points.add_day(&sums);
                continue;
            }
            walk(connection, &mut select, Some(sums.top_position.number()), |position, row| {
                deadline.check()?;
                let at = time(row.get(1)?)?;
                if Day::of(at) == day {
                    points.add_evaluation(at, Position::of(position), row.get(2)?);
                }
                Ok(position > first)
            })?;
        }
        Ok(points.finish())
    }
}

/// Returns the columns of [`DaySums`] in a table with this name.
fn qualified(table: &str) -> String {
    let columns: Vec<String> =
        COUNTS.split(", ").chain(SCORES.split(", ")).map(|column| format!("{table}.{column}")).collect();
    columns.join(", ")
}

/// Returns the counts of an organization's days from one to another, both included.
pub(super) fn org_counts(
    connection: &Connection,
    org: OrgKey,
    from: Day,
    to: Day,
) -> Result<BTreeMap<Day, DayCounts>, StoreError> {
    let mut select = connection.prepare_cached(&format!(
        "SELECT day, {COUNTS} FROM org_days WHERE org = ?1 AND day BETWEEN ?2 AND ?3"
    ))?;
    let mut rows = select.query(params![org, from.number(), to.number()])?;
    let mut found = BTreeMap::new();
    while let Some(row) = rows.next()? {
        found.insert(day(row.get(0)?)?, counts(row, 1)?);
    }
    Ok(found)
}

/// Returns the failed evaluations of an organization by gate, from one day to another, both included.
pub(super) fn org_gates(
    connection: &Connection,
    org: OrgKey,
    from: Day,
    to: Day,
) -> Result<BTreeMap<Box<str>, u64>, StoreError> {
    let mut select = connection.prepare_cached(
        "SELECT gate, sum(failed) FROM org_gate_days WHERE org = ?1 AND day BETWEEN ?2 AND ?3 GROUP BY gate",
    )?;
    let gates =
        select.query_map(params![org, from.number(), to.number()], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(gates.collect::<Result<_, _>>()?)
}

/// Deletes some days of an erased agent, and subtracts them from the totals of its organization. Returns whether
/// there were any.
pub(super) fn erase_some(
    connection: &Connection,
    org: OrgKey,
    agent: i64,
    at_once: usize,
) -> Result<bool, StoreError> {
    let mut select = connection.prepare_cached(
        "SELECT o.day FROM org_days o CROSS JOIN agent_days d ON d.org = o.org AND d.day = o.day AND d.agent = ?2 \
         WHERE o.org = ?1 ORDER BY o.day DESC LIMIT ?3",
    )?;
    let found = select.query_map(params![org, agent, at_once], |row| row.get(0))?;
    let found: Vec<i64> = found.collect::<Result<_, _>>()?;
    let mut totals = Totals::default();
    for number in &found {
        let day = day(*number)?;
        let one = DaysOf { org, agent, unsettled: Days::new() };
        let parts = one.parts(connection, day, day, &Deadline::NONE)?;
        for sums in one.sums(connection, day, day)?.values() {
            totals.add(org, day, &sums.counts, &parts.gates);
        }
        for table in ["agent_days", "agent_gate_days", "agent_tool_days"] {
            let sql = format!("DELETE FROM {table} WHERE org = ?1 AND day = ?2 AND agent = ?3");
            connection.prepare_cached(&sql)?.execute(params![org, number, agent])?;
        }
    }
    totals.write(connection, -1)?;
    Ok(!found.is_empty())
}
