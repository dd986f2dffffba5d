//! Error answers of the proxy.

use renown_core::gates::GateResult;
use renown_core::ids::EvaluationId;
use serde::Serialize;
use serde_json::value::RawValue;

/// The code of every error of the proxy.
const CODE: i32 = -32000;

#[derive(Serialize)]
struct Reply<'r> {
    jsonrpc: &'static str,
    id: &'r RawValue,
    error: Error<'r>,
}

#[derive(Serialize)]
struct Error<'r> {
    code: i32,
    message: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Data<'r>>,
}

#[derive(Serialize)]
struct Data<'r> {
    evaluation_id: &'r EvaluationId,
    gates: &'r [GateResult],
}

/// Builds an error. The id is JSON text, as the client wrote it.
pub(crate) fn error(id: &str, message: &str) -> Vec<u8> {
    write(id, message, None)
}

/// When a message was blocked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Before the tool ran.
    Before,
    /// After the tool ran.
    After,
    /// The message does not concern a tool.
    NoTool,
}

/// Builds the answer to a blocked request. It names the gates that failed, and whether the tool ran.
pub(crate) fn blocked(id: &str, evaluation_id: &EvaluationId, gates: &[GateResult], stage: Stage) -> Vec<u8> {
    // A reason of the engine itself, such as `renown:timeout`, explains more than the name of the gate.
    let name = |gate: &GateResult| match gate.reason.as_deref().filter(|reason| reason.starts_with("renown:"))
    {
        Some(reason) => format!("{} ({reason})", gate.name),
        None => gate.name.to_string(),
    };
    let failed: Vec<String> = gates.iter().filter(|gate| !gate.passed).map(name).collect();
    let when = match stage {
        Stage::Before => "by renown before the tool ran",
        Stage::After => "by renown, the tool did run",
        Stage::NoTool => "by renown",
    };
    let message = format!("blocked {when}: {}", failed.join(", "));
    write(id, &message, Some(Data { evaluation_id, gates }))
}

fn write(id: &str, message: &str, data: Option<Data<'_>>) -> Vec<u8> {
    let id = serde_json::from_str(id).unwrap_or(RawValue::NULL);
    let reply = Reply { jsonrpc: "2.0", id, error: Error { code: CODE, message, data } };
    serde_json::to_vec(&reply).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use renown_core::units::Micros;

    use super::*;

    #[test]
    fn an_error_has_the_id_of_its_call() {
        let gate = |name: &str, passed| GateResult {
            name: name.into(),
            passed,
            latency: Micros::default(),
            reason: None,
            skipped: false,
        };
        let gates = [gate("pii", false), gate("content", true)];
        let text =
            String::from_utf8(blocked("\"a\\u0062\"", &"e1".parse().unwrap(), &gates, Stage::After)).unwrap();
        assert_eq!(
            text,
            r#"{"jsonrpc":"2.0","id":"a\u0062","error":{"code":-32000,"message":"blocked by renown, the tool did run: pii","data":{"evaluation_id":"e1","gates":[{"name":"pii","passed":false,"latency_ms":0.0},{"name":"content","passed":true,"latency_ms":0.0}]}}}"#
        );
        let text = String::from_utf8(error("7", "renown:too_large")).unwrap();
        assert_eq!(text, r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32000,"message":"renown:too_large"}}"#);
    }
}
