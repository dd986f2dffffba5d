//! The evidence log: what was accepted, in order, durable before the reply.
//!
//! ```text
//! append ──►  bounded queue  ──►  one writer: all that waits is one transaction, one fsync  ──►  published, answered
//! read   ──►  standings in memory, else a pool of readers on their own connections
//! ```
//!
//! Evidence is the only truth. Beside it the store keeps what can always be made again from it: the sums of each agent's
//! window ([`renown_core::reputation::Tally`]). It computes no score of its own; the rules do, and SQL filters, counts and
//! sorts.
//!
//! What every implementation of [`Store`] promises:
//!
//! - A write that is answered is durable, counted once, and seen by every read that begins after the answer.
//! - Evaluations of an agent stand in the order in which they were accepted, and the times of acceptance never go
//!   backwards, whatever the clock does.
//! - An `evaluation_id` counts once in an organization; its second arrival gets the first result.
//! - Nothing of one organization can be reached with the name of another.
//! - Memory has a bound: past it writes are refused with [`StoreError::Overloaded`].
//!
//! [`sqlite::Sqlite`] is the store on one machine. [`memory::Memory`] says the same in the plainest way there is, and is what
//! the conformance suite compares every other store with.
//!
//! What is deliberately absent: HTTP, formulas, and the payloads (`input`, `output`) of evaluations.

mod admin;
mod clock;
pub mod days;
mod error;
mod evidence;
pub mod history;
mod holder;
mod identities;
mod keys;
pub mod memory;
mod overview;
mod query;
mod runs;
mod sessions;
pub mod sqlite;
mod waits;

use std::future::Future;
use std::pin::Pin;

use renown_core::ids::{AgentId, OrgId};
use renown_core::reputation::{Tally, Window};
use renown_core::time::Timestamp;

pub use admin::{
    AdminStore, LatencySource, OrgSettings, Publication, PublicationChange, Published, Retention, Tombstone,
};
pub use clock::{Clock, ClockError, RELEASED_MS, Ready, STANDSTILL_MS, system_clock};
pub use error::StoreError;
pub use evidence::{Event, EventId, MakeReply, NewEvaluation, Once, Outcome, Salt, SavedReply, Seq};
pub use history::{Point, Steps};
pub use holder::{LockHolder, LockPurpose};
pub use identities::{IdentityStore, NewReputationEvent, Recorded, ReputationEvent, ReputationEvents};
pub use keys::{ApiKey, KeyHash, KeyId, KeyKind, NewKey};
pub use overview::{
    Activity, AgentDays, AgentEvidence, CHANGES_SHOWN, Change, GATE_DAYS, GateFailures, OVERVIEW_DAYS,
    OrgOverview, PageStore,
};
pub use query::{AgentCursor, AgentQuery, AgentSort, AgentSummary, Agents, EventQuery, Events, TimeCursor};
pub use runs::{NewRun, Run, RunQuery, RunStore, Runs, Scored, SpecSummary, Specs, Submitted};
pub use sessions::{
    Closed, NewSignals, NewTrace, RecordCursor, SessionQuery, SessionRecord, SessionRecords, SessionStore,
    SessionSummary, SessionTrace, Sessions, StoredSession,
};
pub use waits::{SLOW_COMMIT, Stage, WriteWaits};

/// The organization that is there from the first start.
pub const DEFAULT_ORG: &str = "default";

/// How long a reply is remembered for its idempotency key.
pub const REPLIES_KEPT_MS: i64 = 24 * 60 * 60 * 1000;

/// What a store will answer.
pub type Reply<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// The evidence log of many organizations: evaluations, agents and keys here, the rest in the traits that it names.
pub trait Store: RunStore + IdentityStore + SessionStore + AdminStore + PageStore {
    /// Counts evaluations, all or none, in this order. The organization has to exist.
    fn append<'a>(
        &'a self,
        org: &OrgId,
        evaluations: Vec<NewEvaluation>,
        once: Option<Once<[Outcome]>>,
    ) -> Reply<'a, Vec<Outcome>>;

    /// Makes an agent known before its first evaluation; whether it was new.
    fn add_agent<'a>(&'a self, org: &OrgId, agent: AgentId, once: Option<Once<bool>>) -> Reply<'a, bool>;

    /// The sums of an agent's window, zero if it was never seen.
    fn tally<'a>(&'a self, org: &OrgId, agent: &AgentId) -> Reply<'a, Tally>;

    /// An agent's window, rebuilt from the log.
    fn window<'a>(&'a self, org: &OrgId, agent: &AgentId) -> Reply<'a, Window>;

    /// Evaluations, the last accepted first.
    fn events<'a>(&'a self, org: &OrgId, query: EventQuery) -> Reply<'a, Events>;

    /// How an agent's score went over time.
    fn history<'a>(&'a self, org: &OrgId, agent: &AgentId, steps: Steps) -> Reply<'a, Vec<Point>>;

    /// When the first of an agent's evaluations happened, by the times that were sent.
    fn earliest<'a>(&'a self, org: &OrgId, agent: &AgentId) -> Reply<'a, Option<Timestamp>>;

    /// The agents of an organization.
    fn agents<'a>(&'a self, org: &OrgId, query: AgentQuery) -> Reply<'a, Agents>;

    /// One agent, if it was ever seen.
    fn agent<'a>(&'a self, org: &OrgId, agent: &AgentId) -> Reply<'a, Option<AgentSummary>>;

    /// The reply that was given for an idempotency key within the last day.
    fn saved_reply<'a>(&'a self, org: &OrgId, key: &str) -> Reply<'a, Option<SavedReply>>;

    /// Adds a key, and its organization when that is new.
    fn create_key(&self, key: NewKey, once: Option<Once<ApiKey>>) -> Reply<'_, ApiKey>;

    /// Every key, also the revoked ones, the oldest first.
    fn keys(&self) -> Reply<'_, Vec<ApiKey>>;

    /// Ends a key at once; whether there was such a key in this organization.
    fn revoke_key<'a>(&'a self, org: &OrgId, id: KeyId) -> Reply<'a, bool>;

    /// Notes when keys were last used.
    fn touch_keys(&self, used: Vec<(KeyId, Timestamp)>) -> Reply<'_, ()>;

    /// What the writes so far have waited for. Nothing where a store does not measure it.
    fn write_waits(&self) -> WriteWaits {
        WriteWaits::default()
    }

    /// Whether a write would be durable now: takes the path of one without adding anything.
    fn ready(&self) -> Reply<'_, Ready>;
}
