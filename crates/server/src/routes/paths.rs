//! Parameters in paths.

use std::fmt::Display;
use std::str::FromStr;

use axum::extract::Path;
use axum::extract::rejection::PathRejection;

use crate::error::ApiError;

/// A path segment, percent-decoded.
pub(crate) type Segment = Result<Path<String>, PathRejection>;

/// Parses the path segment `name`.
pub(crate) fn segment<T: FromStr<Err: Display>>(path: Segment, name: &str) -> Result<T, ApiError> {
    let Path(text) =
        path.map_err(|_| ApiError::invalid(format!("{name}: not UTF-8 when percent-decoded")))?;
    text.parse().map_err(|error| ApiError::invalid(format!("{name}: {error}")))
}
