//! HTML with its headers, redirects, and errors as pages.

use axum::response::{Html, IntoResponse, Response};
use hyper::StatusCode;
use hyper::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, HeaderValue, LOCATION, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use renown_pages::notice::{self, NoticePage};
use renown_pages::{Section, Shell};
use renown_store::{ClockError, ReadError, WriteError};

use crate::error::{ApiError, Code};

/// The content security policy: a page may load only the stylesheet, the script, images and the stream of this server.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
     form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The result of a page handler.
pub(crate) type Page = Result<Response, PageError>;

/// Builds the response of a rendered page.
pub(super) fn html(rendered: askama::Result<String>) -> Page {
    Ok(with_headers(Html(rendered?).into_response()))
}

/// Adds the headers of every page. Pages contain private data, so no cache may store them.
fn with_headers(mut response: Response) -> Response {
    const HEADERS: [(HeaderName, &str); 5] = [
        (CONTENT_SECURITY_POLICY, POLICY),
        (CACHE_CONTROL, "no-store"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "same-origin"),
        (HeaderName::from_static("x-robots-tag"), "noindex"),
    ];
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Redirects to another page of this server.
pub(super) fn redirect(path: &str) -> Response {
    let mut response = with_headers(StatusCode::SEE_OTHER.into_response());
    if let Ok(path) = HeaderValue::from_str(path) {
        response.headers_mut().insert(LOCATION, path);
    }
    response
}

/// Why a page cannot be shown.
#[derive(Debug)]
pub(crate) enum PageError {
    /// The user is not logged in. Contains the path to open after the login.
    LoggedOut(String),
    /// An error, as the API would return it.
    Refused(ApiError),
    /// The page could not be rendered.
    Render(askama::Error),
}

impl PageError {
    /// Creates a 404.
    pub(super) fn not_found(error: impl Into<String>) -> Self {
        Self::Refused(ApiError::new(Code::NotFound, error))
    }
}

impl From<ApiError> for PageError {
    fn from(error: ApiError) -> Self {
        Self::Refused(error)
    }
}

impl From<ReadError> for PageError {
    fn from(error: ReadError) -> Self {
        Self::Refused(error.into())
    }
}

impl From<WriteError> for PageError {
    fn from(error: WriteError) -> Self {
        Self::Refused(error.into())
    }
}

impl From<ClockError> for PageError {
    fn from(error: ClockError) -> Self {
        Self::Refused(error.into())
    }
}

impl From<askama::Error> for PageError {
    fn from(error: askama::Error) -> Self {
        Self::Render(error)
    }
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        let error = match self {
            Self::LoggedOut(next) => {
                return redirect(&format!("/login?next={}", renown_pages::text::segment(&next)));
            }
            Self::Refused(error) => error,
            Self::Render(error) => {
                ApiError::new(Code::Internal, "this page could not be rendered").because(error)
            }
        };
        let (status, text) = (error.code().status(), error.text());
        let shell = Shell::bare(Section::Other);
        let notice = NoticePage { status: status.as_u16(), text };
        let body = notice::render(&shell, &notice).unwrap_or_else(|_| text.to_owned());
        let mut response = with_headers(Html(body).into_response());
        *response.status_mut() = status;
        if let Some(cause) = error.cause() {
            response.extensions_mut().insert(cause.clone());
        }
        response
    }
}
