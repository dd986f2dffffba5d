//! `GET /v1/stream`: what changed is read from the store, so no change depends on the handler that caused it.

use renown_core::ids::OrgId;
use renown_core::units::Micros;
use renown_server::Limits;
use renown_store::sqlite::system_clock;
use renown_store::{DEFAULT_ORG, Evidence, NewEvaluation, NewEvaluationId};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::running::{LONG, Running, start};

/// A client that is connected to the stream.
struct Listener {
    stream: TcpStream,
    received: String,
}

impl Listener {
    /// Connects, and waits until the server says that it has.
    async fn connect(server: &Running) -> Self {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        let request = server.request("GET", "/v1/stream", "", "");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut listener = Self { stream, received: String::new() };
        listener.read_until(|received| received.contains("\r\n\r\n")).await;
        assert!(listener.received.starts_with("HTTP/1.1 200"), "{}", listener.received);
        listener
    }

    async fn read_until(&mut self, is_enough: impl Fn(&str) -> bool) {
        let mut buffer = [0; 4096];
        while !is_enough(&self.received) {
            let read = tokio::time::timeout(LONG, self.stream.read(&mut buffer)).await.unwrap().unwrap();
            assert!(read > 0, "{}", self.received);
            self.received.push_str(std::str::from_utf8(buffer.get(..read).unwrap()).unwrap());
        }
    }

    /// Returns the agents of all scores, up to the one of this agent.
    async fn agents_up_to(&mut self, last: &str) -> Vec<String> {
        let end = format!(r#""agent_id":"{last}""#);
        self.read_until(|received| received.split(&end).nth(1).is_some_and(|rest| rest.contains("\n\n")))
            .await;
        let events = self.received.lines().filter_map(|line| line.strip_prefix("data: "));
        let agent = |data: &str| {
            let data: Value = serde_json::from_str(data).unwrap();
            data.get("agent_id").and_then(Value::as_str).unwrap().to_owned()
        };
        events.map(agent).collect()
    }
}

/// Adds an evaluation to the store, beside the server.
async fn evaluate(server: &Running, agent: &str, id: &str) {
    let org: OrgId = DEFAULT_ORG.parse().unwrap();
    let evaluation = NewEvaluation {
        agent: agent.parse().unwrap(),
        id: NewEvaluationId::Sent(id.parse().unwrap()),
        passed: true,
        gate_latency: Micros::from_us(1000).unwrap(),
        agent_latency: None,
        tool: None,
        gates: "[]".into(),
        timestamp: None,
    };
    server.store.append(&org, vec![evaluation], None).await.unwrap();
}

#[tokio::test]
async fn changes_that_no_handler_reported_are_sent_once_and_in_order() {
    let server = start(Limits::default(), system_clock()).await;
    evaluate(&server, "before", "0").await;
    let mut first = Listener::connect(&server).await;
    evaluate(&server, "one", "1").await;
    assert_eq!(first.agents_up_to("one").await, ["one"]);
    // A second listener changes nothing for the first one.
    let mut second = Listener::connect(&server).await;
    for (agent, id) in [("two", "2"), ("three", "3"), ("last", "4")] {
        evaluate(&server, agent, id).await;
    }
    assert_eq!(first.agents_up_to("last").await, ["one", "two", "three", "last"]);
    assert_eq!(second.agents_up_to("last").await, ["two", "three", "last"]);
}
