//! A blocked writer: the queue fills, the store is dropped, a write beside others is refused.

use renown_store::{Control, EvaluationOutcome, Evidence, WriteError};

use super::block_writer;
use crate::support::{Scratch, TestClock, default_org, evaluation, fresh, ids, key, open, verify, wait};

fn new(number: usize) -> Vec<renown_store::NewEvaluation> {
    vec![evaluation(&format!("agent-{}", number % 10), &format!("e{number}"))]
}

#[test]
fn a_full_queue_refuses_and_loses_nothing() {
    let scratch = Scratch::new();
    let clock = TestClock::at_noon();
    let store = open(scratch.path(), &clock);
    let (release, blocked) = block_writer(&store, &clock, "blocked");
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
    assert!(matches!(refused, Err(WriteError::Overloaded)), "{refused:?}");
    assert!((1000..10_000).contains(&waiting.len()), "a limit: {}", waiting.len());
    let accepted = waiting.len();
    drop(release);
    wait(blocked).unwrap();
    for reply in waiting {
        assert!(matches!(fresh(wait(reply))[..], [EvaluationOutcome::Counted { .. }]));
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
    let (release, blocked) = block_writer(&store, &clock, "blocked");
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
fn a_refused_write_does_not_fail_the_writes_beside_it() {
    let scratch = Scratch::new();
    let clock = TestClock::at_noon();
    let store = open(scratch.path(), &clock);
    wait(store.create_key(key("default", 1), None)).unwrap();
    let (release, blocked) = block_writer(&store, &clock, "blocked");
    let waiting = (store.append(&default_org(), new(2), None), store.create_key(key("default", 1), None));
    let last = store.append(&default_org(), new(3), None);
    drop(release);
    wait(blocked).unwrap();
    assert!(wait(waiting.0).is_ok() && wait(waiting.1).is_err() && wait(last).is_ok());
    assert_eq!(verify(scratch.path()).unwrap().evaluations, 3);
}
