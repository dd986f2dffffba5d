//! Runs in a list.

use std::collections::{BTreeMap, BTreeSet};

use renown_core::ids::{OrgId, RunId, SpecId};
use renown_core::scorecard::{Baseline, CommonBaseline, RunOutcome};
use renown_core::time::Timestamp;

use super::{Memory, State, answer};
use crate::engines::Reply;
use crate::error::StoreError;
use crate::fold::agents::Mention;
use crate::fold::runs::{self as fold, BaselineQuery, RunChange, RunRow};
use crate::request_keys::kept::Kept;
use crate::request_keys::{Accepted, RequestKey};
use crate::runs::{
    NewRun, Run, RunQuery, Runs, SpecRanking, SpecSummary, SpecSums, Specs, Submitted, baseline,
};

impl State {
    fn submit(&mut self, org: &OrgId, new: NewRun, now: Timestamp) -> Result<Submitted, StoreError> {
        let of_org = || self.runs.iter().filter(|(o, _)| o == org).map(|(_, run)| run);
        let unscored = match fold::submit(of_org().find(|run| run.id == new.id).cloned(), new, now)? {
            RunChange::New(unscored) => *unscored,
            RunChange::Known(known) => return Ok(known),
        };
        let walls = unscored.baseline_query().select(of_org());
        let RunRow { mut run, .. } = unscored.score(walls);
        run.position = self.next_position();
        self.name_agent(org, &run.agent, Mention::Work, now);
        self.runs.push((org.clone(), run.clone()));
        Ok(Submitted::New(Box::new(run)))
    }

    /// Returns the baseline of a run that is stored: the latest runs of its workspace before it.
    fn baseline_before(&self, org: &OrgId, run: &Run) -> Baseline {
        let of_org = self.runs.iter().filter(|(o, _)| o == org).map(|(_, other)| other);
        baseline(BaselineQuery::before(run).select(of_org))
    }

    /// Collects the attempts at a spec.
    fn attempts(&self, org: &OrgId, spec: &SpecId) -> SpecSums {
        let of_spec = || {
            self.runs
                .iter()
                .filter(move |(o, run)| o == org && run.spec.as_ref() == Some(spec))
                .map(|(_, run)| run)
        };
        let first = of_spec().min_by_key(|run| (run.finished_at, run.position));
        let workspace = first.map(|first| self.baseline_before(org, first)).unwrap_or_default();
        let mut shortest = BTreeMap::new();
        for run in of_spec().filter(|run| run.report.outcome == RunOutcome::Completed) {
            if let Some(wall_ms) = run.report.wall_ms {
                let known = shortest.entry(&run.agent).or_insert(wall_ms);
                *known = wall_ms.min(*known);
            }
        }
        let mut sums = SpecSums::new(CommonBaseline::new(workspace, shortest.into_values()));
        of_spec().for_each(|run| sums.add(run.clone()));
        sums
    }
}

impl Memory {
    pub(crate) fn add_run<'a>(
        &'a self,
        org: &OrgId,
        new: NewRun,
        request_key: Option<RequestKey>,
    ) -> Reply<'a, Accepted<Submitted>> {
        self.write_once(org, request_key, |state, now| {
            let submitted = state.submit(org, new, now)?;
            let kept = Kept::run(&submitted);
            Ok((submitted, kept))
        })
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

    pub(crate) fn competition<'a>(&'a self, org: &OrgId, spec: &SpecId) -> Reply<'a, SpecRanking> {
        let state = self.state();
        answer(state.check_org(org).map(|()| state.attempts(org, spec).ranked()))
    }

    pub(crate) fn specs<'a>(&'a self, org: &OrgId, after: Option<SpecId>, limit: usize) -> Reply<'a, Specs> {
        let state = self.state();
        let of_org = state.runs.iter().filter(|(o, _)| o == org);
        let after = |spec: &&SpecId| after.as_ref().is_none_or(|after| *spec > after);
        let all: BTreeSet<&SpecId> = of_org.filter_map(|(_, run)| run.spec.as_ref()).filter(after).collect();
        let summaries = all.iter().filter_map(|spec| state.attempts(org, spec).summary((*spec).clone()));
        let specs: Vec<SpecSummary> = summaries.take(limit).collect();
        let next = specs.last().filter(|_| all.len() > limit).map(|last| last.spec.clone());
        answer(state.check_org(org).map(|()| Specs { specs, next }))
    }
}
