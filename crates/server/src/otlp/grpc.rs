//! OTLP over gRPC: three calls of one message each, over HTTP/2.
//!
//! ```text
//! request   headers, then   flag (1 byte: 0 plain, 1 compressed) · length (4 bytes, big endian) · message
//! reply     headers, then the same with a plain message, then trailers with grpc-status 0
//! error     headers only, with grpc-status, grpc-message, and the retry delay in grpc-status-details-bin
//! ```
//!
//! The framing is our own, because the libraries inflate a message before the budget can refuse it, reserve as much memory as the prefix
//! announces, and return other statuses than we document for messages that are too large or not gzip.

use axum::body::Body;
use axum::response::Response;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD_NO_PAD as STANDARD_NO_PAD;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{HeaderMap, StatusCode};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

use super::Kind;
use super::body::too_large;
use super::reply::status_message;
use crate::error::{ApiError, Code};
use crate::limits::OTLP_BODY_BYTES_MAX;
use crate::request::LoggedStatus;

/// Length of the prefix of a message.
pub(super) const PREFIX_BYTES: usize = 5;

const STATUS: HeaderName = HeaderName::from_static("grpc-status");
const MESSAGE: HeaderName = HeaderName::from_static("grpc-message");
const DETAILS: HeaderName = HeaderName::from_static("grpc-status-details-bin");
const ACCEPTS: HeaderName = HeaderName::from_static("grpc-accept-encoding");

/// Returns the kind of telemetry of a path.
pub(super) fn kind(path: &str) -> Option<Kind> {
    Kind::ALL.into_iter().find(|kind| method(*kind) == path)
}

/// Returns the path of a call.
pub(super) const fn method(kind: Kind) -> &'static str {
    match kind {
        Kind::Logs => "/opentelemetry.proto.collector.logs.v1.LogsService/Export",
        Kind::Traces => "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
        Kind::Metrics => "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export",
    }
}

/// Returns the message of a body, and whether it is compressed. Fails unless the body is exactly one message.
pub(super) fn message(body: &Bytes, may_be_gzip: bool) -> Result<(bool, Bytes), ApiError> {
    let Some((&[flag, a, b, c, d], _)) = body.split_first_chunk::<PREFIX_BYTES>() else {
        let error = format!(
            "the body has {} bytes, expected one message with its prefix of {PREFIX_BYTES} bytes",
            body.len()
        );
        return Err(ApiError::invalid(error));
    };
    let length = usize::try_from(u32::from_be_bytes([a, b, c, d])).unwrap_or(usize::MAX);
    if length > OTLP_BODY_BYTES_MAX {
        return Err(too_large(&format!("has a message of {length} bytes")));
    }
    let found = body.len() - PREFIX_BYTES;
    if found != length {
        let error =
            format!("the prefix announces {length} bytes and {found} follow, expected exactly one message");
        return Err(ApiError::invalid(error));
    }
    match flag {
        0 => Ok((false, body.slice(PREFIX_BYTES..))),
        1 if may_be_gzip => Ok((true, body.slice(PREFIX_BYTES..))),
        1 => Err(ApiError::invalid("the message is compressed, expected the header grpc-encoding: gzip")),
        flag => Err(ApiError::invalid(format!("the message begins with {flag}, expected 0 or 1"))),
    }
}

/// Returns the gRPC status of an error code.
pub(super) const fn code(code: Code) -> u32 {
    match code {
        Code::BadJson | Code::ValidationError => 3,
        Code::Timeout => 4,
        Code::Forbidden => 7,
        Code::TooLarge | Code::HeadTooLarge | Code::RateLimited | Code::Overloaded => 8,
        Code::Conflict => 10,
        Code::NotFound | Code::MethodNotAllowed | Code::UnsupportedMediaType => 12,
        Code::Internal => 13,
        Code::StoreUnavailable | Code::Clock => 14,
        Code::AuthMissing | Code::AuthFormat | Code::AuthInvalid | Code::AuthRevoked => 16,
    }
}

/// Builds a successful reply with a message.
pub(super) fn accepted(message: &[u8]) -> Response {
    let length = u32::try_from(message.len()).unwrap_or(u32::MAX).to_be_bytes();
    let frame = Bytes::from([&[0], &length[..], message].concat());
    let mut trailers = HeaderMap::new();
    trailers.insert(STATUS, HeaderValue::from_static("0"));
    let body = Full::new(frame).with_trailers(std::future::ready(Some(Ok(trailers))));
    replied(Body::new(body), StatusCode::OK)
}

/// Builds an error reply.
pub(super) fn refused(error: &ApiError) -> Response {
    let code = code(error.code());
    let mut response = replied(Body::empty(), error.code().status());
    if let Some(cause) = error.cause() {
        response.extensions_mut().insert(cause.clone());
    }
    let headers = response.headers_mut();
    headers.insert(STATUS, HeaderValue::from(code));
    if let Ok(message) = HeaderValue::from_str(&utf8_percent_encode(error.text(), ESCAPED).to_string()) {
        headers.insert(MESSAGE, message);
    }
    // Without a retry delay, clients do not retry after RESOURCE_EXHAUSTED, and drop the data.
    if let Some(seconds) = error.retry_after_seconds()
        && let Ok(details) =
            HeaderValue::from_str(&STANDARD_NO_PAD.encode(status_message(code, error.text(), Some(seconds))))
    {
        headers.insert(DETAILS, details);
    }
    response
}

fn replied(body: Body, logged: StatusCode) -> Response {
    let mut response = Response::new(body);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    response.headers_mut().insert(ACCEPTS, HeaderValue::from_static("identity,gzip"));
    response.extensions_mut().insert(LoggedStatus(logged));
    response
}

/// The characters that are escaped in a header value: everything but printable ASCII, and the percent sign.
const ESCAPED: &AsciiSet = &CONTROLS.add(b'%');

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_must_be_exactly_one_message() {
        let whole = Bytes::from_static(b"\0\0\0\0\x03abc");
        assert_eq!(message(&whole, false).unwrap(), (false, Bytes::from_static(b"abc")));
        for end in 0..whole.len() {
            assert_eq!(
                message(&whole.slice(..end), true).unwrap_err().code(),
                Code::ValidationError,
                "{end}"
            );
        }
        let most = u32::try_from(OTLP_BODY_BYTES_MAX).unwrap();
        let announced = |length: u32| Bytes::from([&[0][..], &length.to_be_bytes()].concat());
        for (body, may_be_gzip, expected) in [
            (Bytes::from_static(b"\x01\0\0\0\x01z"), true, Ok((true, Bytes::from_static(b"z")))),
            (Bytes::from_static(b"\x01\0\0\0\x01z"), false, Err(Code::ValidationError)),
            (Bytes::from_static(b"\x02\0\0\0\x01z"), true, Err(Code::ValidationError)),
            (Bytes::from_static(b"\0\0\0\0\0"), false, Ok((false, Bytes::new()))),
            (Bytes::from_static(b"\0\0\0\0\0\0\0\0\0\0"), false, Err(Code::ValidationError)),
            (announced(most), false, Err(Code::ValidationError)),
            (announced(most + 1), false, Err(Code::TooLarge)),
            (announced(u32::MAX), false, Err(Code::TooLarge)),
        ] {
            let found = message(&body, may_be_gzip).map_err(|error| error.code());
            assert_eq!(found, expected, "{body:?}");
        }
    }

    #[test]
    fn a_message_header_is_printable_ascii() {
        assert_eq!(utf8_percent_encode("a b%c\n\u{e9}\u{7f}", ESCAPED).to_string(), "a b%25c%0A%C3%A9%7F");
    }
}
