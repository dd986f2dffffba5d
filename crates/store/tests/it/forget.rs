//! Erased agents leave no trace, not even in the bytes of the file. Retention deletes old evidence without changing
//! a score.

use renown_core::identity::identity_of;
use renown_core::ids::AgentId;
use renown_store::sqlite::FILE;
use renown_store::{
    Control, Cursor, EvaluationOutcome, EvaluationQuery, Evidence, Position, PublicationChange, Reads,
    Retention, RunQuery, Store, Submitted, Upkeep,
};

use crate::support::{
    Scratch, TestClock, at, behind_the_back, default_org, evaluation, evaluations, event, fresh, ids,
    occurrences, open, request_key, run, verify, wait, wait_clean,
};

const DAY_MS: i64 = 86_400_000;

/// Writes every kind of evidence of an agent, each with its name in it.
fn write(store: &dyn Store, agent: &str, evaluations_count: usize) {
    let org = default_org();
    wait(store.append(&org, evaluations(agent, &format!("evaluation-{agent}"), evaluations_count), None))
        .unwrap();
    let one = vec![evaluation(agent, &format!("replied-{agent}"))];
    wait(store.append(&org, one, Some(request_key(&format!("key-of-{}", agent.len()))))).unwrap();
    for number in 0..30 {
        let text = format!(
            r#"{{"agent_id":"{agent}","outcome":"completed","wall_ms":{},"spec_id":"login","branch":"branch-{agent}","attributes":{{"a":"attribute-{agent}"}}}}"#,
            1000 + number
        );
        wait(store.add_run(&org, run(&format!("run-{agent}-{number}"), &text), None)).unwrap();
    }
    let events = (0..700).map(|number| event(agent, agent.len() as i64 * 1000 + number, -60_000 * number));
    wait(store.add_reputation_events(&org, events.collect(), None)).unwrap();
    let publication = PublicationChange {
        public: Some(true),
        spare: None,
        slug: Some(format!("slug-{agent}").parse().unwrap()),
    };
    wait(store.publish(&org, &agent.parse().unwrap(), publication)).unwrap();
}

/// Describes what can be seen of an agent.
fn seen(store: &dyn Store, agent: &str) -> String {
    let (org, agent): (_, AgentId) = (default_org(), agent.parse().unwrap());
    let query = RunQuery { agent: Some(agent.clone()), limit: 100, ..RunQuery::default() };
    let identity = identity_of(&org, &agent);
    format!(
        "{:?} {:?} {:?} {:?} {:?}",
        wait(store.tally(&org, &agent)).unwrap(),
        wait(store.runs(&org, query)).unwrap().runs,
        wait(store.identity_windows(&org, identity, at(0))).unwrap(),
        wait(store.reputation_events(&org, identity, None, 5000)).unwrap().events,
        wait(store.publication(&org, &agent)).unwrap(),
    )
}

fn delete_some(store: &dyn Store, retention: Retention) {
    while wait(store.delete_some(retention)).unwrap().is_more() {}
}

#[test]
fn nothing_of_an_erased_agent_is_left_and_others_stay_as_they_are() {
    let (scratch, clock) = (Scratch::new(), TestClock::at_noon());
    let store = open(scratch.path(), &clock);
    write(&*store, "doomed-agent", 1300);
    write(&*store, "kept", 40);
    write(&*store, "doomed-agent", 0);
    let kept = seen(&*store, "kept");
    assert!(occurrences(scratch.path(), "doomed-agent") > 1000);

    assert!(wait(store.erase(&default_org(), &"doomed-agent".parse().unwrap())).unwrap());
    assert!(!seen(&*store, "doomed-agent").contains("doomed"), "it is invisible at once");
    assert!(ids(&*store, &default_org()).iter().all(|id| !id.contains("doomed")));
    // The name may come back as a new agent before everything is deleted.
    fresh(wait(store.append(&default_org(), vec![evaluation("doomed-agent", "new-life")], None)));
    delete_some(&*store, Retention::default());
    assert_eq!(wait(store.tally(&default_org(), &"doomed-agent".parse().unwrap())).unwrap().evaluations(), 1);
    assert!(wait(store.erase(&default_org(), &"doomed-agent".parse().unwrap())).unwrap());
    delete_some(&*store, Retention::default());
    assert_eq!(seen(&*store, "kept"), kept);
    let tombstones = wait(store.tombstones(&default_org())).unwrap();
    assert_eq!(tombstones.iter().map(|tombstone| tombstone.erased).collect::<Vec<_>>(), [1, 1301 + 30 + 700]);
    assert!(tombstones.iter().all(|tombstone| tombstone.done_at.is_some()));
    assert!(
        !wait(store.erase(&default_org(), &"doomed-agent".parse().unwrap())).unwrap(),
        "it does not exist any more"
    );
    wait_clean(scratch.path());
    assert_eq!(occurrences(scratch.path(), "doomed"), 0, "not a byte, while the store runs");
    drop(store);
    verify(scratch.path()).unwrap();
    assert_eq!(occurrences(scratch.path(), "doomed"), 0, "not a byte");
    assert!(occurrences(scratch.path(), "evaluation-kept") > 0);
}

#[test]
fn an_interrupted_erasure_continues_after_a_restart() {
    let (scratch, clock) = (Scratch::new(), TestClock::at_noon());
    let store = open(scratch.path(), &clock);
    write(&*store, "doomed-agent", 1300);
    wait(store.erase(&default_org(), &"doomed-agent".parse().unwrap())).unwrap();
    assert!(wait(store.delete_some(Retention::default())).unwrap().is_more());
    drop(store);
    verify(scratch.path()).unwrap();
    assert!(occurrences(scratch.path(), "doomed") > 0);
    let store = open(scratch.path(), &clock);
    // The last position was of an erased evaluation, and is not used again.
    let before =
        wait(store.evaluations(&default_org(), EvaluationQuery { limit: 1, ..EvaluationQuery::default() }))
            .unwrap();
    assert!(before.evaluations.is_empty());
    wait(store.append(&default_org(), vec![evaluation("other", "after")], None)).unwrap();
    let after =
        wait(store.evaluations(&default_org(), EvaluationQuery { limit: 1, ..EvaluationQuery::default() }))
            .unwrap();
    let unused = Position::from_text("515").unwrap();
    assert!(after.evaluations[0].position >= unused, "{:?}", after.evaluations[0].position);
    delete_some(&*store, Retention::default());
    wait_clean(scratch.path());
    drop(store);
    verify(scratch.path()).unwrap();
    assert_eq!(occurrences(scratch.path(), "doomed"), 0);
}

#[test]
fn retention_keeps_windows_and_baselines_and_changes_no_score() {
    let (scratch, clock) = (Scratch::new(), TestClock::at_noon());
    let store = open(scratch.path(), &clock);
    let org = default_org();
    // An agent with more than a window of old evaluations, and one with few.
    for (agent, count) in [("many", 1200), ("few", 30)] {
        let mut all = evaluations(agent, agent, count);
        for (number, new) in all.iter_mut().enumerate() {
            new.passed = number % 7 != 0;
        }
        wait(store.append(&org, all, None)).unwrap();
    }
    for number in 0..50 {
        let text = format!(r#"{{"agent_id":"many","outcome":"completed","wall_ms":{}}}"#, 1000 + 10 * number);
        wait(store.add_run(&org, run(&format!("r{number}"), &text), None)).unwrap();
    }
    for (id, agent) in [("failed", "many"), ("first", "unlucky"), ("second", "unlucky")] {
        let text = format!(r#"{{"agent_id":"{agent}","outcome":"failed"}}"#);
        wait(store.add_run(&org, run(id, &text), None)).unwrap();
    }
    let tallies = || ["many", "few"].map(|agent| wait(store.tally(&org, &agent.parse().unwrap())).unwrap());
    let before = tallies();

    clock.set(10 * DAY_MS);
    wait(store.append(&org, vec![evaluation("few", "late")], None)).unwrap();
    let after_late = tallies();
    let retention = Retention { evaluations_days: Some(5), runs_days: Some(5), ..Retention::default() };
    delete_some(&*store, retention);
    assert_eq!((tallies(), tallies()[0]), (after_late, before[0]));
    let left = ids(&*store, &org);
    assert_eq!(left.iter().filter(|id| id.starts_with("many")).count(), 500, "a window");
    assert_eq!(left.iter().filter(|id| id.starts_with("few") || *id == "late").count(), 31);
    let runs = wait(store.runs(&org, RunQuery { limit: 100, ..RunQuery::default() })).unwrap().runs;
    let others: Vec<&str> =
        runs.iter().map(|run| run.id.as_str()).filter(|id| !id.starts_with('r')).collect();
    assert_eq!(
        (runs.len() - others.len(), others),
        (20, vec!["second", "failed"]),
        "a baseline, and the last of an agent"
    );
    let Submitted::New(next) = fresh(wait(store.add_run(
        &org,
        run("next", r#"{"agent_id":"few","outcome":"completed","wall_ms":1395}"#),
        None,
    ))) else {
        panic!()
    };
    let scored = next.scored.unwrap();
    assert_eq!((scored.axes.latency, scored.baseline.runs()), (80, 20), "the median of 1300 to 1490 is 1395");
    // The window continues with what is left, also after a restart.
    drop(store);
    verify(scratch.path()).unwrap();
    let store = open(scratch.path(), &clock);
    wait(store.append(&org, evaluations("many", "more", 20), None)).unwrap();
    let window = wait(store.window(&org, &"many".parse().unwrap())).unwrap();
    assert_eq!(window.tally(), wait(store.tally(&org, &"many".parse().unwrap())).unwrap());
    drop(store);
    verify(scratch.path()).unwrap();
}

#[test]
fn evidence_that_is_sent_again_during_an_erasure_belongs_to_a_new_agent() {
    let (scratch, clock) = (Scratch::new(), TestClock::at_noon());
    let store = open(scratch.path(), &clock);
    let (org, doomed) = (default_org(), "doomed".parse().unwrap());
    write(&*store, "doomed", 1300);
    write(&*store, "kept-one", 40);
    assert!(wait(store.erase(&org, &doomed)).unwrap());
    // A client that does not know of the erasure sends everything again, while others write.
    let again = evaluations("doomed", "evaluation-doomed", 1300);
    let outcomes = fresh(wait(store.append(&org, again, None)));
    assert!(outcomes.iter().all(|outcome| matches!(outcome, EvaluationOutcome::Counted { .. })));
    let text = r#"{"agent_id":"doomed","outcome":"failed"}"#;
    let submitted = fresh(wait(store.add_run(&org, run("run-doomed-3", text), None)));
    assert!(matches!(submitted, Submitted::New(_)), "{submitted:?}");
    let events = (0..10).map(|number| event("doomed", 6000 + number, 0));
    let recorded = fresh(wait(store.add_reputation_events(&org, events.collect(), None)));
    assert_eq!((recorded.accepted, recorded.duplicates), (10, 0));
    delete_some(&*store, Retention::default());
    let tombstones = wait(store.tombstones(&org)).unwrap();
    assert_eq!(tombstones[0].erased, 1301 + 30 + 700, "each is counted once");
    let query = RunQuery { agent: Some(doomed.clone()), limit: 100, ..RunQuery::default() };
    assert_eq!(wait(store.runs(&org, query)).unwrap().runs.len(), 1);
    let identity = identity_of(&org, &doomed);
    assert_eq!(wait(store.reputation_events(&org, identity, None, 5000)).unwrap().events.len(), 10);
    drop(store);
    assert_eq!(verify(scratch.path()).unwrap().evaluations, 1300 + 41);
}

#[test]
fn a_key_whose_run_or_evaluation_was_deleted_by_retention_has_expired() {
    let (scratch, clock) = (Scratch::new(), TestClock::at_noon());
    let store = open(scratch.path(), &clock);
    let org = default_org();
    let is_known = |name: &str| wait(store.known_request(request_key(name))).unwrap().is_some();
    let run_of = |id: &str| run(id, r#"{"agent_id":"a","outcome":"failed"}"#);
    fresh(wait(store.append(&org, vec![evaluation("a", "old")], None)));
    fresh(wait(store.append(&org, evaluations("a", "more", 500), None)));
    fresh(wait(store.add_run(&org, run_of("old"), None)));
    fresh(wait(store.add_run(&org, run_of("last"), None)));
    clock.set(10 * DAY_MS);
    let again = || wait(store.append(&org, vec![evaluation("a", "old")], Some(request_key("evaluation"))));
    fresh(again());
    let submit = || wait(store.add_run(&org, run_of("old"), Some(request_key("run"))));
    assert!(matches!(fresh(submit()), Submitted::Repeated(_)));
    assert!(is_known("evaluation") && is_known("run"));
    let retention = Retention { evaluations_days: Some(5), runs_days: Some(5), ..Retention::default() };
    delete_some(&*store, retention);
    assert!(!is_known("evaluation") && !is_known("run"));
    assert!(matches!(fresh(again())[..], [EvaluationOutcome::Counted { .. }]), "it is a new request");
    assert!(matches!(fresh(submit()), Submitted::New(_)), "it is a new request");
    drop(store);
    verify(scratch.path()).unwrap();
}

#[test]
fn an_agent_that_cannot_be_read_can_be_erased() {
    let (scratch, clock) = (Scratch::new(), TestClock::at_noon());
    let store = open(scratch.path(), &clock);
    write(&*store, "doomed", 900);
    wait(store.append(&default_org(), evaluations("other", "o", 30), None)).unwrap();
    drop(store);
    let damage = behind_the_back(&scratch.join(FILE));
    damage.execute("DELETE FROM evaluations WHERE evaluation_id = 'evaluation-doomed-700'", []).unwrap();
    damage.execute("UPDATE agents SET evaluations = 501 WHERE name = 'doomed'", []).unwrap();
    drop(damage);
    let store = open(scratch.path(), &clock);
    assert!(wait(store.repair()).unwrap().damaged == 1);
    assert!(wait(store.erase(&default_org(), &"doomed".parse().unwrap())).unwrap());
    delete_some(&*store, Retention::default());
    assert_eq!(wait(store.tombstones(&default_org())).unwrap()[0].erased, 900 + 30 + 700);
    drop(store);
    assert_eq!(verify(scratch.path()).unwrap().evaluations, 30);
}

#[test]
fn reputation_events_are_deleted_after_three_years_with_their_sums() {
    let (scratch, clock) = (Scratch::new(), TestClock::at_noon());
    let store = open(scratch.path(), &clock);
    let org = default_org();
    let events = (0..1500_i64).map(|number| event("old", number, -number * DAY_MS));
    wait(store.add_reputation_events(&org, events.collect(), None)).unwrap();
    let identity = identity_of(&org, &"old".parse().unwrap());
    let windows = |as_of| wait(store.identity_windows(&org, identity, as_of)).unwrap();
    let before = windows(at(0));
    delete_some(&*store, Retention::default());
    let left = wait(store.reputation_events(&org, identity, None, 5000)).unwrap().events;
    // Noon of today and of the 1096 days before it; the day that contains the limit is kept completely.
    assert_eq!(left.len(), 1097);
    assert_eq!(windows(at(0)), before);
    assert_eq!(windows(at(-1200 * DAY_MS)).breakdown().standing(at(0)).total_events, 0);
    drop(store);
    verify(scratch.path()).unwrap();
}
