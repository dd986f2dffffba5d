//! The summaries in the rows of sessions: always what the evidence gives, or not stored at all.

use renown_core::session_metrics::{Signals, Trace};
use renown_core::units::Unit;
use renown_store::sqlite::{FILE, Reader, Sqlite};
use renown_store::{
    Evidence, NewSignals, NewTrace, Reads, SessionQuery, SessionSummary, StoredSession, Upkeep,
};
use serde_json::Value;

use crate::support::{Scratch, TestClock, at, behind_the_back, default_org, open, verify, wait};
use crate::telemetry::{batch, call, logs, prompt, spans, tool};

const MINUTE: i64 = 60_000;

fn send(store: &Sqlite, records: &[Value]) {
    wait(store.add_records(&default_org(), batch(&logs("a", records)), None)).unwrap();
}

fn signal(store: &Sqlite, session: &str, trace: &str, confidence: f64) {
    let signals = Signals { confidence: Unit::new(confidence).ok(), ..Signals::default() };
    let trace = Trace { trace_id: trace.parse().unwrap(), signals, source: None };
    let signals = NewSignals { agent: None, traces: vec![NewTrace { trace, started_at: Some(at(0)) }] };
    wait(store.add_signals(&default_org(), &session.parse().unwrap(), signals, None)).unwrap();
}

/// Lists the sessions, and checks that each summary is that of its traces.
fn listed(store: &Sqlite) -> Vec<StoredSession> {
    let query = SessionQuery { limit: 100, ..SessionQuery::default() };
    let listed = wait(store.sessions(&default_org(), query)).unwrap().sessions;
    for session in &listed {
        let found = wait(store.session(&default_org(), &session.id, true)).unwrap().unwrap();
        assert_eq!((session.summary, session.traces.len()), (SessionSummary::of(&found.traces), 0));
        assert_eq!(found.summary, session.summary);
    }
    listed
}

/// Returns whether the summary of a session is stored, and whether its derived traces are.
fn is_stored(scratch: &Scratch, session: &str) -> (bool, bool) {
    let database = rusqlite::Connection::open(scratch.join(FILE)).unwrap();
    let select =
        "SELECT trace_count IS NOT NULL, substr(folded, 1, 2) <> x'0101' FROM sessions WHERE session_id = ?1";
    database.query_row(select, [session], |row| Ok((row.get(0)?, row.get(1)?))).unwrap()
}

#[test]
fn sent_and_derived_traces_give_one_summary_in_any_order() {
    let (scratch, clock) = (Scratch::new(), TestClock::at_noon());
    let store = open(scratch.path(), &clock);
    let records = |session: &str| {
        [prompt(session, 1, 0), tool(session, 2, 10, "Edit", false), call(session, 3, 20, "0.5")]
    };
    signal(&store, "before", "before#1", 0.25);
    assert_eq!(listed(&store)[0].summary.trace_count, 1);
    send(&store, &records("before"));
    send(&store, &records("after"));
    assert_eq!(listed(&store)[0].summary.metrics.consistency, None);
    signal(&store, "after", "after#1", 0.25);
    signal(&store, "after", "else", 0.75);
    signal(&store, "after", "else", 0.5);
    wait(store.add_records(&default_org(), batch(&spans("spans", 0)), None)).unwrap();
    let counts: Vec<(String, u64)> =
        listed(&store).iter().map(|session| (session.id.to_string(), session.summary.trace_count)).collect();
    let expected = [("spans", 1), ("after", 2), ("before", 1)].map(|(id, count)| (id.to_owned(), count));
    assert_eq!(counts, expected);
    drop(store);
    verify(scratch.path()).unwrap();
    let reader = Reader::open(scratch.path()).unwrap();
    let query = SessionQuery { limit: 100, ..SessionQuery::default() };
    assert_eq!(wait(reader.sessions(&default_org(), query)).unwrap().sessions.len(), 3);
}

#[test]
fn a_session_that_is_too_large_to_rebuild_with_every_write_has_no_summary_for_a_while() {
    let (scratch, clock) = (Scratch::new(), TestClock::at_noon());
    let mut store = open(scratch.path(), &clock);
    let many = |from: u32, to: u32| -> Vec<Value> {
        (from..to)
            .map(|number| tool("s", number, -60 * MINUTE + i64::from(number) * 10, "Edit", number % 3 > 0))
            .collect()
    };
    send(&store, &many(0, 3000));
    assert_eq!((is_stored(&scratch, "s"), listed(&store)[0].summary.trace_count), ((true, true), 1));
    // A prompt in the middle of records that were folded together.
    send(&store, &[prompt("s", 9000, -60 * MINUTE + 15_001)]);
    assert_eq!((is_stored(&scratch, "s"), listed(&store)[0].summary.trace_count), ((false, false), 2));
    drop(store);
    verify(scratch.path()).unwrap();
    store = open(scratch.path(), &clock);
    // Again when a quarter of its records has arrived.
    send(&store, &many(3000, 3010));
    assert_eq!(is_stored(&scratch, "s"), (true, true), "after a restart it is computed once");
    send(&store, &[prompt("s", 9001, -60 * MINUTE + 10_001)]);
    send(&store, &many(3010, 3400));
    assert_eq!(is_stored(&scratch, "s"), (false, false));
    send(&store, &many(3400, 4200));
    assert_eq!((is_stored(&scratch, "s"), listed(&store)[0].summary.trace_count), ((true, true), 3));
    // Or when the session is closed.
    send(&store, &[prompt("s", 9002, -60 * MINUTE + 5001)]);
    assert_eq!(is_stored(&scratch, "s"), (false, false));
    clock.turn(30 * MINUTE);
    assert_eq!(wait(store.close_sessions()).unwrap().len(), 1);
    assert_eq!((is_stored(&scratch, "s"), listed(&store)[0].summary.trace_count), ((true, true), 4));
    drop(store);
    verify(scratch.path()).unwrap();
}

#[test]
fn every_column_is_verified_and_repaired() {
    let damages = [
        ("folded = x'00'", "the traces that follow from its records"),
        ("folded = x''", "the traces that follow from its records"),
        (
            "folded = (SELECT folded FROM sessions WHERE session_id = 'other')",
            "the traces that follow from its records",
        ),
        ("trace_count = trace_count + 1", "the number of its traces is stored as Some(3)"),
        ("trace_count = NULL", "the number of its traces is stored as None"),
        ("reliability = reliability - 1", "its reliability"),
        ("reliability = NULL", "its reliability"),
        ("reliability_traces = 7", "the number of its traces with a signal"),
        ("flagged_traces = flagged_traces + 1", "the number of its traces with an elevated risk"),
        ("consistency = 10000", "its consistency"),
        ("consistency_traces = NULL", "the number of its traces with a confidence"),
        (
            "trace_count = NULL, reliability = NULL, reliability_traces = NULL, flagged_traces = NULL, consistency = NULL, \
          consistency_traces = NULL",
            "the number of its traces",
        ),
        ("cost_nano = NULL", "its cost in nano-dollars is stored as None, the evidence gives Some(50000000)"),
        ("performance = performance + 1", "its performance in tenths"),
    ];
    let (scratch, clock) = (Scratch::new(), TestClock::at_noon());
    let store = open(scratch.path(), &clock);
    send(&store, &[prompt("s", 1, 0), tool("s", 2, 10, "Edit", false), call("s", 3, 20, "0.05")]);
    send(&store, &[prompt("other", 1, 0), prompt("other", 2, 5)]);
    signal(&store, "s", "t", 0.5);
    let expected = listed(&store);
    drop(store);
    for (damage, name) in damages {
        verify(scratch.path()).unwrap();
        let database = behind_the_back(&scratch.join(FILE));
        let damage = format!("UPDATE sessions SET {damage} WHERE session_id = 's'");
        assert_eq!(database.execute(&damage, []).unwrap(), 1);
        drop(database);
        let difference = verify(scratch.path()).expect_err(&damage).to_string();
        assert!(difference.contains("session \"s\"") && difference.contains(name), "{damage}: {difference}");
        let store = open(scratch.path(), &clock);
        assert_eq!(wait(store.repair()).unwrap().sessions, 1, "{damage}");
        let summaries =
            |sessions: &[StoredSession]| sessions.iter().map(|session| session.summary).collect::<Vec<_>>();
        assert_eq!(summaries(&listed(&store)), summaries(&expected));
    }
    verify(scratch.path()).unwrap();
}

#[test]
fn stale_traces_are_not_damage_and_are_repaired() {
    let (scratch, clock) = (Scratch::new(), TestClock::at_noon());
    let store = open(scratch.path(), &clock);
    send(&store, &[prompt("s", 1, 0), tool("s", 2, 10, "Edit", false)]);
    drop(store);
    let stale = "UPDATE sessions SET folded = x'010101', trace_count = NULL, reliability = NULL, reliability_traces = NULL, \
                 flagged_traces = NULL, consistency = NULL, consistency_traces = NULL";
    assert_eq!(behind_the_back(&scratch.join(FILE)).execute(stale, []).unwrap(), 1);
    verify(scratch.path()).unwrap();
    let store = open(scratch.path(), &clock);
    assert_eq!(listed(&store)[0].summary.trace_count, 1, "computed from its records");
    assert_eq!((is_stored(&scratch, "s"), wait(store.repair()).unwrap().sessions), ((false, false), 1));
    assert_eq!(is_stored(&scratch, "s"), (true, true));
    drop(store);
    verify(scratch.path()).unwrap();
}
