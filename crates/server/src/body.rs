//! Reads request bodies: checks the content type, and limits the size and the time.

use std::time::Duration;

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::HeaderMap;
use hyper::body::Body as _;
use hyper::header::{CONTENT_TYPE, EXPECT};
use renown_core::json::Found;

use crate::error::{ApiError, Code};
use crate::limits::{BODY_BYTES_MAX, BODY_DRAINED_BYTES_MAX};

/// The most memory that is reserved for a body before its bytes arrive.
const RESERVED_BYTES_MAX: usize = 64 * 1024;

/// Reads a JSON body.
pub(crate) async fn read_json(
    headers: &HeaderMap,
    body: Body,
    time_max: Duration,
) -> Result<Bytes, ApiError> {
    if let Some(found) = headers.get(CONTENT_TYPE)
        && !is_json(found.as_bytes())
    {
        let found = Found::quoted(&String::from_utf8_lossy(found.as_bytes()));
        let error = format!("the content type is {found}, expected application/json");
        return Err(ApiError::new(Code::UnsupportedMediaType, error));
    }
    read_in_time(body, time_max).await
}

/// Reads an HTML form.
pub(crate) async fn read_form(
    headers: &HeaderMap,
    body: Body,
    time_max: Duration,
) -> Result<Bytes, ApiError> {
    const FORM: &[u8] = b"application/x-www-form-urlencoded";
    let found = headers.get(CONTENT_TYPE).map(hyper::header::HeaderValue::as_bytes).unwrap_or_default();
    if !found.get(..FORM.len()).is_some_and(|essence| essence.eq_ignore_ascii_case(FORM)) {
        let found = Found::quoted(&String::from_utf8_lossy(found));
        let error = format!("the content type is {found}, expected application/x-www-form-urlencoded");
        return Err(ApiError::new(Code::UnsupportedMediaType, error));
    }
    read_in_time(body, time_max).await
}

async fn read_in_time(body: Body, time_max: Duration) -> Result<Bytes, ApiError> {
    let slow = |_| {
        let error = format!("the body did not arrive within {} s", time_max.as_secs());
        ApiError::new(Code::Timeout, error)
    };
    tokio::time::timeout(time_max, read(body)).await.map_err(slow)?
}

/// Reads and drops the body of a refused request, so that its sender can read the error and keep the connection. A client that sent
/// `Expect: 100-continue` has not sent the body yet, so nothing is read.
pub(crate) async fn discard(headers: &HeaderMap, mut body: Body, time_max: Duration) {
    if headers.contains_key(EXPECT) || body.is_end_stream() {
        return;
    }
    let all = async {
        let mut seen = 0_usize;
        while seen <= BODY_BYTES_MAX
            && let Some(Ok(frame)) = body.frame().await
        {
            seen = seen.saturating_add(frame.data_ref().map_or(0, Bytes::len));
        }
    };
    // A client that sends too slowly loses the connection after the error.
    let _ = tokio::time::timeout(time_max, all).await;
}

/// Returns whether a content type is `application/json` or `application/*+json`, with any parameters.
fn is_json(content_type: &[u8]) -> bool {
    let essence = content_type.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
    let essence = essence.to_ascii_lowercase();
    essence == b"application/json" || (essence.starts_with(b"application/") && essence.ends_with(b"+json"))
}

async fn read(mut body: Body) -> Result<Bytes, ApiError> {
    let mut first = Bytes::new();
    let mut all = BytesMut::new();
    let announced = body.size_hint().lower();
    let mut too_large = announced > BODY_BYTES_MAX as u64;
    let mut seen = 0_usize;
    while let Some(frame) = body.frame().await {
        let frame =
            frame.map_err(|_| ApiError::new(Code::BadJson, "the body ended before it was complete"))?;
        let Ok(bytes) = frame.into_data() else { continue };
        seen = seen.saturating_add(bytes.len());
        too_large |= seen > BODY_BYTES_MAX;
        if too_large {
            if seen > BODY_DRAINED_BYTES_MAX {
                break;
            }
        } else if first.is_empty() && all.is_empty() {
            first = bytes;
        } else {
            if all.is_empty() {
                // The announced length may be wrong, so only a limited amount of memory is reserved.
                all.reserve(usize::try_from(announced).unwrap_or(usize::MAX).min(RESERVED_BYTES_MAX));
                all.extend_from_slice(&first);
            }
            all.extend_from_slice(&bytes);
        }
    }
    if too_large {
        let found = announced.max(seen as u64);
        let error = format!("the body has {found} bytes or more, expected at most {BODY_BYTES_MAX}");
        return Err(ApiError::new(Code::TooLarge, error));
    }
    Ok(if all.is_empty() { first } else { all.freeze() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_content_types_are_recognized() {
        for (name, expected) in [
            ("application/json", true),
            ("Application/JSON; charset=utf-8", true),
            ("application/problem+json", true),
            ("text/plain", false),
            ("application/x-www-form-urlencoded", false),
            ("application/jsonx", false),
            ("", false),
        ] {
            assert_eq!(is_json(name.as_bytes()), expected, "{name}");
        }
    }
}
