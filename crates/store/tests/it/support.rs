//! Shared by the tests: a directory that is removed at the end, a clock that can be set, short ways to make
//! evidence.

use std::collections::BTreeMap;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use renown_core::identity::{Category, Event, Reference, ScoreDelta, identity_of};
use renown_core::ids::{AgentId, OrgId};
use renown_core::time::Timestamp;
use renown_core::units::{Micros, Unit};
use renown_store::sqlite::{FILE, Reader, Sqlite, VerifyResult};
use renown_store::{
    Accepted, Clock, ClockError, EvaluationQuery, NewEvaluation, NewEvaluationId, NewKey, NewReputationEvent,
    NewRun, Position, RequestKey, Run, Store, StoreError, StoredEvaluation,
};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use uuid::Uuid;

/// A new and empty directory that is removed when the test ends, whether it passes or not.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new(name: &str) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("store-{name}-{}-{count}", std::process::id());
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(&dir).unwrap();
        Self(dir)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Returns the database of this data directory.
    pub(crate) fn database(&self) -> PathBuf {
        self.0.join(FILE)
    }

    /// Returns the names of its files, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A clock that does not move until it is set.
#[derive(Clone)]
pub(crate) struct TestClock {
    millis: Arc<AtomicI64>,
    held: Arc<Mutex<Option<Hold>>>,
}

/// Reports that a caller of the clock waits, and ends its wait.
type Hold = (Sender<()>, Receiver<()>);

/// The time at which the clocks of the tests begin, in milliseconds: 2026-11-15T12:00:00Z.
pub(crate) const NOON: i64 = 1_794_744_000_000;

/// The value of a clock that cannot be right.
const BROKEN: i64 = i64::MIN;

impl TestClock {
    pub(crate) fn at_noon() -> Self {
        Self { millis: Arc::new(AtomicI64::new(NOON)), held: Arc::default() }
    }

    pub(crate) fn set(&self, after_noon_ms: i64) {
        self.millis.store(NOON + after_noon_ms, Ordering::Relaxed);
    }

    /// Makes the clock show a time that cannot be right, until it is set.
    pub(crate) fn fail(&self) {
        self.millis.store(BROKEN, Ordering::Relaxed);
    }

    pub(crate) fn turn(&self, by_ms: i64) {
        self.millis.fetch_add(by_ms, Ordering::Relaxed);
    }

    pub(crate) fn clock(&self) -> Clock {
        let Self { millis, held } = self.clone();
        Arc::new(move || {
            let hold = held.lock().unwrap().take();
            if let Some((waits, released)) = hold {
                waits.send(()).unwrap();
                let _ = released.recv();
            }
            match millis.load(Ordering::Relaxed) {
                BROKEN => Err(ClockError::new(0)),
                millis => Ok(Timestamp::from_millis(millis).unwrap()),
            }
        })
    }

    /// Lets the next caller of the clock wait until the returned sender is dropped. The returned receiver reports
    /// that it waits.
    pub(crate) fn hold_next(&self) -> (Sender<()>, Receiver<()>) {
        let ((waits, has_begun), (release, released)) = (channel(), channel());
        *self.held.lock().unwrap() = Some((waits, released));
        (release, has_begun)
    }
}

/// Returns the time this many milliseconds after noon.
pub(crate) fn at(after_noon_ms: i64) -> Timestamp {
    Timestamp::from_millis(NOON + after_noon_ms).unwrap()
}

/// Waits for a reply.
pub(crate) fn wait<T>(reply: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(reply)
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
pub(crate) fn fresh<T>(accepted: Result<Accepted<T>, StoreError>) -> T {
    accepted.unwrap().fresh().expect("a write without a known request key")
}

/// Removes from an evaluation what differs between stores.
pub(crate) fn plain_evaluation(evaluation: StoredEvaluation) -> StoredEvaluation {
    StoredEvaluation { position: Position(0), salt: Default::default(), ..evaluation }
}

/// Removes from a run what differs between stores.
pub(crate) fn plain_run(run: Run) -> Run {
    Run { position: Position(0), ..run }
}

/// Returns the ids of an organization's evaluations, the newest first.
pub(crate) fn ids(store: &dyn Store, org: &OrgId) -> Vec<String> {
    let page = wait(store.evaluations(org, EvaluationQuery { limit: 100_000, ..EvaluationQuery::default() }))
        .unwrap();
    page.evaluations.iter().map(|event| event.id.to_string()).collect()
}

/// Opens a data directory.
pub(crate) fn open(dir: &Path, clock: &TestClock) -> Arc<Sqlite> {
    Arc::new(Sqlite::open(dir, "a test", clock.clock()).unwrap())
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
    while database.query_row(unclean, [], |row| row.get::<_, i64>(0)).unwrap() > 0 {
        std::thread::yield_now();
    }
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
