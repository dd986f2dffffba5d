//! Parses the bytes of a body into a batch of records. The result is all records, or an error that says what is wrong.
//!
//! A large body is parsed on a blocking thread, so that it does not delay other requests. Only a few are parsed at the same time: this
//! bounds their memory until the size of their batches is known and reserved.

use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::sync::Arc;

use bytes::Bytes;
use renown_telemetry::facts::{Batch, Fact, RecordOrigin, Signal};
use renown_telemetry::json::LineError;
use renown_telemetry::prices::Prices;
use renown_telemetry::{json, protobuf};

use super::Kind;
use super::body::Inflating;
use super::budget::Reservation;
use super::content_type::{BodyFormat, Encoding};
use super::grpc;
use crate::api::Api;
use crate::error::{ApiError, Code};
use crate::limits::{OTLP_IN_FLIGHT_BYTES_MAX, OTLP_RECORDS_MAX};

/// The largest body that is parsed on the thread of its request.
const INLINE_BYTES_MAX: usize = 256 * 1024;

/// The largest text that is parsed in one step. A larger text is parsed in parts: the batch is emptied whenever
/// it has more than [`OTLP_RECORDS_MAX`] records, and the body is refused at the end.
const UNCHECKED_BYTES_MAX: usize = 64 * 1024;

/// The rejected records, for the sender.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rejected {
    pub(super) count: u64,
    pub(super) message: String,
}

/// The records of a body.
pub(super) struct Records {
    pub(super) batch: Batch,
    pub(super) rejected: Option<Rejected>,
    /// Kept until the store has answered.
    pub(super) reservation: Reservation,
}

/// Parses a body. Metrics are inflated but not parsed.
pub(super) async fn read(
    api: &Arc<Api>,
    mut body: Bytes,
    format: BodyFormat,
    kind: Kind,
    mut reservation: Reservation,
) -> Result<Records, ApiError> {
    let mut is_gzip = format.is_gzip;
    if format.is_framed {
        (is_gzip, body) = grpc::message(&body, format.is_gzip)?;
    }
    let mut inflating = is_gzip.then(|| Inflating::new(body.clone()));
    let is_inflated = inflating
        .as_mut()
        .map_or(Ok(true), |inflating| inflating.inflate_to(INLINE_BYTES_MAX, &mut reservation))?;
    if is_inflated && body.len() <= INLINE_BYTES_MAX {
        return finish(api, body, inflating, format.encoding, kind, reservation);
    }
    let api = Arc::clone(api);
    let _reader = api.telemetry.readers.acquire().await;
    let work = tokio::task::spawn_blocking({
        let api = Arc::clone(&api);
        move || finish(&api, body, inflating, format.encoding, kind, reservation)
    });
    // Panics are handled in one place, in `request`.
    work.await
        .unwrap_or_else(|error| resume_unwind(error.try_into_panic().unwrap_or_else(|error| Box::new(error))))
}

fn finish(
    api: &Api,
    mut body: Bytes,
    inflating: Option<Inflating>,
    encoding: Encoding,
    kind: Kind,
    mut reservation: Reservation,
) -> Result<Records, ApiError> {
    if let Some(inflating) = inflating {
        body = inflating.finish(&mut reservation)?;
    }
    let batch = match kind {
        Kind::Logs => parse(&body, encoding, Signal::Logs, &api.telemetry.prices)?,
        Kind::Traces => parse(&body, encoding, Signal::Spans, &api.telemetry.prices)?,
        Kind::Metrics => Batch::default(),
    };
    let bytes = weight(&batch);
    if bytes > OTLP_IN_FLIGHT_BYTES_MAX {
        return Err(ApiError::new(
            Code::TooLarge,
            "the records of the body need too much memory; send fewer records per request",
        ));
    }
    reservation.grow_to(bytes)?;
    Ok(Records { rejected: rejected(&batch), batch, reservation })
}

/// Parses the records of a text or message.
fn parse(body: &[u8], encoding: Encoding, signal: Signal, prices: &Prices) -> Result<Batch, ApiError> {
    let mut batch = Batch::default();
    match encoding {
        Encoding::Protobuf => {
            let read = in_parts(body, &mut batch, |batch, parts| match parts {
                None => protobuf::read(body, signal, prices, batch),
                Some(full) => {
                    protobuf::read_in_parts(body, signal, prices, batch, OTLP_RECORDS_MAX + 1, full)
                }
            })?;
            read.map_err(|error| ApiError::invalid(error.to_string()))?;
        }
        Encoding::Json => {
            let text = without_bom(body);
            json_line(text, 1, prices, &mut batch)?.map_err(|error| bad_json(error, None))?;
        }
        Encoding::JsonLines => {
            for (line, number) in without_bom(body).split(|byte| *byte == b'\n').zip(1..) {
                if !line.trim_ascii().is_empty() {
                    json_line(line, number, prices, &mut batch)?
                        .map_err(|error| bad_json(error, Some(number)))?;
                }
            }
        }
    }
    Ok(batch)
}

fn json_line(
    line: &[u8],
    number: u64,
    prices: &Prices,
    batch: &mut Batch,
) -> Result<Result<(), LineError>, ApiError> {
    in_parts(line, batch, |batch, parts| match parts {
        None => json::read(line, number, prices, batch),
        Some(full) => json::read_in_parts(line, number, prices, batch, OTLP_RECORDS_MAX + 1, full),
    })
}

/// Parses a text. If it is large, passes a function to the parser, which the parser calls as soon as there are too many records.
fn in_parts<E>(
    text: &[u8],
    batch: &mut Batch,
    read: impl FnOnce(&mut Batch, Option<&mut dyn FnMut(&mut Batch)>) -> Result<(), E>,
) -> Result<Result<(), E>, ApiError> {
    let mut too_many = false;
    let outcome = if text.len() <= UNCHECKED_BYTES_MAX {
        read(batch, None)
    } else {
        let mut full = |batch: &mut Batch| {
            too_many = true;
            batch.clear();
        };
        read(batch, Some(&mut full))
    };
    if outcome.is_ok() && (too_many || batch.len() + batch.rejected.len() > OTLP_RECORDS_MAX) {
        let error =
            format!("the body has more than {OTLP_RECORDS_MAX} records; send fewer records per request");
        return Err(ApiError::new(Code::TooLarge, error));
    }
    Ok(outcome)
}

/// Removes a byte order mark from the beginning of a text.
fn without_bom(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text)
}

fn bad_json(error: LineError, line: Option<u64>) -> ApiError {
    let code = match error {
        LineError::NotUtf8 { .. } | LineError::NotJson { .. } => Code::BadJson,
        LineError::NotOtlp { .. } | LineError::TooDeep | LineError::TooLong => Code::ValidationError,
    };
    ApiError::new(code, line.map_or_else(|| error.to_string(), |line| format!("line {line}: {error}")))
}

/// Estimates the memory of a batch.
fn weight(batch: &Batch) -> usize {
    let facts = |fact: Fact<&str>| {
        let mut bytes = size_of::<Fact<&str>>();
        let _ = fact.map(|text| bytes += text.len());
        bytes
    };
    let records = batch.records().map(|(origin, of_record)| {
        let texts = origin.session.len() + origin.agent_id.value.len();
        size_of::<RecordOrigin<&str>>() + texts + of_record.map(facts).sum::<usize>()
    });
    records.sum()
}

/// Summarizes the rejected records by the attribute with the invalid number.
fn rejected(batch: &Batch) -> Option<Rejected> {
    let mut counts = BTreeMap::<&str, u64>::new();
    for rejected in &batch.rejected {
        *counts.entry(rejected.attribute).or_default() += 1;
    }
    let count = counts.values().sum();
    let named: Vec<String> =
        counts.iter().map(|(attribute, count)| format!("{attribute} ({count})")).collect();
    let message = format!("rejected records with an invalid number: {}", named.join(", "));
    (count > 0).then_some(Rejected { count, message })
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORD: &str = r#"{"eventName":"claude_code.user_prompt","timeUnixNano":"1790000000000000000","attributes":[{"key":"session.id","value":{"stringValue":"s-1"}}]}"#;

    fn logs(records: &[&str]) -> String {
        format!(r#"{{"resourceLogs":[{{"scopeLogs":[{{"logRecords":[{}]}}]}}]}}"#, records.join(","))
    }

    fn parsed(body: &str, encoding: Encoding) -> Result<Batch, ApiError> {
        parse(body.as_bytes(), encoding, Signal::Logs, &Prices::default())
    }

    #[test]
    fn lines_are_all_parsed_or_the_error_names_the_bad_line() {
        let good = logs(&[RECORD]);
        for (body, expected) in [
            (good.clone(), Ok((1, 1))),
            (format!("\u{feff}{good}\r\n\n  \n{good}\n"), Ok((2, 2))),
            (String::new(), Ok((0, 0))),
            (format!("{good}\n{{\"resourceLogs\":[\n"), Err((Code::BadJson, "line 2: "))),
            (format!("{good}\n\n{{\"x\":1}}"), Err((Code::ValidationError, "line 3: "))),
        ] {
            match (parsed(&body, Encoding::JsonLines), expected) {
                (Ok(batch), Ok((records, lines))) => {
                    assert_eq!((batch.len(), batch.account.lines), (records, lines), "{body}");
                }
                (Err(error), Err((code, begin))) => {
                    assert!(error.code() == code && error.text().starts_with(begin), "{error:?}");
                }
                (found, expected) => panic!("{body}: {found:?}, expected {expected:?}"),
            }
        }
    }

    #[test]
    fn invalid_bodies_are_refused() {
        for (body, encoding, code) in [
            ("", Encoding::Json, Code::BadJson),
            ("{", Encoding::Json, Code::BadJson),
            ("[]", Encoding::Json, Code::ValidationError),
            (r#"{"resourceLog":[]}"#, Encoding::Json, Code::ValidationError),
            ("{}", Encoding::Protobuf, Code::ValidationError),
            ("\u{a}\u{5}x", Encoding::Protobuf, Code::ValidationError),
        ] {
            assert_eq!(parsed(body, encoding).unwrap_err().code(), code, "{body:?}");
        }
        for (body, encoding) in
            [("{}", Encoding::Json), ("", Encoding::Protobuf), (r#"{"resourceMetrics":[]}"#, Encoding::Json)]
        {
            assert!(parsed(body, encoding).unwrap().is_empty(), "{body:?}");
        }
    }

    #[test]
    fn the_number_of_records_is_limited_whatever_their_size() {
        // Two bytes per record, and one session for all of them.
        let of = |records: usize| {
            let field = |number: u8, bytes: &[u8]| {
                let mut length = bytes.len();
                let mut field = vec![number << 3 | 2];
                while length > 127 {
                    field.push(u8::try_from(length & 127).unwrap() | 128);
                    length >>= 7;
                }
                field.push(u8::try_from(length).unwrap());
                [&field, bytes].concat()
            };
            let value = field(2, &field(1, b"s-1"));
            let resource = field(1, &field(1, &[field(1, b"session.id"), value].concat()));
            let scope = field(2, &[0x12, 0].repeat(records));
            field(1, &[resource, scope].concat())
        };
        let parse = |records| parse(&of(records), Encoding::Protobuf, Signal::Logs, &Prices::default());
        let most = parse(OTLP_RECORDS_MAX).unwrap();
        assert_eq!(most.len(), OTLP_RECORDS_MAX);
        assert!(
            weight(&most) + crate::limits::OTLP_BODY_BYTES_MAX <= OTLP_IN_FLIGHT_BYTES_MAX,
            "{}",
            weight(&most)
        );
        assert_eq!(parse(OTLP_RECORDS_MAX + 1).unwrap_err().code(), Code::TooLarge);
        let line = logs(&[RECORD]);
        let lines = format!("{line}\n").repeat(3);
        assert_eq!(parsed(&lines, Encoding::JsonLines).unwrap().len(), 3);
    }

    #[test]
    fn rejected_records_are_counted_by_attribute() {
        let call = |attribute: &str, value: i32| {
            format!(
                r#"{{"eventName":"claude_code.api_request","attributes":[{{"key":"session.id","value":{{"stringValue":"s"}}}},{{"key":"{attribute}","value":{{"intValue":{value}}}}}]}}"#
            )
        };
        let records = [
            call("input_tokens", -1),
            call("cost_usd", -2),
            call("input_tokens", -3),
            call("input_tokens", 4),
        ];
        let batch = parsed(&logs(&records.each_ref().map(String::as_str)), Encoding::Json).unwrap();
        let message = "rejected records with an invalid number: cost_usd (1), input_tokens (2)".to_owned();
        assert_eq!(rejected(&batch), Some(Rejected { count: 3, message }));
        assert_eq!((batch.len(), rejected(&parsed("{}", Encoding::Json).unwrap())), (1, None));
    }
}
