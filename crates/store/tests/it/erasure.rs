//! After an erasure, no byte of the agent is in the database, its log or a new backup, while the store continues to
//! work.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use renown_core::session_metrics::{Signals, Trace};
use renown_core::units::Unit;
use renown_store::sqlite::{FILE, Reader, Sqlite, clean};
use renown_store::{
    AgentQuery, Control, EvaluationQuery, Evidence, NewEvaluation, NewSignals, NewTrace, ReadError, Reads,
    Retention, Scan, Upkeep,
};

use crate::support::{
    Rng, Scratch, TestClock, clock_of, copy_killed, default_org, evaluation, event, occurrences, open,
    request_key, run, scanned, verify, wait, wait_clean,
};
use crate::telemetry::{batch, call, logs, prompt, tool};

/// Returns the name of an agent. Every text of its evidence contains a part that no other agent has.
fn name(number: usize) -> String {
    format!("agent-x{number:03}x")
}

/// Returns what must not be found after the erasure: it is in the agent's id, in ids of evaluations, runs and
/// sessions, in tools, reasons and branches.
fn secret(number: usize) -> String {
    format!("x{number:03}x")
}

fn evaluations(agent: usize, round: usize, count: usize, rng: &mut Rng) -> Vec<NewEvaluation> {
    let (name, secret) = (name(agent), secret(agent));
    let one = |number: usize| {
        let mut new = evaluation(&name, &format!("{secret}-{round}-{number}"));
        new.tool = Some(format!("tool-{secret}").parse().unwrap());
        // Some need several pages.
        let reason = format!("reason-{secret} ").repeat(1 + rng.below(40) * rng.below(20));
        new.gates = format!(r#"[{{"name":"g","passed":true,"latency_ms":1,"reason":"{reason}"}}]"#).into();
        new
    };
    (0..count).map(one).collect()
}

/// Writes one round of evidence of an agent. Some agents send more.
fn write(store: &Sqlite, agent: usize, round: usize, rng: &mut Rng) {
    let (org, name, secret) = (default_org(), name(agent), secret(agent));
    let count = if agent.is_multiple_of(7) { 120 } else { 1 + rng.below(12) };
    let key = format!("key-{agent}-{round}");
    wait(store.append(&org, evaluations(agent, round, count, rng), Some(request_key(&key)))).unwrap();
    let text = format!(
        r#"{{"agent_id":"{name}","outcome":"completed","wall_ms":{},"branch":"b-{secret}","attributes":{{"a":"{}"}}}}"#,
        1000 + round,
        format!("attribute-{secret} ").repeat(rng.below(400))
    );
    wait(store.add_run(&org, run(&format!("run-{secret}-{round}"), &text), None)).unwrap();
    let number = i64::try_from(agent * 1000 + round).unwrap();
    wait(store.add_reputation_events(&org, vec![event(&name, number, -60_000 * number)], None)).unwrap();
    let session = format!("session-{secret}-{}", round % 3);
    let at = i64::try_from(round).unwrap() * 1000;
    let step = u32::try_from(4 * round).unwrap();
    let records = [
        prompt(&session, step, at),
        tool(&session, step + 1, at + 10, &format!("tool-{secret}"), true),
        call(&session, step + 2, at + 20, "0.05"),
    ];
    wait(store.add_records(&org, batch(&logs(&name, &records)), None)).unwrap();
    let signals = Signals { confidence: Some(Unit::HALF), ..Signals::default() };
    let trace = Trace { trace_id: format!("trace-{secret}-{round}").parse().unwrap(), signals, source: None };
    let signals = NewSignals { agent: None, traces: vec![NewTrace { trace, started_at: None }] };
    wait(store.add_signals(&org, &session.parse().unwrap(), signals, None)).unwrap();
}

const AGENTS: usize = 20;

/// Writes evidence of many agents in turn, so that their rows are on the same pages and pages split again and
/// again.
fn fill(store: &Sqlite, clock: &TestClock) -> Rng {
    let mut rng = Rng::new(17);
    for round in 0..5 {
        for agent in 0..AGENTS {
            write(store, agent, round, &mut rng);
        }
        clock.turn(2000);
    }
    rng
}

fn is_doomed(agent: usize) -> bool {
    agent % 4 != 1
}

fn erase(store: &Sqlite) {
    for agent in (0..AGENTS).filter(|agent| is_doomed(*agent)) {
        assert!(wait(store.erase(&default_org(), &name(agent).parse().unwrap())).unwrap());
    }
}

fn delete_some(store: &Sqlite) {
    while wait(store.delete_some(Retention::default())).unwrap().is_more() {}
}

/// Checks that no file of a directory contains a byte of the erased agents, and that the others are still there.
fn assert_erased(dir: &std::path::Path) {
    for agent in 0..AGENTS {
        let found = occurrences(dir, &secret(agent));
        assert_eq!(found == 0, is_doomed(agent), "{} is there {found} times", name(agent));
    }
}

#[test]
fn no_byte_of_many_erased_agents_is_left_while_others_write_and_read() {
    let (scratch, clock) = (Scratch::new(), TestClock::at_noon());
    let store = open(scratch.path(), &clock);
    let mut rng = fill(&store, &clock);
    // A copy of an older schema that an upgrade kept.
    let copy = scratch.path().join(format!("{FILE}.before-3"));
    std::fs::write(&copy, format!("evidence of {}", name(0))).unwrap();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    let query = EvaluationQuery { limit: 1000, ..EvaluationQuery::default() };
                    wait(store.evaluations(&default_org(), query)).unwrap();
                    wait(store.agents(&default_org(), AgentQuery { limit: 100, ..AgentQuery::default() }))
                        .unwrap();
                }
            });
        }
        let writer = scope.spawn(|| {
            for round in 5.. {
                for agent in (0..AGENTS).filter(|agent| !is_doomed(*agent)) {
                    write(&store, agent, round, &mut rng);
                }
                if done.load(Ordering::Relaxed) {
                    return;
                }
            }
        });
        erase(&store);
        delete_some(&store);
        wait_clean(scratch.path());
        done.store(true, Ordering::Relaxed);
        writer.join().unwrap();
    });
    assert_erased(scratch.path());
    assert!(!copy.exists(), "the copy of an upgrade is deleted with the agent");
    let backup = Scratch::new();
    Reader::open(scratch.path()).unwrap().backup(&backup.join(FILE), &mut |_| {}).unwrap();
    assert_erased(backup.path());
    drop(store);
    verify(scratch.path()).unwrap();
    verify(backup.path()).unwrap();
    assert_erased(scratch.path());
}

#[test]
fn an_erasure_that_was_killed_is_finished_by_the_next_process() {
    let (scratch, killed, clock) = (Scratch::new(), Scratch::new(), TestClock::at_noon());
    let store = open(scratch.path(), &clock);
    fill(&store, &clock);
    // A reader of an older state prevents the log from being emptied.
    let old = rusqlite::Connection::open(scratch.join(FILE)).unwrap();
    old.execute_batch("BEGIN; SELECT count(*) FROM evaluations;").unwrap();
    erase(&store);
    delete_some(&store);
    copy_killed(scratch.path(), killed.path());
    drop((old, store));
    assert!(occurrences(killed.path(), &secret(0)) > 0, "nothing was clean when it was killed");

    let store = open(killed.path(), &clock);
    wait_clean(killed.path());
    assert_erased(killed.path());
    drop(store);
    verify(killed.path()).unwrap();
}

#[test]
fn an_erasure_without_a_server_leaves_nothing_either() {
    let (scratch, clock) = (Scratch::new(), TestClock::at_noon());
    let store = open(scratch.path(), &clock);
    fill(&store, &clock);
    let copy = scratch.path().join(format!("{FILE}.before-4"));
    std::fs::write(&copy, "old").unwrap();
    erase(&store);
    delete_some(&store);
    drop(store);
    clean(&scratch.join(FILE), "a test", &clock_of(&clock)).unwrap();
    assert!(!copy.exists());
    assert_erased(scratch.path());
    wait_clean(scratch.path());
    verify(scratch.path()).unwrap();
}

#[test]
fn a_long_read_of_another_process_gives_way() {
    let (scratch, clock) = (Scratch::new(), TestClock::at_noon());
    let store = open(scratch.path(), &clock);
    fill(&store, &clock);
    let reader = Reader::open(scratch.path()).unwrap().give_way_after(Duration::ZERO);
    let reader = reader.at_one_moment().unwrap();
    let parts = std::cell::Cell::new(0);
    let ended = scanned(|after| {
        if parts.replace(parts.get() + 1) == 1 {
            erase(&store);
            delete_some(&store);
        }
        reader.scan_evaluations(&default_org(), after, 1)
    });
    assert!(matches!(ended, Err(ReadError::GaveWay)), "{ended:?} after {parts:?} parts");
    drop(reader);
    wait_clean(scratch.path());
    assert_erased(scratch.path());
    let reader = Reader::open(scratch.path()).unwrap().at_one_moment().unwrap();
    let left = wait(reader.scan_evaluations(&default_org(), None, 1)).unwrap();
    assert!(!left.is_empty(), "the next read is not disturbed");
}

#[test]
fn a_backup_has_no_bytes_of_rows_that_are_deleted() {
    let (scratch, backup, clock) = (Scratch::new(), Scratch::new(), TestClock::at_noon());
    let store = open(scratch.path(), &clock);
    fill(&store, &clock);
    let old = rusqlite::Connection::open(scratch.join(FILE)).unwrap();
    old.execute_batch("BEGIN; SELECT count(*) FROM evaluations;").unwrap();
    erase(&store);
    delete_some(&store);
    // The store cannot be clean yet, but a copy of it is.
    assert!(occurrences(scratch.path(), &secret(0)) > 0);
    Reader::open(scratch.path()).unwrap().backup(&backup.join(FILE), &mut |_| {}).unwrap();
    assert_erased(backup.path());
    verify(backup.path()).unwrap();
    drop(old);
}
