//! Decisions: keys, settings, publications, erasures, eval runs and schedules.

use renown_core::ids::{AgentId, EvalRunId, OrgId, ScheduleId};
use renown_core::time::Timestamp;

use super::WriteReply;
use crate::admin::{OrgSettings, PublicationChange, Published};
use crate::eval_runs::{EvalChange, EvalChanged, EvalCreated, NewEvalRun};
use crate::keys::{ApiKey, KeyId, NewKey};
use crate::request_keys::{Accepted, RequestKey};
use crate::schedules::{NewSchedule, ScheduleChange, ScheduleChanged};

/// Makes decisions. They are few, they replace one another, and their names are unique.
///
/// Global with several servers: a name is given once, and of two changes of one thing the later one applies. Per server: a
/// decision applies at once on the server that took it, on the others within two seconds.
pub trait Control: Send + Sync + 'static {
    /// Adds a key. Adds its organization too if that is new; this is the only way to add one.
    fn create_key(&self, key: NewKey, request_key: Option<RequestKey>) -> WriteReply<'_, Accepted<ApiKey>>;

    /// Revokes a key at once. Returns whether the organization has this key; a key that was revoked before keeps
    /// its first time.
    fn revoke_key<'a>(&'a self, org: &OrgId, id: KeyId) -> WriteReply<'a, bool>;

    /// Saves when keys were last used. Unknown keys are ignored.
    fn touch_keys(&self, used: Vec<(KeyId, Timestamp)>) -> WriteReply<'_, ()>;

    /// Replaces the settings of an organization. They apply to evaluations that are accepted afterwards.
    fn set_settings<'a>(&'a self, org: &OrgId, settings: OrgSettings) -> WriteReply<'a, ()>;

    /// Changes the publication of an agent. Of two concurrent changes to one slug, one gets
    /// [`Published::SlugTaken`].
    fn publish<'a>(
        &'a self,
        org: &OrgId,
        agent: &AgentId,
        change: PublicationChange,
    ) -> WriteReply<'a, Published>;

    /// Erases an agent: no later read sees it or its evidence, and
    /// [`Upkeep::delete_some`](super::Upkeep::delete_some) deletes what is left of it. Its ids may be used again at once.
    /// Returns `false` if neither the agent, nor its identity, nor a session that names it is known.
    fn erase<'a>(&'a self, org: &OrgId, agent: &AgentId) -> WriteReply<'a, bool>;

    /// Creates an eval run. The sessions of a list wait for its steps.
    fn create_eval_run<'a>(
        &'a self,
        org: &OrgId,
        run: NewEvalRun,
        request_key: Option<RequestKey>,
    ) -> WriteReply<'a, Accepted<EvalCreated>>;

    /// Cancels an eval run, or lets its failed targets wait again.
    fn change_eval_run<'a>(
        &'a self,
        org: &OrgId,
        id: &EvalRunId,
        change: EvalChange,
        request_key: Option<RequestKey>,
    ) -> WriteReply<'a, Accepted<EvalChanged>>;

    /// Creates a schedule. Its first tick is the first one after now.
    fn create_schedule<'a>(
        &'a self,
        org: &OrgId,
        schedule: NewSchedule,
        request_key: Option<RequestKey>,
    ) -> WriteReply<'a, Accepted<ScheduleChanged>>;

    /// Changes a schedule.
    fn change_schedule<'a>(
        &'a self,
        org: &OrgId,
        id: &ScheduleId,
        change: ScheduleChange,
        request_key: Option<RequestKey>,
    ) -> WriteReply<'a, Accepted<ScheduleChanged>>;

    /// Deletes a schedule. Its runs stay. Returns whether it existed.
    fn delete_schedule<'a>(&'a self, org: &OrgId, id: &ScheduleId) -> WriteReply<'a, bool>;
}
