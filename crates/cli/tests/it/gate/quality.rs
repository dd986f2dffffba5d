//! `renown gate --report`: its counts, its errors, and the figures of the gates on the labeled outputs of this repository.

use renown_core::gates::{Choice, Engine, GateSettings, Place};
use renown_testing::Scratch;
use serde_json::{Value, json};

use crate::{renown, root};

#[test]
fn a_report_counts_by_gate_and_rule() {
    let own = "{\"output\": \"ada@lovelace.org\", \"gate\": \"pii.email\", \"label\": \"fail\"}\n\
               {\"output\": \"212-555-0123\", \"gate\": \"pii.email\", \"label\": \"pass\"}\n\
               {\"output\": \"212-555-0123\", \"gate\": \"pii\", \"label\": \"pass\"}\n\
               {\"output_parts\": [\"gh\", \"p_aB3xK9mQ7tR2wZ5yH8nJ4pL6cV1dF0gSaB3x\"], \"gate\": \"secrets.github\", \"label\": \"fail\"}\n\
               {\"output\": \"\", \"gate\": \"quick\", \"label\": \"fail\", \"latency_ms\": 11}\n";
    let presidio = r#"[{"full_text": "501800000009", "spans": [{"entity_type": "CREDIT_CARD", "entity_value": "501800000009"}]}]"#;
    let benign = r#"[{"prompt": "Can I ignore this?", "word_list": ["ignore"], "category": "a"}]"#;
    let config = "gate.quick = {kind = \"latency\", max_ms = 10}\ngate.pii.mode = \"observe\"\n";
    let configured = Scratch::with(&[("renown.toml", config)]);
    let files = [("a.jsonl", own), ("b.json", presidio), ("c.json", benign), ("d.md", "# words"), (".e", "")];
    let sets = Scratch::with(&files);
    let (sets, config) = (sets.path().to_str().unwrap(), &configured.at("renown.toml"));
    let run = renown(&["gate", "--report", sets, "--config", config], "");
    assert_eq!(
        (run.code, run.stdout.as_str(), run.stderr),
        (
            0,
            "GATE            SAMPLES  TP  FP  FN  PRECISION  RECALL  ALARMS\n\
             injection       1        0   0   0   -          -       0.0000\n\
             pii             8        1   1   1   0.5000     0.5000  0.1666\n\
             pii.card        1        0   0   1   -          0.0000  -\n\
             pii.email       3        1   0   0   1.0000     1.0000  0.0000\n\
             pii.iban        1        0   0   0   -          -       0.0000\n\
             pii.us_phone    1        0   0   0   -          -       0.0000\n\
             pii.us_ssn      1        0   0   0   -          -       0.0000\n\
             quick           1        1   0   0   1.0000     1.0000  -\n\
             secrets         1        1   0   0   1.0000     1.0000  -\n\
             secrets.github  1        1   0   0   1.0000     1.0000  -\n\
             pii.card: 1 sample missed, numbers of fewer than 13 digits, which the rule ignores\n",
            format!("warning: {sets}/d.md: unknown format, skipped\n")
        )
    );
    let run = renown(
        &["gate", "--report", sets, "--config", config, "--gates", "pii,quick", "--format", "json"],
        "",
    );
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    let names: Vec<&str> =
        report["gates"].as_array().unwrap().iter().map(|line| line["gate"].as_str().unwrap()).collect();
    assert_eq!(names, ["pii", "pii", "pii", "pii", "pii", "pii", "quick"]);
    let wrong = report["wrong"].as_array().unwrap();
    assert_eq!(wrong[0]["number"], 3);
    assert_eq!(wrong[1]["gate"], "pii.card");
    assert!(!run.stdout.contains("0123"), "nothing of an output is printed");
}

#[test]
fn an_invalid_set_is_an_error_with_its_position() {
    let line = |gate: &str, label: &str| {
        format!("{{\"output\": 1, \"gate\": \"{gate}\", \"label\": \"{label}\"}}\n")
    };
    for (name, text, error) in [
        ("gate", line("piii", "pass"), "a.jsonl: line 1: gate: \"piii\" is not a gate"),
        (
            "rule",
            line("pii.mail", "pass"),
            "a.jsonl: line 1: gate: \"mail\" is not a rule of pii, expected one of email,",
        ),
        ("none", line("latency.x", "pass"), "a.jsonl: line 1: gate: "),
        ("label", line("pii", "pass") + &line("pii", "good"), "a.jsonl: line 2: label: \"good\", expected"),
        ("empty", String::new(), ": no labeled outputs for these gates"),
    ] {
        let sets = Scratch::with(&[("a.jsonl", &text)]);
        let run = renown(&["gate", "--report", &sets.at("")], "");
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{name}");
        assert!(run.stderr.contains(error), "{name}: {}", run.stderr);
    }
    // The name of the configuration contains the prefix of an error of `--gates`.
    let sets = Scratch::with(&[("a.jsonl", &line("piii", "pass")), ("--gates: x.toml", "")]);
    let config = sets.at("--gates: x.toml");
    let run = renown(&["gate", "--report", &sets.at(""), "--config", &config], "");
    assert!(run.stderr.contains("a.jsonl: line 1: gate: \"piii\" is not a gate"), "{run:?}");
    let broken =
        Scratch::with(&[("a.jsonl", &line("pii", "pass")), ("--gates: y.toml", "[gate.pii]\nmail = 1\n")]);
    let config = broken.at("--gates: y.toml");
    let run = renown(&["gate", "--report", &broken.at(""), "--config", &config], "");
    assert!(run.stderr.contains("/--gates: y.toml: gate.pii.mail: "), "the path is not edited: {run:?}");
    assert_eq!(renown(&["gate", "--report", "no such directory"], "").code, 2);
    assert_eq!(renown(&["gate", "--report", ".", "output.json"], "").code, 2);
}

/// Returns the lines of a report: `GATE` or `GATE.RULE`, and its figures.
fn figures(report: &Value) -> Vec<(String, &Value)> {
    let name = |line: &Value| match line["rule"].as_str() {
        Some(rule) => format!("{}.{rule}", line["gate"].as_str().unwrap()),
        None => line["gate"].as_str().unwrap().to_owned(),
    };
    report["gates"].as_array().unwrap().iter().map(|line| (name(line), line)).collect()
}

#[test]
fn every_rule_finds_its_hits_and_lets_near_misses_pass() {
    let sets = root().join("crates/core/tests/gates/rules");
    let config = sets.join("renown.toml");
    let (sets, config) = (sets.to_str().unwrap(), config.to_str().unwrap());
    let run = renown(&["gate", "--report", sets, "--config", config, "--format", "json"], "");
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(report["wrong"], json!([]));
    let figures = figures(&report);
    for (name, line) in &figures {
        assert_eq!((&line["precision"], &line["recall"]), (&json!(1.0), &json!(1.0)), "{name}");
        let count = |field: &str| line[field].as_u64().unwrap();
        assert!(count("tp") >= 1 && count("tn") >= 1, "{name} has a hit and a near miss");
    }
    let options = json!({"latency": {"max_ms": 1}, "schema": {"schema": {}}});
    let settings: GateSettings = serde_json::from_value(json!({ "gate": options })).unwrap();
    let gates = ["filesystem", "pii", "secrets", "injection", "content", "latency", "schema", "rtb"];
    let gates = gates.map(str::to_owned);
    let choice = Choice { gates: Some(&gates), ..Choice::of(Place::Cli) };
    let engine = Engine::new(&settings, &choice, &mut |_| Err(String::new())).unwrap();
    for gate in engine.names() {
        let rules = engine.rules(gate).unwrap().into_iter().map(|rule| format!("{gate}.{rule}"));
        for rule in std::iter::once(gate.to_owned()).chain(rules) {
            // It needs a root, and its own strictness.
            let rule = if rule == "filesystem.outside-roots" { "outside.outside-roots" } else { &rule };
            assert!(figures.iter().any(|(name, _)| name == rule), "{rule} has no labeled output");
        }
    }
}
