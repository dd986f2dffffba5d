//! `/login` and `/logout`: logging in with a one-time link or a key, and logging out.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Response};
use hyper::header::{HeaderValue, SET_COOKIE};
use hyper::{HeaderMap, StatusCode};
use renown_core::ids::OrgId;
use renown_pages::Section;
use renown_pages::login::{LoginPage, Problem, render};
use renown_store::DEFAULT_ORG;

use super::form::Form;
use super::reply::{Page, PageError, html, redirect};
use super::visits::COOKIE_NAME;
use super::{is_https, origin, shell};
use crate::api::Api;
use crate::error::ApiError;
use crate::keys::{Caller, KeyText};
use crate::limits::VISIT_TIME_MAX;

/// Shows the login page. With a one-time token in the address, logs in.
pub(super) async fn page(State(api): State<Arc<Api>>, RawQuery(query): RawQuery, headers: HeaderMap) -> Page {
    let query = query.unwrap_or_default();
    let get = |name: &str| {
        form_urlencoded::parse(query.as_bytes()).find(|(known, _)| known == name).map(|(_, value)| value)
    };
    let next = local_path(get("next").as_deref());
    let Some(token) = get("token") else {
        return show(&api, &headers, &next, None);
    };
    if !api.visits.use_token(&token) {
        return show(&api, &headers, &next, Some(Problem::UsedLink));
    }
    // If creating the next token fails, there is no token until the next start.
    let _ = api.visits.new_token();
    let org: OrgId =
        DEFAULT_ORG.parse().map_err(|_| PageError::not_found("there is no default organization"))?;
    begin(&api, &headers, org, None, &next)
}

/// Logs in with a key.
pub(super) async fn with_key(State(api): State<Arc<Api>>, headers: HeaderMap, body: Body) -> Page {
    let form = Form::read_without_login(&api, &headers, body).await?;
    let next = local_path(form.get("next"));
    let key = form.get("key").unwrap_or_default().trim().parse::<KeyText>();
    match key.ok().and_then(|key| api.keys.find(&key, api.now().ok()).ok()) {
        Some(caller) => begin(&api, &headers, caller.org.clone(), Some(caller), &next),
        None => show(&api, &headers, &next, Some(Problem::WrongKey)),
    }
}

/// Logs out.
pub(super) async fn log_out(State(api): State<Arc<Api>>, headers: HeaderMap, body: Body) -> Page {
    if let Some(visit) = api.visits.find(&headers, &api.keys) {
        Form::read(&api, &visit, &headers, body).await?;
        api.visits.end(&headers);
        // Ends the streams of this visit.
        api.changes.recheck_keys();
    }
    let mut response = redirect("/login");
    set_cookie(&mut response, &headers, "", 0);
    Ok(response)
}

fn show(api: &Api, headers: &HeaderMap, next: &str, problem: Option<Problem>) -> Page {
    let origin = origin(headers);
    let page = LoginPage { next, problem };
    let mut response = html(render(&shell(api, None, &origin, Section::Other), &page))?;
    if problem.is_some() {
        *response.status_mut() = StatusCode::FORBIDDEN;
    }
    Ok(response)
}

fn begin(api: &Api, headers: &HeaderMap, org: OrgId, caller: Option<Arc<Caller>>, next: &str) -> Page {
    let cookie = api.visits.begin(org, caller).map_err(ApiError::from)?;
    let mut response = redirect(next).into_response();
    set_cookie(&mut response, headers, &cookie, VISIT_TIME_MAX.as_secs());
    Ok(response)
}

/// Sets the cookie of a visit. It is `Secure` only over TLS, because browsers drop a `Secure` cookie that comes without TLS.
fn set_cookie(response: &mut Response, headers: &HeaderMap, value: &str, seconds: u64) {
    let secure = if is_https(headers) { "; Secure" } else { "" };
    let cookie =
        format!("{COOKIE_NAME}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age={seconds}{secure}");
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(SET_COOKIE, cookie);
    }
}

/// Returns the path to open after the login. Anything but a path of this server becomes `/`.
fn local_path(next: Option<&str>) -> String {
    let is_path = |next: &&str| {
        next.starts_with('/')
            && !next.starts_with("//")
            && next.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\')
    };
    next.filter(is_path).unwrap_or("/").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_redirects_only_to_paths_of_this_server() {
        for (next, expected) in [
            (None, "/"),
            (Some("/agents/a?x=1"), "/agents/a?x=1"),
            (Some("//evil.example"), "/"),
            (Some("/\\evil.example"), "/"),
            (Some("https://evil.example"), "/"),
            (Some("/a\r\nSet-Cookie: x"), "/"),
        ] {
            assert_eq!(local_path(next), expected, "{next:?}");
        }
    }
}
