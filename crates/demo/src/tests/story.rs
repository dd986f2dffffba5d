//! The events of the month, read from a store.

use std::collections::{BTreeMap, BTreeSet};

use renown_core::identity::identity_of;
use renown_core::ids::AgentId;
use renown_core::reputation::Lifecycle;
use renown_core::scorecard::Tier;
use renown_core::time::Day;
use renown_store::{AgentQuery, AgentSort, AgentSummary, EvaluationQuery, Reads, RunQuery};
use renown_testing::wait;

use super::{ANY_END, Demo, ENDS, at, org};
use crate::calendar::MONTH_DAYS;
use crate::{plan, prices};

const NIGHTLY: &str = "acme/platform/nightly-dependency-upgrader";

fn agent(name: &str) -> AgentId {
    name.parse().unwrap()
}

fn agents(demo: &Demo) -> BTreeMap<String, AgentSummary> {
    let query = AgentQuery { sort: AgentSort::Score, limit: 100, ..AgentQuery::default() };
    let found = wait(demo.store.agents(&org(), query)).unwrap().agents;
    found.into_iter().map(|agent| (agent.agent.to_string(), agent)).collect()
}

#[test]
fn the_same_current_time_gives_the_same_month() {
    let planned = |end| format!("{:?}", plan(&org(), at(end), &prices()).unwrap());
    for end in ENDS {
        assert!(planned(end) == planned(end), "{end}");
    }
    assert!(planned(ANY_END) != planned("2027-02-28T15:31:00Z"));
}

#[test]
fn no_evaluation_is_in_the_future_and_times_of_acceptance_are_in_order() {
    for end in ENDS {
        let demo = Demo::ending(end);
        let mut query = EvaluationQuery { limit: 1000, ..EvaluationQuery::default() };
        let (mut found, mut latest) = (0, demo.now);
        loop {
            let page = wait(demo.store.evaluations(&org(), query.clone())).unwrap();
            for event in &page.evaluations {
                assert!(event.created_at <= event.accepted_at && event.accepted_at <= latest, "{event:?}");
                latest = event.accepted_at;
            }
            found += page.evaluations.len();
            match page.next {
                None => break,
                next => query.before = next,
            }
        }
        assert_eq!(found, demo.filled.evaluations, "{end}");
        assert!((9000..16_000).contains(&found), "{end}: {found}");
    }
}

#[test]
fn the_agents_have_the_planned_scores() {
    for end in ENDS {
        let demo = Demo::ending(end);
        let agents = agents(&demo);
        assert_eq!(agents.len(), 12, "{end}");
        for (name, summary) in &agents {
            let expected = match name.as_str() {
                "translator-fr" => (Lifecycle::Active, 217),
                "onboarding-mail" => (Lifecycle::Calibrating, 12),
                _ => (Lifecycle::Mature, 500),
            };
            let standing = summary.tally.standing();
            assert_eq!((standing.lifecycle, standing.eval_count), expected, "{end}: {name}");
        }
        for (name, from, to) in [
            ("dsp-bidder-prod", 990, 1000),
            ("invoice-reader", 985, 1000),
            ("docs-writer", 950, 990),
            ("support-triage", 700, 930),
            ("web-scraper", 560, 680),
        ] {
            let score = agents[name].tally.standing().score;
            assert!((from..=to).contains(&score), "{end}: {name} has {score}");
        }
        assert_eq!(agents["dsp-bidder-prod"].tally.streak(), 500, "{end}");
        assert_eq!(agents["onboarding-mail"].tally.passed(), 11, "{end}");
        let scraper = agents["web-scraper"].tally.passed();
        assert!((420..=460).contains(&scraper), "{end}: {scraper} of 500 passed");
    }
}

#[test]
fn two_agents_fall_today_and_one_gate_is_new() {
    for end in ENDS {
        let demo = Demo::ending(end);
        let today = Day::of(demo.now);
        let overview = wait(demo.store.overview(&org(), today)).unwrap();
        let falls: Vec<_> =
            overview.falls.iter().map(|fall| (fall.agent.as_str(), &fall.worst_gate)).collect();
        assert_eq!(
            falls.get(..2),
            Some(&[("refund-agent", &Some(("pii".into(), 18))), (NIGHTLY, &Some(("secrets".into(), 3)))][..]),
            "{end}"
        );
        assert!(
            overview.falls.iter().take(2).all(|fall| fall.points() < -150),
            "{end}: {:?}",
            overview.falls
        );
        let new: Vec<_> = overview.gates.iter().filter(|gate| gate.failed_before == 0).collect();
        assert_eq!(new.iter().map(|gate| &*gate.gate).collect::<Vec<_>>(), ["secrets"], "{end}");
        // The gate never failed before, and only outputs of these tools failed.
        let days = |name, from| wait(demo.store.agent_days(&org(), &agent(name), from, today)).unwrap();
        assert_eq!(days(NIGHTLY, today.back(MONTH_DAYS)).parts.gates.get("secrets"), Some(&3), "{end}");
        assert_eq!(days("refund-agent", today).parts.tools["refund"].failed, 18, "{end}");
    }
}

#[test]
fn the_incident_was_nine_days_ago() {
    for end in ENDS {
        let demo = Demo::ending(end);
        let today = Day::of(demo.now);
        let triage = agent("support-triage");
        // By the clocks of the agents it was one day, which may be two days in UTC.
        let of = |from: u32, to: u32| {
            let days = demo.store.agent_days(&org(), &triage, today.back(from), today.back(to));
            wait(days).unwrap().parts
        };
        let incident = of(10, 8);
        assert!(incident.gates["pii"] >= 55 && incident.tools["reply"].failed >= 55, "{end}: {incident:?}");
        for (from, to) in [(29, 11), (7, 0)] {
            let other = of(from, to);
            assert!(other.gates.values().sum::<u64>() < 12, "{end}: {other:?}");
        }
    }
}

#[test]
fn runs_have_every_tier_and_two_agents_tie() {
    for end in ENDS {
        let demo = Demo::ending(end);
        let query = RunQuery { limit: 100, ..RunQuery::default() };
        let runs = wait(demo.store.runs(&org(), query)).unwrap().runs;
        assert_eq!(runs.len(), demo.filled.runs);
        assert!((35..=45).contains(&runs.len()), "{}", runs.len());
        for tier in [Tier::Elite, Tier::Gold, Tier::Silver, Tier::Bronze] {
            assert!(runs.iter().any(|run| run.tier() == tier), "{end}: {tier:?}");
        }
        assert!(
            runs.iter().all(|run| run.warnings.is_empty() && run.finished_at <= run.accepted_at),
            "{end}"
        );
        let defaulted =
            |run: &renown_store::Run| run.scored.as_ref().is_some_and(|score| !score.defaulted.is_empty());
        assert!((3..20).contains(&runs.iter().filter(|run| defaulted(run)).count()), "{end}");
        for (spec, winner, tied) in
            [("csv-export", "docs-writer", false), ("retry-budget", "code-reviewer", true)]
        {
            let ranked = wait(demo.store.competition(&org(), &spec.parse().unwrap())).unwrap().attempts;
            assert!((4..=5).contains(&ranked.len()), "{end}: {spec}");
            let scores: Vec<_> =
                ranked.iter().map(|attempt| attempt.scored.as_ref().map(|scored| scored.score)).collect();
            assert_eq!(scores[0] == scores[1], tied, "{end}: {spec} {scores:?}");
            assert_eq!(ranked[0].run.agent, agent(winner), "{end}: {spec}");
            assert!(ranked[0].run.branch.is_some() && ranked[0].run.pull_request.is_some(), "{end}: {spec}");
        }
    }
}

#[test]
fn identities_have_events_of_every_category_and_trends() {
    let demo = Demo::ending(ANY_END);
    let mut categories = BTreeSet::new();
    for name in ["dsp-bidder-prod", "support-triage", "refund-agent", NIGHTLY] {
        let identity = identity_of(&org(), &agent(name));
        let windows = wait(demo.store.identity_windows(&org(), identity, demo.now)).unwrap();
        let standing = windows.breakdown().standing(demo.now);
        assert!(standing.positive_events > 0 && standing.negative_events > 0, "{name}: {standing:?}");
        assert!(standing.trend_7d.is_some() && standing.trend_30d.is_some(), "{name}: {standing:?}");
        let events = wait(demo.store.reputation_events(&org(), identity, None, 1000)).unwrap().events;
        categories.extend(events.iter().map(|event| event.event.category.name()));
        let bridged =
            events.iter().filter(|event| event.event.event_type.as_str() == "session_scored").count();
        assert_eq!(bridged > 0, ["support-triage", NIGHTLY].contains(&name), "{name}");
    }
    assert_eq!(categories.into_iter().collect::<Vec<_>>(), ["economic", "identity_hygiene", "task_quality"]);
}

#[test]
fn one_agent_is_public() {
    let demo = Demo::ending(ANY_END);
    let is_public = |name: &&String| {
        let publication = wait(demo.store.publication(&org(), &agent(name))).unwrap();
        publication.is_some_and(|publication| publication.public && publication.slug.is_some())
    };
    let agents = agents(&demo);
    assert_eq!(agents.keys().filter(is_public).collect::<Vec<_>>(), ["docs-writer"]);
}
