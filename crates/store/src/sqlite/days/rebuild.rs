//! Rebuilds days from the evaluations: after an upgrade or a crash, for `verify` and for `verify --repair`.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use renown_core::reputation::ReputationSummary;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{COUNTS, Totals, write};
use crate::days::{self, DayInput, Days};
use crate::error::StoreError;
use crate::evidence::Position;
use crate::sqlite::orgs::OrgKey;
use crate::sqlite::rows::{damaged, latency, time};

/// Maximum number of agents whose days are in memory before they are written.
const AGENTS_MAX: usize = 10_000;

/// The columns that a day counts, in the order in which [`Replay::count`] reads them. Evaluations of erased agents
/// are left out.
const EVALUATION: &str = "SELECT e.seq, e.org, e.agent, e.previous, e.created_at, e.passed, e.latency_us, e.score, \
     e.evaluations, e.tool, e.gates FROM evaluations e CROSS JOIN agents a ON a.agent = e.agent";

/// The agents whose oldest evaluations were deleted, and the first one that is left. What happened before it cannot
/// be counted again.
pub(in crate::sqlite) type Cuts = HashMap<i64, Position>;

/// Evaluations in order of acceptance, counted in their days.
#[derive(Default)]
struct Replay {
    /// The score and the count of each agent after its last evaluation so far.
    scores: HashMap<i64, (u32, u64)>,
    days: HashMap<(OrgKey, i64), Days>,
    cuts: Cuts,
}

impl Replay {
    fn count(&mut self, connection: &Connection, row: &Row<'_>) -> Result<(), StoreError> {
        let (position, org, agent): (_, OrgKey, i64) = (Position::of(row.get(0)?), row.get(1)?, row.get(2)?);
        let after = (row.get(7)?, row.get(8)?);
        let (score, eval_count) = match self.scores.entry(agent) {
            Entry::Occupied(mut known) => known.insert(after),
            Entry::Vacant(vacant) => {
                vacant.insert(after);
                self.first_score(connection, agent, position, row.get(3)?)?
            }
        };
        let input = DayInput {
            position,
            at: time(row.get(4)?)?,
            passed: row.get(5)?,
            latency: latency(row.get(6)?)?,
            before: ReputationSummary::new(score, eval_count),
            score: after.0,
            tool: row.get_ref(9)?.as_str_or_null().map_err(damaged("a tool"))?,
            gates: row.get_ref(10)?.as_str().map_err(damaged("gates"))?,
        };
        days::count(self.days.entry((org, agent)).or_default(), &input);
        Ok(())
    }

    /// Returns the score and the count of an agent before its first evaluation that is replayed.
    fn first_score(
        &mut self,
        connection: &Connection,
        agent: i64,
        position: Position,
        previous: Option<i64>,
    ) -> Result<(u32, u64), StoreError> {
        let Some(previous) = previous else { return Ok((0, 0)) };
        let mut select =
            connection.prepare_cached("SELECT score, evaluations FROM evaluations WHERE seq = ?1")?;
        let found = select.query_row([previous], |row| Ok((row.get(0)?, row.get(1)?))).optional();
        let found = match found.map_err(StoreError::from) {
            // Damaged evidence is reported when the agent is read. It must not prevent other agents from being
            // counted.
            Err(error) if error.is_damage() => None,
            found => found?,
        };
        if found.is_none() {
            self.cuts.insert(agent, position);
        }
        Ok(found.unwrap_or_default())
    }
}

/// Counts every evaluation that the rows of agents contain, and passes the days of some agents at a time to `each`.
pub(in crate::sqlite) fn fold(
    connection: &Connection,
    each: &mut dyn FnMut(OrgKey, i64, &Days) -> Result<(), StoreError>,
) -> Result<Cuts, StoreError> {
    let mut replay = Replay::default();
    let mut select = connection.prepare(&format!("{EVALUATION} WHERE e.seq <= a.last_seq ORDER BY e.seq"))?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        replay.count(connection, row)?;
        if replay.days.len() >= AGENTS_MAX {
            pass_days(&mut replay, each)?;
        }
    }
    pass_days(&mut replay, each)?;
    Ok(replay.cuts)
}

fn pass_days(
    replay: &mut Replay,
    each: &mut dyn FnMut(OrgKey, i64, &Days) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    replay.days.drain().try_for_each(|((org, agent), days)| each(org, agent, &days))
}

/// Returns the parts of days that are not settled, of an organization's agents or of one of them.
pub(in crate::sqlite) fn unsettled(
    connection: &Connection,
    org: OrgKey,
    only: Option<i64>,
) -> Result<HashMap<i64, Days>, StoreError> {
    let (first, end) = org.numbers();
    let mut replay = Replay::default();
    // A single lower bound: with two, SQLite would seek to one and compare the other with every evaluation from
    // there.
    let mut select = connection.prepare_cached(&format!(
        "{EVALUATION} WHERE e.seq > max((SELECT settled FROM orgs WHERE org = ?1), ?2 - 1) AND e.seq < ?3 \
         AND e.seq > coalesce(a.last_seq, -1) AND (?4 IS NULL OR e.agent = ?4) ORDER BY e.seq"
    ))?;
    let mut rows = select.query(params![org, first, end, only])?;
    while let Some(row) = rows.next()? {
        replay.count(connection, row)?;
    }
    Ok(replay.days.into_iter().map(|((_, agent), days)| (agent, days)).collect())
}

/// Counts again what triggers count: agents, sessions and runs.
pub(in crate::sqlite) const COUNT_AGAIN: &str = "
    UPDATE orgs SET agents = (SELECT count(*) FROM agents a WHERE a.org = orgs.org);
    DELETE FROM org_activity;
    INSERT INTO org_activity
        SELECT org, began_ns / 86400000000000, count(*), sum(min(coalesce(cost_nano, 0), 10000000000000)), 0 FROM sessions
        WHERE session_id IS NOT NULL AND agent <> 0 GROUP BY 1, 2;
    INSERT INTO org_activity
        SELECT org, accepted_at / 86400000, 0, 0, count(*) FROM agent_run_scores WHERE true GROUP BY 1, 2
        ON CONFLICT DO UPDATE SET runs = excluded.runs;";

/// Rebuilds every row of days. A day with deleted evaluations stays as it is.
pub(in crate::sqlite) fn rebuild(connection: &Connection) -> Result<(), StoreError> {
    let cuts = fold(connection, &mut |_, _, _| Ok(()))?;
    delete_rebuildable(connection, &cuts)?;
    // The totals are computed from the rows below.
    let mut unused = Totals::default();
    let mut known =
        connection.prepare("SELECT 1 FROM agent_days WHERE org = ?1 AND day = ?2 AND agent = ?3")?;
    fold(connection, &mut |org, agent, days| {
        if !cuts.contains_key(&agent) {
            return write(connection, org, agent, days, &mut unused);
        }
        let mut missing = Days::new();
        for (day, part) in days {
            if !known.exists(params![org, day.number(), agent])? {
                missing.insert(*day, part.clone());
            }
        }
        write(connection, org, agent, &missing, &mut unused)
    })?;
    let summed: Vec<String> = COUNTS.split(", ").map(|column| format!("sum({column})")).collect();
    connection.execute_batch(&format!(
        "DELETE FROM org_days; DELETE FROM org_gate_days;
         INSERT INTO org_days (org, day, {COUNTS}) SELECT org, day, {} FROM agent_days GROUP BY org, day;
         INSERT INTO org_gate_days SELECT org, day, gate, sum(failed) FROM agent_gate_days GROUP BY org, day, gate;",
        summed.join(", ")
    ))?;
    Ok(())
}

/// Deletes the days that can be rebuilt from evaluations.
fn delete_rebuildable(connection: &Connection, cuts: &Cuts) -> Result<(), StoreError> {
    connection.execute_batch(
        "CREATE TEMP TABLE cuts (agent INTEGER PRIMARY KEY, seq INTEGER NOT NULL);
         CREATE TEMP TABLE kept_days (org INTEGER, day INTEGER, agent INTEGER, PRIMARY KEY (org, day, agent)) WITHOUT ROWID;",
    )?;
    let mut insert = connection.prepare("INSERT INTO cuts VALUES (?1, ?2)")?;
    for (agent, position) in cuts {
        insert.execute([*agent, position.number()])?;
    }
    drop(insert);
    connection.execute_batch(
        "INSERT INTO kept_days SELECT d.org, d.day, d.agent FROM agent_days d JOIN cuts c ON c.agent = d.agent
            WHERE d.first_seq <= c.seq;",
    )?;
    for table in ["agent_days", "agent_gate_days", "agent_tool_days"] {
        connection.execute_batch(&format!(
            "DELETE FROM {table} WHERE NOT EXISTS (SELECT 1 FROM kept_days k \
             WHERE k.org = {table}.org AND k.day = {table}.day AND k.agent = {table}.agent);"
        ))?;
    }
    Ok(connection.execute_batch("DROP TABLE kept_days; DROP TABLE cuts;")?)
}
