//! Questions about writes: what counts, how often, when, and for which agent.

use std::fmt::Display;

use renown_core::ids::OrgId;
use renown_core::reputation::WINDOW_SIZE;
use renown_core::time::Timestamp;
use renown_core::units::Micros;
use renown_store::{
    EvaluationOutcome, EvaluationQuery, NewEvaluationId, RequestKey, STANDSTILL_MS, Store, WriteError,
};

use crate::support::{
    TestClock, at, default_org, evaluation, evaluations, fresh, ids, key, request_key, wait,
};
use crate::telemetry::{batch, logs, prompt, unknown};

const YEAR: i64 = 365 * 24 * 60 * 60 * 1000;

fn other() -> OrgId {
    "other".parse().unwrap()
}

fn counted(outcomes: &[EvaluationOutcome]) -> Vec<bool> {
    outcomes.iter().map(|outcome| matches!(outcome, EvaluationOutcome::Counted { .. })).collect()
}

pub(super) fn the_next_read_sees_an_answered_write(store: &dyn Store, _: &TestClock) {
    let agent = "a".parse().unwrap();
    for n in 1..=20 {
        let new = evaluation("a", &format!("e{n}"));
        let answered = fresh(wait(store.append(&default_org(), vec![new], None)))[0].tally();
        let tally = wait(store.tally(&default_org(), &agent)).unwrap();
        let window = wait(store.window(&default_org(), &agent)).unwrap().tally();
        let summary = wait(store.agent(&default_org(), &agent)).unwrap().unwrap();
        assert_eq!((tally.evaluations(), answered, window, summary.tally), (n, tally, tally, tally));
    }
}

pub(super) fn the_window_is_the_last_500_in_the_order_of_acceptance(store: &dyn Store, _: &TestClock) {
    let agent = "a".parse().unwrap();
    let mut all = evaluations("a", "e", 2 * WINDOW_SIZE + 7);
    for (number, new) in all.iter_mut().enumerate() {
        new.passed = number % 7 != 3;
        new.gate_latency = Micros::from_us(number as u32 * 13).unwrap();
    }
    for batch in all.chunks(90) {
        wait(store.append(&default_org(), batch.to_vec(), None)).unwrap();
    }
    let last = &all[all.len() - WINDOW_SIZE..];
    let passed = last.iter().filter(|new| new.passed).count();
    let streak = last.iter().rev().take_while(|new| new.passed).count();
    let latency_us: u64 = last.iter().map(|new| u64::from(new.gate_latency.us())).sum();
    let tally = wait(store.tally(&default_org(), &agent)).unwrap();
    let sums = (tally.evaluations(), tally.passed(), tally.streak(), tally.latency_us());
    assert_eq!(sums, (WINDOW_SIZE as u64, passed as u64, streak as u64, latency_us));
    assert_eq!(wait(store.window(&default_org(), &agent)).unwrap().tally(), tally);
    let newest =
        wait(store.evaluations(&default_org(), EvaluationQuery { limit: 1, ..EvaluationQuery::default() }))
            .unwrap();
    assert_eq!(newest.evaluations[0].standing, tally.standing());
}

pub(super) fn an_id_counts_once_inside_a_batch(store: &dyn Store, _: &TestClock) {
    let mut again = evaluation("a", "x");
    again.passed = false;
    let batch = vec![evaluation("a", "x"), evaluation("b", "y"), again, evaluation("c", "x")];
    let outcomes = fresh(wait(store.append(&default_org(), batch, None)));
    assert_eq!(counted(&outcomes), [true, true, false, false]);
    for (index, tally_of_named) in [(2, 1), (3, 0)] {
        let EvaluationOutcome::Repeated { first, tally } = &outcomes[index] else { panic!("{index}") };
        let seen = (first.agent.as_str(), first.passed, first.standing.eval_count, tally.evaluations());
        assert_eq!(seen, ("a", true, 1, tally_of_named), "{index}");
    }
    assert_eq!(ids(store, &default_org()), ["y", "x"]);
    assert_eq!(
        wait(store.agent(&default_org(), &"c".parse().unwrap())).unwrap(),
        None,
        "a repeat does not add its agent"
    );
}

pub(super) fn an_id_counts_once_across_batches_and_agents(store: &dyn Store, clock: &TestClock) {
    let mut first = evaluation("a", "x");
    (first.passed, first.gates) = (false, r#"[{"name":"size"}]"#.into());
    wait(store.append(&default_org(), vec![first], None)).unwrap();
    wait(store.append(&default_org(), vec![evaluation("a", "y")], None)).unwrap();
    clock.turn(5000);
    let outcomes = fresh(wait(store.append(&default_org(), vec![evaluation("b", "x")], None)));
    let EvaluationOutcome::Repeated { first, tally } = &outcomes[0] else { panic!("counted twice") };
    let seen =
        (first.agent.as_str(), first.passed, &*first.gates, first.standing.eval_count, first.accepted_at);
    assert_eq!(
        seen,
        ("a", false, r#"[{"name":"size"}]"#, 1, at(0)),
        "the first result, not the current state"
    );
    assert_eq!(tally.evaluations(), 0);
    let summary = wait(store.agent(&default_org(), &"a".parse().unwrap())).unwrap().unwrap();
    assert_eq!((summary.tally.evaluations(), summary.last_seen), (2, at(0)));
}

pub(super) fn an_id_counts_once_in_each_organization(store: &dyn Store, _: &TestClock) {
    wait(store.create_key(key("other", 1), None)).unwrap();
    for org in [default_org(), other()] {
        for expected in [true, false] {
            let outcomes = fresh(wait(store.append(&org, vec![evaluation("a", "x")], None)));
            assert_eq!(counted(&outcomes), [expected], "{org}");
            assert_eq!(outcomes[0].tally().evaluations(), 1, "{org}");
        }
        assert_eq!(ids(store, &org), ["x"], "{org}");
    }
}

pub(super) fn an_empty_batch_adds_no_evidence(store: &dyn Store, _: &TestClock) {
    assert_eq!(fresh(wait(store.append(&default_org(), Vec::new(), Some(request_key("k"))))), []);
    assert!(wait(store.known_request(request_key("k"))).unwrap().is_some(), "but its key is known");
    assert_eq!(ids(store, &default_org()).len(), 0);
}

fn refused<T, E: Display>(result: Result<T, E>) {
    assert_eq!(result.err().unwrap().to_string(), "there is no organization \"other\"");
}

pub(super) fn an_unknown_organization_is_refused_and_nothing_is_added(store: &dyn Store, _: &TestClock) {
    let (org, agent) = (other(), "a".parse().unwrap());
    refused(wait(store.append(&org, vec![evaluation("a", "x")], Some(request_key("k")))));
    refused(wait(store.add_agent(&org, agent, None)));
    let agent = "a".parse().unwrap();
    refused(wait(store.tally(&org, &agent)));
    refused(wait(store.window(&org, &agent)));
    refused(wait(store.agent(&org, &agent)));
    refused(wait(store.evaluations(&org, EvaluationQuery::default())));
    refused(wait(store.agents(&org, renown_store::AgentQuery::default())));
    let of_other = RequestKey { org: org.clone(), ..request_key("k") };
    refused(wait(store.known_request(of_other.clone())));
    refused(wait(store.revoke_key(&org, key("other", 1).id)));
    let steps = renown_store::HistorySteps::new(at(0), at(1), 1).unwrap();
    refused(wait(store.history(&org, &agent, steps)));
    wait(store.create_key(key("other", 1), None)).unwrap();
    assert_eq!(ids(store, &org).len(), 0);
    assert_eq!(wait(store.known_request(of_other)).unwrap(), None);
}

pub(super) fn a_clock_that_is_set_back_by_a_little_moves_no_time_backwards(
    store: &dyn Store,
    clock: &TestClock,
) {
    for (number, (now_ms, expected)) in
        [(0, 0), (-3_600_000, 0), (7, 7), (6, 7), (8, 8)].into_iter().enumerate()
    {
        clock.set(now_ms);
        wait(store.append(&default_org(), vec![evaluation("a", &format!("e{number}"))], None)).unwrap();
        let page = wait(
            store.evaluations(&default_org(), EvaluationQuery { limit: 1, ..EvaluationQuery::default() }),
        )
        .unwrap();
        let newest = &page.evaluations[0];
        assert_eq!((newest.accepted_at, newest.created_at), (at(expected), at(expected)), "{now_ms}");
    }
}

pub(super) fn a_clock_that_jumps_ahead_is_followed_there_and_back(store: &dyn Store, clock: &TestClock) {
    for (number, (now_ms, expected)) in [
        (0, 0),
        (YEAR, YEAR),
        (1000, YEAR),
        (1000 + STANDSTILL_MS - 1, YEAR),
        (1000 + STANDSTILL_MS, 1000 + STANDSTILL_MS),
        (YEAR / 2, YEAR / 2),
    ]
    .into_iter()
    .enumerate()
    {
        clock.set(now_ms);
        wait(store.append(&default_org(), vec![evaluation("a", &format!("e{number}"))], None)).unwrap();
        let page = wait(
            store.evaluations(&default_org(), EvaluationQuery { limit: 1, ..EvaluationQuery::default() }),
        )
        .unwrap();
        assert_eq!(page.evaluations[0].accepted_at, at(expected), "{now_ms}");
        let standstill = (now_ms < expected).then_some(at(expected));
        assert_eq!(wait(store.ready()).unwrap().standstill, standstill, "{now_ms}");
    }
    assert_eq!(ids(store, &default_org()), ["e5", "e4", "e3", "e2", "e1", "e0"], "the order of acceptance");
}

pub(super) fn a_session_that_was_seen_ahead_of_time_is_closed_in_time(store: &dyn Store, clock: &TestClock) {
    let send = |number: u32, event: i64| {
        let records = batch(&logs("a", &[prompt("ahead", number, event)]));
        wait(store.add_records(&default_org(), records, None)).unwrap();
    };
    clock.set(YEAR);
    send(1, YEAR);
    clock.set(0);
    send(2, 0);
    clock.set(STANDSTILL_MS);
    assert!(wait(store.close_sessions()).unwrap().is_empty());
    clock.set(STANDSTILL_MS + 30 * 60_000 - 1);
    assert!(wait(store.close_sessions()).unwrap().is_empty());
    clock.set(STANDSTILL_MS + 30 * 60_000);
    assert_eq!(wait(store.close_sessions()).unwrap().len(), 1);
}

pub(super) fn a_session_that_was_closed_ahead_of_time_is_closed_now(store: &dyn Store, clock: &TestClock) {
    clock.set(YEAR);
    let records = batch(&logs("a", &[unknown("ahead", 1, YEAR)]));
    wait(store.add_records(&default_org(), records, None)).unwrap();
    let end = YEAR + 31 * 60_000;
    clock.set(end);
    assert_eq!(wait(store.close_sessions()).unwrap().len(), 1);
    let closed_at = || {
        let found = wait(store.session(&default_org(), &"ahead".parse().unwrap(), false)).unwrap();
        found.unwrap().closed_at
    };
    assert_eq!(closed_at(), Some(at(end)));
    for (now_ms, expected) in [(0, end), (STANDSTILL_MS, STANDSTILL_MS)] {
        clock.set(now_ms);
        wait(store.ready()).unwrap();
        assert_eq!(closed_at(), Some(at(expected)), "{now_ms}");
    }
}

pub(super) fn a_clock_that_cannot_be_right_refuses_writes_and_nothing_else(
    store: &dyn Store,
    clock: &TestClock,
) {
    let append = |id: &str| wait(store.append(&default_org(), vec![evaluation("a", id)], None));
    append("e0").unwrap();
    clock.fail();
    for id in ["e1", "e2"] {
        let error = append(id).unwrap_err();
        assert!(matches!(error, WriteError::Clock(_)), "{error}");
        assert_eq!(
            error.to_string(),
            "the system clock shows 1970-01-01, expected 2026-11-01 to 2099-12-31: set the clock"
        );
    }
    assert!(matches!(wait(store.ready()), Err(WriteError::Clock(_))));
    assert_eq!(ids(store, &default_org()), ["e0"], "reads go on");
    clock.set(1);
    append("e2").unwrap();
    assert_eq!(ids(store, &default_org()), ["e2", "e0"]);
}

pub(super) fn sent_times_are_kept_in_milliseconds(store: &dyn Store, _: &TestClock) {
    let times = [Timestamp::MIN, Timestamp::MAX, Timestamp::from_nanos(at(0).nanos() + 1_999_999).unwrap()];
    let expected = [Timestamp::MIN, Timestamp::MAX, at(1)];
    for (number, time) in times.into_iter().enumerate() {
        let mut new = evaluation("a", &format!("e{number}"));
        new.timestamp = Some(time);
        wait(store.append(&default_org(), vec![new], None)).unwrap();
    }
    let page =
        wait(store.evaluations(&default_org(), EvaluationQuery { limit: 9, ..EvaluationQuery::default() }))
            .unwrap();
    let mut created: Vec<Timestamp> = page.evaluations.iter().map(|event| event.created_at).collect();
    created.reverse();
    assert_eq!(created, expected);
    assert!(page.evaluations.iter().all(|event| event.accepted_at == at(0)));
}

pub(super) fn an_agent_is_new_once(store: &dyn Store, clock: &TestClock) {
    let (named, met) = ("named".parse().unwrap(), "met".parse().unwrap());
    assert!(fresh(wait(store.add_agent(&default_org(), named, None))));
    wait(store.append(&default_org(), vec![evaluation("met", "x")], None)).unwrap();
    clock.set(10);
    assert!(!fresh(wait(store.add_agent(&default_org(), "named".parse().unwrap(), None))));
    assert!(!fresh(wait(store.add_agent(&default_org(), met, None))));
    let summary = wait(store.agent(&default_org(), &"named".parse().unwrap())).unwrap().unwrap();
    assert_eq!((summary.first_seen, summary.last_seen, summary.tally.evaluations()), (at(0), at(0), 0));
    wait(store.append(&default_org(), vec![evaluation("named", "y")], None)).unwrap();
    let summary = wait(store.agent(&default_org(), &"named".parse().unwrap())).unwrap().unwrap();
    assert_eq!((summary.first_seen, summary.last_seen, summary.tally.evaluations()), (at(0), at(10), 1));
}

pub(super) fn keys_are_listed_used_and_revoked_in_their_organization(store: &dyn Store, clock: &TestClock) {
    let org = default_org();
    let mut first = key("default", 2);
    first.label = Some("naïve ✓ 'quoted'".to_owned());
    let made = fresh(wait(store.create_key(first.clone(), None)));
    clock.set(1);
    // Its id sorts before that of the first key; the older key still comes first.
    fresh(wait(store.create_key(key("default", 1), None)));
    assert_eq!((made.key, made.created_at, made.revoked_at), (first.clone(), at(0), None));
    clock.set(2);
    assert!(wait(store.revoke_key(&org, first.id)).unwrap());
    clock.set(3);
    assert!(wait(store.revoke_key(&org, first.id)).unwrap(), "it still exists");
    assert!(!wait(store.revoke_key(&org, key("default", 9).id)).unwrap());
    let used = Timestamp::from_nanos(at(60_000).nanos() + 5).unwrap();
    wait(store.touch_keys(vec![(first.id, used), (key("default", 9).id, used)])).unwrap();
    let keys = wait(store.keys()).unwrap();
    let seen: Vec<_> = keys.iter().map(|key| (key.key.hash[0], key.last_used_at, key.revoked_at)).collect();
    assert_eq!(seen, [(2, Some(at(60_000)), Some(at(2))), (1, None, None)]);
    assert_eq!(keys[0].key, first);
}

pub(super) fn a_key_adds_its_organization(store: &dyn Store, clock: &TestClock) {
    wait(store.create_key(key("other", 1), None)).unwrap();
    wait(store.create_key(key("other", 2), None)).unwrap();
    assert!(!wait(store.revoke_key(&default_org(), key("other", 1).id)).unwrap(), "of another organization");
    assert!(wait(store.revoke_key(&other(), key("other", 1).id)).unwrap());
    let mut made = evaluation("a", "made-here");
    made.id = NewEvaluationId::Generated("made-here".parse().unwrap());
    wait(store.append(&other(), vec![made.clone()], None)).unwrap();
    clock.turn(1000);
    assert_eq!(counted(&fresh(wait(store.append(&other(), vec![made], None)))), [false], "by chance");
    assert_eq!(ids(store, &default_org()).len(), 0);
    wait(store.ready()).unwrap();
}
