//! The records in protobuf, by the official types.

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

use crate::dice::Dice;
use crate::model::{Attributes, Record, Sent, Shape, Value};

/// The records as bodies of requests, cut anywhere; logs and spans apart.
pub(crate) fn bodies(records: &[Record], dice: &mut Dice) -> Vec<(Signal, Vec<u8>)> {
    let mut bodies = Vec::new();
    for part in dice.parts(records) {
        let (logs, spans): (Vec<_>, Vec<_>) = part.into_iter().partition(Record::is_log);
        if !logs.is_empty() {
            let resource_logs = logs.iter().map(|record| resource_logs(record, dice)).collect();
            bodies.push((Signal::Logs, ExportLogsServiceRequest { resource_logs }.encode_to_vec()));
        }
        if !spans.is_empty() {
            let resource_spans = spans.iter().map(|record| resource_spans(record, dice)).collect();
            bodies.push((Signal::Spans, ExportTraceServiceRequest { resource_spans }.encode_to_vec()));
        }
    }
    bodies
}

fn resource_logs(record: &Record, dice: &mut Dice) -> ResourceLogs {
    let Shape::Log(log) = &record.shape else { unreachable!("logs and spans are apart") };
    let log_record = LogRecord {
        time_unix_nano: log.time,
        observed_time_unix_nano: log.observed_time,
        severity_number: 9,
        severity_text: "INFO".to_owned(),
        body: log.body.as_ref().map(|body| any_value(body, dice)),
        attributes: key_values(&record.attributes, dice),
        event_name: log.event_name.clone(),
        ..LogRecord::default()
    };
    let scope_logs =
        ScopeLogs { scope: Some(scope(record)), log_records: vec![log_record], ..ScopeLogs::default() };
    ResourceLogs {
        resource: Some(resource(record, dice)),
        scope_logs: vec![scope_logs],
        ..ResourceLogs::default()
    }
}

fn resource_spans(record: &Record, dice: &mut Dice) -> ResourceSpans {
    let Shape::Span(span) = &record.shape else { unreachable!("logs and spans are apart") };
    let span = Span {
        trace_id: span.trace_id.to_vec(),
        span_id: span.id.to_vec(),
        name: span.name.clone(),
        kind: 3,
        start_time_unix_nano: span.start,
        end_time_unix_nano: span.end,
        attributes: key_values(&record.attributes, dice),
        status: Some(Status { code: i32::from(span.status), message: "a message".to_owned() }),
        ..Span::default()
    };
    let scope_spans = ScopeSpans { scope: Some(scope(record)), spans: vec![span], ..ScopeSpans::default() };
    ResourceSpans {
        resource: Some(resource(record, dice)),
        scope_spans: vec![scope_spans],
        ..ResourceSpans::default()
    }
}

fn scope(record: &Record) -> InstrumentationScope {
    InstrumentationScope { name: record.scope.clone(), ..InstrumentationScope::default() }
}

fn resource(record: &Record, dice: &mut Dice) -> Resource {
    Resource { attributes: key_values(&record.resource, dice), ..Resource::default() }
}

fn key_values(attributes: &Attributes, dice: &mut Dice) -> Vec<KeyValue> {
    let key_value = |(key, value): &(String, Value)| KeyValue {
        key: key.clone(),
        value: Some(any_value(value, dice)),
        ..KeyValue::default()
    };
    attributes.iter().map(key_value).collect()
}

fn any_value(value: &Value, dice: &mut Dice) -> AnyValue {
    let text = |text: String| AnyValue { value: Some(Wire::StringValue(text)) };
    let value = match value.sent(dice) {
        Sent::Text(text) => Wire::StringValue(text),
        Sent::Int(number) => Wire::IntValue(number),
        Sent::Double(number) => Wire::DoubleValue(number),
        Sent::Bool(flag) => Wire::BoolValue(flag),
        Sent::List(texts) => Wire::ArrayValue(ArrayValue { values: texts.into_iter().map(text).collect() }),
        Sent::Map => Wire::KvlistValue(KeyValueList { values: Vec::new() }),
        Sent::Bytes(bytes) => Wire::BytesValue(bytes),
        Sent::Unset => return AnyValue { value: None },
    };
    AnyValue { value: Some(value) }
}
