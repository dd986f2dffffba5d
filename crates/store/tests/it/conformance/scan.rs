//! Questions about all evidence of a kind, and about what has changed since a moment.

use std::fmt::Debug;

use renown_core::ids::{AgentId, OrgId, SessionId};
use renown_store::{
    ChangeCursor, ChangePage, EvidenceKind, NewSignals, NewTrace, Piece, Position, ReadReply, SCAN_MAX, Store,
};

use crate::support::{TestClock, default_org, evaluation, evaluations, event, key, run, scanned, wait};
use crate::telemetry::{batch, logs, prompt, tool};

/// How long after its last record a session is over, and some more.
const LONG_MS: i64 = 40 * 60 * 1000;

fn other() -> OrgId {
    "other".parse().unwrap()
}

fn send(store: &dyn Store, org: &OrgId, session: &str, at_ms: i64) {
    let records = [prompt(session, 1, at_ms), tool(session, 2, at_ms, "Read", true)];
    wait(store.add_records(org, batch(&logs("worker", &records)), None)).unwrap();
}

fn close_all(store: &dyn Store, clock: &TestClock, after_noon_ms: i64) {
    clock.set(after_noon_ms);
    while !wait(store.close_sessions()).unwrap().is_empty() {}
}

/// Writes some evidence of every kind to two organizations, mixed.
fn fill(store: &dyn Store, clock: &TestClock) {
    wait(store.create_key(key("other", 1), None)).unwrap();
    for org in [default_org(), other()] {
        for round in 0..4 {
            let batch = evaluations(&format!("agent-{}", round % 3), &format!("round-{round}"), 3);
            wait(store.append(&org, batch, None)).unwrap();
            let id = format!("run-{round}");
            let body = r#"{"agent_id":"runner","outcome":"completed","wall_ms":5}"#;
            wait(store.add_run(&org, run(&id, body), None)).unwrap();
            let events = vec![event("known", 2 * round, 10), event("known", 2 * round + 1, 5)];
            wait(store.add_reputation_events(&org, events, None)).unwrap();
            send(store, &org, &format!("session-{round}"), 10 * round);
            let trace = serde_json::from_str(r#"{"trace_id":"t","signals":{"coherence":1}}"#).unwrap();
            let signals = NewSignals { agent: None, traces: vec![NewTrace { trace, started_at: None }] };
            let id: SessionId = format!("signals-{round}").parse().unwrap();
            wait(store.add_signals(&org, &id, signals, None)).unwrap();
        }
    }
    close_all(store, clock, LONG_MS);
}

/// Checks what a scan finds, in parts of any size. Returns the names of the pieces.
fn check<'s, T: Piece + Debug + 's>(
    store: &'s dyn Store,
    kind: EvidenceKind,
    part: impl Fn(Option<Position>, usize) -> ReadReply<'s, Vec<T>>,
    name: impl Fn(&T) -> String,
) -> Vec<String> {
    let all = scanned(|after| part(after, SCAN_MAX)).unwrap();
    assert!(all.is_sorted_by(|a, b| a.position() < b.position()), "{kind:?} in order, each once");
    for limit in [1, 2, 5] {
        let some = scanned(|after| part(after, limit)).unwrap();
        assert_eq!(format!("{some:?}"), format!("{all:?}"), "{kind:?}, {limit} at a time");
        assert!(wait(part(None, limit)).unwrap().len() <= limit);
    }
    assert_eq!(wait(store.count(&default_org(), kind)).unwrap(), all.len() as u64, "{kind:?}");
    all.iter().map(name).collect()
}

pub(super) fn a_scan_finds_every_piece_once_in_order(store: &dyn Store, clock: &TestClock) {
    fill(store, clock);
    let org = default_org();
    let found = check(
        store,
        EvidenceKind::Evaluations,
        |after, limit| store.scan_evaluations(&org, after, limit),
        |evaluation| evaluation.id.to_string(),
    );
    let expected = (0..4).flat_map(|round| (0..3).map(move |number| format!("round-{round}-{number}")));
    assert_eq!(found, expected.collect::<Vec<_>>());
    let part = |after, limit| store.scan_runs(&org, after, limit);
    let found = check(store, EvidenceKind::Runs, part, |run| run.id.to_string());
    assert_eq!(found, ["run-0", "run-1", "run-2", "run-3"]);
    let part = |after, limit| store.scan_reputation_events(&org, after, limit);
    let found = check(store, EvidenceKind::ReputationEvents, part, |event| {
        event.event.event_id.as_u128().to_string()
    });
    assert_eq!(found.len(), 8 + 4, "those that were sent, and those of closed sessions");
    assert_eq!(found[..8], ["0", "1", "2", "3", "4", "5", "6", "7"]);
    let part = |after, limit| store.scan_sessions(&org, after, limit);
    let found = check(store, EvidenceKind::Sessions, part, |session| session.id.to_string());
    let expected = (0..4).flat_map(|round| [format!("session-{round}"), format!("signals-{round}")]);
    assert_eq!(found, expected.collect::<Vec<_>>());
    assert!(wait(store.scan_evaluations(&"nowhere".parse().unwrap(), None, 1)).is_err());
}

pub(super) fn a_scan_finds_nothing_of_an_erased_agent(store: &dyn Store, clock: &TestClock) {
    fill(store, clock);
    let org = default_org();
    for agent in ["agent-1", "runner", "known", "worker"] {
        assert!(wait(store.erase(&org, &agent.parse().unwrap())).unwrap(), "{agent}");
    }
    let left = scanned(|after| store.scan_evaluations(&org, after, 2)).unwrap();
    assert!(left.iter().all(|evaluation| evaluation.agent.as_str() != "agent-1"));
    assert_eq!(left.len(), 9);
    assert_eq!(scanned(|after| store.scan_runs(&org, after, 2)).unwrap(), []);
    assert_eq!(scanned(|after| store.scan_reputation_events(&org, after, 2)).unwrap(), []);
    let left = scanned(|after| store.scan_sessions(&org, after, 2)).unwrap();
    assert!(left.iter().all(|session| session.id.as_str().starts_with("signals-")));
    assert_eq!(scanned(|after| store.scan_runs(&other(), after, 2)).unwrap().len(), 4, "of the other one");
}

/// Returns the agents and sessions that have changed since a moment, page by page.
fn changed(
    store: &dyn Store,
    mut after: ChangeCursor,
    limit: usize,
) -> (Vec<String>, Vec<String>, ChangeCursor) {
    let (mut agents, mut sessions) = (Vec::new(), Vec::new());
    loop {
        let page = wait(store.changes(&default_org(), after, limit)).unwrap();
        let ChangePage { agents: more, sessions: closed, next, has_more } = page;
        agents.extend(more.iter().map(AgentId::to_string));
        sessions.extend(closed.iter().map(SessionId::to_string));
        after = next;
        if !has_more {
            return (agents, sessions, after);
        }
    }
}

pub(super) fn every_change_is_told_once_in_order(store: &dyn Store, clock: &TestClock) {
    fill(store, clock);
    let org = default_org();
    let start = wait(store.last_change(&org)).unwrap();
    assert_eq!(changed(store, start, 10).2, start, "nothing has changed since");
    for (id, agent) in [("x", "first"), ("y", "second"), ("z", "first")] {
        wait(store.append(&org, vec![evaluation(agent, id)], None)).unwrap();
        wait(store.append(&other(), vec![evaluation("theirs", id)], None)).unwrap();
    }
    wait(store.append(&org, vec![evaluation("repeated", "x")], None)).unwrap();
    wait(store.add_reputation_events(&org, vec![event("known", 77, 5)], None)).unwrap();
    send(store, &org, "new", LONG_MS);
    send(store, &other(), "theirs", LONG_MS);
    assert_eq!(changed(store, start, 10).1, Vec::<String>::new(), "an open session is no news");
    close_all(store, clock, 3 * LONG_MS);
    let (agents, sessions, end) = changed(store, start, 10);
    assert_eq!((agents, sessions), (vec!["first".to_owned(), "second".to_owned()], vec!["new".to_owned()]));
    let (agents, sessions, _) = changed(store, start, 1);
    assert_eq!((agents.len(), sessions), (3, vec!["new".to_owned()]), "an agent is once on each page");
    assert_eq!(changed(store, end, 10), (Vec::new(), Vec::new(), end));

    // A session that is closed again is news again; signals of a closed session are not.
    clock.turn(5);
    let signals = NewSignals { agent: None, traces: Vec::new() };
    wait(store.add_signals(&org, &"new".parse().unwrap(), signals, None)).unwrap();
    assert_eq!(changed(store, end, 10).1, Vec::<String>::new());
    wait(store.add_records(&org, batch(&logs("worker", &[prompt("new", 9, 3 * LONG_MS)])), None)).unwrap();
    close_all(store, clock, 5 * LONG_MS);
    assert_eq!(changed(store, end, 10).1, ["new"]);
}
