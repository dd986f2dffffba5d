//! The requests of the benches: the same evaluations, as requests to `renown` and as commands and rows for its peers.

use serde_json::json;

use crate::bench::bulk::{AGENT_MARK, agent};
use crate::generate::Random;
use crate::load::{Request, Requests, Slot, command, get, post};

/// Agents that take turns.
pub(super) const AGENTS: u64 = 1000;

/// Events per ingest, and rows per insert.
pub(super) const EVENTS: usize = 100;

/// The length of an evaluated output, and of a value in Redis.
const OUTPUT_BYTES: usize = 1000;

/// Number of different ingest requests. Their ids differ each time.
const BATCHES: usize = 100;

/// Placeholder for an id, which has sixteen characters.
const ID_MARK: &str = "################";

const WORDS: [&str; 24] = [
    "the", "agent", "found", "three", "open", "orders", "for", "this", "customer", "and", "wrote", "a",
    "short", "summary", "of", "each", "with", "its", "date", "price", "status", "delivery", "address",
    "today",
];

const TOOLS: [&str; 4] = ["search", "write_file", "run_tests", "send_mail"];

/// One evaluation, as it is ingested.
pub(super) struct Event {
    pub(super) agent: u64,
    pub(super) passed: bool,
    pub(super) gate_us: u64,
    pub(super) tool: &'static str,
}

/// Returns the evaluations of a batch. The same number gives the same evaluations.
pub(super) fn events(batch: u64) -> impl Iterator<Item = Event> {
    let mut random = Random::new(batch);
    (0..EVENTS).map(move |_| Event {
        agent: random.draw() % AGENTS,
        passed: random.chance(950),
        gate_us: random.between(50, 4000),
        tool: random.pick(&TOOLS),
    })
}

/// The gates of an evaluation, as they are sent. The spaces are for `pgbench`, which takes `:true` for a variable.
pub(super) fn gates(event: &Event) -> String {
    let gate = |name: &str, passed: bool, share: u64| {
        let us = event.gate_us / share;
        format!(r#"{{"name": "{name}", "passed": {passed}, "latency_ms": {}.{:03}}}"#, us / 1000, us % 1000)
    };
    format!("[{}, {}, {}]", gate("schema", true, 2), gate("grounding", event.passed, 4), gate("rtb", true, 4))
}

fn by_agent(request: impl Fn(u64) -> Vec<u8>) -> Requests {
    Requests::new((0..AGENTS).map(|agent| request(agent).into()).collect(), 0)
}

/// Returns a text of plain words, different for each number.
pub(super) fn output(number: u64) -> String {
    let mut random = Random::new(number);
    let mut text = String::new();
    while text.len() < OUTPUT_BYTES {
        text.push_str(random.pick(&WORDS));
        text.push(if random.chance(80) { '.' } else { ' ' });
    }
    text.truncate(OUTPUT_BYTES);
    text
}

/// `POST /v1/evaluate`.
pub(super) fn evaluate(key: &str) -> Requests {
    by_agent(|number| {
        let body = json!({"agent_id": agent(number), "output": output(number), "tool": "search"});
        post("/v1/evaluate", key, &body.to_string())
    })
}

/// `SET` of as many bytes as are evaluated.
pub(super) fn set() -> Requests {
    by_agent(|number| command(&["SET", &agent(number), &output(number)]))
}

/// `GET /v1/reputation/…` of the agents in turns.
pub(super) fn read(key: &str) -> Requests {
    by_agent(|number| get(&path(&agent(number)), key))
}

/// The same for this many agents, in random order.
pub(super) fn read_random(key: &str, agents: u64) -> Requests {
    let bytes = get(&path(&format!("a-{AGENT_MARK}")), key);
    Requests::new(vec![Request::new(bytes, AGENT_MARK, Slot::Below(agents))], agents)
}

pub(super) fn path(agent: &str) -> String {
    format!("/v1/reputation/{agent}")
}

/// `GET` of Redis, and the `SET` that must run first. The values are as long as the replies of `renown`.
pub(super) fn redis_reads(bytes: usize) -> (Requests, Requests) {
    let key = |number| format!("r-{number:07}");
    let value = "x".repeat(bytes);
    (
        by_agent(|number| command(&["GET", &key(number)])),
        by_agent(|number| command(&["SET", &key(number), &value])),
    )
}

/// `POST /v1/ingest`. Ids begin with the time, so that another run on the same database repeats none.
pub(super) fn ingest(key: &str, now_ms: u64) -> Requests {
    let batch = |number: usize| {
        let events: Vec<String> =
            events(u64::try_from(number).unwrap_or(0)).map(|event| event_json(&event)).collect();
        let body = format!(r#"{{"events":[{}]}}"#, events.join(","));
        Request::new(post("/v1/ingest", key, &body), ID_MARK, Slot::Id)
    };
    Requests::new((0..BATCHES).map(batch).collect(), now_ms.saturating_mul(1_000_000))
}

fn event_json(event: &Event) -> String {
    format!(
        r#"{{"agent_id":"{}","passed":{},"total_latency_ms":{}.{:03},"gates":{},"tool":"{}","evaluation_id":"{ID_MARK}"}}"#,
        agent(event.agent),
        event.passed,
        event.gate_us / 1000,
        event.gate_us % 1000,
        gates(event),
        event.tool,
    )
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn sent(requests: &mut Requests) -> (String, Value) {
        let text = String::from_utf8(requests.next().to_vec()).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.contains("Authorization: Bearer k"));
        assert!(body.is_empty() || head.contains(&format!("Content-Length: {}", body.len())));
        (head.lines().next().unwrap().to_owned(), serde_json::from_str(body).unwrap_or_default())
    }

    #[test]
    fn an_evaluation_has_an_output_of_a_kilobyte() {
        let (line, body) = sent(&mut evaluate("k"));
        assert_eq!(line, "POST /v1/evaluate HTTP/1.1");
        assert_eq!(body["output"].as_str().unwrap().len(), OUTPUT_BYTES);
    }

    #[test]
    fn a_batch_has_new_ids_each_time() {
        let mut requests = ingest("k", 1);
        let mut ids: Vec<String> = Vec::new();
        for _ in 0..2 * BATCHES {
            let (_, body) = sent(&mut requests);
            let events = body["events"].as_array().unwrap();
            assert_eq!(events.len(), EVENTS);
            assert_eq!(events[0]["gates"].as_array().unwrap().len(), 3);
            ids.extend(events.iter().map(|event| event["evaluation_id"].as_str().unwrap().to_owned()));
        }
        assert!(ids.iter().all(|id| id.len() == 16));
        assert!(ids.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn random_reads_stay_within_the_agents() {
        let mut requests = read_random("k", 1_000_000);
        let (line, _) = sent(&mut requests);
        assert!(line.starts_with("GET /v1/reputation/a-0") && !line.contains('#'), "{line}");
    }
}
