//! Private keys in printed forms. Their characters are a fixed sequence; none of them was ever valid.

use core::time::Duration;

use serde_json::{Value, json};

use crate::gates::{Choice, Context, Engine, GateSettings, Place};

const KINDS: [&str; 4] = ["RSA PRIVATE KEY", "PRIVATE KEY", "OPENSSH PRIVATE KEY", "PGP PRIVATE KEY BLOCK"];

/// Returns this many lines of 64 characters and a short one.
fn body(lines: usize) -> Vec<String> {
    let mut chars = "aB3xK9mQ7tR2wZ5yH8nJ4pL6cV1dF0gSuE".chars().cycle();
    let mut line = |length: usize| chars.by_ref().take(length).collect::<String>();
    let mut body: Vec<String> = (0..lines).map(|_| line(64)).collect();
    body.push(format!("{}==", line(6)));
    body
}

fn key(kind: &str, lines: usize) -> Vec<String> {
    let mut key = vec![format!("-----BEGIN {kind}-----")];
    key.extend(body(lines));
    key.push(format!("-----END {kind}-----"));
    key
}

/// Returns the reason of the gate and the redacted output.
fn redacted(output: &Value) -> (Option<String>, String) {
    let settings: GateSettings =
        serde_json::from_value(json!({"gate": {"secrets": {"mode": "redact"}}})).unwrap();
    let gates = ["secrets".to_owned()];
    let choice = Choice { gates: Some(&gates), ..Choice::of(Place::Proxy) };
    let engine = Engine::new(&settings, &choice, &mut |_| Err(String::new())).unwrap();
    let output = serde_json::value::to_raw_value(output).unwrap();
    let verdict = engine.evaluate(&Context::of(&output), &|| Duration::ZERO);
    assert!(verdict.passed);
    let left = verdict.redacted.unwrap_or_else(|| output.get().to_owned());
    assert!(serde_json::from_str::<Value>(&left).is_ok(), "{left}");
    (verdict.gates[0].reason.clone(), left)
}

/// Asserts that nothing of a key is left.
#[track_caller]
fn gone(output: &Value, left: &str) {
    for line in body(3) {
        let part: String = line.chars().take(6).collect();
        assert!(!left.contains(&part), "{part} of {output} in {left}");
    }
}

/// Returns the lines with text that may be before and after each of them.
fn prefixed(lines: &[String]) -> Vec<String> {
    let each = |line: &dyn Fn(usize, &str) -> String| {
        let lines = lines.iter().enumerate().map(|(at, text)| line(at + 1, text));
        lines.collect::<Vec<_>>().join("\n")
    };
    vec![
        each(&|_, line| line.to_owned()),
        each(&|_, line| format!("{line}\r")),
        each(&|at, line| format!("key.pem:{at}:{line}")),
        each(&|at, line| format!("deploy/secrets/id_rsa.pem:{at}:{line}")),
        each(&|at, line| format!("{at:>6}\u{2192}{line}")),
        each(&|at, line| format!("{at:>6}\t{line}")),
        each(&|_, line| format!("# {line}")),
        each(&|_, line| format!("//   {line}")),
        each(&|_, line| format!("> {line}")),
        each(&|_, line| format!("< {line}")),
        each(&|_, line| format!("-{line}")),
        each(&|_, line| format!("+{line}")),
        each(&|_, line| format!("    \"{line}\\n\" +")),
        each(&|_, line| format!("  '{line}',")),
        each(&|_, line| format!("      | {line} |")),
        lines.join("\\n"),
        lines.join(" "),
    ]
}

#[test]
fn a_key_is_redacted_whole_with_any_text_around_its_lines() {
    for kind in KINDS {
        for text in prefixed(&key(kind, 3)) {
            for text in [format!("see\n{text}\nthere, fine"), text] {
                let (reason, left) = redacted(&json!(text));
                assert_eq!(reason.as_deref(), Some("redacted 1 private-key"), "{text}");
                gone(&json!(text), &left);
                assert!(!text.ends_with("fine") || left.contains("there, fine"), "{left}");
                assert!(!left.contains("-----END"), "{left}");
            }
        }
    }
}

#[test]
fn an_unterminated_key_is_redacted_to_its_last_line() {
    let mut cut = key("RSA PRIVATE KEY", 3);
    cut.pop();
    for text in prefixed(&cut) {
        let whole = format!("{text}\nThat was it: no more.");
        let (reason, left) = redacted(&json!(whole));
        assert_eq!(reason.as_deref(), Some("redacted 1 private-key"), "{whole}");
        gone(&json!(whole), &left);
        assert!(left.contains("no more."), "{left}");
    }
}

#[test]
fn encrypted_keys_and_keys_with_headers_are_found() {
    for headers in [
        vec!["Proc-Type: 4,ENCRYPTED", "DEK-Info: AES-128-CBC,0123456789ABCDEF0123456789ABCDEF", ""],
        vec!["Version: GnuPG v2", "Comment: a-b", ""],
    ] {
        let mut lines = key("RSA PRIVATE KEY", 3);
        lines.splice(1..1, headers.iter().map(|line| (*line).to_owned()));
        for text in prefixed(&lines).into_iter().filter(|text| text.contains('\n')) {
            let (reason, left) = redacted(&json!(text));
            assert_eq!(reason.as_deref(), Some("redacted 1 private-key"), "{text}");
            gone(&json!(text), &left);
        }
    }
}

#[test]
fn an_openssh_key_that_begins_with_zeros_is_found() {
    // Every key without a passphrase begins with a magic word, `none` twice, and lengths.
    let head = "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW";
    let mut lines = key("OPENSSH PRIVATE KEY", 3);
    lines.insert(1, head.to_owned());
    for text in prefixed(&lines).into_iter().filter(|text| text.contains('\n')) {
        let (reason, left) = redacted(&json!(text));
        assert_eq!(reason.as_deref(), Some("redacted 1 private-key"), "{text}");
        gone(&json!(text), &left);
    }
}

#[test]
fn lines_in_separate_strings_are_redacted_one_by_one() {
    let lines = key("PRIVATE KEY", 3);
    let objects: Vec<Value> =
        lines.iter().map(|line| json!({"type": "match", "text": format!("{line}\n"), "n": "1"})).collect();
    let numbered: Vec<String> =
        lines.iter().enumerate().map(|(at, line)| format!("{at}\u{2192}{line}")).collect();
    for output in [json!(lines), json!({"lines": lines, "ok": "yes"}), json!(objects), json!({"l": numbered})]
    {
        let (reason, left) = redacted(&output);
        assert_eq!(reason.as_deref(), Some("redacted 6 private-key"), "{output}");
        gone(&output, &left);
        // In JSON inside a string it is one key, which touches every string between its lines.
        let text = json!(output.to_string());
        let (reason, left) = redacted(&text);
        assert!(reason.is_some_and(|reason| reason.ends_with("private-key")), "{text}");
        gone(&text, &left);
    }
}

#[test]
fn text_between_begin_and_end_is_not_always_a_key() {
    let code =
        "    let certificateAuthority = internationalizationHelper(the, other, things, that, are, long);\n";
    let between = |start: &str| {
        format!(
            "x(\"-----BEGIN PRIVATE KEY-----\"{start}\n{}x(\"-----END PRIVATE KEY-----\")",
            code.repeat(9)
        )
    };
    assert_eq!(redacted(&json!(between(" - "))).0, None);
    // 64 bytes without a `-` count as a key, but the rest stays.
    let (reason, left) = redacted(&json!(between("")));
    assert_eq!(reason.as_deref(), Some("redacted 1 private-key"));
    assert!(left.contains("certificateAuthority") && left.contains("-----END"), "{left}");
}

#[test]
fn text_that_only_mentions_keys_passes() {
    let (short, public) = (body(0).remove(0), key("PUBLIC KEY", 3).join("\n"));
    for text in [
        "-----BEGIN PRIVATE KEY-----".to_owned(),
        format!("-----BEGIN PRIVATE KEY-----\n{short}\n-----END PRIVATE KEY-----"),
        "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----".to_owned(),
        format!("-----BEGIN PRIVATE KEY-----\n-\n{public}"),
        format!("-----BEGIN PRIVATE KEY-----\n# {}\n-----END PRIVATE KEY-----", "x".repeat(64)),
        format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----", "A".repeat(64)),
    ] {
        assert_eq!(redacted(&json!(text)).0, None, "{text}");
        assert_eq!(redacted(&json!(text.lines().collect::<Vec<_>>())).0, None, "{text}");
    }
}
