//! Checks of request keys: which writes are recognized, what is returned for them, and for how long.

use std::fmt::Debug;

use renown_core::ids::{AgentId, OrgId};
use renown_core::session_metrics::{Signals, Trace};
use renown_store::{
    Accepted, EvaluationOutcome, EvaluationsReceipt, KnownRequest, NewSignals, NewTrace,
    REQUEST_KEYS_KEPT_MS, Receipt, Recorded, RequestKey, Store, Submitted, WriteError,
};

use crate::support::{TestClock, default_org, evaluation, event, fresh, ids, key, request_key, run, wait};
use crate::telemetry::{batch, logs, prompt};

fn other() -> OrgId {
    "other".parse().unwrap()
}

fn agent(name: &str) -> AgentId {
    name.parse().unwrap()
}

fn known(store: &dyn Store, request_key: &RequestKey) -> Option<KnownRequest> {
    wait(store.known_request(request_key.clone())).unwrap()
}

fn is_known(store: &dyn Store, name: &str) -> bool {
    known(store, &request_key(name)).is_some()
}

/// Counts one passed evaluation per agent, with ids that begin with the name of the key.
fn append(store: &dyn Store, name: &str, agents: &[&str]) -> Accepted<Vec<EvaluationOutcome>> {
    let batch = agents.iter().map(|agent| evaluation(agent, &format!("{name}-{agent}"))).collect();
    wait(store.append(&default_org(), batch, Some(request_key(name)))).unwrap()
}

fn evaluations(accepted: Accepted<Vec<EvaluationOutcome>>) -> EvaluationsReceipt {
    let Accepted::Replayed(Receipt::Evaluations(receipt)) = accepted else { panic!("{accepted:?}") };
    receipt
}

pub(super) fn a_request_key_is_known_for_a_day_and_not_longer(store: &dyn Store, clock: &TestClock) {
    append(store, "k", &["a"]);
    for (after, there) in
        [(0, true), (REQUEST_KEYS_KEPT_MS, true), (REQUEST_KEYS_KEPT_MS + 1, false), (-1, true)]
    {
        clock.set(after);
        assert_eq!(is_known(store, "k"), there, "{after}");
    }
    clock.set(REQUEST_KEYS_KEPT_MS + 1);
    let outcomes = append(store, "k", &["a"]).fresh().expect("it has expired");
    assert!(matches!(&outcomes[..], [EvaluationOutcome::Repeated { .. }]), "but its evaluation counts once");
    assert_eq!(evaluations(append(store, "k", &["a"])).repeated, 1, "and it is known again");
}

pub(super) fn a_request_key_belongs_to_its_organization(store: &dyn Store, _: &TestClock) {
    // A request key belongs to the organization of the caller, not to the one that the API key is for.
    wait(store.create_key(key("other", 1), Some(request_key("made")))).unwrap();
    wait(store.add_agent(&default_org(), agent("a"), Some(request_key("k")))).unwrap();
    let of_other = |name: &str| RequestKey { org: other(), ..request_key(name) };
    fresh(wait(store.append(&other(), Vec::new(), Some(of_other("k")))));
    fresh(wait(store.append(&default_org(), Vec::new(), Some(request_key("ключ")))));
    fresh(wait(store.append(&default_org(), Vec::new(), Some(request_key("K")))));
    let receipt = |request_key| match known(store, &request_key) {
        Some(KnownRequest::Replayed(receipt)) => Some(receipt),
        found => {
            assert_eq!(found, None);
            None
        }
    };
    assert_eq!(receipt(request_key("made")), Some(Receipt::ApiKey(key("other", 1).id)));
    assert_eq!(receipt(of_other("made")), None);
    assert_eq!(receipt(request_key("k")), Some(Receipt::Agent { new: true }));
    let nothing = EvaluationsReceipt { counted: 0, repeated: 0, standings: Vec::new(), only: None };
    assert_eq!(receipt(of_other("k")), Some(Receipt::Evaluations(nothing)));
    assert_eq!(receipt(of_other("ключ")), None);
    assert!(receipt(request_key("ключ")).is_some() && receipt(request_key("K")).is_some());
}

/// Does a write three times with one key: at first, as a retry, and as another request. Returns the receipt of the
/// retry.
fn thrice<T: Debug + PartialEq>(
    store: &dyn Store,
    name: &str,
    write: impl Fn(RequestKey) -> Result<Accepted<T>, WriteError>,
) -> Receipt {
    let request_key = request_key(name);
    assert_eq!(known(store, &request_key), None, "{name}");
    fresh(write(request_key.clone()));
    let Accepted::Replayed(receipt) = write(request_key.clone()).unwrap() else { panic!("{name}") };
    assert_eq!(known(store, &request_key), Some(KnownRequest::Replayed(receipt.clone())), "{name}");
    let changed = RequestKey { fingerprint: [8; 32], ..request_key };
    assert_eq!(write(changed.clone()).unwrap(), Accepted::Conflict, "{name}");
    assert_eq!(known(store, &changed), Some(KnownRequest::Conflict), "{name}");
    receipt
}

pub(super) fn a_write_of_any_kind_with_a_known_key_changes_nothing(store: &dyn Store, _: &TestClock) {
    let org = default_org();
    let generated =
        |number: usize| vec![evaluation("a", &format!("e{number}")), evaluation("b", &format!("f{number}"))];
    let numbers = std::cell::Cell::new(0);
    let receipt = thrice(store, "evaluations", |key| {
        // Ids that the server generates differ between retries.
        numbers.set(numbers.get() + 1);
        wait(store.append(&org, generated(numbers.get()), Some(key)))
    });
    let Receipt::Evaluations(EvaluationsReceipt { counted: 2, repeated: 0, standings, only: None }) = receipt
    else {
        panic!("{receipt:?}")
    };
    let standings: Vec<_> = standings.iter().map(|(agent, at)| (agent.as_str(), at.eval_count)).collect();
    assert_eq!(standings, [("a", 1), ("b", 1)]);
    assert_eq!(ids(store, &org), ["f1", "e1"]);

    let receipt = thrice(store, "agent", |key| wait(store.add_agent(&org, agent("new"), Some(key))));
    assert_eq!(receipt, Receipt::Agent { new: true });
    let receipt = thrice(store, "agent again", |key| wait(store.add_agent(&org, agent("new"), Some(key))));
    assert_eq!(receipt, Receipt::Agent { new: false });

    let submit = |id: &str, key| {
        wait(store.add_run(&org, run(id, r#"{"agent_id":"a","outcome":"completed"}"#), Some(key)))
    };
    let numbers = std::cell::Cell::new(0);
    let receipt = thrice(store, "run", |key| {
        numbers.set(numbers.get() + 1);
        submit(&format!("r{}", numbers.get()), key)
    });
    let stored = wait(store.run(&org, &"r1".parse().unwrap())).unwrap().unwrap();
    assert_eq!(receipt, Receipt::Run { new: true, run: Box::new(stored.clone()) });
    let receipt = thrice(store, "run again", |key| submit("r1", key));
    assert_eq!(receipt, Receipt::Run { new: false, run: Box::new(stored) });

    let events = vec![event("a", 1, 0), event("a", 2, 0), event("a", 1, 0)];
    let receipt =
        thrice(store, "events", |key| wait(store.add_reputation_events(&org, events.clone(), Some(key))));
    assert_eq!(receipt, Receipt::ReputationEvents(Recorded { accepted: 2, duplicates: 1, refused: None }));

    // Records without a number of their own count each time.
    let records = batch(&logs("a", &[prompt("s", 1, 0)]));
    let receipt = thrice(store, "records", |key| wait(store.add_records(&org, records.clone(), Some(key))));
    assert_eq!(receipt, Receipt::Records);
    let trace = Trace { trace_id: "t".parse().unwrap(), signals: Signals::default(), source: None };
    let signals = NewSignals { agent: None, traces: vec![NewTrace { trace, started_at: None }] };
    let session = "signals".parse().unwrap();
    let receipt =
        thrice(store, "signals", |key| wait(store.add_signals(&org, &session, signals.clone(), Some(key))));
    assert_eq!(receipt, Receipt::Signals);

    let numbers = std::cell::Cell::new(0);
    let receipt = thrice(store, "api key", |request_key| {
        numbers.set(numbers.get() + 1);
        wait(store.create_key(key("default", numbers.get()), Some(request_key)))
    });
    assert_eq!(receipt, Receipt::ApiKey(key("default", 1).id));
    assert_eq!(wait(store.keys()).unwrap().len(), 1);
}

pub(super) fn of_two_writes_with_one_key_that_wait_together_one_is_done(store: &dyn Store, _: &TestClock) {
    let org = default_org();
    let send = |id: &str| store.append(&org, vec![evaluation("a", id)], Some(request_key("k")));
    let (first, second) = (send("x"), send("y"));
    let (first, second) = (wait(first).unwrap(), wait(second).unwrap());
    assert!(first.fresh().is_some());
    assert_eq!(evaluations(second).only.unwrap().id.as_str(), "x");
    assert_eq!(ids(store, &org), ["x"]);
}

pub(super) fn a_receipt_shows_what_was_accepted_not_the_current_state(store: &dyn Store, _: &TestClock) {
    append(store, "one", &["a"]);
    append(store, "batch", &["b", "a", "b"]);
    append(store, "later", &["a", "b"]);
    let receipt = evaluations(append(store, "one", &["a"]));
    let only = receipt.only.unwrap();
    assert_eq!((only.id.as_str(), only.standing.eval_count), ("one-a", 1));
    assert_eq!((receipt.counted, receipt.repeated, receipt.standings.len()), (1, 0, 1));
    let receipt = evaluations(append(store, "batch", &["b", "a", "b"]));
    assert_eq!((receipt.counted, receipt.repeated, receipt.only), (2, 1, None));
    let standings = receipt.standings.iter().map(|(agent, at)| (agent.as_str(), at.eval_count));
    assert_eq!(
        standings.collect::<Vec<_>>(),
        [("b", 1), ("a", 2)],
        "in the order of their first evaluations"
    );
}

pub(super) fn a_receipt_of_one_evaluation_shows_the_first_one_with_its_id(store: &dyn Store, _: &TestClock) {
    let org = default_org();
    fresh(wait(store.append(&org, vec![evaluation("first", "x")], None)));
    let again =
        || wait(store.append(&org, vec![evaluation("unknown", "x")], Some(request_key("k")))).unwrap();
    again().fresh().unwrap();
    let receipt = evaluations(again());
    assert_eq!(receipt.only.unwrap().agent.as_str(), "first");
    assert_eq!((receipt.counted, receipt.repeated), (0, 1));
    let (named, standing) = &receipt.standings[0];
    assert_eq!((named.as_str(), standing.eval_count), ("unknown", 0));
    assert_eq!(wait(store.agent(&org, named)).unwrap(), None, "it was not added");
}

pub(super) fn a_write_that_was_refused_keeps_no_key(store: &dyn Store, _: &TestClock) {
    let org = default_org();
    let new = |digest| renown_store::NewRun {
        digest: [digest; 32],
        ..run("r", r#"{"agent_id":"a","outcome":"failed"}"#)
    };
    fresh(wait(store.add_run(&org, new(1), None)));
    let refused = wait(store.add_run(&org, new(2), Some(request_key("k")))).unwrap();
    assert_eq!(refused, Accepted::Fresh(Submitted::Conflict));
    assert!(!is_known(store, "k"));
    let request_key = RequestKey { org: other(), ..request_key("k") };
    let error = wait(store.append(&other(), Vec::new(), Some(request_key))).unwrap_err();
    assert!(matches!(error, WriteError::NoOrganization(_)), "{error}");
    assert!(!is_known(store, "k"));
}

pub(super) fn an_erased_agent_is_removed_from_receipts_and_a_key_about_it_alone_is_forgotten(
    store: &dyn Store,
    _: &TestClock,
) {
    append(store, "alone", &["doomed"]);
    append(store, "other", &["b"]);
    append(store, "both", &["doomed", "b"]);
    wait(store.add_agent(&default_org(), agent("doomed"), Some(request_key("named")))).unwrap();
    assert!(wait(store.erase(&default_org(), &agent("doomed"))).unwrap());
    let names = ["alone", "other", "both", "named"];
    assert_eq!(names.map(|name| is_known(store, name)), [false, true, true, false]);
    let receipt = evaluations(append(store, "both", &["doomed", "b"]));
    let left: Vec<_> = receipt.standings.iter().map(|(agent, _)| agent.as_str()).collect();
    assert_eq!((receipt.counted, left), (2, vec!["b"]), "the retry still counts once");
    assert!(wait(store.erase(&default_org(), &agent("b"))).unwrap());
    assert_eq!(names.map(|name| is_known(store, name)), [false; 4]);
    assert!(append(store, "alone", &["doomed"]).fresh().is_some(), "it is a new request");
}

pub(super) fn a_key_whose_evaluation_or_run_is_gone_has_expired(store: &dyn Store, _: &TestClock) {
    let org = default_org();
    fresh(wait(store.append(&org, vec![evaluation("doomed", "x")], None)));
    let again = || wait(store.append(&org, vec![evaluation("b", "x")], Some(request_key("k")))).unwrap();
    again().fresh().unwrap();
    assert!(wait(store.erase(&org, &agent("doomed"))).unwrap());
    assert!(!is_known(store, "k"), "the evaluation that its receipt shows is gone");
    let outcomes = again().fresh().expect("a new request");
    assert!(matches!(&outcomes[..], [EvaluationOutcome::Counted { .. }]));
    assert_eq!(evaluations(again()).counted, 1);
}
