//! Is a value read in each of its possible types, and rejected if it is invalid?

use serde_json::{Value, json};

use super::{Judged, bare, call, judge, judged, lines, log, ok_tool, prompt, span};

fn tool_with(success: Value) -> Judged {
    judged(&lines(&[log("claude_code.tool_result", 0).with("success", success)]))
}

#[test]
fn booleans() {
    for (value, ok) in [
        (json!({ "boolValue": true }), true),
        (json!({ "boolValue": false }), false),
        (json!({ "stringValue": "true" }), true),
        (json!({ "stringValue": "TRUE" }), true),
        (json!({ "stringValue": "tRuE" }), true),
        (json!({ "stringValue": " \ttrue\n" }), true),
        (json!({ "stringValue": "1" }), true),
        (json!({ "intValue": 1 }), true),
        (json!({ "intValue": "1" }), true),
        (json!({ "intValue": 0 }), false),
        (json!({ "stringValue": "0" }), false),
        (json!({ "stringValue": "FALSE" }), false),
        (json!({ "stringValue": "yes" }), false),
        (json!({ "stringValue": "" }), false),
        (json!({ "intValue": 2 }), false),
        (json!({ "arrayValue": { "values": [{ "boolValue": true }] } }), false),
        (json!({ "kvlistValue": { "values": [{ "key": "a", "value": { "boolValue": true } }] } }), false),
        (json!({ "bytesValue": "dHJ1ZQ==" }), false),
        (json!({}), false),
    ] {
        // An invalid boolean is unknown: it counts as a tool, but not as a successful one.
        let expected = if ok { "tools=1 ok=1" } else { "tools=1" };
        assert_eq!(tool_with(value.clone()).evidence(), expected, "{value}");
    }
}

#[test]
fn an_unknown_boolean_falls_back_to_the_second_source() {
    for (success, evidence) in
        [("", "tools=1 ok=1"), ("  ", "tools=1 ok=1"), ("true", "tools=1 ok=1"), ("false", "tools=1")]
    {
        let tool = log("gemini_cli.tool_call", 0).with("success", success).with("status", "success");
        assert_eq!(judged(&lines(&[tool])).evidence(), evidence, "{success:?}");
    }
}

#[test]
fn integers() {
    for (value, tokens) in [
        (json!({ "intValue": 5 }), 5),
        (json!({ "intValue": "5" }), 5),
        (json!({ "stringValue": "5" }), 5),
        (json!({ "stringValue": " 5 " }), 5),
        (json!({ "stringValue": "007" }), 7),
        (json!({ "doubleValue": 5.0 }), 5),
        (json!({ "doubleValue": 5e3 }), 5000),
        (json!({ "intValue": 1_000_000_000_000_000_i64 }), 1_000_000_000_000_000_i64),
        (json!({ "stringValue": "1000000000000000" }), 1_000_000_000_000_000),
        (json!({ "int_value": "6" }), 6),
    ] {
        let judged = judged(&lines(&[call(0).with("input_tokens", value.clone())]));
        assert_eq!(judged.document["stats"]["total_tokens"], tokens, "{value}");
        assert_eq!(judged.coverage("present"), "tokens", "{value}");
    }
}

#[test]
fn absent_values_are_not_evidence() {
    for value in [
        json!({ "stringValue": "" }),
        json!({ "stringValue": " \t" }),
        json!({ "bytesValue": "NQ==" }),
        json!({ "arrayValue": { "values": [{ "intValue": 5 }] } }),
        json!({ "kvlistValue": { "values": [] } }),
        json!({}),
    ] {
        let judged =
            judged(&lines(&[call(0).with("input_tokens", value.clone()).with("cost_usd", value.clone())]));
        assert_eq!(judged.coverage("missing"), "tools prompts cost tokens", "{value}");
        assert_eq!(judged.counted("bad_values"), 0, "{value}");
    }
}

#[test]
fn decimals() {
    for (value, cost) in [
        (json!({ "doubleValue": 0.05 }), 0.05),
        (json!({ "doubleValue": "0.05" }), 0.05),
        (json!({ "stringValue": "0.05" }), 0.05),
        (json!({ "stringValue": " 0.05 " }), 0.05),
        (json!({ "stringValue": "5e-2" }), 0.05),
        (json!({ "stringValue": "5E-2" }), 0.05),
        (json!({ "stringValue": "0.5e-1" }), 0.05),
        (json!({ "stringValue": "3" }), 3.0),
        (json!({ "intValue": 3 }), 3.0),
        (json!({ "intValue": "3" }), 3.0),
        (json!({ "double_value": 0.07 }), 0.07),
    ] {
        let judged = judged(&lines(&[call(0).with("cost_usd", value.clone())]));
        assert_eq!(judged.document["stats"]["total_cost"], cost, "{value}");
    }
}

#[test]
fn costs_are_rounded_half_up_to_nano_dollars_from_the_written_decimal() {
    // The boundary is half a cent: 0.005 is shown as 0.01, a nano-dollar less as 0.00.
    for (costs, total) in [
        (&["0.0049999995"][..], 0.01),
        (&["0.00499999949999999999999"], 0.0),
        (&["0.004999999", "0.0000000005"], 0.01),
        (&["0.004999999", "0.0000000004"], 0.0),
        (&["0.004999999", "5e-10"], 0.01),
        (&["0.0049999999999999999999999999999999"], 0.01),
        (&["0.1", "0.2", "0.005"], 0.31),
    ] {
        let calls: Vec<_> = costs
            .iter()
            .enumerate()
            .map(|(i, cost)| {
                let marked = call(i as u64).with("cost_usd", json!({ "doubleValue": 0.25 })).line();
                marked.replace("0.25", cost)
            })
            .collect();
        assert_eq!(judged(&calls).document["stats"]["total_cost"], total, "{costs:?}");
    }
}

#[test]
fn lists() {
    for (reasons, refusals) in [
        (json!({ "arrayValue": { "values": [{ "stringValue": "stop" }, { "stringValue": "refusal" }] } }), 1),
        (json!({ "stringValue": "content_filter" }), 1),
        (json!({ "stringValue": r#"["stop", "refusal"]"# }), 1),
        (json!({ "stringValue": "stop" }), 0),
        (json!({ "stringValue": r#"["stop"]"# }), 0),
        (json!({ "arrayValue": { "values": [] } }), 0),
        (json!({ "arrayValue": {} }), 0),
    ] {
        let span = span("chat gpt-5", 1, 1).with("gen_ai.response.finish_reasons", reasons.clone());
        assert_eq!(judged(&lines(&[span])).document["signals"]["refusals"], refusals, "{reasons}");
    }
}

#[test]
fn texts() {
    for (value, masque) in [
        (json!({ "stringValue": "Codesmith" }), "Codesmith"),
        (json!({ "stringValue": "  Codesmith\n" }), "Codesmith"),
        (json!({ "intValue": "7" }), "7"),
        (json!({ "intValue": 7 }), "7"),
        (json!({ "doubleValue": 1.5 }), "1.5"),
        (json!({ "boolValue": true }), "true"),
        (json!({ "stringValue": "" }), "unknown"),
        (json!({ "arrayValue": { "values": [{ "stringValue": "a" }] } }), "unknown"),
    ] {
        let judged = judged(&lines(&[prompt(0).with("masque.name", value.clone())]));
        assert_eq!(judged.text("masque"), masque, "{value}");
    }
}

#[test]
fn the_first_of_two_equal_keys_wins_even_if_it_is_unusable() {
    for (first, evidence) in [
        (json!({ "boolValue": true }), "tools=1 ok=1"),
        (json!({ "boolValue": false }), "tools=1"),
        (json!({ "kvlistValue": { "values": [] } }), "tools=1"),
        (json!({ "stringValue": "perhaps" }), "tools=1"),
        (json!({ "stringValue": "" }), "tools=1"),
    ] {
        let tool = log("claude_code.tool_result", 0).with("success", first.clone()).with("success", true);
        assert_eq!(judged(&lines(&[tool])).evidence(), evidence, "{first}");
    }
}

#[test]
fn the_resource_provides_missing_attributes_and_the_scope_does_not() {
    let tool = log("claude_code.tool_result", 0);
    let resource = [("success", "true")];
    assert_eq!(judged(&[tool.below(&resource)]).evidence(), "tools=1 ok=1");
    assert_eq!(judged(&[tool.clone().with("success", false).below(&resource)]).evidence(), "tools=1");
    let scope = json!({ "name": "x", "attributes": [{ "key": "success", "value": { "boolValue": true } }] });
    assert_eq!(judged(&[tool.within(&[], &scope)]).evidence(), "tools=1");
}

/// Returns attributes with invalid values.
fn impossible() -> Vec<(&'static str, Value)> {
    vec![
        ("input_tokens", json!({ "intValue": -1 })),
        ("output_tokens", json!({ "intValue": "-1" })),
        ("cache_read_tokens", json!({ "stringValue": "-1" })),
        ("cache_creation_tokens", json!({ "doubleValue": -1.0 })),
        ("input_tokens", json!({ "stringValue": "many" })),
        ("input_tokens", json!({ "doubleValue": "NaN" })),
        ("input_tokens", json!({ "doubleValue": "Infinity" })),
        ("input_tokens", json!({ "intValue": 1_000_000_000_000_001_i64 })),
        ("input_tokens", json!({ "stringValue": "99999999999999999999999999" })),
        ("cost_usd", json!({ "doubleValue": -0.01 })),
        ("cost_usd", json!({ "stringValue": "NaN" })),
        ("cost_usd", json!({ "stringValue": "inf" })),
        ("cost_usd", json!({ "stringValue": "$0.05" })),
        ("cost_usd", json!({ "doubleValue": 1e16 })),
        ("cost_usd", json!({ "stringValue": "1e999999999" })),
        ("duration_ms", json!({ "intValue": -5 })),
        ("duration_ms", json!({ "stringValue": "fast" })),
    ]
}

#[test]
fn a_record_with_an_invalid_number_is_rejected_and_reported() {
    for (key, value) in impossible() {
        // Ten minutes later, so that it would change the duration.
        let rejected = call(600).with("model", "opus").with(key, value.clone());
        let judged = judged(&lines(&[ok_tool(0), rejected]));
        assert_eq!(
            (judged.evidence().as_str(), judged.counted("bad_values")),
            ("tools=1 ok=1", 1),
            "{key} {value}"
        );
        assert_eq!(judged.document["duration_min"], 1, "{key} {value}");
        assert_eq!(judged.warnings.len(), 1, "{key} {value}: {:?}", judged.warnings);
        let warning = &judged.warnings[0];
        assert!(warning.starts_with("warning: standard input:2: ") && warning.contains(key), "{warning}");
    }
}

#[test]
fn strict_fails_at_the_first_rejected_record() {
    for (key, value) in impossible() {
        let rejected = call(600).with(key, value.clone());
        let run = judge(&["--strict"], super::document(&lines(&[ok_tool(0), rejected])));
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{key} {value}: {run:?}");
        let error = run.stderr.lines().find(|line| line.starts_with("error: ")).unwrap();
        assert!(error.starts_with("error: standard input:2: ") && error.contains(key), "{error}");
    }
}

#[test]
fn a_rejected_record_alone_is_not_a_session() {
    // A rejected record does not change the time range either, so there is nothing to judge.
    let run = judge(&[], super::document(&lines(&[call(0).with("input_tokens", -1)])));
    assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{run:?}");
}

#[test]
fn unused_attributes_cannot_reject_a_record() {
    let odd = [prompt(0).with("prompt_length", -1), ok_tool(1).with("tool_result_size_bytes", "NaN")];
    let judged = judged(&lines(&odd));
    assert_eq!((judged.evidence().as_str(), judged.counted("bad_values")), ("tools=1 ok=1 prompts=1", 0));
}

#[test]
fn a_lone_surrogate_is_not_an_error() {
    let line = prompt(0).with("prompt", "CUT").line().replace("CUT", r"cut \ud83d");
    let judged = judged(&[line]);
    assert_eq!((judged.evidence().as_str(), judged.counted("bad_lines")), ("prompts=1", 0));
}

#[test]
fn fields_may_be_in_snake_case_and_unknown_fields_are_skipped() {
    let line = concat!(
        r#"{"resource_logs":[{"schema_url":"x","resource":{"dropped_attributes_count":3},"scope_logs":[{"log_records":["#,
        r#"{"time_unix_nano":"1790000000000000000","severity_number":"SEVERITY_NUMBER_INFO","event_name":"claude_code.user_prompt","#,
        r#""future":[{"a":null}],"attributes":[{"key":"session.id","value":{"string_value":"s-1"}}]}]}]}]}"#
    );
    let judged = judged(&[line.to_owned()]);
    assert_eq!(
        (judged.evidence().as_str(), judged.text("started_at")),
        ("prompts=1", "2026-09-21T14:13:20.000Z")
    );
    assert_eq!(judged.text("agent"), "claude-code");
}

#[test]
fn a_record_without_attributes_is_counted() {
    let judged = judged(&lines(&[prompt(0), bare()]));
    assert_eq!((judged.counted("records"), judged.counted("no_session")), (2, 1));
}
