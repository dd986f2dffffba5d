//! Rows into values, and the walks over them. Everything here only reads.

use renown_core::ids::OrgId;
use renown_core::reputation::{Evaluation, Standing, WINDOW_SIZE, Window};
use renown_core::time::Timestamp;
use renown_core::units::Micros;
use rusqlite::{CachedStatement, Connection, OptionalExtension, Row, params};
use uuid::Uuid;

use super::agents::AgentState;
use super::orgs::OrgKey;
use super::readers::Patience;
use super::schema::SEQ_BITS;
use crate::admin::{LatencySource, OrgSettings, Tombstone};
use crate::error::StoreError;
use crate::evidence::{Event, SavedReply, Seq};
use crate::keys::{ApiKey, NewKey};
use crate::query::{EventPage, EventQuery, Events};

/// Up to so many evaluations in a span of time are found by their times; more of them by walking the log.
const SPAN_MAX: i64 = 20_000;

/// A value that was never written like this.
pub(super) fn damaged<E: std::fmt::Display>(what: &'static str) -> impl FnOnce(E) -> StoreError {
    move |error| StoreError::Damaged(format!("{what}: {error}"))
}

pub(super) fn time(millis: i64) -> Result<Timestamp, StoreError> {
    Timestamp::from_millis(millis).map_err(damaged("a time"))
}

/// A time of which every nanosecond counts.
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

/// The columns of an [`Event`], in the order in which [`event`] reads them.
pub(super) const EVENT: &str = "SELECT e.seq, e.evaluation_id, a.name, e.tool, e.passed, e.gate_us, e.agent_us, e.latency_us, e.gates, \
     e.score, e.evaluations, e.created_at, e.accepted_at, e.salt, e.previous \
     FROM evaluations e JOIN agents a ON a.agent = e.agent";

pub(super) fn event(row: &Row<'_>) -> Result<Event, StoreError> {
    let tool: Option<String> = row.get(3)?;
    let agent_us: Option<u32> = row.get(6)?;
    Ok(Event {
        seq: Seq(row.get(0)?),
        id: text(row, 1, "an evaluation id")?,
        agent: text(row, 2, "an agent id")?,
        tool: tool.map(|tool| tool.parse()).transpose().map_err(damaged("a tool"))?,
        passed: row.get(4)?,
        gate_latency: latency(row.get(5)?)?,
        agent_latency: agent_us.map(latency).transpose()?,
        latency: latency(row.get(7)?)?,
        gates: row.get(8)?,
        standing: Standing::new(row.get(9)?, row.get(10)?),
        created_at: time(row.get(11)?)?,
        accepted_at: time(row.get(12)?)?,
        salt: row.get(13)?,
    })
}

/// The evaluation of an id.
pub(super) fn event_of(connection: &Connection, org: OrgKey, id: &str) -> Result<Option<Event>, StoreError> {
    let mut select =
        connection.prepare_cached(&format!("{EVENT} WHERE e.org = ?1 AND e.evaluation_id = ?2"))?;
    let mut rows = select.query(params![org, id])?;
    rows.next()?.map(event).transpose()
}

/// The place of the last evaluation of an organization.
pub(super) fn last_place(connection: &Connection, org: OrgKey) -> Result<Option<i64>, StoreError> {
    let (Seq(first), Seq(end)) = org.places();
    let mut select =
        connection.prepare_cached("SELECT max(seq) FROM evaluations WHERE seq >= ?1 AND seq < ?2")?;
    Ok(select.query_row([first, end], |row| row.get(0))?)
}

/// An agent's evaluations from `last` backwards, until `take` wants no more. A chain that leads nowhere, or not back, is
/// damage: an end of it would pass for the whole, and a circle would never end. It may end where evaluations were pruned.
pub(super) fn walk(
    connection: &Connection,
    select: &mut CachedStatement<'_>,
    last: Option<i64>,
    mut take: impl FnMut(i64, &Row<'_>) -> Result<bool, StoreError>,
) -> Result<(), StoreError> {
    let mut next = last;
    while let Some(seq) = next {
        let mut rows = select.query([seq])?;
        let broken = || StoreError::Damaged(format!("the chain of evaluations at {seq}"));
        let Some(row) = rows.next()? else {
            return if seq <= pruned(connection, OrgKey::of(Seq(seq)))? { Ok(()) } else { Err(broken()) };
        };
        next = row.get("previous")?;
        if next.is_some_and(|next| next >= seq) {
            return Err(broken());
        }
        if !take(seq, row)? {
            return Ok(());
        }
    }
    Ok(())
}

/// Up to which place evaluations of an organization may be missing because of their age.
pub(super) fn pruned(connection: &Connection, org: OrgKey) -> Result<i64, StoreError> {
    mark(connection, org, "pruned")
}

/// The highest place of an organization that was ever taken, as far as evaluations were deleted.
pub(super) fn top(connection: &Connection, org: OrgKey) -> Result<i64, StoreError> {
    mark(connection, org, "top")
}

fn mark(connection: &Connection, org: OrgKey, name: &str) -> Result<i64, StoreError> {
    let mut select = connection.prepare_cached(&format!("SELECT {name} FROM orgs WHERE org = ?1"))?;
    Ok(select.query_row([org], |row| row.get(0)).optional()?.unwrap_or(-1))
}

/// The settings of an organization.
pub(super) fn settings(connection: &Connection, org: OrgKey) -> Result<OrgSettings, StoreError> {
    let mut select = connection.prepare_cached("SELECT latency_source FROM orgs WHERE org = ?1")?;
    let name: String = select.query_row([org], |row| row.get(0))?;
    let latency_source = LatencySource::named(&name);
    let damage = || StoreError::Damaged(format!("a source of latency: {name:?}"));
    Ok(OrgSettings { latency_source: latency_source.ok_or_else(damage)? })
}

/// What was erased in an organization, the latest first.
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

/// The last evaluations of an agent from `last` backwards, at most a window of them, and only those after `until`.
pub(super) fn newest_first(
    connection: &Connection,
    last: Option<i64>,
    until: Option<i64>,
) -> Result<Vec<Evaluation>, StoreError> {
    let mut newest_first = Vec::new();
    let mut select =
        connection.prepare_cached("SELECT previous, passed, latency_us FROM evaluations WHERE seq = ?1")?;
    walk(connection, &mut select, last, |_, row| {
        newest_first.push(Evaluation { passed: row.get(1)?, latency: latency(row.get(2)?)? });
        let before: Option<i64> = row.get(0)?;
        Ok(newest_first.len() < WINDOW_SIZE && before > until)
    })?;
    Ok(newest_first)
}

/// The window that ends with an evaluation.
pub(super) fn window(connection: &Connection, last: Option<i64>) -> Result<Window, StoreError> {
    Ok(newest_first(connection, last, None)?.into_iter().rev().collect())
}

/// A page of an agent's evaluations.
pub(super) fn events_of_agent(
    connection: &Connection,
    agent: Option<AgentState>,
    query: EventQuery,
    patience: &Patience,
) -> Result<Events, StoreError> {
    let mut page = EventPage::new(query);
    let Some(AgentState { agent, last_seq, .. }) = agent else { return Ok(page.finish()) };
    // A page that goes on from an evaluation of this agent need not walk there again.
    let resumed = match page.query().before {
        Some(Seq(before)) => connection
            .query_row(
                "SELECT previous FROM evaluations WHERE seq = ?1 AND agent = ?2",
                [before, agent],
                |row| row.get(0),
            )
            .optional()?,
        None => None,
    };
    let mut select = connection.prepare_cached(&format!("{EVENT} WHERE e.seq = ?1"))?;
    walk(connection, &mut select, resumed.unwrap_or(last_seq), |_, row| {
        patience.check()?;
        Ok(page.take(event(row)?))
    })?;
    Ok(page.finish())
}

/// A page of an organization's evaluations.
pub(super) fn events_of_org(
    connection: &Connection,
    org: OrgKey,
    query: EventQuery,
    patience: &Patience,
) -> Result<Events, StoreError> {
    let mut page = EventPage::new(query);
    let (Seq(first), Seq(end)) = org.places();
    let query = page.query();
    let end = query.before.map_or(end, |Seq(before)| before.min(end));
    let from = query.from.map_or(i64::MIN, first_milli);
    let to = query.to.map_or(i64::MAX, Timestamp::millis);
    let few_in_span = (query.from.is_some() || query.to.is_some())
        && {
            let mut count = connection.prepare_cached(
            "SELECT count(*) FROM (SELECT 1 FROM evaluations WHERE org = ?1 AND created_at BETWEEN ?2 AND ?3 LIMIT ?4)",
        )?;
            count.query_row(params![org, from, to, SPAN_MAX + 1], |row| row.get::<_, i64>(0))? <= SPAN_MAX
        };
    // The plus keeps the column from choosing an index: the log is walked as it stands.
    let found = if few_in_span {
        "SELECT seq FROM evaluations WHERE org = ?5 AND created_at BETWEEN ?3 AND ?4 AND seq >= ?1 AND seq < ?2"
    } else {
        "SELECT seq FROM evaluations WHERE seq >= ?1 AND seq < ?2 AND +created_at BETWEEN ?3 AND ?4 AND +org = ?5"
    };
    let mut seqs = connection.prepare_cached(&format!("{found} ORDER BY seq DESC"))?;
    let mut select = connection.prepare_cached(&format!("{EVENT} WHERE e.seq = ?1"))?;
    let mut seqs = seqs.query(params![first, end, from, to, org])?;
    while let Some(seq) = seqs.next()? {
        patience.check()?;
        let mut rows = select.query([seq.get::<_, i64>(0)?])?;
        if let Some(row) = rows.next()?
            && !page.take(event(row)?)
        {
            break;
        }
    }
    Ok(page.finish())
}

/// The first whole millisecond that is not before a time.
fn first_milli(time: Timestamp) -> i64 {
    let millis = time.millis();
    if Timestamp::from_millis(millis).is_ok_and(|floor| floor < time) { millis + 1 } else { millis }
}

/// The reply kept for an idempotency key, if it is not older than `since`.
pub(super) fn saved_reply(
    connection: &Connection,
    org: OrgKey,
    key: &str,
    since: i64,
) -> Result<Option<SavedReply>, StoreError> {
    let mut select = connection.prepare_cached(
        "SELECT fingerprint, status, body FROM replies WHERE org = ?1 AND key = ?2 AND created_at >= ?3",
    )?;
    let reply = select.query_row(params![org, key, since], |row| {
        Ok(SavedReply { fingerprint: row.get(0)?, status: row.get(1)?, body: row.get(2)? })
    });
    Ok(reply.optional()?)
}

/// Every key.
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

/// The latest time that was given to anything: times never go backwards.
pub(super) fn latest(connection: &Connection) -> Result<Timestamp, StoreError> {
    // An organization's last evaluation is its latest, and the agent of the highest number was named last. Sessions move the time at which
    // their agent was last seen, which an index has by minute.
    let latest: Option<i64> = connection.query_row(
        "SELECT max(latest) FROM (SELECT max(created_at) AS latest FROM orgs \
         UNION ALL SELECT max(created_at) FROM keys UNION ALL SELECT max(created_at) FROM replies \
         UNION ALL SELECT first_seen FROM agents WHERE agent = (SELECT max(agent) FROM agents) \
         UNION ALL SELECT accepted_at FROM agent_run_scores WHERE run = (SELECT max(run) FROM agent_run_scores) \
         UNION ALL SELECT accepted_at FROM reputation_events WHERE event = (SELECT max(event) FROM reputation_events) \
         UNION ALL SELECT max(asked_at) FROM tombstones \
         UNION ALL SELECT (SELECT max(last_seen) FROM agents WHERE org = o.org AND seen_minute = \
         (SELECT max(seen_minute) FROM agents WHERE org = o.org)) FROM orgs o \
         UNION ALL SELECT (SELECT accepted_at FROM evaluations WHERE seq = \
         (SELECT max(seq) FROM evaluations WHERE seq < (o.org + 1) << ?1)) FROM orgs o)",
        [SEQ_BITS],
        |row| row.get(0),
    )?;
    Ok(latest.and_then(|at| Timestamp::from_millis(at).ok()).unwrap_or(Timestamp::MIN))
}
