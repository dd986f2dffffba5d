//! `renown eval`: on a data directory, and through a server.

use renown_testing::Scratch;
use serde_json::{Value, json};

use super::{Server, run, run_with};

/// Adds a session whose traces have these confidences.
fn session(server: &Server, id: &str, confidences: &[f64]) {
    let traces: Vec<Value> = confidences
        .iter()
        .enumerate()
        .map(|(number, confidence)| json!({"trace_id": format!("t{number}"), "signals": {"confidence": confidence}}))
        .collect();
    let path = format!("/v1/sessions/{id}/signals");
    let (status, ..) =
        server.call("POST", &path, &server.publishable, &json!({"agent_id": "a", "traces": traces}));
    assert_eq!(status, 202);
}

#[test]
fn runs_are_started_shown_and_compared_through_a_server_and_on_its_data() {
    let scratch = Scratch::new();
    let data = scratch.at("data");
    let server = Server::start(&data);
    session(&server, "good", &[0.9]);
    session(&server, "bad", &[0.2, 0.9]);
    let environment = [("RENOWN_KEY", server.secret.as_str())];
    let eval =
        |args: &[&str]| run_with(&[&["eval"], args, &["--server", &server.url]].concat(), &environment);

    let first = eval(&["run", "--name", "before", "--watch", "--format", "json"]).json();
    assert_eq!((&first["status"], &first["progress"]["scored"]), (&"completed".into(), &2.into()));
    let id = first["eval_run_id"].as_str().unwrap().to_owned();
    let shown = eval(&["show", &id]).good();
    assert!(shown.contains("completed  before") && shown.contains("2 of 2 sessions: 2 scored"), "{shown}");
    let worst: Vec<&str> = shown.lines().skip_while(|line| !line.starts_with("WORST")).skip(1).collect();
    assert!(worst[0].starts_with("bad") && worst[1].starts_with("good"), "{shown}");
    assert!(eval(&["list"]).good().contains("before"));
    assert_eq!(eval(&["list", "--status", "failed"]).good(), "no eval runs yet\n");
    assert!(
        eval(&["cancel", &id]).refused().contains("the eval run is completed, expected pending or running")
    );
    assert!(eval(&["show", "unknown"]).refused().contains("there is no eval run \"unknown\""));
    let refused = eval(&["run", "--agent", "unknown"]).refused();
    assert!(refused.contains("filter.agent_id: there is no agent \"unknown\""), "{refused}");
    assert!(
        eval(&["run", "--sample", "2"]).refused().contains("sampling_rate: 2, expected a number from 0 to 1")
    );

    session(&server, "good", &[0.5]);
    session(&server, "bad", &[0.6, 0.9]);
    session(&server, "new", &[1.0]);
    assert!(run(&["eval", "list", "--data", &data]).good().contains("before"), "reading needs no server");
    let busy = run(&["eval", "run", "--data", &data]).refused();
    assert!(busy.contains("is in use by") && busy.contains("--server URL"), "{busy}");
    drop(server);

    // Without a server the command carries out the run itself, with the same results.
    let here = |args: &[&str]| run(&[&["eval"], args, &["--data", &data]].concat());
    let second = here(&[
        "run",
        "--metric",
        "agent_reliability",
        "--threshold",
        "agent_reliability=0.55",
        "--format",
        "json",
    ])
    .json();
    assert_eq!(
        second["summary"],
        json!([{"name": "agent_reliability", "evaluated": 3, "passed": 2, "mean": 0.7}])
    );
    let compared =
        here(&["compare", &id, second["eval_run_id"].as_str().unwrap(), "--format", "json"]).json();
    assert_eq!(compared["sessions"], json!({"both": 2, "only_before": 0, "only_after": 1}));
    let change = |list: &str| compared[list][0]["session_id"].clone();
    assert_eq!((change("worse"), change("better")), ("good".into(), "bad".into()), "{compared}");
    let listed = here(&["run", "--session", "good", "--session", "gone"]).good();
    assert!(listed.contains("2 of 2 sessions: 1 scored, 1 failed"), "{listed}");
    let runs = here(&["list", "--format", "json"]).json();
    let id = runs[0]["eval_run_id"].as_str().unwrap();
    let retried = here(&["retry", id]).good();
    assert!(retried.contains("completed") && retried.contains("1 failed"), "{retried}");
    assert!(here(&["run", "--weight", "confidence"]).refused().contains("expected NAME=NUMBER"));
    run(&["verify", "--data", &data]).good();
}
