//! Tests that findings are replaced, and nothing else.

use core::time::Duration;

use proptest::prelude::*;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::gates::{Choice, Context, Engine, GateSettings, Place, Verdict};
use crate::limits::GATE_FINDINGS_MAX;

fn engine(gates: &[&str]) -> Engine {
    let settings = json!({"gate": {
        "pii": {"mode": "redact"},
        "secrets": {"mode": "redact"},
        "own": {"kind": "secrets", "mode": "redact", "extra": [{"name": "own", "regex": "own-[0-9a-f@.]+", "entropy": 0}]},
    }});
    let settings: GateSettings = serde_json::from_value(settings).unwrap();
    let gates: Vec<String> = gates.iter().map(|name| (*name).to_owned()).collect();
    let choice = Choice { gates: Some(&gates), ..Choice::of(Place::Proxy) };
    Engine::new(&settings, &choice, &mut |_| Err("no files in tests".to_owned())).unwrap()
}

fn judge(engine: &Engine, output: &str) -> Verdict {
    let output = RawValue::from_string(output.to_owned()).unwrap();
    engine.evaluate(&Context::of(&output), &|| Duration::ZERO)
}

#[track_caller]
fn check(gates: &[&str], output: &str, redacted: Option<&str>, reasons: &[Option<&str>]) {
    let verdict = judge(&engine(gates), output);
    assert!(verdict.passed, "{verdict:?}");
    assert_eq!(verdict.redacted.as_deref(), redacted, "{output}");
    assert_eq!(
        verdict.gates.iter().map(|gate| gate.reason.as_deref()).collect::<Vec<_>>(),
        reasons,
        "{output}"
    );
    assert!(verdict.gates.iter().all(|gate| !gate.skipped));
}

#[test]
fn only_findings_are_replaced() {
    for (output, redacted, reason) in [
        ("7", None, None),
        (r#"{"card":4111111111111112}"#, None, None),
        (
            r#"{"card": [ 4111111111111111 ], "a@b.org": 1}"#,
            Some(r#"{"card": [ "[payment card number]" ], "[email address]": 1}"#),
            Some("redacted 1 email address, 1 payment card number"),
        ),
        (r#""fine""#, None, None),
        (
            r#""to a@b.org, or c@d.org""#,
            Some(r#""to [email address], or [email address]""#),
            Some("redacted 2 email address"),
        ),
        (
            r#"{ "k" : 1.50, "a@b.org" : [ "\u00e9 \ud83d\ude00\u0061@b.or\u0067\n" , true ] }"#,
            Some(r#"{ "k" : 1.50, "[email address]" : [ "\u00e9 \ud83d\ude00[email address]\n" , true ] }"#),
            Some("redacted 2 email address"),
        ),
        (
            r#"{"a":"x@y.zz","a":"x@y.zz"}"#,
            Some(r#"{"a":"[email address]","a":"[email address]"}"#),
            Some("redacted 2 email address"),
        ),
        (
            r#""call (212) 555-0123.""#,
            Some(r#""call [us phone number].""#),
            Some("redacted 1 us phone number"),
        ),
        (
            r#""call +1 (212) 555-0123""#,
            Some(r#""call [us phone number]""#),
            Some("redacted 1 us phone number"),
        ),
        (
            r#""call +1-212-555-0123""#,
            Some(r#""call [us phone number]""#),
            Some("redacted 1 us phone number"),
        ),
        (r#""x1 212-555-0123 y""#, Some(r#""x1 [us phone number] y""#), Some("redacted 1 us phone number")),
        (r#""11 212-555-0123 y""#, Some(r#""11 [us phone number] y""#), Some("redacted 1 us phone number")),
        (
            r#""DE89370400440532013000, GB82 WEST 1234 5698 7654 32; 4111 1111 1111 1111; 123-45-6789 a@b.org""#,
            Some(r#""[iban], [iban]; [payment card number]; [us ssn] [email address]""#),
            Some("redacted 1 email address, 1 us ssn, 1 payment card number, 2 iban"),
        ),
    ] {
        check(&["pii"], output, redacted, &[reason]);
    }
}

#[test]
fn json_inside_strings_stays_json() {
    let one = Some("redacted 1 email address");
    for (inner, redacted, reason) in [
        (r#"{"a":"x a@b.org"}"#, r#"{"a":"x [email address]"}"#, one),
        (r#"{"a":"x\na@b.org"}"#, r#"{"a":"x\n[email address]"}"#, one),
        (r#"{"a":"x\\na@b.org"}"#, r#"{"a":"x\\[email address]"}"#, one),
        (r#"{"a":"\u0061@b.org"}"#, r#"{"a":"[email address]"}"#, one),
        (r#"{"a@b.org":[]}"#, r#"{"[email address]":[]}"#, one),
        (r#"["[\"a@b.org\"]"]"#, r#"["[\"[email address]\"]"]"#, one),
        (
            r#"{"card": 4111111111111111}"#,
            r#"{"card": "[payment card number]"}"#,
            Some("redacted 1 payment card number"),
        ),
        (
            r#"["{\"card\":4111111111111111}"]"#,
            r#"["{\"card\":\"[payment card number]\"}"]"#,
            Some("redacted 1 payment card number"),
        ),
    ] {
        for wrap in [|text: &str| json!({ "t": text }), |text: &str| json!([json!([text]).to_string()])] {
            let (output, redacted) = (wrap(inner).to_string(), wrap(redacted).to_string());
            check(&["pii"], &output, Some(&redacted), &[reason]);
        }
    }
}

#[test]
fn secrets_are_replaced_by_the_name_of_their_rule() {
    let body = "aB3xK9mQ7tR2wZ5yH8nJ4pL6cV1dF0gSaB3x";
    let token = format!("ghp_{body}");
    check(
        &["secrets"],
        &json!({ "a": token }).to_string(),
        Some(r#"{"a":"[github]"}"#),
        &[Some("redacted 1 github")],
    );
    let url = "postgres://admin:tr0ub4dor&3@db1";
    check(
        &["secrets"],
        &json!(url).to_string(),
        Some(r#""postgres://admin:[url-password]@db1""#),
        &[Some("redacted 1 url-password")],
    );
    let key = format!(
        "-----BEGIN RSA PRIVATE KEY-----\n{body}{body}\n{body}==\n-----END RSA PRIVATE KEY-----\nend"
    );
    let reason = Some("redacted 1 private-key");
    check(&["secrets"], &json!(key).to_string(), Some(r#""[private-key]\nend""#), &[reason]);
    let file = json!({ "key": key }).to_string();
    check(
        &["secrets"],
        &json!([file]).to_string(),
        Some(r#"["{\"key\":\"[private-key]\\nend\"}"]"#),
        &[reason],
    );
    let account = json!({ "private_key_id": "3f9a1c7e5b2d8046af13ce975bd206843f9a1c7e" }).to_string();
    check(
        &["secrets"],
        &json!([account]).to_string(),
        Some(r#"["{\"private_key_id\":\"[gcp-account]\"}"]"#),
        &[Some("redacted 1 gcp-account")],
    );
    // The rule for assignments finds the same value and comes later.
    let assigned = json!(format!("token: '{token}' auth_token: '{body}'")).to_string();
    check(
        &["secrets"],
        &assigned,
        Some("\"token: '[github]' auth_token: '[assigned]'\""),
        &[Some("redacted 1 github, 1 assigned")],
    );
}

#[test]
fn two_gates_edit_the_same_output() {
    let output = r#""own-aa@b.cc or d@e.ff""#;
    let reasons = [Some("redacted 2 email address"), Some("redacted 1 own")];
    check(&["pii", "own"], output, Some(r#""[email address] or [email address]""#), &reasons);
    check(&["own", "pii"], output, Some(r#""[own] or [email address]""#), &[reasons[1], reasons[0]]);
    check(&["pii", "content"], output, Some(r#""[email address] or [email address]""#), &[reasons[0], None]);
}

#[test]
fn unreadable_output_still_fails() {
    let verdict = judge(&engine(&["pii"]), &format!("{}{}", "[".repeat(129), "]".repeat(129)));
    assert!(!verdict.passed && verdict.redacted.is_none());
    let text = serde_json::to_string(&judge(&engine(&["pii"]), r#""a@b.org""#)).unwrap();
    assert!(!text.contains("redacted\":") && !text.contains("b.org"), "{text}");
}

#[test]
fn too_many_findings_fail() {
    for (gate, unit) in [("pii", "a@b.org ".to_owned()), ("own", "own-1 ".to_owned())] {
        for (count, passes) in [(GATE_FINDINGS_MAX, true), (GATE_FINDINGS_MAX + 1, false)] {
            let verdict = judge(&engine(&[gate]), &json!(unit.repeat(count)).to_string());
            assert_eq!(verdict.redacted.is_some(), passes);
            let reason = verdict.gates[0].reason.as_deref();
            assert_eq!(reason == Some("more than 65536 findings to redact"), !passes, "{reason:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn redacted_output_is_json_without_findings(text in "(a@b\\.org|212-555-0123|4111111111111111|\\\\|\"|\\{|\\}|\\[|\\]|:|,|é|n|u0061| |\n){0,20}", levels in 0..4_usize) {
        let mut value = json!(text);
        for _ in 0..levels {
            value = json!([value.to_string(), {"k": 4_111_111_111_111_111_u64}]);
        }
        let engine = engine(&["pii", "secrets"]);
        let output = value.to_string();
        let verdict = judge(&engine, &output);
        let redacted = verdict.redacted.unwrap_or(output);
        prop_assert!(serde_json::from_str::<Value>(&redacted).is_ok(), "{}", redacted);
        prop_assert!(!redacted.contains("a@b.org"), "{}", redacted);
    }
}
