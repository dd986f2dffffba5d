//! Encodes the generated records in protobuf with the official types.

use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Wire;
use opentelemetry_proto::tonic::common::v1::{
    AnyValue, ArrayValue, InstrumentationScope, KeyValue, KeyValueList,
};
use opentelemetry_proto::tonic::logs::v1::{LogRecord, ResourceLogs, ScopeLogs};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span, Status};
use prost::Message;
use renown_telemetry::facts::Signal;
use renown_testing::Rng;

use crate::model::{Attributes, Encoded, Record, Shape, Value};

/// Splits the records into request bodies at random positions. Logs and spans are in separate bodies.
pub(crate) fn bodies(records: &[Record], rng: &mut Rng) -> Vec<(Signal, Vec<u8>)> {
    let mut bodies = Vec::new();
    for part in rng.parts(records) {
        let (logs, spans): (Vec<_>, Vec<_>) = part.into_iter().partition(Record::is_log);
        if !logs.is_empty() {
            let resource_logs = logs.iter().map(|record| resource_logs(record, rng)).collect();
            bodies.push((Signal::Logs, ExportLogsServiceRequest { resource_logs }.encode_to_vec()));
        }
        if !spans.is_empty() {
            let resource_spans = spans.iter().map(|record| resource_spans(record, rng)).collect();
            bodies.push((Signal::Spans, ExportTraceServiceRequest { resource_spans }.encode_to_vec()));
        }
    }
    bodies
}

fn resource_logs(record: &Record, rng: &mut Rng) -> ResourceLogs {
    let Shape::Log(log) = &record.shape else { unreachable!("logs and spans are in separate bodies") };
    let log_record = LogRecord {
        time_unix_nano: log.time,
        observed_time_unix_nano: log.observed_time,
        severity_number: 9,
        severity_text: "INFO".to_owned(),
        body: log.body.as_ref().map(|body| any_value(body, rng)),
        attributes: key_values(&record.attributes, rng),
        event_name: log.event_name.clone(),
        ..LogRecord::default()
    };
    let scope_logs =
        ScopeLogs { scope: Some(scope(record)), log_records: vec![log_record], ..ScopeLogs::default() };
    ResourceLogs {
        resource: Some(resource(record, rng)),
        scope_logs: vec![scope_logs],
        ..ResourceLogs::default()
    }
}

fn resource_spans(record: &Record, rng: &mut Rng) -> ResourceSpans {
    let Shape::Span(span) = &record.shape else { unreachable!("logs and spans are in separate bodies") };
    let span = Span {
        trace_id: span.trace_id.to_vec(),
        span_id: span.id.to_vec(),
        name: span.name.clone(),
        kind: 3,
        start_time_unix_nano: span.start,
        end_time_unix_nano: span.end,
        attributes: key_values(&record.attributes, rng),
        status: Some(Status { code: i32::from(span.status), message: "a message".to_owned() }),
        ..Span::default()
    };
    let scope_spans = ScopeSpans { scope: Some(scope(record)), spans: vec![span], ..ScopeSpans::default() };
    ResourceSpans {
        resource: Some(resource(record, rng)),
        scope_spans: vec![scope_spans],
        ..ResourceSpans::default()
    }
}

fn scope(record: &Record) -> InstrumentationScope {
    InstrumentationScope { name: record.scope.clone(), ..InstrumentationScope::default() }
}

fn resource(record: &Record, rng: &mut Rng) -> Resource {
    Resource { attributes: key_values(&record.resource, rng), ..Resource::default() }
}

fn key_values(attributes: &Attributes, rng: &mut Rng) -> Vec<KeyValue> {
    let key_value = |(key, value): &(String, Value)| KeyValue {
        key: key.clone(),
        value: Some(any_value(value, rng)),
        ..KeyValue::default()
    };
    attributes.iter().map(key_value).collect()
}

fn any_value(value: &Value, rng: &mut Rng) -> AnyValue {
    let text = |text: String| AnyValue { value: Some(Wire::StringValue(text)) };
    let value = match value.encoded(rng) {
        Encoded::Text(text) => Wire::StringValue(text),
        Encoded::Int(number) => Wire::IntValue(number),
        Encoded::Double(number) => Wire::DoubleValue(number),
        Encoded::Bool(flag) => Wire::BoolValue(flag),
        Encoded::List(texts) => {
            Wire::ArrayValue(ArrayValue { values: texts.into_iter().map(text).collect() })
        }
        Encoded::Map => Wire::KvlistValue(KeyValueList { values: Vec::new() }),
        Encoded::Bytes(bytes) => Wire::BytesValue(bytes),
        Encoded::Unset => return AnyValue { value: None },
    };
    AnyValue { value: Some(value) }
}
