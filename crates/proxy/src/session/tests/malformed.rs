//! Messages that parsers read differently.

use super::*;

/// Some client would read a result in each of these lines.
#[test]
fn ambiguous_messages_are_dropped_and_the_request_gets_an_error() {
    let good = result("1", "fine");
    let lines: Vec<Vec<u8>> = [
        format!("x\r{good}"),
        format!("\u{a0}{good}"),
        format!("\u{c}{good}"),
        format!("\u{feff}{good}"),
        format!("{good}{good}"),
        format!("{good} x"),
        good.replace("\"result\"", "\"Result\""),
        good.replace("\"result\"", "\"RESULT\""),
        good.replace("\"result\"", "\"re\u{17f}ult\""),
        good.replace("\"result\"", "\"result\\u0000\""),
        good.replace("\"result\"", "\"result \""),
        good.replace("\"content\"", "\"content\":[],\"Content\""),
        good.replace("\"content\"", "\"Content\""),
        good.replace("\"type\"", "\"text\":\"\",\"Text\":\"\",\"type\""),
        good.replace("\"id\":1", "\"id\":1,\"Id\":2"),
        good.replace("\"jsonrpc\"", "\"x\":NaN,\"jsonrpc\""),
        good.replace("\"result\":", "\"result\":{\"content\":[]},\"r\\u0065sult\":"),
        good.replace("2.0", "1.0"),
        format!("[{good},5]"),
        good.replace("\"id\"", "\"method\":\"m\",\"id\""),
    ]
    .map(String::into_bytes)
    .into_iter()
    .chain([good
        .replace("fine", "\u{fffd}")
        .into_bytes()
        .iter()
        .map(|byte| if *byte == 0xef { 0xff } else { *byte })
        .collect()])
    .collect();
    for line in lines {
        let shown = String::from_utf8_lossy(&line).into_owned();
        let mut fixture = TestSession::new(policy(), false);
        fixture.call("1");
        let effects = fixture.session.from_server(&[&line, b"\n".as_slice()].concat(), &fixture.host);
        assert_eq!(effects.forward, Forward::Nothing, "{shown}");
        let [answer] = &effects.to_client[..] else { panic!("{shown}") };
        let answer: Value = serde_json::from_slice(answer).unwrap();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(1), &json!(-32000)), "{shown}");
        assert_eq!(effects.records[0].action, Action::Blocked);
        assert!(effects.records[0].gates.iter().all(|gate| gate.reason.as_deref() == Some("renown:error")));
        assert!(fixture.session.lost(&fixture.host).is_empty(), "it was answered: {shown}");
        // Observing mode drops nothing.
        let mut fixture = TestSession::new(Policy { observe: true, ..policy() }, false);
        let effects = fixture.session.from_server(&line, &fixture.host);
        assert!(effects.forward == Forward::AsIs && effects.malformed.is_some(), "{shown}");
    }
}

#[test]
fn a_request_whose_answer_was_not_recognized_gets_an_error_at_the_end_of_the_stream() {
    let mut fixture = TestSession::new(policy(), false);
    fixture.call("1");
    fixture.client(r#"{"id":2,"method":"ping"}"#);
    fixture.client(r#"{"id":3,"method":"ping"}"#);
    fixture.client(r#"{"method":"notifications/cancelled","params":{"requestId":3}}"#);
    assert!(fixture.session.give_up(None, &fixture.host).to_client.is_empty(), "nothing was dropped");
    // A message over several lines: none of the lines is a message.
    for line in ["{\"jsonrpc\":\"2.0\",", "\"id\":1,", "\"result\":{}}"] {
        assert_eq!(fixture.server(line).forward, Forward::Nothing);
    }
    let effects = fixture.session.give_up(None, &fixture.host);
    let answers: Vec<Value> =
        effects.to_client.iter().map(|answer| serde_json::from_slice(answer).unwrap()).collect();
    let errors: Vec<_> =
        answers.iter().map(|answer| (&answer["id"], answer["error"]["message"].as_str().unwrap())).collect();
    assert_eq!(errors, [(&json!(1), "renown:malformed"), (&json!(2), "renown:malformed")]);
    assert_eq!(effects.records.iter().map(|record| record.action).collect::<Vec<_>>(), [Action::Lost]);
}

#[test]
fn no_client_finds_a_line_end_in_a_message_that_passes() {
    let mut fixture = TestSession::new(policy(), false);
    fixture.call("1");
    let evil = result("2", "x").replace('"', "\\\"");
    let effects = fixture.server(
        &result("1", "a\u{2028}\u{2029}\u{85}")
            .replace("\"id\"", &format!("\"x\":[\r1,\r2],\"y\":\"{evil}\",\"id\"")),
    );
    let Forward::Changed(new) = &effects.forward else { panic!("{effects:?}") };
    let text = str::from_utf8(new).unwrap().strip_suffix('\n').unwrap();
    assert!(!text.contains(['\r', '\n', '\u{2028}', '\u{2029}', '\u{85}']), "{text}");
    let value: Value = serde_json::from_str(text).unwrap();
    assert_eq!(value["result"]["content"][0]["text"], "a\u{2028}\u{2029}\u{85}", "the value stays the same");
}
