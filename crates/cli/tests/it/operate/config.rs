//! Is the precedence of settings flag, environment, file, default?

use std::fs;

use renown_testing::Scratch;
use toml::Table;

use super::{Server, command, finish, run_with};

/// Returns the output of `--print-config`: the values, and the comment of each.
fn printed(args: &[&str], environment: &[(&str, &str)]) -> (Table, String) {
    let text = run_with(&[&["serve", "--print-config"], args].concat(), environment).good();
    (text.parse().unwrap_or_else(|error| panic!("{error}\n{text}")), text)
}

#[track_caller]
fn shows(text: &str, key: &str, value: &str, origin: &str) {
    let line = text.lines().find(|line| line.starts_with(&format!("{key} = "))).unwrap_or_default();
    let (shown, comment) = line.split_once("  # ").unwrap_or_default();
    assert_eq!((shown.trim_end(), comment), (&*format!("{key} = {value}"), origin), "{text}");
}

#[test]
fn the_precedence_is_flag_environment_file_default() {
    let scratch = Scratch::new();
    let (flag, variable) = (scratch.at("flag"), scratch.at("variable"));
    let file = scratch.write(
        "own.toml",
        "data = \"file\"\nlisten = \"127.0.0.1:3\"\nstore = \"sqlite:file.db\"\n[limits]\nrequests_per_minute = 3\n",
    );
    let flags = ["--data", &flag, "--listen", "127.0.0.1:1", "--store", "sqlite:flag.db"];
    let config = ("RENOWN_CONFIG", file.as_str());
    let variables = [
        ("RENOWN_DATA", variable.as_str()),
        ("RENOWN_LISTEN", "127.0.0.1:2"),
        ("RENOWN_STORE", "sqlite:variable.db"),
        ("RENOWN_LIMITS_REQUESTS_PER_MINUTE", "2"),
        ("RENOWN_LIMITS_INGEST_PER_MINUTE", "20"),
        config,
    ];
    let (_, text) = printed(&flags, &variables);
    shows(&text, "data", &format!("{flag:?}"), "--data");
    shows(&text, "listen", "\"127.0.0.1:1\"", "--listen");
    shows(&text, "store", "\"sqlite:flag.db\"", "--store");
    let (_, text) = printed(&[], &variables);
    shows(&text, "data", &format!("{variable:?}"), "RENOWN_DATA");
    shows(&text, "listen", "\"127.0.0.1:2\"", "RENOWN_LISTEN");
    shows(&text, "store", "\"sqlite:variable.db\"", "RENOWN_STORE");
    shows(&text, "requests_per_minute", "2", "RENOWN_LIMITS_REQUESTS_PER_MINUTE");
    shows(&text, "ingest_per_minute", "20", "RENOWN_LIMITS_INGEST_PER_MINUTE");
    let (_, text) = printed(&[], &[config]);
    assert!(text.starts_with(&format!("# config file: {file}\n")), "{text}");
    shows(&text, "data", &format!("{:?}", scratch.at("file")), "config file");
    shows(&text, "listen", "\"127.0.0.1:3\"", "config file");
    shows(&text, "store", &format!("\"sqlite:{}\"", scratch.at("file.db")), "config file");
    shows(&text, "requests_per_minute", "3", "config file");
    let (table, text) = printed(&[], &[("HOME", "/home/ada"), ("RENOWN_LISTEN", "")]);
    assert!(text.starts_with("# config file: none\n"), "{text}");
    shows(&text, "data", "\"/home/ada/.local/share/renown\"", "default");
    shows(&text, "listen", "\"127.0.0.1:7070\"", "default");
    shows(&text, "store", "\"sqlite:\"", "default");
    shows(&text, "evaluate", "[\"filesystem\", \"pii\", \"content\", \"secrets\"]", "default");
    assert_eq!(table["limits"]["ingest_per_minute"].as_integer(), Some(0));
    assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 1, "nothing was created");
}

#[test]
fn the_gates_in_use_are_shown_and_can_be_read_back() {
    let scratch = Scratch::new();
    let written = "[gates]\nevaluate = [\"shape\", \"pii\"]\nfail_fast = true\nstrictness = \"balanced\"\n\
        [gate.shape]\nkind = \"schema\"\nschema = {type = \"object\", properties = {\"a b\" = {type = [\"string\"], minLength = 2}}}\n\
        [gate.pii]\nipv4 = true\n[gate.\"my gate\"]\nkind = \"latency\"\nmax_ms = 12.5\n";
    let file = scratch.write("own.toml", written);
    let (table, text) = printed(&["--config", &file, "--data", &scratch.at("d")], &[]);
    shows(&text, "evaluate", "[\"shape\", \"pii\"]", "config file");
    shows(&text, "budget_ms", "50", "default");
    shows(&text, "strictness", "\"balanced\"", "config file");
    assert_eq!(table["gate"], written.parse::<Table>().unwrap()["gate"], "{text}");
    let again = scratch.write("again.toml", &text);
    let (second, _) = printed(&["--config", &again], &[]);
    assert_eq!(second, table, "the printed file has the same settings");
}

#[test]
fn errors_name_the_file_line_and_key_or_the_variable() {
    let scratch = Scratch::new();
    let (path, data) = (scratch.at("own.toml"), scratch.at("data"));
    for (text, message) in [
        (
            "\nlisten = \"7070\"\n",
            "line 2: listen: \"7070\", expected an address and a port, such as 127.0.0.1:7070",
        ),
        ("store = \"mysql:x\"\n", "line 1: store: \"mysql:x\", expected sqlite:[PATH]"),
        (
            "store = \"clickhouse:http://h:1/d\"\n",
            "line 1: store: clickhouse is not supported in this release",
        ),
        ("data = 5\n", "line 1: data: invalid type: integer `5`"),
        (
            "[limits]\n\nrequests_per_minute = -5\n",
            "line 3: requests_per_minute: -5, expected a whole number",
        ),
        ("[limits]\ningest_per_minute = \"1\"\n", "line 2: ingest_per_minute: invalid type: string \"1\""),
        (
            "[limits]\nrequests_per_hour = 1\n",
            "line 2: unknown key limits.requests_per_hour, expected one of requests_per_minute, ingest_per_minute; \
             did you mean limits.requests_per_minute?",
        ),
        (
            "data = \"d\"\nlisten_to = \"127.0.0.1:1\"\n",
            "line 2: unknown key listen_to, expected one of data, listen, store, limits, retention, otlp, pages, prices, proxy, gates, gate; \
             did you mean listen?",
        ),
        ("[retention]\nruns = -3\n", "line 2: runs: -3, expected"),
        (
            "[retention]\nevents = 1\n",
            "line 2: unknown key retention.events, expected one of evaluations, runs, sessions",
        ),
        ("listen\n", "line 1: "),
        ("[gates]\nevaluate = [\"spelling\"]\n", "gates.evaluate: \"spelling\" is not a gate"),
    ] {
        fs::write(&path, text).unwrap();
        for mode in [&["--print-config"][..], &["--listen", "127.0.0.1:0"]] {
            let args = [&["serve", "--config", &path, "--data", &data], mode].concat();
            let found = run_with(&args, &[]).refused();
            assert!(found.starts_with(&format!("error: {path}: {message}")), "{text}: {found}");
        }
    }
    for (variable, value, message) in [
        (
            "RENOWN_LISTEN",
            "localhost",
            "\"localhost\", expected an address and a port, such as 127.0.0.1:7070",
        ),
        ("RENOWN_STORE", "x", "\"x\", expected sqlite:[PATH]"),
        ("RENOWN_LIMITS_REQUESTS_PER_MINUTE", "many", "many, expected a whole number, 0 for no limit"),
        ("RENOWN_CONFIG", "/no/such/file", "No such file or directory"),
    ] {
        let found = run_with(&["serve", "--data", &scratch.at("data")], &[(variable, value)]).refused();
        let name = if variable == "RENOWN_CONFIG" { value } else { variable };
        assert!(found.starts_with(&format!("error: {name}: {message}")), "{found}");
    }
    let found = run_with(&["serve", "--listen", "everywhere", "--data", &scratch.at("data")], &[]).refused();
    assert!(found.contains("'--listen <ADDR>': \"everywhere\", expected an address and a port"), "{found}");
    assert!(!scratch.join("data").exists(), "nothing was created");
}

#[test]
fn a_file_in_the_working_directory_is_never_read() {
    let scratch = Scratch::new();
    scratch.write("renown.toml", "listen = \"not even an address\"\n");
    let data = scratch.at("data");
    let mut command = command(&["serve", "--print-config", "--data", &data], &[]);
    let text = finish(command.current_dir(scratch.path())).good();
    assert!(text.starts_with("# config file: none\n"), "{text}");
    fs::create_dir(&data).unwrap();
    fs::write(format!("{data}/renown.toml"), "listen = \"127.0.0.1:5\"\n").unwrap();
    let text = finish(&mut command).good();
    assert!(text.starts_with(&format!("# config file: {data}/renown.toml\n")), "{text}");
}

#[test]
fn the_server_uses_the_limits_of_the_file() {
    let scratch = Scratch::new();
    let data = scratch.at("data");
    fs::create_dir(&data).unwrap();
    fs::write(format!("{data}/renown.toml"), "[limits]\nrequests_per_minute = 2\n").unwrap();
    let server = Server::start(&data);
    let status = || server.call("GET", "/v1/reputation/a", &server.publishable, &serde_json::Value::Null).0;
    assert_eq!([status(), status(), status()], [200, 200, 429]);
}

#[test]
fn every_command_uses_the_store_of_the_file() {
    let scratch = Scratch::new();
    let data = scratch.at("data");
    fs::create_dir(&data).unwrap();
    fs::write(format!("{data}/renown.toml"), "store = \"sqlite:../elsewhere/evidence.db\"\n").unwrap();
    let server = Server::start(&data);
    assert_eq!(server.ingest("found", "e", 3), 202);
    drop(server);
    assert!(scratch.join("elsewhere/evidence.db").exists());
    let run = |args: &[&str]| run_with(&[args, &["--data", &data]].concat(), &[]).good();
    assert!(run(&["agents", "list"]).contains("found"));
    assert!(run(&["verify"]).starts_with("verified 3 evaluations"));
    assert_eq!(run(&["keys", "list"]).lines().count(), 3);
    assert!(run(&["doctor"]).contains("verified 3 evaluations"));
    run(&["backup", &scratch.at("copy.db")]);
}
