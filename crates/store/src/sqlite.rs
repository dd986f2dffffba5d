//! The store on one machine: one file, one writer, a few readers.
//!
//! | module | is |
//! |---|---|
//! | `schema` | the tables, their version and upgrades |
//! | `seal` | the checksum of every row |
//! | `scrub` | overwrites what deleted rows left in the file |
//! | `mark` | how much was acknowledged, in a file of its own |
//! | `writer` | the thread that commits everything waiting as one transaction, and the checkpoints beside it |
//! | `log` | what a transaction does |
//! | `reader` | a data directory, read beside whoever writes to it |
//! | `readers`, `rows` | the pool of reading threads, and what they read of evaluations and keys |
//! | `runs`, `identities`, `admin` | the same for runs, reputation events, and what an organization decides |
//! | `agents`, `days` | the rows of agents and of their days, which follow the log about a second behind |
//! | `standings` | what they do not hold yet, and the sums of hot agents, in memory |
//! | `overview` | what the pages of an organization show first |
//! | `backup`, `verify` | a consistent copy, and every score made again |
//! | `lock` | one process per data directory |
//! | `guard` | notices when files vanish under an open store |
//! | `throw_away` | a data directory that is removed at its end, without waiting for the disk |

mod admin;
mod agent_cache;
mod agents;
mod backup;
mod checkpoint;
mod days;
mod export;
mod give_way;
mod guard;
mod identities;
mod lock;
mod log;
mod lookups;
mod mark;
mod orgs;
mod overview;
mod reader;
mod readers;
mod rows;
mod runs;
mod salts;
mod schema;
mod scrub;
mod seal;
mod sessions;
mod summaries;
mod throw_away;
mod verify;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use renown_core::ids::{AgentId, OrgId};
use renown_core::reputation::{Tally, Window};
use renown_core::time::Timestamp;
use rusqlite::{Connection, Transaction};

use self::agent_cache::{Standings, Unsettled};
use self::agents::AgentState;
use self::days::DaysOf;
use self::guard::Guard;
use self::lock::DirectoryLock;
use self::log::cleaning::{copies, empty_log, last_unclean, note_clean, remove_copies};
use self::lookups::Lookups;
use self::orgs::Orgs;
use self::readers::{Patience, Readers};
use self::scrub::{DatabaseFile, Scrub};
use self::writer::{Files, Writer};
use crate::clock::{Clock, Ready};
use crate::error::StoreError;
use crate::evidence::{NewEvaluation, Once, Outcome, SavedReply};
use crate::history::{Point, Steps};
use crate::holder::LockPurpose;
use crate::keys::{ApiKey, KeyId, NewKey};
use crate::query::{AgentQuery, AgentSummary, Agents, EventQuery, Events};
use crate::waits::WriteWaits;
use crate::{REPLIES_KEPT_MS, Reply, Store};

pub use crate::clock::system_clock;
pub use backup::Progress;
pub use export::{Each, Evidence};
pub use log::Repaired;
pub use mark::Lost;
pub use reader::Reader;
pub use throw_away::ThrowAwayDirectory;
pub use verify::{Difference, Verdict, Verified};

/// The name of the database in its data directory.
pub const FILE: &str = "renown.db";

/// A data directory that is open for writing. There is one process for it at a time.
pub struct Sqlite {
    // In the order in which they have to end: the readers stop, what waits is written, and the last connection, which is
    // one that may write, moves all of the write-ahead log into the database. Then the lock is let go.
    readers: Readers,
    lookups: Lookups,
    writer: Writer,
    orgs: Arc<Orgs>,
    standings: Arc<Standings>,
    clock: Clock,
    lost: Option<Lost>,
    /// Closed after every connection: with any handle of a file the system closes all locks on it.
    _file: Arc<DatabaseFile>,
    _lock: DirectoryLock,
}

impl Sqlite {
    /// Opens the database of a data directory, makes or upgrades it where needed, and holds the directory. `purpose` is what
    /// another process is told that wants it too.
    pub fn open<'a>(
        dir: &Path,
        purpose: impl Into<LockPurpose<'a>>,
        clock: Clock,
    ) -> Result<Self, StoreError> {
        Self::open_file(&dir.join(FILE), purpose, clock)
    }

    /// The same for a database of any name. It holds the directory in which the file lies.
    pub fn open_file<'a>(
        path: &Path,
        purpose: impl Into<LockPurpose<'a>>,
        clock: Clock,
    ) -> Result<Self, StoreError> {
        Self::open_with(path, purpose.into(), clock, writer::connect)
    }

    /// Opens a store whose data is thrown away: its commits do not wait for the disk.
    pub fn open_throw_away<'a>(
        dir: &ThrowAwayDirectory,
        purpose: impl Into<LockPurpose<'a>>,
        clock: Clock,
    ) -> Result<Self, StoreError> {
        Self::open_with(&dir.path().join(FILE), purpose.into(), clock, writer::connect_unsynced)
    }

    fn open_with(
        path: &Path,
        purpose: LockPurpose<'_>,
        clock: Clock,
        connect: fn(&Path) -> Result<Connection, StoreError>,
    ) -> Result<Self, StoreError> {
        // The file itself: a link to it in another directory is the same store.
        let path = &path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let lock = DirectoryLock::take(directory(path), purpose)?;
        let mut connection = connect(path).map_err(|error| foreign(error, path))?;
        schema::upgrade(&mut connection, path, &schema::STEPS)?;
        let file = Arc::new(DatabaseFile::open(path)?);
        let lost = mark::Before::read(path).lost(&connection)?;
        if let Some(lost) = lost {
            mark::note(&connection, lost)?;
        }
        let (orgs, standings) = (Arc::new(Orgs::load(&connection)?), Arc::new(Standings::new()));
        let writer = Writer::start(
            Files { path, file: Arc::clone(&file), guard: Guard::new(&lock, &file, path)? },
            connection,
            connect(path)?,
            Arc::clone(&orgs),
            Arc::clone(&standings),
            Arc::clone(&clock),
        )?;
        Ok(Self {
            readers: Readers::start(path)?,
            lookups: Lookups::start(path, &standings)?,
            writer,
            orgs,
            standings,
            clock,
            lost,
            _file: file,
            _lock: lock,
        })
    }

    /// The acknowledged writes that were found missing when the store was opened, and were not accepted as lost since
    /// ([`Sqlite::repair`]).
    pub fn lost(&self) -> Option<Lost> {
        self.lost
    }
}

/// The copies of a database that upgrades kept beside it. An erasure deletes them when they hold the agent.
pub fn upgrade_copies(path: &Path) -> Result<Vec<PathBuf>, StoreError> {
    copies(&path.canonicalize().unwrap_or_else(|_| path.to_owned()))
}

/// Overwrites every byte that erased agents left in a database, and deletes the copies that hold them. Nobody else may have it open.
pub fn clean(path: &Path, purpose: &str, clock: &Clock) -> Result<(), StoreError> {
    let path = &path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let _lock = DirectoryLock::take(directory(path), purpose)?;
    // First, so that it is closed last.
    let file = DatabaseFile::open(path)?;
    let connection = writer::connect(path)?;
    if !empty_log(&connection, writer::BUSY_TIME_MAX)? {
        let busy = std::io::Error::other("another process reads it, try again when that has ended");
        return Err(StoreError::io(path.display().to_string())(busy));
    }
    let last = last_unclean(&connection)?;
    let mut scrub = Scrub::new();
    while !scrub.step(&file, &[])? {}
    remove_copies(&connection, path, last)?;
    note_clean(&connection, i64::MAX, clock()?.millis())
}

impl Sqlite {
    /// Makes again what is kept beside the evidence, where it is missing or wrong. Before anybody reads: what is in memory is not
    /// made again.
    pub fn repair(&self) -> Reply<'_, Repaired> {
        #[expect(
            clippy::redundant_closure_for_method_calls,
            reason = "its path is not general enough in lifetimes"
        )]
        self.writer.send(1, |log| log.repair())
    }

    /// Reads something of the days of one agent; none if it was never seen.
    fn read_days<'a, T: Default + Send + 'static>(
        &'a self,
        org: &OrgId,
        agent: &AgentId,
        read: impl FnOnce(&Transaction<'_>, &DaysOf, &Patience) -> Result<T, StoreError> + Send + 'static,
    ) -> Reply<'a, T> {
        let org = match self.orgs.get(org) {
            Ok(org) => org,
            Err(error) => return answer(Err(error)),
        };
        let key = (org, agent.clone());
        // Before the moment that is read begins: if it is settled between the two, the file has it.
        let days = self.standings.unsettled(&key).map(Unsettled::into_days);
        self.readers.run(move |moment, patience| match agents::find(moment, org, &key.1)? {
            Some(known) => read(moment, &DaysOf::new(org, known, days), patience),
            None => Ok(T::default()),
        })
    }

    /// Reads something of one agent, which is given as it stands when this is asked.
    fn read_agent<'a, T: Send + 'static>(
        &'a self,
        org: &OrgId,
        agent: &AgentId,
        read: impl FnOnce(&Transaction<'_>, Option<AgentState>, &Patience) -> Result<T, StoreError>
        + Send
        + 'static,
    ) -> Reply<'a, T> {
        let org = match self.orgs.get(org) {
            Ok(org) => org,
            Err(error) => return answer(Err(error)),
        };
        let key = (org, agent.clone());
        // Before the moment that is read begins: if it is settled between the two, the file has it.
        let latest = self.standings.latest(&key);
        self.readers.run(move |moment, patience| {
            let known = match latest {
                None => agents::find(moment, org, &key.1)?,
                // It may have been erased meanwhile.
                Some(latest) => agents::exists(moment, latest)?.then_some(latest),
            };
            read(moment, known, patience)
        })
    }
}

/// The place of an agent's last evaluation.
fn last(agent: Option<AgentState>) -> Option<i64> {
    agent.and_then(|agent| agent.last_seq)
}

/// The directory of a file.
fn directory(file: &Path) -> &Path {
    file.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// SQLite looks into a file when it is first used, so a file of another kind is found out late.
fn foreign(error: StoreError, path: &Path) -> StoreError {
    if let StoreError::Sqlite(sqlite) = &error
        && sqlite.sqlite_error_code() == Some(rusqlite::ErrorCode::NotADatabase)
    {
        return StoreError::Foreign(path.to_owned());
    }
    error
}

/// What cannot be asked because there is no such organization, or the answer.
fn answer<'a, T: Send + 'a>(result: Result<T, StoreError>) -> Reply<'a, T> {
    Box::pin(std::future::ready(result))
}

impl Store for Sqlite {
    fn append<'a>(
        &'a self,
        org: &OrgId,
        evaluations: Vec<NewEvaluation>,
        once: Option<Once<[Outcome]>>,
    ) -> Reply<'a, Vec<Outcome>> {
        let org = org.clone();
        let written = self.writer.send(evaluations.len(), move |log| {
            log.append(&org, &evaluations, once).map(|outcomes| (outcomes, evaluations))
        });
        // The evaluations come back to be freed where they were made: two threads that free what the other allocates wait
        // for each other.
        Box::pin(async { written.await.map(|(outcomes, _)| outcomes) })
    }

    fn add_agent<'a>(&'a self, org: &OrgId, agent: AgentId, once: Option<Once<bool>>) -> Reply<'a, bool> {
        let org = org.clone();
        self.writer.send(1, move |log| log.add_agent(&org, &agent, once))
    }

    fn tally<'a>(&'a self, org: &OrgId, agent: &AgentId) -> Reply<'a, Tally> {
        let org = match self.orgs.get(org) {
            Ok(org) => org,
            Err(error) => return answer(Err(error)),
        };
        match self.standings.get(org, agent) {
            Ok(tally) => answer(Ok(tally)),
            Err(vacancy) => self.lookups.tally(vacancy),
        }
    }

    fn window<'a>(&'a self, org: &OrgId, agent: &AgentId) -> Reply<'a, Window> {
        self.read_agent(org, agent, |moment, agent, _| rows::window(moment, last(agent)))
    }

    fn events<'a>(&'a self, org: &OrgId, query: EventQuery) -> Reply<'a, Events> {
        if let Some(agent) = query.agent.clone() {
            return self.read_agent(org, &agent, |moment, agent, patience| {
                rows::events_of_agent(moment, agent, query, patience)
            });
        }
        let org = self.orgs.get(org);
        self.readers.run(move |moment, patience| rows::events_of_org(moment, org?, query, patience))
    }

    fn history<'a>(&'a self, org: &OrgId, agent: &AgentId, steps: Steps) -> Reply<'a, Vec<Point>> {
        self.read_days(org, agent, move |moment, days, patience| days.history(moment, steps, patience))
    }

    fn earliest<'a>(&'a self, org: &OrgId, agent: &AgentId) -> Reply<'a, Option<Timestamp>> {
        self.read_days(org, agent, |moment, days, _| days.first_at(moment))
    }

    fn agents<'a>(&'a self, org: &OrgId, query: AgentQuery) -> Reply<'a, Agents> {
        let org = match self.orgs.get(org) {
            Ok(org) => org,
            Err(error) => return answer(Err(error)),
        };
        // Before the moment that is read begins: what is settled between the two is in both.
        let behind = self.standings.behind_of(org);
        self.readers.run(move |moment, patience| agents::page(moment, org, &query, behind, patience))
    }

    fn agent<'a>(&'a self, org: &OrgId, agent: &AgentId) -> Reply<'a, Option<AgentSummary>> {
        let name = agent.clone();
        self.read_agent(org, agent, move |_, agent, _| Ok(agents::summary(&name, agent)))
    }

    fn saved_reply<'a>(&'a self, org: &OrgId, key: &str) -> Reply<'a, Option<SavedReply>> {
        let (org, key, now) = (self.orgs.get(org), key.to_owned(), (self.clock)());
        self.readers
            .run(move |moment, _| rows::saved_reply(moment, org?, &key, now?.millis() - REPLIES_KEPT_MS))
    }

    fn create_key(&self, key: NewKey, once: Option<Once<ApiKey>>) -> Reply<'_, ApiKey> {
        self.writer.send(1, move |log| log.create_key(key, once))
    }

    fn keys(&self) -> Reply<'_, Vec<ApiKey>> {
        self.readers.run(|moment, _| rows::keys(moment))
    }

    fn revoke_key<'a>(&'a self, org: &OrgId, id: KeyId) -> Reply<'a, bool> {
        let org = org.clone();
        self.writer.send(1, move |log| log.revoke_key(&org, id))
    }

    fn touch_keys(&self, used: Vec<(KeyId, Timestamp)>) -> Reply<'_, ()> {
        self.writer.send(1, move |log| log.touch_keys(&used))
    }

    fn write_waits(&self) -> WriteWaits {
        self.writer.waits()
    }

    fn ready(&self) -> Reply<'_, Ready> {
        self.writer.send(1, |log| log.probe())
    }
}

#[cfg(test)]
mod testing {
    use std::path::PathBuf;

    /// A new and empty directory of this test.
    pub(super) fn scratch(name: &str) -> PathBuf {
        let dir = std::env::temp_dir().join(format!("renown-store-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&dir);
        std::fs::create_dir_all(&dir).unwrap();
        dir
    }
}
