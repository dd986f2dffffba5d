//! Bodies of log records. All are different: one is encoded as a template, and each body gets its own numbers.

use std::io::Write as _;

use anyhow::{Context, Result};
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use memchr::memmem;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    Protobuf,
    Json,
}

/// Placeholders in the template for the number of a session, the number of a record and its time.
const SESSION: &str = "888888888";
const SEQUENCE: &str = "777777777";
const NANOS: u64 = 1_790_000_000_000_000_000;

/// Number of sessions that run at once, and of records in each.
const SESSIONS_AT_ONCE: usize = 100;
const RECORDS_A_SESSION: usize = 1000;
/// Number of consecutive records of one session.
const RUN: usize = 64;

/// Generator of bodies.
pub(super) struct Bodies {
    encoding: Encoding,
    template: Vec<u8>,
    /// The positions of the numbers, record by record.
    sessions: Vec<usize>,
    sequences: Vec<usize>,
    times: Vec<usize>,
    next: usize,
}

impl Bodies {
    pub(super) fn new(encoding: Encoding, records: usize) -> Self {
        let template = match encoding {
            Encoding::Protobuf => protobuf(records),
            Encoding::Json => json(records).into_bytes(),
        };
        let find = |what: &[u8]| memmem::find_iter(&template, what).collect::<Vec<_>>();
        let (sessions, sequences) = (find(SESSION.as_bytes()), find(SEQUENCE.as_bytes()));
        let times = match encoding {
            Encoding::Protobuf => find(&NANOS.to_le_bytes()),
            Encoding::Json => find(NANOS.to_string().as_bytes()),
        };
        Self { encoding, sessions, sequences, times, template, next: 0 }
    }

    /// Returns the next body: framed for gRPC or not, compressed or not.
    pub(super) fn next(&mut self, framed: bool, gzip: bool) -> Result<Bytes> {
        let mut body = self.template.clone();
        let mut put = |at: usize, bytes: &[u8]| -> Result<()> {
            body.get_mut(at..at + bytes.len()).context("a place in the body")?.copy_from_slice(bytes);
            Ok(())
        };
        for ((session_at, sequence_at), time_at) in self.sessions.iter().zip(&self.sequences).zip(&self.times)
        {
            let number = self.next;
            let generation = number / (SESSIONS_AT_ONCE * RECORDS_A_SESSION);
            let session = generation * SESSIONS_AT_ONCE + number / RUN % SESSIONS_AT_ONCE;
            put(*session_at, format!("{session:09}").as_bytes())?;
            put(*sequence_at, format!("{number:09}").as_bytes())?;
            let nanos = NANOS + u64::try_from(number)? * 1_000_000;
            match self.encoding {
                Encoding::Protobuf => put(*time_at, &nanos.to_le_bytes())?,
                Encoding::Json => put(*time_at, nanos.to_string().as_bytes())?,
            }
            self.next += 1;
        }
        let body = if gzip {
            let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
            gzip.write_all(&body)?;
            gzip.finish()?
        } else {
            body
        };
        if !framed {
            return Ok(body.into());
        }
        let prefix = [&[u8::from(gzip)][..], &u32::try_from(body.len())?.to_be_bytes()].concat();
        Ok([prefix, body].concat().into())
    }
}

/// Returns the name and the attributes of a record, as Claude Code sends them.
fn attributes(number: usize) -> (&'static str, Vec<(&'static str, &'static str)>) {
    let (name, more): (_, &[(_, _)]) = match number % 4 {
        0 => ("user_prompt", &[("prompt_length", "212")]),
        1 => (
            "api_request",
            &[
                ("model", "claude-opus-4-1"),
                ("input_tokens", "6"),
                ("output_tokens", "308"),
                ("cache_read_tokens", "117147"),
                ("cache_creation_tokens", "5722"),
                ("cost_usd", "0.074085"),
                ("duration_ms", "8612"),
            ],
        ),
        2 => ("tool_decision", &[("tool_name", "Edit"), ("decision", "accept"), ("source", "config")]),
        _ => ("tool_result", &[("tool_name", "Edit"), ("success", "true"), ("duration_ms", "41")]),
    };
    let common = [
        ("user.id", "3f0c2a917d544b1ea6c80e9b51d27f643f0c2a917d544b1ea6c80e9b51d27f64"),
        ("session.id", "session-888888888"),
        ("organization.id", "8b1f6a20-93c4-4e7d-b5a1-4d2c7e90f836"),
        ("terminal.type", "vscode"),
        ("event.name", name),
        ("event.timestamp", "2026-09-21T14:13:20.000Z"),
        ("event.sequence", SEQUENCE),
    ];
    (name, common.into_iter().chain(more.iter().copied()).collect())
}

fn json(records: usize) -> String {
    let attribute =
        |(key, value): &(&str, &str)| format!(r#"{{"key":"{key}","value":{{"stringValue":"{value}"}}}}"#);
    let record = |number| {
        let (name, attributes) = attributes(number);
        let attributes: Vec<String> = attributes.iter().map(attribute).collect();
        format!(
            r#"{{"timeUnixNano":"{NANOS}","body":{{"stringValue":"claude_code.{name}"}},"attributes":[{}]}}"#,
            attributes.join(",")
        )
    };
    let records: Vec<String> = (0..records).map(record).collect();
    let service = attribute(&("service.name", "claude-code"));
    format!(
        r#"{{"resourceLogs":[{{"resource":{{"attributes":[{service}]}},"scopeLogs":[{{"logRecords":[{}]}}]}}]}}"#,
        records.join(",")
    )
}

fn protobuf(records: usize) -> Vec<u8> {
    let attribute = |number, (key, value): &(&str, &str)| {
        field(number, &[field(1, key.as_bytes()), field(2, &field(1, value.as_bytes()))].concat())
    };
    let record = |number| {
        let (name, attributes) = attributes(number);
        let body = field(5, &field(1, format!("claude_code.{name}").as_bytes()));
        let attributes = attributes.iter().flat_map(|pair| attribute(6, pair)).collect();
        field(2, &[vec![1 << 3 | 1], NANOS.to_le_bytes().to_vec(), body, attributes].concat())
    };
    let resource = field(1, &attribute(1, &("service.name", "claude-code")));
    let records: Vec<u8> = (0..records).flat_map(record).collect();
    field(1, &[resource, field(2, &records)].concat())
}

/// Encodes a field that is a text or a message.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let mut field = vec![number << 3 | 2];
    let mut length = bytes.len();
    while length > 127 {
        field.push(u8::try_from(length & 127).unwrap_or_default() | 128);
        length >>= 7;
    }
    field.push(u8::try_from(length).unwrap_or_default());
    [&field, bytes].concat()
}
