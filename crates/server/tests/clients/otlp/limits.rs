//! Limits of size, depth, number and time, each tested on both sides. The server must survive all of them.

use opentelemetry_proto::tonic::common::v1::any_value::Value as Wire;
use renown_telemetry::prices::{Price, Prices};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::super::running::{Running, Setup, start_with};
use super::records::{as_json, as_protobuf, log, prompt, session};
use super::{JSON, PROTOBUF, Post, count, gzip, reply, sessions};

const MIB: usize = 1024 * 1024;

/// Builds a session in JSON, padded to this many bytes.
fn padded(bytes: usize) -> String {
    let text = as_json(&session());
    let rest = text.strip_prefix('{').unwrap();
    let padding = bytes - rest.len() - r#"{"x":"","#.len();
    format!(r#"{{"x":"{}",{rest}"#, "x".repeat(padding))
}

async fn is_up(server: &Running) {
    let before = count(server).await;
    assert_eq!(Post::logs(server, JSON, as_json(&[prompt("still here")])).send().await.status, 200);
    assert_eq!(count(server).await, before + 1);
}

#[tokio::test]
async fn a_body_has_at_most_16_mib_also_inflated() {
    let server = start_with(Setup::default()).await;
    let more = padded(16 * MIB + 1);
    for post in [
        Post::logs(&server, JSON, more.clone()),
        Post { is_chunked: true, ..Post::logs(&server, JSON, more.clone()) },
        Post::logs(&server, JSON, more.clone()).gzip(),
        Post::logs(&server, JSON, more).gzip().to("/v1/metrics"),
        // A bomb: 64 MiB in a few bytes.
        Post::logs(&server, PROTOBUF, gzip(&vec![0; 64 * MIB])).with("Content-Encoding", "gzip"),
    ] {
        assert_eq!(post.send().await.status, 413, "{}", post.head());
        assert_eq!(count(&server).await, 0);
    }
    is_up(&server).await;
}

#[tokio::test]
async fn the_largest_body_is_accepted_in_every_way() {
    let most = padded(16 * MIB);
    for way in 0..3 {
        let server = start_with(Setup::default()).await;
        let post = Post::logs(&server, JSON, most.clone());
        let post = match way {
            0 => post,
            1 => Post { is_chunked: true, ..post },
            _ => post.gzip(),
        };
        assert_eq!(post.send().await.status, 200, "{way}");
        assert_eq!(sessions(&server).await[0]["report"]["composite"], 7.4);
    }
}

/// Blocks the store, and sends as much telemetry as may be in flight. Returns the connections.
async fn fill(server: &Running) -> Vec<TcpStream> {
    server.store.block();
    let large = padded(16 * MIB);
    let mut waiting = Vec::new();
    // The last one is not compressed: while a body is inflated, both forms are held, and there would be no memory for that.
    for is_gzip in [true, false, true, false] {
        let post = Post::logs(server, JSON, large.clone());
        let post = if is_gzip { post.gzip() } else { post };
        let mut stream = TcpStream::connect(server.otlp_http).await.unwrap();
        stream.write_all(&[post.head().as_bytes(), &post.body].concat()).await.unwrap();
        server.store.wait_until_blocked().await;
        waiting.push(stream);
    }
    waiting
}

/// Checks that every further body is refused with 503, even a small one.
async fn is_full(server: &Running) {
    let large = padded(16 * MIB);
    for post in [Post::logs(server, JSON, as_json(&session())), Post::logs(server, JSON, large).gzip()] {
        let reply = post.send().await;
        assert_eq!(
            (reply.refusal(), reply.header("retry-after")),
            ((503, "overloaded".to_owned()), Some("1"))
        );
    }
}

#[tokio::test]
async fn past_64_mib_in_flight_bodies_are_refused_with_503() {
    let server = start_with(Setup::default()).await;
    let mut waiting = fill(&server).await;
    is_full(&server).await;
    server.store.unblock();
    for stream in &mut waiting {
        assert_eq!(reply(stream).await.status, 200);
    }
    is_up(&server).await;
}

#[tokio::test]
async fn pending_writes_use_the_budget_even_if_their_client_has_disconnected() {
    let server = start_with(Setup::default()).await;
    drop(fill(&server).await);
    is_full(&server).await;
    server.store.unblock();
    // After all of it is stored, the budget is free again.
    while Post::logs(&server, JSON, as_json(&session())).send().await.status == 503 {
        tokio::task::yield_now().await;
    }
    is_up(&server).await;
}

#[tokio::test]
async fn a_record_with_100_000_attributes_is_read_up_to_the_first_1024() {
    let server = start_with(Setup::default()).await;
    let mut record = prompt("s-1");
    record.attributes.extend((0..100_000).map(|number| (format!("a{number}"), Wire::IntValue(number))));
    record.attributes.push(("masque.name".to_owned(), Wire::StringValue("late".to_owned())));
    for post in [
        Post::logs(&server, JSON, as_json(&[record])),
        Post::logs(&server, PROTOBUF, as_protobuf(&session())),
    ] {
        assert_eq!(post.send().await.status, 200);
    }
    assert_eq!(sessions(&server).await[0]["report"]["masque"], "unknown");
    is_up(&server).await;
}

#[tokio::test]
async fn deep_json_is_refused() {
    let server = start_with(Setup::default()).await;
    let deep =
        |depth: usize| format!(r#"{{"x":{}{},"resourceLogs":[]}}"#, "[".repeat(depth), "]".repeat(depth));
    for (depth, status) in [(63, 200), (64, 400), (1_000_000, 400)] {
        assert_eq!(Post::logs(&server, JSON, deep(depth)).send().await.status, status, "{depth}");
    }
    is_up(&server).await;
}

#[tokio::test]
async fn times_before_2000_and_after_2100_count_as_absent() {
    const SECOND: u64 = 1_000_000_000;
    let session = [("session.id", Wire::StringValue("s-1".to_owned()))];
    for time in [SECOND, 4_133_980_800 * SECOND, u64::MAX] {
        let server = start_with(Setup::default()).await;
        let logs = [log(time, "claude_code.user_prompt", &session)];
        for post in
            [Post::logs(&server, JSON, as_json(&logs)), Post::logs(&server, PROTOBUF, as_protobuf(&logs))]
        {
            assert_eq!(post.send().await.status, 200, "{time}");
        }
        let found = sessions(&server).await;
        assert_eq!(found[0]["report"]["stats"]["prompts"], 2, "{time}: {found}");
        assert!(found[0]["report"]["started_at"].is_null(), "{time}: {found}");
    }
}

#[tokio::test]
async fn calls_without_a_cost_are_priced() {
    let dollar = "1".parse().unwrap();
    let price = Price {
        input: dollar,
        output: dollar,
        cache_read: dollar,
        cache_creation: dollar,
        cache_creation_1h: dollar,
    };
    let prices = Prices::new([("m".to_owned(), price)]);
    let server = start_with(Setup { prices, ..Setup::default() }).await;
    let mut logs = session();
    logs[1].attributes.pop();
    assert_eq!(Post::logs(&server, PROTOBUF, as_protobuf(&logs)).send().await.status, 200);
    let found = sessions(&server).await;
    assert_eq!(found[0]["report"]["coverage"]["cost_source"], "priced", "{found}");
    assert_eq!(found[0]["report"]["stats"]["total_cost"], 0.01, "{found}");
}
