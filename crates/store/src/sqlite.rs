//! The store on one machine: one file, one writer, a few readers.
//!
//! | module | contents |
//! |---|---|
//! | `schema` | the tables, their version and upgrades |
//! | `seal` | the checksum of every row |
//! | `scrub` | overwrites what deleted rows left in the file |
//! | `mark` | how much was acknowledged, in a file of its own |
//! | `writer` | the thread that commits everything waiting as one transaction |
//! | `checkpoint` | the thread that moves the write-ahead log into the database |
//! | `transaction` | what the writer does in a transaction |
//! | `request_keys` | what was accepted for a request key |
//! | `readers`, `lookups`, `rows` | the pools of reading threads, and what they read of evaluations and keys |
//! | `reader` | reads a data directory while another process writes to it |
//! | `runs`, `sessions`, `identities`, `admin` | the same for runs, sessions, reputation events and settings |
//! | `eval_runs`, `schedules` | the same for eval runs and their schedules |
//! | `agents`, `days` | the rows of agents and of their days, about a second behind the evaluations |
//! | `agent_cache` | what these rows do not contain yet, and the sums of hot agents, in memory |
//! | `summaries` | the summaries in the rows of sessions |
//! | `overview` | what the first page of an organization shows |
//! | `backup`, `scan`, `verify` | a consistent copy, all evidence in order, and every score computed again |
//! | `changes` | what has changed since a moment |
//! | `lock` | one process per data directory |
//! | `guard` | notices when files vanish under an open store |
//! | `give_way` | stops long reads for an erasure |
//! | `throw_away` | a data directory that is removed at its end, without waiting for the disk |

mod admin;
mod agent_cache;
mod agents;
mod backup;
mod changes;
mod checkpoint;
mod days;
mod eval_runs;
mod give_way;
mod guard;
mod identities;
mod lock;
mod lookups;
mod mark;
mod orgs;
mod overview;
mod reader;
mod readers;
mod request_keys;
mod rows;
mod runs;
mod salts;
mod scan;
mod schedules;
mod schema;
mod scrub;
mod seal;
mod sessions;
mod summaries;
mod throw_away;
mod transaction;
mod verify;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use renown_core::ids::{AgentId, OrgId};
use renown_core::reputation::{Tally, Window};
use renown_core::time::Timestamp;
use rusqlite::Connection;

use self::agent_cache::{AgentCache, Unsettled};
use self::agents::AgentState;
use self::days::DaysOf;
use self::guard::Guard;
use self::lock::DirectoryLock;
use self::lookups::Lookups;
use self::orgs::Orgs;
use self::readers::{Deadline, Readers};
use self::scrub::{DatabaseFile, Scrub};
use self::transaction::cleaning::{copies, empty_wal, last_unclean, mark_clean, remove_copies};
use self::writer::{Files, Writer};
use crate::clock::{Clock, Ready};
use crate::engines::{Reply, answer, converted};
use crate::error::{OpenError, StoreError};
use crate::evidence::{EvaluationOutcome, NewEvaluation};
use crate::history::{HistorySteps, Point};
use crate::holder::LockPurpose;
use crate::keys::{ApiKey, KeyId, NewKey};
use crate::query::{AgentQuery, AgentSummary, Agents, EvaluationPage, EvaluationQuery};
use crate::request_keys::{Accepted, KnownRequest, RequestKey};
use crate::traits::WriteReply;
use crate::waits::WriteWaits;

pub use crate::clock::system_clock;
pub use backup::CopyProgress;
pub use mark::LostWrites;
pub use reader::Reader;
pub use throw_away::ThrowAwayDirectory;
pub use transaction::Repaired;

/// The file name of the database in its data directory.
pub const FILE: &str = "renown.db";

/// A data directory that is open for writing. Only one process at a time can open it.
pub struct Sqlite {
    // The order of the fields is the order in which they are dropped. First the readers stop. Then the writer
    // finishes its queue; its connection is the last one and may write, so closing it moves all of the write-ahead
    // log into the database. The lock is released at the end.
    readers: Readers,
    lookups: Lookups,
    writer: Writer,
    orgs: Arc<Orgs>,
    agent_cache: Arc<AgentCache>,
    clock: Clock,
    lost: Option<LostWrites>,
    /// Closed after every connection: when a process closes any handle of a file, the system drops all its locks on
    /// that file.
    _file: Arc<DatabaseFile>,
    _lock: DirectoryLock,
}

impl Sqlite {
    /// Opens the database of a data directory and locks the directory. Creates or upgrades the database if
    /// necessary. A process that finds the directory locked reports `purpose`.
    pub fn open<'a>(
        dir: &Path,
        purpose: impl Into<LockPurpose<'a>>,
        clock: Clock,
    ) -> Result<Self, OpenError> {
        Self::open_file(&dir.join(FILE), purpose, clock)
    }

    /// Opens a database with any file name, and locks the directory of the file.
    pub fn open_file<'a>(
        path: &Path,
        purpose: impl Into<LockPurpose<'a>>,
        clock: Clock,
    ) -> Result<Self, OpenError> {
        Ok(Self::open_with(path, purpose.into(), clock, writer::connect)?)
    }

    /// Opens a store whose data is thrown away: its commits do not wait for the disk.
    pub fn open_throw_away<'a>(
        dir: &ThrowAwayDirectory,
        purpose: impl Into<LockPurpose<'a>>,
        clock: Clock,
    ) -> Result<Self, OpenError> {
        Ok(Self::open_with(&dir.path().join(FILE), purpose.into(), clock, writer::connect_unsynced)?)
    }

    fn open_with(
        path: &Path,
        purpose: LockPurpose<'_>,
        clock: Clock,
        connect: fn(&Path) -> Result<Connection, StoreError>,
    ) -> Result<Self, StoreError> {
        // Resolve links: a link to the file in another directory is the same store.
        let path = &path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let lock = DirectoryLock::acquire(directory(path), purpose)?;
        let mut connection = connect(path).map_err(|error| foreign(error, path))?;
        schema::upgrade(&mut connection, path, &schema::STEPS)?;
        let file = Arc::new(DatabaseFile::open(path)?);
        let lost = mark::SavedMark::read(path).lost(&connection)?;
        if let Some(lost) = lost {
            mark::note(&connection, lost)?;
        }
        let (orgs, agent_cache) = (Arc::new(Orgs::load(&connection)?), Arc::new(AgentCache::new()));
        let writer = Writer::start(
            Files { path, file: Arc::clone(&file), guard: Guard::new(&lock, &file, path)? },
            connection,
            connect(path)?,
            Arc::clone(&orgs),
            Arc::clone(&agent_cache),
            Arc::clone(&clock),
        )?;
        Ok(Self {
            readers: Readers::start(path)?,
            lookups: Lookups::start(path, &agent_cache)?,
            writer,
            orgs,
            agent_cache,
            clock,
            lost,
            _file: file,
            _lock: lock,
        })
    }

    /// Returns the acknowledged writes that were missing when the store was opened, and that [`Sqlite::repair`] has
    /// not accepted as lost since.
    pub fn lost(&self) -> Option<LostWrites> {
        self.lost
    }
}

/// Returns the copies of a database that upgrades kept beside it. An erasure deletes them if they contain the
/// agent.
pub fn upgrade_copies(path: &Path) -> Result<Vec<PathBuf>, OpenError> {
    Ok(copies(&path.canonicalize().unwrap_or_else(|_| path.to_owned()))?)
}

/// Overwrites every byte that erased agents left in a database, and deletes upgrade copies that contain them. No
/// other process may have the database open.
pub fn clean(path: &Path, purpose: &str, clock: &Clock) -> Result<(), OpenError> {
    Ok(clean_file(path, purpose, clock)?)
}

fn clean_file(path: &Path, purpose: &str, clock: &Clock) -> Result<(), StoreError> {
    let path = &path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let _lock = DirectoryLock::acquire(directory(path), purpose)?;
    // Opened first, so that it is closed last.
    let file = DatabaseFile::open(path)?;
    let connection = writer::connect(path)?;
    if !empty_wal(&connection, writer::BUSY_TIME_MAX)? {
        let busy = std::io::Error::other("another process reads it, try again when that process has ended");
        return Err(StoreError::io(path.display().to_string())(busy));
    }
    let last = last_unclean(&connection)?;
    let mut scrub = Scrub::new();
    while !scrub.step(&file, &[])? {}
    remove_copies(&connection, path, last)?;
    mark_clean(&connection, i64::MAX, clock()?.millis())
}

impl Sqlite {
    /// Rebuilds derived data that is missing or wrong. Call it before any read, because cached data is not rebuilt.
    pub fn repair(&self) -> WriteReply<'_, Repaired> {
        #[expect(
            clippy::redundant_closure_for_method_calls,
            reason = "its path is not general enough in lifetimes"
        )]
        let repaired = self.writer.send(1, |transaction| transaction.repair());
        converted(repaired)
    }

    /// Reads from the days of one agent. Returns the default value if the agent is unknown.
    fn read_days<'a, T: Default + Send + 'static>(
        &'a self,
        org: &OrgId,
        agent: &AgentId,
        read: impl FnOnce(&Connection, &DaysOf, &Deadline) -> Result<T, StoreError> + Send + 'static,
    ) -> Reply<'a, T> {
        let org = match self.orgs.get(org) {
            Ok(org) => org,
            Err(error) => return answer(Err(error)),
        };
        let key = (org, agent.clone());
        // Get this before the read transaction begins: if the agent is settled in between, the file has it.
        let days = self.agent_cache.unsettled(&key).map(Unsettled::into_days);
        self.readers.run(move |connection, patience| match agents::find(connection, org, &key.1)? {
            Some(known) => read(connection, &DaysOf::new(org, known, days), patience),
            None => Ok(T::default()),
        })
    }

    /// Reads from one agent, in its state at the time of the call.
    fn read_agent<'a, T: Send + 'static>(
        &'a self,
        org: &OrgId,
        agent: &AgentId,
        read: impl FnOnce(&Connection, Option<AgentState>, &Deadline) -> Result<T, StoreError> + Send + 'static,
    ) -> Reply<'a, T> {
        let org = match self.orgs.get(org) {
            Ok(org) => org,
            Err(error) => return answer(Err(error)),
        };
        let key = (org, agent.clone());
        // Get this before the read transaction begins: if the agent is settled in between, the file has it.
        let latest = self.agent_cache.latest(&key);
        self.readers.run(move |connection, patience| {
            let known = match latest {
                None => agents::find(connection, org, &key.1)?,
                // The agent may have been erased meanwhile.
                Some(latest) => agents::exists(connection, latest)?.then_some(latest),
            };
            read(connection, known, patience)
        })
    }
}

/// Returns the position of an agent's last evaluation.
fn last(agent: Option<AgentState>) -> Option<i64> {
    agent.and_then(|agent| agent.last_position)
}

/// Returns the directory of a file.
fn directory(file: &Path) -> &Path {
    file.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Maps the error of a file that is not a database. SQLite reports it only when it first reads the file.
fn foreign(error: StoreError, path: &Path) -> StoreError {
    if let StoreError::Sqlite(sqlite) = &error
        && sqlite.sqlite_error_code() == Some(rusqlite::ErrorCode::NotADatabase)
    {
        return OpenError::Foreign(path.to_owned()).into();
    }
    error
}

impl Sqlite {
    pub(crate) fn append<'a>(
        &'a self,
        org: &OrgId,
        evaluations: Vec<NewEvaluation>,
        request_key: Option<RequestKey>,
    ) -> Reply<'a, Accepted<Vec<EvaluationOutcome>>> {
        let org = org.clone();
        let written = self.writer.send(evaluations.len(), move |transaction| {
            transaction.append(&org, &evaluations, request_key).map(|accepted| (accepted, evaluations))
        });
        // The evaluations come back and are freed by the thread that allocated them. If one thread frees what
        // another one allocates, both wait for each other.
        Box::pin(async { written.await.map(|(accepted, _)| accepted) })
    }

    pub(crate) fn add_agent<'a>(
        &'a self,
        org: &OrgId,
        agent: AgentId,
        request_key: Option<RequestKey>,
    ) -> Reply<'a, Accepted<bool>> {
        let org = org.clone();
        self.writer.send(1, move |transaction| transaction.add_agent(&org, &agent, request_key))
    }

    pub(crate) fn tally<'a>(&'a self, org: &OrgId, agent: &AgentId) -> Reply<'a, Tally> {
        let org = match self.orgs.get(org) {
            Ok(org) => org,
            Err(error) => return answer(Err(error)),
        };
        match self.agent_cache.get(org, agent) {
            Ok(tally) => answer(Ok(tally)),
            Err(miss) => self.lookups.tally(miss),
        }
    }

    pub(crate) fn window<'a>(&'a self, org: &OrgId, agent: &AgentId) -> Reply<'a, Window> {
        self.read_agent(org, agent, |connection, agent, _| rows::window(connection, last(agent)))
    }

    pub(crate) fn evaluations<'a>(
        &'a self,
        org: &OrgId,
        query: EvaluationQuery,
    ) -> Reply<'a, EvaluationPage> {
        if let Some(agent) = query.agent.clone() {
            return self.read_agent(org, &agent, |connection, agent, patience| {
                rows::evaluations_of_agent(connection, agent, query, patience)
            });
        }
        let org = self.orgs.get(org);
        self.readers
            .run(move |connection, patience| rows::evaluations_of_org(connection, org?, query, patience))
    }

    pub(crate) fn history<'a>(
        &'a self,
        org: &OrgId,
        agent: &AgentId,
        steps: HistorySteps,
    ) -> Reply<'a, Vec<Point>> {
        self.read_days(org, agent, move |connection, days, patience| {
            days.history(connection, steps, patience)
        })
    }

    pub(crate) fn earliest<'a>(&'a self, org: &OrgId, agent: &AgentId) -> Reply<'a, Option<Timestamp>> {
        self.read_days(org, agent, |connection, days, _| days.first_at(connection))
    }

    pub(crate) fn agents<'a>(&'a self, org: &OrgId, query: AgentQuery) -> Reply<'a, Agents> {
        let org = match self.orgs.get(org) {
            Ok(org) => org,
            Err(error) => return answer(Err(error)),
        };
        // Get this before the read transaction begins. An agent that is settled in between is in both.
        let behind = self.agent_cache.behind_of(org);
        self.readers.run(move |connection, patience| agents::page(connection, org, &query, behind, patience))
    }

    pub(crate) fn agent<'a>(&'a self, org: &OrgId, agent: &AgentId) -> Reply<'a, Option<AgentSummary>> {
        let name = agent.clone();
        self.read_agent(org, agent, move |_, agent, _| Ok(agents::summary(&name, agent)))
    }

    pub(crate) fn known_request(&self, request_key: RequestKey) -> Reply<'_, Option<KnownRequest>> {
        let (org, now) = (self.orgs.get(&request_key.org), (self.clock)());
        self.readers.run(move |connection, _| request_keys::find(connection, org?, &request_key, now?))
    }

    pub(crate) fn create_key(
        &self,
        key: NewKey,
        request_key: Option<RequestKey>,
    ) -> Reply<'_, Accepted<ApiKey>> {
        self.writer.send(1, move |transaction| transaction.create_key(key, request_key))
    }

    pub(crate) fn keys(&self) -> Reply<'_, Vec<ApiKey>> {
        self.readers.run(|connection, _| rows::keys(connection))
    }

    pub(crate) fn revoke_key<'a>(&'a self, org: &OrgId, id: KeyId) -> Reply<'a, bool> {
        let org = org.clone();
        self.writer.send(1, move |transaction| transaction.revoke_key(&org, id))
    }

    pub(crate) fn touch_keys(&self, used: Vec<(KeyId, Timestamp)>) -> Reply<'_, ()> {
        self.writer.send(1, move |transaction| transaction.touch_keys(&used))
    }

    pub(crate) fn write_waits(&self) -> WriteWaits {
        self.writer.waits()
    }

    pub(crate) fn ready(&self) -> Reply<'_, Ready> {
        self.writer.send(1, |transaction| transaction.probe())
    }
}
