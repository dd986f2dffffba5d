//! Every score again from the evidence, compared with what is kept.
//!
//! The log is read once, in the order of acceptance. What the store keeps beside the evidence has to be what the rules make
//! of it: the organization of each evaluation, times of acceptance that do not go backwards, the score and the count after
//! each, the chain of each agent's evaluations, and the sums, the score, the last place and the last time beside each agent,
//! up to the place of the log to which those are settled. Where the oldest evaluations of an agent were pruned, its scores are
//! compared from the first whole window on.
//!
//! The days of each agent, and those of its organization, have to be what its evaluations add up to.
//!
//! A run has to have the score that its report gives against the baseline that is kept with it, and the sums of each identity's
//! minutes, hours and days those of its events. A session has to have the state that its records give, the traces and the summary that
//! follow, unless these are stale, and one that is closed the reputation event that follows from it.
//!
//! Before that the structure of the file is checked (`PRAGMA integrity_check`: every page, every index against its table), so that the
//! replay walks over sound pages only. After it the seals are computed again and the rows are counted. They come last because the replay
//! names what it finds better than a seal can.

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
use renown_core::reputation::{Evaluation, Tally, WINDOW_SIZE, Window};
use renown_core::units::Micros;
use rusqlite::{Connection, OptionalExtension, Row};

use super::give_way::GiveWay;
use super::mark::Before;
use super::orgs::OrgKey;
use super::rows;
use super::schema::MINUTE_MS;
use crate::error::StoreError;
use crate::evidence::Seq;
use crate::query::rank;

/// What was compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// Evaluations that were replayed.
    pub evaluations: u64,
    /// Agents whose sums were compared.
    pub agents: u64,
    /// Runs that were scored again.
    pub runs: u64,
    /// Runs whose scoring failed inside, so that they have no score to compare.
    pub unscored: u64,
    /// Reputation events that were added up again.
    pub events: u64,
    /// Sessions whose records were folded again.
    pub sessions: u64,
}

/// Something kept that is not what the evidence gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The organization.
    pub org: String,
    /// The agent, if it is about one.
    pub agent: Option<String>,
    /// The evaluation, if it is about one.
    pub evaluation: Option<String>,
    /// The run, if it is about one.
    pub run: Option<String>,
    /// The session, if it is about one.
    pub session: Option<String>,
    /// What is compared.
    pub what: &'static str,
    /// What is kept.
    pub kept: String,
    /// What the evidence gives.
    pub fresh: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { org, agent, evaluation, run, session, what, kept, fresh } = self;
        match agent {
            Some(agent) => write!(f, "agent {agent:?} of {org}")?,
            None => write!(f, "organization {org}")?,
        }
        if let Some(evaluation) = evaluation {
            write!(f, ", evaluation {evaluation}")?;
        }
        if let Some(run) = run {
            write!(f, ", run {run:?}")?;
        }
        if let Some(session) = session {
            write!(f, ", session {session:?}")?;
        }
        write!(f, ": {what} is kept as {kept}, the evidence gives {fresh}")
    }
}

/// How a replay ended.
pub type Verdict = Result<Verified, Box<Difference>>;

#[derive(Default)]
struct Replayed {
    org: Option<OrgKey>,
    window: Window,
    last_seq: Option<i64>,
    /// Its first evaluations are gone.
    is_cut: bool,
    /// The last evaluation that its row holds.
    row_last_seq: Option<i64>,
    settled: Settled,
}

impl Replayed {
    fn new(connection: &Connection, agent: i64) -> Result<Self, StoreError> {
        let mut select = connection.prepare_cached("SELECT last_seq FROM agents WHERE agent = ?1")?;
        let row_last_seq = select.query_row([agent], |row| row.get(0)).optional()?.flatten();
        Ok(Self { row_last_seq, ..Self::default() })
    }
}

/// Up to which places of an organization the rows of agents are settled, and evaluations may be missing.
struct Marks {
    settled: i64,
    pruned: i64,
}

/// What the row of an agent has to hold.
#[derive(Default)]
struct Settled {
    tally: Tally,
    last_seq: Option<i64>,
    last_accepted: Option<i64>,
    /// The latest time of all of them. It is later than the last one's where the clock went back.
    latest: Option<i64>,
}

/// Checks the file, replays all evidence up to the first difference, and compares every seal. `report` hears how many evaluations are
/// done, of how many.
pub(super) fn run(
    connection: &Connection,
    before: &Before,
    give_way: &GiveWay,
    report: &mut dyn FnMut(u64, u64),
) -> Result<Verdict, StoreError> {
    // No value of a damaged row may end the process that looks for damage.
    let verdict = catch_unwind(AssertUnwindSafe(|| check(connection, before, give_way, report)));
    let unreadable = || StoreError::Damaged("its evidence cannot be replayed".to_owned());
    verdict.unwrap_or_else(|_| Err(unreadable())).map_err(unreadable_values)
}

/// A value that a column cannot hold, or a sum that no sum of written values can be, is damage here.
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
    before: &Before,
    give_way: &GiveWay,
    report: &mut dyn FnMut(u64, u64),
) -> Result<Verdict, StoreError> {
    let moment = connection.unchecked_transaction()?;
    seals::check_structure(&moment)?;
    let total: u64 = moment.query_row("SELECT count(*) FROM evaluations", [], |row| row.get(0))?;
    let mut verified = Verified::default();
    let mut agents: HashMap<i64, Replayed> = HashMap::new();
    let mut select = moment.prepare(
        "SELECT seq, agent, previous, passed, latency_us, score, evaluations, gate_us, agent_us, org, accepted_at \
         FROM evaluations ORDER BY seq",
    )?;
    let mut rows = select.query([])?;
    let (mut org, mut marks) = (None, Marks { settled: i64::MAX, pruned: -1 });
    while let Some(row) = rows.next()? {
        let agent: i64 = row.get(1)?;
        let kept_org: OrgKey = row.get(9)?;
        let fresh_org = OrgKey::of(Seq(row.get(0)?));
        if org.replace(fresh_org) != Some(fresh_org) {
            marks =
                Marks { settled: settled_of(&moment, fresh_org)?, pruned: rows::pruned(&moment, fresh_org)? };
        }
        let found = match differs("the organization", &kept_org, &fresh_org) {
            Some(found) => Some(found),
            None => replay(replayed(&mut agents, &moment, agent)?, row, &marks)?,
        };
        if let Some(found) = found {
            return Ok(Err(name(&moment, agent, Some(row.get(0)?), found)));
        }
        verified.evaluations += 1;
        give_way.check()?;
        if verified.evaluations.is_multiple_of(10_000) {
            report(verified.evaluations, total);
        }
    }
    let mut verdict = compare_agents(&moment, &mut agents, &mut verified)?;
    for compare in [
        &mut (|_: &mut Verified| compare_marks(&moment)) as &mut dyn FnMut(&mut Verified) -> _,
        &mut |_| days::compare(&moment),
        &mut |verified| runs::compare(&moment, verified),
        &mut |verified| identities::compare(&moment, verified),
        &mut |verified| sessions::compare(&moment, verified),
        &mut |_| days::compare_activity(&moment),
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
    seals::compare(&moment)?;
    match before.lost(&moment)? {
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

/// Counts one evaluation and compares what is kept with it. Everything is read as the widest integer, so that a value that
/// was never written is a difference with a name like any other.
fn replay(replayed: &mut Replayed, row: &Row<'_>, marks: &Marks) -> Result<Option<Found>, StoreError> {
    let (us, gate_us, agent_us): (i64, i64, Option<i64>) = (row.get(4)?, row.get(7)?, row.get(8)?);
    let latency = u32::try_from(us).ok().and_then(Micros::from_us);
    let Some(latency) = latency.filter(|_| us == gate_us || Some(us) == agent_us) else {
        let fresh = format!("{gate_us} or {agent_us:?}, at most {}", Micros::MAX.us());
        return Ok(Some(("the latency that counts", us.to_string(), fresh)));
    };
    replayed.window.push(Evaluation { passed: row.get(3)?, latency });
    let (seq, tally) = (row.get(0)?, replayed.window.tally());
    let previous: Option<i64> = row.get(2)?;
    if replayed.last_seq.is_none() && previous.is_some_and(|previous| previous <= marks.pruned) {
        replayed.is_cut = true;
        replayed.last_seq = previous;
    }
    let is_whole = !replayed.is_cut || tally.evaluations() == WINDOW_SIZE as u64;
    let standing = tally.standing();
    replayed.org = Some(OrgKey::of(Seq(seq)));
    let found = differs("the evaluation before", &previous, &replayed.last_seq);
    let scored = differs("the score after it", &row.get(5)?, &i64::from(standing.score)).or(differs(
        "the number of evaluations after it",
        &row.get(6)?,
        &whole(standing.eval_count),
    ));
    let found = found.or(scored.filter(|_| is_whole));
    replayed.last_seq = Some(seq);
    // The row may be ahead of the mark, and never behind it.
    if seq <= marks.settled || Some(seq) <= replayed.row_last_seq {
        let accepted_at: i64 = row.get(10)?;
        let latest = replayed.settled.latest.max(Some(accepted_at));
        replayed.settled = Settled { tally, last_seq: Some(seq), last_accepted: Some(accepted_at), latest };
    }
    Ok(found)
}

/// Whether the sums of any identity are not those of its events.
pub(super) fn identities_differ(connection: &Connection) -> Result<bool, StoreError> {
    Ok(identities::compare(connection, &mut Verified::default())?.is_some())
}

/// Whether the days of any agent are not those of its evaluations.
pub(super) fn days_differ(connection: &Connection) -> Result<bool, StoreError> {
    Ok(days::compare(connection)?.is_some())
}

/// Whether what triggers count is not what there is.
pub(super) fn activity_differs(connection: &Connection) -> Result<bool, StoreError> {
    Ok(days::compare_activity(connection)?.is_some())
}

/// The first session after this one whose state, summary or event is missing or not what its records give, and its organization.
pub(super) fn session_that_differs(
    connection: &Connection,
    after: i64,
) -> Result<Option<(i64, OrgId)>, StoreError> {
    let found = sessions::first(connection, after, sessions::Stale::Found, &mut Verified::default())?;
    let named = |(number, difference): (i64, Box<Difference>)| Ok((number, difference.org.parse()?));
    found.map(named).transpose().map_err(|error: IdError| rows::damaged("an organization")(error))
}

/// Up to which place the rows of an organization's agents hold its log.
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
         seen_minute, org, heard_at, rank FROM agents ORDER BY agent",
    )?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let agent: i64 = row.get(0)?;
        let replayed = agents.remove(&agent).unwrap_or_default();
        let Settled { tally, last_seq, last_accepted, latest } = replayed.settled;
        let org: OrgKey = row.get(10)?;
        let fresh = [tally.evaluations(), tally.passed(), tally.streak(), tally.latency_us()].map(whole);
        let kept = [row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?];
        // An agent that was only named was last seen then. A run is seen at once, and so is what arrives of a session.
        let evaluated: i64 = last_accepted.map_or_else(|| row.get(8), Ok)?;
        let (ran, heard_at): (_, Option<i64>) = (runs::last_seen(connection, agent)?, row.get(11)?);
        let expected = evaluated.max(ran.max(heard_at).unwrap_or(evaluated));
        // Where the clock went back, the last of them need not be the latest.
        let kept_seen: i64 = row.get(7)?;
        let is_one = [Some(evaluated), ran, heard_at, latest].contains(&Some(kept_seen));
        let last_seen = if is_one { kept_seen } else { expected };
        let found = differs("the organization", &org, &replayed.org.unwrap_or(org))
            .or(differs("the last evaluation", &row.get(1)?, &last_seq))
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
    // What is left belongs to nobody, unless it is being erased.
    let mut buried = connection.prepare("SELECT 1 FROM tombstones WHERE agent = ?1 AND done_at IS NULL")?;
    for agent in agents.keys().copied().collect::<Vec<_>>() {
        if buried.exists([agent])? {
            agents.remove(&agent);
        }
    }
    let orphan = agents.keys().min();
    Ok(orphan.map(|&agent| name(connection, agent, None, ("the agent", "missing".into(), "there".into()))))
}

/// Whether no organization's agents are said to hold more than its log has.
fn compare_marks(connection: &Connection) -> Result<Option<Box<Difference>>, StoreError> {
    let mut select = connection.prepare("SELECT org, name, settled FROM orgs")?;
    let mut orgs = select.query([])?;
    while let Some(row) = orgs.next()? {
        let org: OrgKey = row.get(0)?;
        let (Seq(first), _) = org.places();
        let last = rows::last_place(connection, org)?;
        let (settled, last): (i64, i64) = (row.get(2)?, last.unwrap_or(first - 1));
        let last = last.max(rows::top(connection, org)?);
        if let Some((what, kept, fresh)) =
            differs("the place of what is settled", &settled, &settled.min(last))
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
    seq: Option<i64>,
    (what, kept, fresh): Found,
) -> Box<Difference> {
    let text = |sql: &str, key: i64| -> String {
        connection.query_row(sql, [key], |row| row.get(0)).unwrap_or_else(|_| format!("number {key}"))
    };
    Box::new(Difference {
        org: text("SELECT o.name FROM agents a JOIN orgs o ON o.org = a.org WHERE a.agent = ?1", agent),
        agent: Some(text("SELECT name FROM agents WHERE agent = ?1", agent)),
        evaluation: seq.map(|seq| text("SELECT evaluation_id FROM evaluations WHERE seq = ?1", seq)),
        run: None,
        session: None,
        what,
        kept,
        fresh,
    })
}
