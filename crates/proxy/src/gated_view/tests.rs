//! The view of the gates, and the extra texts.

use super::*;

fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap()
}

fn viewed(result: &str, kind: ValueKind) -> (String, bool, bool) {
    let result = raw(result);
    let view = view(&result, kind);
    (view.json, view.is_empty, view.is_error)
}

#[test]
fn gates_see_everything_but_data() {
    for (result, json, is_empty) in [
        (r#"{"content":[{"type":"text","text":"a"}],"_meta":{"x":1}}"#, "", false),
        (r#"{"content":[{"type":"text","text":" \n"}]}"#, "", true),
        (r#"{"content":[]}"#, "", true),
        (r#"{"content":null,"_meta":{"x":"y"},"other":"z"}"#, "", true),
        (r#"{"content":[],"structuredContent":{"a":1}}"#, "", false),
        (r#"{"content":[],"structuredContent":null}"#, "", true),
        (
            r#"{"content":[{"type":"image","data":"iVBORw0KGgo=","mimeType":"image/png"}]}"#,
            r#"{"content":[{"type":"image","data":"","mimeType":"image/png"}]}"#,
            false,
        ),
        (r#"{"content":[{"type":"audio","data":""}]}"#, "", true),
        (r#"{"content":[{"type":"text","data":"x","text":""}]}"#, "", true),
        (
            r#"{"content":[{"type":"resource","resource":{"uri":"u","blob":"AAAA"}}]}"#,
            r#"{"content":[{"type":"resource","resource":{"uri":"u","blob":""}}]}"#,
            false,
        ),
        (r#"{"content":[{"type":"text","text":"a","blob":"AAAA"}]}"#, "", false),
        (r#"{"content":[{"type":"resource_link","uri":"u"}]}"#, "", false),
        ("{}", "", true),
        ("null", "", true),
        (r#""text""#, "", false),
        (r#"{"content":"text"}"#, "", false),
        (r#"{"resultType":"input_required","inputRequests":{"a":{"method":"m"}}}"#, "", false),
        (r#"{"task":null,"content":[{"type":"text","text":"a"}]}"#, "", false),
        (r#"{"task":null}"#, "", true),
    ] {
        let json = if json.is_empty() { result } else { json };
        assert_eq!(viewed(result, ValueKind::Tool), (json.to_owned(), is_empty, false), "{result}");
    }
    let contents = r#"{"contents":[{"uri":"u","blob":"AAAA"},{"text":"t"}]}"#;
    assert_eq!(viewed(contents, ValueKind::Other).0, contents.replace("AAAA", ""));
    let messages = r#"{"messages":[{"role":"user","content":{"type":"image","data":"iVBORw0KGgo="}}]}"#;
    assert_eq!(viewed(messages, ValueKind::Other).0, messages.replace("iVBORw0KGgo=", ""));
    assert!(viewed(r#"{"content":[],"isError":true}"#, ValueKind::Tool).2);
}

#[test]
fn only_a_task_with_an_id_and_a_status_defers_the_result() {
    let task = |result: &str, kind| view(&raw(result), kind).task;
    for (result, kind) in [
        (r#"{"task":{"taskId":"t","status":"working"}}"#, ValueKind::Tool),
        (r#"{"resultType":"task","taskId":"t","status":"working"}"#, ValueKind::Tool),
        (r#"{"taskId":"t","status":"working"}"#, ValueKind::Task),
    ] {
        assert_eq!(task(result, kind).as_deref(), Some("t"), "{result}");
    }
    for result in [
        r#"{"task":null}"#,
        r#"{"task":"t"}"#,
        r#"{"task":{}}"#,
        r#"{"task":{"taskId":"t"}}"#,
        r#"{"task":{"taskId":7,"status":"working"}}"#,
        r#"{"task":[{"taskId":"t","status":"working"}]}"#,
        r#"{"taskId":"t","status":"working"}"#,
        r#"{"task":{"taskId":"t","status":"working"},"content":[]}"#,
        r#"{"task":{"taskId":"t","status":"working"},"structuredContent":{}}"#,
    ] {
        assert_eq!(task(result, ValueKind::Tool), None, "{result}");
    }
}

fn extra_texts(result: &str) -> Vec<String> {
    view(&raw(result), ValueKind::Tool).extra_texts()
}

#[test]
fn extra_texts_are_joined_texts_and_decoded_base64() {
    let text = |text: &str| format!(r#"{{"type":"text","text":"{text}"}}"#);
    assert_eq!(extra_texts(&format!(r#"{{"content":[{}]}}"#, text("one"))), [] as [String; 0]);
    assert_eq!(extra_texts(&format!(r#"{{"content":[{},{}]}}"#, text("ghp_"), text("abc"))), ["ghp_abc"]);
    let blob = r#"{"type":"resource","resource":{"uri":"u","mimeType":"text/plain","blob":"aGVsbG8="}}"#;
    assert_eq!(extra_texts(&format!(r#"{{"content":[{blob}]}}"#)), ["hello"]);
    assert_eq!(extra_texts(&format!(r#"{{"content":[{},{blob}]}}"#, text("a"))), ["hello", "ahello"]);
    let contents = r#"{"contents":[{"uri":"u","text":"x"},{"uri":"v","text":"y"}]}"#;
    assert_eq!(extra_texts(contents), ["xy"]);
    let messages =
        r#"{"messages":[{"content":{"type":"text","text":"x"}},{"content":[{"type":"text","text":"y"}]}]}"#;
    assert_eq!(extra_texts(messages), ["xy"]);
    let svg = r#"{"content":[{"type":"image","mimeType":"image/svg+xml","data":"PHN2Zz4="}]}"#;
    assert_eq!(extra_texts(svg), ["<svg>"]);
}

#[test]
fn only_the_ends_of_a_long_text_are_joined() {
    let long = "é".repeat(END_BYTES);
    let mut joined = String::new();
    join(&mut joined, &format!("head{long}{long}tail"));
    assert!(joined.starts_with("headé") && joined.ends_with("étail") && joined.contains("é…é"));
    assert!(joined.len() <= 2 * END_BYTES + 8);
    let mut joined = String::new();
    join(&mut joined, &"a".repeat(2 * END_BYTES));
    assert_eq!(joined.len(), 2 * END_BYTES);
}

#[test]
fn a_redacted_value_keeps_its_data() {
    for value in [
        r#"{"n":12345678901234567890123,"content":[{"type":"text","text":"x@y.zz","n":1E400},{"type":"image","data":"iVBO"},{"type":"resource","resource":{"blob":"AA","uri":"u"}}],"structuredContent":{"x@y.zz":1},"_meta":{"a":1}}"#,
        r#"{"taskId":"t","result":{"content":[{"type":"text","text":"x@y.zz"},{"type":"image","data":"iVBO"}]}}"#,
        r#"{"contents":[{"uri":"u","blob":"AA"},{"text":"x@y.zz"}],"n":1E400}"#,
        r#"{"messages":[{"content":{"type":"image","data":"iVBO"}},{"content":{"type":"text","text":"x@y.zz"}}]}"#,
    ] {
        let redacted_view = viewed(value, ValueKind::Other).0.replace("x@y.zz", "[email address]");
        assert_eq!(
            redacted(&raw(value), &redacted_view).unwrap(),
            value.replace("x@y.zz", "[email address]")
        );
    }
}
