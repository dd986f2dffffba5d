//! Eval runs and schedules in lists.

use std::collections::BTreeMap;

use renown_core::ids::{AgentId, EvalRunId, OrgId, ScheduleId, SessionId};
use renown_core::time::Timestamp;

use super::{Memory, State, answer};
use crate::engines::Reply;
use crate::eval_runs::{
    EvalChange, EvalChanged, EvalCreated, EvalFilter, EvalOutcome, EvalResult, EvalResultQuery, EvalResults,
    EvalRun, EvalRunQuery, EvalRuns, EvalStep, EvalTargets, NewEvalRun, SessionMark,
};
use crate::evidence::Position;
use crate::request_keys::kept::Kept;
use crate::request_keys::{Accepted, RequestKey};
use crate::schedules::{
    Fire, Fired, NewSchedule, Schedule, ScheduleChange, ScheduleChanged, Schedules, TickUse,
};

/// A run and its results.
pub(super) struct EvalEntry {
    run: EvalRun,
    results: BTreeMap<SessionId, EvalResult>,
}

impl State {
    fn has_agent(&self, org: &OrgId, filter: Option<&EvalFilter>) -> bool {
        let agent = filter.and_then(|filter| filter.agent.as_ref());
        agent.is_none_or(|agent| self.knows(org, agent))
    }

    fn insert_eval_run(
        &mut self,
        org: &OrgId,
        new: &NewEvalRun,
        schedule: Option<ScheduleId>,
        now: Timestamp,
    ) -> Option<EvalRun> {
        let mut run = EvalRun::created(new, schedule, self.next_position(), now);
        if !self.has_agent(org, run.filter.as_ref()) {
            return None;
        }
        let results = match &new.targets {
            EvalTargets::Filter(_) => Vec::new(),
            EvalTargets::Sessions(sessions) => {
                let agents: BTreeMap<&SessionId, AgentId> =
                    sessions.iter().filter_map(|id| Some((id, self.agent_of_session(org, id)?))).collect();
                run.first_results(sessions, |session| agents.get(session).cloned())
            }
        };
        let results = results.into_iter().map(|result| (result.session.clone(), result)).collect();
        self.eval_runs.push((org.clone(), EvalEntry { run: run.clone(), results }));
        Some(run)
    }

    fn eval_entry(&self, org: &OrgId, id: &EvalRunId) -> Option<&EvalEntry> {
        self.eval_runs.iter().find(|(o, entry)| o == org && entry.run.id == *id).map(|(_, entry)| entry)
    }

    fn eval_entry_mut(&mut self, org: &OrgId, id: &EvalRunId) -> Option<&mut EvalEntry> {
        self.eval_runs.iter_mut().find(|(o, entry)| o == org && entry.run.id == *id).map(|(_, entry)| entry)
    }

    fn known_schedule(&self, org: &OrgId, id: &ScheduleId) -> Option<&Schedule> {
        self.schedules
            .iter()
            .find(|(o, schedule)| o == org && schedule.id == *id)
            .map(|(_, schedule)| schedule)
    }

    fn replace_schedule(&mut self, org: &OrgId, new: Schedule) {
        for (o, schedule) in &mut self.schedules {
            if o == org && schedule.id == new.id {
                *schedule = new;
                return;
            }
        }
    }

    /// Removes the results of an erased agent, and the runs and schedules that filter by it.
    pub(super) fn remove_agent_from_eval_runs(&mut self, org: &OrgId, agent: &AgentId) {
        let filters = |filter: &EvalFilter| filter.agent.as_ref() == Some(agent);
        self.schedules.retain(|(o, schedule)| o != org || !filters(&schedule.filter));
        self.eval_runs.retain(|(o, entry)| o != org || !entry.run.filter.as_ref().is_some_and(filters));
        for (_, EvalEntry { run, results }) in self.eval_runs.iter_mut().filter(|(o, _)| o == org) {
            results.retain(|_, result| {
                let is_erased = result.agent.as_ref() == Some(agent);
                if is_erased {
                    run.state.forget(&result.outcome);
                }
                !is_erased
            });
        }
    }
}

impl Memory {
    pub(crate) fn create_eval_run<'a>(
        &'a self,
        org: &OrgId,
        new: NewEvalRun,
        request_key: Option<RequestKey>,
    ) -> Reply<'a, Accepted<EvalCreated>> {
        self.write_once(org, request_key, |state, now| {
            let Some(run) = state.insert_eval_run(org, &new, None, now) else {
                return Ok((EvalCreated::NoAgent, None));
            };
            let kept = Kept::eval_run(run.position, run.filter.as_ref());
            Ok((EvalCreated::Created(Box::new(run)), Some(kept)))
        })
    }

    pub(crate) fn eval_run<'a>(&'a self, org: &OrgId, id: &EvalRunId) -> Reply<'a, Option<EvalRun>> {
        let state = self.state();
        answer(state.check_org(org).map(|()| state.eval_entry(org, id).map(|entry| entry.run.clone())))
    }

    pub(crate) fn eval_run_at<'a>(&'a self, org: &OrgId, position: Position) -> Reply<'a, Option<EvalRun>> {
        let state = self.state();
        let mut of_org = state.eval_runs.iter().filter(|(o, _)| o == org).map(|(_, entry)| &entry.run);
        answer(state.check_org(org).map(|()| of_org.find(|run| run.position == position).cloned()))
    }

    pub(crate) fn eval_runs<'a>(&'a self, org: &OrgId, query: EvalRunQuery) -> Reply<'a, EvalRuns> {
        let state = self.state();
        answer(state.check_org(org).map(|()| {
            let mut page = EvalRuns::default();
            let mut of_org = state.eval_runs.iter().rev().filter(|(o, _)| o == org);
            of_org.all(|(_, entry)| page.add(entry.run.clone(), &query));
            page
        }))
    }

    pub(crate) fn eval_results<'a>(
        &'a self,
        org: &OrgId,
        id: &EvalRunId,
        query: EvalResultQuery,
    ) -> Reply<'a, Option<EvalResults>> {
        let state = self.state();
        let is_wanted = |result: &&EvalResult| {
            query.state.is_none_or(|name| name == result.outcome.parts().0)
                && query.after.as_ref().is_none_or(|after| result.session > *after)
        };
        let page = state.eval_entry(org, id).map(|entry| {
            let wanted = entry.results.values().filter(is_wanted).take(query.limit.saturating_add(1));
            EvalResults::page(wanted.cloned().collect(), query.limit)
        });
        answer(state.check_org(org).map(|()| page))
    }

    pub(crate) fn next_eval_run(&self) -> Reply<'_, Option<(OrgId, EvalRun)>> {
        let state = self.state();
        let mut active = state.eval_runs.iter().filter(|(_, entry)| entry.run.state.status.is_active());
        answer(Ok(active.next().map(|(org, entry)| (org.clone(), entry.run.clone()))))
    }

    pub(crate) fn advance_eval_run<'a>(
        &'a self,
        org: &OrgId,
        id: &EvalRunId,
        step: EvalStep,
    ) -> Reply<'a, Option<EvalRun>> {
        self.write(org, |state, now| {
            let Some(EvalEntry { run, results }) = state.eval_entry_mut(org, id) else { return Ok(None) };
            let is_scored = |session: &SessionId| {
                results.get(session).is_some_and(|known| known.outcome != EvalOutcome::Pending)
            };
            let Some(new) = run.apply(step, is_scored, now) else { return Ok(None) };
            results.extend(new.into_iter().map(|result| (result.session.clone(), result)));
            Ok(Some(run.clone()))
        })
    }

    pub(crate) fn change_eval_run<'a>(
        &'a self,
        org: &OrgId,
        id: &EvalRunId,
        change: EvalChange,
        request_key: Option<RequestKey>,
    ) -> Reply<'a, Accepted<EvalChanged>> {
        self.write_once(org, request_key, |state, now| {
            let Some(EvalEntry { run, results }) = state.eval_entry_mut(org, id) else {
                return Ok((EvalChanged::Unknown, None));
            };
            match run.change(change, now) {
                Err(status) => return Ok((EvalChanged::Refused(status), None)),
                Ok(false) => {}
                Ok(true) => {
                    for result in results.values_mut() {
                        if matches!(result.outcome, EvalOutcome::Failed(_)) {
                            result.outcome = EvalOutcome::Pending;
                        }
                    }
                }
            }
            let kept = Kept::eval_run(run.position, run.filter.as_ref());
            Ok((EvalChanged::Changed(Box::new(run.clone())), Some(kept)))
        })
    }

    pub(crate) fn session_mark<'a>(&'a self, org: &OrgId, filter: EvalFilter) -> Reply<'a, SessionMark> {
        let state = self.state();
        answer(state.check_org(org).and_then(|()| state.session_mark(org, &filter)))
    }
}

impl Memory {
    pub(crate) fn create_schedule<'a>(
        &'a self,
        org: &OrgId,
        new: NewSchedule,
        request_key: Option<RequestKey>,
    ) -> Reply<'a, Accepted<ScheduleChanged>> {
        self.write_once(org, request_key, |state, now| {
            if !state.has_agent(org, Some(&new.filter)) {
                return Ok((ScheduleChanged::NoAgent, None));
            }
            let schedule = Schedule::created(&new, state.next_position(), now);
            state.schedules.push((org.clone(), schedule.clone()));
            let kept = Kept::schedule(schedule.position, &schedule.filter);
            Ok((ScheduleChanged::Changed(Box::new(schedule)), Some(kept)))
        })
    }

    pub(crate) fn schedule<'a>(&'a self, org: &OrgId, id: &ScheduleId) -> Reply<'a, Option<Schedule>> {
        let state = self.state();
        answer(state.check_org(org).map(|()| state.known_schedule(org, id).cloned()))
    }

    pub(crate) fn schedule_at<'a>(&'a self, org: &OrgId, position: Position) -> Reply<'a, Option<Schedule>> {
        let state = self.state();
        let mut of_org = state.schedules.iter().filter(|(o, _)| o == org).map(|(_, schedule)| schedule);
        answer(state.check_org(org).map(|()| of_org.find(|known| known.position == position).cloned()))
    }

    pub(crate) fn schedules<'a>(
        &'a self,
        org: &OrgId,
        before: Option<Position>,
        limit: usize,
    ) -> Reply<'a, Schedules> {
        let state = self.state();
        let of_org = state.schedules.iter().rev().filter(|(o, _)| o == org).map(|(_, schedule)| schedule);
        let wanted = of_org.filter(|schedule| before.is_none_or(|before| schedule.position < before));
        let found = wanted.take(limit.saturating_add(1)).cloned().collect();
        answer(state.check_org(org).map(|()| Schedules::page(found, limit)))
    }

    pub(crate) fn change_schedule<'a>(
        &'a self,
        org: &OrgId,
        id: &ScheduleId,
        change: ScheduleChange,
        request_key: Option<RequestKey>,
    ) -> Reply<'a, Accepted<ScheduleChanged>> {
        self.write_once(org, request_key, |state, now| {
            let Some(mut schedule) = state.known_schedule(org, id).cloned() else {
                return Ok((ScheduleChanged::Unknown, None));
            };
            schedule.change(change, now);
            if !state.has_agent(org, Some(&schedule.filter)) {
                return Ok((ScheduleChanged::NoAgent, None));
            }
            state.replace_schedule(org, schedule.clone());
            let kept = Kept::schedule(schedule.position, &schedule.filter);
            Ok((ScheduleChanged::Changed(Box::new(schedule)), Some(kept)))
        })
    }

    pub(crate) fn delete_schedule<'a>(&'a self, org: &OrgId, id: &ScheduleId) -> Reply<'a, bool> {
        self.write(org, |state, _| {
            let before = state.schedules.len();
            state.schedules.retain(|(o, schedule)| o != org || schedule.id != *id);
            Ok(state.schedules.len() < before)
        })
    }

    pub(crate) fn next_schedules(&self, limit: usize) -> Reply<'_, Vec<(OrgId, Schedule)>> {
        let state = self.state();
        let with_tick = state.schedules.iter().filter(|(_, schedule)| schedule.next_tick().is_some());
        let mut next: Vec<(OrgId, Schedule)> = with_tick.cloned().collect();
        next.sort_by_key(|(_, schedule)| schedule.next_tick());
        next.truncate(limit);
        answer(Ok(next))
    }

    pub(crate) fn fire_schedule<'a>(
        &'a self,
        org: &OrgId,
        id: &ScheduleId,
        fire: Fire,
        request_key: Option<RequestKey>,
    ) -> Reply<'a, Accepted<Fired>> {
        self.write_once(org, request_key, |state, now| {
            let moved = Ok((Fired::Moved, None));
            let Some(mut schedule) = state.known_schedule(org, id).cloned() else { return moved };
            let (fired, kept) = match schedule.fire(&fire) {
                TickUse::Moved => return moved,
                TickUse::Unchanged => (Fired::Unchanged, None),
                TickUse::Start(run) => {
                    match state.insert_eval_run(org, &run, Some(schedule.id.clone()), now) {
                        Some(run) => {
                            let kept = Kept::eval_run(run.position, run.filter.as_ref());
                            (Fired::Started(Box::new(run)), Some(kept))
                        }
                        None => return moved,
                    }
                }
            };
            state.replace_schedule(org, schedule);
            Ok((fired, kept))
        })
    }
}
