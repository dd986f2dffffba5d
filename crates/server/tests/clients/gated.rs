//! A store whose writes can be held up, so that a test can look at the time in between.

use renown_core::ids::{AgentId, OrgId};
use renown_core::reputation::{Tally, Window};
use renown_core::time::Timestamp;
use renown_store::memory::Memory;
use renown_store::{
    AgentQuery, AgentSummary, Agents, ApiKey, Clock, EventQuery, Events, KeyId, NewEvaluation, NewKey, Once,
    Outcome, Point, Reply, SavedReply, Steps, Store,
};
use tokio::sync::{Notify, watch};

/// The store in memory behind a gate.
pub(crate) struct Gated {
    memory: Memory,
    open: watch::Sender<bool>,
    /// Whether the makers of keys are told that their key is made.
    tells: watch::Sender<bool>,
    come: Notify,
}

impl Gated {
    pub(crate) fn new(clock: Clock) -> Self {
        let (open, tells) = (watch::Sender::new(true), watch::Sender::new(true));
        Self { memory: Memory::new(clock), open, tells, come: Notify::new() }
    }

    /// Holds up every write from now on.
    pub(crate) fn shut(&self) {
        self.open.send_replace(false);
    }

    /// Lets every write pass.
    pub(crate) fn open(&self) {
        self.open.send_replace(true);
    }

    /// Makes keys from now on, and tells nobody.
    pub(crate) fn hush(&self) {
        self.tells.send_replace(false);
    }

    /// Tells of every key that is made.
    pub(crate) fn tell(&self) {
        self.tells.send_replace(true);
    }

    /// Waits until a write stands before the gate.
    pub(crate) async fn has_come(&self) {
        self.come.notified().await;
    }

    /// Waits at the gate, then writes.
    fn write<'a, T: Send + 'a>(&'a self, write: impl FnOnce() -> Reply<'a, T> + Send + 'a) -> Reply<'a, T> {
        let mut open = self.open.subscribe();
        Box::pin(async move {
            if !*open.borrow() {
                self.come.notify_one();
            }
            let _ = open.wait_for(|open| *open).await;
            write().await
        })
    }
}

impl Store for Gated {
    fn append<'a>(
        &'a self,
        org: &OrgId,
        evaluations: Vec<NewEvaluation>,
        once: Option<Once<[Outcome]>>,
    ) -> Reply<'a, Vec<Outcome>> {
        let org = org.clone();
        self.write(move || self.memory.append(&org, evaluations, once))
    }

    fn add_agent<'a>(&'a self, org: &OrgId, agent: AgentId, once: Option<Once<bool>>) -> Reply<'a, bool> {
        let org = org.clone();
        self.write(move || self.memory.add_agent(&org, agent, once))
    }

    fn tally<'a>(&'a self, org: &OrgId, agent: &AgentId) -> Reply<'a, Tally> {
        self.memory.tally(org, agent)
    }

    fn window<'a>(&'a self, org: &OrgId, agent: &AgentId) -> Reply<'a, Window> {
        self.memory.window(org, agent)
    }

    fn events<'a>(&'a self, org: &OrgId, query: EventQuery) -> Reply<'a, Events> {
        self.memory.events(org, query)
    }

    fn history<'a>(&'a self, org: &OrgId, agent: &AgentId, steps: Steps) -> Reply<'a, Vec<Point>> {
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

    fn saved_reply<'a>(&'a self, org: &OrgId, key: &str) -> Reply<'a, Option<SavedReply>> {
        self.memory.saved_reply(org, key)
    }

    fn create_key(&self, key: NewKey, once: Option<Once<ApiKey>>) -> Reply<'_, ApiKey> {
        let mut tells = self.tells.subscribe();
        Box::pin(async move {
            let made = self.write(move || self.memory.create_key(key, once)).await;
            if !*tells.borrow() {
                self.come.notify_one();
            }
            let _ = tells.wait_for(|tells| *tells).await;
            made
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

    fn ready(&self) -> Reply<'_, ()> {
        self.memory.ready()
    }
}
