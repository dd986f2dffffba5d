//! Counts days again.
//!
//! The evaluations are folded into the same tables of a temporary database, and both are read side by side. Days
//! with evaluations that retention deleted cannot be counted again and are skipped. The days of organizations have
//! to be the sums of those of their agents, even while an agent is being erased.

use std::cmp::Ordering;

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{Found, name};
use crate::error::StoreError;
use crate::sqlite::days::{COUNTS, Totals, fold, write};
use crate::verify::Difference;

/// A table of days.
struct Table {
    name: &'static str,
    what: &'static str,
    /// The column of its key after organization, day and agent.
    part: Option<&'static str>,
}

const TABLES: [Table; 3] = [
    Table { name: "agent_days", what: "the sums of a day", part: None },
    Table { name: "agent_gate_days", what: "the failures of a gate on a day", part: Some("gate") },
    Table { name: "agent_tool_days", what: "the counts of a tool on a day", part: Some("tool") },
];

/// Returns the first day that differs.
pub(super) fn compare(connection: &Connection) -> Result<Option<Box<Difference>>, StoreError> {
    // A temporary file, which SQLite deletes when it is closed.
    let fresh = Connection::open("")?;
    for table in &TABLES {
        let sql: String =
            connection
                .query_row("SELECT sql FROM sqlite_schema WHERE name = ?1", [table.name], |row| row.get(0))?;
        fresh.execute_batch(&sql)?;
    }
    fresh.execute_batch("CREATE TABLE cuts (agent INTEGER PRIMARY KEY, seq INTEGER NOT NULL); BEGIN")?;
    let cuts =
        fold(connection, &mut |org, agent, days| write(&fresh, org, agent, days, &mut Totals::default()))?;
    let mut insert = fresh.prepare("INSERT INTO cuts VALUES (?1, ?2)")?;
    for (agent, position) in cuts {
        insert.execute([agent, position.number()])?;
    }
    for table in &TABLES {
        if let Some(found) = compare_table(connection, &fresh, table)? {
            return Ok(Some(found));
        }
    }
    compare_sums(connection, &org_days())
}

/// A row: its key (organization, day, agent and name of a part), and all of its values.
struct DayRow {
    key: (i64, i64, i64, String),
    values: Vec<Value>,
}

impl DayRow {
    fn read(row: &Row<'_>, table: &Table) -> Result<Self, StoreError> {
        let part = table.part.map_or_else(|| Ok(String::new()), |_| row.get(3))?;
        let columns = row.as_ref().column_count();
        let values = (0..columns).map(|column| row.get(column)).collect::<Result<_, _>>()?;
        Ok(Self { key: (row.get(0)?, row.get(1)?, row.get(2)?, part), values })
    }
}

fn compare_table(
    kept: &Connection,
    fresh: &Connection,
    table: &Table,
) -> Result<Option<Box<Difference>>, StoreError> {
    let part = table.part.map(|part| format!(", {part}")).unwrap_or_default();
    let order = format!("ORDER BY org, day, agent{part}");
    // Days of an agent that is being erased are invisible.
    let mut kept_rows = kept.prepare(&format!(
        "SELECT * FROM {} WHERE agent NOT IN (SELECT agent FROM tombstones WHERE done_at IS NULL AND agent IS NOT NULL) {order}",
        table.name
    ))?;
    let mut fresh_rows = fresh.prepare(&format!("SELECT * FROM {} {order}", table.name))?;
    let (mut kept_rows, mut fresh_rows) = (kept_rows.query([])?, fresh_rows.query([])?);
    let read = |row: Option<&Row<'_>>| row.map(|row| DayRow::read(row, table)).transpose();
    let (mut one, mut other) = (read(kept_rows.next()?)?, read(fresh_rows.next()?)?);
    loop {
        let order = match (&one, &other) {
            (None, None) => return Ok(None),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(one), Some(other)) => one.key.cmp(&other.key),
        };
        let differs = match order {
            Ordering::Equal => {
                one.as_ref().map(|one| &one.values) != other.as_ref().map(|other| &other.values)
            }
            Ordering::Less | Ordering::Greater => true,
        };
        let key =
            if order == Ordering::Greater { other.as_ref() } else { one.as_ref() }.map(|row| row.key.clone());
        if let Some((org, day, agent, part)) = key.filter(|_| differs)
            && !is_cut(kept, fresh, [org, day, agent])?
        {
            let shown = |row: &Option<DayRow>, is_there: bool| match row {
                Some(row) if is_there => format!("day {day} {part} {:?}", row.values),
                _ => format!("no row for day {day} {part}"),
            };
            let (was, is) = (shown(&one, order != Ordering::Greater), shown(&other, order != Ordering::Less));
            return Ok(Some(name(kept, agent, None, (table.what, was, is))));
        }
        if order != Ordering::Greater {
            one = read(kept_rows.next()?)?;
        }
        if order != Ordering::Less {
            other = read(fresh_rows.next()?)?;
        }
    }
}

/// Returns whether evaluations of a day were deleted, so that it cannot be counted again.
fn is_cut(kept: &Connection, fresh: &Connection, [org, day, agent]: [i64; 3]) -> Result<bool, StoreError> {
    let mut cut = fresh.prepare_cached("SELECT seq FROM cuts WHERE agent = ?1")?;
    let Some(cut): Option<i64> = cut.query_row([agent], |row| row.get(0)).optional()? else {
        return Ok(false);
    };
    let mut first =
        kept.prepare_cached("SELECT first_seq FROM agent_days WHERE org = ?1 AND day = ?2 AND agent = ?3")?;
    let first: Option<i64> = first.query_row([org, day, agent], |row| row.get(0)).optional()?;
    Ok(first.is_some_and(|first| first <= cut))
}

/// A stored sum, and the query that computes it again. Both queries begin with an organization and a day.
struct Sum {
    what: &'static str,
    kept: String,
    fresh: String,
}

/// Returns the days of organizations, which are the sums of those of their agents.
fn org_days() -> [Sum; 2] {
    let summed: Vec<String> = COUNTS.split(", ").map(|column| format!("sum({column})")).collect();
    [
        Sum {
            what: "the sums of a day of all agents",
            kept: format!("SELECT org, day, {COUNTS} FROM org_days"),
            fresh: format!("SELECT org, day, {} FROM agent_days GROUP BY org, day", summed.join(", ")),
        },
        Sum {
            what: "the failures of a gate of all agents",
            kept: "SELECT org, day, gate, failed FROM org_gate_days".to_owned(),
            fresh: "SELECT org, day, gate, sum(failed) FROM agent_gate_days GROUP BY org, day, gate"
                .to_owned(),
        },
    ]
}

/// Compares what triggers count: agents, sessions and runs. Call it after comparing sessions, because it sums their
/// costs.
pub(super) fn compare_activity(connection: &Connection) -> Result<Option<Box<Difference>>, StoreError> {
    let sum = |what, kept: &str, fresh: &str| Sum { what, kept: kept.to_owned(), fresh: fresh.to_owned() };
    let counted = [
        sum(
            "the number of agents",
            "SELECT org, 0, agents FROM orgs",
            "SELECT o.org, 0, (SELECT count(*) FROM agents a WHERE a.org = o.org) FROM orgs o",
        ),
        sum(
            "the sessions of a day",
            "SELECT org, day, sessions, cost_nano FROM org_activity WHERE sessions <> 0 OR cost_nano <> 0",
            "SELECT org, began_ns / 86400000000000, count(*), sum(min(coalesce(cost_nano, 0), 10000000000000)) FROM sessions \
             WHERE session_id IS NOT NULL AND agent <> 0 GROUP BY 1, 2",
        ),
        sum(
            "the runs of a day",
            "SELECT org, day, runs FROM org_activity WHERE runs <> 0",
            "SELECT org, accepted_at / 86400000, count(*) FROM agent_run_scores GROUP BY 1, 2",
        ),
    ];
    compare_sums(connection, &counted)
}

fn compare_sums(connection: &Connection, sums: &[Sum]) -> Result<Option<Box<Difference>>, StoreError> {
    for Sum { what, kept, fresh } in sums {
        for (one, other) in [(fresh, kept), (kept, fresh)] {
            let sql = format!("SELECT * FROM ({one} EXCEPT {other}) LIMIT 1");
            let found: Option<(i64, i64)> =
                connection.query_row(&sql, params![], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
            if let Some((org, day)) = found {
                let found = (*what, format!("a different sum (day {day})"), "the sum of the rows".to_owned());
                return of_org(connection, org, found).map(Some);
            }
        }
    }
    Ok(None)
}

fn of_org(
    connection: &Connection,
    org: i64,
    (what, kept, fresh): Found,
) -> Result<Box<Difference>, StoreError> {
    let org = connection.query_row("SELECT name FROM orgs WHERE org = ?1", [org], |row| row.get(0))?;
    let (agent, evaluation, run, session) = (None, None, None, None);
    Ok(Box::new(Difference { org, agent, evaluation, run, session, what, kept, fresh }))
}
