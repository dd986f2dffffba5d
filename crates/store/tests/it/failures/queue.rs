//! A blocked writer: the queue fills, the store is dropped, the reply of a caller panics.

use renown_store::{EvaluationOutcome, RequestKey, Store, StoreError};

use super::block_writer;
use crate::support::{Scratch, TestClock, default_org, evaluation, ids, key, open, verify, wait};

fn new(number: usize) -> Vec<renown_store::NewEvaluation> {
    vec![evaluation(&format!("agent-{}", number % 10), &format!("e{number}"))]
}

#[test]
fn a_full_queue_refuses_and_loses_nothing() {
    let scratch = Scratch::new();
    let store = open(scratch.path(), &TestClock::at_noon());
    let (release, blocked) = block_writer(&store, "blocked");
    let mut waiting = Vec::new();
    let refused = loop {
        // The call sends the write; a reply that is ready at once is a refusal.
        let mut reply = store.append(&default_org(), new(waiting.len()), None);
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        match reply.as_mut().poll(&mut context) {
            std::task::Poll::Ready(refused) => break refused,
            std::task::Poll::Pending => waiting.push(reply),
        }
    };
    assert!(matches!(refused, Err(StoreError::Overloaded)), "{refused:?}");
    assert!((1000..10_000).contains(&waiting.len()), "a limit: {}", waiting.len());
    let accepted = waiting.len();
    drop(release);
    wait(blocked).unwrap();
    for reply in waiting {
        assert!(matches!(wait(reply).unwrap()[..], [EvaluationOutcome::Counted { .. }]));
    }
    assert_eq!(ids(&*store, &default_org()).len(), accepted + 1);
    wait(store.append(&default_org(), new(accepted), None)).unwrap();
    assert_eq!(verify(scratch.path()).unwrap().evaluations, accepted as u64 + 2);
}

#[test]
fn queued_writes_are_written_when_the_store_is_dropped() {
    let scratch = Scratch::new();
    let clock = TestClock::at_noon();
    let store = open(scratch.path(), &clock);
    let (release, blocked) = block_writer(&store, "blocked");
    // No caller waits for these any more, but they are in the queue.
    drop(blocked);
    for number in 0..500 {
        drop(store.append(&default_org(), new(number), None));
    }
    let dropping = std::thread::spawn(move || drop(store));
    drop(release);
    dropping.join().unwrap();
    assert_eq!(ids(&*open(scratch.path(), &clock), &default_org()).len(), 501);
}

#[test]
fn a_write_that_panics_fails_alone_or_with_its_transaction() {
    let scratch = Scratch::new();
    let store = open(scratch.path(), &TestClock::at_noon());
    let broken = || RequestKey::<[EvaluationOutcome]> {
        org: default_org(),
        key: "k".to_owned(),
        fingerprint: [0; 32],
        reply: Box::new(|_| std::panic::resume_unwind(Box::new(()))),
    };
    let error = wait(store.append(&default_org(), new(1), Some(broken()))).unwrap_err();
    assert!(!error.is_damage(), "a panic is a bug, not damage: {error}");
    assert_eq!(ids(&*store, &default_org()).len(), 0);
    assert_eq!(wait(store.agent(&default_org(), &"agent-1".parse().unwrap())).unwrap(), None);
    let tally = wait(store.append(&default_org(), new(1), None)).unwrap()[0].tally();
    assert_eq!(tally.evaluations(), 1, "the cached window of the failed write is dropped");

    // A key that exists already does not fail the writes beside it.
    wait(store.create_key(key("default", 1), None)).unwrap();
    let (release, blocked) = block_writer(&store, "blocked");
    let waiting = (store.append(&default_org(), new(2), None), store.create_key(key("default", 1), None));
    let last = store.append(&default_org(), new(3), None);
    drop(release);
    wait(blocked).unwrap();
    assert!(wait(waiting.0).is_ok() && wait(waiting.1).is_err() && wait(last).is_ok());
    assert_eq!(verify(scratch.path()).unwrap().evaluations, 4);
}
