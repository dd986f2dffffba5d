//! Successful replies with a JSON body.

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use hyper::StatusCode;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use serde::Serialize;

/// Serializes a body into a reply.
pub(crate) fn json(status: StatusCode, body: &impl Serialize) -> Response {
    // Every body consists of strings and numbers, so serializing cannot fail.
    json_bytes(status, serde_json::to_vec(body).unwrap_or_default())
}

/// Builds a reply from a body that is already JSON.
pub(crate) fn json_bytes(status: StatusCode, body: impl Into<Bytes>) -> Response {
    let mut response = Response::new(Body::from(body.into()));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
