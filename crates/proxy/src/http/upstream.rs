//! The server behind the proxy.

use std::fmt;

use hyper::body::Incoming;
use hyper::header::{
    ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, HOST, HeaderMap, HeaderName, HeaderValue, TRANSFER_ENCODING,
    UPGRADE,
};
use hyper::http::request::Parts;
use hyper::http::uri::{PathAndQuery, Scheme, Uri};
use hyper::{Request, Response};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::{Client, Error};
use hyper_util::rt::TokioExecutor;

use super::ReplyBody;

/// The error for an invalid address of a server.
#[derive(Debug, PartialEq, Eq)]
pub struct UpstreamError;

impl fmt::Display for UpstreamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected an address with http:// or https://, as in https://example.com/mcp")
    }
}

impl std::error::Error for UpstreamError {}

/// The server behind the proxy.
pub(super) struct Upstream {
    client: Client<HttpsConnector<HttpConnector>, ReplyBody>,
    pub(super) address: Uri,
}

impl Upstream {
    pub(super) fn new(url: &str) -> Result<Self, UpstreamError> {
        let address: Uri = url.parse().map_err(|_| UpstreamError)?;
        let is_http = [Some(&Scheme::HTTP), Some(&Scheme::HTTPS)].contains(&address.scheme());
        if !is_http || address.authority().is_none() {
            return Err(UpstreamError);
        }
        let https = HttpsConnectorBuilder::new().with_webpki_roots().https_or_http().enable_http1().build();
        Ok(Self { client: Client::builder(TokioExecutor::new()).build(https), address })
    }

    /// Forwards a request.
    pub(super) async fn send(&self, parts: Parts, body: ReplyBody) -> Result<Response<Incoming>, Error> {
        let mut request = Request::new(body);
        *request.method_mut() = parts.method;
        *request.uri_mut() = self.address_of(parts.uri.path_and_query());
        *request.headers_mut() = end_to_end(parts.headers);
        let headers = request.headers_mut();
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        // The HTTP client sets both again: one from the address, the other from the new body.
        headers.remove(HOST);
        headers.remove(CONTENT_LENGTH);
        let mut reply = self.client.request(request).await?;
        *reply.headers_mut() = end_to_end(std::mem::take(reply.headers_mut()));
        Ok(reply)
    }

    /// Returns the address that a path of the proxy leads to: `/` is the server's own address.
    pub(super) fn address_of(&self, path: Option<&PathAndQuery>) -> Uri {
        let path = path.filter(|path| path.as_str() != "/");
        let mut parts = self.address.clone().into_parts();
        if let Some(path) = path {
            parts.path_and_query = Some(path.clone());
        }
        Uri::from_parts(parts).unwrap_or_else(|_| self.address.clone())
    }
}

/// Removes the headers that concern one connection only.
fn end_to_end(mut headers: HeaderMap) -> HeaderMap {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    let fixed = ["keep-alive", "proxy-connection", "te", "trailer"].map(HeaderName::from_static);
    for name in named.into_iter().chain(fixed).chain([CONNECTION, TRANSFER_ENCODING, UPGRADE]) {
        headers.remove(name);
    }
    headers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_is_the_servers_address_and_other_paths_are_on_its_host() {
        let upstream = Upstream::new("https://host:8/mcp?k=1").unwrap();
        let led =
            |path: &'static str| upstream.address_of(Some(&PathAndQuery::from_static(path))).to_string();
        assert_eq!(led("/"), "https://host:8/mcp?k=1");
        assert_eq!(led("/mcp"), "https://host:8/mcp");
        assert_eq!(led("/.well-known/oauth?x=1"), "https://host:8/.well-known/oauth?x=1");
        for bad in ["host", "ftp://host/", "/mcp", "", "http://"] {
            assert!(Upstream::new(bad).is_err(), "{bad}");
        }
    }
}
