//! What stands in a path.

use std::fmt::Display;
use std::str::FromStr;

use axum::extract::Path;
use axum::extract::rejection::PathRejection;

use crate::error::ApiError;

/// A part of a path, percent-decoded.
pub(crate) type Segment = Result<Path<String>, PathRejection>;

/// What a part of a path names.
pub(crate) fn segment<T: FromStr<Err: Display>>(path: Segment, name: &str) -> Result<T, ApiError> {
    let Path(text) =
        path.map_err(|_| ApiError::invalid(format!("{name}: not UTF-8 when percent-decoded")))?;
    text.parse().map_err(|error| ApiError::invalid(format!("{name}: {error}")))
}
