//! Evidence that arrives.

use renown_core::ids::{AgentId, OrgId, SessionId};
use renown_telemetry::account::Account;
use renown_telemetry::facts::Batch;

use super::{ReadReply, WriteReply};
use crate::evidence::{EvaluationOutcome, NewEvaluation};
use crate::identities::{NewReputationEvent, Recorded};
use crate::request_keys::{Accepted, KnownRequest, RequestKey};
use crate::runs::{NewRun, Submitted};
use crate::sessions::NewSignals;

/// Accepts evidence. It is never changed afterwards, only erased with its agent, or deleted by age.
///
/// A `request_key` makes a write happen once, see [`RequestKey`]. Agents and sessions that a write names are added if they
/// are new.
///
/// Global with several servers: what is accepted is durable, and each id counts once. Per server: the sums that a write
/// returns contain what this server has seen.
pub trait Evidence: Send + Sync + 'static {
    /// Counts evaluations in the given order, all or none. Returns one outcome per evaluation, in the same order.
    ///
    /// An `evaluation_id` counts once per organization. An evaluation whose id is known counts nothing, does not add its
    /// agent, and returns [`EvaluationOutcome::Repeated`]; this includes an id that occurs twice in one call. All evaluations
    /// of a call get the same time of acceptance.
    fn append<'a>(
        &'a self,
        org: &OrgId,
        evaluations: Vec<NewEvaluation>,
        request_key: Option<RequestKey>,
    ) -> WriteReply<'a, Accepted<Vec<EvaluationOutcome>>>;

    /// Adds an agent before its first evaluation. Returns whether it was new; a known agent is not changed.
    fn add_agent<'a>(
        &'a self,
        org: &OrgId,
        agent: AgentId,
        request_key: Option<RequestKey>,
    ) -> WriteReply<'a, Accepted<bool>>;

    /// Scores a run against the latest completed runs of its workspace and stores it. No other run is accepted
    /// between reading that baseline and storing the run. If the `run_id` is known, nothing changes, see
    /// [`Submitted`].
    fn add_run<'a>(
        &'a self,
        org: &OrgId,
        run: NewRun,
        request_key: Option<RequestKey>,
    ) -> WriteReply<'a, Accepted<Submitted>>;

    /// Adds the records of a batch, all or none, and returns what became of them. A record that repeats a known one
    /// (same session and fingerprint) is a duplicate and changes nothing.
    ///
    /// Opens closed sessions again. If more than 100 000 sessions are open then, closes those that have been idle for
    /// longest; the next call of [`Upkeep::close_sessions`](super::Upkeep::close_sessions) returns them.
    fn add_records<'a>(
        &'a self,
        org: &OrgId,
        batch: Batch,
        request_key: Option<RequestKey>,
    ) -> WriteReply<'a, Accepted<Account>>;

    /// Stores signals of a session. A session that only has signals is never open. If the session is closed, its
    /// reputation event is updated.
    fn add_signals<'a>(
        &'a self,
        org: &OrgId,
        session: &SessionId,
        signals: NewSignals,
        request_key: Option<RequestKey>,
    ) -> WriteReply<'a, Accepted<()>>;

    /// Counts reputation events, all or none. An `event_id` counts once per organization: the first copy is kept, later ones
    /// are duplicates. An id that belongs to the event of a session refuses the whole batch, see
    /// [`Recorded::refused`].
    fn add_reputation_events<'a>(
        &'a self,
        org: &OrgId,
        events: Vec<NewReputationEvent>,
        request_key: Option<RequestKey>,
    ) -> WriteReply<'a, Accepted<Recorded>>;

    /// Returns what is known about a request key, or `None` if it is unknown or has expired. It lets a caller skip the work
    /// before a write; the write itself looks again.
    fn known_request(&self, request_key: RequestKey) -> ReadReply<'_, Option<KnownRequest>>;
}
