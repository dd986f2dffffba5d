//! A data directory, read beside whoever writes to it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use renown_core::identity::{Windows, identity_of};
use renown_core::ids::{AgentId, IdentityId, OrgId, RunId, SessionId, SpecId};
use renown_core::time::{Day, Timestamp};
use renown_telemetry::ledger::{Session, TimeRange};
use rusqlite::Connection;

use super::backup::{self, Progress};
use super::days::{self, DaysOf};
use super::export::{self, Each, Evidence};
use super::give_way::GiveWay;
use super::lock::DirectoryLock;
use super::mark::{self, Before};
use super::orgs::Orgs;
use super::readers::{self, Patience};
use super::verify::{self, Verdict};
use super::{FILE, agents, directory, foreign, identities, overview, rows, runs, schema, sessions};
use crate::error::StoreError;
use crate::evidence::Event;
use crate::identities::ReputationEvent;
use crate::keys::ApiKey;
use crate::overview::{AgentDays, AgentEvidence, OrgOverview};
use crate::query::{AgentQuery, AgentSummary, Agents, EventQuery, Events};
use crate::runs::{Run, RunQuery, Runs};
use crate::sessions::{RecordCursor, SessionQuery, SessionRecords, Sessions, StoredSession};

/// A connection that cannot write, and the version that it found. A database with a write-ahead log wants files beside it
/// even to be read. Where they cannot be made, and nobody has left a log behind, the file alone is all there is.
fn look(path: &Path) -> Result<(Connection, i64), StoreError> {
    let looked = |connection: Result<Connection, StoreError>| {
        let connection = connection.map_err(|error| foreign(error, path))?;
        let version = schema::check(&connection, path, schema::VERSION)?;
        Ok((connection, version))
    };
    match looked(readers::connect(path)) {
        Err(StoreError::Sqlite(error))
            if error.sqlite_error_code() == Some(rusqlite::ErrorCode::CannotOpen) =>
        {
            match readers::connect_alone(path) {
                Some(connection) => looked(connection),
                None => Err(error.into()),
            }
        }
        other => other,
    }
}

/// A data directory, read beside whoever writes to it.
pub struct Reader {
    connection: Connection,
    orgs: Orgs,
    path: PathBuf,
    give_way: GiveWay,
}

impl Reader {
    /// Opens the database of a data directory, which has to be there.
    pub fn open(dir: &Path) -> Result<Self, StoreError> {
        Self::open_file(&dir.join(FILE))
    }

    /// Opens a database file, which has to be there.
    pub fn open_file(path: &Path) -> Result<Self, StoreError> {
        if !path.exists() {
            return Err(StoreError::Missing(path.to_owned()));
        }
        let (connection, version) = look(path)?;
        match version {
            0 => return Err(StoreError::Missing(path.to_owned())),
            schema::VERSION => {}
            found => return Err(StoreError::Older { found, known: schema::VERSION }),
        }
        let orgs = Orgs::load(&connection)?;
        Ok(Self { connection, orgs, path: path.to_owned(), give_way: GiveWay::new(path) })
    }

    /// How long an erasure waits for a long read of this reader, which then fails with [`StoreError::GaveWay`]: 20 seconds, unless this says
    /// otherwise.
    #[must_use]
    pub fn give_way_after(mut self, after: Duration) -> Self {
        self.give_way.set_after(after);
        self
    }

    /// The latest time that was given to anything.
    pub fn latest(&self) -> Result<Timestamp, StoreError> {
        rows::latest(&self.connection)
    }

    /// The agents of an organization.
    pub fn agents(&self, org: &OrgId, query: &AgentQuery) -> Result<Agents, StoreError> {
        let (moment, org) = (self.connection.unchecked_transaction()?, self.orgs.get(org)?);
        agents::page(&moment, org, query, agents::behind(&moment, org)?, &Patience::ENDLESS)
    }

    /// One agent, if it was ever seen.
    pub fn agent(&self, org: &OrgId, agent: &AgentId) -> Result<Option<AgentSummary>, StoreError> {
        let moment = self.connection.unchecked_transaction()?;
        Ok(agents::summary(agent, agents::find_in_log(&moment, self.orgs.get(org)?, agent)?))
    }

    /// The days of an agent from one to another, both included, and what failed on them.
    pub fn agent_days(
        &self,
        org: &OrgId,
        agent: &AgentId,
        from: Day,
        to: Day,
    ) -> Result<AgentDays, StoreError> {
        let (moment, org) = (self.connection.unchecked_transaction()?, self.orgs.get(org)?);
        let Some(row) = agents::find(&moment, org, agent)? else { return Ok(AgentDays::default()) };
        let days = days::unsettled(&moment, org, Some(row.agent))?.remove(&row.agent);
        let days = DaysOf::new(org, row, days.map(|days| (row.agent, days)));
        days.read(&moment, from, to, &Patience::ENDLESS)
    }

    /// What is known of an agent beside its evaluations.
    pub fn evidence(
        &self,
        org: &OrgId,
        agent: &AgentId,
        as_of: Timestamp,
    ) -> Result<AgentEvidence, StoreError> {
        let (moment, identity) = (self.connection.unchecked_transaction()?, identity_of(org, agent));
        overview::evidence(&moment, self.orgs.get(org)?, identity, agent.clone(), as_of, &Patience::ENDLESS)
    }

    /// The overview of an organization on a day.
    pub fn overview(&self, org: &OrgId, day: Day) -> Result<OrgOverview, StoreError> {
        let (moment, org) = (self.connection.unchecked_transaction()?, self.orgs.get(org)?);
        let mut unsettled = Vec::new();
        for (number, days) in days::unsettled(&moment, org, None)? {
            unsettled.push((agents::name(&moment, number)?, Some((number, days))));
        }
        overview::read(&moment, org, day, unsettled, &Patience::ENDLESS)
    }

    /// Evaluations, the last accepted first.
    pub fn events(&self, org: &OrgId, query: EventQuery) -> Result<Events, StoreError> {
        let (moment, org) = (self.connection.unchecked_transaction()?, self.orgs.get(org)?);
        match query.agent.clone() {
            Some(agent) => {
                let agent = agents::find_in_log(&moment, org, &agent)?;
                rows::events_of_agent(&moment, agent, query, &Patience::ENDLESS)
            }
            None => rows::events_of_org(&moment, org, query, &Patience::ENDLESS),
        }
    }

    /// One run.
    pub fn run(&self, org: &OrgId, id: &RunId) -> Result<Option<Run>, StoreError> {
        runs::find(&self.connection, self.orgs.get(org)?, id)
    }

    /// Runs, the last accepted first.
    pub fn runs(&self, org: &OrgId, query: &RunQuery) -> Result<Runs, StoreError> {
        runs::page(&self.connection, self.orgs.get(org)?, query, &Patience::ENDLESS)
    }

    /// Every agent's best attempt at a spec, the best first.
    pub fn competition(&self, org: &OrgId, spec: &SpecId) -> Result<Vec<Run>, StoreError> {
        runs::competition(&self.connection, self.orgs.get(org)?, spec, &Patience::ENDLESS)
    }

    /// One session, with its traces if they are wanted.
    pub fn session(
        &self,
        org: &OrgId,
        id: &SessionId,
        with_traces: bool,
    ) -> Result<Option<StoredSession>, StoreError> {
        let moment = self.connection.unchecked_transaction()?;
        sessions::find(&moment, self.orgs.get(org)?, id, with_traces, &Patience::ENDLESS)
    }

    /// Some records of a session, after one of them. `None` if there is no such session.
    pub fn session_records(
        &self,
        org: &OrgId,
        id: &SessionId,
        after: Option<RecordCursor>,
        limit: usize,
    ) -> Result<Option<SessionRecords>, StoreError> {
        let moment = self.connection.unchecked_transaction()?;
        sessions::records(&moment, self.orgs.get(org)?, id, after, limit)
    }

    /// Sessions, the last to begin first, without their traces.
    pub fn sessions(&self, org: &OrgId, query: &SessionQuery) -> Result<Sessions, StoreError> {
        let moment = self.connection.unchecked_transaction()?;
        sessions::page(&moment, self.orgs.get(org)?, query, &Patience::ENDLESS)
    }

    /// What the records of a session within a cut add up to; none if it has no records.
    pub fn cut_session(
        &self,
        session: &StoredSession,
        cut: TimeRange,
    ) -> Result<Option<Session>, StoreError> {
        sessions::refold(&self.connection, session.id.as_str(), session.seq, cut)
    }

    /// What the events of an identity add up to as of a time.
    pub fn identity_windows(
        &self,
        org: &OrgId,
        identity: IdentityId,
        as_of: Timestamp,
    ) -> Result<Windows, StoreError> {
        let moment = self.connection.unchecked_transaction()?;
        identities::windows(&moment, self.orgs.get(org)?, identity, as_of)
    }

    /// How much there is of a kind of evidence in an organization.
    pub fn count(&self, org: &OrgId, evidence: Evidence) -> Result<u64, StoreError> {
        export::count(&self.connection, self.orgs.get(org)?, evidence)
    }

    /// Every evaluation of an organization, the first accepted first.
    pub fn each_evaluation(&self, org: &OrgId, each: &mut Each<'_, Event>) -> Result<(), StoreError> {
        export::evaluations(&self.connection, &self.give_way, self.orgs.get(org)?, each)
    }

    /// Every run of an organization, the first accepted first.
    pub fn each_run(&self, org: &OrgId, each: &mut Each<'_, Run>) -> Result<(), StoreError> {
        export::runs(&self.connection, &self.give_way, self.orgs.get(org)?, each)
    }

    /// Every reputation event of an organization, the first accepted first.
    pub fn each_reputation_event(
        &self,
        org: &OrgId,
        each: &mut Each<'_, ReputationEvent>,
    ) -> Result<(), StoreError> {
        export::reputation_events(&self.connection, &self.give_way, self.orgs.get(org)?, each)
    }

    /// Every session of an organization, without its traces, the first that was heard of first.
    pub fn each_session(&self, org: &OrgId, each: &mut Each<'_, StoredSession>) -> Result<(), StoreError> {
        export::sessions(&self.connection, &self.give_way, self.orgs.get(org)?, each)
    }

    /// Every key.
    pub fn keys(&self) -> Result<Vec<ApiKey>, StoreError> {
        rows::keys(&self.connection)
    }

    /// Replays all evidence and compares.
    pub fn verify(&self, report: &mut dyn FnMut(u64, u64)) -> Result<Verdict, StoreError> {
        verify::run(&self.connection, &Before::read(&self.path), &self.give_way, report)
    }

    /// Copies the database to a new file; what is there is never overwritten.
    pub fn backup(&self, to: &Path, report: &mut dyn FnMut(Progress)) -> Result<(), StoreError> {
        backup::copy(&self.connection, Some(&self.give_way), to, report)
    }

    /// Copies the database to the place of a store that is not there yet, and holds its directory meanwhile. What a store
    /// left beside its file would be taken for a part of the copy, so there must be nothing of one.
    pub fn restore(&self, to: &Path, report: &mut dyn FnMut(Progress)) -> Result<(), StoreError> {
        let _lock = DirectoryLock::take(directory(to), "renown restore")?;
        for suffix in ["", "-wal", "-shm"] {
            let mut part = to.as_os_str().to_owned();
            part.push(suffix);
            backup::is_free(Path::new(&part))?;
        }
        // What a store that is no longer there had acknowledged says nothing about the copy.
        let _ = std::fs::remove_file(mark::path(to));
        backup::copy(&self.connection, Some(&self.give_way), to, report)
    }

    /// The version of its schema, and its size in bytes.
    pub fn describe(&self) -> Result<(i64, u64), StoreError> {
        let size =
            std::fs::metadata(&self.path).map_err(StoreError::io(format!("{}", self.path.display())))?;
        Ok((schema::VERSION, size.len()))
    }
}
