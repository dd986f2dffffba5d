//! Reads a data directory while another process may write to it.

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
use super::mark::{self, SavedMark};
use super::orgs::Orgs;
use super::readers::{self, Deadline};
use super::verify::{self, VerifyResult};
use super::{FILE, agents, directory, foreign, identities, overview, rows, runs, schema, sessions};
use crate::error::StoreError;
use crate::evidence::StoredEvaluation;
use crate::identities::ReputationEvent;
use crate::keys::ApiKey;
use crate::overview::{AgentDays, AgentEvidence, OrgOverview};
use crate::query::{AgentQuery, AgentSummary, Agents, EvaluationPage, EvaluationQuery};
use crate::runs::{Run, RunQuery, Runs};
use crate::sessions::{RecordCursor, SessionQuery, SessionRecords, Sessions, StoredSession};

/// Opens a connection that cannot write. Returns it with the version of the database. SQLite wants to create files
/// beside a database with a write-ahead log even to read it. If that is not possible, and no log exists, the
/// database file alone is read.
fn connect(path: &Path) -> Result<(Connection, i64), StoreError> {
    let checked = |connection: Result<Connection, StoreError>| {
        let connection = connection.map_err(|error| foreign(error, path))?;
        let version = schema::check(&connection, path, schema::VERSION)?;
        Ok((connection, version))
    };
    match checked(readers::connect(path)) {
        Err(StoreError::Sqlite(error))
            if error.sqlite_error_code() == Some(rusqlite::ErrorCode::CannotOpen) =>
        {
            match readers::connect_alone(path) {
                Some(connection) => checked(connection),
                None => Err(error.into()),
            }
        }
        other => other,
    }
}

/// Reads a data directory while another process may write to it.
pub struct Reader {
    connection: Connection,
    orgs: Orgs,
    path: PathBuf,
    give_way: GiveWay,
}

impl Reader {
    /// Opens the database of a data directory, which has to exist.
    pub fn open(dir: &Path) -> Result<Self, StoreError> {
        Self::open_file(&dir.join(FILE))
    }

    /// Opens a database file, which has to exist.
    pub fn open_file(path: &Path) -> Result<Self, StoreError> {
        if !path.exists() {
            return Err(StoreError::Missing(path.to_owned()));
        }
        let (connection, version) = connect(path)?;
        match version {
            0 => return Err(StoreError::Missing(path.to_owned())),
            schema::VERSION => {}
            found => return Err(StoreError::Older { found, known: schema::VERSION }),
        }
        let orgs = Orgs::load(&connection)?;
        Ok(Self { connection, orgs, path: path.to_owned(), give_way: GiveWay::new(path) })
    }

    /// Sets how long an erasure waits for a long read of this reader, which then fails with
    /// [`StoreError::GaveWay`]. The default is 20 seconds.
    #[must_use]
    pub fn give_way_after(mut self, after: Duration) -> Self {
        self.give_way.set_after(after);
        self
    }

    /// Returns the latest time of acceptance.
    pub fn latest(&self) -> Result<Timestamp, StoreError> {
        rows::latest(&self.connection)
    }

    /// Returns a page of agents.
    pub fn agents(&self, org: &OrgId, query: &AgentQuery) -> Result<Agents, StoreError> {
        let (transaction, org) = (self.connection.unchecked_transaction()?, self.orgs.get(org)?);
        agents::page(&transaction, org, query, agents::behind(&transaction, org)?, &Deadline::NONE)
    }

    /// Returns an agent, or `None` if it is unknown.
    pub fn agent(&self, org: &OrgId, agent: &AgentId) -> Result<Option<AgentSummary>, StoreError> {
        let transaction = self.connection.unchecked_transaction()?;
        Ok(agents::summary(agent, agents::find_in_log(&transaction, self.orgs.get(org)?, agent)?))
    }

    /// Returns the days of an agent from one to another, both included, and what failed on them.
    pub fn agent_days(
        &self,
        org: &OrgId,
        agent: &AgentId,
        from: Day,
        to: Day,
    ) -> Result<AgentDays, StoreError> {
        let (transaction, org) = (self.connection.unchecked_transaction()?, self.orgs.get(org)?);
        let Some(row) = agents::find(&transaction, org, agent)? else { return Ok(AgentDays::default()) };
        let days = days::unsettled(&transaction, org, Some(row.agent))?.remove(&row.agent);
        let days = DaysOf::new(org, row, days.map(|days| (row.agent, days)));
        days.read(&transaction, from, to, &Deadline::NONE)
    }

    /// Returns the evidence of an agent other than evaluations.
    pub fn evidence(
        &self,
        org: &OrgId,
        agent: &AgentId,
        as_of: Timestamp,
    ) -> Result<AgentEvidence, StoreError> {
        let (transaction, identity) = (self.connection.unchecked_transaction()?, identity_of(org, agent));
        overview::evidence(&transaction, self.orgs.get(org)?, identity, agent.clone(), as_of, &Deadline::NONE)
    }

    /// Returns the overview of an organization for a day.
    pub fn overview(&self, org: &OrgId, day: Day) -> Result<OrgOverview, StoreError> {
        let (transaction, org) = (self.connection.unchecked_transaction()?, self.orgs.get(org)?);
        let mut unsettled = Vec::new();
        for (number, days) in days::unsettled(&transaction, org, None)? {
            unsettled.push((agents::name(&transaction, number)?, Some((number, days))));
        }
        overview::read(&transaction, org, day, unsettled, &Deadline::NONE)
    }

    /// Returns a page of evaluations, the last accepted first.
    pub fn evaluations(&self, org: &OrgId, query: EvaluationQuery) -> Result<EvaluationPage, StoreError> {
        let (transaction, org) = (self.connection.unchecked_transaction()?, self.orgs.get(org)?);
        match query.agent.clone() {
            Some(agent) => {
                let agent = agents::find_in_log(&transaction, org, &agent)?;
                rows::evaluations_of_agent(&transaction, agent, query, &Deadline::NONE)
            }
            None => rows::evaluations_of_org(&transaction, org, query, &Deadline::NONE),
        }
    }

    /// Returns a run, or `None` if it is unknown.
    pub fn run(&self, org: &OrgId, id: &RunId) -> Result<Option<Run>, StoreError> {
        runs::find(&self.connection, self.orgs.get(org)?, id)
    }

    /// Returns a page of runs, the last accepted first.
    pub fn runs(&self, org: &OrgId, query: &RunQuery) -> Result<Runs, StoreError> {
        runs::page(&self.connection, self.orgs.get(org)?, query, &Deadline::NONE)
    }

    /// Returns the best attempt of each agent at a spec, the best first.
    pub fn competition(&self, org: &OrgId, spec: &SpecId) -> Result<Vec<Run>, StoreError> {
        runs::competition(&self.connection, self.orgs.get(org)?, spec, &Deadline::NONE)
    }

    /// Returns a session, with its traces if `with_traces`; `None` if it is unknown.
    pub fn session(
        &self,
        org: &OrgId,
        id: &SessionId,
        with_traces: bool,
    ) -> Result<Option<StoredSession>, StoreError> {
        let transaction = self.connection.unchecked_transaction()?;
        sessions::find(&transaction, self.orgs.get(org)?, id, with_traces, &Deadline::NONE)
    }

    /// Returns a page of a session's records, or `None` if the session is unknown.
    pub fn session_records(
        &self,
        org: &OrgId,
        id: &SessionId,
        after: Option<RecordCursor>,
        limit: usize,
    ) -> Result<Option<SessionRecords>, StoreError> {
        let transaction = self.connection.unchecked_transaction()?;
        sessions::records(&transaction, self.orgs.get(org)?, id, after, limit)
    }

    /// Returns a page of sessions, the last to begin first, without their traces.
    pub fn sessions(&self, org: &OrgId, query: &SessionQuery) -> Result<Sessions, StoreError> {
        let transaction = self.connection.unchecked_transaction()?;
        sessions::page(&transaction, self.orgs.get(org)?, query, &Deadline::NONE)
    }

    /// Folds the records of a session within a time range. Returns `None` if it has none.
    pub fn cut_session(
        &self,
        session: &StoredSession,
        cut: TimeRange,
    ) -> Result<Option<Session>, StoreError> {
        sessions::refold(&self.connection, session.id.as_str(), session.position, cut)
    }

    /// Returns the sums of an identity's events as of a time.
    pub fn identity_windows(
        &self,
        org: &OrgId,
        identity: IdentityId,
        as_of: Timestamp,
    ) -> Result<Windows, StoreError> {
        let transaction = self.connection.unchecked_transaction()?;
        identities::windows(&transaction, self.orgs.get(org)?, identity, as_of)
    }

    /// Returns how many pieces of one kind of evidence an organization has.
    pub fn count(&self, org: &OrgId, evidence: Evidence) -> Result<u64, StoreError> {
        export::count(&self.connection, self.orgs.get(org)?, evidence)
    }

    /// Passes every evaluation of an organization to `each`, the first accepted first.
    pub fn each_evaluation(
        &self,
        org: &OrgId,
        each: &mut Each<'_, StoredEvaluation>,
    ) -> Result<(), StoreError> {
        export::evaluations(&self.connection, &self.give_way, self.orgs.get(org)?, each)
    }

    /// Passes every run of an organization to `each`, the first accepted first.
    pub fn each_run(&self, org: &OrgId, each: &mut Each<'_, Run>) -> Result<(), StoreError> {
        export::runs(&self.connection, &self.give_way, self.orgs.get(org)?, each)
    }

    /// Passes every reputation event of an organization to `each`, the first accepted first.
    pub fn each_reputation_event(
        &self,
        org: &OrgId,
        each: &mut Each<'_, ReputationEvent>,
    ) -> Result<(), StoreError> {
        export::reputation_events(&self.connection, &self.give_way, self.orgs.get(org)?, each)
    }

    /// Passes every session of an organization to `each`, without its traces, the first seen first.
    pub fn each_session(&self, org: &OrgId, each: &mut Each<'_, StoredSession>) -> Result<(), StoreError> {
        export::sessions(&self.connection, &self.give_way, self.orgs.get(org)?, each)
    }

    /// Returns all keys.
    pub fn keys(&self) -> Result<Vec<ApiKey>, StoreError> {
        rows::keys(&self.connection)
    }

    /// Computes everything again from the evidence and compares. `report` gets how many evaluations are done, and
    /// of how many.
    pub fn verify(&self, report: &mut dyn FnMut(u64, u64)) -> Result<VerifyResult, StoreError> {
        verify::run(&self.connection, &SavedMark::read(&self.path), &self.give_way, report)
    }

    /// Copies the database to a new file. Never overwrites a file.
    pub fn backup(&self, to: &Path, report: &mut dyn FnMut(Progress)) -> Result<(), StoreError> {
        backup::copy(&self.connection, Some(&self.give_way), to, report)
    }

    /// Copies the database to where no store exists yet, and locks that directory meanwhile. No file of a former
    /// store may be left there, because it would be taken for a part of the copy.
    pub fn restore(&self, to: &Path, report: &mut dyn FnMut(Progress)) -> Result<(), StoreError> {
        let _lock = DirectoryLock::acquire(directory(to), "renown restore")?;
        for suffix in ["", "-wal", "-shm"] {
            let mut part = to.as_os_str().to_owned();
            part.push(suffix);
            backup::is_free(Path::new(&part))?;
        }
        // A mark of a former store says nothing about the copy.
        let _ = std::fs::remove_file(mark::path(to));
        backup::copy(&self.connection, Some(&self.give_way), to, report)
    }

    /// Returns the version of its schema, and its size in bytes.
    pub fn describe(&self) -> Result<(i64, u64), StoreError> {
        let size =
            std::fs::metadata(&self.path).map_err(StoreError::io(format!("{}", self.path.display())))?;
        Ok((schema::VERSION, size.len()))
    }
}
