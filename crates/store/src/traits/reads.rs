//! Every question about what is stored.

use std::collections::BTreeMap;

use renown_core::identity::Windows;
use renown_core::ids::{AgentId, EvalRunId, IdentityId, OrgId, RunId, ScheduleId, SessionId, Slug, SpecId};
use renown_core::reputation::{Tally, Window};
use renown_core::time::{Day, Timestamp};
use renown_telemetry::ledger::{Session, TimeRange};

use super::ReadReply;
use crate::admin::{OrgSettings, Publication, Tombstone};
use crate::changes::{ChangeCursor, ChangePage};
use crate::days::DaySums;
use crate::eval_runs::{
    EvalFilter, EvalResultQuery, EvalResults, EvalRun, EvalRunQuery, EvalRuns, SessionMark,
};
use crate::evidence::Position;
use crate::history::{HistorySteps, Point};
use crate::identities::ReputationEvents;
use crate::keys::ApiKey;
use crate::overview::{AgentDays, AgentEvidence, OrgOverview};
use crate::query::{AgentQuery, AgentSummary, Agents, EvaluationPage, EvaluationQuery, TimeCursor};
use crate::runs::{Run, RunQuery, Runs, SpecRanking, Specs};
use crate::schedules::{Schedule, Schedules};
use crate::sessions::{RecordCursor, SessionQuery, SessionRecords, Sessions, StoredSession};

/// Answers every question. The store that is open for writing implements it, and so does a store that another process
/// writes to: the command line, the pages and the API ask the same questions.
///
/// A read sees every write that was answered before the read began. With several servers this holds for the writes of the
/// same server; it sees those of the others within two seconds. Two reads may see different moments.
///
/// Lists and pages read what writes have prepared. No read goes through all evaluations of an agent, except
/// [`Self::evaluations`] with a filter that matches few of them; a read that takes too long fails with `TooLong`.
pub trait Reads: Send + Sync + 'static {
    /// Returns all organizations, by name.
    fn organizations(&self) -> ReadReply<'_, Vec<OrgId>>;

    /// Returns the sums of an agent's window; all are zero for an unknown agent.
    fn tally<'a>(&'a self, org: &OrgId, agent: &AgentId) -> ReadReply<'a, Tally>;

    /// Returns an agent's window, rebuilt from its evaluations; empty for an unknown agent.
    fn window<'a>(&'a self, org: &OrgId, agent: &AgentId) -> ReadReply<'a, Window>;

    /// Returns a page of evaluations, the last accepted first. [`EvaluationPage::next`] is the `before` of the next
    /// page.
    fn evaluations<'a>(&'a self, org: &OrgId, query: EvaluationQuery) -> ReadReply<'a, EvaluationPage>;

    /// Returns how an agent's score changed over time: one point per step that has an evaluation, in order of time.
    fn history<'a>(&'a self, org: &OrgId, agent: &AgentId, steps: HistorySteps) -> ReadReply<'a, Vec<Point>>;

    /// Returns the earliest `created_at` of an agent's evaluations; `None` without an evaluation. Evaluations that
    /// retention deleted still count, as far as their days are kept.
    fn earliest<'a>(&'a self, org: &OrgId, agent: &AgentId) -> ReadReply<'a, Option<Timestamp>>;

    /// Returns a page of agents in the order of [`AgentQuery::sort`].
    fn agents<'a>(&'a self, org: &OrgId, query: AgentQuery) -> ReadReply<'a, Agents>;

    /// Returns an agent, or `None` if it is unknown or erased.
    fn agent<'a>(&'a self, org: &OrgId, agent: &AgentId) -> ReadReply<'a, Option<AgentSummary>>;

    /// Returns the days of an agent from `from` to `to`, both included, and what failed on them; empty for an
    /// unknown agent. Days are kept when retention deletes their evaluations.
    fn agent_days<'a>(&'a self, org: &OrgId, agent: &AgentId, from: Day, to: Day)
    -> ReadReply<'a, AgentDays>;

    /// Returns the days of several agents from `from` to `to`, both included, in the order of `agents`.
    fn days_of_agents<'a>(
        &'a self,
        org: &OrgId,
        agents: Vec<AgentId>,
        from: Day,
        to: Day,
    ) -> ReadReply<'a, Vec<BTreeMap<Day, DaySums>>>;

    /// Returns the other evidence of several agents, in the order of `agents`. Identities are summed as of `as_of`.
    fn evidence_of_agents<'a>(
        &'a self,
        org: &OrgId,
        agents: Vec<AgentId>,
        as_of: Timestamp,
    ) -> ReadReply<'a, Vec<AgentEvidence>>;

    /// Returns the overview of an organization for a day (UTC).
    fn overview<'a>(&'a self, org: &OrgId, day: Day) -> ReadReply<'a, OrgOverview>;

    /// Returns a run, or `None` if it is unknown.
    fn run<'a>(&'a self, org: &OrgId, id: &RunId) -> ReadReply<'a, Option<Run>>;

    /// Returns a page of runs, the last accepted first.
    fn runs<'a>(&'a self, org: &OrgId, query: RunQuery) -> ReadReply<'a, Runs>;

    /// Returns the best attempt of each agent at a spec, the best first. All attempts are compared with one baseline.
    fn competition<'a>(&'a self, org: &OrgId, spec: &SpecId) -> ReadReply<'a, SpecRanking>;

    /// Returns the specs that have a run, sorted by id, after `after`. It costs as much as the competitions of all
    /// specs of the page.
    fn specs<'a>(&'a self, org: &OrgId, after: Option<SpecId>, limit: usize) -> ReadReply<'a, Specs>;

    /// Returns the sums of an identity's events over the spans that end at `as_of`; empty for an unknown identity.
    /// Events after `as_of` do not count.
    fn identity_windows<'a>(
        &'a self,
        org: &OrgId,
        identity: IdentityId,
        as_of: Timestamp,
    ) -> ReadReply<'a, Windows>;

    /// Returns a page of the events of an identity, the latest first.
    fn reputation_events<'a>(
        &'a self,
        org: &OrgId,
        identity: IdentityId,
        after: Option<TimeCursor>,
        limit: usize,
    ) -> ReadReply<'a, ReputationEvents>;

    /// Returns a session, with its traces if `with_traces`; `None` if it is unknown.
    fn session<'a>(
        &'a self,
        org: &OrgId,
        session: &SessionId,
        with_traces: bool,
    ) -> ReadReply<'a, Option<StoredSession>>;

    /// Folds the records of a session within a time range. Returns `None` if it is unknown or has no records.
    fn session_within<'a>(
        &'a self,
        org: &OrgId,
        session: &SessionId,
        range: TimeRange,
    ) -> ReadReply<'a, Option<Session>>;

    /// Returns a page of a session's records in the order of [`RecordCursor`]; `None` if the session is unknown.
    fn session_records<'a>(
        &'a self,
        org: &OrgId,
        session: &SessionId,
        after: Option<RecordCursor>,
        limit: usize,
    ) -> ReadReply<'a, Option<SessionRecords>>;

    /// Returns a page of sessions, the last to begin first, without their traces.
    fn sessions<'a>(&'a self, org: &OrgId, query: SessionQuery) -> ReadReply<'a, Sessions>;

    /// Returns the settings of an organization; the default ones if it never changed them.
    fn settings<'a>(&'a self, org: &OrgId) -> ReadReply<'a, OrgSettings>;

    /// Returns the publication of an agent, or `None` if the agent is unknown.
    fn publication<'a>(&'a self, org: &OrgId, agent: &AgentId) -> ReadReply<'a, Option<Publication>>;

    /// Returns the public agent with this slug, and its organization. An agent that has the slug but is not public
    /// is not found.
    fn public_agent<'a>(&'a self, slug: &Slug) -> ReadReply<'a, Option<(OrgId, AgentId)>>;

    /// Returns the tombstones of an organization, the latest first.
    fn tombstones<'a>(&'a self, org: &OrgId) -> ReadReply<'a, Vec<Tombstone>>;

    /// Returns all keys of all organizations, also the revoked ones, the oldest first.
    fn keys(&self) -> ReadReply<'_, Vec<ApiKey>>;

    /// Returns the moment after everything that the organization has now.
    fn last_change<'a>(&'a self, org: &OrgId) -> ReadReply<'a, ChangeCursor>;

    /// Returns what has changed after a moment. Every change is on exactly one of the pages that follow one another, in the
    /// order of acceptance. A page has at most `limit` evaluations and `limit` sessions.
    fn changes<'a>(&'a self, org: &OrgId, after: ChangeCursor, limit: usize) -> ReadReply<'a, ChangePage>;

    /// Returns the latest time of acceptance; `None` if nothing was ever accepted.
    fn latest_acceptance(&self) -> ReadReply<'_, Option<Timestamp>>;

    /// Returns an eval run, or `None` if it is unknown.
    fn eval_run<'a>(&'a self, org: &OrgId, id: &EvalRunId) -> ReadReply<'a, Option<EvalRun>>;

    /// Returns the eval run at a position, or `None` if it is unknown.
    fn eval_run_at<'a>(&'a self, org: &OrgId, position: Position) -> ReadReply<'a, Option<EvalRun>>;

    /// Returns a page of eval runs, the last created first.
    fn eval_runs<'a>(&'a self, org: &OrgId, query: EvalRunQuery) -> ReadReply<'a, EvalRuns>;

    /// Returns a page of an eval run's results, sorted by session; `None` if the run is unknown.
    fn eval_results<'a>(
        &'a self,
        org: &OrgId,
        id: &EvalRunId,
        query: EvalResultQuery,
    ) -> ReadReply<'a, Option<EvalResults>>;

    /// Returns the oldest eval run of any organization that is not finished.
    fn next_eval_run(&self) -> ReadReply<'_, Option<(OrgId, EvalRun)>>;

    /// Returns the sessions of a filter as numbers.
    fn session_mark<'a>(&'a self, org: &OrgId, filter: EvalFilter) -> ReadReply<'a, SessionMark>;

    /// Returns a schedule, or `None` if it is unknown.
    fn schedule<'a>(&'a self, org: &OrgId, id: &ScheduleId) -> ReadReply<'a, Option<Schedule>>;

    /// Returns the schedule at a position, or `None` if it is unknown.
    fn schedule_at<'a>(&'a self, org: &OrgId, position: Position) -> ReadReply<'a, Option<Schedule>>;

    /// Returns a page of schedules, the last created first.
    fn schedules<'a>(
        &'a self,
        org: &OrgId,
        before: Option<Position>,
        limit: usize,
    ) -> ReadReply<'a, Schedules>;

    /// Returns some of the schedules of all organizations that have a next tick, the earliest first.
    fn next_schedules(&self, limit: usize) -> ReadReply<'_, Vec<(OrgId, Schedule)>>;
}
