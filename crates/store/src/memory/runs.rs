//! Runs in a list.

use std::collections::BTreeMap;

use renown_core::ids::{OrgId, RunId, SpecId};
use renown_core::time::Timestamp;

use super::{Memory, State, answer};
use crate::Reply;
use crate::error::StoreError;
use crate::fold::agents::Mention;
use crate::fold::runs::{self as fold, RunChange, RunRow};
use crate::request_keys::kept::Kept;
use crate::request_keys::{Accepted, RequestKey};
use crate::runs::{NewRun, Run, RunQuery, RunStore, Runs, SpecSummary, SpecSums, Specs, Submitted, ranked};

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
}

impl RunStore for Memory {
    fn add_run<'a>(
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

    fn run<'a>(&'a self, org: &OrgId, id: &RunId) -> Reply<'a, Option<Run>> {
        let state = self.state();
        let found = state.runs.iter().find(|(o, run)| o == org && run.id == *id);
        answer(state.check_org(org).map(|()| found.map(|(_, run)| run.clone())))
    }

    fn runs<'a>(&'a self, org: &OrgId, query: RunQuery) -> Reply<'a, Runs> {
        let state = self.state();
        answer(state.check_org(org).map(|()| {
            let mut page = Runs::default();
            let mut of_org = state.runs.iter().rev().filter(|(o, _)| o == org);
            of_org.all(|(_, run)| page.add(run.clone(), &query));
            page
        }))
    }

    fn competition<'a>(&'a self, org: &OrgId, spec: &SpecId) -> Reply<'a, Vec<Run>> {
        let state = self.state();
        let of_spec = state.runs.iter().filter(|(o, run)| o == org && run.spec.as_ref() == Some(spec));
        answer(state.check_org(org).map(|()| ranked(of_spec.map(|(_, run)| run.clone()))))
    }

    fn specs<'a>(&'a self, org: &OrgId, after: Option<SpecId>, limit: usize) -> Reply<'a, Specs> {
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
