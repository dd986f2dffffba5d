//! Query parameters. Unknown parameters are refused, and so are repeated ones.
//!
//! A route accepts the names in its `params(…)` in the OpenAPI document. [`check`] runs in front of every handler under `/v1/`, so a handler
//! cannot forget it, and every accepted name is documented. Routes without a key (`/health`, `/metrics`, …) and the OTLP receivers ignore
//! unknown parameters, because monitors and exporters append their own.

use std::collections::HashMap;
use std::fmt::Display;
use std::str::FromStr;
use std::sync::Arc;

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use hyper::{Method, Uri};
use renown_core::json::Found;
use renown_core::spelling;
use renown_core::time::Timestamp;
use renown_store::Cursor;
use utoipa::openapi::path::{Operation, Parameter, ParameterIn};
use utoipa::openapi::{OpenApi as Document, RefOr};

use crate::error::ApiError;

/// Maximum number of rows per page.
const LIMIT_MAX: usize = 100;

/// Number of rows per page without `limit`.
const LIMIT_DEFAULT: usize = 50;

/// The names of the query parameters of every operation under `/v1/`.
pub(crate) struct Parameters(HashMap<(String, Method), Arc<[String]>>);

impl Parameters {
    /// Collects the parameters of every operation of the document.
    pub(crate) fn of(document: &Document) -> Self {
        let paths = document.paths.paths.iter().filter(|(path, _)| path.starts_with("/v1/"));
        let operations = paths.flat_map(|(path, item)| {
            let methods = [
                (Method::GET, &item.get),
                (Method::POST, &item.post),
                (Method::PUT, &item.put),
                (Method::PATCH, &item.patch),
                (Method::DELETE, &item.delete),
            ];
            methods.into_iter().filter_map(move |(method, operation)| {
                Some(((path.clone(), method), names(operation.as_ref()?)))
            })
        });
        Self(operations.collect())
    }

    /// Returns the parameters of the operation that a request is for.
    fn of_request(&self, request: &Request) -> Option<&Arc<[String]>> {
        let path = request.extensions().get::<MatchedPath>()?.as_str().to_owned();
        // The router uses the handler of GET for HEAD.
        let method = if request.method() == Method::HEAD { &Method::GET } else { request.method() };
        self.0.get(&(path, method.clone()))
    }
}

fn names(operation: &Operation) -> Arc<[String]> {
    let name = |parameter: &RefOr<Parameter>| match parameter {
        RefOr::T(parameter) if matches!(parameter.parameter_in, ParameterIn::Query) => {
            Some(parameter.name.clone())
        }
        // Our routes do not use references to parameters.
        RefOr::T(_) | RefOr::Ref(_) => None,
    };
    let mut names: Vec<String> = operation.parameters.iter().flatten().filter_map(name).collect();
    names.sort_unstable();
    names.into()
}

/// Refuses requests with unknown parameters. Passes the [`Query`] to the handler.
pub(crate) async fn check(
    State(parameters): State<Arc<Parameters>>,
    mut request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    if let Some(known) = parameters.of_request(&request) {
        let query = Query::of(request.uri(), known)?;
        request.extensions_mut().insert(query);
    }
    Ok(next.run(request).await)
}

/// The parameters of a request. All of them are known to its route.
#[derive(Clone)]
pub(crate) struct Query {
    sent: Vec<(String, String)>,
    known: Arc<[String]>,
}

impl Query {
    fn of(uri: &Uri, known: &Arc<[String]>) -> Result<Self, ApiError> {
        let pairs = form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
        let sent: Vec<(String, String)> = pairs.into_owned().collect();
        if let Some((name, _)) = sent.iter().find(|(name, _)| !known.contains(name)) {
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            let found = if name.is_empty() { Found::quoted(name) } else { Found::new(name) };
            return Err(ApiError::invalid(format!(
                "{found}: {}",
                spelling::unknown("parameter", name, &known)
            )));
        }
        Ok(Self { sent, known: Arc::clone(known) })
    }

    /// Returns the text of a parameter. Fails if it is given twice.
    pub(crate) fn text(&self, name: &str) -> Result<Option<&str>, ApiError> {
        debug_assert!(
            self.known.iter().any(|known| known == name),
            "{name} is not documented for this route"
        );
        let mut found = self.sent.iter().filter(|(sent, _)| sent == name);
        match (found.next(), found.next()) {
            (first, None) => Ok(first.map(|(_, value)| value.as_str())),
            (_, Some(_)) => Err(ApiError::invalid(format!("{name}: given twice, expected once"))),
        }
    }

    /// Parses a parameter. The error of the type says what is expected.
    pub(crate) fn get<T: FromStr<Err: Display>>(&self, name: &str) -> Result<Option<T>, ApiError> {
        let text = self.text(name)?;
        text.map(|text| text.parse().map_err(|error| ApiError::invalid(format!("{name}: {error}"))))
            .transpose()
    }

    /// Reads a whole number in a range.
    pub(crate) fn number(
        &self,
        name: &str,
        allowed: std::ops::RangeInclusive<usize>,
    ) -> Result<Option<usize>, ApiError> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        let number = text.parse().ok().filter(|number| digits && allowed.contains(number));
        number.map(Some).ok_or_else(|| {
            let (min, max) = (allowed.start(), allowed.end());
            refused(name, text, &format!("a whole number from {min} to {max}"))
        })
    }

    /// Reads `limit`, the maximum number of rows per page.
    pub(crate) fn limit(&self) -> Result<usize, ApiError> {
        self.number("limit", 1..=LIMIT_MAX).map(|limit| limit.unwrap_or(LIMIT_DEFAULT))
    }

    /// Reads `true` or `false`.
    pub(crate) fn flag(&self, name: &str) -> Result<Option<bool>, ApiError> {
        match self.text(name)? {
            None => Ok(None),
            Some("true") => Ok(Some(true)),
            Some("false") => Ok(Some(false)),
            Some(other) => Err(refused(name, other, "true or false")),
        }
    }

    /// Reads a time: RFC 3339, or whole milliseconds after 1970.
    pub(crate) fn time(&self, name: &str) -> Result<Option<Timestamp>, ApiError> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        let time = match text.parse() {
            Ok(millis) => Timestamp::from_millis(millis),
            Err(_) => Timestamp::parse(text),
        };
        let expected =
            "an RFC 3339 time such as 2026-11-15T12:00:00Z or whole milliseconds, from 2000 to 2100";
        time.map(Some).map_err(|_| refused(name, text, expected))
    }

    /// Reads the cursor of a page.
    pub(crate) fn cursor<C: Cursor>(&self) -> Result<Option<C>, ApiError> {
        self.cursor_of(C::from_text)
    }

    /// Reads the cursor of a page with the given parser.
    pub(crate) fn cursor_of<T>(&self, read: impl FnOnce(&str) -> Option<T>) -> Result<Option<T>, ApiError> {
        let Some(text) = self.text("cursor")? else { return Ok(None) };
        let cursor = read(text);
        cursor.map(Some).ok_or_else(|| refused("cursor", text, "the next_cursor of the previous page"))
    }
}

/// Builds the error for an invalid parameter.
pub(crate) fn refused(name: &str, found: &str, expected: &str) -> ApiError {
    ApiError::invalid(format!("{name}: {}, expected {expected}", Found::quoted(found)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_parameter_is_refused_with_a_suggestion() {
        let refusal = |query: &str, known: &[&str]| {
            let uri = format!("/v1/runs?{query}").parse().unwrap();
            let known = known.iter().map(|name| (*name).to_owned()).collect();
            Query::of(&uri, &known).err().map(|error| error.text().to_owned())
        };
        let known = ["agent_id", "cursor", "limit"];
        for (query, expected) in [
            (
                "agent=x",
                "agent: unknown parameter, expected one of agent_id, cursor, limit; did you mean agent_id?",
            ),
            ("limit=1&colo%0Aur=x", "colo\\nur: unknown parameter, expected one of agent_id, cursor, limit"),
            ("=1", "\"\": unknown parameter, expected one of agent_id, cursor, limit"),
        ] {
            assert_eq!(refusal(query, &known).as_deref(), Some(expected));
        }
        assert_eq!(refusal("_=1", &[]).as_deref(), Some("_: unknown parameter, expected none"));
        for query in ["", "&", "limit=1&agent%5Fid=x"] {
            assert_eq!(refusal(query, &known), None, "{query}");
        }
        let long = refusal(&"x".repeat(60_000), &known).unwrap();
        assert!(long.len() < 300, "{long}");
    }
}
