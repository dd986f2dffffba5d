//! Every error reply: what the client sees, kept apart from what the log sees.
//!
//! The body is always `{"error": what was found and what is expected, "code": for machines, "status": the HTTP status}`.

use std::error::Error;
use std::sync::Arc;

use axum::response::{IntoResponse, Response};
use hyper::StatusCode;
use hyper::header::{HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use renown_core::json::InputError;
use renown_store::{ClockError, ReadError, WriteError};
use serde::Serialize;
use utoipa::ToSchema;

use crate::reply::json_bytes;

/// The machine-readable codes of errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = ErrorCode)]
pub enum Code {
    /// The body is not JSON.
    BadJson,
    /// The request contains an invalid value.
    ValidationError,
    /// There is no `Authorization` header.
    AuthMissing,
    /// The `Authorization` header is not `Bearer` and a key.
    AuthFormat,
    /// The key does not exist.
    AuthInvalid,
    /// The key was revoked.
    AuthRevoked,
    /// The key does not have the permission.
    Forbidden,
    /// The route or the resource does not exist.
    NotFound,
    /// The route does not have this method.
    MethodNotAllowed,
    /// The body did not arrive in time.
    Timeout,
    /// The request conflicts with an earlier one, for example under the same `Idempotency-Key`.
    Conflict,
    /// The body is too large.
    TooLarge,
    /// The content type is not supported.
    UnsupportedMediaType,
    /// The rate limit of the organization is reached.
    RateLimited,
    /// The head of the request is too large.
    HeadTooLarge,
    /// An internal error of the server.
    Internal,
    /// The server has too much work in progress.
    Overloaded,
    /// The store cannot read or write now.
    StoreUnavailable,
    /// The clock of the server is obviously wrong.
    Clock,
}

impl Code {
    /// Returns the HTTP status of this code.
    pub const fn status(self) -> StatusCode {
        match self {
            Self::BadJson | Self::ValidationError => StatusCode::BAD_REQUEST,
            Self::AuthMissing | Self::AuthFormat | Self::AuthInvalid | Self::AuthRevoked => {
                StatusCode::UNAUTHORIZED
            }
            Self::Forbidden => StatusCode::FORBIDDEN,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::Timeout => StatusCode::REQUEST_TIMEOUT,
            Self::Conflict => StatusCode::CONFLICT,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::RateLimited => StatusCode::TOO_MANY_REQUESTS,
            Self::HeadTooLarge => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
            Self::Overloaded | Self::StoreUnavailable | Self::Clock => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}

/// An error reply.
#[derive(Debug)]
pub struct ApiError {
    code: Code,
    error: String,
    /// Seconds after which to retry, if that makes sense.
    retry_after: Option<u64>,
    /// The internal cause, for the log only.
    cause: Option<Cause>,
}

/// Why the server could not answer. It is attached to the response until it is logged, and is never sent.
#[derive(Clone, Debug)]
pub(crate) struct Cause(pub(crate) Arc<dyn Error + Send + Sync>);

/// The body of an error reply.
#[derive(Serialize, ToSchema)]
pub struct ErrorBody {
    /// What was found and what is expected.
    error: String,
    /// The machine-readable code.
    code: Code,
    /// The HTTP status.
    status: u16,
}

impl ApiError {
    /// Creates an error from its code and text.
    pub(crate) fn new(code: Code, error: impl Into<String>) -> Self {
        let retry_after = (code.status() == StatusCode::SERVICE_UNAVAILABLE).then_some(1);
        Self { code, error: error.into(), retry_after, cause: None }
    }

    /// Creates a `validation_error`.
    pub(crate) fn invalid(error: impl Into<String>) -> Self {
        Self::new(Code::ValidationError, error)
    }

    /// Creates an internal error. Its text contains the request id, which leads to the cause in the log.
    pub(crate) fn internal(request_id: &str) -> Self {
        Self::new(Code::Internal, format!("internal error, request {request_id}"))
    }

    /// Serializes the body.
    pub(crate) fn into_body(self) -> Vec<u8> {
        let body = ErrorBody { error: self.error, code: self.code, status: self.code.status().as_u16() };
        // The body consists of strings and numbers, so serializing cannot fail.
        serde_json::to_vec(&body).unwrap_or_default()
    }

    /// Returns the machine-readable code.
    pub(crate) fn code(&self) -> Code {
        self.code
    }

    /// Returns the text for the client.
    pub(crate) fn text(&self) -> &str {
        &self.error
    }

    /// Returns the seconds after which to retry, if that makes sense.
    pub(crate) fn retry_after_seconds(&self) -> Option<u64> {
        self.retry_after
    }

    /// Returns the internal cause, if there is one.
    pub(crate) fn cause(&self) -> Option<&Cause> {
        self.cause.as_ref()
    }

    /// Adds the internal cause.
    pub(crate) fn because(self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { cause: Some(Cause(Arc::from(cause.into()))), ..self }
    }

    /// Sets the seconds after which to retry.
    pub(crate) fn retry_after(self, seconds: u64) -> Self {
        Self { retry_after: Some(seconds), ..self }
    }
}

/// Marks a response that sheds load, which is not a failure of the server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoadShed;

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let (code, status, retry_after) = (self.code, self.code.status(), self.retry_after);
        let cause = self.cause.clone();
        let mut response = json_bytes(status, self.into_body());
        if let Some(seconds) = retry_after {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        if let Some(cause) = cause {
            response.extensions_mut().insert(cause);
        }
        if code == Code::Overloaded {
            response.extensions_mut().insert(LoadShed);
        }
        if status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

impl From<InputError> for ApiError {
    fn from(error: InputError) -> Self {
        let code = match &error {
            InputError::Json { source, .. } if source.is_data() => Code::ValidationError,
            InputError::Json { .. } | InputError::NotUtf8 { .. } => Code::BadJson,
        };
        let place = match (code, error.position()) {
            (Code::BadJson, Some((line, column))) => format!(" (line {line}, column {column})"),
            _ => String::new(),
        };
        Self::new(code, format!("{error}{place}"))
    }
}

impl From<getrandom::Error> for ApiError {
    fn from(error: getrandom::Error) -> Self {
        let text = "the random source of the system is unavailable; try again";
        Self::new(Code::StoreUnavailable, text).because(error)
    }
}

impl From<ClockError> for ApiError {
    fn from(error: ClockError) -> Self {
        Self::new(Code::Clock, error.to_string()).because(error)
    }
}

/// Logs that the store refuses writes. Only the first time: every write fails from then on.
pub(crate) fn log_refused(error: &WriteError) {
    static LOGGED: std::sync::Once = std::sync::Once::new();
    LOGGED.call_once(|| tracing::error!(%error, "writes are refused from now on"));
}

/// The text of an error that may end by itself.
const UNAVAILABLE: &str =
    "the store is unavailable; a write may be sent again with the same evaluation_id or Idempotency-Key";

/// The text of a write that may have been accepted.
const UNKNOWN: &str = "the reply of the store was lost, so the write may have been accepted; send it again with the same evaluation_id or \
                       Idempotency-Key";

/// The text of a full queue.
const PENDING: &str = "the store has too many pending requests; try again";

impl From<ReadError> for ApiError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Clock(error) => error.into(),
            ReadError::Overloaded => Self::new(Code::Overloaded, PENDING),
            ReadError::TooLong => {
                Self::new(Code::Overloaded, "query timed out; narrow the time range or lower `limit`")
            }
            ReadError::NoOrganization(_) => Self::new(Code::NotFound, error.to_string()),
            ReadError::GaveWay | ReadError::Damaged(_) | ReadError::Unavailable(_) | ReadError::Bug(_) => {
                Self::new(Code::StoreUnavailable, UNAVAILABLE).because(error)
            }
        }
    }
}

impl From<WriteError> for ApiError {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::Clock(error) => error.into(),
            WriteError::Overloaded => Self::new(Code::Overloaded, PENDING),
            WriteError::NoOrganization(_) => Self::new(Code::NotFound, error.to_string()),
            WriteError::Refused(_) => {
                log_refused(&error);
                let error = "the database files were moved or deleted, so writes are refused; GET /ready names the file";
                Self::new(Code::StoreUnavailable, error)
            }
            WriteError::Unknown(_) => Self::new(Code::StoreUnavailable, UNKNOWN).because(error),
            WriteError::Damaged(_) | WriteError::Unavailable(_) | WriteError::Bug(_) => {
                Self::new(Code::StoreUnavailable, UNAVAILABLE).because(error)
            }
        }
    }
}
