//! Gating of everything that is not a result of a tool, and of hidden parts of results.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use super::*;

/// Encodes a text in base64.
fn base64(text: &str) -> String {
    BASE64_STANDARD.encode(text)
}

#[test]
fn results_of_every_method_are_judged() {
    let blob = base64(BAD);
    for (method, result) in [
        ("resources/read", json!({"contents": [{"uri": "u", "text": BAD}]})),
        ("resources/read", json!({"contents": [{"uri": "u", "mimeType": "text/plain", "blob": blob}]})),
        ("resources/read", json!({"contents": [{"uri": "u", "blob": blob}]})),
        (
            "resources/read",
            json!({"contents": [{"uri": "u", "text": "mail ada@lov"}, {"uri": "v", "text": "elace.org"}]}),
        ),
        ("prompts/get", json!({"messages": [{"role": "user", "content": {"type": "text", "text": BAD}}]})),
        ("prompts/get", json!({"description": BAD, "messages": []})),
        ("completion/complete", json!({"completion": {"values": [BAD]}})),
        ("ping", json!({"_meta": {"note": BAD}})),
        ("vendor/method", json!({"anything": [{"deep": BAD}]})),
        ("tools/list", json!({"tools": [], "_meta": {"note": BAD}})),
        ("prompts/list", json!({"prompts": [], "note": BAD})),
    ] {
        let mut fixture = TestSession::new(policy(), false);
        fixture.client(&json!({"id": 1, "method": method, "params": {"name": "n"}}).to_string());
        let effects = fixture.server(&json!({"id": 1, "result": result}).to_string());
        assert_eq!(error(&effects).1, "blocked by renown: pii", "{method} {result}");
        let [record] = &effects.records[..] else { panic!("{method}") };
        assert_eq!((record.action, record.counts), (Action::Blocked, false), "only calls of tools count");
        assert_eq!(record.tool.as_ref().unwrap().as_str(), method);
    }
}

#[test]
fn a_method_can_be_excluded_from_the_gates_or_logged() {
    let ungated = vec!["prompts/get".to_owned(), "notifications/message".to_owned()];
    let mut fixture =
        TestSession::new(Policy { ungated, logged: vec!["resources/read".to_owned()], ..policy() }, false);
    fixture.client(r#"{"id":1,"method":"prompts/get"}"#);
    assert_eq!(
        fixture.server(&json!({"id": 1, "result": {"description": BAD}}).to_string()).forward,
        Forward::AsIs
    );
    let note = json!({"method": "notifications/message", "params": {"data": BAD}}).to_string();
    assert_eq!(fixture.server(&note).forward, Forward::AsIs);
    fixture.client(r#"{"id":2,"method":"resources/read"}"#);
    let effects = fixture.server(r#"{"id":2,"result":{"contents":[]}}"#);
    assert_eq!((effects.records[0].action, effects.records[0].counts), (Action::Forwarded, false));
}

#[test]
fn hidden_parts_of_a_result_are_judged() {
    for result in [
        json!({"content": [{"type": "text", "text": "mail ada@love"}, {"type": "text", "text": "lace.org now"}]}),
        json!({"content": [{"type": "text", "text": "x"}], "_meta": {"note": BAD}}),
        json!({"content": [{"type": "text", "text": "x"}], "other": BAD}),
        json!({"content": [{"type": "resource", "resource": {"uri": "u", "mimeType": "text/html", "blob": base64(BAD)}}]}),
        json!({"content": [{"type": "image", "mimeType": "image/svg+xml", "data": base64(BAD)}]}),
        json!({"task": null, "content": [{"type": "text", "text": BAD}]}),
        json!({"task": {"taskId": "t", "status": "working", "statusMessage": BAD}}),
        json!({"content": [{"type": "text", "text": "x", "annotations": {"audience": [BAD]}}]}),
    ] {
        let mut fixture = TestSession::new(policy(), false);
        fixture.call("1");
        let effects = fixture.server(&json!({"id": 1, "result": result}).to_string());
        assert_eq!(error(&effects).1, "blocked by renown, the tool did run: pii", "{result}");
        assert!(effects.records[0].counts);
    }
}

#[test]
fn findings_that_cannot_be_redacted_are_blocked() {
    let redact = json!({"gate": {"pii": {"mode": "redact"}}});
    for (content, is_redacted) in [
        (json!([{"type": "text", "text": BAD}, {"type": "text", "text": "fine"}]), true),
        (json!([{"type": "text", "text": "mail ada@love"}, {"type": "text", "text": "lace.org now"}]), false),
        (json!([{"type": "resource", "resource": {"uri": "u", "blob": base64(BAD)}}]), false),
    ] {
        let mut fixture = TestSession::with(policy(), &redact, false);
        fixture.call("1");
        let effects = fixture.server(&json!({"id": 1, "result": {"content": content}}).to_string());
        let action = if is_redacted { Action::Redacted } else { Action::Blocked };
        assert_eq!(effects.records[0].action, action, "{content}");
        let Forward::Changed(new) = effects.forward else { panic!("{content}") };
        assert!(!String::from_utf8(new).unwrap().contains("lovelace"), "{content}");
    }
}

#[test]
fn notifications_and_requests_of_the_server_are_judged() {
    let mut fixture = TestSession::new(policy(), false);
    for (method, params) in [
        ("notifications/message", json!({"level": "info", "data": {"x": [BAD]}})),
        ("notifications/progress", json!({"progressToken": 1, "progress": 1, "message": BAD})),
        ("notifications/vendor", json!([BAD])),
    ] {
        let effects =
            fixture.server(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string());
        assert_eq!((effects.forward, effects.to_client.len()), (Forward::Nothing, 0), "{method}");
        assert_eq!(effects.warnings, [format!("a notification {method} of the server is dropped: pii")]);
        assert_eq!((effects.records[0].action, effects.records[0].counts), (Action::Blocked, false));
    }
    let message = json!({"role": "user", "content": {"type": "text", "text": BAD}});
    for (method, params) in [
        ("sampling/createMessage", json!({"messages": [message], "maxTokens": 1})),
        ("sampling/createMessage", json!({"messages": [], "systemPrompt": BAD})),
        ("elicitation/create", json!({"message": BAD, "requestedSchema": {}})),
        (
            "elicitation/create",
            json!({"message": "m", "requestedSchema": {"properties": {"a": {"title": BAD}}}}),
        ),
    ] {
        let effects = fixture
            .server(&json!({"jsonrpc": "2.0", "id": "s", "method": method, "params": params}).to_string());
        assert_eq!((effects.forward, effects.to_client.len()), (Forward::Nothing, 0), "{method}");
        let answer: Value = serde_json::from_slice(&effects.to_server[0]).unwrap();
        assert_eq!(
            (&answer["id"], &answer["error"]["message"]),
            (&json!("s"), &json!("blocked by renown: pii"))
        );
    }
    for fine in [
        r#"{"method":"notifications/message","params":{"level":"info","data":"fine"}}"#,
        r#"{"id":1,"method":"ping"}"#,
        r#"{"id":2,"method":"roots/list"}"#,
        r#"{"method":"notifications/cancelled","params":{"requestId":1,"reason":"late"}}"#,
    ] {
        assert_eq!(fixture.server(fine).forward, Forward::AsIs, "{fine}");
    }
    let mut fixture = TestSession::new(Policy { observe: true, ..policy() }, false);
    let effects =
        fixture.server(&json!({"method": "notifications/message", "params": {"data": BAD}}).to_string());
    assert_eq!((effects.forward, effects.records[0].action), (Forward::AsIs, Action::Observed));
}

/// A clock that advances by a millisecond per reading, as on a busy machine.
#[derive(Default)]
struct BusyHost(Cell<u64>);

impl Host for BusyHost {
    fn elapsed(&self) -> Duration {
        self.0.set(self.0.get() + 1);
        Duration::from_millis(self.0.get())
    }

    fn wall_millis(&self) -> u64 {
        1_700_000_000_000
    }

    fn random(&self) -> u64 {
        self.0.get()
    }
}

#[test]
fn the_budget_grows_with_the_result() {
    for (megabytes, budget_ms, action) in
        [(0, 50, Action::Forwarded), (8, 50, Action::Forwarded), (8, 1, Action::Blocked)]
    {
        let mut fixture = TestSession::with(policy(), &json!({"gates": {"budget_ms": budget_ms}}), false);
        fixture.call("1");
        let text = "all is well ".repeat((megabytes << 20) / 12 + 1);
        let line = result("1", &text);
        let effects = fixture.session.from_server(line.as_bytes(), &BusyHost::default());
        assert_eq!(effects.records[0].action, action, "{megabytes} MB in {budget_ms} ms per block");
    }
}
