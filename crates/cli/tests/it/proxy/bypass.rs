//! Ways in which a server may try to bypass the gates. Is everything judged that a client could read as the result of a call?

use serde_json::json;

use super::*;

const ADDRESS: &str = "jane.doe@corporation.org";

/// None of these replies to call 1 may pass the address to the client.
#[test]
fn no_spelling_bypasses_the_gates() {
    let result = "{\"content\":[{\"type\":\"text\",\"text\":\"jane.doe@corporation.org\"}]}";
    let answers = [
        format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{result}}}"),
        format!("{{\"id\":\"1\",\"result\":{result}}}"),
        format!("{{\"id\":1.0,\"result\":{result}}}"),
        format!("{{\"id\":1e0,\"result\":{result}}}"),
        format!("{{\"id\":9,\"id\":1,\"result\":{result}}}"),
        format!("{{\"id\":1,\"id\":9,\"result\":{result}}}"),
        format!("{{\"id\":1,\"result\":{result},\"result\":{{\"content\":[]}}}}"),
        format!("{{\"id\":1,\"result\":{{\"content\":[]}},\"result\":{result}}}"),
        format!("{{\"i\\u0064\":1,\"res\\u0075lt\":{result}}}"),
        format!("{{\"id\":1,\"result\":{result},\"error\":null}}"),
        format!("{{\"id\":1,\"method\":\"x\",\"result\":{result}}}"),
        format!("[{{\"id\":1,\"result\":{result}}}]"),
        format!("{{\"id\":1,\"x\":NaN,\"result\":{result}}}"),
        format!("\u{feff}{{\"id\":1,\"result\":{result}}}"),
        format!("{{\"id\":1,\"\\ud800\":0,\"result\":{result}}}"),
        format!(
            "{{\"id\":1,\"result\":{{\"\\udc00\":0,\"content\":[{{\"type\":\"text\",\"text\":\"{ADDRESS}\"}}]}}}}"
        ),
        format!(
            "{{\"id\":1,\"result\":{{\"content\":[{{\"\\ud800\":1,\"type\":\"text\",\"text\":\"{ADDRESS}\"}}]}}}}"
        ),
        format!(
            "{{\"id\":1,\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":\"\\ud800 {ADDRESS}\"}}]}}}}"
        ),
        format!(
            "{{\"id\":1,\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":\"{}\"}}]}}}}",
            ADDRESS.replace('@', "\\u0040")
        ),
        format!("{{\"id\":1,\"result\":{{\"content\":[],\"structuredContent\":{{\"{ADDRESS}\":1}}}}}}"),
        format!("{{\"id\":1,\"result\":{{\"content\":\"{ADDRESS}\"}}}}"),
        format!("{{\"id\":1,\"result\":\"{ADDRESS}\"}}"),
        format!(
            "{{\"id\":1,\"result\":{{\"content\":[{{\"type\":\"image\",\"type\":\"text\",\"data\":\"{ADDRESS}\",\"text\":\"{ADDRESS}\"}}]}}}}"
        ),
        format!(
            "{{\"id\":1,\"result\":{{\"isError\":true,\"content\":[{{\"type\":\"text\",\"text\":\"{ADDRESS}\"}}]}}}}"
        ),
        format!(
            "{{\"id\":1,\"result\":{{\"content\":[{{\"type\":\"resource\",\"resource\":{{\"uri\":\"x\",\"text\":\"{ADDRESS}\"}}}}]}}}}"
        ),
        format!(
            "{{\"id\":1,\"result\":{{\"resultType\":\"input_required\",\"inputRequests\":{{\"a\":{{\"method\":\"elicitation/create\",\"params\":{{\"message\":\"{ADDRESS}\"}}}}}}}}}}"
        ),
        format!("x\r{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{result}}}"),
        format!("\u{a0}{{\"id\":1,\"result\":{result}}}"),
        format!("\u{c}{{\"id\":1,\"result\":{result}}}"),
        format!("{{\"id\":7,\"result\":{{}}}}{{\"id\":1,\"result\":{result}}}"),
        format!("{{\"id\":1,\"Result\":{result}}}"),
        format!("{{\"id\":1,\"RESULT\":{result}}}"),
        format!("{{\"id\":1,\"re\u{17f}ult\":{result}}}"),
        format!("{{\"id\":1,\"result\\u0000\":{result}}}"),
        format!("{{\"id\":1,\"result\":{{\"content\":[],\"Content\":[{{\"type\":\"text\",\"text\":\"{ADDRESS}\"}}]}}}}"),
        format!("{{\"id\":1,\"result\":{{\"task\":null,\"content\":[{{\"type\":\"text\",\"text\":\"{ADDRESS}\"}}]}}}}"),
        format!("{{\"id\":1,\"result\":{{\"task\":{{\"taskId\":\"t\",\"status\":\"working\",\"statusMessage\":\"{ADDRESS}\"}}}}}}"),
        format!("{{\"id\":1,\"error\":{{\"code\":1,\"message\":\"{ADDRESS}\"}}}}"),
        format!("{{\"id\":1,\"error\":{{\"code\":1,\"message\":\"no\",\"data\":[\"{ADDRESS}\"]}}}}"),
        format!("{{\"id\":1,\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":\"x\"}}],\"_meta\":{{\"a\":\"{ADDRESS}\"}}}}}}"),
        format!("{{\"id\":1,\"note\":\"{ADDRESS}\",\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":\"x\"}}]}}}}"),
        format!(
            "{{\"id\":1,\"result\":{{\"content\":[{{\"type\":\"resource\",\"resource\":{{\"uri\":\"x\",\"mimeType\":\"text/plain\",\"blob\":\"{}\"}}}}]}}}}",
            base64(ADDRESS)
        ),
        "{\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"jane.doe@corp\"},{\"type\":\"text\",\"text\":\"oration.org\"}]}}".to_owned(),
        format!("{{\"id\":1,\"x\":{},\"result\":{result}}}", "[".repeat(200) + &"]".repeat(200)),
        format!(
            "{{\"id\":1,\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":\"x\"}}],\"structuredContent\":{}\"{ADDRESS}\"{}}}}}",
            "[".repeat(127),
            "]".repeat(127)
        ),
    ];
    for answer in answers {
        assert_blocked(answer.as_bytes());
    }
    assert_blocked(b"{\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"\xff jane.doe@corporation.org\"}]}}");
    assert_blocked(b"{\"id\":1,\"\xff\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"jane.doe@corporation.org\"}]}}");
}

#[track_caller]
fn assert_blocked(answer: &[u8]) {
    let shown = String::from_utf8_lossy(answer).into_owned();
    let scratch = Scratch::new();
    let mut proxy = Proxy::start(&scratch, &[]);
    let line = [answer, b"\n"].concat();
    proxy.call(&json!(1), "raw", &json!({"base64": base64(line)}));
    let got = String::from_utf8_lossy(&proxy.line()).into_owned();
    assert!(!got.contains("corporation.org"), "{shown}\ngave {got}");
    assert!(got.contains("-32000"), "{shown}\ngave {got}");
    assert_eq!(actions(&scratch), ["blocked"], "{shown}");
}

/// Messages without a call are judged too: a notification is dropped, a request is answered with an error.
#[test]
fn unsolicited_messages_do_not_bypass_the_gates() {
    let scratch = Scratch::new();
    let received = scratch.at("received");
    let mut proxy = Proxy::spawn(&mut command(&scratch, &[], &python(&["--received", &received])));
    let note = |method: &str, params: Value| {
        json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string()
    };
    let ask = |method: &str, params: Value| {
        json!({"jsonrpc": "2.0", "id": "s1", "method": method, "params": params}).to_string()
    };
    let content = json!({"role": "user", "content": {"type": "text", "text": ADDRESS}});
    let lines = [
        note("notifications/message", json!({"level": "info", "data": {"to": ADDRESS}})),
        note("notifications/progress", json!({"progressToken": 1, "progress": 1, "message": ADDRESS})),
        ask("sampling/createMessage", json!({"messages": [content], "maxTokens": 5})),
        ask("elicitation/create", json!({"message": ADDRESS, "requestedSchema": {}})),
        note("notifications/message", json!({"level": "info", "data": "fine"})),
    ];
    proxy.call(&json!(1), "raw", &json!({"base64": base64(lines.join("\n") + "\n")}));
    assert_eq!(proxy.message()["params"]["data"], "fine", "only what passes arrives");
    assert_eq!(text(&proxy.say(2, "still here")), "still here");
    let (_, _, stderr) = proxy.end();
    assert_eq!(stderr.matches("of the server is dropped: pii").count(), 2, "{stderr}");
    assert_eq!(stderr.matches("of the server is refused: pii").count(), 2, "{stderr}");
    assert!(!stderr.contains("corporation.org"), "{stderr}");
    let answered = fs::read_to_string(received).unwrap();
    assert_eq!(answered.matches("\"id\":\"s1\",\"error\":{\"code\":-32000").count(), 2, "{answered}");
    assert_eq!(actions(&scratch), ["blocked", "blocked", "blocked", "blocked", "forwarded", "lost"]);
}

/// Also a second reply, a reply to a canceled call, and a reply to an id that is used twice.
#[test]
fn no_order_of_messages_bypasses_the_gates() {
    let answer =
        format!("{{\"id\":1,\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":\"{ADDRESS}\"}}]}}}}\n");
    let good = answer.replace(ADDRESS, "fine");
    for (first, stream) in [
        ("", format!("{good}{answer}")),
        ("{\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}\n", answer.clone()),
        ("{\"id\":1,\"method\":\"ping\"}\n", format!("{answer}{answer}")),
        ("{\"id\":\"1\",\"method\":\"tools/list\"}\n", format!("{answer}{answer}")),
    ] {
        let scratch = Scratch::new();
        let mut proxy = Proxy::start(&scratch, &[]);
        let never = request(&json!(1), "never", &json!({}));
        let write = request(&json!(2), "raw", &json!({"base64": base64(&stream)}));
        proxy.send(format!("{never}\n{first}{write}\n"));
        let got: Vec<u8> = stream.lines().flat_map(|_| proxy.line()).collect();
        let got = String::from_utf8(got).unwrap();
        assert!(!got.contains("corporation.org"), "{first}{stream}gave {got}");
    }
}
