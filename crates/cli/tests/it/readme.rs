//! Does the program print what the README shows?
//!
//! In a `console` block, a line `$ command` is run by a shell in the root of the workspace, with `renown` and
//! `cargo run --release --` standing for the program under test, and the lines below it are what it must print. The `sh` block
//! that starts a server is pasted whole, and each `toml` block is read.

use std::env;
use std::ffi::OsString;
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::operate::Scratch;
use crate::{renown, root};

/// Returns the commands of the README's `console` blocks, with their expected output.
fn examples(text: &str) -> Vec<(String, String)> {
    let mut examples: Vec<(String, String)> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        match (inside, line.strip_prefix("```")) {
            (false, Some(language)) => inside = language == "console",
            (true, Some(_)) => inside = false,
            (true, None) => match (line.strip_prefix("$ "), examples.last_mut()) {
                (Some(command), _) => examples.push((command.to_owned(), String::new())),
                (None, Some((_, output))) => output.extend([line, "\n"]),
                (None, None) => panic!("a console block begins with a command: {line}"),
            },
            (false, None) => {}
        }
    }
    examples
}

/// Returns a `PATH` that starts with the directory of the program under test.
fn path() -> OsString {
    let program = Path::new(env!("CARGO_BIN_EXE_renown"));
    [program.parent().unwrap().as_os_str(), &env::var_os("PATH").unwrap()].join(":".as_ref())
}

#[test]
fn every_example_prints_what_it_shows() {
    let text = std::fs::read_to_string(root().join("README.md")).unwrap();
    let examples = examples(&text);
    assert!(examples.len() >= 7, "five scores, a batch and an explanation");
    // Empty at first. An example can read what an earlier one wrote.
    let scratch = Scratch::new();
    for (command, expected) in examples {
        let line = command
            .replace("cargo run --release --", "renown")
            .replace("-o ", &format!("-o {}/", scratch.at("")));
        let output = Command::new("sh")
            .args(["-c", &line])
            .current_dir(root())
            .env("PATH", path())
            .env_remove("RENOWN_CONFIG")
            .env("RENOWN_DATA", scratch.at("data"))
            .output()
            .unwrap();
        let found = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert_eq!(found, expected, "$ {command}");
    }
}

/// Returns the blocks of a language, in order.
fn blocks(text: &str, language: &str) -> Vec<String> {
    let begin = format!("```{language}\n");
    text.split(&begin).skip(1).map(|part| part.split("```").next().unwrap().to_owned()).collect()
}

#[test]
fn the_first_evaluation_works_when_it_is_pasted() {
    let text = std::fs::read_to_string(root().join("README.md")).unwrap();
    let block = blocks(&text, "sh").into_iter().find(|block| block.contains("/v1/evaluate")).unwrap();
    let shown: Value = serde_json::from_str(&blocks(&text, "json")[0]).unwrap();
    let scratch = Scratch::new();
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    // A shell without a terminal has no `%1`.
    let script = format!("{}\nkill $! && wait\n", block.replace("127.0.0.1:7070", &free));
    let output = Command::new("sh")
        .args(["-c", &script])
        .env("PATH", path())
        .env_remove("RENOWN_CONFIG")
        .envs([("RENOWN_DATA", scratch.at("data")), ("RENOWN_LISTEN", free)])
        .output()
        .unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let json = printed.find("\n{\"evaluation_id\"").map(|at| printed.split_at(at).1).unwrap_or_default();
    let replies = serde_json::Deserializer::from_str(json).into_iter::<Value>();
    let replies: Vec<Value> = replies.filter_map(Result::ok).collect();
    let [verdict, record] = replies.as_slice() else {
        panic!("{printed}\n{}", String::from_utf8_lossy(&output.stderr))
    };
    let comparable = |reply: &Value| {
        let gates = reply["gates"].as_array().unwrap().iter();
        let gates = gates.map(|gate| (gate["name"].clone(), gate["passed"].clone(), gate["reason"].clone()));
        let mut reputation = reply["reputation"].clone();
        // The duration of the gates is part of the score, and differs between machines.
        let score = reputation["score"].take().as_u64().unwrap();
        assert!((0..=250).contains(&score), "one evaluation that failed: {score}");
        (reply["passed"].clone(), gates.collect::<Vec<_>>(), reputation)
    };
    assert_eq!(comparable(verdict), comparable(&shown));
    assert_eq!(
        record["score"], verdict["reputation"]["score"],
        "the score is the same right after the evaluation"
    );
}

#[test]
fn the_quick_start_works_when_it_is_pasted() {
    let text = std::fs::read_to_string(root().join("README.md")).unwrap();
    let block = blocks(&text, "sh").into_iter().find(|block| block.contains("setup claude")).unwrap();
    let scratch = Scratch::new();
    let free = || TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let (api, otlp) = (free(), free());
    // The ports of the README may be in use here.
    let block = block
        .replace("127.0.0.1:7070", &api)
        .replace("setup claude", &format!("setup claude --server http://{otlp}"));
    let output = Command::new("sh")
        .args(["-ec", &format!("{block}\nkill $! && wait\n")])
        .current_dir(root())
        .stdin(std::process::Stdio::null())
        .env("PATH", path())
        .env_remove("RENOWN_CONFIG")
        .env_remove("CLAUDE_CONFIG_DIR")
        .envs([("RENOWN_DATA", scratch.at("data")), ("HOME", scratch.at("home"))])
        .envs([("RENOWN_LISTEN", &*api), ("RENOWN_OTLP_HTTP", &*otlp), ("RENOWN_OTLP_GRPC", "off")])
        .output()
        .unwrap();
    let (printed, stderr) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(output.status.success(), "{printed}\n{stderr}");
    let shown =
        examples(&text).into_iter().find(|(command, _)| command == "renown judge examples/claude-code.jsonl");
    let (verdict, _) = shown.as_ref().unwrap().1.split_once("read 6 lines").unwrap();
    assert_eq!(
        printed.matches(verdict).count(),
        2,
        "once for the log, once as received: {printed}\n{stderr}"
    );
    assert!(stderr.contains("submitted 6 lines"), "{stderr}");
}

#[test]
fn every_configuration_is_valid() {
    let text = std::fs::read_to_string(root().join("README.md")).unwrap();
    let scratch = Scratch::new();
    let blocks = blocks(&text, "toml");
    assert_eq!(blocks.len(), 3, "of the server, of prices, and of a gate that redacts");
    for block in blocks {
        let file = scratch.write("renown.toml", &block);
        let run = renown(&["serve", "--print-config", "--config", &file], "");
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{block}");
    }
}

#[test]
fn the_test_command_is_what_ci_runs() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let ci = std::fs::read_to_string(root().join(".ci/run")).unwrap();
    let command = ci.lines().last().unwrap();
    assert_eq!(command, "cargo xtask test");
    assert!(readme.lines().any(|line| line == command), "the README names it on a line of its own");
}
