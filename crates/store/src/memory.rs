//! The simplest store: lists in memory. It is the reference of the conformance suite, not a product: nothing is
//! durable, and every read scans the lists.

mod admin;
mod changes;
mod days;
mod identities;
mod request_keys;
mod runs;
mod scan;
mod sessions;

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use renown_core::ids::{AgentId, OrgId};
use renown_core::reputation::{Tally, Window};
use renown_core::time::Timestamp;

use crate::DEFAULT_ORG;
use crate::admin::{OrgSettings, Publication, Tombstone};
use crate::clock::{AcceptanceClock, Clock, Ready};
use crate::engines::{Reply, answer};
use crate::error::StoreError;
use crate::evidence::{EvaluationOutcome, NewEvaluation, Position, StoredEvaluation, whole_millis};
use crate::history::{HistorySteps, Point, PointBuilder};
use crate::identities::ReputationEvent;
use crate::keys::{ApiKey, KeyId, NewKey};
use crate::query::{
    AgentQuery, AgentSummary, Agents, EvaluationPage, EvaluationPageBuilder, EvaluationQuery,
};
use crate::request_keys::kept::Kept;
use crate::request_keys::{Accepted, KnownRequest, RequestKey};
use crate::runs::Run;

/// A store in memory.
pub struct Memory {
    clock: Clock,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    orgs: Vec<OrgId>,
    evaluations: Vec<(OrgId, StoredEvaluation)>,
    agents: Vec<(OrgId, AgentId, Timestamp)>,
    request_keys: Vec<request_keys::KeptRequest>,
    keys: Vec<ApiKey>,
    runs: Vec<(OrgId, Run)>,
    sessions: Vec<(OrgId, sessions::SessionEntry)>,
    /// When evidence of an agent was last accepted.
    seen: HashMap<(OrgId, AgentId), Timestamp>,
    reputation_events: Vec<(OrgId, ReputationEvent)>,
    settings: HashMap<OrgId, OrgSettings>,
    publications: HashMap<(OrgId, AgentId), Publication>,
    tombstones: Vec<(OrgId, Tombstone)>,
    /// The last position that was used. A position is never used twice.
    positions: i64,
    latest: Option<Timestamp>,
    acceptance_clock: AcceptanceClock,
}

impl Memory {
    /// Makes an empty store with the default organization.
    pub fn new(clock: Clock) -> Self {
        // The default organization is added now, and no later time is before that.
        let latest = clock().ok().map(whole_millis);
        let state = State { orgs: DEFAULT_ORG.parse().into_iter().collect(), latest, ..State::default() };
        Self { clock, state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a write: locks the state and determines the time of acceptance.
    fn begin_write(&self) -> Result<(MutexGuard<'_, State>, Timestamp), StoreError> {
        let mut state = self.state();
        let (before, now) = (state.latest.unwrap_or(Timestamp::MIN), (self.clock)()?);
        let now = state.acceptance_clock.next(before, now);
        if now < before {
            state.move_times_back(now);
        }
        state.latest = Some(now);
        Ok((state, now))
    }
}

impl State {
    fn check_org(&self, org: &OrgId) -> Result<(), StoreError> {
        if self.orgs.contains(org) { Ok(()) } else { Err(StoreError::NoOrganization(org.to_string())) }
    }

    fn evaluations_of<'a>(
        &'a self,
        org: &'a OrgId,
        agent: &'a AgentId,
    ) -> impl DoubleEndedIterator<Item = &'a StoredEvaluation> {
        self.evaluations
            .iter()
            .filter(move |(o, evaluation)| o == org && evaluation.agent == *agent)
            .map(|(_, evaluation)| evaluation)
    }

    fn window(&self, org: &OrgId, agent: &AgentId) -> Window {
        self.evaluations_of(org, agent).map(StoredEvaluation::sample).collect()
    }

    fn count(&mut self, org: &OrgId, new: &NewEvaluation, now: Timestamp) -> EvaluationOutcome {
        let tally = self.window(org, &new.agent).tally();
        let first =
            self.evaluations.iter().find(|(o, evaluation)| o == org && evaluation.id == *new.id.get());
        if let Some((_, first)) = first {
            return EvaluationOutcome::Repeated { first: Box::new(first.clone()), tally };
        }
        self.touch_agent(org, &new.agent, now);
        let source = self.settings.get(org).copied().unwrap_or_default().latency_source;
        let evaluation = new.sample(source);
        let mut window = self.window(org, &new.agent);
        window.push(evaluation);
        let tally = window.tally();
        let (created_at, position) = (new.timestamp.unwrap_or(now), self.next_position());
        self.evaluations.push((
            org.clone(),
            StoredEvaluation {
                position,
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
        EvaluationOutcome::Counted { tally }
    }

    fn next_position(&mut self) -> Position {
        self.positions += 1;
        Position::of(self.positions)
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

    /// Saves when an agent was last seen. Adds the agent if it is new.
    fn touch_agent(&mut self, org: &OrgId, agent: &AgentId, now: Timestamp) {
        self.add_agent(org, agent, now);
        self.seen.insert((org.clone(), agent.clone()), now);
    }
}

impl Memory {
    pub(crate) fn append<'a>(
        &'a self,
        org: &OrgId,
        evaluations: Vec<NewEvaluation>,
        request_key: Option<RequestKey>,
    ) -> Reply<'a, Accepted<Vec<EvaluationOutcome>>> {
        let (mut state, now) = match self.begin_write() {
            Ok(begin_write) => begin_write,
            Err(error) => return answer(Err(error)),
        };
        answer(state.check_org(org).and_then(|()| {
            state.once(request_key, now, |state| {
                let outcomes: Vec<EvaluationOutcome> =
                    evaluations.iter().map(|new| state.count(org, new, now)).collect();
                let kept = Kept::evaluations(&evaluations, &outcomes, Some(Position::of(state.positions)));
                Ok((outcomes, Some(kept)))
            })
        }))
    }

    pub(crate) fn add_agent<'a>(
        &'a self,
        org: &OrgId,
        agent: AgentId,
        request_key: Option<RequestKey>,
    ) -> Reply<'a, Accepted<bool>> {
        let (mut state, now) = match self.begin_write() {
            Ok(begin_write) => begin_write,
            Err(error) => return answer(Err(error)),
        };
        answer(state.check_org(org).and_then(|()| {
            state.once(request_key, now, |state| {
                let new = state.add_agent(org, &agent, now);
                Ok((new, Some(Kept::agent(agent, new))))
            })
        }))
    }

    pub(crate) fn tally<'a>(&'a self, org: &OrgId, agent: &AgentId) -> Reply<'a, Tally> {
        let state = self.state();
        answer(state.check_org(org).map(|()| state.window(org, agent).tally()))
    }

    pub(crate) fn window<'a>(&'a self, org: &OrgId, agent: &AgentId) -> Reply<'a, Window> {
        let state = self.state();
        answer(state.check_org(org).map(|()| state.window(org, agent)))
    }

    pub(crate) fn evaluations<'a>(
        &'a self,
        org: &OrgId,
        query: EvaluationQuery,
    ) -> Reply<'a, EvaluationPage> {
        let state = self.state();
        answer(state.check_org(org).map(|()| {
            let mut page = EvaluationPageBuilder::new(query);
            let mut of_org = state.evaluations.iter().rev().filter(|(o, _)| o == org);
            of_org.all(|(_, evaluation)| page.add(evaluation.clone()));
            page.finish()
        }))
    }

    pub(crate) fn history<'a>(
        &'a self,
        org: &OrgId,
        agent: &AgentId,
        steps: HistorySteps,
    ) -> Reply<'a, Vec<Point>> {
        let state = self.state();
        answer(state.check_org(org).map(|()| {
            let mut points = PointBuilder::new(steps);
            for evaluation in state.evaluations_of(org, agent) {
                points.add_evaluation(evaluation.created_at, evaluation.position, evaluation.standing.score);
            }
            points.finish()
        }))
    }

    pub(crate) fn earliest<'a>(&'a self, org: &OrgId, agent: &AgentId) -> Reply<'a, Option<Timestamp>> {
        let state = self.state();
        answer(
            state
                .check_org(org)
                .map(|()| state.evaluations_of(org, agent).map(|evaluation| evaluation.created_at).min()),
        )
    }

    pub(crate) fn agents<'a>(&'a self, org: &OrgId, query: AgentQuery) -> Reply<'a, Agents> {
        let state = self.state();
        answer(state.check_org(org).map(|()| Agents::page(state.summaries(org), &query)))
    }

    pub(crate) fn agent<'a>(&'a self, org: &OrgId, agent: &AgentId) -> Reply<'a, Option<AgentSummary>> {
        let state = self.state();
        answer(
            state
                .check_org(org)
                .map(|()| state.summaries(org).into_iter().find(|found| found.agent == *agent)),
        )
    }

    pub(crate) fn known_request(&self, request_key: RequestKey) -> Reply<'_, Option<KnownRequest>> {
        answer((self.clock)().map_err(Into::into).and_then(|now| self.state().known(&request_key, now)))
    }

    pub(crate) fn create_key(
        &self,
        key: NewKey,
        request_key: Option<RequestKey>,
    ) -> Reply<'_, Accepted<ApiKey>> {
        let (mut state, now) = match self.begin_write() {
            Ok(begin_write) => begin_write,
            Err(error) => return answer(Err(error)),
        };
        answer(state.once(request_key, now, |state| {
            if !state.orgs.contains(&key.org) {
                state.orgs.push(key.org.clone());
            }
            let kept = Kept::api_key(key.id);
            let key = ApiKey { key, created_at: now, last_used_at: None, revoked_at: None };
            state.keys.push(key.clone());
            Ok((key, Some(kept)))
        }))
    }

    pub(crate) fn keys(&self) -> Reply<'_, Vec<ApiKey>> {
        let mut keys = self.state().keys.clone();
        keys.sort_by_key(|key| (key.created_at, key.key.id));
        answer(Ok(keys))
    }

    pub(crate) fn revoke_key<'a>(&'a self, org: &OrgId, id: KeyId) -> Reply<'a, bool> {
        let (mut state, now) = match self.begin_write() {
            Ok(begin_write) => begin_write,
            Err(error) => return answer(Err(error)),
        };
        let checked = state.check_org(org);
        let found = state.keys.iter_mut().find(|key| key.key.id == id && key.key.org == *org);
        let revoked = found.map(|key| key.revoked_at = key.revoked_at.or(Some(now))).is_some();
        answer(checked.map(|()| revoked))
    }

    pub(crate) fn touch_keys(&self, used: Vec<(KeyId, Timestamp)>) -> Reply<'_, ()> {
        let (mut state, _) = match self.begin_write() {
            Ok(begin_write) => begin_write,
            Err(error) => return answer(Err(error)),
        };
        for (id, at) in used {
            let at = whole_millis(at);
            state.keys.iter_mut().filter(|key| key.key.id == id).for_each(|key| key.last_used_at = Some(at));
        }
        answer(Ok(()))
    }

    pub(crate) fn ready(&self) -> Reply<'_, Ready> {
        answer(self.begin_write().map(|(state, _)| Ready::of(&state.acceptance_clock, state.latest)))
    }
}
