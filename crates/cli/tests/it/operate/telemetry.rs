//! The OTLP ports: their addresses, their log lines, and a server without them.

use std::net::TcpListener;
use std::sync::Arc;

use renown_testing::{Scratch, until};
use serde_json::{Value, json};

use super::{Server, command, finish, run, run_with};

fn serve(data: &str, more: &[&str]) -> Server {
    Server::start_with(&[&["--data", data], more].concat())
}

/// Returns the addresses in a greeting, HTTP first.
fn addresses(server: &Server) -> Vec<String> {
    let line = server.greeting.lines().find(|line| line.starts_with("telemetry ")).unwrap_or_default();
    let words = line.split_whitespace().filter(|word| word.contains(':'));
    words.map(ToOwned::to_owned).collect()
}

/// Sends logs without a key. Returns the status.
fn send(address: &str, body: &Value) -> u16 {
    let agent: ureq::Agent =
        ureq::Agent::config_builder().http_status_as_error(false).proxy(None).build().into();
    let request = agent.post(format!("http://{address}/v1/logs")).content_type("application/json");
    request.send(body.to_string()).unwrap().status().as_u16()
}

#[test]
fn the_greeting_shows_the_enabled_addresses() {
    let scratch = Scratch::new();
    let data = scratch.at("data");
    let server = serve(&data, &[]);
    assert!(addresses(&server).is_empty(), "{}", server.greeting);
    drop(server);
    let server = serve(&data, &["--otlp-http", "127.0.0.1:0", "--otlp-grpc", "127.0.0.1:0"]);
    let [http, grpc] = &addresses(&server)[..] else { panic!("{}", server.greeting) };
    assert_eq!(send(http, &json!({})), 200);
    assert_eq!(send(grpc, &json!({})), 415);
    assert!(server.stop().success());
}

#[test]
fn keys_are_required_by_setting_or_if_other_machines_can_reach_the_port() {
    let scratch = Scratch::new();
    let data = scratch.at("data");
    for (args, is_open) in [
        (&["--otlp-http", "127.0.0.1:0", "--otlp-auth", "required"][..], false),
        (&["--otlp-http", "0.0.0.0:0"], true),
    ] {
        let server = serve(&data, args);
        let address = addresses(&server).swap_remove(0).replace("0.0.0.0", "127.0.0.1");
        assert_eq!(send(&address, &json!({})), 401);
        let log = Arc::clone(&server.log);
        assert!(server.stop().success());
        // The last log line follows all others.
        until(|| log.lock().unwrap().contains("stopped"));
        assert_eq!(log.lock().unwrap().contains("so telemetry needs a key"), is_open);
    }
}

#[test]
fn a_port_in_use_is_a_warning_and_an_impossible_address_of_a_flag_an_error() {
    let scratch = Scratch::new();
    let data = scratch.at("data");
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let server = Server::start_after(1, &["--data", &data, "--otlp-grpc", &address]);
    assert!(addresses(&server).is_empty(), "{}", server.greeting);
    assert!(server.before.contains("OTLP listener disabled"), "{}", server.before);
    assert!(server.before.contains(&address), "{}", server.before);
    assert!(server.stop().success());
    let elsewhere = ["serve", "--data", &data, "--listen", "127.0.0.1:0", "--otlp-http", "192.0.2.1:4318"];
    let message = run(&elsewhere).refused();
    assert!(message.contains("could not listen on 192.0.2.1:4318 for telemetry"), "{message}");
    assert!(
        message.contains("hint: choose another address with --otlp-http, or --otlp-http off"),
        "{message}"
    );
}

#[test]
fn print_config_shows_each_otlp_setting_and_its_origin() {
    let scratch = Scratch::new();
    let data = scratch.at("data");
    let file =
        scratch.write("own.toml", "[otlp]\ngrpc = \"127.0.0.1:3\"\nhttp = \"off\"\nauth = \"required\"\n");
    let none = [("RENOWN_OTLP_GRPC", ""), ("RENOWN_OTLP_HTTP", "")];
    let printed = |args: &[&str], variables: &[(&str, &str)]| {
        let args = [&["serve", "--print-config", "--data", &data], args].concat();
        run_with(&args, &[&none[..], variables].concat()).good()
    };
    let shows = |text: &str, line: &str| {
        let squeezed: Vec<String> =
            text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        assert!(squeezed.iter().any(|found| found == line), "{line}: {text}");
    };
    let text = printed(&[], &[]);
    shows(&text, "grpc = \"127.0.0.1:4317\" # default");
    shows(&text, "http = \"127.0.0.1:4318\" # default");
    shows(&text, "auth = \"loopback\" # default");
    let text = printed(&["--config", &file], &[]);
    shows(&text, "grpc = \"127.0.0.1:3\" # config file");
    shows(&text, "http = \"off\" # config file");
    shows(&text, "auth = \"required\" # config file");
    let variables = [("RENOWN_OTLP_GRPC", "127.0.0.1:2"), ("RENOWN_OTLP_AUTH", "loopback")];
    let text = printed(&["--config", &file], &variables);
    shows(&text, "grpc = \"127.0.0.1:2\" # RENOWN_OTLP_GRPC");
    shows(&text, "auth = \"loopback\" # RENOWN_OTLP_AUTH");
    let text = printed(&["--otlp-grpc", "off", "--otlp-auth", "required"], &variables);
    shows(&text, "grpc = \"off\" # --otlp-grpc");
    shows(&text, "auth = \"required\" # --otlp-auth");
    let mut doctor = command(&["doctor", "--data", &data], &[("RENOWN_OTLP_HTTP", "127.0.0.1:0")]);
    let message = finish(&mut doctor).stdout;
    assert!(message.contains("gRPC is off") && message.contains("HTTP on 127.0.0.1:0 is free"), "{message}");
}

/// Returns a log line with a prompt in a session of an agent.
fn line(agent: &str, session: &str) -> String {
    let attribute = |key: &str, value: &str| json!({"key": key, "value": {"stringValue": value}});
    let record = json!({"timeUnixNano": "1790000000000000000", "eventName": "claude_code.user_prompt",
        "attributes": [attribute("session.id", session)]});
    let resource = json!({"attributes": [attribute("renown.agent_id", agent)]});
    let log = json!({"resourceLogs": [{"resource": resource, "scopeLogs": [{"logRecords": [record]}]}]});
    format!("{log}\n")
}

#[test]
fn a_log_can_be_submitted_without_a_key_through_the_url_of_the_api() {
    let scratch = Scratch::new();
    let data = scratch.at("data");
    let log = [line("a", "s1"), line("a", "s2"), line("b", "s3"), line("a", "s1")].concat();
    let log = scratch.write("log.jsonl", &log);
    let server = serve(&data, &["--otlp-http", "127.0.0.1:0"]);
    for url in
        [server.url.clone(), format!("{}/otlp", server.url), format!("http://{}", addresses(&server)[0])]
    {
        let submitted = run(&["judge", &log, "--all", "--submit", &url]);
        assert_eq!(submitted.code, 0, "{submitted:?}");
        assert!(submitted.stderr.contains("submitted 4 lines"), "{submitted:?}");
    }
    let judged = run(&["judge", "--all", "--format", "json", "--data", &data]).json();
    let prompts = |session: &Value| session["stats"]["prompts"].as_u64().unwrap();
    // Nothing distinguishes the two records of the first session.
    assert_eq!(judged.as_array().unwrap().iter().map(prompts).collect::<Vec<_>>(), [2, 1, 1], "{judged}");
    assert!(server.stop().success());
}

#[test]
fn a_server_without_an_otlp_port_accepts_no_log_without_a_key() {
    let scratch = Scratch::new();
    let log = scratch.write("log.jsonl", line("a", "s1"));
    let server = serve(&scratch.at("data"), &[]);
    let refused = run(&["judge", &log, "--submit", &server.url]);
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(refused.stderr.contains("this port never accepts telemetry without a key"), "{refused:?}");
    assert!(refused.stderr.contains("hint: set RENOWN_KEY"), "{refused:?}");
}

#[test]
fn setup_finds_the_otlp_port_of_a_server_on_this_machine() {
    let scratch = Scratch::new();
    let server = serve(&scratch.at("data"), &["--otlp-http", "127.0.0.1:0"]);
    let home = scratch.at("home");
    let shown = run_with(&["setup", "claude", "--print", "--server", &server.url], &[("HOME", &home)]).good();
    assert!(shown.contains(&format!("\"http://{}\"", addresses(&server)[0])), "{shown}");
}
