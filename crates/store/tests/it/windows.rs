//! More agents than the writer holds in memory, and transactions that touch more than it holds.

use renown_store::{AgentQuery, NewEvaluation, Store};

use crate::support::{Hand, Scratch, default_org, evaluation, open, verify, wait};

/// More than the writer holds.
const AGENTS: usize = 9000;

fn round(name: &str) -> Vec<NewEvaluation> {
    (0..AGENTS).map(|agent| evaluation(&format!("agent-{agent}"), &format!("{name}-{agent}"))).collect()
}

fn counts(store: &dyn Store) -> Vec<u64> {
    let query = AgentQuery { limit: AGENTS, ..AgentQuery::default() };
    let agents = wait(store.agents(&default_org(), query)).unwrap().agents;
    agents.iter().map(|agent| agent.tally.evaluations()).collect()
}

#[test]
fn one_batch_may_touch_more_agents_than_are_held() {
    let scratch = Scratch::new("windows-batch");
    let store = open(scratch.path(), &Hand::at_noon());
    for (name, each) in [("first", 1), ("second", 2)] {
        let outcomes = wait(store.append(&default_org(), round(name), None)).unwrap();
        assert!(outcomes.iter().all(|outcome| outcome.tally().evaluations() == each), "{name}");
        assert_eq!(counts(&*store), vec![each; AGENTS], "{name}");
    }
    let first = wait(store.tally(&default_org(), &"agent-0".parse().unwrap())).unwrap();
    assert_eq!(first.evaluations(), 2);
    assert_eq!(verify(scratch.path()).unwrap().evaluations, 2 * AGENTS as u64);
}

#[test]
fn an_agent_that_was_let_go_is_taken_up_where_it_stood() {
    let scratch = Scratch::new("windows-evicted");
    let store = open(scratch.path(), &Hand::at_noon());
    for (name, each) in [("first", 1), ("second", 2)] {
        for batch in round(name).chunks(1000) {
            let outcomes = wait(store.append(&default_org(), batch.to_vec(), None)).unwrap();
            assert!(outcomes.iter().all(|outcome| outcome.tally().evaluations() == each), "{name}");
        }
    }
    verify(scratch.path()).unwrap();
}
