//! Rows of agents: the sums beside the evidence, and how far they are behind it.
//!
//! A row of `agents` contains an agent's last evaluation and the sums of its window. Writing it with every
//! evaluation would change most of the pages of a commit. So the rows are *settled* about once a second instead; in
//! between some are behind the evaluations. The file shows how far: the rows of an organization contain every
//! evaluation up to the position `orgs.settled`, and the row of an agent every one up to its `last_seq`. The rows
//! of its days ([`super::days`]) are written with it.
//!
//! Readers replace rows that are behind: the server with its cache ([`super::agent_cache`]), another process with
//! what the evaluations after that position give ([`behind`]).

use std::collections::HashMap;

use renown_core::ids::AgentId;
use renown_core::reputation::Tally;
use renown_core::time::Timestamp;
use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, Row, ToSql, params};

use super::orgs::OrgKey;
use super::readers::Deadline;
use super::rows::{self, text, time};
use crate::error::StoreError;
use crate::query::{AgentQuery, AgentSort, AgentSummary, Agents, contains};

/// The state of an agent after its last evaluation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct AgentState {
    /// Its number. No other agent ever gets it.
    pub(super) agent: i64,
    pub(super) first_seen: Timestamp,
    pub(super) last_seen: Timestamp,
    /// The position of its last evaluation.
    pub(super) last_position: Option<i64>,
    pub(super) tally: Tally,
}

impl AgentState {
    /// Returns this state with the sums up to its last evaluation: those of the row and the evaluations since, or,
    /// if one of them had to leave the window, those of the whole window.
    pub(super) fn summed(self, connection: &Connection) -> Result<Self, StoreError> {
        let mut select = connection.prepare_cached(&format!("{AGENT} agent = ?1"))?;
        let mut rows = select.query([self.agent])?;
        let row = rows.next()?.map(state).transpose()?;
        let (tally, until) = row.map_or((Tally::default(), None), |row| (row.tally, row.last_position));
        let since = rows::newest_first(connection, self.last_position, until)?;
        let grown = since.into_iter().rev().try_fold(tally, Tally::with);
        let tally = grown
            .map_or_else(|| rows::window(connection, self.last_position).map(|window| window.tally()), Ok)?;
        Ok(Self { tally, ..self })
    }

    fn summary(self, agent: AgentId) -> AgentSummary {
        let Self { first_seen, last_seen, tally, .. } = self;
        AgentSummary { agent, first_seen, last_seen, tally }
    }
}

/// The agents of an organization whose rows are behind, with their current state.
pub(super) type Behind = HashMap<AgentId, AgentState>;

const AGENT: &str = "SELECT name, agent, first_seen, last_seen, last_seq, evaluations, passed, streak, latency_us \
     FROM agents WHERE";

fn state(row: &Row<'_>) -> Result<AgentState, StoreError> {
    let sum = |column| row.get::<_, u64>(column);
    let (evaluations, passed, streak, latency_us) = (sum(5)?, sum(6)?, sum(7)?, sum(8)?);
    let tally = Tally::from_sums(evaluations, passed, streak, latency_us)
        .ok_or_else(|| StoreError::Damaged("the sums of an agent".to_owned()))?;
    Ok(AgentState {
        agent: row.get(1)?,
        first_seen: time(row.get(2)?)?,
        last_seen: time(row.get(3)?)?,
        last_position: row.get(4)?,
        tally,
    })
}

/// Finds an agent by its row.
pub(super) fn find(
    connection: &Connection,
    org: OrgKey,
    agent: &AgentId,
) -> Result<Option<AgentState>, StoreError> {
    let mut select = connection.prepare_cached(&format!("{AGENT} org = ?1 AND name = ?2"))?;
    let mut rows = select.query(params![org, agent.as_str()])?;
    rows.next()?.map(state).transpose()
}

/// Returns the sums in an agent's row; zero if it is unknown.
pub(super) fn tally(connection: &Connection, org: OrgKey, agent: &AgentId) -> Result<Tally, StoreError> {
    let mut select = connection.prepare_cached(
        "SELECT evaluations, passed, streak, latency_us FROM agents WHERE org = ?1 AND name = ?2",
    )?;
    let mut rows = select.query(params![org, agent.as_str()])?;
    let Some(row) = rows.next()? else { return Ok(Tally::default()) };
    Tally::from_sums(row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)
        .ok_or_else(|| StoreError::Damaged("the sums of an agent".to_owned()))
}

/// Returns whether an agent still exists.
pub(super) fn exists(connection: &Connection, state: AgentState) -> Result<bool, StoreError> {
    Ok(connection.prepare_cached("SELECT 1 FROM agents WHERE agent = ?1")?.exists([state.agent])?)
}

/// Returns the name of the agent with a number.
pub(super) fn name(connection: &Connection, agent: i64) -> Result<AgentId, StoreError> {
    let mut select = connection.prepare_cached("SELECT name FROM agents WHERE agent = ?1")?;
    let mut rows = select.query([agent])?;
    let missing = || StoreError::Damaged(format!("the agent with the number {agent} is missing"));
    text(rows.next()?.ok_or_else(missing)?, 0, "an agent id")
}

/// Returns how many agents an organization has.
pub(super) fn count(connection: &Connection, org: OrgKey) -> Result<u64, StoreError> {
    Ok(connection
        .prepare_cached("SELECT agents FROM orgs WHERE org = ?1")?
        .query_row([org], |row| row.get(0))?)
}

/// Returns the agent as lists show it.
pub(super) fn summary(agent: &AgentId, state: Option<AgentState>) -> Option<AgentSummary> {
    state.map(|state| state.summary(agent.clone()))
}

/// Returns the agents whose rows are behind, or one of them, without their sums: those with evaluations after
/// `orgs.settled`.
pub(super) fn unsettled_agents(
    connection: &Connection,
    org: OrgKey,
    only: Option<&AgentId>,
) -> Result<Vec<(AgentId, AgentState)>, StoreError> {
    let (first, end) = org.numbers();
    // A single lower bound: with two, SQLite would seek to one and compare the other with every evaluation from
    // there.
    let mut select = connection.prepare_cached(
        "SELECT a.name, a.agent, a.first_seen, max(a.last_seen, e.accepted_at), e.seq FROM \
         (SELECT max(seq) AS last FROM evaluations \
         WHERE seq > max((SELECT settled FROM orgs WHERE org = ?1), ?2 - 1) AND seq < ?3 \
         AND (?4 IS NULL OR agent = (SELECT agent FROM agents WHERE org = ?1 AND name = ?4)) GROUP BY agent) \
         JOIN evaluations e ON e.seq = last JOIN agents a ON a.agent = e.agent WHERE e.seq > coalesce(a.last_seq, -1)",
    )?;
    let mut rows = select.query(params![org, first, end, only.map(AgentId::as_str)])?;
    let mut left = Vec::new();
    while let Some(row) = rows.next()? {
        let state = AgentState {
            agent: row.get(1)?,
            first_seen: time(row.get(2)?)?,
            last_seen: time(row.get(3)?)?,
            last_position: row.get(4)?,
            tally: Tally::default(),
        };
        left.push((text(row, 0, "an agent id")?, state));
    }
    Ok(left)
}

/// Returns the current state of the agents whose rows are behind.
pub(super) fn behind(connection: &Connection, org: OrgKey) -> Result<Behind, StoreError> {
    let left = unsettled_agents(connection, org, None)?.into_iter();
    left.map(|(agent, state)| Ok((agent, state.summed(connection)?))).collect()
}

/// Returns the current state of an agent, from the file alone.
pub(super) fn find_in_log(
    connection: &Connection,
    org: OrgKey,
    agent: &AgentId,
) -> Result<Option<AgentState>, StoreError> {
    match unsettled_agents(connection, org, Some(agent))?.pop() {
        Some((_, state)) => state.summed(connection).map(Some),
        None => find(connection, org, agent),
    }
}

/// The SQL function that returns whether a name contains a text: [`contains`].
const CONTAINS: &str = "renown_contains";

/// Registers the SQL functions that statements about agents use.
pub(super) fn register(connection: &Connection) -> Result<(), StoreError> {
    let flags =
        FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_INNOCUOUS;
    connection.create_scalar_function(CONTAINS, 2, flags, |context| {
        let text = |argument| context.get_raw(argument).as_str().map_err(rusqlite::Error::from);
        Ok(contains(text(0)?, text(1)?))
    })?;
    Ok(())
}

/// Returns the index scans that find the agents of a page in order. Each is the end of a statement. ?1 is the
/// organization, ?2 and ?3 are the value and the name after which the page begins, ?4 is the number of agents. A
/// search adds a condition on the name. Most of the indexes contain the name, so other agents are skipped without
/// reading their rows.
fn walks(query: &AgentQuery) -> &'static [&'static str] {
    match query.sort {
        // First by minute, which an index has in order. Thousands of agents may share a minute, so only their keys
        // are sorted, and the other columns are read only for the agents of the page. With the organization in the
        // outer part too, SQLite would scan all of it.
        AgentSort::LastSeen => {
            &["agent IN (SELECT agent FROM agents WHERE org = ?1 AND seen_minute <= ?2 / 60000 \
             AND (last_seen, name) < (?2, ?3) ORDER BY seen_minute DESC, last_seen DESC, name DESC LIMIT ?4) \
             ORDER BY last_seen DESC, name DESC"]
        }
        AgentSort::Name => &["org = ?1 AND name > ?3 ORDER BY name LIMIT ?4"],
        // First the rest of the agents with the same value: there may be many.
        AgentSort::Score => &[
            "org = ?1 AND rank = ?2 AND name > ?3 ORDER BY name LIMIT ?4",
            "org = ?1 AND rank < ?2 ORDER BY rank DESC, name LIMIT ?4",
        ],
        AgentSort::Evaluations => &[
            "org = ?1 AND evaluations = ?2 AND name > ?3 ORDER BY name LIMIT ?4",
            "org = ?1 AND evaluations < ?2 ORDER BY evaluations DESC, name LIMIT ?4",
        ],
        // The value is the number of missing points, and 1002 is the lowest rank that is shown: `RANK_MAX` and
        // `RANK_SHOWN`.
        AgentSort::Lowest => &[
            "org = ?1 AND rank = 2002 - ?2 AND name > ?3 ORDER BY name LIMIT ?4",
            "org = ?1 AND rank > max(2002 - ?2, 1001) ORDER BY rank, name LIMIT ?4",
        ],
    }
}

/// Returns a page of agents.
pub(super) fn page(
    connection: &Connection,
    org: OrgKey,
    query: &AgentQuery,
    behind: Behind,
    deadline: &Deadline,
) -> Result<Agents, StoreError> {
    let mut found = Vec::new();
    let (value, name) =
        query.after.as_ref().map_or((query.first_value(), ""), |after| (after.value, after.agent.as_str()));
    // One more than fits, and as many as are replaced below. -1 is no limit.
    let rows_max = (!query.skips_rows()).then(|| query.limit.saturating_add(1).saturating_add(behind.len()));
    let rows_max = rows_max.and_then(|rows| i64::try_from(rows).ok()).unwrap_or(-1);
    let searched = query.text.as_ref().map(|text| text.to_lowercase());
    for rest in walks(query) {
        let mut parameters: Vec<&dyn ToSql> = vec![&org, &value, &name, &rows_max];
        let rest = match &searched {
            Some(searched) => {
                parameters.push(searched);
                rest.replacen("org = ?1", &format!("org = ?1 AND {CONTAINS}(name, ?5)"), 1)
            }
            None => (*rest).to_owned(),
        };
        let mut select = connection.prepare_cached(&format!("{AGENT} {rest}"))?;
        let mut rows = select.query(&*parameters)?;
        while let Some(row) = rows.next()?
            && found.len() <= query.limit
        {
            deadline.check()?;
            let agent = state(row)?.summary(text(row, 0, "an agent id")?);
            if query.ends_at(&agent) {
                break;
            }
            if query.matches(&agent) && !behind.contains_key(&agent.agent) {
                found.push(agent);
            }
        }
    }
    let elsewhere = behind.into_iter().map(|(agent, state)| state.summary(agent));
    Ok(Agents::page(found.into_iter().chain(elsewhere), query))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use renown_testing::Scratch;

    use super::*;
    use crate::sqlite::schema;

    #[test]
    fn unsettled_agents_are_found_without_reading_all_evaluations() {
        let scratch = Scratch::new();
        let path = scratch.join("renown.db");
        let mut connection = Connection::open(&path).unwrap();
        schema::upgrade(&mut connection, &path, &schema::STEPS).unwrap();
        // Two organizations, the second without evaluations. The last evaluation of the first one is not settled.
        let fill = "INSERT INTO orgs (org, name, created_at, settled) VALUES (0, 'a', 0, 19999), (1, 'b', 0, -1);
            INSERT INTO agents (agent, org, name, first_seen, last_seen, seen_minute)
                VALUES (1, 0, 'x', 1794744000000, 1794744000000, 29912400);
            WITH RECURSIVE places(seq) AS (SELECT 0 UNION ALL SELECT seq + 1 FROM places WHERE seq < 20000)
            INSERT INTO evaluations SELECT seq, 0, 1, nullif(seq - 1, -1), 'e' || seq, 1, 0, 0, NULL, NULL, '[]',
                1794744000000, 1794744000000, 0, 0, zeroblob(16), 0 FROM places;";
        connection.execute_batch(fill).unwrap();

        let steps = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&steps);
        connection
            .progress_handler(1, Some(move || counted.fetch_add(1, Ordering::Relaxed) == usize::MAX))
            .unwrap();
        let (first, second) = (OrgKey::DEFAULT, OrgKey::of(1 << schema::POSITION_BITS));
        let left = unsettled_agents(&connection, first, None).unwrap();
        assert_eq!(
            left.iter().map(|(agent, state)| (agent.as_str(), state.last_position)).collect::<Vec<_>>(),
            [("x", Some(20_000))]
        );
        assert!(unsettled_agents(&connection, second, None).unwrap().is_empty());
        assert!(unsettled_agents(&connection, second, Some(&"x".parse().unwrap())).unwrap().is_empty());
        let steps = steps.load(Ordering::Relaxed);
        assert!(steps < 1000, "{steps} steps for 20001 evaluations");
    }
}
