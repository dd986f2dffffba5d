//! Settings, publications and erasures, in maps.

use renown_core::identity::identity_of;
use renown_core::ids::{AgentId, OrgId, Slug};

use super::{Memory, State, answer};
use crate::admin::{OrgSettings, Publication, PublicationChange, Published, Retention, Tombstone};
use crate::engines::Reply;
use crate::fold::erasure::{self, ErasedPart, KnownAgent};
use crate::fold::publications;
use crate::traits::Progress;

impl State {
    /// Removes everything that an erasure removes.
    fn remove_agent(&mut self, org: &OrgId, agent: &AgentId) -> ErasedPart {
        let (identity, key) = (identity_of(org, agent), (org.clone(), agent.clone()));
        self.agents.retain(|(o, known, _)| o != org || known != agent);
        self.seen.remove(&key);
        self.publications.remove(&key);
        self.remove_agent_from_request_keys(org, agent);
        self.remove_agent_from_eval_runs(org, agent);
        let part = ErasedPart {
            evaluations: remove(&mut self.evaluations, |(o, known)| o == org && known.agent == *agent),
            runs: remove(&mut self.runs, |(o, run)| o == org && run.agent == *agent),
            events: remove(&mut self.reputation_events, |(o, event)| o == org && event.identity == identity),
            of_sessions: self.remove_sessions(org, agent),
            ..ErasedPart::default()
        };
        self.remove_name(org, agent);
        part
    }
}

/// Removes some entries of a list. Returns how many.
fn remove<T>(list: &mut Vec<T>, is_removed: impl Fn(&T) -> bool) -> usize {
    let before = list.len();
    list.retain(|entry| !is_removed(entry));
    before - list.len()
}

impl Memory {
    pub(crate) fn settings<'a>(&'a self, org: &OrgId) -> Reply<'a, OrgSettings> {
        let state = self.state();
        answer(state.check_org(org).map(|()| state.settings.get(org).copied().unwrap_or_default()))
    }

    pub(crate) fn set_settings<'a>(&'a self, org: &OrgId, settings: OrgSettings) -> Reply<'a, ()> {
        self.write(org, |state, _| {
            state.settings.insert(org.clone(), settings);
            Ok(())
        })
    }

    pub(crate) fn publication<'a>(&'a self, org: &OrgId, agent: &AgentId) -> Reply<'a, Option<Publication>> {
        let state = self.state();
        let is_known = state.knows(org, agent);
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
        self.write(org, |state, _| {
            let key = (org.clone(), agent.clone());
            let known = state.publications.get(&key).cloned().unwrap_or_default();
            let known = state.knows(org, agent).then_some(known);
            let published = publications::publish(known.as_ref(), &change, |slug| {
                let mut others = state.publications.iter().filter(|(other, _)| **other != key);
                Ok(others.any(|(_, other)| other.slug.as_ref() == Some(slug)))
            })?;
            if let Published::Changed(changed) = &published {
                state.publications.insert(key, changed.clone());
            }
            Ok(published)
        })
    }

    pub(crate) fn erase<'a>(&'a self, org: &OrgId, agent: &AgentId) -> Reply<'a, bool> {
        self.write(org, |state, now| {
            let identity = identity_of(org, agent);
            let known = KnownAgent {
                agent: state.knows(org, agent),
                identity: state.of_identity(org, identity).next().is_some(),
                is_named: state.is_named(org, agent),
            };
            let Some(mut tombstone) = erasure::erase(agent, known, now) else { return Ok(false) };
            // Everything goes in one step, so the next one finds nothing.
            for part in [state.remove_agent(org, agent), ErasedPart::default()] {
                (tombstone.erased, tombstone.done_at) =
                    (tombstone.erased + part.evidence(), part.done_at(now));
            }
            state.tombstones.insert(0, (org.clone(), tombstone));
            Ok(true)
        })
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
