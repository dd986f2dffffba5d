//! Replies in the encoding of the request.
//!
//! | request | success | error |
//! |---|---|---|
//! | JSON or JSON lines | `{}`, or `partialSuccess` with the number of rejected records and the reason | the error body of the API |
//! | protobuf | the same as a message: field 1 is the partial success (1 rejected, 2 message) | `google.rpc.Status`: 1 code, 2 message |
//! | gRPC | the same message in a frame | `grpc-status` and `grpc-message` |

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use hyper::StatusCode;
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use serde_json::{Map, Value, json};

use super::content_type::content_type;
use super::read::Rejected;
use super::{Kind, grpc};
use crate::dispatch::Port;
use crate::error::{ApiError, Code};
use crate::reply::json_bytes;

/// The encoding of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReplyEncoding {
    Json,
    Protobuf,
    Grpc,
}

impl ReplyEncoding {
    /// Returns the encoding that the client of a request can read.
    pub(super) fn of(port: Port, is_http2: bool, headers: &hyper::HeaderMap) -> Self {
        match content_type(headers).as_str() {
            "application/grpc" | "application/grpc+proto" if port == Port::OtlpGrpc && is_http2 => Self::Grpc,
            "application/x-protobuf" => Self::Protobuf,
            _ => Self::Json,
        }
    }

    /// Encodes the message of a successful reply, which names the rejected records.
    pub(super) fn message(self, kind: Kind, rejected: Option<&Rejected>) -> Vec<u8> {
        match self {
            Self::Json => partial_success(kind, rejected).to_string().into_bytes(),
            Self::Protobuf | Self::Grpc => response_message(rejected),
        }
    }

    /// Builds a successful reply with a message.
    pub(super) fn accepted(self, message: Vec<u8>) -> Response {
        match self {
            Self::Json => json_bytes(StatusCode::OK, message),
            Self::Protobuf => protobuf(StatusCode::OK, message),
            Self::Grpc => grpc::accepted(&message),
        }
    }

    /// Builds an error reply.
    pub(super) fn refused(self, error: ApiError) -> Response {
        let (code, status) = (error.code(), error.code().status());
        let mut response = match self {
            Self::Json => error.into_response(),
            Self::Protobuf => {
                let message = status_message(grpc::code(code), error.text(), None);
                // The headers of an error do not depend on the encoding of its body.
                let (mut parts, _) = error.into_response().into_parts();
                let (of_protobuf, body) = protobuf(status, message).into_parts();
                parts.headers.extend(of_protobuf.headers);
                Response::from_parts(parts, body)
            }
            Self::Grpc => grpc::refused(&error),
        };
        if code == Code::MethodNotAllowed {
            response.headers_mut().insert(ALLOW, HeaderValue::from_static("POST"));
        }
        response
    }
}

fn protobuf(status: StatusCode, message: Vec<u8>) -> Response {
    let mut response = Response::new(Body::from(message));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/x-protobuf"));
    response
}

fn partial_success(kind: Kind, rejected: Option<&Rejected>) -> Value {
    let name = match kind {
        Kind::Logs => "rejectedLogRecords",
        Kind::Traces => "rejectedSpans",
        Kind::Metrics => "rejectedDataPoints",
    };
    let Some(Rejected { count, message }) = rejected else { return Value::Object(Map::new()) };
    json!({"partialSuccess": {name: count.to_string(), "errorMessage": message}})
}

/// Encodes the message of a successful reply in protobuf. It is the same for every kind of telemetry.
fn response_message(rejected: Option<&Rejected>) -> Vec<u8> {
    let Some(Rejected { count, message }) = rejected else { return Vec::new() };
    let partial = [number(1, *count), text(2, message.as_bytes())].concat();
    text(1, &partial)
}

/// Encodes a `google.rpc.Status`, with a `google.rpc.RetryInfo` if there is a retry delay.
pub(super) fn status_message(code: u32, message: &str, retry_after_seconds: Option<u64>) -> Vec<u8> {
    let retry = retry_after_seconds.map(|seconds| {
        let info = text(1, &number(1, seconds));
        text(3, &[text(1, b"type.googleapis.com/google.rpc.RetryInfo"), text(2, &info)].concat())
    });
    [number(1, code.into()), text(2, message.as_bytes()), retry.unwrap_or_default()].concat()
}

/// Encodes a numeric field.
fn number(field: u8, value: u64) -> Vec<u8> {
    [vec![field << 3], varint(value)].concat()
}

/// Encodes a field that is a string or a message.
fn text(field: u8, bytes: &[u8]) -> Vec<u8> {
    [&[field << 3 | 2][..], &varint(bytes.len() as u64), bytes].concat()
}

fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let [low, ..] = value.to_le_bytes();
        value >>= 7;
        if value == 0 {
            bytes.push(low);
            return bytes;
        }
        bytes.push(low | 128);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_written_as_protobuf() {
        let rejected = Rejected { count: 300, message: "x".to_owned() };
        assert_eq!(response_message(Some(&rejected)), b"\x0a\x06\x08\xac\x02\x12\x01x");
        assert_eq!(response_message(None), b"");
        assert_eq!(status_message(3, "bad", None), b"\x08\x03\x12\x03bad");
        let retry = status_message(8, "", Some(1));
        assert_eq!(
            retry,
            [
                &b"\x08\x08\x12\x00\x1a\x30\x0a\x28type.googleapis.com/google.rpc.RetryInfo"[..],
                b"\x12\x04\x0a\x02\x08\x01"
            ]
            .concat()
        );
    }

    #[test]
    fn the_partial_success_is_named_after_the_kind() {
        let rejected = Rejected { count: 2, message: "why".to_owned() };
        for (kind, name) in [(Kind::Logs, "rejectedLogRecords"), (Kind::Traces, "rejectedSpans")] {
            let expected = json!({"partialSuccess": {name: "2", "errorMessage": "why"}});
            assert_eq!(partial_success(kind, Some(&rejected)), expected);
        }
        assert_eq!(partial_success(Kind::Logs, None), json!({}));
    }
}
