//! `renown gate`: its input, its output, and its exit code.

mod quality;

use renown_testing::Scratch;
use serde_json::Value;

use crate::renown;

#[test]
fn the_exit_code_is_the_verdict() {
    for (output, code, stdout) in [
        ("\"fine\"", 0, "pass  filesystem\npass  pii\npass  content\npass  secrets\nPASS\n"),
        ("plain text", 0, "pass  filesystem\npass  pii\npass  content\npass  secrets\nPASS\n"),
        (
            "mail ada@lovelace.org",
            1,
            "pass  filesystem\nfail  pii         email address detected in output\npass  content\npass  secrets\nFAIL\n",
        ),
        (
            // In two parts, so that this file does not contain a token.
            concat!("export TOKEN=", "gh", "p_R4nd0mT0k3nV4lu3Th4tL00ksR34lEn0ugh7"),
            1,
            "pass  filesystem\npass  pii\npass  content\nfail  secrets     secret in output: github (1 finding)\nFAIL\n",
        ),
        ("", 1, "pass  filesystem\npass  pii\nfail  content     output is empty\npass  secrets\nFAIL\n"),
        ("{}", 1, "pass  filesystem\npass  pii\nfail  content     output is empty\npass  secrets\nFAIL\n"),
    ] {
        let run = renown(&["gate"], output);
        assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (code, stdout, ""), "{output}");
    }
}

#[test]
fn json_has_the_fields_in_their_order() {
    let run = renown(&["gate", "--format", "json", "--gates", "content,pii"], "\"see 212-555-0123\"");
    let names: Vec<&str> = run.stdout.lines().filter_map(|line| line.trim().split('"').nth(1)).collect();
    assert_eq!(
        names,
        [
            "evaluation_id",
            "passed",
            "gates",
            "name",
            "passed",
            "latency_ms",
            "name",
            "passed",
            "latency_ms",
            "reason",
            "total_latency_ms",
            "timestamp"
        ]
    );
    let result: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((run.code, &result["passed"]), (1, &Value::Bool(false)));
    assert_eq!(result["gates"][1]["reason"], "us phone number detected in output");
    assert_eq!(result["evaluation_id"].as_str().unwrap().len(), 16);
    assert!(result["timestamp"].as_str().unwrap().ends_with('Z'));
    assert!(!run.stdout.contains("0123"), "nothing of the output is printed");
}

#[test]
fn an_output_can_be_read_as_text_or_as_json() {
    assert_eq!(renown(&["gate", "--as", "text"], "{}").code, 0, "two characters are not empty");
    assert_eq!(renown(&["gate", "--as", "json"], "{}").code, 1);
    let run = renown(&["gate", "--as", "json"], "plain");
    assert_eq!((run.code, run.stdout.as_str()), (2, ""));
    assert!(run.stderr.starts_with("error: -: not JSON: "), "{}", run.stderr);
    assert_eq!(renown(&["gate"], b"\xff".as_slice()).code, 2);
}

#[test]
fn the_configuration_names_gates_and_their_options() {
    let config = "[gates]\ncli = [\"answer\", \"quick\", \"filesystem\"]\n\
        [gate.answer]\nkind = \"schema\"\nschema = \"answer.json\"\n\
        [gate.asked]\nkind = \"schema\"\nschema = {type = \"object\"}\ntarget = \"input\"\nmode = \"observe\"\n\
        [gate.quick]\nkind = \"latency\"\nmax_ms = 100\n\
        [gate.filesystem]\nroots = [\"work\"]\n\
        [limits]\nrequests_per_minute = 5\n";
    let dir =
        Scratch::with(&[("renown.toml", config), ("answer.json", r#"{"type":"string"}"#), ("in.json", "7")]);
    let (path, input) = (&dir.at("renown.toml"), &dir.at("in.json"));
    let run = renown(&["gate", "--config", path, "--latency-ms", "143"], "17");
    assert_eq!(
        run.stdout,
        "fail  answer      schema validation failed (1 issue): / type\n\
         fail  quick       latency 143ms exceeds 100ms threshold\npass  filesystem\nFAIL\n"
    );
    let run = renown(&["gate", "--config", path, "--gates", "asked", "--input", input], "17");
    assert_eq!(
        (run.code, run.stdout.as_str()),
        (0, "skip  asked  observed: schema validation failed (1 issue): / type\nPASS\n")
    );
    let inside = dir.at("work/../work/x");
    let run = renown(&["gate", "--config", path, "--gates", "filesystem"], inside);
    assert_eq!(run.code, 0, "roots are relative to the file: {}", run.stdout);
}

#[test]
fn roots_can_be_added() {
    let dir = Scratch::new();
    let inside = dir.at("a/../b");
    assert_eq!(renown(&["gate", "--gates", "filesystem"], inside.as_str()).code, 1);
    let root = dir.path().to_str().unwrap();
    assert_eq!(renown(&["gate", "--gates", "filesystem", "--root", root], inside.as_str()).code, 0);
    assert_eq!(renown(&["gate", "--root", "no such directory"], "x").code, 2);
}

#[test]
fn strictness_can_be_chosen() {
    let output = "see ada@example.com and ../x";
    assert_eq!(renown(&["gate"], output).code, 1);
    assert_eq!(renown(&["gate", "--strictness", "balanced"], output).code, 0);
}

#[test]
fn bad_usage_is_an_error() {
    let dir = Scratch::new();
    let path = dir.write("renown.toml", "[gate.pii]\nemial = true\n");
    let path = path.as_str();
    for (args, error) in [
        (
            &["--gates", "secret"][..],
            "--gates: \"secret\" is not a gate, expected one of content, filesystem, injection, latency, pii, schema, secrets, rtb.tmax-guard"
                .to_owned(),
        ),
        (&["--gates", ""], "--gates: no gates, expected at least one".to_owned()),
        (&["--gates", "pii,pii"], "--gates: \"pii\" is listed twice, expected each name once".to_owned()),
        (
            &["--config", path],
            format!(
                "{path}: gate.pii.emial: unknown option, expected one of kind, mode, strictness, email, us_ssn, us_phone, card, iban, ipv4"
            ),
        ),
        (&["--latency-ms", "-1"], String::new()),
        (
            &["--latency-ms=-1"],
            "invalid value '-1' for '--latency-ms <N>': expected a number of milliseconds, 0 or more"
                .to_owned(),
        ),
        (&["no such file"], "no such file: No such file or directory (os error 2)".to_owned()),
    ] {
        let run = renown(&[&["gate"], args].concat(), "x");
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{args:?}");
        assert!(run.stderr.starts_with(&format!("error: {error}")), "{args:?}: {}", run.stderr);
    }
}

#[test]
fn the_redacted_output_can_be_piped() {
    let dir = Scratch::new();
    let config = dir.write("renown.toml", "gate.pii.mode = \"redact\"\n");
    let flags = ["gate", "--redacted", "--gates", "pii,content", "--config", &config];
    for (output, code, stdout, stderr) in [
        (
            "to ada@lovelace.org\n",
            0,
            "to [email address]\n",
            "pass  pii      redacted 1 email address\npass  content\nPASS\n",
        ),
        (
            "{\"a\": \"ada@lovelace.org\"}",
            0,
            "{\"a\": \"[email address]\"}\n",
            "pass  pii      redacted 1 email address\npass  content\nPASS\n",
        ),
        ("fine", 0, "fine", "pass  pii\npass  content\nPASS\n"),
        ("{}", 1, "", "pass  pii\nfail  content  output is empty\nFAIL\n"),
    ] {
        let run = renown(&flags, output);
        assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (code, stdout, stderr), "{output}");
    }
}
