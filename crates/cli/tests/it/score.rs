//! `renown score`: the shapes of input and output.

use serde_json::Value;
use serde_json::value::RawValue;

use crate::{renown, root};

const KINDS: [&str; 5] = ["reputation", "performance", "run", "session", "identity"];

/// Returns the inputs of every vector of one kind, unchanged.
fn inputs(kind: &str) -> Vec<String> {
    #[derive(serde::Deserialize)]
    struct Vector {
        input: Box<RawValue>,
    }
    let read = |path: String| {
        let text = std::fs::read_to_string(root().join(path)).unwrap_or_else(|_| "[]".to_owned());
        serde_json::from_str::<Vec<Vector>>(&text).unwrap()
    };
    let vectors =
        read(format!("vectors/{kind}.json")).into_iter().chain(read(format!("vectors/own/{kind}.json")));
    vectors.map(|vector| vector.input.get().to_owned()).collect()
}

#[test]
fn an_array_gives_the_same_results_as_json_lines() {
    for kind in KINDS {
        let inputs = inputs(kind);
        assert!(inputs.len() > 100, "{kind}");
        let array = renown(&["score", kind], format!("[{}]", inputs.join(",\n")));
        let lines = renown(&["score", kind, "-"], inputs.join("\n"));
        assert_eq!((array.code, lines.code), (2, 2), "each file has refused vectors: {kind}");
        let from_array: Vec<Value> = serde_json::from_str(&array.stdout).unwrap();
        let from_lines: Vec<Value> =
            lines.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!((from_array.len(), from_lines.len()), (inputs.len(), inputs.len()), "{kind}");
        for (a, b) in from_array.iter().zip(&from_lines) {
            // An error has the index in an array, and the line in JSON Lines.
            assert!(a == b || a["error"].is_string() && a["error"] == b["error"], "{kind}: {a} and {b}");
        }
    }
}

#[test]
fn a_document_that_spans_lines_gives_a_result_that_spans_lines() {
    let run = renown(&["score", "run", "examples/run.json"], "");
    assert!(run.stdout.starts_with("{\n  \"score\": 84,\n  \"tier\": \"Gold\","), "{}", run.stdout);
    assert!(run.stdout.ends_with("}\n"));
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let two = renown(&["score", "run"], "{\n\"outcome\":\"failed\"}\n{\n\"outcome\":\"failed\"}\n");
    assert_eq!(two.stdout.matches("\"score\": 30").count(), 2);
}

#[test]
fn an_invalid_input_gives_an_error_in_its_place() {
    let run = renown(&["score", "run", "examples/runs.jsonl"], "");
    let answers: Vec<Value> = run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers[0]["score"], 77);
    assert_eq!(
        answers[1],
        serde_json::json!({"error": "outcome: \"done\", expected completed, blocked or failed", "line": 2})
    );
    assert_eq!(answers[2]["warnings"][0], "wall_ms: -5 is negative");
    assert_eq!(run.code, 2);
    assert_eq!(
        run.stderr,
        "error: examples/runs.jsonl:2:18: outcome: \"done\", expected completed, blocked or failed\n"
    );
}

#[test]
fn an_error_in_an_array_has_its_index() {
    let run =
        renown(&["score", "reputation"], "[{\"evaluations\":[]},\n {\"evaluations\":[{\"passed\":1}]}]");
    let expected = "evaluations[0].passed: invalid type: integer `1`, expected a boolean";
    assert_eq!(run.stderr, format!("error: standard input:2:28: [1]: {expected}\n"));
    let answers: Vec<Value> = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(answers[0]["score"], 0);
    assert_eq!(answers[1], serde_json::json!({"error": expected, "index": 1}));
}

#[test]
fn an_empty_array_is_an_empty_array() {
    let run = renown(&["score", "identity"], "[ ]");
    assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (0, "[]\n", ""));
}

#[test]
fn explanations_of_every_kind_add_up() {
    for kind in KINDS {
        let run = renown(&["score", kind, "--explain", &format!("examples/{kind}.json")], "");
        assert_eq!(run.code, 0, "{kind}: {}", run.stderr);
        let answer: Value = serde_json::from_str(&run.stdout).unwrap();
        let explanations = if kind == "session" {
            vec![answer["agent_reliability"].clone(), answer["agent_consistency"].clone()]
        } else {
            vec![answer]
        };
        for explanation in explanations {
            let points: f64 = explanation["components"]
                .as_array()
                .unwrap()
                .iter()
                .map(|part| part["points"].as_f64().unwrap())
                .sum();
            let score = explanation["score"].as_f64().unwrap();
            // A reputation is rounded down and a run to the nearest point, a session to tenths, the others to finer units.
            let tolerance = match kind {
                "reputation" => 1.0,
                "run" => 0.5,
                "performance" => 0.05,
                _ => 0.0001,
            };
            assert!((points - score).abs() <= tolerance, "{kind}: {points} for {score}");
            assert!(explanation["formula_version"].is_string(), "{kind}");
        }
    }
}

#[test]
fn answers_come_before_the_input_ends() {
    use std::io::{BufRead, BufReader, Write};
    use std::process::{Command, Stdio};

    let mut child = Command::new(env!("CARGO_BIN_EXE_renown"))
        .args(["score", "run"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    for input in [
        "{\"outcome\":\"completed\"}\n",
        "{\"outcome\":\"completed\"}\n\n",
        " {\"outcome\":\"completed\"}\r\n",
    ] {
        stdin.write_all(input.as_bytes()).unwrap();
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        assert!(line.starts_with("{\"score\":70,"), "{line}");
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

#[test]
fn help_and_completions_mention_score() {
    let help = renown(&["score", "--help"], "");
    assert_eq!(help.code, 0);
    assert!(KINDS.iter().all(|kind| help.stdout.contains(kind)), "{}", help.stdout);
    for shell in ["bash", "zsh", "fish"] {
        let run = renown(&["completions", shell], "");
        assert!(run.code == 0 && run.stdout.contains("score"), "{shell}");
    }
    assert_eq!(renown(&["--version"], "").stdout, format!("renown {}\n", env!("CARGO_PKG_VERSION")));
}
