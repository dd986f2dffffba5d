//! The stored shapes, their version, and how an older database becomes a newer one.
//!
//! - `user_version` is the version of the schema. A database of an older release is upgraded step by step when it is
//!   opened, after a copy was kept as `renown.db.before-<version>`; one of a newer release is refused.
//! - The place of an evaluation, `seq`, is its organization's number above 40 bits and a running number below, so the table
//!   itself is sorted by organization and acceptance, and lists of one organization never step over another's rows.
//! - `previous` chains the evaluations of an agent. An index over (agent, seq) would do the same and dirty a page of
//!   its own with almost every evaluation; the chain costs nothing to write and a look-up a step to read.
//! - Agents are listed by when they were last seen. An index over that time would move with every evaluation; the one over its
//!   minute moves once a minute, and the agents of one minute are sorted when they are asked for.
//! - Of runs and reputation events the exact time decides, so theirs are nanoseconds; all others are milliseconds.
//! - The baseline of a run is a range of `runs_by_finish`: the latest 20 of its workspace that ended before it.
//! - `identity_sums` holds the sums of the reputation events of each minute, hour and day, so that any span of time is a few hundred rows,
//!   however many events there are. `month` is the partition of an event, by which old ones are found.
//! - `orgs.pruned` is the place up to which evaluations may be missing because of their age: a chain may end there. `orgs.top` is the
//!   highest place that was ever taken, so that none is given again after its evaluation was erased.
//! - A record of a session is kept once by its key: the fingerprint that tells repeats, or the number of the record where nothing
//!   does. Before it stands the time of a log record, which repeats share, so that a session that goes on is written at its end and
//!   not all over its pages; of spans, which repeat by their ids alone, it is 0. A trace that stands for a prompt has a key too, and no
//!   record. `state` is what the records add up to, and the columns of `summaries` are what a list shows of it.
//! - `due_at` is when a session has to be looked at: it may be over then, or there was something of it since, and it is looked at
//!   again later. So it does not move with every record. It is null when the session is closed.
//! - `event_id` is the id of the reputation event that a session became or will become, which nobody else may use.
//! - A session without a `session_id` is forgotten and waits to be deleted, like those of an agent that is no more.
//! - `agents` holds what can be made again from the evaluations: the sums of the window. `renown verify` does so. Up to
//!   which place of its organization's log a row is current is in `orgs.settled`.
//! - `agent_days`, `agent_gate_days` and `agent_tool_days` hold what the evaluations of an agent on a day add up to, `org_days` and
//!   `org_gate_days` the sums of those over all agents; see `crate::days`. The day comes before the agent in their keys, so that the rows that
//!   are written now are beside each other. The days of one agent are found through `org_days`.
//! - `rank` orders agents by score, see `crate::query`. `orgs.agents` counts agents, by triggers.
//! - `seal` is the checksum of a row, and `marks` holds the counts of rows and of writes; see `seal` and `mark`.
//! - `tombstones.clean_at` is when no byte of the erased agent was left in the files; see `scrub`.

mod steps;

use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::{backup, days, seal, summaries};
use crate::error::StoreError;
use steps::{FIFTH, FIRST, FOURTH, SECOND, SIXTH, THIRD};

/// "Rnwn", so that a file of another program is told apart from ours.
const APPLICATION_ID: i64 = 0x526e_776e;

/// The milliseconds of a minute, as `seen_minute` counts them.
pub(super) const MINUTE_MS: i64 = 60_000;

/// How many bits of a place are the running number inside an organization.
pub(super) const SEQ_BITS: u32 = 40;

/// The version that this release writes.
pub(super) const VERSION: i64 = 6;

/// Step `n` of this list makes version `n + 1` of version `n`; the first makes version 1 of an empty file.
pub(super) const STEPS: [&str; 6] = [FIRST, SECOND, THIRD, FOURTH, FIFTH, SIXTH];

/// The first version whose rows are sealed.
const SEALED_FROM: i64 = 5;

/// The first version with days of agents, and with summaries of sessions in their rows.
const SUMMARIZED_FROM: i64 = 6;

/// Brings the database at a path to the version of the last step.
pub(super) fn upgrade(connection: &mut Connection, path: &Path, steps: &[&str]) -> Result<(), StoreError> {
    let known = i64::try_from(steps.len()).unwrap_or(i64::MAX);
    seal::register(connection)?;
    let found = check(connection, path, known)?;
    if found == known {
        return Ok(());
    }
    let copy = if found > 0 { Some(keep_copy(connection, path, found)?) } else { None };
    let steps = steps.iter().skip(usize::try_from(found).unwrap_or_default());
    take(connection, steps, found, known).inspect_err(|_| {
        // What was copied is still there, and the next attempt makes another.
        if let Some(copy) = copy {
            let _ = std::fs::remove_file(copy);
        }
    })
}

/// Takes the steps to a version, all or none.
fn take<'a>(
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
        // The copy that was just kept has nothing of who is erased by now.
        transaction.execute(
            "INSERT OR REPLACE INTO marks (name, value) SELECT 'copied', coalesce(max(tombstone), 0) FROM tombstones \
             WHERE done_at IS NOT NULL",
            [],
        )?;
    }
    Ok(transaction.commit()?)
}

/// The version of a database that may be opened; 0 if it is empty.
pub(super) fn check(connection: &Connection, path: &Path, known: i64) -> Result<i64, StoreError> {
    let number = |pragma| connection.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
    let foreign = || StoreError::Foreign(path.to_owned());
    let version = number("user_version").map_err(|error| match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::NotADatabase) => foreign(),
        _ => error.into(),
    })?;
    let application = number("application_id")?;
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    match version {
        0 if application == 0 && tables == 0 => Ok(0),
        _ if application != APPLICATION_ID || version < 1 => Err(foreign()),
        found if found > known => Err(StoreError::Newer { found, known }),
        found => Ok(found),
    }
}

/// Keeps the database as it was before an upgrade, beside it and under a name that nothing has yet. Returns where.
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
    use super::*;
    use crate::sqlite::testing::scratch;

    const SLUG: &str = "ALTER TABLE agents ADD COLUMN slug TEXT";

    fn version(connection: &Connection) -> i64 {
        connection.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
    }

    #[test]
    fn an_older_database_is_copied_and_upgraded_and_a_newer_one_refused() {
        let dir = scratch("schema-upgrade");
        let path = dir.join("renown.db");
        let mut connection = Connection::open(&path).unwrap();
        upgrade(&mut connection, &path, &[FIRST]).unwrap();
        assert!(!dir.join("renown.db.before-1").exists(), "a new database has nothing to keep");

        upgrade(&mut connection, &path, &[FIRST, SLUG]).unwrap();
        assert_eq!(version(&connection), 2);
        let copy = Connection::open(dir.join("renown.db.before-1")).unwrap();
        assert_eq!(version(&copy), 1);
        assert!(copy.prepare("SELECT slug FROM agents").is_err(), "the copy is the old database");

        connection.execute_batch("DROP TABLE agents; CREATE TABLE agents (back)").unwrap();
        connection.pragma_update(None, "user_version", 1).unwrap();
        upgrade(&mut connection, &path, &[FIRST, SLUG]).unwrap();
        let copy = Connection::open(dir.join("renown.db.before-1.2")).unwrap();
        assert!(copy.prepare("SELECT back FROM agents").is_ok(), "the second upgrade keeps a copy too");

        let error = upgrade(&mut connection, &path, &[FIRST]).unwrap_err();
        assert!(matches!(error, StoreError::Newer { found: 2, known: 1 }), "{error}");
    }

    #[test]
    fn a_step_that_fails_leaves_the_old_version() {
        let dir = scratch("schema-fails");
        let path = dir.join("renown.db");
        let mut connection = Connection::open(&path).unwrap();
        upgrade(&mut connection, &path, &[FIRST]).unwrap();
        upgrade(&mut connection, &path, &[FIRST, SLUG, "nonsense"]).unwrap_err();
        assert_eq!(version(&connection), 1);
        assert!(!dir.join("renown.db.before-1").exists(), "what is copied is still there");
        assert!(connection.prepare("SELECT slug FROM agents").is_err(), "nothing is half upgraded");
    }

    #[test]
    fn files_of_others_are_left_alone() {
        let dir = scratch("schema-foreign");
        let path = dir.join("renown.db");
        let mut connection = Connection::open(&path).unwrap();
        connection.execute_batch("CREATE TABLE notes (text TEXT)").unwrap();
        assert!(matches!(upgrade(&mut connection, &path, &STEPS), Err(StoreError::Foreign(_))));
        drop(connection);
        std::fs::write(
            &path,
            "this is a text, and longer than the header of a database has to be: one hundred bytes",
        )
        .unwrap();
        let mut connection = Connection::open(&path).unwrap();
        assert!(matches!(upgrade(&mut connection, &path, &STEPS), Err(StoreError::Foreign(_))));
    }
}
