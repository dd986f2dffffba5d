//! A store whose writes can be blocked, so that a test can act while a write is pending.

use std::collections::BTreeMap;
use std::sync::Mutex;

use renown_core::identity::Windows;
use renown_core::ids::{AgentId, EvalRunId, IdentityId, OrgId, RunId, ScheduleId, SessionId, Slug, SpecId};
use renown_core::reputation::{Tally, Window};
use renown_core::time::{Day, Timestamp};
use renown_store::days::DaySums;
use renown_store::memory::Memory;
use renown_store::{
    Accepted, AgentDays, AgentEvidence, AgentQuery, AgentSummary, Agents, ApiKey, ChangeCursor, ChangePage,
    Clock, Closed, Control, EvalChange, EvalChanged, EvalCreated, EvalFilter, EvalResultQuery, EvalResults,
    EvalRun, EvalRunQuery, EvalRuns, EvalStep, EvaluationOutcome, EvaluationPage, EvaluationQuery, Evidence,
    EvidenceKind, Fire, Fired, HistorySteps, KeyId, KnownRequest, NewEvalRun, NewEvaluation, NewKey,
    NewReputationEvent, NewRun, NewSchedule, NewSignals, OrgOverview, OrgSettings, Point, Position, Progress,
    Publication, PublicationChange, Published, ReadReply, Reads, Ready, RecordCursor, Recorded,
    ReputationEvent, ReputationEvents, RequestKey, Retention, Run, RunQuery, Runs, Scan, Schedule,
    ScheduleChange, ScheduleChanged, Schedules, SessionMark, SessionQuery, SessionRecords, Sessions,
    SpecRanking, Specs, StoredEvaluation, StoredSession, Submitted, TimeCursor, Tombstone, Upkeep,
    WriteError, WriteReply,
};
use renown_telemetry::account::Account;
use renown_telemetry::facts::Batch;
use renown_telemetry::ledger::{Session, TimeRange};
use tokio::sync::{Notify, watch};

/// The store in memory, with writes that can be blocked.
pub(crate) struct BlockingStore {
    memory: Memory,
    /// Whether writes wait before they begin.
    blocks_writes: watch::Sender<bool>,
    /// Whether new keys are created, but their replies wait.
    blocks_key_replies: watch::Sender<bool>,
    /// Notified when a write or a reply begins to wait.
    blocked: Notify,
    /// The error of the next call of `add_records`.
    failure: Mutex<Option<WriteError>>,
}

impl BlockingStore {
    pub(crate) fn new(clock: Clock) -> Self {
        let (blocks_writes, blocks_key_replies) = (watch::Sender::new(false), watch::Sender::new(false));
        let (blocked, failure) = (Notify::new(), Mutex::default());
        Self { memory: Memory::new(clock), blocks_writes, blocks_key_replies, blocked, failure }
    }

    /// Fails the next call of `add_records`.
    pub(crate) fn fail(&self, error: WriteError) {
        *self.failure.lock().unwrap() = Some(error);
    }

    /// Blocks every write from now on.
    pub(crate) fn block(&self) {
        self.blocks_writes.send_replace(true);
    }

    /// Lets all writes continue.
    pub(crate) fn unblock(&self) {
        self.blocks_writes.send_replace(false);
    }

    /// From now on, creates keys but does not reply.
    pub(crate) fn block_key_replies(&self) {
        self.blocks_key_replies.send_replace(true);
    }

    /// Sends the replies to all created keys.
    pub(crate) fn unblock_key_replies(&self) {
        self.blocks_key_replies.send_replace(false);
    }

    /// Waits until a write or a reply is blocked.
    pub(crate) async fn wait_until_blocked(&self) {
        self.blocked.notified().await;
    }

    /// Waits while writes are blocked, then writes.
    fn write<'a, T: Send + 'a>(
        &'a self,
        write: impl FnOnce() -> WriteReply<'a, T> + Send + 'a,
    ) -> WriteReply<'a, T> {
        let mut is_blocked = self.blocks_writes.subscribe();
        Box::pin(async move {
            if *is_blocked.borrow() {
                self.blocked.notify_one();
            }
            let _ = is_blocked.wait_for(|is_blocked| !*is_blocked).await;
            write().await
        })
    }
}

/// Passes calls on to the store in memory. They are never blocked.
macro_rules! passed_on {
    ($reply:ident: $(fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty;)+) => {$(
        fn $name(&self, $($argument: $type),*) -> $reply<'_, $result> {
            self.memory.$name($($argument),*)
        }
    )+};
}

impl Evidence for BlockingStore {
    passed_on! { ReadReply:
        fn known_request(request_key: RequestKey) -> Option<KnownRequest>;
    }

    fn append<'a>(
        &'a self,
        org: &OrgId,
        evaluations: Vec<NewEvaluation>,
        request_key: Option<RequestKey>,
    ) -> WriteReply<'a, Accepted<Vec<EvaluationOutcome>>> {
        let org = org.clone();
        self.write(move || self.memory.append(&org, evaluations, request_key))
    }

    fn add_agent<'a>(
        &'a self,
        org: &OrgId,
        agent: AgentId,
        request_key: Option<RequestKey>,
    ) -> WriteReply<'a, Accepted<bool>> {
        let org = org.clone();
        self.write(move || self.memory.add_agent(&org, agent, request_key))
    }

    fn add_run<'a>(
        &'a self,
        org: &OrgId,
        run: NewRun,
        request_key: Option<RequestKey>,
    ) -> WriteReply<'a, Accepted<Submitted>> {
        let org = org.clone();
        self.write(move || self.memory.add_run(&org, run, request_key))
    }

    fn add_records<'a>(
        &'a self,
        org: &OrgId,
        batch: Batch,
        request_key: Option<RequestKey>,
    ) -> WriteReply<'a, Accepted<Account>> {
        if let Some(error) = self.failure.lock().unwrap().take() {
            return Box::pin(std::future::ready(Err(error)));
        }
        let org = org.clone();
        self.write(move || self.memory.add_records(&org, batch, request_key))
    }

    fn add_signals<'a>(
        &'a self,
        org: &OrgId,
        session: &SessionId,
        signals: NewSignals,
        request_key: Option<RequestKey>,
    ) -> WriteReply<'a, Accepted<()>> {
        let (org, session) = (org.clone(), session.clone());
        self.write(move || self.memory.add_signals(&org, &session, signals, request_key))
    }

    fn add_reputation_events<'a>(
        &'a self,
        org: &OrgId,
        events: Vec<NewReputationEvent>,
        request_key: Option<RequestKey>,
    ) -> WriteReply<'a, Accepted<Recorded>> {
        let org = org.clone();
        self.write(move || self.memory.add_reputation_events(&org, events, request_key))
    }
}

impl Reads for BlockingStore {
    passed_on! { ReadReply:
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

impl Control for BlockingStore {
    passed_on! { WriteReply:
        fn touch_keys(used: Vec<(KeyId, Timestamp)>) -> ();
        fn create_eval_run(org: &OrgId, run: NewEvalRun, request_key: Option<RequestKey>) -> Accepted<EvalCreated>;
        fn change_eval_run(org: &OrgId, id: &EvalRunId, change: EvalChange, request_key: Option<RequestKey>) -> Accepted<EvalChanged>;
        fn create_schedule(org: &OrgId, schedule: NewSchedule, request_key: Option<RequestKey>) -> Accepted<ScheduleChanged>;
        fn change_schedule(org: &OrgId, id: &ScheduleId, change: ScheduleChange, request_key: Option<RequestKey>) -> Accepted<ScheduleChanged>;
        fn delete_schedule(org: &OrgId, id: &ScheduleId) -> bool;
    }

    fn create_key(&self, key: NewKey, request_key: Option<RequestKey>) -> WriteReply<'_, Accepted<ApiKey>> {
        let mut is_blocked = self.blocks_key_replies.subscribe();
        Box::pin(async move {
            let created = self.write(move || self.memory.create_key(key, request_key)).await;
            if *is_blocked.borrow() {
                self.blocked.notify_one();
            }
            let _ = is_blocked.wait_for(|is_blocked| !*is_blocked).await;
            created
        })
    }

    fn revoke_key<'a>(&'a self, org: &OrgId, id: KeyId) -> WriteReply<'a, bool> {
        let org = org.clone();
        self.write(move || self.memory.revoke_key(&org, id))
    }

    fn set_settings<'a>(&'a self, org: &OrgId, settings: OrgSettings) -> WriteReply<'a, ()> {
        let org = org.clone();
        self.write(move || self.memory.set_settings(&org, settings))
    }

    fn publish<'a>(
        &'a self,
        org: &OrgId,
        agent: &AgentId,
        change: PublicationChange,
    ) -> WriteReply<'a, Published> {
        let (org, agent) = (org.clone(), agent.clone());
        self.write(move || self.memory.publish(&org, &agent, change))
    }

    fn erase<'a>(&'a self, org: &OrgId, agent: &AgentId) -> WriteReply<'a, bool> {
        let (org, agent) = (org.clone(), agent.clone());
        self.write(move || self.memory.erase(&org, &agent))
    }
}

impl Upkeep for BlockingStore {
    passed_on! { WriteReply:
        fn close_sessions() -> Vec<Closed>;
        fn advance_eval_run(org: &OrgId, id: &EvalRunId, step: EvalStep) -> Option<EvalRun>;
        fn fire_schedule(org: &OrgId, id: &ScheduleId, fire: Fire, request_key: Option<RequestKey>) -> Accepted<Fired>;
        fn delete_some(retention: Retention) -> Progress;
        fn ready() -> Ready;
    }
}

impl Scan for BlockingStore {
    passed_on! { ReadReply:
        fn count(org: &OrgId, kind: EvidenceKind) -> u64;
        fn scan_evaluations(org: &OrgId, after: Option<Position>, limit: usize) -> Vec<StoredEvaluation>;
        fn scan_runs(org: &OrgId, after: Option<Position>, limit: usize) -> Vec<Run>;
        fn scan_reputation_events(org: &OrgId, after: Option<Position>, limit: usize) -> Vec<ReputationEvent>;
        fn scan_sessions(org: &OrgId, after: Option<Position>, limit: usize) -> Vec<StoredSession>;
    }
}
