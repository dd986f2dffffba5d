//! What an organization decides: its settings, who is shown to everybody, and what is forgotten.
//!
//! **Forgetting.** An agent that is erased is gone from every read at once: its row and that of its identity are deleted in one
//! transaction, which leaves a tombstone that names what else there is to delete. [`AdminStore::tend`] deletes that, a little at a
//! time so that no write waits long, and so does retention. Whoever owns a store calls it until there is nothing left to do; a
//! process that is killed meanwhile has lost nothing, since the tombstone is in the store.
//!
//! **Slugs** are unique over all organizations, because the address of a public page names none.

use renown_core::ids::{AgentId, OrgId, Slug};
use renown_core::limits::REPUTATION_EVENT_DAYS_MAX;
use renown_core::time::Timestamp;
use serde_json::Value;

use crate::Reply;

/// Whose latency counts for the reputation of an agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LatencySource {
    /// The time that the gates took.
    #[default]
    Gate,
    /// The time that the agent took, where the caller said it.
    Agent,
}

impl LatencySource {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gate => "gate",
            Self::Agent => "agent",
        }
    }

    /// The one of that name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Gate, Self::Agent].into_iter().find(|source| source.name() == name)
    }
}

/// What an organization has chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OrgSettings {
    /// Whose latency counts, from the next evaluation on.
    pub latency_source: LatencySource,
}

/// How an agent is to be shown. What is absent stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PublicationChange {
    /// Whether everybody may see it.
    pub public: Option<bool>,
    /// Its name.
    pub slug: Option<Slug>,
    /// A name for one that everybody may see and that has none.
    pub spare: Option<Slug>,
}

impl PublicationChange {
    /// What a publication becomes.
    pub(crate) fn of(&self, known: &Publication) -> Publication {
        let public = self.public.unwrap_or(known.public);
        let slug = self.slug.clone().or_else(|| known.slug.clone());
        Publication { public, slug: slug.or_else(|| self.spare.clone().filter(|_| public)) }
    }
}

/// Whether an agent is shown to everybody, and under which name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Publication {
    /// Whether it is.
    pub public: bool,
    /// Its name, which no other agent of any organization has.
    pub slug: Option<Slug>,
}

/// What became of a change of a publication.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Published {
    /// It is changed.
    Done(Publication),
    /// There is no such agent.
    NoAgent,
    /// Another agent has the name.
    Taken,
}

/// What stays of an agent that was erased.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tombstone {
    /// SHA-256 of its id.
    pub digest: [u8; 32],
    /// When it was to be erased.
    pub asked_at: Timestamp,
    /// How many pieces of evidence were deleted so far.
    pub erased: u64,
    /// When nothing of it was left.
    pub done_at: Option<Timestamp>,
}

/// How many days evidence is kept, by its kind; none is for ever. Retention changes no score: the evaluations of a window, the runs of
/// a baseline and the latest run of an agent stay, whatever their age. A ranking is of the runs that are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Evaluations, but for the newest 500 of every agent.
    pub evaluations_days: Option<u32>,
    /// Runs, but for the latest 20 of every workspace that later ones are compared with, and the latest of every agent.
    pub runs_days: Option<u32>,
    /// Sessions that are over, by when something of them arrived last. What they said about their agents stays.
    pub sessions_days: Option<u32>,
    /// Reputation events.
    pub events_days: Option<u32>,
}

impl Retention {
    /// Everything is kept for ever.
    pub const KEEP_ALL: Self =
        Self { evaluations_days: None, runs_days: None, sessions_days: None, events_days: None };
}

impl Default for Retention {
    fn default() -> Self {
        Self { events_days: u32::try_from(REPUTATION_EVENT_DAYS_MAX).ok(), ..Self::KEEP_ALL }
    }
}

/// A kept reply without an agent that is erased: of a list what is about others stays, so that their retry is still known. None if
/// nothing stays.
pub(crate) fn without(agent: &AgentId, reply: &[u8]) -> Option<Vec<u8>> {
    let mut reply: Value = serde_json::from_slice(reply).ok()?;
    let lists = reply.as_object_mut()?.values_mut().filter_map(Value::as_array_mut);
    let mut stays = false;
    for list in lists {
        let is_other = |item: &Value| item.get("agent_id").is_some_and(|found| found != agent.as_str());
        stays |= list.iter().any(is_other);
        list.retain(|item| item.get("agent_id").is_none_or(|found| found != agent.as_str()));
    }
    stays.then(|| reply.to_string().into_bytes())
}

/// What an organization decides.
pub trait AdminStore: Send + Sync + 'static {
    /// The settings of an organization.
    fn settings<'a>(&'a self, org: &OrgId) -> Reply<'a, OrgSettings>;

    /// Changes them.
    fn set_settings<'a>(&'a self, org: &OrgId, settings: OrgSettings) -> Reply<'a, ()>;

    /// Whether an agent is shown to everybody; none if it was never seen.
    fn publication<'a>(&'a self, org: &OrgId, agent: &AgentId) -> Reply<'a, Option<Publication>>;

    /// The agent that is shown to everybody under a name, and whose it is.
    fn public_agent<'a>(&'a self, slug: &Slug) -> Reply<'a, Option<(OrgId, AgentId)>>;

    /// Shows an agent to everybody, or no longer.
    fn publish<'a>(&'a self, org: &OrgId, agent: &AgentId, change: PublicationChange)
    -> Reply<'a, Published>;

    /// Erases an agent: it is gone at once, and [`Self::tend`] deletes what it leaves. False if it was never seen.
    fn erase<'a>(&'a self, org: &OrgId, agent: &AgentId) -> Reply<'a, bool>;

    /// What was erased, the latest first.
    fn tombstones<'a>(&'a self, org: &OrgId) -> Reply<'a, Vec<Tombstone>>;

    /// Deletes a little of what is to be deleted; whether there is more.
    fn tend(&self, retention: Retention) -> Reply<'_, bool>;
}
