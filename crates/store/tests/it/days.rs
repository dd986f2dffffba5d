//! Days of agents: whatever happens to the process, the rows are the sums of the evaluations, and damage to them is
//! found and repaired.

use renown_core::time::Day;
use renown_core::units::Micros;
use renown_store::sqlite::{FILE, Reader, Sqlite};
use renown_store::{Control, Evidence, HistorySteps, NewEvaluation, Reads, Retention, Store, Upkeep};
use rusqlite::Connection;

use crate::support::{
    Scratch, TestClock, at, behind_the_back, clock_of, copy_killed, default_org, evaluation, fresh, open,
    run, verify, wait,
};
use crate::telemetry::{batch, call, logs, prompt};

const DAY_MS: i64 = 86_400_000;

/// Makes an evaluation that happened at this time.
fn happened(agent: &str, number: i64, after_noon_ms: i64) -> NewEvaluation {
    let mut new = evaluation(agent, &format!("{agent}-{number}"));
    new.passed = number % 5 != 0;
    new.gate_latency = Micros::from_us(u32::try_from(number).unwrap() * 700).unwrap();
    new.tool = (number % 2 == 0).then(|| "sh".parse().unwrap());
    new.gates = r#"[{"name":"pii","passed":false}]"#.into();
    new.timestamp = Some(at(after_noon_ms));
    new
}

/// Writes three agents over ten days, some evaluations late.
fn write(store: &dyn Store) {
    for number in 0..300 {
        let late = if number % 7 == 0 { 2 * DAY_MS } else { 0 };
        let agent = ["a", "b", "c"][usize::try_from(number % 3).unwrap()];
        let new = happened(agent, number, number * DAY_MS / 30 - late);
        wait(store.append(&default_org(), vec![new], None)).unwrap();
    }
    let report = r#"{"agent_id":"a","outcome":"completed"}"#;
    wait(store.add_run(&default_org(), run("r1", report), None)).unwrap();
    let records = logs("a", &[prompt("s", 1, 0), call("s", 2, 1000, "0.05")]);
    wait(store.add_records(&default_org(), batch(&records), None)).unwrap();
}

fn rows(connection: &Connection, table: &str) -> i64 {
    connection.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap()
}

const TABLES: [&str; 5] = ["agent_days", "agent_gate_days", "agent_tool_days", "org_days", "org_gate_days"];

#[test]
fn after_a_kill_the_next_start_brings_days_up_to_the_evaluations() {
    let (scratch, killed) = (Scratch::new(), Scratch::new());
    let clock = TestClock::at_noon();
    let store = open(scratch.path(), &clock);
    write(&*store);
    copy_killed(scratch.path(), killed.path());
    let org = default_org();
    let (from, to) = (Day::of(at(-3 * DAY_MS)), Day::of(at(20 * DAY_MS)));
    let ask = |store: &dyn Store| {
        let overview = wait(store.overview(&org, Day::of(at(9 * DAY_MS)))).unwrap();
        let days = ["a", "b", "c"]
            .map(|agent| wait(store.agent_days(&org, &agent.parse().unwrap(), from, to)).unwrap());
        (overview, days)
    };
    let before = ask(&*store);
    let behind = Connection::open(killed.join(FILE)).unwrap();
    // The first write is settled at once; the clock does not move, so nothing after it is.
    assert_eq!(rows(&behind, "agent_days"), 1, "otherwise this test proves nothing");
    drop(behind);
    let beside = Reader::open(killed.path()).unwrap();
    assert_eq!(
        wait(beside.overview(&org, Day::of(at(9 * DAY_MS)))).unwrap(),
        before.0,
        "another process counts them itself"
    );
    assert_eq!(wait(beside.agent_days(&org, &"a".parse().unwrap(), from, to)).unwrap(), before.1[0]);
    drop(beside);
    let next = open(killed.path(), &clock);
    assert_eq!(ask(&*next), before);
    drop(next);
    let settled = Connection::open(killed.join(FILE)).unwrap();
    assert!(TABLES.iter().all(|table| rows(&settled, table) > 0));
    verify(killed.path()).unwrap();
}

#[test]
fn damaged_days_are_found_and_repaired() {
    let scratch = Scratch::new();
    let clock = TestClock::at_noon();
    write(&*open(scratch.path(), &clock));
    verify(scratch.path()).unwrap();
    let org = default_org();
    let day = Day::of(at(5 * DAY_MS));
    let right = wait(Reader::open(scratch.path()).unwrap().overview(&org, day)).unwrap();
    for damage in [
        "UPDATE agent_days SET passed = passed + 1 WHERE agent = 2",
        "UPDATE agent_days SET score_last = 1000 - score_last WHERE day = (SELECT max(day) FROM agent_days)",
        "UPDATE agent_days SET score_before = 3 WHERE agent = 1",
        "UPDATE agent_days SET took3 = took3 + 1 WHERE agent = 1",
        "DELETE FROM agent_days WHERE agent = 3",
        "INSERT INTO agent_gate_days VALUES (0, 20000, 1, 'made-up', 1)",
        "UPDATE agent_gate_days SET failed = failed + 1",
        "UPDATE agent_tool_days SET tool = 'other' WHERE agent = 2",
        "DELETE FROM agent_tool_days",
        "UPDATE org_days SET evaluations = evaluations - 1",
        "DELETE FROM org_gate_days WHERE day = (SELECT min(day) FROM org_gate_days)",
        "UPDATE org_activity SET runs = runs + 1",
        "UPDATE org_activity SET cost_nano = cost_nano + 1",
        "DELETE FROM org_activity",
        "UPDATE orgs SET agents = 7",
        "UPDATE agents SET rank = 1 WHERE agent = 1",
    ] {
        behind_the_back(&scratch.join(FILE)).execute_batch(damage).unwrap();
        let found = verify(scratch.path());
        assert!(found.is_err(), "{damage}");
        let store = Sqlite::open(scratch.path(), "a test", clock_of(&clock)).unwrap();
        wait(store.repair()).unwrap();
        drop(store);
        verify(scratch.path()).unwrap_or_else(|difference| panic!("{damage}: {difference}"));
        assert_eq!(
            wait(Reader::open(scratch.path()).unwrap().overview(&org, day)).unwrap(),
            right,
            "{damage}"
        );
    }
}

#[test]
fn days_outlive_the_evaluations_that_retention_deletes() {
    let scratch = Scratch::new();
    let clock = TestClock::at_noon();
    let store = open(scratch.path(), &clock);
    let (org, agent) = (default_org(), "a".parse().unwrap());
    // Sixty days with twenty evaluations each, so that the window of 500 is the last 25 of them.
    for number in 0..1200 {
        clock.set(number * DAY_MS / 20);
        let new = happened("a", number, number * DAY_MS / 20);
        wait(store.append(&org, vec![new], None)).unwrap();
    }
    let (from, to) = (Day::of(at(0)), Day::of(at(60 * DAY_MS)));
    let days = wait(store.agent_days(&org, &agent, from, to)).unwrap();
    let whole_days = HistorySteps::new(from.start(), to.end(), 61).unwrap();
    let history = wait(store.history(&org, &agent, whole_days)).unwrap();
    let retention = Retention { evaluations_days: Some(10), ..Retention::default() };
    while wait(store.delete_some(retention)).unwrap().is_more() {}
    let left = Connection::open(scratch.join(FILE)).unwrap();
    assert!(rows(&left, "evaluations") < 600, "otherwise this test proves nothing");
    assert_eq!(wait(store.agent_days(&org, &agent, from, to)).unwrap(), days);
    assert_eq!(wait(store.history(&org, &agent, whole_days)).unwrap(), history);
    assert_eq!(wait(store.earliest(&org, &agent)).unwrap(), Some(at(0)));
    // A day without its evaluations is not cut: it counts at the time of its last evaluation.
    let halves = HistorySteps::new(from.start(), to.end(), 122).unwrap();
    let points = wait(store.history(&org, &agent, halves)).unwrap();
    assert_eq!(points.iter().map(|point| point.evaluations).sum::<u64>(), 1200);
    drop(store);
    verify(scratch.path()).unwrap();

    // What cannot be counted again stays as it is.
    behind_the_back(&scratch.join(FILE)).execute_batch("UPDATE org_days SET passed = 0").unwrap();
    let store = open(scratch.path(), &clock);
    wait(store.repair()).unwrap();
    assert_eq!(wait(store.agent_days(&org, &agent, from, to)).unwrap(), days);
    drop(store);
    verify(scratch.path()).unwrap();
}

#[test]
fn nothing_of_an_erased_agent_is_left_in_days() {
    let scratch = Scratch::new();
    let clock = TestClock::at_noon();
    let store = open(scratch.path(), &clock);
    write(&*store);
    drop(store);
    let store = open(scratch.path(), &clock);
    let org = default_org();
    wait(store.erase(&org, &"b".parse().unwrap())).unwrap();
    // The next agent of this name begins with nothing.
    fresh(wait(store.append(&org, vec![happened("b", 1000, 0)], None)));
    let day = Day::of(at(0));
    let days =
        wait(store.agent_days(&org, &"b".parse().unwrap(), day.back(9), Day::of(at(20 * DAY_MS)))).unwrap();
    assert_eq!(days.counts().evaluations, 1);
    while wait(store.delete_some(Retention::default())).unwrap().is_more() {}
    let overview = wait(store.overview(&org, Day::of(at(10 * DAY_MS)))).unwrap();
    assert_eq!(overview.days.values().map(|day| day.evaluations).sum::<u64>(), 201);
    assert_eq!(overview.agents, 3);
    let active = overview.activity.get(&day).unwrap();
    assert_eq!((active.sessions, active.cost_nano, active.runs), (1, 50_000_000, 1));
    drop(store);
    let left = Connection::open(scratch.join(FILE)).unwrap();
    let lives: i64 =
        left.query_row("SELECT count(DISTINCT agent) FROM agent_days", [], |row| row.get(0)).unwrap();
    assert_eq!(lives, 3);
    verify(scratch.path()).unwrap();
}
