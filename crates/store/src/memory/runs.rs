//! Runs in a list.

use std::collections::BTreeMap;

use renown_core::ids::{OrgId, RunId, SpecId};
use renown_core::scorecard::DEFAULT_WORKSPACE;
use renown_core::time::Timestamp;

use super::{Memory, State, answer};
use crate::engines::Reply;
use crate::error::StoreError;
use crate::request_keys::kept::Kept;
use crate::request_keys::{Accepted, RequestKey};
use crate::runs::{
    NewRun, Run, RunQuery, RunScore, Runs, SpecSummary, SpecSums, Specs, Submitted, baseline, ranked,
};

impl State {
    /// Scores a run and adds it, unless its id is known.
    fn submit(&mut self, org: &OrgId, new: NewRun, now: Timestamp) -> Result<Submitted, StoreError> {
        let first =
            self.runs.iter().find(|(o, run)| o == org && run.id == new.id).map(|(_, run)| run.clone());
        Ok(match first {
            Some(first) if first.digest == new.digest => Submitted::Repeated(Box::new(first)),
            Some(_) => Submitted::Conflict,
            None => {
                let default = DEFAULT_WORKSPACE.parse().map_err(|_| StoreError::Closed)?;
                let mut run = Run::accepted(new, self.next_position(), now, default);
                let of_workspace = self.runs.iter().filter(|(o, _)| o == org).map(|(_, other)| other);
                let mut before: Vec<&Run> = of_workspace
                    .filter(|other| other.workspace == run.workspace && run.is_after(other))
                    .collect();
                before.sort_by_key(|other| std::cmp::Reverse((other.finished_at, other.position)));
                let baseline = baseline(before.into_iter().filter_map(Run::baseline_wall));
                run.scored = RunScore::of(run.report, baseline);
                self.touch_agent(org, &run.agent, now);
                self.runs.push((org.clone(), run.clone()));
                Submitted::New(Box::new(run))
            }
        })
    }
}

impl Memory {
    pub(crate) fn add_run<'a>(
        &'a self,
        org: &OrgId,
        new: NewRun,
        request_key: Option<RequestKey>,
    ) -> Reply<'a, Accepted<Submitted>> {
        let (mut state, now) = match self.begin_write() {
            Ok(begin_write) => begin_write,
            Err(error) => return answer(Err(error)),
        };
        answer(state.check_org(org).and_then(|()| {
            state.once(request_key, now, |state| {
                let submitted = state.submit(org, new, now)?;
                let kept = Kept::run(&submitted);
                Ok((submitted, kept))
            })
        }))
    }

    pub(crate) fn run<'a>(&'a self, org: &OrgId, id: &RunId) -> Reply<'a, Option<Run>> {
        let state = self.state();
        let found = state.runs.iter().find(|(o, run)| o == org && run.id == *id);
        answer(state.check_org(org).map(|()| found.map(|(_, run)| run.clone())))
    }

    pub(crate) fn runs<'a>(&'a self, org: &OrgId, query: RunQuery) -> Reply<'a, Runs> {
        let state = self.state();
        answer(state.check_org(org).map(|()| {
            let mut page = Runs::default();
            let mut of_org = state.runs.iter().rev().filter(|(o, _)| o == org);
            of_org.all(|(_, run)| page.add(run.clone(), &query));
            page
        }))
    }

    pub(crate) fn competition<'a>(&'a self, org: &OrgId, spec: &SpecId) -> Reply<'a, Vec<Run>> {
        let state = self.state();
        let of_spec = state.runs.iter().filter(|(o, run)| o == org && run.spec.as_ref() == Some(spec));
        answer(state.check_org(org).map(|()| ranked(of_spec.map(|(_, run)| run.clone()))))
    }

    pub(crate) fn specs<'a>(&'a self, org: &OrgId, after: Option<SpecId>, limit: usize) -> Reply<'a, Specs> {
        let state = self.state();
        let mut by_spec: BTreeMap<SpecId, SpecSums> = BTreeMap::new();
        for (_, run) in state.runs.iter().filter(|(o, _)| o == org) {
            if let Some(spec) =
                run.spec.clone().filter(|spec| after.as_ref().is_none_or(|after| spec > after))
            {
                by_spec.entry(spec).or_insert_with(SpecSums::new).add(run.clone());
            }
        }
        let more = by_spec.len() > limit;
        let summaries = by_spec.into_iter().filter_map(|(spec, sums)| sums.summary(spec));
        let specs: Vec<SpecSummary> = summaries.take(limit).collect();
        let next = specs.last().filter(|_| more).map(|last| last.spec.clone());
        answer(state.check_org(org).map(|()| Specs { specs, next }))
    }
}
