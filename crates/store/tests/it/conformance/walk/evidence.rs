//! The steps of the walk with runs, reputation events, decisions and erasure.

use std::collections::BTreeMap;

use renown_core::identity::{Category, Event, Reference, ScoreDelta, identity_of};
use renown_core::ids::IdentityId;
use renown_core::units::Unit;
use renown_store::{
    LatencySource, NewReputationEvent, NewRun, OrgSettings, Position, PublicationChange, RankedAttempt,
    ReputationEvent, Retention, RunQuery, SpecSummary, Submitted, TimeCursor, Tombstone,
};
use serde_json::json;
use uuid::Uuid;

use super::{Subject, Walk, accepted};
use crate::support::{at, plain_run, wait};

const WORKSPACES: [&str; 3] = ["default", "shop", "shop"];
const SPECS: [&str; 2] = ["login", "cart"];
const SLUGS: [&str; 3] = ["one", "two", "three"];
const DAY_MS: i64 = 86_400_000;

impl<S: Subject> Walk<S> {
    /// Settings and publications.
    pub(super) fn decide(&mut self) {
        let (org, agent) = (self.org(), self.agent());
        let source = self.rng.pick(&[LatencySource::Gate, LatencySource::Agent]);
        self.both_write(|store| wait(store.set_settings(&org, OrgSettings { latency_source: source })));
        self.both(|store| wait(store.settings(&org)));
        let slug = self.rng.sometimes(2, |rng| rng.pick(&SLUGS).parse().unwrap());
        let public = self.rng.sometimes(2, |rng| rng.one_in(2));
        let spare = self.rng.sometimes(2, |rng| rng.pick(&SLUGS).parse().unwrap());
        let change = PublicationChange { public, slug, spare };
        self.both_write(|store| wait(store.publish(&org, &agent, change.clone())));
        self.both(|store| wait(store.publication(&org, &agent)));
        let slug = self.rng.pick(&SLUGS).parse().unwrap();
        self.both(|store| wait(store.public_agent(&slug)));
    }

    fn new_run(&mut self) -> NewRun {
        let number = self.rng.below(400);
        let outcome = self.rng.pick(&["completed", "completed", "blocked", "failed"]);
        let mut run = json!({ "agent_id": self.agent(), "outcome": outcome });
        if self.rng.one_in(2) {
            run["workspace"] = self.rng.pick(&WORKSPACES).into();
        }
        if self.rng.one_in(2) {
            run["spec_id"] = self.rng.pick(&SPECS).into();
        }
        if !self.rng.one_in(4) {
            run["wall_ms"] = self.rng.below(5000).into();
        }
        if self.rng.one_in(2) {
            // Some end at the same time, and many arrive late.
            run["finished_at"] = at(self.now_ms - 1000 * self.rng.below(20) as i64).millis().into();
        }
        if self.rng.one_in(3) {
            run["stages"] = json!([{ "name": "lint", "passed": true }, { "name": "test", "passed": true, "attempts": 2 }]);
            run["branch"] = self.rng.pick(&["feat/x", "", "\n"]).into();
        }
        let submission = renown_core::json::parse(run.to_string().as_bytes()).unwrap();
        let digest = [self.rng.below(2) as u8; 32];
        NewRun { id: format!("r{number}").parse().unwrap(), submission, digest }
    }

    pub(super) fn add_run(&mut self) {
        let (org, new) = (self.org(), self.new_run());
        let key = self.request_key(&org);
        self.both_write(|store| {
            Ok(accepted(wait(store.add_run(&org, new.clone(), key.clone()))?, submitted))
        });
        self.both(|store| wait(store.run(&org, &new.id)).map(|run| run.map(plain_run)));
    }

    /// Reads every page of runs, and a competition.
    pub(super) fn runs(&mut self) {
        let (org, agent) = (self.org(), self.agent());
        let query = RunQuery {
            agent: self.rng.sometimes(3, |_| agent),
            workspace: self.rng.sometimes(4, |rng| rng.pick(&WORKSPACES).parse().unwrap()),
            spec: self.rng.sometimes(3, |rng| rng.pick(&SPECS).parse().unwrap()),
            tier: self.rng.sometimes(6, |rng| rng.pick(&renown_core::scorecard::Tier::ALL)),
            from: self.rng.sometimes(6, |rng| at(rng.below(100_000) as i64)),
            to: self.rng.sometimes(6, |rng| at(rng.below(10_000_000) as i64)),
            before: None,
            limit: self.rng.below(30) + 1,
        };
        self.both(|store| {
            let (mut all, mut before) = (Vec::new(), None);
            loop {
                let page = wait(store.runs(&org, RunQuery { before, ..query.clone() }))?;
                all.push(page.runs.into_iter().map(plain_run).collect::<Vec<_>>());
                before = page.next;
                if before.is_none() {
                    return Ok(all);
                }
            }
        });
        let spec = self.rng.pick(&SPECS).parse().unwrap();
        self.both(|store| {
            let ranking = wait(store.competition(&org, &spec))?;
            let plain = |attempt: RankedAttempt| (plain_run(attempt.run), attempt.scored);
            Ok((ranking.common, ranking.attempts.into_iter().map(plain).collect::<Vec<_>>()))
        });
        let limit = self.rng.below(3) + 1;
        self.both(|store| {
            let page = wait(store.specs(&org, None, limit))?;
            let summary = |spec: SpecSummary| {
                (
                    spec.spec,
                    spec.runs,
                    spec.agents,
                    spec.finished_at,
                    plain_run(spec.best.run),
                    spec.best.scored,
                )
            };
            Ok((page.specs.into_iter().map(summary).collect::<Vec<_>>(), page.next))
        });
    }

    fn identity_id(
        &mut self,
        org: &renown_core::ids::OrgId,
    ) -> (IdentityId, Option<renown_core::ids::AgentId>) {
        if self.rng.one_in(3) {
            return (Uuid::from_u128(self.rng.below(3) as u128).into(), None);
        }
        let agent = self.agent();
        (identity_of(org, &agent), Some(agent).filter(|_| self.rng.one_in(2)))
    }

    pub(super) fn add_reputation_events(&mut self) {
        let org = self.org();
        let events: Vec<NewReputationEvent> = (0..=self.rng.below(30))
            .map(|_| {
                let (identity, agent) = self.identity_id(&org);
                let millis = self.rng.pick(&[1, 1000, 60_000, 3_600_000, DAY_MS]);
                let event = Event {
                    event_id: Uuid::from_u128(self.rng.below(5000) as u128),
                    timestamp: at(self.now_ms - millis * self.rng.below(130) as i64),
                    identity_id: None,
                    agent_id: None,
                    category: self.rng.pick(&Category::ALL),
                    event_type: "task".parse().unwrap(),
                    score_delta: ScoreDelta::from_millionths(self.rng.below(4_000_001) as i64 - 2_000_000)
                        .unwrap(),
                    confidence: Unit::ONE,
                    reference_type: Reference::default(),
                    reference_id: self.rng.sometimes(3, |_| "ref".to_owned()),
                    attributes: BTreeMap::from([("k".to_owned(), "v".to_owned())]),
                };
                NewReputationEvent { identity, agent, event }
            })
            .collect();
        let key = self.request_key(&org);
        self.both_write(|store| {
            let written = wait(store.add_reputation_events(&org, events.clone(), key.clone()))?;
            Ok(accepted(written, |recorded| recorded))
        });
    }

    /// Reads the windows of an identity, and every page of its events.
    pub(super) fn identity(&mut self) {
        let org = self.org();
        let (identity, _) = self.identity_id(&org);
        let as_of =
            at(self.now_ms + DAY_MS - self.rng.pick(&[1, 60_000, DAY_MS]) * self.rng.below(130) as i64);
        self.both(|store| wait(store.identity_windows(&org, identity, as_of)));
        let limit = self.rng.below(100) + 1;
        self.both(|store| {
            let (mut all, mut after): (Vec<ReputationEvent>, Option<TimeCursor>) = (Vec::new(), None);
            loop {
                let page = wait(store.reputation_events(&org, identity, after, limit))?;
                all.extend(
                    page.events
                        .into_iter()
                        .map(|event| ReputationEvent { position: Position::default(), ..event }),
                );
                after = page.next;
                if after.is_none() {
                    return Ok(all);
                }
            }
        });
    }

    /// Erases an agent. Before everything of it is deleted, nothing of it may be seen.
    pub(super) fn erase(&mut self) {
        // Not the hot one once its window fills, because the walk tests full windows too.
        let agents = if self.step < 300 { &["hot", "warm"][..] } else { &["warm", "Cold", "cold", "кот"] };
        let (org, agent) = (self.org(), self.rng.pick(agents).parse().unwrap());
        self.both_write(|store| wait(store.erase(&org, &agent)));
        if self.rng.one_in(2) {
            self.standing();
            self.evaluations();
            self.runs();
            self.append();
        }
        while wait(self.subject.store().delete_some(Retention::default())).unwrap().is_more() {}
        let done = |tombstone: Tombstone| (tombstone.digest, tombstone.asked_at, tombstone.erased);
        self.both(|store| Ok(wait(store.tombstones(&org))?.into_iter().map(done).collect::<Vec<_>>()));
    }
}

fn submitted(submitted: Submitted) -> Submitted {
    match submitted {
        Submitted::New(run) => Submitted::New(Box::new(plain_run(*run))),
        Submitted::Repeated(run) => Submitted::Repeated(Box::new(plain_run(*run))),
        Submitted::Conflict => Submitted::Conflict,
    }
}
