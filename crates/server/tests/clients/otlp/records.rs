//! The same records in JSON and, with the official types, in protobuf.

use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Wire;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::logs::v1::{LogRecord, ResourceLogs, ScopeLogs};
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span, Status};
use prost::Message;
use serde_json::{Value, json};

/// A log record: its time, its event and its attributes.
pub(super) struct Log {
    pub(super) time: u64,
    pub(super) event: &'static str,
    pub(super) attributes: Vec<(String, Wire)>,
}

fn text(text: &str) -> Wire {
    Wire::StringValue(text.to_owned())
}

pub(super) fn log(time: u64, event: &'static str, attributes: &[(&str, Wire)]) -> Log {
    let attributes = attributes.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
    Log { time, event, attributes }
}

/// A prompt of a session.
pub(super) fn prompt(session: &str) -> Log {
    log(1_790_000_000_000_000_000, "claude_code.user_prompt", &[("session.id", text(session))])
}

/// A call with a number of tokens, which may be invalid.
pub(super) fn call(tokens: i64) -> Log {
    let attributes = [("session.id", text("s-1")), ("input_tokens", Wire::IntValue(tokens))];
    log(1_790_000_002_000_000_000, "claude_code.api_request", &attributes)
}

/// A prompt, a call and a tool of session `s-1`: 10 000 tokens, $0.042, 15 s.
pub(super) fn session() -> Vec<Log> {
    let call = [
        ("session.id", text("s-1")),
        ("model", text("m")),
        ("input_tokens", Wire::IntValue(10)),
        ("output_tokens", Wire::IntValue(200)),
        ("cache_read_tokens", Wire::IntValue(9000)),
        ("cache_creation_tokens", Wire::IntValue(790)),
        ("cost_usd", Wire::DoubleValue(0.042)),
    ];
    let tool = [("session.id", text("s-1")), ("tool_name", text("Edit")), ("success", Wire::BoolValue(true))];
    vec![
        prompt("s-1"),
        log(1_790_000_004_000_000_000, "claude_code.api_request", &call),
        log(1_790_000_015_000_000_000, "claude_code.tool_result", &tool),
    ]
}

fn value_json(value: &Wire) -> Value {
    match value {
        Wire::StringValue(text) => json!({"stringValue": text}),
        Wire::BoolValue(flag) => json!({"boolValue": flag}),
        Wire::IntValue(number) => json!({"intValue": number.to_string()}),
        Wire::DoubleValue(number) => json!({"doubleValue": number}),
        // The records of these tests have no such value.
        Wire::ArrayValue(_) | Wire::KvlistValue(_) | Wire::BytesValue(_) | Wire::StringValueStrindex(_) => {
            Value::Null
        }
    }
}

pub(super) fn as_json(logs: &[Log]) -> String {
    let record = |log: &Log| {
        let attributes: Value = log
            .attributes
            .iter()
            .map(|(key, value)| json!({"key": key, "value": value_json(value)}))
            .collect();
        json!({"timeUnixNano": log.time.to_string(), "eventName": log.event, "attributes": attributes})
    };
    let records: Value = logs.iter().map(record).collect();
    json!({"resourceLogs": [{"scopeLogs": [{"logRecords": records}]}]}).to_string()
}

fn key_value((key, value): &(String, Wire)) -> KeyValue {
    let value = Some(AnyValue { value: Some(value.clone()) });
    KeyValue { key: key.clone(), value, ..KeyValue::default() }
}

pub(super) fn as_protobuf(logs: &[Log]) -> Vec<u8> {
    let record = |log: &Log| LogRecord {
        time_unix_nano: log.time,
        event_name: log.event.to_owned(),
        attributes: log.attributes.iter().map(key_value).collect(),
        ..LogRecord::default()
    };
    let scope = ScopeLogs { log_records: logs.iter().map(record).collect(), ..ScopeLogs::default() };
    let resource = ResourceLogs { scope_logs: vec![scope], ..ResourceLogs::default() };
    ExportLogsServiceRequest { resource_logs: vec![resource] }.encode_to_vec()
}

/// A failed tool of 2.5 s of session `k-1`, as a span.
pub(super) fn span_json() -> String {
    let span = json!({
        "traceId": "7c1f0e6a92b84d3fa5d0c9e817264b3a", "spanId": "c09d44e1b72f6a58", "name": "execute_tool runTests",
        "startTimeUnixNano": "1790000040000000000", "endTimeUnixNano": "1790000042500000000", "status": {"code": 2},
        "attributes": [
            {"key": "gen_ai.tool.name", "value": {"stringValue": "runTests"}},
            {"key": "gen_ai.conversation.id", "value": {"stringValue": "k-1"}},
        ],
    });
    json!({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}).to_string()
}

pub(super) fn span_protobuf() -> Vec<u8> {
    let attributes = [
        ("gen_ai.tool.name".to_owned(), text("runTests")),
        ("gen_ai.conversation.id".to_owned(), text("k-1")),
    ];
    let span = Span {
        trace_id: 0x7c1f_0e6a_92b8_4d3f_a5d0_c9e8_1726_4b3a_u128.to_be_bytes().to_vec(),
        span_id: 0xc09d_44e1_b72f_6a58_u64.to_be_bytes().to_vec(),
        name: "execute_tool runTests".to_owned(),
        start_time_unix_nano: 1_790_000_040_000_000_000,
        end_time_unix_nano: 1_790_000_042_500_000_000,
        status: Some(Status { code: 2, ..Status::default() }),
        attributes: attributes.iter().map(key_value).collect(),
        ..Span::default()
    };
    let scope = ScopeSpans { spans: vec![span], ..ScopeSpans::default() };
    let resource = ResourceSpans { scope_spans: vec![scope], ..ResourceSpans::default() };
    ExportTraceServiceRequest { resource_spans: vec![resource] }.encode_to_vec()
}
