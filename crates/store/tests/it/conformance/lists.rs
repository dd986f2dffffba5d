//! Questions about the lists that pages show: specs, and evaluations by the gate that failed.

use renown_store::{EvaluationQuery, SpecSummary, Store};

use crate::support::{TestClock, at, default_org, evaluation, key, run, wait};

/// Reads every spec, `limit` at a time.
fn all(store: &dyn Store, limit: usize) -> Vec<SpecSummary> {
    let (mut after, mut found) = (None, Vec::new());
    loop {
        let page = wait(store.specs(&default_org(), after, limit)).unwrap();
        assert!(page.specs.len() <= limit && (page.next.is_none() || page.specs.len() == limit));
        found.extend(page.specs);
        after = page.next;
        if after.is_none() {
            return found;
        }
    }
}

pub(super) fn specs_are_listed_page_by_page_with_their_best_attempt(store: &dyn Store, _: &TestClock) {
    assert_eq!(all(store, 10), []);
    wait(store.create_key(key("other", 1), None)).unwrap();
    let add = |org: &str, id: &str, spec: &str, agent: &str, outcome: &str, finished: i64| {
        let finished_at = at(finished).millis();
        let text = format!(
            r#"{{"agent_id":"{agent}","outcome":"{outcome}","spec_id":"{spec}","finished_at":{finished_at}}}"#
        );
        wait(store.add_run(&org.parse().unwrap(), run(id, &text), None)).unwrap();
    };
    add("default", "r1", "login", "a", "failed", 1000);
    add("default", "r2", "login", "b", "completed", 3000);
    add("default", "r3", "login", "a", "blocked", 2000);
    add("default", "r4", "Cart", "gone", "completed", 1000);
    add("default", "r5", "übung", "a", "failed", 5000);
    add("default", "r6", "alone", "gone", "completed", 1000);
    add("default", "r7", "Cart", "a", "blocked", 500);
    add("other", "r1", "theirs", "a", "completed", 1000);
    wait(store.add_run(&default_org(), run("r8", r#"{"agent_id":"a","outcome":"failed"}"#), None)).unwrap();
    wait(store.erase(&default_org(), &"gone".parse().unwrap())).unwrap();
    for limit in 1..5 {
        let found: Vec<_> = all(store, limit)
            .into_iter()
            .map(|found| {
                let spec = found.spec.as_str().to_owned();
                (spec, found.runs, found.agents, found.finished_at, found.best.run.id.as_str().to_owned())
            })
            .collect();
        let expected = [("Cart", 1, 1, 500, "r7"), ("login", 3, 2, 3000, "r2"), ("übung", 1, 1, 5000, "r5")];
        let expected = expected
            .map(|(spec, runs, agents, ms, best)| (spec.to_owned(), runs, agents, at(ms), best.to_owned()));
        assert_eq!(found, expected, "{limit} at a time");
    }
    let after = wait(store.specs(&default_org(), Some("login".parse().unwrap()), 9)).unwrap();
    assert_eq!(after.specs.len(), 1);
    wait(store.specs(&"nowhere".parse().unwrap(), None, 9)).unwrap_err();
}

pub(super) fn evaluations_are_found_by_the_gate_that_failed(store: &dyn Store, _: &TestClock) {
    let gates = [
        r#"[{"name":"pii","passed":false},{"name":"size","passed":true}]"#,
        r#"[{"name":"pii","passed":true},{"name":"size","passed":false}]"#,
        r#"[{"name":"pii"},{"name":"size","passed":false}]"#,
    ];
    for (number, gates) in gates.into_iter().enumerate() {
        for passed in [true, false] {
            let mut new = evaluation("a", &format!("e{number}-{passed}"));
            (new.passed, new.gates) = (passed, gates.into());
            wait(store.append(&default_org(), vec![new], None)).unwrap();
        }
    }
    let found = |gate: &str, agent: Option<&str>| {
        let agent = agent.map(|agent| agent.parse().unwrap());
        let query = EvaluationQuery {
            failed_gate: Some(gate.to_owned()),
            agent,
            limit: 10,
            ..EvaluationQuery::default()
        };
        let page = wait(store.evaluations(&default_org(), query)).unwrap();
        page.evaluations.iter().map(|event| event.id.to_string()).collect::<Vec<_>>()
    };
    // A gate that only observes may fail although the evaluation passed.
    assert_eq!(found("pii", None), ["e0-false"]);
    assert_eq!(found("size", Some("a")), ["e2-false", "e1-false"]);
    assert!(found("size", Some("b")).is_empty() && found("other", None).is_empty());
}
