//! Settings, publications and erasures, in maps.

use renown_core::identity::identity_of;
use renown_core::ids::{AgentId, OrgId, Slug};
use sha2::{Digest, Sha256};

use super::{Memory, answer};
use crate::admin::{OrgSettings, Publication, PublicationChange, Published, Retention, Tombstone};
use crate::engines::Reply;
use crate::traits::Progress;

impl Memory {
    pub(crate) fn settings<'a>(&'a self, org: &OrgId) -> Reply<'a, OrgSettings> {
        let state = self.state();
        answer(state.check_org(org).map(|()| state.settings.get(org).copied().unwrap_or_default()))
    }

    pub(crate) fn set_settings<'a>(&'a self, org: &OrgId, settings: OrgSettings) -> Reply<'a, ()> {
        let (mut state, _) = match self.begin_write() {
            Ok(begin_write) => begin_write,
            Err(error) => return answer(Err(error)),
        };
        answer(state.check_org(org).map(|()| _ = state.settings.insert(org.clone(), settings)))
    }

    pub(crate) fn publication<'a>(&'a self, org: &OrgId, agent: &AgentId) -> Reply<'a, Option<Publication>> {
        let state = self.state();
        let is_known = state.agents.iter().any(|(o, known, _)| o == org && known == agent);
        let found = state.publications.get(&(org.clone(), agent.clone())).cloned().unwrap_or_default();
        answer(state.check_org(org).map(|()| is_known.then_some(found)))
    }

    pub(crate) fn public_agent<'a>(&'a self, slug: &Slug) -> Reply<'a, Option<(OrgId, AgentId)>> {
        let state = self.state();
        let named = |(_, publication): &(_, &Publication)| {
            publication.public && publication.slug.as_ref() == Some(slug)
        };
        answer(Ok(state.publications.iter().find(named).map(|(agent, _)| agent.clone())))
    }

    pub(crate) fn publish<'a>(
        &'a self,
        org: &OrgId,
        agent: &AgentId,
        change: PublicationChange,
    ) -> Reply<'a, Published> {
        let (mut state, _) = match self.begin_write() {
            Ok(begin_write) => begin_write,
            Err(error) => return answer(Err(error)),
        };
        answer(state.check_org(org).map(|()| {
            if !state.agents.iter().any(|(o, known, _)| o == org && known == agent) {
                return Published::NoAgent;
            }
            let key = (org.clone(), agent.clone());
            let changed = change.of(&state.publications.get(&key).cloned().unwrap_or_default());
            let mut others = state.publications.iter().filter(|(other, _)| **other != key);
            if changed.slug.is_some() && others.any(|(_, other)| other.slug == changed.slug) {
                return Published::SlugTaken;
            }
            state.publications.insert(key, changed.clone());
            Published::Changed(changed)
        }))
    }

    pub(crate) fn erase<'a>(&'a self, org: &OrgId, agent: &AgentId) -> Reply<'a, bool> {
        let (mut state, now) = match self.begin_write() {
            Ok(begin_write) => begin_write,
            Err(error) => return answer(Err(error)),
        };
        answer(state.check_org(org).map(|()| {
            let identity = identity_of(org, agent);
            let of_identity = state.of_identity(org, identity).count();
            let is_known = state.agents.iter().any(|(o, known, _)| o == org && known == agent)
                || of_identity > 0
                || state.is_named(org, agent);
            if is_known {
                let before = state.evaluations.len() + state.runs.len() + state.reputation_events.len();
                state.evaluations.retain(|(o, evaluation)| o != org || evaluation.agent != *agent);
                state.runs.retain(|(o, run)| o != org || run.agent != *agent);
                let of_sessions = state.remove_sessions(org, agent);
                state.remove_name(org, agent);
                state.seen.remove(&(org.clone(), agent.clone()));
                state.reputation_events.retain(|(o, event)| o != org || event.identity != identity);
                state.agents.retain(|(o, known, _)| o != org || known != agent);
                state.publications.remove(&(org.clone(), agent.clone()));
                state.remove_agent_from_request_keys(org, agent);
                let left = state.evaluations.len() + state.runs.len() + state.reputation_events.len();
                let tombstone = Tombstone {
                    digest: Sha256::digest(agent.as_str()).into(),
                    asked_at: now,
                    erased: (before - left + of_sessions) as u64,
                    done_at: Some(now),
                };
                state.tombstones.insert(0, (org.clone(), tombstone));
            }
            is_known
        }))
    }

    pub(crate) fn tombstones<'a>(&'a self, org: &OrgId) -> Reply<'a, Vec<Tombstone>> {
        let state = self.state();
        let of_org = state.tombstones.iter().filter(|(o, _)| o == org);
        answer(state.check_org(org).map(|()| of_org.map(|(_, tombstone)| tombstone.clone()).collect()))
    }

    pub(crate) fn delete_some(&self, _: Retention) -> Reply<'_, Progress> {
        // Erasing deletes at once, and nothing here is kept long enough to become too old.
        answer(Ok(Progress::Idle))
    }
}
