//! Conversations, message by message.

mod gated;
mod malformed;
mod pinned;

use std::cell::Cell;

use renown_core::gates::{Choice, GateSettings, JudgedPart, Place};
use serde_json::{Value, json};

use super::*;

/// A clock that advances by a microsecond per reading, and consecutive numbers.
#[derive(Default)]
struct TestHost {
    ticks: Cell<u64>,
}

impl Host for TestHost {
    fn elapsed(&self) -> Duration {
        self.ticks.set(self.ticks.get() + 1);
        Duration::from_micros(self.ticks.get())
    }

    fn wall_millis(&self) -> u64 {
        1_700_000_000_000
    }

    fn random(&self) -> u64 {
        self.ticks.get()
    }
}

/// A session with the gates filesystem, pii and content, balanced as in the proxy.
struct TestSession {
    session: ProxySession,
    host: TestHost,
}

fn build(settings: &Value, pre: bool) -> Build {
    let settings: GateSettings = serde_json::from_value(settings.clone()).unwrap();
    Arc::new(move |roots| {
        let engine = |part, gates: &[&str]| {
            let gates: Vec<String> = gates.iter().map(|gate| (*gate).to_owned()).collect();
            let choice = Choice { part, roots, gates: Some(&gates), ..Choice::of(Place::Proxy) };
            Engine::new(&settings, &choice, &mut |file| Err(file.to_owned())).ok()
        };
        let set = ["filesystem", "pii", "content"];
        Some(Arc::new(Engines {
            after: engine(JudgedPart::Output, &set)?,
            before: if pre { Some(engine(JudgedPart::Arguments, &set)?) } else { None },
            definitions: Some(engine(JudgedPart::Output, &["injection"])?),
        }))
    })
}

fn policy() -> Policy {
    Policy {
        server: "s".to_owned(),
        agent: None,
        observe: false,
        pin: PinMode::Block,
        logged: Vec::new(),
        ungated: Vec::new(),
    }
}

impl TestSession {
    fn new(policy: Policy, pre: bool) -> Self {
        Self::with(policy, &json!({}), pre)
    }

    fn with(policy: Policy, settings: &Value, pre: bool) -> Self {
        let pins = Arc::new(Mutex::new(Pins::new("s".to_owned())));
        let session = ProxySession::new(Arc::new(policy), build(settings, pre), pins).unwrap();
        Self { session, host: TestHost::default() }
    }

    fn client(&mut self, message: &str) -> Effects {
        self.session.from_client(format!("{message}\n").as_bytes(), &self.host)
    }

    fn server(&mut self, message: &str) -> Effects {
        self.session.from_server(format!("{message}\n").as_bytes(), &self.host)
    }

    /// Calls a tool, and checks that the call is forwarded.
    fn call(&mut self, id: &str) {
        let effects = self.client(&call(id, "{}"));
        assert_eq!((effects.forward, effects.to_client.len()), (Forward::AsIs, 0));
    }
}

fn call(id: &str, arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"t","arguments":{arguments}}}}}"#
    )
}

fn result(id: &str, text: &str) -> String {
    let text = serde_json::to_string(text).unwrap();
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":{text}}}]}}}}"#)
}

/// Returns the id and the text of the error that replaces a message.
fn error(effects: &Effects) -> (String, String) {
    let Forward::Changed(bytes) = &effects.forward else { panic!("{:?}", effects.forward) };
    assert!(bytes.ends_with(b"\n"));
    let error: Value = serde_json::from_slice(bytes).unwrap();
    assert_eq!(error["error"]["code"], -32000);
    (error["id"].to_string(), error["error"]["message"].as_str().unwrap().to_owned())
}

const BAD: &str = "mail ada@lovelace.org";

#[test]
fn messages_that_need_no_change_pass_unchanged() {
    let mut fixture = TestSession::new(policy(), true);
    for message in [
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"clientInfo":{"name":"c"}}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"method":"prompts/get","id":1,"params":{"name":"greet"}}"#,
        r#"{"id":9,"result":{"messages":[{"content":{"type":"text","text":"hello"}}]}}"#,
        r#" {"id":9,"result":{}} "#,
        r#"[{"id":9,"result":{}}, {"method":"n"}]"#,
        "",
        " \t",
    ] {
        for effects in [fixture.client(message), fixture.server(message)] {
            assert_eq!((effects.forward, effects.to_client.len()), (Forward::AsIs, 0), "{message}");
            assert!(effects.records.is_empty() && effects.warnings.is_empty(), "{message}");
            assert_eq!(effects.malformed, None, "{message}");
        }
    }
    for message in ["hello ada@lovelace.org", "{broken", "[]", "17", r#"{"id":1,"result":NaN}"#] {
        assert_eq!(fixture.client(message).forward, Forward::AsIs, "the client is trusted: {message}");
        let effects = fixture.server(message);
        assert_eq!(effects.forward, Forward::Nothing, "{message}");
        assert!(effects.malformed.is_some(), "{message}");
    }
}

#[test]
fn a_result_is_forwarded_or_blocked_and_recorded() {
    let mut fixture = TestSession::new(policy(), false);
    fixture.client(r#"{"id":0,"method":"initialize","params":{"clientInfo":{"name":"Claude\u0007 Code"}}}"#);
    fixture.call("1");
    let effects = fixture.server(&result("1", "fine"));
    assert_eq!(effects.forward, Forward::AsIs);
    let [record] = &effects.records[..] else { panic!() };
    assert_eq!((record.action, record.passed, record.counts), (Action::Forwarded, true, true));
    assert_eq!((record.agent_id.as_str(), record.tool.as_ref().unwrap().as_str()), ("Claude  Code", "t"));
    assert!(record.bytes > 20 && record.latency.is_some());
    fixture.call("\"b\"");
    let effects = fixture.server(&result("\"b\"", BAD));
    assert_eq!(error(&effects), ("\"b\"".to_owned(), "blocked by renown, the tool did run: pii".to_owned()));
    assert_eq!(effects.records[0].action, Action::Blocked);
    let again = fixture.server(&result("\"b\"", BAD));
    error(&again);
    assert!(!again.records[0].counts, "a second answer is judged, but does not count");
}

#[test]
fn unusual_spelling_does_not_bypass_the_gates() {
    for (asked, answered) in [
        ("1", result("\"1\"", BAD)),
        ("1", result("1.0", BAD)),
        ("\"7\"", result("7", BAD)),
        ("1", result("1", BAD).replace("\"id\"", "\"i\\u0064\"").replace("result", "res\\u0075lt")),
        ("1", result("1", BAD).replace("\"jsonrpc\"", "\"error\":null,\"jsonrpc\"")),
        ("1", result("1", "fine").replace("\"jsonrpc\"", "\"note\":\"mail ada@lovelace.org\",\"jsonrpc\"")),
        ("1", format!("\u{20}\t{}\r", result("1", BAD))),
    ] {
        let mut fixture = TestSession::new(policy(), false);
        fixture.call(asked);
        let effects = fixture.server(&answered);
        assert_eq!(error(&effects).0, asked, "{answered}");
    }
    for method in [r#""tools\/call""#, r#""t\u006fols/call""#] {
        let mut fixture = TestSession::new(policy(), false);
        fixture.client(&call("1", "{}").replace("\"tools/call\"", method));
        error(&fixture.server(&result("1", BAD)));
    }
}

#[test]
fn observing_mode_changes_nothing_and_records_the_verdict() {
    let mut fixture = TestSession::new(Policy { observe: true, ..policy() }, true);
    let effects = fixture.client(&call("1", r#"{"to":"ada@lovelace.org"}"#));
    assert_eq!(effects.forward, Forward::AsIs);
    let effects = fixture.server(&result("1", "fine"));
    assert_eq!(effects.forward, Forward::AsIs);
    let [record] = &effects.records[..] else { panic!() };
    assert_eq!((record.action, record.passed), (Action::Observed, false));
    let names: Vec<&str> = record.gates.iter().map(|gate| &*gate.name).collect();
    assert_eq!(names, ["pre.filesystem", "pre.pii", "filesystem", "pii", "content"]);
}

#[test]
fn arguments_are_judged_before_the_tool_runs() {
    let mut fixture = TestSession::new(policy(), true);
    let effects = fixture.client(&call("1", r#"{"to":"ada@lovelace.org"}"#));
    assert_eq!(effects.forward, Forward::Nothing);
    let reply: Value = serde_json::from_slice(&effects.to_client[0]).unwrap();
    assert_eq!(reply["error"]["message"], "blocked by renown before the tool ran: pre.pii");
    assert_eq!(reply["error"]["data"]["gates"][1]["reason"], "email address detected in arguments");
    assert_eq!((effects.records[0].action, effects.records[0].counts), (Action::Blocked, true));
    assert!(fixture.session.lost(&fixture.host).is_empty(), "the server never received the call");
    for arguments in ["{}", "null", r#"{"arguments":[]}"#] {
        assert_eq!(fixture.client(&call("2", arguments)).forward, Forward::AsIs, "{arguments}");
    }
    let twice = call("3", r#"{"a":1},"arguments":{"to":"ada@lovelace.org"}"#);
    assert_eq!(fixture.client(&twice).forward, Forward::Nothing);
}

#[test]
fn each_member_of_a_batch_is_judged() {
    let mut fixture = TestSession::new(policy(), true);
    let bad = call("2", r#"{"to":"ada@lovelace.org"}"#);
    let effects = fixture.client(&format!("[{}, {bad},{}]", call("1", "{}"), call("3", "{}")));
    let Forward::Changed(batch) = &effects.forward else { panic!() };
    assert_eq!(*batch, format!("[{},{}]\n", call("1", "{}"), call("3", "{}")).into_bytes());
    assert_eq!(effects.to_client.len(), 1);
    assert_eq!(fixture.client(&format!("[{bad}]")).forward, Forward::Nothing);
    let fine = format!("[{} , {{\"method\":\"n\"}}]", result("1", "fine"));
    assert_eq!(fixture.server(&fine).forward, Forward::AsIs);
    fixture.call("4");
    let effects = fixture.server(&format!("[{},{}]", result("4", "fine"), result("3", BAD)));
    let Forward::Changed(batch) = &effects.forward else { panic!() };
    let batch: Vec<Value> = serde_json::from_slice(batch).unwrap();
    assert_eq!((batch[0]["id"].clone(), batch[0]["error"].is_null()), (json!(4), true));
    assert_eq!((batch[1]["id"].clone(), batch[1]["error"]["code"].clone()), (json!(3), json!(-32000)));
    assert_eq!(effects.records.len(), 2);
}

#[test]
fn errors_are_judged_and_lost_calls_are_logged() {
    let mut fixture = TestSession::new(policy(), false);
    fixture.call("1");
    let effects = fixture.server(r#"{"id":1,"error":{"code":-1,"message":"no such file"}}"#);
    assert_eq!(effects.forward, Forward::AsIs);
    assert!(effects.records[0].tool_error && !effects.records[0].counts);
    for answer in [
        r#"{"id":1,"error":{"code":-1,"message":"mail ada@lovelace.org"}}"#,
        r#"{"id":1,"error":{"code":-1,"message":"no","data":{"to":["ada@lovelace.org"]}}}"#,
        r#"{"id":1,"error":{"code":-1,"message":"no","other":"ada@lovelace.org"}}"#,
        r#"{"id":1,"error":{"code":-1,"message":"no"},"other":"ada@lovelace.org"}"#,
    ] {
        fixture.call("1");
        let effects = fixture.server(answer);
        assert_eq!(error(&effects).1, "blocked by renown, the tool did run: pii", "{answer}");
        assert_eq!((effects.records[0].action, effects.records[0].tool_error), (Action::Blocked, true));
    }
    let effects = fixture.server(r#"{"id":null,"error":{"code":-1,"message":"ada@lovelace.org"}}"#);
    assert_eq!(error(&effects).1, "blocked by renown: pii", "also if it answers no request");
    for id in ["2", "3", "4"] {
        fixture.call(id);
    }
    fixture.client(r#"{"method":"notifications/cancelled","params":{"requestId":"3"}}"#);
    fixture.server(&result("2", "fine"));
    let lost = fixture.session.lost(&fixture.host);
    assert_eq!(
        lost.iter().map(|record| (record.action, record.counts)).collect::<Vec<_>>(),
        [(Action::Lost, false)]
    );
}

#[test]
fn results_of_tasks_and_of_other_methods_are_judged() {
    let mut fixture = TestSession::new(policy(), false);
    fixture.call("1");
    let handle = r#"{"id":1,"result":{"task":{"taskId":"x","status":"working"}}}"#;
    assert_eq!(fixture.server(handle).forward, Forward::AsIs);
    fixture.client(r#"{"id":2,"method":"tasks/get","params":{"taskId":"x"}}"#);
    let effects = fixture.server(r#"{"id":2,"result":{"taskId":"x","status":"working"}}"#);
    assert!(effects.forward == Forward::AsIs && effects.records.is_empty(), "it has no result yet");
    fixture.client(r#"{"id":3,"method":"tasks/get","params":{"taskId":"x"}}"#);
    let inner = r#"{"content":[{"type":"text","text":"ada@lovelace.org"}]}"#;
    let effects = fixture.server(&format!(r#"{{"id":3,"result":{{"taskId":"x","result":{inner}}}}}"#));
    error(&effects);
    assert_eq!(effects.records[0].tool.as_ref().unwrap().as_str(), "t");
    fixture.client(r#"{"id":4,"method":"tasks/result","params":{"taskId":"x"}}"#);
    error(&fixture.server(&result("4", BAD)));
    fixture.client(r#"{"id":5,"method":"resources/read","params":{"uri":"u"}}"#);
    error(&fixture.server(r#"{"id":5,"result":{"contents":[{"uri":"u","text":"ada@lovelace.org"}]}}"#));
}

#[test]
fn the_gates_use_the_roots_of_the_client() {
    let strict = json!({"gates": {"strictness": "strict"}});
    let mut fixture = TestSession::with(policy(), &strict, false);
    fixture.call("1");
    error(&fixture.server(&result("1", "see /usr/project/a")));
    fixture.server(r#"{"id":"r1","method":"roots/list"}"#);
    fixture.client(r#"{"id":"r1","result":{"roots":[{"uri":"file:///usr/project"}]}}"#);
    fixture.call("2");
    assert_eq!(fixture.server(&result("2", "see /usr/project/a")).forward, Forward::AsIs);
    fixture.client(r#"{"id":"r1","result":{"roots":[{"uri":"file:///usr"}]}}"#);
    fixture.call("3");
    error(&fixture.server(&result("3", "see /usr/bin/a")));
}

#[test]
fn a_result_without_a_request_is_still_judged() {
    let mut fixture = TestSession::new(policy(), false);
    let effects = fixture.server(&result("9", BAD));
    error(&effects);
    assert!(!effects.records[0].counts);
    let other = r#"{"id":8,"result":{"messages":["ada@lovelace.org"]}}"#;
    assert_eq!(error(&fixture.server(other)).1, "blocked by renown: pii");
}

#[test]
fn a_redacted_message_keeps_everything_else_as_written() {
    let redact = json!({"gate": {"pii": {"mode": "redact"}}});
    let result = r#"{"id":1,"result":{"structuredContent":{"e":1E400,"b":12345678901234567890123,"a":"x@y.org"},"content":[]}}"#;
    let mut fixture = TestSession::with(policy(), &redact, false);
    fixture.call("1");
    let effects = fixture.server(result);
    let Forward::Changed(new) = effects.forward else { panic!("{:?}", effects.forward) };
    assert_eq!(String::from_utf8(new).unwrap().trim(), result.replace("x@y.org", "[email address]"));
    assert_eq!(effects.records[0].action, Action::Redacted);
    let mut fixture = TestSession::with(Policy { observe: true, ..policy() }, &redact, false);
    fixture.call("1");
    let effects = fixture.server(result);
    assert_eq!((effects.forward, effects.records[0].action), (Forward::AsIs, Action::Observed));
}

#[test]
fn similar_ids_are_distinguished_if_both_are_waiting() {
    let mut fixture = TestSession::new(policy(), false);
    fixture.client(r#"{"id":"1","method":"tools/list"}"#);
    fixture.call("1");
    error(&fixture.server(&result("1", BAD)));
    assert_eq!(fixture.server(&tools("\"1\"", &json!([]))).forward, Forward::AsIs);
}

fn tools(id: &str, tools: &Value) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"tools":{tools},"x":"n"}}}}"#)
}

#[test]
fn messages_that_are_too_long_get_an_error() {
    let mut fixture = TestSession::new(policy(), false);
    fixture.call("\"x\"");
    let long = Oversized { ids: vec!["\"x\"".to_owned()], ..Oversized::default() };
    let effects = fixture.session.oversized_from_server(&long, &fixture.host);
    let reply: Value = serde_json::from_slice(&effects.to_client[0]).unwrap();
    assert_eq!(
        (reply["id"].clone(), reply["error"]["message"].clone()),
        (json!("x"), json!("renown:too_large"))
    );
    assert_eq!(effects.records[0].action, Action::Blocked);
    let long = Oversized { ids: vec!["3".to_owned()], is_request: true, ..Oversized::default() };
    assert_eq!(fixture.session.oversized_from_client(&long).to_client.len(), 1);
    assert_eq!(fixture.session.oversized_from_server(&long, &fixture.host).to_server.len(), 1);
}
