//! `/openapi.json` and `/docs`: the document generated from the routes, and a page generated from the document.

use std::sync::{Arc, LazyLock};

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use hyper::{HeaderMap, StatusCode};
use serde_json::Value;

use crate::api::Api;
use crate::pages;
use crate::reply::json_bytes;

/// The serialized document.
static DOCUMENT: LazyLock<Bytes> =
    LazyLock::new(|| super::openapi().to_pretty_json().unwrap_or_default().into());

/// The document as a JSON tree, for the page.
static TREE: LazyLock<Value> = LazyLock::new(|| serde_json::from_slice(&DOCUMENT).unwrap_or_default());

/// Read this document
#[utoipa::path(get, path = "/openapi.json", operation_id = "openapi", tag = "operations", security(()),
    responses((status = 200, description = "The OpenAPI document", body = serde_json::Value)))]
pub(crate) async fn document() -> Response {
    json_bytes(StatusCode::OK, DOCUMENT.clone())
}

/// Read the API reference as a web page
#[utoipa::path(get, path = "/docs", operation_id = "docs", tag = "operations", security(()),
    responses((status = 200, description = "The API reference", body = String, content_type = "text/html")))]
pub(crate) async fn page(State(api): State<Arc<Api>>, headers: HeaderMap) -> Response {
    pages::reference(&api, &headers, &TREE).into_response()
}
