//! `verify` reports derived data that differs from what the evidence gives.

use renown_store::sqlite::FILE;
use renown_store::{Control, Difference, Evidence};

use crate::support::{
    Scratch, TestClock, behind_the_back, default_org, evaluation, evaluations, key, open, verify, wait,
};

/// Writes two agents of the default organization and one of another; the fourth evaluation of `a` failed.
fn write(scratch: &Scratch) {
    let store = open(scratch.path(), &TestClock::at_noon());
    wait(store.create_key(key("other", 1), None)).unwrap();
    let mut first = evaluations("a", "a", 6);
    first[3].passed = false;
    wait(store.append(&default_org(), first, None)).unwrap();
    wait(store.append(&default_org(), evaluations("b", "b", 3), None)).unwrap();
    wait(store.append(&"other".parse().unwrap(), vec![evaluation("a", "a-0")], None)).unwrap();
}

fn difference(sql: &str) -> Difference {
    let scratch = Scratch::new();
    write(&scratch);
    assert!(verify(scratch.path()).is_ok());
    let database = behind_the_back(&scratch.join(FILE));
    assert_eq!(database.execute(sql, []).unwrap(), 1, "{sql}");
    drop(database);
    *verify(scratch.path()).expect_err(sql)
}

#[test]
fn verify_names_what_was_changed() {
    let of = |table: &str, change: &str| match table {
        "evaluations" => format!("UPDATE evaluations SET {change} WHERE org = 0 AND evaluation_id = 'a-2'"),
        _ => format!("UPDATE agents SET {change} WHERE org = 0 AND name = 'a'"),
    };
    let table = [
        ("evaluations", "score = score + 1", "the score after it"),
        ("evaluations", "score = -1", "the score after it"),
        ("evaluations", "evaluations = 7", "the number of evaluations after it"),
        ("evaluations", "passed = 0", "the score after it"),
        ("evaluations", "previous = NULL", "the evaluation before"),
        ("evaluations", "previous = seq", "the evaluation before"),
        ("evaluations", "latency_us = 1", "the latency that counts"),
        ("evaluations", "latency_us = -1", "the latency that counts"),
        ("evaluations", "latency_us = 99000000, gate_us = 99000000", "the latency that counts"),
        ("evaluations", "org = 1", "the organization"),
        ("agents", "evaluations = 5", "the sums of the window"),
        ("agents", "passed = 4", "the sums of the window"),
        ("agents", "passed = -4", "the sums of the window"),
        ("agents", "streak = 0", "the sums of the window"),
        ("agents", "latency_us = 1", "the sums of the window"),
        ("agents", "score = 0", "the score"),
        ("agents", "last_seq = last_seq - 1", "the last evaluation"),
        ("agents", "last_seq = NULL", "the last evaluation"),
        ("agents", "last_seen = last_seen + 1", "when it was last seen"),
        ("agents", "seen_minute = seen_minute + 1", "the minute when it was last seen"),
    ];
    for (changed, change, what) in table {
        let found = difference(&of(changed, change));
        assert_eq!(
            (found.what, found.org.as_str(), found.agent.as_deref()),
            (what, "default", Some("a")),
            "{change}"
        );
        let named = (changed == "evaluations").then_some("a-2");
        assert_eq!(found.evaluation.as_deref(), named, "{change}");
    }
}

#[test]
fn verify_names_an_agent_of_another_organization() {
    let found = difference("UPDATE agents SET org = 1 WHERE org = 0 AND name = 'b'");
    assert_eq!((found.what, found.agent.as_deref()), ("the organization", Some("b")));
}

#[test]
fn verify_names_a_mark_beyond_the_last_evaluation() {
    let found = difference("UPDATE orgs SET settled = settled + 1 WHERE name = 'other'");
    assert_eq!(
        (found.what, found.org.as_str(), found.agent),
        ("the position up to which rows are settled", "other", None)
    );
}

#[test]
fn verify_names_what_is_missing() {
    let found = difference("DELETE FROM evaluations WHERE org = 0 AND evaluation_id = 'a-2'");
    assert_eq!((found.what, found.evaluation.as_deref()), ("the evaluation before", Some("a-3")));
    let found = difference("DELETE FROM evaluations WHERE org = 0 AND evaluation_id = 'a-5'");
    assert_eq!((found.what, found.evaluation), ("the last evaluation", None));
    let found = difference("DELETE FROM agents WHERE org = 0 AND name = 'b'");
    assert_eq!((found.what, found.kept.as_str()), ("the agent", "missing"));
}
