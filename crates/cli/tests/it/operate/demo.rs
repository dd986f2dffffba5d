//! `renown serve --demo`: does it show a month of data and delete it at the end?

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use renown_testing::Scratch;
use serde_json::Value;

use super::{Server, run};

/// Starts a demo whose temporary directory is below this one.
fn start(scratch: &Scratch) -> Server {
    let variables = [("TMPDIR", scratch.at("")), ("RENOWN_DATA", scratch.at("own"))];
    let variables = variables.each_ref().map(|(name, value)| (*name, value.as_str()));
    Server::start_under(0, &["--demo"], &variables)
}

/// Lists the entries of a directory.
fn entries(dir: &str) -> Vec<PathBuf> {
    fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn a_demo_shows_a_month_and_deletes_it_at_the_end() {
    let scratch = Scratch::new();
    let server = start(&scratch);
    let dir = match &entries(&scratch.at(""))[..] {
        [dir] => dir.clone(),
        other => panic!("{other:?}"),
    };
    let greeting = &server.greeting;
    assert!(greeting.contains(&format!("data in {}\ndemo: ", dir.display())), "{greeting}");
    for expected in ["deleted when the server stops", "  publishable  rn_pub_", "  secret       rn_sec_"] {
        assert!(greeting.contains(expected), "{greeting}");
    }

    let overview = server.get("/v1/overview");
    assert_eq!(overview["agents"], 12, "{overview}");
    let falls: Vec<&str> =
        overview["falls"].as_array().unwrap().iter().map(|fall| text(fall, "agent_id")).collect();
    assert!(falls.contains(&"refund-agent"), "{falls:?}");
    assert!(overview["days"].as_array().unwrap().len() >= 30, "{overview}");
    let sessions = server.get("/v1/sessions?limit=100");
    let sessions = sessions["data"].as_array().unwrap();
    assert_eq!(sessions.len(), 100);
    assert_eq!(sessions.iter().filter(|session| session["open"] == true).count(), 1);
    let runs = server.get("/v1/runs?limit=100");
    let tiers: Vec<&str> = runs["data"].as_array().unwrap().iter().map(|run| text(run, "tier")).collect();
    for tier in ["Elite", "Gold", "Silver", "Bronze"] {
        assert!(tiers.contains(&tier), "{tiers:?}");
    }
    // Its data is evidence like any other.
    let verified = run(&["verify", "--data", dir.to_str().unwrap()]).good();
    assert!(verified.contains("every stored score matches the evidence"), "{verified}");

    assert_eq!(server.stop().code(), Some(0));
    assert_eq!(entries(&scratch.at("")), Vec::<PathBuf>::new(), "neither its own data nor that of the user");
}

fn text<'a>(of: &'a Value, field: &str) -> &'a str {
    of[field].as_str().unwrap()
}

#[test]
fn new_evaluations_arrive_while_the_demo_runs() {
    let scratch = Scratch::new();
    let server = start(&scratch);
    let key = format!("Bearer {}", server.publishable);
    let request = ureq::get(format!("{}/v1/stream", server.url)).header("Authorization", key);
    // Only the demo writes. It takes seconds; only the test runner sets a deadline.
    let stream = BufReader::new(request.call().unwrap().into_body().into_reader());
    let event = stream.lines().map(Result::unwrap).find(|line| line.starts_with("event: "));
    assert_eq!(event.as_deref(), Some("event: score"));
}

#[test]
fn a_demo_deletes_the_data_of_a_killed_one() {
    let scratch = Scratch::new();
    let mut killed = start(&scratch);
    let left = entries(&scratch.at(""));
    let running = start(&scratch);
    assert_eq!(entries(&scratch.at("")).len(), 2, "both are in use");
    killed.child.kill().unwrap();
    killed.child.wait().unwrap();
    assert!(left.iter().all(|dir| dir.exists()));
    let next = start(&scratch);
    assert!(left.iter().all(|dir| !dir.exists()));
    assert_eq!(entries(&scratch.at("")).len(), 2);
    for server in [running, next] {
        assert_eq!(server.stop().code(), Some(0));
    }
    assert_eq!(entries(&scratch.at("")).len(), 0);
}

#[test]
fn a_demo_does_not_use_existing_data() {
    let scratch = Scratch::new();
    let data = scratch.at("data");
    for (flag, value) in [("--data", data.as_str()), ("--store", "sqlite:"), ("--config", data.as_str())] {
        let message = run(&["serve", "--demo", flag, value]).refused();
        assert!(message.starts_with("error: the argument '--demo' cannot be used with"), "{message}");
        assert!(message.contains(flag), "{message}");
    }
    assert!(!Path::new(&data).exists());
}
