//! Runs in a list.

use std::collections::BTreeMap;

use renown_core::ids::{OrgId, RunId, SpecId};
use renown_core::scorecard::DEFAULT_WORKSPACE;

use super::{Memory, answer};
use crate::Reply;
use crate::error::StoreError;
use crate::evidence::Once;
use crate::runs::{
    NewRun, Run, RunQuery, RunStore, Runs, Scored, SpecSummary, SpecSums, Specs, Submitted, baseline, ranked,
};

impl RunStore for Memory {
    fn add_run<'a>(
        &'a self,
        org: &OrgId,
        new: NewRun,
        once: Option<Once<Submitted>>,
    ) -> Reply<'a, Submitted> {
        let (mut held, now) = match self.at_now() {
            Ok(at_now) => at_now,
            Err(error) => return answer(Err(error)),
        };
        answer(held.known(org).and_then(|()| {
            let first =
                held.runs.iter().find(|(o, run)| o == org && run.id == new.id).map(|(_, run)| run.clone());
            let submitted = match first {
                Some(first) if first.digest == new.digest => Submitted::Again(Box::new(first)),
                Some(_) => Submitted::Taken,
                None => {
                    let default = DEFAULT_WORKSPACE.parse().map_err(|_| StoreError::Closed)?;
                    let mut run = Run::accepted(new, held.next_place(), now, default);
                    let of_workspace = held.runs.iter().filter(|(o, _)| o == org).map(|(_, other)| other);
                    let mut before: Vec<&Run> = of_workspace
                        .filter(|other| other.workspace == run.workspace && run.is_after(other))
                        .collect();
                    before.sort_by_key(|other| std::cmp::Reverse((other.finished_at, other.seq)));
                    let baseline = baseline(before.into_iter().filter_map(Run::baseline_wall));
                    run.scored = Scored::of(run.report, baseline);
                    held.see(org, &run.agent, now);
                    held.runs.push((org.clone(), run.clone()));
                    Submitted::New(Box::new(run))
                }
            };
            if submitted != Submitted::Taken {
                let agents = submitted.run().map(|run| run.agent.clone()).into_iter().collect();
                held.keep(once, &submitted, agents, now);
            }
            Ok(submitted)
        }))
    }

    fn run<'a>(&'a self, org: &OrgId, id: &RunId) -> Reply<'a, Option<Run>> {
        let held = self.held();
        let found = held.runs.iter().find(|(o, run)| o == org && run.id == *id);
        answer(held.known(org).map(|()| found.map(|(_, run)| run.clone())))
    }

    fn runs<'a>(&'a self, org: &OrgId, query: RunQuery) -> Reply<'a, Runs> {
        let held = self.held();
        answer(held.known(org).map(|()| {
            let mut page = Runs::default();
            let mut of_org = held.runs.iter().rev().filter(|(o, _)| o == org);
            of_org.all(|(_, run)| page.take(run.clone(), &query));
            page
        }))
    }

    fn competition<'a>(&'a self, org: &OrgId, spec: &SpecId) -> Reply<'a, Vec<Run>> {
        let held = self.held();
        let of_spec = held.runs.iter().filter(|(o, run)| o == org && run.spec.as_ref() == Some(spec));
        answer(held.known(org).map(|()| ranked(of_spec.map(|(_, run)| run.clone()))))
    }

    fn specs<'a>(&'a self, org: &OrgId, after: Option<SpecId>, limit: usize) -> Reply<'a, Specs> {
        let held = self.held();
        let mut by_spec: BTreeMap<SpecId, SpecSums> = BTreeMap::new();
        for (_, run) in held.runs.iter().filter(|(o, _)| o == org) {
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
        answer(held.known(org).map(|()| Specs { specs, next }))
    }
}
