//! The content type and encoding of a request.
//!
//! | content type | body |
//! |---|---|
//! | `application/x-protobuf` | one request in protobuf |
//! | `application/json` | one request in JSON |
//! | `application/x-ndjson` | logs and traces only: one request in JSON per line, as the collector's file exporter writes |
//! | `application/grpc`, `application/grpc+proto` | gRPC port only: one message in a frame |
//!
//! Case and parameters are ignored. A body without a content type is refused, because a web page could send it without a CORS preflight.

use hyper::HeaderMap;
use hyper::header::{AsHeaderName, CONTENT_ENCODING, CONTENT_TYPE, HeaderName, HeaderValue};
use renown_core::json::Found;

use super::{Call, Kind, ReplyEncoding};
use crate::error::{ApiError, Code};

/// How records are encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Protobuf,
    Json,
    JsonLines,
}

/// How a body has to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BodyFormat {
    pub(super) encoding: Encoding,
    /// Whether the body is compressed. In a frame: whether it may be.
    pub(super) is_gzip: bool,
    /// Whether the body is a gRPC frame.
    pub(super) is_framed: bool,
}

/// Returns the content type, in lower case and without parameters.
pub(super) fn content_type(headers: &HeaderMap) -> String {
    let sent = headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
    let essence = sent.split(|byte| *byte == b';').next().unwrap_or_default();
    String::from_utf8_lossy(essence.trim_ascii()).to_ascii_lowercase()
}

impl BodyFormat {
    /// Determines the format of a body. Fails if it is not supported.
    pub(super) fn of(call: Call, kind: Kind, headers: &HeaderMap) -> Result<Self, ApiError> {
        if call.reply == ReplyEncoding::Grpc {
            let is_gzip = is_gzip(headers, HeaderName::from_static("grpc-encoding"))?;
            return Ok(Self { encoding: Encoding::Protobuf, is_gzip, is_framed: true });
        }
        let encoding = match (content_type(headers).as_str(), kind) {
            ("application/x-protobuf", _) => Encoding::Protobuf,
            ("application/json", _) => Encoding::Json,
            ("application/x-ndjson", Kind::Logs | Kind::Traces) => Encoding::JsonLines,
            (found, _) => {
                let found =
                    if found.is_empty() { "absent".to_owned() } else { Found::quoted(found).to_string() };
                let error = format!(
                    "the content type is {found}, expected application/x-protobuf, application/json, or for logs and traces application/x-ndjson"
                );
                return Err(ApiError::new(Code::UnsupportedMediaType, error));
            }
        };
        Ok(Self { encoding, is_gzip: is_gzip(headers, CONTENT_ENCODING)?, is_framed: false })
    }
}

/// Returns whether an encoding header says gzip. Fails if it says anything but gzip or identity.
fn is_gzip(headers: &HeaderMap, name: impl AsHeaderName) -> Result<bool, ApiError> {
    let sent: Vec<_> = headers.get_all(name).iter().map(|sent| sent.as_bytes().trim_ascii()).collect();
    match sent.as_slice() {
        [] | [b""] => Ok(false),
        [one] if one.eq_ignore_ascii_case(b"identity") => Ok(false),
        [one] if one.eq_ignore_ascii_case(b"gzip") => Ok(true),
        others => {
            let found = Found::quoted(&String::from_utf8_lossy(&others.join(&b", "[..]))).to_string();
            let error = format!("the body is encoded with {found}, expected gzip or identity");
            Err(ApiError::new(Code::UnsupportedMediaType, error))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn supported_formats_are_recognized() {
        use Encoding::{Json, JsonLines, Protobuf};
        use Kind::{Logs, Metrics};

        let read = |encoding, is_gzip| Ok((encoding, is_gzip));
        for (kind, content_type, encodings, expected) in [
            (Logs, "application/x-protobuf", &[][..], read(Protobuf, false)),
            (Logs, "Application/JSON; charset=utf-8", &["identity"], read(Json, false)),
            (Logs, "application/x-ndjson", &["GZIP"], read(JsonLines, true)),
            (Metrics, "application/x-protobuf", &[" gzip "], read(Protobuf, true)),
            (Metrics, "application/x-ndjson", &[], Err("application/x-ndjson")),
            (Logs, "", &[], Err("absent")),
            (Logs, "text/plain", &[], Err("text/plain")),
            (Logs, "application/grpc", &[], Err("application/grpc")),
            (Logs, "application/json", &["deflate"], Err("deflate")),
            (Logs, "application/json", &["gzip", "gzip"], Err("gzip, gzip")),
            (Logs, "application/json", &["gzip, br"], Err("gzip, br")),
        ] {
            let mut headers = HeaderMap::new();
            if !content_type.is_empty() {
                headers.insert(CONTENT_TYPE, content_type.parse().unwrap());
            }
            for encoding in encodings {
                headers.append(CONTENT_ENCODING, encoding.parse().unwrap());
            }
            let call = Call { kind: Some(kind), reply: ReplyEncoding::Json };
            match (BodyFormat::of(call, kind, &headers), expected) {
                (Ok(format), Ok((encoding, is_gzip))) => {
                    assert_eq!((format.encoding, format.is_gzip), (encoding, is_gzip), "{content_type}");
                }
                (Err(error), Err(named)) => {
                    assert!(error.text().contains(named) && error.text().contains("expected"), "{error:?}");
                    assert_eq!(error.code(), Code::UnsupportedMediaType);
                }
                (found, expected) => panic!("{content_type} {encodings:?}: {found:?}, expected {expected:?}"),
            }
        }
    }
}
