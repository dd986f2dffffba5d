//! Telemetry with and without a key, one condition at a time, and that no web page can send any.

use std::net::Ipv4Addr;

use renown_server::OtlpAuth;

use super::super::running::{Setup, start_with};
use super::records::{as_json, session};
use super::{JSON, Post, count, sessions_of};

#[tokio::test]
async fn without_a_key_every_condition_must_hold() {
    let server = start_with(Setup::default()).await;
    let post = || Post::logs(&server, JSON, as_json(&session()));
    let main = || Post { address: server.address, ..post() }.to("/otlp/v1/logs");
    for (request, said) in [
        (post().with("Host", None), "no Host header"),
        (post().with("Host", "evil.example"), "the Host is \"evil.example\""),
        (post().with("Host", "192.168.1.2:4318"), "the Host is \"192.168.1.2:4318\""),
        (post().with("Origin", "http://localhost"), "web page"),
        (post().with("Origin", "null"), "web page"),
        (post().with("Forwarded", "for=192.0.2.1"), "the header forwarded"),
        (post().with("X-Forwarded-For", "192.0.2.1"), "the header x-forwarded-for"),
        (post().with("X-Forwarded-Proto", "https"), "the header x-forwarded-proto"),
        (post().with("X-Real-IP", "192.0.2.1"), "the header x-real-ip"),
        (post().with("Via", "1.1 proxy"), "the header via"),
        // A reverse proxy in front of the API is a local peer, and may look like a local agent.
        (main(), "this port never accepts telemetry without a key"),
        (main().with("Host", "evil.example"), "this port never accepts telemetry without a key"),
    ] {
        let reply = request.send().await;
        assert_eq!(reply.refusal(), (401, "auth_missing".to_owned()), "{request:?}");
        let error = reply.json()["error"].as_str().unwrap().to_owned();
        assert!(error.contains(said) && error.contains("Bearer"), "{said}: {error}");
        assert_eq!(reply.header("www-authenticate"), Some("Bearer"));
        assert_eq!(count(&server).await, 0);
    }
    // With a key, none of these conditions matters.
    let elsewhere = post().with("Host", "evil.example").with("Origin", "null").with("Forwarded", "for=x");
    assert_eq!(elsewhere.key(&server.secret).send().await.status, 200);
    assert_eq!(count(&server).await, 1);
}

#[tokio::test]
async fn a_key_must_be_valid_and_determines_the_organization() {
    let server = start_with(Setup::default()).await;
    let post = || Post::logs(&server, JSON, as_json(&session()));
    let unknown = format!("rn_pub_{}", "x".repeat(32));
    for (request, code) in [
        (post().key(&unknown), "auth_invalid"),
        (post().key("x"), "auth_format"),
        (post().with("Authorization", "Basic eDp5"), "auth_format"),
        (post().with("Authorization", ""), "auth_format"),
    ] {
        assert_eq!(request.send().await.refusal(), (401, code.to_owned()), "{request:?}");
    }
    assert_eq!(count(&server).await, 0);
    let (_, made) = server.ask("POST", "/v1/keys", "", r#"{"kind":"publishable","org":"acme"}"#).await;
    let key = made["key"].as_str().unwrap();
    assert_eq!(post().key(key).send().await.status, 200);
    assert_eq!(count(&server).await, 0);
    assert_eq!(sessions_of(&server, "acme").await[0]["report"]["session_id"], "s-1");
    let path = format!("/v1/keys/{}", made["id"].as_str().unwrap());
    assert_eq!(server.ask("DELETE", &path, "", "").await.0, 204);
    assert_eq!(post().key(key).send().await.refusal(), (401, "auth_revoked".to_owned()));
}

#[tokio::test]
async fn open_listeners_and_servers_that_require_keys_refuse_telemetry_without_a_key() {
    let open = Setup { otlp_ip: Ipv4Addr::UNSPECIFIED, ..Setup::default() };
    let required = Setup { otlp_auth: OtlpAuth::Required, ..Setup::default() };
    for (setup, said) in [(open, "loopback address"), (required, "--otlp-auth required")] {
        let server = start_with(setup).await;
        let post = Post::logs(&server, JSON, as_json(&session()));
        let reply = post.send().await;
        assert_eq!(reply.refusal(), (401, "auth_missing".to_owned()), "{said}");
        assert!(reply.json()["error"].as_str().unwrap().contains(said), "{reply:?}");
        assert_eq!(count(&server).await, 0);
        assert_eq!(post.key(&server.secret).send().await.status, 200);
        assert_eq!(count(&server).await, 1);
    }
}

#[tokio::test]
async fn a_web_page_can_send_nothing_and_gets_no_cors_header() {
    let server = start_with(Setup::default()).await;
    let post = || Post::logs(&server, JSON, as_json(&session()));
    let page = || post().with("Origin", "https://evil.example");
    let preflight = Post { method: "OPTIONS", body: Vec::new(), ..page() };
    let preflight = preflight.with("Access-Control-Request-Method", "POST");
    for (request, status) in [
        (preflight, 405),
        (page(), 401),
        (page().with("Content-Type", "text/plain"), 401),
        (page().with("Content-Type", "application/x-www-form-urlencoded"), 401),
        // A page in an old browser, which sends no Origin.
        (post().with("Content-Type", "text/plain"), 415),
        (post().with("Content-Type", None), 415),
    ] {
        for address in [server.otlp_http, server.address, server.otlp_grpc] {
            let request = Post { address, ..request.clone() };
            let request = if address == server.address { request.to("/otlp/v1/logs") } else { request };
            let reply = request.send().await;
            let expected = match status {
                _ if address == server.otlp_grpc => 415,
                415 if address == server.address => 401,
                status => status,
            };
            assert_eq!(reply.status, expected, "{request:?}: {reply:?}");
            assert!(!reply.head.to_lowercase().contains("access-control-"), "{reply:?}");
        }
    }
    assert_eq!(count(&server).await, 0);
}
