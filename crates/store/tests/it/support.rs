//! Shared by the tests: what the tests of all crates share, and short ways to make evidence.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use renown_core::identity::{Category, Event, Reference, ScoreDelta, identity_of};
use renown_core::ids::{AgentId, OrgId};
use renown_core::time::Timestamp;
use renown_core::units::{Micros, Unit};
use renown_store::sqlite::{FILE, Reader, Sqlite};
use renown_store::{
    Accepted, Clock, ClockError, EvaluationQuery, NewEvaluation, NewEvaluationId, NewKey, NewReputationEvent,
    NewRun, Piece, Position, ReadError, ReadReply, RequestKey, Run, Store, StoredEvaluation, VerifyResult,
    WriteError, scan_all,
};
pub(crate) use renown_testing::{NOON_MS, Rng, Scratch, TestClock, until, wait};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use uuid::Uuid;

/// Returns the clock of a test as the clock of a store.
pub(crate) fn clock_of(clock: &TestClock) -> Clock {
    let clock = clock.clone();
    Arc::new(move || {
        let millis = clock.millis().ok_or(ClockError::new(0))?;
        Ok(Timestamp::from_millis(millis).unwrap())
    })
}

/// Returns the time this many milliseconds after noon.
pub(crate) fn at(after_noon_ms: i64) -> Timestamp {
    Timestamp::from_millis(NOON_MS + after_noon_ms).unwrap()
}

/// Returns the organization that always exists.
pub(crate) fn default_org() -> OrgId {
    renown_store::DEFAULT_ORG.parse().unwrap()
}

/// Makes a passed evaluation without latency, with a sent id.
pub(crate) fn evaluation(agent: &str, id: &str) -> NewEvaluation {
    NewEvaluation {
        agent: agent.parse().unwrap(),
        id: NewEvaluationId::Sent(id.parse().unwrap()),
        passed: true,
        gate_latency: Micros::from_us(0).unwrap(),
        agent_latency: None,
        tool: None,
        gates: "[]".into(),
        timestamp: None,
    }
}

/// Makes evaluations of one agent, with ids that begin alike.
pub(crate) fn evaluations(agent: &str, ids: &str, count: usize) -> Vec<NewEvaluation> {
    (0..count).map(|number| evaluation(agent, &format!("{ids}-{number}"))).collect()
}

/// Makes a run as it is sent.
pub(crate) fn run(id: &str, text: &str) -> NewRun {
    let submission = renown_core::json::parse(text.as_bytes()).unwrap();
    NewRun { id: id.parse().unwrap(), submission, digest: [1; 32] }
}

/// Makes a reputation event of an agent of the default organization. `number` gives its id.
pub(crate) fn event(agent: &str, number: i64, after_noon_ms: i64) -> NewReputationEvent {
    let agent: AgentId = agent.parse().unwrap();
    let event = Event {
        event_id: Uuid::from_u128(number.unsigned_abs().into()),
        timestamp: at(after_noon_ms),
        identity_id: None,
        agent_id: None,
        category: Category::Economic,
        event_type: format!("type-{agent}").parse().unwrap(),
        score_delta: ScoreDelta::from_millionths(500_000).unwrap(),
        confidence: Unit::ONE,
        reference_type: Reference::default(),
        reference_id: Some(format!("reference-{agent}")),
        attributes: BTreeMap::new(),
    };
    NewReputationEvent { identity: identity_of(&default_org(), &agent), agent: Some(agent), event }
}

/// Makes a key of an organization. `number` gives its id.
pub(crate) fn key(org: &str, number: u8) -> NewKey {
    NewKey {
        id: Uuid::from_u128(u128::from(number)),
        org: org.parse().unwrap(),
        kind: renown_store::KeyKind::Secret,
        label: None,
        hash: [number; 32],
        last_four: format!("{number:04}"),
    }
}

/// Makes a request key of the default organization.
pub(crate) fn request_key(key: &str) -> RequestKey {
    RequestKey { org: default_org(), key: key.to_owned(), fingerprint: [7; 32] }
}

/// Returns what was accepted by a write without a request key.
pub(crate) fn fresh<T>(accepted: Result<Accepted<T>, WriteError>) -> T {
    accepted.unwrap().fresh().expect("a write without a known request key")
}

/// Removes from an evaluation what differs between stores.
pub(crate) fn plain_evaluation(evaluation: StoredEvaluation) -> StoredEvaluation {
    StoredEvaluation { position: Position::default(), salt: Default::default(), ..evaluation }
}

/// Removes from a run what differs between stores.
pub(crate) fn plain_run(run: Run) -> Run {
    Run { position: Position::default(), ..run }
}

/// Returns the ids of an organization's evaluations, the newest first.
pub(crate) fn ids(store: &dyn Store, org: &OrgId) -> Vec<String> {
    let page = wait(store.evaluations(org, EvaluationQuery { limit: 100_000, ..EvaluationQuery::default() }))
        .unwrap();
    page.evaluations.iter().map(|event| event.id.to_string()).collect()
}

/// Returns all pieces that a scan finds, part by part.
pub(crate) fn scanned<'s, T: Piece + 's>(
    part: impl Fn(Option<Position>) -> ReadReply<'s, Vec<T>>,
) -> Result<Vec<T>, ReadError> {
    let mut all = Vec::new();
    wait(scan_all(part, |piece| {
        all.push(piece);
        true
    }))?;
    Ok(all)
}

/// Opens a data directory.
pub(crate) fn open(dir: &Path, clock: &TestClock) -> Arc<Sqlite> {
    Arc::new(Sqlite::open(dir, "a test", clock_of(clock)).unwrap())
}

/// Copies what a killed process would leave: the database and its log.
pub(crate) fn copy_killed(from: &Path, to: &Path) {
    for suffix in ["", "-wal"] {
        let name = format!("{FILE}{suffix}");
        std::fs::copy(from.join(&name), to.join(&name)).unwrap();
    }
}

/// Opens a connection that changes rows without the store: no trigger seals or counts what it does.
pub(crate) fn behind_the_back(database: &Path) -> Connection {
    let connection = Connection::open(database).unwrap();
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false).unwrap();
    connection
}

/// Waits until the store has cleared every byte of erased agents.
pub(crate) fn wait_clean(dir: &Path) {
    let database = Connection::open_with_flags(dir.join(FILE), OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let unclean = "SELECT count(*) FROM tombstones WHERE clean_at IS NULL";
    until(|| database.query_row(unclean, [], |row| row.get::<_, i64>(0)).unwrap() == 0);
}

/// Returns how many times a text is in the files of a data directory.
pub(crate) fn occurrences(dir: &Path, text: &str) -> usize {
    let files = std::fs::read_dir(dir).unwrap().map(|file| std::fs::read(file.unwrap().path()).unwrap());
    files.map(|bytes| bytes.windows(text.len()).filter(|found| *found == text.as_bytes()).count()).sum()
}

/// Verifies a data directory.
pub(crate) fn verify(dir: &Path) -> VerifyResult {
    Reader::open(dir).unwrap().verify(&mut |_, _| {}).unwrap()
}
