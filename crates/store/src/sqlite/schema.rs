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
//! - `agents` holds what can be made again from the evaluations: the sums of the window. `renown verify` does so. Up to
//!   which place of its organization's log a row is current is in `orgs.settled`.

use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::backup;
use crate::error::StoreError;

/// "Rnwn", so that a file of another program is told apart from ours.
const APPLICATION_ID: i64 = 0x526e_776e;

/// The milliseconds of a minute, as `seen_minute` counts them.
pub(super) const MINUTE_MS: i64 = 60_000;

/// How many bits of a place are the running number inside an organization.
pub(super) const SEQ_BITS: u32 = 40;

/// The first version of the schema.
const FIRST: &str = "
CREATE TABLE orgs (
    org        INTEGER PRIMARY KEY,
    name       TEXT NOT NULL UNIQUE,
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE keys (
    id           BLOB PRIMARY KEY,
    org          INTEGER NOT NULL,
    kind         TEXT NOT NULL,
    label        TEXT,
    hash         BLOB NOT NULL UNIQUE,
    last_four    TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    last_used_at INTEGER,
    revoked_at   INTEGER
) STRICT;

CREATE TABLE agents (
    agent       INTEGER PRIMARY KEY,
    org         INTEGER NOT NULL,
    name        TEXT NOT NULL,
    first_seen  INTEGER NOT NULL,
    last_seen   INTEGER NOT NULL,
    seen_minute INTEGER NOT NULL,
    last_seq    INTEGER,
    evaluations INTEGER NOT NULL DEFAULT 0,
    passed      INTEGER NOT NULL DEFAULT 0,
    streak      INTEGER NOT NULL DEFAULT 0,
    latency_us  INTEGER NOT NULL DEFAULT 0,
    score       INTEGER NOT NULL DEFAULT 0,
    UNIQUE (org, name)
) STRICT;
CREATE INDEX agents_by_minute ON agents (org, seen_minute);

CREATE TABLE evaluations (
    seq           INTEGER PRIMARY KEY,
    org           INTEGER NOT NULL,
    agent         INTEGER NOT NULL,
    previous      INTEGER,
    evaluation_id TEXT NOT NULL,
    passed        INTEGER NOT NULL,
    latency_us    INTEGER NOT NULL,
    gate_us       INTEGER NOT NULL,
    agent_us      INTEGER,
    tool          TEXT,
    gates         TEXT NOT NULL,
    created_at    INTEGER NOT NULL,
    accepted_at   INTEGER NOT NULL,
    score         INTEGER NOT NULL,
    evaluations   INTEGER NOT NULL,
    salt          BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX evaluations_by_id ON evaluations (org, evaluation_id);
CREATE INDEX evaluations_by_time ON evaluations (org, created_at);

CREATE TABLE replies (
    org         INTEGER NOT NULL,
    key         TEXT NOT NULL,
    fingerprint BLOB NOT NULL,
    status      INTEGER NOT NULL,
    body        BLOB NOT NULL,
    created_at  INTEGER NOT NULL,
    PRIMARY KEY (org, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX replies_by_time ON replies (created_at);
";

/// The rows of agents may be behind the log; until now none was. A step never changes, so it says 40 where the code says `SEQ_BITS`.
const SECOND: &str = "
ALTER TABLE orgs ADD COLUMN settled INTEGER NOT NULL DEFAULT -1;
UPDATE orgs SET settled = coalesce(
    (SELECT max(seq) FROM evaluations e WHERE e.seq >= orgs.org << 40 AND e.seq < (orgs.org + 1) << 40), -1);
";

/// Runs, reputation events, settings, and what is forgotten.
const THIRD: &str = "
ALTER TABLE orgs ADD COLUMN latency_source TEXT NOT NULL DEFAULT 'gate';
ALTER TABLE orgs ADD COLUMN pruned INTEGER NOT NULL DEFAULT -1;
ALTER TABLE orgs ADD COLUMN top INTEGER NOT NULL DEFAULT -1;

ALTER TABLE agents ADD COLUMN public INTEGER NOT NULL DEFAULT 0;
ALTER TABLE agents ADD COLUMN slug TEXT;
CREATE UNIQUE INDEX agents_by_slug ON agents (slug) WHERE slug IS NOT NULL;

CREATE TABLE reply_agents (
    org   INTEGER NOT NULL,
    key   TEXT NOT NULL,
    agent INTEGER NOT NULL,
    PRIMARY KEY (org, key, agent)
) STRICT, WITHOUT ROWID;
CREATE INDEX reply_agents_by_agent ON reply_agents (agent);
CREATE TRIGGER replies_deleted AFTER DELETE ON replies BEGIN
    DELETE FROM reply_agents WHERE org = OLD.org AND key = OLD.key;
END;

CREATE TABLE agent_run_scores (
    run                   INTEGER PRIMARY KEY AUTOINCREMENT,
    org                   INTEGER NOT NULL,
    agent                 INTEGER NOT NULL,
    run_id                TEXT NOT NULL,
    workspace             TEXT NOT NULL,
    spec_id               TEXT,
    outcome               TEXT NOT NULL,
    stages                TEXT,
    wall_ms               INTEGER,
    memory_peak_bytes     INTEGER,
    memory_limit_bytes    INTEGER,
    cpu_periods           INTEGER,
    cpu_throttled_periods INTEGER,
    cpu_throttled_ms      INTEGER,
    started_ns            INTEGER,
    finished_ns           INTEGER NOT NULL,
    branch                TEXT,
    pull_request          TEXT,
    attributes            TEXT,
    warnings              TEXT NOT NULL,
    accepted_at           INTEGER NOT NULL,
    digest                BLOB NOT NULL,
    salt                  BLOB NOT NULL,
    baseline_runs         INTEGER NOT NULL,
    baseline_low_ms       INTEGER NOT NULL,
    baseline_high_ms      INTEGER NOT NULL,
    score                 INTEGER,
    completion            INTEGER,
    error_rate            INTEGER,
    latency               INTEGER,
    resource_efficiency   INTEGER,
    defaulted             TEXT,
    formula_version       TEXT
) STRICT;
CREATE UNIQUE INDEX runs_by_id ON agent_run_scores (org, run_id);
CREATE INDEX runs_by_org ON agent_run_scores (org);
CREATE INDEX runs_by_agent ON agent_run_scores (agent);
CREATE INDEX runs_by_spec ON agent_run_scores (org, spec_id) WHERE spec_id IS NOT NULL;
CREATE INDEX runs_by_finish ON agent_run_scores (org, workspace, finished_ns)
    WHERE outcome = 'completed' AND wall_ms IS NOT NULL;

CREATE TABLE identities (
    identity INTEGER PRIMARY KEY AUTOINCREMENT,
    org      INTEGER NOT NULL,
    id       BLOB NOT NULL,
    UNIQUE (org, id)
) STRICT;

CREATE TABLE reputation_events (
    event          INTEGER PRIMARY KEY AUTOINCREMENT,
    org            INTEGER NOT NULL,
    identity       INTEGER NOT NULL,
    event_id       BLOB NOT NULL,
    month          INTEGER NOT NULL,
    at_ns          INTEGER NOT NULL,
    category       TEXT NOT NULL,
    event_type     TEXT NOT NULL,
    delta          INTEGER NOT NULL,
    confidence     REAL NOT NULL,
    reference_type TEXT NOT NULL,
    reference_id   TEXT,
    attributes     TEXT NOT NULL,
    accepted_at    INTEGER NOT NULL,
    salt           BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX reputation_events_by_id ON reputation_events (org, event_id);
CREATE INDEX reputation_events_by_time ON reputation_events (identity, at_ns);
CREATE INDEX reputation_events_by_month ON reputation_events (month, at_ns);

CREATE TABLE identity_sums (
    identity   INTEGER NOT NULL,
    level      INTEGER NOT NULL,
    start      INTEGER NOT NULL,
    category   TEXT NOT NULL,
    count      INTEGER NOT NULL,
    positive   INTEGER NOT NULL,
    negative   INTEGER NOT NULL,
    units      INTEGER NOT NULL,
    millionths INTEGER NOT NULL,
    PRIMARY KEY (identity, level, start, category)
) STRICT, WITHOUT ROWID;

CREATE TABLE tombstones (
    tombstone INTEGER PRIMARY KEY,
    org       INTEGER NOT NULL,
    digest    BLOB NOT NULL,
    asked_at  INTEGER NOT NULL,
    erased    INTEGER NOT NULL DEFAULT 0,
    done_at   INTEGER,
    agent     INTEGER,
    last_seq  INTEGER,
    identity  INTEGER
) STRICT;
CREATE INDEX tombstones_by_agent ON tombstones (agent);
CREATE INDEX tombstones_open ON tombstones (tombstone) WHERE done_at IS NULL;
";

/// The version that this release writes.
pub(super) const VERSION: i64 = 3;

/// Step `n` of this list makes version `n + 1` of version `n`; the first makes version 1 of an empty file.
pub(super) const STEPS: [&str; 3] = [FIRST, SECOND, THIRD];

/// Brings the database at a path to the version of the last step.
pub(super) fn upgrade(connection: &mut Connection, path: &Path, steps: &[&str]) -> Result<(), StoreError> {
    let known = i64::try_from(steps.len()).unwrap_or(i64::MAX);
    let found = check(connection, path, known)?;
    if found == known {
        return Ok(());
    }
    let copy = if found > 0 { Some(keep_copy(connection, path, found)?) } else { None };
    let steps = steps.iter().skip(usize::try_from(found).unwrap_or_default());
    take(connection, steps, known).map_err(|error| {
        // What was copied is still there, and the next attempt makes another.
        if let Some(copy) = copy {
            let _ = std::fs::remove_file(copy);
        }
        error.into()
    })
}

/// Takes the steps to a version, all or none.
fn take<'a>(
    connection: &mut Connection,
    steps: impl Iterator<Item = &'a &'a str>,
    version: i64,
) -> rusqlite::Result<()> {
    let transaction = connection.transaction()?;
    for step in steps {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", version)?;
    transaction.commit()
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
    backup::copy(connection, &copy, &mut |_| {})?;
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
