//! The store in the plainest way there is: a list. It is the reference of the conformance suite, not a product: nothing is
//! durable, everything is scanned.

mod admin;
mod days;
mod identities;
mod runs;
mod sessions;

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use renown_core::ids::{AgentId, OrgId};
use renown_core::reputation::{Tally, Window};
use renown_core::time::Timestamp;

use crate::admin::{OrgSettings, Publication, Tombstone};
use crate::clock::{Clock, Following, Ready};
use crate::error::StoreError;
use crate::evidence::{Event, NewEvaluation, Once, Outcome, SavedReply, Seq, whole_millis};
use crate::history::{Gathering, Point, Steps};
use crate::identities::ReputationEvent;
use crate::keys::{ApiKey, KeyId, NewKey};
use crate::query::{AgentQuery, AgentSummary, Agents, EventPage, EventQuery, Events};
use crate::runs::Run;
use crate::{DEFAULT_ORG, REPLIES_KEPT_MS, Reply, Store};

/// Everything that was accepted, in order.
pub struct Memory {
    clock: Clock,
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    orgs: Vec<OrgId>,
    events: Vec<(OrgId, Event)>,
    agents: Vec<(OrgId, AgentId, Timestamp)>,
    replies: Vec<KeptReply>,
    keys: Vec<ApiKey>,
    runs: Vec<(OrgId, Run)>,
    sessions: Vec<(OrgId, sessions::Held)>,
    /// When something of an agent was last accepted.
    seen: HashMap<(OrgId, AgentId), Timestamp>,
    reputation_events: Vec<(OrgId, ReputationEvent)>,
    settings: HashMap<OrgId, OrgSettings>,
    publications: HashMap<(OrgId, AgentId), Publication>,
    tombstones: Vec<(OrgId, Tombstone)>,
    /// How many of each were ever there: a place is never given twice.
    places: i64,
    latest: Option<Timestamp>,
    following: Following,
}

struct KeptReply {
    org: OrgId,
    key: String,
    at: Timestamp,
    reply: SavedReply,
    /// Whom it is about.
    agents: Vec<AgentId>,
}

impl Memory {
    /// An empty store with the default organization.
    pub fn new(clock: Clock) -> Self {
        // The default organization is made now, and no later time is before that.
        let latest = clock().ok().map(whole_millis);
        let held = Held { orgs: DEFAULT_ORG.parse().into_iter().collect(), latest, ..Held::default() };
        Self { clock, held: Mutex::new(held) }
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is held, and the time of acceptance.
    fn at_now(&self) -> Result<(MutexGuard<'_, Held>, Timestamp), StoreError> {
        let mut held = self.held();
        let (before, now) = (held.latest.unwrap_or(Timestamp::MIN), (self.clock)()?);
        let now = held.following.next(before, now);
        if now < before {
            held.come_back(now);
        }
        held.latest = Some(now);
        Ok((held, now))
    }
}

impl Held {
    fn known(&self, org: &OrgId) -> Result<(), StoreError> {
        if self.orgs.contains(org) { Ok(()) } else { Err(StoreError::NoOrganization(org.to_string())) }
    }

    fn of_agent<'a>(
        &'a self,
        org: &'a OrgId,
        agent: &'a AgentId,
    ) -> impl DoubleEndedIterator<Item = &'a Event> {
        self.events.iter().filter(move |(o, event)| o == org && event.agent == *agent).map(|(_, event)| event)
    }

    fn window(&self, org: &OrgId, agent: &AgentId) -> Window {
        self.of_agent(org, agent).map(Event::evaluation).collect()
    }

    fn count(&mut self, org: &OrgId, new: &NewEvaluation, now: Timestamp) -> Outcome {
        let tally = self.window(org, &new.agent).tally();
        let first = self.events.iter().find(|(o, event)| o == org && event.id == *new.id.get());
        if let Some((_, first)) = first {
            return Outcome::Repeated { first: Box::new(first.clone()), tally };
        }
        self.see(org, &new.agent, now);
        let source = self.settings.get(org).copied().unwrap_or_default().latency_source;
        let evaluation = new.evaluation(source);
        let mut window = self.window(org, &new.agent);
        window.push(evaluation);
        let tally = window.tally();
        let (created_at, seq) = (new.timestamp.unwrap_or(now), self.next_place());
        self.events.push((
            org.clone(),
            Event {
                seq,
                id: new.id.get().clone(),
                agent: new.agent.clone(),
                tool: new.tool.clone(),
                passed: new.passed,
                gate_latency: new.gate_latency,
                agent_latency: new.agent_latency,
                latency: evaluation.latency,
                gates: new.gates.to_string(),
                standing: tally.standing(),
                created_at: whole_millis(created_at),
                accepted_at: now,
                salt: Default::default(),
            },
        ));
        Outcome::Counted { tally }
    }

    fn next_place(&mut self) -> Seq {
        self.places += 1;
        Seq(self.places)
    }

    fn add_agent(&mut self, org: &OrgId, agent: &AgentId, now: Timestamp) -> bool {
        let new = !self.agents.iter().any(|(o, known, _)| o == org && known == agent);
        if new {
            self.agents.push((org.clone(), agent.clone(), now));
        }
        new
    }

    fn summaries(&self, org: &OrgId) -> Vec<AgentSummary> {
        let of_org = self.agents.iter().filter(|(o, ..)| o == org);
        let summary = |(_, agent, first_seen): &(OrgId, AgentId, Timestamp)| AgentSummary {
            agent: agent.clone(),
            first_seen: *first_seen,
            last_seen: self.seen.get(&(org.clone(), agent.clone())).copied().unwrap_or(*first_seen),
            tally: self.window(org, agent).tally(),
        };
        of_org.map(summary).collect()
    }

    /// Notes that an agent was seen, and makes it known if it is not.
    fn see(&mut self, org: &OrgId, agent: &AgentId, now: Timestamp) {
        self.add_agent(org, agent, now);
        self.seen.insert((org.clone(), agent.clone()), now);
    }

    fn keep<T: ?Sized>(&mut self, once: Option<Once<T>>, outcome: &T, agents: Vec<AgentId>, at: Timestamp) {
        let Some(Once { org, key, fingerprint, reply }) = once else { return };
        let (status, body) = reply(outcome);
        self.replies.retain(|kept| kept.org != org || kept.key != key);
        let reply = SavedReply { fingerprint, status, body };
        self.replies.push(KeptReply { org, key, at, reply, agents });
    }
}

fn answer<'a, T: Send + 'a>(result: Result<T, StoreError>) -> Reply<'a, T> {
    Box::pin(std::future::ready(result))
}

impl Store for Memory {
    fn append<'a>(
        &'a self,
        org: &OrgId,
        evaluations: Vec<NewEvaluation>,
        once: Option<Once<[Outcome]>>,
    ) -> Reply<'a, Vec<Outcome>> {
        let (mut held, now) = match self.at_now() {
            Ok(at_now) => at_now,
            Err(error) => return answer(Err(error)),
        };
        answer(held.known(org).map(|()| {
            let outcomes: Vec<Outcome> = evaluations.iter().map(|new| held.count(org, new, now)).collect();
            held.keep(once, outcomes.as_slice(), Outcome::agents(&evaluations, &outcomes), now);
            outcomes
        }))
    }

    fn add_agent<'a>(&'a self, org: &OrgId, agent: AgentId, once: Option<Once<bool>>) -> Reply<'a, bool> {
        let (mut held, now) = match self.at_now() {
            Ok(at_now) => at_now,
            Err(error) => return answer(Err(error)),
        };
        answer(held.known(org).map(|()| {
            let new = held.add_agent(org, &agent, now);
            held.keep(once, &new, vec![agent], now);
            new
        }))
    }

    fn tally<'a>(&'a self, org: &OrgId, agent: &AgentId) -> Reply<'a, Tally> {
        let held = self.held();
        answer(held.known(org).map(|()| held.window(org, agent).tally()))
    }

    fn window<'a>(&'a self, org: &OrgId, agent: &AgentId) -> Reply<'a, Window> {
        let held = self.held();
        answer(held.known(org).map(|()| held.window(org, agent)))
    }

    fn events<'a>(&'a self, org: &OrgId, query: EventQuery) -> Reply<'a, Events> {
        let held = self.held();
        answer(held.known(org).map(|()| {
            let mut page = EventPage::new(query);
            let mut of_org = held.events.iter().rev().filter(|(o, _)| o == org);
            of_org.all(|(_, event)| page.take(event.clone()));
            page.finish()
        }))
    }

    fn history<'a>(&'a self, org: &OrgId, agent: &AgentId, steps: Steps) -> Reply<'a, Vec<Point>> {
        let held = self.held();
        answer(held.known(org).map(|()| {
            let mut gathering = Gathering::new(steps);
            for event in held.of_agent(org, agent) {
                gathering.take(event.created_at, event.seq, event.standing.score);
            }
            gathering.finish()
        }))
    }

    fn earliest<'a>(&'a self, org: &OrgId, agent: &AgentId) -> Reply<'a, Option<Timestamp>> {
        let held = self.held();
        answer(held.known(org).map(|()| held.of_agent(org, agent).map(|event| event.created_at).min()))
    }

    fn agents<'a>(&'a self, org: &OrgId, query: AgentQuery) -> Reply<'a, Agents> {
        let held = self.held();
        answer(held.known(org).map(|()| Agents::page(held.summaries(org), &query)))
    }

    fn agent<'a>(&'a self, org: &OrgId, agent: &AgentId) -> Reply<'a, Option<AgentSummary>> {
        let held = self.held();
        answer(held.known(org).map(|()| held.summaries(org).into_iter().find(|known| known.agent == *agent)))
    }

    fn saved_reply<'a>(&'a self, org: &OrgId, key: &str) -> Reply<'a, Option<SavedReply>> {
        let since = match (self.clock)() {
            Ok(now) => now.millis() - REPLIES_KEPT_MS,
            Err(error) => return answer(Err(error.into())),
        };
        let held = self.held();
        let mut replies = held.replies.iter();
        let found = replies.find(|kept| kept.org == *org && kept.key == key && kept.at.millis() >= since);
        answer(held.known(org).map(|()| found.map(|kept| kept.reply.clone())))
    }

    fn create_key(&self, key: NewKey, once: Option<Once<ApiKey>>) -> Reply<'_, ApiKey> {
        let (mut held, now) = match self.at_now() {
            Ok(at_now) => at_now,
            Err(error) => return answer(Err(error)),
        };
        if !held.orgs.contains(&key.org) {
            held.orgs.push(key.org.clone());
        }
        let key = ApiKey { key, created_at: now, last_used_at: None, revoked_at: None };
        held.keys.push(key.clone());
        held.keep(once, &key, Vec::new(), now);
        answer(Ok(key))
    }

    fn keys(&self) -> Reply<'_, Vec<ApiKey>> {
        let mut keys = self.held().keys.clone();
        keys.sort_by_key(|key| (key.created_at, key.key.id));
        answer(Ok(keys))
    }

    fn revoke_key<'a>(&'a self, org: &OrgId, id: KeyId) -> Reply<'a, bool> {
        let (mut held, now) = match self.at_now() {
            Ok(at_now) => at_now,
            Err(error) => return answer(Err(error)),
        };
        let known = held.known(org);
        let found = held.keys.iter_mut().find(|key| key.key.id == id && key.key.org == *org);
        let revoked = found.map(|key| key.revoked_at = key.revoked_at.or(Some(now))).is_some();
        answer(known.map(|()| revoked))
    }

    fn touch_keys(&self, used: Vec<(KeyId, Timestamp)>) -> Reply<'_, ()> {
        let (mut held, _) = match self.at_now() {
            Ok(at_now) => at_now,
            Err(error) => return answer(Err(error)),
        };
        for (id, at) in used {
            let at = whole_millis(at);
            held.keys.iter_mut().filter(|key| key.key.id == id).for_each(|key| key.last_used_at = Some(at));
        }
        answer(Ok(()))
    }

    fn ready(&self) -> Reply<'_, Ready> {
        answer(self.at_now().map(|(held, _)| Ready::of(&held.following, held.latest)))
    }
}
