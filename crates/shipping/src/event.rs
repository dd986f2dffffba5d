//! One verdict as `/v1/ingest` takes it.

use std::sync::Arc;

use renown_core::gates;
use renown_core::ids::{AgentId, EvaluationId, ToolName};
use renown_core::time::Timestamp;
use renown_core::units::Micros;
use serde::Serialize;

/// What an event is made of.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Verdict<'a> {
    /// Makes a repeat harmless.
    pub evaluation_id: &'a EvaluationId,
    /// Whose output it was.
    pub agent_id: &'a AgentId,
    /// The tool that made it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<&'a ToolName>,
    /// Whether every gate passed or was skipped.
    pub passed: bool,
    /// One result a gate.
    pub gates: &'a [gates::GateResult],
    /// How long the gates took.
    #[serde(rename = "total_latency_ms")]
    pub total: Micros,
    /// How long the tool took.
    #[serde(rename = "latency_ms", skip_serializing_if = "Option::is_none")]
    pub latency: Option<Micros>,
    /// When it happened.
    pub timestamp: Timestamp,
}

/// A verdict as JSON text, on one line. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event(Arc<str>);

impl Event {
    /// The event that tells of a verdict.
    pub fn new(verdict: &Verdict<'_>) -> Self {
        // Nothing in a verdict can fail to be written: no map with odd keys, no float that is none.
        Self(serde_json::to_string(verdict).unwrap_or_default().into())
    }

    /// A line of a spool, whose checksum was right.
    pub(crate) fn from_spool(line: &str) -> Self {
        Self(line.into())
    }

    /// Its JSON text.
    pub fn json(&self) -> &str {
        &self.0
    }
}

/// The body of a request with these events.
pub(crate) fn body(events: &[Event]) -> String {
    let length: usize = events.iter().map(|event| event.json().len() + 1).sum();
    let mut body = String::with_capacity(length + 16);
    body.push_str("{\"events\":[");
    for (place, event) in events.iter().enumerate() {
        if place > 0 {
            body.push(',');
        }
        body.push_str(event.json());
    }
    body.push_str("]}");
    body
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_has_the_fields_of_the_api() {
        let gate = gates::GateResult {
            name: "pii".into(),
            passed: false,
            latency: Micros::from_us(12).unwrap(),
            reason: Some("iban detected in output".to_owned()),
            skipped: false,
        };
        let verdict = Verdict {
            evaluation_id: &"e1".parse().unwrap(),
            agent_id: &"a\"1".parse().unwrap(),
            tool: None,
            passed: false,
            gates: &[gate],
            total: Micros::from_us(1500).unwrap(),
            latency: Micros::from_us(2_000_000),
            timestamp: Timestamp::from_millis(1_700_000_000_000).unwrap(),
        };
        let event = Event::new(&verdict);
        assert_eq!(
            event.json(),
            r#"{"evaluation_id":"e1","agent_id":"a\"1","passed":false,"gates":[{"name":"pii","passed":false,"latency_ms":0.012,"reason":"iban detected in output"}],"total_latency_ms":1.5,"latency_ms":2000.0,"timestamp":"2023-11-14T22:13:20.000Z"}"#
        );
        let bodies = [body(std::slice::from_ref(&event)), body(&[event.clone(), event])];
        for (body, count) in bodies.iter().zip([1, 2]) {
            let body: serde_json::Value = serde_json::from_str(body).unwrap();
            assert_eq!(body["events"].as_array().unwrap().len(), count);
        }
    }
}
