//! Sessions: what arrives, when they are over, and what they become.

use renown_core::identity::Category;
use renown_telemetry::dialect::Agent;
use renown_telemetry::facts::{Fact, Signal, Sourced};

use super::*;

const NOON: i64 = 1_794_744_000_000;
const MINUTE: i64 = 60_000;

fn at(ms: i64) -> Timestamp {
    Timestamp::from_millis(NOON + ms).unwrap()
}

fn org() -> OrgId {
    "default".parse().unwrap()
}

fn session() -> SessionId {
    "s".parse().unwrap()
}

fn agent(name: &str) -> AgentId {
    name.parse().unwrap()
}

fn origin(agent: &str, at: Option<Timestamp>) -> RecordOrigin<&str> {
    let agent_id = if agent.is_empty() { UNKNOWN_AGENT_ID } else { Sourced { rank: 0, value: agent } };
    RecordOrigin {
        session: "s",
        signal: Signal::Logs,
        at,
        until: None,
        sequence: None,
        repeat: None,
        agent: Sourced { rank: 0, value: Agent::Unknown },
        agent_id,
        masque: None,
        known: true,
    }
}

/// The fold of one successful tool call of an agent; of an unnamed one if the name is empty.
fn ledger(agent: &str) -> Session {
    let mut ledger = Session::new("s");
    let fact = Fact::ToolResult { tool: Some("sh"), ok: Some(true), duration_us: None, error_type: None };
    ledger.add_record(&origin(agent, Some(at(0))), &[fact], |_| true);
    ledger
}

fn arrive(
    state: &mut SessionState,
    ledger: Option<&Session>,
    arrival: Arrival,
    now: Timestamp,
) -> SessionChange {
    state.arrive((&org(), &session()), ledger, arrival, now).unwrap()
}

/// A session of an agent that was closed at noon, with an event if it has a position.
fn closed(name: &str, event: Option<i64>) -> SessionState {
    let (agent, event) = (Some(agent(name)), event.map(Position::of));
    SessionState { agent, event, closed_at: Some(at(0)), ..SessionState::new(at(-MINUTE)) }
}

#[test]
fn records_open_a_session_and_signals_do_not() {
    let mut state = SessionState::new(at(0));
    let change = arrive(&mut state, None, Arrival::Signals, at(0));
    assert_eq!((state.is_open, change.check_at), (false, None), "only signals");
    state.add_record(&origin("a", Some(at(0))), at(1));
    let change = arrive(&mut state, Some(&ledger("a")), Arrival::Records, at(1));
    assert_eq!((state.is_open, change.check_at), (true, Some(at(30 * MINUTE))), "opened");
    let change = arrive(&mut state, Some(&ledger("a")), Arrival::Records, at(2));
    assert_eq!((state.is_open, change.check_at, state.last_seen), (true, None, at(2)), "it was open");
    state.close((&org(), &session()), at(3)).unwrap();
    let change = arrive(&mut state, Some(&ledger("a")), Arrival::Records, at(4));
    assert_eq!((state.is_open, change.check_at.is_some()), (true, true), "opened again");
}

#[test]
fn a_session_has_the_agent_of_its_records_else_that_of_its_signals_else_none() {
    for (records, signals, expected) in [
        (Some("r"), Some("s"), "r"),
        (Some("r"), None, "r"),
        (Some(""), Some("s"), "s"),
        (Some(""), None, "unknown"),
        (None, Some("s"), "s"),
        (None, None, "unknown"),
    ] {
        let mut state = SessionState::new(at(0));
        state.add_signal_agent(signals.map(agent));
        let ledger = records.map(ledger);
        let change = arrive(&mut state, ledger.as_ref(), Arrival::Records, at(0));
        let label = format!("records {records:?}, signals {signals:?}");
        assert_eq!((change.agent.as_str(), state.agent), (expected, Some(agent(expected))), "{label}");
        assert_eq!(change.event_id.is_some(), records.is_some(), "{label}");
    }
}

#[test]
fn signals_without_an_agent_keep_the_one_before() {
    let mut state = SessionState::new(at(0));
    for (sent, expected) in [(None, None), (Some("x"), Some("x")), (None, Some("x")), (Some("y"), Some("y"))]
    {
        state.add_signal_agent(sent.map(agent));
        assert_eq!(state.signal_agent, expected.map(agent));
    }
}

#[test]
fn an_event_is_written_again_when_its_agent_changes_or_signals_come_late() {
    for (label, mut state, arrival, expected) in [
        ("open, no event", SessionState { is_open: true, ..closed("a", None) }, Arrival::Records, false),
        ("the same agent", closed("a", Some(1)), Arrival::Records, false),
        ("another agent", closed("b", Some(1)), Arrival::Records, true),
        ("another agent, but no event", closed("b", None), Arrival::Records, false),
        ("signals of a closed one", closed("a", Some(1)), Arrival::Signals, true),
        (
            "signals of an open one",
            SessionState { is_open: true, ..closed("a", Some(1)) },
            Arrival::Signals,
            false,
        ),
        (
            "signals change the agent",
            SessionState { is_open: true, ..closed("b", Some(1)) },
            Arrival::Signals,
            true,
        ),
    ] {
        let change = arrive(&mut state, Some(&ledger("a")), arrival, at(5));
        assert_eq!(change.rewrites_event, expected, "{label}");
    }
}

#[test]
fn a_session_is_over_when_it_was_idle_for_half_an_hour_and_quiet_for_five_seconds() {
    for (last_event, last_seen, expected, label) in [
        (0, 0, 30 * MINUTE, "half an hour after the last event"),
        (0, 30 * MINUTE - 5000, 30 * MINUTE, "which is five seconds after the last arrival"),
        (0, 30 * MINUTE - 4999, 30 * MINUTE + 1, "but not before"),
        (-60 * MINUTE, 0, 5000, "an old event arrived now"),
    ] {
        let state = SessionState {
            is_open: true,
            last_event: at(last_event),
            last_seen: at(last_seen),
            ..SessionState::new(at(0))
        };
        assert_eq!(state.over_at(), at(expected), "{label}");
        assert_eq!(state.check(false, at(expected - 1)), Check::Later(at(expected)), "{label}");
        assert_eq!(state.check(false, at(expected)), Check::Close, "{label}");
        assert_eq!(state.check(true, at(expected - 1)), Check::Close, "too many are open: {label}");
    }
}

#[test]
fn a_record_counts_at_its_end_but_never_later_than_it_arrived() {
    for (started, ended, expected, label) in [
        (None, None, 7, "without a time: when it arrived"),
        (Some(1), None, 1, "its time"),
        (Some(1), Some(3), 3, "the end of a span"),
        (Some(9), None, 7, "a time in the future"),
        (Some(1), Some(9), 7, "an end in the future"),
    ] {
        let mut state = SessionState::new(at(0));
        let origin = RecordOrigin { until: ended.map(at), ..origin("a", started.map(at)) };
        state.add_record(&origin, at(7));
        assert_eq!(state.last_event, at(expected), "{label}");
        state.add_record(&self::origin("a", Some(at(-9))), at(7));
        assert_eq!(state.last_event, at(expected), "an earlier record changes nothing: {label}");
    }
}

#[test]
fn a_session_began_with_its_first_event_but_never_after_its_first_arrival() {
    for (first, expected) in [(None, 0), (Some(-5), -5), (Some(5), 0)] {
        assert_eq!(began_at(first.map(at), at(0)), at(expected), "{first:?}");
    }
}

#[test]
fn beyond_the_limit_the_rest_is_closed() {
    for (open, expected) in [(0, 0), (100_000, 0), (100_001, 1), (100_500, 500)] {
        assert_eq!(excess(open), expected, "{open} open");
    }
}

#[test]
fn a_closed_session_is_news_and_becomes_one_event_of_its_agent() {
    let mut state = SessionState { is_open: true, ..closed("a", Some(4)) };
    let news = state.close((&org(), &session()), at(9)).unwrap();
    assert_eq!(news, Closed { org: org(), session: session(), agent: agent("a") });
    assert_eq!((state.is_open, state.closed_at), (false, Some(at(9))));
    let ledger = ledger("a");
    let SessionEvent { identity, event } = state.reputation_event(&org(), Some(&ledger), at(9)).unwrap();
    assert_eq!(identity, identity_of(&org(), &agent("a")));
    assert_eq!(event.event_id, event_id(&org(), &agent("a"), &session()));
    assert_eq!(
        (event.category, event.timestamp),
        (Category::TaskQuality, at(0)),
        "it happened when the session ended"
    );
    assert_eq!(state.event, Some(Position::of(4)), "the one before is left to the engine to delete");

    assert!(state.reputation_event(&org(), None, at(9)).is_none(), "no records");
    assert!(state.reputation_event(&org(), Some(&Session::new("s")), at(9)).is_none(), "nothing to score");
    let mut unowned = SessionState::new(at(0));
    assert!(matches!(unowned.close((&org(), &session()), at(9)), Err(StoreError::Bug(_))));
}

#[test]
fn when_times_go_back_open_sessions_and_closed_ones_without_an_event_go_back_with_them() {
    let ahead = |is_open, event: Option<i64>| SessionState {
        is_open,
        last_seen: at(9),
        last_event: at(8),
        closed_at: Some(at(7)),
        event: event.map(Position::of),
        ..SessionState::new(at(6))
    };
    for (is_open, event, expected, label) in [
        (true, None, (2, 2, 2), "open"),
        (true, Some(1), (2, 2, 7), "opened again: its event has the time at which it was closed"),
        (false, None, (9, 8, 2), "closed"),
        (false, Some(1), (9, 8, 7), "closed, with an event"),
    ] {
        let mut state = ahead(is_open, event);
        state.move_back(at(2));
        let (last_seen, last_event, closed_at) = expected;
        let expected = (at(last_seen), at(last_event), Some(at(closed_at)));
        assert_eq!((state.last_seen, state.last_event, state.closed_at), expected, "{label}");
        let before = ahead(is_open, event);
        state = before.clone();
        state.move_back(at(99));
        assert_eq!(
            (state.last_seen, state.closed_at),
            (before.last_seen, before.closed_at),
            "{label}: only back"
        );
    }
}

#[test]
fn an_account_counts_each_record_once() {
    let mut received = Received::new(Account { records: 3, ..Account::default() });
    received.add_session();
    assert!(received.add_record(&origin("a", Some(at(0))), 2, false));
    assert!(!received.add_record(&origin("a", None), 5, true), "a duplicate changes nothing");
    assert!(received.add_record(&RecordOrigin { known: false, ..origin("a", None) }, 0, false));
    let expected = Account {
        records: 3,
        sessions: 1,
        facts: 2,
        duplicates: 1,
        unknown_events: 1,
        no_time: 1,
        ..Account::default()
    };
    assert_eq!(received.account(), expected);
}
