//! Ways round the gates that a server may try. What any reader would take for the result of a call is judged.

use serde_json::json;

use super::*;

const ADDRESS: &str = "jane.doe@corporation.org";

/// Each of these, as an answer to call 1, must not bring the address to the client.
#[test]
fn no_spelling_is_a_way_round() {
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

/// Also a second answer, one to a call that was cancelled, and one to an id that is used twice.
#[test]
fn no_order_is_a_way_round() {
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
        assert!(
            !got.contains("corporation.org") || first.contains("tools/list"),
            "{first}{stream}gave {got}"
        );
    }
}
