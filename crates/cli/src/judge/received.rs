//! Judges the sessions that a server has received, from its store. A server may write to the store at the same time.
//!
//! Sessions are selected like those of logs: the most recent session is the one with the latest first event. A tie goes to the
//! greater id. Sessions without a time are older than all others. If a first event is ahead of the clock, its time of arrival
//! counts. Sessions without a tool result, prompt or API request are not judged.

use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use renown_core::ids::{AgentId, OrgId};
use renown_core::time::Timestamp;
use renown_store::{EvidenceKind, OpenError, ReadError, ReadOnlyStore, SessionQuery, StoredSession};
use renown_telemetry::ledger::{Session, TimeRange};
use renown_telemetry::report::SessionReport;

use super::print::Shown;
use super::watch::Screen;
use super::{Judge, NOTHING_HINT, no_logs, unscored, window};
use crate::args::{FormatArg, JudgeArgs};
use crate::failure::{self, Failure};
use crate::progress::Work;
use crate::store_location::{self, ask};
use crate::table::counted;

/// Number of sessions per read.
const PAGE: usize = 200;

/// Number of sessions that the hint lists if the requested session does not exist.
const NAMED: usize = 3;

/// Interval at which `--watch` reads the store.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// The store, and the organization whose sessions are read.
pub(super) struct Received {
    store: Box<dyn ReadOnlyStore>,
    org: OrgId,
    /// The path of the store, for errors.
    name: String,
}

/// A session within the time range.
pub(super) struct Found {
    pub(super) session: Session,
    agent: AgentId,
    began_at: Timestamp,
    last_seen: Timestamp,
}

impl Found {
    fn order(&self) -> (Option<Timestamp>, &str) {
        (self.session.started_at().map(|_| self.began_at), self.session.id())
    }
}

impl Received {
    /// Opens the store. Returns `None` if it does not exist and the arguments do not name it.
    pub(super) fn open(args: &JudgeArgs) -> Result<Option<Self>, Failure> {
        let is_named = args.location.data.is_some() || args.location.store.is_some();
        let location = args.location.resolve_with(args.config.as_deref())?;
        let mut is_absent = false;
        let failure = |error: &OpenError| {
            let is_missing = matches!(error, OpenError::Missing(_));
            is_absent = is_missing && !is_named;
            if is_missing {
                Failure::new(error.to_string()).hint(NOTHING_HINT)
            } else {
                store_location::failure(error)
            }
        };
        let store = match location.read_or(failure) {
            Err(_) if is_absent => return Ok(None),
            store => store?,
        };
        let org = args.org.clone().map_or_else(store_location::default_org, Ok)?;
        Ok(Some(Self { store, org, name: location.file.display().to_string() }))
    }

    /// Prints the selected sessions.
    pub(super) fn once(&self, judge: &Judge<'_>) -> Result<ExitCode, Failure> {
        let found = self.select(judge)?;
        let reports: Vec<SessionReport<'_>> =
            found.iter().filter_map(|found| judge.received(found)).collect();
        judge.print_reports(&reports)?;
        if !judge.quiet && judge.args.format != FormatArg::Json {
            failure::note(&match found.as_slice() {
                [one] => {
                    format!("session {} of {}, last seen {}", one.session.id(), one.agent, one.last_seen)
                }
                several => format!("{} in {}", counted(several.len() as u64, "session"), self.name),
            });
        }
        judge.report_missing(&reports);
        Ok(judge.passed(&reports))
    }

    /// Shows the session whenever it changes, until the user ends the command.
    pub(super) fn watch(&self, judge: &Judge<'_>) -> Result<ExitCode, Failure> {
        let mut screen = Screen::new(judge.args.format);
        let mut is_waiting = false;
        loop {
            let found = match &judge.args.session {
                Some(id) => self.find(id, judge.cut)?,
                None => self.latest(1, judge)?.pop(),
            };
            if let Some(report) = found.as_ref().and_then(|found| judge.received(found)) {
                if !screen.show(Shown::of(report))? {
                    return Ok(ExitCode::SUCCESS);
                }
            } else if !judge.quiet && !is_waiting && !screen.has_shown() {
                failure::note(&format!("waiting for a session in {} (end with Ctrl-C)", self.name));
                is_waiting = true;
            }
            wait();
        }
    }

    /// Returns the selected sessions, oldest first.
    fn select(&self, judge: &Judge<'_>) -> Result<Vec<Found>, Failure> {
        let args = judge.args;
        if let Some(id) = &args.session {
            if let Some(found) = self.find(id, judge.cut)? {
                return if found.session.has_evidence() { Ok(vec![found]) } else { Err(unscored(id)) };
            }
            let latest = self.latest(NAMED, judge)?;
            let latest: Vec<&str> = latest.iter().rev().map(|found| found.session.id()).collect();
            if latest.is_empty() {
                return Err(self.nothing(judge.cut)?);
            }
            let hint = format!("the latest are {}", latest.join(", "));
            return Err(Failure::new(format!("no session {id} in {}", self.name)).hint(hint));
        }
        let last = args.last.map(|last| usize::try_from(last).unwrap_or(usize::MAX));
        let found = self.latest(last.unwrap_or(if args.all { usize::MAX } else { 1 }), judge)?;
        if found.is_empty() { Err(self.nothing(judge.cut)?) } else { Ok(found) }
    }

    /// Returns the error that explains why no session was found.
    fn nothing(&self, cut: TimeRange) -> Result<Failure, Failure> {
        let sessions = self.count()?;
        if sessions == 0 || cut == TimeRange::default() {
            return Ok(no_logs());
        }
        let (window, sessions) = (window(cut), counted(sessions, "session"));
        Ok(Failure::new(format!("no session found in {}{window} (of {sessions})", self.name)))
    }

    fn count(&self) -> Result<u64, Failure> {
        ask(self.store.count(&self.org, EvidenceKind::Sessions))
    }

    fn find(&self, id: &str, cut: TimeRange) -> Result<Option<Found>, Failure> {
        // No session has an invalid id.
        let Ok(id) = id.parse() else { return Ok(None) };
        ask(async {
            match self.store.session(&self.org, &id, false).await? {
                Some(stored) => self.within(stored, cut).await,
                None => Ok(None),
            }
        })
    }

    /// Returns the `count` most recent sessions, oldest first.
    pub(super) fn latest(&self, count: usize, judge: &Judge<'_>) -> Result<Vec<Found>, Failure> {
        let (work, total) = (Work::of("sessions", !judge.quiet && !judge.args.watch), self.count()?);
        let mut report = |done| work.at(done, total);
        ask(self.newest(count, judge.cut, &mut report))
    }

    async fn newest(
        &self,
        count: usize,
        cut: TimeRange,
        report: &mut dyn FnMut(u64),
    ) -> Result<Vec<Found>, ReadError> {
        let mut query = SessionQuery { limit: PAGE, ..SessionQuery::default() };
        let (mut found, mut done) = (Vec::new(), 0);
        loop {
            let page = self.store.sessions(&self.org, query.clone()).await?;
            for stored in page.sessions {
                found.extend(self.within(stored, cut).await?.filter(|found| found.session.has_evidence()));
                done += 1;
            }
            found.sort_by(|a, b| Found::order(a).cmp(&Found::order(b)));
            found.drain(..found.len().saturating_sub(count));
            report(done);
            let Some(next) = page.next else { return Ok(found) };
            // Later pages hold sessions that began earlier. Within a time range, a session may begin later than its stored start.
            let least = found.first().filter(|_| found.len() == count).and_then(|found| found.order().0);
            if cut == TimeRange::default() && least.is_some_and(|least| next.at < least) {
                return Ok(found);
            }
            query.after = Some(next);
        }
    }

    /// Returns the session as it is within the time range, or `None` if it has no records there.
    async fn within(&self, stored: StoredSession, cut: TimeRange) -> Result<Option<Found>, ReadError> {
        let Some(whole) = &stored.ledger else { return Ok(None) };
        let (session, began_at) = if cut == TimeRange::default() {
            (whole.clone(), stored.began_at)
        } else {
            let (ended_at, last_seen) = (whole.ended_at(), stored.last_seen);
            let is_past = |from| last_seen < from && ended_at.is_none_or(|ended_at| ended_at < from);
            if cut.from.is_some_and(is_past) {
                return Ok(None);
            }
            // Only records with a time are within a time range, so the session has a start.
            let session = self.store.session_within(&self.org, &stored.id, cut).await?;
            let Some((session, started_at)) =
                session.and_then(|session| session.started_at().map(|started_at| (session, started_at)))
            else {
                return Ok(None);
            };
            (session, started_at.min(last_seen))
        };
        Ok(Some(Found { session, agent: stored.agent, began_at, last_seen: stored.last_seen }))
    }
}

#[expect(clippy::disallowed_methods, reason = "the store does not notify readers of writes")]
fn wait() {
    thread::sleep(LOOK_EVERY);
}

impl Judge<'_> {
    /// Scores a session under its stored agent, which may come from another source than its records.
    pub(super) fn received<'s>(&self, found: &'s Found) -> Option<SessionReport<'s>> {
        Some(SessionReport { agent_id: found.agent.as_str(), ..self.report(&found.session)? })
    }
}
