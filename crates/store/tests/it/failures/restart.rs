//! A store that is closed and opened again.

use renown_store::{Control, Evidence};

use crate::support::{Scratch, TestClock, at, default_org, evaluation, fresh, ids, key, open, verify, wait};

#[test]
fn a_clean_end_leaves_no_write_ahead_log() {
    let scratch = Scratch::new();
    let store = open(scratch.path(), &TestClock::at_noon());
    wait(store.append(&default_org(), vec![evaluation("a", "x")], None)).unwrap();
    ids(&*store, &default_org());
    drop(store);
    assert_eq!(
        scratch.names(),
        ["renown.db", "renown.db-mark", "renown.lock"],
        "everything is in the database, nothing in a log beside it; the mark says how much"
    );
}

#[test]
fn times_do_not_go_back_across_a_restart() {
    let scratch = Scratch::new();
    let clock = TestClock::at_noon();
    let store = open(scratch.path(), &clock);
    clock.set(3_600_000);
    wait(store.append(&default_org(), vec![evaluation("a", "x")], None)).unwrap();
    clock.set(7_200_000);
    wait(store.create_key(key("default", 2), None)).unwrap();
    drop(store);
    clock.set(0);
    let store = open(scratch.path(), &clock);
    let later = fresh(wait(store.create_key(key("default", 1), None)));
    assert_eq!(later.created_at, at(7_200_000));
    wait(store.append(&default_org(), vec![evaluation("a", "y")], None)).unwrap();
    verify(scratch.path()).unwrap();
}
