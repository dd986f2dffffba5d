//! More agents than the writer holds in memory, transactions that touch more than it holds, and windows that fill.

use renown_core::reputation::{Tally, Window};
use renown_core::units::Micros;
use renown_store::{AgentQuery, LatencySource, NewEvaluation, Outcome, Store};

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

/// Windows that fill inside a batch, between batches, and in a batch that makes their agent; each time against the rules.
#[test]
fn a_window_is_right_however_it_fills() {
    for sizes in [&[1200][..], &[499, 1, 1, 1], &[450, 100, 100], &[500, 2], &[30; 40], &[1, 700, 3]] {
        let scratch = Scratch::new("windows-fill");
        let hand = Hand::at_noon();
        let mut store = open(scratch.path(), &hand);
        let (mut window, mut number) = (Window::default(), 0);
        for (turn, &size) in sizes.iter().enumerate() {
            let mut batch = Vec::new();
            for _ in 0..size {
                let mut new = evaluation("a", &format!("e{number}"));
                new.passed = number % 7 != 0;
                new.gate_latency = Micros::from_us(number % 1000).unwrap();
                batch.push(new);
                number += 1;
            }
            let expected: Vec<Tally> = batch
                .iter()
                .map(|new| {
                    window.push(new.evaluation(LatencySource::Gate));
                    window.tally()
                })
                .collect();
            let outcomes = wait(store.append(&default_org(), batch, None)).unwrap();
            assert!(outcomes.iter().map(Outcome::tally).eq(expected), "{sizes:?}, batch {turn}");
            if turn % 2 == 1 {
                drop(store);
                store = open(scratch.path(), &hand);
            }
        }
        assert_eq!(wait(store.tally(&default_org(), &"a".parse().unwrap())).unwrap(), window.tally());
        assert_eq!(verify(scratch.path()).unwrap().evaluations, u64::from(number), "{sizes:?}");
    }
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
