//! Decisions: keys, settings, publications and erasures.

use renown_core::ids::{AgentId, OrgId};
use renown_core::time::Timestamp;

use super::WriteReply;
use crate::admin::{OrgSettings, PublicationChange, Published};
use crate::keys::{ApiKey, KeyId, NewKey};
use crate::request_keys::{Accepted, RequestKey};

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
}
