//! The evidence store: keeps what was accepted, in order, and makes it durable before it replies.
//!
//! ```text
//! write ──►  bounded queue  ──►  one writer: everything waiting becomes one transaction and one fsync  ──►  visible, answered
//! read  ──►  agent cache, else a pool of readers with their own connections
//! ```
//!
//! Evidence is the only truth. The store also keeps derived data that can always be rebuilt from it, such as the
//! sums of each agent's window ([`renown_core::reputation::Tally`]). It computes no score itself: `renown_core`
//! does, and SQL filters, counts and sorts.
//!
//! Every implementation of [`Store`] promises:
//!
//! - **Durable.** When a write returns `Ok`, it is durable, and every read that begins afterwards sees it.
//! - **Atomic.** A write that returns an error has changed nothing. If the process ends before the reply, the
//!   outcome is unknown: the caller sends the write again with the same request key.
//! - **Finished.** Calling a method of a write begins the write. Dropping its future neither cancels nor undoes it.
//! - **Ordered.** Evidence is kept in the order in which it was accepted ([`Position`]). Times of acceptance do not
//!   go backwards, with the one exception that the `clock` module describes.
//! - **Idempotent.** An `evaluation_id` counts once per organization; when it arrives again, the result is the
//!   first one. A write with a request key ([`RequestKey`]) that was used before changes nothing and returns what was
//!   accepted then. The store looks the key up in the transaction of the write, so this also holds for requests that
//!   arrive at the same time.
//! - **Isolated.** No call with the name of one organization reads or changes data of another one.
//! - **Bounded.** Memory has a limit. Past it, reads and writes fail with [`StoreError::Overloaded`].
//!
//! [`sqlite::Sqlite`] is the store on one machine. [`memory::Memory`] is the simplest implementation that keeps
//! these promises (except durability). The conformance suite compares every other store with it.
//!
//! Deliberately absent: HTTP, formulas, and the payloads (`input`, `output`) of evaluations.

mod admin;
mod clock;
pub mod days;
mod error;
mod evidence;
mod fold;
mod group;
pub mod history;
mod holder;
mod identities;
mod keys;
pub mod memory;
mod overview;
mod query;
mod request_keys;
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
pub use evidence::{EvaluationOutcome, NewEvaluation, NewEvaluationId, Position, Salt, StoredEvaluation};
pub use history::{HistorySteps, Point};
pub use holder::{LockHolder, LockPurpose};
pub use identities::{IdentityStore, NewReputationEvent, Recorded, ReputationEvent, ReputationEvents};
pub use keys::{ApiKey, KeyHash, KeyId, KeyKind, NewKey};
pub use overview::{
    Activity, AgentDays, AgentEvidence, CHANGES_SHOWN, GATE_DAYS, GateFailures, OVERVIEW_DAYS, OrgOverview,
    PageStore, ScoreChange,
};
pub use query::{
    AgentCursor, AgentQuery, AgentSort, AgentSummary, Agents, EvaluationPage, EvaluationQuery, TimeCursor,
};
pub use request_keys::{
    Accepted, EvaluationsReceipt, KnownRequest, REQUEST_KEYS_KEPT_MS, Receipt, RequestKey,
};
pub use runs::{NewRun, Run, RunQuery, RunScore, RunStore, Runs, SpecSummary, Specs, Submitted};
pub use sessions::{
    Closed, NewSignals, NewTrace, RecordCursor, SessionQuery, SessionRecord, SessionRecords, SessionStore,
    SessionSummary, SessionTrace, Sessions, StoredSession,
};
pub use waits::{SLOW_COMMIT, Stage, WriteWaits};

/// The organization that every store has from its first start.
pub const DEFAULT_ORG: &str = "default";

/// The future result of a call.
pub type Reply<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// The evidence of many organizations. This trait has evaluations, agents and keys; its supertraits have the rest.
///
/// A method that takes `org` fails with [`StoreError::NoOrganization`] if the organization does not exist. A
/// `request_key` makes the write happen once, see [`RequestKey`].
pub trait Store: RunStore + IdentityStore + SessionStore + AdminStore + PageStore {
    /// Counts evaluations in the given order, all or none. Returns one outcome per evaluation, in the same order.
    ///
    /// Adds agents that are new. An evaluation whose id is known counts nothing, does not add its agent, and
    /// returns [`EvaluationOutcome::Repeated`]; this includes an id that occurs twice in one call. All evaluations of a call
    /// get the same time of acceptance.
    fn append<'a>(
        &'a self,
        org: &OrgId,
        evaluations: Vec<NewEvaluation>,
        request_key: Option<RequestKey>,
    ) -> Reply<'a, Accepted<Vec<EvaluationOutcome>>>;

    /// Adds an agent before its first evaluation. Returns whether it was new; a known agent is not changed.
    fn add_agent<'a>(
        &'a self,
        org: &OrgId,
        agent: AgentId,
        request_key: Option<RequestKey>,
    ) -> Reply<'a, Accepted<bool>>;

    /// Returns the sums of an agent's window; all are zero for an unknown agent.
    fn tally<'a>(&'a self, org: &OrgId, agent: &AgentId) -> Reply<'a, Tally>;

    /// Returns an agent's window, rebuilt from its evaluations; empty for an unknown agent.
    fn window<'a>(&'a self, org: &OrgId, agent: &AgentId) -> Reply<'a, Window>;

    /// Returns a page of evaluations, the last accepted first. [`EvaluationPage::next`] is the `before` of the next
    /// page.
    fn evaluations<'a>(&'a self, org: &OrgId, query: EvaluationQuery) -> Reply<'a, EvaluationPage>;

    /// Returns how an agent's score changed over time: one point per step that has an evaluation, in order of time.
    fn history<'a>(&'a self, org: &OrgId, agent: &AgentId, steps: HistorySteps) -> Reply<'a, Vec<Point>>;

    /// Returns the earliest `created_at` of an agent's evaluations; `None` without an evaluation. Evaluations that
    /// retention deleted still count, as far as their days are kept.
    fn earliest<'a>(&'a self, org: &OrgId, agent: &AgentId) -> Reply<'a, Option<Timestamp>>;

    /// Returns a page of agents in the order of [`AgentQuery::sort`].
    fn agents<'a>(&'a self, org: &OrgId, query: AgentQuery) -> Reply<'a, Agents>;

    /// Returns an agent, or `None` if it is unknown or erased.
    fn agent<'a>(&'a self, org: &OrgId, agent: &AgentId) -> Reply<'a, Option<AgentSummary>>;

    /// Returns what is known about a request key, or `None` if it is unknown or has expired. It lets a caller skip the work
    /// before a write; the write itself looks again.
    fn known_request(&self, request_key: RequestKey) -> Reply<'_, Option<KnownRequest>>;

    /// Adds a key. Adds its organization too if that is new; this is the only way to add one.
    fn create_key(&self, key: NewKey, request_key: Option<RequestKey>) -> Reply<'_, Accepted<ApiKey>>;

    /// Returns all keys of all organizations, also the revoked ones, the oldest first.
    fn keys(&self) -> Reply<'_, Vec<ApiKey>>;

    /// Revokes a key at once. Returns whether the organization has this key; a key that was revoked before keeps
    /// its first time.
    fn revoke_key<'a>(&'a self, org: &OrgId, id: KeyId) -> Reply<'a, bool>;

    /// Saves when keys were last used. Unknown keys are ignored.
    fn touch_keys(&self, used: Vec<(KeyId, Timestamp)>) -> Reply<'_, ()>;

    /// Returns what writes have waited for since the start; all zero if the store does not measure it.
    fn write_waits(&self) -> WriteWaits {
        WriteWaits::default()
    }

    /// Checks that a write would be durable now: takes the path of a write without adding anything.
    fn ready(&self) -> Reply<'_, Ready>;
}
