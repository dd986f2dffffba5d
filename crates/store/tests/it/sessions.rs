//! Sessions on disk: each record is stored once whatever happens in between, sessions are closed and become
//! reputation events, and they are deleted.

use renown_core::identity::{bridge_id, identity_of};
use renown_core::ids::AgentId;
use renown_store::sqlite::{FILE, Sqlite, clean};
use renown_store::{
    Closed, Control, Evidence, NewSignals, Reads, ReputationEvent, Retention, SessionQuery, StoredSession,
    Upkeep,
};
use serde_json::Value;

use crate::support::{
    Scratch, TestClock, at, behind_the_back, clock_of, default_org, evaluations, event, fresh, open, verify,
    wait,
};
use crate::telemetry::{batch, call, logs, prompt, tool, unknown};

const MINUTE: i64 = 60_000;

fn send(store: &Sqlite, agent: &str, records: &[Value]) -> renown_telemetry::account::Account {
    fresh(wait(store.add_records(&default_org(), batch(&logs(agent, records)), None)))
}

fn find(store: &Sqlite, session: &str) -> Option<StoredSession> {
    wait(store.session(&default_org(), &session.parse().unwrap(), true)).unwrap()
}

fn performance(store: &Sqlite, session: &str) -> String {
    let report = serde_json::to_value(find(store, session).unwrap().ledger.unwrap().report()).unwrap();
    format!("{} {} {}", report["composite"], report["stats"]["prompts"], report["stats"]["total_tools"])
}

fn events(store: &Sqlite, agent: &str) -> Vec<ReputationEvent> {
    let identity = identity_of(&default_org(), &agent.parse().unwrap());
    wait(store.reputation_events(&default_org(), identity, None, 100)).unwrap().events
}

fn deltas(store: &Sqlite, agent: &str) -> Vec<i64> {
    events(store, agent).iter().map(|event| event.event.score_delta.millionths()).collect()
}

fn closed(store: &Sqlite) -> Vec<String> {
    wait(store.close_sessions()).unwrap().iter().map(|closed| closed.session.to_string()).collect()
}

#[test]
fn a_session_is_over_after_30_minutes_by_its_own_time_and_5_quiet_seconds() {
    let (scratch, clock) = (Scratch::new(), TestClock::at_noon());
    let store = open(scratch.path(), &clock);
    // The time of the last event, and when the session is over. Both are relative to noon, when everything arrives.
    for (session, last, over) in [
        ("just now", 0, 30 * MINUTE),
        ("long ago", -40 * MINUTE, 5000),
        ("a while ago", -20 * MINUTE, 10 * MINUTE),
        ("ahead of the clock", 90 * MINUTE, 30 * MINUTE),
        ("nearly over", -30 * MINUTE + 4000, 5000),
    ] {
        clock.set(0);
        let scratch = Scratch::new();
        let store = &*open(scratch.path(), &clock);
        send(store, "a", &[tool(session, 1, last - 1000, "Edit", true), prompt(session, 2, last)]);
        clock.set(over - 1);
        assert_eq!(closed(store), Vec::<String>::new(), "{session}");
        assert!(find(store, session).unwrap().closed_at.is_none());
        clock.set(over);
        let found = wait(store.close_sessions()).unwrap();
        let (org, agent): (_, AgentId) = (default_org(), "a".parse().unwrap());
        assert_eq!(found, [Closed { org, session: session.parse().unwrap(), agent }]);
        assert_eq!(find(store, session).unwrap().closed_at, Some(at(over)));
        assert_eq!(closed(store), Vec::<String>::new(), "once");
        let [event] = &events(store, "a")[..] else { panic!("one event") };
        assert_eq!(
            (event.event.timestamp, event.event.score_delta.millionths()),
            (at(last), 300_000),
            "{session}"
        );
    }
    // A later record moves the end.
    clock.set(0);
    send(&store, "a", &[prompt("s", 1, 0)]);
    clock.set(20 * MINUTE);
    send(&store, "a", &[prompt("s", 2, 20 * MINUTE)]);
    clock.set(30 * MINUTE);
    assert!(closed(&store).is_empty());
    clock.set(50 * MINUTE);
    assert_eq!(closed(&store), ["s"]);
}

#[test]
fn a_late_record_opens_a_closed_session_and_a_repeat_does_not() {
    let (scratch, clock) = (Scratch::new(), TestClock::at_noon());
    let mut store = open(scratch.path(), &clock);
    let first = [prompt("s", 1, -120 * MINUTE), tool("s", 2, -119 * MINUTE, "Edit", true)];
    assert_eq!(send(&store, "a", &first).facts, 2);
    clock.turn(5000);
    assert_eq!((closed(&store), deltas(&store, "a")), (vec!["s".to_owned()], vec![300_000]));
    // The same records after a restart: nothing is new.
    drop(store);
    store = open(scratch.path(), &clock);
    let account = send(&store, "a", &first);
    assert_eq!((account.duplicates, account.facts, account.sessions), (2, 0, 0));
    assert!(find(&store, "s").unwrap().closed_at.is_some());
    // A failure that arrives late counts, and the event is replaced.
    send(&store, "a", &[tool("s", 3, -118 * MINUTE, "Bash", false)]);
    assert!(find(&store, "s").unwrap().closed_at.is_none(), "open again");
    assert_eq!(deltas(&store, "a"), [300_000], "the event stays until the session is closed again");
    drop(store);
    store = open(scratch.path(), &clock);
    clock.turn(5000);
    assert_eq!(closed(&store), ["s"]);
    assert_eq!(performance(&store, "s"), "4.5 1 2");
    assert_eq!(deltas(&store, "a"), [-100_000]);
    drop(store);
    let verified = verify(scratch.path()).unwrap();
    assert_eq!((verified.sessions, verified.events), (1, 1));
}

#[test]
fn the_event_of_a_session_moves_with_its_agent() {
    let (scratch, clock) = (Scratch::new(), TestClock::at_noon());
    let store = open(scratch.path(), &clock);
    let anonymous = batch(&serde_json::json!({"resourceLogs": [{"scopeLogs": [{"logRecords":
        [prompt("s", 1, -60 * MINUTE), tool("s", 2, -59 * MINUTE, "Edit", true)]}]}]}));
    wait(store.add_records(&default_org(), anonymous, None)).unwrap();
    clock.turn(5000);
    closed(&store);
    assert_eq!(deltas(&store, "unknown"), [300_000]);
    // A record that names another agent moves the event at once.
    send(&store, "named", &[prompt("s", 3, -58 * MINUTE)]);
    assert_eq!((deltas(&store, "unknown"), deltas(&store, "named").len()), (vec![], 1));
    clock.turn(5000);
    closed(&store);
    assert_eq!((deltas(&store, "unknown"), deltas(&store, "named").len()), (vec![], 1));
    // Signals name the agent only if the records do not.
    let signal = |session: &str| {
        let signals = NewSignals { agent: Some("signaled".parse().unwrap()), traces: Vec::new() };
        wait(store.add_signals(&default_org(), &session.parse().unwrap(), signals, None)).unwrap();
        find(&store, session).unwrap().agent.to_string()
    };
    assert_eq!(signal("s"), "named");
    let nameless = serde_json::json!({"resourceLogs": [{"scopeLogs": [{"logRecords":
        [tool("t", 1, -60 * MINUTE, "Edit", true)]}]}]});
    wait(store.add_records(&default_org(), batch(&nameless), None)).unwrap();
    clock.turn(5000);
    closed(&store);
    assert_eq!(
        (signal("t"), deltas(&store, "unknown"), deltas(&store, "signaled").len()),
        ("signaled".to_owned(), vec![], 1)
    );
    drop(store);
    verify(scratch.path()).unwrap();
}

#[test]
fn a_client_cannot_send_the_event_of_a_session() {
    let (scratch, clock) = (Scratch::new(), TestClock::at_noon());
    let store = open(scratch.path(), &clock);
    let identity = identity_of(&default_org(), &"a".parse().unwrap());
    let mut forged = event("a", 1, 0);
    forged.event.event_id = bridge_id(identity, &"s".parse().unwrap());
    // Before the session exists, the event is accepted. The event of the session replaces it.
    let recorded = fresh(wait(store.add_reputation_events(&default_org(), vec![forged.clone()], None)));
    assert_eq!((recorded.accepted, recorded.refused), (1, None));
    send(&store, "a", &[tool("s", 1, -60 * MINUTE, "Edit", true)]);
    let refused = fresh(wait(store.add_reputation_events(&default_org(), vec![forged.clone()], None)));
    assert_eq!(refused.refused, Some(0), "also before the session is closed");
    clock.turn(5000);
    closed(&store);
    assert_eq!(deltas(&store, "a"), [300_000]);
    let both = vec![event("a", 2, 0), forged];
    let recorded = fresh(wait(store.add_reputation_events(&default_org(), both, None)));
    assert_eq!((recorded.accepted, recorded.duplicates, recorded.refused), (0, 0, Some(1)));
    assert_eq!(deltas(&store, "a"), [300_000], "all or none");
    drop(store);
    verify(scratch.path()).unwrap();
}

#[test]
fn derived_data_of_sessions_is_verified_and_repaired() {
    let damages = [
        "UPDATE sessions SET state = (SELECT state FROM sessions WHERE session_id = 'other') WHERE session_id = 's'",
        "UPDATE sessions SET state = x'00' WHERE session_id = 's'",
        "DELETE FROM session_records WHERE session = (SELECT session FROM sessions WHERE session_id = 's') AND key IN \
         (SELECT key FROM session_records r JOIN sessions s USING (session) WHERE session_id = 's' LIMIT 1)",
        "UPDATE reputation_events SET confidence = 0.9",
        "UPDATE sessions SET event = NULL WHERE session_id = 's'",
    ];
    for damage in damages {
        let (scratch, clock) = (Scratch::new(), TestClock::at_noon());
        let store = open(scratch.path(), &clock);
        send(&store, "a", &[prompt("s", 1, -60 * MINUTE), tool("s", 2, -59 * MINUTE, "Edit", true)]);
        send(&store, "a", &[call("other", 1, 0, "0.05"), tool("other", 2, 0, "Edit", true)]);
        clock.turn(5000);
        closed(&store);
        drop(store);
        verify(scratch.path()).unwrap();
        let database = behind_the_back(&scratch.join(FILE));
        assert!(database.execute(damage, []).unwrap() > 0, "{damage}");
        drop(database);
        let difference = verify(scratch.path()).expect_err(damage);
        assert!(difference.to_string().contains("session \"s\""), "{difference}");
        let store = open(scratch.path(), &clock);
        assert_eq!(wait(store.repair()).unwrap().sessions, 1, "{damage}");
        drop(store);
        verify(scratch.path()).unwrap();
    }
}

/// Checks that one session is left, and that the whole file does not contain the word "doomed".
fn doomed_are_gone(scratch: &Scratch) {
    clean(&scratch.join(FILE), "a test", &clock_of(&TestClock::at_noon())).unwrap();
    assert_eq!(verify(scratch.path()).unwrap().sessions, 1);
    let bytes = std::fs::read(scratch.join(FILE)).unwrap();
    assert!(!bytes.windows(6).any(|found| found == b"doomed"), "not a byte");
}

#[test]
fn sessions_of_an_erased_agent_are_deleted_and_their_ids_are_free() {
    let (scratch, clock) = (Scratch::new(), TestClock::at_noon());
    let store = open(scratch.path(), &clock);
    let many: Vec<Value> =
        (0..1300).map(|number| tool("doomed-session", number, -60 * MINUTE, "doomed-tool", true)).collect();
    send(&store, "doomed", &many);
    send(&store, "kept", &[tool("s", 1, -60 * MINUTE, "Edit", true)]);
    clock.turn(5000);
    assert_eq!(closed(&store).len(), 2);
    assert!(wait(store.erase(&default_org(), &"doomed".parse().unwrap())).unwrap());
    assert!(find(&store, "doomed-session").is_none(), "gone at once");
    assert!(deltas(&store, "doomed").is_empty());
    // The same session again, from a client that does not know of the erasure.
    send(&store, "doomed", &many[..3]);
    assert_eq!(performance(&store, "doomed-session"), "7.5 0 3");
    while wait(store.delete_some(Retention::default())).unwrap().is_more() {}
    assert_eq!(performance(&store, "doomed-session"), "7.5 0 3");
    assert_eq!(wait(store.tombstones(&default_org())).unwrap()[0].erased, 1301, "records, and the event");
    assert!(wait(store.erase(&default_org(), &"doomed".parse().unwrap())).unwrap());
    while wait(store.delete_some(Retention::default())).unwrap().is_more() {}
    drop(store);
    doomed_are_gone(&scratch);
}

#[test]
fn retention_deletes_sessions_but_not_their_events() {
    let (scratch, clock) = (Scratch::new(), TestClock::at_noon());
    let store = open(scratch.path(), &clock);
    send(&store, "a", &[tool("old", 1, -60 * MINUTE, "Edit", true)]);
    send(&store, "a", &[tool("open", 1, 20 * 24 * 60 * MINUTE, "Edit", true)]);
    clock.turn(5000);
    closed(&store);
    clock.set(10 * 24 * 60 * MINUTE);
    send(&store, "a", &[tool("new", 1, -60 * MINUTE, "Edit", true)]);
    let retention = Retention { sessions_days: Some(5), ..Retention::default() };
    while wait(store.delete_some(retention)).unwrap().is_more() {}
    let there = ["old", "open", "new"].map(|session| find(&store, session).is_some());
    assert_eq!(there, [false, true, true]);
    assert_eq!(deltas(&store, "a"), [300_000]);
    drop(store);
    verify(scratch.path()).unwrap();
    let database = rusqlite::Connection::open(scratch.join(FILE)).unwrap();
    let left: i64 = database.query_row("SELECT count(*) FROM session_records", [], |row| row.get(0)).unwrap();
    assert_eq!(left, 2);
}

#[test]
fn beyond_100_000_open_sessions_the_longest_idle_one_is_closed() {
    let (scratch, clock) = (Scratch::new(), TestClock::at_noon());
    let store = open(scratch.path(), &clock);
    let open_at = |from: usize, to: usize, ms: i64| {
        for first in (from..to).step_by(5000) {
            let records: Vec<Value> = (first..to.min(first + 5000))
                .map(|number| tool(&format!("s{number}"), 1, ms, "Edit", true))
                .collect();
            send(&store, "a", &records);
        }
    };
    // The first session is idle for longest, until something of it arrives.
    open_at(0, 2, -2 * MINUTE);
    open_at(2, 100_000, -MINUTE);
    send(&store, "a", &[tool("s0", 2, -1000, "Edit", true)]);
    assert!(closed(&store).is_empty(), "exactly the limit");
    open_at(100_000, 100_001, -MINUTE);
    // A failed write undoes nothing that was committed before it.
    clock.fail();
    assert!(wait(store.append(&default_org(), evaluations("c", "e", 1), None)).is_err());
    clock.set(0);
    assert_eq!(closed(&store), ["s1"], "reported like any other");
    assert!(closed(&store).is_empty(), "reported once");
    assert!(
        find(&store, "s1").unwrap().closed_at.is_some() && find(&store, "s0").unwrap().closed_at.is_none()
    );
    // Sessions of an erased agent are no longer open.
    assert!(wait(store.erase(&default_org(), &"a".parse().unwrap())).unwrap());
    while wait(store.delete_some(Retention::default())).unwrap().is_more() {}
    send(&store, "b", &[tool("new", 1, -MINUTE, "Edit", true), tool("newer", 1, -MINUTE, "Edit", true)]);
    assert!(closed(&store).is_empty());
}

#[test]
fn times_of_sessions_do_not_go_back_over_a_restart() {
    let (scratch, clock) = (Scratch::new(), TestClock::at_noon());
    let store = open(scratch.path(), &clock);
    let seen = |store: &Sqlite, agent: &str| {
        wait(store.agent(&default_org(), &agent.parse().unwrap())).unwrap().unwrap().last_seen
    };
    send(&store, "a", &[tool("s", 1, -MINUTE, "Edit", true)]);
    clock.set(2 * MINUTE);
    send(&store, "a", &[tool("s", 2, -MINUTE, "Edit", true)]);
    assert_eq!(seen(&store, "a"), at(2 * MINUTE));
    drop(store);
    clock.set(MINUTE);
    let store = open(scratch.path(), &clock);
    send(&store, "b", &[tool("t", 1, -MINUTE, "Edit", true)]);
    assert_eq!(seen(&store, "b"), at(2 * MINUTE));
}

#[test]
fn times_do_not_go_back_before_the_end_of_a_session_over_a_restart() {
    let (scratch, clock) = (Scratch::new(), TestClock::at_noon());
    let store = open(scratch.path(), &clock);
    send(&store, "a", &[unknown("s", 1, 0)]);
    clock.set(40 * MINUTE);
    assert_eq!(closed(&store), ["s"]);
    assert!(events(&store, "a").is_empty(), "it has nothing to score, so only its row has the time");
    drop(store);
    clock.set(39 * MINUTE);
    let store = open(scratch.path(), &clock);
    let agent = "b".parse().unwrap();
    wait(store.add_agent(&default_org(), agent, None)).unwrap();
    let added = wait(store.agent(&default_org(), &"b".parse().unwrap())).unwrap().unwrap();
    assert_eq!(added.first_seen, at(40 * MINUTE));
    drop(store);
    verify(scratch.path()).unwrap();
}

#[test]
fn an_erased_agent_is_no_longer_named_in_the_sessions_of_others() {
    let (scratch, clock) = (Scratch::new(), TestClock::at_noon());
    let store = open(scratch.path(), &clock);
    let erase = |agent: &str| wait(store.erase(&default_org(), &agent.parse().unwrap())).unwrap();
    let delete_some = || while wait(store.delete_some(Retention::default())).unwrap().is_more() {};
    // The first agent that is named owns the session: at first `doomed-one`, and from the second record on `owner`.
    send(&store, "doomed-one", &[tool("s", 1, -50 * MINUTE, "Edit", true)]);
    send(&store, "owner", &[tool("s", 2, -60 * MINUTE, "Edit", true)]);
    let many: Vec<Value> =
        (3..6000).map(|number| tool("s", number, -40 * MINUTE + i64::from(number), "Edit", false)).collect();
    send(&store, "doomed-two", &many);
    let signals = NewSignals { agent: Some("doomed-three".parse().unwrap()), traces: Vec::new() };
    wait(store.add_signals(&default_org(), &"s".parse().unwrap(), signals, None)).unwrap();
    clock.turn(5000);
    closed(&store);
    let before = performance(&store, "s");
    for agent in ["doomed-one", "doomed-two", "doomed-three"] {
        assert!(erase(agent), "{agent}");
        delete_some();
        assert!(!erase(agent), "{agent}: once");
    }
    let found = find(&store, "s").unwrap();
    assert_eq!((found.agent.as_str(), performance(&store, "s")), ("owner", before));
    assert_eq!(deltas(&store, "owner").len(), 1);
    // A name that arrives again while it is being erased belongs to a new agent.
    send(&store, "again", &[tool("s", 7000, -30 * MINUTE, "Edit", true)]);
    assert!(erase("again"));
    send(&store, "again", &[tool("s", 7001, -70 * MINUTE, "Edit", true)]);
    delete_some();
    assert_eq!(find(&store, "s").unwrap().agent.as_str(), "again");
    clock.turn(5000);
    closed(&store);
    drop(store);
    doomed_are_gone(&scratch);
}

#[test]
fn a_session_from_the_future_is_not_listed_before_all_others() {
    let (scratch, clock) = (Scratch::new(), TestClock::at_noon());
    let store = open(scratch.path(), &clock);
    send(&store, "a", &[prompt("ahead", 1, 3650 * 24 * 60 * MINUTE)]);
    clock.turn(2000);
    send(&store, "a", &[prompt("now", 1, 1000)]);
    let query = SessionQuery { limit: 10, ..SessionQuery::default() };
    let found = wait(store.sessions(&default_org(), query)).unwrap().sessions;
    let ids: Vec<&str> = found.iter().map(|session| session.id.as_str()).collect();
    assert_eq!(ids, ["now", "ahead"]);
    assert_eq!(found[1].began_at, at(0), "when it was first seen");
}
