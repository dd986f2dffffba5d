//! What the gates see, and what they are given beside it.

use super::*;

fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap()
}

fn seen(result: &str, shape: Shape) -> (String, bool, bool) {
    let result = raw(result);
    let seen = see(&result, shape);
    (seen.json, seen.is_empty, seen.is_error)
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
        assert_eq!(seen(result, Shape::Tool), (json.to_owned(), is_empty, false), "{result}");
    }
    let contents = r#"{"contents":[{"uri":"u","blob":"AAAA"},{"text":"t"}]}"#;
    assert_eq!(seen(contents, Shape::Other).0, contents.replace("AAAA", ""));
    let messages = r#"{"messages":[{"role":"user","content":{"type":"image","data":"iVBORw0KGgo="}}]}"#;
    assert_eq!(seen(messages, Shape::Other).0, messages.replace("iVBORw0KGgo=", ""));
    assert!(seen(r#"{"content":[],"isError":true}"#, Shape::Tool).2);
}

#[test]
fn only_a_task_with_an_id_and_a_status_defers_the_result() {
    let task = |result: &str, shape| see(&raw(result), shape).task;
    for (result, shape) in [
        (r#"{"task":{"taskId":"t","status":"working"}}"#, Shape::Tool),
        (r#"{"resultType":"task","taskId":"t","status":"working"}"#, Shape::Tool),
        (r#"{"taskId":"t","status":"working"}"#, Shape::Task),
    ] {
        assert_eq!(task(result, shape).as_deref(), Some("t"), "{result}");
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
        assert_eq!(task(result, Shape::Tool), None, "{result}");
    }
}

fn beside(result: &str) -> Vec<String> {
    see(&raw(result), Shape::Tool).beside()
}

#[test]
fn texts_are_joined_and_text_in_base64_is_decoded() {
    let text = |text: &str| format!(r#"{{"type":"text","text":"{text}"}}"#);
    assert_eq!(beside(&format!(r#"{{"content":[{}]}}"#, text("one"))), [] as [String; 0]);
    assert_eq!(beside(&format!(r#"{{"content":[{},{}]}}"#, text("ghp_"), text("abc"))), ["ghp_abc"]);
    let blob = r#"{"type":"resource","resource":{"uri":"u","mimeType":"text/plain","blob":"aGVsbG8="}}"#;
    assert_eq!(beside(&format!(r#"{{"content":[{blob}]}}"#)), ["hello"]);
    assert_eq!(beside(&format!(r#"{{"content":[{},{blob}]}}"#, text("a"))), ["hello", "ahello"]);
    let contents = r#"{"contents":[{"uri":"u","text":"x"},{"uri":"v","text":"y"}]}"#;
    assert_eq!(beside(contents), ["xy"]);
    let messages =
        r#"{"messages":[{"content":{"type":"text","text":"x"}},{"content":[{"type":"text","text":"y"}]}]}"#;
    assert_eq!(beside(messages), ["xy"]);
    let svg = r#"{"content":[{"type":"image","mimeType":"image/svg+xml","data":"PHN2Zz4="}]}"#;
    assert_eq!(beside(svg), ["<svg>"]);
}

#[test]
fn of_a_long_text_the_ends_are_joined() {
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
fn what_is_redacted_is_put_back_with_its_data() {
    for value in [
        r#"{"n":12345678901234567890123,"content":[{"type":"text","text":"x@y.zz","n":1E400},{"type":"image","data":"iVBO"},{"type":"resource","resource":{"blob":"AA","uri":"u"}}],"structuredContent":{"x@y.zz":1},"_meta":{"a":1}}"#,
        r#"{"taskId":"t","result":{"content":[{"type":"text","text":"x@y.zz"},{"type":"image","data":"iVBO"}]}}"#,
        r#"{"contents":[{"uri":"u","blob":"AA"},{"text":"x@y.zz"}],"n":1E400}"#,
        r#"{"messages":[{"content":{"type":"image","data":"iVBO"}},{"content":{"type":"text","text":"x@y.zz"}}]}"#,
    ] {
        let left = seen(value, Shape::Other).0.replace("x@y.zz", "[email address]");
        assert_eq!(redacted(&raw(value), &left).unwrap(), value.replace("x@y.zz", "[email address]"));
    }
}
