//! `renown agents`, with and without a running server.

use renown_testing::{Scratch, until};
use serde_json::Value;

use super::{Server, run, run_with};

fn ids(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|agent| agent["agent_id"].as_str().unwrap()).collect()
}

#[test]
fn agents_are_listed_and_shown_with_and_without_a_server() {
    let scratch = Scratch::new();
    let data = scratch.at("data");
    let server = Server::start(&data);
    let agents = |args: &[&str]| run(&[&["agents"], args, &["--data", &data]].concat());
    let empty = agents(&["list"]).good();
    assert!(empty.starts_with("no agents in default yet\nnext: `renown setup claude` "), "{empty}");
    assert_eq!(agents(&["list", "--format", "json"]).good(), "[]\n");

    for (agent, ids, count) in [("reviewer", "a", 60), ("Writer", "b", 3), ("quiet one é", "c", 1)] {
        assert_eq!(server.ingest(agent, ids, count), 202);
        another_millisecond();
    }
    let looked = || {
        let list = agents(&["list", "--format", "json"]).json();
        assert_eq!(ids(&list), ["quiet one é", "Writer", "reviewer"]);
        let mut shown = agents(&["show", "reviewer", "--format", "json"]).json();
        assert!(shown["identity_reputation"]["as_of"].take().is_string(), "it has the current time");
        (list, shown)
    };
    let (list, shown) = looked();
    let by_api = server.get("/v1/agents");
    for (ours, theirs) in list.as_array().unwrap().iter().zip(by_api["agents"].as_array().unwrap()) {
        assert_eq!(ours, theirs, "the same as the API says");
    }
    let record = server.get("/v1/reputation/reviewer");
    for (name, value) in record.as_object().unwrap() {
        assert_eq!(&shown[name], value, "{name}");
    }
    let explained = server.get("/v1/reputation/reviewer/explain");
    assert_eq!(shown["components"], explained["components"]);
    drop(server);
    assert_eq!(looked(), (list, shown), "and the same without the server");
}

/// Waits until the clock shows another millisecond, so that agents are not last seen at the same time.
fn another_millisecond() {
    let millis = || std::time::UNIX_EPOCH.elapsed().unwrap().as_millis();
    let now = millis();
    until(|| millis() != now);
}

#[test]
fn a_list_can_be_searched_sorted_and_limited() {
    let scratch = Scratch::new();
    let data = scratch.at("data");
    let server = Server::start(&data);
    for (agent, count) in [("b-low", 5), ("a-high", 4), ("C-low", 5)] {
        assert_eq!(server.ingest(agent, agent, count), 202);
        another_millisecond();
    }
    let list = |args: &[&str]| run(&[&["agents", "list", "--data", &data], args].concat());
    let found = |args: &[&str]| {
        let list = list(&[args, &["--format", "json"]].concat()).json();
        ids(&list).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(found(&["--sort", "name"]), ["C-low", "a-high", "b-low"]);
    assert_eq!(found(&["--sort", "score"])[0], "a-high");
    assert_eq!(found(&["--sort", "evaluations"])[2], "a-high");
    assert!(list(&["--sort", "agent-id"]).refused().contains("last-seen, score, name, evaluations"));
    assert_eq!(found(&["--search", "LOW", "--sort", "name"]), ["C-low", "b-low"]);
    assert_eq!(found(&["--limit", "1"]), ["C-low"]);
    assert_eq!(list(&["--search", "zebra"]).good(), "no agent in default has \"zebra\" in its id\n");
    assert!(list(&["--limit", "1"]).good().ends_with("… and more: --limit N shows them\n"));
    let text = list(&["--sort", "name"]).good();
    let heads: Vec<_> = text.lines().map(|line| line.split_whitespace().next().unwrap()).collect();
    assert_eq!(heads, ["AGENT", "C-low", "a-high", "b-low"]);
    assert!(text.contains("calibrating 5/50"), "{text}");
    assert!(list(&["--limit", "0"]).refused().contains("--limit"));
    assert!(list(&["--org", "unknown"]).refused().contains("there is no organization \"unknown\""));
}

#[test]
fn show_prints_the_components_of_the_score() {
    let scratch = Scratch::new();
    let data = scratch.at("data");
    let server = Server::start(&data);
    assert_eq!(server.ingest("odd / name", "a", 10), 202);
    let show = |agent: &str| run(&["agents", "show", agent, "--data", &data]);
    let text = show("odd / name").good();
    assert!(text.starts_with("odd / name  "), "{text}");
    for part in
        ["8 of 10 passed, average 2.000 ms, streak 0", "pass_rate   320.0  400.0   80.0", "calibrating 10/50"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    let message = show("unknown").refused();
    assert!(message.contains("no agent \"unknown\" in default") && message.contains("--search"), "{message}");
    assert!(show("..").refused().contains("'<ID>'"));
}

#[test]
fn organizations_do_not_see_each_other() {
    let scratch = Scratch::new();
    let data = scratch.at("data");
    let mut server = Server::start(&data);
    let made = run_with(
        &["keys", "create", "--org", "acme", "--server", &server.url, "--format", "json"],
        &[("RENOWN_KEY", &server.secret)],
    );
    server.publishable = made.json()["key"].as_str().unwrap().to_owned();
    assert_eq!(server.ingest("theirs", "a", 2), 202);
    let agents = |args: &[&str]| run(&[&["agents"], args, &["--data", &data]].concat());
    assert!(agents(&["list"]).good().starts_with("no agents in default yet\n"));
    assert_eq!(ids(&agents(&["list", "--org", "acme", "--format", "json"]).json()), ["theirs"]);
    agents(&["show", "theirs"]).refused();
    assert_eq!(agents(&["show", "theirs", "--org", "acme", "--format", "json"]).json()["evaluations"], 2);
}
