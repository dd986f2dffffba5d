//! Submitted forms. A form must come from a page of this server, with the CSRF token of its visit.

use axum::body::Body;
use hyper::HeaderMap;
use hyper::header::{HOST, ORIGIN};

use super::reply::PageError;
use super::visits::Visit;
use crate::api::Api;
use crate::body::read_form;
use crate::error::{ApiError, Code};

/// The fields of a form.
pub(super) struct Form(Vec<(String, String)>);

impl Form {
    /// Reads the form of a logged-in user.
    pub(super) async fn read(
        api: &Api,
        visit: &Visit,
        headers: &HeaderMap,
        body: Body,
    ) -> Result<Self, PageError> {
        let form = Self::read_without_login(api, headers, body).await?;
        if form.get("csrf") != Some(visit.csrf()) {
            let error =
                "csrf: this form does not belong to your login; go back, reload the page and send it again";
            return Err(ApiError::new(Code::Forbidden, error).into());
        }
        Ok(form)
    }

    /// Reads a form without a login. It must still come from a page of this server.
    pub(super) async fn read_without_login(
        api: &Api,
        headers: &HeaderMap,
        body: Body,
    ) -> Result<Self, PageError> {
        if !is_same_origin(headers) {
            return Err(ApiError::new(Code::Forbidden, "this form was sent by another site").into());
        }
        let bytes = read_form(headers, body, api.limits.body_time_max).await?;
        Ok(Self(form_urlencoded::parse(&bytes).into_owned().collect()))
    }

    /// Returns the value of a field.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Returns whether a browser sent a form from a page of this server. Browsers report it in `Sec-Fetch-Site`, older ones in `Origin`. A
/// client that sends neither is a program, which has no cookies of a user.
fn is_same_origin(headers: &HeaderMap) -> bool {
    if let Some(site) = headers.get("sec-fetch-site") {
        return matches!(site.as_bytes(), b"same-origin" | b"none");
    }
    let Some(origin) = headers.get(ORIGIN) else { return true };
    let host = headers.get(HOST).map(hyper::header::HeaderValue::as_bytes).unwrap_or_default();
    origin
        .to_str()
        .ok()
        .and_then(|origin| origin.split_once("://"))
        .is_some_and(|(_, of)| of.as_bytes() == host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_of_another_site_is_refused() {
        let check = |sent: &[(&'static str, &str)]| {
            let mut headers = HeaderMap::new();
            for (name, value) in sent {
                headers.insert(*name, value.parse().unwrap());
            }
            is_same_origin(&headers)
        };
        for (sent, expected) in [
            (&[][..], true),
            (&[("sec-fetch-site", "same-origin")], true),
            (&[("sec-fetch-site", "none")], true),
            (&[("sec-fetch-site", "same-site")], false),
            (&[("sec-fetch-site", "cross-site")], false),
            (&[("host", "127.0.0.1:7070"), ("origin", "http://127.0.0.1:7070")], true),
            (&[("host", "127.0.0.1:7070"), ("origin", "http://127.0.0.1:7071")], false),
            (&[("host", "127.0.0.1:7070"), ("origin", "null")], false),
            (&[("host", "a"), ("origin", "http://a"), ("sec-fetch-site", "cross-site")], false),
        ] {
            assert_eq!(check(sent), expected, "{sent:?}");
        }
    }
}
