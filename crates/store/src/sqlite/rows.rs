//! Reads rows of evaluations, organizations and keys. Everything here only reads.

use renown_core::ids::OrgId;
use renown_core::reputation::{ReputationSummary, Sample, WINDOW_SIZE, Window};
use renown_core::time::Timestamp;
use renown_core::units::Micros;
use rusqlite::{CachedStatement, Connection, OptionalExtension, Row, params};
use uuid::Uuid;

use super::agents::AgentState;
use super::orgs::OrgKey;
use super::readers::Deadline;
use super::schema::POSITION_BITS;
use crate::admin::{LatencySource, OrgSettings, Tombstone};
use crate::error::StoreError;
use crate::evidence::{Position, StoredEvaluation};
use crate::keys::{ApiKey, NewKey};
use crate::query::{EvaluationPage, EvaluationPageBuilder, EvaluationQuery};

/// If at most this many evaluations are in a time range, they are found by an index of times; otherwise by reading
/// in order of acceptance.
const SPAN_MAX: i64 = 20_000;

/// Makes the error for a value that was never written like this.
pub(super) fn damaged<E: std::fmt::Display>(what: &'static str) -> impl FnOnce(E) -> StoreError {
    move |error| StoreError::Damaged(format!("{what}: {error}"))
}

pub(super) fn time(millis: i64) -> Result<Timestamp, StoreError> {
    Timestamp::from_millis(millis).map_err(damaged("a time"))
}

/// Decodes a time in nanoseconds.
pub(super) fn nanos(nanos: i64) -> Result<Timestamp, StoreError> {
    Timestamp::from_nanos(nanos).map_err(damaged("a time"))
}

pub(super) fn latency(us: u32) -> Result<Micros, StoreError> {
    Micros::from_us(us).ok_or_else(|| StoreError::Damaged(format!("a latency of {us} µs")))
}

pub(super) fn text<T: std::str::FromStr<Err: std::fmt::Display>>(
    row: &Row<'_>,
    column: usize,
    what: &'static str,
) -> Result<T, StoreError> {
    row.get_ref(column)?.as_str().map_err(damaged(what))?.parse().map_err(damaged(what))
}

/// The columns of a [`StoredEvaluation`], in the order in which [`evaluation`] reads them.
pub(super) const EVALUATION: &str = "SELECT e.seq, e.evaluation_id, a.name, e.tool, e.passed, e.gate_us, e.agent_us, e.latency_us, e.gates, \
     e.score, e.evaluations, e.created_at, e.accepted_at, e.salt, e.previous \
     FROM evaluations e JOIN agents a ON a.agent = e.agent";

pub(super) fn evaluation(row: &Row<'_>) -> Result<StoredEvaluation, StoreError> {
    let tool: Option<String> = row.get(3)?;
    let agent_us: Option<u32> = row.get(6)?;
    Ok(StoredEvaluation {
        position: Position::of(row.get(0)?),
        id: text(row, 1, "an evaluation id")?,
        agent: text(row, 2, "an agent id")?,
        tool: tool.map(|tool| tool.parse()).transpose().map_err(damaged("a tool"))?,
        passed: row.get(4)?,
        gate_latency: latency(row.get(5)?)?,
        agent_latency: agent_us.map(latency).transpose()?,
        latency: latency(row.get(7)?)?,
        gates: row.get(8)?,
        standing: ReputationSummary::new(row.get(9)?, row.get(10)?),
        created_at: time(row.get(11)?)?,
        accepted_at: time(row.get(12)?)?,
        salt: row.get(13)?,
    })
}

/// Finds an evaluation by its id.
pub(super) fn find_evaluation(
    connection: &Connection,
    org: OrgKey,
    id: &str,
) -> Result<Option<StoredEvaluation>, StoreError> {
    let mut select =
        connection.prepare_cached(&format!("{EVALUATION} WHERE e.org = ?1 AND e.evaluation_id = ?2"))?;
    let mut rows = select.query(params![org, id])?;
    rows.next()?.map(evaluation).transpose()
}

/// Returns the evaluation at a position, unless it was deleted or its agent is erased.
pub(super) fn evaluation_at(
    connection: &Connection,
    position: Position,
) -> Result<Option<StoredEvaluation>, StoreError> {
    let mut select = connection.prepare_cached(&format!("{EVALUATION} WHERE e.seq = ?1"))?;
    let mut rows = select.query([position.number()])?;
    rows.next()?.map(evaluation).transpose()
}

/// Returns the position of the last evaluation of an organization.
pub(super) fn last_position(connection: &Connection, org: OrgKey) -> Result<Option<i64>, StoreError> {
    let (first, end) = org.numbers();
    let mut select =
        connection.prepare_cached("SELECT max(seq) FROM evaluations WHERE seq >= ?1 AND seq < ?2")?;
    Ok(select.query_row([first, end], |row| row.get(0))?)
}

/// Reads an agent's evaluations from `last` backwards along its chain, until `take` returns `false`.
///
/// A chain that leads nowhere, or not backwards, is damage: its end would look like the end of all evaluations, and
/// a circle would never end. The chain may end where retention deleted evaluations.
pub(super) fn walk(
    connection: &Connection,
    select: &mut CachedStatement<'_>,
    last: Option<i64>,
    mut take: impl FnMut(i64, &Row<'_>) -> Result<bool, StoreError>,
) -> Result<(), StoreError> {
    let mut next = last;
    while let Some(position) = next {
        let mut rows = select.query([position])?;
        let broken = || StoreError::Damaged(format!("the chain of evaluations at {position}"));
        let Some(row) = rows.next()? else {
            return if position <= pruned(connection, OrgKey::of(position))? {
                Ok(())
            } else {
                Err(broken())
            };
        };
        next = row.get("previous")?;
        if next.is_some_and(|next| next >= position) {
            return Err(broken());
        }
        if !take(position, row)? {
            return Ok(());
        }
    }
    Ok(())
}

/// Returns the position up to which retention may have deleted evaluations of an organization.
pub(super) fn pruned(connection: &Connection, org: OrgKey) -> Result<i64, StoreError> {
    mark(connection, org, "pruned")
}

/// Returns the highest position of an organization that was used, as far as evaluations were deleted.
pub(super) fn top(connection: &Connection, org: OrgKey) -> Result<i64, StoreError> {
    mark(connection, org, "top")
}

fn mark(connection: &Connection, org: OrgKey, name: &str) -> Result<i64, StoreError> {
    let mut select = connection.prepare_cached(&format!("SELECT {name} FROM orgs WHERE org = ?1"))?;
    Ok(select.query_row([org], |row| row.get(0)).optional()?.unwrap_or(-1))
}

/// Returns the settings of an organization.
pub(super) fn settings(connection: &Connection, org: OrgKey) -> Result<OrgSettings, StoreError> {
    let mut select = connection.prepare_cached("SELECT latency_source FROM orgs WHERE org = ?1")?;
    let name: String = select.query_row([org], |row| row.get(0))?;
    let latency_source = LatencySource::named(&name);
    let damage = || StoreError::Damaged(format!("a source of latency: {name:?}"));
    Ok(OrgSettings { latency_source: latency_source.ok_or_else(damage)? })
}

/// Returns the tombstones of an organization, the latest first.
pub(super) fn tombstones(connection: &Connection, org: OrgKey) -> Result<Vec<Tombstone>, StoreError> {
    let mut select = connection.prepare_cached(
        "SELECT digest, asked_at, erased, done_at FROM tombstones WHERE org = ?1 ORDER BY tombstone DESC",
    )?;
    let mut rows = select.query([org])?;
    let mut tombstones = Vec::new();
    while let Some(row) = rows.next()? {
        tombstones.push(Tombstone {
            digest: row.get(0)?,
            asked_at: time(row.get(1)?)?,
            erased: row.get(2)?,
            done_at: row.get::<_, Option<i64>>(3)?.map(time).transpose()?,
        });
    }
    Ok(tombstones)
}

/// Returns the evaluations of an agent from `last` backwards, at most a window of them, and only those after
/// `until`.
pub(super) fn newest_first(
    connection: &Connection,
    last: Option<i64>,
    until: Option<i64>,
) -> Result<Vec<Sample>, StoreError> {
    let mut newest_first = Vec::new();
    let mut select =
        connection.prepare_cached("SELECT previous, passed, latency_us FROM evaluations WHERE seq = ?1")?;
    walk(connection, &mut select, last, |_, row| {
        newest_first.push(Sample { passed: row.get(1)?, latency: latency(row.get(2)?)? });
        let before: Option<i64> = row.get(0)?;
        Ok(newest_first.len() < WINDOW_SIZE && before > until)
    })?;
    Ok(newest_first)
}

/// Returns the window that ends with an evaluation.
pub(super) fn window(connection: &Connection, last: Option<i64>) -> Result<Window, StoreError> {
    Ok(newest_first(connection, last, None)?.into_iter().rev().collect())
}

/// Returns a page of an agent's evaluations.
pub(super) fn evaluations_of_agent(
    connection: &Connection,
    agent: Option<AgentState>,
    query: EvaluationQuery,
    deadline: &Deadline,
) -> Result<EvaluationPage, StoreError> {
    let mut page = EvaluationPageBuilder::new(query);
    let Some(AgentState { agent, last_position, .. }) = agent else { return Ok(page.finish()) };
    // A page that continues after an evaluation of this agent begins at the one before it.
    let resumed = match page.query().before {
        Some(before) => connection
            .query_row(
                "SELECT previous FROM evaluations WHERE seq = ?1 AND agent = ?2",
                [before.number(), agent],
                |row| row.get(0),
            )
            .optional()?,
        None => None,
    };
    let mut select = connection.prepare_cached(&format!("{EVALUATION} WHERE e.seq = ?1"))?;
    walk(connection, &mut select, resumed.unwrap_or(last_position), |_, row| {
        deadline.check()?;
        Ok(page.add(evaluation(row)?))
    })?;
    Ok(page.finish())
}

/// Returns a page of an organization's evaluations.
pub(super) fn evaluations_of_org(
    connection: &Connection,
    org: OrgKey,
    query: EvaluationQuery,
    deadline: &Deadline,
) -> Result<EvaluationPage, StoreError> {
    let mut page = EvaluationPageBuilder::new(query);
    let (first, end) = org.numbers();
    let query = page.query();
    let end = query.before.map_or(end, |before| before.number().min(end));
    let from = query.from.map_or(i64::MIN, first_milli);
    let to = query.to.map_or(i64::MAX, Timestamp::millis);
    let few_in_span = (query.from.is_some() || query.to.is_some())
        && {
            let mut count = connection.prepare_cached(
            "SELECT count(*) FROM (SELECT 1 FROM evaluations WHERE org = ?1 AND created_at BETWEEN ?2 AND ?3 LIMIT ?4)",
        )?;
            count.query_row(params![org, from, to, SPAN_MAX + 1], |row| row.get::<_, i64>(0))? <= SPAN_MAX
        };
    // The plus prevents the use of an index on this column, so that evaluations are read in order of position.
    let found = if few_in_span {
        "SELECT seq FROM evaluations WHERE org = ?5 AND created_at BETWEEN ?3 AND ?4 AND seq >= ?1 AND seq < ?2"
    } else {
        "SELECT seq FROM evaluations WHERE seq >= ?1 AND seq < ?2 AND +created_at BETWEEN ?3 AND ?4 AND +org = ?5"
    };
    let mut positions = connection.prepare_cached(&format!("{found} ORDER BY seq DESC"))?;
    let mut select = connection.prepare_cached(&format!("{EVALUATION} WHERE e.seq = ?1"))?;
    let mut positions = positions.query(params![first, end, from, to, org])?;
    while let Some(position) = positions.next()? {
        deadline.check()?;
        let mut rows = select.query([position.get::<_, i64>(0)?])?;
        if let Some(row) = rows.next()?
            && !page.add(evaluation(row)?)
        {
            break;
        }
    }
    Ok(page.finish())
}

/// Returns the first whole millisecond that is not before a time.
fn first_milli(time: Timestamp) -> i64 {
    let millis = time.millis();
    if Timestamp::from_millis(millis).is_ok_and(|floor| floor < time) { millis + 1 } else { millis }
}

/// Returns all keys.
pub(super) fn keys(connection: &Connection) -> Result<Vec<ApiKey>, StoreError> {
    let mut select = connection.prepare_cached(
        "SELECT k.id, o.name, k.kind, k.label, k.hash, k.last_four, k.created_at, k.last_used_at, k.revoked_at \
         FROM keys k JOIN orgs o ON o.org = k.org ORDER BY k.created_at, k.id",
    )?;
    let mut rows = select.query([])?;
    let mut keys = Vec::new();
    while let Some(row) = rows.next()? {
        let maybe_time = |column| row.get::<_, Option<i64>>(column)?.map(time).transpose();
        let org: OrgId = text(row, 1, "an organization")?;
        keys.push(ApiKey {
            key: NewKey {
                id: Uuid::from_bytes(row.get(0)?),
                org,
                kind: text(row, 2, "a kind of key")?,
                label: row.get(3)?,
                hash: row.get(4)?,
                last_four: row.get(5)?,
            },
            created_at: time(row.get(6)?)?,
            last_used_at: maybe_time(7)?,
            revoked_at: maybe_time(8)?,
        });
    }
    Ok(keys)
}

/// Returns the latest time of acceptance in the file, so that times do not go backwards after the store is opened.
pub(super) fn latest(connection: &Connection) -> Result<Timestamp, StoreError> {
    // Indexes and positions keep this fast: an organization's last evaluation is its latest, and the agent with the highest number was
    // added last. Runs, records and signals set `last_seen` of their agent, which an index has by minute. A session that is closed
    // becomes a reputation event of that time; the others have an index of their own.
    let latest: Option<i64> = connection.query_row(
        "SELECT max(latest) FROM (SELECT max(created_at) AS latest FROM orgs \
         UNION ALL SELECT max(created_at) FROM keys UNION ALL SELECT max(created_at) FROM request_keys \
         UNION ALL SELECT first_seen FROM agents WHERE agent = (SELECT max(agent) FROM agents) \
         UNION ALL SELECT accepted_at FROM agent_run_scores WHERE run = (SELECT max(run) FROM agent_run_scores) \
         UNION ALL SELECT accepted_at FROM reputation_events WHERE event = (SELECT max(event) FROM reputation_events) \
         UNION ALL SELECT max(asked_at) FROM tombstones UNION ALL SELECT max(created_at) FROM eval_runs \
         UNION ALL SELECT max(closed_at) FROM sessions WHERE closed_at IS NOT NULL AND event IS NULL \
         UNION ALL SELECT (SELECT max(last_seen) FROM agents WHERE org = o.org AND seen_minute = \
         (SELECT max(seen_minute) FROM agents WHERE org = o.org)) FROM orgs o \
         UNION ALL SELECT (SELECT accepted_at FROM evaluations WHERE seq = \
         (SELECT max(seq) FROM evaluations WHERE seq < (o.org + 1) << ?1)) FROM orgs o)",
        [POSITION_BITS],
        |row| row.get(0),
    )?;
    Ok(latest.and_then(|at| Timestamp::from_millis(at).ok()).unwrap_or(Timestamp::MIN))
}

/// Returns the latest time of acceptance; `None` if nothing was ever accepted.
pub(super) fn latest_acceptance(connection: &Connection) -> Result<Option<Timestamp>, StoreError> {
    latest(connection).map(|latest| Some(latest).filter(|latest| *latest > Timestamp::MIN))
}
