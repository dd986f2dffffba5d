//! `/openapi.json` and `/docs`: the document made from the routes, and a page made from the document.

mod page;

use std::sync::LazyLock;

use axum::response::{Html, IntoResponse, Response};
use bytes::Bytes;
use hyper::StatusCode;

use crate::error::json_bytes;

/// The document, written once.
static DOCUMENT: LazyLock<Bytes> =
    LazyLock::new(|| super::openapi().to_pretty_json().unwrap_or_default().into());

static PAGE: LazyLock<String> =
    LazyLock::new(|| page::render(&serde_json::from_slice(&DOCUMENT).unwrap_or_default()));

/// This document
#[utoipa::path(get, path = "/openapi.json", operation_id = "openapi", tag = "operations", security(()),
    responses((status = 200, description = "The OpenAPI document", body = serde_json::Value)))]
pub(crate) async fn document() -> Response {
    json_bytes(StatusCode::OK, DOCUMENT.clone())
}

/// A page to read it
#[utoipa::path(get, path = "/docs", operation_id = "docs", tag = "operations", security(()),
    responses((status = 200, description = "The page", body = String, content_type = "text/html")))]
pub(crate) async fn page() -> Response {
    Html(PAGE.as_str()).into_response()
}
