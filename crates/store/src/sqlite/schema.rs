//! The tables, their version, and how an older database is upgraded.
//!
//! - `user_version` is the version of the schema. Opening a database of an older release upgrades it step by step,
//!   after a copy was kept as `renown.db.before-<version>`. A database of a newer release is refused.
//! - `seq` columns are positions. The position of an evaluation has the number of its organization above 40 bits
//!   and a running number below. So the table itself is sorted by organization and acceptance, and lists of one
//!   organization never read rows of another one.
//! - `previous` chains the evaluations of an agent. An index over (agent, seq) would do the same, but almost every
//!   evaluation would change a page of it. The chain costs nothing to write and one lookup per step to read.
//! - `evaluations.score` and `evaluations.evaluations` are the agent's standing after an evaluation. They are derived
//!   (`crate::fold::evaluations`), and stored because a list would otherwise read a window per row. `renown verify`
//!   computes them again.
//! - Agents are listed by when they were last seen. An index over that time would change with every evaluation. The
//!   index over the minute changes once per minute, and the agents of one minute are sorted when they are read.
//! - Runs and reputation events are ordered by exact times, so their times are in nanoseconds. All others are in
//!   milliseconds.
//! - The baseline of a run is a range of `runs_by_finish`: the latest 20 of its workspace that ended before it.
//! - `identity_sums` has the sums of the reputation events of each minute, hour and day. So any time range takes a
//!   few hundred rows, however many events there are. `month` is the partition of an event, by which old ones are
//!   found.
//! - `orgs.pruned` is the position up to which retention may have deleted evaluations: a chain may end there.
//!   `orgs.top` is the highest position that was ever used, so that none is used again after its evaluation was
//!   erased.
//! - A record of a session is stored once, by its key: the fingerprint that identifies repeats, or else the number
//!   of the record. The key of the table begins with the time of a log record, which repeats share. So a session
//!   that continues is written at its end and not in all of its pages. For spans, whose repeats share only ids,
//!   this time is 0. A trace of a prompt has a key without a record. `state` is the fold of the
//!   records, and the columns of `summaries` are what a list shows.
//! - `sessions.signal_agent` is the agent that was last sent with signals.
//! - `sessions.check_at` is when to check whether an open session is over. It does not move with every record: a
//!   session that is not over then gets a new `check_at`. It is null when the session is closed.
//! - `sessions.event_id` is the id of the reputation event that a session became or will become. No client may use
//!   this id.
//! - A session without a `session_id` is waiting to be deleted, like those of an erased agent.
//! - `session_erasures` has the sessions in which the name of an erased agent is still to be searched for.
//! - `agents` has what can be rebuilt from evaluations: the sums of the window. `renown verify` compares them.
//!   `orgs.settled` is the position up to which the rows of an organization are current. `agents.session_seen_at`
//!   is when a record or a signal of a session last named the agent.
//! - `agent_days`, `agent_gate_days` and `agent_tool_days` have the sums of an agent's evaluations per day,
//!   `org_days` and `org_gate_days` the sums of those over all agents; see `crate::days`. In their keys the day
//!   comes before the agent, so that rows that are written at the same time are neighbors. The days of one agent
//!   are found through `org_days`.
//! - `request_keys` has what was accepted for each request key, and `request_key_agents` the agents that it was about,
//!   in the order of the reply. `position` is that of an evaluation or a run; see `crate::request_keys`.
//! - `eval_runs`, `eval_results` and `schedules` have the JSON of their state, and what they are found by in columns;
//!   see `crate::eval_runs` and `crate::schedules`.
//! - `rank` orders agents by score, see `crate::query`. `orgs.agents` counts agents, by triggers.
//! - `seal` is the checksum of a row, and `marks` has the counts of rows and of writes; see `seal` and `mark`.
//! - `tombstones.clean_at` is when the last byte of the erased agent was cleared from the files; see `scrub`.

mod steps;

use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::{backup, days, seal, summaries};
use crate::error::{OpenError, StoreError};
use steps::{EIGHTH, FIFTH, FIRST, FOURTH, SECOND, SEVENTH, SIXTH, THIRD};

/// "Rnwn", which distinguishes our files from those of other programs.
const APPLICATION_ID: i64 = 0x526e_776e;

/// The milliseconds of a minute, as `seen_minute` counts them.
pub(super) const MINUTE_MS: i64 = 60_000;

/// Number of bits of a position for the running number in an organization.
pub(super) const POSITION_BITS: u32 = 40;

/// The version that this release writes.
pub(super) const VERSION: i64 = 8;

/// Step `n` of this list, counted from 0, upgrades version `n` to `n + 1`. The first one makes version 1 of an
/// empty file.
pub(super) const STEPS: [&str; 8] = [FIRST, SECOND, THIRD, FOURTH, FIFTH, SIXTH, SEVENTH, EIGHTH];

/// The first version whose rows are sealed.
const SEALED_FROM: i64 = 5;

/// The first version with days of agents, and with summaries in the rows of sessions.
const SUMMARIZED_FROM: i64 = 6;

/// Upgrades the database at a path to the version of the last step.
pub(super) fn upgrade(connection: &mut Connection, path: &Path, steps: &[&str]) -> Result<(), StoreError> {
    let known = i64::try_from(steps.len()).unwrap_or(i64::MAX);
    seal::register(connection)?;
    let found = check(connection, path, known)?;
    if found == known {
        return Ok(());
    }
    let copy = if found > 0 { Some(keep_copy(connection, path, found)?) } else { None };
    let steps = steps.iter().skip(usize::try_from(found).unwrap_or_default());
    run_steps(connection, steps, found, known).inspect_err(|_| {
        // The original is unchanged, and the next attempt makes another copy.
        if let Some(copy) = copy {
            let _ = std::fs::remove_file(copy);
        }
    })
}

/// Runs the steps to a version, all or none.
fn run_steps<'a>(
    connection: &mut Connection,
    steps: impl Iterator<Item = &'a &'a str>,
    found: i64,
    version: i64,
) -> Result<(), StoreError> {
    let transaction = connection.transaction()?;
    for step in steps {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", version)?;
    if found < SEALED_FROM && version >= SEALED_FROM {
        seal::seal_rows(&transaction)?;
    }
    if found < SUMMARIZED_FROM && version >= SUMMARIZED_FROM {
        days::rebuild(&transaction)?;
        summaries::fill(&transaction)?;
    }
    if version >= SEALED_FROM {
        seal::seal_schema(&transaction)?;
        // The copy that was just made contains no agent that is erased by now.
        transaction.execute(
            "INSERT OR REPLACE INTO marks (name, value) SELECT 'copied', coalesce(max(tombstone), 0) FROM tombstones \
             WHERE done_at IS NOT NULL",
            [],
        )?;
    }
    Ok(transaction.commit()?)
}

/// Returns the version of a database that may be opened; 0 if it is empty.
pub(super) fn check(connection: &Connection, path: &Path, known: i64) -> Result<i64, StoreError> {
    let number = |pragma| connection.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
    let foreign = || StoreError::from(OpenError::Foreign(path.to_owned()));
    let version = number("user_version").map_err(|error| match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::NotADatabase) => foreign(),
        _ => error.into(),
    })?;
    let application = number("application_id")?;
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    match version {
        0 if application == 0 && tables == 0 => Ok(0),
        _ if application != APPLICATION_ID || version < 1 => Err(foreign()),
        found if found > known => Err(OpenError::Newer { found, known }.into()),
        found => Ok(found),
    }
}

/// Copies the database before an upgrade to a file beside it, with a name that is not used yet. Returns its path.
fn keep_copy(connection: &Connection, path: &Path, version: i64) -> Result<PathBuf, StoreError> {
    let named = |suffix: String| {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".before-{version}{suffix}"));
        path.with_file_name(name)
    };
    let mut copy = named(String::new());
    for number in 2.. {
        if !copy.exists() {
            break;
        }
        copy = named(format!(".{number}"));
    }
    backup::copy(connection, None, &copy, &mut |_| {})?;
    Ok(copy)
}

#[cfg(test)]
mod tests {
    use renown_testing::Scratch;

    use super::*;

    const SLUG: &str = "ALTER TABLE agents ADD COLUMN slug TEXT";

    fn version(connection: &Connection) -> i64 {
        connection.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
    }

    #[test]
    fn an_older_database_is_copied_and_upgraded_and_a_newer_one_refused() {
        let scratch = Scratch::new();
        let path = scratch.join("renown.db");
        let mut connection = Connection::open(&path).unwrap();
        upgrade(&mut connection, &path, &[FIRST]).unwrap();
        assert!(!scratch.join("renown.db.before-1").exists(), "a new database needs no copy");

        upgrade(&mut connection, &path, &[FIRST, SLUG]).unwrap();
        assert_eq!(version(&connection), 2);
        let copy = Connection::open(scratch.join("renown.db.before-1")).unwrap();
        assert_eq!(version(&copy), 1);
        assert!(copy.prepare("SELECT slug FROM agents").is_err(), "the copy is the old database");

        connection.execute_batch("DROP TABLE agents; CREATE TABLE agents (back)").unwrap();
        connection.pragma_update(None, "user_version", 1).unwrap();
        upgrade(&mut connection, &path, &[FIRST, SLUG]).unwrap();
        let copy = Connection::open(scratch.join("renown.db.before-1.2")).unwrap();
        assert!(copy.prepare("SELECT back FROM agents").is_ok(), "the second upgrade keeps a copy too");

        let error = upgrade(&mut connection, &path, &[FIRST]).unwrap_err();
        assert!(matches!(OpenError::from(error), OpenError::Newer { found: 2, known: 1 }));
    }

    #[test]
    fn a_step_that_fails_leaves_the_old_version() {
        let scratch = Scratch::new();
        let path = scratch.join("renown.db");
        let mut connection = Connection::open(&path).unwrap();
        upgrade(&mut connection, &path, &[FIRST]).unwrap();
        upgrade(&mut connection, &path, &[FIRST, SLUG, "nonsense"]).unwrap_err();
        assert_eq!(version(&connection), 1);
        assert!(
            !scratch.join("renown.db.before-1").exists(),
            "the copy is removed, because the original is unchanged"
        );
        assert!(connection.prepare("SELECT slug FROM agents").is_err(), "nothing is half upgraded");
    }

    #[test]
    fn files_of_others_are_left_alone() {
        let scratch = Scratch::new();
        let path = scratch.join("renown.db");
        let mut connection = Connection::open(&path).unwrap();
        connection.execute_batch("CREATE TABLE notes (text TEXT)").unwrap();
        let upgraded = upgrade(&mut connection, &path, &STEPS).map_err(OpenError::from);
        assert!(matches!(upgraded, Err(OpenError::Foreign(_))));
        drop(connection);
        std::fs::write(
            &path,
            "this is a text, and longer than the header of a database has to be: one hundred bytes",
        )
        .unwrap();
        let mut connection = Connection::open(&path).unwrap();
        let upgraded = upgrade(&mut connection, &path, &STEPS).map_err(OpenError::from);
        assert!(matches!(upgraded, Err(OpenError::Foreign(_))));
    }
}
