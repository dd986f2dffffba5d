//! Computes every score again from the evidence and compares it with what is stored, row by row. [`crate::verify`] compares what
//! a store answers; this finds which row is wrong, and what only this engine has: chains, marks, seals and the structure of the file.
//!
//! Evaluations are read once, in the order of acceptance. What the store keeps beside the evidence has to be what
//! the rules give: the organization of each evaluation, times of acceptance that do not go backwards, the score and
//! the count after each evaluation, the chain of each agent's evaluations, and in the row of each agent the sums,
//! the score, the last position and the last time, up to the position up to which rows are settled. If the oldest
//! evaluations of an agent were deleted by retention, its scores are compared from the first complete window on.
//!
//! The days of each agent, and those of its organization, have to be the sums of its evaluations.
//!
//! A run has to have the score that its report gives against its stored baseline. The sums of each identity's
//! minutes, hours and days have to be those of its events. A session has to have the state that its records give,
//! the traces and the summary that follow (unless these are stale), and, if it is closed, the reputation event that
//! follows.
//!
//! First the structure of the file is checked (`PRAGMA integrity_check`: every page, every index against its
//! table), so that only sound pages are read. At the end the seals are computed again and the rows are counted.
//! They come last, because the steps before give better names to what they find.

mod days;
mod identities;
mod runs;
mod seals;
mod sessions;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use renown_core::ids::{IdError, OrgId};
use renown_core::reputation::{Sample, Tally, WINDOW_SIZE, Window};
use renown_core::units::Micros;
use rusqlite::{Connection, OptionalExtension, Row};

use super::give_way::GiveWay;
use super::mark::SavedMark;
use super::orgs::OrgKey;
use super::rows;
use super::schema::MINUTE_MS;
use crate::error::StoreError;
use crate::query::rank;
use crate::verify::{Difference, Verified, VerifyResult};

#[derive(Default)]
struct Replayed {
    org: Option<OrgKey>,
    window: Window,
    last_position: Option<i64>,
    /// Whether its first evaluations were deleted.
    is_cut: bool,
    /// The position of the last evaluation that its row contains.
    row_last_position: Option<i64>,
    settled: Settled,
}

impl Replayed {
    fn new(connection: &Connection, agent: i64) -> Result<Self, StoreError> {
        let mut select = connection.prepare_cached("SELECT last_seq FROM agents WHERE agent = ?1")?;
        let row_last_position = select.query_row([agent], |row| row.get(0)).optional()?.flatten();
        Ok(Self { row_last_position, ..Self::default() })
    }
}

/// The marks of an organization: up to which positions the rows of agents are settled, and evaluations may have
/// been deleted by retention.
struct Marks {
    settled: i64,
    pruned: i64,
}

/// What the row of an agent has to contain.
#[derive(Default)]
struct Settled {
    tally: Tally,
    last_position: Option<i64>,
    last_accepted: Option<i64>,
    /// The latest time of all of them. It is later than that of the last one if the clock went back.
    latest: Option<i64>,
}

/// Checks the file, replays all evidence up to the first difference, and compares every seal. `report` gets how
/// many evaluations are done, and of how many.
pub(super) fn run(
    connection: &Connection,
    before: &SavedMark,
    give_way: &GiveWay,
    report: &mut dyn FnMut(u64, u64),
) -> Result<VerifyResult, StoreError> {
    // A damaged value must not end the process that looks for damage.
    let verdict = catch_unwind(AssertUnwindSafe(|| check(connection, before, give_way, report)));
    let unreadable = || StoreError::Damaged("its evidence cannot be replayed".to_owned());
    verdict.unwrap_or_else(|_| Err(unreadable())).map_err(unreadable_values)
}

/// Treats a value of the wrong type, or a sum that overflows, as damage.
fn unreadable_values(error: StoreError) -> StoreError {
    use rusqlite::Error::{
        FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType, QueryReturnedNoRows, Utf8Error,
    };
    let StoreError::Sqlite(sqlite) = &error else { return error };
    let is_value = matches!(
        sqlite,
        FromSqlConversionFailure(..)
            | IntegralValueOutOfRange(..)
            | InvalidColumnType(..)
            | QueryReturnedNoRows
            | Utf8Error(..)
    );
    if is_value || sqlite.sqlite_error_code() == Some(rusqlite::ErrorCode::Unknown) {
        return StoreError::Damaged(sqlite.to_string());
    }
    error
}

fn check(
    connection: &Connection,
    before: &SavedMark,
    give_way: &GiveWay,
    report: &mut dyn FnMut(u64, u64),
) -> Result<VerifyResult, StoreError> {
    let transaction = connection.unchecked_transaction()?;
    seals::check_structure(&transaction)?;
    let total: u64 = transaction.query_row("SELECT count(*) FROM evaluations", [], |row| row.get(0))?;
    let mut verified = Verified::default();
    let mut agents: HashMap<i64, Replayed> = HashMap::new();
    let mut select = transaction.prepare(
        "SELECT seq, agent, previous, passed, latency_us, score, evaluations, gate_us, agent_us, org, accepted_at \
         FROM evaluations ORDER BY seq",
    )?;
    let mut rows = select.query([])?;
    let (mut org, mut marks) = (None, Marks { settled: i64::MAX, pruned: -1 });
    while let Some(row) = rows.next()? {
        let agent: i64 = row.get(1)?;
        let kept_org: OrgKey = row.get(9)?;
        let fresh_org = OrgKey::of(row.get(0)?);
        if org.replace(fresh_org) != Some(fresh_org) {
            marks = Marks {
                settled: settled_of(&transaction, fresh_org)?,
                pruned: rows::pruned(&transaction, fresh_org)?,
            };
        }
        let found = match differs("the organization", &kept_org, &fresh_org) {
            Some(found) => Some(found),
            None => replay(replayed(&mut agents, &transaction, agent)?, row, &marks)?,
        };
        if let Some(found) = found {
            return Ok(Err(name(&transaction, agent, Some(row.get(0)?), found)));
        }
        verified.evaluations += 1;
        give_way.check()?;
        if verified.evaluations.is_multiple_of(10_000) {
            report(verified.evaluations, total);
        }
    }
    let mut verdict = compare_agents(&transaction, &mut agents, &mut verified)?;
    for compare in [
        &mut (|_: &mut Verified| compare_marks(&transaction)) as &mut dyn FnMut(&mut Verified) -> _,
        &mut |_| days::compare(&transaction),
        &mut |verified| runs::compare(&transaction, verified),
        &mut |verified| identities::compare(&transaction, verified),
        &mut |verified| sessions::compare(&transaction, verified),
        &mut |_| days::compare_activity(&transaction),
    ] {
        verdict = match verdict {
            None => compare(&mut verified)?,
            found => found,
        };
    }
    report(verified.evaluations, total);
    if let Some(difference) = verdict {
        return Ok(Err(difference));
    }
    seals::compare(&transaction)?;
    match before.lost(&transaction)? {
        Some(lost) => Err(StoreError::Damaged(lost.to_string())),
        None => Ok(Ok(verified)),
    }
}

fn replayed<'a>(
    agents: &'a mut HashMap<i64, Replayed>,
    connection: &Connection,
    agent: i64,
) -> Result<&'a mut Replayed, StoreError> {
    Ok(match agents.entry(agent) {
        Entry::Occupied(known) => known.into_mut(),
        Entry::Vacant(vacant) => vacant.insert(Replayed::new(connection, agent)?),
    })
}

type Found = (&'static str, String, String);

fn differs<T: PartialEq + fmt::Debug>(what: &'static str, kept: &T, fresh: &T) -> Option<Found> {
    (kept != fresh).then(|| (what, format!("{kept:?}"), format!("{fresh:?}")))
}

/// Counts one evaluation and compares what is stored with it. Everything is read as the widest integer, so that an
/// impossible value is reported as a difference with a name.
fn replay(replayed: &mut Replayed, row: &Row<'_>, marks: &Marks) -> Result<Option<Found>, StoreError> {
    let (us, gate_us, agent_us): (i64, i64, Option<i64>) = (row.get(4)?, row.get(7)?, row.get(8)?);
    let latency = u32::try_from(us).ok().and_then(Micros::from_us);
    let Some(latency) = latency.filter(|_| us == gate_us || Some(us) == agent_us) else {
        let fresh = format!("{gate_us} or {agent_us:?}, at most {}", Micros::MAX.us());
        return Ok(Some(("the latency that counts", us.to_string(), fresh)));
    };
    replayed.window.push(Sample { passed: row.get(3)?, latency });
    let (position, tally) = (row.get(0)?, replayed.window.tally());
    let previous: Option<i64> = row.get(2)?;
    if replayed.last_position.is_none() && previous.is_some_and(|previous| previous <= marks.pruned) {
        replayed.is_cut = true;
        replayed.last_position = previous;
    }
    let is_whole = !replayed.is_cut || tally.evaluations() == WINDOW_SIZE as u64;
    let standing = tally.standing();
    replayed.org = Some(OrgKey::of(position));
    let found = differs("the evaluation before", &previous, &replayed.last_position);
    let scored = differs("the score after it", &row.get(5)?, &i64::from(standing.score)).or(differs(
        "the number of evaluations after it",
        &row.get(6)?,
        &whole(standing.eval_count),
    ));
    let found = found.or(scored.filter(|_| is_whole));
    replayed.last_position = Some(position);
    // The row may be ahead of the mark, but never behind it.
    if position <= marks.settled || Some(position) <= replayed.row_last_position {
        let accepted_at: i64 = row.get(10)?;
        let latest = replayed.settled.latest.max(Some(accepted_at));
        replayed.settled =
            Settled { tally, last_position: Some(position), last_accepted: Some(accepted_at), latest };
    }
    Ok(found)
}

/// Returns whether the sums of any identity are wrong.
pub(super) fn identities_differ(connection: &Connection) -> Result<bool, StoreError> {
    Ok(identities::compare(connection, &mut Verified::default())?.is_some())
}

/// Returns whether the days of any agent are wrong.
pub(super) fn days_differ(connection: &Connection) -> Result<bool, StoreError> {
    Ok(days::compare(connection)?.is_some())
}

/// Returns whether any count of a trigger is wrong.
pub(super) fn activity_differs(connection: &Connection) -> Result<bool, StoreError> {
    Ok(days::compare_activity(connection)?.is_some())
}

/// Finds the first session after this one whose state, summary or reputation event is missing or wrong. Returns its
/// number and its organization.
pub(super) fn session_that_differs(
    connection: &Connection,
    after: i64,
) -> Result<Option<(i64, OrgId)>, StoreError> {
    let found = sessions::first(connection, after, sessions::Stale::Found, &mut Verified::default())?;
    let named = |(number, difference): (i64, Box<Difference>)| Ok((number, difference.org.parse()?));
    found.map(named).transpose().map_err(|error: IdError| rows::damaged("an organization")(error))
}

/// Returns the position up to which the rows of an organization's agents are settled.
fn settled_of(connection: &Connection, org: OrgKey) -> Result<i64, StoreError> {
    let mut select = connection.prepare_cached("SELECT settled FROM orgs WHERE org = ?1")?;
    Ok(select.query_row([org], |row| row.get(0)).optional()?.unwrap_or(i64::MAX))
}

fn whole(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn compare_agents(
    connection: &Connection,
    agents: &mut HashMap<i64, Replayed>,
    verified: &mut Verified,
) -> Result<Option<Box<Difference>>, StoreError> {
    let mut select = connection.prepare(
        "SELECT agent, last_seq, evaluations, passed, streak, latency_us, score, last_seen, first_seen, \
         seen_minute, org, session_seen_at, rank FROM agents ORDER BY agent",
    )?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let agent: i64 = row.get(0)?;
        let replayed = agents.remove(&agent).unwrap_or_default();
        let Settled { tally, last_position, last_accepted, latest } = replayed.settled;
        let org: OrgKey = row.get(10)?;
        let fresh = [tally.evaluations(), tally.passed(), tally.streak(), tally.latency_us()].map(whole);
        let kept = [row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?];
        // An agent without evidence was last seen when it was first named. Runs, records and signals set the time
        // at once.
        let evaluated: i64 = last_accepted.map_or_else(|| row.get(8), Ok)?;
        let (ran, session_seen_at): (_, Option<i64>) = (runs::last_seen(connection, agent)?, row.get(11)?);
        let expected = evaluated.max(ran.max(session_seen_at).unwrap_or(evaluated));
        // If the clock went back, the last of these times need not be the latest.
        let kept_seen: i64 = row.get(7)?;
        let is_one = [Some(evaluated), ran, session_seen_at, latest].contains(&Some(kept_seen));
        let last_seen = if is_one { kept_seen } else { expected };
        let found = differs("the organization", &org, &replayed.org.unwrap_or(org))
            .or(differs("the last evaluation", &row.get(1)?, &last_position))
            .or(differs("the sums of the window", &kept, &fresh))
            .or(differs("the score", &row.get(6)?, &i64::from(tally.breakdown().score())))
            .or(differs("the rank", &row.get(12)?, &rank(tally)))
            .or(differs("when it was last seen", &kept_seen, &last_seen))
            .or(differs("the minute when it was last seen", &row.get(9)?, &(last_seen / MINUTE_MS)));
        if let Some(found) = found {
            return Ok(Some(name(connection, agent, None, found)));
        }
        verified.agents += 1;
    }
    // What is left belongs to no agent, unless it is being erased.
    let mut being_erased =
        connection.prepare("SELECT 1 FROM tombstones WHERE agent = ?1 AND done_at IS NULL")?;
    for agent in agents.keys().copied().collect::<Vec<_>>() {
        if being_erased.exists([agent])? {
            agents.remove(&agent);
        }
    }
    let orphan = agents.keys().min();
    Ok(orphan.map(|&agent| name(connection, agent, None, ("the agent", "missing".into(), "present".into()))))
}

/// Checks that no mark is beyond the last evaluation of its organization.
fn compare_marks(connection: &Connection) -> Result<Option<Box<Difference>>, StoreError> {
    let mut select = connection.prepare("SELECT org, name, settled FROM orgs")?;
    let mut orgs = select.query([])?;
    while let Some(row) = orgs.next()? {
        let org: OrgKey = row.get(0)?;
        let (first, _) = org.numbers();
        let last = rows::last_position(connection, org)?;
        let (settled, last): (i64, i64) = (row.get(2)?, last.unwrap_or(first - 1));
        let last = last.max(rows::top(connection, org)?);
        if let Some((what, kept, fresh)) =
            differs("the position up to which rows are settled", &settled, &settled.min(last))
        {
            let (org, agent, evaluation, run, session) = (row.get(1)?, None, None, None, None);
            return Ok(Some(Box::new(Difference {
                org,
                agent,
                evaluation,
                run,
                session,
                what,
                kept,
                fresh,
            })));
        }
    }
    Ok(None)
}

fn name(
    connection: &Connection,
    agent: i64,
    position: Option<i64>,
    (what, kept, fresh): Found,
) -> Box<Difference> {
    let text = |sql: &str, key: i64| -> String {
        connection.query_row(sql, [key], |row| row.get(0)).unwrap_or_else(|_| format!("number {key}"))
    };
    Box::new(Difference {
        org: text("SELECT o.name FROM agents a JOIN orgs o ON o.org = a.org WHERE a.agent = ?1", agent),
        agent: Some(text("SELECT name FROM agents WHERE agent = ?1", agent)),
        evaluation: position
            .map(|position| text("SELECT evaluation_id FROM evaluations WHERE seq = ?1", position)),
        run: None,
        session: None,
        what,
        kept,
        fresh,
    })
}
