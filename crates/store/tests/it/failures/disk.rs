//! A full disk, a read-only disk, and paths that are not data directories.

use std::error::Error as _;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::process::Command;

use renown_store::sqlite::{FILE, Reader, Sqlite};
use renown_store::{Control, EvaluationOutcome, Evidence, OpenError, Reads, Upkeep, WriteError};

use super::{block_writer, on_small_disk};
use crate::support::{
    Scratch, TestClock, clock_of, default_org, evaluation, evaluations, fresh, ids, key, open, verify, wait,
};

/// Uses all the space that is left.
fn fill(path: &Path) {
    let mut ballast = OpenOptions::new().create(true).append(true).open(path).unwrap();
    for size in [4096, 1] {
        while ballast.write_all(&vec![0; size]).is_ok() {}
    }
}

fn is_full(error: &WriteError) -> bool {
    let full = Some(rusqlite::ErrorCode::DiskFull);
    let causes = std::iter::successors(error.source(), |cause| (*cause).source());
    let mut of_sqlite = causes.filter_map(|cause| cause.downcast_ref::<rusqlite::Error>());
    matches!(error, WriteError::Unavailable(_)) && of_sqlite.any(|error| error.sqlite_error_code() == full)
}

#[test]
fn a_full_disk_fails_writes_and_loses_nothing() {
    const TEST: &str = "failures::disk::a_full_disk_fails_writes_and_loses_nothing";
    let Some(dir) = on_small_disk(TEST, 8 << 20) else { return };
    let (org, clock) = (default_org(), TestClock::at_noon());
    let store = open(&dir, &clock);
    let (mut counted, mut counted_others) = (100, 0);
    wait(store.append(&org, evaluations("a", "before", counted), None)).unwrap();

    for round in ["first", "second"] {
        fill(&dir.join("ballast"));
        // Pages that are allocated already can be reused, so the first writes may still find room.
        let refused = (0..1000).find_map(|number| {
            let batch = evaluations("a", &format!("{round}-{number}"), 50);
            let error = wait(store.append(&org, batch, None)).err();
            counted += if error.is_none() { 50 } else { 0 };
            error.map(|error| (number, error))
        });
        let (number, error) = refused.expect("the disk is full");
        assert!(is_full(&error), "{error:?}");

        // All writes of one transaction succeed or fail together. The write that blocks them is small enough to
        // find room, or not.
        let (release, blocked) = block_writer(&store, &clock, round);
        let big = store.append(&org, evaluations("new", &format!("{round}-new"), 1000), None);
        let (key, ready) = (store.create_key(key("other", 1), None), store.ready());
        drop(release);
        counted_others += usize::from(wait(blocked).is_ok());
        assert!(wait(big).is_err_and(|error| is_full(&error)));
        assert!(wait(key).is_err_and(|error| is_full(&error)));
        assert!(wait(ready).is_err_and(|error| is_full(&error)));

        let tally = wait(store.tally(&org, &"a".parse().unwrap())).unwrap();
        assert_eq!(tally.evaluations(), counted.min(500) as u64);
        assert_eq!(wait(store.window(&org, &"a".parse().unwrap())).unwrap().tally(), tally);
        assert_eq!(wait(store.agent(&org, &"new".parse().unwrap())).unwrap(), None);
        assert!(wait(store.tally(&"other".parse().unwrap(), &"a".parse().unwrap())).is_err());
        assert!(wait(store.keys()).unwrap().is_empty());
        assert_eq!(ids(&*store, &org).len(), counted + counted_others);

        std::fs::remove_file(dir.join("ballast")).unwrap();
        // A refused write was not counted, so it counts now.
        let batch = evaluations("a", &format!("{round}-{number}"), 50);
        let outcomes = fresh(wait(store.append(&org, batch, None)));
        assert!(outcomes.iter().all(|outcome| matches!(outcome, EvaluationOutcome::Counted { .. })));
        counted += 50;
        assert_eq!(ids(&*store, &org).len(), counted + counted_others);
        wait(store.ready()).unwrap();
        assert_eq!(verify(&dir).unwrap().evaluations, (counted + counted_others) as u64, "{round}");
    }
    drop(store);
    assert_eq!(ids(&*open(&dir, &clock), &org).len(), counted + counted_others);
}

#[test]
fn a_read_only_disk_is_refused_with_the_reason() {
    const TEST: &str = "failures::disk::a_read_only_disk_is_refused_with_the_reason";
    let Some(dir) = on_small_disk(TEST, 8 << 20) else { return };
    let clock = TestClock::at_noon();
    wait(open(&dir, &clock).append(&default_org(), vec![evaluation("a", "x")], None)).unwrap();
    let mounted = Command::new("mount").args(["-o", "remount,ro"]).arg(&dir).status().unwrap();
    assert!(mounted.success());
    let error = Sqlite::open(&dir, "a test", clock_of(&clock)).err().unwrap();
    assert!(matches!(&error, OpenError::Io { .. }), "{error:?}");
    assert!(error.to_string().contains("renown.lock: Read-only file system"), "{error}");
    let copied = Reader::open(&dir).and_then(|reader| reader.backup(&dir.join("copy.db"), &mut |_| {}));
    assert!(copied.is_err());
}

#[test]
fn paths_that_are_not_data_directories_are_refused() {
    let scratch = Scratch::new();
    let opened = |dir: &Path| Sqlite::open(dir, "a test", clock_of(&TestClock::at_noon())).err().unwrap();
    let missing = scratch.path().join("missing");
    assert!(matches!(opened(&missing), OpenError::Io { .. }));
    assert!(matches!(Reader::open(&missing).err().unwrap(), OpenError::Missing(_)));
    let file = scratch.path().join("file");
    File::create(&file).unwrap();
    assert!(matches!(opened(&file), OpenError::Io { .. }));
    let directory = scratch.path().join("directory");
    std::fs::create_dir_all(directory.join(FILE)).unwrap();
    assert!(matches!(opened(&directory), OpenError::Unavailable(_)));
    assert!(Reader::open(&directory).is_err());
}
