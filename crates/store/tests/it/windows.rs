//! More agents than the writer caches, transactions that touch more agents than it caches, and windows that fill.

use renown_core::reputation::{Tally, Window};
use renown_core::units::Micros;
use renown_store::{AgentQuery, EvaluationOutcome, Evidence, LatencySource, NewEvaluation, Reads, Store};

use crate::support::{Scratch, TestClock, default_org, evaluation, fresh, open, verify, wait};

/// More agents than the writer caches.
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
fn one_batch_may_touch_more_agents_than_are_cached() {
    let scratch = Scratch::new();
    let store = open(scratch.path(), &TestClock::at_noon());
    for (name, each) in [("first", 1), ("second", 2)] {
        let outcomes = fresh(wait(store.append(&default_org(), round(name), None)));
        assert!(outcomes.iter().all(|outcome| outcome.tally().evaluations() == each), "{name}");
        assert_eq!(counts(&*store), vec![each; AGENTS], "{name}");
    }
    let first = wait(store.tally(&default_org(), &"agent-0".parse().unwrap())).unwrap();
    assert_eq!(first.evaluations(), 2);
    assert_eq!(verify(scratch.path()).unwrap().evaluations, 2 * AGENTS as u64);
}

/// Windows that fill in a batch, between batches, and in a batch that adds their agent, each time compared with the
/// rules.
#[test]
fn a_window_is_correct_however_it_fills() {
    for sizes in [&[1200][..], &[499, 1, 1, 1], &[450, 100, 100], &[500, 2], &[30; 40], &[1, 700, 3]] {
        let scratch = Scratch::new();
        let clock = TestClock::at_noon();
        let mut store = open(scratch.path(), &clock);
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
                    window.push(new.sample(LatencySource::Gate));
                    window.tally()
                })
                .collect();
            let outcomes = fresh(wait(store.append(&default_org(), batch, None)));
            assert!(outcomes.iter().map(EvaluationOutcome::tally).eq(expected), "{sizes:?}, batch {turn}");
            if turn % 2 == 1 {
                drop(store);
                store = open(scratch.path(), &clock);
            }
        }
        assert_eq!(wait(store.tally(&default_org(), &"a".parse().unwrap())).unwrap(), window.tally());
        assert_eq!(verify(scratch.path()).unwrap().evaluations, u64::from(number), "{sizes:?}");
    }
}

/// The same evaluations as batches, which are written in groups, and one by one: with ids that repeat in a batch,
/// across batches and for another agent, agents that repeat, and agents that a batch adds.
#[test]
fn a_batch_gives_the_same_results_as_its_evaluations_one_by_one() {
    let (together, apart) = (Scratch::new(), Scratch::new());
    let clock = TestClock::at_noon();
    let (of_batches, of_singles) = (open(together.path(), &clock), open(apart.path(), &clock));
    let named = |agent: usize, id: usize| {
        let mut new = evaluation(&format!("a{agent}"), &format!("e{id}"));
        new.passed = !id.is_multiple_of(5);
        new
    };
    let batches: [Vec<NewEvaluation>; 6] = [
        (0..100).map(|number| named(number % 30, number)).collect(),
        (100..200).map(|number| named(number % 3, number)).collect(),
        // One repeat in the middle of a group: of the same batch, and of an earlier one.
        (200..300).map(|number| named(number % 30, if number == 250 { 210 } else { number })).collect(),
        (300..400)
            .map(|number| named(number % 30, if number % 40 == 7 { number - 250 } else { number }))
            .collect(),
        // Everything again, for other agents.
        (0..100).map(|number| named(number % 50, number)).collect(),
        // Groups of both sizes and a rest, and one repeat in a small group.
        (400..487).map(|number| named(number % 3, if number == 465 { 401 } else { number })).collect(),
    ];
    let shown = |outcome: &EvaluationOutcome| match outcome {
        EvaluationOutcome::Counted { tally } => (None, *tally),
        EvaluationOutcome::Repeated { first, tally } => {
            (Some((first.position, first.id.clone(), first.agent.clone(), first.standing)), *tally)
        }
    };
    for (turn, batch) in batches.into_iter().enumerate() {
        let mut expected = Vec::new();
        for new in batch.clone() {
            expected.extend(fresh(wait(of_singles.append(&default_org(), vec![new], None))));
        }
        let found = fresh(wait(of_batches.append(&default_org(), batch, None)));
        assert!(found.iter().map(shown).eq(expected.iter().map(shown)), "batch {turn}");
    }
    drop((of_batches, of_singles));
    let counted = [together.path(), apart.path()].map(|path| verify(path).unwrap().evaluations);
    assert_eq!(counted, [483, 483]);
}

#[test]
fn an_evicted_agent_continues_with_its_window() {
    let scratch = Scratch::new();
    let store = open(scratch.path(), &TestClock::at_noon());
    for (name, each) in [("first", 1), ("second", 2)] {
        for batch in round(name).chunks(1000) {
            let outcomes = fresh(wait(store.append(&default_org(), batch.to_vec(), None)));
            assert!(outcomes.iter().all(|outcome| outcome.tally().evaluations() == each), "{name}");
        }
    }
    verify(scratch.path()).unwrap();
}
