//! Request keys in a list.

use renown_core::ids::{AgentId, OrgId};
use renown_core::time::Timestamp;

use super::State;
use crate::error::StoreError;
use crate::fold::request_keys::{Recognized, UsedKey, recognize};
use crate::request_keys::kept::Kept;
use crate::request_keys::{Accepted, KnownRequest, RequestKey};

/// A request key that was used, and what was accepted for it.
pub(super) struct KeptRequest {
    request_key: RequestKey,
    pub(super) at: Timestamp,
    kept: Kept,
}

impl State {
    /// Returns what is known about a request key.
    pub(super) fn known(
        &self,
        request_key: &RequestKey,
        now: Timestamp,
    ) -> Result<Option<KnownRequest>, StoreError> {
        let RequestKey { org, key, .. } = request_key;
        self.check_org(org)?;
        let mut used = self.request_keys.iter();
        let used = used.find(|used| used.request_key.org == *org && used.request_key.key == *key);
        let Some(used) = used else { return Ok(None) };
        let of_key = UsedKey { fingerprint: used.request_key.fingerprint, at: used.at };
        match recognize(request_key, Some(of_key), now) {
            Recognized::New => return Ok(None),
            Recognized::Conflict => return Ok(Some(KnownRequest::Conflict)),
            Recognized::Retry => {}
        }
        let receipt = used.kept.clone().receipt(
            |position| {
                let mut all = self.evaluations.iter();
                Ok(all.find(|(_, known)| known.position == position).map(|(_, known)| known.clone()))
            },
            |position| {
                let mut all = self.runs.iter();
                Ok(all.find(|(_, known)| known.position == position).map(|(_, known)| known.clone()))
            },
        );
        Ok(receipt?.map(KnownRequest::Replayed))
    }

    /// Does a write, unless its request key is known. The write returns its outcome, and what to keep of it if it was
    /// not refused.
    pub(super) fn once<T>(
        &mut self,
        request_key: Option<RequestKey>,
        now: Timestamp,
        write: impl FnOnce(&mut Self) -> Result<(T, Option<Kept>), StoreError>,
    ) -> Result<Accepted<T>, StoreError> {
        let known = request_key.as_ref().map(|request_key| self.known(request_key, now)).transpose()?;
        if let Some(known) = known.flatten() {
            return Ok(known.into());
        }
        let (outcome, kept) = write(self)?;
        if let Some((request_key, kept)) = request_key.zip(kept) {
            let RequestKey { org, key, .. } = &request_key;
            self.request_keys.retain(|used| used.request_key.org != *org || used.request_key.key != *key);
            self.request_keys.push(KeptRequest { request_key, at: now, kept });
        }
        Ok(Accepted::Fresh(outcome))
    }

    /// Removes an erased agent from what is kept. A key that was about no other agent is removed.
    pub(super) fn remove_agent_from_request_keys(&mut self, org: &OrgId, agent: &AgentId) {
        self.request_keys.retain_mut(|used| used.request_key.org != *org || used.kept.remove_agent(agent));
    }
}
