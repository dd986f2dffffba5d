//! A store whose writes can be blocked, so that a test can act while a write is pending.

use std::collections::BTreeMap;
use std::sync::Mutex;

use renown_core::identity::Windows;
use renown_core::ids::{AgentId, IdentityId, OrgId, RunId, SessionId, Slug, SpecId};
use renown_core::reputation::{Tally, Window};
use renown_core::time::{Day, Timestamp};
use renown_store::days::DaySums;
use renown_store::memory::Memory;
use renown_store::{
    Accepted, AdminStore, AgentDays, AgentEvidence, AgentQuery, AgentSummary, Agents, ApiKey, Clock, Closed,
    EvaluationOutcome, EvaluationPage, EvaluationQuery, HistorySteps, IdentityStore, KeyId, KnownRequest,
    NewEvaluation, NewKey, NewReputationEvent, NewRun, NewSignals, OrgOverview, OrgSettings, PageStore,
    Point, Publication, PublicationChange, Published, Ready, RecordCursor, Recorded, Reply, ReputationEvents,
    RequestKey, Retention, Run, RunQuery, RunStore, Runs, SessionQuery, SessionRecords, SessionStore,
    Sessions, Specs, Store, StoreError, StoredSession, Submitted, TimeCursor, Tombstone,
};
use renown_telemetry::account::Account;
use renown_telemetry::facts::Batch;
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
    failure: Mutex<Option<StoreError>>,
}

impl BlockingStore {
    pub(crate) fn new(clock: Clock) -> Self {
        let (blocks_writes, blocks_key_replies) = (watch::Sender::new(false), watch::Sender::new(false));
        let (blocked, failure) = (Notify::new(), Mutex::default());
        Self { memory: Memory::new(clock), blocks_writes, blocks_key_replies, blocked, failure }
    }

    /// Fails the next call of `add_records`.
    pub(crate) fn fail(&self, error: StoreError) {
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
    fn write<'a, T: Send + 'a>(&'a self, write: impl FnOnce() -> Reply<'a, T> + Send + 'a) -> Reply<'a, T> {
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

impl Store for BlockingStore {
    fn append<'a>(
        &'a self,
        org: &OrgId,
        evaluations: Vec<NewEvaluation>,
        request_key: Option<RequestKey>,
    ) -> Reply<'a, Accepted<Vec<EvaluationOutcome>>> {
        let org = org.clone();
        self.write(move || self.memory.append(&org, evaluations, request_key))
    }

    fn add_agent<'a>(
        &'a self,
        org: &OrgId,
        agent: AgentId,
        request_key: Option<RequestKey>,
    ) -> Reply<'a, Accepted<bool>> {
        let org = org.clone();
        self.write(move || self.memory.add_agent(&org, agent, request_key))
    }

    fn tally<'a>(&'a self, org: &OrgId, agent: &AgentId) -> Reply<'a, Tally> {
        self.memory.tally(org, agent)
    }

    fn window<'a>(&'a self, org: &OrgId, agent: &AgentId) -> Reply<'a, Window> {
        self.memory.window(org, agent)
    }

    fn evaluations<'a>(&'a self, org: &OrgId, query: EvaluationQuery) -> Reply<'a, EvaluationPage> {
        self.memory.evaluations(org, query)
    }

    fn history<'a>(&'a self, org: &OrgId, agent: &AgentId, steps: HistorySteps) -> Reply<'a, Vec<Point>> {
        self.memory.history(org, agent, steps)
    }

    fn earliest<'a>(&'a self, org: &OrgId, agent: &AgentId) -> Reply<'a, Option<Timestamp>> {
        self.memory.earliest(org, agent)
    }

    fn agents<'a>(&'a self, org: &OrgId, query: AgentQuery) -> Reply<'a, Agents> {
        self.memory.agents(org, query)
    }

    fn agent<'a>(&'a self, org: &OrgId, agent: &AgentId) -> Reply<'a, Option<AgentSummary>> {
        self.memory.agent(org, agent)
    }

    fn known_request(&self, request_key: RequestKey) -> Reply<'_, Option<KnownRequest>> {
        self.memory.known_request(request_key)
    }

    fn create_key(&self, key: NewKey, request_key: Option<RequestKey>) -> Reply<'_, Accepted<ApiKey>> {
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

    fn keys(&self) -> Reply<'_, Vec<ApiKey>> {
        self.memory.keys()
    }

    fn revoke_key<'a>(&'a self, org: &OrgId, id: KeyId) -> Reply<'a, bool> {
        let org = org.clone();
        self.write(move || self.memory.revoke_key(&org, id))
    }

    fn touch_keys(&self, used: Vec<(KeyId, Timestamp)>) -> Reply<'_, ()> {
        self.memory.touch_keys(used)
    }

    fn ready(&self) -> Reply<'_, Ready> {
        self.memory.ready()
    }
}

impl RunStore for BlockingStore {
    fn add_run<'a>(
        &'a self,
        org: &OrgId,
        run: NewRun,
        request_key: Option<RequestKey>,
    ) -> Reply<'a, Accepted<Submitted>> {
        let org = org.clone();
        self.write(move || self.memory.add_run(&org, run, request_key))
    }

    fn run<'a>(&'a self, org: &OrgId, id: &RunId) -> Reply<'a, Option<Run>> {
        self.memory.run(org, id)
    }

    fn runs<'a>(&'a self, org: &OrgId, query: RunQuery) -> Reply<'a, Runs> {
        self.memory.runs(org, query)
    }

    fn competition<'a>(&'a self, org: &OrgId, spec: &SpecId) -> Reply<'a, Vec<Run>> {
        self.memory.competition(org, spec)
    }

    fn specs<'a>(&'a self, org: &OrgId, after: Option<SpecId>, limit: usize) -> Reply<'a, Specs> {
        self.memory.specs(org, after, limit)
    }
}

impl IdentityStore for BlockingStore {
    fn add_reputation_events<'a>(
        &'a self,
        org: &OrgId,
        events: Vec<NewReputationEvent>,
        request_key: Option<RequestKey>,
    ) -> Reply<'a, Accepted<Recorded>> {
        let org = org.clone();
        self.write(move || self.memory.add_reputation_events(&org, events, request_key))
    }

    fn identity_windows<'a>(
        &'a self,
        org: &OrgId,
        identity: IdentityId,
        as_of: Timestamp,
    ) -> Reply<'a, Windows> {
        self.memory.identity_windows(org, identity, as_of)
    }

    fn reputation_events<'a>(
        &'a self,
        org: &OrgId,
        identity: IdentityId,
        after: Option<TimeCursor>,
        limit: usize,
    ) -> Reply<'a, ReputationEvents> {
        self.memory.reputation_events(org, identity, after, limit)
    }
}

impl SessionStore for BlockingStore {
    fn add_records<'a>(
        &'a self,
        org: &OrgId,
        batch: Batch,
        request_key: Option<RequestKey>,
    ) -> Reply<'a, Accepted<Account>> {
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
    ) -> Reply<'a, Accepted<()>> {
        let (org, session) = (org.clone(), session.clone());
        self.write(move || self.memory.add_signals(&org, &session, signals, request_key))
    }

    fn session<'a>(
        &'a self,
        org: &OrgId,
        session: &SessionId,
        with_traces: bool,
    ) -> Reply<'a, Option<StoredSession>> {
        self.memory.session(org, session, with_traces)
    }

    fn session_records<'a>(
        &'a self,
        org: &OrgId,
        session: &SessionId,
        after: Option<RecordCursor>,
        limit: usize,
    ) -> Reply<'a, Option<SessionRecords>> {
        self.memory.session_records(org, session, after, limit)
    }

    fn sessions<'a>(&'a self, org: &OrgId, query: SessionQuery) -> Reply<'a, Sessions> {
        self.memory.sessions(org, query)
    }

    fn close_sessions(&self) -> Reply<'_, Vec<Closed>> {
        self.memory.close_sessions()
    }
}

impl AdminStore for BlockingStore {
    fn settings<'a>(&'a self, org: &OrgId) -> Reply<'a, OrgSettings> {
        self.memory.settings(org)
    }

    fn set_settings<'a>(&'a self, org: &OrgId, settings: OrgSettings) -> Reply<'a, ()> {
        let org = org.clone();
        self.write(move || self.memory.set_settings(&org, settings))
    }

    fn publication<'a>(&'a self, org: &OrgId, agent: &AgentId) -> Reply<'a, Option<Publication>> {
        self.memory.publication(org, agent)
    }

    fn public_agent<'a>(&'a self, slug: &Slug) -> Reply<'a, Option<(OrgId, AgentId)>> {
        self.memory.public_agent(slug)
    }

    fn publish<'a>(
        &'a self,
        org: &OrgId,
        agent: &AgentId,
        change: PublicationChange,
    ) -> Reply<'a, Published> {
        let (org, agent) = (org.clone(), agent.clone());
        self.write(move || self.memory.publish(&org, &agent, change))
    }

    fn erase<'a>(&'a self, org: &OrgId, agent: &AgentId) -> Reply<'a, bool> {
        let (org, agent) = (org.clone(), agent.clone());
        self.write(move || self.memory.erase(&org, &agent))
    }

    fn tombstones<'a>(&'a self, org: &OrgId) -> Reply<'a, Vec<Tombstone>> {
        self.memory.tombstones(org)
    }

    fn delete_some(&self, retention: Retention) -> Reply<'_, bool> {
        self.memory.delete_some(retention)
    }
}

impl PageStore for BlockingStore {
    fn agent_days<'a>(&'a self, org: &OrgId, agent: &AgentId, from: Day, to: Day) -> Reply<'a, AgentDays> {
        self.memory.agent_days(org, agent, from, to)
    }

    fn days_of_agents<'a>(
        &'a self,
        org: &OrgId,
        agents: Vec<AgentId>,
        from: Day,
        to: Day,
    ) -> Reply<'a, Vec<BTreeMap<Day, DaySums>>> {
        self.memory.days_of_agents(org, agents, from, to)
    }

    fn evidence_of_agents<'a>(
        &'a self,
        org: &OrgId,
        agents: Vec<AgentId>,
        as_of: Timestamp,
    ) -> Reply<'a, Vec<AgentEvidence>> {
        self.memory.evidence_of_agents(org, agents, as_of)
    }

    fn overview<'a>(&'a self, org: &OrgId, day: Day) -> Reply<'a, OrgOverview> {
        self.memory.overview(org, day)
    }
}
