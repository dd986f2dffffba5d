//! One verdict in the format of `/v1/ingest`.

use std::sync::Arc;

use renown_core::gates;
use renown_core::ids::{AgentId, EvaluationId, ToolName};
use renown_core::time::Timestamp;
use renown_core::units::Micros;
use serde::Serialize;

/// The fields of a verdict.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ShippedVerdict<'a> {
    /// Id that makes a repeat harmless.
    pub evaluation_id: &'a EvaluationId,
    /// Agent whose output was evaluated.
    pub agent_id: &'a AgentId,
    /// Tool that returned the output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<&'a ToolName>,
    /// Whether every gate passed or was skipped.
    pub passed: bool,
    /// One result per gate.
    pub gates: &'a [gates::GateResult],
    /// Duration of the gates.
    #[serde(rename = "total_latency_ms")]
    pub total: Micros,
    /// Duration of the tool call.
    #[serde(rename = "latency_ms", skip_serializing_if = "Option::is_none")]
    pub latency: Option<Micros>,
    /// Time of the evaluation.
    pub timestamp: Timestamp,
}

/// A verdict as JSON text, on one line. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodedVerdict(Arc<str>);

impl EncodedVerdict {
    /// Encodes a verdict.
    pub fn new(verdict: &ShippedVerdict<'_>) -> Self {
        // Encoding cannot fail: a verdict has no maps with non-text keys and no NaN.
        Self(serde_json::to_string(verdict).unwrap_or_default().into())
    }

    /// Creates a verdict from a line of a spool whose checksum is valid.
    pub(crate) fn from_spool(line: &str) -> Self {
        Self(line.into())
    }

    /// Returns the JSON text.
    pub fn json(&self) -> &str {
        &self.0
    }
}

/// Returns the body of a request with these verdicts.
pub(crate) fn body(verdicts: &[EncodedVerdict]) -> String {
    let length: usize = verdicts.iter().map(|verdict| verdict.json().len() + 1).sum();
    let mut body = String::with_capacity(length + 16);
    body.push_str("{\"events\":[");
    for (index, verdict) in verdicts.iter().enumerate() {
        if index > 0 {
            body.push(',');
        }
        body.push_str(verdict.json());
    }
    body.push_str("]}");
    body
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_encoded_verdict_has_the_fields_of_the_api() {
        let gate = gates::GateResult {
            name: "pii".into(),
            passed: false,
            latency: Micros::from_us(12).unwrap(),
            reason: Some("iban detected in output".to_owned()),
            skipped: false,
        };
        let verdict = ShippedVerdict {
            evaluation_id: &"e1".parse().unwrap(),
            agent_id: &"a\"1".parse().unwrap(),
            tool: None,
            passed: false,
            gates: &[gate],
            total: Micros::from_us(1500).unwrap(),
            latency: Micros::from_us(2_000_000),
            timestamp: Timestamp::from_millis(1_700_000_000_000).unwrap(),
        };
        let verdict = EncodedVerdict::new(&verdict);
        assert_eq!(
            verdict.json(),
            r#"{"evaluation_id":"e1","agent_id":"a\"1","passed":false,"gates":[{"name":"pii","passed":false,"latency_ms":0.012,"reason":"iban detected in output"}],"total_latency_ms":1.5,"latency_ms":2000.0,"timestamp":"2023-11-14T22:13:20.000Z"}"#
        );
        let bodies = [body(std::slice::from_ref(&verdict)), body(&[verdict.clone(), verdict])];
        for (body, count) in bodies.iter().zip([1, 2]) {
            let body: serde_json::Value = serde_json::from_str(body).unwrap();
            assert_eq!(body["events"].as_array().unwrap().len(), count);
        }
    }
}
