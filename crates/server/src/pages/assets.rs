//! `/assets/…`: the stylesheet, the script and the icon. Their addresses change with their content, so browsers may cache them forever.

use axum::response::{IntoResponse, Response};
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use hyper::{StatusCode, Uri};

/// Returns an asset.
pub(super) async fn file(uri: Uri) -> Response {
    match renown_pages::assets::at(uri.path()) {
        Some(asset) => {
            let headers = [
                (CONTENT_TYPE, asset.content_type),
                (CACHE_CONTROL, "public, max-age=31536000, immutable"),
                (X_CONTENT_TYPE_OPTIONS, "nosniff"),
            ];
            (headers, asset.text).into_response()
        }
        None => StatusCode::NOT_FOUND.into_response(),
    }
}
