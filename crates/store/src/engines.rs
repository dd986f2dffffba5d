//! The engines as the traits see them.
//!
//! An engine has a method for each method of a trait, with the same name and with an error of its own, [`StoreError`]. Here
//! they become the methods of the traits, and the error becomes the one of the operation.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;

use renown_core::identity::Windows;
use renown_core::ids::{AgentId, EvalRunId, IdentityId, OrgId, RunId, ScheduleId, SessionId, Slug, SpecId};
use renown_core::reputation::{Tally, Window};
use renown_core::time::{Day, Timestamp};
use renown_telemetry::account::Account;
use renown_telemetry::facts::Batch;
use renown_telemetry::ledger::{Session, TimeRange};

use crate::admin::{OrgSettings, Publication, PublicationChange, Published, Retention, Tombstone};
use crate::changes::{ChangeCursor, ChangePage};
use crate::clock::Ready;
use crate::days::DaySums;
use crate::error::StoreError;
use crate::eval_runs::{
    EvalChange, EvalChanged, EvalCreated, EvalFilter, EvalResultQuery, EvalResults, EvalRun, EvalRunQuery,
    EvalRuns, EvalStep, NewEvalRun, SessionMark,
};
use crate::evidence::{EvaluationOutcome, NewEvaluation, Position, StoredEvaluation};
use crate::history::{HistorySteps, Point};
use crate::identities::{NewReputationEvent, Recorded, ReputationEvent, ReputationEvents};
use crate::keys::{ApiKey, KeyId, NewKey};
use crate::memory::Memory;
use crate::overview::{AgentDays, AgentEvidence, OrgOverview};
use crate::query::{AgentQuery, AgentSummary, Agents, EvaluationPage, EvaluationQuery, TimeCursor};
use crate::request_keys::{Accepted, KnownRequest, RequestKey};
use crate::runs::{NewRun, Run, RunQuery, Runs, SpecRanking, Specs, Submitted};
use crate::schedules::{Fire, Fired, NewSchedule, Schedule, ScheduleChange, ScheduleChanged, Schedules};
use crate::sessions::{
    Closed, NewSignals, RecordCursor, SessionQuery, SessionRecords, Sessions, StoredSession,
};
use crate::sqlite::Sqlite;
use crate::traits::{Control, Evidence, EvidenceKind, Progress, ReadReply, Reads, Scan, Upkeep, WriteReply};
use crate::waits::WriteWaits;

/// The future result of an operation of an engine.
pub(crate) type Reply<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// Makes a reply that is ready at once.
pub(crate) fn answer<'a, T: Send + 'a>(result: Result<T, StoreError>) -> Reply<'a, T> {
    Box::pin(std::future::ready(result))
}

/// Turns the error of an engine into the one of an operation.
pub(crate) fn converted<'a, T: 'a, E: From<StoreError> + 'a>(
    reply: Reply<'a, T>,
) -> Pin<Box<dyn Future<Output = Result<T, E>> + Send + 'a>> {
    Box::pin(async move { reply.await.map_err(E::from) })
}

/// Implements methods of a trait by those of the engine. The method of the engine is called at once: a write begins before
/// its future is awaited.
macro_rules! passed_on {
    ($engine:ident, $reply:ident: $(fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty;)+) => {$(
        fn $name(&self, $($argument: $type),*) -> $reply<'_, $result> {
            converted($engine::$name(self, $($argument),*))
        }
    )+};
}

macro_rules! implement_traits {
    ($engine:ident) => {
        impl Evidence for $engine {
            passed_on! { $engine, WriteReply:
                fn append(org: &OrgId, evaluations: Vec<NewEvaluation>, request_key: Option<RequestKey>) -> Accepted<Vec<EvaluationOutcome>>;
                fn add_agent(org: &OrgId, agent: AgentId, request_key: Option<RequestKey>) -> Accepted<bool>;
                fn add_run(org: &OrgId, run: NewRun, request_key: Option<RequestKey>) -> Accepted<Submitted>;
                fn add_records(org: &OrgId, batch: Batch, request_key: Option<RequestKey>) -> Accepted<Account>;
                fn add_signals(org: &OrgId, session: &SessionId, signals: NewSignals, request_key: Option<RequestKey>) -> Accepted<()>;
                fn add_reputation_events(org: &OrgId, events: Vec<NewReputationEvent>, request_key: Option<RequestKey>) -> Accepted<Recorded>;
            }

            passed_on! { $engine, ReadReply:
                fn known_request(request_key: RequestKey) -> Option<KnownRequest>;
            }
        }

        impl Reads for $engine {
            passed_on! { $engine, ReadReply:
                fn organizations() -> Vec<OrgId>;
                fn tally(org: &OrgId, agent: &AgentId) -> Tally;
                fn window(org: &OrgId, agent: &AgentId) -> Window;
                fn evaluations(org: &OrgId, query: EvaluationQuery) -> EvaluationPage;
                fn history(org: &OrgId, agent: &AgentId, steps: HistorySteps) -> Vec<Point>;
                fn earliest(org: &OrgId, agent: &AgentId) -> Option<Timestamp>;
                fn agents(org: &OrgId, query: AgentQuery) -> Agents;
                fn agent(org: &OrgId, agent: &AgentId) -> Option<AgentSummary>;
                fn agent_days(org: &OrgId, agent: &AgentId, from: Day, to: Day) -> AgentDays;
                fn days_of_agents(org: &OrgId, agents: Vec<AgentId>, from: Day, to: Day) -> Vec<BTreeMap<Day, DaySums>>;
                fn evidence_of_agents(org: &OrgId, agents: Vec<AgentId>, as_of: Timestamp) -> Vec<AgentEvidence>;
                fn overview(org: &OrgId, day: Day) -> OrgOverview;
                fn run(org: &OrgId, id: &RunId) -> Option<Run>;
                fn runs(org: &OrgId, query: RunQuery) -> Runs;
                fn competition(org: &OrgId, spec: &SpecId) -> SpecRanking;
                fn specs(org: &OrgId, after: Option<SpecId>, limit: usize) -> Specs;
                fn identity_windows(org: &OrgId, identity: IdentityId, as_of: Timestamp) -> Windows;
                fn reputation_events(org: &OrgId, identity: IdentityId, after: Option<TimeCursor>, limit: usize) -> ReputationEvents;
                fn session(org: &OrgId, session: &SessionId, with_traces: bool) -> Option<StoredSession>;
                fn session_within(org: &OrgId, session: &SessionId, range: TimeRange) -> Option<Session>;
                fn session_records(org: &OrgId, session: &SessionId, after: Option<RecordCursor>, limit: usize) -> Option<SessionRecords>;
                fn sessions(org: &OrgId, query: SessionQuery) -> Sessions;
                fn settings(org: &OrgId) -> OrgSettings;
                fn publication(org: &OrgId, agent: &AgentId) -> Option<Publication>;
                fn public_agent(slug: &Slug) -> Option<(OrgId, AgentId)>;
                fn tombstones(org: &OrgId) -> Vec<Tombstone>;
                fn keys() -> Vec<ApiKey>;
                fn last_change(org: &OrgId) -> ChangeCursor;
                fn changes(org: &OrgId, after: ChangeCursor, limit: usize) -> ChangePage;
                fn latest_acceptance() -> Option<Timestamp>;
                fn eval_run(org: &OrgId, id: &EvalRunId) -> Option<EvalRun>;
                fn eval_run_at(org: &OrgId, position: Position) -> Option<EvalRun>;
                fn eval_runs(org: &OrgId, query: EvalRunQuery) -> EvalRuns;
                fn eval_results(org: &OrgId, id: &EvalRunId, query: EvalResultQuery) -> Option<EvalResults>;
                fn next_eval_run() -> Option<(OrgId, EvalRun)>;
                fn session_mark(org: &OrgId, filter: EvalFilter) -> SessionMark;
                fn schedule(org: &OrgId, id: &ScheduleId) -> Option<Schedule>;
                fn schedule_at(org: &OrgId, position: Position) -> Option<Schedule>;
                fn schedules(org: &OrgId, before: Option<Position>, limit: usize) -> Schedules;
                fn next_schedules(limit: usize) -> Vec<(OrgId, Schedule)>;
            }
        }

        impl Control for $engine {
            passed_on! { $engine, WriteReply:
                fn create_key(key: NewKey, request_key: Option<RequestKey>) -> Accepted<ApiKey>;
                fn revoke_key(org: &OrgId, id: KeyId) -> bool;
                fn touch_keys(used: Vec<(KeyId, Timestamp)>) -> ();
                fn set_settings(org: &OrgId, settings: OrgSettings) -> ();
                fn publish(org: &OrgId, agent: &AgentId, change: PublicationChange) -> Published;
                fn erase(org: &OrgId, agent: &AgentId) -> bool;
                fn create_eval_run(org: &OrgId, run: NewEvalRun, request_key: Option<RequestKey>) -> Accepted<EvalCreated>;
                fn change_eval_run(org: &OrgId, id: &EvalRunId, change: EvalChange, request_key: Option<RequestKey>) -> Accepted<EvalChanged>;
                fn create_schedule(org: &OrgId, schedule: NewSchedule, request_key: Option<RequestKey>) -> Accepted<ScheduleChanged>;
                fn change_schedule(org: &OrgId, id: &ScheduleId, change: ScheduleChange, request_key: Option<RequestKey>) -> Accepted<ScheduleChanged>;
                fn delete_schedule(org: &OrgId, id: &ScheduleId) -> bool;
            }
        }

        impl Upkeep for $engine {
            passed_on! { $engine, WriteReply:
                fn close_sessions() -> Vec<Closed>;
                fn delete_some(retention: Retention) -> Progress;
                fn advance_eval_run(org: &OrgId, id: &EvalRunId, step: EvalStep) -> Option<EvalRun>;
                fn fire_schedule(org: &OrgId, id: &ScheduleId, fire: Fire, request_key: Option<RequestKey>) -> Accepted<Fired>;
                fn ready() -> Ready;
            }

            fn write_waits(&self) -> WriteWaits {
                $engine::write_waits(self)
            }
        }

        impl Scan for $engine {
            passed_on! { $engine, ReadReply:
                fn count(org: &OrgId, kind: EvidenceKind) -> u64;
                fn scan_evaluations(org: &OrgId, after: Option<Position>, limit: usize) -> Vec<StoredEvaluation>;
                fn scan_runs(org: &OrgId, after: Option<Position>, limit: usize) -> Vec<Run>;
                fn scan_reputation_events(org: &OrgId, after: Option<Position>, limit: usize) -> Vec<ReputationEvent>;
                fn scan_sessions(org: &OrgId, after: Option<Position>, limit: usize) -> Vec<StoredSession>;
            }
        }
    };
}

implement_traits!(Memory);
implement_traits!(Sqlite);
