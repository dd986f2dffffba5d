//! The receiver in the settings of an agent, and a test record for it.
//!
//! The record has no session, so a server accepts it without storing it.

use std::io;
use std::time::Duration;

use renown_core::time::Timestamp;
use serde_json::{Value, json};
use ureq::http::StatusCode;

use super::server::ServerUrl;
use crate::client;

/// Timeout of the request.
const TIME_MAX: Duration = Duration::from_secs(10);

/// The body of the record.
const BODY: &str = "renown setup --check";

/// The destination of records.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Receiver {
    /// The full URL for log records.
    pub(crate) url: String,
    pub(crate) encoding: Encoding,
    /// Headers. Some may be secret.
    pub(crate) headers: Vec<(String, String)>,
    /// The setting for a key, and its form.
    pub(crate) key_setting: &'static str,
}

impl Receiver {
    /// Returns the URL of the server, if it can be set up.
    pub(crate) fn server(&self) -> Option<ServerUrl> {
        self.url.strip_suffix("/v1/logs")?.parse().ok()
    }
}

/// The encoding of records. No agent is set up for gRPC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    Protobuf,
    Json,
}

impl Encoding {
    /// The name of the protocol.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Protobuf => "http/protobuf",
            Self::Json => "http/json",
        }
    }

    fn content_type(self) -> &'static str {
        match self {
            Self::Protobuf => "application/x-protobuf",
            Self::Json => "application/json",
        }
    }

    /// Returns one log record without a session.
    fn record(self, at: Timestamp) -> Vec<u8> {
        match self {
            Self::Json => {
                let record = json!({"timeUnixNano": at.nanos().to_string(), "body": {"stringValue": BODY}});
                json!({"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]}).to_string().into_bytes()
            }
            Self::Protobuf => {
                // `time_unix_nano` is field 1, eight bytes; `body` is field 5, whose `string_value` is field 1.
                let mut record = vec![0x09];
                record.extend(at.nanos().to_le_bytes());
                record.extend(nested(0x2a, &nested(0x0a, BODY.as_bytes())));
                // `log_records` of `scope_logs` of `resource_logs`.
                nested(0x0a, &nested(0x12, &nested(0x12, &record)))
            }
        }
    }
}

/// Encodes a protobuf field of bytes. All fields are shorter than 128 bytes, so that their length is one byte.
fn nested(tag: u8, bytes: &[u8]) -> Vec<u8> {
    let length = u8::try_from(bytes.len()).unwrap_or(u8::MAX);
    [&[tag, length], bytes].concat()
}

/// Why a record did not arrive, and what to do.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) found: String,
    pub(crate) advice: String,
}

const NOT_OTLP: &str = "this is not an OTLP/HTTP receiver: `renown serve` has one on port 4318, and one below /otlp on its main \
                        port; choose it with --server URL";

impl Receiver {
    /// Sends one record as the agent would.
    pub(crate) fn probe(&self, now: Timestamp) -> Result<(), Refusal> {
        let mut request =
            client::agent(TIME_MAX).post(&self.url).header("Content-Type", self.encoding.content_type());
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let mut reply =
            request.send(self.encoding.record(now).as_slice()).map_err(|error| unreached(&error))?;
        let kind =
            reply.headers().get("content-type").and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let is_kind = kind.split(';').next().is_some_and(|kind| kind.trim() == self.encoding.content_type());
        // Every reply of Renown has this header.
        let is_ours = reply.headers().contains_key("x-request-id");
        let (status, answered) = (reply.status(), client::answered(&reply));
        let body = reply.body_mut().read_to_vec().unwrap_or_default();
        let judged = self.judge(status, is_kind, is_ours, &body);
        judged.map_err(|refusal| Refusal {
            found: if status.is_redirection() { answered } else { refusal.found },
            ..refusal
        })
    }

    /// Interprets a reply.
    fn judge(&self, status: StatusCode, is_kind: bool, is_ours: bool, body: &[u8]) -> Result<(), Refusal> {
        let refused =
            |advice: &str| Err(Refusal { found: format!("answered {status}"), advice: advice.to_owned() });
        match status {
            StatusCode::OK if !is_kind => refused(NOT_OTLP),
            StatusCode::OK => match self.encoding.is_accepted(body) {
                Some(true) if is_ours => Ok(()),
                Some(true) => Err(Refusal {
                    found: "another program than Renown accepted the record".to_owned(),
                    advice: "perhaps an OpenTelemetry collector uses the port: stop it, or choose another port with `renown serve \
                             --otlp-http` and --server URL"
                        .to_owned(),
                }),
                Some(false) => {
                    let advice = "is it a Renown server of this release or a later one?".to_owned();
                    Err(Refusal { found: "rejected the record".to_owned(), advice })
                }
                None => refused(NOT_OTLP),
            },
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN if self.has_key() => {
                refused("the key in the headers of the settings is not valid for this server, or is revoked")
            }
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => refused(&format!(
                "the server needs a key: set {}, with a key of `renown keys create`",
                self.key_setting
            )),
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
                refused("the server is busy, and agents will retry: check again later")
            }
            StatusCode::BAD_REQUEST => refused("is it a Renown server of this release or a later one?"),
            _ => refused(NOT_OTLP),
        }
    }

    fn has_key(&self) -> bool {
        self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization"))
    }
}

impl Encoding {
    /// Returns whether the record was accepted, or `None` if this is not an OTLP reply.
    fn is_accepted(self, body: &[u8]) -> Option<bool> {
        match self {
            Self::Json => {
                let reply: Value = serde_json::from_slice(body).ok()?;
                let partial = reply.as_object()?.get("partialSuccess");
                let count = partial.and_then(|partial| partial.get("rejectedLogRecords"));
                Some(
                    count
                        .is_none_or(|count| matches!(count.as_str(), Some("0")) || count.as_u64() == Some(0)),
                )
            }
            // `partial_success` is field 1, and its `rejected_log_records` field 1, which is omitted if it is 0.
            Self::Protobuf => match body {
                [] | [0x0a, 0] => Some(true),
                [0x0a, _, first, ..] => Some(*first != 0x08),
                _ => None,
            },
        }
    }
}

/// Explains why there was no reply.
fn unreached(error: &ureq::Error) -> Refusal {
    let is_refused = matches!(error, ureq::Error::ConnectionFailed)
        || matches!(error, ureq::Error::Io(error) if error.kind() == io::ErrorKind::ConnectionRefused);
    let advice = if is_refused {
        "nothing listens there: start `renown serve`, and check that its log shows this address for OTLP/HTTP"
    } else if matches!(error, ureq::Error::Protocol(_)) {
        "the server there does not speak HTTP/1.1: port 4317 is for gRPC, and 4318 for HTTP"
    } else {
        "is `renown serve` running, and is this its address?"
    };
    Refusal { found: error.to_string(), advice: advice.to_owned() }
}

/// Parses a list of headers `key=value,key=value` with percent-encoded values.
pub(crate) fn headers(list: &str) -> Vec<(String, String)> {
    let entries = list.split(',').filter_map(|entry| entry.split_once('='));
    entries.map(|(key, value)| (key.trim().to_owned(), decoded(value.trim()))).collect()
}

fn decoded(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let [first, after @ ..] = rest {
        let escaped = after
            .get(..2)
            .filter(|_| *first == b'%')
            .and_then(|hex| u8::from_str_radix(str::from_utf8(hex).ok()?, 16).ok());
        bytes.push(escaped.unwrap_or(*first));
        rest = after.get(if escaped.is_some() { 2 } else { 0 }..).unwrap_or_default();
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    use renown_telemetry::facts::{Batch, Signal};
    use renown_telemetry::prices::Prices;

    #[test]
    fn the_record_has_no_session_in_either_encoding() {
        let (now, prices) = (Timestamp::from_millis(1_790_000_000_000).unwrap(), Prices::default());
        let mut json = Batch::default();
        renown_telemetry::json::read(&Encoding::Json.record(now), 1, &prices, &mut json).unwrap();
        let mut protobuf = Batch::default();
        let bytes = Encoding::Protobuf.record(now);
        renown_telemetry::protobuf::read(&bytes, Signal::Logs, &prices, &mut protobuf).unwrap();
        for batch in [json, protobuf] {
            assert_eq!((batch.account.records, batch.account.no_session, batch.len()), (1, 1, 0));
        }
    }

    #[test]
    fn only_an_otlp_reply_is_accepted() {
        let receiver =
            |encoding| Receiver { url: String::new(), encoding, headers: Vec::new(), key_setting: "" };
        for (encoding, status, is_kind, body, expected) in [
            (Encoding::Json, 200, true, "{}", ""),
            (Encoding::Json, 200, true, r#"{"partialSuccess":{"errorMessage":"x"}}"#, ""),
            (
                Encoding::Json,
                200,
                true,
                r#"{"partialSuccess":{"rejectedLogRecords":"1"}}"#,
                "of this release",
            ),
            (Encoding::Json, 200, true, "hello", "not an OTLP/HTTP receiver"),
            (Encoding::Json, 200, false, "{}", "not an OTLP/HTTP receiver"),
            (Encoding::Protobuf, 200, true, "", ""),
            (Encoding::Protobuf, 200, true, "\x0a\x03\x12\x01x", ""),
            (Encoding::Protobuf, 200, true, "\x0a\x02\x08\x01", "of this release"),
            (Encoding::Protobuf, 200, true, "<html>", "not an OTLP/HTTP receiver"),
            (Encoding::Protobuf, 401, true, "", "the server needs a key"),
            (Encoding::Protobuf, 404, true, "", "not an OTLP/HTTP receiver"),
            (Encoding::Protobuf, 503, true, "", "busy"),
        ] {
            let status = StatusCode::from_u16(status).unwrap();
            let found = receiver(encoding).judge(status, is_kind, true, body.as_bytes());
            let advice = found.map_or_else(|refusal| refusal.advice, |()| String::new());
            assert!(
                advice.contains(expected) && advice.is_empty() == expected.is_empty(),
                "{body}: {advice}"
            );
        }
    }

    #[test]
    fn headers_are_decoded() {
        let pairs = |list| {
            headers(list).into_iter().map(|(key, value)| format!("{key}: {value}")).collect::<Vec<_>>()
        };
        for (list, expected) in [
            ("", vec![]),
            ("Authorization=Bearer%20rn_pub_x", vec!["Authorization: Bearer rn_pub_x"]),
            (" a = 1%2C2 ,b=c=d,odd", vec!["a: 1,2", "b: c=d"]),
            ("a=100%", vec!["a: 100%"]),
            ("a=%zz%C3%A9", vec!["a: %zzé"]),
        ] {
            assert_eq!(pairs(list), expected, "{list}");
        }
    }
}
