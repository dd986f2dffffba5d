//! The simplest store: lists in memory. It is the reference of the conformance suite, not a product: nothing is
//! durable, and every read scans the lists.

mod admin;
mod changes;
mod days;
mod eval_runs;
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
use crate::evidence::{EvaluationOutcome, NewEvaluation, Position, Salt, StoredEvaluation, whole_millis};
use crate::fold::agents::{self, AgentChange, Mention};
use crate::fold::evaluations::{self, Acceptance, AgentSums, EvaluationChange};
use crate::fold::keys;
use crate::history::{HistorySteps, Point, PointBuilder};
use crate::identities::ReputationEvent;
use crate::keys::{ApiKey, KeyId, NewKey};
use crate::query::{
    AgentQuery, AgentSummary, Agents, EvaluationPage, EvaluationPageBuilder, EvaluationQuery,
};
use crate::request_keys::kept::Kept;
use crate::request_keys::{Accepted, KnownRequest, RequestKey};
use crate::runs::Run;
use crate::schedules::Schedule;

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
    eval_runs: Vec<(OrgId, eval_runs::EvalEntry)>,
    schedules: Vec<(OrgId, Schedule)>,
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

    /// Writes to an organization.
    fn write<'a, T: Send + 'a>(
        &self,
        org: &OrgId,
        write: impl FnOnce(&mut State, Timestamp) -> Result<T, StoreError>,
    ) -> Reply<'a, T> {
        answer(self.begin_write().and_then(|(mut state, now)| {
            state.check_org(org)?;
            write(&mut state, now)
        }))
    }

    /// Writes to an organization, unless the request key is known. The write returns its outcome, and what to keep of
    /// it if it was not refused.
    fn write_once<'a, T: Send + 'a>(
        &self,
        org: &OrgId,
        request_key: Option<RequestKey>,
        write: impl FnOnce(&mut State, Timestamp) -> Result<(T, Option<Kept>), StoreError>,
    ) -> Reply<'a, Accepted<T>> {
        self.write(org, |state, now| state.once(request_key, now, |state| write(state, now)))
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

    fn count(
        &mut self,
        org: &OrgId,
        new: &NewEvaluation,
        now: Timestamp,
    ) -> Result<EvaluationOutcome, StoreError> {
        let mut of_org = self.evaluations.iter().filter(|(o, _)| o == org).map(|(_, evaluation)| evaluation);
        let first = of_org.find(|evaluation| evaluation.id == *new.id.get()).cloned();
        let window = self.window(org, &new.agent);
        let last = self.evaluations_of(org, &new.agent).next_back().map(|evaluation| evaluation.position);
        let sums = AgentSums::new(window.tally(), last, Some(&window));
        let source = self.settings.get(org).copied().unwrap_or_default().latency_source;
        let (known, position) =
            (self.knows(org, &new.agent).then_some(sums), Position::of(self.positions + 1));
        match evaluations::evaluate(first, known, new, position, Acceptance { at: now, source })? {
            EvaluationChange::Counted(counted) => {
                self.change_agent(org, &new.agent, counted.agent, now);
                self.positions = position.number();
                self.evaluations.push((org.clone(), counted.stored(Salt::default())));
                Ok(counted.outcome())
            }
            EvaluationChange::Repeated(outcome) => Ok(outcome),
        }
    }

    fn next_position(&mut self) -> Position {
        self.positions += 1;
        Position::of(self.positions)
    }

    fn knows(&self, org: &OrgId, agent: &AgentId) -> bool {
        self.agents.iter().any(|(o, known, _)| o == org && known == agent)
    }

    fn change_agent(&mut self, org: &OrgId, agent: &AgentId, change: AgentChange, now: Timestamp) {
        match change {
            AgentChange::Added => self.agents.push((org.clone(), agent.clone(), now)),
            AgentChange::Seen => _ = self.seen.insert((org.clone(), agent.clone()), now),
            AgentChange::Unchanged => {}
        }
    }

    /// Carries out what it means that an agent is named.
    fn name_agent(&mut self, org: &OrgId, agent: &AgentId, mention: Mention, now: Timestamp) -> AgentChange {
        let change = agents::named(self.knows(org, agent), mention);
        self.change_agent(org, agent, change, now);
        change
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
}

impl Memory {
    pub(crate) fn append<'a>(
        &'a self,
        org: &OrgId,
        evaluations: Vec<NewEvaluation>,
        request_key: Option<RequestKey>,
    ) -> Reply<'a, Accepted<Vec<EvaluationOutcome>>> {
        self.write_once(org, request_key, |state, now| {
            let outcomes: Vec<EvaluationOutcome> =
                evaluations.iter().map(|new| state.count(org, new, now)).collect::<Result<_, _>>()?;
            let kept = Kept::evaluations(&evaluations, &outcomes, Some(Position::of(state.positions)));
            Ok((outcomes, Some(kept)))
        })
    }

    pub(crate) fn add_agent<'a>(
        &'a self,
        org: &OrgId,
        agent: AgentId,
        request_key: Option<RequestKey>,
    ) -> Reply<'a, Accepted<bool>> {
        self.write_once(org, request_key, |state, now| {
            let new = state.name_agent(org, &agent, Mention::Name, now) == AgentChange::Added;
            Ok((new, Some(Kept::agent(agent, new))))
        })
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
        answer(self.begin_write().and_then(|(mut state, now)| {
            state.once(request_key, now, |state| {
                if !state.orgs.contains(&key.org) {
                    state.orgs.push(key.org.clone());
                }
                let (key, kept) = keys::create(key, now);
                state.keys.push(key.clone());
                Ok((key, Some(kept)))
            })
        }))
    }

    pub(crate) fn keys(&self) -> Reply<'_, Vec<ApiKey>> {
        let mut keys = self.state().keys.clone();
        keys.sort_by_key(|key| (key.created_at, key.key.id));
        answer(Ok(keys))
    }

    pub(crate) fn revoke_key<'a>(&'a self, org: &OrgId, id: KeyId) -> Reply<'a, bool> {
        self.write(org, |state, now| {
            let found = state.keys.iter_mut().find(|key| key.key.id == id && key.key.org == *org);
            Ok(found.map(|key| key.revoked_at = Some(keys::revoke(key.revoked_at, now))).is_some())
        })
    }

    pub(crate) fn touch_keys(&self, used: Vec<(KeyId, Timestamp)>) -> Reply<'_, ()> {
        answer(self.begin_write().map(|(mut state, _)| {
            for (id, at) in used {
                let of_id = state.keys.iter_mut().filter(|key| key.key.id == id);
                of_id.for_each(|key| key.last_used_at = Some(keys::used(at)));
            }
        }))
    }

    pub(crate) fn ready(&self) -> Reply<'_, Ready> {
        answer(self.begin_write().map(|(state, _)| Ready::of(&state.acceptance_clock, state.latest)))
    }
}
