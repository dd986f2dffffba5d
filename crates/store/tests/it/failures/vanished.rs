//! Files that are deleted or replaced under an open store.

use std::fs;

use renown_store::sqlite::FILE;
use renown_store::{Evidence, Upkeep, WriteError};

use crate::support::{Scratch, TestClock, default_org, evaluation, evaluations, ids, open, verify, wait};

fn name(suffix: &str) -> String {
    if suffix == "renown.lock" { suffix.to_owned() } else { format!("{FILE}{suffix}") }
}

#[test]
fn a_store_whose_files_are_deleted_or_replaced_refuses_writes() {
    for suffix in ["renown.lock", "", "-wal", "-shm"] {
        for is_replaced in [false, true] {
            let scratch = Scratch::new();
            let store = open(scratch.path(), &TestClock::at_noon());
            wait(store.append(&default_org(), evaluations("a", "before", 3), None)).unwrap();
            wait(store.ready()).unwrap();
            let (path, aside) = (scratch.path().join(name(suffix)), scratch.path().join("aside"));
            fs::rename(&path, &aside).unwrap();
            if is_replaced {
                fs::copy(&aside, &path).unwrap();
            }
            let refused =
                wait(store.append(&default_org(), vec![evaluation("a", "late")], None)).unwrap_err();
            assert!(matches!(refused, WriteError::Refused(_)), "{refused:?}");
            let said = wait(store.ready()).unwrap_err().to_string();
            let expected = if is_replaced { "was replaced while" } else { "was deleted or moved while" };
            assert!(said.starts_with(&format!("{} {expected}", name(suffix))), "{said}");
            assert_eq!(ids(&*store, &default_org()).len(), 3, "the evidence can still be read");
            // The store does not recover by itself.
            fs::rename(&aside, &path).unwrap();
            assert!(wait(store.ready()).is_err_and(|error| matches!(error, WriteError::Refused(_))));
        }
    }
}

#[test]
fn deleting_the_write_ahead_log_loses_nothing() {
    let (scratch, clock) = (Scratch::new(), TestClock::at_noon());
    let store = open(scratch.path(), &clock);
    wait(store.append(&default_org(), evaluations("a", "before", 30), None)).unwrap();
    fs::remove_file(scratch.path().join(name("-wal"))).unwrap();
    assert!(wait(store.ready()).is_err_and(|error| matches!(error, WriteError::Refused(_))));
    drop(store);
    let store = open(scratch.path(), &clock);
    assert_eq!(store.lost(), None);
    assert_eq!(ids(&*store, &default_org()).len(), 30);
    drop(store);
    verify(scratch.path()).unwrap();
}

#[test]
fn after_the_lock_was_deleted_only_the_second_process_can_write() {
    let (scratch, clock) = (Scratch::new(), TestClock::at_noon());
    let first = open(scratch.path(), &clock);
    wait(first.append(&default_org(), vec![evaluation("a", "one")], None)).unwrap();
    fs::remove_file(scratch.path().join("renown.lock")).unwrap();
    let second = open(scratch.path(), &clock);
    wait(second.append(&default_org(), vec![evaluation("a", "two")], None)).unwrap();
    let refused = wait(first.append(&default_org(), vec![evaluation("a", "three")], None)).unwrap_err();
    assert!(matches!(&refused, WriteError::Refused(_)), "{refused:?}");
    assert_eq!(ids(&*second, &default_org()), ["two", "one"]);
}
