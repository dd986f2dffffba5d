//! `renown keys`: in the data directory, and through a server.

use std::net::TcpListener;

use renown_testing::Scratch;
use serde_json::{Value, json};

use super::{Server, run, run_with};
use crate::Run;

fn names(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

/// Returns the shown fields of a listed key.
const LISTED: [&str; 8] =
    ["created_at", "id", "kind", "label", "last_four", "last_used_at", "org", "revoked_at"];

#[test]
fn keys_are_created_listed_and_revoked_in_the_data_directory() {
    let scratch = Scratch::new();
    let data = scratch.at("data");
    let keys = |args: &[&str]| run(&[&["keys"], args, &["--data", &data]].concat());
    let made =
        keys(&["create", "--kind", "secret", "--org", "acme", "--label", "ci\t1", "--format", "json"]).json();
    assert_eq!(names(&made), ["id", "key", "kind", "org"]);
    assert_eq!((&made["kind"], &made["org"]), (&"secret".into(), &"acme".into()));
    let (key, id) = (made["key"].as_str().unwrap(), made["id"].as_str().unwrap());
    assert!(key.starts_with("rn_sec_") && key.len() == 39, "{key}");
    let text = keys(&["create"]).good();
    assert!(text.starts_with("rn_pub_") && text.contains("publishable key of default"), "{text}");

    let listed = keys(&["list", "--format", "json"]).json();
    assert_eq!(listed.as_array().unwrap().len(), 2);
    assert_eq!(names(&listed[0]), LISTED);
    assert_eq!((&listed[0]["id"], &listed[0]["label"]), (&made["id"], &"ci\t1".into()));
    assert!(key.ends_with(listed[0]["last_four"].as_str().unwrap()));
    assert_eq!(keys(&["list", "--org", "acme", "--format", "json"]).json().as_array().unwrap().len(), 1);
    for format in ["json", "text"] {
        let list = keys(&["list", "--format", format]).good();
        assert!(!list.contains(key) && !list.contains("rn_"), "{list}");
    }
    assert!(keys(&["list"]).good().contains("ci\\t1"), "a label cannot control the terminal");

    assert_eq!(keys(&["revoke", id]).good(), format!("revoked {id}\n"));
    assert_eq!(keys(&["revoke", id, "--format", "json"]).json(), json!({"id": id, "revoked": true}));
    assert!(keys(&["list"]).good().lines().any(|line| line.starts_with(id) && line.ends_with("revoked")));
    let unknown = "01890000-0000-7000-8000-000000000000";
    assert!(keys(&["revoke", unknown]).refused().contains(&format!("no key {unknown}")));
    assert!(keys(&["revoke", "abc"]).refused().contains("'abc'"));
    assert!(keys(&["create", "--org", "Not A Name"]).refused().contains("'--org <NAME>'"));

    let mut server = Server::start(&data);
    server.publishable = key.to_owned();
    let (status, _, body) = server.call("GET", "/v1/reputation/a", key, &Value::Null);
    assert_eq!((status, &body["code"]), (401, &"auth_revoked".into()));
}

#[test]
fn listing_keys_needs_a_store() {
    let scratch = Scratch::new();
    for command in [&["list"][..], &["revoke", "01890000-0000-7000-8000-000000000000"]] {
        let message = run(&[&["keys"], command, &["--data", &scratch.at("data")]].concat()).refused();
        assert!(
            message.contains("there is no database at") && message.contains("`renown serve` creates one"),
            "{message}"
        );
    }
    assert!(!scratch.join("data").exists());
}

/// Runs `renown keys` through a server.
struct Through {
    server: Server,
    data: String,
    _scratch: Scratch,
}

impl Through {
    fn new() -> Self {
        let scratch = Scratch::new();
        let data = scratch.at("data");
        Self { server: Server::start(&data), data, _scratch: scratch }
    }

    fn keys(&self, key: &str, args: &[&str]) -> Run {
        run_with(&[&["keys"], args, &["--server", &self.server.url]].concat(), &[("RENOWN_KEY", key)])
    }
}

#[test]
fn while_a_server_runs_keys_work_only_through_it() {
    let through = Through::new();
    let server = &through.server;
    let message = run(&["keys", "create", "--data", &through.data]).refused();
    let holder = format!("process {} (renown serve on {})", server.child.id(), server.url);
    assert!(message.contains(&holder), "{message}");
    assert!(
        message.contains("hint: ") && message.contains("--server URL") && message.contains("RENOWN_KEY"),
        "{message}"
    );
    assert_eq!(run(&["keys", "list", "--data", &through.data]).good().lines().count(), 3, "reading is free");

    let made = through.keys(&server.secret, &["create", "--label", "by hand", "--format", "json"]).json();
    assert_eq!(names(&made), ["id", "key", "kind", "org"]);
    assert_eq!((&made["kind"], &made["org"]), (&"publishable".into(), &"default".into()));
    let (key, id) = (made["key"].as_str().unwrap(), made["id"].as_str().unwrap());
    assert_eq!(server.call("GET", "/v1/reputation/a", key, &Value::Null).0, 200, "a new key works at once");
    let listed = through.keys(&server.secret, &["list", "--format", "json"]).json();
    let last = listed.as_array().unwrap().last().unwrap();
    assert_eq!((names(last), &last["id"]), (LISTED.to_vec(), &made["id"]));
    assert!(last["last_used_at"].is_string(), "{last}");
    assert!(!through.keys(&server.secret, &["list"]).good().contains("rn_"));
    assert_eq!(through.keys(&server.secret, &["revoke", id]).good(), format!("revoked {id}\n"));
    assert_eq!(server.call("GET", "/v1/reputation/a", key, &Value::Null).0, 401, "and ends at once");

    let with_flag = ["keys", "list", "--server", &format!("{}/", server.url), "--key", &server.secret];
    assert_eq!(run(&with_flag).good().lines().count(), 4);
    let both = ["keys", "list", "--server", &server.url, "--data", &through.data];
    assert!(run(&both).refused().contains("cannot be used with"));
}

#[test]
fn a_long_list_is_complete() {
    let through = Through::new();
    for _ in 0..101 {
        let reply =
            through.server.call("POST", "/v1/keys", &through.server.secret, &json!({"kind": "secret"}));
        assert_eq!(reply.0, 201);
    }
    let listed = through.keys(&through.server.secret, &["list", "--format", "json"]).json();
    assert_eq!(listed.as_array().unwrap().len(), 103);
}

#[test]
fn a_key_of_another_organization_can_use_only_that_organization() {
    let through = Through::new();
    let (default, create) =
        (through.server.secret.clone(), ["create", "--kind", "secret", "--format", "json"]);
    let made = through.keys(&default, &[&create[..], &["--org", "acme"]].concat()).json();
    assert_eq!(made["org"], "acme");
    let acme = made["key"].as_str().unwrap();
    assert_eq!(through.keys(acme, &create).json()["org"], "acme");
    assert_eq!(through.keys(acme, &[&create[..], &["--org", "acme"]].concat()).json()["org"], "acme");
    let message = through.keys(acme, &[&create[..], &["--org", "default"]].concat()).refused();
    assert!(message.contains("a key may name only its own organization"), "{message}");
    through.keys(acme, &["list", "--org", "default"]).refused();
    assert_eq!(through.keys(acme, &["list", "--format", "json"]).json().as_array().unwrap().len(), 3);
    assert_eq!(
        through.keys(&default, &["list", "--org", "acme", "--format", "json"]).json()[0]["org"],
        "acme"
    );
    let others = through.keys(&default, &["list", "--format", "json"]).json();
    let message = through.keys(acme, &["revoke", others[0]["id"].as_str().unwrap()]).refused();
    assert!(message.contains("there is no such key"), "{message}");
    let publishable = through.server.publishable.clone();
    let message = through.keys(&publishable, &["create"]).refused();
    assert!(message.contains("secret key"), "{message}");
}

#[test]
fn connection_errors_do_not_show_the_key() {
    let through = Through::new();
    let (url, secret) = (through.server.url.as_str(), through.server.secret.as_str());
    // First, no process listens on the port; then one that is not Renown.
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let wrong = secret.chars().rev().collect::<String>();
    let none = format!("rn_sec_{}", "x".repeat(32));
    for (server, key, message) in [
        (url, none.as_str(), "there is no such key"),
        (url, &wrong, "RENOWN_KEY: not a key, expected rn_pub_ or rn_sec_ and 32 characters"),
        (url, "rn_sec_\u{1b}[31m", "RENOWN_KEY: not a key"),
        (url, "", "no key for the server"),
        (&format!("http://{free}"), secret, "Connection refused"),
        (&format!("{url}/elsewhere"), secret, "there is no such route"),
        (url.trim_start_matches("http://"), secret, "no http:// or https://"),
        ("http://", secret, "no usable host"),
        ("http://renown.invalid", secret, "http://renown.invalid: "),
    ] {
        let run = run_with(&["keys", "list", "--server", server], &[("RENOWN_KEY", key)]);
        let found = run.refused();
        assert!(found.contains(message), "{server}: {found}");
        assert!(!found.contains(secret) && !found.contains(&wrong) && !found.contains(&none), "{found}");
    }
    let found = run(&["keys", "list", "--server", url, "--key", &wrong]).refused();
    assert!(found.starts_with("error: --key: not a key") && !found.contains(&wrong), "{found}");
}
