//! Long messages and malformed messages.

use std::fs;

use serde_json::json;

use super::*;

const MIB: usize = 1 << 20;

#[test]
fn an_image_of_fifty_megabytes_passes() {
    let scratch = Scratch::new();
    let mut proxy = Proxy::start(&scratch, &[]);
    proxy.call(&json!(1), "big", &json!({"kind": "image", "bytes": 50 * MIB}));
    let image = proxy.line();
    assert!(image.len() > 50 * MIB && image.starts_with(b"{\"jsonrpc\": \"2.0\", \"id\": 1, \"result\""));
    assert_eq!(text(&proxy.say(3, "still here")), "still here");
    assert_eq!(proxy.end().0, 0);
    assert_eq!(actions(&scratch), ["forwarded", "forwarded"]);
}

#[test]
fn a_client_may_send_fifty_megabytes() {
    let scratch = Scratch::new();
    let mut proxy = Proxy::start(&scratch, &[]);
    proxy.call(&json!("a"), "size", &json!({"payload": "x".repeat(50 * MIB)}));
    assert_eq!(text(&proxy.message()), format!("{} characters", 50 * MIB));
}

#[test]
fn a_message_above_the_limit_is_skipped_and_answered_with_an_error() {
    let scratch = Scratch::new();
    let received = scratch.at("received");
    let server = python(&["--received", &received]);
    let mut proxy = Proxy::spawn(&mut command(&scratch, &[], &server));
    proxy.call(&json!("long"), "size", &json!({"payload": "x".repeat(64 * MIB)}));
    let answer = proxy.message();
    assert_eq!((error(&answer), &answer["id"]), ((-32000, "renown:too_large"), &json!("long")));
    assert_eq!(fs::read(&received).unwrap_or_default(), b"", "the server never sees it");
    proxy.call(&json!(7), "big", &json!({"kind": "image", "bytes": 65 * MIB}));
    let answer = proxy.message();
    assert_eq!((error(&answer), &answer["id"]), ((-32000, "renown:too_large"), &json!(7)));
    assert_eq!(text(&proxy.say(8, "still here")), "still here");
    let (code, rest, stderr) = proxy.end();
    assert_eq!((code, rest.len()), (0, 0));
    assert_eq!(stderr.lines().count(), 2, "{stderr}");
    assert_eq!(actions(&scratch), ["blocked", "forwarded"]);
}

#[test]
fn the_proxy_survives_malformed_messages() {
    let scratch = Scratch::new();
    let mut proxy = Proxy::start(&scratch, &["--pre"]);
    for line in [
        "{\"id\":1,\"method\":\"tools/call\"}",
        "{\"id\":{},\"method\":\"tools/call\",\"params\":7}",
        "{\"id\":[1],\"method\":[\"tools/call\"],\"params\":null}",
        "{\"method\":\"tools/call\",\"params\":{\"name\":\"say\"}}",
        "{\"id\":null,\"method\":\"tools/call\",\"params\":{\"name\":null,\"arguments\":[]}}",
        "[[[]]]",
        "[",
        "\"",
        "{\"id\":1e999,\"method\":\"tools/list\"}",
        "{\"id\":-0,\"result\":{}}",
    ] {
        proxy.send(format!("{line}\n"));
    }
    assert_eq!(text(&proxy.say(2, "still here")), "still here");
    for odd in ["{\"id\":3}", "{\"id\":3,\"result\":[]}", "{\"id\":3,\"error\":null}"] {
        proxy.call(&json!(3), "raw", &json!({"base64": base64(format!("{odd}\n"))}));
        proxy.line();
    }
    // These are replies to no pending call.
    for odd in ["{\"result\":{\"content\":[{}]}}", "{\"id\":9,\"error\":null}"] {
        proxy.call(&json!(3), "raw", &json!({"base64": base64(format!("{odd}\n"))}));
    }
    assert_eq!(text(&proxy.say(4, "still here")), "still here");
    assert_eq!(proxy.end().0, 0);
}
