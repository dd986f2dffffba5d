//! What an organization decides, in maps.

use renown_core::identity::identity_of;
use renown_core::ids::{AgentId, OrgId, Slug};
use sha2::{Digest, Sha256};

use super::{Memory, answer};
use crate::Reply;
use crate::admin::{
    AdminStore, OrgSettings, Publication, PublicationChange, Published, Retention, Tombstone, without,
};

impl AdminStore for Memory {
    fn settings<'a>(&'a self, org: &OrgId) -> Reply<'a, OrgSettings> {
        let held = self.held();
        answer(held.known(org).map(|()| held.settings.get(org).copied().unwrap_or_default()))
    }

    fn set_settings<'a>(&'a self, org: &OrgId, settings: OrgSettings) -> Reply<'a, ()> {
        let (mut held, _) = match self.at_now() {
            Ok(at_now) => at_now,
            Err(error) => return answer(Err(error)),
        };
        answer(held.known(org).map(|()| _ = held.settings.insert(org.clone(), settings)))
    }

    fn publication<'a>(&'a self, org: &OrgId, agent: &AgentId) -> Reply<'a, Option<Publication>> {
        let held = self.held();
        let is_known = held.agents.iter().any(|(o, known, _)| o == org && known == agent);
        let found = held.publications.get(&(org.clone(), agent.clone())).cloned().unwrap_or_default();
        answer(held.known(org).map(|()| is_known.then_some(found)))
    }

    fn public_agent<'a>(&'a self, slug: &Slug) -> Reply<'a, Option<(OrgId, AgentId)>> {
        let held = self.held();
        let named = |(_, publication): &(_, &Publication)| {
            publication.public && publication.slug.as_ref() == Some(slug)
        };
        answer(Ok(held.publications.iter().find(named).map(|(agent, _)| agent.clone())))
    }

    fn publish<'a>(
        &'a self,
        org: &OrgId,
        agent: &AgentId,
        change: PublicationChange,
    ) -> Reply<'a, Published> {
        let (mut held, _) = match self.at_now() {
            Ok(at_now) => at_now,
            Err(error) => return answer(Err(error)),
        };
        answer(held.known(org).map(|()| {
            if !held.agents.iter().any(|(o, known, _)| o == org && known == agent) {
                return Published::NoAgent;
            }
            let key = (org.clone(), agent.clone());
            let changed = change.of(&held.publications.get(&key).cloned().unwrap_or_default());
            let mut others = held.publications.iter().filter(|(other, _)| **other != key);
            if changed.slug.is_some() && others.any(|(_, other)| other.slug == changed.slug) {
                return Published::Taken;
            }
            held.publications.insert(key, changed.clone());
            Published::Done(changed)
        }))
    }

    fn erase<'a>(&'a self, org: &OrgId, agent: &AgentId) -> Reply<'a, bool> {
        let (mut held, now) = match self.at_now() {
            Ok(at_now) => at_now,
            Err(error) => return answer(Err(error)),
        };
        answer(held.known(org).map(|()| {
            let identity = identity_of(org, agent);
            let of_identity = held.of_identity(org, identity).count();
            let is_known = held.agents.iter().any(|(o, known, _)| o == org && known == agent)
                || of_identity > 0
                || held.is_named(org, agent);
            if is_known {
                let before = held.events.len() + held.runs.len() + held.reputation_events.len();
                held.events.retain(|(o, event)| o != org || event.agent != *agent);
                held.runs.retain(|(o, run)| o != org || run.agent != *agent);
                let of_sessions = held.forget_sessions(org, agent);
                held.take_name_out(org, agent);
                held.seen.remove(&(org.clone(), agent.clone()));
                held.reputation_events.retain(|(o, event)| o != org || event.identity != identity);
                held.agents.retain(|(o, known, _)| o != org || known != agent);
                held.publications.remove(&(org.clone(), agent.clone()));
                held.replies.retain_mut(|kept| {
                    if kept.org != *org || !kept.agents.contains(agent) {
                        return true;
                    }
                    let left = without(agent, &kept.reply.body);
                    kept.agents.retain(|other| other != agent);
                    left.map(|left| kept.reply.body = left).is_some()
                });
                let left = held.events.len() + held.runs.len() + held.reputation_events.len();
                let tombstone = Tombstone {
                    digest: Sha256::digest(agent.as_str()).into(),
                    asked_at: now,
                    erased: (before - left + of_sessions) as u64,
                    done_at: Some(now),
                };
                held.tombstones.insert(0, (org.clone(), tombstone));
            }
            is_known
        }))
    }

    fn tombstones<'a>(&'a self, org: &OrgId) -> Reply<'a, Vec<Tombstone>> {
        let held = self.held();
        let of_org = held.tombstones.iter().filter(|(o, _)| o == org);
        answer(held.known(org).map(|()| of_org.map(|(_, tombstone)| tombstone.clone()).collect()))
    }

    fn tend(&self, _: Retention) -> Reply<'_, bool> {
        // What is erased is gone at once, and nothing here is kept long enough to grow old.
        answer(Ok(false))
    }
}
