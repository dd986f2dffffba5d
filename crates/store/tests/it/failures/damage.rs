//! A file that does not contain what was written: a page of garbage, a truncated file, a truncated write-ahead log.

use std::fs;
use std::path::Path;

use renown_store::sqlite::{FILE, Reader, Sqlite};
use renown_store::{EvaluationQuery, Evidence, ReadError, Reads, Upkeep, WriteError};
use rusqlite::Connection;

use super::block_writer;
use crate::support::{
    Scratch, TestClock, behind_the_back, clock_of, copy_killed, default_org, evaluation, evaluations, fresh,
    ids, open, verify, wait,
};

/// Page size of a new database.
const PAGE: usize = 8192;

/// Writes three hundred evaluations of `well`, then six hundred of `hurt`, more than a window. One evaluation in
/// the window of `hurt` has a gate of its own.
fn write(scratch: &Scratch) {
    let store = open(scratch.path(), &TestClock::at_noon());
    wait(store.append(&default_org(), evaluations("well", "well", 300), None)).unwrap();
    let mut hurt = evaluations("hurt", "hurt", 600);
    hurt[150].gates = r#"[{"name":"find-this-page"}]"#.into();
    wait(store.append(&default_org(), hurt, None)).unwrap();
}

/// Fills the page of that evaluation with garbage.
fn hurt_page(database: &Path) {
    let mut bytes = fs::read(database).unwrap();
    let marker = b"find-this-page";
    let place = bytes.windows(marker.len()).position(|window| window == marker).unwrap();
    bytes[place / PAGE * PAGE..][..PAGE].fill(0xa5);
    fs::write(database, bytes).unwrap();
}

#[test]
fn a_damaged_agent_that_was_not_settled_affects_no_other() {
    let (scratch, killed) = (Scratch::new(), Scratch::new());
    write(&scratch);
    let store = open(scratch.path(), &TestClock::at_noon());
    // The first batch is settled at once; the clock does not move, so the second is behind when the process is
    // killed.
    for id in ["first", "second"] {
        let both = ["well", "hurt"].map(|agent| evaluation(agent, &format!("{agent}-{id}")));
        wait(store.append(&default_org(), both.to_vec(), None)).unwrap();
    }
    copy_killed(scratch.path(), killed.path());
    hurt_page(&killed.join(FILE));

    let next = open(killed.path(), &TestClock::at_noon());
    let (org, well, hurt) = (default_org(), "well".parse().unwrap(), "hurt".parse().unwrap());
    assert_eq!(wait(next.tally(&org, &well)).unwrap().evaluations(), 302);
    wait(next.append(&org, vec![evaluation("well", "after")], None)).unwrap();
    assert!(wait(next.tally(&org, &hurt)).is_err_and(|error| error.is_damage()), "its score is not known");
    let refused = wait(next.append(&org, vec![evaluation("hurt", "after-all")], None)).unwrap_err();
    assert!(refused.is_damage(), "{refused:?}");
}

#[test]
fn a_page_of_garbage_affects_only_the_agents_on_it() {
    let scratch = Scratch::new();
    write(&scratch);
    hurt_page(&scratch.join(FILE));

    let store = open(scratch.path(), &TestClock::at_noon());
    let (org, well, hurt) = (default_org(), "well".parse().unwrap(), "hurt".parse().unwrap());
    assert!(wait(store.window(&org, &hurt)).is_err_and(|error| error.is_damage()));
    let all = |agent: &str| EvaluationQuery {
        agent: Some(agent.parse().unwrap()),
        limit: 1000,
        ..EvaluationQuery::default()
    };
    assert!(wait(store.evaluations(&org, all("hurt"))).is_err_and(|error| error.is_damage()));
    assert_eq!(wait(store.tally(&org, &hurt)).unwrap().evaluations(), 500, "the sums are on another page");
    assert_eq!(wait(store.tally(&org, &well)).unwrap().evaluations(), 300);
    assert_eq!(wait(store.window(&org, &well)).unwrap().tally().evaluations(), 300);
    assert_eq!(wait(store.evaluations(&org, all("well"))).unwrap().evaluations.len(), 300);

    for number in 0..20 {
        let batch = vec![evaluation("new", &format!("n{number}")), evaluation("hurt", &format!("h{number}"))];
        let refused = wait(store.append(&org, batch, None)).unwrap_err();
        assert!(matches!(&refused, WriteError::Damaged(_)), "{refused:?}");
        let good = wait(store.append(&org, vec![evaluation("well", &format!("w{number}"))], None));
        assert_eq!(fresh(good)[0].tally().evaluations(), 301 + number);
    }
    assert_eq!(
        wait(store.agent(&org, &"new".parse().unwrap())).unwrap(),
        None,
        "of a refused batch nothing is seen"
    );
    drop(store);

    let reader = Reader::open(scratch.path()).unwrap();
    assert!(reader.verify(&mut |_, _| {}).is_err_and(|error| error.is_damage()));
    let copy = scratch.path().join("copy.db");
    assert!(reader.backup(&copy, &mut |_| {}).is_err_and(|error| error.is_damage()));
    assert!(scratch.names().iter().all(|name| name.starts_with("renown.")), "a bad copy is not kept");
}

#[test]
fn a_chain_that_does_not_go_backwards_is_damage_and_not_an_endless_loop() {
    for broken in ["previous = seq", "previous = seq + 1", "previous = 5000000"] {
        let scratch = Scratch::new();
        write(&scratch);
        let database = behind_the_back(&scratch.join(FILE));
        let sql = format!("UPDATE evaluations SET {broken} WHERE evaluation_id = 'hurt-150'");
        assert_eq!(database.execute(&sql, []).unwrap(), 1);
        drop(database);
        let clock = TestClock::at_noon();
        let store = open(scratch.path(), &clock);
        let hurt = "hurt".parse().unwrap();
        let damaged = |error: ReadError| error.is_damage();
        assert!(wait(store.window(&default_org(), &hurt)).is_err_and(damaged), "{broken}");
        let query = EvaluationQuery { agent: Some(hurt), limit: 1000, ..EvaluationQuery::default() };
        assert!(wait(store.evaluations(&default_org(), query)).is_err_and(damaged), "{broken}");

        // In one transaction: a write for the damaged agent does not fail the others.
        let (release, blocked) = block_writer(&store, &clock, "blocked");
        let batch = vec![evaluation("new", "new"), evaluation("hurt", "hurt")];
        let waiting = (store.append(&default_org(), batch, None), store.ready());
        let last = store.append(&default_org(), vec![evaluation("well", "more")], None);
        drop(release);
        assert!(wait(blocked).is_ok() && wait(waiting.0).is_err_and(|error| error.is_damage()), "{broken}");
        assert!(wait(waiting.1).is_ok() && wait(last).is_ok(), "{broken}");
        assert_eq!(wait(store.agent(&default_org(), &"new".parse().unwrap())).unwrap(), None, "{broken}");
    }
}

/// Reads and writes everything. It may all fail, but it has to end.
fn use_it(dir: &Path) -> bool {
    let Ok(store) = Sqlite::open(dir, "a test", clock_of(&TestClock::at_noon())) else { return false };
    let org = default_org();
    let mut fine = true;
    for agent in ["well", "hurt"] {
        fine &= wait(store.append(&org, vec![evaluation(agent, &format!("{agent}-new"))], None)).is_ok();
        fine &= wait(store.window(&org, &agent.parse().unwrap())).is_ok();
    }
    fine &=
        wait(store.evaluations(&org, EvaluationQuery { limit: 1000, ..EvaluationQuery::default() })).is_ok();
    fine &= wait(store.keys()).is_ok();
    fine && Reader::open(dir).is_ok_and(|reader| matches!(reader.verify(&mut |_, _| {}), Ok(Ok(_))))
}

#[test]
fn a_truncated_file_is_never_accepted() {
    let scratch = Scratch::new();
    write(&scratch);
    let bytes = fs::read(scratch.join(FILE)).unwrap();
    for length in
        [2, 99, 100, 512, PAGE - 1, PAGE, PAGE + 1, bytes.len() / 2, bytes.len() - PAGE, bytes.len() - 100]
    {
        let cut = Scratch::new();
        fs::write(cut.join(FILE), &bytes[..length]).unwrap();
        assert!(!use_it(cut.path()), "{length} of {} bytes", bytes.len());
    }
    assert!(use_it(scratch.path()), "and the complete file is sound");
}

#[test]
fn a_damaged_write_ahead_log_keeps_a_prefix_of_what_was_written() {
    let scratch = Scratch::new();
    // The tables are in the database itself, and the log is empty.
    drop(open(scratch.path(), &TestClock::at_noon()));
    let store = open(scratch.path(), &TestClock::at_noon());
    // While an old state is being read, nothing newer is moved into the database.
    let old = Connection::open(scratch.join(FILE)).unwrap();
    old.execute_batch("BEGIN; SELECT count(*) FROM evaluations;").unwrap();
    let written: Vec<String> = (0..60).map(|number| format!("e{number}")).collect();
    for id in &written {
        wait(store.append(&default_org(), vec![evaluation("a", id)], None)).unwrap();
    }
    let wal_name = format!("{FILE}-wal");
    let database = fs::read(scratch.join(FILE)).unwrap();
    let log = fs::read(scratch.path().join(&wal_name)).unwrap();
    drop((old, store));

    let crashed = |log: &[u8]| {
        let crashed = Scratch::new();
        fs::write(crashed.join(FILE), &database).unwrap();
        fs::write(crashed.path().join(&wal_name), log).unwrap();
        let store = open(crashed.path(), &TestClock::at_noon());
        let mut kept = ids(&*store, &default_org());
        kept.reverse();
        assert_eq!(kept, written[..kept.len()], "a prefix");
        wait(store.append(&default_org(), vec![evaluation("a", "after")], None)).unwrap();
        assert_eq!(verify(crashed.path()).unwrap().evaluations, kept.len() as u64 + 1);
        kept.len()
    };
    assert_eq!(crashed(&log), written.len());
    let mut before = 0;
    for part in 0..=24 {
        let kept = crashed(&log[..log.len() * part / 25]);
        assert!(kept >= before, "a longer log keeps no less");
        before = kept;
    }
    assert!(before > 40, "{before}");
    let mut scratched = log.clone();
    let middle = scratched.len() / 2;
    scratched[middle] ^= 1;
    let kept = crashed(&scratched);
    assert!(kept > 10 && kept < 50, "{kept}");
}
