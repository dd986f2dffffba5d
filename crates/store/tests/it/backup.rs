//! Copies of a store that is being written to.

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use renown_store::sqlite::{FILE, Reader};
use renown_store::{Evidence, OpenError};

use crate::support::{Scratch, TestClock, default_org, evaluation, ids, open, until, verify, wait};

const WRITERS: usize = 4;
const COPIES: usize = 4;

#[test]
fn a_copy_contains_everything_that_was_acknowledged_before_it_began() {
    let scratch = Scratch::new();
    let clock = TestClock::at_noon();
    let store = open(scratch.path(), &clock);
    let acknowledged = Mutex::new(HashSet::new());
    let (stop, count) = (AtomicBool::new(false), AtomicUsize::new(0));
    let copies = thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (store, acknowledged, stop, count) = (&store, &acknowledged, &stop, &count);
            scope.spawn(move || {
                for number in 0.. {
                    let id = format!("e{writer}-{number}");
                    let new = evaluation(&format!("agent-{}", number % 50), &id);
                    wait(store.append(&default_org(), vec![new], None)).unwrap();
                    acknowledged.lock().unwrap().insert(id);
                    count.fetch_add(1, Ordering::Relaxed);
                    if stop.load(Ordering::Relaxed) {
                        return;
                    }
                }
            });
        }
        let mut copies = Vec::new();
        for number in 1..=COPIES {
            // Every copy contains more than the one before.
            until(|| count.load(Ordering::Relaxed) >= 150 * number);
            let copy = Scratch::new();
            let before = acknowledged.lock().unwrap().clone();
            let mut reports = Vec::new();
            let reader = Reader::open(scratch.path()).unwrap();
            reader
                .backup(&copy.join(FILE), &mut |progress| reports.push((progress.done, progress.total)))
                .unwrap();
            assert!(reports.last().is_some_and(|(done, total)| done == total && *total > 0), "{reports:?}");
            copies.push((copy, before));
        }
        stop.store(true, Ordering::Relaxed);
        copies
    });
    for (copy, before) in &copies {
        assert_eq!(copy.names(), [FILE], "one file, and nothing beside it");
        verify(copy.path()).unwrap();
        let held: HashSet<String> = ids(&*open(copy.path(), &clock), &default_org()).into_iter().collect();
        assert!(before.len() >= 150 && held.is_superset(before), "{} {}", before.len(), held.len());
    }
    assert!(copies[0].1.len() < copies[COPIES - 1].1.len());
    verify(scratch.path()).unwrap();
}

#[test]
fn a_copy_overwrites_nothing_and_leaves_nothing_when_it_fails() {
    let scratch = Scratch::new();
    let store = open(scratch.path(), &TestClock::at_noon());
    wait(store.append(&default_org(), vec![evaluation("a", "x")], None)).unwrap();
    drop(store);
    let reader = Reader::open(scratch.path()).unwrap();
    let taken = Scratch::new();
    std::fs::write(taken.join(FILE), "precious").unwrap();
    let error = reader.backup(&taken.join(FILE), &mut |_| {}).unwrap_err();
    assert!(matches!(error, OpenError::Io { .. }), "{error:?}");
    assert_eq!(std::fs::read(taken.join(FILE)).unwrap(), b"precious");
    assert_eq!(taken.names(), [FILE]);
    assert!(reader.backup(&taken.path().join("no/such/directory.db"), &mut |_| {}).is_err());
    // The file of a killed copy is not in the way.
    std::fs::write(taken.path().join("other.db.unfinished"), "half").unwrap();
    reader.backup(&taken.path().join("other.db"), &mut |_| {}).unwrap();
    assert_eq!(taken.names(), ["other.db", FILE]);
}
