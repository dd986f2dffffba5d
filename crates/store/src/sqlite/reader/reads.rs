//! The questions that a reader answers, from the file alone: rows that are behind are replaced by what the evaluations after them
//! give.

use std::collections::BTreeMap;

use renown_core::identity::{Windows, identity_of};
use renown_core::ids::{AgentId, EvalRunId, IdentityId, OrgId, RunId, ScheduleId, SessionId, Slug, SpecId};
use renown_core::reputation::{Tally, Window};
use renown_core::time::{Day, Timestamp};
use renown_telemetry::ledger::{Session, TimeRange};
use rusqlite::Connection;

use super::Reader;
use crate::admin::{OrgSettings, Publication, Tombstone};
use crate::changes::{ChangeCursor, ChangePage};
use crate::days::DaySums;
use crate::error::StoreError;
use crate::eval_runs::{
    EvalFilter, EvalResultQuery, EvalResults, EvalRun, EvalRunQuery, EvalRuns, SessionMark,
};
use crate::evidence::{Position, StoredEvaluation};
use crate::history::{HistorySteps, Point};
use crate::identities::{ReputationEvent, ReputationEvents};
use crate::keys::ApiKey;
use crate::overview::{AgentDays, AgentEvidence, OrgOverview};
use crate::query::{AgentQuery, AgentSummary, Agents, EvaluationPage, EvaluationQuery, TimeCursor};
use crate::runs::{Run, RunQuery, Runs, SpecRanking, Specs};
use crate::schedules::{Schedule, Schedules};
use crate::sessions::{RecordCursor, SessionQuery, SessionRecords, Sessions, StoredSession};
use crate::sqlite::days::{self, DaysOf};
use crate::sqlite::orgs::OrgKey;
use crate::sqlite::readers::Deadline;
use crate::sqlite::scan::{self, Part};
use crate::sqlite::{
    admin, agents, changes, eval_runs, identities, overview, rows, runs, schedules, sessions,
};
use crate::traits::{EvidenceKind, ReadReply, Reads, Scan};

impl Reader {
    /// Answers a question.
    fn ask<'a, T: Send + 'a>(
        &'a self,
        read: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> ReadReply<'a, T> {
        let answer = self.files().read(read);
        Box::pin(std::future::ready(answer.map_err(Into::into)))
    }

    /// Answers a question about an organization.
    fn ask_of<'a, T: Send + 'a>(
        &'a self,
        org: &OrgId,
        read: impl FnOnce(&Connection, OrgKey) -> Result<T, StoreError>,
    ) -> ReadReply<'a, T> {
        self.ask(|connection| read(connection, self.orgs.get(org)?))
    }

    /// Answers a question about the days of an agent. The answer is the default value if it is unknown.
    fn ask_days<'a, T: Default + Send + 'a>(
        &'a self,
        org: &OrgId,
        agent: &AgentId,
        read: impl FnOnce(&Connection, &DaysOf) -> Result<T, StoreError>,
    ) -> ReadReply<'a, T> {
        self.ask_of(org, |connection, org| match days_of(connection, org, agent)? {
            Some(days) => read(connection, &days),
            None => Ok(T::default()),
        })
    }
}

/// Returns the days of an agent, with what its rows do not contain yet.
fn days_of(connection: &Connection, org: OrgKey, agent: &AgentId) -> Result<Option<DaysOf>, StoreError> {
    let Some(row) = agents::find(connection, org, agent)? else { return Ok(None) };
    let days = days::unsettled(connection, org, Some(row.agent))?.remove(&row.agent);
    Ok(Some(DaysOf::new(org, row, days.map(|days| (row.agent, days)))))
}

impl Reads for Reader {
    fn organizations(&self) -> ReadReply<'_, Vec<OrgId>> {
        self.ask(|_| Ok(self.orgs.names()))
    }

    fn tally<'a>(&'a self, org: &OrgId, agent: &AgentId) -> ReadReply<'a, Tally> {
        self.ask_of(org, |connection, org| {
            Ok(agents::find_in_log(connection, org, agent)?.map(|agent| agent.tally).unwrap_or_default())
        })
    }

    fn window<'a>(&'a self, org: &OrgId, agent: &AgentId) -> ReadReply<'a, Window> {
        self.ask_of(org, |connection, org| {
            let agent = agents::find_in_log(connection, org, agent)?;
            rows::window(connection, agent.and_then(|agent| agent.last_position))
        })
    }

    fn evaluations<'a>(&'a self, org: &OrgId, query: EvaluationQuery) -> ReadReply<'a, EvaluationPage> {
        self.ask_of(org, |connection, org| match query.agent.clone() {
            Some(agent) => {
                let agent = agents::find_in_log(connection, org, &agent)?;
                rows::evaluations_of_agent(connection, agent, query, &Deadline::NONE)
            }
            None => rows::evaluations_of_org(connection, org, query, &Deadline::NONE),
        })
    }

    fn history<'a>(&'a self, org: &OrgId, agent: &AgentId, steps: HistorySteps) -> ReadReply<'a, Vec<Point>> {
        self.ask_days(org, agent, |connection, days| days.history(connection, steps, &Deadline::NONE))
    }

    fn earliest<'a>(&'a self, org: &OrgId, agent: &AgentId) -> ReadReply<'a, Option<Timestamp>> {
        self.ask_days(org, agent, |connection, days| days.first_at(connection))
    }

    fn agents<'a>(&'a self, org: &OrgId, query: AgentQuery) -> ReadReply<'a, Agents> {
        self.ask_of(org, |connection, org| {
            agents::page(connection, org, &query, agents::behind(connection, org)?, &Deadline::NONE)
        })
    }

    fn agent<'a>(&'a self, org: &OrgId, agent: &AgentId) -> ReadReply<'a, Option<AgentSummary>> {
        self.ask_of(org, |connection, org| {
            Ok(agents::summary(agent, agents::find_in_log(connection, org, agent)?))
        })
    }

    fn agent_days<'a>(
        &'a self,
        org: &OrgId,
        agent: &AgentId,
        from: Day,
        to: Day,
    ) -> ReadReply<'a, AgentDays> {
        self.ask_days(org, agent, |connection, days| days.read(connection, from, to, &Deadline::NONE))
    }

    fn days_of_agents<'a>(
        &'a self,
        org: &OrgId,
        agents: Vec<AgentId>,
        from: Day,
        to: Day,
    ) -> ReadReply<'a, Vec<BTreeMap<Day, DaySums>>> {
        self.ask_of(org, |connection, org| {
            let sums = |agent: &AgentId| match days_of(connection, org, agent)? {
                Some(days) => days.sums(connection, from, to),
                None => Ok(BTreeMap::new()),
            };
            agents.iter().map(sums).collect()
        })
    }

    fn evidence_of_agents<'a>(
        &'a self,
        org: &OrgId,
        agents: Vec<AgentId>,
        as_of: Timestamp,
    ) -> ReadReply<'a, Vec<AgentEvidence>> {
        self.ask_of(org, |connection, key| {
            let evidence = |agent: AgentId| {
                let identity = identity_of(org, &agent);
                overview::evidence(connection, key, identity, agent, as_of, &Deadline::NONE)
            };
            agents.into_iter().map(evidence).collect()
        })
    }

    fn overview<'a>(&'a self, org: &OrgId, day: Day) -> ReadReply<'a, OrgOverview> {
        self.ask_of(org, |connection, org| {
            let mut unsettled = Vec::new();
            for (number, days) in days::unsettled(connection, org, None)? {
                unsettled.push((agents::name(connection, number)?, Some((number, days))));
            }
            overview::read(connection, org, day, unsettled, &Deadline::NONE)
        })
    }

    fn run<'a>(&'a self, org: &OrgId, id: &RunId) -> ReadReply<'a, Option<Run>> {
        self.ask_of(org, |connection, org| runs::find(connection, org, id))
    }

    fn runs<'a>(&'a self, org: &OrgId, query: RunQuery) -> ReadReply<'a, Runs> {
        self.ask_of(org, |connection, org| runs::page(connection, org, &query, &Deadline::NONE))
    }

    fn competition<'a>(&'a self, org: &OrgId, spec: &SpecId) -> ReadReply<'a, SpecRanking> {
        self.ask_of(org, |connection, org| runs::competition(connection, org, spec, &Deadline::NONE))
    }

    fn specs<'a>(&'a self, org: &OrgId, after: Option<SpecId>, limit: usize) -> ReadReply<'a, Specs> {
        self.ask_of(org, |connection, org| runs::specs(connection, org, after, limit, &Deadline::NONE))
    }

    fn identity_windows<'a>(
        &'a self,
        org: &OrgId,
        identity: IdentityId,
        as_of: Timestamp,
    ) -> ReadReply<'a, Windows> {
        self.ask_of(org, |connection, org| identities::windows(connection, org, identity, as_of))
    }

    fn reputation_events<'a>(
        &'a self,
        org: &OrgId,
        identity: IdentityId,
        after: Option<TimeCursor>,
        limit: usize,
    ) -> ReadReply<'a, ReputationEvents> {
        self.ask_of(org, |connection, org| identities::page(connection, org, identity, after, limit))
    }

    fn session<'a>(
        &'a self,
        org: &OrgId,
        session: &SessionId,
        with_traces: bool,
    ) -> ReadReply<'a, Option<StoredSession>> {
        self.ask_of(org, |connection, org| {
            sessions::find(connection, org, session, with_traces, &Deadline::NONE)
        })
    }

    fn session_within<'a>(
        &'a self,
        org: &OrgId,
        session: &SessionId,
        range: TimeRange,
    ) -> ReadReply<'a, Option<Session>> {
        self.ask_of(org, |connection, org| sessions::within(connection, org, session, range, &Deadline::NONE))
    }

    fn session_records<'a>(
        &'a self,
        org: &OrgId,
        session: &SessionId,
        after: Option<RecordCursor>,
        limit: usize,
    ) -> ReadReply<'a, Option<SessionRecords>> {
        self.ask_of(org, |connection, org| sessions::records(connection, org, session, after, limit))
    }

    fn sessions<'a>(&'a self, org: &OrgId, query: SessionQuery) -> ReadReply<'a, Sessions> {
        self.ask_of(org, |connection, org| sessions::page(connection, org, &query, &Deadline::NONE))
    }

    fn settings<'a>(&'a self, org: &OrgId) -> ReadReply<'a, OrgSettings> {
        self.ask_of(org, rows::settings)
    }

    fn publication<'a>(&'a self, org: &OrgId, agent: &AgentId) -> ReadReply<'a, Option<Publication>> {
        self.ask_of(org, |connection, org| admin::publication(connection, org, agent))
    }

    fn public_agent<'a>(&'a self, slug: &Slug) -> ReadReply<'a, Option<(OrgId, AgentId)>> {
        self.ask(|connection| admin::public_agent(connection, slug))
    }

    fn tombstones<'a>(&'a self, org: &OrgId) -> ReadReply<'a, Vec<Tombstone>> {
        self.ask_of(org, rows::tombstones)
    }

    fn keys(&self) -> ReadReply<'_, Vec<ApiKey>> {
        self.ask(rows::keys)
    }

    fn last_change<'a>(&'a self, org: &OrgId) -> ReadReply<'a, ChangeCursor> {
        self.ask_of(org, changes::last)
    }

    fn changes<'a>(&'a self, org: &OrgId, after: ChangeCursor, limit: usize) -> ReadReply<'a, ChangePage> {
        self.ask_of(org, |connection, org| changes::page(connection, org, after, limit))
    }

    fn eval_run<'a>(&'a self, org: &OrgId, id: &EvalRunId) -> ReadReply<'a, Option<EvalRun>> {
        self.ask_of(org, |connection, org| eval_runs::find(connection, org, id))
    }

    fn eval_run_at<'a>(&'a self, org: &OrgId, position: Position) -> ReadReply<'a, Option<EvalRun>> {
        self.ask_of(org, |connection, org| eval_runs::find_at(connection, org, position))
    }

    fn eval_runs<'a>(&'a self, org: &OrgId, query: EvalRunQuery) -> ReadReply<'a, EvalRuns> {
        self.ask_of(org, |connection, org| eval_runs::page(connection, org, &query, &Deadline::NONE))
    }

    fn eval_results<'a>(
        &'a self,
        org: &OrgId,
        id: &EvalRunId,
        query: EvalResultQuery,
    ) -> ReadReply<'a, Option<EvalResults>> {
        self.ask_of(org, |connection, org| eval_runs::results(connection, org, id, &query))
    }

    fn next_eval_run(&self) -> ReadReply<'_, Option<(OrgId, EvalRun)>> {
        self.ask(eval_runs::next)
    }

    fn session_mark<'a>(&'a self, org: &OrgId, filter: EvalFilter) -> ReadReply<'a, SessionMark> {
        self.ask_of(org, |connection, org| eval_runs::session_mark(connection, org, &filter))
    }

    fn schedule<'a>(&'a self, org: &OrgId, id: &ScheduleId) -> ReadReply<'a, Option<Schedule>> {
        self.ask_of(org, |connection, org| schedules::find(connection, org, id))
    }

    fn schedule_at<'a>(&'a self, org: &OrgId, position: Position) -> ReadReply<'a, Option<Schedule>> {
        self.ask_of(org, |connection, org| schedules::find_at(connection, org, position))
    }

    fn schedules<'a>(
        &'a self,
        org: &OrgId,
        before: Option<Position>,
        limit: usize,
    ) -> ReadReply<'a, Schedules> {
        self.ask_of(org, |connection, org| schedules::page(connection, org, before, limit))
    }

    fn next_schedules(&self, limit: usize) -> ReadReply<'_, Vec<(OrgId, Schedule)>> {
        self.ask(|connection| schedules::next(connection, limit))
    }

    fn latest_acceptance(&self) -> ReadReply<'_, Option<Timestamp>> {
        self.ask(rows::latest_acceptance)
    }
}

impl Scan for Reader {
    fn count<'a>(&'a self, org: &OrgId, kind: EvidenceKind) -> ReadReply<'a, u64> {
        self.ask_of(org, |connection, org| scan::count(connection, org, kind))
    }

    fn scan_evaluations<'a>(
        &'a self,
        org: &OrgId,
        after: Option<Position>,
        limit: usize,
    ) -> ReadReply<'a, Vec<StoredEvaluation>> {
        self.ask_of(org, |connection, org| scan::evaluations(connection, Part { org, after, limit }))
    }

    fn scan_runs<'a>(
        &'a self,
        org: &OrgId,
        after: Option<Position>,
        limit: usize,
    ) -> ReadReply<'a, Vec<Run>> {
        self.ask_of(org, |connection, org| scan::runs(connection, Part { org, after, limit }))
    }

    fn scan_reputation_events<'a>(
        &'a self,
        org: &OrgId,
        after: Option<Position>,
        limit: usize,
    ) -> ReadReply<'a, Vec<ReputationEvent>> {
        self.ask_of(org, |connection, org| scan::reputation_events(connection, Part { org, after, limit }))
    }

    fn scan_sessions<'a>(
        &'a self,
        org: &OrgId,
        after: Option<Position>,
        limit: usize,
    ) -> ReadReply<'a, Vec<StoredSession>> {
        self.ask_of(org, |connection, org| {
            scan::sessions(connection, Part { org, after, limit }, &Deadline::NONE)
        })
    }
}
